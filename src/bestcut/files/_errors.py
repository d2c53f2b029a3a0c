"""The sentences of errors about files.

A sentence names the file, what is wrong and where in it, and the cure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from bestcut._errors import FileError, quoted, readable


def _refusal(where: str, what: str, cure: str) -> FileError:
    return FileError(f"{readable(where)}: {what}. {cure}")


def _first_line(error: BaseException) -> str:
    return readable((str(error).splitlines() or ["unknown"])[0])


# --- reading and writing --------------------------------------------------------------


def closed(where: str) -> FileError:
    """Return the refusal of a standard input that is not open."""
    return _refusal(where, "is closed", "Pass a file.")


def binary_on_terminal(kind: str) -> FileError:
    """Return the refusal to fill a terminal with bytes that are not text."""
    what = f"is a terminal, and {kind} is not text"
    return _refusal("standard output", what, "Name a file with `output`.")


def unreadable(where: str, error: Exception) -> FileError:
    """Return the refusal of a file that the system does not let us read."""
    reason = getattr(error, "strerror", None) or str(error)
    return _refusal(where, f"cannot be read ({reason})", "Check the file.")


def no_room_to_unpack(where: str, folder: str, error: OSError) -> FileError:
    """Return the refusal of a file that is too large for the temporary folder."""
    what = f"does not fit into {readable(folder)} ({error.strerror})"
    cure = "The file is unpacked there: make room, or set TMPDIR to another folder."
    return _refusal(where, what, cure)


def changed(where: str) -> FileError:
    """Return the refusal of a file that somebody else wrote to in the meantime."""
    what = "changed while it was read"
    return _refusal(where, what, "Try again when the file is complete.")


def empty(where: str, wanted: str = "rows") -> FileError:
    """Return the refusal of an empty file."""
    return _refusal(where, "is empty", f"Pass a file with {wanted}.")


def no_rows(where: str) -> FileError:
    """Return the refusal of a file of labels without rows."""
    return _refusal(where, "has no rows", "Pass a file with labelled rows.")


def input_itself(output: str) -> FileError:
    """Return the refusal to overwrite the file that is read."""
    return _refusal(output, "is the input itself", "Write to another file.")


# --- limits ---------------------------------------------------------------------------


def unknown_limit(name: str, known: Iterable[str]) -> ValueError:
    """Return the refusal of a limit that there is not."""
    return ValueError(
        f"`limits` may hold {', '.join(map(repr, known))}; got {quoted(name)}."
    )


def beyond(where: str, what: str, limit: str) -> FileError:
    """Return the refusal of a file that is beyond a limit."""
    cure = f"If you trust the file, raise {limit!r} in `limits`."
    return _refusal(where, what, cure)


# --- formats --------------------------------------------------------------------------


def unknown_format(given: str, known: Iterable[str]) -> ValueError:
    """Return the refusal of an unknown format."""
    return ValueError(f"`format` must be one of {', '.join(known)}; got {given!r}.")


def unnamed_format(path: str, known: Iterable[str]) -> FileError:
    """Return the refusal of a file whose name does not end in a known suffix."""
    what = "has a name that does not tell its format"
    return _refusal(path, what, f"Pass `format`, one of {', '.join(known)}.")


def no_parquet_files(where: str) -> FileError:
    """Return the refusal of a folder or a pattern without Parquet files."""
    cure = "For files of another format pass a scan of them, such as polars.scan_csv."
    return _refusal(where, "holds no Parquet files", cure)


def not_one_file(where: str, kind: str | None) -> FileError:
    """Return the refusal of a folder, or a pattern, as another format than Parquet."""
    cure = "Pass a scan of the files, such as polars.scan_csv."
    return _refusal(where, f"is read as parquet, not as {kind}, being many files", cure)


def damaged(where: str, kind: str) -> FileError:
    """Return the refusal of a file that contradicts itself."""
    what = f"cannot be read as {kind} (it is damaged)"
    return _refusal(where, what, "Check the file and its format.")


def not_understood(where: str, kind: str, error: BaseException) -> FileError:
    """Return the refusal of a file that is not of its format."""
    what = f"cannot be read as {kind} ({_first_line(error)})"
    return _refusal(where, what, "Check the file and its format.")


def cannot_hold(where: str, kind: str, error: Exception) -> FileError:
    """Return the refusal to write rows in a format that cannot hold them."""
    what = f"cannot be written as {kind} ({_first_line(error)})"
    return _refusal(where, what, "Write a file in the format of the input.")


def cannot_repeat(where: str, kind: str, name: str) -> FileError:
    """Return the refusal to write two columns with one name in such a format."""
    what = f"has several columns named {quoted(name)}, which {kind} does not allow"
    return _refusal(where, what, "Rename all but one.")


# --- columns --------------------------------------------------------------------------


def no_column(where: str, name: str, option: str, columns: Sequence[str]) -> FileError:
    """Return the refusal of a name that no column has."""
    more = ", ..." if len(columns) > 12 else ""
    shown = ", ".join(map(readable, columns[:12])) + more
    cure = f"Name a column with {option}; the columns are: {shown}."
    if len(columns) == 1 and any(mark in columns[0] for mark in ",;|\t"):
        cure += " This is one column: if it should be several, pass another `format`."
    return _refusal(where, f"has no column {quoted(name)}", cure)


def ambiguous_column(where: str, name: str, count: int) -> FileError:
    """Return the refusal of a name that several columns have."""
    what = f"has {count} columns named {quoted(name)}"
    return _refusal(where, what, "Rename all but one.")


def name_taken(where: str, name: str) -> FileError:
    """Return the refusal of a name for the new column that is already taken."""
    what = f"already has a column {quoted(name)}"
    return _refusal(where, what, "Choose another name with `name`.")


def other_type(where: str, name: str, kind: Any, wanted: str) -> FileError:
    """Return the refusal of a column of another type than is wanted."""
    return _refusal(
        where, f"column {quoted(name)} holds {readable(str(kind))}", f"Pass {wanted}."
    )


def _in_row(name: str, row: int, what: str) -> str:
    return f"column {quoted(name)}, row {row}: {what}"


def no_number(where: str, name: str, row: int, found: Any) -> FileError:
    """Return the refusal of a value that is not a number."""
    missing = found in (None, "")
    what = "the value is missing" if missing else f"{quoted(found)} is not a number"
    cure = "Fill it or delete the row."
    if isinstance(found, str) and found.strip().endswith("%"):
        cure = "Divide percentages by 100."
    elif isinstance(found, str) and re.fullmatch(r"\s*[+-]?\d*,\d+\s*", found):
        cure = "Write decimals with a point."
    return _refusal(where, _in_row(name, row, what), cure)


def no_finite_number(where: str, name: str, row: int, found: float) -> FileError:
    """Return the refusal of a score that is infinite."""
    what = _in_row(name, row, f"{found:g} is not a finite number")
    return _refusal(where, what, "Fill it or delete the row.")


def no_probability(
    where: str, name: str, row: int, found: float, count: int, of: int
) -> FileError:
    """Return the refusal of the first of some numbers outside [0, 1]."""
    shown = repr(found).removesuffix(".0")  # all digits, or 1.0000000001 looks like 1
    what = f"{shown} is not a probability ({count} of {of} read are not in [0, 1])"
    cure = "Pass calibrated probabilities, not scores or percentages."
    return _refusal(where, _in_row(name, row, what), cure)


def no_label(where: str, name: str, row: int, found: Any) -> FileError:
    """Return the refusal of a value that is neither 0 nor 1."""
    missing = found in (None, "")
    what = "the label is missing" if missing else f"{quoted(found)} is not a label"
    cure = "Pass 0 and 1, or true and false."
    return _refusal(where, _in_row(name, row, what), cure)


def no_group(where: str, name: str, row: int) -> FileError:
    """Return the refusal of a row that belongs to no group."""
    what = _in_row(name, row, "the group is missing")
    return _refusal(where, what, "Fill it or delete the row.")


def no_value(where: str, name: str, row: int) -> FileError:
    """Return the refusal of a row that has nothing to collect."""
    what = _in_row(name, row, "the value to collect is missing")
    return _refusal(where, what, "Fill it or delete the row.")


def holds_blank(where: str, name: str, row: int, found: str) -> FileError:
    """Return the refusal to join values with blanks if a value holds a blank."""
    what = _in_row(
        name, row, f"{quoted(found)} holds a blank, but blanks separate values"
    )
    return _refusal(where, what, "Collect another column, or rename the values.")


def no_share(where: str, row: int, total: float, count: int, of: int) -> FileError:
    """Return the refusal of a row whose probabilities of classes do not sum to 1."""
    what = (
        f"row {row}: the probabilities of the classes sum to {total:.12g}, not to 1 "
        f"({count} of {of} rows do not sum to 1)"
    )
    cure = "Name the columns of all classes, which must hold calibrated probabilities."
    return _refusal(where, what, cure)


def twice(
    where: str, columns: Sequence[str], row: int, shown: Sequence[str]
) -> FileError:
    """Return the refusal of a second row for one group and one label."""
    pair = " and ".join(
        f"{readable(x)} {quoted(y)}" for x, y in zip(columns, shown, strict=True)
    )
    what = f"row {row} is a second row for {pair}"
    return _refusal(where, what, "Keep one of these rows.")


# --- text -----------------------------------------------------------------------------


def long_record(where: str, longest: int) -> FileError:
    """Return the refusal of a record that does not end."""
    what = f"has a record of more than {longest:,} bytes"
    cure = "Look for a quote that is never closed, or raise 'row' in `limits`."
    return _refusal(where, what, cure)


def not_utf8(where: str, line: int) -> FileError:
    """Return the refusal of text in another encoding."""
    return _refusal(where, f"line {line} is not UTF-8", "Convert the file first.")


def no_header(where: str, error: Exception) -> FileError:
    """Return the refusal of a first line that does not name the columns."""
    what = f"has no readable header ({error})"
    return _refusal(where, what, "Check the first line.")


def blank_row(where: str, row: int) -> FileError:
    """Return the refusal of a blank line between others; the header is row 0."""
    what = f"{f'row {row}' if row else 'the first line'} is blank"
    return _refusal(where, what, "Delete it.")


def other_width(where: str, row: int, fields: int, header: int) -> FileError:
    """Return the refusal of a record with more or fewer fields than the header."""
    what = f"row {row} has {fields} fields, but the header has {header}"
    cure = "Quote fields that hold a separator, or fill the row."
    return _refusal(where, what, cure)


def stray_quote(where: str, line: int) -> FileError:
    """Return the refusal of a quote that readers disagree about."""
    what = f"line {line} has a quote inside a field"
    cure = "Quote the whole field, and double the quotes in it."
    return _refusal(where, what, cure)


def open_quote(where: str, line: int) -> FileError:
    """Return the refusal of a quoted field that does not end."""
    what = f"line {line} has a quote that is never closed"
    return _refusal(where, what, "Close it.")


def lone_return(where: str, line: int) -> FileError:
    """Return the refusal of a return that some readers take for the end of a line."""
    what = f"line {line} has a carriage return without a newline"
    cure = "Quote its field, or end lines with a newline."
    return _refusal(where, what, cure)


def unreadable_records(where: str, error: Exception) -> FileError:
    """Return the refusal of records that polars cannot read."""
    what = f"cannot be read ({_first_line(error)})"
    return _refusal(where, what, "Check the file.")


def lost_records(where: str, before: int, rows: int, read: int) -> FileError:
    """Return the refusal of records of which polars finds another number."""
    what = f"has {rows} records after row {before}, but {read} were read"
    return _refusal(where, what, "Look for stray quotes or blank lines.")


def not_one_object_per_line(where: str) -> FileError:
    """Return the refusal of NDJSON whose lines are not one object each."""
    return _refusal(
        where, "does not have one object per line", "Put each object on its own line."
    )


def too_deep(where: str, row: int, deepest: int) -> FileError:
    """Return the refusal of values in values in values, and so on."""
    what = f"row {row} has values that are nested more than {deepest} deep"
    return _refusal(where, what, "Flatten them.")


def repeated_key(where: str, row: int, name: str) -> FileError:
    """Return the refusal of an object that holds a key twice."""
    what = f"row {row} has the key {quoted(name)} more than once"
    return _refusal(where, what, "Keep one of these keys.")
