"""Expected score of every cut, for any metric: a sum over (a, b).

Above the cut there are a = S1 positives, below it b = S2, independent. Each of the two
laws is a Gauss-Hermite rule where that is proved to be right for this metric, and exact
elsewhere (`bestcut.counts._proof`). A metric whose denominator sees only b (Jaccard) is
affine in a for every b, so that the mean of a stands for its law.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut.counts import (
    EVALUATIONS,
    MOST_NODES,
    NOBODY,
    NOTHING,
    SMALLEST_VARIANCE,
    SPARED,
    TOLERANCE,
    WORTHLESS,
    Law,
    Plan,
    Rule,
    Side,
    SideRange,
    convolved,
    error_of_sides,
    exact_error,
    expectation,
    features,
    features_of_rule,
    law_of,
    plan_rules,
    rule_of_mean,
    rule_of_sums,
    running_error,
    running_laws,
    running_sums,
)
from bestcut.curve._blocks import BlockCurve, running_totals
from bestcut.metrics import Metric, Trait

_SHORTEST, _LONGEST = 64, 8192  # cuts in a block
_MANY = 2048  # instances from which on rules are likely
_CHANGE = 0.25  # of the logarithms of expected counts in a block
_FIRST = 4  # the logarithm of the shortest block at an end of the ranking


def _edges(eta: FloatArray, before: Side, after: Side) -> IndexArray:
    """Return the edges of blocks in which no expected count changes much.

    So that what is proved for a block holds as well as for its cuts.
    """
    step = int(np.clip(eta.size // 256, _SHORTEST, _LONGEST))
    if before.n + eta.size + after.n < _MANY:  # every value is looked at anyway
        return np.unique([*range(0, eta.size, 4 * step), eta.size]).astype(np.intp)
    starts = np.arange(0, eta.size, step)
    positives = np.add.reduceat(eta, starts)
    sizes = np.diff(np.append(starts, eta.size))
    place = np.zeros(starts.size + 1)
    for row, first, last in (
        (positives, before.positives, after.positives),
        (sizes - positives, before.negatives, after.negatives),
    ):
        upto = first + np.concatenate([[0.0], np.cumsum(row)])
        place += np.log1p(upto) - np.log1p(np.maximum(upto[-1] + last - upto, 0.0))
    # A new block where the logarithms of the counts, or the cuts, have gone far enough.
    length = np.append(starts, eta.size) / _LONGEST
    passed = np.floor((place - place[0]) / _CHANGE) + np.floor(length)
    new = np.flatnonzero(np.diff(passed)) + 1
    # Next to the ends of the ranking counts double before the first step is over.
    near = 2 ** np.arange(_FIRST, step.bit_length())
    ends = [near - before.n, eta.size + after.n - near]
    edges = np.concatenate([[0, eta.size], *ends, np.append(starts, eta.size)[new]])
    return np.unique(edges[(edges >= 0) & (edges <= eta.size)]).astype(np.intp)


class GeneralCurve(BlockCurve):
    """The curve of any metric.

    `before` and `after` are the instances of the ranking above `eta` and below it, of
    which only the cuts between are asked for; none unless given. `worth` says on which
    sides rules are worth a try.
    """

    def __init__(
        self,
        eta: FloatArray,
        metric: Metric,
        largest: float,
        before: Side = NOBODY,
        after: Side = NOBODY,
        worth: tuple[bool, bool] = (True, True),
    ) -> None:
        self.eta, self.metric, self.largest = eta, metric, largest
        self.worth, self.error_of_ends = worth, error_of_sides(before, after)
        self.first, self.n = before.n, before.n + eta.size + after.n
        self.mean_above = Trait.FACTORISED in metric.traits
        self.edges = _edges(eta, before, after)
        ends = before.sums(MOST_NODES), after.sums(MOST_NODES)
        self.nodes, self.error, self.size = self._plan(before, after, ends)
        # A block enters the sums above all blocks after it, and below all before it.
        wanted = [np.array([features_of_rule(m) for m in x]) for x in self.nodes]
        later = np.maximum.accumulate(wanted[0][::-1])[::-1]
        earlier = np.maximum.accumulate(wanted[1])
        rows = np.maximum(np.maximum(later, earlier), 2)
        self.above, self.below = running_totals(self._totals(rows), *ends)
        forth, back = range(self.edges.size), range(self.edges.size - 1, -1, -1)
        self.laws_above = self._laws(forth, self.nodes[0] == 0, before)
        self.laws_below = self._laws(back, (self.nodes[1] == 0)[::-1], after)

    def _totals(self, rows: NDArray[np.int_]) -> FloatArray:
        """Return the sums of so many features over each block, and 0 for the others."""
        out = np.zeros((MOST_NODES, rows.size))
        for j, (low, high) in enumerate(pairwise(self.edges.tolist())):
            out[: rows[j], j] = features(self.eta[low:high], int(rows[j])).sum(axis=1)
        return out

    def _plan(
        self, before: Side, after: Side, ends: tuple[FloatArray, FloatArray]
    ) -> Plan:
        """Return how many nodes every block takes on either side, and their error."""
        count = self.edges.size - 1
        sums = self._totals(np.full(count, 2))[:2]
        negatives = np.diff(self.edges) - sums[0]
        rows = np.concatenate([sums, negatives[None]])
        above, below = running_totals(
            rows,
            np.append(ends[0][:2], before.negatives),
            np.append(ends[1][:2], after.negatives),
        )
        if self.n < _MANY and max(above[1, -1], below[1, 0]) < SMALLEST_VARIANCE:
            none = np.zeros(count, dtype=np.int_)
            return Plan((none, none), np.zeros(count), np.zeros(count))
        sides = []
        for totals, near, far in ((above, 0, 1), (below, 1, 0)):
            low, high = totals[:, near : count + near], totals[:, far : count + far]
            sides.append(SideRange(*((low[i], high[i]) for i in (0, 2, 1))))
        return plan_rules(
            self.metric,
            sides[0],
            sides[1],
            self.largest,
            TOLERANCE,
            mean_above=self.mean_above,
            worth=self.worth,
        )

    def _laws(self, order: range, exact: BoolArray, end: Side) -> dict[int, Law]:
        """Return the exact laws at the edges of blocks that need them, from one end.

        `exact` says which blocks do, in the order in which they are passed.
        """
        needed = np.flatnonzero(exact)
        if not needed.size or (order[0] == 0 and self.mean_above):
            return {}
        laws = {order[0]: end.law}
        for j, i in list(pairwise(order))[: int(needed[-1])]:
            low, high = sorted((self.edges[j], self.edges[i]))
            laws[i] = convolved(laws[j], law_of(self.eta[low:high]))
        return laws

    def block(self, j: int) -> tuple[FloatArray, FloatArray | float]:
        """Return the expected score of every cut of block j, and its error."""
        low, high = int(self.edges[j]), int(self.edges[j + 1])
        nodes = int(self.nodes[0][j]), int(self.nodes[1][j])
        count = max(*map(features_of_rule, nodes), 2)
        rows = features(self.eta[low:high], count)
        above_sums = running_sums(rows, self.above[:count, j])
        below_sums = running_sums(rows[:, ::-1], self.below[:count, j + 1])[:, ::-1]
        sums = np.stack([above_sums, below_sums])
        parts = self._parts(sums[:, 1], nodes)
        laws_below = self._laws_below(j, low, parts) if nodes[1] == 0 else None
        exact_above = nodes[0] == 0 and not self.mean_above
        law_above = self.laws_above[j] if exact_above else NOTHING
        out, error = np.empty(high - low + 1), float(self.error[j])
        for i, (start, stop) in enumerate(pairwise(parts)):
            here = slice(start, stop + 1)
            cuts = np.arange(low + start, low + stop + 1.0) + self.first
            block = self.eta[low + start : low + stop]
            if self.mean_above:
                above = rule_of_mean(sums[0, 0, here])
            elif exact_above:
                law_above, above = _running_rule(law_above, block, cuts)
            else:
                above = Rule(*rule_of_sums(sums[0, :, here], nodes[0]))
            if laws_below is not None:
                rest = self.n - cuts[::-1]
                below = _running_rule(laws_below[i], block[::-1], rest)[1]
                below = Rule(below.nodes[:, ::-1], below.weights[:, ::-1])
            else:
                below = Rule(*rule_of_sums(sums[1, :, here], nodes[1]))
            out[here], scale = expectation(self.metric, cuts, self.n, above, below)
            error = max(error, self._error(j, above, below, scale))
        return out, error

    def _error(self, j: int, above: Rule, below: Rule, scale: float) -> float:
        """Bound the error of some cuts of a block.

        Running sums add to what the rules are wrong by, of exact distributions the
        rounding and what their windows leave out.
        """
        width = sum(
            rule.weights.shape[0]
            for rule, nodes in ((above, self.nodes[0][j]), (below, self.nodes[1][j]))
            if nodes == 0 and not (self.mean_above and rule is above)
        )
        terms = max(scale, float(self.size[j]))
        length = int(self.edges[j + 1] - self.edges[j])
        error = float(self.error[j]) + running_error(length) * terms
        if width:
            error += self.error_of_ends * self.largest
        return error + exact_error(width, self.n, terms, self.largest)

    def _parts(self, variance: FloatArray, nodes: tuple[int, int]) -> list[int]:
        """Return where to split a block so that evaluations stay in cache."""
        size = variance.shape[1] - 1
        width = [1.0 if self.mean_above else float(nodes[0]), float(nodes[1])]
        for side in (0, 1):
            if nodes[side] == 0 and not (side == 0 and self.mean_above):
                spread = 12.0 + 18.0 * float(np.sqrt(variance[side].max()))
                width[side] = min(spread, self.n + 1.0)
        length = int(np.clip(EVALUATIONS / (width[0] * width[1]), 16, 2048))
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
    worth = np.flatnonzero(table.max(axis=0) > WORTHLESS)
    # Of counts that are all but certain, small chances are all there is to choose by.
    first = max(int(worth[0]) - SPARED, 0)
    end = min(int(worth[-1]) + 1 + SPARED, table.shape[1])
    nodes = np.add.outer(np.arange(first, end, dtype=np.float64), origin)
    np.clip(nodes, 0.0, largest, out=nodes)
    return last, Rule(nodes, np.ascontiguousarray(table[:, first:end].T))
