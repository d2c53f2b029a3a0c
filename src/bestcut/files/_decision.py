"""What was decided for the rows of a file."""

from __future__ import annotations

from dataclasses import dataclass, field

from bestcut.metrics import Metric
from bestcut.scores import Predicted, Prediction
from bestcut.search import gap_in_words
from bestcut.summary import Cut


@dataclass(frozen=True, repr=False, eq=False)
class FileDecision(Predicted):
    """What was decided for the rows of a file.

    Attributes
    ----------
    rows : int
        How many rows there are.
    n_positive : int
        How many are positive.
    threshold : float
        Smallest probability predicted positive; inf when none is.
    n_tied : int
        How many of the rows whose probability is the threshold are positive: the
        earliest.
    expected_score : float
        Expected metric of the decisions.
    error : float
        Bound on the numerical error of `expected_score`.
    gap, gap_scope : float, str
        What other predictions could gain beyond `error` at most, proved, and which
        predictions these are; as in `bestcut.Decision`.
    metric : Metric
        What was maximised (a loss: minimised).
    output : str
        The file with the decisions.
    """

    rows: int
    n_positive: int
    threshold: float
    n_tied: int
    expected_score: float
    error: float
    gap: float
    gap_scope: str
    metric: Metric
    output: str
    _prediction: Prediction = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"FileDecision({self.metric.name}: {self.n_positive} of {self.rows} "
            f"positive, threshold {self.threshold:.6g}, expected score "
            f"{self.expected_score:.6g} [error {self.error:.1e}, "
            f"{gap_in_words(self.gap, self.gap_scope)}])"
        )


def decision_of(cut: Cut, output: str) -> FileDecision:
    """Return what a cut decides for the rows that are written to `output`."""
    return FileDecision(
        rows=cut.n,
        n_positive=cut.n_positive,
        threshold=cut.threshold,
        n_tied=cut.n_tied,
        expected_score=cut.expected_score,
        error=cut.error,
        gap=cut.gap,
        gap_scope=cut.gap_scope,
        metric=cut.metric,
        output=output,
        _prediction=cut._prediction,
    )
