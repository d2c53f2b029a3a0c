"""`bestcut report`: the decision, and what to expect from it, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bestcut._errors import plain, quoted, readable
from bestcut.cli._calibrate import Labelled, calibrate_options
from bestcut.cli._options import (
    at_least_option,
    at_most_option,
    complete_metrics,
    conditions_of,
    file_argument,
    format_option,
    limit_option,
    max_positives_option,
    metric_of,
    metric_option,
    output_option,
    parse_metric,
    parse_metrics,
    parse_one_worth,
    parsed_by,
    proba_option,
    zero_division_option,
)
from bestcut.cli._printing import shares_of_variance
from bestcut.cli._problem import Problem
from bestcut.files.sources import (
    Limits,
    is_terminal,
    open_source,
    refuse_input_as_output,
    steps,
)
from bestcut.goals import Certain
from bestcut.metrics import LinearUtility, Metric


@click.command()
@file_argument
@proba_option
@calibrate_options
@metric_option(parse_metric, "The metric to maximise: a name or a formula.")
@click.option(
    "--also",
    callback=parsed_by(parse_metrics),
    shell_complete=complete_metrics,
    help="Other metrics to show: names or formulas, separated by commas.",
)
@zero_division_option
@click.option(
    "--label",
    help="Column of true labels, if known: the page also shows realised scores.",
)
@max_positives_option
@at_least_option
@at_most_option
@click.option(
    "--worth",
    metavar="FORMULA",
    callback=parsed_by(parse_one_worth),
    help="What outcomes are worth, such as '80*tp - 10*fp'. The page shows it beside "
    "every cut. Without --metric, the decision maximises it.",
)
@click.option("--title", help="Heading of the page.")
@output_option(required=True)
@format_option
@limit_option
@click.pass_context
def report(
    context: click.Context,
    file: str,
    proba: str,
    metric: Metric,
    also: list[Any] | None,
    label: str | None,
    max_positives: int | None,
    at_least: list[tuple[Metric, float | Certain]],
    at_most: list[tuple[Metric, float | Certain]],
    worth: LinearUtility | None,
    title: str | None,
    output: str,
    kind: str | None,
    limits: Limits,
    labelled: Labelled | None,
) -> None:
    """Write the decision, and what to expect from it, as one HTML file.

    The file opens in any browser and loads nothing from elsewhere. A reader can move
    the cut, type a number of cases or a threshold, and switch the metric.

    \b
    Examples:
      bestcut report scores.csv --proba p --metric f1 -o report.html
      bestcut report scores.csv --proba p --label y \\
        --max-positives 500 --worth '80*tp - 10*fp' -o report.html
    """
    try:
        from bestcut.report import OTHERS, Conditions, compute_report
    except ImportError as error:
        raise Problem.of(error) from None
    refuse_input_as_output(file, output)
    if labelled is not None:
        refuse_input_as_output(labelled.where, output)
    source = open_source(file, kind, limits=limits)
    name = source.where if file == "-" else Path(file).name
    decided_by = context.get_parameter_source("metric")
    if worth is not None and decided_by is ParameterSource.DEFAULT:
        metric = worth
    given: dict[str, Any] = {
        "source": f"{name}, column {proba}",
        "calibration": None,
    }
    with steps(False if is_terminal(output) else None) as step:  # not in the page
        step("Reading", None)
        if labelled is None:
            p: Any = source.probabilities(proba)
        else:
            p = labelled.probabilities(source, proba)
            given["source"] += f"; calibrated on {labelled.name}"
            given["calibration"] = labelled.calibration
            given["labelled"] = (labelled.labels, labelled.scores)
        labels = None if label is None else source.labels(label, "--label")
        made = compute_report(
            p,
            metric,
            others=[metric_of(name) for name in OTHERS] if also is None else also,
            title=title,
            conditions=Conditions(
                conditions_of(at_least), conditions_of(at_most), max_positives
            ),
            worth=worth,
            y_true=labels,
            on_step=lambda what, done, steps: step(what, steps)(done),
            **given,
        )
        step("Writing the page", None)
        made.write(output)
    where = "standard output" if output == "-" else output
    if labelled is not None:
        labelled.warn()
    if labels is not None and labels.size and labels.min() == labels.max():
        click.echo(
            f"bestcut: warning: {readable(name)}: all {labels.size} labels in column "
            f"{quoted(label)} are {int(labels[0])}. Check the column.",
            err=True,
        )
    click.echo(f"{readable(where)}: {plain(made.summary())}", err=True)
    if labelled is not None:
        shares = shares_of_variance(*(made.scores[0].parts or (0.0, 0.0)))
        click.echo(f"{labelled.sentence()} Variance: {shares}.", err=True)
