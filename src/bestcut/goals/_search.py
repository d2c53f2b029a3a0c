"""The best cut for a goal that looks at the whole law of the score.

Branch and bound, over draws of the probabilities; what is known is one draw. A metric
that never falls when a prediction is corrected has, in a range of cuts, chances that
are at most those of its extremes (Lemma 18). The range with the highest bound is
divided next, until nothing is left that could beat the best cut found so far. Of short
ranges, groups of cuts are looked at side by side, and then the cuts of those that are
left. Where it is not proved, for these n instances, that the metric never falls, every
cut is looked at. The cuts that reach a score surely enough are found in the same way.

Near its maximum a curve is flat, and about sqrt(n) cuts are looked at; a look takes
some sqrt(n) evaluations of the metric, and as many sums for each draw.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut.goals._chances import Ask, Chances, Cuts
from bestcut.goals._goals import DistributionGoal, Question
from bestcut.goals._known import KnownCuts
from bestcut.goals._listed import ListedChances
from bestcut.metrics import Metric, agreement_never_hurts

_FIRST, _SPLIT = 16, 2
_GROUPS = (64, 16, 4)  # cuts that are bounded together before single ones
_SHORTEST, _LONGEST = 24, 512  # cuts of a short range, if their laws take about ...
_TABLE = 1 << 23  # ... so many numbers
# Bounds may leave out counts that are less probable than this, of what is asked.
_RARE = 1e-6

# Returns which of some cuts are above what is asked, and by how much.
Look = Callable[[Ask, IndexArray], tuple[IndexArray, FloatArray]]


class GoalSearch:
    """The search for the best cut of one goal.

    Parameters
    ----------
    goal : DistributionGoal
        What is to be made large.
    cuts : Cuts or ndarray
        The cuts of a ranking; or known probabilities, sorted descending.
    metric : Metric
        Whose law.
    allowed : ndarray of bool, shape (n + 1,)
        Which cuts may be taken.
    """

    def __init__(
        self,
        goal: DistributionGoal,
        cuts: Cuts | FloatArray,
        metric: Metric,
        allowed: BoolArray,
    ) -> None:
        self.goal, self.metric, self.allowed = goal, metric, allowed
        self.cuts = KnownCuts(cuts, metric) if isinstance(cuts, np.ndarray) else cuts

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
        self.best, self.value, self.tolerance, self.gap = first, -np.inf, 0.0, 0.0
        if agreement_never_hurts(self.metric, self.cuts.n):
            self._take(first, self.cuts)
            self._divide()
        else:
            listed = ListedChances(self.cuts)
            self._take(first, listed)
            self._look_at(np.flatnonzero(self.allowed), listed, [listed.above])
        return self.best, self.goal.shown(self.value, self.metric), self.gap

    def _ask(self, tolerance: float, probability_error: float) -> Question:
        """Return what to ask of a cut that may be better, where so much rounds."""
        rounding = max(tolerance, self.tolerance), probability_error
        self.gap = max(self.gap, self.goal.gap(self.value, *rounding))
        return self.goal.question(self.value, self.metric, *rounding)

    def _take(self, cut: int, cuts: Cuts | ListedChances) -> bool:
        """Take a cut if it is better than the best so far, and say so."""
        law = cuts.utility(cut)
        value = self.goal.value(law, self.metric)
        if not value > self.value:
            return False
        self.best, self.value, self.tolerance = cut, value, law.tolerance
        self._ask(law.tolerance, law.probability_error)
        return True

    def _divide(self) -> None:
        """Take the best allowed cut, if it is better, the likeliest range first."""
        short, looks = short_range(self.cuts, self.best), looks_at(self.cuts)
        ranges: list[tuple[float, float, int, int]] = []
        new = parts(0, self.cuts.n + 1, _FIRST, short)
        while new or ranges:
            for low, high in new:
                if self.allowed[low:high].any():
                    excess = excess_of_range(self.cuts, self._ask, low, high)
                    if excess > 0.0:
                        heapq.heappush(ranges, (-excess, self.value, low, high))
            if not ranges:
                return
            _, value, low, high = heapq.heappop(ranges)
            new = []
            if value != self.value:  # a better cut was found since
                new = [(low, high)]
            elif high - low > short:
                new = parts(low, high, _SPLIT, short)
            else:
                left = low + np.flatnonzero(self.allowed[low:high])
                self._look_at(left, self.cuts, looks)

    def _look_at(
        self, left: IndexArray, cuts: Cuts | ListedChances, looks: list[Look]
    ) -> None:
        """Take the best of some cuts, if it is better, after looks at all of them.

        The likeliest are tried first. Once a better cut is found, fewer are left.
        """
        while left.size:
            for look in looks:
                left, excess = look(self._ask, left)
            likeliest = left[np.argsort(-excess, kind="stable")]
            left = left[:0]
            for i, cut in enumerate(likeliest.tolist(), start=1):
                if cut != self.best and self._take(cut, cuts):
                    left = np.sort(likeliest[i:])
                    break


def cuts_that_reach(
    cuts: Cuts, score: float, probability: float, within: BoolArray
) -> BoolArray:
    """Return which cuts reach a score with a probability, among some.

    A range of cuts is left out as a whole if its upper extreme has too small a chance,
    and taken as a whole if its lower extreme has enough; another one is divided. A
    utility may have been rounded down, which a single cut's distribution allows for.
    """
    wanted = cuts.metric.sign * score
    reached = np.zeros(cuts.n + 1, dtype=np.bool_)

    def maybe(tolerance: float, error: float) -> Question:
        return Question(wanted - tolerance, False, probability - error)

    def surely(_: float, error: float) -> Question:
        return Question(wanted, False, probability + error)

    def look_at(left: IndexArray, looks: list[Look]) -> None:
        for look, room in zip(looks, (2 * _RARE, 0.0), strict=False):
            likely, excess = look(surely, left)
            sure = likely[excess > room]
            reached[sure] = True
            left, _ = look(maybe, np.setdiff1d(left, sure))
        for cut in left.tolist():
            law = cuts.utility(cut)
            enough = probability - law.probability_error
            reached[cut] = law.reaching(wanted) >= enough

    if not agreement_never_hurts(cuts.metric, cuts.n):
        look_at(np.flatnonzero(within), [ListedChances(cuts).above])
        return reached
    short, looks = short_range(cuts, cuts.n // 2), looks_at(cuts)
    ranges = parts(0, cuts.n + 1, _FIRST, short)
    while ranges:
        low, high = ranges.pop()
        if not within[low:high].any():
            continue
        if excess_of_range(cuts, maybe, low, high) <= 0.0:
            continue
        if excess_of_range(cuts, surely, low, high, least=True) > 0.0:
            reached[low:high] = True
        elif high - low > short:
            ranges += parts(low, high, _SPLIT, short)
        else:
            look_at(low + np.flatnonzero(within[low:high]), looks)
    return reached & within


def short_range(cuts: Cuts, cut: int) -> int:
    """Return how many cuts are looked at side by side, with laws as at a cut."""
    size = sum(law.pmf.size for law in cuts.laws(cut))
    return int(np.clip(_TABLE // size, _SHORTEST, _LONGEST))


def parts(low: int, high: int, count: int, short: int) -> list[tuple[int, int]]:
    """Return ranges of cuts that together are low, ..., high - 1: some, none short."""
    count = max(min(count, -(-(high - low) // short)), 1)
    edges = np.linspace(low, high, count + 1).astype(np.intp)
    return list(pairwise(edges.tolist()))


def excess_of_range(
    cuts: Cuts, ask: Ask, low: int, high: int, *, least: bool = False
) -> float:
    """Bound by how much the chances of the cuts low, ..., high - 1 are above one asked.

    From above, by the extreme with as many positives caught as above `high`; or from
    below, if the `least` is asked for.
    """
    at, n_pred = (low, high - 1) if least else (min(high, cuts.n), low)
    chances = Chances(cuts, low, high, ask, _RARE, at=at)
    chance = float(chances.of(np.zeros(1, dtype=np.intp), np.array([n_pred]))[0])
    # Without what was added, chances are wrong by as much, either way.
    return chance - chances.asked.probability - (2 * chances.surplus if least else 0.0)


def looks_at(cuts: Cuts) -> list[Look]:
    """Return the looks at cuts that are near each other: a quick one, and a close one.

    Chances of the quick one are too large, by a share of what is asked.
    """

    def look(ask: Ask, left: IndexArray, share: float) -> tuple[IndexArray, FloatArray]:
        if not left.size:
            return left, np.zeros(0)
        low, high = int(left[0]), int(left[-1]) + 1
        chances = Chances(cuts, low, high, ask, share)
        enough = chances.asked.probability
        for length in _GROUPS:
            if high - low > length:
                groups, group = np.unique((left - low) // length, return_inverse=True)
                starts = groups * length
                ends = np.minimum(starts + length, high - low) - 1
                left = left[(chances.of(ends, low + starts) > enough)[group]]
        excess = chances.of(left - low, left) - enough
        return left[excess > 0.0], excess[excess > 0.0]

    return [
        lambda ask, left: look(ask, left, _RARE),
        lambda ask, left: look(ask, left, 0.0),
    ]
