"""Folders of Parquet files, and patterns such as ``2026-*.parquet``."""

from __future__ import annotations

import os
from glob import glob, has_magic
from pathlib import Path

import polars as pl

from bestcut.files._errors import refusal
from bestcut.files._frames import PARQUET, FrameSource, understood
from bestcut.files._input import Input
from bestcut.files._limits import Limits
from bestcut.files._output import refuse_input_as_output
from bestcut.files._parquet import check_parquet


def is_many(path: str) -> bool:
    """Return whether a path is a folder, or a pattern and not the name of a file."""
    return os.path.isdir(path) or (has_magic(path) and not os.path.exists(path))


def open_many(
    path: str, kind: str | None, output: str, *, limits: Limits
) -> FrameSource:
    """Return the rows of all Parquet files of a folder, or of a pattern.

    They are read as polars reads them: in the order of their names, with the columns
    that the names of folders tell, as in ``day=3/part-0.parquet``.
    """
    if kind not in (None, PARQUET.name):
        what = f"is read as parquet, not as {kind}, being many files"
        cure = "Pass a scan of the files, such as polars.scan_csv."
        raise refusal(path, what, cure)
    inside = Path(path)
    files = (
        [str(x) for suffix in PARQUET.suffixes for x in inside.rglob(f"*{suffix}")]
        if os.path.isdir(path)
        else [x for x in glob(path, recursive=True) if x.endswith(PARQUET.suffixes)]
    )
    if not files:
        cure = "For files of another format pass a scan of them, such as "
        raise refusal(path, "holds no Parquet files", f"{cure}polars.scan_csv.")
    for file in sorted(files):
        refuse_input_as_output(file, output)
        with understood(file, PARQUET.name):
            check_parquet(Input(file, limits))
    with understood(path, PARQUET.name):
        return FrameSource.of_scan(pl.scan_parquet(path), path, PARQUET.name)
