"""The formats of files, and which of them a file has.

A new format is a module that makes a `Format`, and an entry in `FORMATS`.
"""

from __future__ import annotations

from pathlib import Path

from bestcut.files._csv import CSV, TSV
from bestcut.files._errors import unknown_format, unnamed_format
from bestcut.files._frames import IPC, PARQUET
from bestcut.files._input import Input
from bestcut.files._ndjson import NDJSON
from bestcut.files._source import Source

FORMATS = {each.name: each for each in (CSV, TSV, PARQUET, IPC, NDJSON)}
_NAMES = {suffix: each.name for each in FORMATS.values() for suffix in each.suffixes}


def format_of(path: str, otherwise: str | None = None) -> str:
    """Return the format that the name of a file says, or else another."""
    if otherwise is not None and otherwise not in FORMATS:
        raise unknown_format(otherwise, FORMATS)
    if path == "-":
        return otherwise or CSV.name
    suffix = Path(path.lower().removesuffix(".gz")).suffix
    kind = _NAMES.get(suffix, otherwise)
    if kind is None:
        raise unnamed_format(path, FORMATS)
    return kind


def open_source(path: str, kind: str | None = None) -> Source:
    """Return the rows of a file; its format, if not given, is what its name says."""
    return FORMATS[kind or format_of(path)].open(Input(path))
