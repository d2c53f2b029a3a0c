"""What a gap is, what it holds for, and how it is shown."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._public import users_level
from bestcut._types import EPS, CountArray
from bestcut.counts import is_on_trust
from bestcut.metrics import (
    Metric,
    largest_score,
    tp_never_hurts,
    tp_never_hurts_for_any_n,
)

_SIZES = 16  # different numbers of instances that are worth a proof each


def gap_to(upper: float, utility: float, error: float) -> float:
    """Return what no allowed cut is better by than a cut, beyond its error."""
    return max(upper - (utility + error), 0.0)


def gap_scope(n: int | CountArray, *metrics: Metric) -> str:
    """Return what a gap holds for: all predictions, if that is proved, or cuts.

    `n` is the number of instances, or those of several problems.
    """
    sizes = np.unique(n).tolist()

    def proved(metric: Metric) -> bool:
        if tp_never_hurts_for_any_n(metric):
            return True
        few = len(sizes) <= _SIZES
        return few and all(tp_never_hurts(metric, size) for size in sizes)

    return "predictions" if all(map(proved, metrics)) else "cuts"


def exchange_allowance(scope: str, n: Any, k: Any, metric: Metric) -> Any:
    """Return what exchanging instances may gain where monotonicity was computed.

    A proof by enclosure or on the lattice lets a fall of 64 units in the last place
    pass as rounding, and as many exchanges as that lead from a prediction to a cut
    (Lemma 4). A proof by algebra is exact, and a gap over cuts needs none.
    """
    if scope == "cuts" or tp_never_hurts_for_any_n(metric):
        return 0.0 * k
    largest = largest_score(metric, int(np.max(n, initial=0)))
    return 64 * EPS * largest * np.minimum(k, n - k)


def gap_in_words(gap: float, scope: str) -> str:
    """Return a gap as results show it."""
    return f"gap {gap:.1e}{' over cuts' if scope == 'cuts' else ''}"


def tell_if_unproved(gap: float, metric: Metric) -> None:
    """Say that a decision rests on a promise; nothing else may leave it unproved."""
    if np.isfinite(gap):
        return
    if not is_on_trust(metric):
        raise errors.nothing_proved(metric.name, gap)
    warnings.warn(
        "nothing is proved about this decision: it rests on the promise smooth=True of "
        f"metric {metric.name!r}, and `gap` is infinite. Write the metric with "
        "functions that can be followed (docs/how-to/add-a-metric.md), or leave out "
        "smooth=True, which takes longer.",
        stacklevel=users_level(),
    )
