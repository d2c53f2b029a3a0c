"""Every check of a collection and of the names of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bestcut import _errors as errors
from bestcut._validation import check_kind


def check_columns(given: Any, known: Iterable[str], *, name: str) -> None:
    """Refuse a column that is not there."""
    known = list(known)
    if given not in known:
        raise errors.unknown_name(name, given, map(str, known))


def check_by(by: Any, known: Sequence[str], facts: Sequence[str]) -> list[str]:
    """Return the columns that name the group of a row."""
    columns = [by] if isinstance(by, str) else by
    if not isinstance(columns, list | tuple) or not columns:
        raise errors.not_column_names(by)
    for column in columns:
        check_columns(column, known, name="by")
        if column in facts:
            raise errors.column_of_facts(column)
    return list(columns)


def check_new_column(
    name: Any, known: Iterable[str], fold: Callable[[str], str] = str
) -> None:
    """Refuse to write over a column, or over one that `fold` makes equal."""
    check_kind(name, str, name="name", called="a string")
    if fold(name) in map(fold, known):
        raise errors.column_taken(name)
