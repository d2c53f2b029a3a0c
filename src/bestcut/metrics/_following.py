"""How a metric's formula is followed: with something else in the place of arrays.

A formula is code, often a callable of the user's, so there is nothing to read a proof
off. But it can be called with objects that answer to NumPy's functions, each with a
rule of its own: intervals, discs, polynomials. What comes back holds for all counts
that the objects stand for. A formula that does something for which there is no rule is
not followed, and nothing is claimed about it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bestcut._errors import NotFollowedError
from bestcut.metrics._base import Metric
from bestcut.metrics._families import CustomMetric

Rules = dict[Any, Callable[..., Any]]


def formula_of(metric: Metric) -> Callable[..., Any]:
    """Return what computes a metric from the four cells, without any checks."""
    return metric._unchecked if isinstance(metric, CustomMetric) else metric.score_cells


def followed(
    formula: Callable[..., Any], read: Callable[[Any], Any], *arguments: Any
) -> Any:
    """Return what a formula makes of its arguments, as `read` understands it.

    Raises
    ------
    NotFollowedError
        Whatever happens in the formula, or if it returns what cannot be read.
    """
    try:
        return read(formula(*arguments))
    except Exception as error:  # whatever a callable makes of an unknown type
        raise NotFollowedError from error


class FollowsNumPy(np.lib.mixins.NDArrayOperatorsMixin):
    """What goes through a formula in the place of an array.

    `rules` says what stands for each function of NumPy.
    """

    rules: Rules

    def __bool__(self) -> bool:
        """Refuse: a formula that branches on it cannot be followed."""
        raise NotFollowedError

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        """Do what NumPy would do, by the rule for it."""
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
    """Whether something holds for all that is enclosed, and whether it may hold."""

    def __init__(self, surely: Any, maybe: Any) -> None:
        self.surely, self.maybe = np.asarray(surely), np.asarray(maybe)

    @classmethod
    def of(cls, x: Any) -> Truth:
        """Return a truth as it is, and of what is known the same for both."""
        if isinstance(x, Truth):
            return x
        known = np.asarray(x, dtype=np.bool_)
        return cls(known, known)

    def negated(self) -> Truth:
        """Return whether it does not hold."""
        return type(self)(~self.maybe, ~self.surely)

    def and_also(self, other: Truth) -> Truth:
        """Return whether both hold."""
        return type(self)(self.surely & other.surely, self.maybe & other.maybe)


class Operations(NamedTuple):
    """What a kind of enclosing numbers has to define; `rules` has the rest.

    `of` makes such a number of any other, and of a `truth`.
    """

    truth: type[Truth]
    of: Callable[[Any], Any]
    add: Callable[[Any, Any], Any]
    negative: Callable[[Any], Any]
    multiply: Callable[[Any, Any], Any]
    divide: Callable[[Any, Any], Any]
    reciprocal: Callable[[Any], Any]
    power: Callable[[Any, Any], Any]
    exp: Callable[[Any], Any]
    log: Callable[[Any], Any]
    expm1: Callable[[Any], Any]
    log1p: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    larger: Callable[[Any, Any], Any]
    smaller: Callable[[Any, Any], Any]
    equal: Callable[[Any, Any], Truth]
    greater: Callable[[Any, Any], Truth]
    greater_equal: Callable[[Any, Any], Truth]
    where: Callable[[Any, Any, Any], Any]

    def rules(self) -> Rules:
        """Return what stands for each function of NumPy that can be followed."""
        return {
            np.add: self.add,
            np.subtract: lambda x, y: self.add(x, self.negative(y)),
            np.multiply: self.multiply,
            np.divide: self.divide,
            np.negative: self.negative,
            np.positive: self.of,
            np.sqrt: lambda x: self.power(x, 0.5),
            np.square: lambda x: self.multiply(x, x),
            np.reciprocal: self.reciprocal,
            np.power: self.power,
            np.float_power: self.power,
            np.exp: self.exp,
            np.log: self.log,
            np.expm1: self.expm1,
            np.log1p: self.log1p,
            np.tanh: self.tanh,
            np.maximum: self.larger,
            np.fmax: self.larger,
            np.minimum: self.smaller,
            np.fmin: self.smaller,
            np.absolute: lambda x: self.larger(x, self.negative(x)),
            np.equal: self.equal,
            np.not_equal: lambda x, y: self.equal(x, y).negated(),
            np.greater_equal: self.greater_equal,
            np.greater: self.greater,
            np.less_equal: lambda x, y: self.greater_equal(y, x),
            np.less: lambda x, y: self.greater(y, x),
            np.bitwise_and: self._both,
            np.logical_and: self._both,
            np.bitwise_or: self._either,
            np.logical_or: self._either,
            np.invert: self._not,
            np.logical_not: self._not,
            np.where: self.where,
            np.all: lambda x: not np.any(self.equal(x, 0.0).maybe),
        }

    def _not(self, x: Any) -> Truth:
        return self.truth.of(x).negated()

    def _both(self, x: Any, y: Any) -> Truth:
        return self.truth.of(x).and_also(self.truth.of(y))

    def _either(self, x: Any, y: Any) -> Truth:
        return self._not(self._both(self._not(x), self._not(y)))
