"""decide() reaches the maximum over all 2^n label vectors, in exact arithmetic."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import bestcut
from bestcut.reference import ALGORITHMS
from groups import slow
from helpers import NAMES, adversarial, metric_of
from oracles.definitions import DEFINITIONS, LOSSES
from oracles.enumeration import best_over_all_labels, expected_score, laws_of_all_labels
from summary.ways import never_sort, taking

TOLERANCE = Fraction(1, 10**12)


def assert_optimal(p64, laws, name, zero_division, solver):
    metric = metric_of(name, zero_division)
    best, scores = best_over_all_labels(
        laws, DEFINITIONS[name], Fraction(zero_division), minimise=name in LOSSES
    )
    decision = bestcut.decide(np.array(p64) / 64, metric, solver=solver)
    claimed = Fraction(decision.expected_score)
    own = scores.of(decision.labels)
    case = f"{name} of {p64} by {solver}: {decision!r}"
    assert abs(claimed - own) <= Fraction(decision.error), case
    assert abs(claimed - own) <= TOLERANCE, case
    assert abs(own - best) <= 2 * Fraction(decision.error), case
    assert abs(own - best) <= TOLERANCE, case


# Some 3,000 vectors of probabilities in all, each with every metric; 150 are fast.
SIZES = [(1, 5, 120), (6, 7, 20), (8, 10, 3)]
SEEDS = [0, *map(slow, range(1, 20))]


@pytest.mark.parametrize("seed", SEEDS)
def test_decide_reaches_the_maximum_over_all_label_vectors(seed):
    rng = np.random.default_rng(seed)
    for smallest, largest, repeats in SIZES:
        for _ in range(repeats):
            p64 = adversarial(rng, int(rng.integers(smallest, largest + 1)))
            laws = laws_of_all_labels(p64)
            for name in NAMES:
                zero_division = int(rng.random() < 0.25)
                assert_optimal(p64, laws, name, zero_division, "auto")


@pytest.mark.parametrize("solver", sorted(ALGORITHMS))
def test_every_solver_reaches_the_maximum(solver):
    rng = np.random.default_rng(99)
    for _ in range(12):
        p64 = adversarial(rng, int(rng.integers(1, 9)))
        laws = laws_of_all_labels(p64)
        for name in NAMES:
            needs = ALGORITHMS[solver].requires
            if needs <= bestcut.metrics.get(name).traits:
                assert_optimal(p64, laws, name, int(rng.integers(2)), solver)


@pytest.mark.parametrize("seed", [0, slow(1), slow(2)])
def test_a_summary_that_may_not_sort_reaches_the_maximum(seed, monkeypatch):
    never_sort(monkeypatch)
    rng = np.random.default_rng(seed)
    for _ in range(6):
        p64 = adversarial(rng, int(rng.integers(1, 9)))
        laws = laws_of_all_labels(p64)
        for name in NAMES:
            with taking("summary"):
                assert_optimal(p64, laws, name, int(rng.integers(2)), "auto")


EXTREME = [5e-324, 1e-300, 1e-16, 0.5, 1 - 1e-16, 0.0, 1.0]


@pytest.mark.parametrize("name", NAMES)
def test_extreme_probabilities_are_safe(name):
    rng = np.random.default_rng(5)
    for _ in range(6):
        p = rng.choice(EXTREME, size=3).tolist()
        exact = {
            labels: expected_score(p, labels, DEFINITIONS[name], Fraction(0))
            for labels in product((0, 1), repeat=3)
        }
        best = (min if name in LOSSES else max)(exact.values())
        decision = bestcut.decide(p, name)
        own = exact[tuple(decision.labels.astype(int).tolist())]
        assert abs(Fraction(decision.expected_score) - own) <= Fraction(decision.error)
        assert abs(own - best) <= 2 * Fraction(decision.error)


def test_the_comparison_rejects_a_worse_decision(monkeypatch):
    p64 = [60, 40, 10, 3]
    laws = laws_of_all_labels(p64)
    real = bestcut.decide

    def off_by_one(p, metric, solver):
        return real(p, metric, min_positives=3, max_positives=3)

    monkeypatch.setattr(bestcut, "decide", off_by_one)
    with pytest.raises(AssertionError):
        assert_optimal(p64, laws, "f1", 0, "auto")
