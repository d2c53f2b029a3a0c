"""The types of arrays, and the constants of their numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
CountArray = NDArray[np.int64]  # how many
IndexArray = NDArray[np.intp]  # where

EPS = float(np.finfo(np.float64).eps)  # twice the largest relative error of a rounding
TINY = float(np.finfo(np.float64).tiny)  # below it rounding is absolute
