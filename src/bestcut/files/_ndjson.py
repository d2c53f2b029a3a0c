"""NDJSON: one object per line."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from functools import cached_property

import polars as pl

from bestcut._types import BoolArray, IndexArray
from bestcut.files._errors import (
    empty,
    name_taken,
    not_one_object_per_line,
    repeated_key,
)
from bestcut.files._frames import FrameSource, understood
from bestcut.files._input import Input
from bestcut.files._pieces import pieces
from bestcut.files._source import Format
from bestcut.files._text import TextBatch, TextSource


class NdjsonBatch(TextBatch):
    """Lines of NDJSON."""

    def __init__(self, data: bytes, before: int, where: str) -> None:
        self._lines = data.split(b"\n")
        self._objects = [i for i, line in enumerate(self._lines) if line.strip()]
        super().__init__(before, len(self._objects), len(data))
        self._data, self._where = data, where

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Return the objects as rows."""
        if not self.rows:
            return pl.DataFrame()
        with understood(self._where, "ndjson"):
            file = io.BytesIO(self._data)
            frame = pl.read_ndjson(file, infer_schema_length=None)
        whole = (self._lines[i].rstrip().endswith(b"}") for i in self._objects)
        if len(frame) != self.rows or not all(whole):
            raise not_one_object_per_line(self._where)
        return frame

    def column(self, name: str) -> pl.Series:
        """Return a column; it is null where an object does not hold the key."""
        if name not in self.frame.columns:
            return pl.Series(name, [None] * self.rows, dtype=pl.Null)
        self._check_once(name)
        return self.frame[name]

    def _check_once(self, name: str) -> None:
        """Refuse a key that an object holds twice: readers disagree about its value."""
        key = json.dumps(name, ensure_ascii=False).encode()
        for row, i in enumerate(self._objects, start=self.before + 1):
            line = self._lines[i]
            # A key may be written with escapes; a value or an inner key may equal it.
            if line.count(key) > 1 or b"\\" in line:
                pairs = json.loads(line, object_pairs_hook=list)
                if sum(one == name for one, _ in pairs) > 1:
                    raise repeated_key(self._where, row, name)

    def check_keys(self) -> None:
        """Refuse any key that an object holds twice."""
        for name in self.frame.columns:
            self._check_once(name)

    def with_marks(
        self,
        name: str,
        marks: BoolArray | IndexArray,
        words: Sequence[str] | None = None,
    ) -> bytes:
        """Return the lines with one more key in each object."""
        if name in self.frame.columns:
            raise name_taken(self._where, name)
        lines, key = self._lines.copy(), json.dumps(name).encode()
        values = [json.dumps(x).encode() for x in ((0, 1) if words is None else words)]
        for i, mark in zip(self._objects, marks.tolist(), strict=True):
            body, brace, rest = lines[i].rpartition(b"}")
            comma = b"" if body.rstrip().endswith(b"{") else b","
            lines[i] = body + comma + key + b":" + values[mark] + brace + rest
        return b"\n".join(lines)


class NdjsonSource(TextSource):
    """One JSON object per line."""

    def __init__(self, given: Input) -> None:
        super().__init__(given, "ndjson")
        first: NdjsonBatch | None = next(self._read(), None)
        if first is None:
            raise empty(given.where)
        self.columns = first.frame.columns

    def _read(self) -> Iterator[NdjsonBatch]:
        before = 0
        with self.input.opened() as file:
            for data in pieces(file, self._piece, self.where, quoted=False):
                batch = NdjsonBatch(data, before, self.where)
                before += batch.rows
                yield batch

    def head_with(self, name: str) -> bytes:
        """Return nothing: each object has its own names."""
        return b""

    def frames(self, target: Format) -> FrameSource:
        """Return the objects as rows, with the types that fit all of them."""
        for batch in self.batches():
            batch.check_keys()
        with understood(self.where, self.kind):
            scan = pl.scan_ndjson(self.input.for_polars, infer_schema_length=None)
        return FrameSource.of_scan(scan, self.where, self.kind)


NDJSON = Format(
    "ndjson",
    (".ndjson", ".jsonl"),
    open=NdjsonSource,
    write=pl.LazyFrame.sink_ndjson,
)
