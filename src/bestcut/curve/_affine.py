"""Expected score of every cut, for metrics affine in TP: one dimension is enough.

The score is (alpha a + beta) / delta with a = S1, the positives above the cut, and the
rest a function of k and S, whose law does not depend on k. With nodes s_q and weights
w_q of the law of S,

    E f = sum_q (alpha A_q + w_q beta) / delta,   A_q(k) = "E[S1; S at node q]",

and A_q grows along the ranking by one term for each instance. Beyond the middle the sum
is over the instances below the cut, with a = S - b: either way the terms stay of the
size of the score, where a single form would cancel at the far end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bestcut._validation import FloatArray
from bestcut.counts._moments import (
    cumulant_matrix,
    features,
    hermite_coefficients,
    hermite_rule,
)
from bestcut.counts._window import dropped, given_positive, law_error, law_of
from bestcut.curve._blocks import (
    BlockCurve,
    block_edges,
    running_error,
    running_sums,
    running_totals,
)
from bestcut.curve._proof import plan_total
from bestcut.metrics._base import ratio

_SMALL = 0.1  # probabilities this near to 0 or 1 enter A_q by a short series
_SERIES_END = 1e-18
_FEW = 256
_EVALUATIONS = 40_000  # of the metric at a time: temporaries stay in cache


@dataclass(frozen=True)
class Piece:
    """Instances start..stop-1 of the ranking, and how they enter A_q.

    They add ``tilt @ rows(eta).sum(axis=1)``; without a tilt, the rows are the A_q.
    `terms` says how many columns of the tilt a block needs whose first, or last,
    probability is the one furthest from 0, or 1. `sums` are the rows' sums over each
    block, where they are known already.
    """

    start: int
    stop: int
    rows: Callable[[FloatArray, int], FloatArray]
    terms: Callable[[FloatArray], int]
    tilt: FloatArray | None = None
    sums: FloatArray | None = None


@dataclass(frozen=True)
class TotalRule:
    """Nodes and weights of the law of S, and how A_q grows along the ranking."""

    nodes: FloatArray
    weights: FloatArray
    pieces: tuple[Piece, ...]


def _edges(n: int, starts: tuple[int, ...] = ()) -> list[int]:
    """Return the edges of the blocks; the middle, where the sums turn, is one."""
    edges: list[int] = block_edges(n, also=(*starts, n // 2)).tolist()
    return edges


def _hermite_rule(eta: FloatArray, nodes: int) -> TotalRule:
    """E[S1 He_j(Z)] / j! = sum_{i<=j} h_{j-i} kappa_{i+1}(S1) / (sigma^i i!)."""
    blocks = pairwise(_edges(eta.size))
    sums = np.stack([features(eta[a:b], nodes).sum(axis=1) for a, b in blocks], axis=1)
    kappa = cumulant_matrix(nodes) @ running_totals(sums)[0][:, -1]
    sigma = float(np.sqrt(kappa[1]))
    z, basis = hermite_rule(nodes)
    h = hermite_coefficients(kappa[:, None])[:, 0]
    lift = np.zeros((nodes, nodes))
    scale = 1.0
    for i in range(nodes):
        lift[i:, i] = h[: nodes - i] * scale
        scale /= sigma * (i + 1)
    tilt = basis @ lift @ cumulant_matrix(nodes)
    piece = Piece(0, eta.size, features, lambda x: nodes, tilt, sums)
    return TotalRule(kappa[0] + sigma * z, basis @ h, (piece,))


def _exact_rule(eta: FloatArray) -> TotalRule:
    """Every value of S, with its probability.

    An instance adds eta P(S = s, given that it is positive): the coefficients of
    eta z G / (1 + eta (z - 1)), where G generates the law of S. Near eta = 0 that is
    sum_j eta^(j+1) (1 - z)^j z G, and near eta = 1, with u = 1 - eta, it is
    sum_j eta u^j (1 - 1/z)^j G: differences of the law. In between it is divided out.
    """
    law = law_of(eta)
    n = eta.size
    top, bottom = np.searchsorted(-eta, [_SMALL - 1.0, -_SMALL]).tolist()
    if n <= _FEW:
        top, bottom = 0, n
    pieces = []
    if top > 0:
        piece = _series(law.pmf, 0, top, down=True)
        if law.start == 0 and piece.tilt is not None:
            piece.tilt[0] = 0.0  # exactly: a positive is counted
        pieces.append(piece)
    if top < bottom:
        between = Piece(
            top, bottom, lambda x, _: x * given_positive(law, x), lambda x: 0
        )
        pieces.append(between)
    if bottom < n:
        moved = np.concatenate([[0.0], law.pmf[:-1]])
        pieces.append(_series(moved, bottom, n, down=False))
    return TotalRule(law.counts, law.pmf, tuple(pieces))


def _series(first: FloatArray, start: int, stop: int, *, down: bool) -> Piece:
    """Return the piece of probabilities near 1 (`down`) or near 0."""
    columns, size = [first], 1.0
    while size * np.abs(columns[-1]).sum() > _SERIES_END:
        moved = np.zeros_like(first)
        if down:
            moved[:-1] = columns[-1][1:]
        else:
            moved[1:] = columns[-1][:-1]
        columns.append(columns[-1] - moved)
        size *= _SMALL

    def rows(eta: FloatArray, count: int) -> FloatArray:
        factor = 1.0 - eta if down else eta
        out = np.empty((count, eta.size))
        out[0] = eta
        for row in range(1, count):
            np.multiply(out[row - 1], factor, out=out[row])
        return out

    def terms(eta: FloatArray) -> int:
        # A difference at most doubles the sum of absolute values.
        largest = 2.0 * float(1.0 - eta[-1] if down else eta[0])
        needed = np.log(_SERIES_END) / np.log(max(largest, 1e-300))
        return min(len(columns), 2 + int(needed))

    return Piece(start, stop, rows, terms, np.stack(columns, axis=1))


class AffineCurve(BlockCurve):
    """The curve of a metric affine in TP.

    `largest` bounds its absolute value.
    """

    def __init__(self, eta: FloatArray, metric: Any, largest: float) -> None:
        self.eta, self.metric, self.n = eta, metric, eta.size
        self.largest = largest
        mean, variance = float(eta.sum()), float(np.sum(eta * (1.0 - eta)))
        self.plan = plan_total(metric, mean, eta.size - mean, variance, largest)
        self.rule = (
            _hermite_rule(eta, self.plan.nodes) if self.plan.nodes else _exact_rule(eta)
        )
        self.divided: dict[int, FloatArray] = {}
        self.nodes = self.rule.nodes[:, None]
        self.weights = self.rule.weights[:, None]
        bounds = tuple(piece.start for piece in self.rule.pieces)
        self.edges = np.array(_edges(self.n, bounds), dtype=np.intp)
        self.piece_of = np.searchsorted(bounds, self.edges[:-1], side="right") - 1
        self.above, self.below = running_totals(self._totals())

    def _totals(self) -> FloatArray:
        """Return what each block adds to A_q."""
        first = self.rule.pieces[0]
        if first.tilt is not None and first.sums is not None:
            return first.tilt @ first.sums
        out = np.empty((self.rule.nodes.size, self.edges.size - 1))
        for j in range(out.shape[1]):
            tilt, rows = self._terms(j)
            sums = rows.sum(axis=1)
            out[:, j] = sums if tilt is None else tilt @ sums
        return out

    def _terms(self, j: int) -> tuple[FloatArray | None, FloatArray]:
        """Return the tilt and the rows of block j."""
        piece = self.rule.pieces[self.piece_of[j]]
        block = self.eta[self.edges[j] : self.edges[j + 1]]
        if piece.tilt is None:  # few instances, and divisions worth keeping
            if j not in self.divided:
                self.divided[j] = piece.rows(block, 0)
            return None, self.divided[j]
        count = piece.terms(block)
        return piece.tilt[:, :count], piece.rows(block, count)

    def _expected(
        self, cuts: FloatArray, part: FloatArray, above: bool
    ) -> tuple[FloatArray, float]:
        """Return E f at `cuts`, and the largest sum of its absolute terms.

        `part` is A_q, over the instances above or below.
        """
        alpha, beta, delta = self.metric.affine(cuts, self.nodes, float(self.n))
        if above:
            numerator = alpha * part
        else:
            numerator = -alpha * part
            beta = alpha * self.nodes + beta
        if np.ndim(beta) or beta != 0:
            numerator = numerator + self.weights * beta

        def undefined() -> Any:
            value = self.metric.undefined(cuts, self.nodes, float(self.n))
            return self.weights * value

        terms = np.broadcast_to(ratio(numerator, delta, undefined), part.shape)
        out: FloatArray = terms.sum(axis=0)
        if self.plan.nodes:
            return out, 0.0
        if not np.ndim(beta) and beta == 0 and np.min(alpha) >= 0:
            return out, float(out.max())
        if np.ndim(beta) or beta != 0:  # the two parts of a term may cancel
            numerator = np.abs(alpha) * part + self.weights * np.abs(beta)
            terms = ratio(numerator, np.abs(delta), lambda: np.abs(undefined()))
        else:
            terms = np.abs(terms)
        scale = np.broadcast_to(terms, part.shape).sum(axis=0)
        return out, float(scale.max())

    def block(self, j: int) -> tuple[FloatArray, FloatArray | float]:
        """Return the expected score of every cut of block j, and its error."""
        low, high = self.edges[j], self.edges[j + 1]
        from_above = low < self.n // 2
        tilt, rows = self._terms(j)
        if from_above:
            sums, start = running_sums(rows), self.above[:, j, None]
        else:
            sums = running_sums(rows[:, ::-1])[:, ::-1]
            start = self.below[:, j + 1, None]
        cuts = np.arange(low, high + 1.0)
        out, scale = np.empty(cuts.size), 0.0
        length = max(_EVALUATIONS // self.nodes.size, 1)
        for i in range(0, cuts.size, length):
            here = slice(i, i + length)
            part = sums[:, here] if tilt is None else tilt @ sums[:, here]
            part += start
            out[here], absolute = self._expected(cuts[here], part, from_above)
            scale = max(scale, absolute)
        if self.plan.nodes:
            return out, self.plan.error_between(
                int(low), int(high), running_error(rows.shape[1])
            )
        error = (
            law_error(self.nodes.size, self.n) + running_error(rows.shape[1])
        ) * scale
        return out, error + dropped(self.n) * self.largest
