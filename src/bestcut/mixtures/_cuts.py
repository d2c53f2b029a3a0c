"""The cuts of one ranking, when its probabilities are known only as draws.

The expected score of a cut is the mean of its expected scores in all draws.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.counts import (
    LEAST_VARIANCE,
    ROOM,
    Rule,
    SideRange,
    error_of_sums,
    exact_error,
    expectation,
    linear_value,
    plan_rules,
    rule_of_mean,
    rule_of_sums,
    stray,
)
from bestcut.metrics import (
    Metric,
    Trait,
    agreement_never_hurts,
    from_expression,
    get,
    is_linear,
    largest_score,
    score_bound,
    tp_never_hurts,
)
from bestcut.scores import Prediction
from bestcut.search import RARE, Bounds, Cells, bounds_inside, extreme_utility
from bestcut.uncertain import AlignedLaws, DrawnLaw, RankedDraws

_LEAST_CELL, _GROWTH = 4, 1.5  # of cuts to begin with, from both ends of the ranking
_AT_FIRST = 3  # of these that are evaluated: those that look best
_VARIED = 60.0  # with a smaller variance in all, proofs take longer than exact laws
_PAIRS = 1 << 22  # of counts that are looked at one by one for a cut
# What rules may leave in the search, of the size of the metric, and what of a cut that
# may be the best: by one instance more an expected score changes by some 1 / n.
_TOLERANCE, _OF_A_ROW, _CLOSELY = 1e-5, 0.03, 1e-10
_LOG_UNSEEN = -40.0  # logarithm of the chance of labels that are not looked at
_EVALUATIONS = 1 << 18  # of the metric at a time
# Pairs of counts with which a proof for every draw takes longer than to look at all,
# and values of one count with which the laws of all draws take much memory.
_SHORT, _WIDE = 1 << 17, 1 << 11
# So few instances have laws soon, where fewer cuts than this have rules in all draws.
_LAWS_ARE_QUICK, _WORTH_PROVING = 4096, 0.1
_GROUPS, _STRIPS = 16, 3  # of draws, for bounds and proofs
_USELESS = 1e-2  # so far above its chord a bound is that of each draw by itself
_ZONES = 12  # cells for whose cuts rules are proved together, at most
# A product of roots is analytic as long as each of its factors keeps off 0 by itself,
# the root of a product only where all of their distances together do: proofs reach
# further with these formulas, which are the same wherever nothing is 0/0.
_ROOTS = {
    get(name): from_expression(formula)
    for name, formula in (
        ("gmean", "sqrt(tp)*sqrt(tn)/(sqrt(tp+fn)*sqrt(tn+fp))"),
        ("mcc", "(tp*tn-fp*fn)/(sqrt(tp+fp)*sqrt(tp+fn)*sqrt(tn+fp)*sqrt(tn+fn))"),
    )
}


class MixtureCuts:
    """The cuts of draws that are ranked, for one metric.

    What is proved of a range of counts holds for all draws whose counts are in it:
    bounds and rules are those of groups of draws that are alike.

    Parameters
    ----------
    ranked : RankedDraws
        The draws, from the most probable instance down.
    metric : Metric
        The metric.
    """

    inherits, most_pieces = False, 8

    def __init__(self, ranked: RankedDraws, metric: Metric) -> None:
        self.ranked, self.metric = ranked, metric
        self.n, self.n_draws = ranked.n, ranked.n_draws
        self.largest = largest_score(metric, self.n)
        self.proved = score_bound(metric, self.n)
        self.start = np.arange(self.n + 1)
        self.total = ranked.total
        self._mean_above = Trait.FACTORISED in metric.traits
        self._known: dict[int, tuple[float, float]] = {}
        self._close: set[int] = set()  # cuts that are known as well as can be
        self._zones: list[tuple[IndexArray, IndexArray, FloatArray]] = []
        # Whether rules are worth a try: where counts vary much, unless proofs fail.
        self._has_rules = float(self.total[1].max(initial=0.0)) >= _VARIED
        self._loose = min(_TOLERANCE, _OF_A_ROW / max(self.n, 1))

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
        narrow = _width(self.total) ** 2 <= _EVALUATIONS
        return rare and narrow and agreement_never_hurts(self.metric, self.n)

    def first_places(self, low: int, high: int) -> IndexArray:
        """Return the cuts to begin with, from `low` to `high`.

        Curves bend most near both ends of the ranking: there they are close together.
        """
        steps = int(np.log(max(self.n, 1.0)) / np.log(_GROWTH))
        half = np.minimum(_LEAST_CELL * _GROWTH ** np.arange(steps), self.n // 2)
        half = half.astype(np.intp)
        return np.unique(np.clip([*half, *(self.n - half), low, high], low, high))

    @cached_property
    def _groups(self) -> tuple[IndexArray, IndexArray]:
        """The draws in an order in which neighbours are alike, and where groups begin.

        They are sorted by TP in strips, and to and fro by FN in each, at the cut that
        is best if all counts are what is expected.
        """
        cuts = self.first_places(0, self.n)
        i, strips = int(np.argmax(self._about(cuts))), []
        (tp, _, _), (fn, _, _) = self.ranked.sums(cuts, 2)
        by_tp = np.array_split(np.argsort(tp[i], kind="stable"), _STRIPS)
        for turn, strip in enumerate(by_tp):
            strips.append(strip[np.argsort((-1) ** turn * fn[i, strip], kind="stable")])
        count = min(_GROUPS, self.n_draws)
        starts = np.linspace(0, self.n_draws, count + 1)[:-1].astype(np.intp)
        return np.concatenate(strips), starts

    def _about(self, cuts: IndexArray) -> FloatArray:
        """Return about what cuts are worth: as if counts were what is expected."""
        (tp, _, fp), (fn, _, tn) = self.ranked.sums(cuts, 2)
        with np.errstate(all="ignore"):
            score = self.metric.score_cells(tp, fp, fn, tn) + np.zeros_like(tp)
        about = self.metric.sign * score.mean(axis=1)
        return np.asarray(np.nan_to_num(about, nan=-np.inf))

    def bounds(self, first: IndexArray, last: IndexArray, enough: float) -> Bounds:
        """Bound the mean curve inside cells, by chords and by extremes."""
        order, groups = self._groups
        ends = [self.ranked.sums(cuts, 2)[:, :2, :, order] for cuts in (first, last)]
        above, below = np.stack(ends, axis=1)
        least, most = self.ranked.range_between(first, last)
        start, stop = (x.astype(np.float64)[:, None] for x in (first, last))
        cells = Cells(start, stop, above, below, least[:, order], most[:, order])
        about = self.metric, self.n, self.proved, self.total[:, order]
        bounds = bounds_inside(*about, cells, groups=groups)
        # Where a group is too wide for a bound its draws may not be, each by itself.
        height = (last - first) ** 2 * bounds.bend / 8
        pairs = zip(first.tolist(), last.tolist(), strict=True)
        known = np.array([a in self._known and b in self._known for a, b in pairs])
        wide = np.flatnonzero(known & (bounds.cap > enough) & ~(height < _USELESS))
        if wide.size and groups.size < self.n_draws:
            alone = bounds_inside(*about, cells.those(wide))
            for bound, other in zip(bounds, alone, strict=True):
                bound[wide] = other
        if not (self.ranked.is_ranked or tp_never_hurts(self.metric, self.n)):
            # Lemma 10 wants an order, or a metric that an order never hurts.
            bounds = bounds._replace(bend=np.full(first.size, np.inf))
        if self.by_extremes:
            highest = self.highest(first, last)
            bounds = bounds._replace(cap=np.fmin(bounds.cap, highest))
        return bounds

    def doubt(self, places: IndexArray) -> FloatArray:
        """Return 0: all probabilities are known."""
        return np.zeros(places.size)

    def plan_inside(self, first: IndexArray, last: IndexArray) -> None:
        """Find rules for all cuts inside some cells at once, if there are few."""
        if not self._zones:  # the first cells are too wide for rules
            self._zones.append((first[:0], last[:0], np.empty((4, 0, self.n_draws))))
        elif first.size <= _ZONES and self._has_rules:
            plan = self._plan(first, last, self._loose)
            whole = self._are_proved(plan).all(axis=1)
            self._zones.append((first[whole], last[whole], plan[:, whole]))

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
        for sums in self.ranked.sums(np.array([high]), 2)[:, :, 0]:
            from_sums = np.where(sums[1] >= LEAST_VARIANCE, sums[1], 0.0)
            error += float(error_of_sums(from_sums).max()) * self.largest
        return total / self.n_draws + error

    def value(self, cut: int) -> tuple[float, float]:
        """Return the expected score of a cut, and a bound on its error."""
        if cut not in self._close:
            self.evaluate_closely(np.array([cut]))
        return self._known[cut]

    def remember(self, cut: int, value: float, error: float) -> None:
        """Note the expected score of a cut that was found in another way."""
        self._known[cut] = value, error
        self._close.add(cut)

    def evaluate_first(self, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the same for the cuts to begin with, or nan where little is to expect.

        Of nothing and of everything it is told by what all likely labels are worth.
        """
        utility, error = np.full(places.size, np.nan), np.full(places.size, np.inf)
        ends = (places == 0) | (places == self.n)
        for i in np.flatnonzero(ends).tolist():
            utility[i], error[i] = self._at_end(int(places[i]))
        inner = np.flatnonzero(~ends)
        order = np.argsort(-self._about(places[inner]), kind="stable")
        best = np.sort(inner[order[:_AT_FIRST]])
        utility[best], error[best] = self.evaluate(places[best])
        return utility, error

    def _at_end(self, cut: int) -> tuple[float, float]:
        """Return the middle of what a cut of no or all instances is worth, and half."""
        mean, far = self.total[0], stray(self.total[1], _LOG_UNSEEN)
        low = max(np.floor(np.min(mean - far)), 0.0)
        high = min(np.ceil(np.max(mean + far)), float(self.n))
        positives = np.arange(low, high + 1.0)
        others, none = self.n - positives, 0.0 * positives
        if cut:
            score = self.metric.score_cells(positives, others, none, none)
        else:
            score = self.metric.score_cells(none, none, positives, others)
        least, most = float(np.min(score)), float(np.max(score))
        error = (most - least) / 2 + 2 * np.exp(_LOG_UNSEEN) * 2 * self.largest
        error += 64 * EPS * max(abs(least), abs(most))
        return self.metric.sign * (least + most) / 2, error

    def evaluate(self, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected utility at some cuts, with bounds on its error."""
        return self._look(places, self._loose)

    def evaluate_closely(self, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected utility at some cuts as well as can be."""
        found = self._look(places, _CLOSELY)
        self._close.update(places.tolist())
        return found

    def _look(
        self, cuts: IndexArray, tolerance: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return expected utilities of cuts, by rules of some tolerance."""
        new = np.array([c for c in cuts.tolist() if c not in self._close], np.intp)
        if new.size:
            if is_linear(self.metric):
                above, below = self.ranked.sums(new, 2)
                cells = (above[0], above[-1], below[0], below[-1])
                means = tuple(_mean(x) for x in cells)
                value, error = linear_value(self.metric, means)
            else:
                value, error = self._values(new, self._plan_for(new, tolerance))
            pairs = zip(value.tolist(), error.tolist(), strict=True)
            self._known.update(zip(new.tolist(), pairs, strict=True))
        found = np.array([self._known[cut] for cut in cuts.tolist()]).reshape(-1, 2)
        return self.metric.sign * found[:, 0], found[:, 1]

    def _plan_for(self, cuts: IndexArray, tolerance: float) -> FloatArray:
        """Return the rules that stand for both counts, at each cut and in each draw.

        In rows: the numbers of nodes above and below, 0 for a law, what these rules are
        wrong by, and how large their terms are. They are those of the cell around a
        cut, or proved at the cut.
        """
        plan = np.zeros((4, cuts.size, self.n_draws))
        left = np.full(cuts.size, self._has_rules)
        for first, last, zones in self._zones if tolerance == self._loose else ():
            i = np.searchsorted(first, cuts, side="right") - 1
            here = left & (i >= 0)
            here[here] = cuts[here] < last[i[here]]
            plan[:, here] = zones[:, i[here]]
            left &= ~here
        if left.any():
            found = self._plan(cuts[left], cuts[left], tolerance)
            proved = np.mean(self._are_proved(found).all(axis=1))
            if self.n <= _LAWS_ARE_QUICK and proved < _WORTH_PROVING:
                self._has_rules = False
            plan[:, left] = found
        return plan

    def _plan(
        self, first: IndexArray, last: IndexArray, tolerance: float
    ) -> FloatArray:
        """Return rules for all cuts from some to others.

        They are proved for groups of draws, and where that fails for a draw by itself,
        unless laws take less time than that.
        """
        order, starts = self._groups
        ends = np.stack([self.ranked.sums(cuts, 2) for cuts in (first, last)])
        least, most = ends.min(axis=0), ends.max(axis=0)
        low = np.minimum.reduceat(least[..., order], starts, axis=-1)
        high = np.maximum.reduceat(most[..., order], starts, axis=-1)
        found = self._proved(low.reshape(2, 3, -1), high.reshape(2, 3, -1), tolerance)
        size = np.diff(starts, append=self.n_draws)
        plan = np.empty((4, first.size, self.n_draws))
        each = found.reshape(4, first.size, starts.size)
        plan[..., order] = np.repeat(each, size, axis=-1)
        failed = ~self._are_proved(plan)
        if self.n_draws > starts.size:
            for i in np.flatnonzero(failed.any(axis=1)).tolist():
                failed[i] &= not _are_short(*most[:, :, i])
            if failed.any():
                one = least[:, :, failed], most[:, :, failed]
                plan[:, failed] = self._proved(*one, tolerance)
        return plan

    def _are_proved(self, plan: FloatArray) -> BoolArray:
        """Return where there are rules for both counts."""
        return np.asarray((plan[1] > 0) & ((plan[0] > 0) | self._mean_above))

    def _proved(
        self, least: FloatArray, most: FloatArray, tolerance: float
    ) -> FloatArray:
        """Return rules for counts that have sums of features in some ranges."""
        above, below = (
            SideRange(*((low[i], high[i]) for i in (0, -1, 1)))
            for low, high in zip(least, most, strict=True)
        )
        plan = plan_rules(
            _ROOTS.get(self.metric, self.metric),
            above,
            below,
            self.largest,
            tolerance,
            mean_above=self._mean_above,
        )
        return np.stack([*plan.nodes, plan.error, plan.size])

    def _values(
        self, cuts: IndexArray, plan: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return expected scores and errors; columns with the same rules together."""
        nodes, ruled = plan[:2].astype(np.intp), self._are_proved(plan)
        values, error = np.empty(ruled.shape), plan[2] + 64 * EPS * plan[3]
        for pair in _pairs(nodes[:, ruled]):
            at = np.nonzero(ruled & (nodes[0] == pair[0]) & (nodes[1] == pair[1]))
            sums = self.ranked.sums(cuts, max(5, *pair))[:, :-1]
            rules = [
                Rule(*rule_of_sums(x[:, *at], m)) if m else rule_of_mean(x[0][at])
                for x, m in zip(sums, pair, strict=True)
            ]
            places = cuts[at[0]].astype(np.float64)
            values[at], scale = expectation(
                self.metric, places, self.n, rules[0], rules[1]
            )
            error[at] += exact_error(0, self.n, scale, self.largest)
        by_laws = np.flatnonzero(~ruled.all(axis=1))
        varied = self.ranked.sums(cuts, 2)[:, 1, by_laws] >= LEAST_VARIANCE
        if varied.any():  # many features are wanted, of all these cuts
            self.ranked.sums(cuts[by_laws[varied.any(axis=(0, 2))]], ROOM)
        # From the end, so that laws grow from the nearest.
        for cut in cuts[by_laws[::-1]].tolist():
            if np.any(self._sums_of(cut, 2)[1, 1] < LEAST_VARIANCE):
                self.ranked.law(cut, below=True)
        for i in by_laws.tolist():
            for pair in _pairs(nodes[:, i, ~ruled[i]]):
                alike = (nodes[0, i] == pair[0]) & (nodes[1, i] == pair[1])
                some = np.flatnonzero(alike & ~ruled[i])
                values[i, some], more = self._with_laws(int(cuts[i]), pair, some)
                error[i, some] += more
        return _mean(values), error.mean(axis=1)

    def _sums_of(self, cut: int, count: int) -> FloatArray:
        """Return the sums above a cut and below it, in all draws."""
        return self.ranked.sums(np.array([cut]), count)[:, :, 0]

    def _with_laws(
        self, cut: int, nodes: tuple[int, int], draws: IndexArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return E f in some draws, and what laws and rounding are wrong by.

        A side with no nodes is taken value by value.
        """
        rules, width = [], 0
        error = np.zeros(draws.size)
        sizes = cut, self.n - cut
        for i, m in enumerate(nodes):
            sums = self._sums_of(cut, max(m, 5))[i][:, draws]
            if m:
                rules.append(Rule(*rule_of_sums(sums[:-1], m)))
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
        own = [_aligned(rule) for rule in rules]
        n_own = own[0].nodes.shape[0] * own[1].nodes.shape[0]
        in_table = all(rule.nodes.shape[1] == 1 for rule in rules)
        if in_table and n_pairs <= min(draws.size * n_own, _PAIRS):
            values, scale = self._from_table(cut, rules[0], rules[1])
        else:
            cuts = np.full(draws.size, float(cut))
            values, scale = expectation(self.metric, cuts, self.n, own[0], own[1])
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


def _mean(values: FloatArray) -> FloatArray:
    """Return means over the last axis; of draws that agree, what they agree on."""
    first = values[..., :1]
    return np.asarray(first[..., 0] + np.mean(values - first, axis=-1))


def _pairs(nodes: IndexArray) -> list[tuple[int, int]]:
    """Return the pairs of numbers of nodes that there are."""
    pairs = np.flatnonzero(np.bincount(nodes[0] << 8 | nodes[1]))
    return [divmod(pair, 1 << 8) for pair in pairs.tolist()]


def _are_short(above: FloatArray, below: FloatArray) -> bool:
    """Return whether the laws of both counts take less time than a proof for each."""
    widths = _width(above), _width(below)
    return max(widths) <= _WIDE and widths[0] * widths[1] <= _SHORT


def _width(sums: FloatArray) -> float:
    """Return about how many values the laws of a count have, of all draws together."""
    apart = float(sums[0].max() - sums[0].min())
    return apart + 16.0 * float(np.sqrt(sums[1].max())) + 16.0


def _aligned(rule: Rule) -> Rule:
    """Return the same rule with the nodes that each draw has by itself."""
    if rule.nodes.shape[1] > 1 or rule.weights.shape[1] == 1:
        return rule
    laws = AlignedLaws.of(DrawnLaw(0, rule.weights))
    at = laws.start + np.arange(laws.pmf.shape[1])[:, None]
    return Rule(rule.nodes[at, 0], laws.pmf.T)


def _narrowed(law: DrawnLaw, draws: IndexArray) -> tuple[FloatArray, FloatArray]:
    """Return the counts that some draws have at all, and their laws."""
    if draws.size == law.pmf.shape[1]:
        return law.counts, law.pmf
    pmf = law.pmf[:, draws]
    possible = np.flatnonzero(pmf.any(axis=1))
    here = slice(int(possible[0]), int(possible[-1]) + 1)
    return law.counts[here], pmf[here]
