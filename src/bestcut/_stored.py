"""Things as bytes: a header that says what they are, and a checksum."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bestcut._validation import check_kind


@dataclass(frozen=True)
class Form:
    """How one kind of thing is stored.

    After the header, which is 16 bytes of a name, the version, perhaps a number that
    says how much there is, and the checksum of the rest, comes a body.

    Attributes
    ----------
    name : bytes
        What the bytes begin with, 16 of them.
    version : int
        The version that is written and read.
    refused : callable
        Makes an exception of the reason why bytes cannot be read.
    counted : bool
        Whether the header has the number.
    least : int
        How long a body is at least.
    """

    name: bytes
    version: int
    refused: Callable[[str], ValueError]
    counted: bool = False
    least: int = 0

    @property
    def _header(self) -> struct.Struct:
        return struct.Struct("<16sHII" if self.counted else "<16sHI")

    def packed(self, body: bytes, *count: int) -> bytes:
        """Return a body with its header; `count` is for a form that is counted."""
        header = self._header.pack(self.name, self.version, *count, zlib.crc32(body))
        return header + body

    def body(self, data: Any, wrong_size: Callable[..., str]) -> bytes:
        """Return the body of what `packed` returned, refusing everything else.

        Parameters
        ----------
        data : bytes-like
            What a user passed in.
        wrong_size : callable
            Takes the body and, if the form is counted, the number; returns what is
            wrong with its size, nothing if it is right.

        Returns
        -------
        bytes
            As they were stored, if nobody forged the checksum.
        """
        check_kind(data, bytes | bytearray | memoryview, name="data", called="bytes")
        stored, header = bytes(data), self._header
        if len(stored) < header.size + self.least:
            reason = f"it has {len(stored)} bytes, fewer than a header"
            raise self.refused(reason)
        name, version, *count, checksum = header.unpack_from(stored)
        body = stored[header.size :]
        if name != self.name:
            reason = "it begins with something else"
        elif version != self.version:
            reason = f"it is of version {version}, and this one reads {self.version}"
        elif not (reason := wrong_size(body, *count)) and zlib.crc32(body) != checksum:
            reason = "its checksum is wrong"
        if reason:
            raise self.refused(reason)
        return body
