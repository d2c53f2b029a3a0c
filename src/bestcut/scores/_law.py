"""The law of a score: how probable it is to reach a value.

Scores are taken as utilities here, larger is better. With few possible pairs (TP, FN)
every one is listed (`Atoms`). With many, a score that never falls when a label turns
out right is, for each FN, nondecreasing in TP: `Rows` finds by bisection from which TP
on it reaches a value, and sums tails of the law of TP. That is exact too, and takes
sqrt(n) log(n) evaluations. Other metrics with many pairs are listed as well, and put
into narrow bins if they are too many for that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from bestcut._validation import FloatArray
from bestcut.counts._window import NEGLIGIBLE, Law
from bestcut.metrics import Metric

EPS = float(np.finfo(float).eps)
_FEW = 1 << 17  # pairs that are always listed
_MANY = 1 << 23  # pairs that are listed if nothing better can be done
_BINS = 1 << 20
_EVALUATIONS = 1 << 20  # of the metric at a time
_LOOKS = 16  # rows and columns that are checked to rise


class UtilityLaw(ABC):
    """The law of a utility.

    Attributes
    ----------
    tolerance : float
        Utilities closer than this are equal: they round.
    value_error : float
        Bound on the error of a utility: of its rounding, and of its bin.
    probability_error : float
        Bound on the error of a probability.
    """

    tolerance: float
    value_error: float
    probability_error: float

    @abstractmethod
    def at_least(self, utility: float) -> float:
        """Return P(U >= utility)."""

    @abstractmethod
    def above(self, utility: float) -> float:
        """Return P(U > utility)."""

    @abstractmethod
    def quantile(self, q: float) -> float:
        """Return the smallest u with P(U <= u) >= q, up to `probability_error`."""

    @abstractmethod
    def upper_quantile(self, q: float) -> float:
        """Return the largest u with P(U >= u) >= q, up to `probability_error`."""


def probability_error(size: int) -> float:
    """Bound the error of a probability that is a sum over laws of `size` values.

    The laws are convolutions of positive terms, whose relative errors are at most those
    of their parts and one eps for each term of a sum, along log2(n) levels of halving
    sizes: 2 size. The sum over both laws adds as much. Their parts of 256 instances
    carry less than 512 eps.
    """
    return (4 * size + 1024) * EPS + 128 * NEGLIGIBLE


class Atoms(UtilityLaw):
    """Every possible utility with its probability, in ascending order.

    `moved` is how far utilities were moved to be few; `tolerance` is added to what
    rounding tells apart.
    """

    def __init__(
        self,
        values: FloatArray,
        mass: FloatArray,
        size: int,
        moved: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        order = np.argsort(values, kind="stable")
        self.values, mass = values[order], mass[order]
        # Sums from either end: small probabilities keep their digits.
        self.upto = np.concatenate([[0.0], np.cumsum(mass)])
        self.onward = np.concatenate([np.cumsum(mass[::-1])[::-1], [0.0]])
        scale = float(np.max(np.abs(self.values)))
        self.tolerance = 16 * EPS * scale + tolerance
        self.value_error = 16 * EPS * scale + moved
        self.probability_error = probability_error(size)

    def at_least(self, utility: float) -> float:
        """Return P(U >= utility)."""
        return float(self.onward[np.searchsorted(self.values, utility, side="left")])

    def above(self, utility: float) -> float:
        """Return P(U > utility)."""
        return float(self.onward[np.searchsorted(self.values, utility, side="right")])

    def quantile(self, q: float) -> float:
        """Return the smallest u with P(U <= u) >= q, up to `probability_error`."""
        if q == 1.0:  # rounded sums may reach 1 before the last value
            return float(self.values[-1])
        first = int(np.searchsorted(self.upto[1:], q - self.probability_error))
        return float(self.values[min(first, self.values.size - 1)])

    def upper_quantile(self, q: float) -> float:
        """Return the largest u with P(U >= u) >= q, up to `probability_error`."""
        if q == 1.0:
            return float(self.values[0])
        first = int(np.searchsorted(self.onward[-2::-1], q - self.probability_error))
        return float(self.values[-1 - min(first, self.values.size - 1)])


class Rows(UtilityLaw):
    """A utility that is nondecreasing in a count, for each of many cases.

    Row r has probability ``weights[r]``; in it the cells are TP = a + shift[r],
    FP = n_pred - a, FN = fn[r] and TN = tn[r], where a has the law `count`.
    """

    def __init__(
        self,
        metric: Metric,
        count: Law,
        n_pred: float,
        fn: FloatArray,
        tn: FloatArray,
        weights: FloatArray,
        shift: FloatArray | float = 0.0,
    ) -> None:
        self.metric, self.count, self.n_pred = metric, count.counts, n_pred
        self.fn, self.tn, self.weights, self.shift = fn, tn, weights, shift
        self.tail = np.append(np.cumsum(count.pmf[::-1])[::-1], 0.0)
        ends = [self._utility(np.full(fn.size, i)) for i in (0, -1)]
        self.least, self.most = float(np.min(ends[0])), float(np.max(ends[1]))
        self.tolerance = 16 * EPS * max(abs(self.least), abs(self.most))
        self.value_error = self.tolerance
        self.probability_error = probability_error(count.pmf.size + fn.size)

    def _utility(self, index: NDArray[np.intp]) -> FloatArray:
        a = self.count[index]
        score = self.metric.score_cells(
            a + self.shift, self.n_pred - a, self.fn, self.tn
        )
        score = np.broadcast_to(score, a.shape)
        return score if self.metric.greater_is_better else -score

    def _first(self, utility: float, *, above: bool) -> NDArray[np.intp]:
        """Return the first index in each row that reaches, or exceeds, `utility`."""
        low = np.zeros(self.fn.size, dtype=np.intp)
        high = np.full(self.fn.size, self.count.size, dtype=np.intp)
        for _ in range(self.count.size.bit_length()):
            middle = (low + high) // 2
            value = self._utility(np.minimum(middle, self.count.size - 1))
            reached = value > utility if above else value >= utility
            high = np.where(reached, middle, high)
            low = np.where(reached, low, np.minimum(middle + 1, high))
        return low

    def at_least(self, utility: float) -> float:
        """Return P(U >= utility)."""
        return float(self.weights @ self.tail[self._first(utility, above=False)])

    def above(self, utility: float) -> float:
        """Return P(U > utility)."""
        return float(self.weights @ self.tail[self._first(utility, above=True)])

    def quantile(self, q: float) -> float:
        """Return the smallest u with P(U <= u) >= q, up to `probability_error`."""
        allowed = 1.0 - q + self.probability_error if q < 1.0 else 0.0
        low, high = self._bisect(lambda u: self.above(u) <= allowed)
        if low == high:
            return low
        last = self._first(high, above=True) - 1
        values = self._utility(np.maximum(last, 0))
        return float(np.max(values, where=last >= 0, initial=self.least))

    def upper_quantile(self, q: float) -> float:
        """Return the largest u with P(U >= u) >= q, up to `probability_error`."""
        wanted = q - self.probability_error if q < 1.0 else 1.0
        low, high = self._bisect(lambda u: self.at_least(u) < wanted)
        if low == high:
            return low
        first = self._first(low, above=False)
        values = self._utility(np.minimum(first, self.count.size - 1))
        reached = first < self.count.size
        return float(np.min(values, where=reached, initial=self.most))

    def _bisect(self, holds: Callable[[float], bool]) -> tuple[float, float]:
        """Return neighbours (no, yes) of the point from which on `holds` is true."""
        if holds(self.least):
            return self.least, self.least
        low, high = self.least, self.most
        if not holds(high):
            return high, high
        while high - low > self.tolerance / 16:
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            low, high = (low, middle) if holds(middle) else (middle, high)
        return low, high


def law_of_score(
    metric: Metric, tp: Law, fn: Law, n_pred: int, n: int, *, rising: bool
) -> UtilityLaw:
    """Return the law of a metric's utility.

    `rising` says that it never falls when a label turns out right.
    """
    pairs = tp.pmf.size * fn.pmf.size
    k, size = float(n_pred), float(n)
    if pairs > _FEW and rising:
        rows = Rows(metric, tp, k, fn.counts, size - k - fn.counts, fn.pmf)
        if _rises(metric, tp, fn, k, size):
            return rows
    if pairs <= _MANY:
        parts = list(_grid(metric, tp, fn, k, size))
        values, mass = (np.concatenate(x) for x in zip(*parts, strict=True))
        return Atoms(values, mass, tp.pmf.size + fn.pmf.size)
    return _binned(metric, tp, fn, k, size)


def _grid(
    metric: Metric, tp: Law, fn: Law, k: float, n: float
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the utilities and probabilities of all pairs, some at a time."""
    step = max(_EVALUATIONS // fn.pmf.size, 1)
    b = fn.counts
    for i in range(0, tp.pmf.size, step):
        a = tp.counts[i : i + step, None]
        score = metric.score_cells(a, k - a, b, n - k - b)
        score = np.broadcast_to(score, (a.size, b.size)).ravel()
        mass = np.multiply.outer(tp.pmf[i : i + step], fn.pmf).ravel()
        yield (score if metric.greater_is_better else -score), mass


def _binned(metric: Metric, tp: Law, fn: Law, k: float, n: float) -> Atoms:
    """Return the law with every utility moved to the nearest of a grid."""
    low, high = np.inf, -np.inf
    for values, _ in _grid(metric, tp, fn, k, n):
        low, high = min(low, float(values.min())), max(high, float(values.max()))
    width = float(high - low) / (_BINS - 1)
    total = np.zeros(_BINS)
    for values, mass in _grid(metric, tp, fn, k, n):
        nearest = np.rint((values - low) / width) if width > 0.0 else 0.0 * values
        total += np.bincount(nearest.astype(np.intp), mass, _BINS)
    kept = np.flatnonzero(total)
    middles = np.asarray(low + kept * width, dtype=np.float64)
    size = tp.pmf.size + fn.pmf.size
    return Atoms(middles, total[kept], size, moved=width / 2, tolerance=width / 2)


def _rises(metric: Metric, tp: Law, fn: Law, k: float, n: float) -> bool:
    """Look at some rows and columns: is the utility as monotonic as it should be?

    The verdict on a metric comes from small confusion matrices, these are the real
    ones.
    """
    a, b = tp.counts, fn.counts
    some_a = a[np.linspace(0, a.size - 1, _LOOKS).astype(np.intp)]
    some_b = b[np.linspace(0, b.size - 1, _LOOKS).astype(np.intp)]
    for x, y, axis, sign in ((a, some_b, 0, 1.0), (some_a, b, 1, -1.0)):
        x = x[:, None]
        score = metric.score_cells(x, k - x, y, n - k - y)
        utility = np.broadcast_to(score, (x.size, y.size)) * (
            sign if metric.greater_is_better else -sign
        )
        noise = 64 * EPS * float(np.max(np.abs(utility)))
        if not np.all(np.diff(utility, axis=axis) >= -noise):
            return False
    return True
