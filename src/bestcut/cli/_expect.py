"""`bestcut expect`: what predictions will score, and what they did."""

from __future__ import annotations

from typing import Any

import click

import bestcut
from bestcut.cli._options import (
    file_argument,
    format_option,
    json_option,
    metric_option,
    parse_metrics,
    proba_option,
)
from bestcut.cli._printing import print_json, print_table, print_text
from bestcut.files.sources import open_source
from bestcut.metrics import Metric


@click.command()
@file_argument
@proba_option
@click.option("--pred", required=True, help="Column of predictions, 0 and 1.")
@click.option("--label", help="Column of true labels, if they are known.")
@metric_option(parse_metrics, "Names or formulas, separated by commas.")
@format_option
@json_option
def expect(
    file: str,
    proba: str,
    pred: str,
    label: str | None,
    metric: list[Metric],
    kind: str | None,
    as_json: bool,
) -> None:
    """Say what predictions will score, before labels are known.

    With --label, also what they did score, and whether the labels fit the
    probabilities.

    \b
    Example:
      bestcut expect scores.csv --proba p --pred yhat \\
        --metric f1,mcc
    """
    source = open_source(file, kind)
    p = source.probabilities(proba)
    labels = source.labels(pred, "--pred")
    truth = None if label is None else source.labels(label, "--label")
    rows = []
    for chosen in metric:
        score = bestcut.score_distribution(p, labels, chosen)
        low, high = score.interval(0.9)
        row: dict[str, Any] = {
            "metric": chosen.name,
            "expected": score.mean,
            "low": low,
            "high": high,
        }
        if truth is not None:
            counts = (truth & labels).sum(), labels.sum(), truth.sum(), truth.size
            row["realised"] = float(chosen(*map(float, counts)))
            row["p_value"] = score.surprise(row["realised"]).p_value
        rows.append(row)
    check = None if truth is None else bestcut.calibration_check(truth, p)
    if as_json:
        verdict = {} if check is None else {"calibration": check.verdict}
        print_json({"scores": rows} | verdict)
        return
    heads = {"low": "90% from", "high": "to", "p_value": "p-value"}
    print_table([heads.get(x, x) for x in rows[0]], [list(r.values()) for r in rows])
    if check is not None:
        print_text(check.verdict)
