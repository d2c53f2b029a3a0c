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

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.curve import curve_of
from bestcut.many._column_laws import CLOSE, ColumnLaws
from bestcut.metrics import (
    Metric,
    Trait,
    affine_parts,
    is_affine,
    is_concave,
)
from bestcut.scores import Prediction

_CERTAIN = 40.0  # exp(-40) is less than rounding
_FARTHER = 3.0  # by what steps away from the chosen size grow
_CLOSE = 2e-7  # of a score: what need not be told apart
_SORTED = 4096  # entries that are sorted at every size
_ABOUT = 1e-10  # of a score: what its weights may leave out at sizes that are tried
_NEAR = 16  # so many times fewer than there are entries: sizes with about one ranking
_REACH = 16  # neighbours in a ranking whose median is taken
_SAMPLE = 2048  # entries by which a price far from the chosen size is found


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
        self.hits = np.einsum("cm,cm->c", labels, group.p)

    # --- what they are worth ---------------------------------------------------------

    def values(self) -> ColumnValues:
        """Return the expected score of each column."""
        if Trait.COVERAGE in self.metric.traits:
            score = -np.expm1(-self._exponent())
            return ColumnValues(score, (self.group.p.shape[1] + 8) * EPS + 0.0 * score)
        if is_affine(self.metric):
            line = self._line(self.size)
            score = line.const + np.einsum("cm,cm->c", self.labels, line.weights)
            return ColumnValues(score, line.error)
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
        inside = np.clip(self.size, 1.0, max(self.n - 1.0, 1.0))
        line = self._line(inside)
        after, before = (
            self._line(np.clip(inside + x, 1.0, max(self.n - 1.0, 1.0)))
            for x in (1.0, -1.0)
        )
        change = np.einsum("cm,cm->c", self.labels, after.weights - before.weights)
        change += after.const - before.const
        apart = np.clip(inside + 1, 1, max(self.n - 1.0, 1.0)) - np.clip(
            inside - 1, 1, max(self.n - 1.0, 1.0)
        )
        each = change / np.maximum(apart, 1.0)
        return np.asarray(sign * (line.weights + each[:, None]))

    def _line(self, size: FloatArray, close: float = CLOSE) -> _Line:
        """Return the score of sets of some size, of an affine metric."""
        assert is_affine(self.metric)
        s = self.laws.arguments()
        base, slope = affine_parts(self.metric, size[:, None], s, float(self.n))
        const, error = self.laws.mean_of(base[:, : self.laws.pmf.shape[1]])
        weights = self.laws.weights(slope, close)
        return _Line(
            const, np.zeros(size.size), weights.of_entries, error + weights.error
        )

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
        first = np.minimum(1, self.group.sizes).astype(np.float64)
        last = np.minimum(self.group.sizes, max(self.n - 1, 1)).astype(np.float64)
        middle = np.clip(self.size, first, last)
        falling = not self._has_base and self._slopes_fall()
        finder = _Sizes(self, cost, share)
        finder.rank(middle)
        at_middle = finder.at(middle)
        where, most = middle, at_middle.value
        closed = np.maximum(ends[0], most)
        enough = closed + _CLOSE * share
        # Pairs of sizes between which sets are yet to be bounded.
        pairs: list[tuple[_AtSize, _AtSize]] = []
        before = after = at_middle
        step = 2.0
        while True:
            low, high = (
                np.maximum(middle - step, first),
                np.minimum(middle + step, last),
            )
            low, high = self._turned(low, before.size), self._turned(high, after.size)
            if np.all(low == before.size) and np.all(high == after.size):
                break
            if np.any(low < before.size):
                here = finder.at(low)
                where = np.where(here.value > most, here.size, where)
                most = np.maximum(most, here.value)
                pairs.append((here, before))
                before = here
            if np.any(high > after.size):
                here = finder.at(high)
                if falling:
                    # At a price of at most 0 no larger set is worth more (Lemma 21).
                    last = np.where(here.price <= 0.0, here.size, last)
                where = np.where(here.value > most, here.size, where)
                most = np.maximum(most, here.value)
                pairs.append((after, here))
                after = here
            step *= _FARTHER
        while pairs:
            left, right = pairs.pop()
            bound = finder.between(left, right)
            half = np.floor((left.size + right.size) / 2)
            open_yet = (bound > enough) & (half > left.size)
            closed = np.maximum(closed, np.where(open_yet, -np.inf, bound))
            if np.any(open_yet):
                here = finder.at(np.where(open_yet, half, left.size))
                where = np.where(here.value > most, here.size, where)
                most = np.maximum(most, here.value)
                enough = np.maximum(enough, here.value)
                pairs.append((left, here))
                pairs.append((here, right))
        where = np.where(ends[0] > most, ends[1], where)
        return closed, lambda: finder.best_set(where)

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
        nothing = self._line(np.zeros(self.size.size))
        best = share * (nothing.const + nothing.error)
        size = np.zeros(best.size)
        whole = self.group.sizes == self.n
        if np.any(whole):
            line = self._line(np.full(self.size.size, float(self.n)))
            everything = line.weights.sum(axis=1) + line.const + line.error
            paid = np.where(
                whole, np.where(np.isfinite(cost), cost, 0.0).sum(axis=1), 0.0
            )
            everything = share * everything - paid
            size[whole & (everything > best)] = self.n
            best = np.where(whole, np.maximum(best, everything), best)
        return best + _rounding(cost, best), size

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


class _AtSize(NamedTuple):
    """The most that sets of one size of each column are worth, less their prices.

    `price` is about what one entry more is worth.
    """

    size: FloatArray
    value: FloatArray
    price: FloatArray


class _Sizes:
    """The search over sizes."""

    def __init__(
        self, columns: ScoredColumns, cost: FloatArray, share: FloatArray
    ) -> None:
        self.columns, self.cost, self.share = columns, cost, share
        self.paid = _paid(cost)
        self.order: IndexArray = np.empty((0, 0), dtype=np.intp)

    def rank(self, size: FloatArray) -> None:
        """Rank entries by what they are worth at some sizes."""
        self.middle = size
        worth = self._worth(self.columns._line(size))
        m = worth.shape[1]
        if m <= _SORTED:  # every size is sorted by itself
            return
        reach = m // _NEAR + _REACH + 1
        self.order = np.zeros((size.size, 2 * reach), dtype=np.intp)
        self.first = np.clip(size.astype(np.intp) - reach, 0, m - 2 * reach)
        for c, first in enumerate(self.first.tolist()):
            ends = (first, first + 2 * reach - 1)
            some = np.argpartition(-worth[c], ends)[first : first + 2 * reach]
            self.order[c] = some[np.argsort(-worth[c, some])]

    def _worth(self, line: _Line) -> FloatArray:
        worth = line.weights  # made for this
        worth *= self.share[:, None]
        worth -= self.cost
        return worth

    def at(self, size: FloatArray) -> _AtSize:
        """Return a bound on sets of some sizes.

        Any price t of one more entry gives one: t k + sum of max(u_i - t, 0). The best
        is between the k-th and the next of the u_i.
        """
        line = self.columns._line(size, _ABOUT)
        worth = self._worth(line)
        price = self._price(worth, size)
        worth -= price[:, None]
        top = np.maximum(worth, 0.0, out=worth).sum(axis=1)
        value = self.share * (line.const + line.error) + size * price + top
        value += 4 * EPS * (self.paid + np.abs(value)) + 1e-300
        return _AtSize(size, value, price)

    def best_set(self, size: FloatArray) -> BoolArray:
        """Return the sets of some sizes that are worth most."""
        worth = self._worth(self.columns._line(size))
        taken = np.zeros(worth.shape, dtype=np.bool_)
        for row, some, k in zip(taken, worth, size.astype(int).tolist(), strict=True):
            if k:
                row[np.argpartition(-some, k - 1)[:k]] = True
        return taken

    def _price(self, worth: FloatArray, size: FloatArray) -> FloatArray:
        """Return about what one entry more is worth, besides those of a size."""
        sizes = self.columns.group.sizes
        if not np.any(sizes):
            return np.zeros(size.size)
        # A column without entries has no price; 1 keeps its places inside.
        k, m = np.maximum(size, 1.0).astype(np.intp), worth.shape[1]
        rows = np.arange(k.size)
        whole = k >= sizes
        after = np.minimum(k, m - 1)
        if m <= _SORTED:
            ranked = np.sort(worth, axis=1)
            price = (ranked[rows, m - k] + ranked[rows, m - 1 - after]) / 2
        else:
            # The ranking is about the same near the size that it was made at.
            near = np.abs(size - self.middle) <= m / _NEAR
            reach = np.arange(-_REACH, _REACH)
            places = k[:, None] + reach - self.first[:, None]
            places = np.clip(places, 0, self.order.shape[1] - 1)
            at = self.order[rows[:, None], places]
            price = np.median(worth[rows[:, None], at], axis=1)
            for c in np.flatnonzero(~near & ~whole).tolist():
                some = worth[c, : self.columns.group.sizes[c]][:: m // _SAMPLE]
                place = int((1.0 - size[c] / self.columns.group.sizes[c]) * some.size)
                price[c] = np.partition(some, min(place, some.size - 1))[
                    min(place, some.size - 1)
                ]
        if np.any(whole):
            inside = np.arange(m) < sizes[:, None]
            least = np.where(inside, worth, np.inf).min(axis=1)
            price = np.where(whole, np.where(sizes > 0, least, 0.0), price)
        return np.asarray(price)

    def between(self, left: _AtSize, right: _AtSize) -> FloatArray:
        """Bound the sets of sizes from one to another (Lemma 21)."""
        bend = np.maximum(left.price - right.price, 0.0)
        bend = bend + self.share * self._bend_of_base(left, right)
        length = right.size - left.size
        bend = np.where(length > 1.0, bend * length, 0.0)  # nothing is between
        # The largest of (1 - t) left + t right + t (1 - t) bend, for t from 0 to 1.
        apart = np.abs(right.value - left.value)
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = (bend - apart) ** 2 / (4 * bend)
        return np.maximum(left.value, right.value) + np.where(bend > apart, rise, 0.0)

    def _bend_of_base(self, left: _AtSize, right: _AtSize) -> FloatArray:
        """Return how much the slopes of the bases fall, in the mean over S."""
        columns = self.columns
        metric, n = columns.metric, float(columns.n)
        assert is_affine(metric)
        if not columns._has_base:
            return np.zeros(left.size.size)
        s = columns.laws.counts
        ends = []
        for size, step in ((left.size, 1.0), (right.size, -1.0)):
            # Sizes next to each other have none between them, and may have no others.
            beside = np.clip(size + step, 0.0, n)
            here, there = (
                affine_parts(metric, x[:, None], s, n)[0] for x in (size, beside)
            )
            ends.append((there - here) * step)
        falls = np.maximum(ends[0] - ends[1], 0.0)
        return columns.laws.mean_of(falls)[0]


def exponents(p: FloatArray) -> FloatArray:
    """Return -log(1 - p), at most 40: what is more is as good as certain."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(-np.log1p(-p), _CERTAIN))


def _rounding(cost: FloatArray, total: FloatArray) -> FloatArray:
    """Bound what the sum over a column rounds."""
    return np.asarray(4 * EPS * (_paid(cost) + np.abs(total)) + 1e-300)


def _paid(cost: FloatArray) -> FloatArray:
    """Return the sum of all sizes of prices, padding apart."""
    size = np.abs(cost)
    size[np.isinf(size)] = 0.0
    return np.asarray(size.sum(axis=1))
