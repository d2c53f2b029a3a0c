"""Multi-label problems whose probabilities are known as draws, column by column.

Either all columns share a draw (one map for all of them, or one member of an ensemble),
or each column has draws of its own and they are independent. Given a draw of each
column, labels are independent, so everything is a mean over such joint draws. The mean
of the scores of independent columns needs none: its law is a convolution.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from bestcut import _errors as errors
from bestcut._caches import Lean
from bestcut._types import EPS, BoolArray, CountArray, FloatArray, IndexArray
from bestcut.goals import Certain, condition_of
from bestcut.many._average import GridLaw, PredictionSet, grid_atoms, grid_sum, on_grid
from bestcut.metrics import Metric
from bestcut.scores import (
    Moments,
    Prediction,
    UtilityDistribution,
    score_table,
)
from bestcut.uncertain import UncertainProbabilities, draws_of, interleaved, some_of

_COMBINATIONS = 1024  # of draws of independent columns that are all taken


class DrawnMatrix(Lean):
    """Draws of the probabilities of each column.

    Attributes
    ----------
    columns : list of UncertainProbabilities
        As many instances in each.
    shared : bool
        Whether draw b of all columns belongs together.
    shape : tuple of int
        Rows and columns.
    """

    def __init__(self, columns: list[UncertainProbabilities], shared: bool) -> None:
        self.columns, self.shared = columns, shared
        self.shape = len(columns[0]), len(columns)

    @cached_property
    def cells(self) -> UncertainProbabilities:
        """All cells, row by row, with joint draws."""
        return interleaved(self.columns, self._joint())

    def row(self, i: int) -> UncertainProbabilities:
        """Return the cells of a row, with joint draws."""
        return some_of(self.cells, slice(i * self.shape[1], (i + 1) * self.shape[1]))

    def _joint(self) -> IndexArray:
        """Return which draw of each column is in which joint draw: a row for each.

        Of independent columns all combinations are taken if they are few, and else each
        column's draws in a random order, which has a fixed seed.
        """
        counts = [column.n_draws for column in self.columns]
        if self.shared:
            return np.repeat(np.arange(counts[0])[:, None], len(counts), axis=1)
        if prod(counts) <= _COMBINATIONS:
            return np.indices(counts).reshape(len(counts), -1).T
        for j, count in enumerate(counts):
            if count != counts[0]:
                raise errors.bad_value(
                    "y_proba",
                    "must have the same number of draws in all columns, or at most "
                    f"{_COMBINATIONS} combinations of draws; y_proba[0] has "
                    f"{counts[0]} and y_proba[{j}] has {count}",
                    "Make all columns with the same `n_draws`.",
                )
        rng = np.random.default_rng(0)
        return np.stack([rng.permutation(count) for count in counts], axis=1)

    def average(self, labels: BoolArray, *, of_rows: bool) -> DrawnSets | DrawnColumns:
        """Return the mean score of predictions for all rows, or for all columns."""
        rows, columns = self.shape
        if of_rows:
            return DrawnSets(self.cells, labels.ravel(), np.full(rows, columns))
        if self.shared:
            by_column = np.arange(rows * columns).reshape(self.shape).T.ravel()
            cells, sizes = some_of(self.cells, by_column), np.full(columns, rows)
            each = _predictions(self.columns, labels.T)
            return SharedColumns(cells, labels.T.ravel(), sizes, each)
        return DrawnColumns(self.columns, labels.T)


def _predictions(
    columns: list[UncertainProbabilities], labels: BoolArray
) -> list[Prediction]:
    pairs = zip(columns, labels, strict=True)
    return [Prediction.of_labels(p, chosen) for p, chosen in pairs]


def columns_of_draws(values: Any, *, shared: bool) -> DrawnMatrix | None:
    """Return the columns if they are draws of probabilities, refusing what is mixed."""
    if isinstance(values, UncertainProbabilities):
        raise errors.bad_kind(
            "y_proba",
            "must be a matrix, or a list with the UncertainProbabilities of each "
            "column",
            "Pass `[y_proba]` if there is one column.",
            got="a single UncertainProbabilities",
        )
    listed = values if isinstance(values, list | tuple) else ()
    drawn = [isinstance(one, UncertainProbabilities) for one in listed]
    if not any(drawn):
        if shared:
            raise errors.bad_value(
                "shared_draws",
                "is for draws of probabilities",
                "Leave `shared_draws` out.",
                got="a matrix of known probabilities",
            )
        return None
    if not all(drawn):
        at = drawn.index(False)
        raise errors.bad_kind(
            "y_proba",
            f"must hold an UncertainProbabilities for each column; y_proba[{at}] is "
            f"{type(values[at]).__name__}",
            "For known probabilities, pass `UncertainProbabilities([column])`, "
            "which is one draw.",
        )
    for j, column in enumerate(values):
        if len(column) != len(values[0]):
            raise errors.bad_value(
                "y_proba",
                "must have the same number of instances in all columns; y_proba[0] has "
                f"{len(values[0])} and y_proba[{j}] has {len(column)}",
            )
        if shared and column.n_draws != values[0].n_draws:
            raise errors.draws_not_shared(j, column.n_draws, values[0].n_draws)
    return DrawnMatrix(list(values), shared)


class DrawnSets:
    """The mean score of predictions for many problems that share every draw.

    Attributes
    ----------
    cells : UncertainProbabilities
        Draws of the probabilities, problem after problem.
    labels, sizes
        As of `PredictionSet`.
    """

    def __init__(
        self, cells: UncertainProbabilities, labels: BoolArray, sizes: CountArray
    ) -> None:
        self.cells, self.labels, self.sizes = cells, labels, sizes
        self.n_draws = cells.n_draws
        self._known: dict[Metric, list[GridLaw]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what cannot be computed again."""
        return self.__dict__ | {"_known": {}}

    def in_draw(self, b: int) -> PredictionSet:
        """Return the predictions as they are in one draw."""
        one = draws_of(self.cells).only(np.array([b]))
        return PredictionSet(one.rows(0, one.n).ravel(), self.labels, self.sizes)

    def at_mean(self) -> PredictionSet:
        """Return the predictions as they are with the mean probabilities."""
        return PredictionSet(self.cells.mean, self.labels, self.sizes)

    def reached(self, metric: Metric, wanted: float | Certain) -> FloatArray:
        """Return what every problem reaches of a condition."""
        ones = map(self.one, range(self.sizes.size))
        return np.array([condition_of(x, metric, wanted).reached for x in ones])

    def one(self, i: int) -> Prediction:
        """Return the prediction for one problem."""
        end = int(self.sizes[: i + 1].sum())
        here = slice(end - int(self.sizes[i]), end)
        return Prediction.of_labels(some_of(self.cells, here), self.labels[here])

    def moments(self, metric: Metric) -> Moments:
        """Return the moments of the mean score."""
        return Moments.over_draws(*self.by_draw(metric))

    def by_draw(self, metric: Metric) -> tuple[FloatArray, FloatArray, float]:
        """Return mean and standard deviation in every draw, and the mean's error."""
        each = [self.in_draw(b).moments(metric) for b in range(self.n_draws)]
        mean, std, error = np.array([one[:3] for one in each]).T
        return mean, std, float(error.max())

    def laws(self, metric: Metric) -> list[GridLaw]:
        """Return the law of the sum of utilities in every draw."""
        if metric not in self._known:
            self._known[metric] = [
                self.in_draw(b).sum_law(metric) for b in range(self.n_draws)
            ]
        return self._known[metric]

    def utility(self, metric: Metric) -> UtilityDistribution:
        """Return the law of the mean utility, on grids; see `PredictionSet`."""
        return grid_atoms(self.laws(metric), self.sizes.size)

    def level_error(
        self, metric: Metric, utility: UtilityDistribution, q: float
    ) -> float:
        """Return the standard error of the level of a quantile, over draws."""
        if self.n_draws == 1:
            return 0.0
        value = utility.quantile(q) if metric.sign > 0 else utility.upper_quantile(q)
        most = (value + utility.tolerance) * self.sizes.size
        chances = [float(_upto(law, np.array(most))) for law in self.laws(metric)]
        return float(np.std(chances, ddof=1) / np.sqrt(self.n_draws))

    def sample(self, metric: Metric, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw mean scores: a draw of the probabilities for each, then labels."""
        draws, out = rng.integers(self.n_draws, size=size), np.empty(size)
        for b in np.unique(draws).tolist():
            here = np.flatnonzero(draws == b)
            out[here] = self.in_draw(b).sample(metric, here.size, rng)
        return out


class SharedColumns(DrawnSets):
    """The mean score of predictions for columns that share every draw."""

    def __init__(
        self,
        cells: UncertainProbabilities,
        labels: BoolArray,
        sizes: CountArray,
        columns: list[Prediction],
    ) -> None:
        super().__init__(cells, labels, sizes)
        self.columns = columns

    def by_draw(self, metric: Metric) -> tuple[FloatArray, FloatArray, float]:
        """Return mean and standard deviation in every draw, and the mean's error."""
        each = [one.by_draw(metric) for one in self.columns]
        mean = np.mean([one[0] for one in each], axis=0)
        variance = np.sum([one[1] ** 2 for one in each], axis=0) / len(each) ** 2
        error = float(np.mean([one[2] for one in each]))
        return mean, np.sqrt(variance), error + 64 * EPS * float(np.abs(mean).max())


class DrawnColumns:
    """The mean score of predictions for columns whose draws are independent."""

    def __init__(self, p: list[UncertainProbabilities], labels: BoolArray) -> None:
        self.p, self.labels = p, labels
        self.columns = _predictions(p, labels)

    def at_mean(self) -> PredictionSet:
        """Return the predictions as they are with the mean probabilities."""
        return PredictionSet.of_rows(np.array([x.mean for x in self.p]), self.labels)

    def moments(self, metric: Metric) -> Moments:
        """Return the moments of the mean score."""
        each = [one.moments(metric) for one in self.columns]
        mean, std, error, apart = np.array(each).T
        count, value = len(each), float(mean.mean())
        total, known = (float(np.sqrt(np.sum(x**2))) / count for x in (std, apart))
        wrong = float(error.mean()) + 64 * EPS * abs(value)
        return Moments(value, total, wrong, known)

    def _laws(self, metric: Metric) -> Iterator[GridLaw]:
        for one in self.columns:
            tp, fn = one.counts
            score = score_table(metric, tp.counts, fn.counts, one.n_pred, one.n)
            joint = tp.pmf @ fn.pmf.T / one.n_draws
            yield on_grid(metric.sign * score.ravel(), joint.ravel())

    def utility(self, metric: Metric) -> UtilityDistribution:
        """Return the law of the mean utility, on a grid; see `PredictionSet`."""
        return grid_atoms([grid_sum(list(self._laws(metric)))], len(self.columns))

    def level_error(
        self, metric: Metric, utility: UtilityDistribution, q: float
    ) -> float:
        """Return the standard error of the level of a quantile, over draws.

        To first order: what the draws of each column do while the others are as they
        are on the whole.
        """
        value = utility.quantile(q) if metric.sign > 0 else utility.upper_quantile(q)
        most = (value + utility.tolerance) * len(self.columns)
        laws, variance = list(self._laws(metric)), 0.0
        for j, one in enumerate(self.columns):
            if one.n_draws == 1:
                continue
            others = grid_sum([*laws[:j], *laws[j + 1 :], _ZERO])
            tp, fn = one.counts
            score = score_table(metric, tp.counts, fn.counts, one.n_pred, one.n)
            reached = _upto(others, most - metric.sign * score)
            chances = np.sum((reached @ fn.pmf) * tp.pmf, axis=0)
            variance += float(np.var(chances, ddof=1)) / one.n_draws
        return float(np.sqrt(variance))

    def sample(self, metric: Metric, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw mean scores."""
        each = [one.sample(metric, size, rng) for one in self.columns]
        return np.asarray(np.mean(each, axis=0))


_ZERO = GridLaw(0.0, 1.0, np.ones(1), 0.0)


def _upto(law: GridLaw, values: FloatArray) -> FloatArray:
    """Return the probability of at most some values."""
    upto = np.concatenate([[0.0], np.cumsum(law.mass)])
    place = np.floor((values - law.start) / law.step * (1 + 4 * EPS)) + 1
    at = np.clip(place, 0, law.mass.size).astype(np.intp)
    return np.asarray(upto[at])
