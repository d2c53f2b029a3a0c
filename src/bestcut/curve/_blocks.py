"""The ranking cut into blocks: small near both ends, where curves bend most."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from bestcut._types import FloatArray, IndexArray
from bestcut.metrics import Metric

_SHORTEST, _LONGEST = 1024, 8192
_SHARE = 4
_WIDE = 8192  # numbers in extended precision at a time


def block_edges(n: int) -> IndexArray:
    """Return 0 = edge_0 < edge_1 < ... = n, close to each other near both ends.

    Apart from short ones, a block is at most a quarter as long as the way to the nearer
    end.
    """
    left = [0]
    while left[-1] < n // 2:
        step = min(max(left[-1] // _SHARE, _SHORTEST), _LONGEST)
        left.append(left[-1] + step)
    half = [edge for edge in left if edge <= n // 2]
    return np.unique([0, n, *half, *(n - edge for edge in half)]).astype(np.intp)


def running_totals(
    totals: FloatArray,
    before: FloatArray | None = None,
    after: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of the columns before and from each edge on.

    `before` and `after` are columns at either end, 0 unless given. Extended precision
    keeps thousands of blocks from adding their rounding errors.
    """
    count, size = totals.shape
    above, below = np.empty((count, size + 1)), np.empty((count, size + 1))
    # As many rows at a time as stay in cache: numbers of this kind are wide.
    step = max(_WIDE // (size + 2), 1)
    for first in range(0, count, step):
        here = slice(first, first + step)
        wide = np.zeros((above[here].shape[0], size + 2), dtype=np.longdouble)
        wide[:, 1:-1] = totals[here]
        if before is not None:
            wide[:, 0] = before[here]
        if after is not None:
            wide[:, -1] = after[here]
        above[here] = np.cumsum(wide[:, :-1], axis=1)
        below[here] = np.cumsum(wide[:, :0:-1], axis=1)[:, ::-1]
    return above, below


class BlockCurve(ABC):
    """An expected-score curve that is computed block by block.

    Attributes
    ----------
    edges : ndarray of int
        Block j holds the cuts ``edges[j]`` to ``edges[j + 1]``, both included.
    """

    edges: IndexArray

    @abstractmethod
    def block(self, j: int) -> tuple[FloatArray, FloatArray | float]:
        """Return the expected score of every cut of block j, and bounds on its error.

        The error is that of the cuts, or one number for all.
        """

    def whole(self) -> tuple[FloatArray, FloatArray]:
        """Return the expected score of every cut, and bounds on the errors."""
        size = int(self.edges[-1]) + 1
        values, errors = np.empty(size), np.empty(size)
        before: Any = 0.0  # an edge is in two blocks
        for j in range(self.edges.size - 1):
            first, last = self.edges[j], self.edges[j + 1]
            values[first : last + 1], error = self.block(j)
            errors[first : last + 1] = error
            errors[first] = max(errors[first], before)
            before = errors[last]
        return values, errors


class CurveOfNobody(BlockCurve):
    """The only cut there is if there are no instances."""

    def __init__(self, metric: Metric) -> None:
        self.edges, self._metric = np.array([0, 0]), metric

    def block(self, j: int) -> tuple[FloatArray, FloatArray | float]:
        """Return the score of that cut, which has no error."""
        zero = np.zeros(1)
        return np.asarray(self._metric.score(zero, zero, zero, zero), float), 0.0
