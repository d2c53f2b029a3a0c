"""How long do the best masks of probability maps take on a GPU, and are they the best?

    python benchmarks/masks.py [--quick] [--out DIR] [--peers FOLDER]

Times are medians of CUDA events, eager and as a replayed CUDA graph, beside `p > 0.5`
(one read and a small write: the floor) and rankseg, in one run. Masks are held against
the best cut of the core on the CPU. Writes DIR/masks.md. Needs a CUDA device with
PyTorch and Triton, and NumPy; rankseg is measured too if it can be imported, or lies in
FOLDER.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton
from results import folder_of_today

import bestcut
from bestcut.torch import decide_masks

RUNS = 21
SHAPES = ((64, 1024), (16, 512), (4, 4096), (256, 512))
VOLUME = 512
SMALL = 10_000
ABOUT_TEN = 25  # pixels of a faint object: 10 of them are expected


def smooth(maps: int, side: int, seed: int = 0) -> torch.Tensor:
    """Return smooth fields with some noise, a third of their pixels positive."""
    made = torch.Generator("cuda").manual_seed(seed)
    x = torch.randn(maps, 1, side, side, device="cuda", generator=made)
    window = torch.hann_window(33, device="cuda")
    window = window / window.sum()
    for shape in ((1, 1, 1, 33), (1, 1, 33, 1)):
        x = torch.nn.functional.conv2d(x, window.view(shape), padding="same")
    noise = torch.randn(x.shape, device="cuda", generator=made)
    return torch.sigmoid(3 * x / x.std() - 2 + 0.3 * noise)[:, 0]


def kinds(p: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return maps that are hard in some way, of the shape of others."""
    faint = torch.full_like(p, 1e-7)
    flat = faint.view(p.shape[0], -1)
    made = torch.Generator("cuda").manual_seed(1)
    for i, row in enumerate(flat):
        some = torch.rand(ABOUT_TEN, device="cuda", generator=made) * 0.8
        first = (12_345 * (i + 1)) % (flat.shape[1] - ABOUT_TEN)
        row[first : first + ABOUT_TEN] = some
    return {
        "smooth": p,
        "10 expected pixels": faint,
        "saturated": torch.where(p > 0.5, 1 - 1e-4 * p, 1e-4 * p),
        "below 1e-4": 1e-4 * p,
        "constant 0.3": torch.full_like(p, 0.3),
    }


def median(call: Callable[[], Any], runs: int = RUNS) -> float:
    """Return the median microseconds of a call, by CUDA events."""
    for _ in range(3):
        call()
    times = []
    for _ in range(runs):
        torch.cuda.synchronize()
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        call()
        last.record()
        torch.cuda.synchronize()
        times.append(1e3 * first.elapsed_time(last))
    return float(np.median(times))


def replay(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the median microseconds of a replayed graph of a call, and its result."""
    call()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = call()
    return median(graph.replay), found


def extra_memory(call: Callable[[], Any], p: torch.Tensor) -> float:
    """Return the memory of a call beside the masks, as a part of the input."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    kept = call()
    torch.cuda.synchronize()
    peak = torch.cuda.max_memory_allocated() - before
    del kept
    return (peak - p.numel()) / (p.numel() * p.element_size())


def losses(p: torch.Tensor, masks: torch.Tensor, metric: str, most: int) -> list[float]:
    """Return what masks lose against the best cut, exactly, on the CPU."""
    out = []
    for row, mask in zip(p[:most], masks[:most], strict=True):
        x = row.double().reshape(-1).cpu().numpy()
        best = bestcut.decide(x, metric).expected_score
        own = bestcut.expected_score(x, mask.reshape(-1).cpu().numpy(), metric)
        out.append(best - own)
    return out


def checked(p: torch.Tensor, metric: str, most: int) -> str:
    """Return the worst loss, and whether errors are true, of the first maps."""
    found = decide_masks(p, metric)
    worst = max(losses(p, found.masks, metric, most))
    wrong = 0
    for i in range(min(most, p.shape[0])):
        x = p[i].double().reshape(-1).cpu().numpy()
        own = bestcut.expected_score(
            x, found.masks[i].reshape(-1).cpu().numpy(), metric
        )
        wrong += abs(own - float(found.expected_score[i])) > float(found.error[i])
    return f"{worst:.0e} | {float(found.error.max()):.0e} | {wrong}"


def timing(rows: list[str], name: str, p: torch.Tensor, most: int) -> None:
    """Add the times of one kind of map."""
    half = median(lambda: p > 0.5)
    half_graph, _ = replay(lambda: p > 0.5)
    for metric in ("dice", "jaccard"):
        unchecked = partial(decide_masks, p, metric, validate=False)
        eager = median(unchecked)
        checking = median(partial(decide_masks, p, metric))
        again, found = replay(partial(decide_masks, p, metric))
        same = torch.equal(found.masks, decide_masks(p, metric).masks)
        memory = extra_memory(unchecked, p)
        row = (
            f"| {name} | {metric} | {half:.0f} | {half_graph:.0f} | {eager:.0f} | "
            f"{checking:.0f} | {again:.0f} | {again / half_graph:.1f} | "
            f"{100 * memory:.1f} % | {checked(p, metric, most)} | "
            f"{float(found.gap.max()):.0e} | {same} |"
        )
        print(row, flush=True)
        rows.append(row)


def peer(rows: list[str], name: str, p: torch.Tensor, most: int) -> None:
    """Add the times and losses of rankseg."""
    from rankseg import rankseg_rma

    stack = p[:, None]
    ours, _ = replay(lambda: decide_masks(p))
    for setting, options in (
        ("plain", {"safe_screening": False}),
        ("screening", {"safe_screening": True}),
        ("screening, nothing pruned", {"safe_screening": True, "pruning_prob": 0.0}),
    ):

        def call(options: dict[str, Any] = options) -> Any:
            return rankseg_rma(stack, "dice", output_mode="multilabel", **options)

        time = median(call, 11)
        lost = losses(p, call()[:, 0], "dice", most)
        row = (
            f"| {name} | {setting} | {time:.0f} | {time / ours:.1f} | "
            f"{np.mean(lost):.1e} | {np.max(lost):.1e} |"
        )
        print(row, flush=True)
        rows.append(row)


def small_maps(count: int) -> str:
    """Return how masks of small maps compare with `decide_each`."""
    rng = np.random.default_rng(0)
    different, off = 0, 0.0
    for side in (16, 24, 32, 48, 64):
        part = count // 5
        power = rng.integers(1, 9, (part, 1))
        p = (rng.random((part, side * side)) ** power).astype(np.float32)
        found = decide_masks(torch.from_numpy(p).cuda().view(part, side, side))
        exact = bestcut.decide_each(p)
        masks = found.masks.view(part, -1).cpu().numpy()
        different += int(np.any(masks != exact.labels, axis=1).sum())
        score = found.expected_score.cpu().numpy()
        off = max(off, float(np.max(np.abs(exact.expected_score - score))))
    return (
        f"{count:,} maps of 16² to 64²: {different} masks differ from `decide_each`; "
        f"expected scores differ by at most {off:.0e}."
    )


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--peers", type=Path, default=None)
    options = parser.parse_args()
    today = dt.date.today().isoformat()
    out = options.out or folder_of_today()
    if options.peers:
        sys.path.insert(0, str(options.peers))
    words = small_maps(500 if options.quick else SMALL)
    print(words, flush=True)
    rows: list[str] = []
    others: list[str] = []
    for maps, side in SHAPES[:2] if options.quick else SHAPES:
        p = smooth(maps, side)
        name = f"{maps} x {side}²"
        most = 2 if side < 4096 else 1
        for kind, q in kinds(p).items():
            timing(rows, f"{name}, {kind}", q, most)
        timing(rows, f"{name}, smooth, bfloat16", p.bfloat16(), most)
        try:
            peer(others, f"{name}, smooth", p, most)
            peer(
                others, f"{name}, 10 expected pixels", kinds(p)["10 expected pixels"], 2
            )
        except ImportError:
            print("rankseg is not here", flush=True)
        del p, q
        torch.cuda.empty_cache()
    if not options.quick:
        p = smooth(VOLUME, VOLUME).reshape(1, -1)
        timing(rows, f"one {VOLUME}³ volume", p.view(1, 1, -1), 1)
    text = [
        f"# Masks on a GPU, {today}",
        "",
        "`python benchmarks/masks.py` made this page. Times are in microseconds, "
        f"medians of {RUNS} CUDA events; maps are float32 unless stated otherwise. "
        f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, "
        f"Triton {triton.__version__}.",
        "",
        "*Eager* is a call with `validate=False`, *checked* a call with the default "
        "options, *graph* the replay of a CUDA graph, and *ratio* the time of the "
        "graph divided by that of `p > 0.5` in a graph. *Memory* is what a call needs "
        "besides the masks, as a share of the input. *Lost* is the largest exact loss "
        "of the first two maps compared with the best cut, *error* the largest stated "
        "error, and *wrong* the number of these maps for which the stated error does "
        "not hold. *Gap* is the largest gap of all maps that is stated in the graph; "
        "*same* says whether the masks of the graph and of a plain call are equal bit "
        "for bit.",
        "",
        "| maps | metric | p > 0.5 | its graph | eager | checked | graph | ratio | "
        "memory | lost | error | wrong | gap | same |",
        "| --- |" + " --- |" * 13,
        *rows,
        "",
        words,
        "",
        "## rankseg",
        "",
        "RMA for Dice, which cannot run in a graph. *Ratio* is its time divided by "
        "ours in a graph; losses are exact, compared with the best cut.",
        "",
        "| maps | setting | time | ratio | mean loss | worst loss |",
        "| --- |" + " --- |" * 5,
        *others,
        "",
    ]
    out.mkdir(parents=True, exist_ok=True)
    (out / "masks.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
