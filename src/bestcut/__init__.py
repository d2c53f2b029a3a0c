"""Turn probabilities into the decisions that maximise the expected metric.

Begin with one probability for each row, and the metric you are judged by:

>>> import bestcut
>>> decision = bestcut.decide([0.62, 0.48, 0.31, 0.22, 0.04], metric="f1")
>>> decision.labels.tolist()
[True, True, True, False, False]
>>> decision.distribution()
F1 0.6, 90% between 0.0 and 1.0

Then, by what you have and what you want:

- scores, and labels for some of them: `calibrate`, `check_calibration`, `guarantee`
- what predictions will score: `expected_score`, `score_distribution`
- money, amounts per row: `metrics.LinearUtility`, `RowUtility`
- a metric of your own: `metrics.from_counts`, `check_metric`; `metrics.names()` lists
  those that have names
- conditions, budgets, caution: `decide(at_least=, at_most=, max_positives=, goal=)`
- many small problems, groups: `decide_each`
- one class for each row: `multiclass.decide`; a set of labels: `multilabel.decide`
- a file: `decide_file`, or the command ``bestcut``; a stream: `streams.ScoreSummary`

These are loaded on first use, and need more than NumPy:

- scikit-learn: `bestcut.estimators`, `bestcut.scorers`
- plots and a page to show: `bestcut.displays`, `bestcut.report`
- tensors: `bestcut.torch`; dask and Spark: `bestcut.distributed`
"""

from typing import TYPE_CHECKING, Any

from bestcut import (
    _errors,
    _extras,
    _public,
    calibration,
    counts,
    goals,
    metrics,
    multiclass,
    multilabel,
    streams,
)
from bestcut._empirical import (
    EmpiricalThreshold as EmpiricalThreshold,
    empirical_threshold,
)
from bestcut._errors import (
    InfeasibleError,
    InvalidProbabilityError,
    SolverMismatchError,
)
from bestcut.assignment import RowRule
from bestcut.calibration import (
    Calibration,
    CalibrationCheck,
    Guarantee,
    calibrate,
    check_calibration,
    guarantee,
)
from bestcut.decision import Decision, ExpectedScoreCurve, decide
from bestcut.files import FileError, decide_file
from bestcut.many import (
    Decisions,
    SampledDecision,
    decide_each,
    decide_samples,
)
from bestcut.metrics import RowUtility, check_metric
from bestcut.scores import (
    ConfusionDistribution,
    ScoreDistribution,
    Surprise as Surprise,
    expected_confusion,
    expected_score,
    score_distribution,
)
from bestcut.uncertain import UncertainProbabilities

__version__ = "0.3.0"

__all__ = [
    "Calibration",
    "CalibrationCheck",
    "ConfusionDistribution",
    "Decision",
    "Decisions",
    "ExpectedScoreCurve",
    "FileError",
    "Guarantee",
    "InfeasibleError",
    "InvalidProbabilityError",
    "RowRule",
    "RowUtility",
    "SampledDecision",
    "ScoreDistribution",
    "SolverMismatchError",
    "UncertainProbabilities",
    "calibrate",
    "calibration",
    "check_calibration",
    "check_metric",
    "counts",
    "decide",
    "decide_each",
    "decide_file",
    "decide_samples",
    "empirical_threshold",
    "expected_confusion",
    "expected_score",
    "goals",
    "guarantee",
    "metrics",
    "multiclass",
    "multilabel",
    "score_distribution",
    "streams",
]

_public.publish(__name__, globals(), "EmpiricalThreshold", "Surprise")

_PARTS = (calibration, counts, goals, metrics, multiclass, multilabel, streams)


def _place_of(name: str) -> str | None:
    """Return which of our modules lists a name, without loading any."""
    listed = {part.__name__: part.__all__ for part in _PARTS}
    listed |= {f"bestcut.{part}": names for part, names in _extras.NAMES.items()}
    return next((place for place, names in listed.items() if name in names), None)


if TYPE_CHECKING:
    from bestcut import (
        displays as displays,
        distributed as distributed,
        estimators as estimators,
        report as report,
        scorers as scorers,
        torch as torch,
    )
else:

    def __getattr__(name: str) -> Any:
        if name in _extras.NEEDS:
            return _extras.load(name)
        raise _errors.unknown_attribute(name, place=_place_of(name))


def __dir__() -> list[str]:
    return sorted([*__all__, *_extras.installed(), "__version__"])
