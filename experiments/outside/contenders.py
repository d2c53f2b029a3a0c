"""What people do to decide, each by its own class, and what was promised of it.

Each is used as its documentation says, with its own defaults.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    train_test_split,
)

import bestcut
from bestcut.estimators import ExpectedMetricClassifier
from experiments.outside import monitors
from experiments.outside.models import (
    MODELS,
    OTHERS,
    Remembering,
    Table,
    oversampled,
)
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
    words: tuple[bool, ...] = ()


def problem_of(task: Task, folder: Path) -> Problem:
    """Return the rows of a task."""
    one = one_set(task.name, folder)
    train, test = halves(task.name, one.y, task.positives, task.split)
    model = Remembering(MODELS[task.model](), Table(one.X))
    y = one.y.astype(int)
    return Problem(model, train[:, None], y[train], test[:, None], y[test], one.words)


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
    """Return the default's labels for the batch and row by row, and its best cut."""
    model = ExpectedMetricClassifier(problem.model, metric)
    decision = model.fit(problem.X, problem.y).decide(problem.X_new)
    labels, law = model.predict(problem.X_new), model.distribution(problem.X_new)
    p = model.predict_proba(problem.X_new)[:, 1]
    best = bestcut.empirical_threshold(problem.y_new, p, metric)
    return {
        "batch": record(
            metric, problem.y_new, decision.labels, decision.distribution()
        ),
        "rows": record(metric, problem.y_new, labels, law),
        "oracle": {"score": float(best.score)},
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


def plug_in(method: str, problem: Problem, metric: str) -> dict[str, Any]:
    """Return the labels of the plug-in rule for scikit-learn's calibration.

    It takes the cut of the batch with the best metric of the expected counts.
    """
    model = CalibratedClassifierCV(problem.model, method=method)
    p = model.fit(problem.X, problem.y).predict_proba(problem.X_new)[:, 1]
    ranked = np.sort(p)[::-1]
    hits, n_pred = np.cumsum(ranked), np.arange(1, p.size + 1)
    expected = bestcut.metrics.get(metric)(hits, n_pred, hits[-1], p.size)
    # Of all rows the G-mean may be the root of less than 0, by rounding.
    labels = p >= ranked[np.nanargmax(expected)]
    return {"batch": record(metric, problem.y_new, labels)}


def plain(problem: Problem, metric: str) -> dict[str, Any]:
    """Return the decision for the model's own probabilities."""
    model = problem.model.fit(problem.X, problem.y)
    decision = bestcut.decide(model.predict_proba(problem.X_new)[:, 1], metric)
    law = decision.distribution()
    return {"batch": record(metric, problem.y_new, decision.labels, law)}


def hold_out(problem: Problem, metric: str) -> dict[str, Any]:
    """Return the decision after `calibrate` on a third of the training rows."""
    X, X_labelled, y, y_labelled = train_test_split(
        problem.X, problem.y, test_size=1 / 3, stratify=problem.y, random_state=0
    )
    model = clone(problem.model).fit(X, y)
    calibration = bestcut.calibrate(y_labelled, model.predict_proba(X_labelled)[:, 1])
    p = calibration(model.predict_proba(problem.X_new)[:, 1])
    decision = bestcut.decide(p, metric)
    law = decision.distribution()
    return {"batch": record(metric, problem.y_new, decision.labels, law)}


def half(problem: Problem, metric: str) -> dict[str, Any]:
    """Return the labels of the model itself."""
    labels = problem.model.fit(problem.X, problem.y).predict(problem.X_new)
    return {"rows": record(metric, problem.y_new, labels)}


def balanced(problem: Problem, metric: str) -> dict[str, Any]:
    """Return the labels of the model whose classes weigh the same."""
    model = clone(problem.model)
    weights = [k for k in model.get_params() if k.endswith("class_weight")]
    model.set_params(**dict.fromkeys(weights, "balanced"))
    labels = model.fit(problem.X, problem.y).predict(problem.X_new)
    return {"rows": record(metric, problem.y_new, labels)}


def smote(problem: Problem, metric: str) -> dict[str, Any]:
    """Return the labels of the model fitted on SMOTE's rows, too."""
    model = oversampled(problem.model, problem.words, int(problem.y.sum()))
    labels = model.fit(problem.X, problem.y).predict(problem.X_new)
    return {"rows": record(metric, problem.y_new, labels)}


def monitored(problem: Problem, metric: str) -> dict[str, Any]:
    """Return what NannyML says of the tuned threshold's labels; it knows F1 only."""
    if metric != "f1":
        return {}
    model = TunedThresholdClassifierCV(problem.model, scoring=SCORERS[metric])
    labels = model.fit(problem.X, problem.y).predict(problem.X_new)
    # Each training row by a model that did not see it, as monitors ask.
    p = cross_val_predict(problem.model, problem.X, problem.y, method="predict_proba")
    known = p[:, 1] >= model.best_threshold_
    value, error = monitors.estimate(
        {"p": p[:, 1], "label": 1 * known, "y": problem.y},
        {"p": model.predict_proba(problem.X_new)[:, 1], "label": labels},
    )
    found = {"score": realised(metric, problem.y_new, labels)}
    if np.isfinite([value, error]).all():
        found["promised"] = value
        # Its own band is three sampling errors wide on each side, cut off at 0 and 1.
        ends = [error * NormalDist().inv_cdf(0.5 + level / 2) for level in LEVELS]
        found["intervals"] = [[max(value - d, 0), min(value + d, 1)] for d in ends]
    return {"rows": found}


# The default's folds, and what TunedThresholdClassifierCV does if nothing is said.
SAME_FOLDS = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
CONTENDERS: dict[str, Callable[[Problem, str], dict[str, Any]]] = {
    "default": default,
    "isotonic": partial(option, "isotonic"),
    "sigmoid": partial(option, "sigmoid"),
    "hold-out": hold_out,
    "plain": plain,
    "tuned": partial(tuned, None),
    "tuned, same folds": partial(tuned, SAME_FOLDS),
    "plug-in, isotonic": partial(plug_in, "isotonic"),
    "plug-in, sigmoid": partial(plug_in, "sigmoid"),
    "0.5": half,
    "balanced": balanced,
}
if find_spec("imblearn"):
    CONTENDERS["SMOTE"] = smote
if monitors.available():
    CONTENDERS["NannyML"] = monitored


@contextmanager
def _in_silence() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def trial(task: Task, folder: Path) -> dict[str, Any]:
    """Return what contenders scored, by name and metric."""
    problem = problem_of(task, folder)
    with _in_silence(), problem.model.table.calibrations():
        return {
            name: {metric: contend(problem, metric) for metric in METRICS}
            for name, contend in CONTENDERS.items()
        }


def timed(task: Task, folder: Path) -> dict[str, float]:
    """Return the processor seconds of contenders for F1, with nothing shared."""
    known = problem_of(task, folder)
    table, found = known.model.table, {}
    X, X_new = table.X[known.X[:, 0]], table.X[known.X_new[:, 0]]
    problem = replace(known, model=known.model.model, X=X, X_new=X_new)
    with _in_silence():
        for name, contend in CONTENDERS.items():
            spent = []
            for _ in range(3):
                start = time.process_time()
                contend(problem, "f1")
                spent.append(time.process_time() - start)
            if name != "NannyML":  # whose time is another process's
                found[name] = min(spent)
    return found


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
