"""The cut of sorted probabilities is the best one, for any input of any size."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bestcut
from bestcut.metrics import from_counts
from bestcut.metrics._discs import is_followed
from bestcut.reference import ALGORITHMS
from bestcut.search import Allowed, best_of_sorted
from curve.known import TVERSKY, probabilities
from groups import few_and_many, slow
from helpers import NAMES, descending


@few_and_many(
    100,
    1500,
    given(
        p=st.lists(
            st.one_of(
                st.floats(0, 1, allow_subnormal=True),
                st.integers(0, 10).map(lambda i: i / 10),
                st.sampled_from([0.0, 1.0, 1 - 1e-16, 1e-300, 5e-324]),
            ),
            min_size=1,
            max_size=60,
        ),
        name=st.sampled_from(NAMES),
    ),
)
def test_no_cut_beats_the_chosen_one_by_more_than_twice_the_error(p, name):
    eta = descending(p)
    metric = bestcut.metrics.get(name)
    truth = ALGORITHMS["cubic"].curve(eta, metric)
    best = best_of_sorted(eta, metric, Allowed(0, eta.size))
    sign = 1 if metric.greater_is_better else -1
    own = sign * truth.expected_score[best.k]
    slack = 2 * best.error + 2 * truth.error
    assert (sign * truth.expected_score).max() - own <= slack
    assert abs(best.utility - own) <= best.error + truth.error


def tversky_that_cannot_be_followed(tp, fp, fn, tn):
    return tp / np.hypot(tp + 0.3 * fp + 0.7 * fn, 0.0)


@pytest.mark.parametrize(
    ("followed", "n"), [(True, 1200), (False, 400), slow(False, 1200)]
)
def test_smooth_is_a_promise_that_buys_speed_not_another_answer(followed, n):
    eta = probabilities("uniform", n)
    function = TVERSKY.function if followed else tversky_that_cannot_be_followed
    promised, exact = (
        from_counts(function, "tversky", zero_division=0.0, smooth=smooth)
        for smooth in (True, False)
    )
    assert is_followed(promised) is followed
    fast, slow = (bestcut.decide(eta, metric) for metric in (promised, exact))
    assert fast.n_positive == slow.n_positive
    assert fast.expected_score == pytest.approx(slow.expected_score, abs=1e-13)
    assert slow.gap <= 1e-13
    assert fast.gap == slow.gap


def some_sizes():
    """Return metrics and sizes; with many instances, three metrics are fast."""
    for name in NAMES:
        for n in (3, 400, 10**5):
            fast = n <= 400 or name in ("f1", "mcc", "squared_count_error")
            yield (name, n) if fast else slow(name, n)


@pytest.mark.parametrize(("name", "n"), list(some_sizes()))
def test_degenerate_inputs_of_any_size(name, n):
    metric = bestcut.metrics.get(name)
    one_sure = np.zeros(n)
    one_sure[n // 2] = 1.0
    tiny = np.full(n, 5e-324)
    nearly = np.full(n, 1 - 1e-16)
    for p in (np.zeros(n), np.ones(n), one_sure, tiny, nearly, np.full(n, 0.5)):
        decision = bestcut.decide(p, metric)
        assert np.isfinite(decision.expected_score)
        assert 0 <= decision.error < 1e-10
    sure = bestcut.decide(one_sure, metric)
    # Labels are known: nothing beats the score of the perfect prediction.
    perfect = metric(1, 1, 1, n)
    assert sure.expected_score == pytest.approx(perfect, abs=sure.error)


def test_one_certain_positive_among_a_million():
    p = np.zeros(10**6)  # so rare that the summary leaves it to the sweep
    p[123_456] = 1.0
    for name in ("f1", "mcc", "jaccard", "balanced_accuracy"):
        decision = bestcut.decide(p, name)
        assert np.flatnonzero(decision.labels).tolist() == [123_456]
        assert decision.expected_score == pytest.approx(1.0, abs=1e-12)


def test_probabilities_too_small_to_matter_are_still_ranked():
    p = np.array([1e-300, 3e-200, 1e-250])
    assert bestcut.decide(p, "recall", max_positives=1).labels.tolist() == [
        False,
        True,
        False,
    ]


def test_deciding_does_not_compute_the_curve():
    decision = bestcut.decide(probabilities("skewed", 1000), "f1")
    assert "curve" not in vars(decision)
    assert decision.curve.expected_score.size == 1001
    assert "curve" in vars(decision)
