"""Read what Parquet says of itself, in Thrift's compact form, before polars does.

polars believes the numbers of a file, so they are looked at first.
"""

from __future__ import annotations

from collections.abc import Iterator

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = (
    *(1, 2, 3, 7),
    *(8, 9, 10, 11, 12),
)
_DEEPEST = 16  # structures in structures; Parquet has fewer


class Damaged(ValueError):
    """The bytes are not what they should be."""

    def __str__(self) -> str:
        return "it is damaged"


class Thrift:
    """Values in compact form, one after another.

    Parameters
    ----------
    data : bytes
        What is read.
    at : int, default=0
        Where to begin.
    """

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        """Return the next byte."""
        if self.at >= len(self.data):
            raise Damaged
        self.at += 1
        return self.data[self.at - 1]

    def unsigned(self) -> int:
        """Return a number of variable length."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise Damaged

    def whole(self) -> int:
        """Return a number that may be negative."""
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the kind of each field; the caller reads its value."""
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.whole()
            yield number, head & 15

    def items(self) -> tuple[int, int]:
        """Return how many items a list has, and their kind; the caller reads them."""
        head = self.byte()
        count = self.unsigned() if head >> 4 == 15 else head >> 4
        if count > len(self.data) - self.at:
            raise Damaged
        return count, head & 15

    def skip(self, kind: int, depth: int = 0) -> None:
        """Pass over a value."""
        if depth > _DEEPEST:
            raise Damaged
        if kind in (_TRUE, _FALSE):
            return
        if kind == _BYTE:
            self.at += 1
        elif kind < _DOUBLE:
            self.unsigned()
        elif kind == _DOUBLE:
            self.at += 8
        elif kind == _BINARY:
            length = self.unsigned()
            self.at += length
        elif kind in (_LIST, _SET):
            count, of = self.items()
            for _ in range(count):
                self.skip(_BYTE if of in (_TRUE, _FALSE) else of, depth + 1)
        elif kind == _STRUCT:
            for _, of in self.fields():
                self.skip(of, depth + 1)
        else:  # Parquet has no maps
            raise Damaged
