"""The best cut of scores that are elsewhere, found in two passes over them.

In the first pass the scores are summed up. The summary says in which window the best
cut lies. In the second pass the scores in that window are gathered, and they say where
exactly it lies. Whatever holds the scores (an array, a file, a cluster) only has to
call a `Pass` with them. The answers merge in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from bestcut import _errors as errors
from bestcut._types import CountArray, FloatArray
from bestcut.metrics import Metric
from bestcut.summary._bracket import Window
from bestcut.summary._cut import Cut
from bestcut.summary._summary import ScoreSummary


class Offender(NamedTuple):
    """An entry that is no probability. Offenders compare by their place."""

    partition: int
    row: int
    value: float


@dataclass(frozen=True, eq=False)
class Summarised:
    """The summary of some partitions, and the first offender if there is one."""

    summary: ScoreSummary = field(default_factory=ScoreSummary)
    partitions: int = 0
    offender: Offender | None = None

    @property
    def nbytes(self) -> int:
        """How many bytes of data travel if it is sent."""
        return len(self.summary.to_bytes())

    def merge(self, other: Summarised) -> Summarised:
        """Return the answer for the partitions of both."""
        partitions = self.partitions + other.partitions
        offenders = [x.offender for x in (self, other) if x.offender is not None]
        if offenders:
            return Summarised(ScoreSummary(), partitions, min(offenders))
        return Summarised(self.summary.merge(other.summary), partitions)


@dataclass(frozen=True, eq=False)
class Gathered:
    """The different scores in a window and how often each occurs.

    If there are more than `most`, none is kept, and the answer is not complete.
    """

    values: FloatArray = field(default_factory=lambda: np.zeros(0))
    counts: CountArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    most: float = np.inf
    is_complete: bool = True

    @property
    def nbytes(self) -> int:
        """How many bytes of data travel if it is sent."""
        return self.values.nbytes + self.counts.nbytes

    def merge(self, *others: Gathered) -> Gathered:
        """Return the answer for the partitions of all."""
        parts = [self, *others]
        each = np.concatenate([x.values for x in parts])
        values, place = np.unique(each, return_inverse=True)
        if values.size > self.most or not all(x.is_complete for x in parts):
            return Gathered(most=self.most, is_complete=False)
        counts = np.zeros(values.size, dtype=np.int64)
        np.add.at(counts, place, np.concatenate([x.counts for x in parts]))
        return replace(self, values=values, counts=counts)


@dataclass(frozen=True, eq=False)
class Pass:
    """What is asked of the scores of a partition; it is small, to be sent there.

    Attributes
    ----------
    window : Window or None
        Where the scores lie that are asked for; None asks for the summary of all.
    most : float
        How many different scores may be asked for.
    """

    window: Window | None = None
    most: float = np.inf

    def __call__(self, chunks: Iterable[FloatArray], partition: int = 0) -> Any:
        """Return the answer for one partition, whose scores come in chunks."""
        if self.window is None:
            return _summarised(chunks, partition)
        # All scores may be tied, so equal ones must not be kept one by one.
        inside = map(self.window.select, chunks)
        parts = [Gathered(*np.unique(part, return_counts=True)) for part in inside]
        return Gathered(most=self.most).merge(*parts)


def _summarised(chunks: Iterable[FloatArray], partition: int) -> Summarised:
    """Return the summary of one partition.

    An entry that is no probability is reported, not raised. So the first of all that
    are found anywhere can be named.
    """
    summary, rows = ScoreSummary(), 0
    for chunk in chunks:
        try:
            summary.update(chunk)
        except errors.InvalidProbabilityError:
            at = int(np.argmin((chunk >= 0.0) & (chunk <= 1.0)))
            offender = Offender(partition, rows + at, float(chunk[at]))
            return Summarised(partitions=1, offender=offender)
        rows += chunk.size
    return Summarised(summary, 1)


def merged(answers: Iterable[Any]) -> Any:
    """Return the answer for the partitions of all."""
    return reduce(lambda one, other: one.merge(other), answers)


def find_cut(
    run: Callable[[Pass], list[Any]],
    metric: Metric,
    *,
    changed: Exception,
    most: float = np.inf,
    what: str = "a score",
    min_positives: int = 0,
    max_positives: int | None = None,
) -> Cut:
    """Find the best cut by two passes over scores that are elsewhere.

    Parameters
    ----------
    run : callable
        Calls a pass with each partition of the scores, and returns the answers, or
        fewer if it merged some. There is none if there are no partitions.
    metric : Metric
        What to maximise.
    changed : Exception
        What to raise if the second pass meets other scores than the first.
    most : float
        How many different scores may be gathered.
    what : str
        What the scores are called in an error, for example "column 'p'".
    min_positives, max_positives : int, optional
        Bounds on how many may be predicted positive.
    """
    first: Summarised = merged(run(Pass()) or [Summarised()])
    if first.offender is not None:
        partition, row, value = first.offender
        where = f"partition {partition}, row {row}"
        raise errors.not_a_probability(what, value, where)
    bracket = first.summary.bracket(
        metric, min_positives=min_positives, max_positives=max_positives
    )
    second: Gathered = merged(run(Pass(bracket.window, most)) or [Gathered()])
    if not second.is_complete:
        raise errors.too_many_scores(metric.name, bracket.n_wanted, int(most))
    try:
        return bracket.refine(second.values, second.counts)
    except ValueError:
        raise changed from None
