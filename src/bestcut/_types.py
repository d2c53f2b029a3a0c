"""The types of arrays, and the constants of their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
CountArray = NDArray[np.int64]  # how many
IndexArray = NDArray[np.intp]  # where

# What a decision has as labels and as threshold; any if nothing is said.
if TYPE_CHECKING:  # the defaults of type variables are new in Python 3.13
    from typing_extensions import TypeVar as Variable

    Labels_co = Variable("Labels_co", covariant=True, default=Any)
    Threshold_co = Variable(
        "Threshold_co", bound=float | None, covariant=True, default=float | None
    )
else:
    Labels_co = TypeVar("Labels_co", covariant=True)
    Threshold_co = TypeVar("Threshold_co", covariant=True)


class Column(Protocol):
    """What columns of pandas and polars share, and neither arrays nor tables have."""

    @property
    def name(self) -> Any:
        """The name of the column."""

    def to_numpy(self) -> NDArray[Any]:
        """Return the entries."""


AnyColumn = TypeVar("AnyColumn", bound=Column)

EPS = float(np.finfo(np.float64).eps)  # twice the largest relative error of a rounding
TINY = float(np.finfo(np.float64).tiny)  # below it rounding is absolute
