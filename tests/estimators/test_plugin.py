"""PluginThresholdClassifier tunes one threshold on labels, and how it differs."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import fbeta_score, get_scorer, make_scorer
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import bestcut
from bestcut.estimators import PluginThresholdClassifier
from bestcut.metrics import FBeta, from_counts
from estimators.known import KnownModel, X, Y
from groups import one_in

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
METRICS = ["f1", "mcc", "balanced_accuracy", "jaccard", "squared_count_error"]


def halves(size=0.5, seed=0):
    splitter = StratifiedShuffleSplit(1, test_size=size, random_state=seed)
    return next(splitter.split(X, Y))


# --- what is tuned on what -----------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("inner", [GaussianNB(), TREE], ids=["smooth", "tied"])
@pytest.mark.parametrize("size", [0.5, 0.2])
def test_holdout_fits_on_one_part_and_tunes_on_the_other(metric, inner, size):
    model = PluginThresholdClassifier(
        inner, metric, cv="holdout", holdout_size=size, random_state=0
    ).fit(X, Y)
    train, test = halves(size)
    p = inner.fit(X[train], Y[train]).predict_proba(X)[:, 1]
    best = bestcut.empirical_threshold(Y[test], p[test], metric)
    assert (model.threshold_, model.best_score_) == (best.threshold, best.score)
    np.testing.assert_array_equal(model.predict(X), (p >= best.threshold).astype(int))
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1], p)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("inner", [GaussianNB(), TREE], ids=["smooth", "tied"])
@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True, random_state=1)], ids=str)
def test_folds_are_pooled_and_the_model_is_fitted_on_everything(metric, inner, cv):
    model = PluginThresholdClassifier(inner, metric, cv=cv).fit(X, Y)
    out = cross_val_predict(inner, X, Y, cv=cv, method="predict_proba")[:, 1]
    best = bestcut.empirical_threshold(Y, out, metric)
    assert (model.threshold_, model.best_score_) == (best.threshold, best.score)
    p = inner.fit(X, Y).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X), (p >= best.threshold).astype(int))


def test_test_folds_may_overlap():
    cv = ShuffleSplit(3, test_size=0.4, random_state=0)
    weight = np.random.default_rng(0).integers(1, 4, Y.size)
    model = PluginThresholdClassifier(GaussianNB(), cv=cv)
    model.fit(X, Y, sample_weight=weight)
    tests = np.concatenate([b for _, b in cv.split(X)])
    p = np.concatenate(
        [
            GaussianNB().fit(X[a], Y[a], weight[a]).predict_proba(X[b])[:, 1]
            for a, b in cv.split(X)
        ]
    )
    best = bestcut.empirical_threshold(Y[tests], p, sample_weight=weight[tests])
    assert (model.threshold_, model.best_score_) == (best.threshold, best.score)


def test_given_splits():
    splits = list(StratifiedKFold(3).split(X, Y))
    given, counted = (
        PluginThresholdClassifier(GaussianNB(), cv=cv).fit(X, Y) for cv in (splits, 3)
    )
    assert given.threshold_ == counted.threshold_


def test_random_state_chooses_the_part():
    thresholds = {
        PluginThresholdClassifier(GaussianNB(), cv="holdout", random_state=seed)
        .fit(X, Y)
        .threshold_
        for seed in (0, 1, 2, 0, 1, 2)
    }
    assert len(thresholds) == 3


@pytest.mark.parametrize("source", [np.random.RandomState, np.random.default_rng])
def test_a_random_state_is_a_seed_that_moves_on(source):
    state = source(0)
    first, second, again = (
        PluginThresholdClassifier(GaussianNB(), cv="holdout", random_state=one)
        .fit(X, Y)
        .threshold_
        for one in (state, state, source(0))
    )
    assert first == again != second
    PluginThresholdClassifier(GaussianNB(), cv="holdout").fit(X, Y)


def test_unless_told_otherwise_five_folds_tune_and_all_rows_fit():
    model, told = (
        PluginThresholdClassifier(GaussianNB(), **options).fit(X, Y)
        for options in ({}, {"cv": 5})
    )
    assert (model.threshold_, model.best_score_) == (told.threshold_, told.best_score_)
    np.testing.assert_array_equal(
        model.predict_proba(X), GaussianNB().fit(X, Y).predict_proba(X)
    )


def test_any_metric_will_do():
    strange = from_counts(lambda tp, fp, fn, tn: -np.abs(tp + fp - 17.0))
    model = PluginThresholdClassifier(
        GaussianNB(), strange, cv="holdout", random_state=0
    ).fit(X, Y)
    _, test = halves()
    assert model.best_score_ == 0
    assert model.predict(X[test]).sum() == 17


@pytest.mark.parametrize("cv", ["holdout", 3])
def test_weights_reach_the_model_and_count_in_the_metric(cv):
    weight = np.where(np.arange(Y.size) % 3, 1.0, 4.0)
    model = PluginThresholdClassifier(GaussianNB(), "f1", cv=cv, random_state=0)
    model.fit(X, Y, sample_weight=weight)
    if cv == "holdout":
        train, test = halves()
        inner = GaussianNB().fit(X[train], Y[train], weight[train])
        p = inner.predict_proba(X[test])[:, 1]
    else:
        inner, test = GaussianNB().fit(X, Y, weight), np.arange(Y.size)
        p = np.empty(Y.size)
        for a, b in StratifiedKFold(3).split(X, Y):
            p[b] = GaussianNB().fit(X[a], Y[a], weight[a]).predict_proba(X[b])[:, 1]
    np.testing.assert_array_equal(model.predict_proba(X), inner.predict_proba(X))
    best = bestcut.empirical_threshold(Y[test], p, sample_weight=weight[test])
    assert model.threshold_ == best.threshold
    assert model.best_score_ == pytest.approx(best.score, rel=1e-14)
    assert model.best_score_ != bestcut.empirical_threshold(Y[test], p).score


@pytest.mark.parametrize("wrap", [list, np.float32])
def test_weights_may_be_any_sequence(wrap):
    weight = np.where(np.arange(Y.size) % 3, 1.0, 4.0)
    models = [
        PluginThresholdClassifier(GaussianNB()).fit(X, Y, sample_weight=w)
        for w in (weight, wrap(weight))
    ]
    assert models[0].best_score_ == models[1].best_score_


# --- scores that are not probabilities -----------------------------------------------


class SignOnly(ClassifierMixin, BaseEstimator):
    """A model with a decision function alone: the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


@pytest.mark.parametrize("pos_label", [None, 0, 1])
def test_a_decision_function_will_do(pos_label):
    model = PluginThresholdClassifier(
        LinearSVC(), cv="holdout", pos_label=pos_label, random_state=0
    ).fit(X, Y)
    train, test = halves()
    scores = LinearSVC().fit(X[train], Y[train]).decision_function(X)
    positive = 1 if pos_label is None else pos_label
    scores = scores if positive == 1 else -scores
    best = bestcut.empirical_threshold(Y[test] == positive, scores[test], near=0.0)
    assert (model.threshold_, model.best_score_) == (best.threshold, best.score)
    np.testing.assert_array_equal(
        model.predict(X), np.where(scores >= best.threshold, positive, 1 - positive)
    )
    assert not hasattr(model, "predict_proba")
    assert model.decision_function(X).shape == Y.shape


def test_the_threshold_is_near_0_for_a_decision_function():
    scores = np.repeat([3.0, -5.0], 20)[:, None]
    y = np.repeat([1, 0], 20)
    model = PluginThresholdClassifier(SignOnly()).fit(scores, y)
    assert (model.threshold_, model.best_score_) == (0.0, 1.0)


def test_a_model_without_scores_is_refused_by_fit():
    class Mute(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

    message = (
        "PluginThresholdClassifier needs a model with predict_proba or "
        "decision_function; Mute has none."
    )
    with pytest.raises(AttributeError, match=message):
        PluginThresholdClassifier(Mute()).fit(X, Y)


def test_a_score_that_is_no_number_is_refused():
    model = PluginThresholdClassifier(SignOnly()).fit(X, Y)
    with pytest.raises(ValueError, match="`decision_function` must not hold NaN"):
        model.predict([[0.0], [np.nan]])


# --- the positive class --------------------------------------------------------------


@pytest.mark.parametrize("cv", ["holdout", 3])
def test_the_first_class_may_be_the_positive_one(cv):
    model = PluginThresholdClassifier(GaussianNB(), pos_label=0, cv=cv, random_state=0)
    model.fit(X, Y)
    if cv == "holdout":
        train, test = halves()
        inner = GaussianNB().fit(X[train], Y[train])
        p = inner.predict_proba(X[test])[:, 0]
    else:
        inner, test = GaussianNB().fit(X, Y), np.arange(Y.size)
        p = cross_val_predict(inner, X, Y, cv=cv, method="predict_proba")[:, 0]
    best = bestcut.empirical_threshold(Y[test] == 0, p)
    assert (model.threshold_, model.best_score_) == (best.threshold, best.score)
    np.testing.assert_array_equal(
        model.predict(X),
        np.where(inner.predict_proba(X)[:, 0] >= best.threshold, 0, 1),
    )


# --- scikit-learn's TunedThresholdClassifierCV ---------------------------------------
#
# It looks at a grid of thresholds (100 from the smallest to the largest score), and
# with several folds it averages the metric of the folds. Given all distinct scores as
# the grid, the two must agree: on one part; and on several of one size, if the metric
# is a mean over instances.

SCORERS = {
    "f1": "f1",
    "f2": "f2",
    "jaccard": "jaccard",
    "balanced_accuracy": "balanced_accuracy",
    "accuracy": "accuracy",
    "recall": "recall",
    "mcc": "matthews_corrcoef",
}


def scorer_of(name):
    if name == "f2":
        return make_scorer(fbeta_score, beta=2)
    return get_scorer(SCORERS[name])


def grid(scores):
    """Return every distinct score, and one above all."""
    distinct = np.unique(scores)
    return np.append(distinct, distinct[-1] + 1)


@one_in(2, "name, inner", list(SCORERS), {"smooth": GaussianNB(), "tied": TREE})
def test_agrees_with_scikit_learn_on_one_part(name, inner):
    frozen = FrozenEstimator(inner.fit(X[::2], Y[::2]))
    rows, truth = X[1::2], Y[1::2]
    p = inner.predict_proba(rows)[:, 1]
    theirs = TunedThresholdClassifierCV(
        frozen, scoring=scorer_of(name), cv="prefit", refit=False, thresholds=grid(p)
    ).fit(rows, truth)
    ours = PluginThresholdClassifier(frozen, name, cv=2).fit(rows, truth)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-12)
    for model in (ours, theirs):  # each reaches it by its own predictions
        own = scorer_of(name)(model, rows, truth)
        assert own == pytest.approx(theirs.best_score_, rel=1e-12)


@one_in(2, "name", list(SCORERS))
def test_agrees_with_scikit_learn_on_a_holdout(name):
    train, test = halves()
    inner = GaussianNB().fit(X[train], Y[train])
    theirs = TunedThresholdClassifierCV(
        GaussianNB(),
        scoring=scorer_of(name),
        cv=StratifiedShuffleSplit(1, test_size=0.5, random_state=0),
        refit=False,
        thresholds=grid(inner.predict_proba(X[test])[:, 1]),
    ).fit(X, Y)
    ours = PluginThresholdClassifier(
        GaussianNB(), name, cv="holdout", random_state=0
    ).fit(X, Y)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-12)
    np.testing.assert_array_equal(
        ours.predict_proba(X), theirs.estimator_.predict_proba(X)
    )


@pytest.mark.parametrize("name", ["accuracy", "f1"])
def test_pooled_folds_agree_with_averaged_ones_only_for_a_mean_over_instances(name):
    rows, truth, cv = X[:80], Y[:80], KFold(4)  # of one size each
    p = cross_val_predict(GaussianNB(), rows, truth, cv=cv, method="predict_proba")
    theirs = TunedThresholdClassifierCV(
        GaussianNB(), scoring=scorer_of(name), cv=cv, thresholds=grid(p[:, 1])
    ).fit(rows, truth)
    ours = PluginThresholdClassifier(GaussianNB(), name, cv=cv).fit(rows, truth)
    same = theirs.best_score_ == pytest.approx(ours.best_score_, rel=1e-12)
    assert same == (name == "accuracy")


def test_a_coarse_grid_can_miss_what_all_thresholds_find():
    # All scores but one are below 0.01, where a grid over [0, 1] has one threshold.
    p = np.append(np.linspace(1e-4, 0.009, 99), 1.0)[:, None]
    y = (p[:, 0] > 0.005).astype(int)
    model = FrozenEstimator(KnownModel().fit(p, y))
    theirs = TunedThresholdClassifierCV(
        model, scoring="f1", cv="prefit", refit=False
    ).fit(p, y)
    ours = PluginThresholdClassifier(model, "f1", cv=2).fit(p, y)
    assert ours.best_score_ == 1
    assert theirs.best_score_ < 0.7


# --- what is refused -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "g3"}, ValueError, "`metric` 'g3' is not known"),
        ({"metric": FBeta}, TypeError, "`metric` must be a metric, not its class"),
        ({"cv": "prefit"}, ValueError, "Got prefit"),
        ({"cv": 1}, ValueError, "n_splits=1"),
        ({"cv": "holdout", "holdout_size": 1.5}, ValueError, "test_size=1.5"),
    ],
)
def test_wrong_parameters_are_refused(options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        PluginThresholdClassifier(GaussianNB(), **options).fit(X, Y)


def test_a_weight_for_all_is_no_weight():
    with pytest.raises(ValueError, match=r"`sample_weight` must have shape \(240,\)"):
        PluginThresholdClassifier(TREE).fit(X, Y, sample_weight=2.0)
