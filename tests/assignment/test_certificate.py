"""Bounds on columns and on assignments: nothing that is enumerated exceeds them."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from bestcut import multiclass, multilabel
from bestcut.assignment._certificate import ScoredColumns
from bestcut.assignment._column_laws import ColumnLaws
from bestcut.assignment._entries import Entries
from bestcut.curve import curve_of
from bestcut.metrics import (
    MCC,
    FBeta,
    FractionalLinear,
    LinearUtility,
    from_counts,
    get,
)
from groups import one_in, slow
from helpers import NAMES

METRICS = [
    *(get(name) for name in NAMES),
    FBeta(0.3),
    FBeta(zero_division=1.0),
    FBeta(2, zero_division=-0.5),
    MCC(zero_division=1.0),
    LinearUtility(tp=3, fp=-1, fn=-0.5),
    FractionalLinear((-0.5, 1, 1, 0), (0, 0, 1, 1), name="crosses 0"),
    FractionalLinear((0, 1, 0, 0), (1, 0, 0, 0), name="hits"),
    from_counts(
        lambda tp, fp, fn, tn: tp / (tp + 0.3 * fp + 0.7 * fn),
        "tversky",
        zero_division=0.0,
    ),
]
# The kinds of bounds, each once; all metrics are slow.
KINDS = ("f1", "mcc", "precision", "balanced_accuracy", "gmean", "jaccard", "crosses 0")
each_metric = pytest.mark.parametrize(
    "metric",
    [
        pytest.param(m, marks=() if m.name in KINDS else pytest.mark.slow)
        for m in METRICS
    ],
    ids=lambda m: f"{m.name}-{getattr(m, 'zero_division', '')}",
)


def law(p):
    """Return the distribution of the number of positives, one after another."""
    out = np.ones(1)
    for x in p:
        out = np.append(out * (1 - x), 0.0) + np.append(0.0, out * x)
    return out


def expected(p, labels, metric):
    """Return the expected score of labels, from two convolutions."""
    inside, outside = law(p[labels]), law(p[~labels])
    tp = np.arange(float(inside.size))[:, None]
    s = tp + np.arange(float(outside.size))
    score = metric.score(tp, float(labels.sum()), s, float(p.size))
    return float(inside @ np.broadcast_to(score, s.shape) @ outside)


def subsets(n):
    return np.array(list(itertools.product((False, True), repeat=n))).reshape(-1, n)


def problems(rng, rows, columns, *, one):
    """Yield matrices of every sort: anything, ties, certain, an empty column."""
    for kind in range(4):
        p = rng.dirichlet(np.ones(columns), size=rows)
        if not one:
            p = rng.beta(0.5, 1.0, size=(rows, columns))
        if kind == 1:
            p = np.rint(p * 4) / 4
        elif kind == 2:
            p = 1.0 * (p == p.max(axis=1, keepdims=True))
        elif kind == 3:
            p[:, 0] = 0.0
        if one:
            p[p.sum(axis=1) == 0.0, -1] = 1.0
            p /= p.sum(axis=1, keepdims=True)
        yield p


def assert_certified(p, labels, found, metric, budget, share, extra):
    """No allowed labels exceed what is certified, and the score is theirs."""
    rows, columns = p.shape
    all_sets = subsets(rows)
    table = np.array(
        [[expected(p[:, j], s, metric) for s in all_sets] for j in range(columns)]
    )
    powers = 1 << np.arange(rows)[::-1]  # where a set stands in `subsets`
    each_row = subsets(columns)
    masks, hits = np.zeros((1, columns), dtype=int), np.zeros(1)
    for i in range(rows):
        stored = int(np.count_nonzero(p[i]))
        low, high = (min(x, stored) for x in budget)
        count = each_row.sum(axis=1)
        allowed = (count >= low) & (count <= high) & ~each_row[:, p[i] == 0].any(axis=1)
        assert low <= labels[i].sum() <= high
        assert not labels[i][p[i] == 0].any()
        options = each_row[allowed]
        masks = (masks[:, None] + options * powers[i]).reshape(-1, columns)
        hits = (hits[:, None] + options @ p[i]).ravel()
    score = sum(share[j] * table[j][masks[:, j]] for j in range(columns))
    utility = metric.sign * score + extra * hits
    own = sum(share[j] * table[j][powers @ labels[:, j]] for j in range(columns))
    own += metric.sign * extra * p[labels].sum()
    room = 1e-12 * max(1.0, abs(own))
    assert abs(own - found.expected_score) <= found.error + room
    best = metric.sign * found.expected_score + found.gap + found.error
    assert utility.max() <= best + room


@each_metric
def test_no_classes_exceed_the_certificate(metric):
    rng = np.random.default_rng(1)
    for rows, columns in ((1, 2), (4, 3), (6, 2)):
        for i, p in enumerate(problems(rng, rows, columns, one=True)):
            weights = np.arange(columns) if i % 2 else np.ones(columns)
            also = {"precision@k": 1.5} if i == 3 else None
            found = multiclass.decide(p, metric, weights=weights, also=also)
            labels = np.eye(columns, dtype=bool)[found.labels]
            extra = 1.5 / rows if also else 0.0
            share = weights / weights.sum()
            assert_certified(p, labels, found, metric, (1, 1), share, extra)


@each_metric
@pytest.mark.parametrize("budget", [(1, 1), (0, 2), slow((2, 2)), slow((1, 3))])
def test_no_labels_in_budget_exceed_the_certificate(metric, budget):
    rng = np.random.default_rng(2)
    for p in problems(rng, 4, 3, one=False):
        found = multilabel.decide(p, metric, average="macro", per_row=budget)
        share = np.full(3, 1 / 3)
        assert_certified(p, found.labels, found, metric, budget, share, 0.0)


@each_metric
@pytest.mark.parametrize("k", [2, slow(1)])
def test_what_counts_besides_is_the_share_among_the_labels_given(metric, k):
    """Rows with fewer candidates are given fewer; from a loss the share is taken."""
    rng = np.random.default_rng(4)
    for p in problems(rng, 4, 3, one=False):
        p[0] = [0.0, 0.4, 0.0]
        p[1] = 0.0
        for given in (p, sparse.csr_matrix(p)):
            also = {"precision@k": 1.5}
            found = multilabel.decide(
                given, metric, average="macro", per_row=k, also=also
            )
            labels = np.asarray(
                found.labels.toarray() if given is not p else found.labels
            ).astype(bool)
            extra = 1.5 / labels.sum()
            assert labels.sum() == np.minimum(np.count_nonzero(p, axis=1), k).sum()
            share = np.full(3, 1 / 3)
            assert_certified(p, labels, found, metric, (k, k), share, extra)


@each_metric
def test_no_subset_of_a_column_exceeds_its_bound(metric):
    rng = np.random.default_rng(3)
    for n, absent in ((1, 0), (5, 0), (6, 2), (7, 0)):
        p = np.concatenate([rng.beta(0.5, 1, size=n), np.zeros(absent)])
        group = next(Entries.of_matrix(p[:, None]).column_groups())
        sets = np.pad(subsets(n), ((0, 0), (0, absent)))
        utility = metric.sign * np.array([expected(p, s, metric) for s in sets])
        for scale in (0.0, 0.05, 0.5):
            prices = rng.normal(0.1, scale, size=(1, n))
            taken = rng.random((1, n)) < 0.5
            columns = ScoredColumns(taken, metric, ColumnLaws(group, n + absent))
            bound, _ = columns.bounds(prices, np.ones(1), 0.0)
            best = np.max(utility - sets[:, :n] @ prices[0])
            assert best <= bound[0] + 1e-12 * max(1.0, abs(best))


@one_in(3, "weight, chosen", [0.25, 0.5, 1.0], [17, 33, 68, 132])
def test_a_base_that_is_0_at_one_size_bends_beside_it(weight, chosen):
    # At n / 2 the score without hits is 0, whatever the positives: no sign that it is
    # 0 at other sizes. With one price for all rows the best sets are cuts.
    n = 200
    metric = FractionalLinear((-weight, 1, 2 * weight, 0), (0, 0, 1, 1))
    rng = np.random.default_rng(4)
    p = np.sort(rng.beta(1, 2, size=n))[::-1]
    group = next(Entries.of_matrix(p[:, None]).column_groups())
    value, error = curve_of(p, metric).whole()
    taken = np.arange(n)[None] < chosen
    columns = ScoredColumns(taken, metric, ColumnLaws(group, n))
    for near in range(60, 140, 4):
        price = (value[near + 1] - value[near - 1]) / 2
        bound, _ = columns.bounds(np.full((1, n), price), np.ones(1), 0.0)
        best = np.max(value - error - price * np.arange(n + 1))
        assert best <= bound[0] + 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_rows_and_columns_without_entries(name):
    for p in (np.zeros((3, 2)), np.zeros((0, 2)), np.array([[0.5, 0.0], [0.0, 0.0]])):
        for average in ("macro", "micro"):
            found = multilabel.decide(p, name, average=average, per_row=1)
            assert np.array_equal(found.labels, p > 0)
            assert np.isnan(found.expected_score) == (p.shape[0] == 0)


def test_an_empty_column_beside_long_ones():
    p = np.zeros((2000, 3))
    p[:, 0], p[:, 1] = 0.6, 0.4
    found = multiclass.decide(p, "f1")
    assert found.n_positive[2] == 0
    assert found.gap < 1e-3
