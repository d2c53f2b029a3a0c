"""The laws of many draws side by side are those of `bestcut.counts`, one by one."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from bestcut.counts import ROOM, poisson_binomial
from bestcut.uncertain import (
    AlignedLaws,
    DrawnLaw,
    DrawnSide,
    ListedDraws,
    MappedDraws,
    convolved_laws,
    joined_draws,
    laws_from_sums,
    laws_of,
    nothing,
    with_instances,
)
from bestcut.uncertain._law import laws_of_many

PROBABILITIES = st.floats(0.0, 1.0) | st.sampled_from([0.0, 1.0, 0.5, 1e-12, 1 - 1e-12])
# A row for each instance, a column for each draw.
TABLES = arrays(
    np.float64,
    st.tuples(st.integers(0, 25), st.integers(1, 4)),
    elements=PROBABILITIES,
)
ATOL = 1e-14  # some 25 instances, each of them three roundings of numbers below 1


def assert_laws(law, table, atol=ATOL):
    """Check the laws of all draws against those of each by itself."""
    n, draws = table.shape
    assert law.pmf.shape[1] == draws
    for b in range(draws):
        known = poisson_binomial(np.ascontiguousarray(table[:, b]))
        found = np.zeros(n + 1)
        counts = law.counts.astype(int)
        beyond = (counts < 0) | (counts > n)
        assert np.all(law.pmf[beyond, b] <= atol)
        found[counts[~beyond]] = law.pmf[~beyond, b]
        np.testing.assert_allclose(found, known, rtol=0, atol=atol)


def test_the_assertion_notices_a_wrong_law():
    table = np.full((3, 2), 0.5)
    law = with_instances(nothing(2), table)
    assert_laws(law, table)
    with pytest.raises(AssertionError):
        assert_laws(DrawnLaw(law.start + 1, law.pmf), table)
    with pytest.raises(AssertionError):
        assert_laws(law, np.full((3, 2), 0.25))


@settings(deadline=None, max_examples=80)
@given(TABLES)
def test_instances_one_by_one(table):
    assert_laws(with_instances(nothing(table.shape[1]), table), table)


@settings(deadline=None, max_examples=80)
@given(TABLES, st.integers(0, 25))
def test_two_groups_together(table, at):
    parts = table[:at], table[at:]
    laws = [with_instances(nothing(table.shape[1]), part) for part in parts]
    assert_laws(convolved_laws(*laws), table)


@settings(deadline=None, max_examples=80)
@given(TABLES)
def test_a_side_in_the_order_of_the_mean_or_in_any(table):
    assert_laws(DrawnSide(ListedDraws(table)).law, table)


@pytest.mark.parametrize("scale", [0.05, 0.1, 1.0])
@pytest.mark.parametrize("n", [49, 300, 3000])
def test_small_and_large_probabilities_by_power_sums(n, scale):
    rng = np.random.default_rng(n)
    table = rng.random((n, 3)) * scale * np.array([1.0, 0.3, 1e-6])
    table[::5] = 1.0 - table[::5]
    law = laws_of([(table, np.ones(n))], 3)
    assert_laws(law, table, atol=1e-13)
    pieces = [(table[:70], np.ones(min(n, 70))), (table[70:], np.ones(max(n - 70, 0)))]
    assert_laws(laws_of(pieces, 3), table, atol=1e-13)


@pytest.mark.parametrize("n", [2000, 5000])
def test_laws_from_sums_of_features(n):
    rng = np.random.default_rng(n)
    table = rng.random((n, 4)) ** np.array([0.5, 1.0, 2.0, 4.0])
    draws = ListedDraws(table)
    sums = draws.sums(ROOM)[:ROOM]
    assert_laws(laws_from_sums(n, sums).in_one_window(), table, atol=1e-12)
    assert_laws(DrawnSide(draws).law, table, atol=1e-12)


@pytest.mark.parametrize("n", [33, 129, 600, 2000])
def test_laws_of_many_instances(n):
    rng = np.random.default_rng(n)
    table = rng.random((n, 5)) ** np.array([0.02, 0.5, 1.0, 4.0, 50.0])
    assert_laws(laws_of_many(table), table, atol=1e-13)
    assert_laws(laws_of_many(np.zeros((n, 2))), np.zeros((n, 2)))
    assert_laws(laws_of_many(np.ones((n, 2))), np.ones((n, 2)))
    assert_laws(laws_of([(table, np.ones(n))], 5), table, atol=1e-13)


def test_windows_of_their_own_hold_the_same_laws():
    rng = np.random.default_rng(0)
    table = rng.random((900, 6)) ** np.array([0.01, 0.3, 1.0, 3.0, 30.0, 300.0])
    table[:, 5] *= 1e-3
    side = DrawnSide(ListedDraws(table))
    one, own = side.law, AlignedLaws.of(side.law)
    assert side.laws.pmf.shape[1] < one.pmf.shape[0] / 2
    for laws in (side.laws, own, AlignedLaws.of(own.in_one_window())):
        assert_laws(laws.in_one_window(), table, atol=1e-12)
        for b in range(6):
            assert_laws(in_one(laws.in_draw(b)), table[:, [b]], atol=1e-12)
        assert laws.start.min() >= 0
        assert int(laws.start.max()) + laws.pmf.shape[1] <= 901
        marginal = laws.marginal()
        here = one.start - marginal.start + np.arange(one.pmf.shape[0])
        np.testing.assert_allclose(marginal.pmf[here], one.pmf.mean(axis=1), atol=1e-15)
    some = AlignedLaws.joined(
        [(np.array(draws), own.only(draws)) for draws in ([5, 0, 2], [1, 3, 4])]
    )
    assert_laws(some.in_one_window(), table, atol=1e-12)


def in_one(law):
    return DrawnLaw(law.start, law.pmf[:, None])


def test_draws_of_which_only_some_vary_much():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.random(3000), np.full(3000, 1e-4), np.zeros(3000)])
    side = DrawnSide(ListedDraws(table))
    assert_laws(side.law, table, atol=1e-12)
    mean = np.mean([poisson_binomial(x.copy()) for x in table.T], axis=0)
    law = side.marginal()
    np.testing.assert_allclose(
        law.pmf, mean[law.start : law.start + law.pmf.size], atol=1e-12
    )


@pytest.mark.parametrize("n", [200, 6000])
def test_maps_between_shared_knots(n):
    rng = np.random.default_rng(n)
    knots = np.sort(rng.random((9, 3)), axis=0)
    place = -np.sort(-rng.uniform(0, 8, n))
    draws = MappedDraws(place, knots)
    table = np.column_stack(
        [np.interp(place, np.arange(9), knots[:, b]) for b in range(3)]
    )
    np.testing.assert_allclose(draws.rows(0, n), table, atol=1e-15)
    np.testing.assert_allclose(draws.mean(), table.mean(axis=1), atol=1e-14)
    assert_laws(DrawnSide(draws).law, table, atol=1e-12)
    for b in range(3):
        np.testing.assert_array_equal(draws.draw(b), draws.rows(0, n)[:, b])


def test_laws_of_some_draws_and_of_the_others():
    rng = np.random.default_rng(0)
    table = rng.random((6, 5))
    table[:, [1, 4]] /= 50
    parts = [
        (np.array(some), with_instances(nothing(len(some)), table[:, some]))
        for some in ([0, 2, 3], [1, 4])
    ]
    assert_laws(joined_draws(parts, 5), table)
