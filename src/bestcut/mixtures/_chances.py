"""How probable it is that cuts reach a score, over draws of the probabilities.

For all cuts from `low` to `high`, TP is at most the number of positives among the first
`high` and FP at least the number of negatives among the first `low`; the other way
round, TP is at least that among the first `low`, and FP at most the rest of the first
`high`. A metric that never falls when a prediction is corrected lies between what it is
at these extremes, whatever the labels, so chances to reach a score do too. Both hold
with the count of positives above one of the two cuts alone: H above `high`, with at
least ``low - H`` negatives, or A above `low`, with at most ``high - A``.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.goals import DistributionGoal, Question
from bestcut.metrics import Metric, agreement_never_hurts
from bestcut.mixtures._cuts import MixtureCuts
from bestcut.scores import (
    Rows,
    UtilityDistribution,
    probability_error,
)
from bestcut.search import extreme_utility
from bestcut.uncertain import DrawnLaw

_PAIRS = 1 << 21  # of counts that are looked at one by one
_EVALUATIONS = 1 << 18
_SPLIT = 4
_FIRST = 16  # ranges that all cuts are divided into


class _ExtremeRows(Rows):
    """A utility at extremes of a range of cuts, from the laws at one end of it."""

    def __init__(
        self, metric: Metric, tp: DrawnLaw, fn: DrawnLaw, n_pred: int, n: int
    ) -> None:
        self._n = float(n)
        super().__init__(metric, tp, fn, n_pred, n)

    def _utility(
        self, index: IndexArray, rows: IndexArray | slice = slice(None)
    ) -> FloatArray:
        a, b = self.count[index], self.fn[rows]
        return extreme_utility(self.metric, a, b, self.n_pred, self._n)


class Chances:
    """Chances of cuts, and of ranges of cuts, to reach a score.

    Parameters
    ----------
    cuts : MixtureCuts
        The cuts of a ranking.
    """

    def __init__(self, cuts: MixtureCuts) -> None:
        self.cuts, self.metric, self.n = cuts, cuts.metric, cuts.n
        self.rising = agreement_never_hurts(self.metric, self.n)

    def utility(self, cut: int) -> UtilityDistribution:
        """Return the distribution of the utility of a cut."""
        return self.cuts.prediction(cut).utility(self.metric)

    def chance(self, asked: Question, at: int, n_pred: int) -> tuple[float, float]:
        """Return how probable it is to reach a utility, and the error of that.

        The laws are those at the cut `at`, and `n_pred` instances are predicted
        positive: as many, or those of the extreme of a range.
        """
        tp, fn = self.cuts.ranked.laws(at)
        error = probability_error(tp.pmf.shape[0] + fn.pmf.shape[0])
        if tp.pmf.shape[0] * fn.pmf.shape[0] > _PAIRS and self.rising:
            rows = _ExtremeRows(self.metric, tp, fn, n_pred, self.n)
            count = rows.above if asked.strictly else rows.at_least
            return float(count(asked.utility)), error
        chance, missed = 0.0, fn.counts
        step = max(_EVALUATIONS // missed.size, 1)
        for i in range(0, tp.pmf.shape[0], step):
            caught = tp.counts[i : i + step, None]
            value = extreme_utility(self.metric, caught, missed, n_pred, self.n)
            reached = asked.is_reached(value, asked.utility).astype(np.float64)
            chance += float(np.sum((reached @ fn.pmf) * tp.pmf[i : i + step]))
        return chance / self.cuts.n_draws, error


def _tolerance(cuts: MixtureCuts) -> float:
    """Return by how much any utility may be rounded, about.

    It is for bounds that leave ranges out. Beside scores that are very large it makes
    others equal that are not, so a cut by itself is judged by its distribution.
    """
    return 16 * EPS * (cuts.largest if np.isfinite(cuts.largest) else 1.0)


class MixtureGoalSearch:
    """The best cut of a goal that looks at the whole distribution of the score.

    Branch and bound, as `bestcut.goals.GoalSearch`, over draws.
    """

    def __init__(
        self, goal: DistributionGoal, cuts: MixtureCuts, allowed: BoolArray
    ) -> None:
        self.goal, self.chances, self.allowed = goal, Chances(cuts), allowed
        self.metric, self.n = cuts.metric, cuts.n
        self.rounding = _tolerance(cuts)
        self.allowed_before = np.concatenate([[0], np.cumsum(allowed)])

    def run(self, first: int) -> tuple[int, float, float]:
        """Return the best cut, its value and a gap, beginning with a good cut."""
        self._begin(first)
        ranges = _divided(0, self.n, _FIRST) if self.chances.rising else self._each()
        while ranges:
            low, high = min(ranges, key=self._distance)
            ranges.remove((low, high))
            if self.allowed_before[high + 1] == self.allowed_before[low]:
                continue
            if low == high == self.best or not self._may_be_better(low, high):
                continue
            if low == high:
                self._look_at(low)
            else:
                ranges += _divided(low, high, _SPLIT)
        return self.best, self.goal.shown(self.value, self.metric), self.gap

    def _distance(self, ends: tuple[int, int]) -> int:
        """Return how far a range is from the best cut."""
        return max(ends[0] - self.best, self.best - ends[1])

    def _each(self) -> list[tuple[int, int]]:
        return [(k, k) for k in np.flatnonzero(self.allowed).tolist()]

    def _begin(self, cut: int) -> None:
        law = self.chances.utility(cut)
        self.best, self.value = cut, self.goal.value(law, self.metric)
        self.tolerance = max(law.tolerance, self.rounding)
        self.gap = self._gap_beside(law)

    def _look_at(self, cut: int) -> None:
        """Take a cut if it is better: what bounds make equal to it may be worse."""
        law = self.chances.utility(cut)
        self.tolerance = max(self.tolerance, law.tolerance)
        value = self.goal.value(law, self.metric)
        if value > self.value:
            self.best, self.value = cut, value
        self.gap = max(self.gap, self._gap_beside(law))

    def _gap_beside(self, law: UtilityDistribution) -> float:
        return self.goal.gap(self.value, self.tolerance, law.probability_error)

    def _may_be_better(self, low: int, high: int) -> bool:
        tp, fn = self.chances.cuts.ranked.laws(high)
        error = probability_error(tp.pmf.shape[0] + fn.pmf.shape[0])
        asked = self.goal.question(self.value, self.metric, self.tolerance, error)
        return self.chances.chance(asked, high, low)[0] > asked.probability


def _divided(low: int, high: int, count: int) -> list[tuple[int, int]]:
    """Return ranges of cuts that together are those from `low` to `high`."""
    edges = np.unique(np.linspace(low, high + 1, count + 1).astype(np.intp))
    return [(a, b - 1) for a, b in pairwise(edges.tolist())]


def cuts_that_reach(
    cuts: MixtureCuts, score: float, probability: float, within: BoolArray
) -> BoolArray:
    """Return which cuts reach a score with a probability, among some.

    A range of cuts is left out as a whole if its upper extreme has too small a chance,
    and taken as a whole if its lower extreme has enough; another one is divided. A
    utility may have been rounded down, which a single cut's distribution allows for.
    """
    chances, wanted_utility = Chances(cuts), cuts.metric.sign * score
    surely = Question(wanted_utility, False, probability)
    maybe = surely._replace(utility=wanted_utility - _tolerance(cuts))
    reached = np.zeros(cuts.n + 1, dtype=np.bool_)
    wanted = np.concatenate([[0], np.cumsum(within)])
    ranges = (
        _divided(0, cuts.n, _FIRST)
        if chances.rising
        else [(k, k) for k in np.flatnonzero(within).tolist()]
    )
    # From the end, so that laws grow from the nearest.
    while ranges:
        low, high = ranges.pop()
        if wanted[high + 1] == wanted[low]:
            continue
        upper, error = chances.chance(maybe, high, low)
        if upper < probability - error:
            continue
        lower, error = chances.chance(surely, low, high)
        if lower >= probability + error:
            reached[low : high + 1] = True
        elif low == high:
            law = chances.utility(low)
            enough = probability - law.probability_error
            reached[low] = law.reaching(wanted_utility) >= enough
        else:
            ranges += _divided(low, high, _SPLIT)
    return reached & within
