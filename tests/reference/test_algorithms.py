"""The paper's solvers agree with each other and with all labelings, or refuse."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bestcut
from bestcut.metrics import FBeta, FractionalLinear, from_counts
from bestcut.reference import ALGORITHMS
from groups import few_and_many, slow
from helpers import descending

dyadic = st.integers(0, 64).map(lambda i: i / 64)


def random_eta(rng, n):
    """Probabilities of a random shape, with some zeros, ones and ties among them."""
    a, b = rng.uniform(0.1, 3, size=2)
    eta = rng.beta(a, b, size=n)
    if rng.random() < 0.5:
        eta = np.round(eta, 2)
    eta[rng.random(n) < 0.05] = 0.0
    eta[rng.random(n) < 0.05] = 1.0
    return descending(eta)


def random_rational_metric(rng):
    """A metric of Algorithm 2's family: c3 = 0, D >= 0, never worse with more TP."""
    while True:
        d = tuple(
            Fraction(int(rng.integers(-4, 5)), int(rng.integers(1, 5)))
            for _ in range(4)
        )
        at_pure_cells = (d[0], d[0] + d[2], d[0] + d[3], sum(d))
        if min(at_pure_cells) < 0 or not any(at_pure_cells):
            continue
        c = (*(Fraction(int(rng.integers(-4, 5)), 3) for _ in range(3)), 0)
        metric = FractionalLinear(c=c, d=d, zero_division=float(rng.normal()))
        if bestcut.check_metric(metric, n_max=6).tp_nondecreasing:
            return metric


@pytest.mark.parametrize("seed", range(60))
def test_quadratic_agrees_with_cubic_on_random_rational_metrics(seed):
    rng = np.random.default_rng(seed)
    metric = random_rational_metric(rng)
    n = int(rng.integers(0, 80)) if seed % 10 else 300
    eta = random_eta(rng, n)
    cubic = ALGORITHMS["cubic"].curve(eta, metric)
    quadratic = ALGORITHMS["quadratic"].curve(eta, metric)
    scale = max(1.0, np.max(np.abs(cubic.expected_score)))
    np.testing.assert_allclose(
        quadratic.expected_score, cubic.expected_score, rtol=0, atol=1e-12 * scale
    )
    gap = np.max(np.abs(quadratic.expected_score - cubic.expected_score))
    assert gap <= quadratic.error + cubic.error


@pytest.mark.parametrize(
    "metric",
    [
        FBeta(),
        FBeta(2),
        FBeta(Fraction(1, 3)),
        FBeta(zero_division=1.0),
        bestcut.metrics.Jaccard(),
        bestcut.metrics.Jaccard(zero_division=1.0),
        bestcut.metrics.Precision(zero_division=0.5),  # d3 = 0
        bestcut.metrics.Recall(zero_division=0.5),  # d2 = 0
        FractionalLinear(c=(0, 1, 0, 0), d=(1, -1, 0, 0)),  # d1 + d3 < 0
        FractionalLinear(c=(0, 1, -1, 0), d=(0, -2, 1, 1), zero_division=2.0),
        FractionalLinear(c=(0, -1, 0, 0), d=(-1, 1, 0, 0)),  # both signs turned
    ],
    ids=repr,
)
def test_quadratic_handles_its_odd_denominators(metric):
    eta = random_eta(np.random.default_rng(7), 40)
    cubic = ALGORITHMS["cubic"].curve(eta, metric)
    quadratic = ALGORITHMS["quadratic"].curve(eta, metric)
    np.testing.assert_allclose(
        quadratic.expected_score, cubic.expected_score, rtol=1e-13, atol=1e-13
    )


@pytest.mark.parametrize(
    ("metric", "missing"),
    [
        ("accuracy", r"\['c3 = 0'\]"),
        ("gmean", "'fractional_linear'"),
        (FBeta(0.1), r"\['rational d'\].*fractions\.Fraction"),
    ],
)
def test_quadratic_refuses_what_is_not_of_its_family(metric, missing):
    with pytest.raises(bestcut.SolverMismatchError, match=missing) as info:
        bestcut.decide([0.2, 0.4], metric, solver="quadratic")
    assert "Solvers that accept it:" in str(info.value)
    assert "cubic" in str(info.value)


def test_quadratic_refuses_a_denominator_that_changes_sign():
    metric = FractionalLinear(c=(1, 0, 1, 0), d=(-1, 0, 2, 0))  # independent of TP
    with pytest.raises(bestcut.SolverMismatchError, match="denominator of one sign"):
        bestcut.decide([0.2, 0.4], metric, solver="quadratic")


def test_exhaustive_has_a_size_limit():
    with pytest.raises(bestcut.SolverMismatchError, match="at most 20 instances"):
        bestcut.decide(np.full(21, 0.5), "f1", solver="exhaustive")


def test_past_that_limit_no_solver_is_named_that_would_refuse_the_metric():
    metric = from_counts(lambda tp, fp, fn, tn: fp - tp, "fp - tp")
    with pytest.raises(bestcut.SolverMismatchError) as info:
        bestcut.decide(np.full(21, 0.5), metric, solver="exhaustive")
    assert "only for n <= 20; n is 21 here" in str(info.value)
    assert "Solvers that accept it" not in str(info.value)


@pytest.mark.parametrize("n", [16, slow(20)])
def test_exhaustive_agrees_with_cubic_up_to_its_size_limit(n):
    p = np.random.default_rng(0).beta(0.5, 1, size=n)
    every = bestcut.decide(p, "gmean", solver="exhaustive")
    cut = bestcut.decide(p, "gmean", solver="cubic")
    assert every.expected_score == pytest.approx(cut.expected_score, abs=1e-13)


def test_a_metric_without_the_ranking_principle_is_refused_with_a_way_out():
    metric = from_counts(lambda tp, fp, fn, tn: fp - tp, "fp - tp")
    with pytest.raises(
        bestcut.SolverMismatchError, match="tp=0, fp=1, fn=1, tn=0"
    ) as info:
        bestcut.decide([0.9, 0.2], metric)
    assert 'solver="exhaustive"' in str(info.value)
    decision = bestcut.decide([0.9, 0.2], metric, solver="exhaustive")
    assert decision.labels.tolist() == [False, True]
    assert decision.threshold is None  # which no threshold makes
    assert "threshold none" in repr(decision)
    with pytest.raises(bestcut.SolverMismatchError, match="n is 30 here"):
        bestcut.decide(np.full(30, 0.5), metric)


@few_and_many(
    50,
    150,
    given(
        p=st.lists(dyadic, min_size=1, max_size=7),
        name=st.sampled_from(bestcut.metrics.names()),
        bounds=st.tuples(st.integers(0, 7), st.integers(0, 7)),
    ),
)
def test_theorem_1_no_label_vector_beats_the_best_top_k(p, name, bounds):
    low, high = (min(b, len(p)) for b in sorted(bounds))
    options = {"min_positives": low, "max_positives": high}
    top_k = bestcut.decide(p, name, **options)
    every = bestcut.decide(p, name, solver="exhaustive", **options)
    assert top_k.expected_score == pytest.approx(
        every.expected_score, abs=top_k.error + every.error
    )
    assert low <= top_k.n_positive <= high
    assert low <= every.n_positive <= high


@few_and_many(
    15,
    60,
    given(
        p=st.lists(dyadic, min_size=1, max_size=6),
        weights=st.lists(st.integers(0, 5), min_size=7, max_size=7),
        table=st.lists(st.integers(-9, 9), min_size=49, max_size=49),
    ),
)
def test_theorem_1_holds_for_any_metric_that_rises_with_tp(p, weights, table):
    n = len(p)
    rise = np.cumsum(weights)  # any non-decreasing function of TP ...
    base = np.reshape(table, (7, 7))  # ... plus any function of the two margins

    def function(tp, fp, fn, tn):
        k, pos = (tp + fp).astype(int) % 7, (tp + fn).astype(int) % 7
        return rise[np.minimum(tp.astype(int), 6)] * (1 + (k + pos) % 3) + base[k, pos]

    metric = from_counts(function, "random rising")
    assert bestcut.check_metric(metric, n_max=6).tp_nondecreasing
    top_k = bestcut.decide(p, metric, solver="cubic")
    every = bestcut.decide(p, metric, solver="exhaustive")
    assert n == top_k.labels.size
    assert top_k.expected_score == pytest.approx(every.expected_score, abs=1e-10)


def test_a_stored_metric_that_falls_with_tp_breaks_the_ranking_principle():
    # Reward for catching exactly one: with two sure positives take one, and one not.
    metric = from_counts(
        lambda tp, fp, fn, tn: 1.0 * (tp == 1) * (tp + fp == 2), "exactly one of two"
    )
    p = [0.9, 0.8, 0.1]
    every = bestcut.decide(p, metric, solver="exhaustive")
    best_top_k = every.curve.expected_score.max()
    assert every.labels.tolist() == [True, False, True]
    assert every.expected_score == pytest.approx(0.9 * 0.9 + 0.1 * 0.1)
    assert best_top_k == pytest.approx(0.9 * 0.2 + 0.1 * 0.8)


@pytest.mark.parametrize("solver", ["cubic", "quadratic", "exhaustive"])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_smallest_problems_work_in_every_solver(solver, n):
    p = np.full(n, 0.25)
    decision = bestcut.decide(p, FBeta(zero_division=1.0), solver=solver)
    assert decision.labels.shape == (n,)
    # Predicting nothing scores 1 exactly when nothing is positive.
    nothing = 0.75**n
    assert decision.curve.expected_score[0] == pytest.approx(nothing, abs=1e-15)


@pytest.mark.parametrize("name", ["sweep", "summary", "mixture", "search", "curve"])
def test_what_is_chosen_by_itself_is_refused_with_the_cure(name):
    with pytest.raises(ValueError, match="Leave it out") as info:
        bestcut.decide([0.5, 0.2], solver=name)
    message = str(info.value)
    assert message.startswith(f"`solver` {name!r} cannot be chosen.")
    assert '"quadratic", "cubic", "exhaustive"' in message


def test_a_name_that_nobody_knows_is_refused_with_the_ones_there_are():
    with pytest.raises(ValueError, match=r"auto, cubic, exhaustive, quadratic"):
        bestcut.decide([0.5, 0.2], solver="fast")


def test_a_decision_says_how_its_cut_was_found():
    p = np.random.default_rng(0).beta(0.3, 3, 2000)
    assert bestcut.decide(p, "f1").solver == "curve"
    assert bestcut.decide(p, "gmean").solver == "search"
    assert bestcut.decide(p[:50], "f1", solver="cubic").solver == "cubic"
    cautious = bestcut.decide(p[:50], "f1", goal=bestcut.goals.Quantile(0.1))
    assert cautious.solver == "search"
    drawn = bestcut.UncertainProbabilities([p[:50], p[50:100]])
    assert bestcut.decide(drawn, "f1").solver == "search"


def test_reference_algorithms_are_taken_only_by_name():
    for metric in ("f1", "gmean", "accuracy"):
        for n in (1, 3, 20):
            assert bestcut.decide(np.full(n, 0.3), metric).solver not in ALGORITHMS
