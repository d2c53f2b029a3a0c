"""What a distribution of a score answers fits together, and is said in words."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import bestcut
from bestcut.counts import Law
from bestcut.metrics import from_expression
from bestcut.scores._pairs import aligned
from bestcut.scores._rows import Rows
from groups import few_and_many
from oracles.definitions import DEFINITIONS, LOSSES
from oracles.outcomes import score_law
from scores.known import EVERY_NAME

probability = st.floats(0, 1, allow_subnormal=True)
pairs = st.lists(st.tuples(probability, st.booleans()), max_size=40)
metric_names = st.sampled_from(EVERY_NAME)


def split(items):
    return (
        np.array([p for p, _ in items], dtype=float),
        np.array([label for _, label in items], dtype=bool),
    )


@few_and_many(
    50,
    150,
    given(items=pairs, name=metric_names, levels=st.lists(probability, min_size=2)),
)
def test_quantiles_rise_and_stay_among_what_can_occur(items, name, levels):
    p, labels = split(items)
    distribution = bestcut.score_distribution(p, labels, name)
    levels = np.sort(levels)
    values = distribution.ppf(levels)
    assert isinstance(values, np.ndarray)
    assert np.all(np.diff(values) >= 0)
    assert values.tolist() == [distribution.ppf(float(q)) for q in levels]
    low, high = distribution.ppf(0.0), distribution.ppf(1.0)
    assert isinstance(low, float)
    assert low <= values[0]
    assert values[-1] <= high
    slack = distribution.error + distribution.value_error + 1e-12
    # What has no chance to speak of is no part of the range.
    assert low - slack <= distribution.mean <= high + slack
    assert 0 <= distribution.std <= (high - low) / 2 + 1e-6


@few_and_many(
    50,
    150,
    given(
        items=pairs,
        name=metric_names,
        cuts=st.lists(st.floats(-1.5, 1.5), min_size=2, max_size=10),
    ),
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


@few_and_many(
    50, 150, given(items=pairs, name=metric_names, level=st.floats(0.01, 0.999))
)
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


@few_and_many(
    40,
    100,
    given(items=pairs, name=metric_names, random=st.randoms(use_true_random=False)),
)
def test_the_order_of_the_instances_does_not_matter(items, name, random):
    here = bestcut.score_distribution(*split(items), name)
    shuffled = list(items)
    random.shuffle(shuffled)
    there = bestcut.score_distribution(*split(shuffled), name)
    assert there.mean == pytest.approx(here.mean, abs=here.error + there.error, rel=0)
    slack = here.probability_error + there.probability_error
    for c in (0.2, 0.5, float(here.ppf(0.5))):
        one, other = here.prob_at_least(c), there.prob_at_least(c)
        assert one == pytest.approx(other, abs=slack, rel=0)
    one, other = (d.surprise(0.5).p_value for d in (here, there))
    assert one == pytest.approx(other, abs=2 * slack, rel=0)


@settings(max_examples=60, deadline=None)
@given(
    items=pairs, name=st.sampled_from(["f1", "gmean", "mcc"]), q=st.floats(0.01, 0.99)
)
def test_twins_see_each_other(items, name, q):
    """P(score >= its q-quantile) > 1 - q, and what lies above is no likelier."""
    p, labels = split(items)
    distribution = bestcut.score_distribution(p, labels, name)
    x = distribution.ppf(q)
    slack = 4 * distribution.probability_error
    assert distribution.prob_at_least(x) >= 1 - q - slack
    assume(x < distribution.ppf(1.0))
    beyond = x + 1e-9
    assert distribution.prob_at_least(beyond) <= 1 - q + slack


def test_a_certain_score_is_a_point():
    p, labels = [0.0, 1.0, 1.0, 0.0], [0, 1, 0, 1]
    distribution = bestcut.score_distribution(p, labels, "f1")
    assert distribution.mean == 0.5
    assert distribution.std == 0
    assert distribution.interval(0.999) == (0.5, 0.5)
    assert distribution.surprise(0.5).p_value == 1
    assert distribution.surprise(0.4).p_value == 0
    assert distribution.surprise(0.6).p_value == 0


@pytest.fixture(scope="module")
def some():
    rng = np.random.default_rng(12)
    return bestcut.score_distribution(rng.random(20), rng.random(20) < 0.5, "f1")


@pytest.mark.parametrize("q", [-0.1, 1.1, float("nan"), "half", None, [0.5, 2.0]])
def test_levels_that_are_none_are_refused(some, q):
    with pytest.raises((ValueError, TypeError), match="`q`"):
        some.ppf(q)
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
    usual = distribution.surprise(distribution.ppf(0.5))
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
    assert again.ppf(0.4) == distribution.ppf(0.4)
    confusion = bestcut.expected_confusion(p, labels)
    assert pickle.loads(pickle.dumps(confusion)).mean == confusion.mean


RATIO = from_expression("tp / (fp + 1e-12)")
# A score of 7e12 if no negative is predicted positive; the others are at most 6.
LARGE = np.full(8, 0.5), [1] * 7 + [0]


@pytest.mark.parametrize("drawn", [False, True])
def test_scores_are_told_apart_though_others_are_very_large(drawn):
    """A value reaches another only if rounding explains how it falls short."""
    p, labels = LARGE
    known = bestcut.UncertainProbabilities([p, p]) if drawn else p
    score = bestcut.score_distribution(known, labels, RATIO)
    for value in (1e-3, 0.3, 1.0, 2.4):
        tp = np.arange(8)
        reached = tp / (7 - tp + 1e-12) >= value
        truth = sum(math.comb(7, t) for t in tp[reached].tolist()) / 2**7
        assert score.prob_at_least(value) == pytest.approx(truth, abs=1e-12)
        assert score.surprise(value).prob_higher == pytest.approx(truth, abs=1e-12)
    least = 1 / 2**7
    assert score.surprise(0.0).prob_lower == pytest.approx(least, abs=1e-12)
    assert score.surprise(1e-3).prob_lower == pytest.approx(least, abs=1e-12)
    # One hit scores 1/6, which is next to 0.166.
    assert score.sf(0.166) == pytest.approx(1 - least, abs=1e-12)
    assert score.cdf(0.166) == pytest.approx(least, abs=1e-12)


def test_scores_in_rows_are_told_apart_though_others_are_very_large():
    """The same where scores are found by bisection."""
    seven = Law(0, np.array([math.comb(7, t) for t in range(8)]) / 2**7)
    one = Law(0, np.array([0.5, 0.5]))
    law = Rows(RATIO, aligned(seven), aligned(one), 7, 8)
    assert law.at_least(1e-3 - law.tolerance) == 1.0  # all that is known of the largest
    assert law.reaching(1e-3) == pytest.approx(1 - 1 / 2**7, abs=1e-12)
    assert law.reaching(1.0) == law.at_least(1.0)
    value = 5 / (2 + 1e-12)
    assert law.reaching(value * (1 + 1e-15)) == law.at_least(value * (1 - 1e-9))
    assert law.exceeding(0.0) == pytest.approx(1 - 1 / 2**7, abs=1e-12)
    assert law.exceeding(value * (1 - 1e-15)) == law.above(value * (1 + 1e-9))


def test_scores_that_cancel_are_equal_though_they_round():
    """0.8 - 8 x 0.1 is not 0 in floating point."""
    worth = from_expression("0.8 * tp - 0.1 * fp - 0.1 * fn")
    score = bestcut.score_distribution([0.5] * 17, [1] * 9 + [0] * 8, worth)
    law = [math.comb(9, a) * math.comb(8, b) for a in range(10) for b in range(9)]
    tenths = [8 * a - (9 - a) - b for a in range(10) for b in range(9)]
    for value in (-3, 0, 1, 27):
        truth = sum(m for m, x in zip(law, tenths, strict=True) if x >= value) / 2**17
        for asked in (value / 10, value / 10 * (1 + 1e-15)):
            assert score.prob_at_least(asked) == pytest.approx(truth, abs=1e-12)
