"""Bins of probabilities, and what is kept of each: a count and four moments.

A bin is the leading bits of min(p, 1 - p): its exponent and eight bits of its mantissa,
once below 1/2 and once above. So the values of a bin agree to 0.4%, in p and in 1 - p.
Below 2^-64 there is one more bin; above 1 - 2^-53 there are no numbers but 1 itself.

With x = min(p, 1 - p) = centre + half s, the moments are the sums of s, s², s³ and s⁴
over the bin. They are as good as five weighted values of x: the sum of a polynomial of
fourth degree follows from them, and that of x^5 up to 2^-49 of it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from bestcut._types import CountArray, FloatArray

MOMENTS = 4
_BITS = 8  # of the mantissa
_SHIFT = 52 - _BITS
_LEAST = 64  # 2^-64 is the smallest edge between bins
_FIRST = (1023 - _LEAST) << _BITS
HALF = 1 << 14  # room for the bins on either side of 1/2; not all are used
BINS = 2 * HALF
_LAST = ((_LEAST - 1) << _BITS) + 1  # the bin of 1/2, which holds nothing else
_OPEN = (1 << _SHIFT) - 1  # the bits that the bin leaves open
_ONE = int(np.float64(1.0).view(np.int64))
_BLOCK = 1 << 14  # temporaries stay in cache


def _any_tiny(x: FloatArray) -> bool:
    return bool(x.min(initial=1.0) < 2.0**-_LEAST)


def _folded(p: FloatArray) -> tuple[FloatArray, CountArray]:
    """Return x = min(p, 1 - p) and the number of the bin of p.

    Bins are numbered upwards: p <= q implies that the bin of p is at most that of q.
    """
    x = np.subtract(1.0, p)
    np.minimum(x, p, out=x)
    key = x.view(np.int64) >> _SHIFT
    key -= _FIRST - 1
    if _any_tiny(x):
        np.maximum(key, 0, out=key)
    upper = np.subtract(0.5, p).view(np.int64)
    upper >>= 63  # all bits set where p > 1/2, none elsewhere
    upper &= BINS - 1
    key ^= upper
    return x, key


def bin_of(p: FloatArray) -> CountArray:
    """Return the number of each probability's bin."""
    out = np.empty(p.size, dtype=np.int64)
    for i in range(0, p.size, _BLOCK):
        out[i : i + _BLOCK] = _folded(p[i : i + _BLOCK])[1]
    return out


def between(p: FloatArray, low: float, high: float) -> FloatArray:
    """Return the probabilities from `low` to `high`, both included."""
    found = []
    for i in range(0, p.size, 4 * _BLOCK):
        block = p[i : i + 4 * _BLOCK]
        inside = block >= low
        inside &= block <= high
        found.append(block[inside])
    return np.concatenate(found) if found else np.empty(0)


def _offsets(x: FloatArray, out: FloatArray) -> None:
    """Write s in [-1, 1], from the bits of the mantissa that the bin leaves open."""
    bits = x.view(np.int64) & _OPEN
    bits |= _ONE
    np.subtract(bits.view(np.float64), 1.0 + 2.0 ** -(_BITS + 1), out=out)
    out *= 2.0 ** (_BITS + 1)
    if _any_tiny(x):
        tiny = x < 2.0**-_LEAST
        out[tiny] = x[tiny] * 2.0**_LEAST


def count_and_moments(
    p: FloatArray, orders: int = MOMENTS
) -> tuple[CountArray, FloatArray]:
    """Return the count of every bin, and its moments of the first orders in rows."""
    count = np.zeros(BINS, dtype=np.int64)
    moments = np.zeros((MOMENTS, BINS))
    length = 16 * _BLOCK
    keys = np.empty(min(length, p.size), dtype=np.int64)
    powers = np.empty((orders, keys.size))
    for i in range(0, p.size, length):
        block = p[i : i + length]
        for j in range(0, block.size, _BLOCK):
            here = slice(j, min(j + _BLOCK, block.size))
            x, keys[here] = _folded(block[here])
            s = powers[0, here]
            _offsets(x, s)
            for power in range(1, orders):
                np.multiply(powers[power - 1, here], s, out=powers[power, here])
        key = keys[: block.size]
        count += np.bincount(key, minlength=BINS)
        for row, weights in zip(moments, powers[:, : block.size], strict=False):
            row += np.bincount(key, weights=weights, minlength=BINS)
    return count, moments


class Geometry(NamedTuple):
    """Where the bins are: x = centre + half s, and the least and largest p of each."""

    centre: FloatArray
    half: FloatArray
    low: FloatArray
    high: FloatArray


@cache
def geometry() -> Geometry:
    """Return where every bin is."""
    bits = np.arange(HALF, dtype=np.int64) + _FIRST
    edges = (bits << _SHIFT).view(np.float64)  # of bins 1, 2, ..., HALF
    width = np.diff(edges)
    centre = np.concatenate([[0.0], edges[:-1] + width / 2])
    half = np.concatenate([[2.0**-_LEAST], width / 2])
    least = np.concatenate([[0.0], edges[:-1]])
    most = np.nextafter(edges, 0.0)
    most[_LAST:] = least[_LAST:] = 0.5
    # Above 1/2, where 1 - p is exact, a bin begins after the end of the one below.
    begin = np.maximum(1.0 - edges, 0.5)
    begin = np.where(1.0 - begin < edges, begin, np.nextafter(begin, 2.0))
    return Geometry(
        np.concatenate([centre, centre[::-1]]),
        np.concatenate([half, half[::-1]]),
        np.concatenate([least, np.minimum(begin, 1.0)[::-1]]),
        np.concatenate([most, 1.0 - least[::-1]]),
    )
