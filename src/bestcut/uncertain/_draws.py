"""Draws of the probabilities of some instances: a row of numbers for each instance.

`ListedDraws` holds them all. `MappedDraws` holds scores, and maps that are piecewise
linear between knots that all maps share: then a sum over instances between two knots
is known for all maps at once from a few weighted places between them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from bestcut._caches import Lean
from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut.counts import ROOM, features
from bestcut.uncertain._law import SMALL

_NODES = 8  # places that stand for the instances between two knots
_CHEBYSHEV = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
_BLOCK = 1 << 17  # numbers that are worked on at once
_FEW = 256  # instances that are taken one by one
_STEEP = 0.1  # a rise between knots with which instances are taken one by one
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
    def places(self, edges: IndexArray) -> tuple[FloatArray, FloatArray, IndexArray]:
        """Return what stands for the instances between edges.

        Returns
        -------
        places : ndarray of shape (n_places,)
            What `at` takes.
        weight : ndarray of shape (n_places,)
            How many instances each place stands for.
        first : ndarray of int
            The first place of each part, and one after the last.
        """

    @abstractmethod
    def at(self, places: FloatArray, draws: slice = slice(None)) -> FloatArray:
        """Return the probabilities at some places, in some draws."""

    def pieces(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield probabilities and weights for the laws of all instances together."""
        step = max(_BLOCK // self.n_draws, 1)
        for i in range(0, self.n, step):
            values = self.rows(i, min(i + step, self.n))
            yield values, np.ones(values.shape[0])

    def part_sums(self, edges: IndexArray) -> FloatArray:
        """Return sums over the parts between edges, an entry for each draw.

        They are those of the features of `bestcut.counts`, and of the negatives: shape
        (ROOM + 1, n_parts, n_draws).
        """
        places, weight, first = self.places(edges)
        sums = np.zeros((ROOM + 1, edges.size - 1, self.n_draws))
        if not weight.size:
            return sums
        step = max(_BLOCK // (8 * weight.size), 1)
        for b in range(0, self.n_draws, step):
            some = self.at(places, slice(b, b + step))
            rows = features(some.ravel(), ROOM).reshape(ROOM, *some.shape)
            rows *= weight[:, None]
            sums[:ROOM, :, b : b + step] = np.add.reduceat(rows, first[:-1], axis=1)
            against = weight[:, None] * (1.0 - some)
            sums[ROOM, :, b : b + step] = np.add.reduceat(against, first[:-1], axis=0)
        return sums


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

    def places(self, edges: IndexArray) -> tuple[FloatArray, FloatArray, IndexArray]:
        """Return the instances between edges."""
        rows = np.arange(edges[0], edges[-1], dtype=np.float64)
        return rows, np.ones(rows.size), edges - edges[0]

    def at(self, places: FloatArray, draws: slice = slice(None)) -> FloatArray:
        """Return the probabilities of some consecutive instances, in some draws."""
        first = int(places[0])
        here = self.table[first : first + places.size, draws]
        return np.ascontiguousarray(here)

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

    @cached_property
    def _steepest(self) -> FloatArray:
        """By how much a map rises at most from each knot to the next."""
        rise = np.diff(self.values, axis=0, append=self.values[-1:])
        return np.asarray(np.max(rise, axis=1))

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

    def places(self, edges: IndexArray) -> tuple[FloatArray, FloatArray, IndexArray]:
        """Return what stands for the instances between edges, which are ranked.

        Few instances stand for themselves. Many are taken by the cells between knots,
        in which every map is linear: eight of Chebyshev's places in the range of their
        scores, weighted so that all sums of polynomials of degree seven are right
        (Lemma 16).
        """
        if int(edges[-1] - edges[0]) <= _FEW:
            place = self.place[edges[0] : edges[-1]]
            return place, np.ones(place.size), edges - edges[0]
        starts = self._cell_starts(edges)
        parts = [self._standing_for(a, b) for a, b in pairwise(starts.tolist())]
        first = np.cumsum([0, *(weight.size for _, weight in parts)])
        at, weight = (np.concatenate(x) for x in zip(*parts, strict=True))
        return at, weight, first[np.searchsorted(starts, edges)]

    def pieces(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield probabilities and weights for the laws of all instances together.

        Only what is small in all draws, or large in all, may stand for others.
        """
        if self.n <= _LISTED or not self.is_ranked():
            yield from super().pieces()
            return
        step = max(_BLOCK // self.n_draws, 1)
        for a, b in pairwise(self._cell_starts(np.array([0, self.n])).tolist()):
            ends = self.at(self.place[[a, b - 1]])
            if float(ends[0].max()) <= SMALL or float(ends[1].min()) >= 1.0 - SMALL:
                at, weight = self._standing_for(a, b)
                yield self.at(at), weight
            else:
                for i in range(a, b, step):
                    values = self.rows(i, min(i + step, b))
                    yield values, np.ones(values.shape[0])

    def _cell_starts(self, edges: IndexArray) -> IndexArray:
        """Return where a cell begins, or a part, and the end."""
        place = self.place[edges[0] : edges[-1]]
        knots = np.arange(self.values.shape[0] - 1, 0, -1)
        borders = edges[0] + np.searchsorted(-place, -knots.astype(np.float64))
        starts = np.unique(np.concatenate([edges, borders]))
        return starts.astype(np.intp)

    def _standing_for(self, first: int, last: int) -> tuple[FloatArray, FloatArray]:
        """Return places and weights for the instances of a cell."""
        place = self.place[first:last]
        if place.size <= 2 * _NODES:
            return place, np.ones(place.size)
        high, low = float(place[0]), float(place[-1])
        centre, half = (high + low) / 2, (high - low) / 2
        if half == 0.0:
            return place[:1], np.array([float(place.size)])
        if self._steepest[min(int(low), self._steepest.size - 1)] > _STEEP:
            return place, np.ones(place.size)
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
