"""bestcut.multiclass: what is taken in, what is refused, and how intervals cover."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

from bestcut import multiclass, multilabel
from bestcut.metrics import from_counts, get

GOOD = [[0.5, 0.5], [0.3, 0.7]]
P = np.random.default_rng(0).dirichlet([0.5, 1.0, 2.0], size=20)


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        np.ndarray.tolist,
        pd.DataFrame,
        pl.DataFrame,
        sparse.csr_matrix,
        sparse.coo_array,
        sparse.csc_array,
    ],
)
def test_every_form_of_a_matrix_is_decided_alike(form):
    wanted = multiclass.decide(P)
    found = multiclass.decide(form(P))
    assert abs(found.expected_score - wanted.expected_score) <= wanted.error
    assert np.array_equal(found.labels, wanted.labels)
    assert np.array_equal(found.rule()(form(P)), wanted.rule()(P))


def test_explicit_zeros_and_duplicates_are_what_they_sum_to():
    p = np.array([[0.5, 0.5, 0.0], [0.25, 0.0, 0.75], [0.0, 1.0, 0.0]])
    row = [0, 0, 0, 0, 1, 1, 2, 2]
    column = [0, 0, 1, 2, 0, 2, 1, 0]
    values = [0.25, 0.25, 0.5, 0.0, 0.25, 0.75, 1.0, 0.0]
    given = sparse.coo_array((values, (row, column)), shape=p.shape)
    wanted, found = multiclass.decide(p, "mcc"), multiclass.decide(given, "mcc")
    assert np.array_equal(found.labels, wanted.labels)
    assert found.expected_score == wanted.expected_score
    assert given.nnz == 8


def test_input_is_left_alone_and_answers_repeat():
    p = P.copy()
    p.flags.writeable = False
    first, second = multiclass.decide(p), multiclass.decide(p)
    assert np.array_equal(p, P)
    assert np.array_equal(first.labels, second.labels)
    again = pickle.loads(pickle.dumps(first))
    assert np.array_equal(again.labels, first.labels)
    assert np.array_equal(again.rule()(P), first.rule()(P))
    assert again.distribution().mean == first.distribution().mean


def test_more_classes_than_rows():
    found = multiclass.decide(np.full((2, 10), 0.1))
    assert found.n_positive.sum() == 2


def test_a_column_of_probabilities_is_two_classes_as_the_refusal_says():
    p = np.array([0.2, 0.7, 0.6])
    found = multiclass.decide(np.column_stack([1 - p, p]))
    assert found.labels.tolist() == [0, 1, 1]


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_gap_says_what_it_was_proved_for(average):
    def stubborn(tp, fp, fn, tn):  # which cannot be followed, nor seen at every cell
        return np.interp(tp / (tp + fp + fn + 1.0), [0, 1], [0, 1])

    metric = from_counts(stubborn, "stubborn", smooth=True)
    p = np.tile(P, (15, 1))
    for given, chosen, scope, shown in (
        (p, metric, "cuts", " over cuts])"),
        (P[:8], metric, "predictions", "])"),
        (p, get("jaccard"), "predictions", "])"),
        (p, get("f1"), "predictions", "])"),
    ):
        found = multiclass.decide(given, chosen, average=average)
        assert found.gap_scope == scope
        assert repr(found) == (
            f"MulticlassDecision({average} {chosen.name}: {len(given)} rows, "
            f"3 classes, expected score {found.expected_score:.6g} "
            f"[error {found.error:.1e}, gap {found.gap:.1e}{shown}"
        )


def test_classes_may_be_of_several_types():
    names = np.array(["a", 3], dtype=object)
    found = multiclass.decide(GOOD, classes=names)
    score = multiclass.expected_score(GOOD, found.labels, classes=names)
    assert abs(score - found.expected_score) <= 2 * found.error


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (
            {"y_proba": [[0.5, 0.4], [0.5, 0.5]]},
            ValueError,
            "row 0 sums to 0.9. Divide each row",
        ),
        ({"y_proba": [[1.0], [1.0]]}, ValueError, "two or more classes; got shape"),
        (
            {"y_proba": [0.2, 0.8]},
            ValueError,
            r"`y_proba` must be 2-D, with a column for each class; got shape \(2,\)\. "
            r"If it holds the probability of one class, call `bestcut\.decide`, or "
            r"pass both classes: `np\.column_stack\(\[1 - y_proba, y_proba\]\)`\.$",
        ),
        (
            {"y_proba": [[[0.2, 0.8]]]},
            ValueError,
            r"a column for each class; got shape \(1, 1, 2\)\. .* for rows, pass "
            r"`y_proba\.reshape\(-1, n_classes\)`\.$",
        ),
        ({"y_proba": [[np.nan, 1.0]]}, ValueError, r"got y_proba\[0, 0\] = nan"),
        (
            {"y_proba": sparse.csr_array(np.array([[-0.1, 1.1]]))},
            ValueError,
            r"got y_proba.data\[0\] = -0.1",
        ),
        ({"classes": ["a"]}, ValueError, "`classes` must name each of the 2 columns"),
        ({"classes": ["a", "a"]}, ValueError, "'a' occurs more than once"),
        ({"weights": [1, -1]}, ValueError, r"got weights\[1\] = -1.0"),
        ({"weights": [0, 0]}, ValueError, "positive sum; all weights are 0"),
        ({"weights": [1, 2, 3]}, ValueError, r"shape \(2,\); got shape \(3,\)"),
        ({"also": {"recall": 1}}, ValueError, "'precision@k': weight}; got 'recall'"),
        ({"also": {"precision@k": -1}}, ValueError, "not negative; got 'precision@k'"),
        ({"also": 1.0}, TypeError, "`also` must be {'precision@k': weight}; got 1.0"),
        ({"also": {"precision@k": [1, 2]}}, TypeError, "`also` must be"),
        ({"average": None}, ValueError, "pass average='macro'"),
        (
            {"average": "micro", "weights": [1, 1]},
            ValueError,
            "is only for average='macro'",
        ),
    ],
)
def test_what_is_refused_and_how(options, error, words):
    options = {"y_proba": GOOD, **options}
    with pytest.raises(error, match=words):
        multiclass.decide(**options)


@pytest.mark.parametrize(
    ("y_pred", "words"),
    [
        ([0, 2], r"y_pred\[1\] = 2 is not one of 0, 1"),
        (["a", "b"], r"y_pred\[0\] = 'a' is not one of 0, 1"),
        ([None, 1], r"y_pred\[0\] = None is not one of 0, 1"),
        ([0], r"`y_pred` must have shape \(2,\)"),
    ],
)
def test_predictions_that_are_no_classes(y_pred, words):
    with pytest.raises(ValueError, match=words):
        multiclass.expected_score(GOOD, y_pred)


def test_one_score_for_all_is_that_of_the_number_of_right_rows():
    P = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    chosen = np.array([0, 1, 2, 2, 1, 0])
    law = multiclass.score_distribution(P, chosen, "f1", average="micro")
    # Micro F1 is accuracy: its variance is that of a sum of independent rows.
    right = P[np.arange(6), chosen]
    assert law.mean == pytest.approx(right.mean(), rel=1e-12)
    variance = np.sum(right * (1 - right)) / 36
    assert law.std == pytest.approx(np.sqrt(variance), rel=1e-9)
    expected = multiclass.expected_score(P, chosen, "f1", average="micro")
    assert expected == law.mean
    best = multiclass.decide(P, "f1", average="micro")
    own = multiclass.expected_score(P, best.labels, average="micro")
    assert own == best.expected_score
    with pytest.raises(ValueError, match="only for average='macro'"):
        multiclass.expected_score(P, chosen, average="micro", weights=[1, 1, 2])
    with pytest.raises(ValueError, match="`average` 'samples' is not known"):
        multiclass.score_distribution(P, chosen, average="samples")


def test_simulated_averages_are_inside_the_interval():
    rng = np.random.default_rng(6)
    p = rng.dirichlet([0.5, 1.0, 2.0], size=100)
    found = multiclass.decide(p, "f1")
    law = found.distribution()
    assert law.mean == found.expected_score
    low, high = law.interval(0.9)
    actual = np.sum(rng.random((2000, 100, 1)) >= np.cumsum(p, axis=1), axis=2)
    tp = np.array(
        [np.sum((actual == j) & (found.labels == j), axis=1) for j in range(3)]
    )
    total = np.array([np.sum(actual == j, axis=1) for j in range(3)])
    score = np.mean(2 * tp / (total + found.n_positive[:, None]), axis=0)
    # Standard errors: of 2000 batches 0.007, of the 4000 draws 0.005.
    assert 0.875 <= np.mean((score >= low) & (score <= high)) <= 0.925


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say_and_independent_columns_do_not():
    # 100 batches with 20 truths each: a standard error of 0.007, and of the 4000 draws
    # of an interval 0.005.
    rng = np.random.default_rng(8)
    rows, count, truths = 200, 5, 20
    inside, inside_naive, widths = [], [], []
    for _ in range(100):
        p = rng.dirichlet(np.full(count, 0.3), size=rows)
        labels = multiclass.decide(p, "f1").labels
        one = np.eye(count, dtype=bool)[labels]
        low, high = multiclass.score_distribution(p, labels, "f1").interval(0.9)
        naive = multilabel.score_distribution(p, one, "f1", average="macro")
        naive_low, naive_high = naive.interval(0.9)
        widths.append((naive_high - naive_low) / (high - low))
        edges = np.cumsum(p, axis=1)[:, :-1]
        truth = np.sum(rng.random((truths, rows, 1)) >= edges, axis=2)
        for y in truth:
            score = f1_score(
                y, labels, average="macro", labels=range(count), zero_division=0
            )
            inside.append(low <= score <= high)
            inside_naive.append(naive_low <= score <= naive_high)
    assert len(inside) == 2000
    assert 0.88 <= np.mean(inside) <= 0.92
    # The classes of a row exclude each other: a row that is right for its own class is
    # right for all others too, so that their scores rise and fall together.
    assert max(widths) < 0.85
    assert np.mean(inside_naive) < 0.84
