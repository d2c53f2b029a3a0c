"""Calibration warns of scores that chance does not explain, and of no others."""

import warnings
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from bestcut import calibrate
from bestcut.calibration._chance import chance_of_outside


def warned(call, *arguments):
    """Return the sentences of the warnings that a call gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments)
    return [str(each.message) for each in caught]


# --- scores outside the labelled ones ------------------------------------------------


@pytest.mark.parametrize(("k", "m", "n"), [(1, 1, 5), (2, 3, 2), (1, 4, 3), (3, 3, 3)])
def test_the_chance_of_scores_outside_is_that_of_shuffled_numbers(k, m, n):
    places = list(combinations(range(m + n), n))  # of the n, all equally likely
    hits = sum(m - (c[-1] - c[0] + 1 - n) >= k for c in places)
    assert chance_of_outside(k, m, n) == pytest.approx(hits / len(places), rel=1e-13)


@pytest.mark.parametrize(("m", "n"), [(1, 50), (6, 40), (300, 50), (40, 2000)])
def test_scores_outside_are_told_from_the_first_number_that_is_seldom(m, n):
    # With j of the m outside, those below are 0 to j; the rest is inside.
    seldom = [
        sum((j + 1) * comb(m + n - j - 2, n - 2) for j in range(k, m + 1))
        < Fraction(comb(m + n, n), 1000)
        for k in range(m + 1)
    ]
    calibration = calibrate(np.arange(n) % 2, np.arange(n), n_draws=1)
    told = []
    for k in range(m + 1):
        new = np.repeat([n / 2, -1.0, n], [m - k, k // 2, k - k // 2])
        told.append(bool(warned(calibration, new)))
    assert told == seldom


def test_scores_like_the_labelled_ones_are_no_reason_to_warn():
    rng = np.random.default_rng(0)
    for _ in range(3):
        scores = rng.normal(size=80)
        calibration = calibrate(rng.random(80) < 0.5, scores, n_draws=1)
        for _ in range(50):
            calibration(rng.normal(size=500))  # a warning is an error in these tests


def test_the_warning_says_how_many_scores_where_and_what_to_do():
    calibration = calibrate([0, 1] * 20, np.linspace(-1, 1, 40))
    (sentence,) = warned(calibration, [0.0, 1.5, 2.0, -3.0, 1.1])
    assert sentence == (
        "4 of 5 entries of `new_scores` (80.0%) are outside the labelled scores, -1 to "
        "1, which is more than chance explains: their probabilities are taken to be "
        "those at the end of that range. Label some of them."
    )
