"""Maps that are made steeper or flatter, each keeping its number of positives."""

from __future__ import annotations

import math

import numpy as np

from bestcut._types import FloatArray
from bestcut.calibration._calibrate import Calibration
from bestcut.calibration._posterior import in_order, logit, normal_draws, sigmoid

_ROUNDS = 200  # of Newton's method; each goes at most one step of log-odds
_NEAR_ENOUGH = 1e-12  # of the number of positives


def stretched(
    calibration: Calibration,
    scores: FloatArray,
    factor: float,
    spread: float,
    rng: np.random.Generator,
) -> Calibration:
    """Return the maps with log-odds times ``factor * exp(spread * z)``, z normal.

    Each map is then moved so that it expects as many positives among `scores`, those
    that were labelled, as before.
    """
    values = calibration._values
    z = normal_draws(rng, values.shape[0], 1)
    steeper = factor * np.exp(spread * z) * logit(values)
    masses = _masses(calibration._knots, calibration._coordinates(scores))
    return Calibration(
        knots=calibration._knots,
        values=in_order(sigmoid(_moved(steeper, masses, values @ masses))),
        kind=calibration._kind,
        n_labelled=calibration.n_labelled,
        n_positive=calibration.n_positive,
        method=calibration.method,
        score_range=calibration.score_range,
    )


def _masses(knots: FloatArray, u: FloatArray) -> FloatArray:
    """Return what each knot counts, if maps are linear between knots."""
    place = np.interp(u, knots, np.arange(knots.size, dtype=np.float64))
    at = place.astype(np.intp)
    share = place - at
    after = np.minimum(at + 1, knots.size - 1)
    below = np.bincount(at, weights=1.0 - share, minlength=knots.size)
    return np.asarray(below + np.bincount(after, weights=share, minlength=knots.size))


def _moved(log_odds: FloatArray, masses: FloatArray, target: FloatArray) -> FloatArray:
    """Return each row with a number added, so that its positives are the target."""
    for _ in range(_ROUNDS):
        p = sigmoid(log_odds)
        missing = target - p @ masses
        if np.all(np.abs(missing) <= _NEAR_ENOUGH * target):
            break
        slope = (p * (1.0 - p)) @ masses
        step = np.clip(missing / np.maximum(slope, math.ulp(0.0)), -1.0, 1.0)
        log_odds = log_odds + step[:, None]
    return log_odds
