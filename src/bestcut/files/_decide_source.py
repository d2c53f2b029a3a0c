"""Decide for the rows of a source: read the scores twice, then copy the rows once.

A calibration, a goal or a condition needs more than a summary of the scores, so these
decisions are made with the scores in memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from bestcut._errors import quoted, readable
from bestcut._thresholds import halfway
from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut._writing import writing
from bestcut.calibration import Calibration
from bestcut.decision import Decision, decide
from bestcut.files._columns import probabilities, scores as any_scores
from bestcut.files._copy import Marks, copy_rows
from bestcut.files._errors import changed
from bestcut.files._progress import Advance, Step, no_step, steps
from bestcut.files._source import Batch, Source
from bestcut.goals import Goal, Mean
from bestcut.metrics import AnyMetric, Metric
from bestcut.summary import Cut, Pass, find_cut
from bestcut.uncertain import UncertainProbabilities

_MEAN = Mean()
T = TypeVar("T")
Read = Callable[..., FloatArray]  # reads probabilities or scores from a column
_KEPT = 1 << 22  # scores that are kept between the passes, 32 MB


def decide_source(
    source: Source,
    output: str | None,
    kind: str,
    *,
    proba: str,
    metric: AnyMetric,
    goal: Goal,
    at_least: Mapping[str | Metric, Any] | None,
    at_most: Mapping[str | Metric, Any] | None,
    calibration: Calibration | None,
    warn: Callable[[str], None],
    name: str,
    progress: bool | None,
    describe: Callable[[Cut], T],
    **bounds: Any,
) -> T:
    """Decide for the rows of a source, and write them with the decisions.

    Parameters
    ----------
    source : Source
        The rows.
    output, kind : str
        The file to write, and its format. None writes nothing.
    proba, metric, goal, at_least, at_most, calibration, name, progress, **bounds
        As for `decide_file`.
    warn : callable
        Receives the sentences about doubtful calibrated scores.
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
    source.check_column(proba, "`y_proba`")
    with steps(progress) as step:
        is_plain = calibration is None and goal == _MEAN and not (at_least or at_most)
        if is_plain and isinstance(metric, Metric):
            scores = _Scores(source, proba)
            run = _runner(scores, step)
            cut = find_cut(run, metric, changed=changed(source.where), **bounds)
            marks = _marks_of_cut(cut, scores)
        else:
            held, p = _held(source, proba, calibration, warn, step)
            step("Deciding", None)
            one = decide(
                p, metric, goal=goal, at_least=at_least, at_most=at_most, **bounds
            )
            cut = _cut_of(one, None if calibration is None else held)
            marks = _marks_of_labels(one.labels)
        description = describe(replace(cut, output=output))
        write_marks(source, output, kind, name, marks, step)
    return description


class _Scores:
    """A column of scores, read batch by batch.

    Those of a small file are kept for the next pass. Those of a scan are not, since
    nobody else would notice that it gives other rows the next time.
    """

    def __init__(self, source: Source, column: str, read: Read = probabilities) -> None:
        self.source, self._column, self._read = source, column, read
        self._kept: FloatArray | None = None

    def batches(self, advance: Advance) -> Iterator[FloatArray]:
        """Yield all scores in the order of the rows."""
        if self._kept is not None:
            yield self._kept
            advance(self.source.total or 0)
            return
        kept, rows = np.empty(0 if self.source.input is None else _KEPT), 0
        for batch in self.source.batches([self._column]):
            scores = self.of(batch)
            room = kept[rows : rows + scores.size]
            room[:] = scores[: room.size]
            rows += scores.size
            yield scores
            advance(batch.size)
        self._kept = kept[:rows] if rows <= kept.size else None

    def of(self, batch: Batch) -> FloatArray:
        """Return the scores of a batch."""
        if self._kept is not None:
            return self._kept[batch.before : batch.before + batch.rows]
        return self._read(batch.column(self._column), self.source.where, batch.before)


def _runner(scores: _Scores, step: Step) -> Callable[[Pass], list[Any]]:
    """Return a function that calls a pass with the scores of a source."""
    source = scores.source

    def run(asked: Pass) -> list[Any]:
        is_first = asked.window is None
        what = "Summing up the scores" if is_first else "Looking around the cut"
        answer = asked(scores.batches(step(what, source.total)))
        source.check_unchanged()
        return [answer]

    return run


def _held(
    source: Source,
    proba: str,
    calibration: Calibration | None,
    warn: Callable[[str], None],
    step: Step,
) -> tuple[FloatArray, FloatArray | UncertainProbabilities]:
    """Return a column of scores, and the probabilities that they stand for."""
    advance = step("Reading the scores", source.total)
    read = probabilities if calibration is None else any_scores
    parts = list(_Scores(source, proba, read).batches(advance))
    scores = np.concatenate([*parts, np.zeros(0)])
    if calibration is None:
        return scores, scores
    step("Calibrating", None)
    return scores, calibrated(calibration, scores, source.where, proba, warn)


def _cut_of(one: Decision, scores: FloatArray | None) -> Cut:
    """Return what was decided, without what is held for each row.

    `scores` holds the scores from which a calibration made the probabilities, if there
    was one.
    """
    # A decision and a cut give the same facts the same names.
    facts = {x.name: getattr(one, x.name) for x in fields(Cut) if hasattr(one, x.name)}
    between = None if scores is None else _between(scores, one.labels)
    return Cut(**facts, score_threshold=between)


def _between(scores: FloatArray, labels: BoolArray) -> float:
    """Return a threshold of the scores: the smallest positive one if a tie is split."""
    least = float(scores[labels].min(initial=np.inf))
    below = float(scores[~labels].max(initial=-np.inf))
    return float(halfway(below, least)) if below < least else least


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
    write_marks(source, output, kind, name, _marks_of_labels(labels), step, words)


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


def _marks_of_labels(labels: BoolArray | IndexArray) -> Marks:
    """Return labels that are known for all rows, batch by batch."""

    def marks(batch: Batch) -> BoolArray | IndexArray:
        return labels[batch.before : batch.before + batch.rows]

    return marks


def _marks_of_cut(cut: Cut, scores: _Scores) -> Marks:
    """Return the decisions of a cut; the earliest rows tied with it are positive."""
    tied = 0

    def marks(batch: Batch) -> BoolArray:
        nonlocal tied
        p = scores.of(batch)
        labels: BoolArray = cut.predict(p, tied_before=tied)
        tied += int(np.count_nonzero(p == cut.threshold))
        return labels

    return marks
