"""What is said of callables that cannot be followed, and what is refused."""

import warnings

import numpy as np
import pytest
from scipy.special import expit

import bestcut
from bestcut.metrics import FractionalLinear, LinearUtility, from_counts
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


@pytest.mark.parametrize("function", [by_scipy, by_float])
def test_what_is_only_promised_has_no_gap(function):
    p = np.random.default_rng(1).beta(1, 3, 450)
    decision = bestcut.decide(p, from_counts(function, smooth=True))
    assert decision.gap == np.inf


@pytest.mark.parametrize("function", [by_scipy, by_float, narrow])
def test_what_cannot_be_followed_is_looked_at_count_by_count(function):
    p = np.random.default_rng(1).beta(1, 3, 250)
    metric = from_counts(function)
    decision = bestcut.decide(p, metric)
    assert np.isfinite(decision.gap)
    assert_promise(decision, ExactCuts(np.sort(p)[::-1], range(251)), metric)


@pytest.mark.slow
def test_what_cannot_be_followed_among_many(balanced):
    metric = from_counts(narrow)
    decision = bestcut.decide(balanced, metric)
    assert np.isfinite(decision.gap)
    near = decision.n_positive + np.arange(-5, 6)
    cuts = ExactCuts(np.sort(balanced)[::-1], [0, 2500, *near, *range(0, 2500, 50)])
    assert_promise(decision, cuts, metric)


@pytest.mark.slow
def test_a_promise_that_is_kept(balanced):
    metric = from_counts(by_scipy, smooth=True)
    decision = bestcut.decide(balanced, metric)
    assert decision.gap == np.inf
    cuts = ExactCuts(np.sort(balanced)[::-1], [decision.n_positive])
    scores, rounding = cuts.scores(metric)
    off = abs(decision.expected_score - scores[0])
    assert off <= decision.error + rounding[0]


@pytest.mark.slow
def test_a_promise_that_is_broken():
    p = np.random.default_rng(0).beta(2, 2, 5000)
    metric = from_counts(narrow, smooth=True)
    with pytest.warns(UserWarning, match="not as smooth as promised"):
        decision = bestcut.decide(p, metric)
    assert np.isfinite(decision.gap)
    near = decision.n_positive + np.arange(-5, 6)
    cuts = ExactCuts(np.sort(p)[::-1], [0, 5000, *near, *range(0, 5000, 250)])
    assert_promise(decision, cuts, metric)


@pytest.mark.slow
def test_a_promise_that_is_broken_with_a_floor():
    p = np.random.default_rng(0).beta(2, 2, 5000)
    metric = from_counts(narrow, smooth=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decision = bestcut.decide(p, metric, at_least={"recall": 0.01})
    near = decision.n_positive + np.arange(-5, 6)
    assert_promise(decision, ExactCuts(np.sort(p)[::-1], near), metric)


@pytest.mark.slow
def test_the_curve_of_a_promise_that_is_broken():
    p = np.random.default_rng(0).beta(2, 2, 5000)
    metric = from_counts(narrow, smooth=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        curve = bestcut.decide(p, metric).curve
    cuts = ExactCuts(np.sort(p)[::-1], [2400, 2493, 2500, 2519, 2600])
    off = np.abs(curve.expected_score[cuts.cuts] - cuts.scores(metric)[0])
    assert off.max() <= curve.error


@pytest.mark.slow
def test_the_score_of_a_promise_that_is_broken():
    p = np.random.default_rng(0).beta(2, 2, 5000)
    eta = np.sort(p)[::-1]
    metric = from_counts(narrow, smooth=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bestcut.expected_score(p, p >= eta[2511], metric)
    exact = ExactCuts(eta, [2512]).scores(metric)[0][0]
    assert found == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LinearUtility(tp=1e308),
        lambda: LinearUtility(tp=1, tn=-1e200),
        lambda: FractionalLinear(c=(0, 1e308, 0, 0), d=(0, 0, 1, 1)),
        lambda: FractionalLinear(c=(0, 1, 0, 0), d=(0, 0, 1e308, 1e308)),
        lambda: from_counts(lambda tp, fp, fn, tn: 1e200 * tp),
        lambda: from_counts(lambda tp, fp, fn, tn: 1e200 * expit(tp), smooth=True),
    ],
)
@pytest.mark.parametrize("n", [3, 600])
def test_what_would_overflow_is_refused(make, n):
    p = np.random.default_rng(0).beta(1, 3, n)
    with pytest.raises(ValueError, match="overflow"):
        bestcut.decide(p, make())


@pytest.mark.parametrize(
    "metric",
    [
        LinearUtility(tp=1e150, fp=-1e150),
        FractionalLinear(c=(0, 1e140, 0, 0), d=(0, 0, 1e-140, 1e-140)),
        FractionalLinear(c=(0, 1e-200, 0, 0), d=(0, 0, 1e-200, 1e-200)),
        from_counts(lambda tp, fp, fn, tn: 1e149 * tp / (tp + fp + 1)),
        from_counts(lambda tp, fp, fn, tn: 1e-290 * tp / (tp + fp + 1)),
    ],
    ids=["large", "larger", "small", "large callable", "small callable"],
)
def test_what_barely_does_not_overflow(metric):
    p = np.random.default_rng(0).beta(1, 3, 700)
    decision = bestcut.decide(p, metric)
    assert np.isfinite(decision.expected_score)
    cuts = ExactCuts(np.sort(p)[::-1], [*range(0, 701, 20), decision.n_positive])
    assert_promise(decision, cuts, metric)
