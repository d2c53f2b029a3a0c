"""The cells of the trial: their order, and files that let an interrupted run go on."""

from __future__ import annotations

import hashlib
import json
import platform
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import scipy
import sklearn
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import bestcut
from experiments.cache import progress, write_atomically
from experiments.outside import monitors, sets
from experiments.outside.contenders import Task, apart, timed, trial
from experiments.outside.models import MODELS, OTHERS

ROOT = Path(__file__).resolve().parents[2]
PARTS = {"thinned": trial, "times": timed, "keel": trial, "apart": apart}
ONCE = ("times", "apart")  # parts with one split
TIMED = "Digits, 8"


@dataclass(frozen=True)
class Plan:
    """What is run: everything, or the first set of each collection."""

    parts: tuple[str, ...] = tuple(PARTS)
    splits: int = 5
    quick: bool = False


@dataclass(frozen=True)
class Cell:
    """A part of the trial, a task in it, and the turn of its model."""

    part: str
    task: Task
    turn: int

    def path(self, kept: Path) -> Path:
        """Return where its results are kept."""
        safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in str(self.task))
        return kept / self.part / f"{safe}.json"


def versions() -> dict[str, str]:
    """Return what the results depend on, besides the code."""
    found = {
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "imbalanced-learn": "absent",
        "NannyML": monitors.version(),
    }
    with suppress(PackageNotFoundError):
        found["imbalanced-learn"] = version("imbalanced-learn")
    return found


def digest() -> str:
    """Return a hash of the code that makes the cells, and of these versions."""
    found = hashlib.sha256(json.dumps(versions()).encode())
    for folder in (Path(bestcut.__file__).parent, ROOT / "experiments" / "outside"):
        for path in sorted(folder.rglob("*.py")):
            found.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return found.hexdigest()[:12]


def in_split(part: str, plan: Plan, split: int, folder: Path) -> Iterator[Cell]:
    """Return the cells of a part in one split.

    In each turn every set and number of positives has one model, another each time.
    """
    if (part in ONCE and split) or (part == "times" and plan.quick):
        return
    for name in sets.COLLECTIONS:
        if (name == sets.KEEL) != (part == "keel"):
            continue
        members = list(sets.collection(name, folder).items())
        for title, one in members[:1] if plan.quick and part != "times" else members:
            if split < sets.n_splits(one.y, plan.splits):
                levels, models = _levels_and_models(part, title, one.y)
                first = zlib.crc32(title.encode())
                for i, positives in enumerate(levels[:1] if plan.quick else levels):
                    for turn in range(len(models)):
                        model = models[(first + i + turn) % len(models)]
                        yield Cell(part, Task(title, positives, model, split), turn)


def _levels_and_models(part: str, name: str, y: np.ndarray) -> tuple[list, list]:
    if part == "apart":
        return [0], [*MODELS, *OTHERS]
    if part == "times":
        return [max(sets.levels(name, y))] if name == TIMED else [], [*MODELS]
    return sets.levels(name, y), [*MODELS]


def cells(plan: Plan, folder: Path) -> list[Cell]:
    """Return all cells: splits outermost, then turns, so that a part is balanced."""
    found = []
    for split in range(plan.splits):
        for part in plan.parts:
            order = list(in_split(part, plan, split, folder))
            mixed = np.random.default_rng(split).permutation(len(order))
            found += sorted((order[i] for i in mixed), key=lambda cell: cell.turn)
    return found


def keep(cell: Cell, folder: Path, where: Path, end: float) -> None:
    """Compute a cell that is not there yet, unless the time is over."""
    path = cell.path(where)
    if path.exists() or time.time() >= end:
        return
    with threadpool_limits(1):  # sums in the same order on every machine
        text = json.dumps(PARTS[cell.part](cell.task, folder)).encode()
    write_atomically(path, lambda file: file.write(text))


def run(plan: Plan, folder: Path, where: Path, minutes: float, jobs: int) -> None:
    """Compute the cells that are not there yet, until the time is over."""
    end, order = time.time() + 60 * minutes, cells(plan, folder)
    work = (delayed(keep)(cell, folder, where, end) for cell in order)
    done = Parallel(n_jobs=jobs, return_as="generator", batch_size=1)(work)
    for _ in progress(done, len(order), "outside"):
        pass
