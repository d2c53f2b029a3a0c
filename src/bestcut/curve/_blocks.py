"""The ranking cut into blocks: small near both ends, where curves bend most."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from bestcut._validation import FloatArray

_SHORTEST, _LONGEST = 256, 4096


def block_edges(n: int, also: tuple[int, ...] = ()) -> NDArray[np.intp]:
    """Return 0 = edge_0 < edge_1 < ... = n, close to each other near both ends.

    Apart from the first and the last, a block is at most a quarter as long as the way
    to the nearer end. `also` are edges that must be among them.
    """
    left = [0]
    while left[-1] < n // 2:
        step = min(max(left[-1] // 4, _SHORTEST), _LONGEST)
        left.append(left[-1] + step)
    half = [edge for edge in left if edge <= n // 2]
    return np.unique([0, n, *half, *(n - edge for edge in half), *also]).astype(np.intp)


def running_totals(
    totals: FloatArray,
    before: FloatArray | None = None,
    after: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of the columns before and from each edge on.

    `before` and `after` are columns at either end, 0 unless given. Extended precision
    keeps thousands of blocks from adding their rounding errors.
    """
    wide = np.zeros((totals.shape[0], totals.shape[1] + 2), dtype=np.longdouble)
    wide[:, 1:-1] = totals
    if before is not None:
        wide[:, 0] = before
    if after is not None:
        wide[:, -1] = after
    above = np.cumsum(wide[:, :-1], axis=1).astype(np.float64)
    below = np.cumsum(wide[:, :0:-1], axis=1)[:, ::-1].astype(np.float64)
    return above, below


class BlockCurve(ABC):
    """An expected-score curve that is computed block by block.

    Attributes
    ----------
    edges : ndarray of int
        Block j holds the cuts ``edges[j]`` to ``edges[j + 1]``, both included.
    smooth : bool
        Whether the rates of change vary slowly from edge to edge.
    """

    edges: NDArray[np.intp]
    smooth: bool

    @abstractmethod
    def block(self, j: int) -> FloatArray:
        """Return the expected score of every cut of block j."""

    @abstractmethod
    def at_edges(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the expected score E f at every edge, and two rates of change there.

        The first rate is of one more predicted positive that is a false one,
        E[f(tp, k + 1) - f(tp, k)]; the second of it being a true one instead.
        """

    def whole(self) -> FloatArray:
        """Return the expected score of every cut."""
        out = np.empty(int(self.edges[-1]) + 1)
        for j in range(self.edges.size - 1):
            out[self.edges[j] : self.edges[j + 1] + 1] = self.block(j)
        return out
