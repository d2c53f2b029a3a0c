"""Bounds on a metric at complex counts, from its own formula.

A rule with few nodes stands for a distribution as well as polynomials stand for the
metric, and how well they do follows from the size of the metric in the complex plane
(Lemma 6 in docs/how-it-works/lemmas.md). A `Disc` goes through a metric's formula in
the place of an array: every operation returns a disc that holds all results [1]_, and
what is of first order in the unknowns that the counts share is kept apart, so that it
can cancel [2]_. A formula that may have a pole, a branch point, a kink or a step inside
a disc has no bound there: the radius is infinite.

Choices are made by the real part. The discs that cover a connected set cannot all be
sure of a choice and differ in it, so a formula that is bounded on all of them is one
analytic function on their union.

References
----------
.. [1] I. Gargantini, P. Henrici. Circular arithmetic and the determination of
   polynomial zeros. *Numerische Mathematik* 18, 1972.
.. [2] J. Stolfi, L. H. de Figueiredo. *Self-Validated Numerical Methods and
   Applications.* IMPA, 1997.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestcut._errors import NotFollowedError
from bestcut._types import EPS, FloatArray
from bestcut.metrics._base import Affine, Metric
from bestcut.metrics._following import (
    FollowsNumPy,
    Operations,
    Truth,
    followed,
    formula_of,
)

_ROUNDING = 16.0 * EPS  # more than a few operations on complex numbers round
_WHOLE_POWERS = 64  # that are multiplied out
_NONE = (0.0, 0.0)


class Disc(FollowsNumPy):
    """Complex numbers ``centre + first u + second v + rest``, elementwise.

    u and v are any complex numbers of at most the absolute values `spans`, the same for
    all discs of a formula, and the rest is at most `radius`. So what a formula adds and
    takes away again leaves no trace: TP + FP is the number of predicted positives, not
    a sum of two unknowns.
    """

    def __init__(
        self,
        centre: Any,
        radius: Any,
        first: Any = 0.0,
        second: Any = 0.0,
        spans: tuple[Any, Any] = _NONE,
    ) -> None:
        self.centre, self.radius = centre, radius
        self.first, self.second, self.spans = first, second, spans

    @classmethod
    def between(cls, low: Any, high: Any) -> Disc:
        """Return the disc over a real interval."""
        return cls((low + high) / 2, (high - low) / 2 * (1 + EPS))

    @property
    def reach(self) -> Any:
        """How far from the centre the numbers are at most."""
        known = np.abs(self.first) * self.spans[0] + np.abs(self.second) * self.spans[1]
        return known + self.radius

    def largest(self) -> FloatArray:
        """Return a bound on the absolute value; infinite where there is none."""
        size = np.abs(self.centre) + self.reach
        return np.where(np.isnan(size), np.inf, size)


class DiscTruth(Truth):
    """Whether something surely holds on a disc, and whether it may hold."""


def _of(x: Any) -> Disc:
    if isinstance(x, Disc):
        return x
    if isinstance(x, Truth):  # 1 where it holds, 0 where not
        unsure = x.maybe & ~x.surely
        return Disc(np.where(x.surely, 1.0, 0.0), np.where(unsure, np.inf, 0.0))
    return Disc(np.asarray(x, dtype=np.float64), 0.0)


def _spans(x: Disc, y: Disc) -> tuple[Any, Any]:
    """Return the spans that two discs share; a number has none."""
    return x.spans if x.spans is not _NONE else y.spans


def _rounded(centre: Any, radius: Any, first: Any, second: Any, spans: Any) -> Disc:
    out = Disc(centre, radius, first, second, spans)
    room = _ROUNDING * (np.abs(centre) + out.reach)
    out.radius = radius + room
    return out


def _add(x: Any, y: Any) -> Disc:
    x, y = _of(x), _of(y)
    return _rounded(
        x.centre + y.centre,
        x.radius + y.radius,
        x.first + y.first,
        x.second + y.second,
        _spans(x, y),
    )


def _negative(x: Any) -> Disc:
    x = _of(x)
    return Disc(-x.centre, x.radius, -x.first, -x.second, x.spans)


def _subtract(x: Any, y: Any) -> Disc:
    return _add(x, _negative(y))


def _multiply(x: Any, y: Any) -> Disc:
    x, y = _of(x), _of(y)
    rest = np.abs(x.centre) * y.radius + np.abs(y.centre) * x.radius
    return _rounded(
        x.centre * y.centre,
        rest + x.reach * y.reach,
        x.centre * y.first + y.centre * x.first,
        x.centre * y.second + y.centre * x.second,
        _spans(x, y),
    )


def _through(x: Disc, value: Any, slope: Any, bend: Any, bad: Any) -> Disc:
    """Return phi(x) from phi and phi' at the centre, and what these leave.

    Without a bound where something is bad.
    """
    slope = np.where(bad, 0.0, slope)
    rest = np.where(bad, np.inf, np.abs(slope) * x.radius + bend)
    value = np.where(bad, 0.0, value)
    return _rounded(value, rest, slope * x.first, slope * x.second, x.spans)


def _reciprocal(x: Any) -> Disc:
    """1 / (c (1 + w)) = (1 - w + w² / (1 + w)) / c for |w| <= t < 1."""
    x = _of(x)
    bad = ~(x.reach < np.abs(x.centre) * (1.0 - _ROUNDING))
    centre = np.where(bad, 1.0, x.centre)
    t = np.where(bad, 0.0, x.reach / np.abs(centre))
    one = 1.0 / centre
    return _through(x, one, -one * one, np.abs(one) * t * t / (1.0 - t), bad)


def _divide(x: Any, y: Any) -> Disc:
    return _multiply(x, _reciprocal(y))


def _off_the_cut(x: Disc) -> Any:
    """Return whether a disc keeps clear of 0 and of the negative numbers."""
    aside = np.where(
        np.real(x.centre) >= 0, np.abs(x.centre), np.abs(np.imag(x.centre))
    )
    return x.reach < aside * (1.0 - _ROUNDING)


def _power(x: Any, p: Any) -> Disc:
    """Return x^p for a number p.

    With x = c (1 + w), |w| <= t < 1, the binomial series of (1 + w)^p - 1 - p w has
    coefficients of one sign in -w for p below 1, so that it is at most its value at
    -t. Whole parts of larger powers are multiplied.
    """
    x = _of(x)
    if isinstance(p, Disc) or np.ndim(p) or not np.isfinite(p):
        raise NotFollowedError
    p = float(p)
    if p == -1.0:
        return _reciprocal(x)
    if p < 0 and p == int(p):
        return _reciprocal(_power(x, -p))
    whole = int(np.floor(p)) if p > 0 else 0
    if whole > _WHOLE_POWERS:
        raise NotFollowedError
    out = _of(1.0)
    for _ in range(whole):
        out = _multiply(out, x)
    part = p - whole
    if part == 0.0:
        return out
    nothing = (x.centre == 0) & (x.reach == 0) & (part > 0)
    bad = ~_off_the_cut(x) & ~nothing
    centre = np.where(bad | nothing, 1.0, x.centre) + 0.0j
    t = np.where(bad | nothing, 0.0, x.reach / np.abs(centre))
    root = np.where(nothing, 0.0, centre**part)
    bend = np.abs(root) * np.abs((1.0 - t) ** part - 1.0 + part * t)
    return _multiply(out, _through(x, root, part * root / centre, bend, bad))


def _exp(x: Any) -> Disc:
    """exp(c + w) = exp(c) (1 + w + rest), the rest being at most exp(t) - 1 - t."""
    x = _of(x)
    value, t = np.exp(x.centre), x.reach
    bend = np.abs(value) * np.maximum(np.expm1(t) - t, t * t / 2)
    return _through(x, value, value, bend, ~np.isfinite(bend))


def _log(x: Any) -> Disc:
    """log(c (1 + w)) = log c + w + rest, the rest being at most -log(1 - t) - t."""
    x = _of(x)
    bad = ~_off_the_cut(x)
    centre = np.where(bad, 1.0, x.centre) + 0.0j
    t = np.where(bad, 0.0, x.reach / np.abs(centre))
    bend = np.maximum(-np.log1p(-t) - t, t * t / 2)
    return _through(x, np.log(centre), 1.0 / centre, bend, bad)


def _expm1(x: Any) -> Disc:
    return _subtract(_exp(x), 1.0)


def _log1p(x: Any) -> Disc:
    return _log(_add(x, 1.0))


def _tanh(x: Any) -> Disc:
    """1 - 2 / (1 + exp(2 y)), where y is x or -x, so that nothing is large."""
    x = _of(x)
    sign = np.where(np.real(x.centre) > 0, -1.0, 1.0)
    growth = _exp(_multiply(2.0 * sign, x))
    share = _multiply(2.0, _reciprocal(_add(growth, 1.0)))
    return _multiply(sign, _subtract(1.0, share))


def _compare(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the least and the largest real part of x - y."""
    apart = _subtract(x, y)
    middle = np.real(apart.centre)
    return middle - apart.reach, middle + apart.reach


def _greater_equal(x: Any, y: Any) -> DiscTruth:
    low, high = _compare(x, y)
    return DiscTruth(low >= 0, high >= 0)


def _greater(x: Any, y: Any) -> DiscTruth:
    low, high = _compare(x, y)
    return DiscTruth(low > 0, high > 0)


def _equal(x: Any, y: Any) -> DiscTruth:
    apart = _subtract(x, y)
    maybe = ~(np.abs(apart.centre) > apart.reach)
    return DiscTruth((apart.centre == 0) & (apart.reach == 0), maybe)


def _where(condition: Any, x: Any, y: Any) -> Disc:
    """Choose; a disc on both sides has no bound."""
    condition, x, y = DiscTruth.of(condition), _of(x), _of(y)
    unsure = condition.maybe & ~condition.surely
    centre, radius, first, second = (
        np.where(condition.surely, a, b)
        for a, b in (
            (x.centre, y.centre),
            (x.radius, y.radius),
            (x.first, y.first),
            (x.second, y.second),
        )
    )
    radius = np.where(unsure, np.inf, radius)
    return Disc(centre, radius, first, second, _spans(x, y))


def _larger(x: Any, y: Any) -> Disc:
    return _where(_greater_equal(x, y), x, y)


def _smaller(x: Any, y: Any) -> Disc:
    return _where(_greater_equal(x, y), y, x)


Disc.rules = DiscTruth.rules = Operations(
    truth=DiscTruth,
    of=_of,
    add=_add,
    negative=_negative,
    multiply=_multiply,
    divide=_divide,
    reciprocal=_reciprocal,
    power=_power,
    exp=_exp,
    log=_log,
    expm1=_expm1,
    log1p=_log1p,
    tanh=_tanh,
    larger=_larger,
    smaller=_smaller,
    equal=_equal,
    greater=_greater,
    greater_equal=_greater_equal,
    where=_where,
).rules()


def size_at_cells(
    metric: Metric, tp: Disc, fp: Disc, fn: Disc, tn: Disc
) -> FloatArray | None:
    """Bound the absolute score on discs of cells; None if it cannot be followed."""
    return _size(formula_of(metric), tp, fp, fn, tn)


def is_followed(metric: Metric) -> bool:
    """Return whether a metric's formula takes discs in the place of arrays."""
    cell = Disc(np.full(1, 2.0), 0.5)
    return size_at_cells(metric, cell, cell, cell, cell) is not None


def size_at_counts(
    metric: Affine, tp: Disc, n_pred: Disc, n_pos: Disc, n: float
) -> FloatArray | None:
    """Bound the absolute score on discs of counts; None if it cannot be followed."""
    return _size(metric.score, tp, n_pred, n_pos, n)


def _size(score: Callable[..., Any], *counts: Any) -> FloatArray | None:
    try:
        with np.errstate(all="ignore"):
            size: FloatArray = followed(score, lambda x: _of(x).largest(), *counts)
            return size
    except NotFollowedError:
        return None
