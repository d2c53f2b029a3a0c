"""Labels, features and weights in every form that scikit-learn takes."""

import re
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, label_binarize
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

import bestcut
from estimators.known import (
    FEW as X,
    FEW_Y as Y,
    NAMES,
    batch,
    each_frame,
    each_way,
    fits_all_rows,
    folds,
    holdout,
    posterior,
)

# --- labels --------------------------------------------------------------------------

LABELS = {
    "strings": np.array(["ham", "spam"]),
    "objects": np.array(["ham", "spam"], dtype=object),
    "booleans": np.array([False, True]),
    "floats": np.array([0.0, 1.0]),
    "signs": np.array([-1, 1]),
    "large": np.array([3, 700]),
    "counted from 1": np.array([1, 2]),
}
TOLD = ("booleans", "floats", "signs")  # these tell which of them is positive


class NeverFitted(GaussianNB):
    """Whoever is fitted was not checked in time."""

    def fit(self, X, y):
        pytest.fail("the classes must be checked before anything is fitted")


@cache
def fitted(make, **options):
    """Return a model of the classes 0 and 1, and what it predicts."""
    model = make(GaussianNB(), **options).fit(X, Y)
    return model, model.predict(X)


WEIGHT = np.where(np.arange(Y.size) % 4, 0.5, 3.0)


@cache
def weighted_probabilities(make):
    """Return the probabilities of a model that learned with weights."""
    return make(GaussianNB()).fit(X, Y, sample_weight=WEIGHT).predict_proba(X)


@each_way
@pytest.mark.parametrize("kind", LABELS)
def test_any_two_labels(make, kind):
    names = LABELS[kind]
    _, plain = fitted(make)
    first, second = names.tolist()
    told = kind in TOLD
    if not told:
        message = f"say which class is positive: {first!r} or {second!r}. Only 0 and 1"
        with pytest.raises(ValueError, match=message):
            make(NeverFitted()).fit(X, names[Y])
    model = make(GaussianNB(), pos_label=None if told else second)
    model.fit(X, names[Y])
    predicted = model.predict(X)
    assert predicted.dtype == GaussianNB().fit(X, names[Y]).predict(X).dtype
    np.testing.assert_array_equal(predicted, names[plain])
    np.testing.assert_array_equal(model.classes_, names)
    for label, column in ((first, 0), (second, 1)):
        chosen = make(GaussianNB(), pos_label=label).fit(X, names[Y])
        _, by_number = fitted(make, pos_label=column)
        np.testing.assert_array_equal(chosen.predict(X), names[by_number])


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
    names = np.array(["ham", "spam"])
    model = make(GaussianNB(), pos_label="spam").fit(X, wrap(names[Y].tolist()))
    np.testing.assert_array_equal(model.predict(X), names[fitted(make)[1]])


@each_way
def test_a_column_of_labels_is_taken_with_scikit_learns_warning(make):
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        model = make(GaussianNB()).fit(X, Y[:, None])
    np.testing.assert_array_equal(model.predict(X), fitted(make)[1])


@each_way
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            np.column_stack([Y, 1 - Y]),
            "takes one label per row; got y of shape (110, 2). Use "
            "ExpectedMetricMultilabelClassifier, or decide each column by itself with "
            "sklearn.multioutput.MultiOutputClassifier.",
        ),
        (
            sparse.csr_matrix(np.column_stack([Y, 1 - Y])),
            "takes one label per row; got y of shape (110, 2).",
        ),
        (X[:, 0], "Unknown label type: continuous"),
        (np.zeros(110, int), "needs instances of two classes; got 1 class(es) [0]"),
        (np.where(Y, 1.0, np.nan), "Input y contains NaN"),
        (Y[:-1], "inconsistent numbers of samples: [110, 109]"),
    ],
    ids=["multilabel", "sparse", "continuous", "one", "nan", "short"],
)
def test_other_targets_are_refused(make, y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make(GaussianNB()).fit(X, y)


@pytest.mark.parametrize("make", [holdout, folds])
def test_one_threshold_is_for_two_classes(make):
    message = (
        "Only binary classification is supported. The type of the target is "
        "multiclass. ExpectedMetricClassifier takes more than two classes. You can "
        "also decide about one class, `y == label`, or about each class with "
        "sklearn.multioutput.MultiOutputClassifier on"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        make(GaussianNB()).fit(X, np.arange(Y.size) % 3)


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
    plain, predicted = fitted(make)
    np.testing.assert_array_equal(model.predict(rows), predicted)
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
    elif make is not posterior:
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


# --- weights and other things for fit ------------------------------------------------


class Curious(GaussianNB):
    """Remembers what fit was given."""

    def fit(self, X, y, sample_weight=None, **rest):
        self.given_ = {"n": len(y), "sample_weight": sample_weight, **rest}
        return super().fit(X, y, sample_weight)


@each_way
@pytest.mark.parametrize("wrap", [np.array, list, pd.Series, pl.Series])
def test_sample_weight_reaches_the_inner_model(make, wrap):
    model = make(GaussianNB()).fit(X, Y, sample_weight=wrap(WEIGHT))
    plain, _ = fitted(make)
    assert not np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    same = weighted_probabilities(make)
    np.testing.assert_array_equal(model.predict_proba(X), same)
    if fits_all_rows(make):
        inner = GaussianNB().fit(X, Y, sample_weight=WEIGHT)
        np.testing.assert_array_equal(
            model.estimator_.predict_proba(X), inner.predict_proba(X)
        )


def test_sample_weight_is_cut_with_the_rows():
    p = np.empty(Y.size)
    splits = list(KFold(3).split(X))
    for a, b in splits:
        p[b] = GaussianNB().fit(X[a], Y[a], WEIGHT[a]).predict_proba(X[b])[:, 1]
    model = batch(GaussianNB(), scope="fixed", cv=splits)
    model.fit(X, Y, sample_weight=WEIGHT)
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
    models = getattr(model, "estimators_", None) or [model.estimator_]
    given = models[0].given_
    for name, value in rest.items():
        assert given[name] is value
    assert len(given["margin"]) == len(given["codes"]) == given["n"]
    np.testing.assert_array_equal(given["margin"], given["codes"])


@each_way
def test_weights_of_a_step_of_an_inner_pipeline(make):
    inner = make_pipeline(StandardScaler(), GaussianNB())
    model = make(inner).fit(X, Y, gaussiannb__sample_weight=WEIGHT)
    if fits_all_rows(make):
        direct = clone(inner).fit(X, Y, gaussiannb__sample_weight=WEIGHT)
        np.testing.assert_array_equal(
            model.estimator_.predict_proba(X), direct.predict_proba(X)
        )
    else:
        plain = make(inner).fit(X, Y)
        assert not np.array_equal(model.predict_proba(X), plain.predict_proba(X))


@each_way
def test_what_the_inner_model_does_not_take_is_its_own_error(make):
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        make(GaussianNB()).fit(X, Y, colour="red")
