"""Folders of Parquet files are read as polars reads them; frames are sent elsewhere."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bestcut

P = np.round(np.random.default_rng(3).beta(0.5, 1.5, 40), 3)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with two partitions, and a place beside it."""
    for day in (0, 1):
        place = tmp_path / "scores" / f"day={day}"
        place.mkdir(parents=True)
        rows = slice(20 * day, 20 * day + 20)
        pl.DataFrame({"p": P[rows]}).write_parquet(place / "part-0.parquet")
    return tmp_path / "scores"


def test_a_folder_with_partitions_is_one_batch(folder):
    out = folder.parent / "out.parquet"
    found = bestcut.decide_file(folder, out, y_proba="p")
    one = bestcut.decide(P)
    assert (found.n, found.n_positive) == (40, one.n_positive)
    written = pl.read_parquet(out)
    assert written.columns == ["p", "day", "decision"]
    assert written["day"].to_list() == [0] * 20 + [1] * 20
    np.testing.assert_array_equal(written["decision"].to_numpy(), one.labels)


def test_a_pattern_is_one_batch(folder):
    out = folder.parent / "out.csv"
    found = bestcut.decide_file(
        f"{folder}/*/part-*.parquet", out, y_proba="p", at_least={"recall": 0.5}
    )
    one = bestcut.decide(P, at_least={"recall": 0.5})
    assert (found.n, found.n_positive) == (40, one.n_positive)
    assert out.read_text(encoding="utf-8").startswith("p,decision\n")


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path):
    odd, out = tmp_path / "a[1].csv", tmp_path / "out.csv"
    odd.write_text("p\n0.9\n0.1\n", encoding="utf-8")
    assert bestcut.decide_file(odd, out, y_proba="p").n == 2


def test_what_is_no_folder_of_parquet_files_is_refused(folder, tmp_path):
    out = tmp_path / "out.parquet"

    def refused(path, message, **options):
        with pytest.raises(bestcut.FileError, match=message):
            bestcut.decide_file(
                path, options.pop("output", out), y_proba="p", **options
            )
        assert not out.exists()

    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", r"holds no Parquet files\. .*polars\.scan_csv")
    refused(f"{tmp_path}/*.csv", r"holds no Parquet files\. .*polars\.scan_csv")
    refused(folder, "is read as parquet, not as csv", format="csv")
    (part,) = (folder / "day=1").iterdir()
    refused(folder, "is the input itself", output=part)
    part.write_bytes(part.read_bytes()[:-9])
    refused(folder, r"part-0\.parquet: cannot be read as parquet")


@pytest.mark.parametrize("library", [pl, pd])
def test_a_frame_is_sent_to_the_function_for_it(library, tmp_path):
    frame = library.DataFrame({"p": P})
    with pytest.raises(TypeError, match=r"Pass `path\['p'\]` to `bestcut\.decide`"):
        bestcut.decide_file(frame, tmp_path / "out.csv", y_proba="p")


def test_a_pattern_that_is_too_long_for_a_name_is_refused(tmp_path):
    with pytest.raises(bestcut.FileError):
        bestcut.decide_file("[b]" * 2000, tmp_path / "out.parquet", y_proba="p")
