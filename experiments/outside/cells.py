"""The cells of the trial: their order, and files that let an interrupted run go on."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_limits

import bestcut
from experiments.cache import progress, write_atomically
from experiments.outside import sets
from experiments.outside.before import ROOT, Before
from experiments.outside.contenders import CONTENDERS, Task, apart, trial
from experiments.outside.models import MODELS, OTHERS

PARTS = ("thinned", "apart", "keel")


@dataclass(frozen=True)
class Plan:
    """What is run: everything, or the first set of each collection."""

    parts: tuple[str, ...] = PARTS
    splits: int = 5
    quick: bool = False


@dataclass(frozen=True)
class Cell:
    """A part of the trial and a task in it."""

    part: str
    task: Task

    def path(self, kept: Path) -> Path:
        """Return where its results are kept."""
        safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in str(self.task))
        return kept / self.part / f"{safe}.json"


def versions() -> dict[str, str]:
    """Return what the results depend on, besides the code."""
    return {
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def digest() -> str:
    """Return a hash of the code that makes the cells, and of these versions."""
    found = hashlib.sha256(json.dumps(versions()).encode())
    for folder in (Path(bestcut.__file__).parent, ROOT / "experiments" / "outside"):
        for path in sorted(folder.rglob("*.py")):
            found.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return found.hexdigest()[:12]


def tasks(part: str, split: int, folder: Path, *, quick: bool) -> Iterator[Task]:
    """Return the tasks of a part in one split."""
    for name in sets.COLLECTIONS:
        if (name == sets.KEEL) != (part == "keel"):
            continue
        members = list(sets.collection(name, folder).items())
        for title, one in members[:1] if quick else members:
            found = [0] if part == "apart" else sets.levels(title, one.y)
            for positives in found[:1] if quick else found:
                for model in MODELS | OTHERS if part == "apart" else MODELS:
                    yield Task(title, positives, model, split)


def cells(plan: Plan, folder: Path) -> list[Cell]:
    """Return all cells: splits outermost, so that a part of a run is balanced."""
    found = []
    for split in range(plan.splits):
        for part in plan.parts:
            order = list(tasks(part, split, folder, quick=plan.quick))
            mixed = np.random.default_rng(split).permutation(len(order))
            found += [Cell(part, order[i]) for i in mixed]
    return found


def result(cell: Cell, folder: Path, before: Before) -> Any:
    """Compute a cell."""
    if cell.part == "apart":
        return {"now": apart(cell.task, folder), "before": before("apart", cell.task)}
    found = trial(cell.task, folder, tuple(CONTENDERS))
    return found | {"before": before("trial", cell.task, ["default"])["default"]}


def run(plan: Plan, folder: Path, kept: Path, minutes: float) -> None:
    """Compute the cells that are not there yet, until the time is over."""
    end, order = time.monotonic() + 60 * minutes, cells(plan, folder)
    where = kept / digest()
    with Before(folder, kept / "sources") as before, threadpool_limits(1):
        for cell in progress(order, len(order), "outside"):
            path = cell.path(where)
            if not path.exists() and time.monotonic() < end:
                text = json.dumps(result(cell, folder, before)).encode()
                write_atomically(path, lambda file, text=text: file.write(text))
