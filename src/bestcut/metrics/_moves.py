"""Moves between confusion matrices, under which a metric is to rise.

The cells are TP, FP, FN and TN, in this order. A move takes one instance, or one of
each class, to another cell.
"""

from __future__ import annotations

from itertools import product
from typing import cast

import numpy as np

from bestcut._types import EPS, FloatArray
from bestcut.metrics._base import Metric, counts_from_confusion
from bestcut.metrics._following import followed

# The metric is evaluated in floating point: two values closer than this many units in
# the last place of the largest score count as equal.
ROUNDING = 64 * EPS

# What a move does to each cell.
Move = tuple[int, int, int, int]

MORE_TP: tuple[Move, ...] = ((1, -1, -1, 1),)
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


def utility_at(metric: Metric, cells: FloatArray, n: float) -> FloatArray:
    """Return the utility at confusion matrices of n instances, one in each column.

    Raises
    ------
    NotFollowedError
        If a callable fails there.
    """
    tp, n_pred, n_pos, _ = counts_from_confusion(*cells)
    out: FloatArray = followed(metric.utility, np.asarray, tp, n_pred, n_pos, n)
    return out


def every_confusion(n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return tp, n_pred, n_pos of every confusion matrix of n instances."""
    tp, n_pred, n_pos = np.indices((n + 1,) * 3).reshape(3, -1).astype(np.float64)
    reachable = (tp <= np.minimum(n_pred, n_pos)) & (tp >= n_pred + n_pos - n)
    return tp[reachable], n_pred[reachable], n_pos[reachable]
