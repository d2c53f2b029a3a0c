"""Theorem 3: decisions from consistent probability estimates become optimal."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import bestcut
from bestcut.counts import poisson_binomial
from groups import slow

WEIGHTS = np.array([1.5, -1.0])
OFFSET = -1.0
TRAINING_SIZES = np.array([100, 400, 1600, 6400])
N_TEST, N_REPEATS = 50, 80


def true_probability(x):
    return 1 / (1 + np.exp(-(x @ WEIGHTS + OFFSET)))


def expected_score(eta, labels, metric):
    """E[metric] of given labels from the two exact laws, written out."""
    inside, outside = poisson_binomial(eta[labels]), poisson_binomial(eta[~labels])
    a, b = np.arange(inside.size)[:, None], np.arange(outside.size)
    return inside @ metric(a, inside.size - 1, a + b, eta.size) @ outside


@pytest.fixture(scope="module")
def draws():
    """True probabilities of many test sets, and estimates from growing samples."""
    rng = np.random.default_rng(2015)
    out = []
    for _ in range(N_REPEATS):
        x_test = rng.normal(size=(N_TEST, 2))
        x = rng.normal(size=(TRAINING_SIZES[-1], 2))
        y = rng.random(x.shape[0]) < true_probability(x)
        model = LogisticRegression(C=1e6, solver="newton-cholesky")  # few features
        estimates = [
            model.fit(x[:m], y[:m]).predict_proba(x_test)[:, 1] for m in TRAINING_SIZES
        ]
        out.append((true_probability(x_test), estimates))
    return out


@pytest.mark.parametrize(
    "name", ["f1", *map(slow, ("jaccard", "balanced_accuracy", "gmean"))]
)
def test_regret_goes_to_zero_at_the_expected_pace(name, draws):
    metric = bestcut.metrics.get(name)
    regret = np.array(
        [
            [
                bestcut.decide(eta, metric).expected_score
                - expected_score(eta, bestcut.decide(estimate, metric).labels, metric)
                for estimate in estimates
            ]
            for eta, estimates in draws
        ]
    )
    assert regret.min() >= -1e-12  # nothing beats the optimum
    mean = regret.mean(axis=0)
    assert np.all(np.diff(mean) < 0)
    # The estimate's error is m**-0.5 and the theorem bounds the regret by twice the
    # error of the utility, so the pace is at least that; the optimum is flat to first
    # order, so about m**-1 is what one sees.
    pace = np.polyfit(np.log(TRAINING_SIZES), np.log(mean), 1)[0]
    assert -1.5 < pace < -0.5
    assert mean[-1] < 2e-3


def test_regret_never_exceeds_the_bound_of_the_proof():
    # U(s*) - U(s^) <= 2 max_s |U(s; P) - U(s; P^)|, over all 2^n label vectors.
    rng = np.random.default_rng(0)
    metric = bestcut.metrics.get("f1")
    for _ in range(20):
        eta = rng.random(6)
        estimate = np.clip(eta + rng.normal(scale=0.15, size=6), 0, 1)
        vectors = (np.arange(64)[:, None] >> np.arange(6) & 1).astype(bool)
        under_truth = [expected_score(eta, s, metric) for s in vectors]
        under_estimate = [expected_score(estimate, s, metric) for s in vectors]
        chosen = bestcut.decide(estimate, metric).labels
        regret = max(under_truth) - expected_score(eta, chosen, metric)
        bound = 2 * np.max(np.abs(np.subtract(under_truth, under_estimate)))
        assert -1e-12 <= regret <= bound + 1e-12
