"""Time `bestcut report`: the processor time of the whole command, by number of rows.

    python benchmarks/pages.py [--quick] [--name NAME] [--out DIR]

Writes DIR/NAME.md. Each row is one run of the command on a CSV file, with the metrics
that it offers by default, on one core: starting Python, reading, computing and writing
the page. "Calibrated" is with --calibrate on 1,000 labelled scores, thus with 200 draws
of the probabilities.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from results import folder_of_today
from run import say

from report import table

RUN = "import sys; from bestcut.cli import main; sys.argv[0] = 'bestcut'; main()"
LIMITS = {20_000: 3.0, 1_000_000: 10.0}  # seconds, for known probabilities


def write_scores(path: Path, n: int) -> None:
    """Write a column of probabilities, about a tenth of them likely."""
    p = np.random.default_rng(1).beta(0.3, 3, n)
    path.write_text(
        "p\n" + "\n".join(f"{x:.9f}" for x in p.tolist()) + "\n", encoding="utf-8"
    )


def write_labelled(path: Path, n: int = 1000) -> None:
    """Write scores with labels that nearly fit them."""
    rng = np.random.default_rng(2)
    p = rng.beta(0.3, 3, n)
    rows = zip(p.tolist(), (rng.random(n) < p).astype(int).tolist(), strict=True)
    path.write_text(
        "p,y\n" + "\n".join(f"{x:.9f},{y}" for x, y in rows) + "\n", encoding="utf-8"
    )


def seconds_of(folder: Path, *options: str) -> float:
    """Return the processor time of one run of the command."""
    line = [sys.executable, "-c", RUN, "report", "s.csv", "--proba", "p", *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [*line, "-o", "report.html"],
        cwd=folder,
        check=True,
        capture_output=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows(sizes: list[int]) -> list[list[str]]:
    """Return a row of the table for each size."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_labelled(folder / "old.csv")
        calibrate = ("--calibrate", "old.csv", "--calibrate-label", "y")
        for n in sizes:
            write_scores(folder / "s.csv", n)
            known = seconds_of(folder)
            drawn = seconds_of(folder, *calibrate)
            size = (folder / "report.html").stat().st_size / 1e6
            limit = LIMITS.get(n)
            kept = "" if limit is None else "yes" if known <= limit else "**no**"
            asked = "" if limit is None else f"{limit:g} s"
            line = [f"{n:,}", f"{known:.1f} s", asked, kept, f"{drawn:.1f} s"]
            found.append([*line, f"{size:.1f} MB"])
            say(" ".join(found[-1]))
    return found


def main() -> None:
    """Run, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--name", default="pages")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    out = options.out or folder_of_today()
    out.mkdir(parents=True, exist_ok=True)
    sizes = [1000, 20_000] if options.quick else [1000, 20_000, 100_000, 1_000_000]
    head = ["rows", "known", "at most", "kept", "calibrated", "size of the page"]
    text = f"# `bestcut report`, {dt.date.today()}\n\n{table(head, rows(sizes))}"
    (out / f"{options.name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
