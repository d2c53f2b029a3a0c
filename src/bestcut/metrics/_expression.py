"""A metric from a formula in text, read without running any of it.

Only these get through: the counts ``tp fp fn tn n n_pred n_pos``, numbers,
``+ - * / **``, parentheses, and ``sqrt min max abs``. The text is parsed to a tree
whose every node is checked, and the tree is evaluated with NumPy; nothing is ever
passed to ``eval``.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np

from bestcut._errors import ExpressionError
from bestcut.metrics._base import Metric
from bestcut.metrics._families import FractionalLinear, LinearUtility, from_counts

_LONGEST = 1000
_DEEPEST = 50
_OTHER = re.compile(r"[^A-Za-z0-9_\s.,+*/()-]")
_COUNTS = ("tp", "fp", "fn", "tn", "n", "n_pred", "n_pos")
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: np.positive,
    ast.USub: np.negative,
}
_FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "sqrt": (np.sqrt, 1),
    "abs": (np.abs, 1),
    "min": (np.minimum, 2),
    "max": (np.maximum, 2),
}


def from_expression(
    text: str, *, name: str | None = None, zero_division: float = 0.0
) -> Metric:
    """Make a metric from a formula, safely.

    Parameters
    ----------
    text : str
        A formula of the counts ``tp``, ``fp``, ``fn``, ``tn``, ``n``, ``n_pred`` and
        ``n_pos``, with numbers, ``+ - * / **``, parentheses, and ``sqrt``, ``min``,
        ``max``, ``abs``. It may come from anyone: it is read, never run.
    name : str, optional
        How messages call it; the formula itself if None.
    zero_division : float, default=0.0
        Its value where it divides by 0 or is otherwise no number.

    Returns
    -------
    Metric
        A `FractionalLinear` or `LinearUtility` if the formula is one, which makes it
        fast and its check a proof; otherwise a metric of its own.

    Raises
    ------
    ExpressionError
        If there is anything else in the formula.

    Examples
    --------
    >>> from bestcut.metrics import from_expression
    >>> dice = from_expression("2*tp / (2*tp + fp + fn)")
    >>> float(dice(tp=3, n_pred=4, n_pos=5, n=10))
    0.6666666666666666
    >>> type(dice).__name__
    'FractionalLinear'
    """
    formula = Formula(text)
    called = " ".join(text.split()) if name is None else name
    form = _linear_form(formula.tree)
    if form is not None:
        if not all(part.is_sane for part in form):
            msg = f"the formula {_shown(text)} makes numbers too large or too small."
            raise ExpressionError(msg)
        cells = [part.cells for part in form]
        if form[1].constant and not form[0].constant and not any(cells[1]):
            tp, fp, fn, tn = (float(x / form[1].constant) for x in cells[0])
            return LinearUtility(tp, fp, fn, tn, called)
        if not form[0].constant and not form[1].constant:
            c, d = (_shares(*part) for part in cells)
            return FractionalLinear(c, d, zero_division, called)
    return from_counts(formula, called, zero_division=zero_division)


@dataclass(frozen=True)
class Formula:
    """A checked formula; call it with the four cells."""

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            msg = f"a formula must be text; got {type(self.text).__name__}."
            raise TypeError(msg)
        _ = self.tree

    @cached_property
    def tree(self) -> ast.expr:
        """The parsed formula."""
        return _parsed(self.text)

    def __call__(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate at the four cells."""
        counts = {
            "tp": tp,
            "fp": fp,
            "fn": fn,
            "tn": tn,
            "n": tp + fp + fn + tn,
            "n_pred": tp + fp,
            "n_pos": tp + fn,
        }
        with np.errstate(all="ignore"):  # what is no number is `zero_division`
            return _value(self.tree, counts) + 0.0 * tp


def _parsed(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        msg = f"a formula may have {_LONGEST} characters; this one has {len(text)}."
        raise ExpressionError(msg)
    other = _OTHER.search(text)
    if other:
        raise _not_allowed(text, other.group())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # "1or 2"; refused below
            warnings.simplefilter("ignore", DeprecationWarning)
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it cannot be parsed"
        msg = f"the formula {_shown(text)} is not understood: {reason}."
        raise ExpressionError(msg) from None
    _check(tree, text, _DEEPEST)
    return tree


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _not_allowed(text: str, part: str) -> ExpressionError:
    msg = (
        f"the formula {_shown(text)} holds {_shown(part)}, which is not allowed. Use "
        f"{', '.join(_COUNTS)}, numbers, + - * / ** ( ), and {', '.join(_FUNCTIONS)}."
    )
    return ExpressionError(msg)


def _check(node: ast.AST, text: str, depth: int) -> None:
    """Refuse every node that is not on the list."""
    if depth == 0:
        msg = f"the formula {_shown(text)} is nested too deeply."
        raise ExpressionError(msg)
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(
            value, bool
        ):
            if not abs(value) < 1e300:
                msg = f"the formula {_shown(text)} holds a number that is too large."
                raise ExpressionError(msg)
        case ast.Name(id=name) if name in _COUNTS:
            pass
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left, text, depth - 1)
            _check(right, text, depth - 1)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            _check(operand, text, depth - 1)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if (
            name in _FUNCTIONS and len(args) >= _FUNCTIONS[name][1]
        ):
            if _FUNCTIONS[name][1] == 1 and len(args) > 1:
                msg = f"{name}() takes one argument; got {len(args)}."
                raise ExpressionError(msg)
            for argument in args:
                _check(argument, text, depth - 1)
        case _:
            part = ast.get_source_segment(text.strip(), node)
            raise _not_allowed(text, part or "?")


def _value(node: ast.AST, counts: dict[str, Any]) -> Any:
    """Evaluate a checked tree in floating point."""
    match node:
        case ast.Constant(value=value):
            return np.float64(value)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return counts[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_value(left, counts), _value(right, counts))
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_value(operand, counts))
        case ast.Call(func=ast.Name(id=name), args=args):
            function, least = _FUNCTIONS[name]
            values = [_value(argument, counts) for argument in args]
            return function(*values) if least == 1 else reduce(function, values)
    raise AssertionError(node)  # unreachable: the tree was checked


@dataclass(frozen=True)
class _Linear:
    """constant + tp + fp + fn + tn, each with a coefficient."""

    constant: Fraction
    cells: tuple[Fraction, Fraction, Fraction, Fraction]

    @property
    def is_sane(self) -> bool:
        """Whether floats can hold the coefficients."""
        sizes = [abs(x) for x in (self.constant, *self.cells) if x]
        return all(Fraction(1, 10**150) < x < 10**150 for x in sizes)

    def scaled(self, by: Fraction) -> _Linear:
        a, b, c, d = (x * by for x in self.cells)
        return _Linear(self.constant * by, (a, b, c, d))

    def plus(self, other: _Linear) -> _Linear:
        a, b, c, d = (x + y for x, y in zip(self.cells, other.cells, strict=True))
        return _Linear(self.constant + other.constant, (a, b, c, d))


_NONE = (Fraction(0),) * 4
_ONE = _Linear(Fraction(1), _NONE)
_MEMBERS = {
    "tp": (1, 0, 0, 0),
    "fp": (0, 1, 0, 0),
    "fn": (0, 0, 1, 0),
    "tn": (0, 0, 0, 1),
    "n": (1, 1, 1, 1),
    "n_pred": (1, 1, 0, 0),
    "n_pos": (1, 0, 1, 0),
}


def _linear_form(node: ast.AST) -> tuple[_Linear, _Linear] | None:
    """Return a numerator and a denominator, both linear, if the formula is that."""
    match node:
        case ast.Constant(value=value):
            return _ONE.scaled(Fraction(value)), _ONE  # type: ignore[arg-type]
        case ast.Name(id=name):
            a, b, c, d = map(Fraction, _MEMBERS[name])
            return _Linear(Fraction(0), (a, b, c, d)), _ONE
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _linear_form(operand)
            return inner and (inner[0].scaled(Fraction(-1)), inner[1])
        case ast.UnaryOp(operand=operand):
            return _linear_form(operand)
        case ast.BinOp(left=left, op=op, right=right):
            first, second = _linear_form(left), _linear_form(right)
            return first and second and _combined(first, op, second)
    return None


def _combined(
    a: tuple[_Linear, _Linear], op: ast.operator, b: tuple[_Linear, _Linear]
) -> tuple[_Linear, _Linear] | None:
    match op:
        case ast.Add() | ast.Sub() if a[1] == b[1]:
            sign = Fraction(1 if isinstance(op, ast.Add) else -1)
            return a[0].plus(b[0].scaled(sign)), a[1]
        case ast.Mult():
            for one, other in ((a, b), (b, a)):
                if one[0].cells == _NONE and one[1] == _ONE:
                    return other[0].scaled(one[0].constant), other[1]
        case ast.Div() if b[1] == _ONE:
            if b[0].cells == _NONE and b[0].constant:
                return a[0].scaled(1 / b[0].constant), a[1]
            if a[1] == _ONE:
                return a[0], b[0]
    return None


def _shares(tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction) -> Any:
    """Return the coefficients of 1, u, v and p for those of the four cells."""
    return tn, tp - fp - fn + tn, fp - tn, fn - tn
