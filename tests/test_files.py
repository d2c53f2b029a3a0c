"""Files larger than memory: the answer of `decide`, whatever the format and batches."""

import gzip
import json
import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

pl = pytest.importorskip("polars", minversion="1.38")
pytest.importorskip("rich")

import bestcut  # noqa: E402
from bestcut.files import FileDecision, FileError, decide_file  # noqa: E402
from bestcut.files._formats import open_source  # noqa: E402

FORMATS = ["csv", "tsv", "parquet", "arrow", "ndjson", "csv.gz", "parquet.gz"]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Make batches of a few rows, each read anew in every pass."""
    monkeypatch.setattr("bestcut.files._text.PIECE", 64)
    monkeypatch.setattr("bestcut.files._frames.ROWS", 7)
    monkeypatch.setattr("bestcut.files._frames.SCORES", 11)
    monkeypatch.setattr("bestcut.files._text._KEPT", -1)


def table(p):
    rows = np.arange(len(p))
    return pl.DataFrame(
        {
            "id": rows,
            "p": np.asarray(p, dtype=float),
            "text": [f'"{i}",\n' for i in rows],
        }
    )


def write(frame, path):
    """Write a frame in the format that the name of the file says."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    match plain.suffix:
        case ".csv":
            frame.write_csv(plain)
        case ".tsv":
            frame.write_csv(plain, separator="\t")
        case ".parquet":
            frame.write_parquet(plain)
        case ".arrow":
            frame.write_ipc(plain)
        case ".ndjson":
            frame.write_ndjson(plain)
    if plain != path:
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    return path


def read(path):
    data = path.read_bytes()
    if path.suffix == ".gz":
        data, path = gzip.decompress(data), path.with_suffix("")
    match path.suffix:
        case ".csv":
            return pl.read_csv(data)
        case ".tsv":
            return pl.read_csv(data, separator="\t")
        case ".parquet":
            return pl.read_parquet(data)
        case ".arrow":
            return pl.read_ipc(data)
    return pl.read_ndjson(data)


def assert_as_good_as_decide(found, labels, p, metric, **bounds):
    """Compare values: cuts may tie."""
    best = bestcut.decide(p, metric, **bounds)
    assert found.rows == len(p)
    assert found.n_positive == np.count_nonzero(labels)
    error = found.error + best.error
    assert found.expected_score == pytest.approx(best.expected_score, rel=0, abs=error)
    own = bestcut.expected_score(p, labels, metric)
    # The bound of a score is not part of that function's answer; ten times decide's.
    assert own == pytest.approx(found.expected_score, rel=0, abs=found.error + 1e-12)
    if found.n_positive:
        assert found.threshold == np.min(np.asarray(p)[labels])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("metric", ["f1", "mcc", "squared_count_error"])
def test_every_format_gives_the_answer_of_decide(tmp_path, name, metric):
    p = np.random.default_rng(0).beta(0.3, 3, 200).round(3)
    frame = table(p)
    source = write(frame, tmp_path / f"x.{name}")
    output = tmp_path / f"y.{name}"
    found = decide_file(source, output, proba="p", metric=metric)
    result = read(output)
    labels = result["decision"].to_numpy() == 1
    assert_as_good_as_decide(found, labels, p, metric)
    assert result.drop("decision").equals(frame)
    assert sorted(os.listdir(tmp_path)) == [f"x.{name}", f"y.{name}"]


@pytest.mark.parametrize("goes_in", ["csv", "parquet", "ndjson"])
@pytest.mark.parametrize("comes_out", ["csv", "tsv", "parquet", "arrow", "ndjson"])
def test_a_format_becomes_another(tmp_path, goes_in, comes_out):
    p = np.random.default_rng(1).beta(0.3, 3, 50).round(3)
    source = write(table(p), tmp_path / f"x.{goes_in}")
    output = tmp_path / f"y.{comes_out}"
    decide_file(source, output, proba="p")
    result = read(output)
    assert result.drop("decision").equals(table(p))
    assert result["decision"].sum() == bestcut.decide(p).n_positive


def test_codes_and_empty_cells_become_numbers_only_where_nothing_is_lost(tmp_path):
    rows = "".join(f"0.{i % 9}1,{i},{i:03},,x\n" for i in range(40))
    (tmp_path / "x.csv").write_text("p,n,code,none,late\n" + rows + "0.5,7.5,1,,9\n")
    decide_file(tmp_path / "x.csv", tmp_path / "y.parquet", proba="p")
    found = pl.read_parquet(tmp_path / "y.parquet")
    kinds = {"p": pl.Float64, "n": pl.Float64, "decision": pl.Int8}
    texts = dict.fromkeys(["code", "none", "late"], pl.String)
    assert dict(found.schema) == {**kinds, **texts}
    assert found["code"][7] == "007"


def test_a_scan_of_several_files_is_taken_as_one(tmp_path):
    p = np.random.default_rng(2).beta(0.3, 3, 100)
    for i in range(4):
        table(p[i::4]).write_parquet(tmp_path / f"x{i}.parquet")
    scan = pl.scan_parquet([tmp_path / f"x{i}.parquet" for i in range(4)])
    found = decide_file(scan, tmp_path / "y.parquet", proba="p")
    result = pl.read_parquet(tmp_path / "y.parquet")
    labels = result["decision"].to_numpy() == 1
    assert_as_good_as_decide(found, labels, result["p"].to_numpy(), "f1")
    assert result["p"].to_list() == np.concatenate([p[i::4] for i in range(4)]).tolist()
    with pytest.raises(FileError, match="the scan: has no column 'q'"):
        decide_file(scan, tmp_path / "z.parquet", proba="q")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("size", [1, 13, 64])
def test_of_a_tie_across_batches_the_earliest_are_taken(
    tmp_path, name, size, monkeypatch
):
    monkeypatch.setattr("bestcut.files._text.PIECE", size)
    p = np.tile([0.25, 0.5, 0.5, 0.75], 20)
    source = write(table(p), tmp_path / f"x.{name}")
    parts = list(open_source(str(source), found_format(name)).batches())
    assert len(parts) > 5  # or nothing is tested
    found = decide_file(
        source, tmp_path / f"y.{name}", proba="p", metric="recall", max_positives=33
    )
    labels = read(tmp_path / f"y.{name}")["decision"].to_numpy() == 1
    best = bestcut.decide(p, "recall", max_positives=33)
    np.testing.assert_array_equal(labels, best.labels)
    assert (found.threshold, found.n_positive, found.n_tied) == (0.5, 33, 13)


def found_format(name):
    return {"arrow": "ipc"}.get(name.removesuffix(".gz"), name.removesuffix(".gz"))


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
    found = decide_file(tmp_path / "x.csv", tmp_path / "y.csv", proba="p")
    marks = bestcut.decide([0.9, 0.1, 0.4, 0.35]).labels.astype(int)
    assert found.n_positive == marks.sum()
    result = start.replace(b"note", b"note,decision") + b"".join(
        record + f",{mark}\r\n".encode()
        for record, mark in zip(records, marks, strict=True)
    )
    assert (tmp_path / "y.csv").read_bytes() == result + b"\n\r\n"


@pytest.mark.parametrize("name", ["csv", "parquet", "arrow", "ndjson"])
def test_bounds_and_formulas_work_as_for_decide(tmp_path, name):
    p = np.random.default_rng(3).beta(0.5, 2, 60).round(2)
    source, output = write(table(p), tmp_path / f"x.{name}"), tmp_path / f"y.{name}"
    metric = bestcut.metrics.from_expression("tp / (tp + 0.3*fp + 0.7*fn)")
    for bounds in ({"max_positives": 3}, {"min_positives": 50}):
        found = decide_file(source, output, proba="p", metric=metric, **bounds)
        labels = read(output)["decision"].to_numpy() == 1
        assert_as_good_as_decide(found, labels, p, metric, **bounds)


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
    found = decide_file(tmp_path / name, tmp_path / f"y-{name}", proba="p")
    assert (found.rows, found.n_positive, found.threshold) == (0, 0, np.inf)
    assert (tmp_path / f"y-{name}").read_bytes() == result


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_frames_without_rows_keep_their_columns(tmp_path, name):
    write(table([]), tmp_path / name)
    found = decide_file(tmp_path / name, tmp_path / f"y-{name}", proba="p")
    assert found.rows == 0
    assert read(tmp_path / f"y-{name}").columns == ["id", "p", "text", "decision"]


# --- what is refused ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["csv", "tsv", "parquet", "arrow", "ndjson"])
def test_a_bad_value_far_down_is_named_by_its_row(tmp_path, name, monkeypatch):
    monkeypatch.setattr("bestcut.files._text.PIECE", 1 << 16)
    monkeypatch.setattr("bestcut.files._frames.SCORES", 9999)
    values = ["0.5"] * 80_000
    values[69_999] = "oops"
    frame = pl.DataFrame({"p": values})
    source = write(frame, tmp_path / f"x.{name}")
    message = (
        rf"x\.{name}: column 'p', row 70000: 'oops' is no number\. Fill it or delete"
    )
    with pytest.raises(FileError, match=message):
        decide_file(source, tmp_path / f"y.{name}", proba="p")
    bad = frame.with_columns(p=pl.col("p").replace("oops", "1.5").cast(pl.Float64))
    write(bad, source)
    with pytest.raises(FileError, match=r"row 70000: 1\.5 is no probability \(1 of"):
        decide_file(source, tmp_path / f"y.{name}", proba="p")
    assert os.listdir(tmp_path) == [f"x.{name}"]


@pytest.mark.parametrize("name", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "row 41: nothing is no number"),
        (float("nan"), "row 41: nan is no number"),
        (float("inf"), "row 41: inf is no probability"),
        (-0.5, "row 41: -0.5 is no probability"),
    ],
)
def test_what_is_no_probability_in_a_frame_is_named_too(tmp_path, name, value, message):
    frame = pl.DataFrame({"p": [0.5] * 40 + [value] + [0.5] * 40})
    source = write(frame, tmp_path / f"x.{name}")
    with pytest.raises(FileError, match=message):
        decide_file(source, tmp_path / f"y.{name}", proba="p")


@pytest.mark.parametrize("kind", [pl.Float32, pl.Int8, pl.Boolean, pl.String])
def test_other_types_of_numbers_are_read_as_they_are(tmp_path, kind):
    values = pl.Series("p", [0, 1, 1, 0, 0] * 9, dtype=pl.Int8).cast(kind)
    values.to_frame().write_parquet(tmp_path / "x.parquet")
    found = decide_file(tmp_path / "x.parquet", tmp_path / "y.parquet", proba="p")
    assert found.n_positive == 18
    result = pl.read_parquet(tmp_path / "y.parquet")
    assert result.schema == {"p": kind, "decision": pl.Int8}


def rows_then(last):
    return b"p,a\n" + b"0.5,x\n" * 99 + last


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty. Pass a file with a header and rows."),
        (b"\n" * 500, "is empty. Pass a file with a header and rows."),
        (b"\n" * 500 + b"p\n0.5\n", "the first line is blank. Delete it."),
        (rows_then(b"0.5\n"), "row 100 has 1 fields, the header 2. Quote what"),
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
        (rows_then(b"50%,x\n"), "column 'p', row 100: '50%' is no number. Divide perc"),
        (rows_then(b",x\n"), "column 'p', row 100: nothing is no number. Fill it or"),
    ],
)
def test_a_fault_in_any_piece_is_named_by_its_place(tmp_path, data, message):
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(FileError) as error:
        decide_file(tmp_path / "x.csv", tmp_path / "y.csv", proba="p")
    assert str(error.value).startswith(f"{tmp_path / 'x.csv'}: {message}")
    assert os.listdir(tmp_path) == ["x.csv"]


def test_a_quote_that_is_never_closed_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("bestcut.files._pieces._LONGEST", 1000)
    (tmp_path / "x.csv").write_bytes(rows_then(b'0.5,"x\n' + b"0.5,x\n" * 999))
    with pytest.raises(
        FileError, match=r"a record of more than 1,000 bytes\. Look for"
    ):
        decide_file(tmp_path / "x.csv", tmp_path / "y.csv", proba="p")


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (
            {"proba": "q"},
            FileError,
            "no column 'q'. Name one with `proba`; it has: id, p",
        ),
        ({"name": "id"}, FileError, "a column 'id' already. Choose another name with"),
        ({"metric": "f11"}, ValueError, "Did you mean 'f1'"),
        (
            {"format": "xls"},
            ValueError,
            "`format` must be one of csv, tsv, parquet, ipc",
        ),
        ({"min_positives": -1}, ValueError, "`min_positives` must"),
        (
            {"min_positives": 11},
            ValueError,
            "`min_positives` must be at most the number",
        ),
        (
            {"output": "no/y.csv"},
            FileError,
            "could not be written (No such file or dir",
        ),
        (
            {"output": "y.xls"},
            FileError,
            "y.xls: has a name that says no form",
        ),
        ({"path": "none.csv"}, FileError, "none.csv: cannot be read (No such file or"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, monkeypatch, options, kind, message):
    monkeypatch.chdir(tmp_path)
    write(table([0.5] * 10), tmp_path / "x.csv")
    given = {"path": "x.csv", "output": "y.csv", "proba": "p", **options}
    with pytest.raises(kind) as error:
        decide_file(given.pop("path"), given.pop("output"), **given)
    assert message in str(error.value)
    assert os.listdir(tmp_path) == ["x.csv"]


def test_a_metric_that_cannot_be_ranked_is_refused_before_reading(tmp_path):
    with pytest.raises(bestcut.SolverMismatchError):
        decide_file("none.csv", "y.csv", proba="p", metric=odd_metric())


def odd_metric():
    return bestcut.metrics.from_expression("fp - tp")


def test_the_output_may_not_be_the_input(tmp_path):
    source = write(table([0.5]), tmp_path / "x.parquet")
    os.link(source, tmp_path / "hard.parquet")
    before = source.read_bytes()
    for name in ("x.parquet", "hard.parquet"):
        with pytest.raises(FileError, match=r"is the input itself\. Write to another"):
            decide_file(source, tmp_path / name, proba="p")
    assert source.read_bytes() == before


def test_a_key_that_only_later_objects_have_is_not_written_twice(tmp_path):
    lines = '{"p":0.5}\n' * 30 + '{"p":0.5,"decision":1}\n'
    (tmp_path / "x.ndjson").write_text(lines)
    with pytest.raises(FileError, match="has a column 'decision' already"):
        decide_file(tmp_path / "x.ndjson", tmp_path / "y.ndjson", proba="p")
    assert os.listdir(tmp_path) == ["x.ndjson"]


def test_objects_may_lack_keys_and_mix_texts_with_numbers(tmp_path):
    lines = ['{"p":"0.5"}', '{"a":[1],"p":0.25}', '{"p":1,"b":{}}'] * 20
    (tmp_path / "x.ndjson").write_text("\n".join(lines))
    found = decide_file(tmp_path / "x.ndjson", tmp_path / "y.ndjson", proba="p")
    assert found.n_positive == bestcut.decide([0.5, 0.25, 1] * 20).n_positive
    assert json.loads((tmp_path / "y.ndjson").read_text().splitlines()[-1]) == {
        "p": 1,
        "b": {},
        "decision": 1,
    }
    (tmp_path / "x.ndjson").write_text("\n".join(lines) + '\n\n{"a":[2]}')
    with pytest.raises(FileError, match="column 'p', row 61: nothing is no number"):
        decide_file(tmp_path / "x.ndjson", tmp_path / "y.ndjson", proba="p")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_a_file_that_changes_meanwhile_is_noticed(tmp_path, name, monkeypatch):
    import bestcut.files._stream as stream

    source = write(table([0.5, 0.25] * 30), tmp_path / name)

    def find_cut(*arguments, find=stream.find_cut):
        cut = find(*arguments)
        write(table([0.5, 0.25, 0.125] * 30), source)
        return cut

    monkeypatch.setattr(stream, "find_cut", find_cut)
    with pytest.raises(FileError, match=r"changed while it was read\. Try again"):
        decide_file(source, tmp_path / "y.csv", proba="p")
    assert os.listdir(tmp_path) == [name]


def test_folders_named_like_partitions_add_no_columns(tmp_path):
    folder = tmp_path / "year=2024"
    folder.mkdir()
    write(table([0.5]), folder / "x[0].parquet")
    decide_file(folder / "x[0].parquet", folder / "y.parquet", proba="p")
    assert read(folder / "y.parquet").columns == ["id", "p", "text", "decision"]


# --- what must not be left behind -----------------------------------------------------


INTERRUPTED = """
import os, signal, sys, time
import polars
import bestcut, bestcut.files.sources

bestcut.files._text.PIECE = bestcut.files._frames.ROWS = 64
signals = iter([signal.SIGINT])

def interrupted(self, scores, tied_before=0):
    for number in signals:
        os.kill(os.getpid(), number)
    time.sleep(0.2)  # long enough for the main thread to notice
    return scores > 0.3

bestcut.Cut.labels = interrupted
try:
    bestcut.decide_file(sys.argv[1], sys.argv[2], proba="p")
except KeyboardInterrupt:
    polars.LazyFrame({"a": [1]}).collect()  # polars has got over it
    print("interrupted")
"""


@pytest.mark.parametrize("name", ["csv", "parquet", "ndjson"])
def test_an_interrupted_copy_leaves_the_old_file(tmp_path, name):
    source = write(table([0.5, 0.25] * 300), tmp_path / f"x.{name}")
    output = tmp_path / f"y.{name}"
    output.write_text("old")
    command = [sys.executable, "-c", INTERRUPTED, str(source), str(output)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("interrupted\n", "")
    assert sorted(os.listdir(tmp_path)) == [f"x.{name}", f"y.{name}"]
    assert output.read_text() == "old"


@pytest.mark.parametrize("name", ["csv", "parquet", "arrow", "ndjson"])
def test_a_full_disk_leaves_the_old_file(tmp_path, name):
    source = write(table(np.tile([0.5, 0.25], 20_000)), tmp_path / f"x.{name}")
    (tmp_path / f"y.{name}").write_text("old")
    code = (
        "import resource, sys, bestcut\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try: bestcut.decide_file(sys.argv[1], sys.argv[2], proba='p')\n"
        "except bestcut.FileError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, str(source), str(tmp_path / f"y.{name}")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"y.{name}: could not be written (" in run.stdout
    assert "Nothing was kept. Choose another place with `output`." in run.stdout
    assert sorted(os.listdir(tmp_path)) == [f"x.{name}", f"y.{name}"]
    assert (tmp_path / f"y.{name}").read_text() == "old"


# --- the rest -------------------------------------------------------------------------


def test_a_bar_is_shown_when_asked_for_and_on_standard_error_only(tmp_path, capfd):
    source = write(table([0.5, 0.25] * 30), tmp_path / "x.parquet")
    decide_file(source, tmp_path / "y.parquet", proba="p")
    assert capfd.readouterr() == ("", "")
    decide_file(source, tmp_path / "y.parquet", proba="p", progress=True)
    assert capfd.readouterr().out == ""


def test_the_steps_cover_all_there_is(tmp_path, monkeypatch):
    for name in ("x.csv", "x.parquet", "x.ndjson"):
        source = write(table([0.5, 0.25] * 30), tmp_path / name)
        seen = {}

        def step(what, total, seen=seen):
            seen[what] = [0, total]

            def advance(size):
                seen[what][0] += size

            return advance

        monkeypatch.setattr("bestcut.files._stream.steps", lambda _: nullcontext(step))
        decide_file(source, tmp_path / f"y-{name}", proba="p")
        assert len(seen) == 3
        for done, total in seen.values():  # the header of a CSV is no record
            assert total - len("id,p,text\n") <= done <= total


def test_the_result_says_what_to_expect(tmp_path):
    p = np.random.default_rng(4).beta(0.5, 2, 300)
    source = write(table(p), tmp_path / "x.parquet")
    found = decide_file(source, tmp_path / "y.parquet", proba="p")
    best = bestcut.decide(p)
    assert isinstance(found, FileDecision)
    assert found.output == str(tmp_path / "y.parquet")
    assert repr(found).startswith(f"FileDecision(f1: {best.n_positive} of 300 positive")
    np.testing.assert_allclose(
        found.distribution().interval(0.9), best.distribution().interval(0.9), atol=1e-9
    )
    assert found.confusion().mean.tp == pytest.approx(best.confusion().mean.tp)


def test_without_polars_the_extra_is_named():
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "import bestcut\n"
        "bestcut.decide_file('x.csv', 'y.csv', proba='p')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr.splitlines()[-1].endswith(
        "ImportError: decide_file needs polars: pip install 'bestcut[files]'"
    )


def test_what_is_unpacked_goes_to_the_disk_if_it_is_large(tmp_path, monkeypatch):
    monkeypatch.setattr("bestcut.files._input._HELD", 100)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    p = np.random.default_rng(5).beta(0.5, 2, 100).round(3)
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("x.csv.gz", "x.parquet.gz"):
        source = write(table(p), folder / name)
        decide_file(source, folder / f"y-{name}", proba="p")
        result = read(folder / f"y-{name}")
        assert result["decision"].sum() == bestcut.decide(p).n_positive
    assert os.listdir(tmp_path) == ["files"]
