"""Add a column to a CSV without touching a byte of the others.

Records are found in the raw bytes: a line ends a record if the quotes before it are
even in number, and a separator separates under the same condition. Doubled quotes
inside a field keep the number even. That is so only if fields with quotes in them are
quoted themselves, so files where one is not are refused.

A file is taken in pieces that end where a record ends, so that no piece depends on
another but for the number of rows and lines before it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from bestcut.files._error import FileError

_QUOTE, _NEWLINE, _RETURN = ord('"'), ord("\n"), ord("\r")
_BOM = b"\xef\xbb\xbf"
_BLANK = _BOM + b" \t\r\n"
_NONE = np.zeros(0, dtype=np.intp)
_LONGEST = 2**30  # bytes of a record: a quote that is never closed must end somewhere


@dataclass(frozen=True)
class Place:
    """Where a piece stands in its file: for messages.

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
    ends: NDArray[np.int64]
    place: Place
    newlines: int

    def with_column(self, separator: str, marks: NDArray[np.bool_]) -> bytes:
        """Return the bytes with one more cell, 0 or 1, at the end of each record."""
        raw = np.frombuffer(self.data, dtype=np.uint8)
        digits = np.where(marks, ord("1"), ord("0")).astype(np.uint8)
        between = np.full(digits.size, ord(separator), np.uint8)
        added = np.stack([between, digits], axis=1)
        return np.insert(raw, np.repeat(self.ends, 2), added.ravel()).tobytes()


def pieces(file: BinaryIO, size: int, where: str, *, quoted: bool) -> Iterator[bytes]:
    """Yield a file in pieces of about `size` bytes that end where a record does.

    Blank lines go with what follows them, as only at the very end they are allowed.
    If `quoted`, a line in quotes goes on.
    """
    rest, more = b"", size
    while fresh := file.read(more):
        data = rest + fresh
        end = _last_end(data, quoted=quoted)
        if end:
            yield data[:end]
            rest, more = data[end:], size
            continue
        if len(data) > _LONGEST:
            what = f"has a record of more than {_LONGEST:,} bytes"
            raise FileError.of(where, what, "Look for a quote that is never closed.")
        rest, more = (
            data,
            len(data),
        )  # twice as much, or long records take quadratic time
    if rest:
        yield rest


def _last_end(data: bytes, *, quoted: bool) -> int:
    """Return where the last complete record that is not blank ends, or 0."""
    if quoted and b'"' in data:
        raw = np.frombuffer(data, dtype=np.uint8)
        lines = np.flatnonzero(raw == _NEWLINE)
        inside = np.searchsorted(np.flatnonzero(raw == _QUOTE), lines) % 2
        lines = lines[inside == 0]
        end = int(lines[-1]) + 1 if lines.size else 0
    else:
        end = data.rfind(b"\n") + 1
    last = end
    while last and data[last - 1] in b"\r\n":
        last -= 1
    return data.find(b"\n", last) + 1 if data[:last].strip(_BLANK) else 0


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

    Attributes
    ----------
    header : list of str
        The names of the columns.
    """

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[BinaryIO]],
        separator: str,
        where: str,
        size: int,
    ) -> None:
        self.opened, self.separator = opened, separator
        self.where, self.size = where, size
        self._is_checked = False  # all of it, so that the next time is faster
        with opened() as file:
            first = next(pieces(file, size, where, quoted=True), b"")
        if not first.strip(_BLANK):
            raise FileError.of(where, "is empty", "Pass a file with a header and rows.")
        self._begin(first)

    def _begin(self, first: bytes) -> Records:
        """Note the header; return the records after it."""
        at = Place(self.where, rows=-1)  # the header is row 0
        lines = _split(first, self.separator, at, check=True)
        self._head_end = int(lines.ends[0])
        self.header = _names(first[: self._head_end], self.separator, at)
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
            for data in pieces(file, self.size, self.where, quoted=True):
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


def _field(text: str, separator: str) -> str:
    """Return a cell as it is written, in quotes if it must be."""
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="").writerow([text])
    return out.getvalue()


@dataclass(frozen=True)
class _Lines:
    """Where records begin and end, and where separators separate."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    separators: NDArray[np.int64]
    newlines: int

    def check_fields(self, width: int, at: Place) -> None:
        """Refuse records that have not as many fields as the header."""
        between, count = width - 1, self.ends.size
        if self.separators.size == between * count:
            table = self.separators.reshape(count, between)
            inside = (table >= self.starts[:, None]) & (table < self.ends[:, None])
            if inside.all():
                return
        first = np.searchsorted(self.separators, self.starts)
        counts = np.searchsorted(self.separators, self.ends) - first + 1
        row = int(np.argmax(counts != width))
        what = (
            f"row {at.rows + row + 1} has {int(counts[row])} fields, the header {width}"
        )
        cure = "Quote what holds a separator, or fill the row."
        raise FileError.of(at.where, what, cure)


def _split(data: bytes, separator: str, at: Place, *, check: bool) -> _Lines:
    """Find the records, refusing what readers disagree about if that is unchecked."""
    raw = np.frombuffer(data, dtype=np.uint8)
    newlines = lines = np.flatnonzero(raw == _NEWLINE)
    quotes = np.flatnonzero(raw == _QUOTE) if b'"' in data else _NONE
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
    raw: NDArray[np.uint8], quotes: NDArray[np.intp], separator: str, at: Place
) -> None:
    """Refuse quotes that neither enclose a whole field nor are doubled."""
    edges = [ord(separator), _NEWLINE, _QUOTE]
    opening, closing = quotes[::2], quotes[1::2]
    first = np.isin(raw[opening - 1], edges) | (opening == 0)
    if raw[:3].tobytes() == _BOM:
        first |= opening == 3
    after = raw[np.minimum(closing + 1, raw.size - 1)]
    last = np.isin(after, [*edges, _RETURN]) | (closing == raw.size - 1)
    stray = np.concatenate([opening[~first], closing[~last]])
    if stray.size:
        what = f"line {_line(raw, int(stray.min()), at)} has a quote inside a field"
        cure = "Quote the whole field, and double the quotes in it."
        raise FileError.of(at.where, what, cure)
    if quotes.size % 2:
        line = _line(raw, int(quotes[-1]), at)
        what = f"line {line} has a quote that is never closed"
        raise FileError.of(at.where, what, "Close it.")


def _check_returns(raw: NDArray[np.uint8], quotes: NDArray[np.intp], at: Place) -> None:
    """Refuse carriage returns that some readers take for the end of a line."""
    returns = np.flatnonzero(raw == _RETURN)
    lone = returns[raw[np.minimum(returns + 1, raw.size - 1)] != _NEWLINE]
    lone = lone[np.searchsorted(quotes, lone) % 2 == 0]
    if lone.size:
        line = _line(raw, int(lone[0]), at)
        what = f"line {line} has a carriage return without a newline"
        cure = "Quote its field, or end lines with a newline."
        raise FileError.of(at.where, what, cure)


def _line(raw: NDArray[np.uint8], index: int, at: Place) -> int:
    """Return the line of a byte, counted from 1 as editors do."""
    return at.lines + int(np.count_nonzero(raw[:index] == _NEWLINE)) + 1


def _without_blank_end(
    starts: NDArray[np.intp], ends: NDArray[np.intp], at: Place
) -> int:
    """Return how many records there are before blank lines at the end."""
    full = np.flatnonzero(ends > starts)
    kept = int(full[-1]) + 1 if full.size else 0
    blank = np.flatnonzero(ends[:kept] <= starts[:kept])
    if blank.size:
        row = at.rows + int(blank[0]) + 1
        what = f"{f'row {row}' if row else 'the first line'} is blank"
        raise FileError.of(at.where, what, "Delete it.")
    return kept


def check_utf8(data: bytes, at: Place) -> None:
    """Refuse text in another encoding, by its line."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = at.lines + data.count(b"\n", 0, error.start) + 1
        what = f"line {line} is not UTF-8"
        raise FileError.of(at.where, what, "Convert the file first.") from None


def _names(line: bytes, separator: str, at: Place) -> list[str]:
    check_utf8(line, at)
    try:
        text = line.decode("utf-8-sig")
        return next(csv.reader([text], delimiter=separator, strict=True))
    except csv.Error as error:
        what = f"has no readable header ({error})"
        raise FileError.of(at.where, what, "Look at it.") from None
