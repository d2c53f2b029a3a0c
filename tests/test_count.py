"""`make count`: what it takes for a line of code, a token, and a tuning number."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def count():
    spec = importlib.util.spec_from_file_location("count", ROOT / ".ci" / "count.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_docstrings_comments_and_blank_lines_are_no_code(count):
    source = [
        *('"""Says', 'something."""', "", "# Why.", "x = f(", '    "a"', ")  # how"),
        *("", "def g():", '    """Do."""', '    return """', '    text"""', ""),
    ]
    size = count.size_of("\n".join(source))
    assert size.lines == len(["x = f(", '"a"', ")", "def g():", "return", "text"])
    assert size.tokens == len([*"x=f(", "'a'", ")", "def", *"g():", "return", "text"])
    assert size.modules == 1


def test_a_file_with_nothing_but_a_docstring_is_no_module(count):
    assert count.size_of('"""A page."""\n') == count.Size()


@pytest.mark.parametrize(
    ("source", "constants", "literals"),
    [
        ("_FEW = 12", 1, 0),
        ("_MOST: int = 2**20", 1, 0),
        ("_ROOM = 64 * EPS", 1, 0),
        ("NODES = (0.1, 0.2, 0.3)", 1, 0),
        ("class A:\n    rounds = 7", 1, 0),
        ("NAMES = ('a', 'b')\nTHERE = True\nOTHER = EPS", 0, 0),
        ("TABLE = table(12)", 0, 0),
        ("def f(x=7):\n    return x", 0, 1),
        ("def f(x):\n    return 1 + 2 * x - 0.5 - 3.0, -1, True, 4j", 0, 1),
        ("def f(x):\n    return x[7], x[:, 5], x**6", 0, 0),
        ("def f(x):\n    return x < 2**20 - 7 or x > -1e-9", 0, 2),
        ("def f(x):\n    return [lambda y: y + 9, x]", 0, 1),
        ("class A:\n    def f(self):\n        def g():\n            return 8", 0, 1),
    ],
)
def test_what_is_a_tuning_number(count, source, constants, literals):
    assert count.size_of(source)[3:] == (constants, literals)


def test_every_folder_counts_once_and_the_heart_is_there(count, monkeypatch):
    # The size of a file is tested above; tokens take their time.
    monkeypatch.setattr(count, "size_of", lambda text: count.Size(text.count("\n")))
    parts = count.sizes(ROOT)
    folder = ROOT / "src" / "bestcut"
    assert parts.keys() == {
        path.relative_to(folder).parts[0] for path in folder.rglob("*.py")
    }
    totals = count.with_totals(parts)
    assert totals["all"].lines == sum(x.lines for x in parts.values())
    assert 0 < totals["the heart"].lines < totals["all"].lines


def test_the_table_shows_what_changed(count):
    before = {"a": count.Size(1200, 30, 1, 2, 0), "gone.py": count.Size(5, 9, 1, 0, 0)}
    after = {"a": count.Size(1100, 30, 2, 2, 4)}
    head, first, second = count.table(after, before).split("\n")
    assert head.split()[:5] == ["lines", "tokens", "modules", "constants", "literals"]
    assert first.split() == ["a", "1,100", "30", *"224", "-100", "+1", "+4"]
    assert second.split() == ["gone.py", *"00000", "-5", "-9", "-1"]
