"""The distribution of a utility: how probable it is to reach a value.

Scores are taken as utilities here, larger is better. Utilities that are few enough are
listed (`Atoms`); those of the pairs of counts of a prediction are in `_pairs.py` and
`_rows.py`, totals of amounts in `_total.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray
from bestcut.counts import NEGLIGIBLE
from bestcut.metrics import Metric, rounding_at

FEW = 1 << 17  # utilities that are always listed
_LARGE = 64.0  # a score beside which others, of about 1, round by far less


class UtilityDistribution(ABC):
    """The distribution of a utility.

    Attributes
    ----------
    tolerance : float
        No utility rounds by more than this.
    value_error : float
        Bound on the error of a utility: of its rounding, and of its bin.
    probability_error : float
        Bound on the error of a probability.
    """

    tolerance: float
    value_error: float
    probability_error: float

    @abstractmethod
    def at_least(self, utility: float) -> float:
        """Return P(U >= utility)."""

    @abstractmethod
    def above(self, utility: float) -> float:
        """Return P(U > utility)."""

    def reaching(self, utility: float) -> float:
        """Return P(U >= utility), of a U that may have been rounded down."""
        return self.at_least(utility - self.tolerance)

    def exceeding(self, utility: float) -> float:
        """Return P(U > utility), of a U that may have been rounded up."""
        return self.above(utility + self.tolerance)

    def exceeding_by_draw(self, utility: float) -> FloatArray:
        """Return the same in every draw of the probabilities; known ones are one."""
        return np.array([self.exceeding(utility)])

    @abstractmethod
    def quantile(self, q: float) -> float:
        """Return the smallest u with P(U <= u) >= q, up to `probability_error`."""

    @abstractmethod
    def upper_quantile(self, q: float) -> float:
        """Return the largest u with P(U >= u) >= q, up to `probability_error`."""


def probability_error(size: int) -> float:
    """Bound the error of a probability that is a sum over laws of `size` values.

    As Lemma 5 of docs/how-it-works/lemmas.md does for expectations.
    The laws are convolutions of positive terms, whose relative errors are at most those
    of their parts and one eps for each term of a sum, along log2(n) levels of halving
    sizes: 2 size. The sum over both laws adds as much. Their parts of 256 instances
    carry less than 576 eps: 1.5 for each, and 9 for each convolution with 16 of them.
    """
    return (4 * size + 1152) * EPS + 128 * NEGLIGIBLE


class Atoms(UtilityDistribution):
    """Every possible utility with its probability, in ascending order.

    `moved` is how far utilities were moved to be few; `tolerance` is added to what
    rounding tells apart.
    """

    def __init__(
        self,
        values: FloatArray,
        mass: FloatArray,
        size: int,
        moved: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        self._order = np.argsort(values, kind="stable")
        self.values, mass = values[self._order], mass[self._order]
        # Sums from either end: small probabilities keep their digits.
        self.upto = np.concatenate([[0.0], np.cumsum(mass)])
        self.onward = np.concatenate([np.cumsum(mass[::-1])[::-1], [0.0]])
        scale = float(np.max(np.abs(self.values)))
        self.tolerance = 16 * EPS * scale + tolerance
        self.value_error = 16 * EPS * scale + moved
        self.probability_error = probability_error(size)

    def at_least(self, utility: float) -> float:
        """Return P(U >= utility)."""
        return float(self.onward[np.searchsorted(self.values, utility, side="left")])

    def above(self, utility: float) -> float:
        """Return P(U > utility)."""
        return float(self.onward[np.searchsorted(self.values, utility, side="right")])

    def quantile(self, q: float) -> float:
        """Return the smallest u with P(U <= u) >= q, up to `probability_error`."""
        return float(self.values[self._place(self.upto[1:], q)])

    def upper_quantile(self, q: float) -> float:
        """Return the largest u with P(U >= u) >= q, up to `probability_error`."""
        return float(self.values[-1 - self._place(self.onward[-2::-1], q)])

    def _place(self, sums: FloatArray, q: float) -> int:
        """Return where ascending sums reach q; rounded ones may reach 1 too soon."""
        first = np.searchsorted(sums, q - self.probability_error) if q < 1.0 else np.inf
        return int(min(first, sums.size - 1))


class UtilityOfCounts(UtilityDistribution):
    """The distribution of a metric's utility, from the laws of TP and FN.

    Where some score may be very large, `tolerance` is far too much for the others: what
    rounding makes equal to a utility is looked for pair by pair.
    """

    def __init__(self, metric: Metric, n_pred: int, n: int) -> None:
        self.metric, self.n_pred, self.n = metric, float(n_pred), float(n)
        self._alike = metric.bound is not None and metric.bound <= _LARGE

    def _cells(self, tp: FloatArray, fn: FloatArray) -> tuple[FloatArray, ...]:
        """Return TP, FP, FN and TN."""
        return tp, self.n_pred - tp, fn, self.n - self.n_pred - fn

    def reaching(self, utility: float) -> float:
        """Return P(U >= utility), of a U that may have been rounded down."""
        if self._alike:
            return super().reaching(utility)
        return self.at_least(utility) + float(self._equal(utility, above=False).mean())

    def exceeding(self, utility: float) -> float:
        """Return P(U > utility), of a U that may have been rounded up."""
        if self._alike:
            return super().exceeding(utility)
        return self.above(utility) - float(self._equal(utility, above=True).mean())

    @abstractmethod
    def _equal(self, utility: float, *, above: bool) -> FloatArray:
        """Return the mass above, or below, that rounding makes equal: of all draws."""

    def _rounded(self, utility: float, *, above: bool) -> tuple[float, float]:
        """Return the range above, or below, of what may be rounded to a utility."""
        if above:
            return utility, utility + self.tolerance
        return utility - self.tolerance, utility

    def _are_equal(
        self, found: FloatArray, tp: FloatArray, fn: FloatArray, utility: float
    ) -> BoolArray:
        """Return which utilities of pairs of counts rounding makes equal to one.

        That one may come from a formula of its own, with terms of about 1.
        """
        rounding = rounding_at(self.metric, *self._cells(tp, fn))
        rounding = np.maximum(rounding, min(16 * EPS, self.tolerance))
        return np.asarray(np.abs(found - utility) <= rounding)


class UtilityMixture(UtilityDistribution):
    """The mean of the distributions of a utility in every draw."""

    def __init__(self, by_draw: list[UtilityDistribution]) -> None:
        self.by_draw = by_draw
        self.tolerance = max(one.tolerance for one in by_draw)
        self.value_error = max(one.value_error for one in by_draw)
        self.probability_error = max(one.probability_error for one in by_draw)

    def at_least(self, utility: float) -> float:
        """Return P(U >= utility)."""
        return float(np.mean([one.at_least(utility) for one in self.by_draw]))

    def above(self, utility: float) -> float:
        """Return P(U > utility)."""
        return float(np.mean([one.above(utility) for one in self.by_draw]))

    def reaching(self, utility: float) -> float:
        """Return P(U >= utility), of a U that may have been rounded down."""
        return float(np.mean([one.reaching(utility) for one in self.by_draw]))

    def exceeding(self, utility: float) -> float:
        """Return P(U > utility), of a U that may have been rounded up."""
        return float(np.mean(self.exceeding_by_draw(utility)))

    def exceeding_by_draw(self, utility: float) -> FloatArray:
        """Return the same in every draw of the probabilities."""
        return np.array([one.exceeding(utility) for one in self.by_draw])

    def quantile(self, q: float) -> float:
        """Return the smallest u with P(U <= u) >= q, up to `probability_error`."""
        ends = [one.quantile(q) for one in self.by_draw]
        allowed = 1.0 - q + self.probability_error if q < 1.0 else 0.0
        return self._bisected(min(ends), max(ends), lambda u: self.above(u) <= allowed)

    def upper_quantile(self, q: float) -> float:
        """Return the largest u with P(U >= u) >= q, up to `probability_error`."""
        ends = [one.upper_quantile(q) for one in self.by_draw]
        wanted = q - self.probability_error if q < 1.0 else 1.0
        return -self._bisected(
            -max(ends), -min(ends), lambda u: self.at_least(-u) >= wanted
        )

    def _bisected(
        self, low: float, high: float, holds: Callable[[float], bool]
    ) -> float:
        """Return the least value that holds, to within the error of a utility."""
        if holds(low):
            return low
        while high - low > max(self.value_error, 1e-15 * abs(high)):
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high
