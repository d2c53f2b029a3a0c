"""Turn the numbers of a run into tables and pictures."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def power(n: int) -> str:
    """Write a power of ten as such."""
    text = str(n)
    return f"10^{len(text) - 1}" if text.strip("0") == "1" else f"{n:,}"


def targets_table(results: dict) -> str:
    """Return the promises and what was measured."""
    return table(
        ["workload", "measured", "target", "kept"],
        [
            [
                row["what"],
                f"{row['measured']:.3g} {row['unit']}",
                f"at most {row['limit']:g}",
                "yes" if row["measured"] <= row["limit"] else "**no**",
            ]
            for row in results["targets"]
        ],
    )


def speed_table(results: dict, law: str, key: str, digits: str) -> str:
    """Return one quantity for every metric and size of a law."""
    rows = [row for row in results["speed"] if row["law"] == law]
    sizes = sorted({row["n"] for row in rows})
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    found = {(row["metric"], row["n"]): row[key] for row in rows}
    return table(
        ["metric", *(f"n = {power(n)}" for n in sizes)],
        [
            [
                metric,
                *(
                    format(found[metric, n], digits) if (metric, n) in found else "-"
                    for n in sizes
                ),
            ]
            for metric in metrics
        ],
    )


def accuracy_table(results: dict) -> str:
    """Return the worst error of each metric and size, and the bound stated there."""
    worst: dict[tuple, dict] = {}
    for row in results["accuracy"]:
        key = row["metric"], row["n"], row["against"]
        if key not in worst or row["error"] > worst[key]["error"]:
            worst[key] = row
    return table(
        ["metric", "n", "against", "largest error", "stated bound there", "law"],
        [
            [
                m,
                power(n),
                against,
                f"{row['error']:.1e}",
                f"{row['bound']:.1e}",
                row["law"],
            ]
            for (m, n, against), row in sorted(worst.items())
        ],
    )


def paper_table(results: dict) -> str:
    """Return what the paper's algorithms cost."""
    rows = []
    for name, value in results["paper"].items():
        if isinstance(value, dict):
            seconds = ", ".join(f"{s:.3g} s" for s in value["seconds"])
            sizes = ", ".join(str(n) for n in value["n"])
            rows.append(
                [name, f"n = {sizes}: {seconds}; exponent {value['exponent']:.2f}"]
            )
        else:
            rows.append([name, f"{value:.3g}"])
    return table(["what", "measured"], rows)


def peers_table(results: dict) -> str:
    """Return time, regret and error of the stated score of each peer."""
    return table(
        ["metric", "n", "who", "time / argsort", "regret", "stated - exact"],
        [
            [
                row["metric"],
                power(row["n"]),
                row["who"],
                f"{row['ratio']:.3g}",
                f"{row['regret']:.1e}" if row["regret"] else "0",
                "states none"
                if row["stated_error"] is None
                else f"{row['stated_error']:+.1e}",
            ]
            for row in results["peers"]
        ],
    )


def small_table(results: dict) -> str:
    """Return mean and worst regret on small problems."""
    return table(
        ["law", "n", "ties", "metric", "who", "mean regret", "worst"],
        [
            [
                row["law"],
                str(row["n"]),
                "yes" if row["tied"] else "no",
                row["metric"],
                row["who"],
                f"{row['mean']:.1e}",
                f"{row['worst']:.1e}",
            ]
            for row in results["small"]
        ],
    )


MARKS = ["o", "s", "^", "D", "v", "P", "X", "*"]


def speed_picture(results: dict, out: Path) -> None:
    """Draw time against n for the skewed and the rare law."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    for ax, law in zip(axes, ("skewed", "rare"), strict=True):
        rows = [row for row in results["speed"] if row["law"] == law]
        sizes = sorted({row["n"] for row in rows})
        sort = {row["n"]: row["argsort"] for row in rows}
        ax.plot(sizes, [sort[n] for n in sizes], "k--", label="np.argsort")
        for mark, metric in zip(
            MARKS, dict.fromkeys(r["metric"] for r in rows), strict=False
        ):
            mine = [row for row in rows if row["metric"] == metric]
            ax.plot(
                [row["n"] for row in mine],
                [row["seconds"] for row in mine],
                marker=mark,
                markersize=4,
                label=metric,
            )
        ax.set(xscale="log", yscale="log", xlabel="n", title=f"{law} probabilities")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("seconds for decide()")
    axes[1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(out / "speed.png", dpi=110)
    plt.close(figure)


def peers_picture(results: dict, out: Path) -> None:
    """Draw time against n for F1, bestcut and its peers."""
    rows = [row for row in results["peers"] if row["metric"] == "f1"]
    figure, ax = plt.subplots(figsize=(8.5, 4.4))
    for mark, who in zip(MARKS, dict.fromkeys(r["who"] for r in rows), strict=False):
        mine = [row for row in rows if row["who"] == who]
        ax.plot(
            [row["n"] for row in mine],
            [row["seconds"] for row in mine],
            marker=mark,
            label=who,
            linewidth=2.2 if who == "bestcut" else 1.0,
        )
    ax.set(xscale="log", yscale="log", xlabel="n", ylabel="seconds, F1")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.tight_layout()
    figure.savefig(out / "peers.png", dpi=110)
    plt.close(figure)


def write_report(results: dict, out: Path) -> None:
    """Write report.md and the pictures."""
    versions = ", ".join(f"{k} {v}" for k, v in results["versions"].items())
    parts = [
        f"# Benchmarks of {results['date']}\n",
        f"{'Quick run. ' if results['quick'] else ''}{results['cores']} cores, "
        f"{results['minutes']:.1f} minutes. {versions}.\n",
        "Times are medians, and ratios are within this run.\n",
        "## Targets\n",
        targets_table(results),
        "## The paper's algorithms\n",
        paper_table(results),
        "## decide(): time as a multiple of np.argsort\n",
    ]
    for law in dict.fromkeys(row["law"] for row in results["speed"]):
        parts += [f"### {law}\n", speed_table(results, law, "ratio", ".3g")]
    parts += ["## decide(): peak memory as a multiple of the input\n"]
    parts += ["### skewed\n", speed_table(results, "skewed", "memory", ".2f")]
    parts += ["### rare\n", speed_table(results, "rare", "memory", ".2f")]
    parts += ["## Accuracy\n", accuracy_table(results)]
    parts += ["## Peers\n", peers_table(results)]
    parts += ["## Small problems: what each choice loses\n", small_table(results)]
    parts += ["![Time against n](speed.png)\n", "![Peers](peers.png)\n"]
    (out / "report.md").write_text("\n".join(parts), encoding="utf-8")
    speed_picture(results, out)
    peers_picture(results, out)
