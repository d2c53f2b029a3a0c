"""`bestcut report`: the decision, and what to expect of it, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bestcut.cli._calibrate import Labelled, calibrate_options
from bestcut.cli._options import (
    complete_metrics,
    file_argument,
    format_option,
    metric_of,
    metric_option,
    output_option,
    parse_metric,
    parse_metrics,
    parsed_by,
    proba_option,
    zero_division_option,
)
from bestcut.cli._printing import shares_of_variance
from bestcut.cli._problem import Problem
from bestcut.files.sources import open_source, refuse_input_as_output, writing
from bestcut.metrics import Metric


@click.command()
@file_argument
@proba_option
@calibrate_options
@metric_option(parse_metric, "What the decision is made for: a name or a formula.")
@click.option(
    "--also",
    callback=parsed_by(parse_metrics),
    shell_complete=complete_metrics,
    help="Names or formulas to switch to, separated by commas.",
)
@zero_division_option
@click.option("--title", help="Heading of the page.")
@output_option(required=True)
@format_option
def report(
    file: str,
    proba: str,
    metric: Metric,
    also: list[Any] | None,
    title: str | None,
    output: str,
    kind: str | None,
    labelled: Labelled | None,
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
    if labelled is not None:
        refuse_input_as_output(labelled.where, output)
    source = open_source(file, kind)
    name = source.where if file == "-" else Path(file).name
    with Console(stderr=True).status("Computing"):
        given: dict[str, Any] = {"source": f"{name}, column {proba}"}
        if labelled is None:
            p: Any = source.probabilities(proba)
        else:
            p = labelled.probabilities(source, proba)
            given["source"] += f"; calibrated on {labelled.name}"
            given["calibration"] = labelled.calibration
            given["labelled"] = (labelled.labels, labelled.scores)
        also = [metric_of(name) for name in ALSO] if also is None else also
        made = make_report(p, metric, also=also, title=title, **given)
        data = made.html().encode(errors="replace")  # names of files may be odd bytes
    with writing(output) as target:
        target.write(data)
    where = "standard output" if output == "-" else output
    if labelled is not None:
        labelled.warn()
    click.echo(f"{where}: {made.summary()}", err=True)
    if labelled is not None:
        shares = shares_of_variance(*made.scores[0].parts)
        click.echo(f"{labelled.sentence()} Variance: {shares}.", err=True)
