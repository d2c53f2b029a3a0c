"""Floors on other metrics bind, and what cannot be satisfied says what can."""

import numpy as np
import pytest

import bestcut
from bestcut.goals import Mean, ProbAtLeast, Quantile
from bestcut.metrics import FBeta
from helpers import numbers_in


def test_a_constraint_binds():
    p = np.random.default_rng(11).beta(0.5, 1.5, size=90)
    free = bestcut.decide(p, "f2")
    bound = bestcut.decide(p, "f2", at_least={"precision": 0.8})
    assert bestcut.expected_score(p, free.labels, "precision") < 0.8
    assert bestcut.expected_score(p, bound.labels, "precision") >= 0.8
    assert bound.expected_score < free.expected_score
    assert bound.n_positive < free.n_positive


def test_a_bound_that_is_met_exactly_is_met():
    # Precision of the first two: 0.75; of the first three: 0.6.
    p = [0.9, 0.6, 0.3]
    for floor, positive in ((0.6, 3), (0.75, 2), (0.76, 1), (0.9, 1)):
        decision = bestcut.decide(p, "recall", at_least={"precision": floor})
        assert decision.n_positive == positive
    tenths = [0.1] * 10
    decision = bestcut.decide(tenths, "recall", at_least={"precision": 0.1})
    assert decision.n_positive == 10


def test_a_bound_that_asks_for_nothing_changes_nothing():
    p = np.random.default_rng(1).random(40)
    for name in ("f1", "mcc", "squared_count_error"):
        free = bestcut.decide(p, name)
        for at_least in (None, {}, {"precision": 0.0}, {"mcc": -1}):
            same = bestcut.decide(p, name, at_least=at_least)
            assert np.array_equal(same.labels, free.labels)
            assert same.expected_score == pytest.approx(free.expected_score, abs=1e-12)
    goal = Quantile(0.2)
    free = bestcut.decide(p, "f1", goal=goal)
    same = bestcut.decide(p, "f1", goal=goal, at_least={"precision": 0.0})
    assert same.goal_value == free.goal_value


def test_the_same_metric_twice_means_the_higher_bound():
    p = np.random.default_rng(1).random(40)
    both = ({"f1": 0.3, FBeta(): 0.7}, {"f1": 0.7, FBeta(): 0.3})
    once = bestcut.decide(p, "recall", at_least={"f1": 0.7})
    free = bestcut.decide(p, "recall", at_least={"f1": 0.3})
    assert once.n_positive != free.n_positive
    for at_least in both:
        twice = bestcut.decide(p, "recall", at_least=at_least)
        assert twice.n_positive == once.n_positive


def test_what_cannot_be_satisfied_says_what_can():
    p = [0.9, 0.6, 0.3]
    assert issubclass(bestcut.InfeasibleError, ValueError)
    with pytest.raises(bestcut.InfeasibleError, match=r"precision.*0\.9\b") as info:
        bestcut.decide(p, at_least={"precision": 0.95})
    assert "0.95" in str(info.value)
    # Only three positives are allowed now: 0.6 it is.
    with pytest.raises(bestcut.InfeasibleError, match=r"precision.*0\.6\b"):
        bestcut.decide(p, at_least={"precision": 0.95}, min_positives=3)
    # Each alone can be had, both at once cannot.
    with pytest.raises(bestcut.InfeasibleError) as info:
        bestcut.decide(p, at_least={"precision": 0.85, "recall": 0.9})
    told = numbers_in(str(info.value))
    assert 0.9 in told
    everything = bestcut.expected_score(p, [1, 1, 1], "recall")
    assert min(abs(x - everything) for x in told) < 1e-5
    for goal in (Mean(), Quantile(0.1), ProbAtLeast(0.5)):
        with pytest.raises(bestcut.InfeasibleError):
            bestcut.decide(p, goal=goal, at_least={"precision": 0.95})


@pytest.mark.parametrize("solver", ["auto", "quadratic", "cubic"])
def test_every_solver_that_ranks_takes_goals_and_constraints(solver):
    p = np.random.default_rng(6).random(30)
    kwargs = {"at_least": {"precision": 0.75}, "max_positives": 12}
    for goal in (Mean(), ProbAtLeast(0.7), Quantile(0.1)):
        reference = bestcut.decide(p, "f1", goal=goal, **kwargs)
        decision = bestcut.decide(p, "f1", goal=goal, solver=solver, **kwargs)
        assert decision.goal_value == pytest.approx(reference.goal_value, abs=1e-12)
        assert np.array_equal(decision.labels, reference.labels)


def test_several_conditions_on_one_metric_all_hold():
    p = np.linspace(0.05, 0.95, 40)
    sure = bestcut.goals.Certain(0.6, probability=0.9)
    alone = [
        bestcut.decide(p, "recall", at_least={"precision": one}).n_positive
        for one in (0.7, sure)
    ]
    assert alone[0] != alone[1]
    for wanted in ([0.7, sure], (sure, 0.7)):
        both = bestcut.decide(p, "recall", at_least={"precision": wanted})
        assert both.n_positive == min(alone)
    with pytest.raises(TypeError, match=r"`at_least\['precision'\]` must be a"):
        bestcut.decide(p, at_least={"precision": [0.7, "0.9"]})
