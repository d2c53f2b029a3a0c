"""`bestcut report`: the decision, and what to expect of it, as a page."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from bestcut.cli._options import (
    complete_metrics,
    file_argument,
    format_option,
    metric_option,
    output_option,
    parse_metric,
    parse_metrics,
    parsed_by,
    proba_option,
)
from bestcut.cli._problem import Problem
from bestcut.files.sources import open_source, refuse_input_as_output, writing
from bestcut.metrics import Metric


@click.command()
@file_argument
@proba_option
@metric_option(parse_metric, "What the decision is made for: a name or a formula.")
@click.option(
    "--also",
    callback=parsed_by(parse_metrics),
    shell_complete=complete_metrics,
    help="Names or formulas to switch to, separated by commas.",
)
@click.option("--title", help="Heading of the page.")
@output_option(required=True)
@format_option
def report(
    file: str,
    proba: str,
    metric: Metric,
    also: list[Metric] | None,
    title: str | None,
    output: str,
    kind: str | None,
) -> None:
    """Write the decision, and what to expect of it, as one HTML file.

    It opens in any browser and loads nothing. A reader can move the cut and switch
    the metric.

    \b
    Example:
      bestcut report scores.csv --proba p --metric f1 -o report.html
    """
    try:
        from bestcut.report import ALSO, make_report
    except ImportError as error:
        raise Problem.of(error) from None
    refuse_input_as_output(file, output)
    source = open_source(file, kind)
    name = source.where if file == "-" else Path(file).name
    with Console(stderr=True).status("Computing"):
        made = make_report(
            source.probabilities(proba),
            metric,
            also=ALSO if also is None else also,
            title=title,
            source=f"{name}, column {proba}",
        )
        data = made.html().encode(errors="replace")  # names of files may be odd bytes
    with writing(output) as target:
        target.write(data)
    where = "standard output" if output == "-" else output
    click.echo(f"{where}: {made.summary()}", err=True)
