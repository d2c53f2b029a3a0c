"""The best cut of a run of the ranking, with a proof that there is no better one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestcut._types import EPS, CountArray, FloatArray, IndexArray
from bestcut.counts import NOBODY, ROOM, ListedSide, Side, SummedSide, convolved
from bestcut.curve import BlockCurve, curve_between, curve_of
from bestcut.metrics import (
    Metric,
    largest_score,
    tp_never_hurts,
    tp_never_hurts_for_any_n,
)
from bestcut.search._allowed import Allowed
from bestcut.search._cuts import TableCuts
from bestcut.search._search import Search
from bestcut.search._table import RunTable, SortedTable

_SHORT_RUN = 64  # instances in a run that is left, whose cuts are all looked at
_DEAR = 1e6  # evaluations with which a longer one is searched in its turn
_PARTS = 2048  # of a run, looked at together
_SIZES = 16  # different numbers of instances that are worth a proof each
# Evaluations of the metric that a decision may take; some 20 seconds.
_AFFORDABLE = 2e9
# So many cuts are looked at one by one, and so many if both sides vary as much as this:
# rules of few nodes stand for them then.
_DIRECT, _DIRECT_BY_RULES, _DIRECT_VARIANCE = 1 << 11, 1 << 14, 1000.0


@dataclass(frozen=True)
class Found:
    """A cut, its expected utility and what is on either side of it.

    Attributes
    ----------
    utility, error : float
        Expected utility, and what it may be wrong by.
    upper : float
        Proved bound on the expected utility of every allowed cut of the run.
    threshold : float
        The smallest probability above the cut.
    above, below : Side
        What is on either side.
    """

    utility: float
    error: float
    upper: float
    threshold: float
    above: Side
    below: Side


def best_of(found: list[Found | None], upper: float = -np.inf) -> Found | None:
    """Return the best of some cuts, with a bound for all; of equal ones the shorter."""
    sure = [one for one in found if one is not None]
    if not sure:
        return None
    best = max(sure, key=lambda one: (one.utility, -one.above.n))
    highest = max(upper, *(one.upper for one in sure))
    return Found(
        best.utility, best.error, highest, best.threshold, best.above, best.below
    )


def best_cut_in_run(
    values: FloatArray,
    counts: CountArray,
    metric: Metric,
    bounds: tuple[int, int],
    sides: tuple[Side, Side],
) -> Found | None:
    """Return the best cut with at least one of the run above it.

    `values` are in descending order, without repetition. Returns None if the bounds on
    the number of positives allow no such cut.
    """
    low, high = (int(bound) - sides[0].n for bound in bounds)
    size = int(counts.sum())
    within = max(low, 1), min(high, size)
    if within[0] > within[1]:
        return None
    varied = min(side.variance for side in sides) >= _DIRECT_VARIANCE
    if size <= (_DIRECT_BY_RULES if varied else _DIRECT):
        return _directly(values, counts, metric, within, sides)
    table = RunTable(values, counts, min(_PARTS, size // 16))
    cuts = TableCuts(table, metric, *sides)
    search = Search(cuts, Allowed(*bounds))
    cells = search.run()
    affordable = cuts.cost(cells.first, cells.last) <= _AFFORDABLE
    if 2 * cells.size(cuts.start) > size and affordable:  # bounds leave little out
        return _directly(values, counts, metric, within, sides)

    def last_value(place: int) -> float:
        return float(table.values(0, place)[0][-1])

    if not affordable:  # the gap says what may be missed
        best = search.best_place()
        if best is not None and best > 0:
            at_best = best_candidate(search, cuts, np.array([best]), last_value)
            return best_of([at_best], search.upper)
    found: list[Found | None] = []
    for first, last in cells.runs():
        inner = (cuts.side(first, below=False), cuts.side(last, below=True))
        part = _merged(*table.values(first, last))
        found.append(best_cut_in_run(*part, metric, bounds, inner))
    places = outside(search.candidates, cells.runs())
    found.append(best_candidate(search, cuts, places[places > 0], last_value))
    return best_of(found, search.enough)


def _merged(values: FloatArray, counts: CountArray) -> tuple[FloatArray, CountArray]:
    """Put together again what was shared out."""
    new = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[new], np.add.reduceat(counts, new)


def outside(places: IndexArray, runs: list[tuple[int, int]]) -> IndexArray:
    """Return the places that are not among the cuts of runs, as the last of each is."""
    inside = np.zeros(places.size, dtype=np.bool_)
    for first, last in runs:
        inside |= (first < places) & (places <= last)
    return places[~inside]


def best_candidate(
    search: Search,
    cuts: TableCuts,
    places: IndexArray,
    threshold: Callable[[int], float],
) -> Found | None:
    """Return the best of some cuts, of equal ones the first; None if there are none.

    `threshold` says what the smallest probability above the cut at a place is.
    """
    if places.size == 0:
        return None
    search.look_closely(places)
    utility, error = search.utility[places], search.error[places]
    i = int(np.argmax(utility))
    place = int(places[i])
    return Found(
        float(utility[i]),
        float(error[i]),
        float(np.max(utility + error)),
        threshold(place),
        cuts.side(place, below=False),
        cuts.side(place, below=True),
    )


def _directly(
    values: FloatArray,
    counts: CountArray,
    metric: Metric,
    within: tuple[int, int],
    sides: tuple[Side, Side],
) -> Found:
    """Look at every cut; `within` bounds how many of the run are above it."""
    eta = np.repeat(values, counts)
    n = sides[0].n + eta.size + sides[1].n
    curve = curve_between(eta, metric, largest_score(metric, n), *sides)
    scores, errors = curve.whole()
    sign = metric.sign
    here = slice(within[0], within[1] + 1)
    utility = sign * scores[here]
    j = int(np.argmax(utility))
    k = within[0] + j
    return Found(
        float(utility[j]),
        float(errors[k]),
        float(np.max(utility + errors[here])),
        float(eta[k - 1]),
        joined(sides[0], eta[:k]),
        joined(sides[1], eta[k:]),
    )


def joined(side: Side, eta: FloatArray) -> Side:
    """Return a side with some more instances."""
    if eta.size == 0:
        return side
    more = ListedSide(eta)
    return SummedSide(
        side.n + more.n,
        side.sums(ROOM) + more.sums(ROOM),
        side.negatives + more.negatives,
        lambda: convolved(side.law, more.law),
    )


@dataclass(frozen=True)
class BestCut:
    """The best cut of a sorted ranking.

    `upper` bounds the expected utility of every allowed cut.
    """

    k: int
    utility: float
    error: float
    upper: float


def best_cut(
    eta: FloatArray,
    metric: Metric,
    allowed: Allowed,
    before: Side = NOBODY,
    after: Side = NOBODY,
) -> BestCut:
    """Return the best cut of probabilities in descending order, not empty.

    `before` and `after` are what is above them in the ranking and below.
    """
    table = SortedTable(eta, _length(eta.size))
    cuts = TableCuts(table, metric, before, after)
    search = Search(cuts, allowed)
    cells = search.run()
    start, sign = cuts.start, metric.sign
    affordable = cuts.cost(cells.first, cells.last) <= _AFFORDABLE
    if 2 * cells.size(start) > eta.size and affordable:
        curve = _curve(eta, metric, cuts, before, after)
        nothing = BestCut(allowed.low, -np.inf, 0.0, -np.inf)
        return _better(nothing, before.n, curve.whole(), sign, allowed)
    best = BestCut(allowed.low, -np.inf, 0.0, search.enough)
    place = search.best_place()
    if not affordable and place is not None:  # the gap says what may be missed
        search.look_closely(np.array([place]))
        utility, error = float(search.utility[place]), float(search.error[place])
        return BestCut(int(start[place]), utility, error, search.upper)
    for first, last in _pieces(start, cells.runs()):
        sides = cuts.side(first, below=False), cuts.side(last, below=True)
        run = eta[start[first] - before.n : start[last] - before.n]
        if run.size > _SHORT_RUN and cuts.cost(*np.array([[first], [last]])) > _DEAR:
            best = _better_of(best, best_cut(run, metric, allowed, *sides))
        else:
            curve = curve_between(run, metric, cuts.largest, *sides, cuts.worth)
            best = _better(best, int(start[first]), curve.whole(), sign, allowed)
    places = outside(search.candidates, cells.runs())
    at = best_candidate(search, cuts, places, lambda _: 0.0)
    if at is not None:
        found = BestCut(at.above.n, at.utility, at.error, at.upper)
        best = _better_of(best, found)
    return best


def _curve(
    eta: FloatArray, metric: Metric, cuts: TableCuts, before: Side, after: Side
) -> BlockCurve:
    """Return the curve of all probabilities of a table."""
    if before.n + after.n == 0:
        return curve_of(eta, metric)
    return curve_between(eta, metric, cuts.largest, before, after, cuts.worth)


def _better_of(best: BestCut, other: BestCut) -> BestCut:
    """Return the better of two cuts, the shorter of equal ones, with one bound."""
    first = min(best, other, key=lambda one: (-one.utility, one.k))
    return replace(first, upper=max(best.upper, other.upper))


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


def whole_curve_best(eta: FloatArray, metric: Metric, allowed: Allowed) -> BestCut:
    """Return the best cut by looking at every one."""
    nothing = BestCut(allowed.low, -np.inf, 0.0, -np.inf)
    return _better(nothing, 0, curve_of(eta, metric).whole(), metric.sign, allowed)


def _better(
    best: BestCut,
    first: int,
    curve: tuple[FloatArray, FloatArray],
    sign: float,
    allowed: Allowed,
) -> BestCut:
    """Return the better of a cut and those of a piece of the curve."""
    low = max(allowed.low - first, 0)
    values, errors = (x[low : max(allowed.high - first + 1, 0)] for x in curve)
    if not values.size:
        return best
    utility = sign * values
    if not allowed.is_range:
        mask = allowed.mask(first + low, first + low + values.size - 1)
        utility = np.where(mask, utility, -np.inf)
    i = int(np.argmax(utility))
    upper = float(np.max(utility + errors))
    found = BestCut(first + low + i, float(utility[i]), float(errors[i]), upper)
    return _better_of(best, found)


def _length(n: int) -> int:
    """Return how long the parts of a sorted ranking are."""
    return int(np.clip(np.sqrt(n) / 5, 8, 256))


def gap_to(upper: float, utility: float, error: float) -> float:
    """Return what no allowed cut is better by than a cut, beyond its error."""
    return max(upper - (utility + error), 0.0)


def gap_scope(n: int | CountArray, *metrics: Metric) -> str:
    """Return what a gap holds for: all predictions, if that is proved, or cuts.

    `n` is the number of instances, or those of several problems.
    """
    sizes = np.unique(n).tolist()

    def proved(metric: Metric) -> bool:
        if tp_never_hurts_for_any_n(metric):
            return True
        few = len(sizes) <= _SIZES
        return few and all(tp_never_hurts(metric, size) for size in sizes)

    return "predictions" if all(map(proved, metrics)) else "cuts"


def exchange_allowance(scope: str, n: Any, k: Any, metric: Metric) -> Any:
    """Return what exchanging instances may gain where monotonicity was computed.

    A proof by enclosure or on the lattice lets a fall of 64 units in the last place
    pass as rounding, and as many exchanges as that lead from a prediction to a cut
    (Lemma 4). A proof by algebra is exact, and a gap over cuts needs none.
    """
    if scope == "cuts" or tp_never_hurts_for_any_n(metric):
        return 0.0 * k
    largest = largest_score(metric, int(np.max(n, initial=0)))
    return 64 * EPS * largest * np.minimum(k, n - k)


def gap_in_words(gap: float, scope: str) -> str:
    """Return a gap as results show it."""
    return f"gap {gap:.1e}{' over cuts' if scope == 'cuts' else ''}"
