"""Families with constants, and metrics from callables: what they score and refuse."""

import dataclasses
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestcut
from bestcut import metrics
from bestcut.metrics._base import counts_from_confusion
from oracles import EPS
from oracles.enumeration import lattice

# Every confusion matrix of 0 to 12 instances, prevalences 0 and 1 included.
CELLS = lattice(12)
COUNTS = counts_from_confusion(*CELLS)
N = COUNTS[3]
NAMES = metrics.names()


# --- custom metrics from the corrected Table 1 ---------------------------------------


def f_beta_forms(beta):
    b2 = beta**2
    return (
        lambda tp, fp, fn, tn: (1 + b2) * tp / ((1 + b2) * tp + b2 * fn + fp),
        lambda u, v, p: (1 + b2) * u / (b2 * p + v),
        lambda r, s, p: (1 + b2) * p * r / (b2 * p + share_predicted(r, s, p)),
    )


def share_predicted(tpr, tnr, p):
    return p * tpr + (1 - p) * (1 - tnr)


def root(x):
    return np.sqrt(np.maximum(x, 0))


def harmonic(tpr, tnr, p):
    return np.where(tpr * tnr > 0, 2 * tpr * tnr / (tpr + tnr), 0.0)


def loss_of_rates(tpr, tnr):
    return ((1 - tpr) ** 2 + (1 - tnr) ** 2) / 2


def loss_of_shares(u, v, p):
    return (((p - u) / p) ** 2 + ((v - u) / (1 - p)) ** 2) / 2


def loss_of_cells(tp, fp, fn, tn):
    return ((fn / (tp + fn)) ** 2 + (fp / (fp + tn)) ** 2) / 2


def rounding_of_shares(name):
    # Shares carry eps/2 each; 12² bounds what 1/(p (1 - p)) makes of it. A root turns
    # eps into sqrt(eps) next to 0.
    return 1e-6 if name == "gmean" else 144 * float(EPS)


# On cells, on shares (u, v, p), on rates.
FORMS = {
    "f1": f_beta_forms(1.0),
    "f2": f_beta_forms(2.0),
    "f0.5": f_beta_forms(0.5),
    "jaccard": (
        lambda tp, fp, fn, tn: tp / (tp + fp + fn),
        lambda u, v, p: u / (p + v - u),
        lambda r, s, p: p * r / (p + (1 - p) * (1 - s)),
    ),
    "balanced_accuracy": (
        lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (fp + tn)) / 2,
        lambda u, v, p: (u + p * (1 - v - p)) / (2 * p * (1 - p)),
        lambda r, s, p: (r + s) / 2,
    ),
    "fowlkes_mallows": (
        lambda tp, fp, fn, tn: np.sqrt(tp / (tp + fn) * (tp / (tp + fp))),
        lambda u, v, p: u / np.sqrt(p * v),
        lambda r, s, p: r * np.sqrt(p / share_predicted(r, s, p)),
    ),
    "gmean": (
        lambda tp, fp, fn, tn: np.sqrt(tp / (tp + fn) * (tn / (fp + tn))),
        lambda u, v, p: root(u * (1 - v - p + u) / (p * (1 - p))),
        lambda r, s, p: np.sqrt(r * s),
    ),
    "hmean": (
        lambda tp, fp, fn, tn: 2 * tp * tn / (tp * (fp + tn) + tn * (tp + fn)),
        lambda u, v, p: 2 * u * (1 - v - p + u) / ((1 - v - p) * p + u),
        harmonic,
    ),
    "qmean": (
        lambda tp, fp, fn, tn: 1 - loss_of_cells(tp, fp, fn, tn),
        lambda u, v, p: 1 - loss_of_shares(u, v, p),
        lambda r, s, p: 1 - loss_of_rates(r, s),
    ),
    "qmean_sqrt": (
        lambda tp, fp, fn, tn: 1 - np.sqrt(loss_of_cells(tp, fp, fn, tn)),
        lambda u, v, p: 1 - np.sqrt(loss_of_shares(u, v, p)),
        lambda r, s, p: 1 - np.sqrt(loss_of_rates(r, s)),
    ),
    "accuracy": (
        lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn),
        lambda u, v, p: 1 + 2 * u - v - p,
        lambda r, s, p: p * r + (1 - p) * s,
    ),
    "precision": (
        lambda tp, fp, fn, tn: tp / (tp + fp),
        lambda u, v, p: u / v,
        lambda r, s, p: p * r / share_predicted(r, s, p),
    ),
    "recall": (
        lambda tp, fp, fn, tn: tp / (tp + fn),
        lambda u, v, p: u / p,
        lambda r, s, p: r,
    ),
    "specificity": (
        lambda tp, fp, fn, tn: tn / (fp + tn),
        lambda u, v, p: (1 - v - p + u) / (1 - p),
        lambda r, s, p: s,
    ),
    "false_positive_rate": (
        lambda tp, fp, fn, tn: fp / (fp + tn),
        lambda u, v, p: (v - u) / (1 - p),
        lambda r, s, p: 1 - s,
    ),
    "false_negative_rate": (
        lambda tp, fp, fn, tn: fn / (fn + tp),
        lambda u, v, p: (p - u) / p,
        lambda r, s, p: 1 - r,
    ),
    "negative_predictive_value": (
        lambda tp, fp, fn, tn: tn / (tn + fn),
        lambda u, v, p: (1 - v - p + u) / (1 - v),
        lambda r, s, p: (1 - p) * s / (1 - share_predicted(r, s, p)),
    ),
    "informedness": (
        lambda tp, fp, fn, tn: tp / (tp + fn) - fp / (fp + tn),
        lambda u, v, p: (u - v * p) / (p * (1 - p)),
        lambda r, s, p: r + s - 1,
    ),
    "markedness": (
        lambda tp, fp, fn, tn: tp / (tp + fp) - fn / (fn + tn),
        lambda u, v, p: (u - v * p) / (v * (1 - v)),
        lambda r, s, p: (
            p
            * (1 - p)
            * (r + s - 1)
            / share_predicted(r, s, p)
            / (1 - share_predicted(r, s, p))
        ),
    ),
    "mcc": (
        lambda tp, fp, fn, tn: (
            (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (fp + tn) * (fn + tn))
        ),
        lambda u, v, p: (u - v * p) / np.sqrt(v * (1 - v) * p * (1 - p)),
        lambda r, s, p: (
            (r + s - 1)
            * np.sqrt(
                p * (1 - p) / share_predicted(r, s, p) / (1 - share_predicted(r, s, p))
            )
        ),
    ),
    "cohen_kappa": (
        lambda tp, fp, fn, tn: (
            2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
        ),
        lambda u, v, p: 2 * (u - v * p) / (v * (1 - p) + p * (1 - v)),
        lambda r, s, p: (
            2
            * p
            * (1 - p)
            * (r + s - 1)
            / (share_predicted(r, s, p) * (1 - p) + p * (1 - share_predicted(r, s, p)))
        ),
    ),
    "squared_count_error": (
        lambda tp, fp, fn, tn: ((fp - fn) / (tp + fp + fn + tn)) ** 2,
        lambda u, v, p: (p - v) ** 2,
        lambda r, s, p: (p - share_predicted(r, s, p)) ** 2,
    ),
}

# Where no rate is undefined.
REGULAR = tuple(
    x[(COUNTS[1] > 0) & (COUNTS[1] < N) & (COUNTS[2] > 0) & (COUNTS[2] < N)]
    for x in COUNTS
)


def test_every_metric_is_written_in_all_three_forms():
    assert set(FORMS) == set(NAMES)
    assert REGULAR[0].size > 1000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["counts", "uvp", "rates"])
def test_a_custom_metric_agrees_with_the_catalogue(name, form):
    make = getattr(metrics, f"from_{form}")
    function = FORMS[name][("counts", "uvp", "rates").index(form)]
    mine = make(function, name=f"my {name}", zero_division=0.0)
    tolerance = rounding_of_shares(name)
    expected = metrics.get(name)(*REGULAR)
    np.testing.assert_allclose(mine(*REGULAR), expected, rtol=0, atol=tolerance)
    # And a wrong one would be seen.
    wrong = make(lambda *x: 1.001 * function(*x) + 0.001, zero_division=0.0)
    assert np.max(np.abs(wrong(*REGULAR) - expected)) > 100 * tolerance


# What is undefined in the catalogue if one denominator is 0, the whole score ...
ONE_RULE = [
    "f1",
    "f2",
    "f0.5",
    "jaccard",
    "accuracy",
    "precision",
    "recall",
    "specificity",
    "false_positive_rate",
    "false_negative_rate",
    "negative_predictive_value",
    "mcc",
    "cohen_kappa",
]
# ... if a class is empty, its rate ...
RATE_RULE = [
    "balanced_accuracy",
    "gmean",
    "hmean",
    "qmean",
    "qmean_sqrt",
    "recall",
    "specificity",
    "informedness",
]
# ... and neither of the two: by a rule of its own, or never.
OTHER_RULE = ["fowlkes_mallows", "markedness", "squared_count_error"]


def test_every_metric_has_a_rule_for_zero_division():
    rules = {*ONE_RULE, *RATE_RULE, *OTHER_RULE}
    assert rules == set(metrics.names(aliases=False))
    assert not {*ONE_RULE, *RATE_RULE} & set(OTHER_RULE)


@pytest.mark.parametrize("zero_division", [0.0, 1.0, 0.25])
@pytest.mark.parametrize("name", ONE_RULE)
def test_zero_division_fills_gaps_as_in_the_catalogue(name, zero_division):
    mine = metrics.from_counts(FORMS[name][0], zero_division=zero_division)
    theirs = dataclasses.replace(metrics.get(name), zero_division=zero_division)
    np.testing.assert_allclose(
        mine(*COUNTS), theirs(*COUNTS), rtol=0, atol=8 * float(EPS)
    )


@pytest.mark.parametrize("zero_division", [0.0, 1.0, 0.25])
@pytest.mark.parametrize("name", RATE_RULE)
def test_zero_division_is_the_rate_of_an_empty_class(name, zero_division):
    mine = metrics.from_rates(FORMS[name][2], zero_division=zero_division)
    theirs = dataclasses.replace(metrics.get(name), zero_division=zero_division)
    np.testing.assert_allclose(
        mine(*COUNTS), theirs(*COUNTS), rtol=0, atol=16 * float(EPS)
    )


def test_zero_division_stands_where_the_callable_divides_by_zero_and_only_there():
    lift = metrics.from_counts(lambda tp, fp, fn, tn: tp / fp, zero_division=0.75)
    np.testing.assert_array_equal(
        lift([0, 1, 0, 2], [0, 1, 1, 4], 2, 6), [0.75, 0.75, 0.0, 1.0]
    )
    mine = metrics.from_uvp(lambda u, v, p: u / v, zero_division=0.75)
    np.testing.assert_array_equal(
        mine([0, 0, 2], [0, 2, 2], [1, 2, 2], 4), [0.75, 0.0, 1.0]
    )


def test_a_constant_callable_is_a_metric():
    for make in (metrics.from_counts, metrics.from_uvp, metrics.from_rates):
        for constant in (0.5, 2, True):
            metric = make(lambda *_, c=constant: c)
            score = metric(*COUNTS)
            assert score.shape == N.shape
            assert (score == float(constant)).all()
            assert metric(1, 1, 1, 2) == float(constant)


def test_a_callable_that_sums_over_its_input_is_refused():
    metric = metrics.from_counts(lambda tp, fp, fn, tn: tp.sum())
    with pytest.raises(ValueError, match="one value per confusion matrix"):
        metric([1, 2], [2, 2], [2, 2], 4)


def test_nothing_to_score_may_be_undefined():
    metric = metrics.from_counts(lambda tp, fp, fn, tn: tp / (tp + fp + fn + tn))
    assert np.isnan(metric(0, 0, 0, 0))
    assert metric(1, 1, 1, 2) == 0.5


def test_zero_division_also_stands_for_nothing_to_score():
    metric = metrics.from_counts(lambda tp, fp, fn, tn: tp / (tp + fp), zero_division=1)
    assert metric(0, 0, 0, [0, 3]).tolist() == [1.0, 1.0]
    assert metric(0, 0, 0, 0) == 1.0


def test_division_by_zero_in_a_callable_does_not_warn():
    metric = metrics.from_counts(lambda tp, fp, fn, tn: tp / fp, zero_division=0.0)
    assert metric(0, 0, 1, 2) == 0.0


def minimum_of_rates(tpr, tnr, p):
    return np.minimum(tpr, tnr)


def test_a_custom_metric_is_frozen_hashable_and_picklable():
    metric = metrics.from_rates(minimum_of_rates, "worst rate", smooth=True)
    twin = metrics.from_rates(minimum_of_rates, "worst rate", smooth=True)
    assert metric == twin
    assert hash(metric) == hash(twin)
    assert metric != metrics.from_rates(minimum_of_rates, "another")
    assert metric.smooth  # a promise, not a structure that is known
    assert not metrics.from_rates(minimum_of_rates, "worst rate").smooth
    assert metric != metrics.from_rates(minimum_of_rates, "worst rate")
    assert metric.traits == frozenset()
    with pytest.raises(dataclasses.FrozenInstanceError):
        metric.name = "new"
    assert pickle.loads(pickle.dumps(metric))(3, 4, 5, 10) == metric(3, 4, 5, 10) == 0.6


def test_a_custom_loss_counts_downwards():
    loss = metrics.from_counts(lambda tp, fp, fn, tn: fp + fn, greater_is_better=False)
    assert loss(3, 4, 5, 10) == 3.0
    assert loss.utility(3.0, 4.0, 5.0, 10.0) == -3.0


# --- custom metrics that do not work -------------------------------------------------

AT = (np.array([0.0, 1.0, 2.0]), 3.0, 3.0, 6.0)


@pytest.mark.parametrize(
    "make", [metrics.from_counts, metrics.from_uvp, metrics.from_rates]
)
@pytest.mark.parametrize("given", ["f1", None, 3])
def test_what_cannot_be_called_is_refused(make, given):
    with pytest.raises(TypeError, match=r"^`function` must be callable; got") as error:
        make(given)
    assert repr(given) in str(error.value)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (
            lambda tp, fp, fn, tn: tp[:2],
            ValueError,
            r"metric 'mine' must return one value per confusion matrix; its callable "
            r"returned shape \(2,\) for inputs of shape \(3,\)\. Write it with NumPy",
        ),
        (
            lambda tp, fp, fn, tn: tp[:, None],
            ValueError,
            r"returned shape \(3, 1\) for inputs of shape \(3,\)",
        ),
        (
            lambda tp, fp, fn, tn: [1.0],
            ValueError,
            r"returned shape \(1,\) for inputs of shape \(3,\)",
        ),
        (
            lambda tp, fp, fn, tn: np.where(tp == 1, np.nan, tp),
            ValueError,
            r"metric 'mine' must be finite on every reachable confusion matrix; its "
            r"callable returned nan at tp=1, fp=2, fn=2, tn=1\. Handle .* or pass "
            r"`zero_division=`",
        ),
        (
            lambda tp, fp, fn, tn: 1 / tp,
            ValueError,
            r"returned inf at tp=0, fp=3, fn=3, tn=0",
        ),
        (lambda tp, fp, fn, tn: -1 / tp, ValueError, r"returned -inf at tp=0"),
        (lambda tp, fp, fn, tn: np.nan, ValueError, r"returned nan at tp=0"),
        (
            lambda tp, fp, fn, tn: "good",
            TypeError,
            r"metric 'mine' must return real numbers; its callable returned str with "
            r"dtype <U4",
        ),
        (
            lambda tp, fp, fn, tn: None,
            TypeError,
            r"returned NoneType with dtype object",
        ),
        (lambda tp, fp, fn, tn: tp * 1j, TypeError, r"dtype complex128"),
        (
            lambda tp, fp, fn, tn: tp.astype(object),
            TypeError,
            r"returned ndarray with dtype object",
        ),
    ],
)
def test_a_callable_that_returns_nonsense_is_refused(function, error, message):
    metric = metrics.from_counts(function, name="mine")
    with pytest.raises(error, match=message):
        metric(*AT)


def test_the_place_of_a_nan_is_told_in_the_callables_own_arguments():
    bad = metrics.from_uvp(lambda u, v, p: np.sqrt(-v), name="mine")
    with pytest.raises(ValueError, match=r"returned nan at u=0, v=0\.5, p=0\.5\."):
        bad(*AT)


def test_nonsense_is_named_also_where_nan_would_be_filled():
    for returned in ("good", None):
        metric = metrics.from_rates(lambda tpr, tnr, p, x=returned: x, name="mine")
        with pytest.raises(TypeError, match="metric 'mine' must return real numbers"):
            metric(*AT)


def test_an_error_inside_the_callable_comes_through():
    def broken(tp, fp, fn, tn):
        msg = "my own words"
        raise KeyError(msg)

    with pytest.raises(KeyError, match="my own words"):
        metrics.from_counts(broken)(*AT)


@pytest.mark.parametrize(
    "make", [metrics.from_counts, metrics.from_uvp, metrics.from_rates]
)
def test_a_bad_zero_division_is_refused(make):
    with pytest.raises(TypeError, match=r"`zero_division` must be a real number"):
        make(lambda *given: given[0], zero_division="drop")
    with pytest.raises(ValueError, match=r"`zero_division` must be finite; got nan"):
        make(lambda *given: given[0], zero_division=np.nan)


def branch(tp, fp, fn, tn):
    return tp / (tp + fp) if tp + fp > 0 else 0.0


ON_NUMBERS = {
    "if": branch,
    "max": lambda tp, fp, fn, tn: max(tp - fp, 0.0),
    "and": lambda tp, fp, fn, tn: (tp > 0) and tp,
    "math": lambda tp, fp, fn, tn: math.sqrt(tp),
    "float": lambda tp, fp, fn, tn: float(tp),
    "round": lambda tp, fp, fn, tn: round(tp / 2),
}


@pytest.mark.parametrize("name", ON_NUMBERS)
def test_a_callable_of_single_numbers_is_told_how_to_take_arrays(name):
    metric = metrics.from_counts(ON_NUMBERS[name], name="mine")
    with pytest.raises(TypeError, match=r"metric 'mine' must work elementwise") as info:
        bestcut.decide([0.2, 0.4, 0.7], metric)
    for cure in ("np.where(test, x, y)", "np.maximum", "np.sqrt", "otypes=[float]"):
        assert cure in str(info.value)
    # What the sentence offers works.
    slow = metrics.from_counts(np.vectorize(ON_NUMBERS[name], otypes=[float]))
    assert np.isfinite(bestcut.decide([0.2, 0.4, 0.7], slow).expected_score)


def test_the_cure_of_a_branch_gives_the_same_metric():
    slow = metrics.from_counts(np.vectorize(branch, otypes=[float]))
    p = np.random.default_rng(0).random(30)
    found, wanted = bestcut.decide(p, slow), bestcut.decide(p, "precision")
    assert found.expected_score == pytest.approx(wanted.expected_score, rel=1e-12)


def test_branches_on_rates_are_told_too():
    metric = metrics.from_rates(lambda tpr, tnr, p: min(tpr, tnr), name="worst")
    with pytest.raises(TypeError, match="metric 'worst' must work elementwise"):
        bestcut.decide([0.2, 0.4, 0.7], metric)


def test_other_mistakes_in_a_callable_are_shown_as_they_are():
    amounts = np.arange(5.0)
    rows = metrics.from_counts(lambda tp, fp, fn, tn: amounts * tp)
    with pytest.raises(ValueError, match=r"broadcast|one value per confusion matrix"):
        bestcut.decide([0.2, 0.4, 0.7], rows)
    total = metrics.from_counts(lambda tp, fp, fn, tn: np.sum(tp))
    with pytest.raises(ValueError, match=r"amounts of each row use `bestcut\.RowUtil"):
        bestcut.decide([0.2, 0.4, 0.7], total)
    typo = metrics.from_counts(lambda tp, fp, fn, tn: tp + "1")
    with pytest.raises(TypeError) as info:
        bestcut.decide([0.2, 0.4, 0.7], typo)
    assert "elementwise" not in str(info.value)


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (metrics.from_counts, "tp, fp, fn, tn"),
        (metrics.from_rates, "tpr, tnr, p"),
        (metrics.from_uvp, "u, v, p"),
    ],
)
def test_a_callable_must_take_what_it_is_given(make, arguments):
    for function in (lambda y_true, y_pred: 1.0, lambda a, b, c, d, e: a):
        with pytest.raises(TypeError, match=rf"arguments \({arguments}\)") as info:
            make(function)
        assert f"Write `lambda {arguments}: ...`" in str(info.value)
    make(lambda *anything: 0.0)

    class Silent:  # which does not tell what it takes, like some written in C
        __signature__ = "none"

        def __call__(self, *given):
            return given[0]

    make(Silent())


def test_counts_in_another_order_are_refused_where_their_names_tell():
    """scikit-learn's ``confusion_matrix(...).ravel()`` begins with tn."""
    with pytest.raises(ValueError, match=r"\(tp, fp, fn, tn\).*take 'tp' for 'tn'"):
        metrics.from_counts(lambda tn, fp, fn, tp: tp / (tp + fp + fn))
    with pytest.raises(ValueError, match="take 'tpr' for 'tnr'"):
        metrics.from_rates(lambda tnr, tpr, p: tpr)
    own = metrics.from_counts(lambda a, b, c, d: a - b)
    assert own(tp=3, n_pred=5, n_pos=4, n=9) == 1.0


# --- families with constants ---------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "c", "d"),
    [
        ("f1", (0, 2, 0, 0), (0, 0, 1, 1)),
        ("f2", [0, 5, 0, 0], [0, 0, 1, 4]),
        (
            "jaccard",
            (0, Fraction(1, 3), 0, 0),
            (0, *[Fraction(x, 3) for x in (-1, 1, 1)]),
        ),
        ("accuracy", (1, 2, -1, -1), (1, 0, 0, 0)),
        ("specificity", (1.0, 1.0, -1.0, -1.0), (1.0, 0.0, 0.0, -1.0)),
    ],
)
def test_the_fractional_linear_family_contains_the_catalogue(name, c, d):
    metric = metrics.FractionalLinear(c=c, d=d)
    np.testing.assert_allclose(
        metric(*COUNTS), metrics.get(name)(*COUNTS), rtol=0, atol=4 * float(EPS)
    )
    assert hash(metric) == hash(metrics.FractionalLinear(c=c, d=d))


@pytest.mark.parametrize(
    ("c", "error", "message"),
    [
        (
            (1, 2, 3),
            ValueError,
            r"`c` must be a tuple of four numbers; got \(1, 2, 3\)",
        ),
        ("1234", ValueError, r"`c` must be a tuple of four numbers; got '1234'"),
        ((1, 2, "3", 4), TypeError, r"`c\[2\]` must be a real number; got '3'"),
        ((1, 2, 3, np.nan), ValueError, r"`c\[3\]` must be finite; got nan"),
    ],
)
def test_bad_coefficients_are_refused(c, error, message):
    with pytest.raises(error, match=message):
        metrics.FractionalLinear(c=c, d=(1, 0, 0, 0))
    with pytest.raises(error, match=message.replace("`c", "`d")):
        metrics.FractionalLinear(c=(1, 0, 0, 0), d=c)


def test_a_linear_utility_sums_the_worth_of_the_cells():
    worth = (100.0, -5.0, -20.5, 0.25)
    metric = metrics.LinearUtility(*worth)
    np.testing.assert_array_equal(metric(*COUNTS), np.array(worth) @ CELLS)


@pytest.mark.parametrize("cell", ["tp", "fp", "fn", "tn"])
def test_a_worth_that_is_no_number_is_refused(cell):
    with pytest.raises(TypeError, match=f"`{cell}` must be a real number; got 'x'"):
        metrics.LinearUtility(**{cell: "x"})
    with pytest.raises(ValueError, match=f"`{cell}` must be finite; got inf"):
        metrics.LinearUtility(**{cell: np.inf})


@settings(max_examples=100, deadline=None)
@given(
    worths=st.tuples(*[st.floats(-1e9, 1e9)] * 4),
    cells=st.tuples(*[st.integers(0, 1000)] * 4),
)
def test_a_linear_utility_is_the_sum_over_its_cells(worths, cells):
    """No worth of an outcome that did not happen leaves its rounding behind."""
    metric = metrics.LinearUtility(*worths)
    tp, fp, fn, _ = cells
    got = metric(tp=tp, n_pred=tp + fp, n_pos=tp + fn, n=sum(cells))
    assert got == metric.psi(*cells)
    exact = sum(Fraction(w) * c for w, c in zip(worths, cells, strict=True))
    terms = sum(abs(w) * c for w, c in zip(worths, cells, strict=True))
    assert abs(Fraction(float(got)) - exact) <= 4 * 2**-52 * Fraction(terms)


def test_a_utility_of_few_outcomes_is_among_the_scores_of_its_distribution():
    metric = metrics.LinearUtility(tp=1e-6, fp=-1e6, fn=-3, tn=0.1)
    assert metric(tp=1, n_pred=1, n_pos=1, n=1) == 1e-6
    score = bestcut.score_distribution([0.5], [1], metric)
    assert score.prob_at_least(metric(tp=1, n_pred=1, n_pos=1, n=1)) == 0.5


@pytest.mark.parametrize(
    "make",
    [
        lambda name: metrics.from_counts(lambda tp, fp, fn, tn: tp, name=name),
        lambda name: metrics.FractionalLinear((1, 0, 0, 0), (1, 1, 0, 0), name=name),
        lambda name: metrics.LinearUtility(tp=1.0, name=name),
        lambda name: bestcut.RowUtility(tp=[1.0], name=name),
    ],
)
def test_a_name_is_text_that_a_message_can_show(make):
    assert make("Präzision [2]").name == "Präzision [2]"
    for name in ("two\nlines", "\x1b[31mred", "\u202eleft"):
        with pytest.raises(ValueError, match=r"`name` must be printable.*Leave out"):
            make(name)
    with pytest.raises(TypeError, match="`name` must be a string; got int"):
        make(3)
