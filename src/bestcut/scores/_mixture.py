"""One prediction, when the probabilities are known only as draws: a mixture.

Given a draw, TP and FN are independent counts, as for known probabilities; over draws,
every expectation and every probability is a mean. TP and FN are not independent then: a
draw that makes one large makes the other large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    AlignedLaws,
    DrawnLaw,
    DrawnSide,
    UncertainProbabilities,
    draws_of,
)

_MANY = 1 << 23  # pairs of counts that are listed if nothing better can be done
_EVALUATIONS = 1 << 19  # of the metric at a time
_SIGMAS = 25.0  # standard deviations that a window reaches over, about
_HALVINGS = 40


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
        if self.chosen.laws.width * self.others.laws.width > _MANY // 2:
            each = [self.in_draw(b).moments(metric) for b in range(self.n_draws)]
            numbers = np.array([one[:3] for one in each]).T
            return numbers[0], numbers[1] ** 2, float(numbers[2].mean())
        tp, fn = self.chosen.law, self.others.law
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
        pairs = self.chosen.laws.width * self.others.laws.width
        if pairs > FEW and never_hurts(metric, MORE_AGREEMENT, self.n):
            laws = self.chosen.laws, self.others.laws
            return MixedRows(metric, *laws, self.n_pred, self.n)
        if pairs > _MANY:
            return self._utility_of_many(metric)
        tp, fn = self.chosen.law, self.others.law
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
        if self.chosen.laws.width * self.others.laws.width > _MANY:
            each = (self.in_draw(b).utility(metric) for b in range(self.n_draws))
            return np.array([1.0 - one.above(value) for one in each])
        tp, fn = self.chosen.law, self.others.law
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
            out = np.empty(size)
            for b in np.unique(draws).tolist():
                here, law = np.flatnonzero(draws == b), side.laws.in_draw(b)
                out[here] = rng.choice(law.counts, size=here.size, p=law.pmf)
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
        self,
        metric: Metric,
        tp: AlignedLaws | DrawnLaw,
        fn: AlignedLaws | DrawnLaw,
        n_pred: int,
        n: int,
    ) -> None:
        self._tp, self._fn = (
            law if isinstance(law, AlignedLaws) else AlignedLaws.of(law)
            for law in (tp, fn)
        )
        self._n_draws, self._sure, self._sizes = self._tp.start.size, 0, (n_pred, n)
        super().__init__(metric, self._tp.marginal(), self._fn.marginal(), n_pred, n)
        # Where the windows begin among the counts of all draws.
        self._from = self._tp.start - self._tp.start.min()
        self._row = self._fn.start - self._fn.start.min()

    @cached_property
    def _tails(self) -> tuple[FloatArray, IndexArray, IndexArray]:
        """P(TP >= a), draw by draw; where each FN is, and where each draw begins.

        A draw has all counts of its window, and one beyond.
        """
        draws, size = self._tp.pmf.shape
        tails = np.zeros((draws, size + 1))
        tails[:, :-1] = np.cumsum(self._tp.pmf[:, ::-1], axis=1)[:, ::-1]
        rows = self._row[:, None] + np.arange(self._fn.pmf.shape[1])
        return tails.ravel(), rows, (size + 1) * np.arange(draws)[:, None]

    def _beyond(self, first: IndexArray) -> FloatArray:
        """Return the probability of these indices and all beyond, in each draw."""
        tails, rows, begin = self._tails
        index = first.take(rows)
        index -= self._from[:, None]
        np.clip(index, 0, self._tp.pmf.shape[1], out=index)
        index += begin
        return np.asarray(np.einsum("bi,bi->b", self._fn.pmf, tails.take(index)))

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """Return what the utility is at least and at most, in each draw."""
        most_tp = self._from + self._tp.pmf.shape[1] - 1
        most_fn = self._row + self._fn.pmf.shape[1] - 1
        low = self._utility(self._from, most_fn) - self.tolerance
        return low, self._utility(most_tp, self._row) + self.tolerance

    def _mass(self, first: IndexArray) -> float:
        """Return the probability of these indices and all beyond."""
        return (self._sure + float(self._beyond(first).sum())) / self._n_draws

    def above_by_draw(self, utility: float) -> FloatArray:
        """Return P(U > utility) in every draw."""
        return self._beyond(self._first(utility + self.tolerance, above=True))

    def _pair_mass(self, rows: IndexArray, index: IndexArray) -> FloatArray:
        """Return the probabilities of some pairs; `rows` ascend.

        Draw by draw: each has a few of the counts that there are in all draws.
        """
        joint = np.zeros(rows.size)
        size = self._tp.pmf.shape[1]
        first = np.searchsorted(rows, self._row)
        last = np.searchsorted(rows, self._row + self._fn.pmf.shape[1])
        for b, here in enumerate(map(slice, first.tolist(), last.tolist())):
            caught, missed = index[here] - self._from[b], rows[here] - self._row[b]
            inside = (caught >= 0) & (caught < size)
            mass = self._fn.pmf[b, missed[inside]] * self._tp.pmf[b, caught[inside]]
            joint[here][inside] += mass
        return np.asarray(joint / self._n_draws)

    def _around(
        self,
        holds: Callable[[float], bool],
        *,
        above: bool,
        tries: Sequence[float] = (),
    ) -> tuple[FloatArray, FloatArray]:
        """List some utilities around the point from which on `holds` is true.

        In a large batch most draws are on one side of it with all that they can have.
        A draw's utility is lowest at its fewest TP and most FN. For any u the share of
        draws that are above it altogether is at most P(U > u), and that of draws that
        reach u is at least P(U >= u), so the point lies between values of these ends.
        """
        draws = self._n_draws
        held = sum(holds(k / draws) for k in range(draws + 1))
        if not 0 < held <= draws:
            return super()._around(holds, above=above)
        low, high = self._ends()
        first, last = (np.sort(x)[draws - held] for x in (low, high))
        near = (high >= first) & (low <= last)
        part = MixedRows(
            self.metric, self._tp.only(near), self._fn.only(near), *self._sizes
        )
        part._n_draws, part._sure = draws, int(np.count_nonzero(low > last))
        tries = part._guesses(holds, float(first), float(last))
        return Rows._around(part, holds, above=above, tries=tries)

    def _guesses(
        self, holds: Callable[[float], bool], low: float, high: float
    ) -> tuple[float, float]:
        """Return utilities between which the point is if every draw's law is normal."""
        counts = [
            np.rint(law.pmf @ np.arange(law.pmf.shape[1])).astype(np.intp)
            for law in (self._tp, self._fn)
        ]
        mean = self._utility(self._from + counts[0], self._row + counts[1])
        ends = self._ends()
        sigma = np.maximum((ends[1] - ends[0]) / _SIGMAS, 1e-300)
        for _ in range(_HALVINGS):
            middle = low + (high - low) / 2
            mass = 0.5 - 0.5 * np.tanh(0.85 * (middle - mean) / sigma)
            if holds((self._sure + float(mass.sum())) / self._n_draws):
                high = middle
            else:
                low = middle
        beside = 0.1 * float(np.mean(sigma))
        return low - beside, low + beside


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
