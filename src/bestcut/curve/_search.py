"""The best cut without the whole curve.

One more predicted positive of probability eta changes the expected score by about
D0 + eta D1, the two rates that a `BlockCurve` gives at its edges. Inside a block eta
falls, and D0 and D1 vary slowly, since no block but the first and the last is longer
than a quarter of the way to an end of the ranking. So each step is bounded by the
largest |D0 + eta D1| with each of the three taken at either edge, plus what D1 neglects
(that S has one more positive then), and a margin. Between two edges the curve cannot
rise above the mean of their scores by more than half the block's length in such steps.
Blocks that cannot reach the best cut found so far are left out.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from bestcut._validation import FloatArray
from bestcut.counts._window import NEGLIGIBLE
from bestcut.curve._blocks import BlockCurve

_ROUNDING = 16 * float(np.finfo(float).eps)
_MARGIN = 2.0  # the rates need not be monotonic between two edges


def best_cut(
    curve: BlockCurve, eta: FloatArray, sign: float, low: int, high: int
) -> tuple[int, float]:
    """Return the best cut from `low` to `high` and its expected score.

    `sign` is 1 to maximise and -1 to minimise. Blocks at both ends are always looked
    at, the others in order of promise.
    """
    edges = curve.edges
    inside = np.flatnonzero((edges[1:] >= low) & (edges[:-1] <= high))
    reach = _reach(curve, eta, sign)
    best, chosen = -np.inf, low
    for j in inside[np.argsort(-reach[inside], kind="stable")].tolist():
        if reach[j] <= best + _ROUNDING * abs(best):
            break
        first = max(low - int(edges[j]), 0)
        values = sign * curve.block(j)[first : high - int(edges[j]) + 1]
        i = int(np.argmax(values))
        k = int(edges[j]) + first + i
        if values[i] > best or (values[i] == best and k < chosen):
            best, chosen = float(values[i]), k
    return chosen, sign * best


def _reach(curve: BlockCurve, eta: FloatArray, sign: float) -> FloatArray:
    """Return a bound on the score inside each block; inf where there is none."""
    count = curve.edges.size - 1
    if count <= 3 or not curve.smooth:
        return np.full(count, np.inf)
    score, false, true = curve.at_edges()
    probability = eta[np.minimum(curve.edges, eta.size - 1)]
    step = np.zeros(count)
    for d0, p, d1 in product(*((x[:-1], x[1:]) for x in (false, probability, true))):
        np.maximum(step, np.abs(d0 + p * d1), out=step)
    mean = float(eta.sum())
    neglected = 1.0 / max(mean, 1.0) + 1.0 / max(eta.size - mean, 1.0)
    step += neglected * (np.abs(false) + probability * np.abs(true))[:-1]
    middle = sign * (score[:-1] + score[1:]) / 2
    # Where one step cannot change what a window drops, the curve is flat.
    step[step <= NEGLIGIBLE * np.max(np.abs(true))] = 0.0
    reach = middle + _MARGIN * step * np.diff(curve.edges) / 2
    reach[[0, -1]] = np.inf
    return np.where(np.isfinite(reach), reach, np.inf)
