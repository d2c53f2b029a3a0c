"""The part of this folder that needs polars.

`bestcut.files` is imported with `bestcut`, which must not need polars. The functions
that read and write rows are therefore collected in this module: `decide_file` imports
it when it is called, and the command imports it when it starts.
"""

from bestcut.files._collect import collected, without_formulas, write_frame
from bestcut.files._decide_source import (
    calibrated,
    decide_source,
    write_labels,
)
from bestcut.files._errors import no_rows, twice
from bestcut.files._folders import is_many, open_many
from bestcut.files._formats import FORMATS, format_of_output, open_source
from bestcut.files._frames import FrameSource
from bestcut.files._limits import Limits
from bestcut.files._output import (
    is_terminal,
    refuse_input_as_output,
    refuse_terminal,
)
from bestcut.files._progress import steps
from bestcut.files._source import Source

__all__ = [
    "FORMATS",
    "FrameSource",
    "Limits",
    "Source",
    "calibrated",
    "collected",
    "decide_source",
    "format_of_output",
    "is_many",
    "is_terminal",
    "no_rows",
    "open_many",
    "open_source",
    "refuse_input_as_output",
    "refuse_terminal",
    "steps",
    "twice",
    "without_formulas",
    "write_frame",
    "write_labels",
]
