"""The numbers of a report: what to expect from some hundred cuts of a ranking.

Expected scores and confusion matrices are those of the library at every cut shown.
Where many counts are possible, the interval of the score is computed only at a few of
the cuts. Between them its ends, in standard deviations from the mean, hardly change
and are interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bestcut._decide import allowed_cuts, decide
from bestcut._types import EPS, BoolArray, CountArray, FloatArray, IndexArray
from bestcut.counts import (
    LEAST_VARIANCE,
    NOTHING,
    ROOM,
    Law,
    SummedSide,
    convolved,
    features,
    law_of,
)
from bestcut.metrics import Metric, Trait, get
from bestcut.scores import ConfusionDistribution, Prediction, ScoreDistribution
from bestcut.search import Allowed
from bestcut.solvers import auto_solver

LEVEL = 0.9
HALF = 0.5  # the threshold to compare with
PRECISION, RECALL = get("precision"), get("recall")
_FEW = 400  # every cut of so many instances is shown
_EVEN = 121  # cuts from end to end
_NEAR = 8  # cuts on either side of one that matters
_QUICK = 1 << 13  # pairs (TP, FN) up to which an interval takes hardly any time
_FEW_COUNTS = 40  # values of TP or FN up to which scores are far from normal
_MORE_COUNTS = 64  # values of TP or FN up to which scores are not nearly normal
_COMPUTED = 12  # intervals from end to end beyond that
_BLOCK = 8192  # instances whose features are summed at a time
# For metrics with these traits, the whole curve takes hardly longer than a few cuts.
_QUICK_CURVES = {Trait.LINEAR, Trait.AFFINE, Trait.SEPARABLE, Trait.FACTORISED}
# The Gauss-Hermite rule of three nodes.
_NODES = np.array([-np.sqrt(3.0), 0.0, np.sqrt(3.0)])
_WEIGHTS = np.array([1.0, 4.0, 1.0]) / 6.0

Tell = Callable[[str], None]  # is called with the name of the step that begins


class Conditions(NamedTuple):
    """What a cut must satisfy, as `bestcut.decide` takes it."""

    at_least: Mapping[Any, Any] | None = None
    at_most: Mapping[Any, Any] | None = None
    max_positives: int | None = None


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
        The range in which each of them will be with a probability of 90 %.
    computed : ndarray of bool
        Whether `low` and `high` were computed there; otherwise they are approximate.
    allowed : ndarray of bool
        Whether the cut satisfies the conditions.
    half : int
        Index of the cut that a threshold of 0.5 makes.
    order : str
        The order in which instances with equal probability are flagged.
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
    computed: BoolArray
    allowed: BoolArray
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
        Index of the allowed cut with the best expected score.
    mean : ndarray
        Expected score.
    error : float
        Bound on the numerical error of `mean`.
    low, high : ndarray
        The range in which it will be with a probability of 90 %.
    computed : ndarray of bool
        Whether `low` and `high` were computed there; otherwise they are interpolated.
    std : ndarray
        A scale that is about as large as the standard deviation.
    apart : float or None
        A bound on the distance of the expected score of any cut from the straight line
        between the cuts shown around it; None if no bound is known.
    known : tuple of ndarray or None
        If probabilities are drawn: what `low` and `high` would be if the probabilities
        were known.
    parts : tuple of float or None
        If probabilities are drawn, and only for the metric of the decision: standard
        deviations at the best cut, from chance in the labels and from doubt about the
        probabilities.
    """

    metric: Metric
    best: int
    mean: FloatArray
    error: float
    low: FloatArray
    high: FloatArray
    computed: BoolArray
    std: FloatArray
    apart: float | None = None
    known: tuple[FloatArray, FloatArray] | None = None
    parts: tuple[float, float] | None = None


class Numbers(NamedTuple):
    """The cuts shown, the metrics to choose from, and what is shown beside each."""

    cuts: Cuts
    scores: list[Scores]
    beside: list[Scores]


def compute(
    p: FloatArray,
    metrics: Sequence[Metric],
    beside: Sequence[Metric],
    conditions: Conditions,
    tell: Tell,
) -> Numbers:
    """Return what to expect at the cuts that are worth showing."""
    tell("Deciding")
    eta = np.ascontiguousarray(np.sort(p)[::-1])
    allowed = allowed_cuts(p, *conditions)
    best = [_best_cut(p, eta, metric, conditions, allowed) for metric in metrics]
    half = int(np.count_nonzero(p >= HALF))
    sizes = shown_cuts(p.size, {0, half, *best})
    tell("Counting")
    at = predictions(eta, sizes)
    means = np.array([prediction.expected_cells() for prediction in at])
    ranges = np.array([ConfusionDistribution(one).interval(LEVEL) for one in at])
    cuts = cuts_of(eta, sizes, means, ranges, half, allowed)
    places = [int(np.searchsorted(sizes, k)) for k in best]
    scores, others = known_scores(metrics, beside, eta, cuts, at, places, tell)
    return Numbers(cuts, scores, others)


def _best_cut(
    p: FloatArray,
    eta: FloatArray,
    metric: Metric,
    conditions: Conditions,
    allowed: BoolArray,
) -> int:
    """Return the cut that `decide` takes; the allowed cuts are found only once."""
    if not (conditions.at_least or conditions.at_most):
        return decide(p, metric, max_positives=conditions.max_positives).n_positive
    one_way = auto_solver(p.size)
    return one_way.solve(eta, metric, Allowed.those(allowed)).n_positive


def known_scores(
    metrics: Sequence[Metric],
    beside: Sequence[Metric],
    eta: FloatArray,
    cuts: Cuts,
    at: list[Prediction],
    best: list[int],
    tell: Tell,
) -> tuple[list[Scores], list[Scores]]:
    """Return what each metric will be, given the places of the best cuts.

    Metrics shown beside each cut are computed at the best cuts of all metrics.
    """
    made = []
    everywhere = {*best, cuts.half}
    places = [*best, *[best[0]] * len(beside)]
    for i, metric in enumerate([*metrics, *beside]):
        tell(f"Computing {metric.label}")
        matter = {places[i], best[0], cuts.half} if i < len(best) else everywhere
        made.append(
            precision_scores(cuts, places[i])
            if metric == PRECISION
            else _scores(metric, eta, cuts, at, places[i], matter)
        )
    return made[: len(metrics)], made[len(metrics) :]


def shown_cuts(
    n: int, matter: Iterable[int], *, even: int = _EVEN, near: int = _NEAR
) -> CountArray:
    """Return the numbers of flagged instances to show, more of them near some."""
    if n <= _FEW:
        return np.arange(n + 1)
    away = np.geomspace(1, 4 * n / even, near).round()
    around = [k + side * away for k in matter for side in (-1, 0, 1)]
    every = np.concatenate([np.linspace(0, n, even).round(), *around])
    return np.unique(every[(every >= 0) & (every <= n)]).astype(np.int64)


def predictions(eta: FloatArray, sizes: CountArray) -> list[Prediction]:
    """Return the prediction of each cut, with sides that are sums over parts."""
    parts = [eta[i:j] for i, j in pairwise([0, *sizes.tolist(), eta.size])]
    totals = np.array([_totals(part) for part in parts])
    above = _sides(parts[:-1], totals[:-1], sizes)
    below = _sides(parts[:0:-1], totals[:0:-1], eta.size - sizes[::-1])[::-1]
    return [Prediction(*pair) for pair in zip(above, below, strict=True)]


def _totals(eta: FloatArray) -> FloatArray:
    """Return the sums of all features, and of the negatives."""
    total = np.zeros(ROOM + 1, dtype=np.longdouble)
    for i in range(0, eta.size, _BLOCK):
        block = eta[i : i + _BLOCK]
        total[:ROOM] += features(block, ROOM).sum(axis=1)
        total[ROOM] += (1.0 - block).sum()
    return np.asarray(total)


def _sides(
    parts: list[FloatArray], totals: FloatArray, sizes: CountArray
) -> list[SummedSide]:
    """Return the first parts together, for each number of parts.

    The law of a side that varies little is built up from the laws of its parts. The
    law of a side that varies more comes from its sums.
    """
    running = np.cumsum(totals, axis=0).astype(np.float64)
    law, sides = NOTHING, []
    for part, sums, n in zip(parts, running, sizes.tolist(), strict=True):
        if sums[1] < LEAST_VARIANCE:
            law = convolved(law, law_of(part))
        sides.append(SummedSide(n, sums[:ROOM], float(sums[ROOM]), _constant(law)))
    return sides


def _constant(law: Law) -> Callable[[], Law]:
    return lambda: law


def cuts_of(
    eta: FloatArray,
    sizes: CountArray,
    means: FloatArray,
    ranges: CountArray,
    half: int,
    allowed: BoolArray,
    *,
    computed: BoolArray | None = None,
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
        computed=np.ones(sizes.size, np.bool_) if computed is None else computed,
        allowed=allowed[sizes],
        half=int(np.searchsorted(sizes, half)),
        order=order,
    )


def precision_scores(cuts: Cuts, best: int) -> Scores:
    """Return the share of the flagged instances that is right, from their number."""
    flagged = np.maximum(cuts.n_positive, 1)
    nothing = float(PRECISION(0.0, 0.0, 0.0, 0.0))
    mean, low, high = (
        np.where(cuts.n_positive == 0, nothing, tp / flagged)
        for tp in (cuts.mean[0], cuts.low[0], cuts.high[0])
    )
    # The largest step of the share between two cuts shown, except from the empty cut.
    apart = float(np.max(np.abs(np.diff(mean[1:])), initial=0.0))
    # The error of a sum of blocks is below 32 eps, and parts are added one by one.
    error = (32 + flagged.size) * EPS
    ends = low, high, cuts.computed, high - low
    return Scores(PRECISION, best, mean, error, *ends, apart)


def _scores(
    metric: Metric,
    eta: FloatArray,
    cuts: Cuts,
    at: list[Prediction],
    best: int,
    matter: set[int],
) -> Scores:
    mean, error, apart = _expected(metric, eta, cuts.n_positive, at)
    return Scores(metric, best, mean, error, *known_ends(metric, at, matter), apart)


def _expected(
    metric: Metric, eta: FloatArray, sizes: CountArray, at: list[Prediction]
) -> tuple[FloatArray, float, float | None]:
    """Return expected scores, their error, and how far others may be from a line."""
    if not metric.traits & _QUICK_CURVES:
        moments = [prediction.moments(metric) for prediction in at]
        error = max(moment.error for moment in moments)
        return np.array([moment.mean for moment in moments]), error, None
    found = auto_solver(eta.size).curve(eta, metric)
    curve = found.expected_score
    line = np.interp(np.arange(curve.size), sizes, curve[sizes])
    return curve[sizes], found.error, float(np.max(np.abs(curve - line)))


def known_ends(
    metric: Metric, at: list[Prediction], matter: set[int]
) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray]:
    """Return both ends of the intervals, where they were computed, and a scale."""
    cells = np.array([one.expected_cells() for one in at]).T
    variances = np.array([one.variances() for one in at]).T
    centre, std = centre_and_scale(metric, cells, variances)
    counts = np.array([(one.tp.pmf.size, one.fn.pmf.size) for one in at])
    places = computed_places(counts, matter, _COMPUTED)
    ends = np.array(
        [ScoreDistribution(at[i], metric).interval(LEVEL) for i in places.tolist()]
    )
    low, high = (between(places, end, centre, std) for end in ends.T)
    computed = np.zeros(len(at), dtype=np.bool_)
    computed[places] = True
    return low, high, computed, std


def centre_and_scale(
    metric: Metric, cells: FloatArray, variances: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the score of expected counts, and its approximate standard deviation.

    Both counts take three values, by the rule that is right for normal distributions
    and for scores that are nearly quadratic where counts are likely. `cells` holds
    expected counts, and `variances` holds the variances of TP and FN. Both may have any
    shape after their first axis.
    """
    tp, fp, fn, tn = cells
    spread = np.sqrt(variances)
    nodes = _NODES.reshape(3, *[1] * tp.ndim)
    caught = np.clip(tp + nodes * spread[0], 0.0, tp + fp)[:, None]
    missed = np.clip(fn + nodes * spread[1], 0.0, fn + tn)[None]
    table = metric.score_cells(caught, tp + fp - caught, missed, fn + tn - missed)
    table = np.broadcast_to(table, (3, 3, *tp.shape))
    apart = table - table[1, 1]
    first, second = (
        np.einsum("a,b,ab...->...", _WEIGHTS, _WEIGHTS, x) for x in (apart, apart**2)
    )
    return table[1, 1], np.sqrt(np.maximum(second - first**2, 0.0))


def computed_places(
    counts: CountArray, matter: set[int], computed: int, *, few: int = _FEW_COUNTS
) -> IndexArray:
    """Return the cuts at which to compute an interval.

    These are the cuts where it is quick, and those where few counts are possible:
    scores are far from normal there, and change from cut to cut. Where the counts are
    neither few nor many, every other cut is enough. `counts` says how many values TP
    and FN have at each cut. `computed` says at how many other cuts, from end to end, to
    compute an interval.
    """
    fewest = counts.min(axis=1)
    simple = (counts.prod(axis=1) <= _QUICK) | (fewest <= few)
    simple[::2] |= fewest[::2] <= _MORE_COUNTS
    quick = np.flatnonzero(simple).tolist()
    last = counts.shape[0] - 1
    even = np.linspace(0, last, computed).round().astype(np.intp).tolist()
    return np.unique([*quick, *even, *matter])


def between(
    places: IndexArray, end: FloatArray, near: FloatArray, std: FloatArray
) -> FloatArray:
    """Return one end of the interval at all cuts, from its values at some of them.

    Its distance from `near`, in units of `std`, is interpolated.
    """
    spread = std[places]
    varies = spread > 1e-9 * std.max()  # or else it is a constant that was rounded
    if not varies.any():
        everywhere = np.array(near)  # and so it is everywhere, if a score is certain
    else:
        away = (end - near[places])[varies] / spread[varies]
        inside = near + std * np.interp(np.arange(near.size), places[varies], away)
        everywhere = np.clip(inside, end.min(), end.max())  # what it can be
    everywhere[places] = end
    return everywhere
