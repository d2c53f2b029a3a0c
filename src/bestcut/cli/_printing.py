"""What the commands print: facts about a decision, tables, paragraphs, JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

import bestcut
from bestcut.cli._calibrate import Labelled
from bestcut.goals import Mean

_FOR_MACHINES = (
    *("goal", "error", "gap", "gap_scope"),
    *("std_labels", "std_calibration"),
)
_MOST = 30  # classes that are shown to people


def facts_of_one(
    one: bestcut.Decision | bestcut.FileDecision,
    rows: int,
    labelled: Labelled | None = None,
) -> dict[str, Any]:
    """Return what to say about one decision for so many rows."""
    score = one.distribution()
    facts: dict[str, Any] = {
        "metric": one.metric.name,
        "rows": rows,
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
    if high < rows:
        facts["max_positives"] = high
    if one.goal != Mean():
        facts["goal"] = one.goal.describe(one.metric)
        facts["goal_value"] = one.goal_value
    if one.conditions:
        facts["conditions"] = [
            {"what": x.describe(), "at_least": x.asked, "reached": x.reached}
            for x in one.conditions
        ]
    if labelled is not None:
        facts["std_labels"] = score.std_labels
        facts["std_calibration"] = score.std_calibration
        facts["calibrated"] = labelled.facts()
    return facts


def _cut(one: bestcut.Decision | bestcut.FileDecision) -> dict[str, Any]:
    """Return the lowest probability that is positive, and the score it is made of."""
    if one.threshold is None:
        return {"ranked_by": "expected gain"}
    lowest = getattr(one, "score_threshold", None)
    made = {} if lowest is None else {"score_threshold": finite_or_none(lowest)}
    return {"threshold": finite_or_none(one.threshold), **made}


def shares_of_variance(labels: float, calibration: float) -> str:
    """Say how much of the variance comes from where, given standard deviations."""
    total = labels**2 + calibration**2
    share = round(100 * labels**2 / total) if total else 100
    return f"labels {share}%, calibration {100 - share}%"


def facts_of_many(
    many: bestcut.Decisions, labelled: Labelled | None = None
) -> dict[str, Any]:
    """Return what to say about a decision for each of many groups."""
    count = many.n_positive.size
    made = {} if labelled is None else {"calibrated": labelled.facts()}
    return {
        "metric": many.metric.name,
        "groups": count,
        "rows": int(many.labels.size),
        "positive": int(many.n_positive.sum()),
        "groups_left_empty": int(np.count_nonzero(many.n_positive == 0)),
        "mean_expected_score": float(many.expected_score.mean()) if count else None,
        "error": float(many.error.max(initial=0.0)),
        "gap": float(many.gap.max(initial=0.0)),
        "gap_scope": many.gap_scope,
        **made,
    }


def finite_or_none(number: float | None) -> float | None:
    """Return a number that JSON can hold, which knows no infinity."""
    return number if number is not None and np.isfinite(number) else None


def print_facts(facts: dict[str, Any], *, as_json: bool, err: bool) -> None:
    """Print what was decided, for people or for machines."""
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
    conditions = facts.pop("conditions", [])
    for key, value in facts.items():
        if key not in hidden:
            name = names.get(key, key.replace("_", " "))
            click.echo(f"{name + ':':<22} {_shown(value)}", err=err)
    for one in conditions:
        reached, asked = _shown(one["reached"]), _shown(one["at_least"])
        click.echo(f"{one['what'] + ':':<22} {reached} (at least {asked})", err=err)
    if each:
        head = [name.replace("_", " ") for name in each[0]]
        rows = [list(line.values()) for line in each[:_MOST]]
        print_table(head, rows, err=err)
        if len(each) > _MOST:
            left = f"and {_shown(len(each) - _MOST)} more; --json has them"
            click.echo(left, err=err)


def print_json(value: Any, *, err: bool = False) -> None:
    """Print a value in one line for machines."""
    click.echo(json.dumps(value), err=err)


def print_table(head: list[str], rows: list[list[Any]], *, err: bool = False) -> None:
    """Print a table that fits a narrow window, without colour when piped."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(head):
        words = i == 0 or name == "what it is"
        table.add_column(
            name, justify="left" if words else "right", overflow="fold", no_wrap=False
        )
    for row in rows:
        table.add_row(*map(_shown, row))
    _print(table, err=err)


def print_text(text: str) -> None:
    """Print a paragraph in lines that fit the window."""
    _print(Text(text))


def _print(what: Any, *, err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else 79
    console = Console(width=width, highlight=False)
    with console.capture() as captured:
        console.print(what)
    for line in captured.get().splitlines():
        click.echo(line.rstrip(), err=err)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list):
        return " and ".join(_shown(item) for item in value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    return str(value)
