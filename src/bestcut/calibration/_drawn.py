"""The tests of labels against draws of the probabilities: against their mixture.

Given a draw, the counts of disjoint blocks are independent; over draws, a probability
is a mean. So the laws of a count, of the path and of the smallest p-value of all bins
are means over draws of what each of them would be with known probabilities, and the
p-values are valid for labels that come from the mixture.
"""

from __future__ import annotations

import math
from functools import reduce
from itertools import pairwise

import numpy as np

from bestcut._types import BoolArray, FloatArray
from bestcut.calibration._ranking import (
    FLOOR,
    Findings,
    Ranking,
    bin_blocks,
    bin_of,
    chance_to_leave,
    furthest,
    in_blocks,
    instances,
    two_sided,
)
from bestcut.counts import Law, trimmed
from bestcut.uncertain import (
    DrawnLaw,
    DrawnSide,
    UncertainProbabilities,
    convolved_laws,
    nothing,
)

_ROUNDING = 1e-12  # of p-values that are equal but for rounding


def held_against_draws(
    p: UncertainProbabilities,
    labels: BoolArray,
    certain: tuple[BoolArray, BoolArray],
    n_bins: int,
    level: float,
) -> Findings:
    """Compare labels with draws of their probabilities.

    `certain` says which instances are negative in all draws, and which positive.
    """
    order, draws = p._draws.order(), p._ranked
    ranking = in_blocks(p.mean[order] + 0.0, labels[order])
    sides = [
        DrawnSide(draws.taken(slice(a, b))) for a, b in pairwise(ranking.ends.tolist())
    ]
    parts = bin_blocks(ranking, n_bins)
    laws = [_joined([side.law for side in sides[i]], p.n_draws) for i in parts]
    total, every = _joined(laws, p.n_draws), slice(0, len(sides))
    never, sure = (x[order] for x in certain)

    def p_value(blocks: slice, law: DrawnLaw) -> float:
        here = slice(ranking.ends[blocks.start], ranking.ends[blocks.stop])
        observed = instances(ranking, blocks)[1]
        least, most = np.count_nonzero(sure[here]), np.count_nonzero(~never[here])
        return two_sided(_marginal(law), observed) if least <= observed <= most else 0.0

    p_values = [p_value(i, law) for i, law in zip(parts, laws, strict=True)]
    bins = tuple(
        bin_of(ranking, i, _std(sides[i]), (one, adjusted), level)
        for i, one, adjusted in zip(
            parts, p_values, _any_as_small(laws, p_values), strict=True
        )
    )
    whole = p_value(every, total)
    overall = bin_of(ranking, every, _std(sides), (whole, whole), level)
    distance, _ = furthest(ranking, overall.std)
    path = _path_p_value(ranking, [side.law for side in sides], distance, p.n_draws)
    return Findings(ranking, _marginal(total), overall, bins, path)


def _joined(laws: list[DrawnLaw], n_draws: int) -> DrawnLaw:
    return reduce(convolved_laws, laws, nothing(n_draws))


def _marginal(law: DrawnLaw) -> Law:
    """Return the law of a count over all draws."""
    return trimmed(law.start, law.pmf.mean(axis=1))


def _std(sides: list[DrawnSide]) -> float:
    """Return the standard deviation of a count, over labels and draws."""
    if not sides:
        return 0.0
    variance = np.sum([side.variance for side in sides], axis=0)
    mean = np.sum([side.positives for side in sides], axis=0)
    return math.sqrt(max(float(variance.mean()) + float(np.var(mean)), 0.0))


def _p_values(law: DrawnLaw) -> FloatArray:
    """Return the two-sided p-value of every count of a window."""
    pmf = law.pmf.mean(axis=1)
    below, above = np.cumsum(pmf), np.cumsum(pmf[::-1])[::-1]
    return np.asarray(np.minimum(1.0, 2.0 * np.minimum(below, above)))


def _any_as_small(laws: list[DrawnLaw], p_values: list[float]) -> list[float]:
    """Return for each p-value how probable it is that some bin has one as small."""
    of_counts = [_p_values(law) for law in laws]
    found = []
    for p_value in p_values:
        none = np.zeros(laws[0].pmf.shape[1])  # logarithms, draw by draw
        for law, each in zip(laws, of_counts, strict=True):
            chance = (each <= p_value * (1.0 + _ROUNDING)) @ law.pmf
            with np.errstate(divide="ignore"):
                none += np.log1p(-np.minimum(chance, 1.0))
        any_ = float(np.mean(-np.expm1(none)))
        found.append(max(any_, p_value) if p_value > 0.0 else 0.0)
    return found


def _path_p_value(
    ranking: Ranking, laws: list[DrawnLaw], distance: float, n_draws: int
) -> float:
    """Return the probability that some checkpoint is at least `distance` off."""
    if not laws:
        return 1.0
    centres = np.cumsum(ranking.expected)
    each = [
        # The window of all draws is wide, and most of it is nothing in any one.
        chance_to_leave(
            [trimmed(law.start, law.pmf[:, b]) for law in laws], centres, distance
        )
        for b in range(n_draws)
    ]
    return max(math.fsum(each) / n_draws, FLOOR)
