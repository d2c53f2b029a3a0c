"""What the outcomes are worth where every row has its own amounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bestcut import _errors as errors
from bestcut._tables import check_order, index_of
from bestcut._types import BoolArray, FloatArray
from bestcut._validation import check_amounts, check_outcomes, check_printable
from bestcut.metrics._base import Metric

_CELLS = ("tp", "fp", "fn", "tn")


class Worths(NamedTuple):
    """What each outcome of each row is worth: four arrays of one shape."""

    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray

    def of(self, labels: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return what each row brings if it is positive, and if it is negative.

        Parameters
        ----------
        labels : ndarray of bool
            The predictions.
        """
        return np.where(labels, self.tp, self.fn), np.where(labels, self.fp, self.tn)


@dataclass(frozen=True, eq=False, repr=False)
class RowUtility:
    """What the four outcomes of each row are worth, summed over the rows.

    It is like `bestcut.metrics.LinearUtility`, but any of the four may have a number
    for each row: the amount of a payment, the cost of a visit. `bestcut.decide`,
    `bestcut.decide_each`, `bestcut.expected_score` and `bestcut.score_distribution`
    take it. It is not a metric of the confusion matrix, because equal counts may be
    worth more or less. So the best prediction is not a cut of the probabilities, but a
    cut of the expected gains p (tp - fn) + (1 - p) (fp - tn).

    Parameters
    ----------
    tp, fp, fn, tn : float or array-like, default=0.0
        Worth of each outcome: one number for all rows, or one number for each row, in
        the shape of the probabilities. Costs are negative.
    name : str, default="row_utility"
        Its name in messages.

    Raises
    ------
    TypeError
        If an amount is not a real number, or `name` is not a string.
    ValueError
        If an amount is not finite or is above 1e150, or arrays of amounts have
        different shapes.

    See Also
    --------
    bestcut.metrics.LinearUtility : The same amounts for all rows.
    bestcut.decide : Chooses the rows with the largest expected gains.
    bestcut.score_distribution : The distribution of the total.

    Examples
    --------
    >>> import bestcut
    >>> worth = bestcut.RowUtility(tp=[900.0, 20.0, 35.0], fp=-5.0)
    >>> decision = bestcut.decide([0.05, 0.1, 0.3], worth)
    >>> decision.labels.tolist()
    [True, False, True]
    >>> round(decision.expected_score, 2)
    47.25
    """

    tp: Any = 0.0
    fp: Any = 0.0
    fn: Any = 0.0
    tn: Any = 0.0
    name: str = "row_utility"
    # The index of pandas that the rows of an amount have, by the name of the amount.
    _indices: Mapping[str, Any] = field(init=False)

    greater_is_better = True
    sign = 1.0

    def __post_init__(self) -> None:
        given = {cell: getattr(self, cell) for cell in _CELLS}
        check_order(**given)
        indices = {cell: index_of(amounts) for cell, amounts in given.items()}
        object.__setattr__(self, "_indices", indices)
        for cell in _CELLS:
            amounts = check_amounts(getattr(self, cell), name=cell)
            object.__setattr__(self, cell, amounts)
        check_printable(self.name, name="name")
        shapes = {cell: np.shape(getattr(self, cell)) for cell in self._of_rows}
        if len(set(shapes.values())) > 1:
            raise errors.amounts_differ(shapes)

    @property
    def _of_rows(self) -> list[str]:
        """The cells that have a number for each row."""
        return [cell for cell in _CELLS if np.ndim(getattr(self, cell))]

    @property
    def label(self) -> str:
        """Its name in sentences and on axes."""
        return self.name

    def worths(self, shape: tuple[int, ...], *, of: str = "y_proba") -> Worths:
        """Return the worths of rows, refusing amounts of another shape.

        Parameters
        ----------
        shape : tuple of int
            The shape of the probabilities.
        of : str, default="y_proba"
            What has that shape, in the message.

        Returns
        -------
        Worths
            Four arrays of that shape: ``tp``, ``fp``, ``fn`` and ``tn``.

        Raises
        ------
        ValueError
            If amounts have another shape.
        """
        for cell in self._of_rows:
            given = np.shape(getattr(self, cell))
            if given != shape:
                raise errors.not_one_amount_each(cell, of, shape, given)
        each = (np.broadcast_to(getattr(self, cell), shape) for cell in _CELLS)
        return Worths(*each)

    def realised(self, y_true: Any, y_pred: Any) -> float:
        """Return what predictions brought, once labels are known.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            Labels and predictions, 0 and 1 or booleans.

        Returns
        -------
        float
            The sum over all rows.

        Raises
        ------
        ValueError
            If labels are not 0 and 1, or there is not one amount for each row.

        Examples
        --------
        >>> import bestcut
        >>> worth = bestcut.RowUtility(tp=[900.0, 20.0, 35.0], fp=-5.0)
        >>> worth.realised([0, 0, 1], [1, 0, 1])
        30.0
        """
        check_order(y_true=y_true, y_pred=y_pred, **self._indices)
        truth, labels = check_outcomes(y_true, y_pred)
        hit, miss = self.worths(truth.shape, of="y_true").of(labels)
        return float(np.where(truth, hit, miss).sum())

    def __repr__(self) -> str:
        parts = []
        for cell in _CELLS:
            value = getattr(self, cell)
            if np.ndim(value):
                size = " x ".join(map(str, value.shape))
                parts.append(f"{cell}=<amounts: {size}>")
            elif value:
                parts.append(f"{cell}={value!r}")
        return f"RowUtility({', '.join([*parts, f'name={self.name!r}'])})"


#: Everything that can give a score.
AnyMetric: TypeAlias = Metric | RowUtility


def indices_of(utility: RowUtility) -> Mapping[str, Any]:
    """Return the index of each table of amounts, to hold rows against."""
    return utility._indices
