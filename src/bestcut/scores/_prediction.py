"""One prediction: how many positives it catches, and how many it misses.

Whatever the labels, TP counts the positives among the instances predicted positive and
FN those among the others: two independent Poisson-binomial counts, from which the whole
confusion matrix follows. A prediction is therefore kept as two groups of probabilities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestcut._types import BoolArray, FloatArray
from bestcut.counts import (
    Law,
    ListedSide,
    Rule,
    Side,
    exact_error,
    rules_of_cut,
    value_of_cut,
)
from bestcut.metrics import Metric, Trait, largest_score
from bestcut.scores._utility import UtilityDistribution, distribution_of_score

_EVALUATIONS = 500_000  # of the metric at a time


class Moments(NamedTuple):
    """Mean and standard deviation of a score, and a bound on the mean's error.

    `std_calibration` is the part of the standard deviation that comes from not knowing
    the probabilities: that of the expected score over draws of them.
    """

    mean: float
    std: float
    error: float
    std_calibration: float = 0.0


class _Sums(NamedTuple):
    mean: float
    variance: float
    absolute: float


class Prediction:
    """The instances predicted positive, and the others.

    Attributes
    ----------
    chosen, others : Side
        The two groups.
    n, n_pred : int
        How many instances there are, and how many are predicted positive.
    """

    def __init__(self, chosen: Side, others: Side) -> None:
        self.chosen, self.others = chosen, others
        self.n, self.n_pred = chosen.n + others.n, chosen.n

    @classmethod
    def of_cut(cls, eta: FloatArray, k: int) -> Prediction:
        """Return the prediction of the first k, where `eta` is sorted descending."""
        return cls(ListedSide(eta[:k]), ListedSide(eta[k:]))

    @classmethod
    def of_labels(cls, p: FloatArray, labels: BoolArray) -> Prediction:
        """Return the prediction of these labels."""
        return cls(ListedSide(p[labels]), ListedSide(p[~labels]))

    def expected_cells(self) -> tuple[float, float, float, float]:
        """Return the expected numbers of TP, FP, FN and TN."""
        chosen, others = self.chosen, self.others
        above = chosen.positives, chosen.negatives
        return *above, others.positives, others.negatives

    def variances(self) -> tuple[float, float]:
        """Return the variances of TP and of FN."""
        return self.chosen.variance, self.others.variance

    @property
    def tp(self) -> Law:
        """The distribution of the positives that are caught."""
        return self.chosen.law

    @property
    def fn(self) -> Law:
        """The distribution of the positives that are missed."""
        return self.others.law

    def moments(self, metric: Metric) -> Moments:
        """Return the mean and standard deviation of a metric.

        Each group is taken by a rule that is proved to be right, or by its exact
        distribution. The bound on the error of the mean covers the rules, the windows
        of the distributions and rounding (Lemmas 5, 6 and 8).
        """
        largest = largest_score(metric, self.n)
        tp, fn, error, width = rules_of_cut(
            metric, largest, self.chosen, self.others, mean_above=False
        )
        sums = self._sums(metric, tp, fn)
        mean = sums.mean
        error += exact_error(width, self.n, sums.absolute, largest)
        if Trait.LINEAR in metric.traits:
            mean, error = value_of_cut(metric, largest, self.chosen, self.others)
        return Moments(mean, float(np.sqrt(sums.variance)), error)

    def utility(self, metric: Metric) -> UtilityDistribution:
        """Return the distribution of a metric's utility."""
        return distribution_of_score(metric, self.tp, self.fn, self.n_pred, self.n)

    def sample(self, metric: Metric, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw scores."""
        tp, fn = (
            rng.choice(law.counts, size=size, p=law.pmf) for law in (self.tp, self.fn)
        )
        k, n = float(self.n_pred), float(self.n)
        score = metric.score_cells(tp, k - tp, fn, n - k - fn)
        return np.array(np.broadcast_to(score, (size,)), dtype=np.float64)

    def _sums(self, metric: Metric, tp_rule: Rule, fn_rule: Rule) -> _Sums:
        """Return the mean, the variance and the sum of the absolute terms."""
        fn, w_fn = fn_rule.nodes[:, 0], fn_rule.weights[:, 0]
        k, n = float(self.n_pred), float(self.n)
        # Scores are taken from a likely one: squares do not cancel then.
        a = tp_rule.nodes[np.argmax(tp_rule.weights[:, 0]), 0]
        b = fn[np.argmax(w_fn)]
        centre = float(metric.score_cells(a, k - a, b, n - k - b))
        first = second = absolute = 0.0
        step = max(_EVALUATIONS // fn.size, 1)
        for i in range(0, tp_rule.nodes.shape[0], step):
            tp, w_tp = tp_rule.nodes[i : i + step], tp_rule.weights[i : i + step, 0]
            score = metric.score_cells(tp, k - tp, fn, n - k - fn)
            score = np.broadcast_to(score, (tp.size, fn.size))
            apart = score - centre
            first += float(w_tp @ (apart @ w_fn))
            second += float(w_tp @ (apart**2 @ w_fn))
            absolute += float(np.abs(w_tp) @ (np.abs(score) @ np.abs(w_fn)))
        return _Sums(centre + first, max(second - first**2, 0.0), absolute)
