"""Proofs by enclosures that a move never lowers a metric, for one n.

Boxes of confusion matrices are cut up until on each of them either the slope along the
move or the difference of the utilities is nowhere negative, a branch and bound [1]_ by
the intervals of Lemma 1 in docs/how-it-works/lemmas.md. This is the condition of Lemma
4, the paper's Main Result 1, but for rounding.

References
----------
.. [1] R. E. Moore, R. B. Kearfott, M. J. Cloud. *Introduction to Interval Analysis.*
   SIAM, 2009.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestcut._errors import NotFollowedError
from bestcut._types import FloatArray
from bestcut.metrics._base import Metric, counts_from_confusion
from bestcut.metrics._bounds import box_of_cells, enclosed
from bestcut.metrics._enclosure import MOVE, Enclosure
from bestcut.metrics._following import followed
from bestcut.metrics._interval import spread
from bestcut.metrics._moves import ROUNDING, Kind, Move, least_cells


class Search(NamedTuple):
    """What is to be proved: that a move never lowers the utility."""

    metric: Metric
    n: float
    move: Move
    budget: int


def proved_by_boxes(search: Search, kinds: tuple[Kind, ...]) -> bool:
    """Cut up the boxes of the given kinds until the move is proved on each."""
    if not kinds:
        return True
    metric, n, move, _ = search
    step = np.array(move, dtype=np.float64)[:, None]
    lo = np.array([least_cells(move, kind) for kind in kinds], dtype=np.float64).T
    hi = np.where(np.array(kinds).T, lo, n)
    size, spent, first = 0.0, 0, True
    while True:
        lo, hi, possible = _shrunk(lo, hi, n)
        lo, hi = lo[:, possible], hi[:, possible]
        if not lo.shape[1]:
            return True
        points = _some_points(lo, hi, n)
        before, after = (utility_at(metric, points + x, n) for x in (0.0, step))
        size = max(size, float(np.max(np.abs(before))), float(np.max(np.abs(after))))
        noise = ROUNDING * size
        if not np.all(after - before >= -noise):
            return False
        left = np.any(lo < hi, axis=0)  # a box of one point has just been looked at
        lo, hi = lo[:, left], hi[:, left]
        if first:
            left, first = ~_proved_on_boxes(search, lo, hi, noise), False
            lo, hi = lo[:, left], hi[:, left]
        spent += 8 * lo.shape[1]
        if spent > search.budget:
            return False
        lo, hi = _open_halves(search, lo, hi, noise)


def _open_halves(
    search: Search, lo: FloatArray, hi: FloatArray, noise: float
) -> tuple[FloatArray, FloatArray]:
    """Halve boxes that could not be proved; return the halves that still cannot.

    Every box is halved at the cell that settles the most, and among equals at the one
    whose ends have the largest ratio: a step in one cell is then closed in upon without
    cutting up the others.
    """
    halves = [_halved(lo, hi, cell) for cell in range(4)]
    lows, highs, possible = _shrunk(
        np.concatenate([low for low, _ in halves], axis=1),
        np.concatenate([high for _, high in halves], axis=1),
        search.n,
    )
    settled = ~possible
    settled[possible] = _proved_on_boxes(
        search, lows[:, possible], highs[:, possible], noise
    )
    boxes = lo.shape[1]
    settled = settled.reshape(4, 2, boxes)
    # The second part is below 1, and larger where the ratio of the ends is.
    useful = settled.sum(axis=1) + (1 - (lo + 1) / (hi + 2))
    best = np.argmax(np.where(hi > lo, useful, -1.0), axis=0)
    each = np.arange(boxes)
    left = ~settled.transpose(0, 2, 1)[best, each]
    lo, hi = (
        ends.reshape(4, 4, 2, boxes).transpose(1, 3, 2, 0)[best, each][left].T
        for ends in (lows, highs)
    )
    return lo, hi


def _proved_on_boxes(
    search: Search, lo: FloatArray, hi: FloatArray, noise: float
) -> Any:
    """Say on which boxes the slope, or else the values, show that nothing falls."""
    step = np.array(search.move, dtype=np.float64)[:, None]
    around = utility_in(search, lo + np.minimum(step, 0), hi + np.maximum(step, 0))
    proved = np.array(spread(around.slope(MOVE), lo.shape[1:])[0] >= -noise)
    rest = np.flatnonzero(~proved)
    if rest.size:
        lo, hi = lo[:, rest], hi[:, rest]
        before, after = (utility_in(search, lo + x, hi + x) for x in (0.0, step))
        gain = after.value.plus(-before.value)
        proved[rest] = spread(gain, lo.shape[1:])[0] >= -noise
    return proved


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


def utility_in(search: Search, lo: FloatArray, hi: FloatArray) -> Enclosure:
    """Return bounds on the utility in boxes, and on its slope along the move."""
    metric, n, move, _ = search
    found = enclosed(metric, box_of_cells(lo, hi, n), n, move=move)
    if found is None:
        raise NotFollowedError
    return found if metric.greater_is_better else np.negative(found)


def _shrunk(
    lo: FloatArray, hi: FloatArray, n: float
) -> tuple[FloatArray, FloatArray, Any]:
    """Shrink boxes to what sums to n, and say in which of them anything does."""
    lo, hi = (
        np.maximum(lo, n - (hi.sum(axis=0) - hi)),
        np.minimum(hi, n - (lo.sum(axis=0) - lo)),
    )
    return lo, hi, np.all(lo <= hi, axis=0)


def _some_points(lo: FloatArray, hi: FloatArray, n: float) -> FloatArray:
    """Return one confusion matrix of every box, for a look at what may fail."""
    points = lo.copy()
    rest = n - points.sum(axis=0)
    for i in range(4):
        add = np.minimum(rest, hi[i] - lo[i])
        points[i] += add
        rest -= add
    return points


def _halved(lo: FloatArray, hi: FloatArray, cell: int) -> tuple[FloatArray, FloatArray]:
    """Cut boxes in two at one cell; the second half is empty if there is no room."""
    # The middle in ratio, for counts run over all orders of magnitude.
    middle = np.floor(np.sqrt((lo[cell] + 1) * (hi[cell] + 1))) - 1
    middle = np.clip(middle, lo[cell], np.maximum(hi[cell] - 1, lo[cell]))
    lower, upper = hi.copy(), lo.copy()
    lower[cell], upper[cell] = middle, middle + 1
    return np.concatenate([lo, upper], axis=1), np.concatenate([lower, hi], axis=1)
