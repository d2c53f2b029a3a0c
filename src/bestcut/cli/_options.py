"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

import bestcut
from bestcut.cli._problem import Problem
from bestcut.files.sources import FORMATS, Limits, Source
from bestcut.goals import Certain, Goal, Mean, ProbAtLeast, Quantile
from bestcut.metrics import (
    LinearUtility,
    Metric,
    RowUtility,
    Worth,
)

_ZERO_DIVISION = "bestcut.zero_division"
_GOALS: dict[str, Callable[[float], Goal]] = {
    "quantile": Quantile,
    "reach": ProbAtLeast,
}


def metric_of(text: str) -> Metric:
    """Return a metric by its name, or from a formula, with the --zero-division."""
    metric = bestcut.metrics.get(text)
    zero_division = click.get_current_context().meta.get(_ZERO_DIVISION)
    if zero_division is None or not hasattr(metric, "zero_division"):
        return metric
    return replace(metric, zero_division=zero_division)  # type: ignore[type-var]


def parse_metric(text: str) -> Metric:
    """Return a metric by its name, or from a formula."""
    try:
        return metric_of(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def parse_metrics(text: str) -> list[Metric]:
    """Return the metrics of a list, split at the commas outside parentheses."""
    parts, depth = [""], 0
    for mark in text:
        depth += (mark == "(") - (mark == ")")
        if mark == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += mark
    return [parse_metric(part.strip()) for part in parts]


def parse_worth(text: str) -> Worth:
    """Return what rows are worth from a formula with columns."""
    try:
        return Worth(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def parse_one_worth(text: str) -> LinearUtility:
    """Return what outcomes are worth, the same for all rows."""
    worth = parse_worth(text)
    if worth.columns:
        msg = (
            f"{text!r} has the column {worth.columns[0]!r}. If every row has its own "
            "amount, the best prediction is not a cut of the probabilities. Write one "
            "number for all rows here, or use `bestcut decide --worth`."
        )
        raise click.BadParameter(msg)
    metric = parse_metric(text)
    assert isinstance(metric, LinearUtility)  # as every sum of counts is
    return metric


def utility_of(source: Source, worth: Worth) -> RowUtility:
    """Return what the rows of a file are worth, with the columns of the formula."""
    columns = {name: source.scores(name, "--worth") for name in worth.columns}
    try:
        return worth.utility(columns)
    except ValueError as error:
        raise Problem.of(error) from None


def is_given(option: str) -> bool:
    """Return whether an option was given on the command line."""
    source = click.get_current_context().get_parameter_source(option)
    return source is not ParameterSource.DEFAULT


def parse_goal(text: str) -> Goal:
    """Return a goal from ``mean``, ``quantile=0.1`` or ``reach=0.7``."""
    if text == "mean":
        return Mean()
    kind, _, value = text.partition("=")
    try:
        number, goal = float(value), _GOALS[kind]
    except (ValueError, KeyError):
        known = ", ".join(f"{name}=NUMBER" for name in _GOALS)
        msg = f"{text!r} is not one of mean, {known}."
        raise click.BadParameter(msg) from None
    try:
        return goal(number)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def parse_floor(text: str) -> tuple[Metric, float | Certain]:
    """Return a metric and its least expected value from ``precision=0.9``.

    ``precision=0.9@95%`` is the least value in this batch with that probability.
    """
    name, _, value = text.rpartition("=")
    score, at, share = value.partition("@")
    number = _number(score)
    if not (name and np.isfinite(number)):
        msg = (
            f"{text!r} is not METRIC=NUMBER or METRIC=NUMBER@PROBABILITY, for example "
            "precision=0.9 or precision=0.9@95%."
        )
        raise click.BadParameter(msg)
    if not at:
        return parse_metric(name), number
    text_of_share = share.strip()
    probability = _number(text_of_share.removesuffix("%"))
    if text_of_share.endswith("%"):
        probability /= 100.0
    if not 0.0 < probability < 1.0:
        msg = (
            f"in {text!r} the probability after @ must be strictly between 0 and 1; "
            f"got {share!r}. Write 95% or 0.95."
        )
        raise click.BadParameter(msg)
    return parse_metric(name), Certain(number, probability=probability)


def conditions_of(
    floors: list[tuple[Metric, float | Certain]],
) -> dict[str | Metric, list[float | Certain]]:
    """Return each metric with all that is asked of it."""
    wanted: dict[str | Metric, list[float | Certain]] = {}
    for metric, floor in floors:
        wanted.setdefault(metric, []).append(floor)
    return wanted


def parse_threshold(text: str) -> float:
    """Return a threshold from 0 to 1."""
    threshold = _number(text)
    if not 0.0 <= threshold <= 1.0:
        msg = f"{text!r} is not a probability from 0 to 1."
        raise click.BadParameter(msg)
    return threshold


def parse_names(text: str) -> list[str]:
    """Return the names between commas; a name in quotes may hold a comma."""
    names = next(csv.reader([text], skipinitialspace=True), [])
    again = [name for i, name in enumerate(names) if name in names[:i]]
    if again:
        msg = f"the column {again[0]!r} is named more than once."
        raise click.BadParameter(msg)
    if len(names) < 2:
        msg = f"{text!r} is one column. Name all columns, separated by commas."
        raise click.BadParameter(msg)
    return names


def parse_budget(text: str) -> tuple[int, int]:
    """Return the least and the largest number from ``3`` or ``1-5``."""
    low, _, high = text.partition("-")
    try:
        pair = int(low), int(high or low)
    except ValueError:
        pair = (-1, -1)
    if not 0 <= pair[0] <= pair[1]:
        msg = f"{text!r} is neither a number, such as 3, nor a range, such as 1-5."
        raise click.BadParameter(msg)
    return pair


def _limits(
    ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> Limits:
    """Return the limits of what a file may hold, from ``unpacked=1000`` and others."""
    chosen = {}
    for text in given:
        name, _, number = text.partition("=")
        if not number.isdecimal():
            msg = f"{text!r} is not NAME=NUMBER, for example unpacked=1000."
            raise click.BadParameter(msg)
        chosen[name] = int(number)
    try:
        return Limits.of(chosen)
    except ValueError as error:
        raise click.BadParameter(Problem.of(error).message) from None


def _number(text: str) -> float:
    """Return the number that a text stands for, or NaN."""
    try:
        return float(text)
    except ValueError:
        return np.nan


def parsed_by(parse: Callable[[str], Any]) -> Callable[..., Any]:
    """Return a click callback that parses the value of an option, if it has one."""

    def callback(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if isinstance(value, tuple):
            return [parse(item) for item in value]
        return None if value is None else parse(value)

    return callback


def complete_metrics(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the names to which the shell may complete the last one of a list."""
    done, comma, begun = incomplete.rpartition(",")
    names = bestcut.metrics.names(aliases=True)
    return [done + comma + name for name in names if name.startswith(begun)]


def metric_option(
    parse: Callable[[str], Any], help: str, default: str | None = "f1"
) -> Callable[..., Any]:
    """Return the option that names one metric or several, as `parse` reads it."""
    return click.option(
        "--metric",
        default=default,
        show_default=default is not None,
        callback=parsed_by(parse),
        shell_complete=complete_metrics,
        help=help,
    )


def worth_option(help: str) -> Callable[..., Any]:
    """Return the option that says what rows are worth."""
    return click.option(
        "--worth", metavar="FORMULA", callback=parsed_by(parse_worth), help=help
    )


def output_option(**settings: Any) -> Callable[..., Any]:
    """Return the option that names the file to write."""
    help = "File to write; - is standard output."
    return click.option("-o", "--output", help=help, **settings)


at_least_option = click.option(
    "--at-least",
    multiple=True,
    metavar="METRIC=NUMBER[@PROBABILITY]",
    callback=parsed_by(parse_floor),
    help="Least expected value of another metric, or with @PROBABILITY the least "
    "value that it must reach with this probability; may be repeated.",
)
at_most_option = click.option(
    "--at-most",
    multiple=True,
    metavar="METRIC=NUMBER[@PROBABILITY]",
    callback=parsed_by(parse_floor),
    help="The same for a loss, such as false_positive_rate=0.05: its largest value.",
)
max_positives_option = click.option(
    "--max-positives", type=click.IntRange(0), help="Most rows to predict positive."
)


def _note_zero_division(
    ctx: click.Context, parameter: click.Parameter, value: float | None
) -> None:
    """Note the value of 0/0, with which the metrics of other options are made."""
    if value is not None and not np.isfinite(value):
        msg = f"{value} is not a finite number."
        raise click.BadParameter(msg)
    ctx.meta[_ZERO_DIVISION] = value


zero_division_option = click.option(
    "--zero-division",
    type=float,
    metavar="NUMBER",
    is_eager=True,  # before the metrics
    expose_value=False,
    callback=_note_zero_division,
    help="The value of 0/0 in all metrics; 0 by default.",
)
file_argument = click.argument("file", type=click.Path(allow_dash=True, dir_okay=False))
proba_option = click.option(
    "--proba",
    required=True,
    help="Column of probabilities, or of scores to --calibrate.",
)
format_option = click.option(
    "--format",
    "kind",
    type=click.Choice(list(FORMATS)),
    help="Format of FILE, and of an output whose name does not tell its format.",
)
limit_option = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=NUMBER",
    callback=_limits,
    help="Raise a limit of what FILE may hold, if you trust it: columns, row, unpacked "
    "or footer; may be repeated.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
