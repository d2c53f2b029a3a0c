"""The ranking of the instances, and the tests of its counts of positives.

The number of positives, overall, along the ranking and in bins, is compared with its
Poisson-binomial distribution. No p-value rests on a limit theorem.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestcut._types import BoolArray, FloatArray
from bestcut.calibration._result import CalibrationBin
from bestcut.counts import NEGLIGIBLE, NOTHING, Law, convolved, law_of

_CHECKPOINTS = 200
FLOOR = 1e-15  # laws are known to about this; smaller p-values are reported as this
# Expected counts are pairwise sums of up to 2^40 terms (at most 50 roundings of half
# an epsilon), added up over at most 200 checkpoints, and a difference of two of them
# is compared with another: 2 (50 + 200) half epsilons.
_SLACK = 256 * float(np.finfo(np.float64).eps)

# --- the ranking, cut into blocks ----------------------------------------------------


@dataclass(frozen=True)
class Ranking:
    """Probabilities in descending order, in blocks that end at the checkpoints.

    `ends` holds a leading 0 and the number of instances up to each checkpoint; the
    other arrays have an entry for each block.
    """

    eta: FloatArray
    ends: NDArray[np.int_]
    observed: NDArray[np.int_]
    expected: FloatArray
    variance: FloatArray
    laws: list[Law]


def ranked(eta: FloatArray, labels: BoolArray) -> Ranking:
    """Cut the sorted instances into blocks and find the law of each."""
    blocks = in_blocks(eta, labels)
    parts = pairwise(blocks.ends.tolist())
    return replace(blocks, laws=[law_of(eta[a:b]) for a, b in parts])


def in_blocks(eta: FloatArray, labels: BoolArray) -> Ranking:
    """Cut the sorted instances into blocks, whose laws are not looked for."""
    spread = eta * (1.0 - eta)
    ends = _checkpoints(eta, spread)
    parts = [slice(a, b) for a, b in pairwise(ends.tolist())]
    return Ranking(
        eta=eta,
        ends=ends,
        observed=np.array([np.count_nonzero(labels[i]) for i in parts], dtype=np.int_),
        expected=np.array([eta[i].sum() for i in parts]),
        variance=np.array([spread[i].sum() for i in parts]),
        laws=[],
    )


def _checkpoints(eta: FloatArray, spread: FloatArray) -> NDArray[np.int_]:
    """Return 0 and the ends of the blocks, about equally spaced in variance.

    Certain instances add no variance and go with the block next to them.
    """
    if eta.size == 0:
        return np.zeros(1, dtype=np.int_)
    ends = np.flatnonzero(eta[1:] != eta[:-1]) + 1
    passed = np.cumsum(spread)
    total, passed = passed[-1], passed[ends - 1]
    between = (passed > 0.0) & (passed < total)
    chosen = ends[between][_nearest(passed[between], total, _CHECKPOINTS)]
    return np.concatenate([[0], chosen, [eta.size]])


def _nearest(passed: FloatArray, total: float, parts: int) -> NDArray[np.int_]:
    """Return which entries of `passed` come nearest to cutting `total` into parts."""
    if passed.size == 0:
        return np.zeros(0, dtype=np.int_)
    # More parts than entries could use every entry, and need not be told apart.
    parts = min(parts, _CHECKPOINTS)
    targets = total * (np.arange(1, parts) / parts)
    right = np.minimum(np.searchsorted(passed, targets), passed.size - 1)
    left = np.maximum(right - 1, 0)
    nearer = targets - passed[left] <= passed[right] - targets
    return np.unique(np.where(nearer, left, right))


# --- tests ---------------------------------------------------------------------------


def two_sided(law: Law, observed: int) -> float:
    """Return twice the smaller tail of `law` at `observed`, within [FLOOR, 1]."""
    i = observed - law.start
    below = float(law.pmf[: max(i + 1, 0)].sum())
    above = float(law.pmf[max(i, 0) :].sum())
    return max(min(1.0, 2.0 * min(below, above)), FLOOR)


def _adjusted(p_value: float, m: int) -> float:
    """Return 1 - (1 - p)^m without cancellation."""
    return 1.0 if p_value >= 1.0 else -math.expm1(m * math.log1p(-p_value))


def sum_law(laws: list[Law]) -> Law:
    """Return the law of the sum of independent counts."""
    return reduce(convolved, laws, NOTHING)


def bin_blocks(ranking: Ranking, n_bins: int) -> list[slice]:
    """Return the blocks of each of up to `n_bins` bins."""
    if not ranking.expected.size:
        return []
    passed = np.cumsum(ranking.variance)
    inner = _nearest(passed[:-1], passed[-1], n_bins) + 1
    edges = [0, *inner.tolist(), ranking.expected.size]
    return [slice(a, b) for a, b in pairwise(edges)]


def held_against_law(
    ranking: Ranking, blocks: slice, law: Law, m: int, level: float
) -> CalibrationBin:
    """Hold some blocks, one of `m` bins, against the law of their positives."""
    eta, observed = instances(ranking, blocks)
    sure, never = np.count_nonzero(eta == 1.0), np.count_nonzero(eta == 0.0)
    possible = sure <= observed <= eta.size - never
    p_value = two_sided(law, observed) if possible else 0.0
    adjusted = _adjusted(p_value, m)
    std = math.sqrt(ranking.variance[blocks].sum())
    return bin_of(ranking, blocks, std, (p_value, adjusted), level)


def instances(ranking: Ranking, blocks: slice) -> tuple[FloatArray, int]:
    """Return the probabilities in some blocks, and how many are positive."""
    eta = ranking.eta[ranking.ends[blocks.start] : ranking.ends[blocks.stop]]
    return eta, int(ranking.observed[blocks].sum())


def bin_of(
    ranking: Ranking,
    blocks: slice,
    std: float,
    p_values: tuple[float, float],
    level: float,
) -> CalibrationBin:
    """Return some blocks as a bin, with its p-value and the adjusted one."""
    eta, observed = instances(ranking, blocks)
    p_value, adjusted = p_values
    return CalibrationBin(
        n=eta.size,
        low=float(eta[-1]) if eta.size else math.nan,
        high=float(eta[0]) if eta.size else math.nan,
        expected=float(ranking.expected[blocks].sum()),
        observed=observed,
        std=std,
        p_value=p_value,
        adjusted_p_value=adjusted,
        stands_out=adjusted <= level,
    )


def deviations(ranking: Ranking) -> FloatArray:
    """Return the positives so far less their expected number, at each checkpoint."""
    return np.cumsum(ranking.observed, dtype=np.float64) - np.cumsum(ranking.expected)


def furthest(ranking: Ranking, std: float) -> tuple[float, float]:
    """Return the largest deviation, in instances and in standard deviations."""
    distance = float(np.abs(deviations(ranking)).max(initial=0.0))
    if std == 0.0:
        return distance, math.inf if distance else 0.0
    return distance, distance / std


def path_p_value(ranking: Ranking, distance: float) -> float:
    """Return the probability that some checkpoint is at least `distance` off."""
    if not ranking.laws:
        return 1.0
    centres = np.cumsum(ranking.expected)
    return max(chance_to_leave(ranking.laws, centres, distance), FLOOR)


def chance_to_leave(laws: list[Law], centres: FloatArray, distance: float) -> float:
    """Return the probability that a running count is so far from a centre somewhere.

    What the running count has within `distance` moves on; the rest is summed. So are
    values at the ends with less than `NEGLIGIBLE` mass: at 200 checkpoints they add at
    most 4e-18, and the p-value is never too small for it.
    """
    reach = distance - _SLACK * max(float(centres[-1]), 1.0)
    start, mass, reached = 0, np.ones(1), []
    for law, centre in zip(laws, centres.tolist(), strict=True):
        start, mass = start + law.start, np.convolve(mass, law.pmf)
        # Rounding here is far below the slack: the observed count stays outside.
        low = max(math.floor(centre - reach) + 1 - start, 0)
        high = min(math.ceil(centre + reach) - start, mass.size)
        if low < high and mass[low] < NEGLIGIBLE:
            low += int(np.searchsorted(np.cumsum(mass[low:high]), NEGLIGIBLE))
        if low < high and mass[high - 1] < NEGLIGIBLE:
            ending = np.cumsum(mass[low:high][::-1])
            high -= int(np.searchsorted(ending, NEGLIGIBLE))
        if low >= high:  # nothing is left inside
            reached.append(float(mass.sum()))
            break
        reached += [float(mass[:low].sum()), float(mass[high:].sum())]
        start, mass = start + low, mass[low:high]
    return min(1.0, math.fsum(reached))


class Findings(NamedTuple):
    """What was found: in all, bin by bin, and along the ranking."""

    ranking: Ranking
    law: Law
    overall: CalibrationBin
    bins: tuple[CalibrationBin, ...]
    path_p_value: float
