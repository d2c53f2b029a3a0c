"""Decisions over draws against all predictions and all labels."""

import numpy as np
import pytest

import bestcut
from bestcut.goals import ProbAtLeast, Quantile
from groups import one_in
from mixtures.known import (
    METRICS,
    chances,
    position,
    quantile,
    ranked_draws,
    scores,
)

ROUNDING = 1e-12
DRAWS = {
    "alike": ranked_draws(0, 10, 5),
    "tied": ranked_draws(1, 7, 4, ties=True),
    "certain": np.array([[0.0, 0.3, 1.0, 1.0], [0.0, 0.0, 0.9, 1.0]]),
    "one draw": ranked_draws(2, 6, 1),
    "one instance": np.array([[0.2], [0.9]]),
    "different": np.random.default_rng(3).random((5, 7)),
    "opposite": np.array([[0.9, 0.1, 0.5], [0.1, 0.9, 0.5]]),
}
each_draws = pytest.mark.parametrize("draws", DRAWS.values(), ids=DRAWS)
each_draws_and_metric = one_in(2, "draws, metric", DRAWS, METRICS)


@each_draws_and_metric
def test_no_prediction_is_better_than_the_gap_allows(draws, metric):
    p = bestcut.UncertainProbabilities(draws)
    expected = scores(metric, draws.shape[1]) @ chances(draws)
    decision = bestcut.decide(p, metric)
    at = position(decision.labels)
    assert abs(decision.expected_score - expected[at]) <= decision.error + ROUNDING
    best = np.max(metric.sign * expected)
    reached = metric.sign * decision.expected_score
    assert best <= reached + decision.error + decision.gap + ROUNDING
    if p.one_ranking:
        assert decision.gap <= 1e-11


@each_draws_and_metric
def test_goals_are_met_as_well_as_by_any_prediction(draws, metric):
    p, sign = bestcut.UncertainProbabilities(draws), metric.sign
    table, chance = scores(metric, draws.shape[1]), chances(draws)
    middle = float(np.median(table))
    for goal in (Quantile(0.1), Quantile(0.6), ProbAtLeast(middle)):
        decision = bestcut.decide(p, metric, goal=goal)
        if isinstance(goal, ProbAtLeast):
            values = (sign * table >= sign * middle - ROUNDING) @ chance
            reached = decision.goal_value
        else:
            values = np.array([quantile(sign * row, chance, goal.q) for row in table])
            reached = sign * decision.goal_value
        assert abs(values[position(decision.labels)] - reached) <= 1e-9
        assert values.max() <= reached + decision.gap + 1e-9
        if p.one_ranking:
            assert decision.gap <= 1e-9


@one_in(
    2,
    "draws, metric, condition",
    DRAWS,
    ["f1", "mcc"],
    ["precision", "recall", "f1", "accuracy"],
)
def test_conditions_hold_and_cost_no_more_than_they_must(draws, metric, condition):
    p, n = bestcut.UncertainProbabilities(draws), draws.shape[1]
    chance, chosen = chances(draws), bestcut.metrics.get(metric)
    expected = scores(chosen, n) @ chance
    conditioned = scores(bestcut.metrics.get(condition), n)
    for least in (0.3, 0.6, 0.9):
        sure = (conditioned >= least - ROUNDING) @ chance
        for asked, satisfied in (
            (least, conditioned @ chance >= least - ROUNDING),
            (bestcut.goals.Certain(least, 0.7), sure >= 0.7 - ROUNDING),
            (bestcut.goals.Certain(least, 0.3), sure >= 0.3 - ROUNDING),
        ):
            try:
                decision = bestcut.decide(p, metric, at_least={condition: asked})
            except bestcut.InfeasibleError as refusal:
                known = "is not known" not in str(refusal)
                assert not (known and satisfied.any())
                assert known or not p.one_ranking
                continue
            assert satisfied[position(decision.labels)]
            allowed = decision.expected_score + decision.error + decision.gap
            assert expected[satisfied].max() <= allowed + ROUNDING


@each_draws_and_metric
def test_distributions_are_those_of_the_mixture(draws, metric):
    n = draws.shape[1]
    p, chance = bestcut.UncertainProbabilities(draws), chances(draws)
    labels = np.arange(n) % 2 == 0
    row = scores(metric, n)[position(labels)]
    law = bestcut.score_distribution(p, labels, metric)
    assert abs(law.mean - row @ chance) <= law.error + ROUNDING
    assert abs(law.std**2 - (row - row @ chance) ** 2 @ chance) <= 1e-10
    by_draw = np.array([row @ chances(one[None]) for one in draws])
    assert abs(law.std_calibration - by_draw.std()) <= 1e-9
    assert abs(law.std_labels**2 + law.std_calibration**2 - law.std**2) <= ROUNDING
    for q in (0.05, 0.5, 0.95):
        assert abs(law.ppf(q) - quantile(row, chance, q)) <= 1e-9
    at = float(np.median(row))
    better = metric.sign * row >= metric.sign * at - ROUNDING
    assert abs(law.prob_at_least(at) - chance[better].sum()) <= ROUNDING


@each_draws
def test_confusion_is_that_of_the_mixture(draws):
    n = draws.shape[1]
    labels = np.arange(n) % 2 == 0
    cells = bestcut.expected_confusion(bestcut.UncertainProbabilities(draws), labels)
    caught = draws[:, labels].sum(axis=1)
    assert abs(cells.mean.tp - caught.mean()) <= ROUNDING
    inside = draws[:, labels] * (1 - draws[:, labels])
    assert abs(cells.std.tp**2 - inside.sum(axis=1).mean() - caught.var()) <= ROUNDING
    assert cells.matrix.sum() == pytest.approx(n)


@each_draws_and_metric
def test_the_curve_is_the_mean_of_the_curves_of_all_draws(draws, metric):
    p = bestcut.UncertainProbabilities(draws)
    order = np.argsort(-p.mean, kind="stable")
    curve = bestcut.decide(p, metric).curve
    for k in curve.n_positive:
        labels = np.isin(np.arange(len(p)), order[:k])
        each = [bestcut.expected_score(one, labels, metric) for one in draws]
        assert abs(curve.expected_score[k] - np.mean(each)) <= curve.error + 1e-12
