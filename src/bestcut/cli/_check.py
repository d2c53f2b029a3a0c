"""`bestcut check`: whether a metric may be optimised by ranking and cutting."""

from __future__ import annotations

import click

import bestcut
from bestcut.cli._options import json_option, metric_of, zero_division_option
from bestcut.cli._printing import print_json, print_text


@click.command(context_settings={"ignore_unknown_options": True})  # as in "-fp/n"
@click.argument("formula")
@zero_division_option
@json_option
@click.pass_context
def check(ctx: click.Context, formula: str, as_json: bool) -> None:
    """Say whether a metric may be optimised by ranking and cutting.

    FORMULA is a name, or a formula of tp, fp, fn, tn, n, n_pred and n_pos with + - * /
    ** ( ) sqrt min max abs. The formula is never run as code. The exit status is 0 if
    the metric qualifies, and 1 otherwise.

    \b
    Example:
      bestcut check "tp / (tp + 0.5 * (fp + fn))"
    """
    metric = metric_of(formula)
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
