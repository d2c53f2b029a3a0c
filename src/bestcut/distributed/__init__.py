"""Decisions on the engines that hold the data: dask and Spark.

- `bestcut.distributed.dask`: dask arrays and DataFrames;
  ``pip install 'bestcut[dask]'``.
- `bestcut.distributed.spark`: Spark DataFrames; ``pip install 'bestcut[spark]'``.

Both read the scores twice. First a summary of each partition travels, merged on the
way; it says between which scores the best cut is. Then the scores between those travel,
and the cut is fixed. The labels are left to the engine, lazily.
"""

from bestcut.distributed._passes import DistributedCut

__all__ = ["DistributedCut"]
