"""What to expect from predictions, whoever made them, before any label is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar, overload

from bestcut import _errors as errors
from bestcut._tables import check_order
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import check_labels, check_probabilities
from bestcut.metrics import AnyMetric, RowUtility, get, indices_of
from bestcut.scores._confusion import ConfusionDistribution
from bestcut.scores._distribution import ScoreDistribution
from bestcut.scores._prediction import Prediction
from bestcut.scores._row_prediction import row_prediction
from bestcut.uncertain import UncertainProbabilities

Result = TypeVar("Result")


@overload
def expected_score(
    y_proba: Any, y_pred: Any, metric: str | AnyMetric = ...
) -> float: ...
@overload
def expected_score(
    y_proba: Any, y_pred: Any, metric: Sequence[str | AnyMetric]
) -> dict[str, float]: ...
def expected_score(
    y_proba: Any,
    y_pred: Any,
    metric: str | AnyMetric | Sequence[str | AnyMetric] = "f1",
) -> float | dict[str, float]:
    """Return the expected metric of any predictions.

    Parameters
    ----------
    y_proba : array-like of shape (n,) or UncertainProbabilities
        Calibrated probability of each instance to be positive, or draws of it. Labels
        are taken to be independent given these.
    y_pred : array-like of shape (n,)
        The predictions, 0 and 1 or booleans: from a threshold, from a rule, from
        another model.
    metric : str, Metric or RowUtility, or a list of them, default="f1"
        The metric or metrics whose expected score is returned.

    Returns
    -------
    float or dict of str to float
        The expected score; for a list of metrics, a dict of them by name.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    ValueError
        If `y_pred` has another length or other values than 0 and 1, a metric is not
        known, or two metrics of a list have the same name.

    See Also
    --------
    bestcut.score_distribution : How far the score may be from the expected score.
    bestcut.decide : The predictions with the best expected score.
    bestcut.expected_confusion : The expected confusion matrix.

    Examples
    --------
    >>> import bestcut
    >>> round(bestcut.expected_score([0.7, 0.1, 0.4, 0.35], [1, 0, 1, 0]), 4)
    0.5762
    >>> bestcut.expected_score([0.75, 0.5], [1, 0], ["precision", "accuracy"])
    {'precision': 0.75, 'accuracy': 0.625}
    """
    score_of = _scores(y_proba, y_pred)
    return _one_or_many(metric, lambda chosen: score_of(chosen).mean)


@overload
def score_distribution(
    y_proba: Any, y_pred: Any, metric: str | AnyMetric = ...
) -> ScoreDistribution: ...
@overload
def score_distribution(
    y_proba: Any, y_pred: Any, metric: Sequence[str | AnyMetric]
) -> dict[str, ScoreDistribution]: ...
def score_distribution(
    y_proba: Any,
    y_pred: Any,
    metric: str | AnyMetric | Sequence[str | AnyMetric] = "f1",
) -> ScoreDistribution | dict[str, ScoreDistribution]:
    """Return the distribution of the metric of any predictions.

    Parameters
    ----------
    y_proba : array-like of shape (n,) or UncertainProbabilities
        Calibrated probability of each instance to be positive, or draws of it. Labels
        are taken to be independent given these.
    y_pred : array-like of shape (n,)
        The predictions, 0 and 1 or booleans.
    metric : str, Metric or RowUtility, or a list of them, default="f1"
        The metric or metrics whose distribution is returned.

    Returns
    -------
    ScoreDistribution or dict of str to ScoreDistribution
        With ``mean``, ``std``, ``interval``, ``ppf``, ``cdf``, ``prob_at_least``,
        ``surprise`` and ``sample``; for a list of metrics, a dict of them by name.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    ValueError
        If `y_pred` has another length or other values than 0 and 1, a metric is not
        known, or two metrics of a list have the same name.

    See Also
    --------
    bestcut.expected_score : The mean alone, which is faster.
    bestcut.Decision : Has the same for its own labels, as ``distribution()``.
    bestcut.displays.ScoreDistributionDisplay : Draws one.

    Notes
    -----
    The distribution is exact up to rounding: a score depends on two independent counts,
    whose distributions are known. ``probability_error`` bounds what is lost. The total
    of a `bestcut.RowUtility` is exact for up to 17 rows, and also if all amounts are
    multiples of one unit and fit on a grid. Otherwise ``value_error`` says how far off
    its quantiles may be.

    Examples
    --------
    >>> import bestcut
    >>> p = [0.9, 0.8, 0.7, 0.3, 0.2, 0.1] * 50
    >>> score = bestcut.score_distribution(p, [x > 0.4 for x in p], "f1")
    >>> score
    F1 0.800, 90% between 0.761 and 0.837
    >>> round(score.prob_at_least(0.75), 3)
    0.983
    """
    return _one_or_many(metric, _scores(y_proba, y_pred))


def expected_confusion(y_proba: Any, y_pred: Any) -> ConfusionDistribution:
    """Return the distribution of the confusion matrix of any predictions.

    Parameters
    ----------
    y_proba : array-like of shape (n,) or UncertainProbabilities
        Calibrated probability of each instance to be positive, or draws of it.
    y_pred : array-like of shape (n,)
        The predictions, 0 and 1 or booleans.

    Returns
    -------
    ConfusionDistribution
        With ``mean``, ``std``, ``interval`` and ``matrix``.

    Raises
    ------
    InvalidProbabilityError
        If an entry of `y_proba` is NaN or outside [0, 1].
    ValueError
        If `y_pred` has another length or other values than 0 and 1.

    See Also
    --------
    bestcut.score_distribution : The distribution of a metric of the same predictions.
    bestcut.Decision : Has the same for its own labels, as ``confusion()``.

    Examples
    --------
    >>> import bestcut
    >>> p = [0.9, 0.8, 0.7, 0.3, 0.2, 0.1] * 50
    >>> confusion = bestcut.expected_confusion(p, [x > 0.4 for x in p])
    >>> confusion.interval(0.9).fn
    (22, 38)
    """
    return ConfusionDistribution(Prediction.of_labels(*_checked(y_proba, y_pred)))


def _checked(
    y_proba: Any, y_pred: Any
) -> tuple[FloatArray | UncertainProbabilities, BoolArray]:
    check_order(y_proba=y_proba, y_pred=y_pred)
    if isinstance(y_proba, UncertainProbabilities):
        labels = check_labels(y_pred, len(y_proba), draws=y_proba.n_draws)
        return y_proba, labels
    p = check_probabilities(y_proba)
    return p, check_labels(y_pred, p.size)


def _scores(y_proba: Any, y_pred: Any) -> Callable[[AnyMetric], ScoreDistribution]:
    """Return a function that gives the distribution of a metric of these predictions.

    Only a RowUtility needs the rows; for all other metrics the rows are counted once.
    """
    p, labels = _checked(y_proba, y_pred)
    counted = cache(lambda: Prediction.of_labels(p, labels))

    def score_of(metric: AnyMetric) -> ScoreDistribution:
        if not isinstance(metric, RowUtility):
            return ScoreDistribution(counted(), metric)
        check_order(y_proba=y_proba, **indices_of(metric))
        metric.worths((len(p),))  # refuses the amounts of other rows
        return ScoreDistribution(row_prediction(p, labels), metric)

    return score_of


def _one_or_many(
    metric: str | AnyMetric | Sequence[str | AnyMetric],
    compute: Callable[[AnyMetric], Result],
) -> Result | dict[str, Result]:
    """Compute for a metric, or for each of several, by name."""
    if isinstance(metric, str | AnyMetric) or not isinstance(metric, Sequence):
        return compute(_metric(metric))
    results: dict[str, Result] = {}
    for given in metric:
        chosen = _metric(given)
        if chosen.name in results:
            raise errors.same_name_twice(chosen.name, given)
        results[chosen.name] = compute(chosen)
    return results


def _metric(metric: str | AnyMetric) -> AnyMetric:
    return metric if isinstance(metric, RowUtility) else get(metric)
