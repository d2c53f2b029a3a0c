"""ExpectedMetricClassifier decides what `bestcut.decide` decides, on its own p."""

import re
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import bestcut
from bestcut.estimators import ExpectedMetricClassifier
from bestcut.goals import Mean, ProbAtLeast, Quantile
from bestcut.metrics import FBeta, LinearUtility, from_counts
from estimators.known import KnownModel, X, Y

TRAIN, TEST = slice(0, 160), slice(160, None)
sklearn_version = tuple(map(int, sklearn.__version__.split(".")[:2]))
METRICS = ["f1", "jaccard", "balanced_accuracy", "mcc", "gmean", "squared_count_error"]


plain = partial(ExpectedMetricClassifier, calibration=None, scope="batch")


def fitted(metric="f1", inner=None, **options):
    inner = GaussianNB() if inner is None else inner
    return plain(inner, metric, **options).fit(X[TRAIN], Y[TRAIN])


# --- a batch -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metric", [*METRICS, FBeta(beta=3), LinearUtility(tp=3, fp=-1)]
)
def test_predict_is_decide_on_the_probabilities_of_the_inner_model(metric):
    model = fitted(metric)
    inner = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    p = model.predict_proba(X[TEST])
    np.testing.assert_array_equal(p, inner.predict_proba(X[TEST]))
    expected = bestcut.decide(p[:, 1], metric)
    decision = model.decide(X[TEST])
    np.testing.assert_array_equal(decision.labels, expected.labels)
    np.testing.assert_array_equal(model.predict(X[TEST]), expected.labels.astype(int))
    assert decision.expected_score == expected.expected_score
    assert decision.metric == expected.metric


@pytest.mark.parametrize(
    "options",
    [
        {"goal": Quantile(0.1)},
        {"goal": ProbAtLeast(0.8)},
        {"goal": Mean()},
        {"at_least": {"precision": 0.95}},
        {"at_least": {"recall": 0.95, FBeta(): 0.5}},
        {"min_positives": 40},
        {"max_positives": 7},
        {"min_positives": 3, "max_positives": 3, "goal": Quantile(0.5)},
    ],
    ids=str,
)
def test_every_option_of_decide_is_passed_on(options):
    model = fitted(**options)
    p = model.predict_proba(X[TEST])[:, 1]
    expected = bestcut.decide(p, "f1", **options)
    np.testing.assert_array_equal(model.predict(X[TEST]), expected.labels.astype(int))
    assert model.decide(X[TEST]).goal == expected.goal
    if "goal" not in options:  # the option matters here
        assert expected.n_positive != bestcut.decide(p, "f1").n_positive


def test_the_label_of_a_row_depends_on_its_batch():
    model = fitted()
    alone = np.concatenate([model.predict(row[None]) for row in X[TEST]])
    assert set(alone) == {1}  # one row: claiming it is the only way to score
    assert set(model.predict(X[TEST])) == {0, 1}


def test_accuracy_is_decided_at_one_half():
    model = fitted("accuracy")
    inner = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(model.predict(X[TEST]), inner.predict(X[TEST]))


@pytest.mark.parametrize("scope", ["batch", "fixed"])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_small_batches(scope, n):
    y = np.repeat(["no", "yes"], 20)
    p = np.linspace(0.1, 0.9, 40)[:, None]
    model = plain(KnownModel(), scope=scope, cv=2, pos_label="yes").fit(p, y)
    labels = model.predict(np.full((n, 1), 0.8))
    assert labels.shape == (n,)
    assert labels.dtype == y.dtype
    assert set(labels) <= {"yes"}


def test_an_empty_batch_is_left_to_the_inner_model():
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        fitted().predict(X[:0])


def test_a_batch_smaller_than_the_least_number_of_positives_is_refused():
    model = fitted(min_positives=3)
    assert model.predict(X[:3]).sum() == 3
    with pytest.raises(ValueError, match="`min_positives` must be at most"):
        model.predict(X[:2])


@pytest.mark.parametrize("options", [{"min_positives": 3}, {"max_positives": 3}])
def test_one_threshold_keeps_no_number_of_rows(options):
    model = plain(GaussianNB(), scope="fixed", **options)
    with pytest.raises(ValueError, match=r"one batch, .* Pass scope='batch'"):
        model.fit(X, Y)
    model.set_params(scope="batch").fit(X, Y).predict(X)


def test_constraints_that_a_batch_cannot_satisfy_are_refused_when_it_comes():
    model = fitted(at_least={"precision": 0.99})
    assert model.predict(X[np.argsort(-model.predict_proba(X)[:, 1])[:20]]).any()
    with pytest.raises(bestcut.InfeasibleError, match=r"precision .* \(asked: 0.99\)"):
        model.predict(X[np.argsort(model.predict_proba(X)[:, 1])[:20]])


def test_a_loss_is_minimised():
    model = fitted("squared_count_error")
    p = model.predict_proba(X[TEST])[:, 1]
    assert abs(model.predict(X[TEST]).sum() - p.sum()) <= 1


# --- the positive class --------------------------------------------------------------


@pytest.mark.parametrize("scope", ["batch", "fixed"])
def test_the_first_class_may_be_the_positive_one(scope):
    first, second = (fitted(pos_label=label, scope=scope) for label in (0, 1))
    decision = bestcut.decide(first.predict_proba(X[TEST])[:, 0])
    np.testing.assert_array_equal(first.decide(X[TEST]).labels, decision.labels)
    if scope == "batch":
        np.testing.assert_array_equal(
            first.predict(X[TEST]), np.where(decision.labels, 0, 1)
        )
    assert (first.predict(X[TEST]) == 0).sum() > (second.predict(X[TEST]) == 0).sum()
    flipped = plain(GaussianNB(), scope=scope)
    flipped.fit(X[TRAIN], 1 - Y[TRAIN])
    np.testing.assert_array_equal(1 - flipped.predict(X[TEST]), first.predict(X[TEST]))


# --- one threshold -------------------------------------------------------------------


def best_expected(p, metric):
    """Return the best expected score that any threshold has, and whose they are."""
    scores = {
        t: bestcut.expected_score(p, p >= t, metric) for t in (*np.unique(p), np.inf)
    }
    better = max if bestcut.metrics.get(metric).greater_is_better else min
    return better(scores.values())


INNER = {
    "smooth": GaussianNB(),
    "tied": DecisionTreeClassifier(max_depth=2, random_state=0),
    "partly tied": RandomForestClassifier(5, max_depth=2, random_state=0),
}
SPLITS = [4, StratifiedKFold(3, shuffle=True, random_state=0), KFold(2)]


def some_fits():
    """Return metrics, models and splits; any two of them meet in a fast test."""
    for i, metric in enumerate(METRICS):
        for j, kind in enumerate(INNER):
            for k, cv in enumerate(SPLITS):
                marks = () if (i + j + k) % 3 == 0 else pytest.mark.slow
                name = f"{metric}-{kind}-{cv}"
                yield pytest.param(metric, kind, cv, marks=marks, id=name)


@pytest.mark.parametrize(("metric", "kind", "cv"), list(some_fits()))
def test_the_threshold_is_the_best_on_out_of_fold_probabilities(metric, kind, cv):
    inner = INNER[kind]
    model = fitted(metric, inner, scope="fixed", cv=cv)
    p = cross_val_predict(inner, X[TRAIN], Y[TRAIN], cv=cv, method="predict_proba")
    p = p[:, 1]
    best = best_expected(p, metric)
    own = bestcut.expected_score(p, p >= model.threshold_, metric)
    assert own == pytest.approx(best, rel=1e-9)
    everywhere = inner.fit(X[TRAIN], Y[TRAIN]).predict_proba(X[TEST])[:, 1]
    np.testing.assert_array_equal(
        model.predict(X[TEST]), (everywhere >= model.threshold_).astype(int)
    )


GOALS = {
    "mean": (Mean(), lambda law: law.mean),
    "quantile": (Quantile(0.2), lambda law: law.ppf(0.2)),
    "probability": (ProbAtLeast(0.5), lambda law: law.prob_at_least(0.5)),
}


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("gmean", "mean"),
        ("hmean", "mean"),
        ("f0.5", "quantile"),
        ("gmean", "quantile"),
        ("f0.5", "probability"),
        ("gmean", "probability"),
    ],
)
def test_ties_are_not_cut_whatever_the_goal(metric, name):
    goal, value = GOALS[name]
    rng = np.random.default_rng(0)
    cut_a_tie = 0
    for _ in range(8):
        p = rng.choice(rng.random(4), 30)
        y = np.arange(30) % 2
        model = plain(KnownModel(), metric, goal=goal, scope="fixed", cv=2).fit(
            p[:, None], y
        )
        laws = {
            t: bestcut.score_distribution(p, p >= t, metric)
            for t in (*np.unique(p), np.inf, model.threshold_)
        }
        best = max(value(law) for law in laws.values())
        assert value(laws[model.threshold_]) == pytest.approx(best, rel=1e-9)
        free = bestcut.decide(p, metric, goal=goal)
        cut_a_tie += free.n_positive != np.count_nonzero(p >= free.threshold)
    assert cut_a_tie > 0


def test_the_threshold_of_a_loss_cuts_no_tie_either():
    # Of six, each at 0.4, 2.4 are positive: claim none (2.4²) rather than all (3.6²).
    p = np.full((6, 1), 0.4)
    y = np.array([0, 1] * 3)
    quantile = Quantile(0.5)
    for goal in (None, quantile):
        model = plain(
            KnownModel(), "squared_count_error", goal=goal, scope="fixed", cv=2
        ).fit(p, y)
        assert model.threshold_ > 0.4


def test_constraints_hold_for_the_threshold_too():
    rng = np.random.default_rng(1)
    p, y = rng.choice([0.9, 0.6, 0.4, 0.1], 60), np.arange(60) % 2
    floor = 0.8
    model = plain(KnownModel(), at_least={"precision": floor}, scope="fixed", cv=2).fit(
        p[:, None], y
    )
    scores = {
        t: bestcut.expected_score(p, p >= t, ["f1", "precision"]) for t in np.unique(p)
    }
    allowed = [s["f1"] for s in scores.values() if s["precision"] >= floor]
    own = bestcut.expected_score(p, p >= model.threshold_, ["f1", "precision"])
    assert own["precision"] >= floor
    assert own["f1"] == pytest.approx(max(allowed))
    assert max(s["f1"] for s in scores.values()) > max(allowed)


@pytest.mark.parametrize("scope", ["fixed", "batch"])
def test_a_loss_is_kept_down_as_a_score_is_kept_up(scope):
    rng = np.random.default_rng(1)
    p, y = rng.choice([0.9, 0.6, 0.4, 0.1], 60)[:, None], np.arange(60) % 2
    options = {"metric": "recall", "scope": scope, "cv": 2}
    below, above = (
        plain(KnownModel(), **options, **asked).fit(p, y)
        for asked in ({"at_most": {"fpr": 0.3}}, {"at_least": {"tnr": 0.7}})
    )
    np.testing.assert_array_equal(below.predict(p), above.predict(p))
    assert 0 < below.predict(p).sum() < 60
    (condition,) = below.decide(p).conditions
    assert condition.reached <= 0.3
    with pytest.raises(ValueError, match=r"Pass at_least=\{'precision': 0\.5\}"):
        below.set_params(at_most={"precision": 0.5}).fit(p, y)


def test_constraints_that_only_part_of_a_tie_could_satisfy_are_refused():
    p, y = np.full((20, 1), 0.5), np.arange(20) % 2
    half = {"recall": 0.4, "specificity": 0.4}
    model = plain(KnownModel(), scope="fixed", cv=2, at_least=half)
    with pytest.raises(bestcut.InfeasibleError, match=r"have the probability 0.5 and"):
        model.fit(p, y)
    model.set_params(at_least=None).fit(p, y)
    assert model.threshold_ == 0.5
    assert model.predict(p).all()  # "this probability or a larger one"
    with pytest.raises(bestcut.InfeasibleError, match=r"precision 0\.5 "):
        model.set_params(at_least={"precision": 0.6}).fit(p, y)


@pytest.mark.parametrize(
    ("p", "threshold"),
    [
        ([0.9, 0.9, 0.1, 0.1], 0.5),
        ([0.9, 0.9, 0.7, 0.7], 0.5),  # all: 1/2 makes the same cut
        ([0.4, 0.4, 0.01, 0.01], 0.205),
    ],
)
def test_of_thresholds_that_make_the_same_cut_one_half_or_the_middle_is_taken(
    p, threshold
):
    p, y = np.repeat(p, 4)[:, None], np.arange(16) % 2
    model = plain(KnownModel(), scope="fixed", cv=2).fit(p, y)
    assert model.threshold_ == pytest.approx(threshold)


def test_with_a_fixed_scope_rows_are_decided_one_by_one():
    model = fitted(scope="fixed")
    together = model.predict(X[TEST])
    alone = np.concatenate([model.predict(row[None]) for row in X[TEST]])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(  # but decide() is still for the batch
        model.decide(X[TEST]).labels, fitted().decide(X[TEST]).labels
    )


def test_test_folds_may_overlap():
    cv = ShuffleSplit(3, test_size=0.5, random_state=0)
    model = fitted(scope="fixed", cv=cv)
    p = np.concatenate(
        [
            GaussianNB().fit(X[a], Y[a]).predict_proba(X[b])[:, 1]
            for a, b in cv.split(X[TRAIN])
        ]
    )
    own = bestcut.expected_score(p, p >= model.threshold_)
    assert own == pytest.approx(best_expected(p, "f1"), rel=1e-9)


def test_given_splits():
    splits = list(StratifiedKFold(3).split(X[TRAIN], Y[TRAIN]))
    given = fitted(scope="fixed", cv=splits)
    assert given.threshold_ == fitted(scope="fixed", cv=3).threshold_


# --- calibration ---------------------------------------------------------------------


@pytest.mark.parametrize("inner", [GaussianNB(), LinearSVC()], ids=str)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("cv", [3, StratifiedKFold(2)], ids=str)
def test_calibration_is_scikit_learns(inner, method, cv):
    model = fitted("jaccard", inner, calibration=method, cv=cv)
    own = CalibratedClassifierCV(inner, method=method, cv=cv).fit(X[TRAIN], Y[TRAIN])
    p = own.predict_proba(X[TEST])
    np.testing.assert_array_equal(model.predict_proba(X[TEST]), p)
    np.testing.assert_array_equal(
        model.predict(X[TEST]), bestcut.decide(p[:, 1], "jaccard").labels.astype(int)
    )


def test_a_calibrated_model_can_have_one_threshold():
    model = fitted(inner=LinearSVC(), calibration="isotonic", cv=3, scope="fixed")
    calibrated = CalibratedClassifierCV(LinearSVC(), method="isotonic", cv=3)
    p = cross_val_predict(calibrated, X[TRAIN], Y[TRAIN], cv=3, method="predict_proba")[
        :, 1
    ]
    own = bestcut.expected_score(p, p >= model.threshold_)
    assert own == pytest.approx(best_expected(p, "f1"), rel=1e-9)


def test_a_frozen_model_is_calibrated_and_not_fitted_again():
    inner = LinearSVC().fit(X[TRAIN], Y[TRAIN])
    before = inner.coef_.copy()
    model = plain(FrozenEstimator(inner), calibration="sigmoid")
    model.fit(X[TEST], Y[TEST])
    np.testing.assert_array_equal(inner.coef_, before)
    own = CalibratedClassifierCV(FrozenEstimator(inner)).fit(X[TEST], Y[TEST])
    np.testing.assert_array_equal(model.predict_proba(X), own.predict_proba(X))


@pytest.mark.skipif(
    sklearn_version < (1, 8), reason="temperature scaling came with scikit-learn 1.8"
)
def test_temperature_scaling_is_scikit_learns():
    model = fitted(calibration="temperature", cv=3)
    own = CalibratedClassifierCV(GaussianNB(), method="temperature", cv=3)
    own.fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(model.predict_proba(X), own.predict_proba(X))


@pytest.mark.skipif(sklearn_version >= (1, 8), reason="there it can be had")
def test_temperature_scaling_is_refused_before_scikit_learn_has_it():
    with pytest.raises(ValueError, match=r"needs scikit-learn 1\.8 or newer"):
        fitted(calibration="temperature")


# --- what is refused, and when -------------------------------------------------------


class NeverFitted(KnownModel):
    """Whoever is fitted was not checked in time."""

    def fit(self, X, y):
        pytest.fail("parameters must be checked before anything is fitted")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "g3"}, ValueError, "`metric` 'g3' is not known"),
        ({"metric": FBeta}, TypeError, "`metric` must be a metric, not its class"),
        (
            {"metric": from_counts(lambda tp, fp, fn, tn: fp - tp, name="upside down")},
            bestcut.SolverMismatchError,
            "upside down",
        ),
        (
            {"scope": "online"},
            ValueError,
            "`scope` 'online' is not known. Known: batch, fixed.",
        ),
        ({"goal": "mean"}, TypeError, "`goal` must be one of `bestcut.goals`"),
        ({"goal": Quantile}, TypeError, "`goal` must be a goal, not its class"),
        ({"at_least": 0.9}, TypeError, "`at_least` must map metrics"),
        ({"at_least": {"g3": 0.9}}, ValueError, "`metric` 'g3' is not known"),
        ({"min_positives": -1}, ValueError, "`min_positives` must not be negative"),
        ({"min_positives": 1.5}, TypeError, "`min_positives` must be a whole number"),
        ({"max_positives": "1"}, TypeError, "`max_positives` must be a whole number"),
        (
            {"min_positives": 2, "max_positives": 1},
            ValueError,
            "got max_positives=1 < min_positives=2",
        ),
        (
            {"scope": "fixed", "calibration": "sigmoid", "cv": [([0, 1], [2, 3])]},
            ValueError,
            "`cv` must be a number of folds or a splitter when scope='fixed' is",
        ),
        ({"calibration": "platt"}, ValueError, "Got 'platt' instead"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_fitted(
    options, error, message
):
    model = plain(NeverFitted(), **options)
    with pytest.raises(error, match=re.escape(message)):
        model.fit(X, Y)


def test_a_model_without_probabilities_is_refused_by_fit():
    message = (
        "ExpectedMetricClassifier needs a model with predict_proba; RidgeClassifier "
        'has none. Pass calibration="sigmoid"'
    )
    for scope in ("batch", "fixed"):
        with pytest.raises(AttributeError, match=message):
            fitted(inner=RidgeClassifier(), scope=scope)
    model = plain(RidgeClassifier())
    assert not hasattr(model, "predict_proba")
    assert hasattr(clone(model).set_params(calibration="sigmoid"), "predict_proba")
    fitted(inner=RidgeClassifier(), calibration="sigmoid").predict(X[TEST])


def test_another_scope_after_fit_needs_another_fit():
    model = fitted().set_params(scope="fixed")
    with pytest.raises(sklearn.exceptions.NotFittedError, match="not fitted yet"):
        model.predict(X[TEST])
    model = fitted(scope="fixed").set_params(scope="batch")  # there is all it needs
    np.testing.assert_array_equal(model.predict(X[TEST]), fitted().predict(X[TEST]))
