"""decide_samples() reaches the best of all label vectors, whatever the law."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bestcut
from bestcut.metrics import (
    MCC,
    BalancedAccuracy,
    CohenKappa,
    FBeta,
    FractionalLinear,
    LinearUtility,
    Precision,
)
from oracles.definitions import DEFINITIONS, LOSSES

AFFINE = [
    name
    for name in bestcut.metrics.names()
    if bestcut.metrics.Trait.AFFINE in bestcut.metrics.get(name).traits
]


def cells(labels, draws):
    """Return tp, fp, fn, tn of `labels` for each draw."""
    s, y = np.asarray(labels, dtype=bool), np.asarray(draws, dtype=bool)
    return tuple(np.count_nonzero(x, axis=1) for x in (y & s, ~y & s, y & ~s, ~y & ~s))


def mean_score(labels, draws, weight, metric):
    tp, fp, fn, tn = (x.astype(float) for x in cells(labels, draws))
    score = np.broadcast_to(metric.score_cells(tp, fp, fn, tn), weight.shape)
    return float(score @ weight / weight.sum())


def exact_mean(labels, draws, weight, definition, zero_division):
    """Return the mean score in exact arithmetic, by the textbook definition."""
    total = sum(
        Fraction(w) * definition(*map(int, c), zero_division)
        for w, *c in zip(weight.tolist(), *cells(labels, draws), strict=True)
    )
    return total / sum(map(Fraction, weight.tolist()))


def dependent(rng, n):
    """Return draws of labels that hang together, with weights that are eighths.

    A few whole vectors, some labels copied, some opposed: far from independence.
    """
    patterns = rng.random((int(rng.integers(1, 5)), n)) < rng.random((1, n))
    draws = patterns[rng.integers(0, len(patterns), size=12)]
    if n > 2:
        draws[:, 1], draws[:, 2] = draws[:, 0], ~draws[:, 0]
    flips = rng.random(draws.shape) < rng.choice([0.0, 0.1])
    return draws ^ flips, rng.integers(0, 9, size=12) / 8 + 0.125


def assert_best(draws, weight, metric, low=0, high=None):
    found = bestcut.decide_samples(
        draws,
        metric,
        sample_weight=weight,
        min_positives=low,
        max_positives=high,
    )
    n = draws.shape[1]
    sign = 1 if found.metric.greater_is_better else -1
    best = max(
        sign * mean_score(labels, draws, weight, found.metric)
        for labels in product((0, 1), repeat=n)
        if low <= sum(labels) <= (n if high is None else high)
    )
    own = mean_score(found.labels, draws, weight, found.metric)
    assert found.n_positive == found.labels.sum()
    assert low <= found.n_positive <= (n if high is None else high)
    assert found.expected_score == pytest.approx(own, abs=1e-12)
    assert sign * own == pytest.approx(best, abs=1e-12)
    return found


@pytest.mark.parametrize("name", AFFINE)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_no_label_vector_has_a_better_mean_score(name, n):
    rng = np.random.default_rng(n)
    for _ in range(6 if n < 8 else 2):
        assert_best(*dependent(rng, n), name)


METRICS = [
    *(FBeta(beta) for beta in (0.1, 3, 1000)),
    *(t(zero_division=1.0) for t in (FBeta, MCC, BalancedAccuracy, CohenKappa)),
    Precision(zero_division=0.5),
    LinearUtility(tp=3, fp=-1, fn=-2, tn=0.5),
    FractionalLinear((0.5, 1, -0.3, 0.1), (1, 0, 0.5, 0.25)),
]


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_neither_for_other_constants(metric):
    rng = np.random.default_rng(9)
    for _ in range(6):
        assert_best(*dependent(rng, int(rng.integers(1, 7))), metric)


@pytest.mark.parametrize("bounds", [(1, None), (0, 0), (0, 2), (3, 3), (2, 4)])
@pytest.mark.parametrize("name", ["f1", "mcc", "accuracy", "cohen_kappa"])
def test_bounds_are_kept(name, bounds):
    rng = np.random.default_rng(4)
    for _ in range(3):
        assert_best(*dependent(rng, 6), name, *bounds)


@pytest.mark.parametrize(
    "name", ["f1", "mcc", "balanced_accuracy", "precision", "cohen_kappa"]
)
@pytest.mark.parametrize("seed", range(4))
def test_the_mean_score_is_right_in_exact_arithmetic(name, seed):
    draws, weight = dependent(np.random.default_rng(seed), 5)
    found = bestcut.decide_samples(draws, name, sample_weight=weight)
    exact = {
        labels: exact_mean(labels, draws, weight, DEFINITIONS[name], Fraction(0))
        for labels in product((0, 1), repeat=5)
    }
    own = exact[tuple(found.labels.astype(int).tolist())]
    assert abs(Fraction(found.expected_score) - own) < Fraction(1, 10**14)
    assert max(exact.values()) - own < Fraction(1, 10**14)
    assert name not in LOSSES


# For each metric a law, whole label vectors with weights, under which every cut of the
# ranking by probability is worse than the best labels. No two labels are as probable.
NO_CUT = {
    "f1": ({"11010": 2, "00100": 7, "10010": 3, "11011": 3, "00010": 9}, 0.02),
    "mcc": ({"01010": 5, "11011": 5, "10000": 9, "01100": 8, "00111": 7}, 0.015),
    "balanced_accuracy": (
        {"10101": 9, "10001": 9, "11110": 8, "00010": 9, "10011": 1},
        0.03,
    ),
    "cohen_kappa": ({"10100": 5, "00110": 4, "01100": 2, "11011": 10}, 0.07),
}


@pytest.mark.parametrize("name", NO_CUT)
def test_the_best_labels_need_not_be_the_most_probable(name):
    law, gap = NO_CUT[name]
    draws = np.array([[c == "1" for c in word] for word in law])
    weight = np.array(list(law.values()), dtype=float)
    p = weight @ draws
    assert np.unique(p).size == p.size
    found = assert_best(draws, weight, name)
    best_cut = max(
        mean_score(p >= threshold, draws, weight, found.metric)
        for threshold in [*p, np.inf]
    )
    assert found.expected_score > best_cut + gap
    # By probabilities alone, as if labels were independent, it is worse still.
    alone = bestcut.decide(p / weight.sum(), name).labels
    assert mean_score(alone, draws, weight, found.metric) < best_cut + 1e-12


def test_precision_of_k_is_a_sum_of_probabilities_even_for_dependent_labels():
    rng = np.random.default_rng(1)
    draws, weight = dependent(rng, 6)
    p = weight @ draws / weight.sum()
    found = bestcut.decide_samples(
        draws, "precision", sample_weight=weight, min_positives=3, max_positives=3
    )
    assert found.expected_score == pytest.approx(np.sort(p)[-3:].mean(), abs=1e-14)


# --- the law is what counts ----------------------------------------------------------


def test_weights_are_repetitions():
    rng = np.random.default_rng(2)
    draws = rng.random((8, 5)) < 0.4
    times = np.array([0, 1, 2, 3, 1, 1, 0, 4])
    for name in ("f1", "mcc", "cohen_kappa"):
        weighted = bestcut.decide_samples(draws, name, sample_weight=times)
        repeated = bestcut.decide_samples(np.repeat(draws, times, axis=0), name)
        assert np.array_equal(weighted.labels, repeated.labels)
        assert weighted.expected_score == pytest.approx(repeated.expected_score)


def test_the_order_of_the_draws_is_nothing():
    rng = np.random.default_rng(3)
    draws = rng.random((50, 7)) < 0.3
    one = bestcut.decide_samples(draws, "f1")
    two = bestcut.decide_samples(rng.permutation(draws), "f1")
    assert one.expected_score == pytest.approx(two.expected_score, abs=1e-14)


@pytest.mark.parametrize("name", ["f1", "f2", "mcc", "balanced_accuracy"])
def test_the_whole_law_of_independent_labels_gives_what_decide_gives(name):
    p = np.array([0.8, 0.15, 0.4, 0.3, 0.65])
    draws = np.array(list(product((0, 1), repeat=5)))
    weight = np.prod(np.where(draws == 1, p, 1 - p), axis=1)
    found = bestcut.decide_samples(draws, name, sample_weight=weight)
    one = bestcut.decide(p, name)
    assert np.array_equal(found.labels, one.labels)
    assert found.expected_score == pytest.approx(one.expected_score, abs=1e-13)


@pytest.mark.parametrize("name", ["f1", "mcc"])
def test_many_independent_draws_tend_to_what_decide_gives(name):
    rng = np.random.default_rng(5)
    p = rng.beta(0.5, 2, size=30)
    best = bestcut.decide(p, name)
    losses = []
    for size in (30, 20_000):
        draws = rng.random((size, 30)) < p
        found = bestcut.decide_samples(draws, name)
        own = bestcut.expected_score(p, found.labels, name)
        losses.append(best.expected_score - own)
    assert -1e-12 <= losses[1] < 1e-3
    assert losses[1] < losses[0]
    # A mean of 20,000 scores, each in [-1, 1], whose law it was fitted to.
    assert found.expected_score == pytest.approx(best.expected_score, abs=0.02)


@pytest.mark.parametrize("share", [0.05, 0.9])
def test_more_labels_than_are_looked_at_together(share):
    rng = np.random.default_rng(6)
    n = 600
    draws = rng.random((40, n)) < share
    found = bestcut.decide_samples(draws, "f1")
    weight = np.ones(40)
    metric = found.metric
    assert (found.n_positive > 512) == (share > 0.5)
    own = mean_score(found.labels, draws, weight, metric)
    assert found.expected_score == pytest.approx(own, abs=1e-12)
    for j in range(0, n, 7):  # no single change is better
        other = found.labels.copy()
        other[j] ^= True
        assert mean_score(other, draws, weight, metric) <= own + 1e-12


# --- what goes in and comes out ------------------------------------------------------


def containers():
    draws = [[1, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1]]
    frozen = np.array(draws)
    frozen.flags.writeable = False
    return {
        "lists": draws,
        "int": np.array(draws),
        "bool": np.array(draws, dtype=bool),
        "float": np.array(draws, dtype=float),
        "read-only": frozen,
        "fortran": np.asfortranarray(draws),
        "pandas": pd.DataFrame(draws),
        "polars": pl.DataFrame(draws, orient="row"),
    }


@pytest.mark.parametrize("kind", containers())
def test_every_container_gives_the_same_and_is_not_changed(kind):
    draws = containers()[kind]
    before = np.array(draws)
    found = bestcut.decide_samples(draws)
    reference = bestcut.decide_samples(containers()["lists"])
    assert found.labels.dtype == bool
    assert np.array_equal(found.labels, reference.labels)
    assert found.expected_score == reference.expected_score
    assert np.array_equal(np.array(draws), before)


def test_a_single_draw_is_predicted_as_it_is():
    draw = [[0, 1, 1, 0, 1]]
    for name in ("f1", "mcc", "balanced_accuracy"):
        found = bestcut.decide_samples(draw, name)
        assert found.labels.tolist() == [False, True, True, False, True]
        assert found.expected_score == pytest.approx(1.0, abs=1e-15)


def test_no_labels_give_an_empty_decision():
    found = bestcut.decide_samples(np.zeros((3, 0)), FBeta(zero_division=1.0))
    assert found.labels.shape == (0,)
    assert (found.n_positive, found.expected_score) == (0, 1.0)


def test_nothing_may_be_worth_predicting():
    draws = np.zeros((10, 3), dtype=int)
    draws[0] = 1
    assert bestcut.decide_samples(draws).n_positive == 3
    none = bestcut.decide_samples(draws, FBeta(zero_division=1.0))
    assert (none.n_positive, none.expected_score) == (0, pytest.approx(0.9))


def test_the_repr_says_what_was_decided():
    found = bestcut.decide_samples([[1, 1, 0], [1, 0, 0]])
    assert repr(found).startswith("SampledDecision(f1: ")
    assert "of 3 positive, expected score 0.8" in repr(found)


BAD = {
    "jaccard": ({"metric": "jaccard"}, ValueError, "affine in TP.*'jaccard'.*f1"),
    "gmean": ({"metric": "gmean"}, ValueError, "affine in TP"),
    "1-D": ({"y_samples": [0, 1]}, ValueError, "`y_samples` must be 2-D"),
    "none": ({"y_samples": np.zeros((0, 3))}, ValueError, "at least one draw"),
    "half": ({"y_samples": [[0.5]]}, ValueError, r"y_samples\[0, 0\] = 0\.5"),
    "nan": ({"y_samples": [[np.nan]]}, ValueError, "only 0 and 1"),
    "text": ({"y_samples": [["a"]]}, TypeError, "y_samples"),
    "weights": ({"sample_weight": [1.0]}, ValueError, r"shape \(2,\)"),
    "negative": ({"sample_weight": [1, -1]}, ValueError, r"sample_weight\[1\]"),
    "zero": ({"sample_weight": [0, 0]}, ValueError, "must not be 0 for every draw"),
    "least": ({"min_positives": 4}, ValueError, "`min_positives` must be at most"),
    "order": (
        {"min_positives": 2, "max_positives": 1},
        ValueError,
        "`max_positives` must be at least",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_said(kind):
    options, error, message = BAD[kind]
    with pytest.raises(error, match=message):
        bestcut.decide_samples(
            **{"y_samples": [[1, 0, 1], [1, 1, 0]], "metric": "f1"} | options
        )


def test_the_message_names_only_what_works():
    with pytest.raises(bestcut.SolverMismatchError) as caught:
        bestcut.decide_samples([[1, 0]], "jaccard")
    listed = str(caught.value).rpartition("Metrics that are: ")[2]
    named = listed.rstrip(".").split(", ")
    assert sorted(named) == sorted(AFFINE)


def test_the_comparison_rejects_worse_labels(monkeypatch):
    draws, weight = dependent(np.random.default_rng(4), 5)
    assert_best(draws, weight, "f1")
    real = bestcut.decide_samples

    def nothing(draws, metric, **options):
        return real(draws, metric, **(options | {"max_positives": 0}))

    monkeypatch.setattr(bestcut, "decide_samples", nothing)
    with pytest.raises(AssertionError):
        assert_best(draws, weight, "f1")
