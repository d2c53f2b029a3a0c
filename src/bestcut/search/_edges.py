"""The expected utility at edges between parts of the ranking, with bounds on its error.

What the search knows of the curve: its values at some edges. Rules stand for the counts
where that is proved (`bestcut.counts`), to a tolerance that is enough to leave parts
out; edges that can be the best cut are evaluated once more, as well as can be.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
from functools import cached_property
from typing import Self

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.counts import (
    EVALUATIONS,
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
from bestcut.search._table import Table

_AT_ONCE = 256  # edges whose scores are computed at once
_VARIED = 200.0  # with a smaller variance in all, proofs take longer than exact laws
_MANY = 12  # edges that speak for the cuts between them
# What rules at edges may leave, of the size of the metric: enough to leave out parts;
# cuts that are as good as that are evaluated closely.
_TOLERANCE, _CLOSELY = 1e-9, 1e-13
_CHANCE = 1e-10  # what exact distributions may leave out at either end, likewise


class Edges:
    """The edges between the parts of a table.

    `before` and `after` are what is above the table's parts in the ranking and below.

    Attributes
    ----------
    start : ndarray of int
        How many instances are above each edge.
    utility, error : ndarray
        Expected utility at every edge that was evaluated, nan elsewhere, and what it
        may be wrong by.
    largest, proved : float
        A bound on the absolute score, and one that is proved, which may be infinite.
    worth : tuple of bool
        Whether rules are worth a try above a cut, and below it.
    """

    def __init__(
        self, table: Table, metric: Metric, before: Side = NOBODY, after: Side = NOBODY
    ) -> None:
        self.table, self.metric = table, metric
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
        count = self.start.size
        self.utility = np.full(count, np.nan)
        self.error = np.full(count, np.inf)
        self._exact = np.zeros((2, count), dtype=np.bool_)
        self._close = np.zeros(count, dtype=np.bool_)
        self._planned = np.full(count, -1)  # the row of `_plan_inside` of each edge
        self._plan_inside: Plan | None = None

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

    def knowing(self, table: Table) -> Self:
        """Return the same with a table that may know more, and so have other laws."""
        out = copy(self)
        out.utility, out.error = self.utility.copy(), self.error.copy()
        out._exact, out._close = self._exact.copy(), self._close.copy()
        if table is not self.table:
            out.table, out._laws = table, ({}, {})
            out._close[:] = False
        return out

    @property
    def total_mean(self) -> float:
        """Expected number of positives in all."""
        return float(self.above[0, -1]) + self.ends[1].positives

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
        return asked_for and bool(self.are_short(np.array([edge]), below=below)[0])

    def are_short(self, edges: IndexArray, *, below: bool) -> BoolArray:
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
        self, first: IndexArray, last: IndexArray
    ) -> tuple[SideRange, SideRange]:
        """Return what either side of the cuts from one edge to another is like."""
        rows = (0, ROOM, 1)
        above = SideRange(*((self.above[i, first], self.above[i, last]) for i in rows))
        below = SideRange(*((self.below[i, last], self.below[i, first]) for i in rows))
        return above, below

    def evaluate(self, edges: IndexArray) -> None:
        """Compute the expected utility at some edges, with bounds on its error."""
        new = edges[np.isnan(self.utility[edges])]
        if new.size:
            self._evaluate(new, _TOLERANCE, self._chance)

    def evaluate_first(self, edges: IndexArray) -> None:
        """Look at some edges, and again if all scores are small next to the largest.

        Then what distributions leave out must be less likely to be as negligible.
        """
        self.evaluate(edges)
        typical = float(np.max(np.abs(self.utility[edges])))
        chance = _CHANCE * min(typical / max(self.largest, 1e-300), 1.0)
        if chance < self._chance / 10:
            self._chance = max(chance, NEGLIGIBLE)
            self.utility[edges] = np.nan
            self.evaluate(edges)

    def evaluate_closely(self, edges: IndexArray) -> None:
        """Compute the expected utility at some edges as well as can be."""
        new = edges[~self._close[edges]]
        if not new.size:
            return
        if np.isfinite(self.proved) and self.table.n:
            self._evaluate(new, _CLOSELY, 0.0)
        else:  # one by one: a promise is only believed where the truth takes too long
            for edge in new.tolist():
                sides = self.side(edge, below=False), self.side(edge, below=True)
                value, self.error[edge] = value_of_cut(
                    self.metric, self.largest, *sides
                )
                self.utility[edge] = self.sign * value
        self._close[new] = True

    def _evaluate(self, new: IndexArray, tolerance: float, chance: float) -> None:
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
        if new.size > _MANY and tolerance == _TOLERANCE:
            # What no edge has, the cuts between have not.
            self.worth = bool(plan.nodes[0].any()), bool(plan.nodes[1].any())
        nodes = np.stack(plan.nodes)
        self._exact[:, new] = nodes == 0
        if self._mean_above:
            self._exact[0, new] = False
        # From the end, so that laws grow by a part at a time.
        short = self._exact[1, new] & self.are_short(new, below=True)
        for e in new[short][::-1].tolist():
            self._law(e, below=True)
        for m_above, m_below in sorted({(a, b) for a, b in nodes.T.tolist()}):
            here = np.flatnonzero((nodes[0] == m_above) & (nodes[1] == m_below))
            self._evaluate_alike(
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

    def _plan_for(self, edges: IndexArray) -> Plan | None:
        """Return the rules of some edges, if they are known from around them."""
        rows, plan = self._planned[edges], self._plan_inside
        if plan is None or np.any(rows < 0):
            return None
        nodes = plan.nodes[0][rows], plan.nodes[1][rows]
        return Plan(nodes, plan.error[rows], plan.size[rows])

    def plan_inside(self, first: IndexArray, last: IndexArray) -> None:
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

    def _evaluate_alike(
        self,
        group: IndexArray,
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
        step = max(EVALUATIONS // (width[0] * width[1]), 1)
        if not any(laws):
            step = _AT_ONCE
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
