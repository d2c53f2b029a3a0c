"""The sweep solver against the definition, and its claims about itself."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestcut
from bestcut.counts import poisson_binomial_window
from bestcut.curve import curve_between, curve_of
from bestcut.metrics import FractionalLinear, LinearUtility, Trait, from_counts
from bestcut.metrics._discs import is_followed
from bestcut.search import best_cut
from bestcut.solvers import SOLVERS
from oracles.extended import expected_curve

SWEEP = SOLVERS["sweep"]
NAMES = bestcut.metrics.names(aliases=False)
BETA = {
    "rare": (0.5, 20),
    "skewed": (0.3, 3),
    "confident": (0.05, 1),
    "u-shaped": (0.5, 0.5),
    "uniform": (1, 1),
    "high": (5, 1),
    "middling": (30, 30),
}
LAWS = [*BETA, "constant", "two-point", "tied", "certain", "all zero", "all one"]
CUSTOM = from_counts(
    lambda tp, fp, fn, tn: tp / (tp + 0.3 * fp + 0.7 * fn),
    "tversky",
    zero_division=0.0,
    smooth=True,
)


def probabilities(law, n, seed=0):
    """n probabilities, descending; the Beta laws with a sure 0 and a sure 1 in them."""
    rng = np.random.default_rng([seed, n])
    if law in BETA:
        eta = rng.beta(*BETA[law], size=n)
        eta[:1], eta[1:2] = 0.0, 1.0
    else:
        eta = {
            "constant": np.full(n, 0.3),
            "two-point": rng.choice([0.02, 0.9], size=n),
            "tied": np.round(rng.random(n), 1),
            "certain": rng.choice([0.0, 1.0], size=n),
            "all zero": np.zeros(n),
            "all one": np.ones(n),
        }[law]
    return np.ascontiguousarray(np.sort(eta)[::-1])


def assert_curve_is_right(eta, metric, largest_error=1e-12):
    truth = expected_curve(eta, metric)
    curve = SWEEP.curve(eta, metric)
    scale = max(1.0, np.max(np.abs(truth)))
    gap = np.max(np.abs(curve.expected_score - truth))
    assert gap <= 1e-13 * scale
    assert gap <= curve.error
    assert curve.error <= largest_error * scale
    solution = SWEEP.solve(eta, metric, 0, eta.size)
    own = truth[solution.n_positive]
    best = truth.max() if metric.greater_is_better else truth.min()
    assert abs(solution.expected_score - own) <= solution.error
    assert abs(best - own) <= 2 * solution.error


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [1, 2, 7, 150])
def test_the_whole_curve_is_right_for_every_metric(law, n):
    eta = probabilities(law, n)
    for name in NAMES:
        assert_curve_is_right(eta, bestcut.metrics.get(name))
    assert_curve_is_right(eta, CUSTOM)
    assert_curve_is_right(eta, LinearUtility(tp=100, fp=-7, fn=-30, tn=0.5))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("beta", [1e-3, 1e3])
def test_extreme_weights_do_not_magnify_rounding(seed, beta):
    # Where nothing is positive F-beta divides by n_pred alone: what rounding leaves of
    # "a positive, and none in all" would count a million times.
    rng = np.random.default_rng(seed)
    likely, unlikely = rng.uniform(0.5, 0.95, 20), rng.choice([0, 1e-3, 0.01], 225)
    eta = np.ascontiguousarray(np.sort(np.concatenate([likely, unlikely]))[::-1])
    assert_curve_is_right(eta, bestcut.metrics.FBeta(beta))


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", NAMES)
def test_the_whole_curve_is_right_at_700(law, name):
    # Terms that cancel and long distributions: what is stated is a worst case.
    eta = probabilities(law, 700)
    assert_curve_is_right(eta, bestcut.metrics.get(name), largest_error=2e-12)


@pytest.mark.parametrize("name", ["f1", "mcc", "jaccard", "gmean", "qmean_sqrt"])
def test_the_whole_curve_is_right_where_cumulants_take_over(name):
    # A variance of 150 in all: exact laws on one side, Gauss and Hermite on the other.
    assert_curve_is_right(probabilities("uniform", 900), bestcut.metrics.get(name))


REFERENCE = 1e-13  # what laws built one by one may round, of metrics of at most 1


def exact_at(eta, k, metric):
    """E[metric] of one cut from two laws built instance by instance."""
    above = poisson_binomial_window(eta[:k], tail=1e-19)
    below = poisson_binomial_window(eta[k:], tail=1e-19)
    a = above.counts[:, None]
    score = metric.score(a, float(k), a + below.counts, float(eta.size))
    return above.pmf @ np.broadcast_to(score, (a.size, below.pmf.size)) @ below.pmf


def assert_values_at(eta, names, cuts):
    curves = {name: curve_of(eta, bestcut.metrics.get(name)) for name in names}
    for k in cuts:
        for name, curve in curves.items():
            metric = bestcut.metrics.get(name)
            truth = exact_at(eta, k, metric)
            j = min(
                int(np.searchsorted(curve.edges, k, side="right")) - 1,
                curve.edges.size - 2,
            )
            values, errors = curve.block(j)
            here = k - curve.edges[j]
            error = np.broadcast_to(errors, values.shape)[here]
            assert values[here] == pytest.approx(truth, abs=1e-12)
            assert abs(values[here] - truth) <= error + REFERENCE


SEVERAL = ["f1", "mcc", "balanced_accuracy", "jaccard", "gmean", "hmean", "qmean_sqrt"]


@pytest.mark.parametrize("law", ["skewed", "rare", "u-shaped"])
def test_single_values_at_20000_match_laws_built_one_by_one(law):
    eta = probabilities(law, 20_000)
    assert_values_at(eta, SEVERAL, [3, 900, 12_000, 19_990])


@pytest.mark.slow
@pytest.mark.parametrize("n", [10**5, 10**6])
def test_single_values_match_laws_built_one_by_one(n):
    eta = probabilities("skewed", n)
    best = bestcut.decide(eta, "f1").n_positive
    assert_values_at(eta, SEVERAL, [best, n // 2])


@pytest.mark.parametrize("law", [*BETA, "two-point", "tied"])
@pytest.mark.parametrize("n", [3000, 40_000])
def test_the_search_leaves_out_no_block_that_holds_the_best_cut(law, n):
    eta = probabilities(law, n)
    for name in NAMES:
        metric = bestcut.metrics.get(name)
        if (
            n > 3000
            and Trait.AFFINE not in metric.traits
            and name not in ("jaccard", "gmean")
        ):
            continue
        values, errors = curve_of(eta, metric).whole()
        utility = values if metric.greater_is_better else -values
        for low, high in ((0, n), (n // 7, n // 3), (n // 2, n), (5, 5)):
            best = best_cut(eta, metric, low, high)
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


def test_the_search_leaves_most_cuts_out(monkeypatch):
    # Otherwise it would be a slow way to compute the curve.
    eta = probabilities("skewed", 10**6)
    looked_at = []

    def noted(run, *arguments):
        looked_at.append(run.size)
        return curve_between(run, *arguments)

    def never(*_):
        pytest.fail("every cut was looked at")

    monkeypatch.setattr("bestcut.search._runs.curve_between", noted)
    monkeypatch.setattr("bestcut.search._runs.whole_curve_best", never)
    best_cut(eta, bestcut.metrics.get("gmean"), 0, eta.size)
    assert looked_at
    assert sum(looked_at) < eta.size / 4


@settings(max_examples=1500, deadline=None)
@given(
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
)
def test_no_cut_beats_the_chosen_one_by_more_than_twice_the_error(p, name):
    eta = np.ascontiguousarray(np.sort(p)[::-1])
    metric = bestcut.metrics.get(name)
    truth = SOLVERS["cubic"].curve(eta, metric)
    solution = SWEEP.solve(eta, metric, 0, eta.size)
    sign = 1 if metric.greater_is_better else -1
    own = sign * truth.expected_score[solution.n_positive]
    slack = 2 * solution.error + 2 * truth.error
    assert (sign * truth.expected_score).max() - own <= slack
    assert abs(solution.expected_score - sign * own) <= solution.error + truth.error


STEP = from_counts(
    lambda tp, fp, fn, tn: 1.0 * (tp >= 0.6 * (tp + fn)) - 0.1 * fp / (fp + tn + 1),
    "at least 60 % found",
)


@pytest.mark.parametrize("law", LAWS)
def test_a_step_shaped_metric_comes_out_right(law):
    for n in (1, 30, 150):
        assert_curve_is_right(probabilities(law, n), STEP)


def test_a_step_shaped_metric_comes_out_right_where_its_laws_are_wide():
    assert_curve_is_right(probabilities("uniform", 800), STEP)


def test_no_step_is_missed_between_the_edges_of_blocks():
    # Worth something only for a narrow range of sizes, nothing at any edge.
    narrow = from_counts(
        lambda tp, fp, fn, tn: 1.0 * (np.abs(tp + fp - 701) < 2), "about 701"
    )
    decision = bestcut.decide(probabilities("skewed", 2000), narrow)
    assert 700 <= decision.n_positive <= 702
    assert decision.expected_score == pytest.approx(1.0)


@pytest.mark.parametrize("n", [40, 900])
def test_a_denominator_that_changes_sign_is_not_taken_for_smooth(n):
    metric = FractionalLinear(c=(1, 0, 1, 0), d=(-1, 0, 2, 0))  # a pole at k = n / 2
    assert Trait.ONE_SIGN not in metric.traits
    assert_curve_is_right(probabilities("uniform", n), metric)


def tversky_that_cannot_be_followed(tp, fp, fn, tn):
    return tp / np.hypot(tp + 0.3 * fp + 0.7 * fn, 0.0)


@pytest.mark.parametrize("followed", [True, False])
def test_smooth_is_a_promise_that_buys_speed_not_another_answer(followed):
    eta = probabilities("uniform", 1200)
    function = CUSTOM.function if followed else tversky_that_cannot_be_followed
    promised, exact = (
        from_counts(function, "tversky", zero_division=0.0, smooth=smooth)
        for smooth in (True, False)
    )
    assert is_followed(promised) is followed
    fast, slow = (bestcut.decide(eta, metric) for metric in (promised, exact))
    assert fast.n_positive == slow.n_positive
    assert fast.expected_score == pytest.approx(slow.expected_score, abs=1e-13)
    assert slow.gap <= 1e-13
    # Nothing that rests on a promise is proved; what can be followed needs none.
    assert fast.gap == (slow.gap if followed else np.inf)


@pytest.mark.parametrize("name", NAMES)
def test_degenerate_inputs_of_any_size(name):
    metric = bestcut.metrics.get(name)
    for n in (3, 400, 10**5):
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
    p = np.zeros(10**6)
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
