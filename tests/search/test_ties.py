"""Thousands of cuts that tie are neither looked at one by one nor forgotten."""

import numpy as np
import pytest

import bestcut
from bestcut.metrics import from_expression
from bestcut.search import TableCuts
from helpers import descending
from summary.ways import WAYS, decided, noted_cuts


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["recall", "specificity"])
def test_thousands_of_cuts_that_tie_are_not_looked_at_one_by_one(
    name, way, monkeypatch
):
    # Next to one end of the ranking all cuts are worth 1 up to 1e-9.
    looked = []
    look = TableCuts._evaluate

    def counted(self, places, *rest):
        looked.append(places.size)
        return look(self, places, *rest)

    monkeypatch.setattr(TableCuts, "_evaluate", counted)
    p = np.random.default_rng(3).beta(0.3, 3, 200_000)
    p = 1.0 - p if name == "specificity" else p
    found = noted_cuts(monkeypatch)
    decision = decided(way, p, name)
    assert len(found) == (way == "summary")
    assert None not in found
    assert sum(looked) < 200
    assert abs(decision.expected_score - 1.0) <= decision.error
    assert decision.error + decision.gap < 1e-11


def test_what_is_stated_of_cuts_that_tie_is_true():
    # A bound on any score is of no help here: the plateau is below it.
    metric = from_expression("0.5 * tp / (tp + fn) + 0.25 * n / n", name="plateau")
    p = descending(np.random.default_rng(4).beta(0.3, 3, 3000))
    decision = bestcut.decide(p, metric)
    values = decision.curve.expected_score
    best = decision.expected_score + 2 * decision.error + decision.gap
    assert values.max() <= best
    assert decision.error + decision.gap < 1e-11
