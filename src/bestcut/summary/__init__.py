"""Decisions without sorting: a summary that merges, and the cut it leads to."""

from bestcut.summary._bracket import Bracket, Cut, Window
from bestcut.summary._summary import ScoreSummary

__all__ = ["Bracket", "Cut", "ScoreSummary", "Window"]
