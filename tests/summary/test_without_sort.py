"""Many scores are decided by a summary, and sorts where that leaves too much."""

import numpy as np
import pytest

import bestcut
from helpers import NAMES
from summary.known import KINDS
from summary.ways import WAYS, decided, noted_cuts


def test_decide_takes_the_summary_for_many_scores(monkeypatch):
    found = noted_cuts(monkeypatch)
    p = np.random.default_rng(2).beta(0.3, 3, 2_100_000)  # from 2**21 on
    decision, swept = bestcut.decide(p), decided("sort", p)
    assert (decision.solver, swept.solver) == ("search", "curve")
    assert [cut.best.k for cut in found] == [decision.n_positive]
    assert decision.n_positive == swept.n_positive
    assert decision.threshold == swept.threshold
    assert np.array_equal(decision.labels, swept.labels)
    assert np.array_equal(decision.curve.threshold, swept.curve.threshold)
    p[:] = 0.0  # the decision has its own copy
    assert decision.curve.threshold[1] > 0.9


@pytest.mark.parametrize("kind", ["all equal", "one bin", "zeros and ones", "rare"])
def test_decide_sorts_where_the_summary_leaves_too_much(kind, monkeypatch):
    found = noted_cuts(monkeypatch)
    p = KINDS[kind](np.random.default_rng(2), 40_000)
    for name in ("f1", "mcc"):
        one, other = (decided(way, p, name) for way in WAYS)
        assert one.expected_score == pytest.approx(
            other.expected_score, abs=one.error + other.error
        )
        assert one.labels.sum() == one.n_positive
    assert found == [None, None]


ROOMY = ["spread", "uniform", "mostly positive"]
each_roomy_kind = pytest.mark.parametrize("kind", ROOMY)
each_bounds = pytest.mark.parametrize(
    "bounds", [{}, {"min_positives": 30, "max_positives": 900}]
)


@each_roomy_kind
@each_bounds
def test_the_summary_decides_as_a_sort(kind, bounds, monkeypatch):
    # Each metric once: with one kind, with bounds or without.
    first = 2 * ROOMY.index(kind) + bool(bounds)
    assert_decides_as_a_sort(kind, bounds, NAMES[first::6], monkeypatch)


@pytest.mark.slow
@each_roomy_kind
@each_bounds
def test_the_summary_decides_as_a_sort_with_every_metric(kind, bounds, monkeypatch):
    assert_decides_as_a_sort(kind, bounds, NAMES, monkeypatch)


def assert_decides_as_a_sort(kind, bounds, names, monkeypatch):
    """Raise if the summary is not used, or its decision is worse than after a sort."""
    found = noted_cuts(monkeypatch)
    p = KINDS[kind](np.random.default_rng(2), 60_000)
    for name in names:
        one, other = (decided(way, p, name, **bounds) for way in WAYS)
        assert one.expected_score == pytest.approx(
            other.expected_score, abs=one.error + other.error
        )
        assert one.labels.sum() == one.n_positive
    assert len(found) == len(names)
    assert None not in found
