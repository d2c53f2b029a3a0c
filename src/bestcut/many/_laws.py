"""Expected scores of many small problems at once, for any metric.

For every cut k the law of the positives above it and of those below, a column for each
problem, meet in one matrix: the metric's values at all pairs, the same for all
problems. That is n matrix products, n³ / 6 multiplications a problem, at the speed of
BLAS.
"""

from __future__ import annotations

import numpy as np

from bestcut._validation import FloatArray
from bestcut.many._counts import add_instance
from bestcut.many._fractional import EPS, Kernel
from bestcut.metrics import Metric

_CACHE = 1 << 20  # floats; matrix products find their own way through it


def law_kernel(metric: Metric, m: int, n: int) -> Kernel:
    """Return the kernel for problems of `m` probabilities among `n` instances."""
    tables = [values_at_cut(metric, k, m, n) for k in range(m + 1)]
    scale = max(float(np.max(np.abs(table))) for table in tables)

    def curves(eta: FloatArray) -> FloatArray:
        out = np.empty((m + 1, eta.shape[1]))
        below = _laws_from_below(eta)
        above = np.zeros((m + 1, eta.shape[1]))
        above[0] = 1.0
        for k in range(m + 1):
            if k:
                add_instance(above, k - 1, eta[k - 1])
            inner = tables[k] @ below[k][: m - k + 1]
            out[k] = np.einsum("ar,ar->r", above[: k + 1], inner)
        return out

    # Each law carries 2 m eps at most, and so does either sum.
    together = max(_CACHE // ((m + 1) * (m + 1)), 16)
    return Kernel(curves, (6 * m + 32) * EPS * scale, together)


def values_at_cut(metric: Metric, k: int, m: int, n: int) -> FloatArray:
    """Return the metric for all numbers of positives above (rows) and below."""
    a = np.arange(k + 1.0)[:, None]
    b = np.arange(m - k + 1.0)
    score = metric.score_cells(a, k - a, b, n - k - b)
    return np.ascontiguousarray(np.broadcast_to(score, (a.size, b.size)))


def _laws_from_below(eta: FloatArray) -> list[FloatArray]:
    """Return the law of the positives among eta[k:], for every k."""
    count = eta.shape[1]
    laws = [np.ones((1, count))]
    for p in eta[::-1]:
        before = laws[-1]
        after = np.empty((before.shape[0] + 1, count))
        after[-1] = 0.0
        np.multiply(before, 1.0 - p, out=after[:-1])
        after[1:] += before * p
        laws.append(after)
    return laws[::-1]
