"""The number between two scores that tells them apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestcut._types import FloatArray


class Threshold(NamedTuple):
    """Where a cut is.

    Attributes
    ----------
    value : float
        What is at least this is positive; inf if nothing is.
    n_tied : (int, int)
        Of scores that are equal to it, how many are positive, and how many there are:
        (2, 3) if the cut splits a tie, which no threshold does, and else (0, 0).
    """

    value: float
    n_tied: tuple[int, int] = (0, 0)


NOWHERE = Threshold(float("inf"))


def halfway(below: Any, least: Any) -> FloatArray:
    """Return thresholds above `below` and at most `least`: the numbers halfway.

    If the number halfway would not tell the two apart, in float64 or, where `least` is
    a number of float32, in float32, it is `least` itself. So it is if nothing is below,
    which -inf says, and if the two are equal.
    """
    low, high = np.broadcast_arrays(np.float64(below), np.float64(least))
    with np.errstate(invalid="ignore", over="ignore"):  # infinite, or too large
        middle = low / 2 + high / 2
        narrow = high.astype(np.float32) == high
        apart = (low < middle) & (middle <= high)  # half of 5e-324 is 0
        apart &= ~narrow | (low < middle.astype(np.float32))
    return np.where(apart & np.isfinite(low), middle, high)


def threshold_of(scores: FloatArray, k: int, least: float) -> Threshold:
    """Return where the cut of the k largest scores is; `least` is the last of them."""
    if not k:
        return NOWHERE
    there = int(np.count_nonzero(scores == least))
    taken = k - int(np.count_nonzero(scores > least))
    if taken < there:
        return Threshold(float(least), (taken, there))
    below = np.max(scores, where=scores < least, initial=-np.inf)
    return Threshold(float(halfway(below, least)))
