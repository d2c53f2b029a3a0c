"""The cuts of one ranking, when its probabilities are known only as draws.

The expected score of a cut is the mean of its expected scores in all draws.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

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
from bestcut.metrics import (
    Metric,
    Trait,
    agreement_never_hurts,
    is_linear,
    largest_score,
    score_bound,
    tp_never_hurts,
)
from bestcut.scores import Prediction, mean_over_draws
from bestcut.search import RARE, Bounds, Cells, bounds_inside, extreme_utility
from bestcut.uncertain import DrawnLaw, RankedDraws

_CELLS = 8  # that the ranking is divided into at first
_FEW = 600  # instances with which extremes bound cells best
_VARIED = 200.0  # with a smaller variance in all, proofs take longer than exact laws
_PAIRS = 1 << 22  # of counts that are looked at one by one for a cut
_TOLERANCE = 1e-13  # what rules may leave, of the size of the metric
_EVALUATIONS = 1 << 18  # of the metric at a time
# Pairs of counts with which a proof for every draw takes longer than to look at all,
# and values of one count with which the laws of all draws take much memory.
_SHORT, _WIDE = 1 << 17, 1 << 11


class MixtureCuts:
    """The cuts of draws that are ranked, for one metric.

    Parameters
    ----------
    ranked : RankedDraws
        The draws, from the most probable instance down.
    metric : Metric
        The metric.
    """

    are_dear = True

    def __init__(self, ranked: RankedDraws, metric: Metric) -> None:
        self.ranked, self.metric = ranked, metric
        self.n, self.n_draws = ranked.n, ranked.n_draws
        self.largest = largest_score(metric, self.n)
        self.proved = score_bound(metric, self.n)
        self.start = np.arange(self.n + 1)
        self.total = ranked.total[:2]
        self._mean_above = Trait.FACTORISED in metric.traits
        self._known: dict[int, tuple[float, float]] = {}

    def prediction(self, cut: int) -> Prediction:
        """Return the prediction of a cut."""
        return Prediction(
            self.ranked.side(cut, below=False), self.ranked.side(cut, below=True)
        )

    @cached_property
    def by_extremes(self) -> bool:
        """Whether cells are bounded by extremes: where few positives are expected.

        In some draw few are enough; but then there must not be many in another.
        """
        rare = float(self.total[1].min()) < RARE
        narrow = _width(self.ranked.total) ** 2 <= _EVALUATIONS
        few = self.n <= _FEW or (rare and narrow)
        return few and agreement_never_hurts(self.metric, self.n)

    def first_places(self, low: int, high: int) -> IndexArray:
        """Return the cuts to begin with, from `low` to `high`.

        Curves bend most near both ends of the ranking: there they are close together.
        """
        share = np.linspace(0.0, 1.0, _CELLS + 1)
        steps = [share]
        if low == 0:
            steps.append(share**3)
        if high == self.n:
            steps.append(1.0 - (1.0 - share) ** 3)
        cuts = np.rint(low + (high - low) * np.concatenate(steps)).astype(np.intp)
        ends = np.array([low, min(low + 1, high), max(high - 1, low), high])
        return np.unique(np.concatenate([cuts, ends]))

    def bounds(self, first: IndexArray, last: IndexArray, enough: float) -> Bounds:
        """Bound the mean curve inside cells, by chords and by extremes."""
        about = self.metric, self.n, self.proved
        bounds = bounds_inside(*about, self.total, self._cells(first, last))
        if not (self.ranked.is_ranked or tp_never_hurts(self.metric, self.n)):
            # Lemma 10 wants an order, or a metric that an order never hurts.
            bounds = bounds._replace(bend=np.full(first.size, np.inf))
        if self.by_extremes:
            highest = self.highest(first, last)
            bounds = bounds._replace(cap=np.fmin(bounds.cap, highest))
        return bounds

    def _cells(self, first: IndexArray, last: IndexArray) -> Cells:
        """Return what is known of the instances between cuts."""
        sums = self.ranked.sums
        above, below = (
            np.stack(
                [
                    np.stack([sums[cut][side][:2] for cut in cuts.tolist()], axis=1)
                    for cuts in (first, last)
                ]
            )
            for side in (0, 1)
        )
        least, most = self.ranked.range_between(first, last)
        start, stop = (x.astype(np.float64)[:, None] for x in (first, last))
        return Cells(start, stop, above, below, least, most)

    def doubt(self, places: IndexArray) -> FloatArray:
        """Return 0: all probabilities are known."""
        return np.zeros(places.size)

    def plan_inside(self, first: IndexArray, last: IndexArray) -> None:
        """Do nothing: rules are proved for every cut."""

    def highest(self, first: IndexArray, last: IndexArray) -> FloatArray:
        """Bound the expected utility of the cuts between cuts by extremes (Lemma 18).

        That of a metric that never falls when a prediction is corrected; it is what it
        would be with the positives above the last and the negatives above the first.
        """
        pairs = zip((first + 1).tolist(), (last - 1).tolist(), strict=True)
        return np.array([self._highest(low, high) for low, high in pairs])

    def _highest(self, low: int, high: int) -> float:
        tp, fn = self.ranked.laws(high)
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
        for sums in self.ranked.sums[high]:
            from_sums = np.where(sums[1] >= LEAST_VARIANCE, sums[1], 0.0)
            error += float(error_of_sums(from_sums).max()) * self.largest
        return total / self.n_draws + error

    def value(self, cut: int) -> tuple[float, float]:
        """Return the expected score of a cut, and a bound on its error."""
        if cut not in self._known:
            self._look(np.array([cut]))
        return self._known[cut]

    def evaluate(self, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected utility at some cuts, with bounds on its error."""
        self._look(places)
        pairs = [self._known[cut] for cut in places.tolist()]
        value, error = np.array(pairs).reshape(-1, 2).T
        return self.metric.sign * value, error

    # Every look is as close as can be.
    evaluate_first = evaluate_closely = evaluate

    def _look(self, cuts: IndexArray) -> None:
        """Compute the expected scores of some cuts, with bounds on their errors."""
        new = np.array([c for c in cuts.tolist() if c not in self._known], np.intp)
        if not new.size:
            return
        self.ranked.look(new)
        if is_linear(self.metric):
            for cut in new.tolist():
                self._known[cut] = self._linear(cut)
            return
        plans = self._plans(new)
        # From the end, so that laws grow from the nearest.
        for cut, plan in zip(new[::-1].tolist(), plans[::-1], strict=True):
            exact = plan.nodes[1] == 0
            if exact.any() and np.any(
                self.ranked.sums[cut][1][1, exact] < LEAST_VARIANCE
            ):
                self.ranked.law(cut, below=True)
        for cut, plan in zip(new.tolist(), plans, strict=True):
            self._known[cut] = self._value(cut, plan)

    def _linear(self, cut: int) -> tuple[float, float]:
        assert is_linear(self.metric)
        above, below = self.ranked.sums[cut]
        cells = (above[0], above[ROOM], below[0], below[ROOM])
        means = tuple(mean_over_draws(x) for x in cells)
        value, error = linear_value(self.metric, means)
        return float(value), float(error)

    def _plans(self, cuts: IndexArray) -> list[Plan]:
        """Return the rules that stand for both counts, in every draw.

        A rule for all draws is looked for first, and where there is none, for each.
        """
        draws = self.n_draws
        nothing_proved = np.zeros(draws, dtype=np.intp)
        none = Plan((nothing_proved, nothing_proved), np.zeros(draws), np.zeros(draws))
        if float(self.ranked.total[1].max()) < _VARIED:
            return [none] * cuts.size
        sides = [
            np.stack([self.ranked.sums[c][i] for c in cuts.tolist()]) for i in (0, 1)
        ]
        common = self._plan([_range(x.min(axis=2), x.max(axis=2)) for x in sides])
        plans = []
        for i in range(cuts.size):
            nodes = common.nodes[0][i], common.nodes[1][i]
            if nodes[1] and (nodes[0] or self._mean_above):
                plans.append(Plan(*(_tiled(x, i, draws) for x in common)))
            elif _are_short(sides[0][i], sides[1][i]):
                plans.append(none)
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
        values, error = np.empty(self.n_draws), 0.0
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
            sums = self.ranked.sums[cut][i][:, draws]
            if m:
                rules.append(Rule(*rule_of_sums(sums[:MOST_NODES], m)))
            elif self._mean_above and i == 0:
                rules.append(rule_of_mean(sums[0]))
            else:
                law = self.ranked.law(cut, below=i == 1)
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
            value_of_cut(self.metric, self.largest, *prediction.sides(b))
            for b in draws.tolist()
        ]
        values, errors = (np.array(x) for x in zip(*each, strict=True))
        return values, errors


def _are_short(above: FloatArray, below: FloatArray) -> bool:
    """Return whether the laws of both counts take less time than a proof for each."""
    widths = _width(above), _width(below)
    return max(widths) <= _WIDE and widths[0] * widths[1] <= _SHORT


def _width(sums: FloatArray) -> float:
    """Return about how many values the laws of a count have, of all draws together."""
    apart = float(sums[0].max() - sums[0].min())
    return apart + 16.0 * float(np.sqrt(sums[1].max())) + 16.0


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
