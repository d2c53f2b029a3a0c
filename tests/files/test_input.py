"""What is read only once is kept until it has been read again."""

import os

import numpy as np
import pytest

import bestcut
from bestcut.files import decide_file
from files.tables import PACKED, read, table, write

pytestmark = pytest.mark.usefixtures("small_batches")


def test_what_is_unpacked_goes_to_the_disk_if_it_is_large(tmp_path, monkeypatch):
    monkeypatch.setattr("bestcut.files._input._HELD", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    p = np.random.default_rng(5).beta(0.5, 2, 100).round(3)
    folder = tmp_path / "files"
    folder.mkdir()
    for name in PACKED:
        source = write(table(p), folder / f"x.{name}")
        decide_file(source, folder / f"y.{name}", y_proba="p")
        result = read(folder / f"y.{name}")
        assert result["decision"].sum() == bestcut.decide(p).n_positive
    assert os.listdir(tmp_path) == ["files"]
