"""The tables of `experiments.promises`, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from experiments.held_out import MODELS
from experiments.promises import AT_F1, LABELLED, METRICS, OTHER_LEVELS, SIZES

WAYS = (
    "bestcut",
    "as they are",
    "isotonic",
    "Platt",
    "as they are, widened",
    "isotonic, widened",
    "Platt, widened",
    "isotonic bootstrap",
    "NannyML",
)
TITLES = {0: "all", 300: "300", 30: "30"}
ROUNDING = 1e-9
MISSES = 2 / 0.1  # what a miss costs in the interval score, for its distance


def load(results: Path, kind: str) -> list[dict]:
    """Return all batches of one part."""
    files = sorted((results / kind).glob("*.json"))
    return [
        batch
        for path in files
        for batch in json.loads(path.read_text(encoding="utf-8"))
    ]


def models_of(batches: list[dict]) -> list[str]:
    """Return the models that were run, in their order."""
    return [model for model in MODELS if any(b["model"] == model for b in batches)]


def held(row: dict) -> float:
    """Return whether the score is in the interval."""
    return float(row["low"] - ROUNDING <= row["score"] <= row["high"] + ROUNDING)


def width(row: dict) -> float:
    """Return the length of the interval."""
    return row["high"] - row["low"]


def winkler(row: dict) -> float:
    """Return the interval score: the length, and what misses cost."""
    below, above = row["low"] - row["score"], row["score"] - row["high"]
    return width(row) + MISSES * max(below, above, 0.0)


def pooled(
    batches: Iterable[dict], measure: Callable[[dict], float | None]
) -> tuple[float, float, int]:
    """Return the mean over data sets, its standard error, and how many splits.

    `measure` returns one number for a split, or nothing if it does not count.
    """
    by_name: dict[str, list[float]] = {}
    for batch in batches:
        value = measure(batch)
        if value is not None:
            by_name.setdefault(batch["name"], []).append(value)
    if not by_name:
        return np.nan, np.nan, 0
    means = [np.mean(v) for v in by_name.values()]
    errors = [
        np.var(v, ddof=1) / len(v) if len(v) > 1 else 0.0 for v in by_name.values()
    ]
    splits = sum(map(len, by_name.values()))
    return float(np.mean(means)), float(np.sqrt(np.sum(errors)) / len(means)), splits


def summary(
    batches: Iterable[dict],
    way: str,
    measure: Callable[[dict], float],
    metrics: tuple[str, ...] = (*METRICS, *AT_F1),
) -> tuple[float, float, int]:
    """Return what is `pooled` of a measure of intervals.

    The metrics of a split go together: its mean is one number.
    """

    def mean(batch: dict) -> float | None:
        rows = [r for r in batch["ways"].get(way, []) if r["metric"] in metrics]
        return float(np.mean([measure(row) for row in rows])) if rows else None

    return pooled(batches, mean)


def gain(batches: Iterable[dict], over: str = "EUM") -> tuple[float, float, int]:
    """Return the realised score of bestcut's decisions less that of others, pooled."""

    def apart(batch: dict) -> float:
        mine, other = (
            {r["metric"]: r["score"] for r in batch["ways"][way]}
            for way in ("bestcut", over)
        )
        return float(np.mean([mine[m] - other[m] for m in METRICS]))

    return pooled(batches, apart)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def shown(found: tuple[float, float, int], digits: int = 2) -> str:
    """Return a mean with its standard error."""
    mean, error, count = found
    if not count:
        return ""
    text = f"{mean:.{digits}f} ± {error:.{digits}f}"
    return text.replace("0.", ".").replace("-.", "-.")


def by_model(batches: list[dict], measure: Callable[[dict], float], digits: int) -> str:
    """Return a table: ways down, models and sizes of batches across."""
    cells = [(model, size) for size in TITLES for model in models_of(batches)]
    head = ["", *(f"{model}, {TITLES[size]}" for model, size in cells)]
    rows = []
    for way in WAYS:
        found = [
            summary(
                (b for b in batches if b["model"] == model and b["batch"] == size),
                way,
                measure,
            )
            for model, size in cells
        ]
        rows.append([way, *(shown(x, digits) for x in found)])
    return table(head, rows)


def by_data_set(batches: list[dict]) -> str:
    """Return coverage of bestcut for every data set and model."""
    names = sorted({b["name"] for b in batches})
    models = models_of(batches)
    head = ["", *(f"{model}, {TITLES[size]}" for size in TITLES for model in models)]
    rows = []
    for name in names:
        found = [
            summary(
                (
                    b
                    for b in batches
                    if (b["name"], b["model"], b["batch"]) == (name, model, size)
                ),
                "bestcut",
                held,
            )
            for size in TITLES
            for model in models
        ]
        rows.append([name, *(shown(x) for x in found)])
    return table(head, rows)


def by_metric(batches: list[dict]) -> str:
    """Return coverage of bestcut for every metric and size of batch."""
    metrics = (*METRICS, *AT_F1)
    rows = [
        [
            TITLES[size],
            *(
                shown(
                    summary(
                        (b for b in batches if b["batch"] == size),
                        "bestcut",
                        held,
                        (metric,),
                    )
                )
                for metric in metrics
            ),
        ]
        for size in TITLES
    ]
    return table(["batch", *metrics], rows)


def by_labels(batches: list[dict], way: str, measure: Callable, digits: int) -> str:
    """Return a table: labels down, sizes of batches across."""
    rows = []
    for m in LABELLED:
        found = [
            summary((b for b in batches if (b["m"], b["n"]) == (m, n)), way, measure)
            for n in SIZES
        ]
        rows.append([f"m = {m}", *(shown(x, digits) for x in found)])
    return table([way, *(f"n = {n}" for n in SIZES)], rows)


def gains_by_labels(batches: list[dict]) -> str:
    """Return what bestcut's decisions gain over a threshold from the same labels."""
    rows = []
    for m in LABELLED:
        found = [gain(b for b in batches if (b["m"], b["n"]) == (m, n)) for n in SIZES]
        rows.append([f"m = {m}", *(shown(x, 3) for x in found)])
    few = gain(b for b in batches if b["m"] <= 100)
    return table(["", *(f"n = {n}" for n in SIZES)], rows) + (
        f"\n\nWith at most 100 labels, all together: {shown(few, 4)}."
    )


def other_levels(batches: list[dict]) -> str:
    """Return coverage of the other levels."""
    rows = []
    for i, level in enumerate(OTHER_LEVELS):

        def inside(row: dict, i: int = i) -> float:
            low, high = row["others"][i]
            return held(row | {"low": low, "high": high})

        found = [
            summary((b for b in batches if b["batch"] == size), "bestcut", inside)
            for size in TITLES
        ]
        rows.append([f"{level:.0%}", *(shown(x) for x in found)])
    return table(["level", *TITLES.values()], rows)


def page(results: Path) -> str:
    """Return all tables."""
    full, few = load(results, "problem"), load(results, "few_labels")
    seeds = {
        model: len({b["seed"] for b in full if b["model"] == model})
        for model in models_of(full)
    }
    told = ", ".join(f"{model} {count}" for model, count in seeds.items())
    parts = [
        f"Seeds, of each data set: {told}. Batches with few labels: {len(few)}.",
        "## Share of 90 % intervals that hold",
        by_model(full, held, 2),
        "## Mean interval (Winkler) score",
        by_model(full, winkler, 3),
        "## Mean width",
        by_model(full, width, 3),
        "## By data set",
        by_data_set(full),
        "## By metric",
        by_metric(full),
        "## Other levels",
        other_levels(full),
        "## Decisions: realised score less that of EUM on the same scores",
        table(
            ["batch", *models_of(full), "all models"],
            [
                [
                    TITLES[size],
                    *(
                        shown(
                            gain(
                                b
                                for b in full
                                if b["batch"] == size and b["model"] == model
                            ),
                            4,
                        )
                        for model in models_of(full)
                    ),
                    shown(gain(b for b in full if b["batch"] == size), 4),
                ]
                for size in TITLES
            ],
        ),
        "## Few labels: share of 90 % intervals that hold",
        *(by_labels(few, way, held, 2) for way in WAYS if way != "isotonic bootstrap"),
        "## Few labels: mean interval score",
        *(
            by_labels(few, way, winkler, 3)
            for way in WAYS
            if way != "isotonic bootstrap"
        ),
        "## Few labels: decisions",
        gains_by_labels(few),
    ]
    return "\n\n".join(parts) + "\n"
