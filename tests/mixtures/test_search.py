"""The search over draws: no cut is better than it says, whatever way it takes."""

import numpy as np
import pytest

import bestcut
from bestcut.curve import curve_of
from bestcut.metrics import get
from bestcut.mixtures import MixtureCuts, _cuts, best_cut_of_draws, mean_curve
from bestcut.search import Allowed, Search
from bestcut.uncertain import RankedDraws
from groups import one_in
from mixtures.known import smooth


def mean_of_curves(p, metric):
    curves = [curve_of(p._ranked.draw(b), metric).whole() for b in range(p.n_draws)]
    values, errors = (np.mean(x, axis=0) for x in zip(*curves, strict=True))
    return metric.sign * values, errors


@one_in(
    2,
    "batch, metric",
    [(200, -2.0), (500, 0.0), (1500, -2.0), (1500, -6.0), (20_000, -1.0)],
    ["f1", "mcc", "balanced_accuracy", "jaccard"],
)
def test_the_best_cut_is_the_best_of_the_mean_curve(batch, metric):
    n, shift = batch
    chosen = get(metric)
    p = smooth(n, n, n_draws=12, shift=shift)
    values, errors = mean_of_curves(p, chosen)
    cuts = MixtureCuts(p._cuts, chosen)
    found = best_cut_of_draws(cuts, np.ones(n + 1, dtype=bool))
    assert abs(found.utility - values[found.k]) <= found.error + errors[found.k]
    assert np.all(values - errors <= found.upper)
    assert found.upper - found.utility - found.error <= 1e-12
    if n > 128:
        assert len(cuts._known) < n // 2


@pytest.mark.parametrize("shift", [1.0, -4.0])
def test_bounds_by_extremes_and_by_chords_leave_out_the_same(monkeypatch, shift):
    p, metric = smooth(1, 500, shift=shift), get("f1")
    found = []
    for rare in (0.0, np.inf):
        monkeypatch.setattr(_cuts, "RARE", rare)
        cuts = MixtureCuts(RankedDraws(p._ranked), metric)
        assert cuts.by_extremes == (rare > 0)
        found.append(best_cut_of_draws(cuts, np.ones(501, dtype=bool)))
    assert found[0].k == found[1].k
    assert found[0].utility == pytest.approx(found[1].utility, abs=1e-13)


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("rare", [0.0, np.inf])
def test_every_bound_of_a_cell_holds_for_its_cuts(monkeypatch, rare, groups):
    """The statement of the search: a cell is worth what it reaches, at most."""
    monkeypatch.setattr(_cuts, "RARE", rare)
    monkeypatch.setattr(_cuts, "_GROUPS", groups)
    for metric in map(get, ("f1", "gmean", "mcc", "jaccard")):
        p = smooth(2, 300, n_draws=6, shift=1.0)
        cuts = MixtureCuts(p._cuts, metric)
        search = Search(cuts, Allowed(0, 300))
        edges = np.array([0, 3, 20, 60, 61, 150, 155, 280, 300])
        search.look(edges)
        ends = edges[:-1], edges[1:]
        reach = search._reach(*ends, cuts.bounds(*ends, -np.inf))
        values, _ = mean_of_curves(p, metric)
        tight = []
        for a, b, bound in zip(edges[:-1], edges[1:], reach, strict=True):
            if b - a > 1:
                best = values[a + 1 : b].max()
                assert best <= bound + 1e-13
                tight.append(bound - best)
        assert min(tight) < 0.05  # a bound that says nothing would hold, too


def test_a_formula_that_cannot_be_followed_is_looked_at_cut_by_cut():
    odd = bestcut.metrics.from_counts(
        lambda tp, fp, fn, tn: np.sqrt(tp) / np.maximum(tp + fp + fn, 1), name="odd"
    )
    p = smooth(3, 180, n_draws=5)
    decision = bestcut.decide(p, odd)
    assert decision.expected_score == pytest.approx(decision.curve.expected_score.max())


def test_what_cannot_be_afforded_is_in_the_bound(monkeypatch):
    metric = get("hmean")
    monkeypatch.setattr("bestcut.mixtures._search._AFFORDABLE", 0)
    monkeypatch.setattr("bestcut.search._search._MOST_CELLS", 4)
    for seed in range(3):
        p = smooth(seed, 2000, n_draws=5)
        cuts = MixtureCuts(p._cuts, metric)
        found = best_cut_of_draws(cuts, np.ones(2001, bool))
        values, _ = mean_of_curves(p, metric)
        assert found.utility < values.max() <= found.upper + 1e-13


def test_no_more_is_remembered_than_a_decision_needs():
    p = smooth(4, 4000)
    bestcut.decide(p, "f1")
    bestcut.decide(p, "mcc")
    assert len(p._cuts._sums) <= 256 + 200


@pytest.mark.parametrize("ends", [(0, 2000), (0, 700), (900, 2000), (5, 11), (7, 7)])
def test_a_search_begins_at_the_ends_of_what_is_allowed(ends):
    places = MixtureCuts(smooth(7, 2000)._cuts, get("f1")).first_places(*ends)
    assert (places[0], places[-1]) == ends
    assert np.all(np.diff(places) > 0)


@pytest.mark.parametrize("crossing", [False, True])
def test_every_cut_is_looked_at_or_in_a_cell_that_is_bounded(crossing):
    rng = np.random.default_rng(9)
    noise = rng.normal(0.0, 0.02, (6, 900)) if crossing else np.zeros((6, 900))
    table = np.clip(np.sort(rng.beta(0.5, 2, (6, 900)))[:, ::-1] + noise, 0.0, 1.0)
    p = bestcut.UncertainProbabilities(table)
    assert p.one_ranking != crossing
    may = rng.random(901) < 0.3
    for metric in map(get, ("f1", "gmean", "mcc")):
        search = Search(MixtureCuts(p._cuts, metric), Allowed.those(may))
        cells = search.run()
        covered = np.where(np.isnan(search.utility), 0, 1)
        ends = zip(cells.first.tolist(), cells.last.tolist(), strict=True)
        for first, last in [*ends, *search.left_out]:
            covered[first + 1 : last] += 1
        # What bounds say of a cell they say of the cuts at its ends.
        covered += np.isnan(search.utility) & (search.ceiling <= search.enough)
        assert np.all(covered[may] >= 1)
        assert np.count_nonzero(np.isnan(search.utility[may])) > 10
        values = np.array(
            [MixtureCuts(p._cuts, metric).value(k)[0] for k in range(901)]
        )
        assert values[may].max() <= search.upper + 1e-13


def test_the_best_cut_may_be_at_either_end_of_the_ranking():
    """Groups at the ends are divided more finely near them."""
    rng = np.random.default_rng(5)
    for shift in (-7.0, 4.0):
        p = smooth(6, 2000, n_draws=8, shift=shift)
        for metric in ("accuracy", "recall", "precision", "f1"):
            decision = bestcut.decide(p, metric)
            labels = rng.random(2000) < 0.5
            assert decision.gap <= 1e-11
            assert decision.expected_score >= bestcut.expected_score(p, labels, metric)
            assert decision.expected_score == pytest.approx(
                decision.curve.expected_score.max(), abs=1e-11
            )


@one_in(2, "metric", ["f1", "recall", "mcc", "specificity", "precision"])
def test_curves_of_draws_that_rank_differently_are_those_of_their_cuts(metric):
    """Longer than what is looked at cut by cut where draws rank alike."""
    table = np.random.default_rng(8).beta(0.4, 1.0, (3, 900))
    p = bestcut.UncertainProbabilities(table)
    assert not p.one_ranking
    decision = bestcut.decide(p, metric)
    curve, order = decision.curve, np.argsort(-p.mean, kind="stable")
    for k in (1, 5, 333, 899, decision.n_positive):
        labels = np.isin(np.arange(900), order[:k])
        each = [bestcut.expected_score(one, labels, metric) for one in table]
        assert curve.expected_score[k] == pytest.approx(np.mean(each), abs=1e-11)
    best = decision.expected_score + decision.error + decision.gap
    assert curve.expected_score.max() <= best + curve.error


@pytest.mark.parametrize("few", [1, 2, 3])
def test_the_best_cut_may_be_inside_the_first_group(few):
    """The edges of the first round are cuts 0 and 4."""
    p = np.full(2000, 2e-6)
    p[:few] = 0.9
    decision = bestcut.decide(bestcut.UncertainProbabilities([p, 0.9 * p]), "f1")
    assert decision.n_positive == few
    assert decision.expected_score == pytest.approx(decision.curve.expected_score.max())


def test_a_draw_of_few_positives_does_not_make_the_others_slow(monkeypatch):
    """Where few labels are known, some draws have few positives and some very many.

    The laws of all draws together are long then. Draws that have rules of a few nodes
    use them, and groups are bounded by chords.
    """
    p = np.linspace(0.9, 0.1, 5000)
    draws = np.array([p**20 * 0.01, p**2, p**0.1])
    drawn, metric = bestcut.UncertainProbabilities(draws), get("f1")
    cuts = MixtureCuts(drawn._cuts, metric)
    expectation = _cuts.expectation

    def of_few(metric, at, n, above, below):
        assert above.nodes.shape[0] * below.nodes.shape[0] <= 1 << 14
        return expectation(metric, at, n, above, below)

    monkeypatch.setattr(_cuts, "expectation", of_few)
    found = best_cut_of_draws(cuts, np.ones(5001, dtype=bool))
    assert len(cuts._known) < 250
    values, errors = mean_of_curves(drawn, metric)
    assert np.all(values - errors <= found.upper)
    assert abs(found.utility - values[found.k]) <= found.error + errors[found.k]
    assert found.upper - found.utility - found.error <= 1e-12


@pytest.mark.parametrize("metric", ["f1", "jaccard", "mcc", "gmean", "hmean"])
def test_rules_of_groups_and_cells_are_as_good_as_stated(metric):
    """Rules with a large tolerance, at cuts, and of whole cells for cuts inside."""
    p, chosen = smooth(11, 1500, n_draws=24, shift=-1.0), get(metric)
    values, errors = mean_of_curves(p, chosen)
    cuts = MixtureCuts(p._cuts, chosen)
    places = np.arange(250, 900, 13)
    plans = [cuts._plan_for(places, 1e-3)]
    first, last = np.array([240, 500]), np.array([500, 910])
    cuts._loose = 1e-3
    for _ in range(2):  # the first cells are too wide
        cuts.plan_inside(first, last)
    plans.append(cuts._plan_for(places, 1e-3))
    sizes = []
    for plan in plans:
        ruled = cuts._are_proved(plan).all(axis=1)
        value, error = cuts._values(places[ruled], plan[:, ruled])
        apart = np.abs(chosen.sign * value - values[places[ruled]])
        assert np.all(apart <= error + errors[places[ruled]])
        sizes.append(error.mean())
        assert ruled.any()
    # With a tolerance of 1e-3 there is something to be seen of the error.
    assert max(sizes) > 1e-12


def test_a_cut_of_nothing_or_everything_is_within_what_is_told_first():
    p = smooth(12, 300, n_draws=6)
    for name in ("f1", "mcc", "accuracy", "gmean", "specificity", "hmean"):
        cuts = MixtureCuts(p._cuts, get(name))
        values, errors = mean_of_curves(p, get(name))
        for k in (0, 300):
            utility, error = cuts._at_end(k)
            assert abs(utility - values[k]) <= error + errors[k]


@pytest.mark.parametrize("metric", ["f1", "mcc", "hmean", "cohen_kappa"])
@pytest.mark.parametrize("n", [1, 2, 60, 128])
def test_curves_by_joint_laws_are_means_of_curves(n, metric):
    p = smooth(n, n, n_draws=9, shift=1.0)
    value, error = mean_curve(p._cuts, get(metric))
    wanted, errors = mean_of_curves(p, get(metric))
    assert np.all(np.abs(get(metric).sign * value - wanted) <= error + errors)
    assert error.max() < 1e-12


def test_one_draw_is_decided_as_known_probabilities_are():
    for n in (200, 3000):
        p = np.sort(np.random.default_rng(n).beta(0.5, 1.5, n))[::-1]
        for metric in ("f1", "gmean"):
            drawn = bestcut.decide(bestcut.UncertainProbabilities([p]), metric)
            plain = bestcut.decide(p, metric)
            assert drawn.n_positive == plain.n_positive
            assert drawn.expected_score == plain.expected_score
            assert drawn.gap == plain.gap


def test_draws_that_have_few_counts_in_common_are_not_laid_on_one_table(monkeypatch):
    """Means of draws of one's own may be far apart, and so are their counts."""
    x = np.linspace(-4.0, 4.0, 2000)
    shifts = np.array([-8.0, -3.0, 0.0, 3.0, 8.0])
    table = 1.0 / (1.0 + np.exp(-(x + shifts[:, None])))
    cuts = MixtureCuts(bestcut.UncertainProbabilities(table)._cuts, get("hmean"))
    score, pairs = type(cuts.metric).score_cells, []

    def counted(metric, *cells):
        pairs.append(np.broadcast_shapes(*map(np.shape, cells)))
        return score(metric, *cells)

    monkeypatch.setattr(type(cuts.metric), "score_cells", counted)
    value, error = cuts._values(np.array([1000]), np.zeros((4, 1, 5)))
    monkeypatch.undo()
    wanted, errors = mean_of_curves(bestcut.UncertainProbabilities(table), get("hmean"))
    assert abs(value[0] - wanted[1000]) <= error[0] + errors[1000]
    assert sum(int(np.prod(shape)) for shape in pairs) < 1000 * 1000 / 2
