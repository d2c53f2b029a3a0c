"""The way of maps on a GPU: what is launched, and with what sizes."""

from __future__ import annotations

from collections.abc import Callable
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


class Found(NamedTuple):
    """The masks of some maps, and what is known of them.

    Attributes
    ----------
    masks : Tensor of bool, shape (maps, pixels)
        The masks.
    state : Tensor of float64, shape (maps, 16)
        See `_kernels`; `NAMES` has the columns.
    known : ndarray or None
        The state on the host, if that was waited for.
    """

    masks: torch.Tensor
    state: torch.Tensor
    known: np.ndarray | None


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

    `arguments` are names of what `_Job` gives it, and `compiled` has it once it was
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


class _Job:
    """Maps of a plan, and the memory that its kernels share."""

    def __init__(
        self, plan: _Plan, maps: torch.Tensor, numbers: torch.Tensor, b2: float
    ) -> None:
        self.plan, self.maps, self.numbers, self.b2 = plan, maps, numbers, b2
        device = maps.device
        self.masks = torch.empty(maps.shape, dtype=torch.bool, device=device)
        self.room = torch.empty(plan.end, dtype=torch.float64, device=device)
        self.marks = torch.empty(
            plan.count * _kernels.MARKS, dtype=torch.int32, device=device
        )

    def run(self, launches: list[_Launch]) -> None:
        """Launch kernels."""
        if launches and launches[0].compiled:
            # Triton takes addresses, too; tensors, and what it looks at in them, would
            # cost more than a map of a million pixels does.
            given = self._given(torch.Tensor.data_ptr)
            stream = torch.cuda.current_stream(self.maps.device).cuda_stream
            for x in launches:
                own = [given[name] for name in x.arguments]
                x.compiled[0](*own, *x.constants.values(), stream=stream)
            return
        given = self._given(lambda x: x)
        for x in launches:
            own = [given[name] for name in x.arguments]
            found = x.kernel[x.grid](*own, **x.constants, **x.options)
            if found is not None:  # as Triton's interpreter answers
                x.compiled.append(found[x.grid])

    def _given(self, seen: Callable[[torch.Tensor], Any]) -> dict[str, Any]:
        """Return what kernels are given, by name; tensors as they are to be seen."""
        plan, room = self.plan, self.room
        return {
            "n": plan.pixels,
            "chunks": plan.chunks,
            "b2": self.b2,
            "p_ptr": seen(self.maps),
            "mask_ptr": seen(self.masks.view(torch.uint8)),
            "state_ptr": seen(room),
            "left_ptr": seen(room[plan.begin_left :]),
            "list_ptr": seen(room[plan.begin_list :]),
            "marks_ptr": seen(self.marks),
            "node_ptr": seen(self.numbers),
        }

    @property
    def state(self) -> torch.Tensor:
        """What is known of each map."""
        shape = (self.plan.count, _kernels.STATE)
        return self.room[: self.plan.begin_left].view(shape)


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


def find(
    maps: torch.Tensor, *, jaccard: bool, b2: float, empty: float, proved: float | None
) -> Found:
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
    proved : float or None
        If given, wait for the device, and do what is done for faint maps only if some
        gap is larger than this. Else nothing waits, as in a CUDA graph.
    """
    plan = _plan(maps, int(jaccard), b2.is_integer())
    other = maps.is_cuda and maps.device.index != torch.cuda.current_device()
    with torch.cuda.device(maps.device) if other else nullcontext():
        job = _Job(plan, maps, _numbers(maps.device, b2, empty), b2)
        job.run(plan.early)
        known = None
        if proved is not None:
            known = job.state.cpu().numpy()
            if plan.late and np.any(known[:, NAMES["gap"]] > proved):
                job.run(plan.late)
                known = job.state.cpu().numpy()
        else:
            job.run(plan.late)
    return Found(job.masks, job.state, known)
