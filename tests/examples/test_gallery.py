"""The gallery: twelve scripts in the form that the site needs, and all of them run.

Two are fast. The build of the site runs all of them too, with warnings as errors.
"""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

from groups import slow
from helpers import load_script

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "examples" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))
NAMES = [path.stem for path in SCRIPTS]
FAST = ("plot_03_baskets", "plot_06_faint_object")

every_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)


def text_of(script):
    return script.read_text(encoding="utf-8")


def headings(lines):
    """Return the lines of rST that are underlined, and their underlines."""
    return [(a, b) for a, b in pairwise(lines) if a and re.fullmatch(r"[=-]{4,}", b)]


def cells(text):
    """Return the cells of a script, each as the rST that it begins with."""
    parts = re.split(r"^# %%\n", text, flags=re.MULTILINE)[1:]
    starts = [re.match(r"(#.*\n)*", part)[0] for part in parts]
    return [re.sub(r"^# ?", "", start, flags=re.MULTILINE) for start in starts]


def test_cells_and_headings_are_found():
    found = cells("# %%\n# A title\n# -----\n#\n# Text.\nx = 1\n# %%\n# More.\n")
    assert found == ["A title\n-----\n\nText.\n", "More.\n"]
    assert headings(found[0].splitlines()) == [("A title", "-----")]  # too short


def test_there_are_twelve_and_they_are_numbered_from_one_to_twelve():
    numbers = [re.fullmatch(r"plot_(\d\d)_\w+\.py", path.name)[1] for path in SCRIPTS]
    assert numbers == [f"{i:02d}" for i in range(1, 13)]


def test_titles_differ_and_the_header_has_one():
    titles = [ast.get_docstring(ast.parse(text_of(s))).splitlines()[0] for s in SCRIPTS]
    assert len(set(titles)) == len(SCRIPTS)
    header = text_of(GALLERY / "GALLERY_HEADER.rst").splitlines()
    assert headings(header) == [("Gallery", "=======")]


@every_script
def test_it_begins_with_a_title_and_what_is_learned(script):
    title, underline, empty, *paragraph = ast.get_docstring(
        ast.parse(text_of(script))
    ).splitlines()
    assert underline == "=" * len(title)
    assert empty == ""
    assert len(" ".join(paragraph).split()) > 20


@every_script
def test_it_is_short_and_has_cells_with_headings_that_rst_can_read(script):
    text = text_of(script)
    assert 60 <= len(text.splitlines()) <= 120
    texts = cells(text)
    assert len(texts) >= 4
    assert all(start.strip() for start in texts)
    found = [pair for start in texts for pair in headings(start.splitlines())]
    assert len(found) >= 2
    assert all(len(line) == len(underline) for line, underline in found)


@every_script
def test_it_has_a_seed_a_picture_and_a_printed_result(script):
    text = text_of(script)
    assert re.search(r"default_rng\(\w+\)|random_state=\d", text)
    assert "default_rng()" not in text
    assert "np.random.seed" not in text
    assert "plt.show()" in text
    assert "print(" in text


@every_script
def test_its_last_word_is_a_link_to_a_page_that_is_there(script):
    text = text_of(script)
    pages = re.findall(r":doc:`(?:[^`<]+<)?/([\w/-]+)>?`", text)
    assert pages
    assert all((ROOT / "docs" / f"{page}.md").exists() for page in pages)
    assert ":doc:" in cells(text)[-1]


@pytest.mark.parametrize(
    "name", [name if name in FAST else slow(name) for name in NAMES]
)
def test_it_runs_without_a_warning_and_leaves_no_file(
    name, tmp_path, monkeypatch, capsys
):
    mpl = pytest.importorskip("matplotlib", reason="the gallery draws")
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda: None)
    before = set(plt.get_fignums())
    with mpl.rc_context():
        load_script(f"examples/gallery/{name}.py")
    drawn = set(plt.get_fignums()) - before
    for number in drawn:
        plt.close(number)
    assert drawn
    assert capsys.readouterr().out
    assert not list(tmp_path.iterdir())
