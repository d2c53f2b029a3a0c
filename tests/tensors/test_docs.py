"""What the page about masks shows is what happens."""

import re
from pathlib import Path

import pytest

from test_readme import run_block

pytest.importorskip("torch", reason="PyTorch is not installed")

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "masks.md"
# Not `python`, for these blocks cannot be run where PyTorch is missing.
BLOCK = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_masks_are_what_the_page_shows():
    namespace = {"__name__": "masks"}
    text = PAGE.read_text(encoding="utf-8")
    blocks = [block.group(1) for block in BLOCK.finditer(text)]
    shown = sum(run_block(x, namespace, where=PAGE.name) for x in blocks)
    assert shown >= 12
