"""How much deciding for a batch gains, and what its promises are worth, by its size."""

from __future__ import annotations

import numpy as np

import bestcut
from experiments.cache import Session, array_cell
from experiments.printed import PAPER_METRICS
from experiments.protocol import DATA_SETS, full_fit, generator, half_fit
from experiments.tables import promise, realised

SIZES = (10, 30, 100, 300, 1000, 2000)
METHODS = ("dta", "carried", "baseline", "eum", "eum_cv")
LEAST_PREVALENCE = 0.01  # rarer classes are absent from most small batches


def sizes_cell(session: Session, name: str, split: int, label: int, draws: int) -> dict:
    """Decide on random subsamples of the test rows of one problem.

    ``carried`` is the threshold of the decision on all test rows, carried over to the
    subsample: the difference to ``dta`` is what deciding for each batch gains.
    """
    at = {"name": name, "split": split, "label": label}
    full = array_cell(session, full_fit, at)
    half = array_cell(session, half_fit, at | {"half": 0})
    y, p = full["y_test"], full["raw"]
    rng = generator(list(DATA_SETS).index(name), split, label, 1000)
    rows: dict[str, dict] = {}
    for metric in PAPER_METRICS:
        rows[metric] = {}
        cut = {
            "carried": (bestcut.decide(p, metric).threshold, p),
            "baseline": (0.5, p),
            "eum": (
                bestcut.empirical_threshold(
                    half["y_threshold"], half["threshold"], metric
                ).threshold,
                half["test"],
            ),
            "eum_cv": (
                bestcut.empirical_threshold(
                    full["y_train"], full["out_of_fold"], metric
                ).threshold,
                p,
            ),
        }
        for n in (n for n in SIZES if n <= y.size):
            rows[metric][str(n)] = _mean_over_draws(metric, y, p, cut, n, draws, rng)
    return at | {"prevalence": float(y.mean()), "rows": rows}


def _mean_over_draws(metric, y, p, cut, n, draws, rng) -> dict:
    """Return the mean score of each method, and how often the promise was kept."""
    total = dict.fromkeys((*METHODS, "covered", "promised"), 0.0)
    for _ in range(draws):
        rows = rng.choice(y.size, n, replace=False)
        kept = promise(metric, y[rows], p[rows])
        total["dta"] += kept["score"]
        total["promised"] += kept["promised"]
        total["covered"] += is_covered(kept)
        for method, (threshold, scores) in cut.items():
            total[method] += realised(metric, y[rows], scores[rows] >= threshold)
    return {key: value / draws for key, value in total.items()}


def is_covered(kept: dict) -> bool:
    """Return whether the score was inside the range that was promised."""
    return bool(kept["low"] - 1e-12 <= kept["score"] <= kept["high"] + 1e-12)


def differences(cells: list[dict], metric: str, against: str, names: list[str]):
    """Return the mean advantage of DTA by size: over data sets, each counting once."""
    curves = []
    for name in names:
        mine = [c for c in cells if c["name"] == name]
        curves.append([_gain(mine, metric, against, str(n)) for n in SIZES])
    return np.array(curves, dtype=float)


def _gain(cells: list[dict], metric: str, against: str, n: str) -> float:
    found = [c["rows"][metric][n] for c in cells if n in c["rows"][metric]]
    if not found:
        return float("nan")
    return float(np.mean([row["dta"] - row[against] for row in found]))


def coverage(cells: list[dict], n: int) -> float:
    """Return how often the promised 90% range held the score of batches of a size."""
    found = [
        c["rows"][metric][str(n)]["covered"]
        for c in cells
        for metric in PAPER_METRICS
        if str(n) in c["rows"][metric]
    ]
    return float(np.mean(found)) if found else float("nan")
