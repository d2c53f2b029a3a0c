"""Cumulants of counts, and the quadrature rules they define.

A count S of independent Bernoulli(eta_i) has cumulants that are sums over instances, so
running sums give those of every prefix and suffix. With v = eta (1 - eta) and
r = 1 - 2 eta, every Bernoulli cumulant beyond the first is a polynomial in v, times r
for odd orders: nothing cancels for eta near 0 or 1. The sums of the `features` are
therefore all that is kept.

The law of S as a rule of m nodes: with Z = (S - mu) / sigma and
h_j = E[He_j(Z)] / j!, the nodes are those of Gauss and Hermite, mu + sigma z_i, and the
weights w_i sum_{j<m} h_j He_j(z_i). Any polynomial of degree below m is integrated
exactly. For three nodes there is a better rule: the Gauss rule of the law of S itself,
with positive weights, which serves however small the variance is.

References
----------
S. Blinnikov and R. Moessner (1998). Expansions for nearly Gaussian distributions.
Astronomy and Astrophysics Supplement 130, 193-205. (Hermite moments from cumulants.)

W. Gautschi (2004). Orthogonal Polynomials: Computation and Approximation. Oxford
University Press. (Gauss rules from moments.)
"""

from __future__ import annotations

from functools import cache

import numpy as np

from bestcut._types import FloatArray

# From this variance on a law is computed from cumulants where it is not asked for in
# parts: its characteristic function vanishes long before their series ends.
LEAST_VARIANCE = 121.0
GAUSS = 3  # nodes of the rule that is exact up to degree five
_NO_VARIANCE = 1e-300
_UNLIKELY = 1e-10  # chance of two, of that of one, which rounding hides


def features(eta: FloatArray, count: int) -> FloatArray:
    """Return the rows eta, v, r v, v², r v², ...: `count` of them."""
    out = np.empty((count, eta.size))
    out[0] = eta
    if count > 1:
        np.subtract(1.0, eta, out=out[1])
        out[1] *= eta
    if count > 2:
        np.multiply(eta, -2.0, out=out[2])
        out[2] += 1.0
        out[2] *= out[1]
    for row in range(3, count):
        np.multiply(out[row - 2], out[1], out=out[row])
    return out


@cache
def cumulant_matrix(count: int) -> FloatArray:
    """Return K with (kappa_1, ..., kappa_count) = K @ (sums of the features).

    kappa_{j+1} = v d kappa_j / d eta, where dv = r, dr = -2 and r² = 1 - 4 v.
    """
    matrix = np.zeros((count, count))
    matrix[0, 0] = 1.0
    poly = np.zeros(count + 2)  # kappa_j, divided by r if j is odd, in powers of v
    poly[1] = 1.0
    powers = np.arange(count + 2)
    for order in range(2, count + 1):
        columns = range(1 if order % 2 == 0 else 2, count, 2)
        for power, column in enumerate(columns, start=1):
            matrix[order - 1, column] = poly[power]
        slope = powers * poly  # v d/dv
        if order % 2 == 0:
            poly = slope
        else:
            poly = slope - 2.0 * np.roll(poly, 1) - 4.0 * np.roll(slope, 1)
    return matrix


@cache
def hermite_rule(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return the Gauss-Hermite nodes z and the matrix w_i He_j(z_i)."""
    z, w = np.polynomial.hermite_e.hermegauss(nodes)
    values = np.polynomial.hermite_e.hermevander(z, nodes - 1)
    return z, (w / w.sum())[:, None] * values


def hermite_coefficients(kappa: FloatArray) -> FloatArray:
    """Return h_j = E[He_j(Z)] / j! for j below the number of cumulants (rows).

    They are the coefficients of exp(sum_{j>=3} kappa_j t^j / (sigma^j j!)).
    """
    count = kappa.shape[0]
    h = np.zeros_like(kappa)
    h[0] = 1.0
    exponent = np.empty_like(kappa)  # i times the coefficient of t^i in the exponent
    factor = 1.0 / np.sqrt(kappa[1])
    power = factor * factor
    for i in range(3, count):
        power = power * (factor / (i - 1))
        exponent[i] = kappa[i - 1] * power
    for j in range(3, count):  # j h_j = sum_i exponent_i h_(j-i)
        h[j] = np.einsum("ik,ik->k", exponent[3 : j + 1], h[j - 3 :: -1]) / j
    return h


def rule_of_sums(sums: FloatArray, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights, a column for each column of feature sums."""
    if nodes == GAUSS:
        return _gauss_rule(cumulant_matrix(5) @ sums[:5])
    kappa = cumulant_matrix(nodes) @ sums[:nodes]
    z, basis = hermite_rule(nodes)
    at = kappa[0] + np.multiply.outer(z, np.sqrt(kappa[1]))
    return at, basis @ hermite_coefficients(kappa)


def features_of_rule(nodes: int) -> int:
    """Return how many features a rule is made from."""
    return 5 if nodes == GAUSS else nodes


def _gauss_rule(kappa: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the Gauss rule of the distribution itself, from five cumulants.

    Around the mean its orthogonal polynomials are 1, x, p2 = x (x - g) - kappa_2 and
    p3 = (x - h) p2 - x |p2|² / kappa_2, whose zeros are the nodes (Lemma 6).
    """
    mean, variance, k3, k4, k5 = kappa
    k2 = np.maximum(variance, _NO_VARIANCE)
    g = k3 / k2
    norm = k4 - g * k3 + 2.0 * k2 * k2  # |p2|²
    # More than one is all but impossible: two nodes are enough, and p2 has them.
    single = norm <= _UNLIKELY * k2
    norm = np.where(single, k2, norm)
    h = np.where(single, g, (k5 + 6.0 * k3 * k2 - g * k4) / norm - g)
    far = (g + np.copysign(np.sqrt(g * g + 4.0 * k2), g)) / 2.0
    x = np.where(
        single, np.stack([far, -k2 / far, 0.0 * g]), _zeros(g, h, k2, norm / k2)
    )
    p2 = x * (x - g) - k2
    weights = 1.0 / (1.0 + x * x / k2 + np.where(single, 0.0, p2 * p2 / norm))
    weights[2] = np.where(single, 0.0, weights[2])
    return mean + x, weights / weights.sum(axis=0)


def _zeros(g: FloatArray, h: FloatArray, k2: FloatArray, b2: FloatArray) -> FloatArray:
    """Return the zeros of p3, by Viete's formula and two steps of Newton's method."""
    middle = (g + h) / 3.0
    a, b, c = -middle, g - middle, h - middle
    size = np.sqrt((a * a + b * b + c * c + 2.0 * (k2 + b2)) / 6.0)
    half = (a * (b * c - b2) - k2 * c) / (2.0 * size**3)
    angle = np.arccos(np.clip(half, -1.0, 1.0)) / 3.0
    turns = np.array([[0.0], [2.0], [4.0]]) * (np.pi / 3.0)
    x: FloatArray = middle + 2.0 * size * np.cos(angle + turns)
    for _ in range(2):
        p2 = x * (x - g) - k2
        value = (x - h) * p2 - b2 * x
        slope = p2 + (x - h) * (2.0 * x - g) - b2
        x = x - np.where(slope == 0.0, 0.0, value / np.where(slope == 0.0, 1.0, slope))
    return x
