"""Rules of the house: layers, imports, public names, versions, docstrings."""

import ast
import importlib
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import bestcut

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "bestcut"

# A module imports only from those before it (the package itself may import all).
LAYERS = [
    "_validation",
    "metrics",
    "counts",
    "curve",
    "scores",
    "goals",
    "search",
    "summary",
    "solvers",
    "decide",
    "evaluate",
    "many",
    "multilabel",
    "samples",
    "calibration",
    "empirical",
    "prevalence",
    "scorers",
    "distributed",
    "estimators",
    "files",
    "displays",
    "report",
    "cli",
]
PUBLIC_MODULES = ["bestcut", "bestcut.metrics", "bestcut.counts", "bestcut.solvers"]


def imported_layers(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module]
            if node.module == "bestcut":
                names = [f"bestcut.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("bestcut."):
                yield name.split(".")[1]


def layer_of(path):
    return path.relative_to(SRC).with_suffix("").parts[0]


@pytest.mark.parametrize(
    "path", sorted(SRC.rglob("*.py")), ids=lambda p: str(p.relative_to(SRC))
)
def test_a_module_imports_only_from_layers_above_it(path):
    own = layer_of(path)
    if own == "__init__":
        return
    assert own in LAYERS, f"{own} has no place in the layers"
    for other in imported_layers(path):
        assert LAYERS.index(other) <= LAYERS.index(own), f"{path} imports {other}"


def test_the_layer_test_can_fail(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("from bestcut.decide import decide\nfrom bestcut import counts\n")
    assert list(imported_layers(bad)) == ["decide", "counts"]


def test_importing_bestcut_loads_only_numpy_and_the_standard_library():
    code = (
        "import sys, numpy; before = set(sys.modules); import bestcut; "
        "print(*{m.partition('.')[0] for m in set(sys.modules) - before})"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    new = set(out.stdout.split())
    assert "bestcut" in new
    foreign = {
        m
        for m in new - {"bestcut", "numpy"} - set(sys.stdlib_module_names)
        if not m.startswith("_")
    }
    assert not foreign


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_all_names_are_there_and_documented(name):
    module = importlib.import_module(name)
    assert sorted(module.__all__) == sorted(set(module.__all__))
    for public in module.__all__:
        thing = getattr(module, public)
        assert inspect.getdoc(thing), f"{name}.{public} has no docstring"


@pytest.mark.parametrize("name", ["bestcut", "bestcut.metrics", "bestcut.counts"])
def test_public_functions_have_a_runnable_example(name):
    module = importlib.import_module(name)
    for public in module.__all__:
        thing = getattr(module, public)
        if inspect.isfunction(thing):
            assert ">>>" in inspect.getdoc(thing), f"{name}.{public}"


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == bestcut.__version__
    assert f"version: {bestcut.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert bestcut.__version__ in (ROOT / "CHANGELOG.md").read_text()
