"""Expected scores of many small problems at once, for the F-beta family and Jaccard.

F-beta by an integral: 1 / D is the integral of t^(D - 1) over t from 0 to 1, and with
D = d2 k + d3 S the expectation of S1 / D becomes an integral of products over the
instances,

    E[S1 / D] = int t^(d2 k - 1) G(tau) sum_{i<=k} eta_i tau / (1 - eta_i + eta_i tau),

where tau = t^d3 and G(tau) = prod_i (1 - eta_i + eta_i tau). All factors lie in [0, 1].
For whole d2 and d3 the integrand is a polynomial, so that the error of a Gauss-Legendre
rule is known beforehand, and few nodes are enough.

Jaccard factorises: E[S1 / (k + S2)] = E[S1] E[1 / (k + S2)], by the laws of S2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bestcut._validation import FloatArray
from bestcut.many._counts import count_laws
from bestcut.metrics import Metric
from bestcut.metrics._base import FractionalLinearMetric

EPS = float(np.finfo(float).eps)
_MOST_NODES = 160
_LARGEST_POWER = 1024  # of t; F1 of 512 instances
_LARGEST_LAWS = 1024  # instances whose n² / 2 steps are worth it
_TRUNCATION = 1e-13  # what the rule may leave of an expected score of size 1
_TOGETHER = 8  # instances whose factors are multiplied out beforehand
_CACHE = 1 << 15  # floats
_ROUNDINGS = 8  # for each instance: its factor, its term, their product and sum

Curves = Callable[[FloatArray], FloatArray]


class Kernel(NamedTuple):
    """A way to all curves of a block of problems.

    `curves` takes probabilities with a column for each problem, sorted descending, and
    returns the expected score of every cut, one row more. `error` bounds its error.
    `together` is how many problems keep the innermost loop in cache.
    """

    curves: Curves
    error: float
    together: int


def fractional_kernel(metric: Metric, m: int, n: int) -> Kernel | None:
    """Return the kernel for problems of `m` probabilities, or None.

    `n` counts the instances of probability 0 that are left out, too.
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
        rule = _rule(m, *slopes)
        if rule is None:
            return None
        return _f_kernel(float(c[1] * scale), *slopes, rule, empty, m)
    if d[1] == -d[3] and m <= _LARGEST_LAWS:
        return _jaccard_kernel(float(c[1]), float(d[2]), float(d[3]), empty, m)
    return None


class _Rule(NamedTuple):
    nodes: FloatArray
    weights: FloatArray
    truncation: float


@lru_cache(maxsize=1024)
def _rule(m: int, d2: int, d3: int) -> _Rule | None:
    """Return a Gauss-Legendre rule on (0, 1) that is precise enough for all cuts.

    Its error is a sum over the values of S, of their probabilities, S1, and the rule's
    error for t^(D - 1). S1 is at most min(k, S), which is at most D / (d2 + d3).
    """
    largest = (d2 + d3) * m
    if largest > _LARGEST_POWER:
        return None
    # Beyond some power the rounding of the nodes is all that is seen.
    allowed = max(_TRUNCATION, 4 * EPS * largest)
    for nodes in range(8, _MOST_NODES + 1, 4):
        z, w = np.polynomial.legendre.leggauss(nodes)
        t, w = (z + 1.0) / 2.0, w / 2.0
        powers = np.arange(2 * nodes + 1, largest + 1)  # smaller ones are exact
        error = np.abs(w @ t[:, None] ** (powers - 1) - 1.0 / powers)
        weighted = float(np.max(powers * error, initial=0.0))
        if weighted <= allowed:
            return _Rule(t, w, weighted / (d2 + d3))
    return None


def _f_kernel(c1: float, d2: int, d3: int, rule: _Rule, empty: float, m: int) -> Kernel:
    t, w = rule.nodes, rule.weights
    tau = t**d3
    k = np.arange(1.0, m + 1.0)[:, None]
    weights = c1 * w * t ** (d2 * k - 1.0) * tau

    def curves(eta: FloatArray) -> FloatArray:
        out = np.empty((m + 1, eta.shape[1]))
        out[0] = empty * np.prod(1.0 - eta, axis=0)
        product = _product(eta, tau)
        # eta tau / (1 - eta + eta tau) = tau / ((1 - eta) / eta + tau)
        with np.errstate(divide="ignore", over="ignore"):
            against = (1.0 - eta) / eta
        column = tau[:, None]
        term, total = np.empty_like(product), np.zeros_like(product)
        for i in range(m):
            np.add(column, against[i], out=term)
            np.reciprocal(term, out=term)
            total += term
            np.multiply(product, total, out=term)
            np.dot(weights[i], term, out=out[i + 1])
        return out

    rounding = (_ROUNDINGS * m + 64) * EPS
    largest = max(c1 / (d2 + d3), abs(empty))  # S1 is at most k and at most S
    error = rounding * largest + 2 * c1 * rule.truncation
    return Kernel(curves, error, _fit(t.size))


def _product(eta: FloatArray, tau: FloatArray) -> FloatArray:
    """Return prod_i (1 - eta_i + eta_i tau), a row for each node.

    The factors of some instances are multiplied out, as the law of their count, and
    evaluated by one matrix product.
    """
    out = np.ones((tau.size, eta.shape[1]))
    for i in range(0, eta.shape[0], _TOGETHER):
        some = eta[i : i + _TOGETHER]
        out *= np.vander(tau, some.shape[0] + 1, increasing=True) @ count_laws(some)
    return out


def _jaccard_kernel(c1: float, d2: float, d3: float, empty: float, m: int) -> Kernel:
    def curves(eta: FloatArray) -> FloatArray:
        out = np.empty((m + 1, eta.shape[1]))
        caught = np.cumsum(eta, axis=0)
        law = np.zeros((m + 1, eta.shape[1]))  # of the positives below the cut
        law[0] = 1.0
        moved = np.empty_like(law)
        for k in range(m, 0, -1):
            size = m - k + 1
            inverse = c1 / (d2 * k + d3 * np.arange(size))
            np.dot(inverse, law[:size], out=out[k])
            out[k] *= caught[k - 1]
            np.multiply(law[:size], eta[k - 1], out=moved[:size])
            law[:size] -= moved[:size]
            law[1 : size + 1] += moved[:size]
        out[0] = empty * law[0]
        return out

    largest = max(c1 / d2, abs(empty))  # S1 is at most k
    return Kernel(curves, (_ROUNDINGS * m + 64) * EPS * largest, _fit(m))


def _fit(floats: int) -> int:
    return max(_CACHE // floats, 64)
