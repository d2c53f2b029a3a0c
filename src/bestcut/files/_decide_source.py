"""Decide for the rows of a source: read the scores twice, then copy the rows once.

A calibration, a goal or a condition needs more than a summary of the scores, so these
decisions are made with the scores in memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from bestcut._decide import decide
from bestcut._errors import quoted, readable
from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut._writing import writing
from bestcut.calibration import Calibration
from bestcut.files._columns import probabilities, scores as any_scores
from bestcut.files._copy import Marks, copy_rows
from bestcut.files._decision import cut_in_memory
from bestcut.files._progress import Advance, Step, no_step, steps
from bestcut.files._source import Batch, Source
from bestcut.goals import Goal
from bestcut.metrics import AnyMetric, Metric
from bestcut.summary import Bracket, Cut, ScoreSummary
from bestcut.uncertain import UncertainProbabilities

T = TypeVar("T")
Read = Callable[..., FloatArray]  # reads probabilities or scores from a column


def decide_source(
    source: Source,
    output: str | None,
    kind: str,
    *,
    proba: str,
    metric: Metric,
    min_positives: int,
    max_positives: int | None,
    name: str,
    progress: bool | None,
    describe: Callable[[Cut], T],
) -> T:
    """Decide for the rows of a source, and write them with the decisions.

    Parameters
    ----------
    source : Source
        The rows.
    output, kind : str
        The file to write, and its format. None writes nothing.
    proba, metric, min_positives, max_positives, name, progress
        As for `decide_file`.
    describe : callable
        Turns the decision into the returned value. It is called before anything is
        written, so an interruption of it leaves no file behind.

    Returns
    -------
    object
        What `describe` returned.
    """
    if output is not None:
        source.check_new(name)
    with steps(progress) as step:
        cut = find_cut(source, proba, metric, min_positives, max_positives, step)
        description = describe(replace(cut, output=output))
        write_marks(source, output, kind, name, _marks_of_cut(cut, proba), step)
    return description


def decide_held(
    source: Source,
    output: str | None,
    kind: str,
    *,
    proba: str,
    metric: AnyMetric,
    name: str,
    progress: bool | None,
    describe: Callable[[Cut], T],
    calibration: Calibration | None,
    warn: Callable[[str], None],
    goal: Goal,
    at_least: Mapping[str | Metric, Any] | None,
    at_most: Mapping[str | Metric, Any] | None,
    **bounds: Any,
) -> T:
    """Decide with the scores in memory, and write the rows with the decisions.

    Parameters
    ----------
    source, output, kind, proba, metric, name, progress, describe
        As for `decide_source`.
    calibration, goal, at_least, at_most, **bounds
        As for `decide_file`.
    warn : callable
        Receives the sentences about doubtful calibrated scores.

    Returns
    -------
    object
        What `describe` returned.
    """
    if output is not None:
        source.check_new(name)
    with steps(progress) as step:
        scores, p = _held(source, proba, calibration, warn, step)
        step("Deciding", None)
        one = decide(p, metric, goal=goal, at_least=at_least, at_most=at_most, **bounds)
        given = None if calibration is None else scores
        description = describe(cut_in_memory(one, given, output))
        write_labels(source, output, kind, name, one.labels, step)
    return description


def _held(
    source: Source,
    proba: str,
    calibration: Calibration | None,
    warn: Callable[[str], None],
    step: Step,
) -> tuple[FloatArray, FloatArray | UncertainProbabilities]:
    """Return a column of scores, and the probabilities that they stand for."""
    source.check_column(proba, "`y_proba`")
    advance = step("Reading the scores", source.total)
    read = probabilities if calibration is None else any_scores
    parts = list(_scores(source, proba, advance, read))
    scores = np.concatenate([*parts, np.zeros(0)])
    if calibration is None:
        return scores, scores
    step("Calibrating", None)
    return scores, calibrated(calibration, scores, source.where, proba, warn)


def calibrated(
    calibration: Calibration,
    scores: FloatArray,
    where: str,
    column: str,
    warn: Callable[[str], None],
) -> UncertainProbabilities:
    """Return the probabilities of scores; `warn` receives a sentence about guesses."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        p = calibration(scores)
    for each in caught:
        sentence = str(each.message).replace("`new_scores`", f"column {quoted(column)}")
        warn(f"{readable(where)}: {sentence}")
    return p


def write_labels(
    source: Source,
    output: str | None,
    kind: str,
    name: str,
    labels: BoolArray | IndexArray,
    step: Step = no_step,
    words: Sequence[str] | None = None,
) -> None:
    """Write the rows of a source with labels that are known for all of them.

    They are written as 0 and 1. If words are given, they are written as words, and the
    labels are their positions.
    """

    def marks(source: Source, batch: Batch) -> BoolArray | IndexArray:
        return labels[batch.before : batch.before + batch.rows]

    write_marks(source, output, kind, name, marks, step, words)


def find_cut(
    source: Source, proba: str, metric: Metric, low: int, high: int | None, step: Step
) -> Cut:
    """Return the best cut: sum up the scores, then look at those around the cut."""
    source.check_column(proba, "`y_proba`")
    summary = ScoreSummary()
    for scores in _scores(source, proba, step("Summing up the scores", source.total)):
        summary.update(scores)
    bracket = summary.bracket(metric, min_positives=low, max_positives=high)
    advance = step("Looking around the cut", source.total)
    values, counts = _wanted(bracket, source, proba, advance)
    source.check_unchanged()
    return bracket.refine(values, counts)


def _scores(
    source: Source, proba: str, advance: Advance, read: Read = probabilities
) -> Iterator[FloatArray]:
    for batch in source.batches([proba]):
        yield read(batch.column(proba), source.where, batch.before)
        advance(batch.size)


def _wanted(
    bracket: Bracket, source: Source, proba: str, advance: Advance
) -> tuple[FloatArray, CountArray]:
    """Return the scores that the cut depends on, and how often each occurs.

    All rows may be tied, so equal scores must not be kept one by one.
    """
    values, counts = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for scores in _scores(source, proba, advance):
        value, count = np.unique(bracket.select(scores), return_counts=True)
        values.append(value)
        counts.append(count.astype(np.int64))
    return np.concatenate(values), np.concatenate(counts)


def write_marks(
    source: Source,
    output: str | None,
    kind: str,
    name: str,
    marks: Marks,
    step: Step = no_step,
    words: Sequence[str] | None = None,
) -> None:
    """Copy the rows with the decisions, if there is an output; all rows or none."""
    if output is None:
        return
    with writing(output) as file:
        copy_rows(source, file, kind, name, marks, step, words)
        source.check_unchanged()


def _marks_of_cut(cut: Cut, proba: str) -> Marks:
    """Return the decisions of a cut; the earliest rows tied with it are positive."""
    tied = 0

    def marks(source: Source, batch: Batch) -> BoolArray:
        nonlocal tied
        scores = probabilities(batch.column(proba), source.where, batch.before)
        labels: BoolArray = cut.predict(scores, tied_before=tied)
        tied += int(np.count_nonzero(scores == cut.threshold))
        return labels

    return marks
