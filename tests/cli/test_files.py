"""Files go in and come out with one more column and nothing else changed."""

import csv
import datetime as dt
import gzip
import io
import json
import os
import stat

import pytest
from hypothesis import given, settings

import bestcut
from cli.run import PROBABILITIES, SCORES, call, complaint, shell
from files.csv_tables import any_size_of_pieces, csv_text, written  # noqa: F401
from groups import slow

pl = pytest.importorskip("polars")

MARKS = bestcut.decide(PROBABILITIES, "f1").labels.astype(int).tolist()


def decide(path, out, *options):
    run = call("decide", path, "--proba", "p", "-o", out, *options)
    assert run.exit_code == 0, run.stderr
    return out


@pytest.mark.parametrize("door", ["command", "decide_file"])
def test_a_given_format_says_what_the_bytes_of_the_input_are(tmp_path, door):
    frame = pl.DataFrame({"p": PROBABILITIES})
    frame.write_parquet(tmp_path / "x.csv")
    source = tmp_path / "x.csv"
    for out, read in (("y.dat", pl.read_parquet), ("y.csv", pl.read_csv)):
        if door == "command":
            decide(source, tmp_path / out, "--format", "parquet")
        else:
            bestcut.decide_file(source, tmp_path / out, y_proba="p", format="parquet")
        assert read(tmp_path / out)["decision"].to_list() == MARKS


# --- CSV: byte for byte ---------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("last", [True, False], ids=["ended", "open"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
@pytest.mark.parametrize("separator", [",", "\t"], ids=["csv", "tsv"])
def test_every_other_byte_stays(tmp_path, end, last, bom, separator):
    records = SCORES.replace("two\nlines", "two lines").splitlines()
    plain = [line.replace(",", separator) for line in records]
    plain = [line.replace(f"a{separator} comma", "a, comma") for line in plain]
    plain = [line.replace("two lines", "two\nlines") for line in plain]
    added = [
        f"{line}{separator}{mark}"
        for line, mark in zip(plain, ["decision", *MARKS], strict=True)
    ]
    name = "x.csv" if separator == "," else "x.tsv"
    source, target = tmp_path / name, tmp_path / f"out-{name}"
    source.write_bytes(bom + (end.join(plain) + end * last).encode())
    decide(source, target)
    assert target.read_bytes() == bom + (end.join(added) + end * last).encode()


def test_blank_lines_at_the_end_stay_there(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"p\n0.5\n\r\n\n")
    out = decide(tmp_path / "x.csv", tmp_path / "y.csv")
    assert out.read_bytes() == b"p,decision\n0.5,1\n\r\n\n"


def test_the_name_of_the_column_is_quoted_if_it_must_be(tmp_path):
    (tmp_path / "x.csv").write_text("p\n0.5\n", encoding="utf-8")
    out = decide(tmp_path / "x.csv", tmp_path / "y.csv", "--name", 'a "b", c')
    assert out.read_text(encoding="utf-8") == 'p,"a ""b"", c"\n0.5,1\n'


@pytest.mark.usefixtures("any_size_of_pieces")
@pytest.mark.parametrize("examples", [30, slow(200)])
def test_any_table_keeps_its_cells_and_its_bytes(examples):
    @settings(max_examples=examples, deadline=None)
    @given(written())
    def check(case):
        table, p, text, separator = case
        kind = "csv" if separator == "," else "tsv"
        run = call(
            *[
                "decide",
                "-",
                "--format",
                kind,
                "--proba",
                "the p",
                "--name",
                "a new one",
            ],
            stdin=text.encode(),
        )
        if text.startswith("\ufeff"):  # a mark of the encoding, not of the first cell
            table[0][0] = table[0][0].removeprefix("\ufeff")
        assert run.exit_code == 0, run.stderr
        result = run.stdout_bytes.decode()
        found = list(
            csv.reader(
                io.StringIO(result.removeprefix("\ufeff"), newline=""),
                delimiter=separator,
            )
        )
        marks = bestcut.decide([float(x) for x in p], "f1").labels.astype(int)
        column = ["a new one", *map(str, marks)]
        assert found == [[*row, x] for row, x in zip(table, column, strict=True)]
        # Take the new cells out again: the bytes are back.
        again = csv_text(run.stdout_bytes, separator)
        added = (separator + column[0]).encode()
        data = again.head_with("x").replace(added + (separator + "x").encode(), b"")
        for records in again:
            start = 0
            for end in records.ends.tolist():
                data += records.data[start : end - 2]  # a separator and a digit
                start = end
            data += records.data[start:]
        assert data.decode() == text

    check()


# --- formats --------------------------------------------------------------------------


def test_parquet_keeps_its_types(tmp_path):
    frame = pl.DataFrame(
        {
            "p": pl.Series([0.9, 0.1, 0.4], dtype=pl.Float32),
            "id": pl.Series([2**63, 1, 2], dtype=pl.UInt64),
            "day": [dt.date(2024, 2, 29), None, dt.date(1, 1, 1)],
            "at": [dt.datetime(2024, 1, 1, 12, 30, 1, 5)] * 3,
            "tags": [["a", "b"], [], None],
            "box": [{"x": 1, "y": 0.5}] * 3,
            "kind": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
            "code": ["007", "", None],
        }
    )
    frame.write_parquet(tmp_path / "x.parquet")
    out = decide(tmp_path / "x.parquet", tmp_path / "y.parquet", "--group-by", "kind")
    found = pl.read_parquet(out)
    assert found.columns == [*frame.columns, "decision"]
    assert found.drop("decision").schema == frame.schema
    assert found.drop("decision").equals(frame)
    assert found["decision"].to_list() == [1, 1, 0]


def test_ndjson_keeps_every_byte(tmp_path):
    source = (
        '{"p": 0.90, "id": 12345678901234567890, "x": {"}": "}"}}\r\n'
        "\n"
        '{"id":"\\u00e9 ☃","p":1e-1} \n'
        '{"p":"0.4","n":[1,2.50,null]  }'
    )
    (tmp_path / "x.ndjson").write_bytes(source.encode())
    out = decide(tmp_path / "x.ndjson", tmp_path / "y.jsonl", "--name", 'd"')
    text = out.read_bytes().decode()
    lines = [line for line in text.splitlines() if line]
    assert [json.loads(line)['d"'] for line in lines] == [1, 0, 0]
    for mark in "01":
        text = text.replace(f',"d\\"":{mark}', "")
    assert text == source


def test_ndjson_that_spans_lines_is_refused(tmp_path):
    (tmp_path / "x.ndjson").write_text('{"p":\n0.5}\n', encoding="utf-8")
    run = call("decide", tmp_path / "x.ndjson", "--proba", "p")
    assert "x.ndjson: cannot be read as ndjson" in complaint(run)


def test_a_text_file_becomes_a_typed_one_only_where_nothing_is_lost(tmp_path):
    (tmp_path / "x.csv").write_text(
        "p,code,n,x,long,empty,date,mixed\n"
        "0.50,007,1,1,12345678901234567890,,2024-02-29,1\n"
        "0.10,10,-2,2.5,1,,2024-03-01,a\n",
        encoding="utf-8",
    )
    out = decide(tmp_path / "x.csv", tmp_path / "y.parquet")
    rows = pl.read_parquet(out).to_dicts()
    assert rows[0] == {
        "p": 0.5,
        "code": "007",
        "n": 1,
        "x": 1.0,
        "long": "12345678901234567890",
        "empty": None,
        "date": "2024-02-29",
        "mixed": "1",
        "decision": 1,
    }
    out = decide(tmp_path / "x.csv", tmp_path / "y.tsv")
    assert out.read_text(encoding="utf-8") == (
        "p\tcode\tn\tx\tlong\tempty\tdate\tmixed\tdecision\n"
        "0.50\t007\t1\t1\t12345678901234567890\t\t2024-02-29\t1\t1\n"
        "0.10\t10\t-2\t2.5\t1\t\t2024-03-01\ta\t0\n"
    )
    out = decide(tmp_path / "x.csv", tmp_path / "y.ndjson")
    assert json.loads(out.read_text(encoding="utf-8").splitlines()[0]) == rows[0]
    out = decide(out, tmp_path / "z.csv", "--name", "again")
    assert (
        out.read_text(encoding="utf-8")
        .splitlines()[0]
        .endswith(",mixed,decision,again")
    )


def test_what_a_format_cannot_hold_is_refused(tmp_path):
    (tmp_path / "x.ndjson").write_text('{"p":0.5,"x":[1]}\n', encoding="utf-8")
    run = call(
        "decide", tmp_path / "x.ndjson", "--proba", "p", "-o", tmp_path / "y.csv"
    )
    assert "cannot be written as csv" in complaint(run)
    (tmp_path / "x.csv").write_text("p,a,a\n0.5,1,2\n", encoding="utf-8")
    run = call(
        *["decide", tmp_path / "x.csv", "--proba", "p", "-o", tmp_path / "y.parquet"]
    )
    assert "several columns named 'a', which parquet does not allow" in complaint(run)
    assert sorted(os.listdir(tmp_path)) == ["x.csv", "x.ndjson"]


def test_pipes_and_gzip_by_the_real_entry_point(tmp_path):
    (tmp_path / "scores.csv").write_text(SCORES, encoding="utf-8")
    run = shell(
        "gzip -c scores.csv | bestcut decide - --proba p -o out.csv.gz &&"
        " bestcut decide out.csv.gz --proba p --name again 2>/dev/null |"
        " bestcut decide - --proba p --name third --json 2>facts.json |"
        " bestcut expect - --proba p --pred third --json",
        tmp_path,
    )
    assert run.returncode == 0, run.stderr
    once = call("decide", tmp_path / "scores.csv", "--proba", "p").stdout_bytes
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()) == once
    facts = json.loads((tmp_path / "facts.json").read_text(encoding="utf-8"))
    (row,) = json.loads(run.stdout)["scores"]
    assert row["expected"] == pytest.approx(facts["expected_score"], rel=1e-12)
    # The same input gives the same file: no time, no name in it.
    out = decide(tmp_path / "scores.csv", tmp_path / "other.csv.gz")
    assert out.read_bytes() == (tmp_path / "out.csv.gz").read_bytes()


def test_a_reader_that_stops_early_is_no_error(tmp_path):
    rows = "".join(f"{i},0.5\n" for i in range(30_000))
    (tmp_path / "x.csv").write_text("id,p\n" + rows, encoding="utf-8")
    run = shell("bestcut decide x.csv --proba p | head -n 1", tmp_path)
    assert run.stdout == b"id,p,decision\n"
    assert b"Traceback" not in run.stderr
    assert b"Exception" not in run.stderr


# --- writing --------------------------------------------------------------------------


def test_an_existing_file_is_replaced_with_its_mode_kept(tmp_path):
    (tmp_path / "x.csv").write_text("p\n0.5\n", encoding="utf-8")
    (tmp_path / "y.csv").write_text("old", encoding="utf-8")
    (tmp_path / "y.csv").chmod(0o600)
    (tmp_path / "link.csv").symlink_to("y.csv")
    decide(tmp_path / "x.csv", tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "y.csv").read_text(encoding="utf-8") == "p,decision\n0.5,1\n"
    assert stat.S_IMODE((tmp_path / "y.csv").stat().st_mode) == 0o600
    mask = os.umask(0)
    os.umask(mask)
    out = decide(tmp_path / "x.csv", tmp_path / "new.csv")
    assert stat.S_IMODE(out.stat().st_mode) == 0o666 & ~mask


def test_a_device_is_written_to_and_stays_a_device(tmp_path):
    (tmp_path / "x.csv").write_text("p\n0.5\n", encoding="utf-8")
    decide(tmp_path / "x.csv", os.devnull, "--format", "csv")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
