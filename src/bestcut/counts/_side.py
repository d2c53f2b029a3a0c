"""A group of instances, as far as the number of its positives is concerned.

References
----------
Y. Hong (2013). On computing the distribution function for the Poisson binomial
distribution. Computational Statistics & Data Analysis 59, 41-51. (The distribution as
the discrete Fourier transform of its characteristic function.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bestcut._caches import Lean
from bestcut._types import EPS, FloatArray
from bestcut.counts._moments import LEAST_VARIANCE, cumulant_matrix, features
from bestcut.counts._rules import NODE_COUNTS
from bestcut.counts._window import NOTHING, Law, law_of, trimmed

_BLOCK = 8192
_FAR = 9.5  # standard deviations: exp(-9.5² / 2) is 3e-20
_RADIUS = 2.5  # of a circle around 0 on which the cumulant generating function is tame
_SERIES_ERROR = 1e-16  # what leaving out cumulants may do to a sum of probabilities
# From so many instances on a law comes from sums: the pieces of an exact one take
# several times as long then. With fewer, small chances keep their digits.
_MANY = 1 << 17
ROOM = NODE_COUNTS[-1]  # features that may be asked for


class Side(Protocol):
    """What is known of a group: enough for the law of its positives.

    Attributes
    ----------
    n : int
        How many instances there are.
    positives, negatives : float
        How many of either kind are expected.
    variance : float
        Of both numbers.
    law : Law
        The law of the number of positives.
    """

    n: int

    @property
    def positives(self) -> float:
        """Expected number of positives."""

    @property
    def negatives(self) -> float:
        """Expected number of negatives; n - positives would lose digits."""

    @property
    def variance(self) -> float:
        """Variance of the number of positives."""

    @property
    def law(self) -> Law:
        """The law of the number of positives."""

    def sums(self, count: int) -> FloatArray:
        """Return the sums of so many features."""


class ListedSide(Lean):
    """A group whose probabilities are all at hand, in any order."""

    def __init__(self, eta: FloatArray) -> None:
        self.eta, self.n = eta, eta.size

    @cached_property
    def positives(self) -> float:
        """Expected number of positives."""
        return float(self.eta.sum())

    @cached_property
    def negatives(self) -> float:
        """Expected number of negatives."""
        return float((1.0 - self.eta).sum())

    @cached_property
    def variance(self) -> float:
        """Variance of the number of positives."""
        return float(self.eta @ (1.0 - self.eta))

    @cached_property
    def law(self) -> Law:
        """The law of the number of positives."""
        if self.n < _MANY or self.variance < LEAST_VARIANCE:
            return law_of(self.eta)
        # The mean is counted from the number of probable instances: what is left of it
        # is at most twice the variance, and rounds as little as that.
        probable = self.eta > 0.5
        sums = self.sums(cumulant_count(self.variance))
        sums[0] = float((self.eta - probable).sum())
        return law_from_sums(self.n, sums, int(np.count_nonzero(probable)))

    def sums(self, count: int) -> FloatArray:
        """Return the sums of so many features."""
        blocks = [self.eta[i : i + _BLOCK] for i in range(0, self.n, _BLOCK)]
        totals = np.stack([features(block, count).sum(axis=1) for block in blocks])
        sums: FloatArray = totals.astype(np.longdouble).sum(axis=0).astype(np.float64)
        return sums


class SummedSide:
    """A group of which only sums are at hand, and a way to its law if it is short."""

    def __init__(
        self, n: int, sums: FloatArray, negatives: float, law: Callable[[], Law]
    ) -> None:
        self.n, self._sums = n, sums
        self.positives, self.negatives = float(sums[0]), negatives
        self.variance = float(sums[1])
        # A way that is not needed is not kept: it may hold a whole table.
        short = self.variance < LEAST_VARIANCE
        self._short_law: Callable[[], Law] | None = law if short else None

    @cached_property
    def law(self) -> Law:
        """The law of the number of positives."""
        if self._short_law is None:
            return law_from_sums(self.n, self._sums)
        return self._short_law()

    def sums(self, count: int) -> FloatArray:
        """Return the sums of so many features."""
        return self._sums[:count]

    def __getstate__(self) -> dict[str, Any]:
        """Keep what can travel: the law, not the way to it."""
        if self.variance < LEAST_VARIANCE:
            _ = self.law
        return self.__dict__ | {"_short_law": None}


def error_of_sums(variance: FloatArray) -> FloatArray:
    """Bound the error of a sum of probabilities that `law_from_sums` gives.

    See there: 1000 eps, twice for a distribution that is scaled to sum to 1, and what
    an error of the mean adds. A variance of 0 stands for a law that is built up.
    """
    return np.where(variance > 0.0, (2000.0 + 30.0 * np.sqrt(variance)) * EPS, 0.0)


def is_from_sums(side: Side) -> bool:
    """Return whether the law of a side comes from sums of features."""
    listed = isinstance(side, ListedSide)
    return side.variance >= LEAST_VARIANCE and (not listed or side.n >= _MANY)


def cumulant_count(variance: float) -> int:
    """Return how many cumulants `law_from_sums` needs for its error of 1e-16.

    See there: with m of them the sum of all errors is below
    24 sigma * 17 M(m) / (pi sigma m (m + 1) (2.5 sigma)^(m - 1)), where
    M(m) = 2^(m/2) Gamma(m/2 + 1) is the integral of x^(m+1) exp(-x²/2).
    """
    sigma = math.sqrt(variance)
    for m in range(4, ROOM):
        log_error = (
            math.log(24 * 17 / (math.pi * m * (m + 1)))
            + m / 2 * math.log(2.0)
            + math.lgamma(m / 2 + 1)
            - (m - 1) * math.log(_RADIUS * sigma)
        )
        if log_error < math.log(_SERIES_ERROR):
            return m
    return ROOM


def law_from_sums(n: int, sums: FloatArray, whole: int = 0) -> Law:
    """Return the law of a count that varies much, from the sums of its features.

    They give its cumulants, these its characteristic function, and a Fourier transform
    the probabilities. ``sums[0]`` is the mean less the whole number `whole`, which may
    be what keeps its digits.

    Notes
    -----
    If the variance is at least `LEAST_VARIANCE`, the absolute error of every sum of
    probabilities is below 1000 eps + 0.4 d / sigma, where d is the error of
    ``sums[0]``, which moves the law by so much. `ListedSide` sums at most 2 sigma² to
    about 36 eps, so that its d adds 15 sigma eps. `bestcut.scores` allows for 4 eps of
    each of the 24 sigma counts, and 1024 eps more. The 1000 eps consist of

    - The series is cut off after m cumulants. With r = 2.5, Cauchy's estimate on
      |z| = r bounds the j-th cumulant of an instance by
      17 v (j - 2)! / r^(j - 2): its cumulant generating function has the second
      derivative 1 / (4 cosh²((z + l) / 2)), where l is the logit of eta, and that is at
      most v exp(|Re z|) / cos²(Im z / 2) <= 17 v there. So the exponent of the
      characteristic function is wrong at w by less than
      17 sigma² w² (w / r)^(m - 1) / (m (m + 1) (1 - w / r)), and the function itself by
      so much of exp(-sigma² w² / 2), nearly: `cumulant_count` integrates this, and
      leaves 1e-16.
    - Frequencies from 9.5 / sigma on are left out. The function is at most
      exp(-2 sigma² sin²(w / 2)) there, 4e-19 at the least variance.
    - Counts further from the mean than 12 sigma + 30 are folded back or left out. By
      Bernstein's inequality they have a probability below 1e-30.
    - Rounding. With x = sigma w the exponent is at most 15 x + x² / 2 in size, and
      rounds to 4 eps. Weighted with exp(-x² / 2) that is 22 eps / sigma for each
      probability, 660 eps for the 30 sigma of them. The transform itself adds
      eps log2(length) of their root mean square, some 100 eps in all.
    """
    kappa = cumulant_matrix(sums.size) @ sums
    sigma = float(np.sqrt(kappa[1]))
    reach = 12.0 * sigma + 30.0
    start = max(int(np.floor(kappa[0] - reach)), -whole)
    size = min(int(kappa[0] + reach), n - whole) - start + 1
    length = 1 << (size - 1).bit_length()
    omega = 2.0 * np.pi * np.arange(length // 2 + 1) / length
    omega = omega[omega <= _FAR / sigma]
    exponent = np.zeros(omega.size, dtype=np.complex128)
    term = np.ones(omega.size, dtype=np.complex128)
    for order, cumulant in enumerate(kappa.tolist(), start=1):
        term = term * (1j * omega / order)
        exponent += (cumulant - start if order == 1 else cumulant) * term
    transform = np.zeros(length // 2 + 1, dtype=np.complex128)
    transform[: omega.size] = np.exp(exponent).conj()
    pmf = np.fft.irfft(transform, length)[:size]
    return trimmed(start + whole, np.maximum(pmf, 0.0))


NOBODY: Side = SummedSide(0, np.zeros(ROOM), 0.0, lambda: NOTHING)
