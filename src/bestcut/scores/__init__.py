"""The score of one prediction: its expected value and its distribution."""

from bestcut.scores._confusion import CellIntervals, CellNumbers, ConfusionDistribution
from bestcut.scores._distribution import ScoreDistribution, Surprise
from bestcut.scores._evaluate import (
    expected_confusion,
    expected_score,
    score_distribution,
)
from bestcut.scores._mixture import (
    AnyPrediction,
    MixedPrediction,
    MixedRows,
    mean_over_draws,
    metric_table,
)
from bestcut.scores._predicted import Predicted
from bestcut.scores._prediction import Moments, Prediction
from bestcut.scores._utility import (
    Atoms,
    Rows,
    UtilityDistribution,
    distribution_of_score,
    first_that_holds,
    probability_error,
)

__all__ = [
    "AnyPrediction",
    "Atoms",
    "CellIntervals",
    "CellNumbers",
    "ConfusionDistribution",
    "MixedPrediction",
    "MixedRows",
    "Moments",
    "Predicted",
    "Prediction",
    "Rows",
    "ScoreDistribution",
    "Surprise",
    "UtilityDistribution",
    "distribution_of_score",
    "expected_confusion",
    "expected_score",
    "first_that_holds",
    "mean_over_draws",
    "metric_table",
    "probability_error",
    "score_distribution",
]
