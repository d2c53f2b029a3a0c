"""The page "With your tools" shows what happens; `make test-tools` has the tools.

Each section is run with the first block of the page before it.
"""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from test_readme import run_block

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "with-your-tools.md"
# Not `python`, for these blocks cannot be run where the tools are missing.
BLOCK = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IMPORTED = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)
TEXT = PAGE.read_text(encoding="utf-8")
START, *SECTIONS = re.split(r"^## ", TEXT, flags=re.MULTILINE)
# Too large for an environment of tests; the page says when they were checked.
BY_HAND = {"MLflow", "Evidently", "NannyML"}


def title_of(section):
    return section.partition("\n")[0]


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS, ids=title_of)
def test_a_tool_does_what_the_page_shows(section):
    if title_of(section) in BY_HAND:
        pytest.skip("checked by hand")
    blocks = BLOCK.findall(section)
    for package in IMPORTED.findall("\n".join([*BLOCK.findall(START), *blocks])):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    namespace = {"__name__": "tools"}
    for block in BLOCK.findall(START):
        run_block(block, namespace, where=PAGE.name)
    where = f"{PAGE.name}, {title_of(section)}"
    assert sum(run_block(block, namespace, where=where) for block in blocks) >= 1


def test_what_was_checked_by_hand_says_so_with_a_date():
    stamped = {
        title_of(section)
        for section in SECTIONS
        if re.search(r"^\*Checked by hand on \d+ \w+ \d{4} with", section, re.MULTILINE)
    }
    assert stamped == BY_HAND
