"""Check the docstrings from which the reference is made; `make lint` runs this.

Every public function and class has a summary, parameters, returns, what it raises, an
example and a See Also section; their public methods and properties have the first
three. The checks and their codes are numpydoc's [1]_, but for two of our own.

References
----------
.. [1] https://numpydoc.readthedocs.io/en/latest/validation.html
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from types import FunctionType, ModuleType
from typing import Any

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate
from sphinx.ext.autodoc.mock import mock, undecorate

# Packages that are too large to install for reading docstrings.
MOCKED = ("dask", "distributed", "pyarrow", "pyspark", "torch", "triton")
ENGINES = ("torch", "distributed.dask", "distributed.spark")

NOT_ASKED = {
    "ES01",  # a summary of one sentence may be all there is to say
    "GL01",  # the summary begins on the line of the quotes
    "SA04",  # a name in See Also may speak for itself
}
# Methods and properties are on the page of their class, which has the example.
NOT_ASKED_OF_MEMBERS = NOT_ASKED | {"EX01", "SA01"}
# Classes with attributes and no parameters are results, which users do not make.
NOT_ASKED_OF_RESULTS = NOT_ASKED | {"PR01"}

# Functions that refuse nothing.
RAISE_NOTHING = {"bestcut.metrics.names"}


@contextmanager
def forgotten() -> Iterator[None]:
    """Forget what is imported inside: it was made with engines that are not there."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        package, _, module = name.rpartition(".")
        if package in before:
            vars(sys.modules[package]).pop(module, None)
    for name in set(sys.modules) - before:
        del sys.modules[name]


def public_modules() -> list[ModuleType]:
    """Return the modules whose names users may import, those of engines last."""
    import bestcut
    from bestcut import _extras

    parts = [x for x in bestcut.__all__ if inspect.ismodule(getattr(bestcut, x))]
    parts += [x for x in _extras.NEEDS if x != "torch"]
    modules = [bestcut, *(importlib.import_module(f"bestcut.{x}") for x in parts)]
    with mock(list(MOCKED)), forgotten():
        return modules + [importlib.import_module(f"bestcut.{x}") for x in ENGINES]


@cache
def public_names() -> dict[str, Any]:
    """Return every public function, class and constant by its shortest name.

    What several modules export is listed once, under the first of them.
    """
    found: dict[str, Any] = {}
    seen: list[Any] = []
    for module in public_modules():
        for name in module.__all__:
            thing = undecorate(getattr(module, name))  # by decorators of engines
            if inspect.ismodule(thing) or any(thing is x for x in seen):
                continue
            seen.append(thing)
            found[f"{module.__name__}.{name}"] = thing
    return found


def listed_attributes(thing: Any) -> list[str]:
    """Return the attributes that a docstring lists, some of them side by side."""
    names = [x.name for x in get_doc_object(thing)["Attributes"]]
    return [name for side_by_side in names for name in side_by_side.split(", ")]


def members(thing: Any) -> list[str]:
    """Return the methods and properties to describe on the page of a class.

    Those from classes that are not public are described with it. Of a class that is
    made from a public one, such as `bestcut.metrics.Metric`, only what no other class
    has is described: the rest are hooks, or on the page of the public one.
    """
    if not inspect.isclass(thing):
        return []
    first, *above = [x for x in thing.__mro__ if x.__module__.startswith("bestcut.")]
    names = dict.fromkeys(name for owner in (*above, first) for name in vars(owner))
    if any(x in public_names().values() for x in above):
        names = {x: None for x in vars(first) if not any(x in vars(y) for y in above)}
    listed = listed_attributes(thing)
    kinds = (property, cached_property, classmethod, staticmethod, FunctionType)
    return [
        name
        for name in names
        if not name.startswith("_")
        and name not in listed
        and isinstance(inspect.getattr_static(thing, name), kinds)
    ]


def attributes(thing: Any) -> list[str]:
    """Return what a class has: attributes, properties and methods."""
    return [*listed_attributes(thing), *members(thing)]


def is_result(thing: Any) -> bool:
    """Return whether a class is a result: it has attributes, but no parameters."""
    doc = get_doc_object(thing)
    return bool(doc["Attributes"]) and not doc["Parameters"]


def faults(path: str, thing: Any) -> Iterator[tuple[str, str]]:
    """Yield a code and a sentence for whatever is wrong with one public name."""
    doc = get_doc_object(thing)
    waived = NOT_ASKED_OF_RESULTS if is_result(thing) else NOT_ASKED
    yield from (x for x in validate(doc)["errors"] if x[0] not in waived)
    refuses = inspect.isfunction(thing) or doc["Parameters"]
    if refuses and not doc["Raises"] and path not in RAISE_NOTHING:
        yield "BC01", "No Raises section found"
    if doc["Notes"] and "[1]_" in "\n".join(doc["Notes"]) and not doc["References"]:
        yield "BC02", "Notes cite a source, but there is no References section"


def all_faults() -> list[str]:
    """Return a line for everything that is wrong with the public docstrings."""
    lines = []
    for path, thing in public_names().items():
        if not callable(thing):
            continue
        lines += [f"{path}: {code} {said}" for code, said in faults(path, thing)]
        for name in members(thing):
            found = validate(get_doc_object(getattr(thing, name)))["errors"]
            lines += [
                f"{path}.{name}: {code} {said}"
                for code, said in found
                if code not in NOT_ASKED_OF_MEMBERS
            ]
    return lines


if __name__ == "__main__":
    lines = all_faults()
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.exit(bool(lines))
