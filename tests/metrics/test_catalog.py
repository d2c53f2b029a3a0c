"""The catalogue: every metric by its definition, its name and its arguments."""

import dataclasses
import pickle
import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

import bestcut
from bestcut import metrics
from groups import slow
from oracles import EPS, assert_near
from oracles.definitions import DEFINITIONS, LOSSES
from oracles.enumeration import confusion_matrices, lattice

NAMES = metrics.names()
# The classes of the catalogue that have a say in what 0/0 is.
WITH_ZERO_DIVISION = sorted(
    {type(m) for m in map(metrics.get, NAMES) if hasattr(m, "zero_division")},
    key=lambda kind: kind.__name__,
)


def with_zero_division(name, value):
    metric = metrics.get(name)
    if name == "squared_count_error":  # never undefined but without instances
        return metric
    return dataclasses.replace(metric, zero_division=value)


def tolerance(n):
    # Numerators and denominators are whole and exact, or two rates, each within eps/2.
    # At most eight operations follow, on numbers of at most 1, so 4 eps in all; only
    # the root of qmean_sqrt enlarges an error, that of 1 - rate, which is 1/n or more.
    return (4 + n) * EPS


def counts_of(tp, fp, fn, tn):
    return tp, tp + fp, tp + fn, tp + fp + fn + tn


# --- against the definitions ---------------------------------------------------------


def test_every_name_of_the_catalogue_has_a_definition():
    assert set(NAMES) == set(DEFINITIONS)


def test_only_the_count_error_has_no_say_in_what_zero_over_zero_is():
    kinds = {type(metrics.get(name)) for name in NAMES}
    assert kinds - set(WITH_ZERO_DIVISION) == {metrics.SquaredCountError}


@pytest.mark.parametrize("zero_division", [0, 1, 0.25])
@pytest.mark.parametrize("name", NAMES)
def test_a_metric_equals_its_definition_on_the_whole_lattice(name, zero_division):
    metric = with_zero_division(name, zero_division)
    undefined = Fraction(zero_division)
    for n in range(9):
        cells = list(confusion_matrices(n))
        tp, fp, fn, tn = np.array(cells, dtype=float).T
        exact = [DEFINITIONS[name](*c, undefined) for c in cells]
        assert_near(metric(*counts_of(tp, fp, fn, tn)), exact, atol=tolerance(n))


def test_balanced_accuracy_can_drop_the_missing_class_on_the_whole_lattice():
    metric = metrics.BalancedAccuracy(zero_division="drop")
    for n in range(9):
        cells = list(confusion_matrices(n))
        tp, fp, fn, tn = np.array(cells, dtype=float).T
        exact = [DEFINITIONS["balanced_accuracy"](*c, "drop") for c in cells]
        assert_near(metric(*counts_of(tp, fp, fn, tn)), exact, atol=tolerance(n))


@pytest.mark.parametrize("beta", [Fraction(1, 3), Fraction(7, 2), 3, 1e-3, 1e3])
def test_f_beta_equals_its_definition_for_any_beta(beta):
    b2 = Fraction(beta) ** 2
    metric = metrics.FBeta(beta=beta)
    for tp, fp, fn, tn in confusion_matrices(6):
        if tp + fp + fn:
            exact = (1 + b2) * tp / ((1 + b2) * tp + b2 * fn + fp)
            value = metric(*counts_of(tp, fp, fn, tn))
            assert_near(value, exact, atol=tolerance(6))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("zero_division", [0.0, 1.0])
def test_no_metric_warns_anywhere_on_the_lattice(name, zero_division):
    metric = with_zero_division(name, zero_division)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for n in range(5):
            tp, fp, fn, tn = np.array(list(confusion_matrices(n)), dtype=float).T
            assert np.isfinite(metric(*counts_of(tp, fp, fn, tn))).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_prediction_scores_1_or_as_a_loss_0(name):
    metric = metrics.get(name)
    tp, tn = np.arange(1.0, 50), 50.0
    score = metric(tp, tp, tp, tp + tn)
    perfect = 0.0 if name in LOSSES else 1.0
    assert_near(score, [Fraction(perfect)] * tp.size, atol=2 * EPS)


@pytest.mark.parametrize("name", NAMES)
def test_no_prediction_is_better_than_a_perfect_one(name):
    metric = metrics.get(name)
    tp, fp, fn, tn = lattice(8)
    both = (tp + fn > 0) & (fp + tn > 0)  # else there is nothing to tell apart
    tp, k, positives, n = (x[both] for x in counts_of(tp, fp, fn, tn))
    perfect = metric.utility(positives, positives, positives, n)
    assert np.all(metric.utility(tp, k, positives, n) <= perfect + tolerance(8))
    # And every label wrong is worse, but to a loss that counts, if counts agree.
    wrong = metric.utility(0 * tp, n - positives, positives, n)
    ties = (2 * positives == n) & (name in LOSSES)
    assert np.all((wrong < perfect) | ties)


def test_only_the_count_error_is_a_loss():
    assert {n for n in NAMES if not metrics.get(n).greater_is_better} == set(LOSSES)
    loss = metrics.SquaredCountError()
    assert loss.utility(3.0, 4.0, 9.0, 10.0) == -loss(3, 4, 9, 10) == -0.25


def test_a_large_case_is_not_lost_to_cancellation():
    # 10^6 instances, one more hit than by chance: MCC = 4e-6, exactly.
    n = 1_000_000
    assert_near(
        metrics.MCC()(n // 4 + 1, n // 2, n // 2, n), Fraction(4, n), rtol=4 * EPS
    )


# --- against the formulas in the docstrings ------------------------------------------

KINDS = sorted({type(metrics.get(name)) for name in NAMES}, key=lambda x: x.__name__)


@pytest.mark.parametrize("kind", KINDS)
def test_a_metric_equals_the_formula_in_its_docstring(kind):
    # Where all cells have instances: what 0/0 is, the parameter zero_division says.
    text = " ".join(kind.__doc__.split())
    formula = re.search(r"[Ii]n counts it is ``(.+?)``", text)[1]
    cells = np.array([x for x in confusion_matrices(9) if min(x) > 0], dtype=float).T
    apart = kind().psi(*cells) - metrics.from_expression(formula).psi(*cells)
    assert np.max(np.abs(apart)) <= 2 * tolerance(9)  # both round


# --- against scikit-learn ------------------------------------------------------------

EDGE_LABELS = {
    "all zero": ([0, 0, 0], [0, 0, 0]),
    "all one": ([1, 1, 1], [1, 1, 1]),
    "all wrong, positive": ([0, 0, 0], [1, 1, 1]),
    "all wrong, negative": ([1, 1, 1], [0, 0, 0]),
    "nothing predicted": ([0, 1, 1, 0], [0, 0, 0, 0]),
    "everything predicted": ([0, 1, 1, 0], [1, 1, 1, 1]),
    "no positives": ([0, 0, 0, 0], [0, 1, 0, 1]),
    "no negatives": ([1, 1, 1, 1], [0, 1, 0, 0]),
    "perfect": ([0, 1, 0, 1, 1], [0, 1, 0, 1, 1]),
    "perfectly wrong": ([0, 1, 0, 1, 1], [1, 0, 1, 0, 0]),
    "one instance, right": ([1], [1]),
    "one instance, wrong": ([0], [1]),
}


def labels():
    rng = np.random.default_rng(0)
    cases = [(np.array(t), np.array(p)) for t, p in EDGE_LABELS.values()]
    for n in (2, 3, 5, 10, 31, 100):
        for _ in range(12):
            share = rng.random(2)
            cases.append(tuple((rng.random((2, n)) < share[:, None]).astype(int)))
    return cases


LABELS = labels()
# Sums and quotients of whole numbers on both sides: a few roundings each.
SKLEARN = {"rtol": 0, "atol": 16 * float(EPS)}


def counts(y_true, y_pred):
    return (
        int((y_true & y_pred).sum()),
        int(y_pred.sum()),
        int(y_true.sum()),
        len(y_true),
    )


def classes(*arrays):
    return set(np.concatenate(arrays).tolist())


def sklearn_warns_of(y_true, y_pred):
    # One label in all, or a prediction that never occurs: said, not silenced.
    if len(classes(y_true, y_pred)) == 1:
        return pytest.warns(UserWarning, match="[Aa] single label|only one label")
    return pytest.warns(UserWarning, match="y_pred contains classes not in y_true")


@pytest.mark.parametrize("zero_division", [0.0, 1.0])
@pytest.mark.parametrize(
    ("metric", "function", "kwargs"),
    [
        (metrics.FBeta, "f1_score", {}),
        slow(lambda z: metrics.FBeta(2.0, z), "fbeta_score", {"beta": 2.0}),
        (lambda z: metrics.FBeta(0.5, z), "fbeta_score", {"beta": 0.5}),
        (metrics.Jaccard, "jaccard_score", {}),
        (metrics.Precision, "precision_score", {}),
        (metrics.Recall, "recall_score", {}),
        (metrics.Specificity, "recall_score", {"pos_label": 0}),
    ],
    ids=["f1", "f2", "f0.5", "jaccard", "precision", "recall", "specificity"],
)
def test_it_equals_the_scikit_learn_score_with_zero_division(
    metric, function, kwargs, zero_division
):
    metric = (
        metric(zero_division=zero_division)
        if isinstance(metric, type)
        else metric(zero_division)
    )
    theirs = getattr(sklearn_metrics, function)
    for y_true, y_pred in LABELS:
        expected = theirs(y_true, y_pred, zero_division=zero_division, **kwargs)
        np.testing.assert_allclose(metric(*counts(y_true, y_pred)), expected, **SKLEARN)


def test_accuracy_equals_accuracy_score():
    for y_true, y_pred in LABELS:
        expected = sklearn_metrics.accuracy_score(y_true, y_pred)
        score = metrics.Accuracy()(*counts(y_true, y_pred))
        np.testing.assert_allclose(score, expected, **SKLEARN)


def test_balanced_accuracy_that_drops_equals_balanced_accuracy_score():
    metric = metrics.BalancedAccuracy(zero_division="drop")
    for y_true, y_pred in LABELS:
        if classes(y_pred) <= classes(y_true) and len(classes(y_true)) == 2:
            expected = sklearn_metrics.balanced_accuracy_score(y_true, y_pred)
        else:
            with sklearn_warns_of(y_true, y_pred):
                expected = sklearn_metrics.balanced_accuracy_score(y_true, y_pred)
        score = metric(*counts(y_true, y_pred))
        np.testing.assert_allclose(score, expected, **SKLEARN)


def test_informedness_equals_the_adjusted_balanced_accuracy_score():
    compared = 0
    for y_true, y_pred in LABELS:
        if len(classes(y_true)) == 2:
            expected = sklearn_metrics.balanced_accuracy_score(
                y_true, y_pred, adjusted=True
            )
            score = metrics.Informedness()(*counts(y_true, y_pred))
            np.testing.assert_allclose(score, expected, **SKLEARN)
            compared += 1
    assert compared > 50


def test_mcc_equals_matthews_corrcoef():
    for y_true, y_pred in LABELS:
        if len(classes(y_true, y_pred)) == 2:
            expected = sklearn_metrics.matthews_corrcoef(y_true, y_pred)
        else:
            with sklearn_warns_of(y_true, y_pred):
                expected = sklearn_metrics.matthews_corrcoef(y_true, y_pred)
        score = metrics.MCC()(*counts(y_true, y_pred))
        np.testing.assert_allclose(score, expected, **SKLEARN)


def test_kappa_equals_cohen_kappa_score_where_that_is_defined():
    undefined = 0
    for y_true, y_pred in LABELS:
        score = metrics.CohenKappa(zero_division=0.5)(*counts(y_true, y_pred))
        if len(classes(y_true, y_pred)) == 2:
            expected = sklearn_metrics.cohen_kappa_score(y_true, y_pred)
            np.testing.assert_allclose(score, expected, **SKLEARN)
        else:
            # Old versions divide by 0; new ones say what is missing.
            with pytest.warns((UserWarning, RuntimeWarning)) as caught:
                expected = sklearn_metrics.cohen_kappa_score(y_true, y_pred)
            assert re.search("only one label|invalid value", str(caught[-1].message))
            assert np.isnan(expected)
            assert score == 0.5
            undefined += 1
    assert undefined


# --- as objects ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_is_frozen_hashable_and_comparable(name):
    metric = metrics.get(name)
    twin = dataclasses.replace(metric)
    assert twin == metric
    assert twin is not metric
    assert hash(twin) == hash(metric)
    assert metric in {twin}
    assert repr(metric).startswith(type(metric).__name__ + "(")
    attribute = "zero_division" if hasattr(metric, "zero_division") else "anything"
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(metric, attribute, 1.0)


def test_metrics_that_differ_are_not_equal():
    distinct = {metrics.get(name) for name in NAMES} | {
        metrics.FBeta(3),
        metrics.Jaccard(zero_division=1.0),
        metrics.BalancedAccuracy("drop"),
    }
    assert len(distinct) == len(NAMES) + 3
    assert metrics.Jaccard() != metrics.Precision()
    assert metrics.FBeta(2) == metrics.FBeta(2.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_survives_pickling(name):
    metric = with_zero_division(name, 1.0)
    again = pickle.loads(pickle.dumps(metric))
    assert again == metric
    assert again(0, 0, 0, 3) == metric(0, 0, 0, 3)


def test_names_are_sorted_and_get_finds_each():
    assert sorted(NAMES) == NAMES
    assert len(set(NAMES)) == len(NAMES)
    for name in NAMES:
        metric = metrics.get(name)
        assert isinstance(metric, metrics.Metric)
        assert metrics.get(metric) is metric


def test_every_metric_is_there_once_by_its_own_name():
    assert sorted(metrics.get(name).name for name in NAMES) == NAMES
    assert len({metrics.get(name) for name in NAMES}) == len(NAMES)


ALIASES = {
    "dice": "f1",
    "fnr": "false_negative_rate",
    "fpr": "false_positive_rate",
    "npv": "negative_predictive_value",
    "ppv": "precision",
    "sensitivity": "recall",
    "tnr": "specificity",
    "tpr": "recall",
}


def test_the_names_that_people_know_are_aliases():
    assert metrics.names(aliases=True) == sorted([*NAMES, *ALIASES])
    for alias, name in ALIASES.items():
        assert metrics.get(alias) is metrics.get(name)


def test_the_rates_of_errors_are_losses_and_complements():
    for loss, score in (("fpr", "tnr"), ("fnr", "tpr")):
        assert not metrics.get(loss).greater_is_better
        at = {"tp": 3, "n_pred": 4, "n_pos": 5, "n": 13}
        both = metrics.get(loss)(**at) + metrics.get(score)(**at)
        assert both == 1.0


@pytest.mark.parametrize(
    "formula", ["tp/(tp+fp+fn)", "tp", " 2*tp / n ", "sqrt(tp*tn)", "-fp"]
)
def test_a_formula_is_a_metric(formula):
    assert metrics.get(formula) == metrics.from_expression(formula)
    labels = bestcut.decide([0.9, 0.4, 0.2], formula).labels
    assert labels[0] == (formula != "-fp")


@pytest.mark.parametrize(
    ("formula", "holds"), [("tp/(tp+x)", "'x'"), ("tp.__class__", "'tp.__class__'")]
)
def test_a_formula_is_never_run(formula, holds):
    with pytest.raises(metrics.ExpressionError, match="is not allowed") as error:
        metrics.get(formula)
    assert f"holds {holds}" in str(error.value)


def test_changing_the_list_of_names_changes_nothing():
    metrics.names().clear()
    assert metrics.names() == NAMES


def test_f_beta_is_named_after_its_beta():
    assert metrics.FBeta(Fraction(1, 4)).name == "f0.25"
    assert metrics.FBeta(10).name == "f10"
    assert metrics.FBeta(1 + 1e-9).name == "f1.000000001"  # which is not f1


@pytest.mark.parametrize("name", ["f3", "f1.7", "f0.1", "f1e-05", "f1e+20", "f11"])
def test_f_and_any_beta_is_a_name(name):
    metric = metrics.get(name)
    assert metric == metrics.FBeta(float(name[1:]))
    assert metric.name == name
    assert name not in NAMES


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("f0", "`beta` must be positive"),
        ("f1e400", "`beta` must be finite"),
        ("f-1", "`metric` 'f-1' is not known"),
        ("f1_0", "`metric` 'f1_0' is not known"),
        ("f\N{ARABIC-INDIC DIGIT THREE}", "is not known"),
    ],
)
def test_f_and_no_beta_is_no_name(given, message):
    with pytest.raises(ValueError, match=message):
        metrics.get(given)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("F1", "f1"),
        (" f1 ", "f1"),
        ("f1_score", "f1"),
        ("F-measure", "f1"),
        ("fbeta", "f1"),
        ("jacard", "jaccard"),
        ("IoU", "jaccard"),
        ("AM", "balanced_accuracy"),
        ("balanced-accuracy", "balanced_accuracy"),
        ("G-Mean", "gmean"),
        ("G-TP/PR", "fowlkes_mallows"),
        ("matthews_corrcoef", "mcc"),
        ("kappa", "cohen_kappa"),
        ("PPV", "precision"),
        ("Sensitivity", "recall"),
        ("fall-out", "false_positive_rate"),
        ("TPR", "recall"),
        ("TNR", "specificity"),
        ("Youden", "informedness"),
        ("SEC", "squared_count_error"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(given, meant):
    with pytest.raises(ValueError, match="is not known") as error:
        metrics.get(given)
    message = str(error.value)
    assert message.startswith(
        f"`metric` {given!r} is not known. Did you mean {meant!r}"
    )
    assert message.endswith(f"Known: {', '.join(NAMES)}.")


def test_a_name_in_another_spelling_gets_one_suggestion():
    with pytest.raises(ValueError, match=r"Did you mean 'f1'\? Known"):
        metrics.get("F1")


def test_a_name_like_no_other_gets_the_list_only():
    with pytest.raises(ValueError, match=r"^`metric` 'wxyz' is not known\. Known: acc"):
        metrics.get("wxyz")


@pytest.mark.parametrize(
    ("given", "cure"),
    [
        (None, "Known names: `bestcut.metrics.names()`."),
        (1, "Known names: `bestcut.metrics.names()`."),
        (["f1"], "Pass one metric at a time."),
        (np.ones(3), "For amounts or weights of each row pass a `bestcut.RowUtility`"),
        (np.mean, "Wrap a callable with `bestcut.metrics.from_counts(function, "),
        (sklearn_metrics.f1_score, "Pass its name, 'f1'."),
        (
            sklearn_metrics.balanced_accuracy_score,
            "Pass its name, 'balanced_accuracy'.",
        ),
        (sklearn_metrics.matthews_corrcoef, "Pass its name, 'mcc'."),
    ],
)
def test_what_is_neither_name_nor_metric_is_refused(given, cure):
    with pytest.raises(
        TypeError, match=r"must be a name or a bestcut metric; got"
    ) as e:
        metrics.get(given)
    assert f"got {type(given).__name__}. " in str(e.value)
    assert cure in str(e.value)


def test_a_class_in_place_of_a_metric_is_recognised():
    with pytest.raises(TypeError, match=r"not its class; pass FBeta\(\)\."):
        metrics.get(metrics.FBeta)


# --- parameters ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("beta", "error", "message"),
    [
        (0, ValueError, r"`beta` must be positive, .*got 0\."),
        (-1.5, ValueError, r"`beta` must be positive, .*got -1\.5\."),
        (float("nan"), ValueError, r"`beta` must be finite; got nan\."),
        (float("inf"), ValueError, r"`beta` must be finite; got inf\."),
        ("2", TypeError, r"`beta` must be a real number; got '2'\."),
        (True, TypeError, r"`beta` must be a real number; got True\."),
        (None, TypeError, r"`beta` must be a real number; got None\."),
        (1j, TypeError, r"`beta` must be a real number; got 1j\."),
        ([1.0], TypeError, r"`beta` must be a real number; got \[1\.0\]\."),
    ],
)
def test_a_bad_beta_is_refused(beta, error, message):
    with pytest.raises(error, match=message):
        metrics.FBeta(beta=beta)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("warn", TypeError, r"`zero_division` must be a real number; got 'warn'\."),
        (None, TypeError, r"`zero_division` must be a real number; got None\."),
        (False, TypeError, r"`zero_division` must be a real number; got False\."),
        (float("nan"), ValueError, r"`zero_division` must be finite; got nan\."),
        (float("-inf"), ValueError, r"`zero_division` must be finite; got -inf\."),
    ],
)
@pytest.mark.parametrize("metric", WITH_ZERO_DIVISION, ids=lambda x: x.__name__)
def test_a_bad_zero_division_is_refused(metric, value, error, message):
    with pytest.raises(error, match=message):
        metric(zero_division=value)


def test_only_balanced_accuracy_can_drop():
    for metric in WITH_ZERO_DIVISION:
        if metric is not metrics.BalancedAccuracy:
            with pytest.raises(TypeError, match="must be a real number; got 'drop'"):
                metric(zero_division="drop")


@pytest.mark.parametrize("value", [np.float32(0.5), np.int64(1), Fraction(1, 2)])
@pytest.mark.parametrize("metric", WITH_ZERO_DIVISION, ids=lambda x: x.__name__)
def test_any_real_number_may_stand_for_zero_over_zero(metric, value):
    plain = metric(zero_division=float(value))
    for cells in confusion_matrices(2):
        at = counts_of(*cells)
        assert metric(zero_division=value)(*at) == plain(*at)
