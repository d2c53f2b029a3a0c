"""What was decided for the rows of a file."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bestcut._decide import Decision, bounds_in_words
from bestcut._types import FloatArray
from bestcut.goals import Condition, Goal, Mean
from bestcut.metrics import AnyMetric
from bestcut.scores import AnyPrediction, Predicted
from bestcut.search import gap_in_words
from bestcut.summary import Cut


@dataclass(frozen=True, repr=False, eq=False)
class FileDecision(Predicted):
    r"""What was decided for the rows of a file.

    Attributes
    ----------
    rows : int
        How many rows there are.
    n_positive : int
        How many are positive.
    threshold : float or None
        Smallest probability predicted positive; inf if no row is positive, None if
        rows have their own amounts, as with the command's ``--worth``.
    n_tied : int
        How many of the rows whose probability equals the threshold are positive. The
        earliest of them are.
    expected_score : float
        Expected metric of the decisions.
    error : float
        Bound on the numerical error of ``expected_score``.
    gap, gap_scope : float, str
        A proved bound on what other predictions could gain beyond `error`, and which
        predictions these are; as in `bestcut.Decision`.
    metric : Metric or RowUtility
        What was maximised (a loss: minimised).
    goal, goal_value : Goal, float
        What was maximised, and its value; the expected score unless another goal was
        given.
    conditions : tuple of Condition
        What `at_least` and `at_most` asked of other metrics, and what is reached.
    bounds : (int, int)
        The least and the largest number of positives that was allowed.
    score_threshold : float or None
        Smallest score predicted positive, if a calibration turned scores into
        probabilities; inf if no row is positive, None without a calibration.
    output : str or None
        The file with the decisions, if one was written.

    See Also
    --------
    bestcut.decide_file : Returns one.
    bestcut.Decision : The same for a batch in memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bestcut
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scores, decided = Path(folder, "in.csv"), Path(folder, "out.csv")
    ...     _ = scores.write_text("p\n0.7\n0.1\n0.4\n0.35\n")
    ...     found = bestcut.decide_file(scores, decided, y_proba="p", metric="f1")
    >>> found.rows, found.n_positive, found.threshold
    (4, 3, 0.35)
    >>> round(found.distribution("precision").mean, 3)
    0.483
    """

    rows: int
    n_positive: int
    threshold: float | None
    n_tied: int
    expected_score: float
    error: float
    gap: float
    gap_scope: str
    metric: AnyMetric
    goal: Goal
    goal_value: float
    conditions: tuple[Condition, ...]
    bounds: tuple[int, int]
    score_threshold: float | None
    output: str | None
    _prediction: AnyPrediction = field(repr=False)

    def __repr__(self) -> str:
        bounds = bounds_in_words(*self.bounds, self.rows)
        aims = "".join(f", {condition!r}" for condition in self.conditions)
        return (
            f"FileDecision({self.metric.name}: {self.n_positive} of {self.rows} "
            f"positive{bounds and f' ({bounds})'}, {self._cut_in_words()}, expected "
            f"score {self.expected_score:.6g}{aims} [error {self.error:.1e}, "
            f"{gap_in_words(self.gap, self.gap_scope)}])"
        )

    def _cut_in_words(self) -> str:
        if self.threshold is None:
            return "ranked by expected gain"
        return f"threshold {self.threshold:.6g}"


def decision_of(cut: Cut, bounds: tuple[int, int], output: str | None) -> FileDecision:
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
        goal=Mean(),
        goal_value=cut.expected_score,
        conditions=(),
        bounds=bounds,
        score_threshold=None,
        output=output,
        _prediction=cut._prediction,
    )


def decision_in_memory(
    one: Decision, mean: FloatArray, scores: FloatArray | None, output: str | None
) -> FileDecision:
    """Return what was decided for rows whose scores are held in memory.

    `mean` holds the probabilities of the rows. `scores` holds the scores from which a
    calibration made them, if there was one.
    """
    lowest, tied = None, 0
    if one.threshold is not None:
        tied = int(np.count_nonzero(mean[one.labels] == one.threshold))
        if scores is not None:
            lowest = float(scores[one.labels].min(initial=np.inf))
    return FileDecision(
        rows=one.labels.size,
        n_positive=one.n_positive,
        threshold=one.threshold,
        n_tied=tied,
        expected_score=one.expected_score,
        error=one.error,
        gap=one.gap,
        gap_scope=one.gap_scope,
        metric=one.metric,
        goal=one.goal,
        goal_value=one.goal_value,
        conditions=one.conditions,
        bounds=one.bounds,
        score_threshold=lowest,
        output=output,
        _prediction=one._prediction,
    )
