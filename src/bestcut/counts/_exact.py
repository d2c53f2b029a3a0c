"""Exact laws of the number of positives: Poisson-binomial distributions.

A law is an array: entry s is the probability of s positives. Only non-negative numbers
are added and multiplied, so that after n instances each entry has a relative error of
at most ``2 * n`` machine epsilons, short of underflow: three roundings of half an
epsilon per instance and room for their products.

References
----------
R. E. Barlow and K. D. Heidtmann (1984). Computing k-out-of-n system reliability. IEEE
Transactions on Reliability 33, 322-323. (One instance after the other.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bestcut._types import FloatArray


def add_instance(
    law: FloatArray,
    p: float | FloatArray,
    out: FloatArray,
    work: FloatArray | None = None,
) -> None:
    """Write laws with one more instance of probability `p` into `out`.

    Counts run along the first axis, and the last of them has no mass yet. Further axes
    hold laws side by side, each with its own `p`. `out` may be `law` itself.
    """
    moved = np.multiply(law[:-1], p, out=work)
    np.multiply(law, 1.0 - p, out=out)
    out[1:] += moved


def with_instance(law: FloatArray, p: float) -> FloatArray:
    """Return the law with one more instance of probability `p`."""
    out = np.append(law, 0.0)
    add_instance(out, p, out)
    return out


def remove_instance(law: FloatArray, p: float) -> FloatArray:
    """Return the law without one of its instances, of probability `p`.

    Solves ``law = with_instance(out, p)`` from the end from which errors shrink: each
    step multiplies what came before by p/(1-p) or its inverse, whichever is at most 1.
    """
    if p > 0.5:
        return remove_instance(law[::-1], 1.0 - p)[::-1]
    out = np.empty(law.size - 1)
    q, before = 1.0 - p, 0.0
    for s in range(out.size):
        before = max(law[s] - p * before, 0.0) / q
        out[s] = before
    return out


def count_laws(p: FloatArray) -> FloatArray:
    """Return the law of the number of positives in each column."""
    laws = np.zeros((p.shape[0] + 1, p.shape[1]))
    laws[0] = 1.0
    for size, row in enumerate(p, start=2):
        add_instance(laws[:size], row, laws[:size])
    return laws


def prefix_laws(p: FloatArray) -> Iterator[FloatArray]:
    """Yield the laws of the first k instances for k = 0, 1, ..., n."""
    law = np.ones(1)
    yield law
    for p_i in p:
        law = with_instance(law, p_i)
        yield law


def prefix_laws_backwards(p: FloatArray) -> Iterator[FloatArray]:
    """Yield the laws of the first k instances for k = n, n - 1, ..., 0.

    Nothing is divided out, which would be unsafe, and not every law is kept, which
    would take O(n²) memory: about sqrt(n) of them are, and the others computed again.
    """
    step = max(1, math.isqrt(p.size))
    kept = [law for k, law in enumerate(prefix_laws(p)) if k % step == 0]
    end = p.size
    for i in range(len(kept) - 1, -1, -1):
        between = [kept.pop()]
        for p_i in p[i * step : end]:
            between.append(with_instance(between[-1], p_i))
        yield from reversed(between)
        end = i * step - 1


def law_of_count(p: FloatArray) -> FloatArray:
    """Return the law of the number of positives among all instances."""
    law = np.ones(1)
    for p_i in p:
        law = with_instance(law, p_i)
    return law


@dataclass(frozen=True)
class WindowedLaw:
    """A law on the counts that matter.

    Attributes
    ----------
    start : int
        The count that the first entry belongs to.
    pmf : ndarray
        Probabilities of start, start + 1, ...
    dropped : float
        Mass outside the window: what the expectation of a function bounded by 1 can
        lose.
    counts : ndarray
        The counts of the window: start, start + 1, ...

    See Also
    --------
    bestcut.counts.poisson_binomial_window : Returns one.
    bestcut.counts.poisson_binomial : The whole distribution.

    Examples
    --------
    >>> from bestcut.counts import poisson_binomial_window
    >>> law = poisson_binomial_window([0.5] * 400)
    >>> law.start > 100, round(float(law.counts @ law.pmf), 9)
    (True, 200.0)
    """

    start: int
    pmf: FloatArray
    dropped: float

    @property
    def counts(self) -> FloatArray:
        """The counts of the window."""
        return self.start + np.arange(self.pmf.size, dtype=np.float64)


def windowed_law(p: FloatArray, tail: float) -> WindowedLaw:
    """Return the law of the count, dropping at most `tail` of its mass at the ends."""
    allowance = tail / (2 * max(p.size, 1))  # for one instance and one end
    start, law, dropped = 0, np.ones(1), 0.0
    for p_i in p:
        law = with_instance(law, p_i)
        low = _negligible(law, allowance)
        high = law.size - _negligible(law[::-1], allowance)
        dropped += float(law[:low].sum() + law[high:].sum())
        start, law = start + low, law[low:high]
    return WindowedLaw(start, law, dropped)


def _negligible(law: FloatArray, allowance: float) -> int:
    """Count the leading entries whose sum is at most `allowance`."""
    mass, i = law[0], 0
    while mass <= allowance and i < law.size - 1:
        i += 1
        mass += law[i]
    return i
