"""Proved bounds on a metric's values and derivatives over boxes of counts.

A metric is a formula, and a formula can be evaluated on intervals: every operation is
replaced by one that returns an interval holding all results. An `Enclosure` carries an
interval for the value and for the derivatives that a search needs, and goes
through a metric's own code, a callable of the user's included, by NumPy's protocols. A
formula that does something else than arithmetic, roots, powers, minima, maxima,
absolute values and choices is not followed, and nothing is claimed about it.

Derivatives are along four directions, all with n fixed:

- ``0``: one more instance is predicted positive, a negative one (n_pred + 1);
- ``1``: one more instance is predicted positive, a positive one (tp + 1, n_pred + 1);
- ``a``: a predicted positive turns positive (tp + 1, n_pos + 1);
- ``b``: a predicted negative turns positive (n_pos + 1);

and the second derivatives ``00``, ``01``, ``11``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bestcut._validation import FloatArray
from bestcut.metrics._base import Metric, confusion_from_counts
from bestcut.metrics._families import CustomMetric

FIRST = ("0", "1", "a", "b")
SECOND = ("00", "01", "11")
_PAIRS = (("0", "0"), ("0", "1"), ("1", "1"))


class Interval(NamedTuple):
    """All numbers from lo to hi, elementwise."""

    lo: Any
    hi: Any

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def plus(self, other: Interval) -> Interval:
        """Return the interval of sums."""
        return Interval(self.lo + other.lo, self.hi + other.hi)

    def times(self, other: Interval) -> Interval:
        """Return the interval of products; 0 times infinity is 0 here."""
        ends = [x * y for x in self for y in other]
        if any(np.isnan(np.sum(end)) for end in ends):
            ends = [np.where(np.isnan(end), 0.0, end) for end in ends]
        low = np.minimum(np.minimum(ends[0], ends[1]), np.minimum(ends[2], ends[3]))
        high = np.maximum(np.maximum(ends[0], ends[1]), np.maximum(ends[2], ends[3]))
        return Interval(low, high)

    def hull(self, other: Interval) -> Interval:
        """Return the smallest interval that holds both."""
        return Interval(np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi))

    def chosen(self, condition: Any, other: Interval) -> Interval:
        """Return this where the condition holds and `other` elsewhere."""
        return Interval(
            np.where(condition, self.lo, other.lo),
            np.where(condition, self.hi, other.hi),
        )


ANYTHING = Interval(-np.inf, np.inf)
_ZERO = Interval(0.0, 0.0)


class _FollowsNumPy(np.lib.mixins.NDArrayOperatorsMixin):
    """What goes through a formula in the place of an array."""

    def __bool__(self) -> bool:
        """Refuse: a formula that branches on it cannot be followed."""
        raise TypeError

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        """Do what NumPy would do, on intervals."""
        rule = _UFUNCS.get(ufunc)
        if rule is None or method != "__call__" or kwargs:
            return NotImplemented
        return rule(*inputs)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        """Choose, or look at all, as NumPy would do."""
        if function is np.where and len(args) == 3 and not kwargs:
            return _where(*args)
        if function is np.all and len(args) == 1 and not kwargs:
            return bool(np.all(~_equal(args[0], 0.0).maybe))
        return NotImplemented


class Truth(_FollowsNumPy):
    """Whether something holds everywhere in a box, and whether it may hold."""

    def __init__(self, surely: Any, maybe: Any) -> None:
        self.surely, self.maybe = np.asarray(surely), np.asarray(maybe)


class Enclosure(_FollowsNumPy):
    """A value and its derivatives, each somewhere in an interval.

    Derivatives that are 0 are left out of `slopes`.
    """

    def __init__(self, value: Interval, slopes: dict[str, Interval]) -> None:
        self.value, self.slopes = value, slopes

    def slope(self, direction: str) -> Interval:
        """Return the interval of a derivative."""
        return self.slopes.get(direction, _ZERO)


def _of(x: Any) -> Enclosure:
    if isinstance(x, Enclosure):
        return x
    if isinstance(x, Truth):
        raise TypeError
    number = np.asarray(x, dtype=np.float64)
    return Enclosure(Interval(number, number), {})


def _combined(*terms: tuple[dict[str, Interval], Interval | None]) -> dict[str, Any]:
    """Return the sum of some derivatives, each times a factor if there is one."""
    out: dict[str, Interval] = {}
    for slopes, factor in terms:
        for direction, slope in slopes.items():
            term = slope if factor is None else slope.times(factor)
            out[direction] = out[direction].plus(term) if direction in out else term
    return out


def _add(x: Any, y: Any) -> Enclosure:
    x, y = _of(x), _of(y)
    return Enclosure(
        x.value.plus(y.value), _combined((x.slopes, None), (y.slopes, None))
    )


def _negative(x: Any) -> Enclosure:
    x = _of(x)
    return Enclosure(-x.value, {name: -slope for name, slope in x.slopes.items()})


def _subtract(x: Any, y: Any) -> Enclosure:
    return _add(x, _negative(y))


def _mixed(x: Enclosure, y: Enclosure) -> dict[str, Interval]:
    """Return x_i y_j + x_j y_i for every pair of the directions 0 and 1."""
    out = {}
    for i, j in _PAIRS:
        pairs = [
            x.slopes[k].times(y.slopes[m])
            for k, m in ((i, j), (j, i))
            if k in x.slopes and m in y.slopes
        ]
        if pairs:
            out[i + j] = pairs[0] if len(pairs) == 1 else pairs[0].plus(pairs[1])
    return out


def _multiply(x: Any, y: Any) -> Enclosure:
    x, y = _of(x), _of(y)
    slopes = _combined((x.slopes, y.value), (y.slopes, x.value), (_mixed(x, y), None))
    value = x.value.times(y.value)
    if x is y:
        value = Interval(np.maximum(value.lo, 0.0), value.hi)
    return Enclosure(value, slopes)


def _through(
    x: Enclosure, value: Interval, slope: Interval, bend: Interval
) -> Enclosure:
    """Return phi(x) from what phi, phi' and phi'' are on the interval of x."""
    half = Interval(0.5, 0.5)  # _mixed counts x_i x_j twice
    mixed = _combined((_mixed(x, x), half))
    return Enclosure(value, _combined((x.slopes, slope), (mixed, bend)))


def _reciprocal(x: Any) -> Enclosure:
    x = _of(x)
    lo, hi = x.value
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, last = 1.0 / lo, 1.0 / hi
        crossed = ~((lo > 0) | (hi < 0))
        value, slope, bend = (
            ANYTHING.chosen(crossed, _sorted_ends(c * first**p, c * last**p))
            for c, p in ((1.0, 1), (-1.0, 2), (2.0, 3))
        )
    return _through(x, value, slope, bend)


def _sorted_ends(x: Any, y: Any) -> Interval:
    return Interval(np.minimum(x, y), np.maximum(x, y))


def _divide(x: Any, y: Any) -> Enclosure:
    return _multiply(x, _reciprocal(y))


def _raised(x: Enclosure, p: float) -> Enclosure:
    """Return x^p for an x that is nowhere negative, whatever its interval says."""
    lo, hi = np.maximum(x.value.lo, 0.0), np.maximum(x.value.hi, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value, slope, bend = (
            _sorted_ends(c * lo**q, c * hi**q) if c else _ZERO
            for c, q in ((1.0, p), (p, p - 1), (p * (p - 1), p - 2))
        )
    return _through(x, value, slope, bend)


def _sqrt(x: Any) -> Enclosure:
    return _raised(_of(x), 0.5)


def _power(x: Any, p: Any) -> Enclosure:
    x = _of(x)
    if isinstance(p, Enclosure) or np.ndim(p) or not np.isfinite(p):
        raise TypeError
    p = float(p)
    if p == int(p) and 1 <= p <= 8:
        out: Enclosure = x
        for _ in range(int(p) - 1):
            out = _multiply(out, x)
        return out
    if np.any(x.value.lo < 0):
        raise TypeError
    return _raised(x, p)


def _larger(x: Any, y: Any) -> Enclosure:
    x, y = _of(x), _of(y)
    return _where(_greater_equal(x, y), x, y, kink=True)


def _smaller(x: Any, y: Any) -> Enclosure:
    return _negative(_larger(_negative(x), _negative(y)))


def _absolute(x: Any) -> Enclosure:
    return _larger(x, _negative(x))


def _greater_equal(x: Any, y: Any) -> Truth:
    lo, hi = _subtract(x, y).value
    return Truth(lo >= 0, hi >= 0)


def _greater(x: Any, y: Any) -> Truth:
    lo, hi = _subtract(x, y).value
    return Truth(lo > 0, hi > 0)


def _equal(x: Any, y: Any) -> Truth:
    lo, hi = _subtract(x, y).value
    return Truth((lo == 0) & (hi == 0), (lo <= 0) & (hi >= 0))


def _truth(x: Any) -> Truth:
    return x if isinstance(x, Truth) else Truth(*2 * (np.asarray(x, dtype=np.bool_),))


def _and(x: Any, y: Any) -> Truth:
    x, y = _truth(x), _truth(y)
    return Truth(x.surely & y.surely, x.maybe & y.maybe)


def _not(x: Any) -> Truth:
    return Truth(~_truth(x).maybe, ~_truth(x).surely)


def _or(x: Any, y: Any) -> Truth:
    return _not(_and(_not(x), _not(y)))


def _where(condition: Any, x: Any, y: Any, *, kink: bool = False) -> Enclosure:
    """Choose; where the box is on both sides, a jump or at best a kink is inside."""
    condition, x, y = _truth(condition), _of(x), _of(y)
    yes, no = condition.surely, ~condition.maybe

    def choose(one: Interval, other: Interval, both: Interval) -> Interval:
        return one.chosen(yes, other.chosen(no, both))

    value = choose(x.value, y.value, x.value.hull(y.value))
    if kink:  # the maximum of the two
        value = Interval(np.maximum(x.value.lo, y.value.lo), value.hi)
    slopes = {}
    for name in x.slopes.keys() | y.slopes.keys() | {*FIRST, *SECOND}:
        one, other = x.slope(name), y.slope(name)
        gradual = kink and name in FIRST
        slopes[name] = choose(one, other, one.hull(other) if gradual else ANYTHING)
    return Enclosure(value, slopes)


_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: _add,
    np.subtract: _subtract,
    np.multiply: _multiply,
    np.divide: _divide,
    np.negative: _negative,
    np.positive: _of,
    np.sqrt: _sqrt,
    np.square: lambda x: _multiply(x, x),
    np.reciprocal: _reciprocal,
    np.power: _power,
    np.float_power: _power,
    np.maximum: _larger,
    np.fmax: _larger,
    np.minimum: _smaller,
    np.fmin: _smaller,
    np.absolute: _absolute,
    np.equal: _equal,
    np.not_equal: lambda x, y: _not(_equal(x, y)),
    np.greater_equal: _greater_equal,
    np.greater: _greater,
    np.less_equal: lambda x, y: _greater_equal(y, x),
    np.less: lambda x, y: _greater(y, x),
    np.bitwise_and: _and,
    np.logical_and: _and,
    np.bitwise_or: _or,
    np.logical_or: _or,
    np.invert: _not,
    np.logical_not: _not,
}


class Box(NamedTuple):
    """Intervals for the counts and for the cells of a confusion matrix.

    Neither follows from the other without getting wider.
    """

    tp: Interval
    n_pred: Interval
    n_pos: Interval
    fp: Interval
    fn: Interval
    tn: Interval


def enclosed(metric: Metric, box: Box, n: float) -> Enclosure | None:
    """Return bounds on a metric over boxes of counts; None if it cannot be followed."""
    found = _followed(_through_counts, metric, box, n)
    if found is not None and not _is_bounded(found):
        other = _followed(_through_cells, metric, box, n)
        if other is not None:
            found = _both(found, other)
    return found


def _followed(
    way: Callable[..., Any], metric: Metric, box: Box, n: float
) -> Enclosure | None:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return _of(way(metric, box, n))
    except Exception:  # whatever a callable makes of an unknown type
        return None


def _through_counts(metric: Metric, box: Box, n: float) -> Any:
    one = Interval(1.0, 1.0)
    counts = (
        Enclosure(box.tp, {"1": one, "a": one}),
        Enclosure(box.n_pred, {"0": one, "1": one}),
        Enclosure(box.n_pos, {"a": one, "b": one}),
    )
    if isinstance(metric, CustomMetric):
        cells: Any = confusion_from_counts(*counts, n)
        return metric.unchecked(*cells)
    return metric.score(*counts, n)


def _through_cells(metric: Metric, box: Box, n: float) -> Any:
    one = Interval(1.0, 1.0)
    cells: Any = (
        Enclosure(box.tp, {"1": one, "a": one}),
        Enclosure(box.fp, {"0": one, "a": -one}),
        Enclosure(box.fn, {"1": -one, "b": one}),
        Enclosure(box.tn, {"0": -one, "b": -one}),
    )
    if isinstance(metric, CustomMetric):
        return metric.unchecked(*cells)
    return metric.score_cells(*cells)


def _intervals(found: Enclosure) -> list[Interval]:
    return [found.value, *found.slopes.values()]


def _is_bounded(found: Enclosure) -> bool:
    ends = [end for interval in _intervals(found) for end in interval]
    return all(bool(np.all(np.isfinite(end))) for end in ends)


def _both(one: Enclosure, other: Enclosure) -> Enclosure:
    """Return what lies in both, as everything does."""

    def common(x: Interval, y: Interval) -> Interval:
        return Interval(np.fmax(x.lo, y.lo), np.fmin(x.hi, y.hi))

    names = one.slopes.keys() & other.slopes.keys()
    slopes = {name: common(one.slopes[name], other.slopes[name]) for name in names}
    return Enclosure(common(one.value, other.value), slopes)


def spread(interval: Interval, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return both ends in full, with what is not a number as no bound at all."""
    lo, hi = (np.array(np.broadcast_to(x, shape), dtype=np.float64) for x in interval)
    lo[np.isnan(lo)], hi[np.isnan(hi)] = -np.inf, np.inf
    return lo, hi
