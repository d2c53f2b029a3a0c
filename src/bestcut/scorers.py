"""scikit-learn scorers: of labels, and without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors
from bestcut._public import publish
from bestcut._validation import check_option, positive_class
from bestcut.many import multiclass
from bestcut.metrics import AnyMetric, Metric, RowUtility, get
from bestcut.scores import expected_score

__all__ = ["make_expected_scorer", "make_scorer"]

_AVERAGES = ("macro",)


class ExpectedScorer:
    """The expected metric of a classifier's predictions, by its own probabilities.

    Made by `make_expected_scorer`. Call it as scikit-learn calls scorers,
    ``scorer(estimator, X, y)``; `y` is ignored and may be left out. Larger is better:
    a loss is returned with a minus.

    Parameters
    ----------
    metric : Metric
        The metric whose expected score is returned.
    pos_label : int, float, bool or str, optional
        The positive class. It must be given unless the classes are 0 and 1, -1 and 1,
        or False and True.
    average : {"macro"}, optional
        The mean of the metric over classes; if None, the metric of the positive class.

    Raises
    ------
    AttributeError
        When it is called, if the classifier has no ``predict_proba``.
    ValueError
        When it is called without `average`, if there are not two classes, `pos_label`
        is none of them, or it is missing.

    See Also
    --------
    bestcut.scorers.make_expected_scorer : Returns one.
    bestcut.expected_score : The same for probabilities and predictions.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from bestcut.scorers import make_expected_scorer
    >>> X, y = make_classification(n_samples=300, random_state=0)
    >>> scorer = make_expected_scorer("f1")
    >>> scorer
    make_expected_scorer('f1')
    >>> scores = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
    >>> bool((scores > 0.85).all())
    True
    """

    def __init__(
        self, metric: Metric, pos_label: Any = None, average: str | None = None
    ) -> None:
        self.metric, self.pos_label, self.average = metric, pos_label, average

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the expected score of ``estimator.predict(X)``.

        Parameters
        ----------
        estimator : classifier
            A fitted one, with ``predict_proba``.
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.
        y : object, optional
            Ignored; scikit-learn passes it.

        Returns
        -------
        float
            The expected score; a loss with a minus.
        """
        if not hasattr(estimator, "predict_proba"):
            raise errors.no_probabilities(type(estimator).__name__)
        of = self._of_one_class if self.average is None else self._of_all_classes
        score = of(estimator, X, np.asarray(estimator.classes_))
        return score if self.metric.greater_is_better else -score

    def _of_one_class(self, estimator: Any, X: Any, classes: NDArray[Any]) -> float:
        """Return the expected metric of the positive class."""
        if classes.size != 2:
            raise errors.not_two_classes(classes.tolist())
        label = positive_class(self.pos_label, classes)
        column = int(np.flatnonzero(classes == label)[0])
        p = np.asarray(estimator.predict_proba(X))[:, column]
        return expected_score(p, np.asarray(estimator.predict(X)) == label, self.metric)

    def _of_all_classes(self, estimator: Any, X: Any, classes: NDArray[Any]) -> float:
        """Return the expected mean of the metric over classes."""
        p, predicted = estimator.predict_proba(X), estimator.predict(X)
        return multiclass.expected_score(p, predicted, self.metric, classes=classes)

    def __repr__(self) -> str:
        given = {"average": self.average, "pos_label": self.pos_label}
        options = [f", {k}={v!r}" for k, v in given.items() if v is not None]
        return f"make_expected_scorer({self.metric.name!r}{''.join(options)})"


def make_expected_scorer(
    metric: str | Metric = "f1", *, average: str | None = None, pos_label: Any = None
) -> ExpectedScorer:
    """Make a scikit-learn scorer of the expected metric, which needs no labels.

    For monitoring, and for choosing between calibrated models on unlabelled data.

    Parameters
    ----------
    metric : str or Metric, default="f1"
        The metric whose expected score is returned. A loss is returned with a minus,
        as scikit-learn needs it.
    average : {"macro"}, optional
        With ``"macro"``, the mean of the metric over classes, each against the rest,
        for any number of classes. It is the score of
        `bestcut.multiclass.expected_score`, and it expects what scikit-learn's
        ``"f1_macro"`` computes from labels. If None, there must be two classes, and the
        metric is that of the positive class.
    pos_label : int, float, bool or str, optional
        The positive class. It must be given unless the classes are 0 and 1, -1 and 1,
        or False and True, and it must be None with `average`.

    Returns
    -------
    ExpectedScorer
        To be called as ``scorer(estimator, X)`` or passed as ``scoring=``.

    Raises
    ------
    ValueError
        If `metric` or `average` is not known, or `pos_label` is given with `average`.
    TypeError
        If `metric` is neither a name nor a metric.

    See Also
    --------
    bestcut.expected_score : The same for probabilities and predictions.
    bestcut.multiclass.expected_score : The same for several classes.
    bestcut.check_calibration : Check whether the probabilities can be trusted.

    Notes
    -----
    A model is judged by its own probabilities: an overconfident model expects a score
    that is too high. Compare models this way only if they are calibrated.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bestcut.scorers import make_expected_scorer
    >>> X, y = make_classification(n_samples=300, random_state=0)
    >>> model = LogisticRegression().fit(X[:200], y[:200])
    >>> round(make_expected_scorer("f1")(model, X[200:]), 2)
    0.91

    More than two classes:

    >>> X, y = make_classification(n_samples=600, n_informative=4, n_classes=3,
    ...                            random_state=0)
    >>> model = LogisticRegression().fit(X[:400], y[:400])
    >>> round(make_expected_scorer("f1", average="macro")(model, X[400:]), 2)
    0.75
    """
    chosen = get(metric)
    if average is not None:
        check_option(average, _AVERAGES, name="average")
        if pos_label is not None:
            raise errors.no_positive_class(average, pos_label)
    return ExpectedScorer(chosen, pos_label, average)


def make_scorer(
    metric: str | AnyMetric = "f1", *, average: str | None = None, pos_label: Any = None
) -> Any:
    """Make a scikit-learn scorer of a metric, by the labels.

    For ``scoring=`` of ``cross_val_score``, ``GridSearchCV`` and others.

    .. versionadded:: 0.3

    Parameters
    ----------
    metric : str, Metric or RowUtility, default="f1"
        The metric of the predictions. A loss is returned with a minus, as scikit-learn
        needs it. Amounts of a `bestcut.RowUtility` that differ from row to row must be
        those of the rows scored: scikit-learn's metadata routing brings them, see
        Examples.
    average : {"macro"}, optional
        With ``"macro"``, the mean of the metric over classes, each against the rest.
        If None, there must be two classes, and the metric is that of the positive one.
    pos_label : int, float, bool or str, optional
        The positive class. It must be given unless the labels are 0 and 1, -1 and 1, or
        False and True, and it must be None with `average`.

    Returns
    -------
    callable
        What scikit-learn's own ``make_scorer`` returns, with ``set_score_request``.

    Raises
    ------
    ValueError
        If `metric` or `average` is not known, or `pos_label` is given with `average`;
        when it is called, if the positive class is not told.
    TypeError
        If `metric` is neither a name nor a metric.

    See Also
    --------
    bestcut.scorers.make_expected_scorer : The same without labels.
    bestcut.metrics.get : The metric itself; its ``realised`` takes labels.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from bestcut.scorers import make_scorer
    >>> X, y = make_classification(n_samples=300, random_state=0)
    >>> scores = cross_val_score(LogisticRegression(), X, y, scoring=make_scorer("mcc"))
    >>> bool((scores > 0.7).all())
    True

    Money, where every payment has its own amount:

    >>> import bestcut
    >>> import numpy as np
    >>> import sklearn
    >>> amounts = np.linspace(1.0, 100.0, 300)
    >>> scorer = make_scorer(bestcut.RowUtility(fp=-5.0))
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     routed = scorer.set_score_request(tp=True)
    ...     scores = cross_val_score(
    ...         LogisticRegression(), X, y, scoring=routed, params={"tp": amounts}
    ...     )
    >>> bool(scores.sum() > 5000)
    True
    """
    chosen = metric if isinstance(metric, RowUtility) else get(metric)
    if average is not None:
        check_option(average, _AVERAGES, name="average")
        if pos_label is not None:
            raise errors.no_positive_class(average, pos_label)
        if isinstance(chosen, RowUtility):
            raise errors.no_average_of_rows(average)
    try:
        from sklearn.metrics import make_scorer as of_scikit_learn
    except ImportError as error:
        raise errors.package_missing(
            needed_by="bestcut.scorers.make_scorer",
            package="scikit-learn",
            extra="sklearn",
        ) from error
    # A loss: scikit-learn turns its sign.
    return of_scikit_learn(
        _Realised(chosen, average, pos_label),
        greater_is_better=chosen.greater_is_better,
    )


class _Realised:
    """The score of labels and predictions in any two classes, or the mean over all."""

    def __init__(self, metric: AnyMetric, average: str | None, pos_label: Any) -> None:
        self.metric, self.average, self.pos_label = metric, average, pos_label
        self.__name__ = metric.name  # what scikit-learn shows

    def __call__(self, y_true: Any, y_pred: Any, **amounts: Any) -> float:
        truth, predicted = np.asarray(y_true), np.asarray(y_pred)
        metric = self.metric
        if isinstance(metric, RowUtility):
            metric = replace(metric, **amounts)
        elif amounts:
            raise errors.amounts_of_a_metric(metric.name, sorted(amounts))
        classes = np.union1d(truth, predicted)
        if self.average is None:
            label = self._positive(classes)
            return metric.realised(truth == label, predicted == label)
        each = [metric.realised(truth == c, predicted == c) for c in classes]
        return float(np.mean(each))

    def _positive(self, classes: NDArray[Any]) -> Any:
        """Return the positive class; a part of the rows may have only one of both."""
        if self.pos_label is not None:
            return self.pos_label
        for known in ([0, 1], [-1, 1]):
            if set(classes.tolist()) <= set(known):
                return known[1]
        raise errors.which_is_positive(classes.tolist())


publish(__name__, globals())
