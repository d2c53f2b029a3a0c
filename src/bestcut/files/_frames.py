"""Parquet, Arrow's IPC, and everything else that polars reads as frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl

from bestcut._errors import FileError
from bestcut.files._arrow import check_arrow
from bestcut.files._errors import empty, first_line, refusal
from bestcut.files._input import Input
from bestcut.files._parquet import check_parquet
from bestcut.files._source import Batch, Format, Source
from bestcut.files._thrift import Damaged

PANIC = pl.exceptions.PanicException  # of polars, by files that it did not expect

SCORES = 1 << 19  # scores that are looked at together
ROWS = 1 << 16  # whole rows that are copied together, unless they are heavy
_WEIGHT = 1 << 25  # bytes that they may have in the file
_ARROW = "ARROW:schema"  # what polars notes about the types of the columns


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

    Attributes
    ----------
    noted : dict of str to str
        What programs noted about the rows, by their own keys.
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
        self.noted: dict[str, str] = {}

    @classmethod
    def of_scan(
        cls, scan: pl.LazyFrame, where: str, kind: str, weight: int = 1
    ) -> FrameSource:
        """Return the source of a polars scan, given the estimated bytes of a row."""
        together = max(min(ROWS, _WEIGHT // max(weight, 1)), 1)

        def read(names: list[str] | None) -> Iterable[pl.DataFrame]:
            if names is None:
                return scan.collect_batches(chunk_size=together)
            return scan.select(names).collect_batches(chunk_size=SCORES)

        with understood(where, kind):
            schema = scan.collect_schema()
            pl.DataFrame(schema=schema)  # refuses decimals with too many digits
            return cls(read, schema, where, kind)

    def batches(self, names: list[str] | None = None) -> Iterator[FrameBatch]:
        """Yield frames."""
        before = unpacked = 0
        try:
            with understood(self.where, self.kind):
                for frame in self._read(names):
                    if self.input is not None:  # rows may share a text, until written
                        unpacked += int(frame.estimated_size())
                        limits = self.input.limits
                        limits.check_unpacked(unpacked, self.input.size, self.where)
                    yield FrameBatch(frame, before)
                    before += len(frame)
                if self.total not in (None, before):
                    raise Damaged
        except FileError:
            self.check_unchanged()  # a change of the file would explain the error
            raise

    def frames(self, target: Format) -> FrameSource:
        """Return the source itself."""
        return self


@contextmanager
def understood(where: str, kind: str) -> Iterator[None]:
    """Turn an error of polars into one line."""
    try:
        yield
    except FileError:
        raise
    except (pl.exceptions.PolarsError, PANIC, OSError, ValueError) as error:
        what = f"cannot be read as {kind} ({first_line(error)})"
        raise refusal(where, what, "Check the file and its format.") from None


def _opener(
    kind: str,
    check: Callable[[Input], int],
    scan: Callable[..., pl.LazyFrame],
    noted: Callable[[Any], dict[str, str]] = lambda _: {},
) -> Callable[[Input], Source]:
    """Return the function that opens files of a format that polars scans.

    `check` looks at a file before polars does, and returns its number of rows.
    """

    def opened(given: Input) -> FrameSource:
        if not given.size:
            raise empty(given.where)
        with understood(given.where, kind):
            rows = check(given)
            frame = scan(given.for_polars, glob=False, hive_partitioning=False)
            if rows != frame.select(pl.len()).collect().item():
                raise Damaged
            notes = noted(given.for_polars)
            notes.pop(_ARROW, None)
        weight = given.size // max(rows, 1)
        source = FrameSource.of_scan(frame, given.where, kind, weight)
        source.total, source.input, source.noted = rows, given, notes
        return source

    return opened


PARQUET = Format(
    "parquet",
    (".parquet", ".pq"),
    open=_opener("parquet", check_parquet, pl.scan_parquet, pl.read_parquet_metadata),
    write=lambda frames, file, noted: frames.sink_parquet(file, metadata=dict(noted)),
    is_text=False,
)
IPC = Format(
    "ipc",
    (".arrow", ".feather", ".ipc"),
    open=_opener("ipc", check_arrow, pl.scan_ipc),
    write=lambda frames, file, _: frames.sink_ipc(file),
    is_text=False,
)
