"""What the displays share."""

from __future__ import annotations

from typing import Any

# Told apart in black and white: by dash and grey, not by colour alone.
LINES = ("-", "--", "-.", ":")
INK, GREY, PALE = "black", "0.45", "0.8"


def axes(ax: Any) -> Any:
    """Return the axes to draw on, a new one if None is given."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def tidy(ax: Any) -> None:
    """Take the frame off where it shows nothing."""
    ax.spines[["top", "right"]].set_visible(False)
