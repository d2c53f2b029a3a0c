"""The score of one prediction: its expected value and its distribution."""

from bestcut.scores._confusion import CellIntervals, CellNumbers, ConfusionDistribution
from bestcut.scores._distribution import ScoreDistribution, ScoreSource, Surprise
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
from bestcut.scores._rows import (
    MixedRowPrediction,
    RowPrediction,
    expected_total,
    rounding_near_0,
    rounding_of_means,
    row_prediction,
)
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
    "MixedRowPrediction",
    "MixedRows",
    "Moments",
    "Predicted",
    "Prediction",
    "RowPrediction",
    "Rows",
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
    "metric_table",
    "probability_error",
    "rounding_near_0",
    "rounding_of_means",
    "row_prediction",
    "score_distribution",
]
