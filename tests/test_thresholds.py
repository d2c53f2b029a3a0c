"""One rule for thresholds: halfway to the next smaller score of the batch."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import bestcut
from bestcut import multilabel
from bestcut._thresholds import halfway, threshold_of
from helpers import assert_threshold
from summary.ways import decided

WIDE = st.floats(-1e300, 1e300)
NARROW = st.floats(-(2.0**100), 2.0**100, width=32)
P = np.random.default_rng(0).beta(0.5, 2, 300)


@given(st.one_of(WIDE, st.just(-np.inf)), WIDE)
@example(-5e-324, -5e-324)
def test_the_number_halfway_tells_the_two_apart(a, b):
    below, least = sorted((a, b))
    found = float(halfway(below, least))
    assert found <= least
    assert below < found or below == least


@given(NARROW, NARROW)
def test_so_it_does_for_an_engine_with_single_precision(a, b):
    below, least = map(np.float32, sorted((a, b)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = np.float32(halfway(below, least))
    assert found <= least
    assert below < found or below == least


@pytest.mark.parametrize("exponent", [-20, -1, 0])
def test_neighbours_are_told_apart(exponent):
    for kind in (np.float32, np.float64):
        low = kind(2.0**exponent * 0.7)
        high = np.nextafter(low, kind(1))
        assert low < kind(halfway(low, high)) <= high


def test_it_is_the_number_halfway():
    assert halfway([0.25, -np.inf, 0.5], [0.75, 0.5, 0.5]).tolist() == [0.5, 0.5, 0.5]
    assert halfway(0.5, np.inf) == np.inf
    assert halfway(-np.inf, np.inf) == np.inf


def test_the_rule_for_some_scores():
    scores = np.array([0.75, 0.25, 0.5, 0.5, 0.5])
    assert threshold_of(scores, 0, np.inf) == (np.inf, (0, 0))
    assert threshold_of(scores, 1, 0.75) == (0.625, (0, 0))
    assert threshold_of(scores, 2, 0.5) == (0.5, (1, 3))
    assert threshold_of(scores, 4, 0.5) == (0.375, (0, 0))
    assert threshold_of(scores, 5, 0.25) == (0.25, (0, 0))


def from_file(p, folder, **asked):
    source = folder / "in.csv"
    text = "p\n" + "".join(f"{x!r}\n" for x in p.tolist())
    source.write_text(text, encoding="utf-8")
    return bestcut.decide_file(source, folder / "out.csv", y_proba="p", **asked)


def from_stream(p, **asked):
    summary = bestcut.streams.ScoreSummary.from_scores(p)
    bracket = summary.bracket("f1", **asked)
    return bracket.refine(bracket.select(p))


def from_many(p, **asked):
    many = bestcut.decide_each([p, p], **asked)
    assert len(set(many.threshold)) == 1
    return _first(many)


def from_groups(p, **asked):
    """Decide with a group of another size beside it, and with entries left out."""
    group = np.repeat(["a", "b"], [p.size, 2])
    return _first(bestcut.decide_each([*p, 0.5, 0.5], groups=group, **asked))


def from_labels(p, **asked):
    found = multilabel.decide([p, p], **asked)
    return _One(found.n_positive // 2, found.threshold[0], tuple(found.n_tied[0]))


def from_draws(p, **asked):
    return bestcut.decide(bestcut.UncertainProbabilities([p]), **asked)


class _One:
    def __init__(self, n_positive, threshold, n_tied):
        self.n_positive, self.threshold, self.n_tied = n_positive, threshold, n_tied


def _first(many):
    first = many.n_positive[0], many.threshold[0], tuple(many.n_tied[0])
    return _One(*first)


WAYS = {
    "decide": bestcut.decide,
    "summary": lambda p, **asked: decided("summary", p, **asked),
    "draws": from_draws,
    "decide_each": from_many,
    "groups": from_groups,
    "multilabel": from_labels,
    "streams": from_stream,
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@ways
@pytest.mark.parametrize("most", [0, 1, 40, 299, 300])
def test_a_decision_takes_the_number_halfway(way, most):
    found = way(P, min_positives=most, max_positives=most)
    assert_threshold(P, found)
    assert np.sum(found.threshold <= P) == most


@ways
@pytest.mark.parametrize("most", [2, 3, 4, 6])
def test_where_a_tie_is_split_it_is_the_tied_value(way, most):
    p = np.array([0.5, 0.75, 0.25, 0.5, 0.5, 0.25])
    assert_threshold(p, way(p, min_positives=most, max_positives=most))


@ways
def test_zeros_and_ones_are_scores_like_others(way):
    p = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
    for k in range(6):
        assert_threshold(p, way(p, min_positives=k, max_positives=k))


@ways
def test_single_precision_keeps_its_cut(way):
    """As in a database with a column of reals, which compares in single precision."""
    p = np.array([0.3, 0.3, 0.7], dtype=np.float32)
    p[1] = np.nextafter(p[1], np.float32(1))
    found = way(p.astype(float), min_positives=2, max_positives=2)
    assert np.sum(p >= np.float32(found.threshold)) == 2


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0, 1 / 3]), max_size=12),
    st.integers(0, 12),
)
@settings(max_examples=40, deadline=None)
def test_the_rule_holds_on_ties_of_all_kinds(values, k):
    p = np.array(values, dtype=float)
    k = min(k, p.size)
    for way in (bestcut.decide, from_draws, from_stream):
        assert_threshold(p, way(p, min_positives=k, max_positives=k))


@pytest.mark.parametrize("asked", [{}, {"at_least": {"precision": 0.4}}], ids=str)
def test_files_follow_the_rule(tmp_path, asked):
    found = from_file(P, tmp_path, **asked)
    assert_threshold(P, found)
    assert found.threshold == bestcut.decide(P, **asked).threshold
    p = np.array([0.4, 0.4, 0.4, 0.1])
    asked = asked | {"min_positives": 2, "max_positives": 2}
    tied = from_file(p, tmp_path, metric="precision", **asked)
    assert (tied.threshold, tied.n_tied) == (0.4, (2, 3))


def test_scores_behind_calibrated_probabilities_follow_the_rule(tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300)
    calibration = bestcut.calibrate(rng.random(300) < P, scores, n_draws=20)
    found = from_file(scores, tmp_path, calibration=calibration, max_positives=40)
    ranked = np.sort(scores)[::-1]
    assert found.n_positive == 40
    assert found.score_threshold == ranked[39] / 2 + ranked[40] / 2


def test_the_means_of_draws_follow_the_rule():
    rng = np.random.default_rng(0)
    p = bestcut.UncertainProbabilities(rng.random((30, 100)))
    found = bestcut.decide(p, max_positives=20)
    np.testing.assert_array_equal(p.mean >= found.threshold, found.labels)
    assert found.threshold not in p.mean


def test_unheld_entries_of_a_sparse_matrix_are_scores_of_zero():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_array(np.array([[0.5, 0.25, 0.0, 0.0]]))
    found = _first(bestcut.decide_each(matrix, min_positives=2, max_positives=2))
    assert (found.threshold, found.n_tied) == (0.125, (0, 0))
    matrix.data[1] = 0.0  # which is held, like the others that are not
    found = _first(bestcut.decide_each(matrix, min_positives=2, max_positives=2))
    assert (found.threshold, found.n_tied) == (0.0, (1, 3))


def test_every_cut_of_a_curve_follows_the_rule():
    p = np.array([0.5, 0.75, 0.25, 0.5])
    curve = bestcut.decide(p).curve
    assert curve.threshold.tolist() == [np.inf, 0.625, 0.5, 0.375, 0.25]
    drawn = from_draws(p).curve
    assert drawn.threshold.tolist() == curve.threshold.tolist()
    decision = bestcut.decide(P)
    at = decision.n_positive
    assert decision.curve.threshold[at] == decision.threshold


def test_a_guarantee_follows_the_rule():
    rng = np.random.default_rng(0)
    scores = rng.random(1300)
    y = rng.random(1300) < scores**0.5
    new = scores[1000:]
    found = bestcut.guarantee(y[:1000], scores[:1000], new, {"precision": 0.7})
    ranked = np.sort(new)[::-1]
    k = found.n_positive
    assert 0 < k < 300
    assert found.threshold == ranked[k - 1] / 2 + ranked[k] / 2
    np.testing.assert_array_equal(new >= found.threshold, found.labels)


def test_a_split_tie_is_told():
    # Numbers that are exact: two of the tied are as good as all three, and fewer.
    told = repr(bestcut.decide([0.5, 0.5, 0.5, 0.125], "precision", min_positives=2))
    words = "threshold 0.5 (of 3 there 2 positive: no threshold repeats the labels)"
    assert words in told
    assert "no threshold" not in repr(bestcut.decide(P))
