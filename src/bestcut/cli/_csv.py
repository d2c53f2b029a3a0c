"""Add a column to a CSV without touching a byte of the others.

Records are found in the raw bytes: a line ends a record if the quotes before it are
even in number, and a separator separates under the same condition. Doubled quotes
inside a field keep the number even. That is so only if fields with quotes in them are
quoted themselves, so files where one is not are refused.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestcut.cli._problem import Problem

_QUOTE, _NEWLINE, _RETURN = ord('"'), ord("\n"), ord("\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class RawCsv:
    """The bytes of a CSV, and where its records end.

    Attributes
    ----------
    data : bytes
        Everything.
    header : list of str
        The names of the columns.
    ends : ndarray of int
        Where the text of each record ends, the header's first.
    separator : str
        What separates fields.
    """

    data: bytes
    header: list[str]
    ends: NDArray[np.int64]
    separator: str

    @property
    def n_rows(self) -> int:
        """How many records there are beside the header."""
        return self.ends.size - 1

    def with_column(self, name: str, marks: NDArray[np.bool_]) -> bytes:
        """Return the bytes with one more column, 0 or 1, at the end of each record."""
        raw = np.frombuffer(self.data, dtype=np.uint8)
        separator = self.separator.encode()
        first = int(self.ends[0])
        head = self.data[:first] + separator + _field(name, self.separator).encode()
        digits = np.where(marks, ord("1"), ord("0")).astype(np.uint8)
        added = np.stack([np.full(digits.size, separator[0], np.uint8), digits], axis=1)
        places = np.repeat(self.ends[1:] - first, 2)
        return head + np.insert(raw[first:], places, added.ravel()).tobytes()


def _field(text: str, separator: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="").writerow([text])
    return out.getvalue()


def parse(data: bytes, separator: str, where: str) -> RawCsv:
    """Find the header and the records, refusing what is not a table."""
    if not data.strip(_BOM + b" \t\r\n"):
        raise Problem(where, "is empty", "Pass a file with a header and rows.")
    raw = np.frombuffer(data, dtype=np.uint8)
    lines = np.flatnonzero(raw == _NEWLINE)
    fields = np.flatnonzero(raw == ord(separator))
    quotes = np.flatnonzero(raw == _QUOTE)
    _check_quotes(raw, quotes, separator, where)
    if quotes.size:
        lines = lines[np.searchsorted(quotes, lines) % 2 == 0]
        fields = fields[np.searchsorted(quotes, fields) % 2 == 0]
    _check_returns(raw, quotes, where)
    if not lines.size or lines[-1] != raw.size - 1:
        lines = np.append(lines, raw.size)
    starts = np.concatenate([[0], lines[:-1] + 1])
    ends = lines - ((lines > starts) & (raw[np.maximum(lines - 1, 0)] == _RETURN))
    kept = _without_blank_end(starts, ends, where)
    starts, ends = starts[:kept], ends[:kept]
    header = _header(data[: int(ends[0])], separator, where)
    counts = np.searchsorted(fields, ends) - np.searchsorted(fields, starts) + 1
    odd = np.flatnonzero(counts != len(header))
    if odd.size:
        row = int(odd[0])
        raise Problem(
            where,
            f"row {row} has {int(counts[row])} fields, the header {len(header)}",
            "Quote what holds a separator, or fill the row.",
        )
    return RawCsv(data, header, ends.astype(np.int64), separator)


def _check_quotes(
    raw: NDArray[np.uint8], quotes: NDArray[np.intp], separator: str, where: str
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
        raise Problem(
            where,
            f"line {_line(raw, int(stray.min()))} has a quote inside a field",
            "Quote the whole field, and double the quotes in it.",
        )
    if quotes.size % 2:
        raise Problem(
            where,
            f"line {_line(raw, int(quotes[-1]))} has a quote that is never closed",
            "Close it.",
        )


def _check_returns(
    raw: NDArray[np.uint8], quotes: NDArray[np.intp], where: str
) -> None:
    """Refuse carriage returns that some readers take for the end of a line."""
    returns = np.flatnonzero(raw == _RETURN)
    lone = returns[raw[np.minimum(returns + 1, raw.size - 1)] != _NEWLINE]
    lone = lone[np.searchsorted(quotes, lone) % 2 == 0]
    if lone.size:
        raise Problem(
            where,
            f"line {_line(raw, int(lone[0]))} has a carriage return without a newline",
            "Quote its field, or end lines with a newline.",
        )


def _line(raw: NDArray[np.uint8], at: int) -> int:
    """Return the line of a byte, counted from 1 as editors do."""
    return int(np.count_nonzero(raw[:at] == _NEWLINE)) + 1


def _without_blank_end(
    starts: NDArray[np.intp], ends: NDArray[np.intp], where: str
) -> int:
    """Return how many records there are before blank lines at the end."""
    full = np.flatnonzero(ends > starts)
    kept = int(full[-1]) + 1
    blank = np.flatnonzero(ends[:kept] <= starts[:kept])
    if blank.size:
        row = f"row {int(blank[0])}" if blank[0] else "the first line"
        raise Problem(where, f"{row} is blank", "Delete it.")
    return kept


def check_utf8(data: bytes, where: str) -> None:
    """Refuse text in another encoding, by its line."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Problem(
            where, f"line {line} is not UTF-8", "Convert the file first."
        ) from None


def _header(line: bytes, separator: str, where: str) -> list[str]:
    check_utf8(line, where)
    try:
        text = line.decode("utf-8-sig")
        return next(csv.reader([text], delimiter=separator, strict=True))
    except csv.Error as error:
        raise Problem(
            where, f"has no readable header ({error})", "Look at it."
        ) from None
