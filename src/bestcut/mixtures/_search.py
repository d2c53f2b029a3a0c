"""The best cut for the mean over draws, with a proof that there is no better one.

What `bestcut.search` proves of one curve holds for every draw, and so for the mean.
"""

from __future__ import annotations

import numpy as np

from bestcut._types import BoolArray, IndexArray
from bestcut.metrics import Trait
from bestcut.mixtures._curve import QUICK, SHORT, mean_curve
from bestcut.mixtures._cuts import MixtureCuts
from bestcut.search import Allowed, BestCut, Search, best_of_sorted

_TOGETHER = 128  # cuts that are looked at together
_PROMISING = 8  # cuts that are looked at closely together
_AFFORDABLE = 20_000  # cuts that are looked at one by one; some 20 seconds


def best_cut_of_draws(cuts: MixtureCuts, allowed: BoolArray) -> BestCut:
    """Return the best allowed cut, and a bound on what any of them is worth.

    Where bounds leave cells that were not divided down to single cuts, these are looked
    at one by one; if that would take too long, the bound says what may be missed.
    """
    traits = cuts.metric.traits
    if Trait.LINEAR_AT_CUT in traits or cuts.n <= SHORT:
        return _best_of_curve(cuts, allowed)
    if cuts.n_draws == 1 and cuts.ranked.is_ranked:
        return _best_of_one_draw(cuts, allowed)
    search = Search(cuts, Allowed.those(allowed))
    if not np.isfinite(cuts.proved):
        _look_at_each(cuts, search, np.flatnonzero(allowed))
        search.settle()
        left_out = -np.inf
    else:
        cells, left_out = search.run(), search.enough
        ends = zip(cells.first.tolist(), cells.last.tolist(), strict=True)
        inside = [a + 1 + np.flatnonzero(allowed[a + 1 : b]) for a, b in ends]
        left = sum(x.size for x in inside)
        if 2 * left > cuts.n and traits & QUICK and cuts.ranked.is_ranked:
            return _best_of_curve(cuts, allowed)  # bounds leave little out
        if left <= _AFFORDABLE:
            _look_at_each(cuts, search, np.concatenate([*inside, cells.first[:0]]))
        else:
            left_out = search.upper
    left_out = max(left_out, _look_closely(search))
    seen = np.flatnonzero(allowed & search.is_close)
    utility, error = search.utility[seen], search.error[seen]
    i = int(np.argmax(utility))
    upper = max(left_out, float(np.max(utility + error)))
    return BestCut(int(seen[i]), float(utility[i]), float(error[i]), upper)


def _best_of_curve(cuts: MixtureCuts, allowed: BoolArray) -> BestCut:
    """Look at the whole curve, which takes little time for some metrics."""
    value, error = mean_curve(cuts.ranked, cuts.metric)
    utility = np.where(allowed, cuts.metric.sign * value, -np.inf)
    k = int(np.argmax(utility))
    cuts.remember(k, float(value[k]), float(error[k]))
    upper = float(np.max(utility + error))
    return BestCut(k, float(utility[k]), float(error[k]), upper)


def _best_of_one_draw(cuts: MixtureCuts, allowed: BoolArray) -> BestCut:
    """Return the best cut where the probabilities are known."""
    eta, among = cuts.ranked.draws.draw(0), Allowed.those(allowed)
    best = best_of_sorted(eta, cuts.metric, among)
    cuts.remember(best.k, cuts.metric.sign * best.utility, best.error)
    return best


def _look_closely(search: Search) -> float:
    """Look closely at what may be the best, and return what no other cut exceeds.

    A few at a time, the most promising ones first: then few others are left.
    """
    while True:
        left = search.candidates
        left = left[~search.is_close[left]]
        if not left.size:
            return search.enough
        promising = np.argsort(-search.utility[left], kind="stable")[:_PROMISING]
        search.look_closely(np.sort(left[promising]))
        search.settle()


def _look_at_each(cuts: MixtureCuts, search: Search, places: IndexArray) -> None:
    """Look at many cuts, some at a time."""
    for some in np.split(places, range(_TOGETHER, places.size, _TOGETHER)):
        search.look(some)
        if places.size > _TOGETHER:
            cuts.ranked.forget()
