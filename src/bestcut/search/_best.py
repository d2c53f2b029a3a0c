"""The best cut of a ranking, with a proof that there is no better one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bestcut._types import CountArray, FloatArray, IndexArray
from bestcut.counts import NOBODY, Side
from bestcut.curve import BlockCurve, curve_of
from bestcut.metrics import Metric
from bestcut.search._allowed import Allowed
from bestcut.search._cuts import TableCuts
from bestcut.search._gap import gap_to
from bestcut.search._search import Search
from bestcut.search._table import ListedTable

_SHORT_RUN = 64  # instances in a run that is left, whose cuts are all looked at
_DEAR = 1e6  # evaluations with which a longer one is searched in its turn
# Evaluations of the metric that a decision may take; some 20 seconds.
_AFFORDABLE = 2e9


@dataclass(frozen=True)
class BestCut:
    """The best cut that was found, or the best prediction.

    Attributes
    ----------
    k : int
        How many instances are predicted positive.
    utility, error : float
        The expected utility, and what it may be wrong by.
    upper : float
        Bound on the expected utility of everything that is allowed.
    solver : str
        How it was found: by a ``"search"``, or as the best of the whole ``"curve"``.
    members : ndarray of int or None
        The positions, in descending order of probability, that are predicted positive;
        None stands for the first k.
    """

    k: int
    utility: float
    error: float
    upper: float
    solver: str = "search"
    members: IndexArray | None = None

    @property
    def gap(self) -> float:
        """What nothing that is allowed is better by, beyond the error."""
        return gap_to(self.upper, self.utility, self.error)

    @property
    def is_cut(self) -> bool:
        """Whether the most probable are predicted positive, and no others."""
        return self.members is None or np.array_equal(self.members, np.arange(self.k))


def best_of(found: list[BestCut | None], upper: float = -np.inf) -> BestCut | None:
    """Return the best of some cuts, with a bound for all; of equal ones the shorter."""
    sure = [one for one in found if one is not None]
    if not sure:
        return None
    best = min(sure, key=lambda one: (-one.utility, one.k))
    return replace(best, upper=max(upper, *(one.upper for one in sure)))


def best_of_values(
    values: FloatArray,
    errors: FloatArray,
    metric: Metric,
    first: int,
    allowed: Allowed,
) -> BestCut | None:
    """Return the best of consecutive cuts by their expected scores, if one may be."""
    start = max(allowed.low - first, 0)
    here = slice(start, max(allowed.high - first + 1, 0))
    utility, errors = metric.sign * values[here], errors[here]
    if not allowed.is_range and utility.size:
        last = first + start + utility.size - 1
        utility[~allowed.mask(first + start, last)] = -np.inf
    i = int(np.argmax(utility)) if utility.size else 0
    if not utility.size or utility[i] == -np.inf:
        return None
    k, upper = first + start + i, float(np.max(utility + errors))
    return BestCut(k, float(utility[i]), float(errors[i]), upper)


def best_cut(
    table: ListedTable,
    metric: Metric,
    allowed: Allowed,
    before: Side = NOBODY,
    after: Side = NOBODY,
) -> BestCut | None:
    """Return the best allowed cut of a table, or None if none of its cuts is allowed.

    `before` and `after` are what is above the table in the ranking and below.
    """
    cuts = TableCuts(table, metric, before, after)
    search = Search(cuts, allowed)
    cells = search.run()
    affordable = cuts.cost(cells.first, cells.last) <= _AFFORDABLE
    if 2 * cells.size(cuts.start) > table.n and affordable:  # little is left out
        values, errors = _whole(table, cuts).whole()
        return best_of_values(values, errors, metric, before.n, allowed)
    place = search.best_place()
    if not affordable and place is not None:  # the gap says what may be missed
        best = best_candidate(search, np.array([place]))
        return best_of([best], search.upper)
    return best_inside(cuts, search, cells.runs(), table.part)


def _whole(table: ListedTable, cuts: TableCuts) -> BlockCurve:
    """Return the curve of all cuts of a table."""
    return curve_of(table.listed(), cuts.metric, *cuts.ends, cuts.worth)


def best_inside(
    cuts: TableCuts,
    search: Search,
    runs: list[tuple[int, int]],
    part: Callable[[int, int], ListedTable],
) -> BestCut | None:
    """Return the best of the cuts that a search has left.

    `runs` of parts have cuts inside, and `part` returns what is in some of them. The
    cut before a run is one that the search has evaluated.
    """
    found = []
    for first, last in _pieces(cuts.start, runs):
        sides = cuts.side(first, below=False), cuts.side(last, below=True)
        run, inside = part(first, last), search.allowed.beyond(int(cuts.start[first]))
        dear = cuts.cost(*np.array([[first], [last]])) > _DEAR
        if run.n > _SHORT_RUN and dear:
            found.append(best_cut(run, cuts.metric, inside, *sides))
        else:
            curve = curve_of(run.listed(), cuts.metric, *sides, cuts.worth)
            found.append(
                best_of_values(*curve.whole(), cuts.metric, sides[0].n, inside)
            )
    found.append(best_candidate(search, outside(search.candidates, runs)))
    return best_of(found, search.enough)


def outside(places: IndexArray, runs: list[tuple[int, int]]) -> IndexArray:
    """Return the places that are not among the cuts of runs, as the last of each is."""
    inside = np.zeros(places.size, dtype=np.bool_)
    for first, last in runs:
        inside |= (first < places) & (places <= last)
    return places[~inside]


def best_candidate(search: Search, places: IndexArray) -> BestCut | None:
    """Return the best of some cuts, of equal ones the first; None if there are none."""
    if places.size == 0:
        return None
    search.look_closely(places)
    utility, error = search.utility[places], search.error[places]
    i = int(np.argmax(utility))
    k, upper = int(search.cuts.start[places[i]]), float(np.max(utility + error))
    return BestCut(k, float(utility[i]), float(error[i]), upper)


def _pieces(start: CountArray, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return runs of parts in pieces along which no side more than doubles.

    Next to the ends of the ranking no rule would stand for all cuts of a longer one.
    """
    n, pieces = int(start[-1]), []
    for first, last in runs:
        begin = first
        for part in range(first + 1, last):
            end = start[part + 1]
            if end > 2 * start[begin] or n - start[begin] > 2 * (n - end):
                pieces.append((begin, part))
                begin = part
        pieces.append((begin, last))
    return pieces
