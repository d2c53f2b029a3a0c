"""What people do to decide, each by its own class, and what was promised of it.

Whatever is called here runs under the version of bestcut that is imported, so that
another process can do the same with an earlier one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.model_selection import RepeatedStratifiedKFold, TunedThresholdClassifierCV

import bestcut
from bestcut.estimators import ExpectedMetricClassifier
from experiments.outside.models import MODELS, OTHERS, Remembering, Table
from experiments.outside.sets import MOST_ROWS, generator, halves, one_set

METRICS = ("f1", "mcc", "jaccard", "balanced_accuracy", "gmean")
LEVELS = (0.5, 0.8, 0.9, 0.95)
LABELS = (50, 100, 300, 1000)
FEWEST, MOST = 100, 1000  # rows of a batch, where labels are apart
EXPECTED_POSITIVES = 5  # at least, among these labels and in the batch


@dataclass(frozen=True)
class Task:
    """A set thinned to a number of positives, a model and a split."""

    name: str
    positives: int
    model: str
    split: int

    def __str__(self) -> str:
        """Return what a file can be called."""
        return "-".join(str(value) for value in asdict(self).values())


@dataclass(frozen=True)
class Problem:
    """Numbers of rows to fit on and to decide, as columns, with their labels."""

    model: Remembering
    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray


def problem_of(task: Task, folder: Path) -> Problem:
    """Return the rows of a task."""
    one = one_set(task.name, folder)
    train, test = halves(task.name, one.y, task.positives, task.split)
    model = Remembering(MODELS[task.model](), Table(one.X))
    y = one.y.astype(int)
    return Problem(model, train[:, None], y[train], test[:, None], y[test])


def realised(metric: str, y: np.ndarray, labels: np.ndarray) -> float:
    """Return the metric of labels that are 0 or 1; 0/0 is 0."""
    y, labels = np.asarray(y) == 1, np.asarray(labels) == 1
    counts = (np.sum(y & labels), labels.sum(), y.sum(), y.size)
    return float(bestcut.metrics.get(metric)(*map(int, counts)))


# The numbers of scikit-learn's scorers, in a fiftieth of the time.
SCORERS = {metric: make_scorer(partial(realised, metric)) for metric in METRICS}


def record(
    metric: str, y: np.ndarray, labels: np.ndarray, law: Any = None
) -> dict[str, Any]:
    """Return what came, and what was promised."""
    found: dict[str, Any] = {"score": realised(metric, y, labels)}
    if law is not None:
        found["promised"] = float(law.mean)
        found["intervals"] = [list(map(float, law.interval(p))) for p in LEVELS]
    return found


def default(problem: Problem, metric: str) -> dict[str, Any]:
    """Return the default's labels for the batch, and row by row."""
    model = ExpectedMetricClassifier(problem.model, metric)
    decision = model.fit(problem.X, problem.y).decide(problem.X_new)
    labels, law = model.predict(problem.X_new), model.distribution(problem.X_new)
    return {
        "batch": record(
            metric, problem.y_new, decision.labels, decision.distribution()
        ),
        "rows": record(metric, problem.y_new, labels, law),
    }


def option(calibration: str, problem: Problem, metric: str) -> dict[str, Any]:
    """Return the labels for the batch with scikit-learn's calibration."""
    model = ExpectedMetricClassifier(
        problem.model, metric, calibration=calibration, scope="batch"
    )
    decision = model.fit(problem.X, problem.y).decide(problem.X_new)
    law = decision.distribution()
    return {"batch": record(metric, problem.y_new, decision.labels, law)}


def tuned(cv: Any, problem: Problem, metric: str) -> dict[str, Any]:
    """Return the labels of scikit-learn's tuned threshold."""
    model = TunedThresholdClassifierCV(problem.model, scoring=SCORERS[metric], cv=cv)
    labels = model.fit(problem.X, problem.y).predict(problem.X_new)
    return {"rows": record(metric, problem.y_new, labels)}


def plain(problem: Problem, metric: str) -> dict[str, Any]:
    """Return the decision for the model's own probabilities."""
    model = problem.model.fit(problem.X, problem.y)
    decision = bestcut.decide(model.predict_proba(problem.X_new)[:, 1], metric)
    law = decision.distribution()
    return {"batch": record(metric, problem.y_new, decision.labels, law)}


def half(problem: Problem, metric: str) -> dict[str, Any]:
    """Return the labels of the model itself."""
    labels = problem.model.fit(problem.X, problem.y).predict(problem.X_new)
    return {"rows": record(metric, problem.y_new, labels)}


# The default's folds, and what TunedThresholdClassifierCV does if nothing is said.
SAME_FOLDS = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
CONTENDERS: dict[str, Callable[[Problem, str], dict[str, Any]]] = {
    "default": default,
    "isotonic": partial(option, "isotonic"),
    "sigmoid": partial(option, "sigmoid"),
    "tuned": partial(tuned, None),
    "tuned, same folds": partial(tuned, SAME_FOLDS),
    "plain": plain,
    "0.5": half,
}


@contextmanager
def _in_silence() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def trial(task: Task, folder: Path, contenders: tuple[str, ...]) -> dict[str, Any]:
    """Return what contenders scored, by name and metric."""
    problem = problem_of(task, folder)
    with _in_silence(), problem.model.table.calibrations():
        return {
            name: {metric: CONTENDERS[name](problem, metric) for metric in METRICS}
            for name in contenders
        }


def apart(task: Task, folder: Path) -> list[dict[str, Any]]:
    """Return what `calibrate` and `decide` promise and score with labels apart.

    A third of the rows fit the model, others calibrate it, others are the batch. Here
    the positives are not thinned, and nothing is stratified.
    """
    one = one_set(task.name, folder)
    rng, n, share = generator(task.name, task.split), one.y.size, one.y.mean()
    rows = rng.permutation(n)
    fit, rest = np.split(rows, [min(MOST_ROWS, n // 3)])
    with _in_silence():
        model = (MODELS | OTHERS)[task.model]().fit(one.X[fit], one.y[fit])
        scores = model.predict_proba(one.X[rest])[:, 1]
        found = []
        for m, size in batches(rng, rest.size, float(share)):
            labels, new = slice(m), slice(m, m + size)
            p = bestcut.calibrate(one.y[rest[labels]], scores[labels])(scores[new])
            for metric in METRICS:
                decision = bestcut.decide(p, metric)
                y, law = one.y[rest[new]], decision.distribution()
                row = record(metric, y, decision.labels, law)
                found.append({"labels": m, "rows": size, "metric": metric} | row)
    return found


def batches(
    rng: np.random.Generator, n_rows: int, share: float
) -> list[tuple[int, int]]:
    """Return numbers of labels and rows: what there is, with positives to be had."""
    least = max(FEWEST, int(np.ceil(EXPECTED_POSITIVES / share)))
    found = []
    for m in LABELS:
        most, u = min(MOST, n_rows - m), rng.random()
        if m * share >= EXPECTED_POSITIVES and least <= most:
            found.append((m, round(least * (most / least) ** u)))
    return found
