"""Few rows: exact expected scores against ratios of expectations.

    python -m experiments.small_classes

Many tools maximise the mean over classes of 2 T / (k + mu), with expected hits T, k
predictions and mu expected positives: a ratio of expectations. For 50 rows and ten
classes, some rare, this shows what is lost against the exact expected macro-F1.
"""

from __future__ import annotations

import argparse

import numpy as np

from bestcut import multiclass

_SWEEPS = 30


def probabilities(rows: int, classes: int, rng: np.random.Generator) -> np.ndarray:
    """Return made probabilities: classes of different frequencies, rows unlike."""
    logits = rng.normal(0.0, 1.5, (rows, classes)) + rng.normal(0.0, 1.0, classes)
    p = np.exp(logits)
    return p / p.sum(axis=1, keepdims=True)


def by_ratios(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the classes that a row-by-row ascent of the ratios leads to."""
    rows, classes = p.shape
    mean, chosen = p.sum(axis=0), p.argmax(axis=1)
    for _ in range(_SWEEPS):
        before = chosen.copy()
        for i in rng.permutation(rows):
            others = np.arange(rows) != i
            size = np.bincount(chosen[others], minlength=classes)
            hits = np.bincount(
                chosen[others], p[others, chosen[others]], minlength=classes
            )
            without = 2 * hits / (size + mean)
            chosen[i] = np.argmax(2 * (hits + p[i]) / (size + 1 + mean) - without)
        if np.array_equal(before, chosen):
            break
    return chosen


def losses(problems: int, rows: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what ratios lose in each problem, and the gap of the exact decision."""
    lost, gaps = [], []
    for seed in range(problems):
        rng = np.random.default_rng(seed)
        p = probabilities(rows, classes, rng)
        exact = multiclass.decide(p, "f1")
        lost.append(
            exact.expected_score - multiclass.expected_score(p, by_ratios(p, rng), "f1")
        )
        gaps.append(exact.gap)
    return np.array(lost), np.array(gaps)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="*", default=[10, 50, 500])
    parser.add_argument("--classes", type=int, default=10)
    given = parser.parse_args()
    print("| rows | mean loss | worst | least | mean gap of ours |")
    print("| --- | --- | --- | --- | --- |")
    for n in given.rows:
        lost, gaps = losses(given.problems, n, given.classes)
        print(
            f"| {n} | {lost.mean():.5f} | {lost.max():.5f} | {lost.min():.1e} "
            f"| {gaps.mean():.1e} |"
        )
