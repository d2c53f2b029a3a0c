"""decide_each() of sparse matrices: what is absent has probability 0."""

import time
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import bestcut
from bestcut.metrics import MCC, BalancedAccuracy, FBeta, from_counts
from helpers import NAMES
from many.known import COST, SMOOTH, STEPS, assert_as_decide, title

METRICS = [
    *(bestcut.metrics.get(name) for name in NAMES),
    FBeta(zero_division=1.0),
    MCC(zero_division=1.0),
    BalancedAccuracy(zero_division=1.0),
    SMOOTH,
    STEPS,
    COST,
]


def some_matrix(rng, rows=14, columns=25):
    """Return a CSR array with empty rows, full rows, ties, ones and explicit zeros."""
    p = np.where(rng.random((rows, columns)) < 0.2, rng.random((rows, columns)), 0.0)
    p[0], p[1], p[2, :4] = 0.0, rng.random(columns), [0.3, 0.3, 0.3, 1.0]
    out = sparse.csr_array(p)
    out.data[5], out.data[-3] = 0.0, 0.0
    return out


def assert_as_dense_rows(matrix, metric, **options):
    many = bestcut.decide_each(matrix, metric, **options)
    axis = options.get("axis", 1)
    dense, labels = matrix.toarray(), many.labels.toarray()
    assert labels.shape == dense.shape
    assert labels.dtype == many.labels.dtype == bool
    if axis == 0:
        dense, labels = dense.T, labels.T
    stored = np.diff((matrix.tocsr() if axis else matrix.tocsc()).indptr)
    for i, row in enumerate(dense):
        # No more can be positive than is stored.
        assert_as_decide(
            row, many, i, labels[i], many.metric, high=int(stored[i]) or None
        )


@pytest.mark.parametrize("metric", METRICS, ids=title)
@pytest.mark.parametrize("axis", [0, 1])
def test_rows_are_decided_as_if_they_were_dense(metric, axis):
    assert_as_dense_rows(some_matrix(np.random.default_rng(0)), metric, axis=axis)


@pytest.mark.parametrize(("n", "scope"), [(20, "predictions"), (300, "cuts")])
def test_absent_labels_count_for_what_a_gap_is_proved_for(n, scope):
    def stubborn(tp, fp, fn, tn):  # which cannot be followed, nor seen at every cell
        return np.interp(tp / (tp + fp + fn + 1.0), [0, 1], [0, 1])

    metric = from_counts(stubborn, "stubborn", smooth=True)
    p = np.zeros((2, n))
    p[:, :6] = np.random.default_rng(0).random((2, 6))
    for matrix in (p, sparse.csr_array(p)):
        assert bestcut.decide_each(matrix, metric).gap_scope == scope


@pytest.mark.parametrize("metric", ["f1", "mcc", "gmean", STEPS])
def test_many_absent_labels_are_still_true_negatives(metric):
    rng = np.random.default_rng(1)
    p = sparse.random_array((3, 700), density=0.01, random_state=rng, format="csr")
    assert_as_dense_rows(p, metric)
    p = sparse.random_array((2, 700), density=0.45, random_state=rng, format="csr")
    assert np.diff(p.indptr).min() > 256
    assert_as_dense_rows(p, metric)


def forms():
    coo = some_matrix(np.random.default_rng(2)).tocoo()
    row, column, data = coo.row, coo.col, coo.data
    twice = sparse.coo_array(
        (np.r_[data / 2, data / 2], (np.r_[row, row], np.r_[column, column])),
        shape=coo.shape,
    )
    order = np.random.default_rng(3).permutation(data.size)
    shuffled = sparse.coo_array(
        (data[order], (row[order], column[order])), shape=coo.shape
    )
    csr = coo.tocsr()
    turned = csr.copy()
    for a, b in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        turned.indices[a:b] = csr.indices[a:b][::-1]
        turned.data[a:b] = csr.data[a:b][::-1]
    turned.has_sorted_indices = False
    doubled = sparse.csr_array(
        (np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), 2 * csr.indptr),
        shape=csr.shape,
    )
    return {
        "csr_array": csr,
        "csr_array, doubled": doubled,
        "csr_matrix": sparse.csr_matrix(csr),
        "csc_array": csr.tocsc(),
        "csc_matrix": sparse.csc_matrix(csr),
        "coo_array": coo,
        "coo_matrix": sparse.coo_matrix(coo),
        "lil_array": csr.tolil(),
        "dok_array": csr.todok(),
        "duplicates": twice,
        "shuffled": shuffled,
        "unsorted": turned,
        "int64 indices": sparse.csr_array(
            (csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)),
            shape=csr.shape,
        ),
    }


@pytest.mark.parametrize("kind", forms())
@pytest.mark.parametrize("axis", [0, 1])
def test_every_sparse_form_gives_the_same_and_is_not_changed(kind, axis):
    data = forms()[kind]
    before = [np.array(data.tocoo().data), data.nnz, data.toarray()]
    many = bestcut.decide_each(data, "f1", axis=axis)
    dense = forms()["csr_array"].toarray()
    reference = bestcut.decide_each(dense, "f1", axis=axis)
    assert np.array_equal(many.labels.toarray(), reference.labels)
    assert np.array_equal(many.n_positive, reference.n_positive)
    assert np.array_equal(many.threshold, reference.threshold)
    np.testing.assert_allclose(
        many.expected_score, reference.expected_score, rtol=0, atol=2e-13
    )
    after = [np.array(data.tocoo().data), data.nnz, data.toarray()]
    assert all(map(np.array_equal, before, after))


def test_rows_give_csr_and_columns_csc_without_stored_zeros():
    data = some_matrix(np.random.default_rng(4))
    rows = bestcut.decide_each(data).labels
    assert (rows.format, rows.nnz) == ("csr", rows.data.sum())
    assert isinstance(rows, sparse.csr_array)
    assert isinstance(
        bestcut.decide_each(sparse.csr_matrix(data)).labels, sparse.csr_matrix
    )
    columns = bestcut.decide_each(data, axis=0).labels
    assert (columns.format, columns.nnz) == ("csc", columns.data.sum())


def test_small_numbers_and_certain_ones_are_taken_as_they_are():
    for dtype in (np.float32, np.int8):
        data = sparse.csr_array(np.array([[1, 0, 1], [0, 0, 0]], dtype=dtype))
        many = bestcut.decide_each(data)
        assert many.labels.toarray().tolist() == [[True, False, True], [False] * 3]


@pytest.mark.parametrize("metric", ["f1", "mcc"])
def test_bounds_take_what_is_stored_at_most(metric):
    data = sparse.csr_array(np.array([[0.1, 0, 0.2, 0.3], [0, 0.4, 0, 0], [0] * 4]))
    least = bestcut.decide_each(data, metric, min_positives=2)
    assert least.n_positive.tolist()[1:] == [1, 0]
    assert least.n_positive[0] >= 2
    most = bestcut.decide_each(data, metric, max_positives=1)
    assert most.n_positive.tolist() == [1, 1, 0]


def test_empty_matrices_are_fine():
    for shape in ((0, 5), (5, 0), (4, 4)):
        many = bestcut.decide_each(sparse.csr_array(shape), "mcc")
        assert many.labels.shape == shape
        assert many.labels.nnz == 0
        assert many.n_positive.tolist() == [0] * shape[0]


def test_threads_do_not_change_anything():
    data = sparse.random_array((3000, 500), density=0.03, random_state=0, format="csr")
    for metric in ("f1", "mcc"):
        one = bestcut.decide_each(data, metric)
        two = bestcut.decide_each(data, metric, n_jobs=2)
        assert (one.labels != two.labels).nnz == 0
        assert np.array_equal(one.expected_score, two.expected_score)


def test_entries_that_are_no_probabilities_are_refused():
    data = sparse.csr_array(np.array([[0.5, 0.0, 1.5]]))
    with pytest.raises(bestcut.InvalidProbabilityError, match=r"y_proba.data\[1\]"):
        bestcut.decide_each(data)
    twice = sparse.coo_array(([0.6, 0.6], ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.raises(bestcut.InvalidProbabilityError, match=r"= 1\.2"):
        bestcut.decide_each(twice)


def test_nothing_is_made_dense():
    rows, labels = 2000, 1_000_000  # 16 GB if it were
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, labels, size=(rows, 20)), axis=1)
    data = sparse.csr_array(
        (rng.beta(0.3, 3, rows * 20), indices.ravel(), np.arange(rows + 1) * 20),
        shape=(rows, labels),
    )
    tracemalloc.start()
    for metric in ("f1", "jaccard"):
        bestcut.decide_each(data, metric)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


@pytest.mark.slow
def test_extreme_multilabel_takes_at_most_twice_the_time_of_groups():
    rows, labels, per_row = 20_000, 100_000, 50
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, labels, size=(rows, per_row)), axis=1).ravel()
    p = rng.beta(0.3, 3, rows * per_row)
    data = sparse.csr_array(
        (p, indices, np.arange(rows + 1) * per_row), shape=(rows, labels)
    )
    data.sum_duplicates()
    np.minimum(data.data, 1.0, out=data.data)
    groups = np.repeat(np.arange(rows), np.diff(data.indptr))
    times = {"sparse": [], "groups": []}
    for _ in range(3):
        start = time.perf_counter()
        bestcut.decide_each(data)
        times["sparse"].append(time.perf_counter() - start)
        start = time.perf_counter()
        bestcut.decide_each(data.data, groups=groups)
        times["groups"].append(time.perf_counter() - start)
    assert min(times["sparse"]) <= 2 * min(times["groups"])
