"""One class for each row, for the best expected average of a metric over classes.

``f1_score(y, y_pred, average="macro")`` of scikit-learn measures the same average: the
mean of the scores of all classes, each class against the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors, _extras as extras
from bestcut._guesses import hinted
from bestcut._results import Result
from bestcut._tables import check_order, column_names, rows_like
from bestcut._types import EPS, CountArray, FloatArray, IndexArray
from bestcut._validation import SUM_IS_1, check_option, with_sums_of_1
from bestcut.assignment import (
    AssignmentSearch,
    Budgets,
    RowRule,
    assignment_scope,
    check_class_weights,
    check_rows,
    entries_of,
    extra_worth,
    first_columns,
)
from bestcut.many._class_draws import DrawnClasses, MicroClasses
from bestcut.many._each import ONE_BY_ONE
from bestcut.metrics import Metric, get, require_ranking
from bestcut.scores import Prediction, ScoreDistribution
from bestcut.search import gap_in_words

__all__ = [
    "MulticlassDecision",
    "decide",
    "expected_score",
    "score_distribution",
]

_AVERAGES = ("macro", "micro")
_SHOWN = 30  # classes in a notebook


def warn_of_means(stacklevel: int) -> None:
    """Warn that a distribution leaves out the doubt about the probabilities."""
    warnings.warn(
        "With more than two classes, the distribution leaves out the doubt about the "
        "probabilities: it is for the means of the calibrated ones. The score may be "
        "further from its mean than the distribution says. Compare expected and "
        "realised scores of labelled batches before you rely on an interval.",
        stacklevel=stacklevel,
    )


@dataclass(frozen=True, repr=False, eq=False)
class MulticlassDecision(Result):
    """The class of each row, with the best expected average score.

    Attributes
    ----------
    labels : ndarray of shape (rows,), or Series
        The class of each row: its index, or its name from `classes`. A DataFrame of
        pandas or polars gives a Series, with its index. You may write to them; whatever
        else is said here stays about the classes as they were decided.
    n : int
        How many rows there are.
    n_positive : ndarray of int, shape (classes,)
        How many rows are given each class.
    expected_score : float
        Expected average metric of `labels`, plus the part that `also` adds.
    error : float
        Bound on the numerical error of ``expected_score``.
    gap : float
        A proved bound: no allowed choice of classes has an expected score above this
        decision's plus `error` plus `gap` (a loss: below this decision's minus both).
    gap_scope : str
        ``"predictions"`` if the bound is proved for every choice of classes; ``"cuts"``
        if it is proved only for choices that give a class its most probable rows, as in
        `bestcut.Decision`.
    each : ndarray of float, shape (classes,)
        Expected metric of each class against the rest.
    metric : Metric
        What was maximised (a loss: minimised).
    average : str
        The average that was asked for, ``"macro"`` or ``"micro"``.
    also : dict or None
        What else was asked for, as `bestcut.multiclass.decide` takes it.
    classes : ndarray
        The names of the classes.

    See Also
    --------
    bestcut.multiclass.decide : Returns one.
    bestcut.displays.ClassScoresDisplay : Draws the scores of the classes.
    bestcut.displays.ClassConfusionDisplay : Draws which classes will be confused.

    Examples
    --------
    >>> from bestcut import multiclass
    >>> P = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0]]
    >>> decision = multiclass.decide(P, classes=["cat", "dog", "owl"])
    >>> decision.each.round(2).tolist()
    [0.66, 0.33, 0.28]
    >>> decision.rule()([[0.5, 0.1, 0.4]]).tolist()
    ['owl']
    """

    labels: Any
    n: int
    n_positive: CountArray
    expected_score: float
    error: float
    gap: float
    gap_scope: str
    each: FloatArray
    metric: Metric
    average: str
    also: Mapping[str, float] | None
    classes: NDArray[Any]
    _decided: NDArray[Any] = field(repr=False)
    _rule: RowRule = field(repr=False)
    _source: Any = field(repr=False)
    _share: FloatArray = field(repr=False)  # of each class in the average
    _hit: float = field(default=0.0, repr=False)  # what `also` adds for a right row
    _are_means_of_draws: bool = field(default=False, repr=False)

    def rule(self) -> RowRule:
        """Return the rule that decides new rows one by one.

        Returns
        -------
        RowRule
            Two small arrays: a row takes the class with the largest
            ``slope * p - cost``.
        """
        return self._rule

    def distribution(self, metric: str | Metric | None = None) -> ScoreDistribution:
        """Return the distribution of the average score.

        Parameters
        ----------
        metric : str or Metric, optional
            Another metric than the one the classes were chosen for.

            .. versionadded:: 0.3

        Returns
        -------
        ScoreDistribution
            Its mean is exact. The rest comes from 4,000 draws of a class for each row,
            since the classes of a row exclude each other; ``quantile_error`` is the
            standard error that this leaves.

        Warns
        -----
        UserWarning
            If the decision is from a classifier with ``calibration="posterior"``. It is
            for the means of calibrated probabilities, so the distribution allows for
            chance in the labels, but not for doubt about the probabilities.
        """
        if self._are_means_of_draws:
            warn_of_means(stacklevel=3)
        source, chosen = self._source, self.metric if metric is None else get(metric)
        if chosen is not self.metric and isinstance(source, DrawnClasses):
            source = _drawn(source.p, source.chosen, source.share, chosen)
        return ScoreDistribution(source, chosen)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the expected score of each class. Needs matplotlib.

        .. versionadded:: 0.3

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        bestcut.displays.ClassScoresDisplay
            What was drawn, with its axes as ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> from bestcut import multiclass
        >>> P = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0]]
        >>> display = multiclass.decide(P, classes=["cat", "dog", "owl"]).plot()
        >>> display.ax_.get_xlabel()
        'Expected F1'
        """
        return extras.load("displays").ClassScoresDisplay.from_decision(self, ax=ax)

    def _plain(self) -> dict[str, Any]:
        return super()._plain() | {"labels": self._decided}

    def _facts(self) -> list[tuple[str, str]]:
        facts = [
            (f"expected {self.average} score", f"{self.expected_score:.6g}"),
            ("metric", self.metric.name),
            ("rows", str(self.n)),
            *self._class_facts(),
            ("numerical error", f"{self.error:.1e}"),
            ("gap", gap_in_words(self.gap, self.gap_scope).removeprefix("gap ")),
        ]
        if self.also is not None:
            facts.insert(
                1, ("with", ", ".join(f"{w:g} {x}" for x, w in self.also.items()))
            )
        return facts

    def _class_facts(self) -> Iterator[tuple[str, str]]:
        """Yield each class with its rows and its score; of many, the first ones."""
        names, rows = self.classes.tolist(), self.n_positive.tolist()
        macro = self.average == "macro"
        for j in range(min(len(names), _SHOWN)):
            score = f", expected {self.metric.name} {self.each[j]:.6g}" if macro else ""
            yield f"class {names[j]}", f"{rows[j]} rows{score}"
        if len(names) > _SHOWN:
            yield "and", f"{len(names) - _SHOWN} classes more"

    def realised(self, y_true: Any) -> float:
        """Return what the labels as decided scored, once the true ones are known.

        .. versionadded:: 0.3

        Parameters
        ----------
        y_true : array-like of shape (rows,)
            The true class of each row: its index, or its name from `classes`.

        Returns
        -------
        float
            The average score, of which `expected_score` was the expected value.

        Raises
        ------
        ValueError
            If there is not one of the classes for each row.

        Examples
        --------
        >>> from bestcut import multiclass
        >>> P = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0]]
        >>> decision = multiclass.decide(P, classes=["cat", "dog", "owl"])
        >>> decision.labels.tolist()
        ['cat', 'owl', 'dog', 'cat']
        >>> round(decision.realised(["cat", "owl", "cat", "cat"]), 3)
        0.6
        """
        check_order(labels=self.labels, y_true=y_true)
        rows, count = self.n, self.classes.size
        truth = _check_predictions(y_true, self.classes, rows, name="y_true")
        taken = _check_predictions(self._decided, self.classes, rows)
        right = taken[truth == taken]
        if self.average == "micro":
            return float(self.metric(right.size, rows, rows, rows * count))
        tp, n_pred, n_pos = (
            np.bincount(x, minlength=count) for x in (right, taken, truth)
        )
        average = float(self._share @ self.metric(tp, n_pred, n_pos, rows))
        return average + self.metric.sign * self._hit * float(right.size)

    def __repr__(self) -> str:
        return (
            f"MulticlassDecision({self.average} {self.metric.name}: "
            f"{self.n} rows, {self.classes.size} classes, expected score "
            f"{self.expected_score:.6g} [error {self.error:.1e}, "
            f"{gap_in_words(self.gap, self.gap_scope)}])"
        )


@hinted
def decide(
    y_proba: Any,
    metric: str | Metric = "f1",
    *,
    average: str | None = "macro",
    classes: Any = None,
    weights: Any = None,
    also: Mapping[str, float] | None = None,
) -> MulticlassDecision:
    """Choose one class for each row, for the best expected average over classes.

    Parameters
    ----------
    y_proba : array-like or sparse matrix of shape (rows, classes)
        Calibrated probabilities; each row sums to 1. A class of probability 0 is never
        chosen.
    metric : str or Metric, default="f1"
        The metric of each class against the rest.
    average : {"macro", "micro"}, default="macro"
        The mean over classes, or one score for all rows and classes together, for which
        the most probable class of each row is best. The multi-class MCC and kappa, and
        the geometric mean of recalls, are neither of these; ``average=None`` asks for
        them, and is refused.
    classes : array-like of shape (classes,), optional
        The names of the classes; by default, those of the columns of a DataFrame, and
        otherwise their indices.
    weights : array-like of shape (classes,), optional
        The weight of each class in the mean; all the same if not given.
    also : dict, optional
        ``{"precision@k": w}`` adds w times the expected share of right rows, and takes
        it from a loss.

    Returns
    -------
    MulticlassDecision
        With ``labels``, ``expected_score``, ``error``, ``gap`` and ``each``.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    SolverMismatchError
        If the metric does not satisfy the ranking principle.
    ValueError
        If a row does not sum to 1, `average` is not known, or `classes` or `weights` do
        not have one entry for each class.

    See Also
    --------
    bestcut.multilabel.decide : A set of labels for each row.
    bestcut.multiclass.expected_score : The expected score of any choice of classes.
    bestcut.estimators.ExpectedMetricClassifier : The same for a scikit-learn model.

    Notes
    -----
    The expected score is the mean of the expected scores of all classes. Each of these
    depends on one column of `y_proba` alone, and is exact, not a ratio of expectations.
    The classes of a row exclude each other; rows are taken to be independent.
    docs/guides/several-classes.md explains how the choice is found, and the proof that
    no other is better by more than ``gap``.

    Examples
    --------
    >>> from bestcut import multiclass
    >>> P = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0]]
    >>> d = multiclass.decide(P, "f1", classes=["cat", "dog", "owl"])
    >>> d.labels.tolist()
    ['cat', 'owl', 'dog', 'cat']
    >>> d.n_positive.tolist()
    [2, 1, 1]
    >>> round(d.expected_score, 4)
    0.4219
    """
    chosen = get(metric)
    if average is None:
        raise errors.does_not_split(chosen.name)
    kind = check_option(average, _AVERAGES, name="average")
    given = _check_probabilities(y_proba)
    names = check_classes(classes, given.shape[1], y_proba)
    share = check_class_weights(weights, given.shape[1])
    require_ranking(chosen, way_out=ONE_BY_ONE)
    if kind == "micro":
        if weights is not None or also is not None:
            raise errors.only_for_macro("weights" if weights is not None else "also")
        return _decide_micro(given, chosen, names, like=y_proba)
    entries = entries_of(given, name="y_proba")
    rows = entries.shape[0]
    one = np.ones(rows, dtype=np.intp)
    extra = extra_worth(also, rows)
    found = AssignmentSearch(entries, chosen, Budgets(one, one), share, extra).solve()
    column = first_columns(entries, entries.split(found.taken))
    expected = float(share @ found.each) if rows else float("nan")
    hits = extra * float(found.hits.sum())
    error = float(share @ found.error) + 8 * EPS * abs(expected)
    return MulticlassDecision(
        labels=rows_like(y_proba, names[column]),
        n=rows,
        n_positive=found.size.astype(np.int64),
        expected_score=expected + chosen.sign * hits,
        error=error,
        gap=found.gap,
        gap_scope=assignment_scope(chosen, rows, by_ranking=False),
        each=found.each,
        metric=chosen,
        average=kind,
        also=None if also is None else dict(also),
        classes=names,
        _decided=names[column],
        _rule=RowRule(found.slope, found.cost, (1, 1), names),
        _source=DrawnClasses(_dense(given).copy(), column, share, expected, error),
        _share=share,
        _hit=extra,
    )


def expected_score(
    y_proba: Any,
    y_pred: Any,
    metric: str | Metric = "f1",
    *,
    average: str = "macro",
    classes: Any = None,
    weights: Any = None,
) -> float:
    """Return the expected average score of any choice of classes.

    Parameters
    ----------
    y_proba : array-like or sparse matrix of shape (rows, classes)
        Calibrated probabilities; each row sums to 1.
    y_pred : array-like of shape (rows,)
        The class of each row: its index, or its name.
    metric : str or Metric, default="f1"
        The metric of each class against the rest.
    average : {"macro", "micro"}, default="macro"
        The mean over classes, or one score for all rows and classes together.

        .. versionadded:: 0.3
    classes : array-like of shape (classes,), optional
        The names of the classes, as for `decide`.
    weights : array-like of shape (classes,), optional
        With "macro": the weight of each class in the mean.

    Returns
    -------
    float
        The mean of the expected scores of all classes, or the one score's expectation.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    ValueError
        If a row does not sum to 1, there are no rows, `y_pred` holds an unknown class,
        or `average` is not known.

    See Also
    --------
    bestcut.multiclass.decide : The choice with the best expected score.
    bestcut.multiclass.score_distribution : How far the score may be from its mean.

    Examples
    --------
    >>> from bestcut import multiclass
    >>> P = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0]]
    >>> round(multiclass.expected_score(P, [0, 0, 0, 0]), 4)
    0.2477
    """
    chosen = get(metric)
    source = _source_of(y_proba, y_pred, chosen, average, classes, weights)
    if isinstance(source, DrawnClasses):
        return source.mean
    return source.moments(chosen).mean


def score_distribution(
    y_proba: Any,
    y_pred: Any,
    metric: str | Metric = "f1",
    *,
    average: str = "macro",
    classes: Any = None,
    weights: Any = None,
) -> ScoreDistribution:
    """Return the distribution of the average score of any choice of classes.

    Parameters
    ----------
    y_proba : array-like or sparse matrix of shape (rows, classes)
        Calibrated probabilities; each row sums to 1.
    y_pred : array-like of shape (rows,)
        The class of each row: its index, or its name.
    metric : str or Metric, default="f1"
        The metric of each class against the rest.
    average : {"macro", "micro"}, default="macro"
        The mean over classes, or one score for all rows and classes together.

        .. versionadded:: 0.3
    classes : array-like of shape (classes,), optional
        The names of the classes, as for `decide`.
    weights : array-like of shape (classes,), optional
        With "macro": the weight of each class in the mean.

    Returns
    -------
    ScoreDistribution
        Computed like that of ``MulticlassDecision.distribution``.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    ValueError
        If a row does not sum to 1, there are no rows, `y_pred` holds an unknown class,
        or `average` is not known.

    See Also
    --------
    bestcut.multiclass.expected_score : The mean alone, which is exact.
    bestcut.multiclass.decide : The choice with the best expected score.

    Examples
    --------
    >>> from bestcut import multiclass
    >>> P = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0]] * 50
    >>> multiclass.score_distribution(P, [0, 2, 1, 0] * 50)
    F1 0.49, 90% between 0.42 and 0.55
    """
    chosen = get(metric)
    source = _source_of(y_proba, y_pred, chosen, average, classes, weights)
    return ScoreDistribution(source, chosen)


def _source_of(
    y_proba: Any,
    y_pred: Any,
    metric: Metric,
    average: str,
    classes: Any,
    weights: Any,
) -> DrawnClasses | MicroClasses:
    """Return where the scores of a choice of classes come from."""
    kind = check_option(average, _AVERAGES, name="average")
    p = _dense(_check_probabilities(y_proba))
    names = check_classes(classes, p.shape[1], y_proba)
    share = check_class_weights(weights, p.shape[1])
    check_order(y_proba=y_proba, y_pred=y_pred)
    column = _check_predictions(y_pred, names, p.shape[0])
    if classes is None and column_names(y_proba) is None:
        _refuse_names_as_indices(column, p)
    if not p.shape[0]:
        raise errors.nothing_to_average(p.shape)
    if kind == "micro":
        if weights is not None:
            raise errors.only_for_macro(name="weights")
        return MicroClasses(p[np.arange(p.shape[0]), column], p.shape[1])
    return _drawn(p, column, share, metric)


def _drawn(
    p: FloatArray, column: IndexArray, share: FloatArray, metric: Metric
) -> DrawnClasses:
    """Return where the scores of a choice of classes come from, with their mean."""
    each = [
        Prediction.of_labels(p[:, j], column == j).moments(metric)
        for j in range(p.shape[1])
    ]
    mean = float(share @ np.array([x.mean for x in each]))
    error = float(share @ np.array([x.error for x in each])) + 8 * EPS * abs(mean)
    return DrawnClasses(p, column, share, mean, error)


def _decide_micro(
    given: Any, metric: Metric, names: NDArray[Any], *, like: Any
) -> MulticlassDecision:
    """Decide for one score of all entries: TP is the number of right rows."""
    p = _dense(given)
    rows, count = p.shape
    column = np.argmax(p, axis=1) if rows else np.zeros(0, dtype=np.intp)
    source = MicroClasses(p[np.arange(rows), column], count)
    moments = source.moments(metric)
    size = np.bincount(column, minlength=count)
    ones = np.ones(count)
    return MulticlassDecision(
        labels=rows_like(like, names[column]),
        n=rows,
        n_positive=size.astype(np.int64),
        expected_score=moments.mean,
        error=moments.error,
        gap=4 * EPS * abs(moments.mean),
        gap_scope=assignment_scope(metric, rows * count, by_ranking=True),
        each=np.array([moments.mean]),
        metric=metric,
        average="micro",
        also=None,
        classes=names,
        _decided=names[column],
        _rule=RowRule(ones, np.zeros(count), (1, 1), names),
        _source=source,
        _share=ones / count,
    )


def _dense(given: Any) -> FloatArray:
    return np.asarray(given.toarray() if hasattr(given, "tocsr") else given)


def _check_probabilities(y_proba: Any) -> Any:
    """Return probabilities whose rows sum to 1."""
    if hasattr(y_proba, "tocsr"):
        entries_of(
            y_proba, name="y_proba"
        )  # refuses entries that are not probabilities
        given, sums = y_proba, np.asarray(y_proba.sum(axis=1), dtype=np.float64).ravel()
    else:
        given = check_rows(
            y_proba, name="y_proba", refusal=errors.not_a_column_per_class
        )
        given = with_sums_of_1(given, y_proba)
        sums = given.sum(axis=1)
    if given.shape[1] < 2:
        raise errors.bad_value(
            "y_proba",
            "must have a column for each of two or more classes",
            "If it holds the probability of one class, call `bestcut.decide` with "
            "a 1-D array.",
            got=f"shape {given.shape}",
        )
    off = ~(np.abs(sums - 1.0) <= SUM_IS_1)
    if np.any(off):
        raise errors.rows_do_not_sum_to_one(name="y_proba", sums=sums, off=off)
    return given


def check_classes(classes: Any, count: int, y_proba: Any) -> NDArray[Any]:
    """Return the names of the classes: those of the columns, unless told otherwise."""
    own = column_names(y_proba)
    if classes is None:
        return np.arange(count) if own is None else np.asarray(own)
    names = np.asarray(classes)
    if own is not None and own != names.tolist() and set(own) == set(names.tolist()):
        raise errors.classes_in_another_order(own, names.tolist())
    if names.shape != (count,):
        raise errors.bad_value(
            "classes",
            f"must name each of the {count} columns of `y_proba`",
            got=f"shape {names.shape}",
        )
    if len(set(names.tolist())) < count:
        raise errors.same_names(names)
    return names


def _check_predictions(
    y_pred: Any, names: NDArray[Any], rows: int, *, name: str = "y_pred"
) -> Any:
    """Return the column of each prediction."""
    labels = np.asarray(y_pred)
    if labels.shape != (rows,):
        raise errors.wrong_length(name=name, n=rows, shape=labels.shape)
    where = {name: j for j, name in enumerate(names.tolist())}
    column = np.array([where.get(x, -1) for x in labels.tolist()], dtype=np.intp)
    unknown = column < 0
    if np.any(unknown):
        raise errors.unknown_class(name, labels, unknown, names)
    return column


def _refuse_names_as_indices(column: NDArray[Any], p: FloatArray) -> None:
    """Refuse indices without 0 that have more probability as names from 1.

    While the last class is not predicted, every name is an index, too. Only one class
    for all rows is more likely an index: that is what others are compared with.
    """
    if not column.size or column.min() in (0, column.max()):
        return
    rows = np.arange(column.size)
    if p[rows, column - 1].sum() > p[rows, column].sum():
        raise errors.names_or_indices(int(column.min()), int(column.max()), p.shape[1])


def mean_over_classes(decision: MulticlassDecision) -> float:
    """Return the expected average over classes, without what `also` adds to it."""
    mean: float = decision._source.mean
    return mean
