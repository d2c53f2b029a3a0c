"""What all results share: words, tables for notebooks, and plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from bestcut._caches import Lean
from bestcut._guesses import no_attribute
from bestcut._tables import library_of
from bestcut.metrics import Metric, RowUtility


class Plain:
    """Something that gives itself as plain Python."""

    def _plain(self) -> dict[str, Any]:
        """Return what `to_dict` makes plain: what is public, as it was decided."""
        names = (field.name for field in fields(self))  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names if name[0] != "_"}

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain Python, for JSON.

        .. versionadded:: 0.3

        Returns
        -------
        dict
            Every public attribute, of numbers, strings, lists and dicts; None for
            numbers that are not finite. Metrics are given by their names, and an
            ``interval`` is that of 90 %.
        """
        return {name: plain(value) for name, value in self._plain().items()}

    if not TYPE_CHECKING:  # for types, what is not there is wrong as ever

        def __getattr__(self, name: str) -> Any:
            """Refuse what is not there; the error of what failed is its own."""
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)
            raise no_attribute(self, name)


class Result(Plain, Lean):
    """A result that shows itself in a notebook, and gives itself as plain Python."""

    def _facts(self) -> list[tuple[str, str]]:
        """Return the names and values to show."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        caption = f"bestcut {type(self).__name__}"
        return html_table(caption, self._facts())


def plain(value: Any) -> Any:
    """Return a value as plain Python that JSON can hold."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Metric | RowUtility):
        return value.name
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if hasattr(value, "tocoo"):
        entries = value.tocoo()
        places = {"row": entries.row.tolist(), "column": entries.col.tolist()}
        return {"shape": list(entries.shape), **places}
    if library_of(value) is not None:
        return plain(value.to_numpy())
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        facts = {
            field.name: plain(getattr(value, field.name)) for field in fields(value)
        }
        return {"kind": type(value).__name__, **facts}
    return str(value)


def html_table(caption: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a table with a name and a value in each row."""
    left = "style='text-align:left'"
    cells = "".join(
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(caption)}</caption>{cells}</table>"


def bounds_in_words(low: int, high: int, n: int) -> str:
    """Say how many of n may be positive; nothing if any number may."""
    if low > 0 and high < n:
        return f"{low} to {high} allowed"
    if high < n:
        return f"at most {high}"
    return f"at least {low}" if low > 0 else ""


def number(value: float, digits: int) -> str:
    """Write a score; large ones, such as money, as people write them."""
    return f"{value:,.2f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def cut_in_words(
    threshold: float | None, n_tied: tuple[int, int], metric: Metric | RowUtility
) -> tuple[str, str]:
    """Say where the cut is: the name of a fact and its value."""
    if threshold is None:
        by_gain = isinstance(metric, RowUtility)
        return ("ranked by", "expected gain") if by_gain else ("threshold", "none")
    value = f"{threshold:.6g}"
    taken, there = n_tied
    if there:
        value += (
            f" (of {there} there {taken} positive: no threshold repeats the labels)"
        )
    return "threshold", value
