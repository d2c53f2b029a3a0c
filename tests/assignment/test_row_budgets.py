"""k labels for each row: sparse and dense input, budgets, coverage, rules, bounds."""

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import bestcut
from bestcut import multilabel
from bestcut.assignment._ascent import ColumnScores
from bestcut.assignment._entries import Entries
from bestcut.assignment._row_choice import Budgets
from bestcut.assignment._search import AssignmentSearch, Candidate
from bestcut.metrics import Coverage, get
from groups import one_in

RNG = np.random.default_rng(17)


def some(rows, columns, zeros=0.3):
    p = RNG.beta(1, 3, (rows, columns))
    p[RNG.random(p.shape) < zeros] = 0.0
    return p


@one_in(2, "average, per_row", ["macro", "micro"], [2, (1, 3), (0, 2)])
def test_a_sparse_matrix_is_decided_as_the_same_dense_one(average, per_row):
    p = some(60, 5)
    p[7] = 0.0  # a row without labels
    dense = multilabel.decide(p, average=average, per_row=per_row)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        found = multilabel.decide(kind(p), average=average, per_row=per_row)
        assert sparse.issparse(found.labels)
        assert np.array_equal(found.labels.toarray(), dense.labels)
        assert found.expected_score == dense.expected_score
        assert found.gap == dense.gap
    low, high = per_row if isinstance(per_row, tuple) else (per_row, per_row)
    stored = np.count_nonzero(p, axis=1)
    count = dense.labels.sum(axis=1)
    assert np.all(count >= np.minimum(low, stored))
    assert np.all(count <= np.minimum(high, stored))
    assert not np.any(dense.labels & (p == 0.0))


def allowed_assignments(p, low, high):
    """Every assignment that gives each row as many of its candidates as it may take."""
    choices = []
    for row in p:
        candidates = np.flatnonzero(row).tolist()
        sizes = range(min(low, len(candidates)), min(high, len(candidates)) + 1)
        choices.append(
            [s for k in sizes for s in itertools.combinations(candidates, k)]
        )
    for sets in itertools.product(*choices):
        labels = np.zeros(p.shape, dtype=bool)
        for row, columns in zip(labels, sets, strict=True):
            row[list(columns)] = True
        yield labels


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_row_without_a_candidate_takes_none(average, kind):
    p = np.array([[0.6, 0.3], [0.0, 0.0], [0.2, 0.4], [0.3, 0.1]])
    for metric in ("f1", "mcc", "accuracy"):
        found = multilabel.decide(kind(p), metric, average=average, per_row=1)
        best = max(
            multilabel.expected_score(p, labels, metric, average=average)
            for labels in allowed_assignments(p, 1, 1)
        )
        assert best <= found.expected_score + found.error + found.gap
        assert np.ravel(found.labels.sum(axis=1)).tolist() == [1, 0, 1, 1]
    for nobody in (np.zeros((0, 2)), np.zeros((3, 2))):
        found = multilabel.decide(kind(nobody), average=average, per_row=1)
        assert found.labels.shape == nobody.shape
        assert found.labels.sum() == 0
        assert found.rule()(kind(nobody)).sum() == 0


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_probabilities_that_are_hardly_above_0_are_decided_without_a_warning(
    average, kind
):
    for tiny in (5e-324, 1e-300, 1e-200):
        p = np.array([[0.25, tiny, tiny], [tiny, 0.0, 0.5]])
        for metric in ("recall", "cohen_kappa", "f1", "false_negative_rate", "mcc"):
            found = multilabel.decide(kind(p), metric, average=average, per_row=1)
            sign = get(metric).sign
            best = max(
                sign * multilabel.expected_score(p, labels, metric, average=average)
                for labels in allowed_assignments(p, 1, 1)
            )
            promised = sign * found.expected_score + found.error + found.gap
            assert best <= promised + 1e-15


def test_zeros_that_are_stored_and_entries_that_are_stored_twice():
    p = some(30, 4)
    rows, columns = np.nonzero(p >= 0.0)
    half = p[rows, columns] / 2
    twice = sparse.coo_matrix(
        (np.r_[half, half], (np.r_[rows, rows], np.r_[columns, columns])), p.shape
    )
    found = multilabel.decide(twice, average="macro", per_row=2)
    assert np.array_equal(
        found.labels.toarray(), multilabel.decide(p, average="macro", per_row=2).labels
    )


@pytest.mark.parametrize("kind", [list, np.asfortranarray, pd.DataFrame, pl.DataFrame])
def test_matrices_of_any_kind_are_taken_and_left_alone(kind):
    p = some(40, 4, zeros=0.0)
    given = p.tolist() if kind is list else kind(p.copy())
    before = pickle.dumps(given)
    found = multilabel.decide(given, average="macro", per_row=1)
    assert pickle.dumps(given) == before
    p.setflags(write=False)
    assert np.array_equal(
        found.labels, multilabel.decide(p, average="macro", per_row=1).labels
    )
    small = multilabel.decide(p.astype(np.float32), average="macro", per_row=1)
    assert small.expected_score == pytest.approx(found.expected_score, abs=1e-6)


def test_a_rule_repeats_the_decision_and_can_be_pickled():
    p = some(300, 6, zeros=0.0)
    found = multilabel.decide(p, average="macro", per_row=2)
    rule = pickle.loads(pickle.dumps(found.rule()))
    again = rule(p)
    assert np.mean(again != found.labels) < 0.01
    assert np.array_equal(rule(p[:1]), again[:1])
    assert np.array_equal(rule(sparse.csr_matrix(p)).toarray(), again)
    with pytest.raises(ValueError, match="must have 6 columns"):
        rule(p[:, :5])
    with pytest.raises(ValueError, match="Only a decision with `per_row`"):
        multilabel.decide(p, average="macro").rule()


def coverage(p, labels):
    return float(np.mean(1.0 - np.prod(np.where(labels, 1.0 - p, 1.0), axis=0)))


def test_coverage_is_bounded_by_every_assignment():
    for _ in range(20):
        p = RNG.beta(1, 2, (5, 3))
        found = multilabel.decide(p, Coverage(), average="macro", per_row=1)
        assert found.expected_score == pytest.approx(
            coverage(p, found.labels), abs=1e-14
        )
        best = max(
            coverage(p, np.eye(3, dtype=bool)[list(columns)])
            for columns in itertools.product(range(3), repeat=5)
        )
        assert best <= found.expected_score + found.error + found.gap + 1e-12


@one_in(2, "name", ["f1", "precision", "mcc", "gmean", "jaccard"])
def test_any_prices_bound_every_assignment(name):
    metric, n, columns = get(name), 5, 3
    one = np.ones(n, dtype=np.intp)
    share = np.full(columns, 1 / columns)
    for _ in range(4):
        p = RNG.beta(0.7, 1.5, (n, columns))
        scores = [
            multilabel.expected_score(
                p, np.eye(columns, dtype=bool)[list(x)], metric, average="macro"
            )
            for x in itertools.product(range(columns), repeat=n)
        ]
        entries = Entries.of_matrix(p)
        problem = AssignmentSearch(entries, metric, Budgets(one, one), share)
        taken = np.eye(columns, dtype=bool)[RNG.integers(0, columns, n)].ravel()
        state = Candidate(problem, taken, ColumnScores(entries, metric, share))
        for scale in (0.0, 0.02, 0.3):
            bound, _ = state.upper(RNG.normal(0.0, scale, n))
            assert max(scores) <= bound + 1e-12


def test_each_problem_may_have_bounds_of_its_own():
    p = some(30, 8, zeros=0.0)
    low, high = RNG.integers(0, 4, 30), RNG.integers(4, 9, 30)
    together = bestcut.decide_each(p, min_positives=low, max_positives=high)
    for i in range(30):
        alone = bestcut.decide(
            p[i], min_positives=int(low[i]), max_positives=int(high[i])
        )
        assert together.expected_score[i] == pytest.approx(
            alone.expected_score, abs=1e-12
        )
        assert low[i] <= together.n_positive[i] <= high[i]
    groups = np.repeat(np.arange(30), 8)
    by_group = bestcut.decide_each(
        p.ravel(), groups=groups, min_positives=low, max_positives=high
    )
    assert np.array_equal(by_group.n_positive, together.n_positive)
    with pytest.raises(ValueError, match="problem 2 has max_positives=0 < min_"):
        bestcut.decide_each(p[:3], min_positives=[0, 0, 1], max_positives=[1, 1, 0])
    with pytest.raises(ValueError, match="min_positives"):
        bestcut.decide_each(p, min_positives=[1, 2])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"per_row": 5}, "at most the number of columns; got 5 with 4"),
        ({"per_row": (3, 1)}, "low <= high"),
        ({"per_row": (1, 2, 3)}, "a whole number k, or a pair \\(low, high\\)"),
        ({"per_row": -1}, "per_row"),
        ({"per_row": 1, "average": "samples"}, "`min_positives` and `max_positives`"),
        ({"per_row": 1, "min_positives": 1}, "both together are not supported"),
        ({"per_row": 1, "weights": [1, 1, 1, -1]}, "weights"),
        ({"per_row": 1, "weights": [0, 0, 0, 0]}, "positive sum"),
        ({"per_row": 1, "weights": [1, 1]}, "weights"),
        ({"per_row": 1, "also": {"recall": 1.0}}, "'precision@k'"),
        (
            {"per_row": (1, 2), "also": {"precision@k": 1.0}},
            r"as many labels for every row.* got per_row=\(1, 2\)\. Pass per_row=2",
        ),
        ({"weights": [1, 1, 1, 1]}, "Pass `per_row` too"),
    ],
)
def test_one_clear_error_for_what_cannot_be(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        multilabel.decide(some(6, 4), **{"average": "macro"} | options)


def test_stored_values_must_be_probabilities():
    bad = sparse.csr_matrix(np.array([[0.5, 0.0], [0.2, -0.1]]))
    with pytest.raises(bestcut.InvalidProbabilityError, match=r"data\[2\] = -0.1"):
        multilabel.decide(bad, average="macro", per_row=1)
    with pytest.raises(bestcut.InvalidProbabilityError, match="nan"):
        multilabel.decide([[0.5, np.nan]], average="macro", per_row=1)
