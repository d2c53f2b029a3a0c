"""Which cuts may be taken: those of a range, or some of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bestcut._types import BoolArray, CountArray, IndexArray


class Allowed:
    """The cuts that may be taken.

    Attributes
    ----------
    low, high : int
        The first of them and the last.
    """

    def __init__(self, low: int, high: int, mask: BoolArray | None = None) -> None:
        self.low, self.high, self._mask = int(low), int(high), mask

    @classmethod
    def those(cls, mask: BoolArray) -> Allowed:
        """Return the cuts that a mask of the cuts 0 to n says, one at least."""
        low, high = int(np.argmax(mask)), mask.size - 1 - int(np.argmax(mask[::-1]))
        return cls(low, high, None if mask[low : high + 1].all() else mask)

    def beyond(self, cut: int) -> Allowed:
        """Return those of them that are after a cut, maybe none."""
        return Allowed(max(self.low, cut + 1), self.high, self._mask)

    @property
    def is_range(self) -> bool:
        """Whether all cuts from the first to the last may be taken."""
        return self._mask is None

    @cached_property
    def _before(self) -> CountArray:
        """How many of the cuts 0, 1, ... are allowed before each."""
        assert self._mask is not None
        before: CountArray = np.concatenate([[0], np.cumsum(self._mask)])
        return before

    def count(self, first: IndexArray, last: IndexArray) -> CountArray:
        """Return how many cuts from `first` to `last` may be taken, both included."""
        first, last = np.maximum(first, self.low), np.minimum(last, self.high)
        if self._mask is None:
            return np.asarray(np.maximum(last - first + 1, 0))
        some = first <= last
        before = self._before[np.where(some, [last + 1, first], 0)]
        return np.asarray(before[0] - before[1])

    def holds(self, cuts: IndexArray) -> BoolArray:
        """Return which of some cuts may be taken."""
        return self.count(cuts, cuts) > 0

    def mask(self, first: int, last: int) -> BoolArray:
        """Return which of the cuts from `first` to `last` may be taken."""
        allowed = np.zeros(last - first + 1, dtype=np.bool_)
        low, high = max(self.low, first), min(self.high, last) + 1
        if low < high:
            inside = True if self._mask is None else self._mask[low:high]
            allowed[low - first : high - first] = inside
        return allowed
