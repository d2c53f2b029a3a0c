"""The cuts of one ranking whose probabilities are known: one draw."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np

from bestcut._types import FloatArray
from bestcut.counts import NOTHING, Law, convolved, law_of
from bestcut.metrics import Metric
from bestcut.scores import UtilityDistribution, distribution_of_score
from bestcut.uncertain import AlignedLaws

_PARTS = 16  # whose laws all others grow from


class KnownCuts:
    """The cuts of known probabilities, for one metric.

    Parameters
    ----------
    eta : ndarray
        Probabilities, sorted descending.
    metric : Metric
        The metric.
    """

    def __init__(self, eta: FloatArray, metric: Metric) -> None:
        self.eta, self.metric, self.n = eta, metric, eta.size
        edges = np.linspace(0, self.n, _PARTS + 1).astype(np.intp).tolist()
        within = [law_of(eta[i:j]) for i, j in pairwise(edges)]
        above = accumulate(within, convolved, initial=NOTHING)
        below = accumulate(within[::-1], convolved, initial=NOTHING)
        self._above = dict(zip(edges, above, strict=True))
        self._below = dict(zip(edges[::-1], below, strict=True))

    def laws(self, cut: int) -> tuple[AlignedLaws, AlignedLaws]:
        """Return the laws of the positives above a cut and below it."""
        above, below = self._grown(cut)
        return _one_draw(above), _one_draw(below)

    def rows(self, first: int, last: int) -> FloatArray:
        """Return the probabilities of some instances: a row for each."""
        return self.eta[first:last, None]

    def utility(self, cut: int) -> UtilityDistribution:
        """Return the distribution of the utility of a cut."""
        return distribution_of_score(self.metric, *self._grown(cut), cut, self.n)

    def _grown(self, cut: int) -> tuple[Law, Law]:
        """Return laws that grow from those of the nearest cuts that are known."""
        if cut not in self._above:
            first = max(c for c in self._above if c < cut)
            last = min(c for c in self._above if c > cut)
            above, below = law_of(self.eta[first:cut]), law_of(self.eta[cut:last])
            self._above[cut] = convolved(self._above[first], above)
            self._below[cut] = convolved(below, self._below[last])
        return self._above[cut], self._below[cut]


def _one_draw(law: Law) -> AlignedLaws:
    return AlignedLaws(np.array([law.start]), law.pmf[None])
