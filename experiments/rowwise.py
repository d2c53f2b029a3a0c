"""Row by row or for the batch: what `predict` loses against `decide`.

    python -m experiments.held_out SCORES --seeds 900 902
    python -m experiments.rowwise SCORES --seeds 900 902

SCORES is the folder that `experiments.held_out` wrote (here two of its models are
enough). The out-of-fold scores of the training rows calibrate an
`ExpectedMetricClassifier` and choose its threshold; then batches of test rows are
labelled by `predict` and by `decide`, and the labels are uncovered. Prints Markdown:
how labels depend on how `predict` is called, what row-wise labels lose and whether
their promise holds, whether a condition holds, and what is lost by choosing the
threshold with the means of the draws.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import bestcut
from bestcut.estimators import ExpectedMetricClassifier
from bestcut.goals import Certain
from experiments.held_out import MODELS, N_TRAIN, file_of
from experiments.tables import realised

METRICS = ("f1",)
BATCHES = (10, 30, 100, 300, 1000, 0)  # rows; 0 is all of them
REPEATS = 2  # batches of a size, of each problem
FLOOR, SURE = 0.8, 0.9  # the precision asked for, and how surely


class Scores(ClassifierMixin, BaseEstimator):
    """A model that was fitted before: its probability is the only column."""

    def __init__(self) -> None:
        self.classes_ = np.array([0, 1])

    def fit(self, X: Any, y: Any) -> Scores:
        """Learn nothing."""
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return both columns."""
        return np.column_stack([1.0 - X[:, 0], X[:, 0]])


def classifier(problem: Any, metric: str, **options: Any) -> ExpectedMetricClassifier:
    """Return a classifier that out-of-fold scores calibrate."""
    model = ExpectedMetricClassifier(Scores(), metric, cv="prefit", **options)
    return model.fit(problem["scores"][:, None], problem["y"].astype(int))


def batches(problem: Any, seed: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield random batches of test rows: how many were asked for, scores, labels."""
    rng = np.random.default_rng([17, seed])
    scores, y = problem["new_scores"], problem["y_new"]
    for size in BATCHES:
        if size >= y.size:
            continue
        for _ in range(REPEATS if size else 1):
            rows = rng.choice(y.size, size, replace=False) if size else slice(None)
            yield size, scores[rows][:, None], y[rows]


def compared(problem: Any, seed: int) -> Iterator[tuple[str, int, float, float, bool]]:
    """Yield what both ways reach, and whether the promise of `predict` holds."""
    for metric in METRICS:
        model = classifier(problem, metric)
        for size, X, y in batches(problem, seed):
            by_row, law = model.predict(X).astype(bool), model.distribution(X)
            low, high = law.interval(0.9)
            own = realised(metric, y, by_row)
            best = realised(metric, y, np.asarray(model.decide(X).labels))
            yield metric, size, own, best, low - 1e-9 <= own <= high + 1e-9


def conditioned(problem: Any, seed: int) -> Iterator[tuple[int, str, bool]]:
    """Yield whether precision was reached, by each of both ways."""
    condition = {"precision": Certain(FLOOR, probability=SURE)}
    try:
        model = classifier(problem, "recall", at_least=condition)
    except bestcut.InfeasibleError:
        return
    for size, X, y in batches(problem, seed):
        try:
            found = {"decide": np.asarray(model.decide(X).labels)}
        except bestcut.InfeasibleError:
            continue  # nothing can be promised in this batch
        found["predict"] = model.predict(X).astype(bool)
        for way, labels in found.items():
            if labels.any():
                yield size, way, realised("precision", y, labels) >= FLOOR


def lost_by_means(problem: Any) -> Iterator[tuple[float, float]]:
    """Yield what the threshold of the means loses: expected, and in the test."""
    y = problem["y_new"]
    for metric in METRICS:
        model = classifier(problem, metric)
        p = model.calibration_(problem["scores"])
        best = bestcut.decide(p, metric)
        own = bestcut.expected_score(p, p.mean >= model.threshold_, metric)
        new = model.predict_proba(problem["new_scores"][:, None])[:, 1]
        by_draws = realised(metric, y, new >= best.threshold)
        by_means = realised(metric, y, new >= model.threshold_)
        yield best.expected_score - own, by_draws - by_means


def called_in_any_way() -> list[str]:
    """Return the rows of a table: what is flagged, and F1, by batches of some sizes."""
    rows = []
    models = {"logistic": LogisticRegression(), "naive Bayes": GaussianNB()}
    for name, inner in models.items():
        for seed in (0, 1, 2):
            X, y = make_classification(
                6000,
                n_features=12,
                n_informative=4,
                weights=[0.95],
                flip_y=0.02,
                random_state=seed,
            )
            model = ExpectedMetricClassifier(inner).fit(X[:3000], y[:3000])
            new, truth = X[3000:4000], y[3000:4000] == 1
            cells = []
            for scope in ("fixed", "batch"):
                model.set_params(scope=scope)
                for size in (1000, 10, 1):
                    parts = [
                        model.predict(new[i : i + size]) for i in range(0, 1000, size)
                    ]
                    labels = np.concatenate(parts) == 1
                    cells.append(
                        f"{labels.sum()} ({realised('f1', truth, labels):.2f})"
                    )
            rows.append(f"| {name}, {seed} | {' | '.join(cells)} |")
    return rows


def shown(values: list[float]) -> str:
    """Return mean and standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):+.4f} ± {error:.4f}"


def main(kept: Path, seeds: range, names: list[str], models: list[str]) -> None:
    """Print the tables."""
    print("Flagged of 1,000 rows (F1), `predict` called with so many rows at once:\n")
    print(
        "| model, seed | fixed, 1,000 | fixed, 10 | fixed, 1 | batch, 1,000 | 10 | 1 |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    print("\n".join(called_in_any_way()))
    lost: dict[tuple[str, int], list[float]] = defaultdict(list)
    held: dict[int, list[bool]] = defaultdict(list)
    kept_word: dict[tuple[int, str], list[bool]] = defaultdict(list)
    means: list[tuple[float, float]] = []
    for name in names:
        for model in models:
            for seed in seeds:
                with np.load(file_of(kept, name, model, seed)) as problem:
                    problem = dict(problem)
                for metric, size, own, best, inside in compared(problem, seed):
                    lost[metric, size].append(own - best)
                    held[size].append(inside)
                for size, way, reached in conditioned(problem, seed):
                    kept_word[size, way].append(reached)
                means += lost_by_means(problem)
    print("\nRealised score of `predict` less that of `decide`, and how often the 90 %")
    print("interval of `distribution` holds:\n")
    print(f"| rows | {' | '.join(METRICS)} | holds | batches |")
    print(f"| --- | {'--- | ' * len(METRICS)}--- | --- |")
    for size in BATCHES:
        cells = " | ".join(shown(lost[metric, size]) for metric in METRICS)
        inside = held[size]
        holds = f"{np.mean(inside):.3f} | {len(inside)}"
        print(f"| {size or 'all'} | {cells} | {holds} |")
    print(
        f"\nPrecision of {FLOOR} with probability {SURE}: how often it was reached:\n"
    )
    print("| rows | decide | predict | batches |")
    print("| --- | --- | --- | --- |")
    for size in BATCHES:
        both = [kept_word[size, way] for way in ("decide", "predict")]
        if both[1]:
            cells = " | ".join(f"{np.mean(x):.2f}" for x in both)
            print(f"| {size or 'all'} | {cells} | {len(both[1])} |")
    expected, found = map(list, zip(*means, strict=True))
    print("\nThe threshold of the means of draws loses, against that of the draws:")
    print(f"expected in training {shown(expected)} (at most {max(expected):.4f}),")
    print(f"realised in the test {shown(found)}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept", type=Path)
    parser.add_argument("--seeds", type=int, nargs=2, default=(900, 902))
    parser.add_argument("--names", nargs="*", default=list(N_TRAIN))
    parser.add_argument("--models", nargs="*", default=list(MODELS[:2]))
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scores beyond those that calibrated
        main(given.kept, range(*given.seeds), given.names, given.models)
