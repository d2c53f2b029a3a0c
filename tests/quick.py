"""Run the oracles and the tests of the folders that have changed; `make quick` does.

    python tests/quick.py [-- arguments of pytest]

Changed is what differs from the last commit that this branch shares with main, and what
is not committed yet; on main itself, where that commit is the last one, what differs
from the one before. Tests of other folders may fail nevertheless: `make test` runs all.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAIN = ("main", "origin/main")  # as far as they are known here
ALWAYS = "tests/oracles"
# Tests are in a folder of the same name, but for these.
ELSEWHERE = {
    "bestcut_command.py": "cli",
    "multiclass.py": "many",
    "multilabel.py": "many",
    "streams.py": "summary",
    "torch": "tensors",
}
OF_THE_ROOT = "tests/test_*.py"
OF_THE_PROJECT = ("tests/test_package.py", "tests/test_portable.py")
OF_PAGES = ("tests/test_readme.py", "tests/docs")


def git(*arguments, root=ROOT):
    """Return what git says, or None if it refuses."""
    command = ["git", "-C", str(root), *arguments]
    run = subprocess.run(command, capture_output=True, encoding="utf-8")
    return run.stdout if run.returncode == 0 else None


def changed(root=ROOT):
    """Return the paths that differ from where this branch left main."""
    known = [name for name in MAIN if git("rev-parse", "--verify", name, root=root)]
    head = git("rev-parse", "--verify", "HEAD", root=root)
    base = git("merge-base", "HEAD", *known, root=root) if known else None
    if base == head:  # on main
        base = git("rev-parse", "--verify", "HEAD~1", root=root)
    if base is None:
        sys.exit("There is no commit of main to compare with. Run `make test` instead.")
    differing = ("diff", "--name-only", "--no-renames", "-z", base.strip())
    new = ("ls-files", "--others", "--exclude-standard", "-z")
    found = git(*differing, root=root) + git(*new, root=root)
    return sorted(filter(None, found.split("\0")))


def tests_of(path):
    """Return patterns of the tests, and of the modules with examples, for a path."""
    match Path(path).parts:
        case ("src", "bestcut", folder, _, *_):
            tests = f"tests/{ELSEWHERE.get(folder, folder)}"
            return [tests, f"src/bestcut/{folder}"]
        case ("src", *_, module) if module in ELSEWHERE:
            return [f"tests/{ELSEWHERE[module]}", path]
        case ("src", *_):
            return [OF_THE_ROOT, path]
        case ("tests", name) if name.startswith("test_"):
            return [path]
        case ("tests", _):
            return [OF_THE_ROOT]
        case ("tests", folder, *_):
            return [f"tests/{folder}"]
        case ("docs", *_) | (("README.md" | "CHANGELOG.md" | "CONTRIBUTING.md"),):
            return [*OF_PAGES]
        case (folder, _, *_) if folder in ("examples", "experiments"):
            return [f"tests/{folder}"]
        case _:
            return [*OF_THE_PROJECT]


def chosen(paths, root=ROOT):
    """Return what to run for these paths, as far as it is there, each once."""
    patterns = {ALWAYS, *(x for path in paths for x in tests_of(path))}
    found = {file for pattern in patterns for file in root.glob(pattern)}
    found -= {file for file in found if found & set(file.parents)}
    return sorted(str(file.relative_to(root)) for file in found)


def main(arguments):
    """Run the tests of what has changed, and say which they are."""
    given = arguments[1:] if arguments[:1] == ["--"] else arguments
    tests = chosen(changed())
    sys.stdout.write(f"{' '.join(tests)}\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", *tests, *given]
    sys.exit(subprocess.run(command, cwd=ROOT).returncode)


if __name__ == "__main__":
    main(sys.argv[1:])
