from fractions import Fraction

import mpmath
import numpy as np
import pytest

from bestcut.counts import _moments as moments
from bestcut.counts import poisson_binomial


def bernoulli_cumulants(eta, count):
    """kappa_{j+1} = eta (1 - eta) d kappa_j / d eta, on polynomials in eta."""
    poly, out = [Fraction(0), Fraction(1)], []
    for _ in range(count):
        out.append(sum(c * eta**i for i, c in enumerate(poly)))
        slope = [i * c for i, c in enumerate(poly)][1:]
        poly = [Fraction(0)] * (len(slope) + 2)
        for i, c in enumerate(slope):
            poly[i + 1] += c
            poly[i + 2] -= c
    return out


@pytest.mark.parametrize("eta", [0.0, 1.0, 0.5, 0.3, 1e-12, 1 - 2**-40])
def test_cumulants_are_linear_in_the_features(eta):
    m = moments.MOST_NODES
    got = moments.cumulant_matrix(m) @ moments.features(np.array([eta]), m)
    want = [float(x) for x in bernoulli_cumulants(Fraction(eta), m)]
    # The integer coefficients reach 1e9 at this order: that many epsilons, relative to
    # the largest cumulant of a Bernoulli variable of this variance.
    size = max(eta * (1 - eta), 1e-300)
    np.testing.assert_allclose(got[:, 0], want, rtol=0, atol=1e10 * 2.3e-16 * size)
    np.testing.assert_allclose(got[:4, 0], want[:4], rtol=1e-15, atol=0)


@pytest.mark.parametrize("nodes", [5, 7, 8, 10, 14])
def test_a_rule_integrates_polynomials_below_its_order(nodes):
    rng = np.random.default_rng(0)
    eta = rng.beta(0.5, 1, size=700)
    law = poisson_binomial(eta)
    mean, sigma = eta.sum(), np.sqrt((eta * (1 - eta)).sum())
    sums = moments.features(eta, nodes).sum(axis=1, keepdims=True)
    at, weights = moments.hermite_law(sums, nodes)
    standard = (np.arange(law.size) - mean) / sigma
    for power in range(nodes):
        want = law @ standard**power
        got = weights[:, 0] @ ((at[:, 0] - mean) / sigma) ** power
        size = law @ np.abs(standard) ** power
        assert got == pytest.approx(want, abs=1e-13 * size)


@pytest.mark.parametrize("sigma", [11, 15, 20.5, 28.5, 50.5, 100.5, 1000])
def test_the_number_of_nodes_is_enough_for_a_pole_at_the_end_of_the_range(sigma):
    # Poisson is the limit of many small probabilities: every cumulant is the mean, and
    # E[1 / (S + 1)] = (1 - exp(-mean)) / mean.
    mean = float(sigma) ** 2
    nodes = moments.node_count(mean)
    kappa = np.full((nodes, 1), mean)
    z, basis = moments.hermite_rule(nodes)
    weights = (basis @ moments.hermite_coefficients(kappa))[:, 0]
    got = weights @ (mean / (mean + sigma * z + 1))
    with mpmath.workdps(30):
        want = float(1 - mpmath.exp(-mean))
    assert got == pytest.approx(want, abs=2e-15)


def test_every_node_lies_inside_the_range_of_the_count():
    largest = max(np.abs(moments.hermite_rule(m)[0]).max() for _, m in moments._NODES)
    assert largest < np.sqrt(moments.LEAST_VARIANCE)
