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
see `bestcut.decide_from_samples`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._decide import decide as decide_one
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import check_label_matrix, check_matrix, check_option
from bestcut.many._average import PredictionSet
from bestcut.many._each import ONE_BY_ONE, decide_each
from bestcut.metrics import Metric, get, require_ranking
from bestcut.scores import Prediction, ScoreDistribution
from bestcut.search import gap_in_words

__all__ = ["MultilabelDecision", "decide", "expected_score", "score_distribution"]

_AVERAGES = ("samples", "macro", "micro")


@dataclass(frozen=True, repr=False, eq=False)
class MultilabelDecision:
    """The labels with the best expected average score.

    Attributes
    ----------
    labels : ndarray of bool, shape (rows, columns)
        The predictions.
    expected_score : float
        Expected average metric of `labels`.
    error : float
        Bound on the numerical error of `expected_score`.
    gap : float
        Every allowed prediction's expected score is at most this one's plus `error`
        plus `gap`, proved (a loss: at least this one's less both).
    gap_scope : str
        ``"predictions"`` or ``"cuts"``, as in `bestcut.Decision`.
    each : ndarray of float
        Expected metric of each row ("samples"), each column ("macro"), or of the whole
        ("micro").
    metric : Metric
        What was maximised (a loss: minimised).
    average : str
        Over what.
    """

    labels: BoolArray
    expected_score: float
    error: float
    gap: float
    gap_scope: str
    each: FloatArray
    metric: Metric
    average: str

    def __repr__(self) -> str:
        rows, columns = self.labels.shape
        return (
            f"MultilabelDecision({self.average} {self.metric.name}: "
            f"{rows} x {columns}, {int(self.labels.sum())} positive, expected score "
            f"{self.expected_score:.6g} [error {self.error:.1e}, "
            f"{gap_in_words(self.gap, self.gap_scope)}])"
        )


def decide(
    Y_proba: Any,
    metric: str | Metric = "f1",
    *,
    average: str = "samples",
    min_positives: int = 0,
    max_positives: int | None = None,
    n_jobs: int = 1,
) -> MultilabelDecision:
    """Choose the labels that maximise the expected average of a metric.

    Parameters
    ----------
    Y_proba : array-like of shape (rows, columns)
        Calibrated probability of each label of each instance.
    metric : str or Metric, default="f1"
        What to maximise.
    average : {"samples", "macro", "micro"}, default="samples"
        The mean over rows, the mean over columns, or one score for all entries
        together.
    min_positives, max_positives : int, optional
        Bounds on the number of positives in each row, in each column, or in all.
    n_jobs : int, default=1
        How many threads.

    Returns
    -------
    MultilabelDecision
        With ``labels``, ``expected_score``, ``error`` and ``each``.

    Notes
    -----
    A mean of scores of separate problems is largest if each of them is, so rows (or
    columns) are decided one by one, exactly. What an empty row is worth that is left
    empty is the metric's `zero_division`: 0 as it stands, or 1 with
    ``FBeta(zero_division=1.0)``.

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
    matrix = check_matrix(Y_proba, name="Y_proba")
    bounds = {"min_positives": min_positives, "max_positives": max_positives}
    if kind == "micro":
        require_ranking(chosen, way_out=ONE_BY_ONE)
        one = decide_one(matrix.ravel(), chosen, **bounds)  # type: ignore[arg-type]
        labels = one.labels.reshape(matrix.shape)
        each, error = np.array([one.expected_score]), one.error
        gap, scope = one.gap, one.gap_scope
    else:
        axis = 1 if kind == "samples" else 0
        many = decide_each(
            matrix,
            chosen,
            axis=axis,
            n_jobs=n_jobs,
            **bounds,  # type: ignore[arg-type]
        )
        labels, each = many.labels, many.expected_score
        error, gap = (float(x.max(initial=0.0)) for x in (many.error, many.gap))
        scope = many.gap_scope
    expected = float(each.mean()) if each.size else float("nan")
    return MultilabelDecision(labels, expected, error, gap, scope, each, chosen, kind)


def expected_score(
    Y_proba: Any, Y_pred: Any, metric: str | Metric = "f1", *, average: str = "samples"
) -> float:
    """Return the expected average metric of any multi-label predictions.

    Parameters
    ----------
    Y_proba : array-like of shape (rows, columns)
        Calibrated probabilities.
    Y_pred : array-like of shape (rows, columns)
        The predictions, 0 and 1 or booleans.
    metric : str or Metric, default="f1"
        What to expect.
    average : {"samples", "macro", "micro"}, default="samples"
        Over what.

    Returns
    -------
    float

    Examples
    --------
    >>> from bestcut import multilabel
    >>> Y = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]]
    >>> round(multilabel.expected_score(Y, [[1, 0, 0], [1, 1, 0]]), 3)
    0.499
    """
    return score_distribution(Y_proba, Y_pred, metric, average=average).mean


def score_distribution(
    Y_proba: Any, Y_pred: Any, metric: str | Metric = "f1", *, average: str = "samples"
) -> ScoreDistribution:
    """Return the distribution of the average metric of any multi-label predictions.

    Parameters
    ----------
    Y_proba : array-like of shape (rows, columns)
        Calibrated probabilities.
    Y_pred : array-like of shape (rows, columns)
        The predictions, 0 and 1 or booleans.
    metric : str or Metric, default="f1"
        Whose distribution.
    average : {"samples", "macro", "micro"}, default="samples"
        Over what.

    Returns
    -------
    ScoreDistribution
        Its ``mean`` and ``std`` are exact up to rounding. For a mean over rows or
        columns the distribution is computed on a grid: it is that of the score plus an
        error of mean 0 whose standard deviation is at most ``value_error``.

    Examples
    --------
    >>> from bestcut import multilabel
    >>> Y = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.05]] * 50
    >>> multilabel.score_distribution(Y, [[1, 0, 0], [1, 1, 0]] * 50)
    F1 0.50, 90% between 0.43 and 0.56
    """
    chosen = get(metric)
    kind = check_option(average, _AVERAGES, name="average")
    matrix = check_matrix(Y_proba, name="Y_proba")
    labels = check_label_matrix(Y_pred, matrix.shape)
    if kind == "micro":
        whole = Prediction.of_labels(matrix.ravel(), labels.ravel())
        return ScoreDistribution(whole, chosen)
    if kind == "macro":
        matrix, labels = matrix.T, labels.T
    if matrix.shape[0] == 0:
        raise errors.nothing_to_average(matrix.shape)
    return ScoreDistribution(PredictionSet(matrix, labels), chosen)
