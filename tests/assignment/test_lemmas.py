"""Lemmas 19 to 21: bounds on every assignment, held against all of them."""

import itertools
from functools import cache

import numpy as np
import pytest

import bestcut
from bestcut.assignment._certificate import ScoredColumns
from bestcut.assignment._column_laws import ColumnLaws
from bestcut.assignment._entries import ColumnGroup, Entries
from bestcut.assignment._sizes import Sizes
from bestcut.metrics import FractionalLinear, Trait, affine_parts, get
from groups import one_in
from helpers import NAMES

RNG = np.random.default_rng(0)
ROUNDING = 1e-13  # of an oracle that adds up some hundred numbers of at most 1
EVERY = [get(name) for name in NAMES]
CONVEX = [x for x in EVERY if Trait.CONVEX_SLOPE in x.traits]


def name_of(metric):
    return metric.name


def law(p):
    """Return the distribution of a number of positives, one by one."""
    pmf = np.ones(1)
    for x in p:
        pmf = np.convolve(pmf, [1 - x, x])
    return pmf


def utilities(p, metric):
    """Return the expected utility of every set of rows, as a dict."""
    sets = itertools.product([False, True], repeat=p.size)
    return {
        taken: metric.sign * bestcut.expected_score(p, taken, metric) for taken in sets
    }


def scored(p, labels, metric):
    """Return the columns of a matrix, with some entries taken."""
    entries = Entries.of_matrix(p)
    (group,) = entries.column_groups()
    return ScoredColumns(labels.T[group.columns], metric, ColumnLaws(group, p.shape[0]))


# --- Lemma 19 -------------------------------------------------------------------------


@pytest.mark.parametrize("metric", EVERY, ids=name_of)
def test_no_assignment_is_above_what_prices_of_rows_bound(metric):
    n, columns = 4, 2
    for _ in range(2):
        p = RNG.uniform(0.05, 0.95, (n, columns))
        price = RNG.normal(size=n) * 0.2
        low, high = np.array([0, 1, 0, 1]), np.array([1, 1, 2, 2])
        worth = [utilities(column, metric) for column in p.T]
        best = max(
            worth[0][one] + worth[1][other]
            for one, other in itertools.product(*worth)
            if all(low <= np.add(one, other, dtype=int))
            and all(np.add(one, other, dtype=int) <= high)
        )
        rows = high @ np.maximum(price, 0.0) + low @ np.minimum(price, 0.0)
        some = RNG.random(p.shape) < 0.5
        prices = np.tile(price, (columns, 1))
        bound, _ = scored(p, some, metric).bounds(prices, np.ones(columns), 0.0)
        assert best <= rows + bound.sum() + ROUNDING


@one_in(2, "metric", {name_of(m): m for m in EVERY})
def test_no_set_of_a_column_is_above_its_bound(metric):
    n, columns = 7, 2
    p = RNG.beta(0.7, 1.5, (n, columns))
    share, extra = np.array([0.7, 0.3]), 0.05
    worth = [utilities(column, metric) for column in p.T]
    for scale in (0.0, 0.02, 0.2):
        prices = RNG.normal(size=(columns, n)) * scale
        some = RNG.random(p.shape) < 0.4
        bound, _ = scored(p, some, metric).bounds(prices, share, extra)
        for j, column in enumerate(p.T):
            for taken, value in worth[j].items():
                paid = np.array(taken) @ (prices[j] - extra * column)
                assert share[j] * value - paid <= bound[j] + ROUNDING


# --- Lemma 20 -------------------------------------------------------------------------


@pytest.mark.parametrize("terms", [1, 2, 3, 6])
def test_an_entry_is_left_out_by_a_series(terms):
    for _ in range(200):
        n = int(RNG.integers(1, 9))
        p = RNG.random(n) ** RNG.choice([0.3, 1.0, 3.0])
        g, whole = RNG.normal(size=n + terms + 2), law(p)
        exact = law(p[1:]) @ g[1 : n + 1]
        series, difference = 0.0, g
        for m in range(terms):
            series += (-p[0]) ** m * (whole @ difference[1 : n + 2])
            difference = np.diff(difference)
        size = np.abs(difference)
        left = whole @ size[1 : n + 2] + whole[1:] @ size[1 : n + 1]
        assert abs(exact - series) <= p[0] ** terms * left + 2.0**terms * ROUNDING


@cache
def laws_without_each(n):
    """Return probabilities, and the law of all but each of them."""
    p = np.random.default_rng(n).beta(0.4, 4, n)
    return p, [law(np.delete(p, i)) for i in range(n)]


@pytest.mark.parametrize("metric", CONVEX, ids=name_of)
@pytest.mark.parametrize("n", [3, 30, 400])
def test_weights_are_right_up_to_their_error(metric, n):
    p, without = laws_without_each(n)
    one = np.array([0])
    group = ColumnGroup(one, np.array([n]), np.arange(n)[None], p[None])
    laws = ColumnLaws(group, n)
    k = max(n // 3, 1)
    slope = affine_parts(metric, float(k), laws.arguments(), float(n))[1]
    slope = np.broadcast_to(slope, laws.arguments().shape)
    found = laws.weights(slope)
    s = np.arange(1.0, n + 1.0)
    at = np.broadcast_to(affine_parts(metric, float(k), s, float(n))[1], s.shape)
    wrong = [abs(p[i] * (without[i] @ at) - found.of_entries[0, i]) for i in range(n)]
    # The oracle rounds by at most 3 n eps of the largest weight, and they are added up.
    assert sum(wrong) <= found.error[0] + 3 * n * 2.3e-16 * np.abs(at).max() * p.sum()


# --- Lemma 21 -------------------------------------------------------------------------

# Bases that are convex and concave, with a sign that changes.
OTHERS = [
    FractionalLinear((0, 2, 0.5, 0), (0.1, 0, 1, 1), name="rising"),
    FractionalLinear((0.3, 1, -0.7, 0.2), (0.2, 0, 1, 0.3), name="falling"),
    FractionalLinear((-0.25, 0, 1, 0), (0, 0, 1, 1), name="zero at one size"),
]


@one_in(2, "metric", {name_of(m): m for m in [*CONVEX, *OTHERS]})
def test_sizes_between_two_are_below_what_these_bound(metric):
    n = 24
    p = RNG.beta(0.6, 1.4, (n, 1))
    for scale in (0.0, 0.01, 0.1):
        cost = RNG.normal(size=(1, n)) * scale
        columns = scored(p, RNG.random(p.shape) < 0.3, metric)
        one = np.ones(1)
        finder = Sizes(columns.group.p, cost, one, columns._weighing)
        finder.around(columns.size, [], False, np.inf * one)
        found = {k: finder.at(k * one, one > 0) for k in range(1, n)}
        most = {k: float(best_of_size(columns, cost, k)) for k in range(1, n)}
        for k, here in found.items():
            assert most[k] <= here.value[0] + ROUNDING
        for first, last in itertools.combinations(range(1, n), 2):
            if first < n / 4 < last:
                continue  # where a base may turn
            bound = float(columns._between(found[first], found[last], one)[0])
            assert max(most[k] for k in range(first, last + 1)) <= bound + ROUNDING


# Slopes of these rise where nearly everything is predicted.
RISING = ("markedness", "mcc", "negative_predictive_value")
FALLING = [x for x in CONVEX if x.name not in RISING]


@pytest.mark.parametrize("metric", FALLING, ids=name_of)
@pytest.mark.parametrize("scale", [0.0, 1e-4, 1e-2])
def test_entries_that_are_left_aside_are_in_their_place(metric, scale):
    # Long enough for parts of the entries to do; only where slopes fall they may.
    n = 1500
    p = RNG.beta(0.5, 6, (n, 2))
    cost = np.abs(RNG.normal(size=(2, n))) * scale
    columns = scored(p, p > 0.2, metric)
    assert columns._slopes_fall()
    first, last = np.ones(2), np.full(2, n - 1.0)
    finder = Sizes(columns.group.p, cost, np.ones(2), columns._weighing)
    sizes = columns._sizes_around(columns.size, first, last)
    finder.around(columns.size, sizes, True, np.full(2, np.inf))
    assert len(finder.parts) > 2
    assert finder.parts[-1].p.shape[1] < n / 10
    for part in finder.parts:
        for t in (0.0, 0.3, 0.5, 1.0):
            reach = np.minimum(part.last, n - 1) - part.first
            size = np.maximum(np.floor(part.first + t * reach), 1.0)
            bound = finder._look(size, part).at.value
            exact = finder._look(size, finder.whole).at.value
            line = columns._line(size)
            for c in range(2):
                k = int(size[c])
                best = np.sort(line.weights[c] - cost[c])[::-1][:k].sum()
                assert line.const[c] + best <= bound[c] + ROUNDING
            # Little is lost by prices that must be near those of the ends.
            np.testing.assert_allclose(bound, exact, rtol=0.02, atol=1e-3)


def best_of_size(columns, cost, k):
    """Return the most that k entries are worth, less their prices."""
    line = columns._line(np.array([float(k)]))
    return line.const[0] + np.sort((line.weights - cost)[0])[::-1][:k].sum()


# --- tangent planes -------------------------------------------------------------------


@pytest.mark.parametrize(
    "metric", [x for x in EVERY if Trait.CONCAVE in x.traits], ids=name_of
)
def test_a_tangent_plane_is_nowhere_below_the_utility(metric):
    n = 8
    for s, k in itertools.product(range(n + 1), repeat=2):
        tp = np.arange(max(0, k + s - n), min(k, s) + 1.0)
        for size in RNG.uniform(0.5, n - 0.5, 5):
            low, high = max(0.0, size + s - n), min(size, s)
            at = low + RNG.uniform(0.02, 0.98) * (high - low)
            arguments = (np.array(x, dtype=float) for x in (at, size, s, n))
            value, by_tp, by_size = metric.tangent(*arguments)
            plane = value + by_tp * (tp - at) + by_size * (k - size)
            score = metric.score(tp, float(k), float(s), float(n))
            assert np.all(metric.sign * (score - plane) <= ROUNDING)
