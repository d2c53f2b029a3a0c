"""Which tests reach which function: a copy of the source whose functions say so."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

#: What each function of the copy calls first. Processes that tests start write down
#: what they saw when they end; the plugin ``mutation.record`` does it in pytest's own.
RECORDER = '''\
"""Remembers which functions ran."""

import atexit
import json
import os

functions = set()
reached = functions.add
_FOLDER = os.environ["BESTCUT_REACHED"]
_TEST = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]


def write(test, **more):
    """Append what was reached since the last time to the file of this process."""
    line = {"test": test, "functions": sorted(functions), **more}
    with open(os.path.join(_FOLDER, f"{os.getpid()}.jsonl"), "a") as file:
        file.write(json.dumps(line) + "\\n")
    functions.clear()


if _TEST:
    atexit.register(write, _TEST)
'''


def marked(source: bytes, path: str) -> str:
    """Return a file whose functions say that they run, by path and line."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            where = 1 if len(node.body) > 1 and ast.get_docstring(node) else 0
            call = f"__import__('bestcut_reached').reached('{path}:{node.lineno}')"
            node.body[where:where] = ast.parse(call).body
    return ast.unparse(ast.fix_missing_locations(tree))


@dataclass
class Reach:
    """What a run of the tests on the marked copy saw."""

    #: For each function, "path:line", the tests that run it.
    tests: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: How long each test takes.
    seconds: dict[str, float] = field(default_factory=dict)
    #: Tests that fail on the copy, which say nothing of a mutant.
    failing: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, files: Iterable[Path]) -> Reach:
        """Return what the processes of a run wrote."""
        reach = cls()
        shared: dict[str, set[str]] = defaultdict(set)
        for file in files:
            for text in file.read_text(encoding="utf-8").splitlines():
                if not text.endswith("}"):  # of a command whose files may not grow
                    continue
                line = json.loads(text)
                test = line["test"]
                if "::" not in test:  # what a module or a shared fixture reaches
                    shared[test].update(line["functions"])
                    continue
                for function in line["functions"]:
                    reach.tests[function].add(test)
                if "seconds" in line:
                    reach.seconds[test] = line["seconds"]
                if line.get("failed"):
                    reach.failing.add(test)
        for test in reach.seconds:
            for function in shared.get(test.split("::")[0], ()):
                reach.tests[function].add(test)
        return reach

    def of(self, path: str, function: int) -> set[str]:
        """Return the tests that reach a function, or any function of the module."""
        if function:
            found = self.tests.get(f"{path}:{function}", set())
        else:
            found = set().union(
                *(v for k, v in self.tests.items() if k.startswith(f"{path}:"))
            )
        return {test for test in found if test in self.seconds} - self.failing
