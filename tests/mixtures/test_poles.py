"""Goals and conditions tell scores apart that differ, though others are very large."""

from itertools import product

import numpy as np
import pytest

import bestcut
from bestcut.goals import Certain, ProbAtLeast, Quantile
from bestcut.metrics import from_expression

RATIO = from_expression("tp / (fp + 1e-12)")  # 1e12 and more without a false positive
LONG = np.linspace(0.9, 0.05, 60)


def as_given(p, drawn):
    return bestcut.UncertainProbabilities([p, p**1.2]) if drawn else p


def chance(p, labels, score):
    """Return how probable the score is, by the distribution of one prediction."""
    return float(bestcut.score_distribution(p, labels, RATIO).prob_at_least(score))


@pytest.mark.parametrize("drawn", [False, True])
def test_a_condition_with_certainty_is_not_met_by_rounding(drawn):
    p = as_given(np.array([0.5]), drawn)
    with pytest.raises(bestcut.InfeasibleError, match="most"):
        bestcut.decide(p, "recall", at_least={RATIO: Certain(1e-3, 0.9)})
    found = bestcut.decide(p, "recall", at_least={RATIO: Certain(1e-3, 0.4)})
    assert found.labels.tolist() == [True]


@pytest.mark.parametrize("drawn", [False, True])
def test_every_cut_that_meets_a_condition_is_allowed_and_no_other(drawn):
    p = as_given(LONG, drawn)
    chances = [chance(p, np.arange(60) < k, 1.5) for k in range(61)]
    for asked in (0.3, 0.6, 0.9):
        allowed = np.flatnonzero(np.array(chances) >= asked)
        for name, k in (("recall", allowed[-1]), ("specificity", allowed[0])):
            found = bestcut.decide(
                p, name, at_least={RATIO: Certain(1.5, asked)}, min_positives=1
            )
            assert found.n_positive == k


@pytest.mark.parametrize("drawn", [False, True])
def test_the_best_chance_to_reach_a_score_is_found(drawn):
    for p, score in (([0.5], 1e-3), ([0.9, 0.5, 0.4, 0.3], 0.9), (LONG, 1.5)):
        given = as_given(np.array(p), drawn)
        found = bestcut.decide(given, RATIO, goal=ProbAtLeast(score))
        cuts = np.tri(len(p) + 1, len(p), -1, dtype=bool)
        best = max(chance(given, labels, score) for labels in cuts)
        assert found.goal_value >= best - found.gap - 1e-12
        reached = chance(given, found.labels, score)
        assert found.goal_value == pytest.approx(reached, abs=1e-12)


def test_a_quantile_of_draws_is_that_of_the_labels_and_within_its_gap():
    for p, q in product(([0.5], [0.9, 0.5, 0.4, 0.3], LONG), (0.07, 0.31, 0.72)):
        given = as_given(np.array(p), True)
        found = bestcut.decide(given, RATIO, goal=Quantile(q))
        cuts = np.tri(len(p) + 1, len(p), -1, dtype=bool)
        values = [
            bestcut.score_distribution(given, labels, RATIO).ppf(q) for labels in cuts
        ]
        assert found.goal_value == pytest.approx(values[found.n_positive])
        assert found.goal_value >= max(values) * (1 - 1e-12) - found.gap
