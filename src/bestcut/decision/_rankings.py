"""What is cut: probabilities, draws of them, or gains, from the first row down."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bestcut import _errors as errors
from bestcut._caches import Lean
from bestcut._thresholds import NOWHERE, Threshold, halfway, threshold_of
from bestcut._types import BoolArray, FloatArray
from bestcut.counts import believed, is_on_trust, value_of_cut
from bestcut.decision._gains import Gains
from bestcut.goals import DistributionGoal, Goal, GoalSearch
from bestcut.metrics import Metric, largest_score
from bestcut.mixtures import (
    MixtureCuts,
    MixtureGoalSearch,
    best_cut_of_draws,
    mean_curve,
)
from bestcut.reference import ALGORITHMS, Solver
from bestcut.scores import (
    Prediction,
    row_prediction,
)
from bestcut.search import Allowed, BestCut, best_of_sorted, whole_curve
from bestcut.summary import best_without_sort
from bestcut.uncertain import (
    ListedDraws,
    RankedDraws,
    UncertainProbabilities,
    draws_of,
    ranked_draws_of,
)

# From so many instances on, a summary takes less time than a sort.
PAYS_FROM = 1 << 19


class Chosen(NamedTuple):
    """What is best for a goal: a prediction, the value of the goal, and its gap."""

    best: BestCut
    goal_value: float
    gap: float


class _RankingByProbability(Lean, ABC):
    """What is the same for known probabilities and for draws of them."""

    @property
    @abstractmethod
    def eta(self) -> FloatArray:
        """The probabilities, or their means, from the first in the ranking down."""

    @abstractmethod
    def prediction(self, cut: int) -> Prediction:
        """Return the prediction of a cut."""

    @property
    def thresholds(self) -> FloatArray | None:
        """The threshold of each cut; inf of the first."""
        below = np.append(self.eta[1:], -np.inf)[: self.eta.size]
        return np.concatenate([[np.inf], halfway(below, self.eta)])

    def at(self, threshold: float) -> Prediction:
        """Return the prediction of a threshold of the probabilities, or their means."""
        return self.prediction(int(np.count_nonzero(self.eta >= threshold)))


class Ranking(_RankingByProbability):
    """Probabilities, which are sorted when their descending order is needed."""

    def __init__(self, p: FloatArray) -> None:
        self._p, self.n = p, p.size
        self._found: dict[int, tuple[float, Prediction]] = {}

    def keep(self) -> None:
        """Copy the given array, because its owner may change it."""
        self._p = self._p.copy()

    @property
    def means(self) -> FloatArray:
        """The probabilities in the order of the input."""
        return self._p

    @cached_property
    def eta(self) -> FloatArray:
        """The probabilities in descending order."""
        eta = np.ascontiguousarray(np.sort(self._p)[::-1])
        eta.flags.writeable = False
        return eta

    def curve(self, metric: Any, solver: str) -> tuple[FloatArray, float]:
        """Return the expected score of every cut, and a bound on the error."""
        if solver in ALGORITHMS:
            curve = ALGORITHMS[solver].curve(self.eta, metric)
            return curve.expected_score, curve.error
        return self.whole_curve(metric)

    def whole_curve(self, metric: Metric) -> tuple[FloatArray, float]:
        """Return the expected score of every cut, and a bound on the error."""
        value, error = whole_curve(self.eta, metric)
        return value, float(error.max())

    def value(self, at: Any, metric: Metric) -> tuple[float, float]:
        """Return the expected score of the prediction of a cut, and its error."""
        return value_of_cut(metric, largest_score(metric, self.n), at.chosen, at.others)

    def prediction(self, cut: int) -> Prediction:
        """Return the prediction of a cut."""
        found = self._found.get(cut)
        return found[1] if found else Prediction.of_cut(self.eta, cut)

    def draws(self) -> RankedDraws:
        """Return the probabilities as one draw of them."""
        return RankedDraws(ListedDraws(self.eta[:, None]))

    def chosen(
        self, metric: Metric, goal: Goal, allowed: Allowed, solver: Solver | None
    ) -> Chosen:
        """Return what is best for a goal among the allowed cuts."""
        if solver is not None:
            best = solver.solve(self.eta, metric, allowed)
        else:
            best = self._best(metric, allowed)
        if not isinstance(goal, DistributionGoal):
            gap = best.gap if self.n else 0.0  # there is no other
            return Chosen(best, metric.sign * best.utility, gap)
        search = GoalSearch(goal, self.eta, metric, allowed.mask(0, self.n))
        k, value, gap = search.run(best.k)
        moments = self.prediction(k).moments(metric)
        at = BestCut(k, metric.sign * moments.mean, moments.error, np.inf)
        return Chosen(at, value, gap)

    def _best(self, metric: Metric, allowed: Allowed) -> BestCut:
        """Return the best of the allowed cuts, without a sort where that is faster."""
        if self.n >= PAYS_FROM and "eta" not in self.__dict__:
            found = best_without_sort(self._p, metric, allowed)
            if found is not None:
                self._found[found.best.k] = found.threshold, found.prediction
                return found.best
        return best_of_sorted(self.eta, metric, allowed)

    def labels(self, best: BestCut) -> BoolArray:
        """Return the labels in input order; within a tie the earliest are positive."""
        p, k = self._p, best.k
        if not best.is_cut:
            labels = np.zeros(p.size, dtype=np.bool_)
            labels[np.argsort(-p, kind="stable")[best.members]] = True
            return labels
        least = self._least(k)
        labels = p >= least
        if int(np.count_nonzero(labels)) > k:
            np.greater(p, least, out=labels)
            missing = k - int(np.count_nonzero(labels))
            labels[np.flatnonzero(p == least)[:missing]] = True
        return labels

    def threshold(self, cut: int) -> Threshold:
        """Return the threshold of a cut, and what it ties."""
        return threshold_of(self._p, cut, self._least(cut))

    def _least(self, cut: int) -> float:
        """Return the smallest probability above a cut."""
        if cut in self._found:
            return self._found[cut][0]
        return float(self.eta[cut - 1]) if cut else np.inf


class DrawnRanking(_RankingByProbability):
    """A ranking for draws of the probabilities, in the order of their means."""

    def __init__(self, p: UncertainProbabilities) -> None:
        self._p, self.n = p, len(p)

    def keep(self) -> None:
        """Forget what was looked at, if it is much."""
        self.draws().tidy()

    @property
    def means(self) -> FloatArray:
        """The mean probabilities in the order of the input."""
        return self._p.mean

    @cached_property
    def eta(self) -> FloatArray:
        """The mean probabilities from the first in the ranking down."""
        return self.draws().draws.mean()

    def curve(self, metric: Any, solver: str) -> tuple[FloatArray, float]:
        """Return the expected score of every cut, and a bound on the error."""
        return self.whole_curve(metric)

    def whole_curve(self, metric: Metric) -> tuple[FloatArray, float]:
        """Return the expected score of every cut, and a bound on the error."""
        value, error = mean_curve(self.draws(), metric)
        return value, float(error.max())

    def value(self, at: Any, metric: Metric) -> tuple[float, float]:
        """Return the expected score of the prediction of a cut, and its error."""
        return MixtureCuts(self.draws(), metric).value(at.n_pred)

    def prediction(self, cut: int) -> Prediction:
        """Return the prediction of a cut."""
        above, below = (self.draws().side(cut, below=x) for x in (False, True))
        return Prediction(above, below)

    def draws(self) -> RankedDraws:
        """Return the cuts of the draws, and what is known of them."""
        return ranked_draws_of(self._p)

    def chosen(
        self, metric: Metric, goal: Goal, allowed: Allowed, solver: Solver | None
    ) -> Chosen:
        """Return what is best for a goal among the allowed cuts."""
        draws = self.draws()
        # A promise saves no time in draws that differ.
        variance = float(draws.total[1].max()) if self.n else 0.0
        metric = believed(metric, self.n * draws.n_draws, variance)
        cuts, those = MixtureCuts(draws, metric), allowed.mask(0, self.n)
        best = best_cut_of_draws(cuts, those)
        if isinstance(goal, DistributionGoal):
            k, goal_value, gap = MixtureGoalSearch(goal, cuts, those).run(best.k)
        else:
            k, goal_value = best.k, metric.sign * best.utility
            gap = np.inf if is_on_trust(metric) else best.gap
        value, error = cuts.value(k)
        best = BestCut(k, metric.sign * value, error, best.upper)
        return Chosen(best, goal_value, gap)

    @cached_property
    def each(self) -> DrawnRanking | None:
        """Every draw in its own order, if draws rank differently."""
        draws = self.draws().draws
        if self._p.one_ranking or not isinstance(draws, ListedDraws):
            return None
        return _EachRanking(self._p)

    def labels(self, best: BestCut) -> BoolArray:
        """Return the labels in input order; within a tie the earliest are positive."""
        return draws_of(self._p).top(best.k).copy()

    def threshold(self, cut: int) -> Threshold:
        """Return where a cut is among the means, and what it ties."""
        ranked = self.draws().draws
        if not cut:
            return NOWHERE
        around = ranked.taken(slice(cut - 1, cut + 1)).mean()
        least = float(around[0])
        if cut == self.n or least != around[1]:
            below = around[1] if cut < self.n else -np.inf
            return Threshold(float(halfway(below, least)))
        return threshold_of(ranked.mean(), cut, least)


class _EachRanking(DrawnRanking):
    """Every draw in its own order: no prediction is better than its best (Lemma 17)."""

    @cached_property
    def _sorted(self) -> RankedDraws:
        draws = ranked_draws_of(self._p).draws
        assert isinstance(draws, ListedDraws)
        return RankedDraws(draws.each_sorted())

    def draws(self) -> RankedDraws:
        """Return the cuts of the draws, each in its own order."""
        return self._sorted


class GainRanking:
    """Rows in the order of their expected gains, not of their probabilities."""

    thresholds: FloatArray | None = None

    def __init__(self, p: FloatArray | UncertainProbabilities, gains: Gains) -> None:
        self._p, self._gains = p, gains

    @property
    def eta(self) -> FloatArray:
        """Refuse, because the rows are not in the order of their probabilities."""
        raise errors.no_cut_to_show()

    def curve(self, metric: Any, solver: str) -> tuple[FloatArray, float]:
        """Return the expected score of every cut, and a bound on the error."""
        return self._gains.curve()

    def prediction(self, cut: int) -> Prediction:
        """Return the prediction of a cut."""
        return row_prediction(self._p, self._gains.top(cut))

    def at(self, threshold: float) -> Prediction:
        """Return the prediction of a threshold of the probabilities."""
        p = self._p
        mean = p.mean if isinstance(p, UncertainProbabilities) else p
        return row_prediction(p, mean >= threshold)


AnyRanking: TypeAlias = Ranking | DrawnRanking | GainRanking
