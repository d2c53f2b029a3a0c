"""Formulas from strangers: refused or evaluated, in little time."""

import time

import numpy as np
import pytest

import bestcut
from bestcut.metrics import (
    ExpressionError,
    WorkLimitError,
    Worth,
    from_expression,
    work_limit,
)
from groups import slow


def test_long_formulas_of_worth_are_refused_before_they_are_read():
    began = time.perf_counter()
    with pytest.raises(ExpressionError, match=r"at most 1000 characters; .* 999999\."):
        Worth("[a]" * 333_333)
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize(
    "text",
    ["9**9**9*tp", "tp + 1e299**2", "sqrt(-1)*tp", "tp/(1/0)", "tp - 0/0", "0**-1"],
)
def test_a_part_without_counts_must_be_finite(text):
    with pytest.raises(ExpressionError, match="is not a finite number"):
        from_expression(text)


@pytest.mark.parametrize("decided", ["decide", "decide_each", "expected_score"])
def test_a_limit_of_work_ends_a_decision(decided):
    p = np.random.default_rng(0).beta(0.3, 3, 2000)
    metric = from_expression("(tp + 9)**(tp + 9)**(tp + 9)")
    calls = {
        "decide": lambda: bestcut.decide(p, metric),
        "decide_each": lambda: bestcut.decide_each(p.reshape(4, -1), metric, n_jobs=2),
        "expected_score": lambda: bestcut.expected_score(p, p > 0.1, metric),
    }
    began = time.perf_counter()
    message = r"more than 1000 values .* are needed"
    with pytest.raises(WorkLimitError, match=message), work_limit(1000):
        calls[decided]()
    assert time.perf_counter() - began < 5


def test_a_limit_of_work_ends_with_its_block():
    p = [0.9, 0.4, 0.2]
    metric = from_expression("sqrt(tp) / (1 + fp + fn)")
    with pytest.raises(WorkLimitError), work_limit(1):
        bestcut.decide(p, metric)
    with work_limit(10**6), pytest.raises(WorkLimitError), work_limit(1):
        bestcut.decide(p, metric)
    assert bestcut.decide(p, metric).n_positive == 2
    with pytest.raises(ValueError, match="`values` must be at least 1"), work_limit(0):
        pass


PARTS = ["tp", "fp", "fn", "tn", "n", "n_pred", "n_pos", "0", "1", "2", "0.5", "1e299"]


def any_formula(rng, depth):
    """Return a formula that somebody might make up, from the grammar or from noise."""
    kind = rng.integers(10)
    if depth == 0 or kind < 2:
        return str(rng.choice(PARTS))
    one, two = any_formula(rng, depth - 1), any_formula(rng, depth - 1)
    if kind < 8:
        return f"({one}){rng.choice(['+', '-', '*', '/', '**', '/', '*'])}({two})"
    name = rng.choice(["sqrt", "abs", "min", "max"])
    return f"{name}({one})" if name in ("sqrt", "abs") else f"{name}({one},{two})"


def damaged(rng, text):
    marks = list(text)
    for _ in range(rng.integers(3)):
        marks.insert(
            rng.integers(len(marks) + 1), str(rng.choice(list("()*_.[]@'x\n9")))
        )
    return "".join(marks)


@pytest.mark.parametrize("count", [15, slow(3000)])
def test_any_formula_is_refused_or_decided_in_little_time(count):
    rng = np.random.default_rng(count)
    p = rng.beta(0.3, 3, 300)
    decided = 0
    for _ in range(count):
        text = any_formula(rng, rng.integers(1, 6))
        if rng.random() < 0.3:
            text = damaged(rng, text)
        began = time.perf_counter()
        try:
            with work_limit(10**6):
                bestcut.decide(p, from_expression(text))
            decided += 1
        except (ValueError, WorkLimitError):
            pass
        assert time.perf_counter() - began < 10, text
    assert decided > count / 10
