"""What displays draw of a fitted classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors
from bestcut._types import FloatArray
from bestcut._validation import check_positive_class
from bestcut.decision import Decision, decide, probabilities_behind
from bestcut.metrics import Metric
from bestcut.uncertain import UncertainProbabilities


def metric_of(estimator: Any, metric: str | Metric | None) -> str | Metric:
    """Return the metric that was asked for, or the one a classifier decides for."""
    chosen: str | Metric = getattr(estimator, "metric", "f1")
    return chosen if metric is None else metric


def classes_of(estimator: Any) -> NDArray[Any]:
    """Return what the classes are called."""
    if not hasattr(estimator, "classes_"):
        raise errors.bad_value(
            "estimator",
            f"must be a fitted classifier; {type(estimator).__name__} has no "
            "`classes_`",
            "Fit it first; for probabilities of your own there is `from_predictions`.",
        )
    return np.asarray(estimator.classes_)


def class_probabilities(estimator: Any, X: Any) -> FloatArray:
    """Return the probabilities of all classes."""
    if not hasattr(estimator, "predict_proba"):
        raise errors.no_probabilities(type(estimator).__name__)
    return np.asarray(estimator.predict_proba(X))


def positive_label(estimator: Any, pos_label: Any) -> Any:
    """Return the positive class: the one asked for, the classifier's, or the second."""
    classes = classes_of(estimator)
    if classes.size != 2:
        raise errors.bad_value(
            "estimator",
            f"must have two classes to draw a cut between; it has {classes.tolist()}",
            "For more use `ClassScoresDisplay` or `ClassConfusionDisplay`, or pass "
            "the probabilities of one class to a method such as `from_predictions`.",
        )
    label = _own_label(estimator) if pos_label is None else pos_label
    check_positive_class(label, classes)
    return label


def positive_probabilities(
    estimator: Any, X: Any, pos_label: Any
) -> FloatArray | UncertainProbabilities:
    """Return the probabilities of the positive class, or draws if it decides so."""
    label = positive_label(estimator, pos_label)
    if _decides_for(estimator, label):
        return probabilities_behind(estimator.decide(X))
    column = int(np.flatnonzero(classes_of(estimator) == label)[0])
    return class_probabilities(estimator, X)[:, column]


def decision_of(
    estimator: Any, X: Any, metric: str | Metric | None, pos_label: Any
) -> Decision:
    """Return a classifier's own decision if it makes one, or the best for a metric."""
    label = positive_label(estimator, pos_label)
    if metric is None and _decides_for(estimator, label):
        own: Decision = estimator.decide(X)
        return own
    p = positive_probabilities(estimator, X, pos_label)
    return decide(p, metric_of(estimator, metric))


def _own_label(estimator: Any) -> Any:
    own = getattr(estimator, "pos_label", None)
    return estimator.classes_[1] if own is None else own


def _decides_for(estimator: Any, label: Any) -> bool:
    """Return whether a classifier decides for a batch, with that class as positive."""
    return hasattr(estimator, "decide") and bool(_own_label(estimator) == label)
