"""What columns are worth, and a bound on what any assignment could be worth.

For prices l_i of the rows every assignment is worth at most

    sum over rows (high_i max(l_i, 0) + low_i min(l_i, 0))
      + sum over columns of the largest F_j(S) - sum over S of l_i        (Lemma 19)

over all sets S of entries of a column. Three kinds of metrics bound the latter:

`CONCAVE`: F_j(S) is below the mean of tangent planes, a sum over the entries of S.

`CONVEX_SLOPE`: for each size k of S the best S is known, the k largest of
w_i(k) - l_i. Sizes are tried near the one that was chosen, and farther and farther
apart; between two of them a chord is above (Lemma 21).

Others: of all sets of k entries that of the largest probabilities scores best, and none
costs less than the k lowest prices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray
from bestcut.assignment._column_laws import CLOSE, ColumnLaws, Series, power_sums
from bestcut.assignment._sizes import AtSize, Sizes, Weighing
from bestcut.curve import curve_of
from bestcut.metrics import (
    Metric,
    Trait,
    affine_parts,
    is_affine,
    is_concave,
)
from bestcut.scores import Prediction

_CERTAIN = 40.0  # exp(-40) is less than rounding
_STEP = 2.0  # from the chosen size to the next
_FARTHER = 3.0  # by what the steps away from the chosen size grow
_CLOSE = 2e-7  # of a score: values that are closer need not be told apart


class ColumnValues(NamedTuple):
    """The expected scores of columns, and what they may be wrong by."""

    score: FloatArray
    error: FloatArray


class _Line(NamedTuple):
    """A bound on columns: const + each |S| + sum of weights over S."""

    const: FloatArray
    each: FloatArray
    weights: FloatArray
    error: FloatArray


class ScoredColumns:
    """Some columns with the entries that are taken.

    Parameters
    ----------
    labels : ndarray of bool, shape (columns, entries)
        Which entries are taken.
    metric : Metric
        The metric.
    laws : ColumnLaws
        The distributions of their numbers of positives.
    """

    def __init__(self, labels: BoolArray, metric: Metric, laws: ColumnLaws) -> None:
        self.group, self.labels, self.metric = laws.group, labels, metric
        self.laws, self.n = laws, laws.n
        group = self.group
        self.size = np.count_nonzero(labels, axis=1).astype(np.float64)
        self._has_base = True
        self._powers = np.empty((0, self.size.size))
        self.hits = np.einsum("cm,cm->c", labels, group.p)

    # --- what they are worth ---------------------------------------------------------

    def values(self) -> ColumnValues:
        """Return the expected score of each column."""
        if Trait.COVERAGE in self.metric.traits:
            score = -np.expm1(-self._exponent())
            return ColumnValues(score, (self.group.p.shape[1] + 8) * EPS + 0.0 * score)
        if is_affine(self.metric):
            return self._value_at(self.size)
        found = [self._moments(c) for c in range(self.size.size)]
        return ColumnValues(*(np.array(x) for x in zip(*found, strict=True)))

    def _exponent(self) -> FloatArray:
        """Return minus the logarithm of the chance that no entry taken is positive."""
        return np.asarray((self.labels * exponents(self.group.p)).sum(axis=1))

    def _moments(self, c: int) -> tuple[float, float]:
        size = int(self.group.sizes[c])
        p, labels = self.group.p[c, :size], self.labels[c, :size]
        others = np.concatenate([p[~labels], np.zeros(self.n - size)])
        every = np.concatenate([p[labels], others])
        found = Prediction.of_cut(every, int(np.count_nonzero(labels))).moments(
            self.metric
        )
        return found.mean, found.error

    def has_planes(self) -> bool:
        """Return whether tangent planes bound the scores."""
        return is_concave(self.metric) or Trait.COVERAGE in self.metric.traits

    def worths(self) -> FloatArray | None:
        """Return what each entry is worth in utility, at the margin of its column.

        None for a metric that is neither affine nor concave.
        """
        sign = self.metric.sign
        if self.has_planes():
            plane = self._plane()
            return np.asarray(sign * (plane.weights + plane.each[:, None]))
        if not is_affine(self.metric):
            return None
        last = max(self.n - 1.0, 1.0)
        before, inside, after = (
            np.clip(self.size + x, 1.0, last) for x in (-1.0, 0.0, 1.0)
        )
        change = self._value_at(after).score - self._value_at(before).score
        each = change / np.maximum(after - before, 1.0)
        worth = self._line(inside).weights
        worth += each[:, None]
        worth *= sign
        return worth

    def _value_at(self, size: FloatArray) -> ColumnValues:
        """Return what the entries taken would score, were they so many."""
        const, error, series = self._weighing(size, CLOSE)
        if isinstance(series, Series):
            powers = self._power_sums(series.terms.shape[0])
            return ColumnValues(const + series.sum(powers), error + series.error)
        score = const + np.einsum("cm,cm->c", self.labels, series.of_entries)
        return ColumnValues(score, error + series.error)

    def _power_sums(self, count: int) -> FloatArray:
        """Return the sums of p, p², ... over the entries taken in each column."""
        if self._powers.shape[0] < count:
            self._powers = power_sums(self.group.p, self.labels, count)
        return self._powers[:count]

    def _line(self, size: FloatArray, close: float = CLOSE) -> _Line:
        """Return the score of sets of some size, of an affine metric."""
        const, error, series = self._weighing(size, close)
        if isinstance(series, Series):
            weights = series.at(self.group.p)
        else:
            weights = series.of_entries
        return _Line(const, np.zeros(size.size), weights, error + series.error)

    def _weighing(self, size: FloatArray, close: float) -> Weighing:
        """Return what sets of some sizes are worth, of an affine metric."""
        assert is_affine(self.metric)
        s = self.laws.arguments()
        base, slope = affine_parts(self.metric, size[:, None], s, float(self.n))
        const, error = self.laws.mean_of(base[:, : self.laws.pmf.shape[1]])
        return Weighing(const, error, self.laws.series(slope, close))

    def _plane(self) -> _Line:
        """Return the mean of tangent planes, of a concave metric."""
        if not is_concave(self.metric):
            return self._plane_of_coverage()
        n = float(self.n)
        s = self.laws.arguments()
        k = np.clip(self.size, 0.5, max(n - 0.5, 0.5))[:, None]
        low, high = np.maximum(k + s - n, 0.0), np.minimum(k, s)
        share = self.hits / np.maximum(self.laws.mean, 1e-300)
        inside = np.clip(
            share[:, None] * s, 0.98 * low + 0.02 * high, 0.02 * low + 0.98 * high
        )
        value, by_tp, by_size = np.broadcast_arrays(
            *self.metric.tangent(inside, k, s, n)
        )
        width = self.laws.pmf.shape[1]
        rest = (value - by_tp * inside - by_size * k)[:, :width]
        const, error = self.laws.mean_of(rest)
        each, rounds = self.laws.mean_of(by_size[:, :width])
        weights = self.laws.weights(by_tp)
        error = error + rounds * self.group.p.shape[1] + weights.error
        return _Line(const, each, weights.of_entries, error)

    def _plane_of_coverage(self) -> _Line:
        """Return the tangent of 1 - exp(-Y), where Y is a sum over entries taken."""
        total = self._exponent()
        slope = np.exp(-total)
        weights = slope[:, None] * exponents(self.group.p)
        error = (weights.shape[1] + 8) * EPS * (1.0 + weights.sum(axis=1))
        const = 1.0 - slope * (1.0 + total)
        return _Line(const, np.zeros(total.size), weights, error)

    # --- what they could be worth ----------------------------------------------------

    def bounds(
        self, prices: FloatArray, share: FloatArray, extra: float
    ) -> tuple[FloatArray, Callable[[], BoolArray]]:
        """Bound what any entries of each column are worth less their prices.

        Returned with a way to the entries that are worth most, or about that.

        Parameters
        ----------
        prices : ndarray of float, shape (columns, entries)
            The prices of the entries' rows; inf for padding.
        share : ndarray of float, shape (columns,)
            What a unit of each column's score is worth.
        extra : float
            What each expected hit is worth besides.
        """
        cost = prices - extra * self.group.p
        if not cost.shape[1]:
            value = self.values()
            alone = self.metric.sign * value.score + value.error
            return share * alone, lambda: self.labels
        if self.has_planes():
            return self._by_plane(cost, share)
        convex = Trait.CONVEX_SLOPE in self.metric.traits and self.metric.sign > 0
        if convex:
            return self._by_sizes(cost, share)
        return self._by_ranking(cost, share)

    def _by_plane(
        self, cost: FloatArray, share: FloatArray
    ) -> tuple[FloatArray, Callable[[], BoolArray]]:
        plane = self._plane()
        sign = self.metric.sign
        worth = sign * share[:, None] * (plane.weights + plane.each[:, None]) - cost
        top = np.maximum(worth, 0.0).sum(axis=1)
        total = sign * share * plane.const + top
        total += share * plane.error + _rounding(cost, total)
        return total, lambda: worth > 0.0

    def _by_sizes(
        self, cost: FloatArray, share: FloatArray
    ) -> tuple[FloatArray, Callable[[], BoolArray]]:
        """Bound by sizes: two at the ends, and others around the chosen one."""
        ends = self._at_ends(cost, share)
        assert is_affine(self.metric)
        self._has_base = any(
            np.any(affine_parts(self.metric, k, self.laws.counts, float(self.n))[0])
            for k in (1.0, 2.0, self.n / 3)
        )
        fall = self._slopes_fall()
        finder = Sizes(self.group.p, cost, share, self._weighing)
        first = np.minimum(1, self.group.sizes).astype(np.float64)
        last = np.minimum(self.group.sizes, max(self.n - 1, 1)).astype(np.float64)
        middle = np.clip(self.size, first, last)
        most = np.full(share.size, np.inf)
        if fall and not self._has_base:
            # At a price of at most 0 no larger set is worth more (Lemma 21).
            enough = np.maximum(finder.worthwhile(middle), middle) + 1.0
            most[enough < last] = 0.0
            last = np.minimum(last, enough)
        sizes = self._sizes_around(middle, first, last)
        at_middle, around = finder.around(middle, sizes, fall, most)
        best = at_middle
        # Pairs of sizes between which sets are yet to be bounded.
        pairs: list[tuple[AtSize, AtSize]] = []
        before = after = at_middle
        for low, high in around:
            for here in (low, high):
                best = here.where(here.value > best.value, best)
            pairs += [(low, before), (after, high)]
            before, after = low, high
        closed = np.maximum(ends[0], at_middle.value)
        enough = np.maximum(closed, best.value) + _CLOSE * share
        while pairs:
            left, right = pairs.pop()
            bound = self._between(left, right, share)
            half = np.floor((left.size + right.size) / 2)
            open_yet = (bound > enough) & (half > left.size)
            closed = np.maximum(closed, np.where(open_yet, -np.inf, bound))
            if np.any(open_yet):
                here = finder.at(half, open_yet).where(open_yet, left)
                best = here.where(here.value > best.value, best)
                enough = np.maximum(enough, here.value)
                pairs += [(left, here), (here, right)]
        size = np.where(ends[0] > best.value, ends[1], best.size)
        return closed, lambda: finder.best_set(size)

    def _sizes_around(
        self, middle: FloatArray, first: FloatArray, last: FloatArray
    ) -> list[tuple[FloatArray, FloatArray]]:
        """Return sizes below and above some, farther and farther away."""
        below, above = middle - first, last - middle
        reach = max(float(below.max()), float(above.max()), _STEP)
        steps = int(np.ceil(np.log(reach / _STEP) / np.log(_FARTHER))) + 1
        out: list[tuple[FloatArray, FloatArray]] = []
        before = after = middle
        while np.any(before > first) or np.any(after < last):
            part = min((len(out) + 1) / steps, 1.0)
            low, high = (
                np.floor(_STEP * (np.maximum(side, _STEP) / _STEP) ** part)
                for side in (below, above)
            )
            low = self._turned(np.maximum(middle - low, first), before)
            high = self._turned(np.minimum(middle + high, last), after)
            out.append((low, high))
            before, after = low, high
        return out

    def _slopes_fall(self) -> bool:
        """Return whether slopes never rise with the size: convex ones, by their end."""
        assert is_affine(self.metric)
        n = float(self.n)
        if n < 3.0:
            return False
        before, end = (
            affine_parts(self.metric, k, self.laws.arguments(), n)[1]
            for k in (n - 2.0, n - 1.0)
        )
        return bool(np.all(end <= before))

    def _turned(self, size: FloatArray, last: FloatArray) -> FloatArray:
        """Return sizes that do not pass n/4, where curves may turn, with one step."""
        if not self._has_base:
            return size
        for turn in (np.floor(self.n / 4), np.ceil(self.n / 4)):
            size = np.where((last < turn) & (size > turn), turn, size)
        for turn in (np.ceil(self.n / 4), np.floor(self.n / 4)):
            size = np.where((last > turn) & (size < turn), turn, size)
        return size

    def _at_ends(
        self, cost: FloatArray, share: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what it is worth to take nothing or everything, and which is best."""
        nothing = self._weighing(np.zeros(self.size.size), CLOSE)
        best = share * (nothing.base + nothing.error)
        size = np.zeros(best.size)
        whole = self.group.sizes == self.n
        if np.any(whole):
            full = self._weighing(np.full(self.size.size, float(self.n)), CLOSE)
            if isinstance(full.entries, Series):
                powers = self.laws.power_sums()[: full.entries.terms.shape[0]]
                everything = full.entries.sum(powers)
            else:
                everything = full.entries.of_entries.sum(axis=1)
            everything += full.base + full.error + full.entries.error
            paid = np.where(
                whole, np.where(np.isfinite(cost), cost, 0.0).sum(axis=1), 0.0
            )
            everything = share * everything - paid
            size[whole & (everything > best)] = self.n
            best = np.where(whole, np.maximum(best, everything), best)
        return best + _rounding(cost, best), size

    def _between(self, left: AtSize, right: AtSize, share: FloatArray) -> FloatArray:
        """Bound the sets of sizes from one to another (Lemma 21)."""
        bend = np.maximum(left.price - right.price, 0.0)
        bend = bend + share * self._bend_of_base(left, right)
        length = right.size - left.size
        bend = np.where(length > 1.0, bend * length, 0.0)  # nothing is between
        # The largest of (1 - t) left + t right + t (1 - t) bend, for t from 0 to 1.
        apart = np.abs(right.value - left.value)
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = (bend - apart) ** 2 / (4 * bend)
        return np.maximum(left.value, right.value) + np.where(bend > apart, rise, 0.0)

    def _bend_of_base(self, left: AtSize, right: AtSize) -> FloatArray:
        """Return how much the slopes of the bases fall, in the mean over S."""
        metric, n = self.metric, float(self.n)
        assert is_affine(metric)
        if not self._has_base:
            return np.zeros(left.size.size)
        s = self.laws.counts
        ends = []
        for size, step in ((left.size, 1.0), (right.size, -1.0)):
            # Sizes next to each other have none between them, and may have no others.
            beside = np.clip(size + step, 0.0, n)
            here, there = (
                affine_parts(metric, x[:, None], s, n)[0] for x in (size, beside)
            )
            ends.append((there - here) * step)
        falls = np.maximum(ends[0] - ends[1], 0.0)
        return self.laws.mean_of(falls)[0]

    def _by_ranking(
        self, cost: FloatArray, share: FloatArray
    ) -> tuple[FloatArray, Callable[[], BoolArray]]:
        out = np.empty(self.size.size)
        for c, size in enumerate(self.group.sizes.tolist()):
            p = np.sort(self.group.p[c, :size])[::-1]
            eta = np.concatenate([p, np.zeros(self.n - size)])
            value, error = curve_of(eta, self.metric).whole()
            utility = share[c] * (self.metric.sign * value + error)[: size + 1]
            paid = np.concatenate([[0.0], np.cumsum(np.sort(cost[c, :size]))])
            out[c] = np.max(utility - paid)
        return out + _rounding(cost, out), lambda: self.labels


def exponents(p: FloatArray) -> FloatArray:
    """Return -log(1 - p), at most 40: such an entry is as good as certain."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(-np.log1p(-p), _CERTAIN))


def _rounding(cost: FloatArray, total: FloatArray) -> FloatArray:
    """Bound the rounding of a sum over a column."""
    return np.asarray(4 * EPS * (_paid(cost) + np.abs(total)) + 1e-300)


def _paid(cost: FloatArray) -> FloatArray:
    """Return the sum of all sizes of prices, padding apart."""
    size = np.abs(cost)
    size[np.isinf(size)] = 0.0
    return np.asarray(size.sum(axis=1))
