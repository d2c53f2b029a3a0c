"""The best cut of a goal, and the cuts that reach a score, over draws.

The search is that of `bestcut.goals`; here are the laws that it asks for.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bestcut._types import BoolArray, FloatArray
from bestcut.counts import LEAST_VARIANCE
from bestcut.goals import DistributionGoal, GoalSearch, cuts_that_reach as _that_reach
from bestcut.mixtures._cuts import MixtureCuts
from bestcut.scores import UtilityDistribution
from bestcut.uncertain import AlignedLaws

_KEPT = 8  # cuts whose laws are kept


class _DrawnCuts:
    """The cuts of draws that are ranked, for one metric, as a search for goals asks."""

    def __init__(self, cuts: MixtureCuts) -> None:
        self._cuts, self.metric, self.n = cuts, cuts.metric, cuts.n
        self.laws = lru_cache(_KEPT)(self._laws)

    def _laws(self, cut: int) -> tuple[AlignedLaws, AlignedLaws]:
        """Return the laws of the positives above a cut and below it, in all draws."""
        return self._law(cut, below=False), self._law(cut, below=True)

    def _law(self, cut: int, *, below: bool) -> AlignedLaws:
        side = self._cuts.ranked.side(cut, below=below)
        if side.variance.min(initial=np.inf) >= LEAST_VARIANCE:
            return side.laws
        # They grow from those of the nearest cut that is known.
        return AlignedLaws.of(self._cuts.ranked.law(cut, below=below))

    def rows(self, first: int, last: int) -> FloatArray:
        """Return the probabilities of some instances: a row for each."""
        return self._cuts.ranked.draws.rows(first, last)

    def utility(self, cut: int) -> UtilityDistribution:
        """Return the distribution of the utility of a cut."""
        return self._cuts.prediction(cut).utility(self.metric)


class MixtureGoalSearch(GoalSearch):
    """The search for the best cut of one goal, over draws."""

    def __init__(
        self, goal: DistributionGoal, cuts: MixtureCuts, allowed: BoolArray
    ) -> None:
        super().__init__(goal, _DrawnCuts(cuts), cuts.metric, allowed)


def cuts_that_reach(
    cuts: MixtureCuts, score: float, probability: float, within: BoolArray
) -> BoolArray:
    """Return which cuts reach a score with a probability, among some."""
    return _that_reach(_DrawnCuts(cuts), score, probability, within)
