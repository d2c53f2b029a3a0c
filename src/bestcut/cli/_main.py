"""The commands."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import click
import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

import bestcut
from bestcut.cli._problem import Problem
from bestcut.cli._signals import INTERRUPTED, exit_status
from bestcut.files.sources import (
    FORMATS,
    Source,
    decide_source,
    format_of,
    open_source,
    refuse_input_as_output,
    write_labels,
)
from bestcut.goals import Goal, Mean, ProbAtLeast, Quantile
from bestcut.metrics import ExpressionError, Metric, from_expression

LARGE = 1 << 26  # bytes; the scores of a larger file are not held in memory
_EXAMPLES = """
\b
Examples:
  bestcut decide scores.csv --proba p -o decided.csv
  bestcut expect scores.csv --proba p --pred yhat
  bestcut compare scores.csv --proba p
  bestcut check "2*tp / (2*tp + fp + fn)"
"""


class Group(click.Group):
    """Commands whose errors are one line, and which can be interrupted."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; say what went wrong in one line."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            path = (error.ctx or ctx).command_path
            sentence = error.format_message().rstrip(".")
            raise Problem(sentence, cure=f"See {path} --help.") from None
        except (ValueError, TypeError) as error:  # the library's own sentences
            raise Problem.of(error) from error
        except pl.exceptions.PolarsError as error:
            raise Problem(str(error).partition("\n")[0]) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader has seen enough; click ends quietly
            _drop_output()
            message = f"standard output could not be written ({error.strerror})"
            raise Problem(message) from None
        except MemoryError:
            message = "there is not enough memory for this file"
            raise Problem(message) from None
        except KeyboardInterrupt as error:
            click.echo(f"bestcut: {INTERRUPTED}", err=True)
            ctx.exit(exit_status(error))


def _drop_output() -> None:
    """Let nothing more be written to standard output, as that would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


@click.group(cls=Group, epilog=_EXAMPLES, context_settings={"max_content_width": 80})
@click.version_option(bestcut.__version__, prog_name="bestcut")
def cli() -> None:
    """Turn a file of probabilities into the decisions with the best expected metric.

    Probabilities must be calibrated. No labels are needed.
    """


def metric_given(text: str) -> Metric:
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
    goals: dict[str, Callable[[float], Goal]] = {
        "quantile": Quantile,
        "reach": ProbAtLeast,
    }
    if text == "mean":
        return Mean()
    try:
        number, goal = float(value), goals[kind]
    except (ValueError, KeyError):
        msg = f"{text!r} is none of mean, quantile=NUMBER, reach=NUMBER."
        raise click.BadParameter(msg) from None
    try:
        return goal(number)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _floor(text: str) -> tuple[Metric, float]:
    """Return a metric and its least expected value from ``precision=0.9``."""
    name, _, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if not (name and np.isfinite(number)):
        msg = f"{text!r} is not METRIC=NUMBER, for example precision=0.9."
        raise click.BadParameter(msg)
    return metric_given(name), number


def _floors(given: list[tuple[Metric, float]]) -> dict[str | Metric, float]:
    """Return each metric with the largest value that is asked of it."""
    return dict(sorted(given, key=lambda floor: floor[1]))


def known_names_given(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return what the shell may complete the last name of a list to."""
    done, comma, begun = incomplete.rpartition(",")
    names = bestcut.metrics.names()
    return [done + comma + name for name in names if name.startswith(begun)]


def parsed_given(parse: Callable[[str], Any]) -> Callable[..., Any]:
    def callback(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if isinstance(value, tuple):
            return [parse(item) for item in value]
        return None if value is None else parse(value)

    return callback


def metrics_given(text: str) -> list[Metric]:
    """Return the metrics between the commas that are in no parentheses."""
    parts, depth = [""], 0
    for mark in text:
        depth += (mark == "(") - (mark == ")")
        if mark == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += mark
    return [metric_given(part.strip()) for part in parts]


file_option = click.argument("file", type=click.Path(allow_dash=True, dir_okay=False))
proba_option = click.option("--proba", required=True, help="Column of probabilities.")
format_option = click.option(
    "--format",
    "kind",
    type=click.Choice(list(FORMATS)),
    help="Format of FILE, and of an output whose name says none.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@cli.command()
@file_option
@proba_option
@click.option(
    "--metric",
    default="f1",
    show_default=True,
    callback=parsed_given(metric_given),
    shell_complete=known_names_given,
    help="A name (see `bestcut metrics`) or a formula of tp, fp, fn, tn.",
)
@click.option("--group-by", help="Column: one decision for each of its values.")
@click.option("--min-positives", type=click.IntRange(0), default=0, help="At least.")
@click.option("--max-positives", type=click.IntRange(0), help="At most.")
@click.option(
    "--at-least",
    multiple=True,
    metavar="METRIC=NUMBER",
    callback=parsed_given(_floor),
    help="Least expected value of another metric; may be repeated.",
)
@click.option(
    "--goal",
    default="mean",
    show_default=True,
    callback=parsed_given(_goal),
    help="mean, quantile=0.1 (cautious), or reach=0.7 (a score).",
)
@click.option("--name", default="decision", show_default=True, help="Column to add.")
@click.option(
    "-o", "--output", default="-", help="File to write; - is standard output."
)
@format_option
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
    standard error; --json goes to standard output if the table does not.

    \b
    Examples:
      bestcut decide scores.csv --proba p -o decided.csv
      bestcut decide hits.parquet --proba p --group-by query \\
        -o out.parquet
      bestcut decide scores.csv --proba p --metric recall \\
        --at-least precision=0.9
    """
    refuse_input_as_output(file, output)
    if group_by is not None and (at_least or goal != Mean()):
        message = "--group-by takes neither --at-least nor --goal"
        raise Problem(message)
    source = open_source(file, kind)
    target = source.kind if output == "-" else format_of(output, kind)
    source.check_new(name)
    can_be_streamed = group_by is None and not at_least and goal == Mean()
    if can_be_streamed and source.is_larger_than(LARGE):
        facts = decide_source(
            source,
            output,
            target,
            proba=proba,
            metric=metric,
            min_positives=min_positives,
            max_positives=max_positives,
            name=name,
            progress=None,
            describe=lambda found: _facts_of_one(found, found.rows),
        )
    else:
        with Console(stderr=True).status("Deciding"):  # on a terminal only
            bounds = min_positives, max_positives
            facts, labels = _decided(
                source, proba, metric, group_by, bounds, goal, _floors(at_least)
            )
            write_labels(source, output, target, name, labels)
    _summary(facts, as_json=as_json, err=output == "-" or not as_json)


def _decided(
    source: Source,
    proba: str,
    metric: Metric,
    group_by: str | None,
    bounds: tuple[int, int | None],
    goal: Goal,
    floors: dict[str | Metric, float],
) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """Decide in memory; return what to say, and the labels."""
    p, (low, high) = source.probabilities(proba), bounds
    if group_by is not None:
        groups = source.groups(group_by, "--group-by")
        many = bestcut.decide_each(
            p, metric, groups=groups, min_positives=low, max_positives=high
        )
        return _facts_of_many(many), many.labels
    one = bestcut.decide(
        p, metric, goal=goal, at_least=floors, min_positives=low, max_positives=high
    )
    return _facts_of_one(one, p.size), one.labels


def _facts_of_one(
    one: bestcut.Decision | bestcut.FileDecision, rows: int
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "metric": one.metric.name,
        "rows": rows,
        "positive": one.n_positive,
        "threshold": one.threshold if np.isfinite(one.threshold) else None,
        "expected_score": one.expected_score,
        "error": one.error,
        "gap": one.gap,
        "gap_scope": one.gap_scope,
        "interval_90": list(one.distribution().interval(0.9)),
    }
    if isinstance(one, bestcut.Decision) and one.goal != Mean():
        facts["goal"] = one.goal.describe(one.metric)
        facts["goal_value"] = one.goal_value
    return facts


def _facts_of_many(many: bestcut.Decisions) -> dict[str, Any]:
    count = many.n_positive.size
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
    }


def _summary(facts: dict[str, Any], *, as_json: bool, err: bool = True) -> None:
    """Print what was decided, if not told otherwise to standard error."""
    if as_json:
        click.echo(json.dumps(facts), err=err)
        return
    names = {"interval_90": "90% between", "goal_value": facts.get("goal", "")}
    for key, value in facts.items():
        if key not in ("goal", "error", "gap", "gap_scope"):  # for machines
            name = names.get(key, key.replace("_", " "))
            click.echo(f"{name + ':':<22} {_shown(value)}", err=err)


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
@file_option
@proba_option
@click.option("--pred", required=True, help="Column of predictions, 0 and 1.")
@click.option("--label", help="Column of true labels, if they are known.")
@click.option(
    "--metric",
    default="f1",
    show_default=True,
    callback=parsed_given(metrics_given),
    shell_complete=known_names_given,
    help="Names or formulas, separated by commas.",
)
@format_option
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
        click.echo(json.dumps({"scores": rows} | verdict))
        return
    heads = {"low": "90% from", "high": "to", "p_value": "p-value"}
    _print_table([heads.get(x, x) for x in rows[0]], [list(r.values()) for r in rows])
    if check is not None:
        _print_text(check.verdict)


@cli.command()
@file_option
@proba_option
@format_option
@_json
def compare(file: str, proba: str, kind: str | None, as_json: bool) -> None:
    """Show the best cut for every metric, and what a threshold of 0.5 would give.

    \b
    Example:
      bestcut compare scores.csv --proba p
    """
    source = open_source(file, kind)
    p = source.probabilities(proba)
    at_half = p >= 0.5
    rows = []
    for name in bestcut.metrics.names(aliases=False):
        best = bestcut.decide(p, name)
        rows.append(
            {
                "metric": name,
                "positive": best.n_positive,
                "threshold": best.threshold if np.isfinite(best.threshold) else None,
                "expected": best.expected_score,
                "expected_at_half": bestcut.expected_score(p, at_half, name),
            }
        )
    if as_json:
        click.echo(json.dumps(rows))
        return
    heads = [name.replace("expected_at_half", "at 0.5") for name in rows[0]]
    _print_table(heads, [list(row.values()) for row in rows])
    flagged = int(np.count_nonzero(at_half))
    click.echo(f"{p.size} rows; a threshold of 0.5 flags {flagged}.")


@cli.command(context_settings={"ignore_unknown_options": True})  # as in "-fp/n"
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
        if hasattr(metric, "zero_division"):
            metric = replace(metric, zero_division=zero_division)  # type: ignore[type-var]
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
        _print_text(f"{words[found.prp]}. {found.reason}")
    ctx.exit(0 if found.prp else 1)


@cli.command()
def metrics() -> None:
    """List the metrics that are known by name."""
    names = bestcut.metrics.names()
    _print_table(["name", "what it is"], [[name, _described(name)] for name in names])


def _described(name: str) -> str:
    """Return the first line about a metric, with what sets it apart in its class."""
    metric: Any = bestcut.metrics.get(name)
    first = (type(metric).__doc__ or "").strip().splitlines()[0].rstrip(".")
    values = {field.name: getattr(metric, field.name) for field in fields(metric)}
    values.pop("zero_division", None)
    apart = [
        key.replace("_", " ") + ("" if value is True else f" {value:g}")
        for key, value in values.items()
        if value is not False
    ]
    return "; ".join([first, *apart])


@cli.command()
def demo() -> None:
    """Decide on 40 synthetic card payments."""
    p = np.random.default_rng(4).beta(0.4, 3.0, size=40)
    one = bestcut.decide(p, "f1")
    _print_text("40 synthetic card payments, each with its chance of fraud.")
    _print_text(f"{p.sum():.1f} frauds are expected. By F1, the best cut:")
    _summary(_facts_of_one(one, p.size), as_json=False, err=False)
    half = p >= 0.5
    _print_text(
        f"A threshold of 0.5 would flag {int(half.sum())} and could expect "
        f"{bestcut.expected_score(p, half, 'f1'):.2f}."
    )


def _print_table(head: list[str], rows: list[list[Any]]) -> None:
    """Print a table that fits a narrow window, without colour when piped."""
    table = RichTable(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(head):
        words = i == 0 or name == "what it is"
        table.add_column(
            name, justify="left" if words else "right", overflow="fold", no_wrap=False
        )
    for row in rows:
        table.add_row(*map(_shown, row))
    _print(table)


def _print_text(text: str) -> None:
    """Print a paragraph in lines that fit the window."""
    _print(Text(text))


def _print(what: Any) -> None:
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 79
    console = Console(width=width, highlight=False)
    with console.capture() as captured:
        console.print(what)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


from bestcut.cli import _report  # noqa: E402, F401  (adds a command, uses the above)
