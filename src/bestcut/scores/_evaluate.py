"""What to expect from predictions, whoever made them, before any label is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from bestcut import _errors as errors
from bestcut._validation import check_labels, check_probabilities
from bestcut.metrics import Metric, get
from bestcut.scores._confusion import ConfusionDistribution
from bestcut.scores._distribution import ScoreDistribution
from bestcut.scores._mixture import AnyPrediction, MixedPrediction
from bestcut.scores._prediction import Prediction
from bestcut.uncertain import UncertainProbabilities

Result = TypeVar("Result")


@overload
def expected_score(y_proba: Any, y_pred: Any, metric: str | Metric = ...) -> float: ...
@overload
def expected_score(
    y_proba: Any, y_pred: Any, metric: Sequence[str | Metric]
) -> dict[str, float]: ...
def expected_score(
    y_proba: Any, y_pred: Any, metric: str | Metric | Sequence[str | Metric] = "f1"
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
    metric : str or Metric, or a list of them, default="f1"
        What to expect.

    Returns
    -------
    float or dict of str to float
        The expected score; for a list of metrics, by their names.

    See Also
    --------
    score_distribution : how far the score may be from that.

    Examples
    --------
    >>> import bestcut
    >>> round(bestcut.expected_score([0.7, 0.1, 0.4, 0.35], [1, 0, 1, 0]), 4)
    0.5762
    >>> bestcut.expected_score([0.75, 0.5], [1, 0], ["precision", "accuracy"])
    {'precision': 0.75, 'accuracy': 0.625}
    """
    prediction = _prediction(y_proba, y_pred)
    return _one_or_many(metric, lambda chosen: prediction.moments(chosen).mean)


@overload
def score_distribution(
    y_proba: Any, y_pred: Any, metric: str | Metric = ...
) -> ScoreDistribution: ...
@overload
def score_distribution(
    y_proba: Any, y_pred: Any, metric: Sequence[str | Metric]
) -> dict[str, ScoreDistribution]: ...
def score_distribution(
    y_proba: Any, y_pred: Any, metric: str | Metric | Sequence[str | Metric] = "f1"
) -> ScoreDistribution | dict[str, ScoreDistribution]:
    """Return the distribution of the metric of any predictions.

    Parameters
    ----------
    y_proba : array-like of shape (n,) or UncertainProbabilities
        Calibrated probability of each instance to be positive, or draws of it. Labels
        are taken to be independent given these.
    y_pred : array-like of shape (n,)
        The predictions, 0 and 1 or booleans.
    metric : str or Metric, or a list of them, default="f1"
        Whose distribution.

    Returns
    -------
    ScoreDistribution or dict of str to ScoreDistribution
        With ``mean``, ``std``, ``quantile``, ``interval``, ``prob_at_least``,
        ``surprise`` and ``sample``; for a list of metrics, by their names.

    Notes
    -----
    The distribution is exact up to rounding: a score depends on two independent counts,
    whose distributions are known. ``probability_error`` bounds what is lost.

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
    prediction = _prediction(y_proba, y_pred)
    return _one_or_many(metric, lambda chosen: ScoreDistribution(prediction, chosen))


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

    Examples
    --------
    >>> import bestcut
    >>> p = [0.9, 0.8, 0.7, 0.3, 0.2, 0.1] * 50
    >>> confusion = bestcut.expected_confusion(p, [x > 0.4 for x in p])
    >>> confusion.interval(0.9).fn
    (22, 38)
    """
    return ConfusionDistribution(_prediction(y_proba, y_pred))


def _prediction(y_proba: Any, y_pred: Any) -> AnyPrediction:
    if isinstance(y_proba, UncertainProbabilities):
        labels = check_labels(y_pred, len(y_proba))
        return MixedPrediction.of_labels(y_proba, labels)
    p = check_probabilities(y_proba)
    return Prediction.of_labels(p, check_labels(y_pred, p.size))


def _one_or_many(
    metric: str | Metric | Sequence[str | Metric], compute: Callable[[Metric], Result]
) -> Result | dict[str, Result]:
    """Compute for a metric, or for each of several, by name."""
    if isinstance(metric, str | Metric) or not isinstance(metric, Sequence):
        return compute(get(metric))
    results: dict[str, Result] = {}
    for chosen in map(get, metric):
        if chosen.name in results:
            raise errors.same_name_twice(chosen.name)
        results[chosen.name] = compute(chosen)
    return results
