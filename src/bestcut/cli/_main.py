"""The commands."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table as RichTable

import bestcut
from bestcut.cli._files import FORMATS, Table, format_of
from bestcut.cli._problem import Problem
from bestcut.goals import Goal, Mean, ProbAtLeast, Quantile
from bestcut.metrics import ExpressionError, Metric, from_expression

_EXAMPLES = """
\b
Examples:
  bestcut decide scores.csv --proba p --metric f1 -o decided.csv
  bestcut expect scores.csv --proba p --pred yhat --metric f1,mcc
  bestcut compare scores.csv --proba p
  bestcut check "2*tp / (2*tp + fp + fn)"
"""


class Group(click.Group):
    """Commands whose errors are one line, and which can be interrupted."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; say what went wrong in one line."""
        try:
            return super().invoke(ctx)
        except (ValueError, TypeError) as error:  # the library's own sentences
            raise Problem.of(error) from error
        except MemoryError:
            message = "there is not enough memory for this file"
            raise Problem(message) from None
        except KeyboardInterrupt:
            click.echo("bestcut: interrupted; nothing was written.", err=True)
            ctx.exit(130)


@click.group(cls=Group, epilog=_EXAMPLES, context_settings={"max_content_width": 80})
@click.version_option(bestcut.__version__, prog_name="bestcut")
def cli() -> None:
    """Turn a file of probabilities into the decisions with the best expected metric.

    Probabilities must be calibrated. No labels are needed.
    """


def _metric(text: str) -> Metric:
    """Return a metric by its name, or from a formula."""
    if text in bestcut.metrics.names():
        return bestcut.metrics.get(text)
    if any(mark in text for mark in "+-*/(") or text in ("tp", "fp", "fn", "tn"):
        try:
            return from_expression(text)
        except ExpressionError as error:
            raise click.BadParameter(str(error)) from None
    try:
        return bestcut.metrics.get(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _goal(text: str) -> Goal:
    """Return a goal from ``mean``, ``quantile=0.1`` or ``reach=0.7``."""
    kind, _, value = text.partition("=")
    try:
        if kind == "mean" and not value:
            return Mean()
        if kind == "quantile":
            return Quantile(float(value))
        if kind == "reach":
            return ProbAtLeast(float(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    msg = f"{text!r} is none of mean, quantile=Q, reach=SCORE."
    raise click.BadParameter(msg)


def _floor(text: str) -> tuple[Metric, float]:
    """Return a metric and its least expected value from ``precision=0.9``."""
    name, _, value = text.rpartition("=")
    try:
        return _metric(name), float(value)
    except ValueError:
        msg = f"{text!r} is not METRIC=NUMBER, for example precision=0.9."
        raise click.BadParameter(msg) from None


def _parsed(parse: Callable[[str], Any]) -> Callable[..., Any]:
    def callback(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if isinstance(value, tuple):
            return [parse(item) for item in value]
        return None if value is None else parse(value)

    return callback


def _metrics(text: str) -> list[Metric]:
    return [_metric(name.strip()) for name in text.split(",")]


_file = click.argument("file", type=click.Path(allow_dash=True, dir_okay=False))
_proba = click.option("--proba", required=True, help="Column of probabilities.")
_format = click.option(
    "--format", "kind", type=click.Choice(FORMATS), help="Format of FILE; by its name."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@cli.command()
@_file
@_proba
@click.option(
    "--metric",
    default="f1",
    show_default=True,
    callback=_parsed(_metric),
    help="A name (see `bestcut metrics`) or a formula of tp, fp, fn, tn.",
)
@click.option("--group-by", help="Column: one decision for each of its values.")
@click.option("--min-positives", type=click.IntRange(0), default=0, help="At least.")
@click.option("--max-positives", type=click.IntRange(0), help="At most.")
@click.option(
    "--at-least",
    multiple=True,
    metavar="METRIC=NUMBER",
    callback=_parsed(_floor),
    help="Least expected value of another metric; may be repeated.",
)
@click.option(
    "--goal",
    default="mean",
    show_default=True,
    callback=_parsed(_goal),
    help="mean, quantile=0.1 (cautious), or reach=0.7 (a score).",
)
@click.option("--name", default="decision", show_default=True, help="Column to add.")
@click.option(
    "-o", "--output", default="-", help="File to write; - is standard output."
)
@_format
@_json
def decide(
    file: str,
    proba: str,
    metric: Metric,
    group_by: str | None,
    min_positives: int,
    max_positives: int | None,
    at_least: list[tuple[Metric, float]],
    goal: Goal,
    name: str,
    output: str,
    kind: str | None,
    as_json: bool,
) -> None:
    """Add a column with the decisions that have the best expected metric.

    Every other column and the order of the rows stay as they are. A summary goes to
    standard error.

    \b
    Examples:
      bestcut decide scores.csv --proba p --metric f1 -o decided.csv
      bestcut decide hits.parquet --proba p --group-by query -o out.parquet
      bestcut decide s.csv --proba p --at-least precision=0.9 --metric recall
    """
    table = Table(file, format_of(file, kind))
    target = table.kind if output == "-" else format_of(output, None)
    if output != "-" and file != "-" and _same(file, output):
        raise Problem(output, "is the input itself", "Write to another file.")
    p = table.probabilities(proba)
    bounds: dict[str, Any] = {
        "min_positives": min_positives,
        "max_positives": max_positives,
    }
    if group_by is not None:
        if at_least or goal != Mean():
            message = "--group-by takes neither --at-least nor --goal"
            raise Problem(message)
        groups = table.column(group_by, "--group-by").to_numpy()
        many = bestcut.decide_each(p, metric, groups=groups, **bounds)
        facts = _facts_of_many(many)
        labels = many.labels
    else:
        one = bestcut.decide(p, metric, goal=goal, at_least=dict(at_least), **bounds)
        facts, labels = _facts_of_one(one), one.labels
    table.write(output, target, name, labels)
    _summary(facts, as_json=as_json)


def _same(first: str, second: str) -> bool:
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False


def _facts_of_one(one: bestcut.Decision) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "metric": one.metric.name,
        "rows": int(one.labels.size),
        "positive": one.n_positive,
        "threshold": one.threshold if np.isfinite(one.threshold) else None,
        "expected score": one.expected_score,
        "90% between": list(one.distribution().interval(0.9)),
    }
    if one.goal != Mean():
        facts[one.goal.describe(one.metric)] = one.goal_value
    return facts


def _facts_of_many(many: bestcut.Decisions) -> dict[str, Any]:
    count = many.n_positive.size
    return {
        "metric": many.metric.name,
        "groups": count,
        "rows": int(many.labels.size),
        "positive": int(many.n_positive.sum()),
        "groups left empty": int(np.count_nonzero(many.n_positive == 0)),
        "mean expected score": float(many.expected_score.mean()) if count else None,
    }


def _summary(facts: dict[str, Any], *, as_json: bool) -> None:
    """Print what was decided to standard error."""
    if as_json:
        click.echo(json.dumps(facts), err=True)
        return
    for name, value in facts.items():
        click.echo(f"{name + ':':<22} {_shown(value)}", err=True)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list):
        return " and ".join(_shown(item) for item in value)
    return (
        f"{value:.4g}"
        if isinstance(value, float)
        else f"{value:,}".replace(",", " ")
        if isinstance(value, int)
        else str(value)
    )


@cli.command()
@_file
@_proba
@click.option("--pred", required=True, help="Column of predictions, 0 and 1.")
@click.option("--label", help="Column of true labels, if they are known.")
@click.option(
    "--metric",
    default="f1",
    show_default=True,
    callback=_parsed(_metrics),
    help="Names, separated by commas, or one formula.",
)
@_format
@_json
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
      bestcut expect scores.csv --proba p --pred yhat --metric f1,mcc
    """
    table = Table(file, format_of(file, kind))
    p = table.probabilities(proba)
    labels = table.labels(pred, "--pred")
    truth = None if label is None else table.labels(label, "--label")
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
            row["p-value"] = score.surprise(row["realised"]).p_value
        rows.append(row)
    check = None if truth is None else bestcut.calibration_check(truth, p)
    if as_json:
        verdict = {} if check is None else {"calibration": check.verdict}
        click.echo(json.dumps({"scores": rows} | verdict))
        return
    heads = {"low": "90% from", "high": "to"}
    _print_table([heads.get(x, x) for x in rows[0]], [list(r.values()) for r in rows])
    if check is not None:
        click.echo(check.verdict)


@cli.command()
@_file
@_proba
@_format
@_json
def compare(file: str, proba: str, kind: str | None, as_json: bool) -> None:
    """Show the best cut for every metric, and what a threshold of 0.5 would give.

    \b
    Example:
      bestcut compare scores.csv --proba p
    """
    table = Table(file, format_of(file, kind))
    p = table.probabilities(proba)
    at_half = p >= 0.5
    rows = []
    for name in bestcut.metrics.names():
        if name == "dice":
            continue  # f1 by another name
        best = bestcut.decide(p, name)
        rows.append(
            {
                "metric": name,
                "positive": best.n_positive,
                "threshold": best.threshold if np.isfinite(best.threshold) else None,
                "expected": best.expected_score,
                "at 0.5": bestcut.expected_score(p, at_half, name),
            }
        )
    if as_json:
        click.echo(json.dumps(rows))
        return
    _print_table(list(rows[0]), [list(row.values()) for row in rows])
    flagged = int(np.count_nonzero(at_half))
    click.echo(f"{p.size} rows; a threshold of 0.5 flags {flagged}.")


@cli.command()
@click.argument("formula")
@click.option("--zero-division", type=float, default=0.0, help="What 0/0 is worth.")
@_json
@click.pass_context
def check(
    ctx: click.Context, formula: str, zero_division: float, as_json: bool
) -> None:
    """Say whether a metric may be optimised by ranking and cutting.

    FORMULA is a name or a formula of tp, fp, fn, tn, n, n_pred and n_pos with + - * /
    ** ( ) sqrt min max abs. It is read, never run. The exit status is 0 if the metric
    qualifies and 1 if not.

    \b
    Example:
      bestcut check "tp / (tp + 0.5 * (fp + fn))"
    """
    if formula in bestcut.metrics.names():
        metric = bestcut.metrics.get(formula)
    else:
        try:
            metric = from_expression(formula, zero_division=zero_division)
        except ExpressionError as error:
            raise Problem.of(error) from None
    found = bestcut.check_metric(metric)
    if as_json:
        verdict = {
            "metric": metric.name,
            "qualifies": found.prp,
            "reason": found.reason,
            "proved_for_every_n": found.n_checked is None,
        }
        click.echo(json.dumps(verdict))
    else:
        words = {True: "Yes", False: "No", None: "Not known"}
        click.echo(f"{words[found.prp]}. {found.reason}")
    ctx.exit(0 if found.prp else 1)


@cli.command()
def metrics() -> None:
    """List the metrics that are known by name."""
    rows = []
    for name in bestcut.metrics.names():
        metric = bestcut.metrics.get(name)
        first = (type(metric).__doc__ or "").strip().splitlines()[0].rstrip(".")
        rows.append([name, first])
    _print_table(["name", "what it is"], rows)


@cli.command()
def demo() -> None:
    """Decide on 40 synthetic card payments."""
    p = np.random.default_rng(4).beta(0.4, 3.0, size=40)
    one = bestcut.decide(p, "f1")
    click.echo("40 synthetic card payments; the model gives each a chance of fraud.")
    click.echo(f"{p.sum():.1f} frauds are expected. By F1, the best cut:")
    _summary(_facts_of_one(one), as_json=False)
    half = p >= 0.5
    click.echo(
        f"A threshold of 0.5 would flag {int(half.sum())} and could expect "
        f"{bestcut.expected_score(p, half, 'f1'):.2f}."
    )


def _print_table(head: list[str], rows: list[list[Any]]) -> None:
    """Print a table that fits a narrow window, without colour when piped."""
    table = RichTable(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(head):
        table.add_column(name, justify="left" if i == 0 else "right", overflow="fold")
    if head == ["name", "what it is"]:
        table.columns[1].justify = "left"
    for row in rows:
        table.add_row(*map(_shown, row))
    width = None if sys.stdout.isatty() else 79
    Console(width=width, highlight=False).print(table)
