"""The ranking cut into blocks: small near both ends, where curves bend most."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut._validation import FloatArray

_SHORTEST, _LONGEST = 1024, 8192
_SHARE = 4


def block_edges(n: int, also: tuple[int, ...] = ()) -> NDArray[np.intp]:
    """Return 0 = edge_0 < edge_1 < ... = n, close to each other near both ends.

    Apart from short ones, a block is at most a quarter as long as the way to the nearer
    end. `also` are edges that must be among them.
    """
    left = [0]
    while left[-1] < n // 2:
        step = min(max(left[-1] // _SHARE, _SHORTEST), _LONGEST)
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
    count, size = totals.shape
    above, below = np.empty((count, size + 1)), np.empty((count, size + 1))
    # A row at a time: what is wide stays in cache.
    wide = np.zeros(size + 2, dtype=np.longdouble)
    sums = np.empty(size + 1, dtype=np.longdouble)
    for row, total in enumerate(totals):
        wide[1:-1] = total
        wide[0] = 0.0 if before is None else before[row]
        wide[-1] = 0.0 if after is None else after[row]
        above[row] = np.cumsum(wide[:-1], out=sums)
        below[row] = np.cumsum(wide[:0:-1], out=sums)[::-1]
    return above, below


def running_error(length: int) -> float:
    """Bound the relative error of running sums over so many instances (Lemma 8).

    There are twice the root of the length additions, of half an eps each.
    """
    return float((np.sqrt(length) + 5.0) * np.finfo(float).eps)


def running_sums(rows: FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, 2, ... columns.

    They are added up in pieces of about the root of the length, and these again, so
    that few additions lie between a sum and its terms.
    """
    count, size = rows.shape
    step = max(int(np.sqrt(size)), 1)
    pieces = -(-size // step)
    padded = np.zeros((count, pieces * step))
    padded[:, :size] = rows
    inner = padded.reshape(count, pieces, step)
    np.cumsum(inner, axis=2, out=inner)
    inner[:, 1:] += np.cumsum(inner[:, :-1, -1], axis=1)[:, :, None]
    out = np.zeros((count, size + 1))
    out[:, 1:] = padded[:, :size]
    return out


class BlockCurve(ABC):
    """An expected-score curve that is computed block by block.

    Attributes
    ----------
    edges : ndarray of int
        Block j holds the cuts ``edges[j]`` to ``edges[j + 1]``, both included.
    """

    edges: NDArray[np.intp]

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
