"""What to expect of some cuts of a ranking: counts and scores, with their intervals.

Known probabilities are one draw. Expected counts and scores are those of the library at
every cut. An interval is computed at every cut if that is quick, and else at some of
them. Both counts are nearly normal in each draw then, and equally probable points of
both give the ends of every interval, with an error that hardly changes from cut to cut.
The error is known where the interval is computed, and interpolated between these cuts.
"""

from __future__ import annotations

from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut.curve import curve_of
from bestcut.decision import Decision
from bestcut.metrics import Metric, RowUtility, Trait
from bestcut.mixtures import MixtureCuts
from bestcut.scores import ConfusionDistribution, Prediction, ScoreDistribution
from bestcut.uncertain import UncertainProbabilities, ranked_draws_of

_POINTS = 4096  # of all draws together, but at least so many of each:
_POINTS_OF_DRAW = 64
_LONG = 1 << 25  # pairs (TP, FN) of a typical cut in all draws: an interval takes long
_QUICK = 1 << 13  # pairs up to which it takes hardly any time
_FEW_COUNTS = 64  # values of TP or FN up to which scores are not nearly normal
_COMPUTED = 12  # intervals from end to end beyond that
_TINY = 1e-9  # a standard deviation that counts as 0
# For metrics with these traits, the whole curve takes hardly longer than a few cuts.
_QUICK_CURVES = {Trait.LINEAR, Trait.AFFINE, Trait.SEPARABLE, Trait.FACTORISED}


class ExpectedCounts(NamedTuple):
    """The tp, fp, fn and tn to expect at each cut.

    Attributes
    ----------
    mean : ndarray of shape (cuts, 4)
        Expected counts.
    ends : ndarray of int, shape (cuts, 4, 2)
        Both ends of the interval of each.
    computed : ndarray of bool
        Whether the interval was computed at the cut; otherwise it is approximate.
    """

    mean: FloatArray
    ends: CountArray
    computed: BoolArray


class ExpectedScores(NamedTuple):
    """The score to expect at each cut.

    Attributes
    ----------
    mean : ndarray
        Expected score.
    error : float
        Bound on the numerical error of `mean`.
    low, high : ndarray
        The ends of the interval.
    computed : ndarray of bool
        Whether they were computed at the cut; otherwise they are interpolated.
    """

    mean: FloatArray
    error: float
    low: FloatArray
    high: FloatArray
    computed: BoolArray


class Outlook:
    """What to expect of some cuts.

    Parameters
    ----------
    p : UncertainProbabilities
        The probabilities.
    n_positive : ndarray of int
        How many instances each cut predicts positive; ascending.
    level : float
        The probability of the intervals.
    """

    def __init__(
        self, p: UncertainProbabilities, n_positive: CountArray, level: float
    ) -> None:
        self.p, self.n_positive, self.level = p, n_positive, level
        self._ranked = ranked_draws_of(p)
        self._known = self._ranked.draws.draw(0) if p.n_draws == 1 else None
        self._predictions: dict[int, Prediction] = {}
        # Expected positives, variances and third cumulants: of the instances above
        # and below the cut, at each cut, in each draw.
        sums = self._ranked.sums(n_positive, 3)
        positives, variances, third = np.moveaxis(sums[:, :3], 1, 0)
        self._points = self._likely(positives, variances, third)
        apart = positives.max(axis=2) - positives.min(axis=2)
        widths = apart + 16.0 * np.sqrt(variances.max(axis=2)) + 1.0
        self._widths = widths.T.astype(np.int64)
        pairs = float(np.median(self._widths.prod(axis=1)))
        self.takes_long = pairs * p.n_draws > _LONG

    def _sizes(self) -> tuple[CountArray, CountArray]:
        """Return how many are above each cut, and how many are below."""
        return self.n_positive, len(self.p) - self.n_positive

    def _likely(
        self, positives: FloatArray, variances: FloatArray, third: FloatArray
    ) -> list[FloatArray]:
        """Return equally probable values of both counts: of a cut, in a draw.

        They come from the expansion of Cornish and Fisher up to the skewness.
        """
        normal = _normal_points(max(_POINTS // self.p.n_draws, _POINTS_OF_DRAW))
        points = []
        for j, size in enumerate(self._sizes()):
            z, std = normal[j], np.sqrt(variances[j])[:, :, None]
            skewness = third[j][:, :, None] / np.maximum(std, _TINY) ** 3
            bent = z + np.clip(skewness, -1.0, 1.0) * (z**2 - 1.0) / 6.0
            mean = positives[j][:, :, None]
            points.append(np.clip(mean + std * bent, 0.0, size[:, None, None]))
        return points

    def prediction(self, place: int) -> Prediction:
        """Return the prediction of a cut; its laws are kept for other metrics."""
        if place not in self._predictions:
            k = int(self.n_positive[place])
            if self._known is not None:
                made = Prediction.of_cut(self._known, k)
            else:
                sides = (self._ranked.side(k, below=below) for below in (False, True))
                made = Prediction(*sides)
            self._predictions[place] = made
        return self._predictions[place]

    def counts(self, matter: set[int]) -> ExpectedCounts:
        """Return the counts to expect; intervals are computed at places that matter."""
        places = range(self.n_positive.size)
        means = np.array([self.prediction(i).expected_cells() for i in places])
        where = (
            np.arange(len(places)) if self._known is not None else self._places(matter)
        )
        ends = []
        for points, size in zip(self._points, self._sizes(), strict=True):
            low, high = np.rint(self._ends(points))
            ends += [(low, high), (size - high, size - low)]
        ranges = np.moveaxis(np.array(ends), 2, 0).astype(np.int64)
        for i in where.tolist():
            ranges[i] = ConfusionDistribution(self.prediction(i)).interval(self.level)
        return ExpectedCounts(means, ranges, np.isin(places, where))

    def scores(self, metric: Metric, matter: set[int]) -> ExpectedScores:
        """Return the score to expect; intervals are computed at places that matter."""
        mean, error = self._means(metric)
        return ExpectedScores(mean, error, *self.intervals(metric, matter))

    def _means(self, metric: Metric) -> tuple[FloatArray, float]:
        """Return the expected score of every cut, and a bound on their errors."""
        quick = bool(metric.traits & _QUICK_CURVES) and len(self.p) > 0
        if self._known is not None and quick:
            value, wrong = curve_of(self._known, metric).whole()
            return value[self.n_positive], float(wrong[self.n_positive].max())
        cuts = MixtureCuts(self._ranked, metric)
        mean, error = cuts.evaluate_closely(self.n_positive)
        return metric.sign * mean, float(error.max())

    def intervals(
        self, metric: Metric, matter: set[int]
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return the ends of the interval of each cut, and whether it was computed."""
        tp, fn = self._points
        above, below = (size[:, None, None] for size in self._sizes())
        likely = metric.score_cells(tp, above - tp, fn, below - fn)
        likely = np.broadcast_to(likely, tp.shape)
        where = self._places(matter)
        ends = [
            ScoreDistribution(self.prediction(i), metric).interval(self.level)
            for i in where.tolist()
        ]
        low, high = (
            _between(where, end, near, likely.std(axis=(1, 2)))
            for end, near in zip(np.array(ends).T, self._ends(likely), strict=True)
        )
        return low, high, np.isin(range(self.n_positive.size), where)

    def _places(self, matter: set[int]) -> IndexArray:
        """Return the cuts at which to compute an interval.

        These are the cuts where it is quick, and those where few counts are possible:
        scores are far from normal there, and change from cut to cut. Others are some
        from end to end.
        """
        few = self._widths.min(axis=1) <= _FEW_COUNTS
        simple = (self._widths.prod(axis=1) <= _QUICK) | few
        last = self.n_positive.size - 1
        even = np.linspace(0, last, 2 if self.takes_long else _COMPUTED)
        return np.unique([*np.flatnonzero(simple), *even.round().astype(int), *matter])

    def _ends(self, values: FloatArray) -> FloatArray:
        """Return the ends of the interval of each cut, from equally probable values."""
        tails = (1.0 - self.level) / 2, (1.0 + self.level) / 2
        flat = values.reshape(values.shape[0], -1)
        return np.asarray(np.quantile(flat, tails, axis=1))


@cache
def _normal_points(count: int) -> FloatArray:
    """Return equally probable points of two independent normal distributions.

    They are on a lattice, a row for each distribution.
    """
    steps = [1 / count, (np.sqrt(5) - 1) / 2]
    shares = (np.arange(count)[:, None] * steps + 0.5 / count) % 1.0
    return np.array([[NormalDist().inv_cdf(x) for x in row] for row in shares.T])


def _between(
    places: IndexArray, end: FloatArray, near: FloatArray, std: FloatArray
) -> FloatArray:
    """Return one end of the interval at all cuts, from its values at some of them.

    Its distance from `near`, in units of `std`, is interpolated.
    """
    spread = std[places]
    varies = spread > _TINY * std.max()  # or else it is a constant that was rounded
    if not varies.any():
        everywhere = np.array(near)  # and so it is everywhere, if a score is certain
    else:
        away = (end - near[places])[varies] / spread[varies]
        inside = near + std * np.interp(np.arange(near.size), places[varies], away)
        everywhere = np.clip(inside, end.min(), end.max())  # what it can be
    everywhere[places] = end
    return everywhere


def away_from_lines(decision: Decision, n_positive: CountArray) -> float | None:
    """Bound how far expected scores are from the straight lines between some cuts.

    None if computing the whole curve takes long.
    """
    metric = decision.metric
    if isinstance(metric, RowUtility) or not metric.traits & _QUICK_CURVES:
        return None
    curve = decision.curve.expected_score
    line = np.interp(np.arange(curve.size), n_positive, curve[n_positive])
    return float(np.max(np.abs(curve - line)))
