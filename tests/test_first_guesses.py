"""A first guess at the API works, or its error holds the call that does.

Each test is a guess that somebody made.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bestcut
from bestcut import multiclass, multilabel

P = [0.9, 0.6, 0.3, 0.1]
LABELS = [1, 1, 0, 0]


def test_all_metrics_at_once():
    scores = bestcut.expected_score(P, LABELS, bestcut.metrics.names())
    assert list(scores) == bestcut.metrics.names()
    with pytest.raises(ValueError, match=r"got 'f1' twice; 'dice' is another name of"):
        bestcut.expected_score(P, LABELS, ["f1", "dice"])


@pytest.mark.parametrize("argument", ["max_positives", "min_positives"])
def test_a_share_of_the_rows_as_a_budget(argument):
    cure = r"Pass int\(0\.05 \* 400\), which is 20, for 5% of the rows\."
    with pytest.raises(
        TypeError, match=f"`{argument}` must be a whole.*got 0.05. {cure}"
    ):
        bestcut.decide(P * 100, **{argument: 0.05})
    anywhere = r"Pass int\(0\.05 \* n\) for 5% of n rows\."
    with pytest.raises(TypeError, match=anywhere):
        bestcut.decide_each([P] * 3, **{argument: 0.05})
    with pytest.raises(TypeError, match=r"must be a whole number; got 2\.5\.$"):
        bestcut.decide(P, **{argument: 2.5})


def test_problems_of_different_sizes_in_a_list():
    a, b = [0.9, 0.2, 0.4], np.array([0.3, 0.3])
    with pytest.raises(ValueError, match=r"`y_proba` .*of 3, 2 entries") as error:
        bestcut.decide_each([a, b])
    call = str(error.value).rpartition("Pass ")[2].removesuffix(".")
    assert call == ("np.concatenate(y_proba) with groups=np.repeat(range(2), [3, 2])")
    some = bestcut.decide_each(
        np.concatenate([a, b]), groups=np.repeat(range(2), [3, 2])
    )
    assert some.n_positive.tolist() == [
        bestcut.decide(a).n_positive,
        bestcut.decide(b).n_positive,
    ]


@pytest.mark.parametrize(
    ("given", "cure"),
    [
        ("macro_f1", "metric='f1' and average='macro'"),
        ("f1_macro", "metric='f1' and average='macro'"),
        ("F1-micro", "metric='f1' and average='micro'"),
        ("samples_jaccard", "metric='jaccard' and average='samples'"),
        ("f0.7_macro", "metric='f0.7' and average='macro'"),
        ("recall_weighted", "metric='recall' and the shares of the classes as weights"),
    ],
)
def test_the_average_in_the_name_of_a_metric(given, cure):
    shares = [[0.5, 0.3, 0.2], [0.2, 0.7, 0.1]]
    for decide in (
        lambda: multiclass.decide(shares, given),
        lambda: multilabel.decide(shares, given),
        lambda: bestcut.decide(P, given),
    ):
        with pytest.raises(ValueError, match="is not known") as error:
            decide()
        assert cure in str(error.value)
        assert "`bestcut.multiclass.decide`" in str(error.value)


def test_draws_with_a_row_for_each_instance():
    draws = np.random.default_rng(0).beta(1, 2, (30, 5))
    rows = bestcut.UncertainProbabilities(draws)
    columns = bestcut.UncertainProbabilities(draws, axis=1)
    assert (len(rows), rows.n_draws) == (5, 30)
    assert (len(columns), columns.n_draws) == (30, 5)
    np.testing.assert_array_equal(columns.draws(), draws.T)
    same = bestcut.UncertainProbabilities(draws.T)
    np.testing.assert_array_equal(same.draws(), columns.draws())
    cure = r"got shape \(30,\)\. .*30 draws.*Pass axis=1 to UncertainProbabilities"
    with pytest.raises(ValueError, match=cure):
        bestcut.expected_score(rows, np.ones(30))
    with pytest.raises(ValueError, match=cure):
        bestcut.check_calibration(np.ones(30), rows)
    for axis in (2, -1, None, "rows"):
        with pytest.raises(ValueError, match="`axis` must be 0"):
            bestcut.UncertainProbabilities(draws, axis=axis)


SEEDED = {
    "calibrate": lambda seed: bestcut.calibrate(
        LABELS * 5, P * 5, n_draws=20, random_state=seed
    )(P).draws(),
    "sample": lambda seed: bestcut.score_distribution(P, LABELS).sample(20, seed),
}


@pytest.mark.parametrize("call", SEEDED.values(), ids=SEEDED)
def test_random_state_is_a_seed_a_generator_or_none(call):
    same = call(7)
    np.testing.assert_array_equal(call(np.int64(7)), same)
    np.testing.assert_array_equal(call(np.random.default_rng(7)), same)
    rng = np.random.default_rng(7)
    assert not np.array_equal(call(rng), call(rng))
    assert not np.array_equal(call(None), call(None))
    for wrong in (-1, 1.5, "7", True):
        with pytest.raises((TypeError, ValueError), match="`random_state` must"):
            call(wrong)
    with pytest.raises(TypeError, match=r"Pass np\.random\.default_rng\(seed\)"):
        call(np.random.RandomState(0))


class OfJax:
    """An array of a type that NumPy does not know, as jax has it."""

    dtype = "bfloat16"

    def __init__(self, values):
        self.values = values

    def astype(self, kind):
        assert kind == "float32"
        return np.asarray(self.values, dtype=kind)

    def __array__(self, dtype=None, copy=None):
        raise TypeError


HALVES = [0.75, 0.5, 0.125]
NUMBERS = {
    "decimal": [Decimal("0.75"), Decimal("0.5"), Decimal("0.125")],
    "fractions": [Fraction(3, 4), Fraction(1, 2), Fraction(1, 8)],
    "objects": np.array(HALVES, dtype=object),
    "pandas objects": pd.Series(HALVES, dtype=object),
    "pandas nullable": pd.Series(HALVES, dtype="Float64"),
    "polars decimal": pl.Series(HALVES).cast(pl.Decimal(10, 3)),
    "bfloat16": OfJax(HALVES),
}


@pytest.mark.parametrize("given", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_numbers_whatever_holds_them(given):
    assert bestcut.decide(given).expected_score == bestcut.decide(HALVES).expected_score
    assert bestcut.expected_score(given, [1, 1, 0]) == bestcut.expected_score(
        HALVES, [1, 1, 0]
    )


def test_numbers_in_tables_of_objects():
    frame = pd.DataFrame([HALVES, HALVES], dtype="Float64")
    for given in (frame, frame.astype(object)):
        found = bestcut.decide_each(given)
        assert found.n_positive.tolist() == [bestcut.decide(HALVES).n_positive] * 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.array([0.5, None]), r"with y_proba\[1\] = None\. Drop or fill such"),
        (pd.Series([0.5, pd.NA], dtype=object), r"\[1\] = <NA>\. Drop or fill"),
        (pd.Series(["0.5"]), r"`y_proba\.astype\(float\)`"),
        (pl.Series(["0.5"]), r"`y_proba\.cast\(pl\.Float64\)`"),
        (["0.5"], r"`np\.asarray\(y_proba, dtype=float\)`"),
        ([[0.5, 0.5], [0.5, None]], r"with y_proba\[1, 1\] = None"),
        (np.array([0.5, True], dtype=object), "got booleans, which are labels"),
    ],
)
def test_what_is_no_number_is_refused_in_the_words_of_its_library(given, message):
    decide = bestcut.decide if np.ndim(given) == 1 else bestcut.decide_each
    with pytest.raises(TypeError, match=message):
        decide(given)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Certain", "goals"),
        ("Metric", "metrics"),
        ("Cut", "streams"),
        ("adjust_prevalence", "calibration"),
        ("ExpectedMetricClassifier", "estimators"),
        ("DecisionDisplay", "displays"),
        ("make_scorer", "scorers"),
        ("make_report", "report"),
        ("decide_masks", "torch"),
    ],
)
def test_a_name_of_another_module(name, place):
    with pytest.raises(AttributeError, match=rf"`bestcut\.{place}\.{name}`\.$"):
        getattr(bestcut, name)


def test_a_name_of_no_module():
    with pytest.raises(AttributeError, match=r"no attribute 'thresh'$"):
        bestcut.thresh  # noqa: B018


def test_labels_where_a_realised_score_belongs():
    score = bestcut.decide(P).distribution()
    with pytest.raises(TypeError, match=r"pass `decision\.realised\(y_true\)`"):
        score.surprise(LABELS)


@pytest.mark.parametrize(
    ("guess", "cure"),
    [
        ({"budget": 2}, r"`max_positives=2`"),
        ({"top_k": 2}, r"`max_positives=2`"),
        ({"groups": list("aabb")}, r"`bestcut\.decide_each` takes `groups`"),
        ({"amounts": [5, 5, 9, 9]}, r"`bestcut\.RowUtility\(tp=amounts, fp=-5\)`"),
        ({"sample_weight": LABELS}, r"`bestcut\.RowUtility\(tp=amounts, fp=-5\)`"),
        ({"average": "macro"}, r"`bestcut\.multiclass\.decide` .* take `average`"),
        ({"min_precision": 0.9}, r"`at_least=\{'precision': 0\.9\}`"),
        ({"precision": 0.9}, r"`at_least=\{'precision': 0\.9\}`"),
        ({"max_fpr": 0.05}, r"`at_most=\{'fpr': 0\.05\}`"),
        ({"threshold": 0.3}, r"score_distribution\(y_proba, y_proba >= threshold\)"),
        ({"beta": 2}, r"`metric='f2'`"),
        ({"zero_division": 1}, r"`bestcut\.metrics\.FBeta\(zero_division=1\.0\)`"),
        ({"scoring": "f1"}, r"`metric='f1'`"),
        ({"y_true": LABELS}, r"`decision\.realised\(y_true\)`"),
        ({"max_positive": 2}, r"Did you mean `max_positives`\?"),
        ({"color": "red"}, r"It takes `y_proba`, `metric`, `goal`, .*, `solver`\.$"),
    ],
    ids=lambda given: next(iter(given)) if isinstance(given, dict) else "",
)
def test_an_argument_that_decide_does_not_have(guess, cure):
    refused = rf"^decide\(\) got an unexpected keyword argument '{next(iter(guess))}'\."
    with pytest.raises(TypeError, match=f"{refused} .*{cure}"):
        bestcut.decide(P, **guess)


@pytest.mark.parametrize(
    ("call", "cure"),
    [
        (lambda: bestcut.decide_each([P], average="macro"), r"take `average`\.$"),
        (lambda: bestcut.decide_each(P, by=LABELS), r"Did you mean `groups`\?"),
        (lambda: bestcut.decide_each([P], budget=2), r"`max_positives=2`\.$"),
        (lambda: multiclass.decide([P], budget=2), r"`bestcut\.decide` .*positives`"),
        (lambda: multiclass.decide([P], at_leas={}), r"It takes .*`also`\.$"),
        (lambda: multilabel.decide([P], k=2), r"Did you mean `per_row`\?"),
        (lambda: bestcut.calibrate(y=LABELS, scores=P), r"Did you mean `y_true`\?"),
        (lambda: bestcut.calibrate(LABELS, p=P), r"Did you mean `scores`\?"),
        (
            lambda: bestcut.guarantee(LABELS, P, P, precision=0.8),
            r"`at_least=\{'precision': 0\.8\}`",
        ),
    ],
)
def test_an_argument_that_another_function_does_not_have(call, cure):
    with pytest.raises(TypeError, match=f"unexpected keyword argument .*{cure}"):
        call()


def test_what_arguments_that_are_there_do_is_unchanged():
    assert bestcut.decide(y_proba=P, max_positives=1).n_positive == 1
    with pytest.raises(TypeError, match="required positional argument: 'y_proba'"):
        bestcut.decide(metric="f1")
    with pytest.warns(UserWarning, match="none of 60 positives") as told:
        bestcut.calibrate([1, 1, 1, 0, 0, 0] * 20, [1, 2, 3, 4, 5, 6] * 20)
    assert [one.filename for one in told] == [__file__]


@pytest.mark.parametrize(
    "call",
    [
        lambda: bestcut.calibrate(P, LABELS),
        lambda: bestcut.empirical_threshold(P, LABELS),
        lambda: bestcut.check_calibration(P, LABELS),
        lambda: bestcut.guarantee(P, LABELS, P, {"precision": 0.5}),
    ],
    ids=["calibrate", "empirical_threshold", "check_calibration", "guarantee"],
)
def test_scores_before_labels(call):
    with pytest.raises(ValueError, match=r"`y_true` must hold only 0 and 1.*") as error:
        call()
    cure = r"(`scores`|`y_proba`) holds only 0 and 1: pass the labels first\."
    assert str(error.value).endswith("pass the labels first.")
    assert str(error.value).count("must hold") == 1
    assert error.match(cure)


@pytest.mark.parametrize(
    "made",
    [
        lambda: bestcut.decide(P),
        lambda: bestcut.decide(P).distribution(),
        lambda: bestcut.check_calibration(LABELS, P),
        lambda: multilabel.decide([P]),
    ],
)
def test_the_json_of_a_result(made):
    result = made()
    with pytest.raises(AttributeError, match=r"`json\.dumps\(.*\.to_dict\(\)\)`"):
        result.to_json()


def test_what_a_distribution_has_is_asked_of_the_decision():
    decision = bestcut.decide(P)
    with pytest.raises(AttributeError, match=r"`decision\.distribution\(\)\.interval`"):
        decision.interval(0.9)
    with pytest.raises(AttributeError, match=r"^'Decision' object .*'other'$"):
        decision.other  # noqa: B018
    assert not hasattr(decision, "interval")
