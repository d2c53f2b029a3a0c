"""Where the best cut is: one proved search over a table of parts."""

from bestcut.search._changes import RARE, Changes, Parts, above_chord, times
from bestcut.search._runs import (
    BestCut,
    Found,
    best_cut,
    best_cut_in_run,
    best_edge_of,
    best_of,
    exchange_allowance,
    gap_in_words,
    gap_scope,
    gap_to,
    outside,
    whole_curve_best,
)
from bestcut.search._search import CutSearch
from bestcut.search._table import consecutive

__all__ = [
    "RARE",
    "BestCut",
    "Changes",
    "CutSearch",
    "Found",
    "Parts",
    "above_chord",
    "best_cut",
    "best_cut_in_run",
    "best_edge_of",
    "best_of",
    "consecutive",
    "exchange_allowance",
    "gap_in_words",
    "gap_scope",
    "gap_to",
    "outside",
    "times",
    "whole_curve_best",
]
