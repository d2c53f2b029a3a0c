"""Where numbers lie among knots: `numpy.interp`, for very many numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bestcut._types import FloatArray

_BINS = 1 << 16
_BLOCK = 1 << 14  # numbers that are worked on at once


def places_among(
    knots: FloatArray,
    scores: FloatArray,
    coordinate: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Return the place of each score's coordinate: knot j is at j, with lines between.

    Very many numbers are put into even bins, which tell the knot before a number, or
    leave one comparison. Only in bins with several knots is it searched for.
    """
    every = np.arange(knots.size, dtype=np.float64)
    low, high = knots[0], knots[-1]
    with np.errstate(over="ignore", divide="ignore"):
        slope = np.append(1.0 / np.diff(knots), 0.0)
        scale = np.float64(_BINS) / (high - low)
    if scores.size <= _BINS or not np.isfinite([scale, slope.max()]).all():
        return np.interp(coordinate(scores), knots, every)
    count = np.bincount(((knots - low) * scale).astype(np.intp), minlength=_BINS + 1)
    before = np.cumsum(count) - count - 1  # the last knot in an earlier bin
    after = np.append(knots, np.inf)
    out = np.empty(scores.size)
    for i in range(0, scores.size, _BLOCK):
        u = np.clip(coordinate(scores[i : i + _BLOCK]), low, high)
        at = ((u - low) * scale).astype(np.intp)
        cell = before[at]
        cell += u >= after[cell + 1]
        crowded = np.flatnonzero(count[at] > 1)
        cell[crowded] = np.searchsorted(knots, u[crowded], side="right") - 1
        out[i : i + _BLOCK] = slope[cell] * (u - knots[cell]) + cell
    return out
