"""Chances of cuts to reach a utility that may fall when a label is right.

All pairs of counts are looked at, the likely ones first.
"""

from __future__ import annotations

import numpy as np

from bestcut._types import EPS, FloatArray, IndexArray
from bestcut.counts import Law
from bestcut.goals._chances import Ask, Cuts, LawsBetween
from bestcut.goals._goals import Question
from bestcut.metrics import check_metric, tp_never_matters
from bestcut.scores import Atoms, UtilityDistribution, probability_error
from bestcut.search import extreme_utility
from bestcut.uncertain import AlignedLaws, DrawnLaw

# Parts of both laws that are looked at before the whole. A window has some 19 standard
# deviations: these are 0.6, 2.4 and 4.8 of them to either side of the most probable
# pair, with probabilities of 0.2, 0.97 and 1 - 4e-6.
_SHARES = (1 / 16, 1 / 4, 1 / 2)
_EVALUATIONS = 1 << 16  # of the metric at a time
_TABLE = 1 << 21  # probabilities of laws that are made at a time


class ListedChances:
    """The chances of cuts to reach a utility.

    Parameters
    ----------
    cuts : Cuts
        The cuts of a ranking.
    """

    def __init__(self, cuts: Cuts) -> None:
        self._cuts, self._metric, self._n = cuts, cuts.metric, cuts.n
        same = check_metric(self._metric).tp_independent
        # If only the number of positives counts, its law is that of every cut.
        self._total: Law | None = None
        if same and tp_never_matters(self._metric, self._n):
            self._total = cuts.laws(0)[1].marginal()

    def utility(self, cut: int) -> UtilityDistribution:
        """Return the distribution of the utility of a cut."""
        if self._total is None:
            return self._cuts.utility(cut)
        score = self._by_size(np.array([[cut]]), self._total.counts)[0]
        return Atoms(score, self._total.pmf, self._total.pmf.size)

    def above(self, ask: Ask, left: IndexArray) -> tuple[IndexArray, FloatArray]:
        """Return which of some cuts are above what is asked, and by how much."""
        step = max(_EVALUATIONS // self._total.pmf.size, 1) if self._total else 64
        excess = np.zeros(left.size)
        for i in range(0, left.size, step):
            some = left[i : i + step]
            excess[i : i + step] = (
                self._excess_of_sizes(ask, some)
                if self._total
                else self._excess_of_pairs(ask, some)
            )
        return left[excess > 0.0], excess[excess > 0.0]

    def _by_size(self, cuts: IndexArray, positives: FloatArray) -> FloatArray:
        """Evaluate; as few of the positives are caught as can be."""
        caught = np.maximum(positives + cuts - self._n, 0.0)
        return self._metric.utility(caught, cuts, positives, float(self._n))

    def _excess_of_sizes(self, ask: Ask, cuts: IndexArray) -> FloatArray:
        """Return by how much chances are above what is asked, from numbers alone."""
        assert self._total is not None
        value = self._by_size(cuts[:, None], self._total.counts)
        tolerance = 16 * EPS * float(np.abs(value[:, [0, -1]]).max())
        asked = ask(tolerance, probability_error(self._total.pmf.size))
        return asked.is_reached(value) @ self._total.pmf - asked.probability

    def _excess_of_pairs(self, ask: Ask, cuts: IndexArray) -> FloatArray:
        """Return by how much chances are above what is asked, or 0."""
        low, high = int(cuts[0]), int(cuts[-1]) + 1
        laws = LawsBetween(self._cuts, low, min(high, self._n))
        tables = laws.tables(*laws.windows(), np.arange(laws.n_draws))
        excess = np.zeros(cuts.size)
        for i, cut in enumerate(cuts.tolist()):
            tp, fn = (
                AlignedLaws(table.start, table.pmf[cut - low]).in_one_window()
                for table in tables
            )
            ends = np.abs(self._utility(cut, tp.counts[[0, -1]], fn.counts[[0, -1]]))
            error = probability_error(tp.counts.size + fn.counts.size)
            asked = ask(16 * EPS * float(ends.max()), error)
            excess[i] = self._excess(asked, cut, tp, fn, error)
        return excess

    def _excess(
        self, asked: Question, cut: int, tp: DrawnLaw, fn: DrawnLaw, error: float
    ) -> float:
        """Return by how much a chance is above what is asked, or 0.

        What fails is added up, the likely pairs first. Once it is enough, the others
        need no look.
        """
        for share in _SHARES:
            likely = _middle(tp, share), _middle(fn, share)
            missed = self._mass(asked, cut, *likely, reached=False)
            if 1.0 - missed + error <= asked.probability:
                return 0.0
        return self._mass(asked, cut, tp, fn, reached=True) - asked.probability

    def _mass(
        self, asked: Question, cut: int, tp: DrawnLaw, fn: DrawnLaw, *, reached: bool
    ) -> float:
        """Return the probability of the pairs that reach the utility, or do not."""
        mass, step = 0.0, max(_EVALUATIONS // fn.counts.size, 1)
        for i in range(0, tp.counts.size, step):
            value = self._utility(cut, tp.counts[i : i + step], fn.counts)
            joint = tp.pmf[i : i + step] @ fn.pmf.T / tp.pmf.shape[1]
            mass += float(np.sum(joint, where=asked.is_reached(value) == reached))
        return mass

    def _utility(self, cut: int, tp: FloatArray, fn: FloatArray) -> FloatArray:
        """Evaluate for all pairs; those that are impossible have probability 0."""
        tp, fn = np.minimum(tp, cut)[:, None], np.minimum(fn, self._n - cut)
        return extreme_utility(self._metric, tp, fn, cut, self._n)


def _middle(law: DrawnLaw, share: float) -> DrawnLaw:
    """Return the part of laws around their most probable count, not rescaled."""
    size = law.counts.size
    most, reach = int(np.argmax(law.pmf.sum(axis=1))), int(share * size / 2) + 1
    low = max(most - reach, 0)
    return DrawnLaw(law.start + low, law.pmf[low : most + reach + 1])
