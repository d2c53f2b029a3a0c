"""Which way the summary solver takes, which falls back to a sort without a word."""

import numpy as np

from bestcut.solvers._summary import SummarySolver
from bestcut.summary import Bracket, quick_table


def noted_cuts(monkeypatch):
    """Return a list that fills with the summary's cuts: None where it sorts instead."""
    found, cut = [], SummarySolver._found

    def noted(self, *arguments):
        found.append(cut(self, *arguments))
        return found[-1]

    monkeypatch.setattr(SummarySolver, "_found", noted)
    return found


def never_sort(monkeypatch):
    """Let the summary decide by itself however few or similar the scores are."""

    def cut(self, p, metric, low, high):
        bracket = Bracket(quick_table(p), metric, low, high)
        wanted = bracket.window.inside(p)
        return bracket.fixed(wanted, np.ones(wanted.size, dtype=np.int64))

    monkeypatch.setattr(SummarySolver, "_found", cut)
