"""The distribution of a utility that never falls when a label turns out right.

For each FN, a row, such a utility is nondecreasing in TP, which is proved (Lemma 4 of
docs/how-it-works/lemmas.md). `Rows` finds by bisection from which TP on it reaches a
value, and sums tails of the law of TP. That is exact, and takes sqrt(n) log(n)
evaluations. All draws of the probabilities share them; known ones are one draw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.metrics import Metric
from bestcut.scores._utility import UtilityOfCounts, probability_error
from bestcut.uncertain import AlignedLaws

_EVALUATIONS = 1 << 20  # of the metric at a time
_TOGETHER = 2048  # evaluations that take hardly longer than one
_LISTED = 4096  # pairs that are sorted sooner than they are counted once more
# About the normal distribution: equally probable points of it, and how far from a
# quantile of it that of a count may be, in standard deviations.
_NORMAL = np.arctanh((np.arange(32) - 15.5) / 16.0) / 0.85
_BESIDE = 0.1


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


class _Tails:
    """How probable it is to get at least some TP with each FN, in every draw.

    A draw has few of the counts that there are in all draws: `starts` says where its
    windows of TP and of FN begin among these.
    """

    def __init__(self, tp: AlignedLaws, fn: AlignedLaws) -> None:
        self.tp, self.fn = tp, fn
        self.starts = tp.start - tp.start.min(), fn.start - fn.start.min()
        draws, size = tp.pmf.shape
        tails = np.zeros((draws, size + 1))  # of all counts, and of one beyond
        tails[:, :-1] = np.cumsum(tp.pmf[:, ::-1], axis=1)[:, ::-1]
        self._tails, self._begin = tails.ravel(), (size + 1) * np.arange(draws)
        self._rows = self.starts[1][:, None] + np.arange(fn.pmf.shape[1])

    def beyond(self, first: IndexArray) -> FloatArray:
        """Return the probability of all from the first TP of each FN on."""
        index = first.take(self._rows)
        index -= self.starts[0][:, None]
        np.clip(index, 0, self.tp.pmf.shape[1], out=index)
        index += self._begin[:, None]
        return np.asarray(np.einsum("bi,bi->b", self.fn.pmf, self._tails.take(index)))

    def between(self, fn: IndexArray, tp: IndexArray) -> FloatArray:
        """Return the probabilities of some pairs of counts, a row for each draw."""
        (draws, size), width = self.tp.pmf.shape, self.fn.pmf.shape[1]
        mass = np.zeros((draws, fn.size))
        for b, (tp_from, fn_from) in enumerate(zip(*self.starts, strict=True)):
            i, j = tp - tp_from, fn - fn_from
            inside = np.flatnonzero((i >= 0) & (i < size) & (j >= 0) & (j < width))
            i, j = i[inside], j[inside]
            mass[b, inside] = self.tp.pmf[b, i] * self.fn.pmf[b, j]
        return mass


class _KnownTails(_Tails):
    """The same of known probabilities: the only draw has all counts."""

    def beyond(self, first: IndexArray) -> FloatArray:
        """Return the probability of all from the first TP of each FN on."""
        return self.fn.pmf @ self._tails.take(first)


class Rows(UtilityOfCounts):
    """A utility that is nondecreasing in TP for each FN: these are the rows.

    Parameters
    ----------
    metric : Metric
        The metric.
    tp, fn : AlignedLaws
        The laws of both counts, in every draw.
    n_pred, n : int
        How many instances are predicted positive, and how many there are.
    """

    def __init__(
        self, metric: Metric, tp: AlignedLaws, fn: AlignedLaws, n_pred: int, n: int
    ) -> None:
        super().__init__(metric, n_pred, n)
        self.count, self.fn = (  # of all draws
            int(x.start.min()) + np.arange(x.width, dtype=np.float64) for x in (tp, fn)
        )
        self._tails = (_KnownTails if tp.start.size == 1 else _Tails)(tp, fn)
        ends = [self._utility(np.full(self.fn.size, i)) for i in (0, -1)]
        self.least, self.most = float(np.min(ends[0])), float(np.max(ends[1]))
        self.tolerance = 16 * EPS * max(abs(self.least), abs(self.most))
        self.value_error = self.tolerance
        self.probability_error = probability_error(self.count.size + self.fn.size)

    def _utility(
        self, index: IndexArray, rows: IndexArray | slice = slice(None)
    ) -> FloatArray:
        score = self.metric.score_cells(*self._cells(self.count[index], self.fn[rows]))
        score = np.broadcast_to(score, index.shape)
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

    def at_least(self, utility: float) -> float:
        """Return P(U >= utility)."""
        return float(self._tails.beyond(self._first(utility, above=False)).mean())

    def above(self, utility: float) -> float:
        """Return P(U > utility)."""
        return float(self._tails.beyond(self._first(utility, above=True)).mean())

    def exceeding_by_draw(self, utility: float) -> FloatArray:
        """Return P(U > utility) in every draw, of a U that may have been rounded up."""
        if self._alike:
            first = self._first(utility + self.tolerance, above=True)
            return self._tails.beyond(first)
        above = self._tails.beyond(self._first(utility, above=True))
        return above - self._equal(utility, above=True)

    def _equal(self, utility: float, *, above: bool) -> FloatArray:
        """Return the mass above, or below, that rounding makes equal, in each draw.

        Of very many pairs none is: those that are equal are few in a row.
        """
        low, high = self._rounded(utility, above=above)
        start = self._first(low, above=above)
        stop = self._first(high, above=above, low=start)
        rows, index = _pairs_between(start, stop)
        if rows.size > _EVALUATIONS:
            return np.zeros(1)
        found, tp, fn = self._utility(index, rows), self.count[index], self.fn[rows]
        equal = self._are_equal(found, tp, fn, utility)
        return np.asarray(self._tails.between(rows[equal], index[equal]).sum(axis=1))

    def quantile(self, q: float) -> float:
        """Return the smallest u with P(U <= u) >= q, up to `probability_error`."""
        allowed = 1.0 - q + self.probability_error if q < 1.0 else 0.0
        return self._turn(lambda mass: mass <= allowed, allowed, above=True)

    def upper_quantile(self, q: float) -> float:
        """Return the largest u with P(U >= u) >= q, up to `probability_error`."""
        wanted = q - self.probability_error if q < 1.0 else 1.0
        return self._turn(lambda mass: mass < wanted, wanted, above=False)

    def _turn(
        self, holds: Callable[[Any], Any], chance: float, *, above: bool
    ) -> float:
        """Return the first utility u with a P(U > u) that `holds`, if `above`.

        Otherwise the last with a P(U >= u) that does not. These fall to `chance` there.

        In a large batch most draws are on one side of it with all that they can have:
        a draw's utility is lowest at its fewest TP and most FN. For any u the share of
        draws that are above it altogether is at most P(U > u), and that of draws that
        reach u is at least P(U >= u), so it lies between values of these ends.
        """
        tp, fn, (tp_from, fn_from) = self._tails.tp, self._tails.fn, self._tails.starts
        low = self._utility(tp_from, fn_from + fn.pmf.shape[1] - 1) - self.tolerance
        high = self._utility(tp_from + tp.pmf.shape[1] - 1, fn_from) + self.tolerance
        draws = low.size
        held = sum(holds(k / draws) for k in range(draws + 1))
        if 0 < held <= draws:
            first, last = (np.sort(x)[draws - held] for x in (low, high))
            near = (high >= first) & (low <= last)
            if not near.all():
                sure, share = np.count_nonzero(low > last) / draws, near.sum() / draws
                laws = tp.only(near), fn.only(near)
                part = Rows(self.metric, *laws, int(self.n_pred), int(self.n))
                return part._turn(
                    lambda mass: holds(sure + share * mass),
                    (chance - sure) / share,
                    above=above,
                )
        # About where it is if both laws are normal in every draw. The peak of a normal
        # law is 0.4 / std high, and in a window std moves the utility by its share.
        i, j = tp_from + tp.pmf.argmax(axis=1), fn_from + fn.pmf.argmax(axis=1)
        ends = tp_from + tp.pmf.shape[1] - 1, fn_from + fn.pmf.shape[1] - 1
        by_tp = self._utility(ends[0], j) - self._utility(tp_from, j)
        by_fn = self._utility(i, ends[1]) - self._utility(i, fn_from)
        widths = (x.pmf.max(axis=1) * x.pmf.shape[1] / 0.4 for x in (tp, fn))
        sigma = np.hypot(*map(np.divide, (by_tp, by_fn), widths))
        points = self._utility(i, j) + sigma * _NORMAL[:, None]
        likely = float(np.quantile(points, min(max(1.0 - chance, 0.0), 1.0)))
        beside = _BESIDE * float(sigma.mean())
        return self._bisected(holds, [likely + beside, likely - beside], above=above)

    def _bisected(
        self, holds: Callable[[Any], Any], tries: list[float], *, above: bool
    ) -> float:
        """Return what `_turn` does, by bisection after `tries`.

        In every row the counts are looked for only between those for the two ends. As
        soon as few pairs of a row and a count are left, they are listed.
        """
        low, high = self.least, self.most
        start, stop = (self._first(u, above=above) for u in (low, high))
        beyond = [float(self._tails.beyond(x).mean()) for x in (start, stop)]
        if holds(beyond[0]) or not holds(beyond[1]):
            return low if holds(beyond[0]) else high
        few = max(_LISTED, 2 * self.fn.size)  # a score often has a value in each row
        while int(np.sum(stop - start)) > few and high - low > self.tolerance / 16:
            middle = tries.pop() if tries else low
            if not low < middle < high:
                middle = low + (high - low) / 2
            first = self._first(middle, above=above, low=start, high=stop)
            if holds(float(self._tails.beyond(first).mean())):
                high, stop = middle, first
            else:
                low, start = middle, first
        if int(np.sum(stop - start)) > few:  # they are all the same
            rows = np.flatnonzero(stop > start)
            ends = self._utility((stop - 1 if above else start)[rows], rows)
            return float(ends.max() if above else ends.min())
        rows, index = _pairs_between(start, stop)
        values = self._utility(index, rows)
        order = np.argsort(values)
        mass = self._tails.between(rows, index).mean(axis=0)[order]
        mass = np.append(mass, self._tails.beyond(stop).mean())
        onward = np.cumsum(mass[::-1])[::-1]
        if above:
            return float(values[order[np.argmax(holds(onward[1:]))]])
        return float(values[order[max(int(np.argmax(holds(onward))), 1) - 1]])


def _pairs_between(
    start: IndexArray, stop: IndexArray
) -> tuple[IndexArray, IndexArray]:
    """Return the rows and the indices of what lies from `start` to `stop` in each."""
    sizes = stop - start
    rows = np.repeat(np.arange(sizes.size), sizes)
    return rows, np.arange(rows.size) + np.repeat(stop - np.cumsum(sizes), sizes)
