"""Wrong probabilities are found, and the verdict says how they are wrong."""

import re

import numpy as np
import pytest

from bestcut import counts
from bestcut.calibration import check_calibration
from calibration.known import FLOOR, simulated


def sharpened(p, factor):
    odds = (p / (1 - p)) ** factor
    return odds / (1 + odds)


def test_overconfident_probabilities_are_found_at_both_ends():
    for seed in range(10):
        p, y = simulated(seed)
        check = check_calibration(y, sharpened(p, 2.0))
        assert not check.fits
        assert check.p_value < 1e-4
        top, *_, bottom = check.bins
        assert top.observed < top.expected
        assert bottom.observed > bottom.expected
        assert top.stands_out or bottom.stands_out
        smallest = min(b.p_value for b in check.bins)
        (named,) = (b for b in check.bins if f"and {b.observed} seen" in check.verdict)
        side = "too low" if named.observed > named.expected else "too high"
        assert named.p_value == smallest
        assert check.verdict.endswith(f"{side}.")


@pytest.mark.parametrize(("power", "side"), [(1.5, "too low"), (0.6, "too high")])
def test_probabilities_off_in_one_direction_are_named_so(power, side):
    for seed in range(10):
        p, y = simulated(seed)
        check = check_calibration(y, p**power)
        assert check.verdict.startswith("The labels do not fit the probabilities (p ")
        assert check.verdict.endswith(f"{side}.")
        total = f"{int(y.sum())} positives where {(p**power).sum():.1f} were expected"
        assert total in check.verdict


def test_rare_positives_twice_as_frequent_as_said_are_found():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        p = np.minimum(rng.beta(0.1, 9.9, 5000), 0.5)
        check = check_calibration(rng.random(5000) < np.minimum(2 * p, 1), p)
        assert not check.fits
        assert "too low" in check.verdict


def test_where_no_bin_stands_out_the_verdict_names_the_head_of_the_ranking():
    # Too high above 1/2 and too low below it, a little in each of many bins.
    p = np.linspace(0.9, 0.1, 1000)
    y = np.zeros(1000, dtype=bool)
    y[:500] = np.cumsum(p[:500] - 0.09) % 1 < (p[:500] - 0.09)
    y[500:] = np.cumsum(p[500:] + 0.09) % 1 < (p[500:] + 0.09)
    check = check_calibration(y, p, n_bins=40)
    assert not check.fits
    assert not any(b.stands_out for b in check.bins)
    head = [b for b in check.bins if b.low > 0.5]
    assert sum(b.observed for b in head) < sum(b.expected for b in head)
    assert "No bin stands out, but the " in check.verdict
    k = int(re.search(r"the (\d+) largest", check.verdict)[1])
    assert abs(k - 500) < 20
    assert check.verdict.endswith(
        f"the {k} largest probabilities, {p[k - 1]:.3g} and above, are on the whole "
        f"too high: {p[:k].sum():.1f} expected, {y[:k].sum()} seen."
    )
    turned = check_calibration(~y, 1 - p, n_bins=40)  # seen from the other end
    assert not any(b.stands_out for b in turned.bins)
    assert "on the whole too high: " in turned.verdict
    y[:500] = np.cumsum(p[:500] + 0.09) % 1 < (p[:500] + 0.09)
    y[500:] = np.cumsum(p[500:] - 0.09) % 1 < (p[500:] - 0.09)
    check = check_calibration(y, p, n_bins=40)
    assert not any(b.stands_out for b in check.bins)
    assert "on the whole too low: " in check.verdict


def test_a_misfit_of_the_total_alone_is_said_to_be_that():
    p = np.linspace(0.9, 0.1, 1000)
    y = np.cumsum(p - 0.05) % 1 < (p - 0.05)
    check = check_calibration(y, p, n_bins=40)
    assert not any(b.stands_out for b in check.bins)
    assert check.verdict.endswith(
        "No bin stands out; all probabilities together are too high."
    )
    y = np.cumsum(p + 0.05) % 1 < (p + 0.05)
    check = check_calibration(y, p, n_bins=40)
    assert check.verdict.endswith(
        "No bin stands out; all probabilities together are too low."
    )


def test_a_fit_says_which_totals_would_have_fitted():
    p, y = simulated(1, 1000)
    verdict = check_calibration(y, p).verdict
    law = counts.poisson_binomial(p)
    tails = np.minimum(np.cumsum(law), np.cumsum(law[::-1])[::-1])
    fitting = np.flatnonzero(2 * tails > 0.05)
    assert verdict.startswith("The labels fit the probabilities (p = ")
    assert f"{y.sum()} positives among 1000 instances, {p.sum():.1f} expec" in verdict
    assert verdict.endswith(
        f"any total from {fitting[0]} to {fitting[-1]} would have fitted."
    )


def test_a_fit_of_few_says_that_it_says_little():
    few = check_calibration([1, 0, 0], [0.5, 0.25, 0.125]).verdict
    assert "1 positive among 3 instances, 0.875 expected" in few
    assert few.endswith("from 0 to 2 would have fitted, so this says little.")
    # As few negatives are no better.
    turned = check_calibration([1, 1, 0], [0.875, 0.75, 0.5]).verdict
    assert turned.endswith("from 1 to 3 would have fitted, so this says little.")
    one = check_calibration([1], [0.75]).verdict
    assert "1 positive among 1 instance, 0.75 expected" in one
    p, y = simulated(1, 1000)
    assert "says little" not in check_calibration(y, p).verdict


def test_a_fit_with_a_bin_that_stands_out_says_so():
    p = np.repeat([0.75, 0.5, 0.25], 40)
    y = np.concatenate([np.arange(40) < k for k in (30, 20, 3)])
    check = check_calibration(y, p, n_bins=3, level=0.05)
    level = 1.5 * check.bins[-1].adjusted_p_value  # below twice it: the check fits
    assert level < 2 * check.path_p_value
    check = check_calibration(y, p, n_bins=3, level=level)
    assert check.fits
    assert [b.stands_out for b in check.bins] == [False, False, True]
    assert check.verdict.endswith(
        "Yet one bin stands out: probability 0.25, where 10.0 were expected and 3 "
        "seen: too high."
    )


def test_the_verdict_follows_the_level():
    p, y = simulated(3, 300)
    p_value = check_calibration(y, p).p_value
    assert p_value < 0.6
    for level in (p_value / 1.01, p_value, p_value * 1.01):
        check = check_calibration(y, p, level=level)
        assert check.fits == (level < p_value)
        assert check.verdict.startswith("The labels fit ") == check.fits
        assert check.verdict.startswith("The labels do not fit ") != check.fits


def test_of_bins_beyond_resolution_the_furthest_off_is_named():
    p = np.repeat([0.8, 0.5, 0.2], 400)
    y = np.concatenate([np.arange(400) < k for k in (130, 200, 330)])
    check = check_calibration(y, p, n_bins=3)
    assert [b.p_value for b in check.bins] == [FLOOR, 1.0, FLOOR]
    assert "probability 0.2, where 80.0 were expected and 330 seen" in check.verdict
    check = check_calibration(~y, 1 - p, n_bins=3)
    assert "probability 0.8, where 320.0 were expected and 70 seen" in check.verdict
