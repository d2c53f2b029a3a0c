"""Which problems are decided together.

Problems of similar sizes share a block if instances of probability 0 may fill them up:
where the metric does not look at n, or where absent instances are there in any case.
Within a size problems go by the number of positives to expect, so that the windows of
their laws lie in one place. Where too few problems are alike, each is for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut.goals import Certain, DistributionGoal, Goal, ProbAtLeast, Quantile
from bestcut.many._counts import FEW
from bestcut.many._fractional import Kernel, fractional_kernel, ignores_n
from bestcut.many._laws import (
    TOGETHER,
    LawKernels,
    kernel_of_chances,
    kernel_of_quantiles,
    reach,
)
from bestcut.metrics import Metric

_STEPS = 200  # from one cut to the next take as long as a problem by itself
_FINENESS = 8  # sizes in an octave: 1/16 of a block is filling on average


class Problems(Protocol):
    """Some problems.

    Attributes
    ----------
    sizes : ndarray of int
        How many probabilities each has.
    total : int or None
        How many instances each has, if not as many as probabilities.
    labels : ndarray of bool
        The predictions, in the order of the probabilities.
    """

    sizes: CountArray
    total: int | None
    labels: BoolArray

    def take(self, which: IndexArray, m: int) -> FloatArray:
        """Return some problems as the rows of a matrix, filled up with 0."""

    def keep(self, which: IndexArray, labels: BoolArray) -> None:
        """Note the labels of some problems."""

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the number of positives in each problem."""


class EqualRows:
    """The rows of a matrix."""

    total: int | None = None

    def __init__(self, p: FloatArray) -> None:
        self.p = p
        self.sizes = np.full(p.shape[0], p.shape[1], dtype=np.int64)
        self.labels = np.zeros(p.shape, dtype=np.bool_)

    def take(self, which: IndexArray, m: int) -> FloatArray:
        """Return some rows; there is nothing to fill up."""
        return self.p[which]

    def keep(self, which: IndexArray, labels: BoolArray) -> None:
        """Note the labels of some rows."""
        self.labels[which] = labels

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the number of positives in each row."""
        mean = self.p.sum(axis=1)
        return mean, np.maximum(mean - np.einsum("ij,ij->i", self.p, self.p), 0.0)


class UnevenRows:
    """Problems of any sizes, one after another."""

    def __init__(self, p: FloatArray, sizes: CountArray, total: int | None) -> None:
        self.p, self.sizes, self.total = p, sizes.astype(np.int64), total
        self.starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
        self.labels = np.zeros(p.size, dtype=np.bool_)

    def _places(self, which: IndexArray, m: int) -> tuple[BoolArray, CountArray]:
        inside = np.arange(m) < self.sizes[which, None]
        return inside, (self.starts[which, None] + np.arange(m))[inside]

    def take(self, which: IndexArray, m: int) -> FloatArray:
        """Return some problems as the rows of a matrix, filled up with 0."""
        inside, places = self._places(which, m)
        out = np.zeros(inside.shape)
        out[inside] = self.p[places]
        return out

    def keep(self, which: IndexArray, labels: BoolArray) -> None:
        """Note the labels of some problems."""
        inside, places = self._places(which, labels.shape[1])
        self.labels[places] = labels[inside]

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the number of positives in each problem."""
        count = self.sizes.size
        owner = np.repeat(np.arange(count), self.sizes)
        mean = np.bincount(owner, self.p, count).astype(np.float64)
        square = np.bincount(owner, self.p**2, count)
        return mean, np.maximum(mean - square, 0.0)


class Block(NamedTuple):
    """Problems that are decided together, filled up to `m` probabilities.

    Without a kernel each is solved by itself.
    """

    which: IndexArray
    m: int
    kernel: Kernel | None


def blocks_of(
    rows: Problems, metric: Metric, others: Iterable[Metric] = ()
) -> Iterator[Block]:
    """Yield all problems, in blocks for a metric that others can be computed for."""
    filled = rows.sizes
    if rows.total is not None or all(map(ignores_n, [metric, *others])):
        largest = rows.total if rows.total is not None else filled.max(initial=0)
        filled = np.minimum(_rounded(filled), largest)
    mean = variance = np.zeros(filled.size)
    if np.any(filled > FEW):
        mean, variance = rows.moments()
    order = np.lexsort((np.where(filled > FEW, mean, 0.0), filled))
    ends = np.flatnonzero(np.diff(filled[order])) + 1
    for which in np.split(order, ends) if order.size else []:
        m = int(filled[which[0]])
        kernel = fractional_kernel(metric, m)
        if kernel is None:
            n = m if rows.total is None else rows.total
            kernels = LawKernels(metric, m, n)
            yield from _by_laws(which, kernels, mean[which], variance[which])
        else:
            few = which.size * _STEPS < m
            yield from _parts(which, m, None if few else kernel)


def kernel_of_few(
    metric: Metric, wanted: Goal | Certain | float, m: int, n: int
) -> Kernel | None:
    """Return a kernel of a goal or a condition, for `m` of `n` instances, or None.

    There is one of expected scores if problems are few, whatever the metric, and for
    some metrics always; one of chances and of quantiles if they are few and a score is
    no larger than its bound.
    """
    if isinstance(wanted, Certain | DistributionGoal):
        if m > FEW or metric.bound is None:
            return None
        if isinstance(wanted, Quantile):
            return kernel_of_quantiles(metric, float(wanted.q), m, n)
        assert isinstance(wanted, Certain | ProbAtLeast)
        return kernel_of_chances(metric, float(wanted.score), m, n)
    kernel = fractional_kernel(metric, m)
    if kernel is None and m <= FEW:
        return LawKernels(metric, m, n).whole
    return kernel


def one_by_one(rows: Problems) -> Iterator[Block]:
    """Yield all problems, each by itself."""
    for i, m in enumerate(rows.sizes.tolist()):
        yield Block(np.array([i]), m, None)


def _parts(which: IndexArray, m: int, kernel: Kernel | None) -> Iterator[Block]:
    step = 1 if kernel is None else kernel.together
    for i in range(0, which.size, step):
        yield Block(which[i : i + step], m, kernel)


def _rounded(sizes: CountArray) -> CountArray:
    """Return the next larger of some sizes, `_FINENESS` of them in an octave."""
    exponent = np.frexp(np.maximum(sizes, 1) - 0.5)[1]
    step = np.maximum(2.0**exponent / (2 * _FINENESS), 1.0)
    return (np.ceil(sizes / step) * step).astype(np.int64)


def _by_laws(
    which: IndexArray,
    kernels: LawKernels,
    mean: FloatArray,
    variance: FloatArray,
) -> Iterator[Block]:
    """Yield blocks of problems of one size, of about as many positives each."""
    if kernels.m <= FEW:
        yield from _parts(which, kernels.m, kernels.whole)
        return
    i = 0
    while i < which.size:
        # As far as the windows of the first and of the last overlap by half.
        far = np.searchsorted(mean, mean[i] + reach(variance[i]), side="right")
        stop = min(int(far), i + TOGETHER)
        kernel = kernels.fitting(float(variance[i:stop].max()), stop - i)
        yield from _parts(which[i:stop], kernels.m, kernel)
        i = stop
