"""Frames: Parquet and IPC."""

import pytest

from bestcut.files import decide_file
from files.tables import FRAMES, read, table, write

pytestmark = pytest.mark.usefixtures("small_batches")


@pytest.mark.parametrize("name", FRAMES)
def test_frames_without_rows_keep_their_columns(tmp_path, name):
    source = write(table([]), tmp_path / f"x.{name}")
    found = decide_file(source, tmp_path / f"y.{name}", y_proba="p")
    assert found.rows == 0
    assert read(tmp_path / f"y.{name}").columns == ["id", "p", "text", "decision"]


def test_folders_named_like_partitions_add_no_columns(tmp_path):
    folder = tmp_path / "year=2024"
    folder.mkdir()
    write(table([0.5]), folder / "x[0].parquet")
    decide_file(folder / "x[0].parquet", folder / "y.parquet", y_proba="p")
    assert read(folder / "y.parquet").columns == ["id", "p", "text", "decision"]
