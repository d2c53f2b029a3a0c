"""Draw promised intervals and realised scores of 60 test sets of real data.

Needs scikit-learn and the data sets, as `examples/promised_intervals.py` says; without
the data it says so and leaves the pictures as they are.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))

import promised_intervals as example  # noqa: E402  (after the path is set)

mpl.use("Agg")
# The same file every time: no date, no random identifiers.
mpl.rcParams["svg.hashsalt"] = "bestcut"
mpl.rcParams["font.size"] = 11

import matplotlib.pyplot as plt  # noqa: E402  (after the back end is chosen)
from matplotlib.lines import Line2D  # noqa: E402

DATA, MODEL, N_SETS = "scene", "logistic", 60
INK, GREY, MISS = "black", "0.65", "#d55e00"


def draw(folder):
    """Return the figure."""
    X, y = example.load(folder, DATA)
    panels = {
        "Logistic regression as it is": None,
        "Isotonic calibration, taken for the truth": "isotonic",
        "bestcut.calibrate": example.DRAWS,
    }
    figure, axes = plt.subplots(
        1, 3, figsize=(14, 4.6), sharey=True, layout="constrained"
    )
    for axis, (title, calibration) in zip(axes, panels.items(), strict=True):
        found = example.run(X, y, MODEL, calibration, N_SETS, ["f1"])["f1"]
        low, high, realised, covered = (
            np.array([getattr(outcome, name) for outcome in found])
            for name in ("low", "high", "realised", "covered")
        )
        at = np.arange(1, N_SETS + 1)
        axis.vlines(at, low, high, color=GREY, linewidth=2)
        axis.plot(at[covered], realised[covered], "o", color=INK, ms=4)
        axis.plot(at[~covered], realised[~covered], "x", color=MISS, ms=5, mew=1.8)
        rejected = np.mean([outcome.rejected for outcome in found])
        axis.set_title(
            f"{title}:\n{covered.sum()} of {N_SETS} intervals hold;"
            f" the check rejects {rejected:.0%}",
            fontsize=11,
        )
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_xlim(0, N_SETS + 1)
        axis.set_xlabel("Test set")
    axes[0].set_ylabel("F1")
    handles = [
        Line2D([], [], color=GREY, lw=2, label="promised, 90 %"),
        Line2D([], [], color=INK, marker="o", ms=4, ls="", label="realised, inside"),
        Line2D([], [], color=MISS, marker="x", ms=5, mew=1.8, ls="", label="outside"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return figure


def main():
    """Write the PNG and the SVG beside this script."""
    folder = example.find_data()
    if folder is None:
        print(example.MISSING)  # noqa: T201  (a script talks by printing)
        return
    figure = draw(folder)
    stem = HERE / Path(__file__).stem
    figure.savefig(stem.with_suffix(".png"), dpi=150, metadata={"Software": None})
    figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
