"""Files that are not what they should be: a clear error or a right answer."""

import gzip
import os
import shutil
import subprocess

import numpy as np
import pytest

from cli.run import call, complaint, environment, quickly, shell
from groups import slow

pl = pytest.importorskip("polars")

LONG = 70 * 2**20  # more than is held in memory


def many_rows(bad):
    rows = ["0.5"] * 80_000
    rows[69_999] = bad
    return ("p\n" + "\n".join(rows) + "\n").encode()


REFUSED = {
    "empty": (b"", "x.csv: is empty. Pass a file with a header and rows."),
    "blank": (b"\xef\xbb\xbf \r\n\n", "is empty"),
    "blank first line": (b"\np\n0.5\n", "the first line is blank. Delete it."),
    "missing column": (b"id,q\n1,0.5\n", "no column 'p'. Name a column with --proba"),
    "other case": (b"id,P\n1,0.5\n", "the columns are: id, P."),
    "duplicate header": (
        b"p,a,p\n0.1,2,0.3\n",
        "has 2 columns named 'p'. Rename all but",
    ),
    "text at row 70,000": (
        many_rows("oops"),
        "column 'p', row 70000: 'oops' is not a number. Fill it or delete the row.",
    ),
    "NaN": (b"p\n0.1\nNaN\n", "column 'p', row 2: 'NaN' is not a number"),
    "nothing": (b"p,a\n,1\n", "column 'p', row 1: the value is missing"),
    "infinite": (b"p\ninf\n", "column 'p', row 1: inf is not a probability"),
    "above 1": (
        b"p\n0.1\n1.5\n7\n",
        "column 'p', row 2: 1.5 is not a probability (2 of 3 read are not in [0, 1]). ",
    ),
    "below 0": (b"p\n-0.1\n", "row 1: -0.1 is not a probability"),
    "percent": (
        b"p\n50%\n",
        "row 1: '50%' is not a number. Divide percentages by 100.",
    ),
    "decimal comma": (b'p\n"0,5"\n', "row 1: '0,5' is not a number"),
    "too few fields": (
        b"p,a\n0.5,1\n0.5\n",
        "row 2 has 1 fields, but the header has 2",
    ),
    "too many fields": (b"p,a\n0.5,1,2\n", "row 1 has 3 fields, but the header has 2"),
    "blank line": (b"p\n0.5\n\n0.5\n", "row 2 is blank. Delete it."),
    "open quote": (b'p,a\n0.5,"x\n0.5,y\n', "line 2 has a quote that is never closed"),
    # An even number of stray quotes, so that two lines look like one quoted field.
    "inches": (b'p,a\n0.9,5"\n0.1,6"\n', "line 2 has a quote inside a field. Quote"),
    "words in quotes": (b'p,a\n0.9,a "b" c\n', "line 2 has a quote inside a field"),
    "space before": (b'p,a\n0.9, "b,c"\n', "line 2 has a quote inside a field"),
    "text after": (b'p,a\n0.9,"b"c\n', "line 2 has a quote inside a field"),
    "old Mac": (b"p,a\r0.5,1\r", "line 1 has a carriage return without a newline"),
    "Latin-1": (b"p,a\n0.5,x\n0.5,caf\xe9\n", "line 3 is not UTF-8. Convert"),
    "UTF-16": ("p\n0.5\n".encode("utf-16"), "line 1 is not UTF-8. Convert"),
    "cut gzip": (gzip.compress(b"p\n0.5\n")[:-4], "cannot be read (Compressed file"),
    "bad gzip": (b"\x1f\x8b\x08" + bytes(7) + b"abcdefgh", "cannot be read ("),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_file_is_refused_with_place_and_cure(tmp_path, monkeypatch, case):
    data, message = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_bytes(data)
    line = complaint(call("decide", "x.csv", "--proba", "p", "-o", "out.csv"))
    assert line.startswith("x.csv: ")
    assert message in line
    assert os.listdir(tmp_path) == ["x.csv"]


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (b"id,p\n", b"id,p,decision\n"),
        (b"id,p", b"id,p,decision"),
        (b"a,a,p\n1,2,0.5\n", b"a,a,p,decision\n1,2,0.5,1\n"),
        (b'\xef\xbb\xbf"p"\n0.5\n', b'\xef\xbb\xbf"p",decision\n0.5,1\n'),
        (b"p\n 0.5 \n", b"p,decision\n 0.5 ,1\n"),
        (b'p\n"0.5"\n', b'p,decision\n"0.5",1\n'),
        (b",p\n\x00,1e-1", b",p,decision\n\x00,1e-1,1"),
    ],
    ids=["header", "no newline", "duplicate", "BOM", "spaces", "quoted", "NUL"],
)
def test_an_odd_file_is_read_rightly(data, result):
    run = call("decide", "-", "--proba", "p", stdin=data)
    assert run.exit_code == 0, run.stderr
    assert run.stdout_bytes == result


@pytest.mark.parametrize("command", ["expect", "compare"])
def test_no_rows_are_no_trouble(tmp_path, command):
    (tmp_path / "x.csv").write_text("p,y\n", encoding="utf-8")
    options = ["--pred", "y", "--label", "y"] if command == "expect" else []
    assert call(command, tmp_path / "x.csv", "--proba", "p", *options).exit_code == 0


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.parquet", b"PAR1 and no more", "cannot be read as parquet"),
        ("x.parquet", b"", "is empty"),
        ("x.ndjson", b'{"p":0.5}\n{"p":', "cannot be read as ndjson"),
        ("x.ndjson", b'{"p":[0.5]}\n', "column 'p' holds List"),
        (
            "x.ndjson",
            b'{"p":0.5}\n{"p":null}\n',
            "column 'p', row 2: the value is missing",
        ),
        ("x.txt", b"p\n0.5\n", "Pass --format, one of csv, tsv, parquet, ipc, ndjson."),
    ],
)
def test_other_formats_are_refused_clearly_too(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    assert message in complaint(call("decide", tmp_path / name, "--proba", "p"))


def test_groups_must_be_named(tmp_path):
    (tmp_path / "x.csv").write_text("p,g\n0.5,a\n0.5,\n", encoding="utf-8")
    run = call("decide", tmp_path / "x.csv", "--proba", "p", "--group-by", "g")
    assert "column 'g', row 2: the group is missing" in complaint(run)


def test_labels_must_be_labels(tmp_path):
    (tmp_path / "x.ndjson").write_text('{"p":0.5,"y":[1]}\n', encoding="utf-8")
    run = call("expect", tmp_path / "x.ndjson", "--proba", "p", "--pred", "y")
    assert "column 'y' holds List(Int64)" in complaint(run)


@pytest.mark.parametrize("long", [LONG // 7, slow(LONG)])
def test_a_single_line_of_70_mb(tmp_path, long):
    file = tmp_path / "x.csv"
    file.write_bytes(b"p" * long)
    line = ["decide", file, "--proba", "p", "-o", tmp_path / "y.csv"]
    assert "a record of more than 8,388,608 bytes" in complaint(call(*line))
    allowed = ["--limit", f"row={2 * long}"]
    assert "no readable header" in complaint(call(*line, *allowed))
    body = b'p,a\n0.5,"' + b"x" * long + b'"\n'
    file.write_bytes(body)
    run = call(*line, *allowed)
    assert run.exit_code == 0
    result = (tmp_path / "y.csv").read_bytes()
    assert result == b"p,a,decision\n" + body[4:-1] + b",1\n"


def test_the_output_may_not_be_the_input(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("p\n0.5\n", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to(file)
    os.link(file, tmp_path / "hard.csv")
    for name in ("x.csv", "link.csv", "hard.csv"):
        run = call("decide", file, "--proba", "p", "-o", tmp_path / name)
        assert "is the input itself. Write to another file." in complaint(run)
    assert file.read_text(encoding="utf-8") == "p\n0.5\n"


@pytest.mark.parametrize("run_line", [quickly, slow(shell)])
def test_bad_files_and_places_are_one_line(tmp_path, monkeypatch, run_line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("p\n0.5\nmany\n", encoding="utf-8")
    (tmp_path / "ok.csv").write_text("p\n0.5\n", encoding="utf-8")
    for line, message in {
        "bestcut decide x.csv --proba p -o out.csv": "x.csv: column 'p', row 2: 'many' "
        "is not a number. Fill it or delete the row.",
        "bestcut decide none.csv --proba p": "none.csv: cannot be read (No such file "
        "or directory). Check the file.",
        "bestcut decide ok.csv --proba p -o no/out.csv": "no/out.csv: could not be "
        "written (No such file or directory). No file was written. Choose another "
        "place.",
        "bestcut decide - --proba p <&-": "standard input: is closed. Pass a file.",
        "bestcut compare ok.csv --proba p >/dev/full": "standard output could not be "
        "written (No space left on device).",
        "bestcut decide ok.csv --proba p >/dev/full": "standard output could not be "
        "written (No space left on device).",
    }.items():
        run = run_line(line, tmp_path)
        assert run.returncode == 2
        assert run.stderr.decode() == f"bestcut: {message}\n"
        assert sorted(os.listdir(tmp_path)) == ["ok.csv", "x.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_named(tmp_path):
    (tmp_path / "x.csv").write_text("p\n0.5\n", encoding="utf-8")
    (tmp_path / "x.csv").chmod(0)
    run = call("decide", tmp_path / "x.csv", "--proba", "p")
    assert "cannot be read (Permission denied)" in complaint(run)


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="only on Linux")
def test_a_file_that_cannot_be_read_even_by_root_is_named():
    run = call("decide", "/proc/self/mem", "--format", "csv", "--proba", "p")
    assert "/proc/self/mem: cannot be read (Input/output error)" in complaint(run)


def test_a_folder_is_no_file(tmp_path):
    assert "is a directory" in complaint(call("decide", tmp_path, "--proba", "p"))


def assert_nothing_is_kept(run, folder):
    assert run.returncode == 2
    (line,) = run.stderr.decode().splitlines()
    assert "out: could not be written (" in line
    assert os.listdir(folder) == ["out"]
    assert (folder / "out").read_text(encoding="utf-8") == "old"


@pytest.fixture(params=["csv", "parquet"])
def large(tmp_path, request):
    """Return a file of some 200 kB, and a folder with an older result."""
    (tmp_path / "x.csv").write_text(
        "id,p\n" + "1234567890,0.5\n" * 14_000, encoding="utf-8"
    )
    folder = tmp_path / "place"
    folder.mkdir()
    if request.param == "parquet":
        p = np.random.default_rng(0).random(30_000)  # which cannot be compressed
        pl.DataFrame({"p": p}).write_parquet(tmp_path / "x.parquet")
    return tmp_path / f"x.{request.param}", folder


def test_a_file_that_may_not_grow_leaves_the_old_one(large):
    source, folder = large
    (folder / "out").write_text("old", encoding="utf-8")
    line = f"ulimit -f 8; bestcut decide '{source}' --proba p -o out"
    line += f" --format {source.suffix[1:]}"
    assert_nothing_is_kept(shell(line, folder), folder)


def test_a_full_disk_leaves_the_old_file(large):
    source, folder = large
    mount = shutil.which("mount")
    command = [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        (folder / "out").write_text("old", encoding="utf-8")
        line = f"bestcut decide '{source}' --proba p -o out"
        line += f" --format {source.suffix[1:]}"
        assert_nothing_is_kept(shell(line, folder), folder)
    finally:
        subprocess.run(["umount", str(folder)], check=True, env=environment())
