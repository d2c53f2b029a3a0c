"""Scores and probabilities of more than two classes, a column for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._types import FloatArray
from bestcut._validation import check_finite_scores, check_matrix, with_sums_of_1
from bestcut.calibration import Calibration, quietly_calibrated


def class_scores(model: Any, X: Any) -> FloatArray:
    """Return the probability of each class, or scores that rank rows alike."""
    count = len(model.classes_)
    are_known = hasattr(model, "predict_proba")
    name = "predict_proba" if are_known else "decision_function"
    scores = np.asarray(getattr(model, name)(X))
    if scores.shape[1:] != (count,):
        raise errors.bad_value(
            name,
            f"must return a column for each of the {count} classes",
            "Pass decision_function_shape='ovr' to a model that compares pairs of "
            "classes.",
            got=f"shape {scores.shape}",
        )
    if not are_known:
        return check_finite_scores(scores.ravel(), name=name).reshape(scores.shape)
    return with_sums_of_1(check_matrix(scores, name=name), scores)


def calibrated(calibrations: Sequence[Calibration], scores: FloatArray) -> FloatArray:
    """Return the mean calibrated probability of each class, divided by their sum.

    The sum is never 0, because the draws of a map are nowhere 0.
    """
    columns = zip(calibrations, scores.T, strict=True)
    p = np.column_stack(
        [quietly_calibrated(one, column).mean for one, column in columns]
    )
    return np.asarray(p / p.sum(axis=1, keepdims=True))
