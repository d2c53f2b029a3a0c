"""Draw the expected F1 of every cut of one batch, with the best cut and that at 0.5."""

from pathlib import Path

import matplotlib as mpl
import numpy as np

import bestcut

mpl.use("Agg")
# The same file every time: no date, no random identifiers.
mpl.rcParams["svg.hashsalt"] = "bestcut"
mpl.rcParams["font.size"] = 11

import matplotlib.pyplot as plt  # noqa: E402  (after the back end is chosen)

HERE = Path(__file__).parent
INK, GREY = "black", "0.45"


def draw():
    """Return the figure."""
    y_proba = np.random.default_rng(7).beta(0.3, 3.0, size=300)
    decision = bestcut.decide(y_proba, "f1")
    curve = decision.curve
    best, half = decision.n_positive, int(np.count_nonzero(y_proba >= 0.5))
    shown = slice(0, 101)

    figure, (top, bottom) = plt.subplots(
        2,
        1,
        figsize=(7.5, 5.2),
        sharex=True,
        height_ratios=(3, 2),
        layout="constrained",
    )
    for axis in (top, bottom):
        axis.axvline(best, color=INK, linewidth=1)
        axis.axvline(half, color=GREY, linewidth=1, linestyle="--")
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_xlim(0, 100)

    top.plot(curve.n_positive[shown], curve.expected_score[shown], color=INK, lw=2)
    top.plot(best, curve.expected_score[best], "o", color=INK, ms=8)
    top.plot(half, curve.expected_score[half], "s", mfc="white", mec=INK, ms=8)
    top.annotate(
        f"best cut: {best} positives,\nexpected F1 {decision.expected_score:.2f}",
        (best, curve.expected_score[best]),
        xytext=(12, 12),
        textcoords="offset points",
    )
    top.annotate(
        f"cut at 0.5:\n{half} positives,\nexpected F1 {curve.expected_score[half]:.2f}",
        (half, curve.expected_score[half]),
        xytext=(14, -34),
        textcoords="offset points",
        color="0.25",
    )
    top.set_ylim(0, 1.25 * decision.expected_score)
    top.set_ylabel("Expected F1")

    probabilities = np.sort(y_proba)[::-1]
    bottom.step(np.arange(1, 101), probabilities[:100], where="mid", color=INK, lw=2)
    bottom.hlines(decision.threshold, best, 100, color=INK, linewidth=1)
    bottom.hlines(0.5, half, 100, color=GREY, linewidth=1, linestyle="--")
    bottom.text(
        99.5,
        decision.threshold + 0.02,
        f"threshold {decision.threshold:.2f}",
        ha="right",
    )
    bottom.text(99.5, 0.52, "threshold 0.5", ha="right", color="0.25")
    bottom.set_ylim(0, 1)
    bottom.set_ylabel("Probability")
    bottom.set_xlabel("Number of predicted positives, most probable first (of 300)")
    return figure


def main():
    """Write the PNG and the SVG beside this script."""
    figure = draw()
    stem = HERE / Path(__file__).stem
    figure.savefig(stem.with_suffix(".png"), dpi=150, metadata={"Software": None})
    figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
