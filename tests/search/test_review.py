"""Faults that a review of the lemmas found, each with the case that shows it."""

import numpy as np

import bestcut
from bestcut.counts import value_of_cut
from bestcut.counts._side import SummedSide, error_of_sums
from bestcut.counts._window import law_of
from bestcut.metrics import from_counts


def test_a_step_from_no_true_positive_to_one_is_not_overlooked():
    # The slope is 0 at TP = 0 and at TP >= 1; all that happens lies between.
    eta = np.sort(np.random.default_rng(3).beta(0.5, 8, 2000))[::-1]
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


def test_laws_from_sums_are_wrong_by_an_absolute_error():
    eta = np.random.default_rng(0).uniform(0.3, 0.7, 1200)
    above, below = eta[:800], eta[800:]
    mean, sigma = above.sum(), np.sqrt(np.sum(above * (1 - above)))
    metric = from_counts(
        lambda tp, fp, fn, tn: np.where(tp > mean + 4 * sigma, 1.0, 0.0), "tail"
    )
    sides = [
        SummedSide(
            x.size,
            bestcut.counts._moments.features(x, 20).sum(axis=1),
            float((1 - x).sum()),
            lambda x=x: law_of(x),
        )
        for x in (above, below)
    ]
    value, error = value_of_cut(metric, 1.0, *sides)
    law = law_of(above)
    truth = law.pmf[law.counts > mean + 4 * sigma].sum()
    assert abs(value - truth) <= error
    assert error >= float(error_of_sums(np.array([sigma**2]))[0])


def test_a_bound_on_negative_scores_is_not_rounded_downwards():
    bracket = bestcut.ScoreSummary.from_scores([0.0, 0.0]).bracket(
        "informedness", min_positives=1
    )
    cut = bracket.refine(bracket.select([0.0, 0.0]))
    assert cut.expected_score <= bracket.upper_bound
