"""Text in pieces that end where a record ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from bestcut._types import BoolArray, IndexArray
from bestcut.files._errors import refusal

QUOTE, NEWLINE = ord('"'), ord("\n")
BOM = b"\xef\xbb\xbf"


def is_blank(data: bytes) -> bool:
    """Return whether a text holds only blanks and line ends."""
    return not data.strip(BOM + b" \t\r\n")


def pieces(
    file: BinaryIO, size: int, where: str, longest: int, *, quoted: bool
) -> Iterator[bytes]:
    """Yield a file in pieces of about `size` bytes that end where a record does.

    Blank lines are kept with the text after them, because they are allowed only at the
    very end. If `quoted`, a record goes on after a line end inside quotes. A record of
    more than `longest` bytes that does not fit into a piece is refused.
    """
    rest, more = b"", size
    while fresh := file.read(more):
        data = rest + fresh
        end = _last_end(data, quoted=quoted)
        if end:
            yield data[:end]
            rest, more = data[end:], size
            continue
        if len(data) > longest:
            what = f"has a record of more than {longest:,} bytes"
            cure = "Look for a quote that is never closed, or raise 'row' in `limits`."
            raise refusal(where, what, cure)
        # Read twice as much the next time; otherwise long records take quadratic time.
        rest, more = data, len(data)
    if rest:
        yield rest


def with_cells(
    data: bytes,
    places: IndexArray,
    cells: Sequence[bytes],
    marks: BoolArray | IndexArray,
) -> bytes:
    """Return a text with the cell that a mark chooses inserted at each place."""
    which = marks.astype(np.intp)
    lengths = np.array([len(cell) for cell in cells])
    if np.all(lengths == lengths[0]):  # such as 0 and 1: one look-up for all
        table = np.frombuffer(b"".join(cells), np.uint8).reshape(len(cells), -1)
        added = table[which].ravel()
    else:
        added = np.frombuffer(b"".join([cells[i] for i in which.tolist()]), np.uint8)
    at = np.repeat(places, lengths[which])
    at += np.arange(at.size)
    text = np.empty(len(data) + at.size, np.uint8)
    is_old = np.ones(text.size, dtype=np.bool_)
    is_old[at] = False
    text[is_old] = np.frombuffer(data, np.uint8)
    text[at] = added
    return text.tobytes()


def _last_end(data: bytes, *, quoted: bool) -> int:
    """Return where the last complete record that is not blank ends, or 0."""
    end = data.rfind(b"\n") + 1
    if quoted and data.count(b'"', 0, end) % 2:  # this line end is inside quotes
        raw = np.frombuffer(data, dtype=np.uint8)
        lines = np.flatnonzero(raw == NEWLINE)
        inside = np.searchsorted(np.flatnonzero(raw == QUOTE), lines) % 2
        lines = lines[inside == 0]
        end = int(lines[-1]) + 1 if lines.size else 0
    last = end
    while last and data[last - 1] in b"\r\n":
        last -= 1
    return 0 if is_blank(data[:last]) else data.find(b"\n", last) + 1
