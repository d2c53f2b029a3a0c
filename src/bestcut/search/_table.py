"""A ranking as a table of parts: bins of a summary, or runs of sorted probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np

from bestcut._types import CountArray, FloatArray
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


class ListedTable(ABC):
    """A table whose probabilities are all at hand."""

    n: int
    count: CountArray
    start: CountArray

    @property
    @abstractmethod
    def least(self) -> FloatArray:
        """The smallest probability of each part."""

    @property
    @abstractmethod
    def most(self) -> FloatArray:
        """The largest probability of each part."""

    @property
    @abstractmethod
    def negatives(self) -> FloatArray:
        """Expected number of negatives."""

    @property
    @abstractmethod
    def sums(self) -> FloatArray:
        """Sums of the features over each part, in rows."""

    @abstractmethod
    def listed(self, first: int = 0, last: int | None = None) -> FloatArray:
        """Return the probabilities in parts `first` to `last` - 1, or in all."""

    @abstractmethod
    def part(self, first: int, last: int) -> ListedTable:
        """Return a table of what is in parts `first` to `last` - 1, in smaller ones."""

    def law(self, first: int, last: int) -> Law:
        """Return the law of the positives in parts `first` to `last` - 1."""
        return law_of(self.listed(first, last))

    def displacement(self) -> FloatArray:
        """Return 0: every probability is known."""
        return np.zeros(self.count.size)


class RunTable(ListedTable):
    """Values in descending order, each with a count, cut into parts.

    A part is some consecutive values, or a share of the instances of a single one.
    """

    def __init__(
        self, values: FloatArray, counts: CountArray, parts: int | None = None
    ) -> None:
        total = np.cumsum(counts)
        parts = parts or int(np.clip(total[-1] // _LEAST_SHARE, 1, _MOST_PARTS))
        steps = np.linspace(0, total[-1], parts + 1).astype(np.int64)[1:-1]
        # At a part's edge the value before it is used up, or it is shared out.
        heavy = np.searchsorted(total, steps, side="right")
        shared = counts[heavy] > 2 * total[-1] // parts
        ends = np.where(shared, steps, total[np.maximum(heavy - 1, 0)])
        borders = np.unique(np.concatenate([[0], ends[ends > 0], total]))
        self._value = values[np.searchsorted(total, borders[1:] - 1, side="right")]
        self._size = np.diff(borders)
        edges = np.unique(np.concatenate([[0], ends[ends > 0], total[-1:]]))
        self._pieces = np.searchsorted(borders, edges)
        self.start = edges
        self.n, self.count = int(total[-1]), np.diff(edges)

    def _over_parts(self, x: FloatArray) -> FloatArray:
        out: FloatArray = np.add.reduceat(x, self._pieces[:-1], axis=-1)
        return out

    @cached_property
    def sums(self) -> FloatArray:
        """Sums of the features over each part, in rows."""
        return self._over_parts(features(self._value, ROOM) * self._size)

    @cached_property
    def negatives(self) -> FloatArray:
        """Expected number of negatives."""
        return self._over_parts((1.0 - self._value) * self._size)

    @property
    def least(self) -> FloatArray:
        """The smallest probability of each part."""
        return self._value[self._pieces[1:] - 1]

    @property
    def most(self) -> FloatArray:
        """The largest probability of each part."""
        return self._value[self._pieces[:-1]]

    def listed(self, first: int = 0, last: int | None = None) -> FloatArray:
        """Return the probabilities in parts `first` to `last` - 1, or in all."""
        here = self._here(first, self.count.size if last is None else last)
        return np.repeat(self._value[here], self._size[here])

    def part(self, first: int, last: int) -> RunTable:
        """Return a table of what is in parts `first` to `last` - 1, in smaller ones."""
        values, sizes = (x[self._here(first, last)] for x in (self._value, self._size))
        # What was shared out is put together again.
        new = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
        return RunTable(values[new], np.add.reduceat(sizes, new))

    def _here(self, first: int, last: int) -> slice:
        return slice(self._pieces[first], self._pieces[last])


class SortedTable(ListedTable):
    """Probabilities in descending order, cut into parts.

    Parts are of equal length, but for both ends of the ranking, where curves bend most:
    there they double from a single instance on.
    """

    def __init__(self, eta: FloatArray, length: int | None = None) -> None:
        self._eta, self.n = eta, eta.size
        length = length or int(np.clip(np.sqrt(eta.size) / 5, *_LENGTHS))
        ends = 2 ** np.arange(length.bit_length())
        ends = ends[ends <= eta.size // 2]
        inner = np.arange(2 * length, eta.size - 2 * length, length)
        self.start = np.unique(
            np.concatenate([[0, eta.size], ends, inner, eta.size - ends])
        )
        self.count = np.diff(self.start)

    def _over_parts(self, rows: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the sums of some rows of numbers over each part."""
        edges = np.searchsorted(self.start, np.arange(0, self.n, _INSTANCES))
        edges = np.unique(np.append(edges, self.count.size))
        sums = []
        for first, last in pairwise(edges.tolist()):
            here = self.start[first : last + 1]
            some = rows(self._eta[here[0] : here[-1]])
            sums.append(np.add.reduceat(some, here[:-1] - here[0], axis=1))
        return np.concatenate(sums, axis=1)

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
        least: FloatArray = self._eta[self.start[1:] - 1]
        return least

    @property
    def most(self) -> FloatArray:
        """The largest probability of each part."""
        most: FloatArray = self._eta[self.start[:-1]]
        return most

    def listed(self, first: int = 0, last: int | None = None) -> FloatArray:
        """Return the probabilities in parts `first` to `last` - 1, or in all."""
        end = self.n if last is None else self.start[last]
        return self._eta[self.start[first] : end]

    def part(self, first: int, last: int) -> SortedTable:
        """Return a table of what is in parts `first` to `last` - 1, in smaller ones."""
        return SortedTable(self.listed(first, last))
