"""How long what is not a plain decision takes: a table of targets.

    python benchmarks/search.py [--quick] [--out DIR]

Writes DIR/search.md, and in it the largest gaps and errors that decisions state. Times
are medians in one run on one core, and `np.argsort` on the same array is timed beside
them. `sizes.py` has plain decisions.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.util
import time
from pathlib import Path

import numpy as np
from peers import PEERS
from results import folder_of_today
from run import STEP, say
from workloads import LAWS, probabilities

import bestcut
from bestcut.metrics import from_expression

NAMES = bestcut.metrics.names()
TVERSKY = from_expression("tp/(tp+0.3*fp+0.7*fn) + 0*sqrt(tp)", name="tversky")


def median_time(call, repeats: int) -> float:
    """Return the median time of some calls in a row, after one that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def largest_gaps(sizes: list[int]) -> list[tuple[str, float, float]]:
    """Return the largest gap and error of any catalogue metric, for every law."""
    rows = []
    for law in LAWS:
        decisions = [
            bestcut.decide(probabilities(law, n), name) for n in sizes for name in NAMES
        ]
        gap, error = (max(getattr(d, x) for d in decisions) for x in ("gap", "error"))
        say(f"{law}: largest gap {gap:.1e}, largest error {error:.1e}")
        rows.append((law, gap, error))
    return rows


def once(call) -> float:
    """Return the time of a single call, after a small one has warmed things up."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def others(quick: bool) -> list[tuple[str, str, float, str]]:
    """Time what is not a plain decision: what, how long, the target, in which unit."""
    rows = []
    large = 10**5 if quick else 10**6

    def add(what: str, measured: float, target: float, unit: str) -> None:
        say(f"{what}: {measured:.3g} {unit} (target {target:g})")
        rows.append((what, f"{measured:.3g}", target, unit))

    rankseg = next(peer for peer in PEERS if peer.name == "rankseg RMA")
    if importlib.util.find_spec("rankseg"):
        for n in (4096, 10**4, 10**5) if quick else (4096, 10**4, 10**5, 10**6):
            q = probabilities("skewed", n)
            measured = median_time(lambda q=q: bestcut.decide(q, "f1"), 9)
            measured /= median_time(lambda q=q: rankseg.choose(q, "f1"), 9)
            add(f"f1, n = {n:,}", measured, 3, "x rankseg RMA")
    p = probabilities("skewed", large)
    sort = median_time(lambda: np.argsort(p), 5)
    for name, target in (("f1", 1.2), ("mcc", 1.2), ("jaccard", 3), ("gmean", 4)):
        decision = bestcut.decide(p, name)
        measured = once(lambda d=decision: d.curve) / sort
        add(f"`.curve` of {name}, n = {large:,}", measured, target, "x argsort")
    for n in (large,) if quick else (large, 10**7):
        rare = probabilities("rare", n)
        sort = median_time(lambda rare=rare: np.argsort(rare), 3)
        for name in ("f1", "mcc", "jaccard", "gmean", "qmean_sqrt"):
            seconds = median_time(
                lambda rare=rare, name=name: bestcut.decide(rare, name), 3
            )
            add(f"20 expected in {n:,}, {name}", seconds / sort, 3, "x argsort")
    tiny = np.full(large, 20 / large)
    add(
        f"{large:,} equal tiny probabilities, a formula",
        once(lambda: bestcut.decide(tiny, TVERSKY)),
        1,
        "s",
    )
    rng = np.random.default_rng(0)
    add(
        "`decide_each`, 1,000 x 999, gmean",
        once(lambda: bestcut.decide_each(rng.beta(0.3, 3, (1000, 999)), "gmean")),
        5,
        "s",
    )
    groups = rng.choice(3000, large, p=rng.dirichlet(np.ones(3000)))
    scores = rng.beta(0.3, 3, large)
    add(
        f"3,000 uneven groups of {large:,} rows, f1",
        once(lambda: bestcut.decide_each(scores, "f1", groups=groups)),
        2,
        "s",
    )
    goal = bestcut.goals.Quantile(0.05)
    for n, target in ((10**3, 0.02), (10**4, 0.05), (10**5, 0.3)):
        q = probabilities("skewed", n)
        seconds = median_time(lambda q=q: bestcut.decide(q, "f1", goal=goal), 3)
        add(f"`Quantile(.05)`, n = {n:,}", seconds, target, "s")
    decision = bestcut.decide(p, "f1")
    _ = decision._prediction
    add(
        f"`interval(.9)`, n = {large:,}",
        once(lambda: decision.distribution().interval(0.9)),
        0.1,
        "s",
    )
    steps = probabilities("skewed", 10**4)
    add(
        "a callable with steps, n = 10,000",
        once(lambda: bestcut.decide(steps, STEP)),
        3,
        "s",
    )
    return rows


def write(more: list, gaps: list, out: Path) -> None:
    """Write the page."""
    lines = [
        "# What is not a plain decision, and what is stated",
        "",
        f"{dt.date.today():%Y-%m-%d}, one core. `sizes.py` times decisions.",
        "",
        "| what | measured | target |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {what} | {x} {unit} | {y:g} {unit} |" for what, x, y, unit in more]
    lines += [
        "",
        "## What is stated",
        "",
        "Over every catalogue metric and sizes from 10 on.",
        "",
        "| law | largest gap | largest error |",
        "| --- | --- | --- |",
        *(f"| {law} | {gap:.1e} | {error:.1e} |" for law, gap, error in gaps),
    ]
    (out / "search.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--out", type=Path, help="folder of the report")
    arguments = parser.parse_args()
    out = arguments.out or folder_of_today()
    out.mkdir(parents=True, exist_ok=True)
    sizes = [10, 30, 100, 300, 1000, 2000, 4096, 10_000, 30_000, 10**5]
    if not arguments.quick:
        sizes += [300_000, 10**6, 10**7]
    write(others(arguments.quick), largest_gaps(sizes), out)


if __name__ == "__main__":
    main()
