"""The report says what the library says, whatever its users call things."""

import base64
import hashlib
import html.parser
import importlib
import json
import os
import re
import resource
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st

pytest.importorskip("vl_convert")

import bestcut
from bestcut.metrics import from_expression
from bestcut.report import OTHERS, Report, _numbers, _words, make_report
from groups import few_and_many

P = np.random.default_rng(0).beta(0.4, 2, 80)
P.flags.writeable = False
LARGE = np.random.default_rng(1).beta(0.3, 3, 3000)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&$title"
VOID = {"meta", "link", "input", "img", "br"}


def flagged(p, k):
    """Return the labels that flag the k most probable, the earliest of equal ones."""
    labels = np.zeros(p.size, dtype=bool)
    labels[np.argsort(-p, kind="stable")[:k]] = True
    return labels


class Page(html.parser.HTMLParser):
    """What a page consists of."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append((tag, dict(attributes).get("id")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for key in self.open[-1:]:
            self.texts[key] = self.texts.get(key, "") + data

    @property
    def numbers(self):
        return json.loads(self.texts["script", "numbers"])


# --- the numbers ----------------------------------------------------------------------


def check_against_the_library(p, report, places):
    cuts = report.cuts
    for i in places:
        labels = flagged(p, int(cuts.n_positive[i]))
        confusion = bestcut.expected_confusion(p, labels)
        # Sums of up to n terms in another order.
        np.testing.assert_allclose(
            cuts.mean[:, i], confusion.mean, rtol=1e-15 * p.size, atol=1e-14
        )
        ranges = np.array(confusion.interval(0.9))
        np.testing.assert_array_equal(cuts.low[:, i], ranges[:, 0])
        np.testing.assert_array_equal(cuts.high[:, i], ranges[:, 1])
        for one in report.scores:
            score = bestcut.score_distribution(p, labels, one.metric)
            assert abs(one.mean[i] - score.mean) <= one.error + score.error
            low, high = score.interval(0.9)
            if one.computed[i]:
                close = {"rtol": 0, "atol": 2 * score.value_error}
            else:  # the worst that was seen in trials is 0.053, at few counts
                close = {"rtol": 0, "atol": 0.05 * (high - low)}
            np.testing.assert_allclose((one.low[i], one.high[i]), (low, high), **close)


@pytest.mark.parametrize("metric", ["f1", "accuracy", "squared_count_error"])
def test_the_numbers_are_those_of_the_library_at_every_cut(metric):
    report = make_report(P, metric, others=["mcc"])
    assert report.cuts.n_positive.tolist() == list(range(P.size + 1))
    assert all(one.computed.all() for one in report.scores)
    check_against_the_library(P, report, range(P.size + 1))


def test_a_formula_is_taken():
    tversky = from_expression("tp / (tp + 0.3*fp + 0.7*fn)")
    report = make_report(P, tversky, others=["f1", tversky, "f1"])
    assert [one.metric.name for one in report.scores] == [tversky.name, "f1"]
    check_against_the_library(P, report, range(0, P.size, 9))
    assert "0.3*fp" in report.html()


def test_some_cuts_of_a_large_batch_are_those_of_the_library():
    report = make_report(LARGE, "f1", others=["mcc", "accuracy"])
    places = range(0, report.cuts.n_positive.size, 5)
    check_against_the_library(LARGE, report, places)
    for one in report.scores:
        known = np.flatnonzero(one.computed)
        assert {one.best, report.cuts.half, 0, one.computed.size - 1} <= set(known)
        assert not one.computed.all()
        check_against_the_library(LARGE, report, [one.best, report.cuts.half])


def test_the_best_cuts_and_the_one_at_a_half_are_shown():
    p = LARGE[:600]  # more than have all their cuts shown
    report = make_report(p, "f1")
    sizes = report.cuts.n_positive
    assert 100 < sizes.size < 600
    assert (np.diff(sizes) > 0).all()
    assert (sizes[0], sizes[-1]) == (0, p.size)
    assert sizes[report.cuts.half] == np.count_nonzero(p >= 0.5)
    assert len(report.scores) == len(OTHERS)
    for one in report.scores:
        best = bestcut.decide(p, one.metric)
        assert abs(one.mean[one.best] - best.expected_score) <= 2 * best.error


def test_a_threshold_of_a_half_flags_a_half():
    report = make_report([0.9, 0.5, 0.2])
    assert report.cuts.n_positive[report.cuts.half] == 2


# --- the words ------------------------------------------------------------------------


@few_and_many(
    30, 200, given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.data())
)
def test_the_threshold_that_is_shown_makes_the_cut(p, data):
    p = np.array(p)
    metric = bestcut.metrics.get("accuracy")
    nothing = _numbers.Conditions()
    cuts = _numbers.compute(p, [metric], [], nothing, lambda what: None).cuts
    i = data.draw(st.integers(1, p.size))
    shown = float(_words.threshold_at(cuts, i))
    above = np.count_nonzero(p >= shown)
    if cuts.tied[i] == cuts.tied_flagged[i]:
        assert above == i
    else:
        assert above - cuts.tied[i] + cuts.tied_flagged[i] == i


@pytest.mark.parametrize(
    ("number", "decimals", "text"),
    [
        (0.125, 2, "0.13"),
        (-0.001, 2, "0.00"),
        (1234567.5, 0, "1,234,568"),
        (-1234.5, 1, "-1,234.5"),
        (999.0, 0, "999"),
    ],
)
def test_numbers_are_written_as_by_the_script(number, decimals, text):
    assert _words.fixed(number, decimals) == text


def test_small_expected_counts_have_a_decimal():
    shown = [_words.about(x) for x in (0, 0.04, 2.25, 9.94, 9.95, 10.4)]
    assert shown == ["0", "0.0", "2.3", "9.9", "10", "10"]


def said(p, metric="f1"):
    report = make_report(p, metric, others=[])
    cuts, first = report.cuts, report.scores[0]
    return {
        "headline": _words.headline(cuts, first.best),
        "rule": _words.rule(cuts, first.best),
        "outcome": _words.outcome(cuts, first.best),
        "comparison": _words.comparison(cuts, first, first.metric.label),
    }


def test_the_decision_is_said_in_words():
    words = said([0.62, 0.48, 0.31, 0.31, 0.22, 0.09, 0.04, 0.02])
    assert words == {
        "headline": "Flag the 4 most probable of 8 cases.",
        "rule": "That is every case with a probability of 0.31 or more.",
        "outcome": "Of the 4 flagged cases, about 1.7 are right and 2.3 are false "
        "alarms. "
        "Of about 2.1 positives in all, 0.4 are missed.",
        "comparison": "A threshold of 0.5 flags 1, with an expected F1 of 0.39 instead "
        "of 0.53.",
    }


def test_a_cut_inside_a_tie_is_said_to_be_one():
    rule = "20 cases have a probability of exactly 0.1. Flag "
    alone = said([0.1] * 20, "squared_count_error")["rule"]
    assert alone == f"{rule}the first 2 of these 20, in the order of the input."
    more = said([0.9, *[0.1] * 20], "squared_count_error")["rule"]
    assert more.startswith(f"{rule}the cases above it and the first 2 of these 20")


def test_it_is_said_if_nothing_or_everything_is_flagged():
    nothing = said([0.1] * 20, "accuracy")
    assert nothing["headline"] == "Flag none of the 20 cases."
    assert nothing["outcome"].startswith("No other cut has a better expected score.")
    assert nothing["comparison"].startswith("A threshold of 0.5 makes the same cut")
    assert said([0.3] * 5)["headline"] == "Flag all 5 cases."
    assert said([0.3])["headline"] == "Flag the only case."
    assert said([0.3], "accuracy")["headline"] == "Flag nothing."
    assert said([])["headline"].startswith("There is nothing to decide")


def test_the_page_says_what_is_interpolated():
    assert "So are the intervals." in make_report(P, others=[]).html()
    large = make_report(LARGE, others=[])
    count = np.count_nonzero(large.scores[0].computed)
    assert f"Intervals of F1 were computed at {count} of these cuts" in large.html()


# --- the page -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page():
    return make_report(P, "f1", title=HOSTILE, source=HOSTILE).html()


def test_the_page_is_complete_and_small(page):
    assert page.startswith("<!doctype html>")
    assert len(page.encode()) < 3_000_000
    for tag, attributes in Page(page).tags:
        assert "src" not in attributes
        assert tag != "link" or attributes == {"rel": "icon", "href": "data:,"}
    assert "default-src 'none'" in page
    assert "@import" not in page.partition("<script")[0]


def test_what_users_write_is_text_only(page):
    found = Page(page)
    assert found.texts["h1", None] == HOSTILE
    assert found.texts["title", None] == HOSTILE
    assert sum(tag == "script" for tag, _ in found.tags) == 5
    assert all(tag != "img" for tag, _ in found.tags)


def test_names_of_metrics_are_text_only():
    named = bestcut.metrics.from_counts(
        lambda tp, fp, fn, tn: tp / (tp + fp + fn), name=HOSTILE, zero_division=0.0
    )
    text = make_report(P, named, others=["f1"]).html()
    found = Page(text)
    assert sum(tag == "script" for tag, _ in found.tags) == 5
    assert found.texts["h1", None] == f"The best cut for {HOSTILE}"
    assert found.numbers["metrics"][0]["label"] == HOSTILE
    assert found.texts["option", None].startswith(HOSTILE)


def test_the_script_gets_the_numbers_of_the_report(page):
    report, numbers = make_report(P, "f1"), Page(page).numbers
    assert numbers["n"] == P.size
    assert numbers["flagged"] == report.cuts.n_positive.tolist()
    # Twelve digits are written.
    np.testing.assert_allclose(numbers["mean"], report.cuts.mean, rtol=1e-11)
    for kind in ("metrics", "beside"):
        scores = {"metrics": report.scores, "beside": report.beside}[kind]
        for shown, one in zip(numbers[kind], scores, strict=True):
            assert shown["label"] == one.metric.label
            np.testing.assert_allclose(shown["mean"], one.mean, rtol=1e-11)
            np.testing.assert_allclose(shown["low"], one.low, rtol=1e-11)


EDGES = {
    "empty": [],
    "one": [0.3],
    "equal": [0.3] * 30,
    "sure": [1.0, 1.0, 0.0],
    "never": [0.0] * 4,
    "just too many for all cuts": [0.2] * 401,
}


def some_pages():
    """Return batches and metrics; of the largest, one metric is fast."""
    for name, p in EDGES.items():
        for metric in ("f1", "accuracy", "squared_count_error"):
            fast = len(p) < 100 or metric == "f1"
            marks = () if fast else pytest.mark.slow
            yield pytest.param(p, metric, marks=marks, id=f"{name}-{metric}")


@pytest.mark.parametrize(("p", "metric"), list(some_pages()))
def test_any_batch_makes_a_page(p, metric):
    report = make_report(p, metric)
    check_against_the_library(np.array(p), report, [report.scores[0].best])
    assert Page(report.html()).numbers["n"] == len(p)


def test_the_same_input_gives_the_same_bytes():
    code = (
        "import hashlib; from bestcut.report import make_report; "
        "page = make_report([0.9, 0.4, 0.1]).html().encode(); "
        "print(hashlib.sha256(page).hexdigest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    here = make_report([0.9, 0.4, 0.1]).html().encode()
    assert run.stdout.strip() == hashlib.sha256(here).hexdigest()


def test_a_report_is_written_and_summed_up(tmp_path):
    report = make_report([0.9, 0.4, 0.1], title="odd \udcff name")
    report.write(tmp_path / "r.html")
    assert "odd ? name" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert isinstance(report, Report)
    assert repr(report) == f"Report({report.summary()})"
    assert report.summary().startswith("1 of 3 flagged, expected F1 0.76")


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path):
    report, path = make_report([0.9, 0.4, 0.1]), tmp_path / "r.html"
    path.write_text("old", encoding="utf-8")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(bestcut.FileError, match=r"r\.html: could not be written"):
            report.write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["r.html"]


# --- what is refused ------------------------------------------------------------------


def test_wrong_arguments_are_refused():
    with pytest.raises(bestcut.InvalidProbabilityError, match=r"y_proba\[1\] = 1\.5"):
        make_report([0.5, 1.5])
    with pytest.raises(
        TypeError, match=r"`others` must be a list of metrics; got 'f1'"
    ):
        make_report(P, others="f1")
    with pytest.raises(TypeError, match="`title` must be a string; got int"):
        make_report(P, title=3)
    with pytest.raises(TypeError, match="`source` must be a string; got NoneType"):
        make_report(P, source=None)
    with pytest.raises(ValueError, match="`metric` 'f3x' is not known"):
        make_report(P, "f3x")
    with pytest.raises(bestcut.SolverMismatchError, match="ranking principle"):
        make_report(P, others=[from_expression("fp - tp")])


def test_a_missing_package_is_named(monkeypatch):
    import bestcut.report

    monkeypatch.setitem(sys.modules, "vl_convert", None)
    message = r"bestcut.report needs vl-convert-python: pip install 'bestcut\[report\]'"
    with pytest.raises(ImportError, match=message):
        importlib.reload(bestcut.report)


def test_the_metric_of_the_decision_is_not_shown_twice():
    worth = bestcut.metrics.LinearUtility(tp=80, fp=-10, name="euro")
    p = np.random.default_rng(0).beta(0.3, 3, 80)
    page = make_report(p, worth, worth=worth, others=()).html()
    assert page.count("<dt>Expected euro</dt>") == 1
    page = make_report(p, "f1", worth=worth, others=()).html()
    assert page.count("<dt>Expected euro</dt>") == 1


def test_browsers_run_the_scripts_of_the_page_and_no_others():
    text = make_report([0.9, 0.4], "f1", title=HOSTILE).html()
    page = Page(text)
    (policy,) = (
        attributes["content"]
        for tag, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    directives = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    assert directives["default-src"] == "'none'"
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 2  # the others are data, which do not run
    digests = [hashlib.sha256(each.encode()).digest() for each in scripts]
    allowed = [f"'sha256-{base64.b64encode(each).decode()}'" for each in digests]
    assert directives["script-src"].split() == allowed
    # Browsers hash what they read, in which no return is left.
    assert "\r" not in text
