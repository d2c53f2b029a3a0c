"""Conditions with certainty are broken as often as they say, over 2,000 batches."""

import numpy as np
import pytest

import bestcut
from bestcut.uncertain import mapped

N_BATCHES, N_LABELS, N_DRAWS = 100, 20, 30


def maps(rng):
    """Return maps that differ as those of a calibration from few labels do."""
    base = np.linspace(-4, 5, 40)[:, None]
    slopes = np.exp(rng.normal(0, 0.15, N_DRAWS))
    return 1 / (1 + np.exp(-(rng.normal(0, 0.5, N_DRAWS) + base * slopes)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("condition", "least"), [("precision", 0.9), ("recall", 0.8), ("f1", 0.75)]
)
def test_a_condition_is_broken_as_often_as_is_said(condition, least):
    rng = np.random.default_rng(0)
    metric = bestcut.metrics.get(condition)
    sure = bestcut.goals.Certain(least, probability=0.95)
    broken, stated = [], []
    for _ in range(N_BATCHES):
        n = int(rng.integers(60, 200))
        p = mapped(rng.random(n) * 39, maps(rng))
        try:
            decision = bestcut.decide(p, "f1", at_least={condition: sure})
        except bestcut.InfeasibleError:
            continue
        chance = decision.distribution(condition).prob_at_least(least)
        assert chance >= 0.95 - 1e-12
        table = p.draws()
        for _ in range(N_LABELS):
            y = rng.random(n) < table[rng.integers(N_DRAWS)]
            tp = int((y & decision.labels).sum())
            score = metric(tp, decision.n_positive, int(y.sum()), n)
            broken.append(float(score) < least - 1e-12)
            stated.append(1 - chance)
    assert len(broken) >= 1000
    error = np.sqrt(np.mean(stated) * (1 - np.mean(stated)) / len(broken))
    # Labels of one batch share its decision: allow for that.
    assert abs(np.mean(broken) - np.mean(stated)) <= 3 * error
    assert np.mean(broken) <= 0.065
