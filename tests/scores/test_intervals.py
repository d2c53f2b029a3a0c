"""The score falls into its interval as often as the interval says."""

import numpy as np
import pytest

import bestcut
from scores.known import EVERY_NAME


def coverage(name, n, repeats, seed, level=0.9):
    """Return how often the score of a fresh test set falls into its interval."""
    rng = np.random.default_rng(seed)
    metric = bestcut.metrics.get(name)
    covered = 0
    for _ in range(repeats):
        p = rng.beta(0.5, 2, size=n)
        decision = bestcut.decide(p, metric)
        low, high = decision.distribution().interval(level)
        actual = rng.random(n) < p
        tp = np.count_nonzero(actual & decision.labels)
        score = metric(tp, decision.n_positive, np.count_nonzero(actual), n)
        covered += bool(low - 1e-12 <= score <= high + 1e-12)
    return covered / repeats


def assert_coverage(name, n, repeats, record):
    share = coverage(name, n, repeats, seed=[n, EVERY_NAME.index(name)])
    record(f"coverage of {name} at n = {n}", share)
    noise = 3 * np.sqrt(0.9 * 0.1 / repeats)
    assert share >= 0.9 - noise
    if n >= 3000:  # a single value has hardly any probability
        assert share <= 0.9 + noise


@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "jaccard"])
def test_intervals_cover_as_often_as_they_say(name, record_property):
    assert_coverage(name, 30, 100, record_property)
    assert_coverage(name, 300, 20, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "jaccard"])
@pytest.mark.parametrize("n", [30, 300, 3000])
def test_intervals_cover_as_often_as_they_say_in_many_test_sets(
    name, n, record_property
):
    assert_coverage(name, n, 2000, record_property)


def test_coverage_would_show_intervals_that_are_too_narrow():
    assert coverage("f1", 300, 100, seed=1, level=0.7) < 0.9 - 3 * np.sqrt(0.09 / 100)
