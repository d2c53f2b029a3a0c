"""`bestcut compare`: the best cut for every metric, side by side."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

import bestcut
from bestcut._types import BoolArray
from bestcut.cli._calibrate import Labelled, calibrate_options
from bestcut.cli._options import (
    file_argument,
    format_option,
    json_option,
    proba_option,
)
from bestcut.cli._printing import finite_or_none, print_json, print_table, print_text
from bestcut.files.sources import open_source, steps

_FOR_MACHINES = ("std_labels", "std_calibration")


@click.command()
@file_argument
@proba_option
@calibrate_options
@format_option
@json_option
def compare(
    file: str,
    proba: str,
    kind: str | None,
    as_json: bool,
    labelled: Labelled | None,
) -> None:
    """Show the best cut for every metric, and what a threshold of 0.5 would give.

    \b
    Example:
      bestcut compare scores.csv --proba p
    """
    source = open_source(file, kind)
    if labelled is None:
        p: Any = source.probabilities(proba)
        at_half = p >= 0.5
    else:
        p = labelled.probabilities(source, proba)
        at_half = p.mean >= 0.5
        labelled.warn()
    rows = []
    names = bestcut.metrics.names(aliases=False)
    with steps(None) as step:
        advance = step("Deciding", len(names))
        for name in names:
            rows.append(_compared(p, at_half, name, labelled))
            advance(1)
    if as_json:
        made = {} if labelled is None else {"calibrated": labelled.facts()}
        print_json(rows if labelled is None else {"metrics": rows} | made)
        return
    keys = [key for key in rows[0] if key not in _FOR_MACHINES]
    heads = [key.replace("expected_at_half", "at 0.5") for key in keys]
    print_table(heads, [[row[key] for key in keys] for row in rows])
    flagged = int(np.count_nonzero(at_half))
    click.echo(f"{len(p)} rows; a threshold of 0.5 flags {flagged}.")
    if labelled is not None:
        print_text(labelled.sentence())


def _compared(
    p: Any, at_half: BoolArray, name: str, labelled: Labelled | None
) -> dict[str, Any]:
    """Return the best cut for a metric, and what a threshold of 0.5 would give."""
    best = bestcut.decide(p, name)
    row = {
        "metric": name,
        "positive": best.n_positive,
        "threshold": finite_or_none(best.threshold),
        "expected": best.expected_score,
        "expected_at_half": bestcut.expected_score(p, at_half, name),
    }
    if labelled is not None:
        score = best.distribution()
        row["std_labels"] = score.std_labels
        row["std_calibration"] = score.std_calibration
    return row
