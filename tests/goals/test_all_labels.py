"""Goals and constraints reach the best of all label vectors, in exact arithmetic."""

import dataclasses
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import bestcut
from bestcut.goals import ProbAtLeast, Quantile
from groups import one_in
from helpers import NAMES, adversarial, metric_of, numbers_in
from oracles.definitions import DEFINITIONS, LOSSES
from oracles.enumeration import UNIT, best_over_all_labels, laws_of_all_labels
from oracles.outcomes import chances_of_all_labels, quantiles_of_all_labels

TOLERANCE = Fraction(1, 10**12)


@cache
def cached(name):
    """Return the definition, computed once for each confusion matrix."""
    return cache(DEFINITIONS[name])


def bounds_of(rng, n):
    """Return bounds on the number of positives, most often none."""
    if rng.random() < 0.6:
        return 0, n
    low, high = sorted(rng.integers(0, n + 1, size=2).tolist())
    return low, high


class Problem:
    """One vector of probabilities, and all its label vectors."""

    def __init__(self, rng, n):
        self.p64 = adversarial(rng, n, weights=[1, 1, 1, 1, 1, 4, 2, 2])
        self.p = np.array(self.p64) / UNIT
        self.laws = laws_of_all_labels(self.p64)
        self.low, self.high = bounds_of(rng, n)
        sizes = np.bitwise_count(np.arange(2**n))
        self.allowed = (sizes >= self.low) & (sizes <= self.high)

    def decide(self, metric, **kwargs):
        return bestcut.decide(
            self.p,
            metric,
            min_positives=self.low,
            max_positives=self.high,
            **kwargs,
        )

    def expected(self, name, zero_division):
        zero_division = Fraction(zero_division)
        _, scores = best_over_all_labels(self.laws, cached(name), zero_division)
        return [scores[m] for m in range(len(scores))]


def mask_of(labels):
    return sum(1 << i for i, label in enumerate(labels) if label)


def best_of(values, feasible, *, loss=False):
    chosen = [v for v, possible in zip(values, feasible, strict=True) if possible]
    return min(chosen) if loss else max(chosen)


def assert_best_chance(problem, decision, name, zero_division, c, feasible):
    """Raise unless the decision has the best P(at least as good as c)."""
    _, chances = chances_of_all_labels(
        problem.laws, cached(name), Fraction(zero_division), c, loss=name in LOSSES
    )
    own = chances.of(decision.labels)
    values = [chances[m] for m in range(len(chances))]
    best = best_of(values, feasible)
    case = f"{name} {float(c)} of {problem.p64}: {decision!r}"
    assert feasible[mask_of(decision.labels)], case
    assert abs(Fraction(decision.goal_value) - own) <= TOLERANCE, case
    assert best - own <= TOLERANCE, case


def assert_best_quantile(problem, decision, name, zero_division, q, feasible):
    """Raise unless the decision has the best q-quantile, from the bad side."""
    loss = name in LOSSES
    level, nearly = (
        quantiles_of_all_labels(
            problem.laws, cached(name), Fraction(zero_division), at, loss=loss
        )
        for at in (q, q - TOLERANCE)  # a level within the error counts as reached
    )
    value, mask = Fraction(decision.goal_value), mask_of(decision.labels)
    case = f"{name} {float(q)} of {problem.p64}: {decision!r}"
    assert feasible[mask], case
    for ends in (
        (nearly[mask], level[mask]),
        [best_of(values, feasible, loss=loss) for values in (nearly, level)],
    ):
        assert min(ends) - TOLERANCE <= value <= max(ends) + TOLERANCE, case


def some_values(rng, problem, name, zero_division, count):
    """Return scores that some labels may have, and others."""
    n = len(problem.p64)
    out = [Fraction(int(rng.integers(1, 10)), 10)]
    for _ in range(count):
        tp, fp, fn, tn = rng.multinomial(n, [0.3, 0.2, 0.2, 0.3]).tolist()
        out.append(cached(name)(tp, fp, fn, tn, Fraction(zero_division)))
    return out


@one_in(4, "seed", range(4))
def test_goals_reach_the_best_of_all_label_vectors(seed):
    rng = np.random.default_rng(seed)
    for n in (1, 2, 3, 4, 5, 6, 7, int(rng.integers(8, 11))):
        problem = Problem(rng, n)
        names = rng.choice(NAMES, size=5, replace=False).tolist()
        for name in {"f1", "squared_count_error", *names}:
            zero_division = int(rng.random() < 0.25)
            metric = metric_of(name, zero_division)
            for c in some_values(rng, problem, name, zero_division, 2):
                decision = problem.decide(metric, goal=ProbAtLeast(float(c)))
                assert_best_chance(
                    problem, decision, name, zero_division, c, problem.allowed
                )
            for q in rng.choice([0.05, 0.1, 0.25, 0.5, 0.75, 0.9], 2, replace=False):
                decision = problem.decide(metric, goal=Quantile(float(q)))
                q = Fraction(float(q))
                assert_best_quantile(
                    problem, decision, name, zero_division, q, problem.allowed
                )


SCORES = [name for name in NAMES if name not in LOSSES]


@one_in(2, "seed", range(6))
def test_constraints_leave_the_best_of_the_label_vectors_that_satisfy_them(seed):
    rng = np.random.default_rng(100 + seed)
    infeasible = 0
    for n in (1, 2, 3, 4, 5, 6, 7, 8, int(rng.integers(9, 11))) * 2:
        problem = Problem(rng, n)
        name = str(rng.choice(NAMES))
        zero_division = int(rng.random() < 0.25)
        metric, loss = metric_of(name, zero_division), name in LOSSES
        floors, expected, at_least = {}, {}, {}
        for other in rng.choice(SCORES, size=rng.integers(1, 3), replace=False):
            other, empty = str(other), int(rng.random() < 0.25)
            expected[other] = problem.expected(other, empty)
            reach = [expected[other][m] for m in np.flatnonzero(problem.allowed)]
            share = Fraction(float(rng.choice([0.2, 0.6, 0.9, 0.99, 1.0, 1.02])))
            # A least value above 1, the largest that any of them has, is another error.
            floor = min(min(reach) + share * (max(reach) - min(reach)), 1)
            floors[other] = Fraction(float(floor))
            at_least[metric_of(other, empty)] = float(floor)
        strictly, nearly = (
            problem.allowed
            & np.array(
                [
                    all(expected[x][m] >= floors[x] - slack for x in floors)
                    for m in range(2**n)
                ]
            )
            for slack in (0, TOLERANCE)
        )
        if not nearly.any():
            infeasible += 1
            with pytest.raises(bestcut.InfeasibleError) as info:
                problem.decide(metric, at_least=at_least)
            told = numbers_in(str(info.value))
            for other, values in expected.items():
                best = float(best_of(values, problem.allowed))
                assert other in str(info.value)
                assert min(abs(x - best) for x in told) <= 1e-5, (best, str(info.value))
            continue
        # Where the bound is as good as met, the answer may go either way.
        decision = problem.decide(metric, at_least=at_least)
        own = problem.expected(name, zero_division)
        ends = [best_of(own, nearly, loss=loss)]
        if strictly.any():
            ends.append(best_of(own, strictly, loss=loss))
        value = own[mask_of(decision.labels)]
        assert nearly[mask_of(decision.labels)]
        assert min(ends) - TOLERANCE <= value <= max(ends) + TOLERANCE
        assert abs(Fraction(decision.expected_score) - value) <= decision.error
        assert decision.goal_value == decision.expected_score
        if np.array_equal(nearly, strictly):
            c = some_values(rng, problem, name, zero_division, 1)[-1]
            decision = problem.decide(
                metric, at_least=at_least, goal=ProbAtLeast(float(c))
            )
            assert_best_chance(problem, decision, name, zero_division, c, nearly)
            decision = problem.decide(metric, at_least=at_least, goal=Quantile(0.2))
            q = Fraction(0.2)
            assert_best_quantile(problem, decision, name, zero_division, q, nearly)
    assert infeasible > 0


def test_the_comparisons_reject_worse_decisions():
    rng = np.random.default_rng(0)
    problem = Problem(rng, 5)
    problem.p64 = [60, 40, 30, 10, 3]
    problem.laws = laws_of_all_labels(problem.p64)
    p, everything = np.array(problem.p64) / 64, np.ones(32, dtype=bool)
    c, q = Fraction(6, 10), Fraction(1, 4)
    right = bestcut.decide(p, goal=ProbAtLeast(0.6))
    assert_best_chance(problem, right, "f1", 0, c, everything)
    wrong = bestcut.decide(p, goal=ProbAtLeast(0.6), min_positives=5)
    with pytest.raises(AssertionError):
        assert_best_chance(problem, wrong, "f1", 0, c, everything)
    only_one = np.bitwise_count(np.arange(32)) == 1
    with pytest.raises(AssertionError):
        assert_best_chance(problem, right, "f1", 0, c, only_one)
    claims_more = dataclasses.replace(right, goal_value=right.goal_value + 1e-9)
    with pytest.raises(AssertionError):
        assert_best_chance(problem, claims_more, "f1", 0, c, everything)
    right = bestcut.decide(p, goal=Quantile(0.25))
    assert_best_quantile(problem, right, "f1", 0, q, everything)
    for wrong in (
        bestcut.decide(p, goal=Quantile(0.25), max_positives=1),
        dataclasses.replace(right, goal_value=right.goal_value + 1e-9),
    ):
        with pytest.raises(AssertionError):
            assert_best_quantile(problem, wrong, "f1", 0, q, everything)
