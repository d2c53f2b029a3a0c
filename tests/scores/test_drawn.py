"""The score of draws of probabilities: how sure its quantiles are, and its parts."""

import numpy as np
import pytest

import bestcut
from bestcut import UncertainProbabilities
from bestcut.metrics import from_uvp

BASE = np.linspace(0.1, 0.9, 60)
LABELS = BASE > 0.45
TABLE = np.clip(BASE * np.linspace(0.6, 1.1, 40)[:, None], 0.0, 1.0)


def law_of(table, metric="f1"):
    return bestcut.score_distribution(UncertainProbabilities(table), LABELS, metric)


@pytest.mark.parametrize("q", [0.05, 0.5, 0.95])
def test_the_standard_error_of_a_quantile_is_that_of_drawing_draws_anew(q):
    rng = np.random.default_rng(0)
    again = [law_of(TABLE[rng.integers(40, size=40)]).ppf(q) for _ in range(100)]
    # The spread of 100 values is known to 7 %: four of these, and the law has steps.
    assert law_of(TABLE).quantile_error(q) == pytest.approx(np.std(again), rel=0.4)


@pytest.mark.parametrize("q", [0.02, 0.1, 0.9, 0.98])
def test_two_draws_do_not_reach_the_ends_of_what_is_possible(q):
    law = law_of(TABLE[[0, -1]])
    low, high = law.ppf([0.001, 0.999])
    assert 0.0 < law.quantile_error(q) < high - low


@pytest.mark.parametrize("metric", ["f1", "accuracy", "squared_count_error"])
def test_the_parts_of_the_variance_add_up_to_that_of_all_draws(metric):
    law = law_of(TABLE, metric)
    each = [bestcut.score_distribution(p, LABELS, metric) for p in TABLE]
    means, stds = (np.array([getattr(x, y) for x in each]) for y in ("mean", "std"))
    assert law.std_calibration == pytest.approx(np.std(means), rel=1e-9)
    assert law.std_labels**2 == pytest.approx(np.mean(stds**2), rel=1e-9)
    assert law.std**2 == pytest.approx(np.mean(stds**2) + np.var(means), rel=1e-9)
    mean = bestcut.expected_score(TABLE.mean(axis=0), LABELS, metric)
    assert law.at_mean().mean == pytest.approx(mean, rel=1e-12)


# Draws that lie far apart, close together, and alike, in a large batch.
SCALES = {
    "far": np.linspace(0.05, 1.0, 9),
    "close": np.linspace(0.9, 0.91, 9),
    "two": np.array([0.3, 0.9]),
    "rare": np.linspace(1e-5, 1.0, 5),
    "alike": np.full(3, 0.7),
}


@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("metric", ["f1", "mcc", "false_negative_rate"])
def test_quantiles_of_many_instances_are_those_of_the_mean_of_all_laws(metric, scales):
    p = np.random.default_rng(0).beta(0.5, 3, 8_000)
    table = p * SCALES[scales][:, None]
    labels = p > 0.3
    score = bestcut.score_distribution(UncertainProbabilities(table), labels, metric)
    each = [bestcut.score_distribution(row, labels, metric) for row in table]

    def chance(x):  # of at least x, and of more
        reaching = np.mean([one._utility.reaching(x) for one in each])
        return reaching, np.mean([one._utility.exceeding(x) for one in each])

    for q in (0.001, 0.05, 0.6, 0.95):
        found = score.ppf(q) * score.metric.sign
        reaching, exceeding = chance(found)
        level = q if score.metric.greater_is_better else 1.0 - q
        assert exceeding <= 1.0 - level + 1e-11
        assert reaching >= 1.0 - level - 1e-11
        assert score.prob_at_least(score.ppf(q)) == pytest.approx(reaching, abs=1e-11)


POLE = from_uvp(lambda u, v, p: 1 / (p - 0.5), "pole", zero_division=1e18)
HUGE = bestcut.metrics.Recall(zero_division=-1e18)


@pytest.mark.parametrize("few", [1 << 17, 0])
@pytest.mark.parametrize("metric", [POLE, HUGE], ids=lambda metric: metric.name)
def test_one_huge_score_does_not_blur_how_sure_the_others_are(metric, few, monkeypatch):
    """Rounding is that of each score: a huge one must not make others equal."""
    monkeypatch.setattr("bestcut.scores._pairs.FEW", few)
    law = law_of(TABLE, metric)
    value = law.ppf(0.5)
    chances = [bestcut.score_distribution(p, LABELS, metric).sf(value) for p in TABLE]
    assert law.sf(value) == pytest.approx(np.mean(chances), rel=1e-12)
    apart = np.std(chances, ddof=1) / np.sqrt(len(TABLE))
    found = law._source.level_error(metric, law._utility, 0.5)
    assert 0.0 < found == pytest.approx(apart, rel=1e-9)
