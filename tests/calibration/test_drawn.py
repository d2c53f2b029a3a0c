"""Labels are held against the mixture of all draws, with p-values that are valid."""

import dataclasses
from itertools import product

import numpy as np
import pytest

import bestcut
from bestcut import UncertainProbabilities, check_calibration
from oracles import EPS

# Dyadic draws whose means are dyadic: distances are tied exactly or not at all.
DRAWS = {
    "one ranking": [[7, 5, 4, 2], [6, 3, 2, 1], [8, 7, 3, 0], [7, 5, 3, 1]],
    "several rankings": [[1, 5, 6, 2], [7, 2, 3, 0], [3, 4, 2, 7], [1, 1, 5, 3]],
    "ties": [[4, 4, 2, 2], [6, 6, 1, 1], [2, 2, 1, 1], [4, 4, 0, 0]],
    "certain in some": [[8, 8, 0, 3], [0, 8, 0, 2], [8, 4, 2, 1], [8, 8, 4, 6]],
}


def mixture(draws):
    """Return all label vectors, with their probabilities in the mean over draws."""
    outcomes = np.array(list(product((0, 1), repeat=draws.shape[1])))
    chances = [np.prod(np.where(outcomes, d, 1 - d), axis=1) for d in draws]
    return outcomes, np.mean(chances, axis=0)


def all_checks(draws, **options):
    u = UncertainProbabilities(draws)
    outcomes, mass = mixture(draws)
    checks = [check_calibration(y, u, **options) for y in outcomes]
    return outcomes, mass, checks


@pytest.fixture(params=DRAWS)
def draws(request):
    return np.array(DRAWS[request.param]) / 8


# Sums of at most 16 products of 4 factors, taken from 1: 64 roundings are plenty.
ATOL = 64 * float(EPS)


def test_the_p_value_of_the_path_is_that_of_its_statistic(draws):
    outcomes, mass, checks = all_checks(draws)
    mean = draws.mean(axis=0)
    order = np.argsort(-mean, kind="stable")
    ends = np.flatnonzero(np.diff(mean[order], append=-1.0))
    off = np.cumsum(outcomes[:, order] - mean[order], axis=1)[:, ends]
    distance = np.abs(off).max(axis=1)
    for check, own in zip(checks, distance, strict=True):
        as_far = mass[distance >= own - 1e-12].sum()
        assert check.path_p_value == pytest.approx(as_far, abs=ATOL)


@pytest.mark.parametrize("n_bins", [1, 2, 4])
def test_p_values_are_valid_for_labels_that_come_from_the_mixture(draws, n_bins):
    _, mass, checks = all_checks(draws, n_bins=n_bins)
    number = len(checks[0].bins)
    kinds = [
        [c.p_value for c in checks],
        [c.path_p_value for c in checks],
        [c.overall.p_value for c in checks],
        [min(b.adjusted_p_value for b in c.bins) for c in checks],
        *([c.bins[i].p_value for c in checks] for i in range(number)),
    ]
    for values in map(np.array, kinds):
        for level in values[mass > 0]:
            assert mass[values <= level + 1e-12].sum() <= level + ATOL


def test_bins_are_held_against_the_mean_of_their_laws(draws):
    outcomes, mass, checks = all_checks(draws, n_bins=2)
    order = np.argsort(-draws.mean(axis=0), kind="stable")
    for y, check in zip(outcomes, checks, strict=True):
        first = 0
        for one in [*check.bins, check.overall]:
            first = first % draws.shape[1]
            here = order[first : first + one.n]
            first += one.n
            count = outcomes[:, here].sum(axis=1)
            assert one.observed == y[here].sum()
            assert one.expected == pytest.approx(mass @ count, abs=ATOL)
            spread = mass @ (count - mass @ count) ** 2
            assert one.std**2 == pytest.approx(spread, abs=ATOL)
            tails = mass[count <= one.observed].sum(), mass[count >= one.observed].sum()
            assert one.p_value == pytest.approx(min(1, 2 * min(tails)), abs=ATOL)


def test_the_adjusted_p_value_is_that_of_the_smallest(draws):
    _, mass, checks = all_checks(draws, n_bins=3)
    smallest = np.array([min(b.p_value for b in c.bins) for c in checks])
    for check, own in zip(checks, smallest, strict=True):
        adjusted = min(b.adjusted_p_value for b in check.bins)
        as_small = mass[smallest <= own + 1e-12].sum()
        assert adjusted == pytest.approx(max(as_small, own), abs=ATOL)


@pytest.mark.parametrize("count", [1, 3])
def test_draws_that_agree_are_known_probabilities(count):
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = rng.random(200) < p**1.2
    known = check_calibration(y, p)
    drawn = check_calibration(y, UncertainProbabilities([p] * count))
    assert dataclasses.astuple(drawn) == dataclasses.astuple(known)


@pytest.mark.parametrize("count", [1, 2])
def test_no_labels_are_no_surprise(count):
    check = check_calibration([], UncertainProbabilities(np.empty((count, 0))))
    assert check.verdict == "There are no labels to check."
    assert check.p_value == 1.0


def test_only_what_no_draw_allows_is_impossible():
    u = UncertainProbabilities([[0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.25, 1.0]])
    assert check_calibration([0, 1, 0, 1], u).n_impossible == 0
    check = check_calibration([1, 1, 0, 0], u)
    assert (check.n_impossible, check.first_impossible, check.p_value) == (2, 0, 0.0)
    (none,) = check_calibration([1, 0], UncertainProbabilities(np.zeros((2, 2)))).bins
    assert none.p_value == none.adjusted_p_value == 0.0
    below = np.nextafter(1.0, 0.0)  # the mean of the first is 1.0, but for rounding
    nearly = UncertainProbabilities([[1.0, 0.5], [1.0, 0.25], [below, 0.5]])
    assert check_calibration([0, 1], nearly).n_impossible == 0


def test_what_is_improbable_is_not_called_impossible():
    u = UncertainProbabilities([[1 / 64, 1 / 64], [1 / 32, 1 / 32]])
    for one in check_calibration([1, 1], u).bins:
        both = (1 / 64**2 + 1 / 32**2) / 2
        assert one.adjusted_p_value == one.p_value == 2 * both


def test_doubt_about_the_map_is_no_misfit_but_a_wrong_map_is():
    rng = np.random.default_rng(5)
    scores = rng.random(400)
    calibration = bestcut.calibrate(rng.random(400) < scores**2, scores)
    low, high = calibration.score_range
    new = rng.uniform(low, high, 5000)
    labels = rng.random(5000) < new**2
    u = calibration(new)
    assert check_calibration(labels, u).fits
    assert not check_calibration(labels, u.mean).fits
    assert not check_calibration(rng.random(5000) < np.sqrt(new), u).fits


@pytest.mark.slow
def test_labels_from_the_mixture_are_rejected_at_most_as_often_as_stated():
    rng = np.random.default_rng(1)
    logits = rng.normal(size=40)
    shifts, slopes = rng.normal(size=(2, 20, 1)) / 2
    table = 1 / (1 + np.exp(-(logits * np.exp(slopes) + shifts)))
    u = UncertainProbabilities(table)
    level, runs = 0.1, 300
    rejected = 0
    for _ in range(runs):
        labels = rng.random(40) < table[rng.integers(20)]
        rejected += not check_calibration(labels, u, level=level).fits
    # 300 runs at a level of 0.1: four standard deviations are 0.07.
    assert rejected / runs <= level + 4 * np.sqrt(level * (1 - level) / runs)


def test_the_result_reads_as_for_known_probabilities():
    text = repr(check_calibration([1, 0, 0], UncertainProbabilities([[0.9, 0.2, 0.1]])))
    assert text.startswith("CalibrationCheck: The labels fit the probabilities")


def test_a_bin_that_no_draw_allows_is_impossible_among_others_too():
    draws = UncertainProbabilities([[0, 0, 0.5, 0.5], [0, 0, 0.25, 0.25]])
    check = check_calibration([1, 0, 1, 1], draws, n_bins=4)
    assert [(x.p_value, x.adjusted_p_value) for x in check.bins] == [(0.0, 0.0)]
