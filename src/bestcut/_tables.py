"""Columns and tables of pandas and polars: what comes in as one goes out as one.

Neither is imported to find that out: whoever passes a column has loaded its library.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

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
    """Return columns as a DataFrame of a library, or of the first that is installed."""
    for name in _LIBRARIES if library is None else (library,):
        if find_spec(name) is not None:
            return import_module(name).DataFrame(dict(columns))
    raise errors.no_library_of_frames()
