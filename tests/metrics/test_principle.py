"""What is said of monotonicity and of the ranking principle is so, yes or no."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bestcut
from bestcut.metrics import (
    FractionalLinear,
    LinearUtility,
    from_counts,
    from_expression,
    from_rates,
    require_ranking,
)
from groups import few_and_many

TABLE_1 = [
    "balanced_accuracy",
    "f1",
    "f2",
    "f0.5",
    "jaccard",
    "fowlkes_mallows",
    "gmean",
    "hmean",
    "qmean",
    "qmean_sqrt",
]


@pytest.mark.parametrize("name", TABLE_1)
def test_every_metric_of_table_1_is_monotonic_in_both_senses(name):
    check = bestcut.check_metric(name)
    assert check.tp_monotonic
    assert check.rates_monotonic
    assert check.prp
    assert check.counterexample is None


@pytest.mark.parametrize("name", bestcut.metrics.names())
def test_every_catalogue_metric_satisfies_the_ranking_principle(name):
    check = bestcut.check_metric(name)
    assert check.prp is True
    assert check.tp_nondecreasing


@pytest.mark.parametrize("name", bestcut.metrics.names())
def test_what_algebra_proves_is_said_to_hold_for_every_n(name):
    check = bestcut.check_metric(name)
    assert check.n_checked is None
    what = "Independent of" if check.tp_independent else "Never decreasing in"
    strictly = "Strictly increasing in TP, for every n."
    assert check.reason == strictly or check.reason.startswith(
        f"{what} TP, for every n"
    )
    if "if n <= 24" in check.reason:  # that it is strict was only seen on the lattice
        assert check.reason.endswith("; strictly increasing in it if n <= 24.")
        assert check.tp_monotonic
        other = bestcut.check_metric(name, n_max=5)
        assert other.reason == check.reason.replace("24", "5")


def test_what_small_confusion_matrices_show_is_not_said_of_every_n():
    worst_rate = from_rates(lambda tpr, tnr, p: np.minimum(tpr, tnr), "worst rate")
    few = "for every confusion matrix with n <= 24."
    assert bestcut.check_metric(worst_rate).reason.endswith(few)
    assert bestcut.check_metric(worst_rate).n_checked == 24
    # Only sizes count, and of floor nothing is known to algebra.
    sizes = from_counts(lambda tp, fp, fn, tn: np.floor((tp + fp) / 3))
    assert bestcut.check_metric(sizes).reason == f"Independent of TP, {few}"
    square = from_counts(lambda tp, fp, fn, tn: (tp + fp) ** 2)
    assert bestcut.check_metric(square).reason == "Independent of TP, for every n."
    assert bestcut.check_metric(square).n_checked is None
    # Where TP begins to count is beyond what was looked at.
    late = from_expression("max(0, tp - 30)")
    assert bestcut.check_metric(late).reason == f"Independent of TP, {few}"


class Counted:
    """A formula that counts how many confusion matrices it is evaluated at."""

    def __init__(self, formula):
        self.formula, self.cells, self.calls = formula, 0, 0

    def __call__(self, tp, fp, fn, tn):
        if isinstance(tp, np.ndarray):
            self.cells, self.calls = self.cells + tp.size, self.calls + 1
        return self.formula(tp, fp, fn, tn)


@pytest.mark.parametrize(
    ("formula", "calls", "cells"),
    [
        # Algebra proves it, without any confusion matrix.
        (lambda tp, fp, fn, tn: np.sqrt(tp * tn) / (tp + fp + fn + tn), 0, 0),
        # It is seen on the lattice, from one step in TP at each point.
        (lambda tp, fp, fn, tn: np.floor(tp / 2) + tn, 50, 40_000),
    ],
)
def test_the_first_question_about_a_metric_takes_few_evaluations(formula, calls, cells):
    counted = Counted(formula)
    require_ranking(from_counts(counted), way_out="There is none.")
    assert counted.calls <= calls
    assert counted.cells <= cells


def test_a_first_decision_evaluates_the_metric_no_more_than_a_later_one():
    counted = Counted(lambda tp, fp, fn, tn: np.sqrt(tp * tn) / (tp + fp + fn + tn))
    metric = from_counts(counted)
    p = np.random.default_rng(0).random(100)
    used = []
    for _ in range(2):
        before = counted.cells
        bestcut.decide(p, metric)
        used.append(counted.cells - before)
    assert used[0] == used[1]


def test_the_papers_separating_example_is_tp_but_not_rates_monotonic():
    for metric in (
        LinearUtility(tp=2, fp=1),
        FractionalLinear(c=(0, 1, 1, 0), d=(1, 0, 0, 0)),
    ):
        check = bestcut.check_metric(metric)
        assert check.tp_monotonic
        assert not check.rates_monotonic
        assert check.prp


def test_squared_count_error_is_independent_of_tp():
    check = bestcut.check_metric("squared_count_error")
    assert check.tp_independent
    assert not check.tp_monotonic
    assert check.prp
    assert "Independent of TP" in check.reason
    assert "the ranking principle holds" in repr(check)


def test_a_weakly_increasing_metric_keeps_the_principle():
    worst_rate = from_rates(lambda tpr, tnr, p: np.minimum(tpr, tnr), "worst rate")
    step = from_counts(lambda tp, fp, fn, tn: (tp >= 2) * 1.0, "at least two")
    for metric in (worst_rate, step):
        check = bestcut.check_metric(metric)
        assert check.tp_nondecreasing
        assert check.prp
    assert not bestcut.check_metric(step).tp_monotonic


def test_a_no_comes_with_two_confusion_matrices_that_show_it():
    metric = from_counts(lambda tp, fp, fn, tn: fp * fn - tp, "perverse")
    check = bestcut.check_metric(metric)
    fewer, more = check.counterexample.fewer_tp, check.counterexample.more_tp
    assert more.tp == fewer.tp + 1
    assert fewer.tp + fewer.fp == more.tp + more.fp
    assert fewer.tp + fewer.fn == more.tp + more.fn
    assert sum(fewer) == sum(more)
    assert metric.psi(*fewer) > metric.psi(*more)
    assert check.counterexample.score_fewer == metric.psi(*fewer)


def test_a_violation_of_the_principle_is_real():
    metric = from_counts(lambda tp, fp, fn, tn: fp - tp, "fp - tp")
    case = bestcut.check_metric(metric).counterexample.violation
    every = bestcut.decide(case.y_proba, metric, solver="exhaustive")
    assert every.expected_score == pytest.approx(case.score, abs=1e-12)
    best_top_k = every.curve.expected_score.max()
    assert best_top_k == pytest.approx(case.best_top_k, abs=1e-12)
    assert case.score > case.best_top_k + 1e-6


def test_a_loss_is_judged_by_what_is_minimised():
    good = from_counts(
        lambda tp, fp, fn, tn: fp + fn, "errors", greater_is_better=False
    )
    bad = from_counts(lambda tp, fp, fn, tn: tp - fp, "hits", greater_is_better=False)
    assert bestcut.check_metric(good).tp_monotonic
    assert bestcut.check_metric(bad).prp is False


def test_a_fall_with_tp_that_never_matters_leaves_the_principle_open():
    # Predicting nothing is best whatever the probabilities, and that is a top-k set.
    hits = from_counts(lambda tp, fp, fn, tn: tp, "hits", greater_is_better=False)
    check = bestcut.check_metric(hits)
    assert not check.tp_nondecreasing
    assert check.prp is None
    with pytest.raises(bestcut.SolverMismatchError, match="not known to satisfy"):
        bestcut.decide([0.5], hits)


def test_proposition_4_as_printed_is_not_enough():
    # c1 > d1, but Phi reaches 5, so c1 D - d1 N = (0.5 - 0.25 * 5) n < 0.
    metric = FractionalLinear(c=(5, 0.5, 0, 0), d=(1, 0.25, 0, 0))
    check = bestcut.check_metric(metric)
    assert not check.tp_nondecreasing
    assert check.n_checked is None


def test_an_algebraic_no_reaches_beyond_the_lattice():
    # The slope A + B v + C p is negative only for v and p both below 1 / 200.
    metric = FractionalLinear(c=(1, 1, 0, 0), d=(Fraction(99, 100), 1, 1, 1))
    check = bestcut.check_metric(metric)
    assert not check.tp_nondecreasing
    fewer, more = check.counterexample.fewer_tp, check.counterexample.more_tp
    assert sum(fewer) > 24
    assert metric.psi(*fewer) > metric.psi(*more)


small = st.integers(-3, 3)


@few_and_many(40, 300, given(c=st.tuples(*[small] * 4), d=st.tuples(*[small] * 4)))
def test_algebra_and_lattice_agree_on_fractional_linear_metrics(c, d):
    metric = FractionalLinear(c=c, d=d, zero_division=0.0)
    check = bestcut.check_metric(metric, n_max=9)
    lattice = bestcut.check_metric(
        from_counts(
            lambda tp, fp, fn, tn: metric.score(tp, tp + fp, tp + fn, tp + fp + fn + tn)
        ),
        n_max=9,
    )
    if check.tp_nondecreasing:  # for every n, so for these
        assert lattice.tp_nondecreasing
        assert check.tp_independent == lattice.tp_independent
    if not lattice.tp_nondecreasing:
        assert not check.tp_nondecreasing
    if not check.tp_nondecreasing:
        case = check.counterexample
        assert case.score_fewer > case.score_more


def test_the_errata_condition_is_what_the_algebra_decides():
    # Brute force over a fine lattice of the sign of c1 D - d1 N.
    metric = FractionalLinear(c=(0, 2, 1, 0), d=(1, 1, 1, 1))
    values = [
        2 * (1 + u + v + p) - (2 * u + v)
        for u, v, p in product(np.linspace(0, 1, 11), repeat=3)
        if max(0, v + p - 1) <= u <= min(v, p)
    ]
    assert min(values) > 0
    assert bestcut.check_metric(metric).tp_monotonic


@pytest.mark.parametrize("n_max", [1, 0, -3, 2.5, True, "10"])
def test_a_bad_n_max_is_refused(n_max):
    with pytest.raises(ValueError, match="`n_max` must be a whole number of at least"):
        bestcut.check_metric("f1", n_max=n_max)
