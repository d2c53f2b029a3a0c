"""The oracle of totals gives what can be worked out by hand."""

from fractions import Fraction

import pytest

from oracles.totals import best_total, expected_total, total_law

# Two payments of 8 and 100; a look costs 2, a missed fraud its amount.
WORTHS = ([6, 98], [-2, -2], [-8, -100], [0, 0])
P = [0.5, 0.25]


def test_the_law_of_two_rows_is_the_one_worked_out_by_hand():
    law = total_law(P, [1, 0], WORTHS)
    assert law.values == (-102, -94, -2, 6)
    assert law.masses == tuple(Fraction(x, 8) for x in (1, 1, 3, 3))


def test_the_expected_total_is_the_mean_of_the_law():
    for labels in ([0, 0], [0, 1], [1, 0], [1, 1]):
        mean = expected_total(P, labels, WORTHS)
        assert mean == total_law(P, labels, WORTHS).mean
    assert expected_total(P, [1, 0], WORTHS) == Fraction(6 - 2, 2) - 25


@pytest.mark.parametrize(("low", "high", "best"), [(0, 2, 25), (0, 1, 19), (0, 0, -29)])
def test_the_best_total_is_the_one_worked_out_by_hand(low, high, best):
    # Looking at the first gains 6, at the second 48.
    assert best_total(P, WORTHS, low, high) == best
