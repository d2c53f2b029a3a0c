"""Draw the picture of the guide to masks: a faint object, lost at 0.5 and kept here."""

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt

import bestcut

HERE = Path(__file__).resolve().parent
SIDE = 64


def faint_map():
    """Return probabilities of a faint disc, none of them above 0.5."""
    y, x = np.mgrid[:SIDE, :SIDE]
    noise = np.random.default_rng(0).normal(0, 0.4, (SIDE, SIDE))
    faint = 3.6 * np.exp(-((x - 42) ** 2 + (y - 24) ** 2) / 90)
    return np.minimum(1 / (1 + np.exp(4.0 - faint - noise)), 0.49)


def main():
    """Draw the map, the mask at 0.5 and the best mask, side by side."""
    p = faint_map()
    best = bestcut.decide(p.ravel(), "dice")
    half = p > 0.5
    lost = bestcut.expected_score(p.ravel(), half.ravel(), "dice")
    fig, axes = plt.subplots(1, 3, figsize=(7.2, 2.7), layout="constrained")
    drawn = axes[0].imshow(p, vmin=0, vmax=0.5, cmap="viridis")
    fig.colorbar(drawn, ax=axes[0], shrink=0.75)
    axes[0].set_title("probabilities", fontsize=10)
    axes[1].imshow(half, vmin=0, vmax=1, cmap="gray")
    axes[1].set_title(f"p > 0.5: expected Dice {lost:.2f}", fontsize=10)
    axes[2].imshow(best.labels.reshape(p.shape), vmin=0, vmax=1, cmap="gray")
    axes[2].set_title(
        f"best mask (p ≥ {best.threshold:.2f}): {best.expected_score:.2f}", fontsize=10
    )
    for axis in axes:
        axis.set_xticks([])
        axis.set_yticks([])
    fig.savefig(HERE / "faint_mask.png", dpi=150)


if __name__ == "__main__":
    main()
