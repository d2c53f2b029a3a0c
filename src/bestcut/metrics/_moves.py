"""Moves between confusion matrices, under which a metric is to rise.

The cells are TP, FP, FN and TN, in this order. A move takes one instance, or one of
each class, to another cell.
"""

from __future__ import annotations

from itertools import product
from typing import cast

import numpy as np

from bestcut._types import EPS, FloatArray, IndexArray
from bestcut.metrics._base import Metric, confusion_from_counts

# The metric is evaluated in floating point: two values closer than this many units in
# the last place of the largest score count as equal.
ROUNDING = 64 * EPS

# What a move does to each cell.
Move = tuple[int, int, int, int]

# With the numbers of predicted and of actual positives as they are.
MORE_TP: tuple[Move, ...] = ((1, -1, -1, 1),)
LESS_TP: tuple[Move, ...] = ((-1, 1, 1, -1),)
# From a wrong cell to a right one.
MORE_AGREEMENT: tuple[Move, ...] = (
    (1, -1, 0, 0),
    (0, -1, 0, 1),
    (1, 0, -1, 0),
    (0, 0, -1, 1),
)

# For every cell: whether it is the smallest that the move allows. That is 0, or 1 for a
# cell that the move takes from.
Kind = tuple[bool, bool, bool, bool]
KINDS: tuple[Kind, ...] = tuple(
    cast(Kind, kind) for kind in product((True, False), repeat=4)
)


def least_cells(move: Move, kind: Kind) -> list[int]:
    """Return the smallest cells of a kind."""
    return [
        (step < 0) + (not smallest) for step, smallest in zip(move, kind, strict=True)
    ]


class Lattice:
    """The utility at every confusion matrix of n instances.

    Attributes
    ----------
    cells : ndarray of shape (4, matrices)
        The confusion matrices.
    utility : ndarray of shape (matrices,)
        The score; for a loss, the score with a minus.
    noise : float
        Differences up to this are taken for rounding.
    """

    def __init__(self, metric: Metric, n: int) -> None:
        counts = np.indices((n + 1,) * 3).reshape(3, -1)
        tp, n_pred, n_pos = counts
        possible = (tp <= np.minimum(n_pred, n_pos)) & (tp >= n_pred + n_pos - n)
        # Where each confusion matrix is in the list of those that are possible.
        self._place = (np.cumsum(possible) - 1).reshape((n + 1,) * 3)
        self._counts: IndexArray = counts[:, possible]
        tp, n_pred, n_pos = self._counts.astype(np.float64)
        self.cells = np.array(confusion_from_counts(tp, n_pred, n_pos, float(n)))
        self.utility = metric.utility(tp, n_pred, n_pos, float(n))
        self.noise = ROUNDING * float(np.max(np.abs(self.utility)))

    def gains(self, move: Move) -> tuple[IndexArray, FloatArray]:
        """Return the confusion matrices that can make a move, and what it gains."""
        step = np.array(move)
        able = np.flatnonzero(np.all(self.cells + step[:, None] >= 0, axis=0))
        tp, fp, fn, _ = move
        moved = self._counts[:, able] + np.array([[tp], [tp + fp], [tp + fn]])
        return able, self.utility[self._place[tuple(moved)]] - self.utility[able]

    def never_falls(self, moves: tuple[Move, ...]) -> bool:
        """Return whether no move lowers the utility anywhere."""
        return all(np.all(self.gains(move)[1] >= -self.noise) for move in moves)
