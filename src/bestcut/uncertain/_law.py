"""Laws of counts for many draws of the probabilities, side by side.

A draw gives every instance a probability; given the draw, labels are independent. What
`bestcut.counts` does for one law is done here for a column of laws at once: counts run
along the first axis, draws along the second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut.counts import (
    NEGLIGIBLE,
    SPARED,
    Law,
    add_instance,
    cumulant_matrix,
    power_sum_count,
    trimmed,
)

SMALL = 0.1  # probabilities this near to 0 or 1 enter through power sums
_TERMS = power_sum_count(SMALL)
_FEW = 48  # instances that are added one by one sooner than by power sums
_MANY = 128  # instances whose laws are made in groups
_GROUP = 32
_LARGEST_MEAN = 400.0  # exp(-mean) must not underflow
_SHORT = 64  # a shorter law is convolved term by term
_FAR = 9.5  # standard deviations, see `bestcut.counts`
_TRIM_EVERY = 16
_UNLIKELY = -float(np.log(NEGLIGIBLE))


@dataclass(frozen=True)
class DrawnLaw:
    """The probability of start + i in draw b is pmf[i, b]."""

    start: int
    pmf: FloatArray

    @property
    def counts(self) -> FloatArray:
        """The values of the window."""
        return np.arange(self.start, self.start + self.pmf.shape[0], dtype=np.float64)


@dataclass(frozen=True)
class AlignedLaws:
    """The probability of start[b] + i in draw b is pmf[b, i]: each has its window.

    Draws whose counts are far apart have few in common.
    """

    start: IndexArray
    pmf: FloatArray

    @classmethod
    def of(cls, law: DrawnLaw) -> AlignedLaws:
        """Return the same laws, each in a window of its own."""
        possible = law.pmf > 0.0
        first = possible.argmax(axis=0)
        size = law.pmf.shape[0]
        width = int(np.max(size - possible[::-1].argmax(axis=0) - first))
        first = np.minimum(first, size - width)
        at = first[:, None] + np.arange(width)
        return cls(law.start + first, law.pmf[at, np.arange(first.size)[:, None]])

    @classmethod
    def joined(cls, parts: list[tuple[IndexArray, AlignedLaws]]) -> AlignedLaws:
        """Return the laws of all draws, from those of some and of the others."""
        if len(parts) == 1:
            return parts[0][1]
        width = max(laws.pmf.shape[1] for _, laws in parts)
        stop = max(int(laws.start.max()) + laws.pmf.shape[1] for _, laws in parts)
        n_draws = sum(draws.size for draws, _ in parts)
        start, pmf = np.empty(n_draws, dtype=np.intp), np.zeros((n_draws, width))
        for draws, laws in parts:
            # No window goes beyond the counts that there are.
            start[draws] = np.minimum(laws.start, stop - width)
            moved = (laws.start - start[draws])[:, None]
            pmf[draws[:, None], moved + np.arange(laws.pmf.shape[1])] = laws.pmf
        return cls(start, pmf)

    def only(self, draws: IndexArray | BoolArray) -> AlignedLaws:
        """Return the laws of some of the draws."""
        return AlignedLaws(self.start[draws], self.pmf[draws])

    def in_draw(self, b: int) -> Law:
        """Return the law of one draw."""
        return trimmed(int(self.start[b]), self.pmf[b])

    @property
    def width(self) -> int:
        """How many counts the windows of all draws together reach over."""
        return int(np.ptp(self.start) + self.pmf.shape[1])

    def in_one_window(self) -> DrawnLaw:
        """Return the same laws in one window for all draws."""
        first = int(self.start.min())
        pmf = np.zeros((self.width, self.start.size))
        at = (self.start - first)[:, None] + np.arange(self.pmf.shape[1])
        pmf[at, np.arange(self.start.size)[:, None]] = self.pmf
        return trimmed_laws(first, pmf)

    def marginal(self) -> Law:
        """Return the law of a count over all draws, with all that windows hold."""
        first, size = int(self.start.min()), self.pmf.shape[1]
        pmf = np.zeros(self.width)
        for begin, each in zip((self.start - first).tolist(), self.pmf, strict=True):
            pmf[begin : begin + size] += each
        return Law(first, pmf / self.start.size)


def nothing(n_draws: int) -> DrawnLaw:
    """Return the laws of no instances."""
    return DrawnLaw(0, np.ones((1, n_draws)))


def _window(pmf: FloatArray) -> tuple[int, int]:
    """Return the rows that are not negligible in all draws, and a few more."""
    most = pmf.max(axis=1)
    low = int(np.searchsorted(np.cumsum(most), NEGLIGIBLE))
    high = most.size - int(np.searchsorted(np.cumsum(most[::-1]), NEGLIGIBLE))
    return max(low - SPARED, 0), min(high + SPARED, most.size)


def trimmed_laws(start: int, pmf: FloatArray) -> DrawnLaw:
    """Return laws without ends that are negligible in all draws, each summing to 1."""
    low, high = _window(pmf)
    kept = pmf[low:high]
    return DrawnLaw(start + low, kept / kept.sum(axis=0))


def convolved_laws(left: DrawnLaw, right: DrawnLaw) -> DrawnLaw:
    """Return the laws of the sums of two counts that are independent in each draw."""
    if left.pmf.shape[0] < right.pmf.shape[0]:
        left, right = right, left
    (long, draws), short = left.pmf.shape, right.pmf.shape[0]
    start, size = left.start + right.start, long + short - 1
    if short == 1:
        return DrawnLaw(start, left.pmf * right.pmf)
    if short <= _SHORT:
        out = np.zeros((size, draws))
        for i in range(short):
            out[i : i + long] += left.pmf * right.pmf[i]
    else:
        length = 1 << (size - 1).bit_length()
        transform = np.fft.rfft(left.pmf, length, axis=0)
        transform *= np.fft.rfft(right.pmf, length, axis=0)
        out = np.maximum(np.fft.irfft(transform, length, axis=0)[:size], 0.0)
    return trimmed_laws(start, out)


def with_instances(law: DrawnLaw, p: FloatArray) -> DrawnLaw:
    """Return the laws with some more instances; `p` has a row for each of them.

    An instance that is probable in the mean is counted as one, less its failure.
    """
    probable = p.mean(axis=1) > 0.5
    ups = int(np.count_nonzero(probable))
    size, draws = law.pmf.shape
    table = np.zeros((size + p.shape[0], draws))
    table[ups : ups + size] = law.pmf
    work = np.empty_like(table)
    start, low, high = law.start - ups, ups, ups + size
    for i, (row, up) in enumerate(zip(p, probable.tolist(), strict=True), start=1):
        if up:
            start, low = start + 1, low - 1
            here = table[low:high][::-1]
            add_instance(here, 1.0 - row, here, work[: here.shape[0] - 1])
        else:
            high += 1
            here = table[low:high]
            add_instance(here, row, here, work[: here.shape[0] - 1])
        if i % _TRIM_EVERY == 0:
            inner = _window(table[low:high])
            table[low : low + inner[0]] = 0.0
            table[low + inner[1] : high] = 0.0
            low, high = low + inner[0], low + inner[1]
    return trimmed_laws(start + low, table[low:high])


def laws_of(pieces: Iterable[tuple[FloatArray, FloatArray]], n_draws: int) -> DrawnLaw:
    """Return the laws of the positives among instances that come in pieces.

    A piece has probabilities, a row for each place and a column for each draw, and how
    many instances each place stands for: one, unless the probabilities are small in all
    draws, or large.
    """
    law = nothing(n_draws)
    small, large = _PowerSums(n_draws), _PowerSums(n_draws)
    for p, weight in pieces:
        if (
            p.shape[0] <= _FEW
            and weight.min(initial=1.0) == weight.max(initial=1.0) == 1.0
        ):
            law = with_instances(law, p)
            continue
        low = p.max(axis=1, initial=0.0) <= SMALL
        high = p.min(axis=1, initial=1.0) >= 1.0 - SMALL
        between = p[~(low | high)]
        if between.shape[0] <= _MANY:
            law = with_instances(law, between)
        else:
            law = convolved_laws(law, laws_of_many(between))
        small.add(p[low], weight[low])
        large.add(1.0 - p[high], weight[high])
    for side in (small, large):
        side.close()
        for part, size in side.laws:
            law = convolved_laws(law, mirrored(part, size) if side is large else part)
    return law


def laws_of_many(p: FloatArray) -> DrawnLaw:
    """Return the laws of many instances; `p` has a row for each of them.

    Laws of some instances each are multiplied as transforms, whose length is that of
    the windows: what is beyond them comes in from the other end, and is negligible.
    A transform of G groups is wrong by G (log2(length) + 2) eps, beside the relative
    errors of their laws, and so is, in all, the law (Cauchy's inequality and
    Parseval's equation): some 300 eps for 1,000 instances.
    """
    m, draws = p.shape
    groups = -(-m // _GROUP)
    rows = np.zeros((groups * _GROUP, draws))
    rows[:m] = p
    table = np.zeros((_GROUP + 1, groups, draws))
    table[0] = 1.0
    work = np.empty_like(table)
    for i, each in enumerate(rows.reshape(_GROUP, groups, draws), start=1):
        add_instance(table[: i + 1], each, table[: i + 1], work[:i])
    start, size, length = _windows(p.sum(axis=0), (p * (1.0 - p)).sum(axis=0), m)
    length = max(length, 2 * _GROUP)  # which holds the law of a group
    each = np.ascontiguousarray(np.moveaxis(table, 0, 2))
    product = np.multiply.reduce(np.fft.rfft(each, length), axis=0)
    folded = np.maximum(np.fft.irfft(product, length), 0.0)
    at = (start[:, None] + np.arange(size)) % length
    laws = AlignedLaws(start, np.take_along_axis(folded, at, axis=1))
    return laws.in_one_window()


def mirrored(law: DrawnLaw, size: int) -> DrawnLaw:
    """Return the laws of `size` minus the count."""
    return DrawnLaw(size - law.start - law.pmf.shape[0] + 1, law.pmf[::-1])


class _PowerSums:
    """Laws of small probabilities from power sums of their odds, in moderate parts."""

    def __init__(self, n_draws: int) -> None:
        self.laws: list[tuple[DrawnLaw, int]] = []
        self._begin(n_draws)

    def _begin(self, n_draws: int) -> None:
        self._sums = np.zeros((_TERMS, n_draws))
        self._mean, self._log_none = np.zeros(n_draws), np.zeros(n_draws)
        self._size = 0.0

    def add(self, p: FloatArray, weight: FloatArray) -> None:
        """Count some more instances."""
        if not weight.size:
            return
        self._mean += weight @ p
        self._log_none += weight @ np.log1p(-p)
        self._size += float(weight.sum())
        odds = p / (1.0 - p)
        power = odds.copy()
        for j in range(power_sum_count(float(p.max()))):
            self._sums[j] += weight @ power
            power *= odds
        if float(self._mean.max()) > _LARGEST_MEAN / 2:
            self.close()

    def close(self) -> None:
        """Make the law of what was counted; see `law_from_power_sums`."""
        terms = int(np.count_nonzero(self._sums.any(axis=1)))
        size, draws = round(self._size), self._mean.size
        if size:
            mean = float(self._mean.max())
            length = min(size, int(mean + 11.0 * np.sqrt(mean) + 30)) + 1
            recent = self._sums[:terms][::-1].copy()
            recent[-2::-2] *= -1.0
            pmf = np.zeros((terms + length, draws))
            pmf[terms] = np.exp(self._log_none)
            for s in range(1, length if terms else 1):
                np.einsum("jb,jb->b", recent, pmf[s : terms + s], out=pmf[terms + s])
                pmf[terms + s] /= s
            law = trimmed_laws(0, np.maximum(pmf[terms:], 0.0))
            self.laws.append((law, size))
        self._begin(draws)


def laws_from_sums(n: int, sums: FloatArray) -> AlignedLaws:
    """Return the laws of counts that vary much in all draws, from sums of features.

    See `law_from_sums` in `bestcut.counts` for what they are wrong by. By Bernstein's
    inequality a count is beyond each end of its window with a probability below 1e-20.
    """
    kappa = cumulant_matrix(sums.shape[0]) @ sums
    sigma = np.sqrt(kappa[1])
    start, size, length = _windows(kappa[0], kappa[1], n)
    omega = 2.0 * np.pi * np.arange(length // 2 + 1) / length
    omega = omega[omega <= _FAR / float(sigma.min())]
    orders = np.arange(1, kappa.shape[0] + 1)[:, None]
    powers = np.cumprod(-1j * omega / orders, axis=0)
    exponent = np.empty((sums.shape[1], omega.size), dtype=np.complex128)
    kappa[0] -= start
    exponent.imag = kappa[::2].T @ powers[::2].imag
    exponent.real = kappa[1::2].T @ powers[1::2].real
    transform = np.exp(exponent)
    # Beyond its own reach a draw's series is not to be trusted, nor needed.
    transform[omega > (_FAR / sigma)[:, None]] = 0.0
    pmf = np.maximum(np.fft.irfft(transform, length)[:, :size], 0.0)
    pmf /= pmf.sum(axis=1, keepdims=True)
    return AlignedLaws(start, pmf)


def _windows(
    mean: FloatArray, variance: FloatArray, n: int
) -> tuple[IndexArray, int, int]:
    """Return where windows begin, their size, and a length of transforms for it."""
    reach = _UNLIKELY / 3.0 + np.sqrt(_UNLIKELY**2 / 9.0 + 2.0 * _UNLIKELY * variance)
    start = np.maximum(np.floor(mean - reach), 0.0)
    size = int(np.max(np.minimum(np.ceil(mean + reach), float(n)) - start)) + 1
    length = 1 << (size - 1).bit_length()
    length = 3 * length // 4 if size <= 3 * length // 4 else length
    return np.minimum(start, n + 1 - size).astype(np.intp), size, length


def joined_draws(parts: list[tuple[IndexArray, DrawnLaw]], n_draws: int) -> DrawnLaw:
    """Return the laws of all draws, from those of some and of the others."""
    if len(parts) == 1:
        return parts[0][1]
    start = min(law.start for _, law in parts)
    stop = max(law.start + law.pmf.shape[0] for _, law in parts)
    pmf = np.zeros((stop - start, n_draws))
    for draws, law in parts:
        pmf[law.start - start : law.start - start + law.pmf.shape[0], draws] = law.pmf
    return DrawnLaw(start, pmf)
