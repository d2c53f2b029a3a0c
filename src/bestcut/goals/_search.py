"""The best cut for a goal that looks at the whole law of the score.

Branch and bound. For all cuts from `low` to `high`, TP is at most the number of
positives among the first `high`, and FP at least the number of negatives among the
first `low`, whatever the labels turn out to be; the positives are as many as they are.
A metric that never falls when a prediction is corrected is then at most what it is at
these two extremes, in every case, so its quantiles and its probabilities of reaching a
score are at most theirs. A range of cuts whose extremes do not beat the best cut found
so far is left out, another one is halved. Of a short one, groups of cuts are looked at
side by side in the same way, and then the cuts of those that are left. Where it is not
proved, for these n instances, that the metric never falls, every cut is looked at.

Near its maximum a curve is flat, and about sqrt(n) cuts are looked at; a look takes
some sqrt(n) evaluations of the metric.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.counts import NOTHING, Law, add_instance, convolved, law_of, trimmed
from bestcut.goals._goals import DistributionGoal, Question
from bestcut.metrics import (
    Metric,
    agreement_never_hurts,
    check_metric,
    tp_never_matters,
)
from bestcut.scores import (
    Atoms,
    Rows,
    UtilityDistribution,
    distribution_of_score,
    first_that_holds,
    probability_error,
)

# The bound on a range costs about as much as 20 cuts that are looked at side by side,
# and blocks of so many cuts have laws that are hardly wider than those of one cut.
_SHORT = 256
# Groups of cuts that are looked at before the laws of their cuts are computed, and then
# before single cuts: a group costs as much as one of its cuts.
_GROUP = 16
_LENGTHS = (4,)
_SPACED = 16  # numbers of misses after which one is looked at before those between
# Parts of both laws that are looked at before the whole. A window has some 19 standard
# deviations: these are 0.6, 2.4 and 4.8 of them to either side of the most probable
# pair, with probabilities of 0.2, 0.97 and 1 - 4e-6.
_SHARES = (1 / 16, 1 / 4, 1 / 2)
# Bounds on groups of cuts look at the misses this much more finely than at the cuts,
# and only at those whose chance is not this small beside what is asked.
_FINE = 8
_RARE = 1e-6
_EVALUATIONS = 1 << 14  # of the metric at a time: their arrays stay in the cache
_FEW = 1 << 12  # of them: fewer at a time take hardly less


class _Range(NamedTuple):
    """The cuts low, ..., high, and the laws of the counts around them."""

    low: int
    high: int
    before: Law  # of the positives among the first `low`
    within: Law  # from there to `high`
    after: Law  # among the others

    def distance(self, cut: int) -> int:
        """Return how far away a cut is."""
        return max(self.low - cut, cut - self.high, 0)


class _Cuts(Protocol):
    """Cuts that are looked at side by side: low, low + 1, ...

    Attributes
    ----------
    low : int
        The first of them.
    lengths : tuple of int
        Of groups of cuts, from long to short, that should be looked at before single
        ones.
    tolerance : ndarray
        Utilities of a cut that are closer than this are equal.
    probability_error : float
        Bound on the error of a probability.
    """

    low: int
    lengths: tuple[int, ...]
    probability_error: float

    @property
    def tolerance(self) -> FloatArray:
        """Utilities of a cut that are closer than this are equal."""

    def chances(
        self, asked: Question, starts: IndexArray, ends: IndexArray
    ) -> FloatArray:
        """Return the probabilities asked for, of groups of cuts.

        Of a group, a probability that is no less than that of any of its cuts. One that
        is not above ``asked.probability`` may be any such number.
        """

    def law(self, i: int) -> UtilityDistribution:
        """Return the law of the utility of cut low + i."""


class GoalSearch:
    """The search for the best cut of one goal.

    Parameters
    ----------
    goal : DistributionGoal
        What is to be made large.
    eta : ndarray
        Probabilities, sorted descending.
    metric : Metric
        Whose law.
    allowed : ndarray of bool, shape (n + 1,)
        Which cuts may be taken.
    """

    def __init__(
        self,
        goal: DistributionGoal,
        eta: FloatArray,
        metric: Metric,
        allowed: BoolArray,
    ) -> None:
        self.goal, self.eta, self.metric, self.n = goal, eta, metric, eta.size
        self.allowed = allowed
        self.allowed_before = np.concatenate([[0], np.cumsum(allowed)])
        self.rising = agreement_never_hurts(metric, self.n)

    def run(self, first: int) -> tuple[int, float, float]:
        """Return the best cut, its value and a gap, beginning with a good cut.

        Another cut is taken only if it is better.

        Returns
        -------
        k : int
            The cut.
        value : float
            What the goal is there.
        gap : float
            No allowed cut is better by more than that, apart from the errors that laws
            state (`probability_error`; a quantile is one of a level within that).
            Ranges are left out only by a proved bound, which leaves what
            `DistributionGoal.gap` says: differences that are taken for rounding.
        """
        if self._only_size_counts():
            sizes = _Sizes(self.metric, self.eta)
            self._begin(first, sizes.law(first))
            self._look_at(sizes, self.n)
        else:
            ranges = self._rings(first)
            while ranges:
                nearest = min(ranges, key=lambda at: at.distance(self.best))
                ranges.remove(nearest)
                ranges += self._narrowed(nearest)
        return self.best, self.goal.shown(self.value, self.metric), self.gap

    def _only_size_counts(self) -> bool:
        """Return whether it is proved that the metric is the same for every TP."""
        return check_metric(self.metric).tp_independent and tp_never_matters(
            self.metric, self.n
        )

    def _begin(self, first: int, law: UtilityDistribution) -> None:
        self.best, self.value = first, self.goal.value(law, self.metric)
        self.gap = self.goal.gap(self.value, law.tolerance, law.probability_error)

    def _rings(self, first: int) -> list[_Range]:
        """Look at the first cut, and return ranges of all cuts around it.

        The further away, the longer are those that can be left out as a whole: what a
        bound on a range gives away grows with its length, and what a cut lacks with the
        square of its distance, over about n.
        """
        far = [0]
        while far[-1] < self.n:
            far.append(far[-1] + max(_SHORT, far[-1] ** 2 // self.n))
        steps = np.array(far)
        edges = np.concatenate([[0, self.n], first - steps, first + steps])
        edges = np.unique(np.clip(edges, 0, self.n))
        pairs = list(pairwise(edges.tolist()))
        within = [law_of(self.eta[i:j]) for i, j in pairs]
        before = list(accumulate(within, convolved, initial=NOTHING))
        after = list(accumulate(within[::-1], convolved, initial=NOTHING))[::-1]
        at = int(np.searchsorted(edges, first))
        law = _law_at(self.metric, first, self.n, before[at], after[at], self.rising)
        self._begin(first, law)
        return [
            _Range(*pair, before[i], within[i], after[i + 1])
            for i, pair in enumerate(pairs)
        ]

    def _narrowed(self, at: _Range) -> list[_Range]:
        """Return what is left to look at of a range: nothing, or its halves."""
        if self.allowed_before[at.high + 1] == self.allowed_before[at.low]:
            return []
        if self.rising and not self._can_beat(at):
            return []
        if at.high - at.low <= _SHORT:
            shorter = self._narrower(at) if self.rising else at
            if shorter is None:
                return []
            at = shorter
            eta = self.eta[at.low : at.high]
            tp, fn = _Table.running(at.before, eta), _Table.running(at.after, eta[::-1])
            fn = fn._replace(pmf=fn.pmf[::-1])
            block = _Block(self.metric, at.low, self.n, self.rising, tp, fn)
            self._look_at(block, at.high)
            return []
        middle = (at.low + at.high) // 2
        left, right = (
            law_of(self.eta[i:j]) for i, j in ((at.low, middle), (middle, at.high))
        )
        return [
            _Range(at.low, middle, at.before, left, convolved(right, at.after)),
            _Range(middle, at.high, convolved(at.before, left), right, at.after),
        ]

    def _look_at(self, cuts: _Cuts, last: int) -> None:
        """Take the best of the allowed cuts up to `last`, if it is better."""
        left = np.flatnonzero(self.allowed[cuts.low : last + 1])
        for length in cuts.lengths:
            groups, group = np.unique(left // length, return_inverse=True)
            starts = groups * length
            ends = np.minimum(starts + length - 1, last - cuts.low)
            left = left[(self._excess(cuts, starts, ends) > 0.0)[group]]
        while left.size:
            excess = self._excess(cuts, left, left)
            most = int(np.argmax(excess))
            if excess[most] <= 0.0:
                return
            value = self.goal.value(cuts.law(int(left[most])), self.metric)
            if value > self.value:
                self.best, self.value = cuts.low + int(left[most]), value
            excess[most] = 0.0  # it has been looked at
            left = left[excess > 0.0]

    def _excess(self, cuts: _Cuts, starts: IndexArray, ends: IndexArray) -> FloatArray:
        """Return by how much groups of cuts may be better, as a probability.

        Those that may not be have 0 or less.
        """
        if not starts.size:
            return np.zeros(0)
        tolerance = cuts.tolerance[starts]
        asked = self.goal.question(
            self.value, self.metric, tolerance, cuts.probability_error
        )
        gap = self.goal.gap(
            self.value, float(np.max(tolerance)), cuts.probability_error
        )
        self.gap = max(self.gap, gap)
        return cuts.chances(asked, starts, ends) - asked.probability

    def _can_beat(self, at: _Range) -> bool:
        """Return whether a cut of the range could be better than the best so far."""
        caught = convolved(at.before, at.within)
        tp, fn = _Table.of(caught), _Table.of(at.after)
        return self._groups_that_can_beat(at, tp, fn, at.high - at.low).size > 0

    def _narrower(self, at: _Range) -> _Range | None:
        """Return a short range without the groups at its ends that cannot be better.

        None is returned if no group can.
        """
        eta = self.eta[at.low : at.high]
        groups = _laws_of_groups(eta)
        tp = _Table.by_group(at.before, groups)
        fn = _Table.by_group(at.after, groups[::-1])
        fn = fn._replace(pmf=fn.pmf[::-1])
        left = self._groups_that_can_beat(
            at, _Table(tp.start, tp.pmf[1:]), _Table(fn.start, fn.pmf[1:]), _GROUP
        )
        if not left.size:
            return None
        first, last = int(left[0]), int(left[-1]) + 1
        low, high = at.low + first * _GROUP, min(at.low + last * _GROUP, at.high)
        return _Range(low, high, tp.law(first), NOTHING, fn.law(last))

    def _groups_that_can_beat(
        self, at: _Range, tp: _Table, fn: _Table, step: int
    ) -> IndexArray:
        """Return which groups of cuts of a range could be better than the best so far.

        Each begins `step` cuts after the one before it; the laws are those of the
        positives among the first instances up to its end, and after it.
        """
        group = _Block(self.metric, at.low, self.n, True, tp, fn, step)
        which = np.arange(tp.pmf.shape[0])
        return np.flatnonzero(self._excess(group, which, which) > 0.0)


def _laws_of_groups(eta: FloatArray) -> FloatArray:
    """Return the laws of the positives of every `_GROUP` instances, a row for each."""
    count = -(-eta.size // _GROUP)
    groups = np.zeros((count, _GROUP))
    groups.ravel()[: eta.size] = eta
    laws = np.zeros((_GROUP + 1, count))
    laws[0] = 1.0
    for p in groups.T:
        add_instance(laws, p, laws)
    return np.ascontiguousarray(laws.T)


def _law_at(
    metric: Metric, k: int, n: int, tp: Law, fn: Law, rising: bool
) -> UtilityDistribution:
    """Return the law of the utility of one cut."""
    if rising:
        return Rows(metric, tp, fn, k, n)
    return distribution_of_score(metric, tp, fn, k, n)


class _Table(NamedTuple):
    """Laws of a count: the probability of start + j is pmf[i, j] in the i-th."""

    start: int
    pmf: FloatArray

    @classmethod
    def of(cls, law: Law) -> _Table:
        """Return a single law."""
        return cls(law.start, law.pmf[None])

    @classmethod
    def running(cls, start: Law, eta: FloatArray) -> _Table:
        """Return the laws after 0, 1, ... instances more."""
        pmf = np.zeros((eta.size + 1, start.pmf.size + eta.size))
        pmf[0, : start.pmf.size] = start.pmf
        for row, after, p in zip(pmf, pmf[1:], eta.tolist(), strict=False):
            add_instance(row, p, after)
        return cls._of_rows(start.start, pmf)

    @classmethod
    def by_group(cls, start: Law, groups: FloatArray) -> _Table:
        """Return the laws after 0, 1, ... groups of instances more."""
        count, more = groups.shape[0], groups.shape[1] - 1
        pmf = np.zeros((count + 1, start.pmf.size + count * more))
        pmf[0, : start.pmf.size] = start.pmf
        for i, group in enumerate(groups):
            law = np.convolve(pmf[i, : start.pmf.size + i * more], group)
            pmf[i + 1, : law.size] = law
        return cls._of_rows(start.start, pmf)

    @classmethod
    def _of_rows(cls, start: int, pmf: FloatArray) -> _Table:
        """Return the laws on a window without what is negligible in all of them."""
        last = trimmed(start, pmf.max(axis=0))
        low = last.start - start
        return cls(last.start, pmf[:, low : low + last.pmf.size])

    @property
    def counts(self) -> FloatArray:
        """The values of the window."""
        return self.start + np.arange(self.pmf.shape[1], dtype=np.float64)

    def law(self, i: int) -> Law:
        """Return the i-th law."""
        return trimmed(self.start, self.pmf[i])


class _Block:
    """Cuts that follow each other, or a group of them, and the laws of their counts.

    Parameters
    ----------
    metric : Metric
        The metric.
    low, n : int
        The first cut, and the number of instances.
    rising : bool
        Whether the metric never falls when a label is right.
    tp, fn : _Table
        The law of TP, and that of FN, for each cut.
    step : int
        How many cuts further the next one is.
    """

    def __init__(
        self,
        metric: Metric,
        low: int,
        n: int,
        rising: bool,
        tp: _Table,
        fn: _Table,
        step: int = 1,
    ) -> None:
        self.metric, self.low, self.n, self.rising = metric, low, n, rising
        self.tp, self.fn, self.step = tp, fn, step
        self.lengths: tuple[int, ...] = _LENGTHS if rising else ()
        self.probability_error = probability_error(tp.pmf.shape[1] + fn.pmf.shape[1])

    def _utility(self, tp: Any, fn: Any, k: Any) -> FloatArray:
        """Evaluate at counts; those that are impossible have probability 0."""
        tp, fn = np.minimum(tp, k), np.minimum(fn, self.n - k)
        score = self.metric.score_cells(tp, k - tp, fn, self.n - k - fn)
        score = np.broadcast_to(score, np.broadcast_shapes(tp.shape, fn.shape))
        return score if self.metric.greater_is_better else -score

    @cached_property
    def tolerance(self) -> FloatArray:
        """Utilities of a cut that are closer than this are equal.

        As of `Rows`, from the utilities of all pairs of a lowest or highest count.
        """
        cuts = self.low + self.step * np.arange(self.tp.pmf.shape[0], dtype=np.float64)
        tp, fn = (table.counts[[0, -1], None] for table in (self.tp, self.fn))
        ends = self._utility(tp[:, None], fn, cuts[[0, -1]])
        return np.full(cuts.size, 16 * EPS * np.max(np.abs(ends)))

    def law(self, i: int) -> UtilityDistribution:
        """Return the law of the utility of cut low + i."""
        tp, fn = self.tp.law(i), self.fn.law(i)
        return _law_at(self.metric, self.low + i, self.n, tp, fn, self.rising)

    def chances(
        self, asked: Question, starts: IndexArray, ends: IndexArray
    ) -> FloatArray:
        """Return the probabilities asked for, of groups of cuts.

        All positives up to the end are counted as caught, and only as many as are left
        of the cuts up to the start as false: a group is as good as that at the most.
        """
        if not self.rising:
            each = np.broadcast_to(asked.utility, starts.shape).tolist()
            return np.array(
                [
                    self._chance(asked._replace(utility=utility), i)
                    for i, utility in zip(starts.tolist(), each, strict=True)
                ]
            )
        tail = np.zeros((starts.size, self.tp.pmf.shape[1] + 1))
        tail[:, :-1] = np.cumsum(self.tp.pmf[ends, ::-1], axis=1)[:, ::-1]
        columns = self._columns(asked, self.step * (int(np.max(ends - starts)) + 1))
        first = self._first(asked, starts, columns)
        reached = np.take_along_axis(tail, first, axis=1)
        missed = np.add.reduceat(self.fn.pmf[ends], columns, axis=1)
        chance: FloatArray = np.einsum("ij,ij->i", missed, reached)
        return chance

    def _columns(self, asked: Question, length: int) -> IndexArray:
        """Return the numbers of misses to look at, for groups of so many cuts.

        Those between are counted as the next lower one, which is no worse: the bound
        holds whatever the choice. It gives away little beside what a group does.
        """
        width = self.fn.pmf.shape[1]
        if length == 1:
            return np.arange(width)
        rare = _RARE * min(asked.probability, 1.0 - asked.probability)
        likely = np.flatnonzero(self.fn.pmf.max(axis=0) > rare)
        some = np.arange(likely[0], likely[-1] + 1, -(-length // _FINE))
        return np.unique(np.append(0, some))

    def _first(
        self, asked: Question, which: IndexArray, columns: IndexArray
    ) -> IndexArray:
        """Return the first count of TP that reaches the utility, for each FN.

        With one more predicted positive, or one more positive missed, it is no lower:
        the metric never falls when a label is right. So it is looked for between those
        of the cuts on either side that are known: first both ends, then some between,
        and so on. The metric is evaluated hardly twice for each pair, where these are
        many.
        """
        size, width = self.tp.pmf.shape[1], columns.size
        last = which.size - 1
        first = np.zeros((which.size, width), dtype=np.intp)
        ends, every = np.unique([0, last]), np.arange(width)
        some = columns[::_SPACED]
        low = np.zeros((ends.size, some.size), dtype=np.intp)
        high = np.full((ends.size, some.size + 1), size)
        high[:, :-1] = self._bisected(asked, which[ends], some, low, high[:, 1:])
        low, high = high[:, every // _SPACED], high[:, every // _SPACED + 1]
        first[ends] = self._bisected(asked, which[ends], columns, low, high)
        known = 1 << last.bit_length()
        most = max(_EVALUATIONS // width, 1)
        while known > 1:
            step = known // 2
            while step > 1 and last // step * width < _FEW:
                step //= 2
            new = np.arange(step, last, step)
            new = new[new % known > 0]
            for i in range(0, new.size, most):
                row = new[i : i + most]
                before = row // known * known
                low, high = first[before], first[np.minimum(before + known, last)]
                first[row] = self._bisected(asked, which[row], columns, low, high)
            known = step
        return first

    def _bisected(
        self,
        asked: Question,
        cuts: IndexArray,
        columns: IndexArray,
        low: IndexArray,
        high: IndexArray,
    ) -> IndexArray:
        """Return the first count of TP that reaches the utility, from low to high."""
        cuts = self.low + self.step * cuts
        k, fn = cuts.astype(np.float64), self.fn.counts[columns]
        first = low.copy()
        row, column = np.nonzero(low < high)
        low, high = low[row, column], high[row, column]
        k_there, fn_there = k[row], fn[column]
        utility = asked.utility[0]  # a block has one tolerance, and so one utility
        first[row, column] = first_that_holds(
            low,
            high,
            lambda index: asked.is_reached(
                self._utility(self.tp.start + index, fn_there, k_there), utility
            ),
        )
        # More positives than predicted ones may be anything, as far as bounds go; more
        # misses than predicted negatives are impossible.
        caught = np.maximum(cuts[:, None] + 1 - self.tp.start, 0)
        possible = fn <= (self.n - k)[:, None]
        return np.where(possible, np.minimum(first, caught), self.tp.pmf.shape[1])

    def _chance(self, asked: Question, i: int) -> float:
        """Return the probability of a cut, or a number that is not above that asked.

        What fails is added up, the likely pairs first. Once it is enough, the others
        need no look.
        """
        tp, fn = self.tp.law(i), self.fn.law(i)
        for share in _SHARES:
            likely = _middle(tp, share), _middle(fn, share)
            missed = self._mass(asked, i, *likely, reached=False)
            if 1.0 - missed + self.probability_error <= asked.probability:
                return asked.probability
        return self._mass(asked, i, tp, fn, reached=True)

    def _mass(
        self, asked: Question, i: int, tp: Law, fn: Law, *, reached: bool
    ) -> float:
        """Return the probability of the pairs that reach the utility, or do not."""
        mass, step = 0.0, max(_EVALUATIONS // fn.pmf.size, 1)
        for j in range(0, tp.pmf.size, step):
            a = tp.counts[j : j + step, None]
            value = self._utility(a, fn.counts, float(self.low + i))
            mass += float(
                tp.pmf[j : j + step]
                @ ((asked.is_reached(value, asked.utility) == reached) @ fn.pmf)
            )
        return mass


class _Sizes:
    """All cuts, for a metric in which only the number of positives counts.

    That has the same law for all of them.
    """

    low = 0
    lengths: tuple[int, ...] = ()

    def __init__(self, metric: Metric, eta: FloatArray) -> None:
        self.metric, self.n, self.total = metric, eta.size, law_of(eta)
        self.probability_error = probability_error(self.total.pmf.size)

    def _utility(self, k: Any, positives: Any) -> FloatArray:
        """Evaluate; as few of the positives are caught as can be."""
        caught = np.maximum(positives + k - self.n, 0.0)
        return self.metric.utility(caught, k, positives, float(self.n))

    @cached_property
    def tolerance(self) -> FloatArray:
        """Utilities of a cut that are closer than this are equal."""
        ends = self.total.counts[[0, -1], None]
        cuts = np.arange(self.n + 1, dtype=np.float64)
        tolerance: FloatArray = 16 * EPS * np.max(np.abs(self._utility(cuts, ends)), 0)
        return tolerance

    def law(self, i: int) -> UtilityDistribution:
        """Return the law of the utility of cut i."""
        score = self._utility(float(i), self.total.counts)
        return Atoms(score, self.total.pmf, self.total.pmf.size)

    def chances(
        self, asked: Question, starts: IndexArray, ends: IndexArray
    ) -> FloatArray:
        """Return the probabilities asked for, of single cuts.

        What fails is added up, the likely numbers of positives first, and a cut is
        dropped once that is enough.
        """
        utility = np.broadcast_to(asked.utility, starts.shape)
        order = np.argsort(-self.total.pmf)
        chance, open_ = np.ones(starts.size), np.arange(starts.size)
        done, step = 0, 16
        while open_.size and done < order.size:
            part = order[done : done + step]
            chance[open_] -= self._mass(
                asked, starts[open_], utility[open_], part, False
            )
            bound = chance[open_] + self.probability_error
            open_ = open_[bound > asked.probability]
            done, step = done + step, 2 * step
        chance = np.minimum(chance, asked.probability)
        chance[open_] = self._mass(asked, starts[open_], utility[open_], order, True)
        return chance

    def _mass(
        self,
        asked: Question,
        cuts: IndexArray,
        utility: FloatArray,
        part: IndexArray,
        reached: bool,
    ) -> FloatArray:
        """Return the probability of the numbers that reach a utility, or do not."""
        out, step = np.empty(cuts.size), max(_EVALUATIONS // part.size, 1)
        for j in range(0, cuts.size, step):
            k = cuts[j : j + step, None].astype(np.float64)
            value = self._utility(k, self.total.counts[part])
            is_so = asked.is_reached(value, utility[j : j + step, None]) == reached
            out[j : j + step] = is_so @ self.total.pmf[part]
        return out


def _middle(law: Law, share: float) -> Law:
    """Return the part of a law around its most probable count, not rescaled."""
    most, reach = int(np.argmax(law.pmf)), int(share * law.pmf.size / 2) + 1
    low = max(most - reach, 0)
    return Law(law.start + low, law.pmf[low : most + reach + 1])
