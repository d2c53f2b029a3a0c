"""The law of the score of a few instances is exact, whatever way it is found."""

from fractions import Fraction

import numpy as np
import pytest

import bestcut
from bestcut.metrics import from_counts
from groups import slow
from helpers import metric_of
from oracles import error_of
from oracles.definitions import DEFINITIONS, LOSSES
from oracles.outcomes import cell_laws, score_law
from scores.known import (
    CUSTOM,
    EVERY_NAME,
    assert_law,
    assert_quantile,
    direct_law,
    exactly,
    problem,
    zero_divisions,
)


@pytest.mark.parametrize("most_n", [7, slow(12)])
@pytest.mark.parametrize("name", EVERY_NAME)
def test_the_law_of_every_catalogue_metric_is_the_exact_one(name, most_n):
    rng = np.random.default_rng(EVERY_NAME.index(name))
    for n in [0, 1, 2, 3, 5, *rng.integers(4, most_n + 1, size=4).tolist()]:
        p, labels = problem(rng, n)
        for zero_division in zero_divisions(name):
            metric = metric_of(name, zero_division)
            law = score_law(p, labels, DEFINITIONS[name], exactly(zero_division))
            distribution = bestcut.score_distribution(p, labels, metric)
            assert_law(distribution, law, rng, loss=name in LOSSES)
            assert bestcut.expected_score(p, labels, metric) == distribution.mean


@pytest.mark.parametrize(
    "sizes", [(1, 2, 4, 7, 8, 10), slow((10, 12, 12, 12))], ids=str
)
@pytest.mark.parametrize("name", CUSTOM)
def test_the_law_of_a_metric_of_ones_own_is_the_exact_one(name, sizes):
    metric, definition, zero_division = CUSTOM[name]
    rng = np.random.default_rng(len(name))
    for n in sizes:
        p, labels = problem(rng, n)
        law = score_law(p, labels, definition, Fraction(zero_division))
        distribution = bestcut.score_distribution(p, labels, metric)
        assert_law(distribution, law, rng, loss=not metric.greater_is_better)


@pytest.mark.parametrize("name", [*EVERY_NAME, *CUSTOM])
def test_the_ways_for_many_instances_are_exact_for_a_few(name, monkeypatch):
    """Bisection, for metrics that rise; without listing every pair first."""
    monkeypatch.setattr("bestcut.scores._pairs.FEW", 0)
    rng = np.random.default_rng(len(name))
    for n in (3, 12):
        p, labels = problem(rng, n)
        if name in CUSTOM:
            metric, definition, zero_division = CUSTOM[name]
        else:
            zero_division = int(rng.integers(2))
            metric, definition = metric_of(name, zero_division), DEFINITIONS[name]
        law = score_law(p, labels, definition, Fraction(zero_division))
        distribution = bestcut.score_distribution(p, labels, metric)
        loss = not metric.greater_is_better
        assert_law(distribution, law, rng, loss=loss, most=8)


@pytest.mark.parametrize("name", ["bumpy", "bumpy loss", "lift", "regret"])
def test_narrow_bins_are_right_within_their_width(name, monkeypatch):
    monkeypatch.setattr("bestcut.scores._pairs.FEW", 0)
    monkeypatch.setattr("bestcut.scores._pairs._MANY", 0)
    metric, definition, zero_division = CUSTOM[name]
    rng = np.random.default_rng(len(name))
    for n in (1, 4, 8, 12):
        p, labels = problem(rng, n)
        law = score_law(p, labels, definition, Fraction(zero_division))
        distribution = bestcut.score_distribution(p, labels, metric)
        width = float(law.values[-1] - law.values[0])
        assert distribution.value_error <= 1e-5 * max(width, 1)
        chance_error = Fraction(distribution.probability_error)
        for q in (0.05, 0.3, 0.5, 0.95):
            x = distribution.ppf(q)
            assert_quantile(x, q, law, 2 * chance_error, distribution.value_error)
        for v in law.values:
            low, high = law.at_most(v), law.at_least(v)
            surprise = distribution.surprise(float(v))
            assert error_of(surprise.prob_lower, low) <= chance_error
            assert error_of(surprise.prob_higher, high) <= chance_error


def test_the_comparison_rejects_wrong_laws():
    rng = np.random.default_rng(0)
    p, labels = [0.3, 0.6, 0.2, 0.8], [1, 0, 1, 1]
    right = score_law(p, labels, DEFINITIONS["f1"], Fraction(0))
    distribution = bestcut.score_distribution(p, labels, "f1")
    assert_law(distribution, right, rng)
    wrong = [
        score_law(p, [1, 1, 0, 1], DEFINITIONS["f1"], Fraction(0)),
        score_law(p, labels, DEFINITIONS["jaccard"], Fraction(0)),
        score_law([0.3, 0.6, 0.2, 0.8 + 1e-9], labels, DEFINITIONS["f1"], Fraction(0)),
        right.shifted(Fraction(1e-12)),
    ]
    for law in wrong:
        with pytest.raises(AssertionError):
            assert_law(distribution, law, rng)
    with pytest.raises(AssertionError):
        assert_law(distribution, right, rng, loss=True)


@pytest.mark.parametrize("values", [[0.1, 0.2, 0.4], [1 / 3, 0.6, 0.9]])
def test_a_round_number_is_reached_by_the_count_that_gives_it(values):
    # Ten instances, nine right: an accuracy of 0.9 is reached, as 1 - 0.1 and 9 / 10.
    n = 10
    p = np.array(values * 4)[:n]
    labels = np.ones(n, dtype=bool)
    inside, _ = cell_laws(p, labels)
    distribution = bestcut.score_distribution(p, labels, "accuracy")
    for right in range(n + 1):
        exact = sum(inside[right:])
        for c in (
            right / n,
            1 - (n - right) / n,
            right * 0.1,
            float(np.float64(right) / n),
        ):
            assert error_of(distribution.prob_at_least(c), exact) <= Fraction(1e-13)


def late(tp, fp, fn, tn):
    """Like the share of right labels until there are more than 40 positives."""
    share = (tp + tn) / np.maximum(tp + fp + fn + tn, 1)
    return np.where(tp + fn > 40, 1 - share, share)


@pytest.mark.parametrize("few", [None, 0])
def test_what_turns_only_for_many_instances_is_not_taken_for_monotone(few, monkeypatch):
    if few is not None:  # pairs that are listed without a thought
        monkeypatch.setattr("bestcut.scores._pairs.FEW", few)
    metric = from_counts(late, "late")
    rng = np.random.default_rng(2)
    p = rng.beta(0.5, 1.5, size=160)  # some 40 positives
    labels = p > 0.4
    scores, masses = direct_law(p, labels, metric)
    distribution = bestcut.score_distribution(p, labels, metric)
    assert distribution.mean == pytest.approx(scores @ masses, abs=1e-12)
    for c in np.linspace(0.1, 0.9, 9):
        chance = masses[scores >= c - 1e-12].sum()
        assert distribution.prob_at_least(c) == pytest.approx(chance, abs=1e-12)
    for q in (0.05, 0.5, 0.95):
        x = distribution.ppf(q)
        assert masses[scores <= x + 1e-12].sum() >= q - 1e-12
        assert masses[scores < x - 1e-12].sum() <= q + 1e-12


def test_a_huge_score_for_0_by_0_does_not_make_other_scores_equal():
    metric = bestcut.metrics.Recall(zero_division=-1e18)
    distribution = bestcut.score_distribution([0.5, 0.5], [1, 0], metric)
    chances = [distribution.prob_at_least(c) for c in (0.0, 0.5, 0.9, 1.1)]
    assert chances == [0.75, 0.5, 0.25, 0.0]
    assert distribution.cdf([0.0, 0.5]).tolist() == [0.5, 0.75]
