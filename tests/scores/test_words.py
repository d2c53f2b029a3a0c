"""A distribution of a score speaks as those of SciPy do."""

import itertools

import numpy as np
import pandas as pd
import pytest

import bestcut

P = np.array([0.5, 0.25, 0.75, 0.5, 0.125])
LABELS = np.array([1, 1, 0, 0, 1])
METRICS = ["f1", "accuracy", "fpr", "squared_count_error", "mcc", "2*tp - fp"]
DRAWS = bestcut.UncertainProbabilities([P, P[::-1]])


def atoms_of(metric, probabilities):
    """Return every possible score, and how probable it is, by listing all labels."""
    mass = {}
    for truth in itertools.product([0, 1], repeat=P.size):
        score = metric.realised(truth, LABELS)
        chance = np.mean([np.prod(np.where(truth, p, 1 - p)) for p in probabilities])
        same = round(score, 12)  # scores that differ by rounding are one
        _, before = mass.get(same, (score, 0.0))
        mass[same] = score, before + chance
    values, chances = np.array([mass[one] for one in sorted(mass)]).T
    return values, chances


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("drawn", [False, True])
def test_probabilities_of_scores_below_and_above(name, drawn):
    metric = bestcut.metrics.get(name)
    score = bestcut.score_distribution(DRAWS if drawn else P, LABELS, metric)
    values, mass = atoms_of(metric, [P, P[::-1]] if drawn else [P])
    # The probabilities are dyadic: what is listed is exact, and so are its sums.
    near = {"rtol": 0, "atol": score.probability_error}
    between = (values[1:] + values[:-1]) / 2
    for x in (values, between, np.array([-np.inf, np.inf, -99.0, 99.0])):
        below = np.array([mass[values <= one + 1e-9].sum() for one in x])
        np.testing.assert_allclose(score.cdf(x), below, **near)
        np.testing.assert_allclose(score.sf(x), 1 - below, **near)
    for one, chance in zip(values.tolist(), mass, strict=True):
        good = score.prob_at_least(one)
        other = score.sf(one) if metric.greater_is_better else score.cdf(one) - chance
        np.testing.assert_allclose(good, other + chance, **near)
    levels = np.array([0.1, 0.3, 0.77])
    cumulated = np.cumsum(mass)
    wanted = values[np.searchsorted(cumulated, levels)]
    np.testing.assert_allclose(score.ppf(levels), wanted, rtol=0, atol=1e-11)
    assert score.median() == score.ppf(0.5)
    even = bestcut.score_distribution([0.5], [1], "accuracy")
    assert (even.median(), even.ppf(0.505)) == (0.0, 1.0)
    assert score.var() == pytest.approx(score.std**2)


def test_they_take_what_arrays_take():
    score = bestcut.score_distribution(P, LABELS)
    grid = [[0.0, 0.5], [0.6, 1.0]]
    for function in (score.cdf, score.sf):
        found = function(grid)
        assert found.shape == (2, 2)
        assert isinstance(function(0.5), float)
        np.testing.assert_array_equal(function(pd.Series([0.0, 0.5])), found[0])
        for bad in (np.nan, [0.5, np.nan]):
            with pytest.raises(ValueError, match="`x` must not hold NaN"):
                function(bad)
        with pytest.raises(TypeError, match="`x` must hold real numbers"):
            function("half")


def test_the_words_hold_for_means_over_problems_and_for_totals():
    some = bestcut.decide_each(np.tile(P, (30, 1))).distribution()
    total = bestcut.score_distribution(
        P, LABELS, bestcut.RowUtility(tp=[5, 1, 2, 3, 4])
    )
    for score in (some, total):
        x = score.ppf([0.2, 0.5, 0.9])
        assert np.all(np.diff(score.cdf(x)) >= 0.0)
        np.testing.assert_allclose(score.cdf(x) + score.sf(x), 1.0, atol=1e-12)
        assert np.all(score.cdf(x) >= np.array([0.2, 0.5, 0.9]) - 1e-9)
