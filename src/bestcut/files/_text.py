"""Text to which a column can be added without touching the rest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from bestcut._types import BoolArray, IndexArray
from bestcut.files._input import Input
from bestcut.files._source import Batch, Source

PIECE = 1 << 23  # bytes of text that are looked at together
_KEPT = 1 << 26  # bytes of text that are kept between two passes


class TextBatch(Batch):
    """Rows as text."""

    @abstractmethod
    def with_marks(
        self,
        name: str,
        marks: BoolArray | IndexArray,
        words: Sequence[str] | None = None,
    ) -> bytes:
        """Return the text with one more value in each row.

        The value is 0 or 1. If there are words, it is the word at the position that
        the mark gives.
        """


class TextSource(Source):
    """Text that is read in pieces."""

    def __init__(self, given: Input, kind: str) -> None:
        self.input: Input = given
        self.where, self.kind, self.total = given.where, kind, given.size
        self._piece = PIECE
        self._kept: list[Any] | None = None

    def batches(self, names: list[str] | None = None) -> Iterator[Any]:
        """Yield pieces of text; those of a small file are kept for the next time."""
        if self._kept is not None:
            yield from self._kept
            return
        kept = []
        for batch in self._read():
            if self.input.size <= _KEPT:
                kept.append(batch)
            yield batch
        if self.input.size <= _KEPT:
            self._kept = kept

    @abstractmethod
    def _read(self) -> Iterator[TextBatch]:
        """Yield pieces of text."""

    @abstractmethod
    def head_with(self, name: str) -> bytes:
        """Return what comes before the rows, with one more name."""
