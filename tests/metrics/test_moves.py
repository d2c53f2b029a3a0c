"""Moves keep the number of instances, and kinds cover every confusion matrix."""

import numpy as np
import pytest

from bestcut._errors import NotFollowedError
from bestcut.metrics import from_counts, get
from bestcut.metrics._box_proof import utility_at
from bestcut.metrics._moves import (
    KINDS,
    LESS_TP,
    MORE_AGREEMENT,
    MORE_TP,
    Lattice,
    least_cells,
)

MOVES = [*MORE_TP, *MORE_AGREEMENT]


@pytest.mark.parametrize("move", MOVES)
def test_a_move_keeps_n_and_never_makes_a_label_wrong(move):
    tp, fp, fn, tn = move
    assert sum(move) == 0
    assert min(tp, tn) >= 0 >= max(fp, fn)


@pytest.mark.parametrize("move", MOVES)
def test_from_the_least_cells_of_a_kind_the_move_is_possible(move):
    for kind in KINDS:
        least = np.array(least_cells(move, kind))
        assert np.all(least >= 0)
        assert np.all(least + move >= 0)
    smallest = least_cells(move, (True,) * 4)
    assert any(x + step == 0 for x, step in zip(smallest, move, strict=True))


def test_less_tp_is_the_way_back():
    assert np.array_equal(LESS_TP, -np.array(MORE_TP))


@pytest.mark.parametrize("move", [*MOVES, *LESS_TP])
def test_the_lattice_has_every_gain_of_a_move(move):
    metric, n = get("gmean"), 7
    lattice = Lattice(metric, n)
    every = {tuple(cells) for cells in lattice.cells.T}
    assert len(every) == lattice.utility.size == 120  # 10 over 3
    able, gain = lattice.gains(move)
    there = lattice.cells[:, able] + np.array(move)[:, None]
    assert np.all(there >= 0)
    assert able.size == sum(all(np.add(x, move) >= 0) for x in every)
    expected = utility_at(metric, there, 7.0) - lattice.utility[able]
    np.testing.assert_array_equal(gain, expected)


def test_the_utility_of_a_loss_is_turned_round():
    cells = np.array([[3.0], [1.0], [2.0], [4.0]])
    found = utility_at(get("squared_count_error"), cells, 10.0)
    assert found == -get("squared_count_error")(3, 4, 5, 10)


def test_a_callable_that_fails_is_not_followed():
    def failing(tp, fp, fn, tn):
        raise ZeroDivisionError

    with pytest.raises(NotFollowedError):
        utility_at(from_counts(failing, "failing"), np.ones((4, 1)), 4.0)
