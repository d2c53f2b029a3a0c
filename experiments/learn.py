"""What the results say, beyond the paper: comparisons, promises, consistency."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import stats

import bestcut
from experiments.printed import METHODS, PAPER_METRICS, PRINTED
from experiments.protocol import DATA_SETS
from experiments.sizes import differences, is_covered
from experiments.tables import READ, TOLERANCE, averages, table_rows

ROUNDING = 5e-5  # the paper prints four digits


@dataclass(frozen=True)
class Paired:
    """One method against another, problem by problem.

    The mean difference is over data sets, each counting once; its 95% range is that of
    a t-test over data sets, whose splits and classes are not independent.
    """

    wins: int
    ties: int
    losses: int
    mean: float
    low: float
    high: float
    by_data_set: dict[str, float]


def paired(cells: list[dict], metric: str, method: str, against: str) -> Paired:
    """Compare two methods; a positive difference is to the first one's credit."""
    sign = 1.0 if bestcut.metrics.get(metric).greater_is_better else -1.0
    gains: dict[str, list[float]] = {}
    for cell in cells:
        scores = cell["scores"]["raw"][metric]
        mine, other = (float(np.mean(READ[m](scores))) for m in (method, against))
        gains.setdefault(cell["name"], []).append(sign * (mine - other))
    means = {name: float(np.mean(values)) for name, values in gains.items()}
    every = np.concatenate([np.array(values) for values in gains.values()])
    mean, low, high = mean_and_range(list(means.values()))
    return Paired(
        int(np.sum(every > TOLERANCE)),
        int(np.sum(np.abs(every) <= TOLERANCE)),
        int(np.sum(every < -TOLERANCE)),
        mean,
        low,
        high,
        means,
    )


def mean_and_range(values: list[float]) -> tuple[float, float, float]:
    """Return a mean and its 95% range by Student's t."""
    mean, spread = float(np.mean(values)), 0.0
    if len(values) > 1:
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        spread = float(stats.t.ppf(0.975, len(values) - 1) * error)
    return mean, mean - spread, mean + spread


def over_metrics(
    cells: list[dict], pair: tuple[str, str]
) -> tuple[float, float, float]:
    """Compare two methods over the paper's four metrics: mean gain and 95% range."""
    by_metric = [paired(cells, m, *pair).by_data_set for m in PAPER_METRICS]
    names = by_metric[0]
    return mean_and_range([float(np.mean([d[n] for d in by_metric])) for n in names])


def mean_over_data_sets(cells: list[dict], metric: str, method: str) -> float:
    """Return the mean of a method over data sets (T = 1), each counting once."""
    names = list(dict.fromkeys(cell["name"] for cell in cells))
    return float(
        np.mean([averages(cells, name, 1, metric, method).mean() for name in names])
    )


def mean_gains(batches: list[dict], against: str, names: list[str]) -> list[float]:
    """Return DTA's mean gain by batch size, over data sets and the four metrics."""
    gains = [
        differences(batches, metric, against, names).mean(axis=0)
        for metric in PAPER_METRICS
    ]
    return [float(gain) for gain in np.mean(gains, axis=0)]


@dataclass(frozen=True)
class Promises:
    """What promised ranges were worth."""

    n: int
    covered: float
    too_low: float
    too_high: float
    bias: float


def promises(
    cells: list[dict],
    kind: str,
    name: str | None = None,
    metrics: Iterable[str] = tuple(PAPER_METRICS),
) -> Promises:
    """Hold the promises for some metrics against the scores.

    `too_low` is the share of scores below the promised range, `bias` the mean of score
    less promise.
    """
    kept = [
        cell["scores"][kind][metric]["dta"]
        for cell in cells
        for metric in metrics
        if name in (None, cell["name"])
    ]
    below = [k["score"] < k["low"] and not is_covered(k) for k in kept]
    above = [k["score"] > k["high"] and not is_covered(k) for k in kept]
    return Promises(
        len(kept),
        float(np.mean([is_covered(k) for k in kept])),
        float(np.mean(below)),
        float(np.mean(above)),
        float(np.mean([k["score"] - k["promised"] for k in kept])),
    )


def share_calibrated(cells: list[dict], kind: str, name: str | None = None) -> float:
    """Return the share of problems whose labels fit the probabilities (level 5%)."""
    fits = [
        cell["calibration"][kind] > 0.05
        for cell in cells
        if name in (None, cell["name"])
    ]
    return float(np.mean(fits))


@dataclass(frozen=True)
class Oddity:
    """Two printed numbers of one method that do not go together."""

    name: str
    T: int
    method: str
    f1: float
    jaccard: float


def _jaccard(f1: float) -> float:
    return f1 / (2 - f1)


def printed_oddities() -> list[Oddity]:
    """Return the printed pairs of F1 and Jaccard that one prediction cannot have.

    For one prediction J = F/(2 - F); for means over classes F/(2 - F) <= J <= F.
    Printed numbers have four digits, so a last digit may be off.
    """
    found = []
    for (name, T), row in PRINTED.items():
        for i, method in enumerate(METHODS):
            f1, jaccard = row["f1"][i], row["jaccard"][i]
            low, high = (_jaccard(f1 + error) for error in (-ROUNDING, ROUNDING))
            if DATA_SETS[name].one_vs_rest:
                high = f1 + ROUNDING
            if not low - ROUNDING <= jaccard <= high + ROUNDING:
                found.append(Oddity(name, T, method, f1, jaccard))
    return found


@dataclass(frozen=True)
class Mark:
    """How a printed number compares with the oracles."""

    above_oracle: bool
    above_all: bool


def mark(results: dict, name: str, T: int, metric: str, printed: float) -> Mark:
    """Return whether a printed number is above the oracle's range, and all variants'.

    The range ends at the largest oracle of any split, of the model on all training
    rows or of EUM's on half.
    """
    cells = results["tables"]
    own = max(
        averages(cells, name, T, metric, oracle).max()
        for oracle in ("oracle", "eum_oracle")
    )
    others = [
        averages(group, name, T, metric, "oracle").max()
        for variant, group in by_variant(results, name).items()
        if variant != "the other class positive" and _has(group, T)
    ]
    above = printed - ROUNDING > own
    return Mark(above, above and all(printed - ROUNDING > x for x in others))


def _has(cells: list[dict], T: int) -> bool:
    return any(min(c["train_positives"], c["test_positives"]) >= T for c in cells)


def by_variant(results: dict, name: str) -> dict[str, list[dict]]:
    """Return the cells of each variant of a data set."""
    groups: dict[str, list[dict]] = {}
    for cell in results["variants"]:
        if cell["name"] == name:
            groups.setdefault(cell["variant"], []).append(cell)
    return groups


def distance(cells: list[dict], name: str, method: str) -> float:
    """Return the mean absolute difference from a printed column.

    Over the paper's four metrics and the rows of the data set.
    """
    column = METHODS.index({"baseline": "Baseline", "eum": "EUM", "dta": "DTA"}[method])
    gaps = []
    for row in table_rows():
        if row[0] != name or not _has_row(cells, *row):
            continue
        for metric in PAPER_METRICS:
            mean = averages(cells, *row, metric, method).mean()
            gaps.append(abs(mean - PRINTED[row][metric][column]))
    return float(np.mean(gaps))


def _has_row(cells: list[dict], name: str, T: int) -> bool:
    return _has([c for c in cells if c["name"] == name], T)
