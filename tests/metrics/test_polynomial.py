"""Polynomials of the cells are exact."""

from fractions import Fraction

import numpy as np
import pytest

from bestcut._errors import NotFollowedError
from bestcut.metrics._moves import MORE_AGREEMENT, MORE_TP
from bestcut.metrics._polynomial import (
    along,
    exactly,
    is_nonnegative,
    plus,
    times,
    value_at,
    variable,
)

CELLS = [3, 0, 7, 2]


def random_polynomial(rng, terms=6):
    out = {}
    for _ in range(terms):
        exponents = tuple(int(x) for x in rng.integers(0, 4, 4))
        out[exponents] = Fraction(int(rng.integers(1, 9)), int(rng.choice([-3, 1, 7])))
    return out


def test_arithmetic_is_that_of_the_values():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x, y = random_polynomial(rng), random_polynomial(rng)
        a, b = value_at(x, CELLS), value_at(y, CELLS)
        assert value_at(plus(x, y, -2), CELLS) == a - 2 * b
        assert value_at(times(x, y), CELLS) == a * b
        assert plus(x, x, -1) == {}


@pytest.mark.parametrize("move", [*MORE_TP, *MORE_AGREEMENT])
def test_the_slope_along_a_move_is_a_derivative(move):
    rng = np.random.default_rng(1)
    step = Fraction(1, 10**12)
    for _ in range(20):
        x = random_polynomial(rng)
        after = [c + step * m for c, m in zip(CELLS, move, strict=True)]
        rise = (value_at(x, after) - value_at(x, CELLS)) / step
        # The second derivative of so few terms of degree 12 is below 10^12.
        assert abs(rise - value_at(along(x, move), CELLS)) <= 1


def test_a_polynomial_without_negative_coefficients_is_nonnegative():
    tp, fp, *_ = map(variable, range(4))
    assert is_nonnegative(plus(tp, fp))
    assert is_nonnegative({})
    assert not is_nonnegative(plus(tp, fp, -1))


def test_numbers_are_what_floats_exactly_are():
    assert exactly(0.1) == Fraction(0.1) != Fraction(1, 10)
    assert isinstance(exactly(np.float64(3.0)), int)
    with pytest.raises(NotFollowedError):
        exactly(np.ones(2))


def test_a_product_that_takes_too_long_is_given_up():
    long = {(i, j, 0, 0): 1 for i in range(12) for j in range(12)}
    with pytest.raises(NotFollowedError):
        times(long, long)
