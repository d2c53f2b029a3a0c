"""What many predictions scored, once labels are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut._validation import check_label_matrix, check_labels
from bestcut.metrics import AnyMetric, RowUtility


def realised_by_axis(
    metric: AnyMetric, y_true: Any, labels: Any, axis: int | None
) -> FloatArray:
    """Return the score of each row (1), each column (0), or of the whole (None).

    Labels may be sparse, as those of a sparse matrix are; then the truth may be, too.
    """
    if hasattr(labels, "tocsr"):
        return _of_sparse(metric, y_true, labels.tocsr(), axis)
    predicted = np.asarray(labels, dtype=np.bool_)
    truth = check_label_matrix(y_true, predicted.shape, name="y_true")
    if isinstance(metric, RowUtility):
        hit, miss = metric.worths(truth.shape, of="y_true").of(predicted)
        return np.asarray(np.where(truth, hit, miss).sum(axis=axis))
    n = truth.size if axis is None else truth.shape[axis]
    tp, n_pred, n_pos = (
        np.sum(x, axis=axis) for x in (truth & predicted, predicted, truth)
    )
    return np.asarray(metric(tp, n_pred, n_pos, n))


def _of_sparse(metric: Any, y_true: Any, labels: Any, axis: int | None) -> FloatArray:
    """Return the same for labels of which only the positive ones are held."""
    if hasattr(y_true, "tocsr"):
        truth = y_true.tocsr()
        if truth.shape != labels.shape:
            raise errors.not_a_label_matrix(
                name="y_true", wanted=labels.shape, shape=truth.shape
            )
        check_labels(truth.data, truth.data.size, name="y_true.data", of="y_true.data")
    else:
        truth = type(labels)(check_label_matrix(y_true, labels.shape, name="y_true"))
    truth = truth.astype(np.int64)
    n = int(np.prod(labels.shape)) if axis is None else labels.shape[axis]
    positive = labels.astype(np.int64)
    tp, n_pred, n_pos = (
        np.asarray(x.sum(axis=axis)).reshape(() if axis is None else -1)
        for x in (truth.multiply(positive), positive, truth)
    )
    return np.asarray(metric(tp, n_pred, n_pos, n))


def realised_by_group(
    metric: AnyMetric, y_true: Any, labels: Any, member_of: IndexArray, count: int
) -> FloatArray:
    """Return the score of each of some groups, of which each instance has one."""
    predicted: BoolArray = np.asarray(labels, dtype=np.bool_)
    truth = check_labels(y_true, predicted.size, name="y_true")
    if isinstance(metric, RowUtility):
        hit, miss = metric.worths(truth.shape, of="y_true").of(predicted)
        worth = np.where(truth, hit, miss)
        return np.bincount(member_of, worth, count).astype(np.float64)
    everything = np.ones_like(truth)
    tp, n_pred, n_pos, n = (
        np.bincount(member_of[chosen], minlength=count)
        for chosen in (truth & predicted, predicted, truth, everything)
    )
    return np.asarray(metric(tp, n_pred, n_pos, n))
