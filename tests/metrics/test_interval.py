"""Intervals hold every result, whatever is rounded."""

from fractions import Fraction

import numpy as np
import pytest

from bestcut.metrics._interval import ANYTHING, Interval, spread

SIGNS = ["positive", "one positive", "any"]


def random_intervals(rng, signs):
    ends = np.sort(rng.normal(size=(2, 2, 300)) * 10.0 ** rng.integers(-9, 9, 300), 1)
    if signs == "positive":
        ends = np.sort(np.abs(ends), 1)
    if signs == "one positive":
        ends[0] = np.sort(np.abs(ends[0]), 0)
    return [Interval(*x) for x in ends]


@pytest.mark.parametrize("signs", SIGNS)
def test_sums_and_products_hold_what_fractions_say(signs):
    x, y = random_intervals(np.random.default_rng(0), signs)
    total, product = x.plus(y), x.times(y)
    for i in range(300):
        for a in (x.lo[i], x.hi[i]):
            for b in (y.lo[i], y.hi[i]):
                a, b = Fraction(a), Fraction(b)
                assert Fraction(total.lo[i]) <= a + b <= Fraction(total.hi[i])
                assert Fraction(product.lo[i]) <= a * b <= Fraction(product.hi[i])


def test_nothing_times_anything_is_nothing():
    nothing = Interval(np.zeros(1), np.zeros(1))
    for factor in (ANYTHING, Interval(np.array([1.0]), np.array([np.inf]))):
        with np.errstate(invalid="ignore"):
            lo, hi = spread(nothing.times(factor), (1,))
        assert (lo[0], hi[0]) == (0.0, 0.0)


def test_what_is_no_number_is_no_bound():
    lo, hi = spread(Interval(np.nan, np.nan), (2,))
    assert np.all(lo == -np.inf)
    assert np.all(hi == np.inf)
