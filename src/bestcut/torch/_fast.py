"""Masks on a GPU: what is launched, and with what sizes."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
import triton

from bestcut.torch import _kernels

_SMALL = 1024  # pixels of maps that one program decides alone
_SAMPLED = 4096  # pixels that a first threshold is found from
_VAST, _OF_VAST = 1 << 24, 16384  # the same for maps of so many pixels
_BLOCK, _WARPS = 512, 4  # pixels that a program looks at together
_REGISTERS = 64  # of a thread that reads maps, so that there are many of them
_PROGRAMS = 8  # of a multiprocessor, before its programs get longer
_LOOPS = 32  # blocks of a program, if they do not get too many
_PARTS = 4096  # programs of a map at most, since one adds up what all of them left
_ROOM, _SHORT = 1024, 64  # pixels of a list, and of one that is short enough
_OPEN = 256  # pixels of a small map that are open at most, before they are binned
_SPAN, _FEW = 512, 256  # pixels that one program looks at together; of a tiny map
_CROWD = 256  # bins of pixels
_COUNTS = 3  # reads that look for the place that a budget asks for
_KNOWN = 256  # shapes of maps whose kernels are kept at hand


# Where what is known of a map stands in its state.
NAMES = {
    "score": _kernels.SCORE.value,
    "error": _kernels.ERROR.value,
    "gap": _kernels.GAP.value,
    "count": _kernels.COUNT.value,
    "threshold": _kernels.CUT.value,
    "bad": _kernels.BAD.value,
}


@cache
def _numbers(device: torch.device, b2: float, empty: float) -> torch.Tensor:
    """Return what kernels need in double precision: the metric, and nodes."""
    y, weight = np.polynomial.legendre.leggauss(_kernels.NODES)
    y = (y + 1.0) / 2.0
    # z = (1 - y²)^c: nodes are dense near 1, where integrands of many positives are.
    parts = ([b2, empty], np.log1p(-(y**2)), weight * y)
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

    `arguments` are names of what `decide` gives it, and `compiled` has it once it was
    launched: Triton would look at all arguments again.
    """

    kernel: Any
    grid: tuple[int, int, int]
    arguments: tuple[str, ...]
    constants: dict[str, Any]
    options: dict[str, int]
    compiled: list[Any]


class _Plan:
    """What is launched for maps of some shape, and with what sizes."""

    def __init__(self, maps: torch.Tensor, kind: int, bounded: bool) -> None:
        self.count, self.pixels = maps.shape
        small = self.pixels <= _SMALL
        span = _SPAN if not small else _FEW if self.pixels <= _FEW else _SMALL
        self.loops = loops_of(self.count, self.pixels, _processors(maps.device))
        self.chunks = triton.cdiv(self.pixels, _BLOCK * self.loops)
        opened = _OPEN if small else _ROOM
        work = 2 * (opened + _kernels.NODES) + (0 if small else _ROOM)
        # Where each part begins in the memory that all kernels share.
        parts = {
            "state_ptr": self.count * _kernels.STATE,
            "work_ptr": self.count * work,
            "left_ptr": 0 if small else self.count * _kernels.SUMS * self.chunks,
            "list_ptr": 0 if small else self.count * 2 * _ROOM,
            "marks_ptr": self.count,  # two whole numbers have the room of one of these
        }
        self.begin, self.end = {}, 0
        for name, size in parts.items():
            self.begin[name] = self.end
            self.end += size
        constants = {
            "STATE": _kernels.STATE,
            "SUMS": _kernels.SUMS,
            "NODES": _kernels.NODES,
            "DOUBLE": maps.dtype == torch.float64,
            "KIND": kind,
            "BLOCK": _BLOCK,
            "LOOPS": self.loops,
            "CHUNKS": triton.next_power_of_2(self.chunks),
            "EVEN": self.pixels % (_BLOCK * self.loops) == 0,
            "SAMPLED": _OF_VAST if self.pixels >= _VAST else _SAMPLED,
            "SMALL": small,
            "SPAN": span,
            "ROOM": _ROOM,
            "OPEN": opened,
            "CROWD": _CROWD,
            "SHORT": _SHORT,
            "WORK": work,
        }

        def launch(kernel: Any, programs: int, warps: int, **more: int) -> _Launch:
            tensors = tuple(x for x in kernel.arg_names if not x.isupper())
            own = {x: constants[x] for x in kernel.arg_names if x.isupper()}
            options = {"num_warps": warps} | more
            return _Launch(kernel, (programs, 1, 1), tensors, own, options, [])

        # One program a map: more threads for each, if there are few maps.
        alone = not small and self.count <= _processors(maps.device)
        warps = 2 * _WARPS if alone or span == _SMALL else _WARPS
        last = launch(_kernels.finish, self.count, warps)
        if small:
            self.launches = [last]
        else:
            every, counts = self.count * self.chunks, _COUNTS if bounded else 1
            spare = {} if constants["DOUBLE"] else {"maxnreg": _REGISTERS}
            self.launches = [
                launch(_kernels.sample, self.count, _WARPS),
                *[launch(_kernels.count, every, _WARPS, **spare)] * counts,
                launch(_kernels.write, every, _WARPS, **spare),
                last,
            ]

    def run(self, given: dict[str, Any], device: torch.device) -> None:
        """Launch everything, on the current stream of a device."""
        other = device.type == "cuda" and device.index != torch.cuda.current_device()
        with torch.cuda.device(device) if other else nullcontext():
            if self.launches[-1].compiled:
                self._run_compiled(given, device)
            else:
                self._compile(given)

    def _run_compiled(self, given: dict[str, Any], device: torch.device) -> None:
        # Triton takes addresses, too; tensors, and what it looks at in them, would cost
        # more than a map of a million pixels does.
        plain = {
            name: x.data_ptr() if isinstance(x, torch.Tensor) else x
            for name, x in given.items()
        }
        stream = torch.cuda.current_stream(device).cuda_stream
        for x in self.launches:
            own = [plain[name] for name in x.arguments]
            x.compiled[0](*own, *x.constants.values(), stream=stream)

    def _compile(self, given: dict[str, Any]) -> None:
        for x in self.launches:
            own = [given[name] for name in x.arguments]
            found = x.kernel[x.grid](*own, **x.constants, **x.options)
            if found is not None:  # as Triton's interpreter answers
                x.compiled.append(found[x.grid])


_PLANS: dict[Any, _Plan] = {}


def _plan(maps: torch.Tensor, kind: int, fewest: int, most: int) -> _Plan:
    """Return the plan for maps; Triton looks at where they begin, and at numbers."""
    aligned = maps.data_ptr() % 16 == 0
    bounded = fewest > 0 or most < maps.shape[1]
    key = (maps.device, maps.dtype, tuple(maps.shape), aligned, kind, bounded)
    if key not in _PLANS:
        if len(_PLANS) >= _KNOWN:
            _PLANS.clear()
        _PLANS[key] = _Plan(maps, kind, bounded)
    return _PLANS[key]


def decide(
    maps: torch.Tensor,
    *,
    jaccard: bool,
    b2: float,
    empty: float,
    fewest: int,
    most: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Decide maps without waiting for it.

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
    fewest, most : int
        Bounds on the number of pixels of each mask; no more than there are.

    Returns
    -------
    masks : Tensor of bool, shape (maps, pixels)
    state : Tensor of float64
        What is known of each map, in a row with columns as in `NAMES`.
    """
    plan = _plan(maps, int(jaccard), fewest, most)
    masks = torch.empty(maps.shape, dtype=torch.bool, device=maps.device)
    room = torch.empty(plan.end, dtype=torch.float64, device=maps.device)
    given = {name: room[first:] for name, first in plan.begin.items()}
    given["marks_ptr"] = given["marks_ptr"].view(torch.int32)
    given |= {
        "n": plan.pixels,
        "chunks": plan.chunks,
        "loops": plan.loops,
        "fewest": fewest,
        "most": most,
        "p_ptr": maps,
        "mask_ptr": masks.view(torch.uint8),
        "node_ptr": _numbers(maps.device, b2, empty),
    }
    plan.run(given, maps.device)
    state = room[: plan.count * _kernels.STATE].view(plan.count, _kernels.STATE)
    return masks, state
