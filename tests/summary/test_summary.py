"""The summary's cut is as good as the sweep's, and its bounds hold."""

import pickle
import random
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestcut
from bestcut import ScoreSummary
from bestcut.summary._bins import BINS, bin_of, count_and_moments, geometry
from bestcut.summary._table import BinTable, quick_table

NAMES = bestcut.metrics.names(aliases=False)

KINDS = {
    "spread": lambda rng, n: rng.beta(0.3, 3, n),
    "uniform": lambda rng, n: rng.random(n),
    "mostly positive": lambda rng, n: 1 - rng.beta(0.3, 3, n),
    "rare": lambda rng, n: rng.beta(0.3, 3, n) * min(20 / n, 1.0),
    "confident": lambda rng, n: np.where(
        rng.random(n) < 0.5, 1e-6 * rng.random(n), 1 - 1e-6 * rng.random(n)
    ),
    "all equal": lambda rng, n: np.full(n, rng.random()),
    "two values": lambda rng, n: rng.choice([0.2, 0.7], n),
    "one bin": lambda rng, n: 0.3 + 1e-4 * rng.random(n),
    "neighbours": lambda rng, n: 0.3 + rng.integers(0, 3, n) * np.spacing(0.3),
    "next to 1": lambda rng, n: np.full(n, 1 - 1e-16),
    "denormal": lambda rng, n: rng.integers(0, 5, n) * 5e-324,
    "zeros and ones": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "heavy ties": lambda rng, n: np.round(rng.beta(0.3, 3, n), 1),
    "float32": lambda rng, n: rng.beta(0.3, 3, n).astype(np.float32),
    "a few of everything": lambda rng, n: rng.choice(
        [0.0, 5e-324, 1e-20, 0.1, 0.5, 1 - 2**-53, 1.0, *rng.random(3)], n
    ),
}


def streamed(p, metric, chunks=1, **bounds):
    """Summary, bracket and cut of scores that come in chunks."""
    parts = np.array_split(p, chunks)
    summary = ScoreSummary()
    for part in parts:
        summary.update(part)
    bracket = summary.bracket(metric, **bounds)
    return bracket, bracket.refine(
        np.concatenate([bracket.select(part) for part in parts])
    )


def assert_as_good(p, metric, **bounds):
    """The cut equals the sweep's in value, and everything it says is true."""
    swept = bestcut.decide(p, metric, solver="sweep", **bounds)
    bracket, cut = streamed(p, metric, **bounds)
    labels = cut.labels(p)
    own = bestcut.expected_score(p, labels, metric)
    case = f"{cut!r} of {bracket!r}, sweep {swept!r}"
    assert labels.sum() == cut.n_positive, case
    tolerance = cut.error + swept.error
    assert abs(cut.expected_score - own) <= tolerance, case
    assert abs(cut.expected_score - swept.expected_score) <= tolerance, case
    assert abs(cut.expected_score - swept.expected_score) <= 1e-12, case
    assert bracket.lower_bound <= cut.expected_score <= bracket.upper_bound, case
    if not np.isnan(bracket.threshold):
        rough = bestcut.expected_score(p, p >= bracket.threshold, metric)
        slack = 1e-12 * max(1.0, abs(rough))
        assert bracket.lower_bound - slack <= rough <= bracket.upper_bound + slack, case
    assert bracket.low <= cut.threshold <= bracket.high or cut.n_positive == 0, case
    if cut.n_positive:
        assert cut.threshold == p[labels].min(), case
        assert cut.n_tied == np.sum(p[labels] == cut.threshold), case
    else:
        assert cut.threshold == np.inf, case


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "n",
    [1, 2, 3, 17, 120, *(pytest.param(n, marks=pytest.mark.slow) for n in (350, 2000))],
)
def test_equals_the_sweep(kind, n):
    rng = np.random.default_rng(n)
    p = KINDS[kind](rng, n)
    for name in NAMES:
        assert_as_good(p, name)


@given(
    st.lists(
        st.one_of(
            st.floats(0, 1),
            st.sampled_from([0.0, 1.0, 0.5, 0.25, 5e-324, 1 - 2**-53, 2.0**-64]),
        ),
        max_size=40,
    ),
    st.sampled_from(NAMES),
    st.integers(0, 6),
    st.integers(0, 40),
)
@settings(max_examples=500, deadline=None)
def test_equals_the_sweep_on_anything(values, name, low, room):
    p = np.array(values, dtype=float)
    low = min(low, p.size)
    assert_as_good(p, name, min_positives=low, max_positives=min(low + room, p.size))


@pytest.mark.parametrize("kind", ["spread", "rare", "mostly positive", "heavy ties"])
@pytest.mark.parametrize("name", NAMES)
def test_no_cut_is_above_the_upper_bound(kind, name):
    p = KINDS[kind](np.random.default_rng(7), 500)
    metric = bestcut.metrics.get(name)
    bracket = ScoreSummary.from_scores(p).bracket(metric)
    curve = bestcut.decide(p, metric).curve
    best = (
        curve.expected_score.max()
        if metric.greater_is_better
        else curve.expected_score.min()
    )
    assert bracket.lower_bound <= best + curve.error
    assert bracket.upper_bound >= best - curve.error


@pytest.mark.parametrize("name", NAMES)
def test_the_bounds_leave_little_open(name):
    p = KINDS["spread"](np.random.default_rng(7), 100_000)
    bracket = ScoreSummary.from_scores(p).bracket(name)
    assert bracket.upper_bound - bracket.lower_bound < 1e-4
    assert bracket.n_wanted < 1000


def test_bounds_of_the_number_of_positives():
    p = np.random.default_rng(0).beta(0.3, 3, 5000)
    free = bestcut.decide(p).n_positive
    for low, high in ((0, 10), (0, 0), (free + 100, 5000), (4999, 4999), (50, 60)):
        assert_as_good(p, "f1", min_positives=low, max_positives=high)


def test_any_split_and_order_gives_the_same_cut():
    rng = np.random.default_rng(3)
    p = rng.beta(0.3, 3, 20_000)
    _, whole = streamed(p, "f1")
    for seed in range(5):
        order = random.Random(seed)
        edges = np.sort(rng.integers(0, p.size, 7))
        summaries = [ScoreSummary.from_scores(x) for x in np.split(p, edges)]
        order.shuffle(summaries)
        while len(summaries) > 1:
            first = summaries.pop(order.randrange(len(summaries)))
            second = summaries.pop(order.randrange(len(summaries)))
            summaries.append(first.merge(second))
        merged = summaries[0]
        bracket = merged.bracket("f1")
        scores = bracket.select(p)
        order.shuffle(scores)
        cut = bracket.refine(scores)
        assert merged.n == p.size
        assert (cut.n_positive, cut.threshold) == (whole.n_positive, whole.threshold)
        assert cut.expected_score == pytest.approx(whole.expected_score, abs=1e-15)


def test_a_tie_across_chunks():
    p = np.array([0.9, 0.3, 0.3, 0.1, 0.3, 0.3, 0.05, 0.3] * 30)
    _, cut = streamed(p, "f1", chunks=7, max_positives=80)
    assert 0 < cut.n_tied < np.sum(p == cut.threshold)
    labels, seen = [], 0
    for chunk in np.array_split(p, 7):
        labels.append(cut.labels(chunk, tied_before=seen))
        seen += int(np.sum(chunk == cut.threshold))
    assert np.array_equal(np.concatenate(labels), cut.labels(p))
    assert cut.labels(p).sum() == cut.n_positive
    tied = np.flatnonzero(p == cut.threshold)
    assert np.array_equal(cut.labels(p)[tied], np.arange(tied.size) < cut.n_tied)


@pytest.mark.parametrize("name", ["f1", "jaccard", "gmean", "mcc"])
def test_multiplicities_stand_for_repeated_scores(name):
    values = np.array([0.9, 0.31, 0.3, 0.02])
    counts = np.array([3_000, 400_000, 90_000, 2_000_000])
    p = np.repeat(values, counts)
    summary = ScoreSummary.from_scores(p)
    bracket = summary.bracket(name)
    cut = bracket.refine(values, counts)
    swept = bestcut.decide(p, name, solver="sweep")
    assert cut.expected_score == pytest.approx(
        swept.expected_score, abs=cut.error + swept.error
    )
    assert cut.labels(p).sum() == cut.n_positive


def test_custom_metrics():
    p = np.random.default_rng(1).beta(0.3, 3, 30_000)
    metrics = bestcut.metrics
    for metric in (
        metrics.from_rates(
            lambda tpr, tnr, p: np.sqrt(tpr * tnr), name="mine", smooth=True
        ),
        metrics.from_counts(
            lambda tp, fp, fn, tn: tp / np.sqrt((tp + fp + 1) * (tp + fn + 1)),
            name="mine",
            smooth=True,
        ),
        metrics.LinearUtility(tp=5, fp=-1),
    ):
        assert_as_good(p, metric)
        assert ScoreSummary.from_scores(p).bracket(metric).n_wanted < 3000


def test_what_cannot_be_followed_leaves_nothing_out():
    p = np.random.default_rng(1).beta(0.3, 3, 300)

    def stubborn(tp, fp, fn, tn):
        return np.interp(tp / (tp + fp + fn + 1.0), [0, 1], [0, 1])

    metric = bestcut.metrics.from_counts(stubborn, name="stubborn", smooth=True)
    assert ScoreSummary.from_scores(p).bracket(metric).upper_bound == np.inf
    assert_as_good(p, metric)


def test_a_metric_that_is_not_smooth():
    p = np.random.default_rng(1).beta(0.3, 3, 200)
    metric = bestcut.metrics.from_rates(
        lambda tpr, tnr, p: np.minimum(tpr, tnr), name="worst"
    )
    assert_as_good(p, metric)


def test_metrics_without_the_principle_are_refused():
    bad = bestcut.metrics.from_counts(lambda tp, fp, fn, tn: -tp * fp, name="bad")
    with pytest.raises(bestcut.SolverMismatchError, match="ranking principle"):
        ScoreSummary.from_scores([0.5]).bracket(bad)


def test_law_and_confusion_matrix_of_a_cut():
    p = np.random.default_rng(5).beta(0.3, 3, 30_000)
    _, cut = streamed(p, "f1", chunks=4)
    direct = bestcut.score_distribution(p, cut.labels(p), "f1")
    law = cut.distribution()
    assert law.mean == pytest.approx(direct.mean, abs=1e-13)
    assert law.std == pytest.approx(direct.std, rel=1e-9)
    assert law.interval(0.9) == pytest.approx(direct.interval(0.9), abs=1e-12)
    matrix = bestcut.expected_confusion(p, cut.labels(p)).matrix
    assert np.allclose(cut.confusion().matrix, matrix, rtol=1e-13)
    travelled = pickle.loads(pickle.dumps(cut))
    assert travelled.distribution().interval(0.9) == law.interval(0.9)


def test_decide_takes_the_summary_for_many_scores():
    p = np.random.default_rng(2).beta(0.3, 3, 2_100_000)
    decision, swept = bestcut.decide(p), bestcut.decide(p, solver="sweep")
    assert (decision.solver, swept.solver) == ("summary", "sweep")
    assert decision.n_positive == swept.n_positive
    assert decision.threshold == swept.threshold
    assert np.array_equal(decision.labels, swept.labels)
    assert np.array_equal(decision.curve.threshold, swept.curve.threshold)
    p[:] = 0.0  # the decision has its own copy
    assert decision.curve.threshold[1] > 0.9


@pytest.mark.parametrize("kind", ["all equal", "one bin", "zeros and ones", "rare"])
def test_decide_sorts_where_the_summary_leaves_too_much(kind):
    p = KINDS[kind](np.random.default_rng(2), 40_000)
    for name in ("f1", "mcc"):
        one, other = (
            bestcut.decide(p, name, solver=solver) for solver in ("summary", "sweep")
        )
        assert one.expected_score == pytest.approx(
            other.expected_score, abs=one.error + other.error
        )
        assert one.labels.sum() == one.n_positive


# What a bin keeps


def test_bins_are_ordered_and_hold_what_falls_into_them():
    rng = np.random.default_rng(0)
    edges = [0.0, -0.0, 1.0, 0.5, 5e-324, 2.0**-64, 1 - 2.0**-53, 0.25, 0.75]
    edges += [np.nextafter(x, y) for x in (2.0**-64, 0.5, 0.25) for y in (0, 1)]
    p = np.concatenate([rng.beta(0.3, 3, 3000), 1 - 1e-9 * rng.random(3000), edges])
    shape, key = geometry(), bin_of(p)
    assert np.all((shape.low[key] <= p) & (p <= shape.high[key]))
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(key[order]) >= 0)
    assert key.min() >= 0
    assert key.max() < BINS


@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_laws_of_bins(kind):
    from bestcut.counts._moments import features
    from bestcut.counts._side import ROOM
    from bestcut.counts._window import law_of

    p = np.asarray(KINDS[kind](np.random.default_rng(1), 500), dtype=float)
    table = BinTable(*count_and_moments(p))
    rows = features(p, ROOM)
    wrong = np.abs(table.sums.sum(axis=1) - rows.sum(axis=1))
    # Of degree d the interpolation loses about (d over 5) 2^-49: 5e-12 of the last row.
    lost = np.where(np.arange(ROOM) < 4, 1e-14, 1e-11)
    assert np.all(wrong <= lost * np.abs(rows).sum(axis=1) + 1e-300)
    exact, law = law_of(p), table.law(0, len(table))
    size = max(exact.start + exact.pmf.size, law.start + law.pmf.size)
    both = np.zeros((2, size))
    both[0, exact.start : exact.start + exact.pmf.size] = exact.pmf
    both[1, law.start : law.start + law.pmf.size] = law.pmf
    # The stand-ins are this far from what they stand for; couple the two counts.
    assert np.abs(both[0] - both[1]).sum() / 2 <= table.displacement().sum() + 1e-13


def test_the_quick_table_is_good_enough():
    p = np.random.default_rng(1).beta(0.3, 3, 200_000)
    quick, full = quick_table(p), BinTable(*count_and_moments(p))
    assert np.array_equal(quick.key, full.key)
    above = [np.cumsum(table.sums, axis=1) for table in (quick, full)]
    assert np.allclose(above[0][:2], above[1][:2], rtol=1e-12)
    assert np.allclose(above[0][2], above[1][2], rtol=1e-8)


# Bytes


def payload(n=2000):
    p = np.random.default_rng(0).beta(0.3, 3, n)
    return ScoreSummary.from_scores(p).to_bytes()


def test_bytes_come_back():
    p = np.concatenate([np.random.default_rng(0).beta(0.3, 3, 2000), [0.0, 1.0]])
    summary = ScoreSummary.from_scores(p)
    data = summary.to_bytes()
    again = ScoreSummary.from_bytes(data)
    assert again.to_bytes() == data
    assert again.n == summary.n
    assert again.expected_positives == summary.expected_positives
    assert again.expected_positives == pytest.approx(p.sum(), rel=1e-14)
    for kind in (bytearray(data), memoryview(data)):
        assert ScoreSummary.from_bytes(kind).n == summary.n


def test_bytes_are_few():
    shape = geometry()
    fullest = np.unique(np.concatenate([shape.low, shape.high]))
    assert len(ScoreSummary.from_scores(fullest).to_bytes()) < 2_000_000


def test_every_truncation_is_refused():
    data = payload(50)
    for end in range(len(data)):
        with pytest.raises(ValueError, match="`data` is not a score summary"):
            ScoreSummary.from_bytes(data[:end])


def test_damage_is_refused():
    data = payload(50)
    for i in range(0, len(data), 3):
        broken = bytearray(data)
        broken[i] ^= 0x55
        with pytest.raises(ValueError, match="`data` is not a score summary"):
            ScoreSummary.from_bytes(bytes(broken))


def test_numbers_that_no_scores_have_are_refused_though_the_checksum_is_right():
    header = struct.Struct("<16sHII")
    data = payload(50)
    magic, version, bins, _ = header.unpack_from(data)
    rng = random.Random(0)
    refused = 0
    for _ in range(400):
        body = bytearray(data[header.size :])
        for _ in range(4):
            body[rng.randrange(len(body))] = rng.randrange(256)
        forged = header.pack(magic, version, bins, zlib.crc32(bytes(body))) + body
        try:
            summary = ScoreSummary.from_bytes(bytes(forged))
        except ValueError:
            refused += 1
        else:  # a small change of a moment is believed, and does no harm
            bracket = summary.bracket("f1")
            assert bracket.lower_bound <= bracket.upper_bound
    assert refused > 200


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_anything_else_is_refused(data):
    with pytest.raises(ValueError, match="`data` is not a score summary"):
        ScoreSummary.from_bytes(data)


def test_a_newer_version_is_named():
    data = bytearray(payload(5))
    data[16] = 9
    with pytest.raises(ValueError, match="version 9, and this one reads 1"):
        ScoreSummary.from_bytes(bytes(data))


# Bad input


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda s: s.update([0.5, 1.5]), ValueError, r"y_proba\[1\] = 1.5"),
        (lambda s: s.update("abc"), (TypeError, ValueError), "y_proba"),
        (lambda s: s.merge(3), TypeError, "`other` must be a ScoreSummary"),
        (lambda s: s.from_bytes("x"), TypeError, "`data` must be bytes"),
        (lambda s: s.bracket("f3"), ValueError, "f3"),
        (lambda s: s.bracket("f1", max_positives=-1), ValueError, "max_positives"),
        (lambda s: s.bracket("f1").select([np.nan]), ValueError, "y_proba"),
        (lambda s: s.bracket("f1").refine([]), ValueError, "were given"),
        (lambda s: s.bracket("f1").refine([0.9] * 9), ValueError, "9 were given"),
        (lambda s: s.bracket("f1").refine([0.95]), ValueError, "there were 0"),
        (
            lambda s: s.bracket("f1").refine([0.3], counts=[0.5]),
            ValueError,
            r"counts\[0\] = 0.5",
        ),
        (lambda s: s.bracket("f1").refine([0.3], counts=[1, 2]), ValueError, "counts"),
    ],
)
def test_bad_input(call, error, words):
    summary = ScoreSummary.from_scores([0.9, 0.3, 0.3, 0.05])
    with pytest.raises(error, match=words):
        call(summary)


def test_an_empty_summary():
    bracket, cut = streamed(np.zeros(0), "f1")
    assert (cut.n, cut.n_positive, cut.threshold) == (0, 0, np.inf)
    assert bracket.lower_bound == bracket.upper_bound == cut.expected_score


def test_accepts_what_everything_else_accepts():
    import pandas as pd
    import polars as pl

    values = [0.9, 0.3, 0.3, 0.05]
    fixed = np.array(values)
    fixed.flags.writeable = False
    for column in (values, fixed, pd.Series(values), pl.Series(values)):
        assert ScoreSummary.from_scores(column).to_bytes() == (
            ScoreSummary.from_scores(values).to_bytes()
        )
    assert repr(ScoreSummary.from_scores(values)) == (
        "ScoreSummary(4 scores, 1.55 expected positives)"
    )


def test_groups_are_split_even_if_one_part_has_everything():
    from bestcut.search import CutSearch

    tiny = np.geomspace(1e-9, 1e-12, 200)
    p = np.concatenate([np.full(200_000, 1e-3), tiny])
    table = BinTable(*count_and_moments(p))
    search = CutSearch(table, bestcut.metrics.get("mcc"), 0, p.size)
    for first in (0, 1):
        whole = np.array([first]), np.array([len(table)])
        groups = search._grouped(*whole, 16)
        assert groups.first.size > 1
        assert groups.first[0] == first
        assert groups.last[-1] == len(table)
        assert np.array_equal(groups.first[1:], groups.last[:-1])
