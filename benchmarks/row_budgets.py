"""How good are k labels for each row, and how long do they take, beside xCOLUMNs?

    python benchmarks/row_budgets.py [--quick] [--limit 900] [--out DIR]

30,000 x 25 logistic probabilities of `make_multilabel_classification`, macro averages,
per_row 1, 3 and 5: xCOLUMNs' block coordinate ascent in the same run and thread. Its
objective puts expected counts into the metric; here both are held against the exact
expected score. Then sparse matrices up to 10^5 x 10^5 with 50 stored a row, as long as
the next one is expected to take less than the limit (seconds). Writes
DIR/row_budgets.md. Needs bestcut, scikit-learn and SciPy; xcolumns, if installed, is
measured too (`make bench` makes an environment that has it).
"""

from __future__ import annotations

import argparse
import datetime as dt
import gc
import importlib
import os
import platform
import time
import tracemalloc
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from results import folder_of_today

# One thread each, before anything starts more.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.datasets import make_multilabel_classification  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.multiclass import OneVsRestClassifier  # noqa: E402

import bestcut  # noqa: E402
from bestcut import multilabel  # noqa: E402

GIB = 2.0**30
ROWS, COLUMNS, TRAINING = 30_000, 25, 10_000
FEATURES, LABELS = 40, 4  # of the made data: features, and labels a row on average
BUDGETS = (1, 3, 5)
METRICS = ("f1", "jaccard", "balanced_accuracy", "gmean")
TOLERANCES = (1e-6, 1e-9)  # theirs if nothing is said, and a small one
STORED, SPARSE_BUDGET = 50, 5
SIZES = (100, 1_000, 10_000, 100_000)  # rows and columns of sparse matrices
GROWTH = 1.2  # exponent by which the next size's time is foreseen


def say(text: str) -> None:
    """Print progress with the time."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns and its processor time."""
    gc.collect()
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


def probabilities(rows: int) -> np.ndarray:
    """Return logistic probabilities of new rows."""
    X, Y = make_multilabel_classification(
        rows + TRAINING,
        n_features=FEATURES,
        n_classes=COLUMNS,
        n_labels=LABELS,
        random_state=0,
    )
    model = OneVsRestClassifier(LogisticRegression(max_iter=200))
    return model.fit(X[:TRAINING], Y[:TRAINING]).predict_proba(X[TRAINING:])


def xcolumns(metric: str) -> Callable[..., tuple[Any, dict]] | None:
    """Return xCOLUMNs' ascent for a metric, or None if it is not installed.

    Its own wrappers of other metrics than F1 have other functions in them (0.0.2).
    """
    try:
        version("xcolumns")
    except PackageNotFoundError:
        return None
    ascent = importlib.import_module("xcolumns.block_coordinate")
    metrics = importlib.import_module("xcolumns.metrics")
    names = {"f1": "f1_score", "jaccard": "jaccard_score"}
    function = getattr(metrics, f"binary_{names.get(metric, metric)}_on_conf_matrix")

    def choose(p: Any, k: int, tolerance: float) -> tuple[Any, dict]:
        return ascent.predict_using_bc_with_0approx(
            p,
            function,
            k,
            tolerance=tolerance,
            skip_tn=metric in names,
            return_meta=True,
            seed=0,
        )

    return choose


def dense_table(p: np.ndarray, repeats: int) -> list[str]:
    """Every metric and budget, both ways."""
    lines = [
        "| metric | k | ours, s | gap | expected score, ours | tolerance | xCOLUMNs, s "
        "| rounds | time, theirs / ours | expected score, theirs less ours |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for metric in METRICS:
        theirs = xcolumns(metric)
        if theirs is not None:
            theirs(p[:100], 3, 1e-6)  # what is loaded with the first call
        multilabel.decide(p[:100], metric, average="macro", per_row=3)
        for k in BUDGETS:
            say(f"{p.shape[0]:,} x {p.shape[1]}: {metric}, {k} a row")

            def ours(metric: str = metric, k: int = k) -> Any:
                return multilabel.decide(p, metric, average="macro", per_row=k)

            runs = [timed(ours) for _ in range(repeats)]
            decision = runs[0][0]
            took = float(np.median([seconds for _, seconds in runs]))
            own = multilabel.expected_score(p, decision.labels, metric, average="macro")
            first = f"| {metric} | {k} | {took:.2f} | {decision.gap:.0e} | {own:.9f} "
            for tolerance in TOLERANCES:
                if theirs is None:
                    lines.append(f"{first}| | not installed | | | |")
                    break
                (labels, meta), other = timed(
                    lambda f=theirs, k=k, t=tolerance: f(p, k, t)
                )
                chosen = np.asarray(labels) > 0.5
                score = multilabel.expected_score(p, chosen, metric, average="macro")
                lines.append(
                    f"{first}| {tolerance:.0e} | {other:.2f} | {meta['iters']} "
                    f"| {other / took:.1f} | {score - own:+.1e} |"
                )
                first = "| | | | | "
    return lines


def stored_matrix(size: int, tail: bool) -> sparse.csr_array:
    """Return probabilities from Beta(0.3, 3), in columns alike or with a long tail."""
    rng = np.random.default_rng(2)
    place = rng.random((size, STORED)) ** (3 if tail else 1)
    columns = np.sort((size * place).astype(np.int64), axis=1).ravel()
    values = rng.beta(0.3, 3, size=size * STORED)
    data = sparse.csr_array(
        (values, columns, np.arange(size + 1) * STORED), shape=(size, size)
    )
    data.sum_duplicates()
    np.minimum(data.data, 1.0, out=data.data)
    return data


def expected_macro_f1(p: sparse.csr_array, labels: Any) -> float:
    """Return the exact expected macro-F1, column by column.

    What is not stored has probability 0 and is not predicted: F1 does not see it.
    """
    by_column = sparse.csc_array(p)
    # Of each entry in the order of columns, whether it is predicted.
    at = sparse.csr_array((np.arange(1, p.nnz + 1), p.indices, p.indptr), shape=p.shape)
    predicted = sparse.csr_array(labels, dtype=np.float64)
    predicted.eliminate_zeros()
    taken = np.zeros(p.nnz + 1, dtype=bool)
    taken[sparse.csr_array(at.multiply(predicted > 0)).data.astype(np.int64)] = True
    order = sparse.csc_array(at).data
    total = 0.0
    for start, end in zip(by_column.indptr[:-1], by_column.indptr[1:], strict=True):
        chosen = taken[order[start:end]]
        if chosen.any():
            total += bestcut.expected_score(by_column.data[start:end], chosen, "f1")
    return total / p.shape[1]


def sparse_table(limit: float, sizes: tuple[int, ...]) -> list[str]:
    """Sparse matrices: time, memory, gap; xCOLUMNs at its own tolerance."""
    lines = [
        "| rows = columns | columns | ours, s | GiB held at most | gap "
        "| expected score | xCOLUMNs, s | rounds | theirs less ours |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    theirs = xcolumns("f1")
    if theirs is not None:
        theirs(sparse.csr_matrix(stored_matrix(100, False)), SPARSE_BUDGET, 1e-6)
    for tail in (False, True):
        kind = "long tail" if tail else "alike"
        last, took = sizes[0], 0.0
        for size in sizes:
            foreseen = took * (size / last) ** GROWTH
            if foreseen > limit:
                lines.append(
                    f"| {size:,} | {kind} | not run: some {foreseen:,.0f} s foreseen "
                    "| | | | | | |"
                )
                continue
            say(f"sparse, {size:,} x {size:,}, {kind}")
            p = stored_matrix(size, tail)

            def ours(p: Any = p) -> Any:
                return multilabel.decide(p, "f1", average="macro", per_row=5)

            decision, took = timed(ours)
            last = size
            memory = "not measured"
            if took < limit / 2:
                tracemalloc.start()
                ours()
                memory = f"{tracemalloc.get_traced_memory()[1] / GIB:.2f}"
                tracemalloc.stop()
            row = (
                f"| {size:,} | {kind} | {took:.1f} | {memory} | {decision.gap:.0e} "
                f"| {decision.expected_score:.9f} "
            )
            if theirs is None:
                lines.append(f"{row}| not installed | | |")
                continue
            (labels, meta), other = timed(
                lambda p=p: theirs(sparse.csr_matrix(p), SPARSE_BUDGET, 1e-6)
            )
            apart = expected_macro_f1(p, labels) - decision.expected_score
            lines.append(f"{row}| {other:.1f} | {meta['iters']} | {apart:+.1e} |")
            say(lines[-1])
    return lines


def main() -> None:
    """Measure everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds, sparse")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    today = dt.date.today().isoformat()
    out = options.out or folder_of_today()
    out.mkdir(parents=True, exist_ok=True)
    part, repeats, sizes = (10, 1, SIZES[:2]) if options.quick else (1, 3, SIZES)
    load = os.getloadavg()[0]
    p = probabilities(ROWS // part)
    try:
        peer = f"xcolumns {version('xcolumns')}"
    except PackageNotFoundError:
        peer = "xcolumns not installed"
    lines = [
        f"# k labels for each row, {today}",
        "",
        "`python benchmarks/row_budgets.py` made this page. Times are the processor "
        "time of one thread; ours",
        f"are medians of {repeats}, those of sparse matrices and of xCOLUMNs are "
        "single runs.",
        f"Python {platform.python_version()}, NumPy {np.__version__}, {peer}, "
        f"{os.cpu_count()} processors, load {load:.1f} at the start.",
        "",
        f"## {p.shape[0]:,} x {COLUMNS}, macro averages, k labels a row",
        "",
        f"`make_multilabel_classification` with {FEATURES} features, {COLUMNS} classes "
        f"and {LABELS} labels a row on",
        f"average, seed 0; logistic regressions on {TRAINING:,} other rows. xCOLUMNs' "
        "block coordinate ascent begins at its",
        "own start (random labels, seed 0), uses its own function of the metric, and "
        "ends when a round gains less than the",
        "tolerance, 1e-6 by default. Expected scores of both are exact "
        "(`multilabel.expected_score`). A gap is a",
        "proved bound on how much more any other labels could score than ours.",
        "",
        *dense_table(p, repeats),
        "",
        f"## Sparse: {STORED} stored a row, {SPARSE_BUDGET} labels a row, macro-F1",
        "",
        "Probabilities from Beta(0.3, 3) are in random columns: columns are all alike, "
        "or have a long tail (the column number is the cube of a uniform one).",
        "Memory is the peak of a second run by tracemalloc, besides the input. "
        "xCOLUMNs runs at its default tolerance.",
        "A size is left out if the size before suggests that it takes more than "
        f"{options.limit:,.0f} s.",
        "",
        *sparse_table(options.limit, sizes),
        "",
    ]
    (out / "row_budgets.md").write_text("\n".join(lines), encoding="utf-8")
    say(f"wrote {out.name}/row_budgets.md")


if __name__ == "__main__":
    main()
