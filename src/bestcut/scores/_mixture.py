"""One prediction, when the probabilities are known only as draws: a mixture.

Given a draw, TP and FN are independent counts, as for known probabilities; over draws,
every expectation and every probability is a mean. TP and FN are not independent then: a
draw that makes one large makes the other large.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from bestcut._caches import Lean
from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut.counts import (
    LEAST_VARIANCE,
    Law,
    error_of_sums,
    exact_error,
    linear_value,
)
from bestcut.metrics import (
    MORE_AGREEMENT,
    Metric,
    is_linear,
    largest_score,
    never_hurts,
)
from bestcut.scores._prediction import Moments, Prediction
from bestcut.scores._utility import (
    FEW,
    Atoms,
    Rows,
    UtilityDistribution,
    listed_pairs,
)
from bestcut.uncertain import (
    DrawnLaw,
    DrawnSide,
    UncertainProbabilities,
    draws_of,
)

_MANY = 1 << 23  # pairs of counts that are listed if nothing better can be done
_EVALUATIONS = 1 << 19  # of the metric at a time


class MixedPrediction(Lean):
    """The instances predicted positive, and the others, in all draws.

    Attributes
    ----------
    chosen, others : DrawnSide
        The two groups.
    n, n_pred, n_draws : int
        How many instances there are, how many are predicted positive, and how many
        draws of their probabilities there are.
    """

    def __init__(self, chosen: DrawnSide, others: DrawnSide) -> None:
        self.chosen, self.others = chosen, others
        self.n, self.n_pred = chosen.n + others.n, chosen.n
        self.n_draws = chosen.n_draws

    @classmethod
    def of_labels(cls, p: UncertainProbabilities, labels: BoolArray) -> MixedPrediction:
        """Return the prediction of these labels."""
        return cls(*cls.sides_of(p, labels))

    @staticmethod
    def sides_of(
        p: UncertainProbabilities, labels: BoolArray
    ) -> tuple[DrawnSide, DrawnSide]:
        """Return the instances predicted positive, and the others."""
        chosen, others = (draws_of(p).taken(x).ranked() for x in (labels, ~labels))
        return DrawnSide(chosen), DrawnSide(others)

    def expected_cells(self) -> tuple[float, float, float, float]:
        """Return the expected numbers of TP, FP, FN and TN."""
        chosen, others = self.chosen, self.others
        numbers = chosen.positives, chosen.negatives, others.positives, others.negatives
        tp, fp, fn, tn = (mean_over_draws(x) for x in numbers)
        return tp, fp, fn, tn

    def variances(self) -> tuple[float, float]:
        """Return the variances of TP and of FN, over labels and draws."""
        tp, fn = (
            mean_over_draws(side.variance) + float(np.var(side.positives))
            for side in (self.chosen, self.others)
        )
        return tp, fn

    @cached_property
    def tp(self) -> Law:
        """The distribution of the positives that are caught."""
        return self.chosen.marginal()

    @cached_property
    def fn(self) -> Law:
        """The distribution of the positives that are missed."""
        return self.others.marginal()

    def at_mean(self) -> Prediction:
        """Return the prediction as it is with the mean probabilities."""
        p = [side.draws.mean() for side in (self.chosen, self.others)]
        return Prediction.of_labels(np.concatenate(p), np.arange(self.n) < self.n_pred)

    def in_draw(self, b: int) -> Prediction:
        """Return the prediction as it is in one draw."""
        return Prediction(self.chosen.in_draw(b), self.others.in_draw(b))

    def by_draw(self, metric: Any) -> tuple[FloatArray, FloatArray, float]:
        """Return the mean and the variance of a metric in every draw, and an error."""
        tp, fn = self.chosen.law, self.others.law
        pairs = tp.pmf.shape[0] * fn.pmf.shape[0]
        if pairs > _MANY // 2:
            each = [self.in_draw(b).moments(metric) for b in range(self.n_draws)]
            numbers = np.array([one[:3] for one in each]).T
            return numbers[0], numbers[1] ** 2, float(numbers[2].mean())
        largest = largest_score(metric, self.n)
        mean, square, scale = self._sums(metric, tp, fn)
        error = exact_error(
            sum(tp.pmf.shape[:1] + fn.pmf.shape[:1]), self.n, scale, largest
        )
        error += laws_error(self.chosen, self.others) * largest
        return mean, np.maximum(square, 0.0), error

    def _sums(
        self, metric: Metric, tp: DrawnLaw, fn: DrawnLaw
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return the means, the variances and the largest expected absolute score."""
        likely_tp, likely_fn = self._likely()
        centre = metric_table(metric, likely_tp, likely_fn, self)[0, 0]
        first, second, scale = np.zeros((3, self.n_draws))
        step = max(_EVALUATIONS // fn.pmf.shape[0], 1)
        for i in range(0, tp.pmf.shape[0], step):
            score = metric_table(metric, tp.counts[i : i + step], fn.counts, self)
            caught = tp.pmf[i : i + step]
            apart = score - centre
            for total, terms in (
                (first, apart),
                (second, apart**2),
                (scale, np.abs(score)),
            ):
                total += np.einsum("ab,ab->b", terms @ fn.pmf, caught)
        return centre + first, second - first**2, float(scale.max(initial=0.0))

    def _likely(self) -> tuple[FloatArray, FloatArray]:
        """Return whole numbers near the expected TP and FN."""
        tp, _, fn, _ = self.expected_cells()
        return np.rint([tp]), np.rint([fn])

    def moments(self, metric: Metric) -> Moments:
        """Return the mean and standard deviation of a metric."""
        mean, variance, error = self.by_draw(metric)
        value = mean_over_draws(mean)
        if is_linear(metric):
            value, error = (
                float(x) for x in linear_value(metric, self.expected_cells())
            )
        apart = float(np.var(mean))
        std = float(np.sqrt(mean_over_draws(variance) + apart))
        return Moments(value, std, error, float(np.sqrt(apart)))

    def utility(self, metric: Metric) -> UtilityDistribution:
        """Return the distribution of a metric's utility."""
        tp, fn = self.chosen.law, self.others.law
        pairs = tp.pmf.shape[0] * fn.pmf.shape[0]
        if pairs > FEW and never_hurts(metric, MORE_AGREEMENT, self.n):
            return MixedRows(metric, tp, fn, self.n_pred, self.n)
        if pairs > _MANY:
            return self._utility_of_many(metric)
        joint = tp.pmf @ fn.pmf.T / self.n_draws
        score = metric_table(metric, tp.counts, fn.counts, self)
        size = sum(tp.pmf.shape[:1] + fn.pmf.shape[:1])
        listed = listed_pairs(
            metric, tp.counts, fn.counts, float(self.n_pred), float(self.n)
        )
        utility = metric.sign * score.ravel()
        return Atoms(utility, joint.ravel(), size, pairs=listed)

    def _utility_of_many(self, metric: Metric) -> UtilityDistribution:
        """Return the distribution of a metric that may fall, draw by draw."""
        laws = [self.in_draw(b).utility(metric) for b in range(self.n_draws)]
        return MixedUtility(laws)

    def chances(
        self, metric: Metric, utility: UtilityDistribution, value: float
    ) -> FloatArray:
        """Return the probability of a utility of at most `value`, in every draw."""
        if isinstance(utility, MixedRows):
            return 1.0 - utility.above_by_draw(value)
        tp, fn = self.chosen.law, self.others.law
        if tp.pmf.shape[0] * fn.pmf.shape[0] > _MANY:
            each = (self.in_draw(b).utility(metric) for b in range(self.n_draws))
            return np.array([1.0 - one.above(value) for one in each])
        score = metric.sign * metric_table(metric, tp.counts, fn.counts, self)
        reached = (score <= value + utility.tolerance).astype(np.float64)
        return np.asarray(np.einsum("ab,ab->b", reached @ fn.pmf, tp.pmf))

    def level_error(
        self, metric: Metric, utility: UtilityDistribution, q: float
    ) -> float:
        """Return the standard error of the level of a quantile, over draws."""
        if self.n_draws == 1:
            return 0.0
        value = utility.quantile(q) if metric.sign > 0 else utility.upper_quantile(q)
        chances = self.chances(metric, utility, value)
        return float(np.std(chances, ddof=1) / np.sqrt(self.n_draws))

    def sample(self, metric: Metric, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw scores: a draw of the probabilities for each, then labels."""
        draws = rng.integers(self.n_draws, size=size)
        picked = []
        for side in (self.chosen, self.others):
            law, out = side.law, np.empty(size)
            for b in np.unique(draws).tolist():
                here = np.flatnonzero(draws == b)
                share = law.pmf[:, b] / law.pmf[:, b].sum()
                out[here] = rng.choice(law.counts, size=here.size, p=share)
            picked.append(out)
        tp, fn = picked
        k, n = float(self.n_pred), float(self.n)
        score = metric.score_cells(tp, k - tp, fn, n - k - fn)
        return np.array(np.broadcast_to(score, (size,)), dtype=np.float64)


AnyPrediction: TypeAlias = Prediction | MixedPrediction


def metric_table(
    metric: Metric, tp: FloatArray, fn: FloatArray, at: AnyPrediction
) -> FloatArray:
    """Return the metric for all pairs of counts: a row for each TP."""
    k, n = float(at.n_pred), float(at.n)
    caught, missed = np.minimum(tp, k)[:, None], np.minimum(fn, n - k)[None]
    score = metric.score_cells(caught, k - caught, missed, n - k - missed)
    return np.broadcast_to(score, (tp.size, fn.size))


def laws_error(*sides: DrawnSide) -> float:
    """Bound what laws from sums of features are wrong by, for scores of size 1."""
    total = 0.0
    for side in sides:
        from_sums = np.where(side.variance >= LEAST_VARIANCE, side.variance, 0.0)
        total += float(error_of_sums(from_sums).max(initial=0.0))
    return total


def mean_over_draws(values: FloatArray) -> float:
    """Return the mean over draws; of draws that agree, exactly what they agree on."""
    first = float(values[0])
    return first + float(np.mean(values - first))


class MixedRows(Rows):
    """A utility that is nondecreasing in TP for each FN, over draws of both laws."""

    def __init__(
        self, metric: Metric, tp: DrawnLaw, fn: DrawnLaw, n_pred: int, n: int
    ) -> None:
        self._tp, self._fn = tp.pmf, fn.pmf
        zero = np.zeros((1, tp.pmf.shape[1]))
        self._tails = np.concatenate([np.cumsum(tp.pmf[::-1], axis=0)[::-1], zero])
        # The window of all draws is wide, and most of it is nothing in any one.
        self._row, self._draw = np.nonzero(fn.pmf)
        self._weight = fn.pmf[self._row, self._draw]
        caught, missed = (Law(law.start, law.pmf.mean(axis=1)) for law in (tp, fn))
        super().__init__(metric, caught, missed, n_pred, n)

    def _mass(self, first: IndexArray) -> float:
        """Return the probability of these indices and all beyond."""
        beyond = self._tails[first[self._row], self._draw]
        return float(self._weight @ beyond) / float(self._fn.shape[1])

    def above_by_draw(self, utility: float) -> FloatArray:
        """Return P(U > utility) in every draw."""
        first = self._first(utility + self.tolerance, above=True)
        beyond = self._weight * self._tails[first[self._row], self._draw]
        by_draw = np.bincount(self._draw, beyond, self._fn.shape[1])
        return by_draw.astype(np.float64)

    def _pair_mass(self, rows: IndexArray, index: IndexArray) -> FloatArray:
        """Return the probabilities of some pairs; `rows` ascend.

        Draw by draw: each has a few of the counts that there are in all draws.
        """
        joint = np.zeros(rows.size)
        possible = self._fn > 0.0
        first = np.searchsorted(rows, possible.argmax(axis=0))
        last = np.searchsorted(rows, self.fn.size - possible[::-1].argmax(axis=0))
        for b, here in enumerate(map(slice, first.tolist(), last.tolist())):
            joint[here] += self._fn[rows[here], b] * self._tp[index[here], b]
        return np.asarray(joint / self._fn.shape[1])


class MixedUtility(UtilityDistribution):
    """The mean of the laws of a utility in every draw."""

    def __init__(self, laws: list[UtilityDistribution]) -> None:
        self.laws = laws
        self.tolerance = max(law.tolerance for law in laws)
        self.value_error = max(law.value_error for law in laws)
        self.probability_error = max(law.probability_error for law in laws)

    def at_least(self, utility: float) -> float:
        """Return P(U >= utility)."""
        return float(np.mean([law.at_least(utility) for law in self.laws]))

    def above(self, utility: float) -> float:
        """Return P(U > utility)."""
        return float(np.mean([law.above(utility) for law in self.laws]))

    def reaching(self, utility: float) -> float:
        """Return P(U >= utility), of a U that may have been rounded down."""
        return float(np.mean([law.reaching(utility) for law in self.laws]))

    def exceeding(self, utility: float) -> float:
        """Return P(U > utility), of a U that may have been rounded up."""
        return float(np.mean([law.exceeding(utility) for law in self.laws]))

    def quantile(self, q: float) -> float:
        """Return the smallest u with P(U <= u) >= q, up to `probability_error`."""
        ends = [law.quantile(q) for law in self.laws]
        allowed = 1.0 - q + self.probability_error if q < 1.0 else 0.0
        return self._bisected(min(ends), max(ends), lambda u: self.above(u) <= allowed)

    def upper_quantile(self, q: float) -> float:
        """Return the largest u with P(U >= u) >= q, up to `probability_error`."""
        ends = [law.upper_quantile(q) for law in self.laws]
        wanted = q - self.probability_error if q < 1.0 else 1.0
        return -self._bisected(
            -max(ends), -min(ends), lambda u: self.at_least(-u) >= wanted
        )

    def _bisected(
        self, low: float, high: float, holds: Callable[[float], bool]
    ) -> float:
        """Return the least value that holds, to within the error of a utility."""
        if holds(low):
            return low
        while high - low > max(self.value_error, 1e-15 * abs(high)):
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high
