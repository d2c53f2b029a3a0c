"""The two pictures of the page about other data."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from experiments.outside.contenders import LEVELS
from experiments.outside_tables import Row, by_set, error_of_set, gain, groups, mean, of

mpl.use("Agg")
mpl.rcParams["font.size"] = 10

import matplotlib.pyplot as plt  # noqa: E402  (after the back end is chosen)
from matplotlib.axes import Axes  # noqa: E402

INK, GREY, LOSS = "black", "0.6", "#d55e00"
STYLES = {  # of ways that promise: colour, marker
    "default": (INK, "o"),
    "hold-out": ("#0072b2", "s"),
    "NannyML": ("#cc79a7", "D"),
    "isotonic option": ("#009e73", "^"),
    "plain decide": ("#e69f00", "v"),
    "sigmoid option": (LOSS, "x"),
}


def by_set_picture(kept_apart: list[Row], keel: list[Row], path: Path) -> None:
    """Draw what the default gains on the tuned threshold, set by set."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 8.5), layout="constrained", width_ratios=(3, 2)
    )
    _differences(left, kept_apart, "sets kept apart", named=True)
    _differences(right, keel, "sets of KEEL", named=False)
    figure.supxlabel(
        "Realised score of the default minus that of the tuned threshold; "
        "bars: two standard errors",
        fontsize=10,
    )
    _save(figure, path)


def _differences(axis: Axes, rows: list[Row], title: str, *, named: bool) -> None:
    value = gain("default", "tuned threshold")
    found = sorted(by_set(rows, value).items(), key=lambda item: item[1])
    parts = groups(rows, lambda row: row["set"])
    for at, (name, difference) in enumerate(found):
        colour = INK if difference >= 0 else LOSS
        error = 2 * error_of_set(parts[name], value)
        if np.isfinite(error):
            ends = difference - error, difference + error
            axis.plot(ends, [at, at], color=GREY, lw=1.5, zorder=1)
        axis.plot(difference, at, "o", color=colour, ms=5 if named else 3.5)
    axis.axvline(0, color=INK, lw=0.8)
    axis.set_yticks(
        range(len(found)) if named else [], [n for n, _ in found][: named * len(found)]
    )
    axis.set_ylim(-1, len(found))
    won = sum(difference > 0 for _, difference in found)
    axis.set_title(f"{len(found)} {title}: {won} gain", fontsize=11)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(left=False)


def coverage_picture(kept_apart: list[Row], keel: list[Row], path: Path) -> None:
    """Draw how many intervals held, against how many should."""
    figure, axes = plt.subplots(
        1, 2, figsize=(10, 4.8), layout="constrained", sharey=True
    )
    titles = ("sets kept apart", "sets of KEEL")
    for axis, rows, title in zip(axes, (kept_apart, keel), titles, strict=True):
        axis.plot([0.45, 1], [0.45, 1], color=GREY, lw=1, ls="--")
        n_sets = len(groups(rows, lambda row: row["set"]))
        for way, (colour, marker) in STYLES.items():
            held = [mean(rows, of(way, f"held {p:.0%}")).value for p in LEVELS]
            axis.plot(
                LEVELS, held, color=colour, marker=marker, ms=5, lw=1.4, label=way
            )
        axis.set_xticks(LEVELS, [f"{p:.0%}" for p in LEVELS])
        axis.set_xlabel("Intervals that should hold")
        axis.set_title(f"{n_sets} {title}", fontsize=11)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("Intervals that hold")
    axes[0].set_ylim(0, 1.02)
    axes[0].set_yticks(
        np.arange(0, 1.01, 0.2), [f"{p:.0%}" for p in np.arange(0, 1.01, 0.2)]
    )
    handles, labels = axes[0].get_legend_handles_labels()
    words = [
        "NannyML (F1 of the tuned threshold)" if x == "NannyML" else x for x in labels
    ]
    figure.legend(handles, words, loc="outside lower center", ncols=3, frameon=False)
    _save(figure, path)


def _save(figure: plt.Figure, path: Path) -> None:
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
