"""A ranking as a table of parts: bins of a summary, or runs of sorted probabilities."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np

from bestcut._types import CountArray, FloatArray, IndexArray
from bestcut.counts import ROOM, Law, features, law_of

_LENGTHS = 8, 256  # instances in a part of sorted probabilities
_LEAST_SHARE, _MOST_PARTS = 16, 2048  # instances in a part of values with counts
_INSTANCES = 8192  # instances whose features are computed at once: they stay in cache


class Table(Protocol):
    """Parts of the ranking in descending order.

    Attributes
    ----------
    n : int
        How many instances there are.
    count : ndarray of int
        How many are in each part.
    start : ndarray of int
        How many are in the parts before it; one entry more than there are parts.
    """

    n: int
    count: CountArray
    start: CountArray

    @property
    def least(self) -> FloatArray:
        """The smallest probability of each part."""

    @property
    def most(self) -> FloatArray:
        """The largest probability of each part."""

    @property
    def negatives(self) -> FloatArray:
        """Expected number of negatives."""

    @property
    def sums(self) -> FloatArray:
        """Sums of the features over each part, in rows."""

    def law(self, first: int, last: int) -> Law:
        """Return the law of the positives in parts `first` to `last` - 1."""

    def displacement(self) -> FloatArray:
        """Bound what the laws of each part are wrong by."""


class ListedTable:
    """Probabilities that are all at hand, in descending order, cut into parts.

    A part is some consecutive values, or a share of the instances of a single one.
    `first` says which value each part begins with, and `start` how many instances are
    before it; either has one entry more than there are parts. `sizes` says how many
    instances have each value; None stands for one each.
    """

    def __init__(
        self,
        values: FloatArray,
        sizes: CountArray | None,
        first: IndexArray,
        start: CountArray,
    ) -> None:
        self._values, self._sizes, self._first = values, sizes, first
        self.n, self.start, self.count = int(start[-1]), start, np.diff(start)

    @classmethod
    def sorted(cls, eta: FloatArray, length: int | None = None) -> ListedTable:
        """Return probabilities in parts of equal length, but for both ends.

        There, where curves bend most, they double from a single instance on.
        """
        length = length or int(np.clip(np.sqrt(eta.size) / 5, *_LENGTHS))
        ends = 2 ** np.arange(length.bit_length())
        ends = ends[ends <= eta.size // 2]
        inner = np.arange(2 * length, eta.size - 2 * length, length)
        start = np.unique(np.concatenate([[0, eta.size], ends, inner, eta.size - ends]))
        return cls(eta, None, start, start)

    @classmethod
    def counted(
        cls, values: FloatArray, counts: CountArray, parts: int | None = None
    ) -> ListedTable:
        """Return values, each with a count, in parts of about equal size."""
        total = np.cumsum(counts)
        parts = parts or int(np.clip(total[-1] // _LEAST_SHARE, 1, _MOST_PARTS))
        steps = np.linspace(0, total[-1], parts + 1).astype(np.int64)[1:-1]
        # At a part's edge the value before it is used up, or it is shared out.
        heavy = np.searchsorted(total, steps, side="right")
        shared = counts[heavy] > 2 * total[-1] // parts
        ends = np.where(shared, steps, total[np.maximum(heavy - 1, 0)])
        start = np.unique(np.concatenate([[0], ends[ends > 0], total[-1:]]))
        borders = np.union1d(start, total)
        values = values[np.searchsorted(total, borders[1:] - 1, side="right")]
        return cls(values, np.diff(borders), np.searchsorted(borders, start), start)

    def _over_parts(self, rows: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the sums of some rows of numbers over each part."""
        edges = np.arange(0, self._values.size, _INSTANCES)
        edges = np.append(np.searchsorted(self._first, edges), self.count.size)
        sums = []
        for first, last in pairwise(np.unique(edges).tolist()):
            places, here = self._first[first : last + 1], self._here(first, last)
            some = rows(self._values[here])
            if self._sizes is not None:
                some = some * self._sizes[here]
            sums.append(np.add.reduceat(some, places[:-1] - places[0], axis=1))
        return np.concatenate(sums, axis=1)

    def _here(self, first: int, last: int) -> slice:
        return slice(self._first[first], self._first[last])

    @cached_property
    def sums(self) -> FloatArray:
        """Sums of the features over each part, in rows."""
        return self._over_parts(lambda eta: features(eta, ROOM))

    @cached_property
    def negatives(self) -> FloatArray:
        """Expected number of negatives."""
        row: FloatArray = self._over_parts(lambda eta: (1.0 - eta)[None])[0]
        return row

    @property
    def least(self) -> FloatArray:
        """The smallest probability of each part."""
        return self._values[self._first[1:] - 1]

    @property
    def most(self) -> FloatArray:
        """The largest probability of each part."""
        return self._values[self._first[:-1]]

    def listed(self, first: int = 0, last: int | None = None) -> FloatArray:
        """Return the probabilities in parts `first` to `last` - 1, or in all."""
        here = self._here(first, self.count.size if last is None else last)
        values, sizes = self._values[here], self._sizes
        return values if sizes is None else np.repeat(values, sizes[here])

    def part(self, first: int, last: int) -> ListedTable:
        """Return a table of what is in parts `first` to `last` - 1, in smaller ones."""
        here = self._here(first, last)
        values, sizes = self._values[here], self._sizes
        if sizes is None:
            return ListedTable.sorted(values)
        # What was shared out is put together again.
        new = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        return ListedTable.counted(values[new], np.add.reduceat(sizes[here], new))

    def law(self, first: int, last: int) -> Law:
        """Return the law of the positives in parts `first` to `last` - 1."""
        return law_of(self.listed(first, last))

    def displacement(self) -> FloatArray:
        """Return 0: every probability is known."""
        return np.zeros(self.count.size)
