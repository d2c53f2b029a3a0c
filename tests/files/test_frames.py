"""Frames: Parquet and IPC."""

import pytest

pytest.importorskip("polars", minversion="1.38")

import polars as pl

from bestcut.files import FileError, decide_file
from bestcut.files._arrow import FlatTable
from files.tables import FRAMES, read, table, write

pytestmark = pytest.mark.usefixtures("small_batches")


@pytest.mark.parametrize("name", FRAMES)
def test_frames_without_rows_keep_their_columns(tmp_path, name):
    source = write(table([]), tmp_path / f"x.{name}")
    found = decide_file(source, tmp_path / f"y.{name}", y_proba="p")
    assert found.n == 0
    assert read(tmp_path / f"y.{name}").columns == ["id", "p", "text", "decision"]


def test_folders_named_like_partitions_add_no_columns(tmp_path):
    folder = tmp_path / "year=2024"
    folder.mkdir()
    write(table([0.5]), folder / "x[0].parquet")
    decide_file(folder / "x[0].parquet", folder / "y.parquet", y_proba="p")
    assert read(folder / "y.parquet").columns == ["id", "p", "text", "decision"]


def test_what_programs_note_in_parquet_is_kept(tmp_path):
    noted = {"pandas": '{"index_columns": []}', "geo": "é\n"}
    frame = pl.DataFrame({"p": [0.75, 0.25], "q": ["a", None]})
    frame.write_parquet(tmp_path / "x.parquet", metadata=noted)
    decide_file(tmp_path / "x.parquet", tmp_path / "y.parquet", y_proba="p")
    metadata = pl.read_parquet_metadata(tmp_path / "y.parquet")
    assert metadata.pop("ARROW:schema")  # of the columns that are there now
    assert metadata == noted
    decided = pl.Series("decision", [1, 0], dtype=pl.Int8)
    assert read(tmp_path / "y.parquet").equals(frame.with_columns(decided))


def test_decimals_with_more_digits_than_polars_has_are_refused(tmp_path):
    path = tmp_path / "in.arrow"
    types = {"p": pl.Float64, "amount": pl.Decimal(37, 2)}
    pl.DataFrame({"p": [0.5], "amount": [1]}, schema=types).write_ipc(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"\x25\0\0\0", b"\x32\0\0\0"))  # 37 digits are 50
    with pytest.raises(FileError, match="between 1 and 38, got 50"):
        decide_file(path, tmp_path / "out.arrow", y_proba="p")


def test_arrow_that_has_lost_its_rows_but_not_its_categories_is_refused(tmp_path):
    path = tmp_path / "in.arrow"
    rows = pl.DataFrame({"p": [0.5] * 99, "kind": ["a", "b", "c"] * 33})
    rows.with_columns(pl.col("kind").cast(pl.Categorical)).write_ipc(path)
    data = path.read_bytes()
    start = len(data) - 10 - int.from_bytes(data[-10:-6], "little")
    batches, count = FlatTable.root(data[start:-10]).vector(3, 24)
    assert count == 1
    at = start + batches - 4
    path.write_bytes(data[:at] + bytes(4) + data[at + 4 :])
    with pytest.raises(FileError, match="damaged"):
        decide_file(path, tmp_path / "out.arrow", y_proba="p")
