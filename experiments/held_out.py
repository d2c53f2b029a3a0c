"""Scores of models on rows they were not fitted on: what calibration starts from.

    python -m experiments.held_out FOLDER --seeds 100 200 [--data FOLDER] [--jobs 2]

For a data set, a model and a seed: the rows are divided at random into training and
test rows of the paper's sizes, a class is drawn where there are several, five folds
give out-of-fold scores of the training rows, and the model fitted on all of them scores
the test rows. One file each, so that an interrupted run goes on.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from experiments import data

# Training rows, as in the paper.
N_TRAIN = {
    "breast_cancer": 463,
    "image": 1300,
    "letters": 16000,
    "reuters": 5946,
    "scene_single": 1137,
    "spambase": 3071,
    "webpage": 6956,
}
MODELS = ("logistic", "naive Bayes", "boosted trees", "random forest")
LEAST_ROWS = 60  # of a class, to be drawn
COLUMNS = 300  # of text, for trees


def _dense(X: Any) -> Any:
    return X.toarray()


def make_model(model: str, name: str, seed: int) -> Any:
    """Return an unfitted model for a data set."""
    sparse = name in ("reuters", "webpage")
    if model == "logistic":
        scale = FunctionTransformer(np.log1p) if sparse else StandardScaler()
        return make_pipeline(scale, LogisticRegression(max_iter=1000))
    if model == "naive Bayes":
        kinds = {"reuters": MultinomialNB, "webpage": BernoulliNB}
        return kinds.get(name, GaussianNB)()
    if model == "boosted trees":
        trees = HistGradientBoostingClassifier(max_iter=60, random_state=seed)
    else:
        trees = RandomForestClassifier(100, random_state=seed)
    if not sparse:
        return trees
    columns = [SelectKBest(chi2, k=COLUMNS)] if name == "reuters" else []
    return make_pipeline(*columns, FunctionTransformer(_dense), trees)


def scores_of(name: str, model: str, seed: int, folder: Path) -> dict[str, np.ndarray]:
    """Return scores and labels of training rows, out of fold, and of test rows."""
    X, y, _ = data.load(name, folder)
    rng = np.random.default_rng([16, list(N_TRAIN).index(name), seed])
    order = rng.permutation(len(y))
    label = 1
    if y.max() > 1:
        label = int(rng.choice(np.flatnonzero(np.bincount(y) >= LEAST_ROWS)))
    y = y == label
    train, test = order[: N_TRAIN[name]], order[N_TRAIN[name] :]
    held = np.empty(train.size)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for fit, out in folds.split(train, y[train]):
            fitted = make_model(model, name, seed).fit(X[train[fit]], y[train[fit]])
            held[out] = fitted.predict_proba(X[train[out]])[:, 1]
        fitted = make_model(model, name, seed).fit(X[train], y[train])
    return {
        "label": np.array(label),
        "y": y[train],
        "scores": held,
        "y_new": y[test],
        "new_scores": fitted.predict_proba(X[test])[:, 1],
    }


def file_of(folder: Path, name: str, model: str, seed: int) -> Path:
    """Return where the scores of one problem are kept."""
    return folder / f"{name}-{model.replace(' ', '_')}-{seed}.npz"


def _write(kept: Path, name: str, model: str, seed: int, folder: Path) -> None:
    path = file_of(kept, name, model, seed)
    if not path.exists():
        part = path.with_suffix(".part.npz")
        np.savez_compressed(part, **scores_of(name, model, seed, folder))
        part.rename(path)


def make(
    kept: Path,
    seeds: Iterable[int],
    folder: Path,
    *,
    names: Iterable[str] = tuple(N_TRAIN),
    models: Iterable[str] = MODELS,
    jobs: int = 2,
) -> None:
    """Write the scores of all problems."""
    kept.mkdir(parents=True, exist_ok=True)
    tasks = [(n, m, s) for s in seeds for n in names for m in models]
    Parallel(jobs)(delayed(_write)(kept, *task, folder) for task in tasks)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept", type=Path)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 10))
    parser.add_argument("--names", nargs="*", default=list(N_TRAIN))
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--data", default=None)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    make(
        given.kept,
        range(*given.seeds),
        data.find_folder(given.data),
        names=given.names,
        models=given.models,
        jobs=given.jobs,
    )
