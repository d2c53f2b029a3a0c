"""The paper's decision-theoretic classifier, as scikit-learn knows classifiers."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv
from sklearn.utils.fixes import parse_version
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from bestcut import _errors as errors
from bestcut._one_threshold import (
    Probabilities,
    best_threshold,
    means,
    score_reaching,
)
from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut._validation import check_bounds, check_matrix, check_option
from bestcut.calibration import (
    Calibration,
    calibrate,
    count_outside,
    quietly_calibrated,
)
from bestcut.decision import Decision, decide
from bestcut.estimators._base import (
    DecisionClassifier,
    rows_of,
    seed_of,
)
from bestcut.estimators._class_scores import calibrated, class_scores
from bestcut.estimators._ensemble import (
    SeveralModelsMixin,
    UnseenScores,
    check_ensemble,
    mean_score,
    unseen_scores,
)
from bestcut.goals import Certain, Goal, Mean
from bestcut.many import multiclass
from bestcut.many.multiclass import MulticlassDecision
from bestcut.metrics import Metric, get, require_ranking
from bestcut.scores import ScoreDistribution, score_distribution

SCOPES = ("batch", "fixed")
_RESPONSES = ("predict_proba", "decision_function")
_SEEDS = 1 << 32  # of scikit-learn
_TEMPERATURE = parse_version(sklearn.__version__) >= parse_version("1.8")

Average: TypeAlias = Literal["macro", "micro"]
CalibrationMethod: TypeAlias = Literal[
    "posterior", "sigmoid", "isotonic", "temperature"
]
Scope: TypeAlias = Literal["batch", "fixed"]


def _gives(method: str) -> Callable[[ExpectedMetricClassifier], bool]:
    """Return whether the model has a method, or scores that can be calibrated."""

    def gives(self: ExpectedMetricClassifier) -> bool:
        model = self._one_model()
        if self._draws_maps and any(hasattr(model, name) for name in _RESPONSES):
            return True
        getattr(model, method)  # its AttributeError says more than ours could
        return True

    return gives


def _gives_scores(self: ExpectedMetricClassifier) -> bool:
    """Return whether there are scores: the model's own, or means of models'."""
    model = self._one_model()
    if self._has_mean_scores and any(hasattr(model, name) for name in _RESPONSES):
        return True
    model.decision_function  # noqa: B018 - its AttributeError says most
    return True


class ExpectedMetricClassifier(SeveralModelsMixin, DecisionClassifier):
    """Predict the labels with the best expected metric: row by row, or for a batch.

    ``predict(X)`` decides each row by itself, with one threshold: the best cut of the
    out-of-fold probabilities of the training data. ``decide(X)`` decides for all rows
    of X together, and returns a whole decision. It is worth it for small batches, under
    conditions and budgets, and where the share of positives moves.
    ``distribution(X)`` is what the labels of ``predict(X)`` will score, without labels.

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
        with some probability; see `bestcut.decide`. `decide` keeps it in each batch,
        `predict` with ``scope="fixed"`` on the training data: see Notes.
    at_most : mapping of str or Metric to float or Certain, optional
        The same for losses, which must not be larger.

        .. versionadded:: 0.3
    min_positives, max_positives : int, optional
        Bounds on the number of predicted positives in a batch. They need
        ``scope="batch"``: a threshold that is the same for batches of all sizes cannot
        keep a number of rows.
    calibration : {"posterior", "sigmoid", "isotonic", "temperature"} or None
        ``"posterior"``, the default, calibrates out-of-fold scores with
        `bestcut.calibrate`, and takes into account the doubt that the labels leave
        about the calibration. None takes the model's probabilities as they are. The
        others calibrate with ``CalibratedClassifierCV``, and ignore that doubt;
        ``"temperature"`` needs scikit-learn 1.8.
    ensemble : bool or "auto", default="auto"
        Whether the models of the folds are kept and averaged, or one model of all rows
        is fitted. ``"auto"`` averages with ``calibration="posterior"``, unless the
        model is already fitted: in the mean that decides better, and takes ten fits
        instead of six (see Notes). With ``calibration="sigmoid"``, ``"isotonic"`` and
        ``"temperature"`` it is the `ensemble` of ``CalibratedClassifierCV``, which
        averages probabilities instead of scores. ``calibration=None`` has one model.

        .. versionadded:: 0.3
    cv : int, splitter, iterable or "prefit", optional
        How the training data are split. None makes five stratified folds; for an
        ensemble with ``calibration="posterior"`` twice, shuffled by `random_state`. A
        whole number is that many stratified folds, once. Splitters that test a row
        several times need an ensemble. Rows that are never tested do not calibrate.
        ``"prefit"`` means that `estimator` is already fitted: it is used as it is, and
        all data given to ``fit`` calibrate it. It must not have been fitted on these
        data.
    scope : {"batch", "fixed"}, default="fixed"
        What ``predict`` decides for: ``"fixed"`` for each row by itself, with one
        threshold (with more than two classes: with one rule); ``"batch"`` for all rows
        that it is called with, as `decide` does, so that the label of a row depends on
        the other rows, and a row alone may get another label than among others.
    pos_label : int, float, bool or str, optional
        The positive class. It must be given unless the classes are 0 and 1, -1 and 1,
        or False and True.
    n_draws : int, default=200
        How many maps ``calibration="posterior"`` draws.
    random_state : int, RandomState, Generator or None, default=0
        Seed of these draws, and of the folds if `cv` is None; equal numbers give equal
        maps. With more than two classes it is the seed of the first class, and each
        further class has the next number.
    n_jobs : int, optional
        How many folds are fitted, or classes calibrated, at the same time.

    Attributes
    ----------
    estimators_ : list of estimator
        The fitted models: those of the folds, in the order of `cv`, or one. With
        ``calibration="sigmoid"``, ``"isotonic"`` or ``"temperature"`` it is one
        ``CalibratedClassifierCV``.
    estimator_ : estimator
        The fitted model, where there is one.
    calibration_ : Calibration, or list of Calibration
        With ``calibration="posterior"``: what the labels say about the scores; with
        more than two classes, a list for the scores of each class against the rest.
    threshold_ : float
        The threshold of ``scope="fixed"``: rows whose probability in `predict_proba` is
        this or larger are positive. Of all thresholds that make the same cut, it is 1/2
        if possible, and otherwise the one halfway.
    score_threshold_ : float
        The same threshold on what ``estimator_`` itself says of a row, where there is
        one model: see the property.
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
        If nothing satisfies the conditions: in ``fit`` with ``scope="fixed"``, in
        ``predict`` with ``scope="batch"``, and in ``decide``.

    See Also
    --------
    bestcut.estimators.PluginThresholdClassifier : One threshold, tuned on labels.
    bestcut.estimators.ExpectedMetricMultilabelClassifier : A set of labels for each
        row.
    sklearn.model_selection.FixedThresholdClassifier : A threshold of your own.

    Notes
    -----
    The probabilities must be calibrated; see `bestcut.check_calibration`.

    ``predict(X)`` with ``scope="fixed"`` is the positive class where
    ``predict_proba(X)[:, i] >= threshold_``; i is the column of the positive class.
    `at_least` and `goal` then hold for the out-of-fold rows of the training data, taken
    as one batch. A condition on an expected value is met in other batches as far as
    they are like these rows: in expectation, not in each of them. A
    `bestcut.goals.Certain` condition, and a goal other than the mean, are about a batch
    of that size: in a smaller one the score varies more, and is less sure to be
    reached. ``distribution(X, "precision").prob_at_least(0.9)`` says how sure it is for
    the rows of X, and `decide` keeps the conditions in X itself. With ``max_positives``
    there is no such reading, so it is refused.

    Weights of instances reach the inner estimator, but the metric counts every row
    equally. So does ``calibration="posterior"``, except that it leaves out rows of
    weight 0: its probabilities are those of the population that the rows are a sample
    of, whatever weights the model was fitted with. So weights that balance classes do
    no harm, but weights that turn the sample into another population are not accounted
    for. A model that is already fitted cannot use weights, and
    ``calibration="posterior"`` refuses them for such a model.

    With an ensemble the score of a row is the mean of the log-odds of all models; that
    of a training row is the mean over the models that did not see it, and these
    calibrate. Probabilities of 0 and 1 are moved in, by half of what the nearest
    out-of-fold probability is off. The mean of all models is better than what was
    calibrated, so the maps are made steeper, by 5 % on average with two repetitions of
    five folds, each by another factor. Models without ``predict_proba`` are averaged by
    their decision values. With ``ensemble=False``, ``calibration="posterior"`` assumes
    that the model fitted on all rows scores like the models of the folds, as
    ``CalibratedClassifierCV(ensemble=False)`` does. New
    scores beyond all out-of-fold scores get the probabilities at the end of their
    range. A few such scores are normal, and `predict` and `predict_proba` say nothing
    about them; `decide` warns if there are more than chance explains.

    With more than two classes, each class is calibrated against the rest, and a row's
    probabilities are the means of the classes' draws, divided by their sum. Decisions
    and distributions are for these means. The doubt about them is not in the intervals,
    as ``distribution()`` of a decision warns; it is in `calibration_`, whose maps draw
    a class's probabilities from its scores.
    A ``decision_function`` must have a column for each class.

    ``OneVsRestClassifier`` and ``OutputCodeClassifier`` compare the scores of their
    classifiers, and never call ``predict``: around this classifier they ignore its
    metric. Pass y with all its classes instead.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bestcut.estimators import ExpectedMetricClassifier
    >>> X, y = make_classification(n_samples=300, weights=[0.9], random_state=0)
    >>> model = ExpectedMetricClassifier(LogisticRegression(), "f1")
    >>> _ = model.fit(X[:200], y[:200])
    >>> int(model.predict(X[200:]).sum())
    8
    >>> model.distribution(X[200:])
    F1 0.60, 90% between 0.31 and 0.86

    This interval includes the doubt that two hundred labels leave about the
    probabilities. If the model's probabilities are taken as they are, the interval is
    narrower than it should be:

    >>> _ = model.set_params(calibration=None).fit(X[:200], y[:200])
    >>> model.distribution(X[200:])
    F1 0.64, 90% between 0.43 and 0.83

    More than two classes:

    >>> X, y = make_classification(n_samples=600, n_informative=4, n_classes=3,
    ...                            weights=[0.8, 0.15], random_state=0)
    >>> model = ExpectedMetricClassifier(LogisticRegression(), "f1", average="macro")
    >>> decision = model.fit(X[:400], y[:400]).decide(X[400:])
    >>> decision.n_positive.tolist()
    [163, 28, 9]
    >>> round(decision.expected_score, 2)
    0.68
    """

    _takes_many_classes: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Any,
        metric: str | Metric = "f1",
        *,
        average: Average = "macro",
        weights: Any = None,
        goal: Goal | None = None,
        at_least: Mapping[str | Metric, float | Certain] | None = None,
        at_most: Mapping[str | Metric, float | Certain] | None = None,
        min_positives: int = 0,
        max_positives: int | None = None,
        calibration: CalibrationMethod | None = "posterior",
        ensemble: bool | Literal["auto"] = "auto",
        cv: Any = None,
        scope: Scope = "fixed",
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
        self.at_most = at_most
        self.min_positives = min_positives
        self.max_positives = max_positives
        self.calibration = calibration
        self.ensemble = ensemble
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
    def _is_fitted_already(self) -> bool:
        return self._is_prefit or isinstance(self.estimator, FrozenEstimator)

    @property
    def _averages(self) -> bool:
        """Whether the models of the folds are kept, and their scores averaged."""
        if not self._draws_maps or self._is_fitted_already:
            return False
        return bool(self.ensemble)

    @property
    def _has_mean_scores(self) -> bool:
        """Whether scores are means over models: as it is fitted, or will be."""
        if not hasattr(self, "estimators_"):
            return self._averages
        return len(self.estimators_) > 1 or self._ends is not None

    @property
    def _first(self) -> Any:
        return self.estimators_[0]

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
            self.estimator,
            method=self.calibration,
            cv=self.cv,
            n_jobs=self.n_jobs,
            ensemble=self.ensemble,
        )
        if get_config()["enable_metadata_routing"]:
            model.set_fit_request(sample_weight=True)
        return model

    def _fit(self, X: Any, y: NDArray[Any], fit_params: Any, split_params: Any) -> None:
        classes = np.unique(y)
        seed = seed_of(self.random_state) if self._draws_maps else 0
        self._check_parameters(classes.size, seed)
        for name in ("calibration_", "threshold_", "_score_threshold", "rule_"):
            self.__dict__.pop(name, None)  # of another fit
        if self._draws_maps:
            unseen = self._fit_and_score(X, y, fit_params, split_params, seed)
            self._ends = unseen.ends
            scores = self._calibrate(unseen, y, fit_params, seed)
        else:
            self._ends = None
            self.estimators_ = [self._fitted(X, y, fit_params, classes)]
            if self.scope == "batch":
                return
            splits = self._splits(X, y, split_params)
            scores = self._out_of_fold(X, y, splits, fit_params)
        if self.scope == "fixed":
            self._fix(scores)

    def _fix(self, scores: FloatArray) -> None:
        """Set the threshold or the rule that decides new rows one by one."""
        probabilities = self._probabilities(scores)
        if self._has_many_classes:
            self.rule_ = self._decide_classes(probabilities, self.classes_).rule()
            return
        self.threshold_ = self._best_threshold(probabilities)
        self._score_threshold = self.threshold_
        if self._draws_maps:
            self._score_threshold = score_reaching(
                self.threshold_, scores, lambda s: means(self._probabilities(s))
            )

    @property
    def score_threshold_(self) -> float:
        """The threshold on the inner model's own scores, for use without this class.

        Rows are positive where the score is this or larger, exactly where `predict`
        says so. The score is the column of the positive class in
        ``estimator_.predict_proba(X)`` or, of a model without it,
        ``estimator_.decision_function(X)``, negated if the positive class is the first
        in ``classes_``. Without ``calibration="posterior"`` it equals ``threshold_``.

        Raises
        ------
        AttributeError
            If the classifier has no ``threshold_``, or averages several models, none of
            which has a score of its own that could be compared: pass
            ``ensemble=False``.
        """
        if not hasattr(self, "threshold_"):
            raise errors.no_score_threshold()
        models = getattr(self._first, "calibrated_classifiers_", self.estimators_)
        if len(models) > 1:
            raise errors.several_models(name="score_threshold_", n_models=len(models))
        return self._score_threshold

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

    def _splits(
        self, X: Any, y: NDArray[Any], split_params: Any, seed: int | None = None
    ) -> list[Any]:
        """Return the folds: by default five, for an ensemble twice, with its seed."""
        if self.cv is None and seed is not None:
            cv = RepeatedStratifiedKFold(
                n_splits=5, n_repeats=2, random_state=seed % _SEEDS
            )
        else:
            cv = check_cv(self.cv, y, classifier=True)
        return list(cv.split(X, y, **split_params))

    def _fit_and_score(
        self,
        X: Any,
        y: NDArray[Any],
        fit_params: Any,
        split_params: Any,
        seed: int,
    ) -> UnseenScores:
        """Fit the models, and return what those that did not see a row say of it."""
        classes = np.unique(y)
        if fit_params and self._is_fitted_already:
            raise errors.nothing_to_fit(type(self).__name__, sorted(fit_params))
        if self._is_prefit:
            check_is_fitted(self.estimator, msg=errors.NOT_FITTED_BEFORE)
            self.estimators_ = [self._usable(self.estimator, classes)]
            every, scores = np.arange(y.size), self._scores(self._first, X)
            return unseen_scores(y.size, [every], [scores], are_probabilities=False)
        splits = self._splits(X, y, split_params, seed if self._averages else None)
        tests = [np.arange(y.size)[test] for _, test in splits]
        if not self._averages:
            _refuse_rows_tested_twice(tests)
        models, parts = zip(
            *self._folds(X, y, splits, fit_params, keep=self._averages), strict=True
        )
        if not self._averages:
            self.estimators_ = [self._fitted(X, y, fit_params, classes)]
            tests, parts = [np.concatenate(tests)], (np.concatenate(parts),)
            return unseen_scores(y.size, tests, list(parts), are_probabilities=False)
        self.estimators_ = list(models)
        known = hasattr(self._first, "predict_proba")
        return unseen_scores(y.size, tests, list(parts), are_probabilities=known)

    def _calibrate(
        self, unseen: UnseenScores, y: NDArray[Any], fit_params: Any, seed: int
    ) -> FloatArray:
        """Calibrate the scores of rows that count, and return these scores."""
        weight = rows_of(fit_params.get("sample_weight"), unseen.rows, y.size)
        counts = np.full(unseen.rows.size, True)
        if weight is not None:
            counts = np.asarray(weight) != 0
        scores: FloatArray = unseen.scores[counts]
        truth = self._truth(self.classes_, y[unseen.rows[counts]])
        self.calibration_: Calibration | list[Calibration]
        if scores.ndim == 1:
            self.calibration_ = self._calibration(truth, scores, seed, unseen)
            return scores
        columns = enumerate(zip(truth.T, scores.T, strict=True), start=seed)
        self.calibration_ = list(
            Parallel(n_jobs=self.n_jobs)(
                delayed(self._calibration)(*column, own, unseen)
                for own, column in columns
            )
        )
        return scores

    def _calibration(
        self, truth: Any, scores: Any, seed: int, unseen: UnseenScores | None = None
    ) -> Calibration:
        """Return the calibration of one column of scores."""
        found = calibrate(truth, scores, n_draws=self.n_draws, random_state=seed)
        return found if unseen is None else unseen.stretch(found, scores, seed)

    def _check_parameters(self, n_classes: int, seed: int) -> None:
        """Refuse wrong parameters before anything is fitted."""
        check_option(self.scope, SCOPES, name="scope")
        self._check_ensemble()
        if self._is_prefit and not self._draws_maps:
            raise errors.bad_value(
                "cv",
                "may be 'prefit' only with calibration='posterior'",
                "Leave `cv` out, and pass the fitted model as "
                "sklearn.frozen.FrozenEstimator(model).",
                got=f"calibration={self.calibration!r}",
            )
        if self.calibration == "temperature" and not _TEMPERATURE:
            raise errors.bad_value(
                "calibration",
                "'temperature' needs scikit-learn 1.8 or newer; this is "
                f"{sklearn.__version__}",
                "Pass 'posterior', 'sigmoid' or 'isotonic'.",
            )
        if self._draws_maps:
            self._calibration([0, 1], [0.0, 1.0], seed)  # refuses bad draws and seeds
        twice = self.scope == "fixed" and not (
            self.calibration is None or self._draws_maps
        )
        if twice and isinstance(self.cv, Iterable) and not hasattr(self.cv, "split"):
            raise errors.bad_value(
                "cv",
                "must be a number of folds or a splitter when scope='fixed' is "
                "combined with calibration, because each fold is split again",
                got=type(self.cv).__name__,
            )
        if n_classes > 2:
            self._refuse_what_needs_two_classes(n_classes)
            even = np.full((1, n_classes), 1.0 / n_classes)
            # A bad metric, average or weight is refused here.
            self._decide_classes(even, np.arange(n_classes))
            return
        if self.weights is not None:
            raise errors.bad_value(
                "weights",
                "must be None with two classes: the metric is then the score of "
                "the positive class, not a mean over classes",
                "Leave it out.",
            )
        bounds = check_bounds(self.min_positives, self.max_positives, sys.maxsize)
        if self.scope == "fixed" and bounds != (0, sys.maxsize):
            raise errors.bounds_of_a_batch()
        require_ranking(
            get(self.metric),
            way_out="Use PluginThresholdClassifier, which takes any metric.",
        )
        self._refuse_what_decide_refuses()

    def _check_ensemble(self) -> None:
        is_fitted = self._draws_maps and self._is_fitted_already
        averages = check_ensemble(self.ensemble, is_fitted=is_fitted)
        if averages and self.ensemble != "auto" and self.calibration is None:
            raise errors.one_model_only(given="calibration=None")

    def _refuse_what_needs_two_classes(self, n_classes: int) -> None:
        given = {
            "pos_label": self.pos_label is not None,
            "goal": not (self.goal is None or isinstance(self.goal, Mean)),
            "at_least": self.at_least is not None,
            "at_most": self.at_most is not None,
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
        """Return the threshold that is best for rows of the training data.

        For the mean without conditions the means of draws choose it. They take a
        hundredth of the time, and the score that they lose cannot be measured
        (`experiments/rowwise.py`).
        """
        p = means(probabilities)
        is_free = self.at_least is None and self.at_most is None
        if is_free and (self.goal is None or self.goal == Mean()):
            probabilities = p

        def decide_within(low: int, high: int) -> Decision:
            return self._decide(probabilities, low, high)

        return best_threshold(p, decide_within)

    def _decide(
        self, probabilities: Any, min_positives: int, max_positives: int | None
    ) -> Decision:
        return decide(
            probabilities,
            self.metric,
            goal=Mean() if self.goal is None else self.goal,
            at_least=self.at_least,
            at_most=self.at_most,
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

    # To a type checker: a Decision, and what only a MulticlassDecision has is not
    # called a mistake. With both named, `decide(X).threshold` would be one.
    def decide(self, X: Any) -> Decision[BoolArray, float] | Any:
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
            If no prediction for this batch satisfies the conditions.

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
        needed = ["calibration_"] if self._draws_maps else []
        check_is_fitted(self, ["estimators_", *needed])
        return mean_score((self._scores(m, X) for m in self.estimators_), self._ends)

    def _probabilities(self, scores: FloatArray) -> Probabilities:
        if not self._draws_maps:
            return scores
        if isinstance(self.calibration_, list):
            return calibrated(self.calibration_, scores)
        return quietly_calibrated(self.calibration_, scores)

    def _known(self, scores: FloatArray) -> FloatArray:
        """Return the probabilities of `predict_proba`: of the positive class, or all.

        A map may be flat, or rounding may make it so. There a threshold on
        probabilities could not tell rows that a threshold on scores tells apart, so
        their probabilities are moved to their side of `threshold_`: by rounding, of
        single precision at most.
        """
        p = means(self._probabilities(scores))
        if not (self._draws_maps and hasattr(self, "threshold_")):
            return p
        above = np.maximum(p, self.threshold_)
        below = np.minimum(p, np.nextafter(self.threshold_, -np.inf))
        return np.where(scores >= self._score_threshold, above, below)

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
            outside = count_outside(calibration, column, len(calibrations))
            if outside:
                low, high = calibration.score_range
                whose = f" of class {self.classes_.tolist()[i]!r}" if many else ""
                warnings.warn(
                    f"{outside} of {column.size} rows ({outside / column.size:.1%}) "
                    f"have scores{whose} beyond those that calibrated the model, "
                    f"{low:.6g} to {high:.6g}, which is more than chance explains: "
                    "their probabilities are taken to be those at the end of that "
                    "range. Are these rows like the training data?",
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
        check_is_fitted(self, "estimators_")
        if not (self._draws_maps or self._has_many_classes):
            found = np.asarray(super().predict_proba(X))
            return check_matrix(found, name="predict_proba")
        p = self._known(self._new_scores(X))
        if self._has_many_classes:
            return p
        first = self._positive(self.classes_) == 0
        return np.column_stack([p, 1.0 - p] if first else [1.0 - p, p])

    @available_if(_gives_scores)
    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores that calibration turns into probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n,), or (n, n_classes) for more than two classes
            Larger means more positive, or more of the class. With an ensemble, the mean
            of its models' log-odds or, if they have no ``predict_proba``, of their
            decision values; with one model, its own ``decision_function``.
        """
        check_is_fitted(self, "estimators_")
        if not self._has_mean_scores:
            own: FloatArray = super().decision_function(X)
            return own
        scores = self._new_scores(X)
        is_turned = scores.ndim == 1 and self._positive(self.classes_) == 0
        return -scores if is_turned else scores

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
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n,)
            Class labels. With ``scope="fixed"`` a row gets the same label alone as
            among others; with ``scope="batch"`` they are those of `decide`.
        """
        labels = self._own_labels(self._new_scores(X))
        return labels if self._has_many_classes else self._labelled(labels)

    def _own_labels(self, scores: FloatArray) -> NDArray[Any]:
        """Return the classes that `predict` gives; True and False if there are two."""
        if self.scope == "batch":
            return np.asarray(self._decide_batch(scores).labels)
        many = self._has_many_classes
        check_is_fitted(self, "rule_" if many else "threshold_")
        p = self._known(scores)
        return np.asarray(self.rule_(p) if many else p >= self.threshold_)

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
            With ``mean``, ``std``, ``interval()``, ``ppf()`` and
            ``prob_at_least()``. With two classes and ``calibration="posterior"`` it
            includes the doubt about the calibration.

        Raises
        ------
        NotFittedError
            If the classifier is not fitted.

        Warns
        -----
        UserWarning
            As `decide` does; and with more than two classes and
            ``calibration="posterior"``, because the doubt about the probabilities is
            then not in the distribution.

        See Also
        --------
        bestcut.score_distribution : The same for probabilities and predictions.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.linear_model import LogisticRegression
        >>> from bestcut.estimators import ExpectedMetricClassifier
        >>> X, y = make_classification(n_samples=300, weights=[0.9], random_state=0)
        >>> model = ExpectedMetricClassifier(LogisticRegression(), "f1")
        >>> model.fit(X[:200], y[:200]).distribution(X[200:])
        F1 0.60, 90% between 0.31 and 0.86
        """
        scores = self._new_scores(X)
        if self._draws_maps:
            self._warn_if_elsewhere(scores)
        labels, p = self._own_labels(scores), self._probabilities(scores)
        chosen = get(self.metric if metric is None else metric)
        if not self._has_many_classes:
            return score_distribution(p, labels, chosen)
        if self._draws_maps:
            multiclass.warn_of_means(stacklevel=3)
        return multiclass.score_distribution(
            p,
            labels,
            chosen,
            average=self.average,
            classes=self.classes_,
            weights=self.weights,
        )


def _refuse_rows_tested_twice(tests: list[IndexArray]) -> None:
    times = np.bincount(np.concatenate(tests))
    if times.max(initial=0) > 1:
        raise errors.bad_value(
            "cv",
            "must test every row at most once with ensemble=False, because the "
            "calibration would be overconfident if a row counted several times; row "
            f"{int(times.argmax())} is tested {int(times.max())} times",
            "Pass a number of folds, or ensemble=True.",
        )
