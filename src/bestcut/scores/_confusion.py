"""The confusion matrix before any label is known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bestcut._results import Plain
from bestcut._types import FloatArray
from bestcut._validation import check_share
from bestcut.counts import Law
from bestcut.scores._prediction import Prediction
from bestcut.scores._utility import probability_error

_ROWS = (("actual negative", "tn", "fp"), ("actual positive", "fn", "tp"))


class CellNumbers(NamedTuple):
    """A number for each cell of a confusion matrix."""

    tp: float
    fp: float
    fn: float
    tn: float


class CellIntervals(NamedTuple):
    """A range of counts for each cell of a confusion matrix."""

    tp: tuple[int, int]
    fp: tuple[int, int]
    fn: tuple[int, int]
    tn: tuple[int, int]


class ConfusionDistribution(Plain):
    """What the confusion matrix will be, by calibrated probabilities.

    Made by `bestcut.expected_confusion` and `bestcut.Decision.confusion`. TP and FN
    are independent if probabilities are known, but not if they are drawn. FP and TN are
    the rest of the predicted positives and negatives.

    Attributes
    ----------
    mean, std : CellNumbers
        Expected count and standard deviation of each cell: tp, fp, fn, tn.
    matrix : ndarray of shape (2, 2)
        The expected counts in scikit-learn's order, ``[[tn, fp], [fn, tp]]``.

    See Also
    --------
    bestcut.expected_confusion : Returns one for any predictions.
    bestcut.ScoreDistribution : The distribution of a metric.

    Examples
    --------
    >>> import bestcut
    >>> confusion = bestcut.expected_confusion([0.75, 0.5, 0.25], [1, 1, 0])
    >>> confusion.mean
    CellNumbers(tp=1.25, fp=0.75, fn=0.25, tn=0.75)
    >>> confusion.matrix.tolist()
    [[0.75, 0.75], [0.25, 1.25]]
    """

    def __init__(self, prediction: Prediction) -> None:
        self._prediction = prediction

    @property
    def mean(self) -> CellNumbers:
        """Expected count of each cell."""
        return CellNumbers(*self._prediction.expected_cells())

    @property
    def std(self) -> CellNumbers:
        """Standard deviation of each cell."""
        caught, missed = (float(np.sqrt(v)) for v in self._prediction.variances())
        return CellNumbers(caught, caught, missed, missed)

    @property
    def matrix(self) -> FloatArray:
        """The expected counts in scikit-learn's order."""
        mean = self.mean
        return np.array([[mean.tn, mean.fp], [mean.fn, mean.tp]])

    def interval(self, level: float = 0.9) -> CellIntervals:
        """Return the range of each cell, by itself, with at least this probability.

        Parameters
        ----------
        level : float, default=0.9
            Strictly between 0 and 1.

        Returns
        -------
        CellIntervals
            Lowest and highest count of tp, fp, fn and tn.

        Raises
        ------
        ValueError
            If `level` is not strictly between 0 and 1.
        """
        share = check_share(level, name="level")
        at = self._prediction
        tp, fn = _central(at.tp, share), _central(at.fn, share)
        k, rest = at.n_pred, at.n - at.n_pred
        return CellIntervals(
            tp, (k - tp[1], k - tp[0]), fn, (rest - fn[1], rest - fn[0])
        )

    def _plain(self) -> dict[str, Any]:
        return {"mean": self.mean, "std": self.std, "interval": self.interval(0.9)}

    def _cells(self) -> dict[str, str]:
        """Return what is said of each cell."""
        mean, ranges = self.mean._asdict(), self.interval(0.9)
        return {
            name: f"{value:.1f} ({low} to {high})"
            for (name, value), (low, high) in zip(mean.items(), ranges, strict=True)
        }

    def _repr_html_(self) -> str:
        cells = self._cells()
        rows = [
            f"<tr><th>{name}</th><td>{cells[left]}</td><td>{cells[right]}</td></tr>"
            for name, left, right in _ROWS
        ]
        head = "<th></th><th>predicted negative</th><th>predicted positive</th>"
        return (
            "<table><caption>bestcut expected counts (90% between)</caption>"
            f"<tr>{head}</tr>{''.join(rows)}</table>"
        )

    def __repr__(self) -> str:
        cells = self._cells()
        width = max(18, *map(len, cells.values()))
        header = (
            f"{'':16}  {'predicted negative':>{width}}  {'predicted positive':>{width}}"
        )
        lines = [
            f"{name:16}  {cells[left]:>{width}}  {cells[right]:>{width}}"
            for name, left, right in _ROWS
        ]
        return "\n".join(["Expected counts (90% between)", header, *lines])


def _central(law: Law, level: float) -> tuple[int, int]:
    """Return the range that leaves at most (1 - level) / 2 on either side."""
    tail = (1.0 - level) / 2 + probability_error(law.pmf.size)
    below = np.cumsum(law.pmf) - law.pmf  # P(count < value)
    beyond = np.cumsum(law.pmf[::-1])[::-1] - law.pmf  # P(count > value)
    low = int(np.flatnonzero(below <= tail)[-1])
    high = int(np.flatnonzero(beyond <= tail)[0])
    return law.start + low, law.start + high
