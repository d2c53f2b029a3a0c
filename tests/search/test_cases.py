"""Known cases on which a search that is not proved goes wrong."""

import math
from fractions import Fraction

import numpy as np
import pytest

import bestcut
from bestcut.metrics import FractionalLinear, LinearUtility, from_expression
from bestcut.search import CutSearch
from search.known import ExactCuts, assert_promise


def sorted_descending(p):
    return np.ascontiguousarray(np.sort(p)[::-1])


def test_a_bump_between_the_cuts_that_are_looked_at_first():
    p = np.random.default_rng(0).beta(0.5, 2, 20_000)
    metric = from_expression("0.5*tp/n_pos + 1/(1+((n_pred-7000)/100)**2)")
    decision = bestcut.decide(p, metric)
    assert decision.n_positive == 7000
    assert decision.expected_score == pytest.approx(1.3887, abs=1e-4)
    cuts = ExactCuts(sorted_descending(p), [1000, 6990, 6999, 7000, 7001, 7010, 15_000])
    assert_promise(decision, cuts, metric)


def test_a_bump_narrower_than_the_spread_of_the_positives():
    p = np.random.default_rng(0).beta(2, 2, 3000)
    metric = from_expression("1/(1+(n_pred-n_pos)**2)")
    decision = bestcut.decide(p, metric)
    near = decision.n_positive + np.arange(-12, 13)
    cuts = ExactCuts(sorted_descending(p), [*near, *range(0, 3001, 100)])
    assert_promise(decision, cuts, metric)


def test_a_root_that_is_steep_where_nearly_all_positives_are_found():
    p = np.repeat([0.9999, 0.9, 0.0], [5000, 600, 94_400])
    metric = from_expression("tp/n_pred - (fn/n_pos)**0.1")
    decision = bestcut.decide(p, metric)
    assert decision.n_positive == 5600
    assert decision.expected_score == pytest.approx(0.9892, abs=1e-4)
    some = [1, 4000, 4999, 5000, 5001, 5300, 5590, 5599, 5600, 5601, 5610, 6000, 20_000]
    assert_promise(decision, ExactCuts(p, [*some, 100_000]), metric)


@pytest.mark.parametrize("cost", [98765.4321, 1e12])
def test_worths_that_nearly_cancel(cost):
    n = 60_000
    p = 1.0 - np.random.default_rng(0).uniform(0, 0.5, n) / cost
    metric = LinearUtility(tp=1, fp=-cost)
    decision = bestcut.decide(p, metric)
    eta = sorted_descending(p)
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
    eta = sorted_descending(p)
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
    eta = sorted_descending(1.0 - misses)
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


@pytest.mark.parametrize("n", [3000, 20_000])
def test_bumps_that_no_sample_of_scores_sees(n):
    """An even power whose lower end is lost, and so the bound on the score."""
    p = np.random.default_rng(0).beta(0.5, 2, n)
    first, second = {3000: (2382, 993), 20_000: (15_764, 5641)}[n]
    metric = from_expression(
        f"1e-9*tp/n_pos + 1/(1+((n_pred-{first})/9)**4)"
        f" + 2/(1+((n_pred-{second})/2)**4)"
    )
    decision = bestcut.decide(p, metric)
    cuts = [first, second, decision.n_positive]
    assert_promise(decision, ExactCuts(sorted_descending(p), cuts), metric)


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
    tp = sum(map(Fraction, sorted_descending(p)[:k].tolist()))
    c, d = (tuple(map(Fraction, x)) for x in metric.coefficients())
    exact = (c[0] * n + c[1] * tp + c[2] * k) / (d[0] * n + d[2] * k)
    assert abs(Fraction(decision.expected_score) - exact) <= decision.error


@pytest.mark.parametrize("solver", ["summary", "sweep"])
@pytest.mark.parametrize("name", ["recall", "specificity"])
def test_thousands_of_edges_that_tie_are_not_looked_at_one_by_one(
    name, solver, monkeypatch
):
    # Next to one end of the ranking all cuts are worth 1 up to 1e-9.
    looked = []
    look = CutSearch._look

    def counted(self, edges, *rest):
        looked.append(edges.size)
        look(self, edges, *rest)

    monkeypatch.setattr(CutSearch, "_look", counted)
    p = np.random.default_rng(3).beta(0.3, 3, 200_000)
    p = 1.0 - p if name == "specificity" else p
    decision = bestcut.decide(p, name, solver=solver)
    assert sum(looked) < 200
    assert abs(decision.expected_score - 1.0) <= decision.error
    assert decision.error + decision.gap < 1e-11


def test_what_is_stated_of_edges_that_tie_is_true():
    # A bound on any score is of no help here: the plateau is below it.
    metric = from_expression("0.5 * tp / (tp + fn) + 0.25 * n / n", name="plateau")
    p = np.sort(np.random.default_rng(4).beta(0.3, 3, 3000))[::-1]
    decision = bestcut.decide(p, metric)
    values = decision.curve.expected_score
    best = decision.expected_score + 2 * decision.error + decision.gap
    assert values.max() <= best
    assert decision.error + decision.gap < 1e-11
