"""The exact expected scores of columns, by sums over the entries that are taken.

By Lemma 20 the score of a column is a polynomial in the probabilities of its entries,

    E[base(S)] + sum over m of c_m * (sum of p_i^(m + 1) over the entries taken),

whose coefficients depend on the size of the column alone.
"""

from __future__ import annotations

import numpy as np

from bestcut._types import FloatArray
from bestcut.assignment._column_laws import ColumnLaws
from bestcut.assignment._entries import Entries
from bestcut.metrics import Affine, affine_parts

_POWERS = 6


class ExactScores:
    """The expected scores of columns, of a metric affine in TP.

    Parameters
    ----------
    laws : list of ColumnLaws
        The distributions of the columns' numbers of positives.
    metric : Affine
        The metric.
    share : ndarray of float, shape (columns,)
        What a unit of each column's score is worth.
    entries : Entries
        The matrix.
    """

    powers = _POWERS

    def __init__(
        self,
        laws: list[ColumnLaws],
        metric: Affine,
        share: FloatArray,
        entries: Entries,
    ) -> None:
        columns = entries.shape[1]
        self.metric, self.share, self.n = metric, share, float(entries.instances)
        width = max((x.pmf.shape[1] for x in laws), default=1)
        self.pmf = np.zeros((columns, width))
        self.start, self.width = np.zeros((2, columns))
        for law in laws:
            at = law.group.columns
            self.pmf[at, : law.pmf.shape[1]] = law.pmf
            self.start[at], self.width[at] = law.counts[:, 0], law.pmf.shape[1]
        self._kept = {x: _Kept(columns) for x in (-1, 0, 1)}

    def _parts(self, size: FloatArray, beside: int) -> _Kept:
        """Return the coefficients of columns of some sizes, and their bases.

        Only columns whose size has changed are looked at. `beside` says where these
        sizes are from those of the assignment.
        """
        kept = self._kept[beside]
        changed = np.flatnonzero(kept.size != size)
        if changed.size:
            width = int(self.width[changed].max())
            counts = self.start[changed, None] + np.arange(width + _POWERS)
            size = size[changed]
            base, slope = affine_parts(
                self.metric, size[:, None], np.minimum(counts, self.n), self.n
            )
            weighted = self.share[changed, None] * self.pmf[changed, :width]
            weighted *= self.metric.sign
            here = np.broadcast_to(slope, counts.shape)
            for m in range(_POWERS):
                # The slope at 1 + s, and its differences.
                shifted = here[:, 1 : width + 1]
                if shifted.shape[1] < width:
                    shifted = np.pad(shifted, ((0, 0), (0, width - shifted.shape[1])))
                kept.coefficients[m, changed] = (-1.0) ** m * np.einsum(
                    "cw,cw->c", weighted, shifted
                )
                here = np.diff(here, axis=1)
            base = np.broadcast_to(base, counts.shape)[:, :width]
            kept.base[changed] = np.einsum("cw,cw->c", weighted, base)
            kept.size[changed] = size
        return kept

    def _value(self, sums: FloatArray, size: FloatArray, beside: int) -> FloatArray:
        kept = self._parts(size, beside)
        return np.asarray(kept.base + np.einsum("mc,mc->c", kept.coefficients, sums))

    def value(self, sums: FloatArray, size: FloatArray) -> FloatArray:
        """Return the weighted utility of every column."""
        return self._value(sums, size, 0)

    def slopes(
        self, sums: FloatArray, size: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what each power of p is worth in each column, and what is its cost."""
        last = max(self.n - 1.0, 1.0)
        before, after = (np.clip(size + x, 1.0, last) for x in (-1, 1))
        less = self._value(sums, after, 1) - self._value(sums, before, -1)
        coefficients = self._parts(np.clip(size, 1.0, last), 0).coefficients.copy()
        return coefficients, -less / np.maximum(after - before, 1.0)


class _Kept:
    """The coefficients of columns, at the sizes that they had last."""

    def __init__(self, columns: int) -> None:
        self.size = np.full(columns, np.nan)
        self.coefficients = np.zeros((_POWERS, columns))
        self.base = np.zeros(columns)
