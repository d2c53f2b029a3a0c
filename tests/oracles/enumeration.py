"""Expected scores by enumeration, in exact arithmetic.

`expected_score` is the definition, word by word. `laws_of_all_labels` and
`best_over_all_labels` do the same for all 2^n label vectors at once, for probabilities
that are multiples of 1/64 and n <= 10; the laws serve any number of metrics:

    laws = laws_of_all_labels([48, 32, 1])
    best, scores = best_over_all_labels(laws, DEFINITIONS["f1"], Fraction(0))
    scores[0b001] == scores.of([True, False, False])  # bit i is instance i
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np

from oracles.definitions import Definition

UNIT = 64  # probabilities are multiples of 1/UNIT
N_MAX = 10  # UNIT**N_MAX = 2**60 still fits int64


def confusion_matrices(n: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (tp, fp, fn, tn) of every confusion matrix of n instances."""
    for tp, fp, fn in product(range(n + 1), repeat=3):
        if tp + fp + fn <= n:
            yield tp, fp, fn, n - tp - fp - fn


def lattice(n_max: int) -> np.ndarray:
    """Return the cells of all confusion matrices of 0 to n_max instances, as columns.

    The result has the rows tp, fp, fn, tn.
    """
    cells = [c for n in range(n_max + 1) for c in confusion_matrices(n)]
    return np.array(cells, dtype=np.float64).T


def exact_law(p: Sequence[float | Fraction]) -> list[Fraction]:
    """Return the law of the number of positives, outcome by outcome."""
    law = [Fraction(0)] * (len(p) + 1)
    for outcome in product((0, 1), repeat=len(p)):
        law[sum(outcome)] += _probability(p, outcome)
    return law


def exact_law_by_recursion(p: Sequence[float | Fraction]) -> list[Fraction]:
    """Return the law of the number of positives, instance by instance."""
    law = [Fraction(1)]
    for p_i in map(Fraction, p):
        stays = [*(mass * (1 - p_i) for mass in law), Fraction(0)]
        rises = [Fraction(0), *(mass * p_i for mass in law)]
        law = [a + b for a, b in zip(stays, rises, strict=True)]
    return law


def expected_score(
    p: Sequence[float | Fraction],
    labels: Sequence[int],
    definition: Definition,
    zero_division: Fraction,
) -> Fraction:
    """Return the expected score of `labels`, outcome by outcome."""
    total = Fraction(0)
    for outcome in product((0, 1), repeat=len(p)):
        cells = [0, 0, 0, 0]  # tp, fp, fn, tn
        for predicted, actual in zip(labels, outcome, strict=True):
            if predicted:
                cells[0 if actual else 1] += 1
            else:
                cells[2 if actual else 3] += 1
        total += _probability(p, outcome) * definition(*cells, zero_division)
    return total


def _probability(p: Sequence[float | Fraction], outcome: Sequence[int]) -> Fraction:
    """Return the probability of one outcome; floats convert to fractions exactly."""
    weight = Fraction(1)
    for p_i, actual in zip(map(Fraction, p), outcome, strict=True):
        weight *= p_i if actual else 1 - p_i
    return weight


@dataclass(frozen=True)
class AllLaws:
    """For every label vector, the joint law of its TP and FN, over 64^n.

    Attributes
    ----------
    n : int
    masks : list of ndarray
        ``masks[k]``: the label vectors with k ones.
    weights : list of ndarray of Python ints
        ``weights[k]``: one row for each of them, a column for each pair (tp, fn).
    """

    n: int
    masks: list[np.ndarray]
    weights: list[np.ndarray]


@dataclass(frozen=True)
class ExactScores:
    """The expected score of every label vector; bit i of an index is instance i."""

    numerators: np.ndarray
    denominator: int

    def __len__(self) -> int:
        return len(self.numerators)

    def __getitem__(self, mask: int) -> Fraction:
        return Fraction(self.numerators[mask], self.denominator)

    def of(self, labels: Sequence[int]) -> Fraction:
        return self[sum(1 << i for i, label in enumerate(labels) if label)]


def laws_of_all_labels(p64: Sequence[int]) -> AllLaws:
    """Return the laws that every metric is averaged over, for p = p64 / 64."""
    n = len(p64)
    if n > N_MAX or not all(x == int(x) and 0 <= x <= UNIT for x in p64):
        msg = f"at most {N_MAX} whole numbers from 0 to {UNIT} are wanted; got {p64}"
        raise ValueError(msg)
    # Row m: the law of the positives among the instances in m, over 64^(their number).
    law = np.ones((1, 1), dtype=np.int64)
    for x in map(int, p64):
        out = np.pad(law, ((0, 0), (0, 1)))
        taken = out * (UNIT - x)
        taken[:, 1:] += law * x
        law = np.concatenate([out, taken])
    sizes = np.array([m.bit_count() for m in range(2**n)])
    masks, weights = [], []
    for k in range(n + 1):
        chosen = np.flatnonzero(sizes == k)
        inside = law[chosen, : k + 1]
        outside = law[2**n - 1 - chosen, : n - k + 1]
        joint = inside[:, :, None] * outside[:, None, :]
        masks.append(chosen)
        weights.append(joint.reshape(chosen.size, -1).astype(object))
    return AllLaws(n, masks, weights)


def best_over_all_labels(
    laws: AllLaws,
    definition: Definition,
    zero_division: Fraction,
    *,
    minimise: bool = False,
) -> tuple[Fraction, ExactScores]:
    """Return the best expected score, and that of every label vector."""
    rows, denominator = _table(definition, laws.n, zero_division)
    numerators = np.empty(2**laws.n, dtype=object)
    for masks, weights, row in zip(laws.masks, laws.weights, rows, strict=True):
        numerators[masks] = weights.dot(row)
    scores = ExactScores(numerators, denominator * UNIT**laws.n)
    best = min(numerators) if minimise else max(numerators)
    return Fraction(best, scores.denominator), scores


@lru_cache(maxsize=1024)
def _table(
    definition: Definition, n: int, zero_division: Fraction
) -> tuple[list[np.ndarray], int]:
    """Return the metric for each k at each (tp, fn), as integers over one number."""
    rows = [
        [
            definition(tp, k - tp, fn, n - k - fn, zero_division)
            for tp in range(k + 1)
            for fn in range(n - k + 1)
        ]
        for k in range(n + 1)
    ]
    common = math.lcm(*(value.denominator for row in rows for value in row))
    whole = [
        np.array([v.numerator * (common // v.denominator) for v in row], dtype=object)
        for row in rows
    ]
    return whole, common
