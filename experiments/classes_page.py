"""The page of `experiments.classes`, from what it kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from experiments.classes import CALIBRATIONS, METRICS, MODELS, N_TRAIN, WORDS

WAYS = (
    "argmax",
    "tuned weights",
    "tuned weights, grid",
    *(f"decide, {way}" for way in CALIBRATIONS),
    "rule, raw",
    "rule, temperature",
    "oracle",
)
OURS = WAYS[3:9]
TITLES = {"f1": "Macro-F1", "balanced_accuracy": "Macro balanced accuracy"}
CLEAR = 2.0  # standard errors
ENOUGH = 10  # splits, for a verdict

ABOUT = f"""\
# One class for each row, on real data

`python -m experiments.classes` made this page. It shows results on real data, good and
bad. `bestcut.multiclass.decide` finds the classes with the best *expected* average,
from probabilities. Here the labels are uncovered afterwards.

**Data.** Letters (26 classes), scikit-learn's digits (10), Reuters (65) and Scene, the
images with one label (6). The splits are random splits of all rows. This includes
Reuters: of the split in its file only the sizes are used. Classes without a training
row cannot be predicted; their test rows count as belonging to no class. Macro averages
are over the classes that have a training row and a test row; a class that is predicted
but has no test row costs nothing in its own score.

**Models.** Logistic regression (standardised features; Reuters: log(1 + count) of the
{WORDS:,} best words by chi2 in the training rows) and naive Bayes (Gaussian; Reuters:
multinomial on the same words). Out-of-fold probabilities of the training rows come from
five folds; those of the test rows from a model on all training rows.

**Ways.**

- *argmax*: the most probable class.
- *tuned weights*: argmax(w p), where w is found by coordinate search for the best
  metric on the out-of-fold probabilities and labels; every step finds the best value of
  one weight exactly, starting from equal weights and from inverse class sizes. *Grid*:
  every weight is chosen among 13 powers of the root of 2, from 1/8 to 8, starting from
  equal weights.
- *decide*: `multiclass.decide` on the test rows' probabilities as they are (*raw*), or
  calibrated on the out-of-fold probabilities: one *temperature*; a *sigmoid* for each
  class; the *posterior* means of `bestcut.calibrate` for each class. Rows are
  normalised to sum 1.
- *rule*: `multiclass.decide(...).rule()` from the out-of-fold probabilities, without
  their labels, applied to the test rows one by one; with the probabilities as they are,
  or after temperature scaling of both.
- *oracle*: the coordinate search on the test labels themselves. This is not a way to
  decide. It shows about what weights could reach; the search may have missed better
  ones.

All settings were fixed on one more random split (900), which does not count here.
Test labels are used only to score the ways and for the oracle. *±* is the standard
error of a mean over splits of the same rows, so it is too small for statements about
other data."""


def load(results: Path) -> list[dict]:
    """Return all splits."""
    return [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(results.glob("*.json"))
    ]


def cases_of(splits: list[dict]) -> dict[tuple[str, str], list[dict]]:
    """Return the splits of each data set and model that was run."""
    found: dict[tuple[str, str], list[dict]] = {}
    for name in N_TRAIN:
        for model in MODELS:
            some = [s for s in splits if (s["name"], s["model"]) == (name, model)]
            if some:
                found[name, model] = some
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def values(splits: list[dict], metric: str, way: str, what: str) -> np.ndarray:
    """Return one number of each split."""
    return np.array([s["ways"][metric][way][what] for s in splits], dtype=float)


def mean_and_error(x: np.ndarray) -> tuple[float, float]:
    """Return a mean and its standard error."""
    return float(x.mean()), float(
        x.std(ddof=1) / np.sqrt(x.size)
    ) if x.size > 1 else 0.0


def thousandths(x: np.ndarray) -> str:
    """Write a mean difference in thousandths."""
    mean, error = mean_and_error(x)
    return f"{1000 * mean:+.1f}" + (f" ± {1000 * error:.1f}" if x.size > 1 else "")


def facts(cases: dict) -> str:
    """Return how large everything is."""
    rows = []
    for (name, model), splits in cases.items():
        present = [s["present"] for s in splits]
        known = [s["classes"] for s in splits]
        unknown = np.mean([s["unknown"] for s in splits])
        rows.append(
            [
                f"{name}, {model}",
                f"{len(splits)}",
                f"{splits[0]['train']:,}",
                f"{splits[0]['test']:,}",
                _range(known),
                _range(present),
                f"{unknown:.1f}",
            ]
        )
    head = ["", "splits", "training rows", "test rows", "classes with a training row"]
    return table([*head, "of them in the test rows", "test rows of no class"], rows)


def _range(x: list[int]) -> str:
    return f"{min(x)}" if min(x) == max(x) else f"{min(x)} to {max(x)}"


def differences(
    cases: dict, metric: str, base: str, ways: tuple[str, ...], what: str = "score"
) -> str:
    """Return scores of one way, and by how much others are apart from it."""
    rows = []
    for case, splits in cases.items():
        own = values(splits, metric, base, what)
        apart = (thousandths(values(splits, metric, w, what) - own) for w in ways)
        rows.append([", ".join(case), f"{own.mean():.4f}", *apart])
    return table(["", base, *ways], rows)


def verdicts(cases: dict, metric: str, base: str) -> str:
    """Say in how many cases each of our ways is clearly ahead, or behind."""
    lines = []
    for way in OURS:
        found = [
            mean_and_error(
                values(splits, metric, way, "score")
                - values(splits, metric, base, "score")
            )
            for splits in cases.values()
            if len(splits) >= ENOUGH
        ]
        ahead = sum(mean > CLEAR * error for mean, error in found)
        behind = sum(mean < -CLEAR * error for mean, error in found)
        lines.append([way, f"{ahead}", f"{behind}", f"{len(found) - ahead - behind}"])
    return table([f"against {base}", "ahead", "behind", "neither"], lines)


def promises(cases: dict, metric: str) -> str:
    """Return what was promised less what came, over all classes."""
    ways = [f"decide, {way}" for way in CALIBRATIONS]
    rows = []
    for case, splits in cases.items():
        cells = []
        for way in ways:
            promised = values(splits, metric, way, "promised")
            came = values(splits, metric, way, "all")
            cells.append(f"{promised.mean():.3f} ({thousandths(promised - came)})")
        rows.append([", ".join(case), *cells])
    return table(["", *ways], rows)


def losses(cases: dict) -> str:
    """Return the log loss of every calibration."""
    rows = [
        [
            ", ".join(case),
            *(
                f"{np.mean([s['log loss'][way] for s in splits]):.3f}"
                for way in CALIBRATIONS
            ),
        ]
        for case, splits in cases.items()
    ]
    return table(["", *CALIBRATIONS], rows)


def times(cases: dict, metric: str) -> str:
    """Return seconds of processor time, and the largest gap."""
    ways = [way for way in WAYS if way not in ("argmax", "oracle")]
    rows = []
    for case, splits in cases.items():
        gap = max(
            values(splits, metric, f"decide, {way}", "gap").max()
            for way in CALIBRATIONS
        )
        took = (
            f"{np.median(values(splits, metric, way, 'seconds')):.2f}" for way in ways
        )
        posterior = np.median([s["spent"]["calibration, posterior"] for s in splits])
        rows.append([", ".join(case), *took, f"{posterior:.1f}", f"{gap:.0e}"])
    return table(["", *ways, "posterior calibration", "largest gap"], rows)


def page(results: Path) -> str:
    """Return the page."""
    cases = cases_of(load(results))
    parts = [ABOUT, facts(cases)]
    for metric in METRICS:
        parts += [
            f"## {TITLES[metric]}",
            "Mean realised score of argmax, and by how much the others are above it, "
            "in thousandths:",
            differences(cases, metric, "argmax", WAYS[1:]),
            "The same compared with the exact tuned weights:",
            differences(cases, metric, "tuned weights", OURS),
            f"Cases (data set and model, with at least {ENOUGH} splits) in which the "
            f"mean difference is more than {CLEAR:g} standard errors from 0:",
            *(verdicts(cases, metric, base) for base in WAYS[:3]),
        ]
        if metric == "balanced_accuracy":
            parts += [
                "Balanced accuracy of each class against the rest counts specificity, "
                "which is near 1 with many classes. The mean recall of the same "
                "decisions, which scikit-learn calls balanced accuracy of several "
                "classes:",
                differences(cases, metric, "argmax", WAYS[1:], "recall"),
            ]
    parts += [
        "## Expected and realised scores",
        "The expected score that `decide` states, and in brackets by how much it is "
        "above the realised one, in thousandths. Both are means over all classes with "
        "a training row, including those without a test row (Reuters), whose score is "
        "the metric's value of 0/0.",
    ]
    for metric in METRICS:
        parts += [f"{TITLES[metric]}:", promises(cases, metric)]
    parts += [
        "Log loss on the test rows, which says how good the probabilities are:",
        losses(cases),
        "## Time",
        "Median seconds of processor time of one decision, including tuning, on two "
        "cores with other work. The time of a rule includes its decision on the "
        "training rows. Posterior calibration is needed once for all metrics.",
    ]
    for metric in METRICS:
        parts += [f"{TITLES[metric]}:", times(cases, metric)]
    return "\n\n".join(parts) + "\n"
