"""Masks for probability maps: tensors in, tensors out, on any device.

Needs PyTorch: ``pip install 'bestcut[torch]'``. On CUDA, if PyTorch comes with Triton,
maps are decided for Dice, F-beta and Jaccard without a sort and without leaving the
device; everything else goes through the core on the CPU.

- `decide_masks`: the best mask of each map, with its expected score;
- `decide_dataset`: one threshold for many maps that are judged together;
- `BestCutMasks`: the same as the last layer of a model.
"""

from bestcut import _errors
from bestcut._public import publish

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise _errors.package_missing(
        needed_by="bestcut.torch", package="PyTorch", extra="torch"
    ) from error

from bestcut.torch._dataset import decide_dataset
from bestcut.torch._masks import MaskDecision, decide_masks
from bestcut.torch._module import BestCutMasks

__all__ = [
    "BestCutMasks",
    "MaskDecision",
    "decide_dataset",
    "decide_masks",
]

publish(__name__, globals())
