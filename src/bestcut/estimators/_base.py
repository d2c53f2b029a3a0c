"""What the classifiers share: an inner model and out-of-fold scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import (
    _safe_indexing,
    assert_all_finite,
    check_random_state,
    column_or_1d,
    get_tags,
    indexable,
)
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from bestcut import _errors as errors
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import check_probabilities, check_scores, positive_class

_SEEDS = int(np.iinfo(np.int32).max)


def _inner_has(method: str) -> Callable[[Any], bool]:
    """Return whether the fitted model, or the one to be fitted, has a method."""

    def has(self: DecisionClassifier) -> bool:
        getattr(
            self._one_model(), method
        )  # its AttributeError says more than ours could
        return True

    return has


class AccuracyMixin(ClassifierMixin):
    """A classifier whose ``score`` says what it is not."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of ``predict(X)``, as scikit-learn has it.

        It is not the metric that the classifier decides for. For that, pass
        ``bestcut.scorers.make_scorer(metric)`` as ``scoring``, or call it:
        ``make_scorer(metric)(classifier, X, y)``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Their true labels. Of label sets, all of a row must be right.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts.

        Returns
        -------
        float
            The share of rows that ``predict`` gets right.
        """
        return float(super().score(X, y, sample_weight))


class DecisionClassifier(AccuracyMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier around a model that scores the classes."""

    _takes_many_classes: ClassVar[bool] = False
    estimator: Any
    cv: Any
    pos_label: Any
    n_jobs: Any

    @property
    def _needs(self) -> tuple[tuple[str, ...], str]:
        """The methods of which the model needs one, and what to do if it has none."""
        raise NotImplementedError

    def _model(self) -> Any:
        """Return the model to fit, not yet cloned."""
        return self.estimator

    @property
    def _first(self) -> Any:
        """A fitted model, which knows the classes and the features."""
        return self.estimator_

    def _one_model(self) -> Any:
        """Return a fitted model if there is one, and else the model to fit."""
        return self._first if hasattr(self, "_first") else self._model()

    def _fit(self, X: Any, y: NDArray[Any], fit_params: Any, split_params: Any) -> None:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit the inner model, and everything else that is needed to decide.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            Training data, as the inner estimator takes it.
        y : array-like of shape (n,)
            The class of each row.
        **params : dict
            Passed to the ``fit`` of the inner estimator, for example
            ``sample_weight``. With scikit-learn's metadata routing enabled, they go
            where they are requested, also to a splitter.

        Returns
        -------
        object
            The classifier itself.

        Raises
        ------
        ValueError
            If `y` is not one column of classes that this classifier takes, or a
            parameter is wrong.
        AttributeError
            If the inner model has neither probabilities nor scores.
        """
        X, y = indexable(X, y)
        if np.ndim(y) == 2 and np.shape(y)[1] > 1:
            raise errors.several_labels(type(self).__name__, np.shape(y))
        y = column_or_1d(y, warn=True)
        self._check_target(y)
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **params)
            fit_params, split_params = routed.estimator.fit, routed.splitter.split
        else:
            fit_params, split_params = params, {}
        self._check_groups(split_params)
        self._fit(X, y, fit_params, split_params)
        return self

    def _check_target(self, y: NDArray[Any]) -> None:
        assert_all_finite(y, input_name="y")
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind == "multiclass" and self._takes_many_classes:
            return
        if kind != "binary":
            raise errors.not_binary(kind, many=self._takes_many_classes)
        classes = np.unique(y)
        if classes.size < 2:
            name = type(self).__name__
            raise errors.too_few_classes(name, classes.tolist(), y.size)
        positive_class(self.pos_label, classes)

    @property
    def _uses_folds(self) -> bool:
        """Whether `fit` splits the rows by `cv`."""
        return True

    def _check_groups(self, split_params: Any) -> None:
        """Refuse a splitter that will not get the groups it needs."""
        # Without routing all of `params` is for the model, groups included.
        asks = get_routing_for_object(self.cv).consumes("split", ["groups"])
        if asks and self._uses_folds and split_params.get("groups") is None:
            raise errors.bad_value(
                "cv",
                f"needs groups, but none reach {type(self.cv).__name__}",
                "Call sklearn.set_config(enable_metadata_routing=True) first, and "
                "then `fit(X, y, groups=groups)`.",
            )

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, sorted."""
        classes: NDArray[Any] = self._first.classes_
        return classes

    @property
    def best_threshold_(self) -> float:
        """What `threshold_` is called in scikit-learn; here an error that says so.

        Raises
        ------
        AttributeError
            Always.
        """
        raise errors.other_name_of_threshold(type(self).__name__)

    @property
    def n_features_in_(self) -> int:
        """The number of features, if the inner model has it."""
        n_features: int = self._first.n_features_in_
        return n_features

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features, if the inner model has them."""
        names: NDArray[Any] = self._first.feature_names_in_
        return names

    def _positive(self, classes: NDArray[Any]) -> int:
        """Return the index of the positive class: `pos_label`, or the second."""
        if self.pos_label is None:
            return 1
        return int(np.flatnonzero(classes == self.pos_label)[0])

    def _labelled(self, positive: BoolArray) -> NDArray[Any]:
        """Return class labels for True and False."""
        index = self._positive(self.classes_)
        labels: NDArray[Any] = self.classes_[np.where(positive, index, 1 - index)]
        return labels

    def _scores(self, model: Any, X: Any) -> FloatArray:
        """Return the probability of the positive class, or scores that rank alike."""
        if not hasattr(model, "predict_proba"):
            scores = check_scores(model.decision_function(X), name="decision_function")
            return scores if self._positive(model.classes_) == 1 else -scores
        p = np.asarray(model.predict_proba(X))[:, self._positive(model.classes_)]
        return check_probabilities(p, name="predict_proba")

    def _out_of_fold(
        self, X: Any, y: NDArray[Any], splits: list[Any], fit_params: Any
    ) -> FloatArray:
        """Return the scores of all test folds, one after the other."""
        parts = self._folds(X, y, splits, fit_params, keep=False)
        return np.concatenate([scores for _, scores in parts])

    def _folds(
        self,
        X: Any,
        y: NDArray[Any],
        splits: list[Any],
        fit_params: Any,
        *,
        keep: bool,
    ) -> list[tuple[Any, FloatArray]]:
        """Return the model of each fold, or None, and the scores of its test rows."""
        try:
            parts = Parallel(n_jobs=self.n_jobs)(
                delayed(self._one_fold)(X, y, train, test, fit_params, keep=keep)
                for train, test in splits
            )
        except Exception as problem:
            # Only now: some models, such as frozen ones, do without.
            self._refuse_folds_without_class(y, splits, problem)
            raise
        return list(parts)

    def _refuse_folds_without_class(
        self, y: NDArray[Any], splits: list[Any], problem: Exception
    ) -> None:
        """Refuse folds that give a model no row of a class to learn from."""
        for fold, (train, _) in enumerate(splits, start=1):
            missing = np.setdiff1d(y, y[train])
            if missing.size:
                label, name = missing.tolist()[0], type(self).__name__
                n_rows = int(np.count_nonzero(y == missing[0]))
                raise errors.class_not_in_fold(
                    name, label, n_rows, fold, len(splits)
                ) from problem

    def _one_fold(
        self,
        X: Any,
        y: NDArray[Any],
        train: Any,
        test: Any,
        fit_params: Any,
        *,
        keep: bool,
    ) -> tuple[Any, FloatArray]:
        model = self._fitted_on(X, y, train, fit_params)
        scores = self._scores(model, _safe_indexing(X, test))
        return model if keep else None, scores

    def _truth(self, classes: NDArray[Any], y: NDArray[Any]) -> BoolArray:
        """Return whether each row is positive."""
        truth: BoolArray = y == classes[self._positive(classes)]
        return truth

    def _fitted_on(self, X: Any, y: NDArray[Any], rows: Any, fit_params: Any) -> Any:
        """Return the model fitted on some rows, with their part of `fit_params`."""
        mine = {
            name: rows_of(value, rows, y.size) for name, value in fit_params.items()
        }
        return self._fitted(_safe_indexing(X, rows), y[rows], mine, np.unique(y))

    def _fitted(
        self, X: Any, y: NDArray[Any], fit_params: Any, classes: NDArray[Any]
    ) -> Any:
        """Return the fitted model, if it scores these classes."""
        return self._usable(clone(self._model()).fit(X, y, **fit_params), classes)

    def _usable(self, model: Any, classes: NDArray[Any]) -> Any:
        """Return a fitted model, if it scores these classes."""
        name = type(self).__name__
        responses, cure = self._needs
        if not any(hasattr(model, response) for response in responses):
            inner = type(self.estimator).__name__
            raise errors.without_response(name, responses, inner, cure)
        if not hasattr(model, "classes_"):
            raise errors.without_classes(name, type(self.estimator).__name__)
        if not np.array_equal(model.classes_, classes):
            fitted_on = np.asarray(model.classes_).tolist()
            raise errors.other_classes(name, classes.tolist(), fitted_on)
        return model

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the inner model's probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self, "estimator_")
        out: FloatArray = self.estimator_.predict_proba(X)
        return out

    @available_if(_inner_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the inner model's probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self, "estimator_")
        out: FloatArray = self.estimator_.predict_log_proba(X)
        return out

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """Return the inner model's scores.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n, n_features)
            The instances.

        Returns
        -------
        ndarray of shape (n,), or (n, n_classes) for more than two classes
            Larger means more positive, or more of the class.
        """
        check_is_fitted(self, "estimator_")
        out: FloatArray = self.estimator_.decision_function(X)
        return out

    def get_metadata_routing(self) -> Any:
        """Return where metadata goes: to the inner estimator, and to the splitter.

        Returns
        -------
        MetadataRouter
            As scikit-learn's metadata routing needs it.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=type(self).__name__)
        router.add(estimator=self._model(), method_mapping=mapping)
        router.add(splitter=self.cv, method_mapping=split)
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_many_classes
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def seed_of(random_state: Any) -> int:
    """Return a seed: a whole number as it is, and else the next number of a source."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_SEEDS))
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(_SEEDS))


def rows_of(value: Any, rows: Any, count: int) -> Any:
    """Return some rows of a value with `count` entries; other values as they are."""
    if isinstance(value, str | Mapping) or not hasattr(value, "__len__"):
        return value
    shape = value.shape if hasattr(value, "shape") else (len(value),)
    return _safe_indexing(value, rows) if shape[:1] == (count,) else value
