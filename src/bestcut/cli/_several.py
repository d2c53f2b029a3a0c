"""`bestcut decide` for several classes: one class, or some labels, for each row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestcut import multiclass, multilabel
from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut.cli._printing import finite_or_none
from bestcut.cli._problem import Problem
from bestcut.files.sources import Source, twice
from bestcut.metrics import Metric

_DRAWN = 500_000  # drawing classes from so many probabilities takes some seconds
_DENSE = 1 << 24  # probabilities of groups and labels that are held without scipy


# Options that ask for more than one score.
SEVERAL = {"--classes", "--per-group", "--average-by"}
_OF_LABELS = ["--proba", "--group-by", "--per-group", "--average-by"]


class Decided(NamedTuple):
    """What was decided: a mark for each row, the words they stand for, and facts."""

    marks: BoolArray | IndexArray
    words: list[str] | None
    facts: dict[str, Any]


def check_together(given: dict[str, Any]) -> None:
    """Refuse options that cannot be used together, or that need another one."""
    if "--classes" in given:
        main, allowed = "--classes", ["--classes"]
    elif "--average-by" in given:
        main, allowed = "--average-by", _OF_LABELS
        given = {option: x for option, x in given.items() if option != "--collect"}
    else:
        message = "--per-group needs --average-by"
        cure = "For the mean over groups use --min-positives and --max-positives."
        raise Problem(message, cure)
    for option in given:
        if option not in allowed:
            message = f"{main} cannot be used with {option}"
            raise Problem(message)
    for option in allowed:
        if option not in given:
            message = f"{main} needs {option}"
            raise Problem(message)


def decide_several(source: Source, metric: Metric, given: dict[str, Any]) -> Decided:
    """Decide as the options ask."""
    if "--classes" in given:
        return decide_classes(source, given["--classes"], metric)
    return decide_labels(
        source,
        given["--proba"],
        metric,
        group_by=given["--group-by"],
        average_by=given["--average-by"],
        per_group=given["--per-group"],
    )


def decide_classes(source: Source, classes: list[str], metric: Metric) -> Decided:
    """Choose one of the columns for each row.

    Parameters
    ----------
    source : Source
        The rows.
    classes : list of str
        Columns of probabilities; the classes have the names of the columns.
    metric : Metric
        The metric of each class against the rest.
    """
    p, rescaled = source.shares(classes, "--classes")
    facts: dict[str, Any] = {
        "metric": metric.name,
        "average": "macro",
        "rows": p.shape[0],
        "classes": len(classes),
    }
    if not p.size:
        nothing: dict[str, Any] = {"expected_score": None, "each": []}
        return Decided(np.zeros(0, dtype=np.intp), classes, facts | nothing)
    found = multiclass.decide(p, metric)
    if rescaled:
        facts["rows_rescaled"] = rescaled
    facts |= _scores(found)
    if p.size <= _DRAWN:
        facts["interval_90"] = list(found.distribution().interval(0.9))
    facts["each"] = _each("class", classes, found.n_positive, found.each)
    return Decided(np.asarray(found.labels, dtype=np.intp), classes, facts)


def decide_labels(
    source: Source,
    proba: str,
    metric: Metric,
    *,
    group_by: str,
    average_by: str,
    per_group: tuple[int, int],
) -> Decided:
    """Choose some labels for each group, for the mean over labels.

    Parameters
    ----------
    source : Source
        The rows: one for each label that a group may have.
    proba : str
        Column of probabilities.
    metric : Metric
        The metric of each label.
    group_by, average_by : str
        Columns: which group and which label a row is about.
    per_group : (int, int)
        How many labels each group is given, at least and at most.
    """
    p = source.probabilities(proba)
    group, groups = source.named_groups(group_by, "--group-by")
    label, labels = source.named_groups(average_by, "--average-by")
    place = group * max(len(labels), 1) + label
    _refuse_repeated(source, (group_by, average_by), place, groups, labels)
    facts: dict[str, Any] = {
        "metric": metric.name,
        "average": "macro",
        "groups": len(groups),
        "labels": len(labels),
        "rows": p.size,
    }
    if not p.size:
        nothing: dict[str, Any] = {"positive": 0, "expected_score": None, "each": []}
        return Decided(np.zeros(0, dtype=np.bool_), None, facts | nothing)
    shape = len(groups), len(labels)
    most = min(per_group[1], shape[1])
    found = multilabel.decide(
        _matrix(p, group, label, shape),
        metric,
        average="macro",
        per_row=(min(per_group[0], most), most),
    )
    marks = _marks(found.labels, place, shape)
    predicted = np.bincount(label[marks], minlength=shape[1])
    facts |= {"positive": int(np.count_nonzero(marks)), **_scores(found)}
    facts["each"] = _each("label", labels, predicted, found.each)
    return Decided(marks, None, facts)


def _scores(found: Any) -> dict[str, Any]:
    """Return the facts about the expected score."""
    return {
        "expected_score": finite_or_none(found.expected_score),
        "error": found.error,
        "gap": found.gap,
        "gap_scope": found.gap_scope,
    }


def _each(what: str, names: list[str], predicted: Any, scores: Any) -> list[Any]:
    """Return a line for each class."""
    return [
        {what: name, "predicted": count, "expected_score": finite_or_none(score)}
        for name, count, score in zip(
            names, predicted.tolist(), scores.tolist(), strict=True
        )
    ]


def _refuse_repeated(
    source: Source,
    columns: tuple[str, str],
    place: IndexArray,
    groups: list[str],
    labels: list[str],
) -> None:
    """Refuse a second row for one group and one label."""
    first = np.zeros(place.size, dtype=np.bool_)
    first[np.unique(place, return_index=True)[1]] = True
    if not first.all():
        row = int(np.argmin(first))
        of_group, of_label = divmod(int(place[row]), len(labels))
        shown = groups[of_group], labels[of_label]
        raise twice(source.where, columns, row + 1, shown)


def _matrix(
    p: FloatArray, group: IndexArray, label: IndexArray, shape: tuple[int, int]
) -> Any:
    """Return groups by labels: sparse, or dense where scipy is missing."""
    try:
        from scipy.sparse import csr_array
    except ImportError:
        if shape[0] * shape[1] > _DENSE:
            message = f"{shape[0]} groups of {shape[1]} labels need scipy"
            raise Problem(message, "Run pip install scipy.") from None
        dense = np.zeros(shape)
        dense[group, label] = p
        return dense
    return csr_array((p, (group, label)), shape=shape)


def _marks(labels: Any, place: IndexArray, shape: tuple[int, int]) -> BoolArray:
    """Return the labels of the rows, in their order."""
    if not hasattr(labels, "tocoo"):
        return np.asarray(labels.ravel()[place])
    taken = labels.tocoo()
    return np.isin(place, taken.row.astype(np.intp) * shape[1] + taken.col)
