"""Time what is said about scores before labels: expectations, intervals, goals.

    python benchmarks/scores.py [--quick] [--out DIR]

Writes DIR/scores.md. Times are medians; those of `expected_score` stand beside
``np.sum(y_proba[y_pred])`` in the same run, the least that any answer has to read.
"""

from __future__ import annotations

import argparse
import datetime as dt
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from results import folder_of_today
from run import median_time, say
from workloads import probabilities

import bestcut
from bestcut.goals import ProbAtLeast, Quantile

METRICS = ("f1", "mcc", "balanced_accuracy", "jaccard", "gmean")


def expectations(n: int) -> Iterator[list[str]]:
    """`expected_score` of labels that are no cut of the ranking."""
    p = probabilities("skewed", n)
    labels = np.random.default_rng(0).random(n) < p  # no cut of the ranking
    least = median_time(lambda: np.sum(p[labels]), 9)
    for metric in METRICS:
        call = lambda metric=metric: bestcut.expected_score(p, labels, metric)  # noqa: E731
        seconds = median_time(call, 9)
        limit = 2 * least + 0.1
        kept = "yes" if seconds <= limit else "**no**"
        yield [
            f"{n:,}",
            metric,
            f"{1e3 * seconds:.1f} ms",
            f"{1e3 * least:.1f} ms",
            f"{1e3 * limit:.0f} ms",
            kept,
        ]


def intervals(sizes: list[int]) -> Iterator[list[str]]:
    """`score_distribution(...).interval(0.9)` from nothing."""
    for law in ("balanced", "skewed", "rare"):
        for n in sizes:
            p = probabilities(law, n)
            labels = bestcut.decide(p).labels
            times = []
            for metric in METRICS:

                def call(p=p, labels=labels, metric=metric):
                    score = bestcut.score_distribution(p, labels, metric)
                    return score.interval(0.9)

                times.append(f"{1e3 * median_time(call, 3):.0f} ms")
            yield [law, f"{n:,}", *times]


def goals(sizes: list[int]) -> Iterator[list[str]]:
    """`decide` with a goal beyond the mean, beside `decide` without one."""
    for law in ("skewed", "rare"):
        for n in sizes:
            p = probabilities(law, n)
            for metric in ("f1", "mcc"):
                plain = bestcut.decide(p, metric)
                target = plain.distribution().ppf(0.3)
                row = [law, f"{n:,}", metric]
                for goal in (None, Quantile(0.1), ProbAtLeast(target)):
                    options = {} if goal is None else {"goal": goal}
                    start = time.perf_counter()
                    bestcut.decide(p, metric, **options)
                    row.append(f"{time.perf_counter() - start:.3g} s")
                yield row


def table(header: list[str], rows: Iterator[list[str]]) -> list[str]:
    """Return a Markdown table, saying each row as it comes."""
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    for row in rows:
        say(", ".join(row))
        lines.append(f"| {' | '.join(row)} |")
    return [*lines, ""]


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--out", type=Path, help="folder of the page")
    arguments = parser.parse_args()
    today = dt.date.today().isoformat()
    out = arguments.out or folder_of_today()
    sizes = [10**e for e in range(2, 5 if arguments.quick else 7)]
    lines = [f"# Scores before labels: times of {today}", ""]
    lines += ["## expected_score of arbitrary labels", ""]
    lines += table(
        ["n", "metric", "expected_score", "np.sum(p[labels])", "target", "kept"],
        expectations(sizes[-1]),
    )
    lines += ["## score_distribution(...).interval(0.9)", ""]
    lines += table(["law", "n", *METRICS], intervals(sizes))
    lines += ["## decide with a goal", ""]
    header = ["law", "n", "metric", "Mean()", "Quantile(0.1)", "ProbAtLeast(c)"]
    lines += table(header, goals(sizes[:-1]))
    out.mkdir(parents=True, exist_ok=True)
    (out / "scores.md").write_text("\n".join(lines), encoding="utf-8")
    say(f"done: {out / 'scores.md'}")


if __name__ == "__main__":
    main()
