"""Which quadrature rules stand for the counts, proved for this metric and this place.

A rule is used where the metric's formula, followed through the complex plane around the
expected counts, shows its error (Lemmas 6 and 7 in docs/how-it-works/lemmas.md). Where
it does not, because a pole, a kink or a narrow bump is too near or because the formula
cannot be followed, the distribution of the count is taken value by value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.counts._moments import GAUSS, hermite_rule
from bestcut.counts._rules import (
    NODE_COUNTS,
    gauss_error,
    rule_error,
    stray,
    weight_size,
)
from bestcut.metrics import (
    CustomMetric,
    Disc,
    Metric,
    is_followed,
    size_at_cells,
)

SMALLEST_VARIANCE = 25.0  # below it the exact distribution has few values
# What is tried: a share of the way to the end of the count's range, and by which of
# its counts the other side is cut into pieces, where that is not chosen by size.
# The first trials are circles that reach beyond the range: few metrics have a pole in
# all counts that may be small. The others want a variance to be of any use.
_TRIALS = ((0.65, None), (0.35, None), (0.12, None), (0.35, True), (0.35, False))
WIDE = (30.0, 12.0)  # standard deviations, and a count of as many
_LARGE_VARIANCE = 60.0
_WORTH_A_TRY = 10.0  # times the tolerance: an error that a proof may reduce
_UNSEEN = 1e-13  # chance of counts that a proof does not look at, about
_LEAST_REACH = 8.0  # counts that round would be far off in a smaller circle
_PIECES = 3  # from an end of the other count's range to its mean
_GROWTH = 8.0  # of the metric in the complex plane that is put up with
_AFFORDABLE = 1e8  # pairs of counts, which take about a second
_STEEPEST = 2.0  # terms of weights whose absolute values sum to more are not used
# Lemma 8: what the terms of weights, the sum over nodes and the metric itself round,
# and what sums of up to 4096 instances, added in pairs, and nodes do.
OF_WEIGHTS, OF_NODES = 120.0 * EPS, 32.0 * EPS


def _cover() -> tuple[FloatArray, float]:
    """Return discs that cover the upper half of the unit disc: centres, radius.

    A real formula has conjugate values at conjugate places, so half is enough.
    """
    across, up = 4, 2
    x, y = np.meshgrid(
        (2 * np.arange(across) + 1) / across - 1.0, (np.arange(up) + 0.5) / up
    )
    return (x + 1j * y).ravel(), float(np.hypot(1.0 / across, 0.5 / up))


COVER_CENTRES, COVER_RADIUS = _cover()


class SideRange(NamedTuple):
    """What the counts of one side of some cuts may be like: least and largest."""

    positives: tuple[FloatArray, FloatArray]
    negatives: tuple[FloatArray, FloatArray]
    variance: tuple[FloatArray, FloatArray]

    def room(self) -> FloatArray:
        """Return how far the mean is from either end of the count's range."""
        return np.minimum(self.positives[0], self.negatives[0])

    def around(self, radius: FloatArray, half: FloatArray) -> tuple[Disc, Disc]:
        """Return positives and negatives in discs around their means.

        One more of these is one less of those: they share the first span. `half` is
        the second one, which is for the other side.
        """
        at = np.multiply.outer(COVER_CENTRES, radius)[:, None]
        spans = COVER_RADIUS * radius, half
        (low, high), (least, most) = self.positives, self.negatives
        return (
            Disc((low + high) / 2 + at, (high - low) / 2, 1.0, 0.0, spans),
            Disc((least + most) / 2 - at, (most - least) / 2, -1.0, 0.0, spans),
        )

    def whole_counts(self, log_chance: float, by_positives: bool | None) -> RealCounts:
        """Return where the counts are, but for a negligible chance, in some pieces.

        Counts are whole: next to a pole or a branch point at 0 they are 0, or at least
        1. From there to the mean pieces grow like the distance from 0. They are pieces
        of the positives or of the negatives, whichever may be small there: the other
        count is what is left of a number of instances that differs from cut to cut.
        """
        far = stray(self.variance[1], log_chance)
        (few, many), (least, most) = self.positives, self.negatives
        size = few + least, many + most
        split = np.minimum(np.maximum(few, 1.0), size[0])
        lower = _towards(few - far, split), _away(least, most + far)
        upper = _towards(least - far, size[1] - split), _away(split, many + far)
        if by_positives is None:  # the count that may be small, on either side
            low_by, high_by = few - far <= most + far, least - far > many + far
        else:
            low_by = high_by = np.full(few.size, by_positives)
        edges = [np.where(low_by, a, b) for a, b in zip(*lower, strict=True)]
        others = [np.where(high_by, b, a) for a, b in zip(*upper, strict=True)]
        low, high = (np.concatenate(pair) for pair in zip(edges, others, strict=True))
        counted = np.repeat(np.stack([low_by, high_by]), low.shape[0] // 2, axis=0)
        return RealCounts(
            (low + high) / 2,
            (high - low) / 2,
            (size[0] + size[1]) / 2,
            (size[1] - size[0]) / 2,
            counted,
        )


class RealCounts(NamedTuple):
    """Pieces of a count: middle and half length, of positives or of negatives.

    The other count is `total` less that, up to `apart`.
    """

    middle: FloatArray
    half: FloatArray
    total: FloatArray
    apart: FloatArray
    of_positives: BoolArray

    def cells(self, spans: Any) -> tuple[Disc, Disc]:
        """Return the positives and the negatives, which share the second span."""
        rest = self.total - self.middle
        sign = np.where(self.of_positives, 1.0, -1.0)
        own, other = (
            np.where(x, 0.0, self.apart)
            for x in (self.of_positives, ~self.of_positives)
        )
        positives = np.where(self.of_positives, self.middle, rest)
        negatives = np.where(self.of_positives, rest, self.middle)
        return (
            Disc(positives, own, 0.0, sign, spans),
            Disc(negatives, other, 0.0, -sign, spans),
        )


def _towards(low: FloatArray, end: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return pieces from a count that may be 0 up to another, and 0 by itself."""
    first = np.maximum(low, 1.0)
    zero = np.where(low < 1.0, 0.0, first)[None]
    low_edges, high_edges = _pieces(first, np.maximum(end, first))
    return np.concatenate([zero, low_edges]), np.concatenate([zero, high_edges])


def _away(first: FloatArray, end: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return as many pieces between two counts that are not small."""
    first = np.maximum(first, 1.0)
    low_edges, high_edges = _pieces(first, np.maximum(end, first))
    return (
        np.concatenate([first[None], low_edges]),
        np.concatenate([first[None], high_edges]),
    )


def _pieces(first: FloatArray, end: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return pieces that grow in proportion to their distance from 0."""
    steps = (np.arange(_PIECES + 1.0) / _PIECES)[:, None]
    edges = first * (end / first) ** steps
    return edges[:-1], edges[1:]


class Proof(NamedTuple):
    """What is known of a metric around some counts.

    Attributes
    ----------
    radius : ndarray
        How far from the mean of the count the metric is analytic, 0 if unknown.
    size : ndarray
        Bound on its absolute value there.
    """

    radius: FloatArray
    size: FloatArray


def prove_side(
    metric: Metric,
    side: SideRange,
    other: SideRange,
    log_chance: float,
    bound: float,
    tolerance: float,
    *,
    above: bool,
) -> Proof:
    """Follow the metric around the mean count of one side, the other being real.

    `bound` is the largest score there is, and `tolerance` of it what a rule may leave.
    """
    count = side.room().size
    radius, size = np.zeros(count), np.full(count, np.inf)
    left = np.arange(count)
    sigma, large = np.sqrt(side.variance[1]), side.variance[0] >= _LARGE_VARIANCE
    some = side.variance[0] >= SMALLEST_VARIANCE
    trials: list[tuple[FloatArray, bool | None]] = [
        (_reach_of_gauss(side, other, bound, tolerance), None),
        *((np.where(some, x * (sigma + 1.0), 0.0), None) for x in WIDE),
        *((np.where(large, x, 0.0) * side.room(), by) for x, by in _TRIALS),
    ]
    for reach, by_positives in trials:
        here = left[reach[left] > 0.0]
        if not here.size:
            continue
        there = _some(other, here)
        counts = there.whole_counts(log_chance, by_positives)
        discs = _some(side, here).around(reach[here], counts.half)
        reals = counts.cells(discs[0].spans)
        cells = (*discs, *reals) if above else (*reals, *discs)
        found = size_at_cells(metric, *cells)
        if found is None:
            if is_promised(metric):
                return _as_promised(metric, side, other, above=above)
            break
        shape = (COVER_CENTRES.size, *counts.middle.shape)
        largest = np.broadcast_to(found, shape).max(axis=(0, 1))
        # Where the metric grows far beyond its scores, a smaller circle is better.
        done = largest <= _GROWTH * bound
        radius[here[done]] = reach[here[done]]
        size[here[done]] = largest[done]
        left = np.setdiff1d(left, here[done], assume_unique=True)
    return Proof(radius, size)


def _reach_of_gauss(
    side: SideRange, other: SideRange, bound: float, tolerance: float
) -> FloatArray:
    """Return a radius that is worth a try for the rule of three nodes, or 0.

    That rule asks for much room around the mean, but not for a variance.
    """
    positives, negatives = (
        mine[0] + others[0]
        for mine, others in (
            (side.positives, other.positives),
            (side.negatives, other.negatives),
        )
    )
    longest = np.maximum(side.positives[0], side.negatives[0])
    reach = 0.5 * np.minimum(np.minimum(positives, negatives), longest)
    size = np.full(reach.size, bound)
    error = gauss_error(side.variance[1], reach, size, bound)
    worth = error <= _WORTH_A_TRY * tolerance * bound
    return np.where(worth & (reach >= _LEAST_REACH), reach, 0.0)


def is_promised(metric: Metric) -> bool:
    """Return whether a callable is said to be smooth by who made the metric."""
    return isinstance(metric, CustomMetric) and metric.smooth


def is_on_trust(metric: Metric) -> bool:
    """Return whether all that is known of a metric's smoothness is a promise."""
    return is_promised(metric) and not is_followed(metric)


def believed(metric: Metric, n: int, variance: float) -> Metric:
    """Return a metric without a promise that would hardly save time.

    All counts at all cuts of n instances are looked at then, and the result is proved;
    `variance` is that of the number of positives.
    """
    width = 24.0 + 20.0 * np.sqrt(variance / 2)
    if n * width**2 <= _AFFORDABLE and is_on_trust(metric):
        return replace(metric, smooth=False)  # type: ignore[type-var]
    return metric


def _as_promised(
    metric: Metric, side: SideRange, other: SideRange, *, above: bool
) -> Proof:
    """Return what a promise of smoothness says, in numbers.

    The callable is analytic as far from the mean counts as a third of the way to the
    ends of their range, and at most four times as large there as at some real counts.
    """
    share = 0.35
    steps = np.array([-share, 0.0, share])
    (tp, fp), (fn, tn) = (
        (
            x.positives[0] + np.multiply.outer(steps, x.room()),
            x.negatives[0] - np.multiply.outer(steps, x.room()),
        )
        for x in ((side, other) if above else (other, side))
    )
    score = metric.score_cells(tp[:, None], fp[:, None], fn[None], tn[None])
    size = 4.0 * np.max(np.abs(score), axis=(0, 1))
    return Proof(share * side.room(), np.maximum(size, 1e-300))


def _some(side: SideRange, which: IndexArray) -> SideRange:
    pairs = ((low[which], high[which]) for low, high in side)
    return SideRange(*pairs)


class Plan(NamedTuple):
    """How many nodes each side takes at some places, 0 for its exact distribution.

    `error` bounds what the rules are wrong by, rounding included, `size` the terms that
    are added up.
    """

    nodes: tuple[NDArray[np.int_], NDArray[np.int_]]
    error: FloatArray
    size: FloatArray


def plan_rules(
    metric: Metric,
    above: SideRange,
    below: SideRange,
    largest: float,
    tolerance: float,
    *,
    mean_above: bool = False,
    worth: tuple[bool, bool] = (True, True),
) -> Plan:
    """Choose the smallest rules whose error is at most `tolerance`, by proof.

    `tolerance` is relative to the size of the metric around the place. With
    `mean_above` the metric is affine in TP and the mean stands for it. `worth` says for
    which sides a proof is worth looking for.
    """
    count = above.room().size
    nodes, error, size = [], np.zeros(count), np.zeros(count)
    unseen = min(tolerance, _UNSEEN)
    log_chance = float(np.log(unseen / max(largest, 1.0))) - 4.0
    chance = 10.0 * float(np.exp(log_chance)) * largest
    for side, other, is_above in ((above, below, True), (below, above, False)):
        chosen, bound = np.zeros(count, dtype=np.int_), np.zeros(count)
        wanted = worth[0 if is_above else 1] and not (is_above and mean_above)
        if wanted and np.isfinite(largest):
            proof = prove_side(
                metric, side, other, log_chance, largest, tolerance, above=is_above
            )
            chosen, bound, terms = _smallest(proof, side, largest, tolerance)
            size = np.maximum(size, terms)
        nodes.append(chosen)
        error += np.where(chosen > 0, bound + chance, 0.0)
    # A node of one side must be among the counts that the other side's proof has seen.
    outside = [
        side.room() - _furthest(m, side.variance) < 1.0
        for side, m in zip((above, below), nodes, strict=True)
    ]
    blind = (nodes[0] > 0) & (nodes[1] > 0) & outside[0] & outside[1]
    nodes[0] = np.where(blind, 0, nodes[0])
    # One side's error is weighed by the other side's rule.
    both = (nodes[0] > 0) & (nodes[1] > 0)
    error *= np.where(both, _STEEPEST, 1.0)
    return Plan((nodes[0], nodes[1]), error, np.where(both, 2.0, 1.0) * size)


def _smallest(
    proof: Proof, side: SideRange, largest: float, tolerance: float
) -> tuple[NDArray[np.int_], FloatArray, FloatArray]:
    """Return the least number of nodes that is enough, or 0, its error and terms."""
    chosen = np.zeros(proof.size.size, dtype=np.int_)
    bound, terms = np.zeros(proof.size.size), np.zeros(proof.size.size)
    known = np.isfinite(proof.size) & (proof.radius > 0)
    for nodes in (GAUSS, *NODE_COUNTS):
        left = np.flatnonzero(known & (chosen == 0))
        if not left.size:
            break
        least, most = (v[left] for v in side.variance)
        size, radius = proof.size[left], proof.radius[left]
        if nodes == GAUSS:
            error, weights = gauss_error(most, radius, size, largest), np.ones(1)
        else:
            error = rule_error(nodes, (least, most), radius, size, largest)
            weights = weight_size(nodes, np.sqrt(least))
        moved = OF_NODES * side.positives[1][left] / radius
        # Weights that nearly cancel would magnify rounding, and the other side's error.
        good = (error <= tolerance * size) & (weights <= _STEEPEST)
        chosen[left[good]] = nodes
        rounding = size * (OF_WEIGHTS * weights + moved)
        bound[left[good]] = (error + rounding)[good]
        terms[left[good]] = (size * weights)[good]
    return chosen, bound, terms


def _furthest(
    nodes: NDArray[np.int_], variance: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Return how far from the mean the nodes of rules may be."""
    furthest = {m: float(hermite_rule(m)[0][-1]) for m in NODE_COUNTS} | {0: 0.0}
    furthest[GAUSS] = 3.3  # Lemma 6, which wants some variance for that
    out = np.array([furthest[m] for m in nodes.tolist()]) * np.sqrt(variance[1])
    unknown = (nodes == GAUSS) & (variance[0] < SMALLEST_VARIANCE)
    return np.where(unknown, np.inf, out)
