"""What a metric is: what it declares, and the three ways to write it."""

import dataclasses
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from bestcut import SolverMismatchError, metrics
from bestcut.metrics import (
    FractionalLinear,
    LinearUtility,
    Trait,
    from_counts,
    get,
    is_affine,
)
from bestcut.metrics._base import (
    confusion_from_counts,
    counts_from_confusion,
    counts_from_rates,
    counts_from_uvp,
    rates_from_counts,
    remembered,
    uvp_from_counts,
)
from bestcut.reference import ALGORITHMS
from oracles.enumeration import lattice

ROOT = Path(__file__).resolve().parents[2]
# Every confusion matrix of 0 to 12 instances, prevalences 0 and 1 included.
CELLS = lattice(12)
COUNTS = counts_from_confusion(*CELLS)
N = COUNTS[3]
NAMES = metrics.names()
ALL = [
    metric
    for name in NAMES
    for metric in (
        metrics.get(name),
        *(
            [dataclasses.replace(metrics.get(name), zero_division=1.0)]
            if hasattr(metrics.get(name), "zero_division")
            else []
        ),
    )
] + [
    metrics.BalancedAccuracy("drop"),
    metrics.FractionalLinear(c=(1, 2, -1, 0), d=(3, -1, 1, 1)),
    metrics.LinearUtility(tp=5, fp=-1, fn=-2, tn=1),
    metrics.from_counts(lambda tp, fp, fn, tn: tp - fp * fn, name="mine"),
]


@pytest.fixture(
    params=ALL, ids=lambda m: f"{m.name}-{getattr(m, 'zero_division', None)}"
)
def metric(request):
    return request.param


# --- what a metric declares ---------------------------------------------------------

FRACTIONAL = {
    Trait.FRACTIONAL_LINEAR,
    Trait.WITHOUT_C3,
    Trait.RATIONAL_D,
    Trait.ONE_SIGN,
}


@pytest.mark.parametrize(
    ("metric", "traits"),
    [
        (
            LinearUtility(tp=1),
            {Trait.LINEAR, Trait.LINEAR_AT_CUT, Trait.AFFINE, Trait.CONCAVE},
        ),
        (get("cohen_kappa"), {Trait.AFFINE, Trait.CONVEX_SLOPE}),
        (get("mcc"), {Trait.AFFINE, Trait.SEPARABLE, Trait.CONVEX_SLOPE}),
        (get("gmean"), {Trait.CONCAVE}),
        (get("f1"), FRACTIONAL | {Trait.AFFINE, Trait.CONVEX_SLOPE}),
        (get("jaccard"), FRACTIONAL | {Trait.FACTORISED}),
        (
            FractionalLinear(c=(0, 1, 0, 1), d=(0, 0, 1, -0.1)),
            {Trait.FRACTIONAL_LINEAR, Trait.AFFINE},
        ),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_a_metric_declares_its_traits(metric, traits):
    assert metric.traits == traits


@pytest.mark.parametrize(
    "metric",
    [
        *map(get, NAMES),
        LinearUtility(tp=2, fp=-1),
        FractionalLinear(c=(1, 2, -1, 1), d=(1, 0, 1, 0)),
    ],
)
def test_a_metric_is_linear_at_a_cut_exactly_if_it_says_so(metric):
    n = 8
    bend = 0.0
    for k in range(n + 1):
        score = {
            (tp, fn): metric(tp, k, tp + fn, n)
            for tp in range(k + 1)
            for fn in range(n - k + 1)
        }
        for (tp, fn), here in score.items():
            plane = score[0, 0]
            plane += tp * (score.get((1, 0), 0.0) - score[0, 0])
            plane += fn * (score.get((0, 1), 0.0) - score[0, 0])
            bend = max(bend, abs(here - plane))
    assert (bend < 1e-12) == (Trait.LINEAR_AT_CUT in metric.traits)


@pytest.mark.parametrize("metric", [*map(get, NAMES), LinearUtility(tp=2, fp=-1)])
def test_an_affine_metric_is_what_its_parts_say(metric):
    if not is_affine(metric):
        return
    n_pred, n_pos, n = 4.0, 5.0, 10.0
    alpha, beta, delta = metric.affine(n_pred, n_pos, n)
    for tp in range(5):
        # Counts and coefficients are dyadic: only the division rounds.
        assert (alpha * tp + beta) / delta == metric(tp, n_pred, n_pos, n)


def test_the_parts_of_what_is_not_affine_in_tp_are_refused():
    message = (
        r"^metric 'jaccard' is not affine in TP: its denominator depends on TP "
        r"\(d1 = -1\)\.$"
    )
    with pytest.raises(SolverMismatchError, match=message):
        get("jaccard").affine(4.0, 5.0, 10.0)


@pytest.mark.parametrize(
    ("name", "sign"), [("f1", 1.0), ("gmean", 1.0), ("squared_count_error", -1.0)]
)
def test_the_sign_is_that_of_the_utility(name, sign):
    metric = get(name)
    assert metric.sign == sign
    counts = (2.0, 4.0, 5.0, 10.0)
    assert metric.utility(*counts) == sign * metric(*counts)


def test_a_custom_loss_has_the_sign_of_a_loss():
    loss = from_counts(lambda tp, fp, fn, tn: fp + fn, greater_is_better=False)
    assert loss.sign == -1.0
    assert dataclasses.replace(loss, greater_is_better=True).sign == 1.0


def test_what_cannot_be_hashed_is_not_remembered():
    seen = []

    @lru_cache
    def looked_at(metric, n):
        seen.append(n)
        return n

    class Unhashable:
        __hash__ = None

    assert [remembered(looked_at, "metric", 3) for _ in range(2)] == [3, 3]
    assert seen == [3]
    assert [remembered(looked_at, Unhashable(), 4) for _ in range(2)] == [4, 4]
    assert seen == [3, 4, 4]


def test_what_a_solver_requires_are_traits():
    for solver in ALGORITHMS.values():
        assert all(isinstance(trait, Trait) for trait in solver.requires)


def test_the_page_for_contributors_lists_the_traits():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [trait.name for trait in Trait if f"`{trait.name}`" not in page] == []


# --- three ways to write one metric --------------------------------------------------


def test_the_lattice_has_its_degenerate_corners():
    tp, n_pred, n_pos, n = COUNTS
    assert N.size == 1820  # 16 choose 4
    assert ((n_pos == 0) & (n > 0)).any()
    assert ((n_pos == n) & (n > 0)).any()
    assert (n == 0).any()
    assert ((n_pred == 0) & (n_pos == 0) & (n == 12)).any()
    assert tp.max() == 12


def test_psi_on_cells_equals_the_call_on_counts(metric):
    np.testing.assert_array_equal(metric.psi(*CELLS), metric(*COUNTS))


def test_phi_on_shares_equals_the_call_on_counts(metric):
    u, v, p = uvp_from_counts(*COUNTS)
    np.testing.assert_array_equal(metric.phi(u, v, p, N), metric(*COUNTS))


@pytest.mark.parametrize("undefined", [np.nan, 0.0, 0.123, 1.0])
def test_gamma_on_rates_equals_the_call_and_never_reads_an_undefined_rate(
    metric, undefined
):
    tpr, tnr, p = rates_from_counts(*COUNTS, undefined)
    np.testing.assert_array_equal(metric.gamma(tpr, tnr, p, N), metric(*COUNTS))


def test_scalars_give_scalars_in_every_form(metric):
    expected = metric(3, 4, 5, 10)
    for score in (
        metric.psi(3, 1, 2, 4),
        metric.phi(0.3, 0.4, 0.5, 10),
        metric.gamma(0.6, 0.8, 0.5, 10),
    ):
        assert isinstance(score, float)
        assert score == expected


def test_shares_and_rates_want_the_number_of_instances():
    # Without it a rounded share cannot tell an empty class from a nearly empty one.
    with pytest.raises(TypeError, match="'n'"):
        metrics.Jaccard().phi(0.1, 0.3, 0.8)
    with pytest.raises(TypeError, match="'n'"):
        metrics.Jaccard().gamma(0.5, 0.5, 0.8)


def test_shares_whose_rounding_would_leave_the_lattice_are_accepted():
    # 0.3 + 0.8 - 1 is more than 0.1, and 1 - 3/7 - 5/7 + 1/7 less than 0.
    assert metrics.Jaccard().phi(u=0.1, v=0.3, p=0.8, n=10) == 0.1
    assert metrics.GMean().phi(1 / 7, 3 / 7, 5 / 7, 7) == 0


def test_shares_and_rates_that_cannot_occur_are_refused():
    with pytest.raises(ValueError, match=r"got tp=5, n_pred=4, n_pos=5, n=10\."):
        metrics.Jaccard().phi(0.5, 0.4, 0.5, 10)
    with pytest.raises(ValueError, match=r"got tp=6, n_pred=7, n_pos=5, n=10\."):
        metrics.Jaccard().gamma(1.2, 0.8, 0.5, 10)
    with pytest.raises(ValueError, match="counts must satisfy"):
        metrics.Jaccard().psi(3, -1, 2, 4)
    with pytest.raises(ValueError, match="tp=nan"):
        metrics.Jaccard().gamma(np.nan, 0.8, 0.5, 10)


def test_inputs_of_the_three_forms_are_left_untouched():
    metric = metrics.GMean()
    for form, values in (
        (metric.psi, ([3.0, 0.0], [1.0, 0.0], [2.0, 0.0], [4.0, 10.0])),
        (metric.phi, ([0.3, 0.0], [0.4, 0.0], [0.5, 0.0], [10.0, 10.0])),
        (metric.gamma, ([0.6, 0.0], [0.8, 1.0], [0.5, 0.0], [10.0, 10.0])),
    ):
        given = [np.array(x) for x in values]
        for x in given:
            x.flags.writeable = False
        np.testing.assert_array_equal(form(*given), metric([3, 0], [4, 0], [5, 0], 10))
        np.testing.assert_array_equal(given, values)


# --- conversions ---------------------------------------------------------------------


def assert_same(actual, expected):
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_same_rejects_a_wrong_count():
    with pytest.raises(AssertionError):
        assert_same((COUNTS[0] + 1, *COUNTS[1:]), COUNTS)
    with pytest.raises(AssertionError):
        assert_same(COUNTS[:3], COUNTS)


def test_cells_and_counts_are_each_others_inverse():
    assert_same(confusion_from_counts(*COUNTS), CELLS)
    assert_same(counts_from_confusion(*confusion_from_counts(*COUNTS)), COUNTS)


def test_shares_and_counts_are_each_others_inverse():
    shares = uvp_from_counts(*COUNTS)
    assert_same(counts_from_uvp(*shares, N), COUNTS)
    assert_same(uvp_from_counts(*counts_from_uvp(*shares, N)), shares)


@pytest.mark.parametrize("undefined", [np.nan, 0.0, 1.0])
def test_rates_and_counts_are_each_others_inverse(undefined):
    rates = rates_from_counts(*COUNTS, undefined)
    assert_same(counts_from_rates(*rates, N), COUNTS)
    assert_same(rates_from_counts(*counts_from_rates(*rates, N), undefined), rates)


@pytest.mark.parametrize("n", [101, 4_999, 1_000_003])
def test_conversions_are_inverse_for_large_n_too(n):
    rng = np.random.default_rng(n)
    n_pos, n_pred = rng.integers(0, n + 1, (2, 2000)).astype(float)
    low, high = np.maximum(0, n_pos + n_pred - n), np.minimum(n_pos, n_pred)
    tp = np.rint(low + rng.random(2000) * (high - low))
    counts = (tp, n_pred, n_pos, np.full(2000, float(n)))
    assert_same(counts_from_uvp(*uvp_from_counts(*counts), counts[3]), counts)
    assert_same(counts_from_rates(*rates_from_counts(*counts), counts[3]), counts)


def test_counts_that_are_not_whole_stay_so():
    tp, n_pred, n_pos, n = counts_from_uvp(0.35, 0.45, 0.5, 10.0)
    assert (tp, n_pred, n_pos, n) == (3.5, 4.5, 5.0, 10.0)


# --- calling -------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_counts_broadcast(name):
    metric = metrics.get(name)
    n_pred, n_pos = np.arange(4), np.arange(3)[:, None]
    table = metric(0, n_pred, n_pos, 5)
    assert table.shape == (3, 4)
    assert table.dtype == np.float64
    for i in range(3):
        for j in range(4):
            assert table[i, j] == metric(0, j, i, 5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [0, 1, 10], ids=["empty", "degenerate", "usual"])
def test_scalars_in_give_a_scalar_out(name, n):
    metric = metrics.get(name)
    score = metric(n // 4, n // 2, n // 3, n)
    assert isinstance(score, float)
    assert np.ndim(score) == 0
    assert np.isfinite(score)
    as_array = metric(np.array([n // 4]), n // 2, n // 3, n)
    assert as_array.shape == (1,)
    assert as_array[0] == score


@pytest.mark.parametrize("name", NAMES)
def test_no_counts_give_no_scores(name):
    empty = np.zeros(0)
    assert metrics.get(name)(empty, empty, empty, empty).shape == (0,)


@pytest.mark.parametrize(
    "container", [list, tuple, np.array, pd.Series, lambda x: np.array(x, np.int8)]
)
def test_counts_come_in_any_container(container):
    tp, n_pred, n_pos, n = ([3, 0], [4, 2], [5, 1], [100, 120])
    score = metrics.Jaccard()(*map(container, (tp, n_pred, n_pos, n)))
    np.testing.assert_array_equal(score, [0.5, 0.0])


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_left_untouched_and_may_be_read_only(name):
    given = [
        np.array(x) for x in ([0.0, 3, 2], [0.0, 4, 2], [0.0, 5, 10], [9.0, 9, 10])
    ]
    before = [x.copy() for x in given]
    for x in given:
        x.flags.writeable = False
    score = metrics.get(name)(*given)
    for x, y in zip(given, before, strict=True):
        np.testing.assert_array_equal(x, y)
        assert not np.shares_memory(score, x)


@pytest.mark.parametrize(
    "counts",
    [
        (3, 2, 5, 10),  # more hits than predictions
        (3, 5, 2, 10),  # more hits than positives
        (0, 6, 5, 10),  # too few hits for so many of both
        (-1, 2, 2, 10),
        (0, -1, 2, 10),
        (0, 2, -1, 10),
        (0, 0, 0, -1),
        (np.nan, 2, 2, 10),
        (1, np.nan, 2, 10),
        (1, 2, np.nan, 10),
        (1, 2, 2, np.nan),
        (1, 2, 2, np.inf),
        (np.inf, 2, 2, 10),
    ],
)
@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "squared_count_error"])
def test_counts_that_cannot_occur_are_refused(name, counts):
    got = ", ".join(
        f"{k}={v:g}"
        for k, v in zip(("tp", "n_pred", "n_pos", "n"), counts, strict=True)
    )
    with pytest.raises(ValueError, match="counts must satisfy") as error:
        metrics.get(name)(*counts)
    assert f"got {got}." in str(error.value)
    assert "max(0, n_pred + n_pos - n) <= tp <= min(n_pred, n_pos)" in str(error.value)


def test_the_first_impossible_count_of_an_array_is_shown():
    with pytest.raises(ValueError, match=r"got tp=3, n_pred=2, n_pos=5, n=10\."):
        metrics.Jaccard()([1, 3, 9], 2, 5, 10)


def test_the_four_cells_in_place_of_the_counts_are_recognised():
    # (tp, fp, fn, tn) = (3, 1, 2, 4)
    with pytest.raises(
        ValueError, match=r"order of the arguments: \(tp, n_pred, n_pos, n\)"
    ):
        metrics.Jaccard()(3, 1, 2, 4)


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        (("3", 4, 5, 10), TypeError, r"`tp` must hold real numbers; got dtype <U1"),
        ((3, None, 5, 10), TypeError, r"`n_pred` must hold real numbers.*None"),
        ((3, 4, 5j, 10), TypeError, r"`n_pos` must hold real numbers.*complex"),
        (
            ([1, 2], [1, 2, 3], 3, 9),
            ValueError,
            r"must broadcast together; got shapes tp \(2,\), n_pred \(3,\), n_pos "
            r"\(\), n \(\)",
        ),
        (([[1], [1, 2]], 2, 2, 9), ValueError, r"`tp` must be a flat.*ragged"),
        (
            (np.ma.array([1.0], mask=[True]), 2, 2, 9),
            TypeError,
            r"`tp` must not be a masked array; fill it or pass `tp\.compressed\(\)`",
        ),
    ],
)
def test_counts_that_are_no_numbers_are_refused(counts, error, message):
    with pytest.raises(error, match=message):
        metrics.Jaccard()(*counts)


@settings(max_examples=100, deadline=None)
@given(cells=st.tuples(*[st.floats(0, 1e6, allow_subnormal=False)] * 4))
def test_expected_counts_may_be_off_by_a_rounding_step(cells):
    """Sums of probabilities round: three of 0.1 are more than 0.3."""
    tp, fp, fn, tn = cells
    jaccard = get("jaccard")
    assert 0 <= jaccard.psi(*cells) <= 1
    n_pos, n_pred = tp + fn, tp + fp
    shown = {"n_pred": n_pred, "n_pos": n_pos, "n": n_pred + n_pos + tn}
    more = min(n_pred, n_pos) * (1 + 2**-52)
    assert jaccard(tp=more, **shown) == jaccard(tp=min(n_pred, n_pos), **shown)


def test_a_count_that_is_off_by_a_rounding_step_leaves_no_cell_below_nothing():
    tp = 0.1 + 0.1 + 0.1
    root = from_counts(lambda tp, fp, fn, tn: np.sqrt(fn) + np.sqrt(fp) + tp)
    assert root(tp=tp, n_pred=0.3, n_pos=0.3, n=1) == 0.3
    assert get("recall")(tp=tp, n_pred=1, n_pos=0.3, n=2) == 1.0
    with pytest.raises(ValueError, match="counts must satisfy"):
        get("recall")(tp=0.3 + 1e-12, n_pred=1, n_pos=0.3, n=2)


@pytest.mark.parametrize("name", NAMES)
def test_expected_counts_where_every_row_is_flagged_have_a_score(name):
    """No negative is left, but what is subtracted rounds."""
    rng = np.random.default_rng(5)
    n = rng.integers(1, 40, size=300).astype(float)
    n_pos = n * rng.random(300)
    value = get(name)(n_pos, n, n_pos, n)
    assert np.isfinite(value).all()
