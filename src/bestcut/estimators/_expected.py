"""The paper's decision-theoretic classifier, as scikit-learn knows classifiers."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, TypeAlias

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.fixes import parse_version
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from bestcut import _errors as errors
from bestcut._decide import Decision, decide
from bestcut._empirical import threshold_between
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import check_bounds, check_option
from bestcut.calibration import Calibration, calibrate
from bestcut.estimators._base import DecisionClassifier, rows_of
from bestcut.estimators._classes import calibrated, class_scores
from bestcut.goals import Certain, DistributionGoal, Goal, Mean
from bestcut.many import multiclass
from bestcut.many.multiclass import MulticlassDecision
from bestcut.metrics import Metric, get, require_ranking
from bestcut.uncertain import UncertainProbabilities

_SCOPES = ("batch", "fixed")
_RESPONSES = ("predict_proba", "decision_function")
_TEMPERATURE = parse_version(sklearn.__version__) >= parse_version("1.8")

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


class ExpectedMetricClassifier(DecisionClassifier):
    """Predict the labels with the best expected metric *for the batch at hand*.

    ``predict(X)`` decides for all rows of X together: the label of a row depends on the
    other rows, so a row alone may get another label than in a batch. If you do not want
    this, for example in an online service, take ``scope="fixed"``: one threshold, the
    best cut of the out-of-fold probabilities of the training data.

    With more than two classes, each row gets one class, for the best expected average
    of the metric over classes, as in `bestcut.multiclass.decide`. `goal`, `at_least`,
    `min_positives`, `max_positives` and `pos_label` are about one positive class, and
    must then be left at their defaults.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``predict_proba``, or with ``decision_function`` if
        `calibration` is not None. It is cloned. Pass a model that is already fitted as
        ``sklearn.frozen.FrozenEstimator(model)``, or with ``cv="prefit"``.
    metric : str or Metric, default="f1"
        What to maximise; see `bestcut.decide`.
    average : {"macro", "micro"}, default="macro"
        With more than two classes: the mean of the metric over classes, each against
        the rest; or one score for all rows and classes together, for which the most
        probable class of each row is best. With two classes it is ignored, and the
        metric is that of the positive class.
    weights : array-like of shape (n_classes,), optional
        With more than two classes and "macro": the weight of each class in the mean, in
        the order of the sorted classes; equal weights if None.
    goal : Goal, optional
        What to maximise, for example ``bestcut.goals.Quantile(0.1)``; the expected
        score if None.
    at_least : mapping of str or Metric to float or Certain, optional
        The least expected value of other metrics, or the value that they must reach
        with some probability; see `bestcut.decide`.
    min_positives, max_positives : int, optional
        Bounds on the number of predicted positives in a batch.
    calibration : {"posterior", "sigmoid", "isotonic", "temperature"} or None
        ``"posterior"``, the default, calibrates out-of-fold scores with
        `bestcut.calibrate`, and takes into account the doubt that the labels leave
        about the calibration. None takes the model's probabilities as they are. The
        others calibrate with ``CalibratedClassifierCV``, and ignore that doubt;
        ``"temperature"`` needs scikit-learn 1.8.
    cv : int, splitter, iterable or "prefit", default=5
        How calibration and ``scope="fixed"`` split the training data. With
        ``calibration="posterior"`` a row may be tested at most once. ``"prefit"`` means
        that `estimator` is already fitted: it is used as it is, and all data given to
        ``fit`` calibrate it. It must not have been fitted on these data.
    scope : {"batch", "fixed"}, default="batch"
        Decide for each batch, or with one threshold for all batches (with more than two
        classes: with one rule for all rows).
    pos_label : int, float, bool or str, optional
        The positive class; the second of the sorted classes if None.
    n_draws : int, default=200
        How many maps ``calibration="posterior"`` draws.
    random_state : int, RandomState or None, default=0
        Seed of these draws; equal numbers give equal maps. With more than two classes
        it is the seed of the first class, and each further class has the next number.
    n_jobs : int, optional
        How many folds are fitted, or classes calibrated, at the same time.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model, calibrated if asked for. With ``calibration="posterior"`` it
        is the model itself, fitted on all rows.
    calibration_ : Calibration, or list of Calibration
        With ``calibration="posterior"``: what the labels say about the scores; with
        more than two classes, a list for the scores of each class against the rest.
    threshold_ : float
        The threshold of ``scope="fixed"``: rows with this probability or a larger one
        are positive. Of all thresholds that make the same cut, it is 1/2 if possible,
        and otherwise the one halfway.
    rule_ : RowRule
        The rule of ``scope="fixed"`` with more than two classes; see
        `bestcut.multiclass.MulticlassDecision.rule`.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_, feature_names_in_
        As the inner model has them.

    Raises
    ------
    SolverMismatchError
        In ``fit``, if the metric does not satisfy the ranking principle.
    ValueError
        In ``fit``, if a parameter is not known, contradicts another, or is about one
        positive class although there are more than two classes.
    InfeasibleError
        In ``fit`` with ``scope="fixed"``, or in ``predict``, if nothing satisfies
        `at_least`.

    See Also
    --------
    bestcut.estimators.PluginThresholdClassifier : One threshold, tuned on labels.
    bestcut.estimators.ExpectedMetricMultilabelClassifier : A set of labels for each
        row.
    sklearn.model_selection.FixedThresholdClassifier : A threshold of your own.

    Notes
    -----
    The probabilities must be calibrated; see `bestcut.check_calibration`.

    Weights of instances reach the inner estimator, but the metric counts every row
    equally. So does ``calibration="posterior"``, except that it leaves out rows of
    weight 0: its probabilities are those of the population that the rows are a sample
    of, whatever weights the model was fitted with. So weights that balance classes do
    no harm, but weights that turn the sample into another population are not accounted
    for. A model that is already fitted cannot use weights, and
    ``calibration="posterior"`` refuses them for such a model.

    ``calibration="posterior"`` assumes that the model fitted on all rows scores like
    the models of the folds, as ``CalibratedClassifierCV(ensemble=False)`` does. New
    scores beyond all out-of-fold scores get the probabilities at the end of their
    range. A few such scores are normal, and `predict` and `predict_proba` say nothing
    about them; `decide` warns if there are more than chance explains.

    With more than two classes, each class is calibrated against the rest, and a row's
    probabilities are the means of the classes' draws, divided by their sum. Decisions
    and distributions are for these means. The doubt about them is not in the intervals,
    as ``distribution()`` of a decision warns; it is in `calibration_`, whose maps draw
    a class's probabilities from its scores.
    A ``decision_function`` must have a column for each class.

    ``OneVsRestClassifier`` compares the scores of its classifiers, and never calls
    their ``predict``. It would ignore the metric of this classifier, which therefore
    warns if it is fitted inside one. Pass y with all its classes instead.

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

    This interval includes the doubt that two hundred labels leave about the
    probabilities. If the model's probabilities are taken as they are, the interval is
    narrower than it should be:

    >>> _ = model.set_params(calibration=None).fit(X[:200], y[:200])
    >>> model.decide(X[200:]).distribution()
    F1 0.64, 90% between 0.43 and 0.83

    More than two classes:

    >>> X, y = make_classification(n_samples=600, n_informative=4, n_classes=3,
    ...                            weights=[0.8, 0.15], random_state=0)
    >>> model = ExpectedMetricClassifier(LogisticRegression(), "f1", average="macro")
    >>> decision = model.fit(X[:400], y[:400]).decide(X[400:])
    >>> decision.n_positive.tolist()
    [167, 24, 9]
    >>> round(decision.expected_score, 2)
    0.64
    """

    _takes_many_classes: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Any,
        metric: str | Metric = "f1",
        *,
        average: str = "macro",
        weights: Any = None,
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
        self.average = average
        self.weights = weights
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
    def _uses_folds(self) -> bool:
        return self.calibration is not None or self.scope == "fixed"

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
        classes = np.unique(y)
        self._check_parameters(classes.size)
        for name in ("calibration_", "threshold_", "rule_"):  # of another fit
            self.__dict__.pop(name, None)
        if self._draws_maps:
            scores, truth = self._fit_and_score(X, y, fit_params, split_params)
            self.calibration_ = self._calibrations(truth, scores)
            if self.scope == "fixed":
                self._fix(self._probabilities(scores))
            return
        self.estimator_ = self._fitted(X, y, fit_params, classes)
        if self.scope == "fixed":
            splits = self._splits(X, y, split_params)
            probabilities, _ = self._out_of_fold(X, y, splits, fit_params)
            self._fix(probabilities)

    def _fix(self, probabilities: Probabilities) -> None:
        """Set the threshold or the rule that decides new rows one by one."""
        if self._has_many_classes:
            self.rule_ = self._decide_classes(probabilities, self.classes_).rule()
        else:
            self.threshold_ = self._best_threshold(probabilities)

    @property
    def _has_many_classes(self) -> bool:
        return len(self.classes_) > 2

    def _scores(self, model: Any, X: Any) -> FloatArray:
        """Return one column of scores for two classes, or a column for each class."""
        if len(model.classes_) > 2:
            return class_scores(model, X)
        return super()._scores(model, X)

    def _truth(self, classes: NDArray[Any], y: NDArray[Any]) -> BoolArray:
        if len(classes) > 2:
            return np.asarray(y[:, None] == classes)
        return super()._truth(classes, y)

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
            return self._scores(self.estimator_, X), self._truth(classes, y)
        splits = self._splits(X, y, split_params)
        tested = np.concatenate([np.arange(y.size)[test] for _, test in splits])
        times = np.bincount(tested)
        if times.max(initial=0) > 1:
            raise errors.tested_twice(int(times.argmax()), int(times.max()))
        scores, truth = self._out_of_fold(X, y, splits, fit_params)
        self.estimator_ = self._fitted(X, y, fit_params, classes)
        weight = rows_of(fit_params.get("sample_weight"), tested, y.size)
        counts = np.broadcast_to(weight is None or np.asarray(weight) != 0, len(truth))
        return scores[counts], truth[counts]

    def _calibrations(self, truth: Any, scores: Any) -> Calibration | list[Calibration]:
        """Return the calibration of a column of scores, or of each column."""
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(np.iinfo(np.int32).max)
        if np.ndim(scores) == 1:
            return calibrate(
                truth, scores, n_draws=self.n_draws, random_state=int(seed)
            )
        columns = enumerate(zip(truth.T, scores.T, strict=True), start=int(seed))
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(calibrate)(*column, n_draws=self.n_draws, random_state=own)
            for own, column in columns
        )
        return list(found)

    def _check_parameters(self, n_classes: int) -> None:
        """Refuse wrong parameters before anything is fitted."""
        check_option(self.scope, _SCOPES, name="scope")
        if self._is_prefit and not self._draws_maps:
            raise errors.prefit_without_posterior(self.calibration)
        if self.calibration == "temperature" and not _TEMPERATURE:
            raise errors.no_temperature(sklearn.__version__)
        if self._draws_maps:
            self._calibrations([0, 1], [0.0, 1.0])  # refuses bad draws and seeds
        twice = self.scope == "fixed" and not (
            self.calibration is None or self._draws_maps
        )
        if twice and isinstance(self.cv, Iterable) and not hasattr(self.cv, "split"):
            raise errors.cannot_split_again(self.cv)
        if n_classes > 2:
            self._refuse_what_needs_two_classes(n_classes)
            even = np.full((1, n_classes), 1.0 / n_classes)
            # A bad metric, average or weight is refused here.
            self._decide_classes(even, np.arange(n_classes))
            return
        if self.weights is not None:
            raise errors.weights_of_two_classes()
        check_bounds(self.min_positives, self.max_positives, sys.maxsize)
        require_ranking(
            get(self.metric),
            way_out="Use PluginThresholdClassifier, which takes any metric.",
        )
        self._refuse_what_decide_refuses()

    def _refuse_what_needs_two_classes(self, n_classes: int) -> None:
        given = {
            "pos_label": self.pos_label is not None,
            "goal": not (self.goal is None or isinstance(self.goal, Mean)),
            "at_least": self.at_least is not None,
            "min_positives": self.min_positives != 0,
            "max_positives": self.max_positives is not None,
        }
        if any(given.values()):
            names = [name for name, is_given in given.items() if is_given]
            raise errors.only_for_two_classes(names, n_classes)

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
        assert cut is not None  # a metric of counts has one
        means = _means(probabilities)
        below = means[means < cut].max(initial=-np.inf)
        return threshold_between(below, cut, 0.5)

    def _untied(self, probabilities: Probabilities, low: int, high: int) -> Decision:
        """Return the best decision that takes all rows of a tie or none of them."""
        decision = self._decide(probabilities, low, high)
        assert decision.threshold is not None  # a metric of counts has one
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

    def _decide_classes(
        self, probabilities: Any, classes: NDArray[Any]
    ) -> MulticlassDecision:
        return multiclass.decide(
            probabilities,
            self.metric,
            average=self.average,
            classes=classes,
            weights=self.weights,
        )

    def decide(self, X: Any) -> Decision | MulticlassDecision:
        """Decide for a batch, and return the whole decision.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The batch.

        Returns
        -------
        Decision or MulticlassDecision
            It is made for this batch, whatever `scope` is. With two classes, its
            ``labels`` are True for the positive class, and with
            ``calibration="posterior"`` its distribution includes the doubt about the
            calibration. With more classes, its ``labels`` are classes.

        Raises
        ------
        NotFittedError
            If the classifier is not fitted.
        InfeasibleError
            If no prediction for this batch satisfies `at_least`.

        Warns
        -----
        UserWarning
            With ``calibration="posterior"``, if more scores than chance explains lie
            beyond the scores that calibrated the model.
        """
        scores = self._new_scores(X)
        if self._draws_maps:
            self._warn_if_elsewhere(scores)
        return self._decide_batch(scores)

    def _new_scores(self, X: Any) -> FloatArray:
        fitted = ["estimator_", "calibration_"] if self._draws_maps else ["estimator_"]
        check_is_fitted(self, fitted)
        return self._scores(self.estimator_, X)

    def _probabilities(self, scores: FloatArray) -> Probabilities:
        if not self._draws_maps:
            return scores
        if isinstance(self.calibration_, list):
            return calibrated(self.calibration_, scores)
        return self.calibration_._silently(scores)

    def _decide_batch(self, scores: FloatArray) -> Decision | MulticlassDecision:
        probabilities = self._probabilities(scores)
        if self._has_many_classes:
            decision = self._decide_classes(probabilities, self.classes_)
            return replace(decision, _are_means_of_draws=self._draws_maps)
        return self._decide(probabilities, self.min_positives, self.max_positives)

    def _warn_if_elsewhere(self, scores: FloatArray) -> None:
        """Warn if more scores are beyond those that calibrated than chance explains."""
        found = self.calibration_
        many = isinstance(found, list)
        calibrations: list[Calibration] = found if isinstance(found, list) else [found]
        columns = scores.T if many else scores[None]
        for i, (calibration, column) in enumerate(
            zip(calibrations, columns, strict=True)
        ):
            outside, m = calibration._outside(column, len(calibrations)), column.size
            if outside:
                low, high = calibration.score_range
                whose = f" of class {self.classes_.tolist()[i]!r}" if many else ""
                warnings.warn(
                    f"{outside} of {m} rows ({outside / m:.1%}) have scores{whose} "
                    f"beyond those that calibrated the model, {low:.6g} to {high:.6g}, "
                    "which is more than chance explains: their probabilities are "
                    "taken to be those at the end of that range. Are these rows like "
                    "the training data?",
                    stacklevel=3,
                )
                return

    @available_if(_gives("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities, calibrated if asked for.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``. With ``calibration="posterior"`` they are the
            means of the draws that `decide` uses.
        """
        if not self._draws_maps:
            own: FloatArray = super().predict_proba(X)
            return own
        p = _means(self._probabilities(self._new_scores(X)))
        if self._has_many_classes:
            return p
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
        ndarray of shape (n, n_classes)
            In the order of ``classes_``.
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
        many = self._has_many_classes
        if self.scope == "fixed":
            check_is_fitted(self, "rule_" if many else "threshold_")
            p = _means(self._probabilities(scores))
            if many:
                return np.asarray(self.rule_(p))
            return self._labelled(p >= self.threshold_)
        labels = self._decide_batch(scores).labels
        return labels if many else self._labelled(labels)


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
