"""Read probabilities, scores, labels or groups from a column, or refuse it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bestcut._errors import quoted
from bestcut._types import BoolArray, FloatArray
from bestcut.files._errors import in_row, other_type, refusal

_FILL = "Fill it or delete the row."
_ROUNDED = 0.01 + 1e-9  # the distance of 0.33 + 0.33 + 0.33 from 1
_SAME = 1e-7  # sums this close to 1 differ from it only by rounding in float32


def probabilities(series: pl.Series, where: str, before: int = 0) -> FloatArray:
    """Return probabilities; `before` says how many rows come before the first."""
    if series.dtype == pl.Float64 and not series.null_count():
        values: FloatArray = series.to_numpy()
        # The usual case in two looks; a NaN fails both.
        if not values.size or (values.min() >= 0.0 and values.max() <= 1.0):
            return values
    if series.dtype == pl.Boolean:
        raise other_type(where, series.name, series.dtype, "probabilities, not labels")
    values = _numbers(series, where, before)
    bad = ~((values >= 0.0) & (values <= 1.0))
    if bad.any():
        row = int(np.argmax(bad))
        shown = repr(float(values[row])).removesuffix(".0")  # with all its digits
        what = f"{shown} is not a probability "
        what += f"({bad.sum()} of {values.size} read are not in [0, 1])"
        cure = "Pass calibrated probabilities, not scores or percentages."
        raise refusal(where, in_row(series.name, before + row + 1, what), cure)
    return values


def scores(series: pl.Series, where: str, before: int = 0) -> FloatArray:
    """Return scores, any finite numbers; `before` as for `probabilities`."""
    values = _numbers(series, where, before)
    bad = np.isinf(values)
    if bad.any():
        row = int(np.argmax(bad))
        what = f"{values[row]:g} is not a finite number"
        raise refusal(where, in_row(series.name, before + row + 1, what), _FILL)
    return values


def _numbers(series: pl.Series, where: str, before: int) -> FloatArray:
    if series.dtype == pl.String:
        values = series.str.strip_chars().cast(pl.Float64, strict=False)
    elif series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null):
        values = series.cast(pl.Float64)
    else:
        raise other_type(where, series.name, series.dtype, "numbers")
    missing = values.is_null() | values.is_nan()
    if missing.any():
        row = int(missing.arg_max() or 0)
        found, cure = series[row], _FILL
        empty = found in (None, "")
        what = "the value is missing" if empty else f"{quoted(found)} is not a number"
        if isinstance(found, str) and found.strip().endswith("%"):
            cure = "Divide percentages by 100."
        elif isinstance(found, str) and re.fullmatch(r"\s*[+-]?\d*,\d+\s*", found):
            cure = "Write decimals with a point."
        raise refusal(where, in_row(series.name, before + row + 1, what), cure)
    return np.asarray(values.to_numpy(), dtype=np.float64)


def labels(series: pl.Series, where: str) -> BoolArray:
    """Return labels, which are 0 and 1 or true and false."""
    if series.dtype == pl.String:
        words = {"true": "1", "false": "0"}
        series = series.str.strip_chars().str.to_lowercase().replace(words)
    elif not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise other_type(where, series.name, series.dtype, "0 and 1")
    values = series.cast(pl.Float64, strict=False)
    bad = ~(values.eq(0.0) | values.eq(1.0)).fill_null(value=False)
    if bad.any():
        row = int(bad.arg_max() or 0)
        found = series[row]
        empty = found in (None, "")
        what = "the label is missing" if empty else f"{quoted(found)} is not a label"
        cure = "Pass 0 and 1, or true and false."
        raise refusal(where, in_row(series.name, row + 1, what), cure)
    return np.asarray(values.to_numpy() == 1.0)


def groups(series: pl.Series, where: str) -> NDArray[Any]:
    """Return a number for each row; equal values get equal numbers."""
    missing = series.is_null()
    if series.dtype.is_float():
        missing |= series.is_nan().fill_null(value=True)
    if missing.any():
        row = int(missing.arg_max() or 0) + 1
        what = in_row(series.name, row, "the group is missing")
        raise refusal(where, what, _FILL)
    return np.asarray(series.rank("dense").to_numpy())


def shares(table: FloatArray, where: str) -> tuple[FloatArray, int]:
    """Return probabilities of classes whose rows sum to 1, and how many did not.

    A row is divided by its sum if rounding explains why the sum is not 1.
    """
    sums = table.sum(axis=1)
    off = np.abs(sums - 1.0)
    bad = off > _ROUNDED
    if bad.any():
        row = int(np.argmax(bad))
        what = f"row {row + 1}: the probabilities of the classes sum to "
        what += f"{sums[row]:.12g}, not to 1 "
        what += f"({bad.sum()} of {sums.size} rows do not sum to 1)"
        cure = "Name the columns of all classes, which must hold calibrated "
        raise refusal(where, what, f"{cure}probabilities.")
    rounded = off > _SAME
    return np.where(rounded[:, None], table / sums[:, None], table), int(rounded.sum())
