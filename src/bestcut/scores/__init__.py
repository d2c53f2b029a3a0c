"""The score of one prediction: its expected value and its distribution."""

from bestcut.scores._confusion import CellIntervals, CellNumbers, ConfusionDistribution
from bestcut.scores._distribution import ScoreDistribution, ScoreSource, Surprise
from bestcut.scores._evaluate import (
    expected_confusion,
    expected_score,
    score_distribution,
)
from bestcut.scores._pairs import distribution_of_score, score_table
from bestcut.scores._predicted import Predicted
from bestcut.scores._prediction import Moments, Prediction, mean_over_draws
from bestcut.scores._row_prediction import (
    RowPrediction,
    expected_total,
    rounding_near_0,
    rounding_of_means,
    row_prediction,
)
from bestcut.scores._rows import first_that_holds
from bestcut.scores._utility import Atoms, UtilityDistribution, probability_error

__all__ = [
    "Atoms",
    "CellIntervals",
    "CellNumbers",
    "ConfusionDistribution",
    "Moments",
    "Predicted",
    "Prediction",
    "RowPrediction",
    "ScoreDistribution",
    "ScoreSource",
    "Surprise",
    "UtilityDistribution",
    "distribution_of_score",
    "expected_confusion",
    "expected_score",
    "expected_total",
    "first_that_holds",
    "mean_over_draws",
    "probability_error",
    "rounding_near_0",
    "rounding_of_means",
    "row_prediction",
    "score_distribution",
    "score_table",
]
