"""The score of one prediction: its expected value and its distribution."""

from bestcut.scores._confusion import CellIntervals, CellNumbers, ConfusionDistribution
from bestcut.scores._distribution import ScoreDistribution, Surprise
from bestcut.scores._evaluate import (
    expected_confusion,
    expected_score,
    score_distribution,
)
from bestcut.scores._law import (
    Atoms,
    Rows,
    UtilityLaw,
    first_that_holds,
    law_of_score,
    probability_error,
)
from bestcut.scores._predicted import Predicted
from bestcut.scores._prediction import Moments, Prediction

__all__ = [
    "Atoms",
    "CellIntervals",
    "CellNumbers",
    "ConfusionDistribution",
    "Moments",
    "Predicted",
    "Prediction",
    "Rows",
    "ScoreDistribution",
    "Surprise",
    "UtilityLaw",
    "expected_confusion",
    "expected_score",
    "first_that_holds",
    "law_of_score",
    "probability_error",
    "score_distribution",
]
