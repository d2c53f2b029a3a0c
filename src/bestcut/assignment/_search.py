"""The assignment with the best expected average over columns, with its certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.assignment._ascent import (
    NEGLIGIBLE,
    AffineScores,
    Ascent,
    ColumnScores,
    CoverageScores,
    Scores,
)
from bestcut.assignment._certificate import ScoredColumns
from bestcut.assignment._column_laws import ColumnLaws
from bestcut.assignment._entries import Entries
from bestcut.assignment._exact_scores import ExactScores
from bestcut.assignment._row_choice import Budgets, chosen, prices
from bestcut.metrics import Metric, Trait, is_affine

_ROUNDS = 30  # in which rows choose again, at exact worths
_STEPS, _FEW_STEPS = 12, 2  # of prices, and where bounds are loose in any case
# Entries that may be gone through; dividing one out takes as long as 32 of them, and so
# does a value of a distribution.
_WORK = 1 << 24
_CLOSE = 2e-6  # of the score: a gap that is small enough


@dataclass(frozen=True, eq=False)
class Assignment:
    """Which entries are taken, and what is known of that.

    Attributes
    ----------
    taken : ndarray of bool
        For each entry.
    each, error : ndarray of float, shape (columns,)
        The expected score of each column, and what it may be wrong by.
    size, hits : ndarray of float, shape (columns,)
        How many are taken in each column, and how many of them are expected to be
        positive.
    gap : float
        How much more any allowed assignment is worth, at most.
    slope, cost : ndarray of float, shape (columns,)
        An entry of probability p is worth slope p - cost.
    """

    taken: BoolArray
    each: FloatArray
    error: FloatArray
    size: FloatArray
    hits: FloatArray
    gap: float
    slope: FloatArray
    cost: FloatArray


class AssignmentSearch:
    """The search for the best assignment.

    Parameters
    ----------
    entries : Entries
        The matrix.
    metric : Metric
        The metric of a column.
    budgets : Budgets
        How many entries each row takes.
    share : ndarray of float, shape (columns,)
        What a unit of each column's score is worth.
    extra : float
        What each expected hit is worth besides.
    """

    def __init__(
        self,
        entries: Entries,
        metric: Metric,
        budgets: Budgets,
        share: FloatArray,
        extra: float = 0.0,
    ) -> None:
        self.entries, self.metric, self.share = entries, metric, share
        self.extra = extra
        stored = entries.lengths
        self.budgets = Budgets(
            np.minimum(budgets.low, stored), np.minimum(budgets.high, stored)
        )
        self.p = entries.p
        self.rows = entries.row_of_entries()
        groups = entries.column_groups()
        few = 32 * self.p.size <= _WORK
        self.laws = [ColumnLaws(x, entries.instances, divides=few) for x in groups]

    def solve(self) -> Assignment:
        """Return the best assignment that is found, with a bound on any other."""
        if not np.any(self.budgets.high):
            return self._nothing()
        scores = self._scores()
        ascent = Ascent(self.entries, scores, self.budgets, self.extra)
        found = self._at_exact_worths(_together(ascent.run()), scores)
        upper, price, likely = found.least_upper()
        trials = 4 * _WORK // max(self.p.size * self.entries.shape[1], 1)
        exact = is_affine(self.metric)  # else a gap says little about what is missed
        while exact and upper - found.objective > _CLOSE * abs(upper):
            width = max(x.pmf.shape[1] for x in self.laws)
            if 2 * max(self.p.size, 32 * self.entries.shape[1] * width) > _WORK:
                break
            other = self._ascended(likely, scores)
            if other.objective <= found.objective:
                if upper - found.objective <= 10 * _CLOSE * abs(upper):
                    break
                other, trials = self._exchanged(found, scores, trials)
                if other.objective <= found.objective:
                    break
            found = other
            bound, price, likely = found.least_upper(price)
            upper = min(upper, bound)
        gap = max(upper - found.objective, 0.0)
        gap += 4 * EPS * (abs(upper) + abs(found.objective))
        sums = found.power_sums(scores.powers)
        slopes, cost = scores.slopes(sums, found.size)
        return Assignment(
            found.taken,
            found.each,
            found.error,
            found.size,
            found.hits,
            gap,
            *_straightened(slopes, cost, self.extra),
        )

    def _scores(self) -> Scores:
        """Return the scores of columns that an ascent looks at."""
        if Trait.COVERAGE in self.metric.traits:
            return CoverageScores(self.share)
        kind = AffineScores if is_affine(self.metric) else ColumnScores
        return kind(self.entries, self.metric, self.share)

    def _nothing(self) -> Assignment:
        """Return the only assignment there is if no row takes anything."""
        n, columns = float(self.entries.instances), self.entries.shape[1]
        zeros = np.zeros(columns)
        taken = np.zeros(self.p.size, dtype=np.bool_)
        if self.p.size:
            found = Candidate(
                self, taken, ColumnScores(self.entries, self.metric, self.share)
            )
            each, error = found.each, found.error
        else:
            each = np.full(columns, float(self.metric.score(0.0, 0.0, 0.0, n)))
            error = zeros
        return Assignment(taken, each, error, zeros, zeros, 0.0, zeros, zeros)

    def _exchanged(
        self, found: Candidate, scores: Scores, trials: int
    ) -> tuple[Candidate, int]:
        """Return what is better after columns changed places, and the trials left."""
        ascent = Ascent(self.entries, scores, self.budgets, self.extra, found.taken)
        while trials and ascent.exchange():
            trials -= 1
            other = self._ascended(_together(ascent.labels), scores)
            if other.objective > found.objective:
                return other, trials
        return found, 0

    def _ascended(self, taken: BoolArray, scores: Scores) -> Candidate:
        """Return where exact scores lead from an assignment."""
        if is_affine(self.metric):
            exact = ExactScores(self.laws, self.metric, self.share, self.entries)
            ascent = Ascent(self.entries, exact, self.budgets, self.extra, taken)
            ascent.run()
            taken = _together(ascent.labels)
        return self._at_exact_worths(taken, scores)

    def _at_exact_worths(self, taken: BoolArray, scores: Scores) -> Candidate:
        """Let rows choose again at exact worths, while that is a gain."""
        found = Candidate(self, taken, scores)
        for _ in range(_ROUNDS):
            better = self._better(found, scores)
            if better is None:
                break
            found = better
        return found

    def _better(self, found: Candidate, scores: Scores) -> Candidate | None:
        """Return what is better after rows have chosen again, or None.

        If nothing is gained because all rows went the same way, only that half of them
        chooses again that gains most; then half of these, and so on.
        """
        again = found.chosen_again()
        changes = np.where(again, found.worth, 0.0)
        changes -= np.where(found.taken, found.worth, 0.0)
        gains = np.bincount(self.rows, changes, self.entries.shape[0])
        moves = np.argsort(-gains, kind="stable")[: np.count_nonzero(gains > 0.0)]
        while gains[moves].sum() > NEGLIGIBLE * abs(found.objective):
            own = np.zeros(gains.size, dtype=np.bool_)
            own[moves] = True
            taken = np.where(own[self.rows], again, found.taken)
            other = Candidate(self, taken, scores)
            if other.objective > found.objective:
                return other
            moves = moves[: moves.size // 2]
        return None


def _straightened(
    slopes: FloatArray, cost: FloatArray, extra: float
) -> tuple[FloatArray, FloatArray]:
    """Return slope and cost of the tangent of a polynomial where it is worth nothing.

    The rows that hardly take a column, or hardly leave it, are near that place.
    """
    first = slopes[0] + extra
    at = np.clip(cost / np.where(first > 0.0, first, np.inf), 0.0, 1.0)
    second = slopes[1] if slopes.shape[0] > 1 else np.zeros(at.size)
    return first + 2 * second * at, cost + second * at**2


def _together(labels: list[BoolArray]) -> BoolArray:
    """Return the labels of all groups of rows, one after another."""
    return np.concatenate([np.zeros(0, bool), *(x.ravel() for x in labels)])


class Candidate:
    """An assignment: what its columns are worth, and its entries at the margin."""

    def __init__(
        self, search: AssignmentSearch, taken: BoolArray, scores: Scores
    ) -> None:
        self.search, self.taken = search, taken
        count = search.entries.shape[1]
        self.each, self.error, self.size, self.hits = np.zeros((4, count))
        self.worth = np.zeros(taken.size)
        self.groups: list[ScoredColumns] = []
        for laws in search.laws:
            group = laws.group
            labels = taken[group.entries]
            if group.padded:
                labels &= group.p > 0.0
            columns = ScoredColumns(labels, search.metric, laws)
            at = group.columns
            self.each[at], self.error[at] = columns.values()
            self.size[at], self.hits[at] = columns.size, columns.hits
            worth = columns.worths()
            if worth is None:
                hits, size = _spread(columns, at, count)
                slopes, cost = scores.slopes(hits[None], size)
                worth = slopes[0, at, None] * group.p - cost[at, None]
            else:
                worth *= search.share[at, None]
            if search.extra:
                worth += search.extra * group.p
            if group.padded:
                inside = group.p > 0.0
                self.worth[group.entries[inside]] = worth[inside]
            else:
                self.worth[group.entries] = worth
            self.groups.append(columns)
        utility = search.metric.sign * self.each
        self.objective = float(search.share @ utility + search.extra * self.hits.sum())

    def power_sums(self, count: int) -> FloatArray:
        """Return the sums of p, p², ... over the entries taken in each column."""
        entries, values = self.search.entries, self.taken.astype(np.float64)
        out = np.empty((count, entries.shape[1]))
        for row in out:
            values = values * self.search.p
            row[:] = entries.sums(values)
        return out

    def _by_rows(self) -> list[tuple[IndexArray, FloatArray, BoolArray, Budgets]]:
        """Return rows, worths, labels and budgets of each group of rows."""
        out = []
        for group in self.search.entries.groups:
            worth = self.search.entries.part(self.worth, group)
            if group.padded:
                worth = np.where(group.p > 0.0, worth, -np.inf)
            labels = self.search.entries.part(self.taken, group)
            out.append((group.rows, worth, labels, self.search.budgets.of(group.rows)))
        return out

    def chosen_again(self) -> BoolArray:
        """Return what rows would take at the worths of the moment."""
        parts = [chosen(w, budgets).ravel() for _, w, _, budgets in self._by_rows()]
        return np.concatenate([np.zeros(0, bool), *parts])

    def prices(self) -> FloatArray:
        """Return a price for each row."""
        entries = self.search.entries
        price = np.zeros(entries.shape[0])
        by_rows = zip(entries.groups, self._by_rows(), strict=True)
        for group, (rows, worth, labels, budgets) in by_rows:
            size = self.size if group.columns is None else self.size[group.columns]
            price[rows] = prices(worth, labels, size, budgets)
        return price

    def upper(self, price: FloatArray) -> tuple[float, Callable[[], BoolArray]]:
        """Bound what any allowed assignment is worth, by prices of the rows.

        Returned with a way to the entries that columns would take at these prices.
        """
        search = self.search
        low, high = search.budgets
        total = float(high @ np.maximum(price, 0.0) + low @ np.minimum(price, 0.0))
        ways = []
        for columns in self.groups:
            group = columns.group
            cost = price[search.rows[group.entries]]
            if group.padded:
                cost[group.p == 0.0] = np.inf
            share = search.share[group.columns]
            bound, taken = columns.bounds(cost, share, search.extra)
            total += float(bound.sum())
            ways.append(taken)

        def wanted() -> BoolArray:
            out = np.zeros(self.taken.size, dtype=np.bool_)
            for columns, taken in zip(self.groups, ways, strict=True):
                out[columns.group.entries[taken() & (columns.group.p > 0.0)]] = True
            return out

        return total, wanted

    def least_upper(
        self, start: FloatArray | None = None
    ) -> tuple[float, FloatArray, BoolArray]:
        """Return the least bound of some prices, which move towards what is wanted.

        Returned with these prices, and with an assignment of what is wanted at some of
        them; rows that are wanted too often or too rarely stay as they are.
        """
        kept = self.prices()
        best, wanted = self.upper(kept)
        others = not (is_affine(self.search.metric) or self.groups[0].has_planes())
        if others or best - self.objective <= _CLOSE * abs(best):
            return best, kept, self.taken
        if start is not None:
            bound, at_start = self.upper(start)
            if bound < best:
                best, wanted, kept = bound, at_start, start
        step = 1.0
        around: FloatArray | None = None
        likely = wanted()
        unmet = self._unmet(kept, likely)
        misfits = np.count_nonzero(unmet)
        steps = _STEPS if is_affine(self.search.metric) else _FEW_STEPS
        for _ in range(min(steps, _WORK // max(self.taken.size, 1))):
            above = best - self.objective
            # What was wanted next to these prices counts, too.
            direction = unmet if around is None else (unmet + around) / 2
            norm = float(direction @ direction)
            if above <= _CLOSE * abs(best) or norm == 0.0:
                break
            price = kept + step * above / norm * direction
            bound, wanted = self.upper(price)
            at_price = wanted()
            other = self._unmet(price, at_price)
            if np.count_nonzero(other) < misfits:
                likely, misfits = at_price, np.count_nonzero(other)
            if bound < best:
                best, kept, unmet, around = bound, price, other, None
            else:
                step, around = step / 2, other
        return best, kept, self._repaired(likely)

    def _unmet(self, price: FloatArray, wanted: BoolArray) -> FloatArray:
        """Return how much more is wanted of each row than it takes at its price."""
        low, high = self.search.budgets
        count = np.bincount(self.search.rows[wanted], minlength=low.size)
        takes = np.where(price > 0.0, high, np.where(price < 0.0, low, count))
        return np.asarray(count - np.clip(takes, low, high), dtype=np.float64)

    def _repaired(self, wanted: BoolArray) -> BoolArray:
        """Return what is wanted, where rows may take it, and else what they take."""
        low, high = self.search.budgets
        count = np.bincount(self.search.rows[wanted], minlength=low.size)
        allowed = (count >= low) & (count <= high)
        return np.where(allowed[self.search.rows], wanted, self.taken)


def _spread(
    columns: ScoredColumns, at: IndexArray, count: int
) -> tuple[FloatArray, FloatArray]:
    hits, size = np.zeros((2, count))
    hits[at], size[at] = columns.hits, columns.size
    return hits, size
