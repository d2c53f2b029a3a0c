"""What comes in as a column or a table of pandas or polars goes out as one."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bestcut
from bestcut import multiclass, multilabel
from bestcut._tables import frame_of, library_of, like, rows_like

P = np.random.default_rng(5).random((4, 4))
NAMES = ["a", "b", "c", "d"]
PANDAS = pd.DataFrame(P, index=[7, 7, 1, 3], columns=NAMES)
POLARS = pl.DataFrame(P, schema=NAMES, orient="row")
UTILITY = bestcut.RowUtility(tp=2.0, fp=-1.0)


@pytest.mark.parametrize("metric", ["f1", UTILITY], ids=["f1", "rows"])
def test_a_column_gives_a_column_with_its_index_and_name(metric):
    labels = bestcut.decide(P[:, 1], metric).labels
    found = bestcut.decide(PANDAS["b"], metric).labels
    wanted = pd.Series(labels, index=PANDAS.index, name="b")
    pd.testing.assert_series_equal(found, wanted)
    found = bestcut.decide(POLARS["b"], metric).labels
    assert found.equals(pl.Series("b", labels), check_names=True, check_dtypes=True)


Y = np.array([[True], [False]]) & np.ones(100, dtype=bool)  # good labels, and no good
SCORES = np.random.default_rng(7).random(100)


@pytest.mark.parametrize(
    "function",
    [
        lambda p: bestcut.calibration.adjust_prevalence(p, old=0.5, new=0.1),
        lambda p: bestcut.guarantee(Y[0], SCORES, p, {"precision": 0.2}).labels,
        lambda p: bestcut.guarantee(Y[1], SCORES, p, {"precision": 0.2}).labels,
        lambda p: (
            bestcut.streams.ScoreSummary.from_scores(p)
            .bracket("f1")
            .refine(p)
            .predict(p)
        ),
    ],
    ids=["adjust_prevalence", "guarantee", "no guarantee", "Cut.predict"],
)
def test_every_result_for_a_column_is_one(function):
    wanted = function(P[:, 1])
    pd.testing.assert_series_equal(
        function(PANDAS["b"]), pd.Series(wanted, index=PANDAS.index, name="b")
    )
    found = function(POLARS["b"])
    assert found.equals(pl.Series("b", wanted), check_names=True, check_dtypes=True)


def test_a_guarantee_for_a_column_is_told_as_for_an_array():
    told = [
        repr(bestcut.guarantee(Y[i], SCORES, p, {"precision": 0.2}))
        for i in (0, 1)
        for p in (P[:, 1], PANDAS["b"], POLARS["b"])
    ]
    assert len(set(told)) == 2


def test_the_rule_of_a_decision_answers_like_the_decision():
    rule = multilabel.decide(P, average="macro", per_row=2).rule()
    assert_tables(rule, rule(P))
    shares = P / P.sum(axis=1, keepdims=True)
    rule = multiclass.decide(shares, classes=NAMES).rule()
    found = rule(pd.DataFrame(shares, index=PANDAS.index))
    pd.testing.assert_series_equal(found, pd.Series(rule(shares), index=PANDAS.index))
    found = rule(pl.DataFrame(shares, orient="row"))
    assert found.equals(pl.Series(values=rule(shares)))


def test_labels_are_like_those_of_a_comparison():
    pd.testing.assert_series_equal(
        bestcut.decide(PANDAS["b"], "accuracy").labels, PANDAS["b"] >= 0.5
    )
    found, wanted = bestcut.decide(POLARS["b"], "accuracy").labels, POLARS["b"] >= 0.5
    assert found.equals(wanted, check_names=True, check_dtypes=True)


@pytest.mark.parametrize("given", [P[:, 1], P[:, 1].tolist(), tuple(P[:, 1])])
def test_anything_else_gives_an_array(given):
    assert type(bestcut.decide(given).labels) is np.ndarray


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("metric", ["f1", UTILITY], ids=["f1", "rows"])
def test_each_row_or_column_of_a_table(axis, metric):
    wanted = bestcut.decide_each(P, metric, axis=axis).labels
    assert_tables(
        lambda table: bestcut.decide_each(table, metric, axis=axis).labels, wanted
    )


@pytest.mark.parametrize("metric", ["f1", UTILITY], ids=["f1", "rows"])
def test_groups_of_a_column(metric):
    groups = [1, 2, 1, 2]
    wanted = bestcut.decide_each(P[:, 0], metric, groups=groups).labels
    found = bestcut.decide_each(PANDAS["a"], metric, groups=groups).labels
    pd.testing.assert_series_equal(
        found, pd.Series(wanted, index=PANDAS.index, name="a")
    )
    found = bestcut.decide_each(POLARS["a"], metric, groups=groups).labels
    assert found.equals(pl.Series("a", wanted), check_names=True)


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
@pytest.mark.parametrize("per_row", [None, 2])
def test_multilabel_tables(average, per_row):
    if average == "samples" and per_row:
        return
    options = {"average": average, "per_row": per_row}
    wanted = multilabel.decide(P, **options)
    assert_tables(
        lambda table: multilabel.decide(table, **options).labels, wanted.labels
    )
    for table in (PANDAS, POLARS):
        assert repr(multilabel.decide(table, **options)) == repr(wanted)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_one_class_for_each_row_of_a_table(average):
    shares = P / P.sum(axis=1, keepdims=True)
    options = {"average": average, "classes": ["x", "y", "z", "w"]}
    wanted = multiclass.decide(shares, **options)
    frame = pd.DataFrame(shares, index=PANDAS.index)
    found = multiclass.decide(frame, **options)
    assert found.labels.index.equals(frame.index)
    assert found.labels.tolist() == wanted.labels.tolist()
    assert repr(found) == repr(wanted)
    found = multiclass.decide(pl.DataFrame(shares, orient="row"), **options)
    assert isinstance(found.labels, pl.Series)
    assert found.labels.to_list() == wanted.labels.tolist()


def test_empty_columns_and_tables_stay_what_they_are():
    assert bestcut.decide(PANDAS["a"][:0]).labels.dtype == np.bool_
    assert bestcut.decide(POLARS["a"][:0]).labels.dtype == pl.Boolean
    assert bestcut.decide_each(PANDAS[:0]).labels.columns.tolist() == NAMES
    assert bestcut.decide_each(POLARS[:0]).labels.columns == NAMES


def test_a_column_of_pandas_can_be_written_to_when_the_decision_is_gone():
    frame = PANDAS.copy()
    frame["flag"] = bestcut.decide(frame["a"]).labels
    frame.loc[3, "flag"] = True
    frame.loc[1, "flag"] = False
    assert frame["flag"].tolist()[2:] == [False, True]


@pytest.mark.parametrize("table", [PANDAS, POLARS], ids=["pandas", "polars"])
def test_labels_go_where_predictions_are_wanted(table):
    decision = bestcut.decide(table["a"])
    scored = bestcut.expected_score(table["a"], decision.labels)
    assert scored == pytest.approx(decision.expected_score, rel=1e-12)
    many = multilabel.decide(table)
    scored = multilabel.expected_score(table, many.labels)
    assert scored == pytest.approx(many.expected_score, rel=1e-12)


def test_a_half_loaded_library_made_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", object())
    monkeypatch.setitem(sys.modules, "polars", None)
    assert library_of(PANDAS) is None
    assert like(PANDAS, P) is P
    assert rows_like(POLARS, P) is P


def test_a_frame_is_of_the_library_of_the_probabilities():
    for column, library in ((PANDAS["a"], pd), (POLARS["a"], pl)):
        frame = bestcut.decide(column).curve.to_frame()
        assert isinstance(frame, library.DataFrame)
        assert list(frame.columns) == ["n_positive", "threshold", "expected_score"]
        curve = bestcut.decide(P[:, 0]).curve
        np.testing.assert_array_equal(frame["expected_score"], curve.expected_score)
        np.testing.assert_array_equal(frame["threshold"][1:], curve.threshold[1:])
    rows = bestcut.decide(POLARS["a"], UTILITY).curve.to_frame()
    assert rows.columns == ["n_positive", "expected_score"]


def test_a_frame_of_other_probabilities_is_of_what_is_installed(monkeypatch):
    curve = bestcut.decide(P[:, 0]).curve
    assert isinstance(curve.to_frame(), pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    assert isinstance(curve.to_frame(), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="`to_frame` needs pandas or polars: pip in"):
        curve.to_frame()
    with pytest.raises(ImportError, match="needs pandas or polars"):
        frame_of({}, "polars")


def assert_tables(decide, wanted):
    """Raise unless a table gives the wanted labels, with its index and names."""
    pd.testing.assert_frame_equal(
        decide(PANDAS), pd.DataFrame(wanted, index=PANDAS.index, columns=NAMES)
    )
    assert decide(POLARS).equals(pl.DataFrame(wanted, schema=NAMES, orient="row"))


def test_the_helper_can_raise():
    with pytest.raises(AssertionError):
        assert_tables(lambda table: table < 2.0, P < 0.0)
