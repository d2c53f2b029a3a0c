"""The way of maps on a GPU: what is launched, and with what sizes."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
import triton

from bestcut.torch import _kernels

_TURNS = 2  # reads of a map before the last one; what it does not need ends at once
_SAMPLED, _SAMPLE_WARPS = 4096, 4  # pixels that a first threshold is found from
_STEPS = 6  # in which it is found
_BLOCK, _WARPS = 512, 4  # pixels that a program looks at together
_REGISTERS = 64  # of a thread that reads maps, so that there are many of them
_PROGRAMS = 8  # of a multiprocessor, before its programs get longer
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


@cache
def _numbers(device: torch.device, b2: float, empty: float) -> torch.Tensor:
    """Return what kernels need in double precision: the metric, and nodes."""
    parts = [np.array([b2, empty]), *np.polynomial.laguerre.laggauss(_kernels.NODES)]
    for size in (_kernels.EVEN, _kernels.FEW):
        y, weight = np.polynomial.legendre.leggauss(size)
        y = (y + 1.0) / 2.0
        # z = 1 - y²: nodes are dense near 1, where integrands of many positives are.
        parts += [1.0 - y**2, weight * y]
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

    `arguments` are names of what `Job` gives it, and `compiled` has it once it was
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

    def __init__(self, maps: torch.Tensor, kind: int, whole: bool) -> None:
        self.count, self.pixels = maps.shape
        small = self.pixels <= _SMALL and whole
        room = triton.next_power_of_2(self.pixels) if small else _kernels.LONGEST
        loops = loops_of(self.count, self.pixels, _processors(maps.device))
        self.chunks = triton.cdiv(self.pixels, _BLOCK * loops)
        # Where left sums and lists begin in the memory that all kernels share.
        self.begin_left = self.count * _kernels.STATE
        self.begin_list = self.begin_left + self.count * _kernels.LEFT * self.chunks
        self.end = self.begin_list + self.count * 2 * room
        common = {
            "WIDTH": _kernels.STATE,
            "COLUMNS": _kernels.LEFT,
            "DOUBLE": maps.dtype == torch.float64,
            "KIND": kind,
            "BLOCK": _BLOCK,
            "LOOPS": loops,
            "ROOM": room,
            "CHUNKS": triton.next_power_of_2(self.chunks),
            "EVEN": self.pixels % (_BLOCK * loops) == 0,
            "SHORT": min(_SHORT, room),
            "SAMPLED": _SAMPLED,
            "STEPS": _STEPS,
            "ALL_LISTED": small,
            # Integrands of lists are polynomials only for a whole beta².
            "WHOLE": whole,
            "COUNT_OF_NODES": _kernels.NODES,
        }
        every, each = (self.count * self.chunks, 1, 1), (self.count, 1, 1)

        def launch(
            kernel: Any, grid: tuple[int, int, int], warps: int, **more: Any
        ) -> _Launch:
            known = common | more
            tensors = tuple(x for x in kernel.arg_names if not x.isupper())
            own = {x: known[x] for x in kernel.arg_names if x.isupper()}
            options = {"num_warps": warps}
            if grid == every and not common["DOUBLE"]:
                options["maxnreg"] = _REGISTERS
            return _Launch(kernel, grid, tensors, own, options, [])

        def turn(first: bool, last: bool) -> _Launch:
            return launch(_kernels.turn, every, _WARPS, FIRST=first, LAST=last)

        even = {
            "COUNT_OF_NODES": _kernels.EVEN,
            "BEFORE": 2 + 2 * _kernels.NODES,
            "FEW_NODES": _kernels.FEW,
            "BEFORE_FEW": 2 + 2 * _kernels.NODES + 2 * _kernels.EVEN,
        }
        begin = launch(_kernels.sample, each, _SAMPLE_WARPS)
        turns = [turn(x == 0, False) for x in range(_TURNS)]
        faint = [
            launch(_kernels.collect, every, _WARPS),
            launch(_kernels.solve, each, min(max(room // 128, 1), 16), **even),
            turn(False, True),
        ]
        # What most maps need, and what is left for the others.
        self.early = [begin, *faint] if small else [begin, *turns]
        self.late = [] if small else faint


class Job:
    """Maps that are decided, and the memory that their kernels share.

    Attributes
    ----------
    masks : Tensor of bool, shape (maps, pixels)
        The masks.
    state : Tensor of float64, shape (maps, 16)
        What is known of each map.
    names : dict
        Columns of the state, by name.
    """

    names = NAMES

    def __init__(
        self, plan: _Plan, maps: torch.Tensor, numbers: torch.Tensor, b2: float
    ) -> None:
        device = maps.device
        self.masks = torch.empty(maps.shape, dtype=torch.bool, device=device)
        room = torch.empty(plan.end, dtype=torch.float64, device=device)
        marks = torch.empty(
            plan.count * _kernels.MARKS, dtype=torch.int32, device=device
        )
        self.state = room[: plan.begin_left].view(plan.count, _kernels.STATE)
        self._plan = plan
        self._given = {
            "n": plan.pixels,
            "chunks": plan.chunks,
            "b2": b2,
            "p_ptr": maps,
            "mask_ptr": self.masks.view(torch.uint8),
            "state_ptr": room,
            "left_ptr": room[plan.begin_left :],
            "list_ptr": room[plan.begin_list :],
            "marks_ptr": marks,
            "node_ptr": numbers,
        }
        self._run(plan.early)

    def finish(self) -> None:
        """Do what only some maps need: faint ones, and those not proved yet."""
        self._run(self._plan.late)

    def _run(self, launches: list[_Launch]) -> None:
        if not launches:
            return
        device = self.masks.device
        other = device.type == "cuda" and device.index != torch.cuda.current_device()
        with torch.cuda.device(device) if other else nullcontext():
            if launches[-1].compiled:
                self._run_compiled(launches)
            else:
                self._compile(launches)

    def _run_compiled(self, launches: list[_Launch]) -> None:
        # Triton takes addresses, too; tensors, and what it looks at in them, would cost
        # more than a map of a million pixels does.
        given = {
            name: x.data_ptr() if isinstance(x, torch.Tensor) else x
            for name, x in self._given.items()
        }
        stream = torch.cuda.current_stream(self.masks.device).cuda_stream
        for x in launches:
            own = [given[name] for name in x.arguments]
            x.compiled[0](*own, *x.constants.values(), stream=stream)

    def _compile(self, launches: list[_Launch]) -> None:
        for x in launches:
            own = [self._given[name] for name in x.arguments]
            found = x.kernel[x.grid](*own, **x.constants, **x.options)
            if found is not None:  # as Triton's interpreter answers
                x.compiled.append(found[x.grid])


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


def begin(maps: torch.Tensor, *, jaccard: bool, b2: float, empty: float) -> Job:
    """Begin to decide maps: do what most of them need, without waiting for it.

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
    plan = _plan(maps, int(jaccard), b2.is_integer())
    return Job(plan, maps, _numbers(maps.device, b2, empty), b2)
