"""Decisions for what arrives in pieces; `bestcut.summary` has the code."""

from bestcut._public import publish
from bestcut.summary import Bracket, Cut, ScoreSummary

__all__ = ["Bracket", "Cut", "ScoreSummary"]

publish(__name__, globals())
