"""Decisions for Spark DataFrames.

Needs PySpark and Java: ``pip install 'bestcut[spark]'``. The executors need bestcut
too. Only the DataFrame API is used.
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from bestcut import _errors as errors

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyspark import TaskContext
    from pyspark.sql import Window as Over, functions as F, types as T
except ImportError as error:
    raise errors.package_missing(
        needed_by="bestcut.distributed.spark", package="PySpark", extra="spark"
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
from bestcut.summary import Cut, Pass, Window, merged

__all__ = ["decide", "decide_each"]

_BLOCK = (
    1 << 18
)  # rows that are looked at together; Spark sends a few thousand at a time
_MOST_INTERVALS = 32  # in a condition
_KEEP = "cache()"
_ORDER, _SCORE = "__bestcut_order__", "__bestcut_score__"
_FACT_TYPES = {"n": T.LongType(), "n_positive": T.LongType()}


@refuses_what_only(decision.decide)
def decide(
    collection: Any,
    y_proba: str,
    metric: str | Metric = "f1",
    *,
    name: str = "decision",
    min_positives: int = 0,
    max_positives: int | None = None,
) -> tuple[Any, Cut]:
    """Choose the labels that maximise the expected metric over all rows.

    Parameters
    ----------
    collection : Spark DataFrame
        Rows that have calibrated probabilities in a column.
    y_proba : str
        The column of probabilities.
    metric : str or Metric, default="f1"
        What to maximise; as for `bestcut.decide`.
    name : str, default="decision"
        The name of the new column.
    min_positives, max_positives : int, optional
        Bounds on how many may be predicted positive in all.

    Returns
    -------
    labelled : Spark DataFrame
        The same rows with one more column. Spark computes it later, when it is needed.
    cut : bestcut.streams.Cut
        The threshold, the expected score and so on, and how much data was moved.

    Raises
    ------
    InvalidProbabilityError
        If an entry is missing or outside [0, 1]; the first one is named.
    SolverMismatchError
        If the metric does not satisfy the ranking principle.
    TypeError
        If `collection` is not a Spark DataFrame or its column does not hold numbers, or
        for an argument that only `bestcut.decide` has.
    ValueError
        If a column is not there, `name` is already a column, or the metric needs too
        many scores at the driver.
    RuntimeError
        If the DataFrame gives other rows when it is computed again.

    See Also
    --------
    bestcut.distributed.spark.decide_each : A decision for each group of rows.
    bestcut.distributed.dask.decide : The same on dask.
    bestcut.decide : The same in memory.

    Notes
    -----
    The column of the probabilities is computed twice, and a third time with the labels.
    If this is expensive, ``cache()`` it first.

    Rows of Spark have no order. If the cut falls inside a tie, the tied rows with the
    smallest ``xxhash64`` over all columns are positive. These are the same rows however
    the rows are distributed, and exactly ``cut.n_tied[0]`` of them, even when a part is
    computed again. If rows that are equal in all columns must be distinguished, one
    task counts them.

    The probabilities are taken as exactly right. If they are the means of a
    calibration, ``cut.distribution()`` leaves out the doubt about them. Goals and
    conditions need `bestcut.decide`; docs/guides/clusters.md says how a sample helps.

    Examples
    --------
    >>> from bestcut.distributed.spark import decide
    >>> rows = [(0, 0.7), (1, 0.1), (2, 0.4), (3, 0.35)]
    >>> df = spark.createDataFrame(rows, "id long, p double")
    >>> labelled, cut = decide(df, "p", "f1")
    >>> [row.decision for row in labelled.orderBy("id").collect()]
    [True, False, True, True]
    >>> cut.n_positive, round(cut.expected_score, 4)
    (3, 0.5913)
    """
    chosen = check_question(metric, min_positives, max_positives)
    score = _score(collection, y_proba)
    check_new_column(name, collection.columns, fold=str.lower)
    cut = find_cut_of_partitions(
        _runner(collection.select(score.alias("score"))),
        chosen,
        keep=_KEEP,
        what=f"column {y_proba!r}",
        min_positives=min_positives,
        max_positives=max_positives,
    )
    return _labelled(collection, score, cut, name)


def _score(collection: Any, column: Any) -> Any:
    """Return the probabilities as an expression of doubles."""
    if not hasattr(collection, "mapInArrow"):
        raise errors.wrong_collection(
            collection, wanted="a Spark DataFrame", instead="decide"
        )
    check_columns(column, collection.columns, name="y_proba")
    dtype = collection.schema[column].dataType
    if not isinstance(dtype, T.NumericType):
        cure = f"Convert it first, with `.cast('double')`: col({column!r})."
        raise errors.not_numbers(column, f"type {dtype.simpleString()}", cure)
    return _named(column).cast("double")


def _named(column: str) -> Any:
    """Return a column by a name that may hold dots."""
    return F.col(f"`{column.replace('`', '``')}`")


def _runner(scores: Any) -> Callable[[Pass], list[Any]]:
    """Return a function that makes a pass over each partition and merges answers."""

    def run(asked: Pass) -> list[Any]:
        rows = scores if asked.window is None else scores.where(_within(asked.window))

        def ask(batches: Iterable[Any]) -> Iterator[Any]:
            partition = TaskContext.get().partitionId()
            yield _packed(asked(_blocks(batches), partition))

        def join(batches: Iterable[Any]) -> Iterator[Any]:
            answers = (pickle.loads(x.as_py()) for b in batches for x in b.column(0))
            for first in answers:  # none if the task has nothing to do
                yield _packed(merged(chain([first], answers)))

        answers = rows.mapInArrow(ask, "answer binary")
        # By a column: then Spark makes as many tasks as there is work for.
        joined = answers.repartition("answer").mapInArrow(join, "answer binary")
        return [pickle.loads(row.answer) for row in joined.collect()]

    return run


def _within(window: Window) -> Any:
    """Return a condition that holds in the window, and maybe outside of it.

    Rows that are not wanted need not travel from Spark to Python.
    """
    ends = list(zip(window.low.tolist(), window.high.tolist(), strict=True))
    if len(ends) > _MOST_INTERVALS:
        ends = [(min(low for low, _ in ends), max(high for _, high in ends))]
    within = (F.col("score").between(low, high) for low, high in ends)
    return reduce(operator.or_, within, F.lit(False))


def _packed(answer: Any) -> Any:
    return pa.RecordBatch.from_pydict({"answer": [pickle.dumps(answer)]})


def _blocks(batches: Iterable[Any]) -> Iterator[FloatArray]:
    """Yield the first column of batches, NaN where it is null, in larger blocks."""
    held: list[FloatArray] = []
    rows = 0
    for batch in batches:
        held.append(batch.column(0).to_numpy(zero_copy_only=False))
        rows += batch.num_rows
        if rows >= _BLOCK:
            yield np.concatenate(held)
            held, rows = [], 0
    if held:
        yield np.concatenate(held)


def _labelled(collection: Any, score: Any, cut: Cut, name: str) -> tuple[Any, Cut]:
    """Return the rows with their labels, to be computed by Spark."""
    taken, there = cut.n_tied
    if not there:
        return collection.select("*", (score >= cut.threshold).alias(name)), cut
    tied, key = score == cut.threshold, _row_hash(collection)
    last = _last_taken(collection.where(tied), key, taken)
    cut = replace(cut, bracket_bytes=(cut.bracket_bytes or 0) + last.nbytes)
    label = ((score > cut.threshold) | (tied & (key <= last.key))).alias(name)
    if last.rank == last.size:
        return collection.select("*", label), cut
    # Rows that are the same in all columns, of which some are wanted.
    same = tied & (key == last.key)
    number = F.row_number().over(Over.partitionBy(key).orderBy(key))
    some = collection.where(same).select("*", (number <= last.rank).alias(name))
    return collection.where(~same).select("*", label).unionAll(some), cut


def _row_hash(collection: Any) -> Any:
    """Return a number that rows can be ordered by, the same wherever they are."""
    return F.xxhash64(
        *(_named(x.name) for x in collection.schema.fields if _has_hash(x.dataType))
    )


def _has_hash(dtype: Any) -> bool:
    text = dtype.simpleString()
    return "map<" not in text and "variant" not in text


class _Last(NamedTuple):
    """The last of the tied rows that is taken, in the order of a key."""

    key: int
    rank: int  # among the rows with this key
    size: int  # of the rows with this key
    nbytes: int  # what reached the driver to find it


def _last_taken(tied: Any, key: Any, wanted: int) -> _Last:
    """Return where the `wanted`-th row is.

    The counts of the keys' leading 16 bits travel first, then those of the keys that
    share the leading bits of the one that is looked for.
    """
    leading = F.shiftright(key, 48)
    near = _in_order(tied.groupBy(leading.alias("key")), wanted)
    there = tied.where(leading == near.key)
    last = _in_order(there.groupBy(key.alias("key")), near.rank)
    return last._replace(nbytes=near.nbytes + last.nbytes)


def _in_order(grouped: Any, wanted: int) -> _Last:
    """Return in which group the `wanted`-th row is."""
    rows = grouped.count().collect()
    for key, count in sorted((row.key, row["count"]) for row in rows):
        if wanted <= count:
            return _Last(key, wanted, count, 16 * len(rows))
        wanted -= count
    raise errors.changed_between(_KEEP)


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
    collection : Spark DataFrame
        Rows that have calibrated probabilities in a column.
    y_proba : str
        The column of probabilities.
    by : str or list of str
        The columns that name a row's group. Nulls are a group too.
    metric : str or Metric, default="f1"
        What to maximise in each group; as for `bestcut.decide`.
    name : str, default="decision"
        The name of the new column.
    min_positives, max_positives : int, optional
        Bounds on the number of positives in each group. If a group has fewer rows than
        `min_positives`, all of its rows are positive.

    Returns
    -------
    labelled : Spark DataFrame
        The rows with one more column.
    groups : Spark DataFrame
        A row for each group: `by`, ``n``, ``n_positive``, ``threshold``,
        ``expected_score``, ``error``, ``gap``.

    Raises
    ------
    SolverMismatchError
        If the metric does not satisfy the ranking principle.
    TypeError
        If `collection` is not a Spark DataFrame or its column does not hold numbers, or
        for an argument that only `bestcut.decide_each` has.
    ValueError
        If a column is not there, or `name` is already a column.

    See Also
    --------
    bestcut.distributed.spark.decide : One decision for all rows.
    bestcut.distributed.dask.decide_each : The same on dask.
    bestcut.decide_each : The same in memory.

    Notes
    -----
    Nothing is computed yet. Entries that are not probabilities are found when the rows
    are computed. A window of Spark brings the groups together. Many groups are decided
    at a time, and the largest group must fit in the memory of a task. Within a tie, the
    rows with the smallest ``xxhash64`` are positive, as in `decide`.

    Examples
    --------
    >>> from bestcut.distributed.spark import decide_each
    >>> rows = [("a", 0.7), ("b", 0.3), ("a", 0.2), ("b", 0.3)]
    >>> df = spark.createDataFrame(rows, "query string, p double")
    >>> labelled, groups = decide_each(df, "p", "query", "f1")
    >>> [(row.query, row.n_positive) for row in groups.orderBy("query").collect()]
    [('a', 1), ('b', 2)]
    >>> sorted(row.p for row in labelled.where("decision").collect())
    [0.3, 0.3, 0.7]
    """
    chosen = check_question(metric, min_positives, max_positives)
    score = _score(collection, y_proba)
    keys = check_by(by, collection.columns, FACTS)
    check_new_column(name, collection.columns, fold=str.lower)
    rule = Rule(y_proba, keys, chosen, min_positives, max_positives)

    def label(batches: Iterable[Any]) -> Iterator[Any]:
        for table in _whole_groups(batches):
            labels, _ = _decided(table, rule)
            rows = table.drop_columns([_ORDER, _SCORE])
            yield from rows.append_column(name, pa.array(labels)).to_batches()

    def describe(batches: Iterable[Any]) -> Iterator[Any]:
        for table in _whole_groups(batches):
            _, facts = _decided(table, rule)
            groups = table.filter(pc.equal(table[_ORDER], 1)).select(rule.by)
            for fact, values in facts.items():
                groups = groups.append_column(fact, pa.array(values))
            yield from groups.to_batches()

    fields = collection.schema.fields
    of_rows = [*fields, T.StructField(name, T.BooleanType())]
    of_groups = [
        *(collection.schema[key] for key in keys),
        *(T.StructField(fact, _FACT_TYPES.get(fact, T.DoubleType())) for fact in FACTS),
    ]
    slim = collection.select(*map(_named, dict.fromkeys([*keys, y_proba])))
    return (
        _numbered(collection, score, keys).mapInArrow(label, T.StructType(of_rows)),
        _numbered(slim, score, keys).mapInArrow(describe, T.StructType(of_groups)),
    )


def _numbered(collection: Any, score: Any, keys: list[str]) -> Any:
    """Bring groups together, and number the rows of each: 1, 2, ..."""
    window = Over.partitionBy(*map(_named, keys)).orderBy(_row_hash(collection))
    numbered = collection.select("*", F.row_number().over(window).alias(_ORDER))
    return numbered.select("*", score.alias(_SCORE))


def _whole_groups(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield tables of some thousand rows that begin and end with a group."""
    held: list[Any] = []
    rows, enough = 0, _BLOCK
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= enough:
            table = pa.Table.from_batches(held)
            last = int(np.flatnonzero(table[_ORDER].to_numpy() == 1)[-1])
            if last > 0:
                yield table.slice(0, last)
            held, rows = table.slice(last).to_batches(), table.num_rows - last
            enough = max(_BLOCK, 2 * rows)
    if rows:
        yield pa.Table.from_batches(held)


def _decided(table: Any, rule: Rule) -> Any:
    """Return the labels of some whole groups, and the facts of each."""
    group = np.cumsum(table[_ORDER].to_numpy() == 1) - 1
    scores = table[_SCORE].to_numpy()
    return rule.decide(
        scores, group, keys=lambda i: [table[key][i].as_py() for key in rule.by]
    )
