"""Goals and constraints find the best of all cuts, each with its own distribution."""

import numpy as np
import pytest

import bestcut
from bestcut.goals import Mean, ProbAtLeast, Quantile
from bestcut.metrics import LinearUtility, from_counts, from_rates
from groups import one_in, slow


def top(p, k):
    labels = np.zeros(p.size, dtype=bool)
    labels[np.argsort(-p, kind="stable")[:k]] = True
    return labels


def capped_recall(tp, fp, fn, tn):
    """Recall, if no more than 30 are chosen; worth less than half of it otherwise."""
    recall = tp / np.maximum(tp + fn, 1)
    return np.where(tp + fp <= 30, recall, 0.4 * recall)


BRUTE = {
    **{
        name: bestcut.metrics.get(name)
        for name in ("f1", "mcc", "gmean", "jaccard", "cohen_kappa", "precision")
    },
    "count error": bestcut.metrics.get("squared_count_error"),
    "utility": LinearUtility(tp=10, fp=-3, fn=-1, tn=0.25),
    "worst rate": from_rates(lambda tpr, tnr, p: np.minimum(tpr, tnr), "worst rate"),
    "fewer is better": from_counts(
        lambda tp, fp, fn, tn: tp / (1 + tp + fn) - ((tp + fp) // 7 % 2) / 5, "odd"
    ),
    "loss": from_counts(
        lambda tp, fp, fn, tn: 2 * fp + 5 * fn, "costs", greater_is_better=False
    ),
    # Monotonic for the few instances that are checked, not in the number predicted.
    "capped recall": from_counts(capped_recall, "capped recall"),
}


def brute_goal(goal, distribution):
    """Return the value of a goal, larger is better."""
    better = distribution.metric.greater_is_better
    if isinstance(goal, Mean):
        return distribution.mean if better else -distribution.mean
    if isinstance(goal, ProbAtLeast):
        return distribution.prob_at_least(goal.score)
    if better:
        return distribution.ppf(goal.q)
    # From the bad side: the largest x with P(loss >= x) >= q. Found from below.
    upper = distribution.ppf(1 - goal.q)
    beyond = np.nextafter(upper, np.inf) + 4 * distribution.value_error
    enough = distribution.surprise(beyond).prob_higher
    if enough >= goal.q - distribution.probability_error:
        level = min(1 - goal.q + 4 * distribution.probability_error, 1.0)
        upper = distribution.ppf(level)
    return -upper


def assert_best_cut(p, metric, goal, cuts, distributions, allowed=None, **kwargs):
    decision = bestcut.decide(p, metric, goal=goal, **kwargs)
    values = {k: brute_goal(goal, distributions[k]) for k in cuts}
    if allowed is not None:
        assert allowed[decision.n_positive]
        values = {k: v for k, v in values.items() if allowed[k]}
    sign = -1 if isinstance(goal, Quantile) and not metric.greater_is_better else 1
    if isinstance(goal, Mean) and not metric.greater_is_better:
        sign = -1
    claimed = sign * decision.goal_value
    size = max(1.0, *(abs(v) for v in values.values()))
    best = max(values.values())
    case = (
        f"{goal} of {metric.name}: {decision!r}, best cut {max(values, key=values.get)}"
    )
    assert claimed == pytest.approx(best, abs=1e-11 * size, rel=0), case
    own = brute_goal(goal, decision.distribution())
    assert claimed == pytest.approx(own, abs=1e-11 * size, rel=0), case
    mean = decision.distribution()
    slack = decision.error + mean.error
    assert decision.expected_score == pytest.approx(mean.mean, abs=slack, rel=0), case


def goals_for(distributions):
    """Return goals that are neither sure nor hopeless."""
    middle = distributions[len(distributions) // 3]
    spots = [middle.mean, middle.mean + middle.std, middle.mean - 2 * middle.std]
    best = max(
        distributions, key=lambda d: d.mean * (1 if d.metric.greater_is_better else -1)
    )
    spots += [best.mean, best.ppf(0.9), best.ppf(0.1)]
    return [ProbAtLeast(x) for x in spots] + [
        Quantile(q) for q in (0.05, 0.3, 0.5, 0.9)
    ]


@pytest.mark.parametrize("n", [40, slow(60)])
@one_in(2, "name", BRUTE.keys())
def test_goals_find_the_best_of_all_cuts(name, n):
    metric = BRUTE[name]
    rng = np.random.default_rng(len(name))
    for p in (rng.beta(0.5, 2, size=n), np.round(rng.random(2 * n // 3), 1)):
        cuts = range(p.size + 1)
        distributions = [bestcut.score_distribution(p, top(p, k), metric) for k in cuts]
        for goal in goals_for(distributions):
            assert_best_cut(p, metric, goal, cuts, distributions)
        low, high = 7, 15
        allowed = np.array([low <= k <= high for k in cuts])
        bounds = {"min_positives": low, "max_positives": high}
        for goal in (ProbAtLeast(distributions[low].mean), Quantile(0.2)):
            assert_best_cut(p, metric, goal, cuts, distributions, allowed, **bounds)


@pytest.mark.parametrize("name", ["f1", "mcc", "count error", "capped recall"])
def test_goals_find_the_best_of_all_cuts_of_more_instances(name):
    metric = BRUTE[name]
    rng = np.random.default_rng(7)
    p = rng.beta(0.4, 3, size=150)
    cuts = range(p.size + 1)
    distributions = [bestcut.score_distribution(p, top(p, k), metric) for k in cuts]
    for goal in goals_for(distributions)[3:9]:
        assert_best_cut(p, metric, goal, cuts, distributions)


def late_prize(tp, fp, fn, tn, dent=0.0):
    """Precision for up to 30 chosen; beyond, a prize for 74%; from 50 on, 0.9."""
    chosen = tp + fp
    precision = tp / np.maximum(chosen, 1) - dent * (chosen == 3)
    beyond = np.where(chosen >= 50, 0.9, 1.1 * (precision >= 0.74))
    return np.where(chosen <= 30, precision, beyond)


# Never falls in TP, for any n. But it may be worse to correct a prediction, and bounds
# on ranges of cuts would rely on that: with a dent, few instances show it already.
@pytest.mark.parametrize("dent", [0.0, 1e-3])
def test_no_cut_is_left_out_by_bounds_that_do_not_hold(dent):
    metric = from_counts(
        lambda tp, fp, fn, tn: late_prize(tp, fp, fn, tn, dent), "late prize"
    )
    p = np.repeat([0.8, 0.02], 30)
    cuts = range(61)
    distributions = [bestcut.score_distribution(p, top(p, k), metric) for k in cuts]
    for goal in (ProbAtLeast(1.05), Quantile(0.5)):
        assert_best_cut(p, metric, goal, cuts, distributions)


@pytest.mark.parametrize("metric", [LinearUtility(tp=10, fp=-0.3), "f2", "mcc"])
def test_rare_positives_have_bounds_of_their_own(metric):
    # Fewer positives than any cut of interest: ranges are bounded another way then.
    metric = bestcut.metrics.get(metric)
    p = np.random.default_rng(17).beta(0.3, 6, size=160)
    cuts = range(p.size + 1)
    distributions = [bestcut.score_distribution(p, top(p, k), metric) for k in cuts]
    at = bestcut.decide(p, metric).distribution()
    spots = [at.mean + x * at.std for x in (-1.5, 0.5, 2, 3)]
    for goal in (*map(ProbAtLeast, spots), Quantile(0.05), Quantile(0.9)):
        assert_best_cut(p, metric, goal, cuts, distributions)


def nearby_and_spread(best, n, near, spread):
    return sorted(
        {k for k in range(best - near, best + near + 1) if 0 <= k <= n}
        | set(np.linspace(0, n, spread).astype(int).tolist())
    )


def assert_large_goals(p, metric, near, spread):
    for make in (ProbAtLeast, Quantile):
        at = bestcut.decide(p, metric).distribution()
        spot = at.mean + 0.7 * at.std if make is ProbAtLeast else 0.1
        goal = make(spot)
        best = bestcut.decide(p, metric, goal=goal).n_positive
        cuts = nearby_and_spread(best, p.size, near, spread)
        distributions = {
            k: bestcut.score_distribution(p, top(p, k), metric) for k in cuts
        }
        assert_best_cut(p, metric, goal, cuts, distributions)


@pytest.mark.parametrize("name", ["f1", "count error"])
def test_no_cut_near_or_far_beats_that_of_many_instances(name):
    p = np.random.default_rng(3).beta(0.5, 4, size=2000)
    assert_large_goals(p, BRUTE[name], near=6, spread=12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f1", "gmean", "mcc", "jaccard", "count error"])
def test_no_cut_at_all_beats_that_of_many_instances(name):
    p = np.random.default_rng(4).beta(0.5, 4, size=2000)
    assert_large_goals(p, BRUTE[name], near=2000, spread=2)


CONSTRAINED = {
    "precision": ("f1", {"precision": 0.7}),
    "recall": ("precision", {"recall": 0.613}),
    "both": ("f2", {"precision": 0.45, "recall": 0.5}),
    "a loss under a constraint": ("squared_count_error", {"precision": 0.72}),
    "own metric": ("mcc", {LinearUtility(tp=1, fp=-1, name="net"): 3.21}),
    "zero division": (
        "recall",
        {bestcut.metrics.Precision(zero_division=1.0): 0.87},
    ),
}


@pytest.mark.parametrize("kind", CONSTRAINED)
def test_constraints_find_the_best_of_all_cuts(kind):
    name, at_least = CONSTRAINED[kind]
    metric = bestcut.metrics.get(name)
    p = np.random.default_rng(11).beta(0.5, 1.5, size=90)
    cuts = range(p.size + 1)
    allowed = np.array(
        [
            all(
                bestcut.expected_score(p, top(p, k), other) >= floor
                for other, floor in at_least.items()
            )
            for k in cuts
        ]
    )
    assert 0 < allowed.sum() < allowed.size
    distributions = [bestcut.score_distribution(p, top(p, k), metric) for k in cuts]
    free = bestcut.decide(p, metric).distribution()
    for goal in (Mean(), Quantile(0.1), Quantile(0.5), ProbAtLeast(free.mean)):
        assert_best_cut(
            p, metric, goal, cuts, distributions, allowed, at_least=at_least
        )


@pytest.mark.parametrize("goal", [Mean(), Quantile(0.2), ProbAtLeast(0.6)], ids=str)
def test_the_comparison_rejects_a_worse_cut(goal, monkeypatch):
    p, metric = np.random.default_rng(2).beta(0.5, 2, size=40), BRUTE["f1"]
    cuts = range(41)
    distributions = [bestcut.score_distribution(p, top(p, k), metric) for k in cuts]
    assert_best_cut(p, metric, goal, cuts, distributions)
    real = bestcut.decide
    monkeypatch.setattr(
        bestcut, "decide", lambda *args, **kw: real(*args, min_positives=35, **kw)
    )
    with pytest.raises(AssertionError):
        assert_best_cut(p, metric, goal, cuts, distributions)
