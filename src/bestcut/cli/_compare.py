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
    limit_option,
    metric_option,
    parse_metric,
    parse_metrics,
    parse_threshold,
    parsed_by,
    proba_option,
    zero_division_option,
)
from bestcut.cli._printing import (
    echo,
    finite_or_none,
    print_json,
    print_table,
    print_text,
    shown_score,
)
from bestcut.files.sources import Limits, open_source, steps
from bestcut.metrics import Metric

_SCORES = ("expected", "expected_at_given")
_SHOWN = ("metric", "positive", "threshold", *_SCORES)


@click.command()
@file_argument
@proba_option
@calibrate_options
@metric_option(
    parse_metrics,
    "Names or formulas, separated by commas; by default, all metrics with a name.",
    default=None,
)
@click.option(
    "--threshold",
    "given",
    metavar="NUMBER",
    default="0.5",
    show_default=True,
    callback=parsed_by(parse_threshold),
    help="Compare with the cut at this probability.",
)
@zero_division_option
@format_option
@limit_option
@json_option
def compare(
    file: str,
    proba: str,
    metric: list[Metric] | None,
    given: float,
    kind: str | None,
    limits: Limits,
    as_json: bool,
    labelled: Labelled | None,
) -> None:
    """Show the best cut for every metric, and what a fixed threshold would give.

    \b
    Examples:
      bestcut compare scores.csv --proba p
      bestcut compare scores.csv --proba p --metric f1,f0.7 \\
        --threshold 0.3
    """
    if metric is None:
        metric = [parse_metric(name) for name in bestcut.metrics.names()]
    source = open_source(file, kind, limits=limits)
    if labelled is None:
        p: Any = source.probabilities(proba)
        flagged = p >= given
    else:
        p = labelled.probabilities(source, proba)
        flagged = p.mean >= given
        labelled.warn()
    rows = []
    with steps(None) as step:
        advance = step("Deciding", len(metric))
        for one in metric:
            rows.append(_compared(p, given, flagged, one, labelled))
            advance(1)
    if as_json:
        made = {} if labelled is None else {"calibrated": labelled.facts()}
        print_json(rows if labelled is None else {"metrics": rows} | made)
        return
    table = [
        [shown_score(row[key], one) if key in _SCORES else row[key] for key in _SHOWN]
        for one, row in zip(metric, rows, strict=True)
    ]
    print_table([*_SHOWN[:-1], f"at {given!r}"], table)
    count = int(np.count_nonzero(flagged))
    echo(f"{len(p):,} rows; a threshold of {given!r} flags {count:,}.")
    if labelled is not None:
        print_text(labelled.sentence())


def _compared(
    p: Any, given: float, flagged: BoolArray, metric: Metric, labelled: Labelled | None
) -> dict[str, Any]:
    """Return the best cut for a metric, and what the given threshold would give."""
    best = bestcut.decide(p, metric)
    row = {
        "metric": metric.name,
        "positive": best.n_positive,
        "threshold": finite_or_none(best.threshold),
        "expected": best.expected_score,
        "given_threshold": given,
        "given_positive": int(np.count_nonzero(flagged)),
        "expected_at_given": bestcut.expected_score(p, flagged, metric),
    }
    if labelled is not None:
        score = best.distribution()
        row["std_labels"] = score.std_labels
        row["std_calibration"] = score.std_calibration
    return row
