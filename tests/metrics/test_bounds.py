"""Bounds on a metric: sums of counts, and what hides behind a factor 0 or a branch."""

from fractions import Fraction

import numpy as np
import pytest

import bestcut
from bestcut.metrics import from_counts, from_expression
from bestcut.metrics._bounds import enclosed, rounding_at, score_bound
from bestcut.metrics._enclosure import FIRST, SECOND
from bestcut.metrics._interval import spread
from groups import one_in
from metrics.known import box_of
from search.known import ExactCuts, assert_promise


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("max(tp + fp, 1)", 60, 60),
        ("max(tp + fn, 1)", 80, 90),
        ("max(fp + tn, 1)", 310, 320),
        ("max(fn + tn, 1)", 340, 340),
        ("max(tp + fp + fn + tn, 1)", 400, 400),
        ("max(n - n_pred, 1)", 340, 340),
        ("max(n - n_pos, 1)", 310, 320),
        ("max(n_pred - tp, 1)", 30, 50),
        ("max(n_pred - n_pos + fn, 1)", 30, 50),
    ],
)
def test_sums_of_counts_are_counts(text, low, high):
    found = enclosed(from_expression(text), box_of(10, 30, 60, 60, 80, 90, 400), 400.0)
    lo, hi = spread(found.value, ())
    assert lo <= low
    assert hi >= high
    assert hi - lo <= high - low + 1e-9


RISKY = {
    "behind a factor 0": lambda tp, fp, fn, tn: 0.0 * (1 / tp) + fn,
    "behind a factor that may be 0": lambda tp, fp, fn, tn: fp * (1 / tp),
    "in a branch": lambda tp, fp, fn, tn: np.where(tp > 0, fp / tp, 7.0),
    "in the other branch": lambda tp, fp, fn, tn: np.where(tp > 5, 7.0, fp / tp),
    "in a minimum": lambda tp, fp, fn, tn: np.minimum(fn / tp, 2.0),
    "in a maximum": lambda tp, fp, fn, tn: np.maximum(-fn / tp, -2.0),
    "twice": lambda tp, fp, fn, tn: 1 / (1 / tp) + fn,
    "in a branch that is not taken": lambda tp, fp, fn, tn: np.where(
        tp >= 0, fn, fp / tp
    ),
    "in a comparison": lambda tp, fp, fn, tn: np.where(fp / tp >= fn, 1.0, 2.0),
    "in a growth": lambda tp, fp, fn, tn: np.exp(-1 / tp) + np.tanh(fn / tp),
    "zero by zero": lambda tp, fp, fn, tn: tp / tp,
    "a root": lambda tp, fp, fn, tn: np.sqrt(tp - fp),
    "a root behind a factor 0": lambda tp, fp, fn, tn: 0.0 * np.sqrt(tp - fp) + fn,
    "a power": lambda tp, fp, fn, tn: (tp - fp) ** 1.5 + (fn - 3.0) ** -0.5,
    "a power of a root": lambda tp, fp, fn, tn: np.sqrt(tp - fp) ** 2,
    "a reciprocal root": lambda tp, fp, fn, tn: 1 / (1 + np.sqrt(tp - fp)),
    "a whole power": lambda tp, fp, fn, tn: (tp - fp) ** -2,
    "an even power": lambda tp, fp, fn, tn: 1 / (1 + (tp - fp) ** 4),
}


@one_in(2, "name, zero_division", list(RISKY), [0.0, 3.0, -2.0])
def test_what_may_be_no_number_is_enclosed(name, zero_division):
    n, rng = 40.0, np.random.default_rng(0)
    metric = from_counts(RISKY[name], name=name, zero_division=zero_division)
    count = 300
    t0 = rng.integers(0, 8, count) * rng.integers(0, 2, count)
    k0 = t0 + rng.integers(0, 8, count) * rng.integers(0, 2, count)
    s0 = t0 + rng.integers(0, 8, count) * rng.integers(0, 2, count)
    wide = rng.integers(0, 4, (3, count)) * rng.integers(0, 2, count)
    t1, k1, s1 = t0 + wide[0], k0 + wide[1], s0 + wide[2]
    found = enclosed(metric, box_of(t0, t1, k0, k1, s0, s1, n), n)
    value = spread(found.value, (count,))
    slopes = {x: spread(found.slope(x), (count,)) for x in (*FIRST, *SECOND)}
    largest = score_bound(metric, int(n))

    def at(tp, k, s):
        cells = np.array([tp, k - tp, s - tp, n - k - s + tp], dtype=float)
        inside = (cells.min(axis=0) >= 0) & (tp <= t1) & (k <= k1) & (s <= s1)
        safe = np.where(inside, cells, np.array([1, 1, 1, n - 3])[:, None])
        return metric.score_cells(*safe), inside

    moves = {"0": (0, 1, 0), "1": (1, 1, 0), "a": (1, 0, 1), "b": (0, 0, 1)}
    for _ in range(60):
        point = [
            low + np.floor(rng.random(count) * (high - low + 1))
            for low, high in ((t0, t1), (k0, k1), (s0, s1))
        ]

        def score(*names, point=point):
            return at(
                *(x + sum(moves[m][i] for m in names) for i, x in enumerate(point))
            )

        here, possible = score()
        slack = 1e-9 * (1 + np.abs(here))
        assert np.all(~possible | (np.abs(here) <= largest))
        assert np.all(
            ~possible | ((value[0] - slack <= here) & (here <= value[1] + slack))
        )
        for step in FIRST:
            there, inside = score(step)
            ok, change = possible & inside, there - here
            low, high = slopes[step]
            assert np.all(~ok | ((low - slack <= change) & (change <= high + slack))), (
                step
            )
        for one, other in SECOND:
            corner, a = score(one, other)
            first, b = score(one)
            second, c = score(other)
            ok, bend = possible & a & b & c, corner - first - second + here
            low, high = slopes[one + other]
            assert np.all(~ok | ((low - slack <= bend) & (bend <= high + slack)))


@pytest.mark.parametrize("name", RISKY)
def test_a_decision_is_as_good_as_it_says_wherever_a_risk_is(name):
    metric = from_counts(RISKY[name], name=name, zero_division=3.0)
    if bestcut.metrics.check_metric(metric).prp is not True:
        return
    for seed, p in enumerate((np.full(450, 0.004), np.linspace(0, 1, 450) ** 3)):
        decision = bestcut.decide(p, metric)
        cuts = ExactCuts(
            np.sort(p)[::-1],
            [*range(0, 451, 1 + 8 * seed), decision.n_positive],
        )
        assert_promise(decision, cuts, metric)


ROUNDED = {
    "a sum that cancels": lambda tp, fp, fn, tn, number: (
        number(0.8) * tp - number(0.1) * fp - number(0.1) * fn
    ),
    "a tiny denominator": lambda tp, fp, fn, tn, number: tp / (fp + number(1e-12)),
    "informedness": lambda tp, fp, fn, tn, number: (
        tp / (tp + fn) + tn / (tn + fp) - number(1.0)
    ),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_scores_round_by_no_more_than_stated(name):
    """In floating point 0.8 - 8 x 0.1 is 5.6e-17 or 0, by the order of the terms."""
    formula = ROUNDED[name]
    metric = from_counts(lambda tp, fp, fn, tn: formula(tp, fp, fn, tn, float))
    cells = np.random.default_rng(0).integers(1, 30, (4, 300)).astype(float)
    scores, room = metric.score_cells(*cells), rounding_at(metric, *cells)
    for cell, score, wide in zip(cells.T.tolist(), scores, room, strict=True):
        exact = formula(*map(Fraction, cell), Fraction)
        assert abs(Fraction(float(score)) - exact) <= wide
    assert np.all(room <= 1e-13 * (cells.sum(axis=0) + np.abs(scores)))
