"""Turn probabilities into the decisions that maximise the expected metric."""

from bestcut import counts, goals, metrics
from bestcut._validation import (
    InfeasibleError,
    InvalidProbabilityError,
    SolverMismatchError,
)
from bestcut.decide import Decision, ExpectedScoreCurve, decide
from bestcut.evaluate import expected_confusion, expected_score, score_distribution
from bestcut.metrics import check_metric
from bestcut.scores import ConfusionDistribution, ScoreDistribution, Surprise

__version__ = "0.1.0"

__all__ = [
    "ConfusionDistribution",
    "Decision",
    "ExpectedScoreCurve",
    "InfeasibleError",
    "InvalidProbabilityError",
    "ScoreDistribution",
    "SolverMismatchError",
    "Surprise",
    "check_metric",
    "counts",
    "decide",
    "expected_confusion",
    "expected_score",
    "goals",
    "metrics",
    "score_distribution",
]
