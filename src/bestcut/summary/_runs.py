"""Runs of equal probabilities, and the best cut among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bestcut._validation import FloatArray
from bestcut.counts._moments import features
from bestcut.counts._side import ROOM, ListedSide, Side, SummedSide
from bestcut.counts._window import Law, convolved, law_of
from bestcut.curve import best_cut
from bestcut.curve._general import GeneralCurve
from bestcut.metrics import Metric
from bestcut.summary._search import CutSearch

_PIECES = 2048  # of a run, looked at together
_DIRECT = 1 << 16  # so many cuts are looked at one by one


class RunTable:
    """Values in descending order, each with a count, cut into pieces.

    A piece is some consecutive values, or a share of the instances of a single one.
    See `bestcut.summary._table` for the attributes.
    """

    def __init__(self, values: FloatArray, counts: NDArray[np.int64]) -> None:
        total = np.cumsum(counts)
        steps = np.linspace(0, total[-1], _PIECES + 1).astype(np.int64)[1:-1]
        # At a piece's edge the value before it is used up, or it is shared out.
        heavy = np.searchsorted(total, steps, side="right")
        shared = counts[heavy] > 2 * total[-1] // _PIECES
        ends = np.where(shared, steps, total[np.maximum(heavy - 1, 0)])
        borders = np.unique(np.concatenate([[0], ends[ends > 0], total]))
        self._value = values[np.searchsorted(total, borders[1:] - 1, side="right")]
        self._size = np.diff(borders)
        edges = np.unique(np.concatenate([[0], ends[ends > 0], total[-1:]]))
        self._pieces = np.searchsorted(borders, edges)
        self.start = edges
        self.n, self.count = int(total[-1]), np.diff(edges)

    def _over_pieces(self, x: FloatArray) -> FloatArray:
        out: FloatArray = np.add.reduceat(x, self._pieces[:-1], axis=-1)
        return out

    @cached_property
    def sums(self) -> FloatArray:
        """Sums of the features over each piece, in rows."""
        return self._over_pieces(features(self._value, ROOM) * self._size)

    @cached_property
    def negatives(self) -> FloatArray:
        """Expected number of negatives."""
        return self._over_pieces((1.0 - self._value) * self._size)

    @cached_property
    def mean(self) -> FloatArray:
        """Mean probability."""
        mean: FloatArray = self.sums[0] / self.count
        return mean

    @cached_property
    def scatter(self) -> FloatArray:
        """Sum of squared distances from the mean."""
        mean = np.repeat(self.mean, np.diff(self._pieces))
        return self._over_pieces((self._value - mean) ** 2 * self._size)

    def values(self, first: int, last: int) -> tuple[FloatArray, NDArray[np.int64]]:
        """Return the values of pieces `first` to `last` - 1, and their counts."""
        here = slice(self._pieces[first], self._pieces[last])
        return self._value[here], self._size[here]

    def law(self, first: int, last: int) -> Law:
        """Return the law of the positives in pieces `first` to `last` - 1."""
        return law_of(np.repeat(*self.values(first, last)))

    def displacement(self) -> FloatArray:
        """Return 0: every probability is known."""
        return np.zeros(self.count.size)


@dataclass(frozen=True)
class Found:
    """A cut, its expected utility and what is on either side of it."""

    utility: float
    threshold: float
    above: Side
    below: Side


def best_cut_in_run(
    values: FloatArray,
    counts: NDArray[np.int64],
    metric: Metric,
    bounds: tuple[int, int],
    sides: tuple[Side, Side],
) -> Found | None:
    """Return the best cut with at least one of the run above it.

    `values` are in descending order, without repetition. Returns None if the bounds on
    the number of positives allow no such cut.
    """
    low, high = (int(bound) - sides[0].n for bound in bounds)
    size = int(counts.sum())
    if max(low, 1) > min(high, size):
        return None
    if size <= _DIRECT:
        return _directly(values, counts, metric, (max(low, 1), min(high, size)), sides)
    table = RunTable(values, counts)
    search = CutSearch(table, metric, *bounds, *sides)
    kept = search.run()
    if table.count[kept].sum() > size // 2:  # the bounds leave little out
        return _directly(values, counts, metric, (max(low, 1), min(high, size)), sides)
    found = []
    for first, last in consecutive(kept):
        within = (search.side(first, below=False), search.side(last, below=True))
        found.append(
            best_cut_in_run(
                *_merged(*table.values(first, last)), metric, bounds, within
            )
        )
    found += [_at_edge(search, table, edge) for edge in search.edges if edge > 0]
    sure = [one for one in found if one is not None]
    return max(sure, key=lambda one: one.utility, default=None)


def consecutive(parts: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return the runs of consecutive numbers as first and one after the last."""
    breaks = np.flatnonzero(np.diff(parts) > 1) + 1
    edges = [0, *breaks.tolist(), parts.size]
    return [(int(parts[a]), int(parts[b - 1]) + 1) for a, b in pairwise(edges) if a < b]


def _merged(
    values: FloatArray, counts: NDArray[np.int64]
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Put together again what was shared out."""
    new = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[new], np.add.reduceat(counts, new)


def _at_edge(search: CutSearch, table: RunTable, edge: int) -> Found:
    values, _ = table.values(0, edge)
    above, below = search.side(edge, below=False), search.side(edge, below=True)
    return Found(search.utility[edge], float(values[-1]), above, below)


def _directly(
    values: FloatArray,
    counts: NDArray[np.int64],
    metric: Metric,
    within: tuple[int, int],
    sides: tuple[Side, Side],
) -> Found:
    """Look at every cut; `within` bounds how many of the run are above it.

    Of many cuts of a smooth metric those are left out that `best_cut` leaves out.
    """
    eta = np.repeat(values, counts)
    curve = GeneralCurve(eta, metric, *sides)
    sign = 1.0 if metric.greater_is_better else -1.0
    if eta.size > _DIRECT and metric.smooth:
        j, score = best_cut(curve, eta, sign, *within)
    else:
        scores = curve.whole()
        j = within[0] + int(np.argmax(sign * scores[within[0] : within[1] + 1]))
        score = float(scores[j])
    return Found(
        sign * score,
        float(eta[j - 1]),
        joined(sides[0], eta[:j]),
        joined(sides[1], eta[j:]),
    )


def joined(side: Side, eta: FloatArray) -> Side:
    """Return a side with some more instances."""
    if eta.size == 0:
        return side
    more = ListedSide(eta)
    return SummedSide(
        side.n + more.n,
        side.sums(ROOM) + more.sums(ROOM),
        side.negatives + more.negatives,
        lambda: convolved(side.law, more.law),
    )
