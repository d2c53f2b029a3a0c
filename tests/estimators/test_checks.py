"""Every way to decide passes scikit-learn's own checks, but for those declared here."""

import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier

INNER = LogisticRegression()


class OfTwoClasses(ExpectedMetricClassifier):
    """Declares that it takes two classes, so that the checks give it no more."""

    _takes_many_classes = False


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
# These data have ten rows, in which scikit-learn's calibration must be cross-validated
# inside the folds of the threshold.
FOLDS_IN_FOLDS = {"check_fit2d_1feature": "folds inside folds of ten rows"}

# What is declared must fail (xfail is strict), and nothing else may.
ESTIMATORS = [
    (ExpectedMetricClassifier(INNER, cv=3, n_draws=10), NOT_AT_HALF),
    (OfTwoClasses(INNER, cv=3, n_draws=10), NOT_AT_HALF),
    (ExpectedMetricClassifier(INNER, calibration=None), FEW_ROWS),
    # Accuracy is best at 1/2, row by row: nothing to except.
    (ExpectedMetricClassifier(INNER, "accuracy", calibration=None), FEW_ROWS),
    (
        ExpectedMetricClassifier(LinearSVC(), calibration="sigmoid", cv=2),
        NOT_AT_HALF | FOLDS_IN_FOLDS,
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
    (OfTwoClasses(LinearSVC(), cv=3, n_draws=10), NOT_AT_HALF),
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
    return next(why for known, why in every if str(known) == str(estimator))


@parametrize_with_checks(
    [estimator for estimator, _ in FAST], expected_failed_checks=declared
)
def test_an_estimator_passes_each_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [case[0] for case in [*ESTIMATORS, *VARIANTS] if case not in FAST],
    expected_failed_checks=declared,
)
def test_any_estimator_passes_each_check_of_scikit_learn(estimator, check):
    check(estimator)
