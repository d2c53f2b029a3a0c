"""A report about draws of probabilities: the library's numbers, and both intervals."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("vl_convert")

import bestcut
from bestcut import _outlook
from bestcut.report import _words, compute_report, make_report
from bestcut.report._maps import maps_of
from report.test_report import HOSTILE, Page

RNG = np.random.default_rng(3)
OLD = RNG.normal(size=150)
LABELS = RNG.random(150) < 1 / (1 + np.exp(1.5 - 2 * OLD))
CALIBRATION = bestcut.calibrate(LABELS, OLD)
NEW = np.clip(RNG.normal(size=40), OLD.min(), OLD.max())
P = CALIBRATION(NEW)


def report_of(p=P, others=("mcc",), **given):
    return compute_report(
        p, others=list(others), calibration=CALIBRATION, labelled=(LABELS, OLD), **given
    )


def flagged(p, k):
    labels = np.zeros(len(p), dtype=bool)
    labels[p._draws.order()[:k]] = True
    return labels


def check_against_the_library(p, report, places, within):
    for i in places:
        labels = flagged(p, int(report.cuts.n_positive[i]))
        confusion = bestcut.expected_confusion(p, labels)
        # Sums of up to n terms in another order, for each of 200 draws.
        np.testing.assert_allclose(
            report.cuts.mean[:, i], confusion.mean, rtol=1e-12, atol=1e-12
        )
        ranges = np.array(confusion.interval(0.9))
        apart = within * np.diff(ranges, axis=1).max() + 1  # points of a count round
        room = 0 if report.cuts.computed[i] else apart
        for ends, exact in ((report.cuts.low, 0), (report.cuts.high, 1)):
            np.testing.assert_allclose(ends[:, i], ranges[:, exact], rtol=0, atol=room)
        for one in report.scores:
            score = bestcut.score_distribution(p, labels, one.metric)
            assert abs(one.mean[i] - score.mean) <= one.error + score.error
            low, high = score.interval(0.9)
            room = 2 * score.value_error if one.computed[i] else within * (high - low)
            ends = one.low[i], one.high[i]
            np.testing.assert_allclose(ends, (low, high), rtol=0, atol=room)
            alone = bestcut.score_distribution(p.mean, labels, one.metric).interval(0.9)
            ends = one.known[0][i], one.known[1][i]
            room = within * (alone[1] - alone[0]) + 1e-12
            np.testing.assert_allclose(ends, alone, rtol=0, atol=room)


def test_the_numbers_are_those_of_the_library_at_every_cut():
    report = report_of(others=["mcc", "squared_count_error"])
    assert report.cuts.n_positive.tolist() == list(range(41))
    assert all(one.computed.all() for one in (report.cuts, *report.scores))
    check_against_the_library(P, report, range(41), within=0)
    for one in report.scores:
        best = bestcut.decide(P, one.metric)
        assert abs(one.mean[one.best] - best.expected_score) <= 2 * best.error
    first = report.scores[0]
    labels = flagged(P, int(report.cuts.n_positive[first.best]))
    score = bestcut.score_distribution(P, labels, first.metric)
    expected = (score.std_labels, score.std_calibration)
    np.testing.assert_allclose(first.parts, expected, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("long", [1 << 30, 0], ids=["usual", "as if it took long"])
def test_some_cuts_of_a_large_batch_are_those_of_the_library(monkeypatch, long):
    monkeypatch.setattr(_outlook, "_LONG", long)
    new = np.random.default_rng(1).normal(size=2000)
    p = CALIBRATION(np.clip(new, OLD.min(), OLD.max()))
    report = report_of(p)
    assert 60 < report.cuts.n_positive.size < 250
    for one in report.scores:
        assert not one.computed.all()
        assert one.computed[[one.best, 0, -1]].all()
        assert one.computed[report.cuts.half] or not long
    first = report.scores[0]
    for computed in (first.computed, report.cuts.computed):
        assert computed[[first.best, report.cuts.half]].all()
    # The worst that was seen in trials is 0.03, and 0.09.
    places = range(0, report.cuts.n_positive.size, 9)
    check_against_the_library(p, report, places, within=0.05 if long else 0.15)


def test_the_wide_interval_is_wider():
    first = report_of().scores[0]
    i = first.best
    assert first.high[i] - first.low[i] > first.known[1][i] - first.known[0][i]
    assert first.parts[1] > 0


def test_draws_that_agree_are_known_probabilities():
    p = np.array([0.9, 0.6, 0.4, 0.3, 0.1])
    drawn = make_report(bestcut.UncertainProbabilities([p, p]), others=[])
    known = make_report(p, others=[])
    np.testing.assert_allclose(drawn.scores[0].mean, known.scores[0].mean, rtol=1e-12)
    np.testing.assert_allclose(drawn.scores[0].low, known.scores[0].low, rtol=1e-12)
    assert drawn.scores[0].parts[1] == 0
    assert "100% is chance in the outcomes" in drawn.html()


# --- the page -------------------------------------------------------------------------


def test_the_page_says_what_the_interval_covers():
    report = report_of()
    page = report.html()
    text = re.sub(r"\s+", " ", page)
    assert f"150 cases with a known outcome, {LABELS.sum()} of them positive" in text
    for words in (
        "How scores became probabilities",
        "By chance alone between",
        "The dark band inside is due to chance alone",
        "The interval covers chance and doubt about the probabilities.",
        "It does not cover a change in the data, cases that depend on each other",
        "The labelled cases are like these.",
        _words.shares(report.scores[0], learned=True),
        _words.both_intervals(report.scores[0]),
    ):
        assert words in text
    assert "The interval covers chance only." not in text


def test_a_page_about_known_probabilities_has_none_of_that():
    page = make_report(P.mean, others=[]).html()
    found = Page(page)
    assert "The interval covers chance only." in page
    assert "By chance alone" not in page
    assert ("script", "maps-spec") not in found.texts
    assert all(attributes.get("id") != "maps" for _, attributes in found.tags)
    assert found.numbers["metrics"][0]["known"] is None


def test_the_maps_and_bins_are_drawn():
    report = report_of(title=HOSTILE, source=HOSTILE)
    found = Page(report.html())
    assert sum(tag == "script" for tag, _ in found.tags) == 6
    spec = json.loads(found.texts["script", "maps-spec"])
    maps = spec["datasets"]["maps"]
    scores = [row["score"] for row in maps]
    assert (scores[0], scores[-1]) == CALIBRATION.score_range
    draws = CALIBRATION.probabilities(scores)
    np.testing.assert_allclose([row["mean"] for row in maps], draws.mean(axis=0))
    low, high = ([row[end] for row in maps] for end in ("low", "high"))
    inside = (draws >= low) & (draws <= high)
    assert inside.mean() >= 0.89
    bins = spec["datasets"]["bins"]
    assert len(bins) == 10
    shares = [row["mean"] for row in bins]
    assert np.mean(shares) == pytest.approx(LABELS.mean())  # of 15 cases each
    assert all(row["low"] <= row["mean"] <= row["high"] for row in bins)
    known = report.scores[0].known
    shown = found.numbers["metrics"][0]["known"]
    np.testing.assert_allclose(shown, known, rtol=1e-11)


def test_wilsons_interval_is_the_textbooks():
    from bestcut.report._maps import _bins

    (row,) = _bins(np.arange(9) < 3, np.arange(9.0))
    # (1/3 - p)^2 = z^2 p (1 - p) / 9 at both ends
    for end in (row["low"], row["high"]):
        z = 1.6448536269514722
        assert (1 / 3 - end) ** 2 == pytest.approx(z**2 * end * (1 - end) / 9)


def test_bins_do_not_depend_on_the_order_of_rows():
    from bestcut.displays import CalibrationMapDisplay

    rng = np.random.default_rng(4)
    scores = np.repeat([0.1, 0.2, 0.3], [50, 30, 20])
    labels = rng.random(100) < scores
    calibration = bestcut.calibrate(labels, scores)
    other = rng.permutation(100)
    bins = maps_of(calibration, (labels, scores))["bins"]
    assert maps_of(calibration, (labels[other], scores[other]))["bins"] == bins
    assert len(bins) == 3  # equal scores are together
    # The display shows the same points.
    display = CalibrationMapDisplay(calibration, labels, scores).plot()
    x, y = display.points_.get_data()
    assert x.tolist() == [row["score"] for row in bins]
    assert y.tolist() == [row["mean"] for row in bins]


def test_without_labels_the_maps_are_drawn_alone():
    report = make_report(P, others=[], calibration=CALIBRATION)
    assert report.maps["maps"]
    assert report.maps["bins"] == []
    assert "Points are shares" not in report.html()


def test_other_draws_need_no_calibration():
    p = bestcut.UncertainProbabilities([[0.9, 0.5, 0.2], [0.7, 0.6, 0.2]])
    page = make_report(p, others=[]).html()
    assert "How sure the probabilities are" in page
    assert "The probabilities are among those drawn." in page
    assert "more labelled cases" not in page
    assert ("script", "maps-spec") not in Page(page).texts


EDGES = {
    "nothing": [],
    "one": [0.3],
    "equal": [0.3] * 30,
    "outside": [-50.0, 50.0, 50.0],
    "just too many for all cuts": [0.2] * 401,
}


@pytest.mark.filterwarnings("ignore:.*outside the labelled scores")
@pytest.mark.parametrize(
    "scores",
    [
        pytest.param(x, marks=pytest.mark.slow if len(x) > 400 else (), id=name)
        for name, x in EDGES.items()
    ],
)
@pytest.mark.parametrize("metric", ["f1", "squared_count_error"])
def test_any_batch_makes_a_page(scores, metric):
    report = make_report(
        CALIBRATION(scores), metric, others=["f1"], calibration=CALIBRATION
    )
    assert Page(report.html()).numbers["n"] == len(scores)


@pytest.mark.parametrize("labels", [[1], [0, 0], [0, 1, 0]])
def test_few_labels_make_a_page(labels):
    scores = np.full(len(labels), 0.4)
    calibration = bestcut.calibrate(labels, scores)
    report = compute_report(
        calibration([0.4, 0.4]),
        others=[],
        calibration=calibration,
        labelled=(np.array(labels, dtype=bool), scores),
    )
    assert report.maps == {"maps": [], "bins": []}  # one score is no line
    assert Page(report.html()).numbers["n"] == 2


def test_a_tie_that_scores_break_is_said_to_be_one():
    values = np.zeros((2, 1)) + 0.1
    from bestcut.uncertain import mapped

    place = np.linspace(0, 1, 20)
    p = mapped(place, np.ascontiguousarray(np.repeat(values, 3, axis=1)))
    report = make_report(p, "squared_count_error", others=[])
    rule = _words.rule(report.cuts, report.scores[0].best)
    assert rule == (
        "20 cases have a probability of exactly 0.1. Flag the first 2 of these 20, in "
        "the "
        "order of their scores."
    )


# --- what is refused ------------------------------------------------------------------


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="`calibration` must be a Calibration; got int"):
        make_report(P, calibration=3)
    with pytest.raises(TypeError, match=r"Pass `calibration\(scores\)` as `y_proba`"):
        make_report(P.mean, calibration=CALIBRATION)
    with pytest.raises(bestcut.SolverMismatchError, match="ranking principle"):
        make_report(P, bestcut.metrics.from_expression("fp - tp"))
