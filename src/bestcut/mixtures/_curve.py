"""The expected score of every cut, over draws of the probabilities."""

from __future__ import annotations

import numpy as np

from bestcut._types import EPS, FloatArray
from bestcut.counts import NEGLIGIBLE, add_instance, exact_error
from bestcut.curve import curve_of
from bestcut.metrics import Metric, Trait, largest_score
from bestcut.mixtures._cuts import MixtureCuts
from bestcut.uncertain import Draws, RankedDraws

_TOGETHER = 128  # cuts that are looked at together
SHORT = 128  # instances with which no search is faster than all cuts
_QUICK_SHORT = 600  # instances with which laws of all draws together take less time
_SHORT_IF_GENERAL = 20_000
_TRIM_EVERY = 8  # instances
_FEW_DRAWS = 16  # whose curves take less time than looking at every cut
QUICK = frozenset({Trait.SEPARABLE, Trait.AFFINE, Trait.FACTORISED})


def mean_curve(ranked: RankedDraws, metric: Metric) -> tuple[FloatArray, FloatArray]:
    """Return the expected score of every cut, and bounds on the errors.

    The mean of the curves of all draws; or cut by cut, with all draws together, where
    that takes less time.
    """
    draws = ranked.draws
    if Trait.LINEAR_AT_CUT in metric.traits:  # that of mean probabilities
        return curve_of(draws.mean(), metric).whole()
    quick = bool(metric.traits & QUICK) or draws.n_draws <= _FEW_DRAWS
    most = _QUICK_SHORT if quick else _SHORT_IF_GENERAL
    if Trait.SEPARABLE in metric.traits:
        most = 0
    if draws.n <= SHORT:
        return _by_laws(draws, metric)
    # A curve is that of probabilities in descending order.
    if draws.n <= most or not ranked.is_ranked:
        return _cut_by_cut(MixtureCuts(ranked, metric))
    value, error = np.zeros(draws.n + 1), np.zeros(draws.n + 1)
    for b in range(draws.n_draws):
        one, wrong = curve_of(draws.draw(b), metric).whole()
        # Draws that agree have exactly their common value as mean.
        value += (one - value) / (b + 1)
        error += (wrong - error) / (b + 1)
    return value, error


def _cut_by_cut(cuts: MixtureCuts) -> tuple[FloatArray, FloatArray]:
    every = np.arange(cuts.n + 1)
    for some in np.split(every, range(_TOGETHER, every.size, _TOGETHER)):
        cuts.evaluate_closely(some)
        cuts.ranked.forget()
    value, error = np.array([cuts.value(k) for k in every.tolist()]).T
    return value, error


def _by_laws(draws: Draws, metric: Metric) -> tuple[FloatArray, FloatArray]:
    """Return the curve from the laws of both counts, at all cuts of few instances.

    At a cut both laws in all draws make one joint law of TP and FN, a product of two
    matrices.
    """
    n, largest = draws.n, largest_score(metric, draws.n)
    p = draws.rows(0, n)
    above, below = _running_laws(p), _running_laws(p[::-1])[::-1]
    value, error = np.empty(n + 1), np.empty(n + 1)
    for k, ((i, first), (j, second)) in enumerate(zip(above, below, strict=True)):
        tp = np.arange(float(i), i + first.shape[0])[:, None]
        fn = np.arange(float(j), j + second.shape[0])
        joint = first @ second.T
        score = metric.score_cells(tp, k - tp, fn, n - k - fn)
        score = np.broadcast_to(score, joint.shape)
        value[k] = np.einsum("ij,ij->", joint, score) / draws.n_draws
        width, scale = sum(joint.shape), float(np.max(np.abs(score)))
        error[k] = exact_error(width, n, scale, largest) + draws.n_draws * EPS * scale
        # Each count may be left out whenever laws are trimmed, at either end.
        if np.isfinite(largest):
            error[k] += n * n * NEGLIGIBLE * largest
    return value, error


def _running_laws(p: FloatArray) -> list[tuple[int, FloatArray]]:
    """Return the laws of the first 0, 1, ... instances, and the first count of each."""
    start, law = 0, np.ones((1, p.shape[1]))
    laws = [(start, law)]
    for i, row in enumerate(p, start=1):
        law = np.concatenate([law, np.zeros((1, p.shape[1]))])
        add_instance(law, row, law)
        if i % _TRIM_EVERY == 0:
            possible = np.flatnonzero(law.max(axis=1) > NEGLIGIBLE)
            start += int(possible[0])
            law = law[possible[0] : possible[-1] + 1]
        laws.append((start, law))
    return laws
