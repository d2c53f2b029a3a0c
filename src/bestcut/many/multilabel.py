"""Decisions and expectations for multi-label problems, by the average you report.

Which average, and which scikit-learn call measures the same:

==========  ====================================  ====================================
average     what is one problem                   ``f1_score(Y, Y_pred, average=...)``
==========  ====================================  ====================================
"samples"   each row: the labels of one instance  ``"samples"``
"macro"     each column: one label over all rows  ``"macro"``
"micro"     the whole matrix                      ``"micro"``
==========  ====================================  ====================================

All labels are taken to be independent given the probabilities; for labels that are not,
see `bestcut.decide_samples`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._guesses import hinted
from bestcut._progress import Progress
from bestcut._results import Result
from bestcut._tables import check_order, like
from bestcut._types import EPS, BoolArray, CountArray, FloatArray
from bestcut._validation import (
    check_bounds_of_each,
    check_label_matrix,
    check_matrix,
    check_option,
    positive_columns,
)
from bestcut.assignment import (
    Assignment,
    AssignmentSearch,
    Budgets,
    RowRule,
    assignment_scope,
    check_class_weights,
    check_per_row,
    check_rows,
    entries_of,
    extra_worth,
    labels_of,
)
from bestcut.many._average import PredictionSet
from bestcut.many._drawn import DrawnMatrix, columns_of_draws
from bestcut.many._each import ONE_BY_ONE, Task, decide_drawn, decide_each, within
from bestcut.many._realised import realised_by_axis
from bestcut.many._workers import Workers
from bestcut.metrics import LinearUtility, Metric, get, require_ranking
from bestcut.scores import (
    Prediction,
    ScoreDistribution,
    ScoreSource,
)
from bestcut.search import gap_in_words

__all__ = [
    "MultilabelDecision",
    "decide",
    "expected_score",
    "score_distribution",
]

_AVERAGES = ("samples", "macro", "micro")
_RIGHT = LinearUtility(tp=1.0)  # how many predicted labels are right


@dataclass(frozen=True, repr=False, eq=False)
class MultilabelDecision(Result):
    """The labels with the best expected average score.

    Attributes
    ----------
    labels : ndarray of bool, shape (rows, columns), sparse matrix or DataFrame
        The predictions. Sparse input gives sparse labels; a DataFrame of pandas or
        polars gives one, with its index and names. You may write to them; whatever else
        is said here stays about the labels as they were decided.
    n : int
        How many rows there are.
    n_positive : int
        How many labels are given in all.
    threshold : ndarray of float or None
        The threshold of each problem: of each row, of each column, or of the whole; as
        in `bestcut.Decisions`. None with `per_row`, where ``rule()`` decides new rows.
    n_tied : ndarray of int, shape (problems, 2), or None
        Where a cut splits a tie, as in `bestcut.Decisions`.
    expected_score : float
        Expected average metric of `labels`, plus the part that `also` adds.
    error : float
        Bound on the numerical error of ``expected_score``.
    gap : float
        A proved bound: no allowed prediction has an expected score above this
        decision's plus `error` plus `gap` (a loss: below this decision's minus both).
    gap_scope : str
        ``"predictions"`` or ``"cuts"``, as in `bestcut.Decision`.
    each : ndarray of float
        Expected metric of each row ("samples"), each column ("macro"), or of the whole
        ("micro").
    metric : Metric
        What was maximised (a loss: minimised).
    average : str
        The average that was asked for.
    bounds : (int, int) or (ndarray of int, ndarray of int)
        The least and the largest number of positives that was allowed: in each problem,
        or with `per_row` in each row.
    also : dict or None
        What else was asked for, as `bestcut.multilabel.decide` takes it.

    See Also
    --------
    bestcut.multilabel.decide : Returns one.
    bestcut.multilabel.score_distribution : The distribution of the score of its labels.

    Examples
    --------
    >>> from bestcut import multilabel
    >>> decision = multilabel.decide([[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]])
    >>> decision.each.round(3).tolist(), round(decision.expected_score, 3)
    ([0.632, 0.366], 0.499)
    """

    labels: Any
    n: int
    n_positive: int
    threshold: FloatArray | None
    n_tied: CountArray | None
    expected_score: float
    error: float
    gap: float
    gap_scope: str
    each: FloatArray
    metric: Metric
    average: str
    bounds: tuple[Any, Any]
    also: Mapping[str, float] | None
    _decided: Any = field(repr=False)
    _source: Callable[[], ScoreSource] | None = field(repr=False)
    _rule: RowRule | None = field(default=None, repr=False)
    _share: FloatArray | None = field(default=None, repr=False)  # of each column
    _hit: float = field(default=0.0, repr=False)  # what `also` adds for a right label

    def distribution(self, metric: str | Metric | None = None) -> ScoreDistribution:
        """Return the distribution of the average score.

        .. versionadded:: 0.3

        Parameters
        ----------
        metric : str or Metric, optional
            Another metric than the one the labels were chosen for.

        Returns
        -------
        ScoreDistribution
            As of `bestcut.multilabel.score_distribution`, without what `also` adds.

        Raises
        ------
        ValueError
            If the metric is not known, or the labels were decided for a weighted mean
            or a sparse matrix.

        Examples
        --------
        >>> from bestcut import multilabel
        >>> multilabel.decide([[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]] * 50).distribution()
        F1 0.50, 90% between 0.43 and 0.56
        """
        if self._source is None:
            raise errors.no_law_of_weights()
        chosen = self.metric if metric is None else get(metric)
        return ScoreDistribution(self._source(), chosen)

    def rule(self) -> RowRule:
        """Return the rule that decides new rows one by one; it needs `per_row`.

        Returns
        -------
        RowRule
            Two small arrays: a row takes the columns with the largest
            ``slope * p - cost``.

        Raises
        ------
        ValueError
            If the decision was made without `per_row`.
        """
        if self._rule is None:
            raise errors.no_rule()
        return self._rule

    def realised(self, y_true: Any) -> float:
        """Return what the labels as decided scored, once the true ones are known.

        .. versionadded:: 0.3

        Parameters
        ----------
        y_true : array-like of shape (rows, columns) or sparse matrix
            The true labels, 0 and 1 or booleans.

        Returns
        -------
        float
            The average score, of which `expected_score` was the expected value.

        Raises
        ------
        ValueError
            If labels have another shape or other values than 0 and 1.

        Examples
        --------
        >>> from bestcut import multilabel
        >>> decision = multilabel.decide([[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]])
        >>> decision.labels.tolist()
        [[True, False, False], [True, True, False]]
        >>> round(decision.realised([[1, 0, 0], [0, 1, 0]]), 3)
        0.833
        """
        check_order(labels=self.labels, y_true=y_true)
        axis = {"samples": 1, "macro": 0, "micro": None}[self.average]
        each = np.ravel(realised_by_axis(self.metric, y_true, self._decided, axis))
        if not each.size:
            return float("nan")
        average = float(np.average(each, weights=self._share))
        right = float(realised_by_axis(_RIGHT, y_true, self._decided, None))
        return average + self.metric.sign * self._hit * right

    def _plain(self) -> dict[str, Any]:
        return super()._plain() | {"labels": self._decided}

    def _facts(self) -> list[tuple[str, str]]:
        rows, columns = self._decided.shape
        facts = [
            (f"expected {self.average} score", f"{self.expected_score:.6g}"),
            ("metric", self.metric.name),
            ("rows", str(rows)),
            ("columns", str(columns)),
            ("positive", f"{self.n_positive} of {rows * columns}"),
            ("numerical error", f"{self.error:.1e}"),
            ("gap", gap_in_words(self.gap, self.gap_scope).removeprefix("gap ")),
        ]
        if self.also is not None:
            added = ", ".join(f"{w:g} {name}" for name, w in self.also.items())
            facts.insert(1, ("with", added))
        return facts

    def __repr__(self) -> str:
        rows, columns = self._decided.shape
        return (
            f"MultilabelDecision({self.average} {self.metric.name}: "
            f"{rows} x {columns}, {self.n_positive} positive, expected score "
            f"{self.expected_score:.6g} [error {self.error:.1e}, "
            f"{gap_in_words(self.gap, self.gap_scope)}])"
        )


@hinted
def decide(
    y_proba: Any,
    metric: str | Metric = "f1",
    *,
    average: str = "samples",
    min_positives: int = 0,
    max_positives: int | None = None,
    per_row: int | tuple[int, int] | None = None,
    weights: Any = None,
    also: Mapping[str, float] | None = None,
    n_jobs: int = 1,
    shared_draws: bool = False,
    progress: Progress = None,
) -> MultilabelDecision:
    """Choose the labels that maximise the expected average of a metric.

    Parameters
    ----------
    y_proba : array-like of shape (rows, columns) or list of UncertainProbabilities
        Calibrated probability of each label of each instance. Or draws of them: a list
        with the `bestcut.UncertainProbabilities` of each column. Or a list with an
        array of two classes for each label, as scikit-learn's MultiOutputClassifier
        returns. With `per_row` it may be a sparse matrix; entries that it does not hold
        are never predicted.
    metric : str or Metric, default="f1"
        What to maximise.
    average : {"samples", "macro", "micro"}, default="samples"
        The mean over rows, the mean over columns, or one score for all entries
        together.
    min_positives, max_positives : int, optional
        Bounds on the number of positives in each row, in each column, or in all. Where
        there are fewer entries than `min_positives`, all of them are positive.
    per_row : int or (int, int), optional
        For "macro" and "micro": how many labels each row is given, exactly, or at least
        and at most. A row with fewer labels of positive probability takes all of these.
        For "samples", use `min_positives` and `max_positives` instead.
    weights : array-like of shape (columns,), optional
        With `per_row` and "macro": the weight of each column in the mean.
    also : dict, optional
        With "macro" and as many labels for every row, ``per_row=k``:
        ``{"precision@k": w}`` adds w times the expected share of right labels among
        those given, and takes it from a loss.
    n_jobs : int, default=1
        How many threads.
    shared_draws : bool, default=False
        Whether draw b of all columns belongs together, as with one calibration for all
        columns, or the members of an ensemble. If not, each column has its own
        calibration, and these are independent.
    progress : bool or callable, optional
        Whether to show on standard error how far the computation is; or what to call,
        as ``progress(done, total)``. With `per_row` nothing is told.

        .. versionadded:: 0.3

    Returns
    -------
    MultilabelDecision
        With ``labels``, ``expected_score``, ``error`` and ``each``.

    Raises
    ------
    InvalidProbabilityError
        If a probability is NaN or outside [0, 1].
    SolverMismatchError
        If the metric does not satisfy the ranking principle.
    ValueError
        If `average` is not known, or `per_row`, `weights` or `also` is given where it
        has no meaning: `also` needs one number of labels, because the share among
        those given is no sum over rows if they may be more or fewer.
    TypeError
        If `y_proba` is sparse without `per_row`, or holds draws with it.

    See Also
    --------
    bestcut.decide_each : Rows, columns or groups, each with its own result.
    bestcut.decide_samples : Labels that depend on each other.
    bestcut.estimators.ExpectedMetricMultilabelClassifier : The same for a scikit-learn
        model.

    Notes
    -----
    A mean of scores of separate problems is largest if each of the scores is largest,
    so rows (or columns) are decided one by one, exactly. A row without positives that
    is given no labels scores the metric's ``zero_division``: 0 by default, or 1 with
    ``FBeta(zero_division=1.0)``.

    With `per_row` the rows couple the columns. An ascent finds the labels, and prices
    of the rows give a bound on all other predictions, which is ``gap``; see
    docs/guides/multi-label.md.

    With draws, expected scores are means over the draws. For rows and for the whole,
    draws of independent columns are combined: all combinations if there are at most
    1024, otherwise the draws of each column in a random order, with a fixed seed.

    Examples
    --------
    >>> from bestcut import multilabel
    >>> Y = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]]
    >>> for average in ("samples", "macro", "micro"):
    ...     print(multilabel.decide(Y, average=average).labels.astype(int).tolist())
    [[1, 0, 0], [1, 1, 0]]
    [[1, 1, 1], [0, 1, 0]]
    [[1, 0, 0], [1, 1, 0]]
    """
    chosen = get(metric)
    kind = check_option(average, _AVERAGES, name="average")
    drawn = columns_of_draws(y_proba, shared=shared_draws)
    if per_row is not None:
        if drawn is not None:
            raise errors.bad_kind(
                "per_row",
                "needs known probabilities",
                "Pass their means, `np.column_stack([u.mean for u in y_proba])`.",
                got="draws",
            )
        if kind == "samples":
            raise errors.bad_value(
                "per_row",
                "is for average='macro' and 'micro'",
                "With average='samples' each row is a problem of its own: pass "
                "`min_positives` and `max_positives`.",
            )
        if min_positives != 0 or max_positives is not None:
            raise errors.bad_value(
                "per_row",
                "bounds rows, and `min_positives` and `max_positives` bound "
                "columns; both together are not supported",
                "Leave `per_row` or the others out.",
            )
        return _decide_rows(y_proba, chosen, kind, per_row, weights, also)
    for name, value in (("weights", weights), ("also", also)):
        if value is not None:
            raise errors.bad_value(
                name, "is only for row budgets", "Pass `per_row` too, or leave it out."
            )
    if drawn is not None:
        require_ranking(chosen, way_out=ONE_BY_ONE)
        workers = Workers.of(n_jobs, progress)
        return _decide_drawn(
            drawn, chosen, kind, (min_positives, max_positives), workers
        )
    if hasattr(y_proba, "tocsr"):
        raise errors.bad_kind(
            "y_proba",
            "may be a sparse matrix only with `per_row`, the number of labels that "
            "each row is given",
            "Pass `per_row=...` with average='macro' or 'micro', pass "
            "`y_proba.toarray()`, or decide each row or column by itself with "
            "`bestcut.decide_each`.",
            got=f"a {type(y_proba).__name__} of shape {y_proba.shape}",
        )
    matrix = check_matrix(positive_columns(y_proba, name="y_proba"), name="y_proba")
    axis = 0 if kind == "macro" else 1
    many = decide_each(
        matrix.reshape(1, -1) if kind == "micro" else matrix,
        chosen,
        axis=axis,
        min_positives=min_positives,
        max_positives=max_positives,
        n_jobs=n_jobs,
        progress=progress,
    )
    each = many.expected_score
    error, gap = (float(x.max(initial=0.0)) for x in (many.error, many.gap))
    expected = float(each.mean()) if each.size else float("nan")
    labels = many.labels.reshape(matrix.shape)
    sets = many._predictions
    return MultilabelDecision(
        labels=like(y_proba, labels.copy()),
        n=matrix.shape[0],
        n_positive=int(many.n_positive.sum()),
        threshold=many.threshold,
        n_tied=many.n_tied,
        expected_score=expected,
        error=error,
        gap=gap,
        gap_scope=many.gap_scope,
        each=each,
        metric=chosen,
        average=kind,
        bounds=many.bounds,
        also=None,
        _decided=labels,
        _source=partial(sets.one, 0) if kind == "micro" else partial(_itself, sets),
    )


def _itself(source: ScoreSource) -> ScoreSource:
    return source


def _decide_rows(
    y_proba: Any,
    metric: Metric,
    average: str,
    per_row: Any,
    weights: Any,
    also: Mapping[str, float] | None,
) -> MultilabelDecision:
    """Decide with a budget for each row."""
    require_ranking(metric, way_out=ONE_BY_ONE)
    given = (
        y_proba if hasattr(y_proba, "tocsr") else check_rows(y_proba, name="y_proba")
    )
    rows, columns = given.shape
    low, high = check_per_row(per_row, columns)
    share = check_class_weights(weights, columns)
    entries = columns_apart = entries_of(given, name="y_proba")
    if average == "micro":
        for name, value in (("weights", weights), ("also", also)):
            if value is not None:
                raise errors.only_for_macro(name)
        entries, share = entries.as_one_column(), np.ones(1)
    if also is not None and low < high:
        raise errors.bad_value(
            "also",
            "needs as many labels for every row, because it adds the share that is "
            "right among those given",
            f"Pass per_row={high}.",
            got=f"per_row=({low}, {high})",
        )
    extra = extra_worth(also, int(np.minimum(entries.lengths, high).sum()))
    budgets = Budgets(*(np.full(rows, x, dtype=np.intp) for x in (low, high)))
    found = AssignmentSearch(entries, metric, budgets, share, extra).solve()
    by_ranking = average == "micro" and low == high
    expected = float(share @ found.each) if rows else float("nan")
    slope, cost = (np.broadcast_to(x, columns) for x in (found.slope, found.cost))
    labels = labels_of(columns_apart, entries.split(found.taken), given)
    source = None
    if isinstance(given, np.ndarray) and weights is None:
        source = partial(_source_of, given.copy(), labels, average)
    return MultilabelDecision(
        labels=like(y_proba, labels.copy()),
        n=rows,
        n_positive=int(found.size.sum()),
        threshold=None,
        n_tied=None,
        expected_score=expected + metric.sign * extra * float(found.hits.sum()),
        error=float(share @ found.error) + 8 * EPS * abs(expected),
        gap=_rounding(found) if by_ranking else found.gap,
        gap_scope=assignment_scope(metric, entries.instances, by_ranking=by_ranking),
        each=found.each,
        metric=metric,
        average=average,
        bounds=(low, high),
        also=None if also is None else dict(also),
        _decided=labels,
        _source=source,
        _rule=RowRule(slope, cost, (low, high)),
        _share=share,
        _hit=extra,
    )


def _rounding(found: Assignment) -> float:
    """Return the gap where only rounding is left.

    The largest entries of each row are taken, as many as must be taken: entry by entry
    they are at least as probable as those of any other choice.
    """
    return 4 * EPS * float(np.abs(found.each).max(initial=0.0))


def _decide_drawn(
    drawn: DrawnMatrix,
    metric: Metric,
    average: str,
    bounds: tuple[int, int | None],
    workers: Workers,
) -> MultilabelDecision:
    """Decide for draws of the probabilities."""
    rows, columns = drawn.shape
    if average == "micro":
        problems = [drawn.cells]
    elif average == "macro":
        problems = drawn.columns
    else:
        problems = [drawn.row(i) for i in range(rows)]
    count = {"micro": 1, "macro": columns, "samples": rows}[average]
    limits = check_bounds_of_each(*bounds, count)
    many = decide_drawn(problems, Task(metric), limits, workers)
    labels, each = many.labels(), many.numbers("expected_score")
    labels = labels.reshape(columns, rows).T if average == "macro" else labels
    labels = labels.reshape(drawn.shape)
    error, gap = (float(many.numbers(x).max(initial=0.0)) for x in ("error", "gap"))
    sizes = np.full(count, rows * columns // max(count, 1))
    return MultilabelDecision(
        labels=labels.copy(),
        n=rows,
        n_positive=int(many.numbers("n_positive", np.int64).sum()),
        threshold=many.numbers("threshold"),
        n_tied=many.numbers("n_tied", np.int64).reshape(-1, 2),
        expected_score=float(each.mean()) if each.size else float("nan"),
        error=error,
        gap=gap,
        gap_scope=many.gap_scope,
        each=each,
        metric=metric,
        average=average,
        bounds=within(limits, sizes),
        also=None,
        _decided=labels,
        _source=partial(_source_of_draws, drawn, labels, average),
    )


def _source_of_draws(
    drawn: DrawnMatrix, labels: BoolArray, average: str
) -> ScoreSource:
    """Return where the scores of labels come from, for draws of probabilities."""
    if average == "micro":
        return Prediction.of_labels(drawn.cells, labels.ravel())
    return drawn.average(labels, of_rows=average == "samples")


def _source_of(p: FloatArray, labels: BoolArray, average: str) -> ScoreSource:
    """Return where the scores of labels come from."""
    if average == "micro":
        return Prediction.of_labels(p.ravel(), labels.ravel())
    if average == "macro":
        p, labels = p.T, labels.T
    return PredictionSet.of_rows(p, labels)


def expected_score(
    y_proba: Any,
    y_pred: Any,
    metric: str | Metric = "f1",
    *,
    average: str = "samples",
    shared_draws: bool = False,
) -> float:
    """Return the expected average metric of any multi-label predictions.

    Parameters
    ----------
    y_proba : array-like of shape (rows, columns) or list of UncertainProbabilities
        Calibrated probabilities, or draws of those of each column.
    y_pred : array-like of shape (rows, columns)
        The predictions, 0 and 1 or booleans.
    metric : str or Metric, default="f1"
        The metric whose expected average is returned.
    average : {"samples", "macro", "micro"}, default="samples"
        What to average over, as in `decide`.
    shared_draws : bool, default=False
        Whether draw b of all columns belongs together, as in `decide`.

    Returns
    -------
    float
        The expected average.

    Raises
    ------
    InvalidProbabilityError
        If a probability is NaN or outside [0, 1].
    ValueError
        If `y_pred` has another shape or other values than 0 and 1, or `average` is not
        known.

    See Also
    --------
    bestcut.multilabel.decide : The labels with the best expected average.
    bestcut.multilabel.score_distribution : How far the score may be from its mean.

    Examples
    --------
    >>> from bestcut import multilabel
    >>> Y = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]]
    >>> round(multilabel.expected_score(Y, [[1, 0, 0], [1, 1, 0]]), 3)
    0.499
    """
    law = score_distribution(
        y_proba, y_pred, metric, average=average, shared_draws=shared_draws
    )
    return law.mean


def score_distribution(
    y_proba: Any,
    y_pred: Any,
    metric: str | Metric = "f1",
    *,
    average: str = "samples",
    shared_draws: bool = False,
) -> ScoreDistribution:
    """Return the distribution of the average metric of any multi-label predictions.

    Parameters
    ----------
    y_proba : array-like of shape (rows, columns) or list of UncertainProbabilities
        Calibrated probabilities, or draws of those of each column.
    y_pred : array-like of shape (rows, columns)
        The predictions, 0 and 1 or booleans.
    metric : str or Metric, default="f1"
        The metric whose distribution is returned.
    average : {"samples", "macro", "micro"}, default="samples"
        What to average over, as in `decide`.
    shared_draws : bool, default=False
        Whether draw b of all columns belongs together, as in `decide`.

    Returns
    -------
    ScoreDistribution
        Its ``mean`` and ``std`` are exact up to rounding. For a mean over rows or
        columns the distribution is computed on a grid: it is that of the score plus an
        error of mean 0 whose standard deviation is at most ``value_error``.

    Raises
    ------
    InvalidProbabilityError
        If a probability is NaN or outside [0, 1].
    ValueError
        If `y_pred` has another shape or other values than 0 and 1, or `average` is not
        known.

    See Also
    --------
    bestcut.multilabel.expected_score : The mean alone.
    bestcut.multilabel.decide : The labels with the best expected average.

    Notes
    -----
    With draws of probabilities, the distribution covers both chance in the labels and
    doubt about the probabilities. In a mean over columns that each have their own maps,
    the doubt averages out, like chance; with one map for all (``shared_draws=True``) it
    does not. Quantiles of means over rows, or over columns that share draws, take as
    long for each draw as for known probabilities.

    Examples
    --------
    >>> from bestcut import multilabel
    >>> Y = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]] * 50
    >>> multilabel.score_distribution(Y, [[1, 0, 0], [1, 1, 0]] * 50)
    F1 0.50, 90% between 0.43 and 0.56
    """
    chosen = get(metric)
    kind = check_option(average, _AVERAGES, name="average")
    drawn = columns_of_draws(y_proba, shared=shared_draws)
    if drawn is not None:
        labels = check_label_matrix(y_pred, drawn.shape)
        if kind == "samples" and drawn.shape[0] == 0:
            raise errors.nothing_to_average(drawn.shape)
        return ScoreDistribution(_source_of_draws(drawn, labels, kind), chosen)
    if hasattr(y_proba, "tocsr"):
        raise errors.sparse_predictions(type(y_proba).__name__)
    matrix = check_matrix(positive_columns(y_proba, name="y_proba"), name="y_proba")
    check_order(y_proba=y_proba, y_pred=y_pred)
    labels = check_label_matrix(y_pred, matrix.shape)
    if matrix.shape[1 if kind == "macro" else 0] == 0 and kind != "micro":
        raise errors.nothing_to_average(matrix.shape)
    return ScoreDistribution(_source_of(matrix, labels, kind), chosen)
