"""The ranges of cuts, for each of which a rule is proved, leave out no cut."""

import numpy as np
import pytest

from bestcut.curve._total import _doubling


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 16, 17, 1000, 1001, 4096])
def test_ranges_of_cuts_cover_every_cut_once(n):
    low, high = _doubling(float(n))
    cuts = np.concatenate([np.arange(a, b + 1) for a, b in zip(low, high, strict=True)])
    np.testing.assert_array_equal(cuts, np.arange(n + 1))
