"""Options that calibrate scores on a file of labels, and what they print."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

import bestcut
from bestcut._errors import plain, quoted, readable, worded
from bestcut._types import BoolArray, FloatArray
from bestcut.cli._problem import Problem
from bestcut.files.sources import Source, calibrated, no_rows, open_source

_OPTIONS = (
    click.option(
        "--calibrate",
        metavar="FILE",
        type=click.Path(allow_dash=True, dir_okay=False),
        help="File of labelled scores, which turn the scores in --proba into "
        "probabilities.",
    ),
    click.option(
        "--calibrate-label",
        metavar="NAME",
        help="Column of labels in that file, if it is neither named as in --label nor "
        "the only other column.",
    ),
    click.option(
        "--calibrate-proba",
        metavar="NAME",
        help="Column of scores in that file, if it is neither named as in --proba nor "
        "the only other column.",
    ),
)
COVERS = "The interval covers chance in the labels and doubt about the calibration."


@dataclass(frozen=True, eq=False)
class Labelled:
    """Scores with labels, and the calibration learned from them.

    Attributes
    ----------
    where : str
        The file.
    labels, scores : ndarray
        What it holds.
    calibration : Calibration
        What was learned from it.
    notes : list of str
        What is doubtful, in sentences.
    """

    where: str
    labels: BoolArray
    scores: FloatArray
    calibration: bestcut.Calibration
    notes: list[str] = field(default_factory=list)

    def probabilities(
        self, source: Source, column: str
    ) -> bestcut.UncertainProbabilities:
        """Return the probabilities of a column of scores."""
        scores = source.scores(column, "`y_proba`")
        warn = self.notes.append
        return calibrated(self.calibration, scores, source.where, column, warn)

    @property
    def name(self) -> str:
        """What the file is called, without its folder."""
        return Path(self.where).name

    def facts(self) -> dict[str, Any]:
        """Return for machines how the scores were calibrated."""
        return {
            "file": self.where,
            "labels": self.calibration.n_labelled,
            "positives": self.calibration.n_positive,
            "draws": self.calibration.n_draws,
            "score_range": list(self.calibration.score_range),
            "warnings": self.notes,
        }

    def sentence(self) -> str:
        """Return the same for people."""
        made = self.calibration
        return (
            f"Calibrated on {made.n_labelled} labels, {made.n_positive} of them "
            f"positive, in {readable(self.where)}."
        )

    def warn(self) -> None:
        """Write what is doubtful to standard error, a line for each."""
        for note in self.notes:
            click.echo(f"bestcut: warning: {plain(note)}", err=True)


def calibrate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets `labelled`, or None without them.

    The command must have the argument FILE and the options --proba and --format.
    """

    @functools.wraps(command)
    def with_labels(
        *arguments: Any,
        calibrate: str | None,
        calibrate_label: str | None,
        calibrate_proba: str | None,
        **options: Any,
    ) -> Any:
        if calibrate is None:
            if calibrate_label is not None or calibrate_proba is not None:
                given = "label" if calibrate_label is not None else "proba"
                message = f"--calibrate-{given} needs --calibrate"
                cure = "Name the file of labelled scores with --calibrate."
                raise Problem(message, cure)
            return command(*arguments, labelled=None, **options)
        if options.get("classes") is not None:
            message = "--classes cannot be used with --calibrate"
            raise Problem(message, "Pass calibrated probabilities.")
        if options["proba"] is None:  # `decide` can do without it
            message = "--calibrate needs --proba"
            raise Problem(message, "Name the column of scores with --proba.")
        if calibrate == options["file"] == "-":
            message = "FILE and --calibrate are both standard input"
            raise Problem(message, "Pass a file for one of them.")
        source = open_source(
            calibrate, otherwise=options["kind"], limits=options["limits"]
        )
        label = calibrate_label or options.get("label")
        column = calibrate_proba or _scores_in(source, options["proba"], label)
        label = calibrate_label or _label_in(source, column, label)
        labelled = _learned(source, column, label)
        return command(*arguments, labelled=labelled, **options)

    made: Callable[..., Any] = with_labels
    for option in reversed(_OPTIONS):
        made = option(made)
    return made


def _scores_in(source: Source, proba: str, label: str | None) -> str:
    """Return the column of scores: named as that of FILE, or the only other one."""
    others = [name for name in source.columns if name != label]
    alone = len(others) == 1 < len(source.columns)
    return others[0] if alone else proba


def _label_in(source: Source, column: str, label: str | None) -> str:
    """Return the column of labels: named as that of FILE, or the only other one."""
    others = [name for name in source.columns if name != column]
    if label in others:
        return label
    if len(others) == 1:
        return others[0]
    message = "--calibrate needs --calibrate-label"
    have = f"besides {column!r} it has: {', '.join(others) or 'nothing'}"
    cure = f"Name the column of labels in {source.where}; {have}."
    raise Problem(message, cure)


def _learned(source: Source, column: str, label: str) -> Labelled:
    """Return the calibration that is learned from a file of labelled scores."""
    scores = source.scores(column, "--calibrate-proba")
    labels = source.labels(label, "--calibrate-label")
    if not labels.size:
        raise no_rows(source.where)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        calibration = bestcut.calibrate(labels, scores)
    doubts = [
        worded(f"{source.where}: {each.message}", {"scores": f"scores {column!r}"})
        for each in caught
    ]
    made = Labelled(source.where, labels, scores, calibration, doubts)
    if calibration.n_positive in (0, calibration.n_labelled):
        made.notes.append(
            f"{readable(source.where)}: all {labels.size} labels in column "
            f"{quoted(label)} are {int(labels[0])}, so the calibration is very "
            "uncertain. Check the column, or label more rows."
        )
    return made
