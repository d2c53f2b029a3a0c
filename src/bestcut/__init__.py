"""Turn probabilities into the decisions that maximise the expected metric."""

from typing import TYPE_CHECKING, Any

from bestcut import _errors, _extras, counts, goals, metrics, multiclass, multilabel
from bestcut._decide import Decision, ExpectedScoreCurve, decide
from bestcut._empirical import EmpiricalThreshold, empirical_threshold
from bestcut._errors import (
    InfeasibleError,
    InvalidProbabilityError,
    SolverMismatchError,
)
from bestcut.calibration import (
    Calibration,
    CalibrationBin,
    CalibrationCheck,
    Guarantee,
    adjust_prevalence,
    calibrate,
    calibration_check,
    estimate_prevalence,
    guarantee,
)
from bestcut.files import FileDecision, FileError, decide_file
from bestcut.goals import Certain, Condition
from bestcut.many import Decisions, SampledDecision, decide_each, decide_from_samples
from bestcut.metrics import RowUtility, check_metric
from bestcut.scores import (
    ConfusionDistribution,
    ScoreDistribution,
    Surprise,
    expected_confusion,
    expected_score,
    score_distribution,
)
from bestcut.summary import Bracket, Cut, ScoreSummary
from bestcut.uncertain import UncertainProbabilities

__version__ = "0.1.0"

__all__ = [
    "Bracket",
    "Calibration",
    "CalibrationBin",
    "CalibrationCheck",
    "Certain",
    "Condition",
    "ConfusionDistribution",
    "Cut",
    "Decision",
    "Decisions",
    "EmpiricalThreshold",
    "ExpectedScoreCurve",
    "FileDecision",
    "FileError",
    "Guarantee",
    "InfeasibleError",
    "InvalidProbabilityError",
    "RowUtility",
    "SampledDecision",
    "ScoreDistribution",
    "ScoreSummary",
    "SolverMismatchError",
    "Surprise",
    "UncertainProbabilities",
    "adjust_prevalence",
    "calibrate",
    "calibration_check",
    "check_metric",
    "counts",
    "decide",
    "decide_each",
    "decide_file",
    "decide_from_samples",
    "empirical_threshold",
    "estimate_prevalence",
    "expected_confusion",
    "expected_score",
    "goals",
    "guarantee",
    "metrics",
    "multiclass",
    "multilabel",
    "score_distribution",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if _extras.is_part(name):
            return _extras.load(name)
        raise _errors.unknown_attribute(name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_extras.installed(), "__version__"])
