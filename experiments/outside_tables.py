"""What the cells of `experiments.outside` come to: compact files, and means by set.

    python -m experiments.outside_tables CELLS COMMIT [DATA]

CELLS is the folder that the trial named at its end, COMMIT what it was run with. Three
files are written: a row for each set, model, number of positives and metric; the same
with labels apart; and how the run was. What was begun and not finished is left out.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from experiments import data
from experiments.outside.cells import PARTS, ROOT, Cell, Plan, cells, versions
from experiments.outside.contenders import LEVELS, Task
from experiments.outside.sets import KEEL

RESULTS = ROOT / "docs" / "evidence" / "results" / "2026-11-20"
WAYS = {
    "default": ("default", "batch"),
    "default, row by row": ("default", "rows"),
    "best cut": ("default", "oracle"),
    "isotonic option": ("isotonic", "batch"),
    "sigmoid option": ("sigmoid", "batch"),
    "hold-out": ("hold-out", "batch"),
    "plain decide": ("plain", "batch"),
    "tuned threshold": ("tuned", "rows"),
    "tuned, ten folds": ("tuned, same folds", "rows"),
    "isotonic, plug-in": ("plug-in, isotonic", "batch"),
    "sigmoid, plug-in": ("plug-in, sigmoid", "batch"),
    "0.5": ("0.5", "rows"),
    "class weights": ("balanced", "rows"),
    "SMOTE": ("SMOTE", "rows"),
    "NannyML": ("NannyML", "rows"),
}
HELD = LEVELS.index(0.9)
MISS = 2 / 0.1  # what the interval score at 90 % takes for the distance of a miss
ROUNDING = 1e-9
KEYS = ("set", "model", "positives", "labels", "metric")

Row = dict[str, Any]
Value = Callable[[Row], float]


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
    }


def thinned_rows(task: Task, cell: Any) -> Iterable[Row]:
    """Return a row for each metric of a cell of several contenders."""
    at = {"set": task.name, "model": task.model, "positives": task.positives}
    for metric in cell["default"]:
        records = {
            way: cell[a][metric][b]
            for way, (a, b) in WAYS.items()
            if b in cell.get(a, {}).get(metric, {})
        }
        yield at | {"metric": metric} | _flat(records)


def apart_rows(task: Task, cell: Any) -> Iterable[Row]:
    """Return a row for each metric and number of labels of a cell with labels apart."""
    for found in cell:
        at = {"set": task.name, "model": task.model, "labels": found["labels"]}
        yield at | {"metric": found["metric"]} | _flat({"calibrate": found})


def averaged(rows: Iterable[Row]) -> list[Row]:
    """Return means over splits; of what a split lacks, over the others."""
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(k) for k in KEYS), []).append(row)
    return [
        {k: row for k, row in group[0].items() if k in KEYS}
        | {"splits": len(group)}
        | {
            k: round(float(np.mean([row[k] for row in group if k in row])), 4)
            for k in dict.fromkeys(k for row in group for k in row)
            if k not in KEYS
        }
        for _, group in sorted(groups.items(), key=lambda item: str(item[0]))
    ]


def finished(plan: Plan, kept: Path, folder: Path) -> Iterator[Cell]:
    """Return the cells of the turns of which none is missing."""
    order = cells(plan, folder)
    for _, found in groupby(order, key=lambda c: (c.task.split, c.part, c.turn)):
        turn = list(found)
        if all(cell.path(kept).exists() for cell in turn):
            yield from turn


def rows_of(done: Iterable[Cell], kept: Path) -> dict[str, list[Row]]:
    """Return the rows of cells, by the file they go into."""
    found: dict[str, list[Row]] = {"outside": [], "outside-apart": []}
    for cell in done:
        made = json.loads(cell.path(kept).read_text(encoding="utf-8"))
        if cell.part == "apart":
            found["outside-apart"] += apart_rows(cell.task, made)
        elif cell.part != "times":
            found["outside"] += thinned_rows(cell.task, made)
    return {name: averaged(rows) for name, rows in found.items()}


def collect(kept: Path, commit: str, folder: Path) -> dict[str, bytes]:
    """Return the files of results, by name."""
    plan = Plan()
    done = list(finished(plan, kept, folder))
    about = {
        "commit": commit,
        "versions": versions(),
        "cells": {part: _by_split(done, part) for part in PARTS},
        "planned": {part: _by_split(cells(plan, folder), part) for part in PARTS},
        "seconds": {
            cell.task.model: json.loads(cell.path(kept).read_text(encoding="utf-8"))
            for cell in done
            if cell.part == "times"
        },
    }
    files = {
        f"{name}.csv.gz": packed(rows)
        for name, rows in rows_of(done, kept).items()
        if rows
    }
    return files | {"outside.json": json.dumps(about, indent=1).encode() + b"\n"}


def _by_split(found: list[Cell], part: str) -> list[int]:
    """Return the number of cells in each split."""
    splits = [c.task.split for c in found if c.part == part]
    return np.bincount(np.array(splits, dtype=int)).tolist()


def headline(plan: Plan, kept: Path, folder: Path) -> str:
    """Return in some lines what the default gained, of the splits that are finished."""
    every = rows_of(finished(plan, kept, folder), kept)["outside"]
    lines = []
    for title, of_keel in (("sets kept apart", False), ("sets of KEEL", True)):
        rows = [row for row in every if row["set"].startswith(KEEL) == of_keel]
        if not rows:
            continue
        held = mean(rows, of("default", "held 90%"))
        lines += ["", f"{held.n_sets} {title}: {held.value:.3f} of 90 % intervals hold"]
        for way in WAYS:
            found = mean(rows, gain("default", way))
            if way != "default" and found.n_sets:
                lines.append(f"  default - {way:<20} {found}")
    return "\n".join(lines)


def packed(rows: list[Row]) -> bytes:
    """Return rows as compressed CSV, the same bytes for the same rows."""
    text = io.StringIO(newline="")
    if rows:
        columns = list(dict.fromkeys(k for row in rows for k in row))
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return gzip.compress(text.getvalue().encode(), mtime=0)


def unpacked(path: Path) -> list[Row]:
    """Return the rows of a file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        words = {"set", "model", "metric"}
        return [
            {k: v if k in words else float(v) for k, v in row.items() if v != ""}
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


def by_set(rows: Iterable[Row], value: Value) -> dict[str, float]:
    """Return the mean of a value over the rows of each set that have it."""
    groups: dict[str, list[float]] = {}
    for row in rows:
        found = value(row)
        if not np.isnan(found):
            groups.setdefault(row["set"], []).append(found)
    return {name: float(np.mean(values)) for name, values in groups.items()}


def mean(rows: Iterable[Row], value: Value) -> Mean:
    """Return the mean of a value over sets; rows of a set are one cluster."""
    found = np.array(list(by_set(rows, value).values()))
    if not found.size:
        return Mean(np.nan, np.nan, 0)
    error = found.std(ddof=1) / np.sqrt(found.size) if found.size > 1 else np.nan
    return Mean(float(found.mean()), float(error), found.size)


def of(way: str, what: str) -> Value:
    """Return what reads a number of a way; NaN where there is none."""
    return lambda row: row.get(f"{way}: {what}", np.nan)


def gain(way: str, against: str, what: str = "score") -> Value:
    """Return what reads a difference of two ways."""
    one, other = of(way, what), of(against, what)
    return lambda row: one(row) - other(row)


def groups(rows: list[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Return rows by a key, in the order of their first."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def error_of_set(rows: list[Row], value: Value) -> float:
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
