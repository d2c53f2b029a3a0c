"""Assignments of entries to rows that raise the sum of the columns' scores.

To first order an entry is worth a_j p - c_j, where a_j and c_j are the slopes of the
score of its column in the expected number of hits and in the number of predictions. In
every step some rows take their best entries at the slopes of the moment; these change
with every step, so that columns fill up until no row gains by another choice.

The score of a column is taken at three values of its number of positives, the Gauss
rule of its distribution, with the hits in proportion. Values and bounds come
afterwards, from the exact distributions: see `bestcut.assignment._certificate`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut.assignment._entries import Entries, RowGroup
from bestcut.assignment._row_choice import Budgets, Parted, chosen, parted
from bestcut.counts import features, rule_of_sums
from bestcut.metrics import Metric, affine_parts

_BLOCKS = 16  # steps of a sweep over all rows
_FEWEST_ROWS = 32  # rows that are worth a step, from the third sweep on
_SWEEPS = 60
NEGLIGIBLE = 1e-9  # of the score: a gain that is not worth another sweep
_NODES = 3  # of the rule that stands for a distribution
_SUMS = 2 * _NODES - 1
_NOBODY = 1e-200  # positives: fewer change no score, and a share of them would overflow
_VARIES = 1e-12  # variance of a number of positives that is not certain
_OVERFULL, _OTHERS = 3, 24  # columns that change places
_TRIAL = 3  # sweeps after that
_COLUMNS_A_ROW = 100  # columns that may be looked at for each row that moves


class Scores(Protocol):
    """The scores of columns, by sums over the entries that are taken.

    Attributes
    ----------
    powers : int
        How many powers of probabilities are summed.
    """

    @property
    def powers(self) -> int:
        """How many powers of probabilities are summed."""

    def value(self, sums: FloatArray, size: FloatArray) -> FloatArray:
        """Return the weighted utility of every column."""

    def slopes(
        self, sums: FloatArray, size: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what each power of p is worth in each column, and what is its cost."""


def polynomial(p: FloatArray, slopes: FloatArray, extra: float) -> FloatArray:
    """Return the sum of slopes[m] p^(m + 1), and `extra` times p."""
    total: FloatArray = slopes[-1] + np.zeros_like(p)
    for slope in slopes[-2::-1]:
        total *= p
        total += slope
    if extra:
        total += extra
    total *= p
    return total


class ColumnScores:
    """Approximate scores of columns, by their predictions and expected hits.

    Parameters
    ----------
    entries : Entries
        The matrix.
    metric : Metric
        The metric.
    weights : ndarray of float, shape (columns,)
        The share of each column in the average.
    """

    def __init__(self, entries: Entries, metric: Metric, weights: FloatArray) -> None:
        self.metric, self.weights = metric, weights
        self.n = float(entries.instances)
        sums = np.zeros((_SUMS, entries.shape[1]))
        for group in entries.groups:
            rows = features(group.p.ravel(), _SUMS)
            for i in range(_SUMS):
                if group.columns is None:
                    sums[i] += rows[i].reshape(group.p.shape).sum(axis=0)
                else:
                    sums[i] += np.bincount(
                        group.columns.ravel(), rows[i], entries.shape[1]
                    )
        self.mean = sums[0]
        nodes, self.chance = rule_of_sums(sums, _NODES)
        self.nodes = np.where(nodes < _NOBODY, 0.0, np.minimum(nodes, self.n))
        self.share = np.where(
            self.mean > 0.0, self.nodes / np.maximum(self.mean, 1e-300), 0.0
        )
        varies = sums[1] > _VARIES
        self.lean = np.where(
            varies, (self.nodes - sums[0]) / np.where(varies, sums[1], 1.0), 0.0
        )

    powers = 1  # of probabilities, whose sums are looked at

    def value(self, sums: FloatArray, size: FloatArray) -> FloatArray:
        """Return the weighted utility of every column."""
        return self._value(sums[0], size)

    def _value(self, hits: FloatArray, size: FloatArray) -> FloatArray:
        size = np.clip(size, 0.0, self.n)
        tp = np.minimum(hits * self.share, np.minimum(self.nodes, size))
        rest = self.n - size - self.nodes
        tp = np.maximum(tp, np.maximum(-rest, 0.0))
        cells = (tp, size - tp, self.nodes - tp, np.maximum(rest + tp, 0.0))
        score = self.metric.score_cells(*cells)
        utility = self.metric.sign * np.sum(self.chance * score, axis=0)
        return np.asarray(self.weights * utility)

    def slopes(
        self, sums: FloatArray, size: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what a hit is worth in each column, and what a prediction costs."""
        # Differences over one entry, which a column gains or loses.
        hits = sums[0]
        size = np.clip(size, 1.0, max(self.n - 1.0, 1.0))
        hits = np.minimum(hits, size)
        top = np.minimum(np.minimum(hits + 0.5, self.mean), size)
        bottom = np.minimum(np.maximum(hits - 0.5, 0.0), top)
        wide = np.maximum(top - bottom, 1e-9)
        bottom = top - wide
        a = (self._value(top, size) - self._value(bottom, size)) / wide
        c = self._value(hits, size - 0.5) - self._value(hits, size + 0.5)
        return a[None], c


class AffineScores(ColumnScores):
    """The same for a metric affine in TP, with hits as they come with the positives.

    Of S positives in a column, about T + (S - E S) (T - Q) / Var S are hits, where T
    sums p over the entries that are taken, and Q sums p²: exact to first order in S.
    """

    metric: Any
    powers = 2

    def value(self, sums: FloatArray, size: FloatArray) -> FloatArray:
        """Return the weighted utility of every column."""
        size = np.clip(size, 0.0, self.n)
        base, slope = affine_parts(self.metric, size, self.nodes, self.n)
        tp = sums[0] + self.lean * (sums[0] - sums[1])
        utility = self.metric.sign * np.sum(self.chance * (base + slope * tp), axis=0)
        return np.asarray(self.weights * utility)

    def slopes(
        self, sums: FloatArray, size: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what p and p² are worth in each column, and what is their cost."""
        size = np.clip(size, 1.0, max(self.n - 1.0, 1.0))
        slope = self.chance * affine_parts(self.metric, size, self.nodes, self.n)[1]
        lean = np.sum(slope * self.lean, axis=0)
        worth = np.stack([np.sum(slope, axis=0) + lean, -lean])
        cost = self.value(sums, size - 0.5) - self.value(sums, size + 0.5)
        return self.metric.sign * self.weights * worth, cost


class CoverageScores:
    """The chance of columns to be hit at least once.

    It is 1 - exp(-Y), where Y sums -log(1 - p) = p + p²/2 + p³/3 + ... over the entries
    that are taken.
    """

    powers = 8

    def __init__(self, weights: FloatArray) -> None:
        self.weights = weights
        self.factor = 1.0 / np.arange(1.0, self.powers + 1.0)[:, None]

    def value(self, sums: FloatArray, size: FloatArray) -> FloatArray:
        """Return the weighted utility of every column."""
        return np.asarray(-self.weights * np.expm1(-np.sum(self.factor * sums, axis=0)))

    def slopes(
        self, sums: FloatArray, size: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what each power of p is worth in each column, at no cost."""
        left = self.weights * np.exp(-np.sum(self.factor * sums, axis=0))
        return self.factor * left, np.zeros(left.size)


class Ascent:
    """The state of an ascent: which entries are taken.

    Parameters
    ----------
    entries : Entries
        The matrix.
    scores : Scores
        The scores of its columns.
    budgets : Budgets
        How many entries each row takes.
    extra : float
        What each expected hit is worth besides.
    taken : ndarray of bool, optional
        The entries that are taken first; the most probable ones if not given.
    """

    def __init__(
        self,
        entries: Entries,
        scores: Scores,
        budgets: Budgets,
        extra: float,
        taken: BoolArray | None = None,
    ) -> None:
        self.entries, self.scores, self.budgets = entries, scores, budgets
        self.extra = extra
        self.near = taken is not None  # worths will not move far
        self.expected = entries.sums(entries.p)
        self.labels: list[BoolArray] = []
        for group in entries.groups:
            if taken is None:
                worth = np.where(group.p > 0.0, group.p, -np.inf)
                self.labels.append(chosen(worth, budgets.of(group.rows)))
            else:
                self.labels.append(entries.part(taken, group).copy())
        self._count()

    def _count(self) -> None:
        self.size = np.zeros(self.entries.shape[1])
        self.sums = np.zeros((self.scores.powers, self.entries.shape[1]))
        for group, labels in zip(self.entries.groups, self.labels, strict=True):
            self._add(group, slice(None), labels.astype(np.float64))

    def _add(self, group: RowGroup, rows: Any, change: FloatArray) -> None:
        """Note the entries that come (1) or go (-1)."""
        p = group.p[rows]
        if group.columns is None:
            self.size += change.sum(axis=0)
            for total in self.sums:
                change = change * p
                total += change.sum(axis=0)
            return
        changed = np.nonzero(change)
        columns, by, p = group.columns[rows][changed], change[changed], p[changed]
        count = self.size.size
        self.size += np.bincount(columns, by, count)
        for total in self.sums:
            by = by * p
            total += np.bincount(columns, by, count)

    def objective(self) -> float:
        """Return the approximate weighted sum of utilities."""
        value = self.scores.value(self.sums, self.size)
        return float(value.sum() + self.extra * self.sums[0].sum())

    def run(self, sweeps: int = _SWEEPS) -> list[BoolArray]:
        """Sweep over the rows until nothing is gained; return the labels.

        From the second sweep on, rows whose choice has hardly changed are passed over:
        the worths of the entries nearest to it moved by less than what parts them.
        """
        rng = np.random.default_rng(0)
        orders = [rng.permutation(group.rows.size) for group in self.entries.groups]
        self.now = self.objective()
        self._moved = np.zeros(self.size.size)
        self._last = self.scores.slopes(self.sums, self.size)
        self._safe = [np.full(x.size, -np.inf) for x in orders]
        self._nearest = [np.zeros((2, x.size), dtype=np.intp) for x in orders]
        every = False
        for sweep in range(sweeps):
            start, few = self.now, _FEWEST_ROWS if sweep > 1 else 1
            for i, group in enumerate(self.entries.groups):
                moved = self._moved[self._nearest[i]].sum(axis=0)
                rows = orders[i][(self._safe[i] <= moved)[orders[i]]]
                blocks = min(_BLOCKS, -(-rows.size // few))
                for some in np.array_split(rows, max(blocks, 1)):
                    self._step(i, group, some, look=sweep > 0 or self.near)
            if self.now <= start + NEGLIGIBLE * abs(start):
                if every:
                    break
                self._safe = [np.full(x.size, -np.inf) for x in orders]
                every = True
            else:
                every = False
        self._count()  # sums do not drift
        self.now = self.objective()
        return self.labels

    def exchange(self) -> bool:
        """Let an overfull column and another one change places, if that is a gain.

        Rows that must take more than they want fill some column up, and no row can
        change by itself which column that is.
        """
        self.now = self.objective()
        best, kept = self.now, [x.copy() for x in self.labels]
        fill = self.size / np.maximum(self.expected, 0.5)
        overfull = [c for c in np.argsort(-fill)[:_OVERFULL].tolist() if fill[c] > 1.0]
        for full in overfull:
            # It costs least to fill up a column of many positives.
            for other in np.argsort(-self.expected)[:_OTHERS].tolist():
                if other == full:
                    continue
                self._change_places(full, other)
                self.run(_TRIAL)
                if self.now > best + NEGLIGIBLE * abs(best):
                    self.run()
                    return True
                self.labels = [x.copy() for x in kept]
                self._count()
                self.now = best
        return False

    def _change_places(self, full: int, other: int) -> None:
        for i, group in enumerate(self.entries.groups):
            columns = group.columns
            at = [
                np.broadcast_to(
                    np.arange(group.p.shape[1]) if columns is None else columns,
                    group.p.shape,
                )
                == c
                for c in (full, other)
            ]
            inside = [x & (group.p > 0.0) for x in at]
            labels = self.labels[i]
            takes = [np.any(labels & x, axis=1) for x in inside]
            moves = takes[0] & ~takes[1] & np.any(inside[1], axis=1)
            labels[inside[0] & moves[:, None]] = False
            labels[inside[1] & moves[:, None]] = True
        self._count()

    def _slopes(self) -> tuple[FloatArray, FloatArray]:
        """Return the slopes of the moment, and note how far they have moved."""
        slopes, cost = self.scores.slopes(self.sums, self.size)
        before = self._last
        by = np.abs(slopes - before[0]).sum(axis=0) + np.abs(cost - before[1])
        self._moved += by
        self._last = slopes, cost
        return slopes, cost

    def _note(self, i: int, rows: IndexArray, columns: Any, found: Parted) -> None:
        """Note how far worths may move until rows look again."""
        nearest = np.stack([found.taken, found.left])
        if self.entries.groups[i].columns is not None:
            nearest = columns[np.arange(rows.size), nearest]
        self._nearest[i][:, rows] = nearest
        self._safe[i][rows] = found.by + self._moved[nearest].sum(axis=0)

    def _step(
        self, i: int, group: RowGroup, rows: IndexArray, look: bool = False
    ) -> None:
        """Let some rows take their best entries at the slopes of the moment.

        If that is no gain, since they all went the same way, half of them go first.
        """
        if not rows.size:
            return
        slopes, cost = self._slopes()
        columns = group.column_of(rows)
        p = group.p[rows]
        worth = polynomial(p, slopes[:, columns], self.extra)
        worth -= cost[columns]
        if group.padded:
            worth[p == 0.0] = -np.inf
        before = self.labels[i][rows]
        budgets = self.budgets.of(group.rows[rows])
        labels = chosen(worth, budgets)
        if look:
            self._note(i, rows, columns, parted(worth, labels, budgets))
        moved = np.flatnonzero(np.any(labels != before, axis=1))
        if not moved.size:
            return
        change = labels[moved].astype(np.float64)
        change -= before[moved]
        size, sums = self.size.copy(), self.sums.copy()
        self._add(group, rows[moved], change)
        now = self.objective()
        if now >= self.now:
            self.now = now
            self.labels[i][rows[moved]] = labels[moved]
            return
        self.size, self.sums = size, sums
        # A step looks at every column, so that enough rows must move.
        if moved.size > max(1, self.size.size // _COLUMNS_A_ROW):
            half = moved.size // 2
            self._safe[i][rows[moved]] = -np.inf
            self._step(i, group, rows[moved[:half]], look)
            self._step(i, group, rows[moved[half:]], look)
