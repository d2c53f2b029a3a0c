"""The production solver: whole curves, or the proved search, after a sort."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from bestcut._types import FloatArray
from bestcut.counts import (
    SMALLEST_VARIANCE,
    ListedSide,
    are_short,
    believed,
    is_on_trust,
    value_of_cut,
)
from bestcut.curve import curve_of
from bestcut.metrics import Metric, Trait, largest_score, score_bound
from bestcut.search import Allowed, best_cut, gap_to, whole_curve_best
from bestcut.solvers._base import Curve, Solution, Solver


class SweepSolver(Solver):
    """Any metric, after a sort: the whole curve, or the search where that is faster.

    =====================================  ==========================================
    metric                                 the whole curve (`bestcut.curve`) is taken
    =====================================  ==========================================
    linear or separable                    always
    affine                                 always, if the number of positives varies;
                                           else up to 30,000 instances
    factorised (Jaccard)                   up to 1,000 instances
    any other                              up to 500 instances
    =====================================  ==========================================

    For more instances `bestcut.search` looks at the parts of the ranking that can hold
    the best cut. A callable that is only said to be smooth is not searched: nothing is
    proved about it. It is believed only where all counts would take long.
    """

    def curve(self, eta: FloatArray, metric: Metric) -> Curve:
        """Return the expected score of every cut."""
        if eta.size == 0:
            return Curve(_nothing(metric), 0.0)
        metric = _believed(metric, eta)
        values, errors = curve_of(eta, metric).whole()
        if is_on_trust(metric):
            sign = metric.sign
            looked = {0, eta.size, eta.size // 10, eta.size // 2}
            for k in sorted({*looked, int(np.argmax(sign * values))}):
                if _is_broken(eta, metric, k, float(values[k]), float(errors[k])):
                    return self.curve(eta, _doubted(metric))
        return Curve(values, float(errors.max()))

    def solve(self, eta: FloatArray, metric: Metric, allowed: Allowed) -> Solution:
        """Return the best of the allowed cuts."""
        if eta.size == 0:
            return Solution.at(eta, 0, float(_nothing(metric)[0]), 0.0, 0.0)
        metric = _believed(metric, eta)
        trusted = is_on_trust(metric)
        # Without a bound on the score nothing can be left out.
        bounded = np.isfinite(score_bound(metric, eta.size))
        whole = trusted or not bounded or eta.size <= _whole_up_to(metric, eta)
        best = (whole_curve_best if whole else best_cut)(eta, metric, allowed)
        value = metric.sign * best.utility
        if trusted and _is_broken(eta, metric, best.k, value, best.error):
            return self.solve(eta, _doubted(metric), allowed)
        # Of a callable that is only said to be smooth nothing is proved.
        gap = np.inf if trusted else gap_to(best.upper, best.utility, best.error)
        solution = Solution.at(eta, best.k, value, best.error, gap)
        return solution if whole else replace(solution, solver="search")


def _believed(metric: Metric, eta: FloatArray) -> Metric:
    """Return the metric without a promise that would hardly save time."""
    return believed(metric, eta.size, float(np.sum(eta * (1.0 - eta))))


def _is_broken(
    eta: FloatArray, metric: Metric, k: int, value: float, error: float
) -> bool:
    """Return whether a value that rests on a promise is found to be another."""
    sides = ListedSide(eta[:k]), ListedSide(eta[k:])
    if not are_short(*sides):
        return False
    doubted = replace(metric, smooth=False)  # type: ignore[type-var]
    truth, bound = value_of_cut(doubted, largest_score(metric, eta.size), *sides)
    return abs(truth - value) > error + bound


def _doubted(metric: Metric) -> Metric:
    """Return the metric without its promise, and say so."""
    warnings.warn(
        f"metric {metric.name!r} is not as smooth as promised; every count is looked "
        "at instead, which takes longer. Leave out smooth=True.",
        stacklevel=5,
    )
    return replace(metric, smooth=False)  # type: ignore[type-var]


def _whole_up_to(metric: Metric, eta: FloatArray) -> float:
    """Return up to how many instances the whole curve is faster than the search."""
    if metric.traits & {Trait.LINEAR, Trait.SEPARABLE}:
        return np.inf
    if Trait.AFFINE in metric.traits:
        # Below this variance every value of the total of positives is looked at.
        few = float(np.sum(eta * (1.0 - eta))) < SMALLEST_VARIANCE
        return 30_000 if few else np.inf
    return 1_000 if Trait.FACTORISED in metric.traits else 500


def _nothing(metric: Metric) -> FloatArray:
    zero = np.zeros(1)
    return np.asarray(metric.score(zero, zero, zero, zero), dtype=np.float64)
