"""The tuned threshold is the best of all thresholds, whatever the metric."""

import dataclasses
import math
import re
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, strategies as st

import bestcut
from bestcut import empirical_threshold
from bestcut._empirical import threshold_between
from bestcut.metrics import FBeta, LinearUtility, from_counts, from_rates, from_uvp
from groups import slow
from helpers import NAMES, metric_of
from oracles import EPS, assert_near
from oracles.definitions import DEFINITIONS, LOSSES

# A metric is a ratio or a root of a few sums of whole numbers: 16 roundings, and 16
# more within which the code calls two values equal.
ROUNDINGS = 32 * EPS


# --- oracle: each threshold by itself, in fractions ----------------------------------


def cells(truth, scores, weights, threshold):
    """Return the four cells of the prediction ``score >= threshold``."""
    table = {(y, z): 0 for y in (0, 1) for z in (0, 1)}
    for y, score, weight in zip(truth, scores, weights, strict=True):
        table[int(y), int(score >= threshold)] += weight
    return table[1, 1], table[0, 1], table[1, 0], table[0, 0]


def all_thresholds(scores):
    """Every score, and one above all: thresholds between two scores do the same."""
    return [*sorted(set(scores)), math.inf]


def brute_force(truth, scores, weights, definition, loss):
    values = [
        definition(*cells(truth, scores, weights, t)) for t in all_thresholds(scores)
    ]
    return min(values) if loss else max(values)


def assert_best(found, truth, scores, definition, *, weights=None, loss=False):
    weights = [1] * len(truth) if weights is None else weights
    best = brute_force(truth, scores, weights, definition, loss)
    scale = max(abs(best), 1)
    assert_near(found.score, best, atol=ROUNDINGS * scale)
    own = definition(*cells(truth, scores, weights, found.threshold))
    assert abs(own - best) <= ROUNDINGS * scale
    assert found.n_positive == sum(s >= found.threshold for s in scores)


@cache
def defined(name, zero_division):
    return cache(lambda *four: DEFINITIONS[name](*four, zero_division))


def random_case(rng):
    """Labels and scores: tied, all of one class, one score, or nothing special."""
    n = int(rng.integers(1, 13))
    levels = rng.choice([1, 2, 3, 5, 64])
    scores = (rng.integers(0, levels + 1, n) / levels).tolist()
    truth = (rng.random(n) < rng.choice([0, 0.2, 0.5, 0.9, 1])).tolist()
    return truth, scores


@pytest.mark.parametrize("count", [120, slow(1200)])
@pytest.mark.parametrize("name", NAMES)
def test_equals_brute_force_over_all_thresholds(name, count):
    rng = np.random.default_rng(0)
    loss = name in LOSSES
    for i in range(count):
        zero_division = Fraction(i % 3, 2)
        truth, scores = random_case(rng)
        found = empirical_threshold(
            truth, scores, metric_of(name, float(zero_division))
        )
        definition = defined(name, zero_division)
        assert_best(found, truth, scores, definition, loss=loss)


@pytest.mark.parametrize("name", NAMES)
def test_integer_weights_are_repetitions(name):
    rng = np.random.default_rng(1)
    metric = bestcut.metrics.get(name)
    for _ in range(60):
        truth, scores = random_case(rng)
        weights = rng.integers(0, 4, len(truth)).tolist()
        found = empirical_threshold(truth, scores, metric, sample_weight=weights)
        definition = defined(name, Fraction(0))
        assert_best(
            found, truth, scores, definition, weights=weights, loss=name in LOSSES
        )
        again = empirical_threshold(
            np.repeat(truth, weights), np.repeat(scores, weights), metric
        )
        assert found.score == pytest.approx(again.score, rel=0, abs=float(ROUNDINGS))
        if 0 not in weights:
            assert found.threshold == again.threshold


def worst_rate(tp, fp, fn, tn):
    def rate(part, rest):
        return Fraction(part, part + rest) if part + rest else Fraction(1)

    return min(rate(tp, fn), rate(tn, fp))


CUSTOM = {
    "profit": (
        LinearUtility(tp=5, fp=-2, fn=-1, tn=0.5),
        lambda tp, fp, fn, tn: 5 * tp - 2 * fp - fn + Fraction(tn, 2),
        False,
    ),
    "counts": (
        from_counts(lambda tp, fp, fn, tn: tp * tn - fp * fn),
        lambda tp, fp, fn, tn: tp * tn - fp * fn,
        False,
    ),
    "jaccard of negatives": (
        from_counts(lambda tp, fp, fn, tn: tn / (tn + fp + fn), zero_division=0.0),
        lambda tp, fp, fn, tn: Fraction(tn, tn + fp + fn) if tn + fp + fn else 0,
        False,
    ),
    "rates": (
        from_rates(lambda tpr, tnr, p: np.minimum(tpr, tnr), zero_division=1.0),
        worst_rate,
        False,
    ),
    "uvp": (
        from_uvp(lambda u, v, p: np.abs(v - p), greater_is_better=False),
        lambda tp, fp, fn, tn: Fraction(abs(fp - fn), tp + fp + fn + tn),
        True,
    ),
    "loss": (
        from_counts(lambda tp, fp, fn, tn: 3 * fn + fp, greater_is_better=False),
        lambda tp, fp, fn, tn: 3 * fn + fp,
        True,
    ),
    "constant": (from_counts(lambda *_: 1.0), lambda *_: Fraction(1), False),
}


@pytest.mark.parametrize(("metric", "definition", "loss"), CUSTOM.values(), ids=CUSTOM)
def test_a_metric_of_your_own_equals_brute_force(metric, definition, loss):
    rng = np.random.default_rng(2)
    for _ in range(400):
        truth, scores = random_case(rng)
        found = empirical_threshold(truth, scores, metric)
        assert_best(found, truth, scores, definition, loss=loss)
        assert found.metric is metric


def test_the_comparison_with_brute_force_can_fail():
    truth, scores = [1, 0, 1, 0], [0.9, 0.6, 0.6, 0.1]
    definition = defined("f1", Fraction(0))
    found = empirical_threshold(truth, scores)
    assert_best(found, truth, scores, definition)
    for wrong in (
        {"score": found.score * (1 + 1e-14)},
        {"threshold": 0.7},
        {"n_positive": found.n_positive + 1},
    ):
        with pytest.raises(AssertionError):
            assert_best(dataclasses.replace(found, **wrong), truth, scores, definition)


@pytest.mark.parametrize("name", ["f1", "mcc", "balanced_accuracy", "gmean"])
def test_many_scores_are_looked_at_one_and_all(name):
    rng = np.random.default_rng(3)
    scores = np.rint(rng.normal(size=3000) * 200) / 200
    truth = rng.random(3000) < 1 / (1 + np.exp(2 - 2 * scores))
    weight = rng.integers(1, 4, 3000).astype(float)
    cuts = np.array(all_thresholds(scores.tolist()))
    z = scores[:, None] >= cuts
    four = [
        weight @ (truth[:, None] & z),
        weight @ (~truth[:, None] & z),
        weight @ (truth[:, None] & ~z),
        weight @ (~truth[:, None] & ~z),
    ]
    best = bestcut.metrics.get(name).psi(*four).max()
    found = empirical_threshold(truth, scores, name, sample_weight=weight)
    assert found.score == pytest.approx(best, rel=1e-14)
    assert found.n_positive == np.count_nonzero(scores >= found.threshold)


def test_weights_that_are_not_whole_leave_empty_cells_empty():
    # A rounding left in an empty cell would hide that it is empty.
    rng = np.random.default_rng(4)
    missed = from_counts(lambda tp, fp, fn, tn: np.where(fn == 0, 1.0, 0.0) - fp)
    for _ in range(200):
        n = int(rng.integers(2, 30))
        scores = (rng.integers(0, 20, n) / 16).tolist()
        truth = (np.array(scores) > rng.random()).tolist()  # all can be found
        weight = rng.random(n)
        found = empirical_threshold(truth, scores, missed, sample_weight=weight)
        best = brute_force(
            truth,
            scores,
            list(map(Fraction, weight)),
            lambda tp, fp, fn, tn: (fn == 0) - fp,
            loss=False,
        )
        assert best == 1
        assert found.score == 1


# --- which threshold of those that are equally good -----------------------------------


def test_a_tie_is_taken_as_a_whole():
    found = empirical_threshold([1, 0, 0, 0], [0.5, 0.5, 0.5, 0.1], "f1")
    assert (found.threshold, found.n_positive, found.score) == (0.5, 3, 0.5)


@pytest.mark.parametrize(
    ("scores", "near", "threshold"),
    [
        ([0.9, 0.2], 0.5, 0.5),
        ([0.9, 0.6], 0.5, 0.75),
        ([0.4, 0.2], 0.5, pytest.approx(0.3)),
        ([0.5, 0.2], 0.5, 0.5),
        ([0.9, 0.5], 0.5, 0.7),
        ([3.0, -1.0], 0.0, 0.0),
        ([3.0, 1.0], 0.0, 2.0),
        ([3.0, 1.0], -7, 2.0),
    ],
)
def test_between_two_scores_it_is_near_or_halfway(scores, near, threshold):
    assert empirical_threshold([1, 0], scores, near=near).threshold == threshold


def test_the_equally_good_threshold_nearest_to_near_is_taken():
    truth, scores = [0, 1, 0, 1, 0], [0.9, 0.8, 0.6, 0.3, 0.1]
    # accuracy 3/5: predict nothing, the best two, or the best four
    for near, n_positive in ((0.99, 0), (0.5, 2), (0.7, 2), (0.45, 2), (0.2, 4)):
        found = empirical_threshold(truth, scores, "accuracy", near=near)
        assert (found.n_positive, found.score) == (n_positive, 0.6)


@pytest.mark.parametrize(("near", "n_positive"), [(5.0, 0), (0.5, 2), (0.1, 3)])
def test_values_that_only_rounding_tells_apart_are_equally_good(near, n_positive):
    rounded = from_counts(lambda tp, fp, fn, tn: 1 + 4e-16 * fp + 2e-16 * tp)
    assert rounded(0, 0, 2, 3) < rounded(2, 2, 2, 3) < rounded(2, 3, 2, 3)
    found = empirical_threshold([1, 1, 0], [0.9, 0.8, 0.2], rounded, near=near)
    assert found.n_positive == n_positive


def test_no_positive_at_all():
    found = empirical_threshold([0, 0], [0.9, 0.8], "accuracy")
    assert (found.threshold, found.n_positive, found.score) == (math.inf, 0, 1.0)
    found = empirical_threshold([0, 0], [0.4, 0.2], "accuracy")
    assert (found.threshold, found.n_positive, found.score) == (0.5, 0, 1.0)


@pytest.mark.parametrize("zero_division", [0.0, 0.5, 1.0])
def test_zero_by_zero_counts_as_the_metric_says(zero_division):
    found = empirical_threshold([0, 0], [0.9, 0.8], FBeta(zero_division=zero_division))
    assert found.score == zero_division
    assert found.n_positive == (0 if zero_division else 2)  # 2: nearest to 1/2


def test_nothing_at_all():
    found = empirical_threshold([], [])
    assert (found.threshold, found.n_positive, found.score) == (0.5, 0, 0.0)
    ratio = from_counts(lambda tp, fp, fn, tn: tp / (tp + fp + fn))
    assert math.isnan(empirical_threshold([], [], ratio).score)
    nothing = empirical_threshold([1, 0], [0.9, 0.1], ratio, sample_weight=[0, 0])
    assert math.isnan(nothing.score)
    assert nothing.n_positive == sum(s >= nothing.threshold for s in (0.9, 0.1))


# --- scores of any size ---------------------------------------------------------------


@pytest.mark.parametrize(
    "scores",
    [
        [math.inf, math.inf, 1.0, -math.inf],
        [math.inf] * 3,
        [-math.inf] * 3,
        [math.inf, -math.inf],
        [1.7e308, -1.7e308],
        [1.7e308, 1.6e308, -1.7e308],
        [5e-324, 0.0, -5e-324],
        [1e-323, 5e-324],
        [1.0, np.nextafter(1, 0), np.nextafter(np.nextafter(1, 0), 0)],
        [0.5, np.nextafter(0.5, 0)],
    ],
)
@pytest.mark.parametrize("near", [0.5, 0.0, -1.7e308, 1.7e308])
def test_extreme_scores_are_separated_by_the_threshold(scores, near):
    for pattern in range(2 ** len(scores)):
        truth = [pattern >> i & 1 for i in range(len(scores))]
        for name in ("accuracy", "f1", "informedness"):
            found = empirical_threshold(truth, scores, name, near=near)
            assert_best(found, truth, scores, defined(name, Fraction(0)))


@given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.floats(-1e308, 1e308))
@example(-1.7e308, 1.7e308, 1.75e308)
@example(-math.inf, math.inf, 0.0)
@example(0.0, 5e-324, 1.0)
def test_a_threshold_between_is_above_one_and_at_most_the_other(a, b, near):
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low < threshold_between(low, high, near) <= high


# --- input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap",
    [list, tuple, np.array, pd.Series, pl.Series, lambda x: np.array(x, np.float32)],
)
def test_accepts_what_people_have(wrap):
    truth, scores = [1, 1, 0, 0], [0.75, 0.5, 0.25, 0.125]
    found = empirical_threshold(wrap(truth), wrap(scores), sample_weight=wrap([1] * 4))
    assert (found.threshold, found.n_positive, found.score) == (0.5, 2, 1.0)


def test_inputs_are_left_alone():
    truth, scores, weight = np.array([1, 0]), np.array([0.9, 0.2]), np.ones(2)
    for array in (truth, scores, weight):
        array.flags.writeable = False
    found = empirical_threshold(truth, scores, sample_weight=weight)
    assert (found.n_positive, found.score) == (1, 1.0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1, 0], [0.5, np.nan]), ValueError, "`scores` must not hold NaN; got"),
        (([1, 2], [0.5, 0.1]), ValueError, "`y_true` must hold only 0 and 1; got"),
        (([1], [0.5, 0.1]), ValueError, "one label for each entry of `scores`"),
        (([1, 0], ["a", "b"]), TypeError, "`scores` must hold real numbers"),
        (([1, 0], [[0.1, 0.9]] * 2), ValueError, "`scores` must be 1-D"),
        (([1, 0], [0.5, 0.1], "g3"), ValueError, "`metric` 'g3' is not known"),
        (([1, 0], [0.5, 0.1], max), TypeError, "`metric` must be a name or a bestcut"),
    ],
)
def test_wrong_input_is_refused(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        empirical_threshold(*arguments)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sample_weight": [1]}, ValueError, "`sample_weight` must have shape (2,)"),
        ({"sample_weight": [1, -1]}, ValueError, "got sample_weight[1] = -1.0"),
        ({"sample_weight": [1, np.nan]}, ValueError, "got sample_weight[1] = nan"),
        ({"near": np.inf}, ValueError, "`near` must be finite"),
        ({"near": "half"}, TypeError, "`near` must be a real number"),
    ],
)
def test_wrong_options_are_refused(options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        empirical_threshold([1, 0], [0.5, 0.1], **options)


def test_a_metric_that_is_not_finite_is_refused():
    ratio = from_counts(lambda tp, fp, fn, tn: tp / (tp + fp), name="ppv")
    with pytest.raises(ValueError, match="metric 'ppv' must be finite"):
        empirical_threshold([1, 0], [0.5, 0.1], ratio)
