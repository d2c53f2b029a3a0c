"""Places of very many scores among knots, against `numpy.interp`."""

import numpy as np
import pytest

from bestcut import calibrate
from bestcut.calibration._places import places_among

N = 100_000
KNOTS = {
    "even": np.linspace(-8.0, 8.0, 400),
    "crowded": np.concatenate([np.linspace(0.0, 1e-9, 300), [0.5, 1e3]]),
    "far": np.array([-750.0, -1.0, 0.0, 1e-13, 1.0, 40.0]),
    "huge": np.array([-1e150, -1.0, 0.0, 1.0, 1e150]),
    "tiny": np.array([0.0, 5e-324, 1.0]),
    "tiny range": np.array([0.0, 5e-324]),
    "two": np.array([0.25, 0.75]),
    "one": np.array([0.5]),
}


@pytest.mark.parametrize("name", KNOTS)
def test_very_many_places_are_those_of_interp(name):
    knots = KNOTS[name]
    rng = np.random.default_rng(0)
    between = rng.integers(knots.size, size=N // 2)
    ahead = knots[np.minimum(between + 1, knots.size - 1)]
    inside = knots[between] + rng.random(between.size) * (ahead - knots[between])
    beside = np.nextafter(knots, rng.choice([-np.inf, np.inf], knots.size))
    beyond = [knots[0] - 1.0, knots[-1] + 1.0]
    u = np.concatenate([inside, rng.normal(size=N // 2), knots, beside, beyond])
    expected = np.interp(u, knots, np.arange(float(knots.size)))
    found = places_among(knots, u, lambda s: s)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(
        places_among(knots, knots.repeat(N // knots.size + 1), lambda s: s),
        np.arange(knots.size).repeat(N // knots.size + 1),
    )


@pytest.mark.parametrize("shift", [0.0, 5.0])  # of probabilities, and other scores
def test_a_large_batch_has_the_probabilities_of_its_parts(shift):
    rng = np.random.default_rng(1)
    scores = rng.random(300)
    calibration = calibrate(rng.random(300) < scores, scores + shift, n_draws=3)
    new = np.concatenate([[0.0, 1.0], rng.random(N)]) + shift
    whole = calibration._silently(new)
    parts = np.concatenate([calibration._silently(x).mean for x in np.split(new, 6)])
    np.testing.assert_allclose(whole.mean, parts, rtol=1e-13)
