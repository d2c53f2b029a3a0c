"""How much a Parquet file unpacks to, by its own account."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from bestcut.files._input import Input
from bestcut.files._thrift import Damaged, Thrift

_MAGIC = b"PAR1"
_VALUE = 8  # bytes that a value takes in memory, though a run of them takes a few bits
_HEADER = 1 << 12  # bytes that are read at once to find the sizes of a page
# The numbers of fields in the format's definition, `parquet.thrift`.
_SCHEMA, _GROUPS = 2, 4
_COLUMNS, _ROWS = 1, 3
_METADATA = 3
_VALUES, _PACKED, _DATA, _DICTIONARY = 5, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED = 2, 3
_PAGES = (5, 7, 8)  # what says more of a page of values, or of a dictionary


@dataclass(frozen=True)
class _Chunk:
    """A column of a row group: where it is, and how much it holds."""

    values: int
    packed: int
    start: int


def check_parquet(given: Input) -> int:
    """Return how many rows a file has.

    A file that would unpack to far more than it has on the disk is refused. polars
    unpacks a row group at once. The sizes of pages are read where they are, since the
    footer may say others.
    """
    limits, where, rows, total, read = given.limits, given.where, 0, 0, 0
    with given.opened() as file:
        for more, chunks in _row_groups(_footer(file, given), given):
            rows += more
            packed = sum(chunk.packed for chunk in chunks)
            read += packed
            if read > given.size:
                raise Damaged  # columns overlap, and each would be read
            unpacked = sum(_VALUE * x.values + _unpacked(file, x) for x in chunks)
            limits.check_unpacked(unpacked, packed, where)
            total += unpacked
    limits.check_unpacked(total, given.size, where)
    return rows


def _footer(file: BinaryIO, given: Input) -> Thrift:
    end = len(_MAGIC) + 4
    if given.size < end + len(_MAGIC):
        raise Damaged
    file.seek(given.size - end)
    tail = file.read(end)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > given.size - end:
        raise Damaged
    given.limits.check_footer(length, given.where)
    file.seek(given.size - end - length)
    return Thrift(file.read(length))


def _row_groups(footer: Thrift, given: Input) -> Iterator[tuple[int, list[_Chunk]]]:
    for number, kind in footer.fields():
        if number == _SCHEMA:
            count, of = footer.items()
            given.limits.check_columns(count - 1, given.where)  # the root is none
            for _ in range(count):
                footer.skip(of)
        elif number == _GROUPS:
            for _ in range(footer.items()[0]):
                yield _chunks(footer)
        else:
            footer.skip(kind)


def _chunks(footer: Thrift) -> tuple[int, list[_Chunk]]:
    """Return how many rows a row group has, and its columns."""
    rows = 0
    found: list[_Chunk] = []
    for number, kind in footer.fields():
        if number == _COLUMNS:
            for _ in range(footer.items()[0]):
                found += _chunk(footer)
        elif number == _ROWS:
            rows = footer.whole()
        else:
            footer.skip(kind)
    return rows, found


def _chunk(footer: Thrift) -> Iterator[_Chunk]:
    for number, kind in footer.fields():
        if number != _METADATA:
            footer.skip(kind)
            continue
        there = dict.fromkeys((_VALUES, _PACKED, _DATA), -1)
        for inner, of in footer.fields():
            if inner in (*there, _DICTIONARY):
                there[inner] = footer.whole()
            else:
                footer.skip(of)
        if min(there.values()) < 0:
            raise Damaged
        # Some programs write 0 where there is no dictionary.
        start = min(there[_DATA], there.get(_DICTIONARY) or there[_DATA])
        yield _Chunk(there[_VALUES], there[_PACKED], start)


def _unpacked(file: BinaryIO, chunk: _Chunk) -> int:
    """Return how many bytes the pages of a chunk have, unpacked."""
    total, at, end = 0, chunk.start, chunk.start + chunk.packed
    length = _HEADER
    while chunk.values and at < end:  # without values, the place may be wrong
        file.seek(at)
        header = Thrift(file.read(length))
        try:
            unpacked, packed, values = _page(header)
        except Damaged:
            if length >= end - at:
                break  # polars will meet this too, and not read on
            length *= 8  # it holds long values, the least and the largest of the page
            continue
        if min(unpacked, packed, values) < 0 or values > chunk.values:
            raise Damaged
        total += unpacked
        at += header.at + packed
    return total


def _page(header: Thrift) -> tuple[int, int, int]:
    """Return how many bytes a page has, unpacked and packed, and how many values."""
    found = {_PAGE_UNPACKED: -1, _PAGE_PACKED: -1}
    values = 0
    for number, kind in header.fields():
        if number in found:
            found[number] = header.whole()
        elif number in _PAGES:
            for inner, of in header.fields():
                if inner == 1:
                    values = header.whole()
                else:
                    header.skip(of)
        else:
            header.skip(kind)
    return found[_PAGE_UNPACKED], found[_PAGE_PACKED], values
