"""Values hold where terms nearly cancel."""

import math
from fractions import Fraction

import numpy as np
import pytest

import bestcut
from bestcut.metrics import FractionalLinear, LinearUtility, from_expression
from groups import slow
from helpers import descending
from search.known import ExactCuts, assert_promise


@pytest.mark.parametrize("n", [8_000, slow(60_000)])
@pytest.mark.parametrize("cost", [98765.4321, 1e12])
def test_worths_that_nearly_cancel(cost, n):
    p = 1.0 - np.random.default_rng(0).uniform(0, 0.5, n) / cost
    metric = LinearUtility(tp=1, fp=-cost)
    decision = bestcut.decide(p, metric)
    eta = descending(p)
    # An exact sum of exact products: eta - cost (1 - eta) for each.
    worth = [Fraction(x) - Fraction(cost) * (1 - Fraction(x)) for x in eta.tolist()]
    scale, sums = 2**200, [0]
    for one in worth:
        whole = one * scale
        assert whole.denominator == 1
        sums.append(sums[-1] + whole.numerator)
    exact = Fraction(sums[decision.n_positive], scale)
    error, gap = Fraction(decision.error), Fraction(decision.gap)
    value = Fraction(decision.expected_score)
    assert abs(value - exact) <= error
    assert Fraction(max(sums), scale) <= value + error + gap
    curve = decision.curve
    off = max(
        abs(Fraction(x) - Fraction(y, scale))
        for x, y in zip(curve.expected_score.tolist(), sums, strict=True)
    )
    assert off <= Fraction(curve.error)


@pytest.mark.parametrize("seed", [0, 1])
def test_balanced_accuracy_where_a_negative_is_unlikely(seed):
    n = 28_310
    rng = np.random.default_rng(seed)
    misses = rng.random(n) ** (1, 20)[seed]
    misses *= 0.2 / math.fsum(misses)
    p = 1.0 - misses
    metric = bestcut.metrics.get("balanced_accuracy")
    decision = bestcut.decide(p, metric)
    eta = descending(p)
    k = decision.n_positive
    # Near either end, in the middle, where the sum changes sides, and around the best.
    some = [0, 1, 2, 3, 100, 5000, n // 4, n // 2 - 1, n // 2, n // 2 + 1, 20_000]
    some += [n - 5000, n - 1000, n - 100, n - 10, n - 3, n - 2, n - 1, n]
    some += [max(k - 1, 0), k, min(k + 1, n)]
    cuts = ExactCuts(eta, some)
    assert_promise(decision, cuts, metric)
    curve = decision.curve
    scores, rounding = cuts.scores(metric)
    off = np.abs(curve.expected_score[cuts.cuts] - scores)
    assert np.all(off <= curve.error + rounding), (off.max(), curve.error)


def test_balanced_accuracy_at_every_cut_where_a_negative_is_unlikely():
    """The laws are those of no negative, of one and of two; more do not matter."""
    n = 28_310
    misses = np.random.default_rng(2).random(n) ** 4
    misses *= 0.2 / math.fsum(misses)
    eta = descending(1.0 - misses)
    metric = bestcut.metrics.get("balanced_accuracy")
    decision = bestcut.decide(eta, metric)
    cuts = np.arange(n + 1.0)
    # Rows: laws of 0, 1, ..., 11 negatives above every cut, and below.
    above, below = (_laws_of_few(1.0 - x) for x in (eta, eta[::-1]))
    below = below[:, ::-1]
    exact = np.zeros(n + 1, dtype=np.longdouble)
    for i in range(above.shape[0]):
        for j in range(below.shape[0]):
            fp, tn = np.minimum(i, cuts), np.minimum(j, n - cuts)
            score = metric.score_cells(cuts - fp, fp, n - cuts - tn, tn)
            exact += above[i] * below[j] * score
    off = np.abs(decision.curve.expected_score - exact.astype(float))
    assert off.max() <= decision.curve.error + 1e-15
    best = float(exact.max())
    assert best <= decision.expected_score + decision.error + decision.gap + 1e-15


def _laws_of_few(chance, most=12):
    """Return the chances of 0, 1, ..., most - 1 events after every number of trials."""
    out = np.zeros((most, chance.size + 1), dtype=np.longdouble)
    out[0, 0] = 1
    for k, c in enumerate(chance.astype(np.longdouble)):
        out[:, k + 1] = out[:, k] * (1 - c)
        out[1:, k + 1] += out[:-1, k] * c
    return out


@pytest.mark.parametrize(
    ("metric", "n"),
    [
        (from_expression("tp/(1.000001*n - n_pred)"), 1000),
        (from_expression("tp/(1.0001*n - n_pred)"), 26),
        (FractionalLinear(c=(0, 1, 0, 0), d=(0.3, 0, -0.3, 0)), 29_000),
    ],
    ids=["near a pole", "near a pole, few", "at a pole"],
)
def test_denominators_that_nearly_cancel(metric, n):
    p = np.random.default_rng(0).random(n) ** 0.2
    decision = bestcut.decide(p, metric)
    k = decision.n_positive
    tp = sum(map(Fraction, descending(p)[:k].tolist()))
    c, d = (tuple(map(Fraction, x)) for x in metric.coefficients())
    exact = (c[0] * n + c[1] * tp + c[2] * k) / (d[0] * n + d[2] * k)
    assert abs(Fraction(decision.expected_score) - exact) <= decision.error
