"""The cuts of one ranking, when its probabilities are known only as draws.

The expected score of a cut is the mean of its expected scores in all draws. Sums over
the instances above a cut and below it are kept for every cut that was looked at; the
laws of counts grow from those of the nearest cut that is known.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bestcut._types import EPS, FloatArray, IndexArray
from bestcut.counts import (
    LEAST_VARIANCE,
    MOST_NODES,
    ROOM,
    Plan,
    Rule,
    SideRange,
    error_of_sums,
    exact_error,
    expectation,
    linear_value,
    plan_rules,
    rule_of_mean,
    rule_of_sums,
    value_of_cut,
)
from bestcut.metrics import Metric, Trait, is_linear, largest_score
from bestcut.scores import MixedPrediction, mean_over_draws
from bestcut.uncertain import (
    DrawnLaw,
    DrawnSide,
    Draws,
    convolved_laws,
    joined_draws,
    laws_from_sums,
    laws_of,
    nothing,
    with_instances,
)

_VARIED = 200.0  # with a smaller variance in all, proofs take longer than exact laws
_PAIRS = 1 << 22  # of counts that are looked at one by one for a cut
_TOLERANCE = 1e-13  # what rules may leave, of the size of the metric
_EVALUATIONS = 1 << 18  # of the metric at a time
_ONE_BY_ONE = 64  # instances that are added to laws sooner than their own are made


class Part(NamedTuple):
    """The instances between two cuts: sum of probabilities and scatter, by draw."""

    total: FloatArray
    scatter: FloatArray


class MixtureCuts:
    """The cuts of draws that are ranked, for one metric.

    Attributes
    ----------
    draws : Draws
        From the most probable instance down.
    sums : dict of int to tuple of ndarray
        Sums of features above every cut that was looked at, and below it.
    parts : dict of tuple of int to Part
        What is between cuts that were looked at together.
    """

    def __init__(self, draws: Draws, metric: Metric) -> None:
        self.draws, self.metric, self.n = draws, metric, draws.n
        self.largest = largest_score(metric, self.n)
        nobody = np.zeros((ROOM + 1, draws.n_draws))
        total, scatter = draws.part_sums(np.array([0, self.n]))
        self.sums = {0: (nobody, total[:, 0]), self.n: (total[:, 0], nobody)}
        self.parts = {(0, self.n): Part(total[0, 0], scatter[0])}
        every, none = np.arange(draws.n_draws), nothing(draws.n_draws)
        # Laws that are not made from sums, of the draws that vary little there.
        self._short: tuple[dict[int, tuple[IndexArray, DrawnLaw]], ...] = (
            {0: (every, none)},
            {self.n: (every, none)},
        )
        self._mean_above = Trait.FACTORISED in metric.traits
        self._known: dict[int, tuple[float, float]] = {}

    @property
    def total(self) -> FloatArray:
        """Sums of features over all instances."""
        return self.sums[0][1]

    def look(self, cuts: IndexArray) -> None:
        """Note the sums above and below some cuts."""
        known = sorted(self.sums)
        new = np.setdiff1d(cuts, known)
        for a, b in pairwise(known):
            inside = new[(a < new) & (new < b)]
            if not inside.size:
                continue
            edges = np.concatenate([[a], inside, [b]])
            sums, scatter = self.draws.part_sums(edges)
            above = self.sums[a][0][:, None] + np.cumsum(sums, axis=1)
            below = self.sums[b][1][:, None] + np.cumsum(sums[:, ::-1], axis=1)[:, ::-1]
            for i, cut in enumerate(inside.tolist()):
                self.sums[cut] = above[:, i].copy(), below[:, i + 1].copy()
            for i, pair in enumerate(pairwise(edges.tolist())):
                self.parts[pair] = Part(sums[0, i].copy(), scatter[i].copy())

    def side(self, cut: int, *, below: bool) -> DrawnSide:
        """Return what is above a cut, or below it."""
        self.look(np.array([cut]))
        here = slice(cut, self.n) if below else slice(0, cut)
        sums, law = self.sums[cut][below], self.law(cut, below=below)
        return DrawnSide(self.draws.taken(here), sums, law)

    def prediction(self, cut: int) -> MixedPrediction:
        """Return the prediction of a cut."""
        return MixedPrediction(self.side(cut, below=False), self.side(cut, below=True))

    def law(self, cut: int, *, below: bool) -> DrawnLaw:
        """Return the laws of the number of positives above a cut, or below it."""
        sums = self.sums[cut][below]
        much = sums[1] >= LEAST_VARIANCE
        parts = []
        if much.any():
            draws = np.flatnonzero(much)
            size = self.n - cut if below else cut
            parts.append((draws, laws_from_sums(size, sums[:ROOM, draws])))
        if not much.all():
            parts.append(self._short_law(cut, np.flatnonzero(~much), below=below))
        return joined_draws(parts, self.draws.n_draws)

    def laws(self, cut: int) -> tuple[DrawnLaw, DrawnLaw]:
        """Return the laws of the positives above a cut and below it.

        There are no counts beyond what there is, whatever a window has room for.
        """
        self.look(np.array([cut]))
        above, below = (self.law(cut, below=side) for side in (False, True))
        return _cut_off(above, cut), _cut_off(below, self.n - cut)

    def highest(self, low: int, high: int) -> float:
        """Bound the expected utility of all cuts from `low` to `high`.

        That of a metric that never falls when a prediction is corrected; it is what it
        would be with the positives above `high` and the negatives above `low`.
        """
        tp, fn = self.laws(high)
        n_pairs = tp.pmf.shape[0] * fn.pmf.shape[0]
        if n_pairs > _PAIRS:
            return np.inf
        total, scale = 0.0, 0.0
        step = max(_EVALUATIONS // fn.pmf.shape[0], 1)
        for i in range(0, tp.pmf.shape[0], step):
            caught = tp.counts[i : i + step, None]
            value = extreme_utility(self.metric, caught, fn.counts, low, self.n)
            total += float(np.sum((value @ fn.pmf) * tp.pmf[i : i + step]))
            scale = max(scale, float(np.abs(value).max()))
        width = tp.pmf.shape[0] + fn.pmf.shape[0]
        error = exact_error(width, self.n, scale, self.largest)
        for sums in self.sums[high]:
            from_sums = np.where(sums[1] >= LEAST_VARIANCE, sums[1], 0.0)
            error += float(error_of_sums(from_sums).max()) * self.largest
        return total / self.draws.n_draws + error

    def _short_law(
        self, cut: int, draws: IndexArray, *, below: bool
    ) -> tuple[IndexArray, DrawnLaw]:
        """Return the laws of some draws, from the nearest cut that has them."""
        known = self._short[below]
        if cut not in known:
            near = (
                min(c for c in known if c >= cut)
                if below
                else max(c for c in known if c <= cut)
            )
            had, law = known[near]
            law = DrawnLaw(law.start, law.pmf[:, np.searchsorted(had, draws)])
            first, last = sorted((near, cut))
            if last - first <= _ONE_BY_ONE:
                law = with_instances(law, self.draws.rows(first, last)[:, draws])
            else:
                between = self.draws.only(draws).taken(slice(first, last))
                law = convolved_laws(law, laws_of(between.pieces(), draws.size))
            known[cut] = draws, law
        had, law = known[cut]
        if had.size != draws.size:
            law = DrawnLaw(law.start, law.pmf[:, np.searchsorted(had, draws)])
        return draws, law

    def value(self, cut: int) -> tuple[float, float]:
        """Return the expected score of a cut, and a bound on its error."""
        if cut not in self._known:
            self.evaluate(np.array([cut]))
        return self._known[cut]

    def evaluate(self, cuts: IndexArray) -> None:
        """Compute the expected scores of some cuts, with bounds on their errors."""
        new = np.array([c for c in cuts.tolist() if c not in self._known], np.intp)
        if not new.size:
            return
        self.look(new)
        if is_linear(self.metric):
            for cut in new.tolist():
                self._known[cut] = self._linear(cut)
            return
        plans = self._plans(new)
        # From the end, so that laws grow from the nearest.
        for cut, plan in zip(new[::-1].tolist(), plans[::-1], strict=True):
            exact = plan.nodes[1] == 0
            if exact.any() and np.any(self.sums[cut][1][1, exact] < LEAST_VARIANCE):
                self.law(cut, below=True)
        for cut, plan in zip(new.tolist(), plans, strict=True):
            self._known[cut] = self._value(cut, plan)

    def forget(self) -> None:
        """Keep the values of cuts, and not what they were computed from."""
        ends = {0, self.n}
        self.sums = {c: self.sums[c] for c in ends}
        self.parts = {}
        for known in self._short:
            for cut in set(known) - ends:
                del known[cut]

    def _linear(self, cut: int) -> tuple[float, float]:
        assert is_linear(self.metric)
        above, below = self.sums[cut]
        cells = (above[0], above[ROOM], below[0], below[ROOM])
        means = tuple(mean_over_draws(x) for x in cells)
        value, error = linear_value(self.metric, means)
        return float(value), float(error)

    def _plans(self, cuts: IndexArray) -> list[Plan]:
        """Return the rules that stand for both counts, in every draw.

        A rule for all draws is looked for first, and where there is none, for each.
        """
        draws = self.draws.n_draws
        nothing_proved = np.zeros(draws, dtype=np.intp)
        none = Plan((nothing_proved, nothing_proved), np.zeros(draws), np.zeros(draws))
        if float(self.total[1].min()) < _VARIED:
            return [none] * cuts.size
        sides = [np.stack([self.sums[c][i] for c in cuts.tolist()]) for i in (0, 1)]
        common = self._plan([_range(x.min(axis=2), x.max(axis=2)) for x in sides])
        plans = []
        for i in range(cuts.size):
            nodes = common.nodes[0][i], common.nodes[1][i]
            if nodes[1] and (nodes[0] or self._mean_above):
                plans.append(Plan(*(_tiled(x, i, draws) for x in common)))
            else:
                each = [_range(x[i].T, x[i].T) for x in sides]
                plans.append(self._plan(each))
        return plans

    def _plan(self, ranges: list[SideRange]) -> Plan:
        return plan_rules(
            self.metric,
            ranges[0],
            ranges[1],
            self.largest,
            _TOLERANCE,
            mean_above=self._mean_above,
        )

    def _value(self, cut: int, plan: Plan) -> tuple[float, float]:
        """Return the expected score of a cut; draws with the same rules together."""
        pairs = sorted(set(zip(*(x.tolist() for x in plan.nodes), strict=True)))
        values, error = np.empty(self.draws.n_draws), 0.0
        for pair in pairs:
            draws = np.flatnonzero(
                (plan.nodes[0] == pair[0]) & (plan.nodes[1] == pair[1])
            )
            values[draws], errors = self._with_rules(cut, pair, draws)
            errors = errors + plan.error[draws] + 64 * EPS * plan.size[draws]
            error += float(errors.sum()) / values.size
        return mean_over_draws(values), error

    def _with_rules(
        self, cut: int, nodes: tuple[int, int], draws: IndexArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return E f in some draws, and what laws and rounding are wrong by."""
        rules, width = [], 0
        error = np.zeros(draws.size)
        sizes = cut, self.n - cut
        for i, m in enumerate(nodes):
            sums = self.sums[cut][i][:, draws]
            if m:
                rules.append(Rule(*rule_of_sums(sums[:MOST_NODES], m)))
            elif self._mean_above and i == 0:
                rules.append(rule_of_mean(sums[0]))
            else:
                law = self.law(cut, below=i == 1)
                counts, pmf = _narrowed(law, draws)
                rules.append(Rule(np.minimum(counts, sizes[i])[:, None], pmf))
                width += counts.size
                from_sums = np.where(sums[1] >= LEAST_VARIANCE, sums[1], 0.0)
                error += error_of_sums(from_sums) * self.largest
        n_pairs = rules[0].nodes.shape[0] * rules[1].nodes.shape[0]
        if n_pairs > _PAIRS:
            return self._draw_by_draw(cut, draws)
        if all(rule.nodes.shape[1] == 1 for rule in rules) and draws.size > 1:
            values, scale = self._from_table(cut, *rules)
        else:
            cuts = np.full(draws.size, float(cut))
            values, scale = expectation(self.metric, cuts, self.n, *rules)
        return values, error + exact_error(width, self.n, scale, self.largest)

    def _from_table(
        self, cut: int, above: Rule, below: Rule
    ) -> tuple[FloatArray, float]:
        """Return E f in every draw, where all draws have the same counts."""
        k, n = float(cut), float(self.n)
        values, scale = np.zeros(above.weights.shape[1]), 0.0
        fn = below.nodes[:, 0]
        step = max(_EVALUATIONS // fn.size, 1)
        for i in range(0, above.nodes.shape[0], step):
            tp, caught = above.nodes[i : i + step], above.weights[i : i + step]
            score = self.metric.score_cells(tp, k - tp, fn, n - k - fn)
            score = np.broadcast_to(score, (tp.size, fn.size))
            values += np.einsum("ab,ab->b", score @ below.weights, caught)
            scale = max(scale, float(np.abs(score).max()))
        return values, scale

    def _draw_by_draw(
        self, cut: int, draws: IndexArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return E f and its error where the laws of all draws are too wide."""
        prediction = self.prediction(cut)
        each = [
            value_of_cut(self.metric, self.largest, one.chosen, one.others)
            for one in map(prediction.in_draw, draws.tolist())
        ]
        values, errors = (np.array(x) for x in zip(*each, strict=True))
        return values, errors


def extreme_utility(
    metric: Metric, tp: FloatArray, fn: FloatArray, n_pred: float, n: float
) -> FloatArray:
    """Return the utility if `n_pred` were predicted positive, as far as possible."""
    fp = np.clip(n_pred - tp, 0.0, np.maximum(n - tp - fn, 0.0))
    tn = np.maximum(n - tp - fn - fp, 0.0)
    score = metric.score_cells(tp, fp, fn, tn)
    shape = np.broadcast_shapes(tp.shape, fn.shape)
    return np.asarray(metric.sign * np.broadcast_to(score, shape))


def _cut_off(law: DrawnLaw, most: int) -> DrawnLaw:
    keep = max(min(law.pmf.shape[0], most - law.start + 1), 1)
    return DrawnLaw(law.start, law.pmf[:keep])


def _range(least: FloatArray, most: FloatArray) -> SideRange:
    """Return what the counts of a side may be like; columns are sums of features."""
    return SideRange(*((least[:, i], most[:, i]) for i in (0, ROOM, 1)))


def _tiled(found: Any, i: int, draws: int) -> Any:
    """Return entry i of a plan for each of the draws."""
    if isinstance(found, tuple):
        return tuple(np.full(draws, x[i]) for x in found)
    return np.full(draws, found[i])


def _narrowed(law: DrawnLaw, draws: IndexArray) -> tuple[FloatArray, FloatArray]:
    """Return the counts that some draws have at all, and their laws."""
    if draws.size == law.pmf.shape[1]:
        return law.counts, law.pmf
    pmf = law.pmf[:, draws]
    possible = np.flatnonzero(pmf.any(axis=1))
    here = slice(int(possible[0]), int(possible[-1]) + 1)
    return law.counts[here], pmf[here]
