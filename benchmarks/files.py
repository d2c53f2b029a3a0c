"""How long do files take, and how much memory?

    python benchmarks/files.py [--quick] [--out DIR] [--data DIR]

`bestcut decide` on files of 10^7 rows beside reading, sorting and writing the same
file, on 10^6 groups, and on 10^8 rows of Parquet beside what polars needs to read the
scores twice and to copy the file. Every program runs in a process of its own, in turn
with what it is compared with. Writes DIR/files.md in about ten minutes. Needs
bestcut[cli], and 12 GB of disk for temporary files (in --data or TMPDIR), removed
at the end.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source
from results import folder_of_today

GIB = 2.0**30
CODES = np.array(["aa", "bb", "cc", "dd", "ee", "ff", "gg"])
BATCH = 10**6
DECIDE = [sys.executable, "-c", "import bestcut.cli as c; c.main()", "decide"]
SORTED = """
import sys, numpy, polars
frame = polars.read_parquet(sys.argv[1])
numpy.argsort(frame["p"].to_numpy())
frame.write_parquet(sys.argv[2])
"""
COPIED = """
import sys, polars
scan = polars.scan_parquet(sys.argv[1])
for _ in range(2):
    for batch in scan.select("p").collect_batches():
        batch["p"].to_numpy()
scan.sink_parquet(sys.argv[2])
"""
WHOLE_CSV = """
import sys, numpy, polars
frame = polars.read_csv(sys.argv[1])
numpy.argsort(frame["p"].to_numpy())
frame.write_csv(sys.argv[2])
"""


class Run(NamedTuple):
    """What a process took."""

    seconds: float
    processor: float
    gib: float


def say(text: str) -> None:
    """Print progress with the time."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)


def run(command: list[str], output: Path) -> Run:
    """Run a process; return its time, its processor's time and its largest memory."""
    start = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8") as process:
        said = process.stderr.read() if process.stderr else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed: {said}")
    output.unlink()
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes
    cpu = used.ru_utime + used.ru_stime
    return Run(took, cpu, used.ru_maxrss * unit / GIB)


def in_turn(commands: dict[str, list[str]], output: Path, times: int) -> dict[str, Run]:
    """Return the medians of each command, all taking turns."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            runs[name].append(run(command, output))
            say(f"  {name}: {runs[name][-1].seconds:.1f} s")
    return {
        name: Run(*(float(np.median(x)) for x in zip(*each, strict=True)))
        for name, each in runs.items()
    }


def scores(rows: int) -> pl.LazyFrame:
    """Return rows with a probability and what else files hold, made when asked for."""

    def batches(*_: object) -> Iterator[pl.DataFrame]:
        rng = np.random.default_rng(0)
        for first in range(0, rows, BATCH):
            n = min(BATCH, rows - first)
            row = np.arange(first, first + n)
            yield pl.DataFrame(
                {
                    "id": row,
                    "query": row // 10,
                    "p": rng.beta(0.3, 3, n),
                    "amount": rng.gamma(2.0, 50.0, n).round(2),
                    "code": CODES[rng.integers(0, CODES.size, n)],
                }
            )

    kinds = {
        "id": pl.Int64,
        "query": pl.Int64,
        "p": pl.Float64,
        "amount": pl.Float64,
        "code": pl.String,
    }
    return register_io_source(batches, schema=kinds)


def compared(
    folder: Path, source: Path, other: tuple[str, str], times: int
) -> list[str]:
    """Return a table of `bestcut decide` beside another program."""
    output = folder / f"out{source.suffix}"
    name, code = other
    commands = {
        "bestcut decide": [*DECIDE, str(source), "--proba", "p", "-o", str(output)],
        name: [sys.executable, "-c", code, str(source), str(output)],
    }
    say(f"{source.name}, {source.stat().st_size / GIB:.2f} GiB")
    found = in_turn(commands, output, times)
    ours, theirs = found.values()
    return [
        *table(found),
        "",
        f"Ratio: {ours.seconds / theirs.seconds:.2f} by the clock, "
        f"{ours.processor / theirs.processor:.2f} of processor time.",
    ]


def table(found: dict[str, Run]) -> list[str]:
    """Return runs as rows."""
    head = "| program | seconds | of the processor | GiB at most |"
    return [
        head,
        "| --- | --- | --- | --- |",
        *(
            f"| {name} | {x.seconds:.1f} | {x.processor:.1f} | {x.gib:.2f} |"
            for name, x in found.items()
        ),
    ]


def grouped(folder: Path, source: Path, times: int) -> list[str]:
    """Return what one decision for each group takes."""
    output = folder / "out.parquet"
    command = [*DECIDE, str(source), "--proba", "p", "--group-by", "query"]
    say("groups")
    return table(
        in_turn(
            {"bestcut decide --group-by": [*command, "-o", str(output)]}, output, times
        )
    )


def measured(folder: Path, part: int) -> list[str]:
    """Return all tables."""
    rows, many = 10**7 // part, 10**8 // part
    parquet, text, large = (
        folder / name for name in ("scores.parquet", "scores.csv", "large.parquet")
    )
    say("making files")
    scores(rows).sink_parquet(parquet)
    scores(rows).sink_csv(text)
    lines = [
        f"## {rows:,} rows of Parquet",
        "",
        "Promised: at most 3 times as long, under 4 GiB.",
        "",
        *compared(folder, parquet, ("read, np.argsort, write", SORTED), 3),
        "",
        f"## {rows // 10:,} groups of 10 rows of Parquet",
        "",
        "Promised: at most 60 s.",
        "",
        *grouped(folder, parquet, 3),
        "",
        f"## {rows:,} rows of CSV",
        "",
        "`bestcut decide` keeps every byte; polars writes numbers anew.",
        "",
        *compared(folder, text, ("read, np.argsort, write", WHOLE_CSV), 2),
        "",
        f"## {many:,} rows of Parquet",
        "",
        "Promised: at most 2 times as long, under 1.5 GiB.",
        "",
    ]
    parquet.unlink()
    text.unlink()
    scores(many).sink_parquet(large)
    other = "polars: scores twice, copy", COPIED
    return [*lines, *compared(folder, large, other, 2), ""]


def main() -> None:
    """Measure everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--data", type=Path, help="where to make the files")
    options = parser.parse_args()
    today = dt.date.today().isoformat()
    out = options.out or folder_of_today()
    part = 10 if options.quick else 1
    with tempfile.TemporaryDirectory(dir=options.data) as name:
        free, needed = shutil.disk_usage(name).free, 12e9 / part
        if free < needed:
            sys.exit(f"{free / 1e9:.1f} GB are free, {needed / 1e9:.1f} are needed.")
        load = os.getloadavg()[0]
        lines = measured(Path(name), part)
    page = [
        f"# Files, {today}",
        "",
        "`python benchmarks/files.py` made this page. Each program runs in a process "
        "of its own. Times are medians",
        "of runs that take turns, and include the start of Python. "
        f"Python {platform.python_version()}, NumPy {np.__version__}, polars "
        f"{version('polars')}, {os.cpu_count()} processors,",
        f"load {load:.1f} at the start and {os.getloadavg()[0]:.1f} at the end.",
        "",
        *lines,
    ]
    out.mkdir(parents=True, exist_ok=True)
    (out / "files.md").write_text("\n".join(page), encoding="utf-8")
    say(f"wrote {out.name}/files.md")


if __name__ == "__main__":
    main()
