"""What an entry of a column is worth, leaving itself out of the column's positives.

The score of a column whose metric is base(S) + slope(S) TP is, in expectation over the
number of positives S,

    E[base(S)] + sum over predicted i of p_i E[slope(1 + S_i)],

where S_i counts the positives but for entry i. With the differences D slope,

    E[slope(1 + S_i)] = sum over m of (-p_i)^m E[D^m slope(1 + S)]            (Lemma 20)

up to a remainder of at most p_i^M E[|D^M slope(1 + S)| + |D^M slope(S)|] after M terms:
one polynomial in p_i for all entries of a column. Where that does not converge, the
columns being short, entry i is divided out of the distribution.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray
from bestcut.assignment._entries import ColumnGroup
from bestcut.counts import (
    LEAST_VARIANCE,
    NOTHING,
    ROOM,
    Law,
    ListedSide,
    SummedSide,
    count_laws,
    dropped,
    error_of_sums,
    law_error,
)

_SHORT = 256  # entries of columns whose distributions are computed side by side
_TERMS = 12
CLOSE = 1e-14  # of the largest sum of weights: what a series may leave out
_TABLE = 1 << 22  # probabilities that are kept of distributions without one entry


class Weights(NamedTuple):
    """What the entries of some columns add to their scores.

    Attributes
    ----------
    of_entries : ndarray of float, shape (columns, entries)
        What each entry adds.
    error : ndarray of float, shape (columns,)
        What the sum over any entries of a column may be wrong by.
    """

    of_entries: FloatArray
    error: FloatArray


class Series(NamedTuple):
    """The weights of entries, as polynomials of their probabilities.

    Attributes
    ----------
    terms : ndarray of float, shape (terms, columns)
        What p, p², ... are worth.
    error : ndarray of float, shape (columns,)
        What the sum over any entries of a column may be wrong by.
    """

    terms: FloatArray
    error: FloatArray

    def at(self, p: FloatArray) -> FloatArray:
        """Return the weights of entries with probabilities p, by columns."""
        total = np.repeat(self.terms[-1][:, None], p.shape[1], axis=1)
        for term in self.terms[-2::-1]:
            total *= p
            total += term[:, None]
        total *= p
        return total

    def sum(self, powers: FloatArray) -> FloatArray:
        """Return the sums of weights over entries whose powers have these sums."""
        return np.asarray(np.sum(self.terms * powers, axis=0))


def power_sums(p: FloatArray, taken: BoolArray, count: int) -> FloatArray:
    """Return the sums of p, p², ... over the entries taken in each column."""
    sizes = np.count_nonzero(taken, axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes[:-1])])
    p = p[taken]
    out, power = np.empty((count, sizes.size)), np.ones(p.size + 1)
    power[-1] = 0.0  # where columns without entries may begin
    for row in out:
        power[:-1] *= p
        np.add.reduceat(power, starts, out=row)
        row[sizes == 0] = 0.0
    return out


class ColumnLaws:
    """The distributions of the numbers of positives of some columns.

    Parameters
    ----------
    group : ColumnGroup
        The columns.
    n : int
        How many rows there are, with those that have no entry in a column.
    divides : bool, default=True
        Whether entries may be divided out of distributions, which takes memory.

    Attributes
    ----------
    counts : ndarray of float, shape (columns, width)
        Numbers of positives.
    pmf : ndarray of float, shape (columns, width)
        Their probabilities.
    """

    def __init__(self, group: ColumnGroup, n: int, *, divides: bool = True) -> None:
        self.group, self.n, self.divides = group, n, divides
        columns, m = group.p.shape
        if m <= _SHORT:
            self.pmf = np.ascontiguousarray(count_laws(group.p.T).T)
            start = np.zeros(columns)
            self.error = np.full(columns, (1.5 * m + 16) * EPS)
        else:
            start, self.pmf, self.error = self._one_by_one()
        width = self.pmf.shape[1]
        self._all_counts = start[:, None] + np.arange(width + _TERMS + 1.0)
        self.counts = self._all_counts[:, :width]
        self.mean = group.p.sum(axis=1)
        after = np.concatenate([self.pmf, np.zeros((columns, 1))], axis=1)
        before = np.concatenate([np.zeros((columns, 1)), self.pmf], axis=1)
        self._near = after + before  # P(S = s) + P(S = s + 1), from s = start - 1 on
        self._near[start == 0.0, 0] = 0.0  # there is no s = -1
        self._powers: FloatArray | None = None
        self._without: FloatArray | None = None

    def _one_by_one(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return where distributions begin, the distributions, and their errors."""
        laws, errors = [], []
        for p, size in zip(self.group.p, self.group.sizes.tolist(), strict=True):
            listed = ListedSide(p[:size])
            error = dropped(size)
            if listed.variance >= LEAST_VARIANCE:
                law = SummedSide(size, listed.sums(ROOM), 0.0, law_of_nobody).law
                error += float(error_of_sums(np.array(listed.variance)))
            else:
                law = listed.law
            laws.append(law)
            errors.append(error + law_error(law.pmf.size, size))
        width = max(law.pmf.size for law in laws)
        pmf = np.zeros((len(laws), width))
        for row, law in zip(pmf, laws, strict=True):
            row[: law.pmf.size] = law.pmf
        return np.array([float(x.start) for x in laws]), pmf, np.array(errors)

    def mean_of(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return expectations of functions of the counts, and their rounding errors."""
        values = np.broadcast_to(values, self.pmf.shape)
        size = np.einsum("cw,cw->c", self.pmf, np.abs(values))
        return np.einsum("cw,cw->c", self.pmf, values), self.error * size

    def arguments(self) -> FloatArray:
        """Return the numbers of positives at which `weights` wants the slope.

        None is above n; a number of positives that cannot be may stand for one that can
        be, since no entry is then left out.
        """
        return np.minimum(self._all_counts, float(self.n))

    def series(self, slope: FloatArray, close: float = CLOSE) -> Series | Weights:
        """Return what entries add to the scores of their columns.

        Weights themselves are returned where polynomials do not converge.

        Parameters
        ----------
        slope : ndarray of float, shape (columns, width + 13)
            The slope at `arguments`.
        close : float
            How much may be left out, of the largest sum of weights.
        """
        width = self.pmf.shape[1]
        p = self.group.p
        slope = np.broadcast_to(slope, self._all_counts.shape)
        largest = np.max(np.abs(slope[:, : width + 1]), axis=1)
        difference, terms = slope, []
        left = np.full(p.shape[0], np.inf)
        for m in range(_TERMS):
            here = difference[:, 1 : width + 1]
            terms.append((-1.0) ** m * np.einsum("cw,cw->c", self.pmf, here))
            difference = difference[:, 1:] - difference[:, :-1]
            size = np.abs(difference[:, : width + 1])
            left = np.einsum("cw,cw->c", self._near, size) * self.power_sums()[m + 1]
            if np.all(left <= close * largest * self.power_sums()[0]):
                break
        else:
            far = left > 1e-12 * largest
            if np.any(far) and width * p.size <= _TABLE and self.divides:
                return self._divided_out(slope)
        rounding = self.error + (p.shape[1] + 2.0 ** min(len(terms), 6) + 16) * EPS
        return Series(np.stack(terms), left + rounding * largest * self.mean)

    def weights(self, slope: FloatArray, close: float = CLOSE) -> Weights:
        """Return what each entry adds to the score of its column.

        Parameters are those of `series`.
        """
        series = self.series(slope, close)
        if isinstance(series, Weights):
            return series
        return Weights(series.at(self.group.p), series.error)

    def power_sums(self) -> FloatArray:
        """Return the sums of p, p², ... over each column."""
        if self._powers is None:
            p = self.group.p
            out, power = np.empty((_TERMS + 1, p.shape[0])), p.copy()
            for m in range(_TERMS + 1):
                out[m] = power.sum(axis=1)
                power *= p
            self._powers = out
        return self._powers

    def _divided_out(self, slope: FloatArray) -> Weights:
        """Return the same from the distributions without each entry."""
        width = self.pmf.shape[1]
        out = np.einsum("wcm,cw->cm", self._laws_without(), slope[:, :width])
        out *= self.group.p
        largest = np.max(np.abs(slope[:, :width]), axis=1)
        rounding = self.error + (4 * width + self.group.p.shape[1] + 16) * EPS
        return Weights(out, rounding * largest * self.mean)

    def _laws_without(self) -> FloatArray:
        """Return P(S = s, given that an entry is positive), for s, column and entry.

        As `bestcut.counts.given_positive` does for one column: the distribution is
        divided upwards for p <= 1/2 and downwards otherwise, so that errors never grow.
        """
        if self._without is None:
            p, pmf = self.group.p, self.pmf.T[:, :, None]
            width = self.pmf.shape[1]
            likely = p > 0.5
            yes = np.where(likely, p, 1.0 - p)
            keep = (1.0 - yes) / yes
            out = np.zeros((width, *p.shape))
            up, down = np.zeros(p.shape), np.zeros(p.shape)
            for s in range(width - 1):
                up = pmf[s] / yes - keep * up  # P(S_i = s)
                out[s + 1] = np.where(likely, 0.0, up)
            for s in range(width - 1, -1, -1):
                down = pmf[s] / yes - keep * down  # P(S_i = s - 1)
                out[s] = np.where(likely, down, out[s])
            out[0, self._all_counts[:, 0] == 0.0] = 0.0  # a positive is counted
            self._without = out
        return self._without


def law_of_nobody() -> Law:
    """Return the law of no instances, for a side whose law nobody asks for."""
    return NOTHING
