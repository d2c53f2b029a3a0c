"""Files that appear completely or not at all."""

from __future__ import annotations

import gzip
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bestcut.files._errors import (
    binary_on_terminal,
    closed_output,
    input_itself,
    unwritten,
)
from bestcut.files._source import Format


@contextmanager
def writing(path: str) -> Iterator[Any]:
    """Open a file for writing; - is standard output, .gz compresses."""
    with _standard_output() if path == "-" else atomic(path) as file:
        if not path.lower().endswith(".gz"):
            yield file
            return
        # Without a name and a time in it, the same rows make the same file.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            yield packed


@contextmanager
def _standard_output() -> Iterator[Any]:
    if sys.stdout is None:
        raise closed_output()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def atomic(path: str) -> Iterator[Any]:
    """Write to a temporary file beside `path`, and rename it if all went well.

    A link is followed, and a pipe or a device is written to as it is.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _mode(path)
        if mode is not None and not stat.S_ISREG(mode):
            with target.open("wb") as file:
                yield file
            return
    except OSError as error:
        raise unwritten(path, error) from None
    # The name is known before the file exists, so the file is removed whenever a
    # signal comes, even while it is being made.
    part = target.parent / f".bestcut-{secrets.token_hex(8)}.part"
    try:
        with open(part, "xb", opener=_for_this_user) as file:
            yield file
        part.chmod(_new_mode() if mode is None else stat.S_IMODE(mode))
        os.replace(part, target)
    except OSError as error:
        raise unwritten(path, error) from None
    finally:
        part.unlink(missing_ok=True)


def _mode(path: str) -> int | None:
    """Return the type and the permissions of a file, or None if there is none."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _for_this_user(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)


def _new_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def refuse_input_as_output(path: str, output: str) -> None:
    """Refuse to overwrite the file that is read, by its name or through a stream."""
    source, target = _state(path, sys.stdin), _state(output, sys.stdout)
    if source is None or target is None or not stat.S_ISREG(source.st_mode):
        return
    if os.path.samestat(source, target):
        raise input_itself("standard output" if output == "-" else output)


def _state(path: str, stream: Any) -> os.stat_result | None:
    """Return what the system knows of a file, or of the one behind a stream."""
    try:
        return os.fstat(stream.fileno()) if path == "-" else os.stat(path)
    except (OSError, ValueError, AttributeError):  # no file, or no stream
        return None


def refuse_terminal(output: str, kind: Format) -> None:
    """Refuse to fill a terminal with bytes that are not text."""
    if is_terminal(output) and not kind.is_text:
        raise binary_on_terminal(kind.name)


def is_terminal(output: str | None) -> bool:
    """Return whether the output goes to a terminal."""
    return output == "-" and sys.stdout is not None and sys.stdout.isatty()
