"""Decisions without sorting: a summary that merges, and the cut it leads to."""

from bestcut.summary._bracket import Bracket, Window
from bestcut.summary._cut import Cut
from bestcut.summary._passes import Pass, find_cut, merged
from bestcut.summary._summary import ScoreSummary
from bestcut.summary._table import quick_table

__all__ = [
    "Bracket",
    "Cut",
    "Pass",
    "ScoreSummary",
    "Window",
    "find_cut",
    "merged",
    "quick_table",
]
