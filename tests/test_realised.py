"""What a decision realised is counted once, in one place, as scikit-learn counts it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import metrics as sklearn_metrics

import bestcut
from bestcut import multiclass, multilabel
from oracles import EPS

RNG = np.random.default_rng(8)
P = RNG.beta(0.5, 1.5, 60)
Y = RNG.random(60) < P
MATRIX = RNG.beta(0.5, 1.5, (12, 5))
TRUTH = RNG.random((12, 5)) < MATRIX
SHARES = RNG.dirichlet(np.ones(3), 40)
CLASSES = ["cat", "dog", "owl"]
TRUE_CLASS = RNG.choice(CLASSES, 40)
F1 = bestcut.metrics.get("f1")
MONEY = bestcut.RowUtility(tp=np.arange(60.0), fp=-5.0)


def near(value, expected):
    # Both divide sums of whole numbers, in other orders, and average at most twelve.
    np.testing.assert_allclose(value, expected, rtol=32 * float(EPS))


def test_a_metric_scores_labels():
    labels = P >= 0.5
    near(F1.realised(Y, labels), sklearn_metrics.f1_score(Y, labels))
    assert F1.realised(Y.tolist(), labels.astype(np.float32)) == F1.realised(Y, labels)
    assert F1.realised(pd.Series(Y), pl.Series(labels)) == F1.realised(Y, labels)
    assert bestcut.metrics.Precision(zero_division=1.0).realised([1], [0]) == 1.0
    assert F1.realised([], []) == 0.0


@pytest.mark.parametrize(
    ("truth", "labels", "message"),
    [
        ([0, 1, 2], [0, 1, 1], r"`y_true` must hold only 0 and 1; got .*y_true\[2\]"),
        ([0, 1], [0.5, 1], r"`y_pred` must hold only 0 and 1; got .*y_pred\[0\]"),
        ([0, 1], [0, 1, 1], r"`y_pred` must hold one label for each entry of `y_true`"),
    ],
)
def test_labels_that_are_none_are_refused(truth, labels, message):
    for metric in (F1, bestcut.RowUtility(tp=1.0)):
        with pytest.raises(ValueError, match=message):
            metric.realised(truth, labels)


def test_a_decision_is_scored_by_its_own_metric_or_another():
    decision = bestcut.decide(P, "f1")
    near(decision.realised(Y), sklearn_metrics.f1_score(Y, decision.labels))
    near(decision.realised(Y, "tpr"), sklearn_metrics.recall_score(Y, decision.labels))
    assert decision.realised(Y, MONEY) == MONEY.realised(Y, decision.labels)
    paid = bestcut.decide(P, MONEY)
    assert paid.realised(Y) == np.sum(np.where(Y, np.arange(60.0), -5.0)[paid.labels])
    assert bestcut.decide(pd.Series(P)).realised(pd.Series(Y)) == decision.realised(Y)
    with pytest.raises(ValueError, match=r"`y_true` must hold one label for each"):
        decision.realised(np.tile(Y, 2))


def test_draws_of_labels_and_guarantees_are_scored():
    draws = RNG.random((30, 60)) < P
    decision = bestcut.decide_samples(draws, "f1")
    near(decision.realised(Y), sklearn_metrics.f1_score(Y, decision.labels))
    recall = sklearn_metrics.recall_score(Y, decision.labels)
    near(decision.realised(Y, "recall"), recall)
    found = bestcut.guarantee(Y, P, P, {"recall": 0.2, "precision": 0.1})
    near(
        [found.realised(Y)["recall"], found.realised(Y)["precision"]],
        [
            sklearn_metrics.recall_score(Y, found.labels),
            sklearn_metrics.precision_score(Y, found.labels),
        ],
    )


@pytest.mark.parametrize("axis", [1, 0])
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_every_problem_is_scored(axis, kind):
    some = bestcut.decide_each(kind(MATRIX), "f1", axis=axis)
    labels = some.labels.toarray() if kind is sparse.csr_array else some.labels
    by_problem = (np.asarray(x) if axis else np.asarray(x).T for x in (TRUTH, labels))
    expected = [F1.realised(*pair) for pair in zip(*by_problem, strict=True)]
    np.testing.assert_array_equal(some.realised(TRUTH), expected)
    np.testing.assert_array_equal(some.realised(kind(TRUTH)), expected)
    with pytest.raises(ValueError, match=r"`y_true` must be of shape \(12, 5\)"):
        some.realised(TRUTH.T)
    with pytest.raises(ValueError, match=r"`y_true(\.data)?` must hold only 0 and 1"):
        some.realised(kind(TRUTH * 2))


def test_every_group_is_scored():
    groups = np.tile(["b", "a", "c"], 20)
    worths = bestcut.RowUtility(tp=np.arange(60.0), fp=-5.0)
    for y_proba in (P, bestcut.UncertainProbabilities([P, P**2])):
        for metric in ("f1", worths):
            some = bestcut.decide_each(y_proba, metric, groups=groups)
            for name, score in zip(some.groups, some.realised(Y), strict=True):
                there = groups == name
                if metric == "f1":
                    assert score == F1.realised(Y[there], some.labels[there])
                else:
                    alone = bestcut.RowUtility(tp=worths.tp[there], fp=-5.0)
                    assert score == alone.realised(Y[there], some.labels[there])
            near(some.realised(Y, worths).sum(), worths.realised(Y, some.labels))


def test_amounts_of_each_entry_are_added_up_in_each_problem():
    worths = bestcut.RowUtility(tp=np.arange(60.0).reshape(12, 5), fp=-5.0)
    some = bestcut.decide_each(MATRIX, worths)
    gained = np.where(TRUTH, worths.tp, -5.0) * some.labels
    np.testing.assert_array_equal(some.realised(TRUTH), gained.sum(axis=1))


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_classes_are_scored(average):
    found = multiclass.decide(SHARES, "f1", average=average, classes=CLASSES)
    expected = sklearn_metrics.f1_score(TRUE_CLASS, found.labels, average=average)
    near(found.realised(TRUE_CLASS), expected)
    by_index = multiclass.decide(SHARES, "f1", average=average)
    index = [CLASSES.index(x) for x in TRUE_CLASS]
    assert by_index.realised(index) == found.realised(TRUE_CLASS)
    with pytest.raises(ValueError, match=r"`y_true` must hold classes; y_true\[0\]"):
        found.realised(index)


def test_weights_and_additions_count_in_classes_too():
    weights, also = [1.0, 2.0, 5.0], {"precision@k": 0.5}
    found = multiclass.decide(SHARES, "f1", classes=CLASSES, weights=weights, also=also)
    each = sklearn_metrics.f1_score(TRUE_CLASS, found.labels, average=None)
    right = np.mean(found.labels == TRUE_CLASS)
    near(found.realised(TRUE_CLASS), np.average(each, weights=weights) + 0.5 * right)


@pytest.mark.parametrize("average", ["samples", "macro", "micro"])
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_sets_of_labels_are_scored(average, kind):
    found = multilabel.decide(kind(MATRIX), "f1", average=average)
    expected = sklearn_metrics.f1_score(
        TRUTH, np.asarray(found.labels), average=average, zero_division=0.0
    )
    near(found.realised(kind(TRUTH)), expected)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_sets_of_a_given_size_are_scored(kind, average):
    more = {"weights": np.arange(1.0, 6.0), "also": {"precision@k": 0.5}}
    found = multilabel.decide(
        kind(MATRIX), average=average, per_row=2, **(more if average == "macro" else {})
    )
    labels = found.labels.toarray() if kind is sparse.csr_matrix else found.labels
    if average == "macro":
        each = sklearn_metrics.f1_score(TRUTH, labels, average=None, zero_division=0.0)
        expected = np.average(each, weights=more["weights"])
        expected += 0.5 * np.sum(TRUTH & labels) / (12 * 2)
    else:
        expected = sklearn_metrics.f1_score(TRUTH, labels, average="micro")
    near(found.realised(TRUTH), expected)
    near(found.realised(kind(TRUTH)), expected)


@pytest.mark.slow
def test_the_mean_of_what_is_realised_is_what_was_expected():
    decision = multiclass.decide(SHARES, "f1", weights=[1, 2, 3])
    edges = SHARES.cumsum(axis=1)
    rng, draws = np.random.default_rng(0), 4000
    scores = [
        decision.realised(np.sum(rng.random((40, 1)) >= edges, axis=1).clip(0, 2))
        for _ in range(draws)
    ]
    # Five standard errors of the mean.
    bound = 5 * np.std(scores) / np.sqrt(draws)
    assert abs(np.mean(scores) - decision.expected_score) < bound
