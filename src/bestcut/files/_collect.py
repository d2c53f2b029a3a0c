"""One line for each group: its name, and the values chosen in it."""

from __future__ import annotations

import numpy as np
import polars as pl

from bestcut._errors import quoted
from bestcut._types import BoolArray, IndexArray
from bestcut._writing import writing
from bestcut.files._errors import in_row, name_taken, refusal
from bestcut.files._formats import FORMATS
from bestcut.files._source import Source

_FORMULA = r"^[=+\-@\t\r]"
NONE = "None"  # written where nothing was chosen


def collected(
    source: Source,
    group_by: str,
    collect: str,
    name: str,
    labels: BoolArray | IndexArray,
) -> pl.DataFrame:
    """Return a row for each group, with the chosen values separated by blanks.

    Parameters
    ----------
    source : Source
        The rows.
    group_by, collect : str
        The column of groups, and the column whose values are collected.
    name : str
        The name of the column of collected values.
    labels : ndarray of bool
        Which rows were chosen.

    Returns
    -------
    polars.DataFrame
        Groups are in the order of their first rows, and values are in the order of
        the file. A group in which nothing was chosen says ``None``.
    """
    if name == group_by:
        raise name_taken(source.where, name)
    key = source.column(group_by, "`group_by`")
    text = source.column(collect, "`collect`").cast(pl.String)
    missing = text.is_null() | (text == "")
    if missing.any():
        row = int(missing.arg_max() or 0) + 1
        what = in_row(collect, row, "the value to collect is missing")
        raise refusal(source.where, what, "Fill it or delete the row.")
    blank = text.str.contains(r"\s")
    if blank.any():
        row = int(blank.arg_max() or 0)
        found = f"{quoted(text[row])} holds a blank, but blanks separate values"
        cure = "Collect another column, or rename the values."
        raise refusal(source.where, in_row(collect, row + 1, found), cure)
    rows = pl.DataFrame({"key": key, "value": text, "chosen": labels.astype(np.bool_)})
    groups = rows.group_by("key", maintain_order=True).agg(
        pl.col("value").filter(pl.col("chosen")).str.join(" ")
    )
    return groups.select(
        pl.col("key").alias(group_by), pl.col("value").replace("", NONE).alias(name)
    )


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return texts with ' before those that spreadsheets would run as formulas.

    The names of columns are texts, too.
    """
    texts = pl.selectors.string()
    names = pl.Series(frame.columns, dtype=pl.String).to_frame("name")
    escaped = names.select(_escaped(pl.col("name"))).to_series().to_list()
    frame = frame.with_columns(_escaped(texts))
    return frame.rename(dict(zip(frame.columns, escaped, strict=True)))


def _escaped(text: pl.Expr) -> pl.Expr:
    return text.str.replace(_FORMULA, "'${0}")


def write_frame(frame: pl.DataFrame, output: str, kind: str) -> None:
    """Write a frame to a file in a format, completely or not at all."""
    with writing(output) as file:
        FORMATS[kind].write(frame.lazy(), file, {})
