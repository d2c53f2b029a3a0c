"""Results kept cell by cell, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import bestcut

VERSION = 1
# A change in what a cell is computed with makes it be computed again.
_FITTING = {"data", "protocol"}


@dataclass(frozen=True)
class Session:
    """Where the data are and where results are kept."""

    data: Path
    cache: Path


@lru_cache
def _fingerprint(module: str) -> str:
    digest = hashlib.sha256()
    own = module.rpartition(".")[2]
    for name in sorted(_FITTING if own in _FITTING else {*_FITTING, "tables", own}):
        digest.update((Path(__file__).parent / f"{name}.py").read_bytes())
    versions = [np.__version__, scipy.__version__, sklearn.__version__]
    digest.update(json.dumps([VERSION, bestcut.__version__, *versions]).encode())
    return digest.hexdigest()


def path_of(session: Session, function: Callable, settings: dict, suffix: str) -> Path:
    """Return the file of a cell: its settings in words, and a hash of all it is of."""
    kind = function.__name__
    text = json.dumps(
        [_fingerprint(function.__module__), kind, settings], sort_keys=True
    )
    key = hashlib.sha256(text.encode()).hexdigest()[:12]
    words = "-".join(str(value) for value in settings.values())
    safe = "".join(c if c.isalnum() or c in "-._" else "_" for c in words)[:60]
    return session.cache / kind / f"{safe}-{key}{suffix}"


def write_atomically(path: Path, write: Callable[[Any], None]) -> None:
    """Write a file that is either not there or complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def json_cell(session: Session, function: Callable, settings: dict) -> dict:
    """Return what ``function(session, **settings)`` gives, computed at most once."""
    path = path_of(session, function, settings, ".json")
    if not path.exists():
        with threadpool_limits(1):  # sums in the same order on every machine
            result = function(session, **settings)
        text = json.dumps(result, indent=1).encode()
        write_atomically(path, lambda file: file.write(text))
    return json.loads(path.read_text(encoding="utf-8"))


def array_cell(session: Session, function: Callable, settings: dict) -> dict:
    """Return the arrays that a function gives, computed at most once."""
    path = path_of(session, function, settings, ".npz")
    if not path.exists():
        with threadpool_limits(1):
            result = function(session, **settings)
        write_atomically(path, lambda file: np.savez_compressed(file, **result))
    with np.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}


def run_cells(
    session: Session, function: Callable, cells: list[dict], jobs: int
) -> list[dict]:
    """Compute all cells, those not yet kept on `jobs` processes; show how far it is."""
    work = (delayed(json_cell)(session, function, cell) for cell in cells)
    done = Parallel(n_jobs=jobs, return_as="generator")(work)
    return list(progress(done, len(cells), function.__name__))


def progress(items: Iterable, total: int, title: str) -> Iterable:
    """Show a bar on standard error; one line every tenth if that is not a terminal."""
    start, live, shown = time.monotonic(), sys.stderr.isatty(), -1
    for done, item in enumerate(items, 1):
        yield item
        share = done / total
        if live or int(10 * share) > shown:
            shown = int(10 * share)
            spent = time.monotonic() - start
            bar = ("#" * int(30 * share)).ljust(30, ".")
            left = spent * (1 - share) / share
            line = f"{title:<12} [{bar}] {done}/{total} {spent:4.0f} s, {left:.0f} left"
            print(line, end="\r" if live else "\n", file=sys.stderr, flush=True)
    if live:
        print(file=sys.stderr)
