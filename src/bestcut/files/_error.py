"""What went wrong with a file."""

from __future__ import annotations


class FileError(ValueError):
    """A file cannot be read, understood or written.

    The message names the file, what is wrong and where, and the cure.
    """

    @classmethod
    def of(cls, where: str, what: str, cure: str) -> FileError:
        """Return the error with its sentence."""
        return cls(f"{where}: {what}. {cure}")
