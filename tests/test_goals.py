"""decide() with goals and constraints reaches the best of all label vectors."""

import dataclasses
import pickle
import re
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestcut
from bestcut.goals import Mean, ProbAtLeast, Quantile
from bestcut.metrics import FBeta, LinearUtility, from_counts, from_rates
from oracles.definitions import DEFINITIONS, LOSSES
from oracles.enumeration import UNIT, best_over_all_labels, laws_of_all_labels
from oracles.outcomes import chances_of_all_labels, quantiles_of_all_labels

TOLERANCE = Fraction(1, 10**12)
NAMES = bestcut.metrics.names(aliases=False)


def metric_of(name, zero_division):
    metric = bestcut.metrics.get(name)
    if not hasattr(metric, "zero_division"):
        return metric
    return dataclasses.replace(metric, zero_division=zero_division)


@cache
def cached(name):
    """Return the definition, computed once for each confusion matrix."""
    return cache(DEFINITIONS[name])


def adversarial(rng, n):
    """Numerators over 64: all equal, certain, tied, rare, confident or anything."""
    kinds = (
        lambda: np.full(n, rng.integers(0, 65)),
        lambda: rng.choice([0, 64], size=n),
        lambda: rng.choice(rng.integers(0, 65, size=2), size=n),
        lambda: rng.choice([0, 1, 2, 64], size=n),
        lambda: rng.choice([0, 62, 63, 64], size=n),
        lambda: rng.integers(0, 65, size=n),
        lambda: np.rint(64 * rng.beta(0.3, 2, size=n)),
        lambda: np.rint(64 * rng.beta(3, 0.5, size=n)),
    )
    weights = np.array([1, 1, 1, 1, 1, 4, 2, 2]) / 13
    return [int(x) for x in kinds[rng.choice(len(kinds), p=weights)]()]


def bounds_of(rng, n):
    """Return bounds on the number of positives, most often none."""
    if rng.random() < 0.6:
        return 0, n
    low, high = sorted(rng.integers(0, n + 1, size=2).tolist())
    return low, high


class Problem:
    """One vector of probabilities, and all its label vectors."""

    def __init__(self, rng, n):
        self.p64 = adversarial(rng, n)
        self.p = np.array(self.p64) / UNIT
        self.laws = laws_of_all_labels(self.p64)
        self.low, self.high = bounds_of(rng, n)
        sizes = np.bitwise_count(np.arange(2**n))
        self.allowed = (sizes >= self.low) & (sizes <= self.high)

    def decide(self, metric, **kwargs):
        return bestcut.decide(
            self.p,
            metric,
            min_positives=self.low,
            max_positives=self.high,
            **kwargs,
        )

    def expected(self, name, zero_division):
        zero_division = Fraction(zero_division)
        _, scores = best_over_all_labels(self.laws, cached(name), zero_division)
        return [scores[m] for m in range(len(scores))]


def mask_of(labels):
    return sum(1 << i for i, label in enumerate(labels) if label)


def best_of(values, feasible, *, loss=False):
    chosen = [v for v, possible in zip(values, feasible, strict=True) if possible]
    return min(chosen) if loss else max(chosen)


def assert_best_chance(problem, decision, name, zero_division, c, feasible):
    """Raise unless the decision has the best P(at least as good as c)."""
    _, chances = chances_of_all_labels(
        problem.laws, cached(name), Fraction(zero_division), c, loss=name in LOSSES
    )
    own = chances.of(decision.labels)
    values = [chances[m] for m in range(len(chances))]
    best = best_of(values, feasible)
    case = f"{name} {float(c)} of {problem.p64}: {decision!r}"
    assert feasible[mask_of(decision.labels)], case
    assert abs(Fraction(decision.goal_value) - own) <= TOLERANCE, case
    assert best - own <= TOLERANCE, case


def assert_best_quantile(problem, decision, name, zero_division, q, feasible):
    """Raise unless the decision has the best q-quantile, from the bad side."""
    loss = name in LOSSES
    level, nearly = (
        quantiles_of_all_labels(
            problem.laws, cached(name), Fraction(zero_division), at, loss=loss
        )
        for at in (q, q - TOLERANCE)  # a level within the error counts as reached
    )
    value, mask = Fraction(decision.goal_value), mask_of(decision.labels)
    case = f"{name} {float(q)} of {problem.p64}: {decision!r}"
    assert feasible[mask], case
    for ends in (
        (nearly[mask], level[mask]),
        [best_of(values, feasible, loss=loss) for values in (nearly, level)],
    ):
        assert min(ends) - TOLERANCE <= value <= max(ends) + TOLERANCE, case


def some_values(rng, problem, name, zero_division, count):
    """Return scores that some labels may have, and others."""
    n = len(problem.p64)
    out = [Fraction(int(rng.integers(1, 10)), 10)]
    for _ in range(count):
        tp, fp, fn, tn = rng.multinomial(n, [0.3, 0.2, 0.2, 0.3]).tolist()
        out.append(cached(name)(tp, fp, fn, tn, Fraction(zero_division)))
    return out


@pytest.mark.parametrize("seed", range(4))
def test_goals_reach_the_best_of_all_label_vectors(seed):
    rng = np.random.default_rng(seed)
    for n in (1, 2, 3, 4, 5, 6, 7, int(rng.integers(8, 11))):
        problem = Problem(rng, n)
        names = rng.choice(NAMES, size=5, replace=False).tolist()
        for name in {"f1", "squared_count_error", *names}:
            zero_division = int(rng.random() < 0.25)
            metric = metric_of(name, zero_division)
            for c in some_values(rng, problem, name, zero_division, 2):
                decision = problem.decide(metric, goal=ProbAtLeast(float(c)))
                assert_best_chance(
                    problem, decision, name, zero_division, c, problem.allowed
                )
            for q in rng.choice([0.05, 0.1, 0.25, 0.5, 0.75, 0.9], 2, replace=False):
                decision = problem.decide(metric, goal=Quantile(float(q)))
                q = Fraction(float(q))
                assert_best_quantile(
                    problem, decision, name, zero_division, q, problem.allowed
                )


def numbers_in(text):
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


SCORES = [name for name in NAMES if name not in LOSSES]


@pytest.mark.parametrize("seed", range(6))
def test_constraints_leave_the_best_of_the_label_vectors_that_satisfy_them(seed):
    rng = np.random.default_rng(100 + seed)
    infeasible = 0
    for n in (1, 2, 3, 4, 5, 6, 7, 8, int(rng.integers(9, 11))) * 2:
        problem = Problem(rng, n)
        name = str(rng.choice(NAMES))
        zero_division = int(rng.random() < 0.25)
        metric, loss = metric_of(name, zero_division), name in LOSSES
        floors, expected, at_least = {}, {}, {}
        for other in rng.choice(SCORES, size=rng.integers(1, 3), replace=False):
            other, empty = str(other), int(rng.random() < 0.25)
            expected[other] = problem.expected(other, empty)
            reach = [expected[other][m] for m in np.flatnonzero(problem.allowed)]
            share = Fraction(float(rng.choice([0.2, 0.6, 0.9, 0.99, 1.0, 1.02])))
            floor = min(reach) + share * (max(reach) - min(reach))
            floors[other] = Fraction(float(floor))
            at_least[metric_of(other, empty)] = float(floor)
        strictly, nearly = (
            problem.allowed
            & np.array(
                [
                    all(expected[x][m] >= floors[x] - slack for x in floors)
                    for m in range(2**n)
                ]
            )
            for slack in (0, TOLERANCE)
        )
        if not nearly.any():
            infeasible += 1
            with pytest.raises(bestcut.InfeasibleError) as info:
                problem.decide(metric, at_least=at_least)
            told = numbers_in(str(info.value))
            for other, values in expected.items():
                best = float(best_of(values, problem.allowed))
                assert other in str(info.value)
                assert min(abs(x - best) for x in told) <= 1e-5, (best, str(info.value))
            continue
        # Where the bound is as good as met, the answer may go either way.
        decision = problem.decide(metric, at_least=at_least)
        own = problem.expected(name, zero_division)
        ends = [best_of(own, nearly, loss=loss)]
        if strictly.any():
            ends.append(best_of(own, strictly, loss=loss))
        value = own[mask_of(decision.labels)]
        assert nearly[mask_of(decision.labels)]
        assert min(ends) - TOLERANCE <= value <= max(ends) + TOLERANCE
        assert abs(Fraction(decision.expected_score) - value) <= decision.error
        assert decision.goal_value == decision.expected_score
        if np.array_equal(nearly, strictly):
            c = some_values(rng, problem, name, zero_division, 1)[-1]
            decision = problem.decide(
                metric, at_least=at_least, goal=ProbAtLeast(float(c))
            )
            assert_best_chance(problem, decision, name, zero_division, c, nearly)
            decision = problem.decide(metric, at_least=at_least, goal=Quantile(0.2))
            q = Fraction(0.2)
            assert_best_quantile(problem, decision, name, zero_division, q, nearly)
    assert infeasible > 0


def test_the_comparisons_reject_worse_decisions():
    rng = np.random.default_rng(0)
    problem = Problem(rng, 5)
    problem.p64 = [60, 40, 30, 10, 3]
    problem.laws = laws_of_all_labels(problem.p64)
    p, everything = np.array(problem.p64) / 64, np.ones(32, dtype=bool)
    c, q = Fraction(6, 10), Fraction(1, 4)
    right = bestcut.decide(p, goal=ProbAtLeast(0.6))
    assert_best_chance(problem, right, "f1", 0, c, everything)
    wrong = bestcut.decide(p, goal=ProbAtLeast(0.6), min_positives=5)
    with pytest.raises(AssertionError):
        assert_best_chance(problem, wrong, "f1", 0, c, everything)
    only_one = np.bitwise_count(np.arange(32)) == 1
    with pytest.raises(AssertionError):
        assert_best_chance(problem, right, "f1", 0, c, only_one)
    claims_more = dataclasses.replace(right, goal_value=right.goal_value + 1e-9)
    with pytest.raises(AssertionError):
        assert_best_chance(problem, claims_more, "f1", 0, c, everything)
    right = bestcut.decide(p, goal=Quantile(0.25))
    assert_best_quantile(problem, right, "f1", 0, q, everything)
    for wrong in (
        bestcut.decide(p, goal=Quantile(0.25), max_positives=1),
        dataclasses.replace(right, goal_value=right.goal_value + 1e-9),
    ):
        with pytest.raises(AssertionError):
            assert_best_quantile(problem, wrong, "f1", 0, q, everything)


def test_a_cautious_goal_takes_other_labels_than_the_mean():
    # All or nothing: with precision 1 nothing is lost, on average more is caught.
    p = [0.95, 0.5, 0.5, 0.45, 0.4]
    mean = bestcut.decide(p, "f1")
    sure = bestcut.decide(p, "f1", goal=ProbAtLeast(0.9))
    assert sure.n_positive != mean.n_positive
    assert sure.goal_value > mean.distribution().prob_at_least(0.9)
    assert sure.expected_score < mean.expected_score


# Against every cut, each with its own distribution.


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
        return distribution.quantile(goal.q)
    # From the bad side: the largest x with P(loss >= x) >= q. Found from below.
    upper = distribution.quantile(1 - goal.q)
    beyond = np.nextafter(upper, np.inf) + 4 * distribution.value_error
    enough = distribution.surprise(beyond).prob_higher
    if enough >= goal.q - distribution.probability_error:
        level = min(1 - goal.q + 4 * distribution.probability_error, 1.0)
        upper = distribution.quantile(level)
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
    spots += [best.mean, best.quantile(0.9), best.quantile(0.1)]
    return [ProbAtLeast(x) for x in spots] + [
        Quantile(q) for q in (0.05, 0.3, 0.5, 0.9)
    ]


@pytest.mark.parametrize("name", BRUTE)
def test_goals_find_the_best_of_all_cuts(name):
    metric = BRUTE[name]
    rng = np.random.default_rng(len(name))
    for p in (rng.beta(0.5, 2, size=60), np.round(rng.random(40), 1)):
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


def test_a_constraint_binds():
    p = np.random.default_rng(11).beta(0.5, 1.5, size=90)
    free = bestcut.decide(p, "f2")
    bound = bestcut.decide(p, "f2", at_least={"precision": 0.8})
    assert bestcut.expected_score(p, free.labels, "precision") < 0.8
    assert bestcut.expected_score(p, bound.labels, "precision") >= 0.8
    assert bound.expected_score < free.expected_score
    assert bound.n_positive < free.n_positive


def test_a_bound_that_is_met_exactly_is_met():
    # Precision of the first two: 0.75; of the first three: 0.6.
    p = [0.9, 0.6, 0.3]
    for floor, positive in ((0.6, 3), (0.75, 2), (0.76, 1), (0.9, 1)):
        decision = bestcut.decide(p, "recall", at_least={"precision": floor})
        assert decision.n_positive == positive
    tenths = [0.1] * 10
    decision = bestcut.decide(tenths, "recall", at_least={"precision": 0.1})
    assert decision.n_positive == 10


def test_a_bound_that_asks_for_nothing_changes_nothing():
    p = np.random.default_rng(1).random(40)
    for name in ("f1", "mcc", "squared_count_error"):
        free = bestcut.decide(p, name)
        for at_least in (None, {}, {"precision": 0.0}, {"mcc": -1}):
            same = bestcut.decide(p, name, at_least=at_least)
            assert np.array_equal(same.labels, free.labels)
            assert same.expected_score == pytest.approx(free.expected_score, abs=1e-12)
    goal = Quantile(0.2)
    free = bestcut.decide(p, "f1", goal=goal)
    same = bestcut.decide(p, "f1", goal=goal, at_least={"precision": 0.0})
    assert same.goal_value == free.goal_value


def test_the_same_metric_twice_means_the_higher_bound():
    p = np.random.default_rng(1).random(40)
    both = ({"f1": 0.3, FBeta(): 0.7}, {"f1": 0.7, FBeta(): 0.3})
    once = bestcut.decide(p, "recall", at_least={"f1": 0.7})
    free = bestcut.decide(p, "recall", at_least={"f1": 0.3})
    assert once.n_positive != free.n_positive
    for at_least in both:
        twice = bestcut.decide(p, "recall", at_least=at_least)
        assert twice.n_positive == once.n_positive


def test_what_cannot_be_satisfied_says_what_can():
    p = [0.9, 0.6, 0.3]
    assert issubclass(bestcut.InfeasibleError, ValueError)
    with pytest.raises(bestcut.InfeasibleError, match=r"precision.*0\.9\b") as info:
        bestcut.decide(p, at_least={"precision": 0.95})
    assert "0.95" in str(info.value)
    # Only three positives are allowed now: 0.6 it is.
    with pytest.raises(bestcut.InfeasibleError, match=r"precision.*0\.6\b"):
        bestcut.decide(p, at_least={"precision": 0.95}, min_positives=3)
    # Each alone can be had, both at once cannot.
    with pytest.raises(bestcut.InfeasibleError) as info:
        bestcut.decide(p, at_least={"precision": 0.85, "recall": 0.9})
    told = numbers_in(str(info.value))
    assert 0.9 in told
    everything = bestcut.expected_score(p, [1, 1, 1], "recall")
    assert min(abs(x - everything) for x in told) < 1e-5
    for goal in (Mean(), Quantile(0.1), ProbAtLeast(0.5)):
        with pytest.raises(bestcut.InfeasibleError):
            bestcut.decide(p, goal=goal, at_least={"precision": 0.95})


def test_nothing_to_decide():
    for goal, value in ((Mean(), 0.0), (Quantile(0.1), 0.0), (ProbAtLeast(0.5), 0.0)):
        decision = bestcut.decide([], "f1", goal=goal)
        assert decision.goal_value == value
        assert decision.labels.shape == (0,)
    assert bestcut.decide([], goal=ProbAtLeast(0.0)).goal_value == 1
    assert bestcut.decide([], at_least={"f1": 0.0}).n_positive == 0
    with pytest.raises(bestcut.InfeasibleError):
        bestcut.decide([], at_least={"f1": 0.5})


@pytest.mark.parametrize("solver", ["auto", "sweep", "quadratic", "cubic"])
def test_every_solver_that_ranks_takes_goals_and_constraints(solver):
    p = np.random.default_rng(6).random(30)
    kwargs = {"at_least": {"precision": 0.75}, "max_positives": 12}
    for goal in (Mean(), ProbAtLeast(0.7), Quantile(0.1)):
        reference = bestcut.decide(p, "f1", goal=goal, **kwargs)
        decision = bestcut.decide(p, "f1", goal=goal, solver=solver, **kwargs)
        assert decision.goal_value == pytest.approx(reference.goal_value, abs=1e-12)
        assert np.array_equal(decision.labels, reference.labels)


# Properties.

probability = st.floats(0, 1, allow_subnormal=True)
goals = st.one_of(
    st.just(Mean()),
    st.floats(-0.2, 1.2).map(ProbAtLeast),
    st.floats(0.01, 0.99).map(Quantile),
)


@settings(max_examples=100, deadline=None)
@given(p=st.lists(probability, max_size=25), name=st.sampled_from(NAMES), goal=goals)
def test_a_decision_for_any_goal_is_a_threshold_set_that_knows_itself(p, name, goal):
    decision = bestcut.decide(p, name, goal=goal)
    p, labels = np.array(p), decision.labels
    assert decision.goal == goal
    assert decision.n_positive == labels.sum()
    if labels.any():
        assert decision.threshold == p[labels].min()
        tied = labels[p == decision.threshold]
        assert np.array_equal(tied, np.sort(tied)[::-1])
        assert np.array_equal(
            labels | (p == decision.threshold), p >= decision.threshold
        )
    law = bestcut.score_distribution(p, labels, name)
    slack = law.error + decision.error
    assert decision.expected_score == pytest.approx(law.mean, abs=slack, rel=0)
    if isinstance(goal, ProbAtLeast):
        chance = law.prob_at_least(goal.score)
        assert decision.goal_value == pytest.approx(chance, abs=1e-11, rel=0)
    elif isinstance(goal, Mean):
        assert decision.goal_value == decision.expected_score


@settings(max_examples=30, deadline=None)
@given(
    p=st.lists(probability, min_size=1, max_size=40),
    name=st.sampled_from(["f1", "mcc", "gmean", "accuracy"]),
    q=st.floats(0.02, 0.98),
)
def test_the_best_quantile_is_the_highest_score_that_is_likely_enough(p, name, q):
    value = bestcut.decide(p, name, goal=Quantile(q)).goal_value
    at, beyond = (
        bestcut.decide(p, name, goal=ProbAtLeast(c)).goal_value
        for c in (value, value + 1e-9)
    )
    assert at >= 1 - q - 1e-11
    assert beyond <= 1 - q + 1e-11


@settings(max_examples=40, deadline=None)
@given(
    p=st.lists(probability, min_size=1, max_size=30),
    name=st.sampled_from(NAMES),
    levels=st.tuples(st.floats(0.02, 0.98), st.floats(0.02, 0.98)),
    scores=st.tuples(st.floats(-0.5, 1), st.floats(-0.5, 1)),
)
def test_asking_for_more_gives_less(p, name, levels, scores):
    low, high = sorted(levels)
    one, other = (bestcut.decide(p, name, goal=Quantile(q)) for q in (low, high))
    # A quantile from the bad side gets better, not worse, with its level.
    if name in LOSSES:
        assert one.goal_value >= other.goal_value - 1e-12
    else:
        assert one.goal_value <= other.goal_value + 1e-12
    low, high = sorted(scores, reverse=name in LOSSES)
    one, other = (bestcut.decide(p, name, goal=ProbAtLeast(c)) for c in (low, high))
    assert one.goal_value >= other.goal_value - 1e-11


def test_duality_holds_for_many_instances():
    p = np.random.default_rng(5).beta(0.5, 3, size=1000)
    for name in ("f1", "mcc"):
        value = bestcut.decide(p, name, goal=Quantile(0.1)).goal_value
        at = bestcut.decide(p, name, goal=ProbAtLeast(value)).goal_value
        beyond = bestcut.decide(p, name, goal=ProbAtLeast(value + 1e-12)).goal_value
        assert beyond - 1e-10 <= 0.9 <= at + 1e-10
        assert at - beyond < 0.02


def test_goals_are_values_and_the_mean_is_the_default():
    assert bestcut.decide([0.5, 0.4]).goal == Mean() == Mean()
    assert ProbAtLeast(0.5) == ProbAtLeast(0.5) != ProbAtLeast(0.6)
    assert len({Quantile(0.5), Quantile(0.5), Quantile(0.4)}) == 2
    decision = bestcut.decide([0.5, 0.4])
    assert decision.goal_value == decision.expected_score
    again = pickle.loads(pickle.dumps(bestcut.decide([0.5], goal=Quantile(0.3))))
    assert again.goal == Quantile(0.3)


def test_the_repr_tells_the_goal_and_its_value():
    p = np.random.default_rng(5).random(30)
    decision = bestcut.decide(p, goal=ProbAtLeast(0.625))
    assert "0.625" in repr(decision)
    assert f"{decision.goal_value:.6g}" in repr(decision)
    assert f"{decision.goal_value:.6g}" in decision._repr_html_()


# What is refused.

PERVERSE = from_counts(lambda tp, fp, fn, tn: fp * fn - tp, "perverse")

REFUSED = {
    "a class": ({"goal": Quantile}, TypeError, r"`goal`.*Quantile\("),
    "a number": ({"goal": 0.5}, TypeError, r"`goal`.*0\.5"),
    "a name": ({"goal": "mean"}, TypeError, r"`goal`.*'mean'"),
    "not a mapping": ({"at_least": [("precision", 0.9)]}, TypeError, r"`at_least`"),
    "a name as bound": ({"at_least": "precision"}, TypeError, r"`at_least`"),
    "a number as bound": ({"at_least": 0.9}, TypeError, r"`at_least`"),
    "unknown name": (
        {"at_least": {"presicion": 0.9}},
        ValueError,
        r"'presicion'.*'precision'",
    ),
    "callable": ({"at_least": {max: 0.9}}, TypeError, r"from_counts"),
    "nan bound": (
        {"at_least": {"precision": float("nan")}},
        ValueError,
        r"at_least.*precision.*nan",
    ),
    "text bound": ({"at_least": {"precision": "0.9"}}, TypeError, r"at_least.*'0\.9'"),
    "loss": (
        {"at_least": {"squared_count_error": 0.1}},
        ValueError,
        r"`at_least`.*squared_count_error.*loss",
    ),
    "not ranked": (
        {"at_least": {PERVERSE: 0.1}},
        bestcut.SolverMismatchError,
        r"`at_least`.*perverse",
    ),
    "not ranked for a goal": (
        {"metric": PERVERSE, "goal": Quantile(0.1)},
        bestcut.SolverMismatchError,
        r"'perverse'.*ranking principle",
    ),
    "enumeration with a goal": (
        {"solver": "exhaustive", "goal": ProbAtLeast(0.5)},
        bestcut.SolverMismatchError,
        r"'exhaustive'.*`goal`",
    ),
    "enumeration with bounds": (
        {"solver": "exhaustive", "at_least": {"precision": 0.1}},
        bestcut.SolverMismatchError,
        r"'exhaustive'.*`at_least`",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_makes_no_sense_is_refused_by_name(kind):
    arguments, error, message = REFUSED[kind]
    with pytest.raises(error, match=message):
        bestcut.decide([0.2, 0.3], **arguments)


def test_enumeration_with_the_mean_and_no_bounds_is_fine():
    decision = bestcut.decide([0.2, 0.3], solver="exhaustive", goal=Mean(), at_least={})
    assert decision.goal_value == decision.expected_score


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, 1.1, float("nan"), "half", None, True])
def test_levels_that_are_none_are_refused(q):
    with pytest.raises((ValueError, TypeError), match="`q`"):
        Quantile(q)


@pytest.mark.parametrize("c", [float("nan"), float("inf"), "high", None, True])
def test_scores_that_are_none_are_refused(c):
    with pytest.raises((ValueError, TypeError), match="`score`"):
        ProbAtLeast(c)
