"""The cuts of a ranking whose probabilities are known only as draws.

Sums over the instances above a cut and below it are kept for every cut that was looked
at; the laws of counts grow from those of the nearest cut that is known. None of it
depends on a metric.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

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


class Part(NamedTuple):
    """The instances between two cuts: sum of probabilities and scatter, by draw."""

    total: FloatArray
    scatter: FloatArray


class RankedDraws:
    """Draws of instances from the most probable down, cut after any of them.

    Attributes
    ----------
    draws : Draws
        From the most probable instance down.
    sums : dict of int to tuple of ndarray
        Sums of features above every cut that was looked at, and below it.
    parts : dict of tuple of int to Part
        What is between cuts that were looked at together.
    """

    def __init__(self, draws: Draws) -> None:
        self.draws, self.n, self.n_draws = draws, draws.n, draws.n_draws
        nobody = np.zeros((ROOM + 1, draws.n_draws))
        total, scatter = draws.part_sums(np.array([0, self.n]))
        self.sums = {0: (nobody, total[:, 0]), self.n: (total[:, 0], nobody)}
        self.parts = {(0, self.n): Part(total[0, 0], scatter[0])}
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
            sums, scatter = self.draws.part_sums(edges)
            above = self.sums[a][0][:, None] + np.cumsum(sums, axis=1)
            below = self.sums[b][1][:, None] + np.cumsum(sums[:, ::-1], axis=1)[:, ::-1]
            for i, cut in enumerate(inside.tolist()):
                self.sums[cut] = above[:, i].copy(), below[:, i + 1].copy()
            for i, pair in enumerate(pairwise(edges.tolist())):
                self.parts[pair] = Part(sums[0, i].copy(), scatter[i].copy())

    def part(self, first: int, last: int) -> Part:
        """Return what is between two cuts."""
        if (first, last) not in self.parts:
            sums, scatter = self.draws.part_sums(np.array([first, last]))
            self.parts[first, last] = Part(sums[0, 0], scatter[0])
        return self.parts[first, last]

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
        self.parts = {}
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
