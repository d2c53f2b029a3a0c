"""The models, and what makes equal fits and equal calibrations once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import bestcut
from bestcut.estimators import _expected

# Smaller than people use, so that the trial ends; chosen before any result was seen.
MODELS: dict[str, Callable[[], Any]] = {
    "logistic regression": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000)
    ),
    "forest": lambda: RandomForestClassifier(50, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(
        max_iter=30, learning_rate=0.2, max_leaf_nodes=8, random_state=0
    ),
}
# Of the trial with labels apart, besides.
OTHERS: dict[str, Callable[[], Any]] = {
    "naive Bayes": GaussianNB,
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "network": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((32,), max_iter=60, random_state=0)
    ),
}


class Table:
    """The rows that models are fitted on, and every fit and answer so far."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        self.fits = 0
        self._made: dict[Any, Any] = {}

    def __deepcopy__(self, memo: Any) -> Table:
        return self  # clones of a wrapper share what was made

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what `make` gives, or gave for the same key."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @contextmanager
    def calibrations(self) -> Iterator[None]:
        """Let estimators that calibrate the same scores and labels do that once."""
        calibrate = _expected.calibrate

        def remembered(*given: Any, **options: Any) -> Any:
            key = joblib.hash((calibrate.__name__, given, options))
            return self.once(key, lambda: calibrate(*given, **options))

        with (
            mock.patch.object(_expected, "calibrate", remembered),
            mock.patch.object(bestcut, "calibrate", remembered),
        ):
            yield


class Remembering(ClassifierMixin, BaseEstimator):
    """A model of rows of a table, given by their numbers: a column of integers.

    The same model fitted on the same rows, labels and weights is fitted once.
    """

    def __init__(self, model: Any, table: Table) -> None:
        self.model = model
        self.table = table

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Remembering:
        """Fit, or take what was fitted."""
        rows, given = np.asarray(X)[:, 0], {}
        if sample_weight is not None:
            given["sample_weight"] = sample_weight

        def make() -> Any:
            self.table.fits += 1
            return clone(self.model).fit(self.table.X[rows], y, **given)

        key = joblib.hash((self.model, rows, np.asarray(y), sample_weight))
        self.fitted_ = self.table.once(key, make)
        self.classes_ = self.fitted_.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of rows."""
        rows = np.asarray(X)[:, 0]
        return self.table.once(
            (id(self.fitted_), rows.tobytes()),
            lambda: self.fitted_.predict_proba(self.table.X[rows]),
        )

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class of rows."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def oversampled(model: Any, words: tuple[bool, ...], n_positive: int) -> Any:
    """Return the model after SMOTE, as a pipeline of imbalanced-learn.

    Neighbours are those of standardised columns. Columns of words need another class
    of that family, and few positives fewer neighbours than its five.
    """
    from imblearn.over_sampling import SMOTE, SMOTEN, SMOTENC
    from imblearn.pipeline import make_pipeline

    if isinstance(model, Remembering):
        inner = oversampled(model.model, words, n_positive)
        return Remembering(inner, model.table)
    given: dict[str, Any] = {"k_neighbors": min(5, n_positive - 1), "random_state": 0}
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    sampler = SMOTE(**given)
    if any(words):
        sampler = SMOTEN(**given) if all(words) else SMOTENC(list(words), **given)
    return make_pipeline(StandardScaler(), sampler, last)
