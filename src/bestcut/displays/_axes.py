"""What the displays share."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

_MOST_POINTS = 2000
# Lines differ by dash and grey, not only by colour, for print in black and white.
LINES = ("-", "--", "-.", ":", (0, (8, 2, 1, 2, 1, 2)), (0, (2, 5)))
INK, GREY, PALE = "black", "0.45", "0.8"
DARK = "0.62"  # a band inside a pale one


def axes(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """Return the axes to draw on, a new one if None is given."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def tidy(ax: Any) -> None:
    """Remove the parts of the frame that show nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def count_instances(axis: Any) -> None:
    """Put ticks at whole numbers only."""
    axis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True))


def thinned(size: int, keep: int) -> Any:
    """Return which points to draw: all, or as many as a line can show."""
    if size <= _MOST_POINTS:
        return np.arange(size)
    some = np.linspace(0, size - 1, _MOST_POINTS).astype(np.intp)
    return np.unique(np.append(some, keep))
