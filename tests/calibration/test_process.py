"""The process behind `calibrate`, against the sum over all paths of a small chain."""

import itertools

import numpy as np
import pytest

from bestcut.calibration._posterior import Cells, _Chains, _gaps, _picked, _rise_laws

STATES = np.linspace(-4.0, 4.0, 16)
CELLS = Cells(
    np.array([0.0, 0.4, 1.0]), np.array([4.0, 3.0, 5.0]), np.array([1.0, 1.0, 3.0])
)
SETTINGS = np.array([[0.0, 3.0, 4.0], [1.0, 1.0, 8.0]])  # kind of time, shape, rise


def by_enumeration(setting):
    """Return P(path and labels) for all paths of states, up to one factor for all."""
    kind, shape, rise = setting
    gaps = _gaps(CELLS)[int(kind)]
    width = STATES[1] - STATES[0]
    scale = rise / shape / width
    p = 1.0 / (1.0 + np.exp(-STATES))
    start = (p * (1.0 - p)) ** 0.05
    rises = np.empty((2, STATES.size))
    for law, a in zip(rises, shape * gaps, strict=True):
        law[0] = (1.0 + scale) ** -a
        for k in range(1, STATES.size):
            law[k] = law[k - 1] * (k - 1 + a) / k * scale / (1.0 + scale)
    chance = p ** CELLS.positive[:, None]
    chance = chance * (1.0 - p) ** (CELLS.count - CELLS.positive)[:, None]
    joint = np.zeros((STATES.size,) * 3)
    for i, j, k in itertools.combinations_with_replacement(range(STATES.size), 3):
        joint[i, j, k] = start[i] / start.sum() * rises[0, j - i] * rises[1, k - j]
        joint[i, j, k] *= chance[0, i] * chance[1, j] * chance[2, k]
    return joint


def test_the_evidence_is_the_sum_over_all_paths():
    chains = _Chains.filtered(CELLS, SETTINGS, np.array([0.3, 0.0]), STATES)
    exact = [np.log(by_enumeration(setting).sum()) for setting in SETTINGS]
    np.testing.assert_allclose(chains.evidence, np.add(exact, [0.3, 0.0]), rtol=1e-12)


def test_paths_are_drawn_by_their_probabilities():
    chains = _Chains.filtered(CELLS, SETTINGS, np.zeros(2), STATES)
    size, made = 100_000, []
    paths = chains.sampled(np.random.default_rng(0), size, made.append)
    assert sum(made) == size
    index = np.searchsorted(STATES, paths - 1e-9)
    assert (np.diff(index, axis=1) >= 0).all()
    joint = sum(by_enumeration(setting) for setting in SETTINGS)
    joint /= joint.sum()
    seen = np.zeros_like(joint)
    np.add.at(seen, tuple(index.T), 1.0 / size)
    error = np.sqrt(joint * (1.0 - joint) / size)
    assert (np.abs(seen - joint) <= 6.0 * error + 1e-5).all()


@pytest.mark.parametrize("level", [1e-300, 0.3, 1.0])
def test_nothing_without_weight_is_picked(level):
    rng = np.random.default_rng(3)
    weight = rng.random((500, 64)) ** 8 * (rng.random((500, 64)) < 0.1)
    weight[:, 40] = 1e-12
    picked = _picked(weight, np.full(500, level))
    assert (weight[np.arange(500), picked] > 0.0).all()
    passed = np.cumsum(weight, axis=1)
    short = np.where(picked > 0, passed[np.arange(500), picked - 1], 0.0)
    target = level * passed[:, -1]
    assert (short <= target * (1.0 + 1e-12)).all()
    assert (passed[np.arange(500), picked] >= target * (1.0 - 1e-12)).all()


def test_laws_of_rises_sum_to_one_and_have_their_mean():
    shape, scale = np.array([[1e-12, 0.2], [0.01, 3.0]]), np.array([0.3, 2.0])
    laws = _rise_laws(shape, scale, 400)
    np.testing.assert_allclose(laws.sum(axis=2), 1.0, rtol=1e-12)
    np.testing.assert_allclose(laws @ np.arange(400.0), shape * scale, rtol=1e-12)
