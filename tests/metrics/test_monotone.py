"""A proof that right labels never hurt is never given where they do."""

import numpy as np
import pytest

from bestcut.metrics import (
    BalancedAccuracy,
    FowlkesMallows,
    FractionalLinear,
    GMean,
    LinearUtility,
    _monotone as monotone,
    check_metric,
    from_counts,
    from_expression,
    from_rates,
    from_uvp,
    get,
    names,
)
from bestcut.metrics._algebra_proof import left_by_algebra
from bestcut.metrics._box_proof import bounds_in
from bestcut.metrics._monotone import agreement_never_hurts, tp_never_hurts
from bestcut.metrics._moves import (
    KINDS,
    MORE_AGREEMENT as AGREEMENT,
    MORE_TP as TP,
    utility_at,
)
from bestcut.metrics._traced import Boxes

SIZES = (1, 2, 10, 1000, 10**5, 10**7)
FORMULAS = [
    "tp/(tp+0.3*fp+0.7*fn)",
    "tp/(tp+0.3*fp+0.7*fn) - 0.1*(tp+fp)/(tp+fp+fn+tn)",
    "sqrt(tp*tn)/n",
    "2*tp/(n_pred+n_pos) - 0.1*n_pred/n",
    "tp**0.5/(n_pred+1)",
    "min(tp/n_pos, tn/(fp+tn))",
    "max(tp, 30) - fp",
    "min(tp, tn)/max(n_pred, n_pos)",
]


@pytest.fixture
def by_enclosure(monkeypatch):
    """Leave only the search by enclosures: no algebra, no lattice."""
    everything = lambda metric, move: KINDS  # noqa: E731
    everything.__wrapped__ = everything
    monkeypatch.setattr(monotone, "_LATTICE_N", -1)
    monkeypatch.setattr(monotone, "left_by_algebra", everything)
    monotone._proved.cache_clear()
    yield
    monotone._proved.cache_clear()


def falls(metric, n, moves):
    """Look at the whole lattice."""
    return not monotone._proved_on_lattice(metric, n, moves)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", names())
def test_more_tp_never_hurts_a_catalogue_metric(name, n):
    assert tp_never_hurts(get(name), n)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", names())
def test_agreement_is_proved_where_the_check_finds_it(name, n):
    monotonic = check_metric(name).agreement_monotonic or n == 1
    assert agreement_never_hurts(get(name), n) == monotonic


@pytest.mark.parametrize("n", [42, 1000, 10**6])
@pytest.mark.parametrize("text", FORMULAS)
def test_more_tp_never_hurts_these_formulas(text, n):
    assert tp_never_hurts(from_expression(text), n)


def test_the_verdict_is_about_the_n_that_is_asked_for():
    metric = from_expression("tp*(30-n_pos)/100")
    assert check_metric(metric).tp_nondecreasing
    assert tp_never_hurts(metric, 24)
    assert tp_never_hurts(metric, 30)
    for n in (42, 100, 10**6):
        assert not tp_never_hurts(metric, n)


@pytest.mark.parametrize(
    "metric",
    [
        from_expression("abs(tp-500)"),
        from_expression("-max(tp, 900)"),
        from_expression("sqrt(tp*tn)/n - max(0, tp-990)"),
        # A bump on one confusion matrix in two hundred thousand.
        from_counts(
            lambda tp, fp, fn, tn: tp + np.where((tp == 77) & (fp == 33), 2.0, 0.0)
        ),
        from_counts(lambda tp, fp, fn, tn: tp - np.where(tp**2 > 7e5, 9.0, 0.0)),
        from_counts(lambda tp, fp, fn, tn: np.where(tp > 300, 0.4, tp / 600)),
        LinearUtility(tp=1, fp=1, fn=1),
        FractionalLinear(c=(0, 1, 0, 0), d=(0, 3, -1, -1)),
        # The value in the place of 0/0 is too high, or too low.
        from_expression("-fn/fp", zero_division=-1e9),
        from_expression("0/(fp-1)+tp", zero_division=1e9),
        from_expression("sqrt(fp-500)/n", zero_division=0.0),
        # Past the largest float the score is no number.
        from_expression("tp**2*1e299*1e4", zero_division=-1.0),
    ],
    ids=lambda metric: metric.name,
)
def test_what_may_fall_is_not_proved(metric):
    assert not tp_never_hurts(metric, 1000)


def test_values_in_the_place_of_zero_division_count():
    assert not agreement_never_hurts(FowlkesMallows(zero_division=-0.5), 1000)
    assert agreement_never_hurts(GMean(zero_division=0.5), 10**6)
    assert agreement_never_hurts(BalancedAccuracy(zero_division="drop"), 10**6) == (
        not falls(BalancedAccuracy(zero_division="drop"), 30, AGREEMENT)
    )
    ratio = from_expression("tp**2/n_pred**2", zero_division=-0.1)
    assert tp_never_hurts(ratio, 1000)
    assert not agreement_never_hurts(ratio, 1000)
    assert agreement_never_hurts(from_expression("tp**2/n_pred**2"), 1000)


def test_a_loss_is_turned_round():
    errors = from_counts(
        lambda tp, fp, fn, tn: np.sqrt(fp * fn), greater_is_better=False
    )
    hits = from_counts(lambda tp, fp, fn, tn: np.sqrt(tp * tn), greater_is_better=False)
    assert tp_never_hurts(errors, 10**6)
    assert not tp_never_hurts(hits, 10**6)


def test_a_callable_that_cannot_be_followed_is_decided_on_the_lattice_only():
    metric = from_counts(lambda tp, fp, fn, tn: np.floor(tp / 3), name="thirds")
    assert tp_never_hurts(metric, 40)
    assert agreement_never_hurts(metric, 40)
    assert not tp_never_hurts(metric, 1000)


def test_a_callable_that_cannot_be_hashed_or_evaluated():
    class Unhashable:
        __hash__ = None

        def __call__(self, tp, fp, fn, tn):
            return np.sqrt(tp) - fp

    assert agreement_never_hurts(from_counts(Unhashable()), 1000)
    # It divides by 0 and does not say what that is worth.
    refused = from_counts(lambda tp, fp, fn, tn: np.maximum(tp, 1) / (fp * fn))
    assert not tp_never_hurts(refused, 40)
    assert not tp_never_hurts(refused, 1000)


@pytest.mark.parametrize("n", [42, 10**4])
@pytest.mark.parametrize(
    "metric",
    [
        *(get(name) for name in ("f1", "jaccard", "gmean", "accuracy", "recall")),
        *(from_expression(text) for text in FORMULAS),
        from_rates(lambda tpr, tnr, p: np.minimum(tpr, tnr) * np.sqrt(p)),
        from_uvp(lambda u, v, p: u**1.5 / (v + p + 0.1)),
        from_counts(lambda tp, fp, fn, tn: np.where(tp > 30, tp / (tp + fp + 1), 0.0)),
    ],
    ids=lambda metric: metric.name,
)
@pytest.mark.usefixtures("by_enclosure")
def test_enclosures_alone_prove_much(metric, n):
    assert monotone._proved(metric, n, TP)


def terms(rng):
    """Random parts of formulas, with kinks, steps, roots and divisions by 0."""
    cell = lambda: rng.choice(["tp", "fp", "fn", "tn", "n_pred", "n_pos", "n"])  # noqa: E731
    number = lambda: f"{rng.choice([0.1, 0.5, 1, 2, 7, 20, 33]):g}"  # noqa: E731
    kind = rng.integers(9)
    if kind == 0:
        return f"{number()}*{cell()}/({cell()}+{number()}*{cell()})"
    if kind == 1:
        return f"{cell()}*{cell()}/n"
    if kind == 2:
        return f"sqrt({cell()}*{cell()})"
    if kind == 3:
        return f"min({cell()}, {number()})"
    if kind == 4:
        return f"max({cell()}-{number()}, {cell()}-{number()})"
    if kind == 5:
        return f"abs({cell()}-{number()}*{cell()})"
    if kind == 6:
        return f"{cell()}/max({cell()}-{number()}, 0)"
    if kind == 7:
        return f"sqrt({cell()}-{cell()}-{number()})"
    return f"{number()}*{cell()}"


def random_metric(rng):
    signs = rng.choice(["+", "-"], 3)
    parts = [terms(rng) for _ in range(rng.integers(1, 4))]
    text = "".join(f" {s} {p}" for s, p in zip(signs, parts, strict=False))
    # Some help upwards, so that many of them never fall.
    text += f" + {rng.choice([0, 1, 5])}*tp"
    return from_expression(text, zero_division=float(rng.choice([0.0, -1.0, 3.0])))


@pytest.mark.parametrize("moves", [TP, AGREEMENT], ids=["tp", "agreement"])
def test_algebra_never_contradicts_the_lattice(moves):
    rng = np.random.default_rng(1)
    proved = 0
    for _ in range(120):
        metric, n = random_metric(rng), int(rng.integers(8, 31))
        left = [left_by_algebra(metric, move) for move in moves]
        if not any(left):
            proved += 1
            assert not falls(metric, n, moves), metric.name
    assert proved > 5  # or the test says little


@pytest.mark.parametrize("moves", [TP, AGREEMENT], ids=["tp", "agreement"])
@pytest.mark.usefixtures("by_enclosure")
def test_enclosures_never_contradict_the_lattice(moves):
    rng = np.random.default_rng(2)
    proved = 0
    for _ in range(60):
        metric, n = random_metric(rng), int(rng.integers(30, 61))
        if monotone._proved(metric, n, moves):
            proved += 1
            assert not falls(metric, n, moves), metric.name
    assert proved > 5


def test_bounds_hold_every_value_and_every_step():
    rng = np.random.default_rng(3)
    n, count = 60.0, 200
    for _ in range(40):
        metric = random_metric(rng)
        move = (*TP, *AGREEMENT)[rng.integers(5)]
        step = np.array(move, dtype=float)[:, None]
        cells = np.array(rng.multinomial(n, [0.2, 0.3, 0.1, 0.4], count).T, float)
        cells = cells[:, np.all(cells + step >= 0, axis=0)]
        room = rng.integers(0, 4, (2, 4, cells.shape[1]))
        lo, hi = np.maximum(cells - room[0], 0), cells + room[1]
        lo, hi = np.minimum(lo, cells + step), np.maximum(hi, cells + step)
        found = bounds_in(metric, Boxes(lo, hi, n, move))
        here, there = (utility_at(metric, cells + x, n) for x in (0, step))
        slack = 1e-12 * (1 + np.abs(here) + np.abs(there))
        for value in (here, there):
            inside = (found.low - slack <= value) & (value <= found.high + slack)
            assert np.all(inside | ~found.known), metric.name
        rises = there - here >= found.slope - slack
        assert np.all(rises | ~found.finite), metric.name


def test_a_linear_form_is_enclosed_as_tightly_as_n_allows():
    lo, hi = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[9.0], [8], [7], [9]])
    boxes = Boxes(lo, hi, 20.0, TP[0])
    assert boxes.range_of((1, 1, 1, 1, 0)) == (20.0, 20.0)
    assert boxes.range_of((1, 1, 0, 0, 0)) == (4.0, 15.0)
    low, high = boxes.range_of((2, 0.5, -1, 0, 1))
    every = np.array(np.meshgrid(*(np.arange(a, b + 1) for a, b in zip(lo[:, 0], hi[:, 0], strict=True)))).reshape(4, -1)  # fmt: skip  # noqa: E501
    values = np.array([2, 0.5, -1, 0]) @ every[:, every.sum(axis=0) == 20] + 1
    # Halves are exact in floats, but the bound has room for rounding.
    np.testing.assert_allclose((low[0], high[0]), (values.min(), values.max()))
