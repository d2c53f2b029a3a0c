"""`score_threshold_` cuts the inner model's own scores exactly as `predict` does."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier
from estimators.known import FLOWERS, KINDS, KnownModel, X, Y
from groups import slow

RNG = np.random.default_rng(0)
P = RNG.beta(0.4, 1.5, size=400)
TRUTH = (RNG.random(400) < 0.7 * P**2).astype(int)


class KnownScore(ClassifierMixin, BaseEstimator):
    """The decision function is the first column; nothing is learnt."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) >= 0).astype(int)]


def fitted(inner, rows=X, y=Y, **options):
    options = {"n_draws": 10, "cv": 3, "ensemble": False, **options}
    return ExpectedMetricClassifier(inner, **options).fit(rows, y)


def around(threshold, dtype):
    """Return numbers about a threshold, near to it and next to it."""
    at = np.dtype(dtype).type(threshold)
    near = [at]
    for _ in range(40):
        near = [
            np.nextafter(near[0], dtype(-9)),
            *near,
            np.nextafter(near[-1], dtype(9)),
        ]
    wide = at + np.linspace(-1e-4, 1e-4, 201).astype(dtype)
    return np.concatenate([np.array(near, dtype=dtype), wide]).astype(dtype)


def scores_to_try(model, dtype, low, high):
    dense = np.linspace(low, high, 2001).astype(dtype)
    near = [around(model.score_threshold_, dtype), around(model.threshold_, dtype)]
    return np.clip(np.concatenate([dense, *near]), low, high)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["f1", "accuracy", "recall"])
@pytest.mark.parametrize("calibration", ["posterior", None])
@pytest.mark.parametrize("positive", [0, 1])
def test_it_cuts_probabilities_where_predict_does(dtype, metric, calibration, positive):
    model = fitted(
        KnownModel(dtype),
        P[:, None],
        TRUTH,
        metric=metric,
        calibration=calibration,
        pos_label=positive,
    )
    rows = scores_to_try(model, dtype, 0, 1)[:, None]
    for one in (model, pickle.loads(pickle.dumps(model))):
        scores = one.estimator_.predict_proba(rows)[:, positive]
        assert scores.dtype == dtype
        cut = scores >= one.score_threshold_
        np.testing.assert_array_equal(one.predict(rows) == positive, cut)
        above = one.predict_proba(rows)[:, positive] >= one.threshold_
        np.testing.assert_array_equal(above, cut)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("positive", [0, 1])
def test_it_cuts_decision_functions_where_predict_does(dtype, positive):
    margins = 8 * P - 3
    model = fitted(KnownScore(), margins[:, None], TRUTH, pos_label=positive)
    rows = scores_to_try(model, dtype, -6, 6)[:, None]
    scores = model.estimator_.decision_function(rows) * (1 if positive else -1)
    np.testing.assert_array_equal(
        model.predict(rows) == positive, scores >= model.score_threshold_
    )


@pytest.mark.parametrize("metric", ["f1", "mcc"])
@pytest.mark.parametrize(
    "inner",
    [GaussianNB(), LinearSVC(), DecisionTreeClassifier(max_depth=3, random_state=0)],
    ids=str,
)
def test_models_that_learn(inner, metric):
    model = fitted(inner, metric=metric)
    for rows in (X, 3 * X, X.astype(np.float32)):
        if hasattr(model.estimator_, "predict_proba"):
            scores = model.estimator_.predict_proba(rows)[:, 1]
        else:
            scores = model.estimator_.decision_function(rows)
        cut = scores >= model.score_threshold_
        np.testing.assert_array_equal(model.predict(rows), cut)


def test_it_is_what_scikit_learns_fixed_threshold_needs():
    model = fitted(GaussianNB())
    # An overconfident model: its scores are far from the calibrated probabilities.
    shipped = FixedThresholdClassifier(
        FrozenEstimator(model.estimator_),
        threshold=model.score_threshold_,
        response_method="predict_proba",
    ).fit(X, Y)
    np.testing.assert_array_equal(shipped.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("metric", "threshold"), [("recall", -np.inf), ("specificity", np.inf)]
)
def test_all_or_none(metric, threshold):
    model = fitted(LogisticRegression(), metric=metric)
    assert model.score_threshold_ == threshold
    assert set(model.predict(X)) == {int(threshold < 0)}


@pytest.mark.parametrize(
    ("inner", "calibration"), [(GaussianNB(), None), (GaussianNB(), "sigmoid")]
)
def test_where_the_model_gives_the_probabilities_it_is_the_threshold(
    inner, calibration
):
    frozen = FrozenEstimator(inner.fit(X, Y))
    model = fitted(frozen, calibration=calibration)
    assert model.score_threshold_ == model.threshold_
    scores = model.estimator_.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X), scores >= model.score_threshold_)


@pytest.mark.parametrize("calibration", ["posterior", "sigmoid", slow("isotonic")])
def test_where_models_are_averaged_the_way_with_one_is_named(calibration):
    model = fitted(GaussianNB(), calibration=calibration, ensemble=True)
    message = "no `score_threshold_`, because 3 models are averaged.*ensemble=False"
    with pytest.raises(AttributeError, match=message):
        model.score_threshold_  # noqa: B018


def test_without_a_threshold_there_is_none_on_scores():
    for model in (
        fitted(GaussianNB(), scope="batch"),
        fitted(GaussianNB(), FLOWERS, KINDS),
    ):
        with pytest.raises(AttributeError, match=r"two classes .* scope='fixed'"):
            model.score_threshold_  # noqa: B018
    assert not hasattr(ExpectedMetricClassifier(GaussianNB()), "score_threshold_")


def test_scikit_learns_name_is_answered_with_ours():
    message = re.escape("has no `best_threshold_`. `threshold_` cuts")
    for model in (fitted(GaussianNB()), PluginThresholdClassifier(GaussianNB())):
        with pytest.raises(AttributeError, match=message) as refusal:
            model.best_threshold_  # noqa: B018
        assert "`score_threshold_`" in str(refusal.value)
        assert not hasattr(model, "best_threshold_")
