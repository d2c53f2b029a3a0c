"""What chance alone explains: the probabilities behind the warnings of calibration."""

from __future__ import annotations

import numpy as np

from bestcut._types import BoolArray, FloatArray
from bestcut.calibration._urn import upper_tail

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


def positives_above(labels: BoolArray, scores: FloatArray) -> tuple[int, int, float]:
    """Return how many positives are in the upper half of the scores, and its size.

    With them comes how likely so few are if scores say nothing about labels. If larger
    scores are more often positive, that is less likely still. Equal scores are never
    separated, so the upper half may be larger or smaller than the other one.
    """
    middle = np.sort(scores)[scores.size // 2]
    halves = scores >= middle, scores > middle
    above = min(halves, key=lambda half: abs(2 * np.count_nonzero(half) - half.size))
    if above.all():  # all scores are equal
        above = halves[1]
    k, n_above = np.count_nonzero(labels & above), np.count_nonzero(above)
    positives, m = np.count_nonzero(labels), labels.size
    urn = ([positives - k], [positives], [m - n_above], [m])  # those below are drawn
    (chance,) = upper_tail(*map(np.array, urn))
    return int(k), int(n_above), float(chance)
