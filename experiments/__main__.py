"""Run the experiments and write the page.

    python -m experiments [--quick] [--data FOLDER] [--jobs 2]

Results are kept in experiments/.cache, so that an interrupted run goes on.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments import data
from experiments.cache import Session, json_cell, run_cells, write_atomically
from experiments.figure1 import draws_cell, optimum_cell
from experiments.protocol import DATA_SETS, classes_kept
from experiments.scale import scale_cell
from experiments.sizes import LEAST_PREVALENCE, sizes_cell
from experiments.tables import CATALOGUE, check_invariants, table_cell
from experiments.variants import variant_cell, variant_cells

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(__file__).resolve().parent / ".cache"


@dataclass(frozen=True)
class Plan:
    """How much is run; the quick plan goes the same ways with less of everything."""

    quick: bool = False
    splits: int = 20
    halves: int = 5  # where the split is in the file, random halves for EUM
    classes: int | None = None
    chunks: int = 20
    chunk_size: int = 500
    size_splits: int = 5
    size_draws: int = 10
    variant_splits: int = 5
    quadratic_sizes: tuple[int, ...] = (2000, 8000, 27824)
    cubic_sizes: tuple[int, ...] = (200, 400, 800)


QUICK = Plan(
    quick=True,
    splits=2,
    halves=2,
    classes=2,
    chunks=2,
    chunk_size=25,
    size_splits=1,
    size_draws=2,
    variant_splits=1,
    quadratic_sizes=(500, 1000),
    cubic_sizes=(50, 100, 200),
)


def problems(session: Session, plan: Plan) -> list[tuple[str, int, int]]:
    """Return data set, split and class of every problem of the tables."""
    found = []
    for name, used in DATA_SETS.items():
        labels = classes_kept(session, name)
        if plan.classes and len(labels) > plan.classes:
            spread = np.linspace(0, len(labels) - 1, plan.classes).astype(int)
            labels = [labels[i] for i in spread]
        n_splits = 1 if used.n_train is None else plan.splits
        found += [(name, split, label) for label in labels for split in range(n_splits)]
    return found


def run(session: Session, plan: Plan, jobs: int) -> dict:
    """Compute every cell; return all results."""
    chosen = problems(session, plan)
    results: dict = {"plan": plan}
    results["tables"] = run_cells(
        session,
        table_cell,
        [
            {
                "name": name,
                "split": split,
                "label": label,
                "n_halves": plan.halves if DATA_SETS[name].n_train is None else 1,
            }
            for name, split, label in chosen
        ],
        jobs,
    )
    check_invariants(results["tables"])
    batches = [
        {key: cell[key] for key in ("name", "split", "label")}
        | {"draws": plan.size_draws}
        for cell in results["tables"]
        if cell["split"] < plan.size_splits
        and cell["test_positives"] >= LEAST_PREVALENCE * cell["n_test"]
    ]
    results["sizes"] = run_cells(session, sizes_cell, batches, jobs)
    tried = chosen
    if plan.quick:  # one problem of each data set
        tried = list({name: (name, *at) for name, *at in reversed(chosen)}.values())
    variants = variant_cells(tried, plan.variant_splits)
    results["variants"] = run_cells(session, variant_cell, variants, jobs)
    optima = [{"metric": metric} for metric in CATALOGUE]
    results["figure1"] = run_cells(session, optimum_cell, optima, jobs)
    chunks = [{"chunk": i, "size": plan.chunk_size} for i in range(plan.chunks)]
    results["draws"] = run_cells(session, draws_cell, chunks, jobs)
    timed = {
        "quadratic_sizes": list(plan.quadratic_sizes),
        "cubic_sizes": list(plan.cubic_sizes),
    }
    results["scale"] = json_cell(session, scale_cell, timed)
    results["kept"] = {
        (name, T): len(classes_kept(session, name, T))
        for name, used in DATA_SETS.items()
        for T in used.thresholds
    }
    return results


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m experiments", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two minutes, other page")
    parser.add_argument("--data", help="folder with the npz files")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--cache", default=str(CACHE), help="where results are kept")
    parser.add_argument("--out", help="for page and figures (default docs/evidence)")
    parser.add_argument(
        "--fetch", metavar="FOLDER", help="write the sets that OpenML has, and stop"
    )
    parser.add_argument(
        "--skip-without-data", action="store_true", help="for CI: no data, no failure"
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Check the data, run, write; return the exit status."""
    asked = arguments(argv)
    if asked.fetch:
        print("\n".join(data.fetch(Path(asked.fetch))))
        return 0
    session = Session(data.find_folder(asked.data), Path(asked.cache))
    try:
        data.verify(session.data)
    except data.DataError as error:
        if asked.skip_without_data and not session.data.exists():
            print(f"skipped: no data in {session.data}")
            return 0
        print(error, file=sys.stderr)
        return 2
    from experiments.page import PAGE, build

    results = run(session, QUICK if asked.quick else Plan(), asked.jobs)
    default = session.cache / "quick" if asked.quick else ROOT / "docs" / "evidence"
    out = Path(asked.out) if asked.out else default
    for name, content in build(results).items():
        write_atomically(out / name, lambda file, content=content: file.write(content))
    print(f"wrote {out / PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
