"""Draws that agree: everything is what it is for known probabilities."""

import numpy as np
import pytest

import bestcut
from bestcut.goals import ProbAtLeast, Quantile
from groups import one_in
from mixtures.known import METRICS

SIZES = (0, 1, 40, 700, 3000)


def batch(n):
    rng = np.random.default_rng(n)
    return rng.beta(0.4, 1.5, n)


@one_in(2, "metric, n", {m.name: m for m in METRICS}, SIZES)
def test_decisions_are_the_same(metric, n):
    p = batch(n)
    plain = bestcut.decide(p, metric)
    drawn = bestcut.decide(bestcut.UncertainProbabilities([p] * 3), metric)
    apart = abs(plain.expected_score - drawn.expected_score)
    # The rules of draws are proved to 1e-10 of the largest score; they are better.
    assert apart <= plain.error + drawn.error + plain.gap + drawn.gap
    assert apart <= 1e-11 * max(1.0, abs(plain.expected_score))
    assert drawn.gap <= 1e-12 * max(1.0, abs(plain.expected_score))
    assert drawn.gap_scope == plain.gap_scope
    law, other = drawn.distribution(), plain.distribution()
    if drawn.n_positive == plain.n_positive:
        assert law.mean == pytest.approx(other.mean, abs=1e-12, rel=1e-12)
        assert law.interval() == pytest.approx(other.interval(), abs=1e-12, rel=1e-12)
        assert law.std == pytest.approx(other.std, abs=1e-9, rel=1e-9)
    assert law.std_calibration <= 1e-12 * max(1.0, abs(law.mean))
    if n:
        assert law.quantile_error(0.05) == 0.0


@pytest.mark.parametrize("goal", [Quantile(0.1), ProbAtLeast(0.5)])
@pytest.mark.parametrize("metric", ["f1", "mcc", "gmean"])
def test_goals_are_the_same(metric, goal):
    p = batch(300)
    plain = bestcut.decide(p, metric, goal=goal)
    drawn = bestcut.decide(bestcut.UncertainProbabilities([p] * 3), metric, goal=goal)
    assert drawn.goal_value == pytest.approx(plain.goal_value, abs=1e-12)


@pytest.mark.parametrize(
    "condition", [0.8, bestcut.goals.Certain(0.8, 0.9)], ids=["expected", "certain"]
)
def test_conditions_are_the_same(condition):
    p = np.concatenate([batch(300), np.full(20, 0.97)])
    at_least = {"precision": condition, "recall": 0.1}
    plain = bestcut.decide(p, "f1", at_least=at_least)
    drawn = bestcut.decide(
        bestcut.UncertainProbabilities([p] * 3), "f1", at_least=at_least
    )
    assert drawn.expected_score == pytest.approx(plain.expected_score, abs=1e-12)
    chance = plain.distribution("precision").prob_at_least(0.8)
    if condition != 0.8:
        assert chance >= 0.9


@pytest.mark.parametrize("bounds", [(0, 10), (200, None), (77, 77)])
def test_budgets_are_the_same(bounds):
    p = batch(700)
    low, high = bounds
    plain = bestcut.decide(p, "mcc", min_positives=low, max_positives=high)
    drawn = bestcut.decide(
        bestcut.UncertainProbabilities([p] * 3),
        "mcc",
        min_positives=low,
        max_positives=high,
    )
    assert drawn.n_positive == plain.n_positive
    assert drawn.expected_score == pytest.approx(plain.expected_score, abs=1e-12)
