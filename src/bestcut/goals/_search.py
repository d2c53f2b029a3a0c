"""The best cut for a goal that looks at the whole law of the score.

Branch and bound. For all cuts from `low` to `high`, TP is at most the number of
positives among the first `high`, and FP at least the number of negatives among the
first `low`, whatever the labels turn out to be; the positives are as many as they are.
A metric that never falls when a prediction is corrected is then at most what it is at
these two extremes, in every case, so its quantiles and its probabilities of reaching a
score are at most theirs. A range of cuts whose extremes do not beat the best cut found
so far is left out, another one is halved. For a metric that is not smooth every cut is
looked at.

Near its maximum a curve is flat, and about sqrt(n) cuts are looked at one by one; a
look takes sqrt(n) log(n) evaluations of the metric.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from bestcut._validation import BoolArray, FloatArray
from bestcut.counts._window import NOTHING, Law, convolved, law_of
from bestcut.goals import LawGoal
from bestcut.metrics import Metric, check_metric
from bestcut.scores import Atoms, Rows, UtilityLaw, law_of_score

_LEVELS = 64  # parts of the ranking that are looked at before any single cut
_MOST_ROWS = 1 << 18  # beyond that a range is halved without a look


class _Range(NamedTuple):
    """The cuts low, ..., high - 1, and the laws of the counts around them."""

    low: int
    high: int
    before: Law  # of the positives among the first `low`
    within: Law  # from there to `high`
    after: Law  # among the others


class GoalSearch:
    """The search for the best cut of one goal.

    Parameters
    ----------
    goal : LawGoal
        What is to be made large.
    eta : ndarray
        Probabilities, sorted descending.
    metric : Metric
        Whose law.
    allowed : ndarray of bool, shape (n + 1,)
        Which cuts may be taken.
    """

    def __init__(
        self, goal: LawGoal, eta: FloatArray, metric: Metric, allowed: BoolArray
    ) -> None:
        self.goal, self.eta, self.metric, self.n = goal, eta, metric, eta.size
        self.allowed_before = np.concatenate([[0], np.cumsum(allowed)])
        check = check_metric(metric)
        # A verdict on small confusion matrices is trusted for large ones only if the
        # metric varies smoothly.
        self.rising = check.agreement_monotonic and metric.smooth
        self.size_only = check.tp_independent

    def run(self, first: int) -> tuple[int, float]:
        """Return the best cut and its value, beginning with a good one.

        Another cut is taken only if it is better.
        """
        split = law_of(self.eta[:first]), law_of(self.eta[first:])
        self.best = first
        self.value = self.goal.value(self._law(first, *split), self.metric)
        if self.size_only:
            self._look_at_sizes()
        else:
            self._look_at_ranges()
        return self.best, self.goal.shown(self.value, self.metric)

    def _look_at_sizes(self) -> None:
        """Look at every cut: only the number of positives counts, and has one law."""
        whole = law_of(self.eta)
        for k in np.flatnonzero(np.diff(self.allowed_before)).tolist():
            self._look_at(k, whole, NOTHING)

    def _look_at_ranges(self) -> None:
        """Look at every cut that may be better than the best so far.

        Long ranges first, level by level: where they are halved a cut is looked at, so
        that a good one is soon known. Then the short ones, the nearest to it first.
        """
        whole = law_of(self.eta)
        if self._any_allowed(self.n, self.n + 1):
            self._look_at(self.n, whole, NOTHING)
        long = deque([_Range(0, self.n, NOTHING, whole, NOTHING)] if self.n else [])
        short: list[_Range] = []
        while long:
            at = long.popleft()
            if (at.high - at.low) * _LEVELS <= self.n or at.high - at.low == 1:
                short.append(at)
            else:
                long += self._narrowed(at)
        short.sort(key=lambda at: -abs(at.low + at.high - 2 * self.best))
        while short:
            at = short.pop()
            if at.high - at.low > 1:
                short += self._narrowed(at)
            elif self._any_allowed(at.low, at.high):
                self._look_at(at.low, at.before, convolved(at.within, at.after))

    def _narrowed(self, at: _Range) -> list[_Range]:
        """Return what is left to look at: nothing, or the halves, the nearer last."""
        if not self._any_allowed(at.low, at.high) or not self._can_beat(at):
            return []
        left, right = self._halves(at)
        if self._any_allowed(right.low, right.low + 1):
            self._look_at(right.low, right.before, convolved(right.within, right.after))
        return [left, right] if self.best >= right.low else [right, left]

    def _any_allowed(self, low: int, high: int) -> bool:
        return bool(self.allowed_before[high] > self.allowed_before[low])

    def _halves(self, at: _Range) -> tuple[_Range, _Range]:
        middle = (at.low + at.high) // 2
        left, right = (
            law_of(self.eta[i:j]) for i, j in ((at.low, middle), (middle, at.high))
        )
        return (
            _Range(at.low, middle, at.before, left, convolved(right, at.after)),
            _Range(middle, at.high, convolved(at.before, left), right, at.after),
        )

    def _law(self, k: int, tp: Law, fn: Law) -> UtilityLaw:
        if self.size_only:
            # Only the number of positives counts; take as few of them as TP as it can.
            total = convolved(tp, fn)
            caught = np.maximum(total.counts + k - self.n, 0.0)
            score = self.metric.utility(caught, float(k), total.counts, float(self.n))
            return Atoms(score, total.pmf, total.pmf.size)
        if self.rising:
            rest = float(self.n - k) - fn.counts
            return Rows(self.metric, tp, float(k), fn.counts, rest, fn.pmf)
        return law_of_score(self.metric, tp, fn, k, self.n, rising=False)

    def _look_at(self, k: int, tp: Law, fn: Law) -> None:
        law = self._law(k, tp, fn)
        if self.goal.is_above(law, self.metric, self.value):
            self.best, self.value = k, self.goal.value(law, self.metric)

    def _can_beat(self, at: _Range) -> bool:
        """Return whether a cut of the range could be better than the best so far."""
        if not self.rising:
            return True
        extreme = self._extreme(at)
        return extreme is None or self.goal.is_above(extreme, self.metric, self.value)

    def _extreme(self, at: _Range) -> UtilityLaw | None:
        """Return a law above that of every cut of the range; None if that is large."""
        low, n = float(at.low), float(self.n)
        caught = convolved(at.before, at.within)
        fn = at.after.counts
        if caught.counts[-1] <= low:
            # FP >= low - (positives among the first `high`) asks for one law less.
            return Rows(self.metric, caught, low, fn, n - low - fn, at.after.pmf)
        found = at.within.counts[:, None]
        shape = (found.size, fn.size)
        if found.size * fn.size > _MOST_ROWS:
            return None
        return Rows(
            self.metric,
            at.before,
            low,
            fn=np.broadcast_to(fn, shape).ravel(),
            tn=(n - low - found - fn).ravel(),
            weights=np.multiply.outer(at.within.pmf, at.after.pmf).ravel(),
            shift=np.broadcast_to(found, shape).ravel(),
        )
