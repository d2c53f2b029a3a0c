"""The distribution of the utility of a prediction, from the laws of TP and FN.

With few possible pairs (TP, FN) every one is listed. With many, a score that is proved
never to fall when a label turns out right is taken by `Rows`, which is exact too. Other
scores with many pairs are listed as well, and put into narrow bins if they are too many
for that. The counts are independent in each draw of the probabilities; known ones are
one draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from bestcut._types import FloatArray, IndexArray
from bestcut.counts import Law
from bestcut.metrics import MORE_AGREEMENT, Metric, never_hurts
from bestcut.scores._rows import Rows
from bestcut.scores._utility import (
    FEW,
    Atoms,
    UtilityDistribution,
    UtilityMixture,
    UtilityOfCounts,
)
from bestcut.uncertain import AlignedLaws, DrawnLaw

_MANY = 1 << 23  # pairs that are listed if nothing better can be done
_BINS = 1 << 20
_EVALUATIONS = 1 << 20  # of the metric at a time


def distribution_of_score(
    metric: Metric, tp: Law | AlignedLaws, fn: Law | AlignedLaws, n_pred: int, n: int
) -> UtilityDistribution:
    """Return the distribution of a metric's utility."""
    tp, fn = aligned(tp), aligned(fn)
    pairs = tp.width * fn.width
    if pairs > FEW and never_hurts(metric, MORE_AGREEMENT, n):
        return Rows(metric, tp, fn, n_pred, n)
    if pairs <= _MANY:
        return Pairs(metric, tp, fn, n_pred, n)
    if tp.start.size == 1:
        return _binned(metric, tp, fn, n_pred, n)
    each = ((tp.in_draw(b), fn.in_draw(b)) for b in range(tp.start.size))
    laws = [distribution_of_score(metric, *both, n_pred, n) for both in each]
    return UtilityMixture(laws)


class Pairs(UtilityOfCounts, Atoms):
    """The utilities of all pairs of counts with their probabilities."""

    def __init__(
        self, metric: Metric, tp: AlignedLaws, fn: AlignedLaws, n_pred: int, n: int
    ) -> None:
        UtilityOfCounts.__init__(self, metric, n_pred, n)
        self.tp, self.fn = in_one_window(tp), in_one_window(fn)
        parts = list(_parts(metric, self.tp, self.fn, n_pred, n))
        values, mass = (np.concatenate(x) for x in zip(*parts, strict=True))
        Atoms.__init__(self, values, mass, self.tp.counts.size + self.fn.counts.size)

    def exceeding_by_draw(self, utility: float) -> FloatArray:
        """Return P(U > utility) in every draw, of a U that may have been rounded up."""
        exceeds = np.zeros(self.values.size)
        least = utility + self.tolerance if self._alike else utility
        first = np.searchsorted(self.values, least, side="right")
        exceeds[self._order[first:]] = 1.0
        if not self._alike:
            exceeds[self._order[self._equal_places(utility, above=True)]] = 0.0
        table = exceeds.reshape(self.tp.pmf.shape[0], -1)
        return np.asarray(np.einsum("ab,ab->b", table @ self.fn.pmf, self.tp.pmf))

    def _equal(self, utility: float, *, above: bool) -> FloatArray:
        """Return the mass above, or below, that rounding makes equal: of all draws."""
        places = self._equal_places(utility, above=above)
        return np.asarray(np.sum(self.onward[places] - self.onward[places + 1]))

    def _equal_places(self, utility: float, *, above: bool) -> IndexArray:
        """Return which utilities above, or below, rounding makes equal to one."""
        ends = self._rounded(utility, above=above)
        side: Literal["left", "right"] = "right" if above else "left"
        first, last = np.searchsorted(self.values, ends, side=side)
        i, j = np.divmod(self._order[first:last], self.fn.counts.size)
        found, tp, fn = self.values[first:last], self.tp.counts[i], self.fn.counts[j]
        equal = self._are_equal(found, tp, fn, utility)
        return np.asarray(first + np.flatnonzero(equal))


def aligned(law: Law | AlignedLaws) -> AlignedLaws:
    """Return laws with a window for each draw; known probabilities are one draw."""
    if isinstance(law, AlignedLaws):
        return law
    return AlignedLaws(np.array([law.start]), law.pmf[None])


def in_one_window(laws: AlignedLaws) -> DrawnLaw:
    """Return laws in one window for all draws, which that of a single draw is."""
    if laws.start.size == 1:
        return DrawnLaw(int(laws.start[0]), laws.pmf.T)
    return laws.in_one_window()


def score_table(
    metric: Metric, tp: FloatArray, fn: FloatArray, n_pred: int, n: int
) -> FloatArray:
    """Return the metric for all pairs of counts: a row for each TP."""
    caught, k = tp[:, None], float(n_pred)
    score = metric.score_cells(caught, k - caught, fn, float(n) - k - fn)
    return np.broadcast_to(score, (tp.size, fn.size))


def _parts(
    metric: Metric, tp: DrawnLaw, fn: DrawnLaw, n_pred: int, n: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the utilities and probabilities of all pairs, some at a time."""
    size, draws = fn.pmf.shape
    step, share = max(_EVALUATIONS // size, 1), fn.pmf.T / draws
    for i in range(0, tp.pmf.shape[0], step):
        score = score_table(metric, tp.counts[i : i + step], fn.counts, n_pred, n)
        utility = score if metric.greater_is_better else -score
        yield utility.ravel(), (tp.pmf[i : i + step] @ share).ravel()


def _binned(
    metric: Metric, tp: AlignedLaws, fn: AlignedLaws, n_pred: int, n: int
) -> Atoms:
    """Return the distribution with every utility moved to the nearest of a grid."""
    pairs = metric, in_one_window(tp), in_one_window(fn), n_pred, n
    low, high = np.inf, -np.inf
    for values, _ in _parts(*pairs):
        low, high = min(low, float(values.min())), max(high, float(values.max()))
    width = float(high - low) / (_BINS - 1)
    total = np.zeros(_BINS)
    for values, mass in _parts(*pairs):
        nearest = np.rint((values - low) / width) if width > 0.0 else 0.0 * values
        total += np.bincount(nearest.astype(np.intp), mass, _BINS)
    kept = np.flatnonzero(total)
    middles = np.asarray(low + kept * width, dtype=np.float64)
    size = tp.width + fn.width
    return Atoms(middles, total[kept], size, moved=width / 2, tolerance=width / 2)
