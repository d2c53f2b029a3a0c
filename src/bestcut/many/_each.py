"""One decision for each of many problems."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors
from bestcut._decide import decide
from bestcut._tables import like
from bestcut._types import EPS, BoolArray, CountArray, FloatArray, IndexArray
from bestcut._validation import (
    check_bounds_of_each,
    check_groups,
    check_matrix,
    check_probabilities,
    check_whole_number,
)
from bestcut.many._blocks import Block, EqualRows, Rows, UnevenRows, blocks_of
from bestcut.many._fractional import Kernel
from bestcut.many._row_gains import best_rows
from bestcut.metrics import (
    AnyMetric,
    Metric,
    RowUtility,
    Worths,
    get,
    require_ranking,
)
from bestcut.scores import rounding_of_means
from bestcut.search import exchange_allowance, gap_in_words, gap_scope
from bestcut.solvers import select_solver
from bestcut.uncertain import UncertainProbabilities

_ANY = int(np.iinfo(np.int64).max)  # problems of different sizes have no common bound

# For a metric without the ranking principle.
ONE_BY_ONE = (
    'Decide one problem after the other, with `bestcut.decide(solver="exhaustive")`.'
)

_TIED = 64 * EPS


@dataclass(frozen=True, repr=False, eq=False)
class Decisions:
    """The labels with the best expected score of each problem.

    Attributes
    ----------
    labels : ndarray of bool, sparse matrix, DataFrame or Series
        The predictions, in the shape of the input. Sparse input gives sparse labels; a
        DataFrame or a Series of pandas or polars gives one, with its index and names.
    n_positive : ndarray of int
        For each problem, how many are positive.
    threshold : ndarray of float or None
        For each problem, the smallest probability predicted positive; inf if none is.
        None for a `bestcut.RowUtility`: its best rows are no cut of the probabilities.
    expected_score : ndarray of float
        For each problem, the expected metric of its labels.
    error : ndarray of float
        For each problem, a bound on the numerical error of `expected_score`.
    gap : ndarray of float
        For each problem: every allowed prediction's expected score is at most this
        one's plus `error` plus `gap`, proved (a loss: at least this one's less both).
    gap_scope : str
        ``"predictions"``: the gaps hold for all allowed predictions. ``"cuts"``: the
        metric could not be shown never to fall when TP rises, for these sizes, and the
        gaps hold for the cuts of each ranking.
    metric : Metric or RowUtility
        What was maximised (a loss: minimised).
    groups : ndarray or None
        What each problem is called, if `groups` were given: the different ones, sorted.
    """

    labels: Any
    n_positive: CountArray
    threshold: FloatArray | None
    expected_score: FloatArray
    error: FloatArray
    gap: FloatArray
    gap_scope: str
    metric: AnyMetric
    groups: NDArray[Any] | None = None

    def __repr__(self) -> str:
        count = self.n_positive.size
        if not count:
            return f"Decisions({self.metric.name}: no problems)"
        return (
            f"Decisions({self.metric.name}: {count} problems, "
            f"{int(self.n_positive.sum())} positive, mean expected score "
            f"{float(self.expected_score.mean()):.6g} "
            f"[error {float(self.error.max()):.1e}, "
            f"{gap_in_words(float(self.gap.max()), self.gap_scope)}])"
        )


def decide_each(
    y_proba: Any,
    metric: str | AnyMetric = "f1",
    *,
    axis: int = 1,
    groups: Any = None,
    min_positives: Any = 0,
    max_positives: Any = None,
    n_jobs: int = 1,
) -> Decisions:
    """Choose the labels with the best expected metric in each of many problems.

    Each row of a matrix is decided by itself, as `decide` would: the labels of one
    document, the products in one basket, the hits of one query, the pixels of one mask.

    Parameters
    ----------
    y_proba : array-like of shape (rows, columns), sparse matrix, or of shape (n,)
        Calibrated probabilities. What a sparse matrix does not hold has probability 0,
        and is never predicted positive. With `groups`, one probability per instance, or
        `bestcut.UncertainProbabilities`, whose draws are averaged over in each problem.
    metric : str, Metric or RowUtility, default="f1"
        What to maximise in each problem; as for `decide`. The amounts of a RowUtility
        have the shape of `y_proba`.
    axis : {1, 0}, default=1
        Decide each row (1) or each column (0).
    groups : array-like of shape (n,), optional
        Which problem an instance belongs to, in any order.
    min_positives, max_positives : int or array-like of int, optional
        Bounds on the number of positives in each problem: one for all, or one for each,
        in the order of the problems (of groups: sorted). A problem that has fewer
        instances than `min_positives` is taken whole.
    n_jobs : int, default=1
        How many threads.

    Returns
    -------
    Decisions
        With ``labels`` in the shape of the input, and ``n_positive``, ``threshold``,
        ``expected_score``, ``error`` and ``gap`` for each problem.

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
    >>> p = bestcut.UncertainProbabilities([[0.9, 0.4, 0.4, 0.3], [0.5, 0.2, 0.0, 0.3]])
    >>> bestcut.decide_each(p, groups=query).expected_score
    array([0.64, 0.37])
    """
    threads = max(check_whole_number(n_jobs, name="n_jobs"), 1)
    if axis not in (0, 1):
        raise errors.not_an_axis(axis)
    bounds = min_positives, max_positives
    if isinstance(metric, RowUtility):
        return _decide_rows(y_proba, metric, axis, groups, bounds)
    chosen = get(metric)
    require_ranking(chosen, way_out=ONE_BY_ONE)
    if isinstance(y_proba, UncertainProbabilities):
        if groups is None:
            raise errors.one_problem_of_draws()
        return _decide_drawn_groups(y_proba, groups, chosen, bounds, threads)
    if holds_draws(y_proba):
        raise errors.list_of_draws()
    if groups is not None:
        return _decide_groups(y_proba, groups, chosen, bounds, threads)
    if hasattr(y_proba, "tocsr"):
        return _decide_sparse(y_proba, axis, chosen, bounds, threads)
    matrix = check_matrix(y_proba)
    problems = EqualRows(matrix if axis == 1 else matrix.T)
    limits = check_bounds_of_each(*bounds, problems.sizes.size, matrix.shape[axis])
    solved = _decide(problems, chosen, limits, threads)
    labels = problems.labels
    labels = like(y_proba, labels if axis == 1 else labels.T)
    return solved.decisions(labels, chosen)


def _decide_rows(
    y_proba: Any, utility: RowUtility, axis: int, groups: Any, bounds: tuple[Any, Any]
) -> Decisions:
    """Decide where every row has amounts of its own."""
    if holds_draws(y_proba):
        raise errors.list_of_draws()
    if hasattr(y_proba, "tocsr"):
        raise errors.sparse_amounts()
    drawn = isinstance(y_proba, UncertainProbabilities)
    names = None
    if groups is not None:
        p = y_proba.mean if drawn else check_probabilities(y_proba)
        names, member_of = check_groups(groups, p.size)
        limits = check_bounds_of_each(*bounds, names.size, _ANY)
    elif drawn:
        raise errors.one_problem_of_draws()
    else:
        p = check_matrix(y_proba)
        count = p.shape[1 - axis]
        member_of = np.indices(p.shape)[1 - axis].ravel()
        limits = check_bounds_of_each(*bounds, count, p.shape[axis])
    worths = Worths(*(x.ravel() for x in utility.worths(p.shape)))
    found = best_rows(p.ravel(), worths, member_of, limits)
    error = found.error
    if drawn:
        scale = sum(map(np.abs, worths), np.zeros(p.size))
        error = error + rounding_of_means(y_proba, scale)
    return Decisions(
        labels=like(y_proba, found.labels.reshape(p.shape)),
        n_positive=found.n_positive,
        threshold=None,
        expected_score=found.expected_score,
        error=error,
        gap=np.zeros(error.size),
        gap_scope="predictions",
        metric=utility,
        groups=names,
    )


def _decide_groups(
    y_proba: Any,
    groups: Any,
    metric: Metric,
    bounds: tuple[Any, Any],
    threads: int,
) -> Decisions:
    p = check_probabilities(y_proba)
    names, member_of = check_groups(groups, p.size)
    order = np.argsort(member_of, kind="stable")
    sizes = np.bincount(member_of, minlength=names.size)
    problems = UnevenRows(p[order], sizes, None)
    limits = check_bounds_of_each(*bounds, sizes.size, _ANY)
    solved = _decide(problems, metric, limits, threads)
    labels = np.empty(p.size, dtype=np.bool_)
    labels[order] = problems.labels
    return solved.decisions(like(y_proba, labels), metric, names)


def _decide_drawn_groups(
    p: UncertainProbabilities,
    groups: Any,
    metric: Metric,
    bounds: tuple[Any, Any],
    threads: int,
) -> Decisions:
    names, member_of = check_groups(groups, len(p))
    order = np.argsort(member_of, kind="stable")
    ends = np.cumsum(np.bincount(member_of, minlength=names.size))
    members = np.split(order, ends[:-1]) if names.size else []
    limits = check_bounds_of_each(*bounds, names.size, _ANY)
    together = decide_drawn(map(p._taken, members), metric, limits, threads)
    labels = np.zeros(len(p), dtype=np.bool_)
    labels[order] = together.labels
    return replace(together, labels=labels, groups=names)


class _Facts(NamedTuple):
    """What is kept of a decision; it holds the laws of its counts, which are large."""

    labels: BoolArray
    n_positive: int
    threshold: float
    expected_score: float
    error: float
    gap: float
    gap_scope: str


def decide_drawn(
    problems: Iterable[UncertainProbabilities],
    metric: Metric,
    limits: tuple[CountArray, CountArray],
    threads: int,
) -> Decisions:
    """Decide each of some problems whose probabilities are known as draws.

    The labels are those of one problem after the other.
    """

    def facts(p: UncertainProbabilities, low: int, high: int) -> _Facts:
        n = len(p)
        least, most = min(low, n), min(high, n)
        found = decide(p, metric, min_positives=least, max_positives=most)
        return _Facts(*(getattr(found, name) for name in _Facts._fields))

    bounds = (limit.tolist() for limit in limits)
    if threads == 1:
        each = list(map(facts, problems, *bounds))
    else:
        with ThreadPoolExecutor(threads) as pool:
            each = list(pool.map(facts, problems, *bounds))
    scopes = {one.gap_scope for one in each}
    return Decisions(
        np.concatenate([np.zeros(0, dtype=np.bool_), *(one.labels for one in each)]),
        np.array([one.n_positive for one in each], dtype=np.int64),
        np.array([one.threshold for one in each]),
        np.array([one.expected_score for one in each]),
        np.array([one.error for one in each]),
        np.array([one.gap for one in each]),
        "cuts" if "cuts" in scopes else "predictions",
        metric,
    )


def holds_draws(values: Any) -> bool:
    """Return whether draws of probabilities are in a list."""
    return isinstance(values, list | tuple) and any(
        isinstance(one, UncertainProbabilities) for one in values
    )


def _decide_sparse(
    y_proba: Any,
    axis: int,
    metric: Metric,
    bounds: tuple[Any, Any],
    threads: int,
) -> Decisions:
    matrix = y_proba.tocsr(copy=True) if axis == 1 else y_proba.tocsc(copy=True)
    matrix.sum_duplicates()
    p = check_probabilities(matrix.data, name="y_proba.data")
    problems = UnevenRows(p, np.diff(matrix.indptr), int(matrix.shape[axis]))
    limits = check_bounds_of_each(*bounds, problems.sizes.size, _ANY)
    solved = _decide(problems, metric, limits, threads)
    matrix.data = problems.labels
    matrix.eliminate_zeros()
    return solved.decisions(matrix, metric)


def _decide(
    rows: Rows, metric: Metric, limits: tuple[CountArray, CountArray], threads: int
) -> _Answers:
    """Decide each of the problems; note their labels with them."""
    totals = rows.sizes if rows.total is None else np.full(1, rows.total)
    solved = _Answers(rows.sizes.size, totals)

    def work(block: Block) -> None:
        p = rows.take(block.which, block.m)
        eta = np.ascontiguousarray(np.sort(p, axis=1)[:, ::-1].T)
        sizes = rows.sizes[block.which]
        low, high = (np.minimum(limit[block.which], sizes) for limit in limits)
        if block.kernel is None:
            totals = sizes if rows.total is None else np.full(sizes.size, rows.total)
            found = _one_by_one(eta, metric, sizes, totals, low, high)
        else:
            found = _together(eta, metric, block.kernel, low, high)
        threshold = solved.note(block.which, found, eta)
        rows.keep(block.which, _labels(p, found.n_positive, threshold))

    blocks = blocks_of(rows, metric)
    if threads == 1:
        for block in blocks:
            work(block)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, blocks))
    return solved


class _Found(NamedTuple):
    """The best cuts of the problems of a block, and what is known of them."""

    n_positive: IndexArray
    expected_score: FloatArray
    error: FloatArray
    gap: FloatArray


class _Answers:
    """What is known of each problem."""

    def __init__(self, count: int, totals: CountArray) -> None:
        self.totals = totals  # how many instances problems have
        self.n_positive = np.zeros(count, dtype=np.int64)
        self.threshold = np.full(count, np.inf)
        self.expected_score = np.zeros(count)
        self.error = np.zeros(count)
        self.gap = np.zeros(count)

    def note(self, at: IndexArray, found: _Found, eta: FloatArray) -> FloatArray:
        """Keep what was found, and return the thresholds."""
        last = np.maximum(found.n_positive - 1, 0)
        if eta.shape[0]:
            smallest = np.take_along_axis(eta, last[None], 0)[0]
            self.threshold[at] = np.where(found.n_positive > 0, smallest, np.inf)
        self.n_positive[at], self.expected_score[at] = found[:2]
        self.error[at], self.gap[at] = found[2:]
        return self.threshold[at]

    def decisions(
        self, labels: Any, metric: Metric, groups: NDArray[Any] | None = None
    ) -> Decisions:
        scope = gap_scope(self.totals, metric)
        allowance = exchange_allowance(scope, self.totals, self.n_positive, metric)
        return Decisions(
            labels,
            self.n_positive,
            self.threshold,
            self.expected_score,
            self.error,
            self.gap + allowance,
            scope,
            metric,
            groups,
        )


def _together(
    eta: FloatArray,
    metric: Metric,
    kernel: Kernel,
    low: CountArray,
    high: CountArray,
) -> _Found:
    """Look at every cut of every problem; nothing is left out but what is tied."""
    curves, error = kernel.curves(eta)
    sign = metric.sign
    if np.any(low > 0) or np.any(high < eta.shape[0]):
        k = np.arange(curves.shape[0])[:, None]
        curves = np.where((low <= k) & (k <= high), curves, -sign * np.inf)
    # Of cuts that differ by rounding only, which depends on what else is in the block,
    # the shortest is taken.
    utility = sign * curves
    most = utility.max(axis=0)
    best = np.argmax(utility >= most - _TIED * np.abs(most), axis=0)
    value = np.take_along_axis(curves, best[None], 0)[0]
    return _Found(best, value, np.full(best.size, error), most - sign * value)


def _one_by_one(
    eta: FloatArray,
    metric: Metric,
    sizes: CountArray,
    totals: CountArray,
    low: CountArray,
    high: CountArray,
) -> _Found:
    """Solve each problem as `decide` does."""
    found = []
    for j, (size, n) in enumerate(zip(sizes.tolist(), totals.tolist(), strict=True)):
        p = np.zeros(n)
        p[:size] = eta[:size, j]
        solver = select_solver("auto", metric, n)
        found.append(solver.solve(p, metric, int(low[j]), int(high[j])))
    return _Found(
        np.array([x.n_positive for x in found], dtype=np.intp),
        np.array([x.expected_score for x in found]),
        np.array([x.error for x in found]),
        np.array([x.gap for x in found]),
    )


def _labels(p: FloatArray, k: IndexArray, threshold: FloatArray) -> BoolArray:
    """Return the k largest of each row; of a tie, the earliest."""
    labels: BoolArray = p >= threshold[:, None]
    tied = np.flatnonzero(np.count_nonzero(labels, axis=1) > k)
    if tied.size:
        equal = p[tied] == threshold[tied, None]
        above = np.count_nonzero(labels[tied] & ~equal, axis=1)
        surplus = np.cumsum(equal, axis=1) > (k[tied] - above)[:, None]
        labels[tied] &= ~(equal & surplus)
    return labels
