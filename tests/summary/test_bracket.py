"""The cut of a summary is as good as the sweep's, and its bounds hold."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bestcut
from bestcut.streams import ScoreSummary
from groups import few_and_many, one_in, slow
from helpers import NAMES
from summary.known import KINDS, assert_as_good, streamed
from summary.ways import decided


@one_in(2, "kind, n", list(KINDS), [1, 2, 3, 17, 120])
def test_equals_the_sweep(kind, n):
    p = KINDS[kind](np.random.default_rng(n), n)
    for name in NAMES[list(KINDS).index(kind) % 5 :: 5]:  # with a fifth of all kinds
        assert_as_good(p, name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 17, 120, 350, 2000])
def test_equals_the_sweep_with_every_metric(kind, n):
    p = KINDS[kind](np.random.default_rng(n), n)
    for name in NAMES:
        assert_as_good(p, name)


@few_and_many(
    20,
    300,
    given(
        st.lists(
            st.one_of(
                st.floats(0, 1),
                st.sampled_from([0.0, 1.0, 0.5, 0.25, 5e-324, 1 - 2**-53, 2.0**-64]),
            ),
            max_size=40,
        ),
        st.sampled_from(NAMES),
        st.integers(0, 6),
        st.integers(0, 40),
    ),
)
def test_equals_the_sweep_on_anything(values, name, low, room):
    p = np.array(values, dtype=float)
    low = min(low, p.size)
    assert_as_good(p, name, min_positives=low, max_positives=min(low + room, p.size))


@one_in(2, "kind, name", ["spread", "rare", "mostly positive", "heavy ties"], NAMES)
def test_no_cut_is_above_the_upper_bound(kind, name):
    p = KINDS[kind](np.random.default_rng(7), 500)
    metric = bestcut.metrics.get(name)
    bracket = ScoreSummary.from_scores(p).bracket(metric)
    curve = bestcut.decide(p, metric).curve
    best = (
        curve.expected_score.max()
        if metric.greater_is_better
        else curve.expected_score.min()
    )
    assert bracket.lower_bound <= best + curve.error
    assert bracket.upper_bound >= best - curve.error


@pytest.mark.parametrize("name", NAMES)
def test_the_bounds_leave_little_open(name):
    p = KINDS["spread"](np.random.default_rng(7), 100_000)
    bracket = ScoreSummary.from_scores(p).bracket(name)
    assert bracket.upper_bound - bracket.lower_bound < 1e-4
    assert bracket.n_wanted < 1000


def test_bounds_of_the_number_of_positives():
    p = np.random.default_rng(0).beta(0.3, 3, 5000)
    free = bestcut.decide(p).n_positive
    for low, high in ((0, 10), (0, 0), (free + 100, 5000), (4999, 4999), (50, 60)):
        assert_as_good(p, "f1", min_positives=low, max_positives=high)


def test_any_split_and_order_gives_the_same_cut():
    rng = np.random.default_rng(3)
    p = rng.beta(0.3, 3, 20_000)
    _, whole = streamed(p, "f1")
    for seed in range(5):
        order = random.Random(seed)
        edges = np.sort(rng.integers(0, p.size, 7))
        summaries = [ScoreSummary.from_scores(x) for x in np.split(p, edges)]
        order.shuffle(summaries)
        while len(summaries) > 1:
            first = summaries.pop(order.randrange(len(summaries)))
            second = summaries.pop(order.randrange(len(summaries)))
            summaries.append(first.merge(second))
        merged = summaries[0]
        bracket = merged.bracket("f1")
        scores = bracket.select(p)
        order.shuffle(scores)
        cut = bracket.refine(scores)
        assert merged.n == p.size
        assert (cut.n_positive, cut.threshold) == (whole.n_positive, whole.threshold)
        assert cut.expected_score == pytest.approx(whole.expected_score, abs=1e-15)


def test_a_tie_across_chunks():
    p = np.array([0.9, 0.3, 0.3, 0.1, 0.3, 0.3, 0.05, 0.3] * 30)
    _, cut = streamed(p, "f1", chunks=7, max_positives=80)
    taken, there = cut.n_tied
    assert 0 < taken < there == np.sum(p == cut.threshold)
    labels, seen = [], 0
    for chunk in np.array_split(p, 7):
        labels.append(cut.predict(chunk, tied_before=seen))
        seen += int(np.sum(chunk == cut.threshold))
    assert np.array_equal(np.concatenate(labels), cut.predict(p))
    assert cut.predict(p).sum() == cut.n_positive
    tied = np.flatnonzero(p == cut.threshold)
    assert np.array_equal(cut.predict(p)[tied], np.arange(tied.size) < taken)


@pytest.mark.parametrize("name", ["mcc", *map(slow, ("f1", "jaccard", "gmean"))])
def test_multiplicities_stand_for_repeated_scores(name):
    values = np.array([0.9, 0.31, 0.3, 0.02])
    counts = np.array([3_000, 400_000, 90_000, 2_000_000])
    p = np.repeat(values, counts)
    summary = ScoreSummary.from_scores(p)
    bracket = summary.bracket(name)
    cut = bracket.refine(values, counts)
    swept = decided("sort", p, name)
    assert cut.expected_score == pytest.approx(
        swept.expected_score, abs=cut.error + swept.error
    )
    assert cut.predict(p).sum() == cut.n_positive


def test_custom_metrics():
    p = np.random.default_rng(1).beta(0.3, 3, 30_000)
    metrics = bestcut.metrics
    for metric in (
        metrics.from_rates(
            lambda tpr, tnr, p: np.sqrt(tpr * tnr), name="mine", smooth=True
        ),
        metrics.from_counts(
            lambda tp, fp, fn, tn: tp / np.sqrt((tp + fp + 1) * (tp + fn + 1)),
            name="mine",
            smooth=True,
        ),
        metrics.LinearUtility(tp=5, fp=-1),
    ):
        assert_as_good(p, metric)
        assert ScoreSummary.from_scores(p).bracket(metric).n_wanted < 3000


def test_what_cannot_be_followed_leaves_nothing_out():
    p = np.random.default_rng(1).beta(0.3, 3, 300)

    def stubborn(tp, fp, fn, tn):
        return np.interp(tp / (tp + fp + fn + 1.0), [0, 1], [0, 1])

    metric = bestcut.metrics.from_counts(stubborn, name="stubborn", smooth=True)
    assert ScoreSummary.from_scores(p).bracket(metric).upper_bound == np.inf
    assert_as_good(p, metric)


def test_a_metric_that_is_not_smooth():
    p = np.random.default_rng(1).beta(0.3, 3, 200)
    metric = bestcut.metrics.from_rates(
        lambda tpr, tnr, p: np.minimum(tpr, tnr), name="worst"
    )
    assert_as_good(p, metric)


def test_metrics_without_the_principle_are_refused():
    bad = bestcut.metrics.from_counts(lambda tp, fp, fn, tn: -tp * fp, name="bad")
    with pytest.raises(bestcut.SolverMismatchError, match="ranking principle"):
        ScoreSummary.from_scores([0.5]).bracket(bad)


def test_law_and_confusion_matrix_of_a_cut():
    p = np.random.default_rng(5).beta(0.3, 3, 30_000)
    _, cut = streamed(p, "f1", chunks=4)
    direct = bestcut.score_distribution(p, cut.predict(p), "f1")
    law = cut.distribution()
    assert law.mean == pytest.approx(direct.mean, abs=1e-13)
    assert law.std == pytest.approx(direct.std, rel=1e-9)
    assert law.interval(0.9) == pytest.approx(direct.interval(0.9), abs=1e-12)
    matrix = bestcut.expected_confusion(p, cut.predict(p)).matrix
    assert np.allclose(cut.confusion().matrix, matrix, rtol=1e-13)
    travelled = pickle.loads(pickle.dumps(cut))
    assert travelled.distribution().interval(0.9) == law.interval(0.9)


def test_an_empty_summary():
    bracket, cut = streamed(np.zeros(0), "f1")
    assert (cut.n, cut.n_positive, cut.threshold) == (0, 0, np.inf)
    assert bracket.lower_bound == bracket.upper_bound == cut.expected_score


def test_a_bound_on_negative_scores_is_not_rounded_downwards():
    bracket = bestcut.streams.ScoreSummary.from_scores([0.0, 0.0]).bracket(
        "informedness", min_positives=1
    )
    cut = bracket.refine(bracket.select([0.0, 0.0]))
    assert cut.expected_score <= bracket.upper_bound


def test_the_comparison_rejects_a_worse_cut(monkeypatch):
    p = KINDS["spread"](np.random.default_rng(3), 400)
    assert_as_good(p, "f1")

    def too_few(p, metric):
        return streamed(p, metric, max_positives=3)

    monkeypatch.setattr("summary.known.streamed", too_few)
    with pytest.raises(AssertionError):
        assert_as_good(p, "f1")
