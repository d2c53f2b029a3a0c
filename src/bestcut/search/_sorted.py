"""Probabilities in descending order: the whole curve of cuts, and the best of them.

=====================================  ==========================================
metric                                 the whole curve (`bestcut.curve`) is taken
=====================================  ==========================================
linear or separable                    always
affine                                 always, if the number of positives varies;
                                       else up to 30,000 instances
factorised (Jaccard)                   up to 1,000 instances
any other                              up to 500 instances, fewer if the number of
                                       positives varies much
=====================================  ==========================================

For more instances the search looks at the parts of the ranking that can hold the best
cut. A callable that is only said to be smooth is not searched: nothing is proved about
it. It is believed only where all counts would take long.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from bestcut._public import users_level
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
from bestcut.search._allowed import Allowed
from bestcut.search._best import BestCut, best_cut, best_of_values
from bestcut.search._table import ListedTable

_MOST_WORK = 17_000.0  # instances times variance: a curve that takes as long as bounds


def whole_curve(eta: FloatArray, metric: Metric) -> tuple[FloatArray, FloatArray]:
    """Return the expected score of every cut, and bounds on the errors."""
    return _kept_promise(eta, metric, Allowed(0, eta.size))[1:]


def best_of_sorted(eta: FloatArray, metric: Metric, allowed: Allowed) -> BestCut:
    """Return the best of the allowed cuts, of which there is one at least."""
    metric = _believed(eta, metric)
    # Without a bound on the score nothing can be left out.
    bounded = np.isfinite(score_bound(metric, eta.size)) and not is_on_trust(metric)
    if bounded and eta.size > _whole_up_to(metric, eta):
        best = best_cut(ListedTable.sorted(eta), metric, allowed)
        assert best is not None
        return best
    metric, values, errors = _kept_promise(eta, metric, allowed)
    best = best_of_values(values, errors, metric, 0, allowed)
    assert best is not None
    # Of a callable that is only said to be smooth nothing is proved.
    upper = np.inf if is_on_trust(metric) else best.upper
    return replace(best, upper=upper, solver="curve")


def _kept_promise(
    eta: FloatArray, metric: Metric, allowed: Allowed
) -> tuple[Metric, FloatArray, FloatArray]:
    """Return the curve, and the metric without a promise that is not needed, or broken.

    That of smoothness is put to the test at some cuts, and at the best one.
    """
    metric = _believed(eta, metric)
    values, errors = curve_of(eta, metric).whole()
    if is_on_trust(metric):
        utility = np.where(allowed.mask(0, eta.size), metric.sign * values, -np.inf)
        n, best = eta.size, int(np.argmax(utility))
        for k in sorted({0, n // 10, n // 2, n, best}):
            if _is_broken(eta, metric, k, float(values[k]), float(errors[k])):
                return _kept_promise(eta, _doubted(metric), allowed)
    return metric, values, errors


def _believed(eta: FloatArray, metric: Metric) -> Metric:
    """Return the metric without a promise that would hardly save time."""
    if not is_on_trust(metric):
        return metric
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
        stacklevel=users_level(),
    )
    return replace(metric, smooth=False)  # type: ignore[type-var]


def _whole_up_to(metric: Metric, eta: FloatArray) -> float:
    """Return up to how many instances the whole curve is faster than the search."""
    if metric.traits & {Trait.LINEAR, Trait.SEPARABLE}:
        return np.inf
    variance = float(np.sum(eta * (1.0 - eta)))
    if Trait.AFFINE in metric.traits:
        # Below this variance every value of the total of positives is looked at.
        return 30_000 if variance < SMALLEST_VARIANCE else np.inf
    if Trait.FACTORISED in metric.traits:
        return 1_000
    # A cut takes as many evaluations as there are pairs of counts.
    return min(500.0, _MOST_WORK / max(variance, 1.0))
