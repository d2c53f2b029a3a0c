"""Folds that cannot be fitted or found: the error names them, and says what to do."""

import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bestcut.estimators import ExpectedMetricClassifier
from estimators.known import (
    FEW as X,
    FEW_Y as Y,
    FLOWER_NAMES as NAMES,
    FLOWERS,
    KINDS,
    batch,
    fixed,
    folds,
    posterior,
)

ONE_POSITIVE = np.arange(Y.size) == 7
GROUPS = np.arange(Y.size) % 7
by_folds = pytest.mark.parametrize("make", [posterior, fixed, folds])


@by_folds
@pytest.mark.parametrize("inner", [LogisticRegression(), DecisionTreeClassifier()])
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_class_that_occurs_once_is_missing_from_a_training_fold(make, inner):
    """By itself the first model would refuse, and the second learn one class."""
    message = (
        r"must find every class in the training rows of every fold; those of fold \d "
        r"of 3 have none of class True, of which `y` has 1\. Label more rows of that "
        r"class, or pass a model that is already fitted, as sklearn\.frozen\.Frozen"
    )
    with pytest.raises(ValueError, match=message):
        make(inner).set_params(cv=3).fit(X, ONE_POSITIVE)


@by_folds
def test_folds_that_are_not_stratified_can_miss_a_class(make):
    order = np.argsort(Y, kind="stable")
    message = (
        "those of fold 2 of 2 have none of class 1, of which `y` has "
        f"{np.count_nonzero(Y)}. Pass a number of folds as `cv`, which are then "
        "stratified."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        make(GaussianNB()).set_params(cv=KFold(2)).fit(X[order], Y[order])


def test_a_class_of_several_that_misses_in_a_fold_is_named():
    order = np.argsort(KINDS, kind="stable")
    message = "those of fold 1 of 3 have none of class 'setosa', of which `y` has 50."
    with pytest.raises(ValueError, match=re.escape(message)):
        posterior(GaussianNB(), cv=KFold(3)).fit(FLOWERS[order], NAMES[KINDS[order]])


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_a_fitted_model_needs_no_class_in_any_fold():
    frozen = FrozenEstimator(GaussianNB().fit(X, Y == 1))
    model = posterior(frozen, cv=3).fit(X, ONE_POSITIVE)
    assert model.calibration_.n_positive == 1


def test_other_errors_of_a_model_are_its_own():
    X_nan = np.where(ONE_POSITIVE[:, None], np.nan, X)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        posterior(GaussianNB(), cv=3).fit(X_nan, Y)


@pytest.mark.parametrize(
    "make",
    [posterior, fixed, folds, lambda inner: batch(inner, calibration="sigmoid")],
    ids=["posterior", "fixed", "folds", "sigmoid"],
)
@pytest.mark.parametrize("given", [{}, {"groups": GROUPS}], ids=["none", "unrouted"])
def test_a_splitter_without_its_groups_says_how_they_reach_it(make, given):
    message = (
        "`cv` needs groups, but none reach GroupKFold. Call sklearn.set_config("
        "enable_metadata_routing=True) first, and then `fit(X, y, groups=groups)`."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        make(GaussianNB()).set_params(cv=GroupKFold(3)).fit(X, Y, **given)


@by_folds
def test_the_advice_about_groups_works(make):
    with config_context(enable_metadata_routing=True):
        model = make(GaussianNB()).set_params(cv=GroupKFold(3))
        model.fit(X, Y, groups=GROUPS).predict(X)


def test_a_splitter_that_is_not_used_needs_no_groups():
    batch(GaussianNB(), cv=GroupKFold(3)).fit(X, Y)


@pytest.mark.parametrize("calibration", [None, "sigmoid", "isotonic"])
def test_prefit_without_draws_names_what_works(calibration):
    inner = GaussianNB().fit(X, Y)
    message = (
        "`cv` may be 'prefit' only with calibration='posterior'; got "
        f"calibration={calibration!r}. Leave `cv` out, and pass the fitted model as "
        "sklearn.frozen.FrozenEstimator(model)."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        ExpectedMetricClassifier(inner, calibration=calibration, cv="prefit").fit(X, Y)
    frozen = FrozenEstimator(inner)
    ExpectedMetricClassifier(frozen, calibration=calibration).fit(X, Y).predict(X)


@by_folds
def test_a_model_that_does_not_name_its_classes_is_refused(make):
    class Nameless(BaseEstimator):
        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    with pytest.raises(AttributeError, match="needs a model that has `classes_` once"):
        make(Nameless()).fit(X, Y)


def test_prefit_is_for_a_model_that_stays_fitted():
    """Cross-validation clones, so it needs a model that a clone leaves fitted."""
    model = ExpectedMetricClassifier(GaussianNB().fit(X, Y), cv="prefit")
    message = re.escape("pass the model as sklearn.frozen.FrozenEstimator(model)")
    with pytest.raises(NotFittedError, match=message):
        clone(model).fit(X, Y)
    frozen = ExpectedMetricClassifier(FrozenEstimator(GaussianNB().fit(X, Y)))
    clone(frozen).fit(X, Y).predict(X)
