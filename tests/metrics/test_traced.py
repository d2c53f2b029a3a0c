"""Linear forms of the cells of a box, which sum to n."""

import numpy as np

from bestcut.metrics._moves import MORE_TP
from bestcut.metrics._traced import Boxes


def test_a_linear_form_is_enclosed_as_tightly_as_n_allows():
    lo, hi = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[9.0], [8], [7], [9]])
    boxes = Boxes(lo, hi, 20.0, MORE_TP[0])
    assert boxes.range_of((1, 1, 1, 1, 0)) == (20.0, 20.0)
    assert boxes.range_of((1, 1, 0, 0, 0)) == (4.0, 15.0)
    low, high = boxes.range_of((2, 0.5, -1, 0, 1))
    every = np.array(np.meshgrid(*(np.arange(a, b + 1) for a, b in zip(lo[:, 0], hi[:, 0], strict=True)))).reshape(4, -1)  # fmt: skip  # noqa: E501
    values = np.array([2, 0.5, -1, 0]) @ every[:, every.sum(axis=0) == 20] + 1
    # Halves are exact in floats, but the bound has room for rounding.
    np.testing.assert_allclose((low[0], high[0]), (values.min(), values.max()))
