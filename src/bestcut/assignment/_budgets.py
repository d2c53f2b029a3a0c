"""What users say about rows and columns: budgets, weights, and what counts besides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._types import FloatArray
from bestcut._validation import check_real_array, check_weights, check_whole_number

_ALSO = "precision@k"


def check_per_row(per_row: Any, columns: int) -> tuple[int, int]:
    """Return how many columns a row takes, at least and at most."""
    pair = per_row if isinstance(per_row, tuple | list) else (per_row, per_row)
    if len(pair) != 2:
        raise errors.bad_value(
            "per_row", "must be a whole number k, or a pair (low, high)", value=per_row
        )
    low, high = (
        check_whole_number(x, name="per_row", cure="Pass k, or (low, high).")
        for x in pair
    )
    if low > high:
        raise errors.bad_value(
            "per_row",
            "must be a whole number k, or a pair (low, high) with low <= high",
            value=(low, high),
        )
    if high > columns:
        raise errors.bad_value(
            "per_row",
            "must be at most the number of columns",
            got=f"{high} with {columns} columns",
        )
    return low, high


def check_class_weights(weights: Any, columns: int) -> FloatArray:
    """Return the share of each column in the average."""
    if weights is None:
        return np.full(columns, 1.0 / columns)
    values = check_weights(weights, columns, name="weights")
    total = float(values.sum())
    if total <= 0.0:
        raise errors.bad_value("weights", "must have a positive sum; all weights are 0")
    return np.asarray(values / total)


def extra_worth(also: Mapping[str, float] | None, given: int) -> float:
    """Return what each expected hit is worth besides the average.

    `given` is how many labels all rows are given together.
    """
    if also is None:
        return 0.0
    if not isinstance(also, Mapping) or np.ndim(also.get(_ALSO, 0.0)):
        raise errors.bad_kind("also", f"must be {{{_ALSO!r}: weight}}", value=also)
    unknown = [name for name in also if name != _ALSO]
    if unknown:
        raise errors.bad_value(
            "also", f"must be {{{_ALSO!r}: weight}}", value=unknown[0]
        )
    weight = float(check_real_array(also.get(_ALSO, 0.0), name="also"))
    if not np.isfinite(weight) or weight < 0.0:
        raise errors.bad_value(
            "also",
            "must hold weights that are finite and not negative",
            got=f"{_ALSO!r}: {weight:g}",
        )
    return weight / max(given, 1)
