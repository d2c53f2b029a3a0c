"""Bytes that can be read several times: from a file or from a pipe."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from bestcut._errors import readable
from bestcut.files._errors import changed, refusal
from bestcut.files._limits import USUAL, Limits

_HELD = 1 << 26  # bytes from a pipe that are kept in memory; more go to the disk
_GZIP = b"\x1f\x8b"


class Input:
    """A file that can be opened again and again.

    Standard input, pipes and compressed files are unpacked once: into memory, or into
    a temporary file if they are large.

    Parameters
    ----------
    path : str
        The file; - is standard input.
    limits : Limits, optional
        How large it may be in ways that its size does not show.

    Attributes
    ----------
    where : str
        The name of the file in messages.
    size : int
        How many bytes the file has, unpacked.
    """

    def __init__(self, path: str, limits: Limits = USUAL) -> None:
        self.path, self.limits = path, limits
        self.where = "standard input" if path == "-" else path
        self._data: bytes | None = None
        self._temporary: Any = None
        if path == "-" and sys.stdin is None:
            raise refusal(self.where, "is closed", "Pass a file.")
        with _reading(self.where):
            if path == "-":
                self._keep(sys.stdin.buffer)
            elif not stat.S_ISREG(os.stat(path).st_mode):
                with open(path, "rb") as pipe:
                    self._keep(pipe)
        with self.opened() as file:
            packed = file.read(2) == _GZIP
        if packed:
            with self.opened() as file, gzip.GzipFile(fileobj=file) as unpacked:
                size = file.seek(0, os.SEEK_END)
                file.seek(0)
                self._keep(unpacked, packed=size)
        self._stamp = self._state()
        self.size = len(self._data) if self._data is not None else self._stamp[0]

    def _keep(self, stream: Any, packed: int | None = None) -> None:
        """Keep the contents of a stream, which may be unpacked from so many bytes."""
        block = stream.read(_HELD + 1)
        if len(block) <= _HELD:
            self._data, self._temporary = block, None
            return
        temporary = tempfile.NamedTemporaryFile(prefix="bestcut-")  # noqa: SIM115
        weakref.finalize(self, temporary.close)  # which removes it
        while block:
            try:
                temporary.write(block)
                temporary.flush()
            except OSError as error:
                folder = readable(tempfile.gettempdir())
                what = f"does not fit into {folder} ({error.strerror})"
                cure = (
                    "The file is unpacked there: make room, or set TMPDIR to another "
                )
                cure += "folder."
                raise refusal(self.where, what, cure) from None
            if packed is not None:
                self.limits.check_unpacked(temporary.tell(), packed, self.where)
            block = stream.read(1 << 20)
        self._data, self._temporary = None, temporary

    @property
    def for_polars(self) -> str | io.BytesIO:
        """Return a path or a buffer that polars can scan."""
        if self._data is not None:
            return io.BytesIO(self._data)
        return self._name()

    def _name(self) -> str:
        return self.path if self._temporary is None else str(self._temporary.name)

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Open it for reading from the beginning."""
        with _reading(self.where):
            if self._data is not None:
                yield io.BytesIO(self._data)
            else:
                with open(self._name(), "rb") as file:
                    yield file

    def _state(self) -> tuple[int, int, int]:
        if self._data is not None:
            return 0, 0, 0
        with _reading(self.where):
            state = os.stat(self._name())
        return state.st_size, state.st_mtime_ns, state.st_ino

    def check_unchanged(self) -> None:
        """Refuse a file that somebody else wrote to in the meantime."""
        if self._state() != self._stamp:
            raise changed(self.where)


@contextmanager
def _reading(where: str) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        what = f"cannot be read ({reason})"
        raise refusal(where, what, "Check the file.") from None
