"""The helpers do what their names say."""

from types import SimpleNamespace

import numpy as np
import pytest

from bestcut import metrics
from helpers import (
    NAMES,
    adversarial,
    assert_threshold,
    descending,
    load_script,
    metric_of,
    numbers_in,
)


def test_every_metric_is_named_once():
    assert set(metrics.names()) == set(NAMES)
    assert len({metrics.get(name) for name in NAMES}) == len(NAMES)


def test_a_metric_scores_nothing_as_told():
    assert metric_of("f1", 0.5)(0, 0, 0, 3) == 0.5
    assert metric_of("f2", 0.5).beta == 2
    loss = metrics.get("squared_count_error")
    assert metric_of(loss.name, 0.5) is loss


def test_probabilities_come_in_descending_order():
    p = np.array([0.2, 0.9, 0.5])
    assert descending(p).tolist() == [0.9, 0.5, 0.2]
    assert descending(p).flags.c_contiguous
    assert p.tolist() == [0.2, 0.9, 0.5]


def test_adversarial_probabilities_are_of_the_kinds_that_are_asked_for():
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert set(adversarial(rng, 9, weights=[0, 1, 0, 0, 0, 0, 0, 0])) <= {0, 64}
        assert len(set(adversarial(rng, 9, weights=[1, 0, 0, 0, 0, 0, 0, 0]))) == 1
        assert all(0 <= x <= 64 for x in adversarial(rng, 9))


@pytest.mark.parametrize(
    ("k", "threshold", "tied"),
    [
        (0, np.inf, (0, 0)),
        (1, 0.625, (0, 0)),
        (2, 0.5, (1, 2)),
        (3, 0.375, (0, 0)),
        (4, 0.25, (0, 0)),
    ],
)
def test_a_threshold_elsewhere_is_found(k, threshold, tied):
    p = [0.5, 0.75, 0.25, 0.5]
    good = SimpleNamespace(n_positive=k, threshold=threshold, n_tied=tied)
    assert_threshold(p, good)
    for wrong in ({"threshold": 0.5 * (k != 2)}, {"n_tied": (1, 1)}):
        bad = SimpleNamespace(**{**vars(good), **wrong})
        with pytest.raises(AssertionError):
            assert_threshold(p, bad)


def test_numbers_are_read_from_a_sentence():
    assert numbers_in("At most 0.9 of -2, or 1e-3.") == [0.9, -2, 1e-3]


def test_a_script_is_loaded_by_its_path():
    assert load_script("benchmarks/workloads.py").LAWS
    with pytest.raises(FileNotFoundError):
        load_script("benchmarks/no_such_script.py")
