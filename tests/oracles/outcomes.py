"""The whole law of the score of given labels, in exact arithmetic.

`score_law_by_outcomes` is the definition, word by word; `score_law` goes over pairs
(tp, fn) instead and reaches n = 12. For all 2^n label vectors at once there are
`chances_of_all_labels` and `quantiles_of_all_labels`, which take what
`oracles.enumeration.laws_of_all_labels` returns.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, product

import numpy as np

from oracles.definitions import Definition, square_root
from oracles.enumeration import (
    UNIT,
    AllLaws,
    ExactScores,
    best_over_all_labels,
    exact_law_by_recursion,
)

# Roots have 60 digits, and different scores of a few instances differ in the first 20:
# what differs by less than this is the same number.
SAME = Fraction(1, 10**40)


@dataclass(frozen=True)
class ExactLaw:
    """A number that takes finitely many values, each with its probability.

    Attributes
    ----------
    values : tuple of Fraction
        The values that can occur, ascending, each once.
    masses : tuple of Fraction
        Their probabilities, positive.
    """

    values: tuple[Fraction, ...]
    masses: tuple[Fraction, ...]

    @cached_property
    def cumulative(self) -> tuple[Fraction, ...]:
        """P(X <= value), for each value."""
        return tuple(accumulate(self.masses))

    @cached_property
    def mean(self) -> Fraction:
        return sum(v * m for v, m in zip(self.values, self.masses, strict=True))

    @cached_property
    def std(self) -> Fraction:
        spread = sum(
            (v - self.mean) ** 2 * m
            for v, m in zip(self.values, self.masses, strict=True)
        )
        return square_root(Fraction(spread))

    def at_most(self, x: Fraction | float) -> Fraction:
        """Return P(X <= x)."""
        i = bisect_right(self.values, Fraction(x) + SAME)
        return self.cumulative[i - 1] if i else Fraction(0)

    def at_least(self, x: Fraction | float) -> Fraction:
        """Return P(X >= x)."""
        i = bisect_left(self.values, Fraction(x) - SAME)
        return 1 - (self.cumulative[i - 1] if i else Fraction(0))

    def quantile(self, q: Fraction | float) -> Fraction:
        """Return the smallest value x with P(X <= x) >= q; at q = 0 the smallest."""
        return self.values[bisect_left(self.cumulative, Fraction(q))]

    def negated(self) -> ExactLaw:
        """Return the law of -X."""
        return ExactLaw(tuple(-v for v in self.values[::-1]), self.masses[::-1])

    def shifted(self, by: Fraction | int) -> ExactLaw:
        """Return the law of X + by."""
        return ExactLaw(tuple(v + by for v in self.values), self.masses)


def law_of_pairs(pairs: Iterable[tuple[Fraction, Fraction]]) -> ExactLaw:
    """Return the law that has these values with these masses, in any order."""
    values: list[Fraction] = []
    masses: list[Fraction] = []
    for value, mass in sorted(pairs):
        if mass == 0:
            continue
        if values and value - values[-1] < SAME:
            masses[-1] += mass
        else:
            values.append(value)
            masses.append(mass)
    return ExactLaw(tuple(values), tuple(masses))


def score_law_by_outcomes(
    p: Sequence[float | Fraction],
    labels: Sequence[int],
    definition: Definition,
    zero_division: Fraction | str,
) -> ExactLaw:
    """Return the law of the score of `labels`, outcome by outcome."""
    pairs = []
    for outcome in product((0, 1), repeat=len(p)):
        seen = list(zip(labels, outcome, strict=True))
        tp, fp = seen.count((1, 1)), seen.count((1, 0))
        fn, tn = seen.count((0, 1)), seen.count((0, 0))
        chance = Fraction(1)
        for p_i, actual in zip(map(Fraction, p), outcome, strict=True):
            chance *= p_i if actual else 1 - p_i
        pairs.append((definition(tp, fp, fn, tn, zero_division), chance))
    return law_of_pairs(pairs)


def score_law(
    p: Sequence[float | Fraction],
    labels: Sequence[int],
    definition: Definition,
    zero_division: Fraction | str,
) -> ExactLaw:
    """Return the law of the score of `labels` from the laws of TP and FN."""
    inside, outside = cell_laws(p, labels)
    k, rest = len(inside) - 1, len(outside) - 1
    return law_of_pairs(
        (definition(tp, k - tp, fn, rest - fn, zero_division), a * b)
        for tp, a in enumerate(inside)
        for fn, b in enumerate(outside)
    )


def cell_laws(
    p: Sequence[float | Fraction], labels: Sequence[int]
) -> tuple[list[Fraction], list[Fraction]]:
    """Return the laws of TP and of FN, which are independent."""
    chosen = [bool(label) for label in labels]
    pairs = list(zip(p, chosen, strict=True))
    return (
        exact_law_by_recursion([p_i for p_i, label in pairs if label]),
        exact_law_by_recursion([p_i for p_i, label in pairs if not label]),
    )


def chances_of_all_labels(
    laws: AllLaws,
    definition: Definition,
    zero_division: Fraction,
    score: Fraction,
    *,
    loss: bool = False,
) -> tuple[Fraction, ExactScores]:
    """Return P(at least as good as `score`): the best, and of every label vector."""

    def reached(tp, fp, fn, tn, zero_division):
        value = definition(tp, fp, fn, tn, zero_division)
        return Fraction(value <= score + SAME if loss else value >= score - SAME)

    return best_over_all_labels(laws, reached, zero_division)


def quantiles_of_all_labels(
    laws: AllLaws,
    definition: Definition,
    zero_division: Fraction,
    q: Fraction,
    *,
    loss: bool = False,
) -> np.ndarray:
    """Return the q-quantile of the score of every label vector, from the bad side.

    For a loss that is minus the q-quantile of minus the loss. Bit i of an index is
    instance i; q is positive.
    """
    sign = -1 if loss else 1
    needed = math.ceil(q * UNIT**laws.n)
    out = np.empty(2**laws.n, dtype=object)
    for k, (masks, weights) in enumerate(zip(laws.masks, laws.weights, strict=True)):
        values = np.array(
            [
                definition(tp, k - tp, fn, laws.n - k - fn, zero_division) * sign
                for tp in range(k + 1)
                for fn in range(laws.n - k + 1)
            ],
            dtype=object,
        )
        order = np.argsort(values)
        reached = np.cumsum(weights[:, order].astype(np.int64), axis=1) >= needed
        out[masks] = sign * values[order][np.argmax(reached, axis=1)]
    return out
