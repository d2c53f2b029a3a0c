"""Discs hold every complex number that a formula makes of what is inside them."""

import numpy as np
import pytest

import bestcut
from bestcut.metrics import (
    FractionalLinear,
    Trait,
    _expression as module,
    from_counts,
    from_expression,
)
from bestcut.metrics._bounds import Box, enclosed, score_bound
from bestcut.metrics._discs import Disc, is_followed, size_at_cells, size_at_counts
from bestcut.metrics._enclosure import FIRST, SECOND
from bestcut.metrics._interval import Interval, spread
from search.formulas import formula
from search.known import ExactCuts, assert_promise

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
def test_elementary_operations(name, seed):
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
def test_catalogue(name):
    metric = bestcut.metrics.get(name)
    assert is_followed(metric)
    assert check_cells(metric, metric.score_cells, 1) > 0.1


def test_catalogue_by_counts():
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


def complex_choices(function):
    """Let a formula's minima and choices look at the real part, as discs do."""
    tree = function.tree

    def value(*cells):
        def larger(x, y):
            return np.where(np.real(x - y) >= 0, x, y)

        def smaller(x, y):
            return np.where(np.real(x - y) >= 0, y, x)

        own = {
            "sqrt": (np.sqrt, 1),
            "abs": (lambda x: larger(x, -x), 1),
            "min": (smaller, 2),
            "max": (larger, 2),
        }
        kept, module._FUNCTIONS = module._FUNCTIONS, own
        try:
            tp, fp, fn, tn = cells
            counts = {
                "tp": tp,
                "fp": fp,
                "fn": fn,
                "tn": tn,
                "n": tp + fp + fn + tn,
                "n_pred": tp + fp,
                "n_pos": tp + fn,
            }
            return module._value(tree, counts)
        finally:
            module._FUNCTIONS = kept

    return value


def test_random_formulas():
    shares, rng = [], np.random.default_rng(3)
    for seed in range(60):
        metric = from_expression(formula(rng, 600))
        if not hasattr(metric, "function"):
            continue
        score = complex_choices(metric.function)
        shares.append(check_cells(metric, score, seed))
    assert np.mean(shares) > 0.1


def test_every_rule_is_for_numpy():
    assert all(hasattr(rule, "__name__") for rule in Disc.rules)


# Enclosures: sums of counts, and what hides behind a factor 0 or a branch.


def box_of(t0, t1, k0, k1, s0, s1, n):
    ends = [np.asarray(x, dtype=float) for x in (t0, t1, k0, k1, s0, s1)]
    t0, t1, k0, k1, s0, s1 = ends
    return Box(
        Interval(t0, t1),
        Interval(k0, k1),
        Interval(s0, s1),
        Interval(np.maximum(k0 - t1, 0), k1 - t0),
        Interval(np.maximum(s0 - t1, 0), s1 - t0),
        Interval(np.maximum(n - k1 - s1 + t0, 0), n - k0 - s0 + t1),
    )


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
    "zero by zero": lambda tp, fp, fn, tn: tp / tp,
    "a root": lambda tp, fp, fn, tn: np.sqrt(tp - fp),
    "a root behind a factor 0": lambda tp, fp, fn, tn: 0.0 * np.sqrt(tp - fp) + fn,
    "a power": lambda tp, fp, fn, tn: (tp - fp) ** 1.5 + (fn - 3.0) ** -0.5,
    "a power of a root": lambda tp, fp, fn, tn: np.sqrt(tp - fp) ** 2,
    "a reciprocal root": lambda tp, fp, fn, tn: 1 / (1 + np.sqrt(tp - fp)),
    "a whole power": lambda tp, fp, fn, tn: (tp - fp) ** -2,
    "an even power": lambda tp, fp, fn, tn: 1 / (1 + (tp - fp) ** 4),
}


@pytest.mark.parametrize("name", RISKY)
@pytest.mark.parametrize("zero_division", [0.0, 3.0, -2.0])
def test_risks(name, zero_division):
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
def test_risks_in_decisions(name):
    """Wherever a risk is, the decision is as good as it says."""
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


def test_a_pole_of_a_fraction():
    metric = FractionalLinear(c=(0, 1, 0, 0), d=(0, 0, 1, -0.5), zero_division=3.0)
    rng = np.random.default_rng(0)
    discs = random_cells(rng)
    found = np.broadcast_to(size_at_cells(metric, *discs), COUNT)
    assert np.any(np.isinf(found))
    assert check_cells(metric, metric.score_cells, 5) > 0.05
