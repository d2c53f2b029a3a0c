"""The rule for the total of positives, proved for ranges of cuts (affine metrics)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray
from bestcut.counts import (
    COVER_CENTRES,
    COVER_RADIUS,
    NODE_COUNTS,
    OF_NODES,
    OF_WEIGHTS,
    SMALLEST_VARIANCE,
    WIDE,
    hermite_rule,
    rule_error,
    stray,
    weight_size,
)
from bestcut.metrics import Affine, Disc, ratio, size_at_counts

_LOG_CHANCE = -42.0  # of a total of positives beyond what is looked at: 6e-19


_TOO_MUCH = 6e-13  # of the largest score, with rounding, at most cuts


_MADE = 20.0  # evaluations an instance that it takes to make a distribution


_SHORT = 16.0  # standard deviations of a count that takes few values


_ENOUGH = 2e-13  # of the size of the metric: what a rule for all cuts may leave


class TotalPlan(NamedTuple):
    """The rule for the total of positives, and its error at the cuts.

    Attributes
    ----------
    nodes : int
        How many; 0 if no rule is worth it, and the exact distribution is taken.
    start : ndarray
        The first cut of each range of cuts.
    proved : ndarray of bool
        Where the rule may be used; the exact distribution is taken elsewhere.
    error : ndarray
        What the rule is wrong by there, rounding included.
    size : ndarray
        How large the terms are that are added up there.
    """

    nodes: int
    start: FloatArray
    proved: BoolArray
    error: FloatArray
    size: FloatArray

    def error_between(self, low: int, high: int, running: float) -> FloatArray:
        """Return the error at the cuts from `low` to `high`, with running sums."""
        first, last = np.searchsorted(self.start, [low, high], side="right").tolist()
        out = np.empty(high - low + 1)
        for i in range(first - 1, last):
            begin = max(int(self.start[i]) - low, 0)
            out[begin:] = self.error[i] + running * self.size[i]
        return out


NO_RULE = TotalPlan(0, np.zeros(1), np.zeros(1, bool), np.zeros(1), np.zeros(1))


def plan_total(
    metric: Affine, positives: float, negatives: float, variance: float, largest: float
) -> TotalPlan:
    """Choose the rule for the total of positives that takes the fewest evaluations.

    The metric is affine in TP (Lemma 7). Cuts are taken in ranges that double in length
    from either end of the ranking; each has the circle that proves most for it.
    """
    if variance < SMALLEST_VARIANCE or not np.isfinite(largest):
        return NO_RULE
    n = float(np.rint(positives + negatives))
    low, high = _doubling(n)
    sigma, room = float(np.sqrt(variance)), min(positives, negatives)
    # The count that the sum is over: positives above the cut, or those below it.
    below = low >= n // 2
    most = np.where(below, n - low, high)
    part = np.minimum(most, positives + float(stray(np.array(variance), _LOG_CHANCE)))
    # A row for each circle that is tried, a column for each range of cuts.
    tried = np.array([*(x * (sigma + 1.0) for x in WIDE), 0.65 * room, 0.35 * room])
    radius = np.minimum.outer(tried, np.where(part < most, 1.4 * part, np.inf))
    at = positives + np.multiply.outer(COVER_CENTRES, radius)
    spans = COVER_RADIUS * radius, 0.0
    n_pos = Disc(at, 0.0, 1.0, 0.0, spans)
    half = part / 2
    tp = Disc(
        np.where(below, at - half, half), half * (1 + EPS), 1.0 * below, 0.0, spans
    )
    found = size_at_counts(metric, tp, Disc.between(low, high), n_pos, n)
    if found is None:
        return NO_RULE
    size = np.broadcast_to(found, (COVER_CENTRES.size, *radius.shape)).max(axis=0)
    usual = float(np.median(size[-1]))
    if not np.isfinite(usual):
        return NO_RULE
    here = np.where(np.isfinite(size[-1]), size[-1], 0.0)
    enough = _ENOUGH * np.maximum(here, usual)
    spread = np.full(radius.size, variance)
    best, least = NO_RULE, (12.0 + 18.0 * sigma) * n
    for nodes in NODE_COUNTS[_first_worth(variance) :]:
        error = rule_error(
            nodes, (spread, spread), radius.ravel(), size.ravel(), largest, affine=True
        ).reshape(radius.shape)
        circle = np.argmin(error, axis=0)[None]
        error, slope = (
            np.take_along_axis(x, circle, axis=0)[0] for x in (error, size / radius)
        )
        proved = error <= enough
        exact = (12.0 + 18.0 * sigma) * float(np.sum((high - low + 1.0)[~proved]))
        exact += 0.0 if np.all(proved) else _MADE * n
        if nodes * n + exact < least:
            least = nodes * n + exact
            total = error + OF_NODES * positives * slope
            best = TotalPlan(nodes, low, proved, total, total)
        if exact <= nodes * n:  # more nodes would save little
            break
    if best.nodes == 0:
        return NO_RULE
    return _with_rounding(best, metric, high, positives, sigma, largest)


def _first_worth(variance: float) -> int:
    """Return which of `NODE_COUNTS` is the first that is likely to be enough."""
    return int(np.sum(variance < np.array([1e4, 4e3, 500.0, 200.0])))


def _with_rounding(
    plan: TotalPlan,
    metric: Affine,
    last: FloatArray,
    mean: float,
    sigma: float,
    largest: float,
) -> TotalPlan:
    """Return the plan with what its sums round (Lemma 8), if that is little."""
    n = float(last[-1])
    at = mean + sigma * hermite_rule(plan.nodes)[0][:, None]
    # Between the ends of a range, which double, terms at most triple.
    terms = 3.0 * np.maximum(*(_terms(metric, x, at, n) for x in (plan.start, last)))
    terms *= weight_size(plan.nodes, np.array([sigma]), affine=True)
    total = plan.error + OF_WEIGHTS * terms
    good = total <= _TOO_MUCH * largest
    if np.mean(good[plan.proved]) < 0.5:
        return NO_RULE
    # Where a distribution is short, it is better than a rule that rounds much.
    proved = plan.proved & good if sigma < _SHORT else plan.proved
    return plan._replace(proved=proved, error=total, size=terms)


def _terms(metric: Affine, cuts: FloatArray, n_pos: FloatArray, n: float) -> FloatArray:
    """Bound the terms that an affine metric is added up from at some cuts.

    Beyond the middle of the ranking the sum is over the instances below, see `_affine`.
    """
    alpha, beta, delta = metric.affine(cuts, n_pos, n)
    first = np.abs(alpha) * np.minimum(cuts, n_pos) + np.abs(beta)
    # The whole and what is taken from it may nearly cancel: its rounding stays.
    whole = alpha * n_pos + beta
    rest = np.abs(alpha) * (n - cuts) + np.abs(whole)
    rest = rest + 4 * EPS / OF_WEIGHTS * (np.abs(alpha) * n_pos + np.abs(beta))
    size = ratio(np.where(cuts < n // 2, first, rest), np.abs(delta), 0.0)
    out: FloatArray = np.max(np.broadcast_to(size, (n_pos.size, cuts.size)), axis=0)
    return out


def _doubling(n: float) -> tuple[FloatArray, FloatArray]:
    """Return ranges of whole numbers that cover 0 to n, short near both ends.

    The middle is the start of one. Next to it, where roots bend most for their length,
    they are shorter.
    """
    steps = 2.0 ** np.arange(np.ceil(np.log2(max(n / 2, 1.0))) + 1)
    steps = np.sort(np.append(steps, 1.5 * steps[steps >= max(n / 8, 2.0)]))
    starts = np.concatenate([[0.0], steps[steps <= n - n // 2]])
    ends = np.append(starts[1:] - 1.0, n - n // 2)
    above = starts < n // 2
    low = np.concatenate([starts[above], n - ends[::-1]])
    high = np.concatenate([np.minimum(ends[above], n // 2 - 1), n - starts[::-1]])
    return low, high
