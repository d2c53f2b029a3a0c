"""The average score of classes that exclude each other, before any label is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestcut._types import FloatArray, IndexArray
from bestcut.counts import NOTHING, dropped, law_error, law_of
from bestcut.metrics import Metric
from bestcut.scores import Atoms, Moments, UtilityDistribution

_DRAWS = 4000
_SEED = 0
_TOGETHER = 1 << 21  # draws of a row's class at a time


class DrawnClasses:
    """One class for each row, of which one is right: a source of scores.

    The expected score is exact: it is a mean over columns. For the distribution a class
    is drawn for each row, again and again, since the classes of a row exclude each
    other, and columns are not independent.

    Parameters
    ----------
    p : ndarray of float, shape (rows, classes)
        Probabilities.
    chosen : ndarray of int, shape (rows,)
        Which class is predicted.
    share : ndarray of float, shape (classes,)
        The weight of each class in the average.
    mean, error : float
        The expected score, and what it may be wrong by.
    draws : int
        How many draws of all rows.
    seed : int
        Where the random numbers begin.
    """

    def __init__(
        self,
        p: FloatArray,
        chosen: IndexArray,
        share: FloatArray,
        mean: float,
        error: float,
        draws: int = _DRAWS,
        seed: int = _SEED,
    ) -> None:
        self.p, self.chosen, self.share = p, chosen, share
        self.mean, self.error = mean, error
        self.draws, self.seed = draws, seed
        self._known: dict[Metric, FloatArray] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what cannot be computed again."""
        return self.__dict__ | {"_known": {}}

    def moments(self, metric: Metric) -> Moments:
        """Return the exact mean, and the standard deviation of the draws."""
        scores = self._scores(metric)
        return Moments(self.mean, float(scores.std(ddof=1)), self.error)

    def utility(self, metric: Metric) -> UtilityDistribution:
        """Return the distribution of the draws."""
        values = metric.sign * self._scores(metric)
        return Atoms(values, np.full(values.size, 1.0 / values.size), 1)

    def sample(self, metric: Metric, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw scores."""
        rows, classes = self.p.shape
        edges = np.cumsum(self.p, axis=1)
        edges[:, -1] = np.inf  # rounding leaves no gap
        size_of = np.bincount(self.chosen, minlength=classes).astype(np.float64)
        out = np.empty(size)
        step = max(_TOGETHER // max(rows * classes, 1), 1)
        for first in range(0, size, step):
            count = min(step, size - first)
            u = rng.random((count, rows, 1))
            actual = np.sum(u >= edges[None, :, :], axis=2)
            draw = np.repeat(np.arange(count), rows)
            flat = draw * classes + actual.ravel()
            shape = (count, classes)
            n_pos = np.bincount(flat, minlength=count * classes).reshape(shape)
            hit = flat[(actual == self.chosen).ravel()]
            tp = np.bincount(hit, minlength=count * classes).reshape(shape)
            n = np.full(shape, float(rows))
            score = metric.score(
                tp.astype(np.float64), size_of, n_pos.astype(np.float64), n
            )
            out[first : first + count] = np.broadcast_to(score, shape) @ self.share
        return out

    def level_error(
        self, metric: Metric, utility: UtilityDistribution, level: float
    ) -> float:
        """Return the standard error of a level that comes from the number of draws."""
        return float(np.sqrt(level * (1.0 - level) / self.draws))

    def _scores(self, metric: Metric) -> FloatArray:
        if metric not in self._known:
            rng = np.random.default_rng(self.seed)
            self._known[metric] = self.sample(metric, self.draws, rng)
        return self._known[metric]


class MicroClasses:
    """One score of all rows and classes together: TP is the number of right rows.

    Parameters
    ----------
    right : ndarray of float, shape (rows,)
        The probability that each row's class is right.
    classes : int
        How many classes there are.
    """

    def __init__(self, right: FloatArray, classes: int) -> None:
        self.rows, self.classes = float(right.size), float(classes)
        self.law = law_of(right) if right.size else NOTHING

    def _values(self, metric: Metric) -> FloatArray:
        tp, rows = self.law.counts, self.rows
        score = metric.score(tp, rows, rows, rows * self.classes)
        return np.asarray(np.broadcast_to(score, tp.shape), dtype=np.float64)

    def moments(self, metric: Metric) -> Moments:
        """Return mean and standard deviation, and a bound on the mean's error."""
        values = self._values(metric)
        mean = float(self.law.pmf @ values)
        std = float(np.sqrt(self.law.pmf @ (values - mean) ** 2))
        size = float(np.abs(values).max())
        n = int(self.rows)
        return Moments(mean, std, (law_error(values.size, n) + dropped(n)) * size)

    def utility(self, metric: Metric) -> UtilityDistribution:
        """Return the distribution of the utility."""
        values = metric.sign * self._values(metric)
        return Atoms(values, self.law.pmf, int(self.rows))

    def sample(self, metric: Metric, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw scores."""
        return rng.choice(self._values(metric), size=size, p=self.law.pmf)
