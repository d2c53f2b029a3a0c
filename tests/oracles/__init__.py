"""Slow, obviously right answers in exact arithmetic, and how to compare with them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

EPS = Fraction(float(np.finfo(np.float64).eps))
SMALLEST = Fraction(5e-324)


def error_of(actual: float, exact: Fraction) -> Fraction:
    """Return the absolute error, computed without rounding."""
    return abs(Fraction(float(actual)) - exact)


def assert_near(
    actual: Any,
    exact: Fraction | Iterable[Fraction],
    *,
    rtol: Fraction | float = 0,
    atol: Fraction | float = 0,
) -> None:
    """Raise unless each float is within ``atol + rtol * |exact|`` of its fraction.

    The comparison itself is exact, so a tolerance of a few units in the last place
    means what it says. NaN and infinity are never near anything.
    """
    values = np.atleast_1d(np.asarray(actual, dtype=np.float64))
    truths = [exact] if isinstance(exact, int | Fraction) else list(exact)
    if values.shape != (len(truths),):
        msg = f"shape {values.shape} where {len(truths)} exact values were given"
        raise AssertionError(msg)
    for i, (value, truth) in enumerate(zip(values.tolist(), truths, strict=True)):
        if not math.isfinite(value):
            msg = f"entry {i} is {value}, not a number near {float(truth)!r}"
            raise AssertionError(msg)
        allowed = Fraction(atol) + Fraction(rtol) * abs(truth)
        error = error_of(value, truth)
        if not error <= allowed:
            msg = (
                f"entry {i} is {value!r} instead of {float(truth)!r}: off by "
                f"{float(error):.3g}, {float(allowed):.3g} allowed"
            )
            raise AssertionError(msg)
