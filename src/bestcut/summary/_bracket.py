"""The probabilities between which the best cut lies, and the cut itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._thresholds import halfway
from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut._validation import check_multiplicities, check_probabilities
from bestcut.goals import Mean
from bestcut.metrics import Metric
from bestcut.scores import Prediction
from bestcut.search import (
    Allowed,
    Found,
    Search,
    TableCuts,
    best_candidate,
    best_cut_in_run,
    best_of,
    exchange_allowance,
    gap_scope,
    gap_to,
    outside,
)
from bestcut.summary._bins import BINS, between, bin_of, geometry
from bestcut.summary._cut import Cut
from bestcut.summary._table import BinTable

_MEAN = Mean()
_LISTED = 1 << 16  # no side whose law must be exact has a bin with more scores
_FEW = 2  # intervals that are compared with, instead of looking up bins


@dataclass(frozen=True, eq=False)
class Window:
    """The scores that a bracket needs; it is small, to be sent to other processes.

    Attributes
    ----------
    low, high : ndarray
        Intervals of probabilities, ends included.
    """

    low: FloatArray
    high: FloatArray

    def select(self, y_proba: Any) -> FloatArray:
        """Return the scores that lie in the window.

        Parameters
        ----------
        y_proba : array-like of shape (m,)
            Probabilities.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from bestcut.streams import ScoreSummary
        >>> bracket = ScoreSummary.from_scores([0.7, 0.1, 0.4]).bracket("f1")
        >>> bracket.window.select([0.0, 0.4, 1.0]).tolist()
        [0.4]
        """
        return self.inside(check_probabilities(y_proba))

    def inside(self, p: FloatArray) -> FloatArray:
        """Return the checked probabilities that lie in the window."""
        if self.low.size <= _FEW:
            ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
            parts = [between(p, low, high) for low, high in ends]
            return np.concatenate(parts) if parts else np.empty(0)
        wanted = np.zeros(BINS, dtype=np.bool_)
        for low, high in zip(bin_of(self.low), bin_of(self.high), strict=True):
            wanted[low : high + 1] = True
        return p[wanted[bin_of(p)]]


class Bracket:
    """Proved bounds on the best cut, from a summary alone.

    Attributes
    ----------
    metric : Metric
        What is maximised (a loss: minimised).
    low, high : float
        The threshold of the best cut lies between these probabilities, unless nothing
        is predicted positive.
    lower_bound, upper_bound : float
        Proved bounds on the best expected score.
    threshold : float
        The expected score of predicting everything from this probability on also lies
        between the bounds. This threshold is good enough if a second pass is not worth
        it. It is inf if nothing should be predicted positive, and nan if no edge
        between bins is allowed.
    n_wanted : int
        How many scores `refine` needs.

    See Also
    --------
    bestcut.streams.ScoreSummary : Its ``bracket`` returns one.
    bestcut.streams.Cut : What ``refine`` returns.

    Notes
    -----
    The bounds are theorems about the metric's own formula, evaluated with outward
    rounding; see docs/how-it-works/lemmas.md. For a callable that cannot be followed,
    nothing can be left out: every score is needed.

    Examples
    --------
    >>> import numpy as np
    >>> import bestcut
    >>> scores = np.random.default_rng(0).beta(0.3, 3, size=100_000)
    >>> bracket = bestcut.streams.ScoreSummary.from_scores(scores).bracket("f1")
    >>> bracket.n_wanted < 2000, bracket.upper_bound - bracket.lower_bound < 1e-4
    (True, True)
    >>> cut = bracket.refine(bracket.select(scores))
    >>> bracket.low <= cut.threshold <= bracket.high
    True
    """

    def __init__(self, table: BinTable, metric: Metric, low: int, high: int) -> None:
        self.metric, self._table, self._bounds = metric, table, (low, high)
        self._cuts = TableCuts(table, metric)
        self._search = search = Search(self._cuts, Allowed(low, high))
        self._runs = search.run().runs()
        places = search.candidates
        inside = [np.arange(*run) for run in self._runs]
        holding = np.unique(np.concatenate([*inside, places[places > 0] - 1]))
        self._wanted = self._wanted_bins(holding)
        # The threshold lies halfway to the next smaller score, maybe in the next bin.
        reached = np.union1d(holding, np.minimum(holding + 1, len(table) - 1))
        self._asked = self._wanted.copy()
        self._asked[reached] = True
        self.n_wanted = int(table.count[self._asked].sum())
        shape = geometry()
        self.low = float(shape.low[table.key[reached]].min(initial=1.0))
        self.high = float(shape.high[table.key[holding]].max(initial=0.0))
        self.threshold = self._best_threshold()
        bounds = sorted((metric.sign * search.lower, metric.sign * search.upper))
        self.lower_bound, self.upper_bound = bounds
        runs = _runs_of(np.flatnonzero(self._asked))
        self.window = Window(
            np.array([shape.low[table.key[last - 1]] for _, last in runs]),
            np.array([shape.high[table.key[first]] for first, _ in runs]),
        )

    def _best_threshold(self) -> float:
        place = self._search.best_place()
        if place is None:
            return float("nan")
        if place == 0:
            return float("inf")
        return float(geometry().low[self._table.key[place - 1]])

    def _wanted_bins(self, holding: IndexArray) -> BoolArray:
        """Return the bins that can hold the cut, and those that exact laws need."""
        table, cuts = self._table, self._cuts
        wanted = np.zeros(len(table), dtype=np.bool_)
        wanted[holding] = True
        listed = table.wanted()
        single = [(place, place) for place in self._search.candidates.tolist()]
        for first, last in self._runs + single:
            if cuts.is_short(first, below=False):
                wanted[:last] |= listed[:last]
            if cuts.is_short(last, below=True):
                wanted[first:] |= listed[first:]
        return wanted

    def select(self, y_proba: Any) -> FloatArray:
        """Return the scores that `refine` needs.

        Parameters
        ----------
        y_proba : array-like of shape (m,)
            Probabilities, all or a chunk of those that were summed up.

        Returns
        -------
        ndarray
            The scores that lie in the window; their order has no meaning.

        Raises
        ------
        InvalidProbabilityError
            If an entry of `y_proba` is NaN or outside [0, 1].

        Examples
        --------
        >>> from bestcut.streams import ScoreSummary
        >>> scores = [i / 100 for i in range(101)]
        >>> bracket = ScoreSummary.from_scores(scores).bracket("f1")
        >>> sorted(bracket.select(scores).tolist())
        [0.38, 0.39]
        """
        return self.window.select(y_proba)

    def refine(self, y_proba: Any, counts: Any = None) -> Cut:
        """Fix the cut exactly.

        Parameters
        ----------
        y_proba : array-like of shape (m,)
            The result of `select` for all the scores that were summed up, in any order.
            More scores do no harm.
        counts : array-like of shape (m,), optional
            How often each score occurs; by default, once.

        Returns
        -------
        Cut
            With ``threshold``, ``n_positive``, ``n_tied``, ``expected_score``,
            ``error``, ``predict()``, ``distribution()``.

        Raises
        ------
        InvalidProbabilityError
            If an entry of `y_proba` is NaN or outside [0, 1].
        ValueError
            If scores are missing, or if some were never summed up.

        Examples
        --------
        >>> import bestcut
        >>> scores = [0.7, 0.1, 0.4, 0.35]
        >>> bracket = bestcut.streams.ScoreSummary.from_scores(scores).bracket("f1")
        >>> bracket.refine(bracket.select(scores))  # doctest: +ELLIPSIS
        Cut(f1: 3 of 4 positive, threshold 0.225, expected score 0.591313 [error ...])
        """
        p = check_probabilities(y_proba)
        often = check_multiplicities(counts, p.size)
        best = self.fixed(p, often)
        k, scope = best.above.n, gap_scope(self._table.n, self.metric)
        allowance = exchange_allowance(scope, self._table.n, k, self.metric)
        least = best.threshold
        tied = self._tied(k, least, p, often)
        below = np.max(p, where=p < least, initial=-np.inf)
        score = self.metric.sign * best.utility
        return Cut(
            n=self._table.n,
            n_positive=k,
            threshold=least if tied[1] else float(halfway(below, least)),
            n_tied=tied,
            expected_score=score,
            error=best.error,
            gap=gap_to(best.upper, best.utility, best.error) + float(allowance),
            gap_scope=scope,
            metric=self.metric,
            solver="search",
            goal=_MEAN,
            goal_value=score,
            conditions=(),
            bounds=self._bounds,
            _prediction=Prediction(best.above, best.below),
        )

    def _tied(
        self, k: int, least: float, p: FloatArray, often: CountArray
    ) -> tuple[int, int]:
        """Return how many of those at the threshold are positive, if not all are."""
        if not k:
            return 0, 0
        there = int(often[p == least].sum())
        shape, table = geometry(), self._table
        i = int(np.flatnonzero(table.key == bin_of(np.array([least]))[0])[0])
        inside = (p > least) & (p <= shape.high[table.key[i]])
        taken = k - int(table.start[i] + often[inside].sum())
        return (taken, there) if taken < there else (0, 0)

    def fixed(self, p: FloatArray, counts: CountArray) -> Found:
        """Return the best cut, its threshold being the smallest score above it.

        Solvers call this; `refine` checks its arguments, and returns a `Cut`.

        Parameters
        ----------
        p : ndarray of float64
            At least the scores in the window, already checked.
        counts : ndarray of int64
            How often each of them occurs.

        Returns
        -------
        Found
            The cut, with the laws of its two sides.
        """
        values, sizes, bins = self._collected(p, counts)
        cuts, search = self._informed(values, sizes, bins)
        found = []
        for first, last in self._runs:
            here = (bins >= first) & (bins < last)
            sides = cuts.side(first, below=False), cuts.side(last, below=True)
            found.append(
                best_cut_in_run(
                    values[here], sizes[here], self.metric, self._bounds, sides
                )
            )

        def threshold(place: int) -> float:
            return float(values[bins == place - 1][-1]) if place > 0 else np.inf

        places = outside(self._search.candidates, self._runs)
        found.append(best_candidate(search, cuts, places, threshold))
        best = best_of(found, search.enough)
        assert best is not None  # some cut is allowed, and a candidate or in a run
        return best

    def _collected(
        self, p: FloatArray, counts: CountArray
    ) -> tuple[FloatArray, CountArray, IndexArray]:
        """Return the wanted values in descending order, how often, and their bins."""
        values, place = np.unique(p, return_inverse=True)
        total = np.zeros(values.size, dtype=np.int64)
        np.add.at(total, place, counts)
        values, total = values[::-1], total[::-1]
        table = self._table
        keys = bin_of(values)
        given = np.zeros(BINS, dtype=np.int64)
        np.add.at(given, keys, total)
        expected = np.zeros(BINS, dtype=np.int64)
        expected[table.key] = table.count
        known = np.zeros(BINS, dtype=np.bool_)
        known[table.key] = ~self._asked
        # Bins that were not asked for may be incomplete; empty bins must stay empty.
        wrong = np.flatnonzero((given != expected) & ~(known & (given < expected)))
        if wrong.size:
            shape, i = geometry(), wrong[-1]
            ends = float(shape.low[i]), float(shape.high[i])
            raise errors.other_scores(*ends, int(expected[i]), int(given[i]))
        where = np.zeros(BINS, dtype=np.intp)
        where[table.key] = np.arange(len(table))
        bins = where[keys]
        kept = self._wanted[bins] if len(table) else np.zeros(0, dtype=np.bool_)
        return values[kept], total[kept], bins[kept]

    def _informed(
        self, values: FloatArray, sizes: CountArray, bins: IndexArray
    ) -> tuple[TableCuts, Search]:
        """Return the cuts and the search with laws of what is known one by one."""
        listed = np.flatnonzero(self._table.wanted() & self._wanted)
        known = {}
        for i in listed[self._table.count[listed] <= _LISTED].tolist():
            here = bins == i
            known[i] = np.repeat(values[here], sizes[here])
        cuts = self._cuts.knowing(self._table.knowing(known)) if known else self._cuts
        return cuts, self._search.over(cuts)

    def __repr__(self) -> str:
        return (
            f"Bracket({self.metric.name}: best expected score between "
            f"{self.lower_bound:.6g} and {self.upper_bound:.6g}, threshold between "
            f"{self.low:.6g} and {self.high:.6g}, {self.n_wanted} scores wanted)"
        )


def _runs_of(bins: IndexArray) -> list[tuple[int, int]]:
    """Return the runs of consecutive numbers as first and one after the last."""
    breaks = np.flatnonzero(np.diff(bins) > 1) + 1
    return [
        (int(run[0]), int(run[-1]) + 1) for run in np.split(bins, breaks) if run.size
    ]
