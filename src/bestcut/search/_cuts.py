"""The cuts between the parts of a ranking: expected utilities, with bounds on errors.

Rules stand for the counts where that is proved (`bestcut.counts`), to a tolerance that
is enough to leave cells out; cuts that can be the best are evaluated once more, as well
as can be.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
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
    exact_error,
    expectation,
    law_error,
    linear_value,
    plan_rules,
    rule_of_mean,
    rule_of_sums,
    value_of_cut,
)
from bestcut.curve import running_totals
from bestcut.metrics import (
    Metric,
    Trait,
    agreement_never_hurts,
    is_linear,
    largest_score,
    score_bound,
)
from bestcut.search._bounds import (
    Bounds,
    Cells,
    Chances,
    bounds_by_counts,
    bounds_inside,
    extreme_utility,
    times,
)
from bestcut.search._table import Table

_CELLS = 24  # that the ranking is divided into at first
_FEW_CELLS = 8  # so many have rules for all of their cuts, which take a proof each
_AT_ONCE = 256  # cuts whose scores are computed at once
_VARIED = 200.0  # with a smaller variance in all, proofs take longer than exact laws
_MANY = 12  # cuts that speak for those between them
RARE = 25.0  # below this variance of all positives, their laws have few values
_TINY = 1e-15  # what sums of chances round
_ALIKE = 1.5  # ratio of numbers of positives that are bounded together
# What rules may leave at first, of the size of the metric: enough to leave out cells;
# cuts that are as good as that are evaluated closely.
_TOLERANCE, _CLOSELY = 1e-9, 1e-13
_CHANCE = 1e-10  # what exact distributions may leave out at either end, likewise


class TableCuts:
    """The cuts between the parts of a table, each known by its place among them.

    `before` and `after` are what is above the table's parts in the ranking and below.

    Attributes
    ----------
    start : ndarray of int
        How many instances are above the cut at each place.
    largest, proved : float
        A bound on the absolute score, and one that is proved, which may be infinite.
    worth : tuple of bool
        Whether rules are worth a try above a cut, and below it.
    """

    inherits, most_pieces = True, 24

    def __init__(
        self, table: Table, metric: Metric, before: Side = NOBODY, after: Side = NOBODY
    ) -> None:
        self.table, self.metric = table, metric
        self.start = before.n + table.start
        self.n = before.n + table.n + after.n
        self._sign = metric.sign
        self.largest = largest_score(metric, self.n)
        self.proved = score_bound(metric, self.n)
        self.above, self.below = running_totals(
            np.concatenate([table.sums, table.negatives[None]]),
            np.append(before.sums(ROOM), before.negatives),
            np.append(after.sums(ROOM), after.negatives),
        )
        self.ends = before, after
        self._mean_above = Trait.FACTORISED in metric.traits
        # Mean and variance of all positives, of one draw.
        self.total = self.above[:2, -1:] + np.array(
            [[after.positives], [after.variance]]
        )
        varied = bool(self.total[1, 0] >= _VARIED)
        self.worth = varied, varied
        self._chance = _CHANCE if np.isfinite(self.proved) else 0.0
        self._laws: tuple[dict[int, Law], dict[int, Law]] = {}, {}
        self._exact = np.zeros((2, self.start.size), dtype=np.bool_)
        self._planned = np.full(self.start.size, -1)  # rows of `_plan_inside`
        self._plan_inside: Plan | None = None
        moved = np.concatenate([[0.0], np.cumsum(table.displacement())])
        self._moved = moved, moved[-1] - moved

    def side(self, place: int, *, below: bool) -> Side:
        """Return what is above a cut, or below it."""
        start = int(self.start[place])
        sums = (self.below if below else self.above)[:, place]
        return SummedSide(
            self.n - start if below else start,
            sums[:ROOM].copy(),
            float(sums[ROOM]),
            lambda: self._law(place, below),
        )

    def knowing(self, table: Table) -> Self:
        """Return the same with a table that knows more, and so has other laws."""
        out = copy(self)
        out._exact = self._exact.copy()
        out.table, out._laws = table, ({}, {})
        return out

    def is_short(self, place: int, *, below: bool) -> bool:
        """Return whether the law of a side, if asked for, is built up from parts."""
        asked_for = below or not self._mean_above
        return asked_for and bool(self._are_short(np.array([place]), below=below)[0])

    def _are_short(self, places: IndexArray, *, below: bool) -> BoolArray:
        """Return which laws are built up from parts, and not from sums."""
        sums = self.below if below else self.above
        return np.asarray(sums[1, places] < LEAST_VARIANCE)

    def _law(self, place: int, below: bool) -> Law:
        """Return the law above or below a cut, from the nearest that is known."""
        laws = self._laws[below]
        if not laws:
            laws[self.table.count.size if below else 0] = self.ends[below].law
        if place not in laws:
            known = sorted(laws)
            at = bisect_right(known, place)
            if below:
                near = known[at]
                more = self.table.law(place, near)
            else:
                near = known[at - 1]
                more = self.table.law(near, place)
            laws[place] = convolved(laws[near], more)
        return laws[place]

    def first_places(self, low: int, high: int) -> IndexArray:
        """Return places between which expected counts change about alike.

        They surround the cuts from `low` to `high`. Those next to nothing and to
        everything are among them: rates are 0/0 there, and nothing bounds a cell that
        begins or ends with them.
        """
        first = max(int(np.searchsorted(self.start, low, side="right")) - 1, 0)
        last = min(int(np.searchsorted(self.start, high)), self.start.size - 1)
        here = slice(first, last + 1)
        start = self.start[here].astype(np.float64)
        far = np.zeros(start.size)
        for weight, x in (
            (1.0, start),
            (1.0, self.above[0, here]),
            (1.0, self.above[ROOM, here]),
            (1.0, self.above[1, here]),
            (0.5, np.log1p(start)),
            (0.5, -np.log1p(self.n - start)),
        ):
            far += weight * (x - x[0]) / max(float(x[-1] - x[0]), 1e-300)
        steps = np.searchsorted(far, np.linspace(0.0, far[-1], _CELLS + 1))
        ends = [0, 1, start.size - 2, start.size - 1]
        return first + np.unique(np.clip([*ends, *steps], 0, start.size - 1))

    def bounds(self, first: IndexArray, last: IndexArray, enough: float) -> Bounds:
        """Bound the curve inside cells, where it may be above `enough`.

        Where few positives are expected, how probable their numbers are bounds how a
        curve bends (Lemma 10), and extremes how high it is (Lemma 18).
        """
        cells, about = self.cells(first, last), (self.metric, self.n, self.proved)
        doubtful = bool(self._moved[0][-1] > 0.0)
        bounds = bounds_inside(*about, self.total, cells, flips=doubtful)
        if self.total[1, 0] >= RARE:
            return bounds
        more = (cells.above[1, 0] - cells.above[0, 0]).max(axis=1)
        some = np.flatnonzero((more < 1.0) & (bounds.cap > enough))
        if some.size:
            chances = self.chances(first[some], last[some])
            counted = bounds_by_counts(*about, cells.those(some), chances)
            for bound, other in zip(bounds[-3:], counted, strict=True):
                bound[some] = np.fmin(bound[some], other)
        if not agreement_never_hurts(self.metric, self.n):
            return bounds
        moved = np.maximum(self.doubt(first), self.doubt(last))
        highest = self._highest(first, last) + times(moved, bounds.flip)
        return bounds._replace(cap=np.fmin(bounds.cap, highest))

    def cells(self, first: IndexArray, last: IndexArray) -> Cells:
        """Return what is known of the instances between cuts."""
        above, below = (
            np.stack([sums[:2, places] for places in (first, last)])[..., None]
            for sums in (self.above, self.below)
        )
        return Cells(
            self.start[first].astype(np.float64)[:, None],
            self.start[last].astype(np.float64)[:, None],
            above,
            below,
            self.table.least[last - 1, None],
            self.table.most[first, None],
        )

    def doubt(self, places: IndexArray) -> FloatArray:
        """Return by how much probabilities are moved in the laws used at some cuts.

        Sums are those of the probabilities themselves; only exact laws are not.
        """
        total = np.zeros(places.size)
        for side, moved in enumerate(self._moved):
            used = self._exact[side, places] & self._are_short(places, below=side == 1)
            total = np.maximum(total, np.where(used, moved[places], 0.0))
        return 2.0 * total  # either side may be moved

    def chances(self, first: IndexArray, last: IndexArray) -> Chances:
        """Return how probable numbers of positives are at cuts between others.

        Above a cut there are as many as above the first one, or more: with a chance of
        at most the expected number between.
        """
        moved = self.doubt(np.concatenate([first, last])).reshape(2, -1).max(axis=0)
        more = np.minimum(self.above[0, last] - self.above[0, first], 1.0)
        # From the end, so that laws grow by a part at a time.
        places = np.unique(np.concatenate([first, last])).tolist()
        laws = [[self._law(k, below=False) for k in places]]
        laws.append([self._law(k, below=True) for k in places[::-1]][::-1])
        most = max(law.start + law.pmf.size for side in laws for law in side) + 1
        starts = groups_of_counts(most)
        upper, lower = np.searchsorted(places, first), np.searchsorted(places, last)
        sides = []
        for side, few, many in zip(laws, (upper, lower), (lower, upper), strict=True):
            before = np.stack([_chances_below(law, starts) for law in side])
            sides.append(_largest_chances(before[few], before[many], more[:, None]))
        sides = [np.minimum(x + moved[:, None], 1.0).T[..., None] for x in sides]
        ends = np.append(starts[1:] - 1.0, float(self.n))
        return Chances(starts, ends, *sides)

    def _highest(self, first: IndexArray, last: IndexArray) -> FloatArray:
        """Bound the expected utility of the cuts between cuts by extremes (Lemma 18).

        The positives are those above the last of them, and no more instances are
        predicted positive than above the first.
        """
        out = np.empty(first.size)
        for i in reversed(range(first.size)):
            tp, fn = (self._law(int(last[i]), below) for below in (False, True))
            n_pred = float(self.start[first[i]] + 1)
            utility = extreme_utility(
                self.metric, tp.counts[:, None], fn.counts, n_pred, float(self.n)
            )
            width, scale = tp.pmf.size + fn.pmf.size, float(np.abs(utility).max())
            out[i] = tp.pmf @ utility @ fn.pmf
            out[i] += exact_error(width, self.n, scale, self.largest)
        return out

    def _ranges(
        self, first: IndexArray, last: IndexArray
    ) -> tuple[SideRange, SideRange]:
        """Return what either side of the cuts from one to another is like."""
        rows = (0, ROOM, 1)
        above = SideRange(*((self.above[i, first], self.above[i, last]) for i in rows))
        below = SideRange(*((self.below[i, last], self.below[i, first]) for i in rows))
        return above, below

    def evaluate_first(self, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Look at some cuts, and again if all scores are small next to the largest.

        Then what distributions leave out must be less likely to be as negligible.
        """
        utility, error = self.evaluate(places)
        typical = float(np.max(np.abs(utility)))
        chance = _CHANCE * min(typical / max(self.largest, 1e-300), 1.0)
        if chance < self._chance / 10:
            self._chance = max(chance, NEGLIGIBLE)
            return self.evaluate(places)
        return utility, error

    def evaluate(self, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected utility at some cuts, with bounds on its error."""
        return self._evaluate(places, _TOLERANCE, self._chance)

    def evaluate_closely(self, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected utility at some cuts as well as can be."""
        if np.isfinite(self.proved) and self.table.n:
            return self._evaluate(places, _CLOSELY, 0.0)
        # One by one: a promise is only believed where the truth takes too long.
        pairs = [
            value_of_cut(
                self.metric,
                self.largest,
                self.side(place, below=False),
                self.side(place, below=True),
            )
            for place in places.tolist()
        ]
        value, error = np.array(pairs).reshape(-1, 2).T
        return self.metric.sign * value, error

    def _evaluate(
        self, places: IndexArray, tolerance: float, chance: float
    ) -> tuple[FloatArray, FloatArray]:
        """Look, with rules of some tolerance, and laws without ends of some chance."""
        above, below = self._ranges(places, places)
        if is_linear(self.metric):
            means = tuple(x[0] for x in (*above[:2], *below[:2]))
            worth, error = linear_value(self.metric, means)
            return self._sign * worth, error
        plan = self._plan_for(places) if tolerance == _TOLERANCE else None
        if plan is None:
            plan = self._plan(above, below, tolerance, self.worth)
        if places.size > _MANY and tolerance == _TOLERANCE:
            # What no cut has, the cuts between have not.
            self.worth = bool(plan.nodes[0].any()), bool(plan.nodes[1].any())
        nodes = np.stack(plan.nodes)
        self._exact[:, places] = nodes == 0
        if self._mean_above:
            self._exact[0, places] = False
        # From the end, so that laws grow by a part at a time.
        short = self._exact[1, places] & self._are_short(places, below=True)
        for place in places[short][::-1].tolist():
            self._law(place, below=True)
        utility, error = np.empty(places.size), np.empty(places.size)
        for m_above, m_below in sorted({(a, b) for a, b in nodes.T.tolist()}):
            here = np.flatnonzero((nodes[0] == m_above) & (nodes[1] == m_below))
            utility[here], error[here] = self._evaluate_alike(
                places[here],
                (m_above, m_below),
                plan.error[here],
                plan.size[here],
                chance,
            )
        return utility, error

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

    def _plan_for(self, places: IndexArray) -> Plan | None:
        """Return the rules of some cuts, if they are known from around them."""
        rows, plan = self._planned[places], self._plan_inside
        if plan is None or np.any(rows < 0):
            return None
        nodes = plan.nodes[0][rows], plan.nodes[1][rows]
        return Plan(nodes, plan.error[rows], plan.size[rows])

    def plan_inside(self, first: IndexArray, last: IndexArray) -> None:
        """Find rules for all cuts inside some cells at once, if there are few.

        A side that was taken value by value at both cuts of all of them is so inside.
        """
        if self._plan_inside is not None or not 0 < first.size <= _FEW_CELLS:
            return
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
        for row in np.flatnonzero(known[0] & known[1]).tolist():
            self._planned[first[row] + 1 : last[row]] = row

    def cost(self, first: IndexArray, last: IndexArray) -> float:
        """Return about how often the metric is evaluated to look at all cuts of cells.

        Some ten nodes a side where rules were worth it, and all counts where not.
        """
        widths = []
        for side, sums in enumerate((self.above, self.below)):
            variance = np.maximum(sums[1, first], sums[1, last])
            exact = 12.0 + 18.0 * np.sqrt(variance)
            widths.append(np.minimum(exact, 10.0) if self.worth[side] else exact)
        if self._mean_above:
            widths[0] = np.ones(first.size)
        count = self.start[last] - self.start[first]
        return float(np.sum(count * widths[0] * widths[1]))

    def _evaluate_alike(
        self,
        group: IndexArray,
        nodes: tuple[int, int],
        proved: FloatArray,
        size: FloatArray,
        chance: float,
    ) -> tuple[FloatArray, FloatArray]:
        """Look at cuts with the same kind of rules, some at a time.

        `proved` is what the rules are wrong by, and `size` how large the terms are.
        """
        utility, error = np.empty(group.size), proved.copy()
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
            here, some = slice(i, i + step), group[i : i + step]
            cuts = self.start[some].astype(np.float64)
            rules = []
            for below, sums in ((False, self.above), (True, self.below)):
                if laws[below]:
                    most = self.n - cuts if below else cuts
                    rules.append(_side_by_side(laws[below][here], most))
                elif nodes[below] == 0:
                    rules.append(rule_of_mean(sums[0, some]))
                else:
                    rules.append(Rule(*rule_of_sums(sums[:ROOM, some], nodes[below])))
            values, scale = expectation(self.metric, cuts, self.n, rules[0], rules[1])
            utility[here] = self.metric.sign * values
            wide = sum(width) if any(laws) else 0
            terms = np.maximum(size[here], scale)
            error[here] += (64 * EPS) * terms
            if wide:
                lost = (4 * chance + dropped(self.n)) * self.largest
                error[here] += law_error(wide, self.n) * terms + lost
                for below in (False, True):
                    if laws[below]:
                        variance = (self.below if below else self.above)[1, some]
                        long = np.where(variance >= LEAST_VARIANCE, variance, 0.0)
                        error[here] += error_of_sums(long) * self.largest
        return utility, error


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


def groups_of_counts(most: int) -> FloatArray:
    """Return where groups of counts up to `most` begin; small ones are one count."""
    starts = [0]
    while starts[-1] <= most:
        starts.append(max(starts[-1] + 1, int(starts[-1] * _ALIKE)))
    return np.array(starts, dtype=np.float64)


def _chances_below(law: Law, starts: FloatArray) -> FloatArray:
    """Return how probable counts below each start are, and 1 at last."""
    mass = np.concatenate([[0.0], np.cumsum(law.pmf)])
    places = np.clip(starts - law.start, 0, law.pmf.size).astype(np.intp)
    return np.append(mass[places], mass[-1])


def _largest_chances(few: FloatArray, many: FloatArray, more: FloatArray) -> FloatArray:
    """Return how probable groups of counts are that lie between two others.

    These are as `_chances_below` says, and differ with a chance of `more` at most.
    """
    inside = np.diff(few, axis=1) + few[:, :-1] * more
    out: FloatArray = np.minimum.reduce(
        [inside, few[:, 1:], 1.0 - many[:, :-1] + _TINY]
    )
    return out
