"""`predict` decides row by row, and `distribution` is the promise for its labels."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import bestcut
from bestcut import multiclass
from bestcut.estimators import ExpectedMetricClassifier
from estimators.known import FLOWERS, KINDS, KnownModel, X, Y, fixed, posterior_fixed
from groups import one_in

TRAIN, TEST = slice(0, 160), slice(160, None)


def default(inner, metric="f1", **options):
    options = {"cv": 3, "n_draws": 10, **options}
    return ExpectedMetricClassifier(inner, metric, **options)


INNER = {
    "bayes": GaussianNB(),
    "margins": LinearSVC(),
    "few scores": DecisionTreeClassifier(max_depth=2, random_state=0),
}
CALIBRATIONS = ["posterior", "sigmoid", "isotonic", None]


def some_models():
    """Yield each model with each calibration that it can have; each is fast once."""
    for i, (name, inner) in enumerate(INNER.items()):
        for j, calibration in enumerate(CALIBRATIONS):
            if calibration is None and name == "margins":
                continue
            marks = () if j in (0, i + 1) else pytest.mark.slow
            yield pytest.param(inner, calibration, marks=marks)


@pytest.mark.parametrize(("inner", "calibration"), list(some_models()))
@pytest.mark.parametrize("pos_label", [0, 1])
def test_predict_compares_its_probabilities_with_its_threshold(
    inner, calibration, pos_label
):
    model = default(inner, calibration=calibration, pos_label=pos_label)
    model.fit(X[TRAIN], Y[TRAIN])
    assert model.scope == "fixed"  # unless told otherwise
    column = model.classes_.tolist().index(pos_label)
    for one in (model, pickle.loads(pickle.dumps(model))):
        for rows in (X, 10 * X, X[:1]):
            above = one.predict_proba(rows)[:, column] >= one.threshold_
            np.testing.assert_array_equal(one.predict(rows) == pos_label, above)


@one_in(
    2,
    "make, classes",
    {
        "as it is": lambda: default(GaussianNB()),
        "scores": lambda: default(LinearSVC(), "mcc"),
        "a condition": lambda: default(GaussianNB(), at_least={"precision": 0.8}),
        "not calibrated": lambda: default(GaussianNB(), calibration=None),
    },
    [2, 3],
)
def test_labels_do_not_depend_on_how_predict_is_called(make, classes):
    model = make()
    if classes == 3 and model.at_least is not None:
        pytest.skip("conditions are about one positive class")
    rows, y = (X, Y) if classes == 2 else (FLOWERS, KINDS)
    model.fit(rows, y)
    together = model.predict(rows)
    for size in (10, 1):
        parts = [model.predict(rows[i : i + size]) for i in range(0, len(rows), size)]
        np.testing.assert_array_equal(np.concatenate(parts), together)
    assert len(set(together)) > 1


def test_chunks_of_a_rare_class_are_not_flagged_whole():
    """The table that made row-wise decisions the default."""
    rows, y = make_classification(
        2000,
        n_features=12,
        n_informative=4,
        weights=[0.95],
        flip_y=0.02,
        random_state=0,
    )
    model = default(LogisticRegression()).fit(rows[:1000], y[:1000])
    new = rows[1000:1200]
    whole = int(model.predict(new).sum())
    assert sum(int(model.predict(row[None]).sum()) for row in new) == whole < 40
    model.set_params(scope="batch")
    assert all(model.predict(row[None]) == 1 for row in new[:20])


def test_float32_probabilities_are_compared_as_such():
    p = np.linspace(0.05, 0.95, 60, dtype=np.float32)[:, None]
    model = fixed(KnownModel(np.float32)).fit(p, np.arange(60) % 2)
    assert model.predict_proba(p).dtype == np.float64
    dense = np.nextafter(np.float32(model.threshold_), np.float32([0, 1]))
    rows = np.concatenate([[np.float32(model.threshold_)], dense])[:, None]
    np.testing.assert_array_equal(
        model.predict(rows), model.predict_proba(rows)[:, 1] >= model.threshold_
    )


# --- the promise ---------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["fixed", "batch"])
@pytest.mark.parametrize("calibration", ["posterior", None])
@pytest.mark.parametrize("metric", [None, "precision"])
def test_the_distribution_is_that_of_the_labels_of_predict(scope, calibration, metric):
    model = default(GaussianNB(), "jaccard", calibration=calibration, scope=scope)
    model.fit(X[TRAIN], Y[TRAIN])
    p = model.predict_proba(X[TEST])[:, 1]
    if calibration == "posterior":
        p = model.calibration_(model.decision_function(X[TEST]))
    labels = model.predict(X[TEST])
    expected = bestcut.score_distribution(p, labels, metric or "jaccard")
    law = model.distribution(X[TEST], metric)
    assert law.mean == expected.mean
    assert law.interval() == expected.interval()
    if scope == "batch" and metric is None:
        decided = model.decide(X[TEST]).distribution()
        assert law.mean == pytest.approx(decided.mean, rel=1e-9)


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("scope", ["fixed", "batch"])
def test_several_classes_have_a_distribution(average, scope):
    model = default(GaussianNB(), average=average, scope=scope, calibration=None)
    model.fit(FLOWERS, KINDS)
    p = model.predict_proba(FLOWERS)
    law = model.distribution(FLOWERS)
    expected = multiclass.expected_score(p, model.predict(FLOWERS), average=average)
    assert law.mean == expected
    low, high = law.interval()
    assert low < law.mean < high
    if scope == "batch":
        decided = model.decide(FLOWERS).expected_score
        assert law.mean == pytest.approx(decided, rel=1e-9)


def test_weights_of_classes_are_in_the_promise():
    model = default(GaussianNB(), weights=[1, 1, 8]).fit(FLOWERS, KINDS)
    with pytest.warns(UserWarning, match="leaves out the doubt"):
        law = model.distribution(FLOWERS)
    expected = multiclass.expected_score(
        model.predict_proba(FLOWERS), model.predict(FLOWERS), weights=[1, 1, 8]
    )
    assert law.mean == expected


def test_scores_beyond_are_told_with_the_promise():
    model = default(LinearSVC()).fit(X[TRAIN], Y[TRAIN])
    with pytest.warns(UserWarning, match=r"of 80 rows \(\d+\.\d%\) have scores beyond"):
        model.distribution(5 * X[TEST])


# --- which threshold -----------------------------------------------------------------


@pytest.mark.parametrize("inner", [GaussianNB(), LinearSVC()], ids=str)
@pytest.mark.parametrize("metric", ["f1", "mcc", "gmean"])
def test_means_of_draws_choose_as_well_as_draws(inner, metric):
    """Where the mean is maximised, draws would choose a threshold as good as theirs."""
    model = default(inner, metric, n_draws=30, cv="prefit")
    scorer = inner.fit(X[TRAIN], Y[TRAIN])
    model.estimator = scorer
    model.fit(X[TEST], Y[TEST])
    response = (
        "predict_proba" if hasattr(scorer, "predict_proba") else "decision_function"
    )
    scores = getattr(scorer, response)(X[TEST])
    p = model.calibration_(scores[:, 1] if scores.ndim == 2 else scores)
    best = bestcut.decide(p, metric).expected_score
    own = bestcut.expected_score(p, p.mean >= model.threshold_, metric)
    # Eighty labels leave much doubt; it moves the best threshold, the score hardly.
    assert best - 0.01 <= own <= best + 1e-9


@pytest.mark.parametrize("frozen", [True, False])
def test_a_fitted_model_gets_a_threshold(frozen):
    inner = RandomForestClassifier(5, random_state=0).fit(X[TRAIN], Y[TRAIN])
    given, cv = (FrozenEstimator(inner), 3) if frozen else (inner, "prefit")
    model = posterior_fixed(given, cv=cv).fit(X[TEST], Y[TEST])
    np.testing.assert_array_equal(
        model.predict(X), model.predict_proba(X)[:, 1] >= model.threshold_
    )


# --- probabilities in other types ----------------------------------------------------


class HalfPrecision(GaussianNB):
    """A model that answers in half precision, as networks do."""

    def predict_proba(self, X):
        return super().predict_proba(X).astype(np.float16)


@pytest.mark.parametrize("scope", ["fixed", "batch"])
@pytest.mark.parametrize("rows", [(X, Y), (FLOWERS, KINDS)], ids=["two", "three"])
def test_half_precision_is_forgiven(rows, scope):
    features, y = rows
    model = default(HalfPrecision(), calibration=None, scope=scope).fit(features, y)
    p = model.predict_proba(features)
    assert p.dtype == np.float64
    assert model.decide(features).expected_score > 0.5
    assert model.predict(features).shape == y.shape
    if len(set(y)) == 3:
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-6)
