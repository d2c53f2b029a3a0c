"""Matrices as they are given, dense or sparse, and labels in their shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._types import FloatArray
from bestcut._validation import (
    NotTwoDimensional,
    check_matrix,
    check_probabilities,
)
from bestcut.assignment._entries import Entries


def check_rows(
    values: Any, *, name: str, refusal: NotTwoDimensional = errors.not_two_dimensional
) -> FloatArray:
    """Return a dense matrix of probabilities with at least one column."""
    matrix = check_matrix(values, name=name, refusal=refusal)
    if matrix.shape[1] == 0:
        raise errors.no_columns(name, matrix.shape)
    return matrix


def entries_of(values: Any, *, name: str) -> Entries:
    """Return the entries of a dense or sparse matrix of probabilities."""
    if not hasattr(values, "tocsr"):
        return Entries.of_matrix(check_rows(values, name=name))
    sparse = values.tocsr(copy=True)
    sparse.sum_duplicates()
    if sparse.shape[1] == 0:
        raise errors.no_columns(name, sparse.shape)
    p = check_probabilities(sparse.data, name=f"{name}.data")
    indices, indptr = (np.asarray(x, np.intp) for x in (sparse.indices, sparse.indptr))
    return Entries.of_sparse(p, indices, indptr, int(sparse.shape[1]))


def as_sparse(entries: Entries, labels: list[Any], like: Any) -> Any:
    """Return labels as a sparse matrix of the kind that was given."""
    rows, columns = [], []
    for group, taken in zip(entries.groups, labels, strict=True):
        at = np.nonzero(taken)
        rows.append(group.rows[at[0]])
        columns.append(at[1] if group.columns is None else group.columns[at])
    row, column = (np.concatenate([np.empty(0, np.intp), *x]) for x in (rows, columns))
    kind = type(like.tocsr())
    out = kind((np.ones(row.size, np.bool_), (row, column)), shape=like.shape)
    out.sort_indices()
    return out
