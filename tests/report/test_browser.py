"""The report in a browser: it works without a network, by keyboard, on any screen.

Needs Chromium and playwright (`make test-browser`); skipped where they are missing,
unless BESTCUT_BROWSER is set.
"""

import os
import shutil

import numpy as np
import pytest

pytest.importorskip("vl_convert")

import bestcut
from bestcut.report import _words, make_report

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
if os.environ.get("BESTCUT_BROWSER"):
    assert CHROMIUM, "BESTCUT_BROWSER is set, but there is no Chromium on the PATH"
elif CHROMIUM is None:
    pytest.skip("no Chromium on the PATH", allow_module_level=True)
else:
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import sync_playwright  # noqa: E402  (may be missing)

P = np.random.default_rng(3).beta(0.3, 3, 150)
LARGE = np.random.default_rng(1).beta(0.3, 3, 3000)
LONG = "a_very_long_name_without_any_space_" * 5
LONG_NAMED = bestcut.metrics.from_counts(
    lambda tp, fp, fn, tn: tp / (tp + fp + fn), name=LONG, zero_division=0.0
)

# The least contrast of any visible text with what is behind it, by WCAG.
CONTRAST = """() => {
  const light = (c) => {
    const [r, g, b] = c.map((x) => x / 255)
      .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const parts = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("body *")].filter((node) =>
    !node.closest("script, noscript, [hidden]") && node.getClientRects().length &&
    [...node.childNodes].some((x) => x.nodeType === 3 && x.textContent.trim()));
  const ratios = texts.map((node) => {
    const style = getComputedStyle(node);
    const ink = node.ownerSVGElement ? style.fill : style.color;
    const pair = [light(parts(ink).slice(0, 3)), light(behind(node))].sort();
    return [(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), node.textContent];
  });
  return { count: ratios.length, least: ratios.sort((a, b) => a[0] - b[0])[0] };
}"""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    reports = {
        "usual": make_report(P, "f1", title="Payments", source="scores.csv, column p"),
        "large": make_report(LARGE, "f1", also=["mcc"]),
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
        tab.wait_for_selector("#chart svg")
        assert asked == [files[name].as_uri()]
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def focus(tab, name):
    """Go to an element by the tab key alone."""
    for _ in range(20):
        tab.keyboard.press("Tab")
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
    tab.keyboard.press("Shift+Tab")
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


@pytest.mark.parametrize("name", ["usual", "large", "long"])
@pytest.mark.parametrize("width", [320, 360, 768, 1440])
def test_nothing_is_wider_than_the_screen(show, name, width):
    tab = show(name, viewport={"width": width, "height": 900})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    svg = tab.locator("#chart svg").bounding_box()
    assert svg["width"] > 0.5 * min(width, 900) - 40
    assert svg["x"] + svg["width"] <= width
    sizes = "[...document.querySelectorAll('main *')].map(x => getComputedStyle(x))"
    assert tab.evaluate(f"Math.min(...{sizes}.map(x => parseFloat(x.fontSize)))") >= 13


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_ground(show, scheme):
    tab = show(color_scheme=scheme)
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
        ("slider", "Cases to flag"),
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
