"""Totals of rows that have amounts of their own, in exact arithmetic.

`worths` are four sequences, of what each row is worth as TP, FP, FN and TN.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from oracles.outcomes import ExactLaw, law_of_pairs

Worths = Sequence[Sequence[float | Fraction]]


def amounts(labels: Sequence[int], worths: Worths) -> list[tuple[Fraction, Fraction]]:
    """Return what each row brings if it is positive, and if it is not."""
    return [
        (Fraction(tp), Fraction(fp)) if label else (Fraction(fn), Fraction(tn))
        for label, tp, fp, fn, tn in zip(labels, *worths, strict=True)
    ]


def expected_total(
    p: Sequence[float], labels: Sequence[int], worths: Worths
) -> Fraction:
    """Return the expected total of these labels."""
    return sum(
        (
            Fraction(p_i) * hit + (1 - Fraction(p_i)) * miss
            for p_i, (hit, miss) in zip(p, amounts(labels, worths), strict=True)
        ),
        Fraction(0),
    )


def total_law(p: Sequence[float], labels: Sequence[int], worths: Worths) -> ExactLaw:
    """Return the law of the total of these labels, outcome by outcome."""
    pairs = []
    each = amounts(labels, worths)
    for outcome in product((0, 1), repeat=len(p)):
        total, chance = Fraction(0), Fraction(1)
        for p_i, y, (hit, miss) in zip(map(Fraction, p), outcome, each, strict=True):
            total += hit if y else miss
            chance *= p_i if y else 1 - p_i
        pairs.append((total, chance))
    return law_of_pairs(pairs)


def best_total(p: Sequence[float], worths: Worths, low: int, high: int) -> Fraction:
    """Return the largest expected total of all labels with `low` to `high` positive."""
    return max(
        expected_total(p, labels, worths)
        for labels in product((0, 1), repeat=len(p))
        if low <= sum(labels) <= high
    )
