"""Two passes over the scores, then one copy of the rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bestcut._types import BoolArray, FloatArray
from bestcut.files._copy import Marks, copy_rows
from bestcut.files._output import writing
from bestcut.files._progress import Advance, Step
from bestcut.files._source import Batch, Source
from bestcut.metrics import Metric
from bestcut.summary import Bracket, Cut, ScoreSummary


def find_cut(
    source: Source, proba: str, metric: Metric, low: int, high: int | None, step: Step
) -> Cut:
    """Return the best cut: sum the scores up, then look at those around it."""
    source.check_column(proba, "`proba`")
    summary = ScoreSummary()
    for scores in _scores(source, proba, step("Summing up the scores", source.total)):
        summary.update(scores)
    bracket = summary.bracket(metric, min_positives=low, max_positives=high)
    advance = step("Looking around the cut", source.total)
    values, counts = _wanted(bracket, source, proba, advance)
    source.check_unchanged()
    return bracket.refine(values, counts)


def _scores(source: Source, proba: str, advance: Advance) -> Iterator[FloatArray]:
    for batch in source.batches([proba]):
        yield source.probabilities(batch, proba)
        advance(batch.size)


def _wanted(
    bracket: Bracket, source: Source, proba: str, advance: Advance
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the scores that the cut depends on, and how often each occurs.

    Ties may be as many as the rows, so that equal scores must not be kept one by one.
    """
    values, counts = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for scores in _scores(source, proba, advance):
        value, count = np.unique(bracket.select(scores), return_counts=True)
        values.append(value)
        counts.append(count.astype(np.int64))
    return np.concatenate(values), np.concatenate(counts)


def write_cut(
    source: Source, cut: Cut, proba: str, output: str, kind: str, name: str, step: Step
) -> None:
    """Copy the rows with the decisions; all of them or none."""
    with writing(output) as file:
        copy_rows(source, file, kind, name, _marks(cut, proba), step)
        source.check_unchanged()


def _marks(cut: Cut, proba: str) -> Marks:
    """Return the decisions of a cut: of those tied with it, the earliest."""
    tied = 0

    def marks(source: Source, batch: Batch) -> BoolArray:
        nonlocal tied
        scores = source.probabilities(batch, proba)
        labels = cut.labels(scores, tied_before=tied)
        tied += int(np.count_nonzero(scores == cut.threshold))
        return labels

    return marks
