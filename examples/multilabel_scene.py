"""Which of six labels does a picture carry? The Scene data, 20 splits, three averages.

    python examples/multilabel_scene.py [--data DIR] [--splits 20]

One logistic regression for each label, as it is and with its probabilities calibrated
(`CalibratedClassifierCV`, sigmoid). Labels are then chosen

- by the threshold 0.5;
- by one threshold, tuned on the training part for the mean F1 of the rows;
- by a threshold for each label, tuned on the training part for the F1 of that label;
- by `bestcut.multilabel.decide`, for the mean over rows, the mean over labels, and all
  entries together, without a label of any kind;
- by `bestcut.decide_samples` for each row. Most pictures carry one label, so that
  labels exclude each other; all 64 label vectors go in, weighted by the product of the
  probabilities and by how often so many labels came together in the training part.

Tuning uses out-of-fold probabilities. Prints the F1 that came, in each average, and in
brackets the one that was expected before the labels were known; some six minutes.
Needs bestcut[sklearn]. The data are not part of this repository: they are looked for in
DIR, in the folder that the environment variable BESTCUT_DATA names, and in
`../shared/data` beside the repository.
"""

from __future__ import annotations

import argparse
import os
import sys
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bestcut
from bestcut import multilabel

ROOT = Path(__file__).resolve().parents[1]
AVERAGES = ("samples", "macro", "micro")
TRAINING = 1211  # rows, as in the split that the data come with
FOLDS = 3
MISSING = (
    "Skipped: scene.npz was not found. Name its folder with --data or with the "
    "environment variable BESTCUT_DATA."
)


def find_data(given: str | None = None) -> Path | None:
    """Return the file, or None if it is not there."""
    places = [given, os.environ.get("BESTCUT_DATA"), ROOT.parent / "shared" / "data"]
    files = [Path(place) / "scene.npz" for place in places if place]
    return next((file for file in files if file.is_file()), None)


def models():
    """Return the models, by name."""
    logistic = LogisticRegression(C=0.01, max_iter=1000)
    calibrated = CalibratedClassifierCV(logistic, cv=FOLDS, ensemble=False)
    return {
        name: make_pipeline(StandardScaler(), OneVsRestClassifier(inner))
        for name, inner in (("as it is", logistic), ("calibrated", calibrated))
    }


def tuned_for_rows(p, Y):
    """Return the one threshold with the best mean F1 of the rows."""
    candidates = np.unique(np.quantile(p, np.linspace(0.3, 1.0, 141)))
    hits = [((p >= t) & (Y == 1)).sum(axis=1) for t in candidates]
    sizes = [(p >= t).sum(axis=1) + Y.sum(axis=1) for t in candidates]
    scores = [
        np.mean(2 * a / np.maximum(b, 1)) for a, b in zip(hits, sizes, strict=True)
    ]
    return candidates[int(np.argmax(scores))]


def tuned_for_labels(p, Y):
    """Return for each label the threshold with the best F1."""
    return np.array(
        [
            bestcut.empirical_threshold(y, column, "f1").threshold
            for y, column in zip(Y.T, p.T, strict=True)
        ]
    )


def dependent(p, seen, Y_seen):
    """Return labels and expected F1 of each row, with the number of labels known.

    The distribution of independent labels is weighted so that each number of labels is
    as frequent as in the training part.
    """
    n = p.shape[1]
    words = np.array(list(product((0, 1), repeat=n)))
    size = words.sum(axis=1)

    def independent(p):
        return np.prod(np.where(words == 1, p[:, None], 1 - p[:, None]), axis=2)

    predicted = np.bincount(size, independent(seen).mean(axis=0))
    came = np.bincount(Y_seen.sum(axis=1), minlength=n + 1) / len(Y_seen)
    weights = independent(p) * (came / predicted)[size]
    found = [bestcut.decide_samples(words, sample_weight=w) for w in weights]
    labels = np.array([one.labels for one in found])
    return labels, float(np.mean([one.expected_score for one in found]))


def predictions(p, seen, Y_seen):
    """Return the labels of each way, in the order of the table."""
    found = {
        "threshold 0.5": p >= 0.5,
        "one threshold, tuned": p >= tuned_for_rows(seen, Y_seen),
        "a threshold for each label, tuned": p >= tuned_for_labels(seen, Y_seen),
    }
    for average in AVERAGES:
        found[f"exact, {average}"] = multilabel.decide(p, average=average).labels
    return found


def one_split(X, Y, seed):
    """Return realised and expected scores by model and way, an entry per average."""
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:TRAINING], order[TRAINING:]
    results = {}
    for name, model in models().items():
        folds = KFold(FOLDS, shuffle=True, random_state=seed)
        seen = cross_val_predict(
            model, X[train], Y[train], cv=folds, method="predict_proba"
        )
        p = model.fit(X[train], Y[train]).predict_proba(X[test])
        for way, labels in predictions(p, seen, Y[train]).items():
            results[name, way] = [
                (
                    f1_score(Y[test], labels, average=average, zero_division=0),
                    multilabel.expected_score(p, labels, average=average),
                )
                for average in AVERAGES
            ]
        labels, due = dependent(p, seen, Y[train])
        results[name, "exact, samples, dependent labels"] = [
            (
                f1_score(Y[test], labels, average=average, zero_division=0),
                due if average == "samples" else np.nan,
            )
            for average in AVERAGES
        ]
    return results


def print_table(results, name):
    """Print mean realised scores and, in brackets, expected ones."""
    ways = [way for model, way in results[0] if model == name]
    print(f"\n**Logistic regression, {name}**\n")
    print("| labels | mean of rows | mean of labels | all together |")
    print("| --- | --- | --- | --- |")
    for way in ways:
        mean = np.mean([r[name, way] for r in results], axis=0)
        cells = " | ".join(
            f"{came:.3f}" + ("" if np.isnan(due) else f" ({due:.3f})")
            for came, due in mean
        )
        print(f"| {way} | {cells} |")
    ours = np.array([r[name, "exact, samples"][0][0] for r in results])
    print()
    for way in ways[:3]:
        gain = ours - np.array([r[name, way][0][0] for r in results])
        print(
            f"Rows: exact over {way}: {gain.mean():+.4f} on average, better in "
            f"{np.count_nonzero(gain > 0)} of {gain.size} splits "
            f"({gain.min():+.4f} to {gain.max():+.4f})."
        )


def main():
    """Run all splits and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder that holds scene.npz")
    parser.add_argument("--splits", type=int, default=20)
    options = parser.parse_args()
    file = find_data(options.data)
    if file is None:
        print(MISSING)
        return 0
    with np.load(file) as stored:
        X, Y = stored["X"].astype(np.float64), stored["y"].astype(int)
    print(
        f"{len(X)} pictures, {Y.shape[1]} labels, {Y.sum() / len(X):.2f} a picture; "
        f"{options.splits} splits of {TRAINING} to train and {len(X) - TRAINING} to "
        "test. F1 that came (F1 expected):"
    )
    results = [one_split(X, Y, seed) for seed in range(options.splits)]
    for name in models():
        print_table(results, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
