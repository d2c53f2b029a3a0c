"""The expected score of every cut is right within the error that is stated."""

import numpy as np
import pytest

import bestcut
from bestcut.counts import poisson_binomial_window
from bestcut.curve import curve_of
from bestcut.metrics import FractionalLinear, LinearUtility, Trait, from_counts
from curve.known import LAWS, TVERSKY, assert_curve_is_right, probabilities
from groups import one_in
from helpers import NAMES, descending
from oracles.extended import expected_curve


@one_in(2, "law, n", list(LAWS), [1, 2, 7, 150])
def test_the_whole_curve_is_right_for_every_metric(law, n):
    eta = probabilities(law, n)
    for name in NAMES:
        assert_curve_is_right(eta, bestcut.metrics.get(name))
    assert_curve_is_right(eta, TVERSKY)
    assert_curve_is_right(eta, LinearUtility(tp=100, fp=-7, fn=-30, tn=0.5))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("beta", [1e-3, 1e3])
def test_extreme_weights_do_not_magnify_rounding(seed, beta):
    # Where nothing is positive F-beta divides by n_pred alone: what rounding leaves of
    # "a positive, and none in all" would count a million times.
    rng = np.random.default_rng(seed)
    likely, unlikely = rng.uniform(0.5, 0.95, 20), rng.choice([0, 1e-3, 0.01], 225)
    eta = descending(np.concatenate([likely, unlikely]))
    assert_curve_is_right(eta, bestcut.metrics.FBeta(beta))


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", NAMES)
def test_the_whole_curve_is_right_at_700(law, name):
    # Terms that cancel and long distributions: what is stated is a worst case.
    eta = probabilities(law, 700)
    assert_curve_is_right(eta, bestcut.metrics.get(name), largest_error=2e-12)


@one_in(2, "name", ["f1", "jaccard", "mcc", "gmean", "qmean_sqrt"])
def test_the_whole_curve_is_right_where_cumulants_take_over(name):
    # A variance of 150 in all: exact laws on one side, Gauss and Hermite on the other.
    assert_curve_is_right(probabilities("uniform", 900), bestcut.metrics.get(name))


REFERENCE = 1e-13  # what laws built one by one may round, of metrics of at most 1


def laws_at(eta, k):
    """Return the laws of both sides of a cut, built instance by instance."""
    return tuple(poisson_binomial_window(p, tail=1e-19) for p in (eta[:k], eta[k:]))


def exact_at(eta, k, metric, laws):
    """E[metric] of one cut from its two laws."""
    above, below = laws
    a = above.counts[:, None]
    score = metric.score(a, float(k), a + below.counts, float(eta.size))
    return above.pmf @ np.broadcast_to(score, (a.size, below.pmf.size)) @ below.pmf


def assert_values_at(eta, names, cuts):
    curves = {name: curve_of(eta, bestcut.metrics.get(name)) for name in names}
    for k in cuts:
        laws = laws_at(eta, k)
        for name, curve in curves.items():
            metric = bestcut.metrics.get(name)
            truth = exact_at(eta, k, metric, laws)
            j = min(
                int(np.searchsorted(curve.edges, k, side="right")) - 1,
                curve.edges.size - 2,
            )
            values, errors = curve.block(j)
            here = k - curve.edges[j]
            error = np.broadcast_to(errors, values.shape)[here]
            assert values[here] == pytest.approx(truth, abs=1e-12)
            assert abs(values[here] - truth) <= error + REFERENCE


SEVERAL = ["f1", "mcc", "balanced_accuracy", "jaccard", "gmean", "hmean", "qmean_sqrt"]


@one_in(3, "law", ["skewed", "rare", "u-shaped"])
def test_single_values_at_20000_match_laws_built_one_by_one(law):
    eta = probabilities(law, 20_000)
    assert_values_at(eta, SEVERAL, [3, 900, 12_000, 19_990])


@pytest.mark.slow
@pytest.mark.parametrize("n", [10**5, 10**6])
def test_single_values_match_laws_built_one_by_one(n):
    eta = probabilities("skewed", n)
    best = bestcut.decide(eta, "f1").n_positive
    assert_values_at(eta, SEVERAL, [best, n // 2])


STEP = from_counts(
    lambda tp, fp, fn, tn: 1.0 * (tp >= 0.6 * (tp + fn)) - 0.1 * fp / (fp + tn + 1),
    "at least 60 % found",
)


@pytest.mark.parametrize("law", LAWS)
def test_a_step_shaped_metric_comes_out_right(law):
    for n in (1, 30, 150):
        assert_curve_is_right(probabilities(law, n), STEP)


def test_a_step_shaped_metric_comes_out_right_where_its_laws_are_wide():
    assert_curve_is_right(probabilities("uniform", 800), STEP)


@pytest.mark.parametrize("n", [40, 900])
def test_a_denominator_that_changes_sign_is_not_taken_for_smooth(n):
    metric = FractionalLinear(c=(1, 0, 1, 0), d=(-1, 0, 2, 0))  # a pole at k = n / 2
    assert Trait.ONE_SIGN not in metric.traits
    assert_curve_is_right(probabilities("uniform", n), metric)


def test_the_comparisons_reject_curves_that_are_a_little_off(monkeypatch):
    eta, metric = probabilities("uniform", 60), bestcut.metrics.get("f1")
    assert_curve_is_right(eta, metric)
    assert_values_at(eta, ["f1"], [30])
    monkeypatch.setattr(
        "curve.known.expected_curve", lambda *args: expected_curve(*args) + 2e-13
    )
    with pytest.raises(AssertionError):
        assert_curve_is_right(eta, metric)
    real = exact_at
    monkeypatch.setitem(globals(), "exact_at", lambda *args: real(*args) + 2e-12)
    with pytest.raises(AssertionError):
        assert_values_at(eta, ["f1"], [30])
