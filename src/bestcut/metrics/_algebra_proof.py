"""Proofs by algebra that a move never lowers a metric, whatever n is.

The formula is followed with `Terms`. Where its slope along the move has no negative
coefficient, it never falls. Where the formula changes its case because a class is
empty, the difference of both utilities is looked at instead. This is the condition of
Lemma 4 in docs/how-it-works/lemmas.md, the paper's Main Result 1, without any rounding.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

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
from bestcut.metrics._base import FractionalLinearMetric, Metric
from bestcut.metrics._following import followed, formula_of
from bestcut.metrics._moves import KINDS, LESS_TP, MORE_TP, Kind, Move, least_cells
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
    if _known_by_coefficients(metric, move):
        return ()
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


def _known_by_coefficients(metric: Metric, move: Move) -> bool:
    """Say whether the coefficients of a fraction prove it, for a move in TP alone."""
    if not isinstance(metric, FractionalLinearMetric):
        return False
    if (move,) not in (MORE_TP, LESS_TP):
        return False
    slope = slope_by_coefficients(metric)
    if slope is None:
        return False
    return slope.independent or (slope.increasing and (move,) == MORE_TP)


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


class SlopeInTP(NamedTuple):
    """The sign of the slope in TP of a fraction's utility: that of A + B v + C p.

    Attributes
    ----------
    coefficients : tuple of Fraction
        A, B and C, exactly.
    worst : tuple of int
        The corner (v, p) of the unit square at which the sum is smallest.
    increasing, nondecreasing, independent : bool
        Whether it is so for every n.
    """

    coefficients: tuple[Fraction, Fraction, Fraction]
    worst: tuple[int, int]
    increasing: bool
    nondecreasing: bool
    independent: bool


def slope_by_coefficients(metric: FractionalLinearMetric) -> SlopeInTP | None:
    """Decide a fractional-linear metric for every n, or return None.

    With N and D the numerator and denominator, dPhi/du has the sign of
    c1 D - d1 N, in which u cancels: A + B v + C p. (The paper asks for c1 > d1, which
    is neither enough nor needed.) It is non-negative at every (v, p) inside
    the unit square exactly if it is at the four corners.

    None is returned where a denominator that depends on TP vanishes at a confusion
    matrix whose TP could still change: a lattice has to say what happens there.
    """
    c, d = ([Fraction(x) for x in part] for part in metric.coefficients())
    # D at the four pure confusion matrices; it is linear, so these are its extremes.
    at_tn, at_fp, at_fn, at_tp = d[0], d[0] + d[2], d[0] + d[3], sum(d)
    vertices = (at_tn, at_fp, at_fn, at_tp)
    sign_changes = min(vertices) < 0 < max(vertices)
    # (v, p) inside the square reach D = 0 only through these two edges.
    touches = at_fp == at_fn == 0 or at_tp == at_tn == 0
    if d[1] != 0 and (sign_changes or touches):
        return None
    sign = int(metric.sign)  # fractions stay exact
    a, b, c_ = (sign * (c[1] * d[i] - d[1] * c[i]) for i in (0, 2, 3))
    corners = {(v, p): a + b * v + c_ * p for v, p in product((0, 1), repeat=2)}
    worst = min(corners, key=lambda at: corners[at])
    independent = not any(corners.values())
    increasing = corners[worst] >= 0 and not independent
    nondecreasing = increasing or independent
    return SlopeInTP((a, b, c_), worst, increasing, nondecreasing, independent)
