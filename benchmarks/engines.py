"""How long do dask and Spark take on this machine, and what reaches the driver?

    python benchmarks/engines.py [--quick] [--out DIR]

10^7 scores from Beta(0.3, 3) in 1, 2 and 4 partitions, on two worker processes of dask
and on two cores of Spark: the decision (two passes over the scores), and then counting
the positive labels (a third). The engine keeps the data in memory, so that making them
is not measured. `bestcut.decide` on the same scores stands beside it. Writes
DIR/engines.md. Needs both engines and Java; `make test-distributed` sets up the
environment .venv-distributed.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from results import folder_of_today

# One thread for each process, before anything starts more.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

import bestcut  # noqa: E402

PARTITIONS = (1, 2, 4)
METRICS = ("f1", "mcc")


class Run(NamedTuple):
    """What one decision took."""

    decide: float
    count: float
    cut: Any
    counted: int


def say(text: str) -> None:
    """Print progress with the time."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def part(i: int, parts: int, n: int) -> np.ndarray:
    """Return the scores of one partition; in all they are the same for any `parts`."""
    most = PARTITIONS[-1]
    return np.concatenate(
        [
            np.random.default_rng(j).beta(0.3, 3, n // most)
            for j in range(i * most // parts, (i + 1) * most // parts)
        ]
    )


def fastest(once: Callable[[], Run], repeats: int) -> Run:
    """Return the run with the shortest time in all; the first is not counted."""
    once()
    runs = [once() for _ in range(repeats)]
    return min(runs, key=lambda run: run.decide + run.count)


def timed(decide: Callable[[], tuple[Any, Any]], count: Callable[[Any], int]) -> Run:
    """Decide, then count the positive labels."""
    start = time.perf_counter()
    labelled, cut = decide()
    middle = time.perf_counter()
    counted = count(labelled)
    return Run(middle - start, time.perf_counter() - middle, cut, int(counted))


@contextmanager
def dask_engine(n: int) -> Iterator[Callable[[int, str, int], Run]]:
    """Yield what measures on two worker processes of dask."""
    import dask.array as da
    from dask import delayed, distributed

    from bestcut.distributed.dask import decide

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):

        def measure(parts: int, metric: str, repeats: int) -> Run:
            blocks = [
                da.from_delayed(delayed(part)(i, parts, n), (n // parts,), float)
                for i in range(parts)
            ]
            scores = da.concatenate(blocks).persist()
            distributed.wait(scores)
            return fastest(
                lambda: timed(
                    lambda: decide(scores, metric=metric),
                    lambda labels: labels.sum().compute(),
                ),
                repeats,
            )

        yield measure


@contextmanager
def spark_engine(n: int) -> Iterator[Callable[[int, str, int], Run]]:
    """Yield what measures on two cores of Spark."""
    from pyspark.sql import SparkSession

    from bestcut.distributed.spark import decide

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for key, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")

    def measure(parts: int, metric: str, repeats: int) -> Run:
        def rows(batches: Any) -> Iterator[Any]:
            import pyarrow as pa

            for batch in batches:
                for i in batch.column(0).to_pylist():
                    p = pa.array(part(i, parts, n))
                    table = pa.Table.from_arrays([p], names=["p"])
                    yield from table.to_batches(max_chunksize=10_000)

        df = session.range(0, parts, 1, parts).mapInArrow(rows, "p double").cache()
        df.count()
        best = fastest(
            lambda: timed(
                lambda: decide(df, "p", metric),
                lambda labelled: labelled.where("decision").count(),
            ),
            repeats,
        )
        df.unpersist(blocking=True)
        return best

    yield measure
    session.stop()


def locally(n: int, metric: str) -> tuple[float, Any]:
    """Return how long `bestcut.decide` takes on the same scores, and its decision."""
    scores = part(0, 1, n)
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        decision = bestcut.decide(scores, metric)
        best = min(best, time.perf_counter() - start)
    return best, decision


def table(engine: Any, n: int, repeats: int) -> list[str]:
    """Measure one engine."""
    lines = [
        "| metric | partitions | decide, s | count labels, s | `bestcut.decide`, s "
        "| bytes of summaries | bytes of scores | as good as local |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    with engine(n) as measure:
        for metric in METRICS:
            seconds, local = locally(n, metric)
            for parts in PARTITIONS:
                say(f"{engine.__name__}: {metric}, {parts} partitions")
                run = measure(parts, metric, repeats)
                cut = run.cut
                gap = abs(cut.expected_score - local.expected_score)
                good = gap <= cut.error + local.error
                good = good and run.counted == cut.n_positive
                lines.append(
                    f"| {metric} | {parts} | {run.decide:.2f} | {run.count:.2f} "
                    f"| {seconds:.2f} | {cut.summary_bytes:,} | {cut.bracket_bytes:,} "
                    f"| {'yes' if good else 'NO'} |"
                )
    return lines


def main() -> None:
    """Measure both engines and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)  # of one package about another
    today = dt.date.today().isoformat()
    out = options.out or folder_of_today()
    out.mkdir(parents=True, exist_ok=True)
    n, repeats = (10**6, 1) if options.quick else (10**7, 3)
    load = os.getloadavg()[0]
    versions = ", ".join(f"{x} {version(x)}" for x in ("numpy", "dask", "pyspark"))
    lines = [
        f"# dask and Spark on one machine, {today}",
        "",
        "`python benchmarks/engines.py` made this page. Times are by the wall "
        f"clock, the best of {repeats} runs after a first one that does not count.",
        f"Python {platform.python_version()}, {versions}, {os.cpu_count()} processors, "
        f"load {load:.1f} at the start.",
        "",
        f"{n:,} scores from Beta(0.3, 3), kept by the engine. Deciding takes two "
        "passes over the scores; counting the",
        "positive labels takes a third. `bestcut.decide` has the same scores in one "
        "array and one thread. The bytes are",
        "those that reached the driver.",
        "",
        "## dask: two worker processes of one thread",
        "",
        *table(dask_engine, n, repeats),
        "",
        "## Spark: local[2]",
        "",
        *table(spark_engine, n, repeats),
        "",
    ]
    (out / "engines.md").write_text("\n".join(lines), encoding="utf-8")
    say(f"wrote {out.name}/engines.md")


if __name__ == "__main__":
    main()
