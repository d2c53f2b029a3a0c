"""Decisions over draws, by enumeration of all predictions and all labels.

Small batches of every kind: none, one, certain, tied, ranked alike or not.
"""

from itertools import product

import numpy as np
import pytest

import bestcut
from bestcut import InfeasibleError, UncertainProbabilities, decide, goals
from bestcut.goals import Certain
from bestcut.metrics import from_counts, from_rates, get
from groups import one_in

METRICS = [
    *("f1", "mcc", "gmean", "precision", "cohen_kappa", "squared_count_error"),
    from_counts(lambda tp, fp, fn, tn: tp - 0.3 * (tp + fp) ** 2, "quadratic"),
    from_counts(lambda tp, fp, fn, tn: tp - 2 * np.abs(tp + fp - 3.0), "about three"),
    from_counts(
        lambda tp, fp, fn, tn: 1.0 * (tp >= 0.6 * (tp + fn)) - 0.1 * fp / (fp + tn + 1),
        "steps",
    ),
    from_rates(lambda tpr, tnr, prevalence: tpr**2 + tnr, "squared rate"),
]


def tables():
    rng = np.random.default_rng(0)
    ranked = np.sort(rng.random((3, 5)), axis=1)[:, [3, 0, 4, 1, 2]]
    yield "none", np.empty((2, 0))
    yield "one instance", rng.random((4, 1))
    yield "one draw", rng.random((1, 5))
    yield "one ranking", ranked
    yield "several rankings", rng.random((3, 5))
    yield "ties", np.repeat(rng.random((3, 1)), 5, axis=1)
    yield "all 0", np.zeros((2, 4))
    yield "all 1", np.ones((2, 4))
    yield "certain in some", rng.choice([0.0, 0.25, 0.5, 1.0], size=(3, 5))
    yield "tiny", rng.random((2, 5)) * 10.0 ** -rng.integers(0, 18, size=(2, 5))


TABLES = dict(tables())
each_table = pytest.mark.parametrize("kind", TABLES)
each_table_and_metric = one_in(
    2, "metric, kind", {get(m).name: m for m in METRICS}, list(TABLES)
)
ATOL = 1e-12  # sums of 32 products of five probabilities and a score of at most 25


class Enumerated:
    """Every prediction with the law of its utility, in the mean over draws."""

    def __init__(self, table, metric):
        n = table.shape[1]
        every = np.array(list(product((0, 1), repeat=n))).reshape(2**n, n)
        chance = [np.where(every, p, 1 - p).prod(axis=1) for p in table]
        self.mass = np.mean(chance, axis=0)
        self.utility = {}
        self.sign = get(metric).sign
        for s in every:
            tp = (every * s).sum(axis=1).astype(float)
            fp, fn = s.sum() - tp, every.sum(axis=1) - tp
            score = get(metric).score_cells(tp, fp, fn, n - tp - fp - fn)
            self.utility[tuple(s)] = self.sign * np.broadcast_to(score, tp.shape)

    def mean(self, s):
        return self.utility[tuple(s)] @ self.mass

    def chance(self, s, score):
        """Return the probability to reach a score."""
        return self.mass[self.utility[tuple(s)] >= self.sign * score - 1e-12].sum()

    def quantile(self, s, q):
        values = self.utility[tuple(s)]
        order = np.argsort(values)
        at = int(np.searchsorted(np.cumsum(self.mass[order]), q - 1e-12))
        return values[order][min(at, values.size - 1)]

    def best(self, value, low=0, high=None):
        high = len(next(iter(self.utility))) if high is None else high
        return max(value(s) for s in self.utility if low <= sum(s) <= high)


@each_table_and_metric
def test_the_expected_score_and_the_gap_hold(metric, kind):
    table = TABLES[kind]
    u, n = UncertainProbabilities(table), table.shape[1]
    known = Enumerated(table, metric)
    for low, high in {(0, None), (0, n // 2), (n // 2, None), (n // 2, n // 2)}:
        found = decide(u, metric, min_positives=low, max_positives=high)
        own, best = known.mean(found.labels), known.best(known.mean, low, high)
        assert low <= found.n_positive <= (n if high is None else high)
        assert get(metric).sign * found.expected_score == pytest.approx(own, abs=ATOL)
        if found.gap_scope == "predictions":
            assert best <= own + found.error + found.gap + ATOL
            if u.one_ranking:
                assert best <= own + ATOL
        each = [bestcut.expected_score(p, found.labels, metric) for p in table]
        assert found.expected_score == pytest.approx(np.mean(each), abs=ATOL)


@each_table_and_metric
def test_every_cut_of_the_curve_is_a_mean_over_draws(metric, kind):
    table = TABLES[kind]
    u, n = UncertainProbabilities(table), table.shape[1]
    known, curve = Enumerated(table, metric), decide(u, metric).curve
    order = np.argsort(-u.mean, kind="stable")
    for k in range(n + 1):
        s = np.zeros(n, dtype=int)
        s[order[:k]] = 1
        value = get(metric).sign * known.mean(s)
        assert curve.expected_score[k] == pytest.approx(value, abs=ATOL)


@each_table_and_metric
def test_goals_have_their_values_and_gaps(metric, kind):
    table = TABLES[kind]
    u, known = UncertainProbabilities(table), Enumerated(table, metric)
    sign = get(metric).sign
    for score in np.unique(sign * np.concatenate(list(known.utility.values())))[::7]:
        found = decide(u, metric, goal=goals.ProbAtLeast(float(score)))
        own = known.chance(found.labels, score)
        assert found.goal_value == pytest.approx(own, abs=ATOL)
        if found.gap_scope == "predictions":
            best = known.best(lambda s, c=score: known.chance(s, c))
            assert best <= own + found.gap + ATOL
    if sign > 0:
        for q in (0.05, 0.5, 0.9):
            found = decide(u, metric, goal=goals.Quantile(q))
            own = known.quantile(found.labels, q)
            assert found.goal_value == pytest.approx(own, abs=ATOL)
            if found.gap_scope == "predictions":
                best = known.best(lambda s, q=q: known.quantile(s, q))
                assert best <= own + found.gap + ATOL


@each_table
@pytest.mark.parametrize("score", [0.2, 0.5, 0.999])
@pytest.mark.parametrize("probability", [0.5, 0.95])
def test_a_certain_condition_holds_or_is_refused(kind, score, probability):
    table = TABLES[kind]
    u, n = UncertainProbabilities(table), table.shape[1]
    f1, precision = Enumerated(table, "f1"), Enumerated(table, "precision")
    holds = {
        s: precision.chance(s, score) >= probability - 1e-12 for s in precision.utility
    }
    order = np.argsort(-u.mean, kind="stable")
    cuts = [tuple(np.isin(np.arange(n), order[:k]).astype(int)) for k in range(n + 1)]
    condition = {"precision": Certain(score, probability=probability)}
    if not any(holds[s] for s in cuts):
        known = "is not known" if any(holds.values()) else "cannot be satisfied"
        with pytest.raises(InfeasibleError, match=known):
            decide(u, "f1", at_least=condition)
        return
    found = decide(u, "f1", at_least=condition)
    assert holds[tuple(found.labels.astype(int))]
    best = max(f1.mean(s) for s in holds if holds[s])
    assert best <= found.expected_score + found.error + found.gap + ATOL
