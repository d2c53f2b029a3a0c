"""Proofs by algebra that a move never lowers a metric, whatever n is.

The formula is followed with `Terms`. Where its slope along the move has no negative
coefficient, it never falls. Where the formula changes its case because a class is
empty, the difference of both utilities is looked at instead. This is the condition of
Lemma 4 in docs/how-it-works/bounds.md, the paper's Main Result 1, without any rounding.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bestcut._errors import NotFollowedError
from bestcut.metrics._algebra import (
    NO_POWERS,
    Key,
    Needs,
    Terms,
    opposite,
    product_of,
    sum_of,
)
from bestcut.metrics._base import Metric
from bestcut.metrics._following import followed, formula_of
from bestcut.metrics._moves import KINDS, Kind, Move, least_cells
from bestcut.metrics._polynomial import (
    CONSTANT,
    Polynomial,
    along,
    is_nonnegative,
    plus,
    times,
    value_at,
    variable,
)


@lru_cache(maxsize=256)
def left_by_algebra(metric: Metric, move: Move) -> tuple[Kind, ...]:
    """Return the kinds of confusion matrices for which algebra proves nothing."""
    needs = _needed_for_slope(metric, move)
    left = []
    for kind in KINDS:
        if needs is not None:
            before = least_cells(move, kind)
            after = [x + step for x, step in zip(before, move, strict=True)]
            # Without negative coefficients they are smallest at the smallest cells,
            # and between two points at which they are positive they are positive.
            if all(
                value_at(dict(key), x) > 0 for key in needs for x in (before, after)
            ):
                continue
        if not _never_falls(metric, move, kind):
            left.append(kind)
    return tuple(left)


def _needed_for_slope(metric: Metric, move: Move) -> set[Key] | None:
    """Return what must be positive for a slope of at least 0; None without a proof.

    The slope of a term N f^p g^q ... is f^(p-1) g^(q-1) ... times a polynomial. Where a
    power is positive the base may be 0 at an end of the move: the term is continuous.
    """
    needs = Needs(collect=True)
    try:
        utility = _utility(metric, [variable(cell) for cell in range(4)], needs)
        for powers, polynomial in utility.terms.items():
            moving = [(dict(key), p) for key, p in powers if along(dict(key), move)]
            slope = along(polynomial, move)
            for base, _ in moving:
                slope = times(slope, base)
            for i, (base, p) in enumerate(moving):
                part = times(polynomial, along(base, move))
                for j, (other, _) in enumerate(moving):
                    part = part if i == j else times(part, other)
                slope = plus(slope, part, p)
            if not is_nonnegative(slope):
                return None
    except NotFollowedError:
        return None
    return needs.positive


def _never_falls(metric: Metric, move: Move, kind: Kind) -> bool:
    """Compare the utilities before and after a move, both as formulas of the cells.

    A cell that is not the smallest possible is its smallest value plus a variable.
    """
    before: list[Polynomial] = []
    after: list[Polynomial] = []
    for i, (least, smallest) in enumerate(
        zip(least_cells(move, kind), kind, strict=True)
    ):
        rest: Polynomial = {} if smallest else variable(i)
        before.append(plus(rest, {CONSTANT: least}))
        after.append(plus(rest, {CONSTANT: least + move[i]}))
    needs = Needs(collect=False)
    try:
        old, new = (_utility(metric, cells, needs) for cells in (before, after))
        return _is_gain(sum_of(new, opposite(old)))
    except NotFollowedError:
        return False


def _is_gain(x: Terms) -> bool:
    """Say whether a sum of terms is proved to be nowhere negative.

    A difference of two terms that cannot be merged, because of their roots, has the
    sign of the difference of their squares.
    """
    losses = [q for q, p in x.terms.items() if not is_nonnegative(p)]
    if not losses:
        return True
    gains = x.terms.keys() - losses
    loss, gain = (
        Terms({q: x.terms[q] for q in some}, x.needs) for some in (losses, gains)
    )
    if len(losses) > 1 or len(gains) != 1 or not _is_gain(opposite(loss)):
        return False
    gap = sum_of(product_of(gain, gain), opposite(product_of(loss, loss)))
    return all(is_nonnegative(p) for p in gap.terms.values())


def _utility(metric: Metric, cells: list[Polynomial], needs: Needs) -> Terms:
    """Return the utility at polynomials in the place of the cells."""
    given: list[Any] = [Terms({NO_POWERS: cell}, needs) for cell in cells]
    found: Terms = followed(formula_of(metric), given[0].like, *given)
    return found if metric.greater_is_better else opposite(found)
