"""What results tell besides their attributes: frames, reports, rules and errors."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bestcut
from bestcut import multiclass, multilabel
from bestcut.goals import Certain, Quantile

P = np.random.default_rng(0).random((5, 6))


# --- what each problem reaches --------------------------------------------------------


@pytest.mark.parametrize("drawn", [False, True], ids=["known", "draws"])
def test_conditions_say_what_each_problem_reaches(drawn):
    groups = np.repeat(np.arange(5), 6)
    p = bestcut.UncertainProbabilities([P.ravel()]) if drawn else P.ravel()
    wanted = {"precision": [0.3, Certain(0.2, probability=0.5)]}
    many = bestcut.decide_each(p, "recall", groups=groups, at_least=wanted)
    expected, certain = many.conditions
    for i, row in enumerate(P):
        one = bestcut.decide(row, "recall", at_least=wanted)
        assert expected.reached[i] == pytest.approx(
            one.conditions[0].reached, abs=1e-12
        )
        assert certain.reached[i] == pytest.approx(one.conditions[1].reached, abs=1e-12)
    assert repr(expected).endswith("(at least 0.3) in each problem")


def test_bounds_are_those_of_each_problem():
    group = [0, 0, 0, 1]
    many = bestcut.decide_each([0.5, 0.4, 0.3, 0.2], groups=group, min_positives=2)
    assert [x.tolist() for x in many.bounds] == [[2, 1], [3, 1]]
    assert many.n.tolist() == [3, 1]


# --- frames ---------------------------------------------------------------------------


def test_a_frame_has_a_row_for_each_problem():
    found = bestcut.decide_each(pd.DataFrame(P)).to_frame()
    assert isinstance(found, pd.DataFrame)
    names = ["n", "n_positive", "threshold", "expected_score", "error", "gap"]
    assert list(found) == names
    groups = pl.Series(["b", "a", "b"])
    found = bestcut.decide_each(pl.Series([0.7, 0.2, 0.1]), groups=groups).to_frame()
    assert isinstance(found, pl.DataFrame)
    assert found["group"].to_list() == ["a", "b"]
    assert found["n"].to_list() == [1, 2]


def test_a_threshold_that_is_infinite_is_missing_in_a_frame():
    for kind in (pd.Series, pl.Series):
        frame = bestcut.decide(kind([0.5, 0.25])).curve.to_frame()
        assert list(frame["threshold"])[1:] == [0.375, 0.25]
        missing = frame["threshold"][0]
        assert missing is None if kind is pl.Series else np.isnan(missing)
    json.loads(frame.write_json(), parse_constant=pytest.fail)


def test_a_curve_is_told_in_a_line():
    told = repr(bestcut.decide(P[0]).curve)
    assert told.startswith("ExpectedScoreCurve(f1: 7 cuts, expected scores from 0 to ")
    assert len(told) < 120


# --- distributions --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("average", "form"),
    [
        *product(("samples", "macro", "micro"), ("known", "draws")),
        *product(("macro", "micro"), ("sets",)),
    ],
)
def test_labels_have_the_distribution_of_their_score(average, form):
    options = {"average": average}
    p = P
    if form == "draws":
        p = [bestcut.UncertainProbabilities([x, x / 2]) for x in P.T]
    if form == "sets":
        options["per_row"] = 2
    found = multilabel.decide(p, **options)
    for metric in ("f1", "recall"):
        wanted = multilabel.score_distribution(p, found.labels, metric, average=average)
        mine = found.distribution(metric)
        assert (mine.mean, mine.std) == (wanted.mean, wanted.std)


def test_the_distribution_of_a_weighted_mean_is_refused():
    found = multilabel.decide(P, average="macro", per_row=1, weights=[1, 2, 3, 1, 1, 1])
    with pytest.raises(ValueError, match=r"of a weighted mean, .* Decide without"):
        found.distribution()


def test_classes_have_the_distribution_of_other_metrics_too():
    shares = P / P.sum(axis=1, keepdims=True)
    found = multiclass.decide(shares)
    wanted = multiclass.score_distribution(shares, found.labels, "recall")
    assert found.distribution("recall").mean == wanted.mean
    shares[:] = 1 / 6  # the decision has its own copy
    assert found.distribution("recall").mean == wanted.mean


def test_the_error_of_a_mean_over_draws_holds():
    rng = np.random.default_rng(3)
    for _ in range(20):
        draws = rng.random((7, 5)) < rng.random(5)
        weight = rng.random(7)
        found = bestcut.decide_samples(draws, "f1", sample_weight=weight)
        exact, total = Fraction(0), Fraction(0)
        for y, w in zip(draws, weight.tolist(), strict=True):
            tp, n = int(y[found.labels].sum()), int(y.sum()) + found.n_positive
            exact += Fraction(w) * (Fraction(2 * tp, n) if n else 0)
            total += Fraction(w)
        assert (
            abs(Fraction(found.expected_score) - exact / total) <= found.error < 1e-13
        )
        mean = found.distribution().mean
        assert abs(mean - found.expected_score) <= 2 * found.error


# --- plain Python that decides --------------------------------------------------------


def test_a_rule_is_deployed_as_plain_python():
    shares = P / P.sum(axis=1, keepdims=True)
    for rule in (
        multiclass.decide(shares, classes=list("abcdef")).rule(),
        multiclass.decide(shares).rule(),
        multilabel.decide(P, average="macro", per_row=(1, 2)).rule(),
    ):
        told = json.loads(json.dumps(rule.to_dict(), allow_nan=False))
        again = bestcut.RowRule.from_dict(told)
        np.testing.assert_array_equal(again(shares), rule(shares))
        assert again.to_dict() == rule.to_dict()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"slope": [1.0]}, ValueError, r"`cost` must have shape \(1,\)"),
        ({"classes": ["a"]}, ValueError, "`classes` must have shape"),
        ({"slope": ["x"]}, TypeError, "`slope` must hold real numbers"),
        ({"per_row": [2, 1]}, ValueError, "`per_row`"),
        ({"per_row": 99}, ValueError, "`per_row`"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(change, error, words):
    told = multilabel.decide(P, average="macro", per_row=1).rule().to_dict()
    with pytest.raises(error, match=words):
        bestcut.RowRule.from_dict(told | change)
    del told["cost"]
    with pytest.raises(ValueError, match=r"`RowRule.to_dict\(\)` returned; .* 'cost'"):
        bestcut.RowRule.from_dict(told)


def test_a_rule_is_made_of_its_two_lists():
    rule = bestcut.RowRule([1.0, 4.0, 1.0], [0.0, 0.5, 0.25])
    assert rule([[0.25, 0.5, 0.25], [0.5, 0.125, 0.375]]).tolist() == [
        [False, True, False],
        [True, False, False],
    ]
    named = bestcut.RowRule([1.0, 4.0], [0.0, 0.5], classes=["yes", "no"])
    assert named([[0.75, 0.25]]).tolist() == ["yes"]
    assert named.to_dict()["per_row"] == [1, 1]


@pytest.mark.parametrize("scale", [1, 7], ids=["probabilities", "scores"])
def test_a_calibration_is_deployed_as_plain_python(scale):
    rng = np.random.default_rng(0)
    scores = scale * rng.random(60)
    calibration = bestcut.calibrate(rng.random(60) < 0.5, scores, n_draws=3)
    told = json.loads(json.dumps(calibration.to_dict(), allow_nan=False))
    again = bestcut.Calibration.from_dict(told)
    assert again.to_bytes() == calibration.to_bytes()
    with pytest.raises(ValueError, match="another kind of scores"):
        bestcut.Calibration.from_dict(told | {"kind": "odd"})
    with pytest.raises(ValueError, match="numbers that no calibration has"):
        bestcut.Calibration.from_dict(told | {"n_positive": 61})
    del told["knots"]
    with pytest.raises(ValueError, match="it has no 'knots'"):
        bestcut.Calibration.from_dict(told)


# --- what is shown --------------------------------------------------------------------


def test_expected_counts_are_a_table_in_a_notebook():
    page = bestcut.expected_confusion([0.75, 0.5, 0.25], [1, 1, 0])._repr_html_()
    assert "<th>actual positive</th><td>0.2 (0 to 1)</td>" in page


def test_a_distribution_and_classes_are_drawn():
    pytest.importorskip("matplotlib")
    assert bestcut.decide(P[0]).distribution().plot().ax_.get_xlabel() == "F1"
    shares = P / P.sum(axis=1, keepdims=True)
    shown = multiclass.decide(shares, "recall").plot()
    assert shown.ax_.get_xlabel() == "Expected Recall"


def test_a_decision_makes_its_own_report():
    pytest.importorskip("vl_convert")
    from bestcut.report import make_report

    p = np.random.default_rng(1).beta(0.5, 2, 40)
    asked = {"at_least": {"precision": 0.4}, "max_positives": 9}
    decision = bestcut.decide(p, "recall", **asked)
    labels = p > 0.4
    mine = decision.report(others=["mcc"], title="A title", y_true=labels)
    wanted = make_report(
        p, "recall", others=["mcc"], title="A title", y_true=labels, **asked
    )
    assert mine.html() == wanted.html()
    assert mine.summary() in mine._repr_html_()
    assert mine._repr_html_().count("<tr>") == 3


@pytest.mark.parametrize(
    ("metric", "asked", "cure"),
    [
        (bestcut.RowUtility(tp=1.0), {}, "Decide for a LinearUtility"),
        ("f1", {"goal": Quantile(0.1)}, "Decide without `goal`"),
        ("f1", {"min_positives": 2}, "Decide without `min_positives`"),
    ],
)
def test_a_report_that_would_show_another_decision_is_refused(metric, asked, cure):
    with pytest.raises(ValueError, match=f"{cure}\\.$"):
        bestcut.decide(P[0], metric, **asked).report()
