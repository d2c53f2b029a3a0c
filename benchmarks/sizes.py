"""How long decisions take at every size: known probabilities, and draws of them.

    python benchmarks/sizes.py [--quick] [--out DIR]

Writes DIR/sizes.md, DIR/sizes.json and DIR/sizes.png: every metric of the catalogue and
six formulas, of n = 10 to ten million. Times are medians of processor time on one core,
in that of ``np.argsort(x, kind="stable")`` of a million numbers in the same run. Of the
laws that probabilities come from, the slowest counts. Draws are the 200 of `calibrate`
with 500 labels, and mapping the scores is included. A metric is not asked for a size if
the size before took longer than `LONGEST`.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import matplotlib as mpl
from results import folder_of_today

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from run import say

import bestcut
from bestcut.metrics import from_counts, from_expression, from_rates
from report import table

LAWS = {
    "beta(.5, 3)": (0.5, 3.0),
    "beta(.3, 3)": (0.3, 3.0),
    "beta(.5, 20)": (0.5, 20.0),
}
FORMULAS = {
    "tversky": from_expression("tp/(tp + 0.3*fp + 0.7*fn)", name="tversky"),
    "log1p": from_counts(
        lambda tp, fp, fn, tn: np.log1p(tp) - np.log1p(fp + fn), "log1p"
    ),
    "tanh": from_rates(lambda tpr, tnr, p: np.tanh(3 * tpr) + tnr, "tanh"),
    "least rate": from_expression("min(tp/(tp + fn), tn/(tn + fp))", name="least rate"),
    "least rate, as rates": from_rates(
        lambda tpr, tnr, p: np.minimum(tpr, tnr), "least rate, as rates"
    ),
    "counting": from_expression("1 - abs(n_pred - n_pos)/n", name="counting"),
}
METRICS = {
    name: bestcut.metrics.get(name) for name in bestcut.metrics.names()
} | FORMULAS
KNOWN = [
    10,
    30,
    100,
    300,
    *(10**i * m for i in (3, 4, 5) for m in (1, 3)),
    10**6,
    10**7,
]
LONGEST = 30.0  # units
Rows = list[dict[str, object]]


def seconds_of(call: Callable[[], object], repeats: int) -> float:
    """Return the median processor time of some calls, after one that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return float(np.median(times))


def unit() -> float:
    """Return what everything is measured in."""
    x = np.random.default_rng(0).random(10**6)
    return seconds_of(lambda: np.argsort(x, kind="stable"), 5)


def scores(law: str, n: int, seed: int = 1) -> np.ndarray:
    """Return n probabilities of a law."""
    return np.random.default_rng([seed, n]).beta(*LAWS[law], size=n)


def labelled(m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, and probabilities that are right."""
    p = scores("beta(.5, 3)", m, seed=0)
    return np.random.default_rng(0).random(m) < p, p


def times(
    kind: str, sizes: list[int], decide: Callable[[np.ndarray, object], object]
) -> Rows:
    """Time every metric at every size, in units: the slowest of all laws."""
    rows: Rows = []
    for name, metric in METRICS.items():
        one, worst = unit(), 0.0
        for n in sizes:
            if worst > LONGEST:
                say(f"{kind}, {name}: {n:,} and more left out")
                break
            repeats = 9 if worst < 0.5 else 3 if worst < 5.0 else 1
            each = {}
            for law in LAWS:
                call = partial(decide, scores(law, n), metric)
                each[law] = seconds_of(call, repeats) / one
            law = max(each, key=lambda x: each[x])
            worst = each[law]
            rows.append(
                {"of": kind, "metric": name, "n": n, "units": worst, "law": law}
            )
        own = [f"{row['units']:.3g}" for row in rows if row["metric"] == name]
        say(f"{kind}, {name}: {', '.join(own)}")
    return rows


def around(calibration: bestcut.Calibration, sizes: list[int]) -> list[list[str]]:
    """Time what stands around a decision: a row for each."""
    one, rows = unit(), []

    def add(what: str, call: Callable[[], object]) -> None:
        rows.append([what, f"{seconds_of(call, 3) / one:.3g}"])
        say(": ".join(rows[-1]))

    for m in (60, 500, 3000):
        add(f"`calibrate`, {m:,} labels", partial(bestcut.calibrate, *labelled(m)))
    for n in sizes:
        p = np.clip(scores("beta(.5, 3)", n), *calibration.score_range)
        drawn = bestcut.decide(calibration(p), "f1")
        add(f"`calibration(scores)`, {n:,}", partial(calibration, p))
        add(
            f"`interval(.9)` after a decision with draws, {n:,}",
            lambda drawn=drawn: drawn.distribution().interval(0.9),
        )
        for name in ("f1", "jaccard", "gmean"):
            add(
                f"`decide` and the whole curve of {name}, {n:,}",
                lambda p=p, name=name: bestcut.decide(p, name).curve,
            )
    return rows


def draw(rows: Rows, path: Path) -> None:
    """Draw time against n, a line for each metric; the slowest are named."""
    figure, both = plt.subplots(
        1, 2, figsize=(11, 5), sharey=True, layout="constrained"
    )
    for axes, kind in zip(both, ("known", "drawn"), strict=True):
        for name in METRICS:
            line = [r for r in rows if r["of"] == kind and r["metric"] == name]
            style = "--" if name in FORMULAS else "-"
            axes.loglog(*([r[x] for r in line] for x in ("n", "units")), style, lw=1)
            if line and line[-1]["units"] > 2.0:
                axes.annotate(name, (line[-1]["n"], line[-1]["units"]), fontsize=7)
        axes.axhline(1.0, color="black", lw=0.5)
        axes.set(title=f"{kind} probabilities", xlabel="instances")
        axes.grid(alpha=0.3)
    both[0].set_ylabel("time, in stable sorts of a million numbers")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def by_metric(rows: Rows, kind: str) -> str:
    """Return a table with a row for each metric and a column for each size."""
    of_kind = [r for r in rows if r["of"] == kind]
    sizes = sorted({r["n"] for r in of_kind})
    found = {(r["metric"], r["n"]): f"{r['units']:.3g}" for r in of_kind}
    cells = [[name, *(found.get((name, n), "-") for n in sizes)] for name in METRICS]
    return table(["metric", *(f"{n:,}" for n in sizes)], cells)


def main() -> None:
    """Run, and write the page, the numbers and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=folder_of_today())
    given = parser.parse_args()
    known = [10, 100] if given.quick else KNOWN
    drawn = [10, 30] if given.quick else [n for n in KNOWN if n <= 10**6]
    calibration = bestcut.calibrate(*labelled(500))
    low, high = calibration.score_range
    rows = times("known", known, bestcut.decide)
    rows += times(
        "drawn",
        drawn,
        lambda p, m: bestcut.decide(calibration(np.clip(p, low, high)), m),
    )
    given.out.mkdir(parents=True, exist_ok=True)
    draw(rows, given.out / "sizes.png")
    text = json.dumps(rows, indent=1)
    (given.out / "sizes.json").write_text(text + "\n", encoding="utf-8")
    parts = [
        f"# Time by size, {dt.date.today()}",
        'Processor time of `decide`, in that of `np.argsort(x, kind="stable")` of a '
        f"million numbers ({1e3 * unit():.0f} ms here): medians, the slowest of "
        f"{', '.join(LAWS)}. A size is left out if the one before took more than "
        f"{LONGEST:g}.",
        "![time against n](sizes.png)",
        "## Known probabilities",
        by_metric(rows, "known"),
        "## 200 draws from `calibrate` with 500 labels, mapping the scores included",
        by_metric(rows, "drawn"),
        "## Around it",
        table(["what", "time"], around(calibration, drawn[1:])),
    ]
    (given.out / "sizes.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
