"""Decisions for what arrives in pieces; `bestcut.summary` has the code."""

from bestcut.summary import Bracket, Cut, ScoreSummary

__all__ = ["Bracket", "Cut", "ScoreSummary"]
