"""Sums of polynomials times powers: what algebra makes of a formula of the cells.

`Terms` go through a formula in the place of an array, in exact arithmetic. Division and
roots are powers of polynomials that are positive. What is neither arithmetic nor a
power, or cannot be written so, is not followed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from bestcut._errors import NotFollowedError
from bestcut.metrics._following import FollowsNumPy
from bestcut.metrics._polynomial import (
    CONSTANT,
    Number,
    Polynomial,
    exactly,
    is_nonnegative,
    plus,
    times,
)

# Floats have decimal exponents up to 308. A count of instances has 16 digits at most,
# and a polynomial fewer than 1000 terms.
_MOST_DIGITS = 300

# A polynomial that can be hashed, and powers of such polynomials: these are positive,
# without negative coefficients.
Key = frozenset[tuple[tuple[int, ...], Number]]
Powers = frozenset[tuple[Key, Fraction]]

NO_POWERS: Powers = frozenset()


class Needs:
    """What must not be 0 for the algebra to say something.

    Either such polynomials are collected, or they have to be positive by themselves.
    """

    def __init__(self, *, collect: bool) -> None:
        self.collect = collect
        self.positive: set[Key] = set()

    def add(self, key: Key) -> None:
        """Note that a polynomial without negative coefficients must not be 0."""
        if self.collect:
            self.positive.add(key)
        elif not dict(key).get(CONSTANT):
            raise NotFollowedError


class Terms(FollowsNumPy):
    """A sum of terms, each a polynomial times powers of positive polynomials.

    Whatever is not understood raises NotFollowedError.
    """

    def __init__(self, terms: dict[Powers, Polynomial], needs: Needs) -> None:
        self.terms = {powers: p for powers, p in terms.items() if p}
        self.needs = needs
        if any(_digits(*term) > _MOST_DIGITS for term in self.terms.items()):
            # A float may overflow, and the score is no number then.
            raise NotFollowedError

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        """Do what NumPy would do, with numbers as constant polynomials."""
        like = map(self.like, inputs)
        return super().__array_ufunc__(ufunc, method, *like, **kwargs)

    def like(self, x: Any) -> Terms:
        """Return a number as a constant polynomial."""
        if isinstance(x, Terms):
            return x
        constant = plus({}, {CONSTANT: exactly(x)})  # nothing at all if it is 0
        return Terms({NO_POWERS: constant}, self.needs)

    def only_term(self) -> tuple[Powers, Polynomial]:
        """Return the term of what has only one."""
        if len(self.terms) != 1:
            raise NotFollowedError
        return next(iter(self.terms.items()))


def _decimal_exponent(x: Number) -> float:
    """Return log10 |x|, for numbers beyond the range of floats too."""
    return math.log10(abs(x.numerator)) - math.log10(x.denominator)


def _digits(powers: Powers, polynomial: Polynomial) -> float:
    """Bound the decimal exponent of a term and of what it is made of."""
    digits = 0.0
    whole: Key = frozenset(polynomial.items())
    for factor, p in ((whole, Fraction(1)), *powers):
        size = max(abs(_decimal_exponent(x)) for _, x in factor)
        degree = max(sum(exponents) for exponents, _ in factor)
        digits += abs(float(p)) * (size + 16 * degree + 3)
    return digits


def _merged(powers: Iterable[tuple[Key, Fraction]]) -> Powers:
    merged: dict[Key, Fraction] = {}
    for key, p in powers:
        merged[key] = merged.get(key, Fraction(0)) + p
    return frozenset((key, p) for key, p in merged.items() if p)


def sum_of(x: Terms, y: Terms) -> Terms:
    """Add, over a common denominator where the powers differ by whole numbers."""
    terms = dict(x.terms)
    for powers, polynomial in y.terms.items():
        for others in terms:
            shared = _shared(powers, others)
            if shared is not None:
                one = _over(polynomial, powers, shared)
                terms[shared] = plus(_over(terms.pop(others), others, shared), one)
                break
        else:
            terms[powers] = polynomial
    return Terms(terms, x.needs)


def _shared(x: Powers, y: Powers) -> Powers | None:
    """Return the lower of the powers of two terms, if they differ by whole numbers."""
    first, second = dict(x), dict(y)
    lower = []
    for key in first.keys() | second.keys():
        p, q = first.get(key, Fraction(0)), second.get(key, Fraction(0))
        if (p - q).denominator != 1:
            return None
        lower.append((key, min(p, q)))
    return _merged(lower)


def _over(polynomial: Polynomial, powers: Powers, shared: Powers) -> Polynomial:
    """Return the polynomial that stands before the shared powers."""
    below = ((key, -p) for key, p in shared)
    for key, p in _merged((*powers, *below)):
        for _ in range(int(p)):
            polynomial = times(polynomial, dict(key))
    return polynomial


def opposite(x: Terms) -> Terms:
    """Return -x."""
    return Terms({q: plus({}, p, -1) for q, p in x.terms.items()}, x.needs)


def product_of(x: Terms, y: Terms) -> Terms:
    """Multiply term by term."""
    out = Terms({}, x.needs)
    for (q, p), (s, r) in product(x.terms.items(), y.terms.items()):
        term = Terms({_merged((*q, *s)): times(p, r)}, x.needs)
        out = sum_of(out, term)
    return out


def inverse(x: Terms) -> Terms:
    """Return 1 / x for a single term of one sign, and note that it must not be 0."""
    powers, polynomial = x.only_term()
    sign = 1
    if not is_nonnegative(polynomial):
        sign, polynomial = -1, plus({}, polynomial, -1)
        if not is_nonnegative(polynomial):
            raise NotFollowedError
    key = frozenset(polynomial.items())
    for other, _ in (*powers, (key, 1)):
        x.needs.add(other)
    flipped = [(other, -p) for other, p in powers]
    if polynomial.keys() == {CONSTANT}:
        constant = Fraction(sign) / polynomial[CONSTANT]
        return Terms({_merged(flipped): {CONSTANT: constant}}, x.needs)
    flipped.append((key, Fraction(-1)))
    return Terms({_merged(flipped): {CONSTANT: sign}}, x.needs)


def _to_power(x: Terms, exponent: Terms) -> Terms:
    powers, number = exponent.only_term()
    if powers or number.keys() != {CONSTANT}:
        raise NotFollowedError
    p = Fraction(number[CONSTANT])
    if p < 0:
        return inverse(_to_power(x, opposite(exponent)))
    if p.denominator == 1 and p <= 8:
        out = x
        for _ in range(int(p) - 1):
            out = product_of(out, x)
        return out
    if not x.terms:
        return x
    powers, polynomial = x.only_term()
    if not is_nonnegative(polynomial):
        raise NotFollowedError
    raised = [(key, q * p) for key, q in powers]
    raised.append((frozenset(polynomial.items()), p))
    return Terms({_merged(raised): {CONSTANT: 1}}, x.needs)


def _is_zero(x: Terms, y: Terms) -> bool:
    """Say whether two are equal everywhere or nowhere; NotFollowedError if neither."""
    gap = sum_of(x, opposite(y))
    if not gap.terms:
        return True
    if gap.needs.collect:
        raise NotFollowedError
    inverse(gap)
    return False


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    return x if bool(condition) else y


def _is_nowhere_zero(x: Terms) -> bool:
    if x.needs.collect:
        inverse(x)  # notes what must not be 0
        return True
    return not _is_zero(x, x.like(0.0))


Terms.rules = {
    np.add: sum_of,
    np.subtract: lambda x, y: sum_of(x, opposite(y)),
    np.negative: opposite,
    np.positive: lambda x: x,
    np.multiply: product_of,
    np.divide: lambda x, y: product_of(x, inverse(y)),
    np.reciprocal: inverse,
    np.square: lambda x: product_of(x, x),
    np.sqrt: lambda x: _to_power(x, x.like(0.5)),
    np.power: _to_power,
    np.float_power: _to_power,
    np.equal: lambda x, y: np.bool_(_is_zero(x, y)),
    np.not_equal: lambda x, y: np.bool_(not _is_zero(x, y)),
    np.where: _chosen,
    np.all: _is_nowhere_zero,
}
