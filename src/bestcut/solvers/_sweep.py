"""The production solver: exact laws or their cumulants, in O(n) after the sort."""

from __future__ import annotations

import numpy as np

from bestcut._validation import FloatArray
from bestcut.counts._moments import (
    LEAST_VARIANCE,
    features,
    hermite_law,
    node_count,
)
from bestcut.counts._window import NEGLIGIBLE, law_of
from bestcut.curve import best_cut, curve_of
from bestcut.curve._general import Rule, expectation, rule_of_law
from bestcut.metrics import Metric
from bestcut.solvers._base import EPS, Curve, Solution, Solver

_BLOCK = 8192


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
            value, bound = certified(eta, metric, k)
            error = max(error, bound + abs(value - values[k]))
        return Curve(values, float(2.0 * error + _running_error(eta, metric)))

    def solve(self, eta: FloatArray, metric: Metric, low: int, high: int) -> Solution:
        """Return the best cut with `low` to `high` positives."""
        if eta.size == 0:
            return Solution(0, float(_nothing(metric)[0]), 0.0)
        sign = 1.0 if metric.greater_is_better else -1.0
        k, found = best_cut(curve_of(eta, metric), eta, sign, low, high)
        value, bound = certified(eta, metric, k)
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


def certified(eta: FloatArray, metric: Metric, k: int) -> tuple[float, float]:
    """Return the expected score of one cut by a second way, and a bound on its error.

    Both sides are taken by themselves, each from its exact law or with two nodes more
    than are needed. The bound covers

    - the windows: each side's law was trimmed about log2(n) times;
    - the nodes: the difference from the same sum with fewer of them;
    - rounding: of the nodes and weights, 64 eps of the mean absolute score; and of the
      mean number of negatives, a difference that loses n / (n - mean) of its digits.
    """
    n = eta.size
    cut = np.array([float(k)])
    sides = [_rules(part, metric.smooth) for part in (eta[:k], eta[k:])]
    coarse, fine = (
        float(expectation(metric, cut, n, above, below)[0])
        for above, below in zip(*sides, strict=True)
    )
    size = _mean_size(metric, cut, n, sides[0][1], sides[1][1])
    negatives = max(n - float(eta.sum()), 1.0)
    lost = 1.0 if _is_short(eta, metric.smooth) else n / negatives
    dropped = 64 * NEGLIGIBLE
    return fine, abs(fine - coarse) + (EPS * (64.0 + 8.0 * lost) + dropped) * size


def _is_short(eta: FloatArray, smooth: bool) -> bool:
    return not smooth or float(eta.sum() - eta @ eta) < LEAST_VARIANCE


def _rules(eta: FloatArray, smooth: bool) -> tuple[Rule, Rule]:
    """Return a good and a better rule for one side; the same one if it is exact."""
    if _is_short(eta, smooth):
        exact = rule_of_law(law_of(eta))
        return exact, exact
    nodes = node_count(float(eta.sum() - eta @ eta))
    blocks = [eta[i : i + _BLOCK] for i in range(0, eta.size, _BLOCK)]
    totals = np.stack([features(block, nodes + 2).sum(axis=1) for block in blocks])
    sums = totals.astype(np.longdouble).sum(axis=0).astype(np.float64)[:, None]
    coarse, fine = (Rule(*hermite_law(sums, m)) for m in (nodes, nodes + 2))
    return coarse, fine


def _mean_size(
    metric: Metric, cut: FloatArray, n: int, above: Rule, below: Rule
) -> float:
    """Return the sum of the absolute terms of an expectation."""
    tp, fn = above.nodes[:, :1], below.nodes[:, 0]
    score = np.abs(metric.score_cells(tp, cut - tp, fn, n - cut - fn))
    score = np.broadcast_to(score, (tp.size, fn.size))
    return float(np.abs(above.weights[:, 0]) @ score @ np.abs(below.weights[:, 0]))
