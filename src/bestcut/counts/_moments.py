"""Cumulants of counts, and the quadrature rules they define.

A count S of independent Bernoulli(eta_i) has cumulants that are sums over instances, so
running sums give those of every prefix and suffix. With v = eta (1 - eta) and
r = 1 - 2 eta, every Bernoulli cumulant beyond the first is a polynomial in v, times r
for odd orders: nothing cancels for eta near 0 or 1. The sums of the `features` are
therefore all that is kept.

The law of S as a rule of m nodes: with Z = (S - mu) / sigma and
h_j = E[He_j(Z)] / j!, the nodes are those of Gauss and Hermite, mu + sigma z_i, and the
weights w_i sum_{j<m} h_j He_j(z_i). Any polynomial of degree below m is integrated
exactly.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from bestcut._validation import FloatArray

# From this variance on a law is computed from cumulants where it is not asked for in
# parts: its characteristic function vanishes long before their series ends.
LEAST_VARIANCE = 121.0


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


def hermite_law(sums: FloatArray, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights, a column for each column of feature sums."""
    kappa = cumulant_matrix(nodes) @ sums[:nodes]
    z, basis = hermite_rule(nodes)
    at = kappa[0] + np.multiply.outer(z, np.sqrt(kappa[1]))
    return at, basis @ hermite_coefficients(kappa)
