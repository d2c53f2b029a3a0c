"""Rules of the house: what is imported, public names, versions, docstrings."""

import ast
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
from bestcut import _extras

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

PUBLIC_MODULES = ["bestcut", "bestcut.metrics", "bestcut.counts", "bestcut.reference"]


def test_importing_bestcut_loads_only_numpy_and_the_standard_library():
    code = (
        "import sys, numpy; before = set(sys.modules); import bestcut; "
        "print(*{m.partition('.')[0] for m in set(sys.modules) - before})"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
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
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert out.stdout.strip() == "ExpectedMetricClassifier"


PARTS = ("calibration", "counts", "goals", "metrics", "multiclass", "multilabel")
EXTRAS = ("displays", "distributed", "estimators", "report", "scorers", "torch")


@pytest.mark.parametrize("part", [*PARTS, "streams", *EXTRAS])
def test_a_module_lists_what_users_import_and_nothing_else(part):
    try:
        module = importlib.import_module(f"bestcut.{part}")
    except ImportError:
        pytest.skip("what it needs is not installed")
    more = {"estimators": {"TRUSTED_TYPES"}, "distributed": {"dask", "spark"}}
    assert set(module.__all__) <= set(dir(module))
    assert set(dir(module)) - set(module.__all__) <= more.get(part, set())
    assert all(getattr(module, name) is not None for name in dir(module))


def test_the_package_lists_nothing_private():
    listed = [name for name in dir(bestcut) if name != "__version__"]
    assert not [name for name in listed if name.startswith("_")]
    assert set(bestcut.__all__) <= set(listed)


@pytest.mark.parametrize("part", _extras.NAMES)
def test_the_names_of_a_part_are_known_without_loading_it(part):
    path = ROOT / "src" / "bestcut" / part / "__init__.py"
    if not path.exists():
        path = ROOT / "src" / "bestcut" / f"{part}.py"
    listed = next(
        ast.literal_eval(line.value)
        for line in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(line, ast.Assign) and line.targets[0].id == "__all__"
    )
    assert sorted(listed) == sorted(_extras.NAMES[part])


OPTIONAL = ("matplotlib", "sklearn", "torch", "vl_convert")


def test_only_what_can_be_loaded_is_listed(monkeypatch):
    for package in OPTIONAL:
        monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    extras = {"displays", "estimators", "report", "torch"}
    assert extras.isdisjoint(dir(bestcut))
    assert {"distributed", "scorers"} <= set(dir(bestcut))


@pytest.mark.parametrize("missing", [(), OPTIONAL], ids=["as it is", "bare"])
def test_tab_completion_and_help_work_whatever_is_missing(missing):
    code = (
        "import sys; [sys.modules.update({m: None}) for m in sys.argv[1:]]\n"
        "import bestcut, pydoc, rlcompleter\n"
        "matches = rlcompleter.Completer({'bestcut': bestcut}).attr_matches\n"
        "print(*matches('bestcut.'))\n"
        "print(pydoc.plain(pydoc.render_doc(bestcut)))\n"
    )
    out = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code, *missing],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    names, _, page = out.stdout.partition("\n")
    public = {name.rstrip("()").removeprefix("bestcut.") for name in names.split()}
    assert set(bestcut.__all__) <= public
    assert not [name for name in public if name.startswith("_")]
    lines = [line.strip() for line in page.splitlines() if line.strip()]
    begin = lines.index("DESCRIPTION")
    assert lines[begin + 1].startswith("Begin with one probability for each row")
    assert lines[begin + 3].startswith(">>> decision = bestcut.decide(")


def test_the_front_page_names_only_what_there_is():
    for name in re.findall(r"`((?:bestcut\.)?[\w.]+)[`(]", bestcut.__doc__):
        thing = bestcut
        for part in name.removeprefix("bestcut.").split("."):
            if part == "torch" and find_spec("torch") is None:
                break
            if part != "bestcut":
                assert hasattr(thing, part), name
                thing = getattr(thing, part)


INSTALL = re.compile(r"pip install (?:-e |--quiet )*['\"]?([^'\"\s`]+)")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_lines_that_install_work_from_a_checkout(path):
    known = set(PYPROJECT["project"]["optional-dependencies"])
    for target in INSTALL.findall(path.read_text(encoding="utf-8")):
        found = re.fullmatch(r"\.(?:\[([\w,]+)\])?", target)
        assert found, f"{path.name}: pip install {target} needs a package index"
        assert set((found[1] or "all").split(",")) <= known


def test_extras_that_errors_name_are_there():
    named = set()
    for path in (ROOT / "src").rglob("*.py"):
        named |= set(re.findall(r'extra="(\w+)"', path.read_text(encoding="utf-8")))
        named |= set(re.findall(r"bestcut\[(\w+)\]", path.read_text(encoding="utf-8")))
    assert named == set(PYPROJECT["project"]["optional-dependencies"]) - {"all"}


def test_the_page_on_installing_lists_every_extra():
    page = ROOT / "docs" / "start" / "install.md"
    table = page.read_text(encoding="utf-8").partition("| extra |")[2]
    listed = re.findall(r"^\| (`[^|]+`) \|", table.partition("\n\n")[0], re.MULTILINE)
    names = [x for cell in listed for x in re.findall(r"`(\w+)`", cell)]
    assert sorted(names) == sorted(PYPROJECT["project"]["optional-dependencies"])


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed")
def test_what_is_missing_is_named():
    with pytest.raises(ImportError, match=r"pip install 'bestcut\[torch\]'"):
        bestcut.torch  # noqa: B018


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_an_engine_is_loaded_on_first_use_or_named(engine, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)  # as if it were not installed
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.delitem(sys.modules, f"bestcut.distributed.{engine}", raising=False)
    monkeypatch.delitem(vars(bestcut.distributed), engine, raising=False)
    with pytest.raises(ImportError, match=rf"pip install 'bestcut\[{engine}\]'"):
        getattr(bestcut.distributed, engine)
    with pytest.raises(AttributeError, match=r"'bestcut.distributed' has no .* 'desk'"):
        bestcut.distributed.desk  # noqa: B018


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="has no attribute 'decyde'"):
        bestcut.decyde  # noqa: B018


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("bestcut.displays", "matplotlib", "plot"),
        ("bestcut.estimators", "sklearn", "sklearn"),
        ("bestcut.report", "vl_convert", "report"),
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


ENGINES = ("dask", "spark", "torch")  # which are tested in environments of their own


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


def test_the_oldest_engines_that_are_tested_are_those_that_are_promised():
    extras = PYPROJECT["project"]["optional-dependencies"]
    promised = bounds([*extras["dask"], *extras["spark"]], ">=")
    pinned = bounds(PYPROJECT["dependency-groups"]["oldest-engines"], "==")
    assert {"dask", "distributed", "pyspark"} <= set(promised)
    assert {name: pinned.get(name) for name in promised} == promised


def test_versions_agree():
    version, dated = bestcut.__version__, r"(\d{4}-\d{2}-\d{2})"
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    where = ROOT / PYPROJECT["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{version}"' in where.read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {version}" in citation
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(rf"^## \[(\S+)\] - {dated}$", changes, re.MULTILINE)
    assert newest[1] == version
    assert f'date-released: "{newest[2]}"' in citation


def test_actions_of_the_workflow_are_pinned_by_commit():
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)", workflow)
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each) for each in used)


def test_the_hosted_ci_runs_what_ci_runs():
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "- run: bash .ci/run\n" in workflow
    least = PYPROJECT["project"]["requires-python"].removeprefix(">=")
    assert f'"{least}"' in workflow


def test_every_night_the_hosted_ci_runs_what_ci_leaves_out():
    makefile, ci, nightly = (
        (ROOT / path).read_text(encoding="utf-8")
        for path in ("Makefile", ".ci/run", ".github/workflows/nightly.yml")
    )
    every = re.search(r"^test-all: (.*?) +##", makefile, re.MULTILINE)[1].split()
    left = set(every) - set(re.findall(r"^make ([\w-]+)", ci, re.MULTILINE))
    assert "test-slow" in left
    assert "  schedule:\n" in nightly
    assert "- run: make ${{ matrix.target }}\n" in nightly
    assert set(re.search(r"target: \[(.*)\]", nightly)[1].split(", ")) == left


def test_all_json_is_valid():
    """NaN and infinity are no JSON, and `json.dumps` writes them unless told not to."""
    calls = [
        (path.name, [keyword.arg for keyword in node.keywords])
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("json.dumps", "json.dump")
    ]
    assert len(calls) >= 5
    lenient = {file for file, options in calls if "allow_nan" not in options}
    assert lenient <= {"_ndjson.py"}  # which writes names and 0 and 1
