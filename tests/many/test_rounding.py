"""Rounding is within the error that is stated, at every cut and every step to it."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import bestcut
from bestcut._types import EPS
from bestcut.counts import count_laws
from bestcut.many._counts import (
    of_nobody,
    running_laws,
    running_laws_backwards,
)
from bestcut.many._fractional import _shared_rule, fractional_kernel
from bestcut.many._laws import LawKernels, _kernel, _table, law_error
from bestcut.metrics import FBeta, Jaccard, from_counts, get
from bestcut.metrics._bounds import score_bound
from groups import slow
from helpers import descending
from many.known import FAMILY, STEPS, skewed, title
from oracles.enumeration import exact_law_by_recursion, lattice
from oracles.extended import expected_curve, law

NEAR_ONE = np.array([1 - 2.0**-40, 1 - 2.0**-52, 0.75, 2.0**-60, 1 - 2.0**-20] * 3)


def columns(p):
    return np.ascontiguousarray(np.sort(p, axis=1)[:, ::-1].T)


def assert_every_cut_is_within_the_error(kernel, eta, metric):
    curves, error = kernel.curves(eta)
    exact = np.stack([expected_curve(row, metric) for row in eta.T], axis=1)
    # The reference adds up with three digits more, but rounds the scores themselves.
    assert np.abs(curves - exact).max() <= error
    return error


# --- whole curves --------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 7, 30, 120])
@pytest.mark.parametrize(
    "metric",
    [
        FBeta(),
        FBeta(3),
        FBeta(4),
        FBeta(2.5, zero_division=-0.5),
        Jaccard(zero_division=1.0),
    ],
    ids=title,
)
def test_every_cut_of_a_fractional_kernel_is_within_its_error(metric, n):
    kernel = fractional_kernel(metric, n)
    p = np.concatenate(
        [skewed(np.random.default_rng(n), 9, n), [np.resize(NEAR_ONE, n)]]
    )
    error = assert_every_cut_is_within_the_error(kernel, columns(p), metric)
    # A rule of d2 + d3 powers for each instance may leave as many eps: 29 at most here.
    assert error <= (40 * n + 100) * EPS


@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "hmean", "qmean", "markedness"])
@pytest.mark.parametrize("n", [7, 30, 120])
def test_every_cut_of_the_law_kernels_is_within_their_error(name, n):
    metric = get(name)
    p = np.concatenate(
        [skewed(np.random.default_rng(n), 9, n), [np.resize(NEAR_ONE, n)]]
    )
    kernels = LawKernels(metric, n, n)
    for kernel in (kernels.whole, kernels.windows):
        error = assert_every_cut_is_within_the_error(kernel, columns(p), metric)
        assert error <= 1.01 * law_error(n)


@pytest.mark.parametrize("name", ["gmean", "mcc", "accuracy"])
def test_what_windows_leave_out_is_within_the_statement(name):
    """With windows so narrow that they, and not rounding, make the error."""
    metric, n, negligible = get(name), 60, 1e-5
    eta = columns(np.random.default_rng(1).random((20, n)))

    def table(k, above, below):
        return _table(metric, n, k, above, below)

    lost = 2 * n * negligible * 1.0  # these scores are at most 1
    curves, error = _kernel(table, n, negligible, lost).curves(eta)
    exact = np.stack([expected_curve(row, metric) for row in eta.T], axis=1)
    off = np.abs(curves - exact).max()
    assert 1e3 * law_error(n) < off <= error


def test_rows_longer_than_tables_are_within_the_error():
    p = np.random.default_rng(3).beta(0.3, 3, size=(40, 300))
    for name in ("gmean", "mcc"):
        many = bestcut.decide_each(p, name)
        assert np.all(many.gap == 0.0)
        curve = expected_curve(descending(p[0]), many.metric)
        k, value = many.n_positive[0], many.expected_score[0]
        assert abs(curve[k] - value) <= many.error[0]
        assert curve.max() <= value + many.error[0]


def test_a_large_beta_and_certain_instances_are_no_trouble():
    """Powers of the nodes underflow there, and were divided by."""
    p = np.array([[1.0] * 10, [1.0] * 5 + [0.0] * 5, [0.5] * 10, [1.0] + [1e-300] * 9])
    for beta in (10, 20, 1 / 8):
        metric = FBeta(beta)
        kernel = fractional_kernel(metric, 10)
        assert kernel is not None
        assert_every_cut_is_within_the_error(kernel, columns(p), metric)
        many = bestcut.decide_each(p, metric)
        assert many.expected_score[:2] == pytest.approx(1.0, abs=1e-12)
        assert many.n_positive[:2].tolist() == [10, 5]


# --- the parts -----------------------------------------------------------------------


def test_entries_of_laws_have_small_relative_errors_even_for_sure_instances():
    for p in (NEAR_ONE, np.random.default_rng(0).random(15)):
        found = count_laws(p[:, None])[:, 0]
        for mass, exact in zip(found, exact_law_by_recursion(p.tolist()), strict=True):
            assert abs(Fraction(mass) - exact) <= exact * Fraction(1.5 * p.size * EPS)


@pytest.mark.parametrize("negligible", [0.0, 1e-25, 1e-9, 1e-4])
def test_windows_drop_what_they_may_and_not_more(negligible):
    some = np.random.default_rng(2).random(200)
    for p in (some, some**8, 1 - some**8):
        *_, last = running_laws(of_nobody(1), p[:, None], negligible)
        assert negligible == 0.0 or last.pmf.size < 150
        missing = law(p)
        missing[last.counts.start : last.counts.stop] -= last.pmf[:, 0]
        # Beside what is dropped, 1.5 eps for each instance.
        assert np.abs(missing).sum() <= 2 * p.size * (negligible + EPS)


@pytest.mark.parametrize("n", [0, 1, 2, 64, 65, 80, 81, 82])
def test_laws_come_backwards_as_they_came(n):
    p = np.random.default_rng(n).random((n, 4))
    forwards = [x.copy() for x in running_laws(of_nobody(4), p, 1e-20)]
    backwards = list(running_laws_backwards(p, 1e-20))
    assert len(forwards) == len(backwards) == n + 1
    for one, other in zip(forwards, backwards[::-1], strict=True):
        assert one.start == other.start
        assert np.array_equal(one.pmf, other.pmf)


@pytest.mark.parametrize("largest", [1, 2, 3, 40, 257, slow(1000), slow(4096)])
def test_the_error_of_a_rule_is_true_in_exact_arithmetic(largest):
    rule = _shared_rule(largest)
    nodes, weights = ([*map(Fraction, x.tolist())] for x in rule[:2])
    for power in sorted({1, 2, largest // 2 + 1, max(largest - 1, 1), largest}):
        if power > 300:  # fractions grow: 200 bits are enough
            unit = 2**200
            powers = [Fraction(int(t ** (power - 1) * unit), unit) for t in nodes]
        else:
            powers = [t ** (power - 1) for t in nodes]
        found = sum(w * t for w, t in zip(weights, powers, strict=True))
        assert abs(power * found - 1) <= rule.error
    assert rule.error <= (largest + 100) * EPS


# The catalogue knows its bounds; the same formulas as callables have to be followed.
FOLLOWED = [
    from_counts(get(name).score_cells, f"{name} as a callable", zero_division=0.0)
    for name in bestcut.metrics.names()
]


@pytest.mark.parametrize("metric", [*FAMILY, *FOLLOWED], ids=title)
def test_no_score_is_larger_than_the_bound(metric):
    tp, fp, fn, tn = lattice(9)
    score = np.broadcast_to(metric.score_cells(tp, fp, fn, tn), tp.shape)
    n = tp + fp + fn + tn
    for size in range(1, 10):
        largest = np.abs(score[n == size]).max()
        assert largest <= score_bound(metric, size) * (1 + 4 * EPS)


def test_scores_have_a_bound_unless_they_cannot_be_followed():
    for name in bestcut.metrics.names():
        assert score_bound(get(name), 1000) == 1.0
    for metric in FOLLOWED:
        assert score_bound(metric, 1000) <= 1.1e9  # n³
    assert 1.0 <= score_bound(STEPS, 1000) < 1.2
    floor = from_counts(lambda tp, fp, fn, tn: np.floor(tp) / (tp + fp + 1), "floor")
    assert score_bound(floor, 1000) == np.inf


def test_the_comparison_rejects_a_curve_beyond_its_error():
    metric, eta = FBeta(), columns(skewed(np.random.default_rng(0), 3, 20))
    kernel = fractional_kernel(metric, 20)
    curves, error = kernel.curves(eta)
    assert_every_cut_is_within_the_error(kernel, eta, metric)
    wrong = SimpleNamespace(curves=lambda _: (curves + 2 * error, error))
    with pytest.raises(AssertionError):
        assert_every_cut_is_within_the_error(wrong, eta, metric)
