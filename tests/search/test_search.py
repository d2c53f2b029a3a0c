"""The search leaves out most cuts, and never the best one."""

import numpy as np
import pytest

import bestcut
from bestcut.curve import curve_of
from bestcut.metrics import Trait, from_counts
from bestcut.search import Allowed
from bestcut.search._best import best_cut
from bestcut.search._table import ListedTable
from curve.known import BETA, probabilities
from helpers import NAMES

LAWS = [*BETA, "two-point", "tied"]


def assert_nothing_left_out(law, n, names):
    """Raise if a cut is better than the search proves."""
    eta = probabilities(law, n)
    for name in names:
        metric = bestcut.metrics.get(name)
        values, errors = curve_of(eta, metric).whole()
        utility = values if metric.greater_is_better else -values
        for low, high in ((0, n), (n // 7, n // 3), (n // 2, n), (5, 5)):
            best = best_cut(ListedTable.sorted(eta), metric, Allowed(low, high))
            assert low <= best.k <= high
            assert abs(best.utility - utility[best.k]) <= best.error + errors[best.k]
            # No cut is better than what is proved, which is little more than what
            # was found.
            here = slice(low, high + 1)
            assert np.all(utility[here] <= best.upper + errors[here]), name
            reached = utility[best.k]
            assert reached == pytest.approx(utility[here].max(), abs=2 * best.error)
            assert best.error <= 1e-11, name
            assert best.upper <= best.utility + best.error + 1e-10, name


@pytest.mark.parametrize("law", LAWS)
def test_the_search_leaves_out_no_block_that_holds_the_best_cut(law):
    names = NAMES[LAWS.index(law) :: len(LAWS)]  # each metric with one law
    assert_nothing_left_out(law, 2000, names)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_the_search_leaves_out_no_block_with_any_law_and_metric(law):
    assert_nothing_left_out(law, 3000, NAMES)


def test_the_search_leaves_out_no_block_of_many_instances():
    assert_nothing_left_out("skewed", 40_000, ["accuracy", "f1", "jaccard"])


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_the_search_leaves_out_no_block_of_many_instances_with_any_law(law):
    affine = [x for x in NAMES if Trait.AFFINE in bestcut.metrics.get(x).traits]
    assert_nothing_left_out(law, 40_000, sorted({*affine, "jaccard", "gmean"}))


def test_the_search_leaves_most_cuts_out(monkeypatch):
    # Otherwise it would be a slow way to compute the curve.
    eta = probabilities("skewed", 10**6)
    looked_at = []

    def noted(run, *arguments):
        looked_at.append(run.size)
        return curve_of(run, *arguments)

    def never(*_):
        pytest.fail("every cut was looked at")

    monkeypatch.setattr("bestcut.search._best.curve_of", noted)
    monkeypatch.setattr("bestcut.search._best._whole", never)
    best_cut(
        ListedTable.sorted(eta), bestcut.metrics.get("gmean"), Allowed(0, eta.size)
    )
    assert looked_at
    assert sum(looked_at) < eta.size / 4


def test_no_step_is_missed_between_the_edges_of_blocks():
    # Worth something only for a narrow range of sizes, nothing at any edge.
    narrow = from_counts(
        lambda tp, fp, fn, tn: 1.0 * (np.abs(tp + fp - 701) < 2), "about 701"
    )
    decision = bestcut.decide(probabilities("skewed", 2000), narrow)
    assert 700 <= decision.n_positive <= 702
    assert decision.expected_score == pytest.approx(1.0)
