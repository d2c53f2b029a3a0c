"""expected_score, score_distribution and expected_confusion against exact laws."""

import copy
import dataclasses
import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st
from sklearn.metrics import confusion_matrix

import bestcut
from bestcut.counts._window import law_of
from bestcut.metrics import (
    FractionalLinear,
    LinearUtility,
    from_counts,
    from_rates,
    from_uvp,
)
from oracles import EPS, error_of
from oracles.definitions import DEFINITIONS, LOSSES
from oracles.outcomes import ExactLaw, cell_laws, law_of_pairs, score_law

NAMES = bestcut.metrics.names()
RATES = {"gmean", "hmean", "qmean", "qmean_sqrt"}  # zero_division is a rate there
TINY = 1e-12  # more than any error bound for a few instances and scores of size 1


def metric_of(name, zero_division):
    metric = bestcut.metrics.get(name)
    if not hasattr(metric, "zero_division"):
        return metric
    return dataclasses.replace(metric, zero_division=zero_division)


def zero_divisions(name):
    if name in LOSSES:
        return [0]
    if name in RATES:
        return [0, 1, 0.5]
    extra = ["drop"] if name == "balanced_accuracy" else []
    return [0, 1, 0.5, -2, *extra]


def exactly(zero_division):
    return zero_division if zero_division == "drop" else Fraction(zero_division)


# Metrics of one's own, and what they are in exact arithmetic.


def bumpy(tp, fp, fn, tn):
    return (tp - 2) ** 2 - 3 * fp * fn + (tn % 2)


def worst_rate(tpr, tnr, p):
    return np.minimum(tpr, tnr)


def exact_worst_rate(tp, fp, fn, tn, zero_division):
    tpr = Fraction(tp, tp + fn) if tp + fn else Fraction(zero_division)
    tnr = Fraction(tn, tn + fp) if tn + fp else Fraction(zero_division)
    return min(tpr, tnr)


def exact_lift(tp, fp, fn, tn, zero_division):
    n = tp + fp + fn + tn
    chance = (tp + fp) * (tp + fn)
    return Fraction(tp * n, chance) if chance else Fraction(zero_division)


def exact_pole(tp, fp, fn, tn, zero_division):
    # (n - 2 u + 3 v) / (2 u - v), by shares of n
    top, bottom = fp + fn + tn + tp - 2 * tp + 3 * (tp + fp), 2 * tp - (tp + fp)
    return Fraction(top, bottom) if bottom else Fraction(zero_division)


CUSTOM = {
    "bumpy": (from_counts(bumpy, "bumpy"), lambda *x: Fraction(bumpy(*x[:4])), 0),
    "bumpy loss": (
        from_counts(bumpy, "bumpy loss", greater_is_better=False),
        lambda *x: Fraction(bumpy(*x[:4])),
        0,
    ),
    "constant": (
        from_counts(lambda *x: 0.25, "constant"),
        lambda *x: Fraction(0.25),
        0,
    ),
    "step": (
        from_counts(lambda tp, fp, fn, tn: (tp >= 2) * 1.0, "step"),
        lambda tp, fp, fn, tn, _: Fraction(tp >= 2),
        0,
    ),
    "worst rate": (
        from_rates(worst_rate, "worst rate", zero_division=0.5),
        exact_worst_rate,
        0.5,
    ),
    "lift": (
        from_uvp(lambda u, v, p: u / (v * p), "lift", zero_division=1.0),
        exact_lift,
        1,
    ),
    "utility": (
        LinearUtility(tp=100, fp=-5, fn=-20, tn=0.5),
        lambda tp, fp, fn, tn, _: 100 * tp - 5 * fp - 20 * fn + Fraction(tn, 2),
        0,
    ),
    "regret": (
        LinearUtility(tp=-1, fp=2, fn=3, tn=-4),
        lambda tp, fp, fn, tn, _: Fraction(-tp + 2 * fp + 3 * fn - 4 * tn),
        0,
    ),
    "pole": (
        FractionalLinear(c=(1, -2, 3, 0), d=(0, 2, -1, 0), zero_division=7.0),
        exact_pole,
        7,
    ),
}


def problem(rng, n):
    """Probabilities with certain, tied, tiny ones; labels of every kind."""
    p = (
        lambda: rng.random(n),
        lambda: rng.choice([0.0, 0.3, 0.7, 1.0], size=n),
        lambda: np.full(n, rng.random()),
        lambda: rng.choice([0.0, 1.0], size=n),
        lambda: rng.beta(0.3, 2, size=n),
        lambda: rng.integers(0, 65, size=n) / 64,
        lambda: rng.choice([1e-300, 1e-9, 0.5, 1 - 1e-9, 1.0], size=n),
    )[rng.integers(7)]()
    k = int(rng.integers(0, n + 1))
    labels = (
        lambda: rng.random(n) < rng.random(),
        lambda: np.argsort(np.argsort(-p, kind="stable")) < k,
        lambda: np.argsort(np.argsort(p, kind="stable")) < k,
        lambda: np.ones(n, dtype=bool),
        lambda: np.zeros(n, dtype=bool),
    )[rng.choice(5, p=[0.45, 0.25, 0.1, 0.1, 0.1])]()
    return p, labels


def size_of(law: ExactLaw) -> float:
    return max(1.0, float(max(abs(v) for v in law.values)))


def index_of(value, law, atol):
    """Return which value of the law this is."""
    errors = [error_of(value, v) for v in law.values]
    i = int(np.argmin(errors))
    assert errors[i] <= Fraction(atol), f"{value} never occurs"
    return i


def assert_quantile(value, q, law, slack, atol):
    """Raise unless P(X < value) <= q <= P(X <= value), up to the slack."""
    i = index_of(value, law, atol)
    level = Fraction(q)
    assert law.cumulative[i] >= level - slack, f"{value} is below the {q}-quantile"
    below = law.cumulative[i - 1] if i else 0
    room = slack if q == 0 else EPS
    assert below <= level + room, f"{value} is above the {q}-quantile"


def levels_of(law, slack, rng):
    """Return levels of every kind, and for those that are sure the right quantile."""
    sure = []
    for i, level in enumerate(law.cumulative):
        if law.masses[i] > 4 * slack:
            if float(level) < 1 or level == 1:  # 1 itself is the end of the law
                sure.append((float(level), law.values[i]))
            sure.append((float(level - 2 * slack), law.values[i]))
        if i + 1 < len(law.values) and law.masses[i + 1] > 4 * slack:
            sure.append((float(level + 2 * slack), law.values[i + 1]))
    return [0.0, 1.0, 0.05, 0.5, 0.95, *rng.random(4)], sure


def assert_law(distribution, law, rng, *, loss=False, most=1000):
    """Compare everything a distribution says with the exact law.

    Of the steps of the law and of the points between, at most `most` are looked at.
    """

    def some(items):
        chosen = rng.permutation(len(items))[:most]
        return [items[i] for i in np.sort(chosen)]

    size = size_of(law)
    # The mean, and the bounds themselves, which must not hide anything.
    unseen = Fraction(128e-20 * size)  # laws leave out what is less likely than that
    assert error_of(distribution.mean, law.mean) <= distribution.error + unseen
    assert 0 <= distribution.error <= TINY * size
    assert 0 < distribution.probability_error <= TINY
    assert 0 <= distribution.value_error <= TINY * size
    assert error_of(distribution.std, law.std) <= Fraction(1e-8 * size)
    if law.std > size / 1000:
        assert error_of(distribution.std, law.std) <= Fraction(1e-12 * size)
    chance_error = Fraction(distribution.probability_error)
    atol = distribution.value_error + 16 * float(EPS) * size

    # Quantiles, at steps of the law too.
    slack = 2 * chance_error + EPS
    levels, sure = levels_of(law, slack, rng)
    for q in levels:
        assert_quantile(distribution.quantile(q), q, law, slack, atol)
    if sure := some(sure):
        found = distribution.quantile([q for q, _ in sure])
        for (q, value), x in zip(sure, found, strict=True):
            assert error_of(x, value) <= Fraction(atol), (q, x, float(value))

    # Chances, at every value, a little off it, and between two.
    points = [(float(v), v) for v in law.values]
    seen = [v for v, m in zip(law.values, law.masses, strict=True) if m > 1e-18]
    ulp = float(EPS * max(map(abs, seen)))
    points += [(x + sign * ulp, v) for x, v in points for sign in (-1, 1)]
    points += [(float((a + b) / 2), (a + b) / 2) for a, b in pairwise(law.values)]
    points += [(float(v), v) for v in (law.values[0] - 1, law.values[-1] + 1)]
    for x, exact in some(points):
        low, high = law.at_most(exact), law.at_least(exact)
        chance = distribution.prob_at_least(x)
        assert 0 <= chance <= 1
        assert error_of(chance, low if loss else high) <= chance_error, x
        surprise = distribution.surprise(x)
        assert error_of(surprise.prob_lower, low) <= chance_error, x
        assert error_of(surprise.prob_higher, high) <= chance_error, x
        two_sided = min(Fraction(1), 2 * min(low, high))
        assert error_of(surprise.p_value, two_sided) <= 2 * chance_error
        assert 0 <= surprise.p_value <= 1

    # Intervals.
    for level in (0.9, 0.5, float(rng.random())):
        interval = distribution.interval(level)
        ends = [(1 - level) / 2, (1 + level) / 2]
        assert list(interval) == [distribution.quantile(q) for q in ends]
        i, j = (index_of(x, law, atol) for x in interval)
        assert sum(law.masses[i : j + 1]) >= Fraction(level) - 2 * slack
    assert tuple(distribution.interval()) == tuple(distribution.interval(0.9))


@pytest.mark.parametrize("name", NAMES)
def test_the_law_of_every_catalogue_metric_is_the_exact_one(name):
    rng = np.random.default_rng(NAMES.index(name))
    for n in [0, 1, 2, 3, 5, *rng.integers(4, 13, size=4).tolist()]:
        p, labels = problem(rng, n)
        for zero_division in zero_divisions(name):
            metric = metric_of(name, zero_division)
            law = score_law(p, labels, DEFINITIONS[name], exactly(zero_division))
            distribution = bestcut.score_distribution(p, labels, metric)
            assert_law(distribution, law, rng, loss=name in LOSSES)
            assert bestcut.expected_score(p, labels, metric) == distribution.mean


@pytest.mark.parametrize("name", CUSTOM)
def test_the_law_of_a_metric_of_ones_own_is_the_exact_one(name):
    metric, definition, zero_division = CUSTOM[name]
    rng = np.random.default_rng(len(name))
    for n in (1, 2, 4, 7, 10, 12, 12, 12):
        p, labels = problem(rng, n)
        law = score_law(p, labels, definition, Fraction(zero_division))
        distribution = bestcut.score_distribution(p, labels, metric)
        assert_law(distribution, law, rng, loss=not metric.greater_is_better)


@pytest.mark.parametrize("name", [*NAMES, *CUSTOM])
def test_the_ways_for_many_instances_are_exact_for_a_few(name, monkeypatch):
    """Bisection, for metrics that rise; without listing every pair first."""
    monkeypatch.setattr("bestcut.scores._law._FEW", 0)
    rng = np.random.default_rng(len(name))
    for n in (3, 12):
        p, labels = problem(rng, n)
        if name in CUSTOM:
            metric, definition, zero_division = CUSTOM[name]
        else:
            zero_division = int(rng.integers(2))
            metric, definition = metric_of(name, zero_division), DEFINITIONS[name]
        law = score_law(p, labels, definition, Fraction(zero_division))
        distribution = bestcut.score_distribution(p, labels, metric)
        loss = not metric.greater_is_better
        assert_law(distribution, law, rng, loss=loss, most=8)


@pytest.mark.parametrize("name", ["bumpy", "bumpy loss", "lift", "regret"])
def test_narrow_bins_are_right_within_their_width(name, monkeypatch):
    monkeypatch.setattr("bestcut.scores._law._FEW", 0)
    monkeypatch.setattr("bestcut.scores._law._MANY", 0)
    metric, definition, zero_division = CUSTOM[name]
    rng = np.random.default_rng(len(name))
    for n in (1, 4, 8, 12):
        p, labels = problem(rng, n)
        law = score_law(p, labels, definition, Fraction(zero_division))
        distribution = bestcut.score_distribution(p, labels, metric)
        width = float(law.values[-1] - law.values[0])
        assert distribution.value_error <= 1e-5 * max(width, 1)
        chance_error = Fraction(distribution.probability_error)
        for q in (0.05, 0.3, 0.5, 0.95):
            x = distribution.quantile(q)
            assert_quantile(x, q, law, 2 * chance_error, distribution.value_error)
        for v in law.values:
            low, high = law.at_most(v), law.at_least(v)
            surprise = distribution.surprise(float(v))
            assert error_of(surprise.prob_lower, low) <= chance_error
            assert error_of(surprise.prob_higher, high) <= chance_error


def test_the_comparison_rejects_wrong_laws():
    rng = np.random.default_rng(0)
    p, labels = [0.3, 0.6, 0.2, 0.8], [1, 0, 1, 1]
    right = score_law(p, labels, DEFINITIONS["f1"], Fraction(0))
    distribution = bestcut.score_distribution(p, labels, "f1")
    assert_law(distribution, right, rng)
    wrong = [
        score_law(p, [1, 1, 0, 1], DEFINITIONS["f1"], Fraction(0)),
        score_law(p, labels, DEFINITIONS["jaccard"], Fraction(0)),
        score_law([0.3, 0.6, 0.2, 0.8 + 1e-9], labels, DEFINITIONS["f1"], Fraction(0)),
        right.shifted(Fraction(1e-12)),
    ]
    for law in wrong:
        with pytest.raises(AssertionError):
            assert_law(distribution, law, rng)
    with pytest.raises(AssertionError):
        assert_law(distribution, right, rng, loss=True)


@pytest.mark.parametrize("values", [[0.1, 0.2, 0.4], [1 / 3, 0.6, 0.9]])
def test_a_round_number_is_reached_by_the_count_that_gives_it(values):
    # Ten instances, nine right: an accuracy of 0.9 is reached, as 1 - 0.1 and 9 / 10.
    n = 10
    p = np.array(values * 4)[:n]
    labels = np.ones(n, dtype=bool)
    inside, _ = cell_laws(p, labels)
    distribution = bestcut.score_distribution(p, labels, "accuracy")
    for right in range(n + 1):
        exact = sum(inside[right:])
        for c in (
            right / n,
            1 - (n - right) / n,
            right * 0.1,
            float(np.float64(right) / n),
        ):
            assert error_of(distribution.prob_at_least(c), exact) <= Fraction(1e-13)


def test_a_list_of_metrics_gives_a_dict_by_name():
    rng = np.random.default_rng(1)
    p, labels = rng.random(30), rng.random(30) < 0.4
    metrics = ["f1", "squared_count_error", LinearUtility(tp=1, name="caught")]
    means = bestcut.expected_score(p, labels, metrics)
    laws = bestcut.score_distribution(p, labels, metrics)
    names = ["f1", "squared_count_error", "caught"]
    assert list(means) == list(laws) == names
    for name, metric in zip(names, metrics, strict=True):
        alone = bestcut.score_distribution(p, labels, metric)
        slack = alone.error + laws[name].error
        assert means[name] == pytest.approx(alone.mean, abs=slack, rel=0)
        assert laws[name].mean == pytest.approx(alone.mean, abs=slack, rel=0)
        assert laws[name].quantile(0.3) == alone.quantile(0.3)
    assert bestcut.expected_score(p, labels, ["mcc"]).keys() == {"mcc"}
    default = bestcut.expected_score(p, labels)
    assert isinstance(default, float)
    assert default == means["f1"]


# Confusion matrices.


def assert_confusion(confusion, p, labels):
    inside, outside = cell_laws(p, labels)
    numbers = [Fraction(i) for i in range(len(p) + 1)]
    tp, fn = (
        law_of_pairs(zip(numbers, law, strict=False)) for law in (inside, outside)
    )
    laws = {
        "tp": tp,
        "fp": tp.negated().shifted(len(inside) - 1),
        "fn": fn,
        "tn": fn.negated().shifted(len(outside) - 1),
    }
    n = max(len(p), 1)
    for cell, law in laws.items():
        assert error_of(getattr(confusion.mean, cell), law.mean) <= n * 16 * EPS
        assert error_of(getattr(confusion.std, cell), law.std) <= Fraction(1e-7)
        for level in (0.9, 0.5, 0.999):
            low, high = getattr(confusion.interval(level), cell)
            assert isinstance(low, int)
            assert isinstance(high, int)
            covered = law.at_most(high) - law.at_most(low - 1)
            assert covered >= Fraction(level) - Fraction(TINY)
            # No end could be moved in without losing its tail.
            tail = (1 - Fraction(level)) / 2 + Fraction(TINY)
            assert law.at_most(low - 1) <= tail
            assert law.at_least(high + 1) <= tail
            assert law.at_most(low) >= tail - 2 * Fraction(TINY)
            assert law.at_least(high) >= tail - 2 * Fraction(TINY)
    assert confusion.interval() == confusion.interval(0.9)
    assert list(confusion.mean._fields) == ["tp", "fp", "fn", "tn"]
    tp, fp, fn, tn = confusion.mean
    assert np.array_equal(confusion.matrix, [[tn, fp], [fn, tp]])
    assert confusion.matrix.sum() == pytest.approx(len(p), abs=1e-9)


def test_the_confusion_matrix_has_the_exact_means_and_intervals():
    rng = np.random.default_rng(3)
    for n in [0, 1, 2, 3, *rng.integers(4, 13, size=30).tolist()]:
        p, labels = problem(rng, n)
        assert_confusion(bestcut.expected_confusion(p, labels), p, labels)


def test_the_matrix_is_in_the_order_of_scikit_learn():
    actual = np.array([1, 1, 1, 1, 0, 0, 0, 1, 0, 1])
    labels = np.array([1, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    confusion = bestcut.expected_confusion(actual.astype(float), labels)
    assert np.array_equal(confusion.matrix, confusion_matrix(actual, labels))
    assert confusion.std == (0, 0, 0, 0)
    assert confusion.interval().fn == (3, 3)


# What a decision promises.


@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "squared_count_error"])
def test_a_decision_knows_the_law_of_its_own_labels(name):
    p = np.random.default_rng(8).beta(0.4, 2, size=80)
    decision = bestcut.decide(p, name)
    own = decision.distribution()
    direct = bestcut.score_distribution(p, decision.labels, name)
    slack = own.error + decision.error
    assert own.mean == pytest.approx(decision.expected_score, abs=slack, rel=0)
    assert own.mean == pytest.approx(direct.mean, abs=own.error + direct.error, rel=0)
    assert own.interval() == pytest.approx(direct.interval(), abs=1e-12)
    c = own.quantile(0.4)
    slack = own.probability_error + direct.probability_error
    assert own.prob_at_least(c) == pytest.approx(direct.prob_at_least(c), abs=slack)
    for other in ("precision", bestcut.metrics.Recall(zero_division=1.0)):
        there = decision.distribution(other)
        expected = bestcut.expected_score(p, decision.labels, other)
        assert there.mean == pytest.approx(expected, abs=2 * there.error)
    assert decision.distribution(metric="recall").mean == pytest.approx(
        bestcut.expected_score(p, decision.labels, "recall"), abs=1e-12
    )
    confusion = decision.confusion()
    expected = bestcut.expected_confusion(p, decision.labels)
    assert confusion.mean == pytest.approx(expected.mean, abs=1e-12)
    assert confusion.interval() == expected.interval()
    assert confusion.mean.tp == pytest.approx(p[decision.labels].sum())


def test_the_law_of_a_decision_by_enumeration_is_that_of_its_labels():
    metric = from_counts(lambda tp, fp, fn, tn: fp * fn - tp + 1.0 * tn, "perverse")
    p = [0.9, 0.2, 0.6, 0.45]
    decision = bestcut.decide(p, metric, solver="exhaustive")
    law = score_law(
        p, decision.labels, lambda tp, fp, fn, tn, _: Fraction(fp * fn - tp + tn), 0
    )
    assert_law(decision.distribution(), law, np.random.default_rng(0))


def test_the_law_of_a_decision_does_not_follow_later_changes_of_the_input():
    p = np.array([0.5, 0.6, 0.1])
    decision = bestcut.decide(p)
    expected = bestcut.decide([0.5, 0.6, 0.1]).distribution().mean
    p[:] = 0.0
    assert decision.distribution().mean == expected


# Properties.

probability = st.floats(0, 1, allow_subnormal=True)
pairs = st.lists(st.tuples(probability, st.booleans()), max_size=40)
metric_names = st.sampled_from(NAMES)


def split(items):
    return (
        np.array([p for p, _ in items], dtype=float),
        np.array([label for _, label in items], dtype=bool),
    )


@settings(max_examples=150, deadline=None)
@given(items=pairs, name=metric_names, levels=st.lists(probability, min_size=2))
def test_quantiles_rise_and_stay_among_what_can_occur(items, name, levels):
    p, labels = split(items)
    distribution = bestcut.score_distribution(p, labels, name)
    levels = np.sort(levels)
    values = distribution.quantile(levels)
    assert isinstance(values, np.ndarray)
    assert np.all(np.diff(values) >= 0)
    assert values.tolist() == [distribution.quantile(float(q)) for q in levels]
    low, high = distribution.quantile(0.0), distribution.quantile(1.0)
    assert isinstance(low, float)
    assert low <= values[0]
    assert values[-1] <= high
    slack = distribution.error + distribution.value_error + 1e-12
    # What has no chance to speak of is no part of the range.
    assert low - slack <= distribution.mean <= high + slack
    assert 0 <= distribution.std <= (high - low) / 2 + 1e-6


@settings(max_examples=150, deadline=None)
@given(
    items=pairs,
    name=metric_names,
    cuts=st.lists(st.floats(-1.5, 1.5), min_size=2, max_size=10),
)
def test_a_higher_score_is_less_likely(items, name, cuts):
    p, labels = split(items)
    distribution = bestcut.score_distribution(p, labels, name)
    chances = [distribution.prob_at_least(c) for c in sorted(cuts)]
    if name in LOSSES:
        chances = chances[::-1]
    assert np.all(np.diff(chances) <= 0)
    assert min(chances) >= 0
    assert max(chances) <= 1
    worst, best = (-2.0, 2.0) if name not in LOSSES else (2.0, -2.0)
    certain = distribution.prob_at_least(worst)
    assert 1 - distribution.probability_error <= certain <= 1
    assert distribution.prob_at_least(best) == 0


@settings(max_examples=150, deadline=None)
@given(items=pairs, name=metric_names, level=st.floats(0.01, 0.999))
def test_an_interval_holds_what_it_promises(items, name, level):
    p, labels = split(items)
    distribution = bestcut.score_distribution(p, labels, name)
    low, high = distribution.interval(level)
    assert low <= high
    below = 1 - distribution.surprise(low).prob_higher
    above = 1 - distribution.surprise(high).prob_lower
    assert 1 - below - above >= level - 6 * distribution.probability_error
    assert below <= (1 - level) / 2 + 2 * distribution.probability_error
    assert above <= (1 - level) / 2 + 4 * distribution.probability_error


@settings(max_examples=100, deadline=None)
@given(items=pairs, name=metric_names, random=st.randoms(use_true_random=False))
def test_the_order_of_the_instances_does_not_matter(items, name, random):
    here = bestcut.score_distribution(*split(items), name)
    shuffled = list(items)
    random.shuffle(shuffled)
    there = bestcut.score_distribution(*split(shuffled), name)
    assert there.mean == pytest.approx(here.mean, abs=here.error + there.error, rel=0)
    slack = here.probability_error + there.probability_error
    for c in (0.2, 0.5, float(here.quantile(0.5))):
        one, other = here.prob_at_least(c), there.prob_at_least(c)
        assert one == pytest.approx(other, abs=slack, rel=0)
    one, other = (d.surprise(0.5).p_value for d in (here, there))
    assert one == pytest.approx(other, abs=2 * slack, rel=0)


@settings(max_examples=100, deadline=None)
@given(p=st.lists(probability, max_size=40), name=metric_names)
def test_the_mean_of_a_decisions_law_is_its_expected_score(p, name):
    decision = bestcut.decide(p, name)
    law = decision.distribution()
    slack = law.error + decision.error
    assert law.mean == pytest.approx(decision.expected_score, abs=slack, rel=0)
    expected = bestcut.expected_score(p, decision.labels, name)
    assert expected == pytest.approx(decision.expected_score, abs=slack, rel=0)


@settings(max_examples=60, deadline=None)
@given(
    items=pairs, name=st.sampled_from(["f1", "gmean", "mcc"]), q=st.floats(0.01, 0.99)
)
def test_twins_see_each_other(items, name, q):
    """P(score >= its q-quantile) > 1 - q, and what lies above is no likelier."""
    p, labels = split(items)
    distribution = bestcut.score_distribution(p, labels, name)
    x = distribution.quantile(q)
    slack = 4 * distribution.probability_error
    assert distribution.prob_at_least(x) >= 1 - q - slack
    assume(x < distribution.quantile(1.0))
    beyond = x + 1e-9
    assert distribution.prob_at_least(beyond) <= 1 - q + slack


# Inputs.


def label_containers():
    labels = [True, False, True, False]
    numbers = [1, 0, 1, 0]
    frozen = np.array(labels)
    frozen.flags.writeable = False
    return {
        "list of bools": labels,
        "list of ints": numbers,
        "tuple of floats": (1.0, 0.0, 1.0, 0.0),
        "bool": np.array(labels),
        "int8": np.array(numbers, dtype=np.int8),
        "uint8": np.array(numbers, dtype=np.uint8),
        "float32": np.array(numbers, dtype=np.float32),
        "read-only": frozen,
        "strided": np.repeat(labels, 2)[::2],
        "pandas": pd.Series(numbers, index=list("dcba")),
        "pandas bool": pd.Series(labels),
        "pandas nullable": pd.Series(labels, dtype="boolean"),
        "pandas nullable ints": pd.Series(numbers, dtype="Int64"),
        "polars": pl.Series(numbers),
        "polars bool": pl.Series(labels),
    }


@pytest.mark.parametrize("kind", label_containers())
def test_every_container_of_labels_is_fine_and_not_changed(kind):
    p = np.array([0.25, 0.5, 0.125, 0.75])
    reference = bestcut.score_distribution(p, np.array([True, False, True, False]))
    data = label_containers()[kind]
    before = list(copy.copy(data))
    for proba in (p, p.astype(np.float32), p.tolist(), pd.Series(p), pl.Series(p)):
        distribution = bestcut.score_distribution(proba, data, "f1")
        assert distribution.mean == reference.mean
        assert distribution.interval() == reference.interval()
        assert bestcut.expected_score(proba, data) == reference.mean
        assert bestcut.expected_confusion(proba, data).mean.tp == 0.375
        distribution.sample(3, 0)
    assert list(data) == before
    assert p.tolist() == [0.25, 0.5, 0.125, 0.75]


def test_a_distribution_does_not_follow_later_changes_of_its_inputs():
    p, labels = np.array([0.3, 0.6, 0.2, 0.8]), np.array([True, False, True, True])
    distribution = bestcut.score_distribution(p, labels, "jaccard")
    confusion = bestcut.expected_confusion(p, labels)
    fresh = bestcut.score_distribution(p.copy(), labels.copy(), "jaccard")
    expected = fresh.mean, fresh.quantile(0.3), fresh.prob_at_least(0.5), fresh.std
    cells = bestcut.expected_confusion(p.copy(), labels.copy()).interval()
    p[:], labels[:] = 0.0, False
    got = (
        distribution.mean,
        distribution.quantile(0.3),
        distribution.prob_at_least(0.5),
        distribution.std,
    )
    assert got == expected
    assert confusion.interval() == cells


def test_nothing_to_predict_has_the_score_of_nothing():
    for metric, value in (("f1", 0.0), (bestcut.metrics.FBeta(zero_division=1.0), 1.0)):
        distribution = bestcut.score_distribution([], [], metric)
        assert bestcut.expected_score([], [], metric) == distribution.mean == value
        assert distribution.std == 0
        assert distribution.interval() == (value, value)
        assert distribution.prob_at_least(value) == 1
    assert bestcut.expected_confusion([], []).mean == (0, 0, 0, 0)


def test_a_certain_score_is_a_point():
    p, labels = [0.0, 1.0, 1.0, 0.0], [0, 1, 0, 1]
    distribution = bestcut.score_distribution(p, labels, "f1")
    assert distribution.mean == 0.5
    assert distribution.std == 0
    assert distribution.interval(0.999) == (0.5, 0.5)
    assert distribution.surprise(0.5).p_value == 1
    assert distribution.surprise(0.4).p_value == 0
    assert distribution.surprise(0.6).p_value == 0


BAD_LABELS = {
    "a fraction": ([0, 0.3, 1], ValueError, r"`y_pred`.*y_pred\[1\] = 0\.3"),
    "two": ([0, 1, 2], ValueError, r"`y_pred`.*2"),
    "minus one": ([-1, 1, 1], ValueError, r"`y_pred`.*-1"),
    "nan": ([0, np.nan, 1], ValueError, r"`y_pred`.*nan"),
    "too few": ([0, 1], ValueError, r"`y_pred`.*3.*2"),
    "too many": ([0, 1, 0, 1], ValueError, r"`y_pred`.*3.*4"),
    "2-D": ([[0, 1, 1]], ValueError, r"`y_pred`.*\(1, 3\)"),
    "scalar": (1, ValueError, r"`y_pred`"),
    "strings": (["a", "b", "a"], TypeError, r"`y_pred`.*<U1"),
    "none": (None, (TypeError, ValueError), r"`y_pred`"),
    "missing": (
        pd.Series([1, None, 0], dtype="Int64"),
        (TypeError, ValueError),
        r"`y_pred`",
    ),
    "missing bool": (
        pd.Series([True, None, False], dtype="boolean"),
        (TypeError, ValueError),
        r"`y_pred`",
    ),
    "masked": (np.ma.array([0, 1, 1], mask=[0, 1, 0]), TypeError, r"`y_pred`.*masked"),
    "masked bool": (
        np.ma.array([False, True, True], mask=[0, 1, 0]),
        TypeError,
        r"`y_pred`.*masked",
    ),
}


@pytest.mark.parametrize("kind", BAD_LABELS)
def test_bad_labels_are_refused_by_name(kind):
    labels, error, message = BAD_LABELS[kind]
    for function in (
        bestcut.expected_score,
        bestcut.score_distribution,
        bestcut.expected_confusion,
    ):
        with pytest.raises(error, match=message):
            function([0.1, 0.2, 0.3], labels)


def test_bad_probabilities_and_metrics_are_refused_as_in_decide():
    for function in (
        bestcut.expected_score,
        bestcut.score_distribution,
        bestcut.expected_confusion,
    ):
        with pytest.raises(bestcut.InvalidProbabilityError, match="`y_proba`"):
            function([0.1, 1.2], [0, 1])
        with pytest.raises(ValueError, match="`y_proba`"):
            function([[0.1, 0.2]], [0, 1])
    for function in (bestcut.expected_score, bestcut.score_distribution):
        with pytest.raises(ValueError, match="Did you mean 'f1'"):
            function([0.1, 0.2], [0, 1], "F1")
        with pytest.raises(ValueError, match="Did you mean 'jaccard'"):
            function([0.1, 0.2], [0, 1], ["f1", "iou"])
        with pytest.raises(TypeError, match="from_counts"):
            function([0.1, 0.2], [0, 1], max)


@pytest.fixture(scope="module")
def some():
    rng = np.random.default_rng(12)
    return bestcut.score_distribution(rng.random(20), rng.random(20) < 0.5, "f1")


@pytest.mark.parametrize("q", [-0.1, 1.1, float("nan"), "half", None, [0.5, 2.0]])
def test_levels_that_are_none_are_refused(some, q):
    with pytest.raises((ValueError, TypeError), match="`q`"):
        some.quantile(q)
    if not isinstance(q, list):
        with pytest.raises((ValueError, TypeError), match="`level`"):
            some.interval(q)
        confusion = bestcut.expected_confusion([0.5], [1])
        with pytest.raises((ValueError, TypeError), match="`level`"):
            confusion.interval(q)


@pytest.mark.parametrize("c", [float("nan"), float("inf"), "high", None])
def test_scores_that_are_none_are_refused(some, c):
    with pytest.raises((ValueError, TypeError)):
        some.prob_at_least(c)
    with pytest.raises((ValueError, TypeError)):
        some.surprise(c)


# Samples.


def test_samples_follow_the_law():
    p, labels = [0.3, 0.6, 0.2, 0.8, 0.5], [1, 0, 1, 1, 0]
    for name in ("f1", "squared_count_error", "mcc"):
        law = score_law(p, labels, DEFINITIONS[name], Fraction(0))
        distribution = bestcut.score_distribution(p, labels, name)
        size = 40_000
        sample = distribution.sample(size, 7)
        assert sample.shape == (size,)
        assert sample.dtype == np.float64
        nearest = np.abs(sample[:, None] - [float(v) for v in law.values])
        assert nearest.min(axis=1).max() <= 1e-14
        counts = np.bincount(nearest.argmin(axis=1), minlength=len(law.values))
        for count, mass in zip(counts, map(float, law.masses), strict=True):
            assert abs(count - size * mass) <= 5 * np.sqrt(size * mass * (1 - mass))


def test_the_same_seed_gives_the_same_sample_and_a_generator_moves_on(some):
    assert np.array_equal(some.sample(50, 3), some.sample(50, 3))
    assert not np.array_equal(some.sample(50, 3), some.sample(50, 4))
    seeded = some.sample(50, np.random.default_rng(3))
    assert np.array_equal(seeded, some.sample(50, 3))
    rng = np.random.default_rng(3)
    assert not np.array_equal(some.sample(50, rng), some.sample(50, rng))
    assert some.sample(0, 3).shape == (0,)


def test_samples_leave_the_global_generator_alone(some):
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    some.sample(10, 3)
    assert np.random.random() == expected  # noqa: NPY002


# What is said in words.


def test_the_repr_gives_the_mean_and_an_interval():
    p = np.random.default_rng(4).beta(0.5, 2, 300)
    distribution = bestcut.decide(p, "f1").distribution()
    low, high = distribution.interval()
    text = repr(distribution)
    for part in ("F1 ", f"{distribution.mean:.2f}", f"{low:.2f}", f"{high:.2f}", "90%"):
        assert part in text


def test_a_surprise_says_so():
    p = np.random.default_rng(4).beta(0.5, 2, 3000)
    distribution = bestcut.decide(p, "f1").distribution()
    usual = distribution.surprise(distribution.quantile(0.5))
    low = distribution.surprise(distribution.mean - 6 * distribution.std)
    high = distribution.surprise(distribution.mean + 6 * distribution.std)
    assert usual.p_value > 0.9
    assert low.p_value < 1e-6
    assert low.prob_lower < 1e-6 < low.prob_higher
    assert high.p_value < 1e-6
    assert high.prob_higher < 1e-6 < high.prob_lower
    verdicts = {x.verdict for x in (usual, low, high)}
    assert len(verdicts) == 3
    assert all(isinstance(x, str) and x for x in verdicts)


def test_distributions_can_be_pickled():
    p, labels = [0.3, 0.6, 0.2, 0.8], [1, 0, 1, 1]
    distribution = bestcut.score_distribution(p, labels, "f1")
    again = pickle.loads(pickle.dumps(distribution))
    assert again.quantile(0.4) == distribution.quantile(0.4)
    confusion = bestcut.expected_confusion(p, labels)
    assert pickle.loads(pickle.dumps(confusion)).mean == confusion.mean


# Many instances: the sum over both exact laws, written out, and simulation.


def wave(tp, fp, fn, tn):
    return np.sin(0.05 * tp) * (fn + 1) / (tp + fn + 1) + 1e-3 * (fp % 3)


LARGE = {
    **{
        name: bestcut.metrics.get(name)
        for name in ("f1", "mcc", "gmean", "jaccard", "accuracy", "squared_count_error")
    },
    "wave": from_counts(wave, "wave"),
}


def direct_law(p, labels, metric):
    """Return every score in the windows of both laws, and its probability."""
    inside, outside = law_of(p[labels]), law_of(p[~labels])
    tp, fn = inside.counts[:, None], outside.counts
    k, n = float(labels.sum()), float(p.size)
    scores = np.broadcast_to(metric.score(tp, k, tp + fn, n), (tp.size, fn.size))
    return scores.ravel(), np.outer(inside.pmf, outside.pmf).ravel()


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
        x = distribution.quantile(q)
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
    for name in NAMES:
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


def late(tp, fp, fn, tn):
    """Like the share of right labels until there are more than 40 positives."""
    share = (tp + tn) / np.maximum(tp + fp + fn + tn, 1)
    return np.where(tp + fn > 40, 1 - share, share)


@pytest.mark.parametrize("few", [None, 0])
def test_what_turns_only_for_many_instances_is_not_taken_for_monotone(few, monkeypatch):
    if few is not None:  # pairs that are listed without a thought
        monkeypatch.setattr("bestcut.scores._law._FEW", few)
    metric = from_counts(late, "late")
    rng = np.random.default_rng(2)
    p = rng.beta(0.5, 1.5, size=160)  # some 40 positives
    labels = p > 0.4
    scores, masses = direct_law(p, labels, metric)
    distribution = bestcut.score_distribution(p, labels, metric)
    assert distribution.mean == pytest.approx(scores @ masses, abs=1e-12)
    for c in np.linspace(0.1, 0.9, 9):
        chance = masses[scores >= c - 1e-12].sum()
        assert distribution.prob_at_least(c) == pytest.approx(chance, abs=1e-12)
    for q in (0.05, 0.5, 0.95):
        x = distribution.quantile(q)
        assert masses[scores <= x + 1e-12].sum() >= q - 1e-12
        assert masses[scores < x - 1e-12].sum() <= q + 1e-12


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
                x = distribution.quantile(q)
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


# Coverage: how often the score falls into its interval.


def coverage(name, n, repeats, seed, level=0.9):
    """Return how often the score of a fresh test set falls into its interval."""
    rng = np.random.default_rng(seed)
    metric = bestcut.metrics.get(name)
    covered = 0
    for _ in range(repeats):
        p = rng.beta(0.5, 2, size=n)
        decision = bestcut.decide(p, metric)
        low, high = decision.distribution().interval(level)
        actual = rng.random(n) < p
        tp = np.count_nonzero(actual & decision.labels)
        score = metric(tp, decision.n_positive, np.count_nonzero(actual), n)
        covered += bool(low - 1e-12 <= score <= high + 1e-12)
    return covered / repeats


def assert_coverage(name, n, repeats, record):
    share = coverage(name, n, repeats, seed=[n, NAMES.index(name)])
    record(f"coverage of {name} at n = {n}", share)
    noise = 3 * np.sqrt(0.9 * 0.1 / repeats)
    assert share >= 0.9 - noise
    if n >= 3000:  # a single value has hardly any probability
        assert share <= 0.9 + noise


@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "jaccard"])
def test_intervals_cover_as_often_as_they_say(name, record_property):
    assert_coverage(name, 30, 200, record_property)
    assert_coverage(name, 300, 50, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "jaccard"])
@pytest.mark.parametrize("n", [30, 300, 3000])
def test_intervals_cover_as_often_as_they_say_in_many_test_sets(
    name, n, record_property
):
    assert_coverage(name, n, 2000, record_property)


def test_coverage_would_show_intervals_that_are_too_narrow():
    assert coverage("f1", 300, 100, seed=1, level=0.7) < 0.9 - 3 * np.sqrt(0.09 / 100)
