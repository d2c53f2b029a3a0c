"""Expected score of every cut, for metrics affine in TP: one dimension is enough.

The score is (alpha a + beta) / delta with a = S1, the positives above the cut, and the
rest a function of k and S, whose law does not depend on k. With nodes s_q and weights
w_q of the law of S,

    E f = sum_q (alpha A_q + w_q beta) / delta,   A_q(k) = "E[S1; S at node q]",

and A_q grows along the ranking by one term for each instance. Beyond the middle the sum
is over the instances below the cut, with a = S - b: either way the terms stay of the
size of the score, where a single form would cancel at the far end.

Most metrics are separable: delta is a function of k times one of S. Their sum over the
nodes is taken first, so that a single number grows along the ranking.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from bestcut._types import EPS, BoolArray, FloatArray, IndexArray
from bestcut.counts import (
    SMALLEST_VARIANCE,
    cumulant_matrix,
    dropped,
    features,
    given_positive,
    hermite_coefficients,
    hermite_rule,
    law_error,
    law_of,
    running_error,
    running_sums,
)
from bestcut.curve._blocks import BlockCurve, running_totals
from bestcut.curve._total import NO_RULE, plan_total
from bestcut.metrics import Affine, Trait, ratio

_SMALL = 0.1  # probabilities this near to 0 or 1 enter A_q by a short series
_SERIES_END = 1e-18
_FEW = 256
_LONG, _SHORT = 4096, 1024  # blocks of a rule, and of an exact distribution
_CANCELLED = 3.0  # terms so much larger than the score are put up with
_TINY = 32  # instances whose sums are never long enough to round much
_FEWEST = 16  # from so many instances on sums over S are taken first
_SEPARABLE = 150.0  # below this variance every value of S is as fast as a rule
_MANY = 50_000  # instances, up to which shorter blocks spare the system's allocator
_EVALUATIONS = 12_000  # of the metric at a time: temporaries stay in cache


class TotalRule(Protocol):
    """Nodes and weights of the law of S, and how A_q grows along the ranking."""

    nodes: FloatArray
    weights: FloatArray

    def added(self, eta: FloatArray, slope: FloatArray | None) -> FloatArray:
        """Return what instances add to A_q, in columns; or to ``slope @ A``."""


class HermiteRule:
    """A few nodes; exact for polynomials.

    E[S1 He_j(Z)] / j! = sum_{i<=j} h_{j-i} kappa_{i+1}(S1) / (sigma^i i!).
    """

    def __init__(self, sums: FloatArray, nodes: int) -> None:
        kappa = cumulant_matrix(nodes) @ sums
        sigma = float(np.sqrt(kappa[1]))
        z, basis = hermite_rule(nodes)
        h = hermite_coefficients(kappa[:, None])[:, 0]
        lift = np.zeros((nodes, nodes))
        scale = 1.0
        for i in range(nodes):
            lift[i:, i] = h[: nodes - i] * scale
            scale /= sigma * (i + 1)
        self.nodes, self.weights = kappa[0] + sigma * z, basis @ h
        self.tilt: FloatArray = basis @ lift @ cumulant_matrix(nodes)

    def added(self, eta: FloatArray, slope: FloatArray | None) -> FloatArray:
        """Return what instances add to A_q, in columns; or to ``slope @ A``."""
        return self.of_features(features(eta, self.nodes.size), slope)

    def of_features(self, rows: FloatArray, slope: FloatArray | None) -> FloatArray:
        """Return the same from the features, or from their sums."""
        tilt = self.tilt if slope is None else slope @ self.tilt
        out: FloatArray = tilt @ rows
        return out


class MeanRule:
    """One node: for a metric that is linear in the cells at every cut."""

    def __init__(self, eta: FloatArray) -> None:
        self.nodes, self.weights = np.array([float(eta.sum())]), np.ones(1)

    def added(self, eta: FloatArray, slope: FloatArray | None) -> FloatArray:
        """Return what instances add to A_q, in columns; or to ``slope @ A``."""
        return eta[None] if slope is None else slope @ eta[None]


class ExactRule:
    """Every value of S, with its probability.

    An instance adds eta P(S = s, given that it is positive): the coefficients of
    eta z G / (1 + eta (z - 1)), where G generates the law of S. Near eta = 0 that is
    sum_j eta^(j+1) (1 - z)^j z G, and near eta = 1, with u = 1 - eta, it is
    sum_j eta u^j (1 - 1/z)^j G: differences of the law. In between it is divided out.
    """

    def __init__(self, eta: FloatArray) -> None:
        self.law, self.few = law_of(eta), eta.size <= _FEW
        self.nodes, self.weights = self.law.counts, self.law.pmf

    @cached_property
    def near_one(self) -> FloatArray:
        """The terms of the series in 1 - eta, a column for each power."""
        out = _differences(self.law.pmf, down=True)
        if self.law.start == 0:
            out[0] = 0.0  # exactly: a positive is counted
        return out

    @cached_property
    def near_zero(self) -> FloatArray:
        """The terms of the series in eta, a column for each power."""
        return _differences(np.append(0.0, self.law.pmf[:-1]), down=False)

    def added(self, eta: FloatArray, slope: FloatArray | None) -> FloatArray:
        """Return what instances add to A_q, in columns; or to ``slope @ A``."""
        ends = [_SMALL - 1.0, -_SMALL]
        top, bottom = np.searchsorted(-eta, ends).tolist()
        if self.few:
            top, bottom = 0, eta.size
        parts = []
        if top > 0:
            parts.append(_series(self.near_one, 1.0 - eta[:top], eta[:top], slope))
        if top < bottom:
            between = eta[top:bottom]
            table = given_positive(self.law, between)
            parts.append(between * (table if slope is None else slope @ table))
        if bottom < eta.size:
            parts.append(_series(self.near_zero, eta[bottom:], eta[bottom:], slope))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _differences(first: FloatArray, *, down: bool) -> FloatArray:
    """Return a law's differences of all orders that a series needs, in columns."""
    columns, size = [first], 1.0
    while size * np.abs(columns[-1]).sum() > _SERIES_END:
        moved = np.zeros_like(first)
        if down:
            moved[:-1] = columns[-1][1:]
        else:
            moved[1:] = columns[-1][:-1]
        columns.append(columns[-1] - moved)
        size *= _SMALL
    return np.stack(columns, axis=1)


def _series(
    terms: FloatArray, small: FloatArray, eta: FloatArray, slope: FloatArray | None
) -> FloatArray:
    """Return sum_j terms_j small^j eta, or `slope` times that."""
    # A difference at most doubles the sum of absolute values.
    largest = 2.0 * float(small.max())
    needed = np.log(_SERIES_END) / np.log(max(largest, 1e-300))
    count = min(terms.shape[1], 2 + int(needed))
    powers = np.empty((count, eta.size))
    powers[0] = eta
    for row in range(1, count):
        np.multiply(powers[row - 1], small, out=powers[row])
    tilt = terms[:, :count] if slope is None else slope @ terms[:, :count]
    out: FloatArray = tilt @ powers
    return out


class Separated:
    """A metric whose delta is a function of k times one of S, summed over S.

    With delta = g(k) h(s), alpha a function of s alone and beta linear in k,

        E f = (U(k) + (1 - k/n) first + (k/n) last) / g(k),   U = sum_q slope_q A_q,

    where slope = alpha / h, and first and last are the sums of w beta / h at k = 0 and
    k = n. Below the middle, U is for the instances below and beta becomes
    alpha s + beta.
    """

    def __init__(self, metric: Affine, rule: TotalRule, n: int) -> None:
        self.metric, self.rule, self.n = metric, rule, n
        nodes, weights, size = rule.nodes, rule.weights, float(n)
        alpha, _, h = metric.affine(float(n // 2), nodes, size)
        known = h != 0
        self.undefined = np.flatnonzero(~np.broadcast_to(known, nodes.shape))
        h = np.where(known, h, np.inf)
        self.slope: FloatArray = (alpha / np.broadcast_to(h, nodes.shape))[None]
        self.ends = {}
        for above in (True, False):
            moved = 0.0 if above else alpha * nodes
            for k in (0.0, size):
                beta = metric.affine(k, nodes, size)[1]
                share = np.abs(weights / h)
                sums = (
                    weights / h * (beta + moved),
                    share * np.abs(beta + moved),
                    share * (np.abs(beta) + np.abs(moved)),
                )
                self.ends[above, k] = np.array([x.sum() for x in sums])
        self.reference = nodes[np.argmax(np.where(known, weights, -np.inf))]
        self.scale = float(metric.affine(float(n // 2), self.reference, size)[2])

    def is_sound(self) -> bool:
        """Return whether no two terms of U cancel, and some are defined."""
        return self.scale != 0 and bool(
            np.all(self.slope >= 0) or np.all(self.slope <= 0)
        )

    def expected(
        self, cuts: FloatArray, part: FloatArray, above: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return E f at `cuts`, the sum of its absolute terms, and what beta rounds.

        `part` is U, over the instances above or below.
        """
        n = float(self.n)
        rest = n - cuts
        first, last = self.ends[above, 0.0] / n, self.ends[above, n] / n
        value = rest * first[0] + cuts * last[0] + (part if above else -part)
        terms = rest * first[1] + cuts * last[1] + np.abs(part)
        rounds = EPS * (rest * first[2] + cuts * last[2])
        g = self.metric.affine(cuts, self.reference, n)[2] / self.scale
        g = np.broadcast_to(g, cuts.shape)
        if not self.undefined.size and np.all(g):
            return value / g, terms / np.abs(g), rounds / np.abs(g)
        where = np.where(g == 0, 1.0, g)
        value, terms, rounds = (x / np.abs(where) for x in (value, terms, rounds))
        value = np.where(where < 0, -value, value)
        for nodes, cut in (
            (self.undefined, np.flatnonzero(g)),
            (np.arange(self.slope.size), np.flatnonzero(g == 0)),
        ):
            weights = self.rule.weights[nodes, None]
            nothing = self.metric.undefined(cuts[cut], self.rule.nodes[nodes, None], n)
            here = weights * np.broadcast_to(nothing, (nodes.size, cut.size))
            keep = g[cut] != 0
            value[cut] = keep * value[cut] + here.sum(axis=0)
            terms[cut] = keep * terms[cut] + np.abs(here).sum(axis=0)
        return value, terms, rounds


def _separated(metric: Affine, rule: TotalRule, n: int) -> Separated | None:
    """Return the sums over S of a separable metric, if they are of any use."""
    if Trait.SEPARABLE not in metric.traits or n < _FEWEST:
        return None
    out = Separated(metric, rule, n)
    return out if out.is_sound() else None


class AffineCurve(BlockCurve):
    """The curve of a metric affine in TP.

    `largest` bounds its absolute value.
    """

    def __init__(self, eta: FloatArray, metric: Affine, largest: float) -> None:
        self.eta, self.metric, self.n = eta, metric, eta.size
        self.largest = largest
        mean, variance = float(eta.sum()), float(np.sum(eta * (1.0 - eta)))
        least = _SEPARABLE if Trait.SEPARABLE in metric.traits else SMALLEST_VARIANCE
        self.plan = NO_RULE
        self.by_mean = Trait.LINEAR_AT_CUT in metric.traits
        if variance >= least and self.n > _FEW and not self.by_mean:
            self.plan = plan_total(metric, mean, self.n - mean, variance, self.largest)
        self.edges, self.ruled = self._blocks()
        self.rules: dict[bool, TotalRule] = {}
        self.separated: dict[bool, Separated | None] = {}
        self.above: dict[bool, FloatArray] = {}
        self.below: dict[bool, FloatArray] = {}
        for ruled in set(self.ruled.tolist()):
            self._prepare(ruled)

    def _blocks(self) -> tuple[IndexArray, BoolArray]:
        """Return the edges of blocks, and which of these the rule is proved for.

        The middle, where the sums turn, is an edge, and so is where the proof ends.
        """
        n, start, proved = self.n, self.plan.start, self.plan.proved
        if n <= _TINY or (n <= _FEW and self._cancels_little()):
            return np.array([0, n]), np.zeros(1, dtype=np.bool_)
        turns = start[1:][np.diff(proved)].astype(np.intp)
        step = _LONG
        if Trait.SEPARABLE not in self.metric.traits:  # a row for each node
            step = _LONG if n > _MANY else _LONG // 2
            step = step if np.all(proved) else _SHORT
        edges = np.unique([*range(0, n, step), n // 2, *turns, n]).astype(np.intp)
        ruled = proved[np.searchsorted(start, edges[:-1], side="right") - 1]
        # A cut where the proof begins is the last one of the block before.
        ruled &= proved[np.searchsorted(start, edges[1:], side="right") - 1]
        return edges, ruled

    def _cancels_little(self) -> bool:
        """Return whether sums over the instances above may serve the far end too."""
        n, mean = float(self.n), float(self.eta.sum())
        alpha, _, delta = self.metric.affine(max(n - 1.0, 1.0), mean, n)
        return bool(abs(alpha) * mean <= _CANCELLED * self.largest * abs(delta))

    def _prepare(self, ruled: bool) -> None:
        """Make the exact distribution ready, or the rule, and its sums at the edges.

        A block wants the sums over what is before it, or over what is after it beyond
        the middle; what no block wants is left out.
        """
        count = self.edges.size - 1
        blocks = [self.eta[a:b] for a, b in pairwise(self.edges.tolist())]
        if ruled:
            m = self.plan.nodes
            sums = np.stack([features(x, m).sum(axis=1) for x in blocks], axis=1)
            rule: TotalRule = HermiteRule(running_totals(sums)[0][:, -1], m)
        else:
            rule = (MeanRule if self.by_mean else ExactRule)(self.eta)
        self.rules[ruled] = rule
        self.separated[ruled] = found = _separated(self.metric, rule, self.n)
        slope = None if found is None else found.slope
        if isinstance(rule, HermiteRule):
            totals = rule.of_features(sums, slope)
        else:
            totals = np.zeros((rule.nodes.size if slope is None else 1, count))
            users, j = np.flatnonzero(self.ruled == ruled), np.arange(count)
            turn = self.edges[users] < self.n // 2
            wanted = j < users[turn].max(initial=0)
            wanted |= j > users[~turn].min(initial=count)
            for i in np.flatnonzero(wanted).tolist():
                totals[:, i] = rule.added(blocks[i], slope).sum(axis=1)
        self.above[ruled], self.below[ruled] = running_totals(totals)

    def _expected(
        self, rule: TotalRule, cuts: FloatArray, part: FloatArray, above: bool
    ) -> tuple[FloatArray, float]:
        """Return E f at `cuts`, and the largest sum of its absolute terms.

        `part` is A_q, over the instances above or below.
        """
        nodes, weights = rule.nodes[:, None], rule.weights[:, None]
        alpha, beta, delta = self.metric.affine(cuts, nodes, float(self.n))
        if above:
            numerator = alpha * part
        else:
            numerator = -alpha * part
            beta = alpha * nodes + beta
        if np.ndim(beta) or beta != 0:
            numerator = numerator + weights * beta

        def undefined() -> Any:
            return weights * self.metric.undefined(cuts, nodes, float(self.n))

        terms = np.broadcast_to(ratio(numerator, delta, undefined), part.shape)
        out: FloatArray = terms.sum(axis=0)
        if isinstance(rule, HermiteRule):  # the plan knows their size
            return out, 0.0
        if not np.ndim(beta) and beta == 0 and np.min(terms) >= 0:
            return out, float(out.max())
        if np.ndim(beta) or beta != 0:  # the two parts of a term may cancel
            numerator = np.abs(alpha) * part + weights * np.abs(beta)
            terms = ratio(numerator, np.abs(delta), lambda: np.abs(undefined()))
        else:
            terms = np.abs(terms)
        scale = np.broadcast_to(terms, part.shape).sum(axis=0)
        return out, float(scale.max())

    def block(self, j: int) -> tuple[FloatArray, FloatArray | float]:
        """Return the expected score of every cut of block j, and its error."""
        low, high = int(self.edges[j]), int(self.edges[j + 1])
        ruled, above = bool(self.ruled[j]), low < self.n // 2
        rule, separated = self.rules[ruled], self.separated[ruled]
        slope = None if separated is None else separated.slope
        added = rule.added(self.eta[low:high], slope)
        if above:
            part = running_sums(added, self.above[ruled][:, j])
        else:
            start = self.below[ruled][:, j + 1]
            part = running_sums(added[:, ::-1], start)[:, ::-1]
        cuts = np.arange(low, high + 1.0)
        scale: Any = 0.0
        error: Any = 0.0
        if separated is not None:
            out, scale, error = separated.expected(cuts, part[0], above)
        else:
            out = np.empty(cuts.size)
            length = max(_EVALUATIONS // rule.nodes.size, 1)
            for i in range(0, cuts.size, length):
                here = slice(i, i + length)
                out[here], absolute = self._expected(
                    rule, cuts[here], part[:, here], above
                )
                scale = max(scale, absolute)
        running = running_error(high - low)
        if ruled:
            return out, error + 8 * EPS * scale + self.plan.error_between(
                low, high, running
            )
        error = error + (law_error(rule.nodes.size, self.n) + running) * scale
        return out, error + dropped(self.n) * self.largest
