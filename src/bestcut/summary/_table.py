"""The bins that are not empty, from the most probable down, and sums over them."""

from __future__ import annotations

from copy import copy
from functools import cache, cached_property

import numpy as np

from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut.counts import (
    ROOM,
    Law,
    convolved,
    features,
    law_from_power_sums,
    law_of,
    power_sum_count,
)
from bestcut.summary._bins import HALF, MOMENTS, between, count_and_moments, geometry

_SMALL = 0.1  # probabilities this near to 0 or 1 enter a law through power sums
_TINY = 0.01
_ENOUGH = 1000.0  # variance with which two moments of a bin are as good as four
_PAIR = 2  # two values are known from their sum and the sum of their squares


@cache
def _interpolation(orders: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes in [-1, 1] and the matrix that turns moments into weights.

    Chebyshev's nodes: the weights of N values sum to at most 2.1 N in absolute value.
    """
    nodes = np.polynomial.chebyshev.chebpts1(orders + 1)
    powers = np.vander(nodes, increasing=True).T
    matrix: FloatArray = np.linalg.inv(powers).astype(np.float64)
    return nodes, matrix


class BinTable:
    """Bins in descending order.

    Attributes
    ----------
    key : ndarray of int
        Number of each bin.
    count : ndarray of int
        How many probabilities are in it.
    start : ndarray of int
        How many are in the bins before it; one entry more than there are bins.
    mean : ndarray
        Mean probability.
    least, most : ndarray
        What the probabilities of each bin lie between.
    negatives : ndarray
        Expected number of negatives.
    known : dict of int to ndarray
        The probabilities of some bins, one by one.
    """

    def __init__(self, count: CountArray, moments: FloatArray) -> None:
        self.key = np.flatnonzero(count)[::-1]
        self.count = count[self.key]
        self.start = np.concatenate([[0], np.cumsum(self.count)])
        self.n = int(self.start[-1])
        self.upper = self.key >= HALF
        shape = geometry()
        self._centre, self._half = shape.centre[self.key], shape.half[self.key]
        self.largest = self._centre + self._half  # of min(p, 1 - p)
        moments = moments[:, self.key]
        size, first, second = self.count, moments[0], moments[1]
        self._sum = self._centre * size + self._half * first
        self.negatives = np.where(self.upper, self._sum, size - self._sum)
        self.mean = np.where(self.upper, 1.0 - self._sum / size, self._sum / size)
        self._scatter = np.maximum(second - first * first / size, 0.0) * self._half**2
        # What rounding may have taken from the difference is given back.
        self._most_scatter = self._scatter + 1e-12 * second * self._half**2
        self.least, self.most = shape.low[self.key], shape.high[self.key]
        self.known: dict[int, FloatArray] = {}
        nodes, weights = _interpolation(MOMENTS)
        self._x = self._centre + np.multiply.outer(nodes, self._half)
        self._weight = weights @ np.concatenate([size[None], moments])
        # Next to 0 and 1 only the sum matters, and a 0 must stay one.
        tiny = self._centre == 0.0
        self._x[:, tiny] = self._sum[tiny] / size[tiny]
        self._weight[1:, tiny], self._weight[0, tiny] = 0.0, size[tiny]

    def __len__(self) -> int:
        return int(self.key.size)

    @cached_property
    def sums(self) -> FloatArray:
        """Sums of the features of `bestcut.counts` over each bin, in rows."""
        out = np.zeros((ROOM, len(self)))
        for x, weight in zip(self._x, self._weight, strict=True):
            out += features(x, ROOM) * weight
        # Above 1/2, x is 1 - p: features of odd degree in r change their sign.
        out[0] = np.where(self.upper, self.count - self._sum, self._sum)
        out[2::2] *= np.where(self.upper, -1.0, 1.0)
        return out

    def law(self, first: int, last: int) -> Law:
        """Return the law of the positives in bins `first` to `last` - 1.

        Three or more in one bin that is not small are taken one by one if they are
        known, and otherwise as a standard deviation to either side of their mean.
        """
        here = slice(first, last)
        small = self.largest[here] <= _SMALL
        upper = self.upper[here]
        others = first + np.flatnonzero(~small)
        listed = [self.known[i] for i in others.tolist() if i in self.known]
        unlisted = np.array([i for i in others.tolist() if i not in self.known], int)
        law = law_of(np.concatenate([*listed, self._stand_ins(unlisted)]))
        for side in (False, True):
            chosen = first + np.flatnonzero(small & (upper == side))
            if chosen.size:
                part = self._law_of_small(chosen)
                size = int(self.count[chosen].sum())
                law = convolved(law, part.mirrored(size) if side else part)
        return law

    def _law_of_small(self, bins: IndexArray) -> Law:
        x, weight = self._x[:, bins], self._weight[:, bins]
        odds = x / (1.0 - x)
        sums = np.empty(power_sum_count(float(np.max(self.largest[bins]))))
        power = weight * odds
        for j in range(sums.size):
            sums[j] = power.sum()
            power *= odds
        return law_from_power_sums(
            int(self.count[bins].sum()),
            float(self._sum[bins].sum()),
            float(np.sum(weight * np.log1p(-x))),
            sums,
        )

    def _stand_ins(self, bins: IndexArray) -> FloatArray:
        """Return as many probabilities as there are, with the same mean and scatter."""
        count = self.count[bins]
        mean = np.repeat(self.mean[bins], count)
        place = np.arange(mean.size) - np.repeat(np.cumsum(count) - count, count)
        pairs = np.maximum(count - count % 2, 1)
        apart = np.repeat(np.sqrt(self._scatter[bins] / pairs), count)
        sign = np.where(place % 2 == 0, -1.0, 1.0)
        sign[place == np.repeat(count - count % 2, count)] = 0.0  # the odd one
        out: FloatArray = np.clip(mean + sign * apart, 0.0, 1.0)
        return out

    def knowing(self, known: dict[int, FloatArray]) -> BinTable:
        """Return the table with the probabilities of some bins."""
        out = copy(self)
        out.known = known
        return out

    def wanted(self) -> BoolArray:
        """Return the bins whose probabilities an exact law needs one by one."""
        several = (self.largest > _SMALL) & (self.count > _PAIR)
        several[list(self.known)] = False
        return several

    def displacement(self) -> FloatArray:
        """Bound how far the stand-ins are from what they stand for, for each bin."""
        moved = 2.0 * np.sqrt(self.count * self._most_scatter)
        return np.where(self.wanted(), moved, 0.0)


def quick_table(p: FloatArray) -> BinTable:
    """Return the table of probabilities that are at hand, by a shorter way.

    Two moments are enough where sums enter the law of a count that varies much: what
    three nodes of interpolation leave out is 1e-8 c² of the third cumulant of
    probabilities near c, and that enters an expected score with 1 / sigma^4. So all
    four are computed only for bins at either end of the ranking, above which or below
    which the variance is small, and only if c is not small itself.
    """
    count, moments = count_and_moments(p, 2)
    nodes, weights = _interpolation(2)
    implied = np.stack([nodes**3, nodes**4]) @ weights
    moments[2:] = implied @ np.concatenate([count[None], moments[:2]])
    shape = geometry()
    variance = np.cumsum(count * shape.centre * (1.0 - shape.centre))
    for zone in (variance < _ENOUGH, variance[-1] - variance < _ENOUGH):
        bins = np.flatnonzero(zone & (count > 0) & (shape.centre > _TINY))
        if count[bins].sum() > p.size // 8:
            return BinTable(*count_and_moments(p))
        if bins.size:
            inside = between(p, shape.low[bins[0]], shape.high[bins[-1]])
            moments[:, bins] = count_and_moments(inside)[1][:, bins]
    return BinTable(count, moments)
