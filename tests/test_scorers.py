"""Scorers say what predictions scored, and what to expect of them without labels."""

import pickle
import re

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import make_scorer as sklearn_make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bestcut
from bestcut import multiclass
from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier
from bestcut.metrics import FBeta, from_counts, get
from bestcut.scorers import make_expected_scorer, make_scorer
from estimators.known import FLOWER_NAMES, FLOWERS, KINDS, KnownModel, X, Y

TRAIN, TEST = slice(0, 160), slice(160, None)


@pytest.mark.parametrize("metric", ["f1", "mcc", "accuracy", FBeta(beta=2)])
def test_it_is_the_expected_score_of_the_predictions(metric):
    model = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    p, predicted = model.predict_proba(X[TEST])[:, 1], model.predict(X[TEST])
    expected = bestcut.expected_score(p, predicted, metric)
    assert make_expected_scorer(metric)(model, X[TEST]) == expected


def test_labels_are_not_looked_at():
    model = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    scorer = make_expected_scorer()
    score = scorer(model, X[TEST])
    assert scorer(model, X[TEST], None) == score
    assert scorer(model, X[TEST], 1 - Y[TEST]) == score
    assert scorer(model, X[TEST], "anything") == score


@pytest.mark.parametrize("metric", ["f1", "gmean", "squared_count_error"])
def test_no_predictions_expect_more_than_the_decision(metric):
    scorer = make_expected_scorer(metric)
    models = [
        ExpectedMetricClassifier(GaussianNB(), metric, calibration=None, scope="batch"),
        ExpectedMetricClassifier(GaussianNB(), metric, calibration=None),
        PluginThresholdClassifier(GaussianNB(), metric, cv=3),
        GaussianNB(),
    ]
    scores = [scorer(model.fit(X[TRAIN], Y[TRAIN]), X[TEST]) for model in models]
    decision = models[0].decide(X[TEST])
    sign = 1 if decision.metric.greater_is_better else -1
    assert scores[0] == pytest.approx(sign * decision.expected_score, rel=1e-12)
    assert max(scores) <= scores[0] + decision.error
    assert min(scores) < scores[0]


def test_a_loss_comes_with_a_minus():
    model = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    p, predicted = model.predict_proba(X[TEST])[:, 1], model.predict(X[TEST])
    loss = bestcut.expected_score(p, predicted, "squared_count_error")
    assert make_expected_scorer("squared_count_error")(model, X[TEST]) == -loss < 0
    own = from_counts(lambda tp, fp, fn, tn: fp + 2 * fn, greater_is_better=False)
    cost = bestcut.expected_score(p, predicted, own)
    assert make_expected_scorer(own)(model, X[TEST]) == -cost < 0


@pytest.mark.parametrize("label", ["ham", "spam"])
def test_the_positive_class_is_chosen(label):
    y = np.array(["ham", "spam"])[Y]
    model = GaussianNB().fit(X[TRAIN], y[TRAIN])
    column = 0 if label == "ham" else 1
    expected = bestcut.expected_score(
        model.predict_proba(X[TEST])[:, column],
        model.predict(X[TEST]) == model.classes_[column],
    )
    assert make_expected_scorer(pos_label=label)(model, X[TEST]) == expected
    with pytest.raises(ValueError, match="Pass pos_label='ham' or pos_label='spam'"):
        make_expected_scorer()(model, X[TEST])


def test_cross_validation():
    scorer = make_expected_scorer("jaccard")
    scores = cross_val_score(GaussianNB(), X, Y, scoring=scorer, cv=3)
    assert scores.shape == (3,)
    found = cross_validate(
        ExpectedMetricClassifier(
            GaussianNB(), "jaccard", calibration=None, scope="batch"
        ),
        X,
        Y,
        scoring={"expected": scorer, "realised": "jaccard"},
        cv=3,
        error_score="raise",
    )
    assert np.all(found["test_expected"] >= scores)
    assert np.all(np.abs(found["test_expected"] - found["test_realised"]) < 0.25)


def test_grid_search_takes_the_model_that_expects_most():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), GaussianNB()),
        {"gaussiannb__var_smoothing": [1e-9, 1.0, 100.0]},
        scoring=make_expected_scorer(),
        error_score="raise",
        cv=3,
    ).fit(X, Y)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_score_ == scores.max()
    assert scores[0] > scores[2]  # smoothed away, the features say nothing
    assert search.best_index_ == np.argmax(scores)
    assert search.score(X) == make_expected_scorer()(search, X)


def test_expected_and_realised_agree_on_average_if_probabilities_are_right():
    rng = np.random.default_rng(0)
    scorer, f1 = make_expected_scorer(), bestcut.metrics.get("f1")
    model = KnownModel().fit(None, [0, 1])
    gaps = []
    for _ in range(400):
        p = rng.beta(1, 2, size=(60, 1))
        y, z = rng.random(60) < p[:, 0], model.predict(p) == 1
        realised = f1(np.sum(y & z), z.sum(), y.sum(), 60)
        gaps.append(realised - scorer(model, p))
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / np.sqrt(400)


# --- several classes -----------------------------------------------------------------

OLD, NEW = slice(0, 90), slice(90, None)  # of the flowers


def flowers(model=None, names=FLOWER_NAMES):
    """Return a model of three kinds of flowers."""
    model = GaussianNB() if model is None else model
    return model.fit(FLOWERS[OLD], names[KINDS[OLD]])


@pytest.mark.parametrize("names", [FLOWER_NAMES, np.array([5, 1, 7])], ids=str)
@pytest.mark.parametrize("metric", ["f1", "mcc", "accuracy", FBeta(beta=2)])
def test_of_several_classes_it_is_the_expected_mean_over_them(metric, names):
    model = flowers(names=names)
    p, predicted = model.predict_proba(FLOWERS[NEW]), model.predict(FLOWERS[NEW])
    scorer = make_expected_scorer(metric, average="macro")
    each = [
        bestcut.expected_score(p[:, j], predicted == label, metric)
        for j, label in enumerate(model.classes_)
    ]
    found = scorer(model, FLOWERS[NEW])
    assert found == pytest.approx(np.mean(each), rel=1e-14)
    assert found == multiclass.expected_score(
        p, predicted, metric, classes=model.classes_
    )
    assert scorer(model, FLOWERS[NEW], "anything") == found


@pytest.mark.parametrize("metric", ["f1", "gmean", "squared_count_error"])
def test_no_classes_expect_more_than_the_decision_and_its_gap(metric):
    scorer = make_expected_scorer(metric, average="macro")
    best = flowers(
        ExpectedMetricClassifier(GaussianNB(), metric, calibration=None, scope="batch")
    )
    decision, sign = best.decide(FLOWERS[NEW]), get(metric).sign
    own, usual = (scorer(model, FLOWERS[NEW]) for model in (best, flowers()))
    assert own == pytest.approx(sign * decision.expected_score, rel=1e-12)
    assert usual <= own + decision.error + decision.gap
    assert (own < 0) == (metric == "squared_count_error")  # a loss, with a minus


def test_of_two_classes_the_mean_is_that_of_both():
    model = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    both = [make_expected_scorer(pos_label=label)(model, X[TEST]) for label in (0, 1)]
    mean = make_expected_scorer(average="macro")(model, X[TEST])
    assert mean == pytest.approx(np.mean(both), rel=1e-14)
    assert mean != both[1]


def test_of_several_classes_expected_and_realised_scores_are_near():
    found = cross_validate(
        GaussianNB(),
        FLOWERS,
        FLOWER_NAMES[KINDS],
        scoring={
            "expected": make_expected_scorer("f1", average="macro"),
            "realised": "f1_macro",
        },
        cv=3,
        error_score="raise",
    )
    assert np.all(np.abs(found["test_expected"] - found["test_realised"]) < 0.25)


@pytest.mark.parametrize("average", ["micro", "weighted", 3])
def test_other_averages_are_refused_at_once(average):
    message = f"`average` {average!r} is not known"
    with pytest.raises(ValueError, match=message):
        make_expected_scorer(average=average)


def test_a_mean_over_classes_has_no_positive_class():
    message = (
        "`pos_label` must be None with average='macro', which scores each class "
        "against "
        "the rest; got 'spam'. Leave one of the two out."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        make_expected_scorer(average="macro", pos_label="spam")


# --- what scorers are, and what they refuse ------------------------------------------


def test_pickling_and_repr():
    scorer = make_expected_scorer("mcc", pos_label="spam")
    model = GaussianNB().fit(X, np.where(Y, "spam", "ham"))
    assert pickle.loads(pickle.dumps(scorer))(model, X) == scorer(model, X)
    assert repr(scorer) == "make_expected_scorer('mcc', pos_label='spam')"
    assert repr(make_expected_scorer()) == "make_expected_scorer('f1')"
    macro = make_expected_scorer(average="macro")
    assert repr(macro) == "make_expected_scorer('f1', average='macro')"
    model = flowers()
    assert pickle.loads(pickle.dumps(macro))(model, FLOWERS) == macro(model, FLOWERS)


def test_wrong_metrics_are_refused_at_once():
    with pytest.raises(ValueError, match="`metric` 'g3' is not known"):
        make_expected_scorer("g3")
    with pytest.raises(TypeError, match="`metric` must be a name or a bestcut metric"):
        make_expected_scorer(lambda y, z: 0)


@pytest.mark.parametrize(
    ("model", "y", "options", "error", "message"),
    [
        (
            RidgeClassifier(),
            Y,
            {},
            AttributeError,
            "an expected score needs probabilities; RidgeClassifier has no "
            "predict_proba. Calibrate it",
        ),
        (
            GaussianNB(),
            np.arange(Y.size) % 3,
            {},
            ValueError,
            "an expected score needs two classes; got [0, 1, 2]. Pass average='macro' "
            "for the mean over classes.",
        ),
        (
            GaussianNB(),
            Y,
            {"pos_label": "spam"},
            ValueError,
            "`pos_label` must be one of the classes [0, 1]; got 'spam'.",
        ),
    ],
    ids=["no probabilities", "three classes", "unknown class"],
)
def test_wrong_models_are_refused(model, y, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make_expected_scorer(**options)(model.fit(X, y), X)


# --- with labels ---------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["f1", "mcc", "squared_count_error", FBeta(beta=2)])
def test_a_scorer_of_labels_is_the_realised_score(metric):
    model = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    chosen = get(metric)
    own = chosen.realised(Y[TEST], model.predict(X[TEST]))
    scorer = make_scorer(metric)
    assert scorer(model, X[TEST], Y[TEST]) == chosen.sign * own
    assert pickle.loads(pickle.dumps(scorer))(model, X[TEST], Y[TEST]) == (
        chosen.sign * own
    )
    assert chosen.name in repr(scorer)


def test_it_is_what_scikit_learn_measures():
    found = cross_validate(
        GaussianNB(),
        FLOWERS,
        FLOWER_NAMES[KINDS],
        scoring={"ours": make_scorer(average="macro"), "theirs": "f1_macro"},
        cv=3,
        error_score="raise",
    )
    np.testing.assert_allclose(found["test_ours"], found["test_theirs"], rtol=1e-12)


def test_the_positive_class_of_labels_is_told():
    y = np.array(["ham", "spam"])[Y]
    model = GaussianNB().fit(X[TRAIN], y[TRAIN])
    for label in ("ham", "spam"):
        own = get("f1").realised(y[TEST] == label, model.predict(X[TEST]) == label)
        assert make_scorer(pos_label=label)(model, X[TEST], y[TEST]) == own
    with pytest.raises(ValueError, match="Pass pos_label='ham' or pos_label='spam'"):
        make_scorer()(model, X[TEST], y[TEST])
    signs = GaussianNB().fit(X[TRAIN], 2 * Y[TRAIN] - 1)
    negatives = TEST.start + np.flatnonzero(Y[TEST] == 0)[:5]
    make_scorer("accuracy")(signs, X[negatives], 2 * Y[negatives] - 1)  # one class


def test_amounts_come_through_metadata_routing():
    amounts = np.random.default_rng(0).uniform(1, 100, Y.size)
    scorer = make_scorer(bestcut.RowUtility(fp=-5.0))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = scorer.set_score_request(tp=True)
        scores = cross_val_score(
            GaussianNB(), X, Y, scoring=routed, params={"tp": amounts}, cv=KFold(3)
        )
        plain = make_scorer("f1").set_score_request(tp=True)
        model = GaussianNB().fit(X, Y)
        with pytest.raises(TypeError, match="`tp` would be ignored: f1 counts rows"):
            plain(model, X, Y, tp=amounts)
    for (train, test), score in zip(KFold(3).split(X), scores, strict=True):
        labels = GaussianNB().fit(X[train], Y[train]).predict(X[test])
        worth = bestcut.RowUtility(tp=amounts[test], fp=-5.0)
        assert score == pytest.approx(worth.realised(Y[test], labels), rel=1e-12)


def test_a_first_guess_is_answered_with_the_scorer():
    message = re.escape("pass `bestcut.scorers.make_scorer(metric)`")
    model = GaussianNB().fit(X, Y)
    with pytest.raises(TypeError, match=message):
        get("f1")(model, X, Y)  # as scoring=bestcut.metrics.get("f1") does
    with pytest.raises(TypeError, match=message):
        sklearn_make_scorer(get("f1"))(model, X, Y)
    for guess in (get("f1"), sklearn_make_scorer(get("f1"))):
        with pytest.warns(UserWarning, match=message):
            cross_val_score(model, X, Y, scoring=guess, cv=2)
    search = GridSearchCV(
        model, {"var_smoothing": [1e-9]}, scoring=make_scorer("f1"), cv=2
    ).fit(X, Y)
    assert search.best_score_ > 0.5


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "g3"}, ValueError, "`metric` 'g3' is not known"),
        ({"average": "micro"}, ValueError, "`average` 'micro' is not known"),
        (
            {"average": "macro", "pos_label": 1},
            ValueError,
            "`pos_label` must be None with average='macro'",
        ),
        (
            {"metric": bestcut.RowUtility(), "average": "macro"},
            ValueError,
            "a RowUtility has no average='macro'",
        ),
    ],
)
def test_what_no_scorer_takes_is_refused_at_once(options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make_scorer(**options)
