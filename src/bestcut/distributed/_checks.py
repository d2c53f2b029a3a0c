"""Every check of a collection and of the names of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from bestcut import _errors as errors
from bestcut._validation import check_kind

_P = ParamSpec("_P")
_T = TypeVar("_T")


def refuses_what_only(
    local: Callable[..., Any],
) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Return a decorator: what only the decision in memory takes is refused by name."""
    there = signature(local).parameters.keys()

    def decorated(decide: Callable[_P, _T]) -> Callable[_P, _T]:
        here = signature(decide).parameters.keys()

        @wraps(decide)
        def checked(*args: _P.args, **given: _P.kwargs) -> _T:
            for name in given:
                if name in there and name not in here:
                    raise errors.only_in_memory(name, local.__name__)
            return decide(*args, **given)

        return checked

    return decorated


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
