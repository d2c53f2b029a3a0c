"""UncertainProbabilities: what it takes, what it refuses, and what it tells."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import bestcut
from bestcut import InvalidProbabilityError, UncertainProbabilities

TABLE = np.array([[0.5, 0.25, 0.875], [0.75, 0.0, 1.0]])  # exact in float32 too


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


GIVEN = {
    "an array": TABLE,
    "lists": TABLE.tolist(),
    "tuples": tuple(map(tuple, TABLE.tolist())),
    "float32": TABLE.astype(np.float32),
    "read-only": read_only(TABLE),
    "Fortran order": np.asfortranarray(TABLE),
    "backwards": TABLE[:, ::-1][:, ::-1],
    "pandas": pd.DataFrame(TABLE, columns=list("abc"), index=[7, 3]),
    "polars": pl.DataFrame(TABLE),
}


@pytest.mark.parametrize("name", GIVEN)
def test_draws_come_in_many_forms(name):
    u = UncertainProbabilities(GIVEN[name])
    assert (len(u), u.n_draws) == (3, 2)
    np.testing.assert_array_equal(u.draws(), TABLE)
    np.testing.assert_array_equal(u.mean, TABLE.mean(axis=0))
    np.testing.assert_array_equal(u.std, TABLE.std(axis=0))
    assert u.draws().dtype == np.float64


def test_what_is_given_may_change_afterwards():
    table = TABLE.copy()
    u = UncertainProbabilities(table)
    table[:] = 0.0
    np.testing.assert_array_equal(u.draws(), TABLE)
    u.draws()[:] = 0.0  # a copy
    np.testing.assert_array_equal(u.draws(), TABLE)


@pytest.mark.parametrize("name", ["mean", "std"])
def test_what_it_tells_is_read_only(name):
    values = getattr(UncertainProbabilities(TABLE), name)
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 0.5


@pytest.mark.parametrize(
    ("ends", "shown"),
    [((), [0, 1, 2]), ((1,), [1, 2]), ((0, 2), [0, 1]), ((-1,), [2]), ((2, 1), [])],
    ids=str,
)
def test_some_instances_are_those_of_a_slice(ends, shown):
    found = UncertainProbabilities(TABLE).draws(*ends)
    np.testing.assert_array_equal(found, TABLE[:, shown])
    assert found.shape == (2, len(shown))


SHAPE = (
    r"`draws` must be 2-D, with a row for each draw and a column for each instance; "
    r"got "
)
REFUSED = {
    "a column": (
        [0.5, 0.2],
        ValueError,
        SHAPE + r"shape \(2,\). For a single draw pass",
    ),
    "a number": (0.5, ValueError, SHAPE + r"shape \(\)\.$"),
    "a cube": (np.zeros((2, 2, 2)), ValueError, SHAPE + r"shape \(2, 2, 2\)"),
    "no rows": (np.empty((0, 3)), ValueError, "`draws` must have at least one row"),
    "nothing": ([], ValueError, SHAPE + r"shape \(0,\)"),
    "NaN": ([[0.5, np.nan]], InvalidProbabilityError, r"draws\[0, 1\] = nan"),
    "too large": ([[0.5], [1.5]], InvalidProbabilityError, r"draws\[1, 0\] = 1.5"),
    "negative": ([[-0.1]], InvalidProbabilityError, r"draws\[0, 0\] = -0.1"),
    "infinite": ([[np.inf]], InvalidProbabilityError, r"draws\[0, 0\] = inf"),
    "text": ([["a"]], TypeError, r"`draws` must hold real numbers"),
    "objects": ([[0.5, None]], TypeError, r"with draws\[0, 1\] = None\. Drop or fill"),
    "complex": (TABLE + 0j, TypeError, "`draws` must hold real numbers"),
    "ragged": ([[0.5], [0.5, 0.2]], ValueError, "`draws` .* ragged"),
    "masked": (np.ma.array(TABLE), TypeError, "`draws` must not be a masked array"),
    "draws": (
        UncertainProbabilities(TABLE),
        TypeError,
        "one number for each instance is needed here",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_are_no_draws_is_refused_with_the_first_offender(name):
    draws, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        UncertainProbabilities(draws)


U = UncertainProbabilities(TABLE)
KNOWN_ONLY = {
    "empirical_threshold": lambda: bestcut.empirical_threshold([0, 1, 0], U),
    "calibrate": lambda: bestcut.calibrate([0, 1, 0], U),
    "from a list": lambda: bestcut.decide([U, U]),
    "counts": lambda: bestcut.counts.poisson_binomial(U),
    "NumPy": lambda: np.asarray(U),
}


@pytest.mark.parametrize("name", KNOWN_ONLY)
def test_where_known_probabilities_are_wanted_the_way_out_is_named(name):
    with pytest.raises(TypeError, match=r"Pass `\.mean` to treat the mean"):
        KNOWN_ONLY[name]()


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ([[0.5]], "UncertainProbabilities(1 instance, 1 draw, one ranking)"),
        (TABLE, "UncertainProbabilities(3 instances, 2 draws, one ranking)"),
        (
            [[0.5, 0.25], [0.25, 0.5]],
            "UncertainProbabilities(2 instances, 2 draws, several rankings)",
        ),
        (np.empty((4, 0)), "UncertainProbabilities(0 instances, 4 draws, one ranking)"),
    ],
    ids=str,
)
def test_it_says_what_it_holds(table, text):
    assert repr(UncertainProbabilities(table)) == text


def test_draws_rank_alike_if_some_order_suits_all():
    assert UncertainProbabilities([[0.5, 0.5, 0.1], [0.9, 0.2, 0.2]]).one_ranking
    assert not UncertainProbabilities([[0.5, 0.4], [0.1, 0.4]]).one_ranking


def test_it_is_equal_to_itself_only_and_can_be_a_key():
    other = UncertainProbabilities(TABLE)
    assert U == U
    assert other != U
    assert len({U, other, U}) == 2


def calibrated():
    rng = np.random.default_rng(0)
    scores = rng.random(60)
    calibration = bestcut.calibrate(rng.random(60) < scores, scores, n_draws=20)
    return calibration(rng.uniform(*calibration.score_range, 15))


COPIES = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "deepcopy": copy.deepcopy}
MADE = {
    "listed": lambda: UncertainProbabilities(TABLE),
    "mapped": calibrated,
    "several rankings": lambda: UncertainProbabilities([[0.5, 0.25], [0.25, 0.5]]),
    "one draw": lambda: UncertainProbabilities(TABLE[:1]),
    "no instances": lambda: UncertainProbabilities(np.empty((3, 0))),
}


@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("made", MADE)
def test_a_copy_is_as_good(made, how, used):
    u = MADE[made]()
    decision = bestcut.decide(u, "f1")
    if used:
        repr(u), u.mean, u.std, decision.curve, decision.distribution().mean
    v, again = COPIES[how]((u, decision))
    assert repr(v) == repr(u)
    np.testing.assert_array_equal(v.draws(), u.draws())
    np.testing.assert_array_equal(v.std, u.std)
    assert repr(again) == repr(decision)
    np.testing.assert_array_equal(again.labels, decision.labels)
    np.testing.assert_array_equal(
        again.curve.expected_score, decision.curve.expected_score
    )
    assert again.distribution().interval() == decision.distribution().interval()
    assert again.confusion().mean == decision.confusion().mean


# --- one draw, and draws that agree ---------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("metric", ["f1", "jaccard", "mcc", "accuracy"])
@pytest.mark.parametrize("n", [0, 1, 5, 40])
def test_draws_that_agree_are_known_probabilities(n, metric, count):
    p = np.random.default_rng(n).random(n)
    u = UncertainProbabilities(np.tile(p, (count, 1)))
    np.testing.assert_array_equal(u.mean, p)
    np.testing.assert_array_equal(u.std, np.zeros(n))
    drawn, known = bestcut.decide(u, metric), bestcut.decide(p, metric)
    assert drawn.expected_score == pytest.approx(known.expected_score, abs=1e-12)
    labels = known.labels
    laws = [bestcut.score_distribution(x, labels, metric) for x in (u, p)]
    assert laws[0].mean == pytest.approx(laws[1].mean, abs=1e-12)
    assert laws[0].std == pytest.approx(laws[1].std, abs=1e-9)
    assert laws[0].std_calibration == pytest.approx(0.0, abs=1e-12)
    assert laws[0].interval() == pytest.approx(laws[1].interval(), abs=1e-12)


PROBABILITIES = st.floats(0.0, 1.0) | st.sampled_from([0.0, 1.0, 0.5, 1e-300, 1e-17])
SHAPES = st.tuples(st.integers(1, 6), st.integers(0, 9))


@settings(deadline=None, max_examples=60)
@given(arrays(np.float64, SHAPES, elements=PROBABILITIES))
def test_mean_and_spread_are_those_of_the_draws(table):
    u = UncertainProbabilities(table)
    np.testing.assert_allclose(u.mean, table.mean(axis=0), rtol=0, atol=1e-15)
    np.testing.assert_allclose(u.std, table.std(axis=0), rtol=0, atol=1e-15)
    assert np.all((u.mean >= 0.0) & (u.mean <= 1.0))
    np.testing.assert_array_equal(u.draws(), table)


def test_a_map_between_knots_has_the_mean_and_spread_of_its_draws():
    u = calibrated()
    np.testing.assert_allclose(u.mean, u.draws().mean(axis=0), rtol=0, atol=1e-14)
    # A variance is a difference of sums of squares of at most 1: 1e-15, and its root.
    np.testing.assert_allclose(u.std, u.draws().std(axis=0), rtol=0, atol=1e-7)
    assert u.one_ranking
