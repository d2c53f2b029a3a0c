"""`bestcut check`: whether a metric may be optimised by ranking and cutting."""

from __future__ import annotations

from dataclasses import replace

import click

import bestcut
from bestcut.cli._options import json_option
from bestcut.cli._printing import print_json, print_text
from bestcut.cli._problem import Problem
from bestcut.metrics import ExpressionError, from_expression


@click.command(context_settings={"ignore_unknown_options": True})  # as in "-fp/n"
@click.argument("formula")
@click.option("--zero-division", type=float, default=0.0, help="What 0/0 is worth.")
@json_option
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
        print_json(verdict)
    else:
        words = {True: "Yes", False: "No", None: "Not known"}
        print_text(f"{words[found.prp]}. {found.reason}")
    ctx.exit(0 if found.prp else 1)
