"""The numbers of a report: what to expect from some hundred cuts of a ranking.

Expected scores and confusion matrices are those of the library at every cut shown. An
interval takes longer, up to a tenth of a second for a million instances, so where many
counts are possible it is computed at a few of the cuts only. Between these its ends,
counted in standard deviations from the mean, hardly change and are interpolated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from bestcut._decide import decide
from bestcut._types import BoolArray, CountArray, FloatArray, IndexArray
from bestcut.counts import Law, ListedSide, convolved, law_of
from bestcut.metrics import Metric
from bestcut.scores import ConfusionDistribution, Prediction, ScoreDistribution

LEVEL = 0.9
HALF = 0.5  # the threshold to compare with
_FEW = 400  # instances of which every cut is shown
_EVEN = 101  # cuts from end to end
_NEAR = 16  # cuts on either side of one that matters
_QUICK = 1 << 15  # pairs (TP, FN) up to which an interval takes no time to speak of
_FEW_COUNTS = 64  # values of TP or FN up to which scores are far from normal
_COMPUTED = 16  # intervals from end to end beyond that


@dataclass(frozen=True, eq=False)
class Cuts:
    """What is the same for every metric at the cuts shown.

    Attributes
    ----------
    n : int
        How many instances there are.
    n_positive : ndarray of int
        How many are flagged, ascending from 0 to n.
    threshold : ndarray
        Smallest probability flagged; inf if nothing is.
    next_below : ndarray
        Largest probability not flagged; -inf if everything is.
    tied, tied_flagged : ndarray of int
        How many instances have the threshold as their probability, and how many of
        them are flagged.
    mean : ndarray of shape (4, cuts)
        Expected tp, fp, fn and tn.
    low, high : ndarray of int, shape (4, cuts)
        Between what each of them will be with a probability of 90 %.
    half : int
        Index of the cut that a threshold of 0.5 makes.
    order : str
        In the order of what those that tie are flagged.
    """

    n: int
    n_positive: CountArray
    threshold: FloatArray
    next_below: FloatArray
    tied: CountArray
    tied_flagged: CountArray
    mean: FloatArray
    low: CountArray
    high: CountArray
    half: int
    order: str = "of the input"


@dataclass(frozen=True, eq=False)
class Scores:
    """What one metric will be at the cuts shown.

    Attributes
    ----------
    metric : Metric
        The metric.
    best : int
        Index of the cut with the best expected score.
    mean : ndarray
        Expected score.
    low, high : ndarray
        Between what it will be with a probability of 90 %.
    computed : ndarray of bool
        Whether `low` and `high` were computed there; if not, they are interpolated.
    std : ndarray
        Standard deviation, or a scale that is about as large.
    known : tuple of ndarray or None
        If probabilities are drawn: what `low` and `high` would be if they were known.
    parts : tuple of float
        Standard deviations at the best cut: of chance in the labels, and of doubt
        about the probabilities.
    """

    metric: Metric
    best: int
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    computed: BoolArray
    std: FloatArray
    known: tuple[FloatArray, FloatArray] | None = None
    parts: tuple[float, float] = (1.0, 0.0)


def compute(p: FloatArray, metrics: Sequence[Metric]) -> tuple[Cuts, list[Scores]]:
    """Return what to expect at the cuts that are worth showing."""
    best = [decide(p, metric).n_positive for metric in metrics]
    half = int(np.count_nonzero(p >= HALF))
    eta = np.ascontiguousarray(np.sort(p)[::-1])
    sizes = shown_cuts(p.size, {0, half, *best})
    at = predictions(eta, sizes)
    confusions = [ConfusionDistribution(prediction) for prediction in at]
    means = np.array([confusion.mean for confusion in confusions])
    ranges = np.array([confusion.interval(LEVEL) for confusion in confusions])
    cuts = cuts_of(eta, sizes, means, ranges, half)
    places = [int(np.searchsorted(sizes, k)) for k in best]
    return cuts, known_scores(metrics, at, places, cuts.half)


def known_scores(
    metrics: Sequence[Metric], at: list[Prediction], best: list[int], half: int
) -> list[Scores]:
    """Return what each metric will be, given the place of its best cut."""
    return [
        _scores(metric, at, place, {place, best[0], half})
        for metric, place in zip(metrics, best, strict=True)
    ]


def shown_cuts(
    n: int, matter: Iterable[int], *, even: int = _EVEN, near: int = _NEAR
) -> CountArray:
    """Return the numbers of flagged instances to show, the more the nearer to some."""
    if n <= _FEW:
        return np.arange(n + 1)
    away = np.geomspace(1, n, near).round()
    around = [k + side * away for k in matter for side in (-1, 0, 1)]
    every = np.concatenate([np.linspace(0, n, even).round(), *around])
    return np.unique(every[(every >= 0) & (every <= n)]).astype(np.int64)


def predictions(eta: FloatArray, sizes: CountArray) -> list[Prediction]:
    """Return the prediction of each cut, with laws that are built up from parts."""
    edges = [0, *sizes.tolist(), eta.size]
    parts = [law_of(eta[i:j]) for i, j in pairwise(edges)]
    caught = list(accumulate(parts[:-1], convolved))
    missed = list(accumulate(parts[:0:-1], convolved))[::-1]
    return [
        Prediction(_side(eta[:k], tp), _side(eta[k:], fn))
        for k, tp, fn in zip(sizes.tolist(), caught, missed, strict=True)
    ]


def _side(eta: FloatArray, law: Law) -> ListedSide:
    side = ListedSide(eta)
    side.law = law
    return side


def cuts_of(
    eta: FloatArray,
    sizes: CountArray,
    means: FloatArray,
    ranges: CountArray,
    half: int,
    *,
    order: str = "of the input",
) -> Cuts:
    """Return the cuts, given expected cells and their ranges for each of them."""
    padded = np.concatenate([[np.inf], eta, [-np.inf]])
    threshold, below = padded[sizes], padded[sizes + 1]
    first, last = (
        np.searchsorted(-eta, -threshold, side) for side in ("left", "right")
    )
    return Cuts(
        n=eta.size,
        n_positive=sizes,
        threshold=threshold,
        next_below=below,
        tied=last - first,
        tied_flagged=sizes - first,
        mean=means.T,
        low=ranges[:, :, 0].T,
        high=ranges[:, :, 1].T,
        half=int(np.searchsorted(sizes, half)),
        order=order,
    )


def _scores(
    metric: Metric, at: list[Prediction], best: int, matter: set[int]
) -> Scores:
    moments = [prediction.moments(metric) for prediction in at]
    mean = np.array([moment.mean for moment in moments])
    std = np.array([moment.std for moment in moments])
    counts = np.array([(one.tp.pmf.size, one.fn.pmf.size) for one in at])
    places = computed_places(counts, matter, _COMPUTED)
    ends = np.array(
        [ScoreDistribution(at[i], metric).interval(LEVEL) for i in places.tolist()]
    )
    low, high = (between(places, end, mean, std) for end in ends.T)
    computed = np.zeros(mean.size, dtype=np.bool_)
    computed[places] = True
    return Scores(metric, best, mean, low, high, computed, std)


def computed_places(counts: CountArray, matter: set[int], computed: int) -> IndexArray:
    """Return at which cuts to compute an interval.

    Wherever it is quick, and wherever few counts are possible: scores are far from
    normal there, and change from cut to cut. `counts` says how many values TP and FN
    have at each cut, and `computed` at how many cuts from end to end besides.
    """
    simple = (counts.prod(axis=1) <= _QUICK) | (counts.min(axis=1) <= _FEW_COUNTS)
    quick = np.flatnonzero(simple).tolist()
    last = counts.shape[0] - 1
    even = np.linspace(0, last, computed).round().astype(np.intp).tolist()
    return np.unique([*quick, *even, *matter])


def between(
    places: IndexArray, end: FloatArray, mean: FloatArray, std: FloatArray
) -> FloatArray:
    """Return an end of the interval everywhere from its values at some places."""
    spread = std[places]
    varies = spread > 1e-9 * std.max()  # or else it is a constant that was rounded
    if not varies.any():
        return mean  # and so it is everywhere, for a score that is certain
    away = (end - mean[places])[varies] / spread[varies]
    inside = mean + std * np.interp(np.arange(mean.size), places[varies], away)
    everywhere: FloatArray = np.clip(inside, end.min(), end.max())  # what it can be
    everywhere[places] = end
    return everywhere
