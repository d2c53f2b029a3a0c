"""Running sums are as good as stated."""

import numpy as np
import pytest

from bestcut.counts import running_error, running_sums


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 255, 256, 257, 4096, 5000])
def test_running_sums_are_as_good_as_stated(size):
    rng = np.random.default_rng(size)
    rows, start = rng.random((3, size)) ** 4, rng.random(3)
    wide = np.concatenate([start[:, None], rows], axis=1).astype(np.longdouble)
    want = np.cumsum(wide, axis=1)
    got = running_sums(rows, start)
    assert got.shape == want.shape
    assert np.max(np.abs(got - want) / want) <= running_error(size)
    np.testing.assert_array_equal(running_sums(rows)[:, :1], np.zeros((3, 1)))
