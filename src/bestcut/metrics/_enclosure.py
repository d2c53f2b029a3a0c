"""A value and its derivatives, enclosed in intervals, on the way through a formula.

An `Enclosure` carries an interval for the value and for the derivatives that a search
needs. Arithmetic, roots, powers, minima, maxima, absolute values and choices are
followed; every operation returns intervals that hold all results and rounds outwards
(Lemma 1 in docs/how-it-works/lemmas.md). Derivatives follow from the rules for sums,
products and functions of one variable, each evaluated on intervals [1]_.

Derivatives are along four directions, all with n fixed:

- ``0``: one more instance is predicted positive, a negative one (n_pred + 1);
- ``1``: one more instance is predicted positive, a positive one (tp + 1, n_pred + 1);
- ``a``: a predicted positive turns positive (tp + 1, n_pos + 1);
- ``b``: a predicted negative turns positive (n_pos + 1);

and the second derivatives ``00``, ``01``, ``11``; or along one ``move`` between cells.

References
----------
.. [1] R. E. Moore, R. B. Kearfott, M. J. Cloud. *Introduction to Interval Analysis.*
   SIAM, 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bestcut._errors import NotFollowedError
from bestcut.metrics._following import FollowsNumPy, Operations, Truth
from bestcut.metrics._interval import ANYTHING, ZERO, Interval, outward, sorted_ends

FIRST = ("0", "1", "a", "b")
SECOND = ("00", "01", "11")
MOVE = "move"
_WHOLE_POWERS = 16  # that are multiplied out
_ULPS = 8.0  # units in the last place that NumPy's functions are good to, and more
_PAIRS = (("0", "0"), ("0", "1"), ("1", "1"))
_GRADUAL = (*FIRST, MOVE)  # which a kink does not make jump

# Coefficients of tp, n_pred, n_pos and n.
Form = tuple[int, int, int, int]


class IntervalTruth(Truth):
    """Whether something holds everywhere in a box, and whether it may hold.

    Attributes
    ----------
    along : tuple of str
        The derivatives of a choice that have no bound where this is open.
    """

    along: tuple[str, ...] = ()

    def negated(self) -> IntervalTruth:
        """Return whether it does not hold."""
        return _truth(~self.maybe, ~self.surely, self.along)

    def and_also(self, other: Any) -> IntervalTruth:
        """Return whether both hold."""
        both = super().and_also(other)
        return _truth(both.surely, both.maybe, self.along or other.along)


def _truth(surely: Any, maybe: Any, along: tuple[str, ...]) -> IntervalTruth:
    out = IntervalTruth(surely, maybe)
    out.along = along
    return out


class Risk(NamedTuple):
    """Where something is no finite number surely, or perhaps, as masks of boxes."""

    surely: Any
    maybe: Any


class Enclosure(FollowsNumPy):
    """A value and its derivatives, each somewhere in an interval.

    Derivatives that are 0 are left out of `slopes`. A sum or difference of counts knows
    its `form`, and what is `known` of such forms: so TP + FP is the number of predicted
    positives again, and not a sum of two unknowns. The `risk` says where this is no
    finite number, because of a division by 0 or a root of a negative number; without
    one it is finite everywhere. Bounds are about finite numbers only.
    """

    def __init__(
        self,
        value: Interval,
        slopes: dict[str, Interval],
        form: Form | None = None,
        known: dict[Form, Interval] | None = None,
        *,
        risk: Risk | None = None,
    ) -> None:
        self.value, self.slopes = value, slopes
        self.form, self.known = form, known
        self.risk = risk

    def slope(self, direction: str) -> Interval:
        """Return the interval of a derivative."""
        return self.slopes.get(direction, ZERO)


def as_enclosure(x: Any) -> Enclosure:
    """Return a number, or what is true, as an enclosure."""
    if isinstance(x, Enclosure):
        return x
    if isinstance(x, Truth):  # 1 where it holds, 0 where not
        unsure = x.maybe & ~x.surely
        value = Interval(x.surely.astype(np.float64), x.maybe.astype(np.float64))
        along = x.along if isinstance(x, IntervalTruth) else ()
        return Enclosure(value, dict.fromkeys(along, ANYTHING.chosen(unsure, ZERO)))
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


def _either(one: Risk | None, other: Risk | None) -> Risk | None:
    """Return the risk of what needs two numbers."""
    if one is None or other is None:
        return one or other
    return Risk(one.surely | other.surely, one.maybe | other.maybe)


def _with_risk(x: Enclosure, surely: Any, maybe: Any) -> Enclosure:
    """Return the same with one more risk."""
    if not np.any(maybe):
        return x
    risk = _either(x.risk, Risk(surely, maybe))
    return Enclosure(x.value, x.slopes, x.form, x.known, risk=risk)


def _perhaps_finite(x: Enclosure) -> Enclosure:
    """Return the same for a function that may make a number of what is infinite."""
    if x.risk is None:
        return x
    risk = Risk(np.zeros_like(x.risk.surely), x.risk.maybe)
    return Enclosure(x.value, x.slopes, x.form, x.known, risk=risk)


def _add(x: Any, y: Any) -> Enclosure:
    x, y = as_enclosure(x), as_enclosure(y)
    value = x.value.plus(y.value)
    slopes = _combined((x.slopes, None), (y.slopes, None))
    if x.form is None or y.form is None:
        return Enclosure(value, slopes, risk=_either(x.risk, y.risk))
    form = tuple(a + b for a, b in zip(x.form, y.form, strict=True))
    return Enclosure(x.known.get(form, value), slopes, form, x.known)


def _negative(x: Any) -> Enclosure:
    x = as_enclosure(x)
    form = None if x.form is None else tuple(-a for a in x.form)
    slopes = {name: -slope for name, slope in x.slopes.items()}
    return Enclosure(-x.value, slopes, form, x.known, risk=x.risk)


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
    x, y = as_enclosure(x), as_enclosure(y)
    slopes = _combined((x.slopes, y.value), (y.slopes, x.value), (_mixed(x, y), None))
    value = x.value.times(y.value)
    if x is y:
        value = Interval(np.maximum(value.lo, 0.0), value.hi)
    return Enclosure(value, slopes, risk=_either(x.risk, y.risk))


def _through(
    x: Enclosure, value: Interval, slope: Interval, bend: Interval
) -> Enclosure:
    """Return phi(x) from what phi, phi' and phi'' are on the interval of x."""
    half = Interval(0.5, 0.5)  # _mixed counts x_i x_j twice
    mixed = _combined((_mixed(x, x), half))
    slopes = _combined((x.slopes, slope), (mixed, bend))
    return Enclosure(value, slopes, risk=x.risk)


def _reciprocal(x: Any) -> Enclosure:
    x = _as_divisor(x)
    lo, hi = x.value
    with np.errstate(divide="ignore", invalid="ignore"):
        first, last = 1.0 / lo, 1.0 / hi
        crossed = ~((lo > 0) | (hi < 0))
        value, slope, bend = (
            ANYTHING.chosen(crossed, sorted_ends(c * first**p, c * last**p))
            for c, p in ((1.0, 1), (-1.0, 2), (2.0, 3))
        )
    return _through(x, value, slope, bend)


def _as_divisor(x: Any) -> Enclosure:
    """Return an enclosure with the risk of dividing by it."""
    x = _perhaps_finite(as_enclosure(x))
    lo, hi = x.value
    return _with_risk(x, (lo == 0) & (hi == 0), (lo <= 0) & (hi >= 0))


def _divide(x: Any, y: Any) -> Enclosure:
    """Return r = x / y, with r' = (x' - r y') / y.

    So r, of which more may be known than its two parts tell, stands for both of them.
    """
    x, y = as_enclosure(x), _as_divisor(y)
    lo, hi = y.value
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = sorted_ends(1.0 / lo, 1.0 / hi)
    inverse = ANYTHING.chosen(~((lo > 0) | (hi < 0)), inverse)
    value = _as_share(x, y, x.value.times(inverse))
    rising = _combined((x.slopes, None), (_negative(y).slopes, value))
    slopes = {i: rising[i].times(inverse) for i in _GRADUAL if i in rising}
    twice = _mixed(Enclosure(value, slopes), _negative(y))
    bends = _combined(
        ({i: rising[i] for i in SECOND if i in rising}, None), (twice, None)
    )
    slopes |= _combined((bends, inverse))
    return Enclosure(value, slopes, risk=_either(x.risk, y.risk))


def _as_share(x: Enclosure, y: Enclosure, value: Interval) -> Interval:
    """Return bounds on x / y, sharper ones for a share: where y - x is a count."""
    if x.form is None or y.form is None or y.known is None:
        return value
    (a, b, c, d), (tp, n_pred, n_pos, n) = x.form, y.form
    rest = y.known.get((tp - a, n_pred - b, n_pos - c, n - d))
    if rest is None:
        return value
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = outward(
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
    if p < 0:
        x = _as_divisor(x)
    x = _with_risk(x, x.value.hi < 0, x.value.lo < 0)
    lo, hi = np.maximum(x.value.lo, 0.0), np.maximum(x.value.hi, 0.0)
    units = 8.0 if 2 * p == int(2 * p) else 64.0  # p - 1 and p - 2 round, too
    with np.errstate(divide="ignore", invalid="ignore"):
        value, slope, bend = (
            sorted_ends(c * lo**q, c * hi**q, units) if c else ZERO
            for c, q in ((1.0, p), (p, p - 1), (p * (p - 1), p - 2))
        )
    return _through(x, value, slope, bend)


def _whole_power(x: Enclosure, p: int) -> Enclosure:
    """Return x^p by squaring: a square is nowhere negative."""
    if p <= 1:
        return x if p else as_enclosure(1.0)
    half = _whole_power(x, p // 2)
    square = _multiply(half, half)
    return square if p % 2 == 0 else _multiply(square, x)


def _power(x: Any, p: Any) -> Enclosure:
    x = as_enclosure(x)
    if isinstance(p, Enclosure) or np.ndim(p) or not np.isfinite(p):
        raise NotFollowedError
    p = float(p)
    if p == int(p) and abs(p) <= _WHOLE_POWERS:
        out = _whole_power(x, abs(int(p)))
        return _reciprocal(out) if p < 0 else out
    if p == int(p) and np.any(x.value.lo < 0):
        raise NotFollowedError
    return _raised(x, p)


def _exp(x: Any) -> Enclosure:
    x = _perhaps_finite(as_enclosure(x))
    value = sorted_ends(np.exp(x.value.lo), np.exp(x.value.hi), _ULPS)
    return _through(x, value, value, value)


def _expm1(x: Any) -> Enclosure:
    x = _perhaps_finite(as_enclosure(x))
    ends = np.expm1(x.value.lo), np.expm1(x.value.hi)
    slope = _exp(x).value
    return _through(x, sorted_ends(*ends, _ULPS), slope, slope)


def _log(x: Any) -> Enclosure:
    x = as_enclosure(x)
    return _logarithm(x, np.log, x.value)


def _log1p(x: Any) -> Enclosure:
    x = as_enclosure(x)
    return _logarithm(x, np.log1p, x.value.plus(Interval(1.0, 1.0)))


def _logarithm(x: Enclosure, ufunc: np.ufunc, base: Interval) -> Enclosure:
    """Return the logarithm of a base, which `ufunc` computes from x.

    It is a number where the base is positive; elsewhere there is no bound from below.
    """
    open_end = base.lo <= 0
    x = _with_risk(x, base.hi <= 0, open_end)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = sorted_ends(ufunc(x.value.lo), ufunc(x.value.hi), _ULPS)
        slope = sorted_ends(1.0 / base.lo, 1.0 / base.hi)
        bend = sorted_ends(-1.0 / base.lo**2, -1.0 / base.hi**2)
        nowhere = np.where(base.hi > 0, value.hi, np.inf)
    return _through(
        x,
        Interval(-np.inf, nowhere).chosen(open_end, value),
        ANYTHING.chosen(open_end, slope),
        ANYTHING.chosen(open_end, bend),
    )


def _tanh(x: Any) -> Enclosure:
    """With t = tanh(x), the derivatives are 1 - t² and -2 t (1 - t²)."""
    x = _perhaps_finite(as_enclosure(x))
    value = sorted_ends(np.tanh(x.value.lo), np.tanh(x.value.hi), _ULPS)
    square = value.times(value)
    rest = Interval(1.0, 1.0).plus(-Interval(np.maximum(square.lo, 0.0), square.hi))
    slope = Interval(np.maximum(rest.lo, 0.0), rest.hi)
    bend = value.times(slope).times(Interval(-2.0, -2.0))
    return _through(x, value, slope, bend)


def _larger(x: Any, y: Any) -> Enclosure:
    x, y = as_enclosure(x), as_enclosure(y)
    return _where(_greater_equal(x, y), x, y, kink=True)


def _smaller(x: Any, y: Any) -> Enclosure:
    return _negative(_larger(_negative(x), _negative(y)))


def _compared(
    x: Any, y: Any, holds: Callable[[Any, Any], tuple[Any, Any]]
) -> IntervalTruth:
    """Say whether something holds of x - y; what is no number compares as it likes."""
    gap = _subtract(x, y)
    surely, maybe = holds(*gap.value)
    if gap.risk is not None:
        surely, maybe = surely & ~gap.risk.maybe, maybe | gap.risk.maybe
    # What does not change along a derivative makes no choice jump along it, but then
    # all are made, or that of the move alone, or none.
    every = (MOVE,) if MOVE in gap.slopes else (*FIRST, *SECOND)
    return _truth(surely, maybe, every if gap.slopes else ())


def _greater_equal(x: Any, y: Any) -> IntervalTruth:
    return _compared(x, y, lambda lo, hi: (lo >= 0, hi >= 0))


def _greater(x: Any, y: Any) -> IntervalTruth:
    return _compared(x, y, lambda lo, hi: (lo > 0, hi > 0))


def _equal(x: Any, y: Any) -> IntervalTruth:
    return _compared(
        x, y, lambda lo, hi: ((lo == 0) & (hi == 0), (lo <= 0) & (hi >= 0))
    )


def _where(condition: Any, x: Any, y: Any, *, kink: bool = False) -> Enclosure:
    """Choose; where the box is on both sides, a jump or at best a kink is inside."""
    condition, x, y = IntervalTruth.of(condition), as_enclosure(x), as_enclosure(y)
    yes, no = condition.surely, ~condition.maybe

    def choose(one: Interval, other: Interval, both: Interval) -> Interval:
        return one.chosen(yes, other.chosen(no, both))

    value = choose(x.value, y.value, x.value.hull(y.value))
    if kink:  # the maximum of the two
        value = Interval(np.maximum(x.value.lo, y.value.lo), value.hi)
    along = condition.along if isinstance(condition, IntervalTruth) else ()
    slopes = {}
    for name in x.slopes.keys() | y.slopes.keys() | set(along):
        one, other = x.slope(name), y.slope(name)
        gradual = kink and name in _GRADUAL
        slopes[name] = choose(one, other, one.hull(other) if gradual else ANYTHING)
    return Enclosure(value, slopes, risk=_risk_of_choice(yes, no, x, y))


def _risk_of_choice(yes: Any, no: Any, x: Enclosure, y: Enclosure) -> Risk | None:
    """Return where a choice is no number: where what is chosen, or may be, is none."""
    if x.risk is None and y.risk is None:
        return None
    one, other = (z.risk or Risk(np.False_, np.False_) for z in (x, y))
    return Risk(
        np.where(
            yes, one.surely, np.where(no, other.surely, one.surely & other.surely)
        ),
        np.where(yes, one.maybe, np.where(no, other.maybe, one.maybe | other.maybe)),
    )


Enclosure.rules = IntervalTruth.rules = Operations(
    truth=IntervalTruth,
    of=as_enclosure,
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
