"""The cuts of a ranking whose probabilities are known only as draws.

Sums over the instances above a cut and below it are kept for every cut that was looked
at; the laws of counts grow from those of the nearest cut that is known. None of it
depends on a metric.
"""

from __future__ import annotations

from functools import cached_property

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
# Features whose sums are made together: most rules want few of them.
_TIERS = 6, 10, ROOM
_KEPT = 256  # cuts that are remembered from one decision to the next


class RankedDraws:
    """Draws of instances from the most probable down, cut after any of them.

    Attributes
    ----------
    draws : Draws
        From the most probable instance down.
    """

    def __init__(self, draws: Draws) -> None:
        self.draws, self.n, self.n_draws = draws, draws.n, draws.n_draws
        self._base = np.empty((2, 0, 0, draws.n_draws))  # sums at the borders
        self._sums: dict[int, FloatArray] = {}
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

    @cached_property
    def borders(self) -> IndexArray:
        """The cuts at which all sums are known."""
        return self.draws.borders()

    @cached_property
    def total(self) -> FloatArray:
        """Expected number of all positives, and its variance, in each draw."""
        return self.sums(np.array([0]), 2)[1, :2, 0]

    def sums(self, cuts: IndexArray, count: int) -> FloatArray:
        """Return sums of `count` features above cuts and below, and of negatives.

        Shape (2, count + 1, n_cuts, n_draws); the last row counts the negatives.
        """
        if not cuts.size:
            return np.empty((2, count + 1, 0, self.n_draws))
        some, known = cuts.tolist(), self._sums
        new = {k for k in some if k not in known or known[k].shape[1] <= count}
        if new:
            found = self._sums_at(np.array(sorted(new)), count)
            known.update(zip(sorted(new), np.moveaxis(found, 2, 0), strict=True))
        rows = [*range(count), -1]
        return np.stack([known[k][:, rows] for k in some], axis=2)

    def _sums_at(self, cuts: IndexArray, count: int) -> FloatArray:
        """Return the sums at some cuts, from those at the borders around them."""
        if self._base.shape[1] <= count:
            self._base = self._sums_at_borders(next(m for m in _TIERS if m >= count))
        count, borders = self._base.shape[1] - 1, self.borders
        here = np.searchsorted(borders, cuts, side="right") - 1
        sums = self._base[:, :, here]
        inside = np.flatnonzero(cuts > borders[here])
        if inside.size:
            cut, after = cuts[inside], here[inside] + 1
            sums[0][:, inside] += self.draws.part_sums(borders[after - 1], cut, count)
            rest = self.draws.part_sums(cut, borders[after], count)
            sums[1][:, inside] = self._base[1][:, after] + rest
        return sums

    def _sums_at_borders(self, count: int) -> FloatArray:
        edges = self.borders
        parts = self.draws.part_sums(edges[:-1], edges[1:], count)
        sums = np.zeros((2, count + 1, edges.size, self.n_draws))
        for side, step in enumerate((1, -1)):
            total = np.zeros((count + 1, self.n_draws), dtype=np.longdouble)
            for i in range(edges.size - 1)[::step]:
                total += parts[:, i]
                sums[side, :, i + 1 - side] = total
        return sums

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
        here = slice(cut, self.n) if below else slice(0, cut)
        return DrawnSide(self.draws.taken(here), self._sums_of(cut, 2)[int(below)])

    def _sums_of(self, cut: int, count: int) -> FloatArray:
        return self.sums(np.array([cut]), count)[:, :, 0]

    def law(self, cut: int, *, below: bool) -> DrawnLaw:
        """Return the laws of the number of positives above a cut, or below it."""
        much = self._sums_of(cut, 2)[int(below), 1] >= LEAST_VARIANCE
        parts = []
        if much.any():
            draws = np.flatnonzero(much)
            size = self.n - cut if below else cut
            sums = self._sums_of(cut, ROOM)[int(below), :ROOM, draws].T
            laws = laws_from_sums(size, sums)
            parts.append((draws, laws.in_one_window()))
        if not much.all():
            parts.append(self._short_law(cut, np.flatnonzero(~much), below=below))
        return joined_draws(parts, self.draws.n_draws)

    def laws(self, cut: int) -> tuple[DrawnLaw, DrawnLaw]:
        """Return the laws of the positives above a cut and below it.

        There are no counts beyond what there is, whatever a window has room for.
        """
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
        self._sums = {}
        for known in self._short:
            for cut in set(known) - ends:
                del known[cut]

    def tidy(self) -> None:
        """Forget if there is much to remember."""
        if len(self._sums) > _KEPT:
            self.forget()


def _cut_off(law: DrawnLaw, most: int) -> DrawnLaw:
    keep = max(min(law.pmf.shape[0], most - law.start + 1), 1)
    return DrawnLaw(law.start, law.pmf[:keep])
