"""decide() returns a threshold set, takes what people have, and knows itself."""

import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array

import bestcut
from bestcut.metrics import FBeta, from_counts
from helpers import assert_threshold
from oracles.outcomes import score_law
from scores.known import assert_law

probability = st.floats(0, 1, allow_subnormal=True)


@settings(max_examples=200, deadline=None)
@given(
    p=st.lists(probability, max_size=25),
    name=st.sampled_from(bestcut.metrics.names()),
)
def test_a_decision_is_a_threshold_set_with_early_ties_first(p, name):
    decision = bestcut.decide(p, name)
    p = np.array(p)
    labels = decision.labels
    assert labels.dtype == bool
    assert decision.n_positive == labels.sum()
    if not labels.any():
        assert decision.threshold == np.inf
        return
    assert_threshold(p, decision)
    assert np.array_equal(labels | (p == decision.threshold), p >= decision.threshold)
    tied = labels[p == decision.threshold]
    assert np.array_equal(tied, np.sort(tied)[::-1])


def test_the_curve_holds_every_cut_and_its_maximum_is_the_decision():
    p = np.random.default_rng(1).beta(0.3, 3, size=60)
    for name in bestcut.metrics.names():
        decision = bestcut.decide(p, name)
        curve = decision.curve
        assert np.array_equal(curve.n_positive, np.arange(61))
        scores = curve.expected_score
        best = scores.max() if decision.metric.greater_is_better else scores.min()
        slack = curve.error + decision.error
        assert decision.expected_score == pytest.approx(best, abs=slack)
        assert curve.threshold[0] == np.inf
        makes = np.count_nonzero(p >= curve.threshold[:, None], axis=1)
        assert np.array_equal(makes, curve.n_positive)
        assert decision.curve is curve


def test_bounds_on_the_number_of_positives_are_kept():
    p = np.full(10, 0.5)
    assert bestcut.decide(p, "recall", max_positives=3).n_positive == 3
    assert bestcut.decide(p, "precision", min_positives=7).n_positive >= 7
    assert bestcut.decide(0.9 * p, "accuracy", min_positives=7).n_positive == 7
    assert bestcut.decide(p, "f1", max_positives=0).threshold == np.inf
    assert bestcut.decide(p, "f1", max_positives=99).n_positive == 10
    assert bestcut.decide(p, "f1", min_positives=4, max_positives=4).n_positive == 4
    first = bestcut.decide(p, "recall", max_positives=3).labels
    assert first.tolist() == [True] * 3 + [False] * 7


def test_the_empty_prediction_is_chosen_when_it_is_best():
    decision = bestcut.decide([0.3, 0.2, 0.1], "accuracy")
    assert decision.n_positive == 0
    assert decision.threshold == np.inf
    assert decision.expected_score == pytest.approx(0.8)


@pytest.mark.parametrize("name", bestcut.metrics.names())
def test_an_empty_input_gives_an_empty_decision(name):
    for empty in ([], np.array([]), pd.Series([], dtype=float), pl.Series([])):
        decision = bestcut.decide(empty, name)
        assert decision.labels.shape == (0,)
        assert decision.n_positive == 0
        assert decision.curve.expected_score.shape == (1,)


def test_an_empty_input_is_fine_for_a_callable_that_divides_by_zero():
    metric = from_counts(lambda tp, fp, fn, tn: tp / (tp + fp + fn + tn), "share")
    assert np.isnan(bestcut.decide([], metric).expected_score)


@pytest.mark.parametrize("name", ["f1", "gmean", "squared_count_error"])
def test_certain_labels_are_predicted_as_they_are(name):
    p = [0.0, 1.0, 1.0, 0.0, 0.0]
    decision = bestcut.decide(p, name)
    assert decision.labels.tolist() == [False, True, True, False, False]


def containers():
    values = [0.25, 0.5, 0.125, 0.75]
    frozen = np.array(values)
    frozen.flags.writeable = False
    return {
        "list": values,
        "tuple": tuple(values),
        "float64": np.array(values),
        "float32": np.array(values, dtype=np.float32),
        "float16": np.array(values, dtype=np.float16),
        "read-only": frozen,
        "strided": np.repeat(values, 2)[::2],
        "pandas": pd.Series(values, index=list("abcd")),
        "pandas nullable": pd.Series(values, dtype="Float64"),
        "polars": pl.Series(values),
    }


@pytest.mark.parametrize("kind", containers())
def test_every_container_gives_the_same_decision_and_is_not_changed(kind):
    data = containers()[kind]
    before = list(data)
    decision = bestcut.decide(data, "f1")
    reference = bestcut.decide([0.25, 0.5, 0.125, 0.75], "f1")
    assert np.array_equal(decision.labels, reference.labels)
    assert decision.expected_score == reference.expected_score
    assert list(data) == before


def test_integers_are_probabilities_zero_and_one():
    assert bestcut.decide([0, 1, 1], "f1").labels.tolist() == [False, True, True]


def test_a_threshold_selects_the_same_rows_again_in_single_precision():
    p = np.random.default_rng(0).beta(0.3, 3, 200).astype(np.float32)
    decision = bestcut.decide(p, "f1")
    for kind in (float, np.float32):
        assert np.array_equal(p >= kind(decision.threshold), decision.labels)


BAD = {
    "nan": ([0.5, float("nan")], ValueError, r"\[1\] = nan \(1 of 2.*Drop or fill"),
    "inf": ([float("inf")], ValueError, r"y_proba\[0\] = inf"),
    "negative": (
        [0.1, -0.1],
        ValueError,
        r"y_proba\[1\] = -0\.1.*not scores or logits",
    ),
    "above one": ([0.1, 1.2, 3.0], ValueError, r"y_proba\[1\] = 1\.2 \(2 of 3"),
    "strings": (["0.1"], TypeError, r"must hold real numbers; got dtype <U3"),
    "one string": ("f1", TypeError, r"must hold real numbers"),
    "two columns": ([[0.9, 0.1]], ValueError, r"1-D.*`np\.asarray\(y_proba\)\[:, 1\]`"),
    "3-D": (np.zeros((2, 2, 2)), ValueError, r"must be 1-D; got shape \(2, 2, 2\)"),
    "scalar": (0.5, ValueError, r"must be 1-D; got shape \(\).*`\[y_proba\]`"),
    "object": (np.array([0.1, None]), TypeError, r"dtype object.*y_proba\[1\] = None"),
    "masked": (np.ma.array([0.1]), TypeError, r"masked array.*compressed"),
    "ragged": ([[0.1], [0.2, 0.3]], ValueError, r"ragged rows"),
    "complex": ([0.1 + 0j], TypeError, r"dtype complex128"),
    "none": (None, TypeError, r"must hold real numbers; got NoneType\.$"),
    "dict": ({"a": 0.1}, TypeError, r"got dict\. Pass `list\(y_proba\.values\(\)\)`"),
    "zip": (zip([0.1], strict=True), TypeError, r"got zip\. Pass `list\(y_proba\)`"),
    "sparse": (csr_array([[0.1]]), TypeError, r"Pass `y_proba\.toarray\(\)`"),
    "lazy": (pl.LazyFrame({"p": [0.1]}), TypeError, r"Collect it first"),
    "one row": ([[0.1, 0.2, 0.3]], ValueError, r"flatten it with `np\.ravel\(y_proba"),
    "classes": (np.zeros((2, 3)), ValueError, r"multiclass.*multilabel.*decide_each"),
    "maps": (
        np.zeros((2, 3, 4, 4)),
        ValueError,
        r"`bestcut\.torch\.decide_masks` with a tensor, or `bestcut\.decide_each\(np",
    ),
    "dates": (np.array(["2020-01-01"], "M8[D]"), TypeError, r"dtype datetime64"),
    "missing": (pd.Series([0.1, None], dtype="Float64"), ValueError, r"\[1\] = nan"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_probabilities_are_refused_by_name(kind):
    data, error, message = BAD[kind]
    with pytest.raises(error, match=message) as info:
        bestcut.decide(data)
    assert "`y_proba`" in str(info.value)


def test_out_of_range_has_an_exception_of_its_own():
    with pytest.raises(bestcut.InvalidProbabilityError):
        bestcut.decide([2.0])


ARGUMENTS = {
    "unknown metric": ({"metric": "f1x"}, r"`metric` 'f1x'.*Did you mean 'f1'"),
    "other name": ({"metric": "IoU"}, r"Did you mean 'jaccard'\?"),
    "upper case": ({"metric": "F1"}, r"Did you mean 'f1'\?"),
    "a class": ({"metric": bestcut.metrics.FBeta}, r"not its class; pass FBeta\(\)"),
    "bare callable": ({"metric": max}, r"Wrap a callable with.*from_counts"),
    "unknown solver": ({"solver": "cubc"}, r"`solver` 'cubc'.*'cubic'"),
    "max < min": (
        {"min_positives": 2, "max_positives": 1},
        r"max_positives=1 < min_positives=2",
    ),
    "min > n": ({"min_positives": 4}, r"got 4 with 3 entries"),
    "negative": ({"max_positives": -1}, r"`max_positives` must not be negative"),
    "fraction": ({"min_positives": 0.5}, r"`min_positives` must be a whole number"),
    "bool": ({"max_positives": True}, r"`max_positives` must be a whole number"),
    "nan metric": (
        {"metric": from_counts(lambda tp, fp, fn, tn: tp / (tp + fp), "mine")},
        r"'mine' must be finite.*nan at tp=0, fp=0.*zero_division",
    ),
    "wrong shape": (
        {"metric": from_counts(lambda tp, fp, fn, tn: np.ones(3), "mine")},
        r"'mine' must return one value per confusion matrix.*\(3,\)",
    ),
}


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_bad_arguments_are_refused_by_name(kind):
    arguments, message = ARGUMENTS[kind]
    p = np.array([0.1, 0.2, 0.3])
    with pytest.raises((ValueError, TypeError), match=message):
        bestcut.decide(p, **arguments)
    assert p.tolist() == [0.1, 0.2, 0.3]


def test_numpys_small_integers_do_not_wrap():
    p = [0.62, 0.48, 0.31, 0.31, 0.22, 0.09, 0.04, 0.02]
    for beta in (np.int8(16), np.uint8(16), np.float32(16), np.longdouble(16)):
        metric = bestcut.metrics.FBeta(beta)
        assert bestcut.decide(p, metric).n_positive == 8
        assert "np." not in repr(metric)


def test_a_callable_without_a_hash_is_fine():
    class Cost:
        __hash__ = None

        def __call__(self, tp, fp, fn, tn):
            return tp - 0.3 * fp

    assert bestcut.decide([0.9, 0.1], from_counts(Cost())).n_positive == 1


def test_the_repr_says_what_was_decided():
    decision = bestcut.decide([0.9, 0.8, 0.05], "f1")
    assert repr(decision).startswith("Decision(f1: 2 of 3 positive, threshold 0.425, ")
    assert "expected score 0.8" in repr(decision)
    page = decision._repr_html_()
    assert "<td style='text-align:left'>2 of 3</td>" in page
    loss = bestcut.decide([0.9, 0.8, 0.05], "squared_count_error")
    assert "expected loss" in repr(loss)


def test_the_html_escapes_a_metrics_name():
    metric = from_counts(lambda tp, fp, fn, tn: tp, "<b>&")
    assert "&lt;b&gt;&amp;" in bestcut.decide([0.5], metric)._repr_html_()


def test_changing_the_input_afterwards_does_not_change_the_curve():
    p = np.array([0.5, 0.6, 0.1])
    decision = bestcut.decide(p)
    expected = bestcut.decide([0.5, 0.6, 0.1]).curve.expected_score
    p[:] = 0.0
    assert np.array_equal(decision.curve.expected_score, expected)


def test_a_decision_can_be_pickled():
    decision = bestcut.decide([0.5, 0.6, 0.1])
    again = pickle.loads(pickle.dumps(decision))
    assert np.array_equal(again.labels, decision.labels)
    assert np.array_equal(again.curve.expected_score, decision.curve.expected_score)


def test_the_same_call_gives_the_same_answer_in_another_process():
    code = (
        "import bestcut, numpy as np;"
        "p = np.random.default_rng(3).random(50);"
        "print(bestcut.decide(p, 'mcc').expected_score.hex())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
        for _ in range(2)
    }
    assert len(runs) == 1


def test_the_distribution_of_a_large_decision_sorts_nothing(monkeypatch):
    p = np.random.default_rng(0).beta(0.3, 3.0, 600_000)
    decision = bestcut.decide(p, "f1")
    assert decision.solver == "search"

    def refuse(*args, **kwargs):
        msg = "sorted again"
        raise AssertionError(msg)

    monkeypatch.setattr(np, "sort", refuse)
    found = decision.distribution()
    monkeypatch.undo()
    again = bestcut.score_distribution(p, decision.labels, "f1")
    assert abs(found.mean - again.mean) <= found.error + again.error
    assert abs(found.mean - decision.expected_score) <= found.error + decision.error
    assert found.std == pytest.approx(again.std, rel=1e-9, abs=0)
    assert decision.confusion().mean == pytest.approx(
        bestcut.expected_confusion(p, decision.labels).mean, rel=1e-12, abs=0
    )


@pytest.mark.parametrize("name", ["f1", "mcc", "gmean", "squared_count_error"])
def test_a_decision_knows_the_law_of_its_own_labels(name):
    p = np.random.default_rng(8).beta(0.4, 2, size=80)
    decision = bestcut.decide(p, name)
    own = decision.distribution()
    direct = bestcut.score_distribution(p, decision.labels, name)
    slack = own.error + decision.error
    assert own.mean == pytest.approx(decision.expected_score, abs=slack, rel=0)
    assert own.mean == pytest.approx(direct.mean, abs=own.error + direct.error, rel=0)
    assert own.interval() == pytest.approx(direct.interval(), abs=1e-12)
    c = own.ppf(0.4)
    slack = own.probability_error + direct.probability_error
    assert own.prob_at_least(c) == pytest.approx(direct.prob_at_least(c), abs=slack)
    for other in ("precision", bestcut.metrics.Recall(zero_division=1.0)):
        there = decision.distribution(other)
        expected = bestcut.expected_score(p, decision.labels, other)
        assert there.mean == pytest.approx(expected, abs=2 * there.error)
    assert decision.distribution(metric="recall").mean == pytest.approx(
        bestcut.expected_score(p, decision.labels, "recall"), abs=1e-12
    )
    confusion = decision.confusion()
    expected = bestcut.expected_confusion(p, decision.labels)
    assert confusion.mean == pytest.approx(expected.mean, abs=1e-12)
    assert confusion.interval() == expected.interval()
    assert confusion.mean.tp == pytest.approx(p[decision.labels].sum())


def test_the_law_of_a_decision_by_enumeration_is_that_of_its_labels():
    metric = from_counts(lambda tp, fp, fn, tn: fp * fn - tp + 1.0 * tn, "perverse")
    p = [0.9, 0.2, 0.6, 0.45]
    decision = bestcut.decide(p, metric, solver="exhaustive")
    law = score_law(
        p, decision.labels, lambda tp, fp, fn, tn, _: Fraction(fp * fn - tp + tn), 0
    )
    assert_law(decision.distribution(), law, np.random.default_rng(0))


def test_the_law_of_a_decision_does_not_follow_later_changes_of_the_input():
    p = np.array([0.5, 0.6, 0.1])
    decision = bestcut.decide(p)
    expected = bestcut.decide([0.5, 0.6, 0.1]).distribution().mean
    p[:] = 0.0
    assert decision.distribution().mean == expected


@settings(max_examples=100, deadline=None)
@given(
    p=st.lists(probability, max_size=40), name=st.sampled_from(bestcut.metrics.names())
)
def test_the_mean_of_a_decisions_law_is_its_expected_score(p, name):
    decision = bestcut.decide(p, name)
    law = decision.distribution()
    slack = law.error + decision.error
    assert law.mean == pytest.approx(decision.expected_score, abs=slack, rel=0)
    expected = bestcut.expected_score(p, decision.labels, name)
    assert expected == pytest.approx(decision.expected_score, abs=slack, rel=0)


def test_the_gap_of_a_large_decision_is_that_of_its_summary():
    # The metric is flat at small TP, so that what an exchange may cost is in the gap.
    metric = bestcut.metrics.from_expression(
        "max(tp/(tp+fn), 0.1) + 0.5*tn/(tn+fp)", zero_division=0.0
    )
    p = np.random.default_rng(0).beta(0.3, 3.0, 600_000)
    decision = bestcut.decide(p, metric)
    assert decision.solver == "search"
    bracket = bestcut.streams.ScoreSummary.from_scores(p).bracket(metric)
    cut = bracket.refine(bracket.select(p))
    assert cut.gap > 0.0
    # Rounding differs: the summary of one pass has other moments than one at hand.
    assert decision.gap <= cut.gap + decision.error + cut.error


# --- 0/0 -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "metric", "depends"),
    [
        ([0.03], "f1", True),  # flagged, because otherwise F1 is 0, and never 0/0
        ([0.03], FBeta(zero_division=1.0), True),
        ([0.9, 0.8, 0.1] * 20, "f1", False),
        ([0.6, 0.4], "precision", True),  # an empty prediction has precision 0/0
        ([0.6, 0.4], "accuracy", False),  # nothing is 0/0
        ([0.6, 0.4], "squared_count_error", False),
        ([0.03] * 200, "f1", False),
        ([], "f1", False),
    ],
)
def test_a_decision_says_whether_it_hangs_on_what_0_over_0_is(p, metric, depends):
    assert bestcut.decide(p, metric).depends_on_zero_division is depends


def test_0_over_0_is_decided_under_the_same_options():
    for options in (
        {"min_positives": 1},
        {"goal": bestcut.goals.Quantile(0.4), "min_positives": 1},
        {"at_least": {"recall": 0.02}},
    ):
        decision = bestcut.decide([0.03], "f1", **options)
        assert decision.labels.tolist() == [True]
        assert not decision.depends_on_zero_division
    draws = bestcut.UncertainProbabilities([[0.02], [0.04]])
    assert bestcut.decide(draws, "f1").depends_on_zero_division
    money = bestcut.RowUtility(tp=[5.0], fp=-1.0)
    assert not bestcut.decide([0.03], money).depends_on_zero_division


def test_more_conditions_than_anybody_needs_are_refused():
    many = {"precision": [0.1] * 60, "recall": [0.1] * 41}
    with pytest.raises(
        ValueError, match=r"at most 100 conditions; got 101\. Of several"
    ):
        bestcut.decide([0.9, 0.4], at_least=many)
