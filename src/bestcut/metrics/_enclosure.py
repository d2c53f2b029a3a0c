"""Proved bounds on a metric's values and derivatives over boxes of counts.

A metric is a formula, and a formula can be evaluated on intervals: every operation is
replaced by one that returns an interval holding all results. An `Enclosure` carries an
interval for the value and for the derivatives that a search needs, and goes
through a metric's own code, a callable of the user's included, by NumPy's protocols. A
formula that does something else than arithmetic, roots, powers, minima, maxima,
absolute values and choices is not followed, and nothing is claimed about it. Every
operation rounds outwards (Lemma 1 in docs/bounds.md).

Derivatives are along four directions, all with n fixed:

- ``0``: one more instance is predicted positive, a negative one (n_pred + 1);
- ``1``: one more instance is predicted positive, a positive one (tp + 1, n_pred + 1);
- ``a``: a predicted positive turns positive (tp + 1, n_pos + 1);
- ``b``: a predicted negative turns positive (n_pos + 1);

and the second derivatives ``00``, ``01``, ``11``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from bestcut._types import EPS, FloatArray
from bestcut.metrics._base import Metric
from bestcut.metrics._families import CustomMetric

FIRST = ("0", "1", "a", "b")
SECOND = ("00", "01", "11")
_WHOLE_POWERS = 16  # that are multiplied out
_PAIRS = (("0", "0"), ("0", "1"), ("1", "1"))


class Interval(NamedTuple):
    """All numbers from lo to hi, elementwise."""

    lo: Any
    hi: Any

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def plus(self, other: Interval) -> Interval:
        """Return the interval of sums."""
        return _outward(self.lo + other.lo, self.hi + other.hi)

    def times(self, other: Interval) -> Interval:
        """Return the interval of products; 0 times infinity is 0 here."""
        positive = bool(np.all(self.lo >= 0)), bool(np.all(other.lo >= 0))
        if all(positive):
            # What is no number is 0 times infinity; `fmax` takes the 0.
            low = np.fmax(self.lo * other.lo, 0.0)
            high = np.fmax(self.hi * other.hi, 0.0)
        elif positive[0]:
            low = _unless_empty(np.where(other.lo >= 0, self.lo, self.hi) * other.lo)
            high = _unless_empty(np.where(other.hi >= 0, self.hi, self.lo) * other.hi)
        elif positive[1]:
            return other.times(self)
        else:
            ends = [_unless_empty(x * y) for x in self for y in other]
            low = np.minimum(np.minimum(ends[0], ends[1]), np.minimum(ends[2], ends[3]))
            high = np.maximum(
                np.maximum(ends[0], ends[1]), np.maximum(ends[2], ends[3])
            )
        return _outward(low, high)

    def hull(self, other: Interval) -> Interval:
        """Return the smallest interval that holds both."""
        return Interval(np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi))

    def chosen(self, condition: Any, other: Interval) -> Interval:
        """Return this where the condition holds and `other` elsewhere."""
        return Interval(
            np.where(condition, self.lo, other.lo),
            np.where(condition, self.hi, other.hi),
        )


def _outward(low: Any, high: Any, units: float = 1.0) -> Interval:
    """Return the interval with room for the rounding of its ends.

    An operation is off by half a unit in the last place, and one unit is at most EPS
    of the number. A result of 0 is exact, short of underflow.
    """
    room = units * EPS
    # Infinite ends of the wrong sign make no numbers: these are no bounds.
    return Interval(
        np.fmax(low - room * np.abs(low), -np.inf),
        np.fmin(high + room * np.abs(high), np.inf),
    )


def _unless_empty(x: Any) -> Any:
    """Return products with 0 in the place of 0 times infinity."""
    empty = np.isnan(x)
    return np.where(empty, 0.0, x) if empty.any() else x


ANYTHING = Interval(-np.inf, np.inf)
_ZERO = Interval(0.0, 0.0)


class FollowsNumPy(np.lib.mixins.NDArrayOperatorsMixin):
    """What goes through a formula in the place of an array.

    `rules` says what stands for each function of NumPy.
    """

    rules: dict[Any, Callable[..., Any]]

    def __bool__(self) -> bool:
        """Refuse: a formula that branches on it cannot be followed."""
        raise TypeError

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        """Do what NumPy would do, on intervals."""
        rule = self.rules.get(ufunc)
        if rule is None or method != "__call__" or kwargs:
            return NotImplemented
        return rule(*inputs)

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        """Choose, or look at all, as NumPy would do."""
        rule = self.rules.get(function)
        if rule is None or kwargs:
            return NotImplemented
        return rule(*args)


class Truth(FollowsNumPy):
    """Whether something holds everywhere in a box, and whether it may hold."""

    def __init__(self, surely: Any, maybe: Any) -> None:
        self.surely, self.maybe = np.asarray(surely), np.asarray(maybe)


# Coefficients of tp, n_pred, n_pos and n.
Form = tuple[int, int, int, int]
_TP, _N_PRED, _N_POS, _N = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
_FP, _FN, _TN = (-1, 1, 0, 0), (-1, 0, 1, 0), (1, -1, -1, 1)


class Enclosure(FollowsNumPy):
    """A value and its derivatives, each somewhere in an interval.

    Derivatives that are 0 are left out of `slopes`. A sum or difference of counts knows
    its `form`, and what is `known` of such forms: so TP + FP is the number of predicted
    positives again, and not a sum of two unknowns.
    """

    def __init__(
        self,
        value: Interval,
        slopes: dict[str, Interval],
        form: Form | None = None,
        known: dict[Form, Interval] | None = None,
    ) -> None:
        self.value, self.slopes = value, slopes
        self.form, self.known = form, known

    def slope(self, direction: str) -> Interval:
        """Return the interval of a derivative."""
        return self.slopes.get(direction, _ZERO)


def _of(x: Any) -> Enclosure:
    if isinstance(x, Enclosure):
        return x
    if isinstance(x, Truth):  # 1 where it holds, 0 where not
        unsure = x.maybe & ~x.surely
        value = Interval(x.surely.astype(np.float64), x.maybe.astype(np.float64))
        jump = ANYTHING.chosen(unsure, _ZERO)
        return Enclosure(value, dict.fromkeys((*FIRST, *SECOND), jump))
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
    value = x.value.plus(y.value)
    slopes = _combined((x.slopes, None), (y.slopes, None))
    if x.form is None or y.form is None:
        return Enclosure(value, slopes)
    form = tuple(a + b for a, b in zip(x.form, y.form, strict=True))
    return Enclosure(x.known.get(form, value), slopes, form, x.known)


def _negative(x: Any) -> Enclosure:
    x = _of(x)
    form = None if x.form is None else tuple(-a for a in x.form)
    slopes = {name: -slope for name, slope in x.slopes.items()}
    return Enclosure(-x.value, slopes, form, x.known)


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


class _Risks(NamedTuple):
    """Where a formula is no number surely, or perhaps, as masks over the boxes."""

    surely: list[Any]
    maybe: list[Any]


# Of what is followed now, in this thread; None where the metric itself sees to it that
# nothing is divided by 0.
_RISKS: ContextVar[_Risks | None] = ContextVar("risks", default=None)


def _note_risk(surely: Any, maybe: Any) -> None:
    risks = _RISKS.get()
    if risks is not None:
        risks.surely.append(surely)
        risks.maybe.append(maybe)


def _reciprocal(x: Any) -> Enclosure:
    x = _of(x)
    lo, hi = x.value
    _note_risk((lo == 0) & (hi == 0), (lo <= 0) & (hi >= 0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, last = 1.0 / lo, 1.0 / hi
        crossed = ~((lo > 0) | (hi < 0))
        value, slope, bend = (
            ANYTHING.chosen(crossed, _sorted_ends(c * first**p, c * last**p))
            for c, p in ((1.0, 1), (-1.0, 2), (2.0, 3))
        )
    return _through(x, value, slope, bend)


def _sorted_ends(x: Any, y: Any, units: float = 4.0) -> Interval:
    """Return the interval between two computed values, good to so many units."""
    return _outward(np.minimum(x, y), np.maximum(x, y), units)


def _divide(x: Any, y: Any) -> Enclosure:
    """Return r = x / y, with r' = (x' - r y') / y.

    So r, of which more may be known than its two parts tell, stands for both of them.
    """
    x, y = _of(x), _of(y)
    lo, hi = y.value
    _note_risk((lo == 0) & (hi == 0), (lo <= 0) & (hi >= 0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = _sorted_ends(1.0 / lo, 1.0 / hi)
    inverse = ANYTHING.chosen(~((lo > 0) | (hi < 0)), inverse)
    value = _as_share(x, y, x.value.times(inverse))
    rising = _combined((x.slopes, None), (_negative(y).slopes, value))
    slopes = {i: rising[i].times(inverse) for i in FIRST if i in rising}
    twice = _mixed(Enclosure(value, slopes), _negative(y))
    bends = _combined(
        ({i: rising[i] for i in SECOND if i in rising}, None), (twice, None)
    )
    return Enclosure(value, slopes | _combined((bends, inverse)))


def _as_share(x: Enclosure, y: Enclosure, value: Interval) -> Interval:
    """Return bounds on x / y, sharper ones for a share: where y - x is a count."""
    if x.form is None or y.form is None or y.known is None:
        return value
    (a, b, c, d), (tp, n_pred, n_pos, n) = x.form, y.form
    rest = y.known.get((tp - a, n_pred - b, n_pos - c, n - d))
    if rest is None:
        return value
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = _outward(
            x.value.lo / (x.value.lo + rest.hi),
            x.value.hi / (x.value.hi + rest.lo),
            4.0,
        )
    counts = (x.value.lo >= 0) & (rest.lo >= 0) & (y.value.lo > 0)
    low, high = np.fmax(low, value.lo), np.fmin(high, value.hi)
    # Boxes without any counts in them may have ends that do not fit together.
    return Interval(low, high).chosen(counts & (low <= high), value)


def _raised(x: Enclosure, p: float) -> Enclosure:
    """Return x^p for an x that is nowhere negative, whatever its interval says."""
    _note_risk(x.value.hi < 0, x.value.lo < 0)
    if p < 0:
        _note_risk(x.value.hi == 0, x.value.lo <= 0)
    lo, hi = np.maximum(x.value.lo, 0.0), np.maximum(x.value.hi, 0.0)
    units = 8.0 if 2 * p == int(2 * p) else 64.0  # p - 1 and p - 2 round, too
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value, slope, bend = (
            _sorted_ends(c * lo**q, c * hi**q, units) if c else _ZERO
            for c, q in ((1.0, p), (p, p - 1), (p * (p - 1), p - 2))
        )
    return _through(x, value, slope, bend)


def _sqrt(x: Any) -> Enclosure:
    return _raised(_of(x), 0.5)


def _whole_power(x: Enclosure, p: int) -> Enclosure:
    """Return x^p by squaring: a square is nowhere negative."""
    if p <= 1:
        return x if p else _of(1.0)
    half = _whole_power(x, p // 2)
    square = _multiply(half, half)
    return square if p % 2 == 0 else _multiply(square, x)


def _power(x: Any, p: Any) -> Enclosure:
    x = _of(x)
    if isinstance(p, Enclosure) or np.ndim(p) or not np.isfinite(p):
        raise TypeError
    p = float(p)
    if p == int(p) and abs(p) <= _WHOLE_POWERS:
        out = _whole_power(x, abs(int(p)))
        return _reciprocal(out) if p < 0 else out
    if p == int(p) and np.any(x.value.lo < 0):
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


RULES: dict[Any, Callable[..., Any]] = {
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
    np.where: _where,
    np.all: lambda x: bool(np.all(~_equal(x, 0.0).maybe)),
}
Truth.rules = Enclosure.rules = RULES


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


def enclosed(
    metric: Metric, box: Box, n: float, *, slopes: bool = True
) -> Enclosure | None:
    """Return bounds on a metric over boxes of counts; None if it cannot be followed.

    Without `slopes` only its value is bounded, which takes a fraction of the time.
    """
    one = Interval(1.0, 1.0)
    tn, rest, negatives = box.tn, n - box.n_pred.hi, n - box.n_pos.hi
    known = {
        _TP: box.tp,
        _N_PRED: box.n_pred,
        _N_POS: box.n_pos,
        _N: Interval(np.float64(n), np.float64(n)),
        _FP: box.fp,
        _FN: box.fn,
        _TN: tn,
        (0, -1, 0, 1): Interval(rest, n - box.n_pred.lo),
        (0, 0, -1, 1): Interval(negatives, n - box.n_pos.lo),
    }
    steps: dict[Form, dict[str, Interval]] = {
        _TP: {"1": one, "a": one},
        _FP: {"0": one, "a": -one},
        _FN: {"1": -one, "b": one},
        _TN: {"0": -one, "b": -one},
    }
    cells = [
        Enclosure(known[form], step if slopes else {}, form, known)
        for form, step in steps.items()
    ]
    way = metric.unchecked if isinstance(metric, CustomMetric) else metric.score_cells
    return _followed(metric, way, cells)


def _followed(
    metric: Metric, way: Callable[..., Any], counts: list[Any]
) -> Enclosure | None:
    token = None
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if not isinstance(metric, CustomMetric):
                return _of(way(*counts))
            risks = _Risks([], [])
            token = _RISKS.set(risks)
            return _with_risks(_of(way(*counts)), risks, metric.zero_division)
    except Exception:  # whatever a callable makes of an unknown type
        return None
    finally:
        if token is not None:
            _RISKS.reset(token)


def _with_risks(found: Enclosure, risks: _Risks, undefined: float | None) -> Enclosure:
    """Return what a callable is, where it may be no number and be replaced.

    A division by 0 may hide behind a factor 0 or in the branch that is not taken.
    """
    if not any(np.any(mask) for mask in risks.maybe):
        return found
    surely = reduce(np.logical_or, risks.surely)
    maybe = reduce(np.logical_or, risks.maybe)
    value = found.value
    if undefined is not None:
        value = value.hull(Interval(undefined, undefined)).chosen(surely, value)
    value = ANYTHING.chosen(maybe & ~surely, value)
    slopes = {
        name: ANYTHING.chosen(maybe, found.slope(name)) for name in (*FIRST, *SECOND)
    }
    return Enclosure(value, slopes)


def score_bound(metric: Metric, n: int) -> float:
    """Return a proved bound on the absolute score of n instances, or infinity.

    A denominator is 0, or a root has no slope, where some of the four cells are 0. So
    there are boxes in which each cell is 0, from 1 to 7, from 8 to 63, and so on: cells
    are whole numbers (Lemma 2).
    """
    if metric.bound is not None:
        return metric.bound
    if n == 0:
        return float("inf")
    return float(remembered(_bound_by_boxes, metric, n))


def remembered(function: Any, metric: Metric, *rest: Any) -> Any:
    """Call a cached function, past its cache for a metric that cannot be hashed."""
    try:
        hash(metric)
    except TypeError:
        return function.__wrapped__(metric, *rest)
    return function(metric, *rest)


@lru_cache(maxsize=256)
def _bound_by_boxes(metric: Metric, n: int) -> float:
    starts = np.append(0.0, 8.0 ** np.arange(int(np.log2(n)) // 3 + 1))
    ends = np.append(np.minimum(starts[1:] - 1.0, n), n)
    low = np.array(list(product(starts, repeat=4))).T
    high = np.array(list(product(ends, repeat=4))).T
    for _ in range(2):  # the cells sum to n: what the others leave
        high = np.minimum(high, n - (low.sum(axis=0) - low))
        low = np.maximum(low, n - (high.sum(axis=0) - high))
    possible = (low <= high).all(axis=0) & (low.sum(axis=0) <= n)
    tp, fp, fn, tn = map(Interval, low[:, possible], high[:, possible])
    n_pred, n_pos = (
        Interval(
            np.maximum(tp.lo + x.lo, n - y.hi - tn.hi),
            np.minimum(tp.hi + x.hi, n - y.lo - tn.lo),
        )
        for x, y in ((fp, fn), (fn, fp))
    )
    found = enclosed(metric, Box(tp, n_pred, n_pos, fp, fn, tn), float(n))
    if found is None:
        return float("inf")
    return float(max(np.max(np.abs(x)) for x in spread(found.value, tp.lo.shape)))


def largest_score(metric: Metric, n: int) -> float:
    """Return a bound on the absolute score of n instances.

    Of a callable that cannot be followed, or that has a pole among the counts, some
    values are taken, and it is supposed that none is more than a thousand times as
    large. That is only used for what windows leave out, with a probability below 1e-17;
    nothing is left out of a search by it.
    """
    proved = score_bound(metric, n)
    return proved if np.isfinite(proved) else 1e3 * _largest_of_some(metric, n)


def _largest_of_some(metric: Metric, n: int) -> float:
    """Return the largest absolute score at some confusion matrices, small and large."""
    steps = np.append(np.geomspace(1, max(n, 1), 12), [0.0, 2.0])
    steps = np.unique(steps.astype(int))
    tp, fp, fn = np.meshgrid(*3 * [steps.astype(np.float64)])
    possible = tp + fp + fn <= n
    tp, fp, fn = (x[possible] for x in (tp, fp, fn))
    # From either end of the ranking: many negatives, or many positives.
    cells = (tp, fp, fn, n - tp - fp - fn), (n - tp - fp - fn, fp, fn, tp)
    return max(float(np.max(np.abs(metric.score_cells(*x)))) for x in cells)


def spread(interval: Interval, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return both ends in full, with what is not a number as no bound at all."""
    lo, hi = (np.array(np.broadcast_to(x, shape), dtype=np.float64) for x in interval)
    lo[np.isnan(lo)], hi[np.isnan(hi)] = -np.inf, np.inf
    return lo, hi
