"""ensemble=True: the models of the folds are kept, and their scores averaged."""

import copy
import pickle
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import bestcut
from bestcut.displays import CalibrationMapDisplay, DecisionDisplay
from estimators.known import FLOWERS, KINDS, X, Y, posterior

TRAIN, TEST = slice(0, 160), slice(160, None)
TREE = DecisionTreeClassifier(max_depth=4, random_state=0)  # says 0 and 1


def fitted(inner=None, **options):
    inner = GaussianNB() if inner is None else inner
    return posterior(inner, **options).fit(X[TRAIN], Y[TRAIN])


def log_odds(p, least, most):
    """Return log-odds, with 0 as `least` and 1 as `most` away from 1."""
    p = np.asarray(p, dtype=float)
    low, high = np.log(least / (1 - least)), np.log((1 - most) / most)
    with np.errstate(divide="ignore"):
        return np.clip(np.log(p / (1 - p)), low, high)


def scores_by_hand(inner, splits, positive=1):
    """Return the scores of the training rows and of the test rows, a row at a time."""
    models = [clone(inner).fit(X[TRAIN][a], Y[TRAIN][a]) for a, _ in splits]

    def probabilities(model, rows):
        return model.predict_proba(rows)[:, positive]

    seen = [
        probabilities(m, X[TRAIN][b]) for m, (_, b) in zip(models, splits, strict=True)
    ]
    every = np.concatenate(seen)
    n = np.unique(np.concatenate([b for _, b in splits])).size
    least = 0.5 * min([p for p in every if 0 < p < 1], default=1 / n)
    most = 0.5 * min([1 - p for p in every if 0 < p < 1], default=1 / n)
    own = {}
    for p, (_, b) in zip(seen, splits, strict=True):
        for row, value in zip(b, log_odds(p, least, most), strict=True):
            own.setdefault(row, []).append(value)
    rows = sorted(own)
    new = [log_odds(probabilities(m, X[TEST]), least, most) for m in models]
    return rows, np.array([np.mean(own[row]) for row in rows]), np.mean(new, axis=0)


# --- the score -----------------------------------------------------------------------

SPLITTERS = {
    "three folds": (3, StratifiedKFold(3)),
    "default": (None, RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)),
    "repeated": (RepeatedKFold(n_splits=3, n_repeats=2, random_state=1),) * 2,
    "overlapping": (ShuffleSplit(7, test_size=0.2, random_state=0),) * 2,
    "some rows": (PredefinedSplit(np.arange(160) % 4 - 1),) * 2,
}


@pytest.mark.parametrize("kind", SPLITTERS)
@pytest.mark.parametrize("inner", [GaussianNB(), TREE], ids=["smooth", "with 0 and 1"])
def test_scores_are_means_of_the_models_that_did_not_see_a_row(inner, kind):
    cv, splitter = SPLITTERS[kind]
    splits = list(splitter.split(X[TRAIN], Y[TRAIN]))
    model = fitted(inner, cv=cv)
    rows, own, new = scores_by_hand(inner, splits)
    np.testing.assert_allclose(model.decision_function(X[TEST]), new, rtol=1e-9)
    assert len(model.estimators_) == len(splits)
    assert model.calibration_.n_labelled == len(rows)
    assert model.calibration_.n_positive == Y[TRAIN][rows].sum()
    np.testing.assert_allclose(
        model.calibration_.score_range, (own.min(), own.max()), rtol=1e-9
    )
    # Stretched or not, the maps expect as many positives among the labelled rows.
    plain = bestcut.calibrate(Y[TRAIN][rows], own, n_draws=10)
    np.testing.assert_allclose(
        model.calibration_.probabilities(own).sum(axis=1),
        plain.probabilities(own).sum(axis=1),
        rtol=1e-6,
    )


def test_where_each_model_scores_each_row_nothing_is_stretched():
    # One fold: the labelled rows are scored by the model that scores the new ones.
    split = PredefinedSplit(np.where(np.arange(160) < 60, -1, 0))
    model = fitted(cv=split)
    rows, own, _ = scores_by_hand(GaussianNB(), list(split.split()))
    plain = bestcut.calibrate(Y[TRAIN][rows], own, n_draws=10)
    assert model.calibration_.n_labelled == 100
    np.testing.assert_allclose(
        model.calibration_.probabilities(own), plain.probabilities(own), rtol=1e-6
    )


@pytest.mark.parametrize(("repetitions", "steeper"), [(1, 1.1), (2, 1.05)])
def test_maps_are_steeper_by_what_more_models_gain(repetitions, steeper):
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=repetitions, random_state=0)
    model = fitted(cv=cv, n_draws=200)
    _, own, _ = scores_by_hand(GaussianNB(), list(cv.split(X[TRAIN], Y[TRAIN])))
    plain = bestcut.calibrate(Y[TRAIN], own, n_draws=200)
    factors = np.log(rise(model.calibration_) / rise(plain))
    assert np.exp(np.median(factors)) == pytest.approx(steeper, rel=0.01)
    assert np.std(factors) == pytest.approx(0.2, rel=0.05)


def rise(calibration):
    """Return how far each map rises from its first to its last knot, in log-odds."""
    values = np.array(calibration.to_dict()["values"])
    ends = np.log(values[:, [0, -1]]) - np.log1p(-values[:, [0, -1]])
    return ends[:, 1] - ends[:, 0]


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("inner", [LinearSVC(), RidgeClassifier()], ids=str)
def test_models_without_probabilities_are_averaged_by_their_decision_values(
    inner, positive
):
    model = fitted(inner, pos_label=positive)
    splits = StratifiedKFold(3).split(X[TRAIN], Y[TRAIN])
    new = [
        clone(inner).fit(X[TRAIN][a], Y[TRAIN][a]).decision_function(X[TEST])
        for a, _ in splits
    ]
    mean = np.mean(new, axis=0)
    np.testing.assert_allclose(model.decision_function(X[TEST]), mean, rtol=1e-12)
    p = model.predict_proba(X[TEST])[:, 1]
    order = np.argsort(mean)
    assert (np.diff(p[order]) >= 0).all()  # larger means more like the second class


class Sure(ClassifierMixin, BaseEstimator):
    """Says the same of every row."""

    def __init__(self, p):
        self.p = p

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.p, self.p], (len(X), 1))


@pytest.mark.parametrize("p", [0.0, 1.0, 5e-324, 1 - 2**-53, 0.3])
def test_models_that_say_the_same_of_every_row(p):
    model = fitted(Sure(p))
    expected = {0.0: 0.5 / 160, 1.0: 1 - 0.5 / 160}.get(p, p)
    score = model.decision_function(X[TEST])
    assert np.isfinite(score).all()
    if expected > 1e-300:
        odds = np.log(expected) - np.log1p(-expected)
        np.testing.assert_allclose(score, odds, rtol=1e-9)
    assert np.abs(model.predict_proba(X)[:, 1] - Y[TRAIN].mean()).max() < 0.15


def test_models_that_say_0_and_1_alone_keep_what_they_know():
    """Half the smallest probability above 0 would be 1/2, and so would 1 minus it."""
    inner = DecisionTreeClassifier(random_state=0)
    rows = np.linspace(0, 1, 200)[:, None]
    truth = (rows[:, 0] > 0.9).astype(int)
    model = posterior(inner, cv=5).fit(rows, truth)
    assert set(np.unique(inner.fit(rows, truth).predict_proba(rows))) == {0.0, 1.0}
    p = model.predict_proba(rows)[:, 1]
    assert p[truth == 1].min() > 3 * p[truth == 0].max()


@pytest.mark.parametrize("inner", [GaussianNB(), TREE, LinearSVC()], ids=str)
def test_a_row_is_decided_alone_as_among_others(inner):
    # Ten models: NumPy would sum ten numbers in another order than ten rows.
    model = fitted(inner, cv=None, scope="fixed")
    rows = np.concatenate([X[TEST], 5 * X[TEST]])
    alone = np.concatenate([model.predict(row[None]) for row in rows])
    np.testing.assert_array_equal(model.predict(rows), alone)
    p = model.predict_proba(rows)[:, 1]
    np.testing.assert_array_equal(p >= model.threshold_, alone)


def test_several_classes_have_a_score_each():
    model = posterior(GaussianNB()).fit(FLOWERS[:100], KINDS[:100])
    assert len(model.estimators_) == len(model.calibration_) == 3
    scores = model.decision_function(FLOWERS[100:])
    splits = StratifiedKFold(3).split(FLOWERS[:100], KINDS[:100])
    new = [
        GaussianNB().fit(FLOWERS[a], KINDS[a]).predict_proba(FLOWERS[100:])
        for a, _ in splits
    ]
    with np.errstate(divide="ignore"):
        each = np.array([np.log(p) - np.log1p(-p) for p in new])
    mean, inside = each.mean(axis=0), np.abs(each).max(axis=0) < 5  # far from the ends
    np.testing.assert_allclose(scores[inside], mean[inside], rtol=1e-9)
    p = model.predict_proba(FLOWERS[100:])
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    assert model.decide(FLOWERS[100:]).labels.size == 50


# --- the folds -----------------------------------------------------------------------


def test_the_default_is_five_folds_twice_by_the_random_state():
    splits = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=7)
    model = fitted(cv=None, random_state=7)
    same = fitted(cv=splits, random_state=7)
    assert len(model.estimators_) == 10
    assert model.calibration_.to_bytes() == same.calibration_.to_bytes()
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    other = fitted(cv=None, random_state=8)
    assert model.calibration_.score_range != other.calibration_.score_range


def test_one_model_has_five_folds_once_by_default():
    model = fitted(cv=None, ensemble=False)
    same = fitted(cv=StratifiedKFold(5), ensemble=False)
    assert len(model.estimators_) == 1
    assert model.calibration_.to_bytes() == same.calibration_.to_bytes()


# --- where there is one model --------------------------------------------------------


def test_models_that_are_fitted_already_are_not_averaged():
    inner = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    for one in (
        posterior(inner, cv="prefit"),
        posterior(FrozenEstimator(inner)),
        posterior(FrozenEstimator(inner), ensemble=False),
    ):
        model = one.fit(X[TEST], Y[TEST])
        assert len(model.estimators_) == 1
        assert model.estimator_ is model.estimators_[0]
        low, high = model.calibration_.score_range
        assert low >= 0
        assert high <= 1  # its own probabilities, not their log-odds
        message = "`ensemble` is True, but there is only one model with a model that is"
        with pytest.raises(ValueError, match=message):
            one.set_params(ensemble=True).fit(X[TEST], Y[TEST])


def test_without_calibration_there_is_one_model():
    for ensemble in ("auto", False):
        model = fitted(calibration=None, ensemble=ensemble)
        assert len(model.estimators_) == 1
    message = "`ensemble` is True, but there is only one model with calibration=None"
    with pytest.raises(ValueError, match=message):
        fitted(calibration=None, ensemble=True)


@pytest.mark.parametrize("ensemble", [True, False, "auto"])
def test_other_calibrations_have_scikit_learns_ensemble(ensemble):
    model = fitted(calibration="sigmoid", ensemble=ensemble)
    own = CalibratedClassifierCV(GaussianNB(), cv=3, ensemble=ensemble)
    own.fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(model.predict_proba(X), own.predict_proba(X))
    assert model.estimator_ is model.estimators_[0]


@pytest.mark.parametrize("ensemble", ["yes", None, 1])
def test_other_values_are_refused(ensemble):
    with pytest.raises((ValueError, TypeError), match="ensemble"):
        fitted(ensemble=ensemble)


def test_one_model_cannot_be_tested_twice():
    with pytest.raises(ValueError, match=r"at most once .* or ensemble=True"):
        fitted(cv=RepeatedKFold(n_splits=3, n_repeats=2), ensemble=False)


# --- what is fitted ------------------------------------------------------------------


def test_what_only_one_model_has_is_refused_with_the_way_to_it():
    model = fitted(scope="fixed")
    for name in ("estimator_", "score_threshold_"):
        message = re.escape(
            f"there is no `{name}`, because 3 models are averaged. Pass "
            "ensemble=False for one model of all rows."
        )
        with pytest.raises(AttributeError, match=message):
            getattr(model, name)


def test_everything_else_works_without_one_model():
    model = fitted(LogisticRegression(), cv=None, scope="fixed")
    for again in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.classes_.tolist() == [0, 1]
        assert again.n_features_in_ == 5
        assert not hasattr(again, "feature_names_in_")
        assert again.distribution(X[TEST]).std > 0
        np.testing.assert_array_equal(
            again.predict_log_proba(X), np.log(again.predict_proba(X))
        )
    assert clone(model).get_params()["ensemble"] == "auto"
    assert CalibrationMapDisplay.from_estimator(model).line_ is not None
    DecisionDisplay.from_estimator(model, X[TEST])
    # Not `_repr_html_`: scikit-learn reads its own files as ASCII where that is usual.
    assert "ExpectedMetricClassifier" in repr(model)
    stored = bestcut.Calibration.from_bytes(model.calibration_.to_bytes())
    scores = model.decision_function(X[TEST])
    np.testing.assert_array_equal(stored(scores).mean, model.calibration_(scores).mean)


def test_jobs_change_nothing():
    one, two = (fitted(cv=None, n_jobs=n) for n in (1, 2))
    assert one.calibration_.to_bytes() == two.calibration_.to_bytes()
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_another_fit_forgets_the_models_of_the_last():
    model = fitted(cv=None)
    model.set_params(ensemble=False).fit(X[TRAIN], Y[TRAIN])
    one = fitted(cv=None, ensemble=False)
    assert len(model.estimators_) == 1
    np.testing.assert_array_equal(model.predict_proba(X), one.predict_proba(X))
    model.set_params(calibration=None).fit(X[TRAIN], Y[TRAIN])
    inner = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(model.predict_proba(X), inner.predict_proba(X))


def test_weights_reach_each_model_and_rows_of_weight_0_do_not_calibrate():
    weight = np.where(np.arange(160) % 4, 1.0 + Y[TRAIN], 0.0)
    model = posterior(GaussianNB()).fit(X[TRAIN], Y[TRAIN], sample_weight=weight)
    splits = list(StratifiedKFold(3).split(X[TRAIN], Y[TRAIN]))
    for one, (a, _) in zip(model.estimators_, splits, strict=True):
        own = GaussianNB().fit(X[TRAIN][a], Y[TRAIN][a], weight[a])
        np.testing.assert_array_equal(one.predict_proba(X), own.predict_proba(X))
    assert model.calibration_.n_labelled == 120
    assert model.calibration_.n_positive == Y[TRAIN][weight > 0].sum()


def test_the_mean_of_models_ranks_better_than_one():
    """On a task where single trees are poor, and chance is far too small to hide it."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 5))
    truth = (rows.sum(axis=1) + rng.normal(size=3000) > 3).astype(int)
    inner = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    mean, one = (
        posterior(inner, cv=5, ensemble=ensemble).fit(rows[:250], truth[:250])
        for ensemble in (True, False)
    )
    ranks, of_one = (
        roc_auc_score(truth[250:], model.predict_proba(rows[250:])[:, 1])
        for model in (mean, one)
    )
    assert ranks > of_one + 0.03


def test_folds_may_differ_in_the_kind_of_splits():
    for cv in (KFold(4), list(KFold(4).split(X[TRAIN]))):
        assert len(fitted(cv=cv).estimators_) == 4
