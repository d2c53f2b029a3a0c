"""What the commands print: facts about a decision, tables, paragraphs, JSON."""

from __future__ import annotations

import json
import math
import os
import sys
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

import bestcut
from bestcut._errors import closed_output, plain
from bestcut.cli._calibrate import Labelled
from bestcut.goals import Mean
from bestcut.metrics import AnyMetric, RowUtility, is_linear

_FOR_MACHINES = (
    *("goal", "error", "gap", "gap_scope"),
    *("std_labels", "std_calibration"),
)
_SCORES = {
    *("expected_score", "mean_expected_score", "total_expected_score"),
    *("interval_90", "goal_value"),
}
_LONGEST = 200  # characters of a name that are shown
_MOST = 30  # classes that are shown to people
_NAME = 12  # the least number of characters for a name
_CONVOLVED = 10_000  # the distribution of a mean of so many scores takes a few seconds


def facts_of_one(
    one: bestcut.Decision | bestcut.streams.Cut,
    labelled: Labelled | None = None,
) -> dict[str, Any]:
    """Return the facts to print about one decision."""
    score = one.distribution()
    facts: dict[str, Any] = {
        "metric": one.metric.name,
        "rows": one.n,
        "positive": one.n_positive,
        **_cut(one),
        "expected_score": one.expected_score,
        "error": one.error,
        "gap": one.gap,
        "gap_scope": one.gap_scope,
        "interval_90": list(score.interval(0.9)),
    }
    low, high = one.bounds
    if low > 0:
        facts["min_positives"] = low
    if high < one.n:
        facts["max_positives"] = high
    if one.goal != Mean():
        facts["goal"] = one.goal.describe(one.metric)
        facts["goal_value"] = one.goal_value
    if one.conditions:
        facts["conditions"] = [
            {
                "what": x.describe(),
                x.direction.replace(" ", "_"): x.asked,
                "reached": x.reached,
            }
            for x in one.conditions
        ]
    if labelled is not None:
        facts["std_labels"] = score.std_labels
        facts["std_calibration"] = score.std_calibration
        facts["calibrated"] = labelled.facts()
    return facts


def _cut(one: bestcut.Decision | bestcut.streams.Cut) -> dict[str, Any]:
    """Return the lowest probability predicted positive, and the score behind it."""
    if one.threshold is None:
        return {"ranked_by": "expected gain"}
    lowest = one.score_threshold if isinstance(one, bestcut.streams.Cut) else None
    made = {} if lowest is None else {"score_threshold": finite_or_none(lowest)}
    return {"threshold": finite_or_none(one.threshold), **made}


def shares_of_variance(labels: float, calibration: float) -> str:
    """Say how much of the variance each source has, given standard deviations."""
    total = labels**2 + calibration**2
    share = round(100 * labels**2 / total) if total else 100
    return f"labels {share}%, calibration {100 - share}%"


def facts_of_many(
    many: bestcut.Decisions, labelled: Labelled | None = None
) -> dict[str, Any]:
    """Return what to say about a decision for each of many groups."""
    count = many.n_positive.size
    facts: dict[str, Any] = {
        "metric": many.metric.name,
        "groups": count,
        "rows": int(many.labels.size),
        "positive": int(many.n_positive.sum()),
        "groups_left_empty": int(np.count_nonzero(many.n_positive == 0)),
        "mean_expected_score": float(many.expected_score.mean()) if count else None,
        "error": float(many.error.max(initial=0.0)),
        "gap": float(many.gap.max(initial=0.0)),
        "gap_scope": many.gap_scope,
    }
    draws = 1 if labelled is None else labelled.calibration.n_draws
    if 0 < count * draws <= _CONVOLVED and not isinstance(many.metric, RowUtility):
        facts["interval_90"] = _interval_of_mean(many.distribution())
    if _is_sum(many.metric):  # a sum over rows may be summed over groups too
        facts["total_expected_score"] = float(many.expected_score.sum())
    if many.goal != Mean():
        facts["goal"] = f"mean {many.goal.describe(many.metric)}"
        facts["goal_value"] = float(many.goal_value.mean()) if count else None
    if labelled is not None:
        facts["calibrated"] = labelled.facts()
    return facts


def _interval_of_mean(score: bestcut.ScoreDistribution) -> list[float]:
    """Return an interval, rounded to the digits that the grid of scores supports.

    `value_error` is a standard deviation; errors above four of them are very rare.
    """
    decimals = -math.ceil(math.log10(max(4 * score.value_error, 1e-300)))
    return [round(end, decimals) for end in score.interval(0.9)]


def finite_or_none(number: float | None) -> float | None:
    """Return a number, or None if it is not finite."""
    return number if number is not None and np.isfinite(number) else None


def print_facts(
    facts: dict[str, Any], metric: AnyMetric, *, as_json: bool, err: bool
) -> None:
    """Print what was decided for a metric, for people or for machines."""
    if as_json:
        print_json(facts, err=err)
        return
    names = {"interval_90": "90% between", "goal_value": facts.get("goal", "")}
    facts = dict(facts)
    each = facts.pop("each", None)
    hidden = _FOR_MACHINES if each is None else ("gap_scope",)
    for key in ("error", "gap"):
        if key in facts:
            facts[key] = f"{facts[key]:.0e}"
    if made := facts.pop("calibrated", None):
        if "std_labels" in facts:  # of one decision, not of many
            stds = facts["std_labels"], facts["std_calibration"]
            facts["variance_comes_from"] = shares_of_variance(*stds)
        labels, positives = _shown(made["labels"]), _shown(made["positives"])
        facts["calibrated_on"] = f"{labels} labels, {positives} positive"
    scores = _SCORES - (
        {"goal_value"} if "probability" in names["goal_value"] else set()
    )
    conditions = facts.pop("conditions", [])
    for key, value in facts.items():
        if key not in hidden:
            name = names.get(key, key.replace("_", " "))
            text = shown_score(value, metric) if key in scores else _shown(value)
            echo(f"{plain(name) + ':':<22} {text}", err=err)
    for one in conditions:
        least = "at_least" if "at_least" in one else "at_most"
        bound = f"{least.replace('_', ' ')} {_shown(one[least])}"
        what = f"{_shown(one['what'])}:"
        echo(f"{what:<22} {_shown(one['reached'])} ({bound})", err=err)
    if each:
        head = [name.replace("_", " ") for name in each[0]]
        rows = [
            [shown_score(x, metric) if k in _SCORES else x for k, x in line.items()]
            for line in each[:_MOST]
        ]
        print_table(head, rows, err=err)
        if len(each) > _MOST:
            echo(f"and {_shown(len(each) - _MOST)} more; --json prints all", err=err)


def print_json(value: Any, *, err: bool = False) -> None:
    """Print a value in one line for machines; numbers that are not finite are null."""
    echo(json.dumps(_finite(value), allow_nan=False), err=err)


def _finite(value: Any) -> Any:
    """Return a value with None for every number in it that JSON cannot hold."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return finite_or_none(value) if isinstance(value, float) else value


def print_table(head: list[str], rows: list[list[Any]], *, err: bool = False) -> None:
    """Print a table that fits a narrow window, without colour when piped."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    cells = [list(map(_shown, row)) for row in rows]
    head = list(map(_shown, head))
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    # If there is room for the numbers, only names are folded.
    whole = sum(width + 2 for width in widths[1:]) + _NAME <= _width(err=err)
    for i, name in enumerate(head):
        words = i == 0 or name == "what it is"
        table.add_column(
            Text(name),  # or rich would obey what looks like its markup
            justify="left" if words else "right",
            overflow="fold",
            no_wrap=whole and not words,
        )
    for row in cells:
        table.add_row(*map(Text, row))
    _print(table, err=err)


def print_text(text: str) -> None:
    """Print a paragraph in lines that fit the window."""
    _print(Text(plain(text)))


def _width(*, err: bool) -> int:
    """Return how many columns there are to print in."""
    stream = sys.stderr if err else sys.stdout
    is_window = stream is not None and stream.isatty()
    return Console().width if is_window or "COLUMNS" in os.environ else 79


def _print(what: Any, *, err: bool = False) -> None:
    console = Console(width=_width(err=err), highlight=False)
    with console.capture() as captured:
        console.print(what)
    for line in captured.get().splitlines():
        echo(line.rstrip(), err=err)


def echo(line: str, *, err: bool = False) -> None:
    """Print a line; raise an error if standard output is closed."""
    if not err and sys.stdout is None:
        raise closed_output()
    click.echo(line, err=err)


def _is_sum(metric: AnyMetric) -> bool:
    """Return whether a score is a sum over rows, as money is."""
    return isinstance(metric, RowUtility) or is_linear(metric)


_NOTHING = 1e-15  # the rounding of a score that is 0


def shown_score(value: Any, metric: AnyMetric) -> str:
    """Return a score as people write it; sums over rows are written as money."""
    if isinstance(value, list):
        return " and ".join(shown_score(item, metric) for item in value)
    if isinstance(value, float) and _is_sum(metric) and (abs(value) >= 1 or not value):
        return f"{value:,.2f}"
    if isinstance(value, float) and abs(value) < _NOTHING:
        return "0"
    return _shown(value)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list):
        return " and ".join(_shown(item) for item in value)
    if isinstance(value, float):
        return f"{value:,.2f}" if 1000 <= abs(value) < np.inf else f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    text = plain(str(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
