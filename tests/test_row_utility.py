"""Amounts per row: the best rows are those of the largest gains, and no others."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bestcut
from bestcut import RowUtility
from bestcut.metrics import LinearUtility
from oracles import error_of
from oracles.totals import best_total, expected_total

CELLS = ("tp", "fp", "fn", "tn")
# Few different numbers, so that gains tie and vanish.
chances = st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
amounts = st.one_of(
    st.sampled_from([-4.0, -1.0, 0.0, 1.0, 4.0]), st.floats(-1e9, 1e9), st.just(1e-6)
)


@st.composite
def problems(draw, most=7):
    n = draw(st.integers(0, most))
    column = st.lists(amounts, min_size=n, max_size=n)
    p = draw(st.lists(st.one_of(chances, st.floats(0, 1)), min_size=n, max_size=n))
    worths = {cell: draw(st.one_of(amounts, column)) for cell in CELLS}
    low = draw(st.integers(0, n))
    high = draw(st.integers(low, n + 1))
    return p, worths, low, high


def spelled_out(worths, n):
    """Return an amount for each row, where one was given for all."""
    return [x if isinstance(x, list) else [x] * n for x in worths.values()]


@given(problems())
def test_no_prediction_is_better(problem):
    p, worths, low, high = problem
    exact = spelled_out(worths, len(p))
    found = bestcut.decide(
        p, RowUtility(**worths), min_positives=low, max_positives=high
    )
    assert low <= found.n_positive == np.count_nonzero(found.labels) <= high
    total = expected_total(p, found.labels.tolist(), exact)
    assert error_of(found.expected_score, total) <= found.error
    best = best_total(p, exact, low, high)
    assert best <= Fraction(found.expected_score) + Fraction(found.error)
    assert found.gap == 0.0
    assert found.gap_scope == "predictions"


def test_ten_rows_with_ties_and_budgets():
    rng = np.random.default_rng(0)
    for low, high in ((0, 10), (0, 3), (4, 6), (9, 10), (2, 2)):
        p = rng.choice([0.25, 0.5, 0.75], size=10).tolist()
        worths = [rng.choice([-2.0, 0.0, 1.0, 8.0], size=10).tolist() for _ in CELLS]
        utility = RowUtility(*worths)
        found = bestcut.decide(p, utility, min_positives=low, max_positives=high)
        assert found.expected_score == best_total(p, worths, low, high)


def test_of_a_tie_the_earliest_are_taken_and_nothing_that_gains_nothing():
    utility = RowUtility(tp=[2.0, 4.0, 2.0, 2.0, 0.0], fp=[-2.0, 0.0, 0.0, 0.0, 0.0])
    p = [0.5] * 5  # gains 0, 2, 1, 1, 0
    two = bestcut.decide(p, utility, max_positives=2)
    assert two.labels.tolist() == [False, True, True, False, False]
    free = bestcut.decide(p, utility)
    assert free.labels.tolist() == [False, True, True, True, False]
    four = bestcut.decide(p, utility, min_positives=4)
    assert four.labels.tolist() == [True, True, True, True, False]


def test_an_expensive_row_of_low_probability_is_taken_before_a_likely_cheap_one():
    found = bestcut.decide([0.9, 0.1], RowUtility(tp=[1.0, 1000.0]), max_positives=1)
    assert found.labels.tolist() == [False, True]
    assert found.threshold is None


@pytest.mark.parametrize("seed", range(3))
def test_the_error_holds_with_amounts_from_a_millionth_to_a_milliard(seed):
    rng = np.random.default_rng(seed)
    n = 1500
    p = rng.random(n)
    worths = [
        10.0 ** rng.uniform(-6, 9, n) * rng.choice([-1.0, 1.0], size=n) for _ in CELLS
    ]
    utility = RowUtility(*worths)
    found = bestcut.decide(p, utility, max_positives=n // 3)
    labels = found.labels.tolist()
    exact = expected_total(p.tolist(), labels, worths)
    assert error_of(found.expected_score, exact) <= found.error < 1e-3
    score = bestcut.score_distribution(p, labels, utility)
    assert score.mean == found.expected_score
    assert error_of(score.mean, exact) <= score.error <= found.error
    curve = found.curve
    assert error_of(curve.expected_score[n // 3], exact) <= curve.error


def test_amounts_that_are_equal_give_what_one_number_gives():
    p = np.random.default_rng(1).beta(0.5, 2, 400)
    rows = RowUtility(tp=np.full(400, 80.0), fp=-10.0, fn=np.full(400, -7.0), tn=0.5)
    found = bestcut.decide(p, rows)
    one = bestcut.decide(p, LinearUtility(tp=80.0, fp=-10.0, fn=-7.0, tn=0.5))
    assert found.labels.tolist() == one.labels.tolist()
    assert abs(found.expected_score - one.expected_score) <= found.error + one.error
    mine, theirs = found.distribution(), one.distribution()
    assert mine.std == pytest.approx(theirs.std, rel=1e-12)
    for q in (0.05, 0.5, 0.95):
        assert mine.ppf(q) == pytest.approx(theirs.ppf(q), abs=1e-6)
    assert mine.prob_at_least(theirs.mean) == pytest.approx(
        theirs.prob_at_least(theirs.mean), abs=1e-9
    )


def test_a_decision_tells_all_that_it_can():
    rng = np.random.default_rng(2)
    p, amount = rng.beta(0.5, 3, 60), rng.lognormal(3, 1, 60)
    utility = RowUtility(tp=amount, fp=-5.0, name="euro")
    found = bestcut.decide(p, utility)
    assert found.metric is utility
    assert (found.solver, found.goal_value) == ("gains", found.expected_score)
    curve = found.curve
    assert curve.threshold is None
    assert curve.n_positive.size == 61
    best = int(np.argmax(curve.expected_score))
    assert best == found.n_positive
    assert "ranked by expected gain" in repr(found)
    assert "expected gain" in found._repr_html_()
    # Metrics of counts are still about the same labels.
    f1 = bestcut.expected_score(p, found.labels, "f1")
    assert found.distribution("f1").mean == f1
    assert found.confusion().mean.tp == pytest.approx(p[found.labels].sum())
    # And so are other amounts.
    other = RowUtility(fn=-amount)
    assert found.distribution(other).mean == bestcut.expected_score(
        p, found.labels, other
    )
    score = found.distribution()
    low, high = score.interval(0.9)
    assert low < score.mean < high
    assert repr(score).startswith("euro ")
    assert score.surprise(low - 1.0).p_value < 0.1
    again = pickle.loads(pickle.dumps(found))
    assert again.distribution().interval(0.9) == (low, high)


def test_samples_have_the_distribution():
    rng = np.random.default_rng(3)
    p, amount = rng.random(40), rng.lognormal(0, 1, 40)
    score = bestcut.score_distribution(p, p > 0.3, RowUtility(tp=amount, fp=-1.0))
    drawn = score.sample(20_000, random_state=0)
    # Five standard errors of a mean of 20,000.
    assert abs(drawn.mean() - score.mean) < 5 * score.std / np.sqrt(20_000)
    assert np.mean(drawn >= score.ppf(0.9)) == pytest.approx(0.1, abs=0.011)


def test_draws_are_decided_by_their_means():
    rng = np.random.default_rng(4)
    draws, amount = rng.random((2, 30)), rng.lognormal(1, 1, 30)
    p = bestcut.UncertainProbabilities(draws)
    utility = RowUtility(tp=amount, fp=-2.0)
    found = bestcut.decide(p, utility)
    assert found.labels.tolist() == bestcut.decide(p.mean, utility).labels.tolist()
    worths = [amount.tolist(), [-2.0] * 30, [0.0] * 30, [0.0] * 30]
    labels = found.labels.tolist()
    exact = sum(expected_total(one.tolist(), labels, worths) for one in draws) / 2
    assert error_of(found.expected_score, exact) <= found.error
    score = found.distribution()
    assert error_of(score.mean, exact) <= score.error
    each = [bestcut.score_distribution(one, found.labels, utility) for one in draws]
    means = np.array([one.mean for one in each])
    assert score.std_calibration == pytest.approx(means.std(), rel=1e-12)
    assert score.std_labels == pytest.approx(
        np.sqrt(np.mean([one.std**2 for one in each])), rel=1e-12
    )
    at = score.mean + score.std
    mixture = np.mean([one.prob_at_least(at) for one in each])
    assert score.prob_at_least(at) == pytest.approx(mixture, abs=1e-4)
    assert score.quantile_error(0.1) > 0.0
    known = bestcut.score_distribution(p.mean, labels, utility)
    assert score.at_mean().interval() == known.interval()
    assert score.sample(100, random_state=0).shape == (100,)
    assert found.distribution("f1").mean == bestcut.expected_score(p, labels, "f1")


def test_an_expected_score_may_be_asked_for_among_others():
    utility = RowUtility(tp=[4.0, 8.0], fp=-1.0, name="euro")
    both = bestcut.expected_score([0.5, 0.25], [1, 1], ["precision", utility])
    assert both == {"precision": 0.375, "euro": 1.5 + 1.25}


def test_many_kinds_of_columns_are_taken_and_none_is_changed():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    amount = np.array([3.0, 200.0, 10.0], dtype=np.float32)
    wanted = bestcut.decide([0.5, 0.1, 0.2], RowUtility(tp=amount.tolist(), fp=-1.0))
    amount.flags.writeable = False
    for column in (amount, pd.Series(amount, index=[7, 8, 9]), pl.Series(amount)):
        for y_proba in (
            [0.5, 0.1, 0.2],
            pd.Series([0.5, 0.1, 0.2]),
            pl.Series([0.5, 0.1, 0.2]),
        ):
            found = bestcut.decide(y_proba, RowUtility(tp=column, fp=np.float32(-1)))
            assert list(found.labels) == wanted.labels.tolist()
            assert found.expected_score == wanted.expected_score


def test_what_is_changed_later_changes_no_answer():
    p, amount = np.array([0.5, 0.1]), np.array([3.0, 50.0])
    utility = RowUtility(tp=amount, fp=-1.0)
    labels = np.array([True, True])
    found, score = (
        bestcut.decide(p, utility),
        bestcut.score_distribution(p, labels, utility),
    )
    wanted = 0.5 * 3 - 0.5 + 0.1 * 50 - 0.9
    p[:], amount[:], labels[:] = 0.0, 0.0, False
    assert found.distribution().mean == pytest.approx(wanted)
    assert score.mean == pytest.approx(wanted)
    assert utility.tp.tolist() == [3.0, 50.0]
    with pytest.raises(ValueError, match="read-only"):
        utility.tp[0] = 1.0


def test_what_was_realised_is_a_sum():
    utility = RowUtility(tp=[900.0, 20.0, 35.0], fp=-5.0, fn=-1.0, tn=[0.5, 0.25, 0.0])
    assert utility.realised([0, 0, 1], [1, 0, 1]) == -5.0 + 0.25 + 35.0
    assert utility.realised([1, 1, 1], [False, False, True]) == 33.0
    with pytest.raises(ValueError, match="`tp` of a RowUtility must have the shape"):
        utility.realised([1, 0], [1, 0])
    with pytest.raises(ValueError, match="`y_true` must hold one label"):
        utility.realised(1, [1])


def test_rows_are_shown_as_their_number():
    utility = RowUtility(tp=np.ones((3, 4)), fp=-5.0)
    assert (
        repr(utility) == "RowUtility(tp=<amounts: 3 x 4>, fp=-5.0, name='row_utility')"
    )


# --- what is refused ---------------------------------------------------------------

PROBA = [0.5, 0.25, 0.125]
ROWS = RowUtility(tp=[1.0, 2.0, 3.0], fp=-1.0)


@pytest.mark.parametrize(
    ("worths", "error", "words"),
    [
        ({"tp": [1.0, np.nan]}, ValueError, r"`tp` must not hold NaN; got tp\[1\]"),
        ({"fn": [np.inf, 1.0]}, ValueError, r"`fn` must be finite; got fn\[0\]"),
        (
            {"tn": [1e160, 1.0]},
            ValueError,
            r"`tn` must hold numbers between -1e\+150",
        ),
        ({"fp": 1e160}, ValueError, "`fp` must lie between -1e"),
        ({"fp": np.nan}, ValueError, "`fp` must be finite"),
        ({"fp": "many"}, TypeError, "`fp` must"),
        ({"fp": ["1", "2"]}, TypeError, "`fp` must"),
        ({"fp": None}, TypeError, "`fp` must"),
        ({"fp": True}, TypeError, "`fp` must be a real number"),
        ({"tp": [[1.0], [2.0, 3.0]]}, ValueError, "`tp`"),
        (
            {"tp": [1.0], "fn": [1.0, 2.0]},
            ValueError,
            r"shapes `tp` \(1,\), `fn` \(2,\)",
        ),
        ({"name": 3}, TypeError, "`name` must be a string"),
    ],
)
def test_bad_amounts_are_refused(worths, error, words):
    with pytest.raises(error, match=words):
        RowUtility(**worths)


@pytest.mark.parametrize(
    "use",
    [
        lambda worth: bestcut.decide([0.5, 0.5], worth),
        lambda worth: bestcut.expected_score([0.5, 0.5], [1, 0], worth),
        lambda worth: bestcut.score_distribution([0.5, 0.5], [1, 0], worth),
        lambda worth: bestcut.decide_each([0.5, 0.5], worth, groups=[0, 1]),
        lambda worth: bestcut.decide_each([[0.5, 0.5]], worth),
        lambda worth: bestcut.decide(PROBA, ROWS).distribution(
            RowUtility(tp=[1.0, 2.0])
        ),
    ],
)
def test_amounts_of_other_rows_are_refused(use):
    with pytest.raises(ValueError, match="`tp` of a RowUtility must have the shape"):
        use(ROWS)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"goal": bestcut.goals.Quantile(0.1)}, "`goal`"),
        ({"goal": bestcut.goals.ProbAtLeast(3.0)}, "`goal`"),
        ({"at_least": {"precision": 0.9}}, "`at_least`"),
    ],
)
def test_goals_and_conditions_are_refused_with_the_reason(options, word):
    with pytest.raises(bestcut.SolverMismatchError, match=f"{word}.*expected gains"):
        bestcut.decide(PROBA, ROWS, **options)


def test_a_solver_is_refused():
    with pytest.raises(bestcut.SolverMismatchError, match=r"'cubic'.*Leave it out"):
        bestcut.decide(PROBA, ROWS, solver="cubic")


def test_one_number_for_all_rows_names_what_takes_one_for_each():
    for worth in ([1.0, 2.0], np.ones(3), (1.0,), [[1.0], [2.0, 3.0]]):
        with pytest.raises(TypeError, match=r"`fp` must be one.*bestcut\.RowUtility"):
            LinearUtility(fp=worth)


def of_estimator():
    pytest.importorskip("sklearn")
    from sklearn.dummy import DummyClassifier

    from bestcut.estimators import ExpectedMetricClassifier

    X, y = np.zeros((20, 1)), np.arange(20) % 2
    ExpectedMetricClassifier(DummyClassifier(), metric=ROWS).fit(X, y)


def of_plugin():
    pytest.importorskip("sklearn")
    from sklearn.dummy import DummyClassifier

    from bestcut.estimators import PluginThresholdClassifier

    X, y = np.zeros((20, 1)), np.arange(20) % 2
    PluginThresholdClassifier(DummyClassifier(), metric=ROWS).fit(X, y)


def of_scorer():
    pytest.importorskip("sklearn")
    bestcut.scorers.make_expected_scorer(ROWS)


def of_report():
    bestcut.report.make_report(PROBA, ROWS)


def of_samples():
    bestcut.decide_samples(np.ones((4, 3)), ROWS)


def of_summary():
    summary = bestcut.streams.ScoreSummary()
    summary.update(PROBA)
    summary.bracket(ROWS)


def of_curve_display():
    pytest.importorskip("matplotlib")
    bestcut.displays.ExpectedScoreDisplay.from_predictions(PROBA, ROWS)


@pytest.mark.parametrize(
    "use",
    [
        of_estimator,
        of_plugin,
        of_scorer,
        of_report,
        of_samples,
        of_summary,
        of_curve_display,
        lambda: bestcut.check_metric(ROWS),
        lambda: bestcut.decide(PROBA, "f1", at_least={ROWS: 1.0}),
        lambda: bestcut.empirical_threshold([0, 1, 1], PROBA, ROWS),
        lambda: bestcut.decide_file("in.csv", "out.csv", y_proba="p", metric=ROWS),
        lambda: bestcut.multilabel.decide([PROBA], ROWS),
        lambda: bestcut.multilabel.expected_score([PROBA], [[1, 0, 1]], ROWS),
        lambda: bestcut.multiclass.decide([[0.5, 0.5]], ROWS),
        lambda: bestcut.multiclass.expected_score([[0.5, 0.5]], [0], ROWS),
        lambda: bestcut.guarantee([0, 1, 1], PROBA, PROBA, at_least={ROWS: 0.5}),
    ],
)
def test_elsewhere_amounts_are_refused_with_the_reason(use):
    with pytest.raises(TypeError, match=r"RowUtility.*which rows are counted"):
        use()


def test_a_prediction_that_is_kept_as_counts_says_so():
    with pytest.raises(ValueError, match=r"bestcut\.score_distribution"):
        bestcut.decide(PROBA, "f1").distribution(ROWS)


def test_a_class_is_no_utility():
    with pytest.raises(TypeError, match=r"pass RowUtility\(\)"):
        bestcut.decide(PROBA, RowUtility)


def test_displays_show_what_there_is():
    pytest.importorskip("matplotlib")
    from bestcut.displays import (
        DecisionDisplay,
        ExpectedScoreDisplay,
        ScoreDistributionDisplay,
    )

    found = bestcut.decide(PROBA, ROWS)
    curve = ExpectedScoreDisplay.from_decision(found, band=0.9)
    assert curve.lines_[0].get_ydata().tolist() == found.curve.expected_score.tolist()
    ScoreDistributionDisplay.from_distribution(found.distribution())
    with pytest.raises(ValueError, match="must be a cut of the probabilities"):
        DecisionDisplay.from_decision(found)
