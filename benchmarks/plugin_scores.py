"""How wrong is a score that is computed from expected counts?

    python benchmarks/plugin_scores.py [--quick] [--out DIR]

The expected confusion matrix can be put into the formula of a metric: NannyML's CBPE
estimates F1, precision and recall like this, and it is the ratio of expected counts
where the expected ratio is wanted. Here that plug-in score, the exact one and a
simulation are held against each other for batches from 10 to 100,000 instances and for
positives from common to rare. Writes DIR/plugin_scores.csv and DIR/plugin_scores.md in
about a minute. Needs bestcut alone.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import time
from pathlib import Path

import numpy as np
from results import folder_of_today

import bestcut

METRICS = ("f1", "recall", "precision", "mcc", "gmean")
MEANS = (0.5, 0.1, 0.01, 0.001)
SIZES = (10, 30, 100, 1000, 10_000, 100_000)
SHAPE = 0.3  # of the Beta law: most probabilities are small, a few large
DRAWS_OF_LABELS = 100_000_000  # single labels drawn for one batch, at most
LARGEST_SIMULATION = 200_000  # batches of labels, at most
AT_A_TIME = 4_000_000


def say(text: str) -> None:
    """Print progress with the time."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def batch(mean: float, n: int, seed: int) -> np.ndarray:
    """Return n probabilities from the Beta law of that mean."""
    rng = np.random.default_rng([seed, n, round(1000 * mean)])
    return rng.beta(SHAPE, SHAPE * (1 - mean) / mean, size=n)


def predictions(p: np.ndarray) -> dict[str, np.ndarray]:
    """Return what is scored: the best labels for F1, and the threshold 0.5."""
    return {"best F1": bestcut.decide(p, "f1").labels, "p >= 0.5": p >= 0.5}


def plug_in(p: np.ndarray, labels: np.ndarray, metric: str) -> float:
    """Return the metric of the expected counts."""
    tp, n_pos = p[labels].sum(), p.sum()
    value = bestcut.metrics.get(metric)(
        tp=tp, n_pred=float(labels.sum()), n_pos=n_pos, n=float(p.size)
    )
    return float(value)


def simulated(
    p: np.ndarray, chosen: dict[str, np.ndarray], rng: np.random.Generator
) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the mean score over drawn labels and its standard error."""
    n = p.size
    size = min(LARGEST_SIMULATION, DRAWS_OF_LABELS // n)
    sides = np.stack(list(chosen.values()), axis=1).astype(np.float32)
    step = max(AT_A_TIME // n, 1)
    tp, n_pos = [], []
    for start in range(0, size, step):
        y = rng.random((min(step, size - start), n)) < p
        tp.append((y.astype(np.float32) @ sides).astype(np.float64))
        n_pos.append(np.count_nonzero(y, axis=1))
    tps, positives = np.concatenate(tp), np.concatenate(n_pos).astype(np.float64)
    results = {}
    for j, (who, labels) in enumerate(chosen.items()):
        for metric in METRICS:
            scores = bestcut.metrics.get(metric)(
                tp=tps[:, j],
                n_pred=np.full(size, float(labels.sum())),
                n_pos=positives,
                n=np.full(size, float(n)),
            )
            results[who, metric] = (
                float(np.mean(scores)),
                float(np.std(scores, ddof=1) / np.sqrt(size)),
            )
    return results


def measure(mean: float, n: int, draws: int) -> list[dict]:
    """Return a row for each prediction and metric: means over batches."""
    gaps: dict[tuple[str, str], list[tuple[float, float]]] = {}
    checked: dict[tuple[str, str], tuple[float, float]] = {}
    without = []
    for seed in range(draws):
        p = batch(mean, n, seed)
        chosen = predictions(p)
        without.append(np.prod(1 - p))
        if seed == 0:
            rng = np.random.default_rng([seed, n, round(1000 * mean), 1])
            checked = simulated(p, chosen, rng)
        for who, labels in chosen.items():
            exact = bestcut.expected_score(p, labels, list(METRICS))
            for metric in METRICS:
                value = plug_in(p, labels, metric), exact[metric]
                gaps.setdefault((who, metric), []).append(value)
    rows = []
    for (who, metric), values in gaps.items():
        guess, exact = np.array(values).T
        found, error = checked[who, metric]
        rows.append(
            {
                "mean_probability": mean,
                "n": n,
                "labels": who,
                "metric": metric,
                "batches": draws,
                "no_positive": np.mean(without),
                "exact": exact.mean(),
                "plug_in": guess.mean(),
                "bias": (guess - exact).mean(),
                "worst_bias": (guess - exact)[np.argmax(np.abs(guess - exact))],
                "first_exact": exact[0],
                "first_plug_in": guess[0],
                "first_simulated": found,
                "first_standard_error": error,
            }
        )
    return rows


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def small(value: float) -> str:
    """Write a bias: two digits, rounding errors as 0."""
    if abs(value) < 1e-12:
        return "0"
    return f"{value:+.3f}" if abs(value) >= 0.001 else f"{value:+.0e}"


def bias_tables(rows: list[dict], who: str) -> str:
    """Return, for each metric, the bias by size and rarity."""
    parts = []
    for metric in METRICS:
        found = {
            (row["n"], row["mean_probability"]): row
            for row in rows
            if row["labels"] == who and row["metric"] == metric
        }
        sizes = sorted({n for n, _ in found})
        lines = []
        for mean in MEANS:
            cells = [found[n, mean] for n in sizes]
            if not any(row["exact"] for row in cells):
                continue
            lines.append(
                [f"{mean:g}"]
                + [f"{small(row['bias'])} ({row['exact']:.3f})" for row in cells]
            )
        parts.append(f"**{bestcut.metrics.get(metric).label}**\n")
        parts.append(table(["mean p", *(f"n = {n:,}" for n in sizes)], lines))
    return "\n".join(parts)


def simulation_table(rows: list[dict]) -> str:
    """Return how often each score is within its simulation, in standard errors."""
    usable = [row for row in rows if row["first_standard_error"] > 0]
    lines = []
    for name, key in (("exact", "first_exact"), ("plug-in", "first_plug_in")):
        z = np.array(
            [
                (row["first_simulated"] - row[key]) / row["first_standard_error"]
                for row in usable
            ]
        )
        lines.append(
            [
                name,
                f"{np.mean(np.abs(z) <= 2):.0%}",
                f"{np.mean(np.abs(z) > 5):.0%}",
                f"{np.max(np.abs(z)):,.1f}",
            ]
        )
    head = ["score", "within 2", "more than 5 off", "largest"]
    return f"{len(usable)} cases of metric, labels, size and rarity:\n\n" + table(
        head, lines
    )


def nothing_table(rows: list[dict]) -> str:
    """Return the probability that a batch has no positive."""
    found = {(row["mean_probability"], row["n"]): row["no_positive"] for row in rows}
    sizes = sorted({n for _, n in found})
    return table(
        ["mean p", *(f"n = {n:,}" for n in sizes)],
        [
            [
                f"{m:g}",
                *(f"{found[m, n]:.2g}" if found[m, n] > 1e-9 else "0" for n in sizes),
            ]
            for m in MEANS
        ],
    )


def decay_table(rows: list[dict]) -> str:
    """Return n times the bias of F1, which is constant where the bias is like 1/n."""
    found = {
        (row["mean_probability"], row["n"]): row["n"] * row["bias"]
        for row in rows
        if row["labels"] == "best F1" and row["metric"] == "f1"
    }
    sizes = sorted({n for _, n in found})
    return table(
        ["mean p", *(f"n = {n:,}" for n in sizes)],
        [[f"{m:g}", *(f"{found[m, n]:.2g}" for n in sizes)] for m in MEANS],
    )


def write(rows: list[dict], out: Path, date: str) -> None:
    """Write the CSV and the Markdown page."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / "plugin_scores.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {
                    key: f"{value:.9g}" if isinstance(value, float) else value
                    for key, value in row.items()
                }
            )
    text = f"""# Scores from expected counts, {date}

`python benchmarks/plugin_scores.py` made this page; all numbers are in
`plugin_scores.csv`.

The plug-in score puts expected counts into the formula of the metric, as NannyML's
CBPE does; the exact score is `bestcut.expected_score`. Each cell is **plug-in minus
exact, and the exact score in brackets**, both means over 20 batches (5 from n = 10,000
on) of probabilities from Beta({SHAPE}, {SHAPE} (1 - m)/m), whose mean is m. 0/0 counts
as 0.

## Labels with the best expected F1

{bias_tables(rows, "best F1")}
The bias of F1 times n: constant along a row where the bias falls like 1/n.

{decay_table(rows)}
Precision divides by the number of predicted positives, which is known: its plug-in is
exact. Recall and G-mean divide by the number of positives. If there is none they are
0/0, counted as 0, and the plug-in ignores this. Where positives are rare, this causes
nearly all of the bias of recall, which is thus a matter of convention. The bias that
the root in G-mean adds is not. The probability that a batch has no positive:

{nothing_table(rows)}
## Labels by the threshold 0.5

{bias_tables(rows, "p >= 0.5")}
At the two smaller means nothing reaches 0.5: nothing is flagged, every score is 0, and
so is its plug-in.

## Against simulation

Labels were drawn for the first batch of each case, up to {LARGEST_SIMULATION:,} times.
Distance of both scores from the simulated mean, in its standard errors:

{simulation_table(rows)}
Cases of the same batch share their labels, so they are not independent.
"""
    (out / "plugin_scores.md").write_text(text, encoding="utf-8")


def main() -> None:
    """Measure all cases and write the two files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 1000 instances")
    parser.add_argument("--out", type=Path, help="folder of the two files")
    arguments = parser.parse_args()
    today = dt.date.today().isoformat()
    out = arguments.out or folder_of_today()
    rows = []
    for mean in MEANS:
        for n in SIZES[:4] if arguments.quick else SIZES:
            say(f"mean probability {mean:g}, n = {n:,}")
            rows += measure(mean, n, 20 if n < 10_000 else 5)
    write(rows, out, today)
    say(f"done: {out / 'plugin_scores.md'}")


if __name__ == "__main__":
    main()
