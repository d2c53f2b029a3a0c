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
from bestcut.metrics._enclosure import FIRST, SECOND, Enclosure
from bestcut.metrics._interval import spread
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
]


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
