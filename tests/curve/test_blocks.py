"""What metrics say of their form, and two ways to take the total of positives."""

from dataclasses import replace

import numpy as np
import pytest

import bestcut
from bestcut.curve import curve_of
from bestcut.curve._affine import AffineCurve
from bestcut.metrics import FractionalLinear, Trait
from groups import one_in
from helpers import NAMES, descending
from oracles.extended import expected_curve

SEPARABLE = [
    *(x for x in map(bestcut.metrics.get, NAMES) if Trait.SEPARABLE in x.traits),
    FractionalLinear(c=(1, 2, -1, 0.5), d=(0.25, 0, 0, 1)),
    FractionalLinear(c=(1, 2, -1, 0.5), d=(0, 0, 3, 0)),
]


@pytest.mark.parametrize("metric", SEPARABLE, ids=str)
def test_separable_metrics_are_what_they_say(metric):
    n = 50.0
    k, s = np.arange(1.0, 50.0), np.arange(1.0, 50.0)[:, None]
    alpha, beta, delta = (np.broadcast_to(x, (49, 49)) for x in metric.affine(k, s, n))
    np.testing.assert_allclose(alpha, alpha[:, :1] + 0 * k, rtol=1e-14)
    product = np.multiply.outer(delta[:, 7], delta[11]) / delta[11, 7]
    np.testing.assert_allclose(delta, product, rtol=1e-13)
    straight = beta[:, :1] + (k - 1) * (beta[:, 1:2] - beta[:, :1])
    np.testing.assert_allclose(beta, straight, rtol=1e-11, atol=1e-11)


def test_a_rule_and_every_value_meet_in_one_curve():
    rng = np.random.default_rng(3)
    eta = descending(rng.beta(0.3, 3, size=1000))
    for name in ("f1", "cohen_kappa"):
        metric = bestcut.metrics.get(name)
        curve = curve_of(eta, metric)
        assert isinstance(curve, AffineCurve)
        assert set(curve.ruled.tolist()) == {False, True}
        values, errors = curve.whole()
        apart = np.abs(values - expected_curve(eta, metric))
        assert np.all(apart <= errors)
        assert errors.max() <= 1e-12


def test_three_nodes_stand_for_few_missed_positives():
    rng = np.random.default_rng(4)
    eta = descending(rng.beta(0.3, 3, size=30_000))
    curve = curve_of(eta, bestcut.metrics.get("gmean"))
    few = curve.below[1, :-1] < 2.0
    assert np.any(few & (curve.nodes[1] == 3))
    exact = bestcut.metrics.from_counts(
        lambda tp, fp, fn, tn: np.sqrt(tp / (tp + fn) * np.hypot(tn / (tn + fp), 0.0)),
        "gmean that cannot be followed",
        zero_division=0.0,
    )
    for j in np.flatnonzero(few & (curve.nodes[1] == 3))[:3].tolist():
        values, error = curve.block(j)
        k = int(curve.edges[j])
        truth = bestcut.expected_score(eta, np.arange(eta.size) < k, exact)
        assert abs(values[0] - truth) <= np.max(error) + 1e-13


@one_in(2, "n, sign", [40, 300, 900], [1, -1])
def test_separable_metrics_with_denominators_of_either_sign(sign, n):
    rng = np.random.default_rng(n)
    eta = descending(rng.beta(0.5, 1, size=n))
    for d in ((1, 0, 0, 0.5), (0, 0, 2, 0), (3, 0, 0, -1)):
        metric = FractionalLinear(c=(0.3, 1, -0.7, 0.1), d=tuple(sign * x for x in d))
        assert Trait.SEPARABLE in metric.traits
        values, errors = curve_of(eta, metric).whole()
        truth = expected_curve(eta, metric)
        apart = np.max(np.abs(values - truth))
        assert apart <= errors.max() <= 1e-12 * max(1.0, np.abs(truth).max())


@pytest.mark.parametrize("name", ["recall", "precision", "f1", "fowlkes_mallows"])
def test_undefined_scores_may_be_negative(name):
    metric = replace(bestcut.metrics.get(name), zero_division=-1e6)
    for n in (2, 5, 9, 12):
        eta = np.full(n, 0.01)
        values, errors = curve_of(eta, metric).whole()
        assert np.all(np.abs(values - expected_curve(eta, metric)) <= errors)
