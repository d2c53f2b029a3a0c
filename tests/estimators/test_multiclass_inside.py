"""More than two classes: weights, pipelines, searches, and what is around them."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.multiclass import (
    OneVsOneClassifier,
    OneVsRestClassifier,
    OutputCodeClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from bestcut import multiclass
from bestcut.estimators import PluginThresholdClassifier
from estimators.known import (
    FLOWER_NAMES as NAMES,
    FLOWERS as X,
    KINDS as Y,
    batch,
    each_way_of_classes as each_way,
    fits_all_rows,
    posterior,
    posterior_fixed,
)

TRAIN, TEST = slice(0, 90), slice(90, None)

# --- weights and metadata ------------------------------------------------------------


@each_way
def test_weights_reach_the_inner_model(make):
    weight = np.where(np.arange(90) % 4, 0.5, 3.0)
    model = make(GaussianNB()).fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
    plain = make(GaussianNB()).fit(X[TRAIN], Y[TRAIN])
    if fits_all_rows(make):
        inner = GaussianNB().fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
        np.testing.assert_array_equal(
            model.estimator_.predict_proba(X), inner.predict_proba(X)
        )
    assert not np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    with config_context(enable_metadata_routing=True):
        asking = make(GaussianNB().set_fit_request(sample_weight=True))
        asking.fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
    np.testing.assert_array_equal(model.predict_proba(X), asking.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), asking.predict(X))


def test_a_row_of_weight_0_does_not_calibrate():
    weight = np.where(np.arange(90) % 3, 1.0, 0.0)
    model = posterior(GaussianNB()).fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
    assert [c.n_labelled for c in model.calibration_] == [60, 60, 60]


def test_groups_reach_the_splitter():
    groups = np.arange(90) * 7 % 9
    splits = list(GroupKFold(3).split(X[TRAIN], Y[TRAIN], groups))
    same = batch(GaussianNB(), scope="fixed", cv=splits).fit(X[TRAIN], Y[TRAIN])
    with config_context(enable_metadata_routing=True):
        model = batch(GaussianNB(), scope="fixed", cv=GroupKFold(3))
        model.fit(X[TRAIN], Y[TRAIN], groups=groups)
    np.testing.assert_array_equal(model.rule_.slope, same.rule_.slope)


def test_jobs_change_nothing():
    one = posterior_fixed(GaussianNB()).fit(X[TRAIN], Y[TRAIN])
    two = posterior_fixed(GaussianNB(), n_jobs=2).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


# --- inside other estimators ---------------------------------------------------------


@each_way
def test_pickle_and_clone(make):
    model = make(GaussianNB()).fit(X[TRAIN], NAMES[Y[TRAIN]])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    copy = clone(model).set_params(average="micro")
    with pytest.raises(NotFittedError):
        copy.predict(X)
    copy.fit(X[TRAIN], NAMES[Y[TRAIN]])
    assert copy.decide(X).average == "micro"


@each_way
def test_pipeline_search_and_cross_validation(make):
    rows, y = X[TRAIN], Y[TRAIN]
    pipeline = make_pipeline(StandardScaler(), make(GaussianNB()))
    scaled = StandardScaler().fit_transform(rows)
    np.testing.assert_array_equal(
        pipeline.fit(rows, y).predict(rows),
        make(GaussianNB()).fit(scaled, y).predict(scaled),
    )
    assert pipeline.classes_.tolist() == [0, 1, 2]
    search = GridSearchCV(
        make(GaussianNB()),
        {"metric": ["f1", "accuracy"]},
        scoring="f1_macro",
        cv=2,
        error_score="raise",
    ).fit(rows, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    scores = cross_val_score(make(GaussianNB()), rows, y, scoring="f1_macro", cv=3)
    a, b = next(StratifiedKFold(3).split(rows, y))
    labels = make(GaussianNB()).fit(rows[a], y[a]).predict(rows[b])
    assert scores[0] == f1_score(y[b], labels, average="macro")


def test_tags_say_who_takes_more_than_two_classes():
    assert get_tags(batch(GaussianNB())).classifier_tags.multi_class
    plugin = PluginThresholdClassifier(GaussianNB())
    assert not get_tags(plugin).classifier_tags.multi_class


# --- around other estimators: a metric that would be ignored -------------------------


@pytest.mark.parametrize("outer", [OneVsRestClassifier, OutputCodeClassifier])
def test_who_compares_scores_ignores_the_metric_as_the_notes_say(outer):
    options = {"random_state": 0} if outer is OutputCodeClassifier else {}
    models = [
        outer(batch(GaussianNB(), metric), **options).fit(X, Y)
        for metric in ("f1", "accuracy")
    ]
    plain = outer(GaussianNB(), **options).fit(X, Y)
    for model in models:
        np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_one_vs_one_and_what_is_inside():
    OneVsOneClassifier(batch(GaussianNB())).fit(X, Y)  # takes predictions as votes
    inside = batch(OneVsRestClassifier(GaussianNB())).fit(X, Y)
    p = OneVsRestClassifier(GaussianNB()).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(inside.predict(X), multiclass.decide(p).labels)
