"""Every public name is in the reference, once."""

import re
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("numpydoc", reason="numpydoc is not installed")

import docstrings

import bestcut

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
BLOCK = re.compile(
    r"^\.\. currentmodule:: (\S+)\n\n\.\. autosummary::\n   :toctree: generated/\n\n"
    r"((?:   \S+\n)+)",
    re.MULTILINE,
)


def listed(text):
    """Return the names that a page of the reference lists."""
    return [
        f"{module}.{name}"
        for module, names in BLOCK.findall(text)
        for name in names.split()
    ]


def test_every_public_name_is_listed_once():
    pages = sorted(REFERENCE.glob("*.rst"))
    found = Counter(
        name for page in pages for name in listed(page.read_text(encoding="utf-8"))
    )
    assert found == Counter(list(docstrings.public_names()))


def test_no_list_of_a_page_is_overlooked():
    for page in REFERENCE.glob("*.rst"):
        text = page.read_text(encoding="utf-8")
        assert len(BLOCK.findall(text)) == text.count(".. autosummary::"), page.name


def test_every_page_is_in_the_index():
    index = (REFERENCE / "index.rst").read_text(encoding="utf-8")
    for page in REFERENCE.glob("*.rst"):
        if page.stem != "index":
            assert f":doc:`{page.stem}`" in index
            assert re.search(rf"^   {page.stem}$", index, re.MULTILINE)


def test_a_name_that_is_left_out_is_noticed():
    text = (
        ".. currentmodule:: a\n\n"
        ".. autosummary::\n   :toctree: generated/\n\n   b\n   c\n"
    )
    assert listed(text) == ["a.b", "a.c"]
    assert listed(text.replace("   c\n", "")) == ["a.b"]


def test_engines_that_are_not_there_are_forgotten():
    before = set(sys.modules)
    names = docstrings.public_names()
    assert "bestcut.torch.decide_masks" in names
    assert set(sys.modules) - before == set()
    if find_spec("torch") is None:
        with pytest.raises(ImportError, match="PyTorch"):
            bestcut.torch  # noqa: B018
