"""The expected score of every cut, over draws of the probabilities."""

from __future__ import annotations

import numpy as np

from bestcut._types import FloatArray
from bestcut.curve import curve_of
from bestcut.metrics import Metric, Trait
from bestcut.mixtures._cuts import MixtureCuts
from bestcut.uncertain import RankedDraws

_TOGETHER = 128  # cuts that are looked at together
_SHORT = 600  # instances with which laws of all draws together take less time
_SHORT_IF_GENERAL = 20_000
_FEW_DRAWS = 16  # whose curves take less time than looking at every cut
_QUICK = frozenset({Trait.SEPARABLE, Trait.AFFINE, Trait.FACTORISED})


def mean_curve(ranked: RankedDraws, metric: Metric) -> tuple[FloatArray, FloatArray]:
    """Return the expected score of every cut, and bounds on the errors.

    The mean of the curves of all draws; or cut by cut, with all draws together, where
    that takes less time.
    """
    draws = ranked.draws
    if Trait.LINEAR_AT_CUT in metric.traits:  # that of mean probabilities
        return curve_of(draws.mean(), metric).whole() if draws.n else _of_nobody(metric)
    quick = bool(metric.traits & _QUICK) or draws.n_draws <= _FEW_DRAWS
    most = _SHORT if quick else _SHORT_IF_GENERAL
    if Trait.SEPARABLE in metric.traits:
        most = 0
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


def _of_nobody(metric: Metric) -> tuple[FloatArray, FloatArray]:
    value = np.asarray(metric.score(0.0, 0.0, 0.0, 0.0), dtype=np.float64)
    return value.reshape(1), np.zeros(1)


def _cut_by_cut(cuts: MixtureCuts) -> tuple[FloatArray, FloatArray]:
    every = np.arange(cuts.n + 1)
    for some in np.split(every, range(_TOGETHER, every.size, _TOGETHER)):
        cuts.evaluate(some)
        cuts.ranked.forget()
    value, error = np.array([cuts.value(k) for k in every.tolist()]).T
    return value, error
