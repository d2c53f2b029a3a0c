"""`bestcut decide`: add a column of decisions to a file."""

from __future__ import annotations

from typing import Any

import click
import polars as pl
from rich.console import Console

from bestcut.cli._calibrate import Labelled, calibrate_options
from bestcut.cli._groups import decide_groups
from bestcut.cli._options import (
    at_least_option,
    at_most_option,
    conditions_of,
    file_argument,
    format_option,
    is_given,
    json_option,
    limit_option,
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
    zero_division_option,
)
from bestcut.cli._printing import facts_of_one, print_facts
from bestcut.cli._problem import Problem
from bestcut.cli._several import SEVERAL, check_together, decide_several
from bestcut.files.sources import (
    FORMATS,
    Limits,
    collected,
    decide_source,
    format_of_output,
    is_terminal,
    open_source,
    refuse_input_as_output,
    refuse_terminal,
    without_formulas,
    write_frame,
    write_labels,
)
from bestcut.goals import Certain, Goal, Mean
from bestcut.metrics import Metric, Worth


@click.command()
@file_argument
@click.option("--proba", help="Column of probabilities, or of scores to --calibrate.")
@click.option(
    "--classes",
    metavar="COLUMN,COLUMN,...",
    callback=parsed_by(parse_names),
    help="Choose one class for each row. Columns of probabilities, one for each "
    "class, instead of --proba.",
)
@calibrate_options
@metric_option(
    parse_metric, "A name (see `bestcut metrics`) or a formula of tp, fp, fn, tn."
)
@worth_option(
    "What rows are worth, instead of --metric: counts times numbers and columns of "
    'FILE, such as "amount*tp - 5*fp".'
)
@click.option(
    "--group-by", help="Column of groups: decide for each of its values separately."
)
@click.option(
    "--per-group",
    metavar="K|LOW-HIGH",
    callback=parsed_by(parse_budget),
    help="With --average-by: how many positives each group gets.",
)
@click.option(
    "--average-by",
    metavar="COLUMN",
    help="With --group-by and --per-group: maximise the mean over the values of this "
    "column, not over groups.",
)
@click.option(
    "--min-positives",
    type=click.IntRange(0),
    default=0,
    help="Fewest rows to predict positive.",
)
@max_positives_option
@at_least_option
@at_most_option
@click.option(
    "--goal",
    default="mean",
    show_default=True,
    callback=parsed_by(parse_goal),
    help="What to maximise: the mean score, a low quantile of it (quantile=0.1, "
    "cautious), or the probability of reaching a score (reach=0.7).",
)
@zero_division_option
@click.option(
    "--collect",
    metavar="COLUMN",
    help="With --group-by: write one line for each group, with the chosen values of "
    "this column, separated by blanks, or None if nothing is chosen.",
)
@click.option("--name", default="decision", show_default=True, help="Column to add.")
@click.option(
    "--escape-formulas",
    is_flag=True,
    help="With --classes or --collect: write ' before names that spreadsheets would "
    "run as formulas.",
)
@output_option()
@click.option("--summary-only", is_flag=True, help="Write no rows.")
@format_option
@limit_option
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
    at_most: list[tuple[Metric, float | Certain]],
    goal: Goal,
    collect: str | None,
    name: str,
    escape_formulas: bool,
    output: str | None,
    summary_only: bool,
    kind: str | None,
    limits: Limits,
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
      bestcut decide pairs.csv --proba p --group-by order \\
        --collect product --zero-division 1 -o baskets.csv
    """
    if summary_only and output is not None:
        message = "--summary-only writes no rows, so -o must be left out"
        raise Problem(message)
    output = "-" if output is None else output
    refuse_input_as_output(file, output)
    if labelled is not None:
        refuse_input_as_output(labelled.where, output)
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
        "--at-most": at_most or None,
        "--goal": None if goal == Mean() else goal,
        "--calibrate": labelled,
        "--collect": collect,
    }
    given = {option: x for option, x in options.items() if x is not None}
    _check_options(given, summary_only=summary_only)
    source = open_source(file, kind, limits=limits)
    target = format_of_output(output, source, kind)
    place = None if summary_only else output
    if place is not None:
        refuse_terminal(place, FORMATS[target])
        if collect is None:
            source.check_new(name)
    chosen = metric if worth is None else utility_of(source, worth)
    asked: dict[str, Any] = {
        "goal": goal,
        "at_least": conditions_of(at_least),
        "at_most": conditions_of(at_most),
        "min_positives": min_positives,
        "max_positives": max_positives,
    }
    words = None
    if SEVERAL & given.keys():
        with Console(stderr=True).status("Deciding"):  # on a terminal only
            marks, words, facts = decide_several(source, metric, given)
    elif group_by is not None:
        with Console(stderr=True).status("Deciding"):
            marks, facts = decide_groups(
                source, str(proba), chosen, asked, group_by, labelled
            )
    else:
        notes: list[str] = []
        facts = decide_source(
            source,
            place,
            target,
            proba=str(proba),
            metric=chosen,
            calibration=None if labelled is None else labelled.calibration,
            warn=(notes if labelled is None else labelled.notes).append,
            name=name,
            progress=False if is_terminal(place) else None,  # not among the rows
            describe=lambda found: facts_of_one(found, labelled),
            **asked,
        )
        place = None  # it is written
    if place is not None and collect is not None:
        lines = collected(source, str(group_by), collect, name, marks)
        if escape_formulas:
            lines = without_formulas(lines)
        write_frame(lines, place, target)
    elif place is not None:
        if words is not None and escape_formulas:
            words = without_formulas(pl.DataFrame(words)).to_series().to_list()
        write_labels(source, place, target, name, marks, words=words)
    err = not summary_only and (output == "-" or not as_json)
    if labelled is not None and not (as_json and err):  # keep JSON the only line
        labelled.warn()
    print_facts(facts, chosen, as_json=as_json, err=err)


def _check_options(given: dict[str, Any], *, summary_only: bool) -> None:
    """Refuse options that do not go together, or that are missing."""
    _check_collect(given, summary_only=summary_only)
    if SEVERAL & given.keys():
        check_together(given)
    elif "--proba" not in given:
        message = "Missing option '--proba' (or '--classes')"
        raise click.UsageError(message)
    if "--worth" in given and is_given("metric"):
        message = "--worth and --metric cannot be used together"
        raise Problem(message, "Leave one of them out.")


def _check_collect(given: dict[str, Any], *, summary_only: bool) -> None:
    """Refuse options of collected values that do not go together."""
    if "--collect" not in given:
        return
    if summary_only:
        message = "--summary-only writes no rows, so --collect must be left out"
        raise Problem(message)
    if "--group-by" not in given and "--classes" not in given:
        message = "--collect needs --group-by"
        raise Problem(message, "Name the column of groups; each group gets a line.")
