"""What a cell may hold at best is at least what is inside it, and none is forgotten."""

from fractions import Fraction

import numpy as np
import pytest

import bestcut
from bestcut.curve import curve_of
from bestcut.metrics import (
    FractionalLinear,
    LinearUtility,
    from_counts,
    from_expression as formula,
)
from bestcut.search import Allowed, Search, TableCuts, _best, _table
from bestcut.search._best import best_cut
from bestcut.search._bounds import bounds_by_counts, bounds_inside
from bestcut.search._table import ListedTable
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
    """Compare the reach of cells, from long to short, with the exact curve."""
    n = eta.size
    values, errors = curve_of(eta, metric).whole()
    cuts = TableCuts(table, metric)
    search = Search(cuts, Allowed(0, n))
    utility = metric.sign * values
    least = utility - errors
    # The curve itself is compared with the definition at some cuts.
    some = np.random.default_rng(seed).integers(0, n + 1, 4)
    exact = ExactCuts(eta, [0, 1, n, *some])
    scores, rounding = exact.scores(metric)
    off = np.abs(values[exact.cuts] - scores)
    assert np.all(off <= errors[exact.cuts] + rounding)
    parts = table.count.size
    longer = None
    for count in (1, 5, 24, 200, parts):
        places = np.unique(np.linspace(0, parts, count + 1).astype(np.intp))
        first, last = places[:-1], places[1:]
        search.look(places)
        bounds = cuts.bounds(first, last, -np.inf)
        compare(search, first, last, bounds, least)
        if longer is not None:  # what holds for longer cells holds for what is inside
            at = np.searchsorted(longer[0], first, side="right") - 1
            inside = np.flatnonzero(last <= longer[1][at])
            inherited = longer[2].at(at[inside])
            compare(search, first[inside], last[inside], inherited, least)
        longer = first, last, bounds
        few = cuts.above[0, last] - cuts.above[0, first] < 1.0
        if few.any():
            check_counts(search, first[few], last[few], least)
    # Every cut that was looked at: its value within its error, and below its ceiling.
    seen = np.flatnonzero(~np.isnan(search.utility))
    off = np.abs(search.utility[seen] - utility[cuts.start[seen]])
    assert np.all(off <= search.error[seen] + errors[cuts.start[seen]])
    assert np.all(least[cuts.start[seen]] <= search.ceiling[seen])


def check_counts(search, first, last, least):
    """Bounds from how probable counts are hold wherever they are asked for."""
    cuts = search.cuts
    if cuts.total[1, 0] > 400.0:  # laws of many values
        return
    first, last = first[-40:], last[-40:]
    about = cuts.metric, cuts.n, cuts.proved
    cells, chances = cuts.cells(first, last), cuts.chances(first, last)
    bounds = bounds_inside(*about, cuts.total, cells)
    bend, swap, flip = bounds_by_counts(*about, cells, chances)
    counted = bounds._replace(bend=bend, swap=swap, flip=flip)
    compare(search, first, last, counted, least)


def compare(search, first, last, bounds, least):
    reach, start = search._reach(first, last, bounds), search.cuts.start
    for i, (a, b) in enumerate(zip(start[first], start[last], strict=True)):
        inside = least[a + 1 : b]
        if inside.size:
            here = (search.cuts.metric.name, a, b, float(inside.max()), float(reach[i]))
            assert inside.max() <= reach[i], here
            assert inside.max() <= bounds.cap[i] + 4 * EPS * abs(bounds.cap[i]), here


@one_in(2, "pair", {"-".join(pair): pair for pair in QUICK})
def test_reach_of_cells(pair):
    name, law = pair
    eta = descending(LAWS[law])
    check_reach(METRICS[name], eta, ListedTable.sorted(eta, 10))


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", METRICS)
def test_reach_of_all_cells(name, law):
    eta = descending(LAWS[law])
    for length in (8, 100):
        check_reach(METRICS[name], eta, ListedTable.sorted(eta, length))
    values, counts = np.unique(-eta, return_counts=True)
    table = ListedTable.counted(-values, counts.astype(np.int64), 150)
    check_reach(METRICS[name], eta, table)


def no_way_back(monkeypatch):
    """Let the search stand by itself: it may not look at every cut at once."""

    def refuse(*args):
        raise AssertionError(args)

    monkeypatch.setattr(_best, "_whole", refuse)
    monkeypatch.setattr(_table, "_MOST_PARTS", 64)


def check_search(metric, eta, allowed, whole=None):
    """Compare the search with the whole curve; return what it found."""
    values, errors = curve_of(eta, metric).whole() if whole is None else whole
    utility = metric.sign * values
    may = allowed.mask(0, eta.size)
    try:
        best = best_cut(ListedTable.sorted(eta), metric, allowed)
    except AssertionError:
        best = None  # half of the ranking is left: the whole curve is what it takes
    search = Search(TableCuts(ListedTable.sorted(eta, 8), metric), allowed)
    cells = search.run()
    least = float(np.max((utility - errors)[may]))
    most = float(np.max((utility + errors)[may]))
    assert search.lower <= most
    assert search.upper >= least
    check_invariant(search, cells, may)
    # What is left out is worth no more than the best cut, but for next to nothing.
    left_out = may.copy()
    for first, last in cells.runs():
        left_out[search.cuts.start[first] : search.cuts.start[last] + 1] = False
    left_out[search.cuts.start[search.candidates]] = False
    beyond = (utility - errors)[left_out] - search.enough
    assert beyond.max(initial=-np.inf) <= 0
    if best is not None:
        assert may[best.k]
        assert abs(best.utility - utility[best.k]) <= best.error + errors[best.k]
        assert best.upper >= least
        gap = max(best.upper - best.utility - best.error, 0.0)
        assert least <= best.utility + best.error + gap
        assert gap <= 1e-8 * max(abs(most), 1e-3) + 2 * errors.max()
    return best


def check_invariant(search, cells, may):
    """Every allowed cut was looked at, or is in one cell that is open or left out."""
    start = search.cuts.start
    covered = np.zeros(may.size, dtype=int)
    covered[start[~np.isnan(search.utility)]] += 1
    for first, last in [*zip(cells.first, cells.last, strict=True), *search.left_out]:
        covered[start[first] + 1 : start[last]] += 1
    seen = np.zeros(may.size, dtype=bool)
    seen[start[~np.isnan(search.utility)]] = True
    assert np.all(covered[may] >= 1)
    assert np.all(covered[may & ~seen] == 1)


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
        search = Search(TableCuts(ListedTable.sorted(eta, 8), metric), Allowed(0, n))
        search.run()
        assert search.lower <= sign * best + 1e-15
        assert search.upper >= sign * best - 1e-15
        for place in np.flatnonzero(~np.isnan(search.utility)).tolist():
            k = int(search.cuts.start[place])
            off = abs(Fraction(search.utility[place]) - sign * scores[2**k - 1])
            assert off <= search.error[place]
        try:
            found = best_cut(ListedTable.sorted(eta), metric, Allowed(0, n))
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
    every_third = np.arange(3001) % 3 == 1
    for allowed in (Allowed(0, 3000), Allowed(37, 411), Allowed.those(every_third)):
        check_search(metric, eta, allowed, whole)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", METRICS)
def test_the_search_by_itself_everywhere(name, law, monkeypatch):
    no_way_back(monkeypatch)
    eta, metric = descending(LAWS[law]), METRICS[name]
    whole = curve_of(eta, metric).whole()
    for bounds in ((0, 3000), (0, 1), (3000, 3000), (1, 2999), (37, 411), (2500, 2990)):
        check_search(metric, eta, Allowed(*bounds), whole)
        check_run(metric, eta, bounds, whole)


def check_run(metric, eta, bounds, whole):
    """The search in runs of values, as a summary does it, with its tiny pieces."""
    values, counts = np.unique(-eta, return_counts=True)
    low, high = max(bounds[0], 1), bounds[1]
    if low > high:
        return
    table = ListedTable.counted(-values, counts.astype(np.int64))
    found = best_cut(table, metric, Allowed(low, high))
    sign = 1.0 if metric.greater_is_better else -1.0
    utility, errors = sign * whole[0], whole[1]
    k = found.k
    assert low <= k <= high
    assert abs(found.utility - utility[k]) <= found.error + errors[k]
    here = slice(low, high + 1)
    assert found.upper >= np.max(utility[here] - errors[here])


@pytest.mark.parametrize(("name", "law"), QUICK[:6])
def test_the_search_in_runs(name, law, monkeypatch):
    monkeypatch.setattr(_table, "_MOST_PARTS", 64)
    eta, metric = descending(LAWS[law]), METRICS[name]
    whole = curve_of(eta, metric).whole()
    for bounds in ((0, 3000), (37, 411)):
        check_run(metric, eta, bounds, whole)


@pytest.mark.parametrize("sure", [0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("name", ["f1", "gmean", "mcc", "accuracy", "count"])
def test_what_other_labels_change_is_bounded(name, sure):
    """Lemma 10: the change by one label, next to the cuts of every cell."""
    n, few = 24, 12
    eta = np.repeat([sure, 1.0 - sure], few)
    metric = (
        from_counts(lambda tp, fp, fn, tn: tp - fn + 0.0 * tn, name="count")
        if name == "count"
        else bestcut.metrics.get(name)
    )
    cuts = TableCuts(ListedTable.sorted(eta, 8), metric)
    parts = cuts.start.size - 1
    first, last = np.arange(parts), np.arange(1, parts + 1)
    inside = cuts.cells(first, last)
    about = metric, n, cuts.proved
    bounds = bounds_inside(*about, cuts.total, inside, flips=True)
    counted = bounds_by_counts(*about, inside, cuts.chances(first, last))
    for i, (a, b) in enumerate(zip(cuts.start[:-1], cuts.start[1:], strict=True)):
        for k in range(max(a, 1), min(b, n - 1) + 1):
            # One that is predicted positive, and one that is not, changes its label.
            for row, moved in ((k - 1, (1, -1, 0, 0)), (k, (0, 0, 1, -1))):
                others = np.delete(eta, row)
                above = k - 1 if row < k else k
                tp, fn = law_of_few(others[:above]), law_of_few(others[above:])
                change = expected_change(metric, tp, fn, row < k, moved)
                assert abs(change) <= bounds.flip[i] + 1e-12
                assert abs(change) <= counted[2][i] + 1e-12


def expected_change(metric, tp_law, fn_law, is_above, moved):
    """Return what the score changes by on average if a negative turns positive."""
    above, below = tp_law.size - 1, fn_law.size - 1
    tp, fn = np.arange(above + 1.0)[:, None], np.arange(below + 1.0)
    cells = [tp, above - tp + is_above, fn, below - fn + (not is_above)]
    after = [x + step for x, step in zip(cells, moved, strict=True)]
    change = metric.score_cells(*after) - metric.score_cells(*cells)
    return float(tp_law @ np.broadcast_to(change, (tp.size, fn.size)) @ fn_law)


def law_of_few(p):
    """Return the law of the positives among some instances."""
    law = np.ones(1)
    for chance in p:
        law = np.convolve(law, [1.0 - chance, chance])
    return law
