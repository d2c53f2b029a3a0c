"""The mean of the scores of many predictions, before any label is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bestcut._types import EPS, BoolArray, CountArray, FloatArray, IndexArray
from bestcut.counts import count_laws
from bestcut.goals import Certain, condition_of
from bestcut.many._counts import LARGEST_TABLES
from bestcut.many._laws import law_error, values_at_cut
from bestcut.metrics import Metric
from bestcut.scores import Atoms, Moments, Prediction, UtilityDistribution

_TOGETHER = 1024
_GRID = 4096  # points of a law
_NOISE = 16 * EPS  # of the largest mass of a law: what a transform adds to the others


class PredictionSet:
    """Predictions for many problems, whose scores are averaged.

    Attributes
    ----------
    p : ndarray of shape (n,)
        Probabilities, problem after problem.
    labels : ndarray of bool, shape (n,)
        Predictions.
    sizes : ndarray of int
        How many probabilities each problem has.
    total : int or None
        How many instances each problem has, if they are more: the others have
        probability 0, and are predicted negative.
    """

    def __init__(
        self,
        p: FloatArray,
        labels: BoolArray,
        sizes: CountArray,
        total: int | None = None,
    ) -> None:
        self.p, self.labels, self.sizes, self.total = p, labels, sizes, total
        self._ends = np.cumsum(sizes)
        chosen = np.concatenate([[0], np.cumsum(labels)])
        self.n_pred = chosen[self._ends] - chosen[self._ends - sizes]

    @classmethod
    def of_rows(cls, p: FloatArray, labels: BoolArray) -> PredictionSet:
        """Return the predictions for the rows of a matrix, which may change later."""
        sizes = np.full(p.shape[0], p.shape[1], dtype=np.int64)
        return cls(p.flatten(), labels.flatten(), sizes)

    def each(self, metric: Metric) -> list[Moments]:
        """Return the moments of every problem's score."""
        out: list[Moments] = [Moments(0.0, 0.0, 0.0)] * self.sizes.size
        for i, one in self._large():
            out[i] = one.moments(metric)
        for problems, table, above, below in self._by_cut(metric):
            mean = np.einsum("ar,ar->r", above, table @ below)
            square = np.einsum("ar,ar->r", above, table**2 @ below)
            std = np.sqrt(np.maximum(square - mean**2, 0.0))
            m = int(self.sizes[problems[0]])
            error = law_error(m) * float(np.max(np.abs(table)))
            for i, a, b in zip(problems.tolist(), mean, std, strict=True):
                out[i] = Moments(float(a), float(b), error)
        return out

    def reached(self, metric: Metric, wanted: float | Certain) -> FloatArray:
        """Return what every problem reaches of a condition."""
        if isinstance(wanted, Certain):
            ones = map(self.one, range(self.sizes.size))
            return np.array([condition_of(x, metric, wanted).reached for x in ones])
        return np.array([x.mean for x in self.each(metric)])

    def moments(self, metric: Metric) -> Moments:
        """Return the moments of the mean score; problems are independent."""
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
        return grid_atoms([self.sum_law(metric)], self.sizes.size)

    def sum_law(self, metric: Metric) -> GridLaw:
        """Return the law of the sum of the utilities of all problems, on a grid."""
        return grid_sum(list(self._laws(metric)))

    def sample(self, metric: Metric, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw mean scores."""
        total = np.zeros(size)
        for i in range(self.sizes.size):
            total += self.one(i).sample(metric, size, rng)
        return np.asarray(total / self.sizes.size)

    def one(self, i: int) -> Prediction:
        """Return the prediction for one problem."""
        size, end = int(self.sizes[i]), int(self._ends[i])
        n = size if self.total is None else self.total
        p, labels = np.zeros(n), np.zeros(n, dtype=np.bool_)
        p[:size], labels[:size] = (
            self.p[end - size : end],
            self.labels[end - size : end],
        )
        return Prediction.of_labels(p, labels)

    def _large(self) -> Iterator[tuple[int, Prediction]]:
        """Yield the problems that are too large for tables of all pairs of counts."""
        for i in np.flatnonzero(self.sizes > LARGEST_TABLES).tolist():
            yield i, self.one(i)

    def _by_cut(
        self, metric: Metric
    ) -> Iterator[tuple[IndexArray, FloatArray, FloatArray, FloatArray]]:
        """Yield small problems with equally many positives, the metric's values, laws.

        The laws are those of the positives that are caught, and missed.
        """
        small = self.sizes <= LARGEST_TABLES
        for m in np.unique(self.sizes[small]).tolist():
            n = m if self.total is None else self.total
            alike = self.sizes == m
            for k in np.unique(self.n_pred[alike]).tolist():
                table = values_at_cut(metric, k, m, n)
                which = np.flatnonzero(alike & (self.n_pred == k))
                for i in range(0, which.size, _TOGETHER):
                    problems = which[i : i + _TOGETHER]
                    places = (self._ends[problems] - m)[:, None] + np.arange(m)
                    p, labels = self.p[places], self.labels[places]
                    above = count_laws(p[labels].reshape(problems.size, k).T)
                    below = count_laws(p[~labels].reshape(problems.size, m - k).T)
                    yield problems, table, above, below

    def _laws(self, metric: Metric) -> Iterator[GridLaw]:
        sign = metric.sign
        for _, at in self._large():
            k, n = float(at.n_pred), float(at.n)
            a, b = at.tp.counts[:, None], at.fn.counts
            score = metric.score_cells(a, k - a, b, n - k - b)
            score = np.broadcast_to(score, (a.size, b.size))
            mass = np.multiply.outer(at.tp.pmf, at.fn.pmf)
            yield on_grid(sign * score.ravel(), mass.ravel())
        for _, table, above, below in self._by_cut(metric):
            values = sign * table.ravel()
            for a, b in zip(above.T, below.T, strict=True):
                yield on_grid(values, np.multiply.outer(a, b).ravel())


class GridLaw(NamedTuple):
    """Mass at start, start + step, ...; `noise` is the variance that the grid added.

    What is possible lies from `low` to `high`; a grid may reach a step further.
    """

    start: float
    step: float
    mass: FloatArray
    noise: float
    low: float = -np.inf
    high: float = np.inf


def grid_sum(laws: list[GridLaw]) -> GridLaw:
    """Return the law of the sum of independent values, with all that grids added."""
    noise = sum(law.noise for law in laws)
    low = sum(law.start for law in laws)
    high = sum(law.start + law.step * (law.mass.size - 1) for law in laws)
    while len(laws) > 1:
        pairs = zip(laws[::2], laws[1::2], strict=False)
        merged = [_summed(a, b) for a, b in pairs]
        noise += sum(law.noise for law in merged)
        laws = merged + (laws[-1:] if len(laws) % 2 else [])
    return laws[0]._replace(noise=noise, low=low, high=high)


def grid_atoms(laws: list[GridLaw], count: int) -> Atoms:
    """Return the law of a mean of `count` utilities: any of these laws of their sum."""
    values = [law.start + law.step * np.arange(law.mass.size) for law in laws]
    mass = np.concatenate([law.mass for law in laws]) / len(laws)
    noise = float(np.mean([law.noise for law in laws]))
    at = np.concatenate(values) / count
    found = _GridAtoms(at, mass, _GRID, float(np.sqrt(noise)) / count)
    found.low = min(law.low for law in laws) / count
    found.high = max(law.high for law in laws) / count
    return found


class _GridAtoms(Atoms):
    """A law on a grid that may reach beyond what is possible, unlike its quantiles."""

    low: float
    high: float

    def quantile(self, q: float) -> float:
        """Return the smallest u with P(U <= u) >= q, up to `probability_error`."""
        return min(max(super().quantile(q), self.low), self.high)

    def upper_quantile(self, q: float) -> float:
        """Return the largest u with P(U >= u) >= q, up to `probability_error`."""
        return min(max(super().upper_quantile(q), self.low), self.high)


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
