"""The law of a total is the exact one, within the errors that it states."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import bestcut
from bestcut.scores import _total
from bestcut.scores._total import FEWEST, Grid, Steps, distribution_of_total
from groups import one_in, slow
from oracles.totals import total_law

LEVELS = (0.001, 0.05, 0.3, 0.5, 0.8, 0.95, 0.999)


def assert_as_stated(found, law):
    """Raise unless a law is the exact one, within the errors that it states.

    A total may be moved by `value_error`, and a probability be wrong by
    `probability_error`; a quantile is one of a level that is lower by twice that.
    """
    value, chance = map(Fraction, (found.value_error, found.probability_error))
    between = [(a + b) / 2 for a, b in itertools.pairwise(law.values)]
    for x in [*law.values, *between]:
        exact = law.at_least(x)
        # Fractions are rounded to floats, to the side that is allowed.
        low = np.nextafter(float(x - value), -np.inf)
        high = np.nextafter(float(x + value), np.inf)
        assert found.at_least(high) - chance <= exact <= found.at_least(low) + chance
    for q in map(Fraction, LEVELS):
        x = Fraction(found.quantile(float(q)))
        least, most = law.quantile(max(q - 2 * chance, 0)), law.quantile(q)
        assert least - value <= x <= most + value


def rows(rng, n, low=-3, high=5):
    """Return probabilities, among them sure ones and even ones, and two amounts."""
    p = rng.choice([0.0, 1.0, 0.5, 0.25, rng.random(), *rng.random(8)], size=n)
    hit = 10.0 ** rng.uniform(low, high, n) * rng.choice([-1.0, 1.0], size=n)
    return p, hit, np.where(rng.random(n) < 0.3, hit, rng.normal(size=n))


def exact_law(p, hit, miss):
    n = len(p)
    return total_law(p, [1] * n, (hit, miss, [0] * n, [0] * n))


@pytest.mark.parametrize("seed", range(12))
def test_few_rows_are_listed_exactly(seed):
    rng = np.random.default_rng(seed)
    p, hit, miss = rows(rng, seed % 11)
    found = distribution_of_total(Steps.of_rows(p, hit, miss))
    scale = float(np.abs(hit).sum() + np.abs(miss).sum())
    assert found.value_error <= 1e-14 * scale + 1e-270  # steps below are none
    assert found.probability_error < 1e-12
    assert_as_stated(found, exact_law(p, hit, miss))


@pytest.mark.parametrize(
    ("seed", "cells"),
    [
        *((seed, FEWEST) for seed in range(3)),
        *(slow(seed, _total.CELLS) for seed in range(3)),
    ],
)
def test_on_a_grid_errors_are_no_larger_than_stated(seed, cells):
    rng = np.random.default_rng(seed)
    p, hit, miss = rows(rng, 10)
    p[0], hit[0] = 0.3, miss[0] + 1.0  # at least one row that is not sure
    found = Grid(Steps.of_rows(p, hit, miss), cells)
    spread = float(np.abs(hit - miss).sum())
    assert found.value_error < 64 / cells * spread
    assert found.probability_error < 1e-6
    assert_as_stated(found, exact_law(p, hit, miss))


@pytest.mark.parametrize("seed", [0, slow(1)])
def test_amounts_from_a_millionth_to_a_milliard(seed):
    rng = np.random.default_rng(seed)
    p, hit, miss = rows(rng, 10, low=-6, high=9)
    p[:2], hit[:2] = 0.4, (1e-6, 1e9)
    steps = Steps.of_rows(p, hit, miss)
    law = exact_law(p, hit, miss)
    assert_as_stated(distribution_of_total(steps), law)
    assert_as_stated(Grid(steps), law)


def law_of_whole(p, sizes):
    """Return the law of a sum of whole steps, one step after the other."""
    law = np.ones(1)
    for q, size in zip(p.tolist(), sizes.tolist(), strict=True):
        longer = np.zeros(law.size + size)
        longer[: law.size] += (1 - q) * law
        longer[size:] += q * law
        law = longer
    return law


def assert_tails(found, values, mass, slack):
    """Raise unless the probabilities to reach values are those of floats, as stated.

    `slack` is how far off these floats may be themselves.
    """
    tail = np.cumsum(mass[::-1])[::-1]
    width = found.value_error + 4e-16 * np.abs(values)
    low, high = (
        found.onward[np.searchsorted(found.values, x)]
        for x in (values + width, values - width)
    )
    chance = found.probability_error + slack
    assert np.all(low - chance <= tail)
    assert np.all(tail <= high + chance)


@one_in(2, "unit, most", [0.01, 25.0, 1 / 3, 1e-200, 1e140], [0.2, 1.0])
def test_many_rows_have_the_law_of_a_convolution(unit, most):
    """Multiples of 0.01 and of 25 are found to be that; those of 1/3 are moved."""
    rng = np.random.default_rng(3)
    n = 300
    p, sizes = most * rng.random(n), rng.integers(1, 400, size=n)
    exact = law_of_whole(p, sizes)
    found = distribution_of_total(Steps.of_rows(p, sizes * unit, np.zeros(n)))
    std = unit * math.sqrt(float((sizes**2 * p * (1 - p)).sum()))
    is_decimal = unit in (0.01, 25.0)
    assert found.value_error < (1e-9 if is_decimal else 2e-3) * std
    assert found.probability_error < 1e-8
    # A convolution rounds by at most one EPS for each row, and the sum once a term.
    assert_tails(found, unit * np.arange(exact.size), exact, exact.size * 2.3e-16)
    assert (found.width == unit) == is_decimal


@pytest.mark.parametrize(("unit", "is_found"), [(1e-6, True), (1e-7, False)])
def test_units_down_to_a_millionth_are_found(unit, is_found):
    hit = unit * np.random.default_rng(3).integers(1, 400, size=200)
    found = distribution_of_total(Steps.of_rows(np.full(200, 0.5), hit, np.zeros(200)))
    assert (found.width == pytest.approx(unit, rel=1e-12)) == is_found


def test_rows_that_are_taken_one_by_one_make_the_grid_coarser(monkeypatch):
    rng = np.random.default_rng(4)
    n = 60
    p, hit = rng.uniform(0.3, 0.7, n), rng.lognormal(0, 3, n)
    fine = Grid(Steps.of_rows(p, hit, np.zeros(n)))
    monkeypatch.setattr(_total, "_FACTORS", n << 13)
    coarse = Grid(Steps.of_rows(p, hit, np.zeros(n)))
    assert fine.values.size >= 8 * coarse.values.size >= 8 * FEWEST
    assert fine.value_error < coarse.value_error
    apart = coarse.value_error + fine.value_error
    for q in LEVELS:
        x = fine.quantile(q)
        assert coarse.at_least(x + apart) <= fine.at_least(x) + 1e-8
        assert coarse.at_least(x - apart) >= fine.at_least(x) - 1e-8


@pytest.mark.parametrize(("most", "low", "high"), [(1.0, -6, 9), (0.02, 0, 4)])
def test_a_simulation_agrees(most, low, high):
    rng = np.random.default_rng(5)
    n, draws = 2000, 20_000
    p, hit = most * rng.random(n), 10.0 ** rng.uniform(low, high, n)
    miss = -rng.random(n)
    found = distribution_of_total(Steps.of_rows(p, hit, miss))
    step = hit - miss
    totals = np.concatenate(
        [(rng.random((500, n)) < p) @ step for _ in range(draws // 500)]
    )
    totals = np.sort(totals) + miss.sum()
    # Dvoretzky, Kiefer and Wolfowitz: farther off with probability 1e-9 at most.
    apart = math.sqrt(math.log(2e9) / (2 * draws)) + found.probability_error
    # The rows are added up in another order here.
    value = found.value_error + n * 2.3e-16 * float(np.abs(step).sum())
    at = totals[:: draws // 50]
    share = 1.0 - np.searchsorted(totals, at) / draws
    for x, seen in zip(at.tolist(), share.tolist(), strict=True):
        assert found.at_least(x + value) - apart <= seen
        assert seen <= found.at_least(x - value) + apart


def test_what_hardly_happens_does_not_make_the_grid_wide():
    rng = np.random.default_rng(7)
    p, hit = rng.random(100), rng.lognormal(size=100)
    plain = distribution_of_total(Steps.of_rows(p, hit, np.zeros(100)))
    more = [np.concatenate([x, np.full(50, y)]) for x, y in ((p, 1e-14), (hit, 1e9))]
    found = distribution_of_total(Steps.of_rows(*more, np.zeros(150)))
    assert found.value_error == pytest.approx(plain.value_error)
    assert found.probability_error >= 50 * 1e-14
    for q in LEVELS:
        assert found.quantile(q) == pytest.approx(plain.quantile(q))
    few = distribution_of_total(
        Steps.of_rows(np.full(30, 1e-14), np.ones(30), np.zeros(30))
    )
    assert few.quantile(0.9) == 0.0
    assert few.probability_error >= 30 * 1e-14


@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e150])
def test_amounts_near_the_ends_of_floats_give_numbers(unit):
    rng = np.random.default_rng(8)
    p, hit = rng.random(50), unit * rng.integers(1, 9, size=50)
    found = distribution_of_total(Steps.of_rows(p, hit, np.zeros(50)))
    low, high = found.quantile(0.01), found.quantile(0.99)
    mean = float(p @ hit)
    assert low - found.value_error <= mean <= high + found.value_error < np.inf


@pytest.mark.parametrize("n", [5, 40])
def test_the_ends_are_those_of_what_is_possible(n):
    rng = np.random.default_rng(9)
    p, hit, miss = rng.random(n), rng.normal(size=n), rng.normal(size=n)
    found = distribution_of_total(Steps.of_rows(p, hit, miss))
    ends = np.minimum(hit, miss).sum(), np.maximum(hit, miss).sum()
    assert (found.quantile(0.0), found.quantile(1.0)) == pytest.approx(ends, rel=1e-12)


def test_sure_rows_are_no_steps():
    steps = Steps.of_rows(
        np.array([0.0, 1.0, 0.3, 0.9]),
        np.array([5.0, 7.0, 2.0, 1.0]),
        np.array([-1.0, 0.0, 2.0, 4.0]),
    )
    assert (steps.start, steps.size.tolist()) == (-1.0 + 7.0 + 2.0 + 1.0, [3.0])
    assert steps.chance.tolist() == [1.0 - 0.9]
    nothing = distribution_of_total(Steps(4.0, np.zeros(0), np.zeros(0)))
    assert (nothing.at_least(4.0), nothing.above(4.0), nothing.quantile(0.5)) == (
        1,
        0,
        4,
    )


@pytest.mark.slow
def test_an_error_that_is_understated_would_show():
    rng = np.random.default_rng(6)
    p, hit = rng.random(10), rng.lognormal(size=10)
    found = Grid(Steps.of_rows(p, hit, np.zeros(10)))
    law = exact_law(p, hit, np.zeros(10))
    assert_as_stated(found, law)
    value, found.value_error = found.value_error, 0.0
    with pytest.raises(AssertionError):
        assert_as_stated(found, law)
    found.value_error = value
    found.onward = found.onward + 2 * found.probability_error
    with pytest.raises(AssertionError):
        assert_as_stated(found, law)


def test_tails_that_are_wrong_would_show():
    p, sizes = np.full(40, 0.3), np.arange(1, 41)
    found = Grid(Steps.of_rows(p, sizes / 3, np.zeros(40)))
    exact = law_of_whole(p, sizes)
    values = np.arange(exact.size) / 3
    assert_tails(found, values, exact, 1e-13)
    with pytest.raises(AssertionError):
        assert_tails(found, values + 2 * found.value_error, exact, 1e-13)
    with pytest.raises(AssertionError):
        assert_tails(found, values, exact * (1 + 1e-6), 1e-13)


def test_a_step_is_to_the_less_likely_outcome():
    p = np.array([0.0, 0.25, 0.5, 0.502, 0.75, 1.0])
    steps = Steps.of_rows(p, np.arange(1.0, 7.0), -np.arange(1.0, 7.0))
    assert np.all((steps.chance > 0) & (steps.chance <= 0.5))
    np.testing.assert_array_equal(steps.size, [4, 6, -8, -10])
    assert steps.start == -1 - 2 - 3 + 4 + 5 + 6


def test_the_highest_total_over_draws_counts_however_rare_it_is():
    """Level 1 is no level that rounding may lower: the third row pays at 1e-14."""
    draws = bestcut.UncertainProbabilities([[0.5, 0.5, 0.0], [0.5, 0.5, 1e-14]])
    worth = bestcut.RowUtility(tp=[1.0, 2.0, 4.0])
    score = bestcut.score_distribution(draws, [1, 1, 1], worth)
    assert score.ppf(1.0) == pytest.approx(7.0)
    assert score.ppf(0.0) == 0.0
