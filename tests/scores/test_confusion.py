"""The expected confusion matrix has the exact means, spreads and intervals."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

import bestcut
from oracles import EPS, error_of
from oracles.outcomes import cell_laws, law_of_pairs
from scores.known import TINY, problem


def assert_confusion(confusion, p, labels):
    inside, outside = cell_laws(p, labels)
    numbers = [Fraction(i) for i in range(len(p) + 1)]
    tp, fn = (
        law_of_pairs(zip(numbers, law, strict=False)) for law in (inside, outside)
    )
    laws = {
        "tp": tp,
        "fp": tp.negated().shifted(len(inside) - 1),
        "fn": fn,
        "tn": fn.negated().shifted(len(outside) - 1),
    }
    n = max(len(p), 1)
    for cell, law in laws.items():
        assert error_of(getattr(confusion.mean, cell), law.mean) <= n * 16 * EPS
        assert error_of(getattr(confusion.std, cell), law.std) <= Fraction(1e-7)
        for level in (0.9, 0.5, 0.999):
            low, high = getattr(confusion.interval(level), cell)
            assert isinstance(low, int)
            assert isinstance(high, int)
            covered = law.at_most(high) - law.at_most(low - 1)
            assert covered >= Fraction(level) - Fraction(TINY)
            # No end could be moved in without losing its tail.
            tail = (1 - Fraction(level)) / 2 + Fraction(TINY)
            assert law.at_most(low - 1) <= tail
            assert law.at_least(high + 1) <= tail
            assert law.at_most(low) >= tail - 2 * Fraction(TINY)
            assert law.at_least(high) >= tail - 2 * Fraction(TINY)
    assert confusion.interval() == confusion.interval(0.9)
    assert list(confusion.mean._fields) == ["tp", "fp", "fn", "tn"]
    tp, fp, fn, tn = confusion.mean
    assert np.array_equal(confusion.matrix, [[tn, fp], [fn, tp]])
    assert confusion.matrix.sum() == pytest.approx(len(p), abs=1e-9)


def test_the_confusion_matrix_has_the_exact_means_and_intervals():
    rng = np.random.default_rng(3)
    for n in [0, 1, 2, 3, *rng.integers(4, 13, size=30).tolist()]:
        p, labels = problem(rng, n)
        assert_confusion(bestcut.expected_confusion(p, labels), p, labels)


def test_the_matrix_is_in_the_order_of_scikit_learn():
    actual = np.array([1, 1, 1, 1, 0, 0, 0, 1, 0, 1])
    labels = np.array([1, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    confusion = bestcut.expected_confusion(actual.astype(float), labels)
    assert np.array_equal(confusion.matrix, confusion_matrix(actual, labels))
    assert confusion.std == (0, 0, 0, 0)
    assert confusion.interval().fn == (3, 3)


def test_the_comparison_rejects_the_matrix_of_another_prediction():
    p, labels = np.array([0.3, 0.6, 0.2, 0.8]), np.array([True, False, True, True])
    assert_confusion(bestcut.expected_confusion(p, labels), p, labels)
    for other in (p + 1e-9, p[::-1]):
        with pytest.raises(AssertionError):
            assert_confusion(bestcut.expected_confusion(other, labels), p, labels)
