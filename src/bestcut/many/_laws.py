"""Expected scores of many small problems at once, for any metric.

For every cut k the law of the positives above it and of those below, a column for each
problem, meet in one matrix: the metric's values at all pairs, the same for all
problems. Both laws are narrow windows, some 22 standard deviations wide, so that a
problem of n instances and variance v takes up to 250 n v multiplications, at the speed
of BLAS, and the values are computed once for all problems that are alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import NamedTuple

import numpy as np

from bestcut._types import EPS, FloatArray, IndexArray
from bestcut.many._counts import (
    LARGEST_TABLES,
    NEGLIGIBLE,
    of_nobody,
    running_laws,
    running_laws_backwards,
)
from bestcut.many._fractional import Kernel
from bestcut.metrics import Metric, Trait, score_bound
from bestcut.scores import probability_error

_FAR = 11.0  # standard deviations: exp(-11² / 2) is 2^-87, and that of n = 1,000
_ROOM = 6.0  # values that a law of small variance has beyond
# So many values of a metric take as long as one problem by itself: 2 ms, or 10 ms if
# the metric needs both laws there. So do so many multiplications.
_VALUES, _VALUES_OF_BOTH = 200_000, 800_000
_STEP = 4_000  # values take as long as a step from one cut to the next
_MULTIPLICATIONS = 1 << 27
TOGETHER = 1024  # problems in a block: tables are shared, and windows stay in cache


class LawKernels:
    """Kernels for problems of `m` probabilities among `n` instances."""

    def __init__(self, metric: Metric, m: int, n: int) -> None:
        self.metric, self.m, self.n = metric, m, n

    def fitting(self, variance: float, count: int) -> Kernel | None:
        """Return a kernel, or None if `count` problems by themselves take less time.

        `variance` is the largest that their numbers of positives have.
        """
        # The sides share the variance, and most cuts do not halve it.
        window = _STEP + (2.0 * reach(variance / 2.0)) ** 2 / 2.0
        whole = _STEP + self.m**2 / 6.0  # values at all pairs, on average over the cuts
        simple = {Trait.AFFINE, Trait.FACTORISED} & self.metric.traits
        values = count * (_VALUES if simple else _VALUES_OF_BOTH)
        limit = min(values, _MULTIPLICATIONS) / max(self.m, 1)
        if window <= min(limit, whole) and self.windows is not None:
            return self.windows
        return self.whole if whole <= limit else None

    @cached_property
    def windows(self) -> Kernel | None:
        """The kernel that leaves out what is improbable, if scores have a bound."""
        largest = score_bound(self.metric, self.n)
        if not np.isfinite(largest):
            return None
        # The largest score is n² or n³ for most metrics.
        negligible = NEGLIGIBLE / max(largest, 1.0)
        lost = 2 * self.m * negligible * largest
        table = partial(_table, self.metric, self.n)
        return _kernel(table, self.m, negligible, lost)

    @cached_property
    def whole(self) -> Kernel:
        """The kernel that leaves out what is impossible; few tables are kept."""
        table = partial(_table, self.metric, self.n)
        kept = cache(table) if self.m <= LARGEST_TABLES else table
        return _kernel(kept, self.m, 0.0, 0.0)


def reach(variance: float) -> float:
    """Return how far a window reaches from the mean, about."""
    return _FAR * math.sqrt(variance) + _ROOM


class _CellValues(NamedTuple):
    """A metric's values at pairs of counts, and the largest of their sizes."""

    values: FloatArray
    scale: float


def _kernel(
    table: Callable[[int, range, range], _CellValues],
    m: int,
    negligible: float,
    lost: float,
) -> Kernel:
    def curves(eta: FloatArray) -> tuple[FloatArray, float]:
        out = np.empty((m + 1, eta.shape[1]))
        above = running_laws(of_nobody(eta.shape[1]), eta, negligible)
        below = running_laws_backwards(eta[::-1], negligible)
        largest = 0.0
        for k, (caught, missed) in enumerate(zip(above, below, strict=True)):
            values, scale = table(k, caught.counts, missed.counts)
            largest = max(largest, scale)
            inner = values @ missed.pmf
            np.einsum("ar,ar->r", caught.pmf, inner, out=out[k])
        return out, law_error(m) * largest + lost

    return Kernel(curves, TOGETHER)


def kernel_of_chances(metric: Metric, score: float, m: int, n: int) -> Kernel:
    """Return a kernel of the chances that cuts reach a score: of 1 if so, else of 0.

    A score that differs from it by rounding reaches it.
    """

    @cache
    def table(k: int, above: range, below: range) -> _CellValues:
        values, scale = _table(metric, n, k, above, below)
        reached = metric.sign * (values - score) >= -16 * EPS * scale
        return _CellValues(reached.astype(np.float64), 1.0)

    return _kernel(table, m, 0.0, 0.0)


def kernel_of_quantiles(metric: Metric, q: float, m: int, n: int) -> Kernel:
    """Return a kernel of quantiles of cuts, from the worse end.

    As of `bestcut.scores.Atoms`: all pairs of counts, in ascending order.
    """

    @cache
    def table(k: int, above: range, below: range) -> tuple[IndexArray, FloatArray]:
        score = _table(metric, n, k, above, below).values.ravel()
        order = np.argsort(metric.sign * score, kind="stable")
        return order, score[order]

    def curves(eta: FloatArray) -> tuple[FloatArray, float]:
        out = np.empty((m + 1, eta.shape[1]))
        above = running_laws(of_nobody(eta.shape[1]), eta, 0.0)
        below = running_laws_backwards(eta[::-1], 0.0)
        for k, (caught, missed) in enumerate(zip(above, below, strict=True)):
            order, score = table(k, caught.counts, missed.counts)
            joint = caught.pmf[:, None] * missed.pmf
            upto = np.cumsum(joint.reshape(order.size, -1)[order], axis=0)
            first = np.count_nonzero(upto < q - probability_error(m + 2), axis=0)
            out[k] = score[np.minimum(first, order.size - 1)]
        return out, 16 * EPS * float(np.max(np.abs(out), initial=0.0))

    return Kernel(curves, TOGETHER)


def law_error(m: int) -> float:
    """Bound the rounding of an expected score of size 1 that two laws give.

    The laws of k and of m - k instances carry 1.5 m eps together, see `_counts`. A sum
    of as many products as either law has entries, at most k + 1 and m - k + 1, rounds
    each of them so often, by half an epsilon. That is 2 m + 1 in all, and leaves 31
    for the score itself and for products of these errors.
    """
    return (2 * m + 32) * EPS


def values_at_cut(metric: Metric, k: int, m: int, n: int) -> FloatArray:
    """Return the metric for all numbers of positives above (rows) and below."""
    return _table(metric, n, k, range(k + 1), range(m - k + 1)).values


def _table(metric: Metric, n: int, k: int, above: range, below: range) -> _CellValues:
    tp = np.arange(above.start, above.stop, dtype=np.float64)[:, None]
    fn = np.arange(below.start, below.stop, dtype=np.float64)
    score = metric.score_cells(tp, k - tp, fn, n - k - fn)
    values = np.ascontiguousarray(np.broadcast_to(score, (tp.size, fn.size)))
    return _CellValues(values, float(np.max(np.abs(values))))
