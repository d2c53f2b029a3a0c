"""The error of a rule is at most what is proved, and the proof is near it."""

from functools import cache, partial

import mpmath
import numpy as np
import pytest
from scipy import stats

from bestcut.counts import (
    _moments as moments,
    poisson_binomial,
    poisson_binomial_window,
)
from bestcut.counts._rules import NODE_COUNTS, gauss_error, rule_error
from groups import one_in

MOST = NODE_COUNTS[-1]


def beta(a, b):
    """Return probabilities with a Beta distribution, of about this variance in all."""

    def draw(variance):
        each = a * b / ((a + b) * (a + b + 1))
        size = int(np.ceil(variance / each))
        return np.random.default_rng(size).beta(a, b, size=size)

    return draw


BETA = {
    "rare": beta(0.5, 20),
    "skewed": beta(0.3, 3),
    "u-shaped": beta(0.5, 0.5),
    "uniform": beta(1, 1),
    "high": beta(5, 1),
    "middling": beta(30, 30),
}
CONSTANT = {
    "coins": 0.5,
    "nearly Poisson": 1e-4,
    "Poisson but for rounding": 1e-9,
    "mirrored": 1 - 2.0**-10,
}


@cache
def centred_count(law, variance):
    """Return a count less its mean: values, probabilities, feature sums, range.

    The range is how far the mean is from the nearer end.
    """
    if law in BETA:
        eta = BETA[law](variance)
        window = poisson_binomial_window(eta, tail=1e-25)
        apart, pmf = window.counts - eta.sum(), window.pmf
        sums = moments.features(eta, MOST).sum(axis=1)
        room = min(eta.sum(), (1 - eta).sum())
    else:
        p = CONSTANT[law]
        size = int(np.ceil(variance / (p * (1 - p))))
        rare = min(p, 1 - p)
        mean = size * rare
        most = int(mean + 40 * np.sqrt(mean) + 40)
        counts = np.arange(min(size, most) + 1)
        pmf = stats.binom.pmf(counts, size, rare)
        apart = (counts - mean) * (1 if p <= 0.5 else -1)
        sums = moments.features(np.array([p]), MOST)[:, 0] * size
        room = mean
    sums[0] = 0.0  # nodes are then distances from the mean, too
    return apart, pmf / pmf.sum(), sums[:, None], room


# Functions of the distance from the mean over L, analytic where it is less than 1.
FUNCTIONS = {
    "1/s": lambda x: 1 / (1 + x),
    "sqrt(s)": lambda x: np.sqrt(1 + x),
    "log(s)": lambda x: np.log(1 + x),
    "s^-2": lambda x: (1 + x) ** -2.0,
    "bump": lambda x: 1 / (1 + x * x),
}
CIRCLE = np.exp(2j * np.pi * np.arange(720) / 720)


def true_and_proved(law, variance, distance, name, nodes):
    """Return the error of a rule, what is proved of it, and the size of the function.

    Undefined values, at and beyond a pole or branch point, are taken for 0.
    """
    apart, pmf, sums, _ = centred_count(law, variance)
    at, weights = moments.rule_of_sums(sums, nodes)

    def value(x):
        x = x / distance
        if name == "bump":
            return FUNCTIONS[name](x)
        inside = x > -1
        return np.where(inside, FUNCTIONS[name](np.where(inside, x, 0.0)), 0.0)

    size = 1.01 * np.max(np.abs(FUNCTIONS[name](0.9 * CIRCLE)))
    values = value(apart)
    largest = max(size, float(np.abs(values).max()))
    spread = np.sqrt(sums[1])
    proved = rule_error(
        nodes,
        (spread**2, spread**2),
        np.array([0.9 * distance]),
        np.array([size]),
        largest,
    )
    return abs(pmf @ values - weights[:, 0] @ value(at[:, 0])), float(proved[0]), size


@one_in(2, "law, variance", [*BETA, *CONSTANT], [25, 90, 400, 1600])
def test_the_error_of_a_rule_is_as_proved(law, variance):
    *_, sums, room = centred_count(law, variance)
    sigma = float(np.sqrt(sums[1, 0]))
    for distance in (room, 8 * sigma, 12 * sigma, 30 * sigma):
        for name in FUNCTIONS:
            least = np.inf
            for nodes in NODE_COUNTS:
                error, proved, size = true_and_proved(
                    law, variance, distance, name, nodes
                )
                assert error <= proved + 1e-13 * size, (name, distance / sigma, nodes)
                least = min(least, proved / size)
                # A node outside the disc would say nothing about the function.
                outermost = sigma * moments.hermite_rule(nodes)[0][-1]
                assert proved == np.inf or outermost < 0.9 * distance
            # The end of the range is at least this far away.
            if variance >= 400 and distance >= room:
                assert least <= 1e-10, (name, distance / sigma)


@pytest.mark.parametrize("variance", [25, 90, 400])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_bound_on_the_error_of_a_rule_is_near_the_error(variance, name):
    found = []
    for nodes in NODE_COUNTS:
        for law in ("rare", "nearly Poisson"):
            distance = 12 * float(np.sqrt(centred_count(law, variance)[2][1, 0]))
            error, proved, size = true_and_proved(law, variance, distance, name, nodes)
            if error > 1e-12 * size:
                found.append(proved / error)
    assert len(found) >= 4
    assert min(found) < 1e3
    assert max(found) < 1e6


def test_the_first_power_that_a_gauss_rule_misses_is_in_the_bound():
    """With many instances the count is nearly normal, and the rule nearly Gauss's.

    That is exact up to degree 2 m - 1. Of x^(2 m) the bound has only this one error,
    and little room.
    """
    apart, pmf, sums, _ = centred_count("coins", 90_000)
    variance = sums[1]
    for nodes, farthest in ((5, 20), (6, 15), (8, 12)):
        at, weights = moments.rule_of_sums(sums, nodes)
        for far in (12, 15, 20):
            radius = far * np.sqrt(variance)
            true, ruled = ((x / radius) ** (2 * nodes) for x in (apart, at[:, 0]))
            error = abs(pmf @ true - weights[:, 0] @ ruled)
            one = np.ones(1)
            (proved,) = rule_error(nodes, (variance, variance), radius, one, 1.0)
            assert error <= proved + 1e-15
            if far <= farthest:
                assert proved <= 10 * error


def test_a_rule_is_not_trusted_without_reason():
    def proved(variance, radius, size=1.0, largest=1.0, nodes=8):
        spread, reach, bound = (np.array([float(x)]) for x in (variance, radius, size))
        return rule_error(nodes, (spread, spread), reach, bound, largest)[0]

    assert proved(400, 200) < 1e-9
    assert proved(3, 200) == np.inf  # a count with few values
    assert proved(400, 50) == np.inf  # a disc that not even the nodes are in
    assert proved(400, 0) == np.inf
    assert proved(400, 200, size=np.inf) == np.inf
    # The range of variances is that of several counts.
    wide = rule_error(
        8, (np.array([100.0]), np.array([400.0])), np.array([200.0]), np.ones(1), 1.0
    )
    assert wide[0] >= max(proved(100, 200), proved(400, 200))


@pytest.mark.parametrize("sigma", [11, 15, 20.5, 28.5, 50.5, 100.5, 1000])
def test_the_number_of_nodes_is_enough_for_a_pole_at_the_end_of_the_range(sigma):
    # Poisson is the limit of many small probabilities: every cumulant is the mean, and
    # E[1 / (S + 1)] = (1 - exp(-mean)) / mean.
    mean = float(sigma) ** 2
    with mpmath.workdps(30):
        want = float(1 - mpmath.exp(-mean))
    radius = 0.9 * (mean + 1)
    size = mean / (mean + 1 - radius)
    proofs = []
    for nodes in NODE_COUNTS:
        kappa = np.full((nodes, 1), mean)
        z, basis = moments.hermite_rule(nodes)
        weights = (basis @ moments.hermite_coefficients(kappa))[:, 0]
        got = weights @ (mean / (mean + sigma * z + 1))
        spread = np.array([mean])
        (proved,) = rule_error(
            nodes, (spread, spread), np.array([radius]), np.array([size]), mean
        )
        assert got == pytest.approx(want, abs=proved + 2e-15)
        proofs.append(proved)
    assert min(proofs) <= (1e-9 if sigma < 15 else 1e-13)


FEW = {
    "skewed": lambda rng: rng.beta(0.3, 3, size=50),
    "rare": lambda rng: rng.beta(0.3, 30, size=5000),
    "probable": lambda rng: 1 - rng.beta(0.3, 30, size=900),
    "coins": lambda rng: np.full(7, 0.5),
    "two": lambda rng: np.array([0.3, 0.2]),
    "one": lambda rng: np.array([0.3]),
    "tiny": lambda rng: np.full(3, 1e-6),
    "hardly any": lambda rng: np.full(3, 1e-13),
    "sure": lambda rng: np.array([1.0, 1.0, 0.0]),
}


@pytest.mark.parametrize("law", FEW)
def test_three_nodes_integrate_up_to_degree_five(law):
    eta = FEW[law](np.random.default_rng(1))
    pmf, mean = poisson_binomial(eta), eta.sum()
    sums = moments.features(eta, 5).sum(axis=1, keepdims=True)
    at, weights = moments.rule_of_sums(sums, moments.GAUSS)
    assert np.all(weights >= 0)
    apart = np.arange(pmf.size) - mean
    for power in range(6):
        size = pmf @ np.abs(apart) ** power
        got = weights[:, 0] @ (at[:, 0] - mean) ** power
        assert got == pytest.approx(pmf @ apart**power, abs=1e-12 * size + 1e-20)
    # What the proof rests on: the sixth power is never overrated.
    sixth = pmf @ apart**6
    assert weights[:, 0] @ (at[:, 0] - mean) ** 6 <= sixth * (1 + 1e-12) + 1e-20
    variance = float(sums[1, 0])
    assert sixth <= variance * (1 + variance * (25 + 15 * variance)) * (1 + 1e-12)
    if variance >= 25:
        assert np.max(np.abs(at - mean)) <= 3.3 * np.sqrt(variance)


@pytest.mark.parametrize("law", FEW)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_error_of_three_nodes_is_as_proved(law, name):
    eta = FEW[law](np.random.default_rng(1))
    pmf, mean = poisson_binomial(eta), eta.sum()
    sums = moments.features(eta, 5).sum(axis=1, keepdims=True)
    at, weights = moments.rule_of_sums(sums, moments.GAUSS)
    variance, count, ratios = sums[1], np.arange(pmf.size), []
    for distance in mean + np.array([0.5, 2.0, 10.0, 50.0, 200.0, 1000.0]):
        # The pole or branch point is at mean - distance, below every count.
        def value(x, distance=distance):
            return FUNCTIONS[name]((x - mean) / distance)

        size = np.max(np.abs(FUNCTIONS[name](0.9 * CIRCLE))) * 1.01
        largest = float(np.max(np.abs(value(np.linspace(0, eta.size, 4001)))))
        error = abs(pmf @ value(count) - weights[:, 0] @ value(at[:, 0]))
        (proved,) = gauss_error(
            variance, np.array([0.9 * distance]), np.array([size]), largest
        )
        assert error <= proved + 4e-16 * largest, distance
        if error > 1e-14 * size:
            ratios.append(proved / error)
    if law in ("skewed", "rare"):  # where the bound decides
        assert ratios
        assert min(ratios) < 1e5


@pytest.mark.parametrize("bound", [gauss_error, partial(rule_error, 5)])
def test_the_error_of_a_rule_is_in_the_unit_of_what_is_integrated(bound):
    def error(scale):
        variance, radius, size = (np.array([x]) for x in (900.0, 500.0, 3.0 * scale))
        if bound is gauss_error:
            return bound(variance, radius, size, 2.0 * scale)
        return bound((variance, variance), radius, size, 2.0 * scale)

    assert 0.0 < error(1.0)[0] < np.inf
    for scale in (1e-6, 1e6):
        np.testing.assert_allclose(error(scale), scale * error(1.0), rtol=1e-12)
