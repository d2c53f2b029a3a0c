"""What a bin keeps is enough."""

import numpy as np
import pytest

import bestcut
from bestcut.search import TableCuts
from bestcut.summary._bins import BINS, bin_of, count_and_moments, geometry
from bestcut.summary._table import BinTable, quick_table
from summary.known import KINDS


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


@pytest.mark.parametrize("low", [0, 1, 200_000, 200_150])
def test_a_search_begins_with_several_cells_even_if_one_bin_has_everything(low):
    tiny = np.geomspace(1e-9, 1e-12, 200)
    p = np.concatenate([np.full(200_000, 1e-3), tiny])
    table = BinTable(*count_and_moments(p))
    cuts = TableCuts(table, bestcut.metrics.get("mcc"))
    places = cuts.first_places(low, p.size)
    assert places.size > 2
    assert cuts.start[places[0]] <= low
    assert places[-1] == len(table)
    assert np.all(np.diff(places) > 0)
