"""The law of a score: how probable it is to reach a value.

Scores are taken as utilities here, larger is better. With few possible pairs (TP, FN)
every one is listed (`Atoms`). With many, a score that is proved never to fall when a
label turns out right is, for each FN, nondecreasing in TP: `Rows` finds by bisection
from which TP on it reaches a value, and sums tails of the law of TP. That is exact too,
and takes sqrt(n) log(n) evaluations. Other metrics with many pairs are listed as well,
and put into narrow bins if they are too many for that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.counts import NEGLIGIBLE, Law
from bestcut.metrics import MORE_AGREEMENT, Metric, never_hurts, rounding_at

FEW = 1 << 17  # pairs that are always listed
_MANY = 1 << 23  # pairs that are listed if nothing better can be done
_BINS = 1 << 20
_EVALUATIONS = 1 << 20  # of the metric at a time
_TOGETHER = 2048  # evaluations that take hardly longer than one
_LISTED = 4096  # pairs that are sorted sooner than they are counted once more


class UtilityDistribution(ABC):
    """The law of a utility.

    Attributes
    ----------
    tolerance : float
        No utility rounds by more than this.
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

    def reaching(self, utility: float) -> float:
        """Return P(U >= utility), of a U that may have been rounded down."""
        return self.at_least(utility - self.tolerance)

    def exceeding(self, utility: float) -> float:
        """Return P(U > utility), of a U that may have been rounded up."""
        return self.above(utility + self.tolerance)

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
    carry less than 576 eps: 1.5 for each, and 9 for each convolution with 16 of them.
    """
    return (4 * size + 1152) * EPS + 128 * NEGLIGIBLE


def first_that_holds(
    low: IndexArray,
    high: IndexArray,
    holds: Callable[[IndexArray], BoolArray],
) -> IndexArray:
    """Return the first index from `low` to `high` that holds, or `high`.

    A search for each entry, of something that holds from some index on. `holds` takes
    rows of indices, in ascending order: where the searches are few, several of them at
    a time, so that a search takes fewer rounds than by halves.
    """
    rows = max(min(_TOGETHER // max(low.size, 1), 63), 1)
    parts = np.arange(1, rows + 1)[:, None]
    while np.any(low < high):
        points = low + (high - low) * parts // (rows + 1)
        held = holds(points)
        high = np.where(held, points, high).min(axis=0)
        low = np.minimum(np.where(held, low, points + 1).max(axis=0), high)
    return low


@dataclass(frozen=True)
class Pairs:
    """The pairs of counts that are listed: all FN for the first TP, then the second."""

    metric: Metric
    tp: FloatArray
    fn: FloatArray
    n_pred: float
    n: float

    def rounding(self, places: IndexArray) -> FloatArray:
        """Bound by how much the utilities of some pairs are rounded."""
        i, j = np.divmod(places, self.fn.size)
        a, b = self.tp[i], self.fn[j]
        return rounding_at(self.metric, a, self.n_pred - a, b, self.n - self.n_pred - b)


def listed_pairs(
    metric: Metric, tp: FloatArray, fn: FloatArray, n_pred: float, n: float
) -> Pairs | None:
    """Return the pairs, or None if all terms are of one size: scores have a bound."""
    return Pairs(metric, tp, fn, n_pred, n) if metric.bound is None else None


class Atoms(UtilityDistribution):
    """Every possible utility with its probability, in ascending order.

    `moved` is how far utilities were moved to be few; `tolerance` is added to what
    rounding tells apart. `pairs` are those that the utilities belong to, if some may be
    rounded by much less than others.
    """

    pairs: Pairs | None = None

    def __init__(
        self,
        values: FloatArray,
        mass: FloatArray,
        size: int,
        moved: float = 0.0,
        tolerance: float = 0.0,
        pairs: Pairs | None = None,
    ) -> None:
        order = np.argsort(values, kind="stable")
        self.values, mass = values[order], mass[order]
        if pairs is not None:
            self.pairs, self._order = pairs, order
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

    def reaching(self, utility: float) -> float:
        """Return P(U >= utility), of a U that may have been rounded down."""
        if self.pairs is None:
            return super().reaching(utility)
        first, last = np.searchsorted(self.values, [utility - self.tolerance, utility])
        return self.at_least(utility) + self._equal_mass(utility, first, last)

    def exceeding(self, utility: float) -> float:
        """Return P(U > utility), of a U that may have been rounded up."""
        if self.pairs is None:
            return super().exceeding(utility)
        ends = [utility, utility + self.tolerance]
        first, last = np.searchsorted(self.values, ends, side="right")
        return self.above(utility) - self._equal_mass(utility, first, last)

    def _equal_mass(self, utility: float, first: int, last: int) -> float:
        """Return the mass of those from `first` to `last` that rounding makes equal.

        What is asked may come from a formula of its own, with terms of about 1.
        """
        assert self.pairs is not None
        mass = self.onward[first:last] - self.onward[first + 1 : last + 1]
        rounding = self.pairs.rounding(self._order[first:last])
        rounding = np.maximum(rounding, min(16 * EPS, self.tolerance))
        equal = np.abs(self.values[first:last] - utility) <= rounding
        return float(np.sum(mass[equal]))

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


class Rows(UtilityDistribution):
    """A utility that is nondecreasing in TP for each FN: these are the rows.

    Parameters
    ----------
    metric : Metric
        The metric.
    tp, fn : Law
        The laws of both counts.
    n_pred, n : int
        How many instances are predicted positive, and how many there are.
    """

    def __init__(self, metric: Metric, tp: Law, fn: Law, n_pred: int, n: int) -> None:
        self.metric, self.n_pred = metric, float(n_pred)
        self.count, self.pmf = tp.counts, tp.pmf
        self.fn, self.weights = fn.counts, fn.pmf
        self.tn = float(n - n_pred) - self.fn
        self.tail = np.append(np.cumsum(tp.pmf[::-1])[::-1], 0.0)
        ends = [self._utility(np.full(self.fn.size, i)) for i in (0, -1)]
        self.least, self.most = float(np.min(ends[0])), float(np.max(ends[1]))
        self.tolerance = 16 * EPS * max(abs(self.least), abs(self.most))
        self.value_error = self.tolerance
        self.probability_error = probability_error(tp.pmf.size + fn.pmf.size)

    def _utility(
        self, index: IndexArray, rows: IndexArray | slice = slice(None)
    ) -> FloatArray:
        a = self.count[index]
        score = self.metric.score_cells(
            a, self.n_pred - a, self.fn[rows], self.tn[rows]
        )
        score = np.broadcast_to(score, a.shape)
        return score if self.metric.greater_is_better else -score

    def _first(
        self,
        utility: float,
        *,
        above: bool,
        low: IndexArray | None = None,
        high: IndexArray | None = None,
    ) -> IndexArray:
        """Return the first index in each row that reaches, or exceeds, `utility`.

        It is looked for from `low` to `high`, if these are known: the first indices
        for a lower and a higher utility.
        """
        if low is None:
            low = np.zeros(self.fn.size, dtype=np.intp)
        if high is None:
            high = np.full(self.fn.size, self.count.size, dtype=np.intp)

        def value(index: IndexArray, rows: IndexArray | slice) -> FloatArray:
            return self._utility(np.minimum(index, self.count.size - 1), rows)

        def holds(index: IndexArray, rows: IndexArray | slice) -> BoolArray:
            found = value(index, rows)
            return np.asarray(found > utility if above else found >= utility)

        every, left = slice(None), np.flatnonzero(low < high)
        if left.size > _TOGETHER:
            # A utility is nearly linear in TP: look beside where a line would be.
            start, stop = value(low, every), value(high, every)
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.nan_to_num((utility - start) / (stop - start), nan=0.5)
            guess = low + np.ceil(np.clip(share, 0.0, 1.0) * (high - low))
            for beside in (-1, 0):
                point = np.clip(guess + beside, low, np.maximum(high - 1, low))
                point = point.astype(np.intp)
                held = holds(point, every) | (low == high)
                low, high = np.where(held, low, point + 1), np.where(held, point, high)
            left = np.flatnonzero(low < high)
        first = low.copy()
        first[left] = first_that_holds(low[left], high[left], lambda i: holds(i, left))
        return first

    def _mass(self, first: IndexArray) -> float:
        """Return the probability of these indices and all beyond."""
        return float(self.weights @ self.tail[first])

    def _pair_mass(self, rows: IndexArray, index: IndexArray) -> FloatArray:
        """Return the probabilities of some pairs."""
        return self.weights[rows] * self.pmf[index]

    def at_least(self, utility: float) -> float:
        """Return P(U >= utility)."""
        return self._mass(self._first(utility, above=False))

    def above(self, utility: float) -> float:
        """Return P(U > utility)."""
        return self._mass(self._first(utility, above=True))

    def reaching(self, utility: float) -> float:
        """Return P(U >= utility), of a U that may have been rounded down."""
        if self.metric.bound is not None:
            return super().reaching(utility)
        start = self._first(utility - self.tolerance, above=False)
        stop = self._first(utility, above=False, low=start)
        return self._mass(stop) + self._equal_mass(utility, start, stop)

    def exceeding(self, utility: float) -> float:
        """Return P(U > utility), of a U that may have been rounded up."""
        if self.metric.bound is not None:
            return super().exceeding(utility)
        start = self._first(utility, above=True)
        stop = self._first(utility + self.tolerance, above=True, low=start)
        return self._mass(start) - self._equal_mass(utility, start, stop)

    def _equal_mass(self, utility: float, start: IndexArray, stop: IndexArray) -> float:
        """Return the mass of the pairs in each row that rounding makes equal.

        Of very many pairs none is: those that are equal are few in a row. What is asked
        may come from a formula of its own, with terms of about 1.
        """
        rows, index = _pairs_between(start, stop)
        if rows.size > _EVALUATIONS:
            return 0.0
        a = self.count[index]
        rounding = rounding_at(
            self.metric, a, self.n_pred - a, self.fn[rows], self.tn[rows]
        )
        rounding = np.maximum(rounding, min(16 * EPS, self.tolerance))
        equal = np.abs(self._utility(index, rows) - utility) <= rounding
        return float(np.sum(self._pair_mass(rows, index)[equal]))

    def quantile(self, q: float) -> float:
        """Return the smallest u with P(U <= u) >= q, up to `probability_error`."""
        allowed = 1.0 - q + self.probability_error if q < 1.0 else 0.0
        values, onward = self._around(lambda mass: mass <= allowed, above=True)
        return float(values[np.argmax(onward[1:] <= allowed)])

    def upper_quantile(self, q: float) -> float:
        """Return the largest u with P(U >= u) >= q, up to `probability_error`."""
        wanted = q - self.probability_error if q < 1.0 else 1.0
        values, onward = self._around(lambda mass: mass < wanted, above=False)
        return float(values[max(int(np.argmax(onward < wanted)), 1) - 1])

    def _around(
        self,
        holds: Callable[[float], bool],
        *,
        above: bool,
        tries: Sequence[float] = (),
    ) -> tuple[FloatArray, FloatArray]:
        """List some utilities around the point from which on `holds` is true.

        Of P(U >= u), or P(U > u) if `above`, that is: it falls in u. Returns utilities
        in ascending order, and P(U >= u) for each of them and, last, beyond them all.

        The point is bisected, after `tries`, and in every row the counts that reach it
        are looked for only between those for the two ends. As soon as few pairs of a
        row and a count lie between, they are listed.
        """
        low, high = self.least, self.most
        start, stop = (self._first(u, above=above) for u in (low, high))
        for end, first, beyond in ((low, start, True), (high, stop, False)):
            if holds(self._mass(first)) == beyond:
                return np.array([end]), np.array([1.0, 0.0])
        few = max(_LISTED, 2 * self.fn.size)  # a score often has a value in each row
        left = [*tries]
        while int(np.sum(stop - start)) > few and high - low > self.tolerance / 16:
            middle = left.pop() if left else low
            if not low < middle < high:
                middle = low + (high - low) / 2
            first = self._first(middle, above=above, low=start, high=stop)
            if holds(self._mass(first)):
                high, stop = middle, first
            else:
                low, start = middle, first
        return self._listed(start, stop, few, above=above)

    def _listed(
        self,
        start: IndexArray,
        stop: IndexArray,
        few: int,
        *,
        above: bool,
    ) -> tuple[FloatArray, FloatArray]:
        """List the utilities from `start` to `stop` of every row, as `_around` does.

        More than `few` of them are all the same: one is returned, the highest if those
        above a point were looked for, the lowest otherwise.
        """
        sizes = stop - start
        if int(sizes.sum()) > few:
            rows = np.flatnonzero(sizes)
            ends = self._utility((stop - 1 if above else start)[rows], rows)
            one = np.max(ends) if above else np.min(ends)
            return np.array([one]), np.array([1.0, 0.0])
        rows, index = _pairs_between(start, stop)
        values, mass = self._utility(index, rows), self._pair_mass(rows, index)
        order = np.argsort(values)
        beyond = np.append(mass[order], self._mass(stop))
        return values[order], np.cumsum(beyond[::-1])[::-1]


def _pairs_between(
    start: IndexArray, stop: IndexArray
) -> tuple[IndexArray, IndexArray]:
    """Return the rows and the indices of what lies from `start` to `stop` in each."""
    sizes = stop - start
    rows = np.repeat(np.arange(sizes.size), sizes)
    return rows, np.arange(rows.size) + np.repeat(stop - np.cumsum(sizes), sizes)


def distribution_of_score(
    metric: Metric, tp: Law, fn: Law, n_pred: int, n: int
) -> UtilityDistribution:
    """Return the law of a metric's utility."""
    pairs = tp.pmf.size * fn.pmf.size
    k, size = float(n_pred), float(n)
    if pairs > FEW and never_hurts(metric, MORE_AGREEMENT, n):
        return Rows(metric, tp, fn, n_pred, n)
    if pairs <= _MANY:
        parts = list(_grid(metric, tp, fn, k, size))
        values, mass = (np.concatenate(x) for x in zip(*parts, strict=True))
        listed = listed_pairs(metric, tp.counts, fn.counts, k, size)
        return Atoms(values, mass, tp.pmf.size + fn.pmf.size, pairs=listed)
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
