"""What the paper leaves open, tried out: which choice comes near its printed numbers?

Only to explain differences: no other part of the experiments uses it.
"""

from __future__ import annotations

import numpy as np

from experiments import data
from experiments.cache import Session
from experiments.printed import PAPER_METRICS
from experiments.protocol import (
    DATA_SETS,
    Problem,
    choose_C,
    fitted,
    generator,
    halves_of,
    model_for,
    problem_of,
)
from experiments.tables import oracle, realised, tuned

# words -> what is changed; C None is chosen as in the tables
COMMON = {
    "C = 1, features as they are": {"features": "raw", "C": 1.0},
    "C = 1, intercept penalised too (LIBLINEAR)": {
        "features": "raw",
        "C": 1.0,
        "penalised_intercept": True,
    },
    "C = 0.001, features as they are": {"features": "raw", "C": 0.001},
    "C = 0.01, features as they are": {"features": "raw", "C": 0.01},
    "C = 10000, hardly regularised": {"C": 10000.0},
}
OTHER_CLASS = {"the other class positive": {"positive": 0}}
VARIANTS: dict[str, dict[str, dict]] = {
    "reuters": COMMON
    | {
        "C = 1, log(1 + count)": {"features": "log", "C": 1.0},
        "C = 10, rows of length 1": {"features": "unit", "C": 10.0},
    },
    "letters": COMMON,
    "scene": COMMON | {"all 2407 images, several labels each": {"stored": "scene"}},
    "webpage": COMMON,
    "spambase": COMMON | OTHER_CLASS,
    "image": COMMON | OTHER_CLASS | {"the split in the file": {"in_file": True}},
    "breast_cancer": COMMON | OTHER_CLASS,
}


def _problem(session: Session, name: str, split: int, label: int, change: dict):
    """Return the problem with what a variant changes in the data."""
    if "positive" in change:
        return problem_of(session, name, split, change["positive"])
    if "stored" in change or "in_file" in change:
        stored = change.get("stored", DATA_SETS[name].stored)
        X, y, (train, test) = data.load(stored, session.data)
        positive = y[:, label] == 1 if y.ndim == 2 else y == label
        return Problem(X[train], positive[train], X[test], positive[test])
    return problem_of(session, name, split, label)


def _probabilities(X, y, rows, change: dict, features: str) -> list[np.ndarray]:
    """Fit as a variant says; return the probabilities of several sets of rows."""
    features, C = change.get("features", features), change.get("C")
    C = choose_C(X, y, features) if C is None else C
    model = model_for(features, C, change.get("penalised_intercept", False))
    model = fitted(model, X, y)
    return [model.predict_proba(more)[:, 1] for more in rows]


def variant_cell(
    session: Session, name: str, split: int, label: int, variant: str
) -> dict:
    """Score Baseline, EUM and their oracles under one change."""
    change, features = VARIANTS[name][variant], DATA_SETS[name].features
    at = _problem(session, name, split, label, change)
    (p,) = _probabilities(at.X_train, at.y_train, [at.X_test], change, features)
    rng = generator(list(DATA_SETS).index(name), split, label, 0)
    for_model, for_threshold = halves_of(at.y_train, rng)
    held, test = _probabilities(
        at.X_train[for_model],
        at.y_train[for_model],
        [at.X_train[for_threshold], at.X_test],
        change,
        features,
    )
    y, y_held = at.y_test, at.y_train[for_threshold]
    scores = {
        metric: {
            "baseline": realised(metric, y, p >= 0.5),
            "eum": [tuned(metric, y_held, held, y, test)],
            "oracle": oracle(metric, y, p),
            "eum_oracle": [oracle(metric, y, test)],
        }
        for metric in PAPER_METRICS
    }
    return {
        "name": name,
        "split": split,
        "label": label,
        "variant": variant,
        "train_positives": int(at.y_train.sum()),
        "test_positives": int(y.sum()),
        "scores": {"raw": scores},
    }


def variant_cells(problems: list[tuple[str, int, int]], n_splits: int) -> list[dict]:
    """Return the settings of all variants, on the first splits where splits vary."""
    cells = []
    for name, split, label in problems:
        for variant, change in VARIANTS[name].items():
            if split >= (1 if "in_file" in change else n_splits):
                continue
            cells.append(
                {"name": name, "split": split, "label": label, "variant": variant}
            )
    return cells
