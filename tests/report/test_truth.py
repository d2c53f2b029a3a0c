"""Labels, conditions and worths in a report: the library's numbers, and their words."""

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("vl_convert")

import bestcut
from bestcut.metrics import LinearUtility
from bestcut.report import _truth, _words, compute_report, make_report
from groups import one_in
from report.test_report import HOSTILE, LARGE, Page, flagged

P = np.random.default_rng(0).beta(0.4, 2, 80)
LABELS = np.random.default_rng(1).random(80) < P
EURO = LinearUtility(tp=80, fp=-10, name="euro")


# --- beside every cut -----------------------------------------------------------------


@pytest.mark.parametrize("p", [P, LARGE], ids=["small", "large"])
def test_precision_recall_and_worth_are_those_of_the_library(p):
    report = make_report(p, others=[], worth=EURO)
    assert [one.metric.name for one in report.beside] == ["precision", "recall", "euro"]
    best = report.scores[0].best
    for i in {*range(0, report.cuts.n_positive.size, 7), best, report.cuts.half}:
        labels = flagged(p, int(report.cuts.n_positive[i]))
        for one in report.beside:
            score = bestcut.score_distribution(p, labels, one.metric)
            assert abs(one.mean[i] - score.mean) <= one.error + score.error
            low, high = score.interval(0.9)
            # Interpolated ends were off by 0.053 at most in trials, at few counts.
            room = 2 * score.value_error if one.computed[i] else 0.06 * (high - low)
            ends = one.low[i], one.high[i]
            np.testing.assert_allclose(ends, (low, high), rtol=0, atol=room)
    for one in report.beside:
        assert one.computed[best]
        assert one.computed[report.cuts.half]


def test_precision_of_draws_is_that_of_the_library():
    rng = np.random.default_rng(2)
    p = bestcut.UncertainProbabilities(rng.beta(0.4, 2, (20, 30)))
    report = make_report(p, others=[], worth=EURO)
    order = p._draws.order()
    for i in range(0, 31, 5):
        labels = np.zeros(30, dtype=bool)
        labels[order[: report.cuts.n_positive[i]]] = True
        for one in report.beside:
            score = bestcut.score_distribution(p, labels, one.metric)
            assert abs(one.mean[i] - score.mean) <= one.error + score.error
            room = 2 * score.value_error
            ends = one.low[i], one.high[i]
            np.testing.assert_allclose(ends, score.interval(0.9), rtol=0, atol=room)


def test_a_line_between_the_cuts_is_as_near_as_is_said():
    for metric in ("f1", "mcc", "accuracy", EURO):
        report = make_report(LARGE, metric, others=[])
        one = report.scores[0]
        curve = bestcut.decide(LARGE, metric).curve
        k, sizes = curve.n_positive, report.cuts.n_positive
        line = np.interp(k, sizes, one.mean)
        away = np.abs(line - curve.expected_score)
        assert away.max() <= one.apart + one.error + curve.error
        assert f"is then off by at most {one.apart:.1g}." in report.html()


def test_the_worth_is_on_the_page():
    page = make_report(P, others=[], worth=EURO).html()
    assert "<dt>Expected euro</dt>" in page
    assert Page(page).numbers["beside"][2]["label"] == "euro"
    named = LinearUtility(tp=1, name=HOSTILE)
    found = Page(make_report(P, others=[], worth=named).html())
    assert sum(tag == "script" for tag, _ in found.tags) == 5


def test_only_worths_are_taken_for_worths():
    with pytest.raises(TypeError, match="`worth` must be a LinearUtility; got str"):
        make_report(P, worth="f1")
    with pytest.raises(bestcut.SolverMismatchError, match="ranking principle"):
        make_report(P, worth=LinearUtility(tp=-3))


# --- conditions -----------------------------------------------------------------------

CONDITIONS = {
    "at most": {"max_positives": 5},
    "expected": {"at_least": {"precision": 0.6}},
    "both": {"max_positives": 9, "at_least": {"precision": 0.5}},
    "sure": {"at_least": {"precision": bestcut.goals.Certain(0.5, probability=0.8)}},
    "rate": {"at_most": {"fpr": 0.2}},
    "several": {"at_least": {"recall": [0.2, 0.3], "accuracy": 0.5}},
}


@one_in(2, "given, drawn", CONDITIONS, {"known": False, "drawn": True})
def test_the_best_cuts_are_those_of_decide(given, drawn):
    p = P[:40]
    if drawn:
        p = bestcut.UncertainProbabilities([p, np.clip(p * 1.1, 0, 1)])
    report = make_report(p, "f1", others=["mcc"], **given)
    for one in report.scores:
        decision = bestcut.decide(p, one.metric, **given)
        assert report.cuts.n_positive[one.best] == decision.n_positive
        assert report.cuts.allowed[one.best]


@pytest.mark.parametrize("given", CONDITIONS.values(), ids=CONDITIONS)
def test_it_is_said_which_cuts_are_allowed(given):
    report = make_report(P, others=[], **given)
    most = given.get("max_positives", P.size)
    for k in range(0, P.size + 1, 3):
        labels = flagged(P, k)
        holds = k <= most
        for name, wanted in given.get("at_least", {}).items():
            score = bestcut.score_distribution(P, labels, name)
            for floor in wanted if isinstance(wanted, list) else [wanted]:
                if isinstance(floor, bestcut.goals.Certain):
                    reached = score.prob_at_least(floor.score)
                    holds &= reached >= floor.probability
                else:
                    holds &= score.mean >= floor
        for name, most_of_it in given.get("at_most", {}).items():
            holds &= bestcut.expected_score(P, labels, name) <= most_of_it
        assert report.cuts.allowed[k] == holds


def test_conditions_are_said_in_words():
    report = make_report(
        P,
        others=[],
        max_positives=1200,
        at_least={"precision": [0.2, bestcut.goals.Certain(0.1, probability=0.95)]},
    )
    assert _words.conditions(report.conditions) == (
        "At most 1,200 cases may be flagged. The expected Precision must be at "
        "least 0.2. Precision must be at least 0.1 with a probability of 95%."
    )
    one = make_report(P, others=[], max_positives=1)
    assert "At most 1 case may be flagged." in one.html()
    assert "Cuts on a grey background do not satisfy the conditions." in one.html()
    assert "grey background" not in make_report(P, others=[]).html()


def test_a_threshold_of_a_half_that_is_not_allowed_is_said_to_be():
    report = make_report([0.9, 0.8, 0.7, 0.1], max_positives=1, others=[])
    said = _words.comparison(report.cuts, report.scores[0], "F1")
    assert said.endswith("It does not satisfy the conditions.")


def test_conditions_that_nothing_satisfies_are_refused():
    with pytest.raises(bestcut.InfeasibleError, match="cannot be satisfied"):
        make_report(P, at_least={"precision": 0.9999})
    with pytest.raises(ValueError, match="`max_positives`"):
        make_report(P, max_positives=-1)


# --- labels ---------------------------------------------------------------------------


def test_realised_scores_are_those_of_the_labels():
    report = make_report(P, "f1", others=["mcc"], worth=EURO, y_true=LABELS.astype(int))
    truth = report.truth
    for i, k in enumerate(report.cuts.n_positive.tolist()):
        labels = flagged(P, k)
        counts = (labels & LABELS).sum(), k, LABELS.sum(), P.size
        for one, seen in zip(report.scores, truth.scores, strict=True):
            assert seen[i] == pytest.approx(float(one.metric(*counts)), abs=1e-15)
        for one, seen in zip(report.beside, truth.beside, strict=True):
            assert seen[i] == pytest.approx(float(one.metric(*counts)), abs=1e-15)
        assert truth.cells[:, i].sum() == P.size
        assert truth.cells[0, i] == counts[0]
    check = bestcut.check_calibration(LABELS, P)
    assert truth.check.verdict == check.verdict
    decision = bestcut.decide(P, "f1")
    seen = truth.scores[0][report.scores[0].best]
    expected = decision.distribution().surprise(seen)
    assert truth.surprise.verdict == expected.verdict
    assert truth.surprise.p_value == pytest.approx(expected.p_value, rel=1e-12)


def test_ties_are_flagged_in_the_order_of_the_input():
    report = make_report([0.5] * 4, others=[], y_true=[1, 0, 1, 0])
    assert report.truth.cells[0].tolist() == [0, 1, 1, 2, 2]


def test_the_page_says_what_the_labels_gave():
    report = make_report(P, others=[], y_true=LABELS)
    page = report.html()
    found, i = Page(page), report.scores[0].best
    assert "What the labels say" in page
    assert _words.realised(report.truth.cells[:, i]) in page
    assert ("script", "check-spec") in found.texts
    shown = found.numbers["metrics"][0]["realised"]
    np.testing.assert_allclose(shown, report.truth.scores[0], rtol=1e-11)
    assert found.numbers["truth"] == report.truth.cells.tolist()
    assert "; realised 0." in report.summary()
    without = make_report(P, others=[])
    assert "What the labels say" not in without.html()
    assert "realised" not in without.summary()
    assert Page(without.html()).numbers["truth"] is None


def test_one_case_is_said_to_be_one():
    assert _words.realised(np.array([1, 2, 1, 5])) == (
        "By the labels, 1 of the 3 flagged cases is right and 2 are false alarms; 1 of "
        "2 "
        "positives is missed."
    )


@pytest.mark.parametrize("label", [0, 1])
def test_labels_that_are_all_the_same_are_taken(label):
    report = make_report(P, others=["mcc"], y_true=[label] * 80)
    assert not report.truth.check.fits
    assert Page(report.html()).numbers["n"] == 80


def test_labels_of_draws_are_checked_unless_they_are_many(monkeypatch):
    p = bestcut.UncertainProbabilities([P, np.clip(P * 1.1, 0, 1)])
    assert make_report(p, others=[], y_true=LABELS).truth.check is not None
    monkeypatch.setattr(_truth, "MOST_CHECKED", 79)
    report = make_report(p, others=[], y_true=LABELS)
    assert report.truth.check is None
    assert "was not checked" in report.html()


def test_no_labels_of_no_cases():
    report = make_report([], others=[], y_true=[])
    assert report.truth.cells.tolist() == [[0]] * 4
    assert "There are no labels to check." in report.html()


@pytest.mark.parametrize(
    ("labels", "message"),
    [([1, 0], "y_true"), ([2] * 80, r"`y_true`|y_true\[0\]"), (["a"] * 80, "y_true")],
)
def test_what_is_no_label_is_refused(labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make_report(P, y_true=labels)


# --- the histogram, and progress ------------------------------------------------------


def test_every_case_is_in_one_bar_of_the_histogram():
    for p in (P, LARGE, np.array([0.0, 1.0]), np.full(3, 0.25)):
        bars = make_report(p, others=[]).histogram
        assert sum(count for _, _, count in bars) == p.size
        assert bars[0][0] <= p.min() <= p.max() <= bars[-1][1]
        for (_, end, _), (start, _, _) in pairwise(bars):
            assert end == start
    assert make_report([], others=[]).histogram == []


def test_steps_are_told():
    told = []
    compute_report(
        P, others=["mcc"], y_true=LABELS, on_step=lambda *step: told.append(step)
    )
    assert [done for _, done, _ in told] == list(range(len(told)))
    assert {total for _, _, total in told} == {len(told)}
    assert told[0][0] == "Deciding"
    assert told[-1][0] == "Looking at the labels"
    assert "Computing MCC" in [what for what, _, _ in told]
