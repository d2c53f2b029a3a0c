"""Files of scores, batch by batch."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bestcut._types import BoolArray, FloatArray
from bestcut.files._csv import CsvText, Records, check_utf8, pieces
from bestcut.files._error import FileError
from bestcut.files._input import Input

SEPARATORS = {"csv": ",", "tsv": "\t"}
FORMATS = ("csv", "tsv", "parquet", "ipc", "ndjson")
PIECE = 1 << 23  # bytes of text that are looked at together
SCORES = 1 << 19  # scores that are looked at together
ROWS = 1 << 16  # whole rows that are copied together, unless they are heavy
_WEIGHT = 1 << 25  # bytes that they may have in the file
_KEPT = 1 << 26  # bytes of text that are kept between two passes
_CODE = r"^[+-]?0\d|^[+-]?\d{16}"  # what a float would not keep
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}


def format_of(path: str, otherwise: str | None = None) -> str:
    """Return the format that the name of a file says, or else another."""
    if otherwise is not None and otherwise not in FORMATS:
        msg = f"`format` must be one of {', '.join(FORMATS)}; got {otherwise!r}."
        raise ValueError(msg)
    if path == "-":
        return otherwise or "csv"
    name = path.lower().removesuffix(".gz")
    kind = _SUFFIXES.get(Path(name).suffix, otherwise)
    if kind is None:
        what = "has a name that says no format"
        cure = f"Pass `format`, one of {', '.join(FORMATS)}."
        raise FileError.of(path, what, cure)
    return kind


class Batch(ABC):
    """Some rows, one after another.

    Attributes
    ----------
    before : int
        How many rows come before.
    rows : int
        How many there are.
    size : int
        How much of `Source.total` they are.
    """

    def __init__(self, before: int, rows: int, size: int) -> None:
        self.before, self.rows, self.size = before, rows, size

    @abstractmethod
    def column(self, name: str) -> pl.Series:
        """Return a column, as text if the file is text."""


class Source(ABC):
    """Rows that can be read several times, batch by batch.

    Attributes
    ----------
    where : str
        What it is called in messages.
    kind : str
        Its format.
    columns : list of str
        The names of its columns.
    total : int or None
        How much there is to read, in the unit of `Batch.size`; None if that is unknown.
    """

    where: str
    kind: str
    columns: list[str]
    total: int | None
    input: Input | None = None

    @abstractmethod
    def batches(self, names: list[str] | None = None) -> Iterator[Batch]:
        """Yield all rows; if names are given, only these columns are needed."""

    @abstractmethod
    def frames(self, kind: str) -> FrameSource:
        """Return the rows as frames, to be written in a format that is not theirs."""

    def check_unchanged(self) -> None:
        """Refuse a file that somebody else wrote to in the meantime."""
        if self.input is not None:
            self.input.check_unchanged()

    def check_column(self, name: str, option: str) -> None:
        """Refuse the name of a column that is missing or ambiguous."""
        count = self.columns.count(name)
        if not count:
            more = ", ..." if len(self.columns) > 12 else ""
            shown = ", ".join(self.columns[:12]) + more
            cure = f"Name one with {option}; it has: {shown}."
            raise FileError.of(self.where, f"has no column {name!r}", cure)
        if count > 1:
            what = f"has {count} columns {name!r}"
            raise FileError.of(self.where, what, "Rename all but one.")

    def check_new(self, name: str) -> None:
        """Refuse a name that is taken."""
        if name in self.columns:
            raise taken(self.where, name)

    def column(self, name: str, option: str) -> pl.Series:
        """Return a whole column."""
        self.check_column(name, option)
        parts = [batch.column(name) for batch in self.batches([name])]
        if not parts:
            return pl.Series(name, [], dtype=pl.Float64)
        kinds = {part.dtype for part in parts}
        if pl.String in kinds:  # NDJSON may mix "0.5" and 0.5
            parts = [part.cast(pl.String) for part in parts]
        frames = [part.alias(name).to_frame() for part in parts]
        return pl.concat(frames, how="vertical_relaxed").to_series()

    def probabilities(self, batch: Batch, name: str) -> FloatArray:
        """Return the probabilities of a batch, refusing anything else by its row."""
        series = batch.column(name)
        if series.dtype == pl.Float64 and not series.null_count():
            values: FloatArray = series.to_numpy()
            # The usual case in two looks; a NaN fails both.
            if not values.size or (values.min() >= 0.0 and values.max() <= 1.0):
                return values
        values = numbers(series, name, self.where, batch.before)
        refuse_improbable(values, name, self.where, batch.before)
        return values


def taken(where: str, name: str) -> FileError:
    """Return the error for a name that is there already."""
    what = f"has a column {name!r} already"
    return FileError.of(where, what, "Choose another name with `name`.")


# --- values ---------------------------------------------------------------------------


def numbers(series: pl.Series, name: str, where: str, before: int = 0) -> FloatArray:
    """Return a column as numbers, refusing anything else by its row."""
    if series.dtype == pl.String:
        values = series.str.strip_chars().cast(pl.Float64, strict=False)
    elif series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null):
        values = series.cast(pl.Float64)
    else:
        raise FileError.of(
            where, f"column {name!r} holds {series.dtype}", "Pass numbers."
        )
    missing = values.is_null() | values.is_nan()
    if missing.any():
        row = int(missing.arg_max() or 0)
        found = series[row]
        what = "nothing" if found in (None, "") else repr(found)
        cure = "Fill it or delete the row."
        if isinstance(found, str) and found.strip().endswith("%"):
            cure = "Divide percentages by 100."
        at = f"column {name!r}, row {before + row + 1}"
        raise FileError.of(where, f"{at}: {what} is no number", cure)
    return np.asarray(values.to_numpy(), dtype=np.float64)


def refuse_improbable(
    values: FloatArray, name: str, where: str, before: int = 0
) -> None:
    """Refuse numbers that are no probabilities, by the first row."""
    bad = ~((values >= 0.0) & (values <= 1.0))
    if bad.any():
        row = int(np.argmax(bad))
        what = (
            f"column {name!r}, row {before + row + 1}: {values[row]:g} is no "
            f"probability ({int(bad.sum())} of {values.size} read are not in [0, 1])"
        )
        cure = "Pass calibrated probabilities, not scores or percentages."
        raise FileError.of(where, what, cure)


# --- frames ---------------------------------------------------------------------------


class FrameBatch(Batch):
    """Rows as a frame."""

    def __init__(self, frame: pl.DataFrame, before: int) -> None:
        super().__init__(before, len(frame), len(frame))
        self.frame = frame

    def column(self, name: str) -> pl.Series:
        """Return a column."""
        return self.frame[name]


class FrameSource(Source):
    """Frames, one after another.

    Parameters
    ----------
    read : callable
        Returns an iterator of frames, of all columns or of those that are named.
    schema : polars.Schema
        The columns and their types.
    where, kind : str
        What it is called, and its format.
    """

    def __init__(
        self,
        read: Callable[[list[str] | None], Iterable[pl.DataFrame]],
        schema: pl.Schema,
        where: str,
        kind: str,
    ) -> None:
        self._read, self.schema, self.where, self.kind = read, schema, where, kind
        self.columns, self.total = schema.names(), None

    @classmethod
    def of_scan(
        cls, scan: pl.LazyFrame, where: str, kind: str, weight: int = 1
    ) -> FrameSource:
        """Return what polars scans, if a row is thought to have so many bytes."""
        together = max(min(ROWS, _WEIGHT // max(weight, 1)), 1)

        def read(names: list[str] | None) -> Iterable[pl.DataFrame]:
            if names is None:
                return scan.collect_batches(chunk_size=together)
            return scan.select(names).collect_batches(chunk_size=SCORES)

        with understood(where, kind):
            return cls(read, scan.collect_schema(), where, kind)

    @classmethod
    def of_file(cls, given: Input, kind: str) -> FrameSource:
        """Open a file of frames."""
        if not given.size:
            raise FileError.of(given.where, "is empty", "Pass a file with rows.")
        scan = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
        options: dict[str, Any] = {"glob": False, "hive_partitioning": False}
        with understood(given.where, kind):
            frame = scan(given.for_polars, **options)
            rows = int(frame.select(pl.len()).collect().item())
        weight = given.size // max(rows, 1)
        source = cls.of_scan(frame, given.where, kind, weight)
        source.total, source.input = rows, given
        return source

    def batches(self, names: list[str] | None = None) -> Iterator[FrameBatch]:
        """Yield frames."""
        before = 0
        try:
            with understood(self.where, self.kind):
                for frame in self._read(names):
                    yield FrameBatch(frame, before)
                    before += len(frame)
        except FileError:
            self.check_unchanged()  # which would explain it
            raise

    def frames(self, kind: str) -> FrameSource:
        """Return the source itself."""
        return self


@contextmanager
def understood(where: str, kind: str) -> Iterator[None]:
    """Say in one line what polars did not understand."""
    try:
        yield
    except FileError:
        raise
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        reason = (str(error).splitlines() or ["unknown"])[0]
        what = f"is no readable {kind} ({reason})"
        raise FileError.of(where, what, "Look at it.") from None


# --- text -----------------------------------------------------------------------------


class TextSource(Source):
    """Text to which a column can be added without touching the rest."""

    def __init__(self, given: Input, kind: str, size: int) -> None:
        self.input: Input = given
        self.where, self.kind = given.where, kind
        self.total, self._size = given.size, size
        self._kept: list[Any] | None = None

    def batches(self, names: list[str] | None = None) -> Iterator[Any]:
        """Yield pieces of text; those of a small file are kept for the next time."""
        if self._kept is not None:
            yield from self._kept
            return
        kept = []
        for batch in self._read():
            if self.input.size <= _KEPT:
                kept.append(batch)
            yield batch
        if self.input.size <= _KEPT:
            self._kept = kept

    @abstractmethod
    def _read(self) -> Iterator[Batch]:
        """Yield pieces of text."""

    @abstractmethod
    def head_with(self, name: str) -> bytes:
        """Return what comes before the rows, with one more name."""


class CsvBatch(Batch):
    """Records of a CSV."""

    def __init__(self, records: Records, source: CsvSource) -> None:
        before, rows = records.place.rows, records.ends.size
        super().__init__(before, rows, len(records.data))
        self._records, self._source = records, source

    def column(self, name: str) -> pl.Series:
        """Return a column as text."""
        place = self._source.columns.index(name)
        return self._parsed([place]).to_series().alias(name)

    def frame(self) -> pl.DataFrame:
        """Return all columns as text."""
        names = self._source.columns
        frame = self._parsed(list(range(len(names))))
        return frame.rename(dict(zip(frame.columns, names, strict=True)))

    def _parsed(self, places: list[int]) -> pl.DataFrame:
        records, source = self._records, self._source
        if not self.rows:
            return pl.DataFrame(schema={str(i): pl.String for i in places})
        separator = SEPARATORS[source.kind]
        # Without a header polars would take a BOM off the first cell.
        head = separator.join(map(str, range(len(source.columns)))).encode()
        body = memoryview(records.data)[: int(records.ends[-1])]
        try:
            frame = pl.read_csv(
                io.BytesIO(b"\n".join([head, body])),
                columns=places,
                separator=separator,
                infer_schema=False,
            )
        except pl.exceptions.PolarsError as error:
            check_utf8(records.data, records.place)
            what = f"cannot be read ({str(error).splitlines()[0]})"
            raise FileError.of(source.where, what, "Look at it.") from None
        if len(frame) != self.rows:
            what = (
                f"has {self.rows} records after row {self.before}, of which "
                f"{len(frame)} were read"
            )
            cure = "Look for stray quotes or blank lines."
            raise FileError.of(source.where, what, cure)
        return frame

    def with_marks(self, name: str, marks: BoolArray) -> bytes:
        """Return the text with one more cell in each record."""
        return self._records.with_column(SEPARATORS[self._source.kind], marks)


class CsvSource(TextSource):
    """CSV or TSV."""

    def __init__(self, given: Input, kind: str, size: int) -> None:
        super().__init__(given, kind, size)
        self._text = CsvText(given.opened, SEPARATORS[kind], given.where, size)
        self.columns = self._text.header

    def _read(self) -> Iterator[CsvBatch]:
        for records in self._text:
            yield CsvBatch(records, self)

    def head_with(self, name: str) -> bytes:
        """Return the header with one more name."""
        return self._text.head_with(name)

    def frames(self, kind: str) -> FrameSource:
        """Return the columns: text, or numbers where nothing is lost by it."""
        twice = {name for name in self.columns if self.columns.count(name) > 1}
        if twice:
            what = f"has several columns {min(twice)!r}, which {kind} cannot hold"
            raise FileError.of(self.where, what, "Rename all but one.")
        schema = self._schema(typed=kind not in SEPARATORS)

        def read(names: list[str] | None) -> Iterator[pl.DataFrame]:
            for batch in self.batches():
                yield batch.frame().cast(dict(schema))

        return FrameSource(read, schema, self.where, self.kind)

    def _schema(self, *, typed: bool) -> pl.Schema:
        """Return for each column the type that changes nothing of what it says."""
        kinds: dict[str, list[type[pl.DataType]]] = {
            name: [pl.Int64, pl.Float64] if typed else [] for name in self.columns
        }
        empty = set(self.columns)
        for batch in self.batches() if typed else ():
            for column in batch.frame():
                if column.null_count() < len(column):
                    empty.discard(column.name)
                kept = [x for x in kinds[column.name] if _keeps(column, x)]
                kinds[column.name] = kept
        types = {
            name: pl.String if name in empty or not kinds[name] else kinds[name][0]
            for name in self.columns
        }
        return pl.Schema(types)


def _keeps(text: pl.Series, kind: type[pl.DataType]) -> bool:
    """Return whether a column says the same as numbers."""
    values = text.cast(kind, strict=False)
    if values.null_count() > text.null_count():
        return False
    if kind == pl.Int64:
        return bool((values.cast(pl.String) == text).all())
    return not text.str.contains(_CODE).any()


class NdjsonBatch(Batch):
    """Lines of NDJSON."""

    def __init__(self, data: bytes, before: int, where: str) -> None:
        self._lines = data.split(b"\n")
        self._objects = [i for i, line in enumerate(self._lines) if line.strip()]
        super().__init__(before, len(self._objects), len(data))
        self._data, self._where = data, where

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The objects as rows."""
        if not self.rows:
            return pl.DataFrame()
        with understood(self._where, "ndjson"):
            file = io.BytesIO(self._data)
            frame = pl.read_ndjson(file, infer_schema_length=None)
        whole = (self._lines[i].rstrip().endswith(b"}") for i in self._objects)
        if len(frame) != self.rows or not all(whole):
            what = "does not have one object per line"
            raise FileError.of(self._where, what, "Give each its own.")
        return frame

    def column(self, name: str) -> pl.Series:
        """Return a column; what an object does not hold is null."""
        if name in self.frame.columns:
            return self.frame[name]
        return pl.Series(name, [None] * self.rows, dtype=pl.Null)

    def with_marks(self, name: str, marks: BoolArray) -> bytes:
        """Return the lines with one more key in each object."""
        if name in self.frame.columns:
            raise taken(self._where, name)
        lines, key = self._lines.copy(), json.dumps(name).encode()
        for i, mark in zip(self._objects, marks.tolist(), strict=True):
            body, brace, rest = lines[i].rpartition(b"}")
            comma = b"" if body.rstrip().endswith(b"{") else b","
            lines[i] = body + comma + key + (b":1" if mark else b":0") + brace + rest
        return b"\n".join(lines)


class NdjsonSource(TextSource):
    """One JSON object per line."""

    def __init__(self, given: Input, size: int) -> None:
        super().__init__(given, "ndjson", size)
        first: NdjsonBatch | None = next(self._read(), None)
        if first is None:
            raise FileError.of(given.where, "is empty", "Pass a file with rows.")
        self.columns = first.frame.columns

    def _read(self) -> Iterator[NdjsonBatch]:
        before = 0
        with self.input.opened() as file:
            for data in pieces(file, self._size, self.where, quoted=False):
                batch = NdjsonBatch(data, before, self.where)
                before += batch.rows
                yield batch

    def head_with(self, name: str) -> bytes:
        """Return nothing: each object has its own names."""
        return b""

    def frames(self, kind: str) -> FrameSource:
        """Return the objects as rows, with the types that fit all of them."""
        with understood(self.where, self.kind):
            scan = pl.scan_ndjson(self.input.for_polars, infer_schema_length=None)
        return FrameSource.of_scan(scan, self.where, self.kind)


def open_source(given: Input, kind: str) -> Source:
    """Return the rows of a file."""
    if kind in SEPARATORS:
        return CsvSource(given, kind, PIECE)
    if kind == "ndjson":
        return NdjsonSource(given, PIECE)
    return FrameSource.of_file(given, kind)
