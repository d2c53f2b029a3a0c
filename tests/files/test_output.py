"""Rows are not written over the file that they are read from."""

import os

import pytest

from bestcut.files import FileError, decide_file
from files.tables import table, write


def test_the_output_may_not_be_the_input(tmp_path):
    source = write(table([0.5]), tmp_path / "x.parquet")
    os.link(source, tmp_path / "hard.parquet")
    before = source.read_bytes()
    for name in ("x.parquet", "hard.parquet"):
        with pytest.raises(FileError, match=r"is the input itself\. Write to another"):
            decide_file(source, tmp_path / name, y_proba="p")
    assert source.read_bytes() == before
