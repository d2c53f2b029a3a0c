"""Both classifiers behave like any other classifier of scikit-learn."""

import locale
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bestcut
from bestcut.metrics import FBeta, from_counts
from estimators.known import (
    FEW as X,
    FEW_Y as Y,
    NAMES,
    KnownModel,
    X as ALL,
    Y as ALL_Y,
    batch,
    each_way,
    fixed,
    folds,
    holdout,
    keeps_probabilities,
    lift,
    posterior,
    posterior_fixed,
)

# --- parameters ----------------------------------------------------------------------


@each_way
def test_clone_and_parameters(make):
    metric = from_counts(lift, name="lift")
    model = make(GaussianNB(var_smoothing=1e-3), metric, pos_label=0, n_jobs=1)
    copy = clone(model)
    assert copy is not model
    assert copy.estimator is not model.estimator
    assert copy.get_params()["estimator__var_smoothing"] == 1e-3
    assert str(copy.get_params()) == str(model.get_params())
    before = str(model.get_params())
    model.fit(X, Y)
    assert str(model.get_params()) == before
    assert not hasattr(model.estimator, "classes_")  # the one passed in is not fitted
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


@each_way
def test_set_params_reaches_the_inner_model_and_the_metric(make):
    model = make(GaussianNB()).set_params(estimator__var_smoothing=0.1, metric="mcc")
    direct = make(GaussianNB(var_smoothing=0.1), "mcc")
    np.testing.assert_array_equal(
        model.fit(X, Y).predict(X), direct.fit(X, Y).predict(X)
    )
    with pytest.raises(ValueError, match="Invalid parameter 'threshold'"):
        model.set_params(threshold=0.3)


@each_way
def test_repr_shows_what_is_not_default(make):
    assert "metric='jaccard'" in repr(make(GaussianNB(), "jaccard"))
    assert "metric" not in repr(make(GaussianNB()))
    if locale.getpreferredencoding(do_setlocale=False).lower().startswith("utf"):
        # scikit-learn reads its style sheet in the encoding of the machine.
        assert "GaussianNB" in make(GaussianNB())._repr_html_()


@each_way
def test_parameters_are_not_checked_before_fit(make):
    model = make(None, metric=17, pos_label="nobody")
    assert model.metric == 17


# --- fitted models -------------------------------------------------------------------


@each_way
def test_not_fitted(make):
    model = make(GaussianNB())
    for method in ("predict", "predict_proba", "predict_log_proba", "score"):
        arguments = (X, Y) if method == "score" else (X,)
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            getattr(model, method)(*arguments)
    for attribute in ("classes_", "n_features_in_", "feature_names_in_", "threshold_"):
        assert not hasattr(model, attribute)
    if make not in (holdout, folds):
        with pytest.raises(NotFittedError):
            model.decide(X)


@each_way
@pytest.mark.parametrize(
    "metric", ["f1", from_counts(lift, name="lift")], ids=["f1", "lift"]
)
def test_pickling(make, metric):
    model = make(GaussianNB(), metric).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert getattr(again, "threshold_", None) == getattr(model, "threshold_", None)
    if make is posterior:
        assert repr(again.decide(X)) == repr(model.decide(X))


@each_way
def test_fit_again_forgets_the_first_fit(make):
    model = make(GaussianNB()).fit(pd.DataFrame(X, columns=NAMES), np.where(Y, -1, 1))
    model.fit(X[:, :3], Y)
    fresh = make(GaussianNB()).fit(X[:, :3], Y)
    np.testing.assert_array_equal(model.predict(X[:, :3]), fresh.predict(X[:, :3]))
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")


@each_way
def test_probabilities_and_scores_pass_through(make):
    model = make(LogisticRegression()).fit(X, Y)
    assert model.score(X, Y) == np.mean(model.predict(X) == Y)
    if make in (posterior, posterior_fixed):
        assert hasattr(make(GaussianNB()), "decision_function")
        return  # its scores are means over models
    inner = model.estimator_
    passed = ["decision_function"]
    if keeps_probabilities(make) or make is holdout:
        passed += ["predict_proba", "predict_log_proba"]
    for method in passed:
        np.testing.assert_array_equal(
            getattr(model, method)(X), getattr(inner, method)(X)
        )
    assert not hasattr(make(GaussianNB()), "decision_function")


@each_way
def test_arrays_may_be_read_only(make):
    rows, truth = X.copy(), Y.copy()
    rows.flags.writeable = truth.flags.writeable = False
    fixed_input = make(GaussianNB()).fit(rows, truth).predict(rows)
    np.testing.assert_array_equal(fixed_input, make(GaussianNB()).fit(X, Y).predict(X))


# --- two jobs ------------------------------------------------------------------------


@pytest.mark.parametrize("make", [fixed, posterior_fixed, folds])
def test_two_jobs_give_the_same_threshold(make):
    metric = from_counts(lift, name="lift")
    one, two = (make(GaussianNB(), metric, n_jobs=n).fit(X, Y) for n in (None, 2))
    assert one.threshold_ == two.threshold_
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_two_jobs_calibrate_the_same():
    one, two = (
        batch(GaussianNB(), calibration="sigmoid", cv=3, n_jobs=n).fit(X, Y)
        for n in (None, 2)
    )
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


# --- inner models --------------------------------------------------------------------


@each_way
def test_an_ensemble(make):
    inner = RandomForestClassifier(4, max_depth=3, random_state=0)
    model = make(inner).fit(X, Y)
    assert hasattr(model, "predict_proba")
    assert set(model.predict(X)) == {0, 1}


@each_way
def test_a_frozen_model_is_not_fitted_again(make):
    inner = GaussianNB().fit(X[:50], Y[:50])
    before = inner.theta_.copy()
    model = make(FrozenEstimator(inner)).fit(X[50:], Y[50:])
    np.testing.assert_array_equal(inner.theta_, before)
    np.testing.assert_array_equal(
        model.estimator_.predict_proba(X), inner.predict_proba(X)
    )
    assert model.n_features_in_ == 5


@each_way
@pytest.mark.parametrize("pos_label", [None, 1])
def test_a_frozen_model_of_other_classes_is_refused(make, pos_label):
    for y in (np.arange(Y.size) % 3, np.where(Y, "yes", "no")):
        frozen = FrozenEstimator(GaussianNB().fit(X, y))
        message = re.escape(
            "needs a model of the classes [0, 1]; the model was fitted on "
            f"{np.unique(y).tolist()}."
        )
        with pytest.raises(ValueError, match=message):
            make(frozen, pos_label=pos_label).fit(X, Y)


@each_way
def test_single_precision_may_round_beyond_one(make):
    class Rounded(KnownModel):
        def predict_proba(self, X):
            p = super().predict_proba(X)
            return np.where(p == 1, np.float32(1) + np.finfo(np.float32).eps, p)

    p = np.tile([1.0, 0.75, 0.25, 0.0], 12)[:, None]
    y = np.repeat([1, 0], 24)
    model, exact = (
        make(inner(dtype=np.float32)).fit(p, y) for inner in (Rounded, KnownModel)
    )
    np.testing.assert_array_equal(model.predict(p), exact.predict(p))


@each_way
@pytest.mark.parametrize("wrong", [np.nan, 1.5, -0.1])
def test_what_is_no_probability_is_refused(make, wrong):
    p, y = np.tile([0.9, 0.75, 0.25, 0.1], 12)[:, None], np.repeat([1, 0], 24)
    model = make(KnownModel()).fit(p, y)
    with pytest.raises(bestcut.InvalidProbabilityError, match=f"= {wrong}"):
        model.predict([[0.5], [wrong]])


@each_way
def test_probabilities_may_come_as_a_frame(make):
    class Framed(KnownModel):
        def predict_proba(self, X):
            return pd.DataFrame(super().predict_proba(X), columns=["no", "yes"])

    p, y = np.tile([0.9, 0.75, 0.25, 0.1], 12)[:, None], np.repeat([1, 0], 24)
    np.testing.assert_array_equal(
        make(Framed()).fit(p, y).predict(p), make(KnownModel()).fit(p, y).predict(p)
    )


# --- inside other estimators ---------------------------------------------------------


@each_way
def test_as_the_last_step_of_a_pipeline(make):
    model = make_pipeline(StandardScaler(), make(GaussianNB()))
    name = model.steps[-1][0]
    model.set_params(**{f"{name}__metric": "mcc"}).fit(X, Y)
    scaled = StandardScaler().fit_transform(X)
    direct = make(GaussianNB(), "mcc").fit(scaled, Y)
    np.testing.assert_array_equal(model.predict(X), direct.predict(scaled))
    np.testing.assert_array_equal(model.predict_proba(X), direct.predict_proba(scaled))


@each_way
def test_grid_search_over_metric_and_inner_parameters(make):
    search = GridSearchCV(
        make(GaussianNB()),
        {
            "metric": ["f1", "accuracy", FBeta(beta=4), from_counts(lift)],
            "estimator__var_smoothing": [1e-9, 1.0],
        },
        scoring="accuracy",
        cv=2,
        error_score="raise",
    ).fit(X, Y)
    assert len(search.cv_results_["params"]) == 8
    scores = search.cv_results_["mean_test_score"]
    assert len(set(scores)) > 2
    assert search.best_score_ == max(scores)
    predicted = clone(make(GaussianNB())).set_params(**search.best_params_).fit(X, Y)
    np.testing.assert_array_equal(search.predict(X), predicted.predict(X))
    # Who asks for much recall gets less accuracy.
    names = map(str, search.cv_results_["param_metric"])
    by_metric = dict(zip(names, scores, strict=True))
    assert by_metric["accuracy"] > by_metric[str(FBeta(beta=4))]


@each_way
def test_cross_validation(make):
    model = make(GaussianNB(), "balanced_accuracy")
    scores = cross_val_score(model, ALL, ALL_Y, scoring="balanced_accuracy", cv=3)
    assert np.all(scores > 0.75)
    p = cross_val_predict(model, ALL, ALL_Y, cv=3, method="predict_proba")
    inner = cross_val_predict(GaussianNB(), ALL, ALL_Y, cv=3, method="predict_proba")
    if keeps_probabilities(make):
        np.testing.assert_array_equal(p, inner)


@each_way
def test_calibration_of_a_decided_model_is_that_of_its_probabilities(make):
    # A wrapper that asks for probabilities gets the inner model's.
    outer = batch(make(GaussianNB()), calibration="sigmoid", cv=3).fit(X, Y)
    if keeps_probabilities(make):
        inner = batch(GaussianNB(), calibration="sigmoid", cv=3).fit(X, Y)
        np.testing.assert_allclose(
            outer.predict_proba(X), inner.predict_proba(X), rtol=1e-9
        )
    assert set(outer.predict(X)) == {0, 1}


# --- score ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", bestcut.estimators.__all__)
def test_help_says_that_score_is_accuracy_and_what_scores_the_metric(name):
    text = " ".join(getattr(bestcut.estimators, name).score.__doc__.split())
    assert text.startswith("Return the accuracy of ``predict(X)``, as scikit-learn has")
    assert "bestcut.scorers.make_scorer" in text


@each_way
def test_score_is_accuracy_and_the_scorer_is_the_metric(make):
    model = make(GaussianNB()).fit(X, Y)
    weights = np.arange(len(Y)) + 1.0
    right = model.predict(X) == Y
    assert model.score(X, Y) == pytest.approx(right.mean())
    weighted = np.average(right, weights=weights)
    assert model.score(X, Y, sample_weight=weights) == pytest.approx(weighted)
    scorer = bestcut.scorers.make_scorer("f1")
    labels = (model.predict(X) == model.classes_[1]).astype(int)
    truth = (model.classes_[1] == Y).astype(int)
    assert scorer(model, X, Y) == FBeta().realised(truth, labels)
