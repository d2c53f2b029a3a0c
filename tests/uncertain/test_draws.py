"""Places that stand for many instances: sums and values as if each were taken."""

import numpy as np
import pytest

from bestcut.counts import ROOM, features
from bestcut.metrics import get
from bestcut.mixtures import MixtureCuts
from bestcut.uncertain import ListedDraws, MappedDraws, RankedDraws

N_DRAWS = 7


def maps(kind, knots=40):
    """Return the values at knots of draws that rise smoothly, by steps, or hardly."""
    rng = np.random.default_rng(0)
    if kind == "steps":
        values = np.sort(
            rng.choice([0.0, 0.02, 0.5, 0.97, 1.0], (knots, N_DRAWS)), axis=0
        )
    elif kind == "flat":
        values = np.sort(rng.random((knots, N_DRAWS)), axis=0) * 1e-3
    else:
        x = np.linspace(-6, 6, knots)[:, None] + rng.normal(0, 0.4, N_DRAWS)
        values = 1 / (1 + np.exp(-x))
    return values


def ranked(kind, n=6000):
    place = np.sort(np.random.default_rng(1).beta(0.7, 1.2, n) * 39)[::-1]
    return MappedDraws(place, maps(kind))


@pytest.mark.parametrize("kind", ["smooth", "steps", "flat"])
@pytest.mark.parametrize("count", [1, 2, 5, ROOM])
def test_sums_of_all_maps_come_from_the_sums_of_one_place(kind, count):
    """Lemma 16, relative to what is summed: no digit of a small sum is lost."""
    draws = ranked(kind)
    edges = np.unique([*draws.borders(), 1, 700, 701, 3000])
    table = draws.rows(0, draws.n)
    size = np.abs(features(table.ravel(), count)).reshape(count, *table.shape)
    size = np.concatenate([size, 1.0 - table[None]])
    found = draws.part_sums(edges[:-1], edges[1:], count)
    listed = ListedDraws(table).part_sums(edges[:-1], edges[1:], count)
    scale = np.add.reduceat(size, edges[:-1], axis=1)
    # Odd features change their sign with 1 - 2 p: relative to those without.
    scale[2:count:2] = scale[1 : count - 1 : 2]
    assert np.all(np.abs(found - listed) <= 1e-12 * scale)


def test_sums_at_cuts_are_those_of_both_sides():
    draws = ranked("smooth")
    listed, cuts = ListedDraws(draws.rows(0, draws.n)), np.array([0, 1, 40, 2999, 6000])
    for one in (RankedDraws(draws), RankedDraws(listed)):
        found = one.sums(cuts, 5)
        more = one.sums(cuts, 6)[:, [0, 1, 2, 3, 4, 6]]
        assert np.allclose(found, more, rtol=1e-12, atol=1e-12)
        for i, k in enumerate(cuts.tolist()):
            for side, rows in enumerate((slice(0, k), slice(k, None))):
                p = listed.table[rows]
                wanted = [p.sum(axis=0), (p * (1 - p)).sum(axis=0)]
                assert np.allclose(found[side, :2, i], wanted, rtol=1e-13)
                assert np.allclose(found[side, 5, i], (1 - p).sum(axis=0), rtol=1e-13)


@pytest.mark.parametrize("metric", ["f1", "mcc", "gmean"])
@pytest.mark.parametrize("kind", ["smooth", "steps"])
def test_expected_scores_are_as_if_each_instance_were_taken(kind, metric):
    draws = ranked(kind)
    listed = ListedDraws(draws.rows(0, draws.n))
    cuts = np.array([40, 900, 2500, 5000])
    by_places, one_by_one = (
        MixtureCuts(RankedDraws(x), get(metric)) for x in (draws, listed)
    )
    for k in cuts.tolist():
        (value, error), (other, bound) = by_places.value(k), one_by_one.value(k)
        assert abs(value - other) <= error + bound
        assert abs(value - other) <= 2e-13


def test_the_most_probable_are_the_first_of_a_tie():
    draws = MappedDraws(np.array([1.0, 3.0, 3.0, 2.0, 3.0]), maps("smooth"))
    assert draws.top(2).tolist() == [False, True, True, False, False]
    assert draws.top(4).tolist() == [False, True, True, True, True]
    assert not draws.top(0).any()
    assert draws.top(5).all()
    assert draws.order().tolist() == [1, 2, 4, 3, 0]


@pytest.mark.parametrize("kind", ["smooth", "steps", "flat"])
def test_means_and_deviations_are_those_of_the_draws(kind):
    draws = ranked(kind, 500)
    table = draws.rows(0, 500)
    assert np.allclose(draws.mean(), table.mean(axis=1), atol=1e-14)
    assert np.allclose(draws.std(), table.std(axis=1), atol=1e-7)
    assert np.array_equal(draws.draw(3), table[:, 3])
    assert np.all(np.diff(table, axis=0) <= 0)
