"""A metric from a formula in text, read without running any of it.

Only these are allowed: the counts ``tp fp fn tn n n_pred n_pos``, numbers,
``+ - * / **``, parentheses, and ``sqrt min max abs``. The text is parsed to a tree.
Every node of the tree is checked, and the tree is evaluated with NumPy; nothing is ever
passed to ``eval``. A `Worth` may also hold names of columns.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np

from bestcut._errors import ExpressionError, plain
from bestcut._types import FloatArray
from bestcut.metrics._base import Metric
from bestcut.metrics._families import FractionalLinear, LinearUtility, from_counts
from bestcut.metrics._rows import RowUtility

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
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_SUM = "Every term must be a count times numbers or columns, as in amount*tp - 5*fp."
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
        ``max``, ``abs``. It may come from anyone, because it is never run as code;
        `work_limit` bounds the time that a decision for it may take.
    name : str, optional
        The name of the metric in messages; the formula itself if None.
    zero_division : float, default=0.0
        Its value where the formula divides by 0 or is otherwise undefined.

    Returns
    -------
    Metric
        A `FractionalLinear` or `LinearUtility` if the formula has that form, which is
        fast and makes the check of the metric a proof; otherwise a `CustomMetric`.

    Raises
    ------
    ExpressionError
        If the formula holds anything else.
    TypeError
        If `text` is not a string, or `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.from_counts : A metric from a callable, which may do more.
    bestcut.metrics.FractionalLinear : The family that most formulas belong to.
    bestcut.check_metric : Check whether ranking and cutting is optimal for a metric.

    Notes
    -----
    The docstrings of the named metrics have their formulas in this form, to begin with.

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


def is_formula(text: str) -> bool:
    """Return whether a text looks like a formula, and not like a mistyped name.

    A hyphen alone, as in ``F-measure``, makes no formula: it has to stand beside a
    count.

    Parameters
    ----------
    text : str
        What was given as a metric.
    """
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    return bool(words & set(_COUNTS)) or bool(set(text) & set("+*/("))


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
        _check_length(self.text)
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
        with np.errstate(all="ignore"):  # undefined values become `zero_division`
            return _value(self.tree, counts) + 0.0 * tp


def _parsed(text: str, *, columns: bool = False) -> ast.expr:
    """Return the tree of a formula, which may hold other names if they are columns."""
    other = _OTHER.search(text)
    if other:
        raise _not_allowed(text, other.group(), columns=columns)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # "1or 2"; refused below
            warnings.simplefilter("ignore", DeprecationWarning)
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it cannot be parsed"
        msg = f"the formula {_shown(text)} is not understood: {reason}."
        raise ExpressionError(msg) from None
    _check(tree, text, _DEEPEST, columns=columns)
    for node in ast.walk(tree):
        _check_finite(node, text)
    return tree


def _check_length(text: str) -> None:
    """Refuse a long formula, before anything is done with it."""
    if len(text) > _LONGEST:
        msg = (
            f"a formula may have at most {_LONGEST} characters; this one has "
            f"{len(text)}."
        )
        raise ExpressionError(msg)


def _check_finite(node: ast.AST, text: str) -> None:
    """Refuse a part that is undefined, or infinite, whatever the counts are."""
    if not isinstance(node, ast.expr) or any(
        isinstance(x, ast.Name) and x.id not in _FUNCTIONS for x in ast.walk(node)
    ):
        return
    if isinstance(node, ast.Name):
        return
    with np.errstate(all="ignore"):
        value = _value(node, {})
    if not np.isfinite(value):
        part = _shown(ast.get_source_segment(text.strip(), node) or "?")
        msg = f"the formula {_shown(text)} holds {part}, which is not a finite number."
        raise ExpressionError(msg)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _not_allowed(text: str, part: str, *, columns: bool) -> ExpressionError:
    more = " columns (in brackets unless a plain word)," if columns else ""
    msg = (
        f"the formula {_shown(text)} holds {_shown(part)}, which is not allowed. Use "
        f"{', '.join(_COUNTS)},{more} numbers, + - * / ** ( ), and "
        f"{', '.join(_FUNCTIONS)}."
    )
    return ExpressionError(msg)


def _check(node: ast.AST, text: str, depth: int, *, columns: bool) -> None:
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
        case ast.Name(id=name) if name in _COUNTS or (
            columns and name not in _FUNCTIONS
        ):
            pass
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left, text, depth - 1, columns=columns)
            _check(right, text, depth - 1, columns=columns)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            _check(operand, text, depth - 1, columns=columns)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if (
            name in _FUNCTIONS and len(args) >= _FUNCTIONS[name][1]
        ):
            if _FUNCTIONS[name][1] == 1 and len(args) > 1:
                msg = f"{name}() takes one argument; got {len(args)}."
                raise ExpressionError(msg)
            for argument in args:
                _check(argument, text, depth - 1, columns=columns)
        case _:
            part = ast.get_source_segment(text.strip(), node)
            raise _not_allowed(text, part or "?", columns=columns)


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
    """Return a linear numerator and denominator, if the formula is such a ratio."""
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


class Worth:
    """A formula of what rows are worth: counts times numbers and columns.

    ``amount*tp - 5*fp`` is a sum over rows: a row that is TP brings its amount, and a
    row that is FP costs 5. Write the name of a column in brackets if it is not a plain
    word, or if it is also the name of a count: ``[amount in EUR]*tp``. A formula is
    never run as code.

    Parameters
    ----------
    text : str
        A sum of terms, each of which has one of ``tp``, ``fp``, ``fn``, ``tn``, ``n``,
        ``n_pred`` and ``n_pos`` as a factor.

    Attributes
    ----------
    columns : list of str
        The columns that it needs.

    Examples
    --------
    >>> from bestcut.metrics import Worth
    >>> worth = Worth("amount*tp - 5*fp")
    >>> worth.columns
    ['amount']
    >>> worth.utility({"amount": [900.0, 20.0]}).tp.tolist()
    [900.0, 20.0]
    """

    def __init__(self, text: str) -> None:
        _check_length(text)
        self.text = " ".join(text.split())
        self._named: dict[str, str] = {}
        plain = _BRACKETS.sub(self._name_for, self.text)
        try:
            self._tree = _parsed(plain, columns=True)
        except ExpressionError as error:
            message = str(error)
            for name, column in self._named.items():
                message = message.replace(f" {name} ", f"[{column}]")
            raise ExpressionError(message) from None
        names = (x.id for x in ast.walk(self._tree) if isinstance(x, ast.Name))
        known = {*_COUNTS, *_FUNCTIONS}
        for name in names:
            if name not in known:
                self._named.setdefault(name, name)
        self.columns = list(dict.fromkeys(self._named.values()))
        self._terms(dict.fromkeys(self.columns, 1.0))  # refuses other formulas

    def _name_for(self, found: re.Match[str]) -> str:
        """Return a name that stands for a column in brackets."""
        name = f"_column_{len(self._named)}"
        while name in self.text:
            name += "_"
        self._named[name] = found.group(1).strip()
        return f" {name} "

    def utility(self, columns: Mapping[str, Any]) -> RowUtility:
        """Return what rows are worth.

        Parameters
        ----------
        columns : mapping of str to array-like of shape (n,)
            The columns, by their names.

        Returns
        -------
        RowUtility
            Named as the formula.

        Raises
        ------
        ExpressionError
            If it is not a sum of counts, or is not finite in some row.
        """
        cells = self._terms(columns).cells
        for amounts in cells:
            bad = ~np.isfinite(amounts)
            if np.any(bad):
                at = f" in row {int(np.argmax(bad)) + 1}" if np.ndim(bad) else ""
                raise self._refusal(what=f"is not finite{at}", cure="Change it.")
        tp, fp, fn, tn = (x if np.ndim(x) else float(x) for x in cells)
        return RowUtility(tp, fp, fn, tn, name=plain(self.text))

    def _terms(self, columns: Mapping[str, Any]) -> _Terms:
        """Return what each row brings to the four cells."""
        values = {
            name: np.asarray(columns[column], dtype=np.float64)
            for name, column in self._named.items()
        }
        with np.errstate(all="ignore"):  # undefined values are refused later
            found = self._value(self._tree, values)
        if found.cells is None:
            cure = f"Use {', '.join(_COUNTS)}."
            raise self._refusal(what="holds no count", cure=cure)
        if found.constant is not None and np.any(found.constant != 0.0):
            cure = "Multiply it by n if it is for every row."
            raise self._refusal(what="has a term without a count", cure=cure)
        return found

    def _refusal(self, what: str, cure: str = _SUM) -> ExpressionError:
        return ExpressionError(f"the formula {_shown(self.text)} {what}. {cure}")

    def _value(self, node: ast.AST, columns: Mapping[str, FloatArray]) -> _Terms:
        """Evaluate a checked tree, count by count."""
        match node:
            case ast.Constant(value=value):
                return _Terms(np.float64(value))  # type: ignore[arg-type]
            case ast.Name(id=name) if name in columns:
                return _Terms(columns[name])
            case ast.Name(id=name):
                return _Terms(None, [np.float64(x) for x in _MEMBERS[name]])
            case ast.UnaryOp(op=op, operand=operand):
                return self._value(operand, columns).each(_UNARY[type(op)])
            case ast.BinOp(left=left, op=op, right=right):
                return self._combined(
                    self._value(left, columns), op, self._value(right, columns)
                )
            case ast.Call(func=ast.Name(id=name), args=args):
                each = [self._value(x, columns) for x in args]
                if any(x.cells is not None for x in each):
                    raise self._refusal(what=f"takes {name}() of a count")
                function, least = _FUNCTIONS[name]
                numbers = [x.constant for x in each]
                one = function(*numbers) if least == 1 else reduce(function, numbers)
                return _Terms(one)
        raise AssertionError(node)  # unreachable: the tree was checked

    def _combined(self, a: _Terms, op: ast.operator, b: _Terms) -> _Terms:
        function = _BINARY[type(op)]
        match op:
            case ast.Add():
                return a.plus(b)
            case ast.Sub():
                return a.plus(b.each(np.negative))
            case _ if a.cells is None and b.cells is None:
                return _Terms(function(a.constant, b.constant))
            case ast.Mult() if a.cells is None:
                return b.each(lambda x: function(a.constant, x))
            case ast.Mult() | ast.Div() if b.cells is None:
                return a.each(lambda x: function(x, b.constant))
        raise self._refusal(what="is not a sum of counts times numbers and columns")


@dataclass(frozen=True)
class _Terms:
    """A number for each row, and what each row brings to the four cells.

    Either is None where a formula has no such term.
    """

    constant: Any
    cells: Any = None  # four numbers, or rows of numbers

    def each(self, function: Callable[[Any], Any]) -> _Terms:
        """Return the same with a linear function of all numbers."""
        constant = None if self.constant is None else function(self.constant)
        cells = None if self.cells is None else [function(x) for x in self.cells]
        return _Terms(constant, cells)

    def plus(self, other: _Terms) -> _Terms:
        constant, cells = self.constant, self.cells
        if constant is None or other.constant is None:
            constant = other.constant if constant is None else constant
        else:
            constant = constant + other.constant
        if cells is None or other.cells is None:
            return _Terms(constant, other.cells if cells is None else cells)
        return _Terms(
            constant, [x + y for x, y in zip(cells, other.cells, strict=True)]
        )
