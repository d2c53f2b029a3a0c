"""Calibration warns of scores that chance does not explain, and of no others."""

import warnings
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import comb

import numpy as np
import pytest

from bestcut import calibrate
from bestcut.calibration._chance import SELDOM, chance_of_outside, positives_above

quickly = partial(calibrate, n_draws=1)


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


# --- scores of the other class -------------------------------------------------------


@pytest.mark.parametrize(("m", "positives"), [(20, 8), (31, 20), (60, 12), (400, 25)])
def test_the_chance_of_few_positives_above_is_that_of_labels_without_order(
    m, positives
):
    above = (m + 1) // 2
    ways = 0
    for k in range(max(0, positives - (m - above)), min(positives, above) + 1):
        labels = np.zeros(m, dtype=bool)
        labels[m - k :] = labels[: positives - k] = True
        ways += comb(above, k) * comb(m - above, positives - k)
        found = positives_above(labels, np.arange(m, dtype=float))
        chance = pytest.approx(float(Fraction(ways, comb(m, positives))), rel=1e-10)
        assert found == (k, above, chance)


def test_equal_scores_are_above_the_middle_together_or_not_at_all():
    labels = np.array([True, False, True, True, False])
    for scores, above in (
        ([1, 2, 2, 2, 2], 4),
        ([1, 1, 1, 2, 2], 2),
        ([1, 1, 1, 1, 2], 1),
        ([1, 1, 2, 2, 3], 3),
        ([1, 1, 1, 1, 1], 0),
    ):
        found = positives_above(labels, np.array(scores, dtype=float))
        assert found[:2] == (int(labels[5 - above :].sum()), above)
        assert 0 < found[2] <= 1


def test_the_warning_of_reversed_scores_names_the_cure():
    scores = np.linspace(0.1, 0.9, 60)
    labels = scores < 0.3
    (sentence,) = warned(quickly, labels, scores)
    assert sentence == (
        "none of 15 positives is among the 30 largest of 60 `scores`, which chance "
        "explains in less than one of 1,000 cases: the larger a score, the less likely "
        "a positive seems to be. Pass the column of the positive class, such as "
        "`predict_proba(X)[:, 1]`, or turn the scores round with `-scores`."
    )
    assert not warned(quickly, labels, -scores)
    labels[-1] = True
    assert warned(quickly, labels, scores)[0].startswith("only 1 of 16 positives is ")
    labels[-2] = labels[15] = True
    assert warned(quickly, labels, scores)[0].startswith("only 2 of 18 positives are ")


@pytest.mark.parametrize("bins", [2, 5, 1000])
def test_scores_that_say_nothing_are_seldom_called_reversed(bins):
    """The share is below .001, but for three standard errors of 1,000 trials."""
    rng = np.random.default_rng(1)
    labels = rng.random((1000, 120)) < rng.random((1000, 1))
    scores = np.floor(bins * rng.random(labels.shape) ** 2)
    chances = [positives_above(*each)[2] for each in zip(labels, scores, strict=True)]
    assert np.mean(np.array(chances) < SELDOM) <= SELDOM + 3 * np.sqrt(SELDOM / 1000)


def test_equal_scores_and_labels_are_in_no_order():
    calibrate(np.arange(30) < 15, np.ones(30), n_draws=1)  # a warning is an error
    calibrate(np.ones(30), np.arange(30), n_draws=1)
    calibrate([1], [0.5], n_draws=1)


def test_the_first_column_of_predict_proba_is_the_wrong_one():
    rng = np.random.default_rng(2)
    p = rng.beta(0.5, 2.0, 100)
    labels = rng.random(100) < p
    predicted = np.column_stack([1.0 - p, p])
    calibrate(labels, predicted[:, 1], n_draws=1)
    with pytest.warns(UserWarning, match=r"Pass the column of the positive class"):
        calibrate(labels, predicted[:, 0], n_draws=1)
