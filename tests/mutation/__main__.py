"""Draw single-point mutants of the source, and see which ones the fast tests kill."""

from __future__ import annotations

import argparse
import compileall
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from queue import SimpleQueue

import pytest

from mutation.points import Mutant, drawn, mutants_of
from mutation.reach import RECORDER, Reach, marked

ROOT = Path(__file__).resolve().parents[2]
#: Their tests run where dask, Spark and PyTorch are.
_ELSEWHERE = {"distributed", "torch"}
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")


def sources(root: Path) -> Iterator[Path]:
    """Yield the files that mutants are drawn from, relative to the root."""
    for path in sorted((root / "src" / "bestcut").rglob("*.py")):
        if not _ELSEWHERE & set(path.relative_to(root).parts):
            yield path.relative_to(root)


def copy_of(root: Path, to: Path) -> Path:
    """Make a copy of the files that git knows or would take."""
    shutil.rmtree(to, ignore_errors=True)
    git = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(git, cwd=root, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)
    return to


def environment(tree: Path, **more: object) -> dict[str, str]:
    """Return the environment in which the tests of a copy use the copy's source."""
    paths = os.pathsep.join(str(tree / x) for x in ("src", "tests"))
    return os.environ | {"PYTHONPATH": paths} | {k: str(v) for k, v in more.items()}


def reach_of_tests(build: Path, jobs: int, tests: list[str]) -> Reach:
    """Return which tests reach what, from a run on the same files if there was one."""
    digest = hashlib.sha256(repr(tests).encode())
    for folder in ("src", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    known = build / f"reach-{digest.hexdigest()[:16]}"
    if not known.exists():
        tree = copy_of(ROOT, build / "marked")
        for path in sources(tree):
            text = marked((tree / path).read_bytes(), path.as_posix())
            (tree / path).write_text(text, encoding="utf-8")
        (tree / "src" / "bestcut_reached.py").write_text(RECORDER, encoding="utf-8")
        seen = build / "seen"
        shutil.rmtree(seen, ignore_errors=True)
        seen.mkdir()
        command = [*_PYTEST, "-n", str(jobs), "-p", "mutation.record", *tests]
        subprocess.run(command, cwd=tree, env=environment(tree, BESTCUT_REACHED=seen))
        seen.rename(known)
    return Reach.read(sorted(known.iterdir()))


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: killed by a test, stopped, survived or not reached."""

    mutant: Mutant
    word: str
    by: str = ""

    @property
    def killed(self) -> bool:
        """Whether anything noticed; a run that never ends is noticed."""
        return self.word in ("killed", "stopped")

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.word:<12}{self.mutant}" + (f"  [{self.by}]" if self.by else "")


def stages(mutant: Mutant, reach: Reach) -> Iterator[list[str]]:
    """Yield tests in turn: those of the folder, the others, then the rest of the files.

    The last stage is there because what a process keeps once it is worked out is
    reached only by the first test that asks for it.
    """
    reaching = reach.of(mutant.path, mutant.function)
    own = tuple(f"{top}/{mutant.folder}/" for top in ("tests", "src/bestcut"))
    near = {test for test in reaching if test.startswith(own)}
    files = {test.split("::")[0] for test in reaching}
    rest = {
        test
        for test in reach.seconds.keys() - reach.failing - reaching
        if test.split("::")[0] in files
    }
    for tests in (near, reaching - near, rest):
        if tests:
            yield sorted(tests, key=lambda test: (reach.seconds[test], test))


def fate_of(
    mutant: Mutant, reach: Reach, tree: Path, patience: float, least: float = 20
) -> Fate:
    """Run the tests that reach a mutant in a copy of the tree, until one fails.

    A test may take ``patience`` times as long as it did, and ``least`` seconds more.
    """
    target = tree / mutant.path
    source = target.read_bytes()
    target.write_bytes(mutant.applied(source))
    word = "not reached"
    try:
        for tests in stages(mutant, reach):
            limits = {test: least + patience * reach.seconds[test] for test in tests}
            word, by = run(limits, tree)
            if word != "survived":
                break
        else:
            by = ""
        return Fate(mutant, word, by)
    finally:
        target.write_bytes(source)


def run(limits: dict[str, float], tree: Path) -> tuple[str, str]:
    """Run tests, each for so many seconds; return a fate and the test that decided."""
    chosen = tree / "chosen.json"
    chosen.write_text(json.dumps(limits), encoding="utf-8")
    running = chosen.with_suffix(".running")
    running.unlink(missing_ok=True)
    files = list(dict.fromkeys(test.split("::")[0] for test in limits))
    # Without pytest's own assertions the tests need not be compiled each time.
    command = [*_PYTEST, "-x", "--no-header", "--tb=no", "--assert=plain"]
    process = subprocess.Popen(
        [*command, "-p", "mutation.choose", *files],
        cwd=tree,
        env=environment(tree, BESTCUT_CHOSEN=chosen, PYTHONDONTWRITEBYTECODE=1),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:  # what comes before the first test has no limit of its own
        said, _ = process.communicate(timeout=120 + sum(limits.values()))
    except subprocess.TimeoutExpired:
        said = ""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # and what the tests have started
    code = process.wait()
    if running.exists():
        return "stopped", running.read_text(encoding="utf-8")
    found = (x for x in said.splitlines() if x.startswith(("FAILED", "ERROR")))
    by = next(found, "").removeprefix("FAILED ").split(" - ")[0]
    missed = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return "survived" if missed else "killed", by


def fates(
    mutants: Iterable[Mutant], reach: Reach, args: argparse.Namespace
) -> list[Fate]:
    """Run the mutants side by side, each process in a copy of its own."""
    trees: SimpleQueue[Path] = SimpleQueue()
    for i in range(args.jobs):
        tree = copy_of(ROOT, args.build / f"tree-{i}")
        # Compiled once; by its text, the file with the mutant is known to differ.
        by_text = PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(tree, quiet=2, invalidation_mode=by_text)
        trees.put(tree)

    def one(mutant: Mutant) -> Fate:
        tree = trees.get()
        try:
            fate = fate_of(mutant, reach, tree, args.patience)
        finally:
            trees.put(tree)
        print(fate, flush=True)
        return fate

    with ThreadPoolExecutor(args.jobs) as pool:
        return list(pool.map(one, mutants))


def main() -> None:
    """Draw, run and report."""
    parser = argparse.ArgumentParser("python -m mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="which mutants (0)")
    parser.add_argument("--count", type=int, default=60, help="how many (60)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--only", default="", help="only paths that begin with this")
    parser.add_argument("--tests", nargs="*", default=[], help="only these tests")
    parser.add_argument(
        "--patience",
        type=float,
        default=10,
        help="a test may take so many times as long",
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "mutation")
    parser.add_argument("--list", action="store_true", help="show them; run nothing")
    args = parser.parse_args()
    every = [
        mutant
        for path in sources(ROOT)
        for mutant in mutants_of(path.as_posix(), (ROOT / path).read_bytes())
        if mutant.path.startswith(args.only)
    ]
    chosen = drawn(every, args.count, args.seed)
    if args.list:
        print(*chosen, sep="\n")
        return
    args.build.mkdir(parents=True, exist_ok=True)
    reach = reach_of_tests(args.build, args.jobs, args.tests)
    found = fates(chosen, reach, args)
    left = [fate for fate in found if not fate.killed]
    print(f"\n{len(found) - len(left)} of {len(found)} killed, of {len(every)} mutants")
    print(*left, sep="\n")


if __name__ == "__main__":
    main()
