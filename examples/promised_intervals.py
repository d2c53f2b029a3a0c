"""Does the promised interval hold? Seven real data sets, many test sets each.

    python examples/promised_intervals.py [--data DIR] [--splits 60]

For each random split a model is fitted on one part of the rows. On a second part, with
labels, `check_calibration` looks at its probabilities. For the third part `decide`
takes the labels with the best expected score and promises an interval that should hold
the real score in 90 % of the cases. Then the labels are uncovered. Models are taken as
they are, and calibrated with scikit-learn's `CalibratedClassifierCV`; the picture in
docs/guides/calibration.md has `bestcut.calibrate` beside them.

Prints Markdown tables; four minutes on two free cores. Needs scikit-learn, which the
development environment has (dependency group `oracles`); bestcut itself does not. The
data are not part of this repository: they are looked for in DIR, in the folder that the
environment variable BESTCUT_DATA names, and in `../shared/data` beside the repository.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_matrix, issparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import bestcut

ROOT = Path(__file__).resolve().parents[1]
# What is positive: a class of a data set of several, or None for one of two.
DATA = {
    "breast_cancer": None,
    "image": None,
    "spambase": None,
    "webpage": None,
    "reuters": 2,  # the third largest of 65 topics
    "letters": 14,  # the letter O
    "scene": 5,  # urban
}
DRAWS = "calibrate"  # a calibration of our own, which knows how sure it is
MODELS: dict[str, tuple[str | None, ...]] = {  # and how they are calibrated
    "logistic": (None, "sigmoid", "isotonic"),
    "naive Bayes": (None, "isotonic"),
    "boosting": (None, "isotonic"),
}
BOOSTED = ("image", "spambase", "letters")  # dense, with few columns
METRICS = ("f1", "mcc", "gmean")
LEVEL = 0.9
MOST_ROWS = (5000, 2500, 500)  # to fit, to check, to test
LABELS_OF_SIZES = 2000
TEST_SIZES = (125, 250, 500, 1000, 2000)
MISSING = (
    "Skipped: the data sets were not found. Name their folder with --data or with the "
    "environment variable BESTCUT_DATA."
)


@dataclass(frozen=True)
class Outcome:
    """What one test set was promised, and what came.

    Attributes
    ----------
    metric : str
        What was decided for.
    n, n_positive : int
        Size of the test set and its true number of positives.
    promised, low, high, stated : float
        Expected score, interval, and the probability the interval should have: 90 % or
        a little more, since scores have steps.
    realised : float
        The score once the labels are known.
    covered : bool
        Whether it is in the interval.
    check : float
        The p-value of the calibration check, on other rows that had labels.
    """

    metric: str
    n: int
    n_positive: int
    promised: float
    low: float
    high: float
    stated: float
    realised: float
    covered: bool
    check: float

    @property
    def rejected(self) -> bool:
        """Whether the calibration check says that the probabilities are wrong."""
        return self.check <= 0.05


def find_data(given: str | None = None) -> Path | None:
    """Return the folder of the data sets, or None if it is not there."""
    places = [given, os.environ.get("BESTCUT_DATA"), ROOT.parent / "shared" / "data"]
    folder = Path(next(place for place in places if place))
    found = all((folder / f"{name}.npz").exists() for name in DATA)
    return folder if found else None


def load(folder: Path, name: str) -> tuple[Any, np.ndarray]:
    """Return features, dense or sparse, and labels 0 or 1."""
    with np.load(folder / f"{name}.npz") as file:
        z = {key: file[key] for key in file.files}
    y = z["y"]
    if "indptr" in z:
        parts = z["data"].astype(np.float64), z["indices"], z["indptr"]
        X = csr_matrix(parts, shape=tuple(z["shape"]))
    else:
        X = z["X"].astype(np.float64)
    if y.ndim == 2:  # several labels: keep the rows that have one
        single = y.sum(axis=1) == 1
        X, y = X[single], y[single].argmax(axis=1)
    return X, (y == (1 if DATA[name] is None else DATA[name])).astype(np.int64)


def make_model(kind: str, calibration: str | None, sparse: bool) -> Any:
    """Return a model that was not fitted, with common settings."""
    if kind == "logistic":
        scaler = MaxAbsScaler() if sparse else StandardScaler()
        model = make_pipeline(scaler, LogisticRegression(max_iter=2000))
    elif kind == "naive Bayes":
        model = BernoulliNB() if sparse else GaussianNB()
    else:
        model = HistGradientBoostingClassifier(
            max_iter=50, max_leaf_nodes=15, random_state=0
        )
    if calibration in (None, DRAWS):
        return model
    return CalibratedClassifierCV(model, method=calibration, cv=3, ensemble=False)


def parts(n: int, seed: int) -> list[np.ndarray]:
    """Return rows to fit, to check and to test: half, a quarter, a quarter at most."""
    order = np.random.default_rng(seed).permutation(n)
    rows, start = [], 0
    for share, most in zip((0.5, 0.25, 0.25), MOST_ROWS, strict=True):
        size = min(int(share * n), most)
        rows.append(order[start : start + size])
        start += size
    return rows


def calibrated_draws(
    model: Any, X: Any, y: np.ndarray, fit: np.ndarray, new: list[np.ndarray]
) -> list[bestcut.UncertainProbabilities]:
    """Return draws of the probabilities of other rows, for several sets of them.

    Out-of-fold scores calibrate the model, which was fitted on the same rows.
    """
    scores = cross_val_predict(model, X[fit], y[fit], cv=3, method="predict_proba")
    calibration = bestcut.calibrate(y[fit], scores[:, 1])
    low_high = calibration.score_range
    return [
        calibration(np.clip(model.predict_proba(X[rows])[:, 1], *low_high))
        for rows in new
    ]


def probabilities(model: Any, X: Any, calibration: str | None, n_fit: int) -> Any:
    """Return the probabilities to be positive.

    Isotonic calibration gives exact 0 and 1, which no finite number of labels can
    justify: they are moved by 1/n_fit.
    """
    p = model.predict_proba(X)[:, 1]
    return np.clip(p, 1 / n_fit, 1 - 1 / n_fit) if calibration == "isotonic" else p


def promise(
    y_proba: np.ndarray | bestcut.UncertainProbabilities,
    y_true: np.ndarray,
    metric: str,
    check: float,
) -> Outcome:
    """Decide, note what is promised, then look at the labels."""
    decision = bestcut.decide(y_proba, metric)
    score = decision.distribution()
    low, high = score.interval(LEVEL)
    realised = decision.realised(y_true)
    apart = 2 * score.value_error
    return Outcome(
        metric=metric,
        n=y_true.size,
        n_positive=int(y_true.sum()),
        promised=decision.expected_score,
        low=low,
        high=high,
        stated=score.prob_at_least(low) - score.prob_at_least(high + 2 * apart),
        realised=realised,
        covered=low - apart <= realised <= high + apart,
        check=check,
    )


def one_split(
    X: Any,
    y: np.ndarray,
    kind: str,
    calibration: str | None,
    seed: int,
    metrics: Iterable[str] = METRICS,
) -> list[Outcome]:
    """Fit, check, promise and uncover on one random split."""
    fit, check, test = parts(y.size, seed)
    model = make_model(kind, calibration, issparse(X)).fit(X[fit], y[fit])
    if calibration == DRAWS:
        p_check, p_test = calibrated_draws(model, X, y, fit, [check, test])
    else:
        p_check, p_test = (
            probabilities(model, X[i], calibration, fit.size) for i in (check, test)
        )
    p_value = bestcut.check_calibration(y[check], p_check).p_value
    return [promise(p_test, y[test], metric, p_value) for metric in metrics]


def sizes_of_one_split(
    X: Any, y: np.ndarray, kind: str, calibration: str, seed: int
) -> list[Outcome]:
    """Fit once and promise the F1 of test sets of several sizes."""
    rows = np.random.default_rng(seed).permutation(y.size)
    fit, test = rows[:LABELS_OF_SIZES], rows[LABELS_OF_SIZES:]
    model = make_model(kind, calibration, issparse(X)).fit(X[fit], y[fit])
    y_proba = probabilities(model, X[test], calibration, fit.size)
    return [promise(y_proba[:n], y[test[:n]], "f1", np.nan) for n in TEST_SIZES]


def run(
    X: Any,
    y: np.ndarray,
    kind: str,
    calibration: str | None,
    n_splits: int,
    metrics: Iterable[str] = METRICS,
    n_jobs: int = -1,
) -> dict[str, list[Outcome]]:
    """Return the outcomes of many splits by metric."""
    metrics = tuple(metrics)
    found = Parallel(n_jobs=n_jobs)(
        delayed(one_split)(X, y, kind, calibration, seed, metrics)
        for seed in range(n_splits)
    )
    return {m: [split[i] for split in found] for i, m in enumerate(metrics)}


def coverage(outcomes: list[Outcome]) -> tuple[float, float]:
    """Return the share of intervals that held, and its binomial standard error.

    The splits of one data set share rows, so the true error is somewhat larger.
    """
    share = float(np.mean([o.covered for o in outcomes]))
    return share, float(np.sqrt(share * (1 - share) / len(outcomes)))


def rule_of_thumb(n: int, n_fit: int) -> float:
    """Return how often an interval holds if calibration was learned from few labels.

    The test labels scatter like 1/n, what was learned from n_fit labels like 1/n_fit.
    The interval knows of the former alone.
    """
    normal = NormalDist()
    reach = normal.inv_cdf((1 + LEVEL) / 2) / np.sqrt(1 + n / n_fit)
    return 2 * normal.cdf(float(reach)) - 1


def mean(outcomes: list[Outcome], name: str) -> float:
    """Return the mean of an attribute."""
    return float(np.mean([getattr(o, name) for o in outcomes]))


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


HEAD = [
    "data",
    "n",
    "positive",
    "calibrated",
    "check rejects",
    "promised F1",
    "realised F1",
    "interval states",
    "holds",
    "MCC holds",
    "G-mean holds",
]


def row(name: str, calibration: str | None, found: dict) -> list[str]:
    """Return a line of the large tables."""
    f1 = found["f1"]
    share, error = coverage(f1)
    return [
        name,
        str(f1[0].n),
        f"{mean(f1, 'n_positive'):.0f}",
        calibration or "no",
        f"{mean(f1, 'rejected'):.0%}",
        f"{mean(f1, 'promised'):.3f}",
        f"{mean(f1, 'realised'):.3f}",
        f"{mean(f1, 'stated'):.2f}",
        f"{share:.2f} ± {error:.2f}",
        *(f"{coverage(found[m])[0]:.2f}" for m in METRICS[1:]),
    ]


def print_models(data: dict, n_splits: int) -> list[Outcome]:
    """Print a table for each kind of model; return all outcomes for F1."""
    seen = []
    for kind, calibrations in MODELS.items():
        rows = []
        for name, (X, y) in data.items():
            if kind == "boosting" and name not in BOOSTED:
                continue
            for calibration in calibrations:
                found = run(X, y, kind, calibration, n_splits)
                rows.append(row(name, calibration, found))
                seen += found["f1"]
                print(".", end="", file=sys.stderr, flush=True)
        print(f"\n## {kind[0].upper()}{kind[1:]}, {n_splits} splits\n")
        print(table(HEAD, rows), flush=True)
    return seen


def print_by_check(seen: list[Outcome]) -> None:
    """Print how often intervals held by what the check had said."""
    rows = []
    for name, low, high in (
        ("fits, p > 0.05", 0.05, 1.0),
        ("0.001 < p <= 0.05", 0.001, 0.05),
        ("p <= 0.001", -1.0, 0.001),
    ):
        group = [o for o in seen if low < o.check <= high]
        off = np.mean([abs(o.promised - o.realised) for o in group])
        rows.append([name, str(len(group)), f"{coverage(group)[0]:.2f}", f"{off:.3f}"])
    print("\n## All of the above, by the verdict of the check\n")
    print(table(["check", "test sets", "holds", "mean distance of F1"], rows))


def print_by_size(data: dict, n_splits: int) -> None:
    """Print how often intervals held by the size of the test set."""
    rows = []
    for name in ("letters", "spambase", "webpage"):
        found = Parallel(n_jobs=-1)(
            delayed(sizes_of_one_split)(*data[name], "naive Bayes", "isotonic", seed)
            for seed in range(n_splits)
        )
        held = [coverage(list(group))[0] for group in zip(*found, strict=True)]
        rows.append([name, *(f"{share:.2f}" for share in held)])
    rule = [rule_of_thumb(n, LABELS_OF_SIZES) for n in TEST_SIZES]
    rows.append(["rule of thumb", *(f"{share:.2f}" for share in rule)])
    print(
        f"\n## Naive Bayes, isotonic, {LABELS_OF_SIZES} labels to fit, by test size\n"
    )
    print(table(["holds", *(f"n = {n}" for n in TEST_SIZES)], rows))


def main(arguments: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of the data sets")
    parser.add_argument("--splits", type=int, default=60, help="test sets of each")
    options = parser.parse_args(arguments)
    folder = find_data(options.data)
    if folder is None:
        print(MISSING)
        return 0
    begin = time.perf_counter()
    data = {name: load(folder, name) for name in DATA}
    seen = print_models(data, options.splits)
    print_by_check(seen)
    print_by_size(data, options.splits)
    print(f"\n{(time.perf_counter() - begin) / 60:.1f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
