"""NDJSON: one object per line."""

from __future__ import annotations

import io
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import polars as pl

from bestcut._errors import quoted
from bestcut._types import BoolArray, IndexArray
from bestcut.files._errors import (
    empty,
    name_taken,
    refusal,
)
from bestcut.files._frames import FrameSource, understood
from bestcut.files._input import Input
from bestcut.files._limits import USUAL, Limits
from bestcut.files._pieces import NEWLINE, pieces, with_cells
from bestcut.files._source import Format
from bestcut.files._text import TextBatch, TextSource

DEEPEST = 64  # values in values; some parsers take twice as long for each
_BRACKET, _BRACE = ord("["), ord("{")
_BRACE_BIT = _BRACKET ^ _BRACE
# A text without an end goes on to that of the line; else these would be quadratic.
_STRING = re.compile(rb'"(?:[^"\\]|\\.?)*+"?')
_KEY = re.compile(rb'"([^"\\\n]*+(?:\\.?[^"\\\n]*+)*+)"?(\s*+:)?')  # or another text
_SAMPLE = 200  # objects whose keys are looked at
_BLANKS = b" \t\n\r\v\f"
_FEW_BLANKS = 3  # at the end of a line, which are looked at in all lines together
_ANY = random.Random()


class NdjsonBatch(TextBatch):
    """Lines of NDJSON; `schema` is what an earlier look at them found."""

    def __init__(
        self,
        data: bytes,
        before: int,
        where: str,
        limits: Limits = USUAL,
        schema: pl.Schema | None = None,
    ) -> None:
        raw = np.frombuffer(data, np.uint8)
        ends = np.append(np.flatnonzero(raw == NEWLINE), raw.size)
        starts = np.concatenate([[0], ends[:-1] + 1])
        last = _last_characters(data, starts, ends)
        is_object = last >= starts
        self._starts, self._last = starts[is_object], last[is_object]
        super().__init__(before, self._starts.size, len(data))
        self._data, self._raw, self._where = data, raw, where
        self._limits, self._schema = limits, schema

    def _lines(self, places: IndexArray) -> IndexArray:
        """Return which objects, counted from 0, hold the bytes at some places."""
        return np.searchsorted(self._starts, places, side="right") - 1

    def _line(self, i: int) -> bytes:
        return self._data[self._starts[i] : self._last[i] + 1]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Return the objects as rows."""
        if not self.rows:
            return pl.DataFrame()
        if self._schema is None:
            self._check_depth()
            self._check_number_of_keys()
        with understood(self._where, "ndjson"):
            file = io.BytesIO(self._data)
            frame = pl.read_ndjson(file, schema=self._schema, infer_schema_length=None)
        if len(frame) != self.rows or np.any(self._raw[self._last] != _BRACE + 2):
            what = "does not have one object per line"
            raise refusal(self._where, what, "Put each object on its own line.")
        return frame

    def _check_depth(self) -> None:
        """Refuse values in values without end, before a parser sees them."""
        opens = np.flatnonzero((self._raw == _BRACKET) | (self._raw == _BRACE))
        # A line can be as deep as this only if it holds so many brackets.
        if opens.size <= DEEPEST:
            return
        lines = self._lines(opens)
        for i in np.unique(lines[DEEPEST:][lines[DEEPEST:] == lines[:-DEEPEST]]):
            if _depth(self._line(i)) > DEEPEST:
                row = self.before + int(i) + 1
                what = f"row {row} has values that are nested more than {DEEPEST} deep"
                raise refusal(self._where, what, "Flatten them.")

    def _check_number_of_keys(self) -> None:
        """Refuse objects with thousands of different keys, before a parser sees them.

        That would take quadratic time. All keys are looked at only if a few objects,
        which nobody can foresee, have some that others lack.
        """
        few = _ANY.sample(range(self.rows), min(_SAMPLE, self.rows))
        counts = Counter(x for i in few for x in set(_keys(self._line(i))))
        if min(counts.values(), default=_SAMPLE) == 1:
            count = len(set(_keys(self._data)))
            self._limits.check_keys(count, self.rows, self._where)

    def column(self, name: str) -> pl.Series:
        """Return a column; it is null where an object does not hold the key."""
        if name not in self.frame.columns:
            return pl.Series(name, [None] * self.rows, dtype=pl.Null)
        self._check_once(name)
        return self.frame[name]

    def _check_once(self, name: str) -> None:
        """Refuse a key that an object holds twice: readers disagree about its value."""
        # All lines are searched together, because looking at each takes far longer.
        key, data = _as_key(name), self._data
        escapes = {b"\\u00" if x < "\u0100" else b"\\u" for x in name}
        if "/" in name:
            escapes.add(b"\\/")
        is_plain = not any(escape in data for escape in escapes)
        everywhere = is_plain and not self.frame[name].null_count()
        if everywhere and data.count(key) == self.rows:
            return  # each object has it at least once, and so exactly once
        pattern = re.compile(re.escape(key)) if is_plain else _spellings(name)
        lines = self._lines(np.array([x.start() for x in pattern.finditer(data)], int))
        for i in np.unique(lines[1:][lines[1:] == lines[:-1]]).tolist():
            # A value or an inner key may equal it.
            pairs = json.loads(self._line(i), object_pairs_hook=list)
            if sum(one == name for one, _ in pairs) > 1:
                row = self.before + i + 1
                what = f"row {row} has the key {quoted(name)} more than once"
                raise refusal(self._where, what, "Keep one of these keys.")

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
        """Return the lines with one more key in each object, before its last brace.

        An object that gets a mark has a probability, so it is never empty.
        """
        if name in (self._schema or self.frame.schema):
            raise name_taken(self._where, name)
        key, values = json.dumps(name), ((0, 1) if words is None else words)
        cells = [f",{key}:{json.dumps(value)}".encode() for value in values]
        return with_cells(self._data, self._last, cells, marks)


def _last_characters(data: bytes, starts: IndexArray, ends: IndexArray) -> IndexArray:
    """Return where in each line the last character is that is no blank.

    In a blank line it is before the line.
    """
    is_blank = np.zeros(256, dtype=np.bool_)
    is_blank[list(_BLANKS)] = True
    raw, last, lines = np.frombuffer(data, np.uint8), ends - 1, np.arange(ends.size)
    for _ in range(_FEW_BLANKS):
        lines = lines[last[lines] >= starts[lines]]
        lines = lines[is_blank[raw[last[lines]]]]
        last[lines] -= 1
    for i in lines.tolist():
        last[i] = starts[i] + len(data[starts[i] : ends[i]].rstrip(_BLANKS)) - 1
    return last


def _keys(text: bytes) -> list[bytes]:
    """Return the keys of objects, as they are written."""
    return [key for key, colon in _KEY.findall(text) if colon]


def _depth(line: bytes) -> int:
    """Return how deep values are in values, at most."""
    raw = np.frombuffer(_STRING.sub(b"", line), np.uint8) | _BRACE_BIT  # [ as {
    step = (raw == _BRACE).astype(np.int64) - (raw == _BRACE + 2)
    return int(np.cumsum(step).max(initial=0))


def _as_key(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode()


def _spellings(name: str) -> re.Pattern[bytes]:
    """Return a pattern of all the ways in which JSON may write a name, with escapes."""
    return re.compile(b'"%b"' % b"".join(map(_ways, name)))


def _ways(character: str) -> bytes:
    """Return a pattern of all the ways to write a character."""
    usual = re.escape(_as_key(character)[1:-1])
    if character == "/":
        usual = rb"\\?/"
    units = np.frombuffer(character.encode("utf-16-be", "surrogatepass"), ">u2")
    escapes = b"".join(rb"\\u%04x" % unit for unit in units.tolist())
    return b"(?:%b|(?i:%b))" % (usual, escapes)


class NdjsonSource(TextSource):
    """One JSON object per line."""

    def __init__(self, given: Input) -> None:
        super().__init__(given, "ndjson")
        self._schemas: dict[int, pl.Schema] = {}  # of pieces: finding one takes long
        first: NdjsonBatch | None = next(self._read(), None)
        if first is None:
            raise empty(given.where)
        self.columns = first.frame.columns

    def _read(self) -> Iterator[NdjsonBatch]:
        before = 0
        with self.input.opened() as file:
            limits = self.input.limits
            texts = pieces(file, self._piece, self.where, limits.row, quoted=False)
            for i, data in enumerate(texts):
                schema = self._schemas.get(i)
                batch = NdjsonBatch(data, before, self.where, limits, schema)
                if schema is None:
                    self._schemas[i] = batch.frame.schema
                    limits.check_columns(len(self._schemas[i]), self.where)
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
    write=lambda frames, file, _: frames.sink_ndjson(file),
)
