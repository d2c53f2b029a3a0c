"""The command that writes a report."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from bestcut.cli._main import (
    cli,
    file_option,
    format_option,
    known_names_given,
    metric_given,
    metrics_given,
    parsed_given,
    proba_option,
)
from bestcut.cli._problem import Problem
from bestcut.files.sources import open_source, refuse_input_as_output, writing
from bestcut.metrics import Metric


@cli.command()
@file_option
@proba_option
@click.option(
    "--metric",
    default="f1",
    show_default=True,
    callback=parsed_given(metric_given),
    shell_complete=known_names_given,
    help="What the decision is made for: a name or a formula.",
)
@click.option(
    "--also",
    callback=parsed_given(metrics_given),
    shell_complete=known_names_given,
    help="Names or formulas to switch to, separated by commas.",
)
@click.option("--title", help="Heading of the page.")
@click.option(
    "-o", "--output", required=True, help="File to write; - is standard output."
)
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
