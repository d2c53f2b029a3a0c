"""Text in pieces that end where a record ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from bestcut.files._errors import long_record

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
            raise long_record(where, longest)
        # Read twice as much the next time; otherwise long records take quadratic time.
        rest, more = data, len(data)
    if rest:
        yield rest


def _last_end(data: bytes, *, quoted: bool) -> int:
    """Return where the last complete record that is not blank ends, or 0."""
    if quoted and b'"' in data:
        raw = np.frombuffer(data, dtype=np.uint8)
        lines = np.flatnonzero(raw == NEWLINE)
        inside = np.searchsorted(np.flatnonzero(raw == QUOTE), lines) % 2
        lines = lines[inside == 0]
        end = int(lines[-1]) + 1 if lines.size else 0
    else:
        end = data.rfind(b"\n") + 1
    last = end
    while last and data[last - 1] in b"\r\n":
        last -= 1
    return 0 if is_blank(data[:last]) else data.find(b"\n", last) + 1
