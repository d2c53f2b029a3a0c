"""Both classifiers behave like any other classifier of scikit-learn."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, label_binarize
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

import bestcut
from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier
from bestcut.metrics import FBeta, from_counts
from estimators.known import NAMES, KnownModel, X, Y


def batch(inner, metric="f1", **options):
    return ExpectedMetricClassifier(inner, metric, **options)


def fixed(inner, metric="f1", **options):
    return ExpectedMetricClassifier(inner, metric, scope="fixed", cv=3, **options)


def holdout(inner, metric="f1", **options):
    return PluginThresholdClassifier(inner, metric, random_state=0, **options)


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
each_way = pytest.mark.parametrize("make", [batch, fixed, holdout, folds])


def lift(tp, fp, fn, tn):
    return tp - 0.3 * fp


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
    if make in (batch, fixed):
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


@each_way
def test_fit_again_forgets_the_first_fit(make):
    model = make(GaussianNB()).fit(
        pd.DataFrame(X, columns=NAMES), np.where(Y, "a", "b")
    )
    model.fit(X[:, :3], Y)
    fresh = make(GaussianNB()).fit(X[:, :3], Y)
    np.testing.assert_array_equal(model.predict(X[:, :3]), fresh.predict(X[:, :3]))
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")


@each_way
def test_probabilities_and_scores_pass_through(make):
    model = make(LogisticRegression()).fit(X, Y)
    inner = model.estimator_
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        np.testing.assert_array_equal(
            getattr(model, method)(X), getattr(inner, method)(X)
        )
    assert not hasattr(make(GaussianNB()), "decision_function")
    assert model.score(X, Y) == np.mean(model.predict(X) == Y)


@each_way
def test_arrays_may_be_read_only(make):
    rows, truth = X.copy(), Y.copy()
    rows.flags.writeable = truth.flags.writeable = False
    fixed_input = make(GaussianNB()).fit(rows, truth).predict(rows)
    np.testing.assert_array_equal(fixed_input, make(GaussianNB()).fit(X, Y).predict(X))


# --- two jobs ------------------------------------------------------------------------


@pytest.mark.parametrize("make", [fixed, folds])
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


# --- labels --------------------------------------------------------------------------

LABELS = {
    "strings": np.array(["ham", "spam"]),
    "objects": np.array(["ham", "spam"], dtype=object),
    "booleans": np.array([False, True]),
    "floats": np.array([0.0, 1.0]),
    "signs": np.array([-1, 1]),
    "large": np.array([3, 700]),
}


@each_way
@pytest.mark.parametrize("kind", LABELS)
def test_any_two_labels(make, kind):
    names = LABELS[kind]
    plain = make(GaussianNB()).fit(X, Y).predict(X)
    model = make(GaussianNB()).fit(X, names[Y])
    predicted = model.predict(X)
    assert predicted.dtype == GaussianNB().fit(X, names[Y]).predict(X).dtype
    np.testing.assert_array_equal(predicted, names[plain])
    np.testing.assert_array_equal(model.classes_, names)
    for label, column in zip(names.tolist(), (0, 1), strict=True):
        chosen = make(GaussianNB(), pos_label=label).fit(X, names[Y])
        by_number = make(GaussianNB(), pos_label=column).fit(X, Y)
        np.testing.assert_array_equal(chosen.predict(X), names[by_number.predict(X)])


@each_way
@pytest.mark.parametrize(
    "wrap",
    [
        list,
        pd.Series,
        pl.Series,
        lambda y: pd.Series(y).astype("category"),
        lambda y: pd.Series(y, index=np.arange(len(y))[::-1] + 1000),
        lambda y: pl.Series(y).cast(pl.Categorical),
    ],
    ids=["list", "pandas", "polars", "category", "odd index", "polars category"],
)
def test_labels_in_any_container(make, wrap):
    names = np.array(["ham", "spam"])[Y]
    model = make(GaussianNB()).fit(X, wrap(names.tolist()))
    np.testing.assert_array_equal(
        model.predict(X), make(GaussianNB()).fit(X, names).predict(X)
    )


@each_way
def test_a_column_of_labels_is_taken_with_scikit_learns_warning(make):
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        model = make(GaussianNB()).fit(X, Y[:, None])
    np.testing.assert_array_equal(
        model.predict(X), make(GaussianNB()).fit(X, Y).predict(X)
    )


@each_way
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            np.arange(Y.size) % 3,
            "Only binary classification is supported. The type of the target is "
            "multiclass. Decide about one class, `y == label`, or about each with "
            "sklearn.multioutput.MultiOutputClassifier on",
        ),
        (
            np.column_stack([Y, 1 - Y]),
            "takes one label per row; got y of shape (240, 2). Use "
            "ExpectedMetricMultilabelClassifier, or decide each column by itself with "
            "sklearn.multioutput.MultiOutputClassifier.",
        ),
        (
            sparse.csr_matrix(np.column_stack([Y, 1 - Y])),
            "takes one label per row; got y of shape (240, 2).",
        ),
        (X[:, 0], "Unknown label type: continuous"),
        (np.zeros(240, int), "needs instances of two classes; got 1 class(es) [0]"),
        (np.where(Y, 1.0, np.nan), "Input y contains NaN"),
        (Y[:-1], "inconsistent numbers of samples: [240, 239]"),
    ],
    ids=["multiclass", "multilabel", "sparse", "continuous", "one", "nan", "short"],
)
def test_other_targets_are_refused(make, y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make(GaussianNB()).fit(X, y)


@each_way
def test_what_the_errors_recommend_works(make):
    y = np.array(["a", "b", "c"])[np.arange(Y.size) % 3]
    columns = label_binarize(y, classes=["a", "b", "c"])
    model = MultiOutputClassifier(make(GaussianNB())).fit(X, columns)
    predicted = model.predict(X)
    for j, label in enumerate("abc"):
        one = make(GaussianNB()).fit(X, y == label)
        np.testing.assert_array_equal(predicted[:, j], one.predict(X))
    assert predicted.sum(axis=1).max() > 1  # not one class per row: each by itself


@each_way
@pytest.mark.parametrize("label", ["spam", 2, 0.5])
def test_an_unknown_positive_class_is_refused(make, label):
    message = re.escape(f"`pos_label` must be one of the classes [0, 1]; got {label!r}")
    with pytest.raises(ValueError, match=message):
        make(GaussianNB(), pos_label=label).fit(X, Y)


# --- features ------------------------------------------------------------------------


@each_way
@each_frame
def test_frames_and_feature_names(make, frame):
    rows = frame(dict(zip(NAMES, X.T, strict=True)))
    model = make(GaussianNB()).fit(rows, Y)
    plain = make(GaussianNB()).fit(X, Y)
    np.testing.assert_array_equal(model.predict(rows), plain.predict(X))
    np.testing.assert_array_equal(model.feature_names_in_, NAMES)
    assert model.n_features_in_ == plain.n_features_in_ == 5
    assert not hasattr(plain, "feature_names_in_")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(rows[NAMES[::-1]])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)


@each_way
@each_frame
def test_columns_by_name_inside_a_pipeline(make, frame):
    colours = np.array(["red", "green", "blue"])[(X[:, 1] > 0).astype(int) + Y]
    rows = frame({"colour": colours.tolist(), "size": X[:, 0], "weight": X[:, 2]})
    inner = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(), ["colour"]), (StandardScaler(), ["size", "weight"])
        ),
        DecisionTreeClassifier(max_depth=2, random_state=0),
    )
    model = make(inner).fit(rows, Y)
    np.testing.assert_array_equal(model.feature_names_in_, ["colour", "size", "weight"])
    p = model.predict_proba(rows)[:, 1]
    if make is batch:
        np.testing.assert_array_equal(model.predict(rows), bestcut.decide(p).labels)
    else:
        np.testing.assert_array_equal(model.predict(rows), p >= model.threshold_)
    assert np.mean(model.predict(rows) == Y) > 0.8


@each_way
@pytest.mark.parametrize(
    "matrix",
    [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array],
)
def test_sparse_rows(make, matrix):
    counts = np.rint(np.abs(3 * X))
    dense = make(MultinomialNB()).fit(counts, Y)
    model = make(MultinomialNB()).fit(matrix(counts), Y)
    np.testing.assert_array_equal(model.predict(matrix(counts)), dense.predict(counts))
    assert model.n_features_in_ == 5
    for inner in (MultinomialNB(), GaussianNB(), LogisticRegression()):
        assert (
            get_tags(make(inner)).input_tags.sparse == get_tags(inner).input_tags.sparse
        )


@each_way
def test_texts(make):
    texts = [("offer " * 2 if y else "dear ") + f"w{i % 7}" for i, y in enumerate(Y)]
    model = make(make_pipeline(CountVectorizer(), MultinomialNB())).fit(texts, Y)
    np.testing.assert_array_equal(model.predict(texts), Y)
    assert not hasattr(model, "n_features_in_")


@each_way
def test_missing_values_are_for_the_inner_model(make):
    rows = X.copy()
    rows[::7, 1] = np.nan
    inner = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    model = make(inner).fit(rows, Y)
    assert set(model.predict(rows)) == {0, 1}
    with pytest.raises(ValueError, match="Input X contains NaN"):
        make(GaussianNB()).fit(rows, Y)


# --- inner models --------------------------------------------------------------------


@each_way
def test_an_ensemble(make):
    inner = RandomForestClassifier(4, max_depth=3, random_state=0)
    model = make(inner).fit(X, Y)
    assert hasattr(model, "predict_proba")
    assert set(model.predict(X)) == {0, 1}


@each_way
def test_a_frozen_model_is_not_fitted_again(make):
    inner = GaussianNB().fit(X[:100], Y[:100])
    before = inner.theta_.copy()
    model = make(FrozenEstimator(inner)).fit(X[100:], Y[100:])
    np.testing.assert_array_equal(inner.theta_, before)
    np.testing.assert_array_equal(model.predict_proba(X), inner.predict_proba(X))
    assert model.n_features_in_ == 5


@each_way
@pytest.mark.parametrize("pos_label", [None, 1])
def test_a_frozen_model_of_other_classes_is_refused(make, pos_label):
    for y in (np.arange(Y.size) % 3, np.where(Y, "yes", "no")):
        frozen = FrozenEstimator(GaussianNB().fit(X, y))
        message = re.escape(
            "needs a model of the classes [0, 1]; it was fitted on "
            f"{np.unique(y).tolist()}."
        )
        with pytest.raises(ValueError, match=message):
            make(frozen, pos_label=pos_label).fit(X, Y)


@pytest.mark.parametrize("make", [fixed, folds])
def test_a_training_fold_of_one_class_is_refused(make):
    order = np.argsort(Y, kind="stable")
    model = make(GaussianNB()).set_params(cv=KFold(2))
    message = r"fitted on \[0\]. Every training fold must have both classes"
    with pytest.raises(ValueError, match=message):
        model.fit(X[order], Y[order])


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


# --- weights and other things for fit ------------------------------------------------


class Curious(GaussianNB):
    """Remembers what fit was given."""

    def fit(self, X, y, sample_weight=None, **rest):
        self.given_ = {"n": len(y), "sample_weight": sample_weight, **rest}
        return super().fit(X, y, sample_weight)


@each_way
@pytest.mark.parametrize("wrap", [np.array, list, pd.Series, pl.Series])
def test_sample_weight_reaches_the_inner_model(make, wrap):
    weight = np.where(np.arange(Y.size) % 4, 0.5, 3.0)
    model = make(GaussianNB()).fit(X, Y, sample_weight=wrap(weight))
    plain = make(GaussianNB()).fit(X, Y)
    assert not np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    same = make(GaussianNB()).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    if make is not holdout:
        inner = GaussianNB().fit(X, Y, sample_weight=weight)
        np.testing.assert_array_equal(model.predict_proba(X), inner.predict_proba(X))


def test_sample_weight_is_cut_with_the_rows():
    weight = np.where(np.arange(Y.size) % 4, 0.5, 3.0)
    p = np.empty(Y.size)
    splits = list(KFold(3).split(X))
    for a, b in splits:
        p[b] = GaussianNB().fit(X[a], Y[a], weight[a]).predict_proba(X[b])[:, 1]
    model = ExpectedMetricClassifier(GaussianNB(), scope="fixed", cv=splits)
    model.fit(X, Y, sample_weight=weight)
    decision = bestcut.decide(p)
    assert np.count_nonzero(p >= model.threshold_) == decision.n_positive


@each_way
def test_what_has_one_entry_per_row_is_cut_and_the_rest_is_passed_on(make):
    rest = {
        "eval_set": [(X[:50], Y[:50])],  # ragged: NumPy cannot even take its shape
        "names": ["a", "b"],
        "verbose": True,
        "note": "n" * Y.size,
        "table": dict.fromkeys(range(Y.size)),
        "scale": np.array(2.0),
    }
    per_row = {"margin": np.arange(Y.size), "codes": list(range(Y.size))}
    model = make(Curious()).fit(X, Y, **rest, **per_row)
    given = model.estimator_.given_
    for name, value in rest.items():
        assert given[name] is value
    assert len(given["margin"]) == len(given["codes"]) == given["n"]
    np.testing.assert_array_equal(given["margin"], given["codes"])


@each_way
def test_weights_of_a_step_of_an_inner_pipeline(make):
    weight = np.where(np.arange(Y.size) % 4, 0.5, 3.0)
    inner = make_pipeline(StandardScaler(), GaussianNB())
    model = make(inner).fit(X, Y, gaussiannb__sample_weight=weight)
    if make is not holdout:
        direct = clone(inner).fit(X, Y, gaussiannb__sample_weight=weight)
        np.testing.assert_array_equal(model.predict_proba(X), direct.predict_proba(X))
    else:
        plain = make(inner).fit(X, Y)
        assert not np.array_equal(model.predict_proba(X), plain.predict_proba(X))


@each_way
def test_what_the_inner_model_does_not_take_is_its_own_error(make):
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        make(GaussianNB()).fit(X, Y, colour="red")


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
        cv=3,
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
    scores = cross_val_score(model, X, Y, scoring="balanced_accuracy", cv=3)
    assert np.all(scores > 0.75)
    p = cross_val_predict(model, X, Y, cv=3, method="predict_proba")
    inner = cross_val_predict(GaussianNB(), X, Y, cv=3, method="predict_proba")
    if make is not holdout:
        np.testing.assert_array_equal(p, inner)


@each_way
def test_calibration_of_a_decided_model_is_that_of_its_probabilities(make):
    # A wrapper that asks for probabilities gets the inner model's.
    outer = batch(make(GaussianNB()), calibration="sigmoid", cv=3).fit(X, Y)
    if make is not holdout:
        inner = batch(GaussianNB(), calibration="sigmoid", cv=3).fit(X, Y)
        np.testing.assert_allclose(
            outer.predict_proba(X), inner.predict_proba(X), rtol=1e-9
        )
    assert set(outer.predict(X)) == {0, 1}
