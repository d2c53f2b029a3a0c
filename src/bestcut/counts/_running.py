"""Running sums whose errors hardly grow with their length."""

from __future__ import annotations

import numpy as np

from bestcut._types import EPS, FloatArray

_PIECE = 16
_UP_TO = np.triu(np.ones((_PIECE, _PIECE)))


def running_error(length: int) -> float:
    """Bound the relative error of running sums over so many instances (Lemma 8).

    On each level there are at most 16 additions, of half an eps each.
    """
    levels = np.ceil(np.log(max(length, 2)) / np.log(_PIECE))
    return float((8.0 * levels + 5.0) * EPS)


def running_sums(rows: FloatArray, start: FloatArray | None = None) -> FloatArray:
    """Return the sums of the first 0, 1, 2, ... columns, on top of `start`.

    They are added up in short pieces, and the sums of these in the same way, so that
    few additions lie between a sum and its terms.
    """
    count, size = rows.shape
    pieces = -(-size // _PIECE)
    inner = np.empty((count, pieces, _PIECE))
    flat = inner.reshape(count, -1)
    flat[:, :size], flat[:, size:] = rows, 0.0
    inner = (inner.reshape(-1, _PIECE) @ _UP_TO).reshape(inner.shape)
    # The last column of the first piece is the sum of nothing.
    out = np.empty((count, pieces + 1, _PIECE))
    out[:, 0, -1] = 0.0 if start is None else start
    if pieces > 1:
        before = running_sums(inner[:, :-1, -1], out[:, 0, -1])
        np.add(inner, before[:, :, None], out=out[:, 1:])
    else:
        np.add(inner, out[:, :1, -1:], out=out[:, 1:])
    return out.reshape(count, -1)[:, _PIECE - 1 : _PIECE + size]
