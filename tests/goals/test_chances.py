"""Chances of cuts, and bounds on those of ranges of cuts, hold what they say."""

import numpy as np
import pytest

import bestcut
from bestcut.goals import ProbAtLeast, Quantile
from bestcut.goals._chances import Chances
from bestcut.goals._goals import Question
from bestcut.goals._known import KnownCuts
from bestcut.goals._search import GoalSearch, cuts_that_reach, excess_of_range
from bestcut.metrics import LinearUtility, from_counts, get
from bestcut.mixtures._chances import MixtureGoalSearch, _DrawnCuts
from bestcut.mixtures._cuts import MixtureCuts
from groups import one_in
from helpers import descending

COSTS = from_counts(
    lambda tp, fp, fn, tn: fp + 5 * fn, "costs", greater_is_better=False
)
UTILITY = LinearUtility(tp=10, fp=-3, fn=-1, tn=0.25)
METRICS = {
    **{name: get(name) for name in ("f1", "mcc", "gmean", "precision", "specificity")},
    "costs": from_counts(
        lambda tp, fp, fn, tn: fp + 5 * fn, "costs", greater_is_better=False
    ),
    "utility": LinearUtility(tp=10, fp=-3, fn=-1, tn=0.25),
}
NOT_PROVED = {
    "count error": get("squared_count_error"),
    "not proved": from_counts(
        lambda tp, fp, fn, tn: (
            2 * tp / np.maximum(2 * tp + fp + fn, 1) + 0.0 * ((tp + fp) % 2)
        ),
        "not proved",
    ),
}
KINDS = {
    "rare": lambda rng, n: rng.beta(0.3, 3, n),
    "common": lambda rng, n: rng.random(n),
    "likely": lambda rng, n: rng.beta(5, 0.3, n),
    "tied": lambda rng, n: np.round(rng.random(n), 1),
}


def drawn_cuts(table, metric):
    return MixtureCuts(bestcut.UncertainProbabilities(table)._cuts, metric)


def cuts_of(kind, metric, n, drawn):
    """Return the cuts of some draws, or of known probabilities."""
    rng = np.random.default_rng([n, len(kind)])
    p = descending(KINDS[kind](rng, n))
    if not drawn:
        return KnownCuts(p, metric)
    return _DrawnCuts(drawn_cuts([p, p**0.7, p**1.4, p**0.97], metric))


def asks(cuts):
    """Return questions that are neither sure nor hopeless, and some that are."""
    law = cuts.utility(cuts.n // 3)
    for q in (1e-6, 0.2, 0.5, 0.9):
        value = law.quantile(q)
        yield Question(value, True, 0.9)
        yield Question(value, False, 0.01)


def asking(asked):
    """Return the same question, whatever rounds."""
    return lambda tolerance, error: asked


def chance(law, asked):
    return law.above(asked.utility) if asked.strictly else law.at_least(asked.utility)


@pytest.mark.parametrize("drawn", [False, True])
@one_in(3, "kind, name", list(KINDS), list(METRICS))
def test_chances_are_those_of_each_cut_and_bounds_hold_for_ranges(kind, name, drawn):
    cuts = cuts_of(kind, METRICS[name], 90, drawn)
    laws = [cuts.utility(k) for k in range(91)]
    tight = []
    for asked in asks(cuts):
        each = np.array([chance(law, asked) for law in laws])
        for low, high in ((0, 91), (0, 7), (3, 40), (30, 31), (55, 91), (90, 91)):
            every = np.arange(high - low)
            for share in (0.0, 1e-4):
                found = Chances(cuts, low, high, asking(asked), share)
                values = found.of(every, every + low)
                assert np.all(values >= each[low:high] - 1e-13)
                assert np.all(values <= each[low:high] + 2 * found.surplus + 1e-13)
            for length in (3, 8):
                starts = every[::length]
                ends = np.minimum(starts + length, high - low) - 1
                bound = np.repeat(found.of(ends, starts + low), length)
                assert np.all(each[low:high] <= bound[: high - low] + 1e-13)
            most = excess_of_range(cuts, asking(asked), low, high) + asked.probability
            least = excess_of_range(cuts, asking(asked), low, high, least=True)
            assert each[low:high].max() <= most + 1e-13
            assert each[low:high].min() >= least + asked.probability - 1e-13
            tight.append(most - each[low:high].max())
    assert min(tight) < 0.01  # a bound that says nothing would hold, too


@pytest.mark.parametrize("drawn", [False, True])
def test_a_range_of_nearly_sure_positives_may_not_reach_what_it_cannot(drawn):
    """There may be more positives above its last cut than its first one predicts."""
    p = np.concatenate([np.full(300, 0.99), np.full(3700, 0.3)])
    metric = get("f1")
    cuts = KnownCuts(p, metric)
    if drawn:
        cuts = _DrawnCuts(drawn_cuts([p, p**1.1], metric))
    value = cuts.utility(3000).quantile(0.1)
    caught = cuts.laws(220)[0].in_draw(0)
    assert caught.pmf[caught.counts > 200].sum() > 0.9
    excess = excess_of_range(cuts, asking(Question(value, True, 0.9)), 200, 220)
    assert excess < -0.8999


@pytest.mark.parametrize("drawn", [False, True])
@one_in(2, "kind, name", list(KINDS), [*METRICS, *NOT_PROVED])
def test_cuts_that_reach_a_score_are_those_whose_own_laws_do(kind, name, drawn):
    metric = (METRICS | NOT_PROVED)[name]
    cuts = cuts_of(kind, metric, 150, drawn)
    laws = [cuts.utility(k) for k in range(151)]
    within = np.arange(151) % 7 > 0
    for spot, probability in ((0.05, 0.9), (0.5, 0.5), (0.97, 0.01)):
        wanted = laws[50].quantile(spot)
        found = cuts_that_reach(cuts, metric.sign * wanted, probability, within)
        each = np.array([law.reaching(wanted) for law in laws])
        np.testing.assert_array_equal(found, within & (each >= probability - 1e-12))


@one_in(3, "kind, name", list(KINDS), [*METRICS, *NOT_PROVED])
def test_one_draw_is_a_known_probability(kind, name):
    metric = (METRICS | NOT_PROVED)[name]
    rng = np.random.default_rng(len(kind))
    for n in (1, 12, 200):
        p = descending(KINDS[kind](rng, n))
        law = KnownCuts(p, metric).utility(n // 3)
        spot = metric.sign * law.quantile(0.6)
        allowed = rng.random(n + 1) < 0.7
        allowed[n // 2] = True
        for goal in (Quantile(0.1), Quantile(0.8), ProbAtLeast(spot)):
            known = GoalSearch(goal, p, metric, allowed).run(n // 2)
            cuts = drawn_cuts([p], metric)
            drawn = MixtureGoalSearch(goal, cuts, allowed).run(n // 2)
            room = known[2] + drawn[2] + 1e-12 * max(1.0, abs(known[1]))
            assert known[1] == pytest.approx(drawn[1], abs=room)


def test_known_laws_grow_to_those_of_all_instances():
    p = descending(np.random.default_rng(2).beta(0.5, 2, 700))
    cuts = KnownCuts(p, get("f1"))
    for cut in (0, 350, 351, 17, 700, 699):
        for law, part in zip(cuts.laws(cut), (p[:cut], p[cut:]), strict=True):
            whole = bestcut.counts.poisson_binomial(part)
            here = whole[law.start[0] : law.start[0] + law.pmf.shape[1]]
            np.testing.assert_allclose(law.pmf[0], here, rtol=1e-11, atol=1e-22)
