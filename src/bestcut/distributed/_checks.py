"""What is refused of a collection, and in which words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bestcut._errors import InvalidProbabilityError, SolverMismatchError, unknown_name
from bestcut.metrics import Metric, check_metric


class Offender(NamedTuple):
    """An entry that is no probability. They compare by place."""

    partition: int
    row: int
    value: float

    def error(self, what: str) -> InvalidProbabilityError:
        """Return the error that names it."""
        where = f"partition {self.partition}, row {self.row}"
        return no_probability(what, self.value, where)


def no_probability(what: str, value: float, where: str) -> InvalidProbabilityError:
    """Return the refusal of an entry that is no probability."""
    missing = np.isnan(value)
    cure = (
        "Drop or fill the missing entries first."
        if missing
        else "Pass probabilities, not scores or logits."
    )
    return InvalidProbabilityError(
        f"{what} must lie in [0, 1]; got {'null or NaN' if missing else value} in "
        f"{where}. {cure}"
    )


def check_ranks(metric: Metric) -> Metric:
    """Return a metric that may be maximised by ranking and cutting."""
    check = check_metric(metric)
    if not check.prp:
        msg = (
            f"metric {metric.name!r} is not known to satisfy the probability ranking "
            f"principle, so ranking and cutting may miss its optimum. {check.reason} "
            "Choose another metric."
        )
        raise SolverMismatchError(msg)
    return metric


def check_columns(given: Any, known: Iterable[str], *, name: str) -> None:
    """Refuse a column that is not there."""
    known = list(known)
    if given not in known:
        error = unknown_name(name, given, map(str, known))
        raise error


def check_by(by: Any, known: Sequence[str], facts: Sequence[str]) -> list[str]:
    """Return the columns that name the group of a row."""
    columns = [by] if isinstance(by, str) else by
    if not isinstance(columns, list | tuple) or not columns:
        msg = f"`by` must be the name of a column, or a list of names; got {by!r}."
        raise TypeError(msg)
    for column in columns:
        check_columns(column, known, name="by")
        if column in facts:
            msg = (
                f"`by` must not hold {column!r}, which the frame of the groups has a "
                "column for. Rename it first."
            )
            raise ValueError(msg)
    return list(columns)


def check_new_column(
    name: Any, known: Iterable[str], fold: Callable[[str], str] = str
) -> None:
    """Refuse to write over a column, or over one that `fold` makes equal."""
    if not isinstance(name, str):
        msg = f"`name` must be a string; got {name!r}."
        raise TypeError(msg)
    if fold(name) in map(fold, known):
        msg = (
            f"`name` {name!r} is a column already, and nothing is written over. Choose "
            "another name, or drop that column first."
        )
        raise ValueError(msg)


def not_numbers(column: Any, dtype: Any, cure: str) -> TypeError:
    """Return the refusal of a column of something else than numbers."""
    return TypeError(f"`column` {column!r} must hold numbers; it has {dtype}. {cure}")


def too_many_scores(metric: str, wanted: int, most: int) -> ValueError:
    """Return the refusal to bring the data to the driver."""
    return ValueError(
        f"metric {metric!r} needs {wanted} scores on the driver, with more than {most} "
        "different ones: its formula gives no bounds that would leave cuts out. Write "
        "it with arithmetic, roots and `np.where`, or round the scores."
    )


def changed_between(keep: str) -> RuntimeError:
    """Return the refusal of data that change."""
    return RuntimeError(
        "the rows must not change while they are decided on; the scores near the cut "
        "were others in the second pass than in the first. Keep the rows with "
        f"`{keep}` before."
    )
