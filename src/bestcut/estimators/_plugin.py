"""The plug-in classifier: one threshold, tuned on labels (EUM)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from bestcut._empirical import empirical_threshold
from bestcut.estimators._base import DecisionClassifier, rows_of, seed_of
from bestcut.metrics import Metric, get


class PluginThresholdClassifier(DecisionClassifier):
    """Predict with the threshold that had the best metric on held-out labels.

    It is for two classes; `ExpectedMetricClassifier` takes more.

    It tunes the threshold on labels that the model was not fitted on, over every value
    that separates its scores. By default all rows tune the threshold, by
    cross-validation, and all rows fit the model.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``predict_proba`` or ``decision_function``. It is cloned. Pass
        a model that is already fitted as ``sklearn.frozen.FrozenEstimator(model)``;
        then all data given to ``fit`` tune the threshold.
    metric : str or Metric, default="f1"
        What to maximise: any metric, whether or not it satisfies the ranking principle.
    cv : int, splitter, iterable or "holdout", default=5
        A number of folds or a splitter tunes one threshold on the pooled scores of all
        held-out folds, and then fits on everything. ``"holdout"`` fits on one part and
        tunes on the other, as in the papers.
    holdout_size : float, default=0.5
        The share of the data that tunes the threshold under ``"holdout"``.
    pos_label : int, float, bool or str, optional
        The positive class. It must be given unless the classes are 0 and 1, -1 and 1,
        or False and True.
    random_state : int, RandomState, Generator or None, default=None
        For the split of ``"holdout"``.
    n_jobs : int, optional
        How many folds are fitted at the same time.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    threshold_ : float
        Rows with this score or a larger one are positive.
    best_score_ : float
        The metric on the scores that tuned the threshold. It is too optimistic for new
        data.
    classes_ : ndarray of shape (2,)
        The class labels.
    n_features_in_, feature_names_in_
        As the inner model has them.

    Raises
    ------
    ValueError
        In ``fit``, if there are not two classes, or a parameter is not known.
    AttributeError
        In ``fit``, if the inner model has neither ``predict_proba`` nor
        ``decision_function``.

    See Also
    --------
    bestcut.estimators.ExpectedMetricClassifier : Decides for a batch, without labels.
    bestcut.empirical_threshold : The same for scores and labels.
    sklearn.model_selection.TunedThresholdClassifierCV : Looks at a grid of thresholds
        and averages the metric over folds.

    Notes
    -----
    This is the empirical utility maximisation (EUM) of [1]_ and [2]_, which the paper
    compares with. These papers fit on one half of the data and tune on the other half,
    which is ``cv="holdout"``: the model and the threshold then each learn from half the
    data.

    Weights given as ``sample_weight`` also count in the metric. Among thresholds that
    are equally good, the one nearest to 1/2 is taken (to 0, for a decision function).
    Between two scores it is halfway, if 1/2 is not between them.

    References
    ----------
    .. [1] O. Koyejo, N. Natarajan, P. Ravikumar and I. S. Dhillon. Consistent binary
       classification with generalized performance metrics. *Advances in Neural
       Information Processing Systems* 27, 2014.
    .. [2] H. Narasimhan, R. Vaish and S. Agarwal. On the statistical consistency of
       plug-in classifiers for non-decomposable performance measures. *Advances in
       Neural Information Processing Systems* 27, 2014.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bestcut.estimators import PluginThresholdClassifier
    >>> X, y = make_classification(n_samples=300, weights=[0.9], random_state=0)
    >>> model = PluginThresholdClassifier(LogisticRegression())
    >>> int(model.fit(X[:200], y[:200]).predict(X[200:]).sum())
    6
    """

    def __init__(
        self,
        estimator: Any,
        metric: str | Metric = "f1",
        *,
        cv: Any = 5,
        holdout_size: float = 0.5,
        pos_label: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.cv = cv
        self.holdout_size = holdout_size
        self.pos_label = pos_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _needs(self) -> tuple[tuple[str, ...], str]:
        cure = "Without scores there is nothing to put a threshold on."
        return ("predict_proba", "decision_function"), cure

    def _fit(self, X: Any, y: NDArray[Any], fit_params: Any, split_params: Any) -> None:
        metric = get(self.metric)
        if isinstance(self.cv, str) and self.cv == "holdout":
            splitter = StratifiedShuffleSplit(
                1,
                test_size=self.holdout_size,
                random_state=seed_of(self.random_state),
            )
            train, test = next(splitter.split(np.zeros((y.size, 1)), y))
            self.estimator_ = self._fitted_on(X, y, train, fit_params)
            scores = self._scores(self.estimator_, _safe_indexing(X, test))
        else:
            cv = check_cv(self.cv, y, classifier=True)
            splits = list(cv.split(X, y, **split_params))
            scores = self._out_of_fold(X, y, splits, fit_params)
            self.estimator_ = self._fitted(X, y, fit_params, np.unique(y))
            test = np.concatenate([rows for _, rows in splits])
        best = empirical_threshold(
            self._truth(self.estimator_.classes_, y[test]),
            scores,
            metric,
            sample_weight=rows_of(fit_params.get("sample_weight"), test, y.size),
            near=0.5 if hasattr(self.estimator_, "predict_proba") else 0.0,
        )
        self.threshold_, self.best_score_ = best.threshold, best.score

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels by the tuned threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n,)
            Class labels.
        """
        check_is_fitted(self, "estimator_")
        return self._labelled(self._scores(self.estimator_, X) >= self.threshold_)
