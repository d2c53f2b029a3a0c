"""What chance alone explains: the probabilities behind the warnings of calibration."""

from __future__ import annotations

import numpy as np

SELDOM = 1e-3  # a warning is for what chance alone does more seldom than this


def chance_of_outside(k: int, m: int, n: int) -> float:
    """Return how likely k or more of m numbers are outside the range of n like them.

    Shuffled together, the m + n numbers leave as many of the m outside the range of
    the n as there are before the second of the n: at most one is among the first k + 1.
    Equal numbers make it less likely.
    """
    i = np.arange(k)
    all_new = float(np.prod((m - i) / (n + m - i)))
    return all_new * ((m - k) + (k + 1) * n) / (n + m - k)
