"""What was decided for the rows of a file."""

from __future__ import annotations

import numpy as np

from bestcut._decide import Decision
from bestcut._thresholds import halfway
from bestcut._types import BoolArray, FloatArray
from bestcut.summary import Cut


def cut_in_memory(one: Decision, scores: FloatArray | None) -> Cut:
    """Return what was decided for rows whose scores are held in memory.

    `scores` holds the scores from which a calibration made the probabilities, if there
    was one.
    """
    return Cut(
        n=one.n,
        n_positive=one.n_positive,
        threshold=one.threshold,
        n_tied=one.n_tied,
        expected_score=one.expected_score,
        error=one.error,
        gap=one.gap,
        gap_scope=one.gap_scope,
        metric=one.metric,
        solver=one.solver,
        goal=one.goal,
        goal_value=one.goal_value,
        conditions=one.conditions,
        bounds=one.bounds,
        score_threshold=None if scores is None else _between(scores, one.labels),
        _prediction=one._prediction,
    )


def _between(scores: FloatArray, labels: BoolArray) -> float:
    """Return a threshold of the scores: the smallest positive one if a tie is split."""
    least = float(scores[labels].min(initial=np.inf))
    below = float(scores[~labels].max(initial=-np.inf))
    return float(halfway(below, least)) if below < least else least
