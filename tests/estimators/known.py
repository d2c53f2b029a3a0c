"""A model whose probabilities are given, its data, and every way to decide."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.naive_bayes import GaussianNB

from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier

X, Y = make_classification(
    n_samples=240, n_features=5, weights=[0.7], flip_y=0.1, random_state=0
)
# Enough where nothing is about the number of rows: calibration takes half as long.
FEW, FEW_Y = X[:110], Y[:110]
NAMES = [f"x{i}" for i in range(5)]


def without_order(load, rows, columns=slice(None), noise=0.0):
    """Return rows of a data set in random order, and their classes."""
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(y.size)[:rows]
    X = X[:, columns] + noise * rng.normal(size=X[:, columns].shape)
    return X[order], y[order]


# By two of its features iris is hard enough.
FLOWERS, KINDS = without_order(load_iris, 150, slice(0, 2))
FLOWER_NAMES = np.array(["setosa", "versicolor", "virginica"])


class KnownModel(ClassifierMixin, BaseEstimator):
    """The probability of the second class is the first column; nothing is learnt."""

    def __init__(self, dtype=np.float64):
        self.dtype = dtype

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.asarray(X, dtype=self.dtype)[:, 0]
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] >= 0.5).astype(int)]


def batch(inner, metric="f1", calibration=None, **options):
    options = {"scope": "batch", **options}
    return ExpectedMetricClassifier(inner, metric, calibration=calibration, **options)


def fixed(inner, metric="f1", **options):
    return batch(inner, metric, scope="fixed", cv=3, **options)


def posterior(inner, metric="f1", **options):
    options = {"calibration": "posterior", "cv": 3, "n_draws": 10, **options}
    return batch(inner, metric, **options)


def one_model(inner, metric="f1", **options):
    """Calibrate a model of all rows, with the scores of the models of the folds."""
    return posterior(inner, metric, **{"ensemble": False, **options})


def one_model_fixed(inner, metric="f1", **options):
    return one_model(inner, metric, scope="fixed", **options)


def posterior_fixed(inner, metric="f1", **options):
    return posterior(inner, metric, scope="fixed", **options)


def holdout(inner, metric="f1", **options):
    return PluginThresholdClassifier(
        inner, metric, cv="holdout", random_state=0, **options
    )


def folds(inner, metric="f1", **options):
    return PluginThresholdClassifier(inner, metric, cv=3, **options)


# scikit-learn 1.6 knows the frames of polars 1, not those of polars 2.
tiny = GaussianNB().fit(pl.DataFrame({"a": [0.0, 1.0]}), [0, 1])
polars_is_known = pytest.mark.skipif(
    not hasattr(tiny, "feature_names_in_"),
    reason="this scikit-learn does not see the columns of this polars",
)
each_frame = pytest.mark.parametrize(
    "frame", [pd.DataFrame, pytest.param(pl.DataFrame, marks=polars_is_known)]
)
each_way = pytest.mark.parametrize(
    "make",
    [
        batch,
        fixed,
        posterior,
        pytest.param(posterior_fixed, marks=pytest.mark.slow),
        pytest.param(one_model_fixed, marks=pytest.mark.slow),
        holdout,
        folds,
    ],
)
each_way_of_classes = pytest.mark.parametrize(
    "make",
    [
        batch,
        fixed,
        posterior,
        pytest.param(posterior_fixed, marks=pytest.mark.slow),
        pytest.param(one_model_fixed, marks=pytest.mark.slow),
    ],
)


def keeps_probabilities(make):
    """Return whether predict_proba is that of the inner model, fitted on all rows."""
    return make in (batch, fixed, folds)


def fits_all_rows(make):
    """Return whether there is one model, fitted on all rows."""
    return make in (batch, fixed, one_model_fixed, folds)


def lift(tp, fp, fn, tn):
    return tp - 0.3 * fp
