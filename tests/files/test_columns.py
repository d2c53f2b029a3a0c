"""A value that is not a probability is named by its row; any type of number is read."""

import os

import pytest

from bestcut.files import FileError, decide_file
from files.tables import ENDINGS, FRAMES, write

pl = pytest.importorskip("polars", minversion="1.38")

pytestmark = pytest.mark.usefixtures("small_batches")


@pytest.mark.parametrize("name", ENDINGS)
def test_a_bad_value_far_down_is_named_by_its_row(tmp_path, name, monkeypatch):
    monkeypatch.setattr("bestcut.files._text.PIECE", 1 << 16)
    monkeypatch.setattr("bestcut.files._frames.SCORES", 9999)
    values = ["0.5"] * 80_000
    values[69_999] = "oops"
    frame = pl.DataFrame({"p": values})
    source = write(frame, tmp_path / f"x.{name}")
    message = (
        rf"x\.{name}: column 'p', row 70000: 'oops' is not a number\. Fill it or delete"
    )
    with pytest.raises(FileError, match=message):
        decide_file(source, tmp_path / f"y.{name}", y_proba="p")
    bad = frame.with_columns(p=pl.col("p").replace("oops", "1.5").cast(pl.Float64))
    write(bad, source)
    with pytest.raises(FileError, match=r"row 70000: 1\.5 is not a probability \(1 of"):
        decide_file(source, tmp_path / f"y.{name}", y_proba="p")
    assert os.listdir(tmp_path) == [f"x.{name}"]


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "row 41: the value is missing"),
        (float("nan"), "row 41: nan is not a number"),
        (float("inf"), "row 41: inf is not a probability"),
        (-0.5, "row 41: -0.5 is not a probability"),
        (1 + 1e-10, "row 41: 1.0000000001 is not a probability"),
        (7.0, "row 41: 7 is not a probability"),
    ],
)
def test_what_is_no_probability_in_a_frame_is_named_too(tmp_path, name, value, message):
    frame = pl.DataFrame({"p": [0.5] * 40 + [value] + [0.5] * 40})
    source = write(frame, tmp_path / f"x.{name}")
    with pytest.raises(FileError, match=message):
        decide_file(source, tmp_path / f"y.{name}", y_proba="p")


@pytest.mark.parametrize("kind", [pl.Float32, pl.Int8, pl.String])
def test_other_types_of_numbers_are_read_as_they_are(tmp_path, kind):
    values = pl.Series("p", [0, 1, 1, 0, 0] * 9, dtype=pl.Int8).cast(kind)
    values.to_frame().write_parquet(tmp_path / "x.parquet")
    found = decide_file(tmp_path / "x.parquet", tmp_path / "y.parquet", y_proba="p")
    assert found.n_positive == 18
    result = pl.read_parquet(tmp_path / "y.parquet")
    assert result.schema == {"p": kind, "decision": pl.Int8}


def test_of_a_long_name_a_message_shows_both_ends(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("p\n0.5\n", encoding="utf-8")
    name = "".join(f"{i:05}" for i in range(100))
    with pytest.raises(FileError, match=f"has no column '{name}'"):
        decide_file(file, tmp_path / "y.csv", y_proba=name)
    ends = f"{name[:250]} [.]{{3}} {name[-249:]}x"
    with pytest.raises(FileError, match=f"has no column '{ends}'"):
        decide_file(file, tmp_path / "y.csv", y_proba=f"{name}x")
