"""Laws of scores are those worked out by hand, whatever way they are counted."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from groups import slow
from oracles.definitions import DEFINITIONS, LOSSES, square_root
from oracles.enumeration import (
    UNIT,
    best_over_all_labels,
    expected_score,
    laws_of_all_labels,
)
from oracles.outcomes import (
    ExactLaw,
    cell_laws,
    chances_of_all_labels,
    law_of_pairs,
    quantiles_of_all_labels,
    score_law,
    score_law_by_outcomes,
)

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
F1 = DEFINITIONS["f1"]


def test_the_law_of_two_instances_is_the_one_worked_out_by_hand():
    # First label on: outcomes 11, 10, 01, 00 score 2/3, 1, 0, 0.
    p = [HALF, Fraction(1, 4)]
    law = score_law_by_outcomes(p, [1, 0], F1, ZERO)
    assert law.values == (ZERO, Fraction(2, 3), ONE)
    assert law.masses == (HALF, Fraction(1, 8), Fraction(3, 8))
    assert law.mean == Fraction(11, 24)
    assert law.std == square_root(Fraction(1, 18) + Fraction(3, 8) - law.mean**2)
    assert score_law(p, [1, 0], F1, ZERO) == law
    assert cell_laws(p, [1, 0]) == ([HALF, HALF], [Fraction(3, 4), Fraction(1, 4)])


def test_chances_and_quantiles_of_a_law_are_those_worked_out_by_hand():
    law = ExactLaw((ZERO, Fraction(2, 3), ONE), (HALF, Fraction(1, 8), Fraction(3, 8)))
    assert [law.at_least(x) for x in (-1, 0, 0.5, Fraction(2, 3), 0.7, 1, 2)] == [
        Fraction(x, 8) for x in (8, 8, 4, 4, 3, 3, 0)
    ]
    assert [law.at_most(x) for x in (-1, 0, 0.5, Fraction(2, 3), 0.7, 1, 2)] == [
        Fraction(x, 8) for x in (0, 4, 4, 5, 5, 8, 8)
    ]
    levels = (0, 0.1, 0.5, 0.51, 0.625, 0.626, 1)
    assert [law.quantile(q) for q in levels] == [
        *(ZERO,) * 3,
        *(Fraction(2, 3),) * 2,
        *(ONE,) * 2,
    ]
    assert law.negated().values == (-1, Fraction(-2, 3), 0)
    assert law.shifted(2).values == (2, Fraction(8, 3), 3)
    assert law.negated().quantile(0.375) == -1
    assert law.negated().quantile(0.376) == Fraction(-2, 3)


def test_equal_values_are_one_and_impossible_ones_are_none():
    root = square_root(Fraction(2))
    nearly = root + Fraction(1, 10**55)
    pairs = [(ONE, HALF), (nearly, Fraction(1, 4)), (root, Fraction(1, 4)), (ZERO, 0)]
    law = law_of_pairs(pairs)
    assert law.values == (ONE, root)
    assert law.masses == (HALF, HALF)
    assert law.at_least(nearly) == law.at_least(root) == HALF


SMALL = [
    [],
    [0.3],
    [0.0, 1.0, 0.5],
    [0.1, 0.7, 0.1, 1e-300],
    [0.9, 0.2, 0.2, 1 - 1e-16, 0.55, 0.0],
]


@pytest.mark.parametrize("p", [*SMALL[:4], slow(SMALL[4])])
def test_pairs_of_counts_give_what_the_outcomes_give(p):
    rng = np.random.default_rng(len(p))
    for labels in {tuple(rng.integers(0, 2, len(p)).tolist()) for _ in range(4)}:
        for name, definition in DEFINITIONS.items():
            zeros = [ZERO, ONE]
            if name == "balanced_accuracy":
                zeros.append("drop")
            for zero_division in zeros:
                slow = score_law_by_outcomes(p, labels, definition, zero_division)
                fast = score_law(p, labels, definition, zero_division)
                assert fast.masses == slow.masses, name
                assert fast.values == slow.values, name
                assert sum(slow.masses) == 1
                mean = expected_score(p, labels, definition, zero_division)
                assert abs(slow.mean - mean) < Fraction(1, 10**39)


@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "squared_count_error"])
def test_all_labels_at_once_give_what_each_alone_gives(name):
    definition, loss = DEFINITIONS[name], name in LOSSES
    p64 = [3, 60, 17, 22, 60]
    p = [Fraction(x, UNIT) for x in p64]
    laws = laws_of_all_labels(p64)
    quantiles = {
        q: quantiles_of_all_labels(laws, definition, ONE, q, loss=loss)
        for q in (Fraction(1, 10), HALF, Fraction(99, 100), ONE)
    }
    cuts = [Fraction(x, 7) for x in (-1, 0, 2, 5, 7)]
    cuts.append(definition(1, 0, 1, 3, ONE))  # reached exactly
    chances = {
        c: chances_of_all_labels(laws, definition, ONE, c, loss=loss) for c in cuts
    }
    own_chances = {c: [] for c in cuts}
    for labels in product((0, 1), repeat=5):
        mask = sum(1 << i for i, label in enumerate(labels) if label)
        law = score_law(p, labels, definition, ONE)
        for c, (_, scores) in chances.items():
            own = law.at_most(c) if loss else law.at_least(c)
            assert scores.of(labels) == own
            own_chances[c].append(own)
        for q, found in quantiles.items():
            own = -law.negated().quantile(q) if loss else law.quantile(q)
            assert abs(found[mask] - own) < Fraction(1, 10**39)
    for c, (best, _) in chances.items():
        assert best == max(own_chances[c])


def test_the_largest_size_does_not_overflow():
    p64 = [64, 63, 1, 0, 33, 21, 50, 7, 12, 40]
    labels = [1, 1, 0, 0, 1, 0, 1, 0, 0, 1]
    law = score_law([Fraction(x, UNIT) for x in p64], labels, F1, ZERO)
    laws = laws_of_all_labels(p64)
    mask = sum(1 << i for i, label in enumerate(labels) if label)
    for q in (Fraction(1, 20), HALF, ONE):
        found = quantiles_of_all_labels(laws, F1, ZERO, q)
        assert found[mask] == law.quantile(q)
    _, scores = best_over_all_labels(laws, F1, ZERO)
    assert scores.of(labels) == law.mean


def test_a_wrong_law_would_show():
    p = [0.3, 0.6, 0.2]
    right = score_law_by_outcomes(p, [1, 1, 0], F1, ZERO)
    assert score_law(p, [1, 0, 1], F1, ZERO) != right
    assert score_law(p, [1, 1, 0], DEFINITIONS["jaccard"], ZERO) != right
    assert score_law(p, [1, 1, 0], F1, ONE) == right  # something is predicted
    assert score_law(p, [0, 0, 0], F1, ONE) != score_law(p, [0, 0, 0], F1, ZERO)
