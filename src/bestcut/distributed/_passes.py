"""The two passes over the partitions of a collection, and how much they move."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bestcut import _errors as errors
from bestcut._validation import check_bounds
from bestcut.metrics import Metric, get, require_ranking
from bestcut.summary import Cut, Pass, find_cut

# Different scores that may travel to the driver, with 16 bytes each.
_MOST_SCORES = 1 << 24


def check_question(
    metric: str | Metric, min_positives: int, max_positives: int | None
) -> Metric:
    """Return the metric; refuse what can be refused before anything is computed."""
    chosen = get(metric)
    require_ranking(chosen, way_out="Choose another metric.")
    check_bounds(min_positives, max_positives, sys.maxsize)
    return chosen


def find_cut_of_partitions(
    run: Callable[[Pass], list[Any]], metric: Metric, *, keep: str, **options: Any
) -> Cut:
    """Find the best cut, and say how much of the data reached the driver.

    Parameters
    ----------
    run, metric, **options
        As for `bestcut.summary.find_cut`.
    keep : str
        The engine's method that keeps computed rows.
    """
    passes = []

    def recorded(asked: Pass) -> list[Any]:
        passes.append(run(asked))
        return passes[-1]

    changed = errors.changed_between(keep)
    cut = find_cut(recorded, metric, changed=changed, most=_MOST_SCORES, **options)
    summarised, gathered = passes
    return replace(
        cut,
        partitions=sum(answer.partitions for answer in summarised),
        summary_bytes=sum(answer.nbytes for answer in summarised),
        bracket_bytes=sum(answer.nbytes for answer in gathered),
    )
