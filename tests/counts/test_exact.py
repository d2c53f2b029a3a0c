"""Laws of counts are those in fractions, whole, in windows and with one removed."""

import math
import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from bestcut import InvalidProbabilityError, counts
from bestcut.counts import _exact
from groups import one_in
from oracles import EPS, SMALLEST, assert_near, error_of
from oracles.enumeration import exact_law, exact_law_by_recursion

FLOAT_EPS = float(EPS)
TINY = float(np.finfo(np.float64).tiny)
ADVERSARIAL = [0.0, 1.0, 1e-300, 1 - 1e-16, 5e-324, 0.5]


def law_rtol(n):
    # One instance multiplies and adds non-negative numbers: a rounding each of 1 - p,
    # of a product and of a sum, (1 + eps/2)^3. After n of them the relative error is
    # about 1.5 n eps; 2 leaves room for the terms of higher order.
    return 2 * n * EPS


def law_atol(n):
    # Underflow: two products for each instance lose at most half the smallest number
    # each, and what is lost is only ever multiplied by at most 1 afterwards.
    return n * SMALLEST


def assert_law(actual, exact):
    n = len(exact) - 1
    assert_near(actual, exact, rtol=law_rtol(n), atol=law_atol(n))


def test_the_comparison_of_laws_rejects_wrong_ones():
    exact = exact_law([0.1, 0.2, 0.7])
    good = np.array([float(x) for x in exact])
    assert_law(good, exact)
    for i in range(4):
        for factor in (1 + 8 * FLOAT_EPS, 1 - 8 * FLOAT_EPS, np.nan, 0.0):
            bad = good.copy()
            bad[i] *= factor
            with pytest.raises(AssertionError):
                assert_law(bad, exact)
    with pytest.raises(AssertionError):
        assert_law(good[::-1], exact)
    with pytest.raises(AssertionError):
        assert_law(good[:-1], exact)
    with pytest.raises(AssertionError):
        assert_law([3 * 5e-324, 1.0], [Fraction(0), Fraction(1)])


# --- the law of the number of positives ----------------------------------------------


def adversarial_probabilities():
    rng = np.random.default_rng(1)
    cases = [[], *([x] for x in ADVERSARIAL), ADVERSARIAL, ADVERSARIAL[::-1]]
    cases += [[x] * 10 for x in ADVERSARIAL]
    cases += [[x, y] for x in ADVERSARIAL for y in ADVERSARIAL]
    cases += [rng.choice(ADVERSARIAL, 7).tolist() for _ in range(12)]
    cases += [rng.random(int(n)).tolist() for n in rng.integers(1, 11, 12)]
    cases += [
        [*rng.random(4).tolist(), *rng.choice(ADVERSARIAL, 4).tolist()]
        for _ in range(6)
    ]
    cases += [[1e-200, 1e-200, 1e-100, 0.3], [1e-16] * 9, [1 - 1e-16] * 9 + [1e-300]]
    return cases


def test_the_law_equals_that_of_enumeration_in_fractions():
    for p in adversarial_probabilities():
        law = counts.poisson_binomial(p)
        assert_law(law, exact_law(p))
        assert law.shape == (len(p) + 1,)
        assert law.dtype == np.float64
        assert not np.isnan(law).any()
        assert (law >= 0).all()
        assert abs(math.fsum(law) - 1) <= 2 * len(p) * FLOAT_EPS


def test_certain_instances_move_the_law_without_touching_it():
    p = [0.3, 0.8, 0.55]
    law = counts.poisson_binomial(p)
    np.testing.assert_array_equal(
        counts.poisson_binomial([1.0, *p, 0.0, 1.0]), [0, 0, *law, 0]
    )


def mp_law(p):
    law = [mpmath.mpf(1)]
    for p_i in p.tolist():
        p_i = mpmath.mpf(p_i)
        law = [
            a * (1 - p_i) + b * p_i for a, b in zip([*law, 0], [0, *law], strict=True)
        ]
    return law


@one_in(2, "kind, n", ["uniform", "rare", "half", "near the ends"], [100, 400])
def test_the_error_of_a_long_law_stays_below_its_bound(n, kind):
    rng = np.random.default_rng(n)
    p = {
        "uniform": rng.random(n),
        "rare": rng.random(n) ** 6,
        "half": np.full(n, 0.5),
        "near the ends": np.where(rng.random(n) < 0.5, 1e-9, 1 - 1e-9),
    }[kind]
    law = counts.poisson_binomial(p)
    bound = float(law_rtol(n))
    with mpmath.workdps(40):
        reference = mp_law(p)
        seen = 0
        for value, exact in zip(law.tolist(), reference, strict=True):
            if exact > TINY * 2**60:  # short of underflow
                assert abs(value - exact) <= bound * exact
                seen += 1
    assert seen > n / 20
    assert abs(math.fsum(law) - 1) <= bound


dyadic = st.integers(0, 1024).map(lambda i: i / 1024)  # so that 1 - p is exact


@settings(deadline=None, max_examples=100)
@given(p=st.lists(dyadic, max_size=40), data=st.data())
def test_the_law_keeps_its_identities(p, data):
    n = len(p)
    law = counts.poisson_binomial(p)
    rtol = 4 * max(n, 1) * FLOAT_EPS  # two laws of 2 n eps each
    flipped = counts.poisson_binomial([1 - x for x in p])[::-1]
    np.testing.assert_allclose(flipped, law, rtol=rtol, atol=TINY)
    shuffled = counts.poisson_binomial(data.draw(st.permutations(p)))
    np.testing.assert_allclose(shuffled, law, rtol=rtol, atol=TINY)
    assert abs(math.fsum(law) - 1) <= rtol
    mean = math.fsum(np.arange(n + 1) * law)
    assert abs(mean - math.fsum(p)) <= rtol * max(mean, 1)
    # In the support and only there.
    certain, possible = sum(x == 1 for x in p), sum(x > 0 for x in p)
    assert not law[:certain].any()
    assert not law[possible + 1 :].any()


@settings(deadline=None, max_examples=30)
@given(p=st.lists(st.floats(0, 1), max_size=12))
def test_the_law_equals_that_in_fractions_for_any_floats(p):
    assert_law(counts.poisson_binomial(p), exact_law_by_recursion(p))


# --- the laws of all prefixes --------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 8, 9, 10, 16, 17, 101])
def test_prefix_laws_come_out_the_same_in_both_directions(n):
    p = np.random.default_rng(n).random(n)
    p[::7] = 0.0
    p[3::11] = 1.0
    forwards = list(_exact.prefix_laws(p))
    backwards = list(_exact.prefix_laws_backwards(p))
    assert len(forwards) == len(backwards) == n + 1
    for k, (one, other) in enumerate(zip(forwards, backwards[::-1], strict=True)):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one, counts.poisson_binomial(p[:k]))


def test_a_prefix_law_once_given_out_does_not_change():
    p = np.random.default_rng(0).random(30)
    for laws in (_exact.prefix_laws, _exact.prefix_laws_backwards):
        given_out = [(law, law.copy()) for law in laws(p)]
        for law, copy in given_out:
            np.testing.assert_array_equal(law, copy)


def test_going_backwards_keeps_only_about_a_root_of_the_laws():
    n = 4000
    p = np.random.default_rng(0).random(n)
    tracemalloc.start()
    try:
        sizes = sum(law.size for law in _exact.prefix_laws_backwards(p))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sizes == (n + 1) * (n + 2) // 2  # 64 MB in all
    # sqrt(n) kept laws of n / 2 numbers and sqrt(n) of n in between, and as much again.
    assert peak < 2 * 1.5 * n**1.5 * 8


# --- windows -------------------------------------------------------------------------


def window_cases():
    rng = np.random.default_rng(2)
    return {
        "empty": [],
        "one": [0.3],
        "certain": [1.0] * 20 + [0.0] * 20,
        "fair": [0.5] * 120,
        "uniform": rng.random(100).tolist(),
        "rare": (rng.random(100) * 0.02).tolist(),
        "frequent": (1 - rng.random(60) * 0.02).tolist(),
        "ends": rng.choice(ADVERSARIAL, 40).tolist(),
    }


WINDOW_CASES = window_cases()


@one_in(2, "name, tail", list(WINDOW_CASES), [0.0, 1e-300, 1e-20, 1e-12, 1e-3, 0.5])
def test_a_window_misses_no_more_than_it_says(name, tail):
    p = WINDOW_CASES[name]
    n = len(p)
    window = counts.poisson_binomial_window(p, tail)
    stop = window.start + window.pmf.size
    assert 0 <= window.start < stop <= n + 1
    np.testing.assert_array_equal(window.counts, np.arange(window.start, stop))
    assert 0 <= window.dropped <= tail
    exact = exact_law_by_recursion(p)
    inside = exact[window.start : stop]
    outside = 1 - sum(inside)
    rounding = 2 * (n + 1) * EPS
    # What is missing, in all and at each count, in exact arithmetic. The sum of what
    # is left carries the rounding of the law.
    dropped = Fraction(window.dropped) * (1 + rounding) + n * SMALLEST
    assert outside <= dropped
    missing = 1 - sum(Fraction(x) for x in window.pmf.tolist())
    assert missing <= dropped + rounding
    assert missing >= Fraction(window.dropped) * (1 - rounding) - rounding
    for value, truth in zip(window.pmf.tolist(), inside, strict=True):
        error = Fraction(value) - truth
        room = rounding * truth + n * SMALLEST
        assert -(dropped + room) <= error <= room


@pytest.mark.parametrize("name", WINDOW_CASES)
def test_a_window_that_may_drop_nothing_is_the_law_without_its_zeros(name):
    p = WINDOW_CASES[name]
    window = counts.poisson_binomial_window(p, tail=0.0)
    law = counts.poisson_binomial(p)
    stop = window.start + window.pmf.size
    np.testing.assert_array_equal(window.pmf, law[window.start : stop])
    assert not law[: window.start].any()
    assert not law[stop:].any()
    assert window.dropped == 0


def test_a_default_window_agrees_with_the_law_to_its_tail():
    p = np.random.default_rng(3).random(1000)
    window = counts.poisson_binomial_window(p)
    law = counts.poisson_binomial(p)
    stop = window.start + window.pmf.size
    np.testing.assert_allclose(
        window.pmf, law[window.start : stop], rtol=float(law_rtol(1000)), atol=1e-20
    )
    assert math.fsum(law[: window.start]) + math.fsum(law[stop:]) <= window.dropped
    assert window.dropped <= 1e-20
    # 9.4 standard deviations hold all but 1e-20 to each side.
    assert window.pmf.size < 2 * 10.5 * math.sqrt(np.sum(p * (1 - p)))


def test_a_window_is_frozen():
    with pytest.raises(AttributeError):
        counts.poisson_binomial_window([0.5]).start = 3


# --- taking one instance out ---------------------------------------------------------

TO_REMOVE = [0.0, 5e-324, 1e-300, 0.1, 0.5, 0.9, 1 - 1e-16, 1.0]


def removal_atol(n):
    # A step multiplies the error so far by p / (1 - p) <= 1 and adds that of the law's
    # entry (2 n eps of it; they sum to 1) and of three operations, divided by
    # 1 - p >= 1/2: 4 n eps from the law, at most 3 eps for each of n steps.
    return (4 * n + 3 * n) * EPS


@one_in(2, "p", TO_REMOVE)
def test_removing_undoes_adding(p):
    rng = np.random.default_rng(4)
    others = [
        [],
        [0.5],
        [0.0],
        [1.0],
        ADVERSARIAL,
        [p] * 5,
        rng.random(9).tolist(),
        (rng.random(60) * 0.1).tolist(),
        rng.random(60).tolist(),
        [0.5] * 60,
    ]
    for rest in others:
        exact = exact_law_by_recursion(rest)
        n = len(rest) + 1
        added = _exact.with_instance(counts.poisson_binomial(rest), p)
        assert_law(added, exact_law_by_recursion([*rest, p]))
        out = counts.remove(added, p)
        assert out.shape == (n,)
        assert (out >= 0).all()
        assert_near(out, exact, atol=removal_atol(n))


def test_the_comparison_after_a_removal_rejects_the_wrong_instance():
    rest = [0.2, 0.7, 0.4]
    law = counts.poisson_binomial([*rest, 0.9])
    with pytest.raises(AssertionError):
        assert_near(
            counts.remove(law, 0.7), exact_law(rest), atol=removal_atol(len(rest))
        )


@settings(deadline=None, max_examples=60)
@given(
    p=st.lists(
        st.one_of(st.floats(0, 1), st.sampled_from(TO_REMOVE)), min_size=1, max_size=30
    ),
    data=st.data(),
)
def test_any_instance_can_be_taken_out(p, data):
    i = data.draw(st.integers(0, len(p) - 1))
    out = counts.remove(counts.poisson_binomial(p), p[i])
    expected = counts.poisson_binomial(p[:i] + p[i + 1 :])
    atol = float(removal_atol(len(p)) + law_rtol(len(p)))
    np.testing.assert_allclose(out, expected, rtol=0, atol=atol)


def test_each_instance_of_one_law_can_be_left_out():
    p = np.random.default_rng(5).random(200)
    law = counts.poisson_binomial(p)
    for i in range(0, 200, 9):
        expected = counts.poisson_binomial(np.delete(p, i))
        atol = float(removal_atol(200) + law_rtol(200))
        np.testing.assert_allclose(
            counts.remove(law, p[i]), expected, rtol=0, atol=atol
        )


# --- what is given -------------------------------------------------------------------


@pytest.mark.parametrize(
    "container",
    [list, tuple, np.array, pd.Series, pl.Series, lambda x: np.array(x, np.float32)],
    ids=["list", "tuple", "array", "pandas", "polars", "float32"],
)
def test_probabilities_come_in_any_container(container):
    law = counts.poisson_binomial(container([0.5, 0.25]))
    assert law.tolist() == [0.375, 0.5, 0.125]
    window = counts.poisson_binomial_window(container([0.5, 0.25]), tail=0)
    assert window.pmf.tolist() == [0.375, 0.5, 0.125]
    assert counts.remove(container([0.375, 0.5, 0.125]), 0.25).tolist() == [0.5, 0.5]


def test_whole_numbers_are_probabilities():
    assert counts.poisson_binomial([1, 0, 1]).tolist() == [0, 0, 1, 0]
    assert counts.poisson_binomial([]).tolist() == [1]


def test_inputs_are_left_untouched_and_may_be_read_only():
    p = np.array([0.9, 0.2, 0.4])
    law = counts.poisson_binomial(p)
    before = p.copy(), law.copy()
    p.flags.writeable = law.flags.writeable = False
    for out in (
        counts.poisson_binomial(p),
        counts.poisson_binomial_window(p).pmf,
        counts.remove(law, 0.9),
        counts.remove(law, 0.4),
    ):
        assert out.flags.writeable
        assert not np.shares_memory(out, p)
        assert not np.shares_memory(out, law)
    np.testing.assert_array_equal(p, before[0])
    np.testing.assert_array_equal(law, before[1])


@pytest.mark.parametrize(
    "function", [counts.poisson_binomial, counts.poisson_binomial_window]
)
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([0.5, np.nan], InvalidProbabilityError,
         r"`y_proba` must lie in \[0, 1\]; got y_proba\[1\] = nan \(1 of 2 entries are "
         r"out of range\)\. Drop or fill the missing entries first\."),
        ([np.inf], InvalidProbabilityError, r"got y_proba\[0\] = inf"),
        ([0.5, -0.1, 1.2], InvalidProbabilityError,
         r"got y_proba\[1\] = -0\.1 \(2 of 3 entries are out of range\)\. Pass "
         r"probabilities, not scores or logits\."),
        ([1 + 4e-12], InvalidProbabilityError, r"got y_proba\[0\] = 1\.000000"),
        ([-1e-14], InvalidProbabilityError, r"got y_proba\[0\] = -1e-14"),
        ([[0.9, 0.1]], ValueError,
         r"must be 1-D; got shape \(1, 2\)\. Pass the column of the positive class"),
        (np.zeros((2, 3)), ValueError, r"1-D; got shape \(2, 3\)\. For one class"),
        (0.5, ValueError, r"`y_proba` must be 1-D; got shape \(\)"),
        ([[0.1], [0.1, 0.2]], ValueError, r"`y_proba` must be a flat.*ragged rows"),
        (["0.5"], TypeError,
         r"`y_proba` must hold real numbers; got dtype <U3 \(first entry '0\.5'\)"),
        (np.array(["0.5"], object), TypeError,
         r"got dtype object.*`y_proba\.astype\(float\)`"),
        ([0.5, None], TypeError, r"`y_proba` must hold real numbers; got dtype object"),
        ([0.5j], TypeError, r"got dtype complex128"),
        (np.ma.array([0.5], mask=[True]), TypeError,
         r"`y_proba` must not be a masked array; fill it or pass "
         r"`y_proba\.compressed\(\)`"),
    ],
    ids=["nan", "inf", "-0.1", "above", "below", "two columns", "2-D", "0-D", "ragged",
         "strings", "objects", "None", "complex", "masked"],
)  # fmt: skip
def test_what_is_no_probability_is_refused(function, given, error, message):
    with pytest.raises(error, match=message):
        function(given)


@pytest.mark.parametrize(
    ("tail", "error", "message"),
    [
        (1.0, ValueError, r"`tail` must lie in \[0, 1\); got 1\.0\."),
        (-1e-9, ValueError, r"`tail` must lie in \[0, 1\); got -1e-09\."),
        (np.nan, ValueError, r"`tail` must be finite; got nan\."),
        (np.inf, ValueError, r"`tail` must be finite; got inf\."),
        ("small", TypeError, r"`tail` must be a real number; got 'small'\."),
        (None, TypeError, r"`tail` must be a real number; got None\."),
        (True, TypeError, r"`tail` must be a real number; got True\."),
    ],
)
def test_a_bad_tail_is_refused(tail, error, message):
    with pytest.raises(error, match=message):
        counts.poisson_binomial_window([0.5], tail)


@pytest.mark.parametrize(
    ("law", "probability", "error", "message"),
    [
        ([1.0], 0.5, ValueError, r"`law` must have at least two entries; got 1\."),
        ([], 0.5, ValueError, r"`law` must have at least two entries; got 0\."),
        ([0.5, np.nan], 0.5, InvalidProbabilityError, r"`law` must lie in \[0, 1\]"),
        ([[0.5, 0.5]], 0.5, ValueError, r"`law` must be 1-D; got shape \(1, 2\)"),
        (["a", "b"], 0.5, TypeError, r"`law` must hold real numbers"),
        ([0.5, 0.5], 1.5, InvalidProbabilityError,
         r"`probability` must lie in \[0, 1\]; got probability\[0\] = 1\.5"),
        ([0.5, 0.5], np.nan, ValueError, r"`probability` must be finite; got nan\."),
        ([0.5, 0.5], "a", TypeError, r"`probability` must be a real number; got 'a'\."),
        ([0.5, 0.5], None, TypeError, r"`probability` must be a real number; got None"),
        ([0.5, 0.5], [0.5, 0.1], TypeError, r"a real number; got \[0\.5, 0\.1\]"),
        ([0.5, 0.5], [], TypeError, r"`probability` must be a real number; got \[\]\."),
    ],
)  # fmt: skip
def test_a_bad_removal_is_refused(law, probability, error, message):
    with pytest.raises(error, match=message):
        counts.remove(law, probability)


def test_the_error_helper_measures_the_last_place():
    assert error_of(counts.poisson_binomial([0.5])[0], Fraction(1, 2)) == 0
