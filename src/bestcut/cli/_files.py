"""Files of scores: read the columns that are needed, write one more."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bestcut.cli._csv import RawCsv, check_utf8, parse
from bestcut.cli._problem import Problem

SEPARATORS = {"csv": ",", "tsv": "\t"}
FORMATS = ("csv", "tsv", "parquet", "ndjson")
_CODE = r"^[+-]?0\d|^[+-]?\d{16}"  # what a float would not keep
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}


def format_of(path: str, otherwise: str | None = None) -> str:
    """Return the format that the name of a file says, or else another."""
    if path == "-":
        return otherwise or "csv"
    name = path.lower().removesuffix(".gz")
    kind = _SUFFIXES.get(Path(name).suffix, otherwise)
    if kind is None:
        raise Problem(
            path,
            "has a name that says no format",
            f"Pass --format, one of {', '.join(FORMATS)}.",
        )
    return kind


class Table:
    """A file of scores."""

    def __init__(self, path: str, kind: str) -> None:
        self.path, self.kind = path, kind
        self.where = "standard input" if path == "-" else path
        self.raw: RawCsv | None = None
        self.frame: pl.DataFrame | None = None
        self.data = data = _read(path, self.where)
        if kind in SEPARATORS:
            self.raw = parse(data, SEPARATORS[kind], self.where)
            self.columns = self.raw.header
        else:
            self.frame = _frame(data, kind, self.where)
            self.columns = self.frame.columns

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.raw.n_rows if self.raw is not None else len(self._whole())

    def _whole(self) -> pl.DataFrame:
        assert self.frame is not None
        return self.frame

    def column(self, name: str, option: str) -> pl.Series:
        """Return a column, as text if the file is text."""
        places = [i for i, column in enumerate(self.columns) if column == name]
        if not places:
            shown = ", ".join(self.columns[:12]) + (
                ", ..." if len(self.columns) > 12 else ""
            )
            raise Problem(
                self.where,
                f"has no column {name!r}",
                f"Name one with {option}; it has: {shown}.",
            )
        if len(places) > 1:
            raise Problem(
                self.where, f"has {len(places)} columns {name!r}", "Rename all but one."
            )
        if self.raw is None:
            return self._whole()[name]
        return self._text_column(self.raw, places[0], name)

    def _text_column(self, raw: RawCsv, place: int, name: str) -> pl.Series:
        try:
            frame = pl.read_csv(
                io.BytesIO(raw.data[: int(raw.ends[-1])]),
                columns=[place],
                separator=raw.separator,
                infer_schema=False,
            )
        except pl.exceptions.PolarsError as error:
            check_utf8(raw.data, self.where)
            reason = str(error).splitlines()[0]
            raise Problem(
                self.where, f"cannot be read ({reason})", "Look at it."
            ) from None
        if len(frame) != raw.n_rows:
            raise Problem(
                self.where,
                f"has {raw.n_rows} records, of which {len(frame)} were read",
                "Look for stray quotes or blank lines.",
            )
        return frame.to_series().alias(name)

    def groups(self, name: str) -> NDArray[Any]:
        """Return a column that tells groups apart."""
        series = self.column(name, "--group-by")
        missing = series.is_null()
        if series.dtype.is_float():
            missing |= series.is_nan().fill_null(value=True)
        if missing.any():
            row = int(missing.arg_max() or 0) + 1
            raise Problem(
                self.where,
                f"column {name!r}, row {row}: no group is named",
                "Fill it or delete the row.",
            )
        return np.asarray(series.rank("dense").to_numpy())

    def numbers(self, name: str, option: str) -> NDArray[np.float64]:
        """Return a column of numbers, refusing anything else by its row."""
        series = self.column(name, option)
        if series.dtype == pl.String:
            values = series.str.strip_chars().cast(pl.Float64, strict=False)
        elif series.dtype.is_numeric() or series.dtype == pl.Boolean:
            values = series.cast(pl.Float64)
        else:
            raise Problem(
                self.where, f"column {name!r} holds {series.dtype}", "Pass numbers."
            )
        missing = values.is_null() | values.is_nan()
        if missing.any():
            row = int(missing.arg_max() or 0)
            found = series[row]
            what = "nothing" if found in (None, "") else repr(found)
            cure = (
                "Divide percentages by 100."
                if isinstance(found, str) and found.strip().endswith("%")
                else "Fill it or delete the row."
            )
            raise Problem(
                self.where, f"column {name!r}, row {row + 1}: {what} is no number", cure
            )
        return values.to_numpy().astype(np.float64)

    def probabilities(self, name: str) -> NDArray[np.float64]:
        """Return a column of probabilities."""
        values = self.numbers(name, "--proba")
        bad = ~((values >= 0.0) & (values <= 1.0))
        if bad.any():
            row = int(np.argmax(bad))
            raise Problem(
                self.where,
                f"column {name!r}, row {row + 1}: {values[row]:g} is no probability "
                f"({int(bad.sum())} of {values.size} are not in [0, 1])",
                "Pass calibrated probabilities, not scores or percentages.",
            )
        return values

    def labels(self, name: str, option: str) -> NDArray[np.bool_]:
        """Return a column of labels, 0 and 1 or true and false."""
        series = self.column(name, option)
        if series.dtype == pl.String:
            words = {"true": "1", "false": "0"}
            series = series.str.strip_chars().str.to_lowercase().replace(words)
        elif not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
            raise Problem(
                self.where, f"column {name!r} holds {series.dtype}", "Pass 0 and 1."
            )
        values = series.cast(pl.Float64, strict=False)
        bad = ~(values.eq(0.0) | values.eq(1.0)).fill_null(value=False)
        if bad.any():
            row = int(bad.arg_max() or 0)
            raise Problem(
                self.where,
                f"column {name!r}, row {row + 1}: {series[row]!r} is no label",
                "Pass 0 and 1, or true and false.",
            )
        return np.asarray(values.to_numpy() == 1.0)

    def write(self, path: str, kind: str, name: str, marks: NDArray[np.bool_]) -> None:
        """Write everything and one more column; all of it or nothing."""
        if name in self.columns:
            raise Problem(
                self.where,
                f"has a column {name!r} already",
                "Choose another name with --name.",
            )
        if self.raw is not None and kind == self.kind:
            data = self.raw.with_column(name, marks)
        elif kind == self.kind == "ndjson":
            data = _with_key(self.data, name, marks, self.where)
        else:
            data = self._converted(kind, name, marks)
        if path.lower().endswith(".gz"):
            data = gzip.compress(data, compresslevel=6, mtime=0)
        if path == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            return
        with atomic(path) as file:
            file.write(data)

    def _converted(self, kind: str, name: str, marks: NDArray[np.bool_]) -> bytes:
        frame = self._text(kind) if self.raw is not None else self._whole()
        frame = frame.with_columns(pl.Series(name, marks.astype(np.int8)))
        out = io.BytesIO()
        try:
            if kind == "parquet":
                frame.write_parquet(out)
            elif kind == "ndjson":
                frame.write_ndjson(out)
            else:
                frame.write_csv(out, separator=SEPARATORS[kind])
        except pl.exceptions.PolarsError as error:
            reason = str(error).splitlines()[0]
            raise Problem(
                self.where,
                f"cannot be written as {kind} ({reason})",
                "Keep its format.",
            ) from None
        return out.getvalue()

    def _text(self, kind: str) -> pl.DataFrame:
        """Return a text file as a frame: numbers where nothing is lost by it."""
        twice = {name for name in self.columns if self.columns.count(name) > 1}
        if twice:
            raise Problem(
                self.where,
                f"has several columns {min(twice)!r}, which {kind} cannot hold",
                "Rename all but one.",
            )
        columns = [self.column(name, "--proba") for name in self.columns]
        return pl.DataFrame(
            columns if kind in SEPARATORS else [_typed(column) for column in columns]
        )


def _typed(text: pl.Series) -> pl.Series:
    """Return a column as numbers, unless that would change what it says."""
    if text.null_count() == len(text):
        return text
    for kind in (pl.Int64, pl.Float64):
        values = text.cast(kind, strict=False)
        if values.null_count() > text.null_count():
            continue
        same = (
            values.cast(pl.String) == text
            if kind == pl.Int64
            else ~text.str.contains(_CODE)
        )
        if same.all():
            return values
    return text


def _with_key(data: bytes, name: str, marks: NDArray[np.bool_], where: str) -> bytes:
    """Return NDJSON with one more key in each object, and nothing else changed."""
    lines = data.split(b"\n")
    rows = [i for i, line in enumerate(lines) if line.strip()]
    whole = all(lines[i].rstrip().endswith(b"}") for i in rows)
    if len(rows) != marks.size or not whole:
        raise Problem(where, "does not have one object per line", "Give each its own.")
    for i, mark in zip(rows, marks.tolist(), strict=True):
        body, brace, rest = lines[i].rpartition(b"}")
        comma = b"" if body.rstrip().endswith(b"{") else b","
        added = f"{json.dumps(name)}:{int(mark)}".encode()
        lines[i] = body + comma + added + brace + rest
    return b"\n".join(lines)


def _read(path: str, where: str) -> bytes:
    if path == "-" and sys.stdin is None:
        raise Problem(where, "is closed", "Pass a file.")
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Problem(where, f"cannot be read ({reason})", "Check it.") from None
    return data


def _frame(data: bytes, kind: str, where: str) -> pl.DataFrame:
    if not data:
        raise Problem(where, "is empty", "Pass a file with rows.")
    try:
        if kind == "parquet":
            return pl.read_parquet(io.BytesIO(data))
        return pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        reason = (str(error).splitlines() or ["unknown"])[0]
        raise Problem(
            where, f"is no readable {kind} ({reason})", "Look at it."
        ) from None


@contextmanager
def atomic(path: str) -> Iterator[Any]:
    """Write to a temporary file beside `path`, and rename it if all went well.

    A link is followed, and a pipe or a device is written to as it is.
    """
    target = Path(path).resolve()
    try:
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            with target.open("wb") as file:
                yield file
            return
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=".bestcut-", suffix=".part"
        )
    except OSError as error:
        raise _unwritten(path, error) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(name).chmod(_new_mode() if mode is None else stat.S_IMODE(mode))
        os.replace(name, target)
    except OSError as error:
        raise _unwritten(path, error) from None
    finally:
        Path(name).unlink(missing_ok=True)


def _unwritten(path: str, error: OSError) -> Problem:
    return Problem(
        path,
        f"could not be written ({error.strerror})",
        "Nothing was kept. Choose another place with -o.",
    )


def _new_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
