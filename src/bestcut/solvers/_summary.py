"""The solver for large n: a summary instead of a sort, with the best cut proved."""

from __future__ import annotations

import numpy as np

from bestcut._types import FloatArray
from bestcut.metrics import Metric
from bestcut.scores import Prediction
from bestcut.search import RARE, Allowed, Found, gap_to
from bestcut.solvers._base import Solution
from bestcut.solvers._sweep import SweepSolver
from bestcut.summary import Bracket, quick_table


class SummarySolver(SweepSolver):
    """Any metric, without a sort: bins, bounds, then the scores near the cut.

    Where the bounds leave much of the ranking open, as they do when all scores are
    nearly the same, and for few expected positives among few million scores, it sorts
    and sweeps.
    """

    needs_order = False
    pays_from_if_rare = 1 << 22  # bounds cost more where totals are taken one by one

    def solve(self, eta: FloatArray, metric: Metric, allowed: Allowed) -> Solution:
        """Return the best of the allowed cuts; `eta` in any order."""
        found = self._found(eta, metric, allowed)
        if found is None:
            ordered = np.ascontiguousarray(np.sort(eta)[::-1])
            return super().solve(ordered, metric, allowed)
        return Solution(
            Prediction(found.above, found.below),
            found.threshold,
            metric.sign * found.utility,
            found.error,
            gap_to(found.upper, found.utility, found.error),
            solver="search",
        )

    def _found(self, p: FloatArray, metric: Metric, allowed: Allowed) -> Found | None:
        """Return the cut, or None where a sort is likely to be faster."""
        if not allowed.is_range:
            return None
        table = quick_table(p)
        if table.sums[1].sum() < RARE and p.size < self.pays_from_if_rare:
            return None
        bracket = Bracket(table, metric, allowed.low, allowed.high)
        if bracket.n_wanted > p.size // 8:
            return None
        wanted = bracket.window.inside(p)
        return bracket.fixed(wanted, np.ones(wanted.size, dtype=np.int64))
