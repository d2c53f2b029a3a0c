"""The best mask of each probability map."""

from __future__ import annotations

import math
import sys
from importlib.util import find_spec
from operator import index
from typing import Any, NamedTuple

import numpy as np
import torch

from bestcut import _errors as errors
from bestcut._validation import check_bounds
from bestcut.many import decide_each
from bestcut.metrics import FBeta, Jaccard, Metric, get

_FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
_BLOCK = 1 << 24  # pixels that go to the core together


class MaskDecision:
    """The masks with the best expected score, one for each map.

    All tensors are on the device of the maps.

    Attributes
    ----------
    masks : Tensor of bool
        The masks, in the shape of the probabilities; of a subclass such as MONAI's
        MetaTensor, one of it with the same metadata.
    metric : Metric
        What was maximised.

    See Also
    --------
    bestcut.torch.decide_masks : Returns one.
    bestcut.Decisions : The same for arrays.

    Examples
    --------
    >>> import torch
    >>> from bestcut.torch import decide_masks
    >>> found = decide_masks(torch.tensor([[[0.75, 0.5], [0.0, 0.25]]]), "accuracy")
    >>> found.n_positive.tolist(), found.threshold.tolist()
    ([1], [0.75])
    >>> found.expected_score.tolist()
    [0.75]
    """

    def __init__(self, masks: torch.Tensor, numbers: _Numbers, metric: Metric) -> None:
        self.masks, self.metric = masks, metric
        self._numbers = numbers

    @property
    def expected_score(self) -> torch.Tensor:
        """For each map, the expected metric of its mask, in float64."""
        return self._numbers.of("score")

    @property
    def error(self) -> torch.Tensor:
        """For each map, a bound on the numerical error of `expected_score`."""
        return self._numbers.of("error")

    @property
    def gap(self) -> torch.Tensor:
        """For each map, a bound on what another mask could gain, up to `error`."""
        gap = self._numbers.of("gap")
        return torch.where(gap < 1e299, gap, math.inf)

    @property
    def n_positive(self) -> torch.Tensor:
        """For each map, how many pixels its mask has."""
        return self._numbers.of("count").to(torch.int64)

    @property
    def threshold(self) -> torch.Tensor:
        """For each map, the smallest probability in its mask; inf if that is empty.

        If several pixels have exactly that probability, only the first ones may be in
        the mask.
        """
        threshold = self._numbers.of("threshold")
        return torch.where(self._numbers.of("count") > 0, threshold, math.inf)

    def check(self) -> MaskDecision:
        """Raise an error if a map has invalid probabilities; return the decision.

        This waits for the device. It has already been done, unless ``validate=False``
        was passed or the masks were decided in a CUDA graph.

        Returns
        -------
        MaskDecision
            The decision itself.

        Raises
        ------
        InvalidProbabilityError
            If a map has a probability that is NaN or outside [0, 1].
        """
        _refuse(self._numbers.of("bad").cpu().numpy() > 0.0)
        return self

    def __repr__(self) -> str:
        return (
            f"MaskDecision({self.metric.name}: masks of shape "
            f"{tuple(self.masks.shape)} on {self.masks.device})"
        )


def _refuse(bad: np.ndarray) -> None:
    """Raise an error if some maps are bad."""
    if bad.any():
        raise errors.maps_not_probabilities(
            int(bad.sum()), tuple(int(x) for x in np.argwhere(bad)[0])
        )


class _Numbers(NamedTuple):
    """What is known of each map: `values` has a row for each, `names` its columns."""

    values: torch.Tensor
    names: dict[str, int]
    shape: tuple[int, ...]

    def of(self, name: str) -> torch.Tensor:
        """Return one number of each map."""
        return self.values[:, self.names[name]].reshape(self.shape)


_OF_CORE = {
    name: i
    for i, name in enumerate(("score", "error", "gap", "count", "threshold", "bad"))
}


@torch.compiler.disable  # type: ignore[untyped-decorator]
def decide_masks(
    probs: torch.Tensor,
    metric: str | Metric = "dice",
    *,
    dims: tuple[int, ...] = (-2, -1),
    min_positives: int = 0,
    max_positives: int | None = None,
    validate: bool | None = None,
) -> MaskDecision:
    """Choose the mask with the best expected metric for each probability map.

    Each map is a problem of its own, as in `bestcut.decide_each`. On a CUDA device,
    masks for Dice, F-beta (beta from 0.5 to 2) and Jaccard are decided there, with
    bounds on the number of pixels, too. Other metrics go through the CPU.

    Parameters
    ----------
    probs : Tensor of float32, float16, bfloat16 or float64
        Calibrated probabilities. There may be any dimensions besides those of a map.
    metric : str or Metric, default="dice"
        What to maximise for each map; as for `bestcut.decide`.
    dims : tuple of int, default=(-2, -1)
        The dimensions of a map; ``(-3, -2, -1)`` for volumes.
    min_positives, max_positives : int, optional
        Bounds on the number of pixels of each mask.
    validate : bool, optional
        Whether to wait for the device, and raise an error at once if a probability is
        NaN or outside [0, 1]. By default, True unless a CUDA graph is being captured.
        If False, the masks of such maps mean nothing, and `MaskDecision.check` raises
        the error later.

    Returns
    -------
    MaskDecision
        With ``masks`` in the shape of `probs`, and ``expected_score``, ``error``,
        ``gap``, ``n_positive`` and ``threshold`` for each map.

    Raises
    ------
    InvalidProbabilityError
        If a probability is NaN or outside [0, 1], unless `validate` is False.
    TypeError
        If `probs` is not a tensor of floats, or `dims` are not whole numbers.
    ValueError
        If `probs` does not have the dimensions `dims`, maps have no pixels, or the
        metric is not known.
    SolverMismatchError
        If the metric does not satisfy the ranking principle.
    RuntimeError
        If a CUDA graph is being captured, and the metric needs the CPU.

    See Also
    --------
    bestcut.torch.BestCutMasks : The same as the last layer of a model.
    bestcut.torch.decide_dataset : One threshold for all maps.
    bestcut.decide_each : The same for arrays.

    Examples
    --------
    >>> import torch
    >>> from bestcut.torch import decide_masks
    >>> faint = torch.tensor([[[0.4, 0.4], [0.0, 0.3]]])
    >>> found = decide_masks(faint, "dice")
    >>> found.masks.tolist()
    [[[True, True], [False, True]]]
    >>> [round(x, 3) for x in found.expected_score.tolist()]
    [0.475]
    """
    chosen = get(metric)
    maps, order = _as_maps(probs, dims)
    device = maps.device
    capturing = device.type == "cuda" and torch.cuda.is_current_stream_capturing()
    if validate is None:
        validate = not capturing
    lead = maps.shape[:-1]
    flat = maps.reshape(-1, maps.shape[-1])
    on_device = flat.shape[0] > 0 and _has_kernels(device, chosen)
    if on_device:
        low, high = check_bounds(min_positives, max_positives, sys.maxsize)
        low, high = (min(x, flat.shape[-1]) for x in (low, high))
        masks, values, names = _on_device(flat.contiguous(), chosen, low, high)
    elif capturing:
        raise errors.not_in_a_graph(chosen.name)
    else:
        masks, values = _on_host(flat, chosen, min_positives, max_positives)
        names = _OF_CORE
    numbers = _Numbers(values, names, tuple(lead))
    found = MaskDecision(_undone(masks, probs, order), numbers, chosen)
    if type(probs) not in (torch.Tensor, torch.nn.Parameter):
        own_type = torch.zeros_like(probs.detach(), dtype=torch.bool)
        found.masks = own_type.copy_(found.masks)
    # This comes last, because the device stands still in the meantime.
    return found.check() if validate else found


def check_dims(dims: Any) -> tuple[int, ...]:
    """Return dimensions as whole numbers."""
    try:
        whole = tuple(map(index, dims))
    except TypeError as error:
        raise errors.dims_not_whole(dims) from error
    if any(isinstance(d, bool) for d in dims):
        raise errors.dims_not_whole(dims)
    return whole


def _as_maps(
    probs: torch.Tensor, dims: tuple[int, ...]
) -> tuple[torch.Tensor, list[int]]:
    """Return maps as the last dimension, and how the dimensions were put."""
    if not isinstance(probs, torch.Tensor):
        raise errors.not_a_tensor(probs)
    if probs.dtype not in _FLOATS:
        raise errors.not_a_float_tensor(probs.dtype)
    own = [d if d >= 0 else d + probs.ndim for d in check_dims(dims)]
    if (
        not own
        or len(set(own)) != len(own)
        or not all(0 <= d < probs.ndim for d in own)
    ):
        raise errors.not_dimensions(dims, probs.ndim)
    order = [d for d in range(probs.ndim) if d not in own] + own
    plain = probs.detach().as_subclass(torch.Tensor)
    maps = plain.permute(order).flatten(-len(own))
    if not maps.shape[-1]:
        raise errors.maps_without_pixels(tuple(probs.shape), dims)
    return maps, order


def _undone(masks: torch.Tensor, probs: torch.Tensor, order: list[int]) -> torch.Tensor:
    """Return masks in the shape of the probabilities."""
    shape = [probs.shape[d] for d in order]
    back = [order.index(d) for d in range(probs.ndim)]
    return masks.reshape(shape).permute(back)


def _has_kernels(device: torch.device, metric: Metric) -> bool:
    """Return whether maps are decided where they are."""
    if (
        not isinstance(metric, FBeta | Jaccard)
        or not 0.0 <= metric.zero_division <= 1.0
    ):
        return False
    if isinstance(metric, FBeta) and not 0.5 <= metric.beta <= 2.0:
        return False  # sums and nodes were made for these
    return device.type == "cuda" and find_spec("triton") is not None


def _on_device(
    flat: torch.Tensor, metric: Metric, low: int, high: int
) -> tuple[torch.Tensor, torch.Tensor, dict[str, int]]:
    """Decide by kernels, without waiting for them."""
    from bestcut.torch import _fast

    assert isinstance(metric, FBeta | Jaccard)
    jaccard = isinstance(metric, Jaccard)
    b2 = 1.0 if isinstance(metric, Jaccard) else float(metric.beta) ** 2
    empty = float(metric.zero_division)
    masks, state = _fast.decide(
        flat, jaccard=jaccard, b2=b2, empty=empty, fewest=low, most=high
    )
    return masks, state, _fast.NAMES


def _on_host(
    flat: torch.Tensor, metric: Metric, low: int, high: int | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Decide by the core, some maps at a time."""
    count, pixels = flat.shape
    masks = torch.empty(flat.shape, dtype=torch.bool, device=flat.device)
    values = np.zeros((count, len(_OF_CORE)))
    step = max(_BLOCK // pixels, 1)
    for first in range(0, count, step):
        some = slice(first, first + step)
        p = flat[some].to("cpu", torch.float64).numpy()
        bad = ~((p >= 0.0) & (p <= 1.0))
        wrong = bad.any(axis=1)
        if wrong.any():
            p = np.where(bad, 0.0, p)
        found = decide_each(p, metric, min_positives=low, max_positives=high)
        labels = torch.from_numpy(np.ascontiguousarray(found.labels))
        masks[some] = labels.to(masks.device)
        columns = (
            found.expected_score,
            found.error,
            found.gap,
            found.n_positive,
            np.min(p, axis=1, where=found.labels > 0, initial=np.inf),
            wrong,
        )
        values[some] = np.stack(columns, axis=1)
    return masks, torch.from_numpy(values).to(flat.device)
