"""Goals are values; a decision for one knows it, and what makes no sense is refused."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestcut
from bestcut.goals import Mean, ProbAtLeast, Quantile
from bestcut.metrics import from_counts
from helpers import NAMES
from oracles.definitions import LOSSES


def test_a_cautious_goal_takes_other_labels_than_the_mean():
    # All or nothing: with precision 1 nothing is lost, on average more is caught.
    p = [0.95, 0.5, 0.5, 0.45, 0.4]
    mean = bestcut.decide(p, "f1")
    sure = bestcut.decide(p, "f1", goal=ProbAtLeast(0.9))
    assert sure.n_positive != mean.n_positive
    assert sure.goal_value > mean.distribution().prob_at_least(0.9)
    assert sure.expected_score < mean.expected_score


def test_nothing_to_decide():
    for goal, value in ((Mean(), 0.0), (Quantile(0.1), 0.0), (ProbAtLeast(0.5), 0.0)):
        decision = bestcut.decide([], "f1", goal=goal)
        assert decision.goal_value == value
        assert decision.labels.shape == (0,)
    assert bestcut.decide([], goal=ProbAtLeast(0.0)).goal_value == 1
    assert bestcut.decide([], at_least={"f1": 0.0}).n_positive == 0
    with pytest.raises(bestcut.InfeasibleError):
        bestcut.decide([], at_least={"f1": 0.5})


# Properties.

probability = st.floats(0, 1, allow_subnormal=True)
goals = st.one_of(
    st.just(Mean()),
    st.floats(-0.2, 1.2).map(ProbAtLeast),
    st.floats(0.01, 0.99).map(Quantile),
)


@settings(max_examples=100, deadline=None)
@given(p=st.lists(probability, max_size=25), name=st.sampled_from(NAMES), goal=goals)
def test_a_decision_for_any_goal_is_a_threshold_set_that_knows_itself(p, name, goal):
    decision = bestcut.decide(p, name, goal=goal)
    p, labels = np.array(p), decision.labels
    assert decision.goal == goal
    assert decision.n_positive == labels.sum()
    if labels.any():
        below = p[p < p[labels].min()].max(initial=-np.inf)
        assert below < decision.threshold <= p[labels].min()
        tied = labels[p == decision.threshold]
        assert np.array_equal(tied, np.sort(tied)[::-1])
        assert np.array_equal(
            labels | (p == decision.threshold), p >= decision.threshold
        )
    law = bestcut.score_distribution(p, labels, name)
    slack = law.error + decision.error
    assert decision.expected_score == pytest.approx(law.mean, abs=slack, rel=0)
    if isinstance(goal, ProbAtLeast):
        chance = law.prob_at_least(goal.score)
        assert decision.goal_value == pytest.approx(chance, abs=1e-11, rel=0)
    elif isinstance(goal, Mean):
        assert decision.goal_value == decision.expected_score


@settings(max_examples=30, deadline=None)
@given(
    p=st.lists(probability, min_size=1, max_size=40),
    name=st.sampled_from(["f1", "mcc", "gmean", "accuracy"]),
    q=st.floats(0.02, 0.98),
)
def test_the_best_quantile_is_the_highest_score_that_is_likely_enough(p, name, q):
    value = bestcut.decide(p, name, goal=Quantile(q)).goal_value
    at, beyond = (
        bestcut.decide(p, name, goal=ProbAtLeast(c)).goal_value
        for c in (value, value + 1e-9)
    )
    assert at >= 1 - q - 1e-11
    assert beyond <= 1 - q + 1e-11


@settings(max_examples=40, deadline=None)
@given(
    p=st.lists(probability, min_size=1, max_size=30),
    name=st.sampled_from(NAMES),
    levels=st.tuples(st.floats(0.02, 0.98), st.floats(0.02, 0.98)),
    scores=st.tuples(st.floats(-0.5, 1), st.floats(-0.5, 1)),
)
def test_asking_for_more_gives_less(p, name, levels, scores):
    low, high = sorted(levels)
    one, other = (bestcut.decide(p, name, goal=Quantile(q)) for q in (low, high))
    # A quantile from the bad side gets better, not worse, with its level.
    if name in LOSSES:
        assert one.goal_value >= other.goal_value - 1e-12
    else:
        assert one.goal_value <= other.goal_value + 1e-12
    low, high = sorted(scores, reverse=name in LOSSES)
    one, other = (bestcut.decide(p, name, goal=ProbAtLeast(c)) for c in (low, high))
    assert one.goal_value >= other.goal_value - 1e-11


def test_duality_holds_for_many_instances():
    p = np.random.default_rng(5).beta(0.5, 3, size=1000)
    for name in ("f1", "mcc"):
        value = bestcut.decide(p, name, goal=Quantile(0.1)).goal_value
        at = bestcut.decide(p, name, goal=ProbAtLeast(value)).goal_value
        beyond = bestcut.decide(p, name, goal=ProbAtLeast(value + 1e-12)).goal_value
        assert beyond - 1e-10 <= 0.9 <= at + 1e-10
        assert at - beyond < 0.02


def test_goals_are_values_and_the_mean_is_the_default():
    assert bestcut.decide([0.5, 0.4]).goal == Mean() == Mean()
    assert ProbAtLeast(0.5) == ProbAtLeast(0.5) != ProbAtLeast(0.6)
    assert len({Quantile(0.5), Quantile(0.5), Quantile(0.4)}) == 2
    decision = bestcut.decide([0.5, 0.4])
    assert decision.goal_value == decision.expected_score
    again = pickle.loads(pickle.dumps(bestcut.decide([0.5], goal=Quantile(0.3))))
    assert again.goal == Quantile(0.3)


def test_the_repr_tells_the_goal_and_its_value():
    p = np.random.default_rng(5).random(30)
    decision = bestcut.decide(p, goal=ProbAtLeast(0.625))
    assert "0.625" in repr(decision)
    assert f"{decision.goal_value:.6g}" in repr(decision)
    assert f"{decision.goal_value:.6g}" in decision._repr_html_()


# What is refused.

PERVERSE = from_counts(lambda tp, fp, fn, tn: fp * fn - tp, "perverse")
REFUSED = {
    "a class": ({"goal": Quantile}, TypeError, r"`goal`.*Quantile\("),
    "a number": ({"goal": 0.5}, TypeError, r"`goal`.*0\.5"),
    "a name": ({"goal": "mean"}, TypeError, r"`goal`.*'mean'"),
    "not a mapping": ({"at_least": [("precision", 0.9)]}, TypeError, r"`at_least`"),
    "a name as bound": ({"at_least": "precision"}, TypeError, r"`at_least`"),
    "a number as bound": ({"at_least": 0.9}, TypeError, r"`at_least`"),
    "unknown name": (
        {"at_least": {"presicion": 0.9}},
        ValueError,
        r"'presicion'.*'precision'",
    ),
    "a goal as bounds": (
        {"at_least": Quantile(0.1)},
        TypeError,
        r"or to a `bestcut\.goals\.Certain`; got Quantile.* Pass a goal as `goal`",
    ),
    "a quantile as bound": (
        {"at_least": {"precision": Quantile(0.1)}},
        TypeError,
        r"`at_least\['precision'\]`.*a goal\. Pass bestcut\.goals\.Certain\(0\.9",
    ),
    "a probability as bound": (
        {"at_least": {"precision": [0.1, ProbAtLeast(0.7)]}},
        TypeError,
        r"which is a goal\. Pass bestcut\.goals\.Certain\(0\.7, probability=0\.95\)",
    ),
    "a condition as goal": (
        {"goal": bestcut.goals.Certain(0.7)},
        TypeError,
        r"which is a condition\. Pass at_least=\{metric: .*ProbAtLeast\(0\.7\)",
    ),
    "callable": ({"at_least": {max: 0.9}}, TypeError, r"from_counts"),
    "nan bound": (
        {"at_least": {"precision": float("nan")}},
        ValueError,
        r"at_least.*precision.*nan",
    ),
    "text bound": ({"at_least": {"precision": "0.9"}}, TypeError, r"at_least.*'0\.9'"),
    "loss": (
        {"at_least": {"squared_count_error": 0.1}},
        ValueError,
        r"`at_least`.*squared_count_error.*loss",
    ),
    "not ranked": (
        {"at_least": {PERVERSE: 0.1}},
        bestcut.SolverMismatchError,
        r"`at_least`.*perverse",
    ),
    "not ranked for a goal": (
        {"metric": PERVERSE, "goal": Quantile(0.1)},
        bestcut.SolverMismatchError,
        r"'perverse'.*ranking principle",
    ),
    "enumeration with a goal": (
        {"solver": "exhaustive", "goal": ProbAtLeast(0.5)},
        bestcut.SolverMismatchError,
        r"'exhaustive'.*`goal`",
    ),
    "enumeration with bounds": (
        {"solver": "exhaustive", "at_least": {"precision": 0.1}},
        bestcut.SolverMismatchError,
        r"'exhaustive'.*`at_least`",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(kind):
    arguments, error, message = REFUSED[kind]
    with pytest.raises(error, match=message):
        bestcut.decide([0.2, 0.3], **arguments)


def test_enumeration_with_the_mean_and_no_bounds_is_fine():
    decision = bestcut.decide([0.2, 0.3], solver="exhaustive", goal=Mean(), at_least={})
    assert decision.goal_value == decision.expected_score


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, 1.1, float("nan"), "half", None, True])
def test_levels_that_are_none_are_refused(q):
    with pytest.raises((ValueError, TypeError), match="`q`"):
        Quantile(q)


@pytest.mark.parametrize("c", [float("nan"), float("inf"), "high", None, True])
def test_scores_that_are_none_are_refused(c):
    with pytest.raises((ValueError, TypeError), match="`score`"):
        ProbAtLeast(c)
