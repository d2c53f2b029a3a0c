"""The mean of the scores of many predictions, before any label is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.many._counts import LARGEST_TABLES, count_laws
from bestcut.many._laws import law_error, values_at_cut
from bestcut.metrics import Metric
from bestcut.scores import Atoms, Moments, Prediction, UtilityDistribution

_TOGETHER = 1024
_GRID = 4096  # points of a law
_NOISE = 16 * EPS  # of the largest mass of a law: what a transform adds to the others


class PredictionSet:
    """Predictions for the rows of a matrix, whose scores are averaged.

    Attributes
    ----------
    p : ndarray of shape (rows, columns)
        Probabilities.
    labels : ndarray of bool, shape (rows, columns)
        Predictions.
    """

    def __init__(self, p: FloatArray, labels: BoolArray) -> None:
        self.p, self.labels = p, labels
        self.n_pred = np.count_nonzero(labels, axis=1)

    def each(self, metric: Metric) -> list[Moments]:
        """Return the moments of every row's score."""
        out: list[Moments] = [Moments(0.0, 0.0, 0.0)] * self.p.shape[0]
        if self.p.shape[1] > LARGEST_TABLES:
            for i, (p, labels) in enumerate(zip(self.p, self.labels, strict=True)):
                out[i] = Prediction.of_labels(p, labels).moments(metric)
            return out
        m = self.p.shape[1]
        for rows, table, above, below in self._by_cut(metric):
            mean = np.einsum("ar,ar->r", above, table @ below)
            square = np.einsum("ar,ar->r", above, table**2 @ below)
            std = np.sqrt(np.maximum(square - mean**2, 0.0))
            error = law_error(m) * float(np.max(np.abs(table)))
            for i, a, b in zip(rows.tolist(), mean, std, strict=True):
                out[i] = Moments(float(a), float(b), error)
        return out

    def moments(self, metric: Metric) -> Moments:
        """Return the moments of the mean score; rows are independent."""
        each = self.each(metric)
        count = len(each)
        if not count:
            return Moments(float("nan"), float("nan"), 0.0)
        mean = float(np.mean([x.mean for x in each]))
        std = float(np.sqrt(np.sum([x.std**2 for x in each]))) / count
        error = float(np.mean([x.error for x in each])) + 64 * EPS * abs(mean)
        return Moments(mean, std, error)

    def utility(self, metric: Metric) -> UtilityDistribution:
        """Return the law of the mean utility, on a grid.

        Laws are convolved in pairs, pairs of pairs, and so on. Each result is put on a
        grid of its own, a value between two points going to both so that its mean
        stays. The outcome is the law of the mean score plus an independent error whose
        mean is 0 and whose standard deviation is at most `value_error`.
        """
        return grid_atoms([self.sum_law(metric)], self.p.shape[0])

    def sum_law(self, metric: Metric) -> GridLaw:
        """Return the law of the sum of the utilities of all rows, on a grid."""
        return grid_sum(list(self._row_laws(metric)))

    def sample(self, metric: Metric, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw mean scores."""
        total = np.zeros(size)
        for p, labels in zip(self.p, self.labels, strict=True):
            total += Prediction.of_labels(p, labels).sample(metric, size, rng)
        return np.asarray(total / self.p.shape[0])

    def _by_cut(
        self, metric: Metric
    ) -> Iterator[tuple[IndexArray, FloatArray, FloatArray, FloatArray]]:
        """Yield rows with equally many positives, the metric's values, both laws."""
        m = self.p.shape[1]
        for k in np.unique(self.n_pred).tolist():
            table = values_at_cut(metric, k, m, m)
            which = np.flatnonzero(self.n_pred == k)
            for i in range(0, which.size, _TOGETHER):
                rows = which[i : i + _TOGETHER]
                p, labels = self.p[rows], self.labels[rows]
                above = count_laws(p[labels].reshape(rows.size, k).T)
                below = count_laws(p[~labels].reshape(rows.size, m - k).T)
                yield rows, table, above, below

    def _row_laws(self, metric: Metric) -> Iterator[GridLaw]:
        sign = metric.sign
        if self.p.shape[1] > LARGEST_TABLES:
            for p, labels in zip(self.p, self.labels, strict=True):
                at = Prediction.of_labels(p, labels)
                k, n = float(at.n_pred), float(at.n)
                a, b = at.tp.counts[:, None], at.fn.counts
                score = metric.score_cells(a, k - a, b, n - k - b)
                score = np.broadcast_to(score, (a.size, b.size))
                mass = np.multiply.outer(at.tp.pmf, at.fn.pmf)
                yield on_grid(sign * score.ravel(), mass.ravel())
            return
        for _, table, above, below in self._by_cut(metric):
            values = sign * table.ravel()
            for a, b in zip(above.T, below.T, strict=True):
                yield on_grid(values, np.multiply.outer(a, b).ravel())


class GridLaw(NamedTuple):
    """Mass at start, start + step, ...; `noise` is the variance that the grid added."""

    start: float
    step: float
    mass: FloatArray
    noise: float


def grid_sum(laws: list[GridLaw]) -> GridLaw:
    """Return the law of the sum of independent values, with all that grids added."""
    noise = sum(law.noise for law in laws)
    while len(laws) > 1:
        pairs = zip(laws[::2], laws[1::2], strict=False)
        merged = [_summed(a, b) for a, b in pairs]
        noise += sum(law.noise for law in merged)
        laws = merged + (laws[-1:] if len(laws) % 2 else [])
    return laws[0]._replace(noise=noise)


def grid_atoms(laws: list[GridLaw], count: int) -> Atoms:
    """Return the law of a mean of `count` utilities: any of these laws of their sum."""
    values = [law.start + law.step * np.arange(law.mass.size) for law in laws]
    mass = np.concatenate([law.mass for law in laws]) / len(laws)
    noise = float(np.mean([law.noise for law in laws]))
    at = np.concatenate(values) / count
    return Atoms(at, mass, _GRID, float(np.sqrt(noise)) / count)


def on_grid(values: FloatArray, mass: FloatArray) -> GridLaw:
    """Put a law on a grid, keeping its mean."""
    seen = values[mass > _NOISE * float(mass.max())]
    low, high = float(seen.min()), float(seen.max())
    step = (high - low) / (_GRID - 1)
    if step <= 0.0:
        return GridLaw(float(values @ mass), 1.0, np.ones(1), 0.0)
    place = np.clip((values - low) / step, 0.0, _GRID - 1.0)
    left = np.minimum(place.astype(np.intp), _GRID - 2)
    part = place - left
    out = _split(left, part, mass, _GRID)
    return GridLaw(low, step, out, float(part * (1.0 - part) @ mass) * step**2)


def _split(
    left: IndexArray, part: FloatArray, mass: FloatArray, size: int
) -> FloatArray:
    """Share each mass between a grid point and the next."""
    out = np.zeros(size)
    out += np.bincount(left, mass * (1.0 - part), size)
    out += np.bincount(left + 1, mass * part, size)
    return out


def _summed(a: GridLaw, b: GridLaw) -> GridLaw:
    """Return the law of the sum of two independent values, on a grid."""
    if a.mass.size == 1 or b.mass.size == 1:
        fixed, other = (a, b) if a.mass.size == 1 else (b, a)
        return GridLaw(fixed.start + other.start, other.step, other.mass, 0.0)
    step = max(a.step, b.step)
    # Both on the coarser grid, so that they can be convolved.
    laws = [_stretched(law, step) for law in (a, b)]
    size = laws[0].mass.size + laws[1].mass.size - 1
    length = 1 << (size - 1).bit_length()
    product = np.fft.rfft(laws[0].mass, length) * np.fft.rfft(laws[1].mass, length)
    mass = np.maximum(np.fft.irfft(product, length)[:size], 0.0)
    values: FloatArray = laws[0].start + laws[1].start + step * np.arange(float(size))
    merged = on_grid(values, mass / mass.sum())
    return merged._replace(noise=merged.noise + laws[0].noise + laws[1].noise)


def _stretched(law: GridLaw, step: float) -> GridLaw:
    """Return the law on a grid of another, not smaller, step."""
    if step == law.step:
        return law._replace(noise=0.0)
    place = np.arange(float(law.mass.size)) * (law.step / step)
    left = place.astype(np.intp)
    part = place - left
    size = int(left[-1]) + 2
    mass = _split(left, part, law.mass, size)
    noise = float(part * (1.0 - part) @ law.mass) * step**2
    return GridLaw(law.start, step, mass, noise)
