"""scikit-learn scorers that need no labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._validation import check_positive_class
from bestcut.metrics import Metric, get
from bestcut.scores import expected_score


class ExpectedScorer:
    """The expected metric of a classifier's predictions, by its own probabilities.

    Made by `make_expected_scorer`. Call it as scikit-learn calls scorers,
    ``scorer(estimator, X, y)``; `y` is not looked at and may be left out. Larger is
    better: a loss comes with a minus.
    """

    def __init__(self, metric: Metric, pos_label: Any = None) -> None:
        self.metric, self.pos_label = metric, pos_label

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the expected score of ``estimator.predict(X)``."""
        if not hasattr(estimator, "predict_proba"):
            raise errors.no_probabilities(type(estimator).__name__)
        classes = np.asarray(estimator.classes_)
        if classes.size != 2:
            raise errors.not_two_classes(classes.tolist())
        label = classes[1] if self.pos_label is None else self.pos_label
        check_positive_class(label, classes)
        column = int(np.flatnonzero(classes == label)[0])
        p = np.asarray(estimator.predict_proba(X))[:, column]
        score = expected_score(
            p, np.asarray(estimator.predict(X)) == label, self.metric
        )
        return score if self.metric.greater_is_better else -score

    def __repr__(self) -> str:
        label = "" if self.pos_label is None else f", pos_label={self.pos_label!r}"
        return f"make_expected_scorer({self.metric.name!r}{label})"


def make_expected_scorer(
    metric: str | Metric = "f1", *, pos_label: Any = None
) -> ExpectedScorer:
    """Make a scikit-learn scorer of the expected metric, which needs no labels.

    For monitoring, and for choosing between calibrated models on unlabelled data.

    Parameters
    ----------
    metric : str or Metric, default="f1"
        What to expect. A loss is returned with a minus, as scikit-learn wants it.
    pos_label : int, float, bool or str, optional
        The positive class; the second of the classifier's classes if None.

    Returns
    -------
    ExpectedScorer
        To be called as ``scorer(estimator, X)`` or passed as ``scoring=``.

    Notes
    -----
    A model is judged by its own probabilities: one that is sure of itself expects a
    high score. Compare models this way only if they are calibrated.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bestcut.scorers import make_expected_scorer
    >>> X, y = make_classification(n_samples=300, random_state=0)
    >>> model = LogisticRegression().fit(X[:200], y[:200])
    >>> round(make_expected_scorer("f1")(model, X[200:]), 2)
    0.91
    """
    return ExpectedScorer(get(metric), pos_label)
