"""A group of instances, as far as the number of its positives is concerned."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bestcut._validation import FloatArray
from bestcut.counts._moments import (
    LEAST_VARIANCE,
    MOST_NODES,
    cumulant_matrix,
    features,
)
from bestcut.counts._window import NOTHING, Law, law_of, trimmed

_BLOCK = 8192
_FAR = 9.5  # standard deviations: exp(-9.5² / 2) is 3e-20
ROOM = MOST_NODES + 2  # features that may be asked for: a finer rule has two more nodes


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


class ListedSide:
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
        return law_of(self.eta)

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
        self._short_law: Callable[[], Law] | None = law
        self.positives, self.negatives = float(sums[0]), negatives
        self.variance = float(sums[1])

    @cached_property
    def law(self) -> Law:
        """The law of the number of positives."""
        if self._short_law is None or self.variance >= LEAST_VARIANCE:
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


def law_from_sums(n: int, sums: FloatArray) -> Law:
    """Return the law of a count that varies much, from the sums of its features.

    They give its cumulants, and these its characteristic function, which is negligible
    long before their series would need more terms than there are. Probabilities have an
    absolute error of 1e-16.
    """
    kappa = cumulant_matrix(sums.size) @ sums
    sigma = float(np.sqrt(kappa[1]))
    reach = 12.0 * sigma + 30.0
    start = max(int(kappa[0] - reach), 0)
    size = min(int(kappa[0] + reach), n) - start + 1
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
    return trimmed(start, np.maximum(pmf, 0.0))


NOBODY: Side = SummedSide(0, np.zeros(ROOM), 0.0, lambda: NOTHING)
