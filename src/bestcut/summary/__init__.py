"""Decisions without sorting: a summary that merges, and the cut it leads to."""

from bestcut.summary._bracket import Bracket, Window, best_without_sort
from bestcut.summary._cut import Cut
from bestcut.summary._passes import Pass, find_cut, merged
from bestcut.summary._summary import ScoreSummary

__all__ = [
    "Bracket",
    "Cut",
    "Pass",
    "ScoreSummary",
    "Window",
    "best_without_sort",
    "find_cut",
    "merged",
]
