"""The built site: no dead link, nothing from elsewhere, pictures and search are there.

`make docs` builds the site and runs this.
"""

import json
import os
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "docs"
if not os.environ.get("BESTCUT_SITE"):
    pytest.skip("`make docs` builds the site and tests it", allow_module_level=True)

PAGES = sorted(x for x in SITE.rglob("*.html") if "_static" not in x.parts)
LOADS = {"img": "src", "script": "src", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The links, the anchors and the loaded files of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.loads, self.images = [], set(), [], []
        self.title, self._in_title = "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note what a tag refers to."""
        given = dict(attrs)
        self.anchors |= {given[x] for x in ("id", "name") if given.get(x)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in LOADS and given.get(LOADS[tag]):
            self.loads.append(given[LOADS[tag]])
        if tag == "img":
            self.images.append(given)
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon"):
            self.loads.append(given["href"])
        self._in_title = tag == "title"

    def handle_data(self, data):
        """Note the title."""
        if self._in_title:
            self.title += data

    def handle_endtag(self, tag):
        """End the title."""
        self._in_title = False


@cache
def parsed(path):
    return Page(path.read_text(encoding="utf-8"))


def dead(page, link):
    """Return whether a link of a page leads nowhere within the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = page
    if parts.path:
        target = (page.parent / unquote(parts.path)).resolve()
        target = target / "index.html" if target.is_dir() else target
    if not target.is_file() or not target.is_relative_to(SITE.resolve()):
        return True
    anchor = unquote(parts.fragment)
    return (
        bool(anchor)
        and target.suffix == ".html"
        and (anchor not in parsed(target).anchors)
    )


def test_all_pages_are_there():
    titles = {page.relative_to(SITE).as_posix() for page in PAGES}
    sources = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/reference/*.rst")]
    written = ROOT / "docs" / "evidence" / "results"  # files beside the site
    for source in (x for x in sources if not x.is_relative_to(written)):
        name = source.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert name in titles
    assert len(PAGES) > 150
    assert all(parsed(page).title for page in PAGES)


def test_no_internal_link_and_no_anchor_is_dead():
    found = [
        f"{page.relative_to(SITE)}: {link}"
        for page in (p.resolve() for p in PAGES)
        for link in parsed(page).links
        if dead(page, link)
    ]
    assert not found
    assert sum(len(parsed(page).links) for page in PAGES) > 5000


def test_a_dead_link_is_noticed():
    page = (SITE / "index.html").resolve()
    assert not dead(page, "start/index.html#start")
    assert not dead(page, "https://example.org/nothing")
    for link in ("start/nothing.html", "start/index.html#nothing", "../conf.py", "#no"):
        assert dead(page, link)


def test_nothing_is_loaded_from_elsewhere():
    for page in PAGES:
        for target in parsed(page).loads:
            if not target.startswith("data:"):
                assert not dead(page.resolve(), target), f"{page.name} loads {target}"
                assert not urlsplit(target).netloc, f"{page.name} loads {target}"
    for sheet in SITE.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", text)


def test_pictures_have_words():
    for page in PAGES:
        for image in parsed(page).images:
            beside_its_title = "_thumb" in image["src"]
            assert image.get("alt") or beside_its_title, f"{page.name}: {image['src']}"
            assert "alt" in image


def test_the_gallery_has_twelve_examples_with_pictures():
    examples = sorted((SITE / "gallery").glob("plot_*.html"))
    assert len(examples) == 12
    for page in examples:
        pictures = [x for x in parsed(page).images if "sphx_glr" in x["src"]]
        assert pictures, page.name
        for picture in pictures:
            assert (page.parent / picture["src"]).stat().st_size > 5000
    index = parsed(SITE / "gallery" / "index.html")
    thumbs = [x["src"] for x in index.images if "thumb" in x["src"]]
    assert len(set(thumbs)) == 12


def test_search_knows_the_names():
    text = (SITE / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    names = {entry[4] for entry in index["objects"]["bestcut"]}
    assert {"score_distribution", "decide", "decide_each"} <= names
    assert "score_distribut" in index["terms"] or "score_distribution" in index["terms"]


def test_formulas_are_typeset():
    text = (SITE / "how-it-works" / "lemmas.html").read_text(encoding="utf-8")
    assert text.count("<math") > 800
    assert not re.search(r"\\(?:sum|le|ge|mathrm|frac)\b", text)


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("start/which-function.html", "bestcut.calibrate"),
        ("guides/metrics.html", "bestcut.check_metric"),
        ("guides/many-problems.html", "bestcut.decide_each"),
    ],
)
def test_names_in_pages_lead_to_the_reference(page, name):
    links = parsed(SITE / page).links
    assert any(link.endswith(f"generated/{name}.html#{name}") for link in links)
