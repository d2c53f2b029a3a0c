"""One prediction: how many positives it catches, and how many it misses.

Whatever the labels, TP counts the positives among the instances predicted positive and
FN those among the others: two Poisson-binomial counts, which are independent in each
draw of the probabilities, and from which the whole confusion matrix follows. Known
probabilities are one draw. Over draws every expectation and every probability is a
mean, and a draw that makes one count large makes the other large.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bestcut._caches import Lean
from bestcut._types import BoolArray, FloatArray
from bestcut.counts import (
    LEAST_VARIANCE,
    Law,
    ListedSide,
    Rule,
    Side,
    error_of_sums,
    exact_error,
    linear_value,
    rules_of_cut,
    trimmed,
)
from bestcut.metrics import Metric, is_linear, largest_score
from bestcut.scores._pairs import (
    aligned,
    distribution_of_score,
    in_one_window,
    score_table,
)
from bestcut.scores._utility import UtilityDistribution
from bestcut.uncertain import (
    AlignedLaws,
    DrawnLaw,
    DrawnSide,
    UncertainProbabilities,
    draws_of,
)

Group: TypeAlias = Side | DrawnSide

_MANY = 1 << 22  # pairs of counts with which draws are taken one by one
_EVALUATIONS = 1 << 19  # of the metric at a time


class Moments(NamedTuple):
    """Mean and standard deviation of a score, and a bound on the mean's error.

    `std_calibration` is the part of the standard deviation that comes from not knowing
    the probabilities: that of the expected score over draws of them.
    """

    mean: float
    std: float
    error: float
    std_calibration: float = 0.0

    @classmethod
    def over_draws(cls, mean: FloatArray, std: FloatArray, error: float) -> Moments:
        """Return the moments, given mean and standard deviation in every draw."""
        if mean.size == 1:
            return cls(float(mean[0]), float(std[0]), error)
        apart, variance = float(np.std(mean)), mean_over_draws(std**2)
        total = float(np.sqrt(variance + apart**2))
        return cls(mean_over_draws(mean), total, error, apart)


class Prediction(Lean):
    """The instances predicted positive, and the others.

    Attributes
    ----------
    chosen, others : Side or DrawnSide
        The two groups.
    n, n_pred, n_draws : int
        How many instances there are, how many are predicted positive, and how many
        draws of their probabilities there are.
    """

    def __init__(self, chosen: Group, others: Group) -> None:
        self.chosen, self.others = chosen, others
        self.n, self.n_pred = chosen.n + others.n, chosen.n
        self.n_draws = chosen.n_draws if isinstance(chosen, DrawnSide) else 1

    @classmethod
    def of_cut(cls, eta: FloatArray, k: int) -> Prediction:
        """Return the prediction of the first k, where `eta` is sorted descending."""
        return cls(ListedSide(eta[:k]), ListedSide(eta[k:]))

    @classmethod
    def of_labels(
        cls, p: FloatArray | UncertainProbabilities, labels: BoolArray
    ) -> Prediction:
        """Return the prediction of these labels."""
        return cls(*groups_of(p, labels))

    def sides(self, b: int = 0) -> tuple[Side, Side]:
        """Return both groups in one draw."""
        chosen, others = (
            group.in_draw(b) if isinstance(group, DrawnSide) else group
            for group in (self.chosen, self.others)
        )
        return chosen, others

    def at_mean(self) -> Prediction:
        """Return the prediction as it is with the mean probabilities."""
        groups = self.chosen, self.others
        p = [x.draws.mean() for x in groups if isinstance(x, DrawnSide)]
        return Prediction.of_cut(np.concatenate(p), self.n_pred) if p else self

    @cached_property
    def laws(self) -> tuple[AlignedLaws, AlignedLaws]:
        """The laws of TP and of FN, in every draw."""
        tp, fn = (
            group.laws if isinstance(group, DrawnSide) else aligned(group.law)
            for group in (self.chosen, self.others)
        )
        return tp, fn

    @property
    def counts(self) -> tuple[DrawnLaw, DrawnLaw]:
        """The laws of TP and of FN, each in one window for all draws."""
        return in_one_window(self.laws[0]), in_one_window(self.laws[1])

    @cached_property
    def tp(self) -> Law:
        """The distribution of the positives that are caught, over all draws."""
        return _over_draws(self.laws[0])

    @cached_property
    def fn(self) -> Law:
        """The distribution of the positives that are missed, over all draws."""
        return _over_draws(self.laws[1])

    def expected_cells(self) -> tuple[float, float, float, float]:
        """Return the expected numbers of TP, FP, FN and TN."""
        chosen, others = self.chosen, self.others
        numbers = chosen.positives, chosen.negatives, others.positives, others.negatives
        tp, fp, fn, tn = (mean_over_draws(x) for x in numbers)
        return tp, fp, fn, tn

    def variances(self) -> tuple[float, float]:
        """Return the variances of TP and of FN, over labels and draws."""
        tp, fn = (
            mean_over_draws(group.variance) + float(np.var(group.positives))
            for group in (self.chosen, self.others)
        )
        return tp, fn

    def moments(self, metric: Any) -> Moments:
        """Return the mean and standard deviation of a metric."""
        moments = Moments.over_draws(*self.by_draw(metric))
        linear = self._linear(metric)
        if linear is None:
            return moments
        return moments._replace(mean=linear[0], error=linear[1])

    def _linear(self, metric: Any) -> tuple[float, float] | None:
        """Return the expected score and its error, if linear in the probabilities."""
        if not is_linear(metric):
            return None
        value, error = linear_value(metric, self.expected_cells())
        return float(value), float(error)

    def by_draw(self, metric: Any) -> tuple[FloatArray, FloatArray, float]:
        """Return mean and standard deviation in every draw, and the mean's error.

        In one draw each group is taken by a rule that is proved to be right, or by its
        exact law; many draws side by side, by their laws. The bound on the error of the
        mean covers the rules, the windows of the laws and rounding (Lemmas 5, 6 and 8).
        """
        if self.n_draws == 1:
            return self._in_one_draw(metric, 0)
        if self.laws[0].width * self.laws[1].width > _MANY:
            each = [self._in_one_draw(metric, b) for b in range(self.n_draws)]
            means, stds, errors = (np.array(x) for x in zip(*each, strict=True))
            return means[:, 0], stds[:, 0], float(errors.mean())
        largest, (tp, fn) = largest_score(metric, self.n), self.counts
        rules = (Rule(law.counts[:, None], law.pmf) for law in (tp, fn))
        mean, std, scale = self._sums(metric, *rules)
        width = tp.counts.size + fn.counts.size
        error = exact_error(width, self.n, scale, largest)
        for group in (self.chosen, self.others):
            v = np.asarray(group.variance)  # smaller ones are of exact laws
            from_sums = error_of_sums(np.where(v >= LEAST_VARIANCE, v, 0.0))
            error += float(from_sums.max()) * largest
        return mean, std, error

    def _in_one_draw(
        self, metric: Metric, b: int
    ) -> tuple[FloatArray, FloatArray, float]:
        largest = largest_score(metric, self.n)
        tp, fn, error, width = rules_of_cut(
            metric, largest, *self.sides(b), mean_above=False
        )
        mean, std, scale = self._sums(metric, tp, fn)
        return mean, std, error + exact_error(width, self.n, scale, largest)

    def _sums(
        self, metric: Metric, tp: Rule, fn: Rule
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return mean and deviation in every draw, and the largest absolute sum."""
        (a, w_tp), (b, w_fn) = ((rule.nodes[:, 0], rule.weights) for rule in (tp, fn))
        about = self.n_pred, self.n
        # Scores are taken from a likely one: squares do not cancel then.
        i, j = (int(np.argmax(weights.sum(axis=1))) for weights in (w_tp, w_fn))
        centre = float(score_table(metric, a[[i]], b[[j]], *about)[0, 0])
        first, second, absolute = np.zeros((3, w_tp.shape[1]))
        step = max(_EVALUATIONS // b.size, 1)
        for i in range(0, a.size, step):
            score = score_table(metric, a[i : i + step], b, *about)
            here, apart = w_tp[i : i + step], score - centre
            first += np.einsum("ab,ab->b", here, apart @ w_fn)
            second += np.einsum("ab,ab->b", here, apart**2 @ w_fn)
            absolute += np.einsum(
                "ab,ab->b", np.abs(here), np.abs(score) @ np.abs(w_fn)
            )
        std = np.sqrt(np.maximum(second - first**2, 0.0))
        return centre + first, std, float(absolute.max())

    def utility(self, metric: Any) -> UtilityDistribution:
        """Return the distribution of a metric's utility."""
        return distribution_of_score(metric, *self.laws, self.n_pred, self.n)

    def level_error(self, metric: Any, utility: UtilityDistribution, q: float) -> float:
        """Return the standard error of the level of a quantile, over draws."""
        if self.n_draws == 1:
            return 0.0
        value = utility.quantile(q) if metric.sign > 0 else utility.upper_quantile(q)
        chances = utility.exceeding_by_draw(value)
        return float(np.std(chances, ddof=1) / np.sqrt(self.n_draws))

    def sample(self, metric: Any, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw scores: a draw of the probabilities for each, then labels."""
        draws, picked = rng.integers(self.n_draws, size=size), np.empty((2, size))
        for out, laws in zip(picked, self.laws, strict=True):
            for b in np.unique(draws).tolist():
                here, law = np.flatnonzero(draws == b), laws.in_draw(b)
                out[here] = rng.choice(law.counts, size=here.size, p=law.pmf)
        tp, fn = picked
        k, n = float(self.n_pred), float(self.n)
        score = metric.score_cells(tp, k - tp, fn, n - k - fn)
        return np.array(np.broadcast_to(score, (size,)), dtype=np.float64)


def groups_of(
    p: FloatArray | UncertainProbabilities, labels: BoolArray
) -> tuple[Group, Group]:
    """Return the instances predicted positive, and the others."""
    if isinstance(p, UncertainProbabilities) and p.n_draws > 1:
        chosen, others = (draws_of(p).taken(x).ranked() for x in (labels, ~labels))
        return DrawnSide(chosen), DrawnSide(others)
    eta = p.mean if isinstance(p, UncertainProbabilities) else p
    return ListedSide(eta[labels]), ListedSide(eta[~labels])


def _over_draws(laws: AlignedLaws) -> Law:
    law = laws.marginal()
    return trimmed(law.start, law.pmf)


def mean_over_draws(values: FloatArray | float) -> float:
    """Return the mean over draws; of draws that agree, exactly what they agree on."""
    first = float(np.ravel(values)[0])
    return first + float(np.mean(values - first))
