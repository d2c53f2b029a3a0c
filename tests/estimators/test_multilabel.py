"""ExpectedMetricMultilabelClassifier decides as `bestcut.multilabel.decide` does."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedKFold,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import bestcut
from bestcut import multilabel
from bestcut.estimators import ExpectedMetricMultilabelClassifier
from bestcut.metrics import FBeta, from_counts
from groups import one_in

X, Y = make_multilabel_classification(
    n_samples=160, n_features=8, n_classes=4, random_state=0
)
TRAIN, TEST = slice(0, 110), slice(110, None)
FORMS = {
    "one-vs-rest": OneVsRestClassifier(GaussianNB()),
    "chain": ClassifierChain(GaussianNB()),
    "multi-output": MultiOutputClassifier(GaussianNB()),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "extra tree": ExtraTreeClassifier(max_depth=3, random_state=0),
    "forest": RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0),
    "neighbours": KNeighborsClassifier(),
    "perceptron": MLPClassifier((4,), max_iter=30, solver="lbfgs", random_state=0),
    "pipeline": make_pipeline(StandardScaler(), OneVsRestClassifier(GaussianNB())),
    "pipeline of trees": make_pipeline(
        StandardScaler(), DecisionTreeClassifier(max_depth=3, random_state=0)
    ),
}
ignore_convergence = pytest.mark.filterwarnings("ignore:lbfgs failed to converge")


def fitted(inner=None, Y=Y, **options):
    inner = FORMS["multi-output"] if inner is None else inner
    return ExpectedMetricMultilabelClassifier(inner, **options).fit(X[TRAIN], Y[TRAIN])


def columns(model, X):
    """Return the probability of each label, from the inner model's own answer."""
    found = model.predict_proba(X)
    if isinstance(found, list):
        found = np.column_stack([part[:, 1] for part in found])
    return found


@ignore_convergence
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
def test_predict_is_decide_on_the_probabilities_of_the_inner_model(form, average):
    model = fitted(FORMS[form], average=average, scope="batch", ensemble=False)
    p = columns(clone(FORMS[form]).fit(X[TRAIN], Y[TRAIN]), X[TEST])
    assert p.shape == Y[TEST].shape
    np.testing.assert_array_equal(model.predict_proba(X[TEST]), p)
    expected = multilabel.decide(p, "f1", average=average)
    decision = model.decide(X[TEST])
    np.testing.assert_array_equal(decision.labels, expected.labels)
    assert decision.expected_score == expected.expected_score
    assert decision.average == average
    labels = model.predict(X[TEST])
    np.testing.assert_array_equal(labels, expected.labels.astype(int))
    assert labels.dtype.kind == "i"


# --- row by row ----------------------------------------------------------------------


def best_of_thresholds(p, metric):
    return max(
        bestcut.expected_score(p, p >= t, metric) for t in (*np.unique(p), np.inf)
    )


def out_of_fold(inner, folds):
    parts = []
    for train, test in KFold(folds).split(X[TRAIN]):
        model = clone(inner).fit(X[TRAIN][train], Y[TRAIN][train])
        parts.append(columns(model, X[TRAIN][test]))
    return np.concatenate(parts)


@one_in(
    2,
    "form, average, metric",
    ["multi-output", "forest"],
    ["macro", "micro"],
    ["f1", "gmean"],
)
def test_each_label_has_the_best_threshold_of_the_training_data(form, average, metric):
    model = fitted(FORMS[form], average=average, metric=metric, cv=3)
    assert model.scope == "fixed"  # unless told otherwise
    p, t = out_of_fold(FORMS[form], 3), model.thresholds_
    if average == "micro":
        assert len(set(t.tolist())) == 1
        pairs = [(p.ravel(), t[0])]
    else:
        pairs = list(zip(p.T, t, strict=True))
    for column, threshold in pairs:
        own = bestcut.expected_score(column, column >= threshold, metric)
        assert own == pytest.approx(best_of_thresholds(column, metric), rel=1e-9)


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
def test_a_row_gets_the_same_labels_alone_as_among_others(average):
    model = fitted(average=average)
    together = model.predict(X[TEST])
    alone = np.concatenate([model.predict(row[None]) for row in X[TEST]])
    np.testing.assert_array_equal(alone, together)
    if average != "samples":
        for one in (model, pickle.loads(pickle.dumps(model))):
            above = one.predict_proba(X[TEST]) >= one.thresholds_
            np.testing.assert_array_equal(one.predict(X[TEST]), above)
        batch = fitted(average=average, scope="batch")
        assert not hasattr(batch, "thresholds_")
        np.testing.assert_array_equal(
            model.decide(X[TEST]).labels, batch.predict(X[TEST])
        )


def test_thresholds_of_another_fit_are_forgotten():
    model = fitted(average="macro")
    assert model.thresholds_.shape == (Y.shape[1],)
    model.set_params(scope="batch").fit(X[TRAIN], Y[TRAIN])
    assert not hasattr(model, "thresholds_")


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
@pytest.mark.parametrize("scope", ["fixed", "batch"])
def test_the_distribution_is_that_of_the_labels_of_predict(average, scope):
    model = fitted(average=average, scope=scope)
    p, labels = model.predict_proba(X[TEST]), model.predict(X[TEST])
    for metric in (None, "precision"):
        law = model.distribution(X[TEST], metric)
        expected = multilabel.score_distribution(
            p, labels, metric or "f1", average=average
        )
        assert law.mean == expected.mean
        assert law.interval() == expected.interval()


def test_parameters_of_fit_are_cut_with_the_rows():
    class Weighed(DecisionTreeClassifier):
        def fit(self, X, Y, sample_weight):
            assert len(sample_weight) == len(X)
            return super().fit(X, Y, sample_weight)

    inner = Weighed(max_depth=2)
    model = ExpectedMetricMultilabelClassifier(inner, average="macro", cv=2)
    model.fit(X, Y, sample_weight=np.ones(len(X)))


@pytest.mark.parametrize("wrap", [pd.DataFrame, sparse.csr_matrix, np.ndarray.tolist])
def test_targets_in_any_form_have_thresholds(wrap):
    own = fitted(OneVsRestClassifier(GaussianNB()), average="macro")
    model = ExpectedMetricMultilabelClassifier(
        OneVsRestClassifier(GaussianNB()), average="macro"
    )
    model.fit(X[TRAIN], wrap(Y[TRAIN]))
    np.testing.assert_array_equal(model.thresholds_, own.thresholds_)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_thresholds_keep_no_number_of_rows(average):
    with pytest.raises(ValueError, match="Pass scope='batch'"):
        fitted(average=average, max_positives=3)
    fitted(average=average, max_positives=3, scope="batch")
    fitted(average="samples", max_positives=3)  # of each row


def test_another_scope_after_fit_needs_another_fit():
    model = fitted(average="macro", scope="batch").set_params(scope="fixed")
    with pytest.raises(NotFittedError):
        model.predict(X[TEST])


# --- what is passed on ---------------------------------------------------------------


@pytest.mark.parametrize("metric", ["jaccard", "mcc", FBeta(zero_division=1.0)])
@pytest.mark.parametrize(
    "bounds", [{}, {"min_positives": 1}, {"max_positives": 1, "n_jobs": 2}], ids=str
)
def test_metric_and_bounds_are_passed_on(metric, bounds):
    model = fitted(metric=metric, **bounds)
    expected = multilabel.decide(model.predict_proba(X[TEST]), metric, **bounds)
    np.testing.assert_array_equal(model.predict(X[TEST]), expected.labels.astype(int))


@pytest.mark.parametrize(
    "form", ["tree", "multi-output", "one-vs-rest", "neighbours", "forest"]
)
@pytest.mark.filterwarnings("ignore:Label not 2 is present")
@pytest.mark.filterwarnings("ignore:Label 1 is present")
@pytest.mark.filterwarnings("ignore:Label 2 is present")
def test_a_label_that_never_varies_is_certain(form):
    constant = Y.copy()
    constant[:, 1], constant[:, 2] = 1, 0
    inner = FORMS[form]
    if form in ("multi-output", "one-vs-rest"):
        inner = clone(inner).set_params(estimator=DecisionTreeClassifier(max_depth=2))
    # Several models count a 0 as half a positive among the training rows.
    for ensemble, doubt in ((False, 0.0), (True, 0.5001 / len(X[TRAIN]))):
        model = fitted(inner, constant, ensemble=ensemble)
        p = model.predict_proba(X[TEST])
        assert (p[:, 1] >= 1 - doubt).all()
        assert (p[:, 2] <= doubt).all()
        labels = model.predict(X[TEST])
        assert labels[:, 1].all()
        assert not labels[:, 2].any()


TARGETS = {
    "int": Y,
    "bool": Y.astype(bool),
    "float": Y.astype(float),
    "lists": Y.tolist(),
    "frame": pd.DataFrame(Y, columns=list("abcd")),
    "strided": np.repeat(Y, 2, axis=1)[:, ::2],
}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("form", ["tree", "one-vs-rest"])
def test_every_form_of_target_gives_the_same(kind, form):
    target = TARGETS[kind]
    model = ExpectedMetricMultilabelClassifier(FORMS[form]).fit(X, target)
    reference = ExpectedMetricMultilabelClassifier(FORMS[form]).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))
    assert model.n_labels_ == 4
    assert [c.tolist() for c in model.classes_] == [[0, 1]] * 4


def test_a_sparse_target_is_fine_where_the_inner_model_takes_it():
    model = ExpectedMetricMultilabelClassifier(FORMS["one-vs-rest"])
    labels = model.fit(X, sparse.csr_matrix(Y)).predict(X)
    np.testing.assert_array_equal(labels, model.fit(X, Y).predict(X))


def test_sparse_data_go_through():
    inner = OneVsRestClassifier(LogisticRegression())
    model = ExpectedMetricMultilabelClassifier(inner).fit(sparse.csr_matrix(X), Y)
    dense = ExpectedMetricMultilabelClassifier(inner).fit(X, Y)
    agree = model.predict(sparse.csr_matrix(X)) == dense.predict(X)
    assert agree.mean() > 0.99


def test_names_of_columns_are_kept():
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
    model = ExpectedMetricMultilabelClassifier(FORMS["tree"]).fit(frame, Y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == 8


class Given(ClassifierMixin, BaseEstimator):
    """The probabilities are the columns themselves, in the form that is asked for."""

    def __init__(self, form="matrix", classes=(0, 1)):
        self.form = form
        self.classes = classes

    def fit(self, X, y, note=None):
        self.classes_ = [np.array(self.classes)] * X.shape[1]
        self.note_ = note
        return self

    def predict_proba(self, X):
        if self.form == "matrix":
            return X
        parts = [np.column_stack([1 - p, p]) for p in X.T]
        return [p[:, ::-1] for p in parts] if self.classes == (1, 0) else parts


@pytest.mark.parametrize(
    "inner", [Given(), Given("list"), Given("list", classes=(1, 0))], ids=repr
)
def test_the_positive_column_is_found_by_its_class(inner):
    p = np.random.default_rng(0).beta(0.3, 2, size=(30, 4))
    model = ExpectedMetricMultilabelClassifier(inner).fit(p, Y[:30])
    np.testing.assert_allclose(model.predict_proba(p), p, atol=1e-15)
    assert np.array_equal(model.predict(p), multilabel.decide(p).labels.astype(int))


def test_parameters_of_fit_reach_the_inner_model():
    p = np.random.default_rng(0).beta(0.3, 2, size=(30, 4))
    for ensemble in (True, False):
        model = ExpectedMetricMultilabelClassifier(Given(), ensemble=ensemble)
        model.fit(p, Y[:30], note="hello")
        assert {one.note_ for one in model.estimators_} == {"hello"}


def test_the_inner_model_is_cloned_unless_frozen():
    inner = clone(FORMS["tree"])
    model = fitted(inner)
    assert not hasattr(inner, "tree_")
    ready = FrozenEstimator(clone(inner).fit(X[TEST], Y[TEST]))
    frozen = ExpectedMetricMultilabelClassifier(ready).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(frozen.predict_proba(X), columns(ready.estimator, X))
    assert not np.array_equal(frozen.predict_proba(X), model.predict_proba(X))


def test_it_can_be_searched_and_cross_validated():
    model = ExpectedMetricMultilabelClassifier(FORMS["tree"])
    scores = cross_val_score(model, X, Y, scoring="f1_samples", cv=3)
    assert scores.shape == (3,)
    search = GridSearchCV(
        model,
        {"average": ["samples", "micro"], "estimator__max_depth": [1, 3]},
        scoring="f1_micro",
        cv=2,
    ).fit(X, Y)
    assert search.best_params_["average"] in ("samples", "micro")


def test_tags_say_what_it_takes():
    tags = sklearn.utils.get_tags(ExpectedMetricMultilabelClassifier(FORMS["tree"]))
    assert tags.classifier_tags.multi_label
    assert tags.target_tags.multi_output
    assert not tags.target_tags.single_output
    inner = sklearn.utils.get_tags(FORMS["tree"])
    assert tags.input_tags.sparse == inner.input_tags.sparse


def test_rows_do_not_depend_on_the_batch_for_the_average_of_samples():
    model = fitted()
    whole = model.predict(X[TEST])
    one_by_one = np.concatenate([model.predict(x[None]) for x in X[TEST]])
    np.testing.assert_array_equal(whole, one_by_one)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Label")  # that never occur, or always
def test_the_labels_are_better_than_half_on_average():
    rng = np.random.default_rng(0)
    gains = []
    for seed in range(20):
        features, target = make_multilabel_classification(
            n_samples=600, n_classes=8, n_labels=1, random_state=seed
        )
        order = rng.permutation(600)
        train, test = order[:300], order[300:]
        inner = OneVsRestClassifier(LogisticRegression(max_iter=500))
        model = ExpectedMetricMultilabelClassifier(inner)
        model.fit(features[train], target[train])
        truth = target[test]
        ours = f1_score(
            truth, model.predict(features[test]), average="samples", zero_division=0
        )
        half = model.predict_proba(features[test]) >= 0.5
        gains.append(ours - f1_score(truth, half, average="samples", zero_division=0))
    assert np.mean(gains) > 2 * np.std(gains) / np.sqrt(20)


# --- what is refused -----------------------------------------------------------------

UPSIDE_DOWN = from_counts(lambda tp, fp, fn, tn: fp - tp, "upside down")
BAD = {
    "one label": ({}, Y[:, 0], "got a binary target.*ExpectedMetricClassifier"),
    "classes": ({}, np.arange(160) % 3, "got a multiclass target"),
    "0 and 2": ({}, 2 * Y, r"`Y` must hold only 0 and 1; got \[0, 2\]"),
    "-1 and 1": ({}, 2 * Y - 1, r"got \[-1, 1\]"),
    "sparse, 0 and 2": ({}, sparse.csr_matrix(2 * Y), "must hold only 0 and 1"),
    "scope": ({"scope": "online"}, Y, "`scope` 'online' is not known"),
    "average": ({"average": "weighted"}, Y, "`average` 'weighted'"),
    "metric": ({"metric": "f1x"}, Y, "f1x"),
    "principle": ({"metric": UPSIDE_DOWN}, Y, "upside down"),
    "n_jobs": ({"n_jobs": -2}, Y, "`n_jobs`"),
    "most": ({"max_positives": -2}, Y, "`max_positives`"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_said_before_anything_is_fitted(kind):
    options, target, message = BAD[kind]
    model = ExpectedMetricMultilabelClassifier(FORMS["tree"], **options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, target)
    assert not hasattr(model, "estimator_")


def test_rows_with_fewer_labels_than_the_least_number_are_taken_whole():
    assert fitted(min_positives=5).predict(X).all()


def test_a_model_without_probabilities_has_none():
    with pytest.raises(AttributeError, match="predict_proba"):
        fitted(OneVsRestClassifier(LinearSVC()))
    model = fitted(OneVsRestClassifier(LinearSVC()), ensemble=False)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict(X)


def test_nothing_is_predicted_before_fit():
    with pytest.raises(NotFittedError):
        ExpectedMetricMultilabelClassifier(FORMS["tree"]).predict(X)


# --- several models ------------------------------------------------------------------


@pytest.mark.parametrize("form", ["multi-output", "forest"])
@pytest.mark.parametrize("average", ["samples", "macro"])
def test_the_models_of_the_folds_are_averaged_in_log_odds(form, average):
    model = fitted(FORMS[form], average=average)
    splits = list(
        RepeatedKFold(n_splits=5, n_repeats=2, random_state=0).split(X[TRAIN])
    )
    assert len(model.estimators_) == 10
    each, ends = [], []
    for a, b in splits:
        one = clone(FORMS[form]).fit(X[TRAIN][a], Y[TRAIN][a])
        each.append(columns(one, X[TEST]))
        ends.append(columns(one, X[TRAIN][b]))
    every = np.concatenate(ends)
    for j in range(Y.shape[1]):
        inside = every[:, j][(every[:, j] > 0) & (every[:, j] < 1)]
        low, high = 0.5 * inside.min(), 1 - 0.5 * (1 - inside).min()
        p = np.clip([part[:, j] for part in each], low, high)
        mean = np.mean(np.log(p / (1 - p)), axis=0)
        np.testing.assert_allclose(
            model.predict_proba(X[TEST])[:, j], 1 / (1 + np.exp(-mean)), rtol=1e-9
        )


def test_thresholds_are_those_of_the_models_that_did_not_see_a_row():
    model = fitted(average="macro", cv=4)
    out = np.empty(Y[TRAIN].shape)
    for a, b in KFold(4).split(X[TRAIN]):
        one = clone(FORMS["multi-output"]).fit(X[TRAIN][a], Y[TRAIN][a])
        out[b] = columns(one, X[TRAIN][b])
    for j, threshold in enumerate(model.thresholds_):
        own = bestcut.expected_score(out[:, j], out[:, j] >= threshold)
        assert own == pytest.approx(best_of_thresholds(out[:, j], "f1"), rel=1e-6)


def test_one_model_is_had_by_asking_or_by_fitting_it_before():
    one = fitted(ensemble=False)
    ready = FrozenEstimator(clone(FORMS["multi-output"]).fit(X[TRAIN], Y[TRAIN]))
    frozen = fitted(ready)
    np.testing.assert_array_equal(one.predict_proba(X), frozen.predict_proba(X))
    assert one.estimator_ is one.estimators_[0]
    with pytest.raises(ValueError, match="`ensemble` is True, but there is only one"):
        fitted(ready, ensemble=True)
    with pytest.raises(AttributeError, match="10 models are averaged"):
        fitted().estimator_  # noqa: B018
