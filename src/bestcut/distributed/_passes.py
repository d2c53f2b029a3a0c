"""Two passes over the partitions of a collection, whichever engine runs them.

A pass is a step that is called with each partition, and whose answers merge. An engine
calls it where the data are, merges there as far as it can, and brings what is left to
the driver.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np

from bestcut import _errors as errors
from bestcut._types import CountArray, FloatArray
from bestcut._validation import check_bounds
from bestcut.metrics import Metric, get, require_ranking
from bestcut.summary import Cut, ScoreSummary, Window

# Different scores that may travel to the driver, with 16 bytes each.
_MOST_SCORES = 1 << 24


class Step(Protocol):
    """What is asked of each partition."""

    def __call__(self, chunks: Iterable[FloatArray], partition: int) -> Any:
        """Return the answer for one partition, whose scores come in chunks."""


class Offender(NamedTuple):
    """An entry that is no probability. They compare by place."""

    partition: int
    row: int
    value: float


@dataclass(frozen=True, eq=False)
class Summarised:
    """The summary of some partitions, as bytes, or the first offender among them."""

    data: bytes
    partitions: int
    offender: Offender | None = None

    @property
    def nbytes(self) -> int:
        """How many bytes of data it holds."""
        return len(self.data)

    def merge(self, other: Summarised) -> Summarised:
        """Return the answer for the partitions of both."""
        partitions = self.partitions + other.partitions
        found = [x.offender for x in (self, other) if x.offender is not None]
        if found:
            return Summarised(b"", partitions, min(found))
        mine, theirs = map(ScoreSummary.from_bytes, (self.data, other.data))
        return Summarised(mine.merge(theirs).to_bytes(), partitions)


def summarise(chunks: Iterable[FloatArray], partition: int) -> Summarised:
    """Return the summary of one partition.

    What is no probability is reported, not raised: of all that the workers find, the
    driver can then name the first.
    """
    summary, rows = ScoreSummary(), 0
    for chunk in chunks:
        try:
            summary.update(chunk)
        except errors.InvalidProbabilityError:
            at = int(np.argmin((chunk >= 0.0) & (chunk <= 1.0)))
            offender = Offender(partition, rows + at, float(chunk[at]))
            return Summarised(b"", 1, offender)
        rows += chunk.size
    return Summarised(summary.to_bytes(), 1)


@dataclass(frozen=True, eq=False)
class Gathered:
    """The different scores in the window, and how often they occur."""

    scores: FloatArray
    counts: CountArray
    complete: bool = True

    @classmethod
    def of(cls, scores: FloatArray, counts: CountArray) -> Gathered:
        """Return each different score once, or none if there are too many."""
        different, place = np.unique(scores, return_inverse=True)
        if different.size > _MOST_SCORES:
            return cls(np.empty(0), np.empty(0, dtype=np.int64), complete=False)
        total = np.zeros(different.size, dtype=np.int64)
        np.add.at(total, place, counts)
        return cls(different, total)

    @property
    def nbytes(self) -> int:
        """How many bytes of data it holds."""
        return self.scores.nbytes + self.counts.nbytes

    def merge(self, other: Gathered) -> Gathered:
        """Return the answer for the partitions of both."""
        if not (self.complete and other.complete):
            return self if other.complete else other
        return Gathered.of(
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.counts, other.counts]),
        )


@dataclass(frozen=True)
class Gather:
    """The second step: the scores in the window."""

    window: Window

    def __call__(self, chunks: Iterable[FloatArray], partition: int) -> Gathered:
        """Return the scores of one partition that lie in the window."""
        inside = [np.empty(0), *map(self.window.select, chunks)]
        scores = np.concatenate(inside)
        return Gathered.of(scores, np.ones(scores.size, dtype=np.int64))


def merge(answers: Iterable[Any]) -> Any:
    """Return the answer for all partitions."""
    return reduce(lambda one, other: one.merge(other), answers)


def check_question(
    metric: str | Metric, min_positives: int, max_positives: int | None
) -> Metric:
    """Return the metric; refuse what can be refused before anything is computed."""
    chosen = get(metric)
    require_ranking(chosen, way_out="Choose another metric.")
    check_bounds(min_positives, max_positives, sys.maxsize)
    return chosen


def find_cut(
    run: Callable[[Step], list[Any]],
    metric: Metric,
    bounds: tuple[int, int | None],
    *,
    what: str,
    keep: str,
) -> Cut:
    """Find the best cut by two runs over all partitions.

    Parameters
    ----------
    run : callable
        Calls a step with each partition and brings the answers, merged as far as the
        engine does that, to the driver.
    metric : Metric
        What to maximise.
    bounds : tuple of int
        The least and the most positives.
    what : str
        What the scores are called in an error, for example "column 'p'".
    keep : str
        The engine's method that keeps computed rows.
    """
    answers = run(summarise)
    summarised = merge(answers) if answers else summarise((), 0)
    if summarised.offender is not None:
        partition, row, value = summarised.offender
        where = f"partition {partition}, row {row}"
        raise errors.not_a_probability(what, value, where)
    summary = ScoreSummary.from_bytes(summarised.data)
    bracket = summary.bracket(metric, min_positives=bounds[0], max_positives=bounds[1])
    found = run(Gather(bracket.window))
    gathered = merge(found) if found else Gather(bracket.window)((), 0)
    if not gathered.complete:
        raise errors.too_many_scores(metric.name, bracket.n_wanted, _MOST_SCORES)
    try:
        cut = bracket.refine(gathered.scores, gathered.counts)
    except ValueError as error:  # these are not the scores that were summed up
        raise errors.changed_between(keep) from error
    return replace(
        cut,
        partitions=summarised.partitions,
        summary_bytes=sum(answer.nbytes for answer in answers),
        bracket_bytes=sum(answer.nbytes for answer in found),
    )
