"""What the page about the engines shows is what happens."""

import re
from pathlib import Path

import pytest

from test_readme import run_block

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "clusters.md"
# Not `python`, for these blocks cannot be run where the engines are missing.
BLOCK = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_section(heading):
    """Run the blocks of a section; return how many results they showed."""
    text = PAGE.read_text(encoding="utf-8")
    section = re.search(rf"^## {heading}\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    namespace = {"__name__": heading}
    blocks = [block.group(1) for block in BLOCK.finditer(section.group(1))]
    where = f"{PAGE.name}, {heading}"
    return sum(run_block(block, namespace, where=where) for block in blocks)


def test_dask_does_what_the_page_shows():
    pytest.importorskip("dask.distributed")
    assert run_section("dask") >= 7


def test_spark_does_what_the_page_shows(spark):
    assert run_section("Spark") >= 3
