"""calibration="posterior" with one model, calibrated by out-of-fold scores.

What the models of the folds do together is in `test_ensemble.py`.
"""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import bestcut
from bestcut.estimators import ExpectedMetricClassifier
from bestcut.goals import ProbAtLeast, Quantile
from estimators.known import (
    KnownModel,
    X,
    Y,
    one_model as posterior,
    one_model_fixed as posterior_fixed,
)

TRAIN, TEST = slice(0, 160), slice(160, None)
SURE = bestcut.goals.Certain(0.6, probability=0.9)


def fitted(inner=None, metric="f1", **options):
    inner = GaussianNB() if inner is None else inner
    return posterior(inner, metric, **options).fit(X[TRAIN], Y[TRAIN])


def calibrated(inner, method="predict_proba", cv=3, positive=1):
    """Return the calibration by hand, and the scores of the model of all rows."""
    out = cross_val_predict(inner, X[TRAIN], Y[TRAIN], cv=cv, method=method)
    new = getattr(clone(inner).fit(X[TRAIN], Y[TRAIN]), method)(X[TEST])
    if method == "predict_proba":
        out, new = out[:, positive], new[:, positive]
    elif positive == 0:
        out, new = -out, -new
    truth = Y[TRAIN] == positive
    return bestcut.calibrate(truth, out, n_draws=10), out, new


# --- what calibrates what ------------------------------------------------------------


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize(
    ("inner", "method"),
    [(GaussianNB(), "predict_proba"), (LinearSVC(), "decision_function")],
    ids=["probabilities", "scores"],
)
def test_out_of_fold_scores_calibrate_the_model_of_all_rows(inner, method, positive):
    model = fitted(inner, "jaccard", pos_label=positive)
    calibration, _, new = calibrated(inner, method, positive=positive)
    assert model.calibration_.to_bytes() == calibration.to_bytes()
    p = calibration(new)
    expected, decision = bestcut.decide(p, "jaccard"), model.decide(X[TEST])
    np.testing.assert_array_equal(decision.labels, expected.labels)
    assert decision.expected_score == expected.expected_score
    np.testing.assert_array_equal(
        model.predict(X[TEST]), np.where(expected.labels, positive, 1 - positive)
    )
    np.testing.assert_array_equal(model.predict_proba(X[TEST])[:, positive], p.mean)
    assert decision.distribution().interval() == expected.distribution().interval()


@pytest.mark.parametrize(
    "cv",
    [
        StratifiedKFold(4, shuffle=True, random_state=0),
        list(KFold(3).split(X[TRAIN])),
        PredefinedSplit(np.where(np.arange(160) < 60, -1, 0)),
    ],
    ids=["splitter", "splits", "part of the rows"],
)
def test_folds_in_any_form(cv):
    model = fitted(cv=cv)
    split = cv.split(X[TRAIN], Y[TRAIN]) if hasattr(cv, "split") else cv
    scores, truth = [], []
    for a, b in split:
        scores.append(GaussianNB().fit(X[a], Y[a]).predict_proba(X[b])[:, 1])
        truth.append(Y[b])
    own = bestcut.calibrate(np.concatenate(truth), np.concatenate(scores), n_draws=10)
    assert model.calibration_.to_bytes() == own.to_bytes()


def test_a_row_that_is_tested_twice_is_refused():
    message = "`cv` must test every row at most once .* row 0 is tested 2 times"
    with pytest.raises(ValueError, match=message):
        fitted(cv=RepeatedKFold(n_splits=3, n_repeats=2))


@pytest.mark.parametrize("scope", ["batch", "fixed"])
def test_a_fitted_model_is_calibrated_by_all_rows_in_either_form(scope):
    # A tree scores a row alike whichever rows are beside it. A product of matrices,
    # which a linear model is, may round another way for all rows than for a fold.
    inner = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X[TRAIN], Y[TRAIN])
    before = inner.tree_
    prefit = posterior(inner, cv="prefit", scope=scope).fit(X[TEST], Y[TEST])
    frozen = posterior(FrozenEstimator(inner), scope=scope).fit(X[TEST], Y[TEST])
    scores = inner.predict_proba(X[TEST])[:, 1]
    own = bestcut.calibrate(Y[TEST], scores, n_draws=10)
    for model in (prefit, frozen):
        assert model.calibration_.to_bytes() == own.to_bytes()
    np.testing.assert_array_equal(prefit.predict(X), frozen.predict(X))
    assert prefit.estimator_ is inner
    assert inner.tree_ is before  # not fitted again


def test_prefit_is_refused_where_nothing_is_fitted_for_these_classes():
    with pytest.raises(NotFittedError, match="this LogisticRegression is not fitted"):
        posterior(LogisticRegression(), cv="prefit").fit(X, Y)
    inner = LogisticRegression().fit(X, np.where(Y, "a", "b"))
    with pytest.raises(ValueError, match=r"needs a model of the classes \[0, 1\]"):
        posterior(inner, cv="prefit").fit(X, Y)


def test_a_model_without_scores_is_refused():
    class Mute(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

    message = (
        "ExpectedMetricClassifier needs a model with predict_proba or "
        "decision_function; Mute has none. Without scores there is nothing to calibrate"
    )
    with pytest.raises(AttributeError, match=message):
        posterior(Mute()).fit(X, Y)
    assert not hasattr(posterior(Mute()), "predict_proba")


# --- draws ---------------------------------------------------------------------------


def test_draws_and_their_seed_are_passed_on():
    out = calibrated(GaussianNB())[1]
    for options in ({"n_draws": 7}, {"random_state": 3}, {"n_draws": 5}):
        model = fitted(**options)
        own = bestcut.calibrate(Y[TRAIN], out, **{"n_draws": 10, **options})
        assert model.calibration_.to_bytes() == own.to_bytes()
    assert ExpectedMetricClassifier(GaussianNB()).n_draws == 200


@pytest.mark.parametrize("source", [np.random.RandomState, np.random.default_rng])
def test_a_random_state_is_a_seed_that_moves_on(source):
    state = source(0)
    first, second = (fitted(random_state=state).calibration_ for _ in range(2))
    again = fitted(random_state=source(0)).calibration_
    assert first.to_bytes() == again.to_bytes() != second.to_bytes()
    fitted(random_state=None)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_draws": 0}, ValueError, "`n_draws` must be at least 1"),
        ({"n_draws": 2.5}, TypeError, "`n_draws` must be a whole number"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"random_state": "x"}, ValueError, "'x' cannot be used to seed"),
        ({"at_least": {"recall": "much"}}, TypeError, "at_least['recall']"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_fitted(
    options, error, message
):
    class NeverFitted(KnownModel):
        def fit(self, X, y):
            pytest.fail("parameters must be checked before anything is fitted")

    with pytest.raises(error, match=re.escape(message)):
        fitted(NeverFitted(), **options)


# --- decisions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"goal": Quantile(0.1)},
        {"goal": ProbAtLeast(0.8)},
        {"at_least": {"precision": 0.9}},
        {"at_least": {"precision": SURE}},
        {"min_positives": 60},
        {"max_positives": 7, "at_least": {"precision": SURE}},
    ],
    ids=str,
)
def test_every_option_of_decide_is_passed_on(options):
    model = fitted(**options)
    calibration, _, new = calibrated(GaussianNB())
    expected = bestcut.decide(calibration(new), "f1", **options)
    np.testing.assert_array_equal(model.predict(X[TEST]), expected.labels.astype(int))
    assert model.decide(X[TEST]).goal_value == expected.goal_value


def test_the_distribution_includes_the_doubt():
    # The same model and the same batch: fewer labels, more doubt.
    p = np.random.default_rng(0).random((4000, 1))
    y = (np.random.default_rng(1).random(4000) < p[:, 0]).astype(int)
    model = posterior(KnownModel(), n_draws=100)
    few, many = (clone(model).fit(p[:n], y[:n]).decide(p[:300]) for n in (60, 4000))
    known = bestcut.decide(p[:300, 0])
    assert few.distribution().std > 1.3 * known.distribution().std
    # Four thousand labels leave a standard error of about 0.01 at each score.
    assert many.distribution().std < 1.2 * known.distribution().std


def test_what_is_not_calibrated_becomes_so():
    # Overconfident probabilities: p against 1/2 + (p - 1/2) / 3.
    rng = np.random.default_rng(0)
    p = rng.random((3000, 1))
    truth = 0.5 + (p[:, 0] - 0.5) / 3
    y = rng.random(3000) < truth
    model = posterior(KnownModel(), n_draws=50).fit(p, y)

    def error(found):
        return np.sqrt(np.mean((found - truth) ** 2))

    # What the same labels say without a map: the share of each tenth of p. Its standard
    # error is 0.03; these labels are unlucky.
    tenth = (10 * p[:, 0]).astype(int)
    shares = np.bincount(tenth, y) / np.bincount(tenth)
    assert error(model.predict_proba(p)[:, 1]) < error(shares[tenth]) < 0.05
    assert error(p[:, 0]) > 0.15


def test_probabilities_are_those_of_the_classes():
    for label, column in ((0, 0), (1, 1), (None, 1)):
        model = fitted(pos_label=label)
        p = model.predict_proba(X[TEST])
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-15)
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X[TEST])), p)
        decision = model.decide(X[TEST])
        np.testing.assert_array_equal(
            p[:, column] >= decision.threshold, decision.labels
        )
    svc = fitted(LinearSVC())
    assert svc.predict_proba(X[TEST]).shape == (80, 2)
    assert hasattr(posterior(RidgeClassifier()), "predict_log_proba")
    assert hasattr(posterior(KnownModel()), "predict_log_proba")
    plain = ExpectedMetricClassifier(KnownModel(), calibration=None)
    assert hasattr(plain, "predict_proba")
    assert not hasattr(plain, "predict_log_proba")


# --- one threshold -------------------------------------------------------------------


INNERS = {
    "smooth": GaussianNB(),
    "tied": DecisionTreeClassifier(max_depth=2, random_state=0),
    "scores": LinearSVC(),
}


def models_and_metrics():
    """Yield each model with each metric; each of both is fast once."""
    for i, (name, inner) in enumerate(INNERS.items()):
        for j, metric in enumerate(("f1", "mcc", "squared_count_error")):
            marks = () if i == j else pytest.mark.slow
            yield pytest.param(inner, metric, marks=marks, id=f"{name}-{metric}")


@pytest.mark.parametrize(("inner", "metric"), list(models_and_metrics()))
def test_the_threshold_is_the_best_on_calibrated_out_of_fold_scores(inner, metric):
    method = "predict_proba" if hasattr(inner, "predict_proba") else "decision_function"
    calibration, out, new = calibrated(inner, method)
    p = calibration(out)
    chosen = bestcut.metrics.get(metric)
    scores = [
        bestcut.expected_score(p, p.mean >= t, metric)
        for t in (*np.unique(p.mean), np.inf)
    ]
    model = fitted(inner, metric, scope="fixed")
    own = bestcut.expected_score(p, p.mean >= model.threshold_, metric)
    best = max(scores) if chosen.greater_is_better else min(scores)
    assert own == pytest.approx(best, rel=1e-9)
    np.testing.assert_array_equal(
        model.predict(X[TEST]), calibration(new).mean >= model.threshold_
    )


@pytest.mark.parametrize("inner", [GaussianNB(), LinearSVC()], ids=str)
def test_with_a_fixed_scope_one_row_is_decided_as_in_a_batch(inner):
    model = fitted(inner, scope="fixed", at_least={"precision": SURE})
    rows = np.concatenate([X[TEST], 5 * X[TEST]])  # many beyond the labelled scores
    alone = np.concatenate([model.predict(row[None]) for row in rows])
    np.testing.assert_array_equal(model.predict(rows), alone)
    assert set(alone) == {0, 1}


def test_the_threshold_cuts_a_share_and_no_tie():
    p, y = np.repeat([0.9, 0.6, 0.1], 20)[:, None], np.tile([0, 1], 30)
    half = {"recall": 0.4, "specificity": 0.4}
    with pytest.raises(bestcut.InfeasibleError, match="rows have the probability"):
        posterior_fixed(KnownModel(), at_least=half).fit(p[20:40], y[20:40])


# --- scores beyond those that calibrated ---------------------------------------------


def test_many_scores_beyond_are_told_by_decide_alone():
    model = fitted(LinearSVC())
    far = 5 * X[TEST]
    with pytest.warns(UserWarning, match=r"of 80 rows \(\d+\.\d%\) have scores beyond"):
        decision = model.decide(far)
    labels = model.predict(far)  # silent: a warning is an error in these tests
    np.testing.assert_array_equal(labels, decision.labels)
    p = model.predict_proba(far)[:, 1]
    at_knots = np.array(model.calibration_.to_dict()["values"])
    ends = at_knots.mean(axis=0)[[0, -1]]
    np.testing.assert_allclose([p.min(), p.max()], ends, rtol=1e-14)


def test_a_few_scores_beyond_are_normal():
    model = fitted(LinearSVC())
    scores = model.decision_function(X[TEST])
    low, high = model.calibration_.score_range
    inside = X[TEST][(scores >= low) & (scores <= high)]
    one = np.concatenate([inside, 5 * X[TEST][[np.argmax(scores)]]])
    assert model.decision_function(one)[-1] > high
    assert model.decide(one).labels[-1]


# --- weights -------------------------------------------------------------------------


def test_weights_are_for_the_model_and_every_row_calibrates_as_one():
    weight = np.where(Y[TRAIN], 5.0, 1.0)
    model = posterior(GaussianNB()).fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
    out = np.empty(160)
    for a, b in StratifiedKFold(3).split(X[TRAIN], Y[TRAIN]):
        inner = GaussianNB().fit(X[a], Y[a], weight[a])
        out[b] = inner.predict_proba(X[b])[:, 1]
    own = bestcut.calibrate(Y[TRAIN], out, n_draws=10)
    assert model.calibration_.to_bytes() == own.to_bytes()
    # Calibrated, the weights that favour a class favour it no more.
    assert model.predict_proba(X[TRAIN])[:, 1].mean() < 1.2 * Y[TRAIN].mean()


@pytest.mark.parametrize("wrap", [np.array, list, pd.Series])
def test_a_row_of_weight_0_does_not_calibrate(wrap):
    weight = np.where(np.arange(160) % 4, 1.0, 0.0)
    model = posterior(GaussianNB()).fit(X[TRAIN], Y[TRAIN], sample_weight=wrap(weight))
    assert model.calibration_.n_labelled == 120
    assert model.calibration_.n_positive == Y[TRAIN][weight > 0].sum()


def test_weights_that_nothing_would_heed_are_refused():
    inner = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    for model in (posterior(inner, cv="prefit"), posterior(FrozenEstimator(inner))):
        with pytest.raises(ValueError, match="`sample_weight` would be ignored"):
            model.fit(X[TEST], Y[TEST], sample_weight=np.ones(80))


# --- fits and parameters that do not belong together ---------------------------------


def test_another_calibration_after_fit_needs_another_fit():
    plain = ExpectedMetricClassifier(GaussianNB(), calibration=None).fit(X, Y)
    with pytest.raises(NotFittedError):
        plain.set_params(calibration="posterior").predict(X)
    model = posterior_fixed(GaussianNB()).fit(X, Y)
    model.set_params(calibration=None, scope="batch").fit(X, Y)
    assert not hasattr(model, "calibration_")
    assert not hasattr(model, "threshold_")
