"""How many instances have each probability."""

from __future__ import annotations

import numpy as np

from bestcut._types import FloatArray

_BARS = 40


def histogram_of(p: FloatArray) -> list[tuple[float, float, int]]:
    """Return both ends of each bar, and how many instances are in it.

    The bars reach from the smallest probability to the largest. If all probabilities
    are equal, there is a single bar around them.
    """
    if not p.size:
        return []
    low, high = float(p.min()), float(p.max())
    if high - low < 1e-12:
        return [(max(low - 0.01, 0.0), min(high + 0.01, 1.0), p.size)]
    counts, edges = np.histogram(p, bins=_BARS, range=(low, high))
    ends = edges.tolist()
    return list(zip(ends[:-1], ends[1:], counts.tolist(), strict=True))
