"""What `CONCAVE` and `CONVEX_SLOPE` declare holds on grids of counts."""

import numpy as np
import pytest

from bestcut.metrics import FBeta, FractionalLinear, Trait, affine_parts, get
from helpers import NAMES


def random_ratios(count):
    rng = np.random.default_rng(0)
    values = [-1.0, -0.5, 0.0, 0.0, 0.25, 1.0, 2.0]
    while count:
        c, d = rng.choice(values, size=(2, 4))
        d[1] = 0.0
        metric = FractionalLinear(tuple(c.tolist()), tuple(d.tolist()))
        if d.any() and Trait.ONE_SIGN in metric.traits:
            count -= 1
            yield metric


METRICS = [*map(get, NAMES), FBeta(0.3), FBeta(zero_division=1.0), *random_ratios(30)]
each_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)


@each_metric
@pytest.mark.parametrize("n", [2, 5, 12])
def test_tangent_planes_are_nowhere_below_a_concave_utility(metric, n):
    if Trait.CONCAVE not in metric.traits:
        return
    for s in range(n + 1):
        k, tp = np.meshgrid(np.arange(n + 1.0), np.arange(s + 1.0))
        there = (tp <= k) & (tp >= k + s - n)
        k, tp = k[there], tp[there]
        utility = metric.utility(tp, k, float(s), float(n))
        for at in np.linspace(0.5, n - 0.5, 7):
            low, high = max(at + s - n, 0.0), min(at, s)
            for part in (0.02, 0.5, 0.98):
                x = low + part * (high - low)
                value, by_tp, by_size = metric.tangent(x, at, float(s), float(n))
                plane = value + by_tp * (tp - x) + by_size * (k - at)
                room = 1e-12 * (1 + np.abs(plane).max())
                assert np.all(metric.sign * plane >= utility - room)


@each_metric
@pytest.mark.parametrize("n", [3, 8, 21, 40])
def test_slopes_are_convex_and_bases_turn_at_a_quarter(metric, n):
    if Trait.CONVEX_SLOPE not in metric.traits:
        return
    k, s = np.arange(1.0, n)[:, None], np.arange(n + 1.0)
    base, slope = affine_parts(metric, k, s, float(n))
    room = 1e-12 * (1 + np.abs(base).max() + np.abs(slope).max())
    assert np.all(slope >= 0.0)
    assert np.all(np.diff(slope, 2, axis=0) >= -room)
    quarter = n / 4
    for part in (base[k[:, 0] <= quarter], base[k[:, 0] >= quarter]):
        bend = np.diff(part, 2, axis=0)
        assert np.all(np.all(bend >= -room, axis=0) | np.all(bend <= room, axis=0))
