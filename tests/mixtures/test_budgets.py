"""Whatever is allowed, no allowed cut is better than a decision's gap says."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestcut
from bestcut.goals import Mean, ProbAtLeast, Quantile
from bestcut.metrics import get
from mixtures.known import laws_of_scores, quantile

ROUNDING = 1e-9
NAMES = ["f1", "recall", "jaccard", "mcc", "gmean"]


@pytest.mark.parametrize("width", [9, 20])
@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_the_best_cut_of_a_narrow_budget_is_found_wherever_it_is(metric, width):
    n = 400
    p = np.sort(np.random.default_rng(1).beta(0.5, 1.0, n))[::-1]
    draws = p ** np.array([[0.9], [1.2]])
    each = [bestcut.decide(one, metric).curve.expected_score for one in draws]
    value, drawn = np.mean(each, axis=0), bestcut.UncertainProbabilities(draws)
    for low in range(5, n - width, 43):
        high = low + width
        found = bestcut.decide(drawn, metric, min_positives=low, max_positives=high)
        assert found.expected_score == pytest.approx(value[low : high + 1].max())
        assert found.gap <= 1e-11


def test_the_best_of_the_cuts_that_a_condition_allows_is_found():
    """The example of a budget and a condition that returned the first allowed cut."""
    p = np.random.default_rng(0).beta(0.3, 3, 20_000)
    drawn = bestcut.UncertainProbabilities([p**0.9, p, p**1.1])
    for metric in ("recall", "f1", "jaccard", "mcc"):
        asked = {"precision": 0.5}
        found = bestcut.decide(drawn, metric, max_positives=30, at_least=asked)
        assert found.n_positive == 30
        assert found.gap <= 1e-11


@pytest.mark.parametrize("cut", [0, 300])
def test_a_budget_may_leave_nothing_or_everything_alone(cut):
    p = np.sort(np.random.default_rng(2).beta(0.5, 1.0, 300))[::-1]
    drawn = bestcut.UncertainProbabilities([p, p**1.2])
    for metric in NAMES:
        found = bestcut.decide(drawn, metric, min_positives=cut, max_positives=cut)
        each = [
            bestcut.expected_score(one, np.arange(300) < cut, metric)
            for one in drawn.draws()
        ]
        assert found.expected_score == pytest.approx(np.mean(each), abs=1e-12)
        assert found.gap == 0.0


@st.composite
def probabilities(draw):
    """Draws of descending probabilities, so many that not every cut is looked at."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rare = draw(st.integers(200, 300)), draw(st.sampled_from([0.1, 1.0, 4.0]))
    p = np.sort(rng.beta(0.5, rare, n))[::-1]
    if draw(st.booleans()):
        p = p.round(1)
    powers = draw(
        st.lists(st.sampled_from([0.6, 0.9, 1.0, 1.3]), min_size=1, max_size=3)
    )
    return p ** np.array(powers)[:, None]


goals = st.one_of(
    st.just(Mean()),
    st.sampled_from([0.1, 0.5]).map(Quantile),
    st.floats(0.1, 0.9).map(ProbAtLeast),
)


def least_of_goal(goal, values, chance):
    """Return what a goal is at least; rounding may decide between it and more."""
    if isinstance(goal, Mean):
        return values @ chance
    if isinstance(goal, ProbAtLeast):
        return chance[values >= goal.score + ROUNDING].sum()
    return quantile(values, chance, goal.q - ROUNDING)


def check_gap(data, draws, goal):
    """Look at every allowed cut, for the mean and for other goals."""
    n, metric = draws.shape[1], get(data.draw(st.sampled_from(NAMES)))
    low = data.draw(st.integers(0, n), label="low")
    high = min(low + data.draw(st.sampled_from([0, 5, 12, 24]), label="width"), n)
    floor = data.draw(st.none() | st.floats(0.05, 0.9), label="floor")
    p = draws[0] if len(draws) == 1 else bestcut.UncertainProbabilities(draws)
    laws = laws_of_scores(draws, range(low, high + 1), metric, get("precision"))
    room = {
        k: np.inf if floor is None else precision @ chance - floor
        for k, (_, precision, chance) in laws.items()
    }
    try:
        decision = bestcut.decide(
            p,
            metric,
            min_positives=low,
            max_positives=high,
            at_least=None if floor is None else {"precision": floor},
            goal=goal,
        )
    except bestcut.InfeasibleError:
        assert max(room.values()) <= ROUNDING
        return
    taken, gap = decision.n_positive, decision.gap
    assert room[taken] >= -ROUNDING
    assert np.isfinite(gap)
    value = np.dot(laws[taken][0], laws[taken][-1])
    assert abs(decision.expected_score - value) <= decision.error + ROUNDING
    reached = decision.goal_value + (decision.error if goal == Mean() else 0.0)
    for k, (values, _, chance) in laws.items():
        if room[k] >= ROUNDING:
            assert least_of_goal(goal, values, chance) <= reached + gap + ROUNDING


@settings(max_examples=3, deadline=None)
@given(data=st.data(), draws=probabilities(), goal=goals)
def test_no_allowed_cut_is_better_than_the_gap_says(data, draws, goal):
    check_gap(data, draws, goal)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(data=st.data(), draws=probabilities(), goal=goals)
def test_no_allowed_cut_is_better_than_the_gap_says_of_many(data, draws, goal):
    check_gap(data, draws, goal)
