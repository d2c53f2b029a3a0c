"""CSV and TSV: cells of text, whose columns are read by polars."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import polars as pl

from bestcut._errors import quoted
from bestcut._types import BoolArray, IndexArray
from bestcut.files._csv_bytes import CsvText, Records, check_utf8
from bestcut.files._errors import first_line, refusal
from bestcut.files._frames import FrameSource
from bestcut.files._input import Input
from bestcut.files._source import Format
from bestcut.files._text import TextBatch, TextSource

_OTHERS = ";\t|"  # separators that people use in a CSV in place of the comma
_CODE = r"^[+-]?0\d|^[+-]?\d{16}"  # digits that a float would not keep


class CsvBatch(TextBatch):
    """Records of a CSV."""

    def __init__(self, records: Records, source: CsvSource) -> None:
        before, rows = records.place.rows, records.ends.size
        super().__init__(before, rows, len(records.data))
        self._records, self._source = records, source

    def column(self, name: str) -> pl.Series:
        """Return a column as text."""
        place = self._source.columns.index(name)
        return self._parsed([place]).to_series().alias(name)

    def frame(self) -> pl.DataFrame:
        """Return all columns as text."""
        names = self._source.columns
        frame = self._parsed(list(range(len(names))))
        return frame.rename(dict(zip(frame.columns, names, strict=True)))

    def _parsed(self, places: list[int]) -> pl.DataFrame:
        records, source = self._records, self._source
        if not self.rows:
            return pl.DataFrame(schema={str(i): pl.String for i in places})
        # Without a header polars would take a BOM off the first cell.
        head = source.separator.join(map(str, range(len(source.columns)))).encode()
        body = memoryview(records.data)[: int(records.ends[-1])]
        try:
            frame = pl.read_csv(
                io.BytesIO(b"\n".join([head, body])),
                columns=places,
                separator=source.separator,
                infer_schema=False,
            )
        except pl.exceptions.PolarsError as error:
            check_utf8(records.data, records.place)
            what = f"cannot be read ({first_line(error)})"
            raise refusal(source.where, what, "Check the file.") from None
        if len(frame) != self.rows:
            found = f"{self.rows} records after row {self.before}"
            what = f"has {found}, but {len(frame)} were read"
            raise refusal(source.where, what, "Look for stray quotes or blank lines.")
        return frame

    def with_marks(
        self,
        name: str,
        marks: BoolArray | IndexArray,
        words: Sequence[str] | None = None,
    ) -> bytes:
        """Return the text with one more cell in each record."""
        cells = ("0", "1") if words is None else words
        return self._records.with_column(self._source.separator, marks, cells)


class CsvSource(TextSource):
    """CSV or TSV."""

    def __init__(self, given: Input, kind: str, separator: str) -> None:
        super().__init__(given, kind)
        others = _OTHERS if separator == "," else ""
        text = CsvText(
            given.opened, separator, given.where, self._piece, given.limits, others
        )
        self._text, self.separator, self.columns = text, text.separator, text.header

    def _read(self) -> Iterator[CsvBatch]:
        for records in self._text:
            yield CsvBatch(records, self)

    def head_with(self, name: str) -> bytes:
        """Return the header with one more name."""
        return self._text.head_with(name)

    def frames(self, target: Format) -> FrameSource:
        """Return the columns as numbers where this loses nothing, else as text."""
        twice = {name for name in self.columns if self.columns.count(name) > 1}
        if twice:
            what = f"has several columns named {quoted(min(twice))}, which "
            what += f"{target.name} does not allow"
            raise refusal(self.where, what, "Rename all but one.")
        schema = self._schema(typed=target.is_typed)

        def read(names: list[str] | None) -> Iterator[pl.DataFrame]:
            for batch in self.batches():
                yield batch.frame().cast(dict(schema))

        return FrameSource(read, schema, self.where, self.kind)

    def _schema(self, *, typed: bool) -> pl.Schema:
        """Return for each column the type that keeps its contents unchanged."""
        kinds: dict[str, list[type[pl.DataType]]] = {
            name: [pl.Int64, pl.Float64] if typed else [] for name in self.columns
        }
        empty = set(self.columns)
        for batch in self.batches() if typed else ():
            for column in batch.frame():
                if column.null_count() < len(column):
                    empty.discard(column.name)
                kept = [x for x in kinds[column.name] if _keeps(column, x)]
                kinds[column.name] = kept
        types = {
            name: pl.String if name in empty or not kinds[name] else kinds[name][0]
            for name in self.columns
        }
        return pl.Schema(types)


def _keeps(text: pl.Series, kind: type[pl.DataType]) -> bool:
    """Return whether a column of text keeps its contents as numbers."""
    values = text.cast(kind, strict=False)
    if values.null_count() > text.null_count():
        return False
    if kind == pl.Int64:
        return bool((values.cast(pl.String) == text).all())
    return not text.str.contains(_CODE).any()


def _format(name: str, suffixes: tuple[str, ...], separator: str) -> Format:
    return Format(
        name,
        suffixes,
        open=lambda given: CsvSource(given, name, separator),
        write=lambda frames, file, _: frames.sink_csv(file, separator=separator),
        is_typed=False,
    )


CSV = _format("csv", (".csv",), ",")
TSV = _format("tsv", (".tsv", ".tab"), "\t")
