"""The exact expected scores of columns, by sums over the entries that are taken.

By Lemma 20 the score of a column is a polynomial in the probabilities of its entries,

    E[base(S)] + sum over m of c_m * (sum of p_i^(m + 1) over the entries taken),

whose coefficients depend on the size of the column alone.
"""

from __future__ import annotations

import numpy as np

from bestcut._types import FloatArray
from bestcut.many._column_laws import ColumnLaws
from bestcut.many._entries import Entries
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
        start = np.zeros(columns)
        for law in laws:
            self.pmf[law.group.columns, : law.pmf.shape[1]] = law.pmf
            start[law.group.columns] = law.counts[:, 0]
        counts = start[:, None] + np.arange(width + _POWERS)
        self.counts = np.minimum(counts, self.n)

    def _parts(self, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients of columns of some sizes, and their bases."""
        width = self.pmf.shape[1]
        parts = affine_parts(self.metric, size[:, None], self.counts, self.n)
        base, slope = (np.broadcast_to(x, self.counts.shape) for x in parts)
        weighted = self.share[:, None] * self.pmf * self.metric.sign
        coefficients = np.empty((_POWERS, size.size))
        here = slope
        for m in range(_POWERS):
            # The slope at 1 + s, and its differences.
            shifted = here[:, 1 : width + 1]
            if shifted.shape[1] < width:
                shifted = np.pad(shifted, ((0, 0), (0, width - shifted.shape[1])))
            coefficients[m] = (-1.0) ** m * np.einsum("cw,cw->c", weighted, shifted)
            here = np.diff(here, axis=1)
        return coefficients, np.einsum("cw,cw->c", weighted, base[:, :width])

    def value(self, sums: FloatArray, size: FloatArray) -> FloatArray:
        """Return the weighted utility of every column."""
        coefficients, base = self._parts(size)
        return np.asarray(base + np.einsum("mc,mc->c", coefficients, sums))

    def slopes(
        self, sums: FloatArray, size: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what each power of p is worth in each column, and what is its cost."""
        inside = np.clip(size, 1.0, max(self.n - 1.0, 1.0))
        ends = [np.clip(inside + x, 1.0, max(self.n - 1.0, 1.0)) for x in (-1.0, 1.0)]
        before, after = (self.value(sums, end) for end in ends)
        apart = np.maximum(ends[1] - ends[0], 1.0)
        return self._parts(inside)[0], (before - after) / apart
