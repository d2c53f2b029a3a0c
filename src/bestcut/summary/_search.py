"""Where the best cut can be, proved from sums over parts of the ranking.

The ranking is a `Table` of parts, from the most probable down: bins of a summary, or
runs of equal probabilities. At the edges between parts the expected score F is known.
Inside a part of N instances with mean probability m, replace each probability by m. The
expected score G(j) of a cut after j of them then has

    G(j+1) - G(j) = E[ m D1 f + (1-m) D0 f ],

where D1 f is what one more predicted positive changes if it is positive, D0 f if it is
not, both with the total of positives as it is. Its second difference is bounded by
those of f, so that G lies below the chord from G(0) to G(N) plus j (N-j)/2 times that.
And F differs from G by little: moving one probability by d changes an expected score by
d times the expected change of f when that one label flips (couple the two laws), so
what lies above the mean and what lies below it, sum |eta - m| / 2 each, can differ by
the span of these changes. Changes of f are bounded over boxes of counts, see
`bestcut.metrics._enclosure`; the chance to be outside a box by Bernstein's inequality.
What cannot reach the best edge is left out.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bestcut._validation import FloatArray
from bestcut.counts._moments import LEAST_VARIANCE, hermite_law, node_count
from bestcut.counts._side import NOBODY, ROOM, Side, SummedSide
from bestcut.counts._window import Law, convolved
from bestcut.curve._blocks import running_totals
from bestcut.curve._general import Rule, expectation, rule_of_law
from bestcut.metrics import Metric
from bestcut.metrics._enclosure import FIRST, SECOND, Box, Interval, enclosed, spread

_TOGETHER = 64  # edges whose scores are computed at once
_GROUPS, _SPLIT = 64, 16
_LAYERS = (1e-3, 1e-8, 1e-20, 1e-60)  # chance to be outside each box, one-sided
_TAILS = 8  # four cells, two ends each
_HUGE = 1e40  # what no metric exceeds where its counts are all but impossible
RARE = 300.0  # below this variance every total of positives has a box of its own
# What is known to be worth less than this, relative to the largest score, is left out.
_WORTHLESS = 1e-13
# What rules and sums may be wrong by; most metrics stay below 1e-14.
_NUMERICAL = 1e-12
_ROUNDING = 1.0 + 1e-9  # intervals are rounded to nearest, not outwards


class Table(Protocol):
    """Parts of the ranking in descending order; see `BinTable`."""

    n: int
    count: NDArray[np.int64]
    start: NDArray[np.int64]

    @property
    def mean(self) -> FloatArray:
        """Mean probability of each part."""

    @property
    def scatter(self) -> FloatArray:
        """Bound on the sum of squared distances from the mean."""

    @property
    def negatives(self) -> FloatArray:
        """Expected number of negatives."""

    @property
    def sums(self) -> FloatArray:
        """Sums of the features over each part, in rows."""

    def law(self, first: int, last: int) -> Law:
        """Return the law of the positives in parts `first` to `last` - 1."""

    def displacement(self) -> FloatArray:
        """Bound what the laws of each part are wrong by."""


class _Parts(NamedTuple):
    """Consecutive parts taken together: edges first[i] to last[i]."""

    first: NDArray[np.intp]
    last: NDArray[np.intp]
    size: FloatArray
    mean: FloatArray
    dispersion: FloatArray


class CutSearch:
    """The search for the best cut with `low` to `high` positives.

    `before` and `after` are what is above the table's parts in the ranking and below.

    Attributes
    ----------
    utility : dict of int to float
        Expected utility at the edges that were looked at.
    doubt, ceiling : dict of int to float
        What it may be wrong by there, numerical errors apart, and what it cannot
        exceed.
    lower, upper : float
        Proved bounds on the expected utility of the best allowed cut, after `run`.
    edges : list of int
        The edges that may be the best cut, if not inside or at the end of a part that
        `run` returns.
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
        self.smooth = metric.smooth
        self.sign = 1.0 if metric.greater_is_better else -1.0
        self.start = before.n + table.start
        self.n = before.n + table.n + after.n
        self.above, self.below = running_totals(
            np.concatenate([table.sums, table.negatives[None]]),
            np.append(before.sums(ROOM), before.negatives),
            np.append(after.sums(ROOM), after.negatives),
        )
        self.ends = before, after
        self._laws: tuple[dict[int, Law], dict[int, Law]] = {}, {}
        moved = np.concatenate([[0.0], np.cumsum(table.displacement())])
        self._moved = moved, moved[-1] - moved
        self.utility: dict[int, float] = {}
        self.doubt: dict[int, float] = {}
        self.ceiling: dict[int, float] = {}
        self.lower, self.upper, self._highest = -np.inf, np.inf, -np.inf
        self._allowed: list[int] = []
        self.edges: list[int] = [0] if low == 0 and before.n == 0 else []
        self.largest = 0.0

    def side(self, edge: int, *, below: bool) -> Side:
        """Return what is above an edge, or below it."""
        start = int(self.start[edge])
        sums = (self.below if below else self.above)[:, edge]
        return SummedSide(
            self.n - start if below else start,
            sums[:ROOM],
            float(sums[ROOM]),
            lambda: self._law(edge, below),
        )

    def knowing(self, table: Table) -> CutSearch:
        """Return the search with a table that knows more, and so has other laws."""
        out = copy(self)
        out.table, out._laws = table, ({}, {})
        return out

    @property
    def total_variance(self) -> float:
        """Variance of the number of positives in all."""
        return float(self.above[1, -1]) + self.ends[1].variance

    def is_exact(self, variance: float) -> bool:
        """Return whether a side of that variance is taken by its exact law."""
        return not self.smooth or variance < LEAST_VARIANCE

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

    def look(self, edges: NDArray[np.intp]) -> None:
        """Compute the expected utility at some edges."""
        new = np.array([e for e in edges.tolist() if e not in self.utility], dtype=int)
        above, below = (
            np.array([self.is_exact(float(v)) for v in sums[1, new]], dtype=np.bool_)
            for sums in (self.above, self.below)
        )
        either = above | below
        # From the ends, so that laws grow by a part at a time.
        singles = [[e] for e in new[either].tolist()]
        for e in new[below][::-1].tolist():
            self._law(e, below=True)
        smooth = new[~either]
        groups = [smooth[i : i + _TOGETHER] for i in range(0, smooth.size, _TOGETHER)]
        for group in [*singles, *(g.tolist() for g in groups)]:
            self._look_together(group)

    def _look_together(self, group: list[int]) -> None:
        cuts = self.start[group].astype(np.float64)
        rules = []
        for below, sums in ((False, self.above), (True, self.below)):
            if len(group) == 1 and self.is_exact(float(sums[1, group[0]])):
                rules.append(rule_of_law(self._law(group[0], below)))
            else:
                here = sums[:, group]
                nodes = node_count(float(here[1].min()))
                rules.append(Rule(*hermite_law(here, nodes)))
        values = self.sign * expectation(self.metric, cuts, self.n, rules[0], rules[1])
        self.utility |= dict(zip(group, values.tolist(), strict=True))
        self.largest = max(self.largest, float(np.abs(values).max()))

    def run(self) -> NDArray[np.intp]:
        """Return the parts that can hold the best cut, inside them or at their end."""
        parts = self.table.count.size
        if parts == 0:
            self.look(np.zeros(1, dtype=np.intp))
            self.doubt[0] = 0.0
            self.upper = self.utility[0]
            self.lower = self.upper + self.error()  # which is taken off again
        if parts == 0 or (not self.smooth and self.total_variance >= RARE):
            return np.arange(parts)  # nothing is known between whole counts
        groups = self._grouped(np.zeros(1, int), np.full(1, parts), _GROUPS)
        while True:
            self.look(np.unique([groups.first, groups.last]))
            reach = self.reach(groups)
            self._settle()
            kept = (reach > self.lower + self.left_out()) & self._is_inside(groups)
            several = kept & (groups.last - groups.first > 1)
            if not several.any() or _SPLIT * np.count_nonzero(several) > self._most():
                break  # nothing to split, or the bounds leave too much
            groups = self._grouped(groups.first[kept], groups.last[kept], _SPLIT)
        self.upper = self.error() + max(
            float(np.max(reach[kept], initial=-np.inf)), self._highest
        )
        doubtful = [edge - 1 for edge in self._doubtful() if edge > 0]
        pairs = zip(
            groups.first[kept].tolist(), groups.last[kept].tolist(), strict=True
        )
        inside = [part for first, last in pairs for part in range(first, last)]
        return np.union1d(np.array(inside, dtype=np.intp), np.array(doubtful, np.intp))

    def _most(self) -> int:
        """Return how many groups are worth bounding at once."""
        return 512 if self.total_variance < RARE else 8192

    def _settle(self) -> None:
        """Find the best of the allowed edges, with what it may be wrong by."""
        start = self.start
        self._allowed = allowed = [
            edge for edge in self.utility if self.low <= start[edge] <= self.high
        ]
        if allowed:
            self.lower = max(self.utility[e] - self.doubt[e] for e in allowed)
            self._highest = max(self.ceiling[e] for e in allowed)
            likely = max(allowed, key=lambda e: (self.utility[e], -e))
            surely = max(allowed, key=lambda e: (self.utility[e] - self.doubt[e], -e))
            none = [e for e in self._doubtful() if e == 0]
            self.edges = sorted({likely, surely, *none})

    def _doubtful(self) -> list[int]:
        """Return the edges whose utility is not known well enough to leave them out."""
        return [
            e
            for e in self._allowed
            if self.doubt[e] > 0 and self.ceiling[e] > self.lower
        ]

    def _is_inside(self, groups: _Parts) -> NDArray[np.bool_]:
        """Return which groups have cuts inside them that are allowed."""
        start = self.start
        return (start[groups.last] - 1 >= self.low) & (
            start[groups.first] + 1 <= self.high
        )

    def left_out(self) -> float:
        """Bound what a cut that was left out may be better by."""
        return _WORTHLESS * self.largest + 1e-18 * self._scale

    @cached_property
    def _scale(self) -> float:
        """A large score: of the right prediction, if as many are positive as expected.

        Where everything is all but certain, all scores that occur may be 0.
        """
        expected = self.above[0, -1] + self.ends[1].positives
        positives = float(np.clip(np.rint(expected), 1.0, max(self.n - 1.0, 1.0)))
        score = self.metric.score(positives, positives, positives, float(self.n))
        return float(np.abs(score))

    def error(self) -> float:
        """Bound the numerical error of the utilities."""
        return _NUMERICAL * self.largest + 1e-14 * self._scale

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
    ) -> _Parts:
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

    def _together(self, first: NDArray[np.intp], last: NDArray[np.intp]) -> _Parts:
        table = self.table
        size = (table.start[last] - table.start[first]).astype(np.float64)
        counts = table.count.astype(np.float64)
        weighted = np.concatenate([[0.0], np.cumsum(counts * table.mean)])
        mean = (weighted[last] - weighted[first]) / size
        single = last - first == 1
        mean[single] = table.mean[first[single]]
        scatter = np.empty(first.size)
        for i, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            if single[i]:
                scatter[i] = table.scatter[a]
            else:
                apart = table.mean[a:b] - mean[i]
                scatter[i] = table.scatter[a:b].sum() + counts[a:b] @ apart**2
        dispersion = np.minimum(np.sqrt(size * scatter), 2 * size * mean * (1 - mean))
        return _Parts(first, last, size, mean, dispersion)

    def reach(self, parts: _Parts) -> FloatArray:
        """Return a bound on the expected utility of the cuts inside each part."""
        bounds = _Changes(self, parts)
        m, size, half = parts.mean, parts.size, parts.dispersion / 2
        bend = (
            _times(m**2, bounds.size["11"])
            + _times(2 * m * (1 - m), bounds.size["01"])
            + _times((1 - m) ** 2, bounds.size["00"])
        )
        (a_lo, a_hi), (b_lo, b_hi) = bounds.ends["a"], bounds.ends["b"]
        largest = np.maximum.reduce([abs(a_lo), abs(a_hi), abs(b_lo), abs(b_hi)])
        wrong = _times(self._displaced(parts), largest)
        for edges in (parts.first.tolist(), parts.last.tolist()):
            bounds_here = zip(edges, wrong.tolist(), bounds.cap.tolist(), strict=True)
            for edge, doubt, cap in bounds_here:
                self.doubt[edge] = min(doubt, self.doubt.get(edge, np.inf))
                high = self.utility[edge] + self.doubt[edge]
                if self.doubt[edge] > 0:
                    high = min(high, cap, self.ceiling.get(edge, np.inf))
                self.ceiling[edge] = high
        with np.errstate(invalid="ignore", over="ignore"):
            left, right = (
                np.array([self.utility[e] for e in edges.tolist()])
                + _times(half, hi - lo)
                for edges, lo, hi in (
                    (parts.first, b_lo, b_hi),
                    (parts.last, a_lo, a_hi),
                )
            )
            span = np.maximum(a_hi, b_hi) - np.minimum(a_lo, b_lo)
            rise = _times(size**2, bend)
            # The largest of a chord and a parabola that vanishes at its ends.
            tilt = np.abs(right - left)
            inner = (
                (left + right) / 2 + rise / 8 + tilt**2 / np.maximum(2 * rise, 1e-300)
            )
            top = np.where(tilt < rise / 2, inner, np.maximum(left, right))
            top = top + _times(half, span) + wrong
        top = np.fmin(np.where(np.isnan(top), np.inf, top), bounds.cap)
        return np.where(size > 1, top, -np.inf)

    def _displaced(self, parts: _Parts) -> FloatArray:
        """Bound how far the probabilities are moved that the laws at edges stand for.

        Sums are those of the probabilities themselves; only exact laws are not.
        """
        total = np.zeros(parts.size.size)
        for moved, sums, edges in (
            (self._moved[0], self.above, parts.last),
            (self._moved[1], self.below, parts.first),
        ):
            exact = [self.is_exact(float(v)) for v in sums[1, edges]]
            total += np.where(exact, moved[edges], 0.0)
        return total


def _times(x: FloatArray, y: FloatArray) -> FloatArray:
    """Multiply, 0 times infinity being 0."""
    return np.where(x == 0.0, 0.0, x * np.where(x == 0.0, 1.0, y))


def _radius(variance: FloatArray, tail: FloatArray) -> FloatArray:
    """Return how far a count strays with that probability at most (Bernstein)."""
    log = -np.log(tail)
    out: FloatArray = log / 3 + np.sqrt(log * log / 9 + 2 * variance * log)
    return out


class _Changes:
    """Bounds on the expected changes of the utility inside parts.

    `ends` has the least and the largest expected slope in each direction; `size` the
    largest expected absolute second derivative; `cap` the largest expected utility.
    """

    def __init__(self, search: CutSearch, parts: _Parts) -> None:
        above, below = search.above, search.below
        self.search, self.count = search, parts.size.size
        self.n = float(search.n)
        spread_out = parts.size * parts.mean * (1 - parts.mean)
        self.n_pred = (
            search.start[parts.first].astype(np.float64),
            search.start[parts.last].astype(np.float64),
        )
        self.tp_mean = above[0, parts.first], above[0, parts.last]
        self.tp_variance = (
            above[1, parts.first],
            above[1, parts.first] + spread_out,
        )
        self.fn_mean = below[0, parts.first], below[0, parts.last]
        self.fn_variance = (
            below[1, parts.last] + spread_out,
            below[1, parts.last],
        )
        added = above[1, parts.last] - above[1, parts.first]
        self.mean = float(above[0, -1]) + search.ends[1].positives
        variance = search.total_variance
        self.variance = variance + np.maximum(spread_out - added, 0.0)
        self.dispersion = parts.dispersion
        self.ends: dict[str, tuple[FloatArray, FloatArray]] = {}
        self.size: dict[str, FloatArray] = {}
        if variance < RARE:
            self._by_strata()
        else:
            self._by_layers()

    def _box(self, tail: FloatArray, n_pos: Interval) -> Box:
        """Return where the counts are, but for the tails."""
        (k0, k1), n = self.n_pred, self.n
        (below_0, below_1), (v_0, v_1) = self.fn_mean, self.fn_variance
        tp = _window(*self.tp_mean, *self.tp_variance, tail, k1)
        fp = _window(
            k0 - self.tp_mean[0], k1 - self.tp_mean[1], *self.tp_variance, tail, k1
        )
        fn = _window(below_1, below_0, v_1, v_0, tail, n - k0)
        tn = _window(n - k1 - below_1, n - k0 - below_0, v_1, v_0, tail, n - k0)
        return Box(tp, Interval(k0, k1), n_pos, fp, fn, tn)

    def _bounds(
        self, box: Box, shape: tuple[int, ...]
    ) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Return bounds on the utility (key "") and its derivatives over boxes."""
        search = self.search
        found = enclosed(search.metric, box, self.n)
        nothing = np.full(shape, -np.inf), np.full(shape, np.inf)
        if found is None:
            return dict.fromkeys(("", *FIRST, *SECOND), nothing)
        out = {"": spread(found.value, shape)}
        for name in (*FIRST, *SECOND):
            out[name] = spread(found.slope(name), shape)
        if search.sign < 0:
            out = {name: (-hi, -lo) for name, (lo, hi) in out.items()}
        return out

    def _by_layers(self) -> None:
        """Take ever larger boxes, each as often as the one before is left."""
        tails = np.array(_LAYERS)[:, None]
        radius = _radius(self.variance, tails)
        n_pos = Interval(
            np.maximum(self.mean - radius - 1.0, 0.0),
            np.minimum(self.mean + radius + 1.0, self.n),
        )
        found = self._bounds(self._box(tails, n_pos), (tails.size, self.count))
        outside = np.concatenate([[1.0], _TAILS * np.array(_LAYERS[:-1])])
        rest = _TAILS * _LAYERS[-1] * _HUGE
        for name in ("a", "b", *SECOND):
            lo, hi = found[name]
            most = _weighted(outside * _ROUNDING, np.maximum(np.abs(lo), np.abs(hi)))
            with np.errstate(invalid="ignore"):  # no bound stays no bound
                beyond = most - np.maximum(np.abs(lo[0]), np.abs(hi[0])) + rest
                self.ends[name] = lo[0] - beyond, hi[0] + beyond
            self.size[name] = most + rest
        high = found[""][1]
        beyond = np.maximum(*map(np.abs, found[""]))[1:]
        self.cap = high[0] + _weighted(outside[1:] * _ROUNDING, beyond) + rest

    def _stratum(self, low: FloatArray, high: FloatArray) -> Box:
        """Return where the counts are if there are `low` to `high` positives."""
        box = self._box(np.array(_LAYERS[-1]), Interval(low, high))
        (k0, k1), n = self.n_pred, self.n
        tp_hi = np.minimum(box.tp.hi, high)
        tp = Interval(np.minimum(box.tp.lo, tp_hi), tp_hi)
        fn_hi = np.minimum(box.fn.hi, high - np.minimum(tp.lo, high))
        fn = Interval(np.minimum(np.maximum(low - tp.hi, box.fn.lo), fn_hi), fn_hi)
        fp = Interval(np.maximum(k0 - tp.hi, 0.0), np.maximum(k1 - tp.lo, 0.0))
        tn = Interval(np.maximum(n - k1 - fn.hi, 0.0), np.maximum(n - k0 - fn.lo, 0.0))
        return Box(tp, box.n_pred, box.n_pos, fp, fn, tn)

    def _by_strata(self) -> None:
        """Take a box for every total of positives, as often as it occurs."""
        search = self.search
        law = convolved(
            search._law(search.table.count.size, below=False), search.ends[1].law
        )
        totals = np.arange(
            max(law.start - 1, 0), law.start + law.pmf.size + 1, dtype=np.float64
        )
        chance = np.zeros(totals.size + 1)
        at = law.start - int(totals[0])
        chance[at : at + law.pmf.size] = law.pmf
        shape = (totals.size, self.count)
        column = totals[:, None]
        here = self._bounds(self._stratum(column, column), shape)
        after = np.minimum(column + 1.0, self.n)
        flips = self._bounds(self._stratum(column, after), shape)
        moved = np.minimum(search._moved[0][-1] + self.dispersion, 1.0)
        tail = _TAILS * _LAYERS[-1] * _HUGE
        for name in SECOND:
            most = np.maximum(*map(np.abs, here[name])) * _ROUNDING
            certain = _weighted(chance[: totals.size], most)
            self.size[name] = certain + _times(moved, most.max(axis=0)) + tail
        low, high = here[""]
        most = _times(moved, np.maximum(np.abs(low), np.abs(high)).max(axis=0))
        self.cap = _weighted(chance[: totals.size], high) + most + tail
        jump = np.empty(shape)
        jump[:-1] = np.maximum(high[:-1], high[1:]) - np.minimum(low[:-1], low[1:])
        jump[-1] = high[-1] - low[-1]
        # Without one instance of the part, a total is at most twice as likely.
        weight = 2.0 * np.maximum(chance[:-1], chance[1:])
        for name in ("a", "b"):
            most = np.minimum(np.maximum(*map(np.abs, flips[name])), jump) * _ROUNDING
            bound = _weighted(weight, most) + _times(moved, most.max(axis=0)) + tail
            self.ends[name] = -bound, bound


def _window(
    mean_0: FloatArray,
    mean_1: FloatArray,
    variance_0: FloatArray,
    variance_1: FloatArray,
    tail: FloatArray,
    most: FloatArray,
) -> Interval:
    """Return where counts from the smallest to the largest of a part can be."""
    low = mean_0 - _radius(variance_0, tail) - 2.0
    high = mean_1 + _radius(variance_1, tail) + 2.0
    return Interval(np.maximum(low, 0.0), np.minimum(high, most))


def _weighted(weight: FloatArray, values: FloatArray) -> FloatArray:
    """Sum over the first axis; what never happens costs nothing."""
    out: FloatArray = _times(weight[:, None], values).sum(axis=0)
    return out
