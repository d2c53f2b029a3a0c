"""Limits of what a file may hold, which no honest file meets.

A small file can be made that needs a thousand times its size in memory or on the disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from bestcut._validation import check_whole_number
from bestcut.files._errors import beyond, unknown_limit

_CELLS = 1 << 11  # rows that may have as many different keys as there may be columns
SMALL = 1 << 26  # bytes that a part of a file may always have, unpacked


@dataclass(frozen=True)
class Limits:
    """How large a file may be in ways that its size does not show.

    Attributes
    ----------
    columns : int
        How many columns it may have.
    row : int
        How many bytes a row of text may have; rows up to a piece are always allowed.
    unpacked : int
        How many times as large it may be, unpacked, as on the disk; and so may each
        part of it that is unpacked at once. What has at most `SMALL` bytes is always
        allowed.
    footer : int
        How many bytes a Parquet or Arrow file may take to say what it holds.
    """

    columns: int = 1 << 14
    row: int = 1 << 23
    unpacked: int = 200
    footer: int = 1 << 24

    @classmethod
    def of(cls, given: Mapping[str, int] | None) -> Limits:
        """Return the limits with those that a user gave in the place of the usual."""
        names = [each.name for each in fields(cls)]
        chosen = {}
        for name, most in (given or {}).items():
            if name not in names:
                raise unknown_limit(name, names)
            chosen[name] = check_whole_number(
                most, name=f"limits[{name!r}]", least=1, cure="Leave it out."
            )
        return cls(**chosen)

    def check_columns(self, count: int, where: str) -> None:
        """Refuse too many columns."""
        if count > self.columns:
            what = f"has {count:,} columns, and {self.columns:,} are allowed"
            raise beyond(where, what, "columns")

    def check_keys(self, count: int, rows: int, where: str) -> None:
        """Refuse objects with so many different keys that tables of them are empty."""
        self.check_columns(count, where)
        if count * rows > _CELLS * self.columns:
            what = f"has {count:,} different keys in {rows:,} rows"
            raise beyond(where, what, "columns")

    def check_footer(self, size: int, where: str) -> None:
        """Refuse a footer that is too long."""
        if size > self.footer:
            what = f"has a footer of {size:,} bytes, and {self.footer:,} are allowed"
            raise beyond(where, what, "footer")

    def check_unpacked(self, unpacked: int, packed: int, where: str) -> None:
        """Refuse more than so many times as many bytes as are packed."""
        if unpacked > max(SMALL, self.unpacked * packed):
            what = (
                f"unpacks from {packed:,} bytes to {unpacked:,} or more, and "
                f"{self.unpacked:,} times as many are allowed"
            )
            raise beyond(where, what, "unpacked")


USUAL = Limits()
