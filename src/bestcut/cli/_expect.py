"""`bestcut expect`: what predictions will score, and what they did score."""

from __future__ import annotations

from typing import Any

import click

import bestcut
from bestcut._types import BoolArray
from bestcut.cli._calibrate import COVERS, Labelled, calibrate_options
from bestcut.cli._options import (
    file_argument,
    format_option,
    is_given,
    json_option,
    limit_option,
    metric_option,
    parse_metrics,
    proba_option,
    utility_of,
    worth_option,
    zero_division_option,
)
from bestcut.cli._printing import print_json, print_table, print_text, shown_score
from bestcut.files.sources import Limits, open_source, steps
from bestcut.metrics import AnyMetric, Metric, Worth

MOST_CHECKED = 100_000  # checking so many labels of calibrated scores takes 30 seconds
_NO_SCORES = ("metric", "p_value")
_HEADS = {
    "low": "90% from",
    "high": "to",
    "p_value": "p-value",
    "std_labels": "sd labels",
    "std_calibration": "sd calib.",
}


@click.command()
@file_argument
@proba_option
@calibrate_options
@click.option("--pred", required=True, help="Column of predictions, 0 and 1.")
@click.option("--label", help="Column of true labels, if they are known.")
@metric_option(parse_metrics, "Names or formulas, separated by commas.")
@worth_option("What rows are worth: counts times numbers and columns of FILE.")
@zero_division_option
@format_option
@limit_option
@json_option
def expect(
    file: str,
    proba: str,
    pred: str,
    label: str | None,
    metric: list[Metric],
    worth: Worth | None,
    kind: str | None,
    limits: Limits,
    as_json: bool,
    labelled: Labelled | None,
) -> None:
    """Say what predictions will score, before labels are known.

    With --label, also say what they did score, and whether the labels fit the
    probabilities.

    \b
    Example:
      bestcut expect scores.csv --proba p --pred yhat \\
        --metric f1,mcc
    """
    source = open_source(file, kind, limits=limits)
    p: Any = (
        source.probabilities(proba)
        if labelled is None
        else labelled.probabilities(source, proba)
    )
    labels = source.labels(pred, "--pred")
    truth = None if label is None else source.labels(label, "--label")
    metrics: list[AnyMetric] = []
    if worth is None or is_given("metric"):
        metrics += metric
    if worth is not None:
        metrics.append(utility_of(source, worth))
    rows = []
    with steps(None) as step:
        advance = step("Computing", len(metrics))
        for chosen in metrics:
            rows.append(_expected(p, labels, truth, chosen, labelled))
            advance(1)
        if truth is not None:
            step("Checking the labels", None)
        verdict = None if truth is None else _verdict(truth, p, labelled)
    if labelled is not None:
        labelled.warn()
    if as_json:
        checked = {} if verdict is None else {"calibration": verdict}
        made = {} if labelled is None else {"calibrated": labelled.facts()}
        print_json({"scores": rows} | checked | made)
        return
    table = [
        [shown_score(x, one) if key not in _NO_SCORES else x for key, x in row.items()]
        for one, row in zip(metrics, rows, strict=True)
    ]
    print_table([_HEADS.get(key, key) for key in rows[0]], table)
    if labelled is not None:
        print_text(f"{labelled.sentence()} {COVERS}")
    if verdict is not None:
        print_text(verdict)


def _verdict(truth: BoolArray, p: Any, labelled: Labelled | None) -> str:
    """Return in words whether labels fit the probabilities."""
    if labelled is not None and truth.size > MOST_CHECKED:
        return (
            f"The {truth.size} labels were not compared with the calibrated "
            f"probabilities, because only {MOST_CHECKED} labels or fewer can be "
            "compared in a reasonable time. Pass a random part of the rows."
        )
    return bestcut.check_calibration(truth, p).verdict


def _expected(
    p: Any,
    labels: BoolArray,
    truth: BoolArray | None,
    metric: AnyMetric,
    labelled: Labelled | None,
) -> dict[str, Any]:
    """Return what predictions will score, and what they did score if it is known."""
    score = bestcut.score_distribution(p, labels, metric)
    low, high = score.interval(0.9)
    row: dict[str, Any] = {
        "metric": metric.name,
        "expected": score.mean,
        "low": low,
        "high": high,
    }
    if labelled is not None:
        row["std_labels"] = score.std_labels
        row["std_calibration"] = score.std_calibration
    if truth is not None:
        row["realised"] = metric.realised(truth, labels)
        row["p_value"] = score.surprise(row["realised"]).p_value
    return row
