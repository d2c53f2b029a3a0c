"""What went wrong with a file, in one line."""

from __future__ import annotations

from typing import IO, Any

import click


class Problem(click.ClickException):
    """An error that names the file, what is wrong, and the cure."""

    exit_code = 2

    def __init__(self, where: str, what: str = "", cure: str = "") -> None:
        sentence = f"{where}: {what}" if what else where
        super().__init__(f"{sentence}. {cure}".rstrip())

    @classmethod
    def of(cls, error: Exception) -> Problem:
        """Return what the library said."""
        return cls(" ".join(str(error).split()).rstrip("."))

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the line to standard error."""
        click.echo(f"bestcut: {self.format_message()}", err=True, file=file)
