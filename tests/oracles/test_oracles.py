"""Definitions and expected scores are those worked out by hand; wrong ones show."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from groups import slow
from oracles import EPS, assert_near, error_of
from oracles.definitions import DEFINITIONS, LOSSES, square_root
from oracles.enumeration import (
    UNIT,
    best_over_all_labels,
    confusion_matrices,
    exact_law,
    exact_law_by_recursion,
    expected_score,
    lattice,
    laws_of_all_labels,
)

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
TINY = Fraction(1, 10**58)  # what is left of a square root squared

# By hand, at tp=3, fp=1, fn=2, tn=4.
BY_HAND = {
    "accuracy": Fraction(7, 10),
    "balanced_accuracy": Fraction(7, 10),
    "cohen_kappa": Fraction(2, 5),
    "f0.5": Fraction(5, 7),
    "f1": Fraction(2, 3),
    "f2": Fraction(5, 8),
    "false_negative_rate": Fraction(2, 5),
    "false_positive_rate": Fraction(1, 5),
    "hmean": Fraction(24, 35),
    "informedness": Fraction(2, 5),
    "jaccard": HALF,
    "markedness": Fraction(5, 12),
    "negative_predictive_value": Fraction(2, 3),
    "precision": Fraction(3, 4),
    "qmean": Fraction(9, 10),
    "recall": Fraction(3, 5),
    "specificity": Fraction(4, 5),
    "squared_count_error": Fraction(1, 100),
}
# The squares of those that are roots; of 1 - value for the quadratic mean.
BY_HAND_SQUARED = {
    "fowlkes_mallows": Fraction(9, 20),
    "gmean": Fraction(12, 25),
    "mcc": Fraction(1, 6),
    "qmean_sqrt": Fraction(1, 10),
}


def test_every_definition_has_a_value_worked_out_by_hand():
    assert set(BY_HAND) | set(BY_HAND_SQUARED) == set(DEFINITIONS)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_definition_gives_the_value_worked_out_by_hand(name):
    assert DEFINITIONS[name](3, 1, 2, 4, ZERO) == BY_HAND[name]


@pytest.mark.parametrize("name", BY_HAND_SQUARED)
def test_a_definition_with_a_root_squares_to_the_value_worked_out_by_hand(name):
    value = DEFINITIONS[name](3, 1, 2, 4, ZERO)
    value = 1 - value if name == "qmean_sqrt" else value
    assert abs(value**2 - BY_HAND_SQUARED[name]) < TINY


NOTHING, ONLY_FP, ONLY_FN, ONLY_TN, ONLY_TP = (
    (0, 0, 0, 0),
    (0, 2, 0, 0),
    (0, 0, 2, 0),
    (0, 0, 0, 2),
    (2, 0, 0, 0),
)


@pytest.mark.parametrize(
    ("name", "cells", "at_zero", "at_one"),
    [
        ("f1", NOTHING, 0, 1),
        ("f1", ONLY_TN, 0, 1),
        ("f1", ONLY_FP, 0, 0),
        ("f1", ONLY_FN, 0, 0),
        ("jaccard", ONLY_TN, 0, 1),
        ("jaccard", ONLY_FN, 0, 0),
        ("accuracy", NOTHING, 0, 1),
        ("accuracy", ONLY_FN, 0, 0),
        ("precision", ONLY_FN, 0, 1),
        ("precision", ONLY_FP, 0, 0),
        ("recall", ONLY_FP, 0, 1),
        ("recall", ONLY_FN, 0, 0),
        ("specificity", ONLY_TP, 0, 1),
        ("specificity", ONLY_FP, 0, 0),
        ("false_positive_rate", ONLY_TP, 0, 1),
        ("false_positive_rate", ONLY_TN, 0, 0),
        ("false_negative_rate", ONLY_TN, 0, 1),
        ("false_negative_rate", ONLY_TP, 0, 0),
        ("negative_predictive_value", ONLY_TP, 0, 1),
        ("negative_predictive_value", ONLY_FN, 0, 0),
        ("balanced_accuracy", NOTHING, 0, 1),
        ("balanced_accuracy", ONLY_TN, HALF, 1),
        ("balanced_accuracy", ONLY_FP, 0, HALF),
        ("balanced_accuracy", (1, 0, 3, 0), Fraction(1, 8), Fraction(5, 8)),
        ("gmean", ONLY_TN, 0, 1),
        ("gmean", (1, 0, 3, 0), 0, HALF),
        ("hmean", ONLY_TN, 0, 1),
        ("hmean", ONLY_FP, 0, 0),
        ("hmean", (1, 0, 1, 0), 0, Fraction(2, 3)),
        ("qmean", ONLY_TN, HALF, 1),
        ("qmean", ONLY_FP, 0, HALF),
        ("qmean_sqrt", ONLY_FP, 0, 1 - square_root(HALF)),
        ("qmean_sqrt", ONLY_TP, 1 - square_root(HALF), 1),
        ("fowlkes_mallows", ONLY_TN, 0, 1),
        ("fowlkes_mallows", ONLY_FN, 0, 0),
        ("fowlkes_mallows", ONLY_FP, 0, 0),
        ("mcc", ONLY_TN, 0, 1),
        ("mcc", (1, 0, 1, 0), 0, 1),
        ("mcc", (0, 1, 0, 1), 0, 1),
        ("cohen_kappa", NOTHING, 0, 1),
        ("cohen_kappa", ONLY_TP, 0, 1),
        ("cohen_kappa", ONLY_TN, 0, 1),
        ("cohen_kappa", ONLY_FP, 0, 0),
        ("informedness", NOTHING, -1, 1),
        ("informedness", ONLY_TN, 0, 1),
        ("informedness", ONLY_FP, -1, 0),
        ("markedness", ONLY_TN, 0, 1),
        ("markedness", ONLY_FN, -1, 0),
        ("squared_count_error", NOTHING, 0, 0),
        ("squared_count_error", ONLY_FN, 1, 1),
    ],
)
def test_an_undefined_rate_takes_the_value_of_zero_division(
    name, cells, at_zero, at_one
):
    assert DEFINITIONS[name](*cells, ZERO) == at_zero
    assert DEFINITIONS[name](*cells, ONE) == at_one


def test_dropping_leaves_the_missing_class_out_of_the_mean():
    definition = DEFINITIONS["balanced_accuracy"]
    assert definition(1, 0, 3, 0, "drop") == Fraction(1, 4)
    assert definition(0, 1, 0, 3, "drop") == Fraction(3, 4)
    assert definition(1, 1, 3, 3, "drop") == HALF
    assert definition(0, 0, 0, 0, "drop") == 0


def test_square_roots_are_exact_if_rational_and_good_to_sixty_digits_if_not():
    assert square_root(ZERO) == 0
    assert square_root(Fraction(9, 49)) == Fraction(3, 7)
    root = square_root(Fraction(2, 3))
    assert 0 < abs(root**2 - Fraction(2, 3)) < TINY


def test_textbook_identities_hold_between_the_definitions():
    for n in range(6):
        for cells in confusion_matrices(n):
            value = {k: d(*cells, ONE) for k, d in DEFINITIONS.items()}
            assert value["jaccard"] == value["f1"] / (2 - value["f1"])
            if cells[0] + cells[2] and cells[1] + cells[3]:
                assert value["false_positive_rate"] == 1 - value["specificity"]
                assert value["false_negative_rate"] == 1 - value["recall"]
            assert value["informedness"] == 2 * value["balanced_accuracy"] - 1
            assert abs((1 - value["qmean_sqrt"]) ** 2 - (1 - value["qmean"])) < TINY
            if all(cells):
                product_of_two = value["informedness"] * value["markedness"]
                assert abs(value["mcc"] ** 2 - product_of_two) < TINY
                harmonic = 2 / (1 / value["precision"] + 1 / value["recall"])
                assert value["f1"] == harmonic


def test_the_lattice_holds_every_confusion_matrix_once():
    assert list(confusion_matrices(0)) == [(0, 0, 0, 0)]
    assert sorted(confusion_matrices(1)) == [
        (0, 0, 0, 1),
        (0, 0, 1, 0),
        (0, 1, 0, 0),
        (1, 0, 0, 0),
    ]
    columns = lattice(8)
    assert columns.shape == (4, 495)  # 12 choose 4
    assert len(set(map(tuple, columns.T.tolist()))) == 495
    assert columns.min() == 0
    assert columns.sum(axis=0).max() == 8


def test_the_law_of_two_instances_is_the_one_worked_out_by_hand():
    p = [HALF, Fraction(1, 4)]
    expected = [Fraction(3, 8), HALF, Fraction(1, 8)]
    assert exact_law(p) == exact_law_by_recursion(p) == expected
    assert exact_law([]) == exact_law_by_recursion([]) == [1]


def test_the_law_by_outcomes_and_the_law_by_instances_are_the_same():
    p = [0.1, 1e-300, 1.0, 0.0, 1 - 1e-16, 0.7]
    assert exact_law(p) == exact_law_by_recursion(p)
    assert sum(exact_law(p)) == 1


F1 = DEFINITIONS["f1"]


def test_an_expected_score_of_one_instance_is_the_one_worked_out_by_hand():
    p = [Fraction(1, 3)]
    assert expected_score(p, [1], F1, ZERO) == Fraction(1, 3)
    assert expected_score(p, [0], F1, ZERO) == 0
    assert expected_score(p, [0], F1, ONE) == Fraction(2, 3)


def test_an_expected_score_of_two_instances_is_the_one_worked_out_by_hand():
    # First label on: outcomes 11, 10, 01, 00 score 2/3, 1, 0, 0.
    p = [HALF, Fraction(1, 4)]
    assert expected_score(p, [1, 0], F1, ZERO) == Fraction(11, 24)
    laws = laws_of_all_labels([32, 16])
    best, scores = best_over_all_labels(laws, F1, ZERO)
    assert scores[0b01] == Fraction(11, 24)
    # Both on: 2/2, 2/3, 2/3, 0 with weights 1/8, 3/8, 1/8, 3/8.
    assert scores.of([1, 1]) == scores[0b11] == Fraction(11, 24)
    assert scores.of([0, 1]) == scores[0b10] == Fraction(1, 12) + Fraction(1, 8)
    assert scores.of([0, 0]) == 0
    assert best == Fraction(11, 24)


def test_a_loss_is_minimised():
    # E[(k - S)^2] / 4 for S of two fair coins: 3/8, 1/8, 3/8.
    laws = laws_of_all_labels([32, 32])
    definition = DEFINITIONS["squared_count_error"]
    best, scores = best_over_all_labels(laws, definition, ZERO, minimise=True)
    assert [scores[m] for m in range(4)] == [Fraction(x, 8) for x in (3, 1, 1, 3)]
    assert best == Fraction(1, 8)
    worst, _ = best_over_all_labels(laws, definition, ZERO)
    assert worst == Fraction(3, 8)
    assert "squared_count_error" in LOSSES


@pytest.mark.parametrize(
    "p64",
    [
        [],
        [0],
        [64],
        [17],
        [0, 64, 32],
        [21, 21, 21, 21],
        [1, 63, 0, 64],
        slow([3, 60, 17, 22, 35]),
    ],
)
def test_the_fast_oracle_equals_the_slow_one_at_every_label_vector(p64):
    p = [Fraction(x, UNIT) for x in p64]
    laws = laws_of_all_labels(p64)
    for name, definition in DEFINITIONS.items():
        for zero_division in (ZERO, ONE):
            best, scores = best_over_all_labels(laws, definition, zero_division)
            slow = {
                labels: expected_score(p, labels, definition, zero_division)
                for labels in product((0, 1), repeat=len(p))
            }
            assert len(scores) == len(slow)
            assert best == max(slow.values()), name
            for labels, score in slow.items():
                assert scores.of(labels) == score, name


@pytest.mark.parametrize("name", ["mcc", "f2", "accuracy"])
def test_the_fast_oracle_is_still_exact_at_its_largest_size(name):
    p64 = [64, 63, 1, 0, 33, 21, 50, 7, 12, 40]
    p = [Fraction(x, UNIT) for x in p64]
    definition = DEFINITIONS[name]
    _, scores = best_over_all_labels(laws_of_all_labels(p64), definition, ONE)
    for labels in ([1, 1, 0, 0, 1, 0, 1, 0, 0, 1], [0] * 10):
        assert scores.of(labels) == expected_score(p, labels, definition, ONE)


def test_the_joint_laws_have_mass_one():
    laws = laws_of_all_labels([64, 63, 1, 0, 33, 21, 50, 7, 12, 40])
    assert sum(masks.size for masks in laws.masks) == 2**10
    for weights in laws.weights:
        assert all(total == UNIT**10 for total in weights.sum(axis=1))


@pytest.mark.parametrize("p64", [[65], [-1], [0.5], [1] * 11])
def test_the_fast_oracle_refuses_what_it_cannot_do_exactly(p64):
    with pytest.raises(ValueError, match="at most 10 whole numbers from 0 to 64"):
        laws_of_all_labels(p64)


def test_a_wrong_law_or_a_wrong_score_would_show():
    p64 = [3, 60, 17]
    p = [Fraction(x, UNIT) for x in p64]
    _, scores = best_over_all_labels(laws_of_all_labels(p64), F1, ZERO)
    right = expected_score(p, [0, 1, 0], F1, ZERO)
    assert scores.of([0, 1, 0]) == right
    assert scores.of([0, 1, 1]) != right
    assert expected_score(p[::-1], [1, 1, 0], F1, ZERO) != scores.of([1, 1, 0])
    assert best_over_all_labels(laws_of_all_labels([3, 61, 17]), F1, ZERO)[1].of(
        [0, 1, 0]
    ) != expected_score(p, [0, 1, 0], F1, ZERO)


def test_the_error_of_a_float_is_measured_without_rounding():
    assert error_of(0.5, HALF) == 0
    assert 0 < error_of(1 / 3, Fraction(1, 3)) < EPS / 4
    assert error_of(np.nextafter(1.0, 2.0), ONE) == EPS


def test_near_accepts_what_is_within_the_tolerance():
    assert_near(0.5, HALF)
    assert_near([0.5, 1 / 3], [HALF, Fraction(1, 3)], rtol=EPS)
    assert_near(np.nextafter(1.0, 2.0), ONE, atol=EPS)
    assert_near([], [])


@pytest.mark.parametrize(
    ("actual", "exact", "kwargs", "message"),
    [
        (1 / 3, Fraction(1, 3), {}, "off by"),
        (np.nextafter(1.0, 2.0), ONE, {"atol": EPS / 2}, "entry 0"),
        (np.nextafter(1.0, 2.0), ONE, {"rtol": EPS / 2}, "entry 0"),
        ([0.5, 0.5], [HALF, Fraction(1, 3)], {"rtol": 0.1}, "entry 1"),
        (1e-300, ZERO, {"rtol": 1.0}, "off by"),
        (float("nan"), HALF, {"atol": 9.0}, "is nan"),
        (float("inf"), HALF, {"rtol": 9.0}, "is inf"),
        ([0.5], [HALF, HALF], {}, "shape"),
        ([[0.5]], [HALF], {}, "shape"),
    ],
)
def test_near_rejects_a_wrong_answer(actual, exact, kwargs, message):
    with pytest.raises(AssertionError, match=message):
        assert_near(actual, exact, **kwargs)
