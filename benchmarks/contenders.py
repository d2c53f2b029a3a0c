"""Who gets the better score: a decision for the batch, or a threshold tuned before?

    python benchmarks/contenders.py [--quick] [--out DIR]

The paper's three contenders on data from a known model, all with its true
probabilities: `ExpectedMetricClassifier` decides for each test batch (DTA),
`PluginThresholdClassifier` keeps the threshold that was best on labelled training data
(EUM), and the baseline cuts at 1/2. First with training and test data alike, then with
rarer positives in the test data. Writes DIR/contenders.csv and DIR/contenders.md in
about three minutes of one processor. Needs bestcut[sklearn].
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from results import folder_of_today
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

import bestcut
from bestcut.estimators import ExpectedMetricClassifier, PluginThresholdClassifier

METRICS = ("f1", "jaccard", "balanced_accuracy", "fowlkes_mallows", "mcc")
LABELS = {"balanced_accuracy": "AM", "fowlkes_mallows": "G-TP/PR"}
SIZES = (20, 100, 1000)
BATCHES = {20: 500, 100: 500, 1000: 200}
DRAWS = 50  # of the labels of each batch
TRAINING = 500
PLENTY = 100_000  # training instances that leave nothing to chance
SEPARATION = 1.5  # of the means of the two classes, in standard deviations
NEW = 0.1  # share of positives in the test data, and in training data like them
OLD = 0.5  # in other training data

Scores = dict[tuple[str, int, str], np.ndarray]
Contender = Callable[[str, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def say(text: str) -> None:
    """Print progress with the time."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


# --- a known model -------------------------------------------------------------------


def posterior(x: np.ndarray, prevalence: float) -> np.ndarray:
    """Return P(y = 1 | x) where x is normal around +SEPARATION/2 or -SEPARATION/2."""
    odds = prevalence / (1 - prevalence) * np.exp(SEPARATION * x)
    return odds / (1 + odds)


def features(rng: np.random.Generator, n: int, prevalence: float) -> np.ndarray:
    """Return n instances, as one column."""
    centre = np.where(rng.random(n) < prevalence, SEPARATION, -SEPARATION) / 2
    return rng.normal(centre)[:, None]


class TrueModel(ClassifierMixin, BaseEstimator):
    """Knows the probabilities at one prevalence, and may correct them for another.

    `new` is that other prevalence, or ``"estimated"`` from the batch at hand.
    """

    def __init__(self, prevalence: float, new: float | str | None = None) -> None:
        self.prevalence = prevalence
        self.new = new

    def fit(self, X, y):
        """Learn nothing."""
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        """Return the probabilities of both classes."""
        p = posterior(np.asarray(X)[:, 0], self.prevalence)
        if self.new is not None:
            new = None if self.new == "estimated" else self.new
            p = bestcut.calibration.adjust_prevalence(p, self.prevalence, new)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        """Return the labels by the threshold 1/2."""
        return (self.predict_proba(X)[:, 1] >= 0.5).astype(int)


# --- contenders ----------------------------------------------------------------------


def known(prevalence: float, new: float | str | None = None) -> FrozenEstimator:
    """Return a model that need not be fitted."""
    return FrozenEstimator(TrueModel(prevalence, new).fit(None, None))


def dta(model: FrozenEstimator) -> Contender:
    """Return the contender that decides for the test batch."""

    def labels(metric, X, y, batch):
        decider = ExpectedMetricClassifier(
            model, metric, calibration=None, scope="batch"
        )
        return decider.fit(X, y).predict(batch)

    return labels


def eum(
    model: FrozenEstimator,
    at_test: FrozenEstimator | None = None,
    weights: tuple[float, float] | None = None,
) -> Contender:
    """Return the contender with a tuned threshold.

    It is put on the probabilities of `at_test`, if that is another model. The two
    `weights` are those of a negative and of a positive training instance.
    """

    def labels(metric, X, y, batch):
        # Nothing is to be fitted: all labels tune the threshold.
        tuned = PluginThresholdClassifier(model, metric, cv=2)
        params = {} if weights is None else {"sample_weight": np.array(weights)[y]}
        threshold = tuned.fit(X, y, **params).threshold_
        return (at_test or model).predict_proba(batch)[:, 1] >= threshold

    return labels


def eum_with_plenty(model: FrozenEstimator, prevalence: float) -> Contender:
    """Return the contender whose threshold was tuned once, on very many labels."""
    rng = np.random.default_rng(0)
    X = features(rng, PLENTY, prevalence)
    y = (rng.random(PLENTY) < posterior(X[:, 0], prevalence)).astype(int)
    thresholds = {
        metric: PluginThresholdClassifier(model, metric, cv=2).fit(X, y).threshold_
        for metric in METRICS
    }

    def labels(metric, X, y, batch):
        return model.predict_proba(batch)[:, 1] >= thresholds[metric]

    return labels


def baseline(model: FrozenEstimator) -> Contender:
    """Return the contender that cuts at 1/2."""

    def labels(metric, X, y, batch):
        return model.predict(batch)

    return labels


def contenders_alike() -> dict[str, Contender]:
    """Return the paper's three, and EUM with all the labels it could wish for."""
    model = known(NEW)
    return {
        "DTA": dta(model),
        "EUM": eum(model),
        f"EUM, {PLENTY:,} labels": eum_with_plenty(model, NEW),
        "1/2": baseline(model),
    }


def contenders_shifted() -> dict[str, Contender]:
    """Return them with every way to use what is known about the shift."""
    model, corrected = known(OLD), known(OLD, NEW)
    return {
        "DTA": dta(corrected),
        "DTA, estimated": dta(known(OLD, "estimated")),
        "DTA, not corrected": dta(model),
        "EUM": eum(model),
        "EUM, corrected": eum(model, corrected),
        "EUM, reweighted": eum(corrected, weights=((1 - NEW) / (1 - OLD), NEW / OLD)),
        "1/2": baseline(corrected),
    }


# --- measuring -----------------------------------------------------------------------


def realised(metric: str, labels: np.ndarray, y: np.ndarray) -> float:
    """Return the mean score over the rows of y, each a draw of the batch's labels."""
    positive = labels.astype(bool)
    tp = y[:, positive].sum(axis=1)
    n_pred = np.full(len(y), positive.sum())
    scores = bestcut.metrics.get(metric)(tp, n_pred, y.sum(axis=1), labels.size)
    return float(np.mean(scores))


def measure(
    contenders: dict[str, Contender], before: float, n: int, batches: int
) -> Scores:
    """Return the score in each batch, by metric, size and contender."""
    rng = np.random.default_rng([n, round(1000 * before)])
    scores = {(m, n, name): [] for m in METRICS for name in contenders}
    for _ in range(batches):
        X = features(rng, TRAINING, before)
        y = (rng.random(TRAINING) < posterior(X[:, 0], before)).astype(int)
        batch = features(rng, n, NEW)
        truth = rng.random((DRAWS, n)) < posterior(batch[:, 0], NEW)
        for (metric, _, name), values in scores.items():
            labels = contenders[name](metric, X, y, batch)
            values.append(realised(metric, labels, truth))
    return {key: np.array(values) for key, values in scores.items()}


def lead(scores: Scores, metric: str, n: int, first: str, second: str) -> np.ndarray:
    """Return the mean of the paired difference and its standard error."""
    gap = scores[metric, n, first] - scores[metric, n, second]
    return np.array([gap.mean(), gap.std(ddof=1) / np.sqrt(gap.size)])


# --- writing -------------------------------------------------------------------------


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def name_of(metric: str) -> str:
    """Return what the paper calls it."""
    return LABELS.get(metric, bestcut.metrics.get(metric).label)


def signed(gap: float, error: float) -> str:
    """Write a difference in thousandths; bold beyond three standard errors."""
    text = f"{1000 * gap:+.1f} ± {1000 * error:.1f}"
    return f"**{text}**" if abs(gap) > 3 * error > 0 else text


def cases(scores: Scores) -> tuple[list[tuple[str, int]], list[str]]:
    """Return the pairs of metric and size, by metric, and the contenders."""
    pairs = sorted({key[:2] for key in scores}, key=lambda c: (METRICS.index(c[0]), c))
    return pairs, list(dict.fromkeys(name for _, _, name in scores))


def tables(scores: Scores) -> tuple[str, str]:
    """Return the mean scores, and what the first contender has over the others."""
    pairs, names = cases(scores)
    means, gaps = [], []
    for metric, n in pairs:
        start = [name_of(metric), f"{n:,}"]
        means.append(
            start + [f"{scores[metric, n, name].mean():.4f}" for name in names]
        )
        gaps.append(
            start
            + [signed(*lead(scores, metric, n, names[0], name)) for name in names[1:]]
        )
    head = ["metric", "n"]
    return (
        table(head + names, means),
        table(head + [f"over {name}" for name in names[1:]], gaps),
    )


def verdict(scores: Scores, first: str, second: str) -> str:
    """Say in how many cases the first is ahead, level or behind."""
    pairs, _ = cases(scores)
    gaps = np.array([lead(scores, *pair, first, second) for pair in pairs])
    ahead = int(np.sum(gaps[:, 0] > 3 * gaps[:, 1]))
    behind = int(np.sum(gaps[:, 0] < -3 * gaps[:, 1]))
    return (
        f"- {first} against {second}: ahead in {ahead}, behind in {behind}, level in "
        f"{len(pairs) - ahead - behind}\n"
    )


def verdicts(scores: Scores, first: str) -> str:
    """Return the verdicts of one contender on all others."""
    _, names = cases(scores)
    return "".join(verdict(scores, first, name) for name in names if name != first)


def growth_table(alike: Scores, shifted: Scores) -> str:
    """Return the lead over EUM, without the shift and with it."""
    columns = {
        "alike": (alike, "EUM"),
        "shifted": (shifted, "EUM"),
        "shifted, corrected": (shifted, "EUM, corrected"),
        "shifted, reweighted": (shifted, "EUM, reweighted"),
    }
    rows = [
        [
            name_of(metric),
            f"{n:,}",
            *(signed(*lead(s, metric, n, "DTA", eum)) for s, eum in columns.values()),
        ]
        for metric, n in cases(alike)[0]
    ]
    return table(["metric", "n", *columns], rows)


def not_grown(alike: Scores, shifted: Scores) -> str:
    """Name the cases in which the shift does not add to the lead over EUM."""
    found = []
    for metric, n in cases(alike)[0]:
        before, after = (lead(s, metric, n, "DTA", "EUM") for s in (alike, shifted))
        if after[0] - before[0] <= 3 * np.hypot(before[1], after[1]):
            found.append(f"{name_of(metric)} at n = {n:,}")
    return ", ".join(found) or "no case"


def write_numbers(alike: Scores, shifted: Scores, path: Path) -> None:
    """Write means, leads and their standard errors."""
    head = ["training_prevalence", "metric", "n_test", "contender", "batches", "mean"]
    head += ["standard_error", "dta_minus_this", "its_standard_error"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        for before, scores in ((NEW, alike), (OLD, shifted)):
            for (metric, n, name), values in scores.items():
                error = values.std(ddof=1) / np.sqrt(values.size)
                numbers = values.mean(), error, *lead(scores, metric, n, "DTA", name)
                row = [before, metric, n, name, values.size]
                writer.writerow(row + [f"{number:.9g}" for number in numbers])


def write(alike: Scores, shifted: Scores, out: Path, date: str) -> None:
    """Write the CSV and the Markdown page."""
    out.mkdir(parents=True, exist_ok=True)
    write_numbers(alike, shifted, out / "contenders.csv")
    alike_means, alike_gaps = tables(alike)
    shifted_means, shifted_gaps = tables(shifted)
    sizes = sorted({(n, values.size) for (_, n, _), values in alike.items()})
    batches = ", ".join(f"{size:,} of {n:,}" for n, size in sizes)
    plenty = f"EUM, {PLENTY:,} labels"
    last = max(n for n, _ in sizes)
    most = max(lead(alike, m, last, "DTA", plenty)[0] for m in METRICS)
    text = f"""# The three contenders, {date}

`python benchmarks/contenders.py` made this page; all numbers are in `contenders.csv`.

One feature, normal in both classes, {SEPARATION:g} standard deviations apart: the true
probabilities are known, and all contenders have them. Nothing here is about bad
models; it is about what to do with good probabilities.

- **DTA**: `ExpectedMetricClassifier`, the best labels for the test batch.
- **EUM**: `PluginThresholdClassifier`, the best threshold on {TRAINING} labelled
  training instances, drawn anew for each batch. All {TRAINING} tune it, because there
  is nothing to fit.
- **{plenty}**: tuned once, on that many labels.
- **1/2**: positive where the probability is at least 1/2.

{NEW:.0%} of the test instances are positive. Batches: {batches} instances.
The labels of each are drawn {DRAWS} times. Scores are means of the realised metric.
Leads are means over batches of the paired differences, ± one standard error, **in
thousandths**; bold beyond three standard errors. A rate of 0/0 counts
as in the metric by default, for all contenders.

## Training data like the test data: {NEW:.0%} positive

{alike_means}
The lead of DTA, in thousandths:

{alike_gaps}
Of {len(cases(alike)[0])} cases, by three standard errors:

{verdicts(alike, "DTA")}
In a large batch one threshold is nearly as good as a decision, if it is the right one:
with {PLENTY:,} labels it is behind by at most {1000 * most:.1f} thousandths at
n = {last:,}. The rest of the lead there comes from what {TRAINING} labels leave
to chance. In a small batch no threshold is right for every batch.

## Other training data: {OLD:.0%} positive

The probabilities are those of the training population until they are corrected.

- **DTA**: corrected with `adjust_prevalence`; the new prevalence is known.
- **DTA, estimated**: the new prevalence is estimated from the unlabelled test batch.
- **DTA, not corrected**: with the probabilities of the training population.
- **EUM**: probabilities not corrected, threshold as tuned.
- **EUM, corrected**: the same threshold on corrected probabilities.
- **EUM, reweighted**: tuned again on training labels weighted to the new prevalence,
  which must be known for this.
- **1/2**: on corrected probabilities.

{shifted_means}
The lead of DTA with the prevalence known, in thousandths:

{shifted_gaps}
Of {len(cases(shifted)[0])} cases, by three standard errors:

{verdicts(shifted, "DTA")}
With the prevalence estimated from each batch:

{verdicts(shifted, "DTA, estimated")}
Without any correction:

{verdict(shifted, "DTA, not corrected", "EUM")}
The decision needs the right probabilities: from a small batch the prevalence cannot be
estimated well, and without a correction a tuned threshold does better.

## The lead over EUM, before and after the shift

The test population is the same.

{growth_table(alike, shifted)}
From "alike" to "shifted" the lead does not grow, by three standard errors, for:
{not_grown(alike, shifted)}.
AM does not depend on the prevalence: on probabilities that are not corrected, a
threshold stays as good as it was. If the training labels are reweighted, which
needs the new prevalence, the lead is about as large as with training data like the
test data.
"""
    (out / "contenders.md").write_text(text, encoding="utf-8")


def main() -> None:
    """Measure all cases and write the two files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the batches")
    parser.add_argument("--out", type=Path, help="folder of the two files")
    arguments = parser.parse_args()
    today = dt.date.today().isoformat()
    out = arguments.out or folder_of_today()
    alike: Scores = {}
    shifted: Scores = {}
    for n in SIZES:
        batches = BATCHES[n] // (10 if arguments.quick else 1)
        say(f"n = {n:,}, training data like the test data")
        alike |= measure(contenders_alike(), NEW, n, batches)
        say(f"n = {n:,}, other training data")
        shifted |= measure(contenders_shifted(), OLD, n, batches)
    write(alike, shifted, out, today)
    say(f"done: {out / 'contenders.md'}")


if __name__ == "__main__":
    main()
