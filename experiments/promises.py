"""Do intervals hold when the probabilities are estimates? Seven data sets, four models.

    python -m experiments.promises SCORES RESULTS --seeds 100 200 [--jobs 2]
    python -m experiments.promises SCORES RESULTS --seeds 100 200 --table PAGE.md

SCORES is the folder that `experiments.held_out` wrote. For every problem the
out-of-fold scores of the training rows calibrate; for batches of all test rows, 300 and
30 of them, `bestcut.decide` promises an interval for the score of its decision, and
then the labels are uncovered. In a second part, m of the test rows are labelled and n
others are the batch. Beside it: what people do instead. One file of results for each
problem, so that an interrupted run goes on.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import bestcut
from experiments.held_out import MODELS, N_TRAIN, file_of
from experiments.tables import realised

METRICS = ("f1", "jaccard", "balanced_accuracy", "mcc", "gmean")
AT_F1 = ("precision", "recall")  # at the cut for F1
LEVEL, OTHER_LEVELS = 0.9, (0.5, 0.99)
BATCHES = (0, 300, 30)  # rows; 0 is all of them
LABELLED, SIZES = (50, 100, 300, 1000), (100, 300, 1000)
BOOTSTRAPS, BOOTSTRAPPED_SEEDS = 200, 10  # draws, and seeds for which it is done
NORMAL = 1.6448536269514722  # the 95 % quantile
LEAST = 1e-12  # a probability, for logits


def logit(p: np.ndarray) -> np.ndarray:
    """Return the log-odds; of a model's sure scores, large ones."""
    p = np.clip(p, LEAST, 1 - LEAST)
    return np.log(p) - np.log1p(-p)


def isotonic(y: np.ndarray, scores: np.ndarray, weight: Any = None) -> Callable:
    """Return scikit-learn's isotonic calibration."""
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return fitted.fit(scores, y.astype(float), sample_weight=weight).predict


def platt(y: np.ndarray, scores: np.ndarray) -> Callable:
    """Return a logistic regression on the logit, with hardly any penalty."""
    if y.all() or not y.any():
        share = (y.sum() + 1) / (y.size + 2)
        return lambda s: np.full(s.size, share)
    model = LogisticRegression(C=1e6, max_iter=1000).fit(logit(scores)[:, None], y)
    return lambda s: model.predict_proba(logit(s)[:, None])[:, 1]


def bootstrap(y: np.ndarray, scores: np.ndarray, new: np.ndarray, seed: int) -> Any:
    """Return draws of isotonic calibration, each with other weights of the labels."""
    rng = np.random.default_rng(seed)
    draws = [
        isotonic(y, scores, rng.exponential(size=y.size))(new)
        for _ in range(BOOTSTRAPS)
    ]
    return bestcut.UncertainProbabilities(draws)


def outcomes(p: Any, y: np.ndarray, others: tuple[float, ...] = ()) -> Iterator[dict]:
    """Decide for every metric; yield what was promised, and what came.

    `others` are further levels of intervals.
    """
    for metric in METRICS:
        decision = bestcut.decide(p, metric)
        for shown in (metric, *(AT_F1 if metric == "f1" else ())):
            law = decision.distribution(shown)
            low, high = law.interval(LEVEL)
            yield {
                "metric": shown,
                "score": realised(shown, y, decision.labels),
                "promised": law.mean,
                "low": low,
                "high": high,
                "others": [law.interval(level) for level in others],
            }


def nannyml(y: np.ndarray, p: np.ndarray, y_new: np.ndarray, p_new: np.ndarray) -> list:
    """Return its estimate and band at 90 %, for the metrics it has of ours.

    The cut is that for F1. The estimate puts expected counts into the formula; the
    standard error is that of a statistic of labelled rows, over the root of the number
    of rows of the batch that take part in it.
    """
    decision = bestcut.decide(p_new, "f1")
    threshold, labels = decision.threshold, decision.labels
    before = p >= threshold
    tp, fp, fn = p_new[labels].sum(), (1 - p_new[labels]).sum(), p_new[~labels].sum()
    estimates = {
        "f1": (2 * tp, 2 * tp + fp + fn, before | y, y & before),
        "precision": (tp, tp + fp, before, y),
        "recall": (tp, tp + fn, y, before),
    }
    rows = []
    for metric, (above, below, part, right) in estimates.items():
        if not part.any() or below <= 0:
            continue
        share, spread = part.mean(), np.std(right[part])
        middle = above / below
        error = NORMAL * spread / np.sqrt(share * y_new.size)
        rows.append(
            {
                "metric": metric,
                "score": realised(metric, y_new, labels),
                "promised": middle,
                "low": middle - error,
                "high": middle + error,
            }
        )
    return rows


def widened(rows: list[dict], m: int, n: int) -> list[dict]:
    """Return the intervals, longer by sqrt(1 + n/m) on either side of the promise."""
    longer = np.sqrt(1 + n / m)
    return [
        row
        | {
            "low": row["promised"] - longer * (row["promised"] - row["low"]),
            "high": row["promised"] + longer * (row["high"] - row["promised"]),
        }
        for row in rows
    ]


def one_batch(
    y: np.ndarray,
    scores: np.ndarray,
    y_new: np.ndarray,
    new: np.ndarray,
    calibration: Any,
    *,
    bootstrapped: int | None = None,
) -> dict:
    """Return what every way promised for a batch, and what its decisions scored."""
    m, n = y.size, y_new.size
    maps = {"isotonic": isotonic(y, scores), "Platt": platt(y, scores)}
    found = {
        "bestcut": list(outcomes(calibration(new), y_new, OTHER_LEVELS)),
        "as they are": list(outcomes(new, y_new)),
        **{way: list(outcomes(g(new), y_new)) for way, g in maps.items()},
        "NannyML": nannyml(y, maps["isotonic"](scores), y_new, maps["isotonic"](new)),
    }
    for way in ("as they are", *maps):
        found[f"{way}, widened"] = widened(found[way], m, n)
    if bootstrapped is not None:
        draws = bootstrap(y, scores, new, bootstrapped)
        found["isotonic bootstrap"] = list(outcomes(draws, y_new))
    found["EUM"] = [
        {
            "metric": metric,
            "score": realised(
                metric,
                y_new,
                new >= bestcut.empirical_threshold(y, scores, metric).threshold,
            ),
        }
        for metric in METRICS
    ]
    return {"m": m, "n": n, "ways": found}


def problem(kept: Path, name: str, model: str, seed: int) -> list[dict]:
    """Return all batches of one problem."""
    with np.load(file_of(kept, name, model, seed)) as file:
        z = {key: file[key] for key in file.files}
    rng = np.random.default_rng([seed, 16])
    out = []
    at = {"name": name, "model": model, "seed": seed}
    rows_of = z["y_new"].size
    calibration = bestcut.calibrate(z["y"], z["scores"])
    for size in BATCHES:
        rows = rng.permutation(rows_of)[: size or rows_of]
        few = seed % 100 < BOOTSTRAPPED_SEEDS
        batch = one_batch(
            z["y"],
            z["scores"],
            z["y_new"][rows],
            z["new_scores"][rows],
            calibration,
            bootstrapped=seed if few else None,
        )
        out.append(at | {"batch": size} | batch)
    return out


def few_labels(kept: Path, name: str, model: str, seed: int) -> list[dict]:
    """Return batches that m other rows of the test set calibrate."""
    with np.load(file_of(kept, name, model, seed)) as file:
        y, scores = file["y_new"], file["new_scores"]
    rng = np.random.default_rng([seed, 17])
    out = []
    for m in LABELLED:
        for n in SIZES:
            rows = rng.permutation(y.size)
            if m + n > y.size:
                continue
            had, new = rows[:m], rows[m : m + n]
            calibration = bestcut.calibrate(y[had], scores[had])
            batch = one_batch(y[had], scores[had], y[new], scores[new], calibration)
            out.append({"name": name, "model": model, "seed": seed, "batch": n} | batch)
    return out


def _work(function: Callable, kept: Path, results: Path, task: tuple) -> None:
    name, model, seed = task
    path = results / function.__name__ / f"{name}-{model.replace(' ', '_')}-{seed}.json"
    if path.exists() or not file_of(kept, name, model, seed).exists():
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scores outside the labelled ones
        found = function(kept, name, model, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found), encoding="utf-8")
    part.rename(path)


def run(
    kept: Path, results: Path, seeds: range, few_seeds: int, jobs: int, names: list[str]
) -> None:
    """Compute what is not there yet."""
    tasks = [(n, m, s) for s in seeds for n in names for m in MODELS]
    some = [task for task in tasks if task[2] < seeds[0] + few_seeds]
    work = [(problem, task) for task in tasks] + [(few_labels, task) for task in some]
    Parallel(jobs)(delayed(_work)(f, kept, results, task) for f, task in work)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scores", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--seeds", type=int, nargs=2, default=(100, 200))
    parser.add_argument("--few-seeds", type=int, default=7)
    parser.add_argument("--names", nargs="*", default=list(N_TRAIN))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", type=Path, default=None)
    given = parser.parse_args()
    if given.table is None:
        run(
            given.scores,
            given.results,
            range(*given.seeds),
            given.few_seeds,
            given.jobs,
            given.names,
        )
    else:
        from experiments.promises_page import page

        given.table.write_text(page(given.results), encoding="utf-8")
