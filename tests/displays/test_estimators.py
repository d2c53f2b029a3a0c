"""Displays of fitted classifiers show what their probabilities and predictions say."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import bestcut
from bestcut import multiclass
from bestcut.displays import (
    CalibrationCheckDisplay,
    CalibrationMapDisplay,
    ClassConfusionDisplay,
    ClassScoresDisplay,
    DecisionDisplay,
    ExpectedScoreDisplay,
    ScoreDistributionDisplay,
)
from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier

X, Y = make_classification(n_samples=300, weights=[0.8], random_state=0)
Y = np.array(["no", "yes"])[Y]
NEW, TRUE = X[200:], Y[200:]
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:200], Y[:200])
P = MODEL.predict_proba(NEW)
OF_TWO = [ExpectedScoreDisplay, DecisionDisplay, ScoreDistributionDisplay]


def own(**options):
    options = {"n_draws": 20, "pos_label": "yes", "scope": "batch", **options}
    return ExpectedMetricClassifier(LogisticRegression(), **options).fit(
        X[:200], Y[:200]
    )


@pytest.mark.parametrize("pos_label", [None, "yes", "no"])
def test_the_curve_and_the_cut_are_those_of_the_probabilities(pos_label):
    column = 0 if pos_label == "no" else 1
    wanted = bestcut.decide(P[:, column], "mcc")
    cut = DecisionDisplay.from_estimator(MODEL, NEW, "mcc", pos_label=pos_label)
    assert cut.decision.labels.tolist() == wanted.labels.tolist()
    curve = ExpectedScoreDisplay.from_estimator(
        MODEL, NEW, "mcc", pos_label=pos_label, band=0.9
    )
    (found,) = curve.decisions.values()
    np.testing.assert_array_equal(
        found.curve.expected_score, wanted.curve.expected_score
    )
    assert len(curve.bands_) == 1


@pytest.mark.parametrize("pos_label", [None, "no"])
def test_the_distribution_is_that_of_the_predictions(pos_label):
    display = ScoreDistributionDisplay.from_estimator(MODEL, NEW, pos_label=pos_label)
    column, label = (1, "yes") if pos_label is None else (0, "no")
    predicted = MODEL.predict(NEW) == label
    wanted = bestcut.score_distribution(P[:, column], predicted, "f1")
    assert display.score.mean == wanted.mean


def test_a_classifier_that_decides_brings_its_decision():
    careful = own(metric="recall", at_least={"precision": 0.5})
    display = DecisionDisplay.from_estimator(careful, NEW)
    assert repr(display.decision) == repr(careful.decide(NEW))
    assert display.decision.conditions
    score = ScoreDistributionDisplay.from_estimator(careful, NEW).score
    assert score.mean == pytest.approx(careful.distribution(NEW).mean, rel=1e-12)
    assert score.std_calibration > 0.0


def test_another_metric_keeps_the_doubt_about_the_calibration():
    model = own(metric="recall")
    display = ExpectedScoreDisplay.from_estimator(model, NEW, "f1")
    (decision,) = display.decisions.values()
    assert decision.metric.name == "f1"
    assert decision._draws is not None


@pytest.mark.parametrize("label", ["yes", "no"])
def test_the_positive_class_of_a_classifier_is_its_own(label):
    model = own(pos_label=label, calibration=None)
    display = DecisionDisplay.from_estimator(model, NEW)
    assert np.array_equal(display.decision.labels, model.predict(NEW) == label)
    other = "no" if label == "yes" else "yes"
    p = model.predict_proba(NEW)[:, model.classes_.tolist().index(other)]
    turned = DecisionDisplay.from_estimator(model, NEW, pos_label=other).decision
    np.testing.assert_array_equal(turned.labels, bestcut.decide(p, "f1").labels)


def test_a_fixed_threshold_is_judged_by_what_it_predicts():
    model = own(scope="fixed")
    labels = model.predict(NEW) == "yes"
    score = ScoreDistributionDisplay.from_estimator(model, NEW).score
    draws = model.decide(NEW)._ranking._p
    assert score.mean == bestcut.score_distribution(draws, labels).mean


def test_a_tuned_threshold_brings_its_metric():
    tuned = PluginThresholdClassifier(
        LogisticRegression(), metric="mcc", pos_label="yes"
    )
    tuned.fit(X[:200], Y[:200])
    display = ScoreDistributionDisplay.from_estimator(tuned, NEW)
    assert display.score.metric.name == "mcc"


def test_labels_are_checked_against_the_probabilities():
    display = CalibrationCheckDisplay.from_estimator(MODEL, NEW, TRUE)
    wanted = bestcut.check_calibration(TRUE == "yes", P[:, 1])
    assert display.check.p_value == wanted.p_value
    turned = CalibrationCheckDisplay.from_estimator(MODEL, NEW, TRUE, pos_label="no")
    wanted = bestcut.check_calibration(TRUE == "no", P[:, 0])
    assert turned.check.p_value == wanted.p_value


def test_the_maps_of_a_classifier():
    model = own()
    display = CalibrationMapDisplay.from_estimator(model)
    assert display.calibration is model.calibration_
    with pytest.raises(ValueError, match=r"Pipeline has none\. Fit an `ExpectedMetric"):
        CalibrationMapDisplay.from_estimator(MODEL)


def test_classes_of_a_classifier():
    names = np.array(["cat", "dog", "owl"])
    X3, y3 = make_classification(
        n_samples=200, n_informative=4, n_classes=3, random_state=1
    )
    model = LogisticRegression().fit(X3, names[y3])
    p, labels = model.predict_proba(X3), model.predict(X3)
    scores = ClassScoresDisplay.from_estimator(model, X3, "jaccard")
    wanted = multiclass.expected_score(p, labels, "jaccard", classes=names)
    assert scores.mean == pytest.approx(wanted, rel=1e-12)
    assert scores.classes.tolist() == names.tolist()
    shares = ClassConfusionDisplay.from_estimator(model, X3, normalize="all")
    assert shares.confusion.sum() == pytest.approx(200.0, rel=1e-12)
    for display in OF_TWO:
        with pytest.raises(ValueError, match=r"it has \['cat', 'dog', 'owl'\]\. For m"):
            display.from_estimator(model, X3)
    several = ExpectedMetricClassifier(LogisticRegression(), n_draws=5)
    several.fit(X3, names[y3])
    assert ClassScoresDisplay.from_estimator(several, X3).metric.name == "f1"
    with pytest.raises(ValueError, match="has one for each class"):
        CalibrationMapDisplay.from_estimator(several)


@pytest.mark.parametrize("display", [*OF_TWO, ClassScoresDisplay])
@pytest.mark.parametrize(
    ("model", "error", "sentence"),
    [
        (LogisticRegression(), ValueError, "LogisticRegression has no `classes_`. Fit"),
        (LinearRegression().fit(X, X[:, 0]), ValueError, "be a fitted classifier; Lin"),
        (LinearSVC().fit(X, Y), AttributeError, "LinearSVC has no predict_proba"),
    ],
    ids=["unfitted", "regressor", "scores only"],
)
def test_what_cannot_be_drawn_is_refused(display, model, error, sentence):
    with pytest.raises(error, match=sentence):
        display.from_estimator(model, NEW)


def test_a_class_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="`pos_label` must be one of the classes"):
        DecisionDisplay.from_estimator(MODEL, NEW, pos_label="maybe")


def test_a_constant_classifier_can_be_drawn():
    model = DummyClassifier(strategy="prior").fit(X, Y)
    for display in OF_TWO:
        assert display.from_estimator(model, NEW).ax_.has_data()
