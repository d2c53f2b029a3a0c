"""The best cut for the mean over draws, with a proof that there is no better one.

What `bestcut.search` proves of one curve holds for every draw. Between two cuts the
curve of a draw lies below a chord and a parabola (Lemma 10), so the mean of the curves
lies below the mean of the chords and the mean of the parabolas.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.counts import NOBODY, Law, Side, trimmed
from bestcut.metrics import Trait, agreement_never_hurts, score_bound
from bestcut.mixtures._curve import mean_curve
from bestcut.mixtures._cuts import MixtureCuts
from bestcut.search import RARE, BestCut, Changes, Parts, above_chord, times

_GROUPS, _SPLIT = 8, 4
_SHORT = 128  # instances with which every cut is looked at
_FEW = 600  # instances with which bounds by extremes take less time
_TOGETHER = 128  # cuts that are looked at together
_ALL = 8  # cuts that are looked at one by one sooner than bounded
_MOST = 4096  # groups that are worth bounding at once
_AFFORDABLE = 20_000  # cuts that are looked at one by one; some 20 seconds
_WORTHLESS = 1e-13  # relative to the best score: what is worth less is left out


class _State:
    """The parts between cuts, once for every draw: what `Changes` wants to know.

    Part i of draw b stands at i + b * n_parts, edge i of draw b at i + b * n_edges.
    """

    def __init__(self, cuts: MixtureCuts, edges: IndexArray, draws: IndexArray) -> None:
        self.metric, self.n, self.sign = cuts.metric, cuts.n, cuts.metric.sign
        self.proved = score_bound(cuts.metric, cuts.n)
        self._cuts, self._draws = cuts, draws
        self.start = np.tile(edges, draws.size)
        listed = edges.tolist()
        self.above, self.below = (
            np.stack(
                [cuts.ranked.sums[c][i][:2, draws] for c in listed], axis=2
            ).reshape(2, -1)
            for i in (0, 1)
        )
        self.ends: tuple[Side, Side] = (NOBODY, NOBODY)
        self.displaced = np.zeros(self.start.size), np.zeros(self.start.size)
        lowest = [
            cuts.ranked.draws.rows(c - 1, c)[0, draws]
            if c and cuts.ranked.is_ranked
            else np.ones(draws.size)
            for c in listed
        ]
        self.peak = np.stack(lowest, axis=1).ravel()

    def of_parts(self, parts: int) -> None:
        """Say what all instances are like, for each of so many parts of every draw."""
        total = self._cuts.ranked.total[:2, self._draws]
        self.total_mean, self.total_variance = np.repeat(total, parts, axis=1)

    def total_law(self) -> Law:
        """Return the law of the number of positives in all, of a single draw."""
        cuts, (b,) = self._cuts, self._draws.tolist()
        law = cuts.ranked.law(0, below=True)
        return trimmed(law.start, law.pmf[:, b])


class MixtureSearch:
    """The search for the best allowed cut.

    Parameters
    ----------
    cuts : MixtureCuts
        The cuts of the ranking.
    allowed : ndarray of bool, shape (n + 1,)
        Which of them may be taken.
    """

    def __init__(self, cuts: MixtureCuts, allowed: BoolArray) -> None:
        self.cuts, self.allowed, self.n = cuts, allowed, cuts.n
        self.metric, self.sign = cuts.metric, cuts.metric.sign
        self.allowed_before = np.concatenate([[0], np.cumsum(allowed)])
        self.best = BestCut(int(np.argmax(allowed)), -np.inf, 0.0, -np.inf)

    def run(self) -> BestCut:
        """Return the best allowed cut, and a bound on what any of them is worth.

        The cuts from the first allowed one to the last are taken in groups. In every
        round the edges of the groups are evaluated, the cuts inside each are bounded,
        and groups that are worth no more than the best cut are left out; the others are
        divided. When few cuts are left, or when bounds leave nearly all of them, these
        are looked at one by one; if that would take too long, the bound says what may
        be missed.
        """
        if Trait.LINEAR_AT_CUT in self.metric.traits:
            return self._best_of_curve()
        if self._is_short() or not np.isfinite(score_bound(self.metric, self.n)):
            return self._look_at_all()
        lowest, highest = np.flatnonzero(self.allowed)[[0, -1]].tolist()
        # What is left out must be worth less than a cut that may be taken.
        self._look_at(np.unique([lowest, highest]))
        first, last = self._edges(lowest, highest, _GROUPS)
        reach, left_out = np.full(first.size, np.inf), -np.inf
        while first.size:
            self._look_at(np.unique([first, last]))
            to_see = self._is_open(first, last)
            if int(to_see.sum()) <= _ALL:
                break
            reach = self._reach(first, last)
            kept = (reach > self._enough()) & (to_see > 0)
            worthless = reach[~kept & (to_see > 0)]
            left_out = max(left_out, float(np.max(worthless, initial=-np.inf)))
            first, last, reach = first[kept], last[kept], reach[kept]
            if first.size * _SPLIT > _MOST:
                break
            first, last = self._divided(first, last)
        inside = [
            a + 1 + np.flatnonzero(self.allowed[a + 1 : b])
            for a, b in zip(first.tolist(), last.tolist(), strict=True)
        ]
        cuts = np.concatenate([*inside, np.empty(0, dtype=np.intp)])
        open_yet = -np.inf
        if cuts.size <= _AFFORDABLE:
            self._look_at_each(cuts)
        else:
            open_yet = float(reach.max())
        return replace(self.best, upper=max(self.best.upper, left_out, open_yet))

    @cached_property
    def by_extremes(self) -> bool:
        """Whether cuts are bounded by extremes: where few positives are expected.

        In some draw few are enough, because each such draw would have bounds of its
        own; but then there must not be many in another.
        """
        rare = float(self.cuts.ranked.total[1].min()) < RARE
        few = self.n <= _FEW or (rare and self.cuts.are_narrow)
        return few and agreement_never_hurts(self.metric, self.n)

    def _is_short(self) -> bool:
        """Return whether looking at every cut takes less time than bounds do."""
        return self.n <= _SHORT

    def _best_of_curve(self) -> BestCut:
        """Look at the whole curve, which takes little time for some metrics."""
        value, error = mean_curve(self.cuts.ranked, self.metric)
        utility = np.where(self.allowed, self.sign * value, -np.inf)
        k = int(np.argmax(utility))
        upper = float(np.max(utility + error))
        return BestCut(k, float(utility[k]), float(error[k]), upper)

    def _look_at_all(self) -> BestCut:
        """Look at every allowed cut."""
        self._look_at_each(np.flatnonzero(self.allowed))
        return self.best

    def _look_at_each(self, cuts: IndexArray) -> None:
        """Look at many cuts, some at a time."""
        for some in np.split(cuts, range(_TOGETHER, cuts.size, _TOGETHER)):
            self._look_at(some)
            if cuts.size > _TOGETHER:
                self.cuts.ranked.forget()

    def _is_open(self, first: IndexArray, last: IndexArray) -> IndexArray:
        """Return how many allowed cuts are inside, the edges apart."""
        inside = self.allowed_before[last] - self.allowed_before[first + 1]
        return np.asarray(np.maximum(inside, 0), dtype=np.intp)

    def _divided(
        self, first: IndexArray, last: IndexArray
    ) -> tuple[IndexArray, IndexArray]:
        """Return groups of cuts, each in some shorter ones."""
        pairs = zip(first.tolist(), last.tolist(), strict=True)
        pieces = [self._edges(a, b, _SPLIT) for a, b in pairs]
        none = [(np.empty(0, dtype=np.intp),) * 2]
        starts, ends = zip(*pieces or none, strict=True)
        return np.concatenate(starts), np.concatenate(ends)

    def _edges(
        self, first: int, last: int, count: int
    ) -> tuple[IndexArray, IndexArray]:
        """Return the first and last cuts of groups between two cuts.

        Curves bend most near both ends of the ranking: there groups are short.
        """
        if last - first <= count:
            edges = np.arange(first, last + 1)
        else:
            share = np.linspace(0.0, 1.0, count + 1)
            steps = [share]
            if first == 0:
                steps.append(share**3)
            if last == self.n:
                steps.append(1.0 - (1.0 - share) ** 3)
            edges = np.rint(first + (last - first) * np.concatenate(steps))
            edges = np.unique(edges.astype(np.intp))
        return edges[:-1], edges[1:]

    def _look_at(self, cuts: IndexArray) -> None:
        """Evaluate some cuts, and keep the best."""
        self.cuts.evaluate(cuts)
        for k in cuts.tolist():
            if not self.allowed[k]:
                continue
            value, error = self.cuts.value(k)
            utility = self.sign * value
            upper = max(self.best.upper, utility + error)
            if (utility, -k) > (self.best.utility, -self.best.k):
                self.best = BestCut(k, utility, error, upper)
            else:
                self.best = replace(self.best, upper=upper)

    def _enough(self) -> float:
        """Return what other cuts must be worth more than."""
        best = self.best.utility
        return best + self.best.error + _WORTHLESS * abs(best)

    def _reach(self, first: IndexArray, last: IndexArray) -> FloatArray:
        """Return a bound on the expected utility of the cuts inside each group."""
        if self.by_extremes:
            pairs = zip(first.tolist(), last.tolist(), strict=True)
            return np.array(
                [
                    self.cuts.highest(a + 1, b - 1) if b - a > 1 else -np.inf
                    for a, b in pairs
                ]
            )
        edges = np.unique(np.concatenate([first, last]))
        size = (last - first).astype(np.float64)
        totals = [self._changes(first, last, edges, some) for some in self._batches()]
        bend, left, right, span, cap = np.sum(totals, axis=0) / self.cuts.n_draws
        values = {k: self.cuts.value(k) for k in edges.tolist()}
        high = [
            np.array([self.sign * values[k][0] + values[k][1] for k in side.tolist()])
            for side in (first, last)
        ]
        with np.errstate(invalid="ignore", over="ignore"):
            left, right = high[0] + left, high[1] + right
            top = above_chord(left, right, times(size**2, bend)) + span
            top += 16 * EPS * (np.abs(left) + np.abs(right) + np.abs(top))
        top = np.fmin(np.where(np.isnan(top), np.inf, top), cap)
        return np.where(size > 1, top, -np.inf)

    def _batches(self) -> list[IndexArray]:
        """Return the draws whose bounds are computed together."""
        rare = self.cuts.ranked.total[1] < RARE
        some = [np.array([b]) for b in np.flatnonzero(rare).tolist()]
        return [*some, np.flatnonzero(~rare)] if not rare.all() else some

    def _changes(
        self, first: IndexArray, last: IndexArray, edges: IndexArray, draws: IndexArray
    ) -> FloatArray:
        """Return sums over some draws of the bounds that a chord needs, by group."""
        state = _State(self.cuts, edges, draws)
        state.of_parts(first.size)
        size = np.tile((last - first).astype(np.float64), draws.size)
        pairs = zip(first.tolist(), last.tolist(), strict=True)
        found = [self.cuts.ranked.part(*pair) for pair in pairs]
        total = np.stack([part.total[draws] for part in found], axis=1).ravel()
        scatter = np.stack([part.scatter[draws] for part in found], axis=1).ravel()
        mean = np.clip(total / size, 0.0, 1.0)
        scatter = scatter * (1 + 1e-12) + 1e-28 * size
        dispersion = np.minimum(np.sqrt(size * scatter), 2 * size * mean * (1 - mean))
        step = np.repeat(np.arange(draws.size) * edges.size, first.size)
        at = [
            step + np.tile(np.searchsorted(edges, side), draws.size)
            for side in (first, last)
        ]
        parts = Parts(at[0], at[1], size, mean, dispersion)
        bounds = Changes(state, parts)
        (a_lo, a_hi), (b_lo, b_hi) = bounds.ends["a"], bounds.ends["b"]
        half = dispersion / 2
        with np.errstate(invalid="ignore", over="ignore"):
            rows = (
                bounds.bent(mean),
                times(half, b_hi - b_lo),
                times(half, a_hi - a_lo),
                times(half, np.maximum(a_hi, b_hi) - np.minimum(a_lo, b_lo)),
                bounds.cap,
            )
            shape = (draws.size, first.size)
            return np.stack([row.reshape(shape).sum(axis=0) for row in rows])
