"""Columns and tables of pandas and polars: what comes in as one goes out as one.

Neither is imported to find that out: whoever passes a column has loaded its library.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors

_LIBRARIES = ("pandas", "polars")


def _is_a(values: Any, library: str, kind: str) -> bool:
    """Return whether `values` is a Series or a DataFrame of a library."""
    # One that is not loaded, or only half, has made no values.
    return isinstance(values, getattr(sys.modules.get(library), kind, ()))


def library_of(values: Any) -> str | None:
    """Return "pandas" or "polars" if `values` is a column or a table of theirs."""
    for library in _LIBRARIES:
        if _is_a(values, library, "Series") or _is_a(values, library, "DataFrame"):
            return library
    return None


def like(given: Any, array: NDArray[Any]) -> Any:
    """Return an array in the form of what was given, with its index and its names.

    The array has the shape of `given`, and is returned as it is unless that is a column
    or a table. pandas gets a copy: its columns can be written to.
    """
    if _is_a(given, "pandas", "Series"):
        pandas = sys.modules["pandas"]
        return pandas.Series(array.copy(), index=given.index, name=given.name)
    if _is_a(given, "pandas", "DataFrame"):
        pandas = sys.modules["pandas"]
        return pandas.DataFrame(array.copy(), index=given.index, columns=given.columns)
    if _is_a(given, "polars", "Series"):
        return sys.modules["polars"].Series(given.name, array)
    if _is_a(given, "polars", "DataFrame"):
        return sys.modules["polars"].DataFrame(
            array, schema=given.columns, orient="row"
        )
    return array


def column_names(values: Any) -> list[Any] | None:
    """Return what a table calls its columns, and None for anything else.

    Numbers from 0 on, as pandas gives them, and names such as ``column_0``, as polars
    gives them, were given by nobody.
    """
    if not (
        _is_a(values, "pandas", "DataFrame") or _is_a(values, "polars", "DataFrame")
    ):
        return None
    names = list(values.columns)
    unnamed = (list(range(len(names))), [f"column_{i}" for i in range(len(names))])
    return None if names in unnamed else names


def in_this_order(values: Any, names: list[Any]) -> Any:
    """Return a table with its columns in an order, if it has just these names."""
    own = column_names(values)
    if own is None or own == names or sorted(map(str, own)) != sorted(map(str, names)):
        return values
    return values[names]


def index_of(values: Any) -> Any:
    """Return the index of a column or a table of pandas, and None for anything else."""
    if _is_a(values, "pandas", "Series") or _is_a(values, "pandas", "DataFrame"):
        return values.index
    return values if _is_a(values, "pandas", "Index") else None


def check_order(**tables: Any) -> None:
    """Refuse tables with the same rows, or the same columns, in another order.

    They would be matched by position. Only pandas knows rows by name; an index may
    stand for its table. Tables with other rows, or with a row twice, say nothing about
    their order.
    """
    indices = {name: index_of(table) for name, table in tables.items()}
    _check_same_order(indices, "rows")
    _check_same_columns({name: column_names(x) for name, x in tables.items()})


def _check_same_columns(names: Mapping[str, list[Any] | None]) -> None:
    there = {table: columns for table, columns in names.items() if columns is not None}
    for other, own in there.items():
        first, its = next(iter(there.items()))
        if (
            own != its
            and len(own) == len(its) == len(set(own))
            and set(own) == set(its)
        ):
            at = next(i for i, name in enumerate(own) if name != its[i])
            raise errors.in_another_order(
                other, first, "columns", at, (own[at], its[at])
            )


def _check_same_order(indices: Mapping[str, Any], what: str) -> None:
    there = {name: index for name, index in indices.items() if index is not None}
    for other, own in there.items():
        first, its = next(iter(there.items()))
        if len(own) != len(its) or own.equals(its):
            continue
        if own.is_unique and its.is_unique and own.isin(its).all():
            at = int(np.argmax(own.to_numpy() != its.to_numpy()))
            names = own.tolist()[at], its.tolist()[at]
            raise errors.in_another_order(other, first, what, at, names)


def rows_like(given: Any, array: NDArray[Any]) -> Any:
    """Return an array with an entry for each row of a table as a column of that table.

    It is returned as it is unless `given` is a table.
    """
    if _is_a(given, "pandas", "DataFrame"):
        return sys.modules["pandas"].Series(array.copy(), index=given.index)
    if _is_a(given, "polars", "DataFrame"):
        return sys.modules["polars"].Series(values=array)
    return array


def frame_of(columns: Mapping[str, NDArray[Any]], library: str | None) -> Any:
    """Return columns as a DataFrame of a library, or of the first that is installed.

    Numbers that are not finite are missing values, since JSON and charts lack them.
    """
    finite = {name: _or_missing(array) for name, array in columns.items()}
    for name in _LIBRARIES if library is None else (library,):
        if find_spec(name) is not None:
            options = {"nan_to_null": True} if name == "polars" else {}
            return import_module(name).DataFrame(finite, **options)
    raise errors.no_library_of_frames()


def _or_missing(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with NaN for what is infinite."""
    if array.dtype.kind != "f" or not np.isinf(array).any():
        return array
    return np.where(np.isinf(array), np.nan, array)
