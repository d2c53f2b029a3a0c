"""Expected scores of many small problems at once, for the F-beta family and Jaccard.

F-beta by an integral: 1 / D is the integral of t^(D - 1) over t from 0 to 1, and with
D = d2 k + d3 S the expectation of S1 / D becomes an integral of products over the
instances,

    E[S1 / D] = int t^(d2 k - 1) G(tau) sum_{i<=k} eta_i tau / (1 - eta_i + eta_i tau),

where tau = t^d3 and G(tau) = prod_i (1 - eta_i + eta_i tau). All factors lie in [0, 1].
For whole d2 and d3 the integrand is a polynomial, so that the error of a Gauss-Legendre
rule is known beforehand, and few nodes are enough.

Jaccard factorises: E[S1 / (k + S2)] = E[S1] E[1 / (k + S2)], by the laws of S2.

None of them looks at n: instances of probability 0 may be added as one likes.

References
----------
M. T. Chao and W. E. Strawderman (1972). Negative moments of positive random variables.
Journal of the American Statistical Association 67, 429-431. (The integral.)

P. J. Davis and P. Rabinowitz (1984). Methods of Numerical Integration, 2nd edition.
Academic Press. (Gauss-Legendre rules and their error.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bestcut._types import EPS, FloatArray
from bestcut.counts import count_laws
from bestcut.many._counts import NEGLIGIBLE, of_nobody, running_laws
from bestcut.metrics import FractionalLinearMetric, Metric

# The largest power of t (F1 of 2,048 instances has it), and the most instances of laws:
# beyond, problems one by one are as fast.
_LARGEST = 4096
_FEWEST_NODES = 2.75  # times the root of the largest power: see `_rule`
_NEWTON = 5  # steps: the first guess is off by 1 / N³, and every step squares that
_TOGETHER = 8  # instances whose factors are multiplied out beforehand
_CACHE = 1 << 15  # floats
_LEAST = 1e-280  # of tau: what it is divided into stays finite

Curves = Callable[[FloatArray], tuple[FloatArray, float]]


class Kernel(NamedTuple):
    """A way to all curves of a block of problems.

    `curves` takes probabilities with a column for each problem, sorted descending, and
    returns the expected score of every cut, one row more, and a bound on the error of
    each of them. `together` is how many problems keep the innermost loop in cache.
    """

    curves: Curves
    together: int


def ignores_n(metric: Metric) -> bool:
    """Return whether instances of probability 0 that stay negative change nothing."""
    if not isinstance(metric, FractionalLinearMetric):
        return False
    return not any(float(part[0]) for part in metric.coefficients())


def fractional_kernel(metric: Metric, m: int) -> Kernel | None:
    """Return the kernel for problems of `m` probabilities, or None.

    However many instances of probability 0 are left out.
    """
    if not isinstance(metric, FractionalLinearMetric) or m == 0:
        return None
    c, d = ([Fraction(x) for x in part] for part in metric.coefficients())
    if c[0] or c[2] or c[3] or d[0] or d[2] <= 0 or d[3] <= 0 or c[1] < 0:
        return None
    empty = float(metric.zero_division)
    if d[1] == 0:
        scale = math.lcm(d[2].denominator, d[3].denominator)
        slopes = int(d[2] * scale), int(d[3] * scale)
        if sum(slopes) * m > _LARGEST:
            return None
        return _f_kernel(float(c[1] * scale), *slopes, empty, m)
    if d[1] == -d[3] and m <= _LARGEST:
        return _jaccard_kernel(float(c[1]), float(d[2]), float(d[3]), empty, m)
    return None


class _Quadrature(NamedTuple):
    """Nodes and weights on (0, 1).

    `error` bounds D |sum w t^(D - 1) - 1 / D| for every power D that was asked for.
    """

    nodes: FloatArray
    weights: FloatArray
    error: float


@lru_cache(maxsize=64)
def _rule(largest: int) -> _Quadrature:
    """Return a Gauss-Legendre rule for all powers D from 1 to `largest`.

    t^D grows like exp(D s² / 4) on the ellipse with axes cosh s and sinh s, so that N
    nodes leave about exp(D s² / 4 - 2 N s), which is exp(-4 N² / D) at best. Whatever
    they leave is measured, with the nodes as they are rounded, and as much is enough
    as the instances leave in any case.
    """
    count = start = int(_FEWEST_NODES * math.sqrt(largest)) + 4
    rule = _measured(count, largest)
    while rule.error > (largest + count / 2 + 16) * EPS and count < 4 * start:
        count += 4
        rule = _measured(count, largest)
    return rule


def _measured(count: int, largest: int) -> _Quadrature:
    """Return the rule of so many nodes, and its error.

    All powers are products t^i t^j, each factor within 4 units. Two more roundings and
    a sum of N terms, N / 2 eps, make N / 2 + 10. All terms are positive, so that eps is
    relative to 1 / D.
    """
    t, w = _gauss_legendre(count)
    step = math.isqrt(largest) + 1
    near = t[:, None] ** np.arange(step)
    far = t[:, None] ** np.arange(0, largest, step)
    found = ((far * w[:, None]).T @ near).ravel()[:largest]
    error = float(np.max(np.abs(np.arange(1, largest + 1) * found - 1.0)))
    return _Quadrature(t, w, error + (count / 2 + 10) * EPS)


def _gauss_legendre(count: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights on (0, 1), by Newton's method.

    NumPy's are good to some ten units, which a large power of t makes many. Extended
    precision, where there is such a thing, leaves one.
    """
    angle = (np.arange(count, dtype=np.longdouble) + 0.75) / (count + 0.5)
    z = -np.cos(np.pi * angle)
    for _ in range(_NEWTON):
        before, value = np.ones_like(z), z
        for j in range(2, count + 1):
            before, value = value, ((2 * j - 1) * z * value - (j - 1) * before) / j
        slope = count * (before - z * value) / (1 - z * z)
        z = z - value / slope  # the last step is too short to change the slope
    w = 1.0 / ((1 - z * z) * slope**2)
    return ((z + 1) / 2).astype(np.float64), w.astype(np.float64)


def _shared_rule(largest: int) -> _Quadrature:
    """Return a rule for the next of four powers in an octave: few do for all sizes."""
    step = max(1 << max((largest - 1).bit_length() - 3, 0), 1)
    return _rule(-(-largest // step) * step)


def _f_kernel(c1: float, d2: int, d3: int, empty: float, m: int) -> Kernel:
    t, w, truncation = _shared_rule((d2 + d3) * m)
    tau = (t.astype(np.longdouble) ** d3).astype(np.float64)
    k = np.arange(1.0, m + 1.0)[:, None]
    weights = c1 * w * t ** (d2 * k - 1.0) * tau
    column = np.maximum(tau, _LEAST)[:, None]  # below, the weights are as good as 0

    def curves(eta: FloatArray) -> tuple[FloatArray, float]:
        out = np.empty((m + 1, eta.shape[1]))
        out[0] = empty * np.prod(1.0 - eta, axis=0)
        product = _product(eta, tau)
        # eta tau / (1 - eta + eta tau) = tau / ((1 - eta) / eta + tau)
        with np.errstate(divide="ignore", over="ignore"):
            against = (1.0 - eta) / eta
        term, total = np.empty_like(product), np.zeros_like(product)
        for i in range(m):
            np.add(column, against[i], out=term)
            np.reciprocal(term, out=term)
            total += term
            np.multiply(product, total, out=term)
            np.dot(weights[i], term, out=out[i + 1])
        return out, error

    # The rule leaves a sum over the values of S of their probabilities, S1, and at most
    # truncation / D, where S1 is at most min(k, S), which is at most D / (d2 + d3). So
    # `largest` bounds the score, and `truncation` what is left of it.
    largest = max(c1 / (d2 + d3), abs(empty))
    # Everything is positive, so that relative errors add up, in units of eps: for each
    # instance 2.7 in the product (see there), 0.5 in the total, and 1 in tau, which is
    # there once for each positive; N / 2 in the last sum over N nodes; and 16 in a
    # weight, a term, and what multiplies them.
    error = (5 * m + t.size / 2 + 32) * EPS * largest + truncation * largest
    return Kernel(curves, max(_CACHE // t.size, 64))


def _product(eta: FloatArray, tau: FloatArray) -> FloatArray:
    """Return prod_i (1 - eta_i + eta_i tau), a row for each node.

    The factors of some instances are multiplied out, as the law of their count, and
    evaluated by one matrix product. For 8 instances that is 12 eps in the law, 4 in
    the powers of tau, 4.5 in the sum of 9 terms, and 0.5: 2.7 for each.
    """
    out = np.ones((tau.size, eta.shape[1]))
    for i in range(0, eta.shape[0], _TOGETHER):
        some = eta[i : i + _TOGETHER]
        out *= np.vander(tau, some.shape[0] + 1, increasing=True) @ count_laws(some)
    return out


def _jaccard_kernel(c1: float, d2: float, d3: float, empty: float, m: int) -> Kernel:
    def curves(eta: FloatArray) -> tuple[FloatArray, float]:
        out = np.empty((m + 1, eta.shape[1]))
        caught = np.cumsum(eta, axis=0)
        laws = running_laws(of_nobody(eta.shape[1]), eta[::-1], NEGLIGIBLE)
        for k, below in zip(range(m, -1, -1), laws, strict=True):
            if k:
                inverse = c1 / (d2 * k + d3 * np.array(below.counts))
                np.dot(inverse, below.pmf, out=out[k])
                out[k] *= caught[k - 1]
            else:
                out[0] = empty * below.pmf[0] if below.start == 0 else 0.0
        return out, error

    # S1 is at most k, and so is its mean. In units of eps, 1.5 for each instance in the
    # law, 0.5 in the sum over it, and 0.5 in the mean; and the mass that is dropped.
    largest = max(c1 / d2, abs(empty))
    error = ((3 * m + 16) * EPS + 2 * m * NEGLIGIBLE) * largest
    return Kernel(curves, max(_CACHE // m, 64))
