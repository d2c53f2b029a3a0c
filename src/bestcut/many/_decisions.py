"""What was decided for each of many problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors
from bestcut._results import Result
from bestcut._tables import check_order, frame_of
from bestcut._types import CountArray, FloatArray, IndexArray
from bestcut.decision import Wanted
from bestcut.goals import Condition, Goal, Mean
from bestcut.many._average import PredictionSet
from bestcut.many._drawn import DrawnSets
from bestcut.many._realised import realised_by_axis, realised_by_group
from bestcut.metrics import AnyMetric, Metric, RowUtility, get
from bestcut.scores import ScoreDistribution
from bestcut.search import gap_in_words


@dataclass(frozen=True, repr=False, eq=False)
class Decisions(Result):
    """The labels with the best expected score of each problem.

    Attributes
    ----------
    labels : ndarray of bool, sparse matrix, DataFrame or Series
        The predictions, in the shape of the input. Sparse input gives sparse labels. A
        DataFrame or Series of pandas or polars gives one with the same index and names.
        You may write to them; whatever else is said here stays about the labels as they
        were decided.
    n : ndarray of int
        For each problem, how many instances there are.
    n_positive : ndarray of int
        For each problem, how many are positive.
    threshold : ndarray of float or None
        For each problem, the threshold: halfway between the smallest probability that
        is predicted positive and the next smaller one, as in `bestcut.Decision`; inf if
        none is. None for a `bestcut.RowUtility`: its best rows are not a cut of the
        probabilities.
    n_tied : ndarray of int, shape (problems, 2)
        For each problem whose cut splits a tie: of the instances that have the
        threshold as their probability, how many are positive, and how many there are.
        For the others (0, 0).
    expected_score : ndarray of float
        For each problem, the expected metric of its labels.
    error : ndarray of float
        For each problem, a bound on the numerical error of ``expected_score``.
    gap : ndarray of float
        For each problem, a proved bound: no allowed prediction has an expected score
        (with another goal: a goal value) above this decision's plus `error` plus `gap`.
        For a loss, none has one below this decision's minus both.
    gap_scope : str
        ``"predictions"``: the gaps hold for all allowed predictions. ``"cuts"``: the
        gaps hold only for the cuts of each ranking, because it could not be proved that
        the metric never falls when TP rises, for these sizes.
    metric : Metric or RowUtility
        What was maximised (a loss: minimised).
    goal : Goal
        What was maximised in each problem; the expected score unless another goal was
        given.
    goal_value : ndarray of float
        For each problem, the value of the goal: the expected score, a probability or a
        quantile.
    conditions : tuple of Condition
        What `at_least` asked of other metrics, and what each problem reaches of it,
        computed on first use.
    bounds : (ndarray of int, ndarray of int)
        For each problem, the least and the largest number of positives that was
        allowed.
    groups : ndarray or None
        The name of each problem, if `groups` were given: the different groups, sorted.

    See Also
    --------
    bestcut.decide_each : Returns one.
    bestcut.Decision : The same for one problem.

    Examples
    --------
    >>> import bestcut
    >>> some = bestcut.decide_each([[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]], "f1")
    >>> some.n_positive, some.threshold.round(3)
    (array([1, 2]), array([0.45 , 0.175]))
    """

    labels: Any
    n: CountArray
    n_positive: CountArray
    threshold: FloatArray | None
    n_tied: CountArray
    expected_score: FloatArray
    error: FloatArray
    gap: FloatArray
    gap_scope: str
    metric: AnyMetric
    goal: Goal
    goal_value: FloatArray
    bounds: tuple[CountArray, CountArray]
    groups: NDArray[Any] | None
    _decided: Any = field(repr=False)
    _floors: Mapping[Metric, list[Wanted]] = field(repr=False)
    _library: str | None = field(repr=False)
    _predictions: PredictionSet | DrawnSets = field(repr=False)
    _problems: int | IndexArray = field(repr=False)  # an axis, or the group of each
    _allowed: str = field(repr=False)

    def realised(
        self, y_true: Any, metric: str | AnyMetric | None = None
    ) -> FloatArray:
        """Return what the labels of each problem scored, once labels are known.

        .. versionadded:: 0.3

        Parameters
        ----------
        y_true : array-like or sparse matrix
            The true labels, 0 and 1 or booleans, in the shape of the probabilities.
        metric : str, Metric or RowUtility, optional
            Another metric than the one the labels were chosen for.

        Returns
        -------
        ndarray of float
            For each problem, the score of which `expected_score` was the expected
            value.

        Raises
        ------
        ValueError
            If labels have another shape or other values than 0 and 1, or the metric is
            not known.

        Examples
        --------
        >>> import bestcut
        >>> some = bestcut.decide_each([[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]], "f1")
        >>> some.realised([[1, 0, 0], [0, 0, 1]])
        array([1., 0.])
        """
        wanted = self.metric if metric is None else metric
        chosen = wanted if isinstance(wanted, RowUtility) else get(wanted)
        check_order(labels=self.labels, y_true=y_true)
        if isinstance(self._problems, np.ndarray):
            count = self.n_positive.size
            return realised_by_group(
                chosen, y_true, self._decided, self._problems, count
            )
        return realised_by_axis(chosen, y_true, self._decided, self._problems)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What was asked of other metrics, and what each problem reaches of it."""
        return tuple(
            Condition(metric, wanted, self._predictions.reached(metric, wanted))
            for metric, floors in self._floors.items()
            for wanted in floors
        )

    def to_frame(self) -> Any:
        """Return what was decided as a DataFrame, with a row for each problem.

        .. versionadded:: 0.3

        Returns
        -------
        DataFrame
            With the columns ``group`` (if `groups` were given), ``n``, ``n_positive``,
            ``threshold`` (not for a `bestcut.RowUtility`), ``expected_score``,
            ``error`` and ``gap``. Of pandas or polars, as the probabilities were; if
            they were neither, of the one that is installed, and of pandas if both are.

        Raises
        ------
        ImportError
            If neither pandas nor polars is installed.

        Examples
        --------
        >>> import bestcut, polars
        >>> p = polars.Series([0.7, 0.3, 0.2, 0.3])
        >>> some = bestcut.decide_each(p, groups=["a", "b", "a", "b"])
        >>> some.to_frame()["n_positive"].to_list()
        [1, 2]
        """
        columns = {
            "group": self.groups,
            "n": self.n,
            "n_positive": self.n_positive,
            "threshold": self.threshold,
            "expected_score": self.expected_score,
            "error": self.error,
            "gap": self.gap,
        }
        there = {name: x for name, x in columns.items() if x is not None}
        return frame_of(there, self._library)

    def distribution(self, metric: str | Metric | None = None) -> ScoreDistribution:
        """Return the distribution of the mean score over all problems.

        Parameters
        ----------
        metric : str or Metric, optional
            Another metric than the one the labels were chosen for.

        Returns
        -------
        ScoreDistribution
            With ``mean``, ``std``, ``interval``, ``ppf``, ``cdf``, ``prob_at_least``.

        Raises
        ------
        ValueError
            If there are no problems, or the metric is not known.
        SolverMismatchError
            If the labels were chosen for a `bestcut.RowUtility` and no other metric is
            given.

        Notes
        -----
        ``mean`` and ``std`` are exact up to rounding. The distribution itself is
        computed on a grid: it is that of the mean score plus an error of mean 0 whose
        standard deviation is at most ``value_error``. It takes about 0.3 ms for each
        problem and, with draws of probabilities, each draw.

        Examples
        --------
        >>> import bestcut
        >>> some = bestcut.decide_each([[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]] * 50)
        >>> some.distribution()
        F1 0.50, 90% between 0.43 and 0.56
        >>> some.distribution("precision")
        Precision 0.50, 90% between 0.43 and 0.57
        """
        if not self.n_positive.size:
            raise errors.no_problems()
        wanted = self.metric if metric is None else metric
        if isinstance(wanted, RowUtility):
            raise errors.total_of_many()
        chosen = get(wanted)
        return ScoreDistribution(self._predictions, chosen)

    def _plain(self) -> dict[str, Any]:
        decided = {"labels": self._decided, "conditions": self.conditions}
        return super()._plain() | decided

    def _facts(self) -> list[tuple[str, str]]:
        count = self.n_positive.size
        facts = [
            ("metric", self.metric.name),
            ("problems", str(count)),
            ("positive", f"{int(self.n_positive.sum())} of {int(self.n.sum())}"),
        ]
        if not count:
            return facts
        score = [("mean expected score", f"{float(self.expected_score.mean()):.6g}")]
        if self.goal != Mean():
            name = f"mean {self.goal.describe(self.metric)}"
            score.append((name, f"{float(self.goal_value.mean()):.6g}"))
        aims = [(one.describe(), one.shown()) for one in self.conditions]
        gap = gap_in_words(float(self.gap.max()), self.gap_scope)
        return [
            *score,
            *facts,
            *aims,
            ("numerical error", f"{float(self.error.max()):.1e}"),
            ("gap", gap.removeprefix("gap ")),
        ]

    def __repr__(self) -> str:
        count = self.n_positive.size
        if not count:
            return f"Decisions({self.metric.name}: no problems)"
        return (
            f"Decisions({self.metric.name}: {count} problems, {self._allowed}"
            f"{int(self.n_positive.sum())} positive, mean expected score "
            f"{float(self.expected_score.mean()):.6g} "
            f"[error {float(self.error.max()):.1e}, "
            f"{gap_in_words(float(self.gap.max()), self.gap_scope)}])"
        )


def allowed_in_words(min_positives: Any, max_positives: Any) -> str:
    """Return what bounds allow each problem, with a comma; nothing if they allow all.

    The bounds are as they were given: a number for all problems, or one for each.
    """
    words, last = [], 0
    bounds = {
        "at least": min_positives if np.any(min_positives) else None,
        "at most": max_positives,
    }
    for called, given in bounds.items():
        if given is not None and np.size(given):
            least, last = int(np.min(given)), int(np.max(given))
            words.append(f"{called} {last if least == last else f'{least} to {last}'}")
    noun = "positive" if last == 1 else "positives"
    return f"{' and '.join(words)} {noun} in each, " if words else ""
