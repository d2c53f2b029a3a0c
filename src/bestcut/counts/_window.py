"""Exact laws of counts on the values that matter, fast.

A window leaves out values at both ends that together have less than `NEGLIGIBLE`
probability, each time it is trimmed. Laws are rescaled to sum to 1, so that what a
window drops, and the rounding of many convolutions, does not add up.

References
----------
W. Biscarri, S. D. Zhao and R. J. Brunner (2018). A simple and fast method for computing
the Poisson binomial distribution function. Computational Statistics & Data Analysis
122, 92-100. (Convolutions in the form of a tree.)

X.-H. Chen, A. P. Dempster and J. S. Liu (1994). Weighted finite population sampling to
maximize entropy. Biometrika 81, 457-469. (The recursion on power sums of the odds.)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bestcut._types import EPS, BoolArray, FloatArray
from bestcut.counts._exact import add_instance
from bestcut.counts._running import running_error, running_sums

NEGLIGIBLE = 1e-20
SPARED = 4  # negligible values that a trimmed law keeps at either end
_SMALL = 0.1  # probabilities this near to 0 or 1 enter through power sums
_LARGEST_MEAN = 200.0  # exp(-mean) must not underflow
_UNREACHED = 1e-24  # well below what windows leave out
_FEW = 256
_CACHE = 8192


@dataclass(frozen=True)
class Law:
    """The probability of start + i is pmf[i]."""

    start: int
    pmf: FloatArray

    @property
    def counts(self) -> FloatArray:
        """The values of the window."""
        return np.arange(self.start, self.start + self.pmf.size, dtype=np.float64)

    def narrowed(self, chance: float) -> Law:
        """Return the law without ends of at most this probability each."""
        if chance <= 0.0:
            return self
        low = int(np.searchsorted(np.cumsum(self.pmf), chance))
        high = self.pmf.size - int(np.searchsorted(np.cumsum(self.pmf[::-1]), chance))
        return Law(self.start + low, self.pmf[low:high])

    def mirrored(self, size: int) -> Law:
        """Return the law of `size` minus the count."""
        return Law(size - self.start - self.pmf.size + 1, self.pmf[::-1])


NOTHING = Law(0, np.ones(1))


def law_error(size: int, n: int) -> float:
    """Bound the relative error of an expectation over laws of `size` values in all.

    Lemma 5: laws of n instances are convolutions of positive terms, whose relative
    errors are at most those of their parts and one eps for each term of a sum, along
    log2(n) levels of halving sizes: 2 size. The sum over the laws adds as much. Their
    parts of up to 256 instances carry 1 eps for each, on either side, and so do their
    rules for small probabilities; the metric rounds, too.
    """
    return (4 * size + 2 * min(n, _FEW) + 16) * EPS


def dropped(n: int) -> float:
    """Bound the mass that windows leave out of the laws of n instances in all.

    A law of 256 instances is trimmed once or twice, and so is each convolution.
    """
    return (256 + n / 16) * NEGLIGIBLE


def trimmed(start: int, pmf: FloatArray) -> Law:
    """Return the law without negligible ends, summing to 1.

    A few negligible values stay, so that a count that is all but certain keeps the
    small chances of its neighbours: they are all there is to choose by.
    """
    low, high = 0, pmf.size
    if pmf[0] <= NEGLIGIBLE:
        low = max(int(np.searchsorted(np.cumsum(pmf), NEGLIGIBLE)) - SPARED, 0)
    if pmf[-1] <= NEGLIGIBLE:
        dropped = int(np.searchsorted(np.cumsum(pmf[::-1]), NEGLIGIBLE)) - SPARED
        high -= max(dropped, 0)
    possible = np.flatnonzero(pmf[low:high])
    low, high = low + int(possible[0]), low + int(possible[-1]) + 1
    kept = pmf[low:high]
    return Law(start + low, kept / kept.sum())


def convolved(left: Law, right: Law) -> Law:
    """Return the law of the sum of two independent counts."""
    if left.pmf.size == 1:
        return Law(left.start + right.start, right.pmf)
    return trimmed(left.start + right.start, np.convolve(left.pmf, right.pmf))


def law_of(eta: FloatArray) -> Law:
    """Return the law of the number of positives among `eta`, in any order."""
    if eta.size <= _FEW:
        return _of_few(eta)
    low, high = eta <= _SMALL, eta >= 1.0 - _SMALL
    between, confident = eta[~(low | high)], 1.0 - eta[high]
    laws = [_of_few(between[i : i + _FEW]) for i in range(0, between.size, _FEW)]
    laws += [_of_small(eta[low]), _of_small(confident).mirrored(confident.size)]
    while len(laws) > 1:
        pairs = zip(laws[::2], laws[1::2], strict=False)
        rest = laws[-1:] if len(laws) % 2 else []
        laws = [convolved(a, b) for a, b in pairs] + rest
    return laws[0]


def _of_few(eta: FloatArray) -> Law:
    """Add instances to about sqrt(n) laws side by side, then merge these."""
    rows = int(np.sqrt(eta.size)) + 1
    steps = -(-eta.size // rows)
    grid = np.zeros((rows, steps))
    grid.ravel()[: eta.size] = eta
    laws = np.zeros((steps + 1, rows))
    laws[0] = 1.0
    for size, p in enumerate(grid.T, start=2):
        add_instance(laws[:size], p, laws[:size])
    law = laws[:, 0]
    for other in laws.T[1:]:
        law = np.convolve(law, other)
    return trimmed(0, law[: eta.size + 1])  # the grid had room for more instances


def _of_small(eta: FloatArray) -> Law:
    """Return the law of small probabilities, in parts of moderate mean."""
    if eta.size <= _FEW:
        return _of_few(eta)
    parts = int(eta.sum() / _LARGEST_MEAN) + 1
    law = NOTHING
    for part in range(parts):
        law = convolved(law, _by_power_sums(eta[part::parts]))
    return law


def _by_power_sums(eta: FloatArray) -> Law:
    """Return the law from the power sums of the odds."""
    sums = np.zeros(power_sum_count(float(eta.max(initial=0.0))))
    log_none = 0.0
    for i in range(0, eta.size, _CACHE):
        block = eta[i : i + _CACHE]
        odds = block / (1.0 - block)
        log_none += float(np.log1p(-block).sum())
        power = odds.copy()
        for j in range(sums.size):
            sums[j] += power.sum()
            power *= odds
    return law_from_power_sums(eta.size, float(eta.sum()), log_none, sums)


def power_sum_count(largest: float) -> int:
    """Return how many power sums of odds a law needs, by its largest probability.

    Term j is at most mean largest^(j-1), times p_(s-j)/p_s of about (s/mean)^j.
    """
    return 1 + int(60.0 / -np.log(largest)) if largest > 0.0 else 0


def law_from_power_sums(
    size: int, mean: float, log_none: float, sums: FloatArray
) -> Law:
    """Return the law of a count from sum rho^j, where rho = eta / (1 - eta) is small.

    The generating function is prod (1 - eta) (1 + rho z). Differentiating its
    logarithm, s p_s = sum_j (-1)^(j+1) q_j p_(s-j), where q_j = sum rho^j falls fast.
    `log_none` is the sum of log(1 - eta).
    """
    terms = sums.size
    if terms == 0:
        return NOTHING
    length = min(size, int(mean + 11.0 * np.sqrt(mean) + 30)) + 1
    recent = sums[::-1].copy()
    recent[-2::-2] *= -1.0
    pmf = np.zeros(terms + length)
    pmf[terms] = np.exp(log_none)
    for s in range(1, length):
        pmf[terms + s] = recent @ pmf[s : terms + s] / s
    # Far beyond the mode the recursion is noise of either sign, well below NEGLIGIBLE.
    return trimmed(0, np.maximum(pmf[terms:], 0.0))


def running_laws(
    start: Law, eta: FloatArray
) -> tuple[Law, NDArray[np.int_], FloatArray]:
    """Add the instances one by one.

    Returns
    -------
    last : Law
        The law after all of them.
    origin : ndarray of shape (eta.size + 1,)
        The count that the first column stands for, after i instances.
    table : ndarray of shape (eta.size + 1, width)
        Row i: the law after i instances.

    Notes
    -----
    A probable instance is counted as one, less its failure: the origin moves, not the
    law, so that a row of sure instances keeps its law in a few columns. A law is worked
    out only where an instance changes it: one that is sure to be negative, or positive,
    has the law of the row before it. Columns that are reached with a chance below
    `_UNREACHED` are left out.
    """
    probable = eta > 0.5
    doubt = np.where(probable, 1.0 - eta, eta)
    unsure = doubt > 0.0
    down = probable[unsure]
    doubts = doubt[unsure]
    room = _most(doubts[down])
    origin = start.start - room + np.concatenate([[0], np.cumsum(probable)])
    width = room + start.pmf.size + _most(doubts[~down])
    table = np.zeros((doubts.size + 1, width))
    table[0, room : room + start.pmf.size] = start.pmf
    # Relative errors: 2 EPS a row by rows, and by columns what `running_error` says for
    # each beside 1 EPS a row.
    columns = width * running_error(doubts.size) <= doubts.size * EPS
    columns &= bool(doubts.sum() <= _LARGEST_MEAN)
    if columns and not down.any():
        _fill_by_columns(table, doubts)
    elif columns and down.all():
        _fill_by_columns(table[:, ::-1], doubts)
    else:
        _fill_by_rows(table, doubts, down)
    last = trimmed(int(origin[-1]), table[-1])
    if doubts.size < eta.size:
        table = table[np.concatenate([[0], np.cumsum(unsure)])]
    return last, origin, table


def _most(p: FloatArray) -> int:
    """Return a number that a count exceeds with a chance below `_UNREACHED` only.

    Chernoff: at least m positives, more than the mean, have a chance of at most
    exp(m - mean - m log(m / mean)).
    """
    mean, m = float(p.sum()), np.arange(1.0, p.size + 1.0)
    with np.errstate(over="ignore"):
        log_chance = m - mean - m * np.log(m / mean) if p.size else m
    likely = (m <= mean) | (log_chance >= np.log(_UNREACHED))
    return int(np.count_nonzero(likely))


def _fill_by_rows(table: FloatArray, p: FloatArray, down: BoolArray) -> None:
    """Fill the rows below the first, each by adding an instance to the one above."""
    pairs = zip(p.tolist(), down.tolist(), strict=True)
    for row, after, (chance, is_down) in zip(table, table[1:], pairs, strict=False):
        step = -1 if is_down else 1
        add_instance(row[::step], chance, after[::step])


def _fill_by_columns(table: FloatArray, p: FloatArray) -> None:
    """Fill the rows below the first, column by column.

    Divided by prod (1 - p), column s grows from row to row by the odds times column
    s - 1: it is a running sum of these.
    """
    none = np.cumprod(np.concatenate([[1.0], 1.0 - p]))
    odds = p / (1.0 - p)
    column = np.zeros(p.size + 1)
    for s in range(table.shape[1]):
        column = running_sums((odds * column[:-1])[None], table[:1, s])[0]
        np.multiply(column, none, out=table[:, s])


def given_positive(law: Law, eta: FloatArray) -> FloatArray:
    """Return P(S = s, given that an instance of probability eta is positive).

    A row for each value of the window, a column for each of `eta`, which are among
    those that S counts, in descending order. The generating function
    z G(z) / (1 - eta + eta z) is divided
    upwards for eta <= 1/2 and downwards otherwise: errors never grow.
    """
    high = int(np.searchsorted(-eta, -0.5))  # how many are above 1/2
    yes = np.concatenate([eta[:high], 1.0 - eta[high:]])  # the larger of eta, 1 - eta
    keep = (1.0 - yes) / yes
    # Step i divides entry i from below for small probabilities, from above for others.
    table = np.empty((law.pmf.size, eta.size))
    np.multiply.outer(law.pmf[::-1], 1.0 / yes[:high], out=table[:, :high])
    np.multiply.outer(law.pmf, 1.0 / yes[high:], out=table[:, high:])
    work = np.empty(eta.size)
    for before, here in pairwise(table):
        np.multiply(keep, before, out=work)
        here -= work
    out = np.zeros_like(table)
    out[:, :high] = table[::-1, :high]
    out[1:, high:] = table[:-1, high:]
    if law.start == 0:
        out[0] = 0.0  # exactly: a positive is counted
    return out
