"""A multi-label classifier that decides for the average it is judged by."""

from __future__ import annotations

from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import RepeatedKFold, check_cv
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from bestcut import _errors as errors, decision
from bestcut._one_threshold import best_threshold
from bestcut._types import FloatArray, IndexArray
from bestcut._validation import check_matrix, check_option
from bestcut.estimators._base import AccuracyMixin, rows_of, seed_of
from bestcut.estimators._ensemble import (
    SeveralModelsMixin,
    check_ensemble,
    mean_score,
    probabilities_of,
    unseen_scores,
)
from bestcut.estimators._expected import SCOPES, Scope
from bestcut.many.multilabel import MultilabelDecision, decide, score_distribution
from bestcut.metrics import Metric
from bestcut.scores import ScoreDistribution

Average: TypeAlias = Literal["samples", "macro", "micro"]


def _inner_has(method: str) -> Any:
    def has(self: ExpectedMetricMultilabelClassifier) -> bool:
        models = getattr(self, "estimators_", [self.estimator])
        getattr(models[0], method)
        return True

    return has


class ExpectedMetricMultilabelClassifier(
    SeveralModelsMixin, AccuracyMixin, MetaEstimatorMixin, BaseEstimator
):
    """Predict the label sets with the best expected average score.

    ``predict(X)`` decides each row by itself. With ``average="samples"`` it takes the
    set with the best expected score of that row. With ``"macro"`` and ``"micro"`` it
    has one threshold per label: the best cut of the out-of-fold probabilities of the
    training data. ``decide(X)`` decides for all rows of X together.
    ``distribution(X)`` is what the labels of ``predict(X)`` will score.

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
        Bounds on the number of positives in each row, for each label, or in all. For
        labels and for all they need ``scope="batch"``: a threshold that is the same for
        batches of all sizes cannot keep a number of rows.
    ensemble : bool or "auto", default="auto"
        Whether the models of the folds are kept and the means of their log-odds are the
        probabilities, or one model of all rows is fitted. ``"auto"`` averages, unless
        the model is already fitted.

        .. versionadded:: 0.3
    cv : int, splitter or iterable, optional
        The folds of the ensemble; without one, those that find the thresholds of
        ``scope="fixed"`` with "macro" and "micro". None makes five folds, for an
        ensemble twice, shuffled by `random_state`. A whole number is that many folds,
        once.
    scope : {"batch", "fixed"}, default="fixed"
        What ``predict`` decides for: ``"fixed"`` for each row by itself, ``"batch"``
        for all rows that it is called with, as `decide` does. With "samples" these are
        the same.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the folds of an ensemble, if `cv` is None.
    n_jobs : int, default=1
        How many threads decide.

    Attributes
    ----------
    estimators_ : list of estimator
        The fitted models: those of the folds, or one.
    estimator_ : estimator
        The fitted model, where there is one.
    thresholds_ : ndarray of shape (n_labels,)
        With ``scope="fixed"`` and "macro" or "micro": a label is given to rows with
        this probability or a larger one. With "micro" all of them are equal.
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
    With an ensemble a row's probabilities are those of the mean log-odds of all models;
    thresholds are found with the mean over the models that did not see a row.
    Probabilities of 0 and 1 are moved in, by half of what the nearest out-of-fold
    probability is off.

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
        average: Average = "samples",
        min_positives: int = 0,
        max_positives: int | None = None,
        ensemble: bool | Literal["auto"] = "auto",
        cv: Any = None,
        scope: Scope = "fixed",
        random_state: Any = 0,
        n_jobs: int = 1,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.average = average
        self.min_positives = min_positives
        self.max_positives = max_positives
        self.ensemble = ensemble
        self.cv = cv
        self.scope = scope
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, Y: Any, **params: Any) -> Self:
        """Fit the inner model, and find the thresholds.

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
            raise errors.bad_value(
                "Y",
                "must hold only 0 and 1",
                "Pass `Y == positive_class` instead.",
                got=str(values.tolist()),
            )
        self._decide(np.zeros((0, 1)))  # a wrong metric is refused here
        check_option(self.scope, SCOPES, name="scope")
        bounds = (self.min_positives, self.max_positives)
        if self._has_thresholds and bounds != (0, None):
            raise errors.bounds_of_a_batch()
        is_fitted = isinstance(self.estimator, FrozenEstimator)
        averages = check_ensemble(self.ensemble, is_fitted=is_fitted)
        self.__dict__.pop("thresholds_", None)  # of another fit
        folds = []
        if averages or self._has_thresholds:
            folds = self._folds(X, Y, params, averages)
        if averages:
            models, tests, parts = zip(*folds, strict=True)
            unseen = unseen_scores(np.shape(Y)[0], list(tests), list(parts), True)
            self.estimators_, self._ends = list(models), unseen.ends
            known = probabilities_of(unseen.scores)
        else:
            self.estimators_ = [clone(self.estimator).fit(X, Y, **params)]
            self._ends = None
            known = np.concatenate([p for _, _, p in folds]) if folds else np.empty(0)
        if self._has_thresholds:
            self.thresholds_ = self._thresholds(known)
        self.n_labels_ = int(np.shape(Y)[1])
        self.classes_ = [np.array([0, 1])] * self.n_labels_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimators_[0], name):
                setattr(self, name, getattr(self.estimators_[0], name))
        return self

    @property
    def _has_thresholds(self) -> bool:
        """Whether `predict` compares with thresholds; else it asks `decide`."""
        return self.scope == "fixed" and self.average != "samples"

    def _folds(
        self, X: Any, Y: Any, params: Any, averages: bool
    ) -> list[tuple[Any, IndexArray, FloatArray]]:
        """Return the model of each fold, its test rows and their probabilities."""
        if averages and self.cv is None:
            seed = seed_of(self.random_state) % (1 << 32)
            cv = RepeatedKFold(n_splits=5, n_repeats=2, random_state=seed)
        else:
            cv = check_cv(self.cv, Y, classifier=True)
        n = np.shape(Y)[0]
        found = []
        for train, test in cv.split(X, Y):
            mine = {name: rows_of(value, train, n) for name, value in params.items()}
            model = clone(self.estimator)
            model.fit(_safe_indexing(X, train), _safe_indexing(Y, train), **mine)
            p = _probabilities(model, _safe_indexing(X, test))
            found.append((model if averages else None, np.arange(n)[test], p))
        return found

    def _thresholds(self, P: FloatArray) -> FloatArray:
        """Return the threshold of each label that is best for these probabilities."""
        columns = [P.ravel()] if self.average == "micro" else list(P.T)
        found = [self._best_threshold(column) for column in columns]
        return np.array(np.broadcast_to(found, P.shape[1]))

    def _best_threshold(self, p: FloatArray) -> float:
        def decide_within(low: int, high: int) -> decision.Decision:
            return decision.decide(
                p, self.metric, min_positives=low, max_positives=high
            )

        return best_threshold(p, decide_within)

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
        check_is_fitted(self, "estimators_")
        if self._ends is None:
            return _probabilities(self.estimators_[0], X)
        parts = (_probabilities(model, X) for model in self.estimators_)
        return probabilities_of(mean_score(parts, self._ends))

    def decide(self, X: Any) -> MultilabelDecision:
        """Decide for a batch, and return the whole decision.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.

        Returns
        -------
        MultilabelDecision
            It is made for this batch, whatever `scope` is, with ``labels``,
            ``expected_score`` and ``each``.
        """
        return self._decide(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Return the labels of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n, n_labels)
            0 and 1. With ``scope="fixed"`` a row gets the same labels alone as among
            others.
        """
        return self._labels(self.predict_proba(X))

    def _labels(self, probabilities: FloatArray) -> NDArray[np.int_]:
        """Return the labels that `predict` gives."""
        if not self._has_thresholds:
            return np.asarray(self._decide(probabilities).labels, dtype=np.int_)
        check_is_fitted(self, "thresholds_")
        return np.asarray(probabilities >= self.thresholds_, dtype=np.int_)

    def distribution(
        self, X: Any, metric: str | Metric | None = None
    ) -> ScoreDistribution:
        """Return what the labels of `predict` will score, as far as it can be known.

        No labels are needed.

        .. versionadded:: 0.3

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch that will be scored.
        metric : str or Metric, optional
            The metric of the score; the classifier's own if None.

        Returns
        -------
        ScoreDistribution
            Of the average that the classifier decides for, from
            `bestcut.multilabel.score_distribution`. Doubt about the probabilities is
            not in it.

        Examples
        --------
        >>> from sklearn.datasets import make_multilabel_classification
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.multioutput import MultiOutputClassifier
        >>> from bestcut.estimators import ExpectedMetricMultilabelClassifier
        >>> X, Y = make_multilabel_classification(random_state=0)
        >>> inner = MultiOutputClassifier(LogisticRegression())
        >>> model = ExpectedMetricMultilabelClassifier(inner, average="macro")
        >>> model.fit(X[:80], Y[:80]).distribution(X[80:])
        F1 0.80, 90% between 0.73 and 0.87
        """
        P = self.predict_proba(X)
        chosen = self.metric if metric is None else metric
        return score_distribution(P, self._labels(P), chosen, average=self.average)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def _probabilities(model: Any, X: Any) -> FloatArray:
    """Return a column of probabilities for each label."""
    found = _probability_matrix(model, model.predict_proba(X))
    return check_matrix(found, name="predict_proba")


def _probability_matrix(model: Any, found: Any) -> FloatArray:
    """Return a column for each label, from either form of `predict_proba`.

    Some models return a matrix. Others return a list with a matrix for each label,
    whose columns are the classes seen: only one if the label never varied.
    """
    if not isinstance(found, list):
        return np.asarray(found)
    columns = []
    for part, classes in zip(found, model.classes_, strict=True):
        positive = np.flatnonzero(np.asarray(classes) == 1)
        part = np.asarray(part)
        never = np.zeros(part.shape[0], dtype=part.dtype)
        column = part[:, positive[0]] if positive.size else never
        columns.append(column)
    return np.stack(columns, axis=1)
