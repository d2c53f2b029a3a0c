"""Where the best cut is: one proved search over the cuts of a ranking."""

from bestcut.search._allowed import Allowed
from bestcut.search._bounds import (
    OUTSIDE,
    Bounds,
    Cells,
    bounds_inside,
    extreme_utility,
    least_utility,
)
from bestcut.search._cuts import RARE, TableCuts
from bestcut.search._runs import (
    BestCut,
    Found,
    best_candidate,
    best_cut,
    best_cut_in_run,
    best_of,
    exchange_allowance,
    gap_in_words,
    gap_scope,
    gap_to,
    outside,
    whole_curve_best,
)
from bestcut.search._search import OpenCells, Search

__all__ = [
    "OUTSIDE",
    "RARE",
    "Allowed",
    "BestCut",
    "Bounds",
    "Cells",
    "Found",
    "OpenCells",
    "Search",
    "TableCuts",
    "best_candidate",
    "best_cut",
    "best_cut_in_run",
    "best_of",
    "bounds_inside",
    "exchange_allowance",
    "extreme_utility",
    "gap_in_words",
    "gap_scope",
    "gap_to",
    "least_utility",
    "outside",
    "whole_curve_best",
]
