"""Rules of the house: what is imported, public names, versions, docstrings."""

import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import bestcut

ROOT = Path(__file__).resolve().parents[1]

PUBLIC_MODULES = ["bestcut", "bestcut.metrics", "bestcut.counts", "bestcut.solvers"]


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


def test_submodules_are_loaded_on_first_use():
    code = (
        "import sys, bestcut; assert 'sklearn' not in sys.modules; "
        "print(bestcut.estimators.ExpectedMetricClassifier.__name__)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "ExpectedMetricClassifier"


@pytest.mark.parametrize("name", [*PUBLIC_MODULES[:3], "bestcut.goals"])
def test_nothing_private_is_listed(name):
    module = importlib.import_module(name)
    listed = [x for x in dir(module) if x != "__version__"]
    assert not [x for x in listed if x.startswith("_")]
    assert set(module.__all__) <= set(listed)
    if find_spec("torch") is None:  # too large for these tests
        listed = [x for x in listed if x != "torch"]
    assert all(getattr(module, x) is not None for x in listed)


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed")
def test_what_is_missing_is_named():
    with pytest.raises(ImportError, match=r"pip install 'bestcut\[torch\]'"):
        bestcut.torch  # noqa: B018


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="has no attribute 'decyde'"):
        bestcut.decyde  # noqa: B018


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("bestcut.displays", "matplotlib", "plot"),
        ("bestcut.estimators", "sklearn", "sklearn"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(name, package, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ImportError, match=rf"{name} needs .* 'bestcut\[{extra}\]'"):
        importlib.import_module(name)


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


PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ENGINES = ("dask", "spark", "torch")  # which are tested in an environment of their own


def bounds(requirements, operator):
    """Return the packages with a version of that kind, and the version in numbers."""
    pattern = re.compile(rf"([\w-]+)(?:\[\w+\])?{operator}([\d.]*\d)")
    found = [pattern.match(x) for x in requirements if isinstance(x, str)]
    return {m[1]: version(m[2]) for m in found if m}


def version(text):
    """Return a version in numbers, of which zeros at the end say nothing."""
    numbers = [int(x) for x in text.split(".")]
    while numbers[1:] and numbers[-1] == 0:
        numbers.pop()
    return numbers


def test_the_oldest_versions_that_are_tested_are_those_that_are_promised():
    project, groups = PYPROJECT["project"], PYPROJECT["dependency-groups"]
    promised = bounds(project["dependencies"], ">=")
    for extra, requirements in project["optional-dependencies"].items():
        if extra not in ENGINES:
            promised |= bounds(requirements, ">=")
    assert {"numpy", "scikit-learn", "polars", "vl-convert-python"} <= set(promised)
    pinned = bounds(groups["oldest"], "==")
    assert {name: pinned.get(name) for name in promised} == promised
    for group in ("oracles", "experiments", "test", "bench"):
        for name, least in bounds(groups[group], ">=").items():
            assert pinned.get(name, least) == least, f"{name} in {group}"


def test_versions_agree():
    project = PYPROJECT["project"]
    assert project["version"] == bestcut.__version__
    assert f"version: {bestcut.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert bestcut.__version__ in (ROOT / "CHANGELOG.md").read_text()
