"""How probable it is that cuts reach a utility, over draws of the probabilities.

A known probability is one draw. In a draw TP and FN are independent. If a metric never
falls when a label is right, some smallest TP reaches the utility for each FN. These are
a staircase, and the chance is the sum over FN of its probability times that of as many
TP. Along the cuts, and along FN, the staircase never falls, so most of it is known
from its neighbours.

For all cuts from a to b, TP is at most the number of positives above b, and FP at least
a less these; the other way round, TP is at least the number above a, and FP at most b
less these. What is known of a range of cuts is that of its extremes (Lemma 18).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.counts import add_instance
from bestcut.goals._goals import Question
from bestcut.metrics import Metric
from bestcut.scores import (
    UtilityDistribution,
    first_that_holds,
    probability_error,
)
from bestcut.search import extreme_utility
from bestcut.uncertain import AlignedLaws

_SPACED = 16  # numbers of misses after which one is looked at before those between
_EVALUATIONS = 1 << 15  # of the metric at a time: their arrays stay in the cache
_FEW = 512  # searches: more of them are halved, fewer divided into many parts
_CACHED = 1 << 17  # probabilities that are worked on at a time

# What to ask where utilities and probabilities round by so much.
Ask = Callable[[float, float], Question]


class Cuts(Protocol):
    """The cuts of a ranking, for one metric.

    Attributes
    ----------
    metric : Metric
        The metric.
    n : int
        How many instances there are.
    """

    metric: Metric
    n: int

    def laws(self, cut: int) -> tuple[AlignedLaws, AlignedLaws]:
        """Return the laws of the positives above a cut and below it, in all draws."""

    def rows(self, first: int, last: int) -> FloatArray:
        """Return the probabilities of some instances: a row for each."""

    def utility(self, cut: int) -> UtilityDistribution:
        """Return the distribution of the utility of a cut."""


class Window(NamedTuple):
    """The counts that matter in each draw, from `start` up to `stop`."""

    start: IndexArray
    stop: IndexArray

    @classmethod
    def of(cls, least: AlignedLaws, most: AlignedLaws, rare: float) -> Window:
        """Return those of counts between two, but for a chance `rare` at either end."""
        start, stop = least.start, most.start + most.pmf.shape[1]
        if rare > 0.0:
            start = start + np.argmax(least.pmf > rare / least.pmf.shape[1], axis=1)
            likely = most.pmf[:, ::-1] > rare / most.pmf.shape[1]
            stop = stop - np.argmax(likely, axis=1)
        return cls(start, np.maximum(stop, start + 1))

    @property
    def width(self) -> int:
        """How many counts the widest has."""
        return int(np.max(self.stop - self.start))

    def only(self, draws: IndexArray) -> Window:
        """Return those of some draws."""
        return Window(self.start[draws], self.stop[draws])


class Table(NamedTuple):
    """Laws of a count at some cuts: that of start[b] + j is pmf[i, b, j] in draw b."""

    start: IndexArray
    pmf: FloatArray

    @classmethod
    def running(cls, law: AlignedLaws, p: FloatArray, window: Window) -> Table:
        """Return the laws after 0, 1, ... instances more, as far as a window goes."""
        pmf = np.empty((p.shape[0] + 1, window.start.size, window.width))
        index = (window.start - law.start)[:, None] + np.arange(window.width)
        inside = index < law.pmf.shape[1]
        index = np.minimum(index, law.pmf.shape[1] - 1)
        pmf[0] = np.take_along_axis(law.pmf, index, axis=1) * inside
        for row, after, chance in zip(pmf, pmf[1:], p, strict=False):
            add_instance(row.T, chance, after.T)
        return cls(window.start, pmf)

    @property
    def counts(self) -> FloatArray:
        """The counts that there are in all draws together."""
        stop = int(self.start.max()) + self.pmf.shape[2]
        return np.arange(int(self.start.min()), stop, dtype=np.float64)


class LawsBetween:
    """The laws of both counts at the cuts from `first` to `last`.

    Attributes
    ----------
    size, n_draws : int
        How many counts the widest of them have, of both kinds; how many draws.
    """

    def __init__(self, cuts: Cuts, first: int, last: int) -> None:
        self._fewest, self._more = cuts.laws(first)
        self._most, self._fewer = cuts.laws(last)
        self._p = cuts.rows(first, last)
        self.size = self._most.pmf.shape[1] + self._more.pmf.shape[1]
        self.n_draws = self._p.shape[1]

    def windows(self, rare: float = 0.0) -> tuple[Window, Window]:
        """Return the counts that matter of all these cuts: TP, and FN."""
        tp = Window.of(self._fewest, self._most, rare)
        return tp, Window.of(self._fewer, self._more, rare)

    def tables(self, tp: Window, fn: Window, draws: IndexArray) -> tuple[Table, Table]:
        """Return the laws of TP and of FN in windows, in some draws."""
        p, few = self._p[:, draws], (self._fewest.only(draws), self._fewer.only(draws))
        backwards = Table.running(few[1], p[::-1], fn.only(draws))
        above = Table.running(few[0], p, tp.only(draws))
        return above, Table(backwards.start, backwards.pmf[::-1])


class Chances:
    """The chances that the cuts low, ..., high - 1 reach a utility.

    Parameters
    ----------
    cuts : Cuts
        All cuts. The metric never falls when a label is right.
    low, high : int
        Which of them.
    ask : callable
        What to ask, by how much utilities and probabilities round.
    share : float
        Counts may be left out that are less probable than this share of what is asked,
        or of its complement: chances are then too large by no more than twice that.
    at : int, optional
        Take the laws of both counts at this cut, for the extremes of them all.

    Attributes
    ----------
    asked : Question
        What is asked.
    surplus : float
        By how much chances were made larger, so that none is too small.
    """

    def __init__(
        self,
        cuts: Cuts,
        low: int,
        high: int,
        ask: Ask,
        share: float = 0.0,
        at: int | None = None,
    ) -> None:
        self._metric, self._n = cuts.metric, cuts.n
        self._ends = low, high - 1
        first, last = (low, min(high, cuts.n)) if at is None else (at, at)
        laws = LawsBetween(cuts, first, last)
        largest = max(float(np.abs(x).max()) for x in self._extremes(*laws.windows()))
        self.asked = ask(16 * EPS * largest, probability_error(laws.size))
        chance = self.asked.probability
        rare = max(share * min(chance, 1.0 - chance), 0.0) / 4
        windows = laws.windows(rare)
        self._beyond = self._first_beyond(*windows)
        sure, near = self._sorted_out(*windows)
        self.surplus, self._sure = 4 * rare, int(np.count_nonzero(sure))
        self._n_draws, self._any_near = sure.size, near.size > 0
        if near.size:
            self._tp, self._fn = laws.tables(*windows, near)

    def _extremes(self, tp: Window, fn: Window) -> tuple[FloatArray, FloatArray]:
        """Return what the utilities of all cuts are at least and at most, by draw."""
        low, high = self._ends
        worst = self._utility(tp.start, fn.stop - 1, high)
        return worst, self._utility(tp.stop - 1, fn.start, low)

    def _utility(self, tp: Any, fn: Any, n_pred: Any) -> FloatArray:
        return extreme_utility(self._metric, tp, fn, n_pred, self._n)

    def _reaches(self, tp: Any, fn: Any, n_pred: Any) -> BoolArray:
        """Return which counts reach the utility.

        Of extremes only, there may be more positives than predicted ones, which reach
        it from `_beyond` on, and more misses than predicted negatives: these do not,
        as far as lower bounds go.
        """
        reached = self.asked.is_reached(self._utility(tp, fn, n_pred))
        reached &= (tp <= n_pred) & (fn <= self._n - n_pred)
        beyond: BoolArray = (tp > n_pred) & (tp >= self._beyond)
        return reached | beyond

    def _first_beyond(self, tp: Window, fn: Window) -> int:
        """Return the first TP that reaches the utility if all of `low` are positive.

        With fewest misses: with more it is no better. More TP may be worse then, but
        are taken to be as good.
        """
        many = np.arange(self._ends[0], int(tp.stop.max()))
        if many.size < 2:  # there are not more
            return self._n + 1
        reached = self.asked.is_reached(self._utility(many, fn.start.min(), many))
        return int(many[np.argmax(reached)]) if reached.any() else self._n + 1

    def _sorted_out(self, tp: Window, fn: Window) -> tuple[BoolArray, IndexArray]:
        """Return the draws in which all cuts are sure to reach, and the doubtful."""
        low, high = self._ends
        sure = self._reaches(tp.start, fn.stop - 1, high)
        maybe = self._reaches(tp.stop - 1, fn.start, low)
        return sure, np.flatnonzero(maybe & ~sure)

    def of(self, at: IndexArray, n_pred: IndexArray) -> FloatArray:
        """Return the chances to reach the utility, with laws of cuts low + `at`.

        So many are predicted positive: as of the cuts, or of the extremes of some.
        """
        chance = np.zeros(at.size)
        if self._any_near and at.size:
            tp, fn = self._tp, self._fn
            draws, size = tp.pmf.shape[1:]
            stairs = self._staircases(n_pred.astype(np.float64))
            columns = (fn.start - fn.start.min())[:, None] + np.arange(fn.pmf.shape[2])
            step = max(_CACHED // (draws * size), 1)
            begin = (size + 1) * np.arange(step * draws).reshape(step, draws, 1)
            for i in range(0, at.size, step):
                here = at[i : i + step]
                tails = np.zeros((here.size, draws, size + 1))
                np.cumsum(tp.pmf[here, :, ::-1], axis=2, out=tails[:, :, -2::-1])
                index = stairs[i : i + step].take(columns, axis=1)
                index -= tp.start[:, None]
                np.clip(index, 0, size, out=index)
                index += begin[: here.size]
                reached = tails.ravel().take(index)
                chance[i : i + step] = np.einsum("cbf,cbf->c", fn.pmf[here], reached)
        return (self._sure + chance) / self._n_draws + self.surplus

    def _staircases(self, n_pred: FloatArray) -> IndexArray:
        """Return the smallest TP that reaches the utility, for cuts and each FN.

        First of the first cut and the last, at some FN and at those between, and then
        of the cuts between: they lie between those of their neighbours (Lemma 18).
        """
        tp, fn = self._tp.counts, self._fn.counts
        last, every = n_pred.size - 1, np.arange(fn.size)
        ends = np.unique([0, last])
        some = np.append(every[:-1:_SPACED], every[-1])
        least = np.full((ends.size, some.size), int(tp[0]))
        known = self._between(n_pred[ends], fn[some], least, least + tp.size)
        before = np.searchsorted(some, every, side="right") - 1
        after = np.searchsorted(some, every)
        stairs = np.empty((n_pred.size, fn.size), dtype=np.intp)
        stairs[ends] = self._between(
            n_pred[ends], fn, known[:, before], known[:, after]
        )
        step = 1 << last.bit_length() >> 1
        while step:
            new = np.arange(step, last, 2 * step)
            low, high = stairs[new - step], stairs[np.minimum(new + step, last)]
            stairs[new] = self._between(n_pred[new], fn, low, high)
            step //= 2
        return stairs

    def _between(
        self, n_pred: FloatArray, fn: FloatArray, low: IndexArray, high: IndexArray
    ) -> IndexArray:
        """Return the smallest TP that reaches the utility, from low to high."""
        tp, rows = low.copy(), max(_EVALUATIONS // fn.size, 1)
        for i in range(0, n_pred.size, rows):
            here = slice(i, i + rows)
            row, column = np.nonzero(low[here] < high[here])
            tp[here][row, column] = self._bisected(
                low[here][row, column],
                high[here][row, column],
                n_pred[here][row],
                fn[column],
            )
        # What is not possible is as `_reaches` says, which keeps the order.
        k, many = n_pred[:, None], np.max(high, initial=0)
        if n_pred.size and many > k[0, 0]:
            beyond = np.maximum(k + 1, self._beyond).astype(np.intp)
            tp = np.where(tp > k, beyond, tp)
        if n_pred.size and fn[-1] > self._n - k[-1, 0]:
            tp = np.where(fn > self._n - k, self._n + 1, tp)
        return tp

    def _bisected(
        self, low: IndexArray, high: IndexArray, k: FloatArray, fn: FloatArray
    ) -> IndexArray:
        """Return the smallest TP that reaches the utility, for pairs of k and FN.

        The extreme of one cut is the cut: its own cells are evaluated.
        """
        score_cells, sign = self._metric.score_cells, self._metric.sign
        fn = np.minimum(fn, self._n - k)
        tn = self._n - k - fn

        def holds(index: IndexArray) -> BoolArray:
            tp = np.minimum(index, k)
            return self.asked.is_reached(sign * score_cells(tp, k - tp, fn, tn))

        if low.size <= _FEW:
            return first_that_holds(low, high, holds)
        while np.any(low < high):
            middle = (low + high) >> 1
            reached = holds(middle)
            high = np.where(reached, middle, high)
            low = np.where(reached, low, np.minimum(middle + 1, high))
        return low
