"""The cuts of a ranking whose probabilities are known only as draws.

Sums over the instances above a cut and below it are kept for every cut that was looked
at; the laws of counts grow from those of the nearest cut that is known. None of it
depends on a metric.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np

from bestcut._types import FloatArray, IndexArray
from bestcut.counts import LEAST_VARIANCE, ROOM
from bestcut.uncertain._draws import Draws
from bestcut.uncertain._law import (
    DrawnLaw,
    convolved_laws,
    joined_draws,
    laws_from_sums,
    laws_of,
    nothing,
    with_instances,
)
from bestcut.uncertain._side import DrawnSide

_ONE_BY_ONE = 64  # instances that are added to laws sooner than their own are made
_KEPT = 256  # cuts that are remembered from one decision to the next


class RankedDraws:
    """Draws of instances from the most probable down, cut after any of them.

    Attributes
    ----------
    draws : Draws
        From the most probable instance down.
    sums : dict of int to tuple of ndarray
        Sums of features above every cut that was looked at, and below it.
    """

    def __init__(self, draws: Draws) -> None:
        self.draws, self.n, self.n_draws = draws, draws.n, draws.n_draws
        nobody = np.zeros((ROOM + 1, draws.n_draws))
        total = draws.part_sums(np.array([0, self.n]))
        self.sums = {0: (nobody, total[:, 0]), self.n: (total[:, 0], nobody)}
        every, none = np.arange(draws.n_draws), nothing(draws.n_draws)
        # Laws that are not made from sums, of the draws that vary little there.
        self._short: tuple[dict[int, tuple[IndexArray, DrawnLaw]], ...] = (
            {0: (every, none)},
            {self.n: (every, none)},
        )

    @cached_property
    def is_ranked(self) -> bool:
        """Whether the instances are in descending order in every draw."""
        return self.draws.is_ranked()

    @property
    def total(self) -> FloatArray:
        """Sums of features over all instances."""
        return self.sums[0][1]

    def look(self, cuts: IndexArray) -> None:
        """Note the sums above and below some cuts."""
        known = sorted(self.sums)
        new = np.setdiff1d(cuts, known)
        for a, b in pairwise(known):
            inside = new[(a < new) & (new < b)]
            if not inside.size:
                continue
            edges = np.concatenate([[a], inside, [b]])
            sums = self.draws.part_sums(edges)
            above = self.sums[a][0][:, None] + np.cumsum(sums, axis=1)
            below = self.sums[b][1][:, None] + np.cumsum(sums[:, ::-1], axis=1)[:, ::-1]
            for i, cut in enumerate(inside.tolist()):
                self.sums[cut] = above[:, i].copy(), below[:, i + 1].copy()

    def range_between(
        self, first: IndexArray, last: IndexArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the least and the largest probability between cuts, in every draw."""
        if self.is_ranked:
            ends = (self.draws.taken(x) for x in (last - 1, first))
            least, most = (x.rows(0, first.size) for x in ends)
            return least, most
        pairs = list(zip(first.tolist(), last.tolist(), strict=True))
        cells = [self.draws.rows(a, b) for a, b in pairs]
        return np.stack([x.min(axis=0) for x in cells]), np.stack(
            [x.max(axis=0) for x in cells]
        )

    def side(self, cut: int, *, below: bool) -> DrawnSide:
        """Return what is above a cut, or below it."""
        self.look(np.array([cut]))
        here = slice(cut, self.n) if below else slice(0, cut)
        return DrawnSide(self.draws.taken(here), self.sums[cut][below])

    def law(self, cut: int, *, below: bool) -> DrawnLaw:
        """Return the laws of the number of positives above a cut, or below it."""
        sums = self.sums[cut][below]
        much = sums[1] >= LEAST_VARIANCE
        parts = []
        if much.any():
            draws = np.flatnonzero(much)
            size = self.n - cut if below else cut
            laws = laws_from_sums(size, sums[:ROOM, draws])
            parts.append((draws, laws.in_one_window()))
        if not much.all():
            parts.append(self._short_law(cut, np.flatnonzero(~much), below=below))
        return joined_draws(parts, self.draws.n_draws)

    def laws(self, cut: int) -> tuple[DrawnLaw, DrawnLaw]:
        """Return the laws of the positives above a cut and below it.

        There are no counts beyond what there is, whatever a window has room for.
        """
        self.look(np.array([cut]))
        above, below = (self.law(cut, below=side) for side in (False, True))
        return _cut_off(above, cut), _cut_off(below, self.n - cut)

    def _short_law(
        self, cut: int, draws: IndexArray, *, below: bool
    ) -> tuple[IndexArray, DrawnLaw]:
        """Return the laws of some draws, from the nearest cut that has them."""
        known = self._short[below]
        if cut not in known:
            near = (
                min(c for c in known if c >= cut)
                if below
                else max(c for c in known if c <= cut)
            )
            had, law = known[near]
            law = DrawnLaw(law.start, law.pmf[:, np.searchsorted(had, draws)])
            first, last = sorted((near, cut))
            if last - first <= _ONE_BY_ONE:
                law = with_instances(law, self.draws.rows(first, last)[:, draws])
            else:
                between = self.draws.only(draws).taken(slice(first, last))
                law = convolved_laws(law, laws_of(between.pieces(), draws.size))
            known[cut] = draws, law
        had, law = known[cut]
        if had.size != draws.size:
            law = DrawnLaw(law.start, law.pmf[:, np.searchsorted(had, draws)])
        return draws, law

    def forget(self) -> None:
        """Keep the values of cuts, and not what they were computed from."""
        ends = {0, self.n}
        self.sums = {c: self.sums[c] for c in ends}
        for known in self._short:
            for cut in set(known) - ends:
                del known[cut]

    def tidy(self) -> None:
        """Forget if there is much to remember."""
        if len(self.sums) > _KEPT:
            self.forget()


def _cut_off(law: DrawnLaw, most: int) -> DrawnLaw:
    keep = max(min(law.pmf.shape[0], most - law.start + 1), 1)
    return DrawnLaw(law.start, law.pmf[:keep])
