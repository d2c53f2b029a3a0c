"""Tables 1 and 2: what each method scores on one problem, and averages of that."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import bestcut
from experiments.cache import Session, array_cell
from experiments.printed import PAPER_METRICS
from experiments.protocol import DATA_SETS, full_fit, half_fit

CATALOGUE = tuple(bestcut.metrics.names(aliases=False))
CALIBRATIONS = ("raw", "sigmoid", "isotonic", "posterior")
TOLERANCE = 1e-12
Probabilities = np.ndarray | bestcut.UncertainProbabilities


def realised(metric: str, y_true: np.ndarray, y_pred: np.ndarray) -> float:
    """Return the metric of predictions, now that the labels are known; 0/0 is 0."""
    counts = (np.sum(y_true & y_pred), y_pred.sum(), y_true.sum(), y_true.size)
    return float(bestcut.metrics.get(metric)(*map(int, counts)))


def oracle(metric: str, y_true: np.ndarray, scores: np.ndarray) -> float:
    """Return the best that any cut of the ranking reaches, with the labels known.

    A cut may divide a tie in the order of the rows, as the decisions do.
    """
    chosen = bestcut.metrics.get(metric)
    ranked = y_true[np.argsort(-scores, kind="stable")]
    tp = np.concatenate([[0], np.cumsum(ranked)])
    values = chosen(tp, np.arange(tp.size), tp[-1], y_true.size)
    return float(values.max() if chosen.greater_is_better else values.min())


def promise(metric: str, y_true: np.ndarray, p: Probabilities) -> dict:
    """Decide by expected score; return what was promised and what came."""
    decision = bestcut.decide(p, metric)
    law = decision.distribution()
    low, high = law.interval(0.9)
    return {
        "score": realised(metric, y_true, decision.labels),
        "promised": decision.expected_score,
        "std": law.std,
        "low": low,
        "high": high,
        "n_positive": decision.n_positive,
    }


def tuned(metric: str, y_held, held, y_true, test) -> float:
    """Score the test rows with the threshold that was best on held-out labels."""
    threshold = bestcut.empirical_threshold(y_held, held, metric).threshold
    return realised(metric, y_true, test >= threshold)


def probabilities(full: dict, kind: str) -> Probabilities:
    """Return the probabilities of the test rows after one calibration."""
    if kind != "posterior":
        return full[kind]
    calibration = bestcut.calibrate(full["y_train"], full["out_of_fold"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scores outside the labelled ones
        return calibration(full["raw"])


def by_calibration(metric: str, y: np.ndarray, p: Probabilities) -> dict:
    """Return what needs nothing but probabilities."""
    mean = p.mean if isinstance(p, bestcut.UncertainProbabilities) else p
    return {
        "dta": promise(metric, y, p),
        "baseline": realised(metric, y, mean >= 0.5),
        "oracle": oracle(metric, y, mean),
    }


def table_cell(
    session: Session, name: str, split: int, label: int, n_halves: int
) -> dict:
    """Score every method on one problem."""
    at = {"name": name, "split": split, "label": label}
    full = array_cell(session, full_fit, at)
    halves = [array_cell(session, half_fit, at | {"half": h}) for h in range(n_halves)]
    y = full["y_test"]
    known = {kind: probabilities(full, kind) for kind in CALIBRATIONS}
    scores: dict[str, dict] = {kind: {} for kind in CALIBRATIONS}
    for metric in CATALOGUE:
        own = by_calibration(metric, y, full["raw"])
        own["eum_cv"] = tuned(
            metric, full["y_train"], full["out_of_fold"], y, full["raw"]
        )
        own["eum"] = [
            tuned(metric, h["y_threshold"], h["threshold"], y, h["test"])
            for h in halves
        ]
        own["eum_oracle"] = [oracle(metric, y, h["test"]) for h in halves]
        scores["raw"][metric] = own
    for metric in PAPER_METRICS:
        for kind in CALIBRATIONS[1:]:
            scores[kind][metric] = by_calibration(metric, y, known[kind])
        scores["raw"][metric]["dta_half"] = [
            promise(metric, y, h["test"])["score"] for h in halves
        ]
    return {
        **at,
        "n_test": y.size,
        "train_positives": int(full["y_train"].sum()),
        "test_positives": int(y.sum()),
        "C": float(full["C"]),
        "C_half": [float(h["C"]) for h in halves],
        "calibration": {
            kind: bestcut.check_calibration(y, p).p_value for kind, p in known.items()
        },
        "scores": scores,
    }


# How each method is read from the scores of a problem.
READ: dict[str, Callable[[dict], float | list[float]]] = {
    "dta": lambda s: s["dta"]["score"],
    "baseline": lambda s: s["baseline"],
    "eum": lambda s: s["eum"],
    "eum_cv": lambda s: s["eum_cv"],
    "dta_half": lambda s: s["dta_half"],
    "oracle": lambda s: s["oracle"],
    "eum_oracle": lambda s: s["eum_oracle"],
    "promised": lambda s: s["dta"]["promised"],
}


def problems_of_row(cells: list[dict], name: str, at_least: int) -> list[dict]:
    """Return the problems of a row: the classes that its T keeps, in all splits."""
    return [
        cell
        for cell in cells
        if cell["name"] == name
        and min(cell["train_positives"], cell["test_positives"]) >= at_least
    ]


def averages(
    cells: list[dict],
    name: str,
    at_least: int,
    metric: str,
    method: str,
    kind: str = "raw",
) -> np.ndarray:
    """Return the mean over classes, once for each split, or half where that varies."""
    by_split: dict[int, list] = {}
    for cell in problems_of_row(cells, name, at_least):
        value = READ[method](cell["scores"][kind][metric])
        by_split.setdefault(cell["split"], []).append(np.atleast_1d(value))
    return np.concatenate([np.mean(values, axis=0) for values in by_split.values()])


def promised_interval(
    cells: list[dict], name: str, at_least: int, metric: str, kind: str = "raw"
) -> tuple[float, float, float]:
    """Return what DTA promised for a row, and its 90% range; means over splits.

    A mean over classes has the exact range of no single law: its standard deviation is
    that of independent classes, and its range that of a normal law.
    """
    by_split: dict[int, list] = {}
    for cell in problems_of_row(cells, name, at_least):
        by_split.setdefault(cell["split"], []).append(
            cell["scores"][kind][metric]["dta"]
        )
    rows = []
    for laws in by_split.values():
        mean = float(np.mean([law["promised"] for law in laws]))
        if len(laws) == 1:
            rows.append((mean, laws[0]["low"], laws[0]["high"]))
        else:
            spread = 1.645 * np.sqrt(np.sum([law["std"] ** 2 for law in laws]))
            spread /= len(laws)
            rows.append((mean, mean - spread, mean + spread))
    return tuple(float(x) for x in np.mean(rows, axis=0))


def table_rows() -> list[tuple[str, int]]:
    """Return the rows of the paper's tables: data set and T."""
    return [(name, T) for name, used in DATA_SETS.items() for T in used.thresholds]


def check_invariants(cells: list[dict]) -> None:
    """Raise if a score beats its oracle, or if J is not F/(2 - F)."""
    for cell in cells:
        for kind, metrics in cell["scores"].items():
            for metric, s in metrics.items():
                where = (
                    f"{cell['name']} {cell['split']} {cell['label']} {kind} {metric}"
                )
                _check_oracle(metric, s, where)
        raw = cell["scores"]["raw"]
        for method in ("baseline", "eum", "oracle", "eum_oracle"):
            f1, jaccard = (np.atleast_1d(raw[m][method]) for m in ("f1", "jaccard"))
            if np.max(np.abs(jaccard - f1 / (2 - f1))) > TOLERANCE:
                msg = f"J is not F/(2 - F) for {method} in {cell['name']}"
                raise AssertionError(msg)


def _check_oracle(metric: str, s: dict, where: str) -> None:
    sign = 1.0 if bestcut.metrics.get(metric).greater_is_better else -1.0
    pairs = [("dta", "oracle"), ("baseline", "oracle"), ("eum_cv", "oracle")]
    pairs += [("eum", "eum_oracle"), ("dta_half", "eum_oracle")]
    for method, bound in pairs:
        if method not in s:
            continue
        excess = sign * (np.array(READ[method](s)) - np.array(s[bound]))
        if np.max(excess) > TOLERANCE:
            msg = f"{method} is above its oracle: {where}"
            raise AssertionError(msg)
