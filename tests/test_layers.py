"""Borders: who imports from whom, and what is private to a folder."""

import ast
import re
from functools import cache

import pytest

from layers import LAYERS, ROOT, SRC, page, summary_of, written

FILES = sorted(SRC.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def module_of(path):
    """Return the module's name, in parts without the package's own."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


@cache
def imported(path):
    """Return what a file imports from the package: modules, or names in them."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found += [
            tuple(name.split(".")[1:]) for name in names if name.startswith("bestcut.")
        ]
    return found


def trespasses(path, own):
    """Return the imports of what is private to another folder."""
    folder = own[:-1] if path.name != "__init__.py" else own
    found = []
    for name in imported(path):
        for i, part in enumerate(name):
            private = part.startswith("_") and not part.startswith("__")
            if private and i > 0 and name[:i] != folder[:i]:
                found.append(".".join(name))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_a_module_imports_only_from_layers_above_it(path):
    if path == SRC / "__init__.py":
        return
    own = module_of(path)[0]
    assert own in LAYERS, f"{own} has no place in the layers"
    for name in imported(path):
        assert name[0] in LAYERS[: LAYERS.index(own) + 1], f"imports {'.'.join(name)}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_nothing_private_crosses_the_border_of_its_folder(path):
    assert trespasses(path, module_of(path)) == []


# Private names that other packages have given to what is for everyone.
FOR_ALL = {"_asdict", "_exit", "_fields", "_meta", "_replace"}
# Where engines read what is private to each other; no door may.
OPEN = {
    ("calibration/_drawn.py", "_draws"),
    ("calibration/_drawn.py", "_ranked"),
}


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def attributes_made(path):
    """Return the private attributes that a file gives to its objects."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "made"):
                found.add(node.attr)
        elif isinstance(node, ast.Call) and (
            getattr(node.func, "attr", "") == "__setattr__"
        ):
            found |= {x.value for x in node.args if isinstance(x, ast.Constant)}
    return found


def looks_inside(path, folder):
    """Return the private attributes that no file of the folder makes but one reads."""
    made = FOR_ALL.union(*map(attributes_made, folder))
    return {
        node.attr
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and node.attr not in made
    }


def test_nobody_looks_inside_the_objects_of_another_folder():
    found = set()
    for path in FILES:
        folder = [path] if path.parent == SRC else sorted(path.parent.rglob("*.py"))
        name = path.relative_to(SRC).as_posix()
        found |= {(name, attribute) for attribute in looks_inside(path, folder)}
    assert found == OPEN


def test_a_look_inside_is_found(tmp_path):
    bad, beside = tmp_path / "bad.py", tmp_path / "beside.py"
    bad.write_text(
        "def f(x):\n    return x._own + x.public + x._replace(a=1) + x.y._theirs\n",
        encoding="utf-8",
    )
    beside.write_text(
        "class A:\n    def __init__(self):\n        self._own = 1\n", encoding="utf-8"
    )
    assert looks_inside(bad, [bad, beside]) == {"_theirs"}
    assert looks_inside(bad, [bad]) == {"_own", "_theirs"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_a_folder_is_not_imported_by_its_own_modules(path):
    own = module_of(path)
    if path.name == "__init__.py" or len(own) < 2:
        return
    siblings = {p.stem for p in path.parent.iterdir()}
    for name in imported(path):
        through_init = name[:-1] == own[:-1] and name[-1] not in siblings
        assert not through_init, f"imports {'.'.join(name)}; import from its module"


def test_every_layer_is_there_and_says_what_it_is():
    assert len(set(LAYERS)) == len(LAYERS)
    there = {module_of(path)[0] for path in FILES if module_of(path)}
    assert there == set(LAYERS)
    assert all(map(summary_of, LAYERS))


def test_every_folder_has_a_folder_of_tests():
    folders = {path.name for path in SRC.iterdir() if (path / "__init__.py").exists()}
    there = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    # tests/ is on the path of imports: a folder `torch` would be taken for PyTorch.
    folders = {"tensors" if x == "torch" else x for x in folders}
    assert folders <= there
    others = {"docs", "examples", "experiments", "mutation", "oracles", "__pycache__"}
    assert there - folders <= others


@pytest.mark.parametrize("path", TESTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_first_line_of_a_test_file_says_what_is_promised(path):
    first = path.read_text(encoding="utf-8").split("\n")[0]
    said = re.fullmatch(r'""".+[.:](""")?', first)
    assert said, f"{path.name} begins with {first!r}"


def test_the_page_for_contributors_shows_the_list():
    assert written() == page(), "run python tests/layers.py --write"


def test_a_trespass_is_found(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(
        "from bestcut.decision import decide\nfrom bestcut import counts\n"
        "from bestcut.counts._window import Law\nfrom bestcut.files import _csv\n"
        "import bestcut.curve._blocks\nfrom bestcut.goals import Mean\n",
        encoding="utf-8",
    )
    assert [name[0] for name in imported(bad)] == [
        "decision", "counts", "counts", "files", "curve", "goals",
    ]  # fmt: skip
    assert trespasses(bad, ("search", "bad")) == [
        "counts._window.Law",
        "files._csv",
        "curve._blocks",
    ]
    assert trespasses(bad, ("counts", "bad")) == ["files._csv", "curve._blocks"]


def exports_for_others(path):
    """Return what a folder exports for the rest of the package, not for users."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {x.name for x in node.names if x.asname == x.name}
    return found


@pytest.mark.parametrize("folder", ["counts", "goals", "metrics"])
def test_a_folder_exports_only_what_another_one_imports(folder):
    exported = exports_for_others(SRC / folder / "__init__.py")
    assert exported
    used = {
        name[1]
        for path in FILES
        if module_of(path)[:1] != (folder,)
        for name in imported(path)
        if name[0] == folder and len(name) == 2
    }
    pages = (SRC.parents[1] / "docs" / "reference").glob("*.rst")
    documented = {
        line.strip() for page in pages for line in page.read_text("utf-8").splitlines()
    }
    assert exported - used - documented == set()
