"""The formats of files, and how the format of a file is found.

A new format is a module that makes a `Format`, and an entry in `FORMATS`.
"""

from __future__ import annotations

from pathlib import Path

from bestcut.files._csv import CSV, TSV
from bestcut.files._errors import refusal, unknown_format
from bestcut.files._frames import IPC, PARQUET
from bestcut.files._input import Input
from bestcut.files._limits import USUAL, Limits
from bestcut.files._ndjson import NDJSON
from bestcut.files._pieces import BOM
from bestcut.files._source import Source

FORMATS = {each.name: each for each in (CSV, TSV, PARQUET, IPC, NDJSON)}
_MAGIC = {b"PAR1": PARQUET.name, b"ARROW1": IPC.name}
_LONGEST_LINE = 1 << 24
_NAMES = {suffix: each.name for each in FORMATS.values() for suffix in each.suffixes}


def format_of(path: str, otherwise: str | None = None) -> str:
    """Return the format that the name of a file tells, or else `otherwise`."""
    _check_known(otherwise)
    if path == "-":
        return otherwise or CSV.name
    suffix = Path(path.lower().removesuffix(".gz")).suffix
    kind = _NAMES.get(suffix, otherwise)
    if kind is None:
        what = "has a name that does not tell its format"
        raise refusal(path, what, f"Pass `format`, one of {', '.join(FORMATS)}.")
    return kind


def open_source(
    path: str,
    kind: str | None = None,
    *,
    otherwise: str | None = None,
    limits: Limits = USUAL,
) -> Source:
    """Return the rows of a file, whose format is `kind` if that is given.

    Otherwise its name tells the format, or else the format is `otherwise`. Standard
    input has no name, so its first bytes tell the format.
    """
    _check_known(kind)
    if path == "-" and not (kind or otherwise):
        given = Input(path, limits)
        return FORMATS[_looks_like(given)].open(given)
    return FORMATS[kind or format_of(path, otherwise)].open(Input(path, limits))


def format_of_output(output: str, source: Source, kind: str | None = None) -> str:
    """Return the format in which the rows of a source are written.

    The name of the output tells it, or else it is `kind`. Standard output has no name:
    rows of a file stay in its format.
    """
    if output == "-":
        return source.kind or format_of(output, kind)
    return format_of(output, kind)


def _check_known(kind: str | None) -> None:
    if kind is not None and kind not in FORMATS:
        raise unknown_format(kind, FORMATS)


def _looks_like(given: Input) -> str:
    """Return the format that the first bytes of an input tell; if in doubt, CSV."""
    with given.opened() as file:
        first = file.readline(_LONGEST_LINE)
    for magic, kind in _MAGIC.items():
        if first.startswith(magic):
            return kind
    line = first.removeprefix(BOM).strip()
    if line.startswith(b"{") and line.endswith(b"}"):
        return NDJSON.name
    return CSV.name
