"""What would silently be taken for something else is refused at every door."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import bestcut
from bestcut import displays, multiclass, multilabel
from bestcut.report import make_report

# --- the same rows in another order --------------------------------------------------

P = pd.Series([0.9, 0.1, 0.5, 0.3], index=["a", "b", "c", "d"])
LABELS = pd.Series([1, 0, 1, 0], index=P.index)
TABLE = pd.DataFrame({"no": 1 - P, "yes": P})
AMOUNTS = pd.Series([1.0, 2.0, 3.0, 4.0], index=P.index)
DRAWS = bestcut.UncertainProbabilities([P, P])


# The column that may be in another order, the one it is matched with, and the call.
TWO_COLUMNS = {
    "expected_score": (
        "y_pred",
        "y_proba",
        lambda at: bestcut.expected_score(P, at(LABELS)),
    ),
    "score_distribution": (
        "y_pred",
        "y_proba",
        lambda at: bestcut.score_distribution(P, at(LABELS)),
    ),
    "expected_confusion": (
        "y_pred",
        "y_proba",
        lambda at: bestcut.expected_confusion(P, at(LABELS)),
    ),
    "decide_each": (
        "groups",
        "y_proba",
        lambda at: bestcut.decide_each(P, groups=at(LABELS)),
    ),
    "decide": (
        "tp",
        "y_proba",
        lambda at: bestcut.decide(P, bestcut.RowUtility(tp=at(AMOUNTS))),
    ),
    "decide_each with amounts": (
        "tp",
        "y_proba",
        lambda at: bestcut.decide_each(
            P, bestcut.RowUtility(tp=at(AMOUNTS)), groups=[0, 0, 1, 1]
        ),
    ),
    "score_distribution with amounts": (
        "fn",
        "y_proba",
        lambda at: bestcut.expected_score(
            P, LABELS, bestcut.RowUtility(fn=at(AMOUNTS))
        ),
    ),
    "RowUtility": (
        "fp",
        "tp",
        lambda at: bestcut.RowUtility(tp=AMOUNTS, fp=at(AMOUNTS)),
    ),
    "realised": (
        "y_pred",
        "y_true",
        lambda at: bestcut.RowUtility(tp=1.0).realised(LABELS, at(LABELS)),
    ),
    "realised with amounts": (
        "tp",
        "y_pred",
        lambda at: bestcut.RowUtility(tp=at(AMOUNTS)).realised([0, 1, 0, 1], LABELS),
    ),
    "calibrate": ("scores", "y_true", lambda at: bestcut.calibrate(LABELS, at(P))),
    "check_calibration": (
        "y_proba",
        "y_true",
        lambda at: bestcut.check_calibration(LABELS, at(P)),
    ),
    "guarantee": (
        "scores",
        "y_true",
        lambda at: bestcut.guarantee(LABELS, at(P), [0.5], {"precision": 0.5}),
    ),
    "empirical_threshold": (
        "scores",
        "y_true",
        lambda at: bestcut.empirical_threshold(LABELS, at(P)),
    ),
    "empirical_threshold with weights": (
        "sample_weight",
        "y_true",
        lambda at: bestcut.empirical_threshold(LABELS, P, sample_weight=at(AMOUNTS)),
    ),
    "make_report": ("y_true", "y_proba", lambda at: make_report(P, y_true=at(LABELS))),
    "CalibrationMapDisplay": (
        "scores",
        "y_true",
        lambda at: displays.CalibrationMapDisplay(
            bestcut.calibrate([0, 1], [0.2, 0.7]), LABELS, at(P)
        ),
    ),
    "multiclass": (
        "y_pred",
        "y_proba",
        lambda at: multiclass.expected_score(TABLE, at(LABELS), classes=[0, 1]),
    ),
    "multilabel": (
        "y_pred",
        "y_proba",
        lambda at: multilabel.expected_score(TABLE, at(TABLE.round())),
    ),
}


@pytest.mark.parametrize("door", TWO_COLUMNS)
def test_the_same_rows_in_another_order_are_refused(door):
    other, first, call = TWO_COLUMNS[door]
    call(lambda column: column)  # in one order they are taken
    message = (
        f"`{other}` and `{first}` must have their rows in one order, because they are "
        "matched by position; they have the same index in another order, first at "
        f"position 0 ('d' and 'a'). Pass `{other}.loc[{first}.index]`."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        call(lambda column: column.iloc[::-1])


def test_columns_of_a_table_in_another_order_are_refused():
    """The metric would be that of other labels."""
    swapped = TABLE.round()[["yes", "no"]]
    with pytest.raises(ValueError, match=r"`y_pred` and `y_proba` .* the same columns"):
        multilabel.expected_score(TABLE, swapped)


@pytest.mark.parametrize(
    "index",
    [[0, 1, 2, 3], ["a", "b", "c", "e"], ["a", "a", "b", "c"]],
    ids=["numbers", "one other row", "a row twice"],
)
def test_other_rows_are_matched_by_position(index):
    known = bestcut.expected_score(P.to_numpy(), LABELS.to_numpy())
    assert bestcut.expected_score(P, LABELS.set_axis(index)) == known


def test_arrays_and_draws_have_no_order_of_their_own():
    backwards = LABELS.iloc[::-1]
    for p in (P.to_numpy(), P.tolist(), pl.Series(P.to_numpy()), DRAWS):
        bestcut.expected_score(p, backwards)


# --- booleans as probabilities -------------------------------------------------------

TRUTH = np.array([True, False, True])
FORMS = {
    "list": TRUTH.tolist(),
    "array": TRUTH,
    "pandas": pd.Series(TRUTH),
    "polars": pl.Series(TRUTH),
}
TAKES_PROBABILITIES = {
    "decide": bestcut.decide,
    "expected_score": lambda p: bestcut.expected_score(p, [0, 1, 1]),
    "check_calibration": lambda p: bestcut.check_calibration([0, 1, 1], p),
    "decide_each": lambda p: bestcut.decide_each(p, groups=[0, 0, 1]),
    "adjust_prevalence": lambda p: bestcut.calibration.adjust_prevalence(p, 0.5, 0.1),
    "make_report": make_report,
}
NOT_PROBABILITIES = "must hold probabilities; got booleans, which are labels"


@pytest.mark.parametrize("door", TAKES_PROBABILITIES)
@pytest.mark.parametrize("form", FORMS)
def test_booleans_are_no_probabilities(door, form):
    message = (
        f"`y_proba` {NOT_PROBABILITIES}. Pass what the model's `predict_proba` returns "
        "for the positive class; for what is known for sure, `y_proba.astype(float)`."
    )
    with pytest.raises(TypeError, match=re.escape(message)):
        TAKES_PROBABILITIES[door](FORMS[form])
    TAKES_PROBABILITIES[door](TRUTH.astype(float))


@pytest.mark.parametrize(
    "call",
    [
        lambda: bestcut.decide_each([[True, False]]),
        lambda: bestcut.decide_each(sparse.csr_array(TRUTH[None])),
        lambda: multilabel.decide(TRUTH[None]),
        lambda: multiclass.decide(np.array([[True, False]])),
        lambda: bestcut.UncertainProbabilities([[True, False]]),
        lambda: bestcut.streams.ScoreSummary.from_scores(TRUTH),
    ],
    ids=["rows", "sparse", "multilabel", "multiclass", "draws", "summary"],
)
def test_booleans_are_no_matrix_of_probabilities(call):
    with pytest.raises(TypeError, match=NOT_PROBABILITIES):
        call()


@pytest.mark.parametrize("kind", ["parquet", "ndjson"])
def test_booleans_in_a_file_are_no_probabilities(kind, tmp_path):
    path = tmp_path / f"rows.{kind}"
    getattr(pl.DataFrame({"p": TRUTH}), f"write_{kind}")(path)
    with pytest.raises(bestcut.FileError, match=r"column 'p' .*Boolean"):
        bestcut.decide_file(str(path), str(tmp_path / "out.csv"), y_proba="p")


# --- names of classes that could be indices ------------------------------------------

SHARES = np.array([[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1]])


@pytest.mark.parametrize(
    "function", [multiclass.expected_score, multiclass.score_distribution]
)
def test_names_from_1_without_classes_are_refused(function):
    """The last class is never predicted, so each name is also an index."""
    names = [1, 1, 2]
    message = (
        "`y_pred` holds 1 to 2, and fits `P` better as names of classes that begin "
        "with 1 than as indices, which begin with 0. Pass `classes`, in the order of "
        "the columns: `classes=[1, 2, 3]` if they are names, `classes=[0, 1, 2]` if "
        "they are indices."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        function(SHARES, names)
    found = function(SHARES, names, classes=[1, 2, 3])
    assert str(found) == str(function(SHARES, [0, 0, 1]))
    assert str(function(SHARES, names, classes=[0, 1, 2])) != str(found)


@pytest.mark.parametrize("shift", [0, 1])
def test_indices_need_no_names(shift):
    shares = np.roll(SHARES, shift, axis=1)
    best = shares.argmax(axis=1)
    assert best.min() == shift
    multiclass.expected_score(shares, best)
    multiclass.expected_score(shares, best.astype(float))
    multiclass.expected_score(shares, [0, 2, 2])  # 0 can only be an index
    multiclass.expected_score(shares, [2, 2, 2])


# --- advice that leads somewhere ------------------------------------------------------

RNG = np.random.default_rng(0)
CLASSES = RNG.integers(0, 4, 60)
COLUMNS = RNG.dirichlet(np.ones(4), 60)
AMOUNT_OF_EACH = 10.0 * RNG.random(60)
CUBE = RNG.dirichlet(np.ones(4), (3, 60))


def test_scores_of_many_classes_are_calibrated_one_class_at_a_time():
    message = (
        "`scores` must be 1-D; got shape (60, 4). Take one class at a time, against "
        "the rest: for class j the labels `y_true == j` and the scores `scores[:, j]`. "
        "`bestcut.estimators.ExpectedMetricClassifier` does so for all classes."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        bestcut.calibrate(CLASSES, COLUMNS)
    calibration = bestcut.calibrate(CLASSES == 2, COLUMNS[:, 2], n_draws=1)
    with pytest.raises(
        ValueError, match=r"`new_scores` must be 1-D; .* one class at a"
    ):
        calibration(COLUMNS)


def test_draws_of_many_classes_are_named_as_draws():
    message = (
        "got shape (3, 60, 4). Draws are of one positive class: for class j pass "
        "`draws[:, :, j]`."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        bestcut.UncertainProbabilities(CUBE)
    one = bestcut.UncertainProbabilities(CUBE[:, :, 2])
    message = (
        "If its first axis is for draws, pass their means: `y_proba.mean(axis=0)`. "
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        multiclass.decide(CUBE)
    multiclass.decide(CUBE.mean(axis=0))
    message = (
        "If its first axis is for draws, pass a list of "
        "`bestcut.UncertainProbabilities(y_proba[:, :, j])`, one for each label j."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        multilabel.decide(CUBE, average="macro")
    multilabel.decide([one, one], average="macro")


@pytest.mark.parametrize(
    "option", [{"at_least": {"recall": 0.9}}, {"goal": bestcut.goals.Quantile(0.1)}]
)
def test_amounts_per_row_name_what_takes_goals_and_conditions(option):
    p = COLUMNS[:, 0]
    message = (
        f"`{next(iter(option))}` must be left out with a RowUtility. The rows with the "
        "largest expected gains are proved to be best for the expected total only. A "
        "`bestcut.metrics.LinearUtility` of mean amounts takes goals and conditions."
    )
    with pytest.raises(bestcut.SolverMismatchError, match=re.escape(message)):
        bestcut.decide(p, bestcut.RowUtility(tp=AMOUNT_OF_EACH, fp=-5.0), **option)
    mean = bestcut.metrics.LinearUtility(tp=AMOUNT_OF_EACH.mean(), fp=-5.0)
    bestcut.decide(p, mean, **option)


def test_recall_is_reached_with_amounts_per_row_as_the_error_says():
    p, amounts = COLUMNS[:, 0], AMOUNT_OF_EACH
    message = (
        "For more recall, add the same amount to `tp` of all rows until "
        "`bestcut.expected_score(y_proba, labels, 'recall')` is enough."
    )
    with pytest.raises(bestcut.SolverMismatchError, match=re.escape(message)):
        bestcut.decide(p, bestcut.RowUtility(tp=amounts), at_least={"recall": 0.9})
    for more in (0.0, 5.0, 50.0, 500.0):
        more_worth = bestcut.RowUtility(tp=amounts + more, fp=-5.0)
        labels = bestcut.decide(p, more_worth).labels
        reached = bestcut.expected_score(p, labels, "recall")
    assert reached > 0.9
