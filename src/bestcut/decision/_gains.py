"""The best rows where every row has a worth of its own: those that gain most.

A row that is predicted positive adds its expected gain to the expected total, whatever
the others are. So the best k rows are those of the k largest gains, and the best number
of them is that of the gains above 0, or the nearest that is allowed.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.metrics import Worths
from bestcut.scores import rounding_near_0

#: Of what is at stake: an expected total, and a gain, round by at most 2 EPS each.
ROUNDING = 6 * EPS


def gains(p: FloatArray, worths: Worths) -> FloatArray:
    """Return what each row adds to the expected total if it is predicted positive."""
    tp, fp, fn, tn = worths
    return np.asarray(p * (tp - fn) + (1.0 - p) * (fp - tn))


def at_stake(p: FloatArray, worths: Worths) -> FloatArray:
    """Return the sum of the absolute parts of each row's expected worths."""
    tp, fp, fn, tn = map(np.abs, worths)
    return np.asarray(p * (tp + fn) + (1.0 - p) * (fp + tn))


class Gains:
    """The rows of one batch in the order of their gains.

    Attributes
    ----------
    gain : ndarray of shape (n,)
        What each row adds to the expected total if it is predicted positive.
    error : float
        Bound on the numerical error of the expected total of the best rows, and at the
        same time of what other rows could gain beyond it: two predictions differ by the
        gains of the rows that are in one of them, and each rounds once.
    """

    def __init__(self, p: FloatArray, worths: Worths) -> None:
        self.gain = gains(p, worths)
        self._nothing = p * worths.fn + (1.0 - p) * worths.tn
        self._at_stake = float(at_stake(p, worths).sum())
        self.error = ROUNDING * self._at_stake + rounding_near_0(3 * p.size)

    @cached_property
    def order(self) -> IndexArray:
        """The rows from the largest gain down; of a tie, the earliest first."""
        return np.argsort(-self.gain, kind="stable")

    def best(self, low: int, high: int) -> BoolArray:
        """Return the labels of the best rows, from `low` to `high` of them."""
        labels: BoolArray = self.gain > 0.0
        count = int(np.count_nonzero(labels))
        return labels if low <= count <= high else self.top(min(max(count, low), high))

    def top(self, k: int) -> BoolArray:
        """Return the labels of the k rows with the largest gains."""
        labels = np.zeros(self.gain.size, dtype=np.bool_)
        labels[self.order[:k]] = True
        return labels

    def curve(self) -> tuple[FloatArray, float]:
        """Return the expected total of the top k for every k, and a bound."""
        start = float(self._nothing.sum())
        curve = start + np.concatenate([[0.0], np.cumsum(self.gain[self.order])])
        return curve, self.error + self.gain.size * EPS * self._at_stake
