"""Draws of the probabilities of some instances: a row of numbers for each instance.

`ListedDraws` holds them all. `MappedDraws` holds scores, and maps that are piecewise
linear between knots that all maps share: then a sum over instances between two knots
is known for all maps at once from a few weighted places between them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from bestcut._caches import Lean
from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut.counts import features
from bestcut.uncertain._law import SMALL

_NODES = 8  # places that stand for the instances between two knots
_CHEBYSHEV = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
_BLOCK = 1 << 17  # numbers that are worked on at once
_FEW, _PARTS = 64, 64  # instances between borders at least, and how many are tried
_LISTED = 1 << 12  # instances whose laws are made one by one


class Draws(Lean, ABC):
    """Probabilities of n instances, in n_draws draws.

    Attributes
    ----------
    n, n_draws : int
        How many instances, and how many draws.
    """

    n: int
    n_draws: int

    @abstractmethod
    def rows(self, first: int, last: int) -> FloatArray:
        """Return the draws of instances `first` to `last` - 1: a row for each."""

    @abstractmethod
    def taken(self, rows: IndexArray | BoolArray | slice) -> Draws:
        """Return the draws of some instances, in the order given."""

    @abstractmethod
    def only(self, draws: IndexArray) -> Draws:
        """Return some of the draws, of all instances."""

    @abstractmethod
    def mean(self) -> FloatArray:
        """Return the mean over draws, for each instance."""

    @abstractmethod
    def std(self) -> FloatArray:
        """Return the standard deviation over draws, for each instance."""

    @abstractmethod
    def order(self) -> IndexArray:
        """Return the instances from the most probable down; ties in input order."""

    @abstractmethod
    def ranked(self) -> Draws:
        """Return the instances from the most probable down."""

    @abstractmethod
    def top(self, k: int) -> BoolArray:
        """Return which instances are the k most probable; of ties the earliest."""

    @abstractmethod
    def is_ranked(self) -> bool:
        """Return whether the instances are in descending order in every draw."""

    @abstractmethod
    def draw(self, b: int) -> FloatArray:
        """Return one draw of all instances."""

    @abstractmethod
    def borders(self) -> IndexArray:
        """Return cuts, with the first and the last, between which sums take no time."""

    def pieces(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield probabilities and weights for the laws of all instances together."""
        step = max(_BLOCK // self.n_draws, 1)
        for i in range(0, self.n, step):
            values = self.rows(i, min(i + step, self.n))
            yield values, np.ones(values.shape[0])

    def part_sums(self, first: IndexArray, last: IndexArray, count: int) -> FloatArray:
        """Return sums over instances `first` to `last` - 1, an entry for each draw.

        They are those of `count` features of `bestcut.counts`, and of the negatives:
        shape (count + 1, n_parts, n_draws). No part is empty, and none reaches beyond
        the next border.
        """
        sums = np.empty((count + 1, first.size, self.n_draws))
        for some in _some_parts(last - first, _BLOCK // (count * self.n_draws)):
            rows, at = _rows_of(first[some], last[some])
            p = self.taken(rows).rows(0, rows.size)
            each = features(p.ravel(), count).reshape(count, *p.shape)
            sums[:count, some] = np.add.reduceat(each, at, axis=1)
            sums[count, some] = np.add.reduceat(1.0 - p, at, axis=0)
        return sums

    def sums(self, count: int) -> FloatArray:
        """Return the same over all instances: shape (count + 1, n_draws)."""
        edges = self.borders()
        parts = self.part_sums(edges[:-1], edges[1:], count)
        return np.asarray(parts.sum(axis=1))


def _some_parts(size: IndexArray, most: int) -> Iterator[slice]:
    """Yield parts that have about so many instances together."""
    before = np.concatenate([[0], np.cumsum(size)])
    first = 0
    while first < size.size:
        last = int(np.searchsorted(before, before[first] + most, side="right")) - 1
        last = max(last, first + 1)
        yield slice(first, last)
        first = last


def _rows_of(first: IndexArray, last: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the instances of some parts, and where those of each begin."""
    size = last - first
    at = np.cumsum(size) - size
    return np.arange(size.sum()) + np.repeat(first - at, size), at


class ListedDraws(Draws):
    """Draws that are all at hand: a row for each instance, a column for each draw."""

    def __init__(self, table: FloatArray) -> None:
        self.table = table
        self.n, self.n_draws = table.shape

    def rows(self, first: int, last: int) -> FloatArray:
        """Return the draws of instances `first` to `last` - 1: a row for each."""
        return self.table[first:last]

    def draw(self, b: int) -> FloatArray:
        """Return one draw of all instances."""
        return np.ascontiguousarray(self.table[:, b])

    def taken(self, rows: IndexArray | BoolArray | slice) -> ListedDraws:
        """Return the draws of some instances, in the order given."""
        return ListedDraws(self.table[rows])

    def only(self, draws: IndexArray) -> ListedDraws:
        """Return some of the draws, of all instances."""
        return ListedDraws(self.table[:, draws])

    def mean(self) -> FloatArray:
        """Return the mean over draws, for each instance."""
        # Draws that agree have exactly their common value as mean.
        first = self.table[:, :1]
        mean: FloatArray = first[:, 0] + (self.table - first).mean(axis=1)
        return np.clip(mean, 0.0, 1.0)

    def std(self) -> FloatArray:
        """Return the standard deviation over draws, for each instance."""
        std: FloatArray = (self.table - self.table[:, :1]).std(axis=1)
        return std

    def order(self) -> IndexArray:
        """Return the instances from the most probable down; ties in input order."""
        return np.argsort(-self.mean(), kind="stable")

    def ranked(self) -> ListedDraws:
        """Return the instances from the most probable down, by their means."""
        return self.taken(self.order())

    def top(self, k: int) -> BoolArray:
        """Return which instances are the k most probable; of ties the earliest."""
        chosen = np.zeros(self.n, dtype=np.bool_)
        chosen[self.order()[:k]] = True
        return chosen

    def is_ranked(self) -> bool:
        """Return whether the instances are in descending order in every draw."""
        step = max(_BLOCK // self.n_draws, 2)
        return all(
            bool(np.all(np.diff(self.table[i : i + step + 1], axis=0) <= 0.0))
            for i in range(0, self.n, step)
        )

    def borders(self) -> IndexArray:
        """Return every so many instances."""
        return np.append(np.arange(0, self.n, _FEW), self.n)

    def each_sorted(self) -> ListedDraws:
        """Return the draws with each of them in its own descending order."""
        return ListedDraws(np.ascontiguousarray(np.sort(self.table, axis=0)[::-1]))


class MappedDraws(Draws):
    """Maps of scores to probabilities, one for each draw, none of them decreasing.

    Parameters
    ----------
    place : ndarray of shape (n,)
        Where each instance is among the knots: knot j is at j, and halfway to the next
        one is j + 1/2.
    values : ndarray of shape (n_knots, n_draws)
        The probability at each knot, in each draw.
    """

    def __init__(self, place: FloatArray, values: FloatArray) -> None:
        self.place, self.values = place, values
        self.n, self.n_draws = place.size, values.shape[1]

    def _cells(self, place: FloatArray) -> tuple[IndexArray, FloatArray]:
        cell = np.minimum(place.astype(np.intp), max(self.values.shape[0] - 2, 0))
        return cell, place - cell

    def at(self, places: FloatArray, draws: slice = slice(None)) -> FloatArray:
        """Return the probabilities at some places, in some draws."""
        cell, share = self._cells(places)
        after = np.minimum(cell + 1, self.values.shape[0] - 1)
        values = self.values[:, draws]
        low, high = values[cell], values[after]
        out: FloatArray = high - low
        out *= share[:, None]
        out += low
        # Rounding must not leave the range, nor break the order.
        np.minimum(out, high, out=out)
        return out

    def rows(self, first: int, last: int) -> FloatArray:
        """Return the draws of instances `first` to `last` - 1: a row for each."""
        return self.at(self.place[first:last])

    def draw(self, b: int) -> FloatArray:
        """Return one draw of all instances."""
        return np.ascontiguousarray(self.at(self.place, slice(b, b + 1))[:, 0])

    def taken(self, rows: IndexArray | BoolArray | slice) -> MappedDraws:
        """Return the draws of some instances, in the order given."""
        return MappedDraws(self.place[rows], self.values)

    def only(self, draws: IndexArray) -> MappedDraws:
        """Return some of the draws, of all instances."""
        return MappedDraws(self.place, self.values[:, draws])

    def mean(self) -> FloatArray:
        """Return the mean over draws, for each instance."""
        first = self.values[:, :1]
        mean = first[:, 0] + (self.values - first).mean(axis=1)
        # Rounding must not break the order, here and between knots.
        mean = np.maximum.accumulate(np.clip(mean, 0.0, 1.0))
        cell, share = self._cells(self.place)
        low, high = mean[cell], mean[np.minimum(cell + 1, mean.size - 1)]
        return np.asarray(np.minimum(low + share * (high - low), high))

    def std(self) -> FloatArray:
        """Return the standard deviation over draws, for each instance."""
        cell, share = self._cells(self.place)
        after = np.minimum(np.arange(self.values.shape[0]) + 1, len(self.values) - 1)
        apart = self.values - self.values.mean(axis=1)[:, None]
        here, both = apart.var(axis=1), (apart * apart[after]).mean(axis=1)
        low, high = (1.0 - share) ** 2, share**2
        variance = low * here[cell] + high * here[after[cell]]
        variance += 2.0 * share * (1.0 - share) * both[cell]
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    def order(self) -> IndexArray:
        """Return the instances from the highest score down; ties in input order."""
        return np.argsort(-self.place, kind="stable")

    def ranked(self) -> MappedDraws:
        """Return the instances from the highest score down."""
        return MappedDraws(np.sort(self.place)[::-1], self.values)

    def top(self, k: int) -> BoolArray:
        """Return which instances have the k highest scores; of ties the earliest."""
        if k == 0:
            return np.zeros(self.n, dtype=np.bool_)
        last = np.partition(self.place, self.n - k)[self.n - k]
        chosen: BoolArray = self.place > last
        missing = k - int(np.count_nonzero(chosen))
        chosen[np.flatnonzero(self.place == last)[:missing]] = True
        return chosen

    def is_ranked(self) -> bool:
        """Return whether the instances are in descending order in every draw."""
        return bool(np.all(np.diff(self.place) <= 0.0))

    def borders(self) -> IndexArray:
        """Return where maps have their knots, and some cuts between these."""
        knots = np.arange(self.values.shape[0] - 2.0, 0.0, -1.0)
        inner = np.searchsorted(-self.place, -knots, side="right")
        step = max(self.n // _PARTS, _FEW)
        between = np.arange(0, self.n, step)
        return np.unique(np.concatenate([inner, between, [self.n]])).astype(np.intp)

    def part_sums(self, first: IndexArray, last: IndexArray, count: int) -> FloatArray:
        """Return sums over instances `first` to `last` - 1, which are ranked.

        Where there are many instances, they enter by sums of t^s (1 - t)^r, t being how
        far each is from one knot to the next: all maps share these (Lemma 16).
        """
        if int((last - first).sum()) <= count * first.size:
            return super().part_sums(first, last, count)
        cell, _ = self._cells(self.place[first])
        moments = np.empty((count + 1, first.size))
        for some in _some_parts(last - first, _BLOCK // 8):
            rows, at = _rows_of(first[some], last[some])
            t = self.place[rows] - np.repeat(cell[some], last[some] - first[some])
            up, down = [np.ones(t.size)], [np.ones(t.size)]
            for _ in range(count):
                up.append(up[-1] * t)
                down.append(down[-1] * (1.0 - t))
            for s in range(count + 1):
                moments[s, some] = np.add.reduceat(up[s] * down[count - s], at)
        sums = np.empty((count + 1, first.size, self.n_draws))
        after = np.minimum(cell + 1, self.values.shape[0] - 1)
        step = max(_BLOCK // (8 * self.n_draws), 1)
        for i in range(0, first.size, step):
            here = slice(i, i + step)
            low, high = self.values[cell[here]], self.values[after[here]]
            sums[:, here] = _feature_sums(low, high, moments[:, here, None])
        return sums

    def pieces(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield probabilities and weights for the laws of all instances together.

        Only what is small in all draws, or large in all, may stand for others.
        """
        if self.n <= _LISTED or not self.is_ranked():
            yield from super().pieces()
            return
        step = max(_BLOCK // self.n_draws, 1)
        for a, b in pairwise(self.borders().tolist()):
            ends = self.at(self.place[[a, b - 1]])
            if float(ends[0].max()) <= SMALL or float(ends[1].min()) >= 1.0 - SMALL:
                at, weight = self._standing_for(a, b)
                yield self.at(at), weight
            else:
                for i in range(a, b, step):
                    values = self.rows(i, min(i + step, b))
                    yield values, np.ones(values.shape[0])

    def _standing_for(self, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """Return places and weights for the instances of a cell."""
        place = self.place[first:last]
        if place.size <= 2 * _NODES:
            return place, np.ones(place.size)
        high, low = float(place[0]), float(place[-1])
        centre, half = (high + low) / 2, (high - low) / 2
        if half == 0.0:
            return place[:1], np.array([float(place.size)])
        at = np.clip(centre + half * _CHEBYSHEV, low, high)
        return at, _chebyshev_weights((place - centre) / half)


def _chebyshev_weights(x: FloatArray) -> FloatArray:
    """Return weights of Chebyshev's nodes that integrate as a sum over `x` does."""
    before, here = np.ones(_NODES), _CHEBYSHEV
    at_before, at = np.ones(x.size), x
    weight = np.full(_NODES, float(x.size))
    for _ in range(1, _NODES):
        weight += 2.0 * float(at.sum()) * here
        before, here = here, 2.0 * _CHEBYSHEV * here - before
        at_before, at = at, 2.0 * x * at - at_before
    return weight / _NODES


def _feature_sums(low: FloatArray, high: FloatArray, moments: FloatArray) -> FloatArray:
    """Return sums of features of p = low (1 - t) + high t, and of 1 - p.

    A polynomial is kept as its coefficients of (1 - t)^(d-s) t^s, s = 0, ..., d, whose
    sums over all t are `moments` for the largest d. Those of 1 - p and of all powers of
    p (1 - p) are not negative: no digit is lost.
    """
    sums_of = [moments]
    while len(sums_of[0]) > 1:  # times t + (1 - t), which is 1
        sums_of.insert(0, sums_of[0][:-1] + sums_of[0][1:])

    def summed(x: list[FloatArray]) -> FloatArray:
        terms = [a * b for a, b in zip(x, sums_of[len(x) - 1], strict=True)]
        return np.asarray(sum(terms))

    count = len(moments) - 1
    out = np.empty((count + 1, *low.shape))
    p, others, odd = (
        [low, high],
        [1.0 - low, 1.0 - high],
        [1.0 - 2 * low, 1.0 - 2 * high],
    )
    out[0], out[count] = summed(p), summed(others)
    varied = power = _product(p, others)
    for j in range(1, count, 2):
        out[j] = summed(power)
        if j + 1 < count:
            out[j + 1] = summed(_product(power, odd))
        if j + 2 < count:
            power = _product(power, varied)
    return out


def _product(x: list[FloatArray], y: list[FloatArray]) -> list[FloatArray]:
    """Return the coefficients of a product."""
    out = [np.zeros_like(x[0]) for _ in range(len(x) + len(y) - 1)]
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            out[i + j] += a * b
    return out
