"""Where the best cut can be, proved from sums over parts of the ranking.

The ranking is a `Table` of parts, from the most probable down. At some edges between
parts the expected score is computed, with a bound on its error; inside the parts it is
bounded (`bestcut.search._changes`). Parts that can hold the best cut are split, and the
others left out, until what is left is little or cannot be split.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bestcut._types import EPS, FloatArray
from bestcut.counts import (
    LEAST_VARIANCE,
    NEGLIGIBLE,
    NOBODY,
    ROOM,
    Law,
    Plan,
    Rule,
    Side,
    SideRange,
    SummedSide,
    convolved,
    dropped,
    error_of_sums,
    expectation,
    law_error,
    linear_value,
    plan_rules,
    rule_of_mean,
    rule_of_sums,
    value_of_cut,
)
from bestcut.curve import running_totals
from bestcut.metrics import Metric, Trait, is_linear, largest_score, score_bound
from bestcut.search._changes import Changes, Parts, times
from bestcut.search._table import Table

_TOGETHER = 256  # edges whose scores are computed at once
_GROUPS, _SPLIT = 24, 8
_STUBBORN = 0.3  # share of the ranking that is left: time for new bounds
_CROWD = 8  # groups that are left: new bounds take less time than to look at all edges
_TIES = 2  # edges or groups as good as the best up to its error: time for a closer look
_MANY, _FAR = 3e5, 1e-3  # evaluations left, or a reach beyond the best edge: likewise
_VARIED = 200.0  # with a smaller variance in all, proofs take longer than exact laws
_MOST = 8192  # groups that are worth bounding at once
# What rules at edges may leave, of the size of the metric: enough to leave out parts;
# cuts that are as good as that are looked at closely.
_TOLERANCE, _CLOSELY = 1e-9, 1e-13
_CHANCE = 1e-10  # what exact distributions may leave out at either end, likewise
_EVALUATIONS = 60_000  # of the metric at a time: temporaries stay in cache
# What is known to be worth less than this, relative to the best score, is left out.
_WORTHLESS = 1e-13


def _side_by_side(laws: list[Law], most: FloatArray) -> Rule:
    """Return the rule of several laws, a column for each.

    Impossible values have no weight, but the metric must not be asked about them.
    """
    width = max(law.pmf.size for law in laws)
    weights = np.zeros((width, len(laws)))
    for column, law in enumerate(laws):
        weights[: law.pmf.size, column] = law.pmf
    start = np.array([law.start for law in laws], dtype=np.float64)
    nodes = np.add.outer(np.arange(width, dtype=np.float64), start)
    return Rule(np.minimum(nodes, most), weights)


def _inside(groups: Parts, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the parts that some groups consist of."""
    ends = groups.first[kept].tolist(), groups.last[kept].tolist()
    parts = [part for pair in zip(*ends, strict=True) for part in range(*pair)]
    return np.array(parts, dtype=np.intp)


class CutSearch:
    """The search for the best cut with `low` to `high` positives.

    `before` and `after` are what is above the table's parts in the ranking and below.

    Attributes
    ----------
    utility, error : ndarray
        Expected utility at every edge that was looked at, nan elsewhere, and what it
        may be wrong by.
    largest, proved : float
        A bound on the absolute score, and one that is proved, which may be infinite.
    worth : tuple of bool
        Whether rules are worth a try above a cut, and below it.
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
        self.table, self.metric = table, metric
        self.low, self.high = low, high
        self.sign = metric.sign
        self.start = before.n + table.start
        self.n = before.n + table.n + after.n
        self.largest = largest_score(metric, self.n)
        self.proved = score_bound(metric, self.n)
        self.above, self.below = running_totals(
            np.concatenate([table.sums, table.negatives[None]]),
            np.append(before.sums(ROOM), before.negatives),
            np.append(after.sums(ROOM), after.negatives),
        )
        self.ends = before, after
        self._mean_above = Trait.FACTORISED in metric.traits
        varied = self.total_variance >= _VARIED
        self.worth = varied, varied
        self._chance = _CHANCE if np.isfinite(self.proved) else 0.0
        self._laws: tuple[dict[int, Law], dict[int, Law]] = {}, {}
        moved = np.concatenate([[0.0], np.cumsum(table.displacement())])
        self.displaced = moved, moved[-1] - moved
        count = self.start.size
        self.utility = np.full(count, np.nan)
        self.error = np.full(count, np.inf)
        self.floor, self.ceiling = np.full(count, -np.inf), np.full(count, np.inf)
        self._exact = np.zeros((2, count), dtype=np.bool_)
        self._close = np.zeros(count, dtype=np.bool_)
        self._planned = np.full(count, -1)  # the row of `_plan_inside` of each edge
        self._plan_inside: Plan | None = None
        self.lower, self.upper, self.enough = -np.inf, np.inf, -np.inf
        self._allowed = (low <= self.start) & (self.start <= high)

    def side(self, edge: int, *, below: bool) -> Side:
        """Return what is above an edge, or below it."""
        start = int(self.start[edge])
        sums = (self.below if below else self.above)[:, edge]
        return SummedSide(
            self.n - start if below else start,
            sums[:ROOM].copy(),
            float(sums[ROOM]),
            lambda: self._law(edge, below),
        )

    def knowing(self, table: Table) -> CutSearch:
        """Return the search with a table that may know more, and so have other laws."""
        out = copy(self)
        out.utility, out.error = self.utility.copy(), self.error.copy()
        out._exact, out._close = self._exact.copy(), self._close.copy()
        if table is not self.table:
            out.table, out._laws = table, ({}, {})
            out._close[:] = False
        return out

    @property
    def total_variance(self) -> float:
        """Variance of the number of positives in all."""
        return float(self.above[1, -1]) + self.ends[1].variance

    @cached_property
    def peak(self) -> FloatArray:
        """What no probability below an edge exceeds: the mean of the part above it."""
        return np.append(1.0, np.minimum(self.table.mean * (1 + 1e-12), 1.0))

    def total_law(self) -> Law:
        """Return the law of the number of positives in all."""
        return convolved(self._law(self.start.size - 1, below=False), self.ends[1].law)

    def is_short(self, edge: int, *, below: bool) -> bool:
        """Return whether the law of a side, if asked for, is built up from parts."""
        asked_for = below or not self._mean_above
        return asked_for and bool(self._is_short(np.array([edge]), below=below)[0])

    def _is_short(self, edges: NDArray[np.intp], *, below: bool) -> NDArray[np.bool_]:
        """Return which laws are built up from parts, and not from sums."""
        sums = self.below if below else self.above
        return np.asarray(sums[1, edges] < LEAST_VARIANCE)

    def _law(self, edge: int, below: bool) -> Law:
        """Return the law above or below an edge, from the nearest that is known."""
        laws = self._laws[below]
        if not laws:
            laws[self.table.count.size if below else 0] = self.ends[below].law
        if edge not in laws:
            known = sorted(laws)
            at = bisect_right(known, edge)
            if below:
                near = known[at]
                more = self.table.law(edge, near)
            else:
                near = known[at - 1]
                more = self.table.law(near, edge)
            laws[edge] = convolved(laws[near], more)
        return laws[edge]

    def _ranges(
        self, first: NDArray[np.intp], last: NDArray[np.intp]
    ) -> tuple[SideRange, SideRange]:
        """Return what either side of the cuts from one edge to another is like."""
        rows = (0, ROOM, 1)
        above = SideRange(*((self.above[i, first], self.above[i, last]) for i in rows))
        below = SideRange(*((self.below[i, last], self.below[i, first]) for i in rows))
        return above, below

    @cached_property
    def _groups(self) -> Parts:
        """The ranking in some long parts."""
        parts = self.table.count.size
        return self._grouped(np.zeros(1, int), np.full(1, parts), _GROUPS)

    def look(self, edges: NDArray[np.intp]) -> None:
        """Compute the expected utility at some edges, with bounds on its error."""
        new = edges[np.isnan(self.utility[edges])]
        if new.size:
            self._look(new, _TOLERANCE, self._chance)

    def look_closely(self, edges: NDArray[np.intp]) -> None:
        """Compute the expected utility at some edges as well as can be."""
        new = edges[~self._close[edges]]
        if not new.size:
            return
        if np.isfinite(self.proved) and self.table.n:
            self._look(new, _CLOSELY, 0.0)
        else:  # one by one: a promise is only believed where the truth takes too long
            for edge in new.tolist():
                sides = self.side(edge, below=False), self.side(edge, below=True)
                value, self.error[edge] = value_of_cut(
                    self.metric, self.largest, *sides
                )
                self.utility[edge] = self.sign * value
        self._close[new] = True

    def _look(self, new: NDArray[np.intp], tolerance: float, chance: float) -> None:
        """Look, with rules of some tolerance, and laws without ends of some chance."""
        above, below = self._ranges(new, new)
        if is_linear(self.metric):
            cells = (*above[:2], *below[:2])
            worth, self.error[new] = linear_value(
                self.metric, tuple(x[0] for x in cells)
            )
            self.utility[new] = self.sign * worth
            return
        plan = self._plan_for(new) if tolerance == _TOLERANCE else None
        if plan is None:
            plan = self._plan(above, below, tolerance, self.worth)
        if new.size > _GROUPS // 2 and tolerance == _TOLERANCE:
            # What no edge has, the cuts between have not.
            self.worth = bool(plan.nodes[0].any()), bool(plan.nodes[1].any())
        nodes = np.stack(plan.nodes)
        self._exact[:, new] = nodes == 0
        if self._mean_above:
            self._exact[0, new] = False
        # From the end, so that laws grow by a part at a time.
        short = self._exact[1, new] & self._is_short(new, below=True)
        for e in new[short][::-1].tolist():
            self._law(e, below=True)
        for m_above, m_below in sorted({(a, b) for a, b in nodes.T.tolist()}):
            here = np.flatnonzero((nodes[0] == m_above) & (nodes[1] == m_below))
            self._look_together(
                new[here], (m_above, m_below), plan.error[here], plan.size[here], chance
            )

    def _plan(
        self,
        above: SideRange,
        below: SideRange,
        tolerance: float,
        worth: tuple[bool, bool],
    ) -> Plan:
        return plan_rules(
            self.metric,
            above,
            below,
            self.largest,
            tolerance,
            mean_above=self._mean_above,
            worth=worth,
        )

    def _plan_for(self, edges: NDArray[np.intp]) -> Plan | None:
        """Return the rules of some edges, if they are known from around them."""
        rows, plan = self._planned[edges], self._plan_inside
        if plan is None or np.any(rows < 0):
            return None
        nodes = plan.nodes[0][rows], plan.nodes[1][rows]
        return Plan(nodes, plan.error[rows], plan.size[rows])

    def _plan_groups(self, first: NDArray[np.intp], last: NDArray[np.intp]) -> None:
        """Find rules for all edges inside some groups at once.

        A side that was taken value by value at both edges of all of them is so inside.
        """
        exact = self._exact[:, first] & self._exact[:, last]
        worth = [w and not e.all() for w, e in zip(self.worth, exact, strict=True)]
        plan = self._plan(*self._ranges(first, last), _TOLERANCE, (worth[0], worth[1]))
        known = [
            (nodes > 0) | no_rule
            for nodes, no_rule in zip(plan.nodes, exact, strict=True)
        ]
        if self._mean_above:
            known[0][:] = True
        self._plan_inside = plan
        self._planned[:] = -1
        for row in np.flatnonzero(known[0] & known[1]).tolist():
            self._planned[first[row] + 1 : last[row]] = row

    def _look_together(
        self,
        group: NDArray[np.intp],
        nodes: tuple[int, int],
        error: FloatArray,
        size: FloatArray,
        chance: float,
    ) -> None:
        """Look at edges with the same kind of rules, some at a time."""
        laws: list[list[Law]] = [[], []]
        for below in (False, True):
            if self._exact[int(below), group[0]]:
                laws[below] = [
                    self.side(e, below=below).law.narrowed(chance)
                    for e in group.tolist()
                ]
        width = [max((x.pmf.size for x in side), default=1) for side in laws]
        step = max(_EVALUATIONS // (width[0] * width[1]), 1)
        if not any(laws):
            step = _TOGETHER
        for i in range(0, group.size, step):
            some = group[i : i + step]
            cuts = self.start[some].astype(np.float64)
            rules = []
            for below, sums in ((False, self.above), (True, self.below)):
                here = sums[:ROOM, some]
                if laws[below]:
                    most = self.n - cuts if below else cuts
                    rules.append(_side_by_side(laws[below][i : i + step], most))
                elif nodes[below] == 0:
                    rules.append(rule_of_mean(here[0]))
                else:
                    rules.append(Rule(*rule_of_sums(here, nodes[below])))
            values, scale = expectation(self.metric, cuts, self.n, rules[0], rules[1])
            self.utility[some] = self.sign * values
            wide = sum(width) if any(laws) else 0
            terms = np.maximum(size[i : i + step], scale)
            self.error[some] = error[i : i + step] + (64 * EPS) * terms
            if wide:
                lost = (4 * chance + dropped(self.n)) * self.largest
                self.error[some] += law_error(wide, self.n) * terms + lost
                for below in (False, True):
                    if laws[below]:
                        sums = (self.below if below else self.above)[1, some]
                        long = np.where(sums >= LEAST_VARIANCE, sums, 0.0)
                        self.error[some] += error_of_sums(long) * self.largest

    def run(self) -> NDArray[np.intp]:
        """Return the parts that can hold the best cut inside them.

        The edges that can be the best cut are `candidates`.
        """
        parts = self.table.count.size
        if parts == 0 or not np.isfinite(self.proved):
            # Nothing can be left out, but there is a first edge to look at.
            self.look_closely(np.zeros(1, dtype=np.intp))
            self.ceiling[0] = self.utility[0] + self.error[0]
            self.floor[0] = self.utility[0] - self.error[0]
            self._settle()
            self.upper = float(self.ceiling[0]) if parts == 0 else np.inf
            return np.arange(parts)
        groups = self._groups
        self._look_first(np.unique([groups.first, groups.last]))
        bounds, fresh = Changes(self, groups), True
        while True:
            self.look(np.unique([groups.first, groups.last]))
            reach = self.reach(groups, bounds)
            self._settle()
            kept = (reach > self.enough) & self._is_inside(groups)
            if self._is_tied(reach[kept]):
                self.look_closely(self.candidates)
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
                    self._plan_groups(groups.first[bounded], groups.last[bounded])
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

    def _look_first(self, edges: NDArray[np.intp]) -> None:
        """Look at some edges, and again if all scores are small next to the largest.

        Then what distributions leave out must be less likely to be as negligible.
        """
        self.look(edges)
        typical = float(np.max(np.abs(self.utility[edges])))
        chance = _CHANCE * min(typical / max(self.largest, 1e-300), 1.0)
        if chance < self._chance / 10:
            self._chance = max(chance, NEGLIGIBLE)
            self.utility[edges] = np.nan
            self.look(edges)

    def _is_loose(
        self, groups: Parts, reach: FloatArray, kept: NDArray[np.bool_]
    ) -> bool:
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
    def candidates(self) -> NDArray[np.intp]:
        """The allowed edges that can be the best cut."""
        good = self._allowed & (self.ceiling > self.enough) & ~np.isnan(self.utility)
        best = self.best_edge()
        if best is not None:
            good[best] = True
        return np.flatnonzero(good)

    def cost(self, parts: NDArray[np.intp]) -> float:
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

    def _is_inside(self, groups: Parts) -> NDArray[np.bool_]:
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

    def _grouped(
        self, first: NDArray[np.intp], last: NDArray[np.intp], count: int
    ) -> Parts:
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

    def _together(self, first: NDArray[np.intp], last: NDArray[np.intp]) -> Parts:
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
        m, size, half = parts.mean, parts.size, parts.dispersion / 2
        bend = (
            times(m**2, bounds.bend["11"])
            + times(2 * m * (1 - m), bounds.bend["01"])
            + times((1 - m) ** 2, bounds.bend["00"])
        )
        # The sum may cancel, and a rise is at least 0.
        bend += 8 * EPS * sum(np.abs(x) for x in bounds.bend.values())
        bend = np.maximum(bend, 0.0)
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
            rise = times(size**2, bend)
            # The largest of a chord and a parabola that vanishes at its ends.
            tilt = np.abs(right - left)
            inner = (
                (left + right) / 2 + rise / 8 + tilt**2 / np.maximum(2 * rise, 1e-300)
            )
            top = np.where(tilt < rise / 2, inner, np.maximum(left, right))
            top = top + times(half, span) + wrong
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
                short = self._is_short(edges, below=side == 1)
                here = np.where(self._exact[side, edges] & short, moved[edges], 0.0)
                total = np.maximum(total, here)
        return 2.0 * total  # either side may be moved
