"""`bestcut decide --group-by`: a decision for each group, and a line for each."""

from __future__ import annotations

from typing import Any

import bestcut
from bestcut._types import BoolArray, FloatArray
from bestcut.cli._calibrate import Labelled
from bestcut.cli._printing import facts_of_many
from bestcut.cli._problem import Problem
from bestcut.files.sources import Source
from bestcut.metrics import AnyMetric


def decide_groups(
    source: Source,
    proba: str,
    metric: AnyMetric,
    asked: dict[str, Any],
    group_by: str,
    labelled: Labelled | None,
) -> tuple[BoolArray, dict[str, Any]]:
    """Decide for each group; all rows are calibrated together.

    Parameters
    ----------
    source : Source
        The rows.
    proba, group_by : str
        Columns: the probabilities, and the group of each row.
    metric : Metric or RowUtility
        What to maximise in each group.
    asked : dict
        Bounds, goal and conditions, as for `bestcut.decide_each`.
    labelled : Labelled or None
        What turns scores into probabilities.

    Returns
    -------
    labels : ndarray of bool
        A mark for each row.
    facts : dict
        What was decided, for machines.
    """
    p: FloatArray | bestcut.UncertainProbabilities = (
        source.probabilities(proba)
        if labelled is None
        else labelled.probabilities(source, proba)
    )
    groups, names = source.named_groups(group_by, "--group-by")
    try:
        many = bestcut.decide_each(p, metric, groups=groups, **asked)
    except bestcut.InfeasibleError as error:
        raise _of_group(error, group_by, names) from None
    return many.labels, facts_of_many(many, labelled)


def _of_group(
    error: bestcut.InfeasibleError, group_by: str, names: list[str]
) -> Problem:
    """Return the message about a group, with its name and the command's cure."""
    place = f"{group_by} {names[error.problem or 0]!r}"
    share = f"This happens in {error.unmet} of {error.count} groups."
    cure = "To allow no positives in these groups, add --zero-division 1."
    return Problem.of(f"{place}: {error.refusal} {share} {cure}")
