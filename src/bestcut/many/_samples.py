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

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._results import Result, bounds_in_words, number
from bestcut._types import EPS, BoolArray, FloatArray
from bestcut._validation import (
    check_bounds,
    check_label_matrix,
    check_labels,
    check_weights,
)
from bestcut.metrics import Affine, Metric, get, is_affine, names, ratio
from bestcut.scores import (
    Atoms,
    Moments,
    ScoreDistribution,
    UtilityDistribution,
)
from bestcut.search import gap_in_words

_TOGETHER = 256  # cuts whose gains are kept at a time


class SampledScores:
    """The scores of one prediction over draws of the label vector.

    Attributes
    ----------
    draws : ndarray of bool, shape (draws, n)
        The draws, with a `weight` each; the weights sum to 1.
    labels : ndarray of bool, shape (n,)
        The prediction.
    """

    def __init__(self, draws: BoolArray, weight: FloatArray, labels: BoolArray) -> None:
        self.weight, self.n = weight, float(labels.size)
        self.n_pred = float(np.count_nonzero(labels))
        self.tp = np.count_nonzero(draws[:, labels], axis=1).astype(np.float64)
        self.n_pos = np.count_nonzero(draws, axis=1).astype(np.float64)

    def _values(self, metric: Metric) -> FloatArray:
        fp, fn = self.n_pred - self.tp, self.n_pos - self.tp
        score = metric.score_cells(self.tp, fp, fn, self.n - self.n_pred - fn)
        return np.asarray(np.broadcast_to(score, self.tp.shape), dtype=np.float64)

    def moments(self, metric: Metric) -> Moments:
        """Return mean and standard deviation, and a bound on the mean's error."""
        values = self._values(metric)
        mean = float(self.weight @ values)
        std = float(np.sqrt(self.weight @ (values - mean) ** 2))
        rounding = (2 * values.size + 16) * EPS
        return Moments(mean, std, rounding * float(np.abs(values).max()))

    def utility(self, metric: Metric) -> UtilityDistribution:
        """Return the distribution of the utility."""
        return Atoms(metric.sign * self._values(metric), self.weight, self.weight.size)

    def sample(self, metric: Metric, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw scores."""
        return rng.choice(self._values(metric), size=size, p=self.weight)


@dataclass(frozen=True, repr=False, eq=False)
class SampledDecision(Result):
    """The labels with the best mean score over draws of the label vector.

    Attributes
    ----------
    labels : ndarray of bool, shape (n,)
        The predictions. You may write to them; whatever else is said here stays about
        the labels as they were decided.
    n : int
        How many instances there are.
    n_positive : int
        How many are positive.
    expected_score : float
        Mean metric of `labels` over the draws.
    error : float
        Bound on the numerical error of ``expected_score``.
    gap, gap_scope : float, str
        A proved bound on what other predictions could gain beyond `error`, and which
        predictions these are: none gains anything, and the bound is for all of them.
    metric : Metric
        What was maximised (a loss: minimised).
    bounds : (int, int)
        The least and the largest number of positives that was allowed.

    See Also
    --------
    bestcut.decide_samples : Returns one.
    bestcut.Decision : The same from probabilities of independent labels.

    Examples
    --------
    >>> import bestcut
    >>> draws = [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    >>> decision = bestcut.decide_samples(draws, "f1", max_positives=2)
    >>> decision  # doctest: +ELLIPSIS
    SampledDecision(f1: 1 of 3 positive (at most 2), expected score 0.6 [error ...])
    >>> round(decision.distribution("recall").prob_at_least(1.0), 3)
    0.6
    """

    labels: BoolArray
    n: int
    n_positive: int
    expected_score: float
    error: float
    gap: float
    gap_scope: str
    metric: Metric
    bounds: tuple[int, int]
    _decided: BoolArray = field(repr=False)
    _source: SampledScores = field(repr=False)

    def distribution(self, metric: str | Metric | None = None) -> ScoreDistribution:
        """Return the distribution of the score over the draws.

        .. versionadded:: 0.3

        Parameters
        ----------
        metric : str or Metric, optional
            Another metric than the one the labels were chosen for.

        Returns
        -------
        ScoreDistribution
            With ``mean``, ``std``, ``ppf``, ``interval``, ``prob_at_least``.

        Raises
        ------
        ValueError
            If the metric is not known.
        """
        chosen = self.metric if metric is None else get(metric)
        return ScoreDistribution(self._source, chosen)

    def _plain(self) -> dict[str, Any]:
        return super()._plain() | {"labels": self._decided}

    def _facts(self) -> list[tuple[str, str]]:
        low, high = self.distribution().interval(0.9)
        expected = (
            f"{number(self.expected_score, 6)}, "
            f"90% between {number(low, 4)} and {number(high, 4)}"
        )
        bounds = bounds_in_words(*self.bounds, self.n)
        return [
            ("expected score", expected),
            ("metric", self.metric.name),
            ("positive", f"{self.n_positive} of {self.n}{bounds and f' ({bounds})'}"),
            ("numerical error", f"{self.error:.1e}"),
            ("gap", gap_in_words(self.gap, self.gap_scope).removeprefix("gap ")),
        ]

    def realised(self, y_true: Any, metric: str | Metric | None = None) -> float:
        """Return what the labels as decided scored, once the true ones are known.

        .. versionadded:: 0.3

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
        truth = check_labels(y_true, self.n, name="y_true", of="labels")
        return get(chosen).realised(truth, self._decided)

    def __repr__(self) -> str:
        bounds = bounds_in_words(*self.bounds, self.n)
        return (
            f"SampledDecision({self.metric.name}: {self.n_positive} of {self.n} "
            f"positive{bounds and f' ({bounds})'}, expected score "
            f"{self.expected_score:.6g} [error {self.error:.1e}, "
            f"{gap_in_words(self.gap, self.gap_scope)}])"
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
        raise errors.bad_value("y_samples", "must hold at least one draw", got="none")
    weight = check_weights(sample_weight, count)
    if weight.sum() <= 0:
        raise errors.bad_value("sample_weight", "must not be 0 for every draw; it is")
    low, high = check_bounds(min_positives, max_positives, n, n_name="each draw")
    weight = weight / weight.sum()
    k, value, error = _best_size(draws, weight, affine, low, high)
    gains, _, _ = _gains(draws, weight, affine, np.array([k]))
    labels = np.zeros(n, dtype=np.bool_)
    sign = chosen.sign
    labels[np.argsort(-sign * gains[0], kind="stable")[:k]] = True
    return SampledDecision(
        labels=labels.copy(),
        n=n,
        n_positive=k,
        expected_score=value,
        error=error,
        gap=0.0,  # every number of positives was looked at, and `error` is for each
        gap_scope="predictions",
        metric=chosen,
        bounds=(low, high),
        _decided=labels,
        _source=SampledScores(draws, weight, labels),
    )


def _affine(metric: Metric) -> Affine:
    """Return the metric, unless it is not affine in TP."""
    if is_affine(metric):
        return metric
    usable = [name for name in names() if is_affine(get(name))]
    raise errors.not_affine_in_tp(metric.name, usable)


def _best_size(
    draws: BoolArray, weight: FloatArray, metric: Affine, low: int, high: int
) -> tuple[int, float, float]:
    """Return the best number of positives, its mean score, and an error.

    The error holds for the best prediction of each size. A mean score is a sum over
    draws, totals and instances of products with weights, which sums of m, n + 1 and n
    terms round by (m + 2 n) eps of the sum of their absolute values; the weights are
    divided by a sum of m terms.
    """
    sign = metric.sign
    best, chosen, scale = -np.inf, low, 0.0
    for start in range(low, high + 1, _TOGETHER):
        sizes = np.arange(start, min(start + _TOGETHER, high + 1))
        gains, rest, size = _gains(draws, weight, metric, sizes)
        scale = max(scale, float(size.max()))
        ranked = -np.sort(-sign * gains, axis=1)
        totals = np.concatenate(
            [np.zeros((sizes.size, 1)), np.cumsum(ranked, axis=1)], axis=1
        )
        values = totals[np.arange(sizes.size), sizes] + sign * rest
        i = int(np.argmax(values))
        if values[i] > best:
            best, chosen = float(values[i]), int(sizes[i])
    m, n = draws.shape
    return chosen, sign * best, (2 * m + 2 * n + 16) * EPS * scale


def _gains(
    draws: BoolArray, weight: FloatArray, metric: Affine, sizes: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return E[y_i g(k, S)], E[h(k, S)] and E[S |g| + |h|] for some k."""
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
    level = np.broadcast_to(level, slope.shape)
    size = np.abs(slope) @ (s * mass) + np.abs(level) @ mass
    return slope @ joint, level @ mass, size
