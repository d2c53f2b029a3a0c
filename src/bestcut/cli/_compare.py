"""`bestcut compare`: the best cut for every metric, side by side."""

from __future__ import annotations

import click
import numpy as np

import bestcut
from bestcut.cli._options import (
    file_argument,
    format_option,
    json_option,
    proba_option,
)
from bestcut.cli._printing import finite_or_none, print_json, print_table
from bestcut.files.sources import open_source


@click.command()
@file_argument
@proba_option
@format_option
@json_option
def compare(file: str, proba: str, kind: str | None, as_json: bool) -> None:
    """Show the best cut for every metric, and what a threshold of 0.5 would give.

    \b
    Example:
      bestcut compare scores.csv --proba p
    """
    p = open_source(file, kind).probabilities(proba)
    at_half = p >= 0.5
    rows = []
    for name in bestcut.metrics.names(aliases=False):
        best = bestcut.decide(p, name)
        rows.append(
            {
                "metric": name,
                "positive": best.n_positive,
                "threshold": finite_or_none(best.threshold),
                "expected": best.expected_score,
                "expected_at_half": bestcut.expected_score(p, at_half, name),
            }
        )
    if as_json:
        print_json(rows)
        return
    heads = [name.replace("expected_at_half", "at 0.5") for name in rows[0]]
    print_table(heads, [list(row.values()) for row in rows])
    flagged = int(np.count_nonzero(at_half))
    click.echo(f"{p.size} rows; a threshold of 0.5 flags {flagged}.")
