"""The picture of a calibration: the maps from scores to probabilities, and labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut._types import BoolArray, FloatArray
from bestcut.calibration import Calibration, labelled_bins, share_interval

_POINTS = 161  # of the maps, from end to end
_BINS, _CASES = 10, 10  # the most bins, and the cases that a bin should have
_TAIL = 0.05

Points = list[dict[str, float]]


def maps_of(calibration: Calibration, labelled: Any) -> dict[str, Points]:
    """Return the points to draw; there are none if all labelled scores are equal.

    `labelled` holds the labels and scores that the calibration was learned from, or
    None.
    """
    low, high = calibration.score_range
    if low == high:
        return {"maps": [], "bins": []}
    grid = np.linspace(low, high, _POINTS)
    if labelled is not None:
        more = np.quantile(labelled[1], np.linspace(0.0, 1.0, _POINTS // 2))
        grid = np.unique(np.clip([*grid, *more], low, high))
    draws = calibration.probabilities(grid)
    lower, upper = np.quantile(draws, [_TAIL, 1.0 - _TAIL], axis=0)
    columns = zip(grid, draws.mean(axis=0), lower, upper, strict=True)
    names = ("score", "mean", "low", "high")
    maps = [dict(zip(names, map(float, row), strict=True)) for row in columns]
    return {"maps": maps, "bins": [] if labelled is None else _bins(*labelled)}


def _bins(labels: BoolArray, scores: FloatArray) -> Points:
    """Return the share of positives in bins of neighbouring scores.

    Its interval is Wilson's, with a level of 90 %.
    """
    count = min(max(scores.size // _CASES, 1), _BINS)
    rows = []
    for within, labelled in labelled_bins(scores, labels, count):
        low, high = share_interval(labelled)
        score, mean = float(within.mean()), float(labelled.mean())
        rows.append({"score": score, "mean": mean, "low": low, "high": high})
    return rows
