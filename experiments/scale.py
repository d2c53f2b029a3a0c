"""Time of the Webpage test set: the paper's algorithms and ours.

The only results that no second run repeats exactly.
"""

from __future__ import annotations

import time

import numpy as np

import bestcut
from experiments.cache import Session, array_cell
from experiments.printed import PAPER_METRICS
from experiments.protocol import full_fit, generator

GENERAL = ("balanced_accuracy", "fowlkes_mallows")  # Algorithm 1 is all they have


def seconds_for(p: np.ndarray, metric: str, solver: str, repeats: int) -> float:
    """Return the median time of a decision."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        bestcut.decide(p, metric, solver=solver)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def scale_cell(
    session: Session, quadratic_sizes: list[int], cubic_sizes: list[int]
) -> dict:
    """Time all solvers on the Webpage test set and on subsamples of it."""
    at = {"name": "webpage", "split": 0, "label": 1}
    p = array_cell(session, full_fit, at)["raw"]
    shuffled = generator(103).permutation(p)
    rows = []
    for metric in PAPER_METRICS:
        bestcut.decide(p, metric)  # what is made once for a metric is made here
        rows.append((metric, "auto", p.size, seconds_for(p, metric, "auto", 5)))
        solver = "cubic" if metric in GENERAL else "quadratic"
        for n in cubic_sizes if solver == "cubic" else quadratic_sizes:
            seconds = seconds_for(shuffled[:n], metric, solver, 1)
            rows.append((metric, solver, min(n, p.size), seconds))
    return {"n": int(p.size), "rows": rows}
