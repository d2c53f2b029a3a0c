"""Calibration says what labels say and how surely, whatever the scores look like."""

import pickle
import random
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestcut import Calibration, calibrate
from bestcut.calibration._posterior import MOST_KNOTS, cells_of, nondecreasing

METHODS = ["auto", "process", "projection", "spline"]


def labelled(m=300, seed=0):
    """Return labels and scores of which the right map is the square."""
    rng = np.random.default_rng(seed)
    scores = rng.random(m)
    return rng.random(m) < scores**2, scores


def parts(calibration):
    """Return the knots, and each draw's probabilities at them."""
    told = calibration.to_dict()
    return np.array(told["knots"]), np.array(told["values"])


def assert_maps(calibration, n_draws=200):
    knots, values = parts(calibration)
    assert values.shape == (n_draws, knots.size)
    assert knots.size <= MOST_KNOTS
    assert np.all(np.isfinite(knots))
    assert np.all(np.diff(knots) > 0)
    assert np.all(np.diff(values, axis=1) >= 0)
    assert values.min() > 0
    assert values.max() < 1


# --- what a calibration is -----------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_every_map_is_nondecreasing_and_inside_0_and_1(method, data):
    some = st.one_of(
        st.sampled_from([0.0, -0.0, 1.0, 0.5, 5e-324, 1 - 2**-53, -3.0, 40.0]),
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(0, 1),
    )
    scores = data.draw(st.lists(some, min_size=1, max_size=30))
    m = len(scores)
    labels = data.draw(st.lists(st.booleans(), min_size=m, max_size=m))
    calibration = calibrate(labels, scores, method=method, n_draws=20)
    assert_maps(calibration, 20)
    places = np.sort(np.array(scores))
    drawn = calibration.probabilities(places)
    assert np.all(np.diff(drawn, axis=1) >= 0)
    assert np.all((drawn > 0) & (drawn < 1))


@pytest.mark.parametrize("method", METHODS)
def test_equal_seeds_give_equal_maps_and_the_order_of_rows_does_not_matter(method):
    labels, scores = labelled(60)
    one = calibrate(labels, scores, method=method)
    order = np.random.default_rng(1).permutation(labels.size)
    for y, s in ((labels, scores), (labels[order], scores[order])):
        again = calibrate(y, s, method=method)
        assert again.to_bytes() == one.to_bytes()
    other = calibrate(labels, scores, method=method, random_state=1)
    assert not np.array_equal(parts(other)[1], parts(one)[1])


def test_facts():
    labels, scores = labelled()
    calibration = calibrate(labels, scores, n_draws=50)
    assert calibration.n_labelled == 300
    assert calibration.n_positive == labels.sum()
    assert calibration.n_draws == 50
    assert calibration.method == "auto"
    assert calibration.score_range == (scores.min(), scores.max())
    words = repr(calibration)
    assert words.startswith(f"Calibration(300 labels, {labels.sum()} positive; scores")
    assert "50 maps" in words
    public = {name for name in dir(calibration) if not name.startswith("_")}
    assert public == {
        *("n_labelled", "n_positive", "n_draws", "method", "score_range"),
        *("probabilities", "table", "to_dict", "from_dict", "to_bytes", "from_bytes"),
    }


def test_maps_are_linear_between_knots_and_constant_beyond():
    labels, scores = labelled(40)
    calibration = calibrate(labels, scores)
    rng = np.random.default_rng(0)
    new = np.concatenate([rng.random(200), [0.0, 1.0], scores])
    u = calibration._coordinates(new)
    knots, values = parts(calibration)
    for row, at_knots in zip(calibration.probabilities(new), values, strict=True):
        expected = np.interp(u, knots, at_knots)
        # Both interpolate numbers of at most 1 in a few operations.
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-14)
    ends = calibration.probabilities([0.0, 1.0], slice(5))
    assert np.array_equal(ends, values[:5, [0, -1]])


def odd_scores(kind):
    rng = np.random.default_rng(0)
    return {
        "even": lambda: rng.random(300),
        "far out": lambda: np.concatenate(
            [[0.0, 1.0, 1e-300, 1e-12, 1 - 1e-15], rng.beta(0.05, 0.1, 300)]
        ),
        "rare": lambda: rng.beta(0.3, 3.0, 3000),
        "two": lambda: np.array([0.2, 0.7]),
        "one": lambda: np.array([0.3, 0.3]),
        "margins": lambda: 5 * rng.normal(size=300),
    }[kind]()


@pytest.mark.parametrize("kind", ["even", "far out", "rare", "two", "one", "margins"])
def test_between_the_rows_of_a_table_the_mean_of_the_draws_is_a_line(kind):
    scores = odd_scores(kind)
    rng = np.random.default_rng(1)
    inside = scores.min() >= 0.0
    low, high = (0.0, 1.0) if inside else (-40.0, 40.0)
    calibration = calibrate(rng.random(scores.size) < 0.4, scores, n_draws=20)
    table = calibration.table()
    s, p = (table[name].to_numpy() for name in ("score", "p"))
    assert np.all(np.diff(s) > 0)
    assert np.all(np.diff(p) >= 0)
    beside = [np.nextafter(s, -50), np.nextafter(s, 50), (s[1:] + s[:-1]) / 2]
    wide = [rng.uniform(low, high, 20_000), scores]
    if inside:
        wide.append(rng.beta(0.05, 0.05, 20_000))
    new = np.clip(np.concatenate([*beside, *wide, [low, high]]), low, high)
    new = new[(new <= 0) | (new >= np.finfo(float).tiny)] if inside else new
    # np.interp is constant beyond the ends, as the table is to be read.
    off = np.abs(np.interp(new, s, p) - calibration._silently(new).mean)
    assert off.max() <= 1e-6


def test_more_labels_say_more():
    spreads = []
    for m in (10, 100, 1000):
        calibration = calibrate(*labelled(m))
        spreads.append(calibration.probabilities([0.5]).std())
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[0] > 2 * spreads[-1]


# --- what it says --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "right", "seeds"),
    [
        (60, lambda s: s**2, 10),
        pytest.param(1000, lambda s: s**2, 30, marks=pytest.mark.slow),
        pytest.param(
            1000, lambda s: 0.02 + 0.3 * (s > 0.65), 30, marks=pytest.mark.slow
        ),
    ],
    ids=["few", "smooth", "a step"],
)
def test_pointwise_intervals_hold_about_as_often_as_they_say(m, right, seeds):
    # Not where the step is: no nondecreasing map is known there.
    places = np.delete(np.linspace(0.05, 0.95, 19), [11, 12, 13])
    held = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        scores = rng.random(m)
        labels = rng.random(m) < right(scores)
        drawn = calibrate(labels, scores).probabilities(places)
        low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
        held.append((low <= right(places)) & (right(places) <= high))
    # 16 statements of a seed, which are not independent.
    assert 0.8 <= np.mean(held) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("m", [50, 300, 3000])
def test_the_expected_number_of_positives_is_covered(m):
    held = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        logits = rng.normal(-1, 2, m + 500)
        p = 1 / (1 + np.exp(-logits))
        labels = rng.random(m) < p[:m]
        calibration = calibrate(labels, 3 * logits[:m] + 1)
        total = calibration.probabilities(3 * logits[m:] + 1).sum(axis=1)
        low, high = np.quantile(total, [0.05, 0.95])
        held.append(low <= p[m:].sum() <= high)
    # 40 statements of 90%: four standard deviations below are 0.71. More may hold,
    # as drift is allowed for and there is none.
    assert np.mean(held) >= 0.71


def test_labels_of_one_class_leave_much_open_and_nothing_certain():
    for m in (1, 5, 100):
        for label in (0, 1):
            scores = np.linspace(0.1, 0.9, m) if m > 1 else [0.5]
            drawn = calibrate([label] * m, scores).probabilities([0.5])
            seen = drawn if label == 0 else 1 - drawn
            assert 0 < seen.mean() < 0.5
            assert np.quantile(seen, 0.95) > 0.5 / m
    top = calibrate([0] * 5, [0.1, 0.2, 0.3, 0.4, 0.5]).probabilities([0.5])
    assert np.quantile(top, 0.95) - np.quantile(top, 0.05) > 0.2


# --- hostile scores ------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        ([1], [0.3]),
        ([0, 1], [0.3, 0.3]),
        ([0, 1], [0.0, 1.0]),
        ([0, 0, 1, 1, 1], [0.0, 0.0, 0.0, 1.0, 1.0]),
        ([0, 1, 0], [-3.0, 40.0, 2.0]),
        ([0, 1, 0], [-1e308, 1e308, 2.0]),
        ([0, 1, 1, 0, 1], [0.0, 5e-324, 1e-323, 1.0, 1 - 2**-53]),
        (np.arange(100) >= 50, np.arange(100) / 100),
        (np.arange(100) < 50, np.arange(100) / 100),
        (np.arange(600) < 300, np.arange(600) / 600),
        (np.arange(100) % 2, np.full(100, 0.5)),
        (np.arange(50) % 3 == 0, 1e9 + 1e-7 * np.arange(50)),
        (np.arange(50) % 3 == 0, np.arange(50) * 1e-310),
    ],
    ids=lambda value: None if len(value) > 9 else str(value),
)
@pytest.mark.filterwarnings("ignore:none of .* positives is among the")
def test_odd_scores_have_maps(labels, scores, method):
    assert_maps(calibrate(labels, scores, method=method))


def test_a_shifted_or_stretched_score_gives_the_same_probabilities():
    labels, scores = labelled(60)
    logits = np.log(scores / (1 - scores))
    one, two = calibrate(labels, logits), calibrate(labels, 8 * logits - 64)
    a = one.probabilities(logits).mean(axis=0)
    b = two.probabilities(8 * logits - 64).mean(axis=0)
    # The same up to the rounding of places, which no draw magnifies to this.
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: calibrate([], []), ValueError, "`y_true` must hold at least one"),
        (
            lambda: calibrate([0, 1], [0.1, np.nan]),
            ValueError,
            r"scores\[1\] = nan",
        ),
        (
            lambda: calibrate([0, 1], [np.inf, 0.2]),
            ValueError,
            r"`scores` must be finite; got scores\[0\] = inf \(1 of 2 entries\)",
        ),
        (lambda: calibrate([0, 2], [0.1, 0.2]), ValueError, r"y_true\[1\] = 2"),
        (lambda: calibrate(["a", "b"], [0.1, 0.2]), TypeError, "`y_true`.*0 and 1"),
        (lambda: calibrate([0], [0.1, 0.2]), ValueError, "`y_true`.*`scores`"),
        (lambda: calibrate([0, 1], [[0.1, 0.2]]), ValueError, "`scores` must be 1-D"),
        (
            lambda: calibrate([0], [0.1], method="splines"),
            ValueError,
            "Did you mean 'spline'",
        ),
        (lambda: calibrate([0], [0.1], n_draws=0), ValueError, "`n_draws`.*Pass 200"),
        (lambda: calibrate([0], [0.1], n_draws=10**6), ValueError, "at most 100000"),
        (lambda: calibrate([0], [0.1], n_draws=2.5), TypeError, "`n_draws`"),
        (
            lambda: calibrate([0], [0.1], random_state=-1),
            ValueError,
            "`random_state` must not be negative",
        ),
        (
            lambda: calibrate([0], [0.1]).probabilities([-np.inf]),
            ValueError,
            r"scores\[0\] = -inf",
        ),
        (lambda: Calibration.from_bytes("x"), TypeError, "`data` must be bytes"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_accepts_what_everything_else_accepts():
    import pandas as pd
    import polars as pl

    labels, scores = [0, 1, 0, 1], [0.125, 0.75, 0.25, 0.5]
    expected = calibrate(labels, scores).to_bytes()
    fixed, kept = np.array(scores), np.array(labels)
    fixed.flags.writeable = kept.flags.writeable = False
    for column in (fixed, fixed.astype(np.float32), pd.Series(scores), tuple(scores)):
        assert calibrate(kept, column).to_bytes() == expected
    frame = pl.Series(labels), pl.Series(scores)
    assert calibrate(*frame).to_bytes() == expected
    assert fixed.tolist() == scores


# --- as bytes ------------------------------------------------------------------------


def payload():
    return calibrate([0, 1, 0, 1, 1], [0.1, 0.6, 0.4, 0.9, 0.9], n_draws=3).to_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_bytes_and_pickles_come_back(method):
    labels, scores = labelled(60)
    for s in (scores, 10 * scores - 3):
        calibration = calibrate(labels, s, method=method)
        data = calibration.to_bytes()
        again = Calibration.from_bytes(data)
        pickled = pickle.loads(pickle.dumps(calibration))
        for other in (again, pickled, Calibration.from_bytes(memoryview(data))):
            assert other.to_bytes() == data
            assert repr(other) == repr(calibration)
            assert np.array_equal(other.probabilities(s), calibration.probabilities(s))
            assert other.score_range == calibration.score_range


def test_what_is_stored_does_not_grow_with_the_labels_without_end():
    labels, scores = labelled(500)
    assert np.unique(scores).size == 500

    def numbers(m):
        return len(calibrate(labels[:m], scores[:m], n_draws=3).to_bytes()) // 8

    small = numbers(100)
    assert numbers(400) - small == 300 * (3 + 1)  # places, and values of each draw
    assert numbers(500) <= numbers(400)


# What version 1 stored of calibrate([0, 1], [-1, 4], n_draws=1).
STORED = bytes.fromhex(
    "626573746375742e63616c6962722e000100013fd38b00010200000000000000010000000000"
    "00000100000002000000000000000000f0bf0000000000001040000000000000f0bf00000000"
    "0000104038eb1094c30caa3f3d8bd1f20e6ee43f"
)


def test_the_stored_form_stays_as_it_is():
    again = Calibration.from_bytes(STORED)
    assert again.to_bytes() == STORED
    assert (again.method, again.n_labelled, again.n_positive) == ("auto", 2, 1)
    assert again.score_range == (-1.0, 4.0)
    knots, values = parts(again)
    assert knots.tolist() == [-1.0, 4.0]
    assert values.tolist() == [
        [float.fromhex("0x1.a0cc39410eb38p-5"), float.fromhex("0x1.46e0ef2d18b3dp-1")]
    ]


def test_every_truncation_is_refused():
    data = payload()
    for end in range(len(data)):
        with pytest.raises(ValueError, match="`data` is not a calibration"):
            Calibration.from_bytes(data[:end])


def test_damage_is_refused():
    data = payload()
    for i in range(len(data)):
        broken = bytearray(data)
        broken[i] ^= 0x55
        with pytest.raises(ValueError, match="`data` is not a calibration"):
            Calibration.from_bytes(bytes(broken))


def test_numbers_that_no_maps_have_are_refused_though_the_checksum_is_right():
    header = struct.Struct("<16sHI")
    data = payload()
    magic, version, _ = header.unpack_from(data)
    rng = random.Random(0)
    refused = 0
    for _ in range(400):
        body = bytearray(data[header.size :])
        for _ in range(4):
            body[rng.randrange(len(body))] = rng.randrange(256)
        forged = header.pack(magic, version, zlib.crc32(bytes(body))) + body
        try:
            calibration = Calibration.from_bytes(bytes(forged))
        except ValueError:
            refused += 1
        else:  # a small change of a value is believed, and does no harm
            drawn = calibration.probabilities([0.0, 0.3, 0.5, 1.0])
            assert np.all(np.diff(drawn, axis=1) >= 0)
            assert np.all((drawn >= 0) & (drawn <= 1))
    assert refused > 200


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_anything_else_is_refused(data):
    with pytest.raises(ValueError, match="`data` is not a calibration"):
        Calibration.from_bytes(data)


def test_a_newer_version_is_named():
    data = bytearray(payload())
    data[16] = 9
    with pytest.raises(ValueError, match="version 9, but only 1 can be read"):
        Calibration.from_bytes(bytes(data))


# --- parts ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 30, 150, 400])
def test_nearest_nondecreasing_rows_are_those_of_scikit_learn(n):
    from sklearn.isotonic import isotonic_regression

    rng = np.random.default_rng(n)
    values = np.linspace(0, 1, n) + rng.normal(size=(5, n))
    weights = rng.integers(1, 9, size=(5, n)) * 1.0
    values[1] = np.sort(values[1])
    values[2] = -np.sort(values[2])
    rows = nondecreasing(values, weights)
    for row, v, w in zip(rows, values, weights, strict=True):
        expected = isotonic_regression(v, sample_weight=w)
        # Means of at most 400 numbers of size 5, from differences of cumulated sums.
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-10)
    assert np.all(np.diff(rows, axis=1) >= 0)


def test_cells_hold_every_label_and_part_no_equal_scores():
    rng = np.random.default_rng(0)
    u = np.concatenate([rng.normal(size=5000), np.zeros(3000), np.ones(10)])
    labels = rng.random(u.size) < 0.1
    cells = cells_of(u, labels)
    assert cells.u.size <= 1200
    assert np.all(np.diff(cells.u) > 0)
    assert cells.count.sum() == u.size
    assert cells.positive.sum() == labels.sum()
    assert cells.count.max() >= 3000
    few = cells_of(np.array([2.0, 1.0, 2.0]), np.array([True, False, False]))
    assert few.u.tolist() == [1.0, 2.0]
    assert few.count.tolist() == [1.0, 2.0]
    assert few.positive.tolist() == [0.0, 1.0]


@pytest.mark.slow
def test_ten_million_labels():
    rng = np.random.default_rng(0)
    scores = rng.random(10_000_000)
    calibration = calibrate(rng.random(scores.size) < scores**2, scores)
    assert_maps(calibration)
    drawn = calibration.probabilities([0.2, 0.5, 0.9])
    # What is left is drift: 4% of log-odds.
    np.testing.assert_allclose(drawn.mean(axis=0), [0.04, 0.25, 0.81], rtol=0.05)
