"""Check the docstrings from which the reference is made; `make lint` runs this.

Every public function and class has a summary, parameters, returns, what it raises, an
example and a See Also section; their public methods and properties have the first
three. Most of the checks, and their codes, are numpydoc's [1]_. The codes of our own
begin with BC.

References
----------
.. [1] https://numpydoc.readthedocs.io/en/latest/validation.html
"""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import inspect
import re
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from itertools import chain
from types import ModuleType
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

# What functions return, what classes declare, and companions of a function: with the
# others of their module in the reference, but not in what it exports.
RETURNED = {
    "bestcut": ("EmpiricalThreshold", "Surprise"),
    "bestcut.calibration": ("CalibrationBin",),
    "bestcut.counts": ("WindowedLaw", "poisson_binomial_window", "remove"),
    "bestcut.goals": ("Condition",),
    "bestcut.metrics": ("Trait",),
    "bestcut.scorers": ("ExpectedScorer",),
}

# Functions that refuse nothing.
RAISE_NOTHING = {"bestcut.metrics.names"}
# Names that examples need not make: every shell of Spark has its session.
GIVEN = {"spark"}

_LITERAL = re.compile(r"``.*?``", re.DOTALL)
_CITED = re.compile(r"\[(\d+)\]_")
_SOURCE = re.compile(r"^\.\. \[(\d+)\]", re.MULTILINE)


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
        for name in (*module.__all__, *RETURNED.get(module.__name__, ())):
            thing = undecorate(getattr(module, name))  # by decorators of engines
            if inspect.ismodule(thing) or any(thing is x for x in seen):
                continue
            seen.append(thing)
            found[f"{module.__name__}.{name}"] = thing
    return found


def described(thing: Any) -> Any:
    """Return a docstring in its parts, only with what is written in it."""
    # By itself, numpydoc lists properties as attributes.
    return get_doc_object(thing, config={"show_class_members": False})


def listed_attributes(thing: Any) -> list[str]:
    """Return the attributes that a docstring lists, some of them side by side."""
    names = [x.name for x in described(thing)["Attributes"]]
    return [name for side_by_side in names for name in side_by_side.split(", ")]


def members(thing: Any) -> list[str]:
    """Return the methods and properties to describe on the page of a class.

    Those from classes that are not public are described with it. Of a class that is
    made from a public one, such as `bestcut.metrics.Metric`, only what no other class
    has is described: the rest are hooks, or on the page of the public one.
    """
    if not inspect.isclass(thing):
        return []
    above = [x for x in thing.__mro__[1:] if x.__module__.startswith("bestcut.")]
    names = dict.fromkeys(name for owner in (*above, thing) for name in vars(owner))
    if any(x in public_names().values() for x in above):
        names = {x: None for x in vars(thing) if not any(x in vars(y) for y in above)}
    listed = listed_attributes(thing)
    return [
        name
        for name in names
        if (name == "__call__" or not name.startswith("_"))
        and name not in listed
        and _is_member(getattr(thing, name), thing)
    ]


def _is_member(value: Any, thing: type) -> bool:
    """Return whether it is a property, or a method that no other package has added.

    Scikit-learn adds some, and hides others from models that cannot have them.
    """
    if isinstance(value, property | cached_property):
        return True
    package = thing.__module__.partition(".")[0]
    return inspect.isroutine(value) and value.__module__.startswith(package)


def attributes(thing: Any) -> list[str]:
    """Return what a class has: attributes, properties and methods."""
    return [*listed_attributes(thing), *members(thing)]


def is_result(thing: Any) -> bool:
    """Return whether a class is a result: it has attributes, but no parameters."""
    doc = described(thing)
    return bool(doc["Attributes"]) and not doc["Parameters"]


def faults(path: str, thing: Any) -> Iterator[tuple[str, str]]:
    """Yield a code and a sentence for whatever is wrong with one public name."""
    doc = described(thing)
    waived = NOT_ASKED_OF_RESULTS if is_result(thing) else NOT_ASKED
    yield from (x for x in validate(doc)["errors"] if x[0] not in waived)
    refuses = inspect.isfunction(thing) or doc["Parameters"]
    if refuses and not doc["Raises"] and path not in RAISE_NOTHING:
        yield "BC01", "No Raises section found"
    yield from faults_of_sources(thing)
    yield from faults_of_examples(thing)


def faults_of_member(thing: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield a code and a sentence for whatever is wrong with a method or property."""
    member = getattr(thing, name)
    member = getattr(member, "__func__", member)  # numpydoc looks less at bound ones
    found = validate(get_doc_object(member))["errors"]
    yield from (x for x in found if x[0] not in NOT_ASKED_OF_MEMBERS)
    yield from faults_of_sources(member)
    yield from faults_of_examples(member)


def faults_of_sources(thing: Any) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the numbers of sources, which Sphinx would warn of."""
    text = _LITERAL.sub("", inspect.getdoc(thing) or "")
    cited, listed = set(_CITED.findall(text)), set(_SOURCE.findall(text))
    for number in sorted(cited - listed):
        yield "BC02", f"Source [{number}] is cited, but is not in References"
    for number in sorted(listed - cited):
        yield "BC03", f"Source [{number}] is in References, but is not cited"


def faults_of_examples(thing: Any) -> Iterator[tuple[str, str]]:
    """Yield the names that a reader who copies the examples would not have."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
    nodes = list(ast.walk(ast.parse("".join(x.source for x in examples))))
    names = [x for x in nodes if isinstance(x, ast.Name)]
    made = {x.id for x in names if isinstance(x.ctx, ast.Store)}
    made |= {x.arg for x in nodes if isinstance(x, ast.arg)}
    made |= {x.name for x in nodes if isinstance(x, ast.ExceptHandler) and x.name}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            made |= {x.asname or x.name.partition(".")[0] for x in node.names}
    there = made | set(dir(builtins)) | GIVEN
    for name in dict.fromkeys(x.id for x in names if x.id not in there):
        yield "BC05", f"Examples use {name}, which is not imported"


def faults_of_links(thing: Any, known: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of ours in See Also that are not known, and lead nowhere."""
    for others, _ in get_doc_object(thing)["See Also"]:
        for other, _ in others:
            if other.startswith("bestcut") and other not in known:
                yield "BC04", f"See Also has {other}, which is not a public name"


def all_faults() -> list[str]:
    """Return a line for everything that is wrong with the public docstrings."""
    lines = []
    known = public_names()
    for path, thing in known.items():
        if not callable(thing):
            continue
        found = chain(faults(path, thing), faults_of_links(thing, known))
        lines += [f"{path}: {code} {said}" for code, said in found]
        for name in members(thing):
            found = faults_of_member(thing, name)
            lines += [f"{path}.{name}: {code} {said}" for code, said in found]
    return lines


if __name__ == "__main__":
    lines = all_faults()
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.exit(bool(lines))
