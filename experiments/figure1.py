"""Figure 1: the optimum of ten points by enumeration and by every solver."""

from __future__ import annotations

import numpy as np

import bestcut
from experiments.cache import Session
from experiments.printed import PAPER_METRICS
from experiments.protocol import generator
from experiments.tables import CATALOGUE

N = 10
TOLERANCE = 1e-12
# Every label vector, as a prediction or as an outcome; bit i stands for instance i.
ALL = (np.arange(1 << N)[:, None] >> np.arange(N) & 1).astype(float)


def draw(rng: np.random.Generator) -> np.ndarray:
    """Return ten probabilities: standard Gaussian points under a sigmoid model."""
    points, w = rng.standard_normal((N, 2)), rng.standard_normal(2)
    return np.sort(1.0 / (1.0 + np.exp(-points @ w)))[::-1]


def expected_of_all(metric: str, etas: np.ndarray) -> np.ndarray:
    """Return the expected metric of all 2^10 predictions, by its definition.

    For each row of `etas`: the sum over all 2^10 outcomes of probability times score.
    """
    table = bestcut.metrics.get(metric)(
        ALL @ ALL.T, ALL.sum(axis=1)[:, None], ALL.sum(axis=1), N
    )
    probability = np.prod(np.where(ALL == 1, etas[:, None], 1 - etas[:, None]), axis=2)
    return probability @ np.broadcast_to(table, (1 << N, 1 << N)).T


def solvers_for(metric: str) -> list[str]:
    """Return the solvers that take a metric."""
    usable = []
    for solver in ("auto", "quadratic", "cubic", "exhaustive"):
        try:
            bestcut.decide([0.5, 0.25], metric, solver=solver)
        except bestcut.SolverMismatchError:
            continue
        usable.append(solver)
    return usable


def points_of_figure() -> np.ndarray:
    """Return the first draw for which the paper's four metrics need three cuts."""
    rng = generator(101)
    while True:
        eta = draw(rng)
        cuts = {bestcut.decide(eta, metric).n_positive for metric in PAPER_METRICS}
        if len(cuts) >= 3:
            return eta


def optimum_cell(session: Session, metric: str) -> dict:
    """Return the optimum of the figure's ten points for one metric."""
    del session
    eta = points_of_figure()
    values = expected_of_all(metric, eta[None])[0]
    sign = 1.0 if bestcut.metrics.get(metric).greater_is_better else -1.0
    best = int(np.argmax(sign * values))
    decisions = {
        solver: bestcut.decide(eta, metric, solver=solver)
        for solver in solvers_for(metric)
    }
    return {
        "metric": metric,
        "probabilities": eta.tolist(),
        "labels": ALL[best].astype(int).tolist(),
        "expected_score": float(values[best]),
        "solvers": {
            solver: {
                "labels": decision.labels.astype(int).tolist(),
                "expected_score": decision.expected_score,
                "threshold": decision.threshold,
            }
            for solver, decision in decisions.items()
        },
    }


def draws_cell(session: Session, chunk: int, size: int) -> dict:
    """Repeat the check on random draws; count what does not agree.

    A solver agrees if no prediction has a better expected score than its own, and if
    the score it states is that of its prediction. Labels may differ where predictions
    tie, so these are counted by themselves. The metrics beyond the paper's four are
    tried on a tenth of the draws.
    """
    del session
    rng = generator(102, chunk)
    every = np.array([draw(rng) for _ in range(size)])
    count = {"draws": size, "decisions": 0, "disagreements": 0, "not_top_k": 0}
    count["other_labels"] = 0
    tops = (1 << np.arange(N + 1)) - 1  # the most probable k, as bits
    for metric in CATALOGUE:
        sign = 1.0 if bestcut.metrics.get(metric).greater_is_better else -1.0
        etas = every if metric in PAPER_METRICS else every[: max(size // 10, 1)]
        values = sign * expected_of_all(metric, etas)
        best = values.max(axis=1)
        count["not_top_k"] += int(np.sum(values[:, tops].max(axis=1) < best - 1e-12))
        for solver in solvers_for(metric):
            for eta, value, optimum in zip(etas, values, best, strict=True):
                decision = bestcut.decide(eta, metric, solver=solver)
                chosen = int(decision.labels @ (1 << np.arange(N)))
                stated = sign * decision.expected_score
                wrong = value[chosen] < optimum - TOLERANCE
                wrong |= abs(stated - value[chosen]) > TOLERANCE
                count["decisions"] += 1
                count["disagreements"] += int(wrong)
                count["other_labels"] += int(chosen != int(np.argmax(value)))
    return count
