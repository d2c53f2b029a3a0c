"""Proofs that a metric never falls when more labels are right, for one n.

That cuts of the ranking are enough rests on the metric never falling when TP rises, at
the n that is asked about. `check_metric` looks at small n; here the verdict is a proof
for the n at hand, or for every n. There are three ways, from cheap to dear:

1. Algebra. The formula is followed with polynomials of the four cells in exact
   arithmetic. Cells are nowhere negative, so a slope whose polynomial has no negative
   coefficient is nowhere negative, whatever n is. Where the formula changes its case
   because a class is empty, the difference of both scores is looked at instead.
2. The whole lattice of confusion matrices, if n is small.
3. Enclosures. Boxes of confusion matrices are cut up until on each of them either the
   slope along the move or the difference of the values is nowhere negative.

A verdict of False means that there is no proof, never that the opposite was proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np

from bestcut._types import EPS, FloatArray
from bestcut.metrics._base import FractionalLinearMetric, Metric, counts_from_confusion
from bestcut.metrics._enclosure import ANYTHING, Enclosure, Interval, Truth, remembered
from bestcut.metrics._families import CustomMetric
from bestcut.metrics._principle import ROUNDING, check_algebra, lattice

Move = tuple[int, int, int, int]

# What a move does to the cells (TP, FP, FN, TN).
_MORE_TP: tuple[Move, ...] = ((1, -1, -1, 1),)
_MORE_AGREEMENT: tuple[Move, ...] = (
    (1, -1, 0, 0),
    (0, -1, 0, 1),
    (1, 0, -1, 0),
    (0, 0, -1, 1),
)

# The lattice of n = 80 has 91,881 confusion matrices, found among (n + 1)^3 triples of
# counts; for a short formula looking at them takes 0.07 seconds.
_LATTICE_N = 80
# A box costs 3 to 4 microseconds for a formula of five operations, and more in
# proportion: a search is given up after 0.15 seconds, or 0.3 for ten operations.
_MOST_BOXES = 40_000
# A product of two polynomials with so many pairs of terms takes about 10 milliseconds.
_MOST_PAIRS = 20_000
# Floats have decimal exponents up to 308. A count of instances has 16 digits at most,
# and a polynomial fewer than 1000 terms.
_MOST_DIGITS = 300


def tp_never_hurts(metric: Metric, n: int) -> bool:
    """Say whether it is proved that more TP never lowers the utility, for this n.

    The utility is the score, or minus the score of a loss. It must not fall when TP
    rises by 1 at fixed `n_pred` and `n_pos`, over all confusion matrices of `n`
    instances. A fall of less than 64 units in the last place of the largest utility
    seen counts as rounding, as it does in `check_metric`.

    Parameters
    ----------
    metric : Metric
        The metric.
    n : int
        Number of instances.

    Returns
    -------
    bool
        True if it is proved. False says that no proof was found, which may be because
        the formula could not be followed or the search was given up.
    """
    if isinstance(metric, FractionalLinearMetric):
        verdict = check_algebra(metric)
        if verdict is not None:
            return verdict.nondecreasing
    return bool(remembered(_proved, metric, int(n), _MORE_TP))


def tp_never_hurts_for_any_n(metric: Metric) -> bool:
    """Say whether `tp_never_hurts` is proved for every n at once, by algebra."""
    return bool(remembered(_proved_for_any_n, metric))


@lru_cache(maxsize=256)
def _proved_for_any_n(metric: Metric) -> bool:
    if isinstance(metric, FractionalLinearMetric):
        verdict = check_algebra(metric)
        if verdict is not None:
            return verdict.nondecreasing
    return not any(remembered(_left_by_algebra, metric, move) for move in _MORE_TP)


def agreement_never_hurts(metric: Metric, n: int) -> bool:
    """Say whether it is proved that one right label more never lowers the utility.

    As `tp_never_hurts`, for the four moves of one instance from a wrong cell to a right
    one: FP to TP, FP to TN, FN to TP and FN to TN.

    Parameters
    ----------
    metric : Metric
        The metric.
    n : int
        Number of instances.

    Returns
    -------
    bool
        True if it is proved, False if no proof was found.
    """
    return bool(remembered(_proved, metric, int(n), _MORE_AGREEMENT))


@lru_cache(maxsize=256)
def _proved(metric: Metric, n: int, moves: tuple[Move, ...]) -> bool:
    left = [remembered(_left_by_algebra, metric, move) for move in moves]
    if not any(left):
        return True
    try:
        if n <= _LATTICE_N:
            return _proved_on_lattice(metric, n, moves)
        budget = _MOST_BOXES // len(moves)
        return all(
            _proved_by_enclosure(_Search(metric, float(n), move, budget), kinds)
            for move, kinds in zip(moves, left, strict=True)
        )
    except Exception:  # whatever a callable makes of some confusion matrix
        return False


def _proved_on_lattice(metric: Metric, n: int, moves: tuple[Move, ...]) -> bool:
    """Compare every confusion matrix with those that the moves lead to."""
    tp, n_pred, n_pos = lattice(n)
    cells = np.array([tp, n_pred - tp, n_pos - tp, n - n_pred - n_pos + tp])
    value = metric.utility(tp, n_pred, n_pos, float(n))
    noise = ROUNDING * np.max(np.abs(value))
    for move in moves:
        step = np.array(move, dtype=np.float64)[:, None]
        possible = np.all(cells + step >= 0, axis=0)
        if not np.any(possible):
            continue
        there = _utility(metric, cells[:, possible] + step, float(n))
        if not np.all(there - value[possible] >= -noise):
            return False
    return True


def _utility(metric: Metric, cells: FloatArray, n: float) -> FloatArray:
    tp, n_pred, n_pos, _ = counts_from_confusion(*cells)
    return metric.utility(tp, n_pred, n_pos, n)


# --- Kinds of confusion matrices: which cells are as small as they can be ------------

# For every cell: whether it is the smallest that the move allows. That is 0, or 1 for a
# cell that the move takes from.
Kind = tuple[bool, bool, bool, bool]
_KINDS: tuple[Kind, ...] = tuple(
    cast(Kind, kind) for kind in product((True, False), repeat=4)
)


def _least(move: Move, kind: Kind) -> list[int]:
    """Return the smallest cells of a kind."""
    return [
        (step < 0) + (not smallest) for step, smallest in zip(move, kind, strict=True)
    ]


# --- 1. Algebra --------------------------------------------------------------

# A polynomial of the cells by its exponents; a key is the same, hashable. Powers are
# those of polynomials that are positive, without negative coefficients.
Number = int | Fraction
Polynomial = dict[tuple[int, ...], Number]
Key = frozenset[tuple[tuple[int, ...], Number]]
Powers = frozenset[tuple[Key, Fraction]]

_CONSTANT = (0, 0, 0, 0)
_NO_POWERS: Powers = frozenset()


def _plus(x: Polynomial, y: Polynomial, factor: Number = 1) -> Polynomial:
    """Return x + factor * y."""
    out = dict(x)
    for exponents, coefficient in y.items():
        total = out.get(exponents, 0) + factor * coefficient
        if total:
            out[exponents] = total
        else:
            out.pop(exponents, None)
    return out


def _product(x: Polynomial, y: Polynomial) -> Polynomial:
    if len(x) * len(y) > _MOST_PAIRS:
        raise TypeError
    out: Polynomial = {}
    for (a, b, c, d), p in x.items():
        for (e, f, g, h), q in y.items():
            exponents = (a + e, b + f, c + g, d + h)
            out[exponents] = out.get(exponents, 0) + p * q
    return {exponents: p for exponents, p in out.items() if p}


def _along(x: Polynomial, move: Move) -> Polynomial:
    """Return the derivative of a polynomial along a move."""
    out: Polynomial = {}
    for exponents, coefficient in x.items():
        for i, step in enumerate(move):
            if step and exponents[i]:
                lower = (*exponents[:i], exponents[i] - 1, *exponents[i + 1 :])
                term = step * exponents[i] * coefficient
                out[lower] = out.get(lower, 0) + term
    return {exponents: p for exponents, p in out.items() if p}


def _is_nonnegative(x: Polynomial) -> bool:
    return all(coefficient > 0 for coefficient in x.values())


def _digits(powers: Powers, polynomial: Polynomial) -> float:
    """Bound the decimal exponent of a term and of what it is made of."""
    total = 0.0
    whole: Key = frozenset(polynomial.items())
    for factor, p in ((whole, Fraction(1)), *powers):
        size = max(abs(math.log10(abs(float(x)))) for _, x in factor)
        degree = max(sum(exponents) for exponents, _ in factor)
        total += abs(float(p)) * (size + 16 * degree + 3)
    return total


class _Needs:
    """What must not be 0 for the algebra to say something.

    Either such polynomials are collected, or they have to be positive by themselves.
    """

    def __init__(self, *, collect: bool) -> None:
        self.collect = collect
        self.positive: set[Key] = set()

    def add(self, key: Key) -> None:
        """Note that a polynomial without negative coefficients must not be 0."""
        if self.collect:
            self.positive.add(key)
        elif not dict(key).get(_CONSTANT):
            raise TypeError


class _Algebra(np.lib.mixins.NDArrayOperatorsMixin):
    """A sum of terms, each a polynomial times powers of positive polynomials.

    It goes through a formula in the place of an array. Whatever is not understood
    raises TypeError.
    """

    def __init__(self, terms: dict[Powers, Polynomial], needs: _Needs) -> None:
        self.terms = {powers: p for powers, p in terms.items() if p}
        self.needs = needs
        if any(_digits(*term) > _MOST_DIGITS for term in self.terms.items()):
            raise TypeError  # a float may overflow, and the score is no number then

    def __bool__(self) -> bool:
        raise TypeError

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        rule = _ALGEBRA.get(ufunc)
        if rule is None or method != "__call__" or kwargs:
            return NotImplemented
        return rule(*(self.like(x) for x in inputs))

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return args[1] if bool(args[0]) else args[2]
        if function is np.all and len(args) == 1 and not kwargs:
            if self.needs.collect:
                _inverse(self)  # notes what must not be 0
                return True
            return not _is_zero(self, self.like(0.0))
        return NotImplemented

    def like(self, x: Any) -> _Algebra:
        """Return a number as a constant polynomial."""
        if isinstance(x, _Algebra):
            return x
        constant = _plus({}, {_CONSTANT: _exactly(x)})  # nothing at all if it is 0
        return _Algebra({_NO_POWERS: constant}, self.needs)

    def only_term(self) -> tuple[Powers, Polynomial]:
        """Return the term of what has only one."""
        if len(self.terms) != 1:
            raise TypeError
        return next(iter(self.terms.items()))


def _exactly(x: Any) -> Number:
    """Return a number as the fraction that it is."""
    if np.ndim(x):
        raise TypeError
    number = Fraction(x) if isinstance(x, (int, Fraction)) else Fraction(float(x))
    return int(number) if number.denominator == 1 else number


def _merged(powers: Iterable[tuple[Key, Fraction]]) -> Powers:
    total: dict[Key, Fraction] = {}
    for key, p in powers:
        total[key] = total.get(key, Fraction(0)) + p
    return frozenset((key, p) for key, p in total.items() if p)


def _sum(x: _Algebra, y: _Algebra) -> _Algebra:
    """Add, over a common denominator where the powers differ by whole numbers."""
    terms = dict(x.terms)
    for powers, polynomial in y.terms.items():
        for others in terms:
            shared = _shared(powers, others)
            if shared is not None:
                one = _over(polynomial, powers, shared)
                terms[shared] = _plus(_over(terms.pop(others), others, shared), one)
                break
        else:
            terms[powers] = polynomial
    return _Algebra(terms, x.needs)


def _shared(x: Powers, y: Powers) -> Powers | None:
    """Return the lower of the powers of two terms, if they differ by whole numbers."""
    first, second = dict(x), dict(y)
    lower = []
    for key in first.keys() | second.keys():
        p, q = first.get(key, Fraction(0)), second.get(key, Fraction(0))
        if (p - q).denominator != 1:
            return None
        lower.append((key, min(p, q)))
    return _merged(lower)


def _over(polynomial: Polynomial, powers: Powers, shared: Powers) -> Polynomial:
    """Return the polynomial that stands before the shared powers."""
    inverse = ((key, -p) for key, p in shared)
    for key, p in _merged((*powers, *inverse)):
        for _ in range(int(p)):
            polynomial = _product(polynomial, dict(key))
    return polynomial


def _opposite(x: _Algebra) -> _Algebra:
    return _Algebra({q: _plus({}, p, -1) for q, p in x.terms.items()}, x.needs)


def _times(x: _Algebra, y: _Algebra) -> _Algebra:
    out = _Algebra({}, x.needs)
    for (q, p), (s, r) in product(x.terms.items(), y.terms.items()):
        term = _Algebra({_merged((*q, *s)): _product(p, r)}, x.needs)
        out = _sum(out, term)
    return out


def _inverse(x: _Algebra) -> _Algebra:
    powers, polynomial = x.only_term()
    sign = 1
    if not _is_nonnegative(polynomial):
        sign, polynomial = -1, _plus({}, polynomial, -1)
        if not _is_nonnegative(polynomial):
            raise TypeError
    key = frozenset(polynomial.items())
    for other, _ in (*powers, (key, 1)):
        x.needs.add(other)
    flipped = [(other, -p) for other, p in powers]
    if polynomial.keys() == {_CONSTANT}:
        constant = Fraction(sign) / polynomial[_CONSTANT]
        return _Algebra({_merged(flipped): {_CONSTANT: constant}}, x.needs)
    flipped.append((key, Fraction(-1)))
    return _Algebra({_merged(flipped): {_CONSTANT: sign}}, x.needs)


def _to_power(x: _Algebra, exponent: _Algebra) -> _Algebra:
    powers, number = exponent.only_term()
    if powers or number.keys() != {_CONSTANT}:
        raise TypeError
    p = Fraction(number[_CONSTANT])
    if p < 0:
        return _inverse(_to_power(x, _opposite(exponent)))
    if p.denominator == 1 and p <= 8:
        out = x
        for _ in range(int(p) - 1):
            out = _times(out, x)
        return out
    if not x.terms:
        return x
    powers, polynomial = x.only_term()
    if not _is_nonnegative(polynomial):
        raise TypeError
    raised = [(key, q * p) for key, q in powers]
    raised.append((frozenset(polynomial.items()), p))
    return _Algebra({_merged(raised): {_CONSTANT: 1}}, x.needs)


def _is_zero(x: _Algebra, y: _Algebra) -> bool:
    """Say whether two are equal everywhere or nowhere; TypeError if neither."""
    gap = _sum(x, _opposite(y))
    if not gap.terms:
        return True
    if gap.needs.collect:
        raise TypeError
    _inverse(gap)
    return False


_ALGEBRA: dict[Any, Callable[..., Any]] = {
    np.add: _sum,
    np.subtract: lambda x, y: _sum(x, _opposite(y)),
    np.negative: _opposite,
    np.positive: lambda x: x,
    np.multiply: _times,
    np.divide: lambda x, y: _times(x, _inverse(y)),
    np.reciprocal: _inverse,
    np.square: lambda x: _times(x, x),
    np.sqrt: lambda x: _to_power(x, x.like(0.5)),
    np.power: _to_power,
    np.float_power: _to_power,
    np.equal: lambda x, y: np.bool_(_is_zero(x, y)),
    np.not_equal: lambda x, y: np.bool_(not _is_zero(x, y)),
}


def _in_cells(metric: Metric, cells: list[Polynomial], needs: _Needs) -> _Algebra:
    """Return the utility at polynomials in the place of the cells."""
    given: list[Any] = [_Algebra({_NO_POWERS: cell}, needs) for cell in cells]
    score = _score(metric, given)
    found = given[0].like(score)
    return found if metric.greater_is_better else _opposite(found)


def _score(metric: Metric, cells: list[Any]) -> Any:
    if isinstance(metric, CustomMetric):
        return metric.unchecked(*cells)
    return metric.score_cells(*cells)


@lru_cache(maxsize=256)
def _left_by_algebra(metric: Metric, move: Move) -> tuple[Kind, ...]:
    """Return the kinds of confusion matrices for which algebra proves nothing."""
    needs = _needed_for_slope(metric, move)
    left = []
    for kind in _KINDS:
        if needs is not None:
            before = _least(move, kind)
            after = [x + step for x, step in zip(before, move, strict=True)]
            # Without negative coefficients they are smallest at the smallest cells,
            # and between two points at which they are positive they are positive.
            if all(_at(dict(key), x) > 0 for key in needs for x in (before, after)):
                continue
        if not _never_falls(metric, move, kind):
            left.append(kind)
    return tuple(left)


def _at(x: Polynomial, cells: list[int]) -> Number:
    total: Number = 0
    for exponents, p in x.items():
        total += p * math.prod(c**e for c, e in zip(cells, exponents, strict=True))
    return total


def _needed_for_slope(metric: Metric, move: Move) -> set[Key] | None:
    """Return what must be positive for a slope of at least 0; None without a proof.

    The slope of a term N f^p g^q ... is f^(p-1) g^(q-1) ... times a polynomial. Where a
    power is positive the base may be 0 at an end of the move: the term is continuous.
    """
    variables: list[Polynomial] = [
        {tuple(int(i == j) for j in range(4)): 1} for i in range(4)
    ]
    needs = _Needs(collect=True)
    try:
        utility = _in_cells(metric, variables, needs)
        for powers, polynomial in utility.terms.items():
            moving = [(dict(key), p) for key, p in powers if _along(dict(key), move)]
            slope = _along(polynomial, move)
            for base, _ in moving:
                slope = _product(slope, base)
            for i, (base, p) in enumerate(moving):
                part = _product(polynomial, _along(base, move))
                for j, (other, _) in enumerate(moving):
                    part = part if i == j else _product(part, other)
                slope = _plus(slope, part, p)
            if not _is_nonnegative(slope):
                return None
    except Exception:  # whatever a callable makes of an unknown type
        return None
    return needs.positive


def _never_falls(metric: Metric, move: Move, kind: Kind) -> bool:
    """Compare the utilities before and after a move, both as formulas of the cells.

    A cell that is not the smallest possible is its smallest value plus a variable.
    """
    before: list[Polynomial] = []
    after: list[Polynomial] = []
    for i, (least, smallest) in enumerate(zip(_least(move, kind), kind, strict=True)):
        rest: Polynomial = {} if smallest else {tuple(int(i == j) for j in range(4)): 1}
        before.append(_plus(rest, {_CONSTANT: least}))
        after.append(_plus(rest, {_CONSTANT: least + move[i]}))
    needs = _Needs(collect=False)
    try:
        old, new = (_in_cells(metric, cells, needs) for cells in (before, after))
        return _is_gain(_sum(new, _opposite(old)))
    except Exception:  # whatever a callable makes of an unknown type
        return False


def _is_gain(x: _Algebra) -> bool:
    """Say whether a sum of terms is proved to be nowhere negative.

    A difference of two terms that cannot be merged, because of their roots, has the
    sign of the difference of their squares.
    """
    losses = [q for q, p in x.terms.items() if not _is_nonnegative(p)]
    if not losses:
        return True
    gains = x.terms.keys() - losses
    loss, gain = (
        _Algebra({q: x.terms[q] for q in some}, x.needs) for some in (losses, gains)
    )
    if len(losses) > 1 or len(gains) != 1 or not _is_gain(_opposite(loss)):
        return False
    gap = _sum(_times(gain, gain), _opposite(_times(loss, loss)))
    return all(_is_nonnegative(p) for p in gap.terms.values())


# --- 3. Enclosures -----------------------------------------------------------

# The name under which an `Enclosure` carries its slope along the move. Second
# derivatives are only made for the directions "0" and "1".
_MOVE = "a"
# A linear form of the cells: four coefficients and a constant.
Form = tuple[Number, ...]
# Rounding of a sum of five products with converted coefficients: each of the 4 + 1
# additions, the products, the conversions and the difference of two coefficients are
# off by half a unit in the last place of what is summed, which is less than 16 halves.
_SUM_ROUNDING = 8 * EPS


class _Boxes:
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
        return _exactly(form[0] * Fraction(self.n) + form[4])

    def enclosure(self, form: Form) -> Enclosure:
        """Return the range and the slope of a form."""
        return Enclosure(self.range_of(form), {_MOVE: _around(self.slope_of(form))})


def _around(x: Number) -> Interval:
    """Return an interval of floats that holds a fraction."""
    near = float(x)
    if Fraction(near) == x:
        return Interval(near, near)
    return Interval(math.nextafter(near, -math.inf), math.nextafter(near, math.inf))


class _Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """An `Enclosure` that knows where it is a finite number and where it is linear.

    A division by 0 or a root of a negative number makes a score that is no number, for
    which the metric has another value. An `Enclosure` does not tell.

    Attributes
    ----------
    boxes : _Boxes
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
        boxes: _Boxes,
        inner: Enclosure,
        finite: Any = True,
        broken: Any = False,
        form: Form | None = None,
        linear: Any = False,
    ) -> None:
        self.boxes, self.broken = boxes, np.asarray(broken)
        value, slope = (_without_nan(x) for x in (inner.value, inner.slope(_MOVE)))
        self.inner: Any = Enclosure(value, {_MOVE: slope})
        self.finite = np.asarray(finite) & np.isfinite(value.lo) & np.isfinite(value.hi)
        self.form, self.linear = form, np.asarray(linear)

    def __bool__(self) -> bool:
        raise TypeError

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        if method != "__call__" or kwargs:
            return NotImplemented
        if ufunc in _COMPARISONS and len(inputs) == 2:
            return _compared(ufunc, *(_traced(self.boxes, x) for x in inputs))
        rule = _TRACED.get(ufunc)
        if rule is None:
            return NotImplemented
        return rule(*(_traced(self.boxes, x) for x in inputs))

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return _choice(*args, boxes=self.boxes)
        if function is np.all and len(args) == 1 and not kwargs:
            lo, hi = self.inner.value
            return bool(np.all(self.finite & ((lo > 0) | (hi < 0))))
        return NotImplemented


class _Condition(Truth):
    """A comparison of traced values, somewhere between two of which may be chosen."""

    boxes: _Boxes

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


def _condition(boxes: _Boxes, truth: Truth) -> _Condition:
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


def _traced(boxes: _Boxes, x: Any) -> _Traced:
    if isinstance(x, _Traced):
        return x
    number = _exactly(x)
    inner = Enclosure(_around(number), {})
    return _Traced(boxes, inner, form=(0, 0, 0, 0, number), linear=True)


def _with_form(
    boxes: _Boxes, form: Form, linear: Any, other: Callable[[], _Traced]
) -> _Traced:
    """Return what is a linear form in some boxes, and something else in others."""
    if np.all(linear):
        return _Traced(boxes, boxes.enclosure(form), form=form, linear=linear)
    out = other()
    if np.any(linear):
        inner = boxes.enclosure(form)
        value = inner.value.chosen(linear, out.inner.value)
        slope = inner.slope(_MOVE).chosen(linear, out.inner.slope(_MOVE))
        out.inner = Enclosure(value, {_MOVE: slope})
        out.finite, out.broken = out.finite | linear, out.broken & ~linear
        out.form, out.linear = form, np.asarray(linear)
    return out


def _traced_sum(x: _Traced, y: _Traced) -> _Traced:
    def other() -> _Traced:
        inner = np.add(x.inner, y.inner)
        return _Traced(x.boxes, inner, x.finite & y.finite, x.broken | y.broken)

    if x.form is None or y.form is None:
        return other()
    form = tuple(a + b for a, b in zip(x.form, y.form, strict=True))
    return _with_form(x.boxes, form, x.linear & y.linear, other)


def _traced_opposite(x: _Traced) -> _Traced:
    form = None if x.form is None else tuple(-a for a in x.form)
    inner = np.negative(x.inner)
    return _Traced(x.boxes, inner, x.finite, x.broken, form, x.linear)


def _traced_product(x: _Traced, y: _Traced) -> _Traced:
    def other() -> _Traced:
        inner = np.multiply(x.inner, x.inner if y is x else y.inner)
        return _Traced(x.boxes, inner, x.finite & y.finite, x.broken | y.broken)

    for one, factor in ((x, y), (y, x)):
        number = _number(factor)
        if number is not None and one.form is not None:
            form = tuple(a * number for a in one.form)
            return _with_form(x.boxes, form, one.linear, other)
    return other()


def _number(x: _Traced) -> Number | None:
    """Return what is the same number in all boxes, as a function of n is."""
    if x.form is None or not np.all(x.linear):
        return None
    return x.boxes.constant(x.form)


def _traced_quotient(x: _Traced, y: _Traced) -> _Traced:
    number = _number(y)
    if number:
        inverse = _traced(x.boxes, Fraction(1) / number)
        return _traced_product(x, inverse)
    lo, hi = y.inner.value
    apart = (lo > 0) | (hi < 0)
    by_zero = y.finite & (lo == 0) & (hi == 0)
    out = _Traced(
        x.boxes,
        np.divide(x.inner, y.inner),
        x.finite & y.finite & apart,
        by_zero | (x.broken & y.finite),
    )
    if x.form is not None and y.form is not None:
        _sharpen_slope(out, x, y, apart)
    return out


def _sharpen_slope(out: _Traced, x: _Traced, y: _Traced, apart: Any) -> None:
    """Use that the slope of a ratio of linear forms has a linear numerator."""
    assert x.form is not None
    assert y.form is not None
    rise, fall = x.boxes.slope_of(x.form), x.boxes.slope_of(y.form)
    form = tuple(rise * b - fall * a for a, b in zip(x.form, y.form, strict=True))
    divisor: Any = Enclosure(y.inner.value, {})
    square = np.reciprocal(divisor * divisor).value
    slope = _without_nan(x.boxes.range_of(form).times(square))
    old = out.inner.slope(_MOVE)
    both = x.linear & y.linear & apart
    sharper = Interval(np.maximum(slope.lo, old.lo), np.minimum(slope.hi, old.hi))
    out.inner = Enclosure(out.inner.value, {_MOVE: sharper.chosen(both, old)})


def _traced_root(x: _Traced, p: float = 0.5) -> _Traced:
    lo, hi = x.inner.value
    above = Interval(np.maximum(lo, 0.0), np.maximum(hi, 0.0))
    base: Any = Enclosure(above, x.inner.slopes)
    inner = np.power(base, p)
    return _Traced(
        x.boxes, inner, x.finite & (lo >= 0), x.broken | (x.finite & (hi < 0))
    )


def _traced_power(x: _Traced, exponent: _Traced) -> _Traced:
    number = Fraction(_number(exponent) or 0)
    if not 0 < abs(number) <= 8:
        raise TypeError
    if number < 0:
        one = _traced(x.boxes, 1)
        positive = _traced_opposite(exponent)
        return _traced_quotient(one, _traced_power(x, positive))
    if number.denominator > 1:
        return _traced_root(x, float(number))
    if number == 1:
        return x
    inner = np.power(x.inner, int(number))
    return _Traced(x.boxes, inner, x.finite, x.broken)


def _traced_maximum(x: _Traced, y: _Traced) -> _Traced:
    condition = _compared(np.greater_equal, x, y)
    out = _choice(condition, x, y, boxes=x.boxes, kink=True)
    out.finite, out.broken = x.finite & y.finite, np.asarray(False)
    return out


def _traced_minimum(x: _Traced, y: _Traced) -> _Traced:
    return _traced_opposite(_traced_maximum(_traced_opposite(x), _traced_opposite(y)))


def _compared(ufunc: np.ufunc, x: _Traced, y: _Traced) -> _Condition:
    gap = _traced_sum(x, _traced_opposite(y))
    truth = ufunc(gap.inner, 0.0)
    # What is no number compares as it likes.
    finite = x.finite & y.finite
    return _condition(x.boxes, Truth(truth.surely & finite, truth.maybe | ~finite))


def _choice(
    condition: Any, x: Any, y: Any, *, boxes: _Boxes, kink: bool = False
) -> _Traced:
    """Choose between two; where the condition is open, the result may jump.

    At a kink, where the two meet, a difference lies between those of the two.
    """
    if not isinstance(condition, Truth):
        condition = Truth(*2 * (np.asarray(condition, dtype=np.bool_),))
    x, y = _traced(boxes, x), _traced(boxes, y)
    yes, no = condition.surely, ~condition.maybe

    def choose(one: Interval, other: Interval, both: Interval) -> Interval:
        return one.chosen(yes, other.chosen(no, both))

    (value, slope), (value_y, slope_y) = (
        (z.inner.value, z.inner.slope(_MOVE)) for z in (x, y)
    )
    hull = value.hull(value_y)
    if kink:  # the larger of the two
        hull = Interval(np.maximum(value.lo, value_y.lo), hull.hi)
    open_slope = slope.hull(slope_y) if kink else ANYTHING
    inner = Enclosure(
        choose(value, value_y, hull), {_MOVE: choose(slope, slope_y, open_slope)}
    )
    finite, broken = (
        np.where(yes, one, np.where(no, other, one & other))
        for one, other in ((x.finite, y.finite), (x.broken, y.broken))
    )
    form, linear = y.form, y.linear & no
    if form is None or not np.any(linear):
        form, linear = x.form, x.linear & yes
    return _Traced(boxes, inner, finite, broken, form, linear)


_COMPARISONS = {
    np.equal,
    np.not_equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
}
_TRACED: dict[Any, Callable[..., _Traced]] = {
    np.add: _traced_sum,
    np.subtract: lambda x, y: _traced_sum(x, _traced_opposite(y)),
    np.negative: _traced_opposite,
    np.positive: lambda x: x,
    np.multiply: _traced_product,
    np.divide: _traced_quotient,
    np.reciprocal: lambda x: _traced_quotient(_traced(x.boxes, 1), x),
    np.square: lambda x: _traced_product(x, x),
    np.sqrt: _traced_root,
    np.power: _traced_power,
    np.float_power: _traced_power,
    np.maximum: _traced_maximum,
    np.minimum: _traced_minimum,
    np.absolute: lambda x: _traced_maximum(x, _traced_opposite(x)),
}


class _Found(NamedTuple):
    """Bounds on the utility and on its slope along the move, in every box."""

    low: FloatArray
    high: FloatArray
    slope: FloatArray
    finite: Any
    known: Any


def _bounds(metric: Metric, boxes: _Boxes) -> _Found:
    """Return bounds; the value of a score that is no number is `zero_division`."""
    form = np.eye(4, 5, dtype=int).tolist()
    cells: list[Any] = [
        _Traced(boxes, boxes.enclosure(tuple(x)), form=tuple(x), linear=True)
        for x in form
    ]
    with np.errstate(all="ignore"):
        score = _traced(boxes, _score(metric, cells))
    instead = None
    if isinstance(metric, CustomMetric) and metric.form != "rates":
        instead = metric.zero_division
    value, known = score.inner.value, score.finite
    if instead is not None:
        value = Interval(instead, instead).chosen(score.broken, value)
        known = known | score.broken
    slope = score.inner.slope(_MOVE)
    if not metric.greater_is_better:
        value, slope = -value, -slope
    size = (boxes.lo.shape[1],)
    ends = (value.lo, value.hi, slope.lo, score.finite, known)
    return _Found(*(np.broadcast_to(x, size) for x in ends))


class _Search(NamedTuple):
    """What is to be proved: that a move never lowers the utility."""

    metric: Metric
    n: float
    move: Move
    budget: int


def _proved_by_enclosure(search: _Search, kinds: tuple[Kind, ...]) -> bool:
    """Cut up the boxes of the given kinds until the move is proved on each."""
    if not kinds:
        return True
    metric, n, move, _ = search
    step = np.array(move, dtype=np.float64)[:, None]
    lo = np.array([_least(move, kind) for kind in kinds], dtype=np.float64).T
    hi = np.where(np.array(kinds).T, lo, n)
    size, spent, first = 0.0, 0, True
    while True:
        lo, hi, possible = _shrunk(lo, hi, n)
        lo, hi = lo[:, possible], hi[:, possible]
        if not lo.shape[1]:
            return True
        points = _some_points(lo, hi, n)
        before, after = (_utility(metric, points + x, n) for x in (0.0, step))
        size = max(size, float(np.max(np.abs(before))), float(np.max(np.abs(after))))
        noise = ROUNDING * size
        if not np.all(after - before >= -noise):
            return False
        left = np.any(lo < hi, axis=0)  # a box of one point has just been looked at
        lo, hi = lo[:, left], hi[:, left]
        if first:
            left, first = ~_proved_on_boxes(search, lo, hi, noise), False
            lo, hi = lo[:, left], hi[:, left]
        spent += 8 * lo.shape[1]
        if spent > search.budget:
            return False
        lo, hi = _open_halves(search, lo, hi, noise)


def _open_halves(
    search: _Search, lo: FloatArray, hi: FloatArray, noise: float
) -> tuple[FloatArray, FloatArray]:
    """Halve boxes that could not be proved; return the halves that still cannot.

    Every box is halved at the cell that settles the most, and among equals at the one
    whose ends have the largest ratio: a step in one cell is then closed in upon without
    cutting up the others.
    """
    halves = [_halved(lo, hi, cell) for cell in range(4)]
    lows, highs, possible = _shrunk(
        np.concatenate([low for low, _ in halves], axis=1),
        np.concatenate([high for _, high in halves], axis=1),
        search.n,
    )
    settled = ~possible
    settled[possible] = _proved_on_boxes(
        search, lows[:, possible], highs[:, possible], noise
    )
    boxes = lo.shape[1]
    settled = settled.reshape(4, 2, boxes)
    # The second part is below 1, and larger where the ratio of the ends is.
    useful = settled.sum(axis=1) + (1 - (lo + 1) / (hi + 2))
    best = np.argmax(np.where(hi > lo, useful, -1.0), axis=0)
    each = np.arange(boxes)
    left = ~settled.transpose(0, 2, 1)[best, each]
    lo, hi = (
        ends.reshape(4, 4, 2, boxes).transpose(1, 3, 2, 0)[best, each][left].T
        for ends in (lows, highs)
    )
    return lo, hi


def _proved_on_boxes(
    search: _Search, lo: FloatArray, hi: FloatArray, noise: float
) -> Any:
    """Say on which boxes the slope, or else the values, show that nothing falls."""
    metric, n, move, _ = search
    step = np.array(move, dtype=np.float64)[:, None]
    around = _Boxes(lo + np.minimum(step, 0), hi + np.maximum(step, 0), n, move)
    found = _bounds(metric, around)
    proved = np.array(found.finite & (found.slope >= -noise))
    rest = np.flatnonzero(~proved)
    if rest.size:
        lo, hi = lo[:, rest], hi[:, rest]
        before = _bounds(metric, _Boxes(lo, hi, n, move))
        after = _bounds(metric, _Boxes(lo + step, hi + step, n, move))
        known = before.known & after.known
        proved[rest] = known & (after.low - before.high >= -noise)
    return proved


def _shrunk(
    lo: FloatArray, hi: FloatArray, n: float
) -> tuple[FloatArray, FloatArray, Any]:
    """Shrink boxes to what sums to n, and say in which of them anything does."""
    lo, hi = (
        np.maximum(lo, n - (hi.sum(axis=0) - hi)),
        np.minimum(hi, n - (lo.sum(axis=0) - lo)),
    )
    return lo, hi, np.all(lo <= hi, axis=0)


def _some_points(lo: FloatArray, hi: FloatArray, n: float) -> FloatArray:
    """Return one confusion matrix of every box, for a look at what may fail."""
    points = lo.copy()
    rest = n - points.sum(axis=0)
    for i in range(4):
        add = np.minimum(rest, hi[i] - lo[i])
        points[i] += add
        rest -= add
    return points


def _halved(lo: FloatArray, hi: FloatArray, cell: int) -> tuple[FloatArray, FloatArray]:
    """Cut boxes in two at one cell; the second half is empty if there is no room."""
    # The middle in ratio, for counts run over all orders of magnitude.
    middle = np.floor(np.sqrt((lo[cell] + 1) * (hi[cell] + 1))) - 1
    middle = np.clip(middle, lo[cell], np.maximum(hi[cell] - 1, lo[cell]))
    lower, upper = hi.copy(), lo.copy()
    lower[cell], upper[cell] = middle, middle + 1
    return np.concatenate([lo, upper], axis=1), np.concatenate([lower, hi], axis=1)
