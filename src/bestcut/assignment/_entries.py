"""The entries of a matrix of probabilities, by rows and by columns.

Rows are kept in groups of about the same length, padded to a matrix each, so that every
step is one operation on a matrix; a dense matrix is one group. Entries of probability
0 are padding: they are never predicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestcut._types import CountArray, FloatArray, IndexArray

_BLOCK = 1 << 18  # entries of columns that are looked at together


class RowGroup(NamedTuple):
    """Rows that are looked at together.

    Attributes
    ----------
    rows : ndarray of int, shape (r,)
        Which rows of the matrix.
    p : ndarray of float, shape (r, m)
        Their probabilities; 0 is padding.
    columns : ndarray of int, shape (r, m), or None
        Whose they are; None: of column 0, 1, and so on.
    padded : bool
        Whether any of `p` is 0.
    start : int
        Where the group begins among all entries.
    """

    rows: IndexArray
    p: FloatArray
    columns: IndexArray | None
    padded: bool
    start: int

    def column_of(self, some: Any) -> Any:
        """Return the columns of some of its rows, or all columns."""
        return slice(None) if self.columns is None else self.columns[some]


class ColumnGroup(NamedTuple):
    """Columns that are looked at together, padded to a matrix.

    Attributes
    ----------
    columns : ndarray of int, shape (c,)
        Which columns of the matrix.
    sizes : ndarray of int, shape (c,)
        How many entries each of them has.
    entries : ndarray of int, shape (c, m)
        Where their entries stand among all; padding stands at 0.
    p : ndarray of float, shape (c, m)
        Their probabilities; 0 is padding, and comes last.
    """

    columns: IndexArray
    sizes: CountArray
    entries: IndexArray
    p: FloatArray

    @property
    def padded(self) -> bool:
        """Whether there is padding."""
        return bool(np.any(self.sizes < self.p.shape[1]))


class Entries:
    """The entries of a matrix.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns.
    groups : list of RowGroup
        The rows.
    lengths : ndarray of int
        How many entries each row has.
    instances : int
        How many instances each column has, with those that have no entry in it.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        groups: list[RowGroup],
        instances: int | None = None,
    ) -> None:
        self.shape, self.groups = shape, groups
        self.instances = shape[0] if instances is None else instances
        self.lengths = np.zeros(shape[0], dtype=np.intp)
        for group in groups:
            self.lengths[group.rows] = np.count_nonzero(group.p, axis=1)

    @classmethod
    def of_matrix(cls, p: FloatArray) -> Entries:
        """Return the entries of a dense matrix; zeros are as if they were not there."""
        if p.size and float(p.min()) == 0.0:
            row, column = np.nonzero(p)
            lengths = np.bincount(row, minlength=p.shape[0])
            ends = np.concatenate([[0], np.cumsum(lengths)])
            return cls.of_sparse(p[row, column], column, ends, p.shape[1])
        return cls(p.shape, [RowGroup(np.arange(p.shape[0]), p, None, False, 0)])

    @classmethod
    def of_sparse(
        cls, p: FloatArray, indices: IndexArray, indptr: IndexArray, columns: int
    ) -> Entries:
        """Return the entries of a sparse matrix, from its rows one after another."""
        if p.size and float(p.min()) == 0.0:
            there = p > 0.0
            indptr = np.concatenate([[0], np.cumsum(there)])[indptr]
            p, indices = p[there], indices[there]
        stored = np.diff(indptr)
        filled = np.flatnonzero(stored)  # a row without entries is in no group
        classes = np.ceil(np.log2(stored[filled]))
        order = np.argsort(classes, kind="stable")
        ends = np.flatnonzero(np.diff(classes[order])) + 1
        groups, start = [], 0
        for rows in np.split(filled[order], ends):
            if not rows.size:
                continue
            width = int(stored[rows].max())
            inside = np.arange(width) < stored[rows, None]
            at = (indptr[rows, None] + np.arange(width))[inside]
            here = np.zeros(inside.shape)
            column = np.zeros(inside.shape, dtype=np.intp)
            here[inside], column[inside] = p[at], indices[at]
            groups.append(
                RowGroup(rows, here, column, bool(np.any(here == 0.0)), start)
            )
            start += here.size
        return cls((stored.size, columns), groups)

    def as_one_column(self) -> Entries:
        """Return the same with all entries in one column."""
        groups = [x._replace(columns=np.zeros(x.p.shape, np.intp)) for x in self.groups]
        return Entries((self.shape[0], 1), groups, self.shape[0] * self.shape[1])

    @property
    def p(self) -> FloatArray:
        """All probabilities, padding among them."""
        parts = [group.p.ravel() for group in self.groups]
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0), *parts])

    def row_of_entries(self) -> IndexArray:
        """Return the row of every entry."""
        parts = [np.repeat(group.rows, group.p.shape[1]) for group in self.groups]
        return np.concatenate([np.empty(0, dtype=np.intp), *parts])

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum over each column of a value for each entry."""
        total = np.zeros(self.shape[1])
        for group in self.groups:
            here = self.part(values, group)
            if group.columns is None:
                total += here.sum(axis=0)
            else:
                total += np.bincount(group.columns.ravel(), here.ravel(), self.shape[1])
        return total

    def part(self, values: NDArray[Any], group: RowGroup) -> NDArray[Any]:
        """Return what a group has of a value for each entry."""
        stop = group.start + group.p.size
        return values[group.start : stop].reshape(group.p.shape)

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return what each group has of a value for each entry."""
        return [self.part(values, group) for group in self.groups]

    def column_groups(self) -> Iterator[ColumnGroup]:
        """Yield the columns, in groups of about the same length."""
        n, count = self.shape
        if len(self.groups) == 1 and self.groups[0].columns is None:
            order = np.arange(n * count).reshape(n, count).T.ravel()
            sizes = np.full(count, n)
        else:
            order, sizes = self._by_column()
        starts = np.concatenate([[0], np.cumsum(sizes)])
        p = self.p
        ranked = np.argsort(sizes, kind="stable")
        first = 0
        while first < count:
            # Sizes rise, so that the last one is the width of a group.
            last = first + 1
            while last < count and (last + 1 - first) * sizes[ranked[last]] <= _BLOCK:
                last += 1
            columns = ranked[first:last]
            width = int(sizes[columns].max())
            inside = np.arange(width) < sizes[columns, None]
            entries = np.zeros(inside.shape, dtype=np.intp)
            at = starts[columns, None] + np.arange(width)
            entries[inside] = order[at[inside]]
            here = np.where(inside, p[entries] if p.size else 0.0, 0.0)
            yield ColumnGroup(columns, sizes[columns], entries, here)
            first = last

    def _by_column(self) -> tuple[IndexArray, CountArray]:
        """Return the entries in the order of columns, and how many each has."""
        p = self.p
        columns = np.concatenate(
            [np.empty(0, dtype=np.intp)]
            + [
                np.broadcast_to(
                    np.arange(self.shape[1]) if x.columns is None else x.columns,
                    x.p.shape,
                ).ravel()
                for x in self.groups
            ]
        )
        stored = np.flatnonzero(p > 0.0)
        order = stored[np.argsort(columns[stored], kind="stable")]
        return order, np.bincount(columns[stored], minlength=self.shape[1])
