"""How long do thousands of small problems take, and is every row the best?

    python benchmarks/many.py [--quick] [--out DIR]

10,000 rows of 100 probabilities from Beta(0.3, 3), one thread, beside rankseg's RMA
with pruning off in the same run, turn by turn; rows of up to 1,000 and groups of
uneven sizes, beside np.argsort of the same; a million short rows; a sparse matrix as
wide as extreme multi-label problems. Optimality is looked up in whole curves that
another algorithm computes. Writes DIR/many.md in about five minutes. Needs bestcut
and SciPy; rankseg and torch, if installed, are measured too.
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

from results import folder_of_today

# One thread each, before anything starts more.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402

import bestcut  # noqa: E402
from bestcut.many._laws import LawKernels  # noqa: E402

GIB = 2.0**30
LONG = ("f1", "jaccard", "mcc", "gmean", "hmean", "qmean")
UNEVEN = ("f1", "jaccard", "mcc", "gmean")
PEER_NAMES = {"f1": "dice", "jaccard": "iou"}
LIMITS = {  # what is promised
    "rows": "at most 24 us a row and 1.2 times rankseg's RMA",
    "others": "at most 300 us a row",
    "long": "at most 5 ms a row of 999",
    "uneven": "at most 2 s for F1",
    "million": "at most 10 s and 2 GiB",
    "sparse": "at most 2 times as long as in groups",
}


def say(text: str) -> None:
    """Print progress with the time."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def seconds(
    call: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return how long one call takes."""
    gc.collect()
    start = clock()
    call()
    return clock() - start


def in_turn(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median time of each call, all taking turns, the first not counted.

    It is the processor's time, for other work on the machine should not count.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for i in range(repeats + 1):
        for name, call in calls.items():
            took = seconds(call, time.process_time)
            if i:
                times[name].append(took)
    return {name: float(np.median(all_)) for name, all_ in times.items()}


def peak(call: Callable[[], object]) -> int:
    """Return the largest number of bytes that a call held at once."""
    gc.collect()
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def rankseg(p: np.ndarray, metric: str) -> Callable[[], np.ndarray] | None:
    """Return a call of rankseg's RMA without pruning, or None if it is missing."""
    try:
        version("rankseg")
    except PackageNotFoundError:
        return None
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    model = importlib.import_module("rankseg").RankSEG(
        metric=PEER_NAMES[metric],
        solver="RMA",
        output_mode="multilabel",
        pruning_prob=0.0,
    )
    data = torch.tensor(p, dtype=torch.float64).view(p.shape[0], 1, p.shape[1])
    return lambda: model.predict(data).numpy().reshape(p.shape).astype(bool)


def regrets(p: np.ndarray, labels: np.ndarray, metric: str) -> np.ndarray:
    """Return what each row's labels lose, by whole curves from laws of counts."""
    chosen = bestcut.metrics.get(metric)
    n = p.shape[1]
    kernel = LawKernels(chosen, n, n).whole
    eta = np.ascontiguousarray(np.sort(p, axis=1)[:, ::-1])
    k = labels.sum(axis=1)
    lost = np.empty(len(p))
    for i in range(0, len(p), kernel.together):
        at = slice(i, i + kernel.together)
        curves, _ = kernel.curves(np.ascontiguousarray(eta[at].T))
        own = curves[k[at], np.arange(curves.shape[1])]
        best = curves.max(axis=0) if chosen.greater_is_better else curves.min(axis=0)
        lost[at] = np.abs(best - own)
    return lost


def rows_table(p: np.ndarray, repeats: int) -> list[str]:
    """F1 and Jaccard beside rankseg."""
    lines = [
        "| metric | bestcut, us a row | rankseg RMA, us a row | ratio "
        "| largest loss, bestcut | mean and largest loss, rankseg |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for metric in PEER_NAMES:
        say(f"{len(p):,} x {p.shape[1]}: {metric}")
        peer = rankseg(p, metric)
        calls = {"ours": lambda m=metric: bestcut.decide_each(p, m)}
        if peer is not None:
            calls["peer"] = peer
        times = {k: 1e6 * v / len(p) for k, v in in_turn(calls, repeats).items()}
        loss = regrets(p, bestcut.decide_each(p, metric).labels, metric)
        theirs, ratio, lost = "not installed", "", ""
        if peer is not None:
            theirs = f"{times['peer']:.1f}"
            ratio = f"{times['ours'] / times['peer']:.2f}"
            other = regrets(p, peer(), metric)
            lost = f"{other.mean():.1e}, {other.max():.1e}"
        lines.append(
            f"| {metric} | {times['ours']:.1f} | {theirs} | {ratio} "
            f"| {loss.max():.0e} | {lost} |"
        )
    return lines


def others_table(p: np.ndarray, repeats: int) -> list[str]:
    """Every other metric of the catalogue."""
    lines = ["| metric | us a row | largest loss |", "| --- | --- | --- |"]
    for metric in bestcut.metrics.names(aliases=False):
        if metric in PEER_NAMES:
            continue
        say(f"{len(p):,} x {p.shape[1]}: {metric}")
        call = lambda m=metric: bestcut.decide_each(p, m)  # noqa: E731
        took = in_turn({"ours": call}, repeats)["ours"]
        # The laws are what these are decided by: `decide` is another way.
        loss = max(
            abs(
                bestcut.decide(row, metric).expected_score
                - bestcut.expected_score(row, labels, metric)
            )
            for row, labels in zip(p[:20], call().labels, strict=False)
        )
        lines.append(f"| {metric} | {1e6 * took / len(p):.0f} | {loss:.0e} |")
    return lines


def long_table(rows: int) -> list[str]:
    """Rows of up to 1,000, beside sorting them."""
    lines = [
        "| columns | metric | ms a row | times np.argsort |",
        "| --- | --- | --- | --- |",
    ]
    for n in (256, 257, 512, 999):
        p = np.random.default_rng(4).beta(0.3, 3, size=(rows, n))
        for metric in LONG:
            say(f"{rows:,} x {n}: {metric}")
            calls = {
                "ours": lambda m=metric, p=p: bestcut.decide_each(p, m),
                "sort": lambda p=p: np.argsort(p, axis=1),
            }
            times = in_turn(calls, 1)
            lines.append(
                f"| {n} | {metric} | {1e3 * times['ours'] / rows:.2f} "
                f"| {times['ours'] / times['sort']:.0f} |"
            )
    return lines


def uneven_table(total: int, count: int) -> list[str]:
    """Many groups of uneven sizes, beside sorting each."""
    rng = np.random.default_rng(5)
    sizes = rng.multinomial(total, rng.dirichlet(np.ones(count)))
    p, groups = rng.beta(0.3, 3, size=total), np.repeat(np.arange(count), sizes)
    parts = np.split(p, np.cumsum(sizes)[:-1])
    lines = [
        "| metric | seconds | times np.argsort | largest error | largest gap |",
        "| --- | --- | --- | --- | --- |",
    ]
    for metric in UNEVEN:
        say(f"{count:,} uneven groups: {metric}")
        calls = {
            "ours": lambda m=metric: bestcut.decide_each(p, m, groups=groups),
            "sort": lambda: [np.argsort(part) for part in parts],
        }
        times = in_turn(calls, 1)
        many = calls["ours"]()
        lines.append(
            f"| {metric} | {times['ours']:.2f} | {times['ours'] / times['sort']:.0f} "
            f"| {many.error.max():.0e} | {many.gap.max():.0e} |"
        )
    return lines


def million_table(rows: int) -> list[str]:
    """Many short rows: time, and memory beside input and output."""
    lines = [
        "| metric | threads | seconds | us a row | GiB beside input and output |",
        "| --- | --- | --- | --- | --- |",
    ]
    p = np.random.default_rng(1).beta(0.3, 3, size=(rows, 20))
    for metric in ("f1", "jaccard", "mcc"):
        for threads in (1, 2):
            say(f"{rows:,} x 20: {metric}, {threads} threads")
            call = lambda m=metric, t=threads: bestcut.decide_each(p, m, n_jobs=t)  # noqa: E731
            took = seconds(call)
            many = call()
            output = sum(
                x.nbytes
                for x in (
                    many.labels,
                    many.n_positive,
                    many.threshold,
                    many.expected_score,
                    many.error,
                    many.gap,
                )
            )
            del many
            memory = (peak(call) - output) / GIB
            lines.append(
                f"| {metric} | {threads} | {took:.1f} | {1e6 * took / rows:.1f} "
                f"| {memory:.3f} |"
            )
    return lines


def sparse_table(rows: int, labels: int, repeats: int) -> list[str]:
    """Sparse matrices beside the same probabilities in groups."""
    rng = np.random.default_rng(2)
    columns = np.sort(rng.integers(0, labels, size=(rows, 50)), axis=1).ravel()
    data = sparse.csr_array(
        (rng.beta(0.3, 3, size=rows * 50), columns, np.arange(rows + 1) * 50),
        shape=(rows, labels),
    )
    data.sum_duplicates()
    np.minimum(data.data, 1.0, out=data.data)
    groups = np.repeat(np.arange(rows), np.diff(data.indptr))
    lines = [
        "| metric | sparse, s | groups, s | ratio | GiB held at most, sparse |",
        "| --- | --- | --- | --- | --- |",
    ]
    for metric in ("f1", "jaccard", "mcc"):
        say(f"sparse, {rows:,} x {labels:,}: {metric}")
        calls = {
            "sparse": lambda m=metric: bestcut.decide_each(data, m),
            "groups": lambda m=metric: bestcut.decide_each(data.data, m, groups=groups),
        }
        times = in_turn(calls, repeats)
        lines.append(
            f"| {metric} | {times['sparse']:.2f} | {times['groups']:.2f} "
            f"| {times['sparse'] / times['groups']:.2f} "
            f"| {peak(calls['sparse']) / GIB:.2f} |"
        )
    return lines


def main() -> None:
    """Measure everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    today = dt.date.today().isoformat()
    out = options.out or folder_of_today()
    out.mkdir(parents=True, exist_ok=True)
    part, repeats = (10, 2) if options.quick else (1, 5)
    p = np.random.default_rng(0).beta(0.3, 3, size=(10_000 // part, 100))
    load = os.getloadavg()[0]
    lines = [
        f"# Many small problems, {today}",
        "",
        "`python benchmarks/many.py` made this page. Times are medians of the "
        "processor time of one thread;",
        "those of the million rows are by the wall clock.",
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"{os.cpu_count()} processors, load {load:.1f} at the start. A loss is "
        "the expected score of the best cut minus that of the labels.",
        "",
        f"## {len(p):,} rows of 100, Beta(0.3, 3)",
        "",
        f"Promised: {LIMITS['rows']}.",
        "",
        *rows_table(p, repeats),
        "",
        f"Other metrics; promised: {LIMITS['others']}. Losses: of 20 rows, against "
        "`decide`.",
        "",
        *others_table(p, max(repeats - 3, 1)),
        "",
        f"## {1000 // part:,} longer rows, Beta(0.3, 3)",
        "",
        f"Promised: {LIMITS['long']}, and no step between the sizes.",
        "",
        *long_table(1000 // part),
        "",
        f"## {3000 // part:,} groups of uneven sizes, {10**6 // part:,} instances",
        "",
        f"Promised: {LIMITS['uneven']}.",
        "",
        *uneven_table(10**6 // part, 3000 // part),
        "",
        f"## {10**6 // part:,} rows of 20",
        "",
        f"Promised: {LIMITS['million']} for F1.",
        "",
        *million_table(10**6 // part),
        "",
        f"## Sparse: {10**5 // part:,} rows, {10**5:,} labels, 50 stored a row",
        "",
        f"Promised: {LIMITS['sparse']}.",
        "",
        *sparse_table(10**5 // part, 10**5, max(repeats - 2, 1)),
        "",
    ]
    (out / "many.md").write_text("\n".join(lines), encoding="utf-8")
    say(f"wrote {out.name}/many.md")


if __name__ == "__main__":
    main()
