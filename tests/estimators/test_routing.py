"""scikit-learn's metadata routing: weights and groups go where they are requested."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import bestcut
from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier
from bestcut.scorers import make_expected_scorer
from estimators.known import FEW as X, FEW_Y as Y

WEIGHT = np.where(np.arange(Y.size) % 4, 0.5, 3.0)
GROUPS = np.arange(Y.size) * 7 % 9


@pytest.fixture(autouse=True)
def _routing():
    with config_context(enable_metadata_routing=True):
        yield


def asking(**requests):
    return GaussianNB().set_fit_request(**(requests or {"sample_weight": True}))


def weighted(rows=slice(None)):
    return GaussianNB().fit(X[rows], Y[rows], WEIGHT[rows])


WAYS = {
    "batch": lambda inner, **kw: ExpectedMetricClassifier(
        inner, calibration=None, **kw
    ),
    "fixed": lambda inner, **kw: WAYS["batch"](inner, scope="fixed", **kw),
    "posterior": lambda inner, **kw: ExpectedMetricClassifier(
        inner, **{"calibration": "posterior", "cv": 3, "n_draws": 10, **kw}
    ),
    "posterior fixed": lambda inner, **kw: WAYS["posterior"](
        inner, scope="fixed", **kw
    ),
    "holdout": lambda inner, **kw: PluginThresholdClassifier(
        inner, **{"cv": "holdout", "random_state": 0, **kw}
    ),
    "folds": lambda inner, **kw: PluginThresholdClassifier(inner, **{"cv": 3, **kw}),
}
each_way = pytest.mark.parametrize(
    "make",
    [
        pytest.param(
            make, id=name, marks=pytest.mark.slow if name == "posterior fixed" else ()
        )
        for name, make in WAYS.items()
    ],
)
with_splitter = pytest.mark.parametrize(
    "make",
    [WAYS["fixed"], WAYS["posterior fixed"], WAYS["folds"]],
    ids=["fixed", "posterior", "folds"],
)


def without_routing(make, inner, **params):
    with config_context(enable_metadata_routing=False):
        return make(inner).fit(X, Y, **params)


@each_way
def test_requested_weights_reach_the_inner_model(make):
    model = make(asking()).fit(X, Y, sample_weight=WEIGHT)
    same = without_routing(make, GaussianNB(), sample_weight=WEIGHT)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    for name in ("threshold_", "best_score_"):
        assert getattr(model, name, None) == getattr(same, name, None)
    plain = make(asking()).fit(X, Y)
    assert not np.array_equal(model.predict_proba(X), plain.predict_proba(X))


@each_way
def test_weights_under_another_name(make):
    model = make(asking(sample_weight="importance")).fit(X, Y, importance=WEIGHT)
    same = without_routing(make, GaussianNB(), sample_weight=WEIGHT)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    assert getattr(model, "best_score_", 0) == getattr(same, "best_score_", 0)


@each_way
def test_weights_that_nobody_asked_for_are_refused(make):
    with pytest.raises(UnsetMetadataPassedError, match=r"\[sample_weight\] are passed"):
        make(GaussianNB()).fit(X, Y, sample_weight=WEIGHT)


@each_way
def test_weights_inside_an_inner_pipeline(make):
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    inner = make_pipeline(scaler, asking())
    model = make(inner).fit(X, Y, sample_weight=WEIGHT)
    same = without_routing(make, GaussianNB(), sample_weight=WEIGHT)
    # Scaling changes nothing for this model, but for rounding and smoothing.
    np.testing.assert_allclose(
        model.predict_proba(X), same.predict_proba(X), rtol=1e-6, atol=1e-9
    )
    both = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), asking())
    make(both).fit(X, Y, sample_weight=WEIGHT).predict(X)


@each_way
def test_weights_through_an_outer_pipeline(make):
    outer = make_pipeline(MinMaxScaler(), make(asking()))
    outer.fit(X, Y, sample_weight=WEIGHT)
    scaled = MinMaxScaler().fit_transform(X)
    direct = make(asking()).fit(scaled, Y, sample_weight=WEIGHT)
    np.testing.assert_array_equal(outer.predict(X), direct.predict(scaled))
    np.testing.assert_array_equal(outer.predict_proba(X), direct.predict_proba(scaled))


@pytest.mark.parametrize("scope", ["batch", "fixed"])
@pytest.mark.parametrize("inner_weighted", [True, False])
def test_weights_with_calibration(scope, inner_weighted):
    inner = asking(sample_weight=inner_weighted)
    model = ExpectedMetricClassifier(inner, calibration="sigmoid", cv=3, scope=scope)
    model.fit(X, Y, sample_weight=WEIGHT)
    own = CalibratedClassifierCV(inner, cv=3).set_fit_request(sample_weight=True)
    own.fit(X, Y, sample_weight=WEIGHT)
    np.testing.assert_array_equal(model.predict_proba(X), own.predict_proba(X))
    plain = CalibratedClassifierCV(inner, cv=3).fit(X, Y)
    assert not np.array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("scope", ["batch", "fixed"])
def test_without_weights_calibration_asks_for_nothing(scope):
    model = ExpectedMetricClassifier(
        GaussianNB(), calibration="sigmoid", cv=3, scope=scope
    ).fit(X, Y)
    own = CalibratedClassifierCV(GaussianNB(), cv=3).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), own.predict_proba(X))


@with_splitter
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["no weights", "weights"])
def test_groups_reach_the_splitter(make, weight):
    params = {} if weight is None else {"sample_weight": weight}
    model = make(asking(), cv=GroupKFold(3)).fit(X, Y, groups=GROUPS, **params)
    splits = list(GroupKFold(3).split(X, Y, GROUPS))
    same = make(asking(), cv=splits).fit(X, Y, **params)
    assert model.threshold_ == same.threshold_
    other = make(asking(), cv=3).fit(X, Y, **params)
    # A threshold of 1/2 may be that of either; an ensemble has other models, too.
    has_other_models = not np.array_equal(
        model.predict_proba(X), other.predict_proba(X)
    )
    assert has_other_models or model.threshold_ != other.threshold_


@with_splitter
def test_a_splitter_without_its_groups_is_refused(make):
    with pytest.raises(ValueError, match="needs groups, but none reach GroupKFold"):
        make(asking(), cv=GroupKFold(3)).fit(X, Y, sample_weight=WEIGHT)
    with (
        config_context(enable_metadata_routing=False),
        pytest.raises(ValueError, match="enable_metadata_routing=True"),
    ):
        make(GaussianNB(), cv=GroupKFold(3)).fit(X, Y)


def test_a_fitted_model_has_no_use_for_what_is_routed():
    model = WAYS["posterior"](asking().fit(X, Y), cv="prefit")
    model.fit(X, Y).predict(X)
    with pytest.raises(ValueError, match="`sample_weight` would be ignored"):
        model.fit(X, Y, sample_weight=WEIGHT)


@with_splitter
def test_groups_for_a_splitter_that_takes_none_are_refused(make):
    with pytest.raises(TypeError, match=r"got unexpected argument.*groups"):
        make(asking(), cv=StratifiedKFold(3)).fit(X, Y, groups=GROUPS)


@pytest.mark.parametrize("scope", ["batch", "fixed"])
def test_groups_reach_the_splitter_of_the_calibration(scope):
    options = {"calibration": "isotonic", "scope": scope, "cv": GroupKFold(3)}
    model = ExpectedMetricClassifier(asking(), **options)
    model.fit(X, Y, groups=GROUPS, sample_weight=WEIGHT)
    own = CalibratedClassifierCV(asking(), method="isotonic", cv=GroupKFold(3))
    own.set_fit_request(sample_weight=True)
    own.fit(X, Y, groups=GROUPS, sample_weight=WEIGHT)
    np.testing.assert_array_equal(model.predict_proba(X), own.predict_proba(X))
    if scope == "fixed":  # folds within folds, all by groups
        p = np.empty(Y.size)
        for a, b in GroupKFold(3).split(X, Y, GROUPS):
            own.fit(X[a], Y[a], groups=GROUPS[a], sample_weight=WEIGHT[a])
            p[b] = own.predict_proba(X[b])[:, 1]
        decision = bestcut.decide(p)
        own_score = bestcut.expected_score(p, p >= model.threshold_)
        assert own_score == pytest.approx(decision.expected_score, rel=1e-9)


@each_way
def test_search_and_cross_validation_pass_metadata_on(make):
    scorer = make_expected_scorer()
    search = GridSearchCV(
        make(asking()), {"metric": ["f1", "mcc"]}, scoring=scorer, cv=GroupKFold(2)
    ).fit(X, Y, sample_weight=WEIGHT, groups=GROUPS)
    direct = make(asking()).set_params(**search.best_params_)
    direct.fit(X, Y, sample_weight=WEIGHT)
    np.testing.assert_array_equal(search.predict(X), direct.predict(X))
    found = cross_validate(
        make(asking()),
        X,
        Y,
        scoring=scorer,
        cv=GroupKFold(2),
        params={"sample_weight": WEIGHT, "groups": GROUPS},
        error_score="raise",
    )
    a, b = next(GroupKFold(2).split(X, Y, GROUPS))
    part = make(asking()).fit(X[a], Y[a], sample_weight=WEIGHT[a])
    assert found["test_score"][0] == scorer(part, X[b])


@each_way
def test_what_is_routed_can_be_asked(make):
    router = make(
        asking(), **({} if make is WAYS["holdout"] else {"cv": GroupKFold(3)})
    )
    text = str(router.get_metadata_routing())
    assert "sample_weight" in text
    assert ("groups" in text) == (make is not WAYS["holdout"])
