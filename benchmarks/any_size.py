"""Decisions without sorting: against np.argsort, and as a stream of any length.

    python benchmarks/any_size.py [--quick] [--out DIR]

Writes DIR/any_size.md. The first table has ratios to ``np.argsort`` within this run.
The second is a stream of generated scores, read twice by a process of its own whose
peak memory is measured; what generating them costs is measured too, and taken off.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from results import folder_of_today
from run import median_time, say

import bestcut
from scores import table

CHUNK = 1 << 20
SEED = 20150706
TARGETS = {(10**6, "f1"): 1.0, (10**7, "f1"): 0.3, (10**7, ""): 0.6}


def ratios(sizes: list[int]) -> Iterator[list[str]]:
    """`decide` for every metric, beside a sort of the same scores."""
    for n in sizes:
        p = np.random.default_rng(SEED).beta(0.3, 3.0, n)
        sort = median_time(lambda p=p: np.argsort(p), 5)
        for name in bestcut.metrics.names():
            call = lambda p=p, name=name: bestcut.decide(p, name)  # noqa: E731
            yield _ratio(n, name, median_time(call, 5), sort, call().solver)


def rare(n: int) -> Iterator[list[str]]:
    """Twenty expected positives."""
    p = np.random.default_rng(SEED).beta(0.3, 3.0, n)
    p *= 20.0 / p.sum()
    sort = median_time(lambda: np.argsort(p), 3)
    for name in ("f1", "jaccard", "mcc"):
        call = lambda name=name: bestcut.decide(p, name)  # noqa: E731
        yield _ratio(n, name, median_time(call, 3), sort, call().solver, 1.5)


def _ratio(
    n: int, name: str, seconds: float, sort: float, solver: str, limit: float = 0.0
) -> list[str]:
    limit = limit or TARGETS.get((n, name), TARGETS.get((n, ""), 0.0))
    kept = "" if not limit else "yes" if seconds <= limit * sort else "**no**"
    target = f"{limit:g}" if limit else ""
    return [
        f"{n:,}", name, solver, f"{1e3 * seconds:.0f} ms", f"{seconds / sort:.2f}",
        target, kept,
    ]  # fmt: skip


def generated(n: int) -> Iterator[np.ndarray]:
    """Scores with the law Beta(0.3, 3), by its quantiles, the same every time."""
    sample = np.sort(np.random.default_rng(SEED).beta(0.3, 3.0, 1 << 20))
    quantiles = sample[:: 1 << 6]
    for start in range(0, n, CHUNK):
        rng = np.random.default_rng((SEED, start))
        place = rng.random(min(CHUNK, n - start)) * (quantiles.size - 1)
        whole = place.astype(np.int64)
        place -= whole
        yield quantiles[whole] * (1.0 - place) + quantiles[whole + 1] * place


def stream(n: int, metric: str) -> dict[str, float]:
    """Decide on a stream in two passes; return times and peak memory."""
    times = [time.perf_counter()]
    for _ in generated(n):
        pass
    times.append(time.perf_counter())
    summary = bestcut.streams.ScoreSummary()
    for chunk in generated(n):
        summary.update(chunk)
    times.append(time.perf_counter())
    bracket = summary.bracket(metric)
    times.append(time.perf_counter())
    inside = np.concatenate([bracket.select(chunk) for chunk in generated(n)])
    times.append(time.perf_counter())
    cut = bracket.refine(inside)
    times.append(time.perf_counter())
    made, first, search, second, refine = np.diff(times).tolist()
    return {
        "made": made,
        "first": first - made,
        "search": search,
        "second": second - made,
        "refine": refine,
        "wanted": float(inside.size),
        "bytes": float(len(summary.to_bytes())),
        "expected_score": cut.expected_score,
        "error": cut.error,
        "gap": bracket.upper_bound - bracket.lower_bound,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0,
    }


def streams(sizes: list[int]) -> Iterator[list[str]]:
    """Streams of several lengths, each in a process of its own."""
    for n in sizes:
        command = [sys.executable, __file__, "--stream", str(n)]
        done = subprocess.run(
            command, check=True, capture_output=True, encoding="utf-8"
        )
        found = json.loads(done.stdout)
        per_score = [1e9 * found[name] / n for name in ("made", "first", "second")]
        yield [
            f"{n:,}",
            *(f"{x:.1f} ns" for x in per_score),
            f"{1e3 * (found['search'] + found['refine']):.0f} ms",
            f"{found['wanted']:,.0f}",
            f"{found['gap']:.1e}",
            f"{found['bytes'] / 1e6:.2f} MB",
            f"{found['peak'] / 2**20:.0f} MiB",
        ]


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--stream", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help="folder of the page")
    arguments = parser.parse_args()
    if arguments.stream:
        print(json.dumps(stream(arguments.stream, "f1")))
        return
    today = dt.date.today().isoformat()
    out = arguments.out or folder_of_today()
    quick = arguments.quick
    lines = [f"# Decisions without sorting: measured on {today}", ""]
    head = ["n", "metric", "solver", "decide", "ratio to argsort", "at most", "kept"]
    lines += ["## decide, Beta(0.3, 3)", ""]
    lines += table(head, ratios([10**6] if quick else [10**6, 10**7]))
    lines += ["## decide, 20 expected positives", ""]
    lines += table(head, rare(10**6 if quick else 10**7))
    lines += ["## A stream in two passes, one core, F1", ""]
    head = ["scores", "made", "first pass", "second pass", "search and cut"]
    head += ["in the bracket", "bounds apart", "summary", "peak memory"]
    lines += table(head, streams([10**7] if quick else [10**7, 10**8, 10**9]))
    out.mkdir(parents=True, exist_ok=True)
    (out / "any_size.md").write_text("\n".join(lines), encoding="utf-8")
    say(f"done: {out / 'any_size.md'}")


if __name__ == "__main__":
    main()
