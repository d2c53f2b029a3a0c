"""What a metric is: a function of the confusion matrix, with declared structure.

The paper writes one metric in three ways, all found here: Psi(C) on the confusion
matrix, Phi(u, v, p) on TP, predicted and actual positive rates, and
Gamma(TPR, TNR, p). The code's own coordinates are the four counts
``(tp, n_pred, n_pos, n)``: integers, so that 0/0 is decided by exact comparison.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np

from bestcut import _errors as errors
from bestcut._errors import denominator_with_tp
from bestcut._types import EPS, FloatArray
from bestcut._validation import check_counts, check_outcomes, check_real_array

Coefficients = tuple[float, float, float, float]


class Confusion(NamedTuple):
    """A confusion matrix by its four cells."""

    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray


def confusion_from_counts(tp: Any, n_pred: Any, n_pos: Any, n: Any) -> Confusion:
    """Return the four cells for ``(tp, n_pred, n_pos, n)``."""
    return Confusion(tp, n_pred - tp, n_pos - tp, n - n_pred - n_pos + tp)


def counts_from_confusion(tp: Any, fp: Any, fn: Any, tn: Any) -> tuple[Any, ...]:
    """Return ``(tp, n_pred, n_pos, n)`` for the four cells."""
    return tp, tp + fp, tp + fn, tp + fp + fn + tn


def uvp_from_counts(tp: Any, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, ...]:
    """Return the paper's (u, v, p): the counts as shares of n."""
    return ratio(tp, n, 0.0), ratio(n_pred, n, 0.0), ratio(n_pos, n, 0.0)


def counts_from_uvp(u: Any, v: Any, p: Any, n: Any) -> tuple[Any, ...]:
    """Return ``(tp, n_pred, n_pos, n)`` for shares of n."""
    return _whole(u * n), _whole(v * n), _whole(p * n), n


def rates_from_counts(
    tp: Any, n_pred: Any, n_pos: Any, n: Any, undefined: Any = np.nan
) -> tuple[Any, ...]:
    """Return (TPR, TNR, p); a rate over an empty class is `undefined`."""
    tn = n - n_pred - n_pos + tp
    return (
        ratio(tp, n_pos, undefined),
        ratio(tn, n - n_pos, undefined),
        ratio(n_pos, n, 0.0),
    )


def counts_from_rates(tpr: Any, tnr: Any, p: Any, n: Any) -> tuple[Any, ...]:
    """Return ``(tp, n_pred, n_pos, n)``; the rate of an empty class is not read."""
    n_pos = _whole(p * n)
    tp = np.where(n_pos == 0, 0.0, _whole(tpr * n_pos))
    tn = np.where(n_pos == n, 0.0, _whole(tnr * (n - n_pos)))
    return tp, tp + (n - n_pos - tn), n_pos, n


def _whole(x: Any) -> Any:
    """Undo the rounding of a count that went through a division by n.

    ``(c / n) * n`` is within one unit in the last place of each operation of c.
    """
    nearest = np.rint(x)
    close = np.abs(x - nearest) <= 4 * EPS * np.maximum(nearest, 1)
    return np.where(close, nearest, x)


def ratio(numerator: Any, denominator: Any, undefined: Any) -> Any:
    """Divide, with `undefined` in place of every division by 0.

    `undefined` may be a function of no arguments, which is called only if it is needed,
    so the common case costs only one check.
    """
    if np.all(denominator):
        return numerator / denominator
    zero = denominator == 0
    value = undefined() if callable(undefined) else undefined
    return np.where(zero, value, numerator / np.where(zero, 1.0, denominator))


def _real_arrays(**values: Any) -> list[FloatArray]:
    return [check_real_array(value, name=name) for name, value in values.items()]


class Trait(Enum):
    """What a metric declares about its structure, and a solver may require.

    The value is its name in messages.

    Attributes
    ----------
    LINEAR
        A weighted sum of the four cells.
    LINEAR_AT_CUT
        A weighted sum of the four cells once the number of predicted positives is
        given, as precision is: its expected scores need only mean probabilities.
    AFFINE
        Affine in TP once the numbers of predicted and of actual positives are given.
    SEPARABLE
        Affine: (alpha TP + beta) / delta, in which delta is a function of ``n_pred``
        times one of ``n_pos``, alpha does not depend on ``n_pred``, and beta is linear
        in it.
    FACTORISED
        Affine in TP once the numbers of predicted positives and of FN are given.
    CONCAVE
        The utility is concave in TP and ``n_pred`` together once the number of actual
        positives is given: a tangent plane is nowhere below it. Such a metric has a
        method ``tangent``.
    CONVEX_SLOPE
        Affine, and for each number of actual positives, between no and all predicted
        positives, the slope in TP is nowhere negative and convex in ``n_pred``, and the
        utility at TP = 0 is convex or concave in ``n_pred`` below n/4 and above.
    COVERAGE
        1 if TP is at least 1, otherwise 0.
    FRACTIONAL_LINEAR
        A ratio of linear functions of (u, v, p), with coefficients c and d.
    WITHOUT_C3
        Fractional-linear, and the numerator does not depend on the actual positives.
    RATIONAL_D
        Fractional-linear, and d has a small common denominator.
    ONE_SIGN
        Fractional-linear, and the denominator does not change its sign.

    See Also
    --------
    bestcut.metrics.Metric : Declares these, as ``traits``.
    bestcut.check_metric : Check what is not declared.

    Examples
    --------
    >>> from bestcut.metrics import Jaccard, Trait
    >>> Trait.FRACTIONAL_LINEAR in Jaccard().traits
    True
    """

    LINEAR = "linear"
    LINEAR_AT_CUT = "linear at a cut"
    AFFINE = "affine"
    SEPARABLE = "separable"
    FACTORISED = "factorised"
    CONCAVE = "concave"
    CONVEX_SLOPE = "convex slope"
    COVERAGE = "coverage"
    FRACTIONAL_LINEAR = "fractional_linear"
    WITHOUT_C3 = "c3 = 0"
    RATIONAL_D = "rational d"
    ONE_SIGN = "denominator of one sign"


class Metric(ABC):
    """A performance metric: a function of the confusion matrix.

    Call it with ``(tp, n_pred, n_pos, n)``: the numbers of true positives, of predicted
    positives, of actual positives and of instances. `psi`, `phi` and `gamma` take the
    paper's three forms instead.

    Attributes
    ----------
    name : str
        The name of the metric in messages; metrics of the catalogue are looked up by
        it.
    label : str
        The name of the metric in sentences and on axes.
    greater_is_better : bool
        False for a loss, which `bestcut.decide` minimises.
    sign : float
        1 for a score, -1 for a loss.
    bound : float or None
        A number that no absolute score exceeds, or None if none is known.
    traits : frozenset of Trait
        The structure that solvers may rely on.

    See Also
    --------
    bestcut.metrics.get : A metric of the catalogue, by its name.
    bestcut.metrics.from_counts : A metric from a callable.
    bestcut.check_metric : Check whether ranking and cutting is optimal for a metric.

    Notes
    -----
    The paper writes one metric in three ways [1]_: Psi(C) on the confusion matrix,
    Phi(u, v, p) on shares of all instances, and Gamma(TPR, TNR, p) on rates.

    References
    ----------
    .. [1] N. Natarajan, O. Koyejo, P. Ravikumar and I. S. Dhillon. Optimal
       decision-theoretic classification using non-decomposable performance metrics.
       arXiv:1505.01802, 2015.

    Examples
    --------
    >>> from bestcut.metrics import FBeta
    >>> float(FBeta()(tp=3, n_pred=4, n_pos=5, n=10))
    0.6666666666666666
    >>> FBeta()(tp=[0, 1, 3], n_pred=4, n_pos=5, n=10).round(2)
    array([0.  , 0.22, 0.67])
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the metric."""

    @property
    def label(self) -> str:
        """The name of the metric in sentences and on axes."""
        return self.name

    @property
    def greater_is_better(self) -> bool:
        """Whether a larger value is a better one."""
        return True

    @property
    def sign(self) -> float:
        """1 for a score, -1 for a loss: the sign that turns scores into utilities."""
        return 1.0 if self.greater_is_better else -1.0

    @property
    def bound(self) -> float | None:
        """A number that no absolute score exceeds, or None if none is known."""
        return None

    @property
    def traits(self) -> frozenset[Trait]:
        """The structure that solvers may rely on."""
        return frozenset()

    @abstractmethod
    def score(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Evaluate without checks; the solvers call this.

        Parameters
        ----------
        tp, n_pred, n_pos, n : float or ndarray
            Counts that can occur, as for calling the metric.

        Returns
        -------
        float or ndarray
            The score, in the shape of the counts or in a shape that broadcasts to it.
        """

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells.

        If the cells are whole numbers and the counts are not, only this method sees
        that an empty class is empty.

        Parameters
        ----------
        tp, fp, fn, tn : float or ndarray
            The four cells.

        Returns
        -------
        float or ndarray
            The score, in the shape of the cells or in a shape that broadcasts to it.
        """
        return self.score(*counts_from_confusion(tp, fp, fn, tn))

    def utility(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> FloatArray:
        """Evaluate so that larger is better, in the shape of the counts.

        Parameters
        ----------
        tp, n_pred, n_pos, n : float or ndarray
            Counts that can occur, as for calling the metric.

        Returns
        -------
        ndarray
            The score; for a loss, the score with a minus.
        """
        score = np.broadcast_to(
            self.score(tp, n_pred, n_pos, n),
            np.broadcast_shapes(*map(np.shape, (tp, n_pred, n_pos, n))),
        )
        return score if self.greater_is_better else -score

    @property
    def __name__(self) -> str:
        """The name, as scikit-learn asks for that of anything it may call."""
        return self.name

    def __call__(self, tp: Any, n_pred: Any, n_pos: Any = None, n: Any = None) -> Any:
        """Evaluate at counts, after checking that they can occur.

        Parameters
        ----------
        tp, n_pred, n_pos, n : array-like
            The numbers of true positives, of predicted positives, of actual positives
            and of instances; they broadcast.

        Returns
        -------
        float or ndarray
            The score, in the shape of the counts.

        Raises
        ------
        ValueError
            If no confusion matrix has these counts, or their shapes do not broadcast.
        TypeError
            If a count is not a real number.
        """
        if n_pos is None or n is None:  # a scorer has three arguments, a score two
            raise errors.not_a_scorer(self.name)
        counts = check_counts(tp, n_pred, n_pos, n)
        return np.asarray(self.score(*counts), dtype=np.float64)[()]

    def realised(self, y_true: Any, y_pred: Any) -> float:
        """Return what predictions scored, once labels are known.

        .. versionadded:: 0.3

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            Labels and predictions, 0 and 1 or booleans.

        Returns
        -------
        float
            The score of these n predictions.

        Raises
        ------
        ValueError
            If labels or predictions are not 0 and 1, or not equally many.

        Examples
        --------
        >>> from bestcut.metrics import Jaccard
        >>> Jaccard().realised([1, 0, 1, 0], [1, 1, 0, 0])
        0.3333333333333333
        """
        truth, labels = check_outcomes(y_true, y_pred)
        tp, n_pred, n_pos = map(np.count_nonzero, (truth & labels, labels, truth))
        return float(self(tp, n_pred, n_pos, truth.size))

    def psi(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate the paper's Psi(C): at the four cells of a confusion matrix.

        Parameters
        ----------
        tp, fp, fn, tn : array-like
            The four cells; they broadcast.

        Returns
        -------
        float or ndarray
            The score, in the shape of the cells.

        Raises
        ------
        ValueError
            If a cell is negative or not finite.
        TypeError
            If a cell is not a real number.

        Examples
        --------
        >>> from bestcut.metrics import Jaccard
        >>> float(Jaccard().psi(tp=3, fp=1, fn=2, tn=4))
        0.5
        """
        cells = _real_arrays(tp=tp, fp=fp, fn=fn, tn=tn)
        return self(*counts_from_confusion(*cells))

    def phi(self, u: Any, v: Any, p: Any, n: Any) -> Any:
        """Evaluate the paper's Phi(u, v, p): at shares of n instances.

        The number of instances turns the shares back into whole counts, so that a class
        is empty exactly when it is.

        Parameters
        ----------
        u, v, p : array-like
            True positives, predicted positives and actual positives, as shares of `n`.
        n : array-like
            The number of instances.

        Returns
        -------
        float or ndarray
            The score, in the shape of the shares.

        Raises
        ------
        ValueError
            If no confusion matrix has these shares.
        TypeError
            If a share is not a real number.

        Examples
        --------
        >>> from bestcut.metrics import Jaccard
        >>> float(Jaccard().phi(u=0.3, v=0.4, p=0.5, n=10))
        0.5
        """
        shares = _real_arrays(u=u, v=v, p=p, n=n)
        return self(*counts_from_uvp(*shares))

    def gamma(self, tpr: Any, tnr: Any, p: Any, n: Any) -> Any:
        """Evaluate the paper's Gamma(TPR, TNR, p): at rates and the prevalence.

        Parameters
        ----------
        tpr, tnr : array-like
            The true positive rate and the true negative rate.
        p : array-like
            The share of actual positives.
        n : array-like
            The number of instances.

        Returns
        -------
        float or ndarray
            The score, in the shape of the rates.

        Raises
        ------
        ValueError
            If no confusion matrix has these rates.
        TypeError
            If a rate is not a real number.

        Examples
        --------
        >>> from bestcut.metrics import BalancedAccuracy
        >>> float(BalancedAccuracy().gamma(tpr=0.5, tnr=1.0, p=0.4, n=10))
        0.75
        """
        rates = _real_arrays(tpr=tpr, tnr=tnr, p=p, n=n)
        return self(*counts_from_rates(*rates))


def remembered(function: Any, metric: Metric, *rest: Any) -> Any:
    """Call a cached function, without its cache if the metric cannot be hashed."""
    try:
        hash(metric)
    except TypeError:
        return function.__wrapped__(metric, *rest)
    return function(metric, *rest)


class Linear(Protocol):
    """A metric with the trait `LINEAR`, as seen by code that relies on the trait."""

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells."""

    def absolute(self) -> Linear:
        """Return the sum of the same cells with the absolute weights."""


class Affine(Protocol):
    """A metric with the trait `AFFINE`, as seen by code that relies on the trait.

    It is (alpha * tp + beta) / delta, none of the three depending on `tp`.
    """

    @property
    def sign(self) -> float:
        """1 for a score, -1 for a loss."""

    @property
    def traits(self) -> frozenset[Trait]:
        """The structure that solvers may rely on."""

    def score(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Evaluate without checks."""

    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta."""

    def undefined(self, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Return the value where delta is 0."""


def is_linear(metric: Metric) -> TypeGuard[Linear]:
    """Return whether a metric is a weighted sum of the four cells."""
    return Trait.LINEAR in metric.traits


def is_affine(metric: Metric) -> TypeGuard[Affine]:
    """Return whether a metric is affine in TP at given `n_pred` and `n_pos`."""
    return Trait.AFFINE in metric.traits


class Concave(Protocol):
    """A metric with the trait `CONCAVE`, as seen by code that relies on the trait."""

    def tangent(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return the score, and its slopes in `tp` and in `n_pred`."""


def is_concave(metric: Metric) -> TypeGuard[Concave]:
    """Return whether tangent planes are nowhere below the utility."""
    return Trait.CONCAVE in metric.traits


def affine_parts(
    metric: Affine, n_pred: Any, n_pos: Any, n: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the score at TP = 0, as if that were possible, and the slope in TP."""
    alpha, beta, delta = metric.affine(n_pred, n_pos, n)
    if np.all(delta):
        base, slope = beta / delta, alpha / delta
    else:
        known = delta != 0
        some = np.where(known, delta, 1.0)
        base = np.where(known, beta / some, metric.undefined(n_pred, n_pos, n))
        slope = np.where(known, alpha / some, 0.0)
    shape = np.broadcast_shapes(np.shape(n_pred), np.shape(n_pos))
    if np.shape(base) != shape:
        base = np.broadcast_to(base, shape)
    if np.shape(slope) != shape:
        slope = np.broadcast_to(slope, shape)
    return base, slope


def affine_tangent(
    metric: Affine, tp: Any, n_pred: Any, n_pos: Any, n: Any
) -> tuple[Any, Any, Any]:
    """Return the tangent of a metric that is at most quadratic in `n_pred`."""
    base, slope = affine_parts(metric, n_pred, n_pos, n)
    after, before = (affine_parts(metric, n_pred + x, n_pos, n)[0] for x in (0.5, -0.5))
    return base + slope * tp, slope, after - before


class AffineMetric(Metric):
    """A metric that is affine in TP once `n_pred` and `n_pos` are given.

    It is (alpha * tp + beta) / delta, none of the three depending on `tp`. It is
    `separable` if delta is a function of `n_pred` times one of `n_pos`, alpha does not
    depend on `n_pred`, and beta is linear in it.
    """

    separable = False
    structure: frozenset[Trait] = frozenset()  # besides

    @property
    def traits(self) -> frozenset[Trait]:
        """The structure that solvers may rely on."""
        own = {Trait.AFFINE, Trait.SEPARABLE} if self.separable else {Trait.AFFINE}
        return super().traits | own | self.structure

    def tangent(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return the score, and its slopes in `tp` and in `n_pred`, if concave."""
        return affine_tangent(self, tp, n_pred, n_pos, n)

    @abstractmethod
    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta."""

    @abstractmethod
    def undefined(self, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Return the value where delta is 0."""

    def score(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Evaluate without checks."""
        alpha, beta, delta = self.affine(n_pred, n_pos, n)
        return ratio(alpha * tp + beta, delta, lambda: self.undefined(n_pred, n_pos, n))


class FractionalLinearMetric(Metric):
    """A ratio of two linear functions of (u, v, p), the family of Koyejo et al.

    It is (c0 + c1 u + c2 v + c3 p) / (d0 + d1 u + d2 v + d3 p), and `zero_division`
    where the denominator is 0.
    """

    zero_division: float

    @abstractmethod
    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""

    @property
    def traits(self) -> frozenset[Trait]:
        """The structure that solvers may rely on."""
        return super().traits | _structure(*self.coefficients())

    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta of a metric with d1 = 0."""
        c, d = self.coefficients()
        if d[1] != 0:
            raise denominator_with_tp(self.name, d[1])
        beta, delta = (_without_tp(x, n_pred, n_pos, n) for x in (c, d))
        return float(c[1]), beta, delta

    def undefined(self, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Return the value where the denominator is 0."""
        return self.zero_division

    def tangent(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return the score, and its slopes in `tp` and in `n_pred`, if concave."""
        return affine_tangent(self, tp, n_pred, n_pos, n)

    def score(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Evaluate without checks."""
        c, d = (tuple(map(float, x)) for x in self.coefficients())
        counts = (n, tp, n_pred, n_pos)
        numerator = _linear(n, *zip(c, counts, strict=True))
        denominator = _linear(n, *zip(d, counts, strict=True))
        return ratio(numerator, denominator, self.zero_division)

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells."""
        cells = (tp, fp, fn, tn)
        numerator, denominator = (
            _linear(tp, *zip(_at_pure_cells(part), cells, strict=True))
            for part in self.coefficients()
        )
        return ratio(numerator, denominator, self.zero_division)


def _without_tp(x: Coefficients, n_pred: Any, n_pos: Any, n: Any) -> Any:
    """Return x0 n + x2 n_pred + x3 n_pos, a linear function at TP = 0.

    Coefficients of both signs that are not whole would cancel. A sum over cells that
    are nowhere negative does not cancel: over FP, FN and TN if all of these fit in, and
    else over the excess of TP, with the value at TP taken as that of FP + FN - TN.
    """
    x0, _, x2, x3 = map(float, x)
    whole = all(y == int(y) for y in (x0, x2, x3))
    if whole or min(x0, x2, x3) >= 0 or max(x0, x2, x3) <= 0:
        return _linear(n, (x0, n), (x2, n_pred), (x3, n_pos))
    at_fp, at_fn, at_tn = _exact_sums(x[0], x[2], x[3])
    rest = n - n_pred - n_pos
    if np.all(rest >= 0):
        return _linear(n, (at_fp, n_pred), (at_fn, n_pos), (at_tn, rest))
    at_tp = _exact_sums(x[0], x[2] + x[3], 0)[0]
    return np.where(
        rest >= 0,
        at_fp * n_pred + at_fn * n_pos + at_tn * rest,
        at_fp * (n - n_pos) + at_fn * (n - n_pred) - at_tp * rest,
    )


def _exact_sums(x0: Any, x2: Any, x3: Any) -> tuple[float, float, float]:
    """Return x0 + x2, x0 + x3 and x0, each rounded once."""
    first = Fraction(x0)
    return float(first + Fraction(x2)), float(first + Fraction(x3)), float(first)


@lru_cache(maxsize=256)
def _structure(c: Coefficients, d: Coefficients) -> frozenset[Trait]:
    """Return the traits of a fractional-linear metric, from its coefficients."""
    own = {Trait.FRACTIONAL_LINEAR}
    if c[3] == 0:
        own.add(Trait.WITHOUT_C3)
    if common_denominator(d) <= _SMALL_DENOMINATOR:
        own.add(Trait.RATIONAL_D)
    extremes = _at_pure_cells(d)
    if min(extremes) >= 0 or max(extremes) <= 0:
        own.add(Trait.ONE_SIGN)
    if d[1] == 0:
        own.add(Trait.AFFINE)
        if d[2] == 0 or d[0] == d[3] == 0:
            own.add(Trait.SEPARABLE)
        if d[3] == 0:
            own.add(Trait.LINEAR_AT_CUT)
        if d[2] == 0:  # the denominator sees only actual positives
            own.add(Trait.CONCAVE)
        # 1 / (d0 n + d2 k + d3 s) is convex in k where the denominator is positive.
        if (min(extremes) >= 0 and c[1] >= 0) or (max(extremes) <= 0 and c[1] <= 0):
            own.add(Trait.CONVEX_SLOPE)
    if d[1] + d[3] == 0:
        own.add(Trait.FACTORISED)  # the denominator sees only n_pos - tp
    return frozenset(own)


@lru_cache(maxsize=256)
def _at_pure_cells(x: Coefficients) -> Coefficients:
    """Return the values of a linear function of (u, v, p) where TP, FP, FN, TN is 1."""
    x0, x1, x2, x3 = map(Fraction, x)
    return float(x0 + x1 + x2 + x3), float(x0 + x2), float(x0 + x3), float(x0)


# Algorithm 2 keeps a table with so many entries for each instance.
_SMALL_DENOMINATOR = 1000


def common_denominator(values: Coefficients) -> int:
    """Return the least common denominator, taking the exact value of each float."""
    return math.lcm(*(Fraction(x).denominator for x in values))


def _linear(like: Any, *terms: tuple[float, Any]) -> Any:
    """Sum coefficient * count, without multiplications by 0 or 1.

    If no term is left, the sum is 0 in the shape of `like`.
    """
    total: Any = None
    for coefficient, count in terms:
        if coefficient == 0:
            continue
        term = count if coefficient == 1 else coefficient * count
        total = term if total is None else total + term
    return 0.0 * like if total is None else total
