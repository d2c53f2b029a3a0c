"""decide_each() decides every problem as decide() would."""

import pickle
import threading
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

import bestcut
from bestcut import RowUtility
from bestcut.metrics import FBeta, Jaccard, from_counts
from groups import one_in
from helpers import NAMES, descending
from many.known import COST, FAMILY, SMOOTH, STEPS, assert_as_decide, skewed, title
from oracles.definitions import DEFINITIONS, LOSSES
from oracles.enumeration import best_over_all_labels, laws_of_all_labels
from oracles.extended import expected_curve

some_metrics = pytest.mark.parametrize(
    "metric", ["f1", "f0.5", "jaccard", "mcc", "gmean", "squared_count_error"]
)


def assert_rows_as_decide(p, metric, **bounds):
    many = bestcut.decide_each(p, metric, **bounds)
    names = {"min_positives": "low", "max_positives": "high"}
    limits = {names[k]: v for k, v in bounds.items() if k in names}
    assert many.labels.shape == p.shape
    for i, row in enumerate(p):
        assert_as_decide(row, many, i, many.labels[i], many.metric, **limits)


# --- the same as one by one ----------------------------------------------------------


@one_in(2, "metric, n", {title(m): m for m in FAMILY}, [0, 1, 2, 20])
def test_rows_are_decided_as_one_by_one(metric, n):
    assert_rows_as_decide(skewed(np.random.default_rng(n), 12, n), metric)


@one_in(2, "metric", {title(m): m for m in FAMILY})
def test_rows_of_a_hundred_are_decided_as_one_by_one(metric):
    assert_rows_as_decide(skewed(np.random.default_rng(7), 9, 100), metric)


@one_in(2, "n, metric", [255, 256, 257, 300, 511, 513, 1025], ["f1", "jaccard", "mcc"])
def test_long_rows_are_decided_as_one_by_one(metric, n):
    assert_rows_as_decide(skewed(np.random.default_rng(n), 9, n), metric)


@pytest.mark.parametrize(
    "metric", ["mcc", "gmean", "hmean", SMOOTH], ids=lambda x: getattr(x, "name", x)
)
def test_many_long_rows_are_decided_as_one_by_one(metric):
    """There are enough of them to be decided together."""
    p = np.random.default_rng(8).beta(0.3, 3, size=(60, 300))
    many = bestcut.decide_each(p, metric)
    assert np.all(many.gap == 0.0)
    for i in (0, 31, 59):
        assert_as_decide(p[i], many, i, many.labels[i], many.metric)


def test_rows_of_different_levels_are_decided_as_one_by_one():
    rng = np.random.default_rng(9)
    level = np.repeat([8.0, 1.0, 0.02], 50)[rng.permutation(150)]
    p = rng.random((150, 100)) ** level[:, None]
    for metric in ("gmean", "mcc", "jaccard"):
        many = bestcut.decide_each(p, metric)
        for i in range(0, 150, 10):
            assert_as_decide(p[i], many, i, many.labels[i], many.metric)


@pytest.mark.slow
@pytest.mark.parametrize("metric", FAMILY, ids=title)
def test_rows_of_three_hundred_are_decided_as_one_by_one(metric):
    assert_rows_as_decide(skewed(np.random.default_rng(3), 10, 300), metric)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.integers(0, 3).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(0, 1), min_size=n, max_size=n), min_size=1, max_size=4
        )
    ),
    metric=st.sampled_from(FAMILY),
)
def test_any_rows_are_decided_as_one_by_one(rows, metric):
    assert_rows_as_decide(np.array(rows, dtype=float), metric)


@pytest.mark.parametrize(
    "bounds",
    [
        {"min_positives": 1},
        {"max_positives": 0},
        {"max_positives": 3},
        {"min_positives": 7, "max_positives": 9},
        {"min_positives": 20},
        {"min_positives": 2, "max_positives": 99},
    ],
    ids=str,
)
@some_metrics
def test_bounds_are_kept(metric, bounds):
    assert_rows_as_decide(skewed(np.random.default_rng(5), 12, 20), metric, **bounds)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_no_label_vector_has_a_better_expected_score(name, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    p64 = np.rint(64 * rng.beta(0.3, 1, size=(5, n))).astype(int)
    p64[0], p64[1] = 64 * (p64[0] > 20), p64[1, 0]
    many = bestcut.decide_each(p64 / 64, name)
    for i, row in enumerate(p64.tolist()):
        best, scores = best_over_all_labels(
            laws_of_all_labels(row),
            DEFINITIONS[name],
            Fraction(0),
            minimise=name in LOSSES,
        )
        own = scores.of(many.labels[i])
        error = Fraction(many.error[i])
        assert abs(Fraction(many.expected_score[i]) - own) <= error
        assert abs(own - best) <= 2 * error
        assert abs(Fraction(many.expected_score[i]) - best) <= error + Fraction(
            many.gap[i]
        )


@pytest.mark.parametrize(
    "metric", [FBeta(), FBeta(3), FBeta(2.5), FBeta(0.1), Jaccard(), SMOOTH], ids=title
)
@pytest.mark.parametrize("n", [60, 150])
def test_the_stated_error_is_true_in_extended_precision(metric, n):
    p = skewed(np.random.default_rng(n), 10, n)
    many = bestcut.decide_each(p, metric)
    for i, row in enumerate(p):
        curve = expected_curve(descending(row), metric)
        assert abs(curve[many.n_positive[i]] - many.expected_score[i]) <= many.error[i]
        assert curve.max() - curve[many.n_positive[i]] <= min(2 * many.error[i], 1e-12)


def test_a_row_does_not_depend_on_its_neighbours():
    p = np.random.default_rng(0).beta(0.3, 3, size=(2000, 15))
    for metric in ("f1", "jaccard", "mcc"):
        whole = bestcut.decide_each(p, metric)
        part = bestcut.decide_each(p[1234:1236], metric)
        assert np.array_equal(whole.labels[1234:1236], part.labels)
        np.testing.assert_allclose(
            whole.expected_score[1234:1236], part.expected_score, atol=1e-14
        )


# --- columns, groups, threads --------------------------------------------------------


@some_metrics
def test_columns_are_the_rows_of_the_transpose(metric):
    p = skewed(np.random.default_rng(1), 13, 9)
    rows = bestcut.decide_each(p, metric)
    columns = bestcut.decide_each(p.T, metric, axis=0)
    assert columns.labels.shape == (9, 13)
    assert np.array_equal(columns.labels.T, rows.labels)
    assert np.array_equal(columns.expected_score, rows.expected_score)
    assert np.array_equal(columns.threshold, rows.threshold)


GROUPS = {
    "int": lambda g: g,
    "negative": lambda g: -10 * g,
    "float": lambda g: g / 7,
    "str": lambda g: np.array([f"query {x:02}" for x in g]),
    "bytes": lambda g: np.array([f"{x:02}".encode() for x in g]),
    "objects": lambda g: [f"{x:02}" for x in g],
    "pandas": lambda g: pd.Series([f"{x:02}" for x in g], index=g[::-1]),
    "category": lambda g: pd.Categorical([f"{x:02}" for x in g]),
    "polars": lambda g: pl.Series([f"{x:02}" for x in g]),
}


@pytest.mark.parametrize("kind", GROUPS)
def test_groups_are_decided_as_one_by_one_whatever_their_names_and_order(kind):
    rng = np.random.default_rng(2)
    member_of = rng.permutation(
        np.repeat(np.arange(11), [1, 1, 2, 2, 2, 3, 5, 8, 9, 9, 30])
    )
    p = np.round(rng.beta(0.3, 1, size=member_of.size), 1)  # with ties
    groups = GROUPS[kind](member_of)
    names = np.unique(np.asarray(groups))
    for metric in ("f1", "jaccard", "gmean", COST):
        many = bestcut.decide_each(p, metric, groups=groups)
        assert np.array_equal(many.groups, names)
        assert many.labels.shape == p.shape
        for i, name in enumerate(names):
            inside = np.asarray(groups) == name
            assert_as_decide(p[inside], many, i, many.labels[inside], many.metric)


@one_in(
    2,
    "metric, bounds",
    ["f1", "f2", "jaccard", "recall", "mcc", SMOOTH],
    [{}, {"min_positives": 3, "max_positives": 40}],
)
def test_groups_of_uneven_sizes_are_decided_as_one_by_one(metric, bounds):
    rng = np.random.default_rng(6)
    sizes = np.concatenate([np.arange(1, 40), rng.integers(40, 400, 12)])
    groups = rng.permutation(np.repeat(np.arange(sizes.size), sizes))
    p = rng.beta(0.3, 3, size=groups.size)
    p[rng.random(p.size) < 0.2] = 0.0  # as those that fill a block up
    many = bestcut.decide_each(p, metric, groups=groups, **bounds)
    low, high = bounds.get("min_positives", 0), bounds.get("max_positives", 400)
    for i, size in enumerate(sizes.tolist()):
        inside = groups == i
        limits = {"low": min(low, size), "high": min(high, size)}
        assert_as_decide(p[inside], many, i, many.labels[inside], many.metric, **limits)


def test_a_group_smaller_than_the_least_number_is_taken_whole():
    p = [0.1, 0.1, 0.1, 0.9, 0.2]
    many = bestcut.decide_each(p, groups=[1, 0, 1, 1, 2], min_positives=2)
    assert many.n_positive.tolist() == [1, 2, 1]
    assert many.labels.tolist() == [True, True, False, True, True]


@pytest.mark.parametrize("least", [3, [3, 4]], ids=["one", "each"])
@pytest.mark.parametrize(
    ("kind", "metric"),
    [
        (np.array, "f1"),
        (sparse.csr_array, "f1"),
        (np.array, RowUtility(tp=1, fp=-1)),
    ],
    ids=["dense", "sparse", "amounts"],
)
def test_a_row_smaller_than_the_least_number_is_taken_whole(kind, metric, least):
    p = kind([[0.5, 0.4], [0.1, 0.2]])
    many = bestcut.decide_each(p, metric, min_positives=least)
    assert many.n_positive.tolist() == [2, 2]
    with pytest.raises(ValueError, match="`max_positives` must be at least"):
        bestcut.decide_each(p, metric, min_positives=least, max_positives=1)


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
def test_multilabel_takes_all_where_there_are_fewer_than_the_least_number(average):
    P = np.array([[0.5, 0.4], [0.1, 0.2]])
    drawn = [bestcut.UncertainProbabilities([column, column]) for column in P.T]
    for known in (P, drawn):
        found = bestcut.multilabel.decide(known, average=average, min_positives=5)
        assert found.labels.all()


def test_no_groups_give_no_decisions():
    many = bestcut.decide_each([], groups=[])
    assert many.labels.shape == many.n_positive.shape == many.groups.shape == (0,)
    assert repr(many) == "Decisions(f1: no problems)"


def test_rows_are_named_by_nothing():
    assert bestcut.decide_each([[0.5]]).groups is None


@some_metrics
def test_threads_do_not_change_anything(metric):
    rng = np.random.default_rng(4)
    p = rng.beta(0.3, 3, size=(1500, 30))
    groups = rng.integers(0, 1500, size=20_000)
    flat = rng.beta(0.3, 3, size=groups.size)
    for data, options in ((p, {}), (p.T, {"axis": 0}), (flat, {"groups": groups})):
        one = bestcut.decide_each(data, metric, **options)
        two = bestcut.decide_each(data, metric, n_jobs=2, **options)
        assert np.array_equal(one.labels, two.labels)
        assert np.array_equal(one.expected_score, two.expected_score)
        assert np.array_equal(one.n_positive, two.n_positive)


def test_n_jobs_is_the_number_of_threads_at_work():
    seen = set()

    def spy(tp, fp, fn, tn):
        seen.add(threading.get_ident())
        return tp / (tp + fp + fn + tn)

    metric = from_counts(spy, "spy")
    bestcut.decide_each(np.full((2, 300), 0.3), metric)
    assert seen == {threading.get_ident()}
    bestcut.decide_each(np.full((6, 300), 0.3), metric, n_jobs=2)
    assert 2 <= len(seen) <= 3


# --- what goes in and comes out ------------------------------------------------------


def matrices():
    values = np.array([[0.25, 0.5, 0.125], [0.0, 0.75, 1.0]])
    frozen = values.copy()
    frozen.flags.writeable = False
    return {
        "lists": values.tolist(),
        "float64": values,
        "float32": values.astype(np.float32),
        "float16": values.astype(np.float16),
        "read-only": frozen,
        "fortran": np.asfortranarray(values),
        "strided": np.repeat(np.repeat(values, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": values[::-1].copy()[::-1],
        "pandas": pd.DataFrame(values, columns=list("abc"), index=[7, 3]),
        "polars": pl.DataFrame(values, schema=list("abc")),
    }


@pytest.mark.parametrize("kind", matrices())
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("metric", ["f1", "jaccard", "mcc"])
def test_every_container_gives_the_same_and_is_not_changed(kind, axis, metric):
    data = matrices()[kind]
    before = np.array(data, dtype=float)
    many = bestcut.decide_each(data, metric, axis=axis)
    reference = bestcut.decide_each(matrices()["lists"], metric, axis=axis)
    assert np.array_equal(many.labels, reference.labels)
    assert np.array_equal(many.expected_score, reference.expected_score)
    assert np.array_equal(np.array(data, dtype=float), before)


def test_columns_of_frames_are_problems_in_groups():
    frame = pd.DataFrame({"query": ["b", "a", "b", "a"], "p": [0.3, 0.7, 0.3, 0.2]})
    for table in (frame, pl.DataFrame(frame.to_dict("list"))):
        many = bestcut.decide_each(table["p"], groups=table["query"])
        assert many.groups.tolist() == ["a", "b"]
        assert type(many.labels) is type(table["p"])
        assert list(many.labels) == [True, True, True, False]


def test_integers_and_booleans_are_certain():
    for data in ([[0, 1, 1], [0, 0, 1]], np.array([[False, True, True], [0, 0, 1]])):
        many = bestcut.decide_each(data)
        assert many.labels.tolist() == [[False, True, True], [False, False, True]]
        assert many.expected_score.tolist() == pytest.approx([1.0, 1.0], abs=1e-13)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
@some_metrics
def test_empty_matrices_give_empty_decisions(shape, metric):
    for axis in (0, 1):
        many = bestcut.decide_each(np.zeros(shape), metric, axis=axis)
        assert many.labels.shape == shape
        assert many.n_positive.tolist() == [0] * shape[1 - axis]
        assert many.threshold.tolist() == [np.inf] * shape[1 - axis]


def test_the_types_are_those_that_are_promised():
    many = bestcut.decide_each([[0.7, 0.2], [0.1, 0.1]], "mcc")
    assert many.labels.dtype == bool
    assert many.n_positive.dtype == np.int64
    assert many.threshold.dtype == many.expected_score.dtype == np.float64
    assert many.error.shape == many.gap.shape == many.n_positive.shape == (2,)
    assert many.gap.dtype == np.float64
    assert many.metric == bestcut.metrics.get("mcc")


def test_the_repr_sums_up():
    many = bestcut.decide_each([[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]])
    text = "Decisions(f1: 2 problems, 3 positive, mean expected score 0.49"
    assert repr(many).startswith(text)
    assert repr(many).endswith(f" [error {many.error.max():.1e}, gap 0.0e+00])")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (
            {"max_positives": 300},
            "2 problems, at most 300 positives in each, 3 positive",
        ),
        ({"max_positives": [1, 2]}, "2 problems, at most 1 to 2 positives in each, "),
        ({"max_positives": 0}, "2 problems, at most 0 positives in each, "),
        ({}, "2 problems, 3 positive"),
        ({"min_positives": 1}, "2 problems, at least 1 positive in each, 3 positive"),
        (
            {"min_positives": 1, "max_positives": np.array([3, 1])},
            "2 problems, at least 1 and at most 1 to 3 positives in each, ",
        ),
    ],
)
@pytest.mark.parametrize("metric", ["f1", bestcut.RowUtility(tp=1.0, fp=-0.4)])
@pytest.mark.parametrize("drawn", [False, True])
def test_the_repr_says_that_bounds_are_for_each_problem(limits, words, metric, drawn):
    p, groups = [0.7, 0.2, 0.1, 0.3, 0.3, 0.05], [0, 0, 0, 1, 1, 1]
    if drawn:
        p = bestcut.UncertainProbabilities([p, p])
    many = bestcut.decide_each(p, metric, groups=groups, **limits)
    shown = words.removesuffix("3 positive")  # the other metric has another number
    assert repr(many).startswith(f"Decisions({many.metric.name}: {shown}")


def test_decisions_can_be_pickled():
    many = bestcut.decide_each([[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]])
    again = pickle.loads(pickle.dumps(many))
    assert np.array_equal(again.labels, many.labels)


# --- the None option -----------------------------------------------------------------


def test_an_empty_row_is_worth_what_the_metric_says():
    p = [[0.2, 0.1, 0.05], [0.5, 0.4, 0.3]]
    assert bestcut.decide_each(p).n_positive.tolist() == [2, 3]
    none = bestcut.decide_each(p, FBeta(zero_division=1.0))
    assert none.n_positive.tolist() == [0, 3]
    # Nothing predicted scores 1 if nothing is positive.
    assert none.expected_score[0] == pytest.approx(0.8 * 0.9 * 0.95, abs=1e-14)
    forced = bestcut.decide_each(p, FBeta(zero_division=1.0), min_positives=1)
    assert forced.n_positive.tolist() == [2, 3]
    assert forced.expected_score[0] == bestcut.decide_each(p).expected_score[0]


def instacart(p):
    """Return the expected F1 of every cut as in the basket competition.

    There a basket of nothing new holds the one item "None", by the definition.
    """
    n = len(p)
    scores = {}
    for k in range(n + 1):
        for with_none in (False, True):
            if not with_none and not k:
                continue
            total = 0.0
            for outcome in np.ndindex(*[2] * n):
                y = np.array(outcome)
                weight = float(np.prod(np.where(y == 1, p, 1 - p)))
                hit = y[:k].sum() + (with_none and not y.any())
                size = k + with_none + max(y.sum(), 1)
                total += weight * 2 * hit / size
            scores[k, with_none] = total
    return scores


def beside_none(tp, fp, fn, tn):
    """F1 with None on the list, which is right if nothing is bought."""
    empty = tp + fn == 0
    there = np.where(empty, 1, tp + fn)
    return 2 * np.where(empty, 1, tp) / (tp + fp + 1 + there)


def test_worth_one_for_nothing_is_the_competition_rule_without_mixed_answers():
    rng = np.random.default_rng(0)
    p = np.sort(rng.beta(0.3, 2, size=(6, 5)), axis=1)[:, ::-1]
    many = bestcut.decide_each(p, FBeta(zero_division=1.0))
    assert 0 < np.count_nonzero(many.n_positive) < 6
    for i, row in enumerate(p):
        rule = instacart(row)
        pure = {k: v for (k, none), v in rule.items() if none == (k == 0)}
        best = max(pure.values())
        assert many.expected_score[i] == pytest.approx(best, abs=1e-14)
        assert pure[many.n_positive[i]] == pytest.approx(best, abs=1e-14)


def test_two_metrics_are_the_competition_rule_with_mixed_answers():
    rng = np.random.default_rng(1)
    p = np.sort(rng.beta(0.5, 1, size=(12, 4)), axis=1)[:, ::-1]
    alone = bestcut.decide_each(p, min_positives=1)
    beside = bestcut.decide_each(p, from_counts(beside_none, "f1 beside None"))
    none = beside.expected_score > alone.expected_score
    assert 0 < none.sum() < 12
    assert (beside.n_positive[none] > 0).any()  # products and None
    for i, row in enumerate(p):
        rule = instacart(row)
        best = max(rule.values())
        k = beside.n_positive[i] if none[i] else alone.n_positive[i]
        assert rule[int(k), bool(none[i])] == pytest.approx(best, abs=1e-14)
        claimed = max(alone.expected_score[i], beside.expected_score[i])
        assert claimed == pytest.approx(best, abs=1e-14)


# --- what is refused -----------------------------------------------------------------

BAD = {
    "1-D": ([0.5, 0.5], {}, ValueError, r"2-D, with one problem in each row.*`groups`"),
    "3-D": (np.zeros((1, 1, 1)), {}, ValueError, "2-D"),
    "ragged": ([[0.1], [0.1, 0.2]], {}, ValueError, r"of 1, 2 entries.*groups="),
    "nan": ([[0.5, np.nan]], {}, ValueError, r"y_proba\[0, 1\] = nan \(1 of 2"),
    "high": ([[0.5], [1.5]], {}, ValueError, r"y_proba\[1, 0\] = 1\.5.*logits"),
    "text": ([["a"]], {}, TypeError, "real numbers"),
    "objects": (pd.DataFrame([[0.5, "a"]]), {}, TypeError, r"y_proba\[0, 1\] = 'a'\."),
    "masked": (np.ma.zeros((2, 2)), {}, TypeError, "masked"),
    "axis": ([[0.5]], {"axis": 2}, ValueError, r"`axis` must be 1 .each row"),
    "n_jobs": ([[0.5]], {"n_jobs": -1}, ValueError, "`n_jobs` must not be negative"),
    "half job": ([[0.5]], {"n_jobs": 1.5}, TypeError, "`n_jobs` must be a whole"),
    "least": (
        [[0.5]],
        {"min_positives": -1},
        ValueError,
        "`min_positives` must not be",
    ),
    "order": (
        [[0.5, 0.5]],
        {"min_positives": 2, "max_positives": 1},
        ValueError,
        "`max_positives` must be at least",
    ),
    "order, groups": (
        [0.5, 0.5],
        {"groups": [0, 0], "min_positives": 2, "max_positives": 1},
        ValueError,
        "`max_positives` must be at least",
    ),
    "negative": ([[0.5]], {"max_positives": -1}, ValueError, "must not be negative"),
    "groups": ([0.5, 0.5], {"groups": [1]}, ValueError, r"`groups`.*\(2,\).*\(1,\)"),
    "groups, 2-D": ([[0.5]], {"groups": [1]}, ValueError, "1-D"),
    "groups, nan": ([0.5], {"groups": [np.nan]}, ValueError, r"groups\[0\] = nan"),
    "groups, mixed": (
        [0.5, 0.5],
        {"groups": np.array(["a", 1], dtype=object)},
        TypeError,
        "can be sorted",
    ),
    "groups, p": ([0.5, -1.0], {"groups": [1, 1]}, ValueError, r"y_proba\[1\] = -1"),
    "metric": ([[0.5]], {"metric": "f1x"}, ValueError, "f1x"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_said(kind):
    data, options, error, message = BAD[kind]
    with pytest.raises(error, match=message):
        bestcut.decide_each(data, **options)


def test_a_metric_without_the_ranking_principle_is_refused():
    metric = from_counts(lambda tp, fp, fn, tn: fp - tp, "upside down")
    with pytest.raises(bestcut.SolverMismatchError, match="upside down"):
        bestcut.decide_each([[0.5, 0.2]], metric)
    with pytest.raises(bestcut.SolverMismatchError, match="upside down"):
        bestcut.decide_each(np.zeros((0, 2)), metric)


def test_the_comparison_notices_a_worse_decision():
    p = np.array([0.9, 0.5, 0.1])
    many = bestcut.decide_each(p[None], "f1", max_positives=1)
    with pytest.raises(AssertionError):
        assert_as_decide(p, many, 0, many.labels[0], many.metric)
    assert STEPS.smooth is False


@pytest.mark.parametrize(
    ("given", "cure"),
    [
        ([0.1, 0.2], "pass a flat array and `groups`. For one problem call `bestcut.d"),
        (
            np.zeros((2, 1, 3, 3)),
            "pass `np.reshape(y_proba, (-1, height * width))`, or",
        ),
    ],
)
def test_what_is_no_matrix_is_told_what_to_do(given, cure):
    with pytest.raises(
        ValueError, match="must be 2-D, with one problem in each row"
    ) as info:
        bestcut.decide_each(given)
    assert cure in str(info.value)
