"""Best cuts that a search by samples would miss."""

import numpy as np
import pytest

import bestcut
from bestcut.metrics import from_counts, from_expression
from helpers import descending
from search.known import ExactCuts, assert_promise


def test_a_bump_between_the_cuts_that_are_looked_at_first():
    p = np.random.default_rng(0).beta(0.5, 2, 20_000)
    metric = from_expression("0.5*tp/n_pos + 1/(1+((n_pred-7000)/100)**2)")
    decision = bestcut.decide(p, metric)
    assert decision.n_positive == 7000
    assert decision.expected_score == pytest.approx(1.3887, abs=1e-4)
    cuts = ExactCuts(descending(p), [1000, 6990, 6999, 7000, 7001, 7010, 15_000])
    assert_promise(decision, cuts, metric)


def test_a_bump_narrower_than_the_spread_of_the_positives():
    p = np.random.default_rng(0).beta(2, 2, 3000)
    metric = from_expression("1/(1+(n_pred-n_pos)**2)")
    decision = bestcut.decide(p, metric)
    near = decision.n_positive + np.arange(-12, 13)
    cuts = ExactCuts(descending(p), [*near, *range(0, 3001, 100)])
    assert_promise(decision, cuts, metric)


def test_a_root_that_is_steep_where_nearly_all_positives_are_found():
    p = np.repeat([0.9999, 0.9, 0.0], [5000, 600, 94_400])
    metric = from_expression("tp/n_pred - (fn/n_pos)**0.1")
    decision = bestcut.decide(p, metric)
    assert decision.n_positive == 5600
    assert decision.expected_score == pytest.approx(0.9892, abs=1e-4)
    some = [1, 4000, 4999, 5000, 5001, 5300, 5590, 5599, 5600, 5601, 5610, 6000, 20_000]
    assert_promise(decision, ExactCuts(p, [*some, 100_000]), metric)


@pytest.mark.parametrize("n", [3000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_bumps_that_no_sample_of_scores_sees(n):
    """An even power whose lower end is lost, and so the bound on the score."""
    p = np.random.default_rng(0).beta(0.5, 2, n)
    first, second = {3000: (2382, 993), 20_000: (15_764, 5641)}[n]
    metric = from_expression(
        f"1e-9*tp/n_pos + 1/(1+((n_pred-{first})/9)**4)"
        f" + 2/(1+((n_pred-{second})/2)**4)"
    )
    decision = bestcut.decide(p, metric)
    cuts = [first, second, decision.n_positive]
    assert_promise(decision, ExactCuts(descending(p), cuts), metric)


def test_a_step_from_no_true_positive_to_one_is_not_overlooked():
    # The slope is 0 at TP = 0 and at TP >= 1; all that happens lies between.
    eta = descending(np.random.default_rng(3).beta(0.5, 8, 2000))
    eta = eta * 5 / eta.sum()
    cost = float(eta[700]) * 0.2

    def hit(tp, fp, fn, tn):
        return np.where(tp > 0, 1.0, 0.0) - cost * (tp + fp)

    plain = bestcut.decide(eta, from_counts(hit, name="hit")).curve.expected_score
    lift = 0.78985 - plain[992]

    def with_a_tooth(tp, fp, fn, tn):
        tooth = np.maximum(0.0, 1.0 - np.abs(tp + fp - 992.0) / 6.0)
        return hit(tp, fp, fn, tn) + lift * tooth

    decision = bestcut.decide(eta, from_counts(with_a_tooth, name="tooth"))
    best = decision.curve.expected_score.max()
    assert best <= decision.expected_score + decision.error + decision.gap
    assert decision.n_positive == 269
