"""How much an Arrow file unpacks to, and whether it holds the rows that it says.

polars believes the numbers of a file: some damaged ones end the process, since there
is not so much memory. So they are looked at first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

from bestcut.files._errors import arrow_stream
from bestcut.files._input import Input
from bestcut.files._thrift import Damaged

_MAGIC, _GOES_ON = b"ARROW1", b"\xff" * 4
_AROUND = 100  # bytes that are neither rows nor schema
_VALUE = 8  # bytes that a value takes in memory, though it may take none in the file
_BLOCK, _BUFFER, _NODE = (struct.Struct(form) for form in ("<qi4xq", "<qq", "<qq"))
_LONG = struct.Struct("<q")
_DEEPEST = 32  # types in types
# The numbers of fields in the format's definition, `Message.fbs` and the others.
_SCHEMA, _DICTIONARIES, _BATCHES = 1, 2, 3
_HEADER = 2
_DATA = 1
_LENGTH, _NODES, _BUFFERS, _COMPRESSION = 0, 1, 2, 3
_FIELDS, _CHILDREN = 1, 5


class FlatTable:
    """A table of a flatbuffer: fields that are found by their numbers."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self._slots = at - self.number("<i", at)
        self._width = self.number("<H", self._slots)

    @classmethod
    def root(cls, data: bytes) -> FlatTable:
        """Return the table that the bytes begin with."""
        return cls(data, _number("<I", data, 0))

    def number(self, form: str, at: int) -> int:
        """Return a number at a place."""
        return _number(form, self.data, at)

    def place(self, field: int) -> int:
        """Return where a field is, or 0 if it is not there."""
        slot = 4 + 2 * field
        if slot + 2 > self._width:
            return 0
        offset = self.number("<H", self._slots + slot)
        return self.at + offset if offset else 0

    def table(self, field: int) -> FlatTable | None:
        """Return a table inside this one, if it is there."""
        place = self.place(field)
        return FlatTable(self.data, place + self.number("<I", place)) if place else None

    def vector(self, field: int, width: int) -> tuple[int, int]:
        """Return where a list begins, and how many items of a width it has."""
        place = self.place(field)
        if not place:
            return 0, 0
        start = place + self.number("<I", place)
        count = self.number("<I", start)
        if start + 4 + width * count > len(self.data):
            raise Damaged
        return start + 4, count

    def structs(self, field: int, form: struct.Struct) -> Iterator[tuple[Any, ...]]:
        """Yield the items of a list of numbers."""
        start, count = self.vector(field, form.size)
        return form.iter_unpack(self.data[start : start + form.size * count])

    def tables(self, field: int) -> Iterator[FlatTable]:
        """Yield the items of a list of tables."""
        start, count = self.vector(field, 4)
        for at in range(start, start + 4 * count, 4):
            yield FlatTable(self.data, at + self.number("<I", at))


def _number(form: str, data: bytes, at: int) -> int:
    if not 0 <= at <= len(data) - struct.calcsize(form):
        raise Damaged
    return int(struct.unpack_from(form, data, at)[0])


def check_arrow(given: Input) -> int:
    """Return how many rows a file has; refuse one that contradicts itself.

    A file that would unpack to far more than it has on the disk is refused, too.
    """
    rows = total = 0
    with given.opened() as file:
        if file.read(len(_GOES_ON)) == _GOES_ON:
            raise arrow_stream(given.where)
        data = _footer(file, given)
        footer = FlatTable.root(data)
        schema = footer.table(_SCHEMA)
        if schema is None:
            raise Damaged
        _check_columns(schema, given)
        batches, words = (
            list(footer.structs(x, _BLOCK)) for x in (_BATCHES, _DICTIONARIES)
        )
        held = sum(abs(x) for block in batches + words for x in block[1:])
        if held > given.size:
            raise Damaged  # blocks overlap, and each would be looked at
        # Without rows, the rest is the schema, twice: before the footer and in it.
        if not batches and given.size - held > 2 * len(data) + _AROUND:
            raise Damaged
        batch: FlatTable | None
        for block in batches:
            batch = _message(file, given, block)
            rows += _rows(batch)
            total += _unpacked(file, batch, block, given)
        for block in words:
            batch = _message(file, given, block).table(_DATA)
            if batch is not None:
                total += _unpacked(file, batch, block, given)
    given.limits.check_unpacked(total, given.size, given.where)
    return rows


def _footer(file: BinaryIO, given: Input) -> bytes:
    end = len(_MAGIC) + 4
    if given.size < 2 * end:
        raise Damaged
    file.seek(given.size - end)
    tail = file.read(end)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > given.size - end:
        raise Damaged
    given.limits.check_footer(length, given.where)
    file.seek(given.size - end - length)
    return file.read(length)


def _check_columns(schema: FlatTable, given: Input) -> None:
    """Refuse too many columns, and columns inside columns without end.

    Columns are counted before they are looked at: some hundred bytes can say that two
    columns are the same one, which holds the next two, and so on.
    """
    count, level = 0, [schema]
    for field in (_FIELDS, *[_CHILDREN] * _DEEPEST):
        count += sum(each.vector(field, 4)[1] for each in level)
        given.limits.check_columns(count, given.where)
        level = [inner for each in level for inner in each.tables(field)]
    if level:
        raise Damaged


def _message(file: BinaryIO, given: Input, block: tuple[int, int, int]) -> FlatTable:
    """Return what comes before the body of some rows."""
    at, size, body = block
    if min(at, size, body) < 0 or at + size + body > given.size:
        raise Damaged
    given.limits.check_footer(size, given.where)
    file.seek(at)
    data = file.read(size)
    header = FlatTable.root(data[8 if data[:4] == _GOES_ON else 4 :]).table(_HEADER)
    if header is None:
        raise Damaged
    return header


def _rows(batch: FlatTable) -> int:
    """Return how many rows there are, which the first column must have, too."""
    place = batch.place(_LENGTH)
    rows = batch.number("<q", place) if place else 0
    first = next(batch.structs(_NODES, _NODE), (rows,))[0]
    if rows < 0 or rows != first:
        raise Damaged
    return rows


def _unpacked(
    file: BinaryIO, batch: FlatTable, block: tuple[int, int, int], given: Input
) -> int:
    """Return how many bytes some rows have, unpacked; all must be in the file."""
    at, size, body = block
    start = at + size
    total: int = sum(
        _VALUE * max(length, 0) for length, _ in batch.structs(_NODES, _NODE)
    )
    is_packed = batch.place(_COMPRESSION) > 0
    for offset, length in batch.structs(_BUFFERS, _BUFFER):
        if min(offset, length) < 0 or offset + length > body:
            raise Damaged
        if is_packed and length:
            file.seek(start + offset)
            (unpacked,) = _LONG.unpack(file.read(_LONG.size).ljust(_LONG.size, b"\0"))
            if unpacked < -1:
                raise Damaged
            total += max(unpacked, 0)
    given.limits.check_unpacked(total, body, given.where)
    return total
