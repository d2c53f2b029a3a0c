"""What the cuts between two cuts may be worth: proved bounds of first and second order.

Cuts k0 < k1 are known, with d instances between them. With one more instance predicted
positive, whose probability is eta, the expected utility G changes by

    G(k+1) - G(k) = E[ eta D1 f + (1 - eta) D0 f ],

where D1 f is what the utility changes if that instance is positive, and D0 f if it is
not. Bounds on D1 and D0, and on eta, bound G between its values at k0 and k1 (Lemma 9);
bounds on second differences bound how far G may lie above its chord (Lemma 10). Changes
of f are bounded over boxes of counts (`bestcut.metrics.enclosed`, Lemma 1); the chance
to be outside a box by Bernstein's inequality (Lemma 3), and what happens there by the
largest score there is (Lemma 2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestcut._types import EPS, FloatArray, IndexArray
from bestcut.counts import stray
from bestcut.metrics import Box, Interval, Metric, enclosed, score_bound, spread

# The chance to be outside each of the boxes, one-sided: a narrow box for what matters,
# and others for what is left of a small score beside a large bound.
LAYERS = np.array([1e-4, 1e-15, 1e-60])
# What no utility exceeds, no first difference, and no second one, of the bound.
_MOST = 1.0, 2.0, 4.0
_AT_ONCE = 1 << 12  # cells in draws
# The chance to be outside each of the boxes: of five counts, at two ends each.
OUTSIDE = 10 * LAYERS
_UNLIKELY = 1e-17  # numbers of positives that are not looked at
_ROOM = 2.0  # what the labels of two instances that move shift a count by


class Cells(NamedTuple):
    """The instances between two known cuts each, in every draw of the probabilities.

    Attributes
    ----------
    first, last : ndarray of shape (n_cells, 1)
        How many instances are above the two cuts.
    above, below : ndarray of shape (2, 2, n_cells, n_draws)
        Mean and variance of the positives above the two cuts, and below them: first
        which of the cuts, then which moment.
    least, most : ndarray of shape (n_cells, n_draws)
        The smallest and the largest probability between the cuts.
    """

    first: FloatArray
    last: FloatArray
    above: FloatArray
    below: FloatArray
    least: FloatArray
    most: FloatArray

    @classmethod
    def at_cut(cls, above: Any, below: Any) -> Cells:
        """Return a cell without instances, between the two sides of a cut."""
        cut = np.array([[float(above.n)]])
        sides = [np.array([[x.positives], [x.variance]]) for x in (above, below)]
        moments = [np.stack([x, x]).reshape(2, 2, 1, -1) for x in sides]
        nothing = np.zeros(moments[0].shape[2:])
        return cls(cut, cut, moments[0], moments[1], nothing, nothing)

    @property
    def total(self) -> FloatArray:
        """Mean and variance of all positives, a column for each draw."""
        return np.asarray(self.above[0, :, 0] + self.below[0, :, 0])

    def those(self, which: IndexArray) -> Cells:
        """Return some of the cells."""
        return Cells(
            self.first[which],
            self.last[which],
            self.above[:, :, which],
            self.below[:, :, which],
            self.least[which],
            self.most[which],
        )

    def without_ends(self, n: int) -> Cells:
        """Return the cells without the cuts of nothing and of everything."""
        first = np.where(self.first == 0, np.minimum(1.0, self.last), self.first)
        last = np.where(self.last == n, np.maximum(n - 1.0, first), self.last)
        return self._replace(first=first, last=last)


class Bounds(NamedTuple):
    """Bounds on the mean curve inside cells, an entry for each.

    Attributes
    ----------
    cap : ndarray
        The largest expected utility of a cut inside.
    most : ndarray
        The largest one of a cut inside or at an end, but for nothing and everything.
    fall, rise : ndarray
        The least and the largest change by one more instance.
    bend : ndarray
        How much a second difference may be below 0 if all probabilities were alike.
    swap : ndarray
        What is gained by exchanging all differences between probabilities.
    flip : ndarray
        What another label of one instance changes an expected utility by at most.
    """

    cap: FloatArray
    most: FloatArray
    fall: FloatArray
    rise: FloatArray
    bend: FloatArray
    swap: FloatArray
    flip: FloatArray

    @classmethod
    def none(cls) -> Bounds:
        """Return the bounds of no cells."""
        return cls(*(np.empty(0) for _ in cls._fields))

    def at(self, cells: Any) -> Bounds:
        """Return the bounds of some cells."""
        return Bounds(*(bound[cells] for bound in self))

    def reach(
        self, left: FloatArray, right: FloatArray, size: FloatArray
    ) -> FloatArray:
        """Bound the cuts inside cells of some sizes, from bounds on the cuts around.

        Lemma 9: from either cut on, the curve stays below a line. Lemma 10: it stays
        below the chord and a parabola that vanishes at its ends. A cut from which on
        changes are not bounded has inf in `left` or `right`.
        """
        fall, rise = self.fall, self.rise
        with np.errstate(all="ignore"):
            crossed = np.clip((right - left - fall * size) / (rise - fall), 0.0, size)
            lines = np.minimum(left + rise * crossed, right - fall * (size - crossed))
            lines = np.where(fall >= 0.0, right, np.where(rise <= 0.0, left, lines))
            from_right = right - np.minimum(fall, 0.0) * size
            from_left = left + np.maximum(rise, 0.0) * size
            lines = np.where(np.isinf(left), from_right, lines)
            lines = np.where(np.isinf(right), from_left, lines)
            height = size * (size * self.bend + 2.0 * self.swap)
            tilt = np.abs(right - left)
            arc = (left + right) / 2 + height / 8
            arc = arc + tilt**2 / np.maximum(2.0 * height, 1e-300)
            arc = np.where(tilt < height / 2, arc, np.maximum(left, right))
            top = np.fmin(lines, arc)
            top += 16 * EPS * (np.abs(left) + np.abs(right) + np.abs(top))
        return np.fmin(np.where(np.isnan(top), np.inf, top), self.cap)


def bounds_inside(
    metric: Metric,
    n: int,
    proved: float,
    total: FloatArray,
    cells: Cells,
    *,
    flips: bool = False,
    groups: IndexArray | None = None,
) -> Bounds:
    """Bound the mean curve inside cells.

    `proved` bounds every score of n instances, and is finite; `total` has the mean and
    the variance of all positives, a column for each draw. Without `flips` a bound on
    what another label changes is not wanted. Changes are bounded for groups of draws
    together, each beginning at one of `groups`, or for each draw.
    """
    if groups is None:
        groups = np.arange(total.shape[1])
    most, count = max(_AT_ONCE // groups.size, 1), cells.first.size
    if count > most:  # some cells at a time: temporaries stay in the cache
        some = [
            bounds_inside(
                metric, n, proved, total, cells.those(part), flips=flips, groups=groups
            )
            for part in np.split(np.arange(count), range(most, count, most))
        ]
        return Bounds(*(np.concatenate(parts) for parts in zip(*some, strict=True)))
    # A rate is 0/0 at the cuts of nothing and of everything: they are left out.
    cells, shape = cells.without_ends(n), (LAYERS.size, count, groups.size)
    box = _box_of_cells(cells, total, float(n), groups)
    changes = _Changes(metric, box, n, proved, shape)
    cap = _expected(changes.between("")[1], proved)
    one, zero = (
        (-_expected(-low, 2.0 * proved), _expected(high, 2.0 * proved))
        for low, high in (changes.between("1"), changes.between("0"))
    )
    # Lemma 9: the change is linear in eta, so that its extremes are at both ends.
    ends = _least(cells.least, groups), _most(cells.most, groups)
    fall = np.minimum(*(eta * one[0] + (1.0 - eta) * zero[0] for eta in ends))
    rise = np.maximum(*(eta * one[1] + (1.0 - eta) * zero[1] for eta in ends))
    # Lemma 10: and the second difference in the probabilities of two instances.
    falls = (_expected(x, 4.0 * proved) for x in changes.falls())
    bend = _steepest(*ends, *falls)
    share = np.diff(groups, append=total.shape[1]) / total.shape[1]
    apart = np.add.reduceat(cells.most - cells.least, groups, axis=1) / total.shape[1]
    swap = np.maximum(one[1] - zero[0], 0.0) * (apart / share)
    flip = np.zeros_like(cap)
    if flips:
        sizes = [np.abs(x) for name in "ab" for x in changes.between(name)]
        flip = _expected(np.maximum.reduce(sizes), 2.0 * proved)
    return Bounds(*(x @ share for x in (cap, cap, fall, rise, bend, swap, flip)))


def least_utility(
    metric: Metric, n: int, cells: Cells
) -> tuple[FloatArray, FloatArray]:
    """Bound the utility at all cuts of cells from below: its mean, and most of it.

    The second has a row for each chance of `OUTSIDE`, with which the utility may be
    less. Both have an entry for each cell and draw.
    """
    each = np.arange(cells.total.shape[1])
    box = _box_of_cells(cells, cells.total, float(n), each)
    proved = score_bound(metric, n)
    shape = (LAYERS.size, *cells.least.shape)
    changes = _Changes(metric, box, n, proved, shape, slopes=False)
    least = changes.between("")[0]
    return -_expected(-least, proved), least


class _Changes:
    """Bounds on the utility, and on what it changes by, in boxes of counts."""

    def __init__(
        self,
        metric: Metric,
        box: Box,
        n: int,
        proved: float,
        shape: tuple[int, ...],
        *,
        slopes: bool = True,
    ) -> None:
        self._found = enclosed(metric, box, float(n), slopes=slopes)
        self._proved, self._shape, self._sign = proved, shape, metric.sign

    def between(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return the least and the largest change, or utility (name "")."""
        most = _MOST[len(name)] * self._proved
        if self._found is None:
            return np.full(self._shape, -most), np.full(self._shape, most)
        interval = self._found.slope(name) if name else self._found.value
        low, high = spread(interval, self._shape)
        low, high = np.maximum(low, -most), np.minimum(high, most)
        return (low, high) if self._sign > 0 else (-high, -low)

    def falls(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return how much second differences are below 0 at most: of 11, 01 and 00.

        A root has no slope at 0, but its differences are no larger than its span: a
        second difference is at most that of a first one, or twice that of the utility.
        """
        d11, d01, d00 = (-self.between(name)[0] for name in ("11", "01", "00"))
        value, zero = self.between(""), self.between("0")
        step = zero[1] - zero[0]
        return (
            np.minimum(d11, 2.0 * (value[1] - value[0])),
            np.minimum(d01, step),
            np.minimum(d00, step),
        )


def _expected(high: FloatArray, most: float) -> FloatArray:
    """Bound an expectation by bounds over the boxes of `LAYERS`, and beyond them.

    What is outside a box with some chance is worth that chance times what the next box
    allows for more (Lemma 10, layers).
    """
    levels = np.maximum.accumulate(
        np.concatenate([high, np.full((1, *high.shape[1:]), most)])
    )
    with np.errstate(invalid="ignore"):  # no bound stays no bound
        more = np.tensordot(OUTSIDE, np.diff(levels, axis=0), axes=1)
        out = levels[0] + more + 16 * EPS * (np.abs(levels[0]) + more)
    return np.where(np.isnan(out), np.inf, out)


def _least(x: FloatArray, groups: IndexArray) -> FloatArray:
    """Return the least of each group of draws."""
    return np.asarray(np.minimum.reduceat(x, groups, axis=-1))


def _most(x: FloatArray, groups: IndexArray) -> FloatArray:
    """Return the largest of each group of draws."""
    return np.asarray(np.maximum.reduceat(x, groups, axis=-1))


def _box_of_cells(cells: Cells, total: FloatArray, n: float, groups: IndexArray) -> Box:
    """Return where the counts are at all cuts of cells, but for the layers' chances."""
    first, last = cells.first, cells.last
    (above_first, above_last), (below_first, below_last) = cells.above, cells.below
    tail = np.log(LAYERS)[:, None, None]
    far_above, far_below, far = (
        stray(_most(variance, groups), tail) + _ROOM
        for variance in (above_last[1], below_first[1], total[1])
    )

    def window(low: Any, high: Any, far: FloatArray, most: Any) -> Interval:
        low, high = _least(low, groups), _most(high, groups)
        return Interval(np.maximum(low - far, 0.0), np.minimum(high + far, most))

    return Box(
        tp=window(above_first[0], above_last[0], far_above, last),
        n_pred=Interval(first, last),
        n_pos=window(total[0], total[0], far, n),
        fp=window(first - above_first[0], last - above_last[0], far_above, last),
        fn=window(below_last[0], below_first[0], far_below, n - first),
        tn=window(
            n - last - below_last[0], n - first - below_first[0], far_below, n - first
        ),
    )


class Chances(NamedTuple):
    """How probable numbers of positives are at cuts inside cells, at most.

    Attributes
    ----------
    least, most : ndarray of shape (n_groups,)
        Groups of numbers, from the least to the largest of each.
    above, below : ndarray of shape (n_groups, n_cells, n_draws)
        The largest chance of each group above any cut of a cell, and below.
    """

    least: FloatArray
    most: FloatArray
    above: FloatArray
    below: FloatArray


def bounds_by_counts(
    metric: Metric, n: int, proved: float, cells: Cells, chances: Chances
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return `bend`, `swap` and `flip` of cells, from how probable counts are.

    Where few positives are expected, no box holds most of what counts may be and leaves
    out 0, next to which most metrics bend without bound (Lemma 10, counts).
    """
    above, below, size = chances.above, chances.below, float(n)
    likely = np.einsum("ick,jck->cij", above, below) > _UNLIKELY
    cell, i, j = np.nonzero(likely)
    weight = above[i, cell] * below[j, cell]
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    unseen = above.sum(axis=0) * below.sum(axis=0)
    unseen = np.maximum(unseen - np.add.reduceat(weight, starts), 0.0)
    unseen += _UNLIKELY * above.shape[0] ** 2
    first, last = cells.first[cell, 0], cells.last[cell, 0]

    def box(low: FloatArray, high: FloatArray, which: IndexArray | slice) -> Box:
        """Return where counts are if TP is from `low` to `high`."""
        k0, k1, missed = first[which], last[which], j[which]
        tp = _window(low, np.minimum(high, k1))
        fn = _window(chances.least[missed], chances.most[missed] + _ROOM, size - k0)
        return Box(
            tp=tp,
            n_pred=Interval(k0, k1),
            n_pos=_window(tp.lo + fn.lo, tp.hi + fn.hi, size),
            fp=_window(k0 - tp.hi, k1 - tp.lo),
            fn=fn,
            tn=_window(size - k1 - fn.hi, size - k0 - fn.lo),
        )

    every = box(chances.least[i], chances.most[i] + _ROOM, slice(None))
    changes = _Changes(metric, every, n, proved, cell.shape)
    d11, d01, d00 = changes.falls()
    # Without a true positive most metrics have no slope: the differences that leave TP
    # as it is, at 0 or at 1, are no larger than the span of the utility there.
    none = np.flatnonzero(chances.most[i] == 0.0)
    if none.size:
        spans = []
        for tp in (np.zeros(none.size), np.ones(none.size)):
            still = _Changes(
                metric, box(tp, tp, none), n, proved, none.shape, slopes=False
            )
            low, high = still.between("")
            spans.append(high - low)
        d01[none] = np.minimum(d01[none], spans[0] + spans[1])
        d00[none] = np.minimum(d00[none], 2.0 * spans[0])

    def expected(high: FloatArray, largest: float) -> FloatArray:
        total = np.add.reduceat(weight * np.maximum(high, 0.0), starts)
        out: FloatArray = total * (1 + 1e-12) + unseen * largest
        return np.asarray(out.mean(axis=1))

    falls = (x[:, None] for x in (d11, d01, d00))
    bend = _steepest(cells.least[cell], cells.most[cell], *falls)
    one, zero = changes.between("1"), changes.between("0")
    swap = (one[1] - zero[0])[:, None] * (cells.most - cells.least)[cell]
    sizes = [np.abs(x) for name in "ab" for x in changes.between(name)]
    return (
        expected(bend, 4.0 * proved),
        expected(swap, 4.0 * proved),
        expected(np.maximum.reduce(sizes)[:, None], 2.0 * proved),
    )


def _window(low: Any, high: Any, most: Any = np.inf) -> Interval:
    """Return where a count is that is nowhere negative, and at most `most`."""
    high = np.maximum(np.minimum(high, most), 0.0)
    return Interval(np.clip(low, 0.0, high), high)


def _steepest(
    least: FloatArray,
    most: FloatArray,
    d11: FloatArray,
    d01: FloatArray,
    d00: FloatArray,
) -> FloatArray:
    """Return how much a second difference may be below 0 (Lemma 10).

    It is linear in the probabilities of either of two instances, so that its extremes
    are at the ends of their range.
    """
    bend = np.maximum.reduce(
        [
            p * q * d11 + (p + q - 2.0 * p * q) * d01 + (1.0 - p) * (1.0 - q) * d00
            for p, q in ((least, least), (least, most), (most, most))
        ]
    )
    bend += 16 * EPS * (np.abs(d11) + np.abs(d01) + np.abs(d00))
    return np.asarray(np.maximum(bend, 0.0))


def extreme_utility(
    metric: Metric, tp: FloatArray, fn: FloatArray, n_pred: float, n: float
) -> FloatArray:
    """Return the utility if `n_pred` were predicted positive, as far as possible."""
    fp = np.clip(n_pred - tp, 0.0, np.maximum(n - tp - fn, 0.0))
    tn = np.maximum(n - tp - fn - fp, 0.0)
    score = metric.score_cells(tp, fp, fn, tn)
    shape = np.broadcast_shapes(tp.shape, fn.shape)
    return np.asarray(metric.sign * np.broadcast_to(score, shape))


def times(x: FloatArray, y: FloatArray | float) -> FloatArray:
    """Multiply, 0 times infinity being 0."""
    return np.where(x == 0.0, 0.0, x * np.where(x == 0.0, 1.0, y))
