"""The score of one prediction: its expected value and its law."""

from bestcut.scores._confusion import (
    CellIntervals,
    CellNumbers,
    ConfusionDistribution,
)
from bestcut.scores._distribution import ScoreDistribution, Surprise
from bestcut.scores._law import Atoms, Rows, UtilityLaw, law_of_score
from bestcut.scores._prediction import Moments, Prediction

__all__ = [
    "Atoms",
    "CellIntervals",
    "CellNumbers",
    "ConfusionDistribution",
    "Moments",
    "Prediction",
    "Rows",
    "ScoreDistribution",
    "Surprise",
    "UtilityLaw",
    "law_of_score",
]
