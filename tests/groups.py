"""The fast group of tests, which `make test` runs, and the slow one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def slow(*values: Any, id: str | None = None) -> Any:
    """Return what a test is parametrized with in the slow group alone."""
    return pytest.param(*values, marks=pytest.mark.slow, id=id)


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
