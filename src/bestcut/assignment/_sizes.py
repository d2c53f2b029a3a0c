"""What sets of some size of a column are worth at most, at prices of their entries.

A set of k entries is worth a base and the sum of u_i(k), what an entry adds at that
size less its price. Any price t of one entry more bounds that (Lemma 21),

    t k + sum over entries of max(u_i(k) - t, 0),

and the best t is between the k-th and the next of the u_i. Where slopes never rise with
k, an entry that is inside at the largest of some sizes, or outside at the least, is so
at all of them: between two sizes only entries are looked at whose place is open, and
sums of powers stand for those inside. So sizes far from the chosen one come first, and
each pair leaves fewer entries to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bestcut._types import EPS, BoolArray, CountArray, FloatArray, IndexArray
from bestcut.assignment._column_laws import Series, Weights, power_sums

_ABOUT = 1e-10  # of a score: what weights may leave out at sizes that are tried
_SORTED = 4096  # entries that are ranked at every size
_SAMPLE = 2048  # entries of the sample that tells prices far from the middle
_FAR = 4.0  # times the error of a place that a sample tells: the margin
_BESIDE = 0.25  # of the difference of two prices: how far others may be outside it
_FEW_ENTRIES = 128  # so few entries that leaving some aside saves nothing
_WORTHWHILE = 0.7  # share of the entries: if more are open, none is left aside
_POWERS = 16  # more than any series has
_ROUNDS = 32  # eps of what is summed: more than sums by pairs lose


class Weighing(NamedTuple):
    """The base of sets of some sizes, its error, and what entries add."""

    base: FloatArray
    error: FloatArray
    entries: Series | Weights


_Weigher = Callable[[FloatArray, float], Weighing]


class AtSize(NamedTuple):
    """The most that sets of one size of each column are worth, less their prices.

    `price` is about what one entry more is worth.
    """

    size: FloatArray
    value: FloatArray
    price: FloatArray

    def where(self, here: BoolArray, other: AtSize) -> AtSize:
        """Return these bounds for some columns, and other ones for the rest."""
        return AtSize(*(np.where(here, x, y) for x, y in zip(self, other, strict=True)))


class _Part(NamedTuple):
    """Entries whose place in sets of some sizes is open.

    Attributes
    ----------
    first, last : ndarray of float, shape (columns,)
        The sizes.
    least, most : ndarray of float, shape (columns,)
        Between which prices must be.
    p, cost : ndarray of float, shape (columns, entries)
        The entries that are open; padding costs inf.
    inside, paid : ndarray of float, shape (columns,)
        How many others are in every set, and the sum of their prices.
    powers : ndarray of float, shape (powers, columns)
        The sums of powers of their probabilities.
    error : ndarray of float, shape (columns,)
        What may be wrong with those that are not open.
    """

    first: FloatArray
    last: FloatArray
    least: FloatArray
    most: FloatArray
    p: FloatArray
    cost: FloatArray
    inside: FloatArray
    paid: FloatArray
    powers: FloatArray
    error: FloatArray


class _Looked(NamedTuple):
    """The worths of entries at a size that was looked at, and their error."""

    at: AtSize
    worth: FloatArray
    error: FloatArray
    powers: int


class Sizes:
    """What sets of each size are worth at most.

    Parameters
    ----------
    p, cost : ndarray of float, shape (columns, entries)
        Probabilities and prices; inf for padding.
    share : ndarray of float, shape (columns,)
        What a unit of each column's score is worth.
    weighing : callable
        From sizes and what may be left out to a `Weighing`.
    """

    def __init__(
        self, p: FloatArray, cost: FloatArray, share: FloatArray, weighing: _Weigher
    ) -> None:
        self.share, self.weighing = share, weighing
        self.entries = np.count_nonzero(np.isfinite(cost), axis=1)
        paid = np.abs(cost)
        paid[np.isinf(paid)] = 0.0
        self.paid = paid.sum(axis=1)
        none = np.zeros(share.size)
        self.whole = _Part(
            first=none,
            last=none + np.inf,
            least=none - np.inf,
            most=none + np.inf,
            p=p,
            cost=cost,
            inside=none,
            paid=none,
            powers=np.zeros((_POWERS, share.size)),
            error=none,
        )
        self.parts = [self.whole]

    def worthwhile(self, size: FloatArray) -> CountArray:
        """Return how many entries are worth more than their price at some sizes."""
        worth = self._worth(self.weighing(size, _ABOUT).entries, self.whole)
        return np.asarray(np.count_nonzero(worth > 0.0, axis=1))

    def around(
        self,
        middle: FloatArray,
        sizes: list[tuple[FloatArray, FloatArray]],
        fall: bool,
        most: FloatArray,
    ) -> tuple[AtSize, list[tuple[AtSize, AtSize]]]:
        """Look at some sizes, and at others around them.

        Parameters
        ----------
        middle : ndarray of float, shape (columns,)
            The sizes.
        sizes : list of pairs of ndarray of float
            Sizes below and above, farther and farther away.
        fall : bool
            Whether what entries add never rises with the size.
        most : ndarray of float, shape (columns,)
            What prices are at most at the largest sizes.
        """
        self.middle = middle
        found: list[tuple[AtSize, AtSize]] = []
        for low, high in reversed(sizes):
            part = self.parts[-1]
            if not found:
                part = part._replace(most=most)
            above = self._look(high, part)
            below = self._look(low, self.parts[-1])
            found.append((below.at, above.at))
            if fall:
                self._narrow(below, above)
        return self._look(middle, self.parts[-1]).at, found[::-1]

    def at(self, size: FloatArray, needed: BoolArray) -> AtSize:
        """Return the same at other sizes, for the columns where that is needed."""
        size = np.where(needed, size, self.middle)
        fits = (
            x
            for x in reversed(self.parts)
            if np.all((x.first <= size) & (size <= x.last))
        )
        return self._look(size, next(fits)).at  # the whole has every size

    def best_set(self, size: FloatArray) -> BoolArray:
        """Return the sets of some sizes that are worth most."""
        worth = self._worth(self.weighing(size, _ABOUT).entries, self.whole)
        taken = np.zeros(worth.shape, dtype=np.bool_)
        for row, some, k in zip(taken, worth, size.astype(int).tolist(), strict=True):
            if k:
                row[np.argpartition(-some, k - 1)[:k]] = True
        return taken

    def _worth(self, weights: Series | Weights, part: _Part) -> FloatArray:
        """Return what entries add, less their prices."""
        if isinstance(weights, Series):
            worth = weights.at(part.p)
            worth *= self.share[:, None]
        else:
            worth = weights.of_entries * self.share[:, None]
        worth -= part.cost
        return worth

    def _look(self, size: FloatArray, part: _Part) -> _Looked:
        base, error, weights = self.weighing(size, _ABOUT)
        powers = weights.terms.shape[0] if isinstance(weights, Series) else 0
        if part.powers.shape[0] < powers:
            part = self.whole._replace(most=part.most)
        worth = self._worth(weights, part)
        price = self._price(worth, size, part)
        top = np.maximum(worth - price[:, None], 0.0).sum(axis=1)
        inside = base + error + weights.error
        if isinstance(weights, Series):
            inside = inside + weights.sum(part.powers[:powers])
        inside = self.share * inside
        value = inside - part.paid + (size - part.inside) * price + top + part.error
        value += _ROUNDS * EPS * (self.paid + np.abs(inside) + np.abs(size * price))
        error = self.share * weights.error
        return _Looked(AtSize(size, value + 1e-300, price), worth, error, powers)

    def _price(self, worth: FloatArray, size: FloatArray, part: _Part) -> FloatArray:
        """Estimate what one more entry is worth beyond the entries of a size."""
        place = np.clip(size - part.inside, 0.0, self.entries - part.inside)
        m = worth.shape[1]
        if m <= _SORTED:
            price = _between_places(np.sort(worth, axis=1), place)
        else:
            # The place that a sample tells is off by about the root of this times it.
            every = m // _SAMPLE
            far = np.abs(size - self.middle) > _FAR * np.sqrt(place * every + 1.0)
            price = np.zeros(size.size)
            for c, (row, count) in enumerate(zip(worth, place, strict=True)):
                step = every if far[c] else 1
                some, at = row[::step], np.array([count // step])
                places = _places(at, some.size)
                ranked = np.partition(some, (int(places[0][0]), int(places[1][0])))
                price[c] = _between_places(ranked[None], at)[0]
        return np.clip(np.where(np.isfinite(price), price, 0.0), part.least, part.most)

    def _narrow(self, below: _Looked, above: _Looked) -> None:
        """Keep the entries whose place is open between two sizes."""
        part = self.parts[-1]
        powers = max(below.powers, above.powers) + 1
        few = part.p.shape[1] <= _FEW_ENTRIES
        if few or not below.powers or below.worth.shape != part.p.shape:
            return
        prices = np.stack([below.at.price, above.at.price])
        beside = _BESIDE * np.abs(prices[0] - prices[1])
        least, most = prices.min(axis=0) - beside, prices.max(axis=0) + beside
        inside = above.worth >= most[:, None]
        keep = (below.worth > least[:, None]) & ~inside
        count = np.count_nonzero(keep, axis=1)
        width = int(count.max(initial=0))
        if width > _WORTHWHILE * part.p.shape[1]:
            return
        places = np.arange(width) < count[:, None]
        p, cost = np.zeros(places.shape), np.full(places.shape, np.inf)
        p[places], cost[places] = part.p[keep], part.cost[keep]
        sums = power_sums(part.p, inside, powers)
        known = part.powers[:powers]
        sums = sums[: known.shape[0]] + known
        paid = np.where(inside, part.cost, 0.0).sum(axis=1)
        self.parts.append(
            _Part(
                first=below.at.size,
                last=above.at.size,
                least=least,
                most=most,
                p=p,
                cost=cost,
                inside=part.inside + np.count_nonzero(inside, axis=1),
                paid=part.paid + paid,
                powers=sums,
                error=part.error + below.error + above.error,
            )
        )


def _places(count: FloatArray, m: int) -> tuple[IndexArray, IndexArray]:
    """Return where the next and the last of some largest are, among m that rise."""
    last = np.clip(m - count, 0, m - 1).astype(np.intp)
    return np.maximum(last - 1, 0), last


def _between_places(ranked: FloatArray, count: FloatArray) -> FloatArray:
    """Return what is between the last of some largest and the next."""
    m = ranked.shape[1]
    if not m:
        return np.zeros(count.size)
    rows = np.arange(count.size)
    after, last = (ranked[rows, x] for x in _places(count, m))
    after = np.where((count >= m) | ~np.isfinite(after), last, after)  # no next one
    return np.asarray((last + np.where(count < 1, last, after)) / 2)
