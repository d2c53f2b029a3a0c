"""What the command needs of this folder; polars is imported with it."""

from bestcut.files._copy import copy_rows, marks_of
from bestcut.files._input import Input
from bestcut.files._output import atomic, is_same, writing
from bestcut.files._progress import steps
from bestcut.files._source import (
    FORMATS,
    format_of,
    numbers,
    open_source,
    refuse_improbable,
)
from bestcut.files._stream import find_cut, write_cut

__all__ = [
    "FORMATS",
    "Input",
    "atomic",
    "copy_rows",
    "find_cut",
    "format_of",
    "is_same",
    "marks_of",
    "numbers",
    "open_source",
    "refuse_improbable",
    "steps",
    "write_cut",
    "writing",
]
