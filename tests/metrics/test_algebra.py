"""Terms are what a formula makes of the cells, exactly."""

from fractions import Fraction

import numpy as np
import pytest

from bestcut._errors import NotFollowedError
from bestcut.metrics._algebra import NO_POWERS, Needs, Terms
from bestcut.metrics._polynomial import value_at, variable

CELLS = [3, 5, 7, 2]


def cells(*, collect=True):
    needs = Needs(collect=collect)
    return [Terms({NO_POWERS: variable(i)}, needs) for i in range(4)]


def value_of(terms):
    """Return the value at `CELLS`, in floats."""
    total = 0.0
    for powers, polynomial in terms.terms.items():
        part = float(value_at(polynomial, CELLS))
        for key, p in powers:
            part *= float(value_at(dict(key), CELLS)) ** float(p)
        total += part
    return total


@pytest.mark.parametrize(
    "formula",
    [
        lambda tp, fp, fn, tn: (tp + 2 * fp - fn / 3) * tn,
        lambda tp, fp, fn, tn: tp / (tp + fp) + tn / (tn + fp) - 1,
        lambda tp, fp, fn, tn: np.sqrt(tp * tn) / (tp + fp + fn + tn),
        lambda tp, fp, fn, tn: (tp + fn) ** 3 - np.square(fp) + (fp + 1) ** -1.5,
        lambda tp, fp, fn, tn: -np.reciprocal(tp + fp) + np.power(tn, 2) - +tp,
    ],
)
def test_a_formula_keeps_its_value(formula):
    # A dozen operations, each rounded once, on terms no more than 10^3 times the sum.
    expected = formula(*map(float, CELLS))
    assert value_of(formula(*cells())) == pytest.approx(expected, rel=1e-12)


def test_what_is_divided_by_must_not_be_zero():
    tp, fp, *_ = cells()
    ratio = tp / (tp + fp)
    assert [dict(key) for key in ratio.needs.positive] == [
        {(1, 0, 0, 0): 1, (0, 1, 0, 0): 1}
    ]
    tp, fp, *_ = cells(collect=False)
    with pytest.raises(NotFollowedError):
        tp / fp
    assert (tp / (fp + 1)).terms


@pytest.mark.parametrize(
    "formula",
    [
        lambda tp, fp: 1 / (tp - fp),
        lambda tp, fp: np.sqrt(tp - fp),
        lambda tp, fp: np.maximum(tp, fp),
        lambda tp, fp: tp if tp > fp else fp,
        lambda tp, fp: tp**fp,
    ],
)
def test_what_cannot_be_written_so_is_not_followed(formula):
    with pytest.raises(TypeError):  # NumPy's own, or NotFollowedError
        formula(*cells()[:2])


@pytest.mark.parametrize("factor", [1e250, 1e-250, Fraction(1, 10**400), 10**400])
def test_numbers_beyond_floats_are_given_up_and_do_no_harm(factor):
    tp, *_ = cells()
    with pytest.raises(NotFollowedError):
        tp * factor * factor
