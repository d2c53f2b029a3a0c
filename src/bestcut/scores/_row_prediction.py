"""One prediction, row by row, where every row has a worth of its own.

Counts do not tell the total then. It is a sum over rows, each of which brings one of
two amounts: its expected value is a sum of products, and its distribution that of
`Steps`, in each draw of the probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bestcut._types import EPS, TINY, BoolArray, FloatArray
from bestcut.metrics import RowUtility
from bestcut.scores._prediction import Prediction, groups_of
from bestcut.scores._total import CELLS, FEWEST, Steps, distribution_of_total
from bestcut.scores._utility import Atoms, UtilityDistribution, UtilityMixture
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
    p : ndarray of shape (n,) or UncertainProbabilities
        The probabilities, or draws of them.
    labels : ndarray of shape (n,)
        The predictions.
    """

    def __init__(
        self, p: FloatArray | UncertainProbabilities, labels: BoolArray
    ) -> None:
        super().__init__(*groups_of(p, labels))
        self.p, self.labels = p, labels

    def _mean(self) -> FloatArray:
        """Return the mean probability of each row."""
        return self.p.mean if isinstance(self.p, UncertainProbabilities) else self.p

    def _each(self) -> Iterator[FloatArray]:
        """Yield the probabilities of all rows, draw by draw."""
        if not isinstance(self.p, UncertainProbabilities):
            yield self.p
        else:
            yield from map(draws_of(self.p).draw, range(self.n_draws))

    def _amounts(self, utility: RowUtility) -> tuple[FloatArray, FloatArray]:
        return utility.worths((self.n,)).of(self.labels)

    def at_mean(self) -> Prediction:
        """Return the prediction as it is with the mean probabilities."""
        return RowPrediction(self._mean(), self.labels) if self.n_draws > 1 else self

    def by_draw(self, metric: Any) -> tuple[FloatArray, FloatArray, float]:
        """Return mean and standard deviation in every draw, and the mean's error."""
        if not isinstance(metric, RowUtility):
            return super().by_draw(metric)
        amounts = self._amounts(metric)
        each = [(*expected_total(p, *amounts), _std(p, *amounts)) for p in self._each()]
        mean, error, std = np.array(each).T
        return mean, std, float(error.max())

    def _linear(self, metric: Any) -> tuple[float, float] | None:
        """Return the expected score and its error, if linear in the probabilities."""
        if not isinstance(metric, RowUtility):
            return super()._linear(metric)
        hit, miss = self._amounts(metric)
        value, error = expected_total(self._mean(), hit, miss)
        if isinstance(self.p, UncertainProbabilities):
            error += rounding_of_means(self.p, np.abs(hit) + np.abs(miss))
        return value, error

    def _totals(self, metric: RowUtility) -> list[UtilityDistribution]:
        """Return the distribution of the total in every draw."""
        amounts = self._amounts(metric)
        cells = min(max(1 << (_HELD // self.n_draws).bit_length() - 1, FEWEST), CELLS)
        each = (Steps.of_rows(p, *amounts) for p in self._each())
        return [distribution_of_total(steps, cells) for steps in each]

    def utility(self, metric: Any) -> UtilityDistribution:
        """Return the distribution of a metric's utility."""
        if not isinstance(metric, RowUtility):
            return super().utility(metric)
        totals = self._totals(metric)
        return totals[0] if self.n_draws == 1 else UtilityMixture(totals)

    def sample(self, metric: Any, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw scores: a draw of the probabilities for each, then a total."""
        if not isinstance(metric, RowUtility):
            return super().sample(metric, size, rng)
        totals = self._totals(metric)
        draws, out = rng.integers(self.n_draws, size=size), np.empty(size)
        for b in np.unique(draws).tolist():
            here, law = np.flatnonzero(draws == b), totals[b]
            assert isinstance(law, Atoms)
            place = np.searchsorted(law.upto[1:], rng.random(here.size), side="right")
            out[here] = law.values[np.minimum(place, law.values.size - 1)]
        return out


def rounding_of_means(p: UncertainProbabilities, scale: FloatArray) -> float:
    """Bound what the rounding of mean probabilities does to an expected total.

    Every mean is a sum over draws, divided; `scale` is what a unit of each may move.
    """
    return (p.n_draws + 8) * EPS * float(p.mean @ scale)


def row_prediction(
    p: FloatArray | UncertainProbabilities, labels: BoolArray
) -> RowPrediction:
    """Return the prediction of known probabilities, or of draws of them.

    Arrays are copied: their owner may change them before the score is asked for.
    """
    p = p if isinstance(p, UncertainProbabilities) else p.copy()
    return RowPrediction(p, labels.copy())
