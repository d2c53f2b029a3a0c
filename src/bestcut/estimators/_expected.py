"""The paper's decision-theoretic classifier, as scikit-learn knows classifiers."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bestcut import _errors as errors
from bestcut._decide import Decision, decide
from bestcut._empirical import threshold_between
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import check_bounds, check_option
from bestcut.calibration import Calibration, calibrate
from bestcut.estimators._base import BinaryDecisionClassifier, rows_of
from bestcut.goals import Certain, DistributionGoal, Goal, Mean
from bestcut.metrics import Metric, get, require_ranking
from bestcut.uncertain import UncertainProbabilities

_SCOPES = ("batch", "fixed")
_RESPONSES = ("predict_proba", "decision_function")
_CHANCE = 1e-3  # of a warning about a batch that is like the training data

Probabilities: TypeAlias = FloatArray | UncertainProbabilities


def _gives(method: str) -> Callable[[ExpectedMetricClassifier], bool]:
    """Return whether the model has a method, or scores that can be calibrated."""

    def gives(self: ExpectedMetricClassifier) -> bool:
        model = self.estimator_ if hasattr(self, "estimator_") else self._model()
        if self._draws_maps and any(hasattr(model, name) for name in _RESPONSES):
            return True
        getattr(model, method)  # its AttributeError says more than ours could
        return True

    return gives


class ExpectedMetricClassifier(BinaryDecisionClassifier):
    """Predict the labels with the best expected metric *for the batch at hand*.

    ``predict(X)`` decides for all rows of X together: the label of a row depends on the
    other rows, and one row by itself may get another label than in a batch. If that is
    not wanted, for example in an online service, take ``scope="fixed"``: one threshold,
    the best cut of the training data's out-of-fold probabilities.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``predict_proba``; one with ``decision_function`` will do if
        `calibration` is given. It is cloned; one that is already fitted goes in as
        ``sklearn.frozen.FrozenEstimator(model)``, or with ``cv="prefit"``.
    metric : str or Metric, default="f1"
        What to maximise; see `bestcut.decide`.
    goal : Goal, optional
        ``bestcut.goals.Quantile(0.1)``, say; the expected score if None.
    at_least : mapping of str or Metric to float or Certain, optional
        The least expected value of other metrics, or what they must reach and how
        surely; see `bestcut.decide`.
    min_positives, max_positives : int, optional
        Bounds on the number of predicted positives in a batch.
    calibration : {"posterior", "sigmoid", "isotonic", "temperature"} or None
        ``"posterior"``, the default, calibrates out-of-fold scores with
        `bestcut.calibrate`, and decides with the doubt that the labels leave about the
        calibration. None takes the model's probabilities as they are. The others
        calibrate with ``CalibratedClassifierCV``, without doubt; which of them there
        are depends on the version of scikit-learn.
    cv : int, splitter, iterable or "prefit", default=5
        How calibration and ``scope="fixed"`` split the training data. With
        ``calibration="posterior"`` a row may be tested once at most, and ``"prefit"``
        means that `estimator` is fitted already: it is used as it is, and all data
        given to ``fit``, which it must not have been fitted on, calibrate it.
    scope : {"batch", "fixed"}, default="batch"
        Decide for each batch, or with one threshold for all.
    pos_label : int, float, bool or str, optional
        The positive class; the second of the sorted classes if None.
    n_draws : int, default=200
        How many maps ``calibration="posterior"`` draws.
    random_state : int, RandomState or None, default=0
        Seed of these draws; equal numbers give equal maps.
    n_jobs : int, optional
        How many folds are fitted at the same time.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model, calibrated if asked for; with ``calibration="posterior"`` the
        model itself, fitted on all rows.
    calibration_ : Calibration
        What the labels say about its scores, with ``calibration="posterior"``.
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
    The probabilities must be calibrated; see `bestcut.calibration_check`.

    Weights of instances reach the inner estimator, but the metric counts every row as
    one, and so does ``calibration="posterior"``, but for rows of weight 0, which it
    leaves out: its probabilities are those of the population that the rows are a
    sample of, whatever weights the model learned with. Weights that balance classes do
    no harm then; weights that turn the sample into another population are not
    accounted for. A model that is already fitted has no use for weights, and
    ``calibration="posterior"`` refuses them with it.

    ``calibration="posterior"`` takes the model that is fitted on all rows to score as
    those of the folds do, as ``CalibratedClassifierCV(ensemble=False)`` does. New
    scores beyond all out-of-fold scores get the probabilities at the end of their
    range. A few such scores are normal, and `predict` and `predict_proba` say nothing
    about them; `decide` warns if there are more than chance explains.

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
    F1 0.64, 90% between 0.38 and 0.86

    That allows for what two hundred labels leave open about the probabilities. If they
    are taken as they are, the interval is narrower than it should be:

    >>> _ = model.set_params(calibration=None).fit(X[:200], y[:200])
    >>> model.decide(X[200:]).distribution()
    F1 0.64, 90% between 0.43 and 0.83
    """

    def __init__(
        self,
        estimator: Any,
        metric: str | Metric = "f1",
        *,
        goal: Goal | None = None,
        at_least: Mapping[str | Metric, float | Certain] | None = None,
        min_positives: int = 0,
        max_positives: int | None = None,
        calibration: str | None = "posterior",
        cv: Any = 5,
        scope: str = "batch",
        pos_label: Any = None,
        n_draws: int = 200,
        random_state: Any = 0,
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
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _draws_maps(self) -> bool:
        return isinstance(self.calibration, str) and self.calibration == "posterior"

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    @property
    def _needs(self) -> tuple[tuple[str, ...], str]:
        if self._draws_maps:
            return _RESPONSES, "Without scores there is nothing to calibrate."
        cure = 'Pass calibration="sigmoid" or wrap it in CalibratedClassifierCV.'
        return ("predict_proba",), cure

    def _model(self) -> Any:
        if self.calibration is None or self._draws_maps:
            return self.estimator
        model = CalibratedClassifierCV(
            self.estimator, method=self.calibration, cv=self.cv, n_jobs=self.n_jobs
        )
        if get_config()["enable_metadata_routing"]:
            model.set_fit_request(sample_weight=True)
        return model

    def _fit(self, X: Any, y: NDArray[Any], fit_params: Any, split_params: Any) -> None:
        self._check_parameters()
        for name in ("calibration_", "threshold_"):  # of another fit
            self.__dict__.pop(name, None)
        if self._draws_maps:
            scores, truth = self._fit_and_score(X, y, fit_params, split_params)
            self.calibration_ = self._calibrate(truth, scores)
            if self.scope == "fixed":
                self.threshold_ = self._best_threshold(self.calibration_(scores))
            return
        self.estimator_ = self._fitted(X, y, fit_params, np.unique(y))
        if self.scope == "fixed":
            splits = self._splits(X, y, split_params)
            probabilities, _ = self._out_of_fold(X, y, splits, fit_params)
            self.threshold_ = self._best_threshold(probabilities)

    def _splits(self, X: Any, y: NDArray[Any], split_params: Any) -> list[Any]:
        cv = check_cv(self.cv, y, classifier=True)
        return list(cv.split(X, y, **split_params))

    def _fit_and_score(
        self, X: Any, y: NDArray[Any], fit_params: Any, split_params: Any
    ) -> tuple[FloatArray, BoolArray]:
        """Fit the model, and return scores of rows it did not see, with their truth."""
        if fit_params and (
            self._is_prefit or isinstance(self.estimator, FrozenEstimator)
        ):
            raise errors.nothing_to_fit(type(self).__name__, sorted(fit_params))
        classes = np.unique(y)
        if self._is_prefit:
            check_is_fitted(self.estimator)
            self.estimator_ = self._usable(self.estimator, classes)
            truth = y == classes[self._positive(classes)]
            return self._scores(self.estimator_, X), truth
        splits = self._splits(X, y, split_params)
        tested = np.concatenate([np.arange(y.size)[test] for _, test in splits])
        times = np.bincount(tested)
        if times.max(initial=0) > 1:
            raise errors.tested_twice(int(times.argmax()), int(times.max()))
        scores, truth = self._out_of_fold(X, y, splits, fit_params)
        self.estimator_ = self._fitted(X, y, fit_params, classes)
        weight = rows_of(fit_params.get("sample_weight"), tested, y.size)
        counts = np.broadcast_to(weight is None or np.asarray(weight) != 0, truth.shape)
        return scores[counts], truth[counts]

    def _calibrate(self, truth: Any, scores: Any) -> Calibration:
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(np.iinfo(np.int32).max)
        return calibrate(truth, scores, n_draws=self.n_draws, random_state=int(seed))

    def _check_parameters(self) -> None:
        """Say what is wrong with them before anything is fitted."""
        check_option(self.scope, _SCOPES, name="scope")
        if self._is_prefit and not self._draws_maps:
            raise errors.prefit_without_posterior()
        if self._draws_maps:
            self._calibrate([0, 1], [0.0, 1.0])  # refuses bad draws and seeds
        twice = self.scope == "fixed" and not (
            self.calibration is None or self._draws_maps
        )
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

    def _best_threshold(self, probabilities: Probabilities) -> float:
        """Return the threshold with the best goal, halfway to the next probability."""
        low, high = check_bounds(
            self.min_positives, self.max_positives, len(probabilities)
        )
        cut = self._untied(probabilities, low, high).threshold
        means = _means(probabilities)
        below = means[means < cut].max(initial=-np.inf)
        return threshold_between(below, cut, 0.5)

    def _untied(self, probabilities: Probabilities, low: int, high: int) -> Decision:
        """Return the best decision that takes all of a tie or nothing of it."""
        decision = self._decide(probabilities, low, high)
        means = _means(probabilities)
        above, upto = (
            int(np.count_nonzero(compare(means, decision.threshold)))
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
            whatever `scope` is. With ``calibration="posterior"`` its distribution
            includes the doubt about the calibration.

        Warns
        -----
        UserWarning
            With ``calibration="posterior"``, if more scores are beyond those that
            calibrated the model than chance explains.
        """
        scores = self._new_scores(X)
        if self._draws_maps:
            self._warn_if_elsewhere(scores)
        return self._decide_bounded(scores)

    def _new_scores(self, X: Any) -> FloatArray:
        fitted = ["estimator_", "calibration_"] if self._draws_maps else ["estimator_"]
        check_is_fitted(self, fitted)
        return self._scores(self.estimator_, X)

    def _probabilities(self, scores: FloatArray) -> Probabilities:
        return self.calibration_._silently(scores) if self._draws_maps else scores

    def _decide_bounded(self, scores: FloatArray) -> Decision:
        return self._decide(
            self._probabilities(scores), self.min_positives, self.max_positives
        )

    def _warn_if_elsewhere(self, scores: FloatArray) -> None:
        """Warn if more scores are beyond those that calibrated than chance explains."""
        low, high = self.calibration_.score_range
        outside = int(np.count_nonzero((scores < low) | (scores > high)))
        m, n = scores.size, self.calibration_.n_labelled
        if outside and _chance_of_outside(outside, m, n) < _CHANCE:
            warnings.warn(
                f"{outside} of {m} rows ({outside / m:.1%}) have scores beyond those "
                f"that calibrated the model, {low:.6g} to {high:.6g}, which is more "
                "than chance explains: their probabilities are taken to be those at "
                "the end of that range. Are these rows like the training data?",
                stacklevel=3,
            )

    @available_if(_gives("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities, calibrated if asked for.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n, 2)
            In the order of ``classes_``. With ``calibration="posterior"`` the means of
            what `decide` decides with.
        """
        if not self._draws_maps:
            own: FloatArray = super().predict_proba(X)
            return own
        p = _means(self._probabilities(self._new_scores(X)))
        first = self._positive(self.classes_) == 0
        return np.column_stack([p, 1.0 - p] if first else [1.0 - p, p])

    @available_if(_gives("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        if not self._draws_maps:
            own: FloatArray = super().predict_log_proba(X)
            return own
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

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
        scores = self._new_scores(X)
        if self.scope == "fixed":
            check_is_fitted(self, "threshold_")
            p = _means(self._probabilities(scores))
            return self._labelled(p >= self.threshold_)
        return self._labelled(self._decide_bounded(scores).labels)


def _chance_of_outside(k: int, m: int, n: int) -> float:
    """Return how likely k or more of m numbers are outside the range of n like them.

    Shuffled together, the m + n numbers leave as many of the m outside the range of
    the n as there are before the second of the n: at most one is among the first k + 1.
    """
    i = np.arange(k)
    all_new = float(np.prod((m - i) / (n + m - i)))
    return all_new * ((m - k) + (k + 1) * n) / (n + m - k)


def _means(probabilities: Probabilities) -> FloatArray:
    """Return one probability for each row."""
    if isinstance(probabilities, UncertainProbabilities):
        return probabilities.mean
    return probabilities


def _goodness(decision: Decision) -> float:
    """Return the value of the goal, larger is better."""
    value, metric = decision.goal_value, decision.metric
    if isinstance(decision.goal, DistributionGoal):
        return decision.goal.shown(value, metric)  # which undoes itself
    return value if metric.greater_is_better else -value
