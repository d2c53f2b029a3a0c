"""Measure bestcut against np.argsort, the paper's algorithms and its peers.

    python benchmarks/run.py [--quick] [--out DIR]

Prints its progress and writes DIR/report.md, DIR/results.json and two pictures. Every
time is a ratio of medians within this one run.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gc
import json
import os
import platform
import time
import tracemalloc
from pathlib import Path

import numpy as np
from peers import Peer, installed
from results import folder_of_today
from workloads import LAWS, isotonic, probabilities

import bestcut
from bestcut.counts import poisson_binomial_window
from bestcut.metrics import Metric, Trait
from bestcut.reference import ALGORITHMS
from report import write_report


def smooth_custom(tp, fp, fn, tn):
    """Tversky's index with a cost for alarms: no structure is declared."""
    return tp / (tp + 0.3 * fp + 0.7 * fn) - 0.1 * (tp + fp) / (tp + fp + fn + tn)


CUSTOM = bestcut.metrics.from_counts(
    smooth_custom, "custom, smooth", zero_division=0.0, smooth=True
)
STEP = bestcut.metrics.from_counts(
    lambda tp, fp, fn, tn: 1.0 * (tp >= 0.6 * (tp + fn)) - 0.1 * fp / (fp + tn + 1),
    "custom, steps",
)
METRICS: dict[str, str | Metric] = {
    "f1": "f1",
    "jaccard": "jaccard",
    "mcc": "mcc",
    "gmean": "gmean",
    "custom": CUSTOM,
}
LONGEST = 20.0  # seconds a single call may be expected to take


def say(text: str) -> None:
    """Print progress with the time."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def median_time(call, repeats: int) -> float:
    """Return the median time of some calls, after one that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def peak_memory(call) -> int:
    """Return the largest number of bytes a call held at once."""
    gc.collect()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def exact_at(p: np.ndarray, labels: np.ndarray, metric: str | Metric) -> float:
    """E[metric] of given labels from two exact windowed laws: slow and simple."""
    metric = bestcut.metrics.get(metric)
    inside = poisson_binomial_window(p[labels], tail=1e-18)
    outside = poisson_binomial_window(p[~labels], tail=1e-18)
    total = 0.0
    k, n = float(labels.sum()), float(p.size)
    for a, weight in zip(inside.counts, inside.pmf, strict=True):
        score = metric.score(a, k, a + outside.counts, n)
        total += weight * float(np.broadcast_to(score, outside.pmf.shape) @ outside.pmf)
    return total


def speed(sizes: list[int], repeats: int) -> list[dict]:
    """Time, memory and stated error of decide() for every law, metric and size."""
    rows = []
    for law in LAWS:
        last: dict[str, float] = {}
        for n in sizes:
            p = probabilities(law, n)
            say(f"speed: {law}, n = {n:,}")
            few = repeats if n < 10**7 else 3
            sort = median_time(lambda p=p: np.argsort(p), few)
            for name, metric in METRICS.items():
                if last.get(name, 0.0) * 12 > LONGEST:
                    say(f"  {name} left out: the size before took {last[name]:.1f} s")
                    continue
                call = lambda p=p, metric=metric: bestcut.decide(p, metric)  # noqa: E731
                seconds = median_time(call, few)
                last[name] = seconds
                decision = call()
                rows.append(
                    {
                        "law": law,
                        "n": n,
                        "metric": name,
                        "seconds": seconds,
                        "argsort": sort,
                        "ratio": seconds / sort,
                        "memory": peak_memory(call) / p.nbytes,
                        "n_positive": decision.n_positive,
                        "expected_score": decision.expected_score,
                        "error": decision.error,
                    }
                )
    return rows


def accuracy(sizes: list[int]) -> list[dict]:
    """Largest error over the whole curve against `cubic`; one value for large n."""
    rows = []
    for law in LAWS:
        for n in sizes:
            say(f"accuracy: {law}, n = {n:,}")
            p = probabilities(law, n)
            for name, metric in METRICS.items():
                decision = bestcut.decide(p, metric)
                if n <= 400:
                    curve = decision.curve
                    truth = ALGORITHMS["cubic"].curve(np.sort(p)[::-1], decision.metric)
                    gap = np.max(np.abs(curve.expected_score - truth.expected_score))
                    bound, against = curve.error, "cubic, whole curve"
                else:
                    truth = exact_at(p, decision.labels, decision.metric)
                    gap = abs(decision.expected_score - truth)
                    bound, against = decision.error, "two exact laws, best cut"
                rows.append(
                    {
                        "law": law,
                        "n": n,
                        "metric": name,
                        "error": float(gap),
                        "bound": bound,
                        "against": against,
                    }
                )
    return rows


def paper_algorithms(quick: bool) -> dict:
    """Measure the paper's two algorithms: times, exponents, memory."""
    out: dict = {}
    for solver, name, sizes in (
        ("quadratic", "f1", [1000, 2000, 4000, 8000]),
        ("cubic", "gmean", [50, 100, 200, 400]),
        ("cubic", "gmean", [200, 400, 800]),
    ):
        sizes = sizes[:3] if quick else sizes
        say(f"the paper's {solver} algorithm at n = {sizes}")
        metric = bestcut.metrics.get(name)
        seconds = []
        for n in sizes:
            eta = np.sort(probabilities("skewed", n))[::-1]
            call = lambda eta=eta, s=solver, m=metric: ALGORITHMS[s].curve(eta, m)  # noqa: E731
            seconds.append(median_time(call, 3))
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        out[f"{solver} {sizes[0]}-{sizes[-1]}"] = {
            "n": sizes,
            "seconds": seconds,
            "exponent": float(slope),
        }
    p = probabilities("skewed", 5000)
    eta = np.sort(p)[::-1]
    f1 = bestcut.metrics.get("f1")
    out["quadratic memory at 5000, MB"] = (
        peak_memory(lambda: ALGORITHMS["quadratic"].curve(eta, f1)) / 1e6
    )
    slow = median_time(lambda: bestcut.decide(p, "f1", solver="quadratic"), 3)
    fast = median_time(lambda: bestcut.decide(p, "f1"), 21)
    out["quadratic / sweep at 5000, f1"] = slow / fast
    return out


def regret(p: np.ndarray, labels: np.ndarray, decision: bestcut.Decision) -> tuple:
    """Return what given labels lose in exact expectation, and what they expect."""
    k = int(labels.sum())
    top = np.sort(p)[::-1][:k]
    if np.array_equal(np.sort(p[labels])[::-1], top):
        own = float(decision.curve.expected_score[k])
    else:
        own = exact_at(p, labels, decision.metric)
    return decision.expected_score - own, own


def against_peers(usable: list[Peer], sizes: list[int], repeats: int) -> list[dict]:
    """Time and exact regret of each peer's choice on the skewed law."""
    rows = []
    for n in sizes:
        p = probabilities("skewed", n)
        sort = median_time(lambda p=p: np.argsort(p), repeats)
        for metric in ("f1", "jaccard"):
            say(f"peers: {metric}, n = {n:,}")
            decision = bestcut.decide(p, metric)
            ours = median_time(
                lambda p=p, metric=metric: bestcut.decide(p, metric), repeats
            )
            rows.append(
                {
                    "n": n,
                    "metric": metric,
                    "who": "bestcut",
                    "seconds": ours,
                    "ratio": ours / sort,
                    "regret": 0.0,
                    "stated_error": decision.error,
                }
            )
            for peer in usable:
                if metric not in peer.metrics or n > peer.largest_n:
                    continue
                labels, stated = peer.choose(p, metric)
                seconds = median_time(
                    lambda p=p, metric=metric, peer=peer: peer.choose(p, metric), 3
                )
                lost, own = regret(p, labels, decision)
                rows.append(
                    {
                        "n": n,
                        "metric": metric,
                        "who": peer.name,
                        "seconds": seconds,
                        "ratio": seconds / sort,
                        "regret": max(lost, 0.0),
                        "stated_error": None if stated is None else stated - own,
                    }
                )
    return rows


SMALL_LAWS = {
    "rare, Beta(.5,20)": (0.5, 20),
    "skewed, Beta(.3,3)": (0.3, 3),
    "confident, Beta(.05,1)": (0.05, 1),
    "balanced, Beta(1,1)": (1, 1),
}


def small_problems(usable: list[Peer], draws: int) -> list[dict]:
    """Mean and worst regret of each peer where few positives are expected."""
    rows = []
    for law, (a, b) in SMALL_LAWS.items():
        for n in (10, 30, 100):
            for tied in (False, True):
                say(f"small problems: {law}, n = {n}{', tied' if tied else ''}")
                losses: dict[tuple[str, str], list[float]] = {}
                for seed in range(draws):
                    rng = np.random.default_rng([seed, n])
                    p = rng.beta(a, b, size=n)
                    if tied:
                        p = isotonic(p)
                    for metric in ("f1", "jaccard"):
                        decision = bestcut.decide(p, metric)
                        choices = {
                            peer.name: peer.choose(p, metric)[0]
                            for peer in usable
                            if metric in peer.metrics
                            and (peer.name != "rankseg TRNA" or seed < 10)
                        }
                        choices["threshold 0.5"] = p > 0.5
                        for who, labels in choices.items():
                            lost = regret(p, labels, decision)[0]
                            losses.setdefault((metric, who), []).append(max(lost, 0.0))
                rows += [
                    {
                        "law": law,
                        "n": n,
                        "tied": tied,
                        "metric": metric,
                        "who": who,
                        "mean": float(np.mean(values)),
                        "worst": float(np.max(values)),
                    }
                    for (metric, who), values in losses.items()
                ]
    return rows


def targets(quick: bool) -> list[dict]:
    """Measure each promise of the project."""
    rows = []

    def add(what: str, measured: float, limit: float, unit: str = "x argsort") -> None:
        say(f"target: {what}: {measured:.3g} {unit} (at most {limit:g})")
        rows.append({"what": what, "measured": measured, "limit": limit, "unit": unit})

    large = 10**5 if quick else 10**6
    p = probabilities("skewed", large)
    sort = median_time(lambda: np.argsort(p), 7)
    for name, limit in (
        ("f1", 2.5),
        ("mcc", 3),
        ("balanced_accuracy", 3),
        ("jaccard", 3),
        ("gmean", 5),
        ("hmean", 5),
        ("qmean", 5),
    ):
        seconds = median_time(lambda name=name: bestcut.decide(p, name), 7)
        add(f"{name}, n = {large:,}", seconds / sort, limit)
    rare = probabilities("rare", large)
    sort = median_time(lambda: np.argsort(rare), 7)
    for name in ("f1", "mcc"):
        seconds = median_time(lambda name=name: bestcut.decide(rare, name), 5)
        add(f"{name}, 20 expected positives in {large:,}", seconds / sort, 10)
    small = probabilities("skewed", 100)
    for name in bestcut.metrics.names():
        metric = bestcut.metrics.get(name)
        limit = 2.0 if metric.traits & {Trait.AFFINE, Trait.FACTORISED} else 6.0
        seconds = median_time(lambda metric=metric: bestcut.decide(small, metric), 21)
        add(f"{name}, n = 100", 1e3 * seconds, limit, "ms")
    ten_thousand = probabilities("skewed", 10**4)
    steps = lambda: bestcut.decide(ten_thousand, STEP)  # noqa: E731
    start = time.perf_counter()
    memory = peak_memory(steps)
    add("custom, steps, n = 10,000", time.perf_counter() - start, 60, "s")
    add("custom, steps, n = 10,000, memory", memory / 2**30, 2, "GiB")
    if not quick:
        p = probabilities("skewed", 10**7)
        sort = median_time(lambda: np.argsort(p), 3)
        seconds = median_time(lambda: bestcut.decide(p, "f1"), 3)
        add("f1, n = 10,000,000", seconds / sort, 2)
        memory = peak_memory(lambda: bestcut.decide(p, "f1"))
        add("f1, n = 10,000,000, memory", memory / p.nbytes, 6, "x input")
    return rows


def main() -> None:
    """Run everything and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, two minutes")
    parser.add_argument("--out", type=Path, help="folder of the report")
    arguments = parser.parse_args()
    today = dt.date.today().isoformat()
    out = arguments.out or folder_of_today()
    quick = arguments.quick
    usable, versions = installed()
    start = time.perf_counter()
    results = {
        "date": today,
        "quick": quick,
        "versions": {
            "bestcut": bestcut.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            **versions,
        },
        "cores": os.cpu_count(),
        "targets": targets(quick),
        "paper": paper_algorithms(quick),
        "speed": speed([10**e for e in range(2, 6 if quick else 8)], 5),
        "accuracy": accuracy([100, 400] if quick else [100, 400, 10**5]),
        "peers": against_peers(usable, [10**e for e in range(3, 5 if quick else 7)], 5),
        "small": small_problems(usable, 10 if quick else 50),
    }
    results["minutes"] = (time.perf_counter() - start) / 60
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    write_report(results, out)
    say(f"done in {results['minutes']:.1f} minutes: {out / 'report.md'}")


if __name__ == "__main__":
    main()
