"""Laws of counts, many side by side: a column for each problem."""

from __future__ import annotations

import numpy as np

from bestcut._validation import FloatArray

LARGEST_TABLES = 256  # probabilities in a problem that all pairs of counts are kept of


def add_instance(laws: FloatArray, size: int, p: FloatArray) -> None:
    """Add one more instance to laws of `size` instances, in place."""
    moved = laws[: size + 1] * p
    laws[: size + 1] -= moved
    laws[1 : size + 2] += moved


def count_laws(p: FloatArray) -> FloatArray:
    """Return the law of the number of positives in each column."""
    laws = np.zeros((p.shape[0] + 1, p.shape[1]))
    laws[0] = 1.0
    for size, row in enumerate(p):
        add_instance(laws, size, row)
    return laws
