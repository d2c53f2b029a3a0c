"""All 2^n label vectors: the definition of the optimum, for any metric at all."""

from __future__ import annotations

import numpy as np

from bestcut._types import FloatArray
from bestcut.counts import add_instance
from bestcut.metrics import Metric
from bestcut.reference._cubic import CubicSolver
from bestcut.reference._solver import Curve, Solver, summation_error
from bestcut.search import Allowed, BestCut

_BLOCK = 1 << 14  # label vectors looked at together


class ExhaustiveSolver(Solver):
    """Look at every label vector; needs no ranking principle."""

    name = "exhaustive"
    needs_prp = False
    max_n = 20

    def curve(self, eta: FloatArray, metric: Metric) -> Curve:
        """Return the expected score of every cut."""
        return CubicSolver().curve(eta, metric)

    def solve(self, eta: FloatArray, metric: Metric, allowed: Allowed) -> BestCut:
        """Return the best of all label vectors with as many positives as allowed."""
        n = eta.size
        laws = _laws_of_all_subsets(eta)
        subsets = np.arange(1 << n)
        sizes = np.bitwise_count(subsets)
        sign = metric.sign
        best, chosen, scale = -np.inf, 0, 0.0
        counts = np.arange(n + 1.0)
        for k in np.flatnonzero(allowed.mask(0, n)).tolist():
            in_k, in_rest = counts[: k + 1], counts[: n - k + 1]
            table = metric.score(
                in_k[:, None], float(k), in_k[:, None] + in_rest, float(n)
            )
            table = np.broadcast_to(table, (k + 1, n - k + 1))
            scale = max(scale, float(np.max(np.abs(table))))
            members = subsets[sizes == k]
            for block in np.split(members, range(_BLOCK, members.size, _BLOCK)):
                inside = laws[block, : k + 1]
                outside = laws[(1 << n) - 1 - block, : n - k + 1]
                value = sign * np.sum((inside @ table) * outside, axis=1)
                i = int(np.argmax(value))
                if value[i] > best:
                    best, chosen = float(value[i]), int(block[i])
        members = np.flatnonzero(chosen >> np.arange(n) & 1)
        error = summation_error(n, scale)
        return BestCut(members.size, best, error, best + error, self.name, members)


def _laws_of_all_subsets(eta: FloatArray) -> FloatArray:
    """Return the law of the count for every subset; bit i stands for instance i."""
    n = eta.size
    laws = np.zeros((1 << n, n + 1))
    laws[0, 0] = 1.0
    for i, p in enumerate(eta):
        old, new = laws[: 1 << i].T, laws[1 << i : 2 << i].T
        add_instance(old[: i + 2], p, new[: i + 2])
    return laws
