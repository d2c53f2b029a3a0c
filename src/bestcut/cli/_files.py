"""Tables of scores for the commands: whole columns, and one more to write."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bestcut.files import FileError
from bestcut.files.sources import (
    FORMATS,
    Input,
    atomic,
    copy_rows,
    format_of,
    is_same,
    marks_of,
    numbers,
    open_source,
    refuse_improbable,
    writing,
)

__all__ = ["FORMATS", "LARGE", "Table", "atomic", "format_of", "is_same"]

LARGE = 1 << 26  # bytes; the scores of a larger file are not held in memory


class Table:
    """A file of scores."""

    def __init__(self, path: str, kind: str) -> None:
        given = Input(path)
        self.source = open_source(given, kind)
        self.where, self.kind = given.where, kind
        self.is_large = given.size > LARGE

    def column(self, name: str, option: str) -> pl.Series:
        """Return a column, as text if the file is text."""
        return self.source.column(name, option)

    def groups(self, name: str) -> NDArray[Any]:
        """Return a column that tells groups apart."""
        series = self.column(name, "--group-by")
        missing = series.is_null()
        if series.dtype.is_float():
            missing |= series.is_nan().fill_null(value=True)
        if missing.any():
            row = int(missing.arg_max() or 0) + 1
            what = f"column {name!r}, row {row}: no group is named"
            raise FileError.of(self.where, what, "Fill it or delete the row.")
        return np.asarray(series.rank("dense").to_numpy())

    def probabilities(self, name: str) -> NDArray[np.float64]:
        """Return a column of probabilities."""
        values = numbers(self.column(name, "`proba`"), name, self.where)
        refuse_improbable(values, name, self.where)
        return values

    def labels(self, name: str, option: str) -> NDArray[np.bool_]:
        """Return a column of labels, 0 and 1 or true and false."""
        series = self.column(name, option)
        if series.dtype == pl.String:
            words = {"true": "1", "false": "0"}
            series = series.str.strip_chars().str.to_lowercase().replace(words)
        elif not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
            what = f"column {name!r} holds {series.dtype}"
            raise FileError.of(self.where, what, "Pass 0 and 1.")
        values = series.cast(pl.Float64, strict=False)
        bad = ~(values.eq(0.0) | values.eq(1.0)).fill_null(value=False)
        if bad.any():
            row = int(bad.arg_max() or 0)
            what = f"column {name!r}, row {row + 1}: {series[row]!r} is no label"
            raise FileError.of(self.where, what, "Pass 0 and 1, or true and false.")
        return np.asarray(values.to_numpy() == 1.0)

    def write(self, path: str, kind: str, name: str, marks: NDArray[np.bool_]) -> None:
        """Write everything and one more column; all of it or nothing."""
        with writing(path) as file:
            copy_rows(self.source, file, kind, name, marks_of(marks))
            self.source.check_unchanged()
