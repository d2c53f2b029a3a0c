"""Cumulants and rules from sums of features."""

from fractions import Fraction

import numpy as np
import pytest

from bestcut.counts import _moments as moments, poisson_binomial
from bestcut.counts._rules import NODE_COUNTS

EPS = float(np.finfo(float).eps)
MOST = NODE_COUNTS[-1]


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
    m = MOST
    matrix, column = moments.cumulant_matrix(m), moments.features(np.array([eta]), m)
    got = (matrix @ column)[:, 0]
    want = np.array([float(x) for x in bernoulli_cumulants(Fraction(eta), m)])
    # Coefficients of both signs grow like factorials: what is added up rounds.
    terms = (np.abs(matrix) @ np.abs(column))[:, 0]
    assert np.all(np.abs(got - want) <= m * EPS * terms)
    np.testing.assert_allclose(got[:4], want[:4], rtol=1e-15, atol=0)
    # The largest cumulants of a Bernoulli variable of this variance.
    size = max(eta * (1 - eta), 1e-300)
    np.testing.assert_allclose(got[:14], want[:14], rtol=0, atol=1e10 * EPS * size)


@pytest.mark.parametrize("nodes", [7, *NODE_COUNTS])
def test_a_rule_integrates_polynomials_below_its_order(nodes):
    rng = np.random.default_rng(0)
    eta = rng.beta(0.5, 1, size=700)
    law = poisson_binomial(eta)
    mean, sigma = eta.sum(), np.sqrt((eta * (1 - eta)).sum())
    sums = moments.features(eta, nodes).sum(axis=1, keepdims=True)
    at, weights = moments.rule_of_sums(sums, nodes)
    standard = (np.arange(law.size) - mean) / sigma
    for power in range(nodes):
        want = law @ standard**power
        got = weights[:, 0] @ ((at[:, 0] - mean) / sigma) ** power
        size = law @ np.abs(standard) ** power
        assert got == pytest.approx(want, abs=1e-13 * size)
