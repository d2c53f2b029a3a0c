"""What m labelled rows of an urn say about n others: limits without assumptions.

An urn holds m + n rows, some of them positive. Drawn at random, m are labelled and x
of these are positive. `least_positives` and `most_positives` bound how many of the n
others are, each with a chance of error of at most `level`, however many there are in
the urn. Lemma 14 in docs/how-it-works/lemmas.md has the proof.
"""

from __future__ import annotations

import numpy as np

from bestcut._types import CountArray, FloatArray

# Tails are compared after adding this share of them, so that rounding widens limits. A
# tail is a quotient of two sums of W exponentials whose exponents, at most 150 in size,
# are sums of at most W terms: off by less than 300 W eps, and W is below 10^6 for urns
# of 10^9 rows.
_ROUNDING = 1e-7
# A law is looked at this far around its mode; beyond it there is less than 1e-30. That
# is what is left of a Gaussian, and the constant is for the longer tail of rare events.
_DEVIATIONS, _BEYOND = 12.0, 60
_AT_ONCE = 2_000_000  # numbers in memory


def least_positives(
    x: CountArray, m: CountArray, n: CountArray, level: FloatArray | float
) -> CountArray:
    """Return the smallest numbers of positives among n others that are believable.

    Parameters
    ----------
    x, m, n : ndarray of int, shape (g,)
        Positives among the labelled rows, labelled rows, and other rows, for g urns.
    level : float, or ndarray of shape (g,)
        Chance that there are fewer than the answer, at most.

    Returns
    -------
    ndarray of int, shape (g,)
        ``min{y : P(H >= x) > level}`` for H positives among m rows drawn from an urn of
        m + n that holds x + y.
    """
    level = np.broadcast_to(level, x.shape)
    low, high = np.zeros_like(n), n.copy()  # with all positive nothing is surprising
    while True:
        open_ = np.flatnonzero(low < high)
        if not open_.size:
            return low
        middle = (low[open_] + high[open_]) // 2
        tail = upper_tail(x[open_], x[open_] + middle, m[open_], (m + n)[open_])
        believable = tail * (1.0 + _ROUNDING) > level[open_]
        high[open_[believable]] = middle[believable]
        low[open_[~believable]] = middle[~believable] + 1


def most_positives(
    x: CountArray, m: CountArray, n: CountArray, level: FloatArray | float
) -> CountArray:
    """Return the largest numbers of positives among n others that are believable."""
    return n - least_positives(m - x, m, n, level)


def upper_tail(
    x: CountArray, positive: CountArray, drawn: CountArray, rows: CountArray
) -> FloatArray:
    """Return P(H >= x), H positives among the drawn rows of an urn."""
    first = np.maximum(0, positive + drawn - rows)
    last = np.minimum(positive, drawn)
    mode = np.clip((drawn + 1) * (positive + 1) // (rows + 2), first, last)
    share, other = drawn / rows, (rows - drawn) / np.maximum(rows - 1, 1)
    spread = np.sqrt(share * other * positive * ((rows - positive) / rows))
    reach = np.ceil(_DEVIATIONS * spread).astype(np.int64) + _BEYOND
    start, end = np.maximum(first, mode - reach), np.minimum(last, mode + reach)
    width = int((end - start).max()) + 1
    tail = np.empty(x.size)
    step = max(1, _AT_ONCE // width)
    for i in range(0, x.size, step):
        part = slice(i, i + step)
        at = start[part, None] + np.arange(width)
        k, d, n = (v[part, None] for v in (positive, drawn, rows))
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = (k - at) / (at + 1.0) * ((d - at) / (n - k - d + at + 1.0))
            log_law = np.cumsum(np.log(odds[:, :-1]), axis=1)
        log_law = np.concatenate([np.zeros((len(at), 1)), log_law], axis=1)
        inside = at <= end[part, None]
        log_law[~inside] = -np.inf
        log_law -= log_law.max(axis=1, keepdims=True)
        law = np.exp(log_law)
        tail[part] = (law * (at >= x[part, None])).sum(axis=1) / law.sum(axis=1)
    return tail
