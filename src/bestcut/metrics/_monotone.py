"""Proofs that a metric never falls when more labels are right, for one n.

That cuts of the ranking are enough rests on the metric never falling when TP rises, at
the n that is asked about (Lemma 4 in docs/how-it-works/bounds.md). `check_metric` looks
at small n; here the verdict is a proof for the n at hand, or for every n. There are
three ways, from cheap to dear:

1. Algebra, see `_algebra_proof`: exact, and for every n at once.
2. A look at every confusion matrix, if n is small.
3. Enclosures of boxes of confusion matrices, see `_box_proof`.

A verdict of False means that there is no proof, never that the opposite was proved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from bestcut._errors import NotFollowedError
from bestcut.metrics._algebra_proof import left_by_algebra, slope_by_coefficients
from bestcut.metrics._base import (
    FractionalLinearMetric,
    Metric,
    confusion_from_counts,
    remembered,
)
from bestcut.metrics._box_proof import Search, proved_by_boxes
from bestcut.metrics._families import CustomMetric
from bestcut.metrics._moves import (
    MORE_AGREEMENT,
    MORE_TP,
    ROUNDING,
    Move,
    every_confusion,
    utility_at,
)

# The lattice of n = 80 has 91,881 confusion matrices, found among (n + 1)^3 triples of
# counts; for a short formula looking at them takes 0.07 seconds.
_LATTICE_N = 80
# A box costs 3 to 4 microseconds for a formula of five operations, and more in
# proportion: a search is given up after 0.15 seconds, or 0.3 for ten operations.
_MOST_BOXES = 40_000


def tp_never_hurts(metric: Metric, n: int) -> bool:
    """Say whether it is proved that more TP never lowers the utility, for this n.

    The utility is the score, or minus the score of a loss. It must not fall when TP
    rises by 1 at fixed `n_pred` and `n_pos`, over all confusion matrices of `n`
    instances. A fall of less than 64 units in the last place of the largest utility
    seen counts as rounding, as it does in `check_metric`.

    Parameters
    ----------
    metric : Metric
        The metric.
    n : int
        Number of instances.

    Returns
    -------
    bool
        True if it is proved. False says that no proof was found, which may be because
        the formula could not be followed or the search was given up.
    """
    known = _known_by_coefficients(metric)
    if known is not None:
        return known
    return bool(remembered(_proved, metric, int(n), MORE_TP))


def tp_never_hurts_for_any_n(metric: Metric) -> bool:
    """Say whether `tp_never_hurts` is proved for every n at once, by algebra."""
    return bool(remembered(_proved_for_any_n, metric))


@lru_cache(maxsize=256)
def _proved_for_any_n(metric: Metric) -> bool:
    known = _known_by_coefficients(metric)
    if known is not None:
        return known
    return not any(remembered(left_by_algebra, metric, move) for move in MORE_TP)


def _known_by_coefficients(metric: Metric) -> bool | None:
    """Say whether more TP never hurts a fraction, for every n; None if unknown."""
    if not isinstance(metric, FractionalLinearMetric):
        return None
    slope = slope_by_coefficients(metric)
    return None if slope is None else slope.nondecreasing


def tp_never_matters(metric: Metric, n: int) -> bool:
    """Say whether it is proved that the utility does not see TP, for this n."""
    return all(tp_never_hurts(x, n) for x in (metric, _opposite_of(metric)))


def tp_never_matters_for_any_n(metric: Metric) -> bool:
    """Say whether `tp_never_matters` is proved for every n at once, by algebra."""
    return all(tp_never_hurts_for_any_n(x) for x in (metric, _opposite_of(metric)))


def _opposite_of(metric: Metric) -> Metric:
    """Return the metric for which what was better is worse."""
    if isinstance(metric, CustomMetric):  # whose callable is followed
        return replace(metric, greater_is_better=not metric.greater_is_better)
    return _Opposite(metric)


@dataclass(frozen=True)
class _Opposite(Metric):
    metric: Metric

    @property
    def name(self) -> str:
        """How the metric is called."""
        return self.metric.name

    @property
    def greater_is_better(self) -> bool:
        """Whether a larger value is a better one."""
        return not self.metric.greater_is_better

    def score(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Evaluate without checks."""
        return self.metric.score(tp, n_pred, n_pos, n)

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells."""
        return self.metric.score_cells(tp, fp, fn, tn)


def agreement_never_hurts(metric: Metric, n: int) -> bool:
    """Say whether it is proved that one right label more never lowers the utility.

    As `tp_never_hurts`, for the four moves of one instance from a wrong cell to a right
    one: FP to TP, FP to TN, FN to TP and FN to TN.
    """
    return bool(remembered(_proved, metric, int(n), MORE_AGREEMENT))


def moves_never_hurt(metric: Metric, n: int, moves: tuple[Move, ...]) -> bool:
    """Say whether it is proved that none of some moves lowers the utility.

    As `tp_never_hurts`, for any moves between cells.
    """
    return bool(remembered(_proved, metric, int(n), moves))


@lru_cache(maxsize=256)
def _proved(metric: Metric, n: int, moves: tuple[Move, ...]) -> bool:
    left = [remembered(left_by_algebra, metric, move) for move in moves]
    if not any(left):
        return True
    try:
        if n <= _LATTICE_N:
            return _proved_on_lattice(metric, n, moves)
        budget = _MOST_BOXES // len(moves)
        return all(
            proved_by_boxes(Search(metric, float(n), move, budget), kinds)
            for move, kinds in zip(moves, left, strict=True)
        )
    except NotFollowedError:
        return False


def _proved_on_lattice(metric: Metric, n: int, moves: tuple[Move, ...]) -> bool:
    """Compare every confusion matrix with those that the moves lead to."""
    cells = np.array(confusion_from_counts(*every_confusion(n), float(n)))
    value = utility_at(metric, cells, float(n))
    noise = ROUNDING * np.max(np.abs(value))
    for move in moves:
        step = np.array(move, dtype=np.float64)[:, None]
        possible = np.all(cells + step >= 0, axis=0)
        if not np.any(possible):
            continue
        there = utility_at(metric, cells[:, possible] + step, float(n))
        if not np.all(there - value[possible] >= -noise):
            return False
    return True
