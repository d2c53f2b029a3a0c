"""Enclosures hold every value and every difference that occurs in their box."""

import numpy as np
import pytest

import bestcut
from bestcut.metrics import (
    BalancedAccuracy,
    LinearUtility,
    from_counts,
    from_expression,
    from_rates,
    from_uvp,
)
from bestcut.metrics._bounds import enclosed
from bestcut.metrics._discs import Disc
from bestcut.metrics._enclosure import FIRST, SECOND, Enclosure
from bestcut.metrics._interval import Interval, spread
from metrics.known import box_of

N = 400.0
STEPS = {"0": (0, 1, 0), "1": (1, 1, 0), "a": (1, 0, 1), "b": (0, 0, 1)}
METRICS = [
    *(bestcut.metrics.get(name) for name in bestcut.metrics.names()),
    BalancedAccuracy("drop"),
    LinearUtility(tp=3, fp=-1, fn=-0.5),
    from_expression("sqrt(tp) / max(n_pred, 3) * n_pos ** 2"),
    from_rates(lambda tpr, tnr, p: np.minimum(tpr, tnr) * np.sqrt(p), name="worst"),
    from_uvp(lambda u, v, p: u**1.5 / (v + p + 0.1), name="power"),
    from_counts(
        lambda tp, fp, fn, tn: np.where(tp > 30, tp / (tp + fp + 1), abs(fp - fn)),
        name="steps",
    ),
    from_counts(
        lambda tp, fp, fn, tn: np.log1p(tp) - np.log(1.0 + fp + fn), name="logarithms"
    ),
    from_counts(
        lambda tp, fp, fn, tn: np.exp(tp / 100.0) + np.expm1(-fp / (fn + 1)),
        name="growth",
    ),
    from_counts(
        lambda tp, fp, fn, tn: np.tanh((tp - fp - fn) / 50.0), name="an S-curve"
    ),
]

DERIVATIVES = {
    np.exp: lambda x: (np.exp(x), np.exp(x)),
    np.expm1: lambda x: (np.exp(x), np.exp(x)),
    np.log: lambda x: (1 / x, -1 / x**2),
    np.log1p: lambda x: (1 / (1 + x), -1 / (1 + x) ** 2),
    np.tanh: lambda x: (1 / np.cosh(x) ** 2, -2 * np.tanh(x) / np.cosh(x) ** 2),
}


def boxes(rng, count):
    """Boxes of counts that can occur, some of a single point."""
    k0 = rng.integers(0, N - 10, count).astype(float)
    s0 = rng.integers(0, N - 20, count).astype(float)
    k1, s1 = k0 + rng.integers(0, 9, count), s0 + rng.integers(0, 20, count)
    t0 = np.maximum(np.floor(rng.random(count) * np.minimum(k0, s0)), k1 + s1 - N)
    room = np.minimum(k0, s0)
    t1 = np.maximum(np.minimum(t0 + rng.integers(0, 9, count), room), t0)
    return t0, t1, k0, k1, s0, s1


def enclosure_of(metric, *ends):
    return enclosed(metric, box_of(*ends, N), N)


def holds(interval, x, where):
    lo, hi = interval
    slack = 1e-9 * np.where(np.isfinite(hi - lo), np.abs(lo) + np.abs(hi), 0) + 1e-11
    return np.all(~where | ((lo - slack <= x) & (x <= hi + slack)))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_values_and_differences_are_enclosed(metric):
    rng = np.random.default_rng(1)
    count = 300
    t0, t1, k0, k1, s0, s1 = ends = boxes(rng, count)
    found = enclosure_of(metric, *ends)
    assert isinstance(found, Enclosure)
    value = spread(found.value, (count,))
    slopes = {name: spread(found.slope(name), (count,)) for name in (*FIRST, *SECOND)}
    # Most boxes must have real bounds, or the test says little.
    assert np.mean(np.isfinite(slopes["1"][1])) > 0.6
    for _ in range(20):
        at = [
            low + np.floor(rng.random(count) * (high - low + 1))
            for low, high in ((t0, t1), (k0, k1), (s0, s1))
        ]

        def score(*steps, at=at):
            moved = [x + sum(step[i] for step in steps) for i, x in enumerate(at)]
            inside = (
                (moved[0] <= t1) & (moved[1] <= k1) & (moved[2] <= s1)
                & (moved[0] <= np.minimum(moved[1], moved[2]))
                & (moved[1] + moved[2] - moved[0] <= N)
            )  # fmt: skip
            counts = [np.where(inside, x, y) for x, y in zip(moved, at, strict=True)]
            return metric.score(*counts, N), inside

        possible = (at[0] <= np.minimum(at[1], at[2])) & (at[1] + at[2] - at[0] <= N)
        at[0] = np.where(possible, at[0], np.minimum(at[1], at[2]))
        here, _ = score()
        assert holds(value, here, possible)
        for name, step in STEPS.items():
            there, inside = score(step)
            assert holds(slopes[name], there - here, inside & possible), name
        for name in SECOND:
            one, other = (STEPS[x] for x in name)
            corner, inside = score(one, other)
            first, in_first = score(one)
            second, in_second = score(other)
            bend = corner - first - second + here
            ok = inside & in_first & in_second & possible
            assert holds(slopes[name], bend, ok), name


def test_a_formula_that_branches_is_not_followed():
    def branching(tp, fp, fn, tn):
        return tp if tp > 3 else fp

    metric = from_counts(branching, name="branching")
    point = [np.array([5.0])] * 2
    assert enclosure_of(metric, *point, *point, *point) is None


def test_no_bound_is_claimed_across_a_pole():
    metric = from_counts(lambda tp, fp, fn, tn: tp / (fp - fn), name="pole")
    ends = [np.array([x]) for x in (5.0, 6.0, 20.0, 25.0, 20.0, 25.0)]
    found = enclosure_of(metric, *ends)
    lo, hi = spread(found.value, (1,))
    assert (lo[0], hi[0]) == (-np.inf, np.inf)


def test_intervals_and_discs_follow_the_same_functions():
    """A metric that rules stand for is one that a search can bound."""
    assert set(Enclosure.rules) == set(Disc.rules)


@pytest.mark.parametrize("ufunc", [np.exp, np.expm1, np.log, np.log1p, np.tanh])
def test_derivatives_of_a_function_are_enclosed(ufunc):
    """By differences, also where it is steep, flat or bent, in wide intervals."""
    rng = np.random.default_rng(2)
    least = {np.log: 1e-3, np.log1p: -0.999}.get(ufunc, -30.0)
    low = least + 10.0 ** rng.uniform(-6, 1.5, 500)
    high = low + 10.0 ** rng.uniform(-6, 1.0, 500)
    one = Interval(1.0, 1.0)
    found = ufunc(Enclosure(Interval(low, high), {"0": one}))
    for share in (0.0, 0.3, 1.0):
        x = np.clip(low + share * (high - low), low, high)
        slope, bend = DERIVATIVES[ufunc](x)
        for interval, truth in (
            (found.value, ufunc(x)),
            (found.slope("0"), slope),
            (found.slope("00"), bend),
        ):
            room = 1e-12 * (np.abs(truth) + 1e-3)  # what the truth is rounded by
            assert np.all(interval.lo <= truth + room)
            assert np.all(truth - room <= interval.hi)
    # Nor are they much wider than what happens in the interval.
    value, slope = found.value, found.slope("0")
    steepest = np.maximum(np.abs(slope.lo), np.abs(slope.hi))
    room = 1e-13 * np.maximum(np.abs(value.lo), np.abs(value.hi)) + 1e-12
    assert np.all(value.hi - value.lo <= (high - low) * steepest * (1 + 1e-9) + room)


def test_a_logarithm_of_nothing_is_no_number():
    """It is replaced by `zero_division`, as a division by 0 is."""
    metric = from_counts(lambda tp, fp, fn, tn: np.log(tp), zero_division=-1.0)
    zero, one, two = (np.array([x]) for x in (0.0, 1.0, 2.0))
    inside = enclosure_of(metric, zero, zero, one, two, one, two)
    assert holds(inside.value, -1.0, np.array([True]))
    open_end = enclosure_of(metric, zero, one, one, two, one, two)
    assert spread(open_end.value, (1,))[0] == -np.inf
