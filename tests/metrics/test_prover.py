"""A proof that right labels never hurt is never given where they do."""

import numpy as np
import pytest

from bestcut.metrics import (
    BalancedAccuracy,
    FowlkesMallows,
    FractionalLinear,
    GMean,
    LinearUtility,
    check_metric,
    from_counts,
    from_expression,
    get,
    names,
)
from bestcut.metrics._moves import LESS_TP, MORE_AGREEMENT, MORE_TP
from bestcut.metrics._prover import never_hurts
from metrics.known import FORMULAS, falls

SIZES = (1, 2, 10, 1000, 10**5, 10**7)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", names())
def test_more_tp_never_hurts_a_catalogue_metric(name, n):
    assert never_hurts(get(name), MORE_TP, n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", names())
def test_agreement_is_proved_where_the_check_finds_it(name, n):
    monotonic = check_metric(name).agreement_monotonic or n == 1
    assert never_hurts(get(name), MORE_AGREEMENT, n) == monotonic


@pytest.mark.parametrize("n", [42, 1000, 10**6])
@pytest.mark.parametrize("text", FORMULAS)
def test_more_tp_never_hurts_these_formulas(text, n):
    assert never_hurts(from_expression(text), MORE_TP, n)


def test_the_verdict_is_about_the_n_that_is_asked_for():
    metric = from_expression("tp*(30-n_pos)/100")
    assert check_metric(metric).tp_nondecreasing
    assert never_hurts(metric, MORE_TP, 24)
    assert never_hurts(metric, MORE_TP, 30)
    for n in (42, 100, 10**6):
        assert not never_hurts(metric, MORE_TP, n)


@pytest.mark.parametrize(
    "metric",
    [
        from_expression("abs(tp-500)"),
        from_expression("-max(tp, 900)"),
        from_expression("sqrt(tp*tn)/n - max(0, tp-990)"),
        # A bump on one confusion matrix in two hundred thousand.
        from_counts(
            lambda tp, fp, fn, tn: tp + np.where((tp == 77) & (fp == 33), 2.0, 0.0)
        ),
        from_counts(lambda tp, fp, fn, tn: tp - np.where(tp**2 > 7e5, 9.0, 0.0)),
        from_counts(lambda tp, fp, fn, tn: np.where(tp > 300, 0.4, tp / 600)),
        from_counts(lambda tp, fp, fn, tn: np.exp(-tp / 100.0)),
        from_counts(lambda tp, fp, fn, tn: np.tanh(tp / 100.0) - tp / 1e5),
        # The value in the place of the logarithm of 0 is too high.
        from_counts(lambda tp, fp, fn, tn: np.log(tp), zero_division=9.0),
        from_counts(lambda tp, fp, fn, tn: np.log1p(tp - 500.0), zero_division=1.0),
        LinearUtility(tp=1, fp=1, fn=1),
        FractionalLinear(c=(0, 1, 0, 0), d=(0, 3, -1, -1)),
        # The value in the place of 0/0 is too high, or too low.
        from_expression("-fn/fp", zero_division=-1e9),
        from_expression("0/(fp-1)+tp", zero_division=1e9),
        from_expression("sqrt(fp-500)/n", zero_division=0.0),
        # Past the largest float the score is not a number.
        from_expression("tp**2*1e299*1e4", zero_division=-1.0),
    ],
    ids=lambda metric: metric.name,
)
def test_what_may_fall_is_not_proved(metric):
    assert not never_hurts(metric, MORE_TP, 1000)


@pytest.mark.parametrize("n", [None, 24, 1000, 10**6])
def test_that_tp_does_not_matter_is_proved_by_both_directions(n):
    sizes = (get("squared_count_error"), from_expression("n_pred**2/(1+n_pos)"))
    for metric in (*sizes, LinearUtility(tp=1, fp=2, fn=-1)):
        assert never_hurts(metric, MORE_TP + LESS_TP, n), metric.name
    for metric in (get("f1"), get("gmean"), LinearUtility(tp=1)):
        assert never_hurts(metric, MORE_TP, n)
        assert not never_hurts(metric, LESS_TP, n)
    late = from_expression("max(0, tp - 30)")
    assert never_hurts(late, LESS_TP, n) == (n == 24)


def test_the_coefficients_of_a_fraction_decide_where_its_formula_does_not():
    metric = FractionalLinear(c=(-1, 3, 0, 0), d=(1, 0, 0, 0))
    assert never_hurts(metric, MORE_TP)
    assert not never_hurts(metric, LESS_TP)


def test_values_in_the_place_of_zero_division_count():
    assert not never_hurts(FowlkesMallows(zero_division=-0.5), MORE_AGREEMENT, 1000)
    assert never_hurts(GMean(zero_division=0.5), MORE_AGREEMENT, 10**6)
    assert never_hurts(
        BalancedAccuracy(zero_division="drop"), MORE_AGREEMENT, 10**6
    ) == (not falls(BalancedAccuracy(zero_division="drop"), 30, MORE_AGREEMENT))
    ratio = from_expression("tp**2/n_pred**2", zero_division=-0.1)
    assert never_hurts(ratio, MORE_TP, 1000)
    assert not never_hurts(ratio, MORE_AGREEMENT, 1000)
    assert never_hurts(from_expression("tp**2/n_pred**2"), MORE_AGREEMENT, 1000)


@pytest.mark.parametrize("n", [42, 1000, 10**6])
def test_no_right_label_hurts_the_smaller_of_two_rates(n):
    worst = from_expression("min(tp/n_pos, tn/(fp+tn))")
    assert never_hurts(worst, MORE_AGREEMENT, n)
    assert not never_hurts(worst, LESS_TP, n)


def test_a_loss_is_turned_round():
    errors = from_counts(
        lambda tp, fp, fn, tn: np.sqrt(fp * fn), greater_is_better=False
    )
    hits = from_counts(lambda tp, fp, fn, tn: np.sqrt(tp * tn), greater_is_better=False)
    assert never_hurts(errors, MORE_TP, 10**6)
    assert not never_hurts(hits, MORE_TP, 10**6)


def test_a_callable_that_cannot_be_followed_is_decided_on_the_lattice_only():
    metric = from_counts(lambda tp, fp, fn, tn: np.floor(tp / 3), name="thirds")
    assert never_hurts(metric, MORE_TP, 40)
    assert never_hurts(metric, MORE_AGREEMENT, 40)
    assert not never_hurts(metric, MORE_TP, 1000)


def test_a_callable_that_cannot_be_hashed_or_evaluated():
    class Unhashable:
        __hash__ = None

        def __call__(self, tp, fp, fn, tn):
            return np.sqrt(tp) - fp

    assert never_hurts(from_counts(Unhashable()), MORE_AGREEMENT, 1000)
    # It divides by 0 and does not say what that is worth.
    refused = from_counts(lambda tp, fp, fn, tn: np.maximum(tp, 1) / (fp * fn))
    assert not never_hurts(refused, MORE_TP, 40)
    assert not never_hurts(refused, MORE_TP, 1000)
