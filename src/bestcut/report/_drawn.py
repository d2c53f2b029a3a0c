"""The numbers of a report when probabilities are known only as draws.

As in `_numbers`, with two intervals at every cut: one that covers chance in the labels
and doubt about the probabilities, and the one there would be if the probabilities were
known to be the means of the draws.

Where many counts are possible, computing an interval takes long. Both counts are then
nearly normal in each draw, and some points of every draw are accurate enough to
interpolate with: their error is known where an interval is computed, and hardly
changes between these places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from bestcut._decide import allowed_cuts, decide
from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut.counts import ROOM
from bestcut.metrics import Metric
from bestcut.mixtures import MixtureCuts
from bestcut.report._numbers import (
    HALF,
    LEVEL,
    PRECISION,
    Conditions,
    Numbers,
    Scores,
    Tell,
    between,
    centre_and_scale,
    computed_places,
    cuts_of,
    known_ends,
    precision_scores,
    predictions,
    shown_cuts,
)
from bestcut.scores import (
    ConfusionDistribution,
    MixedPrediction,
    Prediction,
    ScoreDistribution,
)
from bestcut.uncertain import UncertainProbabilities

_EVEN, _NEAR = 41, 5  # cuts from end to end, and near one that matters
_COMPUTED = 8  # intervals from end to end, if an interval does not take long
_LONG = 1 << 18  # pairs (TP, FN) of a typical cut from which on it takes long
_FEW_COUNTS = 64  # values of TP or FN up to which each cut has its own interval
_TINY = 1e-9  # a standard deviation that counts as 0
_TAILS = ((1.0 - LEVEL) / 2, (1.0 + LEVEL) / 2)
# Equally probable points of two independent normal distributions, on a lattice.
_SHARES = (np.arange(64)[:, None] * [1 / 64, (np.sqrt(5) - 1) / 2] + 1 / 128) % 1.0
_NORMAL = np.array([[NormalDist().inv_cdf(x) for x in row] for row in _SHARES.T])
_INPUT, _SCORES = "of the input", "of their scores"


def compute_drawn(
    p: UncertainProbabilities,
    metrics: Sequence[Metric],
    beside: Sequence[Metric],
    conditions: Conditions,
    tell: Tell,
) -> Numbers:
    """Return what to expect at the cuts that are worth showing."""
    tell("Deciding")
    allowed = allowed_cuts(p, *conditions)
    given = conditions._asdict()
    best = [decide(p, metric, **given).n_positive for metric in metrics]
    half = int(np.count_nonzero(p.mean >= HALF))
    sizes = shown_cuts(len(p), {0, half, *best}, even=_EVEN, near=_NEAR)
    places = [int(np.searchsorted(sizes, k)) for k in best]
    at_half = int(np.searchsorted(sizes, half))
    tell("Counting")
    drawn = _DrawnCuts(p, sizes)
    where = drawn.places({*places[: 1 if drawn.long else None], at_half})
    means, ranges, computed = drawn.counts(where)
    eta = np.ascontiguousarray(p.mean[p._draws.order()])
    by_input = np.array_equal(np.argsort(-p.mean, kind="stable"), p._draws.order())
    cuts = cuts_of(
        *(eta, sizes, means, ranges, half, allowed),
        computed=computed,
        order=_INPUT if by_input else _SCORES,
    )
    known = predictions(eta, sizes)
    made = []
    for i, metric in enumerate([*metrics, *beside]):
        tell(f"Computing {metric.label}")
        own = i < len(metrics)
        place = places[i] if own else places[0]
        matter = {place} if own or drawn.long else {*places}
        if not drawn.long or i == 0 or not own:
            matter |= {places[0], at_half}
        if metric == PRECISION and not own:
            made.append(precision_scores(cuts, place))
        else:
            made.append(drawn.scores(metric, known, place, matter))
    score = ScoreDistribution(drawn.at(places[0]), metrics[0])
    made[0] = replace(made[0], parts=(score.std_labels, score.std_calibration))
    return Numbers(cuts, made[: len(metrics)], made[len(metrics) :])


class _DrawnCuts:
    """The cuts that are shown."""

    def __init__(self, p: UncertainProbabilities, sizes: CountArray) -> None:
        self.p, self.sizes = p, sizes
        self.ranked = p._cuts
        self.ranked.look(sizes)
        self._made: dict[int, MixedPrediction] = {}
        sums = [self.ranked.sums[k] for k in sizes.tolist()]
        # Expected counts and variances: of a kind, at a cut, in a draw.
        rows = [(side[0], side[ROOM]) for pair in sums for side in pair]
        cells = np.array(rows).reshape(sizes.size, 4, -1)
        self.cells = np.ascontiguousarray(np.moveaxis(cells, 1, 0))
        self.variances, third = (
            np.array([[pair[side][i] for pair in sums] for side in (0, 1)])
            for i in (1, 2)
        )
        self._points = self._likely(third)
        apart = self.cells[[0, 2]].max(axis=2) - self.cells[[0, 2]].min(axis=2)
        widths = apart + 16.0 * np.sqrt(self.variances.max(axis=2)) + 1.0
        self.widths = widths.T.astype(np.int64)
        self.long = float(np.median(self.widths.prod(axis=1))) > _LONG

    def at(self, place: int) -> MixedPrediction:
        """Return the prediction of a cut; its laws are kept for other metrics."""
        if place not in self._made:
            k = int(self.sizes[place])
            self._made[place] = MixedPrediction(
                self.ranked.side(k, below=False), self.ranked.side(k, below=True)
            )
        return self._made[place]

    def places(self, matter: set[int]) -> IndexArray:
        """Return the cuts at which to compute intervals."""
        even = 2 if self.long else _COMPUTED
        return computed_places(self.widths, matter, even, few=_FEW_COUNTS)

    def counts(self, where: IndexArray) -> tuple[FloatArray, CountArray, BoolArray]:
        """Return expected counts, their ranges, and where these are computed."""
        means = np.array([self.at(i).expected_cells() for i in range(self.sizes.size)])
        ends = []
        for points, size in zip(self._points, self._sizes(), strict=True):
            low, high = np.rint(_ends(points))
            ends += [(low, high), (size - high, size - low)]
        ranges = np.moveaxis(np.array(ends), 2, 0).astype(np.int64)
        computed = np.zeros(self.sizes.size, dtype=np.bool_)
        computed[where] = True
        for i in where.tolist():
            ranges[i] = ConfusionDistribution(self.at(i)).interval(LEVEL)
        return means, ranges, computed

    def _sizes(self) -> tuple[CountArray, CountArray]:
        """Return how many are flagged at each cut, and how many are not."""
        return self.sizes, len(self.p) - self.sizes

    def _likely(self, third: FloatArray) -> list[FloatArray]:
        """Return equally probable values of both counts: of a cut, in a draw.

        They come from the expansion of Cornish and Fisher up to the skewness; `third`
        holds the third cumulants.
        """
        points = []
        for j, size in enumerate(self._sizes()):
            z, std = _NORMAL[j], np.sqrt(self.variances[j])[:, :, None]
            skewness = third[j][:, :, None] / np.maximum(std, _TINY) ** 3
            bent = z + np.clip(skewness, -1.0, 1.0) * (z**2 - 1.0) / 6.0
            mean = self.cells[2 * j][:, :, None]
            points.append(np.clip(mean + std * bent, 0.0, size[:, None, None]))
        return points

    def _mixed(self, metric: Metric) -> FloatArray:
        """Return approximate ends of the intervals of a score."""
        tp, fn = self._points
        k, rest = (size[:, None, None] for size in self._sizes())
        score = metric.score_cells(tp, k - tp, fn, rest - fn)
        return _ends(np.broadcast_to(score, tp.shape))

    def scores(
        self, metric: Metric, known: list[Prediction], place: int, matter: set[int]
    ) -> Scores:
        """Return what one metric will be."""
        cuts = MixtureCuts(self.ranked, metric)
        cuts.evaluate(self.sizes)
        mean, error = np.array([cuts.value(k) for k in self.sizes.tolist()]).T
        centre, spread = centre_and_scale(metric, self.cells, self.variances)
        std = np.sqrt(np.mean(spread**2, axis=1) + np.var(centre, axis=1))
        where = self.places(matter)
        ends = np.empty((where.size, 2))
        for i, j in enumerate(where.tolist()):
            ends[i] = ScoreDistribution(self.at(j), metric).interval(LEVEL)
        low, high = (
            between(where, end, near, std)
            for end, near in zip(ends.T, self._mixed(metric), strict=True)
        )
        computed = np.zeros(self.sizes.size, dtype=np.bool_)
        computed[where] = True
        alone = known_ends(metric, known, matter)
        return Scores(
            metric,
            place,
            mean,
            float(error.max()),
            low,
            high,
            computed,
            std,
            known=alone[:2],
        )


def _ends(values: FloatArray) -> FloatArray:
    """Return the ends of the interval of each cut, from equally probable values."""
    flat = values.reshape(values.shape[0], -1)
    return np.asarray(np.quantile(flat, _TAILS, axis=1))
