"""Guarantees hold for exchangeable rows, whatever the scores mean."""

import itertools
import re
from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bestcut
from bestcut import Guarantee, guarantee
from bestcut._thresholds import threshold_of
from bestcut.calibration._bands import Pool, bands
from bestcut.calibration._urn import least_positives, most_positives
from groups import one_in, slow

EVERYTHING = {"precision": -1.0}  # what no set breaks


def drawn(seed, n, prevalence=0.5, power=1.0):
    """Return labels and scores that know something of each other."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prevalence
    return y, rng.normal(loc=power * y)


def realised(labels, truth, at_least):
    """Return whether predictions satisfy the conditions, by their definitions."""
    tp, fp, fn = (
        int(x.sum()) for x in (labels & truth, labels & ~truth, ~labels & truth)
    )
    values = {
        "precision": Fraction(tp, tp + fp) if tp + fp else 0,
        "recall": Fraction(tp, tp + fn) if tp + fn else 0,
        "f1": Fraction(2 * tp, 2 * tp + fp + fn) if tp + fp + fn else 0,
        "accuracy": 1 - Fraction(fp + fn, labels.size),
    }
    return all(values[name] >= Fraction(str(v)) for name, v in at_least.items())


# --- limits of one urn ---------------------------------------------------------------


def tail(x, positive, drawn, rows):
    """Return P(H >= x) as a fraction."""
    ways = sum(
        comb(positive, i) * comb(rows - positive, drawn - i)
        for i in range(x, drawn + 1)
    )
    return Fraction(ways, comb(rows, drawn))


def least_by_definition(x, m, n, level):
    return next(y for y in range(n + 1) if tail(x, x + y, m, m + n) > level)


def most_by_definition(x, m, n, level):
    """Return the largest y for which x or fewer is no surprise."""

    def lower(y):
        return 1 - tail(x + 1, x + y, m, m + n) if x < m else Fraction(1)

    return max(y for y in range(n + 1) if lower(y) > level)


# No tail of so small an urn is within rounding of these levels.
@pytest.mark.parametrize("level", [Fraction(7, 150), Fraction(1, 997)])
def test_limits_are_those_of_the_definition(level):
    for m, n in itertools.product(range(10), range(10)):
        x = np.arange(m + 1)
        m_, n_ = np.full(m + 1, m), np.full(m + 1, n)
        least = least_positives(x, m_, n_, float(level))
        most = most_positives(x, m_, n_, float(level))
        assert least.tolist() == [
            least_by_definition(i, m, n, level) for i in range(m + 1)
        ]
        assert most.tolist() == [
            most_by_definition(i, m, n, level) for i in range(m + 1)
        ]


@pytest.mark.parametrize(
    ("x", "m", "n"), [(171, 180, 260), (0, 300, 400), (300, 300, 70), (37, 400, 90)]
)
@pytest.mark.parametrize("level", [0.04, 1e-3, 1e-9])
def test_limits_of_larger_urns(x, m, n, level):
    (y,) = least_positives(*(np.array([v]) for v in (x, m, n)), level)
    exact = Fraction(level)
    assert tail(x, x + int(y), m, m + n) > exact
    assert y == 0 or tail(x, x + int(y) - 1, m, m + n) <= exact


def test_a_tail_that_is_exactly_the_level_is_on_the_safe_side():
    # Three of three: P(H >= 3) is 1/20 with all three positives of six drawn.
    three = np.array([3])
    assert tail(3, 3, 3, 6) == Fraction(1, 20)
    assert least_positives(three, three, three, 0.05) == 0
    assert least_positives(three, three, three, 0.0501) == 1


def test_limits_of_many_rows_are_near_their_gaussian_approximation():
    x, m, n = np.array([900_000]), np.array([10**6]), np.array([10**6])
    (y,) = least_positives(x, m, n, 0.025)
    # Both counts scatter: the sum of two variances, to the order of its square root.
    assert abs(y - (900_000 - 1.96 * np.sqrt(2 * 10**6 * 0.09))) < 3


# --- the promise, over all ways to choose the rows with labels -----------------------

POOLS = {
    "good scores": ([1, 1, 1, 1, 0, 1, 0, 0, 1], list(range(9, 0, -1))),
    "reversed": ([0, 0, 1, 0, 1, 1, 1, 1, 1], list(range(9, 0, -1))),
    "ties": ([1, 1, 1, 0, 1, 1, 0, 1, 0], [3] * 4 + [2] * 3 + [1] * 2),
    "constant": ([1, 1, 1, 1, 1, 0, 0, 0, 0], [7] * 9),
    "one negative": ([1, 1, 1, 0, 1, 1, 1, 1, 1], list(range(9, 0, -1))),
    "all positive": ([1] * 9, [2] * 5 + [1] * 4),
}
ASKED = [
    {"precision": 0.7},
    {"recall": 0.6},
    {"f1": 0.75},
    {"precision": 0.6, "recall": 0.4},
    {"accuracy": 0.6},
]


def every_split(pool, m):
    """Return labels and scores of the rows with labels and the others, in all ways."""
    y, s = np.array(POOLS[pool][0], bool), np.array(POOLS[pool][1], float)
    for chosen in itertools.combinations(range(y.size), m):
        has_label = np.isin(np.arange(y.size), chosen)
        yield y[has_label], s[has_label], y[~has_label], s[~has_label]


@one_in(2, "pool, at_least", list(POOLS), ASKED)
def test_the_promise_is_broken_at_most_as_often_as_said(pool, at_least):
    probability = 0.5  # so low that something is certified with so few rows
    broken = certified = 0
    for y, s, y_new, s_new in every_split(pool, 5):
        found = guarantee(y, s, s_new, at_least, probability=probability)
        certified += found.certified
        broken += found.certified and not realised(found.labels, y_new, at_least)
    assert broken <= (1 - probability) * comb(9, 5)
    assert certified >= (comb(9, 5) if pool == "all positive" else 1)


@pytest.mark.parametrize("pool", POOLS)
def test_bounds_of_all_sets_hold_together(pool):
    risk, wrong = 0.5, 0
    for y, s, y_new, s_new in every_split(pool, 5):
        table = Pool.of(y, s, s_new)
        found = bands(table, risk, lambda tp, *_: tp >= 0, tp=True, fn=True)
        inside = s_new >= np.concatenate([[99], table.scores])[:, None]
        tp, fn = ((side & y_new).sum(axis=1) for side in (inside, ~inside))
        wrong += bool(np.any(tp < found.least_tp) or np.any(fn > found.most_fn))
    assert wrong <= risk * comb(9, 5)


@pytest.mark.slow
@pytest.mark.parametrize("at_least", [{"precision": 0.6}, {"f1": 0.6}, {"recall": 0.9}])
@pytest.mark.parametrize("tied", [False, True])
def test_simulated_promises_hold(at_least, tied):
    rng = np.random.default_rng(3)
    batches, broken = 2000, 0
    for _ in range(batches):
        s = rng.random(400)
        s = np.round(4 * s) if tied else s
        y = rng.random(400) < 0.6
        found = guarantee(y[:100], s[:100], s[100:], at_least)
        broken += found.certified and not realised(found.labels, y[100:], at_least)
    assert broken <= 0.05 * batches + 3 * np.sqrt(batches * 0.05 * 0.95)


# --- what is returned ----------------------------------------------------------------


def test_the_set_is_the_largest_that_the_bounds_certify():
    y, s = drawn(0, 1300, power=2.0)
    found = guarantee(y[:1000], s[:1000], s[1000:], {"precision": 0.8})
    table = Pool.of(y[:1000], s[:1000], s[1000:])

    def enough(tp, n_pred, fn, n):
        return tp >= 0.8 * np.maximum(n_pred, 1)

    bound = bands(table, 1 - 0.95, enough, tp=True, fn=False)
    sizes = [
        int(k)
        for k, tp in zip(table.fresh, bound.least_tp, strict=True)
        if k and tp / k >= 0.8
    ]
    assert found.certified
    assert found.n_positive == max(sizes) > 50
    assert threshold_of(s[1000:], found.n_positive, s[1000:][found.labels].min()) == (
        found.threshold,
        (0, 0),
    )
    np.testing.assert_array_equal(found.labels, s[1000:] >= found.threshold)
    assert found.lower["precision"] >= 0.8
    assert realised(found.labels, y[1000:], {"precision": found.lower["precision"]})


def test_separable_scores_are_certified_up_to_what_precision_allows():
    s = np.linspace(0, 1, 2000)
    y = s > 0.5
    rng = np.random.default_rng(0)
    order = rng.permutation(2000)
    a, b = order[:1000], order[1000:]
    found = guarantee(y[a], s[a], s[b], {"precision": 0.9})
    assert 450 < found.n_positive <= y[b].sum() / 0.9
    assert realised(found.labels, y[b], {"precision": 0.9})


def test_ties_are_never_parted():
    y, s = drawn(1, 800, power=2.0)
    s = np.round(s)
    found = guarantee(y[:500], s[:500], s[500:], {"precision": 0.7})
    assert found.certified
    flagged = set(s[500:][found.labels])
    assert not flagged & set(s[500:][~found.labels])


def test_asking_for_more_never_certifies_more():
    y, s = drawn(2, 1300, power=2.0)
    sizes = [
        guarantee(y[:1000], s[:1000], s[1000:], at_least).n_positive
        for at_least in ({"recall": 0.5}, {"recall": 0.5, "precision": 0.75})
    ]
    assert sizes[0] == 300 > sizes[1] > 0
    surer = guarantee(
        y[:1000],
        s[:1000],
        s[1000:],
        {"recall": 0.5, "precision": 0.75},
        probability=0.9999,
    )
    assert surer.n_positive <= sizes[1]


def test_order_of_rows_does_not_matter():
    y, s = drawn(4, 700, power=2.0)
    rng = np.random.default_rng(0)
    a, b = rng.permutation(400), 400 + rng.permutation(300)
    first = guarantee(y[:400], s[:400], s[400:], {"f1": 0.5})
    second = guarantee(y[a], s[a], s[b], {"f1": 0.5})
    assert first.certified
    assert (first.threshold, first.lower) == (second.threshold, second.lower)
    np.testing.assert_array_equal(first.labels[b - 400], second.labels)


@pytest.mark.parametrize(
    "convert",
    [list, np.float32, pd.Series, pl.Series, lambda x: x.astype(float).tolist()],
)
def test_any_column_of_numbers_will_do(convert):
    y, s = drawn(5, 700, power=2.0)
    s = s.astype(np.float32).astype(np.float64)
    plain = guarantee(y[:400], s[:400], s[400:], {"precision": 0.7})
    given = (convert(x) for x in (y[:400], s[:400], s[400:]))
    other = guarantee(*given, {"precision": 0.7})
    assert plain.certified
    np.testing.assert_array_equal(plain.labels, other.labels)


def test_input_may_be_read_only():
    y, s = drawn(6, 300)
    for x in (y, s):
        x.flags.writeable = False
    found = guarantee(y[:200], s[:200], s[200:], {"precision": 0.3})
    assert found.labels.flags.writeable


def test_certified_in_words():
    y, s = np.ones(100, bool), np.arange(100.0)
    found = guarantee(y, s, [200.0, 300.0, -5.0], {"precision": 0.6})
    assert repr(found) == (
        "Guarantee: precision >= 0.6 in this batch, with probability 0.95, for 3 of 3"
        "\nrows (score >= -5); from 100 labels."
    )
    assert found.labels_needed is None


def test_too_few_labels_in_words():
    y, s = np.ones(10, bool), np.arange(10.0)
    found = guarantee(y, s, np.arange(300.0), {"precision": 0.9})
    assert isinstance(found, Guarantee)
    assert not found.certified
    assert found.labels.shape == (300,)
    assert not found.labels.any()
    assert (found.threshold, found.n_positive, found.lower) == (np.inf, 0, {})
    text = " ".join(repr(found).split())
    assert text.startswith(
        "Guarantee: precision >= 0.9 in a batch of 300 cannot be certified with 10 "
        f"labels at probability 0.95. About {found.labels_needed} labels would be"
    )


def test_labels_needed_are_enough_if_shares_stay_and_fewer_are_not():
    y, s = np.ones(10, bool), np.full(10, 1.0)
    new = np.full(300, 1.0)
    needed = guarantee(y, s, new, {"precision": 0.9}).labels_needed
    for m, enough in ((needed, True), (int(0.97 * needed) - 1, False)):
        more = guarantee(np.ones(m, bool), np.ones(m), new, {"precision": 0.9})
        assert more.certified == enough
    # One set, all of the risk: 29 right labels for a population, and a few more here.
    assert 20 < needed < 40


def test_no_number_of_labels_helps_scores_that_are_worth_nothing():
    found = guarantee([0, 1] * 50, np.ones(100), np.ones(100), {"precision": 0.6})
    assert not found.certified
    assert found.labels_needed is None
    assert "Even 10000000 labels would not be enough" in " ".join(repr(found).split())


def test_no_new_rows():
    found = guarantee([1, 0], [0.3, 0.2], [], {"precision": 0.5})
    assert not found.certified
    assert found.labels.shape == (0,)
    assert repr(found).endswith("There are no new rows.")


@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_class(label):
    s = np.random.default_rng(0).random(500)
    found = guarantee(np.full(300, label), s[:300], s[300:], {"f1": 0.8})
    assert found.certified == bool(label)
    assert found.n_positive == 200 * label


def test_the_empty_set_can_be_certified_where_it_is_good():
    rng = np.random.default_rng(0)
    y, s = np.zeros(600, bool), rng.random(600)
    found = guarantee(y[:500], s[:500], s[500:], {"accuracy": 0.9})
    assert found.certified
    with_positives = guarantee(~y[:500], s[:500], s[500:], {"accuracy": 0.9})
    assert with_positives.n_positive == 100
    assert found.n_positive <= 10


def test_a_condition_without_content_certifies_everything():
    found = guarantee([0], [0.0], [1.0, -1.0], EVERYTHING)
    assert found.certified
    assert found.labels.all()


def test_metrics_of_your_own():
    mine = bestcut.metrics.from_counts(
        lambda tp, fp, fn, tn: tp - 2.0 * fp,
        name="gain",
    )
    y, s = drawn(8, 1300, power=3.0)
    found = guarantee(y[:1000], s[:1000], s[1000:], {mine: 50.0})
    assert found.certified
    tp = int((found.labels & y[1000:]).sum())
    assert tp - 2 * (found.n_positive - tp) >= found.lower["gain"] >= 50


@pytest.mark.parametrize(("m", "room"), [(200_000, 0.02), slow(10**6, 0.01)])
def test_many_rows(m, room):
    y, s = drawn(9, 2 * m, prevalence=0.1, power=3.0)
    found = guarantee(y[:m], s[:m], s[m:], {"precision": 0.9})
    precision = y[m:][found.labels].mean()
    assert 0.9 <= precision < 0.9 + room  # with many labels, little is left


# --- refusals ------------------------------------------------------------------------

Y, S = [1, 0, 1], [0.3, 0.2, 0.5]
REFUSED = {
    "no labels": (([], [], S), {}, ValueError, "`y_true` must hold at least one label"),
    "lengths": ((Y, [0.1], S), {}, ValueError, "`y_true` must hold one label for each"),
    "words": ((["a", "b", "a"], S, S), {}, TypeError, "`y_true` must"),
    "other labels": (([1, 2, 0], S, S), {}, ValueError, "y_true[1] = 2.0"),
    "NaN": ((Y, [0.1, np.nan, 0.2], S), {}, ValueError, "scores[1] = nan"),
    "new NaN": ((Y, S, [np.nan]), {}, ValueError, "new_scores[0] = nan"),
    "inf": (
        (Y, S, [0.1, -np.inf]),
        {},
        ValueError,
        "`new_scores` must be finite; got new_scores[1] = -inf (1 of 2 entries)",
    ),
    "matrix": ((Y, S, [[0.1]]), {}, ValueError, "`new_scores` must"),
    "probability": (
        (Y, S, S),
        {"probability": 95},
        ValueError,
        "`probability` must lie strictly between 0 and 1; got 95. Pass 0.95",
    ),
    "no conditions": (
        (Y, S, S, {}),
        {},
        TypeError,
        "`at_least` must map one or more metrics",
    ),
    "a name": ((Y, S, S, "f1"), {}, TypeError, "got 'f1'. Pass, for example"),
    "unknown": ((Y, S, S, {"f1x": 1}), {}, ValueError, "'f1x' is not known"),
    "a loss": (
        (Y, S, S, {"squared_count_error": 1}),
        {},
        ValueError,
        "'squared_count_error' is a loss",
    ),
    "no number": ((Y, S, S, {"f1": "x"}), {}, TypeError, "at_least['f1']"),
    "not monotone": (
        (
            Y,
            S,
            S,
            {bestcut.metrics.from_counts(lambda tp, fp, fn, tn: fp, name="w"): 1},
        ),
        {},
        bestcut.SolverMismatchError,
        "`at_least` metric 'w' might fall, with 3 new rows",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_and_how(case):
    given, keywords, error, text = REFUSED[case]
    if len(given) == 3:
        given = (*given, {"precision": 0.9})
    with pytest.raises(error, match=re.escape(text)):
        guarantee(*given, **keywords)
