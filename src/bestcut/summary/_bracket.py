"""The probabilities between which the best cut lies, and the cut itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bestcut import _errors as errors
from bestcut._thresholds import halfway
from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut._validation import check_multiplicities, check_probabilities
from bestcut.counts import (
    ROOM,
    Side,
    SummedSide,
    convolved,
    features,
    is_on_trust,
    law_of,
)
from bestcut.goals import Mean
from bestcut.metrics import Metric
from bestcut.scores import Prediction
from bestcut.search import (
    RARE,
    Allowed,
    BestCut,
    ListedTable,
    Search,
    TableCuts,
    best_inside,
    best_of_sorted,
    exchange_allowance,
    gap_scope,
    tell_if_unproved,
)
from bestcut.summary._bins import BINS, between, bin_of, geometry
from bestcut.summary._cut import Cut
from bestcut.summary._table import BinTable, quick_table

_MEAN = Mean()
_LISTED = 1 << 16  # no side whose law must be exact has a bin with more scores
_PAYS_IF_RARE = 1 << 22  # scores from which on no sort is as fast if few are expected
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


class Found(NamedTuple):
    """A cut, the smallest probability above it, and what is on either side."""

    best: BestCut
    threshold: float
    prediction: Prediction


def best_without_sort(p: FloatArray, metric: Metric, allowed: Allowed) -> Found | None:
    """Return the best cut of probabilities in any order, if the cuts are a range.

    None where a sort is likely to be faster: where bounds leave much of the ranking
    open, as they do when all scores are nearly the same, and for few expected positives
    among few million scores.
    """
    if not allowed.is_range:
        return None
    table = quick_table(p)
    # Bounds cost more where totals are taken one by one.
    if table.sums[1].sum() < RARE and p.size < _PAYS_IF_RARE:
        return None
    bracket = Bracket(table, metric, allowed.low, allowed.high)
    if bracket.n_wanted > p.size // 8:
        return None
    wanted = bracket.window.inside(p)
    return bracket._fixed(wanted, np.ones(wanted.size, dtype=np.int64))


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
        best, least, prediction = self._fixed(p, often)
        tell_if_unproved(best.gap, self.metric, stacklevel=2)
        k, scope = best.k, gap_scope(self._table.n, self.metric)
        allowance = exchange_allowance(scope, self._table.n, k, self.metric)
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
            gap=best.gap + float(allowance),
            gap_scope=scope,
            metric=self.metric,
            solver=best.solver,
            goal=_MEAN,
            goal_value=score,
            conditions=(),
            bounds=self._bounds,
            _prediction=prediction,
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

    def _fixed(self, p: FloatArray, counts: CountArray) -> Found:
        """Return the best cut, of at least the scores in the window, already checked.

        `counts` says how often each of them occurs.
        """
        values, sizes, bins = self._collected(p, counts)
        if is_on_trust(self.metric):  # nothing was left out: every score is here
            eta = np.repeat(values, sizes)
            trusted = best_of_sorted(eta, self.metric, Allowed(*self._bounds))
            least = float(eta[trusted.k - 1]) if trusted.k else np.inf
            return Found(trusted, least, Prediction.of_cut(eta, trusted.k))
        cuts, search = self._informed(values, sizes, bins)

        def part(first: int, last: int) -> ListedTable:
            here = (bins >= first) & (bins < last)
            return ListedTable.counted(values[here], sizes[here])

        best = best_inside(cuts, search, self._runs, part)
        assert best is not None  # some cut is allowed, and a candidate or in a run
        place = int(np.searchsorted(cuts.start, best.k))
        above, below = (cuts.side(place, below=side) for side in (False, True))
        if not best.k:
            return Found(best, np.inf, Prediction(above, below))
        here = bins == place - 1
        inside, often = values[here], sizes[here]
        if (left := int(cuts.start[place]) - best.k) > 0:
            taken = np.clip(best.k - cuts.start[place - 1] - _before(often), 0, often)
            above = joined(cuts.side(place - 1, below=False), inside, taken)
            below = joined(below, inside, often - taken)
        at = int(np.searchsorted(np.cumsum(often), often.sum() - left))
        return Found(best, float(inside[at]), Prediction(above, below))

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


def joined(side: Side, values: FloatArray, counts: CountArray) -> Side:
    """Return a side with some more instances: values, and how many have each."""
    values, counts = values[counts > 0], counts[counts > 0]
    return SummedSide(
        side.n + int(counts.sum()),
        side.sums(ROOM) + features(values, ROOM) @ counts,
        side.negatives + float((1.0 - values) @ counts),
        lambda: convolved(side.law, law_of(np.repeat(values, counts))),
    )


def _before(counts: CountArray) -> CountArray:
    """Return how many come before each of some counts."""
    return np.asarray(np.cumsum(counts) - counts)


def _runs_of(bins: IndexArray) -> list[tuple[int, int]]:
    """Return the runs of consecutive numbers as first and one after the last."""
    breaks = np.flatnonzero(np.diff(bins) > 1) + 1
    return [
        (int(run[0]), int(run[-1]) + 1) for run in np.split(bins, breaks) if run.size
    ]
