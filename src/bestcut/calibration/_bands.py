"""Bounds of TP and FN that hold for all thresholds at once, whatever the model does.

The rows with labels and the new ones are taken together, and sets that hold the highest
scores are looked at as urns (`_urn.py`). Which sets is decided by the pooled scores
alone: seen from there, which rows have labels is chance. Lemma 15 in
docs/how-it-works/lemmas.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut.calibration._urn import least_positives, most_positives

# Each set of the grid is at most about 1 + this times as large as the one before. More
# sets follow the ranking closer, and share the risk among more: they pay where chance
# is small, with many rows of both kinds. Found by trial; it has no part in the proof.
_NEAREST, _FURTHEST, _NOISE = 0.05, 0.4, 6.0

# From TP, predicted positives, FN and n: whether all conditions hold.
Conditions = Callable[[CountArray, CountArray, CountArray, int], BoolArray]


@dataclass(frozen=True)
class Pool:
    """Rows with labels and new ones, by descending score; equal scores are one level.

    Entry j of a count is for the set of the j highest levels, from none to all.

    Attributes
    ----------
    scores : ndarray of shape (levels,)
        The different scores, descending.
    labelled, fresh, positive : ndarray of int, shape (levels + 1,)
        Rows with labels, new rows, and positives among those with labels.
    """

    scores: FloatArray
    labelled: CountArray
    fresh: CountArray
    positive: CountArray

    @classmethod
    def of(cls, truth: BoolArray, scores: FloatArray, new_scores: FloatArray) -> Pool:
        """Sort and count."""
        pooled = np.concatenate([scores, new_scores])
        different, level = np.unique(-pooled, return_inverse=True)
        level, m = level.reshape(-1), scores.size
        kinds = (level[:m], level[m:], level[:m][truth])
        counts = (
            np.cumsum(np.bincount(kind, minlength=different.size)) for kind in kinds
        )
        return cls(-different, *(np.concatenate([[0], count]) for count in counts))

    def scaled(self, n_labels: int) -> Pool:
        """Return what other labels at the same shares would look like."""
        share = n_labels / int(self.labelled[-1])
        labelled = np.rint(share * self.labelled).astype(np.int64)
        positive = np.rint(share * self.positive).astype(np.int64)
        return Pool(self.scores, labelled, self.fresh, np.minimum(positive, labelled))


@dataclass(frozen=True)
class Bands:
    """Bounds for every set of a pool, which hold together.

    Attributes
    ----------
    least_tp, most_fn : ndarray of int, shape (levels + 1,)
        How many of the new rows in the set are positive at least, and how many of the
        others at most.
    """

    least_tp: CountArray
    most_fn: CountArray


def bands(
    pool: Pool, risk: float, conditions: Conditions, *, tp: bool, fn: bool
) -> Bands:
    """Return bounds of TP and FN for all sets, wrong together with probability `risk`.

    Parameters
    ----------
    pool : Pool
        The rows.
    risk : float
        Probability that any of the bounds is wrong, at most.
    conditions : callable
        What the bounds are for; sets for which the best of labels would not be enough
        are left out.
    tp, fn : bool
        Which of the two are wanted. One alone has all of the risk.
    """
    m, n = int(pool.labelled[-1]), int(pool.fresh[-1])
    grid = _grid(pool, risk, conditions, tp=tp, fn=fn)
    level = risk / (grid.size * (tp + fn))
    labelled, fresh, positive = (
        x[grid] for x in (pool.labelled, pool.fresh, pool.positive)
    )
    least_tp, most_fn = np.zeros_like(pool.fresh), n - pool.fresh
    if tp:
        least = least_positives(positive, labelled, fresh, level)
        # A larger set has at least as many, a smaller one lacks what it leaves out.
        least_tp = np.maximum(
            _from_above(grid, least, pool.fresh),
            _from_below(grid, least - fresh, pool.fresh) + pool.fresh,
        )
    if fn:
        missed = pool.positive[-1] - positive
        most = most_positives(missed, m - labelled, n - fresh, level)
        most_fn = np.minimum(
            -_from_above(grid, -most, pool.fresh, start=-n),
            -_from_below(grid, -most - fresh, pool.fresh) - pool.fresh,
        )
    return Bands(np.maximum(least_tp, 0), np.minimum(most_fn, n - pool.fresh))


def _from_above(
    grid: IndexArray, values: CountArray, like: CountArray, start: int = 0
) -> CountArray:
    """Return for each set the largest value of the sets of the grid inside it."""
    spread = np.full(like.shape, start, dtype=np.int64)
    spread[grid] = np.maximum(values, start)
    return np.maximum.accumulate(spread)


def _from_below(grid: IndexArray, values: CountArray, like: CountArray) -> CountArray:
    """Return for each set the largest value of the sets of the grid around it."""
    spread = np.full(like.shape, -2 * int(like[-1]) - 1, dtype=np.int64)
    spread[grid] = values
    return np.maximum.accumulate(spread[::-1])[::-1]


def _grid(
    pool: Pool, risk: float, conditions: Conditions, *, tp: bool, fn: bool
) -> IndexArray:
    """Return the sets that are looked at, smallest first; the last holds all rows.

    It depends on the pooled scores and on how many rows have labels, not on which.
    """
    m, n = int(pool.labelled[-1]), int(pool.fresh[-1])
    size = pool.labelled + pool.fresh
    noise = _NOISE * np.sqrt(1 / m + 1 / n)
    ratio = 1.0 + min(max(noise, _NEAREST), _FURTHEST)
    steps = np.arange(1 + int(np.log(m + n) / np.log(ratio)))
    wanted = np.rint((m + n) / ratio**steps)
    grid = np.unique(np.maximum(np.searchsorted(size, wanted), 1))
    # The expected numbers of rows; all labels as good as they can be; each set as if
    # the grid began there.
    labelled = np.rint(m / (m + n) * size[grid]).astype(np.int64)
    fresh = size[grid] - labelled
    level = risk / (np.arange(grid.size, 0, -1) * (tp + fn))
    least, most = fresh, np.zeros_like(fresh)
    if tp:
        least = least_positives(labelled, labelled, fresh, level)
    if fn:
        most = most_positives(np.zeros_like(fresh), m - labelled, n - fresh, level)
    possible = np.flatnonzero(conditions(least, fresh, most, n))
    return grid[possible[0] if possible.size else -1 :]
