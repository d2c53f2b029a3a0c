"""The experiment on guarantees counts what it says it counts."""

import numpy as np
import pytest
from experiments.guarantee import MADE, Outcome, cells_of, is_broken, made_cell


def test_a_broken_promise_is_seen():
    labels = np.array([True, True, True, False])
    truth = np.array([True, True, False, True])
    assert not is_broken(labels, truth, {"precision": 0.66, "recall": 0.66})
    assert is_broken(labels, truth, {"precision": 0.67})
    assert is_broken(labels, truth, {"precision": 0.66, "recall": 0.67})


@pytest.mark.parametrize("name", MADE)
def test_made_data_are_what_they_are_called(name):
    y, s = MADE[name](np.random.default_rng(0), 20_000)
    assert abs(y.mean() - 0.6) < 0.06
    if name == "constant":
        assert np.ptp(s) == 0
        return
    gain = y[s >= np.median(s)].mean() - y[s < np.median(s)].mean()
    wanted = {"random": 0, "reversed": -1}.get(name, 1)
    assert np.sign(np.round(gain, 1)) == wanted


def test_outcomes_are_added_up():
    found = [Outcome(True, 4, False), Outcome(False, 0, False), Outcome(True, 2, True)]
    assert cells_of(found) == ["3", "66.7 ± 27.2", "2.0 ± 0.9", "33.3 ± 27.2"]
    assert cells_of([]) == ["", "too few rows", "", ""]


def test_separable_data_are_certified_and_never_broken():
    found = made_cell("separable", 100, 300, {"precision": 0.6}, 5)
    assert all(x.certified and x.flagged > 150 and not x.broken for x in found)
