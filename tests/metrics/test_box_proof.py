"""What is proved on boxes of confusion matrices holds for every one in them."""

import numpy as np
import pytest

from bestcut._errors import NotFollowedError
from bestcut.metrics import from_counts, from_expression, from_rates, from_uvp, get
from bestcut.metrics._box_proof import Search, proved_by_boxes, utility_at, utility_in
from bestcut.metrics._enclosure import MOVE
from bestcut.metrics._interval import spread
from bestcut.metrics._moves import KINDS, MORE_AGREEMENT, MORE_TP
from bestcut.metrics._prover import _MOST_BOXES
from groups import slow
from metrics.known import FORMULAS, falls, random_metric


def is_proved(metric, n, moves):
    """Leave everything to boxes: no algebra, and no look at every confusion matrix."""
    budget = _MOST_BOXES // len(moves)
    return all(
        proved_by_boxes(Search(metric, float(n), move, budget), KINDS) for move in moves
    )


@pytest.mark.parametrize("n", [42, 10**4])
@pytest.mark.parametrize(
    "metric",
    [
        *(get(name) for name in ("f1", "jaccard", "gmean", "accuracy", "recall")),
        *(from_expression(text) for text in FORMULAS),
        from_rates(lambda tpr, tnr, p: np.minimum(tpr, tnr) * np.sqrt(p)),
        from_uvp(lambda u, v, p: u**1.5 / (v + p + 0.1)),
        from_counts(lambda tp, fp, fn, tn: np.where(tp > 30, tp / (tp + fp + 1), 0.0)),
        from_counts(lambda tp, fp, fn, tn: np.log1p(tp) - np.log(fp + fn + 1.0)),
        from_counts(lambda tp, fp, fn, tn: np.log(tp), zero_division=-1.0),
        from_counts(lambda tp, fp, fn, tn: np.exp(tp / 1e4) + np.expm1(-fn / 50.0)),
        from_counts(lambda tp, fp, fn, tn: np.tanh((tp - fp) / 50.0)),
    ],
    ids=lambda metric: metric.name,
)
def test_boxes_alone_prove_much(metric, n):
    assert is_proved(metric, n, MORE_TP)


@pytest.mark.parametrize("count", [30, slow(120)])
@pytest.mark.parametrize("moves", [MORE_TP, MORE_AGREEMENT], ids=["tp", "agreement"])
def test_boxes_never_contradict_the_lattice(moves, count):
    rng = np.random.default_rng(2)
    proved = 0
    for _ in range(count):
        metric, n = random_metric(rng), int(rng.integers(30, 61))
        if is_proved(metric, n, moves):
            proved += 1
            assert not falls(metric, n, moves), metric.name
    assert proved > 5


def test_bounds_hold_every_value_and_every_step():
    rng = np.random.default_rng(3)
    n, count = 60.0, 200
    bounded = 0
    for _ in range(40):
        metric = random_metric(rng)
        move = (*MORE_TP, *MORE_AGREEMENT)[rng.integers(5)]
        step = np.array(move, dtype=float)[:, None]
        cells = np.array(rng.multinomial(n, [0.2, 0.3, 0.1, 0.4], count).T, float)
        cells = cells[:, np.all(cells + step >= 0, axis=0)]
        room = rng.integers(0, 4, (2, 4, cells.shape[1]))
        lo, hi = np.maximum(cells - room[0], 0), cells + room[1]
        lo, hi = np.minimum(lo, cells + step), np.maximum(hi, cells + step)
        found = utility_in(Search(metric, n, move, 0), lo, hi)
        (low, high), (least, most) = (
            spread(x, cells.shape[1:]) for x in (found.value, found.slope(MOVE))
        )
        here, there = (utility_at(metric, cells + x, n) for x in (0, step))
        slack = 1e-12 * (1 + np.abs(here) + np.abs(there))
        for value in (here, there):
            assert np.all((low - slack <= value) & (value <= high + slack)), metric.name
        rise = there - here
        assert np.all((least - slack <= rise) & (rise <= most + slack)), metric.name
        bounded += np.mean(np.isfinite(least))
    assert bounded > 20


@pytest.mark.parametrize(
    "formula",
    [
        lambda tp, fp, fn, tn: tp + np.tanh(tp * 1e200 * (fp * 1e200)),
        lambda tp, fp, fn, tn: tp + 0.0 * np.exp(fp * 1e3),
    ],
    ids=["infinity", "zero times infinity"],
)
def test_nothing_is_claimed_beyond_the_largest_float(formula):
    metric = from_counts(formula, zero_division=5e4)
    with pytest.raises(NotFollowedError):
        is_proved(metric, 10**4, MORE_TP)
