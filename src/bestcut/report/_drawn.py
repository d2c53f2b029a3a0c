"""The numbers of a report when probabilities are known only as draws.

As in `_numbers`, with two intervals at every cut: one that covers chance in the labels
and doubt about the probabilities, and the one there would be if the probabilities were
known to be the means of the draws.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestcut._decide import decide
from bestcut._types import CountArray, FloatArray
from bestcut.metrics import Metric
from bestcut.mixtures import MixtureCuts
from bestcut.report._numbers import (
    HALF,
    LEVEL,
    Cuts,
    Scores,
    between,
    computed_places,
    cuts_of,
    known_scores,
    predictions,
    shown_cuts,
)
from bestcut.scores import ConfusionDistribution, ScoreDistribution
from bestcut.uncertain import UncertainProbabilities

_EVEN, _NEAR = 41, 7  # cuts from end to end, and near one that matters
_COMPUTED = 16  # intervals from end to end, if an interval does not take long
_LONG = 1 << 22  # pairs (TP, FN) of a typical cut from which it does
_INPUT, _SCORES = "of the input", "of their scores"


def compute_drawn(
    p: UncertainProbabilities, metrics: Sequence[Metric]
) -> tuple[Cuts, list[Scores]]:
    """Return what to expect at the cuts that are worth showing."""
    best = [decide(p, metric).n_positive for metric in metrics]
    half = int(np.count_nonzero(p.mean >= HALF))
    eta = np.ascontiguousarray(p.mean[p._draws.order()])
    sizes = shown_cuts(len(p), {0, half, *best}, even=_EVEN, near=_NEAR)
    by_metric = [_Drawn(p, metric, sizes) for metric in metrics]
    first = by_metric[0].cuts
    places = [int(np.searchsorted(sizes, k)) for k in best]
    at_half = int(np.searchsorted(sizes, half))
    means, ranges, counts = [], [], []
    for k in sizes.tolist():
        at = first.prediction(k)
        counts.append((at.tp.pmf.size, at.fn.pmf.size))
        confusion = ConfusionDistribution(at)
        means.append(confusion.mean)
        ranges.append(confusion.interval(LEVEL))
    long = float(np.median(np.prod(np.array(counts), axis=1))) > _LONG
    by_input = np.array_equal(np.argsort(-p.mean, kind="stable"), p._draws.order())
    order = _INPUT if by_input else _SCORES
    cuts = cuts_of(eta, sizes, np.array(means), np.array(ranges), half, order=order)
    known = known_scores(metrics, predictions(eta, sizes), places, at_half)
    scores = []
    for one, alone, place in zip(by_metric, known, places, strict=True):
        matter = {place, places[0], at_half}
        where = computed_places(np.array(counts), matter, 2 if long else _COMPUTED)
        ends = np.empty((where.size, 2))
        for i, j in enumerate(where.tolist()):
            ends[i] = one.distribution(int(sizes[j])).interval(LEVEL)
        std = np.hypot(alone.std, one.spread)
        low, high = (between(where, end, one.mean, std) for end in ends.T)
        computed = np.zeros(sizes.size, dtype=np.bool_)
        computed[where] = True
        at_best = one.distribution(int(sizes[place]))
        scores.append(
            Scores(
                one.metric,
                place,
                one.mean,
                low,
                high,
                computed,
                std,
                known=(alone.low, alone.high),
                parts=(at_best.std_labels, at_best.std_calibration),
            )
        )
    return cuts, scores


class _Drawn:
    """The cuts that are shown, for one metric.

    Attributes
    ----------
    mean : ndarray
        Expected score.
    spread : ndarray
        About how much it differs between draws; a scale to interpolate with.
    """

    def __init__(
        self, p: UncertainProbabilities, metric: Metric, sizes: CountArray
    ) -> None:
        self.metric = metric
        self.cuts = MixtureCuts(p._cuts, metric)
        self.cuts.evaluate(sizes)
        values = [self.cuts.value(k)[0] for k in sizes.tolist()]
        self.mean: FloatArray = np.array(values)
        self.spread = np.array([self._spread(k) for k in sizes.tolist()])

    def _spread(self, k: int) -> float:
        """Return how much the score of the expected counts differs between draws."""
        n = float(self.cuts.n)
        above, below = self.cuts.ranked.sums[k]
        tp, fn = np.clip(above[0], 0.0, k), np.clip(below[0], 0.0, n - k)
        score = self.metric.score_cells(tp, k - tp, fn, n - k - fn)
        return float(np.std(np.broadcast_to(score, tp.shape)))

    def distribution(self, k: int) -> ScoreDistribution:
        """Return the distribution of the score of a cut."""
        return ScoreDistribution(self.cuts.prediction(k), self.metric)
