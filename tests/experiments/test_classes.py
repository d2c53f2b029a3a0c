"""Class weights of `experiments.classes` are the best, one at a time."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

import bestcut
from experiments import classes


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    P = rng.dirichlet(np.full(4, 0.5), size=60)
    y = np.array([rng.choice(4, p=p) for p in P])
    return y, np.maximum(P, classes.LEAST)


@pytest.mark.parametrize("metric", classes.METRICS)
@pytest.mark.parametrize("c", range(4))
def test_the_best_weight_is_that_of_all_that_differ(problem, metric, c):
    y, P = problem
    w = np.array([1.0, 0.5, 2.0, 0.7])
    turns = np.sort(np.delete(w * P, c, axis=1).max(axis=1) / P[:, c])
    tried = [turns[0] / 2, *np.sqrt(turns[1:] * turns[:-1]), turns[-1] * 2]

    def score(weight):
        here = np.where(np.arange(4) == c, weight, w)
        return classes.realised(metric, y, np.argmax(here * P, axis=1), 4)

    found = classes._best_weight(
        y, P, w, c, bestcut.metrics.get(metric), np.ones(4, dtype=bool)
    )
    # The same counts give the same scores, up to the order of a sum of four.
    assert score(found) == pytest.approx(max(map(score, tried)), abs=1e-14)


@pytest.mark.parametrize("metric", classes.METRICS)
def test_searches_do_not_lose_on_their_own_rows(problem, metric):
    y, P = problem
    before = classes.realised(metric, y, np.argmax(P, axis=1), 4)
    for search in (classes.best_weights, classes.grid_weights):
        w = search(y, P, metric)
        after = classes.realised(metric, y, np.argmax(w * P, axis=1), 4)
        assert after >= before - 1e-14


def test_classes_without_a_row_do_not_count():
    y, chosen = np.array([0, 0, 1, -1]), np.array([0, 1, 1, 2])
    # F1 of class 0 is 2/3, of class 1 is 2/3, of class 2 is 0.
    assert classes.realised("f1", y, chosen, 3) == pytest.approx(2 / 3, abs=1e-15)
    every = classes.realised("f1", y, chosen, 3, present=False)
    assert every == pytest.approx(4 / 9, abs=1e-15)


@pytest.mark.parametrize("way", classes.CALIBRATIONS)
def test_calibrated_rows_sum_to_one(problem, way):
    y, P = problem
    calibrated = classes.CALIBRATIONS[way](y, P)(P)
    np.testing.assert_allclose(calibrated.sum(axis=1), 1.0, rtol=0, atol=1e-12)
