"""One class for each row: what macro averages do decisions reach on real data?

    python -m experiments.classes [KEPT] [--splits 20] [--jobs 2] [--data FOLDER]

Letters, digits, Reuters and Scene (images with one label), random splits of all rows,
two models. The models' probabilities of training rows, out of fold, and of test rows
are kept in the folder KEPT, and so is what every way scored on a split: an interrupted
run goes on. At the end docs/evidence/results/classes.md is written from what is kept.
Everything that a way chooses comes from training rows and from the test rows'
probabilities; the test labels are used to score, and by the oracle.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import bestcut
from bestcut import multiclass
from experiments import data

ROOT = Path(__file__).resolve().parents[1]
KEPT = Path(__file__).resolve().parent / ".cache" / "classes"
N_TRAIN = {"letters": 16000, "digits": 1000, "reuters": 5946, "scene_single": 1137}
MODELS = ("logistic", "naive Bayes")
METRICS = ("f1", "balanced_accuracy")
WORDS = 2000  # of Reuters, chosen by chi2 in the training rows
ROUNDS = 20  # over all classes, of a search of weights
GRID = 2.0 ** (np.arange(-6, 7) / 2)  # of weights
LEAST = 1e-12  # a probability, for logarithms


# --- probabilities -------------------------------------------------------------------


def load(name: str, folder: Path) -> tuple[Any, np.ndarray]:
    """Return features and classes."""
    if name == "digits":
        return load_digits(return_X_y=True)
    X, y, _ = data.load(name, folder)
    return X, y


def make_model(model: str, name: str) -> Any:
    """Return an unfitted model."""
    text = name == "reuters"
    words = [SelectKBest(chi2, k=WORDS)] if text else []
    if model == "logistic":
        scale = FunctionTransformer(np.log1p) if text else StandardScaler()
        return make_pipeline(*words, scale, LogisticRegression(max_iter=300))
    if text:
        return make_pipeline(*words, MultinomialNB())
    return GaussianNB(var_smoothing=1e-3)


def fitted_probabilities(
    model: Any, X: Any, y: np.ndarray, new: Any, count: int
) -> Any:
    """Return the probabilities of all classes for new rows; 0 for those not seen."""
    p = np.zeros((new.shape[0], count))
    model.fit(X, y)
    p[:, model.classes_] = model.predict_proba(new)
    return normalised(p)


def scores_of(name: str, model: str, split: int, folder: Path) -> dict[str, Any]:
    """Return labels and probabilities of training rows, out of fold, and of test rows.

    Classes are those with a training row, renumbered; -1 is another.
    """
    X, y = load(name, folder)
    rng = np.random.default_rng([26, list(N_TRAIN).index(name), split])
    order = rng.permutation(y.size)
    train, test = order[: N_TRAIN[name]], order[N_TRAIN[name] :]
    known = np.unique(y[train])
    number = np.full(y.max() + 1, -1)
    number[known] = np.arange(known.size)
    y_train = number[y[train]]
    held = np.empty((train.size, known.size))
    folds = StratifiedKFold(5, shuffle=True, random_state=split)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # classes with fewer rows than 5
        for fit, out in folds.split(train, y_train):
            held[out] = fitted_probabilities(
                make_model(model, name),
                X[train[fit]],
                y_train[fit],
                X[train[out]],
                known.size,
            )
        new = fitted_probabilities(
            make_model(model, name), X[train], y_train, X[test], known.size
        )
    return {"y": y_train, "P": held, "y_new": number[y[test]], "P_new": new}


def normalised(p: np.ndarray) -> np.ndarray:
    """Return rows that sum to 1."""
    return p / p.sum(axis=1, keepdims=True)


# --- calibration, each from out-of-fold probabilities to a map of matrices ------------


def as_it_is(y: np.ndarray, P: np.ndarray) -> Callable:
    """Return the map that changes nothing."""
    return lambda p: p


def temperature(y: np.ndarray, P: np.ndarray) -> Callable:
    """Return one power of all probabilities, the one with the least log loss."""

    def warmed(p: np.ndarray, log_t: float) -> np.ndarray:
        z = np.log(np.maximum(p, LEAST)) * np.exp(-log_t)
        return normalised(np.exp(z - z.max(axis=1, keepdims=True)))

    def loss(log_t: float) -> float:
        own = warmed(P, log_t)[np.arange(y.size), y]
        return -float(np.log(np.maximum(own, LEAST)).mean())

    found = minimize_scalar(loss, bounds=(-3.0, 5.0), method="bounded").x
    return lambda p: warmed(p, found)


def sigmoid(y: np.ndarray, P: np.ndarray) -> Callable:
    """Return a logistic regression on the logit for each class, normalised."""

    def logit(p: np.ndarray) -> np.ndarray:
        p = np.clip(p, LEAST, 1 - LEAST)
        return (np.log(p) - np.log1p(-p))[:, None]

    maps = [
        LogisticRegression(C=1e6, max_iter=1000).fit(logit(P[:, j]), y == j)
        for j in range(P.shape[1])
    ]
    return lambda p: normalised(
        np.column_stack(
            [m.predict_proba(logit(p[:, j]))[:, 1] for j, m in enumerate(maps)]
        )
    )


def posterior(y: np.ndarray, P: np.ndarray) -> Callable:
    """Return posterior means of `bestcut.calibrate` for each class, normalised."""
    maps = [bestcut.calibrate(y == j, P[:, j]) for j in range(P.shape[1])]
    return lambda p: normalised(
        np.column_stack([m(p[:, j]).mean for j, m in enumerate(maps)])
    )


CALIBRATIONS = {
    "raw": as_it_is,
    "temperature": temperature,
    "sigmoid": sigmoid,
    "posterior": posterior,
}


# --- class weights -------------------------------------------------------------------


def counts_of(y: np.ndarray, chosen: np.ndarray, count: int) -> Any:
    """Return true positives, predictions and positives of each class, and the rows."""
    right = y == chosen
    return (
        np.bincount(chosen[right], minlength=count),
        np.bincount(chosen, minlength=count),
        np.bincount(y[y >= 0], minlength=count),
        y.size,
    )


def realised(
    metric: str, y: np.ndarray, chosen: np.ndarray, count: int, *, present: bool = True
) -> float:
    """Return the mean over classes; with `present` over those with a row."""
    counts = counts_of(y, chosen, count)
    scores = np.asarray(bestcut.metrics.get(metric)(*counts))
    return float(scores[counts[2] > 0].mean() if present else scores.mean())


def best_weights(y: np.ndarray, P: np.ndarray, metric: str) -> np.ndarray:
    """Return w for argmax(w * p) with the best metric on labelled rows, found in turns.

    One weight after the other is set to its best value, exactly, until a round gains
    nothing; from equal weights and from those inverse to the classes' sizes, and the
    better end is kept.
    """
    count = P.shape[1]
    here = bestcut.metrics.get(metric)
    size = np.bincount(y[y >= 0], minlength=count)
    present = size > 0
    P = np.maximum(P, LEAST)
    ends = []
    for start in (np.ones(count), 1.0 / np.maximum(size, 1)):
        w = start / start.max()
        last = -np.inf
        for _ in range(ROUNDS):
            for c in np.flatnonzero(present):
                w[c] = _best_weight(y, P, w, int(c), here, present)
            score = realised(metric, y, np.argmax(w * P, axis=1), count)
            if score <= last + 1e-9:
                break
            last = score
        ends.append((score, w))
    return max(ends, key=lambda end: end[0])[1]


def grid_weights(y: np.ndarray, P: np.ndarray, metric: str) -> np.ndarray:
    """Return such weights from a grid, as people tune them: powers of the root of 2.

    From equal weights, one after the other, until a round gains nothing.
    """
    count = P.shape[1]
    P = np.maximum(P, LEAST)
    w = np.ones(count)
    best = realised(metric, y, np.argmax(P, axis=1), count)
    for _ in range(ROUNDS):
        last = best
        for c in range(count):
            worth = w * P
            worth[:, c] = -np.inf
            other = np.argmax(worth, axis=1)
            value = worth[np.arange(y.size), other]
            for tried in GRID:
                chosen = np.where(tried * P[:, c] > value, c, other)
                score = realised(metric, y, chosen, count)
                if score > best + 1e-9:
                    best, w[c] = score, tried
        if best == last:
            break
    return w


def _best_weight(
    y: np.ndarray,
    P: np.ndarray,
    w: np.ndarray,
    c: int,
    metric: Any,
    present: np.ndarray,
) -> float:
    """Return the best weight of class c, the others' as they are.

    Rows go over to c one after the other as its weight grows: each changes the scores
    of c and of the class that it leaves.
    """
    n, count = P.shape
    worth = w * P
    worth[:, c] = -np.inf
    other = np.argmax(worth, axis=1)
    at = worth[np.arange(n), other] / P[:, c]  # the weight at which a row goes over
    order = np.argsort(at, kind="stable")
    at, other, right = at[order], other[order], y[order]
    tp, predicted, size, _ = counts_of(right, other, count)
    # What the class that is left had, after this row and before it.
    grouped = np.argsort(other, kind="stable")
    starts = np.concatenate([[0], np.cumsum(predicted)])[other[grouped]]
    hit = (right == other)[grouped].astype(np.int64)
    hits = np.cumsum(hit)
    hits_before = np.concatenate([[0], hits])[starts]
    gone = np.empty(n, dtype=np.int64)
    lost = np.empty(n, dtype=np.int64)
    gone[grouped] = np.arange(n) - starts + 1
    lost[grouped] = hits - hits_before
    was = (right == other).astype(np.int64)
    left = tp[other] - lost, predicted[other] - gone, size[other], n
    before = left[0] + was, left[1] + 1, size[other], n
    change = np.asarray(metric(*left)) - np.asarray(metric(*before))
    total = np.concatenate([[0.0], np.cumsum(np.where(present[other], change, 0.0))])
    taken = np.arange(n + 1)
    found = np.concatenate([[0], np.cumsum(right == c)])
    total += np.asarray(metric(found, taken, np.full(n + 1, size[c]), n))
    apart = np.concatenate([[True], at[1:] > at[:-1], [True]])
    total[~apart] = -np.inf
    best = int(np.argmax(total))
    if best == 0:
        return float(at[0] / 2)
    if best == n:
        return float(at[-1] * 2)
    return float(np.sqrt(at[best - 1]) * np.sqrt(at[best]))


# --- one split -----------------------------------------------------------------------


def one_split(kept: Path, name: str, model: str, split: int) -> dict:
    """Return what every way scored, promised and took."""
    with np.load(scores_file(kept, name, model, split)) as file:
        y, P, y_new, P_new = (file[key] for key in ("y", "P", "y_new", "P_new"))
    count = P.shape[1]
    spent: dict[str, float] = {}
    maps, probabilities, held = {}, {}, {}
    for way, fit in CALIBRATIONS.items():
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # scores beyond labelled ones
            maps[way] = fit(y, P)
            probabilities[way], held[way] = maps[way](P_new), maps[way](P)
        spent[f"calibration, {way}"] = time.process_time() - start
    found = {}
    for metric in METRICS:
        ways = _ways(metric, y, P, y_new, P_new, probabilities, held)
        rows = found[metric] = {}
        for way, decide in ways.items():
            start = time.process_time()
            chosen, promised = decide()
            rows[way] = {
                "seconds": time.process_time() - start,
                "score": realised(metric, y_new, chosen, count),
                "recall": realised("recall", y_new, chosen, count),
                "accuracy": float(np.mean(chosen == y_new)),
                "all": realised(metric, y_new, chosen, count, present=False),
                "promised": promised and promised.expected_score,
                "gap": promised and promised.gap,
            }
    losses = {
        way: -float(np.mean(np.log(np.maximum(_own(p, y_new), LEAST))))
        for way, p in probabilities.items()
    }
    there = np.unique(y_new[y_new >= 0]).size
    facts = {"train": y.size, "test": y_new.size, "classes": count, "present": there}
    facts["unknown"] = int(np.sum(y_new < 0))
    at = {"name": name, "model": model, "split": split}
    return at | facts | {"spent": spent, "log loss": losses, "ways": found}


def _own(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    rows = np.flatnonzero(y >= 0)
    return p[rows, y[rows]]


def _ways(metric, y, P, y_new, P_new, probabilities, held) -> dict[str, Callable]:
    """Return every way to decide: classes, and the decision that promises something."""

    def weighted(search: Callable, labels: np.ndarray, p: np.ndarray) -> Callable:
        def choose() -> tuple:
            w = search(labels, p, metric)
            return np.argmax(w * np.maximum(P_new, LEAST), axis=1), None

        return choose

    def decided(p: np.ndarray) -> Callable:
        def choose() -> tuple:
            decision = multiclass.decide(p, metric)
            return decision.labels, decision

        return choose

    def ruled(before: np.ndarray, p: np.ndarray) -> Callable:
        return lambda: (multiclass.decide(before, metric).rule()(p), None)

    return {
        "argmax": lambda: (np.argmax(P_new, axis=1), None),
        "tuned weights": weighted(best_weights, y, P),
        "tuned weights, grid": weighted(grid_weights, y, P),
        **{f"decide, {way}": decided(p) for way, p in probabilities.items()},
        **{
            f"rule, {way}": ruled(held[way], probabilities[way])
            for way in ("raw", "temperature")
        },
        "oracle": weighted(best_weights, y_new, P_new),
    }


# --- running -------------------------------------------------------------------------


def scores_file(kept: Path, name: str, model: str, split: int) -> Path:
    """Return where the probabilities of a split are kept."""
    return kept / "scores" / f"{name}-{model.replace(' ', '_')}-{split}.npz"


def work(kept: Path, name: str, model: str, split: int, folder: Path) -> None:
    """Compute what is not there yet for one split."""
    scores = scores_file(kept, name, model, split)
    if not scores.exists():
        part = scores.with_suffix(".part.npz")
        np.savez_compressed(part, **scores_of(name, model, split, folder))
        part.rename(scores)
    path = kept / "results" / scores.with_suffix(".json").name
    if not path.exists():
        part = path.with_suffix(".part")
        part.write_text(
            json.dumps(one_split(kept, name, model, split), indent=1), encoding="utf-8"
        )
        part.rename(path)


def run(
    kept: Path, splits: range, folder: Path, names: list[str], models: list, jobs: int
) -> None:
    """Compute all splits."""
    for part in ("scores", "results"):
        (kept / part).mkdir(parents=True, exist_ok=True)
    tasks = [(n, m, s) for s in splits for n in names for m in models]
    Parallel(jobs)(delayed(work)(kept, *task, folder) for task in tasks)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept", type=Path, nargs="?", default=KEPT)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--names", nargs="*", default=list(N_TRAIN))
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--data", default=None)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--page", type=Path, default=ROOT / "docs/evidence/results/classes.md"
    )
    given = parser.parse_args()
    run(
        given.kept,
        range(given.splits),
        data.find_folder(given.data),
        given.names,
        given.models,
        given.jobs,
    )
    from experiments.classes_page import page

    given.page.write_text(page(given.kept / "results"), encoding="utf-8")
