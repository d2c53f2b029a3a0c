"""The distribution of a utility that never falls when a label turns out right.

For each FN, a row, such a utility is nondecreasing in TP. `Rows` finds by bisection
from which TP on it reaches a value, and sums tails of the law of TP. That is exact, and
takes sqrt(n) log(n) evaluations. All draws of the probabilities share them; known
probabilities are one draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.counts import Law
from bestcut.metrics import Metric, rounding_at
from bestcut.scores._utility import UtilityDistribution, probability_error
from bestcut.uncertain import AlignedLaws, DrawnLaw

AnyLaw: TypeAlias = Law | DrawnLaw | AlignedLaws

_EVALUATIONS = 1 << 20  # of the metric at a time
_TOGETHER = 2048  # evaluations that take hardly longer than one
_LISTED = 4096  # pairs that are sorted sooner than they are counted once more
_SIGMAS = 25.0  # standard deviations that a window reaches over, about
_HALVINGS = 40


def aligned(law: AnyLaw) -> AlignedLaws:
    """Return laws with a window for each draw; known probabilities are one draw."""
    if isinstance(law, Law):
        return AlignedLaws(np.array([law.start]), law.pmf[None])
    return law if isinstance(law, AlignedLaws) else AlignedLaws.of(law)


def are_equal(
    metric: Metric,
    cells: tuple[FloatArray, ...],
    found: FloatArray,
    utility: float,
    tolerance: float,
) -> BoolArray:
    """Return which utilities of some cells rounding makes equal to one.

    The utility may come from a formula of its own, with terms of about 1.
    """
    rounding = np.maximum(rounding_at(metric, *cells), min(16 * EPS, tolerance))
    return np.asarray(np.abs(found - utility) <= rounding)


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


class Rows(UtilityDistribution):
    """A utility that is nondecreasing in TP for each FN: these are the rows.

    Parameters
    ----------
    metric : Metric
        The metric.
    tp, fn : Law, DrawnLaw or AlignedLaws
        The laws of both counts, in every draw.
    n_pred, n : int
        How many instances are predicted positive, and how many there are.
    """

    def __init__(
        self, metric: Metric, tp: AnyLaw, fn: AnyLaw, n_pred: int, n: int
    ) -> None:
        self.metric, self.n_pred, self.n = metric, float(n_pred), float(n)
        self._tp, self._fn = aligned(tp), aligned(fn)
        # Draws, and how many of them are surely above all that is looked for.
        self._n_draws, self._sure = self._tp.start.size, 0
        # The counts of all draws, and where the windows of the draws begin among them.
        least_tp, least_fn = int(self._tp.start.min()), int(self._fn.start.min())
        self.count = least_tp + np.arange(self._tp.width, dtype=np.float64)
        self.fn = least_fn + np.arange(self._fn.width, dtype=np.float64)
        self._from, self._row = self._tp.start - least_tp, self._fn.start - least_fn
        ends = [self._utility(np.full(self.fn.size, i)) for i in (0, -1)]
        self.least, self.most = float(np.min(ends[0])), float(np.max(ends[1]))
        self.tolerance = 16 * EPS * max(abs(self.least), abs(self.most))
        self.value_error = self.tolerance
        self.probability_error = probability_error(self.count.size + self.fn.size)

    def _utility(
        self, index: IndexArray, rows: IndexArray | slice = slice(None)
    ) -> FloatArray:
        score = self.metric.score_cells(*self._cells(index, rows))
        score = np.broadcast_to(score, index.shape)
        return score if self.metric.greater_is_better else -score

    def _cells(
        self, index: IndexArray, rows: IndexArray | slice
    ) -> tuple[FloatArray, ...]:
        """Return TP, FP, FN and TN."""
        a, b = self.count[index], self.fn[rows]
        return a, self.n_pred - a, b, self.n - self.n_pred - b

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

    @cached_property
    def _tails(self) -> tuple[FloatArray, IndexArray, IndexArray]:
        """P(TP >= a), draw by draw; where each FN is, and where each draw begins.

        A draw has all counts of its window, and one beyond.
        """
        draws, size = self._tp.pmf.shape
        tails = np.zeros((draws, size + 1))
        tails[:, :-1] = np.cumsum(self._tp.pmf[:, ::-1], axis=1)[:, ::-1]
        rows = self._row[:, None] + np.arange(self._fn.pmf.shape[1])
        return tails.ravel(), rows, (size + 1) * np.arange(draws)[:, None]

    def _beyond(self, first: IndexArray) -> FloatArray:
        """Return the probability of these indices and all beyond, in each draw."""
        tails, rows, begin = self._tails
        if self._n_draws == 1:  # whose windows have all counts
            return self._fn.pmf @ tails.take(first)
        index = first.take(rows)
        index -= self._from[:, None]
        np.clip(index, 0, self._tp.pmf.shape[1], out=index)
        index += begin
        return np.asarray(np.einsum("bi,bi->b", self._fn.pmf, tails.take(index)))

    def _mass(self, first: IndexArray) -> float:
        """Return the probability of these indices and all beyond."""
        return (self._sure + float(self._beyond(first).sum())) / self._n_draws

    def _pair_mass(self, rows: IndexArray, index: IndexArray) -> FloatArray:
        """Return the probabilities of some pairs, in each draw; `rows` ascend.

        A draw has a few of the counts that there are in all draws.
        """
        (draws, size), width = self._tp.pmf.shape, self._fn.pmf.shape[1]
        mass = np.zeros((draws, rows.size))
        first = np.searchsorted(rows, self._row)
        last = np.searchsorted(rows, self._row + width)
        for b, here in enumerate(map(slice, first.tolist(), last.tolist())):
            caught, missed = index[here] - self._from[b], rows[here] - self._row[b]
            inside = (caught >= 0) & (caught < size)
            both = self._fn.pmf[b, missed[inside]] * self._tp.pmf[b, caught[inside]]
            mass[b, here][inside] = both
        return mass

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
        return self._mass(stop) + float(self._equal(utility, start, stop).mean())

    def exceeding(self, utility: float) -> float:
        """Return P(U > utility), of a U that may have been rounded up."""
        return float(self.exceeding_by_draw(utility).mean())

    def exceeding_by_draw(self, utility: float) -> FloatArray:
        """Return the same in every draw of the probabilities."""
        beyond = utility + self.tolerance
        if self.metric.bound is not None:
            return self._beyond(self._first(beyond, above=True))
        start = self._first(utility, above=True)
        stop = self._first(beyond, above=True, low=start)
        return self._beyond(start) - self._equal(utility, start, stop)

    def _equal(self, utility: float, start: IndexArray, stop: IndexArray) -> FloatArray:
        """Return the mass of the pairs that rounding makes equal, in each draw.

        Of very many pairs none is: those that are equal are few in a row.
        """
        rows, index = _pairs_between(start, stop)
        if rows.size > _EVALUATIONS:
            return np.zeros(self._n_draws)
        found, cells = self._utility(index, rows), self._cells(index, rows)
        equal = are_equal(self.metric, cells, found, utility, self.tolerance)
        return np.asarray(self._pair_mass(rows[equal], index[equal]).sum(axis=1))

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
        self, holds: Callable[[float], bool], *, above: bool
    ) -> tuple[FloatArray, FloatArray]:
        """List some utilities around the point from which on `holds` is true.

        Of P(U >= u), or P(U > u) if `above`, that is: it falls in u. Returns utilities
        in ascending order, and P(U >= u) for each of them and, last, beyond them all.

        In a large batch most draws are on one side of it with all that they can have.
        A draw's utility is lowest at its fewest TP and most FN. For any u the share of
        draws that are above it altogether is at most P(U > u), and that of draws that
        reach u is at least P(U >= u), so the point lies between values of these ends.
        """
        draws = self._n_draws
        held = sum(holds(k / draws) for k in range(draws + 1))
        if draws == 1 or not 0 < held <= draws:
            return self._bisected(holds, (), above=above)
        low, high = self._ends()
        first, last = (np.sort(x)[draws - held] for x in (low, high))
        near = (high >= first) & (low <= last)
        sizes = int(self.n_pred), int(self.n)
        part = Rows(self.metric, self._tp.only(near), self._fn.only(near), *sizes)
        part._n_draws, part._sure = draws, int(np.count_nonzero(low > last))
        tries = part._guesses(holds, float(first), float(last))
        return part._bisected(holds, tries, above=above)

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """Return what the utility is at least and at most, in each draw."""
        most_tp = self._from + self._tp.pmf.shape[1] - 1
        most_fn = self._row + self._fn.pmf.shape[1] - 1
        low = self._utility(self._from, most_fn) - self.tolerance
        return low, self._utility(most_tp, self._row) + self.tolerance

    def _guesses(
        self, holds: Callable[[float], bool], low: float, high: float
    ) -> tuple[float, float]:
        """Return utilities between which the point is if every draw's law is normal."""
        counts = [
            np.rint(law.pmf @ np.arange(law.pmf.shape[1])).astype(np.intp)
            for law in (self._tp, self._fn)
        ]
        mean = self._utility(self._from + counts[0], self._row + counts[1])
        ends = self._ends()
        sigma = np.maximum((ends[1] - ends[0]) / _SIGMAS, 1e-300)
        for _ in range(_HALVINGS):
            middle = low + (high - low) / 2
            mass = 0.5 - 0.5 * np.tanh(0.85 * (middle - mean) / sigma)
            if holds((self._sure + float(mass.sum())) / self._n_draws):
                high = middle
            else:
                low = middle
        beside = 0.1 * float(np.mean(sigma))
        return low - beside, low + beside

    def _bisected(
        self, holds: Callable[[float], bool], tries: Sequence[float], *, above: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Bisect the point, after `tries`, and list what is left, as `_around` does.

        In every row the counts that reach it are looked for only between those for the
        two ends. As soon as few pairs of a row and a count are left, they are listed.
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
        self, start: IndexArray, stop: IndexArray, few: int, *, above: bool
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
        values = self._utility(index, rows)
        mass = self._pair_mass(rows, index).sum(axis=0) / self._n_draws
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
