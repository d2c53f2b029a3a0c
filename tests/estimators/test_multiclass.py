"""More than two classes: ExpectedMetricClassifier decides what `multiclass` decides."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import f1_score, jaccard_score
from sklearn.model_selection import (
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bestcut
from bestcut import multiclass
from bestcut.goals import Mean, Quantile
from bestcut.metrics import from_counts
from estimators.known import (
    FLOWER_NAMES as NAMES,
    FLOWERS as X,
    KINDS as Y,
    batch,
    each_way_of_classes as each_way,
    fixed,
    one_model,
    one_model_fixed,
    posterior,
    posterior_fixed,
    without_order,
)

# By two features the wines are hard to tell apart; so are noisy digits.
WINE = without_order(load_wine, 178, slice(0, 2))
DIGITS = without_order(load_digits, 400, noise=6.0)
DATA = {"iris": (X, Y), "wine": WINE, "digits": DIGITS}
TRAIN, TEST = slice(0, 90), slice(90, None)


class KnownClasses(ClassifierMixin, BaseEstimator):
    """The probabilities are the features; nothing is learnt."""

    def __init__(self, dtype=np.float64):
        self.dtype = dtype

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.asarray(X, dtype=self.dtype)


class KnownScores(KnownClasses):
    """The scores are the features."""

    predict_proba = property()

    def decision_function(self, X):
        return np.asarray(X, dtype=self.dtype)


def by_hand(inner, X, y, new, method="predict_proba", cv=3, n_draws=10, seed=0):
    """Return calibrated probabilities of the rows of each fold and of new ones."""
    out = cross_val_predict(inner, X, y, cv=cv, method=method)
    fresh = getattr(clone(inner).fit(X, y), method)(new)
    both = []
    for j, label in enumerate(np.unique(y)):
        calibration = bestcut.calibrate(
            y == label, out[:, j], n_draws=n_draws, random_state=seed + j
        )
        low, high = calibration.score_range  # beyond which maps are constant
        columns = (out[:, j], np.clip(fresh[:, j], low, high))
        both.append([calibration(column).mean for column in columns])
    of_folds, of_new = (np.column_stack(part) for part in zip(*both, strict=True))
    return tuple(p / p.sum(axis=1, keepdims=True) for p in (of_folds, of_new))


# --- a batch -------------------------------------------------------------------------


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    ("metric", "average"),
    [("f1", "macro"), ("balanced_accuracy", "macro"), ("f1", "micro")],
)
def test_predict_is_decide_on_the_probabilities_of_the_inner_model(
    name, metric, average
):
    X, y = DATA[name]
    half = y.size // 2
    model = batch(GaussianNB(), metric, average=average).fit(X[:half], y[:half])
    p = GaussianNB().fit(X[:half], y[:half]).predict_proba(X[half:])
    np.testing.assert_array_equal(model.predict_proba(X[half:]), p)
    expected = multiclass.decide(p, metric, average=average)
    decision = model.decide(X[half:])
    np.testing.assert_array_equal(decision.labels, expected.labels)
    np.testing.assert_array_equal(model.predict(X[half:]), expected.labels)
    assert decision.expected_score == expected.expected_score
    assert decision.average == average
    assert repr(decision.distribution()) == repr(expected.distribution())


def test_a_distribution_of_calibrated_means_says_what_it_leaves_out():
    model = posterior(GaussianNB()).fit(X[TRAIN], Y[TRAIN])
    decision = model.decide(X[TEST])
    with pytest.warns(
        UserWarning, match="leaves out the doubt about the probabilities"
    ):
        distribution = decision.distribution()
    known = multiclass.score_distribution(model.predict_proba(X[TEST]), decision.labels)
    assert distribution.interval() == known.interval()


def test_probabilities_taken_as_they_are_leave_nothing_out():
    for calibration in (None, "sigmoid"):
        model = batch(GaussianNB(), calibration=calibration).fit(X[TRAIN], Y[TRAIN])
        model.decide(X[TEST]).distribution()


@pytest.mark.parametrize(
    ("metric", "score"), [("f1", f1_score), ("jaccard", jaccard_score)]
)
def test_the_expected_score_is_that_of_scikit_learns_macro_average(metric, score):
    # Probabilities of 0 and 1 leave one possible truth, whose score is expected.
    rng = np.random.default_rng(0)
    y, predicted = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    p = np.eye(4)[y]
    own = multiclass.expected_score(p, predicted, metric)
    assert own == pytest.approx(score(y, predicted, average="macro"), rel=1e-12)
    # And drawn truths have it on average, but for the standard error of 300 draws.
    model = batch(GaussianNB(), metric).fit(X[TRAIN], Y[TRAIN])
    decision, p = model.decide(X[TEST]), model.predict_proba(X[TEST])
    drawn = (rng.random((300, len(p), 1)) > p.cumsum(axis=1)).sum(axis=2)
    scores = [
        score(truth, decision.labels, average="macro", labels=[0, 1, 2])
        for truth in drawn
    ]
    error = np.std(scores) / np.sqrt(len(scores))
    assert np.mean(scores) == pytest.approx(decision.expected_score, abs=4 * error)


def test_a_decision_beats_the_most_probable_class_by_expectation():
    X, y = WINE
    rare = (y != 2) | (np.arange(y.size) % 4 == 0)
    model = batch(GaussianNB()).fit(X[rare], y[rare])
    p = model.predict_proba(X)
    usual = multiclass.expected_score(p, p.argmax(axis=1))
    assert model.decide(X).expected_score > usual
    assert (model.predict(X) == 2).sum() > (p.argmax(axis=1) == 2).sum()


def test_accuracy_and_micro_averages_take_the_most_probable_class():
    inner = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    for options in ({"metric": "accuracy"}, {"average": "micro"}):
        for make in (batch, fixed):
            model = make(GaussianNB(), **options).fit(X[TRAIN], Y[TRAIN])
            np.testing.assert_array_equal(
                model.predict(X[TEST]), inner.predict(X[TEST])
            )


def test_two_classes_have_no_average():
    two = Y != 2
    for average in ("macro", "micro", "none of them"):
        model = batch(GaussianNB(), average=average).fit(X[two], Y[two])
        p = model.predict_proba(X[two])[:, 1]
        np.testing.assert_array_equal(model.predict(X[two]), bestcut.decide(p).labels)
        assert isinstance(model.decide(X[two]), bestcut.Decision)


@each_way
def test_weights_of_classes_are_those_of_the_mean(make):
    # Two features leave the last two kinds of iris hard to tell apart.
    weights = [1, 1, 5]
    model = make(GaussianNB(), weights=weights).fit(X[TRAIN], NAMES[Y[TRAIN]])
    p, decision = model.predict_proba(X[TEST]), model.decide(X[TEST])
    expected = multiclass.decide(p, weights=weights, classes=NAMES)
    np.testing.assert_array_equal(decision.labels, expected.labels)
    assert decision.expected_score == expected.expected_score
    plain = clone(model).set_params(weights=None).fit(X[TRAIN], NAMES[Y[TRAIN]])
    counts = [np.sum(one.predict(X[TEST]) == NAMES[2]) for one in (model, plain)]
    assert counts[0] > counts[1]


@each_way
def test_classes_may_have_names(make):
    model = make(GaussianNB()).fit(X[TRAIN], NAMES[Y[TRAIN]])
    plain = make(GaussianNB()).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(model.classes_, NAMES)
    predicted = model.predict(X[TEST])
    assert predicted.dtype == NAMES.dtype
    np.testing.assert_array_equal(predicted, NAMES[plain.predict(X[TEST])])
    np.testing.assert_array_equal(
        model.decide(X[TEST]).labels, NAMES[plain.decide(X[TEST]).labels]
    )
    series = pd.Series(NAMES[Y[TRAIN]].tolist()).astype("category")
    again = make(GaussianNB()).fit(X[TRAIN], series)
    np.testing.assert_array_equal(again.predict(X[TEST]), predicted)


@each_way
def test_one_row(make):
    model = make(GaussianNB()).fit(X[TRAIN], Y[TRAIN])
    assert model.predict(X[:1]).shape == (1,)


# --- one rule ------------------------------------------------------------------------


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("metric", ["f1", "balanced_accuracy"])
def test_the_rule_is_that_of_the_out_of_fold_probabilities(name, metric):
    X, y = DATA[name]
    half = y.size // 2
    model = fixed(GaussianNB(), metric).fit(X[:half], y[:half])
    out = cross_val_predict(
        GaussianNB(), X[:half], y[:half], cv=3, method="predict_proba"
    )
    rows = np.concatenate([b for _, b in StratifiedKFold(3).split(X[:half], y[:half])])
    rule = multiclass.decide(out[rows], metric).rule()
    np.testing.assert_array_equal(model.rule_.slope, rule.slope)
    np.testing.assert_array_equal(model.rule_.cost, rule.cost)
    p = GaussianNB().fit(X[:half], y[:half]).predict_proba(X[half:])
    np.testing.assert_array_equal(model.predict(X[half:]), rule(p))


@pytest.mark.parametrize("make", [fixed, posterior_fixed])
def test_with_a_fixed_scope_rows_are_decided_one_by_one(make):
    model = make(GaussianNB()).fit(X[TRAIN], Y[TRAIN])
    alone = np.concatenate([model.predict(row[None]) for row in X[TEST]])
    np.testing.assert_array_equal(model.predict(X[TEST]), alone)
    assert not hasattr(model, "threshold_")
    whole = clone(model).set_params(scope="batch").fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(  # decide() is for the batch
        model.decide(X[TEST]).labels, whole.decide(X[TEST]).labels
    )
    assert not hasattr(whole, "rule_")


def test_what_belongs_to_another_fit_is_forgotten():
    model = fixed(GaussianNB()).fit(X, Y)
    model.fit(X[Y != 2], Y[Y != 2])
    assert hasattr(model, "threshold_")
    assert not hasattr(model, "rule_")
    model.fit(X, Y)
    assert not hasattr(model, "threshold_")
    batch_model = batch(GaussianNB()).fit(X, Y).set_params(scope="fixed")
    with pytest.raises(NotFittedError):
        batch_model.predict(X)


# --- calibration ---------------------------------------------------------------------

METHODS = ["sigmoid", "isotonic", "temperature"]
has_temperature = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("names", [np.arange(3), NAMES], ids=["numbers", "names"])
def test_calibration_is_scikit_learns(method, names):
    if method == "temperature" and not has_temperature:
        pytest.skip("temperature scaling came with scikit-learn 1.8")
    y = names[Y]
    model = batch(GaussianNB(), calibration=method, cv=3).fit(X[TRAIN], y[TRAIN])
    own = CalibratedClassifierCV(GaussianNB(), method=method, cv=3)
    p = own.fit(X[TRAIN], y[TRAIN]).predict_proba(X[TEST])
    np.testing.assert_array_equal(model.predict_proba(X[TEST]), p)
    np.testing.assert_array_equal(
        model.predict(X[TEST]), multiclass.decide(p, classes=names).labels
    )


def test_a_calibrated_model_can_have_one_rule():
    model = fixed(RidgeClassifier(), calibration="sigmoid").fit(X[TRAIN], Y[TRAIN])
    own = CalibratedClassifierCV(RidgeClassifier(), cv=3)
    out = cross_val_predict(own, X[TRAIN], Y[TRAIN], cv=3, method="predict_proba")
    rows = np.concatenate([b for _, b in StratifiedKFold(3).split(out, Y[TRAIN])])
    rule = multiclass.decide(out[rows]).rule()
    np.testing.assert_allclose(model.rule_.slope, rule.slope, rtol=1e-9)


INNER = {
    "probabilities": (GaussianNB(), "predict_proba"),
    "scores": (RidgeClassifier(), "decision_function"),
}


@pytest.mark.parametrize("kind", INNER)
@pytest.mark.parametrize("name", ["iris", pytest.param("wine", marks=pytest.mark.slow)])
def test_a_posterior_calibrates_each_class_against_the_rest(kind, name):
    inner, method = INNER[kind]
    X, y = DATA[name]
    model = one_model(inner, random_state=5).fit(X[TRAIN], y[TRAIN])
    out, new = by_hand(inner, X[TRAIN], y[TRAIN], X[TEST], method, seed=5)
    assert len(model.calibration_) == 3
    np.testing.assert_allclose(model.predict_proba(X[TEST]), new, rtol=1e-12)
    p = model.predict_proba(X[TEST])
    expected = multiclass.decide(p)
    np.testing.assert_array_equal(model.predict(X[TEST]), expected.labels)
    np.testing.assert_array_equal(np.log(p), model.predict_log_proba(X[TEST]))
    fixed_model = one_model_fixed(inner, random_state=5).fit(X[TRAIN], y[TRAIN])
    # A rule repeats the decision but for rows that are all but indifferent.
    own = multiclass.expected_score(out, fixed_model.rule_(out))
    lost = multiclass.decide(out).expected_score - own
    assert -1e-12 <= lost <= 1e-3
    np.testing.assert_array_equal(fixed_model.predict(X[TEST]), fixed_model.rule_(p))


def test_draws_of_a_class_can_be_had():
    model = posterior(RidgeClassifier(), n_draws=7).fit(X[TRAIN], Y[TRAIN])
    scores = model.decision_function(X[TEST])
    for j, calibration in enumerate(model.calibration_):
        assert calibration.probabilities(scores[:, j]).shape == (7, 60)
        assert calibration.n_positive == (Y[TRAIN] == j).sum()


def test_a_row_always_has_probabilities():
    # Scores far below all that calibrated, of every class: the sum is not 0.
    scores = np.random.default_rng(0).normal(size=(3000, 3))
    y = scores.argmax(axis=1)
    model = posterior(KnownScores()).fit(scores, y)
    p = model.predict_proba(np.full((1, 3), -1e9))
    assert p.min() > 0
    assert p.sum() == pytest.approx(1, rel=1e-14)


def test_what_is_not_calibrated_becomes_so():
    # Probabilities that are too sure of themselves.
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), 3000)
    stated = truth**3 / (truth**3).sum(axis=1, keepdims=True)
    y = (rng.random((3000, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    p = posterior(KnownClasses(), n_draws=30).fit(stated, y).predict_proba(stated)
    error, before = (np.sqrt(np.mean((q - truth) ** 2)) for q in (p, stated))
    assert error < 0.5 * before


def test_a_fitted_model_is_calibrated_by_all_rows_in_either_form():
    inner = LogisticRegression().fit(X[TRAIN], Y[TRAIN])
    prefit = posterior(inner, cv="prefit").fit(X[TEST], Y[TEST])
    frozen = posterior(FrozenEstimator(inner)).fit(X[TEST], Y[TEST])
    np.testing.assert_array_equal(prefit.predict_proba(X), frozen.predict_proba(X))
    assert [c.n_labelled for c in prefit.calibration_] == [60, 60, 60]


def test_many_scores_beyond_are_told_by_decide_alone():
    model = posterior(RidgeClassifier()).fit(X[TRAIN], Y[TRAIN])
    model.decide(X[TEST])  # silent: a warning is an error in these tests
    far = X[TEST] + 50
    with pytest.warns(UserWarning, match=r"of 60 rows .* have scores of class \d bey"):
        decision = model.decide(far)
    np.testing.assert_array_equal(model.predict(far), decision.labels)


# --- what is refused, and when -------------------------------------------------------


class NeverFitted(KnownClasses):
    """Whoever is fitted was not checked in time."""

    def fit(self, X, y):
        pytest.fail("parameters must be checked before anything is fitted")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"pos_label": 1}, "`pos_label`"),
        ({"goal": Quantile(0.1)}, "`goal`"),
        ({"at_least": {"recall": 0.5}}, "`at_least`"),
        ({"min_positives": 1, "max_positives": 9}, "`min_positives`, `max_positives`"),
    ],
)
def test_options_about_a_positive_class_are_refused(options, names):
    message = (
        f"With more than two classes there is no positive class, so {names} must be "
        "left at the default; `y` has 3 classes. To decide about one class, fit on "
        "`y == label`."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        batch(NeverFitted(), **options).fit(X, Y)


def test_weights_of_two_classes_are_refused():
    message = (
        "`weights` must be None with two classes: the metric is then the score of the "
        "positive class, not a mean over classes. Leave it out."
    )
    two = Y != 2
    with pytest.raises(ValueError, match=re.escape(message)):
        batch(NeverFitted(), weights=[1, 1]).fit(X[two], Y[two])


def test_the_mean_is_no_other_goal():
    model = batch(GaussianNB(), goal=Mean()).fit(X, Y)
    np.testing.assert_array_equal(
        model.predict(X), batch(GaussianNB()).fit(X, Y).predict(X)
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"average": "samples"}, ValueError, "`average` 'samples' is not known"),
        ({"average": None}, ValueError, "pass average='macro'"),
        ({"metric": "g3"}, ValueError, "`metric` 'g3' is not known"),
        ({"weights": [1, 2]}, ValueError, "shape (3,); got shape (2,)"),
        ({"weights": [1, -1, 1]}, ValueError, "got weights[1] = -1.0"),
        (
            {"weights": [1, 1, 1], "average": "micro"},
            ValueError,
            "`weights` is only for average='macro'",
        ),
        (
            {"metric": from_counts(lambda tp, fp, fn, tn: fp - tp, name="odd")},
            bestcut.SolverMismatchError,
            "metric 'odd' is not known to satisfy",
        ),
        ({"scope": "online"}, ValueError, "`scope` 'online' is not known"),
        ({"calibration": "posterior", "n_draws": 0}, ValueError, "`n_draws` must be"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_fitted(
    options, error, message
):
    with pytest.raises(error, match=re.escape(message)):
        batch(NeverFitted(), **options).fit(X, Y)


@pytest.mark.skipif(has_temperature, reason="there it can be had")
def test_temperature_is_refused_before_scikit_learn_has_it():
    with pytest.raises(ValueError, match=r"needs scikit-learn 1\.8 or newer"):
        batch(NeverFitted(), calibration="temperature").fit(X, Y)


def test_scores_of_pairs_are_no_scores_of_classes():
    x, y = np.arange(80.0)[:, None], np.repeat([0, 1, 2, 3], 20)
    model = posterior(SVC(decision_function_shape="ovo"))
    message = "a column for each of the 4 classes; got shape (27, 6). Pass decision_f"
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(x, y)
    model.set_params(estimator__decision_function_shape="ovr").fit(x, y).predict(x)


def test_a_fold_without_a_class_is_refused():
    y = np.array([0, 1, 2] * 10)
    splits = [(np.flatnonzero(y != 2), np.flatnonzero(y == 2))]
    with pytest.raises(
        ValueError, match=r"fold 1 of 1 have none of class 2, of which `y` has 10"
    ):
        batch(GaussianNB(), scope="fixed", cv=splits).fit(X[:30], y)


@pytest.mark.parametrize("y", [X[:, 0] + 0.01, Y + 0.5], ids=["continuous", "halves"])
def test_numbers_that_are_no_classes_are_refused(y):
    message = r"`y` must hold classes; it is continuous. .*Unknown label type: contin"
    with pytest.raises(ValueError, match=message):
        batch(GaussianNB()).fit(X, y)


# --- probabilities as they come ------------------------------------------------------


def test_single_precision_is_forgiven_and_nothing_more():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(200), 260)
    y = np.arange(260) % 200
    model = batch(KnownClasses(np.float32), average="micro").fit(p, y)
    np.testing.assert_array_equal(model.predict(p), p.argmax(axis=1))
    p *= 1 + 1e-6  # each entry by some units of single precision
    assert model.predict(p).shape == (260,)
    p[3] *= 1.01
    with pytest.raises(ValueError, match=r"row 3 sums to 1\.01"):
        model.predict(p)


@pytest.mark.parametrize("make", [batch, fixed])
def test_who_is_sure_of_a_class_gets_it(make):
    model = make(DecisionTreeClassifier(random_state=0)).fit(X[TRAIN], Y[TRAIN])
    p = model.predict_proba(X[TEST])
    sure = p.max(axis=1) == 1.0
    assert sure.mean() > 0.8
    np.testing.assert_array_equal(model.predict(X[TEST])[sure], p.argmax(axis=1)[sure])
