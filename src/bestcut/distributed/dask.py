"""Decisions for dask arrays, Series and DataFrames.

Needs dask: ``pip install 'bestcut[dask]'``. The workers need bestcut too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestcut import _errors as errors

try:
    import dask
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd
except ImportError as error:
    raise errors.package_missing(
        needed_by="bestcut.distributed.dask", package="dask", extra="dask"
    ) from error

from bestcut import decision, many
from bestcut._types import FloatArray
from bestcut.distributed._checks import (
    check_by,
    check_columns,
    check_new_column,
    refuses_what_only,
)
from bestcut.distributed._groups import FACTS, Rule
from bestcut.distributed._passes import check_question, find_cut_of_partitions
from bestcut.metrics import Metric
from bestcut.summary import Cut, Pass, merged

__all__ = ["decide", "decide_each"]

_TOGETHER = 16  # answers that are merged in one task
_PLACE = "__bestcut_place__"
_ROWS = 1 << 40  # more than a partition has


@refuses_what_only(decision.decide)
def decide(
    collection: Any,
    y_proba: str | None = None,
    metric: str | Metric = "f1",
    *,
    name: str = "decision",
    min_positives: int = 0,
    max_positives: int | None = None,
) -> tuple[Any, Cut]:
    """Choose the labels that maximise the expected metric over all partitions.

    Parameters
    ----------
    collection : dask array, Series or DataFrame
        Calibrated probabilities, or rows that have them in a column.
    y_proba : str, optional
        The column of a DataFrame that holds the probabilities.
    metric : str or Metric, default="f1"
        What to maximise; as for `bestcut.decide`.
    name : str, default="decision"
        The name of the new column of a DataFrame, or of the Series.
    min_positives, max_positives : int, optional
        Bounds on how many may be predicted positive in all.

    Returns
    -------
    labelled : dask array, Series or DataFrame
        For an array or a Series, the labels; for a DataFrame, the same rows with one
        more column. Dask computes it later, when it is needed.
    cut : bestcut.streams.Cut
        The threshold, the expected score and so on, and how much data was moved.

    Raises
    ------
    InvalidProbabilityError
        If an entry is missing or outside [0, 1]; the first one is named.
    SolverMismatchError
        If the metric does not satisfy the ranking principle.
    TypeError
        If `collection` is not one of dask or does not hold numbers, or for an argument
        that only `bestcut.decide` has.
    ValueError
        If a column is not there, `name` is already a column, or the metric needs too
        many scores at the driver.
    RuntimeError
        If the collection gives other rows when it is computed again.

    See Also
    --------
    bestcut.distributed.dask.decide_each : A decision for each group of rows.
    bestcut.distributed.spark.decide : The same on Spark.
    bestcut.decide : The same in memory.

    Notes
    -----
    The column of the probabilities is computed twice, and a third time with the labels.
    If this is expensive, ``persist()`` it first. If the cut falls inside a tie, the
    earliest tied rows are positive, in the order of partitions and of rows in them.

    The probabilities are taken as exactly right. If they are the means of a
    calibration, ``cut.distribution()`` leaves out the doubt about them. Goals and
    conditions need `bestcut.decide`; docs/guides/clusters.md says how a sample helps.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask.dataframe as dd
    >>> from bestcut.distributed.dask import decide
    >>> rows = pd.DataFrame({"id": range(4), "p": [0.7, 0.1, 0.4, 0.35]})
    >>> labelled, cut = decide(dd.from_pandas(rows, npartitions=2), "p", "f1")
    >>> labelled.compute().decision.tolist()
    [True, False, True, True]
    >>> cut.n_positive, cut.partitions, round(cut.expected_score, 4)
    (3, 2, 0.5913)
    """
    chosen = check_question(metric, min_positives, max_positives)
    scores, what = _scores(collection, y_proba)
    is_frame = isinstance(collection, dd.DataFrame)
    if is_frame:
        check_new_column(name, collection.columns)
    cut = find_cut_of_partitions(
        _runner(scores),
        chosen,
        keep="persist()",
        what=what,
        min_positives=min_positives,
        max_positives=max_positives,
    )
    labels = _labels(scores, cut)
    if is_frame:
        return collection.assign(**{name: labels}), cut
    return (labels.rename(name) if isinstance(labels, dd.Series) else labels), cut


def _scores(collection: Any, column: Any) -> tuple[Any, str]:
    """Return the probabilities, and what to call them in an error."""
    if isinstance(collection, dd.DataFrame):
        check_columns(column, collection.columns, name="y_proba")
        scores, what = collection[column], f"column {column!r}"
    elif isinstance(collection, da.Array | dd.Series):
        if column is not None:
            raise errors.column_of_no_frame(column, collection)
        scores, what = collection, "`collection`"
        if collection.ndim != 1:
            raise errors.not_one_dimensional(name="collection", shape=collection.shape)
    else:
        raise errors.wrong_collection(
            collection, wanted="a dask array, Series or DataFrame", instead="decide"
        )
    if getattr(scores.dtype, "kind", "O") not in "uif":
        cure = "Convert it first, with `.astype(float)`."
        raise errors.not_numbers(column, f"dtype {scores.dtype}", cure)
    return scores, what


def _runner(scores: Any) -> Callable[[Pass], list[Any]]:
    """Return a function that makes a pass over each partition, merging in a tree."""
    if isinstance(scores, da.Array):
        chunks = scores.to_delayed().ravel().tolist()
    else:
        # Only the column is read. The further optimisations may join partitions, and an
        # error should name those that the user knows.
        chunks = scores.simplify().to_delayed(optimize_graph=False)

    def run(asked: Pass) -> list[Any]:
        ask, join, sent = map(dask.delayed, (_ask, merged, asked))
        level = [ask(sent, chunk, i) for i, chunk in enumerate(chunks)]
        while len(level) > 1:
            level = [
                join(level[i : i + _TOGETHER]) for i in range(0, len(level), _TOGETHER)
            ]
        return [level[0].compute()]

    return run


def _ask(asked: Pass, chunk: Any, partition: int) -> Any:
    return asked([_floats(chunk)], partition)


def _floats(chunk: Any) -> FloatArray:
    """Return a partition as float64, NaN where something is missing."""
    if isinstance(chunk, pd.Series):
        return np.asarray(chunk.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(chunk, dtype=np.float64)


def _labels(scores: Any, cut: Cut) -> Any:
    """Return the labels, to be computed by dask.

    The rank among the tied is dask's own cumulative sum, not a number counted before:
    it is right whatever the optimiser does to the partitions.
    """
    p = scores.astype(np.float64)
    taken, there = cut.n_tied
    if not there:
        return p >= cut.threshold
    tied = p == cut.threshold
    if isinstance(p, da.Array):
        # The sequential method fails on empty blocks of unknown length.
        rank = da.cumsum(tied, axis=0, method="blelloch")
    else:
        rank = tied.astype(np.int64).cumsum()
    return (p > cut.threshold) | (tied & (rank <= taken))


@refuses_what_only(many.decide_each)
def decide_each(
    collection: Any,
    y_proba: str,
    by: str | list[str],
    metric: str | Metric = "f1",
    *,
    name: str = "decision",
    min_positives: int = 0,
    max_positives: int | None = None,
) -> tuple[Any, Any]:
    """Choose the labels with the best expected metric in each group of rows.

    Parameters
    ----------
    collection : dask DataFrame
        Rows that have calibrated probabilities in a column.
    y_proba : str
        The column of probabilities.
    by : str or list of str
        The columns that name a row's group. Missing values are a group too.
    metric : str or Metric, default="f1"
        What to maximise in each group; as for `bestcut.decide`.
    name : str, default="decision"
        The name of the new column.
    min_positives, max_positives : int, optional
        Bounds on the number of positives in each group. If a group has fewer rows than
        `min_positives`, all of its rows are positive.

    Returns
    -------
    labelled : dask DataFrame
        The rows with one more column. A shuffle brings each group to one partition, so
        the order of the rows changes; their index stays.
    groups : dask DataFrame
        A row for each group: `by`, ``n``, ``n_positive``, ``threshold``,
        ``expected_score``, ``error``, ``gap``.

    Raises
    ------
    SolverMismatchError
        If the metric does not satisfy the ranking principle.
    TypeError
        If `collection` is not a dask DataFrame or its column does not hold numbers, or
        for an argument that only `bestcut.decide_each` has.
    ValueError
        If a column is not there, or `name` is already a column.

    See Also
    --------
    bestcut.distributed.dask.decide : One decision for all rows.
    bestcut.distributed.spark.decide_each : The same on Spark.
    bestcut.decide_each : The same in memory.

    Notes
    -----
    Nothing is computed yet. Entries that are not probabilities are found when the rows
    are computed. The rows of a partition are decided together, and must fit in a
    worker's memory. Within a tie, the earliest rows of the group are positive, in the
    order before the shuffle.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask.dataframe as dd
    >>> from bestcut.distributed.dask import decide_each
    >>> rows = pd.DataFrame({"query": list("abab"), "p": [0.7, 0.3, 0.2, 0.3]})
    >>> df = dd.from_pandas(rows, npartitions=2)
    >>> labelled, groups = decide_each(df, "p", "query", "f1")
    >>> labelled.compute().sort_index().decision.tolist()
    [True, True, False, True]
    >>> groups.compute().sort_values("query").n_positive.tolist()
    [1, 2]
    """
    chosen = check_question(metric, min_positives, max_positives)
    if not isinstance(collection, dd.DataFrame):
        raise errors.wrong_collection(
            collection, wanted="a dask DataFrame", instead="decide_each"
        )
    _scores(collection, y_proba)
    keys = check_by(by, list(collection.columns), FACTS)
    check_new_column(name, collection.columns)
    rule = Rule(y_proba, keys, chosen, min_positives, max_positives)

    def mapped(frame: Any, work: Callable[..., Any], *args: Any) -> Any:
        placed = frame.map_partitions(_with_place)
        together = placed.shuffle(on=keys)
        meta = work(together._meta, rule, *args)
        return together.map_partitions(work, rule, *args, meta=meta)

    slim = collection[list(dict.fromkeys([*keys, y_proba]))]
    return mapped(collection, _label_groups, name), mapped(slim, _describe_groups)


def _with_place(frame: Any, partition_info: dict[str, Any] | None = None) -> Any:
    """Add the place of each row, which the shuffle forgets."""
    first = partition_info["number"] * _ROWS if partition_info else 0
    place = np.arange(first, first + len(frame), dtype=np.int64)
    return frame.assign(**{_PLACE: place})


def _decided(frame: Any, rule: Rule) -> tuple[Any, Any, Any, Any]:
    """Return the rows in order, their groups, their labels, and the groups' facts."""
    rows = frame.sort_values(_PLACE).drop(columns=_PLACE)
    group = rows.groupby(rule.by, sort=False, dropna=False, observed=True).ngroup()
    labels, facts = rule.decide(
        _floats(rows[rule.column]),
        group.to_numpy(),
        keys=lambda i: rows[rule.by].iloc[i].tolist(),
    )
    return rows, group, labels, facts


def _label_groups(frame: Any, rule: Rule, name: str) -> Any:
    rows, _, labels, _ = _decided(frame, rule)
    return rows.assign(**{name: labels})


def _describe_groups(frame: Any, rule: Rule) -> Any:
    rows, group, _, facts = _decided(frame, rule)
    first = np.unique(group.to_numpy(), return_index=True)[1]
    return rows[rule.by].iloc[first].reset_index(drop=True).assign(**facts)
