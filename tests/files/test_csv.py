"""CSV: every byte stays, cells are those of the csv module, faults have a place."""

import csv
import io
import os
import re

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import bestcut
from bestcut.files import FileError, decide_file
from files.csv_tables import any_size_of_pieces, csv_text, written  # noqa: F401
from groups import slow

pl = pytest.importorskip("polars", minversion="1.38")

from bestcut.files.sources import open_source  # noqa: E402


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("size", range(1, 60, 3))
def test_records_that_span_pieces_keep_their_bytes(tmp_path, size, monkeypatch):
    monkeypatch.setattr("bestcut.files._text.PIECE", size)
    start = b'\xef\xbb\xbfid,"p",note\r\n'
    records = [
        b'1,0.9,"two\r\n\r\nlines"',
        b'2,"0.1","a ""quoted"", word"',
        "3,0.4,Zürich ☃".encode(),
        b'4, 0.35 ,"\n"',
    ]
    (tmp_path / "x.csv").write_bytes(start + b"\r\n".join(records) + b"\r\n\n\r\n")
    found = decide_file(tmp_path / "x.csv", tmp_path / "y.csv", y_proba="p")
    marks = bestcut.decide([0.9, 0.1, 0.4, 0.35]).labels.astype(int)
    assert found.n_positive == marks.sum()
    result = start.replace(b"note", b"note,decision") + b"".join(
        record + f",{mark}\r\n".encode()
        for record, mark in zip(records, marks, strict=True)
    )
    assert (tmp_path / "y.csv").read_bytes() == result + b"\n\r\n"


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    ("name", "data", "result"),
    [
        ("x.csv", b"id,p\n", b"id,p,decision\n"),
        ("x.tsv", b"id\tp", b"id\tp\tdecision"),
        ("x.csv", b"p\n\n\n", b"p,decision\n\n\n"),
    ],
)
def test_a_header_without_rows_is_a_file_without_decisions(
    tmp_path, name, data, result
):
    (tmp_path / name).write_bytes(data)
    found = decide_file(tmp_path / name, tmp_path / f"y-{name}", y_proba="p")
    assert (found.n, found.n_positive, found.threshold) == (0, 0, np.inf)
    assert (tmp_path / f"y-{name}").read_bytes() == result


@pytest.mark.usefixtures("small_batches")
def test_codes_and_empty_cells_become_numbers_only_where_nothing_is_lost(tmp_path):
    rows = "".join(f"0.{i % 9}1,{i},{i:03},,x\n" for i in range(40))
    (tmp_path / "x.csv").write_text(
        "p,n,code,none,late\n" + rows + "0.5,7.5,1,,9\n", encoding="utf-8"
    )
    decide_file(tmp_path / "x.csv", tmp_path / "y.parquet", y_proba="p")
    found = pl.read_parquet(tmp_path / "y.parquet")
    kinds = {"p": pl.Float64, "n": pl.Float64, "decision": pl.Int8}
    texts = dict.fromkeys(["code", "none", "late"], pl.String)
    assert dict(found.schema) == {**kinds, **texts}
    assert found["code"][7] == "007"


def rows_then(last):
    return b"p,a\n" + b"0.5,x\n" * 99 + last


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty. Pass a file with a header and rows."),
        (b"\n" * 500, "is empty. Pass a file with a header and rows."),
        (b"\n" * 500 + b"p\n0.5\n", "the first line is blank. Delete it."),
        (
            rows_then(b"0.5\n"),
            "row 100 has 1 fields, but the header has 2. Quote fields",
        ),
        (rows_then(b"\n0.5,x\n"), "row 100 is blank. Delete it."),
        (rows_then(b"0.5,x\n\n" + b"\n" * 500 + b"0.5,x"), "row 101 is blank. Delete"),
        (
            rows_then(b'0.5,5"\n'),
            "line 101 has a quote inside a field. Quote the whole",
        ),
        (
            rows_then(b'0.5,"x\n' + b"0.5,x\n" * 99),
            "line 101 has a quote that is never",
        ),
        (rows_then(b"0.5,x\r0.5,x\n"), "line 101 has a carriage return without a newl"),
        (rows_then(b"0.5,\xe9\n0.5,x\n"), "line 101 is not UTF-8. Convert the file"),
        (
            rows_then(b"50%,x\n"),
            "column 'p', row 100: '50%' is not a number. Divide perc",
        ),
        (rows_then(b",x\n"), "column 'p', row 100: the value is missing. Fill it or"),
    ],
)
def test_a_fault_in_any_piece_is_named_by_its_place(tmp_path, data, message):
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(FileError) as error:
        decide_file(tmp_path / "x.csv", tmp_path / "y.csv", y_proba="p")
    assert str(error.value).startswith(f"{tmp_path / 'x.csv'}: {message}")
    assert os.listdir(tmp_path) == ["x.csv"]


@pytest.mark.usefixtures("small_batches")
def test_a_quote_that_is_never_closed_does_not_fill_the_memory(tmp_path):
    (tmp_path / "x.csv").write_bytes(rows_then(b'0.5,"x\n' + b"0.5,x\n" * 999))
    with pytest.raises(
        FileError, match=r"a record of more than 1,000 bytes\. Look for"
    ):
        decide_file(
            *(tmp_path / "x.csv", tmp_path / "y.csv"), y_proba="p", limits={"row": 1000}
        )


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from('",\n\r0.5pa'), max_size=20), st.integers(1, 30))
def test_any_text_is_refused_or_read_as_the_csv_module_does(text, size):
    data = ("p,a\n" + text).encode()
    try:
        whole = list(csv_text(data))
    except FileError as error:
        # The same place is named, however the text is cut into pieces.
        with pytest.raises(FileError) as other:
            list(csv_text(data, size=size))
        assert_same_complaint(str(other.value), str(error))
        return
    found = list(csv_text(data, size=size))
    rows = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
    while rows and not rows[-1]:
        rows.pop()  # blank lines at the end
    for parts in (whole, found):
        assert sum(part.ends.size for part in parts) == len(rows) - 1
        with_marks = csv_text(data).head_with("d") + b"".join(
            part.with_column(",", np.ones(part.ends.size, dtype=bool)) for part in parts
        )
        again = list(csv.reader(io.StringIO(with_marks.decode(), newline="")))
        assert again[: len(rows)] == [
            [*row, x] for row, x in zip(rows, ["d", *"1" * len(rows)], strict=False)
        ]


def assert_same_complaint(one, other):
    """Compare places, if the same is wrong; a text may have several faults."""
    kind = re.compile(r"(line|row) (\d+)")
    if kind.sub("", one) == kind.sub("", other):
        assert one == other


@pytest.mark.usefixtures("any_size_of_pieces")
@pytest.mark.parametrize("examples", [30, slow(200)])
def test_columns_are_read_as_the_csv_module_reads_them(tmp_path, examples):
    @settings(max_examples=examples, deadline=None)
    @given(written())
    @example(([["", "the p"], ["\ufeff", "0.1"]], ["0.1"], ",the p\n\ufeff,0.1\n", ","))
    def check(case):
        rows, _, text, separator = case
        if text.startswith("\ufeff"):
            return
        file = tmp_path / "x"
        file.write_bytes(text.encode())
        source = open_source(str(file), "csv" if separator == "," else "tsv")
        assert source.columns == rows[0]
        for i, name in enumerate(rows[0]):
            values = source.column(name, "--proba").fill_null("").to_list()
            assert values == [row[i] for row in rows[1:]]

    check()


@pytest.mark.parametrize("text", ['"p"', '"p"\r\n', "p", "p\n", '"p";"q"'])
def test_a_header_without_rows_is_read(tmp_path, text):
    (tmp_path / "x.csv").write_bytes(text.encode())
    assert decide_file(tmp_path / "x.csv", tmp_path / "y.csv", y_proba="p").n == 0


def test_a_header_that_is_one_empty_name_is_refused(tmp_path):
    (tmp_path / "x.csv").write_bytes(b'""')
    with pytest.raises(FileError, match="has no column 'p'"):
        decide_file(tmp_path / "x.csv", tmp_path / "y.csv", y_proba="p")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_name_that_is_no_text_is_refused_in_a_sentence(tmp_path, ending):
    """A terminal that is not UTF-8 makes such names of bytes: --name $'\\xff'."""
    (tmp_path / "x.csv").write_bytes(b"p\n0.5\n")
    with pytest.raises(ValueError, match="name") as caught:
        decide_file(
            tmp_path / "x.csv", tmp_path / f"y.{ending}", y_proba="p", name="\udcff"
        )
    assert not isinstance(caught.value, UnicodeError)
