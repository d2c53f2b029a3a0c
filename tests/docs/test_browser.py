"""The site in a browser: no network, no message, any width, light and dark, keyboard.

Needs Chromium, playwright and the built site (`make test-browser`).
"""

import os
from pathlib import Path
from urllib.parse import quote

import pytest

from browsers import CONTRAST, chromium, skip_without_browser

SITE = Path(__file__).parents[2] / "build" / "docs"
if not os.environ.get("BESTCUT_SITE"):
    pytest.skip("`make test-browser` builds the site", allow_module_level=True)
skip_without_browser()

PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.html")
    if "_static" not in path.parts
)
SOME = [
    "index.html",
    "start/which-function.html",
    "guides/metrics.html",
    "guides/command.html",
    "how-it-works/lemmas.html",
    "evidence/benchmarks.html",
    "evidence/classes.html",
    "gallery/index.html",
    "reference/index.html",
    "reference/generated/bestcut.decide.html",
    "reference/generated/bestcut.estimators.ExpectedMetricClassifier.html",
]


# Words beyond the right end of the article; code and tables can be scrolled.
CUT_OFF = """() => {
  const article = document.querySelector("article");
  if (!article) return [];
  const end = article.getBoundingClientRect().right + 1;
  return [...article.querySelectorAll("p, dd, dt, li, code, a")]
    .filter((node) => !node.closest("pre, table") && node.getClientRects().length)
    .filter((node) => node.getBoundingClientRect().right > end)
    .map((node) => node.textContent.slice(0, 60));
}"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as made:
        yield made


@pytest.fixture
def wrong():
    """What should not happen in any test: messages, errors, requests to elsewhere."""
    noted = []
    yield noted
    assert noted == []


@pytest.fixture
def show(browser, wrong):
    """Return a function that opens a tab which notes what should not happen."""
    contexts = []

    def opened(**settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: wrong.append(message.text))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda request: inside(request.url))
        return tab

    def inside(url):
        if not url.startswith((SITE.as_uri(), "data:", "blob:")):
            wrong.append(f"asked for {url}")

    yield opened
    for context in contexts:
        context.close()


def visit(tab, page):
    tab.goto((SITE / page).as_uri())
    tab.wait_for_load_state("load")


def test_every_page_opens_without_a_message_or_a_request_to_elsewhere(show, wrong):
    tab = show(viewport={"width": 1280, "height": 900})
    for page in PAGES:
        tab.goto((SITE / page).as_uri())
        assert wrong == [], page


def test_a_message_and_a_request_to_elsewhere_are_noticed(show, wrong):
    tab = show()
    visit(tab, "index.html")
    tab.evaluate("console.warn('odd')")
    tab.evaluate("fetch('http://localhost:9/').catch(() => {})")
    tab.wait_for_timeout(200)
    assert wrong[0] == "odd"
    assert "asked for http://localhost:9/" in wrong
    wrong.clear()


@pytest.mark.parametrize("width", [360, 390, 768, 1280, 1440])
def test_no_page_is_wider_than_the_screen_and_no_word_is_cut_off(show, width):
    tab = show(viewport={"width": width, "height": 800})
    for page in PAGES if width in (360, 1280) else SOME:
        tab.goto((SITE / page).as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, page
        assert tab.evaluate(CUT_OFF) == [], page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(show, scheme):
    tab = show(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    for page in SOME:
        visit(tab, page)
        tab.add_style_tag(content="* { transition: none !important; }")  # colours fade
        assert tab.evaluate("document.documentElement.dataset.theme") == scheme
        found = tab.evaluate(CONTRAST)
        assert found["count"] > 20
        assert found["least"][0] >= 4.5, f"{page}: {found['least']}"


def test_search_finds_a_function_without_a_network(show):
    tab = show(viewport={"width": 1280, "height": 900})
    tab.goto(f"{(SITE / 'search.html').as_uri()}?q=score_distribution")
    first = tab.wait_for_selector("#search-results ul.search li a")
    assert "score_distribution" in first.inner_text()


# What people type, and the pages one of which should be among the first five found.
SEARCHED = {
    "cost-sensitive": ("Glossary", "Coming from", "Money"),
    "cost matrix": ("Coming from", "Glossary"),
    "false positive rate": ("FalsePositiveRate", "Glossary", "Coming from"),
    "FPR": ("Glossary", "Metrics"),
    "precision-recall": ("Coming from", "Glossary"),
    "class_weight": ("Coming from", "Glossary"),
    "imbalanced-learn": ("With your tools", "Coming from", "Glossary"),
    "threshold moving": ("Coming from", "Glossary"),
    "FAQ": ("Questions that people ask",),
    "glossary": ("Glossary",),
    "cost per transaction": ("Which function",),
    "drift": ("Which function",),
    "fairness": ("Which function",),
    "larger than memory": ("Any size",),
    "monitoring": ("Monitor",),
    "online prediction": ("Which function", "scikit-learn"),
    "precision floor": ("Certify", "Which function"),
    "two groups": ("Many small decisions",),
}


@pytest.mark.parametrize("words", SEARCHED)
def test_search_finds_a_page_for_what_people_type(show, words):
    tab = show(viewport={"width": 1280, "height": 900})
    tab.goto(f"{(SITE / 'search.html').as_uri()}?q={quote(words)}")
    tab.wait_for_selector("#search-results ul.search li a")
    tab.wait_for_timeout(300)  # results are shown one after the other
    found = [x.inner_text() for x in tab.query_selector_all("ul.search li > a")][:5]
    assert any(title in x for x in found for title in SEARCHED[words]), found


def test_the_keyboard_reaches_the_search_and_the_navigation(show):
    tab = show(viewport={"width": 1280, "height": 900})
    visit(tab, "index.html")
    tab.keyboard.press("Tab")
    assert "Skip to main content" in tab.evaluate("document.activeElement.innerText")
    reached = set()
    for _ in range(25):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.innerText.trim()"))
    assert {"Start", "Guides", "Reference", "Gallery"} <= reached
    tab.keyboard.press("Control+k")
    tab.wait_for_selector("dialog[open] input[type=search]")
    tab.keyboard.type("score_distribution")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=score_distribution*")


def test_the_theme_can_be_switched(show):
    tab = show(color_scheme="light", viewport={"width": 1280, "height": 900})
    visit(tab, "index.html")
    assert tab.evaluate("document.documentElement.dataset.theme") == "light"
    tab.click(".theme-switch-button >> visible=true")
    tab.click("text=Dark >> visible=true")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
