"""What does a tuned threshold score: ours, the papers' and scikit-learn's?

    python -m benchmarks.thresholds [--quick] [--data DIR] [--out DIR]

`PluginThresholdClassifier` by cross-validation, which is its default, and with half of
the data held out, against scikit-learn's `TunedThresholdClassifierCV`: the same model,
the same training data, the metric on all other rows. On three data sets of
`experiments/data.py`, which says where they are looked for. Writes DIR/thresholds.md in
some eight minutes of one processor. Needs bestcut[sklearn].
"""

from __future__ import annotations

import argparse
import datetime as dt
import time
from pathlib import Path

import numpy as np
from benchmarks.results import folder_of_today
from experiments.data import find_folder, load
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from bestcut.estimators import PluginThresholdClassifier

METRICS = {
    "f1": "f1",
    "mcc": "matthews_corrcoef",
    "balanced_accuracy": "balanced_accuracy",
}
REPEATS = 40
THEIRS = "TunedThresholdClassifierCV"
# Data set, rows to learn from, model.
CASES = (
    ("spambase", 600, "logistic"),
    ("spambase", 600, "naive Bayes"),
    ("image", 300, "logistic"),
    ("webpage", 4000, "logistic"),
)

Scores = dict[str, list[float]]


def say(text: str) -> None:
    """Print progress with the time."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def model_of(kind: str, dense: bool):
    """Return the model that all ways share."""
    if kind == "naive Bayes":
        return GaussianNB()
    scaler = StandardScaler() if dense else MaxAbsScaler()
    return make_pipeline(scaler, LogisticRegression(max_iter=2000))


def ways(model, metric: str, seed: int) -> dict:
    """Return the contenders."""
    return {
        THEIRS: TunedThresholdClassifierCV(model, scoring=METRICS[metric]),
        "by cross-validation": PluginThresholdClassifier(model, metric),
        "half held out": PluginThresholdClassifier(
            model, metric, cv="holdout", random_state=seed
        ),
    }


def split(y: np.ndarray, n_fit: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to learn from, with ten of each class at least, and the others."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(y.size)
        if 10 <= y[order[:n_fit]].sum() <= n_fit - 10:
            return order[:n_fit], order[n_fit:]


def measure(X, y: np.ndarray, n_fit: int, kind: str, repeats: int) -> dict[str, Scores]:
    """Return the scores of each way, by metric."""
    model = model_of(kind, isinstance(X, np.ndarray))
    found: dict[str, Scores] = {metric: {} for metric in METRICS}
    for seed in range(repeats):
        fit, rest = split(y, n_fit, seed)
        for metric, scorer in METRICS.items():
            for name, way in ways(model, metric, seed).items():
                way.fit(X[fit], y[fit])
                score = get_scorer(scorer)(way, X[rest], y[rest])
                found[metric].setdefault(name, []).append(score)
    return found


def lines_of(case: tuple[str, int, str], found: dict[str, Scores]) -> list[str]:
    """Return the rows of the table for one data set and model."""
    data, n_fit, kind = case
    lines = []
    for metric, scores in found.items():
        theirs = np.array(scores[THEIRS])
        cells = [f"{data}, {kind}, {n_fit}", metric, f"{theirs.mean():.3f}"]
        for name, values in scores.items():
            if name != THEIRS:
                apart = np.array(values) - theirs
                error = apart.std(ddof=1) / np.sqrt(apart.size)
                cells.append(f"{apart.mean():+.4f} ± {error:.4f}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measure all cases and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the splits")
    parser.add_argument("--data", help="folder of the data sets")
    parser.add_argument("--out", type=Path, help="folder of the file")
    arguments = parser.parse_args()
    today = dt.date.today().isoformat()
    out = arguments.out or folder_of_today()
    repeats = REPEATS // 10 if arguments.quick else REPEATS
    table = [
        "# Tuned thresholds",
        "",
        f"`python -m benchmarks.thresholds`, {today}. Mean score on the rest of the "
        f"data over {repeats} random splits; `PluginThresholdClassifier`'s is shown as "
        "the difference from scikit-learn's on the same splits, with its standard "
        "error.",
        "",
        f"| data, model, rows to learn from | metric | {THEIRS} | by "
        "cross-validation (default) | half held out |",
        "| --- | --- | --- | --- | --- |",
    ]
    for case in CASES:
        data, n_fit, kind = case
        say(f"{data}, {kind}")
        X, y, _ = load(data, find_folder(arguments.data))
        table += lines_of(case, measure(X, y, n_fit, kind, repeats))
        say(table[-1])
    out.mkdir(parents=True, exist_ok=True)
    (out / "thresholds.md").write_text("\n".join(table) + "\n", encoding="utf-8")
    say(f"done: {out / 'thresholds.md'}")


if __name__ == "__main__":
    main()
