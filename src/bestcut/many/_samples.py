"""The best labels when labels depend on each other: from draws of the label vector.

For a metric affine in TP, f = TP g(k, S) + h(k, S), the expected score of labels s with
k positives is

    sum_i s_i E[y_i g(k, S)] + E[h(k, S)],

whatever the joint distribution of the labels. So for each k the k largest
E[y_i g(k, S)] are the best, and the best k is found by looking at all: the F-measure
maximiser of Dembczynski et al. (2011), for the whole family. No ranking by probability
is assumed.

References
----------
K. Dembczynski, W. Waegeman, W. Cheng and E. Hüllermeier (2011). An exact algorithm for
F-measure maximization. Advances in Neural Information Processing Systems 24.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import (
    check_bounds,
    check_label_matrix,
    check_labels,
    check_weights,
)
from bestcut.metrics import Affine, Metric, get, is_affine, names, ratio

_TOGETHER = 256  # cuts whose gains are kept at a time


@dataclass(frozen=True, repr=False, eq=False)
class SampledDecision:
    """The labels with the best mean score over draws of the label vector.

    Attributes
    ----------
    labels : ndarray of bool, shape (n,)
        The predictions.
    n_positive : int
        How many are positive.
    expected_score : float
        Mean metric of `labels` over the draws.
    metric : Metric
        What was maximised (a loss: minimised).

    See Also
    --------
    bestcut.decide_samples : Returns one.
    bestcut.Decision : The same from probabilities of independent labels.

    Examples
    --------
    >>> import bestcut
    >>> draws = [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    >>> bestcut.decide_samples(draws, "f1", max_positives=2)
    SampledDecision(f1: 1 of 3 positive, expected score 0.6)
    """

    labels: BoolArray
    n_positive: int
    expected_score: float
    metric: Metric

    def realised(self, y_true: Any, metric: str | Metric | None = None) -> float:
        """Return what `labels` scored, once it is known what they should have been.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            The true labels, 0 and 1 or booleans, in the order of the probabilities.
        metric : str or Metric, optional
            Another metric than the one the labels were chosen for.

        Returns
        -------
        float
            The score, of which `expected_score` was the expected value.

        Raises
        ------
        ValueError
            If there is not one label of 0 or 1 for each entry, or the metric is not
            known.

        Examples
        --------
        >>> import bestcut
        >>> draws = [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
        >>> bestcut.decide_samples(draws, "f1").realised([1, 1, 0])
        0.8
        """
        chosen = self.metric if metric is None else metric
        n = self.labels.size
        truth = check_labels(y_true, n, name="y_true", of="labels")
        return get(chosen).realised(truth, self.labels)

    def __repr__(self) -> str:
        return (
            f"SampledDecision({self.metric.name}: {self.n_positive} of "
            f"{self.labels.size} positive, expected score {self.expected_score:.6g})"
        )


def decide_samples(
    y_samples: Any,
    metric: str | Metric = "f1",
    *,
    sample_weight: Any = None,
    min_positives: int = 0,
    max_positives: int | None = None,
) -> SampledDecision:
    """Choose the labels with the best mean metric over draws of the label vector.

    Use it for labels that depend on each other, which probabilities alone cannot
    express. The draws may come from classifier chains, ensembles or Bayesian
    posteriors.

    Parameters
    ----------
    y_samples : array-like of shape (draws, n)
        Each row is one draw of all n labels, 0 and 1 or booleans.
    metric : str or Metric, default="f1"
        What to maximise. It must be affine in TP at given numbers of predicted and
        actual positives: F-beta, balanced accuracy, MCC, kappa and others, but not
        Jaccard or G-mean.
    sample_weight : array-like of shape (draws,), optional
        How much each draw counts.
    min_positives, max_positives : int, optional
        Bounds on the number of positives.

    Returns
    -------
    SampledDecision
        With ``labels``, ``n_positive`` and ``expected_score``.

    Raises
    ------
    SolverMismatchError
        If the metric is not affine in TP.
    ValueError
        If there are no draws, labels are not 0 and 1, or all weights are 0.

    See Also
    --------
    bestcut.decide : Independent labels, from their probabilities.
    bestcut.multilabel.decide : Label sets of many rows, from probabilities.

    Notes
    -----
    The result is the exact maximiser over all 2ⁿ label vectors, for the distribution
    given by the draws, in time O(n³ + draws n): the F-measure maximiser of Dembczynski
    et al. [1]_, for the whole family. If labels are independent, it approaches the
    result of `decide` as the number of draws grows.

    References
    ----------
    .. [1] K. Dembczynski, W. Waegeman, W. Cheng and E. Hüllermeier. An exact algorithm
       for F-measure maximization. *Advances in Neural Information Processing Systems*
       24, 2011.

    Examples
    --------
    >>> import bestcut
    >>> draws = [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    >>> bestcut.decide_samples(draws, "f1").labels.tolist()
    [True, True, True]
    """
    chosen = get(metric)
    affine = _affine(chosen)
    draws = check_label_matrix(y_samples, None, name="y_samples")
    count, n = draws.shape
    if count == 0:
        raise errors.no_draws()
    weight = check_weights(sample_weight, count)
    if weight.sum() <= 0:
        raise errors.no_weight()
    low, high = check_bounds(min_positives, max_positives, n, n_name="each draw")
    weight = weight / weight.sum()
    k, value = _best_size(draws, weight, affine, low, high)
    gains, _ = _gains(draws, weight, affine, np.array([k]))
    labels = np.zeros(n, dtype=np.bool_)
    sign = chosen.sign
    labels[np.argsort(-sign * gains[0], kind="stable")[:k]] = True
    return SampledDecision(labels, k, value, chosen)


def _affine(metric: Metric) -> Affine:
    """Return the metric, unless it is not affine in TP."""
    if is_affine(metric):
        return metric
    usable = [name for name in names() if is_affine(get(name))]
    raise errors.not_affine_in_tp(metric.name, usable)


def _best_size(
    draws: BoolArray, weight: FloatArray, metric: Affine, low: int, high: int
) -> tuple[int, float]:
    """Return the best number of positives and its mean score."""
    sign = metric.sign
    best, chosen = -np.inf, low
    for start in range(low, high + 1, _TOGETHER):
        sizes = np.arange(start, min(start + _TOGETHER, high + 1))
        gains, rest = _gains(draws, weight, metric, sizes)
        ranked = -np.sort(-sign * gains, axis=1)
        totals = np.concatenate(
            [np.zeros((sizes.size, 1)), np.cumsum(ranked, axis=1)], axis=1
        )
        values = totals[np.arange(sizes.size), sizes] + sign * rest
        i = int(np.argmax(values))
        if values[i] > best:
            best, chosen = float(values[i]), int(sizes[i])
    return chosen, sign * best


def _gains(
    draws: BoolArray, weight: FloatArray, metric: Affine, sizes: Any
) -> tuple[FloatArray, FloatArray]:
    """Return E[y_i g(k, S)] and E[h(k, S)] for some k."""
    n = draws.shape[1]
    total = np.count_nonzero(draws, axis=1)
    values, which = np.unique(total, return_inverse=True)
    # joint[s, i] = P(S = s, y_i = 1)
    order = np.argsort(which, kind="stable")
    starts = np.searchsorted(which[order], np.arange(values.size))
    joint = np.add.reduceat((draws * weight[:, None])[order], starts, axis=0)
    mass = np.bincount(which, weight)
    k, s = sizes[:, None].astype(np.float64), values.astype(np.float64)
    alpha, beta, delta = (
        np.broadcast_to(x, (sizes.size, values.size))
        for x in metric.affine(k, s, float(n))
    )
    slope = ratio(alpha, delta, 0.0)
    level = ratio(beta, delta, lambda: metric.undefined(k, s, float(n)))
    return slope @ joint, np.broadcast_to(level, slope.shape) @ mass
