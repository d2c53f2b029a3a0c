"""The protocol: problems, splits, and L2 logistic regressions fitted to them.

Every data set becomes binary problems: itself, or one for each class against the rest.
Nothing about the test rows is used before the scores are computed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

from experiments import data
from experiments.cache import Session

SEED = 2015
GRID = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
T_RULE = (1, 10, 50, 100)


@dataclass(frozen=True)
class DataSet:
    """How a data set is used.

    `n_train` is None where the split is the one in the file.
    """

    title: str
    stored: str
    one_vs_rest: bool
    n_train: int | None = None
    features: str = "standard"
    thresholds: tuple[int, ...] = (1,)


DATA_SETS = {
    "reuters": DataSet("Reuters", "reuters", True, None, "raw", T_RULE),
    "letters": DataSet("Letters", "letters", True),
    "scene": DataSet("Scene", "scene_single", True),
    "webpage": DataSet("Webpage", "webpage", False, 6956, "raw"),
    "spambase": DataSet("Spambase", "spambase", False, 3071),
    "image": DataSet("Image", "image", False, 1300),
    "breast_cancer": DataSet("Breast Cancer", "breast_cancer", False, 463),
}


@dataclass(frozen=True)
class Problem:
    """One binary problem: training and test rows with their labels."""

    X_train: object
    y_train: np.ndarray
    X_test: object
    y_test: np.ndarray


def generator(*key: int) -> np.random.Generator:
    """Return the random numbers of a purpose; all come from the one seed."""
    return np.random.default_rng([SEED, *key])


def rows_of_split(session: Session, name: str, split: int):
    """Return training and test rows: those in the file, or random ones."""
    used = DATA_SETS[name]
    _, y, in_file = data.load(used.stored, session.data)
    if used.n_train is None:
        return in_file
    order = generator(list(DATA_SETS).index(name), split).permutation(len(y))
    return order[: used.n_train], order[used.n_train :]


def classes_kept(session: Session, name: str, at_least: int = 1) -> list[int]:
    """Return the classes with so many positives in training and in test rows."""
    if not DATA_SETS[name].one_vs_rest:
        return [1]
    _, y, _ = data.load(DATA_SETS[name].stored, session.data)
    train, test = rows_of_split(session, name, 0)
    counts = [np.bincount(y[rows], minlength=y.max() + 1) for rows in (train, test)]
    return np.flatnonzero(np.minimum(*counts) >= at_least).tolist()


def problem_of(session: Session, name: str, split: int, label: int) -> Problem:
    """Return the problem of a class; for two classes, of label 1."""
    X, y, _ = data.load(DATA_SETS[name].stored, session.data)
    train, test = rows_of_split(session, name, split)
    positive = y == label
    return Problem(X[train], positive[train], X[test], positive[test])


def model_for(features: str, C: float, penalised_intercept: bool = False):
    """Return an L2 logistic regression on features as they are or transformed."""
    steps = {
        "raw": [],
        "standard": [StandardScaler()],
        "log": [FunctionTransformer(np.log1p, accept_sparse=True)],
        "unit": [Normalizer()],
    }[features]
    if penalised_intercept:
        regression = LogisticRegression(C=C, solver="liblinear", random_state=SEED)
    else:
        # A tolerance at which the optimum does not depend on where lbfgs stopped.
        regression = LogisticRegression(C=C, tol=1e-6, max_iter=5000)
    return make_pipeline(*steps, regression)


def folds_for(y: np.ndarray, most: int) -> StratifiedKFold | None:
    """Return stratified folds with a positive in each; None if there is only one."""
    n_folds = min(most, int(y.sum()))
    if n_folds < 2:
        return None
    return StratifiedKFold(n_folds, shuffle=True, random_state=SEED)


def choose_C(X, y: np.ndarray, features: str) -> float:
    """Return the C with the least log loss over three folds of the training rows."""
    folds = folds_for(y, 3)
    if folds is None:
        return 1.0  # a single positive leaves nothing to validate on
    loss = np.zeros(len(GRID))
    for fit, held in folds.split(np.zeros(len(y)), y):
        for i, C in enumerate(GRID):
            p = fitted(model_for(features, C), X[fit], y[fit]).predict_proba(X[held])
            loss[i] += log_loss(y[held], p[:, 1], labels=[False, True]) * len(held)
    return GRID[int(np.argmin(loss))]


def fitted(model, X, y: np.ndarray):
    """Fit; in text without penalty lbfgs may stop at its limit, which is no harm."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def halves_of(y: np.ndarray, rng: np.random.Generator):
    """Return two random halves of the rows, with the positives divided evenly.

    Of an odd number the model gets one more than the threshold.
    """
    model, threshold = [], []
    for kind in (True, False):
        rows = rng.permutation(np.flatnonzero(y == kind))
        middle = (len(rows) + 1) // 2
        model.append(rows[:middle])
        threshold.append(rows[middle:])
    return np.sort(np.concatenate(model)), np.sort(np.concatenate(threshold))


def full_fit(session: Session, name: str, split: int, label: int) -> dict:
    """Fit on all training rows; return probabilities, calibrated ones among them."""
    problem, features = (
        problem_of(session, name, split, label),
        DATA_SETS[name].features,
    )
    X, y = problem.X_train, problem.y_train
    C = choose_C(X, y, features)
    model = model_for(features, C)
    result = {
        "C": np.array(C),
        "y_train": y,
        "y_test": problem.y_test,
        "raw": fitted(model, X, y).predict_proba(problem.X_test)[:, 1],
    }
    folds = folds_for(y, 5)
    if folds is None:  # nothing to calibrate on: the probabilities as they are
        own = model.predict_proba(X)[:, 1]
        return result | {
            "sigmoid": result["raw"],
            "isotonic": result["raw"],
            "out_of_fold": own,
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        held_out = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
        for method in ("sigmoid", "isotonic"):
            calibrated = CalibratedClassifierCV(
                model, method=method, cv=folds, ensemble=False
            ).fit(X, y)
            result[method] = calibrated.predict_proba(problem.X_test)[:, 1]
    return result | {"out_of_fold": held_out[:, 1]}


def half_fit(session: Session, name: str, split: int, label: int, half: int) -> dict:
    """Fit on a random half of the training rows; score the other half and the test."""
    problem, features = (
        problem_of(session, name, split, label),
        DATA_SETS[name].features,
    )
    X, y = problem.X_train, problem.y_train
    rng = generator(list(DATA_SETS).index(name), split, label, half)
    for_model, for_threshold = halves_of(y, rng)
    C = choose_C(X[for_model], y[for_model], features)
    model = fitted(model_for(features, C), X[for_model], y[for_model])
    return {
        "C": np.array(C),
        "y_threshold": y[for_threshold],
        "threshold": model.predict_proba(X[for_threshold])[:, 1],
        "test": model.predict_proba(problem.X_test)[:, 1],
    }
