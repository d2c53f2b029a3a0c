"""How well a quadrature rule stands for the distribution of a count.

`bestcut.counts._moments` has the rule: m nodes, exact for polynomials of degree < m.
For a function that is analytic around the mean of the count, and of known size there,
the error of the rule is a sum over the higher powers of its Taylor series. The rule of
Gauss and Hermite is nearly right for these too, because the Hermite moments of a count
that varies much are small. Lemma 6 of docs/how-it-works/lemmas.md has the derivation;
the names here are those of the lemma.

References
----------
G. Bennett (1962). Probability inequalities for the sum of independent random variables.
Journal of the American Statistical Association 57, 33-45.

S. Boucheron, G. Lugosi and P. Massart (2013). Concentration Inequalities. Oxford
University Press. (Chapter 2 has Bennett's and Bernstein's inequality.)

P. J. Davis and P. Rabinowitz (1984). Methods of Numerical Integration, 2nd edition.
Academic Press. (Errors of rules for analytic functions.)
"""

from __future__ import annotations

from functools import cache
from math import factorial

import numpy as np

from bestcut._types import FloatArray, IndexArray
from bestcut.counts._moments import cumulant_matrix, hermite_rule

# Rules that are worth having; each is proved for smaller deviations than the last one.
NODE_COUNTS = (5, 6, 8, 10, 14, 20)
_INSIDE = 0.9  # how much of the radius of analyticity a Taylor series is used in
_LEAST_SIGMA, _STEPS, _RATIO = 2.0, 60, 1.2  # deviations that are tabulated


@cache
def _cumulant_sizes(count: int) -> FloatArray:
    """Return K with |kappa_r| <= K_r sigma², r = 0, 1, ..., count.

    A cumulant is v times a polynomial in v = eta (1 - eta) <= 1/4, times r at most 1.
    """
    matrix = np.abs(cumulant_matrix(count))
    sizes = np.zeros(count + 1)
    for order in range(2, count + 1):
        row = matrix[order - 1]
        # Columns 1, 2, 3, ... hold v, r v, v², r v², ...
        powers = (np.arange(1, count) - 1) // 2
        sizes[order] = float(np.sum(row[1:] * 0.25**powers))
    return sizes


def _hermite_sizes(sigma: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return bounds on |h_i| and on |E[S1 He_i(Z)]| / (i! max S1), in rows."""
    cumulants = _cumulant_sizes(count + 1)
    h = np.zeros((count, sigma.size))
    h[0] = 1.0
    for j in range(3, count):
        total = np.zeros(sigma.size)
        for i in range(3, j + 1):
            total += cumulants[i] * sigma ** (2.0 - i) / factorial(i - 1) * h[j - i]
        h[j] = total / j
    lifted = h.copy()
    for j in range(1, count):
        for i in range(1, j + 1):
            lifted[j] += h[j - i] * cumulants[i + 1] * sigma ** -float(i) / factorial(i)
    return h, lifted


@cache
def _defects(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return |E_N - Q_N|[He_i z^j], or E_N[He_i z^j] where i >= nodes; and E_N alone.

    N is the normal distribution, Q_N its Gauss rule; rows are j = 0, ..., J.
    """
    last = _degree(nodes)
    z, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / w.sum()
    exact = np.zeros((last + 1, last + 1))
    for j in range(last + 1):
        for half in range(j // 2 + 1):
            exact[j, j - 2 * half] = factorial(j) / (2.0**half * factorial(half))
    found = np.abs(exact)
    values = np.polynomial.hermite_e.hermevander(z, nodes - 1)
    for j in range(last + 1):
        for i in range(nodes):
            if i + j < 2 * nodes:
                found[j, i] = 0.0  # a Gauss rule is exact up to degree 2 m - 1
            elif (i + j) % 2 == 0:
                found[j, i] = abs(exact[j, i] - float(w @ (values[:, i] * z**j)))
    return found, exact


def _degree(nodes: int) -> int:
    """Return J, the power from which on the Taylor series is bounded as a whole."""
    return 2 * nodes + 6


@cache
def _tables(nodes: int, affine: bool) -> tuple[FloatArray, FloatArray]:
    """Return the factors of epsilon^m, ..., epsilon^J, a row for each deviation.

    The last one carries the rest of the series. Also the sum of the absolute weights,
    by the same bounds, for the rounding of weights and of what enters them.
    """
    sigma: FloatArray = _LEAST_SIGMA * _RATIO ** np.arange(float(_STEPS))
    last = _degree(nodes)
    h, lifted = _hermite_sizes(sigma, last + 1)
    # |alpha_j + a beta_j| <= M epsilon^j for a between 0 and its largest value leaves
    # |alpha_j| <= M epsilon^j and |beta_j| max a <= 2 M epsilon^j.
    size = h + 2.0 * lifted if affine else h
    found, exact = _defects(nodes)
    factors = found[nodes:] @ size
    z, basis = hermite_rule(nodes)
    weights = np.abs(basis) @ size[:nodes]
    rest = np.abs(z)[:, None] ** last * weights
    factors[-1] = (exact[last] @ size + rest.sum(axis=0)) / (1.0 - _INSIDE)
    # Of an affine metric the two parts of a term are bounded by themselves.
    parts = (h, lifted) if affine else (h,)
    sums = [(np.abs(basis) @ part[:nodes]).sum(axis=0) for part in parts]
    return np.ascontiguousarray(factors.T), np.maximum.reduce(sums)


def _row(sigma: FloatArray) -> IndexArray:
    """Return the tabulated deviation at or below each; bounds fall with sigma."""
    place = np.log(np.maximum(sigma, _LEAST_SIGMA) / _LEAST_SIGMA) / np.log(_RATIO)
    rows = np.clip(place * (1 - 1e-12), 0.0, _STEPS - 1.0)
    out: IndexArray = rows.astype(np.intp)
    return out


def weight_size(nodes: int, sigma: FloatArray, *, affine: bool = False) -> FloatArray:
    """Bound the sum of the absolute terms that make up the weights of a rule."""
    out: FloatArray = _tables(nodes, affine)[1][_row(sigma)]
    return out


def log_tail(variance: FloatArray, distance: FloatArray) -> FloatArray:
    """Return the logarithm of a bound on P(|S - mean| >= distance).

    Bennett's inequality for either side, Lemma 3: -variance g(distance / variance) with
    g(u) = (1 + u) log(1 + u) - u.
    """
    variance = np.maximum(variance, 1e-300)
    u = distance / variance
    with np.errstate(over="ignore"):
        # Where u is small, g loses its digits: u² / (2 + 2 u / 3) is below it.
        g = np.maximum((1.0 + u) * np.log1p(u) - u * (1 + 1e-14), u * u / (2 + u / 1.5))
        out: FloatArray = np.log(2.0) - variance * np.where(np.isfinite(g), g, u)
    return out


def stray(variance: FloatArray, log_chance: FloatArray | float) -> FloatArray:
    """Return how far a count strays, but for a chance of exp(`log_chance`) a side.

    Bernstein's inequality, Lemma 3, solved for the distance.
    """
    log = -log_chance
    out: FloatArray = log / 3 + np.sqrt(log * log / 9 + 2 * variance * log)
    return out


def gauss_error(
    variance: FloatArray, radius: FloatArray, size: FloatArray, largest: float
) -> FloatArray:
    """Bound |E f(S) - Q f| for the rule of three nodes (Lemma 6).

    `radius` and `size` as for `rule_error`; `largest` bounds f at every real value
    between 0 and the number of instances.
    """
    # The sixth central moment, with |kappa_r| <= variance.
    moment = variance * (1.0 + variance * (25.0 + 15.0 * variance))
    with np.errstate(all="ignore"):
        error = moment / radius**6 * (23.0 * size + 3.8 * largest)
    return np.where(np.isfinite(error), error, np.inf)


def rule_error(
    nodes: int,
    variance: tuple[FloatArray, FloatArray],
    radius: FloatArray,
    size: FloatArray,
    largest: float,
    *,
    affine: bool = False,
) -> FloatArray:
    """Bound |E f(S) - Q f| for a rule Q of so many nodes (Lemma 6).

    Parameters
    ----------
    nodes : int
        One of `NODE_COUNTS`.
    variance : tuple of two ndarrays
        The least and the largest variance of the counts S in question.
    radius : ndarray
        f is analytic at distances up to this from the mean of S.
    size : ndarray
        Bound on the absolute value of f there.
    largest : float
        Bound on it at every value of S.
    affine : bool
        Whether f is also affine in a count S1 that is a part of S, with the rule that
        integrates S1 p(S) exactly for polynomials p of degree below `nodes`.
    """
    least, most = (np.sqrt(v) for v in variance)
    with np.errstate(all="ignore"):
        factors = _tables(nodes, affine)[0][_row(least)]
        last = _degree(nodes)
        powers = (most / radius)[:, None] ** np.arange(nodes, last + 1)
        series = size * np.sum(powers * factors, axis=1)
        distance = _INSIDE * radius
        tail = log_tail(variance[1], distance)
        growth = last * np.log(1.0 / _INSIDE) + np.log(2.0 * last * size + largest)
        error = series + np.exp(np.minimum(tail + growth, 700.0))
        usable = (least >= _LEAST_SIGMA) & (
            distance > hermite_rule(nodes)[0][-1] * most
        )
        usable &= -tail >= (last + 1) * np.log(2.0)
        return np.where(usable & np.isfinite(error), error, np.inf)
