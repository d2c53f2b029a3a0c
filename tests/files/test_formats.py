"""The table of formats: what follows from an entry in it."""

import pytest

from bestcut.files import FileError, decide_file

pytest.importorskip("polars", minversion="1.38")

from bestcut.files._formats import FORMATS, format_of
from files.tables import ENDINGS, PACKED, read, table, write


@pytest.mark.parametrize("name", FORMATS)
def test_a_suffix_says_the_format_in_any_case_and_packed(name):
    for suffix in FORMATS[name].suffixes:
        for path in (f"x{suffix}", f"X{suffix.upper()}", f"x{suffix}.gz"):
            assert format_of(path) == name
            assert format_of(path, otherwise="csv") == name


def test_no_suffix_is_of_two_formats():
    suffixes = [suffix for each in FORMATS.values() for suffix in each.suffixes]
    assert len(set(suffixes)) == len(suffixes)


def test_another_name_needs_a_format():
    assert format_of("x.txt", otherwise="ipc") == "ipc"
    with pytest.raises(
        FileError, match=r"x\.txt: has a name that does not tell its format\."
    ):
        format_of("x.txt")
    assert (format_of("-"), format_of("-", otherwise="ndjson")) == ("csv", "ndjson")


def test_the_documentation_lists_every_format():
    listed = ", ".join(f'"{name}"' for name in FORMATS)
    assert f"format : {{{listed}}}, optional" in decide_file.__doc__


def test_every_format_has_an_ending_in_the_tests():
    for endings in (ENDINGS, PACKED):
        assert [format_of(f"x.{ending}") for ending in endings] == list(FORMATS)


def test_an_ending_that_the_tests_do_not_know_is_not_taken_for_another(tmp_path):
    (tmp_path / "x.new").write_text('{"p":0.5}', encoding="utf-8")
    with pytest.raises(NotImplementedError, match=r"reads and writes '\.new'"):
        read(tmp_path / "x.new")
    with pytest.raises(NotImplementedError, match=r"reads and writes '\.new'"):
        write(table([0.5]), tmp_path / "y.new")
