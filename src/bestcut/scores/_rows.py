"""One prediction, row by row, where every row has a worth of its own.

Counts do not tell the total then. It is a sum over rows, each of which brings one of
two amounts: its expected value is a sum of products, and its law that of `Steps`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bestcut._types import EPS, TINY, BoolArray, FloatArray
from bestcut.counts import ListedSide
from bestcut.metrics import AnyMetric, RowUtility
from bestcut.scores._mixture import MixedPrediction, MixedUtility
from bestcut.scores._prediction import Moments, Prediction
from bestcut.scores._total import CELLS, FEWEST, Steps, distribution_of_total
from bestcut.scores._utility import Atoms, UtilityDistribution
from bestcut.uncertain import UncertainProbabilities, draws_of

_HELD = 1 << 24  # cells of the grids of all draws


class Expected(NamedTuple):
    """An expected total, and a bound on its numerical error."""

    value: float
    error: float


def expected_total(p: FloatArray, hit: FloatArray, miss: FloatArray) -> Expected:
    """Return the expected total of rows that bring `hit` if positive, else `miss`.

    A term rounds by at most three halves of EPS of its absolute parts, and the sum of
    the terms is rounded once. The bound is twice that.
    """
    rest = 1.0 - p
    value = math.fsum((p * hit + rest * miss).tolist())
    absolute = float((p * np.abs(hit) + rest * np.abs(miss)).sum())
    return Expected(value, 4 * EPS * absolute + rounding_near_0(p.size))


def rounding_near_0(terms: int) -> float:
    """Bound what so many terms round where numbers have fewer digits."""
    return 4 * terms * TINY * EPS


def _std(p: FloatArray, hit: FloatArray, miss: FloatArray) -> float:
    """Return the standard deviation of the same total."""
    step = hit - miss
    largest = float(np.abs(step).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    part = step / largest  # its square does not overflow
    return largest * math.sqrt(float(part**2 @ (p * (1.0 - p))))


class RowPrediction(Prediction):
    """A prediction that knows its rows.

    Attributes
    ----------
    p, labels : ndarray of shape (n,)
        The probabilities and the predictions.
    """

    def __init__(self, p: FloatArray, labels: BoolArray) -> None:
        super().__init__(ListedSide(p[labels]), ListedSide(p[~labels]))
        self.p, self.labels = p, labels

    def _amounts(self, utility: RowUtility) -> tuple[FloatArray, FloatArray]:
        return utility.worths(self.p.shape).of(self.labels)

    def moments(self, metric: AnyMetric) -> Moments:
        """Return the mean and standard deviation of a metric."""
        if not isinstance(metric, RowUtility):
            return super().moments(metric)
        hit, miss = self._amounts(metric)
        mean, error = expected_total(self.p, hit, miss)
        return Moments(mean, _std(self.p, hit, miss), error)

    def utility(self, metric: AnyMetric) -> UtilityDistribution:
        """Return the distribution of a metric's utility."""
        if not isinstance(metric, RowUtility):
            return super().utility(metric)
        return distribution_of_total(Steps.of_rows(self.p, *self._amounts(metric)))

    def sample(
        self, metric: AnyMetric, size: int, rng: np.random.Generator
    ) -> FloatArray:
        """Draw scores."""
        if not isinstance(metric, RowUtility):
            return super().sample(metric, size, rng)
        return _drawn(self.utility(metric), size, rng)


class MixedRowPrediction(MixedPrediction):
    """The same in all draws of the probabilities.

    Attributes
    ----------
    p : UncertainProbabilities
        The draws.
    labels : ndarray of shape (n,)
        The predictions.
    """

    def __init__(self, p: UncertainProbabilities, labels: BoolArray) -> None:
        above, below = MixedPrediction.sides_of(p, labels)
        super().__init__(above, below)
        self.p, self.labels = p, labels

    def _amounts(self, utility: RowUtility) -> tuple[FloatArray, FloatArray]:
        return utility.worths((len(self.p),)).of(self.labels)

    def at_mean(self) -> RowPrediction:
        """Return the prediction as it is with the mean probabilities."""
        return RowPrediction(self.p.mean, self.labels)

    def by_draw(self, metric: AnyMetric) -> tuple[FloatArray, FloatArray, float]:
        """Return the mean and the variance of a metric in every draw, and an error."""
        if not isinstance(metric, RowUtility):
            return super().by_draw(metric)
        hit, miss = self._amounts(metric)
        mean, std, error = np.empty((3, self.n_draws))
        for b in range(self.n_draws):
            p = draws_of(self.p).draw(b)
            mean[b], error[b] = expected_total(p, hit, miss)
            std[b] = _std(p, hit, miss)
        return mean, std**2, float(error.max())

    def moments(self, metric: AnyMetric) -> Moments:
        """Return the mean and standard deviation of a metric."""
        if not isinstance(metric, RowUtility):
            return super().moments(metric)
        hit, miss = self._amounts(metric)
        value, error = expected_total(self.p.mean, hit, miss)
        error += rounding_of_means(self.p, np.abs(hit) + np.abs(miss))
        mean, variance, _ = self.by_draw(metric)
        apart = float(np.var(mean))
        std = math.sqrt(float(np.mean(variance)) + apart)
        return Moments(value, std, error, math.sqrt(apart))

    def utility(self, metric: AnyMetric) -> UtilityDistribution:
        """Return the distribution of a metric's utility."""
        if not isinstance(metric, RowUtility):
            return super().utility(metric)
        amounts = self._amounts(metric)
        cells = min(max(1 << (_HELD // self.n_draws).bit_length() - 1, FEWEST), CELLS)
        draws = map(draws_of(self.p).draw, range(self.n_draws))
        each = (Steps.of_rows(p, *amounts) for p in draws)
        return MixedUtility([distribution_of_total(steps, cells) for steps in each])

    def chances(
        self, metric: AnyMetric, utility: UtilityDistribution, value: float
    ) -> FloatArray:
        """Return the probability of a utility of at most `value`, in every draw."""
        if not isinstance(metric, RowUtility):
            return super().chances(metric, utility, value)
        assert isinstance(utility, MixedUtility)
        return np.array([1.0 - one.above(value) for one in utility.laws])

    def sample(
        self, metric: AnyMetric, size: int, rng: np.random.Generator
    ) -> FloatArray:
        """Draw scores: a draw of the probabilities for each, then a total."""
        if not isinstance(metric, RowUtility):
            return super().sample(metric, size, rng)
        law = self.utility(metric)
        assert isinstance(law, MixedUtility)
        draws, out = rng.integers(self.n_draws, size=size), np.empty(size)
        for b in np.unique(draws).tolist():
            here = np.flatnonzero(draws == b)
            out[here] = _drawn(law.laws[b], here.size, rng)
        return out


def rounding_of_means(p: UncertainProbabilities, scale: FloatArray) -> float:
    """Bound what the rounding of mean probabilities does to an expected total.

    Every mean is a sum over draws, divided; `scale` is what a unit of each may move.
    """
    return (p.n_draws + 8) * EPS * float(p.mean @ scale)


def _drawn(law: UtilityDistribution, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw totals."""
    assert isinstance(law, Atoms)
    place = np.searchsorted(law.upto[1:], rng.random(size), side="right")
    return np.asarray(law.values[np.minimum(place, law.values.size - 1)])


def row_prediction(
    p: FloatArray | UncertainProbabilities, labels: BoolArray
) -> RowPrediction | MixedRowPrediction:
    """Return the prediction of known probabilities, or of draws of them.

    Arrays are copied: their owner may change them before the score is asked for.
    """
    if isinstance(p, UncertainProbabilities):
        return MixedRowPrediction(p, labels.copy())
    return RowPrediction(p.copy(), labels.copy())
