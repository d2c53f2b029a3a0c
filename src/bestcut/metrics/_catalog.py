"""The metrics people are judged by, one definition each, and their names.

A rate whose class is empty is 0/0. Every metric then takes the value of `zero_division`
(0 by default) in the place of the undefined rate.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bestcut._errors import (
    average_in_a_name,
    beta_out_of_range,
    class_for_metric,
    no_metric,
    spelled_plainly,
    unknown_name,
    utility_of_rows,
)
from bestcut._validation import check_finite_real, check_rate, plain_number
from bestcut.metrics._base import (
    AffineMetric,
    Coefficients,
    FractionalLinearMetric,
    Metric,
    Trait,
    ratio,
)
from bestcut.metrics._expression import from_expression, is_formula
from bestcut.metrics._rows import RowUtility


class _Share(Metric):
    """A score from -1 to 1, unless `zero_division` stands for an undefined rate."""

    zero_division: float | Literal["drop"]

    @property
    def bound(self) -> float:
        """A number that no absolute score exceeds."""
        empty = self.zero_division
        return 1.0 if isinstance(empty, str) else 1.0 + 2.0 * abs(float(empty))


@dataclass(frozen=True)
class FBeta(_Share, FractionalLinearMetric):
    """F-beta: (1 + beta²) TP / ((1 + beta²) TP + beta² FN + FP).

    Parameters
    ----------
    beta : float or Fraction, default=1.0
        Weight of recall relative to precision; positive.
    zero_division : float, default=0.0
        Value when nothing is predicted positive and nothing is positive.

    Raises
    ------
    TypeError
        If `beta` or `zero_division` is not a real number.
    ValueError
        If `zero_division` is not finite, or `beta` is not between 1e-100 and 1e100.

    See Also
    --------
    bestcut.metrics.Jaccard : Intersection over union, which is F1 / (2 - F1).
    bestcut.metrics.Precision : The limit of small beta.
    bestcut.metrics.Recall : The limit of large beta.

    Notes
    -----
    It is the harmonic mean of precision and recall, in which recall has beta² times the
    weight of precision [1]_. F1, with beta = 1, is also the Dice coefficient of two
    sets [2]_; in counts it is ``2*tp / (2*tp + fp + fn)``.

    References
    ----------
    .. [1] C. J. van Rijsbergen. *Information Retrieval*, 2nd edition. Butterworths,
       1979.
    .. [2] L. R. Dice. Measures of the amount of ecologic association between species.
       *Ecology* 26(3), 297-302, 1945.

    Examples
    --------
    >>> from bestcut.metrics import FBeta
    >>> float(FBeta(beta=2)(tp=3, n_pred=6, n_pos=4, n=10))
    0.6818181818181818
    """

    beta: float = 1.0
    zero_division: float = 0.0

    def __post_init__(self) -> None:
        check_finite_real(self.beta, name="beta")
        check_finite_real(self.zero_division, name="zero_division")
        object.__setattr__(self, "beta", plain_number(self.beta))
        if not 1e-100 < self.beta < 1e100:  # so that its square is positive and finite
            raise beta_out_of_range(self.beta)

    @property
    def name(self) -> str:
        """``f1``, ``f2``, ``f0.5`` and so on, with the digits that tell betas apart."""
        return f"f{float(self.beta)!r}".removesuffix(".0")

    @property
    def label(self) -> str:
        """``F1``, ``F2``, ``F0.5`` and so on."""
        return "F" + self.name[1:]

    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""
        b2 = self.beta**2
        return (0, 1 + b2, 0, 0), (0, 0, 1, b2)


@dataclass(frozen=True)
class _NamedFractionalLinear(_Share, FractionalLinearMetric):
    """What the fractional-linear metrics without a parameter share."""

    zero_division: float = 0.0

    def __post_init__(self) -> None:
        check_finite_real(self.zero_division, name="zero_division")


@dataclass(frozen=True)
class Jaccard(_NamedFractionalLinear):
    """Jaccard index, intersection over union: TP / (TP + FP + FN).

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when nothing is predicted positive and nothing is positive.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.FBeta : F1, the Dice coefficient, is 2 J / (1 + J) of this index J.
    bestcut.metrics.Precision : The share of right labels among predicted positives.

    Notes
    -----
    In counts it is ``tp / (tp + fp + fn)``: the size of the intersection of predicted
    and actual positives, divided by the size of their union [1]_.

    References
    ----------
    .. [1] P. Jaccard. The distribution of the flora in the alpine zone. *New
       Phytologist* 11(2), 37-50, 1912.

    Examples
    --------
    >>> from bestcut.metrics import Jaccard
    >>> float(Jaccard()(tp=3, n_pred=4, n_pos=5, n=10))
    0.5
    """

    name = "jaccard"
    label = "Jaccard"

    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""
        return (0, 1, 0, 0), (0, -1, 1, 1)


@dataclass(frozen=True)
class Accuracy(_NamedFractionalLinear):
    """Share of right labels: (TP + TN) / n.

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when there are no instances at all.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.BalancedAccuracy : Gives both classes the same weight.
    bestcut.metrics.LinearUtility : Outcomes that are worth different amounts.

    Notes
    -----
    In counts it is ``(tp + tn) / n``. It is a mean over instances, so
    the best prediction is the threshold 1/2, whatever the batch.

    Examples
    --------
    >>> from bestcut.metrics import Accuracy
    >>> float(Accuracy()(tp=3, n_pred=4, n_pos=5, n=10))
    0.7
    """

    name = "accuracy"
    label = "Accuracy"

    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""
        return (1, 2, -1, -1), (1, 0, 0, 0)


@dataclass(frozen=True)
class Precision(_NamedFractionalLinear):
    """Precision, positive predictive value: TP / (TP + FP).

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when nothing is predicted positive.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.Recall : The share of actual positives that are found.
    bestcut.metrics.Markedness : Precision and its counterpart for negatives.
    bestcut.metrics.FBeta : A mean of precision and recall.

    Notes
    -----
    In counts it is ``tp / (tp + fp)``. If nothing else is asked for, the best
    prediction has only the most probable instance positive. Precision is more useful in
    a condition, as in ``bestcut.decide(p, "recall", at_least={"precision": 0.9})``.

    Examples
    --------
    >>> from bestcut.metrics import Precision
    >>> float(Precision()(tp=3, n_pred=4, n_pos=5, n=10))
    0.75
    """

    name = "precision"
    label = "Precision"

    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""
        return (0, 1, 0, 0), (0, 0, 1, 0)


@dataclass(frozen=True)
class Recall(_NamedFractionalLinear):
    """Recall, true positive rate, sensitivity: TP / (TP + FN).

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when nothing is positive.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.Precision : The share of predicted positives that are right.
    bestcut.metrics.Specificity : The same for negatives.
    bestcut.metrics.FBeta : A mean of precision and recall.

    Notes
    -----
    In counts it is ``tp / (tp + fn)``. If nothing else is asked for, it is best to
    predict everything positive. Recall is more useful with a budget or a condition, as
    in ``bestcut.decide(p, "recall", max_positives=100)``.

    Examples
    --------
    >>> from bestcut.metrics import Recall
    >>> float(Recall()(tp=3, n_pred=4, n_pos=5, n=10))
    0.6
    """

    name = "recall"
    label = "Recall"

    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""
        return (0, 1, 0, 0), (0, 0, 0, 1)


@dataclass(frozen=True)
class Specificity(_NamedFractionalLinear):
    """Specificity, true negative rate: TN / (TN + FP).

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when everything is positive.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.Recall : The same for positives.
    bestcut.metrics.BalancedAccuracy : The mean of specificity and recall.

    Notes
    -----
    In counts it is ``tn / (tn + fp)``. If nothing else is asked for, it is best to
    predict nothing positive.

    Examples
    --------
    >>> from bestcut.metrics import Specificity
    >>> float(Specificity()(tp=3, n_pred=4, n_pos=5, n=10))
    0.8
    """

    name = "specificity"
    label = "Specificity"

    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""
        return (1, 1, -1, -1), (1, 0, 0, -1)


@dataclass(frozen=True)
class FalsePositiveRate(_NamedFractionalLinear):
    """False positive rate, a loss: FP / (FP + TN).

    .. versionadded:: 0.3

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when everything is positive.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.Specificity : 1 minus it.
    bestcut.metrics.FalseNegativeRate : The same for positives.

    Notes
    -----
    In counts it is ``fp / (fp + tn)``. If nothing else is asked for, it is best to
    predict nothing positive. Use it in a condition, as in
    ``bestcut.decide(p, "recall", at_most={"false_positive_rate": 0.05})``.

    Examples
    --------
    >>> from bestcut.metrics import FalsePositiveRate
    >>> float(FalsePositiveRate()(tp=3, n_pred=4, n_pos=5, n=10))
    0.2
    """

    name = "false_positive_rate"
    label = "False positive rate"

    @property
    def greater_is_better(self) -> bool:
        """A loss: smaller is better."""
        return False

    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""
        return (0, -1, 1, 0), (1, 0, 0, -1)


@dataclass(frozen=True)
class FalseNegativeRate(_NamedFractionalLinear):
    """False negative rate, a loss: FN / (FN + TP).

    .. versionadded:: 0.3

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when nothing is positive.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.Recall : 1 minus it.
    bestcut.metrics.FalsePositiveRate : The same for negatives.

    Notes
    -----
    In counts it is ``fn / (fn + tp)``. If nothing else is asked for, it is best to
    predict everything positive.

    Examples
    --------
    >>> from bestcut.metrics import FalseNegativeRate
    >>> float(FalseNegativeRate()(tp=3, n_pred=4, n_pos=5, n=10))
    0.4
    """

    name = "false_negative_rate"
    label = "False negative rate"

    @property
    def greater_is_better(self) -> bool:
        """A loss: smaller is better."""
        return False

    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""
        return (0, -1, 0, 1), (0, 0, 0, 1)


@dataclass(frozen=True)
class NegativePredictiveValue(_NamedFractionalLinear):
    """Negative predictive value: TN / (TN + FN).

    .. versionadded:: 0.3

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when everything is predicted positive.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.Precision : The same for predicted positives.
    bestcut.metrics.Markedness : The sum of both, less 1.

    Notes
    -----
    In counts it is ``tn / (tn + fn)``.

    Examples
    --------
    >>> from bestcut.metrics import NegativePredictiveValue
    >>> float(NegativePredictiveValue()(tp=3, n_pred=4, n_pos=5, n=10))
    0.6666666666666666
    """

    name = "negative_predictive_value"
    label = "Negative predictive value"

    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""
        return (1, 1, -1, -1), (1, 0, -1, 0)


def _of_classes(
    metric: AffineMetric,
    tp: Any,
    fp: Any,
    fn: Any,
    tn: Any,
    combine: Callable[[Any, Any], Any],
) -> Any:
    """Return a sum of the rates of both classes, with a substitute for empty ones."""
    positives, negatives = tp + fn, tn + fp

    def undefined() -> Any:
        return metric.undefined(tp + fp, positives, positives + negatives)

    if np.all(positives) and np.all(negatives):
        return combine(tp / positives, tn / negatives)
    empty = (positives == 0) | (negatives == 0)
    rates = (
        cell / np.where(empty, 1.0, size)
        for cell, size in ((tp, positives), (tn, negatives))
    )
    return np.where(empty, undefined(), combine(*rates))


@dataclass(frozen=True)
class BalancedAccuracy(_Share, AffineMetric):
    """Balanced accuracy, the paper's AM: (TPR + TNR) / 2.

    Parameters
    ----------
    zero_division : float or "drop", default=0.0
        What stands for the rate of a class that does not occur. ``"drop"`` leaves it
        out of the mean, as scikit-learn's ``balanced_accuracy_score`` does.

    Raises
    ------
    TypeError
        If `zero_division` is neither a real number nor ``"drop"``.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.Informedness : The same on a scale from -1 to 1.
    bestcut.metrics.GMean : The geometric mean of the same two rates.
    bestcut.metrics.Accuracy : Gives every instance the same weight.

    Notes
    -----
    In counts it is ``(tp / (tp + fn) + tn / (tn + fp)) / 2``. The paper's Table 1 calls
    it AM, the arithmetic mean of the two rates [1]_.

    References
    ----------
    .. [1] N. Natarajan, O. Koyejo, P. Ravikumar and I. S. Dhillon. Optimal
       decision-theoretic classification using non-decomposable performance metrics.
       arXiv:1505.01802, 2015.

    Examples
    --------
    >>> from bestcut.metrics import BalancedAccuracy
    >>> float(BalancedAccuracy()(tp=3, n_pred=4, n_pos=5, n=10))
    0.7
    >>> float(BalancedAccuracy(zero_division="drop")(tp=0, n_pred=4, n_pos=0, n=10))
    0.6
    """

    zero_division: float | Literal["drop"] = 0.0

    name = "balanced_accuracy"
    label = "Balanced accuracy"
    separable = True
    structure = frozenset({Trait.CONCAVE, Trait.CONVEX_SLOPE})

    def __post_init__(self) -> None:
        if self.zero_division != "drop":
            check_finite_real(self.zero_division, name="zero_division")

    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta."""
        n_neg = n - n_pos
        return n, n_pos * (n_neg - n_pred), 2 * n_pos * n_neg

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells."""
        return _of_classes(self, tp, fp, fn, tn, lambda tpr, tnr: (tpr + tnr) / 2)

    def undefined(self, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Return the value when a class does not occur."""
        # The rate that can be computed is that of the class that does occur.
        rate = np.where(n_pos == 0, ratio(n - n_pred, n, 0.0), ratio(n_pred, n, 0.0))
        if self.zero_division == "drop":
            return rate
        empty = self.zero_division * np.where(np.equal(n, 0), 1.0, 0.5)
        return 0.5 * rate + empty


@dataclass(frozen=True)
class _DegenerateAffine(_Share, AffineMetric):
    """What the affine metrics with one value for every undefined case share."""

    zero_division: float = 0.0

    def __post_init__(self) -> None:
        check_finite_real(self.zero_division, name="zero_division")

    def undefined(self, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Return the value where delta is 0."""
        return self.zero_division


@dataclass(frozen=True)
class FowlkesMallows(_DegenerateAffine):
    """Fowlkes-Mallows index, the paper's G-TP/PR: sqrt(TPR * precision).

    Not scikit-learn's ``fowlkes_mallows_score``, which compares clusterings.

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when nothing is predicted positive and nothing is positive. If only one
        of the two is empty, the other rate is 0, and so is the index.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.FBeta : The harmonic mean of the same two rates.
    bestcut.metrics.GMean : The geometric mean of recall and specificity.

    Notes
    -----
    In counts it is ``tp / sqrt((tp + fp)*(tp + fn))``. Fowlkes and Mallows compare two
    clusterings by it, counting pairs of objects [1]_; here instances are counted.

    References
    ----------
    .. [1] E. B. Fowlkes and C. L. Mallows. A method for comparing two hierarchical
       clusterings. *Journal of the American Statistical Association* 78(383), 553-569,
       1983.

    Examples
    --------
    >>> from bestcut.metrics import FowlkesMallows
    >>> float(FowlkesMallows()(tp=3, n_pred=4, n_pos=9, n=10))
    0.5
    """

    name = "fowlkes_mallows"
    label = "Fowlkes-Mallows"
    separable = True
    structure = frozenset({Trait.CONVEX_SLOPE})

    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta."""
        return 1.0, 0.0, np.sqrt(n_pred * n_pos)

    def undefined(self, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Return the value when there are no predicted or no actual positives."""
        both = np.equal(n_pred, 0) & np.equal(n_pos, 0)
        return np.where(both, self.zero_division, 0.0)


@dataclass(frozen=True)
class MCC(_DegenerateAffine):
    """Matthews correlation coefficient, phi coefficient.

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when predictions or labels are all alike.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.CohenKappa : Another comparison with what chance would give.
    bestcut.metrics.Informedness : MCC is the geometric mean of it and of markedness.
    bestcut.metrics.Markedness : MCC is the geometric mean of it and of informedness.

    Notes
    -----
    It is the correlation of predictions and labels [1]_. In counts it is
    ``(tp*tn - fp*fn) / sqrt((tp + fp)*(tp + fn)*(tn + fp)*(tn + fn))``.

    References
    ----------
    .. [1] B. W. Matthews. Comparison of the predicted and observed secondary structure
       of T4 phage lysozyme. *Biochimica et Biophysica Acta* 405(2), 442-451, 1975.

    Examples
    --------
    >>> from bestcut.metrics import MCC
    >>> float(MCC()(tp=4, n_pred=5, n_pos=5, n=10))
    0.6
    """

    name = "mcc"
    label = "MCC"
    separable = True
    structure = frozenset({Trait.CONVEX_SLOPE})

    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta."""
        delta = np.sqrt(n_pred * (n - n_pred) * (n_pos * (n - n_pos)))
        return n, -n_pred * n_pos, delta

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells."""
        delta = np.sqrt((tp + fp) * (tn + fn) * ((tp + fn) * (tn + fp)))
        return ratio(tp * tn - fp * fn, delta, self.zero_division)


@dataclass(frozen=True)
class CohenKappa(_DegenerateAffine):
    """Cohen's kappa: agreement beyond what the two margins give by chance.

    Parameters
    ----------
    zero_division : float, default=0.0
        Value when all predictions and all labels are of the same class.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.MCC : The correlation of predictions and labels.
    bestcut.metrics.Accuracy : The agreement, without a correction for chance.

    Notes
    -----
    In counts it is ``2*(tp*tn - fp*fn) / ((tp + fp)*(tn + fp) + (tp + fn)*(tn + fn))``,
    which is Cohen's (accuracy - chance) / (1 - chance) for two classes [1]_.

    References
    ----------
    .. [1] J. Cohen. A coefficient of agreement for nominal scales. *Educational and
       Psychological Measurement* 20(1), 37-46, 1960.

    Examples
    --------
    >>> from bestcut.metrics import CohenKappa
    >>> float(CohenKappa()(tp=4, n_pred=5, n_pos=5, n=10))
    0.6
    """

    name = "cohen_kappa"
    label = "Cohen's kappa"
    structure = frozenset({Trait.CONVEX_SLOPE})

    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta."""
        chance = n_pred * (n - n_pos) + n_pos * (n - n_pred)
        return 2.0 * n, -2.0 * n_pred * n_pos, chance

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells."""
        chance = (tp + fp) * (tn + fp) + (tp + fn) * (tn + fn)
        return ratio(2.0 * (tp * tn - fp * fn), chance, self.zero_division)


@dataclass(frozen=True)
class Informedness(_Share, AffineMetric):
    """Informedness, Youden's J: TPR + TNR - 1.

    Parameters
    ----------
    zero_division : float, default=0.0
        What stands for the rate of a class that does not occur.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.BalancedAccuracy : The same on a scale from 0 to 1.
    bestcut.metrics.Markedness : The same with predictions and labels exchanged.
    bestcut.metrics.MCC : The geometric mean of informedness and markedness.

    Notes
    -----
    In counts it is ``tp / (tp + fn) + tn / (tn + fp) - 1``. It is due to Youden [1]_;
    the name is from Powers [2]_.

    References
    ----------
    .. [1] W. J. Youden. Index for rating diagnostic tests. *Cancer* 3(1), 32-35, 1950.
    .. [2] D. M. W. Powers. Evaluation: from precision, recall and F-measure to ROC,
       informedness, markedness and correlation. *Journal of Machine Learning
       Technologies* 2(1), 37-63, 2011.

    Examples
    --------
    >>> from bestcut.metrics import Informedness
    >>> round(float(Informedness()(tp=3, n_pred=4, n_pos=5, n=10)), 12)
    0.4
    """

    zero_division: float = 0.0

    name = "informedness"
    label = "Informedness"
    separable = True
    structure = frozenset({Trait.CONCAVE, Trait.CONVEX_SLOPE})

    def __post_init__(self) -> None:
        check_finite_real(self.zero_division, name="zero_division")

    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta."""
        return n, -n_pred * n_pos, n_pos * (n - n_pos)

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells."""
        return _of_classes(self, tp, fp, fn, tn, lambda tpr, tnr: tpr + tnr - 1)

    def undefined(self, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Return the value when a class does not occur."""
        return 2 * BalancedAccuracy(self.zero_division).undefined(n_pred, n_pos, n) - 1


@dataclass(frozen=True)
class Markedness(_Share, AffineMetric):
    """Markedness: precision + negative predictive value - 1.

    Parameters
    ----------
    zero_division : float, default=0.0
        What stands for the predictive value of a label that is never predicted.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.Informedness : The same with predictions and labels exchanged.
    bestcut.metrics.Precision : The first of its two terms.
    bestcut.metrics.MCC : The geometric mean of informedness and markedness.

    Notes
    -----
    In counts it is ``tp / (tp + fp) + tn / (tn + fn) - 1`` [1]_.

    References
    ----------
    .. [1] D. M. W. Powers. Evaluation: from precision, recall and F-measure to ROC,
       informedness, markedness and correlation. *Journal of Machine Learning
       Technologies* 2(1), 37-63, 2011.

    Examples
    --------
    >>> from bestcut.metrics import Markedness
    >>> round(float(Markedness()(tp=3, n_pred=4, n_pos=5, n=10)), 12)
    0.416666666667
    """

    zero_division: float = 0.0

    name = "markedness"
    label = "Markedness"
    separable = True
    structure = frozenset({Trait.CONVEX_SLOPE, Trait.LINEAR_AT_CUT})

    def __post_init__(self) -> None:
        check_finite_real(self.zero_division, name="zero_division")

    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta."""
        return n, -n_pred * n_pos, n_pred * (n - n_pred)

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells."""
        informedness = Informedness(self.zero_division)
        return informedness.score_cells(tp, fn, fp, tn)

    def undefined(self, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Return the value when only one label is predicted."""
        # Informedness with the roles of prediction and label exchanged.
        return Informedness(self.zero_division).undefined(n_pos, n_pred, n)


@dataclass(frozen=True)
class SquaredCountError(AffineMetric):
    """Squared error in counting (SEC), a loss: ((n_pred - n_pos) / n)².

    It does not depend on TP, so any prediction of the right size is as good as the
    top-k prediction.

    See Also
    --------
    bestcut.metrics.from_counts : A loss of your own, with ``greater_is_better=False``.
    bestcut.decide : Minimises a loss.

    Notes
    -----
    In counts it is ``((fp - fn) / n)**2``, and 0 if there are no instances. The paper
    mentions it as a metric that does not depend on TP [1]_.

    References
    ----------
    .. [1] N. Natarajan, O. Koyejo, P. Ravikumar and I. S. Dhillon. Optimal
       decision-theoretic classification using non-decomposable performance metrics.
       arXiv:1505.01802, 2015.

    Examples
    --------
    >>> from bestcut.metrics import SquaredCountError
    >>> float(SquaredCountError()(tp=3, n_pred=4, n_pos=9, n=10))
    0.25
    """

    name = "squared_count_error"
    label = "Squared count error"
    bound = 1.0
    structure = frozenset({Trait.CONCAVE})

    @property
    def greater_is_better(self) -> bool:
        """A loss: smaller is better."""
        return False

    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta."""
        return 0.0, (n_pred - n_pos) ** 2, 1.0 * n * n

    def undefined(self, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Return the value for no instances at all."""
        return 0.0


@dataclass(frozen=True)
class _RatesMetric(_Share, Metric):
    """What the means of TPR and TNR share."""

    zero_division: float = 0.0

    def __post_init__(self) -> None:
        check_rate(self.zero_division, name="zero_division")

    def score(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Evaluate without checks."""
        n_neg = n - n_pos
        tpr = ratio(tp, n_pos, self.zero_division)
        tnr = ratio(n - n_pred - n_pos + tp, n_neg, self.zero_division)
        return self.mean(tpr, tnr)

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells."""
        tpr = ratio(tp, tp + fn, self.zero_division)
        tnr = ratio(tn, tn + fp, self.zero_division)
        return self.mean(tpr, tnr)

    @property
    def traits(self) -> frozenset[Trait]:
        """The structure that solvers may rely on."""
        # The rates are linear in TP and `n_pred`, and their means are concave.
        return super().traits | {Trait.CONCAVE}

    def tangent(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return the score, and its slopes in `tp` and in `n_pred`."""
        n_neg = n - n_pos
        tpr = ratio(tp, n_pos, self.zero_division)
        tnr = ratio(n_neg - n_pred + tp, n_neg, self.zero_division)
        by_tpr, by_tnr = self.slopes(tpr, tnr)
        by_tpr, by_tnr = ratio(by_tpr, n_pos, 0.0), ratio(by_tnr, n_neg, 0.0)
        return self.mean(tpr, tnr), by_tpr + by_tnr, -by_tnr

    def mean(self, tpr: Any, tnr: Any) -> Any:
        """Return the mean of the two rates."""
        raise NotImplementedError

    def slopes(self, tpr: Any, tnr: Any) -> tuple[Any, Any]:
        """Return the slopes of the mean in both rates; finite ones."""
        raise NotImplementedError


@dataclass(frozen=True)
class GMean(_RatesMetric):
    """Geometric mean of the rates: sqrt(TPR * TNR).

    Parameters
    ----------
    zero_division : float, default=0.0
        What stands for the rate of a class that does not occur.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is not from 0 to 1.

    See Also
    --------
    bestcut.metrics.BalancedAccuracy : The arithmetic mean of the same two rates.
    bestcut.metrics.HMean : The harmonic mean of the same two rates.
    bestcut.metrics.FowlkesMallows : The geometric mean of recall and precision.

    Notes
    -----
    In counts it is ``sqrt(tp / (tp + fn) * tn / (tn + fp))``; see the paper's Table 1
    [1]_.

    References
    ----------
    .. [1] N. Natarajan, O. Koyejo, P. Ravikumar and I. S. Dhillon. Optimal
       decision-theoretic classification using non-decomposable performance metrics.
       arXiv:1505.01802, 2015.

    Examples
    --------
    >>> from bestcut.metrics import GMean
    >>> round(float(GMean()(tp=4, n_pred=4, n_pos=5, n=10)), 12)
    0.894427191
    """

    name = "gmean"
    label = "G-mean"

    def mean(self, tpr: Any, tnr: Any) -> Any:
        """Return the geometric mean."""
        return np.sqrt(tpr * tnr)

    def slopes(self, tpr: Any, tnr: Any) -> tuple[Any, Any]:
        """Return the slopes in both rates."""
        mean = self.mean(tpr, tnr)
        return ratio(tnr, 2 * mean, 0.0), ratio(tpr, 2 * mean, 0.0)


@dataclass(frozen=True)
class HMean(_RatesMetric):
    """Harmonic mean of the rates: 2 / (1/TPR + 1/TNR), 0 when either is 0.

    Parameters
    ----------
    zero_division : float, default=0.0
        What stands for the rate of a class that does not occur.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is not from 0 to 1.

    See Also
    --------
    bestcut.metrics.GMean : The geometric mean of the same two rates.
    bestcut.metrics.QMean : The quadratic mean of the two error rates.
    bestcut.metrics.FBeta : The harmonic mean of recall and precision.

    Notes
    -----
    In counts it is ``2*tp*tn / (tp*(tn + fp) + tn*(tp + fn))``; see the paper's Table 1
    [1]_.

    References
    ----------
    .. [1] N. Natarajan, O. Koyejo, P. Ravikumar and I. S. Dhillon. Optimal
       decision-theoretic classification using non-decomposable performance metrics.
       arXiv:1505.01802, 2015.

    Examples
    --------
    >>> from bestcut.metrics import HMean
    >>> float(HMean()(tp=5, n_pred=8, n_pos=5, n=11))
    0.6666666666666666
    """

    name = "hmean"
    label = "H-mean"

    def mean(self, tpr: Any, tnr: Any) -> Any:
        """Return the harmonic mean."""
        return ratio(2 * tpr * tnr, tpr + tnr, 0.0)

    def slopes(self, tpr: Any, tnr: Any) -> tuple[Any, Any]:
        """Return the slopes in both rates."""
        both = tpr + tnr
        return 2 * ratio(tnr, both, 0.0) ** 2, 2 * ratio(tpr, both, 0.0) ** 2


@dataclass(frozen=True)
class QMean(_RatesMetric):
    """Q-mean: one minus the mean square of the two error rates.

    The paper has ``1 - ((1 - TPR)² + (1 - TNR)²) / 2``; the literature takes the square
    root of the fraction. Their names here are ``qmean`` and ``qmean_sqrt``.

    Parameters
    ----------
    zero_division : float, default=0.0
        What stands for the rate of a class that does not occur.
    square_root : bool, default=False
        Whether to take the literature's form.

    Raises
    ------
    TypeError
        If `zero_division` is not a real number.
    ValueError
        If `zero_division` is not from 0 to 1.

    See Also
    --------
    bestcut.metrics.BalancedAccuracy : The arithmetic mean of the same two rates.
    bestcut.metrics.GMean : The geometric mean of the same two rates.

    Notes
    -----
    In counts it is ``1 - ((fn / (tp + fn))**2 + (fp / (tn + fp))**2) / 2``, as in the
    paper's Table 1 [1]_.

    References
    ----------
    .. [1] N. Natarajan, O. Koyejo, P. Ravikumar and I. S. Dhillon. Optimal
       decision-theoretic classification using non-decomposable performance metrics.
       arXiv:1505.01802, 2015.

    Examples
    --------
    >>> from bestcut.metrics import QMean
    >>> float(QMean()(tp=5, n_pred=10, n_pos=5, n=10))
    0.5
    >>> round(float(QMean(square_root=True)(tp=5, n_pred=10, n_pos=5, n=10)), 12)
    0.292893218813
    """

    square_root: bool = False

    @property
    def name(self) -> str:
        """``qmean`` or ``qmean_sqrt``."""
        return "qmean_sqrt" if self.square_root else "qmean"

    @property
    def label(self) -> str:
        """``Q-mean``, with a word on the root."""
        return "Q-mean (root)" if self.square_root else "Q-mean"

    def mean(self, tpr: Any, tnr: Any) -> Any:
        """Return 1 minus the (root of the) mean square of the error rates."""
        loss = 0.5 * ((1 - tpr) ** 2 + (1 - tnr) ** 2)
        return 1 - (np.sqrt(loss) if self.square_root else loss)

    def slopes(self, tpr: Any, tnr: Any) -> tuple[Any, Any]:
        """Return the slopes in both rates."""
        by = 1 - tpr, 1 - tnr
        if not self.square_root:
            return by
        root = 2 * np.sqrt(0.5 * (by[0] ** 2 + by[1] ** 2))
        return ratio(by[0], root, 0.0), ratio(by[1], root, 0.0)


_CATALOG: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        FBeta(),
        FBeta(beta=2.0),
        FBeta(beta=0.5),
        Jaccard(),
        BalancedAccuracy(),
        GMean(),
        HMean(),
        QMean(),
        QMean(square_root=True),
        FowlkesMallows(),
        MCC(),
        CohenKappa(),
        Accuracy(),
        Precision(),
        Recall(),
        Specificity(),
        FalsePositiveRate(),
        FalseNegativeRate(),
        NegativePredictiveValue(),
        Informedness(),
        Markedness(),
        SquaredCountError(),
    )
}
_ALIASES = {
    "dice": "f1",
    "fnr": "false_negative_rate",
    "fpr": "false_positive_rate",
    "npv": "negative_predictive_value",
    "ppv": "precision",
    "sensitivity": "recall",
    "tnr": "specificity",
    "tpr": "recall",
}
_NAMED = _CATALOG | {alias: _CATALOG[name] for alias, name in _ALIASES.items()}
_F_BETA = re.compile(r"f(\d+(\.\d+)?(e[+-]?\d+)?)", re.ASCII)

_AVERAGES = "macro|micro|samples|weighted"
_AVERAGED = re.compile(
    f"((?P<before>{_AVERAGES})_)?(?P<name>.+?)(_(?P<after>{_AVERAGES}))?"
)

# Names of these metrics elsewhere, which are used only to suggest the right name.
_HINTS = {
    "am": "balanced_accuracy",
    "f_1": "f1",
    "f1_score": "f1",
    "fall_out": "false_positive_rate",
    "fscore": "f1",
    "f_measure": "f1",
    "fbeta": "f1",
    "gtp/pr": "fowlkes_mallows",
    "g_tp/pr": "fowlkes_mallows",
    "fm": "fowlkes_mallows",
    "iou": "jaccard",
    "kappa": "cohen_kappa",
    "matthews_corrcoef": "mcc",
    "miss_rate": "false_negative_rate",
    "phi": "mcc",
    "sec": "squared_count_error",
    "youden": "informedness",
}


def names(*, aliases: bool = False) -> list[str]:
    """Return the names of the metrics; `get` also knows ``f`` with any other beta.

    Parameters
    ----------
    aliases : bool, default=False
        Whether second names are in the list, such as ``dice`` for ``f1`` and ``tpr``
        for ``recall``. Without them, every metric is listed once, by its own name.

    Returns
    -------
    list of str
        In alphabetical order.

    See Also
    --------
    bestcut.metrics.get : The metric of a name.
    bestcut.metrics.from_counts : A metric of your own.

    Examples
    --------
    >>> from bestcut.metrics import names
    >>> "f1" in names(), "dice" in names()
    (True, False)
    >>> "dice" in names(aliases=True)
    True
    """
    return sorted(_NAMED if aliases else _CATALOG)


def get(metric: str | Metric) -> Metric:
    """Return the metric of a name or a formula; a metric is returned as it is.

    Parameters
    ----------
    metric : str or Metric
        One of `names`; ``f`` and a beta, such as ``f1.7``; a formula of the counts, as
        `from_expression` reads it; or a metric.

    Returns
    -------
    Metric
        The metric, with its default `zero_division`.

    Raises
    ------
    ValueError
        If the name is not known; the message suggests similar names. For a text that
        looks like a formula and is none, an `ExpressionError`.
    TypeError
        If `metric` is neither a name nor a metric: a class, a callable, a
        `bestcut.RowUtility`.

    See Also
    --------
    bestcut.metrics.names : All names.
    bestcut.metrics.from_counts : A metric of your own.
    bestcut.check_metric : Check whether ranking and cutting is optimal for a metric.

    Examples
    --------
    >>> from bestcut.metrics import get
    >>> get("jaccard")
    Jaccard(zero_division=0.0)
    >>> get("f1.7")
    FBeta(beta=1.7, zero_division=0.0)
    >>> float(get("tp / (tp + fp + fn)")(tp=3, n_pred=4, n_pos=5, n=10))
    0.5
    """
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, RowUtility):
        raise utility_of_rows()
    if isinstance(metric, type) and issubclass(metric, Metric | RowUtility):
        raise class_for_metric(metric)
    if not isinstance(metric, str):
        raise no_metric(metric, _name_of(metric))
    if metric in _NAMED:
        return _NAMED[metric]
    if found := _F_BETA.fullmatch(metric):
        return FBeta(beta=float(found[1]))
    if spelled_plainly(metric) not in _HINTS and is_formula(metric):
        return from_expression(metric)
    if found := _AVERAGED.fullmatch(spelled_plainly(metric)):
        average, name = found["before"] or found["after"], found["name"]
        if average and (name in _NAMED or _F_BETA.fullmatch(name)):
            raise average_in_a_name(metric, name, average)
    error = unknown_name("metric", metric, _CATALOG, _ALIASES | _HINTS)
    raise error


def _name_of(function: Any) -> str | None:
    """Return the metric that a function computes, going by the function's name."""
    own = getattr(function, "__name__", "")
    for name in (own, own.removesuffix("_score")):
        if name in _NAMED:
            return _NAMED[name].name
        if name in _HINTS:
            return _HINTS[name]
    return None
