"""Polynomials of the four cells of a confusion matrix, in exact arithmetic.

Cells are nowhere negative, so a polynomial without negative coefficients is nowhere
negative either: that is what proofs by algebra rest on.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from bestcut._errors import NotFollowedError
from bestcut.metrics._moves import Move

# A product of two polynomials with so many pairs of terms takes about 10 milliseconds.
_MOST_PAIRS = 20_000

Number = int | Fraction
# Coefficients by the exponents of the cells.
Polynomial = dict[tuple[int, ...], Number]

CONSTANT = (0, 0, 0, 0)


def variable(cell: int) -> Polynomial:
    """Return the polynomial that is one of the cells."""
    return {tuple(int(cell == i) for i in range(4)): 1}


def exactly(x: Any) -> Number:
    """Return a number as the fraction that it is."""
    if np.ndim(x):
        raise NotFollowedError
    number = Fraction(x) if isinstance(x, (int, Fraction)) else Fraction(float(x))
    return int(number) if number.denominator == 1 else number


def plus(x: Polynomial, y: Polynomial, factor: Number = 1) -> Polynomial:
    """Return x + factor * y."""
    out = dict(x)
    for exponents, coefficient in y.items():
        total = out.get(exponents, 0) + factor * coefficient
        if total:
            out[exponents] = total
        else:
            out.pop(exponents, None)
    return out


def times(x: Polynomial, y: Polynomial) -> Polynomial:
    """Return x * y, unless that is too long."""
    if len(x) * len(y) > _MOST_PAIRS:
        raise NotFollowedError
    out: Polynomial = {}
    for (a, b, c, d), p in x.items():
        for (e, f, g, h), q in y.items():
            exponents = (a + e, b + f, c + g, d + h)
            out[exponents] = out.get(exponents, 0) + p * q
    return {exponents: p for exponents, p in out.items() if p}


def along(x: Polynomial, move: Move) -> Polynomial:
    """Return the derivative of a polynomial along a move."""
    out: Polynomial = {}
    for exponents, coefficient in x.items():
        for i, step in enumerate(move):
            if step and exponents[i]:
                lower = (*exponents[:i], exponents[i] - 1, *exponents[i + 1 :])
                term = step * exponents[i] * coefficient
                out[lower] = out.get(lower, 0) + term
    return {exponents: p for exponents, p in out.items() if p}


def is_nonnegative(x: Polynomial) -> bool:
    """Return whether there is no negative coefficient."""
    return all(coefficient > 0 for coefficient in x.values())


def value_at(x: Polynomial, cells: list[int]) -> Number:
    """Return the value at a confusion matrix."""
    total: Number = 0
    for exponents, p in x.items():
        total += p * math.prod(c**e for c, e in zip(cells, exponents, strict=True))
    return total
