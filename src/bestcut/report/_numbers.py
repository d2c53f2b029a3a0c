"""The numbers of a report: what to expect from some hundred cuts of a ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bestcut._outlook import ExpectedCounts, Outlook, away_from_lines
from bestcut._types import BoolArray, CountArray, FloatArray
from bestcut.decision import allowed_cuts, decide
from bestcut.metrics import Metric, get
from bestcut.scores import ScoreDistribution
from bestcut.uncertain import UncertainProbabilities, draws_of

LEVEL = 0.9
HALF = 0.5  # the threshold to compare with
PRECISION, RECALL = get("precision"), get("recall")
_ALL_SHOWN = 400  # every cut of so many instances is shown
# Cuts from end to end, and near one that matters: for known probabilities, for draws.
_SHOWN, _SHOWN_OF_DRAWS = (121, 8), (41, 5)

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
    apart : float or None
        A bound on the distance of the expected score of any cut from the straight line
        between the cuts shown around it; None if no bound is known. Only for the
        metric of the decision.
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
    apart: float | None = None
    known: tuple[FloatArray, FloatArray] | None = None
    parts: tuple[float, float] | None = None


class Numbers(NamedTuple):
    """The cuts shown, the metrics to choose from, and what is shown beside each."""

    cuts: Cuts
    scores: list[Scores]
    beside: list[Scores]


def compute(
    p: FloatArray | UncertainProbabilities,
    metrics: Sequence[Metric],
    beside: Sequence[Metric],
    conditions: Conditions,
    tell: Tell,
) -> Numbers:
    """Return what to expect at the cuts that are worth showing.

    For draws of probabilities there are two intervals at every cut: one that covers
    chance in the labels and doubt about the probabilities, and the one there would be
    if the probabilities were known to be the means of the draws.
    """
    tell("Deciding")
    allowed = allowed_cuts(p, *conditions)
    asked: dict[str, Any] = dict(zip(Conditions._fields, conditions, strict=True))
    best = [decide(p, metric, **asked) for metric in metrics]
    is_known = not isinstance(p, UncertainProbabilities)
    drawn = p if isinstance(p, UncertainProbabilities) else _one_draw(p)
    half = int(np.count_nonzero(drawn.mean >= HALF))
    matter = {0, half, *(one.n_positive for one in best)}
    even, near = _SHOWN if is_known else _SHOWN_OF_DRAWS
    sizes = shown_cuts(len(p), matter, even=even, near=near)
    places = [int(np.searchsorted(sizes, one.n_positive)) for one in best]
    at_half = int(np.searchsorted(sizes, half))
    tell("Counting")
    order = draws_of(drawn).order()
    eta = drawn.mean[order]
    outlook = Outlook(drawn, sizes, LEVEL)
    at_mean = None
    if not is_known:
        at_mean = Outlook(_one_draw(eta), sizes, LEVEL)
    long = outlook.takes_long
    counts = outlook.counts({*places[: 1 if long else None], at_half})
    by_input = np.array_equal(np.argsort(-drawn.mean, kind="stable"), order)
    cuts = _cuts_of(eta, sizes, counts, at_half, allowed, by_input=by_input)
    made = []
    for i, metric in enumerate([*metrics, *beside]):
        tell(f"Computing {metric.label}")
        own = i < len(metrics)
        place = places[i] if own else places[0]
        matter = {place} if own or long else {*places}
        if not long or i == 0 or not own:
            matter |= {places[0], at_half}
        expected = outlook.scores(metric, matter)
        alone = None if at_mean is None else at_mean.intervals(metric, matter)[:2]
        made.append(
            Scores(
                metric,
                place,
                *expected,
                apart=away_from_lines(best[0], sizes) if is_known and not i else None,
                known=alone,
                parts=None if is_known or i else _parts(outlook, place, metric),
            )
        )
    return Numbers(cuts, made[: len(metrics)], made[len(metrics) :])


def _one_draw(p: FloatArray) -> UncertainProbabilities:
    return UncertainProbabilities(p[None])


def _parts(outlook: Outlook, place: int, metric: Metric) -> tuple[float, float]:
    """Return standard deviations of a score, from labels and from probabilities."""
    score = ScoreDistribution(outlook.prediction(place), metric)
    return score.std_labels, score.std_calibration


def shown_cuts(n: int, matter: Iterable[int], *, even: int, near: int) -> CountArray:
    """Return the numbers of flagged instances to show, more of them near some."""
    if n <= _ALL_SHOWN:
        return np.arange(n + 1)
    away = np.geomspace(1, 4 * n / even, near).round()
    around = [k + side * away for k in matter for side in (-1, 0, 1)]
    every = np.concatenate([np.linspace(0, n, even).round(), *around])
    return np.unique(every[(every >= 0) & (every <= n)]).astype(np.int64)


def _cuts_of(
    eta: FloatArray,
    sizes: CountArray,
    counts: ExpectedCounts,
    half: int,
    allowed: BoolArray,
    *,
    by_input: bool,
) -> Cuts:
    """Return the cuts, given the counts to expect at each of them."""
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
        mean=counts.mean.T,
        low=counts.ends[:, :, 0].T,
        high=counts.ends[:, :, 1].T,
        computed=counts.computed,
        allowed=allowed[sizes],
        half=half,
        order="of the input" if by_input else "of their scores",
    )
