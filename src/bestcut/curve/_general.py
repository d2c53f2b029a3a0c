"""Expected score of every cut, for any metric: a sum over (a, b).

Above the cut there are a = S1 positives, below it b = S2, independent. Each of the two
laws is a Gauss-Hermite rule where its variance is large, and exact where it is small;
exact everywhere for a metric that is not smooth. A metric whose denominator sees only b
(Jaccard) is affine in a for every b, so that the mean of a stands for its law.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestcut._validation import FloatArray
from bestcut.counts._moments import (
    LEAST_VARIANCE,
    MOST_NODES,
    features,
    hermite_law,
    node_count,
)
from bestcut.counts._side import NOBODY, Side
from bestcut.counts._window import NOTHING, Law, convolved, law_of, running_laws
from bestcut.curve._blocks import BlockCurve, block_edges, running_totals
from bestcut.metrics import Metric

_EVALUATIONS = 60_000  # of the metric at a time: temporaries stay in cache
_WORTHLESS = 1e-18  # a value of this probability is not worth an evaluation
_WIDE = 48
_TOGETHER = 64  # edges whose rates are computed at once


class Rule(NamedTuple):
    """E g(S) = sum_q weights[q] g(nodes[q]), a column for each cut or one for all."""

    nodes: FloatArray
    weights: FloatArray


def rule_of_law(law: Law) -> Rule:
    """Return every value with its probability."""
    return Rule(law.counts[:, None], law.pmf[:, None])


def rule_of_mean(mean: FloatArray) -> Rule:
    """Return the rule of one node, for what is affine in the count."""
    return Rule(mean[None, :], np.ones((1, 1)))


def expectation(
    metric: Metric,
    cuts: FloatArray,
    n: int,
    above: Rule,
    below: Rule,
    shift: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
) -> FloatArray:
    """Return E f at each cut, as far as possible with the four cells shifted."""
    size = cuts.size
    shape_1, shape_2 = (above.nodes.shape[0], size), (below.nodes.shape[0], size)
    tp, fn = (
        np.broadcast_to(above.nodes, shape_1),
        np.broadcast_to(below.nodes, shape_2),
    )
    w1 = np.broadcast_to(above.weights, shape_1)
    w2 = np.broadcast_to(below.weights, shape_2)
    # Taken before the sum over both sides: whole numbers stay whole.
    cells = [tp, cuts - tp, fn, n - cuts - fn]
    if any(shift):
        cells = [np.maximum(x + by, 0.0) for x, by in zip(cells, shift, strict=True)]
    if shape_2[0] > _WIDE:  # many values: one matrix for each cut
        left, right = (slice(None), slice(None), None), (slice(None), None)
        cells = [x.T[left] for x in cells[:2]] + [x.T[right] for x in cells[2:]]
        score = np.broadcast_to(
            metric.score_cells(*cells), (size, shape_1[0], shape_2[0])
        )
        inner = np.matmul(score, w2.T[:, :, None])[:, :, 0].T
    else:
        cells = [x[:, None] for x in cells[:2]] + [x[None] for x in cells[2:]]
        score = np.broadcast_to(
            metric.score_cells(*cells), (shape_1[0], shape_2[0], size)
        )
        inner = np.einsum("abk,bk->ak", score, w2)
    out: FloatArray = np.einsum("ak,ak->k", inner, w1)
    return out


class GeneralCurve(BlockCurve):
    """The curve of any metric.

    `before` and `after` are the instances of the ranking above `eta` and below it, of
    which only the cuts between are asked for; none unless given.
    """

    def __init__(
        self,
        eta: FloatArray,
        metric: Metric,
        before: Side = NOBODY,
        after: Side = NOBODY,
    ) -> None:
        self.eta, self.metric = eta, metric
        self.first, self.n = before.n, before.n + eta.size + after.n
        self.smooth = metric.smooth
        self.mean_above = "factorised" in metric.traits
        self.edges = block_edges(eta.size)
        sides = before.sums(MOST_NODES), after.sums(MOST_NODES)
        variance = running_totals(
            self._totals(np.full(self.edges.size - 1, 2))[1:2],
            *(sums[1:2] for sums in sides),
        )
        # An edge needs as many sums as nodes, few where both sides vary much.
        needed = [np.array([node_count(x) for x in side[0]]) for side in variance]
        self.rows = np.maximum(needed[0][:-1], needed[1][1:])
        self.above, self.below = running_totals(self._totals(self.rows), *sides)
        forth, back = range(self.edges.size), range(self.edges.size - 1, -1, -1)
        self.laws_above = self._laws(forth, self.above[1], before)
        self.laws_below = self._laws(back, self.below[1], after)

    def _totals(self, rows: NDArray[np.int_]) -> FloatArray:
        """Return the sums of so many features over each block, and 0 for the others."""
        out = np.zeros((MOST_NODES, rows.size))
        for j, (low, high) in enumerate(pairwise(self.edges.tolist())):
            out[: rows[j], j] = features(self.eta[low:high], int(rows[j])).sum(axis=1)
        return out

    def _is_exact(self, variance: float) -> bool:
        return not self.metric.smooth or variance < LEAST_VARIANCE

    def _laws(self, order: range, variance: FloatArray, end: Side) -> dict[int, Law]:
        """Return the exact laws at the edges that need them, from one end on."""
        if not self._is_exact(variance[order[0]]):
            return {}
        laws = {order[0]: end.law}
        for j, i in pairwise(order):
            if not self._is_exact(variance[i]):
                break
            low, high = sorted((self.edges[j], self.edges[i]))
            laws[i] = convolved(laws[j], law_of(self.eta[low:high]))
        return laws

    def at_edges(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the expected score and its two rates of change at every edge."""
        out = np.empty((3, self.edges.size))
        exact = {*self.laws_below} | (set() if self.mean_above else {*self.laws_above})
        together = [j for j in range(self.edges.size) if j not in exact]
        for group in ([j] for j in sorted(exact)):
            out[:, group] = self._rates(group)
        for i in range(0, len(together), _TOGETHER):
            group = together[i : i + _TOGETHER]
            out[:, group] = self._rates(group)
        return out[0], out[1], out[2]

    def _rates(self, group: list[int]) -> list[FloatArray]:
        """Return the expected score and its rates at some edges, or at a single one."""
        cuts = self.first + self.edges[group].astype(np.float64)
        above = self._rule(self.above[:, group], self.laws_above.get(group[0]))
        below = self._rule(self.below[:, group], self.laws_below.get(group[0]))
        if self.mean_above:
            above = rule_of_mean(self.above[0, group])
        sides = (cuts, self.n, above, below)
        score = expectation(self.metric, *sides)
        false = expectation(self.metric, *sides, shift=(0.0, 1.0, 0.0, -1.0))
        true = expectation(self.metric, *sides, shift=(1.0, 0.0, -1.0, 0.0))
        return [score, false - score, true - false]

    def _rule(self, sums: FloatArray, law: Law | None) -> Rule:
        """Return the rule of one side at consecutive cuts, or of its one exact law."""
        if law is not None:
            return rule_of_law(law)
        return Rule(*hermite_law(sums, node_count(float(sums[1].min()))))

    def block(self, j: int) -> FloatArray:
        """Return the expected score of every cut of block j."""
        low, high = int(self.edges[j]), int(self.edges[j + 1])
        count = int(self.rows[j])
        rows = features(self.eta[low:high], count)
        sums = np.zeros((2, count, high - low + 1))
        np.cumsum(rows, axis=1, out=sums[0, :, 1:])
        sums[1, :, :-1] = np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]
        sums[0] += self.above[:count, j, None]
        sums[1] += self.below[:count, j + 1, None]
        exact = [
            self._is_exact(self.above[1, j]) and not self.mean_above,
            self._is_exact(self.below[1, j + 1]),
        ]
        parts = self._parts(sums[:, 1], exact)
        laws_below = self._laws_below(j, low, parts) if exact[1] else None
        law_above = self.laws_above[j] if exact[0] else NOTHING
        out = np.empty(high - low + 1)
        for i, (start, stop) in enumerate(pairwise(parts)):
            here = slice(start, stop + 1)
            cuts = np.arange(low + start, low + stop + 1.0) + self.first
            block = self.eta[low + start : low + stop]
            if self.mean_above:
                above = rule_of_mean(sums[0, 0, here])
            elif exact[0]:
                law_above, above = _running_rule(law_above, block, cuts)
            else:
                above = self._rule(sums[0, :, here], None)
            if laws_below is not None:
                rest = self.n - cuts[::-1]
                below = _running_rule(laws_below[i], block[::-1], rest)[1]
                below = Rule(below.nodes[:, ::-1], below.weights[:, ::-1])
            else:
                below = self._rule(sums[1, :, here], None)
            out[here] = expectation(self.metric, cuts, self.n, above, below)
        return out

    def _parts(self, variance: FloatArray, exact: list[bool]) -> list[int]:
        """Return where to split a block so that evaluations stay in cache."""
        size = variance.shape[1] - 1
        width = [1.0 if self.mean_above else MOST_NODES, float(MOST_NODES)]
        for side in (0, 1):
            if exact[side]:
                spread = 12.0 + 18.0 * float(np.sqrt(variance[side].max()))
                width[side] = min(spread, self.n + 1.0)
        length = int(np.clip(_EVALUATIONS / (width[0] * width[1]), 16, 2048))
        return [*range(0, size, length), size]

    def _laws_below(self, j: int, low: int, parts: list[int]) -> list[Law]:
        """Return the laws below the end of each part of block j."""
        laws = [self.laws_below[j + 1]]
        for start, stop in list(pairwise(parts))[:0:-1]:
            laws.append(convolved(laws[-1], law_of(self.eta[low + start : low + stop])))
        return laws[::-1]


def _running_rule(law: Law, block: FloatArray, largest: FloatArray) -> tuple[Law, Rule]:
    """Return the law after a block, and the rule of the laws on the way.

    Impossible values have no weight, but the metric must not be asked about them.
    """
    last, origin, table = running_laws(law, block)
    worth = np.flatnonzero(table.max(axis=0) > _WORTHLESS)
    first, end = int(worth[0]), int(worth[-1]) + 1
    nodes = np.add.outer(np.arange(first, end, dtype=np.float64), origin)
    np.clip(nodes, 0.0, largest, out=nodes)
    return last, Rule(nodes, np.ascontiguousarray(table[:, first:end].T))
