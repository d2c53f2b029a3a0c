"""The bins of a check, what may be checked, and what the result is."""

import dataclasses
import math
import pickle
import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bestcut import InvalidProbabilityError, counts
from bestcut.calibration import CalibrationBin, CalibrationCheck, check_calibration
from calibration.known import FLOOR, simulated
from oracles import EPS, assert_near

# --- bins and checkpoints ------------------------------------------------------------


def test_bins_share_the_variance_and_never_part_equals():
    rng = np.random.default_rng(3)
    for p in (rng.random(5000), rng.beta(0.1, 5, 5000), rng.random(5000).round(2)):
        y = rng.random(5000) < p
        check = check_calibration(y, p)
        assert len(check.bins) == 10
        variance = np.array([b.std**2 for b in check.bins])
        assert variance.sum() == pytest.approx((p * (1 - p)).sum(), rel=1e-12)
        largest_tie = max(
            v * (1 - v) * c
            for v, c in zip(*np.unique(p, return_counts=True), strict=True)
        )
        room = variance.sum() / 200 + largest_tie  # an edge is off by half of each
        assert np.abs(variance - variance.mean()).max() <= room
        assert all(a.low > b.high for a, b in pairwise(check.bins))
        for b in check.bins:
            inside = (p >= b.low) & (p <= b.high)
            assert b.n == inside.sum()
            assert b.observed == y[inside].sum()
            assert b.expected == pytest.approx(p[inside].sum(), rel=1e-12)
            law = counts.poisson_binomial(p[inside])
            tail = min(law[: b.observed + 1].sum(), law[b.observed :].sum())
            assert b.p_value == pytest.approx(min(1, 2 * tail), rel=1e-9)
            adjusted = 1 - (1 - Fraction(b.p_value)) ** 10
            assert_near(b.adjusted_p_value, adjusted, rtol=16 * EPS)


def test_more_bins_than_groups_give_a_bin_for_each_group():
    p = np.repeat([0.8, 0.5, 0.3], 5)
    for n_bins in (10, 200, 10**9):
        check = check_calibration(np.arange(15) % 2, p, n_bins=n_bins)
        assert [b.n for b in check.bins] == [5, 5, 5]
    p, y = simulated(2, 3000)
    assert len(check_calibration(y, p, n_bins=10**9).bins) == 200
    assert len(check_calibration(y, p, n_bins=7).bins) == 7


def test_overall_is_all_instances_as_one_bin():
    p, y = simulated(3, 400)
    check = check_calibration(y, p)
    (single,) = check_calibration(y, p, n_bins=1).bins
    assert dataclasses.replace(single, p_value=1.0, adjusted_p_value=1.0) == (
        dataclasses.replace(check.overall, p_value=1.0, adjusted_p_value=1.0)
    )
    assert check.overall.p_value == pytest.approx(single.p_value, rel=1e-12)
    assert check.overall.adjusted_p_value == pytest.approx(
        check.overall.p_value, rel=1e-14
    )


# --- what goes in --------------------------------------------------------------------


def test_the_order_of_the_input_does_not_matter():
    rng = np.random.default_rng(7)
    for p in (rng.random(300), rng.random(300).round(1), rng.beta(0.1, 5, 300)):
        y = rng.random(300) < p
        check = check_calibration(y, p)
        for _ in range(5):
            order = rng.permutation(300)
            assert check_calibration(y[order], p[order]) == check


def test_mirrored_input_gives_mirrored_bins():
    rng = np.random.default_rng(8)
    p = rng.integers(1, 64, 300) / 64
    y = rng.random(300) < p
    check, mirrored = check_calibration(y, p), check_calibration(~y, 1 - p)
    # Edges half way between two ends may go either way, but the total may not.
    assert mirrored.overall.p_value == pytest.approx(check.overall.p_value, rel=1e-12)
    assert mirrored.overall.std == pytest.approx(check.overall.std, rel=1e-14)


def test_any_array_like_is_taken():
    p = np.array([0.75, 0.5, 0.25, 0.25, 0.125])
    y = np.array([1, 0, 1, 0, 0])
    check = check_calibration(y, p)
    for label in (y.astype(bool), y.astype(np.uint8), y.astype(float), y.tolist()):
        assert check_calibration(label, p) == check
    for proba in (p.tolist(), tuple(p.tolist()), p.astype(np.float32)):
        assert check_calibration(y, proba) == check
    for make in (pd.Series, pl.Series):
        assert check_calibration(make(y), make(p)) == check
        assert check_calibration(make(y.astype(bool)), make(p)) == check
    other = pd.Series(p, index=[13, 11, 14, 10, 12])
    assert check_calibration(pd.Series(y), other) == check
    assert check_calibration(np.repeat(y, 2)[::2], np.repeat(p, 2)[::2]) == check
    assert check_calibration(y, p, n_bins=np.int64(10), level=np.float64(0.05)) == check


def test_a_negative_zero_is_a_zero():
    check = check_calibration([0, 0, 1], [0.0, -0.0, 0.5])
    assert check == check_calibration([0, 0, 1], [0.0, 0.0, 0.5])
    assert repr(check) == repr(check_calibration([0, 0, 1], [0.0, 0.0, 0.5]))


def test_the_input_is_left_as_it_is():
    p, y = simulated(4, 50)
    p_before, y_before = p.copy(), y.copy()
    p.flags.writeable = y.flags.writeable = False
    check_calibration(y, p)
    np.testing.assert_array_equal(p, p_before)
    np.testing.assert_array_equal(y, y_before)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y_true": [0, 1]}, ValueError, r"`y_true` must hold one label for each en"),
        ({"y_true": [0, 1, 2]}, ValueError, r"got y_true\[2\] = 2\.0"),
        ({"y_true": [0, 1, np.nan]}, ValueError, r"got y_true\[2\] = nan"),
        ({"y_true": ["a", "b", "a"]}, TypeError, r"`y_true` must hold real numbers"),
        ({"y_proba": [0, 1, 1.5]}, InvalidProbabilityError, r"y_proba\[2\] = 1\.5"),
        ({"y_proba": [0, 1, np.nan]}, InvalidProbabilityError, r"Drop or fill"),
        (
            {"y_proba": [[0.1, 0.9]] * 3},
            ValueError,
            r"`np\.asarray\(y_proba\)\[:, 1\]`",
        ),
        ({"n_bins": 0}, ValueError, r"`n_bins` must be at least 1; got 0\. Pass 1"),
        ({"n_bins": 2.0}, TypeError, r"`n_bins` must be a whole number; got 2\.0"),
        ({"n_bins": True}, TypeError, r"`n_bins` must be a whole number; got True"),
        ({"level": 0}, ValueError, r"strictly between 0 and 1; got 0\. Pass the"),
        ({"level": 1.0}, ValueError, r"strictly between 0 and 1; got 1\.0"),
        ({"level": 5}, ValueError, r"strictly between 0 and 1; got 5"),
        ({"level": math.nan}, ValueError, r"`level` must be finite; got nan"),
        ({"level": "5%"}, TypeError, r"`level` must be a real number; got '5%'"),
    ],
    ids=str,
)
def test_what_cannot_be_checked_is_refused(change, error, message):
    arguments = {"y_true": [0, 1, 0], "y_proba": [0.2, 0.5, 0.1], **change}
    with pytest.raises(error, match=message):
        check_calibration(**arguments)


# --- the edges -----------------------------------------------------------------------


def test_no_instances_fit():
    check = check_calibration([], [])
    assert check.fits
    assert (check.p_value, check.statistic, check.bins) == (1.0, 0.0, ())
    assert check.overall.n == check.overall.observed == 0
    assert math.isnan(check.overall.low)
    assert check.verdict == "There are no labels to check."
    assert "all" in repr(check)


@pytest.mark.parametrize("n", [1, 2, 300])
def test_certain_labels_that_come_true_fit(n):
    p = np.arange(n) % 2
    check = check_calibration(p, p)
    assert check.fits
    assert (check.p_value, check.statistic, check.overall.std) == (1.0, 0.0, 0.0)
    assert check.verdict.endswith("All probabilities are 0 or 1.")


@pytest.mark.parametrize(
    ("y", "p", "first", "many", "words"),
    [
        ([1], [0], 0, 1, "y_true[0] is positive, but y_proba[0] is 0."),
        ([0], [1], 0, 1, "y_true[0] is negative, but y_proba[0] is 1."),
        ([0, 1, 1], [0.5, 0.5, 0], 2, 1, "y_true[2] is positive, but y_proba[2] is 0."),
        ([1, 0, 1], [1, 1, 0], 1, 2, "y_proba[1] is 1. There are 2 such labels."),
    ],
)
def test_impossible_labels_are_named(y, p, first, many, words):
    check = check_calibration(y, p)
    assert check.p_value == 0.0
    assert not check.fits
    assert (check.first_impossible, check.n_impossible) == (first, many)
    assert "cannot come from the probabilities (p = 0)" in check.verdict
    assert check.verdict.endswith(words)


def test_an_impossible_number_of_positives_has_p_value_zero():
    (low,) = check_calibration([1, 0], [0.0, 0.0]).bins
    assert (low.p_value, low.adjusted_p_value, low.stands_out) == (0.0, 0.0, True)
    check = check_calibration([1, 1, 0], [0.0, 0.0, 0.5])
    assert check.overall.p_value == 0.0
    assert math.isinf(check_calibration([1, 0], [0.0, 0.0]).statistic)
    # Here the number alone is possible.
    assert check_calibration([0, 1], [0.5, 0.0]).overall.p_value == 1.0


def test_what_is_possible_never_has_p_value_zero():
    for p in (1e-300, 5e-324, 1e-17):
        check = check_calibration([1, 0], [p, p / 2])
        assert not check.fits
        assert check.p_value > 0.0
        assert check.n_impossible == 0
        assert "(p < 1e-12)" in check.verdict
    p = np.full(3000, 0.5)
    for y in (np.zeros(3000), np.ones(3000)):
        check = check_calibration(y, p)
        assert 0.0 < check.p_value < 1e-12
        assert check.path_p_value == check.overall.p_value == FLOOR
    # Likewise where the true value is known and tiny.
    check = check_calibration([1] * 30, [0.5] * 30)
    assert check.overall.p_value == pytest.approx(2.0**-29, rel=1e-14)
    assert check.path_p_value == pytest.approx(2.0**-29, rel=1e-14)


def test_a_constant_probability_is_a_single_bin():
    law = counts.poisson_binomial([0.3] * 20)
    check = check_calibration([1] * 11 + [0] * 9, [0.3] * 20)
    assert len(check.bins) == 1
    assert check.statistic == pytest.approx(5 / math.sqrt(4.2), rel=1e-14)
    far = law[:2].sum() + law[11:].sum()
    assert check.path_p_value == pytest.approx(far, rel=1e-13)
    assert check.bins[0].p_value == pytest.approx(2 * law[11:].sum(), rel=1e-13)
    assert check.p_value == pytest.approx(2 * far, rel=1e-13)


@pytest.mark.parametrize("label", [0, 1])
def test_a_single_instance_has_its_own_probability_as_p_value(label):
    for p in (0.25, 0.01):
        check = check_calibration([label], [p])
        assert check.overall.p_value == pytest.approx(min(1, 2 * p) if label else 1.0)
        assert check.path_p_value == pytest.approx(p if label else 1.0)
        assert check.fits == (label == 0 or p > 0.05)


def test_a_level_near_one_still_has_a_verdict():
    p, y = np.full(10, 0.5), np.arange(10) % 2
    check = check_calibration(y, p, level=1 - 1e-16)
    assert "any total from 5 to 5" in check.verdict
    # Both tails of the median are 1/2, less a rounding.
    p = [0.92, 0.76, 0.5, 0.24, 1 - 0.92]
    check = check_calibration([1, 1, 0, 0, 0], p, level=1 - 1e-16)
    assert check.fits
    assert "any total from " in check.verdict


def test_large_inputs_are_taken():
    rng = np.random.default_rng(9)
    for p in (rng.random(10**5), rng.beta(0.1, 10, 10**5), np.full(10**5, 0.2)):
        check = check_calibration(rng.random(10**5) < p, p)
        assert check.p_value > 1e-3
        assert not check_calibration(rng.random(10**5) < p**1.1, p).fits


# --- the result ----------------------------------------------------------------------


def test_a_check_is_frozen_and_survives_pickling():
    p, y = simulated(5, 100)
    check = check_calibration(y, p)
    assert isinstance(check, CalibrationCheck)
    assert all(isinstance(b, CalibrationBin) for b in check.bins)
    assert not dataclasses.replace(check, p_value=check.level).fits
    assert dataclasses.replace(check, p_value=np.nextafter(check.level, 1)).fits
    assert pickle.loads(pickle.dumps(check)) == check
    with pytest.raises(dataclasses.FrozenInstanceError):
        check.p_value = 1.0
    for value in (check.p_value, check.statistic, check.overall.std):
        assert type(value) is float
    for value in (check.overall.n, check.overall.observed, check.n_impossible):
        assert type(value) is int
    assert type(check.bins[0].stands_out) is bool
    assert type(check.fits) is bool


@pytest.mark.parametrize("kind", ["uniform", "rare", "near the ends", "bad", "large"])
def test_the_table_is_readable(kind):
    rng = np.random.default_rng(10)
    n = 10**5 if kind == "large" else 2000
    p = {
        "rare": rng.beta(0.02, 10, n),
        "near the ends": np.clip(rng.beta(0.01, 0.01, n), 1e-300, 1 - 1e-16),
    }.get(kind, rng.random(n))
    y = rng.random(n) < (p**3 if kind == "bad" else p)
    check = check_calibration(y, p)
    lines = repr(check).splitlines()
    assert max(map(len, lines)) < 80
    assert lines[0].startswith("CalibrationCheck: The labels ")
    table = lines[-len(check.bins) - 2 :]
    assert table[0].split()[:3] == ["probabilities", "n", "expected"]
    assert table[-1].split()[:2] == ["all", str(n)]
    for line, group in zip(table[1:-1], check.bins, strict=True):
        assert f" {group.n} " in line
        assert f" {group.observed} " in line
        assert line.endswith("*") == group.stands_out
        assert not (group.high < 1 and line.split()[:3][-1] == "1")
    html = check._repr_html_()
    assert html.count("<tr>") == len(check.bins) + 2
    assert html.count("&lt; 1e-12") == repr(check).count("< 1e-12")


def test_a_total_that_would_not_fit_alone_is_not_said_to_fit():
    """Labels may fit as a whole where only the total is a little off."""
    rng = np.random.default_rng(0)
    p = rng.beta(2, 5, size=400)
    found = 0
    for seed in range(150):
        y = np.random.default_rng(seed).random(400) < 0.88 * p
        check = check_calibration(y, p)
        if not check.fits:
            continue
        said = " ".join(str(check).split())
        low, high = map(int, re.search(r"from (\d+) to (\d+)", said).groups())
        outside = not low <= y.sum() <= high
        assert outside == ("But taken alone" in said)
        found += outside
    assert found >= 3
