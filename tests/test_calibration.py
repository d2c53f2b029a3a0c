import dataclasses
import math
import pickle
import re
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bestcut import InvalidProbabilityError, counts
from bestcut.calibration import CalibrationBin, CalibrationCheck, calibration_check
from oracles import EPS, assert_near
from oracles.enumeration import exact_law

FLOOR = 1e-15  # smaller p-values are reported as this
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


@pytest.mark.parametrize("n_bins", [1, 2, 3, 10])
def test_p_values_equal_enumeration_in_fractions(n_bins):
    rng = np.random.default_rng(n_bins)
    for p in dyadic_cases():
        oracle = Oracle(p, n_bins)
        likely = [o for o in oracle.outcomes if oracle.weight[o] > 0]
        for i in rng.choice(len(likely), min(8, len(likely)), replace=False):
            check = calibration_check(likely[i], p, n_bins=n_bins)
            assert_check(check, oracle, likely[i])


def test_the_comparison_with_the_oracle_can_fail():
    oracle = Oracle([0.75, 0.5, 0.5, 0.25], 2)
    check = calibration_check([0, 1, 0, 0], [0.75, 0.5, 0.5, 0.25], n_bins=2)
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
            check = calibration_check(outcome, p, n_bins=3)
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
            check = calibration_check([1] * s + [0] * (10 - s), [p] * 10)
            assert_near(check.path_p_value, far, rtol=p_rtol(10))


def test_rounding_is_allowed_for_in_proportion_to_the_expected_number():
    p = np.full(10**5, 0.07)
    assert abs(p.sum() - 7000) > 1e-12
    y = np.arange(10**5)
    above, below = (calibration_check(y < s, p) for s in (7_100, 6_900))
    assert above.path_p_value == below.path_p_value


def test_the_observed_path_reaches_its_own_distance():
    rng = np.random.default_rng(6)
    for _ in range(100):
        p = rng.random(30)
        p[rng.integers(0, 30, 10)] = 0.1
        y = rng.random(30) < p
        order = np.argsort(-p)
        chance = np.prod(np.where(y, p, 1 - p)[order])
        assert calibration_check(y, p).path_p_value >= chance


# --- size ----------------------------------------------------------------------------


@pytest.mark.parametrize("p", [[0.75, 0.5, 0.5, 0.25, 0.125, 0.125], [0.25] * 6])
def test_right_probabilities_are_rejected_at_most_as_often_as_the_level_says(p):
    oracle = Oracle(p, 3)
    checks = [calibration_check(o, p, n_bins=3) for o in oracle.outcomes]
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
    ("n", "draw"),
    [
        (200, lambda rng: rng.random(200)),
        (2000, lambda rng: rng.beta(0.1, 9.9, 2000)),
    ],
    ids=["uniform", "rare"],
)
def test_simulated_labels_are_rejected_about_as_often_as_the_level_says(n, draw):
    rng = np.random.default_rng(n)
    rounds = 300
    checks = []
    for _ in range(rounds):
        p = draw(rng)
        checks.append(calibration_check(rng.random(n) < p, p))
    allowed = 0.05 * rounds + 3 * math.sqrt(0.05 * 0.95 * rounds)
    path = np.array([c.path_p_value for c in checks])
    assert sum(not c.fits for c in checks) <= allowed
    assert sum(c.overall.p_value <= 0.05 for c in checks) <= allowed
    assert sum(path <= 0.05) <= allowed
    # The path's law is nearly continuous: its p-values are about uniform.
    for level in (0.1, 0.3, 0.5, 0.8):
        error = 4 * math.sqrt(level * (1 - level) / rounds)
        assert abs(np.mean(path <= level) - level) <= error + 0.02


# --- power and words -----------------------------------------------------------------


def sharpened(p, factor):
    odds = (p / (1 - p)) ** factor
    return odds / (1 + odds)


def simulated(seed, n=2000):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return p, rng.random(n) < p


def test_overconfident_probabilities_are_found_at_both_ends():
    for seed in range(10):
        p, y = simulated(seed)
        check = calibration_check(y, sharpened(p, 2.0))
        assert not check.fits
        assert check.p_value < 1e-4
        top, *_, bottom = check.bins
        assert top.observed < top.expected
        assert bottom.observed > bottom.expected
        assert top.stands_out or bottom.stands_out
        smallest = min(b.p_value for b in check.bins)
        (named,) = (b for b in check.bins if f"and {b.observed} seen" in check.verdict)
        side = "too low" if named.observed > named.expected else "too high"
        assert named.p_value == smallest
        assert check.verdict.endswith(f"{side}.")


@pytest.mark.parametrize(("power", "side"), [(1.5, "too low"), (0.6, "too high")])
def test_probabilities_off_in_one_direction_are_named_so(power, side):
    for seed in range(10):
        p, y = simulated(seed)
        check = calibration_check(y, p**power)
        assert check.verdict.startswith("The labels do not fit the probabilities (p ")
        assert check.verdict.endswith(f"{side}.")
        total = f"{int(y.sum())} positives where {(p**power).sum():.1f} were expected"
        assert total in check.verdict


def test_rare_positives_twice_as_frequent_as_said_are_found():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        p = np.minimum(rng.beta(0.1, 9.9, 5000), 0.5)
        check = calibration_check(rng.random(5000) < np.minimum(2 * p, 1), p)
        assert not check.fits
        assert "too low" in check.verdict


def test_where_no_bin_stands_out_the_verdict_names_the_head_of_the_ranking():
    # Too high above 1/2 and too low below it, a little in each of many bins.
    p = np.linspace(0.9, 0.1, 1000)
    y = np.zeros(1000, dtype=bool)
    y[:500] = np.cumsum(p[:500] - 0.09) % 1 < (p[:500] - 0.09)
    y[500:] = np.cumsum(p[500:] + 0.09) % 1 < (p[500:] + 0.09)
    check = calibration_check(y, p, n_bins=40)
    assert not check.fits
    assert not any(b.stands_out for b in check.bins)
    head = [b for b in check.bins if b.low > 0.5]
    assert sum(b.observed for b in head) < sum(b.expected for b in head)
    assert "No bin stands out, but the " in check.verdict
    k = int(re.search(r"the (\d+) largest", check.verdict)[1])
    assert abs(k - 500) < 20
    assert check.verdict.endswith(
        f"the {k} largest probabilities, {p[k - 1]:.3g} and above, are on the whole "
        f"too high: {p[:k].sum():.1f} expected, {y[:k].sum()} seen."
    )
    turned = calibration_check(~y, 1 - p, n_bins=40)  # seen from the other end
    assert not any(b.stands_out for b in turned.bins)
    assert "on the whole too high: " in turned.verdict
    y[:500] = np.cumsum(p[:500] + 0.09) % 1 < (p[:500] + 0.09)
    y[500:] = np.cumsum(p[500:] - 0.09) % 1 < (p[500:] - 0.09)
    check = calibration_check(y, p, n_bins=40)
    assert not any(b.stands_out for b in check.bins)
    assert "on the whole too low: " in check.verdict


def test_a_misfit_of_the_total_alone_is_said_to_be_that():
    p = np.linspace(0.9, 0.1, 1000)
    y = np.cumsum(p - 0.05) % 1 < (p - 0.05)
    check = calibration_check(y, p, n_bins=40)
    assert not any(b.stands_out for b in check.bins)
    assert check.verdict.endswith("No bin stands out; on the whole they are too high.")
    y = np.cumsum(p + 0.05) % 1 < (p + 0.05)
    check = calibration_check(y, p, n_bins=40)
    assert check.verdict.endswith("No bin stands out; on the whole they are too low.")


def test_a_fit_says_which_totals_would_have_fitted():
    p, y = simulated(1, 1000)
    verdict = calibration_check(y, p).verdict
    law = counts.poisson_binomial(p)
    tails = np.minimum(np.cumsum(law), np.cumsum(law[::-1])[::-1])
    fitting = np.flatnonzero(2 * tails > 0.05)
    assert verdict.startswith("The labels fit the probabilities (p = ")
    assert f"{y.sum()} positives among 1000 instances, {p.sum():.1f} expec" in verdict
    assert verdict.endswith(
        f"any total from {fitting[0]} to {fitting[-1]} would have fitted."
    )


def test_a_fit_of_few_says_that_it_says_little():
    few = calibration_check([1, 0, 0], [0.5, 0.25, 0.125]).verdict
    assert "1 positive among 3 instances, 0.875 expected" in few
    assert few.endswith("from 0 to 2 would have fitted, so this says little.")
    # As few negatives are no better.
    turned = calibration_check([1, 1, 0], [0.875, 0.75, 0.5]).verdict
    assert turned.endswith("from 1 to 3 would have fitted, so this says little.")
    one = calibration_check([1], [0.75]).verdict
    assert "1 positive among 1 instance, 0.75 expected" in one
    p, y = simulated(1, 1000)
    assert "says little" not in calibration_check(y, p).verdict


def test_a_fit_with_a_bin_that_stands_out_says_so():
    p = np.repeat([0.75, 0.5, 0.25], 40)
    y = np.concatenate([np.arange(40) < k for k in (30, 20, 3)])
    check = calibration_check(y, p, n_bins=3, level=0.05)
    level = 1.5 * check.bins[-1].adjusted_p_value  # below twice it: the check fits
    assert level < 2 * check.path_p_value
    check = calibration_check(y, p, n_bins=3, level=level)
    assert check.fits
    assert [b.stands_out for b in check.bins] == [False, False, True]
    assert check.verdict.endswith(
        "Yet one bin stands out: probability 0.25, where 10.0 were expected and 3 "
        "seen: too high."
    )


def test_the_verdict_follows_the_level():
    p, y = simulated(3, 300)
    p_value = calibration_check(y, p).p_value
    assert p_value < 0.6
    for level in (p_value / 1.01, p_value, p_value * 1.01):
        check = calibration_check(y, p, level=level)
        assert check.fits == (level < p_value)
        assert check.verdict.startswith("The labels fit ") == check.fits
        assert check.verdict.startswith("The labels do not fit ") != check.fits


def test_of_bins_beyond_resolution_the_furthest_off_is_named():
    p = np.repeat([0.8, 0.5, 0.2], 400)
    y = np.concatenate([np.arange(400) < k for k in (130, 200, 330)])
    check = calibration_check(y, p, n_bins=3)
    assert [b.p_value for b in check.bins] == [FLOOR, 1.0, FLOOR]
    assert "probability 0.2, where 80.0 were expected and 330 seen" in check.verdict
    check = calibration_check(~y, 1 - p, n_bins=3)
    assert "probability 0.8, where 320.0 were expected and 70 seen" in check.verdict


# --- bins and checkpoints ------------------------------------------------------------


def test_bins_share_the_variance_and_never_part_equals():
    rng = np.random.default_rng(3)
    for p in (rng.random(5000), rng.beta(0.1, 5, 5000), rng.random(5000).round(2)):
        y = rng.random(5000) < p
        check = calibration_check(y, p)
        assert len(check.bins) == 10
        variance = np.array([b.std**2 for b in check.bins])
        assert variance.sum() == pytest.approx((p * (1 - p)).sum(), rel=1e-12)
        largest_tie = max(
            v * (1 - v) * c
            for v, c in zip(*np.unique(p, return_counts=True), strict=True)
        )
        room = variance.sum() / 200 + largest_tie  # an edge is off by half of each
        assert np.abs(variance - variance.mean()).max() <= room
        assert all(a.low > b.high for a, b in pairwise(check.bins))
        for b in check.bins:
            inside = (p >= b.low) & (p <= b.high)
            assert b.n == inside.sum()
            assert b.observed == y[inside].sum()
            assert b.expected == pytest.approx(p[inside].sum(), rel=1e-12)
            law = counts.poisson_binomial(p[inside])
            tail = min(law[: b.observed + 1].sum(), law[b.observed :].sum())
            assert b.p_value == pytest.approx(min(1, 2 * tail), rel=1e-9)
            adjusted = 1 - (1 - Fraction(b.p_value)) ** 10
            assert_near(b.adjusted_p_value, adjusted, rtol=16 * EPS)


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
        check = calibration_check(y, p)
        statistic, value = path_by_instances(y, p, np.array(sorted(ends)))
        assert check.statistic == pytest.approx(statistic, rel=1e-10)
        assert check.path_p_value == pytest.approx(max(value, FLOOR), rel=1e-4)
        assert check.path_p_value == pytest.approx(max(value, FLOOR), abs=1e-12)


def test_more_bins_than_groups_give_a_bin_for_each_group():
    p = np.repeat([0.8, 0.5, 0.3], 5)
    for n_bins in (10, 200, 10**9):
        check = calibration_check(np.arange(15) % 2, p, n_bins=n_bins)
        assert [b.n for b in check.bins] == [5, 5, 5]
    p, y = simulated(2, 3000)
    assert len(calibration_check(y, p, n_bins=10**9).bins) == 200
    assert len(calibration_check(y, p, n_bins=7).bins) == 7


def test_overall_is_all_instances_as_one_bin():
    p, y = simulated(3, 400)
    check = calibration_check(y, p)
    (single,) = calibration_check(y, p, n_bins=1).bins
    assert dataclasses.replace(single, p_value=1.0, adjusted_p_value=1.0) == (
        dataclasses.replace(check.overall, p_value=1.0, adjusted_p_value=1.0)
    )
    assert check.overall.p_value == pytest.approx(single.p_value, rel=1e-12)
    assert check.overall.adjusted_p_value == pytest.approx(
        check.overall.p_value, rel=1e-14
    )


# --- what goes in --------------------------------------------------------------------


def test_the_order_of_the_input_does_not_matter():
    rng = np.random.default_rng(7)
    for p in (rng.random(300), rng.random(300).round(1), rng.beta(0.1, 5, 300)):
        y = rng.random(300) < p
        check = calibration_check(y, p)
        for _ in range(5):
            order = rng.permutation(300)
            assert calibration_check(y[order], p[order]) == check


def test_mirrored_input_gives_mirrored_bins():
    rng = np.random.default_rng(8)
    p = rng.integers(1, 64, 300) / 64
    y = rng.random(300) < p
    check, mirrored = calibration_check(y, p), calibration_check(~y, 1 - p)
    # Edges half way between two ends may go either way, but the total may not.
    assert mirrored.overall.p_value == pytest.approx(check.overall.p_value, rel=1e-12)
    assert mirrored.overall.std == pytest.approx(check.overall.std, rel=1e-14)


def test_any_array_like_is_taken():
    p = np.array([0.75, 0.5, 0.25, 0.25, 0.125])
    y = np.array([1, 0, 1, 0, 0])
    check = calibration_check(y, p)
    for label in (y.astype(bool), y.astype(np.uint8), y.astype(float), y.tolist()):
        assert calibration_check(label, p) == check
    for proba in (p.tolist(), tuple(p.tolist()), p.astype(np.float32)):
        assert calibration_check(y, proba) == check
    for make in (pd.Series, pl.Series):
        assert calibration_check(make(y), make(p)) == check
        assert calibration_check(make(y.astype(bool)), make(p)) == check
    shuffled = pd.Series(p, index=[3, 1, 4, 0, 2])
    assert calibration_check(pd.Series(y), shuffled) == check
    assert calibration_check(np.repeat(y, 2)[::2], np.repeat(p, 2)[::2]) == check
    assert calibration_check(y, p, n_bins=np.int64(10), level=np.float64(0.05)) == check


def test_a_negative_zero_is_a_zero():
    check = calibration_check([0, 0, 1], [0.0, -0.0, 0.5])
    assert check == calibration_check([0, 0, 1], [0.0, 0.0, 0.5])
    assert repr(check) == repr(calibration_check([0, 0, 1], [0.0, 0.0, 0.5]))


def test_the_input_is_left_as_it_is():
    p, y = simulated(4, 50)
    p_before, y_before = p.copy(), y.copy()
    p.flags.writeable = y.flags.writeable = False
    calibration_check(y, p)
    np.testing.assert_array_equal(p, p_before)
    np.testing.assert_array_equal(y, y_before)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y_true": [0, 1]}, ValueError, r"`y_true` must hold one label for each en"),
        ({"y_true": [0, 1, 2]}, ValueError, r"got y_true\[2\] = 2\.0"),
        ({"y_true": [0, 1, np.nan]}, ValueError, r"got y_true\[2\] = nan"),
        ({"y_true": ["a", "b", "a"]}, TypeError, r"`y_true` must hold real numbers"),
        ({"y_proba": [0, 1, 1.5]}, InvalidProbabilityError, r"y_proba\[2\] = 1\.5"),
        ({"y_proba": [0, 1, np.nan]}, InvalidProbabilityError, r"Drop or fill"),
        ({"y_proba": [[0.1, 0.9]] * 3}, ValueError, r"`y_proba\[:, 1\]`"),
        ({"n_bins": 0}, ValueError, r"`n_bins` must be at least 1; got 0\. Pass 1"),
        ({"n_bins": 2.0}, TypeError, r"`n_bins` must be a whole number; got 2\.0"),
        ({"n_bins": True}, TypeError, r"`n_bins` must be a whole number; got True"),
        ({"level": 0}, ValueError, r"strictly between 0 and 1; got 0\. Pass the"),
        ({"level": 1.0}, ValueError, r"strictly between 0 and 1; got 1\.0"),
        ({"level": 5}, ValueError, r"strictly between 0 and 1; got 5"),
        ({"level": math.nan}, ValueError, r"`level` must be finite; got nan"),
        ({"level": "5%"}, TypeError, r"`level` must be a real number; got '5%'"),
    ],
    ids=str,
)
def test_what_cannot_be_checked_is_refused(change, error, message):
    arguments = {"y_true": [0, 1, 0], "y_proba": [0.2, 0.5, 0.1], **change}
    with pytest.raises(error, match=message):
        calibration_check(**arguments)


# --- the edges -----------------------------------------------------------------------


def test_no_instances_fit():
    check = calibration_check([], [])
    assert check.fits
    assert (check.p_value, check.statistic, check.bins) == (1.0, 0.0, ())
    assert check.overall.n == check.overall.observed == 0
    assert math.isnan(check.overall.low)
    assert check.verdict == "There are no labels to check."
    assert "all" in repr(check)


@pytest.mark.parametrize("n", [1, 2, 300])
def test_certain_labels_that_come_true_fit(n):
    p = np.arange(n) % 2
    check = calibration_check(p, p)
    assert check.fits
    assert (check.p_value, check.statistic, check.overall.std) == (1.0, 0.0, 0.0)
    assert check.verdict.endswith("All probabilities are 0 or 1.")


@pytest.mark.parametrize(
    ("y", "p", "first", "many", "words"),
    [
        ([1], [0], 0, 1, "y_true[0] is positive, but y_proba[0] is 0."),
        ([0], [1], 0, 1, "y_true[0] is negative, but y_proba[0] is 1."),
        ([0, 1, 1], [0.5, 0.5, 0], 2, 1, "y_true[2] is positive, but y_proba[2] is 0."),
        ([1, 0, 1], [1, 1, 0], 1, 2, "y_proba[1] is 1. There are 2 such labels."),
    ],
)
def test_impossible_labels_are_named(y, p, first, many, words):
    check = calibration_check(y, p)
    assert check.p_value == 0.0
    assert not check.fits
    assert (check.first_impossible, check.n_impossible) == (first, many)
    assert "cannot come from the probabilities (p = 0)" in check.verdict
    assert check.verdict.endswith(words)


def test_an_impossible_number_of_positives_has_p_value_zero():
    (low,) = calibration_check([1, 0], [0.0, 0.0]).bins
    assert (low.p_value, low.adjusted_p_value, low.stands_out) == (0.0, 0.0, True)
    check = calibration_check([1, 1, 0], [0.0, 0.0, 0.5])
    assert check.overall.p_value == 0.0
    assert math.isinf(calibration_check([1, 0], [0.0, 0.0]).statistic)
    # Here the number alone is possible.
    assert calibration_check([0, 1], [0.5, 0.0]).overall.p_value == 1.0


def test_what_is_possible_never_has_p_value_zero():
    for p in (1e-300, 5e-324, 1e-17):
        check = calibration_check([1, 0], [p, p / 2])
        assert not check.fits
        assert check.p_value > 0.0
        assert check.n_impossible == 0
        assert "(p < 1e-12)" in check.verdict
    p = np.full(3000, 0.5)
    for y in (np.zeros(3000), np.ones(3000)):
        check = calibration_check(y, p)
        assert 0.0 < check.p_value < 1e-12
        assert check.path_p_value == check.overall.p_value == FLOOR
    # Likewise where the true value is known and tiny.
    check = calibration_check([1] * 30, [0.5] * 30)
    assert check.overall.p_value == pytest.approx(2.0**-29, rel=1e-14)
    assert check.path_p_value == pytest.approx(2.0**-29, rel=1e-14)


def test_a_constant_probability_is_a_single_bin():
    law = counts.poisson_binomial([0.3] * 20)
    check = calibration_check([1] * 11 + [0] * 9, [0.3] * 20)
    assert len(check.bins) == 1
    assert check.statistic == pytest.approx(5 / math.sqrt(4.2), rel=1e-14)
    far = law[:2].sum() + law[11:].sum()
    assert check.path_p_value == pytest.approx(far, rel=1e-13)
    assert check.bins[0].p_value == pytest.approx(2 * law[11:].sum(), rel=1e-13)
    assert check.p_value == pytest.approx(2 * far, rel=1e-13)


@pytest.mark.parametrize("label", [0, 1])
def test_a_single_instance_has_its_own_probability_as_p_value(label):
    for p in (0.25, 0.01):
        check = calibration_check([label], [p])
        assert check.overall.p_value == pytest.approx(min(1, 2 * p) if label else 1.0)
        assert check.path_p_value == pytest.approx(p if label else 1.0)
        assert check.fits == (label == 0 or p > 0.05)


def test_a_level_near_one_still_has_a_verdict():
    p, y = np.full(10, 0.5), np.arange(10) % 2
    check = calibration_check(y, p, level=1 - 1e-16)
    assert "any total from 5 to 5" in check.verdict
    # Both tails of the median are 1/2, less a rounding.
    p = [0.92, 0.76, 0.5, 0.24, 1 - 0.92]
    check = calibration_check([1, 1, 0, 0, 0], p, level=1 - 1e-16)
    assert check.fits
    assert "any total from " in check.verdict


def test_large_inputs_are_taken():
    rng = np.random.default_rng(9)
    for p in (rng.random(10**5), rng.beta(0.1, 10, 10**5), np.full(10**5, 0.2)):
        check = calibration_check(rng.random(10**5) < p, p)
        assert check.p_value > 1e-3
        assert not calibration_check(rng.random(10**5) < p**1.1, p).fits


# --- the result ----------------------------------------------------------------------


def test_a_check_is_frozen_and_survives_pickling():
    p, y = simulated(5, 100)
    check = calibration_check(y, p)
    assert isinstance(check, CalibrationCheck)
    assert all(isinstance(b, CalibrationBin) for b in check.bins)
    assert not dataclasses.replace(check, p_value=check.level).fits
    assert dataclasses.replace(check, p_value=np.nextafter(check.level, 1)).fits
    assert pickle.loads(pickle.dumps(check)) == check
    with pytest.raises(dataclasses.FrozenInstanceError):
        check.p_value = 1.0
    for value in (check.p_value, check.statistic, check.overall.std):
        assert type(value) is float
    for value in (check.overall.n, check.overall.observed, check.n_impossible):
        assert type(value) is int
    assert type(check.bins[0].stands_out) is bool
    assert type(check.fits) is bool


@pytest.mark.parametrize("kind", ["uniform", "rare", "near the ends", "bad", "large"])
def test_the_table_is_readable(kind):
    rng = np.random.default_rng(10)
    n = 10**5 if kind == "large" else 2000
    p = {
        "rare": rng.beta(0.02, 10, n),
        "near the ends": np.clip(rng.beta(0.01, 0.01, n), 1e-300, 1 - 1e-16),
    }.get(kind, rng.random(n))
    y = rng.random(n) < (p**3 if kind == "bad" else p)
    check = calibration_check(y, p)
    lines = repr(check).splitlines()
    assert max(map(len, lines)) < 80
    assert lines[0].startswith("CalibrationCheck: The labels ")
    table = lines[-len(check.bins) - 2 :]
    assert table[0].split()[:3] == ["probabilities", "n", "expected"]
    assert table[-1].split()[:2] == ["all", str(n)]
    for line, group in zip(table[1:-1], check.bins, strict=True):
        assert f" {group.n} " in line
        assert f" {group.observed} " in line
        assert line.endswith("*") == group.stands_out
        assert not (group.high < 1 and line.split()[:3][-1] == "1")
    html = check._repr_html_()
    assert html.count("<tr>") == len(check.bins) + 2
    assert html.count("&lt; 1e-12") == repr(check).count("< 1e-12")
