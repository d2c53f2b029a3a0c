"""Which way to decide, and when: four situations on real data.

    python examples/contenders.py [--data DIR] [--repeats 40] [--out DIR]

Compares the paper's three contenders, all of them around the same model, by the F1 that
they really get:

- DTA: `ExpectedMetricClassifier`, the best cut for the batch;
- EUM: `PluginThresholdClassifier`, one threshold tuned on held-out labels, with half of
  the data held out as in the papers, or by cross-validation;
- the baseline: the model's own `predict`, which cuts at 1/2.

Prints Markdown tables and writes OUT/contenders.png; some five minutes on two cores.
Needs scikit-learn and matplotlib. The data are looked for as `promised_intervals.py`
does; without them nothing is done.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from joblib import Parallel, delayed
from promised_intervals import MISSING, find_data, load
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import bestcut
from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier

mpl.use("Agg")
import matplotlib.pyplot as plt

F1 = bestcut.metrics.get("f1")
SIZES = (20, 50, 100, 300, 1000)
PREVALENCES = (0.05, 0.1, 0.2, 0.4, 0.6)
TRAINED_ON = 600
STYLES = {
    "DTA": ("black", "-", "o"),
    "DTA, calibrated": ("0.55", "-", "o"),
    "DTA, not adjusted": ("0.55", "-", "o"),
    "EUM, half held out": ("tab:orange", "--", "s"),
    "EUM, cross-validation": ("tab:red", "--", "D"),
    "baseline at 1/2": ("tab:blue", ":", "^"),
}

Scores = dict[str, list[float]]


def score(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    """Return the realised F1."""
    both = np.count_nonzero(y_true & y_pred)
    return float(F1(both, y_pred.sum(), y_true.sum(), y_true.size))


def linear(sparse: bool) -> Any:
    """Return the model: logistic regression."""
    scaler = MaxAbsScaler() if sparse else StandardScaler()
    return make_pipeline(scaler, LogisticRegression(max_iter=500))


def contenders(model: Any, X: Any, y: np.ndarray, seed: int) -> dict[str, Any]:
    """Return the fitted contenders."""
    ways = {
        "DTA": ExpectedMetricClassifier(model, calibration=None, scope="batch"),
        "EUM, half held out": PluginThresholdClassifier(
            model, cv="holdout", random_state=seed
        ),
        "EUM, cross-validation": PluginThresholdClassifier(model),
        "baseline at 1/2": model,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {name: way.fit(X, y) for name, way in ways.items()}


def split(y: np.ndarray, n_fit: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to fit, with both classes among them, and the others."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(y.size)
        if 10 <= y[order[:n_fit]].sum() <= n_fit - 10:
            return order[:n_fit], order[n_fit:]


def by_size(X: Any, y: np.ndarray, n_fit: int, seed: int) -> dict[int, Scores]:
    """Return realised scores of one split, for test sets of several sizes."""
    fit, rest = split(y, n_fit, seed)
    ways = contenders(linear(not isinstance(X, np.ndarray)), X[fit], y[fit], seed)
    rng = np.random.default_rng(seed)
    out: dict[int, Scores] = {}
    for size in SIZES:
        out[size] = {name: [] for name in ways}
        for _ in range(max(400 // size, 1)):
            test = rng.choice(rest, size=size, replace=False)
            truth = y[test] == 1
            for name, way in ways.items():
                out[size][name].append(score(truth, way.predict(X[test]) == 1))
    return out


def by_prevalence(X: Any, y: np.ndarray, seed: int) -> dict[float, Scores]:
    """Return realised scores of one split where positives became more or less rare."""
    fit, rest = split(y, TRAINED_ON, seed)
    ways = contenders(linear(sparse=False), X[fit], y[fit], seed)
    model, share = ways["baseline at 1/2"], float(y[fit].mean())
    del ways["DTA"]
    rng = np.random.default_rng(seed)
    out: dict[float, Scores] = {}
    for prevalence in PREVALENCES:
        found: Scores = {name: [] for name in ("DTA", "DTA, not adjusted", *ways)}
        positives = round(prevalence * 300)
        test = np.concatenate(
            [
                rng.choice(rest[y[rest] == label], size=count, replace=False)
                for label, count in ((1, positives), (0, 300 - positives))
            ]
        )
        truth = y[test] == 1
        p = model.predict_proba(X[test])[:, 1]
        adjusted = bestcut.calibration.adjust_prevalence(p, old=share)
        found["DTA"].append(score(truth, bestcut.decide(adjusted).labels))
        found["DTA, not adjusted"].append(score(truth, bestcut.decide(p).labels))
        for name, way in ways.items():
            found[name].append(score(truth, way.predict(X[test]) == 1))
        out[prevalence] = found
    return out


def miscalibrated(X: Any, y: np.ndarray, seed: int) -> dict[int, Scores]:
    """Return realised scores around naive Bayes, which is far too sure of itself."""
    fit, rest = split(y, TRAINED_ON, seed)
    model = GaussianNB()
    ways = contenders(model, X[fit], y[fit], seed)
    calibrated = ExpectedMetricClassifier(model, calibration="isotonic", scope="batch")
    ways["DTA, calibrated"] = calibrated.fit(X[fit], y[fit])
    rng = np.random.default_rng(seed)
    out: dict[int, Scores] = {}
    for size in SIZES:
        test = rng.choice(rest, size=size, replace=False)
        truth = y[test] == 1
        out[size] = {
            name: [score(truth, way.predict(X[test]) == 1)]
            for name, way in ways.items()
        }
    return out


def merged(parts: list[dict[Any, Scores]]) -> dict[Any, Scores]:
    """Return the mean scores of each split, listed over the splits."""
    return {
        x: {name: [float(np.mean(part[x][name])) for part in parts] for name in scores}
        for x, scores in parts[0].items()
    }


def table(found: dict[Any, Scores], head: str) -> str:
    """Return a Markdown table: DTA's mean, and what the others differ from it."""
    others = [name for name in next(iter(found.values())) if name != "DTA"]
    lines = [
        f"| {head} | DTA | {' | '.join(others)} |",
        f"|{' --- |' * (2 + len(others))}",
    ]
    for x, scores in found.items():
        dta = np.array(scores["DTA"])
        cells = [f"{x}", f"{dta.mean():.3f}"]
        for name in others:
            apart = np.array(scores[name]) - dta
            error = apart.std(ddof=1) / np.sqrt(apart.size)
            cells.append(f"{apart.mean():+.3f} ± {error:.3f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(panels: list[tuple[str, str, dict[Any, Scores]]]) -> plt.Figure:
    """Return the figure: mean realised F1 in each situation."""
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 7), layout="constrained")
    for axis, (title, label, found) in zip(axes.flat, panels, strict=True):
        for name in next(iter(found.values())):
            color, line, marker = STYLES[name]
            means = [np.mean(scores[name]) for scores in found.values()]
            axis.plot(
                list(found), means, line, color=color, marker=marker, ms=5, label=name
            )
        axis.set_title(title, fontsize=11, loc="left")
        axis.set_xlabel(label)
        axis.set_ylabel("mean realised F1")
        if label.startswith("rows"):
            axis.set_xscale("log")
            axis.set_xticks(SIZES, map(str, SIZES))
            axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False, fontsize=8)
    return figure


def main(arguments: list[str] | None = None) -> int:
    """Run all four situations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of the data sets")
    parser.add_argument("--repeats", type=int, default=40, help="random splits")
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    options = parser.parse_args(arguments)
    folder = find_data(options.data)
    if folder is None:
        print(MISSING)
        return 0
    seeds = range(options.repeats)
    spam, web = load(folder, "spambase"), load(folder, "webpage")
    run = Parallel(n_jobs=2)
    panels = [
        (
            "Small test sets (Spambase)",
            "rows in the test set",
            merged(run(delayed(by_size)(*spam, TRAINED_ON, s) for s in seeds)),
        ),
        (
            "Rare positives, 3 % (Webpage)",
            "rows in the test set",
            merged(run(delayed(by_size)(*web, 4000, s) for s in seeds)),
        ),
        (
            "Another prevalence than in training (39 %)",
            "share of positives in the test set",
            merged(run(delayed(by_prevalence)(*spam, s) for s in seeds)),
        ),
        (
            "A model that is too sure of itself (naive Bayes)",
            "rows in the test set",
            merged(run(delayed(miscalibrated)(*spam, s) for s in seeds)),
        ),
    ]
    for title, label, found in panels:
        print(f"\n{title}\n\n{table(found, label)}")
    figure = draw(panels)
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "contenders.png", dpi=120)
    return 0


if __name__ == "__main__":
    sys.exit(main())
