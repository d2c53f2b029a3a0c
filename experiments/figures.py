"""The figures of the page, in black and grey."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
# The same file every time: no date, no random identifiers.
mpl.rcParams["svg.hashsalt"] = "bestcut"
mpl.rcParams["font.size"] = 10

import matplotlib.pyplot as plt  # noqa: E402  (after the back end is chosen)

from experiments.learn import mean_gains, promises  # noqa: E402
from experiments.printed import METHODS, PAPER_METRICS, PRINTED  # noqa: E402
from experiments.protocol import DATA_SETS  # noqa: E402
from experiments.sizes import SIZES, coverage  # noqa: E402
from experiments.tables import CALIBRATIONS, averages, table_rows  # noqa: E402

INK, GREY = "black", "0.5"


def files(results: dict) -> dict[str, bytes]:
    """Return every figure as PNG and SVG, by file name."""
    drawn = {
        "paper_figure1": figure1(results["figure1"]),
        "paper_tables": tables(results),
        "paper_sizes": sizes(results["sizes"]),
        "paper_promises": promised(results["tables"]),
    }
    out = {}
    for name, figure in drawn.items():
        png, svg = io.BytesIO(), io.BytesIO()
        figure.savefig(png, format="png", dpi=130, metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None})
        plt.close(figure)
        out[f"figures/{name}.png"] = png.getvalue()
        # Matplotlib leaves blanks at the ends of lines.
        lines = svg.getvalue().decode().splitlines()
        text = "\n".join(line.rstrip() for line in lines) + "\n"
        out[f"figures/{name}.svg"] = text.encode()
    return out


def _bare(axis) -> None:
    axis.spines[["top", "right"]].set_visible(False)


def figure1(optima: list[dict]):
    """Draw the ten probabilities in decreasing order, s* and the threshold."""
    order = ("balanced_accuracy", "f1", "jaccard", "fowlkes_mallows")
    by_name = {cell["metric"]: cell for cell in optima}
    figure, axes = plt.subplots(
        1, 4, figsize=(10, 3), sharey=True, layout="constrained"
    )
    for axis, metric in zip(axes, order, strict=True):
        cell = by_name[metric]
        eta, chosen = np.array(cell["probabilities"]), np.array(cell["labels"]) == 1
        rank = np.arange(1, eta.size + 1)
        threshold = eta[chosen].min()
        axis.axhline(threshold, color=GREY, linewidth=1, linestyle="--")
        axis.plot(rank, eta, color=GREY, linewidth=1, zorder=1)
        axis.plot(rank[chosen], eta[chosen], "o", color=INK, ms=7)
        axis.plot(rank[~chosen], eta[~chosen], "o", mfc="white", mec=INK, ms=7)
        axis.text(0.7, threshold - 0.03, f"threshold {threshold:.2f}", va="top")
        axis.set_title(f"{PAPER_METRICS[metric]}: {chosen.sum()} of {eta.size}")
        axis.set_ylim(0, 1)
        axis.set_xlim(0.5, 10.5)
        axis.set_xticks([1, 5, 10])
        _bare(axis)
    axes[0].set_ylabel("Probability")
    figure.supxlabel("Points in decreasing order; filled: s* = 1, open: s* = 0")
    return figure


STYLE = {
    "DTA": {"marker": "o", "mfc": INK},
    "Baseline": {"marker": "s", "mfc": "white"},
    "EUM": {"marker": "^", "mfc": "0.7"},
}


def tables(results: dict):
    """Draw the rows of Tables 1 and 2: measured, oracle and the paper's DTA."""
    cells, rows = results["tables"], table_rows()
    figure, axes = plt.subplots(
        1, 4, figsize=(11, 4.6), sharey=True, layout="constrained"
    )
    for axis, (metric, title) in zip(axes, PAPER_METRICS.items(), strict=True):
        for y, (name, T) in enumerate(rows):
            best = averages(cells, name, T, metric, "oracle").mean()
            axis.plot(
                [0, best], [y, y], color="0.88", lw=7, zorder=0, solid_capstyle="butt"
            )
            axis.plot([best, best], [y - 0.3, y + 0.3], color=INK, linewidth=1.5)
            for method in METHODS:
                x = averages(cells, name, T, metric, method.lower()).mean()
                axis.plot(x, y, color=INK, ms=6, ls="", **STYLE[method])
            axis.plot(PRINTED[name, T][metric][0], y, "x", color=INK, ms=7, mew=1.5)
        axis.set_title(title)
        axis.set_xlim(0.25, 1.01)
        _bare(axis)
    axes[0].set_yticks(range(len(rows)), [row_title(*row) for row in rows])
    axes[0].invert_yaxis()
    handles = [
        plt.Line2D([], [], color=INK, ms=6, ls="", label=method, **STYLE[method])
        for method in METHODS
    ]
    handles.append(
        plt.Line2D([], [], marker="|", color=INK, ms=10, mew=1.5, ls="", label="oracle")
    )
    handles.append(
        plt.Line2D([], [], marker="x", color=INK, ls="", label="DTA as printed")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    return figure


def row_title(name: str, T: int) -> str:
    """Return how a row of the tables is called."""
    used = DATA_SETS[name]
    return f"{used.title}, T = {T}" if len(used.thresholds) > 1 else used.title


LINES = {
    "baseline": ("Baseline (1/2)", "s", "-"),
    "eum": ("EUM, half and half", "^", "-"),
    "eum_cv": ("EUM, cross-validated", "v", "--"),
    "carried": ("DTA's threshold for the whole test set", "o", ":"),
}


def large_sets(cells: list[dict]) -> list[str]:
    """Return the data sets whose test sets are as large as the largest batch."""
    largest = str(SIZES[-1])
    found = [c["name"] for c in cells if largest in c["rows"]["f1"]]
    return list(dict.fromkeys(found))


def sizes(cells: list[dict]):
    """Draw the advantage of DTA and the coverage of its promises by batch size."""
    names = large_sets(cells)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 4), width_ratios=(3, 2), layout="constrained"
    )
    for against, (title, marker, line) in LINES.items():
        gain = mean_gains(cells, against, names)
        left.plot(
            SIZES, gain, marker=marker, ls=line, color=INK, mfc="white", label=title
        )
    left.axhline(0, color=GREY, linewidth=1)
    left.set_ylabel("DTA's score less that of the other")
    left.legend(frameon=False, fontsize=9)
    chosen = [c for c in cells if c["name"] in names]
    right.plot(SIZES, [coverage(chosen, n) for n in SIZES], "o-", color=INK)
    right.axhline(0.9, color=GREY, linewidth=1, linestyle="--")
    right.text(SIZES[0], 0.885, "promised: 90%", color="0.3", va="top")
    right.set_ylabel("Share of scores inside the range")
    right.set_ylim(0, 1)
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_xticks(SIZES, [f"{n}" for n in SIZES])
        axis.minorticks_off()
        axis.set_xlabel("Size of the batch")
        _bare(axis)
    return figure


def promised(cells: list[dict]):
    """Draw promised F1 against what came, without and with calibration."""
    figure, axes = plt.subplots(
        2, 2, figsize=(8, 8.4), sharex=True, sharey=True, layout="constrained"
    )
    for axis, kind in zip(axes.flat, CALIBRATIONS, strict=True):
        kept = [cell["scores"][kind]["f1"]["dta"] for cell in cells]
        axis.plot([0, 1], [0, 1], color=GREY, linewidth=1)
        x, y = ([k[key] for k in kept] for key in ("promised", "score"))
        axis.plot(x, y, "o", mfc="none", mec=INK, ms=4, mew=0.8)
        covered = promises(cells, kind, metrics=["f1"]).covered
        title = "as fitted" if kind == "raw" else f"{kind} calibration"
        axis.set_title(f"{title}: {100 * covered:.0f}% inside")
        axis.set_aspect("equal")
        axis.set_xlim(-0.03, 1.03)
        axis.set_ylim(-0.03, 1.03)
        _bare(axis)
    figure.supylabel("F1 that came")
    figure.supxlabel("Promised F1, one circle for each problem")
    return figure
