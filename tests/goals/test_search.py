"""What the search for a goal proves: no cut is better by more than the gap."""

import numpy as np
import pytest

import bestcut
from bestcut.counts._window import law_of
from bestcut.goals import ProbAtLeast, Quantile
from bestcut.goals._search import GoalSearch
from bestcut.metrics import LinearUtility, from_counts, get
from bestcut.scores._utility import Atoms
from groups import one_in, slow
from helpers import descending


def never_proved(tp, fp, fn, tn):
    """F1 but for a remainder of 0, which no proof follows."""
    return 2 * tp / np.maximum(2 * tp + fp + fn, 1) + 0.0 * ((tp + fp) % 2)


METRICS = {
    **{name: get(name) for name in ("f1", "mcc", "gmean", "jaccard", "precision")},
    "count error": get("squared_count_error"),
    "utility": LinearUtility(tp=10, fp=-3, fn=-1, tn=0.25),
    "costs": from_counts(
        lambda tp, fp, fn, tn: fp + 5 * fn, "costs", greater_is_better=False
    ),
    "not proved": from_counts(never_proved, "not proved"),
}

KINDS = {
    "rare": lambda rng, n: rng.beta(0.3, 3, n),
    "common": lambda rng, n: rng.random(n),
    "confident": lambda rng, n: rng.beta(0.2, 0.2, n),
    "likely": lambda rng, n: rng.beta(5, 0.3, n),
    "tied": lambda rng, n: np.round(rng.random(n), 1),
}


def utility_law(metric, caught, missed):
    """Return the law of the utility, every pair listed."""
    tp, fn = law_of(caught), law_of(missed)
    a, b = tp.counts[:, None], fn.counts
    score = metric.score_cells(a, caught.size - a, b, missed.size - b)
    mass = np.multiply.outer(tp.pmf, fn.pmf)
    score = np.broadcast_to(metric.sign * score, mass.shape)
    return Atoms(score.ravel(), mass.ravel(), sum(mass.shape))


def assert_no_better(found, goal, metric, law):
    """Raise if a law beats what was found by more than the gap says."""
    _, value, gap = found
    room = 4 * law.probability_error  # of the law, of the search's, and of its margin
    if isinstance(goal, ProbAtLeast):
        utility = goal.score if metric.greater_is_better else -goal.score
        assert law.at_least(utility - law.tolerance) <= value + gap + room
    else:
        value = value if metric.greater_is_better else -value
        best = law.quantile(max(goal.q - room, 1e-300))
        assert best <= value + gap + law.value_error


def goals_around(metric, eta, k):
    """Return goals that are neither sure nor hopeless, and one of either kind."""
    law = utility_law(metric, eta[:k], eta[k:])
    sign = 1.0 if metric.greater_is_better else -1.0
    spots = [sign * law.quantile(q) for q in (0.001, 0.3, 0.9, 0.999)]
    return [*map(ProbAtLeast, spots), *map(Quantile, (0.01, 0.05, 0.5, 0.95))]


@pytest.mark.parametrize("n", [120, slow(180)])
@one_in(5, "kind, name", list(KINDS), list(METRICS))
def test_no_allowed_cut_is_better_by_more_than_the_gap(kind, name, n):
    metric = METRICS[name]
    rng = np.random.default_rng([len(kind), len(name)])
    eta = descending(KINDS[kind](rng, n))
    laws = [utility_law(metric, eta[:k], eta[k:]) for k in range(n + 1)]
    start = bestcut.decide(eta, metric).n_positive
    some = rng.random(n + 1) < 0.3
    some[start] = True
    for goal in goals_around(metric, eta, start):
        for first, allowed in ((start, np.ones(n + 1, bool)), (start, some)):
            found = GoalSearch(goal, eta, metric, allowed).run(first)
            k, value, gap = found
            assert allowed[k]
            assert 0 <= gap <= 1e-10 * max(1.0, abs(value))
            for i in np.flatnonzero(allowed):
                assert_no_better(found, goal, metric, laws[i])


@pytest.mark.parametrize("n", [160, slow(300)])
@pytest.mark.parametrize("name", ["f1", "gmean", "count error"])
def test_the_gap_holds_from_any_first_cut(name, n):
    eta = descending(np.random.default_rng(3).beta(0.5, 2, n))
    metric = METRICS[name]
    laws = [utility_law(metric, eta[:k], eta[k:]) for k in range(n + 1)]
    for goal in goals_around(metric, eta, 3 * n // 10):
        for first in (0, 64, n - 1, n):
            found = GoalSearch(goal, eta, metric, np.ones(n + 1, bool)).run(first)
            for law in laws:
                assert_no_better(found, goal, metric, law)


@pytest.mark.parametrize("name", METRICS)
def test_no_prediction_at_all_is_better_by_more_than_the_gap(name):
    metric = METRICS[name]
    rng = np.random.default_rng(len(name))
    for n in (1, 2, 5, 9):
        eta = descending(rng.choice([0.0, 0.1, 0.5, 0.97, 1.0, *rng.random(5)], n))
        masks = (np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1
        laws = [utility_law(metric, eta[mask], eta[~mask]) for mask in masks]
        for goal in goals_around(metric, eta, n // 2):
            found = GoalSearch(goal, eta, metric, np.ones(n + 1, bool)).run(n // 2)
            for law in laws:
                assert_no_better(found, goal, metric, law)


def test_the_comparison_rejects_a_worse_cut():
    eta = descending(np.random.default_rng(1).random(60))
    metric = METRICS["f1"]
    laws = [utility_law(metric, eta[:k], eta[k:]) for k in range(61)]
    only = np.arange(61) == 5
    for goal in (Quantile(0.1), ProbAtLeast(0.6)):
        found = GoalSearch(goal, eta, metric, only).run(5)
        better = max(laws, key=lambda law: law.quantile(0.1))
        with pytest.raises(AssertionError):
            assert_no_better(found, goal, metric, better)


@one_in(3, "name", ["f1", "costs", "count error"])
def test_many_instances_have_no_better_cut_nearby(name):
    metric = METRICS[name]
    eta = descending(np.random.default_rng(8).beta(0.3, 3, 14_000))
    start = bestcut.decide(eta, metric).n_positive
    for goal in goals_around(metric, eta, start)[1::2]:
        found = GoalSearch(goal, eta, metric, np.ones(14_001, bool)).run(start)
        near = found[0] + np.array(
            [-700, -90, -31, -8, -3, -2, -1, 0, 1, 2, 5, 30, 400]
        )
        for k in near.clip(0, 14_000):
            law = utility_law(metric, eta[:k], eta[k:])
            assert_no_better(found, goal, metric, law)
