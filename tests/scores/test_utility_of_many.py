"""The law of many instances agrees with both exact counts, and with simulation."""

from math import comb

import numpy as np
import pytest

import bestcut
from bestcut.metrics import from_counts
from scores.known import EVERY_NAME, direct_law


def wave(tp, fp, fn, tn):
    return np.sin(0.05 * tp) * (fn + 1) / (tp + fn + 1) + 1e-3 * (fp % 3)


LARGE = {
    **{
        name: bestcut.metrics.get(name)
        for name in ("f1", "mcc", "gmean", "jaccard", "accuracy", "squared_count_error")
    },
    "wave": from_counts(wave, "wave"),
}


def large_problems(n):
    rng = np.random.default_rng(n)
    rare, common = rng.beta(0.5, 5, size=n), rng.beta(2, 2, size=n)
    yield rare, bestcut.decide(rare, "f1").labels
    yield common, rng.random(n) < 0.3
    sure = np.where(rng.random(n) < 0.5, rng.choice([0.0, 1.0], n), 0.5 * rare)
    yield sure, sure > 0.3


def assert_large(p, labels, metric):
    scores, masses = direct_law(p, labels, metric)
    distribution = bestcut.score_distribution(p, labels, metric)
    size = max(1.0, float(np.abs(scores).max()))
    assert distribution.error <= 1e-9 * size
    assert 0 < distribution.probability_error <= 1e-9
    assert distribution.value_error <= 1e-3 * distribution.std
    mean = float(scores @ masses)
    rounding = 1e-13 * size
    assert abs(distribution.mean - mean) <= distribution.error + rounding
    std = float(np.sqrt((scores - mean) ** 2 @ masses))
    assert distribution.std == pytest.approx(std, rel=1e-6)

    chance_slack = distribution.probability_error + 1e-13
    likely = float(scores[np.argmax(masses)])  # a value that is reached exactly
    between = mean + std * np.linspace(-4, 4, 9)
    for c in (likely, *between.tolist()):
        near = 1e-14 * size
        at_least = float(masses[scores >= c - near].sum())
        at_most = float(masses[scores <= c + near].sum())
        good = at_least if metric.greater_is_better else at_most
        assert abs(distribution.prob_at_least(c) - good) <= chance_slack
        surprise = distribution.surprise(c)
        assert abs(surprise.prob_lower - at_most) <= chance_slack
        assert abs(surprise.prob_higher - at_least) <= chance_slack

    room = distribution.value_error + 1e-13 * size
    for q in (0.001, 0.05, 0.3, 0.5, 0.95, 0.999):
        x = distribution.ppf(q)
        assert masses[scores <= x + room].sum() >= q - 2 * chance_slack
        assert masses[scores < x - room].sum() <= q + chance_slack


@pytest.mark.parametrize("name", LARGE)
def test_a_thousand_instances_agree_with_the_sum_over_both_laws(name):
    for p, labels in large_problems(1000):
        assert_large(p, labels, LARGE[name])


@pytest.mark.parametrize("name", LARGE)
def test_ten_thousand_instances_agree_with_the_sum_over_both_laws(name):
    problems = list(large_problems(10_000))
    p, labels = problems[list(LARGE).index(name) % len(problems)]
    assert_large(p, labels, LARGE[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("n", [10_000, 100_000])
def test_very_many_instances_agree_with_the_sum_over_both_laws(name, n):
    for p, labels in large_problems(n):
        assert_large(p, labels, LARGE[name])


@pytest.mark.parametrize("side", ["few predicted", "few not predicted", "none", "all"])
def test_lopsided_predictions_agree_with_the_sum_over_both_laws(side):
    rng = np.random.default_rng(21)
    n = 3000
    p = rng.beta(0.5, 3, size=n)
    few = np.zeros(n, dtype=bool)
    few[rng.choice(n, 7, replace=False)] = True
    labels = {
        "few predicted": few,
        "few not predicted": ~few,
        "none": np.zeros(n, dtype=bool),
        "all": np.ones(n, dtype=bool),
    }[side]
    for name in EVERY_NAME:
        metric = bestcut.metrics.get(name)
        scores, masses = direct_law(p, labels, metric)
        distribution = bestcut.score_distribution(p, labels, metric)
        slack = distribution.probability_error + 1e-13
        mean = float(scores @ masses)
        assert abs(distribution.mean - mean) <= distribution.error + 1e-13, name
        for c in (mean - 0.01, mean, mean + 0.01):
            good = scores >= c if metric.greater_is_better else scores <= c
            chance = float(masses[good].sum())
            assert abs(distribution.prob_at_least(c) - chance) <= slack, name


def simulated_scores(rng, p, labels, metric, draws):
    """Return the score in `draws` simulated outcomes, instance by instance."""
    tp, fn = np.empty(draws), np.empty(draws)
    step = max(1, 4_000_000 // p.size)
    for i in range(0, draws, step):
        actual = rng.random((min(step, draws - i), p.size), dtype=np.float32) < p
        tp[i : i + step] = np.count_nonzero(actual[:, labels], axis=1)
        fn[i : i + step] = np.count_nonzero(actual[:, ~labels], axis=1)
    k, n = float(labels.sum()), float(p.size)
    return np.broadcast_to(metric.score(tp, k, tp + fn, n), draws)


def assert_simulated(n, draws):
    rng = np.random.default_rng(n + 1)
    for p, labels in large_problems(n):
        # Single precision decides the outcomes: make the probabilities fit it.
        p = np.round(p * 2**20) / 2**20
        for name, metric in LARGE.items():
            scores = simulated_scores(rng, p, labels, metric, draws)
            distribution = bestcut.score_distribution(p, labels, metric)
            room = distribution.value_error + 1e-12 * np.abs(scores).max()
            for q in (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99):
                x = distribution.ppf(q)
                noise = 5 * np.sqrt(q * (1 - q) / draws)
                assert np.mean(scores <= x + room) >= q - noise, (name, q)
                assert np.mean(scores < x - room) <= q + noise, (name, q)
            spread = 5 * distribution.std / np.sqrt(draws)
            assert abs(scores.mean() - distribution.mean) <= spread + room
            c = float(np.median(scores))
            good = scores >= c if metric.greater_is_better else scores <= c
            chance = distribution.prob_at_least(c)
            noise = 5 * np.sqrt(max(chance * (1 - chance), 1 / draws) / draws)
            assert abs(good.mean() - chance) <= noise, name


def test_quantiles_agree_with_simulated_outcomes():
    assert_simulated(200, 10_000)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "draws"), [(1000, 200_000), (10_000, 20_000)])
def test_quantiles_agree_with_many_simulated_outcomes(n, draws):
    assert_simulated(n, draws)


def test_the_comparisons_reject_the_law_of_other_labels(monkeypatch):
    p, labels = next(large_problems(1000))
    assert_large(p, labels, LARGE["f1"])
    real = bestcut.score_distribution

    def of_other_labels(p, labels, metric):
        return real(p, np.roll(labels, 1), metric)

    monkeypatch.setattr(bestcut, "score_distribution", of_other_labels)
    with pytest.raises(AssertionError):
        assert_large(p, labels, LARGE["f1"])
    with pytest.raises(AssertionError):
        assert_simulated(200, 1000)


BUMP = from_counts(
    lambda tp, fp, fn, tn: tp - 1000 * ((tp == 2000) & (fn == 2003)), "one bad case"
)


@pytest.mark.parametrize("draws", [None, 2])
def test_a_metric_that_falls_at_one_confusion_matrix_in_millions(draws):
    """Where no small confusion matrix shows it, only a proof may say that it rises."""
    p, labels = np.full(8000, 0.5), np.arange(8000) < 4000
    given = p if draws is None else bestcut.UncertainProbabilities([p] * draws)
    distribution = bestcut.score_distribution(given, labels, BUMP)
    low, fallen = (comb(4000, k) / 2**4000 for k in (2000, 2003))
    # TP is below 1500 with a probability of 3e-57.
    right = 1 - low * fallen
    found = distribution.prob_at_least(1500)
    assert abs(found - right) <= distribution.probability_error < 1e-10


def test_a_refusal_says_the_chance_that_is_there():
    p = np.full(8000, 0.5)
    asked = bestcut.goals.Certain(1500, probability=0.9999)
    low, fallen = (comb(4000, k) / 2**4000 for k in (2000, 2003))
    with pytest.raises(ValueError, match="cannot be satisfied") as refusal:
        bestcut.decide(
            p, "f1", at_least={BUMP: asked}, min_positives=4000, max_positives=4000
        )
    assert f"with probability {1 - low * fallen:.6g} (" in str(refusal.value)
