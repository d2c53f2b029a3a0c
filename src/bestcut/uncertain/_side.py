"""One side of a cut, or any group of instances, in all draws."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bestcut._caches import Lean
from bestcut._types import FloatArray
from bestcut.counts import LEAST_VARIANCE, ROOM, Law, SummedSide, trimmed
from bestcut.uncertain._draws import Draws
from bestcut.uncertain._law import AlignedLaws, DrawnLaw, laws_from_sums, laws_of


class DrawnSide(Lean):
    """A group of instances, as far as the numbers of its positives are concerned.

    Attributes
    ----------
    n, n_draws : int
        How many instances, and how many draws.
    """

    def __init__(self, draws: Draws, sums: FloatArray | None = None) -> None:
        self.draws, self.n, self.n_draws = draws, draws.n, draws.n_draws
        self._few = draws.sums(2) if sums is None else sums

    @property
    def positives(self) -> FloatArray:
        """Expected number of positives, in each draw."""
        return np.asarray(self._few[0])

    @property
    def negatives(self) -> FloatArray:
        """Expected number of negatives, in each draw."""
        return np.asarray(self._few[-1])

    @property
    def variance(self) -> FloatArray:
        """Variance of the number of positives, in each draw."""
        return np.asarray(self._few[1])

    @cached_property
    def _sums(self) -> FloatArray:
        """Sums of the features of `bestcut.counts`, in rows."""
        return self.draws.sums(ROOM)[:ROOM]

    @cached_property
    def laws(self) -> AlignedLaws:
        """The laws of the number of positives, each in its own window."""
        much = self.variance >= LEAST_VARIANCE
        parts = []
        for chosen in (much, ~much):
            draws = np.flatnonzero(chosen)
            if draws.size and chosen is much:
                laws = laws_from_sums(self.n, self._sums[:, draws])
                parts.append((draws, laws))
            elif draws.size:
                law = laws_of(self.draws.only(draws).pieces(), draws.size)
                parts.append((draws, AlignedLaws.of(law)))
        return AlignedLaws.joined(parts)

    @property
    def law(self) -> DrawnLaw:
        """The laws of the number of positives, in one window."""
        return self.laws.in_one_window()

    def marginal(self) -> Law:
        """Return the law of the number of positives over all draws."""
        law = self.laws.marginal()
        return trimmed(law.start, law.pmf)

    def in_draw(self, b: int) -> SummedSide:
        """Return the group in one draw."""
        return SummedSide(
            self.n,
            self._sums[:, b].copy(),
            float(self.negatives[b]),
            lambda: self.laws.in_draw(b),
        )
