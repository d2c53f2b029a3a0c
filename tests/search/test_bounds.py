"""What a part may hold at best is at least what is inside it."""

import math
from fractions import Fraction

import numpy as np
import pytest

import bestcut
from bestcut.counts._side import NOBODY
from bestcut.curve import curve_of
from bestcut.metrics import (
    FractionalLinear,
    LinearUtility,
    from_counts,
    from_expression as formula,
)
from bestcut.search import CutSearch, _runs, _search, best_cut, best_cut_in_run
from bestcut.search._changes import Changes
from bestcut.search._table import RunTable, SortedTable
from groups import one_in, slow
from helpers import descending, load_script
from oracles.definitions import DEFINITIONS
from oracles.enumeration import best_over_all_labels, laws_of_all_labels
from search.known import EPS, ExactCuts

WORKLOADS = load_script("benchmarks/workloads.py")
LAWS = {
    **{name: WORKLOADS.probabilities(name, 3000) for name in WORKLOADS.LAWS},
    "few values": WORKLOADS.isotonic(WORKLOADS.probabilities("skewed", 3000)),
    "certain": np.repeat([1.0, 0.5, 0.0], [1000, 400, 1600]),
    "one positive": np.full(3000, 1 / 3000),
    "one negative": 1 - np.random.default_rng(5).random(3000) / 1500,
}
OWN = [
    LinearUtility(tp=3, fp=-1, fn=-0.5, tn=0.01),
    FractionalLinear(c=(1, 2, 0, -1), d=(1, 0, 3, 0.5)),
    formula("tp/n_pred - (fn/n_pos)**0.1"),
    formula("0.5*tp/n_pos + 1/(1+((n_pred-1200)/40)**2)"),
    formula("min(tp, 40)/(1 + 0.01*n_pred) + max(0, 1 - abs(n_pred - 700)/90)"),
    formula("sqrt(tp)/sqrt(n_pred)*(n_pos - 3)", zero_division=3),
    from_counts(
        lambda tp, fp, fn, tn: np.where(tp + fp > 900, tp, 2 * tp) / (tp + fp + 5),
        name="steps",
    ),
]
METRICS = {
    **{name: bestcut.metrics.get(name) for name in bestcut.metrics.names()},
    **{metric.name: metric for metric in OWN},
}
QUICK = [
    ("f1", "rare"),
    ("balanced_accuracy", "balanced"),
    ("gmean", "few values"),
    ("mcc", "rare"),
    ("jaccard", "skewed"),
    ("precision", "one positive"),
    ("specificity", "one negative"),
    (OWN[2].name, "confident"),
    (OWN[3].name, "skewed"),
    (OWN[5].name, "rare"),
    ("steps", "certain"),
]


def check_reach(metric, eta, table, seed=0):
    """Compare the reach of parts, from long to short, with the exact curve."""
    n = eta.size
    values, errors = curve_of(eta, metric).whole()
    search = CutSearch(table, metric, 0, n)
    utility = search.sign * values
    least = utility - errors
    # The curve itself is compared with the definition at some cuts.
    some = np.random.default_rng(seed).integers(0, n + 1, 4)
    exact = ExactCuts(eta, [0, 1, n, *some])
    scores, rounding = exact.scores(metric)
    off = np.abs(values[exact.cuts] - scores)
    assert np.all(off <= errors[exact.cuts] + rounding)
    parts = table.count.size
    for count in (1, 5, _search._GROUPS, 200, parts):
        groups = search._grouped(np.zeros(1, int), np.full(1, parts), count)
        search.evaluate(np.unique([groups.first, groups.last]))
        own = Changes(search, groups)
        if count > 1:  # those of longer parts, for what is inside them
            longer = search._grouped(np.zeros(1, int), np.full(1, parts), 3)
            cover = np.searchsorted(longer.last, groups.last)
            whole = longer.first[cover] <= groups.first
            inner = search._together(groups.first[whole], groups.last[whole])
            search_bounds = Changes(search, longer).at(cover[whole], inner)
            compare(search, inner, search_bounds, least, metric)
        compare(search, groups, own, least, metric)
        caps = own.caps()
        for i, (first, last) in enumerate(edges_of(search, groups)):
            inside = least[first + 1 : last]
            if inside.size:
                assert inside.max() <= caps[i] * (1 + 4 * EPS * np.sign(caps[i]))
    # Every edge: its value within its error, and below its ceiling.
    seen = np.flatnonzero(~np.isnan(search.utility))
    off = np.abs(search.utility[seen] - utility[search.start[seen]])
    assert np.all(off <= search.error[seen] + errors[search.start[seen]])
    assert np.all(least[search.start[seen]] <= search.ceiling[seen])


def edges_of(search, groups):
    pairs = search.start[groups.first], search.start[groups.last]
    return list(zip(*(x.tolist() for x in pairs), strict=True))


def compare(search, groups, bounds, least, metric):
    reach = search.reach(groups, bounds)
    for i, (first, last) in enumerate(edges_of(search, groups)):
        inside = least[first + 1 : last]
        if inside.size:
            here = (metric.name, first, last, float(inside.max()), float(reach[i]))
            assert inside.max() <= reach[i], here
            assert inside.max() <= bounds.cap[i] + 4 * EPS * abs(bounds.cap[i]), here


@one_in(2, "pair", {"-".join(pair): pair for pair in QUICK})
def test_reach_of_parts(pair):
    name, law = pair
    eta = descending(LAWS[law])
    check_reach(METRICS[name], eta, SortedTable(eta, 10))


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", METRICS)
def test_reach_of_all_parts(name, law):
    eta = descending(LAWS[law])
    for length in (8, 100):
        check_reach(METRICS[name], eta, SortedTable(eta, length))
    values, counts = np.unique(-eta, return_counts=True)
    table = RunTable(-values, counts.astype(np.int64), 150)
    check_reach(METRICS[name], eta, table)


def no_way_back(monkeypatch):
    """Let the search stand by itself: it may not look at every cut at once."""

    def refuse(*args):
        raise AssertionError(args)

    monkeypatch.setattr(_runs, "whole_curve_best", refuse)
    monkeypatch.setattr(_runs, "_DIRECT", 32)
    monkeypatch.setattr(_runs, "_PARTS", 64)


def check_search(metric, eta, low, high, whole=None):
    """Compare the search with the whole curve; return what it found."""
    values, errors = curve_of(eta, metric).whole() if whole is None else whole
    sign = 1.0 if metric.greater_is_better else -1.0
    utility = sign * values
    allowed = slice(low, high + 1)
    try:
        best = best_cut(eta, metric, low, high)
    except AssertionError:
        best = None  # half of the ranking is left: the whole curve is what it takes
    search = CutSearch(SortedTable(eta, 8), metric, low, high)
    kept = search.run()
    least = float(np.max(utility[allowed] - errors[allowed]))
    most = float(np.max(utility[allowed] + errors[allowed]))
    assert search.lower <= most
    assert search.upper >= least
    # What is left out is worth no more than the best edge, but for next to nothing.
    left_out = np.ones(eta.size + 1, dtype=bool)
    for part in kept.tolist():
        left_out[search.start[part] : search.start[part + 1] + 1] = False
    left_out[search.start[search.candidates]] = False
    left_out[:low], left_out[high + 1 :] = False, False
    beyond = (utility - errors)[left_out] - (search.enough)
    assert beyond.max(initial=-np.inf) <= 0
    if best is not None:
        assert low <= best.k <= high
        assert abs(best.utility - utility[best.k]) <= best.error + errors[best.k]
        assert best.upper >= least
        gap = max(best.upper - best.utility - best.error, 0.0)
        assert least <= best.utility + best.error + gap
        assert gap <= 1e-8 * max(abs(most), 1e-3) + 2 * errors.max()
    return best


@pytest.mark.parametrize("seed", [0, 1, 3, *map(slow, (2, *range(4, 8)))])
def test_the_search_by_itself_on_few_instances(seed, monkeypatch):
    no_way_back(monkeypatch)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 11))
    p64 = np.sort(rng.choice([0, 1, 2, 8, 31, 32, 40, 60, 63, 64], n))[::-1]
    eta = p64 / 64
    laws = laws_of_all_labels(p64.tolist())
    for name, definition in DEFINITIONS.items():
        metric = bestcut.metrics.get(name)
        sign = 1 if metric.greater_is_better else -1
        zero = Fraction(getattr(metric, "zero_division", 0) or 0)
        best, scores = best_over_all_labels(
            laws, definition, zero, minimise=not metric.greater_is_better
        )
        search = CutSearch(SortedTable(eta, 8), metric, 0, n)
        search.run()
        assert search.lower <= sign * best + 1e-15
        assert search.upper >= sign * best - 1e-15
        for edge in np.flatnonzero(~np.isnan(search.utility)).tolist():
            k = int(search.start[edge])
            off = abs(Fraction(search.utility[edge]) - sign * scores[2**k - 1])
            assert off <= search.error[edge]
        try:
            found = best_cut(eta, metric, 0, n)
        except AssertionError:
            continue
        exact = sign * scores[2**found.k - 1]
        assert abs(Fraction(found.utility) - exact) <= found.error
        assert Fraction(found.upper) >= sign * best - Fraction(1, 10**15)


@pytest.mark.parametrize(("name", "law"), QUICK[:6])
def test_the_search_by_itself(name, law, monkeypatch):
    no_way_back(monkeypatch)
    eta, metric = descending(LAWS[law]), METRICS[name]
    whole = curve_of(eta, metric).whole()
    for bounds in ((0, 3000), (37, 411)):
        check_search(metric, eta, *bounds, whole)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", METRICS)
def test_the_search_by_itself_everywhere(name, law, monkeypatch):
    no_way_back(monkeypatch)
    eta, metric = descending(LAWS[law]), METRICS[name]
    whole = curve_of(eta, metric).whole()
    for bounds in ((0, 3000), (0, 1), (3000, 3000), (1, 2999), (37, 411), (2500, 2990)):
        check_search(metric, eta, *bounds, whole)
        check_run(metric, eta, bounds, whole)


def check_run(metric, eta, bounds, whole):
    """The search in runs of values, as a summary does it, with its tiny pieces."""
    values, counts = np.unique(-eta, return_counts=True)
    low, high = max(bounds[0], 1), bounds[1]
    if low > high:
        return
    found = best_cut_in_run(
        -values, counts.astype(np.int64), metric, (low, high), (NOBODY, NOBODY)
    )
    sign = 1.0 if metric.greater_is_better else -1.0
    utility, errors = sign * whole[0], whole[1]
    k = found.above.n
    assert low <= k <= high
    assert abs(found.utility - utility[k]) <= found.error + errors[k]
    here = slice(low, high + 1)
    assert found.upper >= np.max(utility[here] - errors[here])


@pytest.mark.parametrize(("name", "law"), QUICK[:6])
def test_the_search_in_runs(name, law, monkeypatch):
    no_way_back(monkeypatch)
    eta, metric = descending(LAWS[law]), METRICS[name]
    whole = curve_of(eta, metric).whole()
    for bounds in ((0, 3000), (37, 411)):
        check_run(metric, eta, bounds, whole)


@pytest.mark.parametrize("sure", [0.99, 1.0])
@pytest.mark.parametrize("apart", [0, 2, 4])
def test_changes_are_bounded_all_the_way_to_the_mean(apart, sure):
    """Lemma 9: also where probabilities are so far moved that other totals are likely.

    Of 24 instances the upper half is positive and the lower half negative, surely or
    but for 1 %. At their mean the total is often one that is otherwise hardly ever
    seen, or never.
    """
    m, n = 12, 24
    eta = np.repeat([sure, 1.0 - sure], m)
    metric = from_counts(
        lambda tp, fp, fn, tn: np.where(np.abs(tp + fn - m - apart) < 0.5, tp - fn, 0.0)
    )
    search = CutSearch(SortedTable(eta, 8), metric, 0, n)
    parts = search.table.count.size
    search.evaluate(np.array([0, parts]))
    bounds = Changes(search, search._together(np.zeros(1, int), np.full(1, parts)))
    for k in range(1, n):
        for name, above, step in (("a", k - 1, (1, 0)), ("b", k, (0, 1))):
            tp = np.arange(above + 1.0)[:, None]
            fn = np.arange(float(n - above))
            chance = halves(above)[:, None] * halves(n - 1 - above)
            after, before = (
                metric.score_cells(tp + a, k - tp - a, fn + b, n - k - fn - b)
                for a, b in (step, (0, 0))
            )
            change = float(np.sum(chance * (after - before)))
            low, high = bounds.ends[name]
            assert low[0] <= change <= high[0]


def halves(n):
    """Return the law of the heads of n coins."""
    return np.array([math.comb(n, k) for k in range(n + 1)]) / 2.0**n
