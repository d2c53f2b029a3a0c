"""A condition costs what it must: one that does not bind leaves the decision alone."""

import numpy as np
import pytest

import bestcut
from bestcut.decision import _conditions, _decide
from bestcut.goals import Certain, Mean, ProbAtLeast, Quantile
from bestcut.uncertain import mapped
from groups import slow

NAMES = ["f1", "mcc", "jaccard", "gmean", "squared_count_error"]
CONDITIONS = ["precision", "recall", "f2", "gmean", "markedness", "false_positive_rate"]


def asked(name, wanted):
    """Return the arguments that ask for a value of a metric."""
    is_score = bestcut.metrics.get(name).greater_is_better
    return {"at_least" if is_score else "at_most": {name: wanted}}


def drawn(n, n_draws=4):
    """Return draws that rank alike."""
    rng = np.random.default_rng(n)
    knots = np.sort(rng.random((12, n_draws)), axis=0)
    return mapped(rng.random(n) * 11, knots)


def known(n):
    return np.random.default_rng(n).beta(0.5, 2, n)


def by_every_cut(p, metric, name, wanted, bounds=(0, None)):
    """Return the best score of the cuts that satisfy a condition, by their curves.

    And the bound on the error of each number.
    """
    metric, condition = bestcut.metrics.get(metric), bestcut.metrics.get(name)
    free = bestcut.decide(p, metric)
    if isinstance(wanted, Certain):
        decided = (
            bestcut.decide(p, metric, min_positives=k, max_positives=k)
            for k in range(len(p) + 1)
        )
        value = [x.distribution(condition).prob_at_least(wanted.score) for x in decided]
        met = np.array(value) >= wanted.probability
    else:
        curve = bestcut.decide(p, condition).curve
        value = condition.sign * curve.expected_score
        met = value >= condition.sign * wanted - curve.error
    k = np.arange(len(p) + 1)
    met &= (bounds[0] <= k) & (k <= (len(p) if bounds[1] is None else bounds[1]))
    utility = metric.sign * free.curve.expected_score
    return metric.sign * utility[met].max(), free.curve.error


def levels(p, metric, name):
    """Return values that a condition may ask for: easy ones, at the edge, and hard."""
    condition = bestcut.metrics.get(name)
    at_best = bestcut.decide(p, metric).distribution(condition).mean
    curve = condition.sign * bestcut.decide(p, condition).curve.expected_score
    most, least = condition.sign * curve.max(), condition.sign * curve.min()
    return [(at_best + least) / 2, at_best, (at_best + most) / 2]


@pytest.mark.parametrize("make", [known, drawn])
@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("n", [12, slow(300), slow(2500)])
def test_expected_values_are_reached_by_the_best_of_the_cuts_that_do(make, name, n):
    p = make(n)
    for metric in NAMES:
        for wanted in levels(p, metric, name):
            decision = bestcut.decide(p, metric, **asked(name, wanted))
            best, error = by_every_cut(p, metric, name, wanted)
            assert decision.expected_score == pytest.approx(
                best, abs=2 * error + 2 * decision.error + decision.gap
            )
            assert decision.gap <= 1e-12
            reached = decision.conditions[0]
            sign = reached.metric.sign
            assert sign * reached.reached >= sign * wanted - 1e-11


@pytest.mark.parametrize("make", [known, drawn])
@pytest.mark.parametrize("name", ["precision", "recall", "false_positive_rate"])
@pytest.mark.parametrize("n", [7, slow(40)])
def test_certainty_is_reached_by_the_best_of_the_cuts_that_have_it(make, name, n):
    p = make(n)
    for metric in NAMES:
        for score in levels(p, metric, name):
            for probability in (0.2, 0.95):
                wanted = Certain(score, probability=probability)
                options = asked(name, wanted)
                try:
                    decision = bestcut.decide(p, metric, **options)
                except bestcut.InfeasibleError:
                    with pytest.raises(ValueError, match="zero-size"):
                        by_every_cut(p, metric, name, wanted)
                    continue
                best, error = by_every_cut(p, metric, name, wanted)
                assert decision.expected_score == pytest.approx(
                    best, abs=2 * error + 2 * decision.error + decision.gap
                )


@pytest.mark.parametrize("make", [known, drawn])
def test_budgets_and_conditions_hold_together(make):
    p = make(40)
    for bounds in ((0, 5), (10, 40), (25, 30)):
        options = {"min_positives": bounds[0], "max_positives": bounds[1]}
        for name in ("precision", "recall"):
            alone = bestcut.decide(p, name, **options).expected_score
            for wanted in (0.0, 0.9 * alone):
                decision = bestcut.decide(p, "f1", at_least={name: wanted}, **options)
                best, error = by_every_cut(p, "f1", name, wanted, bounds)
                assert bounds[0] <= decision.n_positive <= bounds[1]
                assert abs(decision.expected_score - best) <= error + decision.error


def never(*_):
    raise AssertionError("every cut was looked at")


@pytest.mark.parametrize("make", [known, drawn])
@pytest.mark.parametrize(
    ("goal", "n"),
    [(Mean(), 100), (Mean(), 3000), (Quantile(0.2), 100), (ProbAtLeast(0.3), 100)],
)
def test_what_does_not_bind_is_not_looked_at_elsewhere(make, goal, n, monkeypatch):
    p = make(n)
    free = bestcut.decide(p, "f1", goal=goal)
    monkeypatch.setattr(_decide, "feasible", never)
    for wanted in (0.01, Certain(0.01), Certain(0.01, probability=0.999)):
        options = {"at_least": {"recall": wanted}, "at_most": {"fpr": 1.0}}
        decision = bestcut.decide(p, "f1", goal=goal, **options)
        assert np.array_equal(decision.labels, free.labels)
        assert decision.goal_value == free.goal_value
        assert (decision.gap, decision.solver) == (free.gap, free.solver)
    binding = {"recall": free.distribution("recall").mean + 1e-3}
    with pytest.raises(AssertionError, match="every cut"):
        bestcut.decide(p, "f1", goal=goal, at_least=binding)


def test_a_cut_without_a_sort_may_satisfy_a_condition(monkeypatch):
    p = np.random.default_rng(1).beta(0.3, 3, 600_000)
    free = bestcut.decide(p, "f1")
    with monkeypatch.context() as patch:
        patch.setattr(_decide, "feasible", never)
        same = bestcut.decide(p, "f1", at_least={"precision": 0.2, "recall": 0.2})
    assert np.array_equal(same.labels, free.labels)
    bound = bestcut.decide(p, "f1", at_least={"precision": 0.8})
    curve = bestcut.decide(p, "precision").curve
    assert curve.expected_score[bound.n_positive] >= 0.8 - curve.error
    assert curve.expected_score[bound.n_positive + 1] < 0.8
    assert bound.n_positive < free.n_positive


@pytest.mark.parametrize("n", [60, 3000])
def test_bounds_on_a_cut_are_no_better_than_it_is(n):
    p = known(n)
    for name in CONDITIONS:
        decision = bestcut.decide(p, "f1")
        prediction, metric = decision._prediction, bestcut.metrics.get(name)
        score = decision.distribution(name)
        for share in (0.3, 0.9, 0.99, 1.0, 1.01):
            wanted = score.mean * share
            utility = metric.sign * wanted
            if _conditions.is_surely_met(prediction, metric, wanted):
                assert metric.sign * score.mean >= utility
            for probability in (0.5, 0.9, 1 - 1e-12):
                sure = Certain(wanted, probability=probability)
                if _conditions.is_surely_met(prediction, metric, sure):
                    assert score.prob_at_least(wanted) >= probability
