"""The threshold with the best metric on labelled data: empirical utility (EUM).

The paper compares its decisions with this method: Koyejo et al. (2014) and Narasimhan
et al. (2014) tune one threshold on labelled data and keep it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestcut._results import Plain
from bestcut._tables import check_order
from bestcut._thresholds import halfway
from bestcut._types import EPS
from bestcut._validation import (
    check_finite_real,
    check_labels,
    check_scores,
    check_weights,
)
from bestcut.metrics import Metric, get

# Values closer than this share of the largest count as equal, because metrics round.
_ROUNDING = 16 * EPS


@dataclass(frozen=True)
class EmpiricalThreshold(Plain):
    """The best threshold on labelled data.

    Attributes
    ----------
    threshold : float
        Instances with this score or a larger one are positive; inf if none should be.
    score : float
        The metric on the data that the threshold was tuned on. It is too optimistic
        for new data.
    n_positive : int
        How many of these instances are predicted positive.
    metric : Metric
        What was maximised (a loss: minimised).

    See Also
    --------
    bestcut.empirical_threshold : Finds it.
    bestcut.estimators.PluginThresholdClassifier : A classifier with such a threshold.

    Examples
    --------
    >>> import bestcut
    >>> best = bestcut.empirical_threshold([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], "recall")
    >>> best.threshold, best.score, best.n_positive
    (0.5, 1.0, 3)
    """

    threshold: float
    score: float
    n_positive: int
    metric: Metric


def empirical_threshold(
    y_true: Any,
    scores: Any,
    metric: str | Metric = "f1",
    *,
    sample_weight: Any = None,
    near: float = 0.5,
) -> EmpiricalThreshold:
    """Find the threshold with the best metric on labelled data.

    Compares every threshold that separates the scores differently, in O(n log n).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The labels, 0 and 1 or booleans.
    scores : array-like of shape (n,)
        Probabilities or other scores; larger means more positive.
    metric : str or Metric, default="f1"
        What to maximise; any metric, whether or not it satisfies the ranking
        principle. A loss is minimised.
    sample_weight : array-like of shape (n,), optional
        How often each instance counts in the confusion matrix.
    near : float, default=0.5
        Among thresholds that are equally good, the one nearest to this number is
        taken; 0 suits a decision function.

    Returns
    -------
    EmpiricalThreshold
        With ``threshold``, ``score`` and ``n_positive``.

    Raises
    ------
    ValueError
        If labels are not 0 and 1, a score is NaN, a weight is negative, or the arrays
        have different lengths.
    TypeError
        If an argument does not hold numbers.

    See Also
    --------
    bestcut.decide : Decides for a batch, and needs probabilities but no labels.
    bestcut.estimators.PluginThresholdClassifier : The same for a scikit-learn model.

    Notes
    -----
    A threshold takes all instances of a tie of scores or none of them. All thresholds
    between two scores do the same: `near` is taken if it is between them, and otherwise
    the number halfway.

    This is empirical utility maximisation [1]_, [2]_, which the paper compares its
    decisions with.

    References
    ----------
    .. [1] O. Koyejo, N. Natarajan, P. Ravikumar and I. S. Dhillon. Consistent binary
       classification with generalized performance metrics. *Advances in Neural
       Information Processing Systems* 27, 2014.
    .. [2] H. Narasimhan, R. Vaish and S. Agarwal. On the statistical consistency of
       plug-in classifiers for non-decomposable performance measures. *Advances in
       Neural Information Processing Systems* 27, 2014.

    Examples
    --------
    >>> import bestcut
    >>> best = bestcut.empirical_threshold([1, 1, 0, 0, 0], [0.9, 0.4, 0.3, 0.2, 0.2])
    >>> round(best.threshold, 3), best.n_positive, best.score
    (0.35, 2, 1.0)
    """
    chosen = get(metric)
    check_order(y_true=y_true, scores=scores, sample_weight=sample_weight)
    scores = check_scores(scores)
    truth = check_labels(y_true, scores.size, name="y_true", of="scores", beside=scores)
    weight = check_weights(sample_weight, scores.size)
    check_finite_real(near, name="near")
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    ends = np.flatnonzero(ranked[1:] != ranked[:-1]) + 1
    cuts = np.unique(np.concatenate([[0], ends, [scores.size]]))
    if np.isposinf(ranked[:1]).any():
        cuts = cuts[1:]  # no threshold is above an infinite score
    tp, fp = (
        np.concatenate([[0.0], np.cumsum((weight * kind)[order])])[cuts]
        for kind in (truth, ~truth)
    )
    # Differences from the last sum, so that an empty cell is exactly empty.
    score = chosen.score_cells(tp, fp, tp[-1] - tp, fp[-1] - fp)
    score = np.broadcast_to(score, tp.shape)
    utility = score if chosen.greater_is_better else -score
    noise = _ROUNDING * float(np.max(np.abs(utility)))
    # Not ">=": where there is nothing to score, a custom metric may be NaN.
    best = np.flatnonzero(~(utility < utility.max() - noise))
    padded = np.concatenate([[np.inf], ranked, [-np.inf]])
    thresholds = np.array(
        [threshold_between(padded[k + 1], padded[k], float(near)) for k in cuts[best]]
    )
    i = int(np.argmin(np.abs(thresholds / 2 - near / 2)))  # halves cannot overflow
    return EmpiricalThreshold(
        threshold=float(thresholds[i]),
        score=float(score[best[i]]),
        n_positive=int(cuts[best[i]]),
        metric=chosen,
    )


def threshold_between(low: float, high: float, near: float) -> float:
    """Return a threshold above `low` and at most `high`, for other data.

    It is `near` if that is in this range: beyond all scores of a sample, it is a better
    guess than the last of them. Otherwise it is the number halfway, as the threshold of
    a decision is; if one of the two is infinite, it is `high`.
    """
    return near if low < near <= high else float(halfway(low, high))
