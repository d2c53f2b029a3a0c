"""Mutants change one thing, come from all folders, and meet the tests they need."""

import ast
import os
import subprocess
import sys
from collections import Counter

import pytest

from helpers import ROOT
from mutation.__main__ import fate_of, sources, stages
from mutation.points import drawn, mutants_of
from mutation.reach import RECORDER, Reach, marked

SOURCE = b'''\
"""A module: 1 < 2."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
LARGEST: "int | float" = 3


def f(x: int = 2) -> "int | str":
    """Return x < 1."""
    if x <= LARGEST and not g():
        raise ValueError(f"{x + 1} is too small")
    table = {}
    table["\xc3\xa9"] = min(x, 1.0)
    return np.floor(x) - 0.0


def g():
    return False
'''


def test_mutants_change_one_thing_that_runs():
    found = mutants_of("src/bestcut/a.py", SOURCE)
    assert [(m.line, m.now, m.function) for m in found] == [
        (6, "(2)", 0), (6, "(4)", 0),
        (9, "(1)", 0), (9, "(3)", 0),
        (11, "(x < LARGEST)", 9), (11, "(x >= LARGEST)", 9),
        (11, "(not (x <= LARGEST and (not g())))", 9),
        (11, "(x <= LARGEST or not g())", 9), (11, "(g())", 9),
        (12, "pass", 9),
        (14, "pass", 9), (14, "(max)", 9), (14, "(1.01)", 9),
        (15, "(np.ceil)", 9), (15, "(np.floor(x) + 0.0)", 9), (15, "(0.01)", 9),
        (19, "(True)", 18),
    ]  # fmt: skip


def test_every_mutant_of_the_package_is_other_code():
    path = "src/bestcut/decision/_rankings.py"
    source = (ROOT / path).read_bytes()
    found = mutants_of(path, source)
    assert len(found) > 100
    same = ast.dump(ast.parse(source))
    for mutant in found[::23]:
        assert ast.dump(ast.parse(mutant.applied(source))) != same, mutant


def test_each_folder_gives_its_share_and_the_seed_decides():
    many = [
        mutant
        for path, times in [("a/x", 40), ("b/x", 9), ("x", 1)]
        for mutant in mutants_of(
            f"src/bestcut/{path}.py", b"\n".join([b"y = z < 1"] * times)
        )
    ]
    first = drawn(many, 20, seed=1)
    assert Counter(m.folder for m in first) == {"a": 16, "b": 3, ".": 1}
    assert first == drawn(many, 20, seed=1) != drawn(many, 20, seed=2)
    assert len({(m.path, m.start, m.end) for m in first}) == 20
    assert len(drawn(many, 10**6, seed=1)) == 2 * 50  # two places in each line


def test_the_marked_copy_says_which_functions_ran(tmp_path):
    (tmp_path / "bestcut_reached.py").write_text(RECORDER, encoding="utf-8")
    (tmp_path / "a.py").write_text(marked(SOURCE, "a.py"), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-c", "import a; a.g()"],
        check=True,
        cwd=tmp_path,
        env=os.environ
        | {
            "BESTCUT_REACHED": str(tmp_path),
            "PYTEST_CURRENT_TEST": "tests/test_a.py::test_g (call)",
        },
    )
    files = tmp_path.glob("*.jsonl")
    assert dict(Reach.read(files).tests) == {"a.py:18": {"tests/test_a.py::test_g"}}


def test_tests_of_the_folder_come_first_and_failing_ones_say_nothing():
    reach = Reach()
    reach.seconds = {
        "tests/b/test_b.py::slower": 2.0,
        "tests/b/test_b.py::quick": 1.0,
        "tests/a/test_a.py::near": 3.0,
        "tests/a/test_a.py::beside": 3.0,
        "tests/a/test_a.py::failing": 3.0,
    }
    reach.failing = {"tests/a/test_a.py::failing"}
    beside = "tests/a/test_a.py::beside"
    reach.tests["src/bestcut/a/x.py:1"] = set(reach.seconds) - {beside}
    (mutant, *_) = mutants_of("src/bestcut/a/x.py", b"def f():\n    return 1 < y")
    assert list(stages(mutant, reach)) == [
        ["tests/a/test_a.py::near"],
        ["tests/b/test_b.py::quick", "tests/b/test_b.py::slower"],
        [beside],
    ]


@pytest.mark.parametrize(
    ("test", "word"),
    [
        ("assert at_most_two(2)", "killed"),
        ("assert at_most_two(1)", "survived"),
        ("while not at_most_two(2): pass", "stopped"),
        (None, "not reached"),
    ],
)
def test_a_mutant_is_killed_by_a_test_that_looks_at_the_border(tmp_path, test, word):
    module = tmp_path / "src" / "small.py"
    module.parent.mkdir()
    source = b"def at_most_two(x):\n    return x <= 2\n"
    module.write_bytes(source)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    (tmp_path / "test_small.py").write_text(
        f"from small import at_most_two\n\ndef test_it():\n    {test}\n",
        encoding="utf-8",
    )
    name = "test_small.py::test_it"
    reach = Reach(seconds={name: 0.1})
    if test:
        reach.tests["src/small.py:1"] = {name}
    mutant = mutants_of("src/small.py", source)[0]
    assert mutant.now == "(x < 2)"
    fate = fate_of(mutant, reach, tmp_path, patience=1, least=1)
    said = word in ("killed", "stopped")
    assert (fate.word, fate.by) == (word, name if said else "")
    assert module.read_bytes() == source  # as it was


def test_mutants_come_from_all_but_what_needs_engines():
    folders = {path.parts[2] for path in sources(ROOT)}
    assert {"metrics", "mixtures", "decision"} <= folders
    assert not {"distributed", "torch"} & folders
