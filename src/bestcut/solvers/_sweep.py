"""The production solver: exact laws or their cumulants, in O(n) after the sort."""

from __future__ import annotations

import numpy as np

from bestcut._validation import FloatArray
from bestcut.curve import best_cut, curve_of
from bestcut.metrics import Metric
from bestcut.scores import Prediction
from bestcut.solvers._base import EPS, Curve, Solution, Solver


class SweepSolver(Solver):
    """Any metric; see `bestcut.curve` for how."""

    name = "sweep"

    def curve(self, eta: FloatArray, metric: Metric) -> Curve:
        """Return the expected score of every cut."""
        n = eta.size
        if n == 0:
            return Curve(_nothing(metric), 0.0)
        values = curve_of(eta, metric).whole()
        sign = 1.0 if metric.greater_is_better else -1.0
        best = int(np.argmax(sign * values))
        error = 0.0
        for k in {0, 1, n // 100, n // 10, n // 2, best, n - 1, n}:
            value, bound = _certified(eta, metric, k)
            error = max(error, bound + abs(value - values[k]))
        return Curve(values, float(2.0 * error + _running_error(eta, metric)))

    def solve(self, eta: FloatArray, metric: Metric, low: int, high: int) -> Solution:
        """Return the best cut with `low` to `high` positives."""
        if eta.size == 0:
            return Solution(0, float(_nothing(metric)[0]), 0.0)
        sign = 1.0 if metric.greater_is_better else -1.0
        k, found = best_cut(curve_of(eta, metric), eta, sign, low, high)
        value, bound = _certified(eta, metric, k)
        error = bound + abs(value - found) + _running_error(eta, metric)
        return Solution(k, value, error)


def _nothing(metric: Metric) -> FloatArray:
    zero = np.zeros(1)
    return np.asarray(metric.score(zero, zero, zero, zero), dtype=np.float64)


def _running_error(eta: FloatArray, metric: Metric) -> float:
    """Bound what a curve's running sums and chosen nodes add to a certified value.

    Sums inside a block of up to 4096 instances round like a random walk of as many
    steps, 32 eps, and the nodes leave less than 1e-15: together 64 eps of the largest
    score that four predictions can have if the positives are as many as expected:
    everything, nothing, the right ones, and as many wrong ones as there are.
    """
    n = float(eta.size)
    positives = float(np.clip(np.rint(eta.sum()), 1.0, max(n - 1.0, 1.0)))
    tp = np.array([positives, 0.0, positives, max(0.0, 2.0 * positives - n)])
    n_pred = np.array([n, 0.0, positives, positives])
    score = metric.score(tp, n_pred, positives, n)
    return 64 * EPS * float(np.max(np.abs(score)))


def _certified(eta: FloatArray, metric: Metric, k: int) -> tuple[float, float]:
    """Return the expected score of one cut by a second way, and its error's bound."""
    moments = Prediction.of_cut(eta, k).moments(metric)
    return moments.mean, moments.error
