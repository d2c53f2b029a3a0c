"""Expected score of every cut, for any metric: a sum over (a, b).

Above the cut there are a = S1 positives, below it b = S2, independent. Each of the two
laws is a Gauss-Hermite rule where that is proved to be right for this metric, and exact
elsewhere (`bestcut.curve._proof`). A metric whose denominator sees only b (Jaccard) is
affine in a for every b, so that the mean of a stands for its law.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestcut._validation import FloatArray
from bestcut.counts._moments import features, features_of_rule, rule_of_sums
from bestcut.counts._rules import NODE_COUNTS
from bestcut.counts._side import NOBODY, Side, error_of_sums, is_from_sums
from bestcut.counts._window import (
    EPS,
    NOTHING,
    SPARED,
    Law,
    convolved,
    dropped,
    law_error,
    law_of,
    running_laws,
)
from bestcut.curve._blocks import (
    BlockCurve,
    running_error,
    running_sums,
    running_totals,
)
from bestcut.curve._linear import linear_value
from bestcut.curve._proof import (
    SMALLEST_VARIANCE,
    Plan,
    SideRange,
    is_on_trust,
    plan_rules,
)
from bestcut.metrics import Metric

_EVALUATIONS = 60_000  # of the metric at a time: temporaries stay in cache
_WORTHLESS = 1e-19  # a value of this probability is not worth an evaluation
_PAIRS = 1 << 23  # of counts that a single cut may take
_SHORTEST, _LONGEST = 64, 8192  # cuts in a block
_MANY = 2048  # instances from which on rules are likely
_CHANGE = 0.25  # of the logarithms of expected counts in a block
_FIRST = 4  # the logarithm of the shortest block at an end of the ranking
_TOLERANCE = 1e-13  # what a rule may leave, of the size of the metric
MOST_NODES = NODE_COUNTS[-1]


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
    metric: Metric, cuts: FloatArray, n: int, above: Rule, below: Rule
) -> tuple[FloatArray, float]:
    """Return E f at each cut, and a bound on the expected absolute score of any.

    Some cuts at a time, and of a cut with many values some of those above it: what the
    metric computes on the way stays in the cache, and is not large enough for the
    system to be asked for memory each time.
    """
    shape_1, shape_2 = ((x.nodes.shape[0], cuts.size) for x in (above, below))
    tp, w1 = (np.broadcast_to(x, shape_1) for x in above)
    fn, w2 = (np.broadcast_to(x, shape_2) for x in below)
    rows = max(_EVALUATIONS // shape_2[0], 1)
    step = max(rows // shape_1[0], 1)
    out, least, most = np.zeros(cuts.size), np.inf, -np.inf
    for i in range(0, cuts.size, step):
        here = slice(i, i + step)
        for j in range(0, shape_1[0], rows):
            some = slice(j, j + rows)
            score = _scores(metric, cuts[here], n, tp[some, here], fn[:, here])
            inner = np.matmul(score, w2[:, here].T[:, :, None])[:, :, 0]
            out[here] += np.einsum("ka,ak->k", inner, w1[some, here])
            least, most = min(least, score.min()), max(most, score.max())
    scale = float(out.max()) if least >= 0.0 else float(max(most, -least))
    return out, scale


def _scores(
    metric: Metric, cuts: FloatArray, n: int, tp: FloatArray, fn: FloatArray
) -> FloatArray:
    """Return the metric at all pairs of counts: a matrix for each cut."""
    # Taken before the sum over both sides: whole numbers stay whole.
    caught = [x.T[:, :, None] for x in (tp, cuts - tp)]
    missed = [x.T[:, None] for x in (fn, n - cuts - fn)]
    shape = (cuts.size, tp.shape[0], fn.shape[0])
    return np.broadcast_to(metric.score_cells(*caught, *missed), shape)


def _edges(eta: FloatArray, before: Side, after: Side) -> NDArray[np.intp]:
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


def are_short(above: Side, below: Side) -> bool:
    """Return whether the exact distributions of both sides have few pairs of values."""
    widths = [24.0 + 20.0 * np.sqrt(side.variance) for side in (above, below)]
    return bool(widths[0] * widths[1] <= _PAIRS)


def rules_of_cut(
    metric: Metric, largest: float, above: Side, below: Side, *, mean_above: bool
) -> tuple[Rule, Rule, float, int]:
    """Return the rules of a single cut, what they are wrong by, and their width.

    The width is the number of values that are taken one by one.
    """
    first, second = (
        SideRange(
            *((np.array([x]),) * 2 for x in (s.positives, s.negatives, s.variance))
        )
        for s in (above, below)
    )
    # A promise is only believed where the truth would take too long.
    worth = not (is_on_trust(metric) and are_short(above, below))
    plan = plan_rules(
        metric,
        first,
        second,
        largest,
        _TOLERANCE,
        mean_above=mean_above,
        worth=(worth, worth),
    )
    rules, width = [], 0
    error = float(plan.error[0]) + 64 * EPS * float(plan.size[0])
    for side, nodes in zip((above, below), plan.nodes, strict=True):
        m = int(nodes[0])
        if m:
            rules.append(Rule(*rule_of_sums(side.sums(MOST_NODES)[:, None], m)))
        elif mean_above and side is above:
            rules.append(rule_of_mean(np.array([side.positives])))
        else:
            rules.append(rule_of_law(side.law))
            width += side.law.pmf.size
            error += error_of_sides(side) * largest
    return rules[0], rules[1], error, width


def value_of_cut(
    metric: Metric, largest: float, above: Side, below: Side
) -> tuple[float, float]:
    """Return the expected score of a single cut, and a bound on its error."""
    if "linear" in metric.traits:
        cells = (above.positives, above.negatives, below.positives, below.negatives)
        value, error = linear_value(metric, cells)
        return float(value), float(error)
    mean_above = "factorised" in metric.traits
    first, second, error, width = rules_of_cut(
        metric, largest, above, below, mean_above=mean_above
    )
    cuts, n = np.array([float(above.n)]), above.n + below.n
    value, scale = expectation(metric, cuts, n, first, second)
    error += exact_error(width, n, scale, largest)
    return float(value[0]), error


def error_of_sides(*sides: Side) -> float:
    """Bound what laws from sums of features are wrong by, for scores of size 1."""
    variances = np.array([x.variance if is_from_sums(x) else 0.0 for x in sides])
    return float(error_of_sums(variances).sum())


def exact_error(width: int, n: int, scale: float, largest: float) -> float:
    """Bound what values that are taken one by one leave out, and all rounding."""
    error = (law_error(width, n) if width else 64 * EPS) * scale
    lost = width * _WORTHLESS + dropped(n)
    return error + (lost * largest if n and width else 0.0)


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
        self.mean_above = "factorised" in metric.traits
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
            _TOLERANCE,
            mean_above=self.mean_above,
            worth=self.worth,
        )

    def _laws(
        self, order: range, exact: NDArray[np.bool_], end: Side
    ) -> dict[int, Law]:
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
    # Of counts that are all but certain, small chances are all there is to choose by.
    first = max(int(worth[0]) - SPARED, 0)
    end = min(int(worth[-1]) + 1 + SPARED, table.shape[1])
    nodes = np.add.outer(np.arange(first, end, dtype=np.float64), origin)
    np.clip(nodes, 0.0, largest, out=nodes)
    return last, Rule(nodes, np.ascontiguousarray(table[:, first:end].T))
