"""`bestcut decide`: add a column of decisions to a file."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

import bestcut
from bestcut._types import FloatArray
from bestcut.cli._calibrate import Labelled, calibrate_options
from bestcut.cli._classes import SEVERAL, check_together, decide_several
from bestcut.cli._options import (
    at_least_option,
    conditions_of,
    file_argument,
    format_option,
    is_given,
    json_option,
    max_positives_option,
    metric_option,
    output_option,
    parse_budget,
    parse_goal,
    parse_metric,
    parse_names,
    parsed_by,
    utility_of,
    worth_option,
)
from bestcut.cli._printing import facts_of_many, facts_of_one, print_facts
from bestcut.cli._problem import Problem
from bestcut.files.sources import (
    Source,
    decide_held,
    decide_source,
    format_of,
    open_source,
    refuse_input_as_output,
    write_labels,
)
from bestcut.goals import Certain, Goal, Mean
from bestcut.metrics import AnyMetric, Metric, Worth

LARGE = 1 << 26  # bytes; the scores of a larger file are not held in memory


@click.command()
@file_argument
@click.option("--proba", help="Column of probabilities, or of scores to --calibrate.")
@click.option(
    "--classes",
    metavar="COLUMN,COLUMN,...",
    callback=parsed_by(parse_names),
    help="Columns of probabilities, one for each class, instead of --proba: choose a "
    "class for each row.",
)
@calibrate_options
@metric_option(
    parse_metric, "A name (see `bestcut metrics`) or a formula of tp, fp, fn, tn."
)
@worth_option(
    "What rows are worth, instead of --metric: counts times numbers and columns of "
    'FILE, such as "amount*tp - 5*fp".'
)
@click.option("--group-by", help="Column: one decision for each of its values.")
@click.option(
    "--per-group",
    metavar="K|LOW-HIGH",
    callback=parsed_by(parse_budget),
    help="With --average-by: how many positives each group has.",
)
@click.option(
    "--average-by",
    metavar="COLUMN",
    help="With --group-by and --per-group: the mean over the values of this column "
    "is to be large, not that over groups.",
)
@click.option("--min-positives", type=click.IntRange(0), default=0, help="At least.")
@max_positives_option
@at_least_option
@click.option(
    "--goal",
    default="mean",
    show_default=True,
    callback=parsed_by(parse_goal),
    help="mean, quantile=0.1 (cautious), or reach=0.7 (a score).",
)
@click.option("--name", default="decision", show_default=True, help="Column to add.")
@output_option(default="-")
@format_option
@json_option
def decide(
    file: str,
    proba: str | None,
    classes: list[str] | None,
    metric: Metric,
    worth: Worth | None,
    group_by: str | None,
    per_group: tuple[int, int] | None,
    average_by: str | None,
    min_positives: int,
    max_positives: int | None,
    at_least: list[tuple[Metric, float | Certain]],
    goal: Goal,
    name: str,
    output: str,
    kind: str | None,
    as_json: bool,
    labelled: Labelled | None,
) -> None:
    """Add a column with the decisions that have the best expected metric.

    Every other column and the order of the rows stay as they are. A summary goes to
    standard error; --json goes to standard output if the table does not.

    \b
    Examples:
      bestcut decide scores.csv --proba p -o decided.csv
      bestcut decide hits.parquet --proba p --group-by query \\
        -o out.parquet
      bestcut decide payments.csv --proba p \\
        --worth "amount*tp - 5*fp"
      bestcut decide scores.csv --proba p --metric recall \\
        --at-least precision=0.9
      bestcut decide new.csv --proba s --calibrate old.csv \\
        --calibrate-label y --at-least precision=0.9@95%
      bestcut decide scores.csv --classes cat,dog,owl
      bestcut decide tags.csv --proba p --group-by document \\
        --per-group 3 --average-by tag
    """
    refuse_input_as_output(file, output)
    options: dict[str, Any] = {
        "--proba": proba,
        "--classes": classes,
        "--worth": worth,
        "--group-by": group_by,
        "--per-group": per_group,
        "--average-by": average_by,
        "--min-positives": min_positives or None,
        "--max-positives": max_positives,
        "--at-least": at_least or None,
        "--goal": None if goal == Mean() else goal,
        "--calibrate": labelled,
    }
    given = {option: x for option, x in options.items() if x is not None}
    if SEVERAL & given.keys():
        check_together(given)
        source = open_source(file, kind)
        target = source.kind if output == "-" else format_of(output, kind)
        source.check_new(name)
        with Console(stderr=True).status("Deciding"):  # on a terminal only
            found = decide_several(source, metric, given)
            write_labels(source, output, target, name, found.marks, words=found.words)
        print_facts(found.facts, as_json=as_json, err=output == "-" or not as_json)
        return
    if proba is None:
        message = "Missing option '--proba' (or '--classes')"
        raise click.UsageError(message)
    if group_by is not None and (at_least or goal != Mean()):
        message = "--group-by takes neither --at-least nor --goal"
        raise Problem(message)
    if labelled is not None:
        refuse_input_as_output(labelled.where, output)
    if worth is not None and is_given("metric"):
        message = "--worth takes the place of --metric"
        raise Problem(message, "Leave one of them out.")
    source = open_source(file, kind)
    target = source.kind if output == "-" else format_of(output, kind)
    chosen = metric if worth is None else utility_of(source, worth)
    bounds: dict[str, Any] = {
        "min_positives": min_positives,
        "max_positives": max_positives,
    }
    settings: dict[str, Any] = bounds | {
        "proba": proba,
        "metric": chosen,
        "name": name,
        "progress": None,
        "describe": lambda found: facts_of_one(found, found.rows, labelled),
    }
    notes: list[str] = [] if labelled is None else labelled.notes
    in_one_piece = (
        labelled is not None or worth is not None or at_least or goal != Mean()
    )
    if group_by is not None:
        source.check_new(name)
        with Console(stderr=True).status("Deciding"):  # on a terminal only
            many = _decide_groups(source, proba, chosen, bounds, group_by, labelled)
            write_labels(source, output, target, name, many.labels)
        facts = facts_of_many(many, labelled)
    elif source.is_larger_than(LARGE) and not in_one_piece:
        facts = decide_source(source, output, target, **settings)
    else:
        facts = decide_held(
            source,
            output,
            target,
            calibration=None if labelled is None else labelled.calibration,
            warn=notes.append,
            goal=goal,
            at_least=conditions_of(at_least),
            **settings,
        )
    err = output == "-" or not as_json
    if labelled is not None and not (as_json and err):  # that line is for machines
        labelled.warn()
    print_facts(facts, as_json=as_json, err=err)


def _decide_groups(
    source: Source,
    proba: str,
    metric: AnyMetric,
    bounds: dict[str, Any],
    group_by: str,
    labelled: Labelled | None,
) -> bestcut.Decisions:
    """Return a decision for each group; all rows are calibrated together."""
    p: FloatArray | bestcut.UncertainProbabilities = (
        source.probabilities(proba)
        if labelled is None
        else labelled.probabilities(source, proba)
    )
    groups = source.groups(group_by, "--group-by")
    return bestcut.decide_each(p, metric, groups=groups, **bounds)
