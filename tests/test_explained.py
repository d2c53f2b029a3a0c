"""A decision says what it promises, what was asked of it, and what 0.5 would give."""

import gc
import pickle
import re
import weakref

import numpy as np
import pytest

import bestcut
from bestcut import RowUtility, UncertainProbabilities
from bestcut.goals import Certain, Quantile
from bestcut.metrics import get

P = np.random.default_rng(0).beta(0.5, 2, 200)
DRAWS = UncertainProbabilities(
    np.clip(P + np.random.default_rng(1).normal(0, 0.02, (9, 200)), 0, 1)
)
KINDS = {
    "known": (P, "f1"),
    "loss": (P, "squared_count_error"),
    "draws": (DRAWS, "f1"),
    "rows": (P, RowUtility(tp=np.arange(200.0), fp=-20.0)),
    "rows of draws": (DRAWS, RowUtility(tp=np.arange(200.0), fp=-20.0)),
}
every_kind = pytest.mark.parametrize(("p", "metric"), KINDS.values(), ids=KINDS)


def written(value, digits):
    """Return a number as it is to be written: money with commas."""
    return f"{value:,.2f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def rows_of(html):
    """Return the names and values of the table, in their order."""
    return dict(re.findall(r"<th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", html))


@every_kind
def test_the_interval_and_the_comparison_with_half_come_first(p, metric):
    decision = bestcut.decide(p, metric)
    rows = rows_of(decision._repr_html_())
    loss = metric == "squared_count_error"
    expected, half = list(rows)[:2]
    assert (expected, half) == (
        "expected loss" if loss else "expected score",
        "with threshold 0.5",
    )
    low, high = decision.distribution().interval(0.9)
    assert rows[expected] == (
        f"{written(decision.expected_score, 6)}, "
        f"90% between {written(low, 4)} and {written(high, 4)}"
    )
    labels = (p.mean if p is DRAWS else p) >= 0.5
    score = bestcut.expected_score(p, labels, metric)
    more = score - decision.expected_score
    assert more < 0 or loss
    assert rows[half] == (
        f"{written(score, 6)}, {written(abs(more), 4)} "
        f"{'more' if loss else 'less'}, "
        f"{labels.sum()} positive"
    )


def test_a_cut_at_half_is_the_same():
    decision = bestcut.decide([0.9, 0.6, 0.4], "accuracy")
    rows = rows_of(decision._repr_html_())
    assert rows["with threshold 0.5"] == "0.7, the same, 2 positive"


def test_nothing_to_decide_can_be_shown():
    rows = rows_of(bestcut.decide([])._repr_html_())
    assert rows["positive"] == "0 of 0"


@pytest.mark.parametrize("p", [P, DRAWS], ids=["known", "draws"])
def test_conditions_are_shown_with_what_is_reached(p):
    wanted = [0.5, Certain(0.4, probability=0.9)]
    decision = bestcut.decide(p, "recall", at_least={"precision": wanted})
    expected, sure = decision.conditions
    score = decision.distribution("precision")
    assert expected.metric == sure.metric == get("precision")
    assert (expected.wanted, sure.wanted) == tuple(wanted)
    assert (expected.reached, sure.reached) == (score.mean, score.prob_at_least(0.4))
    assert expected.reached >= 0.5 - 1e-12
    assert sure.reached >= 0.9 - 1e-12
    first = f"{expected.reached:.6g} (at least 0.5)"
    second = f"{sure.reached:.6g} (at least 0.9)"
    assert f", expected precision {first}, P(precision >= 0.4) {second} [" in repr(
        decision
    )
    rows = rows_of(decision._repr_html_())
    assert rows["expected precision"] == first
    assert rows["P(precision &gt;= 0.4)"] == second


def test_two_conditions_on_the_same_value_are_both_shown():
    decision = bestcut.decide(P, "recall", at_least={"precision": [0.5, 0.4]})
    assert repr(decision).count("expected precision") == 2
    assert decision._repr_html_().count("expected precision") == 2


def test_without_conditions_there_are_none():
    assert bestcut.decide(P).conditions == ()
    assert bestcut.decide(P, KINDS["rows"][1]).conditions == ()


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({}, ""),
        ({"max_positives": 200}, ""),
        ({"max_positives": 999}, ""),
        ({"max_positives": 3}, " (at most 3)"),
        ({"min_positives": 150}, " (at least 150)"),
        ({"min_positives": 2, "max_positives": 9}, " (2 to 9 allowed)"),
    ],
)
@every_kind
def test_bounds_are_shown_where_they_bind(p, metric, bounds, words):
    decision = bestcut.decide(p, metric, **bounds)
    n = decision.n_positive
    assert f": {n} of 200 positive{words}, " in repr(decision)
    assert rows_of(decision._repr_html_())["positive"] == f"{n} of 200{words}"


def test_the_goal_comes_before_the_conditions():
    decision = bestcut.decide(P, "f1", goal=Quantile(0.1), at_least={"precision": 0.3})
    names = list(rows_of(decision._repr_html_()))
    assert names.index("10% quantile") + 1 == names.index("expected precision")


@every_kind
def test_the_curve_of_a_decision_can_be_drawn(p, metric):
    decision = bestcut.decide(p, metric)
    display = decision.curve.plot(threshold=None)
    line = display.lines_[0].get_ydata()
    np.testing.assert_array_equal(line, decision.curve.expected_score)


def test_a_decision_can_be_drawn():
    display = bestcut.decide(P, "f1").plot()
    assert display.decision.n_positive == bestcut.decide(P, "f1").n_positive
    again = bestcut.decide(P, "f1").plot(ax=display.ax_)
    assert again.ax_ is display.ax_


def test_amounts_per_row_have_no_cut_to_draw_but_a_curve():
    with pytest.raises(ValueError, match=r"Draw `decision\.curve\.plot\(\)`"):
        bestcut.decide(*KINDS["rows"]).plot()


def test_a_decision_that_nobody_holds_is_freed_with_its_curve():
    decision = bestcut.decide(P)
    gone = weakref.ref(decision.curve)
    gc.disable()
    try:
        del decision
        assert gone() is None
    finally:
        gc.enable()


@every_kind
def test_decisions_and_curves_can_be_stored(p, metric):
    decision = bestcut.decide(p, metric, max_positives=50)
    curve = pickle.loads(pickle.dumps(decision.curve))
    np.testing.assert_array_equal(curve.expected_score, decision.curve.expected_score)
    assert repr(pickle.loads(pickle.dumps(decision))) == repr(decision)


def test_a_threshold_of_half_that_breaks_what_was_asked_is_said_to():
    p = [0.9, 0.4, 0.4, 0.3, 0.1]
    shown = bestcut.decide(p, "precision", at_least={"recall": 0.8})._repr_html_()
    assert "1 positive; breaks a condition: expected recall 0.4" in shown
    assert "(at least 0.8)" in shown
    shown = bestcut.decide(p, "precision", at_least={"recall": 0.3})._repr_html_()
    assert "breaks" not in shown
    shown = bestcut.decide(p, "f1", min_positives=2)._repr_html_()
    assert "1 positive; at least 2 asked" in shown


def test_money_is_written_as_people_write_it():
    euro = bestcut.metrics.LinearUtility(tp=1_000_000, fp=-100)
    rows = rows_of(bestcut.decide([0.9, 0.4, 0.2], euro)._repr_html_())
    expected = "1,499,850.00, 90% between 999,800.00 and 3,000,000.00"
    assert rows["expected score"] == expected
    assert rows["with threshold 0.5"] == "899,990.00, 599,860.00 less, 1 positive"
