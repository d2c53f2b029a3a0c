"""One threshold for rows to come: the best cut that splits no tie, of rows at hand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

import numpy as np

from bestcut import _errors as errors
from bestcut._empirical import threshold_between
from bestcut._types import FloatArray
from bestcut.decision import Decision
from bestcut.goals import DistributionGoal
from bestcut.uncertain import UncertainProbabilities

_GRID = 1025  # places at which a map is looked at together

Probabilities: TypeAlias = FloatArray | UncertainProbabilities
DecideWithin: TypeAlias = Callable[[int, int], Decision]


def means(probabilities: Probabilities) -> FloatArray:
    """Return one probability for each row."""
    if isinstance(probabilities, UncertainProbabilities):
        return probabilities.mean
    return probabilities


def best_threshold(p: FloatArray, decide_within: DecideWithin) -> float:
    """Return the threshold on `p` with the best goal.

    Of all thresholds that make the same cut it is 1/2 if possible, and otherwise the
    one halfway, in single precision if possible. `decide_within` returns the best
    decision for these rows with at least and at most so many positives.
    """
    cut = _untied(p, decide_within, 0, p.size).threshold
    assert cut is not None  # a metric of counts has one
    below = p[p < cut].max(initial=-np.inf)
    above = p[p >= cut].min(initial=np.inf)
    return _in_single(threshold_between(below, above, 0.5), below, above)


def _untied(
    p: FloatArray, decide_within: DecideWithin, low: int, high: int
) -> Decision:
    """Return the best decision that takes all rows of a tie or none of them."""
    decision = decide_within(low, high)
    assert decision.threshold is not None  # a metric of counts has one
    above, upto = (
        int(np.count_nonzero(compare(p, decision.threshold)))
        for compare in (np.greater, np.greater_equal)
    )
    if decision.n_positive == upto:
        return decision
    found = []
    for first, last in ((low, above), (upto, high)):
        if first <= last:
            with suppress(errors.InfeasibleError):
                found.append(_untied(p, decide_within, first, last))
    if not found:
        raise errors.infeasible_threshold(decision.threshold)
    return max(found, key=_goodness)


def _goodness(decision: Decision) -> float:
    """Return the value of the goal, larger is better."""
    value, metric = decision.goal_value, decision.metric
    if isinstance(decision.goal, DistributionGoal):
        return decision.goal.shown(value, metric)  # which undoes itself
    return value if metric.greater_is_better else -value


def score_reaching(
    threshold: float, scores: FloatArray, map_: Callable[[FloatArray], FloatArray]
) -> float:
    """Return the score at which a nondecreasing map reaches a threshold.

    It lies above the largest of `scores` below the threshold, and is at most the
    smallest one that reaches it; there it is rounded to single precision if possible.
    """
    p = map_(scores)
    low = scores[p < threshold].max(initial=-np.inf)
    high = scores[p >= threshold].min(initial=np.inf)
    if np.isinf(low) or np.isinf(high):
        return float(low if np.isinf(low) else high)
    first, last = low, high
    while np.nextafter(first, last) < last:
        grid = np.linspace(first, last, _GRID)
        j = max(int(np.argmax(map_(grid) >= threshold)), 1)
        first, last = grid[j - 1], grid[j]
    return _in_single(last, low, high)


def _in_single(value: float, low: float, high: float) -> float:
    """Return the value in single precision, if that is above `low` and at most `high`.

    Scores in single precision are often compared in that precision, where another
    threshold would be rounded: to one side or the other.
    """
    with np.errstate(over="ignore"):
        single = float(np.float32(value))
    return single if low < single <= high else float(value)
