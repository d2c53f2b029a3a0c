"""One decision for each of many problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut._validation import (
    BoolArray,
    FloatArray,
    check_bounds,
    check_groups,
    check_matrix,
    check_probabilities,
    check_whole_number,
)
from bestcut.many._counts import LARGEST_TABLES
from bestcut.many._fractional import Kernel, fractional_kernel
from bestcut.many._laws import law_kernel
from bestcut.metrics import Metric, get
from bestcut.solvers import select_solver


@dataclass(frozen=True, repr=False, eq=False)
class Decisions:
    """The labels with the best expected score of each problem.

    Attributes
    ----------
    labels : ndarray of bool or sparse matrix
        The predictions, in the shape of the input. Sparse input gives sparse labels.
    n_positive : ndarray of int
        For each problem, how many are positive.
    threshold : ndarray of float
        For each problem, the smallest probability predicted positive; inf if none is.
    expected_score : ndarray of float
        For each problem, the expected metric of its labels.
    error : ndarray of float
        For each problem, a bound on the numerical error of `expected_score`.
    metric : Metric
        What was maximised (a loss: minimised).
    groups : ndarray or None
        What each problem is called, if `groups` were given: the different ones, sorted.
    """

    labels: Any
    n_positive: NDArray[np.int64]
    threshold: FloatArray
    expected_score: FloatArray
    error: FloatArray
    metric: Metric
    groups: NDArray[Any] | None = None

    def __repr__(self) -> str:
        count = self.n_positive.size
        if not count:
            return f"Decisions({self.metric.name}: no problems)"
        return (
            f"Decisions({self.metric.name}: {count} problems, "
            f"{int(self.n_positive.sum())} positive, mean expected score "
            f"{float(self.expected_score.mean()):.6g} "
            f"[error {float(self.error.max()):.1e}])"
        )


def decide_each(
    y_proba: Any,
    metric: str | Metric = "f1",
    *,
    axis: int = 1,
    groups: Any = None,
    min_positives: int = 0,
    max_positives: int | None = None,
    n_jobs: int = 1,
) -> Decisions:
    """Choose the labels with the best expected metric in each of many problems.

    Each row of a matrix is decided by itself, as `decide` would: the labels of one
    document, the products in one basket, the hits of one query, the pixels of one mask.

    Parameters
    ----------
    y_proba : array-like of shape (rows, columns), sparse matrix, or of shape (n,)
        Calibrated probabilities. What a sparse matrix does not hold has probability 0,
        and is never predicted positive. With `groups`, one probability per instance.
    metric : str or Metric, default="f1"
        What to maximise in each problem; as for `decide`.
    axis : {1, 0}, default=1
        Decide each row (1) or each column (0).
    groups : array-like of shape (n,), optional
        Which problem an instance belongs to, in any order.
    min_positives, max_positives : int, optional
        Bounds on the number of positives in each problem. A problem that has fewer
        instances than `min_positives` is taken whole.
    n_jobs : int, default=1
        How many threads.

    Returns
    -------
    Decisions
        With ``labels`` in the shape of the input, and ``n_positive``, ``threshold``,
        ``expected_score`` and ``error`` for each problem.

    Examples
    --------
    >>> import bestcut
    >>> some = bestcut.decide_each([[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]], "f1")
    >>> some.labels.tolist()
    [[True, False, False], [True, True, False]]
    >>> some.expected_score.round(3).tolist()
    [0.632, 0.366]
    >>> query = ["a", "b", "a", "b"]
    >>> bestcut.decide_each([0.7, 0.3, 0.2, 0.3], groups=query).n_positive
    array([1, 2])
    """
    chosen = get(metric)
    threads = max(check_whole_number(n_jobs, name="n_jobs"), 1)
    if axis not in (0, 1):
        msg = f"`axis` must be 1 (each row) or 0 (each column); got {axis!r}."
        raise ValueError(msg)
    select_solver("auto", chosen, 0)  # refuses a metric without the ranking principle
    bounds = min_positives, max_positives
    if groups is not None:
        return _decide_groups(y_proba, groups, chosen, bounds, threads)
    if hasattr(y_proba, "tocsr"):
        return _decide_sparse(y_proba, axis, chosen, bounds, threads)
    matrix = check_matrix(y_proba)
    rows = matrix if axis == 1 else matrix.T
    low, high = check_bounds(*bounds, n=rows.shape[1])
    solved = _Answers(rows.shape[0])
    labels = np.zeros(rows.shape, dtype=np.bool_)
    solver = _EqualSizes(chosen, rows.shape[1], rows.shape[1], low, high)

    def work(at: slice) -> None:
        labels[at] = solver.solve(rows[at], solved, at)

    _run(work, solver.blocks(rows.shape[0]), threads)
    return solved.decisions(labels if axis == 1 else labels.T, chosen)


def _decide_groups(
    y_proba: Any,
    groups: Any,
    metric: Metric,
    bounds: tuple[int, int | None],
    threads: int,
) -> Decisions:
    p = check_probabilities(y_proba)
    names, member_of = check_groups(groups, p.size)
    order = np.argsort(member_of, kind="stable")
    sizes = np.bincount(member_of, minlength=names.size)
    flat = p[order]
    solved = _Answers(names.size)
    ranked = _decide_ragged(flat, sizes, None, solved, metric, bounds, threads)
    labels = np.empty(p.size, dtype=np.bool_)
    labels[order] = ranked
    return solved.decisions(labels, metric, names)


def _decide_sparse(
    y_proba: Any,
    axis: int,
    metric: Metric,
    bounds: tuple[int, int | None],
    threads: int,
) -> Decisions:
    matrix = y_proba.tocsr(copy=True) if axis == 1 else y_proba.tocsc(copy=True)
    matrix.sum_duplicates()
    p = check_probabilities(matrix.data, name="y_proba.data")
    sizes = np.diff(matrix.indptr)
    solved = _Answers(sizes.size)
    labels = _decide_ragged(
        p, sizes, matrix.shape[axis], solved, metric, bounds, threads
    )
    matrix.data = labels
    matrix.eliminate_zeros()
    return solved.decisions(matrix, metric)


def _decide_ragged(
    p: FloatArray,
    sizes: NDArray[np.int_],
    total: int | None,
    solved: _Answers,
    metric: Metric,
    bounds: tuple[int, int | None],
    threads: int,
) -> BoolArray:
    """Decide problems that lie one after another in `p`, equal sizes together.

    `total` is how many instances each has, if not as many as probabilities.
    """
    low, high = check_bounds(*bounds, n=int(np.iinfo(np.int64).max))
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    labels = np.zeros(p.size, dtype=np.bool_)
    by_size = np.argsort(sizes, kind="stable")
    ends = np.flatnonzero(np.diff(sizes[by_size])) + 1
    for which in np.split(by_size, ends) if sizes.size else []:
        m = int(sizes[which[0]])
        n = m if total is None else total
        solver = _EqualSizes(metric, m, n, min(low, m), min(high, m))

        def work(
            at: slice, solver: _EqualSizes = solver, which: NDArray[np.intp] = which
        ) -> None:
            problems = which[at]
            places = starts[problems][:, None] + np.arange(solver.m)
            labels[places] = solver.solve(p[places], solved, problems)

        _run(work, solver.blocks(which.size), threads)
    return labels


def _run(work: Callable[[slice], None], blocks: Iterator[slice], threads: int) -> None:
    if threads == 1:
        for block in blocks:
            work(block)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, blocks))


class _Answers:
    """What is known of each problem."""

    def __init__(self, count: int) -> None:
        self.n_positive = np.zeros(count, dtype=np.int64)
        self.threshold = np.full(count, np.inf)
        self.expected_score = np.zeros(count)
        self.error = np.zeros(count)

    def decisions(
        self, labels: Any, metric: Metric, groups: NDArray[Any] | None = None
    ) -> Decisions:
        return Decisions(
            labels,
            self.n_positive,
            self.threshold,
            self.expected_score,
            self.error,
            metric,
            groups,
        )


class _EqualSizes:
    """Problems of `m` probabilities among `n` instances, the rest of probability 0."""

    def __init__(self, metric: Metric, m: int, n: int, low: int, high: int) -> None:
        self.metric, self.m, self.n, self.low, self.high = metric, m, n, low, high
        self.kernel: Kernel | None = fractional_kernel(metric, m, n)
        if self.kernel is None and m <= LARGEST_TABLES:
            self.kernel = law_kernel(metric, m, n)

    def blocks(self, count: int) -> Iterator[slice]:
        """Yield the parts of `count` problems that are solved together."""
        step = 1 if self.kernel is None else self.kernel.together
        for i in range(0, count, step):
            yield slice(i, min(i + step, count))

    def solve(self, p: FloatArray, solved: _Answers, at: Any) -> BoolArray:
        """Decide each row of `p`; note the answers `at` their places."""
        eta = np.ascontiguousarray(np.sort(p, axis=1)[:, ::-1].T)
        if self.kernel is None:
            k, value, error = self._one_by_one(eta)
        else:
            k, value, error = self._together(eta, self.kernel)
        thresholds = np.concatenate([np.full((1, p.shape[0]), np.inf), eta])
        threshold = thresholds[k, np.arange(p.shape[0])]
        solved.n_positive[at], solved.threshold[at] = k, threshold
        solved.expected_score[at], solved.error[at] = value, error
        return _labels(p, k, threshold)

    def _together(
        self, eta: FloatArray, kernel: Kernel
    ) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        curves = kernel.curves(eta)[self.low : self.high + 1]
        best = curves.argmax(0) if self.metric.greater_is_better else curves.argmin(0)
        value = np.take_along_axis(curves, best[None], 0)[0]
        return best + self.low, value, np.full(best.size, kernel.error)

    def _one_by_one(
        self, eta: FloatArray
    ) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        absent = np.zeros(self.n - self.m)
        solver = select_solver("auto", self.metric, self.n)
        found = [
            solver.solve(np.append(one, absent), self.metric, self.low, self.high)
            for one in eta.T
        ]
        return (
            np.array([x.n_positive for x in found], dtype=np.intp),
            np.array([x.expected_score for x in found]),
            np.array([x.error for x in found]),
        )


def _labels(p: FloatArray, k: NDArray[np.intp], threshold: FloatArray) -> BoolArray:
    """Return the k largest of each row; of a tie, the earliest."""
    labels: BoolArray = p >= threshold[:, None]
    tied = np.flatnonzero(np.count_nonzero(labels, axis=1) > k)
    if tied.size:
        equal = p[tied] == threshold[tied, None]
        above = np.count_nonzero(labels[tied] & ~equal, axis=1)
        surplus = np.cumsum(equal, axis=1) > (k[tied] - above)[:, None]
        labels[tied] &= ~(equal & surplus)
    return labels
