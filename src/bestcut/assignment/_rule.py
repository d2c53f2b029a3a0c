"""A rule for new rows, from an assignment that was found for others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestcut import _errors as errors
from bestcut._results import plain
from bestcut._tables import in_this_order, like, rows_like
from bestcut._types import FloatArray, IndexArray
from bestcut._validation import check_finite_scores, check_kind
from bestcut.assignment._budgets import check_per_row
from bestcut.assignment._entries import Entries
from bestcut.assignment._matrix import as_sparse, check_rows, entries_of
from bestcut.assignment._row_choice import Budgets, chosen


@dataclass(frozen=True, eq=False)
class RowRule:
    """Decide each row by itself: the columns with the largest ``slope * p - cost``.

    Made by ``decision.rule()``. The slopes are what others call class weights; here
    each column also has a cost, and no labels are needed to find either. A rule can be
    pickled. On the rows that the rule was found on, it repeats the
    decision, except for rows where two choices are almost equally good.

    Attributes
    ----------
    slope, cost : ndarray of float, shape (columns,)
        The worth of a hit in each column, and the cost of a prediction.
    per_row : (int, int)
        How many columns a row takes, at least and at most; one by default.
    classes : ndarray or None
        The names of the columns. If None, a row takes a set of columns, and the rule
        returns labels in the shape of its input.

    See Also
    --------
    bestcut.multiclass.MulticlassDecision : Its ``rule()`` gives each row a class.
    bestcut.multilabel.MultilabelDecision : Its ``rule()`` gives each row a set.

    Examples
    --------
    >>> from bestcut import multiclass
    >>> P = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0]]
    >>> rule = multiclass.decide(P, classes=["cat", "dog", "owl"]).rule()
    >>> rule([[0.5, 0.1, 0.4]]).tolist()
    ['owl']
    """

    slope: FloatArray
    cost: FloatArray
    per_row: tuple[int, int] = (1, 1)
    classes: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        """Take lists, too, and refuse what is no rule."""
        slope = check_finite_scores(self.slope, name="slope")
        cost = check_finite_scores(self.cost, name="cost")
        classes = None if self.classes is None else np.asarray(self.classes)
        for name, array in (("cost", cost), ("classes", classes)):
            if array is not None and array.shape != slope.shape:
                raise errors.wrong_length(name, slope.size, array.shape)
        per_row = check_per_row(self.per_row, slope.size)
        checked = {"slope": slope, "cost": cost, "per_row": per_row, "classes": classes}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain Python, for JSON.

        .. versionadded:: 0.3

        Returns
        -------
        dict
            ``slope``, ``cost``, ``per_row`` and ``classes``, as lists.

        Examples
        --------
        >>> from bestcut import multilabel
        >>> decision = multilabel.decide([[0.5, 0.2]], average="macro", per_row=1)
        >>> decision.rule().to_dict()["per_row"]
        [1, 1]
        """
        return {
            "slope": plain(self.slope),
            "cost": plain(self.cost),
            "per_row": list(self.per_row),
            "classes": plain(self.classes),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RowRule:
        """Return the rule of which `to_dict` made plain Python.

        .. versionadded:: 0.3

        Parameters
        ----------
        data : mapping
            What `to_dict` returned, perhaps by way of JSON.

        Returns
        -------
        RowRule
            The same rule.

        Raises
        ------
        ValueError
            If something is missing from `data`, or its lists differ in length.
        TypeError
            If `data` is not a mapping.

        Examples
        --------
        >>> import json
        >>> import bestcut
        >>> from bestcut import multiclass
        >>> P = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.5, 0.4, 0.1], [0.9, 0.1, 0.0]]
        >>> rule = multiclass.decide(P, classes=["cat", "dog", "owl"]).rule()
        >>> again = bestcut.RowRule.from_dict(json.loads(json.dumps(rule.to_dict())))
        >>> again([[0.5, 0.1, 0.4]]).tolist()
        ['owl']
        """
        check_kind(data, Mapping, name="data", called="a mapping")
        for name in ("slope", "cost", "per_row", "classes"):
            if name not in data:
                raise errors.not_in_dict(name, cls.__name__)
        return cls(data["slope"], data["cost"], data["per_row"], data["classes"])

    def __call__(self, y_proba: Any) -> Any:
        """Decide new rows.

        Parameters
        ----------
        y_proba : array-like or sparse matrix of shape (rows, columns)
            Their probabilities. Columns of a DataFrame that are named as the classes
            may be in another order.

        Returns
        -------
        ndarray of shape (rows,), or of bool in the shape of `y_proba`
            The class of each row; or its labels. A DataFrame of pandas or polars gives
            a Series or a DataFrame.

        Raises
        ------
        ValueError
            If `y_proba` has another number of columns than the rule.
        """
        if self.classes is not None:
            y_proba = in_this_order(y_proba, self.classes.tolist())
        given = (
            y_proba
            if hasattr(y_proba, "tocsr")
            else check_rows(y_proba, name="y_proba")
        )
        columns = self.slope.size
        if given.shape[1] != columns:
            raise errors.bad_value(
                "y_proba",
                f"must have {columns} columns, like the rows that the rule was "
                "found on",
                got=f"shape {given.shape}",
            )
        entries = entries_of(given, name="y_proba")
        taken = self._taken(entries)
        if self.classes is None:
            return like(y_proba, labels_of(entries, taken, given))
        return rows_like(y_proba, self.classes[first_columns(entries, taken)])

    def _taken(self, entries: Entries) -> list[Any]:
        """Return which entries rows take, for each group of rows."""
        low, high = (np.full(entries.shape[0], x) for x in self.per_row)
        stored = entries.lengths
        budgets = Budgets(np.minimum(low, stored), np.minimum(high, stored))
        out = []
        for group in entries.groups:
            at = group.column_of(slice(None))
            worth = group.p * self.slope[at] - self.cost[at]
            worth[group.p == 0.0] = -np.inf
            out.append(chosen(worth, budgets.of(group.rows)))
        return out


def first_columns(entries: Entries, labels: list[Any]) -> IndexArray:
    """Return the column that each row takes, where it takes one."""
    out = np.zeros(entries.shape[0], dtype=np.intp)
    for group, taken in zip(entries.groups, labels, strict=True):
        at = np.argmax(taken, axis=1)
        if group.columns is not None:
            at = group.columns[np.arange(at.size), at]
        out[group.rows] = at
    return out


def labels_of(entries: Entries, labels: list[Any], given: Any) -> Any:
    """Return labels in the shape of a matrix, sparse if that is."""
    if hasattr(given, "tocsr"):
        return as_sparse(entries, labels, given)
    out = np.zeros(given.shape, dtype=np.bool_)
    for group, taken in zip(entries.groups, labels, strict=True):
        if group.columns is None:
            out[group.rows] = taken
        else:
            at = np.nonzero(taken)
            out[group.rows[at[0]], group.columns[at]] = True
    return out
