"""The whole expected-score curve in extended precision, by the definition."""

from __future__ import annotations

import numpy as np


def law(p: np.ndarray) -> np.ndarray:
    """Return the law of the count, with some three digits more than float64."""
    out = np.ones(1, dtype=np.longdouble)
    for p_i in p.astype(np.longdouble):
        out = np.append(out, 0) * (1 - p_i) + np.append(0, out) * p_i
    return out


def _likely(law):
    """Return where a law is, but for its ends."""
    (at,) = np.nonzero(law >= 1e-30)
    return slice(at[0], at[-1] + 1)


def expected_curve(eta: np.ndarray, metric) -> np.ndarray:
    """Return E[metric] of every cut of `eta`, which is sorted descending.

    Left out are counts at either end of a law with probabilities below 1e-30. So few
    of them change less than extended precision rounds, for scores up to 1e6.
    """
    n = eta.size
    out = np.empty(n + 1)
    laws_below = [np.ones(1, dtype=np.longdouble)]
    for p in eta[::-1].astype(np.longdouble):
        last = laws_below[-1]
        laws_below.append(np.append(last, 0) * (1 - p) + np.append(0, last) * p)
    above = np.ones(1, dtype=np.longdouble)
    for k in range(n + 1):
        below = laws_below[n - k]
        rows, columns = _likely(above), _likely(below)
        a, b = np.arange(k + 1.0)[rows, None], np.arange(n - k + 1.0)[columns]
        score = np.broadcast_to(
            metric.score(a, float(k), a + b, float(n)), (a.size, b.size)
        )
        # Rows first: the inner sums have float64 scores but extended weights.
        inner = score.astype(np.longdouble) @ below[columns]
        out[k] = float(np.sum(above[rows] * inner))
        if k < n:
            p = eta[k].astype(np.longdouble)
            above = np.append(above, 0) * (1 - p) + np.append(0, above) * p
    return out
