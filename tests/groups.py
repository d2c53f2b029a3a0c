"""The fast group of tests, which `make test` runs, and the slow one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import pytest


def slow(*values: Any, id: str | None = None) -> Any:
    """Return what a test is parametrized with in the slow group alone."""
    return pytest.param(*values, marks=pytest.mark.slow, id=id)


def one_in(step: int, names: str, *values: Iterable) -> pytest.MarkDecorator:
    """Parametrize by all combinations, of which one in `step` is fast.

    Every value is in one that is fast, as long as it is combined with `step` others.
    The keys of a mapping are the ids of its values.
    """
    named = (
        x.items() if isinstance(x, Mapping) else [(getattr(v, "name", v), v) for v in x]
        for x in values
    )
    params = []
    for chosen in product(*map(enumerate, named)):
        parts, marks = [pair for _, pair in chosen], ()
        if sum(i for i, _ in chosen) % step:
            marks = pytest.mark.slow
        name = "-".join(str(key) for key, _ in parts)
        params.append(pytest.param(*(x for _, x in parts), marks=marks, id=name))
    return pytest.mark.parametrize(names, params)


def few_and_many(few: int, many: int, given: Callable) -> Callable:
    """Return a decorator: a few examples are fast, and many are slow.

    `given` is what ``hypothesis.given`` returns for its strategies.
    """
    from hypothesis import settings  # which is not where the engines are tested

    def decorated(check: Callable) -> Callable:
        @pytest.mark.parametrize("examples", [few, slow(many)])
        def test(examples: int) -> None:
            settings(max_examples=examples, deadline=None)(given(check))()

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorated
