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
from collections.abc import Callable, Sequence
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
# How many maps, and of how many pixels on a side.
CELLS = (
    (32, 16), (32, 32), (32, 48), (32, 64), (4096, 16), (4096, 64), (32, 96), (32, 128),
    (256, 128), (4096, 128), (32, 192), (32, 256), (1, 512), (32, 512), (8, 1024),
    (64, 1024), (4, 4096), (256, 512),
)  # fmt: skip
SOME = ((32, 64), (32, 256), (64, 1024))  # with every kind of map
VOLUME = 128
SMALL = 2_000
ABOUT_TEN = 25  # pixels of a faint object: 10 of them are expected
KEPT = 64  # different maps; more of them repeat these


def ellipses(maps: int, side: int, seed: int = 1) -> torch.Tensor:
    """Return maps of one to five soft ellipses each, with noise on the logits."""
    made = torch.Generator().manual_seed(seed)
    line = torch.linspace(-1, 1, side)
    y, x = torch.meshgrid(line, line, indexing="ij")
    out = torch.empty(min(maps, KEPT), side, side)
    for one in range(len(out)):
        logits = torch.full((side, side), -6.0)
        for _ in range(int(torch.randint(1, 6, (1,), generator=made))):
            centre = torch.rand(2, generator=made) * 1.6 - 0.8
            radius = torch.rand(2, generator=made) * 0.3 + 0.08
            away = ((x - centre[0]) / radius[0]) ** 2
            away += ((y - centre[1]) / radius[1]) ** 2
            logits = torch.maximum(logits, 4 * (1 - away.sqrt()))
        noise = torch.randn(side, side, generator=made)
        out[one] = torch.sigmoid(logits + 0.7 * noise)
    return out.repeat(-(-maps // KEPT), 1, 1)[:maps].cuda()


def kinds(p: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return maps that are hard in some way, of the shape of others."""
    faint = torch.full_like(p, 1e-7)
    flat = faint.view(p.shape[0], -1)
    made = torch.Generator("cuda").manual_seed(1)
    for i, row in enumerate(flat):
        some = torch.rand(ABOUT_TEN, device="cuda", generator=made) * 0.8
        first = (12_345 * (i + 1)) % (flat.shape[1] - ABOUT_TEN)
        row[first : first + ABOUT_TEN] = some
    dots = torch.rand(p.shape, device="cuda", generator=made) < 2e-3
    return {
        "10 expected pixels": faint,
        "many small objects": torch.where(dots, 0.2 + 0.7 * p, 1e-3 * p),
        "empty": torch.zeros_like(p),
        "saturated": torch.where(p > 0.5, 1 - 1e-4 * p, 1e-4 * p),
        "below 1e-4": 1e-4 * p,
        "constant 0.3": torch.full_like(p, 0.3),
        "bfloat16": p.bfloat16(),
        "float16": p.half(),
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


def timing(rows: list[str], name: str, p: torch.Tensor, metrics: Sequence[str]) -> None:
    """Add the times of one kind of map, and of rankseg if it is there."""
    half, _ = replay(lambda: p > 0.5)
    for metric in metrics:
        eager = median(partial(decide_masks, p, metric))
        graph, found = replay(partial(decide_masks, p, metric))
        same = torch.equal(found.masks, decide_masks(p, metric).masks)
        most = max(int(0.6 * float(found.n_positive.double().median())), 1)
        bounded, _ = replay(partial(decide_masks, p, metric, max_positives=most))
        row = (
            f"| {name} | {metric} | {half:.0f} | {graph:.0f} | {graph / half:.1f} | "
            f"{eager:.0f} | {bounded:.0f} | {fastest_peer(p, metric)} | "
            f"{checked(p, metric, 1)} | {float(found.gap.max()):.0e} | {same} |"
        )
        print(row, flush=True)
        rows.append(row)


def fastest_peer(p: torch.Tensor, metric: str) -> str:
    """Return the time of rankseg's fastest setting, or a dash where there is none."""
    try:
        from rankseg import rankseg_rma
    except ImportError:
        return "-"
    name = {"dice": "dice", "jaccard": "iou"}[metric]

    def call(screening: bool) -> Any:
        return rankseg_rma(
            p[:, None], name, output_mode="multilabel", safe_screening=screening
        )

    try:
        return f"{min(median(partial(call, x), 5) for x in (False, True)):.0f}"
    except Exception:  # it does not take every kind of map
        return "-"


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
    rows: list[str] = []
    for maps, side in CELLS[:4] if options.quick else CELLS:
        p = ellipses(maps, side)
        name = f"{maps:,} x {side}²"
        timing(rows, name, p, ("dice", "jaccard"))
        if (maps, side) in SOME and not options.quick:
            for kind, q in kinds(p).items():
                timing(rows, f"{name}, {kind}", q, ("dice",))
        del p
        torch.cuda.empty_cache()
    if not options.quick:
        volume = ellipses(VOLUME, VOLUME).reshape(1, 1, -1)
        timing(rows, f"one {VOLUME}³ volume", volume, ("dice",))
    words = small_maps(500 if options.quick else SMALL)
    print(words, flush=True)
    text = [
        f"# Masks on a GPU, {today}",
        "",
        "`python benchmarks/masks.py` made this page. Times are in microseconds, "
        f"medians of {RUNS} CUDA events; maps are soft ellipses with noise, in "
        f"float32, unless stated otherwise. {torch.cuda.get_device_name()}, "
        f"PyTorch {torch.__version__}, Triton {triton.__version__}.",
        "",
        "*Graph* is the replay of a CUDA graph, and *ratio* its time divided by that "
        "of `p > 0.5` in a graph. *Eager* is a plain call, which checks the values. "
        "*Budget* is a graph with `max_positives` at 0.6 of the usual size. *rankseg* "
        "is RMA with the faster of its two settings, eager: it cannot run in a graph. "
        "*Lost* is the exact loss of the first map compared with the best cut, *error* "
        "the largest stated error, and *wrong* whether that of the first map does not "
        "hold. *Gap* is the largest of all maps in the graph; *same* says whether the "
        "masks of the graph and of a plain call are equal bit for bit.",
        "",
        "| maps | metric | p > 0.5 | graph | ratio | eager | budget | rankseg | lost | "
        "error | wrong | gap | same |",
        "| --- |" + " --- |" * 12,
        *rows,
        "",
        words,
        "",
    ]
    out.mkdir(parents=True, exist_ok=True)
    (out / "masks.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
