"""Proved bounds on a metric over boxes of counts, and on its largest score.

A metric is a formula, and its formula is followed with an `Enclosure` in the place of
every cell: interval arithmetic [1]_ (Lemma 1 in docs/how-it-works/lemmas.md). The
largest score of n instances is bounded by boxes that cover all of their confusion
matrices (Lemma 2).

References
----------
.. [1] R. E. Moore, R. B. Kearfott, M. J. Cloud. *Introduction to Interval Analysis.*
   SIAM, 2009.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from bestcut._errors import NotFollowedError
from bestcut._types import EPS, FloatArray
from bestcut.metrics._base import Metric, remembered
from bestcut.metrics._enclosure import (
    MOVE,
    Enclosure,
    Form,
    as_enclosure,
)
from bestcut.metrics._families import CustomMetric
from bestcut.metrics._following import followed, formula_of
from bestcut.metrics._interval import ANYTHING, Interval, spread
from bestcut.metrics._moves import Move

_TP, _N_PRED, _N_POS, _N = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
_FP, _FN, _TN = (-1, 1, 0, 0), (-1, 0, 1, 0), (1, -1, -1, 1)


class Box(NamedTuple):
    """Intervals for the counts and for the cells of a confusion matrix.

    Neither follows from the other without getting wider.
    """

    tp: Interval
    n_pred: Interval
    n_pos: Interval
    fp: Interval
    fn: Interval
    tn: Interval


def box_of_cells(low: FloatArray, high: FloatArray, n: float) -> Box:
    """Return the boxes between smallest and largest cells, which sum to n."""
    tp, fp, fn, tn = map(Interval, low, high)
    n_pred, n_pos = (
        Interval(
            np.maximum(tp.lo + x.lo, n - y.hi - tn.hi),
            np.minimum(tp.hi + x.hi, n - y.lo - tn.lo),
        )
        for x, y in ((fp, fn), (fn, fp))
    )
    return Box(tp, n_pred, n_pos, fp, fn, tn)


def enclosed(
    metric: Metric,
    box: Box,
    n: float,
    *,
    slopes: bool = True,
    move: Move | None = None,
) -> Enclosure | None:
    """Return bounds on a metric over boxes of counts; None if it cannot be followed.

    Without `slopes` only its value is bounded, which takes a fraction of the time. With
    a `move` between cells, the only slope is the one along it, called `MOVE`, and a
    formula is not followed beyond the largest float.
    """
    one = Interval(1.0, 1.0)
    rest, negatives = n - box.n_pred.hi, n - box.n_pos.hi
    known = {
        _TP: box.tp,
        _N_PRED: box.n_pred,
        _N_POS: box.n_pos,
        _N: Interval(np.float64(n), np.float64(n)),
        _FP: box.fp,
        _FN: box.fn,
        _TN: box.tn,
        (0, -1, 0, 1): Interval(rest, n - box.n_pred.lo),
        (0, 0, -1, 1): Interval(negatives, n - box.n_pos.lo),
    }
    steps: dict[Form, dict[str, Interval]] = {
        _TP: {"1": one, "a": one},
        _FP: {"0": one, "a": -one},
        _FN: {"1": -one, "b": one},
        _TN: {"0": -one, "b": -one},
    }
    if move is not None:
        along = (Interval(float(step), float(step)) for step in move)
        steps = {form: {MOVE: step} for form, step in zip(steps, along, strict=True)}
    cells = [
        Enclosure(known[form], step if slopes else {}, form, known)
        for form, step in steps.items()
    ]
    try:
        with np.errstate(
            over="ignore" if move is None else "raise",
            invalid="ignore",
            divide="ignore",
        ):
            found: Enclosure = followed(formula_of(metric), as_enclosure, *cells)
    except NotFollowedError:
        return None
    if isinstance(metric, CustomMetric):  # the others see to it themselves
        undefined = None if metric.form == "rates" else metric.zero_division
        return _with_zero_division(found, undefined)
    return found


def _with_zero_division(found: Enclosure, undefined: float | None) -> Enclosure:
    """Return what a callable is, with `undefined` in the place of what is no number."""
    if found.risk is None:
        return found
    (surely, maybe), value = found.risk, found.value
    if undefined is not None:
        instead = Interval(undefined, undefined)
        value = instead.chosen(surely, value.hull(instead).chosen(maybe, value))
    jumps = {name: ANYTHING.chosen(maybe, x) for name, x in found.slopes.items()}
    return Enclosure(value, jumps)


def rounding_at(metric: Metric, tp: Any, fp: Any, fn: Any, tn: Any) -> FloatArray:
    """Bound by how much rounding moves a score, in a few ways to compute it.

    It is the width of what interval arithmetic makes of the formula at these cells, so
    that a difference of large terms has the rounding of these. Of a formula that cannot
    be followed, the score speaks for its terms.
    """
    tp, fp, fn, tn = (np.asarray(x, dtype=np.float64) for x in (tp, fp, fn, tn))
    counts = tp, tp + fp, tp + fn, fp, fn, tn
    box = Box(*(Interval(x, x) for x in counts))
    found = enclosed(metric, box, tp + fp + fn + tn, slopes=False)
    score = np.abs(np.broadcast_to(metric.score_cells(tp, fp, fn, tn), tp.shape))
    room = np.zeros(tp.shape)
    if found is not None:
        low, high = spread(found.value, tp.shape)
        room = np.where(np.isfinite(high - low), high - low, 0.0)
    return np.asarray(4.0 * room + 16 * EPS * score)


def score_bound(metric: Metric, n: int) -> float:
    """Return a proved bound on the absolute score of n instances, or infinity.

    A denominator is 0, or a root has no slope, where some of the four cells are 0. So
    there are boxes in which each cell is 0, from 1 to 7, from 8 to 63, and so on: cells
    are whole numbers (Lemma 2).
    """
    if metric.bound is not None:
        return metric.bound
    if n == 0:
        return float("inf")
    return float(remembered(_bound_by_boxes, metric, n))


@lru_cache(maxsize=256)
def _bound_by_boxes(metric: Metric, n: int) -> float:
    starts = np.append(0.0, 8.0 ** np.arange(int(np.log2(n)) // 3 + 1))
    ends = np.append(np.minimum(starts[1:] - 1.0, n), n)
    low = np.array(list(product(starts, repeat=4))).T
    high = np.array(list(product(ends, repeat=4))).T
    for _ in range(2):  # the cells sum to n: what the others leave
        high = np.minimum(high, n - (low.sum(axis=0) - low))
        low = np.maximum(low, n - (high.sum(axis=0) - high))
    possible = (low <= high).all(axis=0) & (low.sum(axis=0) <= n)
    box = box_of_cells(low[:, possible], high[:, possible], float(n))
    found = enclosed(metric, box, float(n), slopes=False)
    if found is None:
        return float("inf")
    return float(max(np.max(np.abs(x)) for x in spread(found.value, box.tp.lo.shape)))


def largest_score(metric: Metric, n: int) -> float:
    """Return a bound on the absolute score of n instances.

    Of a callable that cannot be followed, or that has a pole among the counts, some
    values are taken, and it is supposed that none is more than a thousand times as
    large. That is only used for what windows leave out, with a probability below 1e-17;
    nothing is left out of a search by it.
    """
    proved = score_bound(metric, n)
    return proved if np.isfinite(proved) else 1e3 * _largest_of_some(metric, n)


def _largest_of_some(metric: Metric, n: int) -> float:
    """Return the largest absolute score at some confusion matrices, small and large."""
    steps = np.append(np.geomspace(1, max(n, 1), 12), [0.0, 2.0])
    steps = np.unique(steps.astype(int))
    tp, fp, fn = np.meshgrid(*3 * [steps.astype(np.float64)])
    possible = tp + fp + fn <= n
    tp, fp, fn = (x[possible] for x in (tp, fp, fn))
    # From either end of the ranking: many negatives, or many positives.
    cells = (tp, fp, fn, n - tp - fp - fn), (n - tp - fp - fn, fp, fn, tp)
    return max(float(np.max(np.abs(metric.score_cells(*x)))) for x in cells)
