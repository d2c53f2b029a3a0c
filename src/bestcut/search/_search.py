"""The search for the best cut, by bounds on what the cuts between others are worth.

The ranking is divided into cells between cuts that are evaluated. A cell is left out if
no cut inside it can be better than the best one known; others are divided, until none
is left or what is left cannot be divided. At every moment each allowed cut is one that
was evaluated, or inside a cell that is open, or inside one that was left out by a bound
(Lemma 11); `Search.left_out` has the last ones, for tests.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple, Protocol

import numpy as np

from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut.search._allowed import Allowed
from bestcut.search._bounds import Bounds, times

# Into how many pieces a cell is divided, and how many cells are worth bounding at once.
_LEAST_PIECES, _MOST_CELLS = 3, 8192
_MANY_CELLS = 160  # with so many that leave half of the ranking, bounds are of no help
_TIES = 2  # cuts or cells as good as the best up to its error: time for a closer look
# What is known to be worth less than this, relative to the best score, is left out.
_WORTHLESS = 1e-13


class Cuts(Protocol):
    """What the search wants to know of cuts, each known by its place.

    Attributes
    ----------
    n : int
        How many instances there are.
    start : ndarray of int
        How many instances are above the cut at each place.
    proved : float
        A proved bound on the absolute score, which may be infinite.
    inherits : bool
        Whether bounds on a cell are nearly as good for its pieces as their own.
    most_pieces : int
        Into how many pieces a cell may be divided.
    """

    n: int
    start: CountArray
    proved: float
    inherits: bool
    most_pieces: int

    def first_places(self, low: int, high: int) -> IndexArray:
        """Return the places to begin with, around the cuts from `low` to `high`."""

    def evaluate_first(self, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected utility at the cuts to begin with, and its error.

        It is nan at cuts that are only looked at if what bounds say of the cells
        around them does not rule them out.
        """

    def evaluate(self, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected utility at some cuts, with bounds on its error."""

    def evaluate_closely(self, places: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected utility at some cuts as well as can be."""

    def bounds(self, first: IndexArray, last: IndexArray, enough: float) -> Bounds:
        """Bound the curve inside cells, where it may be above `enough`."""

    def plan_inside(self, first: IndexArray, last: IndexArray) -> None:
        """Prepare for evaluations inside some cells."""

    def doubt(self, places: IndexArray) -> FloatArray:
        """Return by how much probabilities are moved in what was evaluated."""


class OpenCells(NamedTuple):
    """Cells that may hold the best cut: places of the cuts at both ends, and bounds."""

    first: IndexArray
    last: IndexArray
    reach: FloatArray

    def and_of(self, others: OpenCells) -> OpenCells:
        """Return these cells and some others."""
        return OpenCells(
            np.concatenate([self.first, others.first]),
            np.concatenate([self.last, others.last]),
            np.concatenate([self.reach, others.reach]),
        )

    def those(self, which: BoolArray | IndexArray) -> OpenCells:
        """Return some of the cells."""
        return OpenCells(self.first[which], self.last[which], self.reach[which])

    def in_order(self) -> OpenCells:
        """Return the cells from the top of the ranking down."""
        return self.those(np.argsort(self.first))

    def size(self, start: CountArray) -> int:
        """Return how many instances there are in the cells."""
        return int((start[self.last] - start[self.first]).sum())

    def runs(self) -> list[tuple[int, int]]:
        """Return the places where cells begin that follow each other, and end."""
        if not self.first.size:
            return []
        new = self.first[1:] != self.last[:-1]
        first = self.first[np.append(True, new)]
        last = self.last[np.append(new, True)]
        return list(zip(first.tolist(), last.tolist(), strict=True))


class Search:
    """The search for the best allowed cut.

    Attributes
    ----------
    utility, error : ndarray
        Expected utility of the cut at each place, nan where it was not evaluated, and
        what it may be wrong by.
    lower, upper : float
        Proved bounds on the expected utility of the best allowed cut, after `run`.
    enough : float
        What is worth no more than this is left out.
    left_out : list of (int, int)
        The places of the cuts around the cells that were left out by a bound.
    """

    def __init__(self, cuts: Cuts, allowed: Allowed) -> None:
        self.cuts, self.allowed = cuts, allowed
        count = cuts.start.size
        self.utility, self.error = np.full(count, np.nan), np.full(count, np.inf)
        self.floor, self.ceiling = np.full(count, -np.inf), np.full(count, np.inf)
        self.is_close = np.zeros(count, dtype=np.bool_)
        self._seen = np.empty(0, dtype=np.intp)  # places that were evaluated, in order
        self.lower, self.upper, self.enough = -np.inf, np.inf, -np.inf
        self.left_out: list[tuple[int, int]] = []

    def over(self, cuts: Cuts) -> Search:
        """Return the search with cuts of which more may be known."""
        out = copy(self)
        out.cuts, out.is_close = cuts, self.is_close.copy()
        out.utility, out.error = self.utility.copy(), self.error.copy()
        out.floor, out.ceiling = self.floor.copy(), self.ceiling.copy()
        if cuts is not self.cuts:
            out.is_close[:] = False
        return out

    def run(self) -> OpenCells:
        """Return the cells that can hold the best cut inside, and cannot be divided.

        Cuts that were evaluated and can be the best are `candidates`.
        """
        last_place = self.cuts.start.size - 1
        if last_place == 0 or not np.isfinite(self.cuts.proved):
            return self._with_nothing_left_out(last_place)
        places = self.cuts.first_places(self.allowed.low, self.allowed.high)
        utility, error = self.cuts.evaluate_first(places)
        known = ~np.isnan(utility)
        self._note(places[known], utility[known], error[known])
        first, last = places[:-1], places[1:]
        undivided = OpenCells(first[:0], first[:0], np.empty(0))
        inherited = None
        while True:
            cells, bounds = self._open(first, last, inherited)
            whole = cells.last - cells.first == 1
            undivided = undivided.and_of(cells.those(whole))
            cells, bounds = cells.those(~whole), bounds.at(~whole)
            pieces = self._pieces(cells)
            if (
                not pieces.size
                or pieces.sum() > _MOST_CELLS
                or self._is_stubborn(cells)
            ):
                break
            self.cuts.plan_inside(cells.first, cells.last)
            first, last = _divided(cells, pieces)
            self.look(np.union1d(first, last))
            parents = np.repeat(np.arange(pieces.size), pieces)
            inherited = bounds.at(parents) if self.cuts.inherits else None
        cells = undivided.and_of(cells)
        unseen = places[~known & self.allowed.holds(self.cuts.start[places])]
        self.look(unseen[self.ceiling[unseen] > self.enough])
        self.settle()
        # What was found since then may be better than some of them can be.
        cells = cells.those(self._kept(*cells)).in_order()
        best = float(np.max(self.ceiling[self._allowed_seen()], initial=self.enough))
        self.upper = float(np.max(cells.reach, initial=best))
        return cells

    def _with_nothing_left_out(self, last_place: int) -> OpenCells:
        """Look at the first cut only: without a bound on scores all others are open."""
        self.look_closely(np.zeros(1, dtype=np.intp))
        self.settle()
        self.upper = float(self.ceiling[0]) if last_place == 0 else np.inf
        first = np.arange(last_place)
        return OpenCells(first, first + 1, np.full(last_place, np.inf))

    def _open(
        self, first: IndexArray, last: IndexArray, inherited: Bounds | None
    ) -> tuple[OpenCells, Bounds]:
        """Return the cells with an allowed cut inside that can be the best.

        What holds for a cell holds for what is inside it: bounds are computed anew only
        where those that are `inherited` leave much open, or are no bounds but a cap.
        """
        start = self.cuts.start
        inside = self.allowed.count(start[first] + 1, start[last] - 1) > 0
        first, last = first[inside], last[inside]
        if inherited is not None:
            reach = self._reach_of_open(first, last, inherited.at(inside))
            kept, rows = self._kept(first, last, reach), start[last] - start[first]
            capped = reach >= inherited.cap[inside]
            if 2 * rows[kept].sum() <= rows.sum() and not capped[kept].any():
                cells = OpenCells(first[kept], last[kept], reach[kept])
                return cells, inherited.at(inside).at(kept)
            first, last = first[kept], last[kept]
        if not first.size:
            return OpenCells(first, last, np.empty(0)), Bounds.none()
        bounds = self.cuts.bounds(first, last, self.enough)
        reach = self._reach_of_open(first, last, bounds)
        kept = self._kept(first, last, reach)
        return OpenCells(first[kept], last[kept], reach[kept]), bounds.at(kept)

    def _kept(
        self, first: IndexArray, last: IndexArray, reach: FloatArray
    ) -> BoolArray:
        """Return which cells can hold the best cut, noting those that are left out."""
        kept = np.asarray(reach > self.enough)
        ends = first[~kept].tolist(), last[~kept].tolist()
        self.left_out += zip(*ends, strict=True)
        return kept

    def _reach_of_open(
        self, first: IndexArray, last: IndexArray, bounds: Bounds
    ) -> FloatArray:
        """Bound the cuts inside cells, and look closely where many may be the best."""
        reach = self._reach(first, last, bounds)
        self.settle()
        if self._is_tied(reach[reach > self.enough]):
            self.look_closely(self.candidates)
            reach = self._reach(first, last, bounds)
            self.settle()
        return reach

    def _doubt(self, first: IndexArray, last: IndexArray, bounds: Bounds) -> FloatArray:
        """Return what the probabilities that were moved do to the cuts around cells."""
        moved = np.maximum(self.cuts.doubt(first), self.cuts.doubt(last))
        return times(moved, bounds.flip)

    def _reach(self, first: IndexArray, last: IndexArray, bounds: Bounds) -> FloatArray:
        """Bound the cuts inside cells, and those around them."""
        start, n = self.cuts.start, self.cuts.n
        doubt = self._doubt(first, last, bounds)
        around = []
        for places in (first, last):
            high = self.utility[places] + self.error[places] + doubt
            low = self.utility[places] - self.error[places] - doubt
            inner = (start[places] > 0) & (start[places] < n)
            high = np.where(np.isnan(high), np.inf, high)
            around.append(np.where(inner, high, np.inf))
            high = np.where(inner, np.minimum(high, bounds.most), high)
            self.ceiling[places] = np.minimum(self.ceiling[places], high)
            self.floor[places] = np.fmax(self.floor[places], low)
        size = (start[last] - start[first]).astype(np.float64)
        return bounds.reach(around[0], around[1], size)

    def look(self, places: IndexArray) -> None:
        """Evaluate those of some cuts that are new."""
        new = places[np.isnan(self.utility[places])]
        if new.size:
            self._note(new, *self.cuts.evaluate(new))

    def look_closely(self, places: IndexArray) -> None:
        """Evaluate some cuts as well as can be."""
        new = places[~self.is_close[places]]
        if new.size:
            self._note(new, *self.cuts.evaluate_closely(new))
            self.is_close[new] = True

    def _note(self, places: IndexArray, utility: FloatArray, error: FloatArray) -> None:
        self.utility[places], self.error[places] = utility, error
        self._seen = np.union1d(self._seen, places)
        # One label that is another changes the utility by its whole range at most.
        error = error + times(self.cuts.doubt(places), 2.0 * self.cuts.proved)
        self.floor[places] = np.maximum(self.floor[places], utility - error)
        self.ceiling[places] = np.minimum(self.ceiling[places], utility + error)

    def _allowed_seen(self) -> IndexArray:
        """Return the places of cuts that were evaluated and may be taken."""
        return self._seen[self.allowed.holds(self.cuts.start[self._seen])]

    def settle(self) -> None:
        """Find what the best of the allowed cuts is worth at least.

        That is what other cuts must be worth more than, and more than what is stated of
        a cut that was looked at closely: its value and its error.
        """
        seen = self._allowed_seen()
        self.lower = max(self.lower, float(np.max(self.floor[seen], initial=-np.inf)))
        if self.lower == -np.inf:
            return
        close = seen[self.is_close[seen]]
        stated = np.minimum(self.utility[close], self.floor[close] + self.error[close])
        stated += self.error[close]
        least = self.lower + _WORTHLESS * abs(self.lower)
        self.enough = max(self.enough, least, float(np.max(stated, initial=-np.inf)))

    def _is_tied(self, reach: FloatArray) -> bool:
        """Return whether many cells or cuts are as good as the best, up to its error.

        And whether a closer look at the cuts would change that.
        """
        places = self.candidates
        if self.is_close[places].all():
            return False
        best = float(np.max(self.utility[places] + self.error[places]))
        return max(int(np.count_nonzero(reach <= best)), places.size) > _TIES

    @property
    def candidates(self) -> IndexArray:
        """The places of allowed cuts that were evaluated and can be the best."""
        seen, best = self._allowed_seen(), self.best_place()
        good = self.ceiling[seen] > self.enough
        if best is not None:
            good |= seen == best
        return seen[good]

    def best_place(self) -> int | None:
        """Return the allowed cut that is surely the best of those evaluated, if any."""
        seen = self._allowed_seen()
        if not seen.size or np.max(self.floor[seen]) == -np.inf:
            return None
        return int(seen[np.argmax(self.floor[seen])])

    def _is_stubborn(self, cells: OpenCells) -> bool:
        """Return whether many cells are open, and much of the ranking is in them."""
        start = self.cuts.start
        return (
            cells.first.size > _MANY_CELLS
            and 2 * cells.size(start) > start[-1] - start[0]
        )

    def _pieces(self, cells: OpenCells) -> IndexArray:
        """Return into how many pieces to divide cells.

        As many as would leave all of them out if what bounds give away shrinks with the
        square of the length, and a few more.
        """
        around = np.maximum(
            *(self.utility[x] + self.error[x] for x in (cells.first, cells.last))
        )
        with np.errstate(all="ignore"):
            excess = (cells.reach - around) / np.maximum(self.enough - around, 0.0)
            wanted = np.ceil(1.2 * np.sqrt(excess))
        wanted = np.where(np.isnan(wanted), np.inf, wanted)
        wanted = np.clip(wanted, _LEAST_PIECES, self.cuts.most_pieces)
        # What is at the ends of a cell may be enough to leave it out.
        wanted = np.where(np.isnan(around), 1.0, wanted)
        pieces = np.minimum(wanted, (cells.last - cells.first).astype(np.float64))
        out: IndexArray = pieces.astype(np.intp)
        return out


def _divided(cells: OpenCells, pieces: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the ends of cells divided into pieces of about equal length."""
    ends = zip(cells.first.tolist(), cells.last.tolist(), pieces.tolist(), strict=True)
    places = [np.linspace(a, b, m + 1).astype(np.intp) for a, b, m in ends]
    return (
        np.concatenate([x[:-1] for x in places]),
        np.concatenate([x[1:] for x in places]),
    )
