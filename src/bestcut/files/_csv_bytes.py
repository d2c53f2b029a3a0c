"""Add a column to a CSV without touching a byte of the others.

Records are found in the raw bytes. The end of a line ends a record if the number of
quotes before it is even, and a separator separates fields under the same condition.
Doubled quotes inside a field keep the number even. This works only if every field that
holds a quote is itself quoted, so other files are refused.

A file is read in pieces that end where a record ends. A piece depends on the others
only through the number of rows and lines before it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from bestcut._types import BoolArray, CountArray, IndexArray
from bestcut.files._errors import empty, refusal
from bestcut.files._limits import Limits
from bestcut.files._pieces import BOM, NEWLINE, QUOTE, is_blank, pieces, with_cells

_RETURN = ord("\r")
_NONE = np.zeros(0, dtype=np.intp)
_LONG_HEADER = 1 << 20  # bytes in which a separator is looked for


@dataclass(frozen=True)
class Place:
    """The place of a piece in its file, for messages.

    Attributes
    ----------
    where : str
        What the file is called.
    rows : int
        How many rows come before, without the header.
    lines : int
        How many lines come before, with the header.
    """

    where: str
    rows: int = 0
    lines: int = 0


@dataclass(frozen=True)
class Records:
    """Complete records, one after another.

    Attributes
    ----------
    data : bytes
        All of them.
    ends : ndarray of int
        Where the text of each record ends.
    place : Place
        What comes before.
    newlines : int
        How many lines they take.
    """

    data: bytes
    ends: CountArray
    place: Place
    newlines: int

    def with_column(
        self,
        separator: str,
        marks: BoolArray | IndexArray,
        words: Sequence[str] = ("0", "1"),
    ) -> bytes:
        """Return the bytes with one more cell, a word, at the end of each record."""
        cells = [(separator + _field(word, separator)).encode() for word in words]
        return with_cells(self.data, self.ends, cells, marks)


class CsvText:
    """A CSV that can be read from its beginning again and again.

    Parameters
    ----------
    opened : callable
        Returns a context manager of the file, opened for reading bytes.
    separator : str
        What separates fields.
    where : str
        What the file is called in messages.
    size : int
        Bytes of a piece.
    limits : Limits
        How many columns there may be, and how long a record.
    others : str, optional
        What may separate fields instead, if the header does not hold `separator`.

    Attributes
    ----------
    separator : str
        What separates fields.
    header : list of str
        The names of the columns.
    """

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[BinaryIO]],
        separator: str,
        where: str,
        size: int,
        limits: Limits,
        others: str = "",
    ) -> None:
        self.opened = opened
        self.where, self.size, self.limits = where, size, limits
        self._is_checked = False  # all of it, so that the next time is faster
        with opened() as file:
            first = next(self._pieces(file), b"")
        if is_blank(first):
            raise empty(where, "a header and rows")
        self.separator = _separator(first, separator, others)
        self._begin(first)

    def _pieces(self, file: BinaryIO) -> Iterator[bytes]:
        return pieces(file, self.size, self.where, self.limits.row, quoted=True)

    def _begin(self, first: bytes) -> Records:
        """Note the header; return the records after it."""
        at = Place(self.where, rows=-1)  # the header is row 0
        lines = _split(first, self.separator, at, check=True)
        self._head_end = int(lines.ends[0])
        self.header = _names(first[: self._head_end], self.separator, at)
        self.limits.check_columns(len(self.header), self.where)
        lines.check_fields(len(self.header), at)
        start = first.find(b"\n", self._head_end) + 1 or len(first)
        self._head = first[:start]
        above = self._head.count(b"\n")
        at = Place(self.where, lines=above)
        ends = lines.ends[1:] - start
        return Records(first[start:], ends, at, lines.newlines - above)

    def __iter__(self) -> Iterator[Records]:
        check = not self._is_checked
        with self.opened() as file:
            at = None
            for data in self._pieces(file):
                if at is None:
                    records = self._begin(data)
                else:
                    lines = _split(data, self.separator, at, check=check)
                    if check:
                        lines.check_fields(len(self.header), at)
                    records = Records(data, lines.ends, at, lines.newlines)
                yield records
                at = Place(
                    self.where,
                    records.place.rows + records.ends.size,
                    records.place.lines + records.newlines,
                )
        self._is_checked = True

    def head_with(self, name: str) -> bytes:
        """Return the line of the header with one more name."""
        added = (self.separator + _field(name, self.separator)).encode()
        return self._head[: self._head_end] + added + self._head[self._head_end :]


def _separator(first: bytes, usual: str, others: str) -> str:
    """Return what separates the fields of a file that begins with the given records.

    It is the usual separator, unless the header does not hold it, but holds another
    separator as often as the next record does.
    """
    unquoted = re.sub(rb'"[^"]*"', b"", first[:_LONG_HEADER])
    header, *more = unquoted.splitlines()[:2] or [b""]
    if usual.encode() in header:
        return usual
    best = max(others, key=lambda mark: header.count(mark.encode()), default=usual)
    count = header.count(best.encode())
    alike = all(line.count(best.encode()) == count for line in more)
    return best if count and alike else usual


def _field(text: str, separator: str) -> str:
    """Return a cell as it is written, in quotes if it must be."""
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="").writerow([text])
    return out.getvalue()


@dataclass(frozen=True)
class _Lines:
    """Where records begin and end, and where separators separate."""

    starts: CountArray
    ends: CountArray
    separators: CountArray
    newlines: int

    def check_fields(self, width: int, at: Place) -> None:
        """Refuse records with more or fewer fields than the header."""
        between, count = width - 1, self.ends.size
        if self.separators.size == between * count:
            table = self.separators.reshape(count, between)
            inside = (table >= self.starts[:, None]) & (table < self.ends[:, None])
            if inside.all():
                return
        first = np.searchsorted(self.separators, self.starts)
        counts = np.searchsorted(self.separators, self.ends) - first + 1
        row = int(np.argmax(counts != width))
        what = f"row {at.rows + row + 1} has {counts[row]} fields"
        cure = "Quote fields that hold a separator, or fill the row."
        raise refusal(at.where, f"{what}, but the header has {width}", cure)


def _split(data: bytes, separator: str, at: Place, *, check: bool) -> _Lines:
    """Find the records; if `check`, refuse text that readers disagree about."""
    raw = np.frombuffer(data, dtype=np.uint8)
    newlines = lines = np.flatnonzero(raw == NEWLINE)
    quotes = np.flatnonzero(raw == QUOTE) if b'"' in data else _NONE
    separators = np.flatnonzero(raw == ord(separator)) if check else _NONE
    if check:
        _check_quotes(raw, quotes, separator, at)
        _check_returns(raw, quotes, at)
    if quotes.size:
        lines = lines[np.searchsorted(quotes, lines) % 2 == 0]
        separators = separators[np.searchsorted(quotes, separators) % 2 == 0]
    if not lines.size or lines[-1] != raw.size - 1:
        lines = np.append(lines, raw.size)
    starts = np.concatenate([[0], lines[:-1] + 1])
    ends = lines - ((lines > starts) & (raw[np.maximum(lines - 1, 0)] == _RETURN))
    kept = _without_blank_end(starts, ends, at)
    return _Lines(starts[:kept], ends[:kept], separators, newlines.size)


def _check_quotes(
    raw: NDArray[np.uint8], quotes: IndexArray, separator: str, at: Place
) -> None:
    """Refuse quotes that neither enclose a whole field nor are doubled."""
    edges = [ord(separator), NEWLINE, QUOTE]
    opening, closing = quotes[::2], quotes[1::2]
    first = np.isin(raw[opening - 1], edges) | (opening == 0)
    if raw[:3].tobytes() == BOM:
        first |= opening == 3
    after = raw[np.minimum(closing + 1, raw.size - 1)]
    last = np.isin(after, [*edges, _RETURN]) | (closing == raw.size - 1)
    stray = np.concatenate([opening[~first], closing[~last]])
    if stray.size:
        what = f"line {_line(raw, int(stray.min()), at)} has a quote inside a field"
        cure = "Quote the whole field, and double the quotes in it."
        raise refusal(at.where, what, cure)
    if quotes.size % 2:
        line = _line(raw, int(quotes[-1]), at)
        what = f"line {line} has a quote that is never closed"
        raise refusal(at.where, what, "Close it.")


def _check_returns(raw: NDArray[np.uint8], quotes: IndexArray, at: Place) -> None:
    """Refuse carriage returns that some readers take for the end of a line."""
    returns = np.flatnonzero(raw == _RETURN)
    lone = returns[raw[np.minimum(returns + 1, raw.size - 1)] != NEWLINE]
    lone = lone[np.searchsorted(quotes, lone) % 2 == 0]
    if lone.size:
        line = _line(raw, int(lone[0]), at)
        what = f"line {line} has a carriage return without a newline"
        cure = "Quote its field, or end lines with a newline."
        raise refusal(at.where, what, cure)


def _line(raw: NDArray[np.uint8], index: int, at: Place) -> int:
    """Return the line of a byte, counted from 1 as editors do."""
    return at.lines + int(np.count_nonzero(raw[:index] == NEWLINE)) + 1


def _without_blank_end(starts: IndexArray, ends: IndexArray, at: Place) -> int:
    """Return how many records there are before blank lines at the end."""
    full = np.flatnonzero(ends > starts)
    kept = int(full[-1]) + 1 if full.size else 0
    blank = np.flatnonzero(ends[:kept] <= starts[:kept])
    if blank.size:
        row = at.rows + int(blank[0]) + 1  # the header is row 0
        what = f"{f'row {row}' if row else 'the first line'} is blank"
        raise refusal(at.where, what, "Delete it.")
    return kept


def check_utf8(data: bytes, at: Place) -> None:
    """Refuse text in another encoding, by its line."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = at.lines + data.count(b"\n", 0, error.start) + 1
        what = f"line {line} is not UTF-8"
        raise refusal(at.where, what, "Convert the file first.") from None


def _names(line: bytes, separator: str, at: Place) -> list[str]:
    check_utf8(line, at)
    try:
        text = line.decode("utf-8-sig")
        return next(csv.reader([text], delimiter=separator, strict=True))
    except csv.Error as error:
        what = f"has no readable header ({error})"
        raise refusal(at.where, what, "Check the first line.") from None
