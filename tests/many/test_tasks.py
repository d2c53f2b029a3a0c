"""decide_each() with goals and conditions: each problem as decide() has it."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestcut
from bestcut.goals import Certain, Mean, ProbAtLeast, Quantile
from bestcut.metrics import FBeta, LinearUtility, Precision, Recall, from_counts
from groups import one_in
from many.known import skewed

scipy_sparse = pytest.importorskip("scipy.sparse")

PRECISE = Precision(zero_division=1.0)  # an empty prediction is as precise as can be
UNEVEN = from_counts(lambda tp, fp, fn, tn: 2.0 * tp - fp * fp, name="uneven")
PROFIT = LinearUtility(tp=3, fp=-1, fn=-0.5)
# Metrics that look at n and that do not, with kernels and without.
FLOORS = [
    {PRECISE: 0.6},
    {PRECISE: [0.3, 0.5], "recall": 0.0},
    {"accuracy": 0.4},
    {FBeta(zero_division=1.0): 0.05, PRECISE: 0.4},
    {PROFIT: -100.0, PRECISE: 0.3},
]


def problems(seed, count=14, most=30):
    """Return probabilities and the group of each, of many sizes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most, count)
    group = rng.permutation(np.repeat(np.arange(count), sizes))
    return rng.choice([rng.beta(0.4, 2, group.size), rng.random(group.size)]), group


def assert_as_decide(p, metric, many, i, labels, **asked):
    """A problem is decided as well as `decide` does, and keeps its conditions."""
    one = bestcut.decide(p, metric, **asked)
    error = many.error[i] + one.error
    assert labels.sum() == many.n_positive[i]
    own = bestcut.expected_score(p, labels, metric)
    assert abs(own - many.expected_score[i]) <= error
    # With another goal the labels may tie, and have another expected score then.
    assert abs(one.goal_value - many.goal_value[i]) <= error + one.gap + many.gap[i]
    for name, wanted in (asked.get("at_least") or {}).items():
        score = bestcut.score_distribution(p, labels, name)
        for floor in wanted if isinstance(wanted, list) else [wanted]:
            if isinstance(floor, Certain):
                reached = score.prob_at_least(floor.score)
                assert reached >= floor.probability - 1e-12
            else:
                assert score.mean >= floor - 1e-11


@one_in(
    2,
    "metric, at_least",
    ["f1", "recall", "mcc", PROFIT, UNEVEN],
    FLOORS,
)
def test_conditions_hold_in_each_group(metric, at_least):
    p, group = problems(len(str(at_least)))
    many = bestcut.decide_each(p, metric, groups=group, at_least=at_least)
    assert many.goal == Mean()
    np.testing.assert_array_equal(many.goal_value, many.expected_score)
    for i in range(many.n_positive.size):
        here = group == i
        asked = {"at_least": at_least}
        assert_as_decide(p[here], metric, many, i, many.labels[here], **asked)


@pytest.mark.parametrize(
    "asked",
    [
        {"goal": Quantile(0.2)},
        {"goal": ProbAtLeast(0.5)},
        {"goal": Quantile(0.3), "at_least": {PRECISE: 0.4}},
        {"at_least": {PRECISE: Certain(0.5, probability=0.6)}},
        {"at_least": {PRECISE: [0.4, Certain(0.3, probability=0.7)]}},
    ],
    ids=str,
)
def test_goals_and_certainties_are_those_of_decide(asked):
    p, group = problems(3)
    many = bestcut.decide_each(p, "f1", groups=group, **asked)
    assert many.goal == asked.get("goal", Mean())
    for i in range(many.n_positive.size):
        here = group == i
        assert_as_decide(p[here], "f1", many, i, many.labels[here], **asked)


@pytest.mark.parametrize(
    "metric",
    ["mcc", "squared_count_error", UNEVEN, PROFIT, "specificity"],
    ids=lambda metric: getattr(metric, "name", metric),
)
@pytest.mark.parametrize("goal", [Quantile(0.1), Quantile(0.7), ProbAtLeast(0.4)])
def test_goals_of_any_metric_are_those_of_decide(metric, goal):
    p, group = problems(7, count=9, most=12)
    high = np.arange(9) % 5 + 3
    many = bestcut.decide_each(p, metric, groups=group, goal=goal, max_positives=high)
    for i in range(9):
        here = group == i
        asked = {"goal": goal, "max_positives": min(int(high[i]), here.sum())}
        assert_as_decide(p[here], metric, many, i, many.labels[here], **asked)


def test_of_cuts_with_the_same_goal_value_the_best_expected_score_is_taken():
    p = np.array([[0.95, 0.9, 0.02, 0.01], [0.6, 0.5, 0.4, 0.3]])
    many = bestcut.decide_each(p, "f1", goal=Quantile(0.001))
    assert many.goal_value.tolist() == [0.0, 0.0]  # every cut may score nothing
    best = bestcut.decide_each(p, "f1")
    np.testing.assert_array_equal(many.n_positive, best.n_positive)
    np.testing.assert_array_equal(many.expected_score, best.expected_score)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_rows_and_columns_have_conditions_and_goals(axis, n_jobs):
    p = skewed(np.random.default_rng(1), 12, 9)
    for asked in ({"at_least": {PRECISE: 0.5}}, {"goal": Quantile(0.25)}):
        many = bestcut.decide_each(p, "recall", axis=axis, n_jobs=n_jobs, **asked)
        rows, labels = (p, many.labels) if axis == 1 else (p.T, many.labels.T)
        for i, row in enumerate(rows):
            assert_as_decide(row, "recall", many, i, labels[i], **asked)


@pytest.mark.parametrize(
    "asked",
    [
        {"at_least": {PRECISE: 0.5}},
        {"at_least": {"accuracy": 0.5}},
        {"goal": Quantile(0.25)},
    ],
    ids=str,
)
def test_sparse_rows_are_decided_as_dense_ones(asked):
    rng = np.random.default_rng(2)
    p = rng.random((10, 12)) * (rng.random((10, 12)) < 0.4)
    many = bestcut.decide_each(scipy_sparse.csr_array(p), "f1", **asked)
    labels = many.labels.toarray()
    for i, row in enumerate(p):
        assert_as_decide(row, "f1", many, i, labels[i], **asked)


@pytest.mark.parametrize("n", [70, 300])
def test_long_rows_have_conditions_too(n):
    p = np.random.default_rng(n).beta(0.3, 2, size=(3, n))
    for name in ("mcc", "f1"):
        asked = {"at_least": {PRECISE: 0.5, "specificity": 0.5}}
        many = bestcut.decide_each(p, name, **asked)
        for i, row in enumerate(p):
            assert_as_decide(row, name, many, i, many.labels[i], **asked)


def test_budgets_for_each_problem_go_with_conditions():
    p, group = problems(5)
    count = group.max() + 1
    high = np.arange(count) % 4
    asked = {"at_least": {PRECISE: 0.3}}
    many = bestcut.decide_each(p, "recall", groups=group, max_positives=high, **asked)
    assert np.all(many.n_positive <= high)
    for i in range(count):
        here = group == i
        one = bestcut.decide(p[here], "recall", max_positives=int(high[i]), **asked)
        assert many.expected_score[i] == pytest.approx(one.expected_score, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    p=st.lists(st.floats(0, 1), min_size=1, max_size=12),
    floor=st.floats(0, 1),
    data=st.data(),
)
def test_any_groups_and_any_condition(p, floor, data):
    group = data.draw(st.lists(st.integers(0, 2), min_size=len(p), max_size=len(p)))
    many = bestcut.decide_each(p, "recall", groups=group, at_least={PRECISE: floor})
    for i, name in enumerate(many.groups):
        here = np.array(group) == name
        asked = {"at_least": {PRECISE: floor}}
        row = np.array(p)[here]
        assert_as_decide(row, "recall", many, i, many.labels[here], **asked)


def test_a_condition_that_is_met_exactly_is_met():
    p = [[0.5, 0.25], [0.25, 0.125]]
    many = bestcut.decide_each(p, "recall", at_least={"precision": 0.1875})
    assert many.n_positive.tolist() == [2, 2]


# --- draws ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        {"goal": Quantile(0.2)},
        {"at_least": {PRECISE: 0.5}},
        {"at_least": {PRECISE: Certain(0.4, probability=0.6)}},
    ],
    ids=str,
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_draws_have_goals_and_conditions(asked, n_jobs):
    rng = np.random.default_rng(4)
    draws, group = rng.random((3, 20)), np.repeat([2, 0, 1], [8, 5, 7])
    p = bestcut.UncertainProbabilities(draws)
    many = bestcut.decide_each(p, "f1", groups=group, n_jobs=n_jobs, **asked)
    for i in range(3):
        own = bestcut.UncertainProbabilities(draws[:, group == i])
        one = bestcut.decide(own, "f1", **asked)
        np.testing.assert_array_equal(many.labels[group == i], one.labels)
        assert many.goal_value[i] == one.goal_value


# --- refusals ------------------------------------------------------------------------

RARE = [[0.9, 0.8, 0.1], [0.2, 0.1, 0.1], [0.8, 0.7, 0.2], [0.3, 0.2, 0.1]]


@pytest.mark.parametrize(
    ("call", "called", "problem"),
    [
        (lambda **x: bestcut.decide_each(RARE, **x), "row 1: ", 1),
        (lambda **x: bestcut.decide_each(np.transpose(RARE), axis=0, **x), "col", 1),
        (
            lambda **x: bestcut.decide_each(
                np.ravel(RARE), groups=np.repeat(list("dcba"), 3), **x
            ),
            "group 'a': ",
            0,
        ),
        (
            lambda **x: bestcut.decide_each(
                bestcut.UncertainProbabilities([np.ravel(RARE)] * 2),
                groups=np.repeat([7, 8, 9, 10], 3),
                **x,
            ),
            "group 8: ",
            1,
        ),
        (
            lambda **x: bestcut.decide_each(scipy_sparse.csr_array(RARE), **x),
            "row 1: ",
            1,
        ),
    ],
    ids=["rows", "columns", "groups", "draws", "sparse"],
)
@pytest.mark.parametrize("floor", [0.5, Certain(0.5, probability=0.5)], ids=str)
def test_a_problem_that_cannot_satisfy_a_condition_is_named(
    call, called, problem, floor
):
    with pytest.raises(bestcut.InfeasibleError) as caught:
        call(at_least={"precision": floor})
    text = str(caught.value)
    assert text.startswith(called)
    assert "`at_least` cannot be satisfied by any prediction with 0 to 3" in text
    assert "This happens in 2 of 4 problems." in text
    assert "Precision(zero_division=1.0)" in text
    assert caught.value.problem == problem
    assert call(at_least={PRECISE: floor}).n_positive.min() == 0  # the cure


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"at_least": 0.9}, TypeError, "`at_least` must map metrics"),
        ({"at_least": {"f1x": 0.9}}, ValueError, "'f1x' is not known"),
        ({"at_least": {"squared_count_error": 1}}, ValueError, "is a loss"),
        ({"at_least": {"f1": np.nan}}, ValueError, "must be finite"),
        ({"goal": 0.1}, TypeError, "`goal` must be one of"),
        ({"goal": Quantile}, TypeError, "not its class"),
    ],
)
def test_what_is_no_goal_or_condition_is_refused(asked, error, message):
    with pytest.raises(error, match=message):
        bestcut.decide_each([[0.5]], **asked)


def test_no_problems_have_no_goal_values():
    many = bestcut.decide_each(np.zeros((0, 3)), goal=Quantile(0.1))
    assert many.goal_value.shape == (0,)
    many = bestcut.decide_each([], groups=[], at_least={Recall(): 0.5})
    assert many.n_positive.shape == (0,)


def test_an_assertion_that_a_problem_is_decided_as_well_can_fail():
    p = np.array([0.9, 0.5, 0.1])
    many = bestcut.decide_each([p], "f1", max_positives=1)
    with pytest.raises(AssertionError):
        assert_as_decide(p, "f1", many, 0, many.labels[0])
    with pytest.raises(AssertionError):
        assert_as_decide(
            p, "f1", bestcut.decide_each([p]), 0, many.labels[0], max_positives=1
        )
