"""Discs hold every complex number that a formula makes of what is inside them."""

from unittest import mock

import numpy as np
import pytest

import bestcut
from bestcut.metrics import FractionalLinear, Trait, _expression, from_expression
from bestcut.metrics._discs import Disc, is_followed, size_at_cells, size_at_counts
from search.formulas import formula

COUNT = 400


def phase(rng, shape):
    return np.exp(2j * np.pi * rng.random(shape))


def random_discs(rng, number, *, real=False):
    """Return discs that share their spans."""
    spans = tuple(10.0 ** rng.uniform(-3, 1.5, (2, COUNT)))
    out = []
    for _ in range(number):
        size = 10.0 ** rng.uniform(-1, 3, COUNT)
        turn = np.where(rng.random(COUNT) < 0.4, 1.0, phase(rng, COUNT))
        first, second = rng.normal(size=(2, COUNT)) * rng.integers(0, 2, (2, COUNT))
        radius = size * 10.0 ** rng.uniform(-9, 0.3, COUNT)
        radius = np.where(rng.random(COUNT) < 0.2, 0.0, radius)
        out.append(Disc(size * (1.0 if real else turn), radius, first, second, spans))
    return out


def points_in(rng, discs):
    """Return a point of each disc, the shared unknowns being the same for all."""
    spans = discs[0].spans
    reach = [np.where(rng.random(COUNT) < 0.5, 1.0, rng.random(COUNT)) for _ in spans]
    u, v = (r * s * phase(rng, COUNT) for r, s in zip(reach, spans, strict=True))
    points = []
    for disc in discs:
        far = np.where(rng.random(COUNT) < 0.5, 1.0, rng.random(COUNT))
        rest = far * disc.radius * phase(rng, COUNT)
        points.append(disc.centre + disc.first * u + disc.second * v + rest)
    return points, (u, v)


ELEMENTARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "negative": lambda x, y: -x,
    "reciprocal": lambda x, y: np.reciprocal(x),
    "square": lambda x, y: np.square(x),
    "sqrt": lambda x, y: np.sqrt(x),
    "exp": lambda x, y: np.exp(x / 100),
    "log": lambda x, y: np.log(x),
    "expm1": lambda x, y: np.expm1(x / 100),
    "log1p": lambda x, y: np.log1p(x),
    "tanh": lambda x, y: np.tanh(x / 100),
    **{
        f"power {p}": lambda x, y, p=p: np.power(x, p)
        for p in (-2.5, -1, -0.3, 0.03, 0.5, 1, 1.7, 2, 3, 3.5, 7)
    },
    "where": lambda x, y: (
        np.where(np.real(x) >= np.real(y), x, x * y)
        if not isinstance(x, Disc)
        else np.where(x >= y, x, x * y)
    ),
    "maximum": lambda x, y: (
        np.where(np.real(x) >= np.real(y), x, y)
        if not isinstance(x, Disc)
        else np.maximum(x, y)
    ),
    "minimum": lambda x, y: (
        np.where(np.real(x) >= np.real(y), y, x)
        if not isinstance(x, Disc)
        else np.minimum(x, y)
    ),
    "absolute": lambda x, y: (
        np.where(np.real(x) >= 0, x, -x) if not isinstance(x, Disc) else np.abs(x)
    ),
    "in all": lambda x, y: (x + y) * x / (x * y + 3) - (x - y) ** 2 + 1 / y,
}


@pytest.mark.parametrize("name", ELEMENTARY)
@pytest.mark.parametrize("seed", range(2))
def test_a_disc_holds_the_result_of_every_operation(name, seed):
    rng = np.random.default_rng((seed, len(name)))
    function = ELEMENTARY[name]
    x, y = random_discs(rng, 2)
    with np.errstate(all="ignore"):
        found = function(x, y)
    bounded = np.isfinite(np.broadcast_to(found.reach, COUNT))
    assert bounded.mean() > 0.1
    for _ in range(40):
        (a, b), (u, v) = points_in(rng, [x, y])
        with np.errstate(all="ignore"):
            value = function(a + 0j, b + 0j)
            known = found.centre + found.first * u + found.second * v
        slack = 64 * np.finfo(float).eps * (np.abs(value) + np.abs(found.centre))
        # Not only within reach of the centre: what is known of u and v holds.
        off = np.abs(value - known)
        assert np.all(~bounded | (off <= found.radius + slack))
        assert np.all(~bounded | (np.abs(value) <= found.largest() + slack))


def test_what_is_added_and_taken_away_leaves_no_trace():
    rng = np.random.default_rng(0)
    spans = rng.uniform(1, 10, COUNT), rng.uniform(1, 10, COUNT)
    centre = rng.uniform(20, 100, COUNT)
    tp = Disc(centre, 0.0, 1.0, 0.0, spans)
    fp = Disc(300.0 - centre, 0.0, -1.0, 0.0, spans)
    assert np.all((tp + fp).reach <= 1e-11)
    assert np.all(np.abs((tp + fp).centre - 300.0) <= 1e-11)
    assert np.all((1.0 / (tp + fp)).largest() <= 1 / 300 + 1e-14)


def random_cells(rng):
    """Return discs of cells as a proof has them: one side complex, the other real."""
    spans = rng.uniform(0, 30, COUNT), rng.uniform(0, 30, COUNT)
    first = rng.uniform(1, 300, (2, COUNT)), rng.uniform(1, 300, (2, COUNT))
    at = rng.uniform(0, 40, COUNT) * phase(rng, COUNT)
    apart = rng.uniform(0, 3, (2, COUNT)) * rng.integers(0, 2, (2, COUNT))
    (tp, fp), (fn, tn) = first
    zero = rng.random(COUNT) < 0.1  # a count that is 0 by itself
    fn, one = np.where(zero, 0.0, fn), np.where(zero, 0.0, 1.0)
    return [
        Disc(tp + at, apart[0], 1.0, 0.0, spans),
        Disc(fp - at, apart[1], -1.0, 0.0, spans),
        Disc(fn, 0.0, 0.0, one, spans),
        Disc(tn, 0.0, 0.0, -one, spans),
    ]


def points_of_cells(rng, discs):
    """Return points of cells; the second unknown is real, as counts are."""
    spans = discs[0].spans
    u = rng.random(COUNT) * spans[0] * phase(rng, COUNT)
    v = rng.uniform(-1, 1, COUNT) * spans[1]
    return [
        d.centre + d.first * u + d.second * v + d.radius * rng.random(COUNT) * turn
        for d, turn in zip(discs, phase(rng, (4, COUNT)), strict=True)
    ]


def check_cells(metric, score, seed):
    rng = np.random.default_rng(seed)
    discs = random_cells(rng)
    found = size_at_cells(metric, *discs)
    assert found is not None
    found = np.broadcast_to(found, COUNT)
    bounded = np.isfinite(found)
    for _ in range(30):
        points = points_of_cells(rng, discs)
        with np.errstate(all="ignore"):
            value = np.abs(score(*points))
        assert np.all(~bounded | (value <= found * (1 + 1e-12)))
    return bounded.mean()


@pytest.mark.parametrize("name", bestcut.metrics.names())
def test_the_catalogue_is_bounded_on_discs_of_cells(name):
    metric = bestcut.metrics.get(name)
    assert is_followed(metric)
    assert check_cells(metric, metric.score_cells, 1) > 0.1


def test_affine_metrics_are_bounded_on_discs_of_counts():
    rng = np.random.default_rng(2)
    n = 1000.0
    spans = rng.uniform(0, 30, COUNT), np.zeros(COUNT)
    n_pos = Disc(rng.uniform(50, 900, COUNT) + 20 * phase(rng, COUNT), 0, 1, 0, spans)
    low = rng.integers(0, 900, COUNT).astype(float)
    cuts = Disc.between(low, low + rng.integers(0, 50, COUNT))
    tp = Disc.between(np.zeros(COUNT), np.full(COUNT, 200.0))
    for name in bestcut.metrics.names():
        metric = bestcut.metrics.get(name)
        if Trait.AFFINE not in metric.traits:
            continue
        found = np.broadcast_to(size_at_counts(metric, tp, cuts, n_pos, n), COUNT)
        assert np.isfinite(found).mean() > 0.5
        for _ in range(20):
            u = rng.random(COUNT) * spans[0] * phase(rng, COUNT)
            a, k = (d.centre + rng.uniform(-1, 1, COUNT) * d.radius for d in (tp, cuts))
            with np.errstate(all="ignore"):
                value = np.abs(metric.score(a, k, n_pos.centre + u, n))
            assert np.all(~np.isfinite(found) | (value <= found * (1 + 1e-12)))


def larger(x, y):
    return np.where(np.real(x - y) >= 0, x, y)


def smaller(x, y):
    return np.where(np.real(x - y) >= 0, y, x)


def by_real_part(formula):
    """Let a formula's minima and choices look at the real part, as discs do."""
    own = {
        "abs": (lambda x: larger(x, -x), 1),
        "min": (smaller, 2),
        "max": (larger, 2),
    }

    def value(*cells):
        with mock.patch.dict(_expression._FUNCTIONS, own):
            return formula(*cells)

    return value


def test_random_formulas_are_bounded_on_discs_of_cells():
    shares, rng = [], np.random.default_rng(3)
    for seed in range(60):
        metric = from_expression(formula(rng, 600))
        if not hasattr(metric, "function"):
            continue
        shares.append(check_cells(metric, by_real_part(metric.function), seed))
    assert np.mean(shares) > 0.1


def test_no_bound_is_claimed_at_the_pole_of_a_fraction():
    metric = FractionalLinear(c=(0, 1, 0, 0), d=(0, 0, 1, -0.5), zero_division=3.0)
    rng = np.random.default_rng(0)
    discs = random_cells(rng)
    found = np.broadcast_to(size_at_cells(metric, *discs), COUNT)
    assert np.any(np.isinf(found))
    assert check_cells(metric, metric.score_cells, 5) > 0.05
