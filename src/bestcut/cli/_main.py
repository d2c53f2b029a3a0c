"""The command and its subcommands."""

from __future__ import annotations

import click

import bestcut
from bestcut.cli._check import check
from bestcut.cli._compare import compare
from bestcut.cli._decide import decide
from bestcut.cli._expect import expect
from bestcut.cli._group import Group
from bestcut.cli._metrics import metrics
from bestcut.cli._report import report

_EXAMPLES = """
\b
Examples:
  bestcut decide scores.csv --proba p -o decided.csv
  bestcut expect scores.csv --proba p --pred yhat
  bestcut compare scores.csv --proba p
  bestcut check "2*tp / (2*tp + fp + fn)"
"""


@click.group(cls=Group, epilog=_EXAMPLES, context_settings={"max_content_width": 80})
@click.version_option(bestcut.__version__, prog_name="bestcut")
def cli() -> None:
    """Turn a file of probabilities into the decisions with the best expected metric.

    If the probabilities are calibrated, no labels are needed. Otherwise --calibrate
    turns scores into probabilities with a file of labelled scores.
    """


for command in (check, compare, decide, expect, metrics, report):
    cli.add_command(command)
