"""Means of maps are ordered as the maps are, to the last bit."""

import numpy as np

from bestcut.uncertain import mapped


def test_the_mean_of_maps_that_do_not_fall_does_not_fall():
    # A threshold on the mean cuts the ranking of the scores only if this is so. Maps
    # that rise by rounding errors alone are where a mean could fall.
    rng = np.random.default_rng(0)
    for _ in range(300):
        low = rng.random(7)
        high = np.where(rng.random(7) < 0.3, np.nextafter(low, 1.0), low)
        top = np.maximum(high, rng.random(7))
        place = np.sort(np.append(rng.random(5) * 2, [0.0, 1.0, 2.0]))
        mean = mapped(place, np.array([low, high, top])).mean
        assert np.all(np.diff(mean) >= 0)
        np.testing.assert_allclose(mean[[0, -1]], [low.mean(), top.mean()], rtol=1e-14)
