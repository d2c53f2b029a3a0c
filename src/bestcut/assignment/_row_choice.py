"""Which entries of each row are taken at given worths, and what a row may cost.

Each row takes its entries of largest worth: at least `low` of them, at most `high`, and
those in between that are worth more than nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestcut._types import BoolArray, FloatArray, IndexArray


class Budgets(NamedTuple):
    """How many entries each row takes: at least `low`, at most `high`."""

    low: IndexArray
    high: IndexArray

    def of(self, rows: IndexArray) -> Budgets:
        """Return the budgets of some rows."""
        return Budgets(self.low[rows], self.high[rows])


def chosen(worth: FloatArray, budgets: Budgets) -> BoolArray:
    """Return which entries each row takes; padding is worth -inf."""
    labels = np.zeros(worth.shape, dtype=np.bool_)
    rows, m = worth.shape
    if not rows or not m:
        return labels
    most = int(budgets.high.max())
    if most == 0:
        return labels
    if 1 < most < m and np.all(budgets.low == most):
        return _largest(worth, most)
    if most == 1:
        best = np.argmax(worth, axis=1)[:, None]
    elif most < m:
        best = np.argpartition(worth, m - most, axis=1)[:, m - most :]
    else:
        best = np.broadcast_to(np.arange(m), worth.shape)
    if np.all(budgets.low == most):
        np.put_along_axis(labels, best, True, axis=1)
        return labels
    value = np.take_along_axis(worth, best, axis=1)
    order = np.argsort(-value, axis=1, kind="stable")
    best = np.take_along_axis(best, order, axis=1)
    value = np.take_along_axis(value, order, axis=1)
    place = np.arange(best.shape[1])
    taken = (place < budgets.high[:, None]) & (
        (place < budgets.low[:, None]) | (value > 0.0)
    )
    np.put_along_axis(labels, best, taken, axis=1)
    return labels


def _largest(worth: FloatArray, count: int) -> BoolArray:
    """Return which entries are the largest of their row."""
    m = worth.shape[1]
    # Whole rows are sorted faster than parted.
    ranked = np.sort(worth, axis=1)
    labels = np.asarray(worth >= ranked[:, m - count, None])
    tied = np.flatnonzero(ranked[:, m - count - 1] == ranked[:, m - count])
    if tied.size:
        best = np.argpartition(worth[tied], m - count, axis=1)[:, m - count :]
        labels[tied] = False
        labels[tied[:, None], best] = True
    return labels


class Parted(NamedTuple):
    """What parts the entries that rows take from those that they leave.

    Attributes
    ----------
    by : ndarray of float, shape (rows,)
        How much worths must change for a row to take others.
    taken, left : ndarray of int, shape (rows,)
        The entry that is taken and worth least, and that which is left and worth most.
    """

    by: FloatArray
    taken: IndexArray
    left: IndexArray


def parted(worth: FloatArray, labels: BoolArray, budgets: Budgets) -> Parted:
    """Return what parts the entries that rows take from those that they leave."""
    rows = np.arange(worth.shape[0])
    inside, outside = np.where(labels, worth, np.inf), np.where(labels, -np.inf, worth)
    taken, left = np.argmin(inside, axis=1), np.argmax(outside, axis=1)
    least, most = inside[rows, taken], outside[rows, left]
    by = least - most
    free = budgets.low < budgets.high
    if np.any(free):  # what is worth nothing may come or go
        nothing = np.minimum(np.abs(least), np.abs(most))
        by = np.where(free, np.minimum(by, nothing), by)
    return Parted(by, taken, left)


def prices(
    worth: FloatArray, labels: BoolArray, size: FloatArray, budgets: Budgets
) -> FloatArray:
    """Return a price for each row, between what it takes and what it leaves.

    The worth of an entry of a small column changes much with the column, and that of
    an entry of a large column little: the price is nearer to the latter. `size` is that
    of the column of each entry. Where a row takes fewer than it may, the price is at
    most 0; where it takes more than it must, at least 0: only then is nothing lost in a
    row (Lemma 19).
    """
    rows = np.arange(worth.shape[0])
    if not worth.shape[1]:
        return np.zeros(worth.shape[0])
    taken, left = np.where(labels, worth, np.inf), np.where(labels, -np.inf, worth)
    least, most = np.argmin(taken, axis=1), np.argmax(left, axis=1)
    size = np.broadcast_to(size, worth.shape)
    sizes = [np.maximum(size[rows, at], 1.0) for at in (least, most)]
    ends = [taken[rows, least], left[rows, most]]
    for i, j in ((0, 1), (1, 0)):
        missing = ~np.isfinite(ends[i])
        ends[i] = np.where(missing, ends[j], ends[i])
    price = (sizes[0] * ends[0] + sizes[1] * ends[1]) / (sizes[0] + sizes[1])
    price = np.where(np.isfinite(price), price, 0.0)
    count = np.count_nonzero(labels, axis=1)
    free = budgets.low == budgets.high
    price = np.where(~free & (count < budgets.high), np.minimum(price, 0.0), price)
    return np.where(~free & (count > budgets.low), np.maximum(price, 0.0), price)
