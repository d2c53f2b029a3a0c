"""Labelled scores in bins, as pictures of a calibration show them."""

from __future__ import annotations

import numpy as np

from bestcut._types import BoolArray, FloatArray

_Z = 1.6448536269514722  # the quantile .95 of a normal distribution


def labelled_bins(
    scores: FloatArray, labels: BoolArray, n_bins: int
) -> list[tuple[FloatArray, BoolArray]]:
    """Return the scores and the labels in up to `n_bins` bins of neighbouring scores.

    Each bin has about as many of them, but equal scores are in one bin: parts of a tie
    would have other shares of positives for another order of the rows.
    """
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    n_bins = min(n_bins, scores.size)
    wanted = np.linspace(0, scores.size, n_bins + 1)[1:-1].astype(np.intp)
    inner = np.searchsorted(ranked, ranked[wanted], side="left")
    ends = np.unique(inner[inner > 0])
    parts = np.split(ranked, ends), np.split(labels[order], ends)
    return list(zip(*parts, strict=True))


def share_interval(labelled: BoolArray) -> tuple[float, float]:
    """Return Wilson's interval of the probability behind labels, with 90 %."""
    n, share = labelled.size, float(labelled.mean())
    centre = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    inside = share * (1 - share) / n + (_Z / (2 * n)) ** 2
    half = _Z * inside**0.5 / (1 + _Z**2 / n)
    return max(centre - half, 0.0), min(centre + half, 1.0)
