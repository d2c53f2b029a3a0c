"""`bestcut metrics`: the metrics that are known by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

import bestcut
from bestcut.cli._printing import print_table


@click.command()
def metrics() -> None:
    """List the metrics that are known by name."""
    names = bestcut.metrics.names(aliases=True)
    print_table(["name", "what it is"], [[name, _described(name)] for name in names])


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
