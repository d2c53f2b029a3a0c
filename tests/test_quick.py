"""`make quick` runs the tests of what has changed since the branch left main."""

import os
import shutil
import subprocess

import pytest

import quick
from helpers import ROOT
from layers import LAYERS, source_of


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Return a folder, and what runs git and makes a commit there."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    for name in [x for x in os.environ if x.startswith("GIT_")]:  # as in a hook
        monkeypatch.delenv(name)

    def git(*arguments):
        given = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=no")
        command = ["git", *given, *arguments]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    def commit(*names):
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("x", encoding="utf-8")
        git("add", "--all")
        git("commit", "--message=x")

    git("init", "--initial-branch=main")
    commit("first")
    commit("src/second.py", "src/gone.py", "src/old.py")
    return tmp_path, git, commit


def test_on_main_the_last_commit_and_what_is_not_committed_count(repository):
    folder, git, _ = repository
    assert quick.changed(folder) == ["src/gone.py", "src/old.py", "src/second.py"]
    (folder / "first").write_text("y", encoding="utf-8")
    (folder / 'a "quoted" name').write_text("y", encoding="utf-8")
    (folder / ".gitignore").write_text("ignored\n", encoding="utf-8")
    (folder / "ignored").write_text("y", encoding="utf-8")
    git("add", ".gitignore")
    assert {"first", 'a "quoted" name', ".gitignore"} <= set(quick.changed(folder))
    assert "ignored" not in quick.changed(folder)


def test_on_a_branch_counts_what_it_did_since_it_left_main(repository):
    folder, git, commit = repository
    git("checkout", "-b", "branch")
    git("mv", "src/old.py", "src/new.py")
    git("rm", "src/gone.py")
    commit("one")
    commit("two")
    git("checkout", "main")
    commit("of main alone")
    git("checkout", "branch")
    found = ["one", "src/gone.py", "src/new.py", "src/old.py", "two"]
    assert quick.changed(folder) == found
    # Of a branch of another's main, only that is known.
    git("update-ref", "refs/remotes/origin/main", "main")
    git("branch", "-D", "main")
    assert quick.changed(folder) == found


def test_without_a_commit_to_compare_with_it_says_so(tmp_path, repository):
    _, git, _ = repository
    with pytest.raises(SystemExit, match=r"no commit of main .* `make test`"):
        quick.changed(tmp_path / "nowhere")
    git("checkout", "--orphan", "branch")
    with pytest.raises(SystemExit, match="no commit of main"):
        quick.changed(tmp_path)


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("src/bestcut/counts/_rules.py", ["src/bestcut/counts", "tests/counts"]),
        ("src/bestcut/torch/_gone.py", ["src/bestcut/torch", "tests/tensors"]),
        ("src/bestcut/streams.py", ["src/bestcut/streams.py", "tests/summary"]),
        ("src/bestcut_command.py", ["src/bestcut_command.py", "tests/cli"]),
        ("tests/counts/known.py", ["tests/counts"]),
        ("tests/cli/golden/demo.txt", ["tests/cli"]),
        ("tests/test_errata.py", ["tests/test_errata.py"]),
        ("tests/test_that_is_gone.py", []),
        ("tests/oracles/totals.py", []),
        ("docs/guides/money.md", ["tests/docs", "tests/test_readme.py"]),
        ("examples/demo.py", ["tests/examples"]),
        ("pyproject.toml", ["tests/test_package.py", "tests/test_portable.py"]),
        (".ci/run", ["tests/test_package.py", "tests/test_portable.py"]),
    ],
)
def test_each_path_has_its_tests(path, tests):
    assert quick.chosen([path]) == sorted(["tests/oracles", *tests])


def test_a_module_of_the_root_and_a_helper_have_the_tests_of_the_root():
    root = {f"tests/{x.name}" for x in (ROOT / "tests").glob("test_*.py")}
    assert {"tests/test_contract.py", "tests/test_quick.py"} <= root
    assert set(quick.chosen(["tests/helpers.py"])) == root | {"tests/oracles"}
    module = "src/bestcut/_outlook.py"
    assert set(quick.chosen([module])) == root | {"tests/oracles", module}


def test_tests_are_run_once_however_many_files_ask_for_them():
    paths = ["tests/cli/run.py", "src/bestcut/cli/_main.py", "tests/cli/test_docs.py"]
    found = ["src/bestcut/cli", "tests/cli", "tests/oracles"]
    assert quick.chosen(paths) == found


@pytest.mark.parametrize("layer", LAYERS)
def test_every_part_of_the_package_has_tests(layer):
    path = str(source_of(layer).relative_to(ROOT))
    found = set(quick.chosen([path])) - {"tests/oracles"}
    assert any(x.startswith("tests/") for x in found)


def test_pytest_gets_them_and_its_failure_is_that_of_the_script(monkeypatch, capsys):
    ran = []

    def run(command, cwd):
        ran.append((command[command.index("-q") + 1 :], cwd))
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(quick, "changed", lambda: ["tests/goals/known.py"])
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(SystemExit, match=r"^1$"):
        quick.main(["--", "-x"])
    assert ran == [(["tests/goals", "tests/oracles", "-x"], ROOT)]
    assert capsys.readouterr().out == "tests/goals tests/oracles\n"
