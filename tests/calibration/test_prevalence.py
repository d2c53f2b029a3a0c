"""Probabilities at another prevalence follow Bayes' rule; the EM estimate is found."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bestcut
from bestcut.calibration import adjust_prevalence, estimate_prevalence
from oracles import EPS, assert_near

# Two quotients and two products on each side, a sum, a quotient, and 1 - x three times.
ROUNDINGS = 16 * EPS
SHARES = [Fraction(1, 2), Fraction(1, 10), Fraction(999, 1000), Fraction(1, 10**6)]


def bayes(p, old, new):
    """Return the posterior at prevalence `new`, by the likelihoods behind p."""
    likelihood_if_positive = p / old
    likelihood_if_negative = (1 - p) / (1 - old)
    joint = new * likelihood_if_positive
    return joint / (joint + (1 - new) * likelihood_if_negative)


def expectation_maximisation(p, old, steps):
    """Run the iteration of Saerens et al. from the old prevalence."""
    share = old
    for _ in range(steps):
        yes, no = p * share / old, (1 - p) * (1 - share) / (1 - old)
        share = np.mean(yes / (yes + no))
    return share


def gaussian_scores(rng, n, prevalence, old):
    """Return labels at one prevalence, and posteriors that are right at another."""
    y = rng.random(n) < prevalence
    x = rng.normal(loc=np.where(y, 1.0, -1.0))
    return y, 1 / (1 + (1 - old) / old * np.exp(-2 * x))


# --- adjust -------------------------------------------------------------------------


@pytest.mark.parametrize("old", SHARES)
@pytest.mark.parametrize("new", SHARES)
def test_equals_bayes_rule_in_fractions(old, new):
    rng = np.random.default_rng(0)
    p = [0.0, 1.0, 0.5, 1e-300, *rng.random(50), *rng.random(50) ** 20]
    old_float, new_float = float(old), float(new)
    exact = [bayes(Fraction(x), Fraction(old_float), Fraction(new_float)) for x in p]
    got = adjust_prevalence(p, old_float, new_float)
    assert_near(got, exact, rtol=ROUNDINGS)


def test_a_population_in_numbers():
    # 100 positives and 100 negatives, 60 and 20 of them red; then 20 and 180.
    red, not_red = adjust_prevalence([60 / 80, 40 / 120], old=0.5, new=0.1)
    assert red == pytest.approx(12 / (12 + 36), rel=1e-15)
    assert not_red == pytest.approx(8 / (8 + 144), rel=1e-15)


def test_there_and_back_again():
    p = np.random.default_rng(1).random(100)
    there = adjust_prevalence(p, 0.3, 0.01)
    np.testing.assert_allclose(adjust_prevalence(there, 0.01, 0.3), p, rtol=1e-13)
    np.testing.assert_allclose(adjust_prevalence(p, 0.3, 0.3), p, rtol=1e-15)


def test_the_order_is_kept_and_more_positives_mean_more_probable():
    p = np.sort(np.random.default_rng(2).random(100))
    more = adjust_prevalence(p, 0.2, 0.6)
    assert np.all(np.diff(more) >= 0)
    assert np.all(more > p)
    assert np.all(adjust_prevalence(p, 0.6, 0.2) < p)


@pytest.mark.parametrize(("old", "new"), [(0.5, 0.1), (0.5, 0.02), (0.1, 0.5)])
def test_corrected_probabilities_are_calibrated_and_others_are_not(old, new):
    y, p = gaussian_scores(np.random.default_rng(3), 20_000, new, old)
    assert bestcut.check_calibration(y, adjust_prevalence(p, old, new)).fits
    assert bestcut.check_calibration(y, adjust_prevalence(p, old)).fits
    assert not bestcut.check_calibration(y, p).fits


@pytest.mark.parametrize("ranked", [True, False], ids=["one ranking", "several"])
def test_draws_are_adjusted_one_by_one(ranked):
    table = np.random.default_rng(4).random((5, 30)) ** 2
    p = bestcut.UncertainProbabilities(np.sort(table, axis=1) if ranked else table)
    there = adjust_prevalence(p, old=0.3, new=0.05)
    for draw, own in zip(p.draws(), there.draws(), strict=True):
        np.testing.assert_array_equal(own, adjust_prevalence(draw, 0.3, 0.05))
    assert there.one_ranking == ranked


def test_adjusted_draws_of_a_calibration_keep_their_order_and_their_doubt():
    rng = np.random.default_rng(5)
    scores = rng.random(500)
    calibration = bestcut.calibrate(rng.random(80) < scores[:80], scores[:80])
    p = calibration(scores)
    there = adjust_prevalence(p, old=0.5, new=0.1)
    assert there.n_draws == p.n_draws
    assert there.one_ranking
    doubt = bestcut.decide(there, "f1").distribution().std_calibration
    assert doubt > 0.2 * bestcut.decide(p, "f1").distribution().std_calibration
    back = adjust_prevalence(there, old=0.1, new=0.5)
    np.testing.assert_allclose(back.draws(), p.draws(), rtol=1e-12)


def test_the_share_of_draws_is_that_of_their_means():
    p = bestcut.UncertainProbabilities([[0.9, 0.2, 0.1, 0.3], [0.8, 0.4, 0.1, 0.1]])
    share = estimate_prevalence(p.mean, 0.5)
    assert estimate_prevalence(p, 0.5) == share
    there, known = adjust_prevalence(p, 0.5), adjust_prevalence(p, 0.5, share)
    np.testing.assert_array_equal(there.draws(), known.draws())


# --- estimate -------------------------------------------------------------------------


def interior_cases():
    rng = np.random.default_rng(4)
    for prevalence in (0.02, 0.1, 0.5, 0.9):
        for old in (0.1, 0.5, 0.7):
            yield gaussian_scores(rng, 400, prevalence, old)[1], old
    yield np.array([1.0, 0.0, 0.0, 0.5, 0.6]), 0.3  # certain ones, too
    yield np.array([0.0, 1.0]), 0.2


@pytest.mark.parametrize(("p", "old"), list(interior_cases()))
def test_equals_the_fixed_point_of_expectation_maximisation(p, old):
    found = estimate_prevalence(p, old)
    assert found == pytest.approx(expectation_maximisation(p, old, 2_000), rel=1e-9)
    # EM's own step leaves it where it is: the mean of the corrected probabilities.
    corrected = adjust_prevalence(p, old, found)
    assert corrected.mean() == pytest.approx(found, rel=1e-11)
    np.testing.assert_array_equal(adjust_prevalence(p, old), corrected)


@pytest.mark.parametrize(("p", "old"), list(interior_cases()))
def test_nothing_is_more_likely(p, old):
    def log_likelihood(share):
        return np.sum(np.log(share * p / old + (1 - share) * (1 - p) / (1 - old)))

    found = estimate_prevalence(p, old)
    best = log_likelihood(found)
    for off in (1e-5, 1e-3, 0.01, 0.1):
        for other in (found * (1 - off), found + (1 - found) * off):
            assert log_likelihood(other) <= best + 1e-12 * abs(best)


def test_certain_labels_are_counted():
    assert estimate_prevalence([1, 0, 0, 1, 0], 0.5) == pytest.approx(0.4, rel=1e-14)


@pytest.mark.parametrize(("p", "share"), [([0.1] * 9, 0), ([0.9] * 9, 1), ([1.0], 1)])
def test_the_end_is_reached_if_all_evidence_points_there(p, share):
    assert estimate_prevalence(p, 0.5) == pytest.approx(share, abs=1e-14)


@pytest.mark.parametrize("old", [0.1, 0.3, 0.5, 1 / 3, 0.7, 1e-3])
def test_without_evidence_the_old_prevalence_stays(old):
    assert estimate_prevalence([], old) == old
    assert adjust_prevalence([], old).shape == (0,)
    # A model that knows nothing: the likelihood is flat.
    for p in (np.full(7, old), np.full(7, np.mean(np.arange(1000) < 1000 * old))):
        if p[0] == pytest.approx(old, rel=1e-15):
            assert estimate_prevalence(p, old) == old
            np.testing.assert_allclose(adjust_prevalence(p, old), p, rtol=1e-15)


def test_the_estimate_is_near_the_truth():
    rng = np.random.default_rng(5)
    z = []
    for _ in range(200):
        _, p = gaussian_scores(rng, 500, 0.15, 0.5)
        found = estimate_prevalence(p, 0.5)
        slopes = (p - (1 - p)) / (found * p + (1 - found) * (1 - p))
        z.append((found - 0.15) * np.sqrt(np.sum(slopes**2)))  # Fisher's information
    assert abs(np.mean(z)) < 3 / np.sqrt(200)
    assert 0.85 < np.std(z) < 1.15


# --- input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap", [list, tuple, np.array, pd.Series, pl.Series, lambda x: np.float32(x)]
)
def test_accepts_what_people_have(wrap):
    p = [0.5, 0.75, 0.25, 1.0]
    got = adjust_prevalence(wrap(p), old=0.5, new=0.25)
    column = wrap in (pd.Series, pl.Series)
    assert type(got) is (type(wrap(p)) if column else np.ndarray)
    assert np.asarray(got).dtype == np.float64
    np.testing.assert_allclose(got, [0.25, 0.5, 0.1, 1.0], rtol=1e-15)
    assert estimate_prevalence(wrap(p), 0.5) == estimate_prevalence(p, 0.5)


def test_the_input_is_left_alone():
    p = np.array([0.2, 0.8])
    p.flags.writeable = False
    for new in (0.1, None):
        assert np.all(adjust_prevalence(p, 0.5, new) <= 1.0)
    assert p.tolist() == [0.2, 0.8]


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, 0.0, 1.0])
def test_a_share_is_strictly_between_0_and_1(share):
    message = re.escape(f"must lie strictly between 0 and 1; got {share!r}")
    with pytest.raises(ValueError, match="`old` " + message):
        adjust_prevalence([0.5], share, 0.5)
    with pytest.raises(ValueError, match="`new` " + message):
        adjust_prevalence([0.5], 0.5, share)
    with pytest.raises(ValueError, match="`old` " + message):
        estimate_prevalence([0.5], share)


@pytest.mark.parametrize("share", ["half", True, 1j, [0.5]])
def test_a_share_is_a_number(share):
    with pytest.raises(TypeError, match="`old` must be a real number"):
        adjust_prevalence([0.5], share, 0.5)
    with pytest.raises(TypeError, match="`new` must be a real number"):
        adjust_prevalence([0.5], 0.5, share)


@pytest.mark.parametrize("function", [adjust_prevalence, estimate_prevalence])
def test_probabilities_are_checked(function):
    with pytest.raises(bestcut.InvalidProbabilityError, match=r"y_proba\[1\] = 1.5"):
        function([0.5, 1.5], 0.5)
    with pytest.raises(bestcut.InvalidProbabilityError, match=r"y_proba\[0\] = nan"):
        function([np.nan], 0.5)
    with pytest.raises(
        ValueError,
        match=r"column of the positive class: `np\.asarray\(y_proba\)\[:, 1\]`",
    ):
        function([[0.5, 0.5]], 0.5)
    with pytest.raises(ValueError, match="`old` must be finite"):
        function([0.5], float("nan"))
