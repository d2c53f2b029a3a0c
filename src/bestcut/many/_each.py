"""One decision for each of many problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors
from bestcut._errors import InfeasibleError
from bestcut._guesses import hinted
from bestcut._progress import Progress
from bestcut._tables import check_order, library_of, like
from bestcut._thresholds import halfway
from bestcut._types import EPS, BoolArray, CountArray, FloatArray, IndexArray
from bestcut._validation import (
    check_bounds_of_each,
    check_groups,
    check_matrix,
    check_probabilities,
    positive_columns,
)
from bestcut.decision import Decision, Wanted, as_arguments, check_floors, decide
from bestcut.goals import (
    Certain,
    DistributionGoal,
    Goal,
    Mean,
    ProbAtLeast,
    check_goal,
)
from bestcut.many._average import PredictionSet
from bestcut.many._blocks import (
    Block,
    EqualRows,
    Problems,
    UnevenRows,
    blocks_of,
    kernel_of_few,
    one_by_one,
)
from bestcut.many._counts import FEW
from bestcut.many._decisions import Decisions, allowed_in_words
from bestcut.many._drawn import DrawnSets
from bestcut.many._fractional import Kernel
from bestcut.many._row_gains import best_rows
from bestcut.many._workers import Workers
from bestcut.metrics import (
    AnyMetric,
    Metric,
    RowUtility,
    Worths,
    get,
    indices_of,
    require_ranking,
)
from bestcut.scores import probability_error, rounding_of_means
from bestcut.search import exchange_allowance, gap_scope
from bestcut.uncertain import UncertainProbabilities, some_of

# For a metric without the ranking principle.
ONE_BY_ONE = (
    'Decide one problem after the other, with `bestcut.decide(solver="exhaustive")`.'
)


_TIED = 64 * EPS
_MEAN = Mean()


@hinted
def decide_each(
    y_proba: Any,
    metric: str | AnyMetric = "f1",
    *,
    axis: int = 1,
    groups: Any = None,
    goal: Goal = _MEAN,
    at_least: Mapping[str | Metric, Wanted | Sequence[Wanted]] | None = None,
    at_most: Mapping[str | Metric, Wanted | Sequence[Wanted]] | None = None,
    min_positives: Any = 0,
    max_positives: Any = None,
    n_jobs: int = 1,
    progress: Progress = None,
) -> Decisions:
    """Choose the labels with the best expected metric in each of many problems.

    Each row of a matrix is decided by itself, as `decide` would: the labels of one
    document, the products in one basket, the hits of one query, the pixels of one mask.

    Parameters
    ----------
    y_proba : array-like of shape (rows, columns), sparse matrix, or of shape (n,)
        Calibrated probabilities. Entries that a sparse matrix does not hold have
        probability 0, and are never predicted positive. With `groups`, one probability
        per instance, or `bestcut.UncertainProbabilities`, whose draws are averaged over
        in each problem. Or a list with an array of two classes for each column, as the
        ``predict_proba`` of scikit-learn's MultiOutputClassifier returns it.
    metric : str, Metric or RowUtility, default="f1"
        What to maximise in each problem; as for `decide`. The amounts of a RowUtility
        have the shape of `y_proba`.
    axis : {1, 0}, default=1
        Decide each row (1) or each column (0).
    groups : array-like of shape (n,), optional
        The problem that each instance belongs to, in any order.
    goal : Goal, default=Mean()
        What to maximise in each problem; as for `decide`.
    at_least, at_most : mapping of str or Metric to float or Certain, optional
        Conditions on other metrics in each problem; as for `decide`.

        .. versionadded:: 0.3
            `at_most`.
    min_positives, max_positives : int or array-like of int, optional
        Bounds on the number of positives in each problem: one for all, or one for each,
        in the order of the problems (groups are sorted). If a problem has fewer
        instances than `min_positives`, all of them are positive.
    n_jobs : int, default=1
        How many threads.
    progress : bool or callable, optional
        Whether to show on standard error how far the computation is; or what to call,
        as ``progress(done, total)``.

        .. versionadded:: 0.3

    Returns
    -------
    Decisions
        With ``labels`` in the shape of the input, ``n_positive``, ``threshold``,
        ``expected_score``, ``error`` and ``gap`` for each problem, and
        ``distribution()`` of the mean score.

    Raises
    ------
    InvalidProbabilityError
        If a probability is NaN or outside [0, 1].
    SolverMismatchError
        If the metric or one of a condition does not satisfy the ranking principle.
    InfeasibleError
        If some problem has no prediction that satisfies the conditions; ``problem`` is
        the first such problem. The precision of a problem without predicted positives
        is 0/0, which counts as 0; with
        ``{bestcut.metrics.Precision(zero_division=1.0): 0.9}`` it counts as 1, which
        satisfies any condition.
    ValueError
        If `y_proba` or `groups` has the wrong shape, or a name is not known.

    See Also
    --------
    bestcut.decide : One problem.
    bestcut.multilabel.decide : Label sets, for the average you report.
    bestcut.Decisions : What is returned.

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

    As many positives as the precision of each row allows; the second row has none:

    >>> precise = {bestcut.metrics.Precision(zero_division=1.0): 0.6}
    >>> P = [[0.9, 0.7, 0.1], [0.3, 0.3, 0.05]]
    >>> bestcut.decide_each(P, "recall", at_least=precise).n_positive
    array([2, 0])
    """
    workers = Workers.of(n_jobs, progress)
    if axis not in (0, 1):
        raise errors.bad_value(
            "axis", "must be 1 (each row) or 0 (each column)", value=axis
        )
    check_order(y_proba=y_proba, groups=groups)
    axis, bounds = int(axis), (min_positives, max_positives)
    wanted, floors = check_goal(goal), check_floors(at_least, at_most)
    if isinstance(metric, RowUtility):
        if wanted != _MEAN or floors:
            argument = "goal" if wanted != _MEAN else next(iter(as_arguments(floors)))
            raise errors.only_mean_of_rows(argument=argument)
        return _decide_rows(y_proba, metric, axis, groups, bounds)
    task = Task(get(metric), wanted, floors)
    require_ranking(task.metric, way_out=ONE_BY_ONE)
    if isinstance(y_proba, UncertainProbabilities):
        if groups is None:
            raise errors.one_problem_of_draws()
        return _decide_drawn_groups(y_proba, groups, task, bounds, workers)
    if holds_draws(y_proba):
        raise errors.list_of_draws()
    if groups is not None:
        return _decide_groups(y_proba, groups, task, bounds, workers)
    if hasattr(y_proba, "tocsr"):
        return _decide_sparse(y_proba, axis, task, bounds, workers)
    _refuse_uneven(y_proba)
    matrix = check_matrix(positive_columns(y_proba), refusal=errors.not_many_problems)
    problems = EqualRows(matrix if axis == 1 else matrix.T)
    limits = check_bounds_of_each(*bounds, problems.sizes.size)
    solved = _decide(problems, task, limits, workers, _by_place(axis))
    labels = problems.labels
    predictions = PredictionSet.of_rows(problems.p, labels)
    labels = labels if axis == 1 else labels.T
    return solved.decisions(
        labels, task, bounds, predictions, limits, axis, like_=y_proba
    )


def _refuse_uneven(y_proba: Any) -> None:
    """Refuse a list of problems that differ in size, which makes no matrix."""
    if not isinstance(y_proba, list | tuple):
        return
    if all(np.ndim(one) == 1 for one in y_proba):
        sizes = [len(one) for one in y_proba]
        if len(set(sizes)) > 1:
            raise errors.problems_differ_in_size(sizes)


@dataclass(frozen=True)
class Task:
    """What each problem is decided for."""

    metric: Metric
    goal: Goal = _MEAN
    floors: Mapping[Any, list[Wanted]] = field(default_factory=dict)

    @property
    def is_of_means(self) -> bool:
        """Whether the expected scores of cuts are all that it asks for."""
        return self.goal == _MEAN and not any(
            isinstance(wanted, Certain) for _, wanted in self.conditions
        )

    @property
    def conditions(self) -> list[tuple[Metric, Wanted]]:
        """All conditions, one by one."""
        return [(metric, x) for metric, each in self.floors.items() for x in each]

    def kernels(self, m: int, n: int) -> list[Kernel | None]:
        """Return kernels of a goal beyond the mean, and of the conditions."""
        goals = [] if self.goal == _MEAN else [(self.metric, self.goal)]
        return [kernel_of_few(*one, m, n) for one in [*goals, *self.conditions]]

    def decide(self, p: Any, low: int, high: int) -> Decision:
        """Decide one problem; it is taken whole if it has fewer instances than low."""
        n = len(p)
        return decide(
            p,
            self.metric,
            goal=self.goal,
            **as_arguments(self.floors),
            min_positives=min(low, n),
            max_positives=min(high, n),
        )


def _by_place(axis: int) -> Callable[[int], str]:
    return lambda i: f"{'row' if axis == 1 else 'column'} {i}"


def _by_name(names: NDArray[Any]) -> Callable[[int], str]:
    return lambda i: f"group {names.tolist()[i]!r}"


def _decide_rows(
    y_proba: Any, utility: RowUtility, axis: int, groups: Any, bounds: tuple[Any, Any]
) -> Decisions:
    """Decide where every row has its own amounts."""
    check_order(y_proba=y_proba, **indices_of(utility))
    if holds_draws(y_proba):
        raise errors.list_of_draws()
    if hasattr(y_proba, "tocsr"):
        raise errors.bad_kind(
            "y_proba",
            "must be a dense matrix with a RowUtility, because entries of "
            "probability 0 have amounts too",
            "Pass `y_proba.toarray()`.",
            got="a sparse matrix",
        )
    drawn = isinstance(y_proba, UncertainProbabilities)
    names = None
    if groups is not None:
        p = y_proba.mean if drawn else check_probabilities(y_proba)
        names, member_of = check_groups(groups, p.size)
        limits = check_bounds_of_each(*bounds, names.size)
    elif drawn:
        raise errors.one_problem_of_draws()
    else:
        p = check_matrix(y_proba, refusal=errors.not_many_problems)
        count = p.shape[1 - axis]
        member_of = np.indices(p.shape)[1 - axis].ravel()
        limits = check_bounds_of_each(*bounds, count)
    worths = Worths(*(x.ravel() for x in utility.worths(p.shape)))
    found = best_rows(p.ravel(), worths, member_of, limits)
    error = found.error
    if drawn:
        scale = sum(map(np.abs, worths), np.zeros(p.size))
        error = error + rounding_of_means(y_proba, scale)
    order = np.argsort(member_of, kind="stable")
    sizes = np.bincount(member_of, minlength=found.n_positive.size)
    in_order = found.labels[order]
    predictions: PredictionSet | DrawnSets = (
        DrawnSets(some_of(y_proba, order), in_order, sizes)
        if drawn
        else PredictionSet(p.ravel()[order], in_order, sizes)
    )
    labels = found.labels.reshape(p.shape)
    return Decisions(
        labels=like(y_proba, labels.copy()),
        n=sizes,
        n_positive=found.n_positive,
        threshold=None,
        n_tied=np.zeros((sizes.size, 2), dtype=np.int64),
        expected_score=found.expected_score,
        error=error,
        gap=np.zeros(error.size),
        gap_scope="predictions",
        metric=utility,
        goal=_MEAN,
        goal_value=found.expected_score,
        bounds=within(limits, sizes),
        groups=names,
        _decided=labels,
        _floors={},
        _library=library_of(y_proba),
        _predictions=predictions,
        _problems=axis if names is None else member_of,
        _allowed=allowed_in_words(*bounds),
    )


def _decide_groups(
    y_proba: Any,
    groups: Any,
    task: Task,
    bounds: tuple[Any, Any],
    workers: Workers,
) -> Decisions:
    p = check_probabilities(y_proba)
    names, member_of = check_groups(groups, p.size)
    order = np.argsort(member_of, kind="stable")
    sizes = np.bincount(member_of, minlength=names.size)
    problems = UnevenRows(p[order], sizes, None)
    limits = check_bounds_of_each(*bounds, sizes.size)
    solved = _decide(problems, task, limits, workers, _by_name(names))
    labels = np.empty(p.size, dtype=np.bool_)
    labels[order] = problems.labels
    predictions = PredictionSet(problems.p, problems.labels, problems.sizes)
    return solved.decisions(
        labels,
        task,
        bounds,
        predictions,
        limits,
        member_of,
        like_=y_proba,
        groups=names,
    )


def _decide_drawn_groups(
    p: UncertainProbabilities,
    groups: Any,
    task: Task,
    bounds: tuple[Any, Any],
    workers: Workers,
) -> Decisions:
    names, member_of = check_groups(groups, len(p))
    order = np.argsort(member_of, kind="stable")
    sizes = np.bincount(member_of, minlength=names.size)
    members = np.split(order, np.cumsum(sizes)[:-1]) if names.size else []
    limits = check_bounds_of_each(*bounds, names.size)
    found = decide_drawn(
        (some_of(p, x) for x in members), task, limits, workers, _by_name(names)
    )
    in_order = found.labels()
    labels = np.zeros(len(p), dtype=np.bool_)
    labels[order] = in_order
    predictions = DrawnSets(some_of(p, order), in_order, sizes)
    return Decisions(
        labels=labels.copy(),
        n=sizes,
        n_positive=found.numbers("n_positive", np.int64),
        threshold=found.numbers("threshold"),
        n_tied=found.numbers("n_tied", np.int64).reshape(-1, 2),
        expected_score=found.numbers("expected_score"),
        error=found.numbers("error"),
        gap=found.numbers("gap"),
        gap_scope=found.gap_scope,
        metric=task.metric,
        goal=task.goal,
        goal_value=found.numbers("goal_value"),
        bounds=within(limits, sizes),
        groups=names,
        _decided=labels,
        _floors=task.floors,
        _library=None,
        _predictions=predictions,
        _problems=member_of,
        _allowed=allowed_in_words(*bounds),
    )


def within(
    limits: tuple[CountArray, CountArray], sizes: CountArray
) -> tuple[CountArray, CountArray]:
    """Return the bounds of each problem, which has so many instances."""
    low, high = limits
    return np.minimum(low, sizes), np.minimum(high, sizes)


class _Facts(NamedTuple):
    """What is kept of a decision, without the laws of its counts, which are large."""

    labels: BoolArray
    n_positive: int
    threshold: float
    n_tied: tuple[int, int]
    expected_score: float
    error: float
    gap: float
    gap_scope: str
    goal_value: float


class DrawnDecisions(NamedTuple):
    """What was decided for problems whose probabilities are known as draws."""

    each: list[_Facts]

    def labels(self) -> BoolArray:
        """Return the labels of one problem after the other."""
        none = np.zeros(0, dtype=np.bool_)
        return np.concatenate([none, *(one.labels for one in self.each)])

    def numbers(self, name: str, dtype: Any = np.float64) -> NDArray[Any]:
        """Return a number of each problem."""
        return np.array([getattr(one, name) for one in self.each], dtype=dtype)

    @property
    def gap_scope(self) -> str:
        """What all gaps hold for."""
        scopes = {one.gap_scope for one in self.each}
        return "cuts" if "cuts" in scopes else "predictions"


def decide_drawn(
    problems: Iterable[UncertainProbabilities],
    task: Task,
    limits: tuple[CountArray, CountArray],
    workers: Workers,
    called: Callable[[int], str] = str,
) -> DrawnDecisions:
    """Decide each of some problems whose probabilities are known as draws.

    `called` gives the name of a problem, for an error.
    """

    def facts(
        p: UncertainProbabilities, low: int, high: int
    ) -> _Facts | InfeasibleError:
        try:
            found = task.decide(p, low, high)
        except InfeasibleError as refusal:
            return refusal
        return _Facts(*(getattr(found, name) for name in _Facts._fields))

    bounds = (limit.tolist() for limit in limits)
    with workers.watched(limits[0].size) as advance:

        def watched(
            p: UncertainProbabilities, low: int, high: int
        ) -> _Facts | InfeasibleError:
            found = facts(p, low, high)
            advance(1)
            return found

        each = workers.map(watched, problems, *bounds)
    made = [one for one in each if isinstance(one, _Facts)]
    for i, one in enumerate(each):
        if isinstance(one, InfeasibleError):
            unmet = len(each) - len(made)
            raise errors.infeasible_problem(called(i), i, one, unmet, len(each))
    return DrawnDecisions(made)


def holds_draws(values: Any) -> bool:
    """Return whether draws of probabilities are in a list."""
    return isinstance(values, list | tuple) and any(
        isinstance(one, UncertainProbabilities) for one in values
    )


def _decide_sparse(
    y_proba: Any,
    axis: int,
    task: Task,
    bounds: tuple[Any, Any],
    workers: Workers,
) -> Decisions:
    matrix = y_proba.tocsr(copy=True) if axis == 1 else y_proba.tocsc(copy=True)
    matrix.sum_duplicates()
    p = check_probabilities(matrix.data, name="y_proba.data")
    problems = UnevenRows(p, np.diff(matrix.indptr), int(matrix.shape[axis]))
    limits = check_bounds_of_each(*bounds, problems.sizes.size)
    solved = _decide(problems, task, limits, workers, _by_place(axis))
    predictions = PredictionSet(p, problems.labels, problems.sizes, problems.total)
    matrix.data = problems.labels.copy()
    matrix.eliminate_zeros()
    return solved.decisions(matrix, task, bounds, predictions, limits, axis)


def _decide(
    rows: Problems,
    task: Task,
    limits: tuple[CountArray, CountArray],
    workers: Workers,
    called: Callable[[int], str],
) -> _Answers:
    """Decide each of the problems; note their labels with them."""
    totals = rows.sizes if rows.total is None else np.full(1, rows.total)
    solved = _Answers(rows.sizes.size, gap_scope(totals, task.metric, *task.floors))

    @cache
    def other_kernels(m: int) -> list[Kernel | None]:
        return task.kernels(m, m if rows.total is None else rows.total)

    def decide_block(block: Block) -> None:
        p = rows.take(block.which, block.m)
        eta = np.ascontiguousarray(np.sort(p, axis=1)[:, ::-1].T)
        sizes = rows.sizes[block.which]
        n = sizes if rows.total is None else np.full(sizes.size, rows.total)
        low, high = (np.minimum(limit[block.which], sizes) for limit in limits)
        others = other_kernels(block.m)
        if block.kernel is None or None in others:
            found = _each_by_itself(eta, task, sizes, n, low, high)
        else:
            kernels = [block.kernel, *filter(None, others)]
            found = _together(eta, task, kernels, low, high)
            k, metric = found.n_positive, task.metric
            rounding = exchange_allowance(solved.scope, n, k, metric)
            found = found._replace(gap=found.gap + rounding)
        least = solved.note(block.which, found, eta, sizes, n)
        rows.keep(block.which, _labels(p, found.n_positive, least))
        advance(block.which.size)

    together = task.is_of_means or rows.sizes.max(initial=0) <= FEW
    blocks = blocks_of(rows, task.metric, task.floors) if together else one_by_one(rows)
    with workers.watched(rows.sizes.size) as advance:
        workers.map(decide_block, blocks)
    _refuse_unmet(rows, task, limits, solved, called)
    return solved


def _refuse_unmet(
    rows: Problems,
    task: Task,
    limits: tuple[CountArray, CountArray],
    solved: _Answers,
    called: Callable[[int], str],
) -> None:
    """Refuse conditions that some problem cannot satisfy: name the first of them."""
    unmet = np.flatnonzero(solved.n_positive < 0)
    for i in unmet.tolist():
        size = int(rows.sizes[i])
        p = np.zeros(size if rows.total is None else rows.total)
        p[:size] = rows.take(np.array([i]), size)[0]
        low, high = (min(int(limit[i]), size) for limit in limits)
        try:
            # Another algorithm may find it satisfied, by less than its rounding.
            one = task.decide(p, low, high)
        except InfeasibleError as refusal:
            raise errors.infeasible_problem(
                called(i), i, refusal, unmet.size, solved.n_positive.size
            ) from None
        whole = np.array([p.size])
        eta = np.sort(p)[::-1, None]
        solved.note(np.array([i]), _BestCuts.of([one]), eta, whole, whole)
        rows.keep(np.array([i]), one.labels[None, :size])


class _BestCuts(NamedTuple):
    """The best cuts of the problems of a block, and what is known of them.

    Where no cut satisfies the conditions, `n_positive` is -1.
    """

    n_positive: IndexArray
    expected_score: FloatArray
    error: FloatArray
    gap: FloatArray
    goal_value: FloatArray

    @classmethod
    def of(cls, each: Sequence[Decision | _Unmet]) -> _BestCuts:
        """Return what is known of problems that were decided each by itself."""
        return cls(
            np.array([x.n_positive for x in each], dtype=np.intp),
            np.array([x.expected_score for x in each]),
            np.array([x.error for x in each]),
            np.array([x.gap for x in each]),
            np.array([x.goal_value for x in each]),
        )


class _Unmet(NamedTuple):
    """What stands for a decision where no cut satisfies the conditions."""

    n_positive: int = -1
    expected_score: float = np.nan
    error: float = np.nan
    gap: float = np.nan
    goal_value: float = np.nan


class _Answers:
    """What is known of each problem."""

    def __init__(self, count: int, scope: str) -> None:
        self.scope = scope  # what gaps hold for
        self.n_positive = np.zeros(count, dtype=np.int64)
        self.threshold = np.full(count, np.inf)
        self.n_tied = np.zeros((count, 2), dtype=np.int64)
        self.expected_score = np.zeros(count)
        self.error = np.zeros(count)
        self.gap = np.zeros(count)
        self.goal_value = np.zeros(count)

    def note(
        self,
        at: IndexArray,
        found: _BestCuts,
        eta: FloatArray,
        sizes: CountArray,
        n: CountArray,
    ) -> FloatArray:
        """Keep what was found, and return the smallest probability that is positive.

        `eta` has a problem in each column, of which the first `sizes` are probabilities
        and the rest of its `n` instances have probability 0.
        """
        k = found.n_positive
        self.n_positive[at], self.expected_score[at] = found[:2]
        self.error[at], self.gap[at], self.goal_value[at] = found[2:]
        least = np.full(k.size, np.inf)
        if not eta.shape[0]:
            return least
        some = k > 0
        least[some] = np.take_along_axis(eta, np.maximum(k - 1, 0)[None], 0)[0][some]
        following = np.minimum(k, eta.shape[0] - 1)[None]
        below = np.take_along_axis(eta, following, 0)[0]
        below = np.where(k < sizes, below, np.where(k < n, 0.0, -np.inf))
        self.threshold[at] = halfway(below, least)
        tied = np.flatnonzero(some & (below == least))
        if tied.size:
            place = np.arange(eta.shape[0])[:, None]
            equal = (eta[:, tied] == least[tied]) & (place < sizes[tied])
            beyond = np.where(least[tied] == 0.0, (n - sizes)[tied], 0)
            taken = np.count_nonzero(equal & (place < k[tied]), axis=0)
            there = np.count_nonzero(equal, axis=0) + beyond
            self.n_tied[at[tied]] = np.stack([taken, there], axis=1)
        return least

    def decisions(
        self,
        labels: Any,
        task: Task,
        bounds: tuple[Any, Any],
        predictions: PredictionSet,
        limits: tuple[CountArray, CountArray],
        problems: int | IndexArray,
        *,
        like_: Any = None,
        groups: NDArray[Any] | None = None,
    ) -> Decisions:
        """Return what was decided, with labels in the form of `like_`."""
        sizes, total = predictions.sizes, predictions.total
        return Decisions(
            labels=like(like_, labels.copy()),
            n=sizes if total is None else np.full(sizes.size, total),
            n_positive=self.n_positive,
            threshold=self.threshold,
            n_tied=self.n_tied,
            expected_score=self.expected_score,
            error=self.error,
            gap=self.gap,
            gap_scope=self.scope,
            metric=task.metric,
            goal=task.goal,
            goal_value=self.goal_value,
            bounds=within(limits, sizes),
            groups=groups,
            _decided=labels,
            _floors=task.floors,
            _library=library_of(like_),
            _predictions=predictions,
            _problems=problems,
            _allowed=allowed_in_words(*bounds),
        )


def _together(
    eta: FloatArray,
    task: Task,
    kernels: list[Kernel],
    low: CountArray,
    high: CountArray,
) -> _BestCuts:
    """Look at every cut of every problem.

    The first kernel is that of the metric, then comes that of the goal if it is not the
    mean, and then those of the conditions.
    """
    curves, error = kernels[0].curves(eta)
    goals, rounding, others = curves, 0.0, kernels[1:]
    if task.goal != _MEAN:
        (goals, rounding), others = others[0].curves(eta), others[1:]
    k = np.arange(curves.shape[0])[:, None]
    allowed = (low <= k) & (k <= high)
    chance_error = probability_error(eta.shape[0] + 2)
    for kernel, (metric, wanted) in zip(others, task.conditions, strict=True):
        value, wrong = kernel.curves(eta)
        # A value that may be enough, given its error, is enough.
        if isinstance(wanted, Certain):
            allowed &= value >= float(wanted.probability) - chance_error
        else:
            allowed &= metric.sign * (value - wanted) >= -wrong
    sign = 1 if isinstance(task.goal, ProbAtLeast) else task.metric.sign
    utility = np.where(allowed, sign * goals, -np.inf)
    # Of cuts that differ by rounding only, which depends on what else is in the block,
    # those with the best expected score are taken, and the shortest of these.
    tied = _nearly_most(utility)
    best = np.argmax(
        _nearly_most(np.where(tied, task.metric.sign * curves, -np.inf)), axis=0
    )
    value, goal_value, reached = (
        np.take_along_axis(x, best[None], 0)[0] for x in (curves, goals, utility)
    )
    with np.errstate(invalid="ignore"):  # inf - inf where there is no cut
        gap = utility.max(axis=0) - reached
    if isinstance(task.goal, DistributionGoal):
        gap = gap + task.goal.gap(goal_value, rounding, chance_error)
    best = np.where(allowed.any(axis=0), best, -1)
    return _BestCuts(best, value, np.full(best.size, error), gap, goal_value)


def _nearly_most(utility: FloatArray) -> BoolArray:
    """Return which entries are the largest of a column, but for rounding."""
    most = utility.max(axis=0)
    with np.errstate(invalid="ignore"):
        nearly: BoolArray = utility >= most - _TIED * np.abs(most)
    return nearly


def _each_by_itself(
    eta: FloatArray,
    task: Task,
    sizes: CountArray,
    totals: CountArray,
    low: CountArray,
    high: CountArray,
) -> _BestCuts:
    """Decide each problem by `decide`."""
    found: list[Decision | _Unmet] = []
    for j, (size, n) in enumerate(zip(sizes.tolist(), totals.tolist(), strict=True)):
        p = np.zeros(n)
        p[:size] = eta[:size, j]
        try:
            found.append(task.decide(p, int(low[j]), int(high[j])))
        except InfeasibleError:
            found.append(_Unmet())
    return _BestCuts.of(found)


def _labels(p: FloatArray, k: IndexArray, least: FloatArray) -> BoolArray:
    """Return the k largest of each row; among ties, the earliest."""
    labels: BoolArray = p >= least[:, None]
    tied = np.flatnonzero(np.count_nonzero(labels, axis=1) > k)
    if tied.size:
        equal = p[tied] == least[tied, None]
        above = np.count_nonzero(labels[tied] & ~equal, axis=1)
        surplus = np.cumsum(equal, axis=1) > (k[tied] - above)[:, None]
        labels[tied] &= ~(equal & surplus)
    return labels
