"""The p-values of the check are exact: every outcome, in fractions."""

import dataclasses
import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from bestcut.calibration import check_calibration
from calibration.known import FLOOR
from groups import slow
from oracles import EPS, assert_near
from oracles.enumeration import exact_law

UNIT = 64  # dyadic probabilities: distances are tied exactly or 1/64 apart


def p_rtol(n):
    # A law after n instances is within 2 n eps (see test_exact.py); rescaling it, the
    # convolutions from block to block, the sums of tails and the two factors of the
    # adjustment add at most as much again for each instance, and 16 for small n.
    return (4 * n + 16) * EPS


# --- oracle: every outcome, in fractions ---------------------------------------------


def nearest_ends(ends, passed, parts):
    """Return the ends nearest to equal parts of the variance; the first among ties."""
    inner = [i for i in range(len(ends)) if 0 < passed[i] < passed[-1]]
    targets = [passed[-1] * j / parts for j in range(1, parts)]
    found = {min(inner, key=lambda i: abs(passed[i] - t)) for t in targets if inner}
    return [0, *(ends[i] for i in sorted(found)), ends[-1]]


def edges_of(p, parts):
    """Return where the sorted p is cut: never between equals."""
    ends = [i for i in range(1, len(p)) if p[i] != p[i - 1]] + [len(p)]
    passed = [sum((x * (1 - x) for x in p[:i]), Fraction(0)) for i in ends]
    return ends, passed, nearest_ends(ends, passed, parts)


def exact_two_sided(p, observed):
    law = exact_law(p)
    return min(1, 2 * min(sum(law[: observed + 1]), sum(law[observed:])))


class Oracle:
    """P-values for probabilities in descending order, outcome by outcome."""

    def __init__(self, p, n_bins):
        self.p = [Fraction(x) for x in p]
        ends, passed, self.checkpoints = edges_of(self.p, 200)
        kept = [i for i, e in enumerate(ends) if e in self.checkpoints]
        self.edges = nearest_ends(
            [ends[i] for i in kept], [passed[i] for i in kept], n_bins
        )
        self.outcomes = list(product((0, 1), repeat=len(p)))
        self.weight = {o: self._weight(o) for o in self.outcomes}
        self.distance = {o: self._distance(o) for o in self.outcomes}

    def _weight(self, outcome):
        return math.prod(
            x if y else 1 - x for x, y in zip(self.p, outcome, strict=True)
        )

    def _distance(self, outcome):
        return max(
            abs(sum(outcome[:k]) - sum(self.p[:k])) for k in self.checkpoints[1:]
        )

    def path_p_value(self, outcome):
        far = self.distance[outcome]
        return sum(self.weight[o] for o in self.outcomes if self.distance[o] >= far)

    def bins(self, outcome):
        """Yield (n, low, high, expected, observed, variance, p, adjusted p)."""
        m = len(self.edges) - 1
        for a, b in pairwise(self.edges):
            p, seen = self.p[a:b], sum(outcome[a:b])
            value = exact_two_sided(p, seen)
            variance = sum(x * (1 - x) for x in p)
            yield (
                b - a,
                p[-1],
                p[0],
                sum(p),
                seen,
                variance,
                value,
                1 - (1 - value) ** m,
            )

    def p_value(self, outcome):
        smallest = min(b[-1] for b in self.bins(outcome))
        return min(1, 2 * min(smallest, self.path_p_value(outcome)))


def dyadic_cases():
    rng = np.random.default_rng(0)
    cases = [[0.5] * 6, [0.25] * 3 + [0.75] * 3, [1.0, 0.5, 0.0], [1 / 64] * 7, [0.25]]
    cases += [(rng.integers(0, UNIT + 1, n) / UNIT).tolist() for n in (2, 5, 8, 8)]
    cases += [(rng.integers(1, 4, n) / 4).tolist() for n in (4, 7, 8)]
    cases += [[1.0, 1.0, *(rng.integers(1, 8, 4) / 8).tolist(), 0.0, 0.0]]
    cases += [(rng.integers(1, 3, 8) / UNIT).tolist()]
    return [sorted(p, reverse=True) for p in cases]


def assert_check(check, oracle, outcome):
    rtol = p_rtol(len(outcome))
    assert_near(check.path_p_value, oracle.path_p_value(outcome), rtol=rtol, atol=FLOOR)
    assert_near(check.p_value, oracle.p_value(outcome), rtol=rtol, atol=20 * FLOOR)
    variance = sum(p * (1 - p) for p in oracle.p)
    if variance:
        far = float(oracle.distance[outcome]) / math.sqrt(variance)
        assert check.statistic == pytest.approx(far, rel=1e-14, abs=1e-14)
    bins = list(oracle.bins(outcome))
    assert len(check.bins) == len(bins)
    for got, want in zip(check.bins, bins, strict=True):
        n, low, high, expected, observed, variance, value, adjusted = want
        assert (got.n, got.low, got.high) == (n, low, high)
        assert (got.expected, got.observed) == (expected, observed)
        assert got.std == pytest.approx(math.sqrt(variance), rel=1e-15)
        assert_near(got.p_value, value, rtol=rtol, atol=FLOOR)
        assert_near(got.adjusted_p_value, adjusted, rtol=rtol, atol=20 * FLOOR)
        assert got.stands_out == (got.adjusted_p_value <= check.level)


@pytest.mark.parametrize("most", [4, slow(16)])
@pytest.mark.parametrize("n_bins", [1, 2, 3, 10])
def test_p_values_equal_enumeration_in_fractions(n_bins, most):
    rng = np.random.default_rng(n_bins)
    for p in dyadic_cases():
        oracle = Oracle(p, n_bins)
        likely = [o for o in oracle.outcomes if oracle.weight[o] > 0]
        for i in rng.choice(len(likely), min(most, len(likely)), replace=False):
            check = check_calibration(likely[i], p, n_bins=n_bins)
            assert_check(check, oracle, likely[i])


def test_the_comparison_with_the_oracle_can_fail():
    oracle = Oracle([0.75, 0.5, 0.5, 0.25], 2)
    check = check_calibration([0, 1, 0, 0], [0.75, 0.5, 0.5, 0.25], n_bins=2)
    assert_check(check, oracle, (0, 1, 0, 0))
    for name in ("path_p_value", "p_value", "statistic"):
        wrong = dataclasses.replace(check, **{name: getattr(check, name) * (1 + 1e-13)})
        with pytest.raises(AssertionError):
            assert_check(wrong, oracle, (0, 1, 0, 0))
    with pytest.raises(AssertionError):
        assert_check(check, oracle, (1, 1, 0, 0))


def test_any_floats_give_the_p_values_of_enumeration():
    rng = np.random.default_rng(5)
    for _ in range(6):
        p = np.sort(rng.random(7) ** rng.choice([1, 6]))[::-1].tolist()
        oracle = Oracle(p, 3)
        for i in rng.integers(0, 2**7, 6):
            outcome = oracle.outcomes[i]
            check = check_calibration(outcome, p, n_bins=3)
            exact = oracle.path_p_value(outcome)
            assert_near(check.path_p_value, exact, rtol=p_rtol(7), atol=FLOOR)
            assert_near(
                check.p_value, oracle.p_value(outcome), rtol=p_rtol(7), atol=20 * FLOOR
            )


@pytest.mark.parametrize("p", [0.1, 0.3, 0.7])
def test_distances_that_only_rounding_tells_apart_count_as_equal(p):
    # 10 p is whole in the decimals that were meant, not in the floats they became.
    middle = round(10 * p)
    law = exact_law([p] * 10)
    for off in range(1, min(middle, 10 - middle) + 1):
        far = sum(law[s] for s in range(11) if abs(s - middle) >= off)
        for s in (middle - off, middle + off):
            check = check_calibration([1] * s + [0] * (10 - s), [p] * 10)
            assert_near(check.path_p_value, far, rtol=p_rtol(10))


def test_rounding_is_allowed_for_in_proportion_to_the_expected_number():
    p = np.full(10**5, 0.07)
    assert abs(p.sum() - 7000) > 1e-12
    y = np.arange(10**5)
    above, below = (check_calibration(y < s, p) for s in (7_100, 6_900))
    assert above.path_p_value == below.path_p_value


def test_the_observed_path_reaches_its_own_distance():
    rng = np.random.default_rng(6)
    for _ in range(100):
        p = rng.random(30)
        p[rng.integers(0, 30, 10)] = 0.1
        y = rng.random(30) < p
        order = np.argsort(-p)
        chance = np.prod(np.where(y, p, 1 - p)[order])
        assert check_calibration(y, p).path_p_value >= chance


# --- size ----------------------------------------------------------------------------


@pytest.mark.parametrize("p", [[0.75, 0.5, 0.5, 0.25, 0.125, 0.125], [0.25] * 6])
def test_right_probabilities_are_rejected_at_most_as_often_as_the_level_says(p):
    oracle = Oracle(p, 3)
    checks = [check_calibration(o, p, n_bins=3) for o in oracle.outcomes]
    weights = list(oracle.weight.values())
    for name in ("p_value", "path_p_value"):
        values = [getattr(check, name) for check in checks]
        for level in set(values):
            rejected = sum(
                w for w, v in zip(weights, values, strict=True) if v <= level
            )
            assert rejected <= level * (1 + p_rtol(6))
    assert {c.fits for c in checks} == {True, False}


@pytest.mark.parametrize(
    ("n", "draw", "rounds"),
    [
        (200, lambda rng: rng.random(200), 150),
        slow(200, lambda rng: rng.random(200), 600),
        slow(2000, lambda rng: rng.beta(0.1, 9.9, 2000), 300),
    ],
    ids=["uniform", "uniform, often", "rare"],
)
def test_simulated_labels_are_rejected_as_often_as_the_level_says(n, draw, rounds):
    rng = np.random.default_rng(n)
    checks = []
    for _ in range(rounds):
        p = draw(rng)
        checks.append(check_calibration(rng.random(n) < p, p))
    allowed = 0.05 * rounds + 3 * math.sqrt(0.05 * 0.95 * rounds)
    path = np.array([c.path_p_value for c in checks])
    assert sum(not c.fits for c in checks) <= allowed
    assert sum(c.overall.p_value <= 0.05 for c in checks) <= allowed
    assert sum(path <= 0.05) <= allowed
    # The path's law is nearly continuous: its p-values are about uniform.
    for level in (0.1, 0.3, 0.5, 0.8):
        error = 4 * math.sqrt(level * (1 - level) / rounds)
        assert abs(np.mean(path <= level) - level) <= error + 0.02


def path_by_instances(y, p, ends):
    """Return the statistic and its p-value, one instance at a time, untrimmed."""
    order = np.argsort(-p)
    p, y = p[order], y[order]
    off = np.abs(np.cumsum(y) - np.cumsum(p))[ends - 1]
    law, reached = np.ones(1), 0.0
    for k, x in enumerate(p, start=1):
        law = np.append(law * (1 - x), 0.0) + np.append(0.0, law * x)
        if k in ends:
            far = np.abs(np.arange(k + 1) - p[:k].sum()) >= off.max() - 1e-9
            reached += law[far].sum()
            law[far] = 0.0
    return off.max() / math.sqrt((p * (1 - p)).sum()), reached


def test_a_long_path_has_the_p_value_of_one_instance_at_a_time():
    rng = np.random.default_rng(4)
    for power in (1.0, 1.1, 1.3, 2.0):
        p = rng.random(1500)
        y = rng.random(1500) < p**power
        ranked = np.sort(p)[::-1]
        passed = np.cumsum(ranked * (1 - ranked))
        targets = passed[-1] * np.arange(1, 200) / 200
        ends = {int(np.argmin(np.abs(passed - t))) + 1 for t in targets} | {1500}
        check = check_calibration(y, p)
        statistic, value = path_by_instances(y, p, np.array(sorted(ends)))
        assert check.statistic == pytest.approx(statistic, rel=1e-10)
        assert check.path_p_value == pytest.approx(max(value, FLOOR), rel=1e-4)
        assert check.path_p_value == pytest.approx(max(value, FLOOR), abs=1e-12)
