"""The cuts of one ranking whose probabilities are known: one draw."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np

from bestcut._types import FloatArray
from bestcut.counts import NOTHING, Law, convolved, law_of
from bestcut.metrics import Metric
from bestcut.scores import Prediction, UtilityDistribution
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
        """Return the laws of the positives above a cut and below it.

        They grow from those of the nearest cut that is known.
        """
        if cut not in self._above:
            near = max(c for c in self._above if c <= cut)
            self._above[cut] = convolved(self._above[near], law_of(self.eta[near:cut]))
        if cut not in self._below:
            near = min(c for c in self._below if c >= cut)
            self._below[cut] = convolved(self._below[near], law_of(self.eta[cut:near]))
        return _one_draw(self._above[cut]), _one_draw(self._below[cut])

    def rows(self, first: int, last: int) -> FloatArray:
        """Return the probabilities of some instances: a row for each."""
        return self.eta[first:last, None]

    def utility(self, cut: int) -> UtilityDistribution:
        """Return the distribution of the utility of a cut."""
        return Prediction.of_cut(self.eta, cut).utility(self.metric)


def _one_draw(law: Law) -> AlignedLaws:
    return AlignedLaws(np.array([law.start]), law.pmf[None])
