"""What the cells of `experiments.outside` come to: compact files, and means by set.

    python -m experiments.outside_tables CELLS COMMIT [DATA]

CELLS is the folder that the trial named at its end, COMMIT what it was run with. Three
files are written: a row for each set, model, number of positives and metric; the same
with labels apart; and how the run was.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments import data
from experiments.outside.before import COMMIT, ROOT
from experiments.outside.cells import PARTS, Plan, cells, versions
from experiments.outside.contenders import LEVELS, Task

RESULTS = ROOT / "docs" / "evidence" / "results" / "2026-11-19"
WAYS = {
    "default": ("default", "batch"),
    "default, row by row": ("default", "rows"),
    "before": ("before", "batch"),
    "before, row by row": ("before", "rows"),
    "isotonic option": ("isotonic", "batch"),
    "sigmoid option": ("sigmoid", "batch"),
    "tuned threshold": ("tuned", "rows"),
    "tuned, the default's folds": ("tuned, same folds", "rows"),
    "plain decide": ("plain", "batch"),
    "0.5": ("0.5", "rows"),
}
APART = {"now": ("now",), "before": ("before",)}
HELD = LEVELS.index(0.9)
MISS = 2 / 0.1  # what the interval score at 90 % takes for the distance of a miss
ROUNDING = 1e-9
_OTHER_LEVELS = [f"held {p:.0%}" for p in LEVELS if p != 0.9]
KEYS = ("set", "model", "positives", "labels", "metric")

Row = dict[str, Any]


def numbers(record: dict[str, Any]) -> dict[str, float]:
    """Return the score of a record and, if there was a promise, what it was worth."""
    score = record["score"]
    found = {"score": score}
    if "promised" in record:
        found["bias"] = record["promised"] - score
        for level, (low, high) in zip(LEVELS, record["intervals"], strict=True):
            held = low - ROUNDING <= score <= high + ROUNDING
            found[f"held {level:.0%}"] = float(held)
        low, high = record["intervals"][HELD]
        found["winkler"] = high - low + MISS * max(low - score, score - high, 0.0)
    return found


def _flat(records: dict[str, dict[str, Any]]) -> dict[str, float]:
    return {
        f"{way}: {what}": value
        for way, record in records.items()
        for what, value in numbers(record).items()
        if what not in _OTHER_LEVELS or way.startswith("default")
    }


def thinned_rows(task: Task, cell: Any) -> Iterable[Row]:
    """Return a row for each metric of a cell with thinned positives."""
    at = {"set": task.name, "model": task.model, "positives": task.positives}
    for metric in cell["default"]:
        records = {way: cell[a][metric][b] for way, (a, b) in WAYS.items()}
        yield at | {"metric": metric} | _flat(records)


def apart_rows(task: Task, cell: Any) -> Iterable[Row]:
    """Return a row for each metric and number of labels of a cell with labels apart."""
    for now, before in zip(cell["now"], cell["before"], strict=True):
        at = {"set": task.name, "model": task.model, "labels": now["labels"]}
        yield at | {"metric": now["metric"]} | _flat({"now": now, "before": before})


def averaged(rows: Iterable[Row]) -> list[Row]:
    """Return means over splits."""
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(k) for k in KEYS), []).append(row)
    return [
        {k: row for k, row in group[0].items() if k in KEYS}
        | {"splits": len(group)}
        | {
            k: round(float(np.mean([row[k] for row in group])), 4)
            for k in group[0]
            if k not in KEYS
        }
        for _, group in sorted(groups.items(), key=lambda item: str(item[0]))
    ]


def collect(kept: Path, commit: str, folder: Path) -> dict[str, bytes]:
    """Return the files of results, by name."""
    tasks: dict[str, Counter] = {part: Counter() for part in PARTS}
    rows: dict[str, list[Row]] = {"outside": [], "outside-apart": []}
    for cell in cells(Plan(), folder):
        path, task = cell.path(kept), cell.task
        if not path.exists():
            continue
        found = json.loads(path.read_text(encoding="utf-8"))
        tasks[cell.part][task.name, task.positives, task.model] += 1
        if cell.part == "apart":
            rows["outside-apart"] += apart_rows(task, found)
        else:
            rows["outside"] += thinned_rows(task, found)
    files = {f"{name}.csv.gz": packed(averaged(found)) for name, found in rows.items()}
    about = {
        "commit": commit,
        "before": COMMIT,
        "versions": versions(),
        "tasks by number of splits": {
            part: dict(sorted(Counter(map(str, found.values())).items()))
            for part, found in tasks.items()
        },
    }
    return files | {"outside.json": json.dumps(about, indent=1).encode() + b"\n"}


def packed(rows: list[Row]) -> bytes:
    """Return rows as compressed CSV, the same bytes for the same rows."""
    text = io.StringIO(newline="")
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return gzip.compress(text.getvalue().encode(), mtime=0)


def unpacked(path: Path) -> list[Row]:
    """Return the rows of a file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        words = {"set", "model", "metric"}
        return [
            {k: v if k in words else float(v) for k, v in row.items()}
            for row in csv.DictReader(file)
        ]


# --- means ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Mean:
    """A mean over sets, each counting once, and its standard error over sets."""

    value: float
    error: float
    n_sets: int

    def __str__(self) -> str:
        """Return it with three digits."""
        shown = f"{self.value:+.3f}"
        return f"{shown} ± {self.error:.3f}" if self.n_sets > 1 else shown


def by_set(rows: Iterable[Row], value: Callable[[Row], float]) -> dict[str, float]:
    """Return the mean of a value over the rows of each set."""
    groups: dict[str, list[float]] = {}
    for row in rows:
        groups.setdefault(row["set"], []).append(value(row))
    return {name: float(np.mean(values)) for name, values in groups.items()}


def mean(rows: Iterable[Row], value: Callable[[Row], float]) -> Mean:
    """Return the mean of a value over sets; rows of a set are one cluster."""
    found = np.array(list(by_set(rows, value).values()))
    error = found.std(ddof=1) / np.sqrt(found.size) if found.size > 1 else np.nan
    return Mean(float(found.mean()), float(error), found.size)


def of(way: str, what: str) -> Callable[[Row], float]:
    """Return what reads a number of a way."""
    return lambda row: row[f"{way}: {what}"]


def gain(way: str, against: str, what: str = "score") -> Callable[[Row], float]:
    """Return what reads a difference of two ways."""
    return lambda row: row[f"{way}: {what}"] - row[f"{against}: {what}"]


def groups(rows: list[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Return rows by a key, in the order of their first."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def error_of_set(rows: list[Row], value: Callable[[Row], float]) -> float:
    """Return the standard error of a set's mean over its tasks."""
    found = [np.mean([value(r) for r in g]) for g in groups(rows, _task).values()]
    if len(found) < 2:
        return float("nan")
    return float(np.std(found, ddof=1) / np.sqrt(len(found)))


def _task(row: Row) -> tuple:
    return row["model"], row["positives"]


def main(kept: str, commit: str, folder: str | None = None) -> None:
    """Write the files."""
    found = collect(Path(kept), commit, data.find_folder(folder))
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name, content in found.items():
        (RESULTS / name).write_bytes(content)
        print(RESULTS / name, len(content))


if __name__ == "__main__":
    main(*sys.argv[1:])
