"""Intervals of numbers, elementwise, whose operations round outwards.

Interval arithmetic [1]_: every operation returns an interval that holds the results for
all numbers in its operands, with room for rounding (Lemma 1 in
docs/how-it-works/lemmas.md).

References
----------
.. [1] R. E. Moore, R. B. Kearfott, M. J. Cloud. *Introduction to Interval Analysis.*
   SIAM, 2009.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestcut._types import EPS, FloatArray


class Interval(NamedTuple):
    """All numbers from lo to hi, elementwise."""

    lo: Any
    hi: Any

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def plus(self, other: Interval) -> Interval:
        """Return the interval of sums."""
        return outward(self.lo + other.lo, self.hi + other.hi)

    def times(self, other: Interval) -> Interval:
        """Return the interval of products; 0 times infinity is 0 here."""
        positive = bool(np.all(self.lo >= 0)), bool(np.all(other.lo >= 0))
        if all(positive):
            # What is no number is 0 times infinity; `fmax` takes the 0.
            low = np.fmax(self.lo * other.lo, 0.0)
            high = np.fmax(self.hi * other.hi, 0.0)
        elif positive[0]:
            low = _unless_empty(np.where(other.lo >= 0, self.lo, self.hi) * other.lo)
            high = _unless_empty(np.where(other.hi >= 0, self.hi, self.lo) * other.hi)
        elif positive[1]:
            return other.times(self)
        else:
            ends = [_unless_empty(x * y) for x in self for y in other]
            low = np.minimum(np.minimum(ends[0], ends[1]), np.minimum(ends[2], ends[3]))
            high = np.maximum(
                np.maximum(ends[0], ends[1]), np.maximum(ends[2], ends[3])
            )
        return outward(low, high)

    def hull(self, other: Interval) -> Interval:
        """Return the smallest interval that holds both."""
        return Interval(np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi))

    def chosen(self, condition: Any, other: Interval) -> Interval:
        """Return this where the condition holds and `other` elsewhere."""
        return Interval(
            np.where(condition, self.lo, other.lo),
            np.where(condition, self.hi, other.hi),
        )


def outward(low: Any, high: Any, units: float = 1.0) -> Interval:
    """Return the interval with room for the rounding of its ends.

    An operation is off by half a unit in the last place, and one unit is at most EPS
    of the number. A result of 0 is exact, short of underflow.
    """
    room = units * EPS
    # Infinite ends of the wrong sign make no numbers: these are no bounds.
    return Interval(
        np.fmax(low - room * np.abs(low), -np.inf),
        np.fmin(high + room * np.abs(high), np.inf),
    )


def _unless_empty(x: Any) -> Any:
    """Return products with 0 in the place of 0 times infinity."""
    empty = np.isnan(x)
    return np.where(empty, 0.0, x) if empty.any() else x


ANYTHING = Interval(-np.inf, np.inf)
ZERO = Interval(0.0, 0.0)


def sorted_ends(x: Any, y: Any, units: float = 4.0) -> Interval:
    """Return the interval between two computed values, good to so many units."""
    return outward(np.minimum(x, y), np.maximum(x, y), units)


def spread(interval: Interval, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return both ends in full, with what is not a number as no bound at all."""
    lo, hi = (np.array(np.broadcast_to(x, shape), dtype=np.float64) for x in interval)
    lo[np.isnan(lo)], hi[np.isnan(hi)] = -np.inf, np.inf
    return lo, hi
