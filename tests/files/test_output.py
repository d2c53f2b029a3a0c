"""A file appears as a whole, or what was there stays."""

import os

import pytest

from bestcut.files import FileError, decide_file
from bestcut.files._output import atomic
from files.tables import table, write


def test_the_output_may_not_be_the_input(tmp_path):
    source = write(table([0.5]), tmp_path / "x.parquet")
    os.link(source, tmp_path / "hard.parquet")
    before = source.read_bytes()
    for name in ("x.parquet", "hard.parquet"):
        with pytest.raises(FileError, match=r"is the input itself\. Write to another"):
            decide_file(source, tmp_path / name, proba="p")
    assert source.read_bytes() == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "full"), MemoryError])
def test_what_goes_wrong_while_writing_leaves_the_old_file(tmp_path, error):
    (tmp_path / "y.csv").write_text("old", encoding="utf-8")

    def write():
        with atomic(str(tmp_path / "y.csv")) as file:
            file.write(b"new")
            raise error

    with pytest.raises((KeyboardInterrupt, FileError, MemoryError)):
        write()
    assert os.listdir(tmp_path) == ["y.csv"]
    assert (tmp_path / "y.csv").read_text(encoding="utf-8") == "old"


def test_an_interruption_while_the_file_is_made_leaves_nothing(tmp_path, monkeypatch):
    really_open = os.open

    def interrupted(*args, **kwargs):
        os.close(really_open(*args, **kwargs))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", interrupted)
    with pytest.raises(KeyboardInterrupt), atomic(str(tmp_path / "out")):
        pass
    monkeypatch.undo()
    assert os.listdir(tmp_path) == []
