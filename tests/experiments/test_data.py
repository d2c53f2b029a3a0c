"""The data are the paper's: shapes, splits and classes; what is not is refused."""

import shutil

import numpy as np
import pytest
from experiments.__main__ import main
from experiments.protocol import classes_kept, rows_of_split

from experiments import data

SHAPES = {
    "reuters": (8293, 18933),
    "letters": (20000, 16),
    "scene_single": (2230, 294),
    "webpage": (34780, 300),
    "image": (2310, 18),
    "breast_cancer": (683, 9),
    "spambase": (4601, 57),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_shapes_are_those_of_the_paper(folder, name):
    X, y, _ = data.load(name, folder)
    assert X.shape == SHAPES[name]
    assert len(y) == SHAPES[name][0]


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("reuters", (5946, 2347)),
        ("letters", (16000, 4000)),
        ("scene", (1137, 1093)),
        ("webpage", (6956, 27824)),
        ("spambase", (3071, 1530)),
        ("image", (1300, 1010)),
        ("breast_cancer", (463, 220)),
    ],
)
def test_splits_have_the_sizes_of_the_paper_and_do_not_overlap(session, name, sizes):
    train, test = rows_of_split(session, name, 3)
    assert (len(train), len(test)) == sizes
    assert np.intersect1d(train, test).size == 0
    again, _ = rows_of_split(session, name, 3)
    np.testing.assert_array_equal(train, again)


def test_the_T_rule_keeps_the_stated_number_of_classes(session):
    kept = [len(classes_kept(session, "reuters", T)) for T in (1, 10, 50, 100)]
    assert kept == [51, 21, 6, 2]
    assert len(classes_kept(session, "letters")) == 26
    assert len(classes_kept(session, "scene")) == 6


def test_a_damaged_file_is_named(folder, tmp_path):
    for name in data.SOURCES:
        shutil.copy(folder / f"{name}.npz", tmp_path)
    damaged = bytearray((tmp_path / "spambase.npz").read_bytes())
    damaged[1000] ^= 1
    (tmp_path / "spambase.npz").write_bytes(damaged)
    with pytest.raises(data.DataError, match=r"checksum of spambase\.npz .*is wrong"):
        data.verify(tmp_path)


def test_the_same_values_in_another_archive_will_do(folder, tmp_path):
    for name in data.SOURCES:
        shutil.copy(folder / f"{name}.npz", tmp_path)
    X, y, _ = data.load("spambase", folder)
    np.savez(tmp_path / "spambase.npz", X=X, y=y)
    data.verify(tmp_path)
    np.savez(tmp_path / "spambase.npz", X=X[::-1], y=y)
    with pytest.raises(data.DataError):
        data.verify(tmp_path)


def test_without_data_nothing_is_written_and_the_status_says_so(tmp_path, capsys):
    out, cache, absent = (tmp_path / name for name in ("out", "cache", "absent"))
    where = ["--data", str(absent), "--out", str(out), "--cache", str(cache)]
    assert main(where) != 0
    message = capsys.readouterr().err
    assert "--data FOLDER" in message
    assert "OpenML 44" in message
    assert main([*where, "--skip-without-data"]) == 0
    assert "skipped" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_wrong_data_are_no_reason_to_skip(folder, tmp_path, capsys):
    here = tmp_path / "data"
    here.mkdir()
    shutil.copy(folder / "image.npz", here)
    assert main(["--data", str(here), "--skip-without-data"]) != 0
    assert "reuters.npz" in capsys.readouterr().err


def test_fetch_holds_openml_against_our_values(folder, tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    wrong = []

    class Table:
        def __init__(self, X, labels):
            self.data, self.target = pd.DataFrame(X), pd.Series(labels)

    def fake(data_id, **_):
        name = next(n for n, s in data.SOURCES.items() if s.openml == data_id)
        X, y, _ = data.load(name, folder)
        if name == "letters":
            labels = [chr(ord("A") + i) for i in y]
        elif name == "breast_cancer":
            labels = np.where(y == 1, "malignant", "benign")
        else:
            labels = y.astype(str)
        return Table(X[::-1] if name in wrong else X, labels)

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fake)
    assert data.fetch(tmp_path) == ["letters", "breast_cancer", "spambase"]
    for name in ("letters", "spambase"):
        ours, theirs = data.load(name, folder), data.load(name, tmp_path)
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])
    wrong.append("letters")
    with pytest.raises(data.DataError, match="OpenML 6 does not hold"):
        data.fetch(tmp_path / "other")
    assert not (tmp_path / "other").exists()
