"""The way of maps on a GPU: what is launched, and with what sizes."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
import triton

from bestcut.torch import _kernels

_TURNS = 2  # reads of a map before the last one; what it does not need ends at once
_SAMPLED, _SAMPLE_WARPS = 4096, 4  # pixels that a first threshold is found from
_STEPS = 6  # in which it is found
_BLOCK, _WARPS = 1024, 4  # pixels that a program looks at together
_PROGRAMS = 6  # of a multiprocessor, before its programs get longer
_LOOPS = 32  # blocks of a program, if they do not get too many
_PARTS = 4096  # programs of a map at most, since one adds up what all of them left
_KNOWN = 256  # shapes of maps whose kernels are kept at hand
_SHORT = 128  # pixels of a list that is short
_SMALL = 4096  # pixels of maps that are listed whole


# Where what is known of a map stands in its state.
NAMES = {
    "score": _kernels.SCORE.value,
    "error": _kernels.ERROR.value,
    "gap": _kernels.LOSS.value,
    "count": _kernels.COUNT.value,
    "threshold": _kernels.WRITTEN.value,
    "bad": _kernels.BAD.value,
}


class Found(NamedTuple):
    """The masks of some maps, and what is known of them.

    Attributes
    ----------
    masks : Tensor of bool, shape (maps, pixels)
        The masks.
    state : Tensor of float64, shape (maps, 16)
        See `_kernels`.
    """

    masks: torch.Tensor
    state: torch.Tensor


@cache
def _numbers(device: torch.device, b2: float, empty: float) -> torch.Tensor:
    """Return what kernels need in double precision: the metric, and nodes."""
    x, weight = np.polynomial.laguerre.laggauss(_kernels.NODES)
    y, even = np.polynomial.legendre.leggauss(_kernels.EVEN)
    y = (y + 1.0) / 2.0
    # z = 1 - y²: nodes are dense near 1, where integrands of many positives are.
    parts = [np.array([b2, empty]), x, weight, 1.0 - y**2, even * y]
    return torch.tensor(np.concatenate(parts), dtype=torch.float64, device=device)


@cache
def _processors(device: torch.device) -> int:
    if device.type != "cuda":
        return 1
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def loops_of(maps: int, pixels: int, processors: int) -> int:
    """Return how many blocks a program goes through."""
    wanted = maps * pixels // (_BLOCK * _PROGRAMS * processors)
    most = min(_LOOPS, triton.next_power_of_2(triton.cdiv(pixels, _BLOCK)))
    least = triton.next_power_of_2(triton.cdiv(pixels, _BLOCK * _PARTS))
    return int(max(min(triton.next_power_of_2(max(wanted, 1)), most), least))


class _Launch(NamedTuple):
    """A kernel with everything but its tensors.

    `reads` names what it is given; `constants` are the rest, in its order.
    """

    kernel: Any
    reads: str
    grid: tuple[int, int, int]
    constants: dict[str, Any]
    warps: int


class _Plan:
    """What is launched for maps of some shape, and with what sizes."""

    def __init__(self, maps: torch.Tensor, kind: int, whole: bool) -> None:
        count, pixels = maps.shape
        self.small = pixels <= _SMALL and whole
        self.listed = triton.next_power_of_2(pixels) if self.small else _kernels.LISTED
        loops = loops_of(count, pixels, _processors(maps.device))
        self.chunks = triton.cdiv(pixels, _BLOCK * loops)
        self.double = maps.dtype == torch.float64
        self.compiled: list[Any] = []
        every, each = (count * self.chunks, 1, 1), (count, 1, 1)
        common = {
            "WIDTH": _kernels.STATE,
            "COLUMNS": _kernels.LEFT,
            "DOUBLE": self.double,
            "KIND": kind,
            "BLOCK": _BLOCK,
            "LOOPS": loops,
            "SIZE": self.listed,
            "CHUNKS": triton.next_power_of_2(self.chunks),
            "EVEN": pixels % (_BLOCK * loops) == 0,
            "SHORT": min(_SHORT, self.listed),
            "COUNT_OF_NODES": _kernels.NODES,
        }
        first = {"SIZE": _SAMPLED, "STEPS": _STEPS, "ALL_LISTED": self.small}
        even = {"COUNT_OF_NODES": _kernels.EVEN, "BEFORE": 2 + 2 * _kernels.NODES}
        warps = min(max(self.listed // 128, 1), 16)
        turns = [(x == 0, False) for x in range(0 if self.small else _TURNS)]

        def launch(
            kernel: Any, reads: str, grid: Any, more: Any, warps: int
        ) -> _Launch:
            known = common | more
            own = {x: known[x] for x in kernel.arg_names if x.isupper()}
            return _Launch(kernel, reads, grid, own, warps)

        def turn(first: bool, last: bool) -> _Launch:
            more = {"FIRST": first, "LAST": last}
            return launch(_kernels.turn, "turn", every, more, _WARPS)

        self.launches = [
            launch(_kernels.sample, "sample", each, first, _SAMPLE_WARPS),
            *(turn(*x) for x in turns),
            launch(_kernels.collect, "collect", every, {}, _WARPS),
            launch(_kernels.solve, "solve", each, even, warps),
            turn(False, True),
        ]

    def run(self, tensors: dict[str, tuple[Any, ...]]) -> None:
        """Launch the kernels; after the first time without much ado.

        Triton looks at every argument of a launch again, which takes longer than a map
        of a million pixels does.
        """
        if self.compiled:
            for compiled, x in zip(self.compiled, self.launches, strict=True):
                compiled[x.grid](*tensors[x.reads], *x.constants.values())
            return
        found = [
            x.kernel[x.grid](*tensors[x.reads], **x.constants, num_warps=x.warps)
            for x in self.launches
        ]
        if found[0] is not None:  # as Triton's interpreter answers
            self.compiled = found


_PLANS: dict[Any, _Plan] = {}


def _plan(maps: torch.Tensor, kind: int, whole: bool) -> _Plan:
    """Return the plan for maps, which depends on where they begin in memory, too."""
    aligned = maps.data_ptr() % 16 == 0
    key = (maps.device, maps.dtype, tuple(maps.shape), aligned, kind, whole)
    if key not in _PLANS:
        if len(_PLANS) >= _KNOWN:
            _PLANS.clear()
        _PLANS[key] = _Plan(maps, kind, whole)
    return _PLANS[key]


def find(maps: torch.Tensor, *, jaccard: bool, b2: float, empty: float) -> Found:
    """Return the best masks of some maps.

    Parameters
    ----------
    maps : Tensor, shape (maps, pixels)
        Probabilities, one map after another in memory.
    jaccard : bool
        Whether the metric is Jaccard; F-beta otherwise.
    b2 : float
        Beta²; 1 for Jaccard.
    empty : float
        The score of two empty masks.
    """
    count, pixels = maps.shape
    plan = _plan(maps, int(jaccard), b2.is_integer())
    listed, chunks = count * plan.listed, plan.chunks

    def new(size: Any, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(size, dtype=dtype, device=maps.device)

    masks = new(maps.shape, torch.bool)
    state = new((count, _kernels.STATE), torch.float64)
    left = new(count * _kernels.LEFT * chunks, torch.float64)
    values = new(listed, torch.float64 if plan.double else torch.float32)
    places, tie = new(listed, torch.int64), new(count, torch.int64)
    mode, counter = new(count, torch.int32), new(2 * count, torch.int32)
    numbers = _numbers(maps.device, b2, empty)
    target = masks.view(torch.uint8)
    lists = (left, values, places)
    tensors = {
        "sample": (maps, state, mode, counter, pixels, b2),
        "turn": (
            *(maps, target, state, mode, counter, left, numbers, tie),
            *(pixels, chunks),
        ),
        "collect": (maps, state, mode, counter, *lists, pixels, chunks),
        "solve": (state, mode, counter, *lists, tie, numbers, pixels, chunks),
    }
    if maps.is_cuda and maps.device.index != torch.cuda.current_device():
        with torch.cuda.device(maps.device):
            plan.run(tensors)
    else:
        plan.run(tensors)
    return Found(masks, state)
