"""The best cut of a run of the ranking, with a proof that there is no better one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestcut._types import EPS, CountArray, FloatArray, IndexArray
from bestcut.counts import ROOM, ListedSide, Side, SummedSide, convolved
from bestcut.curve import curve_between, curve_of
from bestcut.metrics import (
    Metric,
    largest_score,
    tp_never_hurts,
    tp_never_hurts_for_any_n,
)
from bestcut.search._search import CutSearch
from bestcut.search._table import RunTable, SortedTable, consecutive

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
    search = CutSearch(table, metric, *bounds, *sides)
    kept = search.run()
    left = int(table.count[kept].sum())
    affordable = search.cost(kept) <= _AFFORDABLE
    if left > size // 2 and affordable:  # the bounds leave little out
        return _directly(values, counts, metric, within, sides)

    def last_value(edge: int) -> float:
        return float(table.values(0, edge)[0][-1])

    found: list[Found | None] = []
    if not affordable:  # the gap says what may be missed
        best = search.best_edge()
        if best is not None and best > 0:
            one = best_edge_of(search, np.array([best]), last_value)
            return best_of([one], search.upper)
    for first, last in consecutive(kept):
        inner = (search.side(first, below=False), search.side(last, below=True))
        part = _merged(*table.values(first, last))
        found.append(best_cut_in_run(*part, metric, bounds, inner))
    edges = outside(search.candidates, consecutive(kept))
    found.append(best_edge_of(search, edges[edges > 0], last_value))
    return best_of(found, search.enough)


def _merged(values: FloatArray, counts: CountArray) -> tuple[FloatArray, CountArray]:
    """Put together again what was shared out."""
    new = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[new], np.add.reduceat(counts, new)


def outside(edges: IndexArray, runs: list[tuple[int, int]]) -> IndexArray:
    """Return the edges that are not among the cuts of runs, as the last of each is."""
    inside = np.zeros(edges.size, dtype=np.bool_)
    for first, last in runs:
        inside |= (first < edges) & (edges <= last)
    return edges[~inside]


def best_edge_of(
    search: CutSearch, edges: IndexArray, threshold: Callable[[int], float]
) -> Found | None:
    """Return the best of some edges, of equal ones the first; None if there are none.

    `threshold` says what the smallest probability above an edge is.
    """
    if edges.size == 0:
        return None
    search.evaluate_closely(edges)
    utility, error = search.utility[edges], search.error[edges]
    i = int(np.argmax(utility))
    edge = int(edges[i])
    return Found(
        float(utility[i]),
        float(error[i]),
        float(np.max(utility + error)),
        threshold(edge),
        search.side(edge, below=False),
        search.side(edge, below=True),
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


def best_cut(eta: FloatArray, metric: Metric, low: int, high: int) -> BestCut:
    """Return the best cut of probabilities in descending order, not empty."""
    search = CutSearch(SortedTable(eta, _length(eta.size)), metric, low, high)
    kept = search.run()
    start = search.table.start
    affordable = search.cost(kept) <= _AFFORDABLE
    if search.table.count[kept].sum() > eta.size // 2 and affordable:
        return whole_curve_best(eta, metric, low, high)
    best = BestCut(low, -np.inf, 0.0, search.enough)
    edge = search.best_edge()
    if not affordable and edge is not None:  # the gap says what may be missed
        search.evaluate_closely(np.array([edge]))
        utility, error = float(search.utility[edge]), float(search.error[edge])
        return BestCut(int(start[edge]), utility, error, search.upper)
    for first, last in _pieces(start, consecutive(kept)):
        sides = search.side(first, below=False), search.side(last, below=True)
        run = eta[start[first] : start[last]]
        curve = curve_between(run, metric, search.largest, *sides, search.worth)
        best = _better(best, int(start[first]), curve.whole(), search.sign, (low, high))
    edges = outside(search.candidates, consecutive(kept))
    at = best_edge_of(search, edges, lambda _: 0.0)
    if at is not None:
        pair = np.array([search.sign * at.utility]), np.array([at.error])
        best = _better(best, at.above.n, pair, search.sign, (low, high))
        best = replace(best, upper=max(best.upper, at.upper))
    return best


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


def whole_curve_best(eta: FloatArray, metric: Metric, low: int, high: int) -> BestCut:
    """Return the best cut by looking at every one."""
    sign = metric.sign
    nothing = BestCut(low, -np.inf, 0.0, -np.inf)
    return _better(nothing, 0, curve_of(eta, metric).whole(), sign, (low, high))


def _better(
    best: BestCut,
    first: int,
    curve: tuple[FloatArray, FloatArray],
    sign: float,
    bounds: tuple[int, int],
) -> BestCut:
    """Return the better of a cut and those of a piece of the curve."""
    here = slice(max(bounds[0] - first, 0), max(bounds[1] - first + 1, 0))
    utility, errors = sign * curve[0][here], curve[1][here]
    if not utility.size:
        return best
    upper = max(best.upper, float(np.max(utility + errors)))
    i = int(np.argmax(utility))
    value, k = float(utility[i]), first + (here.start or 0) + i
    if (value, -k) > (best.utility, -best.k):
        return BestCut(k, value, float(errors[i]), upper)
    return BestCut(best.k, best.utility, best.error, upper)


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
