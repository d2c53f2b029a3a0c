"""Many problems at once where every row has a worth of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestcut._types import EPS, BoolArray, CountArray, FloatArray, IndexArray
from bestcut.decision import ROUNDING, at_stake, gains
from bestcut.metrics import Worths
from bestcut.scores import rounding_near_0


class BestRows(NamedTuple):
    """The best rows of each problem, and what they are worth."""

    labels: BoolArray
    n_positive: CountArray
    expected_score: FloatArray
    error: FloatArray


def best_rows(
    p: FloatArray,
    worths: Worths,
    member_of: IndexArray,
    limits: tuple[CountArray, CountArray],
) -> BestRows:
    """Return the rows with the largest gains of each problem.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Probabilities.
    worths : Worths
        Of the same rows.
    member_of : ndarray of int, shape (n,)
        Which problem a row belongs to.
    limits : pair of ndarrays
        The least and the largest number of positives of each problem.
    """
    count = limits[0].size
    sizes = np.bincount(member_of, minlength=count)
    gain = gains(p, worths)
    order = np.lexsort((-gain, member_of))  # of a tie, the earliest first
    rank = np.empty(p.size, dtype=np.int64)
    rank[order] = np.arange(p.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    low, high = (limit[member_of] for limit in limits)
    labels: BoolArray = (rank < low) | ((gain > 0.0) & (rank < high))
    hit, miss = worths.of(labels)
    expected = np.bincount(member_of, p * hit + (1.0 - p) * miss, count)
    scale = np.bincount(member_of, at_stake(p, worths), count)
    # The terms of a problem are added up one after the other.
    error = (ROUNDING + sizes * EPS) * scale + rounding_near_0(3 * p.size)
    positive = np.bincount(member_of[labels], minlength=count)
    return BestRows(labels, positive, expected.astype(np.float64), np.asarray(error))
