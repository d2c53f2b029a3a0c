"""Add a column to a CSV without touching a byte of the others.

Records are found in the raw bytes: a line ends a record if the quotes before it are
even in number, and a separator separates under the same condition. Doubled quotes
inside a field keep the number even.
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
    if quotes.size:
        lines = lines[np.searchsorted(quotes, lines) % 2 == 0]
        fields = fields[np.searchsorted(quotes, fields) % 2 == 0]
        if quotes.size % 2:
            raise Problem(where, "has a quote that is never closed", "Close it.")
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


def _without_blank_end(
    starts: NDArray[np.intp], ends: NDArray[np.intp], where: str
) -> int:
    """Return how many records there are before blank lines at the end."""
    full = np.flatnonzero(ends > starts)
    kept = int(full[-1]) + 1
    blank = np.flatnonzero(ends[:kept] <= starts[:kept])
    if blank.size:
        raise Problem(where, f"row {int(blank[0])} is a blank line", "Delete it.")
    return kept


def _header(line: bytes, separator: str, where: str) -> list[str]:
    try:
        text = line.decode("utf-8-sig")
        return next(csv.reader([text], delimiter=separator, strict=True))
    except UnicodeDecodeError:
        raise Problem(where, "is not UTF-8", "Convert it first.") from None
    except csv.Error as error:
        raise Problem(
            where, f"has no readable header ({error})", "Look at it."
        ) from None
