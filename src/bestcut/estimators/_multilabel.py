"""A multi-label classifier that decides for the average it is judged by."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from bestcut import _errors as errors
from bestcut._types import FloatArray
from bestcut.many.multilabel import MultilabelDecision, decide
from bestcut.metrics import Metric


def _inner_has(method: str) -> Any:
    def has(self: ExpectedMetricMultilabelClassifier) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return has


class ExpectedMetricMultilabelClassifier(
    ClassifierMixin, MetaEstimatorMixin, BaseEstimator
):
    """Predict the label sets with the best expected average score.

    With ``average="samples"`` each row is decided by itself. With ``"macro"`` and
    ``"micro"`` a batch is decided as a whole: the labels of a row depend on the other
    rows.

    Parameters
    ----------
    estimator : estimator
        A multi-label classifier with ``predict_proba``: one-vs-rest, chains, trees,
        forests, neighbours, perceptrons, ``MultiOutputClassifier``. It is cloned. Pass
        a model that is already fitted as ``sklearn.frozen.FrozenEstimator(model)``.
    metric : str or Metric, default="f1"
        What to maximise.
    average : {"samples", "macro", "micro"}, default="samples"
        The mean over rows, the mean over labels, or one score for all entries.
    min_positives, max_positives : int, optional
        Bounds on the number of positives in each row, for each label, or in all.
    n_jobs : int, default=1
        How many threads decide.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    classes_ : list of ndarray
        The classes of each label, 0 and 1.
    n_features_in_, feature_names_in_
        As the inner model has them.

    Raises
    ------
    ValueError
        In ``fit``, if `Y` is not a matrix of 0 and 1, or a parameter is not known.
    SolverMismatchError
        In ``fit``, if the metric does not satisfy the ranking principle.

    See Also
    --------
    bestcut.estimators.ExpectedMetricClassifier : One label, or one class, for each row.
    bestcut.multilabel.decide : The same for probabilities.

    Notes
    -----
    Labels are taken to be independent given the probabilities. For a model that draws
    whole label vectors see `bestcut.decide_samples`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> from bestcut.estimators import ExpectedMetricMultilabelClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> inner = MultiOutputClassifier(LogisticRegression())
    >>> model = ExpectedMetricMultilabelClassifier(inner).fit(X[:80], Y[:80])
    >>> model.predict(X[80:]).shape
    (20, 5)
    """

    def __init__(
        self,
        estimator: Any,
        metric: str | Metric = "f1",
        *,
        average: str = "samples",
        min_positives: int = 0,
        max_positives: int | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.average = average
        self.min_positives = min_positives
        self.max_positives = max_positives
        self.n_jobs = n_jobs

    def fit(self, X: Any, Y: Any, **params: Any) -> ExpectedMetricMultilabelClassifier:
        """Fit the inner model.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            Training data, as the inner estimator takes it.
        Y : array-like of shape (n, n_labels)
            0 and 1 for each label.
        **params : dict
            For the ``fit`` of the inner estimator.

        Returns
        -------
        object
            The classifier itself.

        Raises
        ------
        ValueError
            If `Y` is not a matrix of 0 and 1, or a parameter is not known.
        """
        kind = type_of_target(Y, input_name="Y", raise_unknown=True)
        if kind != "multilabel-indicator":
            raise errors.not_multilabel(kind)
        values = np.unique(Y.data if hasattr(Y, "tocsr") else np.asarray(Y))
        if not np.isin(values, (0, 1)).all():
            raise errors.other_values(name="Y", values=values.tolist())
        self._decide(np.zeros((0, 1)))  # a wrong metric is refused here
        self.estimator_ = clone(self.estimator).fit(X, Y, **params)
        self.n_labels_ = int(np.shape(Y)[1])
        self.classes_ = [np.array([0, 1])] * self.n_labels_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _decide(self, probabilities: FloatArray) -> MultilabelDecision:
        return decide(
            probabilities,
            self.metric,
            average=self.average,
            min_positives=self.min_positives if probabilities.size else 0,
            max_positives=self.max_positives,
            n_jobs=self.n_jobs,
        )

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n, n_labels)
            The same form for every inner model.
        """
        check_is_fitted(self, "estimator_")
        return _probability_matrix(self.estimator_, self.estimator_.predict_proba(X))

    def decide(self, X: Any) -> MultilabelDecision:
        """Decide for a batch, and return the whole decision.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.

        Returns
        -------
        MultilabelDecision
            With ``labels``, ``expected_score`` and ``each``.
        """
        return self._decide(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Return the label sets with the best expected average score.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.

        Returns
        -------
        ndarray of shape (n, n_labels)
            0 and 1.
        """
        return np.asarray(self.decide(X).labels, dtype=np.int_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def _probability_matrix(model: Any, found: Any) -> FloatArray:
    """Return a column for each label, from either form of `predict_proba`.

    Some models return a matrix. Others return a list with a matrix for each label,
    whose columns are the classes seen: only one if the label never varied.
    """
    if not isinstance(found, list):
        return np.asarray(found, dtype=np.float64)
    columns = []
    for part, classes in zip(found, model.classes_, strict=True):
        positive = np.flatnonzero(np.asarray(classes) == 1)
        part = np.asarray(part, dtype=np.float64)
        column = part[:, positive[0]] if positive.size else np.zeros(part.shape[0])
        columns.append(column)
    return np.stack(columns, axis=1)
