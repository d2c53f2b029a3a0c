"""What is proved, and what is not, of callables that cannot be followed."""

import warnings

import numpy as np
import pytest
from scipy.special import expit

import bestcut
from bestcut.counts import _proof
from bestcut.metrics import from_counts
from bestcut.search import _best
from groups import slow
from helpers import descending
from search.known import ExactCuts, assert_promise


def by_scipy(tp, fp, fn, tn):
    return expit(2 * tp / (2 * tp + fp + fn + 1))


def by_float(tp, fp, fn, tn):
    pairs = zip(np.ravel(tp), np.ravel(fp + fn), strict=True)
    return np.reshape(
        [float(a) / (float(a) + float(b) + 1) for a, b in pairs], tp.shape
    )


def narrow(tp, fp, fn, tn):
    """Break a promise of smoothness: a bump of a count, by SciPy."""
    return expit(tp / (tp + fn + 1.0)) + 20 / (1 + (fn - fp) ** 2)


@pytest.fixture(scope="module")
def balanced():
    return np.random.default_rng(0).beta(2, 2, 2500)


UNPROVED = "rests on the promise smooth=True of metric 'custom', and `gap` is infinite"


def in_each_way(p):
    """Yield the arguments that lead to a decision by each way through `decide`."""
    yield p, {}
    yield p, {"at_least": {"precision": 0.1}}
    yield bestcut.UncertainProbabilities([p**0.9, p]), {}


@pytest.mark.parametrize("function", [by_scipy, by_float])
def test_a_promise_never_costs_the_certificate_where_all_counts_are_few(function):
    p = np.random.default_rng(1).beta(1, 3, 120)
    promised = from_counts(function, smooth=True)
    for given, options in in_each_way(p):
        found = bestcut.decide(given, promised, **options)
        exact = bestcut.decide(given, from_counts(function), **options)
        assert found.n_positive == exact.n_positive
        assert found.gap == exact.gap < 1e-6
        assert found.metric == promised


def test_what_is_only_promised_has_no_gap_and_says_so(monkeypatch):
    monkeypatch.setattr(_proof, "_AFFORDABLE", 0.0)
    p = np.random.default_rng(1).beta(1, 3, 300)
    for given, options in in_each_way(p):
        with pytest.warns(UserWarning, match=UNPROVED) as told:
            decision = bestcut.decide(
                given, from_counts(by_scipy, smooth=True), **options
            )
        assert decision.gap == np.inf
        assert [one.filename for one in told] == [__file__]


def test_no_other_decision_leaves_without_a_proof(monkeypatch):
    """What the searches return is finite; if it ever is not, nobody gets it."""
    monkeypatch.setattr(_best, "gap_to", lambda *_: np.inf)
    drawn = bestcut.UncertainProbabilities([[0.9, 0.2], [0.8, 0.3]])
    with pytest.raises(ArithmeticError, match=r"no bound .* 'f1' \(gap inf\)"):
        bestcut.decide(drawn, "f1")


@pytest.mark.parametrize("function", [by_scipy, narrow, slow(by_float)])
def test_what_cannot_be_followed_is_looked_at_count_by_count(function):
    p = np.random.default_rng(1).beta(1, 3, 250)
    metric = from_counts(function)
    decision = bestcut.decide(p, metric)
    assert np.isfinite(decision.gap)
    assert_promise(decision, ExactCuts(descending(p), range(251)), metric)


@pytest.mark.slow
def test_what_cannot_be_followed_among_many(balanced):
    metric = from_counts(narrow)
    decision = bestcut.decide(balanced, metric)
    assert np.isfinite(decision.gap)
    near = decision.n_positive + np.arange(-5, 6)
    cuts = ExactCuts(descending(balanced), [0, 2500, *near, *range(0, 2500, 50)])
    assert_promise(decision, cuts, metric)


@pytest.mark.slow
def test_a_promise_that_is_kept(balanced):
    metric = from_counts(by_scipy, smooth=True)
    with pytest.warns(UserWarning, match=UNPROVED):
        decision = bestcut.decide(balanced, metric)
    assert decision.gap == np.inf
    cuts = ExactCuts(descending(balanced), [decision.n_positive])
    scores, rounding = cuts.scores(metric)
    off = abs(decision.expected_score - scores[0])
    assert off <= decision.error + rounding[0]


@pytest.mark.slow
def test_a_promise_that_is_broken():
    p = np.random.default_rng(0).beta(2, 2, 5000)
    metric = from_counts(narrow, smooth=True)
    with pytest.warns(UserWarning, match="not as smooth as promised") as told:
        decision = bestcut.decide(p, metric)
    assert [one.filename for one in told] == [__file__]
    assert np.isfinite(decision.gap)
    near = decision.n_positive + np.arange(-5, 6)
    cuts = ExactCuts(descending(p), [0, 5000, *near, *range(0, 5000, 250)])
    assert_promise(decision, cuts, metric)


@pytest.mark.slow
def test_a_promise_that_is_broken_with_a_floor():
    p = np.random.default_rng(0).beta(2, 2, 5000)
    metric = from_counts(narrow, smooth=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decision = bestcut.decide(p, metric, at_least={"recall": 0.01})
    near = decision.n_positive + np.arange(-5, 6)
    assert_promise(decision, ExactCuts(descending(p), near), metric)


@pytest.mark.slow
def test_the_curve_of_a_promise_that_is_broken():
    p = np.random.default_rng(0).beta(2, 2, 5000)
    metric = from_counts(narrow, smooth=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        curve = bestcut.decide(p, metric).curve
    cuts = ExactCuts(descending(p), [2400, 2493, 2500, 2519, 2600])
    off = np.abs(curve.expected_score[cuts.cuts] - cuts.scores(metric)[0])
    assert off.max() <= curve.error


@pytest.mark.slow
def test_the_score_of_a_promise_that_is_broken():
    p = np.random.default_rng(0).beta(2, 2, 5000)
    eta = descending(p)
    metric = from_counts(narrow, smooth=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bestcut.expected_score(p, p >= eta[2511], metric)
    exact = ExactCuts(eta, [2512]).scores(metric)[0][0]
    assert found == pytest.approx(exact, rel=1e-6)
