"""Enclosures in boxes of confusion matrices, with their slope along a move.

The cells of a box sum to n. A linear form of them is followed exactly, and its range in
the box is that of a linear programme; everything else is an `Enclosure` by interval
arithmetic [1]_ (Lemma 1 in docs/how-it-works/bounds.md), and it is known besides where
it is a number at all.

References
----------
.. [1] R. E. Moore, R. B. Kearfott, M. J. Cloud. *Introduction to Interval Analysis.*
   SIAM, 2009.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from bestcut._errors import NotFollowedError
from bestcut._types import EPS, FloatArray
from bestcut.metrics._enclosure import Enclosure, IntervalTruth
from bestcut.metrics._following import FollowsNumPy, Truth
from bestcut.metrics._interval import ANYTHING, Interval
from bestcut.metrics._moves import Move
from bestcut.metrics._polynomial import Number, exactly

# The name under which an `Enclosure` carries its slope along the move. Second
# derivatives are only made for the directions "0" and "1".
MOVE = "a"
# A linear form of the cells: four coefficients and a constant.
Form = tuple[Number, ...]
# Rounding of a sum of five products with converted coefficients: each of the 4 + 1
# additions, the products, the conversions and the difference of two coefficients are
# off by half a unit in the last place of what is summed, which is less than 16 halves.
_SUM_ROUNDING = 8 * EPS


class Boxes:
    """Boxes of confusion matrices of n instances, and a move.

    Attributes
    ----------
    lo, hi : ndarray of shape (4, boxes)
        Smallest and largest cells.
    """

    def __init__(self, lo: FloatArray, hi: FloatArray, n: float, move: Move) -> None:
        self.lo, self.hi, self.n, self.move = lo, hi, n, move

    def range_of(self, form: Form) -> Interval:
        """Return the range of a linear form where the cells sum to n.

        A multiple of (sum of the cells - n) may be taken from the form. The best
        multiple is one of the coefficients, by duality of linear programming.
        """
        cells, constant = np.array([float(x) for x in form[:4]]), float(form[4])
        level = np.array([0.0, *cells])[:, None]
        weight = cells - level
        base = level * self.n + constant
        up, down = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
        low = up @ self.lo + down @ self.hi + base
        high = up @ self.hi + down @ self.lo + base
        whole = all(isinstance(x, int) for x in form)
        if not whole or np.sum(np.abs(cells)) * self.n + abs(constant) > 2.0**50:
            size = np.abs(cells) + np.abs(level)
            rise, fall = size * (weight > 0), size * (weight < 0)
            rest = (size * (weight == 0)) @ self.hi * (level != 0)
            rest += np.abs(level) * self.n + abs(constant)
            low -= _SUM_ROUNDING * (rise @ self.lo + fall @ self.hi + rest)
            high += _SUM_ROUNDING * (rise @ self.hi + fall @ self.lo + rest)
        return Interval(low.max(axis=0), high.min(axis=0))

    def slope_of(self, form: Form) -> Number:
        """Return by how much a linear form rises in a move."""
        return sum((x * step for x, step in zip(form, self.move, strict=False)), 0)

    def constant(self, form: Form) -> Number | None:
        """Return the value of a form that sees only n."""
        if len(set(form[:4])) > 1:
            return None
        return exactly(form[0] * Fraction(self.n) + form[4])

    def enclosure(self, form: Form) -> Enclosure:
        """Return the range and the slope of a form."""
        return Enclosure(self.range_of(form), {MOVE: _around(self.slope_of(form))})


def _around(x: Number) -> Interval:
    """Return an interval of floats that holds a fraction."""
    near = float(x)
    if Fraction(near) == x:
        return Interval(near, near)
    return Interval(math.nextafter(near, -math.inf), math.nextafter(near, math.inf))


class Traced(FollowsNumPy):
    """An `Enclosure` that knows where it is a finite number and where it is linear.

    A division by 0 or a root of a negative number makes a score that is no number, for
    which the metric has another value. An `Enclosure` does not tell.

    Attributes
    ----------
    boxes : Boxes
        Where this is.
    inner : Enclosure
        The value and its slope, meaningful where `finite`.
    finite, broken : ndarray of bool
        Whether this is finite all over the box, and whether it is nowhere finite.
    form : Form or None
        The linear form that this is where `linear`; None if it is linear nowhere.
    """

    def __init__(
        self,
        boxes: Boxes,
        inner: Enclosure,
        finite: Any = True,
        broken: Any = False,
        form: Form | None = None,
        linear: Any = False,
    ) -> None:
        self.boxes, self.broken = boxes, np.asarray(broken)
        value, slope = (_without_nan(x) for x in (inner.value, inner.slope(MOVE)))
        self.inner: Any = Enclosure(value, {MOVE: slope})
        self.finite = np.asarray(finite) & np.isfinite(value.lo) & np.isfinite(value.hi)
        self.form, self.linear = form, np.asarray(linear)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        """Do what NumPy would do, in the same boxes."""
        like = (traced(self.boxes, x) for x in inputs)
        return super().__array_ufunc__(ufunc, method, *like, **kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return _choice(*args, boxes=self.boxes)
        if function is np.all and len(args) == 1 and not kwargs:
            lo, hi = self.inner.value
            return bool(np.all(self.finite & ((lo > 0) | (hi < 0))))
        return NotImplemented


class _Condition(IntervalTruth):
    """A comparison of traced values, somewhere between two of which may be chosen."""

    boxes: Boxes

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        out = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        return _condition(self.boxes, out) if isinstance(out, Truth) else out

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return _choice(*args, boxes=self.boxes)
        return NotImplemented


def _condition(boxes: Boxes, truth: Truth) -> _Condition:
    out = _Condition(truth.surely, truth.maybe)
    out.boxes = boxes
    return out


def _without_nan(x: Interval) -> Interval:
    if np.isnan(np.sum(x.lo) + np.sum(x.hi)):
        return Interval(
            np.where(np.isnan(x.lo), -np.inf, x.lo),
            np.where(np.isnan(x.hi), np.inf, x.hi),
        )
    return x


def traced(boxes: Boxes, x: Any) -> Traced:
    """Return a number as a traced constant."""
    if isinstance(x, Traced):
        return x
    number = exactly(x)
    inner = Enclosure(_around(number), {})
    return Traced(boxes, inner, form=(0, 0, 0, 0, number), linear=True)


def _with_form(
    boxes: Boxes, form: Form, linear: Any, other: Callable[[], Traced]
) -> Traced:
    """Return what is a linear form in some boxes, and something else in others."""
    if np.all(linear):
        return Traced(boxes, boxes.enclosure(form), form=form, linear=linear)
    out = other()
    if np.any(linear):
        inner = boxes.enclosure(form)
        value = inner.value.chosen(linear, out.inner.value)
        slope = inner.slope(MOVE).chosen(linear, out.inner.slope(MOVE))
        out.inner = Enclosure(value, {MOVE: slope})
        out.finite, out.broken = out.finite | linear, out.broken & ~linear
        out.form, out.linear = form, np.asarray(linear)
    return out


def _traced_sum(x: Traced, y: Traced) -> Traced:
    def other() -> Traced:
        inner = np.add(x.inner, y.inner)
        return Traced(x.boxes, inner, x.finite & y.finite, x.broken | y.broken)

    if x.form is None or y.form is None:
        return other()
    form = tuple(a + b for a, b in zip(x.form, y.form, strict=True))
    return _with_form(x.boxes, form, x.linear & y.linear, other)


def _traced_opposite(x: Traced) -> Traced:
    form = None if x.form is None else tuple(-a for a in x.form)
    inner = np.negative(x.inner)
    return Traced(x.boxes, inner, x.finite, x.broken, form, x.linear)


def _traced_product(x: Traced, y: Traced) -> Traced:
    def other() -> Traced:
        inner = np.multiply(x.inner, x.inner if y is x else y.inner)
        return Traced(x.boxes, inner, x.finite & y.finite, x.broken | y.broken)

    for one, factor in ((x, y), (y, x)):
        number = _number(factor)
        if number is not None and one.form is not None:
            form = tuple(a * number for a in one.form)
            return _with_form(x.boxes, form, one.linear, other)
    return other()


def _number(x: Traced) -> Number | None:
    """Return what is the same number in all boxes, as a function of n is."""
    if x.form is None or not np.all(x.linear):
        return None
    return x.boxes.constant(x.form)


def _traced_quotient(x: Traced, y: Traced) -> Traced:
    number = _number(y)
    if number:
        inverse = traced(x.boxes, Fraction(1) / number)
        return _traced_product(x, inverse)
    lo, hi = y.inner.value
    apart = (lo > 0) | (hi < 0)
    by_zero = y.finite & (lo == 0) & (hi == 0)
    out = Traced(
        x.boxes,
        np.divide(x.inner, y.inner),
        x.finite & y.finite & apart,
        by_zero | (x.broken & y.finite),
    )
    if x.form is not None and y.form is not None:
        _sharpen_slope(out, x, y, apart)
    return out


def _sharpen_slope(out: Traced, x: Traced, y: Traced, apart: Any) -> None:
    """Use that the slope of a ratio of linear forms has a linear numerator."""
    assert x.form is not None
    assert y.form is not None
    rise, fall = x.boxes.slope_of(x.form), x.boxes.slope_of(y.form)
    form = tuple(rise * b - fall * a for a, b in zip(x.form, y.form, strict=True))
    divisor: Any = Enclosure(y.inner.value, {})
    square = np.reciprocal(divisor * divisor).value
    slope = _without_nan(x.boxes.range_of(form).times(square))
    old = out.inner.slope(MOVE)
    both = x.linear & y.linear & apart
    sharper = Interval(np.maximum(slope.lo, old.lo), np.minimum(slope.hi, old.hi))
    out.inner = Enclosure(out.inner.value, {MOVE: sharper.chosen(both, old)})


def _traced_root(x: Traced, p: float = 0.5) -> Traced:
    lo, hi = x.inner.value
    above = Interval(np.maximum(lo, 0.0), np.maximum(hi, 0.0))
    base: Any = Enclosure(above, x.inner.slopes)
    inner = np.power(base, p)
    return Traced(
        x.boxes, inner, x.finite & (lo >= 0), x.broken | (x.finite & (hi < 0))
    )


def _traced_growth(ufunc: np.ufunc, x: Traced) -> Traced:
    """Return a function that is finite for all numbers, if not too large."""
    return Traced(x.boxes, ufunc(x.inner), x.finite, x.broken)


def _traced_logarithm(ufunc: np.ufunc, x: Traced, least: float) -> Traced:
    """Return a function that is finite above `least`, and is no number elsewhere."""
    lo, hi = x.inner.value
    return Traced(
        x.boxes,
        ufunc(x.inner),
        x.finite & (lo > least),
        x.broken | (x.finite & (hi <= least)),
    )


def _traced_power(x: Traced, exponent: Traced) -> Traced:
    number = Fraction(_number(exponent) or 0)
    if not 0 < abs(number) <= 8:
        raise NotFollowedError
    if number < 0:
        one = traced(x.boxes, 1)
        positive = _traced_opposite(exponent)
        return _traced_quotient(one, _traced_power(x, positive))
    if number.denominator > 1:
        return _traced_root(x, float(number))
    if number == 1:
        return x
    inner = np.power(x.inner, int(number))
    return Traced(x.boxes, inner, x.finite, x.broken)


def _traced_maximum(x: Traced, y: Traced) -> Traced:
    condition = _compared(np.greater_equal, x, y)
    out = _choice(condition, x, y, boxes=x.boxes, kink=True)
    out.finite, out.broken = x.finite & y.finite, np.asarray(False)
    return out


def _traced_minimum(x: Traced, y: Traced) -> Traced:
    return _traced_opposite(_traced_maximum(_traced_opposite(x), _traced_opposite(y)))


def _compared(ufunc: np.ufunc, x: Traced, y: Traced) -> _Condition:
    gap = _traced_sum(x, _traced_opposite(y))
    truth = ufunc(gap.inner, 0.0)
    # What is no number compares as it likes.
    finite = x.finite & y.finite
    return _condition(
        x.boxes, IntervalTruth(truth.surely & finite, truth.maybe | ~finite)
    )


def _choice(
    condition: Any, x: Any, y: Any, *, boxes: Boxes, kink: bool = False
) -> Traced:
    """Choose between two; where the condition is open, the result may jump.

    At a kink, where the two meet, a difference lies between those of the two.
    """
    condition = IntervalTruth.of(condition)
    x, y = traced(boxes, x), traced(boxes, y)
    yes, no = condition.surely, ~condition.maybe

    def choose(one: Interval, other: Interval, both: Interval) -> Interval:
        return one.chosen(yes, other.chosen(no, both))

    (value, slope), (value_y, slope_y) = (
        (z.inner.value, z.inner.slope(MOVE)) for z in (x, y)
    )
    hull = value.hull(value_y)
    if kink:  # the larger of the two
        hull = Interval(np.maximum(value.lo, value_y.lo), hull.hi)
    open_slope = slope.hull(slope_y) if kink else ANYTHING
    inner = Enclosure(
        choose(value, value_y, hull), {MOVE: choose(slope, slope_y, open_slope)}
    )
    finite, broken = (
        np.where(yes, one, np.where(no, other, one & other))
        for one, other in ((x.finite, y.finite), (x.broken, y.broken))
    )
    form, linear = y.form, y.linear & no
    if form is None or not np.any(linear):
        form, linear = x.form, x.linear & yes
    return Traced(boxes, inner, finite, broken, form, linear)


_COMPARISONS = (
    np.equal,
    np.not_equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
)
Traced.rules = {
    np.add: _traced_sum,
    np.subtract: lambda x, y: _traced_sum(x, _traced_opposite(y)),
    np.negative: _traced_opposite,
    np.positive: lambda x: x,
    np.multiply: _traced_product,
    np.divide: _traced_quotient,
    np.reciprocal: lambda x: _traced_quotient(traced(x.boxes, 1), x),
    np.square: lambda x: _traced_product(x, x),
    np.sqrt: _traced_root,
    np.power: _traced_power,
    np.float_power: _traced_power,
    **{f: partial(_traced_growth, f) for f in (np.exp, np.expm1, np.tanh)},
    np.log: lambda x: _traced_logarithm(np.log, x, 0.0),
    np.log1p: lambda x: _traced_logarithm(np.log1p, x, -1.0),
    np.maximum: _traced_maximum,
    np.minimum: _traced_minimum,
    np.absolute: lambda x: _traced_maximum(x, _traced_opposite(x)),
    **{ufunc: partial(_compared, ufunc) for ufunc in _COMPARISONS},
}
