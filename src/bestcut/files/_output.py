"""Places that rows are not written to."""

from __future__ import annotations

import os
import stat
import sys
from typing import Any

from bestcut.files._errors import refusal
from bestcut.files._source import Format


def refuse_input_as_output(path: str, output: str) -> None:
    """Refuse to overwrite the file that is read, by its name or through a stream."""
    source, target = _state(path, sys.stdin), _state(output, sys.stdout)
    if source is None or target is None or not stat.S_ISREG(source.st_mode):
        return
    if os.path.samestat(source, target):
        where = "standard output" if output == "-" else output
        raise refusal(where, "is the input itself", "Write to another file.")


def _state(path: str, stream: Any) -> os.stat_result | None:
    """Return what the system knows of a file, or of the one behind a stream."""
    try:
        return os.fstat(stream.fileno()) if path == "-" else os.stat(path)
    except (OSError, ValueError, AttributeError):  # no file, or no stream
        return None


def refuse_terminal(output: str, kind: Format) -> None:
    """Refuse to fill a terminal with bytes that are not text."""
    if is_terminal(output) and not kind.is_text:
        where, what = "standard output", f"is a terminal, and {kind.name} is not text"
        raise refusal(where, what, "Name a file with `output`.")


def is_terminal(output: str | None) -> bool:
    """Return whether the output goes to a terminal."""
    return output == "-" and sys.stdout is not None and sys.stdout.isatty()
