"""Formulas of what rows are worth mean what they say, and nothing else gets through."""

import numpy as np
import pytest

from bestcut.metrics import ExpressionError, Worth

AMOUNT, FEE = np.array([900.0, 0.1, 35.0]), np.array([5.0, 2.5, 0.0])
COLUMNS = {"amount": AMOUNT, "fee": FEE, "my fee (EUR)": FEE, "sqrt": FEE}
COLUMNS |= {"tp": 2 * AMOUNT}
NONE = np.zeros(3)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("amount*tp - 5*fp", (AMOUNT, -5.0, NONE, NONE)),
        ("tp * amount + fp * -5", (AMOUNT, -5.0, NONE, NONE)),
        ("-amount*fn - fee*n_pred", (-FEE, -FEE, -AMOUNT, NONE)),
        ("-(amount - fee)*n_pos", (FEE - AMOUNT, NONE, FEE - AMOUNT, NONE)),
        ("amount*tp/100 - 3*n", (AMOUNT / 100 - 3, -3.0, -3.0, -3.0)),
        ("min(amount, 100)*tp", (np.minimum(AMOUNT, 100), NONE, NONE, NONE)),
        (
            "sqrt(amount)**2*(tp - fn)",
            (np.sqrt(AMOUNT) ** 2, NONE, -(np.sqrt(AMOUNT) ** 2), NONE),
        ),
        (
            "max(fee, amount, 1)*tn",
            (NONE, NONE, NONE, np.maximum(np.maximum(FEE, AMOUNT), 1)),
        ),
        ("[my fee (EUR)]*fp + [ tp ]*tp", (2 * AMOUNT, FEE, NONE, NONE)),
        ("[sqrt]*tp", (FEE, NONE, NONE, NONE)),
        ("tp/(amount - 1)", (1 / (AMOUNT - 1), NONE, NONE, NONE)),
        ("0 + 80*tp - 10*fp", (80.0, -10.0, 0.0, 0.0)),
        ("amount - amount + tp", (1.0, 0.0, 0.0, 0.0)),
    ],
)
def test_a_formula_is_a_sum_over_rows(text, cells):
    utility = Worth(text).utility(COLUMNS)
    for cell, wanted in zip(utility.worths((3,)), cells, strict=True):
        assert cell.tolist() == np.broadcast_to(wanted, 3).tolist()
    assert utility.name == text


def test_columns_are_named_once_and_in_order():
    worth = Worth("fee*fp + amount*tp - fee*[a b]*tn + [fee]*fn")
    assert sorted(worth.columns) == ["a b", "amount", "fee"]
    assert Worth("80*tp").columns == []
    # What stands for a column in brackets is no column of the file.
    odd = Worth("[x]*tp + _column_0*fp")
    assert odd.utility({"x": [1.0], "_column_0": [7.0]}).fp.tolist() == [7.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("amount*tp - 5", "has a term without a count. Multiply it by n"),
        ("tp*fp", "is not a sum of counts times numbers and columns"),
        ("tp**2", "is not a sum of counts"),
        ("2**tp", "is not a sum of counts"),
        ("amount/tp", "is not a sum of counts"),
        ("amount + 3", "holds no count"),
        ("sqrt(tp)", r"takes sqrt\(\) of a count"),
        ("max(tp, 3)", r"takes max\(\) of a count"),
        ("exp(amount)*tp", r"holds 'exp\(amount\)', which is not allowed.*columns"),
        ("amount.real*tp", "holds 'amount.real', which is not allowed"),
        ("amount*tp if 1 else tp", "which is not allowed"),
        ("sqrt*tp", "holds 'sqrt', which is not allowed"),
        ("True*tp", "holds 'True', which is not allowed"),
        ("[a b]*(tp", r"the formula '\[a b\]\*\(tp' is not understood"),
        ("[a [b]]*tp", "which is not allowed"),
        ("", "is not understood"),
        ("amount*tp + " * 200 + "tp", "1000 characters"),
    ],
)
def test_what_is_no_such_sum_is_refused(text, words):
    with pytest.raises(ExpressionError, match=words):
        Worth(text)


def test_a_row_without_a_finite_worth_is_named():
    with pytest.raises(ExpressionError, match="is not finite in row 3"):
        Worth("amount/fee*tp").utility(COLUMNS)
    with pytest.raises(ExpressionError, match="which is not a finite number"):
        Worth("1/0*tp")
