"""Objects as bytes: a header that says what they are, and a checksum."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bestcut._validation import check_kind


@dataclass(frozen=True)
class Form:
    """How one kind of object is stored: a header and a body.

    The header holds a name of 16 bytes, the version, perhaps a number that says how
    much there is, and the checksum of the rest.

    Attributes
    ----------
    name : bytes
        What the bytes begin with, 16 of them.
    version : int
        The version that is written and read.
    refused : callable
        Makes an exception from the reason why bytes cannot be read.
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
        """Return the body of the bytes from `packed`, refusing all other bytes.

        Parameters
        ----------
        data : bytes-like
            What a user passed in.
        wrong_size : callable
            Takes the body and, if the form is counted, the number. Returns what is
            wrong with its size, or an empty text.

        Returns
        -------
        bytes
            The body as it was stored, unless somebody forged the checksum.
        """
        check_kind(data, bytes | bytearray | memoryview, name="data", called="bytes")
        stored, header = bytes(data), self._header
        if len(stored) < header.size + self.least:
            reason = f"it has {len(stored)} bytes, which is less than a header"
            raise self.refused(reason)
        name, version, *count, checksum = header.unpack_from(stored)
        body = stored[header.size :]
        if name != self.name:
            reason = "it begins with something else"
        elif version != self.version:
            reason = f"it has version {version}, but only {self.version} can be read"
        elif not (reason := wrong_size(body, *count)) and zlib.crc32(body) != checksum:
            reason = "its checksum is wrong"
        if reason:
            raise self.refused(reason)
        return body
