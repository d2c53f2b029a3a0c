"""Expected worth of every cut, for what is linear in the four cells.

The expected worth is the worth of the expected cells. Each cell is a running sum from
the end of the ranking at which it is small, and none is a difference of others.
"""

from __future__ import annotations

import numpy as np

from bestcut._types import FloatArray
from bestcut.counts import NOBODY, ROUNDING, Side, running_error, running_sums
from bestcut.curve._blocks import BlockCurve, block_edges, running_totals
from bestcut.metrics import Linear


class LinearCurve(BlockCurve):
    """The curve of a `LinearUtility`; `before` and `after` as in `GeneralCurve`."""

    def __init__(
        self,
        eta: FloatArray,
        metric: Linear,
        before: Side = NOBODY,
        after: Side = NOBODY,
    ) -> None:
        self.eta, self.metric, self.size = eta, metric, metric.absolute()
        self.edges = block_edges(eta.size)
        rows = np.stack([eta, 1.0 - eta])
        totals = np.add.reduceat(rows, self.edges[:-1], axis=1)
        ends = (np.array([x.positives, x.negatives]) for x in (before, after))
        self.above, self.below = running_totals(totals, *ends)

    def block(self, j: int) -> tuple[FloatArray, FloatArray | float]:
        """Return the expected worth of every cut of block j, and its error."""
        eta = self.eta[self.edges[j] : self.edges[j + 1]]
        rows = np.stack([eta, 1.0 - eta])
        above = running_sums(rows, self.above[:, j])
        below = running_sums(rows[:, ::-1], self.below[:, j + 1])[:, ::-1]
        cells = (*above, *below)
        value: FloatArray = self.metric.score_cells(*cells)
        size: FloatArray = self.size.score_cells(*cells)
        return value, (ROUNDING + running_error(eta.size)) * size
