"""Where the best cut can be, proved from sums over parts of the ranking.

The ranking is a `Table` of parts, from the most probable down. At some edges between
parts the expected score is computed, with a bound on its error; inside the parts it is
bounded (`bestcut.search._changes`). Parts that can hold the best cut are split, and the
others left out, until what is left is little or cannot be split.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.counts import (
    NOBODY,
    Side,
)
from bestcut.metrics import Metric
from bestcut.search._changes import Changes, Parts, above_chord, times
from bestcut.search._edges import Edges
from bestcut.search._table import Table

_GROUPS, _SPLIT = 24, 8
_STUBBORN = 0.3  # share of the ranking that is left: time for new bounds
_CROWD = 8  # groups that are left: new bounds take less time than to look at all edges
_TIES = 2  # edges or groups as good as the best up to its error: time for a closer look
_MANY, _FAR = 3e5, 1e-3  # evaluations left, or a reach beyond the best edge: likewise
_MOST = 8192  # groups that are worth bounding at once
# What is known to be worth less than this, relative to the best score, is left out.
_WORTHLESS = 1e-13


def _inside(groups: Parts, kept: BoolArray) -> IndexArray:
    """Return the parts that some groups consist of."""
    ends = groups.first[kept].tolist(), groups.last[kept].tolist()
    parts = [part for pair in zip(*ends, strict=True) for part in range(*pair)]
    return np.array(parts, dtype=np.intp)


class CutSearch(Edges):
    """The search for the best cut with `low` to `high` positives.

    `before` and `after` are what is above the table's parts in the ranking and below.

    Attributes
    ----------
    lower, upper : float
        Proved bounds on the expected utility of the best allowed cut, after `run`.
    enough : float
        What is worth no more than this is left out.
    """

    def __init__(
        self,
        table: Table,
        metric: Metric,
        low: int,
        high: int,
        before: Side = NOBODY,
        after: Side = NOBODY,
    ) -> None:
        super().__init__(table, metric, before, after)
        self.low, self.high = low, high
        moved = np.concatenate([[0.0], np.cumsum(table.displacement())])
        self.displaced = moved, moved[-1] - moved
        count = self.start.size
        self.floor, self.ceiling = np.full(count, -np.inf), np.full(count, np.inf)
        self.lower, self.upper, self.enough = -np.inf, np.inf, -np.inf
        self._allowed = (low <= self.start) & (self.start <= high)

    @cached_property
    def _groups(self) -> Parts:
        """The ranking in some long parts."""
        parts = self.table.count.size
        return self._grouped(np.zeros(1, int), np.full(1, parts), _GROUPS)

    def run(self) -> IndexArray:
        """Return the parts that can hold the best cut inside them.

        The edges that can be the best cut are `candidates`.

        The parts are taken in groups, a few long ones at first. In every round the
        edges of the groups are evaluated, the cuts inside each group are bounded
        (`reach`), and groups that are worth no more than `enough` are left out. Those
        that are kept are split; bounds of a group hold for what is inside it, and are
        computed anew only where they leave too much. It ends when nothing can be split
        or too much is left for bounds to pay.
        """
        parts = self.table.count.size
        if parts == 0 or not np.isfinite(self.proved):
            # Nothing can be left out, but there is a first edge to look at.
            self.evaluate_closely(np.zeros(1, dtype=np.intp))
            self.ceiling[0] = self.utility[0] + self.error[0]
            self.floor[0] = self.utility[0] - self.error[0]
            self._settle()
            self.upper = float(self.ceiling[0]) if parts == 0 else np.inf
            return np.arange(parts)
        groups = self._groups
        self.evaluate_first(np.unique([groups.first, groups.last]))
        bounds, fresh = Changes(self, groups), True
        while True:
            self.evaluate(np.unique([groups.first, groups.last]))
            reach = self.reach(groups, bounds)
            self._settle()
            kept = (reach > self.enough) & self._is_inside(groups)
            if self._is_tied(reach[kept]):
                self.evaluate_closely(self.candidates)
                continue
            several = kept & (groups.last - groups.first > 1)
            split = bool(several.any()) and _SPLIT * several.sum() <= _MOST
            crowded = not fresh and np.count_nonzero(kept) > _CROWD
            if not split and (fresh or not self._is_loose(groups, reach, kept)):
                break  # nothing to split, or the bounds leave too much
            old, parents = np.flatnonzero(kept), groups.last[kept]
            left = float(groups.size[kept].sum() / groups.size.sum())
            capped = bool(np.any(reach[kept] >= bounds.cap[kept]))
            if split and not crowded:
                bounded = kept & (reach < bounds.cap)
                if self._plan_inside is None and 0 < bounded.sum() <= _CROWD:
                    self.plan_inside(groups.first[bounded], groups.last[bounded])
                groups = self._grouped(groups.first[kept], parents, _SPLIT)
                fresh = left > _STUBBORN
            else:
                groups = self._together(groups.first[kept], parents)
                fresh = True
            if fresh:
                bounds = Changes(self, groups)
            else:  # what holds for a part holds for what is inside it
                bounds = bounds.at(old[np.searchsorted(parents, groups.last)], groups)
                if capped:
                    bounds.cap = np.minimum(bounds.cap, bounds.caps())
            # No need to look at what is worth too little anyhow.
            open_yet = np.flatnonzero(bounds.cap > self.enough)
            if open_yet.size < groups.size.size:
                groups = self._together(groups.first[open_yet], groups.last[open_yet])
                bounds = bounds.at(open_yet, groups)
        seen = self._allowed & ~np.isnan(self.utility)
        best = float(np.max(self.ceiling[seen], initial=-np.inf))
        best = max(best, self.enough)
        self.upper = max(best, float(np.max(reach[kept], initial=-np.inf)))
        return np.sort(_inside(groups, kept))

    def _is_loose(self, groups: Parts, reach: FloatArray, kept: BoolArray) -> bool:
        """Return whether bounds from longer parts are worth computing again."""
        far = float(np.max(reach[kept], initial=self.lower)) - self.lower
        many = self.cost(_inside(groups, kept)) > _MANY
        return bool(kept.any()) and (many or far > _FAR * abs(self.lower))

    def _settle(self) -> None:
        """Find what the best of the allowed edges is worth at least.

        That is what other cuts must be worth more than, and more than what is stated of
        an edge that was looked at closely: its value and its error.
        """
        seen = np.flatnonzero(self._allowed & ~np.isnan(self.utility))
        if not seen.size:
            return
        self.lower = max(self.lower, float(np.max(self.floor[seen])))
        close = seen[self._close[seen]]
        stated = np.minimum(self.utility[close], self.floor[close] + self.error[close])
        stated += self.error[close]
        least = self.lower + _WORTHLESS * abs(self.lower)
        self.enough = max(self.enough, least, float(np.max(stated, initial=-np.inf)))

    def _is_tied(self, reach: FloatArray) -> bool:
        """Return whether many groups or edges are as good as the best, up to its error.

        And whether a closer look at the edges would change that.
        """
        edges = self.candidates
        if self._close[edges].all():
            return False
        best = float(np.max((self.utility + self.error)[edges]))
        return max(int(np.count_nonzero(reach <= best)), edges.size) > _TIES

    @property
    def candidates(self) -> IndexArray:
        """The allowed edges that can be the best cut."""
        good = self._allowed & (self.ceiling > self.enough) & ~np.isnan(self.utility)
        best = self.best_edge()
        if best is not None:
            good[best] = True
        return np.flatnonzero(good)

    def cost(self, parts: IndexArray) -> float:
        """Return about how often the metric is evaluated to look at all cuts of parts.

        Some ten nodes a side where rules were worth it, and all counts where not.
        """
        widths = []
        for side, sums in enumerate((self.above, self.below)):
            variance = np.maximum(sums[1, parts], sums[1, parts + 1])
            exact = 12.0 + 18.0 * np.sqrt(variance)
            widths.append(np.minimum(exact, 10.0) if self.worth[side] else exact)
        if self._mean_above:
            widths[0] = np.ones(parts.size)
        return float(np.sum(self.table.count[parts] * widths[0] * widths[1]))

    def best_edge(self) -> int | None:
        """Return the allowed edge that is surely the best, if any was looked at."""
        sure = np.where(self._allowed, self.floor, -np.inf)
        edge = int(np.argmax(sure))
        return edge if sure[edge] > -np.inf else None

    def _is_inside(self, groups: Parts) -> BoolArray:
        """Return which groups have cuts inside them that are allowed."""
        start = self.start
        return (start[groups.last] - 1 >= self.low) & (
            start[groups.first] + 1 <= self.high
        )

    @cached_property
    def _place(self) -> FloatArray:
        """How far down the ranking every edge is, by several measures, from 0 to 1."""
        start = self.table.start.astype(np.float64)
        n = float(self.table.n)
        expected, variance = (row - row[0] for row in self.above[:2])
        measures = [
            (1.0, start),
            (1.0, expected),
            (1.0, start - expected),
            (1.0, variance),
            (0.5, np.log1p(start)),
            (0.5, np.log1p(n) - np.log1p(n - start)),
        ]
        shares = [weight * x / max(x[-1], 1e-300) for weight, x in measures]
        place: FloatArray = np.sum(shares, axis=0)
        return place / float(place[-1])

    def _grouped(self, first: IndexArray, last: IndexArray, count: int) -> Parts:
        """Return every group in up to `count` groups, none much longer than others."""
        edges = []
        for a, b in zip(first.tolist(), last.tolist(), strict=True):
            if b - a <= count:
                inner = np.arange(a, b + 1)
            else:
                place = self._place[a : b + 1]
                steps = np.linspace(place[0], place[-1], count + 1)
                inner = np.unique(a + np.searchsorted(place, steps))
                inner = np.unique(np.concatenate([[a], np.minimum(inner, b), [b]]))
                if inner.size == 2:  # one part has it all
                    inner = np.linspace(a, b, count + 1).astype(np.intp)
            edges.append(inner)
        return self._together(
            np.concatenate([e[:-1] for e in edges]),
            np.concatenate([e[1:] for e in edges]),
        )

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Running sums of the positives, of their squares by parts, and of scatter."""
        table = self.table
        counts = table.count.astype(np.float64)
        rows = (counts * table.mean, counts * table.mean**2, table.scatter)
        wide = np.zeros((3, counts.size + 1), dtype=np.longdouble)
        wide[:, 1:] = np.cumsum(np.array(rows, dtype=np.longdouble), axis=1)
        return wide[0], wide[1], wide[2]

    def _together(self, first: IndexArray, last: IndexArray) -> Parts:
        table = self.table
        size = (table.start[last] - table.start[first]).astype(np.float64)
        total, squares, scatter = (x[last] - x[first] for x in self._sums)
        mean = (total / size).astype(np.float64)
        # The squares lose digits in the difference, of extended precision.
        apart = squares - total * total / size + 1e-17 * np.abs(squares)
        scattered = np.maximum(apart + scatter * (1 + 1e-15), 0.0).astype(np.float64)
        single = last - first == 1
        mean[single] = table.mean[first[single]]
        scattered[single] = table.scatter[first[single]]
        dispersion = np.minimum(np.sqrt(size * scattered), 2 * size * mean * (1 - mean))
        return Parts(first, last, size, mean, dispersion)

    def reach(self, parts: Parts, bounds: Changes) -> FloatArray:
        """Return a bound on the expected utility of the cuts inside each part."""
        size, half = parts.size, parts.dispersion / 2
        (a_lo, a_hi), (b_lo, b_hi) = bounds.ends["a"], bounds.ends["b"]
        largest = np.maximum.reduce([abs(a_lo), abs(a_hi), abs(b_lo), abs(b_hi)])
        wrong = times(self._displacement(parts), largest)
        for edges in (parts.first, parts.last):
            high = self.utility[edges] + self.error[edges] + wrong
            inner = (self.start[edges] > 0) & (self.start[edges] < self.n)
            high = np.where(inner, np.minimum(high, bounds.cap), high)
            self.ceiling[edges] = np.minimum(self.ceiling[edges], high)
            low = self.utility[edges] - self.error[edges] - wrong
            self.floor[edges] = np.maximum(self.floor[edges], low)
        with np.errstate(invalid="ignore", over="ignore"):
            left, right = (
                self.utility[edges] + self.error[edges] + times(half, hi - lo)
                for edges, lo, hi in (
                    (parts.first, b_lo, b_hi),
                    (parts.last, a_lo, a_hi),
                )
            )
            span = np.maximum(a_hi, b_hi) - np.minimum(a_lo, b_lo)
            rise = times(size**2, bounds.bent(parts.mean))
            top = above_chord(left, right, rise) + times(half, span) + wrong
            top += 16 * EPS * (np.abs(left) + np.abs(right) + np.abs(top))
        top = np.fmin(np.where(np.isnan(top), np.inf, top), bounds.cap)
        return np.where(size > 1, top, -np.inf)

    def _displacement(self, parts: Parts) -> FloatArray:
        """Bound how far the probabilities are moved that the laws at edges stand for.

        Sums are those of the probabilities themselves; only exact laws are not.
        """
        total = np.zeros(parts.size.size)
        for side, moved in enumerate(self.displaced):
            for edges in (parts.first, parts.last):
                short = self.are_short(edges, below=side == 1)
                here = np.where(self._exact[side, edges] & short, moved[edges], 0.0)
                total = np.maximum(total, here)
        return 2.0 * total  # either side may be moved
