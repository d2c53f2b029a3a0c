"""Laws of counts, many side by side: a column for each problem.

Only non-negative numbers are added and multiplied. One more instance rounds 1 - p, a
product and a sum, half an epsilon each, so that after m instances an entry has a
relative error of 1.5 m eps, short of underflow, and so has the sum of all errors.

A window leaves out a row at either end that is negligible in every column, one at each
end for each instance. What is left out never comes back, so that a law of m instances
lacks at most 2 m times `negligible` of its mass, in all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bestcut._types import FloatArray
from bestcut.counts import add_instance

# Mass that a window may drop at either end, with each instance, of a law that scores of
# at most 1 are expected under: 2 m of it are less than m eps / 10^5.
NEGLIGIBLE = 2.0**-70
FEW = 64  # instances whose laws are short: whole ones are as good as windows
LARGEST_TABLES = 256  # probabilities in a problem that all pairs of counts are kept of


class Laws(NamedTuple):
    """Row i of `pmf` holds the probabilities of start + i, a column for each law."""

    start: int
    pmf: FloatArray

    @property
    def counts(self) -> range:
        """The values of the window."""
        return range(self.start, self.start + self.pmf.shape[0])

    def copy(self) -> Laws:
        """Return laws that stay as they are."""
        return Laws(self.start, self.pmf.copy())


def of_nobody(count: int) -> Laws:
    """Return the laws of no instances, for so many problems."""
    return Laws(0, np.ones((1, count)))


def running_laws(first: Laws, p: FloatArray, negligible: float) -> Iterator[Laws]:
    """Yield the laws after 0, 1, ... of the instances, the rows of `p`.

    What is yielded holds until the next step; copy it to keep it.
    """
    low, high = 0, first.pmf.shape[0]
    table = np.zeros((high + p.shape[0], first.pmf.shape[1]))
    table[:high] = first.pmf
    work = np.empty_like(table)
    yield first
    for row in p:
        high += 1
        here = table[low:high]
        add_instance(here, row, here, work[: high - low - 1])
        if table[low].max() <= negligible:
            low += 1
        if high - low > 1 and table[high - 1].max() <= negligible:
            high -= 1
            table[high] = 0.0  # the next instance adds to it
        yield Laws(first.start + low, table[low:high])


def running_laws_backwards(p: FloatArray, negligible: float) -> Iterator[Laws]:
    """Yield the laws after m, m - 1, ..., 0 of the m instances.

    About sqrt(m) of them are kept, and the others computed again; of few, all.
    """
    m, count = p.shape
    forwards = running_laws(of_nobody(count), p, negligible)
    if m <= FEW:
        yield from reversed([laws.copy() for laws in forwards])
        return
    step, end = math.isqrt(m), m
    kept = [laws.copy() for k, laws in enumerate(forwards) if k % step == 0]
    for start in range((len(kept) - 1) * step, -1, -step):
        some = running_laws(kept.pop(), p[start:end], negligible)
        yield from reversed([laws.copy() for laws in some])
        end = start - 1
