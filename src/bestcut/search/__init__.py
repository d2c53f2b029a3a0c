"""Where the best cut is: one proved search over the cuts of a ranking."""

from bestcut.search._allowed import Allowed
from bestcut.search._best import BestCut, best_inside, best_of_values
from bestcut.search._bounds import (
    OUTSIDE,
    Bounds,
    Cells,
    bounds_inside,
    extreme_utility,
    least_utility,
)
from bestcut.search._cuts import RARE, TableCuts
from bestcut.search._gap import (
    exchange_allowance,
    gap_in_words,
    gap_scope,
    gap_to,
    tell_if_unproved,
)
from bestcut.search._search import OpenCells, Search
from bestcut.search._sorted import best_of_sorted, whole_curve
from bestcut.search._table import ListedTable

__all__ = [
    "OUTSIDE",
    "RARE",
    "Allowed",
    "BestCut",
    "Bounds",
    "Cells",
    "ListedTable",
    "OpenCells",
    "Search",
    "TableCuts",
    "best_inside",
    "best_of_sorted",
    "best_of_values",
    "bounds_inside",
    "exchange_allowance",
    "extreme_utility",
    "gap_in_words",
    "gap_scope",
    "gap_to",
    "least_utility",
    "tell_if_unproved",
    "whole_curve",
]
