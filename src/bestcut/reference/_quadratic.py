"""Algorithm 2 of the paper: fractional-linear metrics with c3 = 0, in O(n²)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bestcut._types import FloatArray
from bestcut.counts import prefix_laws_backwards
from bestcut.metrics import FractionalLinearMetric, Metric, Trait, common_denominator
from bestcut.reference._solver import Curve, Solver, summation_error


class QuadraticSolver(Solver):
    """The paper's Algorithm 2, with every index it can meet in the table.

    The table S of the paper starts at index 1 and its entries stand for positive
    denominators; here it covers exactly the denominators that can occur, those of the
    four pure confusion matrices being the extremes, so d2 = 0, d3 <= 0 and
    d1 + d3 < 0 need no special care. Where a denominator is 0 the metric takes its
    `zero_division`, whose probability a second row of the table carries.
    """

    name = "quadratic"
    requires = frozenset(
        {Trait.FRACTIONAL_LINEAR, Trait.WITHOUT_C3, Trait.RATIONAL_D, Trait.ONE_SIGN}
    )

    def curve(self, eta: FloatArray, metric: Metric) -> Curve:
        """Return the expected score of every cut."""
        assert isinstance(metric, FractionalLinearMetric)
        n = eta.size
        c, d = metric.coefficients()
        c0, c1, c2, _ = map(float, c)
        # Line 3: a common denominator r makes every d whole.
        r = common_denominator(d)
        j_0, j_u1, j_v, j_u2 = (int(r * Fraction(x)) for x in d)
        extremes = (0, j_v, j_u2, j_u1 + j_v + j_u2)
        low, high = n * (j_0 + min(extremes)), n * (j_0 + max(extremes))
        # Lines 4-6: S[i - low] = b(n, i / r) = r / i; its second row marks i = 0.
        i = np.arange(low, high + 1.0)
        S = np.zeros((2, i.size))
        np.divide(r, i, out=S[0], where=i != 0)
        S[1] = i == 0
        counts = np.arange(n + 1)
        expected = np.empty(n + 1)
        scale = 0.0
        # Lines 7-12, from k = n down to the empty prediction.
        for k, C in zip(range(n, -1, -1), prefix_laws_backwards(eta), strict=True):
            k1 = counts[: k + 1]
            at = (j_u1 + j_u2) * k1 + (j_v * k + j_0 * n - low)
            b, undefined = S[0, at], S[1, at]
            terms = C * (c0 * n + c1 * k1 + c2 * k) * b
            if_undefined = metric.zero_division * (C @ undefined)
            expected[k] = np.sum(terms) + if_undefined  # line 9
            scale = max(scale, float(np.sum(np.abs(terms))) + abs(if_undefined))
            if k > 0 and j_u2 != 0:
                # Line 11: b(k-1, a) = (1 - eta_k) b(k, a) + eta_k b(k, a + d3). The
                # entries whose partner lies outside the table are needed no more.
                p, shift = eta[k - 1], abs(j_u2)
                left, right = S[:, :-shift], S[:, shift:]
                if j_u2 > 0:
                    S = (1.0 - p) * left + p * right
                else:
                    S = (1.0 - p) * right + p * left
                    low += shift
        return Curve(expected, summation_error(n, scale))
