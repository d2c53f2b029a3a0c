"""Families of metrics with your own constants, and metrics from your own callable."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bestcut import _errors as errors
from bestcut._types import FloatArray
from bestcut._validation import (
    check_arguments,
    check_callable,
    check_coefficients,
    check_custom_values,
    check_finite_real,
    check_printable,
    check_rate,
    check_size,
    plain_number,
)
from bestcut.metrics._base import (
    AffineMetric,
    Coefficients,
    FractionalLinearMetric,
    Metric,
    Trait,
    confusion_from_counts,
    counts_from_confusion,
    ratio,
    uvp_from_counts,
)
from bestcut.metrics._work import spend


@dataclass(frozen=True)
class FractionalLinear(FractionalLinearMetric):
    """Any ratio of linear functions of (u, v, p), as in equation (5) of the paper.

    (c0 + c1 u + c2 v + c3 p) / (d0 + d1 u + d2 v + d3 p), with u the true positives, v
    the predicted positives and p the actual positives, each as a share of n.

    Parameters
    ----------
    c, d : tuple of four numbers
        Floats, ints or `fractions.Fraction`. The paper's Algorithm 2 (solver
        ``"quadratic"``) needs a d that is exactly rational with small denominators.
    zero_division : float, default=0.0
        Value where the denominator is 0.
    name : str, default="fractional_linear"
        The name of the metric in messages.

    Raises
    ------
    TypeError
        If a coefficient or `zero_division` is not a real number.
    ValueError
        If `c` or `d` does not have four numbers, or a number is not finite or is above
        1e150.

    See Also
    --------
    bestcut.metrics.from_expression : The same from a formula in text.
    bestcut.metrics.FBeta : A member of the family with a name.
    bestcut.check_metric : Check whether ranking and cutting is optimal for a metric.

    Notes
    -----
    This is the family of Koyejo et al. [1]_, as the paper writes it [2]_.

    References
    ----------
    .. [1] O. Koyejo, N. Natarajan, P. Ravikumar and I. S. Dhillon. Consistent binary
       classification with generalized performance metrics. *Advances in Neural
       Information Processing Systems* 27, 2014.
    .. [2] N. Natarajan, O. Koyejo, P. Ravikumar and I. S. Dhillon. Optimal
       decision-theoretic classification using non-decomposable performance metrics.
       arXiv:1505.01802, 2015.

    Examples
    --------
    >>> from bestcut.metrics import FractionalLinear
    >>> jaccard = FractionalLinear(c=(0, 1, 0, 0), d=(0, -1, 1, 1))
    >>> float(jaccard(tp=3, n_pred=4, n_pos=5, n=10))
    0.5
    """

    c: Coefficients
    d: Coefficients
    zero_division: float = 0.0
    name: str = "fractional_linear"

    def __post_init__(self) -> None:
        for attribute in ("c", "d"):
            values = getattr(self, attribute)
            values = tuple(values) if isinstance(values, list) else values
            check_coefficients(values, name=attribute)
            object.__setattr__(self, attribute, tuple(map(plain_number, values)))
        check_finite_real(self.zero_division, name="zero_division")
        check_printable(self.name, name="name")

    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Return c and d."""
        return self.c, self.d


@dataclass(frozen=True)
class LinearUtility(AffineMetric):
    """What the four outcomes are worth, summed over the instances.

    Costs are negative. You choose the unit: money, minutes, lives. Every instance of a
    kind is worth the same; if amounts differ between rows, see `bestcut.RowUtility`.

    Parameters
    ----------
    tp, fp, fn, tn : float, default=0.0
        Worth of one instance of each kind.
    name : str, default="linear_utility"
        The name of the metric in messages.

    Raises
    ------
    TypeError
        If a worth is not a real number; amounts of each row are for
        `bestcut.RowUtility`.
    ValueError
        If a worth is not finite or is above 1e150.

    See Also
    --------
    bestcut.RowUtility : Amounts that differ between rows.
    bestcut.metrics.from_expression : The same from a formula, such as
        ``80*tp - 10*fp``.

    Examples
    --------
    >>> from bestcut.metrics import LinearUtility
    >>> profit = LinearUtility(tp=100, fp=-5, fn=-20)
    >>> float(profit(tp=3, n_pred=4, n_pos=5, n=10))
    255.0
    """

    tp: float = 0.0
    fp: float = 0.0
    fn: float = 0.0
    tn: float = 0.0
    name: str = "linear_utility"

    def __post_init__(self) -> None:
        for attribute in ("tp", "fp", "fn", "tn"):
            worth = getattr(self, attribute)
            if isinstance(worth, Sized) and not isinstance(worth, str | bytes):
                raise errors.amount_of_each_row(attribute, worth)
            check_size(worth, name=attribute)
        check_printable(self.name, name="name")

    @property
    def traits(self) -> frozenset[Trait]:
        """The structure that solvers may rely on."""
        return super().traits | {Trait.LINEAR, Trait.LINEAR_AT_CUT, Trait.CONCAVE}

    def score(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Evaluate without checks: what did not happen is worth 0, and not rounding."""
        return self.score_cells(*confusion_from_counts(tp, n_pred, n_pos, n))

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells: no count is a difference."""
        worths = (float(x) for x in (self.tp, self.fp, self.fn, self.tn))
        first, *others = (
            worth * cell for worth, cell in zip(worths, (tp, fp, fn, tn), strict=True)
        )
        return sum(others, first)

    def absolute(self) -> LinearUtility:
        """Return the utility with the absolute values of the four worths.

        Returns
        -------
        LinearUtility
            Solvers bound rounding errors by its values.
        """
        tp, fp, fn, tn = (abs(float(x)) for x in (self.tp, self.fp, self.fn, self.tn))
        return LinearUtility(tp, fp, fn, tn)

    def affine(self, n_pred: Any, n_pos: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return alpha, beta and delta."""
        tp, fp, fn, tn = (float(x) for x in (self.tp, self.fp, self.fn, self.tn))
        beta = fp * n_pred + fn * n_pos + tn * (n - n_pred - n_pos)
        return tp - fp - fn + tn, beta, 1.0

    def undefined(self, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Return a value that is never used: delta is 1."""
        return 0.0


@dataclass(frozen=True)
class Coverage(Metric):
    """Whether a label is hit at least once: 1 if TP is at least 1, otherwise 0.

    The average over the columns of `bestcut.multilabel.decide` with ``per_row`` is the
    share of labels that at least one row is rightly given. It is not in the catalogue,
    because it is best to predict everything if nothing else is maximised.

    See Also
    --------
    bestcut.multilabel.decide : Decisions with a budget for each row.
    bestcut.metrics.Recall : The share of actual positives that are found.

    Examples
    --------
    >>> from bestcut.metrics import Coverage
    >>> Coverage()([0, 1, 5], n_pred=6, n_pos=7, n=20)
    array([0., 1., 1.])
    """

    name = "coverage"
    label = "Coverage"
    bound = 1.0

    @property
    def traits(self) -> frozenset[Trait]:
        """The structure that solvers may rely on."""
        return super().traits | {Trait.COVERAGE}

    def score(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Evaluate without checks."""
        return np.where(np.asarray(tp) >= 1.0, 1.0, 0.0)

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate without checks at the four cells."""
        return np.where(np.asarray(tp) >= 1.0, 1.0, 0.0)


_ARGUMENTS = {
    "counts": ("tp", "fp", "fn", "tn"),
    "rates": ("tpr", "tnr", "p"),
    "uvp": ("u", "v", "p"),
}


@dataclass(frozen=True)
class CustomMetric(Metric):
    """A metric from a callable; made by `from_counts`, `from_rates` or `from_uvp`.

    Parameters
    ----------
    function : callable
        The vectorised function.
    form : {"counts", "rates", "uvp"}
        What the callable takes: ``(tp, fp, fn, tn)``, ``(tpr, tnr, p)`` or
        ``(u, v, p)``.
    name : str, default="custom"
        The name of the metric in messages.
    zero_division : float, optional
        Value where the callable divides by 0; with ``form="rates"``, the rate of a
        class that does not occur.
    smooth : bool, default=False
        Whether the callable also takes counts that are not whole, and changes
        gradually.
    greater_is_better : bool, default=True
        False for a loss, to be minimised.

    Raises
    ------
    TypeError
        If `function` is not callable or does not take these arguments, or
        `zero_division` is not a real number.
    ValueError
        If `zero_division` is not finite; with ``form="rates"``, if it is not from 0 to
        1.

    See Also
    --------
    bestcut.metrics.from_counts : Make one from a callable on counts.
    bestcut.metrics.from_rates : Make one from a callable on rates.
    bestcut.metrics.from_uvp : Make one from a callable on shares.

    Examples
    --------
    >>> from bestcut.metrics import from_counts
    >>> errors = from_counts(
    ...     lambda tp, fp, fn, tn: fp + 3 * fn, name="errors", greater_is_better=False
    ... )
    >>> errors.name, errors.form, float(errors(tp=3, n_pred=8, n_pos=5, n=10))
    ('errors', 'counts', 11.0)
    """

    function: Callable[..., Any]
    form: Literal["counts", "rates", "uvp"]
    name: str = "custom"
    zero_division: float | None = None
    smooth: bool = False
    greater_is_better: bool = True

    def __post_init__(self) -> None:
        check_callable(self.function, name="function")
        check_arguments(self.function, _ARGUMENTS[self.form])
        check_printable(self.name, name="name")
        if self.form == "rates":
            check_rate(self.zero_division, name="zero_division")
        elif self.zero_division is not None:
            check_finite_real(self.zero_division, name="zero_division")

    def score(self, tp: Any, n_pred: Any, n_pos: Any, n: Any) -> Any:
        """Evaluate, checking what the callable returns."""
        return self.score_cells(*confusion_from_counts(tp, n_pred, n_pos, n))

    def score_cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Evaluate at the four cells, checking what the callable returns."""
        cells = np.broadcast_arrays(
            *(np.asarray(x, dtype=np.float64) for x in (tp, fp, fn, tn))
        )
        arguments = self._arguments(*cells)
        spend(cells[0].size, self.name)
        try:
            values = self._unchecked(*cells)
        except (TypeError, ValueError) as error:
            if self._takes_numbers(cells):
                raise errors.works_on_numbers_only(self.name, error) from error
            raise
        undefined = None if self.form == "rates" else self.zero_division
        if undefined is None and not any(np.any(cell) for cell in cells):
            undefined = np.nan  # without instances, the callable may be undefined
        return check_custom_values(
            values,
            cells[0].shape,
            name=self.name,
            arguments=arguments,
            undefined=undefined,
        )

    def _takes_numbers(self, cells: Sequence[FloatArray]) -> bool:
        """Return whether the callable makes a number of one confusion matrix."""
        try:
            value = self._unchecked(*(cell.flat[-1] for cell in cells))
        except Exception:  # then numbers are not what is wrong
            return False
        return np.ndim(value) == 0

    def _unchecked(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Return the value of the callable at the cells."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.function(*self._arguments(tp, fp, fn, tn).values())

    def _arguments(
        self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray
    ) -> dict[str, FloatArray]:
        """Return the arguments of the callable, by name."""
        if self.form == "counts":
            return {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        if self.form == "uvp":
            shares = uvp_from_counts(*counts_from_confusion(tp, fp, fn, tn))
            return dict(zip(_ARGUMENTS["uvp"], shares, strict=True))
        empty = self.zero_division
        return {
            "tpr": ratio(tp, tp + fn, empty),
            "tnr": ratio(tn, tn + fp, empty),
            "p": ratio(tp + fn, tp + fp + fn + tn, 0.0),
        }


def from_counts(
    function: Callable[..., Any],
    name: str = "custom",
    *,
    zero_division: float | None = None,
    smooth: bool = False,
    greater_is_better: bool = True,
) -> CustomMetric:
    """Make a metric from a callable on counts ``(tp, fp, fn, tn)``: the paper's Psi.

    Parameters
    ----------
    function : callable
        A vectorised function: it takes four float arrays of one shape, and returns an
        array of that shape. It must not change its arguments.
    name : str, default="custom"
        The name of the metric in messages.
    zero_division : float, optional
        Value where the callable divides by 0. Without it, a division by 0 is an error.
    smooth : bool, default=False
        Only for a callable that cannot be followed (see Notes). You promise that the
        callable also takes counts that are not whole numbers, and changes gradually, so
        that a few counts stand for many. It is only used where looking at all counts
        would take long. Results that rest on the promise are not proved: ``gap`` is
        infinite, and `bestcut.decide` warns of it. If the promise is found broken, it
        is ignored, with a warning.
    greater_is_better : bool, default=True
        False for a loss, to be minimised.

    Returns
    -------
    CustomMetric
        For everything that takes a metric; call it with counts to evaluate it.

    Raises
    ------
    TypeError
        If `function` is not callable or does not take four arguments, or
        `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite, or the parameters of `function` are the
        names of the counts in another order. A callable that returns another shape, or
        NaN without `zero_division`, is refused when it is used.

    See Also
    --------
    bestcut.metrics.from_expression : The same from a formula in text, which is safe.
    bestcut.metrics.from_rates : From a callable on the rates of both classes.
    bestcut.check_metric : Check whether ranking and cutting is optimal for a metric.

    Notes
    -----
    Arithmetic, roots, powers, ``np.exp``, ``np.log``, ``np.expm1``, ``np.log1p``,
    ``np.tanh``, ``np.minimum``, ``np.maximum``, ``np.abs``, comparisons and
    ``np.where`` are followed: bounds on the callable are found by
    calling it with intervals and discs instead of arrays. Anything else, such as a
    function of SciPy, is not followed, and every cut is then computed with exact
    distributions. A Python ``if``, ``max`` or ``and`` does not work on arrays, and is
    refused.

    Examples
    --------
    >>> from bestcut.metrics import from_counts
    >>> lift = from_counts(lambda tp, fp, fn, tn: tp - 0.2 * fp, name="net hits")
    >>> float(lift(tp=3, n_pred=8, n_pos=5, n=10))
    2.0
    """
    return CustomMetric(
        function, "counts", name, zero_division, smooth, greater_is_better
    )


def from_rates(
    function: Callable[..., Any],
    name: str = "custom",
    *,
    zero_division: float = 0.0,
    smooth: bool = False,
    greater_is_better: bool = True,
) -> CustomMetric:
    """Make a metric from a callable on ``(tpr, tnr, p)``: the paper's Gamma.

    Parameters
    ----------
    function : callable
        A vectorised function: it takes three float arrays of one shape, and returns an
        array of that shape.
    name : str, default="custom"
        The name of the metric in messages.
    zero_division : float, default=0.0
        The rate of a class that does not occur. The callable itself must be finite.
    smooth : bool, default=False
        As in `from_counts`.
    greater_is_better : bool, default=True
        False for a loss, to be minimised.

    Returns
    -------
    CustomMetric
        For everything that takes a metric; call it with counts to evaluate it.

    Raises
    ------
    TypeError
        If `function` is not callable or does not take three arguments, or
        `zero_division` is not a real number.
    ValueError
        If `zero_division` is not from 0 to 1.

    See Also
    --------
    bestcut.metrics.from_counts : From a callable on the four cells.
    bestcut.metrics.from_uvp : From a callable on shares of all instances.
    bestcut.check_metric : Check whether ranking and cutting is optimal for a metric.

    Examples
    --------
    >>> import numpy as np
    >>> from bestcut.metrics import from_rates
    >>> worst = from_rates(lambda tpr, tnr, p: np.minimum(tpr, tnr), name="worst rate")
    >>> float(worst(tp=3, n_pred=4, n_pos=5, n=10))
    0.6
    """
    return CustomMetric(
        function, "rates", name, zero_division, smooth, greater_is_better
    )


def from_uvp(
    function: Callable[..., Any],
    name: str = "custom",
    *,
    zero_division: float | None = None,
    smooth: bool = False,
    greater_is_better: bool = True,
) -> CustomMetric:
    """Make a metric from a callable on ``(u, v, p)``: the paper's Phi.

    Parameters
    ----------
    function : callable
        A vectorised function: it takes three float arrays of one shape, and returns an
        array of that shape. The shares are rounded: guard a root with
        ``np.maximum(..., 0)``.
    name : str, default="custom"
        The name of the metric in messages.
    zero_division : float, optional
        Value where the callable divides by 0. Without it, a division by 0 is an error.
    smooth : bool, default=False
        As in `from_counts`.
    greater_is_better : bool, default=True
        False for a loss, to be minimised.

    Returns
    -------
    CustomMetric
        For everything that takes a metric; call it with counts to evaluate it.

    Raises
    ------
    TypeError
        If `function` is not callable or does not take three arguments, or
        `zero_division` is not a real number.
    ValueError
        If `zero_division` is NaN or infinite.

    See Also
    --------
    bestcut.metrics.from_counts : From a callable on the four cells.
    bestcut.metrics.FractionalLinear : Ratios of linear functions of the same shares.
    bestcut.check_metric : Check whether ranking and cutting is optimal for a metric.

    Examples
    --------
    >>> from bestcut.metrics import from_uvp
    >>> f1 = from_uvp(lambda u, v, p: 2 * u / (p + v), name="f1", zero_division=0.0)
    >>> float(f1(tp=3, n_pred=4, n_pos=6, n=10))
    0.6
    """
    return CustomMetric(function, "uvp", name, zero_division, smooth, greater_is_better)
