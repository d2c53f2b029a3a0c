"""Which way "auto" takes: a sort, or a summary that may fall back to a sort."""

from contextlib import contextmanager

import numpy as np
import pytest

import bestcut
from bestcut.decision import _rankings
from bestcut.summary import Bracket
from bestcut.summary._table import quick_table

WAYS = {"summary": 0, "sort": np.inf}  # from how many instances on a summary pays


@contextmanager
def taking(way):
    """Let "auto" take a summary or a sort, whatever n is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rankings, "PAYS_FROM", WAYS[way])
        yield


def decided(way, p, *arguments, **options):
    """Decide by a summary or by a sort."""
    with taking(way):
        return bestcut.decide(p, *arguments, **options)


def noted_cuts(monkeypatch):
    """Return a list that fills with the summary's cuts: None where it sorts instead."""
    found, cut = [], _rankings.best_without_sort

    def noted(*arguments):
        found.append(cut(*arguments))
        return found[-1]

    monkeypatch.setattr(_rankings, "best_without_sort", noted)
    return found


def never_sort(monkeypatch):
    """Let the summary decide by itself however few or similar the scores are."""

    def cut(p, metric, allowed):
        bracket = Bracket(quick_table(p), metric, allowed.low, allowed.high)
        wanted = bracket.window.inside(p)
        return bracket._fixed(wanted, np.ones(wanted.size, dtype=np.int64))

    monkeypatch.setattr(_rankings, "best_without_sort", cut)
