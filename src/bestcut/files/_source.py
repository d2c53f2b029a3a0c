"""Files of scores, read batch by batch: the parts that all formats share."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bestcut._errors import bad_value, quoted, readable
from bestcut._types import BoolArray, FloatArray, IndexArray
from bestcut.files._columns import groups, labels, probabilities, scores, shares
from bestcut.files._errors import name_taken, refusal
from bestcut.files._input import Input

_MOST_NAMES = 12  # of columns that are shown

if TYPE_CHECKING:
    from bestcut.files._frames import FrameSource


@dataclass(frozen=True)
class Format:
    """How files of one format are recognised, read and written.

    Attributes
    ----------
    name : str
        The name of the format.
    suffixes : tuple of str
        How the names of its files may end.
    open : callable
        Returns the source of an input.
    write : callable
        Writes the frames of a scan to an open file, while they are made. Its third
        argument is what programs noted in the input, of which Parquet keeps a copy.
    is_typed : bool, default=True
        Whether it tells numbers from text.
    is_text : bool, default=True
        Whether people can read it.
    """

    name: str
    suffixes: tuple[str, ...]
    open: Callable[[Input], Source]
    write: Callable[[pl.LazyFrame, Any, Mapping[str, str]], Any]
    is_typed: bool = True
    is_text: bool = True


class Batch(ABC):
    """Some rows, one after another.

    Attributes
    ----------
    before : int
        How many rows come before.
    rows : int
        How many there are.
    size : int
        How much of `Source.total` these rows are.
    """

    def __init__(self, before: int, rows: int, size: int) -> None:
        self.before, self.rows, self.size = before, rows, size

    @abstractmethod
    def column(self, name: str) -> pl.Series:
        """Return a column, as text if the file is text."""


class Source(ABC):
    """Rows that can be read several times, batch by batch.

    Attributes
    ----------
    where : str
        The name of the source in messages.
    kind : str
        The name of its format.
    columns : list of str
        The names of its columns.
    total : int or None
        How much there is to read, in the unit of `Batch.size`; None if that is unknown.
    input : Input or None
        The bytes that it reads; None if it is a scan.
    """

    where: str
    kind: str
    columns: list[str]
    total: int | None
    input: Input | None = None

    @abstractmethod
    def batches(self, names: list[str] | None = None) -> Iterator[Batch]:
        """Yield all rows; if names are given, only these columns are needed."""

    @abstractmethod
    def frames(self, target: Format) -> FrameSource:
        """Return the rows as frames, to be written in another format."""

    def check_unchanged(self) -> None:
        """Refuse a file that somebody else wrote to in the meantime."""
        if self.input is not None:
            self.input.check_unchanged()

    def check_column(self, name: str, option: str) -> None:
        """Refuse the name of a column that is missing or ambiguous."""
        count = self.columns.count(name)
        if count > 1:
            what = f"has {count} columns named {quoted(name)}"
            raise refusal(self.where, what, "Rename all but one.")
        if not count:
            first = [readable(x) for x in self.columns[:_MOST_NAMES]]
            shown = ", ".join(first + ["..."] * (len(self.columns) > _MOST_NAMES))
            cure = f"Name a column with {option}; the columns are: {shown}."
            if len(self.columns) == 1 and re.search(r"[,;|\t]", self.columns[0]):
                cure += " This is one column: if it should be several, pass another "
                cure += "`format`."
            raise refusal(self.where, f"has no column {quoted(name)}", cure)

    def check_new(self, name: str) -> None:
        """Refuse a name that is taken, or that no file can hold."""
        try:
            name.encode()
        except UnicodeEncodeError:
            rule = "must be text that UTF-8 can encode"
            raise bad_value("name", rule, "Choose another name.", value=name) from None
        if name in self.columns:
            raise name_taken(self.where, name)

    def column(self, name: str, option: str) -> pl.Series:
        """Return a whole column, as text if the file is text."""
        self.check_column(name, option)
        parts = [batch.column(name) for batch in self.batches([name])]
        if not parts:
            return pl.Series(name, [], dtype=pl.Float64)
        kinds = {part.dtype for part in parts}
        if pl.String in kinds:  # NDJSON may mix "0.5" and 0.5
            parts = [part.cast(pl.String) for part in parts]
        frames = [part.alias(name).to_frame() for part in parts]
        return pl.concat(frames, how="vertical_relaxed").to_series()

    def probabilities(self, name: str) -> FloatArray:
        """Return a whole column of probabilities."""
        return probabilities(self.column(name, "`y_proba`"), self.where)

    def scores(self, name: str, option: str) -> FloatArray:
        """Return a whole column of scores, which may be any finite numbers."""
        return scores(self.column(name, option), self.where)

    def labels(self, name: str, option: str) -> BoolArray:
        """Return a whole column of labels, 0 and 1 or true and false."""
        return labels(self.column(name, option), self.where)

    def groups(self, name: str, option: str) -> NDArray[Any]:
        """Return a whole column of groups, as numbers."""
        return groups(self.column(name, option), self.where)

    def named_groups(self, name: str, option: str) -> tuple[IndexArray, list[str]]:
        """Return the position of each row's group, and the names of the groups."""
        column = self.column(name, option)
        place = groups(column, self.where).astype(np.intp) - 1
        first = np.unique(place, return_index=True)[1]
        return place, column.gather(first).cast(pl.String).to_list()

    def shares(self, names: list[str], option: str) -> tuple[FloatArray, int]:
        """Return columns of probabilities that sum to 1 in each row.

        Also return the number of rows that were rounded, and so were divided by their
        sum.
        """
        for name in names:
            self.check_column(name, option)
        parts = [np.empty((0, len(names)))]
        for batch in self.batches(names):
            columns = [
                probabilities(batch.column(name), self.where, batch.before)
                for name in names
            ]
            parts.append(np.column_stack(columns))
        return shares(np.concatenate(parts), self.where)
