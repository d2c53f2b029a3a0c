"""Time and memory of decisions over draws, beside those for known probabilities.

    python benchmarks/mixtures.py [--quick] [--out DIR]

Writes DIR/mixtures.md. A calibration from ten thousand labels gives 200 draws of the
probabilities of a batch; `decide` on them, the calibration of the scores included,
stands beside `decide` on the scores themselves, in the same run. Times are medians of
interleaved calls; memory is the peak of what NumPy and Python ask for.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from results import folder_of_today
from run import say

import bestcut

METRICS = (
    "f1",
    "jaccard",
    "mcc",
    "balanced_accuracy",
    "gmean",
    "accuracy",
    "precision",
)
SIZES = (30, 300, 3000, 30_000, 100_000, 300_000, 1_000_000)
LABELS = (100, 1000, 10_000, 100_000, 1_000_000)


def scores(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and probabilities of a model that is not quite calibrated."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    return y, 1 / (1 + np.exp(-(rng.normal(size=n) + 2.5 * y - 2)))


def interleaved(calls: list[Callable[[], object]], repeats: int) -> list[float]:
    """Return the median time of each of some calls, taken in turn."""
    times: list[list[float]] = [[] for _ in calls]
    for turn in range(repeats + 1):
        for call, kept in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            if turn:
                kept.append(time.perf_counter() - start)
    return [float(np.median(kept)) for kept in times]


def peak(call: Callable[[], object]) -> int:
    """Return how many bytes a call asks for at most."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def decisions(sizes: tuple[int, ...], repeats: int) -> Iterator[list[str]]:
    """Yield a row for each size and metric."""
    calibration = bestcut.calibrate(*scores(10_000, 0))
    low, high = calibration.score_range
    for n in sizes:
        new = np.clip(scores(n, 1)[1], low, high)
        for metric in METRICS:
            say(f"n = {n}, {metric}")

            def drawn(new=new, metric=metric):
                return bestcut.decide(calibration(new), metric)

            def plain(new=new, metric=metric):
                return bestcut.decide(new, metric)

            mine, other = interleaved([drawn, plain], repeats)
            memory = peak(drawn)
            gap = drawn().gap
            yield [
                f"{n:,}",
                metric,
                f"{1e3 * mine:.0f} ms",
                f"{1e3 * other:.1f} ms",
                f"{mine / other:.0f}",
                f"{memory / 1e6:.0f} MB",
                f"{memory / (8 * n):.1f}",
                f"{gap:.0e}",
            ]


def calibrations(labels: tuple[int, ...], repeats: int) -> Iterator[list[str]]:
    """Yield the time of `calibrate` by the number of labels."""
    for m in labels:
        say(f"calibrate, m = {m}")
        y, s = scores(m, 2)
        seconds = interleaved([lambda y=y, s=s: bestcut.calibrate(y, s)], repeats)[0]
        memory = peak(lambda y=y, s=s: bestcut.calibrate(y, s))
        yield [f"{m:,}", f"{seconds:.2f} s", f"{memory / 1e6:.0f} MB"]


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(
        "| " + " | ".join(r) + " |" for r in [head, ["---"] * len(head), *rows]
    )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    default = folder_of_today()
    parser.add_argument("--out", type=Path, default=default)
    given = parser.parse_args()
    sizes, labels, repeats = SIZES, LABELS, 3
    if given.quick:
        sizes, labels, repeats = SIZES[:3], LABELS[:2], 1
    head = ["n", "metric", "200 draws", "known", "ratio", "memory", "of input", "gap"]
    text = "\n\n".join(
        [
            "# Decisions over draws",
            "`decide` on 200 draws of the probabilities, with the calibration of the "
            "scores, against `decide` on the scores as if they were known: medians of "
            "interleaved calls in one run. Memory is the peak beyond what was held "
            "before, also as a multiple of the scores.",
            table(head, list(decisions(sizes, repeats))),
            "## `calibrate`",
            table(["labels", "time", "memory"], list(calibrations(labels, repeats))),
        ]
    )
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "mixtures.md").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
