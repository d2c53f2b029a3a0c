"""The sentences of errors about files.

A sentence names the file, what is wrong and where in it, and the cure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bestcut._errors import FileError, quoted, readable


def refusal(where: str, what: str, cure: str) -> FileError:
    """Return the refusal of a file: its name, what is wrong with it, and the cure."""
    return FileError(f"{readable(where)}: {what}. {cure}")


def first_line(error: BaseException) -> str:
    """Return what an error of another library says first."""
    return readable((str(error).splitlines() or ["unknown"])[0])


def changed(where: str) -> FileError:
    """Return the refusal of a file that somebody else wrote to in the meantime."""
    what = "changed while it was read"
    return refusal(where, what, "Try again when the file is complete.")


def empty(where: str, wanted: str = "rows") -> FileError:
    """Return the refusal of an empty file."""
    return refusal(where, "is empty", f"Pass a file with {wanted}.")


def no_rows(where: str) -> FileError:
    """Return the refusal of a file of labels without rows."""
    return refusal(where, "has no rows", "Pass a file with labelled rows.")


def arrow_stream(where: str) -> FileError:
    """Return the refusal of Arrow messages that are not in a file of Arrow."""
    what = "is an Arrow stream, which has no end that says what it holds"
    return refusal(where, what, "Write it as a file, with polars' `write_ipc`.")


def unknown_limit(name: str, known: Iterable[str]) -> ValueError:
    """Return the refusal of a limit that there is not."""
    return ValueError(
        f"`limits` may hold {', '.join(map(repr, known))}; got {quoted(name)}."
    )


def unknown_format(given: str, known: Iterable[str]) -> ValueError:
    """Return the refusal of an unknown format."""
    return ValueError(f"`format` must be one of {', '.join(known)}; got {given!r}.")


def beyond(where: str, what: str, limit: str) -> FileError:
    """Return the refusal of a file that is beyond a limit."""
    cure = f"If you trust the file, raise {limit!r} in `limits`."
    return refusal(where, what, cure)


def name_taken(where: str, name: str) -> FileError:
    """Return the refusal of a name for the new column that is already taken."""
    what = f"already has a column {quoted(name)}"
    return refusal(where, what, "Choose another name with `name`.")


def other_type(where: str, name: str, kind: Any, wanted: str) -> FileError:
    """Return the refusal of a column of another type than is wanted."""
    return refusal(
        where, f"column {quoted(name)} holds {readable(str(kind))}", f"Pass {wanted}."
    )


def in_row(name: str, row: int, what: str) -> str:
    """Say in which row of a column something is wrong."""
    return f"column {quoted(name)}, row {row}: {what}"


def twice(
    where: str, columns: Sequence[str], row: int, shown: Sequence[str]
) -> FileError:
    """Return the refusal of a second row for one group and one label."""
    pair = " and ".join(
        f"{readable(x)} {quoted(y)}" for x, y in zip(columns, shown, strict=True)
    )
    what = f"row {row} is a second row for {pair}"
    return refusal(where, what, "Keep one of these rows.")
