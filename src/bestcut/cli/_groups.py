"""`bestcut decide --group-by`: a decision for each group, and a line for each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import bestcut
from bestcut._types import BoolArray, FloatArray
from bestcut.cli._calibrate import Labelled
from bestcut.cli._printing import facts_of_many
from bestcut.cli._problem import Problem
from bestcut.files.sources import Source
from bestcut.metrics import AnyMetric, FBeta, from_counts


class Grouped(NamedTuple):
    """What was decided: a mark for each row, facts, and which rows' groups say None."""

    marks: BoolArray
    facts: dict[str, Any]
    none: BoolArray | None = None


def decide_groups(
    source: Source,
    proba: str,
    metric: AnyMetric,
    asked: dict[str, Any],
    group_by: str,
    labelled: Labelled | None,
    *,
    none_beside: bool,
) -> Grouped:
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
    none_beside : bool
        Whether a group may say None beside the chosen values.
    """
    p: FloatArray | bestcut.UncertainProbabilities = (
        source.probabilities(proba)
        if labelled is None
        else labelled.probabilities(source, proba)
    )
    groups, names = source.named_groups(group_by, "--group-by")
    try:
        if none_beside:
            return _decide_beside_none(p, metric, groups, asked, labelled)
        many = bestcut.decide_each(p, metric, groups=groups, **asked)
    except bestcut.InfeasibleError as error:
        raise _of_group(error, group_by, names) from None
    return Grouped(many.labels, facts_of_many(many, labelled))


def _of_group(
    error: bestcut.InfeasibleError, group_by: str, names: list[str]
) -> Problem:
    """Return the message about a group, with its name instead of its number."""
    sentence = str(error).partition(": ")[2]
    sentence = sentence.partition(" To allow no positives")[0]
    sentence = sentence.replace("problems", "groups")
    cure = "To allow no positives in these groups, add --zero-division 1."
    place = f"{group_by} {names[error.problem or 0]!r}"
    return Problem.of(ValueError(f"{place}: {sentence} {cure}"))


def _decide_beside_none(
    p: Any,
    metric: AnyMetric,
    groups: Any,
    asked: dict[str, Any],
    labelled: Labelled | None,
) -> Grouped:
    """Decide with a pseudo-instance None, which is positive if nothing else is.

    A group says None if nothing is chosen. It also says None beside the chosen values
    if this has the better expected score.
    """
    if not isinstance(metric, FBeta):
        message = f"--none-beside works with F-beta only, not with {metric.name}"
        raise Problem(message, "Choose --metric f1, or leave --none-beside out.")
    alone = bestcut.decide_each(
        p, FBeta(metric.beta, zero_division=1.0), groups=groups, **asked
    )
    listed = from_counts(_beside_none(float(metric.beta)), f"{metric.name} beside None")
    beside = bestcut.decide_each(p, listed, groups=groups, **asked)
    better = beside.expected_score > alone.expected_score
    marks = np.where(better[groups], beside.labels, alone.labels)
    none = better & (beside.n_positive > 0)
    scores = np.where(better, beside.expected_score, alone.expected_score)
    positive = np.where(better, beside.n_positive, alone.n_positive)
    facts = facts_of_many(alone, labelled) | {
        "positive": int(positive.sum()),
        "groups_left_empty": int(np.count_nonzero(positive == 0)),
        "groups_saying_none": int(np.count_nonzero(none | (positive == 0))),
        "mean_expected_score": float(scores.mean()) if scores.size else None,
        "error": float(max(alone.error.max(initial=0), beside.error.max(initial=0))),
        "gap": float(max(alone.gap.max(initial=0), beside.gap.max(initial=0))),
    }
    facts.pop("interval_90", None)  # it belongs to the decisions without None
    return Grouped(marks, facts, none[groups])


def _beside_none(beta: float) -> Any:
    """Return F-beta of the chosen instances and None, as a function of the counts."""

    def score(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        empty = tp + fn == 0.0
        hits, there = np.where(empty, 1.0, tp), np.where(empty, 1.0, tp + fn)
        return (1.0 + beta**2) * hits / (beta**2 * there + tp + fp + 1.0)

    return score
