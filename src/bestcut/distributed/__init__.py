"""Decisions on the engines that hold the data: dask and Spark.

- `bestcut.distributed.dask`: dask arrays and DataFrames;
  ``pip install 'bestcut[dask]'``.
- `bestcut.distributed.spark`: Spark DataFrames; ``pip install 'bestcut[spark]'``.

Both read the scores twice. First, a summary of each partition is sent to the driver,
merged on the way; it says between which two scores the best cut is. Then the scores
between these two are sent, and the cut is fixed. The engine computes the labels lazily.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bestcut import _errors as errors

__all__: list[str] = []

# Loaded on first use, each with the engine that it needs.
_NEEDS = {"dask": "dask", "spark": "pyspark"}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _NEEDS:
            return import_module(f"bestcut.distributed.{name}")
        raise errors.unknown_attribute(name, module=__name__)


def __dir__() -> list[str]:
    return [name for name, engine in _NEEDS.items() if find_spec(engine) is not None]
