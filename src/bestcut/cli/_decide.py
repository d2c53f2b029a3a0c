"""`bestcut decide`: add a column of decisions to a file."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

import bestcut
from bestcut._types import BoolArray
from bestcut.cli._options import (
    file_argument,
    format_option,
    json_option,
    metric_option,
    output_option,
    parse_floor,
    parse_goal,
    parse_metric,
    parsed_by,
    proba_option,
)
from bestcut.cli._printing import facts_of_many, facts_of_one, print_facts
from bestcut.cli._problem import Problem
from bestcut.files.sources import (
    Source,
    decide_source,
    format_of,
    open_source,
    refuse_input_as_output,
    write_labels,
)
from bestcut.goals import Goal, Mean
from bestcut.metrics import Metric

LARGE = 1 << 26  # bytes; the scores of a larger file are not held in memory


@click.command()
@file_argument
@proba_option
@metric_option(
    parse_metric, "A name (see `bestcut metrics`) or a formula of tp, fp, fn, tn."
)
@click.option("--group-by", help="Column: one decision for each of its values.")
@click.option("--min-positives", type=click.IntRange(0), default=0, help="At least.")
@click.option("--max-positives", type=click.IntRange(0), help="At most.")
@click.option(
    "--at-least",
    multiple=True,
    metavar="METRIC=NUMBER",
    callback=parsed_by(parse_floor),
    help="Least expected value of another metric; may be repeated.",
)
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
    proba: str,
    metric: Metric,
    group_by: str | None,
    min_positives: int,
    max_positives: int | None,
    at_least: list[tuple[Metric, float]],
    goal: Goal,
    name: str,
    output: str,
    kind: str | None,
    as_json: bool,
) -> None:
    """Add a column with the decisions that have the best expected metric.

    Every other column and the order of the rows stay as they are. A summary goes to
    standard error; --json goes to standard output if the table does not.

    \b
    Examples:
      bestcut decide scores.csv --proba p -o decided.csv
      bestcut decide hits.parquet --proba p --group-by query \\
        -o out.parquet
      bestcut decide scores.csv --proba p --metric recall \\
        --at-least precision=0.9
    """
    refuse_input_as_output(file, output)
    if group_by is not None and (at_least or goal != Mean()):
        message = "--group-by takes neither --at-least nor --goal"
        raise Problem(message)
    source = open_source(file, kind)
    target = source.kind if output == "-" else format_of(output, kind)
    bounds: dict[str, Any] = {
        "min_positives": min_positives,
        "max_positives": max_positives,
    }
    can_be_streamed = group_by is None and not at_least and goal == Mean()
    if can_be_streamed and source.is_larger_than(LARGE):
        facts = decide_source(
            source,
            output,
            target,
            proba=proba,
            metric=metric,
            name=name,
            progress=None,
            describe=lambda found: facts_of_one(found, found.rows),
            **bounds,
        )
    else:
        source.check_new(name)
        with Console(stderr=True).status("Deciding"):  # on a terminal only
            facts, labels = _decide_in_memory(
                source, proba, metric, bounds, group_by, goal, _strictest(at_least)
            )
            write_labels(source, output, target, name, labels)
    print_facts(facts, as_json=as_json, err=output == "-" or not as_json)


def _decide_in_memory(
    source: Source,
    proba: str,
    metric: Metric,
    bounds: dict[str, Any],
    group_by: str | None,
    goal: Goal,
    floors: dict[str | Metric, float],
) -> tuple[dict[str, Any], BoolArray]:
    """Return what to say about the decisions, and their labels."""
    p = source.probabilities(proba)
    if group_by is not None:
        groups = source.groups(group_by, "--group-by")
        many = bestcut.decide_each(p, metric, groups=groups, **bounds)
        return facts_of_many(many), many.labels
    one = bestcut.decide(p, metric, goal=goal, at_least=floors, **bounds)
    return facts_of_one(one, p.size), one.labels


def _strictest(floors: list[tuple[Metric, float]]) -> dict[str | Metric, float]:
    """Return each metric with the largest value that is asked of it."""
    return dict(sorted(floors, key=lambda floor: floor[1]))
