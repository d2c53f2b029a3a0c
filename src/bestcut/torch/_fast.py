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
    device = maps.device
    masks = torch.empty(maps.shape, dtype=torch.bool, device=device)
    small = pixels <= _SMALL
    listed = triton.next_power_of_2(pixels) if small else _kernels.LISTED
    loops = loops_of(count, pixels, _processors(device))
    chunks = triton.cdiv(pixels, _BLOCK * loops)
    double = maps.dtype == torch.float64
    work = torch.float64 if double else torch.float32
    state = torch.empty((count, _kernels.STATE), dtype=torch.float64, device=device)
    left = torch.empty(
        count * _kernels.LEFT * chunks, dtype=torch.float64, device=device
    )
    values = torch.empty(count * listed, dtype=work, device=device)
    places = torch.empty(count * listed, dtype=torch.int64, device=device)
    tie = torch.empty(count, dtype=torch.int64, device=device)
    mode = torch.empty(count, dtype=torch.int32, device=device)
    counter = torch.empty(2 * count, dtype=torch.int32, device=device)
    numbers = _numbers(device, b2, empty)
    target = masks.view(torch.uint8)
    both = {"WIDTH": _kernels.STATE, "COLUMNS": _kernels.LEFT, "DOUBLE": double}
    both |= {"KIND": int(jaccard), "BLOCK": _BLOCK, "LOOPS": loops, "SIZE": listed}
    both |= {"CHUNKS": triton.next_power_of_2(chunks)}
    both |= {"EVEN": pixels % (_BLOCK * loops) == 0, "SHORT": min(_SHORT, listed)}
    every, each = (count * chunks, 1, 1), (count, 1, 1)
    reads = (maps, target, state, mode, counter, left, numbers, tie, pixels, chunks)
    lists = (maps, state, mode, counter, left, values, places, pixels, chunks)
    solves = (state, mode, counter, left, values, places, tie, numbers, pixels, chunks)
    nodes = {"COUNT_OF_NODES": _kernels.NODES}
    even = {"COUNT_OF_NODES": _kernels.EVEN, "BEFORE": 2 + 2 * _kernels.NODES}
    first = {"SIZE": _SAMPLED, "STEPS": _STEPS, "ALL_LISTED": small}
    begin = (maps, state, mode, counter, pixels, b2)
    launches = [_Launch(_kernels.sample, each, begin, {**both, **first}, _SAMPLE_WARPS)]
    for number in range(0 if small else _TURNS):
        now = {**both, **nodes, "FIRST": number == 0, "LAST": False}
        launches.append(_Launch(_kernels.turn, every, reads, now, _WARPS))
    last = {**both, **nodes, "FIRST": False, "LAST": True}
    launches += [
        _Launch(_kernels.collect, every, lists, both, _WARPS),
        _Launch(
            _kernels.solve,
            each,
            solves,
            {**both, **even},
            min(max(listed // 128, 1), 16),
        ),
        _Launch(_kernels.turn, every, reads, last, _WARPS),
    ]
    aligned = maps.data_ptr() % 16 == 0
    key = (device, maps.dtype, maps.shape, aligned, jaccard, b2)
    if device.type == "cuda" and device.index != torch.cuda.current_device():
        with torch.cuda.device(device):
            _run(launches, key)
    else:
        _run(launches, key)
    return Found(masks, state)


class _Launch(NamedTuple):
    kernel: Any
    grid: tuple[int, int, int]
    arguments: tuple[Any, ...]
    constants: dict[str, Any]
    warps: int


_COMPILED: dict[Any, list[Any]] = {}


def _run(launches: list[_Launch], key: Any) -> None:
    """Launch kernels; those that were launched with such arguments, without much ado.

    Triton looks at every argument of a launch again, which takes longer than a map of a
    million pixels does.
    """
    known = _COMPILED.get(key)
    if known is None:
        found = []
        for kernel, grid, arguments, constants, warps in launches:
            names = kernel.arg_names[len(arguments) :]
            some = {x: constants[x] for x in names}
            found.append(kernel[grid](*arguments, **some, num_warps=warps))
        if found[0] is not None:  # as Triton's interpreter answers
            if len(_COMPILED) >= _KNOWN:
                _COMPILED.clear()
            _COMPILED[key] = found
        return
    for compiled, (kernel, grid, arguments, constants, _) in zip(
        known, launches, strict=True
    ):
        rest = (constants[x] for x in kernel.arg_names[len(arguments) :])
        compiled[grid](*arguments, *rest)
