"""The best cut for the mean over draws, with a proof that there is no better one.

What `bestcut.search` proves of one curve holds for every draw, and so for the mean.
"""

from __future__ import annotations

import numpy as np

from bestcut._types import BoolArray, IndexArray
from bestcut.metrics import Trait
from bestcut.mixtures._curve import mean_curve
from bestcut.mixtures._cuts import MixtureCuts
from bestcut.search import Allowed, BestCut, Search

_SHORT = 128  # instances with which every cut is looked at
_TOGETHER = 128  # cuts that are looked at together
_AFFORDABLE = 20_000  # cuts that are looked at one by one; some 20 seconds


def best_cut_of_draws(cuts: MixtureCuts, allowed: BoolArray) -> BestCut:
    """Return the best allowed cut, and a bound on what any of them is worth.

    Where bounds leave cells that were not divided down to single cuts, these are looked
    at one by one; if that would take too long, the bound says what may be missed.
    """
    metric = cuts.metric
    if Trait.LINEAR_AT_CUT in metric.traits:
        return _best_of_curve(cuts, allowed)
    search = Search(cuts, Allowed.those(allowed))
    if cuts.n <= _SHORT or not np.isfinite(cuts.proved):
        _look_at_each(cuts, search, np.flatnonzero(allowed))
        left_out = -np.inf
    else:
        cells, left_out = search.run(), search.enough
        ends = zip(cells.first.tolist(), cells.last.tolist(), strict=True)
        inside = [a + 1 + np.flatnonzero(allowed[a + 1 : b]) for a, b in ends]
        if sum(x.size for x in inside) <= _AFFORDABLE:
            _look_at_each(cuts, search, np.concatenate([*inside, cells.first[:0]]))
        else:
            left_out = search.upper
    seen = np.flatnonzero(allowed & ~np.isnan(search.utility))
    utility, error = search.utility[seen], search.error[seen]
    i = int(np.argmax(utility))
    upper = max(left_out, float(np.max(utility + error)))
    return BestCut(int(seen[i]), float(utility[i]), float(error[i]), upper)


def _best_of_curve(cuts: MixtureCuts, allowed: BoolArray) -> BestCut:
    """Look at the whole curve, which takes little time for some metrics."""
    value, error = mean_curve(cuts.ranked, cuts.metric)
    utility = np.where(allowed, cuts.metric.sign * value, -np.inf)
    k = int(np.argmax(utility))
    upper = float(np.max(utility + error))
    return BestCut(k, float(utility[k]), float(error[k]), upper)


def _look_at_each(cuts: MixtureCuts, search: Search, places: IndexArray) -> None:
    """Look at many cuts, some at a time."""
    for some in np.split(places, range(_TOGETHER, places.size, _TOGETHER)):
        search.look(some)
        if places.size > _TOGETHER:
            cuts.ranked.forget()
