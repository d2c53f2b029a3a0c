"""Every way to decide passes scikit-learn's own checks, but for those declared here."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier
from groups import one_in

INNER = LogisticRegression()


class OfTwoClasses(ExpectedMetricClassifier):
    """Declares that it takes two classes, so that the checks give it no more."""

    _takes_many_classes = False


# These checks fit two classes that do not tell which is positive, 1 and 2 or two names.
# They are run again below, with the positive class given.
UNTOLD = dict.fromkeys(
    [
        "check_classifier_data_not_an_array",
        "check_classifiers_classes",
        "check_estimators_dtypes",
        "check_fit2d_1feature",
    ],
    "which of 1 and 2, or of two names, is positive must be said",
)
# Whoever asks for decisions for a batch contradicts a check. The three classes of that
# check are told apart so well that the batch makes no difference there.
BATCH = {
    "check_methods_subset_invariance": "the best label depends on the rest of a batch"
}
# This check wants predict() to cut at 1/2. scikit-learn excepts its own
# FixedThresholdClassifier and TunedThresholdClassifierCV from it with these words.
NOT_AT_HALF = {"check_classifiers_train": "Threshold at probability 0.5 does not hold"}
# scikit-learn 1.6 makes data for this check in which a class has four members.
FEW_ROWS = (
    {"check_n_features_in_after_fitting": "five folds of a class of four members"}
    if sklearn.__version__.startswith("1.6.")
    else {}
)

# What is declared must fail (xfail is strict), and nothing else may.
ESTIMATORS = [
    (ExpectedMetricClassifier(INNER, cv=3, n_draws=10), NOT_AT_HALF),
    (OfTwoClasses(INNER, cv=3, n_draws=10), NOT_AT_HALF),
    (ExpectedMetricClassifier(INNER, calibration=None), FEW_ROWS),
    # Accuracy is best at 1/2, row by row: nothing to except.
    (ExpectedMetricClassifier(INNER, "accuracy", calibration=None), FEW_ROWS),
    (
        ExpectedMetricClassifier(LinearSVC(), calibration="sigmoid", cv=2),
        NOT_AT_HALF,
    ),
    (
        ExpectedMetricClassifier(INNER, calibration=None, scope="batch"),
        NOT_AT_HALF,
    ),
    (
        OfTwoClasses(INNER, calibration=None, scope="batch"),
        BATCH | NOT_AT_HALF,
    ),
    (PluginThresholdClassifier(INNER), NOT_AT_HALF | FEW_ROWS),
    (PluginThresholdClassifier(INNER, "jaccard", cv=3), {}),
    (PluginThresholdClassifier(INNER, cv="holdout", random_state=0), NOT_AT_HALF),
]
FAST = [ESTIMATORS[0], ESTIMATORS[-1]]  # one of each class
# These differ from one of the above in a single way, or have what several of them have.
VARIANTS = [
    (
        ExpectedMetricClassifier(INNER, scope="batch", cv=3, n_draws=10),
        NOT_AT_HALF,
    ),
    (OfTwoClasses(INNER, scope="batch", cv=3, n_draws=10), BATCH | NOT_AT_HALF),
    (ExpectedMetricClassifier(LinearSVC(), cv=3, n_draws=10), NOT_AT_HALF),
    (OfTwoClasses(LinearSVC(), cv=3, n_draws=10), {}),
    (
        ExpectedMetricClassifier(INNER, cv=3, n_draws=10, ensemble=False),
        NOT_AT_HALF,
    ),
    (
        ExpectedMetricClassifier(INNER, "accuracy", calibration=None, scope="batch"),
        {},
    ),
    (OfTwoClasses(INNER, "accuracy", calibration=None, scope="batch"), {}),
    # Row by row, but then two classes have the F1 of one of them.
    (
        ExpectedMetricClassifier(
            INNER, average="micro", calibration=None, scope="batch"
        ),
        NOT_AT_HALF,
    ),
    (OfTwoClasses(INNER, calibration=None), FEW_ROWS),
    (
        OfTwoClasses(LinearSVC(), calibration="sigmoid", cv=2, scope="batch"),
        BATCH | NOT_AT_HALF,
    ),
]


def declared(estimator):
    every = [*ESTIMATORS, *VARIANTS]
    own = next(why for known, why in every if str(known) == str(estimator))
    return own | UNTOLD


@parametrize_with_checks(
    [estimator for estimator, _ in FAST], expected_failed_checks=declared
)
def test_an_estimator_passes_each_check_of_scikit_learn(estimator, check):
    check(estimator)


def told(estimator):
    """Return the estimator, in a class that says that the second class is positive."""

    class Told(type(estimator)):
        def fit(self, X, y):
            classes = np.unique(np.asarray(y))
            self.pos_label = classes[1] if len(classes) == 2 else None
            return super().fit(X, y)

    return Told(**estimator.get_params(deep=False))


@one_in(2, "estimator, check", {str(one): one for one, _ in ESTIMATORS}, list(UNTOLD))
def test_a_check_passes_once_the_positive_class_is_given(estimator, check):
    if check == "check_fit2d_1feature" and estimator.get_params()["cv"] == 2:
        pytest.skip("ten rows are too few to calibrate inside the folds")
    getattr(estimator_checks, check)("Told", told(estimator))


@pytest.mark.slow
@parametrize_with_checks(
    [case[0] for case in [*ESTIMATORS, *VARIANTS] if case not in FAST],
    expected_failed_checks=declared,
)
def test_any_estimator_passes_each_check_of_scikit_learn(estimator, check):
    check(estimator)
