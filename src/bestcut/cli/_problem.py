"""What went wrong, in one line."""

from __future__ import annotations

from typing import IO, Any

import click

from bestcut._errors import plain, worded

_LONGEST = 3000  # characters of a line about what went wrong

_OPTIONS = {
    "at_least": "--at-least",
    "at_most": "--at-most",
    "collect": "--collect",
    "format": "--format",
    "goal": "--goal",
    "group_by": "--group-by",
    "max_positives": "--max-positives",
    "min_positives": "--min-positives",
    "name": "--name",
    "output": "-o",
    "y_proba": "--proba",
    "zero_division": "--zero-division",
}


class Problem(click.ClickException):
    """An error that says what is wrong and how to cure it."""

    exit_code = 2

    def __init__(self, sentence: str, cure: str = "") -> None:
        super().__init__(f"{sentence}. {cure}".rstrip())

    @classmethod
    def of(cls, error: Exception | str) -> Problem:
        """Return the library's error, with options in the place of its arguments."""
        return cls(worded(" ".join(str(error).split()).rstrip("."), _OPTIONS))

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the line to standard error."""
        line = plain(self.format_message())
        if len(line) > _LONGEST:
            line = f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 :]}"
        click.echo(f"bestcut: {line}", err=True, file=file)
