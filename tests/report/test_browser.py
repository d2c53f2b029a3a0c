"""The report in a browser: it works without a network, by keyboard, on any screen.

Needs Chromium and playwright (`make test-browser`); skipped where they are missing,
unless BESTCUT_BROWSER is set.
"""

import numpy as np
import pytest

pytest.importorskip("vl_convert")

import bestcut
from bestcut.report import _words, make_report
from browsers import CONTRAST, chromium, skip_without_browser

skip_without_browser()

P = np.random.default_rng(3).beta(0.3, 3, 150)
LARGE = np.random.default_rng(1).beta(0.3, 3, 3000)
WHETHER = np.random.default_rng(2).random(3000) < LARGE
EURO = bestcut.metrics.LinearUtility(tp=80, fp=-10, name="euro")
LONG = "a_very_long_name_without_any_space_" * 5
LONG_NAMED = bestcut.metrics.from_counts(
    lambda tp, fp, fn, tn: tp / (tp + fp + fn), name=LONG, zero_division=0.0
)


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    reports = {
        "usual": make_report(P, "f1", title="Payments", source="scores.csv, column p"),
        "large": make_report(LARGE, "f1", others=["mcc"]),
        "labelled": make_report(
            LARGE,
            "f1",
            others=["mcc"],
            y_true=WHETHER,
            max_positives=400,
            at_least={"precision": 0.4},
            worth=EURO,
        ),
        "long": make_report(P, LONG_NAMED, title=LONG, source=LONG),
        "empty": make_report([], "f1"),
        "equal": make_report([0.3] * 20, "squared_count_error"),
        "one": make_report([0.3], "accuracy"),
    }
    paths = {}
    for name, report in reports.items():
        paths[name] = folder / f"{name}.html"
        report.write(paths[name])
    return paths


@pytest.fixture
def show(browser, files):
    """Return a function that opens a report and notes what should not happen."""
    contexts, wrong = [], []

    def opened(name="usual", **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: wrong.append(message.text))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        asked = []
        tab.goto(files[name].as_uri())
        for name_ in ("chart", "histogram", "check"):
            if tab.locator(f"#{name_}").count() and name != "empty":
                tab.wait_for_selector(f"#{name_} svg")
        tab.wait_for_selector("#chart svg")
        assert asked == [files[name].as_uri()]
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def focus(tab, name, key="Tab"):
    """Go to an element by the tab key alone."""
    for _ in range(20):
        tab.keyboard.press(key)
        if tab.evaluate("document.activeElement.id") == name:
            style = "getComputedStyle(document.activeElement)"
            assert tab.evaluate(f"{style}.outlineStyle") == "solid"
            assert tab.evaluate(f"parseFloat({style}.outlineWidth)") >= 2
            return
    pytest.fail(f"the tab key does not reach {name}")


def check_what_is_shown(tab, p, k, metric, decimals):
    """Compare the page with what the library says about flagging k."""
    labels = np.zeros(p.size, dtype=bool)
    labels[np.argsort(-p, kind="stable")[:k]] = True
    score = bestcut.score_distribution(p, labels, metric)
    mean, low, high = (
        _words.fixed(x, decimals) for x in (score.mean, *score.interval(0.9))
    )
    said = tab.text_content("#say").replace("\u2248 ", "")
    assert said == (
        f"Flag {_words.whole(k)} of {_words.whole(p.size)}, with an expected "
        f"{score.metric.label} of {mean}, 90% between {low} and {high}."
    )
    confusion = bestcut.expected_confusion(p, labels)
    for cell, count in confusion.mean._asdict().items():
        assert tab.text_content(f"#{cell}") == _words.about(count)
        ends = map(_words.whole, getattr(confusion.interval(0.9), cell))
        assert tab.text_content(f"#{cell}-range") == " to ".join(ends)


def test_the_arrow_keys_move_the_cut(show):
    tab, k = show(), bestcut.decide(P, "f1").n_positive
    check_what_is_shown(tab, P, k, "f1", 2)
    curve = "document.querySelector('#chart svg').innerHTML"
    before = tab.evaluate(curve)
    focus(tab, "cut")
    for key, to in (("ArrowRight", k + 1), ("ArrowLeft", k), ("Home", 0), ("End", 150)):
        tab.keyboard.press(key)
        check_what_is_shown(tab, P, to, "f1", 2)
        spoken = tab.get_attribute("#cut", "aria-valuetext")
        assert spoken.startswith(f"{to} of 150, threshold ")
    tab.wait_for_function(f"before => {curve} !== before", arg=before)


def test_the_metric_is_switched_by_keyboard(show):
    tab = show()
    focus(tab, "metric")
    tab.keyboard.press("ArrowDown")  # to F2
    k = bestcut.decide(P, "f2").n_positive
    check_what_is_shown(tab, P, k, "f2", 2)
    assert tab.text_content("#curve-name") == "Expected F2"
    focus(tab, "cut")
    tab.keyboard.press("ArrowLeft")
    focus(tab, "metric", key="Shift+Tab")
    tab.keyboard.press("ArrowUp")  # back to F1, where the cut stays
    check_what_is_shown(tab, P, k - 1, "f1", 2)


def test_the_buttons_lead_to_the_best_cut_and_to_a_half(show):
    tab = show()
    half = np.count_nonzero(P >= 0.5)
    focus(tab, "to-half")
    tab.keyboard.press("Enter")
    check_what_is_shown(tab, P, half, "f1", 2)
    assert tab.get_attribute("#to-half", "aria-pressed") == "true"
    focus(tab, "to-best")
    tab.keyboard.press("Enter")
    check_what_is_shown(tab, P, bestcut.decide(P, "f1").n_positive, "f1", 2)
    assert tab.get_attribute("#to-half", "aria-pressed") == "false"


def type_into(tab, name, text):
    """Go to a field by the tab key, and type."""
    focus(tab, name)
    tab.keyboard.press("Control+a")
    tab.keyboard.type(text)
    tab.keyboard.press("Enter")


def check_beside(tab, p, k):
    """Compare precision and recall beside a cut with what the library says."""
    labels = np.zeros(p.size, dtype=bool)
    labels[np.argsort(-p, kind="stable")[:k]] = True
    for i, metric in enumerate(("precision", "recall")):
        score = bestcut.score_distribution(p, labels, metric)
        shown = tab.text_content(f"#beside-{i}-mean")
        decimals = len(shown.partition(".")[2])
        assert shown == _words.fixed(score.mean, decimals)
        ends = " to ".join(_words.fixed(x, decimals) for x in score.interval(0.9))
        assert tab.text_content(f"#beside-{i}-range") == ends


def test_precision_and_recall_are_beside_every_cut(show):
    tab = show()
    check_beside(tab, P, bestcut.decide(P, "f1").n_positive)
    focus(tab, "cut")
    tab.keyboard.press("ArrowRight")
    check_beside(tab, P, bestcut.decide(P, "f1").n_positive + 1)


def test_a_number_of_cases_is_typed(show):
    tab = show()
    type_into(tab, "count", "20")
    check_what_is_shown(tab, P, 20, "f1", 2)
    assert tab.input_value("#cut") == "20"
    below = np.sort(P)[::-1][19:21]
    assert below[1] < float(tab.input_value("#at")) <= below[0]


def test_a_threshold_is_typed(show):
    tab = show()
    for text in ("0.2", "0,05", "1", "0"):  # a comma will do
        type_into(tab, "at", text)
        k = int(np.count_nonzero(float(text.replace(",", ".")) <= P))
        check_what_is_shown(tab, P, k, "f1", 2)
        assert tab.input_value("#count") == str(k)


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("count", "many", "a number from 0 to 150"),
        ("count", "151", "a number from 0 to 150"),
        ("count", "", "a number from 0 to 150"),
        ("at", "1.2", "a probability from 0 to 1"),
        ("at", "-0.1", "a probability from 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused_and_said(show, name, text, rule):
    tab, k = show(), bestcut.decide(P, "f1").n_positive
    focus(tab, name)
    tab.keyboard.press("Control+a")
    tab.keyboard.press("Delete")
    tab.keyboard.type(text)
    tab.keyboard.press("Enter")
    expected = f"\u201c{text}\u201d is not {rule}. The cut stays as it was."
    assert tab.text_content("#which") == expected
    assert tab.input_value("#count") == str(k)


def test_a_number_between_the_cuts_that_are_shown_is_marked(show):
    tab, report = show("large"), make_report(LARGE, "f1", others=["mcc"])
    shown = report.cuts.n_positive
    k = next(k for k in range(600, 3000) if k not in shown)
    type_into(tab, "count", f"{k}")
    labels = np.zeros(LARGE.size, dtype=bool)
    labels[np.argsort(-LARGE)[:k]] = True
    said = tab.text_content("#say")
    assert said.startswith(f"Flag {_words.whole(k)} of 3,000, ")
    score = float(said.split("\u2248 ")[1].split(",")[0])
    exact = bestcut.expected_score(LARGE, labels, "f1")
    assert abs(score - exact) <= report.scores[0].apart + 0.0005  # is rounded
    assert tab.text_content("#tp").startswith("\u2248 ")
    assert tab.text_content("#which").startswith("That is about every case")
    above, below = np.sort(LARGE)[::-1][[k - 60, k + 60]]
    assert below < float(tab.input_value("#at")) < above
    x = float(np.sort(LARGE)[::-1][k])
    type_into(tab, "at", f"{x:.6f}")
    assert abs(int(tab.input_value("#count")) - k) < 30
    assert float(tab.input_value("#at")) == pytest.approx(x, abs=1e-6)
    focus(tab, "cut")
    tab.keyboard.press("ArrowRight")
    assert int(tab.input_value("#count")) in shown


def test_the_slider_is_linear_in_cases(show):
    tab = show("large")
    assert tab.get_attribute("#cut", "max") == "3000"
    tab.locator("#cut").scroll_into_view_if_needed()
    box = tab.locator("#cut").bounding_box()
    y = box["y"] + box["height"] / 2
    tab.mouse.click(box["x"] + box["width"] / 2, y)
    assert abs(int(tab.input_value("#count")) - 1500) < 50
    tab.mouse.click(box["x"] + box["width"] / 4, y)
    assert abs(int(tab.input_value("#count")) - 750) < 60


def test_the_histogram_follows_the_cut(show):
    tab = show()
    inside = "document.querySelector('#histogram svg').innerHTML"
    before = tab.evaluate(inside)
    assert "var(--accent)" in before
    focus(tab, "cut")
    tab.keyboard.press("Home")  # nothing is flagged
    tab.wait_for_function(f"() => !{inside}.includes('var(--accent)')")
    tab.keyboard.press("End")
    tab.wait_for_function(f"() => !{inside}.includes('var(--muted)\" opacity=\"0.3')")


def test_what_the_labels_gave_is_shown_at_every_cut(show):
    tab = show("labelled")
    assert tab.get_by_role("heading", name="What the labels say").count() == 1
    order = np.argsort(-LARGE, kind="stable")
    focus(tab, "cut")
    for key in ("ArrowRight", "ArrowLeft", "PageUp"):
        tab.keyboard.press(key)
        k = int(tab.input_value("#count"))
        tp = int(WHETHER[order[:k]].sum())
        f1 = 2 * tp / (k + WHETHER.sum())
        said = f"The realised score is {_words.fixed(f1, 3)}."
        assert tab.text_content("#say").endswith(said)
        assert tab.text_content("#tp-real") == f"labels: {tp}"
        euro = _words.whole(80 * tp - 10 * (k - tp))
        assert tab.text_content("#beside-2-real") == euro


def test_cuts_that_are_not_allowed_are_marked(show):
    tab = show("labelled")
    assert tab.get_by_text("At most 400 cases may be flagged.").count() == 1
    fails = "This cut does not satisfy the conditions."
    assert fails not in tab.text_content("#which")
    focus(tab, "cut")
    tab.keyboard.press("End")
    assert tab.text_content("#which").endswith(fails)


def test_a_pointer_on_the_chart_moves_the_cut(show):
    tab = show()
    chart = tab.locator("#chart svg")
    width = chart.bounding_box()["width"]
    chart.click(position={"x": 0.9 * width, "y": 50})
    flagged = int(tab.text_content("#say").split()[1])
    assert flagged > bestcut.decide(P, "f1").n_positive


def test_a_large_batch_marks_what_is_interpolated(show):
    tab, decision = show("large"), bestcut.decide(LARGE, "f1")
    check_what_is_shown(tab, LARGE, decision.n_positive, "f1", 3)
    assert "\u2248" not in tab.text_content("#say")
    focus(tab, "cut")
    tab.keyboard.press("ArrowRight")
    assert "\u2248" in tab.text_content("#say")


@pytest.mark.parametrize("name", ["empty", "one", "equal"])
def test_the_smallest_batches_are_shown(show, name):
    tab = show(name, viewport={"width": 360, "height": 740})
    assert tab.text_content("#say").startswith("Flag ")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("name", ["usual", "large", "long", "labelled"])
@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_screen(show, name, width):
    tab = show(name, viewport={"width": width, "height": 900})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    svg = tab.locator("#chart svg").bounding_box()
    assert svg["width"] > 0.5 * min(width, 900) - 40
    assert svg["x"] + svg["width"] <= width
    sizes = "[...document.querySelectorAll('main *')].map(x => getComputedStyle(x))"
    assert tab.evaluate(f"Math.min(...{sizes}.map(x => parseFloat(x.fontSize)))") >= 13


@pytest.mark.parametrize("name", ["usual", "labelled"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_ground(show, name, scheme):
    tab = show(name, color_scheme=scheme)
    found = tab.evaluate(CONTRAST)
    assert found["count"] > 100
    assert found["least"][0] >= 4.5, found["least"][1]
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    red = int(ground.removeprefix("rgb(").split(",")[0])
    assert (red > 200) == (scheme == "light")


def test_it_prints_on_white_without_controls(show):
    tab = show(color_scheme="dark", viewport={"width": 1440, "height": 900})
    tab.emulate_media(media="print", color_scheme="dark")
    tab.set_viewport_size({"width": 680, "height": 960})  # A4 less its margins
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert not tab.is_visible(".controls")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 680
    assert tab.evaluate(CONTRAST)["least"][0] >= 4.5
    assert tab.pdf(format="A4").count(b"/Type /Page\n") <= 4


def test_controls_have_names_and_news_are_announced(show):
    tab = show()
    for role, name in (
        ("combobox", "Metric"),
        ("slider", "Cases to flag, from none to all"),
        ("textbox", "Cases to flag"),
        ("textbox", "Threshold"),
        ("img", "How many cases have each probability"),
        ("button", "Best cut"),
        ("img", "Expected F1"),
    ):
        assert tab.get_by_role(role, name=name).count() == 1, name
    assert tab.get_attribute("#say", "aria-live") == "polite"


def test_the_decision_is_there_without_scripts(browser, files):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(files["usual"].as_uri())
    k = bestcut.decide(P, "f1").n_positive
    assert tab.text_content(".headline") == f"Flag the {k} most probable of 150 cases."
    assert tab.is_visible("noscript")
    assert not tab.is_visible("#explorer")
    context.close()


def test_words_beside_the_cut_are_whole_on_a_narrow_screen(show):
    tab = show("usual", viewport={"width": 1000, "height": 800})
    lines = tab.evaluate(
        """() => [...document.querySelectorAll(".beside tbody th")].map(cell => {
            const words = document.createRange();
            words.selectNodeContents(cell);
            return [cell.textContent, words.getClientRects().length];
        })"""
    )
    assert dict(map(tuple, lines)).items() >= {"Precision": 1, "Recall": 1}.items()
