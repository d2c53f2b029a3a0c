"""The paper's decision-theoretic classifier, as scikit-learn knows classifiers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from bestcut import _errors as errors
from bestcut._decide import Decision, decide
from bestcut._empirical import threshold_between
from bestcut._types import FloatArray
from bestcut._validation import check_bounds, check_option
from bestcut.estimators._base import BinaryDecisionClassifier
from bestcut.goals import DistributionGoal, Goal, Mean
from bestcut.metrics import Metric, get, require_ranking

_SCOPES = ("batch", "fixed")


class ExpectedMetricClassifier(BinaryDecisionClassifier):
    """Predict the labels with the best expected metric *for the batch at hand*.

    ``predict(X)`` decides for all rows of X together: the label of a row depends on the
    other rows, and one row by itself may get another label than in a batch. If that is
    not wanted, for example in an online service, take ``scope="fixed"``: one threshold,
    the best cut of the training data's out-of-fold probabilities.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``predict_proba``, or any classifier if `calibration` is
        given. It is cloned; one that is already fitted goes in as
        ``sklearn.frozen.FrozenEstimator(model)``.
    metric : str or Metric, default="f1"
        What to maximise; see `bestcut.decide`.
    goal : Goal, optional
        ``bestcut.goals.Quantile(0.1)``, say; the expected score if None.
    at_least : mapping of str or Metric to float, optional
        The least expected value of other metrics.
    min_positives, max_positives : int, optional
        Bounds on the number of predicted positives in a batch.
    calibration : {"sigmoid", "isotonic", "temperature"}, optional
        Calibrate the probabilities with ``CalibratedClassifierCV``; which methods there
        are depends on the version of scikit-learn.
    cv : int, splitter or iterable, default=5
        How calibration and ``scope="fixed"`` split the training data.
    scope : {"batch", "fixed"}, default="batch"
        Decide for each batch, or with one threshold for all.
    pos_label : int, float, bool or str, optional
        The positive class; the second of the sorted classes if None.
    n_jobs : int, optional
        How many folds are fitted at the same time.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model, calibrated if asked for.
    threshold_ : float
        The threshold of ``scope="fixed"``: rows with this probability or a larger one
        are positive. Of all that make the same cut it is 1/2, or halfway.
    classes_ : ndarray of shape (2,)
        The class labels.
    n_features_in_, feature_names_in_
        As the inner model has them.

    See Also
    --------
    PluginThresholdClassifier : one threshold, tuned on labels.
    sklearn.model_selection.FixedThresholdClassifier : a threshold of your own.

    Notes
    -----
    The probabilities must be calibrated; see `bestcut.calibration_check`. Weights of
    instances reach the inner estimator, but the metric counts every row as one.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bestcut.estimators import ExpectedMetricClassifier
    >>> X, y = make_classification(n_samples=300, weights=[0.9], random_state=0)
    >>> model = ExpectedMetricClassifier(LogisticRegression(), "f1")
    >>> _ = model.fit(X[:200], y[:200])
    >>> int(model.predict(X[200:]).sum())
    6
    >>> model.decide(X[200:]).distribution()
    F1 0.64, 90% between 0.43 and 0.83
    """

    _cure = 'Pass calibration="sigmoid" or wrap it in CalibratedClassifierCV.'

    def __init__(
        self,
        estimator: Any,
        metric: str | Metric = "f1",
        *,
        goal: Goal | None = None,
        at_least: Mapping[str | Metric, float] | None = None,
        min_positives: int = 0,
        max_positives: int | None = None,
        calibration: str | None = None,
        cv: Any = 5,
        scope: str = "batch",
        pos_label: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.goal = goal
        self.at_least = at_least
        self.min_positives = min_positives
        self.max_positives = max_positives
        self.calibration = calibration
        self.cv = cv
        self.scope = scope
        self.pos_label = pos_label
        self.n_jobs = n_jobs

    def _model(self) -> Any:
        if self.calibration is None:
            return self.estimator
        model = CalibratedClassifierCV(
            self.estimator, method=self.calibration, cv=self.cv, n_jobs=self.n_jobs
        )
        if get_config()["enable_metadata_routing"]:
            model.set_fit_request(sample_weight=True)
        return model

    def _fit(self, X: Any, y: NDArray[Any], fit_params: Any, split_params: Any) -> None:
        self._check_parameters()
        self.estimator_ = self._fitted(X, y, fit_params, np.unique(y))
        if self.scope == "fixed":
            cv = check_cv(self.cv, y, classifier=True)
            splits = list(cv.split(X, y, **split_params))
            probabilities, _ = self._out_of_fold(X, y, splits, fit_params)
            self.threshold_ = self._best_threshold(probabilities)

    def _check_parameters(self) -> None:
        """Say what is wrong with them before anything is fitted."""
        check_option(self.scope, _SCOPES, name="scope")
        twice = self.scope == "fixed" and self.calibration is not None
        if twice and isinstance(self.cv, Iterable) and not hasattr(self.cv, "split"):
            raise errors.cannot_split_again(self.cv)
        check_bounds(self.min_positives, self.max_positives, sys.maxsize)
        require_ranking(
            get(self.metric),
            way_out="Use PluginThresholdClassifier, which takes any metric.",
        )
        self._refuse_what_decide_refuses()

    def _refuse_what_decide_refuses(self) -> None:
        """Decide for no rows, so that a bad goal or condition is refused in `fit`."""
        # An empty batch may be infeasible where another is not.
        with suppress(errors.InfeasibleError):
            self._decide([], 0, None)

    def _best_threshold(self, probabilities: FloatArray) -> float:
        """Return the threshold with the best goal, halfway to the next probability."""
        low, high = check_bounds(
            self.min_positives, self.max_positives, probabilities.size
        )
        cut = self._untied(probabilities, low, high).threshold
        below = probabilities[probabilities < cut].max(initial=-np.inf)
        return threshold_between(below, cut, 0.5)

    def _untied(self, probabilities: FloatArray, low: int, high: int) -> Decision:
        """Return the best decision that takes all of a tie or nothing of it."""
        decision = self._decide(probabilities, low, high)
        above, upto = (
            int(np.count_nonzero(compare(probabilities, decision.threshold)))
            for compare in (np.greater, np.greater_equal)
        )
        if decision.n_positive == upto:
            return decision
        found = []
        for first, last in ((low, above), (upto, high)):
            if first <= last:
                with suppress(errors.InfeasibleError):
                    found.append(self._untied(probabilities, first, last))
        if not found:
            raise errors.infeasible_threshold(decision.threshold)
        return max(found, key=_goodness)

    def _decide(
        self, probabilities: Any, min_positives: int, max_positives: int | None
    ) -> Decision:
        return decide(
            probabilities,
            self.metric,
            goal=Mean() if self.goal is None else self.goal,
            at_least=self.at_least,
            min_positives=min_positives,
            max_positives=max_positives,
        )

    def decide(self, X: Any) -> Decision:
        """Decide for a batch, with everything a `bestcut.Decision` says.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.

        Returns
        -------
        Decision
            Its ``labels`` are True for the positive class. It is made for this batch
            whatever `scope` is.
        """
        check_is_fitted(self, "estimator_")
        return self._decide(
            self._scores(self.estimator_, X), self.min_positives, self.max_positives
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels with the best expected metric for this batch.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.

        Returns
        -------
        ndarray of shape (n,)
            Class labels.
        """
        if self.scope == "fixed":
            check_is_fitted(self, "threshold_")
            return self._labelled(self._scores(self.estimator_, X) >= self.threshold_)
        return self._labelled(self.decide(X).labels)


def _goodness(decision: Decision) -> float:
    """Return the value of the goal, larger is better."""
    value, metric = decision.goal_value, decision.metric
    if isinstance(decision.goal, DistributionGoal):
        return decision.goal.shown(value, metric)  # which undoes itself
    return value if metric.greater_is_better else -value
