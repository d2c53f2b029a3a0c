"""Turn probabilities into the decisions that maximise the expected metric."""

from bestcut import counts, metrics
from bestcut._validation import InvalidProbabilityError, SolverMismatchError
from bestcut.decide import Decision, ExpectedScoreCurve, decide
from bestcut.metrics import check_metric

__version__ = "0.1.0"

__all__ = [
    "Decision",
    "ExpectedScoreCurve",
    "InvalidProbabilityError",
    "SolverMismatchError",
    "check_metric",
    "counts",
    "decide",
    "metrics",
]
